package rational

import (
	"math/big"
	"math/bits"
)

// gcd returns the greatest common divisor of g > 0 and some integers, possibly g itself. A nil
// integer is 0.
func gcd(g *big.Int, x ...*big.Int) *big.Int {
	for i, y := range x {
		switch {
		case g.IsUint64():
			v := g.Uint64()
			for _, y := range x[i:] {
				if v == 1 {
					break
				}
				if y != nil {
					v = gcd64(v, residue(y, v))
				}
			}
			if v == g.Uint64() {
				return g
			}
			return word(v)
		case y == nil || y.Sign() == 0:
		case bits.UintSize == 64 && len(g.Bits()) == 2 && len(y.Bits()) <= 2:
			gh, gl := words128(g)
			yh, yl := words128(y)
			g = word128(gcd128(gh, gl, yh, yl))
		default:
			g = new(big.Int).GCD(nil, nil, g, y)
		}
	}
	return g
}

// word returns x as a big.Int, which must not be changed.
func word(x uint64) *big.Int {
	if x == 1 {
		return one
	}
	return new(big.Int).SetUint64(x)
}

// word128 is word for two words.
func word128(hi, lo uint64) *big.Int {
	if hi == 0 {
		return word(lo)
	}
	return new(big.Int).SetBits([]big.Word{big.Word(lo), big.Word(hi)})
}

// commonWithProduct returns the greatest common divisor of an odd d > 0 and the product of the x
// that are not 0. The integers have at most 128 bits, and words have 64. It takes the product
// divided by powers of 2^128, modulo d (Montgomery, 1985).
func commonWithProduct(d *big.Int, x []*big.Int) (hi, lo uint64) {
	dh, dl := words128(d)
	inverse := dl // -1/d modulo 2^64: correct to 3 bits, apart from the sign
	for range 5 {
		inverse *= 2 - dl*inverse
	}
	inverse = -inverse
	if dh|(dl-1) == 0 {
		return 0, 1
	}
	hi, lo = 0, 1 // below d
	for _, x := range x {
		if x == nil || x.Sign() == 0 {
			continue
		}
		var t [4]uint64
		xh, xl := words128(x)
		for _, w := range [2]uint64{xl, xh} { // t < 2 d before and after
			addProduct(&t, hi, lo, w)
			addProduct(&t, dh, dl, t[0]*inverse) // then t[0] is 0
			t = [4]uint64{t[1], t[2], t[3], 0}
		}
		l, borrow := bits.Sub64(t[0], dl, 0)
		h, borrow := bits.Sub64(t[1], dh, borrow)
		if hi, lo = t[1], t[0]; t[2] != 0 || borrow == 0 {
			hi, lo = h, l
		}
	}
	if hi|lo == 0 {
		return dh, dl
	}
	return gcd128(dh, dl, hi, lo)
}

// addProduct adds (hi, lo) w to t.
func addProduct(t *[4]uint64, hi, lo, w uint64) {
	h0, l0 := bits.Mul64(lo, w)
	h1, l1 := bits.Mul64(hi, w)
	var c uint64
	h0, c = bits.Add64(h0, l1, 0)
	h1 += c
	t[0], c = bits.Add64(t[0], l0, 0)
	t[1], c = bits.Add64(t[1], h0, c)
	t[2], c = bits.Add64(t[2], h1, c)
	t[3] += c
}

// words128 returns the words of |x|, at most 128 bits.
func words128(x *big.Int) (hi, lo uint64) {
	w := x.Bits()
	switch len(w) {
	case 0:
		return 0, 0
	case 1:
		return 0, uint64(w[0])
	}
	return uint64(w[1]), uint64(w[0])
}

// gcd64 returns the greatest common divisor of x and y, by shifts and differences (Stein,
// Computational problems associated with Racah algebra, 1967).
func gcd64(x, y uint64) uint64 {
	if x == 0 || y == 0 {
		return x | y
	}
	shift := bits.TrailingZeros64(x | y)
	x >>= bits.TrailingZeros64(x)
	for y != 0 {
		y >>= bits.TrailingZeros64(y)
		x, y = min(x, y), max(x, y)
		y -= x
	}
	return x << shift
}

// gcd128 is gcd64 for integers of two words that are not 0.
func gcd128(xh, xl, yh, yl uint64) (hi, lo uint64) {
	odd := func(hi, lo uint64) (h, l uint64, zeros int) {
		if lo == 0 {
			zeros = 64 + bits.TrailingZeros64(hi)
			return 0, hi >> (zeros - 64), zeros
		}
		zeros = bits.TrailingZeros64(lo)
		return hi >> zeros, lo>>zeros | hi<<(64-zeros), zeros
	}
	var zx, zy int
	xh, xl, zx = odd(xh, xl)
	yh, yl, zy = odd(yh, yl)
	for xh|yh != 0 {
		l, borrow := bits.Sub64(xl, yl, 0)
		h, borrow := bits.Sub64(xh, yh, borrow)
		if borrow != 0 { // x < y
			xh, xl, yh, yl = yh, yl, xh, xl
			var c uint64
			l, c = bits.Add64(^l, 1, 0)
			h = ^h + c
		}
		if h|l == 0 {
			break
		}
		xh, xl, _ = odd(h, l)
	}
	if xh|yh == 0 {
		yl = gcd64(xl, yl)
	}
	shift := min(zx, zy)
	if shift >= 64 {
		return yl << (shift - 64), 0
	}
	return yh<<shift | yl>>(64-shift), yl << shift
}
