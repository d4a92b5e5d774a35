package ozaki

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testseed"
)

// fill sets some entries of m to numbers out of the ordinary.
func fill(rng *rand.Rand, m *halfulp.Matrix, numbers []float64, oneIn int) {
	for j := range m.Cols() {
		for i := range m.Rows() {
			if rng.IntN(oneIn) == 0 {
				m.SetFloat64(i, j, numbers[rng.IntN(len(numbers))])
			}
		}
	}
}

// TestSpecialValues compares infinite and NaN results with correctly rounded products, which follow
// IEEE 754 on the exact sum.
func TestSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	rng := testseed.Rand(t, 21, 22)
	scalars := []float64{0, 1, -2, 1e300, 1e-300, inf, -inf, nan}
	for trial := range 300 {
		m, k, n := 1+rng.IntN(6), rng.IntN(6), 1+rng.IntN(6)
		a, b, c := testMatrix(rng, m, k, 1), testMatrix(rng, k, n, 1), testMatrix(rng, m, n, 1)
		for _, x := range []*halfulp.Matrix{a, b, c} {
			fill(rng, x, []float64{0, math.Copysign(0, -1), inf, -inf, nan, 1, -1}, 5)
		}
		alpha, beta := scalars[rng.IntN(len(scalars))], scalars[rng.IntN(len(scalars))]
		want, got := c.Clone(), c.Clone()
		if err := halfulp.Gemm('N', 'N', halfulp.Float(alpha), a, b, halfulp.Float(beta), want, nil); err != nil {
			t.Fatal(err)
		}
		bound := halfulp.NewMatrix(halfulp.Float64, m, n)
		if err := Gemm('N', 'N', alpha, a, b, beta, got, &Options{Slices: 2 + trial%3, Bound: bound}); err != nil {
			t.Fatal(err)
		}
		for j := range n {
			for i := range m {
				x, y := got.Float64(i, j), want.Float64(i, j)
				if e := bound.Float64(i, j); finite(x) && finite(alpha) && !(e <= 1e-3*(1+math.Abs(alpha)+math.Abs(beta))) || !finite(x) && e != 0 && !math.IsInf(e, 1) {
					t.Fatalf("trial %d, alpha %g, beta %g: c[%d,%d] = %g has the bound %g", trial, alpha, beta, i, j, x, e)
				}
				if !finite(x) || !finite(y) {
					if x != y && (x == x || y == y) {
						t.Fatalf("trial %d, alpha %g, beta %g: c[%d,%d] = %g, want %g", trial, alpha, beta, i, j, x, y)
					}
				}
			}
		}
	}
}

// TestUnread checks that alpha = 0 leaves A and B unread and beta = 0 leaves C unread.
func TestUnread(t *testing.T) {
	nan := halfulp.NewMatrix(halfulp.Float64, 2, 2)
	fill(testseed.Rand(t, 1, 1), nan, []float64{math.NaN()}, 1)
	one := halfulp.Identity(halfulp.Float64, 2)
	for _, x := range []struct {
		alpha, beta, want float64
		ab, c             *halfulp.Matrix
	}{{0, 0, 0, nan, nan}, {0, 2, 2, nan, one}, {3, 0, 3, one, nan}} {
		c := x.c.Clone()
		if err := Gemm('N', 'N', x.alpha, x.ab, x.ab, x.beta, c, &Options{Slices: 3}); err != nil {
			t.Fatal(err)
		}
		if got := c.Float64(0, 0); got != x.want {
			t.Errorf("alpha = %g, beta = %g: got %g, want %g", x.alpha, x.beta, got, x.want)
		}
	}
}

// TestCombineRange checks sums whose parts are out of range.
func TestCombineRange(t *testing.T) {
	for _, c := range []struct {
		t          float64
		x          int
		alpha      float64
		beta, c, y float64
	}{
		{1, 1023, 2, -1, math.MaxFloat64, 0x1p971},        // 2^1024 - MaxFloat64
		{1, 1023, 1e-300, 0, 0, 0x1p1023 * 1e-300},        // T alone would be all right
		{1, 1100, 0x1p-200, 0, 0, 0x1p900},                // T alone would not
		{1, 2000, 1, 1, -1, math.Inf(1)},                  // overflow
		{1, 1025, 1, -0x1p1000, 0x1p25, 0},                // overflows cancel
		{3, -1075, 1, 0, 0, 0x1p-1073},                    // 1.5 units, a tie, to even
		{1, -1080, 1, 1, 0x1p-1074, 0x1p-1074},            // below the smallest number
		{1, -2000, 1, 1, 1, 1},                            // far below
		{1, 0, 1, 0x1p-1000, 0x1p-1000, 1},                // the same of the other
		{0, 0, -1, 1, math.Copysign(0, -1), 0},            // zeros
		{1, 5, 1, math.Inf(1), -1, math.Inf(-1)},          // β infinite
		{1, 3000, 1, 1, math.Inf(-1), math.Inf(-1)},       // not Inf - Inf
		{1, 0, 1, 0x1p1000, 0x1p1000, math.Inf(1)},        // β c overflows
		{-0x1p52, 948, 1, 0x1p1000, 1 + 0x1p-52, 0x1p948}, // one rounding
	} {
		m, e := math.Frexp(c.alpha)
		if got := combine(c.t, c.x, m, e, c.beta, c.c); got != c.y {
			t.Errorf("combine(%g 2^%d, %g, %g %g) = %g, want %g", c.t, c.x, c.alpha, c.beta, c.c, got, c.y)
		}
	}
}
