package product

import (
	"time"

	"github.com/halfulp/halfulp/internal/num"
)

// Costs of a product of host matrices besides the work that plans count, measured on an H100 by
// halfulp tune.
const (
	callTime     = 250 * time.Microsecond // of every product
	transferRate = 20e9                   // bytes a second
)

// Estimate returns the approximate time of Gemm for host matrices, with numbers of similar size in
// formats a and b and results of format c. It returns false if Gemm leaves the product to the host.
func Estimate(m, n, k int, a, b, c num.Format) (time.Duration, bool) {
	if m == 0 || n == 0 || k == 0 || k > maxInner {
		return 0, false
	}
	p := problemOf(m, n, k, a, b, c)
	p.Assume()
	q, ok := machine(false).Choose(&p)
	if !ok {
		return 0, false
	}
	moved := num.SizeOf(a)*int64(m)*int64(k) + num.SizeOf(b)*int64(k)*int64(n) + num.SizeOf(c)*int64(m)*int64(n)
	return EstimateTransfer(moved) + time.Duration(q.Cost), true
}

// EstimateTransfer returns the approximate time of a call that transfers the given bytes and does
// little else.
func EstimateTransfer(bytes int64) time.Duration {
	return callTime + time.Duration(float64(bytes)/transferRate*1e9)
}
