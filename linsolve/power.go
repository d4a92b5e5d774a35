package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/linsolve/internal/function"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Pow returns A^e, each entry rounded once to format f, for a square matrix A and e ≥ 0; A^0 is the
// unit matrix. It lives where A does.
//
// Powers come from squares and products (Knuth, The Art of Computer Programming 2, section 4.6.3)
// rounded to some bits. Every entry has an error bound of its own, so that small entries of
// matrices of one sign are as accurate as large ones. The bits double until the bounds leave one
// number for each entry. An entry without a walk of e edges in the graph of the nonzeros of A is
// +0. An entry that seems to be 0 or halfway between two numbers of the format is proved to be so
// modulo primes whose product exceeds its numerator; or, where that takes fewer primes, as a term
// of a linear recurrence: if n entries (i, j) of A^k in a row are 0, for k in steps of m, so are
// all that follow.
//
// The error wraps ErrNotFinite for infinities and NaN in A. It wraps halfulp.ErrMemory if an entry
// lies so close to the middle between two numbers that no format has the bits to tell. It wraps
// ErrRange if entries of A differ by more than 2^(2^29), or if a result leaves the exponents of
// format MP. Pow panics for a negative e, or if shapes do not fit.
func Pow(a *halfulp.Matrix, e int, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	if e < 0 {
		panic("linsolve: negative exponent")
	}
	s, on, err := begin("Pow", opt, a.View())
	if err != nil {
		return nil, err
	}
	z, err := func() (num.Mat, error) {
		if err := call.Finite("A", on[0]); err != nil {
			return num.Mat{}, err
		}
		z, err := function.Power(s, on[0], e, f.View())
		if err != nil {
			return num.Mat{}, err
		}
		s.Stage("products")
		return solve.Finish(s, z, a.View())
	}()
	return returned(opt, s, "Pow", z, err)
}
