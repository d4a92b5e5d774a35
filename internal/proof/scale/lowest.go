package scale

import (
	"context"
	"math"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// LowestBit returns a low ≥ 0 such that all entries of F are multiples of 2^-low. It need not be
// the least.
func LowestBit(a num.Mat, by Scaling) (low int64) { return LowestBitOn(1, a, by) }

// LowestBitOn is LowestBit on several threads.
func LowestBitOn(threads int, a num.Mat, by Scaling) (low int64) {
	switch a.Arr.Kind {
	case num.F64:
		return lowestFloat(threads, a, by)
	case num.MP:
		bits := int64(a.Arr.Bits())
		for j, col := range by.Cols {
			least, at := int64(math.MaxInt64), a.At(0, j)
			for i, row := range by.Rows {
				if i := at + i*a.RS; a.Arr.Cls[i].Class() == num.Finite {
					least = min(least, int64(a.Arr.Exp[i])+row)
				}
			}
			if least < math.MaxInt64 {
				low = max(low, bits-least-col)
			}
		}
		return low
	}
	var buf [num.MaxValueWords]uint64
	for j := range a.Cols {
		for i := range a.Rows {
			if x := a.Arr.Value(a.At(i, j), buf[:]); x.Class == num.Finite {
				last := x.Exp
				for _, w := range x.Mag {
					if w != 0 {
						break
					}
					last += 64
				}
				low = max(low, -(last + by.Rows[i] + by.Cols[j]))
			}
		}
	}
	return low
}

// lowestFloat is [LowestBit] for float64 numbers. In each column it considers only the smallest
// number, as if it were in the row with the smallest factor.
func lowestFloat(threads int, a num.Mat, by Scaling) (low int64) {
	if a.Rows == 0 || a.Cols == 0 {
		return 0
	}
	row, data := slices.Min(by.Rows), a.Arr.F64[0]
	lows := make([]int64, a.Cols)
	_ = par.Each(context.Background(), threads, a.Cols, func(j int) {
		least, at := uint64(math.MaxUint64), a.At(0, j)
		for i := range a.Rows {
			least = min(least, math.Float64bits(data[at+i*a.RS])<<1-1) // 0 becomes the largest
		}
		if least++; least > 0 {
			// All numbers below 2^-1021 are multiples of 2^-1074.
			lows[j] = max(0, 1075-max(int64(least>>53), 1)-row-by.Cols[j])
		}
	})
	return slices.Max(lows)
}
