package linsolve

import (
	"errors"
	"slices"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// luByDigits returns factors of a square matrix by elimination in digits, with errors of about
// 2^-bits of the largest entries of rows of L and columns of U; nil where that is not the way. It
// is known whether a is regular if known says so.
func luByDigits(s *call.Run, a num.Mat, bits int, known *bool) (*digits.LU, error) {
	m, n := a.Dims()
	if m != n || n*3 > digits.FactorDigits*lanes.Count() {
		return nil, nil
	}
	// Rows are not scaled: that might change pivots.
	by, tops := scale.Unscaled(n, n), scale.TopsOf(a)
	for j := range n {
		high := slices.Max(tops.Top[j*n : (j+1)*n])
		if high == scale.None {
			return nil, nil
		}
		by.Cols[j] = -high
	}
	f, err := seed.NewFactors(s, a, by)
	if err != nil {
		return nil, err
	}
	cond, err := seed.Loss(s, f)
	if err != nil {
		return nil, err
	}
	if cond > seed.LossyBits {
		cond = f.ConditionBits()
	}
	wanted := bits + digits.LUSpare(n)
	for {
		d, ok := digits.CountFor(s, n, cond+wanted, digits.RootDigits)
		if !ok || n*d > digits.FactorDigits*lanes.Count() {
			return nil, nil
		}
		s.Plan(digits.Cost(n, d) + call.WantedCost(s, n, n)) // may fuse: an estimate
		t, more, err := digits.Eliminate(s, a, f, d, 0)
		switch {
		case err == nil:
			if more = t.LUBits() - bits; more >= 0 {
				s.Stats.Rho, s.Stats.Precision = t.Rho, d*t.Bits()
				return t.Factors()
			}
			more = -more
		case errors.Is(err, call.ErrRange):
			return nil, nil
		default:
			if err := seed.AskForMore(s, err, a, known); err != nil {
				return nil, err
			}
		}
		cond += max(more, cond/4)
	}
}
