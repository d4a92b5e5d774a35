package product

import (
	"math"
	"math/big"
	"slices"
	"sync"

	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/modgemm"
)

// A base is a residue number system: the first moduli of a pool.
type base struct {
	key    baseKey
	moduli []int
	planes []int    // moduli of the products: moduli, and the redundant modulus if there is one
	plain  int      // number of plain moduli
	log2M  float64  // log2 of the product, rounded down
	big    *big.Int // M, the product
	inv    []int64  // (M/m_t)^-1 mod m_t
	words  [][]uint32
}

// maxKaratsuba bounds the Karatsuba moduli: products leave residues below 4.375 m as half words
// (kernels/exact/product.cuh).
const maxKaratsuba = 14979

// maxInner is the largest inner dimension of a product: the sums of products of bytes stay within
// 2^30.
const maxInner = 1 << 16

// pool holds the moduli. F_t of the smallest modulus fits in 32 bits, and 2^abi.QuotientBits/m has
// three bytes for Karatsuba moduli. Sums of products of bytes over the whole pool stay below 2^31,
// and the error of the quotient stays below 1/250.
var pool = modgemm.NewBytePool(0, maxKaratsuba)

// checkedPool is the pool without its largest modulus, and that modulus, which is the redundant
// one.
var checkedPool = sync.OnceValues(func() (*modgemm.BytePool, int) { return pool().Checked() })

// A baseKey identifies a base by the number of its moduli and by their pool.
type baseKey struct {
	moduli  int
	checked bool // the moduli come from checkedPool
}

// pool returns the pool from which the base takes its moduli, and the redundant modulus or 0.
func (k baseKey) pool() (p *modgemm.BytePool, redundant int) {
	if k.checked {
		return checkedPool()
	}
	return pool(), 0
}

// products returns the number of products of byte matrices that a base takes.
func (k baseKey) products() int {
	n := pool().Products(k.moduli)
	if k.checked {
		n += modgemm.KaratsubaProducts
	}
	return n
}

// newBase returns the base of a key.
func newBase(key baseKey) *base {
	p, redundant := key.pool()
	n := key.moduli
	b := &base{key: key, moduli: p.Moduli[:n], planes: p.Moduli[:n], plain: min(n, p.Plain), log2M: p.Bits[n], big: big.NewInt(1), inv: make([]int64, n)}
	if redundant != 0 {
		b.planes = append(slices.Clip(b.moduli), redundant)
	}
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

// tileRows is the number of moduli whose residues the tensor cores compute at a time.
const tileRows = 16

// tiles returns the number of tiles of constants of the plain moduli, and the number of pairs of
// tiles of the Karatsuba moduli, including the redundant one.
func (b *base) tiles() (plain, pairs int) {
	return (b.plain + tileRows - 1) / tileRows, (b.karatsuba() + tileRows - 1) / tileRows
}

// karatsuba returns the number of Karatsuba moduli of products, including the redundant one.
func (b *base) karatsuba() int { return len(b.planes) - b.plain }

// rowModuli returns the moduli of the rows of all tiles and pairs of tiles.
func (b *base) rowModuli() []abi.Modulus {
	plain, pairs := b.tiles()
	rows := make([]abi.Modulus, tileRows*(plain+pairs))
	for t, m := range b.planes {
		if t < b.plain {
			rows[t] = abi.Modulus{Inverse: math.Float32bits(1 / float32(m)), M: int32(m)}
		} else {
			rows[tileRows*plain+t-b.plain] = abi.Modulus{Inverse: uint32((int64(1)<<33/int64(m) + 1) / 2), M: int32(m)}
		}
	}
	return rows
}

// constants returns the left operands of the conversion to residues, in fragments of mma.m16n8k32:
// word r of lane l of step s of a tile holds four bytes of row l/4 + 8 (r%2) from digit 32 s + 4
// (l%4) + 16 (r/2) on. Digit s of modulus m is 2^(8s) mod m. For left operands it is multiplied by
// (M/m)^-1, except for the redundant modulus. The digits c = 128 c1 + c0 of a Karatsuba modulus lie
// in two tiles, c0 in the first. The given number of steps begins with step first.
func (b *base) constants(first, steps int, left bool) []uint32 {
	plain, pairs := b.tiles()
	out := make([]byte, (plain+2*pairs)*steps*512)
	put := func(tile, row, digit int, v int64) {
		lane := row%8*4 + digit%16/4
		word := row/8 + digit%32/16*2
		out[((tile*steps+digit/32)*32+lane)*16+word*4+digit%4] = byte(v)
	}
	for t, m := range b.planes {
		m := int64(m)
		w := int64(1)
		if left && t < len(b.inv) {
			w = b.inv[t]
		}
		for range abi.StepBytes * first {
			w = w << 8 % m
		}
		for s := range abi.StepBytes * steps {
			c := modgemm.Balanced(w, m)
			if t < b.plain {
				put(t/tileRows, t%tileRows, s, c)
			} else {
				u := t - b.plain
				c0, c1 := modgemm.SplitByte(c)
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

// reductions returns the reductions of all moduli.
func (b *base) reductions() []abi.Reduction {
	out := make([]abi.Reduction, len(b.planes))
	for t, m := range b.planes {
		r := abi.Reduction{M: int32(m)}
		if t < b.plain {
			for 4<<r.Shift < m {
				r.Shift++
			}
			r.Scale[0] = int32((int64(1)<<(33+r.Shift)/int64(m) + 1) / 2)
		} else {
			for i, f := range modgemm.KaratsubaFactors {
				f = modgemm.Balanced(f, int64(m))
				r.Factor[i] = int32(f)
				r.Scale[i] = int32(math.RoundToEven(float64(f) * 0x1p32 / float64(m)))
			}
		}
		out[t] = r
	}
	return out
}
