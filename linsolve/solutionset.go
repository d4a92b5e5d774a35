package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Enclose returns proved bounds L ≤ X ≤ U of the solution X of A X = B in format f, rounded
// outwards, after a given number of refinement steps. A must be square and regular. Unlike [Solve]
// it does not continue until the results are correctly rounded: a step gains 8 to 45 bits, up to
// the bits of the format. The bounds depend on float64 arithmetic that rounds differently on other
// instruction sets; on each machine they are proved.
//
//	lower, upper, err := linsolve.Enclose(a, b, 2, halfulp.Float64, nil)
//
// Errors are as for [Solve]. Enclose panics if the shapes do not fit, or for a negative number of
// steps.
func Enclose(a, b *halfulp.Matrix, steps int, f halfulp.Format, opt *halfulp.Options) (lower, upper *halfulp.Matrix, err error) {
	return enclosed("Enclose", &solve.IntervalSystem{A: a.View(), B: b.View()}, steps, f, opt)
}

// EncloseSet returns bounds L ≤ X ≤ U of the solution set of an interval system: of the solutions X
// of all A' X = B' with |A' - A| ≤ DA and |B' - B| ≤ DB, entry by entry. DA and DB have the shapes
// of A and B; nil stands for zeros, and the signs of their entries do not matter. The bounds
// contain the solution set. They are not the narrowest possible bounds, and they may differ between
// instruction sets.
//
// Errors are as for [Solve]; the error wraps ErrWide if rho < 1, defined below, does not hold.
// EncloseSet panics if the shapes do not fit, or for a negative number of steps.
//
// Method. In a weighted maximum norm, and with an approximate inverse R of A,
//
//	rho = ‖I - R A‖ + ‖|R| DA‖ < 1
//
// proves that all these A' are regular. With r = |B - A x'| + DB + DA |x'| every
// solution x satisfies
//
//	|x - x'| ≤ |R| r + rho/(1 - rho) ‖|R| r‖
//
// (Rump, Verification methods, Acta Numerica 2010, section 10).
func EncloseSet(a, da, b, db *halfulp.Matrix, steps int, f halfulp.Format, opt *halfulp.Options) (lower, upper *halfulp.Matrix, err error) {
	return enclosed("EncloseSet", &solve.IntervalSystem{A: a.View(), DA: radius(da), B: b.View(), DB: radius(db)}, steps, f, opt)
}

// radius returns the storage of a matrix of radii, a zero Mat for nil.
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
