package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/linsolve/internal/det"
)

// Det returns the determinant of a square matrix A, correctly rounded to format f; +0 for a
// singular one, and 1 for n = 0.
//
// The determinant is that of an elimination in fixed point, of digits that AVX2 and AVX-512
// multiply, or for large orders and without these that of a block times that of its Schur
// complement, block after block in the order of float64 factors' pivots: in so many bits that a
// proved bound of all errors changes nothing. Where A lives on a GPU or on a grid of processes it
// is made there, of traces of powers of what float64 factors leave of A. Matrices that are too
// ill-conditioned for float64 factors are eliminated in more bits, in fixed point or by blocks, on
// the host; where that is not proved, the determinant is the product of enclosed pivots of factors.
// Ties have the determinant of their integers computed modulo primes, until their product exceeds
// twice Hadamard's bound, and so have ill-conditioned matrices where that takes less than the
// eliminations; larger ones that are singular are proved to be so as Rank proves it.
//
// The error wraps ErrNotFinite for infinities and NaN. It wraps halfulp.ErrMemory, and names the
// bytes, if the elimination and the blocks take more than Options.MemoryLimit on the host. Det
// panics if A is not square.
// Stats.Overflow counts a determinant that became infinite, Stats.Underflow one that lost bits
// below the smallest normal number of f.
func Det(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	s, err := start("Det", opt, a.View())
	if err != nil {
		return halfulp.Scalar{}, err
	}
	defer s.Release()
	var d num.Scalar
	err = s.There(a.View(), det.Least(s), func(a num.Mat) (done bool, err error) {
		d, done, err = det.Det(s, a, f.View())
		return done, err
	})
	if err != nil {
		return halfulp.Scalar{}, ended(opt, s, "Det", err)
	}
	s.Stage("determinant")
	s.Finished()
	return halfulp.ScalarOf(d), ended(opt, s, "", nil)
}
