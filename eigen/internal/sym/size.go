package sym

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
)

// A size is an upper bound m 2^e of a magnitude, with 1/2 ≤ m < 1, or 0. Its operations round up.
// Unlike a float64 it has no smallest number, and unlike a big.Float it takes no memory of its own.
type size struct {
	m float64
	e int64
}

// Each operation on two numbers m has a relative error of at most 2^-53; a factor up or down
// exceeds two such errors.
const (
	up   = 1 + 0x1p-51
	down = 1 - 0x1p-51
)

// normal returns m 2^e for a normal m ≥ 0.
func normal(m float64, e int64) size {
	if m == 0 {
		return size{}
	}
	b := math.Float64bits(m)
	return size{math.Float64frombits(b&(1<<52-1) | 1022<<52), e + int64(b>>52) - 1022}
}

// power returns 2^e.
func power(e int64) size { return size{0.5, e + 1} }

func (x size) zero() bool { return x.m == 0 }

func (x size) mul(y size) size {
	if x.m == 0 || y.m == 0 {
		return size{}
	}
	return normal(float64(x.m*y.m)*up, x.e+y.e)
}

// times is mul for a factor f > 0.
func (x size) times(f float64) size { return normal(float64(x.m*f)*up, x.e) }

func (x size) shifted(e int64) size {
	if x.m == 0 {
		return x
	}
	return size{x.m, x.e + e}
}

func (x size) add(y size) size {
	if x.m == 0 {
		return y
	}
	if y.m == 0 {
		return x
	}
	if x.e < y.e {
		x, y = y, x
	}
	d := x.e - y.e
	if d > 60 {
		return normal(float64(x.m*up), x.e) // y < 2^(x.e - 60) ≤ 2^-59 x
	}
	small := float64(y.m * math.Float64frombits(uint64(1023-d)<<52))
	return normal(float64((x.m+small)*up), x.e)
}

// over returns x/y for a lower bound y > 0.
func (x size) over(y size) size {
	if x.m == 0 {
		return x
	}
	return normal(float64(x.m/y.m*up), x.e-y.e)
}

func (x size) sqrt() size {
	if x.m == 0 {
		return x
	}
	m, e := x.m, x.e
	if e&1 != 0 {
		m, e = 2*m, e-1
	}
	return normal(float64(math.Sqrt(m)*up), e/2)
}

func (x size) less(y size) bool {
	if x.m == 0 || y.m == 0 {
		return x.m < y.m
	}
	return x.e < y.e || x.e == y.e && x.m < y.m
}

// above reports whether the bound exceeds 2^e.
func (x size) above(e int64) bool { return x.m != 0 && x.e > e }

func (x size) max(y size) size {
	if x.less(y) {
		return y
	}
	return x
}

// lower returns a lower bound of x - y, for a lower bound x; 0 if it is not positive.
func (x size) lower(y size) size {
	if !y.less(x) {
		return size{}
	}
	if y.m == 0 {
		return x
	}
	d := x.e - y.e // ≥ 0
	if d > 60 {
		return normal(float64(x.m*down), x.e)
	}
	// The difference of numbers below 1 has an absolute error of at most 2^-54 + 2^-54.
	z := float64(x.m-float64(y.m*math.Float64frombits(uint64(1023-d)<<52))) - 0x1p-52
	if z <= 0 {
		return size{}
	}
	return normal(z, x.e)
}

// big returns x itself.
func (x size) big() *big.Float {
	z := new(big.Float).SetMode(big.ToPositiveInf).SetPrec(64).SetFloat64(x.m)
	return z.SetMantExp(z, int(x.e))
}

// sizeOf returns a bound of the magnitude of number at of a, which is at most 2^-45 too large,
// relatively.
func sizeOf(a *num.Array, at int) size {
	x, e := a.Leading(at) // relative error 2^-48
	if x == 0 {
		return size{}
	}
	return normal(float64(math.Abs(x)*(1+0x1p-46)), e)
}

// sizeOfBig returns a bound of |x|, and lowerOfBig a lower bound.
func sizeOfBig(x *big.Float) size  { return bigTimes(x, up) }
func lowerOfBig(x *big.Float) size { return bigTimes(x, down) }

func bigTimes(x *big.Float, f float64) size {
	if x.Sign() == 0 {
		return size{}
	}
	m := new(big.Float)
	e := x.MantExp(m)
	v, _ := m.Float64() // to nearest
	return normal(float64(math.Abs(v)*f), int64(e))
}
