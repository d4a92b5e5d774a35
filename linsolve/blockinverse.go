package linsolve

import (
	"errors"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
)

// invertByBlocks returns an approximate inverse of A with factors f by block elimination in as few
// bits as do; nil if there is none. Nothing is known of the elimination's error: I - R A tells.
func invertByBlocks(s *call.Run, a num.Mat, f *seed.Factors) (*seed.Approximate, error) {
	if f.N < seed.Fewest {
		return nil, nil
	}
	known := false // that a is regular
	step := 0      // what bits were last added, for want of a proof
	for bits := blocks.Spare + f.ConditionBits(); bits <= seed.MostBlockBits; {
		blocks.PlanBlocks(s, f.N, bits)
		p, more, err := blocks.ApproximateInverse(s, a, f, bits)
		switch {
		case err == nil:
			return p, nil
		case errors.Is(err, call.ErrRange):
			return nil, nil
		}
		if err := seed.AskForMore(s, err, a, &known); err != nil {
			return nil, err
		}
		if errors.Is(err, seed.ErrProof) {
			// Of an inverse that is not even near I - R A does not tell what is missing.
			step = max(more, 2*step)
			bits += step
		} else {
			bits += max(more, bits/4)
		}
	}
	return nil, nil
}
