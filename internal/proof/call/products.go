package call

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
)

// GemmTriangle is Gemm for a triangle of a square d, 'U' or 'L', or for all of d, 0. limit is a
// proved bound of the result, or nil.
func (s *Run) GemmTriangle(triangle byte, alpha float64, a, b num.Mat, beta float64, c, d num.Mat, limit *residue.Bound) error {
	return s.GemmOfTriangles(triangle, alpha, a, b, beta, c, d, [2]byte{}, limit)
}

// GemmOfTriangles is GemmTriangle for matrices a and b that are 0 outside of the triangles factors;
// 0: no triangle.
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
		// Residues take about twice the memory of the factors and the product. Reclaim this memory,
		// or what is left of the budget if that is less.
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

// GemmWithin is Gemm for a result that is proved to be within bound.
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

// Multiplying tells the progress report that A B, or only a triangle of it, is now computed in the
// format of D. The product ends when the returned function is called.
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

// ProductCost is the estimated cost of the product of an m x k and a k x n matrix, of formats a and
// b, with a result of format c. Products are dispatched by the same estimates.
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

// SumCost is the cost of adding two entries.
const SumCost = 80

// Gemm stores RN(alpha A B + beta C) in d. A c without an array stands for d. Bounds assume
// relative errors, so Gemm returns an error that wraps ErrRange if a result in MP leaves the
// exponent range of its format; with Vanish it permits underflow.
func (s *Run) Gemm(alpha float64, a, b num.Mat, beta float64, c, d num.Mat) error {
	return s.GemmTriangle(0, alpha, a, b, beta, c, d, nil)
}

// Known adds the extents x and y of the factors to the bound b of a product, if both are known and
// the run has a tally. Else, or if b is nil, it returns b unchanged.
func (s *Run) Known(b *residue.Bound, x, y *residue.Vectors) *residue.Bound {
	if b != nil && s.Tally != nil && x != nil && y != nil {
		b.A, b.B, b.Tally = x, y, s.Tally
	}
	return b
}

// NewTally makes a tally, in which operations count the entries that they cannot store. They do not
// wait until Extents or Tallied reads the count.
func (s *Run) NewTally() error {
	m, err := s.Matrix(num.Float64, 1, 1)
	if err != nil {
		return err
	}
	s.Tally = m.Arr
	return nil
}
