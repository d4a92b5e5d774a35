package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// errFactors is the panic of methods that are called on nil or zero factors.
const errFactors = "linsolve: factors that no routine has returned"

// system is the copy of a factored matrix A, kept to solve systems with A one after the other.
type system struct{ of *solve.Known }

func newSystem(a num.Mat) system { return system{&solve.Known{A: a}} }

// free releases the factors and the copy of the matrix.
func (y *system) free(factors ...*halfulp.Matrix) {
	for _, z := range factors {
		if z == nil {
			panic(errFactors)
		}
		z.Free()
	}
	if y.of != nil {
		y.of.A.Free()
	}
}

// solve implements the method Solve of the factors.
func (y *system) solve(b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if y.of == nil {
		panic(errFactors)
	}
	a := y.of.A
	if a.Rows != a.Cols || b.Rows() != a.Rows {
		panic(errShape)
	}
	if p := place.Of(a.Arr); p != nil && place.Label(p) == string(b.Device()) {
		return Solve(halfulp.MatrixOf(a), b, f, opt)
	}
	s, on, err := begin("Solve", opt, b.View())
	if err != nil {
		return nil, err
	}
	z, err := y.of.Solve(s, on[0], f.View())
	if err == nil {
		z, err = solve.Finish(s, z, b.View())
	}
	return returned(opt, s, "Solve", z, err)
}
