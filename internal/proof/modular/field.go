package modular

import (
	"context"
	"math/big"
	"math/bits"
	"sync"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// Field is the field of integers modulo a prime p, 2^60 < p < 2^61. An element x is stored as x
// 2^64 mod p (Montgomery, Modular multiplication without trial division, 1985).
type Field struct {
	P, inverse uint64 // p inverse = -1 mod 2^64
	One, two64 uint64 // 2^64 and 2^128 mod p: 1 and 2^64 as elements
	// 2^i and 2^(64 (i - 32)): a power of two with a usual exponent takes one multiplication
	// instead of about 90.
	small, large [64]uint64
}

// New returns the field of integers modulo the prime p.
func New(p uint64) *Field {
	f := reduction(p)
	f.small[0], f.large[32] = f.One, f.One
	for i := 1; i < 64; i++ {
		f.small[i] = f.Add(f.small[i-1], f.small[i-1])
	}
	for i := 33; i < 64; i++ {
		f.large[i] = f.Mul(f.large[i-1], f.two64)
	}
	by := f.Invert(f.two64)
	for i := 31; i >= 0; i-- {
		f.large[i] = f.Mul(f.large[i+1], by)
	}
	return f
}

// Cube returns the ring of integers modulo the cube of a prime q, 2^60 < q³ < 2^61. Invert takes
// elements that q does not divide; Power2 is not supported.
func Cube(q uint64) *Field {
	return Ring(q * q * q)
}

// Ring returns the ring of integers modulo an odd m, 2^60 < m < 2^61. Invert takes elements that
// have no common factor with m; Power2 is not supported.
func Ring(m uint64) *Field { return reduction(m) }

// reduction returns a Field without powers of two, for an odd p.
func reduction(p uint64) *Field {
	f := &Field{P: p}
	inverse := p // correct to 3 bits
	for range 5 {
		inverse *= 2 - p*inverse
	}
	f.inverse = -inverse
	_, f.One = bits.Div64(1, 0, p)
	_, f.two64 = bits.Div64(f.One, 0, p)
	return f
}

// Primes returns a function that returns a new prime at each call, in descending order from 2^61.
func Primes() func() uint64 {
	at := -1
	return func() uint64 {
		at++
		return Prime(at)
	}
}

// primeList keeps the primes found so far: finding a prime takes longer than eliminating a small
// matrix modulo it.
type primeList struct {
	sync.Mutex
	list   []uint64
	next   uint64   // the largest number not yet tested
	fields []*Field // of the first primes
}

var primesFound = &primeList{next: 1<<61 - 1}

// Prime returns prime number i, from 0, in the order of Primes.
func Prime(i int) uint64 {
	primesFound.Lock()
	defer primesFound.Unlock()
	return primesFound.prime(i)
}

// Numbered returns the field of prime number i, from 0, in the order of Primes.
func Numbered(i int) *Field {
	l := primesFound
	l.Lock()
	defer l.Unlock()
	if i >= keptFields {
		return New(l.prime(i))
	}
	for len(l.fields) <= i {
		l.fields = append(l.fields, New(l.prime(len(l.fields))))
	}
	return l.fields[i]
}

// keptFields is the number of fields that are kept: small matrices take a few fields, and making
// one takes longer than eliminating a matrix of order 5.
const keptFields = 1024

// prime returns prime number i. The list is locked.
func (l *primeList) prime(i int) uint64 {
	for len(l.list) <= i {
		if isPrime(l.next) {
			l.list = append(l.list, l.next)
		}
		l.next -= 2
	}
	return l.list[i]
}

// isPrime reports whether an odd number p, 2^60 < p < 2^61, is a prime: the strong test to the
// first 12 primes as bases is exact below 3 10^23 (Sorenson and Webster, Strong pseudoprimes to
// twelve prime bases, 2017).
func isPrime(p uint64) bool {
	f := reduction(p)
	minus, s := p-f.One, bits.TrailingZeros64(p-1)
bases:
	for _, b := range [...]uint64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37} {
		if p%b == 0 {
			return false
		}
		x := f.pow(f.Element(b), (p-1)>>s)
		if x == f.One || x == minus {
			continue
		}
		for range s - 1 {
			if x = f.Mul(x, x); x == minus {
				continue bases
			}
		}
		return false
	}
	return true
}

// Element returns x as an element, for x < 2^64: the first word of x 2^128 mod p is below p.
func (f *Field) Element(x uint64) uint64 { return f.Mul(x, f.two64) }

// Value returns the integer in [0, p) that element x represents.
func (f *Field) Value(x uint64) uint64 { return f.reduce(0, x) }

// reduce returns (hi 2^64 + lo) / 2^64 mod p, for hi < p.
func (f *Field) reduce(hi, lo uint64) uint64 {
	h, _ := bits.Mul64(lo*f.inverse, f.P)
	if lo != 0 {
		h++
	}
	hi += h
	if hi >= f.P {
		hi -= f.P
	}
	return hi
}

// word returns x mod p.
func (f *Field) word(x uint64) uint64 {
	x -= x >> 61 * f.P // p is slightly less than 2^61
	for x >= f.P {
		x -= f.P
	}
	return x
}

// Sum returns (s2 2^128 + s1 2^64 + s0) / 2^64 mod p. For a sum of products of elements this is an
// element; for a sum of products of elements and integers it is an integer.
func (f *Field) Sum(s0, s1, s2 uint64) uint64 {
	z := f.Add(f.reduce(0, s0), f.word(s1))
	if s2 != 0 {
		z = f.Add(z, f.Mul(f.word(s2), f.two64))
	}
	return z
}

// Mul returns x y.
func (f *Field) Mul(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return f.reduce(hi, lo)
}

// Sub returns x - y.
func (f *Field) Sub(x, y uint64) uint64 {
	if x < y {
		x += f.P
	}
	return x - y
}

// Add returns x + y.
func (f *Field) Add(x, y uint64) uint64 {
	x += y
	if x >= f.P {
		x -= f.P
	}
	return x
}

func (f *Field) pow(x uint64, n uint64) uint64 {
	z := f.One
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			z = f.Mul(z, x)
		}
		x = f.Mul(x, x)
	}
	return z
}

// Invert returns 1/x for x != 0, by Euclid's algorithm.
func (f *Field) Invert(x uint64) uint64 {
	a, b := f.P, x
	u, v := int64(0), int64(1) // a = u x, b = v x modulo p
	for b > 1 {
		t := a / b
		a, b = b, a-t*b
		u, v = v, u-int64(t)*v
	}
	if v < 0 {
		v += int64(f.P)
	}
	return f.Mul(f.Mul(uint64(v), f.two64), f.two64)
}

// Power2 returns 2^e.
func (f *Field) Power2(e int64) uint64 {
	if -2048 <= e && e < 2048 {
		return f.Mul(f.small[e&63], f.large[e>>6+32])
	}
	e %= int64(f.P - 1)
	if e < 0 {
		e += int64(f.P - 1)
	}
	return f.pow(f.Element(2), uint64(e))
}

// Real returns a finite number modulo p. A negative power of two is a power of 1/2 modulo p.
func (f *Field) Real(r num.Real) uint64 {
	if r.Class == num.Zero {
		return 0
	}
	z := uint64(0)
	for i := len(r.Mag) - 1; i >= 0; i-- {
		z = f.Add(f.Mul(z, f.two64), f.Element(r.Mag[i]))
	}
	z = f.Mul(z, f.Power2(r.Exp))
	if r.Neg {
		z = f.Sub(0, z)
	}
	return z
}

// Shifts returns 2^(64 i + 128) mod p for i < n, by which FromWords multiplies.
func (f *Field) Shifts(n int) []uint64 {
	z := make([]uint64, n)
	for i := range z {
		if i == 0 {
			z[i] = f.two64
		} else {
			z[i] = f.Mul(z[i-1], f.two64)
		}
	}
	return z
}

// ValueShifts returns the shifts by which FromWords returns an integer modulo p, no element.
func (f *Field) ValueShifts(n int) []uint64 {
	z := make([]uint64, n)
	for i := range z {
		if i == 0 {
			z[i] = f.One
		} else {
			z[i] = f.Mul(z[i-1], f.two64)
		}
	}
	return z
}

// Residue returns x mod p.
func (f *Field) Residue(x uint64) uint64 { return f.word(x) }

// Power64 returns 2^(64 n).
func (f *Field) Power64(n int) uint64 {
	z := f.One
	for range n {
		z = f.Mul(z, f.two64)
	}
	return z
}

// FromWords returns the element Σ words_i 2^(64 i) for the shifts of at least as many words.
func (f *Field) FromWords(words, shifts []uint64) uint64 {
	var s0, s1, s2, c uint64
	for i, c64 := range shifts[:len(words)] {
		hi, lo := bits.Mul64(words[i], c64)
		s0, c = bits.Add64(s0, lo, 0)
		s1, c = bits.Add64(s1, hi, c)
		s2 += c
	}
	return f.Sum(s0, s1, s2)
}

// Integer returns an integer modulo p.
func (f *Field) Integer(x *big.Int) uint64 {
	r := new(big.Int).Mod(x, new(big.Int).SetUint64(f.P))
	return f.Element(r.Uint64())
}

// Rational returns a finite number modulo p.
func (f *Field) Rational(x *big.Float) uint64 {
	if x.Sign() == 0 {
		return 0
	}
	e := int64(x.MantExp(nil)) - int64(x.MinPrec())
	n, _ := new(big.Float).SetMantExp(x, int(-e)).Int(nil)
	return f.Mul(f.Integer(n), f.Power2(e))
}

// Matrix returns the entries of a modulo p, row by row.
func (f *Field) Matrix(ctx context.Context, threads int, a num.Mat) ([][]uint64, error) {
	rows := make([][]uint64, a.Rows)
	err := par.For(ctx, threads, a.Rows, func(_, i int) {
		rows[i] = make([]uint64, a.Cols)
		var buf [num.MaxValueWords]uint64
		for j := range rows[i] {
			rows[i][j] = f.Real(a.Arr.Value(a.At(i, j), buf[:]))
		}
	})
	return rows, err
}

// Words64 returns integers modulo p, row by row. Their magnitudes are below 2^63.
func (f *Field) Words64(ctx context.Context, threads int, a [][]int64) ([][]uint64, error) {
	rows := make([][]uint64, len(a))
	return rows, par.For(ctx, threads, len(a), func(_, i int) {
		rows[i] = make([]uint64, len(a[i]))
		for j, x := range a[i] {
			if x < 0 {
				rows[i][j] = f.Sub(0, f.Element(uint64(-x)))
			} else {
				rows[i][j] = f.Element(uint64(x))
			}
		}
	})
}

// Eliminate brings the first cols columns of rows into echelon form, or into reduced echelon form
// if reduced is set. It returns the columns of the pivots, row by row, and the product of the
// pivots with the sign of the row exchanges. The number of pivots is the rank of these columns
// modulo p.
//
// Without reduction it eliminates a panel of columns at a time, and then updates the columns behind
// the panel with all its pivots at once, by sums of products that are each reduced once.
func (f *Field) Eliminate(ctx context.Context, threads int, rows [][]uint64, cols int, reduced bool) (pivots []int, det uint64, err error) {
	det = f.One
	width := elimination
	if reduced {
		width = cols
	}
	for j0 := 0; j0 < cols && len(pivots) < len(rows); j0 += width {
		j1, first := min(cols, j0+width), len(pivots)
		p := panel{f: f, rows: rows, first: first, end: j1}
		if reduced {
			p.end = len(rows[0])
		} else {
			p.factors = make([][elimination]uint64, len(rows)-first)
		}
		for j := j0; j < j1 && len(pivots) < len(rows); j++ {
			pivot, err := p.eliminate(ctx, threads, j, len(pivots), reduced)
			if err != nil {
				return nil, 0, err
			}
			if pivot != 0 {
				pivots = append(pivots, j)
				det = f.Mul(det, pivot)
			}
		}
		if !reduced {
			if err := p.update(ctx, threads, len(pivots)-first); err != nil {
				return nil, 0, err
			}
		}
	}
	return pivots, det, nil
}

// elimination is the number of columns of a panel. A sum of so many products fits in 128 bits.
const elimination = 16

// panel is a panel of columns, before column end, that is eliminated by pivots in rows from first
// on.
type panel struct {
	f          *Field
	rows       [][]uint64
	first, end int
	// factors[i] are the multiples of the pivot rows that were added to row first + i; 1/pivot for
	// the pivot row itself
	factors [][elimination]uint64
}

// eliminate eliminates column j by a pivot that it moves to row k. It returns the pivot with the
// sign of the exchange, or 0 if the column has no pivot.
func (p *panel) eliminate(ctx context.Context, threads, j, k int, reduced bool) (result uint64, err error) {
	f, rows, at := p.f, p.rows, k-p.first
	i := k
	for i < len(rows) && rows[i][j] == 0 {
		i++
	}
	if i == len(rows) {
		return 0, nil
	}
	pivot := rows[i][j:p.end]
	result = pivot[0]
	if i != k {
		rows[k], rows[i] = rows[i], rows[k]
		if p.factors != nil {
			p.factors[at], p.factors[i-p.first] = p.factors[i-p.first], p.factors[at]
		}
		result = f.Sub(0, result)
	}
	scale := f.Invert(pivot[0])
	for c := range pivot {
		pivot[c] = f.Mul(pivot[c], scale)
	}
	if p.factors != nil {
		p.factors[at][at] = scale
	}
	first := k + 1
	if reduced {
		first = 0
	}
	some := max(16, 4096/len(pivot)) // rows per call
	return result, par.For(ctx, threads, (len(rows)-first+some-1)/some, func(_, part int) {
		for i := first + part*some; i < min(len(rows), first+(part+1)*some); i++ {
			row := rows[i][j:p.end]
			if i == k || row[0] == 0 {
				continue
			}
			factor := f.P - row[0] // not 0, below p
			if p.factors != nil {
				p.factors[i-p.first][at] = factor
			}
			for c, x := range pivot {
				hi, lo := bits.Mul64(factor, x)
				row[c] = f.Add(row[c], f.reduce(hi, lo))
			}
		}
	})
}

// update applies the elimination steps of the panel to the columns behind it.
func (p *panel) update(ctx context.Context, threads, pivots int) error {
	f, n := p.f, len(p.rows[0])
	if pivots == 0 || p.end == n {
		return nil
	}
	const tile = 64 // columns; their numbers in pivot rows stay in the cache
	return par.For(ctx, threads, (n-p.end+tile-1)/tile, func(_, part int) {
		j0 := p.end + part*tile
		j1 := min(n, j0+tile)
		var u [tile][elimination]uint64 // the numbers of the pivot rows, by columns
		for t, row := range p.rows[p.first : p.first+pivots] {
			factors := &p.factors[t]
			for j := j0; j < j1; j++ {
				column := &u[j-j0]
				hi, lo := uint64(0), uint64(0)
				for h := range t {
					x, y := bits.Mul64(factors[h], column[h])
					var carry uint64
					lo, carry = bits.Add64(lo, y, 0)
					hi += x + carry
				}
				column[t] = f.Mul(f.Add(row[j], f.Sum(lo, hi, 0)), factors[t])
				row[j] = column[t]
			}
		}
		for i, row := range p.rows[p.first+pivots:] {
			factors := &p.factors[pivots+i]
			for j := range u[:j1-j0] {
				column := &u[j]
				var hi, lo, carry uint64
				for h := 0; h < elimination; h += 4 {
					x0, y0 := bits.Mul64(factors[h], column[h])
					x1, y1 := bits.Mul64(factors[h+1], column[h+1])
					lo, carry = bits.Add64(lo, y0, 0)
					hi, _ = bits.Add64(hi, x0, carry)
					x2, y2 := bits.Mul64(factors[h+2], column[h+2])
					lo, carry = bits.Add64(lo, y1, 0)
					hi, _ = bits.Add64(hi, x1, carry)
					x3, y3 := bits.Mul64(factors[h+3], column[h+3])
					lo, carry = bits.Add64(lo, y2, 0)
					hi, _ = bits.Add64(hi, x2, carry)
					lo, carry = bits.Add64(lo, y3, 0)
					hi, _ = bits.Add64(hi, x3, carry)
				}
				row[j0+j] = f.Add(row[j0+j], f.Sum(lo, hi, 0))
			}
		}
	})
}

// Product returns the product of square matrices.
func (f *Field) Product(ctx context.Context, threads int, x, y [][]uint64) ([][]uint64, error) {
	z := make([][]uint64, len(x))
	err := par.For(ctx, threads, len(x), func(_, i int) {
		z[i] = make([]uint64, len(y))
		for k, v := range x[i] {
			if v == 0 {
				continue
			}
			for j, w := range y[k] {
				z[i][j] = f.Add(z[i][j], f.Mul(v, w))
			}
		}
	})
	return z, err
}
