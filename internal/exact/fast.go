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
		bound := errRow + f.errR[col]
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
		drop := int64(64*top+64) - int64(s) - int64(64*limbs) + int64(spare)
		err, ok := tailError(bound, drop)
		if !ok {
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

// tailError returns bound, the error of a number in units, in units of the last of
// the 64 bits that follow a rounded significand when drop bits of the number
// do. It reports false if the significand may err by a quarter of its last place.
func tailError(bound float64, drop int64) (err uint64, ok bool) {
	switch {
	case bound == 0:
		return 0, true
	case bound >= 1<<60:
		return 0, false
	case drop >= 64:
		return uint64(bound)>>min(uint64(drop-64), 63) + 3, true
	case drop >= 2 && bound < float64(uint64(1)<<(drop-2)):
		return (uint64(bound) + 1) << uint64(64-drop), true
	}
	return 0, false
}

// fastWords is the most words that fastRow1 takes.
const fastWords = 3

// fastRow1 is fastRow for results of one word from at most fastWords words, whose
// integers hold in 128 bits.
func (f *finisher) fastRow1(i, j, n int, words []int64, stride, e int) {
	a := f.c.Arr
	spare := uint(11)
	if a.Kind == num.MP {
		spare = uint(64 - a.Prec)
	}
	errRow := f.errL[i] + f.errAll
	unit := f.p.unit + f.left.exp[i] + f.p.alpha.exp + 128
	var m [fastWords]int64
	var x [fastWords][]int64
	for w := range x {
		x[w] = words[:n] // of no weight, m[w] being 0
		if w < len(f.w.m) {
			m[w] = f.w.m[w]
			x[w] = words[(w+1)*stride+e:][:n]
		}
	}
	two := len(f.w.m) > 1
	three := len(f.w.m) > 2
	quotients := words[e:][:n]
	errR, expR, special := f.errR[j:j+n], f.right.exp[j:j+n], f.right.special[j:j+n]
	at, step := f.c.At(i, j)-f.c.CS, f.c.CS
	for d, q := range quotients {
		at += step
		q = (q + 1<<(wordBits-1)) >> wordBits
		t := x[0][d] - q*m[0]
		lo, hi := uint64(t), uint64(t>>63)
		if two {
			t = x[1][d] - q*m[1]
			var c uint64
			lo, c = bits.Add64(lo, uint64(t)<<wordBits, 0)
			hi += uint64(t>>(64-wordBits)) + c
		}
		if three {
			hi += uint64(x[2][d]-q*m[2]) << (2*wordBits - 64)
		}
		sign := uint64(int64(hi) >> 63)
		var c uint64
		lo, c = bits.Add64(lo^sign, sign&1, 0)
		hi = hi ^ sign + c
		if hi|lo == 0 || special[d] {
			f.entry(i, j+d, words, stride, e+d)
			continue
		}
		s := bits.LeadingZeros64(hi)
		if hi == 0 {
			s += bits.LeadingZeros64(lo)
			hi, lo = lo, 0
		}
		hi = hi<<(s&63) | lo>>1>>(63-s&63)
		lo <<= s & 63
		tail := lo>>spare | hi<<1<<(63-spare)
		bound := errRow + errR[d]
		err, ok := tailError(bound, int64(64-s)+int64(spare))
		if !ok {
			f.fail(i, j+d)
			continue
		}
		dist := tail - 1<<63
		up := ^dist >> 63
		dist = dist ^ -(1 - up) + (1 - up)
		exp := unit + expR[d] - int64(s)
		if dist <= err {
			if bound == 0 { // perhaps a tie
				f.entry(i, j+d, words, stride, e+d)
			} else {
				f.fail(i, j+d)
			}
			continue
		}
		neg := sign != 0 != f.p.alpha.neg
		if a.Kind == num.F64 {
			if exp < -1000 || exp > 1000 {
				f.entry(i, j+d, words, stride, e+d)
				continue
			}
			// The significand may be 2^53: the carry goes into the exponent.
			z := hi>>11 + up + uint64(exp+1021)<<52
			if neg {
				z |= 1 << 63
			}
			a.F64[0][at] = math.Float64frombits(z)
			continue
		}
		if exp > math.MaxInt32-2 || exp < math.MinInt32+2 {
			f.entry(i, j+d, words, stride, e+d)
			continue
		}
		lsb := uint64(1) << spare
		hi, c = bits.Add64(hi&^(lsb-1), up<<spare, 0)
		if c != 0 {
			hi = 1 << 63
			exp++
		}
		a.Sig[at], a.Exp[at], a.Cls[at] = hi, int32(exp), num.MakeCls(neg, num.Finite)
	}
}
