package scale

import (
	"context"
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// ranges describes the magnitudes of a matrix of float64 numbers: the exponents 2^top above the
// largest magnitude of each row and column, and the exponent least of the smallest nonzero
// magnitude. For most matrices, whose rows and columns are about equally large, they suffice to
// find the scaling.
type ranges struct {
	rows, cols []int64
	least      int64
}

// rangesOf returns the ranges of a matrix of finite numbers in one pass, on several threads.
func rangesOf(threads int, a num.Mat) ranges {
	r := ranges{make([]int64, a.Rows), make([]int64, a.Cols), 0}
	const some = 64 // columns a call
	parts := (a.Cols + some - 1) / some
	data, rows, leasts := a.Arr.F64[0], make([][]uint64, parts), make([]uint64, parts)
	_ = par.For(context.Background(), threads, parts, func(_, part int) {
		least, tops := uint64(math.MaxUint64), make([]uint64, a.Rows)
		for j := part * some; j < min((part+1)*some, a.Cols); j++ {
			var most uint64
			at := a.At(0, j)
			for i, row := range tops {
				m := math.Float64bits(data[at+i*a.RS]) << 1
				tops[i], most = max(row, m), max(most, m)
				least = min(least, m-1) // 0 becomes the largest value
			}
			r.cols[j] = topOfBits(most)
		}
		rows[part], leasts[part] = tops, least
	})
	least := uint64(math.MaxUint64)
	for _, x := range leasts {
		least = min(least, x)
	}
	for i := range r.rows {
		var m uint64
		for _, tops := range rows {
			m = max(m, tops[i])
		}
		r.rows[i] = topOfBits(m)
	}
	r.least = topOfBits(least + 1)
	return r
}

// topOfBits returns the exponent of a magnitude, given its bits shifted up by one; None for zeros
// and for subnormal numbers.
func topOfBits(m uint64) int64 {
	if e := int64(m >> 53); e > 0 {
		return e - 1022
	}
	return None
}

// equilibrate returns the scaling that Tops.Equilibrate returns from the unscaled matrix, if that
// scaling does not spread numbers (see Scaling.spreads). It is not ok if the ranges do not suffice:
// the largest entries of rows, or of columns, differ by more than two binades, or a row or column
// has only zeros or subnormal numbers, or the smallest number is subnormal.
func (r ranges) equilibrate() (s Scaling, ok bool) {
	if len(r.rows) == 0 || r.least == None {
		return s, false
	}
	s = Unscaled(len(r.rows), len(r.cols))
	var row, col int64 // exponents by which all rows, and all columns, are scaled so far
	for range 2 {
		e, f := (r.rows[0]+row+col)/2, (r.cols[0]+row+col)/2
		for _, top := range r.rows {
			if top == None || (top+row+col)/2 != e {
				return s, false
			}
		}
		for _, top := range r.cols {
			if top == None || (top+row+col)/2 != f {
				return s, false
			}
		}
		row, col = row-e, col-f
	}
	most := int64(math.MinInt64)
	for i, top := range r.rows {
		s.Rows[i] = row - (top + row + col)
		most = max(most, top)
	}
	for j := range s.Cols {
		s.Cols[j] = col
	}
	return s, r.least-most >= -SeedBits // a lower bound of the smallest entry of F
}
