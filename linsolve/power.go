package linsolve

import (
	"fmt"
	"math/big"
	mathbits "math/bits"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
)

// maxBits are the bits of the widest format.
const maxBits = 1 << 20

// Pow stores A^e in X, each entry correctly rounded, for a square matrix A and e ≥ 0; A^0 is the
// unit matrix. X may overlap A.
//
// Powers come from squares and products (Knuth, The Art of Computer Programming 2, section 4.6.3)
// rounded to so many bits that bounds on all errors leave one number for each entry; twice as many
// where they do not, until they suffice for exact powers.
//
// The error wraps ErrNotFinite for infinities and NaN in A, halfulp.ErrMemory if entries need more
// bits than there are formats for. Pow panics for a negative e, or if shapes do not fit.
func Pow(a *halfulp.Matrix, e int, x *halfulp.Matrix, opt *halfulp.Options) (Stats, error) {
	if a.Rows() != a.Cols() || x.Rows() != a.Rows() || x.Cols() != a.Rows() {
		panic(errShape)
	}
	if e < 0 {
		panic("linsolve: negative exponent")
	}
	s, on, err := begin("Pow", opt, a, x)
	if err != nil {
		return Stats{}, err
	}
	if err := finite("A", on[0]); err != nil {
		return s.stats, fmt.Errorf("Pow: %w", err)
	}
	z, err := s.power(on[0], e, x.Format())
	if err != nil {
		return s.stats, fmt.Errorf("Pow: %w", err)
	}
	s.stage("products")
	return s.finish("Pow", z, x)
}

// power returns A^e in format f.
func (s *solver) power(a *halfulp.Matrix, e int, f halfulp.Format) (*halfulp.Matrix, error) {
	n := a.Rows()
	z := halfulp.NewMatrix(f, n, n)
	exact := powerBits(raw.Matrix(a), e)
	for bits := f.Bits() + 64; ; bits *= 2 {
		if bits > exact {
			bits = exact
		}
		if bits > maxBits {
			return nil, fmt.Errorf("%d bits: %w", bits, halfulp.ErrMemory)
		}
		s.stats.Precision = bits
		p, lost, err := s.roundedPower(a, e, bits)
		if err != nil {
			return nil, err
		}
		if bits == exact {
			lost = new(big.Float)
		}
		if s.enclosed(p, lost, z) {
			return z, nil
		}
	}
}

// powerBits returns a number of bits that the entries of A^e and of all powers on the way fit in.
func powerBits(a num.Mat, e int) int {
	top, low, any := int64(0), int64(0), false
	for i := range a.Rows {
		for j := range a.Cols {
			if c, t, l := a.Arr.Span(a.At(i, j)); c == num.Finite {
				if !any {
					top, low, any = t, l, true
				}
				top, low = max(top, t), min(low, l)
			}
		}
	}
	per := float64(top-low) + float64(mathbits.Len(uint(a.Rows)))
	return int(min(float64(per*float64(max(e, 1)))+2, 1<<30)) // beyond all formats
}

// roundedPower returns A^e with products rounded to some bits, and a bound of the errors of its
// entries.
func (s *solver) roundedPower(a *halfulp.Matrix, e, bits int) (*halfulp.Matrix, *big.Float, error) {
	n := a.Rows()
	// norm ≥ ‖p‖, lost ≥ ‖A^k - p‖
	p, norm, lost := halfulp.Identity(halfulp.Float64, n), upper().SetInt64(1), upper()
	of := func(m *halfulp.Matrix) *big.Float {
		unscaled := make([]int64, n)
		return boundsOf(raw.Matrix(m), unscaled, unscaled).norm()
	}
	normA := of(a)
	times := func(q *halfulp.Matrix, normQ, lostQ *big.Float) error {
		product := halfulp.NewMatrix(halfulp.MP(uint(bits)), n, n)
		if err := s.gemm(1, p, q, 0, nil, product); err != nil {
			return err
		}
		// (P + dP)(Q + dQ) - P Q = dP Q + P dQ + dP dQ
		l := upper().Mul(lost, normQ)
		l = upper().Add(l, upper().Mul(norm, lostQ))
		l = upper().Add(l, upper().Mul(lost, lostQ))
		norm = of(product)
		rounding := upper().SetMantExp(norm, 1-bits)
		p, lost = product, upper().Add(l, rounding)
		return nil
	}
	for k := mathbits.Len(uint(e)) - 1; k >= 0; k-- {
		if err := times(p, norm, lost); err != nil {
			return nil, nil, err
		}
		if e>>k&1 != 0 {
			if err := times(a, normA, upper()); err != nil {
				return nil, nil, err
			}
		}
	}
	return p, lost, nil
}

// enclosed stores in z what all numbers within lost of the entries of p round to, and reports
// whether that is one number each.
func (s *solver) enclosed(p *halfulp.Matrix, lost *big.Float, z *halfulp.Matrix) bool {
	f := z.Format()
	for j := range p.Cols() {
		for i := range p.Rows() {
			mid := p.Big(i, j)
			if lost.Sign() == 0 {
				z.SetBig(i, j, mid.Add(mid, new(big.Float))) // no -0
				s.lose(z, i, j, mid, mid)
				continue
			}
			lo, hi := ends(f, mid, lost)
			if !lo.Same(hi) {
				return false
			}
			z.Set(i, j, lo)
			s.lose(z, i, j, new(big.Float).Sub(mid, lost), new(big.Float).Add(mid, lost))
		}
	}
	return true
}
