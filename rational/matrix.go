package rational

import (
	"math/big"
	"math/bits"
)

// A Matrix is a matrix of rational numbers. The zero value is the 0 x 0 matrix.
//
// Every row is stored as integers over a positive denominator without a common factor, so that
// equal matrices are stored equally. Several goroutines may read a Matrix at the same time.
type Matrix struct {
	n   ints       // numerators
	den []*big.Int // of the rows
}

// ints is a matrix of integers, row by row. A nil entry is 0.
type ints struct {
	rows, cols int
	a          []*big.Int
}

var zero, one = new(big.Int), big.NewInt(1) // read only

func newInts(rows, cols int) ints {
	return ints{rows, cols, make([]*big.Int, rows*cols)}
}

// at returns entry (i, j), which must not be changed.
func (n ints) at(i, j int) *big.Int {
	if x := n.a[i*n.cols+j]; x != nil {
		return x
	}
	return zero
}

func (n ints) set(i, j int, x *big.Int) { n.a[i*n.cols+j] = x }

func (n ints) row(i int) []*big.Int { return n.a[i*n.cols : (i+1)*n.cols] }

func (n ints) transposed() ints {
	t := newInts(n.cols, n.rows)
	for i := range n.rows {
		for j := range n.cols {
			t.set(j, i, n.a[i*n.cols+j])
		}
	}
	return t
}

// chosen returns the submatrix of the given rows and columns.
func (n ints) chosen(rows, cols []int) ints {
	z := newInts(len(rows), len(cols))
	for i, r := range rows {
		for j, c := range cols {
			z.set(i, j, n.a[r*n.cols+c])
		}
	}
	return z
}

// bits returns the bits of the largest entry.
func (n ints) bits() (most int) {
	for _, x := range n.a {
		if x != nil {
			most = max(most, x.BitLen())
		}
	}
	return most
}

// New returns the rows x cols matrix of zeros. It panics if a size is negative.
func New(rows, cols int) *Matrix {
	if rows < 0 || cols < 0 {
		panic(errShape)
	}
	z := &Matrix{n: newInts(rows, cols), den: make([]*big.Int, rows)}
	for i := range z.den {
		z.den[i] = one
	}
	return z
}

// Identity returns the unit matrix of order n.
func Identity(n int) *Matrix {
	z := New(n, n)
	for i := range n {
		z.n.set(i, i, one)
	}
	return z
}

// FromRats returns the matrix with the given rows, copied. It panics if rows have different lengths
// or an entry is nil.
func FromRats(rows [][]*big.Rat) *Matrix {
	z := shaped(rows)
	for i, row := range rows {
		for _, x := range row {
			if x == nil {
				panic(errNil)
			}
		}
		z.setRow(i, row)
	}
	return z
}

// FromInt64 returns the matrix of integers with the given rows. It panics if rows have different
// lengths.
func FromInt64(rows [][]int64) *Matrix {
	z := shaped(rows)
	for i, row := range rows {
		for j, x := range row {
			z.n.set(i, j, big.NewInt(x))
		}
	}
	return z
}

// FromInts returns the matrix of integers with the given rows, copied. It panics if rows have
// different lengths or an entry is nil.
func FromInts(rows [][]*big.Int) *Matrix {
	z := shaped(rows)
	for i, row := range rows {
		for j, x := range row {
			if x == nil {
				panic(errNil)
			}
			z.n.set(i, j, new(big.Int).Set(x))
		}
	}
	return z
}

// shaped returns a matrix of zeros with the shape of rows.
func shaped[T any](rows [][]T) *Matrix {
	if len(rows) == 0 {
		return New(0, 0)
	}
	z := New(len(rows), len(rows[0]))
	for _, row := range rows {
		if len(row) != z.n.cols {
			panic(errShape)
		}
	}
	return z
}

// setRow stores a row.
func (m *Matrix) setRow(i int, row []*big.Rat) {
	// A common denominator of all rows of a matrix of coprime denominators would have as many
	// digits as all denominators together, in every entry.
	d := one
	for _, x := range row {
		d = lcm(d, x.Denom())
	}
	m.den[i] = d
	for j, x := range row {
		y := new(big.Int)
		if x.Denom().Cmp(d) == 0 {
			y.Set(x.Num())
		} else {
			y.Mul(x.Num(), y.Quo(d, x.Denom()))
		}
		m.n.set(i, j, y)
	}
}

func isOne(x *big.Int) bool { return x == one || x.IsInt64() && x.Int64() == 1 }

// lcm returns the least common multiple of positive integers, possibly x or y itself.
func lcm(x, y *big.Int) *big.Int {
	if isOne(y) || x.Cmp(y) == 0 {
		return x
	}
	if isOne(x) {
		return new(big.Int).Set(y)
	}
	z := new(big.Int).GCD(nil, nil, x, y)
	return z.Mul(x, z.Quo(y, z))
}

// over returns the matrix with row i of n divided by den[i] > 0. It takes n and den over; integers
// of n may be shared, and are not changed.
func over(n ints, den []*big.Int) *Matrix {
	z := &Matrix{n, den}
	for i := range den {
		z.reduce(i)
	}
	return z
}

// reduce divides row i by the common factor of its numbers and its denominator.
func (m *Matrix) reduce(i int) {
	row := m.n.row(i)
	g := gcd(m.den[i], row...)
	if isOne(g) {
		return
	}
	m.den[i] = new(big.Int).Quo(m.den[i], g)
	for j, x := range row {
		if x != nil {
			row[j] = new(big.Int).Quo(x, g)
		}
	}
}

// of returns m, or panics if it is nil.
func of(m *Matrix) *Matrix {
	if m == nil {
		panic(errNil)
	}
	return m
}

// Rows returns the number of rows.
func (m *Matrix) Rows() int { return of(m).n.rows }

// Cols returns the number of columns.
func (m *Matrix) Cols() int { return of(m).n.cols }

// Dims returns the numbers of rows and columns.
func (m *Matrix) Dims() (rows, cols int) { return m.Rows(), m.Cols() }

func (m *Matrix) check(i, j int) {
	if of(m); i < 0 || i >= m.n.rows || j < 0 || j >= m.n.cols {
		panic(errIndex)
	}
}

// At returns a copy of entry (i, j). It panics if there is no such entry.
func (m *Matrix) At(i, j int) *big.Rat {
	m.check(i, j)
	return new(big.Rat).SetFrac(m.n.at(i, j), m.den[i])
}

// Set sets entry (i, j) to x. It panics if there is no such entry. It takes a time proportional to
// the row: to fill a matrix use FromRats.
func (m *Matrix) Set(i, j int, x *big.Rat) {
	m.check(i, j)
	if x == nil {
		panic(errNil)
	}
	d := m.den[i]
	if m.den[i] = lcm(d, x.Denom()); m.den[i].Cmp(d) != 0 {
		by := new(big.Int).Quo(m.den[i], d)
		for k, y := range m.n.row(i) {
			if y != nil {
				m.n.set(i, k, new(big.Int).Mul(y, by))
			}
		}
	}
	y := new(big.Int).Quo(m.den[i], x.Denom())
	m.n.set(i, j, y.Mul(y, x.Num()))
	m.reduce(i)
}

// IsInteger reports whether all entries are integers.
func (m *Matrix) IsInteger() bool {
	for _, d := range of(m).den {
		if !isOne(d) {
			return false
		}
	}
	return true
}

// Equal reports whether m and b have the same shape and the same entries.
func (m *Matrix) Equal(b *Matrix) bool {
	if of(m).n.rows != of(b).n.rows || m.n.cols != b.n.cols {
		return false
	}
	for i, d := range m.den {
		if d.Cmp(b.den[i]) != 0 {
			return false
		}
		for j := range m.n.cols {
			if m.n.at(i, j).Cmp(b.n.at(i, j)) != 0 {
				return false
			}
		}
	}
	return true
}

// Clone returns a copy of m.
func (m *Matrix) Clone() *Matrix {
	// Integers are shared: no method changes them in place.
	z := &Matrix{newInts(of(m).n.rows, m.n.cols), append([]*big.Int(nil), m.den...)}
	copy(z.n.a, m.n.a)
	return z
}

// T returns the transpose of m, a copy.
func (m *Matrix) T() *Matrix {
	n, den := of(m).byColumns()
	return &Matrix{n.transposed(), den} // in lowest terms: den has the parts of the entries
}

// byColumns returns m as integers with common denominators of the columns.
func (m *Matrix) byColumns() (n ints, den []*big.Int) {
	n, den = newInts(m.n.rows, m.n.cols), make([]*big.Int, m.n.cols)
	parts := make([]*big.Int, n.rows) // denominators of a column
	factors := make([]divisors, n.rows)
	for i, d := range m.den {
		factors[i] = newDivisors(d, m.n.row(i))
	}
	for j := range den {
		den[j] = one
		for i, d := range m.den {
			parts[i] = d
			if x := m.n.at(i, j); d.Cmp(one) != 0 {
				parts[i] = new(big.Int).Quo(d, factors[i].gcd(x))
			}
			den[j] = lcm(den[j], parts[i])
		}
		for i, d := range m.den {
			x := m.n.at(i, j)
			if x.Sign() == 0 {
				continue
			}
			if d.Cmp(den[j]) != 0 {
				// x / d = (x / (d / part)) / part
				y := new(big.Int).Quo(d, parts[i])
				y.Quo(x, y)
				x = y.Mul(y, new(big.Int).Quo(den[j], parts[i]))
			}
			n.set(i, j, x)
		}
	}
	return n, den
}

// common returns m as integers over one denominator, which must not be changed.
func (m *Matrix) common() (n ints, den *big.Int) {
	if m.IsInteger() {
		return m.n, one
	}
	den = one
	for _, d := range m.den {
		den = lcm(den, d)
	}
	n = newInts(m.n.rows, m.n.cols)
	for i, d := range m.den {
		by := new(big.Int).Quo(den, d)
		for j := range n.cols {
			switch x := m.n.at(i, j); {
			case x.Sign() == 0:
			case by.Cmp(one) == 0:
				n.set(i, j, x)
			default:
				n.set(i, j, new(big.Int).Mul(x, by))
			}
		}
	}
	return n, den
}

// divisors finds the common divisors of d > 0 and of integers known in advance.
type divisors struct {
	d *big.Int
	// The part of d with its common primes with any of the integers other than 0; nil: unknown.
	part *big.Int
}

// newDivisors returns the divisors of d and of the integers x. For many integers it finds the
// primes that d has in common with any of them by one greatest common divisor, of d and of their
// product modulo d. For random integers these primes are few and small.
func newDivisors(d *big.Int, x []*big.Int) divisors {
	if d.BitLen() <= 64 || len(x) < 4 {
		return divisors{d: d}
	}
	part, rest, g := big.NewInt(1), new(big.Int), new(big.Int)
	if bits.UintSize == 64 && d.BitLen() <= 128 && (ints{1, len(x), x}).bits() <= 128 {
		twos := d.TrailingZeroBits()
		rest.Rsh(d, twos)
		g = word128(commonWithProduct(rest, x))
		part.Lsh(part, twos)
	} else {
		product, more, quotient := big.NewInt(1), new(big.Int), new(big.Int)
		for _, x := range x {
			if x != nil && x.Sign() != 0 {
				quotient.QuoRem(more.Mul(product, x), d, product)
			}
		}
		rest.Set(d)
		g.GCD(nil, nil, product, rest)
	}
	for g.Cmp(one) != 0 {
		part.Mul(part, g)
		rest.Quo(rest, g)
		g = new(big.Int).GCD(nil, nil, g, new(big.Int).Mod(rest, g))
	}
	return divisors{d, part}
}

// gcd returns the greatest common divisor of d and x, one of the integers.
func (z divisors) gcd(x *big.Int) *big.Int {
	of := z.part
	if of == nil || x.Sign() == 0 {
		of = z.d
	}
	return gcd(of, x)
}

// residue returns |x| modulo d.
func residue(x *big.Int, d uint64) uint64 {
	if bits.UintSize == 32 {
		r := new(big.Int).SetUint64(d)
		return r.Rem(r.Abs(x), new(big.Int).SetUint64(d)).Uint64()
	}
	r, w := uint64(0), x.Bits()
	for k := len(w) - 1; k >= 0; k-- {
		_, r = bits.Div64(r, uint64(w[k]), d)
	}
	return r
}
