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

// Solve stores in X the solution of A X = B for the square matrix A that was decomposed: every
// entry is correctly rounded, as those of package function Solve, with the same errors; it comes
// from A itself, not from its rounded factors. What the first call finds out about A serves all
// others, which take a few products of A with their right-hand sides. Where A, B and X live on one
// GPU it is package function Solve that does it. Solve panics if A is not square, or shapes do not
// fit. It may be called by several goroutines.
func (y *system) Solve(b, x *halfulp.Matrix, opt *halfulp.Options) error {
	a := y.of.A
	if a.Rows != a.Cols || b.Rows() != a.Rows || x.Rows() != b.Rows() || x.Cols() != b.Cols() {
		panic(errShape)
	}
	if p := place.Of(a.Arr); p != nil && place.Label(p) == string(b.Place()) {
		return Solve(halfulp.MatrixOf(a), b, x, opt)
	}
	s, on, err := begin("Solve", opt, b.View(), x.View())
	if err != nil {
		return err
	}
	z, err := y.of.Solve(s, on[0], x.Format().View())
	if err == nil {
		err = solve.Finish(s, z, x.View())
	}
	return ended(opt, s, "Solve", err)
}
