package refine

import (
	"math"
	mathbits "math/bits"

	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// WideInverse is an approximate inverse R of F of any width, in fixed point. With I - R F bounded
// by rho,
//
//	|F^-1 r| ≤ |R r| + rho / (1 - rho) ‖R r‖∞.
//
// R r loses some log2 ‖R‖ bits to cancellation: R and r are multiplied with so many more bits.
type WideInverse struct {
	s    *call.Run
	p    *seed.Approximate
	f    *fixed.Matrix // 2^-bits R
	bits int           // ‖R‖∞ < 2^bits
	rho  float64
}

// NewWideInverse returns R as an Inverse.
func NewWideInverse(s *call.Run, p *seed.Approximate) (*WideInverse, error) {
	w := &WideInverse{s: s, p: p, bits: p.Abs.Norm().MantExp(nil)}
	rho, _ := p.Rho.Float64()
	w.rho = float64(rho * (1 + 0x1p-50))
	by := scale.Scaling{Rows: make([]int64, len(p.Weights)), Cols: bound.Negated(p.Scale)}
	for i, e := range p.Weights {
		by.Rows[i] = -e - int64(w.bits)
	}
	var err error
	w.f, err = fixed.New(&s.Call, p.R, by, w.planes(0))
	return w, err
}

// spare is the number of bits of a product R r beyond the bits that cancellation may take.
const spare = 64

// planes returns how many planes of R are multiplied by piece m of r. The truncation of R, less
// than 2^(2-64w) an entry, times n numbers up to 2^(-61 m), is less than 2^-(bits + spare).
func (w *WideInverse) planes(m int) int {
	return max(1, (w.bits+spare+mathbits.Len(uint(len(w.p.Scale)))+2-fixed.PieceBits*m+63)/64)
}

// pieces returns how many pieces of r are multiplied: n times the remainder is less than 2^-(bits +
// spare).
func (w *WideInverse) pieces() int {
	return (w.bits + spare + mathbits.Len(uint(len(w.p.Scale))) + fixed.PieceBits - 1) / fixed.PieceBits
}

// Scales implements seed.Inverse.
func (w *WideInverse) Scales() scale.Scaling {
	return scale.Scaling{Rows: w.p.Scale, Cols: w.p.Weights}
}

// MoreBits implements seed.Inverse.
func (w *WideInverse) MoreBits() int { return w.bits }

// Leading implements seed.Inverse.
func (w *WideInverse) Leading() bool { return false }

// Words implements seed.Inverse.
func (w *WideInverse) Words() float64 {
	words := 0
	for m := range w.pieces() {
		words += w.planes(m)
	}
	return float64(words)
}

// Matrix implements seed.Inverse.
func (w *WideInverse) Matrix() *fixed.Matrix { return nil }

// Correct implements seed.Inverse.
func (w *WideInverse) Correct(r *seed.Residual) ([][]float64, error) {
	n, pieces := len(r.Lead), w.pieces()
	top := r.Exp - r.Unit
	if r.X == nil {
		pieces = 1
	}
	v := make([]*fixed.Vector, pieces)
	c := make([]int64, n)
	for m := range v {
		for i := range n {
			if r.X == nil {
				c[i] = int64(r.Lead[i] * 0x1p61)
			} else {
				c[i] = fixed.Piece(r.X[i], top, m)
			}
		}
		v[m] = fixed.NewVector(c)
	}
	// The product is below 2^bits in magnitude.
	sums, unit, err := w.f.Times(&w.s.Call, v, w.planes)
	if err != nil {
		return nil, err
	}
	z := make([]float64, n)
	for i, sum := range sums {
		top := fixed.BitLen(sum)
		z[i] = -math.Ldexp(fixed.Leading(sum, top), top-unit+w.bits)
	}
	return [][]float64{z}, nil
}

// Radius implements seed.Inverse. It takes c to be in error by less than 2^-spare for the
// truncation of each piece and for the remainder of r, by a unit of each sum, and by 2^-51 of
// itself.
func (w *WideInverse) Radius(r *seed.Residual, c []float64) []float64 {
	lost := math.Ldexp(float64(2*w.pieces()+2), -spare) + float64(1.001*math.Ldexp(r.Err, w.bits))
	most := 0.0
	z := make([]float64, len(c))
	for i, v := range c {
		z[i] = float64(math.Abs(v)*(1+0x1p-50)) + lost
		most = max(most, z[i])
	}
	more := float64(most*w.rho/(1-w.rho)) + lost
	for i := range z {
		z[i] = float64((z[i] + more) * (1 + 0x1p-40))
	}
	return z
}
