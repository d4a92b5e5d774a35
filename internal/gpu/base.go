package gpu

import (
	"math"
	"math/big"
	"sync"

	"github.com/halfulp/halfulp/internal/modgemm"
)

// A base is a residue number system: the first moduli of the pool. The plain ones come
// first, at most 256, whose balanced residues are bytes; then Karatsuba moduli, whose
// residues are a = 128 a1 + a0 with -64 <= a0 <= 63 and -64 <= a1 <= 64, so that a0 + a1 is
// a byte, too:
//
//	a b = -127 a0 b0 + 16256 a1 b1 + 128 (a0 + a1)(b0 + b1).
type base struct {
	moduli []int
	plain  int      // number of plain moduli
	log2M  float64  // log2 of the product, rounded down
	big    *big.Int // M, the product
	inv    []int64  // (M/m_t)^-1 mod m_t
	words  [][]uint32
}

// maxKaratsuba bounds Karatsuba moduli: products leave numbers below 4.375 m as half
// words (kernels/product.cuh).
const maxKaratsuba = 14979

// minKaratsuba bounds Karatsuba moduli from below: 2^quotientBits/m has three bytes. Sums of
// products of bytes over all of the pool stay below 2^31, and the error of the quotient below 1/250.
const minKaratsuba = 512

// maxInner is the greatest inner dimension of a product: its sums of products of bytes
// stay within 2^30.
const maxInner = 1 << 16

type moduliPool struct {
	moduli []int
	plain  int
	bits   []float64 // of the products of the first n, rounded down
}

var pool = sync.OnceValue(func() *moduliPool {
	p := new(moduliPool)
	// A plain modulus of b bits costs one product, a Karatsuba modulus of 13.8 three; F_t
	// fits 32 bits.
	const least = 32
	for m := 256; m >= least; m-- {
		if coprime(m, p.moduli) {
			p.moduli = append(p.moduli, m)
		}
	}
	p.plain = len(p.moduli)
	for m := maxKaratsuba; m > minKaratsuba; m -= 2 {
		if big.NewInt(int64(m)).ProbablyPrime(0) {
			p.moduli = append(p.moduli, m)
		}
	}
	p.bits = make([]float64, len(p.moduli)+1)
	for t, m := range p.moduli {
		p.bits[t+1] = p.bits[t] + math.Log2(float64(m)) - 1e-12
	}
	return p
})

func coprime(m int, with []int) bool {
	for _, q := range with {
		if modgemm.GCD(m, q) != 1 {
			return false
		}
	}
	return true
}

// products returns how many products of byte matrices n moduli of the pool take.
func (p *moduliPool) products(n int) int { return n + 2*max(0, n-p.plain) }

// newBase returns the base of the first n moduli of the pool.
func newBase(n int) *base {
	p := pool()
	b := &base{moduli: p.moduli[:n], plain: min(n, p.plain), log2M: p.bits[n], big: big.NewInt(1), inv: make([]int64, n)}
	for _, m := range b.moduli {
		b.big.Mul(b.big, big.NewInt(int64(m)))
	}
	b.words = make([][]uint32, n+1)
	b.words[n] = words(b.big)
	for t, m := range b.moduli {
		m := big.NewInt(int64(m))
		q := new(big.Int).Div(b.big, m)
		b.words[t] = words(q)
		b.inv[t] = q.ModInverse(q.Mod(q, m), m).Int64()
	}
	return b
}

// words returns the 32-bit words of x.
func words(x *big.Int) []uint32 {
	bytes := x.Bytes()
	w := make([]uint32, (len(bytes)+3)/4)
	for i, v := range bytes {
		k := len(bytes) - 1 - i
		w[k/4] |= uint32(v) << (k % 4 * 8)
	}
	return w
}

// split returns a0 and a1 with a = 128 a1 + a0 and -64 <= a0 <= 63.
func split(a int64) (a0, a1 int64) {
	a1 = (a + 64) >> 7
	return a - a1<<7, a1
}

// tileRows is the number of moduli whose residues the tensor cores compute at a time.
const tileRows = 16

// tiles returns the tiles of constants of the plain moduli, and the pairs of tiles of
// the Karatsuba moduli.
func (b *base) tiles() (plain, pairs int) {
	return (b.plain + tileRows - 1) / tileRows, (len(b.moduli) - b.plain + tileRows - 1) / tileRows
}

// A modulus is a row of tiles of constants, as kernels/residues.cu takes it.
type modulus struct {
	inverse uint32 // the bits of 1/m in binary32 for plain moduli, round(2^32/m) for Karatsuba moduli
	m       int32
}

// rowModuli returns the moduli of the rows of all tiles or pairs of tiles.
func (b *base) rowModuli() []modulus {
	plain, pairs := b.tiles()
	rows := make([]modulus, tileRows*(plain+pairs))
	for t, m := range b.moduli {
		if t < b.plain {
			rows[t] = modulus{math.Float32bits(1 / float32(m)), int32(m)}
		} else {
			rows[tileRows*plain+t-b.plain] = modulus{uint32((int64(1)<<33/int64(m) + 1) / 2), int32(m)}
		}
	}
	return rows
}

// stepBytes is the number of digits that one instruction of the tensor cores sums over.
const stepBytes = 32

// constants returns the left operands of the conversion to residues, in fragments of
// mma.m16n8k32: word r of lane l of step s of a tile holds four bytes of row l/4 + 8 (r%2)
// from digit 32 s + 4 (l%4) + 16 (r/2) on. Digit s of modulus m is 2^(8s) mod m, times
// (M/m)^-1 for left operands. A Karatsuba modulus' digits c = 128 c1 + c0 lie in two tiles,
// c0 in the first. The steps are those from step first on.
func (b *base) constants(first, steps int, left bool) []uint32 {
	plain, pairs := b.tiles()
	out := make([]byte, (plain+2*pairs)*steps*512)
	put := func(tile, row, digit int, v int64) {
		lane := row%8*4 + digit%16/4
		word := row/8 + digit%32/16*2
		out[((tile*steps+digit/32)*32+lane)*16+word*4+digit%4] = byte(v)
	}
	for t, m := range b.moduli {
		m := int64(m)
		w := int64(1)
		if left {
			w = b.inv[t]
		}
		for range stepBytes * first {
			w = w << 8 % m
		}
		for s := range stepBytes * steps {
			c := modgemm.Balanced(w, m)
			if t < b.plain {
				put(t/tileRows, t%tileRows, s, c)
			} else {
				u := t - b.plain
				c0, c1 := split(c)
				put(plain+u/tileRows*2, u%tileRows, s, c0)
				put(plain+u/tileRows*2+1, u%tileRows, s, c1)
			}
			w = w << 8 % m
		}
	}
	return wordsOf(out)
}

func wordsOf(b []byte) []uint32 {
	w := make([]uint32, len(b)/4)
	for i := range w {
		w[i] = uint32(b[4*i]) | uint32(b[4*i+1])<<8 | uint32(b[4*i+2])<<16 | uint32(b[4*i+3])<<24
	}
	return w
}

// A reduction says how sums of products are reduced modulo a modulus, as
// kernels/product.cuh takes it.
type reduction struct {
	m, shift int32
	factor   [3]int32
	scale    [3]int32
}

// reductions returns the reductions of all moduli.
func (b *base) reductions() []reduction {
	out := make([]reduction, len(b.moduli))
	for t, m := range b.moduli {
		r := reduction{m: int32(m)}
		if t < b.plain {
			for 4<<r.shift < m {
				r.shift++
			}
			r.scale[0] = int32((int64(1)<<(33+r.shift)/int64(m) + 1) / 2)
		} else {
			for i, f := range []int64{-127, 16256, 128} {
				f = modgemm.Balanced(f, int64(m))
				r.factor[i] = int32(f)
				r.scale[i] = int32(math.RoundToEven(float64(f) * 0x1p32 / float64(m)))
			}
		}
		out[t] = r
	}
	return out
}

// quotientBits is the scale of the weights of the quotient: F_t = round(2^33/m_t).
const quotientBits = 33

// weights is the way back from residues y_t >= 0: with W_t = floor(M/m_t 2^-cut) and q the
// integer nearest to 2^-33 sum y_t F_t, the number that the residues stand for is 2^cut (sum
// y_t W_t - q floor(M 2^-cut)), up to err 2^cut.
type weights struct {
	cut   int // a multiple of 32
	words int // of the result, in two's complement
	err   float64
}

// reconstruction returns the weights that drop the words below 2^(32 cutWords).
func (b *base) reconstruction(cutWords int) weights {
	bits := int(math.Ceil(b.log2M + 1e-6))
	w := weights{cut: 32 * cutWords, words: max(1, (bits+2+31)/32-cutWords)}
	if cutWords > 0 {
		w.err = b.dropped()
	}
	return w
}

// dropped bounds the reconstruction's error: y_t times what W_t loses, less than 1, and as
// much for q, the sum of the y_t/m_t.
func (b *base) dropped() float64 {
	e := 1.0
	for t := range b.moduli {
		if t < b.plain {
			e += 256 + 1
		} else {
			e += 1<<16 + 5
		}
	}
	return e
}

// tileDigits is the number of digits of weights that the tensor cores take at a time.
const tileDigits = 16

// finishSteps are the steps of 32 bytes of residues for which kernels/finish.cu has kernels.
// finishLong takes more.
var finishSteps = []int{1, 2, 3, 5, 9, 13, 17, 20}

// groups returns the groups of residues of an entry: 16 bytes or 8 half words.
func groups(plain, karatsuba int) (bytes, halfWords int) {
	return (plain + 15) / 16, (karatsuba + 7) / 8
}

// finishStepsFor returns the steps of the kernel that takes n moduli.
func finishStepsFor(n int) int {
	plain := min(n, pool().plain)
	a, b := groups(plain, n-plain)
	for _, k := range finishSteps {
		if 2*k >= a+b {
			return k
		}
	}
	return (a + b + 1) / 2
}

// column returns where the factors of byte b of residue t lie in fragments of mma.m16n8k32:
// the group of 16 factors, and the place in it.
func (b *base) column(t, upper int) (group, place int) {
	if t < b.plain {
		return t / 16, t % 16
	}
	bytes, _ := groups(b.plain, 0)
	u := t - b.plain
	return bytes + u/8, 2*(u%8) + upper
}

// fragmentByte is the place of digit row of a tile, for a place of a group, in a table of
// fragments of mma.m16n8k32 of the given steps.
func fragmentByte(tile, steps, row, group, place int) int {
	lane, word := row%8*4+place/4, row/8+group%2*2
	return ((tile*steps+group/2)*32+lane)*16 + word*4 + place%4
}

// table returns the weights as kernels/finish.cu takes them: the digits in radix 2^8 of F_t and
// W_t, least significant first, one after the other. The upper bytes of half words have those
// of 256 F_t and 256 W_t.
func (b *base) table(w weights, steps int) []uint32 {
	tiles := (4*(w.words+1) + tileDigits - 1) / tileDigits
	out := make([]byte, tiles*steps*512)
	for t, m := range b.moduli {
		stream := make([]uint32, w.words+1)
		stream[0] = uint32((int64(1)<<quotientBits + int64(m)/2) / int64(m))
		for i := range w.words {
			stream[i+1] = wordAt(b.words[t], w.cut/32+i)
		}
		for d := range 4 * len(stream) {
			digit := byte(stream[d/4] >> (d % 4 * 8))
			group, place := b.column(t, 0)
			out[fragmentByte(d/tileDigits, steps, d%tileDigits, group, place)] = digit
			// The digit above, unless it belongs to W_t and this one to F_t.
			if up := d + 1; t >= b.plain && up != 4 && up < 4*len(stream) {
				group, place := b.column(t, 1)
				out[fragmentByte(up/tileDigits, steps, up%tileDigits, group, place)] = digit
			}
		}
	}
	return wordsOf(out)
}

// productWords returns the words of floor(M 2^-cut).
func (b *base) productWords(w weights) []uint32 {
	out := make([]uint32, w.words)
	for i := range out {
		out[i] = wordAt(b.words[len(b.moduli)], w.cut/32+i)
	}
	return out
}

func wordAt(x []uint32, i int) uint32 {
	if i >= len(x) {
		return 0
	}
	return x[i]
}
