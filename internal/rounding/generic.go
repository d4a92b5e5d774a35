package rounding

import (
	"math"
	"math/bits"
)

// integersGeneric computes Integers; mag begins at row pad.
func integersGeneric(mag, neg []uint64, stride int, words []int64, wordStride int, m *Modulus, n int) {
	const mask = 1<<WordBits - 1
	count := m.Count()
	last := m.low + m.high<<lowBits
	for e := range n {
		q := (words[e] + 1<<(WordBits-1)) >> WordBits
		at, from := e, e
		var carry int64
		var acc, have uint64
		for _, w := range m.m {
			from += wordStride
			x := words[from] - q*int64(w) + carry
			d := uint64(x & mask)
			carry = x >> WordBits
			acc |= d << (have & 63)
			if have += WordBits; have >= 64 {
				mag[at] = acc
				at += stride
				have -= 64
				acc = d >> ((WordBits - have) & 63)
			}
		}
		x := words[from+wordStride] - q*last + carry
		mag[at] = acc | uint64(x)<<(have&63)
		sign := uint64(x >> 63)
		if have > 0 {
			mag[at+stride] = uint64(x >> ((64 - have) & 63))
		}
		neg[e] = sign
		c := sign & 1
		for k := range count {
			mag[k*stride+e], c = bits.Add64(mag[k*stride+e]^sign, 0, c)
		}
	}
}

// roundGeneric computes Round.
func roundGeneric(z []uint64, top []int64, ok, mag []uint64, stride, count int, f Format, errRow float64, errCol []float64, n int) {
	pad := Pad(f.Limbs)
	for e0 := 0; e0 < n; e0 += 4 {
		h := count
		for h > 0 && mag[(pad+h-1)*stride+e0]|mag[(pad+h-1)*stride+e0+1]|mag[(pad+h-1)*stride+e0+2]|mag[(pad+h-1)*stride+e0+3] == 0 {
			h--
		}
		for e := e0; e < e0+4; e++ {
			ok[e] = 0
			if h == 0 {
				continue
			}
			at := h - 1
			if mag[(pad+at)*stride+e] == 0 {
				at--
			}
			if mag[(pad+at)*stride+e] == 0 {
				continue
			}
			if f.round(z[e:], &top[e], mag[e:], stride, at, errRow+errCol[e]) {
				ok[e] = math.MaxUint64
			}
		}
	}
}

// round rounds the number whose first word is in row at.
func (f Format) round(z []uint64, top *int64, mag []uint64, stride, at int, err float64) bool {
	first := Pad(f.Limbs) + at
	s := uint(bits.LeadingZeros64(mag[first*stride]))
	from := (first - f.Limbs - 1) * stride
	prev := mag[from]
	next := func() uint64 {
		from += stride
		w := mag[from]
		r := w<<s | prev>>(64-s)
		prev = w
		return r
	}
	tail, w := next(), next()
	tail = tail>>uint(f.Spare) | w<<uint(64-f.Spare)
	b := int64(64*(at+1)) - int64(s)
	up := tail >> 63
	dist := int64(tail ^ 1<<63)
	if dist < 0 {
		dist = -dist
	}
	drop := b - int64(64*f.Limbs-f.Spare)
	// A power of two: the product is exact.
	e := float64(err * math.Float64frombits(uint64(1076-min(max(drop, 2), 1070))<<52))
	ok := (drop >= 2 || err == 0) && e < 1<<51 && float64(uint64(dist)>>11) > e+2
	lsb := uint64(1) << uint(f.Spare)
	w &^= lsb - 1
	w, c := bits.Add64(w, up<<uint(f.Spare), 0)
	z[0] = w
	for k := 1; k < f.Limbs; k++ {
		w, c = bits.Add64(next(), 0, c)
		z[k*stride] = w
	}
	if c != 0 {
		z[(f.Limbs-1)*stride] = 1 << 63
		b++
	}
	*top = b
	return ok
}

// remaindersGeneric computes Remainders; mag begins at row pad.
func remaindersGeneric(mag, neg []uint64, top []int64, stride, count, prec, n int) {
	for e := range n {
		drop := top[e] - int64(prec)
		var up uint64
		if k := (drop - 1) >> 6; k >= 0 && k < int64(count) {
			up = -(mag[int(k)*stride+e] >> (uint(drop-1) & 63) & 1)
		}
		c := up & 1
		for k := range count {
			var mask uint64
			switch keep := drop - int64(64*k); {
			case keep >= 64:
				mask = math.MaxUint64
			case keep > 0:
				mask = 1<<uint(keep) - 1
			}
			at := k*stride + e
			mag[at], c = bits.Add64((mag[at]^up)&mask, 0, c)
		}
		neg[e] ^= up
	}
}

// floatsGeneric computes Floats.
func floatsGeneric(z, ok []uint64, top, exps []int64, unit int64, neg []uint64, flip uint64, n int) bool {
	all := uint64(math.MaxUint64)
	for e := range n {
		exp := top[e] + unit + exps[e]
		if exp < -MaxExp || exp > MaxExp {
			ok[e] = 0
		}
		all &= ok[e]
		// The leading bit adds 1 to the exponent.
		z[e] = z[e]>>11 + uint64(exp+1021)<<52 | (neg[e]^flip)<<63
	}
	return all != 0
}

// exponentsGeneric computes Exponents.
func exponentsGeneric(exp []int32, cls []uint8, ok []uint64, top, exps []int64, unit int64, neg []uint64, flip uint64, n int) bool {
	all := true
	for e := range n {
		x := top[e] + exps[e] + unit
		if ok[e] == 0 || x < math.MinInt32+2 || x > math.MaxInt32-2 {
			ok[e], all = 0, false
			continue
		}
		exp[e], cls[e] = int32(x), uint8(2|(neg[e]^flip)&1)
	}
	return all
}

// significandsGeneric computes Significands.
func significandsGeneric(sig, z []uint64, stride, limbs, n int) {
	for e := range n {
		from := e
		for k := range sig[e*limbs:][:limbs] {
			sig[e*limbs+k] = z[from]
			from += stride
		}
	}
}
