package roots

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
)

// dyadic is the number m 2^e.
type dyadic struct {
	m *big.Int
	e int64
}

// real returns the number as it is rounded to a format.
func (x dyadic) real() num.Real {
	if x.m.Sign() == 0 {
		return num.Real{}
	}
	return num.Real{Class: num.Finite, Neg: x.m.Sign() < 0, Exp: x.e, Mag: num.FromInt(nil, x.m)}
}

// dyadicOf returns a finite number of big.Float.
func dyadicOf(x *big.Float) dyadic {
	if x.Sign() == 0 {
		return dyadic{new(big.Int), 0}
	}
	r := num.RealOf(x)
	m := num.ToInt(r.Mag)
	if r.Neg {
		m.Neg(m)
	}
	return dyadic{m, r.Exp}
}

// A rounder rounds enclosed numbers to a format.
type rounder struct {
	two *num.Array // the rounded ends
}

func newRounder(f num.Format) rounder { return rounder{num.New(f, 2)} }

// rounded is a number rounded to a format.
type rounded struct {
	value num.Scalar
	flags num.Flags
	exact bool // exact arithmetic decided
	open  bool // undecided
}

// decide rounds the number that lies between lo and hi, ends included. It is not ok if they round
// to different numbers.
func (r rounder) decide(lo, hi dyadic) (z rounded, ok bool) {
	flags := r.two.Set(0, lo.real()) | r.two.Set(1, hi.real())
	if !r.two.SameBits(0, r.two, 1) {
		return z, false
	}
	return rounded{value: r.two.Scalar(0), flags: flags}, true
}

// exactly rounds x.
func (r rounder) exactly(x dyadic) rounded {
	flags := r.two.Set(0, x.real())
	return rounded{value: r.two.Scalar(0), flags: flags, exact: true}
}
