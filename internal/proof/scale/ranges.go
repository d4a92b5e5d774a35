package scale

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
)

// ranges describes the magnitudes of a matrix of float64 numbers: the exponents 2^top above the
// largest magnitude of each row and column, and the exponent least of the smallest nonzero
// magnitude. For most matrices, whose rows and columns are about equally large, they suffice to
// find the scaling.
type ranges struct {
	rows, cols []int64
	least      int64
}

// rangesOf returns the ranges of a matrix of finite numbers in one pass.
func rangesOf(a num.Mat) ranges {
	r := ranges{make([]int64, a.Rows), make([]int64, a.Cols), 0}
	least, data := uint64(math.MaxUint64), a.Arr.F64[0]
	rows := make([]uint64, a.Rows)
	for j := range r.cols {
		var most uint64
		at := a.At(0, j)
		for i, row := range rows {
			m := math.Float64bits(data[at+i*a.RS]) << 1
			rows[i], most = max(row, m), max(most, m)
			least = min(least, m-1) // 0 becomes the largest value
		}
		r.cols[j] = topOfBits(most)
	}
	for i, m := range rows {
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
