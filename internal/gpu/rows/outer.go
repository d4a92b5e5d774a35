package rows

import (
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/num"
)

// The way of kernels/rows/outer.cuh: products of long numbers on the tensor cores. It takes the
// place of the fused kernels of fused.go, which it shares the rest with.

// An outerRule says which products go that way.
type outerRule struct {
	digits int // from so many digits on
	rows   int // up to so many rows
	size   int // from so many numbers of A on
}

// outerRules are measured by BenchmarkOuter (bench/records/h100-outer.json): on an H100 these
// kernels take 0.74 and 0.78 of the time of the others for 131072 numbers of 31 and 61 digits, and
// less for 10^6, but longer for 16 digits and for square matrices.
var outerRules = outerRule{digits: 24, rows: fewRows, size: 1 << 17}

// outer reports whether products with so many digits go that way.
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

// outerError is errorDigits: T + 1 units of 2^-8T, T digits being kept, are (T + 1) 2^-(8T - 28k)
// of 2^-28k, and columns that fall off when slices meet are one more.
func (q *rowSums) outerError(k int) uint64 {
	shape, _ := abi.OuterShapeOf(k)
	kept := shape.Kept(k)
	return uint64(kept+1)>>(8*kept-abi.RowDigit*k) + 2
}

// outerSpread is exactSpread: a first factor has ceil((spread + its bits) / 8) digits, a second
// ceil(its bits / 8), and the last antidiagonal of their product is the sum of both less 2.
func (q *rowSums) outerSpread(k int) int64 {
	shape, _ := abi.OuterShapeOf(k)
	return int64(8*(shape.Kept(k)+1-(significandBits(q.x.Arr.Format)+7)/8) - significandBits(q.a.Arr.Format))
}

// divideOuter divides the work among blocks, each on one row.
func (q *rowSums) divideOuter(loaded *launch.Kernels, l *fusedLaunch) (err error) {
	shape, _ := abi.OuterShapeOf(q.digits)
	if l.f, err = loaded.Function(q.s, "rows/outer", shape.Kernel()); err != nil {
		return err
	}
	l.threads, l.shared = abi.OuterThreads, shape.SharedBytes()
	perSM, err := loaded.Blocks(l.f, l.threads, l.shared)
	if err != nil {
		return err
	}
	l.grid.X = q.a.Rows
	l.grid.Y = evenShares(l.grid.X, perSM*q.s.Device().Info().Multiprocessors, (q.a.Cols+shape.Numbers()-1)/shape.Numbers())
	return nil
}
