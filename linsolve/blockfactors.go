package linsolve

import (
	"errors"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// invertBlocks returns an inverse by elimination, in fixed point or by blocks, with its rho and a
// bound of its norm; nil if none is proved. The factors are those of a, and solutions are wanted to
// so many bits.
func invertBlocks(s *call.Run, a num.Mat, f *seed.Factors, wanted int) (r seed.Inverse, rho, norm float64, err error) {
	known := false // that a is regular
	for bits := f.ConditionBits(); bits+blocks.Spare <= seed.MostBlockBits; {
		var more int
		f.Condition = bits
		d, fixed := digits.CountFor(s, f.N, bits+digits.Spare, digits.MostDigits)
		if fixed {
			var t *digits.Elimination
			s.Plan(digits.Cost(f.N, d))
			if t, more, err = digits.Eliminate(s, a, f, d, wanted); err == nil {
				if _, again := digits.CountFor(s, f.N, t.Top+digits.Spare, digits.MostDigits); t.Rho > blocks.SlowRho && t.Top > bits && again {
					bits = t.Top
					continue
				}
				return t, t.Rho, call.LargestOf(t.H), nil
			}
		}
		if !fixed || errors.Is(err, call.ErrRange) { // blocks are scaled anew
			var b *blocks.Elimination
			blocks.PlanBlocks(s, f.N, bits+blocks.Spare)
			if b, more, err = blocks.Eliminate(s, a, f, bits+blocks.Spare, max(f.N/4, 32)); err == nil {
				return b, b.Rho, call.LargestOf(b.H), nil
			}
		}
		if errors.Is(err, call.ErrRange) {
			return nil, 0, 0, nil
		}
		if err := seed.AskForMore(s, err, a, &known); err != nil {
			return nil, 0, 0, err
		}
		bits += max(more, (bits+blocks.Spare)/4)
	}
	return nil, 0, 0, nil
}
