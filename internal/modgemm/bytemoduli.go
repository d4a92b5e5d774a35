package modgemm

import (
	"math"
	"slices"
	"sync"
)

// A BytePool holds the moduli of machines that multiply matrices of bytes, GPUs and processors with
// matrix units. It is immutable.
//
// The plain moduli come first, at most 256, whose balanced residues are bytes (128 modulo 256 is
// the byte -128). Then come Karatsuba moduli, whose residues are a = 128 a1 + a0 with bytes a0 and
// a1 of which a0 + a1 is a byte, too, and three products of bytes make one of residues:
//
//	a b = -127 a0 b0 + 16256 a1 b1 + 128 (a0 + a1)(b0 + b1).
type BytePool struct {
	Moduli []int     // pairwise coprime
	Plain  int       // number of plain moduli
	Bits   []float64 // of the products of the first n moduli, rounded down
}

// KaratsubaFactors are the factors of a0 b0, a1 b1 and (a0 + a1)(b0 + b1) in a b.
var KaratsubaFactors = [3]int64{-127, 16256, 128}

const (
	// minPlain is the least plain modulus: one of b bits costs one product, a Karatsuba modulus of
	// 13 bits or more three.
	minPlain = 32
	// leastKaratsuba bounds Karatsuba moduli of any pool from below. They are prime, and the plain
	// moduli have lesser factors.
	leastKaratsuba = 512
)

// SplitByte returns a0 and a1 with a = 128 a1 + a0 and -64 <= a0 <= 63. For |a| <= 8192, |a1| is at
// most 64.
func SplitByte(a int64) (a0, a1 int64) {
	a1 = (a + 64) >> 7
	return a - a1<<7, a1
}

// NewBytePool returns a function that makes, once, the pool with Karatsuba moduli above least, at
// least 512, and up to most.
func NewBytePool(least, most int) func() *BytePool {
	return sync.OnceValue(func() *BytePool {
		p := new(BytePool)
		for m := 256; m >= minPlain; m-- {
			if !slices.ContainsFunc(p.Moduli, func(q int) bool { return GCD(m, q) != 1 }) {
				p.Moduli = append(p.Moduli, m)
			}
		}
		p.Plain = len(p.Moduli)
		for m := (most - 1) | 1; m > max(least, leastKaratsuba); m -= 2 {
			if isPrime(m) {
				p.Moduli = append(p.Moduli, m)
			}
		}
		p.count()
		return p
	})
}

// isPrime reports whether an odd m ≥ 3 is prime. All of a pool's are tested in 0.5 ms, once a
// process; ProbablyPrime takes 25 ms.
func isPrime(m int) bool {
	for d := 3; d*d <= m; d += 2 {
		if m%d == 0 {
			return false
		}
	}
	return true
}

// count sets Bits.
func (p *BytePool) count() {
	p.Bits = make([]float64, len(p.Moduli)+1)
	for t, m := range p.Moduli {
		p.Bits[t+1] = p.Bits[t] + math.Log2(float64(m)) - 1e-12
	}
}

// Checked returns the pool without its largest modulus, a prime, and that, for the redundant
// modulus of products that are checked. It takes the products of a Karatsuba modulus.
func (p *BytePool) Checked() (rest *BytePool, redundant int) {
	rest = &BytePool{Moduli: slices.Concat(p.Moduli[:p.Plain], p.Moduli[p.Plain+1:]), Plain: p.Plain}
	rest.count()
	return rest, p.Moduli[p.Plain]
}

// KaratsubaProducts is the number of products of bytes that a Karatsuba modulus takes.
const KaratsubaProducts = 3

// Products returns the number of products of matrices of bytes for the first n moduli. It is also
// the index of the first plane of bytes of modulus n. A plain modulus has one plane, a Karatsuba
// modulus has three, for a0, a1 and a0 + a1.
func (p *BytePool) Products(n int) int { return n + 2*max(0, n-p.Plain) }
