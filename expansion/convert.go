package expansion

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
)

// DDOf returns x as a DD.
func DDOf(x float64) DD { return DD{x} }

// DDFromInt64 returns i, exactly.
func DDFromInt64(i int64) DD {
	hi, lo := splitInt64(i)
	return DD{hi, lo}
}

// DDFromBig returns x rounded to nearest.
func DDFromBig(x *big.Float) (z DD) {
	setBig(z[:], x)
	return z
}

// DDFromScalar returns x rounded to nearest.
func DDFromScalar(x halfulp.Scalar) (z DD) {
	setScalar(z[:], x)
	return z
}

// Scalar returns a in the format halfulp.DD, exactly.
func (a DD) Scalar() halfulp.Scalar { return scalarOf(halfulp.DD, a[:]) }

// Canonical returns a in the form in which package halfulp stores numbers. Only words that are half
// an ulp of the word before, and the signs of zeros, can change.
func (a DD) Canonical() DD {
	canonical(a[:])
	return a
}

// Big returns a exactly, with at least 106 bits. It panics with big.ErrNaN if a is
// NaN.
func (a DD) Big() *big.Float { return exactBig(a[:]) }

// Float64 returns the float64 nearest to a, ties to even.
func (a DD) Float64() float64 { return a.Canonical()[0] }

// Int64 returns a rounded towards zero, and whether a is that integer. Numbers
// out of range give the nearest int64, NaN gives 0.
func (a DD) Int64() (i int64, exact bool) { return int64Of(a[:]) }

// TD returns a as a TD, exactly.
func (a DD) TD() TD { return TD{a[0], a[1]} }

// QD returns a as a QD, exactly.
func (a DD) QD() QD { return QD{a[0], a[1]} }

// TDOf returns x as a TD.
func TDOf(x float64) TD { return TD{x} }

// TDFromInt64 returns i, exactly.
func TDFromInt64(i int64) TD {
	hi, lo := splitInt64(i)
	return TD{hi, lo}
}

// TDFromBig returns x rounded to nearest.
func TDFromBig(x *big.Float) (z TD) {
	setBig(z[:], x)
	return z
}

// TDFromScalar returns x rounded to nearest.
func TDFromScalar(x halfulp.Scalar) (z TD) {
	setScalar(z[:], x)
	return z
}

// Scalar returns a in the format halfulp.TD, exactly.
func (a TD) Scalar() halfulp.Scalar { return scalarOf(halfulp.TD, a[:]) }

// Canonical returns a in the form in which package halfulp stores numbers. Only words that are half
// an ulp of the word before, and the signs of zeros, can change.
func (a TD) Canonical() TD {
	canonical(a[:])
	return a
}

// Big returns a exactly, with at least 159 bits. It panics with big.ErrNaN if a is
// NaN.
func (a TD) Big() *big.Float { return exactBig(a[:]) }

// Float64 returns the float64 nearest to a, ties to even.
func (a TD) Float64() float64 { return a.Canonical()[0] }

// Int64 returns a rounded towards zero, and whether a is that integer. Numbers
// out of range give the nearest int64, NaN gives 0.
func (a TD) Int64() (i int64, exact bool) { return int64Of(a[:]) }

// DD returns a rounded to nearest.
func (a TD) DD() (z DD) {
	narrow(z[:], a[:])
	return z
}

// QD returns a as a QD, exactly.
func (a TD) QD() QD { return QD{a[0], a[1], a[2]} }

// QDOf returns x as a QD.
func QDOf(x float64) QD { return QD{x} }

// QDFromInt64 returns i, exactly.
func QDFromInt64(i int64) QD {
	hi, lo := splitInt64(i)
	return QD{hi, lo}
}

// QDFromBig returns x rounded to nearest.
func QDFromBig(x *big.Float) (z QD) {
	setBig(z[:], x)
	return z
}

// QDFromScalar returns x rounded to nearest.
func QDFromScalar(x halfulp.Scalar) (z QD) {
	setScalar(z[:], x)
	return z
}

// Scalar returns a in the format halfulp.QD, exactly.
func (a QD) Scalar() halfulp.Scalar { return scalarOf(halfulp.QD, a[:]) }

// Canonical returns a in the form in which package halfulp stores numbers. Only words that are half
// an ulp of the word before, and the signs of zeros, can change.
func (a QD) Canonical() QD {
	canonical(a[:])
	return a
}

// Big returns a exactly, with at least 212 bits. It panics with big.ErrNaN if a is
// NaN.
func (a QD) Big() *big.Float { return exactBig(a[:]) }

// Float64 returns the float64 nearest to a, ties to even.
func (a QD) Float64() float64 { return a.Canonical()[0] }

// Int64 returns a rounded towards zero, and whether a is that integer. Numbers
// out of range give the nearest int64, NaN gives 0.
func (a QD) Int64() (i int64, exact bool) { return int64Of(a[:]) }

// DD returns a rounded to nearest.
func (a QD) DD() (z DD) {
	narrow(z[:], a[:])
	return z
}

// TD returns a rounded to nearest.
func (a QD) TD() (z TD) {
	narrow(z[:], a[:])
	return z
}

// splitInt64 returns hi = RN(i) and lo = i - hi.
func splitInt64(i int64) (hi, lo float64) {
	hi = float64(i)
	if hi == 0x1p63 {
		return hi, float64(i - math.MaxInt64 - 1)
	}
	return hi, float64(i - int64(hi))
}

func int64Of(x []float64) (i int64, exact bool) {
	if x[0] != x[0] {
		return 0, false
	}
	i, acc := exactBig(x).Int64()
	return i, acc == big.Exact
}

func setScalar(z []float64, x halfulp.Scalar) {
	if x.IsNaN() {
		clear(z)
		z[0] = math.NaN()
		return
	}
	setBig(z, x.Big())
}

func scalarOf(f halfulp.Format, x []float64) halfulp.Scalar {
	if x[0] != x[0] {
		return halfulp.NaN(f)
	}
	return halfulp.NewScalar(f, exactBig(x))
}
