package scale

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
)

// ranges are those of the magnitudes of float64 numbers in a matrix: exponents of the largest of
// each row and column, 2^top above them, and of the smallest of all that are not 0. They are what
// scale takes of most matrices, whose rows and columns are about as large as each other.
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
			least = min(least, m-1) // none for 0
		}
		r.cols[j] = topOfBits(most)
	}
	for i, m := range rows {
		r.rows[i] = topOfBits(m)
	}
	r.least = topOfBits(least + 1)
	return r
}

// topOfBits returns the exponent of a magnitude from its bits, moved up by one, none for zeros and
// for subnormal numbers.
func topOfBits(m uint64) int64 {
	if e := int64(m >> 53); e > 0 {
		return e - 1022
	}
	return None
}

// equilibrate returns the scaling that Tops.Equilibrate returns on top of none, if it does not
// spread numbers; not ok where that takes more than the ranges, as the largest entries of rows and
// of columns differ by more than two binades, or there are zeros or subnormal numbers alone.
func (r ranges) equilibrate() (s Scaling, ok bool) {
	if len(r.rows) == 0 || r.least == None {
		return s, false
	}
	s = Unscaled(len(r.rows), len(r.cols))
	var row, col int64 // of all of them: 2^row before what lies in the ranges, 2^col behind it
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
	return s, r.least-most >= -SeedBits // the smallest entry of F, at least
}
