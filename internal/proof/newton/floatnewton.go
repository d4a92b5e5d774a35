package newton

import (
	"errors"
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/refine"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Newton's method starts from inverses in slices or by a series, which have more bits than float64.
// Steps to so many bits would be products of few bits, which at usual orders take about as long as
// products of many bits.

// likelySlices and likelySeries are the bits that these inverses gain for random matrices of order
// 300.
const (
	likelySlices = 64
	likelySeries = 116
)

// SolveByNewton solves A X = B for many columns by Newton's method, starting from an inverse that
// float64 products compute, as far as the method decides entries. It sets the finished columns of
// todo to nil.
func SolveByNewton(s *call.Run, a, b num.Mat, f *seed.Factors, z num.Mat, todo []*ziv.Entries) error {
	n := f.N
	bits, cost := wantedBits(z), slicesCost(n)
	s.Plan(cost + ManyCost(n, b.Cols, bits)) // may fuse: an estimate
	half := (bits + 3) / 2
	if !ziv.IsIdentity(b) {
		half += 10 // for the condition number
	}
	series := steps(likelySeries, half) < steps(likelySlices, half)
	v, r, err := SolveByFloats(s, a, f, series, mostSolvedBits(z))
	s.Did(cost)
	s.Stage("approximate inverse")
	if err != nil || v == nil {
		return err
	}
	s.Work.Guessed = false
	seed.Note(s, 1, r.Rho, bound.Upper().SetFloat64(r.Norm), bound.Upper().SetFloat64(f.Norm))
	if err = solveManyBy(s, v, 1, a, b, z, todo, false); errors.Is(err, call.ErrRange) {
		err = nil
	}
	if err == nil && call.Few(ziv.OpenColumns(todo), n) {
		err = refine.SolveFew(s, a, b, z, r, todo)
	}
	s.Stage("refinement")
	return err
}

// SolveByFloats starts from an inverse by a series, if series is set and the series suffices, or
// else in slices. It returns nil if there is no such inverse. It returns the float64 inverse as
// well.
func SolveByFloats(s *call.Run, a num.Mat, f *seed.Factors, series bool, most int) (*Iteration, *seed.FloatInverse, error) {
	if series {
		if t, err := InvertSeries(s, a, f, likelySeries-16); err != nil {
			return nil, nil, err
		} else if t != nil {
			return newtonBySums(s, a, f, t.start(), most), t.float, nil
		}
	}
	t, err := InvertSlices(s, a, f)
	if err != nil || t == nil {
		return nil, nil, err
	}
	return newtonBySums(s, a, f, t.start(), most), t.FloatInverse, nil
}

// floatSums are the columns of an X near F^-1 as sums of columns of float64 numbers.
type floatSums struct {
	norm   float64                 // bound of ‖X‖∞, up to far smaller terms
	column func(j int) [][]float64 // terms whose sum is column j of X, or of -X
	sign   float64                 // -1 if the sum is -X
	off    []float64               // |X - F^-1| ≤ norm off[j] in column j
}

// placesOfX bounds the places of X below the tops of its columns.
const placesOfX = 140

// newtonBySums is New for an X given by sums of float64 numbers, truncated.
func newtonBySums(s *call.Run, a num.Mat, f *seed.Factors, t *floatSums, most int) *Iteration {
	n := f.N
	v := &Iteration{S: s, By: f.Scaling}
	if v.F = scaledMatrix(s, a, f, most); v.F.Arr == nil {
		return nil
	}
	v.Col = make([]int64, n)
	off := make([]float64, n)
	v.X = s.MatrixHere(num.Precision(placesOfX+2), n, n)
	x := v.X
	err := par.Each(s.Ctx, s.Threads, n, func(j int) {
		terms, most := t.column(j), 0.0
		for _, term := range terms {
			most = max(most, call.LargestOf(term))
		}
		_, c := math.Frexp(most)
		// Unknown places are cut off: products are faster with fewer bits.
		places := max(scale.SeedBits, min(placesOfX, 12-int(math.Log2(float64(t.norm*t.off[j])))+c))
		const below = 188 // the top of a column, in units of sums
		unit := int64(c - below)
		for i := range n {
			var sum [3]uint64
			for _, term := range terms {
				AddProduct(&sum, term[i], 1, unit)
			}
			sign := uint64(int64(sum[2]) >> 63) // no branch: it is random
			var borrow uint64
			sum[0], borrow = bits.Sub64(sum[0]^sign, sign, 0)
			sum[1], borrow = bits.Sub64(sum[1]^sign, sign, borrow)
			sum[2], _ = bits.Sub64(sum[2]^sign, sign, borrow)
			neg := sign != 0
			for k, low := 0, below-places; low > 0; k, low = k+1, low-64 {
				sum[k] &^= 1<<uint(low) - 1
			}
			if sum != [3]uint64{} {
				bound.StoreLeading(x.Arr, x.At(i, j), neg != (t.sign < 0), sum[:], unit)
			}
		}
		v.Col[j] = int64(c + bits.Len(uint(len(terms)-1))) // exponent of the sum of terms
		off[j] = float64(t.norm*t.off[j]) + math.Ldexp(1.001, c-places)
	})
	if err != nil {
		return nil
	}
	// ‖I - X F‖ = ‖(F^-1 - X) F‖
	sum := 0.0
	for _, v := range off {
		sum += v
	}
	v.Rho = bound.Upper().Mul(bound.Upper().SetFloat64(sum*1.001), bound.Upper().SetFloat64(f.Norm))
	v.Rho = bound.Largest([]*big.Float{v.Rho, bound.Exp2(-placesOfX)})
	for _, sum := range f.Sums {
		_, e := math.Frexp(sum)
		v.Row = append(v.Row, int64(e))
	}
	v.Amp = bound.Upper().Mul(bound.Upper().SetFloat64(t.norm*1.01), bound.Upper().SetFloat64(f.Norm))
	_, v.Norm = math.Frexp(t.norm)
	if v.Gain() < LeastNewton {
		return nil
	}
	return v
}
