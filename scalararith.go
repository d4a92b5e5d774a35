package halfulp

import (
	"math"
	"sync"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// sums keeps the accumulators of single operations.
var sums = sync.Pool{New: func() any { return new(superacc.Acc) }}

// sum returns the exact sum that add accumulates, rounded to f.
func (f Format) sum(add func(a *superacc.Acc)) Scalar {
	a := sums.Get().(*superacc.Acc)
	a.Reset()
	add(a)
	z := f.round(a.Value(f.View()))
	sums.Put(a)
	return z
}

// round returns v rounded to f. v is exact, or has enough bits for the rounding to f.
func (f Format) round(v num.Real) Scalar {
	z := num.New(f.View(), 1)
	z.Set(0, v)
	return Scalar{num.ScalarOf(z)}
}

// plain returns x and y as binary64 numbers if machine operations on them give the result in format
// f: IEEE 754 rounds those once, to nearest even, for Float64. They take a third to a half of the
// time of the general way.
func (f Format) plain(x, y Scalar) (u, v float64, ok bool) {
	a, b := x.array(), y.array()
	if f != Float64 || a.Terms() > 1 || b.Terms() > 1 || a.Kind == num.MP || b.Kind == num.MP {
		return 0, 0, false
	}
	return x.Float64(), y.Float64(), true
}

// float returns z as a Float64 scalar; every NaN becomes the one NaN of Float64.
func float(z float64) Scalar {
	if z != z {
		return NaN(Float64)
	}
	return Float(z)
}

// Add returns RN(x + y), the sum of numbers of any formats rounded once to format f. For all
// operations see Scalars and Special values in the package documentation.
func (f Format) Add(x, y Scalar) Scalar {
	if u, v, ok := f.plain(x, y); ok {
		return float(u + v)
	}
	return f.sum(func(a *superacc.Acc) {
		a.Add(x.value())
		a.Add(y.value())
	})
}

// Sub returns RN(x - y) in format f.
func (f Format) Sub(x, y Scalar) Scalar { return f.Add(x, y.Neg()) }

// Mul returns RN(x y) in format f.
func (f Format) Mul(x, y Scalar) Scalar {
	if u, v, ok := f.plain(x, y); ok {
		return float(float64(u * v))
	}
	return f.sum(func(a *superacc.Acc) { a.AddProduct(x.value(), y.value()) })
}

// FMA returns RN(x y + z) in format f.
func (f Format) FMA(x, y, z Scalar) Scalar {
	return f.sum(func(a *superacc.Acc) {
		a.AddProduct(x.value(), y.value())
		a.Add(z.value())
	})
}

// Quo returns RN(x / y) in format f. x / 0 is an infinity with the sign of the quotient, 0 / 0 and
// ∞ / ∞ are NaN.
func (f Format) Quo(x, y Scalar) Scalar {
	if u, v, ok := f.plain(x, y); ok {
		return float(u / v)
	}
	return f.round(superacc.Divide(f.View(), x.value(), y.value()))
}

// Sqrt returns RN(√x) in format f. √-0 is -0; the root of a number less than 0 is NaN.
func (f Format) Sqrt(x Scalar) Scalar {
	if u, _, ok := f.plain(x, x); ok {
		return float(math.Sqrt(u))
	}
	return f.round(direct.Sqrt(f.View(), x.value()))
}

// Neg returns -s in the format of s, exactly. NaN stays as it is.
func (s Scalar) Neg() Scalar { return s.withSign(!s.Signbit()) }

// Abs returns |s| in the format of s, exactly.
func (s Scalar) Abs() Scalar { return s.withSign(false) }

// withSign returns s with the given sign. NaN stays as it is.
func (s Scalar) withSign(neg bool) Scalar {
	a := s.array()
	if s.Signbit() == neg || s.IsNaN() {
		return s
	}
	z := num.New(a.Format, 1)
	z.CopyFrom(0, a, 0)
	z.Negate(0)
	return Scalar{num.ScalarOf(z)}
}

// Cmp returns -1, 0 or +1 if s < t, s = t or s > t. It compares exactly, whatever the formats. As
// in [cmp.Compare], NaN equals NaN and is less than all other numbers, and -0 equals +0.
func (s Scalar) Cmp(t Scalar) int { return direct.Compare(s.value(), t.value()) }

// Sign returns -1, 0 or +1 if s < 0, s = 0 or s > 0, and 0 for NaN.
func (s Scalar) Sign() int {
	switch v := s.value(); {
	case v.Class == num.Zero, v.Class == num.NaN:
		return 0
	case v.Neg:
		return -1
	}
	return 1
}

// Signbit reports whether s is negative or -0.
func (s Scalar) Signbit() bool { return s.value().Neg }
