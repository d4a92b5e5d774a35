package product

import (
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/residue"
)

// known uses the caller's bounds of both factors instead of a scan, plans with them, and reports
// whether that applies. It applies to results whose tolerated error is so large that no rounding is
// tested. Entries that cannot be stored are then counted in the tally, and the host does not wait.
// It does not apply to a checked product, whose outcome the host needs.
func (m *multiplication) known() (bool, error) {
	b := m.cfg.Bound
	if m.cfg.Check || b == nil || b.Within == 0 || b.A == nil || b.B == nil || m.cfg.Tally == nil || m.a.Arr.Terms() > 1 || m.b.Arr.Terms() > 1 {
		return false, nil
	}
	if !abi.CoefficientOf(m.expr.alpha).Plain {
		return false, nil
	}
	m.left, m.right = operandOf(m.a, leftSide, b.A), operandOf(m.b, rightSide, b.B)
	m.silent = true
	err := m.choose(nil)
	if err == nil {
		err = m.expression()
	}
	switch {
	case errors.Is(err, errRange):
		m.silent = false
	case err != nil:
		return false, err
	default:
		_, _, all := m.errors()
		m.silent = all < 0 && !m.settles
	}
	if !m.silent {
		m.left, m.right, m.within = nil, nil, false
		return false, nil
	}
	if err := m.state(b.A.Top, b.B.Top); err != nil {
		return false, err
	}
	return true, m.mark("plan")
}

// operandOf returns a factor with the totals of its known bounds.
func operandOf(a mem.Matrix, side int, v *residue.Vectors) *operand {
	o := &operand{vectors: abi.RowsOf(a), n: a.Rows, k: a.Cols, side: side, tops: v.Top}
	o.totals = abi.Totals{Norm: v.Norm, Width: v.Width}
	if v.Width == 0 {
		o.totals.Width = math.MaxInt32
	}
	return o
}

// state stores the known exponents of the vectors of both factors where a scan would store its
// results, in one copy. The other results are zero: no error depends on norms, and zeros have no
// sign.
func (m *multiplication) state(left, right []int64) error {
	both, err := m.alloc(8 * int64(len(left)+len(right)))
	if err != nil {
		return err
	}
	for i, o := range []*operand{m.left, m.right} {
		zeros, err := m.e.zeros(m.s, o.n)
		if err != nil {
			return err
		}
		o.scanned = abi.Scanned{Exp: both.At(8 * int64(i*len(left))), Low: zeros, Norm: zeros, Flags: zeros}
	}
	return cuda.Upload(m.s, both.Pointer(), append(slices.Clip(left), right...))
}

// zeros returns the address of n zero numbers of 64 bits.
func (e *engine) zeros(s *cuda.Stream, n int) (cuda.Pointer, error) {
	m, err := e.constant(s, constantsKey{kind: "zeros", steps: 1 << bits.Len(uint(n))}, func() []uint32 { return make([]uint32, 2<<bits.Len(uint(n))) })
	if err != nil {
		return 0, err
	}
	return m.Pointer(), nil
}
