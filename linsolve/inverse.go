package linsolve

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// invert returns an approximate inverse of the square matrix a. The error wraps ErrSingular if a is
// singular, which is proved as well.
//
// The method is Rump's multiplicative preconditioning (Inversion of extremely ill-conditioned
// matrices in floating-point, 2009): while R A is far from I, R is replaced by the product of a
// seed of R A and R.
func invert(s *call.Run, a num.Mat) (*seed.Approximate, error) {
	if err := call.Workable(0, a); err != nil {
		return nil, err
	}
	f, err := seed.NewFactors(s, a, scale.Of(a))
	if err != nil {
		return nil, err
	}
	return invertBy(s, a, f)
}

// invertBy is invert with factors of a.
func invertBy(s *call.Run, a num.Mat, f *seed.Factors) (*seed.Approximate, error) {
	p, err := seed.FirstInverse(s, a, f)
	if err != nil || p.Rho != nil {
		return p, err
	}
	return multiply(s, p, a, f)
}

// multiply is invertBy with a seed of a, of which nothing is proved, by factors f: by blocks or, if
// these do not do, by products of seeds.
func multiply(s *call.Run, p *seed.Approximate, a num.Mat, f *seed.Factors) (*seed.Approximate, error) {
	known := !s.Work.Guessed
	s.Work.Guessed = true
	defer func() { s.Work.Guessed = !known }()
	if p, err := invertByBlocks(s, a, f); p != nil || err != nil {
		return p, err
	}
	return seed.MultiplySeeds(s, p, a, known)
}
