package rational

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// floatInverse is the inverse of a square matrix modulo a prime q below cubeRoot, by columns.
type floatInverse struct {
	f floatField
	c []float64
}

// floatInverse returns an inverse of A modulo a prime, nil if A is singular modulo some primes, or
// too large.
func (s *run) floatInverse(w *words) (*floatInverse, error) {
	n := w.rows
	if n > mostFloats {
		return nil, nil
	}
	x := make([]uint64, len(w.negative))
	for i := range 4 {
		of, q := productOfThree(i)
		w.residues(of, x)
		z := residueFloats{f: floatField{float64(q[0]), 1 / float64(q[0])}}
		c := make([]float64, len(x))
		for i := range n {
			for j := range n {
				c[i+j*n] = z.f.value(x[i*n+j])
			}
		}
		if ok, err := s.invertFloats(z.f, n, c); ok || err != nil {
			return &floatInverse{z.f, c}, err
		}
	}
	return nil, nil
}

// floatLifting computes columns of the solution X of A X = B in the p-adic integers for a prime q
// of 21 bits, as modular.Lifting does, by sums of products of floats that are exact. The integers
// of A and the remainders r are Σ 2^(width k) a_k for matrices a_k, planes, of integers of at most
// 2^(width - 1) in magnitude; the last plane of a remainder has the rest.
type floatLifting struct {
	s       *run
	f       floatField
	n, ld   int
	width   int
	inverse []float64 // column j begins at j ld, with zeros behind its rows
	a       [][]float64
	count   int       // planes of remainders
	weights []float64 // 2^(width k) modulo q
	byQ     uint64    // 1/q modulo 2^64
	columns []*liftedColumn
}

// mostPlanes bounds the planes of A, and the memory for them: with more of them words are faster.
const mostPlanes = 50

// newFloatLifting returns the lifting for A with a known inverse and right-hand sides of at most
// top bits; nil if there are too many planes.
func (s *run) newFloatLifting(a *words, known *floatInverse, top int) *floatLifting {
	n := a.rows
	// Digits are below 2^19.4. With n 2^(width - 1) ≤ 2^33.5 sums of n products, a part of a
	// remainder and a carry are below 2^53, and so are sums of mostPlanes products for width ≤ 28.
	l := &floatLifting{s: s, f: known.f, n: n, ld: (n + 7) &^ 7, width: 28}
	for float64(n)*math.Exp2(float64(l.width-1)) > 0x1.6ap33 {
		l.width--
	}
	planes := a.bits/l.width + 1
	if l.count = max(a.bits, top)/l.width + 1; l.count > mostPlanes || planes*n*n > 1<<23 {
		return nil
	}
	l.inverse = make([]float64, n*l.ld)
	for j := range n {
		copy(l.inverse[j*l.ld:], known.c[j*n:(j+1)*n])
	}
	l.a = make([][]float64, planes)
	for k := range l.a {
		l.a[k] = make([]float64, n*l.ld)
	}
	for i := range n {
		for j := range n {
			at := i*n + j
			negative := a.negative[at]
			if planes == 1 {
				l.a[0][i+j*l.ld] = float64(int64(a.magnitudes[at] ^ negative - negative))
			} else {
				l.split(a.of(at), negative != 0, func(k int, v float64) { l.a[k][i+j*l.ld] = v })
			}
		}
	}
	weight := 1.0
	for range l.count {
		l.weights = append(l.weights, weight)
		weight = l.f.reduced(weight * l.f.reduced(float64(int64(1)<<l.width)))
	}
	q := uint64(l.f.q)
	l.byQ = q // correct to 3 bits
	for range 5 {
		l.byQ *= 2 - q*l.byQ
	}
	return l
}

// split calls set for the part of each plane of an integer.
func (l *floatLifting) split(words []uint64, negative bool, set func(k int, v float64)) {
	half, carry := int64(1)<<(l.width-1), int64(0)
	for k, at := 0, 0; at < 64*len(words) || carry != 0; k, at = k+1, at+l.width {
		var w uint64
		if at/64 < len(words) {
			w = words[at/64] >> (at % 64)
			if at%64+l.width > 64 && at/64+1 < len(words) {
				w |= words[at/64+1] << (64 - at%64)
			}
		}
		v := int64(w&(1<<l.width-1)) + carry
		if carry = 0; v > half {
			v, carry = v-2*half, 1
		}
		if v == 0 {
			continue
		}
		if negative {
			v = -v
		}
		set(k, float64(v))
	}
}

// liftedColumn is a column of B that is lifted.
type liftedColumn struct {
	r       []float64 // the remainder, plane by plane
	x, d    []float64
	carries []int64
}

func (l *floatLifting) add(b []*big.Int) {
	c := &liftedColumn{r: make([]float64, l.count*l.ld), x: make([]float64, l.ld), d: make([]float64, l.ld), carries: make([]int64, l.n)}
	for i, x := range b {
		l.split(num.FromInt(nil, x), x.Sign() < 0, func(k int, v float64) { c.r[k*l.ld+i] = v })
	}
	l.columns = append(l.columns, c)
}

func (l *floatLifting) next() ([][]int64, error) {
	z := make([][]int64, len(l.columns))
	for k, c := range l.columns {
		var err error
		if z[k], err = l.digits(c); err != nil {
			return nil, err
		}
	}
	return z, l.s.Ctx.Err()
}

func (l *floatLifting) keep(columns []int) {
	for k, i := range columns {
		l.columns[k] = l.columns[i]
	}
	l.columns = l.columns[:len(columns)]
}

func (l *floatLifting) p() uint64 {
	q := uint64(l.f.q)
	return q * q * q
}

func (l *floatLifting) prime() *big.Int { return big.NewInt(int64(l.f.q)) }

// digits returns the next digit modulo q³ of each component, at most 0.52 q³ in magnitude.
func (l *floatLifting) digits(c *liftedColumn) ([]int64, error) {
	z := make([]int64, l.n)
	by := int64(1)
	for range 3 {
		if err := l.step(c); err != nil {
			return nil, err
		}
		for i, d := range c.d[:l.n] { // -d is the digit
			z[i] -= by * int64(d)
		}
		by *= int64(l.f.q)
	}
	return z, nil
}

// step sets d to minus the next digit, C r modulo q, and r to (r - A times the digit) / q.
func (l *floatLifting) step(c *liftedColumn) error {
	f, n := l.f, l.n
	top := c.r[(l.count-1)*l.ld:][:n]
	for i, x := range top { // the rest may be longer
		c.x[i] = float64(f.reduced(x) * l.weights[l.count-1])
	}
	for k, w := range l.weights[:l.count-1] {
		for i, x := range c.r[k*l.ld:][:n] {
			c.x[i] += float64(x * w) // in all below 2^52
		}
	}
	for i, x := range c.x[:n] {
		c.x[i] = f.reduced(x)
	}
	clear(c.d)
	if err := l.combine(l.inverse, c.x[:n], c.d); err != nil {
		return err
	}
	for i, x := range c.d[:n] {
		c.d[i] = -f.reduced(x)
	}
	for k, a := range l.a {
		if err := l.combine(a, c.d[:n], c.r[k*l.ld:(k+1)*l.ld]); err != nil {
			return err
		}
	}
	clear(c.carries)
	q, shift := int64(f.q), 64-l.width
	for k := range l.count - 1 {
		r := c.r[k*l.ld:][:n]
		for i, x := range r {
			v := int64(x) + c.carries[i]
			u := int64(uint64(v)*l.byQ<<shift) >> shift // v / q modulo 2^width
			c.carries[i] = (v - u*q) >> l.width
			r[i] = float64(u)
		}
	}
	for i, x := range top {
		v := int64(x) + c.carries[i]
		u := v / q
		if u*q != v {
			panic("rational: lifting is not exact")
		}
		top[i] = float64(u)
	}
	return nil
}

// combine adds A x to y, on several threads for large matrices.
func (l *floatLifting) combine(a, x, y []float64) error {
	const some = 64 // rows
	if l.s.Threads <= 1 || l.n < 256 {
		dgemm.Combine(a, l.ld, x, y)
		return nil
	}
	return par.For(l.s.Ctx, l.s.Threads, (l.ld+some-1)/some, func(_, part int) {
		i0, i1 := part*some, min(l.ld, (part+1)*some)
		dgemm.Combine(a[i0:], l.ld, x, y[i0:i1])
	})
}
