package linsolve

import (
	"fmt"
	"math/big"
	mathbits "math/bits"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Pow stores A^e in X, each entry correctly rounded, for a square matrix A and e ≥ 0; A^0 is the
// unit matrix. X may overlap A.
//
// Powers come from squares and products (Knuth, The Art of Computer Programming 2, section 4.6.3)
// rounded to some bits. Every entry has an error bound of its own, so that small entries of
// matrices of one sign are as accurate as large ones. The bits double until the bounds leave one
// number for each entry. An entry without a walk of e edges in the graph of the nonzeros of A is
// +0. An entry that seems to be 0 or halfway between two numbers of the format is proved to be so
// modulo primes whose product exceeds its numerator; or, where that takes fewer primes, as a term
// of a linear recurrence: if n entries (i, j) of A^k in a row are 0, for k in steps of m, so are
// all that follow.
//
// The error wraps ErrNotFinite for infinities and NaN in A. It wraps halfulp.ErrMemory if an entry
// lies so close to the middle between two numbers that no format has the bits to tell. It wraps
// ErrRange if entries of A differ by more than 2^(2^29), or if a result leaves the exponents of
// format MP. Pow panics for a negative e, or if shapes do not fit.
func Pow(a *halfulp.Matrix, e int, x *halfulp.Matrix, opt *halfulp.Options) (Stats, error) {
	if a.Rows() != a.Cols() || x.Rows() != a.Rows() || x.Cols() != a.Rows() {
		panic(errShape)
	}
	if e < 0 {
		panic("linsolve: negative exponent")
	}
	s, on, err := begin("Pow", opt, a.View(), x.View())
	if err != nil {
		return Stats{}, err
	}
	if err := call.Finite("A", on[0]); err != nil {
		return result(s), wrapped("Pow", err)
	}
	z, err := power(s, on[0], e, x.Format().View())
	if err != nil {
		return result(s), wrapped("Pow", err)
	}
	s.Stage("products")
	return ended(s, "Pow", solve.Finish(s, z, x.View()))
}

// power returns A^e in format f.
func power(s *call.Run, a num.Mat, e int, f num.Format) (num.Mat, error) {
	n := a.Rows
	z := num.NewMat(f, n, n)
	var open []position
	for i, row := range walks(a, e) {
		for _, j := range row.Members(n) {
			open = append(open, position{i, j})
		}
	}
	var primes *primePowers
	exact := ziv.PowerBits(a, e)
	// Relative errors grow at most n-fold with each of the e factors where nothing cancels.
	for bits := f.Bits() + 48 + mathbits.Len(uint(e)) + mathbits.Len(uint(n)); len(open) > 0; bits *= 2 {
		bits = min(bits, exact, bound.MaxBits)
		s.Stats.Precision = bits
		p, err := enclosedPower(s, a, e, bits)
		if err != nil {
			return num.Mat{}, err
		}
		var suspects []powerSuspect
		if open, suspects, err = p.round(s, open, z); err != nil {
			return num.Mat{}, err
		}
		if len(suspects) > 0 {
			if primes == nil {
				primes = newPrimePowers(s, a, e)
			}
			proved, err := primes.prove(suspects)
			if err != nil {
				return num.Mat{}, err
			}
			for _, p := range proved {
				z.SetBig(p.row, p.col, p.t)
				ziv.Lose(s, z, p.row, p.col, p.t, p.t)
			}
			open = slices.DeleteFunc(open, func(p position) bool {
				return slices.ContainsFunc(proved, func(s powerSuspect) bool { return s.position == p })
			})
			s.Stats.Ties += len(proved)
		}
		if len(open) > 0 && bits == bound.MaxBits {
			return num.Mat{}, fmt.Errorf("%d bits: %w", 2*bits, call.ErrMemory)
		}
	}
	return z, nil
}

// enclosedPower returns an enclosure of A^e from products rounded to some bits. It is exact where
// no product is rounded.
func enclosedPower(s *call.Run, a num.Mat, e, bits int) (*enclosedMatrix, error) {
	if e == 0 {
		return encloseMatrix(s, num.Identity(num.Float64, a.Rows), bits)
	}
	base, err := encloseMatrix(s, a, bits)
	if err != nil {
		return nil, err
	}
	p := base
	for k := mathbits.Len(uint(e)) - 2; k >= 0; k-- {
		if p, err = enclosedProduct(s, p, p, bits); err != nil {
			return nil, err
		}
		if e>>k&1 != 0 {
			if p, err = enclosedProduct(s, p, base, bits); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// powerSuspect is an entry that seems to be t, 0 or halfway between two numbers of the format.
type powerSuspect struct {
	position
	t *big.Float
	// The entry differs from t by at most 2^top; top is unknown where it does not fit.
	top   int64
	known bool
}

// round stores the open entries whose enclosures round to one number in z. It returns those that
// are left, and which of them seem to be zeros or ties.
func (x *enclosedMatrix) round(s *call.Run, open []position, z num.Mat) (left []position, suspects []powerSuspect, err error) {
	f := z.Format()
	for _, p := range open {
		if x.isZero(p.row, p.col) {
			continue // z is +0
		}
		lo, hi := x.ends(p.row, p.col)
		contains := lo.Sign() <= 0 && hi.Sign() >= 0
		lo, hi = scaledBy(lo, x.exp), scaledBy(hi, x.exp)
		lower, upper := num.NewScalar(f, lo), num.NewScalar(f, hi)
		if lower.Same(upper) && !contains {
			if f.IsMP() && (lower.IsInf(0) || lower.IsZero()) {
				return nil, nil, fmt.Errorf("a power beyond the exponents of formats: %w", call.ErrRange)
			}
			z.SetEntry(p.row, p.col, lower)
			ziv.Lose(s, z, p.row, p.col, lo, hi)
			continue
		}
		left = append(left, p)
		if contains {
			if x.flushed {
				return nil, nil, fmt.Errorf("exponents that differ by more than 2^29: %w", call.ErrRange)
			}
			// |mid| ≤ radius here.
			zero := powerSuspect{p, new(big.Float), 0, x.exp.BitLen() < 60}
			if zero.known {
				zero.top = x.radius[p.row+p.col*x.n].e + 1 + x.exp.Int64()
			}
			suspects = append(suspects, zero)
			continue
		}
		if t, _ := ziv.Tie(lower, upper); t != nil && !lo.IsInf() && !hi.IsInf() {
			b := interval.Prec(64) // lo ≤ t ≤ hi
			d := bound.Largest([]*big.Float{b.Difference(b.Up(), t, lo, 1), b.Difference(b.Up(), hi, t, 1)})
			suspects = append(suspects, powerSuspect{p, t, int64(d.MantExp(nil)), true})
		}
	}
	return left, suspects, nil
}
