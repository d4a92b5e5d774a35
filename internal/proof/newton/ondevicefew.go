package newton

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// fixedColumns is the largest number of columns that are solved in fixed point at the run's place,
// one after the other. For one column an H100 takes 0.2 ms at n = 1000 and 1.6 ms at n = 4096 for
// Float64, 1.7 and 8.9 ms for MP(424). Products of matrices take 0.9, 3.0, 2.4 and 23.8 ms, and as
// long for 100 columns.
const fixedColumns = 1

// leastFixed is the least gain of a step in fixed point, and mostFixed bounds log2 of the condition
// number because of the range of integers. fixedWords bounds the words of residuals: for 8 words at
// n = 1000 an H100 takes 3.8 ms in fixed point and 4.5 by products, but 13.3 and 10.7 for 28 words.
const (
	leastFixed = 9
	mostFixed  = 48
	fixedWords = 16
)

// fixedLost is how many bits above the last bit of residuals are reserved for their errors.
const fixedLost = 10

// fixes reports whether k columns are solved in fixed point to the given places, and returns the
// words and the bits that residuals need.
func (t *Iteration) fixes(k, places int) (words, need int, ok bool) {
	cond := int(slices.Max(t.Row)) + t.Norm + 1
	// |x| ≥ 2^-(most+1) for some entry, for g of 1/2 or more and rows of at most 2^most.
	need = places + max(cond, 0) + 2
	words = (need + fixedLost + 63) / 64
	ok = call.Offers[place.Refiner](t.S) && !t.S.Set.Check && t.gCols != nil && t.fRows != nil && k <= fixedColumns && words <= fixedWords
	return words, need, ok && max(cond, t.Norm, -t.Norm) <= mostFixed
}

// solveFixed is Solve for a few columns at the run's place in fixed point, by X = R of float64
// numbers: see place.Refinement. It returns nil if X gains less than it should, or if memory is
// short.
//
// The proof bounds F^-1 g - y = F^-1 r by ‖X‖ ‖r‖ / (1 - rho) for the remaining r.
func (t *Iteration) solveFixed(r, g num.Mat, places int) (*bound.Nearly, error) {
	n, k := g.Dims()
	words64, need, ok := t.fixes(k, places)
	gain := t.Gain() - 3 // some bits of rho are spent on roundings
	if !ok || gain < leastFixed {
		return nil, nil
	}
	of := place.Refinement{F: t.F, X: r, G: g, Top: slices.Max(t.fRows.Top),
		Shift: t.gCols.Top, Words: words64, Scale: max(t.Norm+11, 0)}
	all := math.MaxInt32 // planes that hold all of F
	if t.fRows.Width > 0 {
		all = int((of.Top + 1 - slices.Min(t.fRows.Top) + t.fRows.Width + 63) / 64)
	}
	last := 64*of.Words - need
	for length := 64 * of.Words; length > last; length -= gain {
		of.Planes = append(of.Planes, min(max((t.cut(of, length+LateBits)+63)/64, 1), all))
	}
	y, err := t.S.Room(num.Precision(uint(64*(of.Words+2))), n, k)
	if err != nil {
		return nil, err
	}
	zero, err := t.S.Matrix(num.Precision(24), n, k)
	if err != nil {
		return nil, err
	}
	lengths, ok, err := t.S.Refine(of, y)
	if errors.Is(err, call.ErrMemory) { // for planes
		return nil, nil
	}
	if err != nil || !ok {
		return nil, err
	}
	t.S.Stats.Steps += len(of.Planes)
	t.S.Stats.Precision = 64 * of.Words
	z := &bound.Nearly{X: y, D: zero, Words: call.WordsFor(places), Left: t.By.Cols, Right: make([]int64, k)}
	for j, list := range lengths {
		left := list[len(of.Planes)]
		if slices.Max(list) > 64*of.Words+1 || left > last+LateBits {
			return nil, nil
		}
		lost := bound.Upper().Add(bound.Exp2(left), big.NewFloat(1))
		for step, planes := range of.Planes {
			lost.Add(lost, big.NewFloat(1))
			if planes < all {
				lost.Add(lost, bound.Exp2(t.cut(of, list[step])-64*planes))
			}
		}
		// 1/(1 - rho) ≤ 2
		z.Err = append(z.Err, int64(lost.MantExp(nil)+t.Norm+1-64*of.Words)+of.Shift[j])
	}
	return z, nil
}

// cut returns log2 of how many units of r a step loses by the truncation of F, for an r of the
// given length at its start, plus 64 for each plane.
func (t *Iteration) cut(of place.Refinement, length int) int {
	return bits.Len(uint(t.n())) + of.Scale + length + int(of.Top) - 7
}
