package rns

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp"
)

// Number is a floating-point number x = (-1)^s X 2^e of the papers' format: sign, exponent, the
// residues of the significand 0 ≤ X < √M, and an interval evaluation of X/M. The package
// documentation proves the bounds on its rounding errors.
//
// Exponents e range over ±2^30. Results with a larger exponent, quotients by zero, roots of
// negative numbers and conversions of infinities give NaN, which every operation passes on. Results
// with a smaller exponent are 0. There is one zero, without sign.
//
// Methods follow math/big: z.Add(x, y) sets z and returns it; operands may be z. Methods panic
// unless all operands have one base. Base.NewNumber makes numbers.
type Number struct {
	b *Base
	v val
}

// ErrNaN is the error of converting NaN.
var ErrNaN = errors.New("rns: NaN")

const errBase = "rns: numbers of different bases"

// NewNumber returns a zero.
func (b *Base) NewNumber() *Number {
	return &Number{b, val{x: make([]uint32, b.n)}}
}

// same reports whether two bases have the same moduli in the same order.
func (b *Base) same(c *Base) bool { return b == c || slices.Equal(b.m, c.m) }

// operands returns a result of z's base and copies of operands that share their residues.
func (z *Number) operands(xs ...*Number) (vs [3]val) {
	for i, x := range xs {
		if !z.b.same(x.b) {
			panic(errBase)
		}
		vs[i] = x.v
	}
	return vs
}

// Base returns the base of z.
func (z *Number) Base() *Base { return z.b }

// Sign returns -1, 0 or 1 as z < 0, z = 0 or z > 0, and 0 for NaN.
func (z *Number) Sign() int {
	switch {
	case z.v.ev.Up.isZero():
		return 0
	case z.v.neg:
		return -1
	}
	return 1
}

// IsZero reports whether z = 0.
func (z *Number) IsZero() bool { return z.v.isZero() }

// IsNaN reports whether z is NaN.
func (z *Number) IsNaN() bool { return z.v.isNaN() }

// Exponent returns e of z = ±X 2^e, 0 for zero and NaN.
func (z *Number) Exponent() int {
	if z.IsNaN() {
		return 0
	}
	return int(z.v.exp)
}

// Significand returns the residues of X.
func (z *Number) Significand() []uint32 { return slices.Clone(z.v.x) }

// Evaluation returns the interval evaluation of X/M.
func (z *Number) Evaluation() Interval { return z.v.ev }

// Set sets z to x.
func (z *Number) Set(x *Number) *Number {
	vs := z.operands(x)
	z.v.set(&vs[0])
	return z
}

// Neg sets z to -x.
func (z *Number) Neg(x *Number) *Number {
	z.Set(x)
	z.v.neg = !z.v.neg && !z.v.ev.Up.isZero()
	return z
}

// Abs sets z to |x|.
func (z *Number) Abs(x *Number) *Number {
	z.Set(x)
	z.v.neg = false
	return z
}

// Add sets z to x + y, |δ| < u.
func (z *Number) Add(x, y *Number) *Number { return z.do(z.b.addOp, x, y) }

// Sub sets z to x - y, |δ| < u.
func (z *Number) Sub(x, y *Number) *Number { return z.do(z.b.subOp, x, y) }

// Mul sets z to x y, |δ| < u.
func (z *Number) Mul(x, y *Number) *Number { return z.do(z.b.mul, x, y) }

// Quo sets z to x / y, |δ| < u, and to NaN for y = 0.
func (z *Number) Quo(x, y *Number) *Number { return z.do(z.b.div, x, y) }

func (b *Base) addOp(z, x, y *val, w *scratch) { b.add(z, x, y, false, w) }
func (b *Base) subOp(z, x, y *val, w *scratch) { b.add(z, x, y, true, w) }

func (z *Number) do(op func(z, x, y *val, w *scratch), x, y *Number) *Number {
	vs := z.operands(x, y)
	w := z.b.getScratch()
	op(&z.v, &vs[0], &vs[1], w)
	z.b.putScratch(w)
	return z
}

// FMA sets z to x y + c with |error| ≤ u |x y + c| + u² (|x y| + |c|).
func (z *Number) FMA(x, y, c *Number) *Number {
	vs := z.operands(x, y, c)
	w := z.b.getScratch()
	z.b.fma(&z.v, &vs[0], &vs[1], &vs[2], w)
	z.b.putScratch(w)
	return z
}

// Sqrt sets z to √x, |δ| < u, and to NaN for x < 0.
func (z *Number) Sqrt(x *Number) *Number {
	vs := z.operands(x)
	w := z.b.getScratch()
	z.b.sqrt(&z.v, &vs[0], w)
	z.b.putScratch(w)
	return z
}

// MulPow2 sets z to x 2^k exactly, by the exponent.
func (z *Number) MulPow2(x *Number, k int) *Number {
	z.Set(x)
	if z.Sign() != 0 {
		z.v.setExp(int64(z.v.exp) + max(min(int64(k), 1<<40), -1<<40))
	}
	return z
}

// Cmp returns -1, 0 or 1 as z < y, z = y or z > y, exactly. ordered is false if one
// of them is NaN.
func (z *Number) Cmp(y *Number) (c int, ordered bool) {
	vs := z.operands(z, y)
	if z.IsNaN() || y.IsNaN() {
		return 0, false
	}
	s, t := z.Sign(), y.Sign()
	if s != t || s == 0 {
		return max(min(s-t, 1), -1), true
	}
	w := z.b.getScratch()
	c = z.b.compare(&vs[0], &vs[1], w)
	z.b.putScratch(w)
	return s * c, true
}

// CmpAbs is Cmp for |z| and |y|.
func (z *Number) CmpAbs(y *Number) (c int, ordered bool) {
	vs := z.operands(z, y)
	if z.IsNaN() || y.IsNaN() {
		return 0, false
	}
	w := z.b.getScratch()
	defer z.b.putScratch(w)
	return z.b.compare(&vs[0], &vs[1], w), true
}

// compare returns the sign of |x| - |y|, neither of them NaN.
func (b *Base) compare(x, y *val, w *scratch) int {
	switch {
	case x.isZero() && y.isZero():
		return 0
	case x.isZero():
		return -1
	case y.isZero():
		return 1
	case x.exp < y.exp:
		return -b.compare(y, x, w)
	}
	p, e := x.x, x.ev
	if d := int64(x.exp) - int64(y.exp); d > 0 {
		if d > b.room(e.Up) {
			return 1
		}
		b.mulPow2(w.t, p, int(d))
		p, e = w.t, e.scale(int(d))
	}
	switch {
	case y.ev.Up.less(e.Lo):
		return 1
	case e.Up.less(y.ev.Lo):
		return -1
	}
	b.subMod(w.u, p, y.x)
	if isZero(w.u) {
		return 0
	}
	return b.sign(w.u, maxX(e.Up.SubUp(y.ev.Lo), y.ev.Up.SubUp(e.Lo)), w)
}

// SetInt64 sets z to x, rounded if the base is too small for it.
func (z *Number) SetInt64(x int64) *Number {
	z.b.setUint64(&z.v, uint64(max(x, -x)), 0, x < 0)
	return z
}

// SetFloat64 sets z to x, rounded if the base is too small for 53 bits, |δ| < u; to NaN
// for NaN and infinities.
func (z *Number) SetFloat64(x float64) *Number {
	z.b.setFloat64(&z.v, x)
	return z
}

func (b *Base) setFloat64(v *val, x float64) {
	u := math.Float64bits(x)
	m, e := u&fracMask, int64(u>>fracBits&0x7ff)
	switch e {
	case 0x7ff:
		v.setNaN()
		return
	case 0:
		e = 1
	default:
		m |= hiddenBit
	}
	b.setUint64(v, m, e-1023-fracBits, u>>63 != 0)
}

// setUint64 sets v to ±m 2^e, with an odd significand where no rounding is needed.
func (b *Base) setUint64(v *val, m uint64, e int64, neg bool) {
	if m == 0 {
		v.setZero()
		return
	}
	s := bits.TrailingZeros64(m)
	m, e = m>>s, e+int64(s)
	if b.limInt.IsUint64() && m > b.limInt.Uint64() {
		s := max(bits.Len64(m)-b.maxSigBits, 1)
		if m>>s >= b.limInt.Uint64() {
			s++
		}
		m, e = (m>>(s-1)+1)>>1, e+int64(s) // to nearest, halves up
	}
	b.setUint(v.x, m)
	v.neg = neg
	v.ev = Interval{roundX(m, 0, false).MulDown(b.iLo), roundX(m, 0, true).MulUp(b.iUp)}
	v.setExp(e)
}

// SetBig sets z to x, rounded if it has more bits than the base has room for, |δ| < u;
// to NaN for infinities. Exponents beyond the range overflow and underflow as results do.
func (z *Number) SetBig(x *big.Float) *Number {
	if x.IsInf() {
		z.v.setNaN()
		return z
	}
	if x.Sign() == 0 {
		z.v.setZero()
		return z
	}
	m := new(big.Float)
	e := int64(x.MantExp(m))
	prec := int(x.MinPrec())
	n, _ := m.SetMantExp(m, prec).Int(nil)
	z.b.setInt(&z.v, n.Abs(n), e-int64(prec), x.Sign() < 0)
	return z
}

// setInt sets v to ±n 2^e for n > 0, which it overwrites.
func (b *Base) setInt(v *val, n *big.Int, e int64, neg bool) {
	if n.Cmp(b.limInt) > 0 {
		s := uint(max(n.BitLen()-b.maxSigBits, 1))
		if new(big.Int).Rsh(n, s).Cmp(b.limInt) >= 0 {
			s++
		}
		n.Rsh(n, s-1).Add(n, big.NewInt(1)).Rsh(n, 1) // to nearest, halves up
		e += int64(s)
	}
	b.setWords(v.x, b.words(n))
	f := new(big.Float).SetInt(n)
	v.neg = neg
	v.ev = Interval{roundBig(f, false).MulDown(b.iLo), roundBig(f, true).MulUp(b.iUp)}
	v.setExp(e)
}

// SetScalar sets z to x, as SetBig does; to NaN for NaN and infinities.
func (z *Number) SetScalar(x halfulp.Scalar) *Number {
	if x.IsNaN() {
		z.v.setNaN()
		return z
	}
	return z.SetBig(x.Big())
}

// Big returns z exactly, or ErrNaN.
func (z *Number) Big() (*big.Float, error) { return z.b.big(&z.v) }

func (b *Base) big(v *val) (*big.Float, error) {
	if v.isNaN() {
		return nil, ErrNaN
	}
	x := b.CRT(v.x)
	f := new(big.Float).SetPrec(uint(max(x.BitLen(), 64))).SetInt(x)
	if v.neg {
		f.Neg(f)
	}
	return f.SetMantExp(f, int(v.exp)), nil
}

// Scalar returns z rounded to nearest even in format f.
func (z *Number) Scalar(f halfulp.Format) halfulp.Scalar {
	x, err := z.Big()
	if err != nil {
		return halfulp.NaN(f)
	}
	return halfulp.NewScalar(f, x)
}

// Float64 returns the binary64 nearest to z.
func (z *Number) Float64() float64 { return z.Scalar(halfulp.Float64).Float64() }
