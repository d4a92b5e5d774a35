package call

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
)

// GemmTriangle is gemm for a triangle of d, of a square matrix, or all of d, 0, with a bound that
// is proved or nil.
func (s *Run) GemmTriangle(triangle byte, alpha float64, a, b num.Mat, beta float64, c, d num.Mat, limit *residue.Bound) error {
	return s.GemmOfTriangles(triangle, alpha, a, b, beta, c, d, [2]byte{}, limit)
}

// GemmOfTriangles is GemmTriangle for an a and a b with zeros beyond triangles, factors, or 0.
func (s *Run) GemmOfTriangles(triangle byte, alpha float64, a, b num.Mat, beta float64, c, d num.Mat, factors [2]byte, limit *residue.Bound) error {
	defer s.Multiplying(a, b, d, triangle)()
	if c.Arr == nil {
		c = d
	}
	g := place.Gemm{Factors: factors}
	g.Alpha, g.A, g.B, g.Beta, g.Old, g.C = num.Float(alpha).Real(), a, b, num.Float(beta).Real(), c, d
	g.Triangle, g.Bound = triangle, limit
	set := s.Set
	if left, ok := s.Budget.Left(); ok {
		// Residues take about as much as twice the factors and the product, or what is left.
		s.Budget.Reclaim(min(left, 2*(MatrixBytes(a.Format(), a.Rows, a.Cols)+MatrixBytes(b.Format(), b.Rows, b.Cols)+MatrixBytes(d.Format(), d.Rows, d.Cols))))
		set.Memory = min(set.Memory, s.Budget.Room())
	}
	st, err := set.Gemm(&g)
	if err != nil {
		return err
	}
	s.Stats.Device = st.Device
	if c := s.Stats.Check; c != nil {
		c.Modulus = max(c.Modulus, st.Check.Modulus)
		c.Compared += st.Check.Compared
		c.Unchecked += st.Check.Unchecked
	}
	if d.Format().IsMP() && (st.Overflow > 0 || st.Underflow > 0 && !s.Vanish) {
		return fmt.Errorf("products beyond the exponents of formats: %w", ErrRange)
	}
	return nil
}

// GemmWithin is gemm for a result that is proved to be within a bound.
func (s *Run) GemmWithin(alpha float64, a, b num.Mat, beta float64, c, d num.Mat, bound *residue.Bound) error {
	return s.GemmTriangle(0, alpha, a, b, beta, c, d, bound)
}

// Dot returns the dot product of x and y, which both live at the run's place, rounded to format f.
func (s *Run) Dot(x, y num.Vec, f num.Format) (num.Scalar, error) {
	z := num.New(f, 1)
	var err error
	if p := place.Of(x.Arr); p != nil {
		_, _, err = p.Reduce(s.Config(), direct.Dot, x, y, z)
	} else {
		_, _, err = direct.Dot.Round(direct.Work{Run: par.Run{Ctx: s.Ctx, Threads: s.Threads}}, x, y, z)
	}
	return num.ScalarOf(z), err
}

// Multiplying says that A B is computed in the format of D until the function is called that it
// returns, or only a triangle of it.
func (s *Run) Multiplying(a, b, d num.Mat, triangle byte) (end func()) {
	if s.Work.Report == nil {
		return func() {}
	}
	format := func(m num.Mat) num.Format { return m.Arr.Format }
	cost := ProductCost(a.Rows, a.Cols, b.Cols, format(a), format(b), format(d))
	if triangle != 0 {
		cost /= 2
	}
	s.Set.Progress = s.Doing(cost)
	return func() {
		s.Set.Progress = nil
		s.Did(cost)
	}
}

// ProductCost is the cost of a product of an m x k matrix by a k x n one, of formats a and b, with
// results of format c. The dispatcher of products takes the same estimates.
func ProductCost(m, k, n int, a, b, c num.Format) float64 {
	if m == 0 || k == 0 || n == 0 {
		return 0
	}
	cost := direct.EstimateGemm(1, m, n, k, a, b, c, true)
	cost = min(cost, direct.EstimateEntries(1, m, n, k, a, b))
	if t, ok := residue.Estimate(1, m, n, k, a, b, c, [2]bool{}); ok {
		cost = min(cost, t)
	}
	return float64(cost)
}

// SumCost is that of adding two entries.
const SumCost = 80

// Gemm stores RN(alpha A B + beta C) in d. Bounds rest on relative errors, so the error wraps
// ErrRange where a number of some bits leaves the exponents of its format.
func (s *Run) Gemm(alpha float64, a, b num.Mat, beta float64, c, d num.Mat) error {
	return s.GemmTriangle(0, alpha, a, b, beta, c, d, nil)
}

// Known adds to the bound of a product what is known of its factors, if it is known of both.
func (s *Run) Known(b *residue.Bound, x, y *residue.Vectors) *residue.Bound {
	if b != nil && s.Tally != nil && x != nil && y != nil {
		b.A, b.B, b.Tally = x, y, s.Tally
	}
	return b
}

// NewTally lets operations count what they cannot store until extents asks for it, and not wait.
func (s *Run) NewTally() error {
	m, err := s.Matrix(num.Float64, 1, 1)
	if err != nil {
		return err
	}
	s.Tally = m.Arr
	return nil
}
