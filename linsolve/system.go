package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// system is a square matrix that systems are solved with, one after the other.
type system struct{ of *solve.Known }

func newSystem(a num.Mat) system { return system{&solve.Known{A: a}} }

// free gives back the copy of the matrix.
func (y *system) free() {
	if y.of != nil {
		y.of.A.Free()
	}
}

// Solve returns the solution X of A X = B for the square matrix A that was decomposed: every entry
// is rounded once to format f, as by package function Solve, with the same errors; it comes from A
// itself, not from its rounded factors. What the first call finds out about A serves all others,
// which take a few products of A with their right-hand sides. X lives where B does. Where A and B
// live on one GPU it is package function Solve that does it. Solve panics if A is not square, or
// shapes do not fit. It may be called by several goroutines.
func (y *system) Solve(b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	a := y.of.A
	if a.Rows != a.Cols || b.Rows() != a.Rows {
		panic(errShape)
	}
	if p := place.Of(a.Arr); p != nil && place.Label(p) == string(b.Place()) {
		return Solve(halfulp.MatrixOf(a), b, f, opt)
	}
	s, on, err := begin("Solve", opt, b.View())
	if err != nil {
		return nil, err
	}
	return made(opt, s, "Solve", b, f, b.Rows(), b.Cols(), func(x num.Mat) error {
		z, err := y.of.Solve(s, on[0], f.View())
		if err != nil {
			return err
		}
		return solve.Finish(s, z, x)
	})
}
