package direct

import (
	"time"

	"github.com/halfulp/halfulp/internal/num"
)

// startTime is what a loop on all threads takes besides its work.
const startTime = 50 * time.Microsecond

// EstimateSum returns about how long the sum of n numbers of format f takes. The costs of an
// addend and of a product are those of BenchmarkSum and BenchmarkGemv on Emerald Rapids, in ns on one thread; they
// steer choices between correctly rounded ways and cannot change a result.
func EstimateSum(threads, n int, f num.Format) time.Duration {
	cost := 0.8
	if f.Bits() > 53 {
		cost = 1 + 0.034*float64(f.Bits())
	}
	return startTime + time.Duration(cost*float64(n)/float64(threads))
}

// EstimateProducts returns about how long sums of n products of numbers of formats f and g
// take, with the errors of EstimateSum.
func EstimateProducts(threads, n int, f, g num.Format) time.Duration {
	cost := 1.4
	if bits := max(f.Bits(), g.Bits()); bits > 53 {
		limbs := float64((bits + 63) / 64)
		cost = 4 + 3*limbs + 0.35*limbs*limbs
	}
	return startTime + time.Duration(cost*float64(n)/float64(threads))
}
