package linsolve

import (
	"encoding/binary"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
)

// lifting is a solution x of A x = b in the p-adic integers (Dixon, Exact solution of linear
// equations using p-adic expansions, 1982), of which digit after digit is made: with the inverse of
// A modulo p and what is left of b
//
//	d = A^-1 r mod p,  r <- (r - A d) / p.
//
// A digit costs two products of a matrix with a vector of words.
type lifting struct {
	s       *solver
	f       *field
	z       integers
	inverse [][]uint64 // of P times the integers modulo p, elements
	order   []int      // row i of P A is row order[i] of A
	a       *halfulp.Matrix
	fixed   *fixed     // the integers of row i times 2^-bits[i], nil beyond mostLiftingPlanes
	r       [][]uint64 // what is left of b, in two's complement
	top     uint64     // 2^(64 words) of these, modulo p
}

// mostLiftingPlanes bounds the room of the integers of A in words, which hold zeros below and above
// the bits of numbers far apart.
const mostLiftingPlanes = 8

// newLifting prepares the lifting of columns of solutions of A X = B. There is no lifting, nil, if
// A is singular modulo the field's prime.
func (s *solver) newLifting(a *halfulp.Matrix, f *field) (*lifting, error) {
	m := raw.Matrix(a)
	l := &lifting{s: s, f: f, z: toIntegers(m), a: a}
	most := 0
	for _, b := range l.z.bits {
		most = max(most, b)
	}
	if err := workable(most+128, a); err != nil {
		return nil, err
	}
	rows, err := f.matrix(s.ctx, s.threads, m)
	if err != nil {
		return nil, err
	}
	cols := make([]uint64, len(rows))
	for j := range cols {
		cols[j] = f.power2(-l.z.cols[j])
	}
	by := scaling{make([]int64, len(rows)), negated(l.z.cols)}
	for i, row := range rows {
		left := f.power2(-l.z.rows[i])
		for j, x := range row {
			row[j] = f.mul(x, f.mul(left, cols[j]))
		}
		by.rows[i] = -l.z.rows[i] - int64(l.z.bits[i])
	}
	var ok bool
	if l.order, ok, err = f.invertMatrix(s.ctx, s.threads, rows); !ok || err != nil {
		return nil, err
	}
	l.inverse = rows
	if planes := most/64 + 1; planes <= mostLiftingPlanes { // the last bit of numbers is 2^-bits
		l.fixed, err = s.newFixed(m, by, planes)
	}
	return l, err
}

// begin starts with a right-hand side of integers.
func (l *lifting) begin(b []*big.Int) {
	// |r| ≤ |b| / p + n 2^bits at any time, and A d is less than p times that.
	most := 0
	for i, x := range b {
		most = max(most, x.BitLen(), l.z.bits[i]+64+bits.Len(uint(len(b))))
	}
	words := most/64 + 2
	l.r = make([][]uint64, len(b))
	for i, x := range b {
		l.r[i] = make([]uint64, words)
		magnitude(l.r[i], wordsOf(x), 0)
		if x.Sign() < 0 {
			num.Negate(l.r[i])
		}
	}
	l.top = l.f.value(l.f.power2(int64(64 * words)))
}

// wordsOf returns the words of the magnitude of an integer.
func wordsOf(x *big.Int) []uint64 {
	z := make([]uint64, (x.BitLen()+63)/64)
	b := x.FillBytes(make([]byte, 8*len(z)))
	for i := range z {
		z[i] = binary.BigEndian.Uint64(b[8*(len(z)-1-i):])
	}
	return z
}

// digits returns the next digit of each component and makes what is left smaller by it.
func (l *lifting) digits() ([]uint64, error) {
	f, n := l.f, len(l.r)
	left := make([]uint64, n)
	for i, k := range l.order {
		left[i] = l.modulo(l.r[k])
	}
	v, digits := direct.NewWordVector(left), make([]uint64, n)
	if err := l.s.each(n, func(i int) { digits[i] = f.sum(v.Dot(l.inverse[i])) }); err != nil {
		return nil, err
	}
	inexact := make([]bool, n)
	err := l.subtract(digits, func(i int) { inexact[i] = !l.divide(l.r[i]) })
	for _, wrong := range inexact {
		if wrong {
			panic("linsolve: lifting is not exact")
		}
	}
	return digits, err
}

// subtract subtracts A d from r, and calls next for each row then.
func (l *lifting) subtract(digits []uint64, next func(i int)) error {
	if l.fixed != nil {
		d := make([]int64, len(digits))
		for i, x := range digits {
			d[i] = int64(x) // below 2^61
		}
		v, planes := newVector(d), l.fixed.planes
		return l.s.each(len(digits), func(i int) {
			z := make([]uint64, planes+2) // 2^(64 planes - 1 - bits) A d
			l.fixed.row(z, i, v, planes)
			subtractShifted(l.r[i], z, l.z.bits[i]+1-64*planes)
			next(i)
		})
	}
	wide := 0 // the product is exact: the format has all bits of its integers
	y := halfulp.NewMatrix(halfulp.MP(64), len(digits), 1)
	for i, d := range digits {
		x := new(big.Float).SetPrec(64).SetUint64(d)
		y.SetBig(i, 0, x.SetMantExp(x, int(-l.z.cols[i])))
		wide = max(wide, l.z.bits[i]+128)
	}
	product := halfulp.NewMatrix(halfulp.MP(uint(wide)), len(digits), 1)
	if err := l.s.gemm(1, l.a, y, 0, nil, product); err != nil {
		return err
	}
	return l.s.each(len(digits), func(i int) {
		x := product.Big(i, 0)
		v, _ := x.SetMantExp(x, int(-l.z.rows[i])).Int(nil)
		z := append(wordsOf(v), 0)
		if v.Sign() < 0 {
			num.Negate(z)
		}
		subtractShifted(l.r[i], z, 0)
		next(i)
	})
}

// modulo returns an integer in two's complement modulo p.
func (l *lifting) modulo(x []uint64) (z uint64) {
	f := l.f
	for k := len(x) - 1; k >= 0; k-- {
		z = f.add(f.mul(z, f.two64), f.small(x[k]))
	}
	if int64(x[len(x)-1]) < 0 {
		z = f.sub(z, l.top)
	}
	return z
}

// divide divides by p, word by word from the last bits on, and reports whether the quotient is
// about as small as it has to be; that of a number that p does not divide is not.
func (l *lifting) divide(x []uint64) bool {
	inverse, borrow := -l.f.inverse, uint64(0)
	for k, w := range x {
		w, less := bits.Sub64(w, borrow, 0)
		x[k] = w * inverse
		borrow, _ = bits.Mul64(x[k], l.f.p)
		borrow += less
	}
	// A word is left for the sign.
	return x[len(x)-1] == uint64(int64(x[len(x)-2])>>63)
}
