package linsolve

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
)

// wideInverse is an approximate inverse of more than 53 bits, or a matrix of 53: with E = I - R F and the
// rounded product c of R and r,
//
//	|F^-1 r| ≤ |R r| + rho / (1 - rho) ‖R r‖∞,  |R r| ≤ |c| (1 + 2^-46) + |R| |r - what R multiplied|.
type wideInverse struct {
	s    *solver
	p    *approximate
	cond int // the condition number is below 2^cond
}

func (w *wideInverse) scales() scaling { return scaling{w.p.scale, w.p.weights} }

func (w *wideInverse) size() int { return w.p.abs.norm().MantExp(nil) }

// correct rounds r to 64 + cond bits, since R r loses cond of them to cancellation.
func (w *wideInverse) correct(r *residual) ([]float64, error) {
	n := len(r.lead)
	x, c := halfulp.NewMatrix(halfulp.MP(uint(64+w.cond)), n, 1), halfulp.NewMatrix(halfulp.MP(seedBits), n, 1)
	m := raw.Matrix(x)
	var buf [1]uint64
	for i, by := range w.p.scale {
		v := num.Real{Class: num.Finite}
		if r.x == nil {
			mantissa, e := num.Decompose(math.Abs(r.lead[i]))
			buf[0] = mantissa
			v.Neg, v.Mag, v.Exp = r.lead[i] < 0, buf[:], e-by
		} else {
			v.Mag = append([]uint64(nil), r.x[i]...)
			if v.Neg = int64(v.Mag[len(v.Mag)-1]) < 0; v.Neg {
				num.Negate(v.Mag)
			}
			v.Exp = int64(r.unit) - by
		}
		if !num.IsZero(v.Mag) {
			m.Arr.Set(m.At(i, 0), v)
		}
	}
	if err := w.s.gemm(1, w.p.r, x, 0, nil, c); err != nil {
		return nil, err
	}
	z := make([]float64, n)
	product := raw.Matrix(c)
	for i, by := range w.p.weights {
		v, e := product.Arr.Leading(product.At(i, 0))
		z[i] = ldexp(v, e-by-int64(r.exp))
	}
	return z, nil
}

func (w *wideInverse) radius(r *residual, c []float64) []float64 {
	lost := make([]*big.Float, len(c)) // of r, in units of 2^r.exp
	for i, v := range r.lead {
		lost[i] = upper().SetFloat64(math.Abs(v) + r.slop)
		lost[i].SetMantExp(lost[i], -(63 + w.cond))
		lost[i].Add(lost[i], upper().SetFloat64(r.err))
	}
	z := w.p.abs.apply(lost)
	for i, v := range c {
		z[i] = upper().Add(z[i], upper().SetFloat64(float64(math.Abs(v)*(1+0x1p-45))+0x1p-999))
	}
	// rho / (1 - rho), rounded up
	more := upper().Quo(w.p.rho, new(big.Float).SetPrec(64).SetMode(big.ToNegativeInf).Sub(big.NewFloat(1), w.p.rho))
	most := upper().Mul(largest(z), more)
	radius := make([]float64, len(c))
	for i, v := range z {
		f, _ := upper().Add(v, most).Float64() // to nearest
		radius[i] = float64(f*(1+0x1p-50)) + 0x1p-1000
	}
	return radius
}
