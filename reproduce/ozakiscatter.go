package reproduce

import (
	"math"
	"math/rand/v2"
	"slices"
)

// The largest relative error of a product is max |e_ij| / |c_ij| over many entries c_ij whose
// density at zero is positive. It exceeds x with a probability of 1 - exp(-s/x): it is a Fréchet
// variable of index 1 and scale s. Its mean over seeds has no expectation, and varies by orders of
// magnitude. The m-th largest error x_m varies less, the larger m is: s = m x_m up to a relative
// deviation of 1/√m.

// scatter has the quantiles 0.5, 50 and 99.5 % of the geometric mean, over some cells of a table,
// of means over seeds of such variables of scale 1.
type scatter struct{ low, middle, high float64 }

// newScatter finds the quantiles by drawing random numbers.
func newScatter(seeds, cells int) scatter {
	const draws = 8000
	rng := rand.New(rand.NewPCG(2, 3))
	logs := make([]float64, draws)
	for i := range logs {
		for range cells {
			mean := 0.0
			for range seeds {
				mean += 1 / rng.ExpFloat64()
			}
			logs[i] += math.Log(mean / float64(seeds))
		}
		logs[i] /= float64(cells)
	}
	slices.Sort(logs)
	at := func(share float64) float64 { return math.Exp(logs[int(share*draws)]) }
	return scatter{at(0.005), at(0.5), at(0.995)}
}

// spread returns the factor by which such a mean may be larger or smaller than usual.
func (s scatter) spread() float64 { return math.Sqrt(s.high / s.low) }

// ozakiPaper compares the paper's means for a method with the means to be expected from the errors
// here: the geometric mean of the quotients over the cells of table 2, and the range of 99 % of
// such means. Without cells there is nothing to compare.
type ozakiPaper struct{ quotient, low, high float64 }

// ozakiAgainst compares the means in a column of the paper's table 2 with the errors of a method
// here.
func (r *Report) ozakiAgainst(method string, column int) (ozakiPaper, bool) {
	sum, cells := 0.0, 0
	for _, k := range r.find(tableOzakiMean) {
		if paper, ok := paperErrorsOf(k.Case, k.N); ok && k.Method == method && k.Quantity == scaleError {
			sum += math.Log(paper[column] / *k.Here)
			cells++
		}
	}
	if cells == 0 {
		return ozakiPaper{}, false
	}
	s := newScatter(OzakiPaperSeeds, cells)
	return ozakiPaper{math.Exp(sum/float64(cells)) / s.middle, s.low / s.middle, s.high / s.middle}, true
}

// within reports whether the paper's means are in the expected range.
func (p ozakiPaper) within() bool { return p.quotient >= p.low && p.quotient <= p.high }

// paperErrorsOf is a row of table 2.
func paperErrorsOf(spread string, n int) ([7]float64, bool) {
	for phi, rows := range paperErrors {
		if phiCase(phi) == spread {
			row, ok := rows[n]
			return row, ok
		}
	}
	return [7]float64{}, false
}
