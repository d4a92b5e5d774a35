package det

import (
	"errors"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// Long returns the determinant of a regular A with factors f, with a log of about
// 2^-places, by an elimination in as few bits as do, in fixed point or by blocks; nil if none does.
//
// With G that elimination's factors are those of, and K = (F - G) G^-1, ‖K‖∞ ≤ rho,
//
//	det F = det G det(I + K),  |log det(I + K)| = |Σ tr((-K)^i) / i| ≤ n rho / (1 - rho).
//
// It ends without one once the next attempt, with those before, would cost more than another way.
func Long(s *call.Run, a num.Mat, f *seed.Factors, places int, other func() float64) (det *seed.Determinant, err error) {
	n := f.N
	known := false // that a is regular
	defer func() { s.Work.Guessed = false }()
	s.Work.Guessed = true // whether the first bits do
	all := 0.0            // what attempts cost; the first one is made in any case
	loop := ziv.Loop{What: "an elimination", First: f.ConditionBits() + places, Most: seed.MostBlockBits + places - blocks.Spare}
	err = ziv.Decide(s, loop, func(some int) (more int, err error) {
		before := all
		if all += longCost(s, n, some); before > 0 && all > other() {
			return ziv.Done, nil
		}
		made, more, err := digits.Determinant(s, a, f, some, places)
		if errors.Is(err, call.ErrRange) { // blocks are scaled anew
			made, more, err = blocks.LongDeterminant(s, a, f, some+blocks.Spare, places)
		}
		s.Work.Guessed = errors.Is(err, seed.ErrNoise)
		switch {
		case errors.Is(err, call.ErrRange):
			return ziv.Done, nil
		case err == nil && more <= 0:
			det = made
			return ziv.Done, nil
		case err == nil:
			return more + 8, nil
		}
		return max(more, (some+blocks.Spare)/4), seed.AskForMore(s, err, a, &known)
	})
	return det, err
}

// longCost is the cost of an attempt of Long.
func longCost(s *call.Run, n, some int) float64 {
	if d, ok := digits.CountFor(s, n, some+digits.DetSpare(n), digits.MostDigits); ok {
		return digits.Cost(n, d)
	}
	return blocks.EliminationCost(n, some+blocks.Spare, max(n/4, 32))
}
