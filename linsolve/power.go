package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/linsolve/internal/function"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Pow returns A^e, each entry rounded once to format f, for a square matrix A and e ≥ 0. A^0 is the
// identity matrix. The result lives where A does.
//
// The error wraps ErrNotFinite for infinities and NaN in A. It wraps halfulp.ErrMemory if an entry
// lies so close to the midpoint of two numbers that no format has enough bits to decide. It wraps
// ErrRange if entries of A differ by more than 2^(2^29), or if a result leaves the exponents of
// format MP. Pow panics for a negative e, or if A is not square.
//
// Method. Powers are computed by squaring and multiplying (Knuth, The Art of Computer Programming
// 2, section 4.6.3), with products rounded to some number of bits. Every entry has its own error
// bound, so that in matrices whose entries all have one sign small entries are as accurate as large
// ones. The bits double until the bounds leave one number for each entry. An entry is +0 if the
// graph of the nonzeros of A has no walk of e edges from its row to its column.
//
// An entry that seems to be zero, or halfway between two numbers of the format, is proved to be so
// modulo primes whose product exceeds its numerator. If it takes fewer primes, the entry is proved
// zero as a term of a linear recurrence: if n consecutive entries (i, j) of A^k are zero, for k in
// steps of m, all later ones are zero too.
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
