package exact

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// fastRow finishes n entries of row i from column j on like entry, for the plain
// expression (-1)^s 2^e A B in MP or Float64; what it cannot settle goes to
// entry.
func (f *finisher) fastRow(i, j, n int, words []int64, stride, e int) {
	a := f.c.Arr
	limbs, spare := 1, uint(11)
	if a.Kind == num.MP {
		limbs = a.Limbs()
		spare = uint(64*limbs) - uint(a.Prec)
	}
	errRow := f.errL[i] + f.errAll
	unit := f.p.unit + f.left.exp[i] + f.p.alpha.exp
	if cap(f.tmp) < limbs+1 {
		f.tmp = make([]uint64, limbs+1)
	}
	z := f.tmp[:limbs+1]
	var v value
	for d := range n {
		col := j + d
		f.integer(&v, words, stride, e+d)
		top := len(v.mag) - 1
		bound := min(errRow+f.errR[col], 1<<60)
		if top < 0 || f.right.special[col] {
			f.entry(i, col, words, stride, e+d)
			continue
		}
		// z[1:] is the significand, z[0] the 64 bits below its words; the padding
		// below mag stands for the zeros below the unit.
		s := uint(bits.LeadingZeros64(v.mag[top]))
		at := top + f.pad - limbs
		if s == 0 {
			copy(z, f.padded[at:])
		} else {
			below := f.padded[at-1]
			for k, w := range f.padded[at : at+limbs+1] {
				z[k] = w<<s | below>>(64-s)
				below = w
			}
		}
		tail := z[0]>>spare | z[1]<<1<<(63-spare)
		// The error in units of the last bit of tail.
		drop := int64(64*top+64) - int64(s) - int64(64*limbs) + int64(spare)
		var err uint64
		switch {
		case bound == 0:
		case drop >= 64:
			err = uint64(bound)>>min(uint64(drop-64), 63) + 3
		case drop >= 2 && bound < float64(uint64(1)<<(drop-2)):
			err = (uint64(bound) + 1) << uint64(64-drop)
		default:
			f.fail(i, col)
			continue
		}
		dist := tail - 1<<63
		up := int64(dist) >= 0
		if !up {
			dist = -dist
		}
		if dist <= err {
			if bound == 0 { // perhaps a tie
				f.entry(i, col, words, stride, e+d)
			} else {
				f.fail(i, col)
			}
			continue
		}
		exp := unit + f.right.exp[col] + int64(64*top+64) - int64(s)
		neg := v.neg != f.p.alpha.neg
		at = f.c.At(i, col)
		if a.Kind == num.F64 {
			if exp < -1000 || exp > 1000 {
				f.entry(i, col, words, stride, e+d)
				continue
			}
			x := z[1] >> 11
			if up {
				x++
			}
			// x may be 2^53: the carry goes into the exponent.
			x += uint64(exp+1021) << 52
			if neg {
				x |= 1 << 63
			}
			a.F64[0][at] = math.Float64frombits(x)
			continue
		}
		if exp > math.MaxInt32-2 || exp < math.MinInt32+2 {
			f.entry(i, col, words, stride, e+d)
			continue
		}
		sig := a.Sig[at*limbs : at*limbs+limbs]
		lsb := uint64(1) << spare
		sig[0] = z[1] &^ (lsb - 1)
		copy(sig[1:], z[2:])
		if up {
			var c uint64
			sig[0], c = bits.Add64(sig[0], lsb, 0)
			for k := 1; c != 0 && k < limbs; k++ {
				sig[k], c = bits.Add64(sig[k], 0, c)
			}
			if c != 0 {
				sig[limbs-1] = 1 << 63
				exp++
			}
		}
		a.Exp[at], a.Cls[at] = int32(exp), num.MakeCls(neg, num.Finite)
	}
}
