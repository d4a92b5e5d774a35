package product

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/plan"
)

// An expression is alpha A B + beta Old, with alpha not zero. Old is not read if beta is zero.
type expression struct {
	alpha, beta num.Real
	old         *mem.Matrix
}

// adds reports whether old entries are added.
func (x expression) adds() bool { return x.beta.Class != num.Zero }

// oldSample returns the old entries with which the scan compares its samples.
func (x expression) oldSample() abi.OldSample {
	if !x.adds() {
		return abi.OldSample{}
	}
	a, b := abi.CoefficientOf(x.alpha), abi.CoefficientOf(x.beta)
	p, e := a.Leading()
	q, f := b.Leading()
	o := x.old
	return abi.OldSample{Old: abi.NumbersOf(o.Arr), Off: int64(o.Off), RS: int64(o.RS), CS: int64(o.CS), Ratio: q / p, Exp: f - e}
}

// foresee reduces the sizes of samples that the old entries cancel to sizes of residuals, assuming
// that the old entries are the product rounded to their format.
func (x expression) foresee(samples []abi.Sample) {
	for i := range samples {
		if s := &samples[i]; s.Cancelled != 0 {
			s.Size -= plan.ResultBits(x.old.Arr.Format) + 2
		}
	}
}

// expression copies the coefficients to device memory, and determines how the results are rounded.
func (m *multiplication) expression() error {
	alpha, beta := abi.CoefficientOf(m.expr.alpha), abi.CoefficientOf(m.expr.beta)
	words := append(append([]uint32{}, alpha.Words...), beta.Words...)
	var at cuda.Pointer
	switch {
	case alpha.Plain && !m.expr.adds():
	case alpha.Plain && beta.Plain: // words are 1 and 1
		p, err := m.e.constant(m.s, constantsKey{kind: "ones"}, func() []uint32 { return words })
		if err != nil {
			return err
		}
		at = p.Pointer()
	default:
		p, err := m.alloc(4 * int64(len(words)))
		if err != nil {
			return err
		}
		if err := cuda.Upload(m.s, p.Pointer(), words); err != nil {
			return err
		}
		at = p.Pointer()
	}
	m.native = abi.ExpressionArgs{Alpha: alpha.Native(at), Beta: beta.Native(at + cuda.Pointer(4*len(alpha.Words)))}
	if m.expr.adds() {
		o := m.expr.old
		m.native.Old, m.native.Off, m.native.RS, m.native.CS = abi.NumbersOf(o.Arr), int64(o.Off), int64(o.RS), int64(o.CS)
		m.native.Adds = 1
	}
	later := m.expr.adds() && !m.within // added to the integers, not to the residues
	m.settles = !alpha.Plain || later || m.format.Terms() > 1 || m.weights.words > maxFused
	m.below = 0
	if !alpha.Plain {
		m.below = len(alpha.Words)
	}
	if later {
		// A window as long as the results, for sums that are small against the old entries.
		m.below += max(2, int(math.Ceil(plan.ResultBits(m.format)/32))+2-m.weights.words)
	}
	if m.below > maxBelow {
		return errRange
	}
	return nil
}
