package rows

import (
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/num"
)

// This file runs the kernels of kernels/rows/outer.cuh: products of long numbers on the tensor
// cores. They replace the fused kernels of fused.go; the rest is shared with fused.go.

// An outerRule selects the products that these kernels compute.
type outerRule struct {
	digits int // the fewest digits
	rows   int // the most rows
	size   int // the fewest numbers of A
}

// outerRules was measured by BenchmarkOuter (bench/records/h100-outer.json.gz): on an H100 these
// kernels take 0.74 and 0.78 of the time of the others for 131072 numbers of 31 and 61 digits, and
// less for 10^6, but longer for 16 digits and for square matrices.
var outerRules = outerRule{digits: 24, rows: fewRows, size: 1 << 17}

// outer reports whether these kernels compute products with the given number of digits.
func (q *rowSums) outer(digits int) bool {
	if q.x == nil || q.a.Arr.Kind != num.MP || q.x.Arr.Kind != num.MP || digits < outerRules.digits {
		return false
	}
	if q.a.Rows > outerRules.rows || q.a.Rows*q.a.Cols < outerRules.size {
		return false
	}
	shape, ok := abi.OuterShapeOf(digits)
	return ok && shape.SharedBytes() <= q.sharedLimit()
}

// outerError is errorDigits for these kernels. With T digits kept, the error is T + 1 units of
// 2^-8T, which are (T + 1) 2^-(8T - 28k) units of 2^-28k. Columns that are dropped when slices meet
// add one more unit.
func (q *rowSums) outerError(k int) uint64 {
	shape, _ := abi.OuterShapeOf(k)
	kept := shape.Kept(k)
	return uint64(kept+1)>>(8*kept-abi.RowDigit*k) + 2
}

// outerSpread is exactSpread for these kernels: a first factor has ceil((spread + its bits) / 8)
// digits, a second factor ceil(its bits / 8), and the index of the last antidiagonal of their
// product is the sum of both minus 2.
func (q *rowSums) outerSpread(k int) int64 {
	shape, _ := abi.OuterShapeOf(k)
	return int64(8*(shape.Kept(k)+1-(significandBits(q.x.Arr.Format)+7)/8) - significandBits(q.a.Arr.Format))
}

// divideOuter divides the work among blocks, each of which works on one row.
func (q *rowSums) divideOuter(loaded *launch.Kernels, d *division) (err error) {
	shape, _ := abi.OuterShapeOf(q.digits)
	if d.f, err = loaded.Function(q.s, "rows/outer", shape.Kernel()); err != nil {
		return err
	}
	d.threads, d.shared = abi.OuterThreads, shape.SharedBytes()
	perSM, err := loaded.Blocks(d.f, d.threads, d.shared)
	if err != nil {
		return err
	}
	d.grid.X = q.a.Rows
	d.grid.Y = evenShares(d.grid.X, perSM*q.s.Device().Info().Multiprocessors, (q.a.Cols+shape.Numbers()-1)/shape.Numbers())
	return nil
}
