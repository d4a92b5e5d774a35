package call

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// Scaled returns diag(2^rows) A diag(2^cols) exactly. It returns a matrix without an array if
// numbers have more than most bits, or exponents beyond 2^29. Entries that are not finite become 0.
func Scaled(a num.Mat, by scale.Scaling, most int) num.Mat {
	return Arranged(a, by, nil, most, num.NewMat)
}

// Arranged is Scaled with row order[i] of A as row i; the result has as many rows as order. A nil
// order keeps the rows of A. room returns the matrix of zeros in which the result is stored.
func Arranged(a num.Mat, by scale.Scaling, order []int, most int, room func(f num.Format, rows, cols int) num.Mat) num.Mat {
	bits := a.Format().Bits()
	m := a
	if m.Arr.Terms() > 1 || bits > most { // numbers may have fewer bits than their format
		bits = int(min(bound.Longest(a), math.MaxInt32))
	}
	if bits > most {
		return num.Mat{}
	}
	rows := m.Rows
	if order != nil {
		rows = len(order)
	}
	z := room(num.Precision(uint(max(bits, num.MinPrec))), rows, m.Cols)
	to := z
	same := m.Arr.Format == to.Arr.Format
	l := to.Arr.Limbs()
	var buf [num.MaxValueWords]uint64
	const far = 1 << 29
	for j := range m.Cols {
		if same && order == nil && m.RS == 1 { // the usual case: a third of the time
			from, at := m.At(0, j), to.At(0, j)
			copy(to.Arr.Sig[at*l:(at+m.Rows)*l], m.Arr.Sig[from*l:(from+m.Rows)*l])
			exp, cls := to.Arr.Exp[at:at+m.Rows], to.Arr.Cls[at:at+m.Rows]
			copy(cls, m.Arr.Cls[from:from+m.Rows])
			for i, e := range m.Arr.Exp[from : from+m.Rows] {
				if cls[i].Class() != num.Finite {
					clear(to.Arr.Sig[(at+i)*l : (at+i+1)*l])
					cls[i] = num.MakeCls(false, num.Zero)
					continue
				}
				shift := by.Rows[i] + by.Cols[j]
				if uint64(int64(e)+far) > 2*far || uint64(shift+far) > 2*far {
					return num.Mat{}
				}
				exp[i] = e + int32(shift)
			}
			continue
		}
		for i := range rows {
			k := i
			if order != nil {
				k = order[i]
			}
			from, at := m.At(k, j), to.At(i, j)
			shift := by.Rows[k] + by.Cols[j]
			if same {
				e := int64(m.Arr.Exp[from])
				switch {
				case m.Arr.Class(from) != num.Finite:
					continue
				case max(e, -e) > far || max(shift, -shift) > far:
					return num.Mat{}
				}
				copy(to.Arr.Sig[at*l:at*l+l], m.Arr.Sig[from*l:from*l+l])
				to.Arr.Exp[at], to.Arr.Cls[at] = int32(e+shift), m.Arr.Cls[from]
				continue
			}
			if m.Arr.Kind == num.F64 && max(shift, -shift) <= far && bits >= 53 {
				SetFloat(to.Arr, at, m.Arr.F64[0][from], shift)
				continue
			}
			x := m.Arr.Value(from, buf[:])
			if x.Class != num.Finite {
				continue
			}
			if e := x.Exp + int64(num.BitLen(x.Mag)); max(e, -e) > far || max(shift, -shift) > far {
				return num.Mat{}
			}
			x.Exp += shift
			to.Arr.Set(at, x)
		}
	}
	return z
}

// SetFloat sets number i of a, which is 0 and in MP of at least 53 bits, to x 2^shift; if x is not
// finite it leaves the number 0. It is not ok if the exponent of x 2^shift is beyond the range of
// MP.
func SetFloat(a *num.Array, i int, x float64, shift int64) (ok bool) {
	if x == 0 || x-x != 0 {
		return true
	}
	mantissa, e := num.Decompose(x)
	if l := a.Limbs(); l == 1 && max(shift, -shift) < 1<<29 {
		zeros := bits.LeadingZeros64(mantissa)
		a.Sig[i], a.Exp[i], a.Cls[i] = mantissa<<zeros, int32(e+shift)+int32(64-zeros), num.MakeCls(x < 0, num.Finite)
		return true
	}
	a.Set(i, num.Real{Class: num.Finite, Neg: x < 0, Mag: []uint64{mantissa}, Exp: e + shift})
	return a.Class(i) == num.Finite
}
