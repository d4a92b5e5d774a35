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

// Long returns the determinant of a regular A with float64 factors f, known up to a factor e^±log
// with a log of about 2^-places. It uses an elimination, in fixed point or by blocks, in as few
// bits as suffice. It returns nil if no elimination suffices.
//
// Let G be the matrix whose exact factors the elimination computes, and K = (F - G) G^-1 with
// ‖K‖∞ ≤ rho. Then
//
//	det F = det G det(I + K),  |log det(I + K)| = |Σ tr((-K)^i) / i| ≤ n rho / (1 - rho).
//
// Long also returns nil once the next attempt and the attempts before it would together cost more
// than other().
func Long(s *call.Run, a num.Mat, f *seed.Factors, places int, other func() float64) (det *seed.Determinant, err error) {
	n := f.N
	known := false // that a is regular
	defer func() { s.Work.Guessed = false }()
	s.Work.Guessed = true // whether the first bits suffice
	all := 0.0            // the cost of the attempts; the first one is always made
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

// longCost estimates the cost of one attempt of Long.
func longCost(s *call.Run, n, some int) float64 {
	if d, ok := digits.CountFor(s, n, some+digits.DetSpare(n), digits.MostDigits); ok {
		return digits.Cost(n, d)
	}
	return blocks.EliminationCost(n, some+blocks.Spare, max(n/4, 32))
}
