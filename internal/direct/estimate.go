package direct

import (
	"math"
	"time"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/tiles"
)

// startTime is the overhead of a loop on all threads.
const startTime = 50 * time.Microsecond

// EstimateSum returns the approximate time of a sum of n numbers of format f. The costs of an
// addend and of a product come from BenchmarkSum and BenchmarkGemv on Emerald Rapids, in ns on one
// thread. They only steer the choice between correctly rounded methods and cannot change a result.
func EstimateSum(threads, n int, f num.Format) time.Duration {
	cost := 0.8
	if f.Bits() > 53 {
		cost = 1 + 0.0125*float64(f.Bits()) // may fuse: an estimate
	}
	return startTime + time.Duration(cost*float64(n)/float64(threads))
}

// EstimateProducts returns the approximate time of sums of n products of numbers of formats f and
// g. Its errors are like the errors of EstimateSum.
func EstimateProducts(threads, n int, f, g num.Format) time.Duration {
	cost := 1.4
	if bits := max(f.Bits(), g.Bits()); bits > 53 {
		if t, ok := tiles.PlanDot(f, g, bits, n); ok {
			cost = 2 + t.DotCost()
		} else if t, ok := lanes.PlanSum(bits, n); ok {
			cost = 2 + t.Cost()
		} else {
			limbs := float64((bits + 63) / 64)
			cost = 4 + 3*limbs + 0.35*limbs*limbs // may fuse: an estimate
		}
	}
	return startTime + time.Duration(cost*float64(n)/float64(threads))
}

// words returns the number of 64-bit words of a number of format f, as a float64.
func words(f num.Format) float64 { return float64((f.Bits() + 63) / 64) }

// expansionCost is the cost of reading the exact value of an expansion.
const expansionCost = 80

func readCost(f num.Format) float64 {
	if f.Terms() > 1 {
		return expansionCost
	}
	return 0
}

// termCost is the approximate cost of converting a binary64 number to MP.
const termCost = 3

// EntryCost returns the approximate cost of an entry of a matrix product in an exact accumulator,
// in ns on one thread. The entry is a sum of k products of numbers of formats a and b. The command
// go run ./cmd/thin in bench measures it, like all costs of matrix products, on the machine that
// runs it.
func EntryCost(k int, a, b num.Format) float64 {
	if superacc.IsFloat(a) && superacc.IsFloat(b) {
		if k >= superacc.FewFloats {
			return 1000 + 16*float64(k) // may fuse: an estimate
		}
		return 190 + 95*float64(k) // may fuse: an estimate
	}
	if a.Kind != num.MP && b.Kind != num.MP && k >= superacc.FewFloats {
		terms := float64(max(1, a.Terms()) * max(1, b.Terms()))
		return 500 + float64(k)*(14+8.4*terms) // may fuse: an estimate
	}
	x, y := words(a), words(b)
	return 150 + float64(k)*(60+6*(x+y)+1.6*x*y+readCost(a)+readCost(b)) // may fuse: an estimate
}

// EstimateEntries returns the approximate time of Entries for an m x k matrix times a k x n matrix,
// of formats a and b.
func EstimateEntries(threads, m, n, k int, a, b num.Format) time.Duration {
	return time.Duration(float64(m) * float64(n) * EntryCost(k, a, b) / parallel(threads, float64(m)*float64(n)))
}

// parallel returns the speedup that threads give a loop over n parts.
func parallel(threads int, n float64) float64 { return math.Max(1, math.Min(float64(threads), n)) }

// EstimateGemm returns the approximate time of Gemm for an m x k matrix times a k x n matrix of
// finite numbers. The matrices have formats a and b, the results format c.
func EstimateGemm(threads, m, n, k int, a, b, c num.Format, inLine bool) time.Duration {
	t := estimateVectors(threads, m, n, k, a, b, c, inLine)
	if s, ok := PlanSmall(a, b, c, k); ok && !s.floats && s.Fits(m, n, k) {
		t = min(t, s.Estimate(m, n, k))
	}
	return t
}

// estimateVectors is EstimateGemm for products that are not small.
func estimateVectors(threads, m, n, k int, a, b, c num.Format, inLine bool) time.Duration {
	if n > m {
		m, n, a, b = n, m, b, a
	}
	rows, entries, products := float64(m), float64(m)*float64(n), float64(m)*float64(n)*float64(k)
	var cost, vector, entry float64 // for a product, for a number of a vector, for an entry
	start := gemmStart
	s := sumsFor(m, k, a, b, c, inLine)
	switch {
	case k == 1 && superacc.IsFloat(a) && a == b && a == c:
		entry = 8
	case k == 1:
		x, y := words(a), words(b)
		entry = 50 + roundCost(c) + 4*(x+y) + 1.3*x*y // may fuse: an estimate
	case s.floats:
		cost, vector, entry = 0.75, 1, 25
		if a.Kind == num.F32 {
			cost = 1
		}
		if !superacc.IsFloat(c) {
			entry = 300
		}
		if products <= fewFloatProducts {
			start = gemmStart / 8
		}
	case s.vertical.Digits != 0:
		d := float64(s.vertical.Digits)
		cost = s.vertical.Cost()
		if a.Kind != num.MP {
			cost = float64(s.vertical.Terms) * (cost + termCost)
		}
		// may fuse: an estimate
		vector, entry = 50+5*d, 150+12*d+roundCost(c)
		if t := s.tiles; t.Blocks != 0 {
			d := float64(t.Digits())
			cost = t.Cost()
			// may fuse: an estimate
			vector, entry = 60+3*d, 150+2*d+roundCost(c)
		}
	case s.top.words != 0:
		l := float64(s.top.words)
		// may fuse: an estimate
		cost, vector, entry = 3+1.2*l+0.22*l*l, 50+2*l, 110+10*l+roundCost(c)
	case s.groups != 0:
		g := float64(s.groups)
		// may fuse: an estimate
		cost, vector, entry = 7.3+0.73*g*g, 40+16*g+readCost(b), 150+12*g+roundCost(c)
		switch {
		case a.Terms() > 1:
			cost += expansionCost
		case a.Kind != num.MP:
			cost += 8
		}
	default:
		entry = EntryCost(k, a, b)
	}
	work := cost*products + vector*float64(k)*float64(n) + entry*entries // may fuse: an estimate
	return start + time.Duration(work/parallel(threads, math.Ceil(rows/rowTile)))
}

// gemmStart is the fixed overhead of Gemm.
const gemmStart = 4 * time.Microsecond

// roundCost returns the cost of rounding to format f. It is doubled where both ends of an enclosure
// are rounded.
func roundCost(f num.Format) float64 {
	if n := f.Terms(); n > 1 {
		return 60 * float64(n)
	}
	return 20 + 3*words(f) // may fuse: an estimate
}
