package seed

import (
	"errors"
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// MissingBits returns how many bits a bound log lacks to be less than 2^-places; 0 for a log of 0.
func MissingBits(log *big.Float, places int) int {
	if log.Sign() == 0 {
		return 0
	}
	return log.MantExp(nil) + places
}

// The errors of an elimination in some bits that may succeed in more bits.
var (
	ErrNoise = errors.New("what is left of the matrix is noise")
	ErrProof = errors.New("more bits are needed for a proof")
)

// MostBlockBits bounds the bits of numbers of an elimination.
const MostBlockBits = 1 << 11

// LeastGood is the least number of right bits of a block.
const LeastGood = 64

// AskForMore returns nil where an elimination of A only lacks bits, else its error. It returns
// ErrSingular if A is singular, so that more bits would not help; it asks that once, unless *known.
func AskForMore(s *call.Run, err error, a num.Mat, known *bool) error {
	if !errors.Is(err, ErrNoise) && !errors.Is(err, ErrProof) {
		return err
	}
	if *known {
		return nil
	}
	*known = true
	return modular.ProvedRegular(s, a)
}

// Seen is -log2 of the smallest pivots that float64 factors resolve.
const Seen = 40

// ConditionBits returns a guess of log2 of the condition number: the guess of the last elimination
// if there was one. Otherwise it assumes that pivots go on falling as they do above the noise.
func (f *Factors) ConditionBits() int {
	if f.Condition > 0 {
		return f.Condition
	}
	if k := f.PivotsAbove(math.Ldexp(1, -Seen)); k < f.N {
		return min(Seen*f.N/(k+1)+8, MostBlockBits)
	}
	return Seen + 8
}

// PivotsAbove returns how many pivots come before the first one that is not larger than least.
func (f *Factors) PivotsAbove(least float64) int {
	k := 0
	for k < f.N && math.Abs(f.LU[k+k*f.N]) > least {
		k++
	}
	return k
}

// Rescale replaces a matrix M in MP by diag(2^rows) M diag(2^cols); not ok if exponents leave the
// range for products.
func Rescale(m num.Mat, by scale.Scaling) (ok bool) {
	for j := range m.Cols {
		for i := range m.Rows {
			if at := m.At(i, j); m.Arr.Cls[at].Class() == num.Finite {
				e := int64(m.Arr.Exp[at]) + by.Rows[i] + by.Cols[j]
				if max(e, -e) > call.MostExponent {
					return false
				}
				m.Arr.Exp[at] = int32(e)
			}
		}
	}
	return true
}

// RadiusBy returns bounds of |F^-1 r| for h ≥ |F^-1| e.
func RadiusBy(h []float64, r *Residual) []float64 {
	most := float64((call.LargestOf(r.Lead) + r.slop) * (1 + 0x1p-50))
	v := make([]float64, len(h))
	for i, h := range h {
		v[i] = float64(h*most*(1+0x1p-50)) + 0x1p-1000
	}
	return v
}

// Determinant is Mid 2^Shift, up to a factor in exp(±Log), Log ≥ 0.
type Determinant struct {
	Mid   *big.Float
	Shift int64
	Log   *big.Float
	Odd   bool // parity of row exchanges, which the sign of Mid includes in the end
}

// LossyBits is a loss at which float64 factors hold no information.
const LossyBits = 60

// Loss returns about log2 ‖F^-1‖ and a few bits more. It is an estimate from one system solved with
// float64 factors, and matters only to the choice of bits.
func Loss(s *call.Run, f *Factors) (int, error) {
	x := make([]float64, f.N)
	for i := range x {
		x[i] = float64(1 - 2*(i*40503>>9&1)) // signs without a pattern
	}
	if err := dgemm.SolveLower(s.Ctx, s.Threads, f.N, 1, f.LU, x); err != nil {
		return 0, err
	}
	if err := dgemm.SolveUpper(s.Ctx, s.Threads, f.N, 1, f.LU, x); err != nil {
		return 0, err
	}
	most := call.LargestOf(x)
	if !(most < 0x1p100) {
		return LossyBits + 1, nil
	}
	_, e := math.Frexp(most)
	return max(e, 0) + bits.Len(uint(f.N))/2 + 4, nil
}

// Odd reports whether a permutation is odd.
func Odd(order []int) bool {
	seen, result := make([]bool, len(order)), false
	for i := range order {
		for j := order[i]; !seen[i] && j != i; j = order[j] {
			seen[j], result = true, !result
		}
	}
	return result
}

// Growth allows entries of U that exceed the entries of F by a factor of up to 2^Growth / 2.
const Growth = 12

// UnlessShort returns nil for an error of an elimination that other methods may avoid, else err.
func UnlessShort(err error) error {
	if errors.Is(err, call.ErrRange) || errors.Is(err, ErrNoise) || errors.Is(err, ErrProof) {
		return nil
	}
	return err
}

// Fewest is the least order of matrices whose factors come from a float64 seed by products. At this
// order they take 0.3 to 1.3 of the time of an elimination for Float64 and MP(424), at n = 64 0.2
// to 0.5.
const Fewest = 24
