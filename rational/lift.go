package rational

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// smallOrder is the order up to which LU and LDLT eliminate without fractions, and Rank does not
// look for a rank modulo a prime first.
var smallOrder = 4

// directOrder is the order up to which matrices are eliminated modulo all primes, and
// directOrderLong this order for integers of more than directBits bits: see BenchmarkRoutines. At
// order 50, solutions by lifting take 0.5 times as long for 100 bits, and 1.2 times for 1000.
var directOrder, directOrderLong = 24, modular.MostCrout

const directBits = 400

// isDirect reports whether matrices of order n are eliminated modulo all primes, or without
// fractions.
func isDirect(n, bits int) bool {
	return n <= directOrder || n <= directOrderLong && bits > directBits
}

// longEntries is the number of bits of entries beyond which the engine cannot multiply, so that
// matrices are eliminated without fractions.
const longEntries = 1 << 19

// isLong reports whether matrices of order n are eliminated without fractions: for order 1 to 6
// that is faster than eliminations modulo primes beyond about 130, 250, 1000, 2500, 5000 and 10000
// bits. TestDirect compares the results.
func isLong(n, bits int) bool {
	return bits > longEntries || n <= 6 && bits > 40*n*n*n
}

// echelon represents the columns of G by its leftmost independent columns before column limit, or
// by other independent columns if leftmost is false.
//
// A minor that is not 0 modulo a prime is not 0. So an elimination modulo a prime finds rows R and
// columns P with a regular submatrix, whose order r is at most the rank. Its multiples X of the
// other columns are computed exactly. If they represent these columns in all other rows as well,
// the rank is r. If moreover the multiples of columns behind the column represented are 0, the
// columns P are the leftmost ones. Otherwise the prime divides a minor, which few primes do, and
// the next prime follows.
func (s *run) echelon(g ints, limit int, leftmost bool) (*echelon, error) {
	if order := min(g.rows, limit); order <= directOrder || isDirect(order, g.bits()) || g.bits() > longEntries {
		return s.directly(g, limit)
	}
	if r := g.rows; r <= limit { // usually the first columns are independent
		square, err := s.squareOf(g.chosen(span(0, r), span(0, r)))
		if err != nil {
			return nil, err
		}
		if square.inverse != nil {
			e := &echelon{rows: span(0, r), pivots: span(0, r), free: span(r, g.cols)}
			_, err := s.represent(e, square, g, limit, leftmost, 0)
			return e, err
		}
	}
	best := -1
	for i := 0; ; i++ {
		f := modular.Numbered(i)
		e, err := s.pivotsModulo(f, g, limit)
		if err != nil {
			return nil, err
		}
		if len(e.pivots) < best {
			continue
		}
		best = len(e.pivots)
		if ok, err := s.represent(e, nil, g, limit, leftmost, i); ok || err != nil {
			return e, err
		}
	}
}

// pivotsModulo returns rows, pivots and other columns of the echelon of G modulo a prime.
func (s *run) pivotsModulo(f *modular.Field, g ints, limit int) (*echelon, error) {
	left := ints{g.rows, limit, g.a}
	if limit < g.cols {
		left = g.chosen(span(0, g.rows), span(0, limit))
	}
	rows, err := s.modulo(f, left)
	if err != nil {
		return nil, err
	}
	before := append([][]uint64(nil), rows...)
	pivots, _, err := f.Eliminate(s.Ctx, s.Threads, rows, limit, false)
	if err != nil {
		return nil, err
	}
	s.Stats.Primes++
	e := &echelon{pivots: pivots}
	if limit > 0 {
		e.rows = modular.Positions(before, rows[:len(pivots)])
	}
	at := 0
	for j := range g.cols {
		if at < len(pivots) && pivots[at] == j {
			at++
		} else {
			e.free = append(e.free, j)
		}
	}
	return e, nil
}

// span returns the numbers from first to end - 1.
func span(first, end int) []int {
	z := make([]int, end-first)
	for i := range z {
		z[i] = first + i
	}
	return z
}

// represent completes an echelon with rows, pivots and free columns. square is the submatrix of
// rows and pivots, or nil. ok is false if that shows that the rank or the leftmost columns are
// others than modulo the prime.
func (s *run) represent(e *echelon, square *square, g ints, limit int, leftmost bool, prime int) (ok bool, err error) {
	r := len(e.pivots)
	e.outside = make([]bool, len(e.free))
	if len(e.free) == 0 {
		return true, nil
	}
	if square == nil {
		if square, err = s.squareOf(g.chosen(e.rows, e.pivots)); err != nil {
			return false, err
		}
	}
	if e.x, e.d, err = s.solutions(square, g.chosen(e.rows, e.free), prime); err != nil {
		return false, err
	}
	if leftmost {
		for k, j := range e.free {
			for i, x := range e.x[k] {
				if j < limit && e.pivots[i] > j && x.Sign() != 0 {
					return false, nil
				}
			}
		}
	}
	if r == g.rows {
		return true, nil
	}
	in := make([]bool, g.rows)
	for _, i := range e.rows {
		in[i] = true
	}
	err = par.Each(s.Ctx, s.Threads, len(e.free), func(k int) {
		sum, t := new(big.Int), new(big.Int)
		for i := range g.rows {
			if in[i] {
				continue
			}
			sum.Mul(e.d[k], g.at(i, e.free[k]))
			for c, x := range e.x[k] {
				sum.Sub(sum, t.Mul(x, g.at(i, e.pivots[c])))
			}
			if sum.Sign() != 0 {
				e.outside[k] = true
				return
			}
		}
	})
	if err != nil {
		return false, err
	}
	for k, j := range e.free {
		if e.outside[k] {
			if j < limit {
				return false, nil
			}
			e.x[k] = nil
		}
	}
	return true, nil
}

// solutions returns the columns x[k] / d[k] of A^-1 B for an A that has a known inverse or is
// regular modulo prime number i.
func (s *run) solutions(a *square, b ints, i int) (x [][]*big.Int, d []*big.Int, err error) {
	if a.cols == 0 {
		d = make([]*big.Int, b.cols)
		for k := range d {
			d[k] = one
		}
		return make([][]*big.Int, b.cols), d, nil
	}
	// A digit of a column takes r² (1 + planes) products of words, and there are twice as many
	// digits as primes that determine the numerators over the known determinant. A prime takes an
	// inverse, 2 r³, and r² products for each column.
	planes := a.w.bits/64 + 1
	if 2*b.cols*(1+planes) <= 2*a.cols+b.cols {
		return s.byDigits(a, b, i, math.MaxInt)
	}
	// Numerators and denominators may be much shorter than Hadamard's bound, as for Hilbert
	// matrices. The first column shows that after few digits.
	full := 2 * a.determinant / primeBits
	limit := full * (2*a.cols + b.cols) / (8 * b.cols * (1 + planes))
	if limit >= firstAttempt {
		x, _, err := s.byDigits(a, b.chosen(span(0, b.rows), span(0, 1)), i, limit)
		if err == nil && x != nil {
			x, d, err = s.byDigits(a, b, i, limit)
		}
		if err != nil || x != nil {
			return x, d, err
		}
	}
	return s.byPrimes(a, b, i)
}

// byPrimes is solutions with the determinant of A as denominator. Cramer's rule and Hadamard's
// inequality bound the numerators.
func (s *run) byPrimes(a *square, b ints, prime int) (x [][]*big.Int, d []*big.Int, err error) {
	n, bits := a.cols, a.cramer(b)
	// The residues of the numerators take as much memory as the numerators.
	if err := s.room(float64(n)*float64(b.cols), 2*float64(bits)); err != nil {
		return nil, nil, err
	}
	det, err := s.regularDet(a, prime)
	if err != nil {
		return nil, nil, err
	}
	var fields []*modular.Field
	var residues [][][]uint64 // rows of A^-1 B det
	unit := isIdentity(b)
	// may fuse: an estimate
	cost := 2*cube(n) + float64(n*n)*float64(b.cols)
	for i := 0; len(fields)*primeBits <= bits; i++ {
		s.Plan(float64(bits/primeBits+1-len(fields)) * cost)
		f, rows, err := s.inverseByNumber(a.ints, i)
		if err != nil {
			return nil, nil, err
		}
		if rows == nil { // the prime divides the determinant
			continue
		}
		if !unit {
			right, err := s.modulo(f, b)
			if err != nil {
				return nil, nil, err
			}
			if rows, err = f.Multiply(s.Ctx, s.Threads, rows, right); err != nil {
				return nil, nil, err
			}
		}
		by := f.Integer(det)
		for _, row := range rows {
			for j, v := range row {
				row[j] = f.Mul(v, by)
			}
		}
		fields, residues = append(fields, f), append(residues, rows)
		s.Did(cost)
	}
	s.Stats.Primes += len(fields)
	crt := newRemainders(fields)
	x, d = make([][]*big.Int, b.cols), make([]*big.Int, b.cols)
	positive := new(big.Int).Abs(det)
	for j := range x {
		x[j], d[j] = make([]*big.Int, n), positive
	}
	// By rows, as residues are stored.
	return x, d, par.For(s.Ctx, s.Threads, n, func(_, i int) {
		for j := range x {
			x[j][i] = crt.integer(func(k int) uint64 { return residues[k][i][j] })
			if det.Sign() < 0 {
				x[j][i].Neg(x[j][i])
			}
		}
	})
}

func cube(n int) float64 { return float64(n) * float64(n) * float64(n) }

// isIdentity reports whether b is a unit matrix.
func isIdentity(b ints) bool {
	if b.rows != b.cols {
		return false
	}
	for i := range b.rows {
		for j := range b.cols {
			if x := b.at(i, j); i == j && x.Cmp(one) != 0 || i != j && x.Sign() != 0 {
				return false
			}
		}
	}
	return true
}

// liftedTogether is the number of columns that are lifted side by side.
const liftedTogether = 16

// lifts is a lifting of some columns.
type lifts interface {
	add(b []*big.Int) // adds a column
	// next returns the next digits, modulo p, of all columns.
	next() (digits [][]int64, err error)
	keep(columns []int) // removes the other columns
	p() uint64
	prime() *big.Int // whose power p is
}

// byDigits is solutions by p-adic lifting. It returns nil if a column needs more digits than limit.
func (s *run) byDigits(a *square, b ints, i, limit int) (x [][]*big.Int, d []*big.Int, err error) {
	x, d = make([][]*big.Int, b.cols), make([]*big.Int, b.cols)
	l, cost, err := s.lifting(a, max(1, min(b.cols-1, liftedTogether)), b.bits(), i)
	if err != nil {
		return nil, nil, err
	}
	denominator := one // a probable one
	most := a.w.bits
	longest := 0 // numerator
	for j0, j1 := 0, 1; j0 < b.cols; j0, j1 = j1, min(b.cols, j1+liftedTogether) {
		var open []*lifted
		for j := j0; j < j1; j++ {
			c := &lifted{j: j}
			r := make([]*big.Int, b.rows)
			for i := range r {
				r[i] = b.at(i, j)
				c.top = max(c.top, r[i].BitLen())
			}
			l.add(r)
			c.full = (2*a.determinant + c.top + most + 2*bits.Len(uint(b.rows)) + 64) / primeBits
			c.next = firstAttempt
			if j0 > 0 { // numerators as long as in other columns, over the same denominator
				need := max(longest+most+bits.Len(uint(b.rows)), denominator.BitLen()+c.top) + spare
				c.next = min(need/primeBits, c.full) + 1
			}
			if c.next > limit {
				return nil, nil, nil
			}
			open = append(open, c)
		}
		if j0 == 0 { // other columns take half as many digits
			s.Plan(float64(open[0].full+1) * float64(b.cols+1) / 2 * cost)
		} else {
			s.Plan(float64(open[0].next*(b.cols-j0)) * cost)
		}
		for len(open) > 0 {
			digits, err := l.next()
			if err != nil {
				return nil, nil, err
			}
			s.Stats.Digits += len(open)
			s.Did(float64(len(open)) * cost)
			var left []int
			var still []*lifted
			for i, c := range open {
				c.digits = append(c.digits, digits[i])
				if len(c.digits) >= c.next {
					if x[c.j], d[c.j], err = c.rational(s, l.p(), most, denominator); err != nil {
						return nil, nil, err
					}
					if d[c.j] != nil {
						denominator = d[c.j]
						for _, x := range x[c.j] {
							longest = max(longest, x.BitLen())
						}
						continue
					}
					if c.wait(); c.next > limit {
						return nil, nil, nil
					}
				}
				left, still = append(left, i), append(still, c)
			}
			if open = still; len(left) < len(digits) {
				l.keep(left)
			}
		}
	}
	return x, d, nil
}

// lifting returns a lifting for A, which has a known inverse or is regular modulo prime number i,
// and some right-hand sides of at most top bits, and the cost of a digit of a column.
func (s *run) lifting(m *square, columns, top, i int) (l lifts, cost float64, err error) {
	a := m.ints
	s.Stats.Primes++
	if m.inverse != nil {
		l, err := s.newFloatLifting(m.w, m.inverse, top, columns)
		if l != nil || err != nil {
			return l, float64(m.w.bits/20+2) * float64(a.rows*a.rows), err
		}
	}
	z := modular.Integers{Rows: make([]int64, a.rows), Cols: make([]int64, a.cols), Bits: make([]int, a.rows)}
	words := 0.0
	for i := range z.Bits {
		for _, x := range a.row(i) {
			if x != nil {
				z.Bits[i] = max(z.Bits[i], x.BitLen())
				words += float64(x.BitLen()/64 + 1)
			}
		}
	}
	cost = z.DigitCost(a.cols, a.cols)
	z.Dense = 2*words > float64(a.rows*a.cols)*float64(z.MostBits()/64+1)
	inverse, err := s.inverseModulo(a)
	if err != nil {
		return nil, 0, err
	}
	var w *modular.Lifting
	if inverse != nil {
		w, err = modular.LiftingBy(s.Run, a.mat(), z, inverse.f, inverse.rows)
	} else {
		w, err = modular.NewLifting(s.Run, a.mat(), z, modular.Numbered(i))
	}
	if err == nil && w == nil {
		panic("rational: a matrix is singular modulo the prime of its pivots")
	}
	return (*wordLifting)(w), cost, err
}

// wordLifting is a lifting of integers in words.
type wordLifting modular.Lifting

func (l *wordLifting) add(b []*big.Int) { (*modular.Lifting)(l).Add(b) }

func (l *wordLifting) next() ([][]int64, error) {
	digits, _, err := (*modular.Lifting)(l).Digits()
	return digits, err
}

func (l *wordLifting) keep(columns []int) {
	for k, i := range columns {
		l.R[k] = l.R[i]
	}
	l.R = l.R[:len(columns)]
}

func (l *wordLifting) p() uint64 { return l.F.P }

func (l *wordLifting) prime() *big.Int {
	z := new(big.Int).SetUint64(l.F.P)
	if z.ProbablyPrime(0) { // exact below 2^64
		return z
	}
	return z.SetUint64(uint64(math.Round(math.Cbrt(float64(l.F.P)))))
}

// lifted is a column of the solution that is lifted.
type lifted struct {
	j      int // its number
	top    int // bits of its right-hand side
	digits [][]int64
	next   int // number of digits at the next attempt to find numerators and denominator
	full   int // number of digits that determine them, about
}

// firstAttempt is the number of digits at the first attempt.
const firstAttempt = 6

// wait sets the number of digits at the next attempt. Solutions of random systems of order n need
// as many digits as Hadamard's bound says, less about n / 42: the logarithm of n^(n/2) / √n! twice.
func (c *lifted) wait() {
	have := len(c.digits)
	switch near := c.full - len(c.digits[0])/50; {
	case 2*have < near*2/3:
		c.next = 2 * have
	case have < near:
		c.next = near
	default:
		c.next = have + max(1, c.full/50)
	}
}

// rational returns numerators v and a denominator d, a multiple of known, with A v = d b; nil if
// the digits prove none. All digits of the first component give d. About half of the digits prove
// the numerators then.
func (c *lifted) rational(s *run, p uint64, most int, known *big.Int) (v []*big.Int, d *big.Int, err error) {
	all := len(c.digits)
	z := c.modulus(p, all, most)
	space := new(balance)
	x := z.reduced(c, 0, known, space)
	more := z.denominator(x, space)
	if more == nil {
		return nil, nil, nil
	}
	if d = known; more != one {
		z.times(x, more, space)
		d = more.Mul(more, d)
	}
	need := max(x.BitLen()+most+bits.Len(uint(len(c.digits[0]))), d.BitLen()+c.top) + spare
	if few := need/primeBits + 1; few < all {
		if v, d, err := c.numerators(s, c.modulus(p, few, most), d); v != nil || err != nil {
			return v, d, err
		}
	}
	return c.numerators(s, z, d)
}

// spare is the number of bits by which numerators over d may be longer than the first one, and by
// which d may be longer than the denominator of the first component, in a proof by few digits.
const spare = 2 * accident

// numerators is rational by few digits: y modulo q = p^count. With v ≡ d y the number q divides
// every entry of A v - d b. Entries of v have so few bits that |A v| < 2^room, and |d b| < 2^room,
// where 2^(room + 1) ≤ q. So the entries, less than q in magnitude, are 0.
func (c *lifted) numerators(s *run, z *modulus, known *big.Int) (v []*big.Int, d *big.Int, err error) {
	v, d = make([]*big.Int, len(c.digits[0])), known
	spaces := make([]balance, max(1, s.Threads))
	err = par.For(s.Ctx, s.Threads, len(v), func(worker, i int) { v[i] = z.reduced(c, i, d, &spaces[worker]) })
	if err != nil {
		return nil, nil, err
	}
	more := one
	for _, x := range v {
		if more != one {
			x = z.times(new(big.Int).Set(x), more, &spaces[0])
		}
		by := z.denominator(x, &spaces[0])
		if by == nil {
			return nil, nil, nil
		}
		if by != one {
			more = by.Mul(by, more)
		}
	}
	if more != one {
		d = new(big.Int).Mul(d, more)
		err = par.For(s.Ctx, s.Threads, len(v), func(worker, i int) { z.times(v[i], more, &spaces[worker]) })
		if err != nil {
			return nil, nil, err
		}
	}
	for _, x := range v {
		if x.BitLen() > z.left {
			return nil, nil, nil
		}
	}
	if d.BitLen()+c.top > z.room {
		return nil, nil, nil
	}
	return v, d, nil
}

// modulus is a power q of p, with the room that numerators have modulo q.
type modulus struct {
	count      int
	powers     *powers
	q, half    *big.Int
	room, left int // left: bits of a numerator
}

func (c *lifted) modulus(p uint64, count, most int) *modulus {
	powers := powersOf(p)
	powers.prepare(count)
	q := powers.of(count)
	room := q.BitLen() - 2
	return &modulus{count, powers, q, new(big.Int).Rsh(q, 1), room, room - most - bits.Len(uint(len(c.digits[0])))}
}

// balance is memory for remainders.
type balance struct{ product, quotient, rest big.Int }

// times sets x to x d modulo q, at most q/2 in magnitude, and returns x.
func (z *modulus) times(x, d *big.Int, space *balance) *big.Int {
	y := x
	if d.Cmp(one) != 0 {
		y = space.product.Mul(x, d)
	}
	rest := &space.rest
	space.quotient.QuoRem(y, z.q, rest)
	switch {
	case rest.CmpAbs(z.half) <= 0:
		return x.Set(rest)
	case rest.Sign() > 0:
		return x.Sub(rest, z.q)
	}
	return x.Add(rest, z.q)
}

// reduced returns d times component i modulo q.
func (z *modulus) reduced(c *lifted, i int, d *big.Int, space *balance) *big.Int {
	return z.times(c.value(z.powers, i, 0, z.count), d, space)
}

// denominator returns 1 for a numerator x, or a number by which x becomes one modulo q; nil if
// there is none.
func (z *modulus) denominator(x *big.Int, space *balance) *big.Int {
	if x.BitLen() <= z.left-accident { // a longer x may be short by accident
		return one
	}
	by := denominator(x, z.q)
	if by == nil || by.Cmp(one) == 0 {
		if x.BitLen() > z.left {
			return nil
		}
		return one
	}
	if z.times(new(big.Int).Set(x), by, space).BitLen() > z.left || by.BitLen() > z.room {
		return nil
	}
	return by
}

// value returns the integer with the digits of component i from first to before end.
func (c *lifted) value(powers *powers, i, first, end int) *big.Int {
	if end-first <= hornerDigits {
		return c.horner(powers, i, first, end)
	}
	h := (first + end) / 2
	x := c.value(powers, i, h, end)
	return x.Add(x.Mul(x, powers.of(h-first)), c.value(powers, i, first, h))
}

// hornerDigits is the number of digits up to which Horner's rule is faster than products of halves.
const hornerDigits = 24

// horner is value by Horner's rule in words, for digits from 0 to p - 1: a negative one borrows p
// from the next digit.
func (c *lifted) horner(powers *powers, i, first, end int) *big.Int {
	p := powers.p.Uint64()
	var digits [hornerDigits]uint64
	borrow := int64(0)
	for k := range end - first {
		d := c.digits[first+k][i] - borrow
		if borrow = 0; d < 0 {
			d, borrow = d+int64(p), 1
		}
		digits[k] = uint64(d)
	}
	words := make([]uint64, 0, end-first)
	for k := end - first - 1; k >= 0; k-- {
		carry := digits[k]
		for j, w := range words {
			hi, lo := bits.Mul64(w, p)
			var up uint64
			words[j], up = bits.Add64(lo, carry, 0)
			carry = hi + up
		}
		if carry != 0 {
			words = append(words, carry)
		}
	}
	z := num.ToInt(words)
	if borrow != 0 {
		z.Sub(z, powers.of(end-first))
	}
	return z
}

// powers are powers of p. Concurrent calls of value for count digits need prepare for them.
type powers struct {
	p     *big.Int
	known map[int]*big.Int
}

func powersOf(p uint64) *powers { return &powers{new(big.Int).SetUint64(p), map[int]*big.Int{}} }

func (p *powers) of(k int) *big.Int {
	if p.known[k] == nil {
		p.known[k] = new(big.Int).Exp(p.p, big.NewInt(int64(k)), nil)
	}
	return p.known[k]
}

// prepare computes the powers that value takes for count digits.
func (p *powers) prepare(count int) {
	p.of(count)
	if count > hornerDigits {
		p.prepare(count / 2)
		p.prepare(count - count/2)
	}
}
