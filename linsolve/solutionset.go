package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Enclose returns bounds L ≤ X ≤ U of the solution of A X = B, A square and regular, after a number
// of steps of refinement: it does not go on until results are correctly rounded, as Solve does.
// Bounds are proved, and rounded outwards to format f. A step gains 8 to 45 bits, up to those of
// the format. Float64 arithmetic is behind it, which rounds differently on other instruction sets:
// so do the bounds, all proved.
//
// Errors are those of Solve. Enclose panics if shapes do not fit, or for a negative number of
// steps.
func Enclose(a, b *halfulp.Matrix, steps int, f halfulp.Format, opt *halfulp.Options) (lower, upper *halfulp.Matrix, err error) {
	return enclosed("Enclose", &solve.IntervalSystem{A: a.View(), B: b.View()}, steps, f, opt)
}

// EncloseSet returns bounds of the solution set of an interval system: L ≤ X ≤ U for the solutions
// of all A' X = B' with |A' - A| ≤ DA and |B' - B| ≤ DB, entry by entry. DA and DB have the shapes
// of A and B; nil stands for zeros, and signs of their entries do not matter. In a weighted
// maximum norm, and with an approximate inverse R of A,
//
//	rho = ‖I - R A‖ + ‖|R| DA‖ < 1
//
// proves all these A' to be regular, and with r = |B - A x'| + DB + DA |x'| every such x has
//
//	|x - x'| ≤ |R| r + rho/(1 - rho) ‖|R| r‖
//
// (Rump, Verification methods, Acta Numerica 2010, section 10). Bounds contain the set; they are
// not the narrowest that do, nor the same for all instruction sets.
//
// Errors are those of Solve; the error wraps ErrWide if rho < 1 does not hold. EncloseSet panics if
// shapes do not fit, or for a negative number of steps.
func EncloseSet(a, da, b, db *halfulp.Matrix, steps int, f halfulp.Format, opt *halfulp.Options) (lower, upper *halfulp.Matrix, err error) {
	return enclosed("EncloseSet", &solve.IntervalSystem{A: a.View(), DA: radius(da), B: b.View(), DB: radius(db)}, steps, f, opt)
}

// radius returns the storage of a matrix of radii, none for nil.
func radius(d *halfulp.Matrix) num.Mat {
	if d == nil {
		return num.Mat{}
	}
	return d.View()
}

// enclosed encloses the solutions of a system.
func enclosed(name string, t *solve.IntervalSystem, steps int, f halfulp.Format, opt *halfulp.Options) (lower, upper *halfulp.Matrix, err error) {
	like := func(m, n num.Mat) bool { return m.Arr == nil || m.Rows == n.Rows && m.Cols == n.Cols }
	if t.A.Rows != t.A.Cols || t.B.Rows != t.A.Rows || !like(t.DA, t.A) || !like(t.DB, t.B) {
		panic(errShape)
	}
	if steps < 0 {
		panic("linsolve: negative number of steps")
	}
	operands := []num.Mat{t.A, t.B}
	for _, m := range []num.Mat{t.DA, t.DB} {
		if m.Arr != nil {
			operands = append(operands, m)
		}
	}
	s, err := start(name, opt, operands...)
	if err != nil {
		return nil, nil, err
	}
	l, u, err := solve.Enclose(s, t, f.View(), steps)
	if err := ended(opt, s, name, err); err != nil {
		return nil, nil, err
	}
	return halfulp.MatrixOf(l), halfulp.MatrixOf(u), nil
}
