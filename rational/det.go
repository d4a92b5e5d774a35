package rational

import (
	"errors"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// Det returns the determinant of the square matrix A; 1 for order 0.
//
// The denominator of one solution of A x = b divides the determinant of an integer matrix. The
// quotient is determined by its residues modulo primes whose product exceeds its bound (Abbott,
// Bronstein and Mulders, Fast deterministic computation of determinants of dense matrices, 1999).
// The bound is Hadamard's inequality for A X, where the triangular float64 matrix X makes the
// columns nearly orthogonal.
func Det(a *Matrix, opt *halfulp.Options) (*big.Rat, error) {
	if of(a).n.rows != a.n.cols {
		panic(errShape)
	}
	s, err := begin("Det", opt)
	if err != nil {
		return nil, err
	}
	d, err := s.det(a.n)
	if err := s.end("Det", err); err != nil {
		return nil, err
	}
	if a.IsInteger() {
		z := new(big.Rat)
		setInteger(z, d)
		return z, nil
	}
	den := big.NewInt(1)
	for _, x := range a.den {
		den.Mul(den, x)
	}
	return new(big.Rat).SetFrac(d, den), nil
}

// det returns the determinant of a matrix of integers.
func (s *run) det(a ints) (*big.Int, error) {
	n := a.rows
	if n <= directOrder || isDirect(n, a.bits()) || a.bits() > longEntries {
		return s.directDet(a)
	}
	m, err := s.squareOf(a)
	if err != nil {
		return nil, err
	}
	for i := 0; ; i++ {
		if m.inverse == nil {
			e, err := s.pivotsModulo(modular.Numbered(i), a, n)
			if err != nil {
				return nil, err
			}
			if len(e.pivots) < n {
				// One other column that the pivots represent proves that the determinant is 0.
				e.free = e.free[:1]
				if ok, err := s.represent(e, nil, a, n, false, i); err != nil {
					return nil, err
				} else if ok {
					return new(big.Int), nil
				}
				continue
			}
		}
		return s.regularDet(m, i)
	}
}

// regularDet returns the determinant of a matrix that has a known inverse or is regular modulo
// prime number i.
func (s *run) regularDet(m *square, i int) (*big.Int, error) {
	b := newInts(m.rows, 1)
	for k := range b.a {
		b.a[k] = big.NewInt(int64(k*k%7 - 3))
	}
	bits, err := s.nearDeterminant(m)
	if err != nil {
		return nil, err
	}
	d, err := s.divisor(m, b, i, bits)
	if err != nil {
		return nil, err
	}
	if m.inverse != nil && bits-d.BitLen()+1 <= quotientBits {
		f := m.inverse.f
		r := new(big.Int).Mod(d, big.NewInt(int64(f.q)))
		t := f.reduced(m.inverse.det * f.inverted(f.value(r.Uint64())))
		return d.Mul(d, big.NewInt(int64(t))), nil
	}
	return s.multipleOf(m.ints, m.w, d, bits)
}

// quotientBits is the number of bits of integers below q / 2 for the primes of inverses, which
// exceed 2^20: the residue of the determinant modulo such a prime determines a quotient as short.
const quotientBits = 19

// divisor returns a divisor d > 0 of the determinant of A, a common denominator of the first
// components of the solution of A x = b. determinant is a bound of the bits of the determinant; the
// other arguments are the ones of solutions.
//
// With y = x modulo q = p^k, |v| ≤ N, 0 < d ≤ D and v ≡ d y modulo q, v / d is the component if q >
// 2 N D for bounds N and D of its numerator and denominator: for both fractions v d' - v' d is 0
// modulo q, and less than q in magnitude. The common factor of the v and d that Euclid's algorithm
// finds divides q, so it is 1 if p does not divide d.
func (s *run) divisor(a *square, b ints, i, determinant int) (*big.Int, error) {
	l, cost, err := s.lifting(a, 1, b.bits(), i)
	if err != nil {
		return nil, err
	}
	numerator := a.cramer(b)
	l.add(b.a)
	c := &lifted{}
	s.Plan(float64((determinant+numerator+2)/primeBits+1) * cost)
	for len(c.digits)*primeBits < determinant+numerator+2 {
		digits, err := l.next()
		if err != nil {
			return nil, err
		}
		c.digits = append(c.digits, digits[0])
		s.Stats.Digits++
		s.Did(cost)
	}
	powers := powersOf(l.p())
	q := powers.of(len(c.digits))
	half, d, p := new(big.Int).Rsh(q, 1), big.NewInt(1), l.prime()
	const most = 8 // components
	for i := 0; i < min(most, b.rows) && determinant-d.BitLen()+1 > quotientBits; i++ {
		y := c.value(powers, i, 0, len(c.digits))
		y.Mod(y.Mul(y, d), q)
		more := denominator(y, q)
		if more == nil || new(big.Int).Rem(more, p).Sign() == 0 {
			continue
		}
		if y.Mod(y.Mul(y, more), q); y.Cmp(half) > 0 {
			y.Sub(q, y)
		}
		more.Mul(more, d)
		if y.BitLen() <= numerator && more.BitLen() <= determinant {
			d = more
		}
	}
	return d, nil
}

// multipleOf returns the determinant of A, a multiple of d > 0 of at most the given bits.
func (s *run) multipleOf(a ints, w *words, d *big.Int, bits int) (*big.Int, error) {
	bits = max(bits-d.BitLen()+1, 1)
	spaces := make([]workspace, max(1, s.Threads))
	var fields []*modular.Field
	var residues []uint64
	for i := 0; len(fields)*primeBits <= bits; {
		some := bits/primeBits + 1 - len(fields)
		s.Plan(float64(some) * cube(a.rows))
		modulo, found := make([]*modular.Field, some), make([]uint64, some)
		errs := make([]error, some)
		err := s.each(some, cube(a.rows), func(worker, k int) {
			modulo[k], found[k], errs[k] = s.quotient(a, w, i+k, d, &spaces[worker])
		})
		if err := errors.Join(err, errors.Join(errs...)); err != nil {
			return nil, err
		}
		for k, f := range modulo {
			if f != nil {
				fields, residues = append(fields, f), append(residues, found[k])
			}
		}
		i += some
	}
	z := newRemainders(fields).integer(func(k int) uint64 { return residues[k] })
	return z.Mul(z, d), nil
}

// quotient returns the determinant of A divided by d, as an element modulo a number, which has no
// common factor with the numbers for other i. It returns no number if d is not invertible.
func (s *run) quotient(a ints, w *words, i int, d *big.Int, space *workspace) (f *modular.Field, x uint64, err error) {
	var e *modular.Echelon
	if a.rows <= modular.MostCrout {
		f = modular.Numbered(i)
		e = w.echelon(f, a.rows, space, &space.echelon)
	} else if a.rows <= mostFloats && 3*i+2 < mostCubes {
		var q [3]int64
		f, q = productOfThree(i)
		e = w.regular(f, q, space)
	}
	switch {
	case e == nil:
		f = modular.Numbered(i)
		rows, err := s.modulo(f, a)
		if err != nil {
			return nil, 0, err
		}
		pivots, det, err := f.Eliminate(s.Ctx, 1, rows, a.rows, false)
		if err != nil {
			return nil, 0, err
		}
		if len(pivots) == a.rows {
			x = det
		}
	case len(e.Pivots) == a.rows:
		if x = e.Det; e.Odd {
			x = f.Sub(0, x)
		}
	}
	if d.Cmp(one) == 0 {
		return f, x, nil
	}
	by := new(big.Int).SetUint64(f.P)
	if new(big.Int).GCD(nil, nil, by, new(big.Int).Mod(d, by)).Cmp(one) != 0 {
		return nil, 0, nil
	}
	return f, f.Mul(x, f.Invert(f.Integer(d))), nil
}
