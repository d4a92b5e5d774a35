package direct

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Plane and modified Givens rotations. Every number is a root or a quotient of sums and products of
// the inputs, computed exactly and rounded once.

// A dyadic is the number n 2^e.
type dyadic struct {
	n *big.Int
	e int64
}

// newDyadic returns a zero or finite number.
func newDyadic(r num.Real) dyadic {
	if r.Class == num.Zero {
		return dyadic{new(big.Int), 0}
	}
	tz := num.TrailingZeros(r.Mag)
	d := dyadic{num.ToInt(r.Mag), r.Exp + int64(tz)}
	d.n.Rsh(d.n, uint(tz))
	if r.Neg {
		d.n.Neg(d.n)
	}
	return d
}

var dyadicOne = dyadic{big.NewInt(1), 0}

func (x dyadic) real() num.Real {
	if x.n.Sign() == 0 {
		return num.Real{}
	}
	return num.Real{Class: num.Finite, Neg: x.n.Sign() < 0, Exp: x.e, Mag: num.FromInt(nil, x.n)}
}

func (x dyadic) top() int64 { return x.e + int64(x.n.BitLen()) }

func (x dyadic) times(y dyadic) dyadic { return dyadic{new(big.Int).Mul(x.n, y.n), x.e + y.e} }

func (x dyadic) negated() dyadic { return dyadic{new(big.Int).Neg(x.n), x.e} }

// compareMagnitude compares |x| and |y|.
func (x dyadic) compareMagnitude(y dyadic) int {
	if x.n.Sign() == 0 || y.n.Sign() == 0 {
		return x.n.CmpAbs(y.n)
	}
	return compareMagnitude(x.real(), y.real())
}

// plus returns x + y. If the smaller number lies more than far bits below the larger, it may be
// replaced by a number of the same sign that also lies that far below.
func (x dyadic) plus(y dyadic, far int64) dyadic {
	switch {
	case x.n.Sign() == 0:
		return y
	case y.n.Sign() == 0:
		return x
	case x.top() < y.top():
		x, y = y, x
	}
	if limit := x.top() - far; y.top() < limit {
		y = dyadic{big.NewInt(int64(y.n.Sign())), limit - 1}
	}
	low := min(x.e, y.e)
	s := new(big.Int).Lsh(x.n, uint(x.e-low))
	return dyadic{s.Add(s, new(big.Int).Lsh(y.n, uint(y.e-low))), low}
}

// precision returns the largest number of significant bits of a number of format f or of a midpoint
// of two such numbers.
func precision(f num.Format) int64 {
	if f.Kind == num.MP {
		return int64(f.Prec) + 1
	}
	return 2200 // from 2^1024 down to 2^-1076
}

// farBelow returns a distance in bits. Suppose a number that lies that far below 1 is added to 1 in
// a quotient of products of the given numbers, or in the square of their root. Then only its sign
// can affect the rounding to f.
//
// Let q be the quotient N/D of integers of n and d bits, or its root. A number of format f or a
// midpoint, of p bits, equals q or differs from it by 2^-(n+d+p) of q or more, in squares by
// 2^-(n+d+2p).
func farBelow(f num.Format, numbers ...dyadic) int64 {
	bits := 2*precision(f) + 64
	for _, x := range numbers {
		bits += 4 * int64(x.n.BitLen())
	}
	return bits
}

// quotient returns x / y 2^shift for rounding to f, y not 0.
func quotient(f num.Format, x, y dyadic, shift int64) num.Real {
	if x.n.Sign() == 0 {
		return num.Real{}
	}
	r := x.real()
	r.Exp += shift - y.e
	r.Neg = r.Neg != (y.n.Sign() < 0)
	return superacc.Quotient(f, r, new(big.Int).Abs(y.n))
}

// rootOf returns sqrt(x / y) for rounding to f, with the given sign. x and y are positive.
func rootOf(f num.Format, x, y dyadic, neg bool) num.Real {
	r := x.real()
	r.Exp -= y.e
	r = superacc.Root(f, r, y.n)
	r.Neg = neg
	return r
}

// Givens returns the numbers of the rotation that takes (a, b) to (r, 0), for rounding to f: r =
// sigma sqrt(a² + b²), c = a/r, s = b/r. Here sigma is the sign of a if |a| > |b|, else the sign of
// b. The number z is s if |a| > |b|, else 1/c. If b = 0, c, s, r and z are 1, 0, a and 0.
// Otherwise, if a = 0, they are 0, 1, b and 1.
func Givens(f num.Format, a, b num.Real) (c, s, r, z num.Real) {
	unity := dyadicOne.real()
	switch {
	case a.Class == num.NaN || b.Class == num.NaN:
		nan := num.Real{Class: num.NaN}
		return nan, nan, nan, nan
	case b.Class == num.Zero:
		return unity, num.Real{}, a, num.Real{}
	case a.Class == num.Zero:
		return num.Real{}, unity, b, unity
	case a.Class == num.Inf || b.Class == num.Inf:
		return infiniteGivens(a, b)
	}
	x, y := newDyadic(a), newDyadic(b)
	larger := x.compareMagnitude(y) > 0
	neg := b.Neg
	if larger {
		neg = a.Neg
	}
	xx, yy := x.times(x), y.times(y)
	sum := xx.plus(yy, farBelow(f, x, y))
	c = rootOf(f, xx, sum, a.Neg != neg)
	s = rootOf(f, yy, sum, b.Neg != neg)
	r = rootOf(f, sum, dyadicOne, neg)
	if z = s; !larger {
		z = rootOf(f, sum, xx, a.Neg != neg)
	}
	return c, s, r, z
}

// infiniteGivens returns the limits for one infinite number. The other number counts as 0.
func infiniteGivens(a, b num.Real) (c, s, r, z num.Real) {
	unity := dyadicOne.real()
	switch {
	case a.Class == b.Class:
		nan := num.Real{Class: num.NaN}
		return nan, nan, b, nan
	case a.Class == num.Inf:
		s = num.Real{Neg: a.Neg != b.Neg}
		return unity, s, a, s
	}
	return num.Real{Neg: a.Neg != b.Neg}, unity, b, num.Real{Class: num.Inf, Neg: a.Neg != b.Neg}
}

// Modified is the result of ModifiedGivens: a flag -2, -1, 0 or 1, the matrix H, and the new scale
// factors and first component.
type Modified struct {
	Flag               int
	H11, H21, H12, H22 num.Real
	D1, D2, X1         num.Real
}

// The scaling of modified Givens rotations. Powers of gamma² = 2^24 keep scale factors above 2^-24
// and below 2^24.
const gammaBits = 12

// ModifiedGivens returns the modified Givens rotation H of the vector (sqrt(d1) x1, sqrt(d2) y1),
// for rounding to f. It follows the rules of the BLAS (Lawson, Hanson, Kincaid and Krogh 1979). If
// a number is infinite or NaN, the flag is -1 and all other results are NaN.
func ModifiedGivens(f num.Format, d1, d2, x1, y1 num.Real) Modified {
	for _, t := range []num.Real{d1, d2, x1, y1} {
		if t.Class > num.Finite {
			nan := num.Real{Class: num.NaN}
			return Modified{-1, nan, nan, nan, nan, nan, nan, nan}
		}
	}
	a, b, x, y := newDyadic(d1), newDyadic(d2), newDyadic(x1), newDyadic(y1)
	p1, p2 := a.times(x), b.times(y)
	q1, q2 := p1.times(x), p2.times(y)
	switch {
	case a.n.Sign() < 0:
		return Modified{Flag: -1}
	case p2.n.Sign() == 0:
		return Modified{Flag: -2, D1: d1, D2: d2, X1: x1}
	}
	first := q1.compareMagnitude(q2) > 0
	if !first && q2.n.Sign() < 0 {
		return Modified{Flag: -1}
	}
	sum := q1.plus(q2, farBelow(f, a, b, x, y))
	m := modified{f: f}
	if first {
		m.flag = 0
		m.h[1] = fraction{y.negated(), x, 0} // h21
		m.h[2] = fraction{p2, p1, 0}         // h12
		m.d[0] = fraction{a.times(q1), sum, 0}
		m.d[1] = fraction{b.times(q1), sum, 0}
		m.x = fraction{sum, p1, 0}
	} else {
		m.flag = 1
		m.h[0] = fraction{p1, p2, 0} // h11
		m.h[3] = fraction{x, y, 0}   // h22
		m.d[0] = fraction{b.times(q2), sum, 0}
		m.d[1] = fraction{a.times(q2), sum, 0}
		m.x = fraction{sum, p2, 0}
	}
	m.rescale()
	return Modified{m.flag, m.h[0].real(f), m.h[1].real(f), m.h[2].real(f), m.h[3].real(f),
		m.d[0].real(f), m.d[1].real(f), m.x.real(f)}
}

// fraction is x / y 2^shift; the zero fraction is 0.
type fraction struct {
	x, y  dyadic
	shift int64
}

func (q fraction) isZero() bool { return q.x.n == nil || q.x.n.Sign() == 0 }

func (q fraction) real(f num.Format) num.Real {
	if q.isZero() {
		return num.Real{}
	}
	return quotient(f, q.x, q.y, q.shift)
}

// log2 returns floor(log2 |q|) and whether |q| is a power of two.
func (q fraction) log2() (e int64, exact bool) {
	m, n := new(big.Int).Abs(q.x.n), new(big.Int).Abs(q.y.n)
	d := m.BitLen() - n.BitLen()
	if d >= 0 {
		n.Lsh(n, uint(d))
	} else {
		m.Lsh(m, uint(-d))
	}
	e = q.x.e - q.y.e + q.shift + int64(d)
	c := m.Cmp(n)
	if c < 0 {
		e--
	}
	return e, c == 0
}

// modified is a modified rotation before its numbers are rounded. h holds H column by column.
type modified struct {
	f    num.Format
	flag int
	h    [4]fraction
	d    [2]fraction
	x    fraction
}

// rescale multiplies the scale factors by even powers of gamma. It divides the rows of H and the
// first component accordingly.
func (m *modified) rescale() {
	for i := range m.d {
		k := steps(m.d[i])
		if k == 0 {
			continue
		}
		one := fraction{x: dyadicOne, y: dyadicOne}
		switch m.flag {
		case 0:
			m.h[0], m.h[3] = one, one
		case 1:
			m.h[1], m.h[2] = fraction{x: dyadicOne.negated(), y: dyadicOne}, one
		}
		m.flag = -1
		m.d[i].shift += 2 * gammaBits * k
		m.h[i].shift -= gammaBits * k
		m.h[2+i].shift -= gammaBits * k
		if i == 0 {
			m.x.shift -= gammaBits * k
		}
	}
}

// steps returns the k nearest to 0 such that |d| gamma^(2k) lies above 2^-24 and below 2^24. For d
// = 0 it returns 0.
func steps(d fraction) int64 {
	if d.isZero() {
		return 0
	}
	e, exact := d.log2()
	const width = 2 * gammaBits
	if e >= width {
		return -(e / width)
	}
	if exact {
		e--
	}
	if e >= -width {
		return 0
	}
	return (-width - e + width - 1) / width
}
