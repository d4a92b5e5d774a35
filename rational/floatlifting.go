package rational

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// floatInverse is the inverse of a square matrix modulo a prime q below cubeRoot, by columns.
type floatInverse struct {
	f   floatField
	c   []float64
	det float64 // of the matrix
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
		f := floatField{float64(q[0]), 1 / float64(q[0])}
		c := make([]float64, n*n)
		if w.bits <= 52 { // then multiples of q near the integers are below 2^53
			for i, x := range w.magnitudes {
				v := f.reduced(float64(x))
				if w.negative[i] != 0 {
					v = -v
				}
				c[i/n+i%n*n] = v
			}
		} else {
			w.residues(of, x)
			for i, x := range x {
				c[i/n+i%n*n] = f.value(x)
			}
		}
		if det, err := s.invertFloats(f, n, c); det != 0 || err != nil {
			return &floatInverse{f, c, det}, err
		}
	}
	return nil, nil
}

// floatLifting computes columns of the solution X of A X = B in the p-adic integers for a prime q
// of 21 bits by sums of products of floats that are exact. modular.Lifting does so in words, also
// for more rows than columns, integers of any length and rows of different exponents, as linsolve
// needs. A step lifts a group of k digits: with the inverse C of A modulo q^k, and remainders R,
//
//	D = C R mod q^k,  R <- (R - A D) / q^k.
//
// Long groups read the planes of A less often, and take k² products for C. The integers of A and
// the remainders are Σ 2^(width h) a_h for matrices a_h, planes, of integers of at most 2^(width -
// 1) in magnitude; C and D are Σ q^j c_j for integers |c_j| ≤ 0.51 q.
type floatLifting struct {
	s       *run
	f       floatField
	n, ld   int
	width   int
	group   int
	inverse factor      // c_0 to c_(group - 1)
	a       factor      // planes
	planes  int         // of A
	count   int         // planes of remainders
	weights [][]float64 // weights[j][h] is digit j of 2^(width h) modulo q^group
	byQ     uint64      // 1/q modulo 2^64
	columns []*liftedColumn
	x       []float64 // ld x (group columns): remainders modulo q^group, and minus the digits
	carry   []float64
	carries []int64
}

// factor is n x n matrices of integers up to 2^24 in magnitude, column j at j ld with zeros behind
// its rows, for products with some columns.
type factor struct {
	plain    [][]float32  // for up to plainColumns columns
	packed   *dgemm.Stack // for more
	n, ld    int
	columns  int       // of the last product
	products []float64 // by plain
	x        []float64 // minus the columns
}

// plainColumns is the number of columns up to which products of a matrix and a vector are faster
// than products of packed matrices.
const plainColumns = 2

// set stores matrices for products with a group of numbers of some columns, or of fewer.
func (z *factor) set(n, ld, group, columns int, a [][]float64) {
	z.n, z.ld = n, ld
	if group*columns > plainColumns {
		z.packed = dgemm.NewStack(n, n, a, ld, group*columns)
	}
	if group <= plainColumns {
		for _, a := range a {
			x := make([]float32, len(a))
			for i, v := range a {
				x[i] = float32(v)
			}
			z.plain = append(z.plain, x)
		}
	}
}

// column returns column j of the last product of matrix number k.
func (z *factor) column(k, j int) []float64 {
	if z.columns > plainColumns {
		return z.packed.Column(k, j)
	}
	return z.products[(k*z.columns+j)*z.ld:][:z.n]
}

// negate multiplies by minus some columns.
func (z *factor) negate(s *run, columns int, x []float64) error {
	if z.columns = columns; columns > plainColumns {
		return z.packed.Negate(s.Ctx, s.Threads, columns, x, z.ld)
	}
	z.x = z.x[:0]
	for _, x := range x[:columns*z.ld] {
		z.x = append(z.x, -x)
	}
	if most := len(z.plain) * columns * z.ld; len(z.products) < most {
		z.products = make([]float64, most)
	}
	clear(z.products)
	some, threads := 128, s.Threads // rows a call
	if z.n < 400 || threads <= 1 {
		some, threads = z.ld, 1
	}
	parts := (z.ld + some - 1) / some
	return par.For(s.Ctx, threads, parts*len(z.plain), func(_, part int) {
		k, i0 := part/parts, part%parts*some
		for j := range columns {
			y := z.products[(k*columns+j)*z.ld:][:z.ld]
			dgemm.CombineSingle(z.plain[k][i0:], z.ld, z.x[j*z.ld:][:z.n], y[i0:min(z.ld, i0+some)])
		}
	})
}

// mostPlanes bounds the planes of remainders, and mostEntries the numbers in the planes of A: with
// more of them words are faster.
const (
	mostPlanes  = 50
	mostEntries = 1 << 24
)

// groupOf returns the number of digits of a group for a number of planes of order n. The inverse
// modulo q^k takes about k² products of matrices. Planes that the caches nearest to the processor
// hold need no groups.
var groupOf = func(n, planes int) int {
	switch entries := planes * n * n; {
	case planes == 1 || entries <= 1<<16:
		return 1
	case entries <= 1<<19:
		return 3
	case planes <= 10:
		return 6
	}
	return 12
}

// newFloatLifting returns the lifting for A with a known inverse and some right-hand sides of at
// most top bits; nil if there are too many planes.
func (s *run) newFloatLifting(a *words, known *floatInverse, top, columns int) (*floatLifting, error) {
	n := a.rows
	// Digits are below 2^19.4. With n 2^(width - 1) ≤ 2^33.5 sums of n products and a part of a
	// remainder are below 2^53, and so are sums of mostPlanes + 1 products for width ≤ 25. Single
	// precision holds integers up to 2^24 in magnitude.
	l := &floatLifting{s: s, f: known.f, n: n, ld: (n + 7) &^ 7, width: 25}
	for float64(n)*math.Exp2(float64(l.width-1)) > 0x1.6ap33 {
		l.width--
	}
	planes := a.bits/l.width + 1
	// Remainders are at most 2^top or n 2^bits in magnitude: |D| ≤ 0.52 q^k.
	l.count = (max(a.bits+bits.Len(uint(n)), top)+1)/l.width + 1
	if l.count > mostPlanes || planes*n*n > mostEntries {
		return nil, nil
	}
	l.planes = planes
	all, parts := make([]float64, planes*n*l.ld), make([][]float64, planes)
	for k := range parts {
		parts[k] = all[k*n*l.ld : (k+1)*n*l.ld]
	}
	for i := range n {
		for j := range n {
			at := i*n + j
			negative := a.negative[at]
			if planes == 1 {
				all[i+j*l.ld] = float64(int64(a.magnitudes[at] ^ negative - negative))
			} else {
				l.split(a.of(at), negative != 0, func(k int, v float64) { parts[k][i+j*l.ld] = v })
			}
		}
	}
	// Sums of group n products of elements are below 2^53 for group n ≤ 2^14.
	l.group = max(1, min(groupOf(n, planes), 1<<14/n))
	l.weigh()
	l.carry, l.carries = make([]float64, l.ld), make([]int64, n)
	c, err := l.invert(known, all, a.bits)
	if err != nil {
		return nil, err
	}
	l.inverse.set(n, l.ld, l.group, columns, c)
	l.a.set(n, l.ld, l.group, columns, parts)
	l.byQ = uint64(l.f.q) // correct to 3 bits
	for range 5 {
		l.byQ *= 2 - uint64(l.f.q)*l.byQ
	}
	return l, nil
}

// weigh sets the weights.
func (l *floatLifting) weigh() {
	l.weights = make([][]float64, l.group)
	digits := make([]float64, l.group)
	digits[0] = 1
	for range l.count {
		for j, d := range digits {
			l.weights[j] = append(l.weights[j], d)
		}
		carry := 0.0
		for j, d := range digits { // below 2^48
			d = float64(d*float64(int64(1)<<l.width)) + carry
			digits[j] = l.f.reduced(d)
			carry = l.f.quotient(d - digits[j])
		}
	}
}

// quotient returns x / q for a multiple x of q, |x| < 2^53.
func (f floatField) quotient(x float64) float64 {
	const round = 3 << 51
	return x*f.inverse + round - round // may fuse: the integer nearest to x / q
}

// digits sets y[j] to digit j modulo q^group of integers with the given planes, one every ld
// numbers. carry is room.
func (l *floatLifting) digits(planes []float64, ld int, y [][]float64, carry []float64) {
	clear(carry)
	for j, y := range y {
		copy(y, carry)
		dgemm.Combine(planes, ld, l.weights[j][:(len(planes)+ld-1)/ld], y)
		l.carried(y, carry, j == len(l.weights)-1)
	}
}

// carried reduces y and sets carry to the quotients, unless no digit follows.
func (l *floatLifting) carried(y, carry []float64, last bool) {
	if last {
		l.f.reduce(y)
		return
	}
	carry = carry[:len(y)]
	for i, v := range y {
		y[i] = l.f.reduced(v)
		carry[i] = l.f.quotient(v - y[i])
	}
}

// invert returns the digits of the inverse modulo q^group.
func (l *floatLifting) invert(known *floatInverse, planes []float64, most int) ([][]float64, error) {
	n, ld := l.n, l.ld
	c := make([]float64, n*ld)
	for j := range n {
		copy(c[j*ld:], known.c[j*n:(j+1)*n])
	}
	if l.group == 1 {
		return [][]float64{c}, nil
	}
	var a [][]float64
	for range min(l.group, most/20+2) { // all digits of integers of so many bits, and a 0
		a = append(a, make([]float64, n*ld))
	}
	l.digits(planes, n*ld, a, make([]float64, n*ld))
	return l.s.inverseDigits(l.f, n, ld, a, c, l.group)
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
	r      []float64   // the remainder, plane by plane
	digits [][]float64 // minus the next ones, modulo q
	used   [][]float64 // memory for digits
}

// free returns memory for a digit.
func (c *liftedColumn) free() (z []float64) {
	if n := len(c.used); n > 0 {
		z, c.used = c.used[n-1][:0], c.used[:n-1]
	}
	return z
}

func (l *floatLifting) add(b []*big.Int) {
	c := &liftedColumn{r: make([]float64, l.count*l.ld)}
	for i, x := range b {
		l.split(num.FromInt(nil, x), x.Sign() < 0, func(k int, v float64) { c.r[k*l.ld+i] = v })
	}
	l.columns = append(l.columns, c)
}

// next returns digits modulo q³, at most 0.52 q³ in magnitude.
func (l *floatLifting) next() ([][]int64, error) {
	for len(l.columns[0].digits) < 3 {
		if err := l.step(); err != nil {
			return nil, err
		}
	}
	z, q := make([][]int64, len(l.columns)), int64(l.f.q)
	for k, c := range l.columns {
		z[k] = make([]int64, l.n)
		for i := range z[k] {
			z[k][i] = -(int64(c.digits[0][i]) + q*(int64(c.digits[1][i])+q*int64(c.digits[2][i])))
		}
		c.used = append(c.used, c.digits[:3]...)
		c.digits = append(c.digits[:0], c.digits[3:]...)
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

// step lifts a group of digits of all columns.
func (l *floatLifting) step() error {
	n, ld, count := l.n, l.ld, l.group*len(l.columns)
	if len(l.x) < count*ld {
		l.x = make([]float64, count*ld)
	}
	x := func(j int) []float64 { return l.x[j*ld : (j+1)*ld] }
	y := make([][]float64, l.group)
	for k, c := range l.columns {
		for j := range y {
			y[j] = x(k*l.group + j)
		}
		l.digits(c.r, ld, y, l.carry)
	}
	if err := l.inverse.negate(l.s, count, l.x); err != nil {
		return err
	}
	for k, c := range l.columns {
		clear(l.carry)
		for j := range l.group {
			d := x(k*l.group + j)[:n]
			copy(d, l.carry)
			for h := range j + 1 {
				for i, v := range l.inverse.column(h, k*l.group+j-h) {
					d[i] += v
				}
			}
			l.carried(d, l.carry, j == l.group-1)
			c.digits = append(c.digits, append(c.free(), d...))
		}
	}
	if err := l.a.negate(l.s, count, l.x); err != nil {
		return err
	}
	for k, c := range l.columns {
		for j := range l.group {
			l.divide(c, k*l.group+j)
		}
	}
	return nil
}

// divide sets the remainder r to (r - A d) / q for a digit, column j of x is -d.
func (l *floatLifting) divide(c *liftedColumn, j int) {
	clear(l.carries)
	q, shift := int64(l.f.q), 64-l.width
	for k := range l.count {
		r := c.r[k*l.ld:][:l.n]
		if k < l.planes {
			for i, p := range l.a.column(k, j) {
				r[i] -= p // below 2^53
			}
		}
		if k == l.count-1 {
			for i, x := range r {
				v := int64(x) + l.carries[i]
				u := int64(uint64(v) * l.byQ) // u q ≡ v modulo 2^64, and |u q| < 2^63
				if u > 1<<42 || u < -1<<42 {
					panic("rational: lifting is not exact")
				}
				r[i] = float64(u)
			}
			return
		}
		for i, x := range r {
			v := int64(x) + l.carries[i]
			u := int64(uint64(v)*l.byQ<<shift) >> shift // v / q modulo 2^width
			l.carries[i] = (v - u*q) >> l.width
			r[i] = float64(u)
		}
	}
}
