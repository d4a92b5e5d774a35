package product

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/plan"
)

// An expression is alpha A B + beta Old, for numbers alpha and beta of which alpha is not zero.
// Old is not read if beta is zero.
type expression struct {
	alpha, beta num.Real
	old         *mem.Matrix
}

// adds reports whether the old entries take part.
func (x expression) adds() bool { return x.beta.Class != num.Zero }

// oldSample is what the scan samples the results with.
func (x expression) oldSample() abi.OldSample {
	if !x.adds() {
		return abi.OldSample{}
	}
	a, b := coefficientOf(x.alpha), coefficientOf(x.beta)
	p, e := a.leading()
	q, f := b.leading()
	o := x.old
	return abi.OldSample{Old: abi.NumbersOf(o.Arr), Off: int64(o.Off), RS: int64(o.RS), CS: int64(o.CS), Ratio: q / p, Exp: f - e}
}

// foresee sets the sizes of samples that the old entries cancel to those of residuals: the old
// entries are taken for the product rounded to their format.
func (x expression) foresee(samples []abi.Sample) {
	for i := range samples {
		if s := &samples[i]; s.Cancelled != 0 {
			s.Size -= plan.ResultBits(x.old.Arr.Format) + 2
		}
	}
}

// expression puts the coefficients into the device's memory, and sets what the rounding of its
// results takes.
func (m *multiplication) expression() error {
	alpha, beta := coefficientOf(m.expr.alpha), coefficientOf(m.expr.beta)
	words := append(append([]uint32{}, alpha.words...), beta.words...)
	var at cuda.Pointer
	if !alpha.plain || m.expr.adds() {
		p, err := m.alloc(4 * int64(len(words)))
		if err != nil {
			return err
		}
		if err := cuda.Upload(m.s, p.Pointer(), words); err != nil {
			return err
		}
		at = p.Pointer()
	}
	m.native = abi.ExpressionArgs{Alpha: alpha.native(at), Beta: beta.native(at + cuda.Pointer(4*len(alpha.words)))}
	if m.expr.adds() {
		o := m.expr.old
		m.native.Old, m.native.Off, m.native.RS, m.native.CS = abi.NumbersOf(o.Arr), int64(o.Off), int64(o.RS), int64(o.CS)
		m.native.Adds = 1
	}
	later := m.expr.adds() && !m.within // added to the integers
	m.settles = !alpha.plain || later || m.format.Terms() > 1 || m.weights.words > maxFused
	m.below = 0
	if !alpha.plain {
		m.below = len(alpha.words)
	}
	if later {
		// A window as long as the results, for sums that the old entries rule.
		m.below += max(2, int(math.Ceil(plan.ResultBits(m.format)/32))+2-m.weights.words)
	}
	if m.below > maxBelow {
		return errRange
	}
	return nil
}
