package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/linsolve/internal/det"
)

// Det returns the determinant of a square matrix A, correctly rounded to format f: +0 for a
// singular A, 1 for n = 0.
//
// The error wraps ErrNotFinite for infinities and NaN. It wraps halfulp.ErrMemory, and names the
// bytes, if the elimination and the blocks need more than Options.MemoryLimit on the host. Det
// panics if A is not square. Stats.Overflow counts a determinant that became infinite,
// Stats.Underflow one that lost bits below the smallest normal number of f.
//
// Method. Det multiplies the pivots of a fixed-point elimination, whose digits AVX2 and AVX-512
// multiply. For large orders, and without these instructions, it multiplies the determinant of a
// diagonal block by the determinant of its Schur complement, block after block in the order of the
// pivots of float64 factors. Either way it uses enough bits that the proved bound of all errors
// does not change the rounding. If A lives on a GPU or on a grid of processes, the determinant is
// computed there, from traces of powers of the small matrix E that remains when float64 factors are
// divided out of A (see the package documentation).
//
// Matrices that are too ill-conditioned for float64 factors are eliminated in more bits on the
// host, in fixed point or by blocks. If that fails to give a proof, the determinant is the product
// of the enclosed pivots of factors. Ties are decided exactly: the determinant of the integers is
// computed modulo primes until the product of the primes exceeds twice Hadamard's bound.
// Ill-conditioned matrices take this way too if it costs less than the eliminations. Larger
// singular matrices are proved singular as in [Rank].
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
