package ziv

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// FormatFor returns a format for numbers of the given bits. The error wraps call.ErrRange if there
// is none.
func FormatFor(bits int64) (num.Format, error) {
	if bits > num.MaxPrec {
		return num.Format{}, fmt.Errorf("%d bits: %w", bits, call.ErrRange)
	}
	return num.Precision(uint(max(bits, 64))), nil
}

// ColumnBits returns how many bits hold a sum of entries of one column, without its carries; the
// maximum over all columns.
func ColumnBits(m num.Mat) int64 {
	v := m
	most := int64(0)
	for j := range v.Cols {
		first := true
		var top, low int64
		for i := range v.Rows {
			c, t, l := v.Arr.Span(v.At(i, j))
			if c != num.Finite {
				continue
			}
			if first {
				top, low, first = t, l, false
			}
			top, low = max(top, t), min(low, l)
		}
		most = max(most, top-low)
	}
	return most
}

// PowerBits returns a number of bits that is enough for the entries of A^e and of all lower powers.
func PowerBits(threads int, a num.Mat, e int) int {
	top, low := SpanOn(threads, a)
	per := float64(top-low) + float64(bits.Len(uint(a.Rows)))
	return int(min(float64(per*float64(max(e, 1)))+2, 1<<30)) // beyond all formats
}

// Span returns top and low such that |a_ij| < 2^top and all a_ij are multiples of 2^low; 0, 0 for a
// matrix of zeros.
func Span(a num.Mat) (top, low int64) { return SpanOn(1, a) }

// SpanOn is Span on several threads.
func SpanOn(threads int, a num.Mat) (top, low int64) {
	tops, lows := make([]int64, a.Cols), make([]int64, a.Cols)
	_ = par.Each(context.Background(), threads, a.Cols, func(j int) {
		top, low := int64(math.MinInt64), int64(math.MaxInt64)
		for i := range a.Rows {
			if c, t, l := a.Arr.Span(a.At(i, j)); c == num.Finite {
				top, low = max(top, t), min(low, l)
			}
		}
		tops[j], lows[j] = top, low
	})
	if a.Cols == 0 {
		return 0, 0
	}
	if top, low = slices.Max(tops), slices.Min(lows); top < low {
		return 0, 0
	}
	return top, low
}

// Guard returns how many guard bits a result has beyond the last place of its format, relative to
// the largest entry of a column of n entries. An entry 2^-k times as large as the largest stays
// undecided by chance with a probability of about 2^(k+5-guard). For the k of random matrices'
// inverses, at most about one matrix in twenty has such an entry. The entry's column is then
// refined alone.
func Guard(n int) int { return 14 + 2*bits.Len(uint(n)) }

// IsIdentity reports whether b is the unit matrix.
func IsIdentity(b num.Mat) bool {
	if b.Rows != b.Cols || b.Format() != num.Float64 {
		return false
	}
	m := b
	for j := range m.Cols {
		if m.RS == 1 { // the usual case
			column := m.Arr.F64[0][m.At(0, j):][:m.Rows]
			others := uint64(0)
			for _, part := range [][]float64{column[:j], column[j+1:]} {
				for _, x := range part {
					others |= math.Float64bits(x) << 1
				}
			}
			if column[j] != 1 || others != 0 {
				return false
			}
			continue
		}
		for i, at := 0, m.At(0, j); i < m.Rows; i, at = i+1, at+m.RS {
			if x := m.Arr.F64[0][at]; x != 0 && (x != 1 || i != j) || i == j && x == 0 {
				return false
			}
		}
	}
	return true
}
