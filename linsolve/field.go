package linsolve

import (
	"context"
	"math/big"
	"math/bits"
	"sync"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// field is the integers modulo a prime p, 2^60 < p < 2^61. Its elements are kept as x 2^64 mod p
// (Montgomery, Modular multiplication without trial division, 1985).
type field struct {
	p, inverse uint64 // p inverse = -1 mod 2^64
	one, two64 uint64 // 2^64 and 2^128 mod p: 1 and 2^64 as elements
	// 2^i and 2^(64 (i - 32)): those of usual exponents take one multiplication, and not some 90.
	small, large [64]uint64
}

// newField returns the integers modulo the prime p.
func newField(p uint64) *field {
	f := &field{p: p}
	inverse := p // to 3 bits
	for range 5 {
		inverse *= 2 - p*inverse
	}
	f.inverse = -inverse
	_, f.one = bits.Div64(1, 0, p)
	_, f.two64 = bits.Div64(f.one, 0, p)
	f.small[0], f.large[32] = f.one, f.one
	for i := 1; i < 64; i++ {
		f.small[i] = f.add(f.small[i-1], f.small[i-1])
	}
	for i := 33; i < 64; i++ {
		f.large[i] = f.mul(f.large[i-1], f.two64)
	}
	by := f.invert(f.two64)
	for i := 31; i >= 0; i-- {
		f.large[i] = f.mul(f.large[i+1], by)
	}
	return f
}

// primes returns a function that returns one prime after the other, downwards from 2^61.
func primes() func() uint64 {
	at := -1
	return func() uint64 {
		at++
		return prime(at)
	}
}

// primeList are the primes that were found: small matrices are eliminated modulo one in less time
// than it takes to find it.
type primeList struct {
	sync.Mutex
	list []uint64
	next uint64 // the first number that was not looked at
}

var primesFound = &primeList{next: 1<<61 - 1}

// prime returns prime number i of primes.
func prime(i int) uint64 { return primesFound.prime(i) }

func (l *primeList) prime(i int) uint64 {
	l.Lock()
	defer l.Unlock()
	for len(l.list) <= i {
		if p := new(big.Int).SetUint64(l.next); p.ProbablyPrime(0) { // exact below 2^64
			l.list = append(l.list, l.next)
		}
		l.next -= 2
	}
	return l.list[i]
}

// element returns x as an element, for x < 2^64: the first word of x 2^128 mod p is below p.
func (f *field) element(x uint64) uint64 { return f.mul(x, f.two64) }

// value returns the integer in [0, p) that element x is.
func (f *field) value(x uint64) uint64 { return f.reduce(0, x) }

// reduce returns (hi 2^64 + lo) / 2^64 mod p, for hi < p.
func (f *field) reduce(hi, lo uint64) uint64 {
	h, _ := bits.Mul64(lo*f.inverse, f.p)
	if lo != 0 {
		h++
	}
	hi += h
	if hi >= f.p {
		hi -= f.p
	}
	return hi
}

// word returns x mod p.
func (f *field) word(x uint64) uint64 {
	x -= x >> 61 * f.p // p is less than 2^61, and not by much
	for x >= f.p {
		x -= f.p
	}
	return x
}

// sum returns (s2 2^128 + s1 2^64 + s0) / 2^64 mod p: an element for a sum of products of elements,
// an integer for one of products of elements with integers.
func (f *field) sum(s0, s1, s2 uint64) uint64 {
	z := f.add(f.reduce(0, s0), f.word(s1))
	if s2 != 0 {
		z = f.add(z, f.mul(f.word(s2), f.two64))
	}
	return z
}

func (f *field) mul(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return f.reduce(hi, lo)
}

func (f *field) sub(x, y uint64) uint64 {
	if x < y {
		x += f.p
	}
	return x - y
}

func (f *field) add(x, y uint64) uint64 {
	x += y
	if x >= f.p {
		x -= f.p
	}
	return x
}

func (f *field) pow(x uint64, n uint64) uint64 {
	z := f.one
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			z = f.mul(z, x)
		}
		x = f.mul(x, x)
	}
	return z
}

// invert returns 1/x for x != 0.
func (f *field) invert(x uint64) uint64 { return f.pow(x, f.p-2) }

// power2 returns 2^e.
func (f *field) power2(e int64) uint64 {
	if -2048 <= e && e < 2048 {
		return f.mul(f.small[e&63], f.large[e>>6+32])
	}
	e %= int64(f.p - 1)
	if e < 0 {
		e += int64(f.p - 1)
	}
	return f.pow(f.element(2), uint64(e))
}

// real returns a finite number modulo p; a negative power of two is one of 1/2.
func (f *field) real(r num.Real) uint64 {
	if r.Class == num.Zero {
		return 0
	}
	z := uint64(0)
	for i := len(r.Mag) - 1; i >= 0; i-- {
		z = f.add(f.mul(z, f.two64), f.element(r.Mag[i]))
	}
	z = f.mul(z, f.power2(r.Exp))
	if r.Neg {
		z = f.sub(0, z)
	}
	return z
}

// integer returns an integer modulo p.
func (f *field) integer(x *big.Int) uint64 {
	r := new(big.Int).Mod(x, new(big.Int).SetUint64(f.p))
	return f.element(r.Uint64())
}

// rational returns a finite number modulo p.
func (f *field) rational(x *big.Float) uint64 {
	if x.Sign() == 0 {
		return 0
	}
	e := int64(x.MantExp(nil)) - int64(x.MinPrec())
	n, _ := new(big.Float).SetMantExp(x, int(-e)).Int(nil)
	return f.mul(f.integer(n), f.power2(e))
}

// matrix returns a modulo p, row by row.
func (f *field) matrix(ctx context.Context, threads int, a num.Mat) ([][]uint64, error) {
	rows := make([][]uint64, a.Rows)
	err := par.For(ctx, threads, a.Rows, func(_, i int) {
		rows[i] = make([]uint64, a.Cols)
		var buf [num.MaxValueWords]uint64
		for j := range rows[i] {
			rows[i][j] = f.real(a.Arr.Value(a.At(i, j), buf[:]))
		}
	})
	return rows, err
}

// eliminate brings the first cols columns of rows into echelon form, reduced if that is asked for,
// and returns the columns of the pivots, row by row, and the pivots' product with the sign of the
// exchanges. The number of pivots is the rank of those columns modulo p.
func (f *field) eliminate(ctx context.Context, threads int, rows [][]uint64, cols int, reduced bool) (pivots []int, det uint64, err error) {
	det = f.one
	for j := 0; j < cols && len(pivots) < len(rows); j++ {
		k := len(pivots)
		i := k
		for i < len(rows) && rows[i][j] == 0 {
			i++
		}
		if i == len(rows) {
			continue
		}
		if i != k {
			rows[k], rows[i] = rows[i], rows[k]
			det = f.sub(0, det)
		}
		pivots = append(pivots, j)
		pivot := rows[k][j:]
		det = f.mul(det, pivot[0])
		scale := f.invert(pivot[0])
		for c := range pivot {
			pivot[c] = f.mul(pivot[c], scale)
		}
		first := k + 1
		if reduced {
			first = 0
		}
		const some = 16 // rows a call
		err := par.For(ctx, threads, (len(rows)-first+some-1)/some, func(_, part int) {
			for i := first + part*some; i < min(len(rows), first+(part+1)*some); i++ {
				row := rows[i][j:]
				if i == k || row[0] == 0 {
					continue
				}
				factor := f.p - row[0] // not 0, below p
				for c, x := range pivot {
					hi, lo := bits.Mul64(factor, x)
					row[c] = f.add(row[c], f.reduce(hi, lo))
				}
			}
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return pivots, det, nil
}

// product returns the product of square matrices.
func (f *field) product(ctx context.Context, threads int, x, y [][]uint64) ([][]uint64, error) {
	z := make([][]uint64, len(x))
	err := par.For(ctx, threads, len(x), func(_, i int) {
		z[i] = make([]uint64, len(y))
		for k, v := range x[i] {
			if v == 0 {
				continue
			}
			for j, w := range y[k] {
				z[i][j] = f.add(z[i][j], f.mul(v, w))
			}
		}
	})
	return z, err
}
