package linsolve

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/num"
)

// TestDetUnderflow checks Stats for determinants x y next to the smallest numbers.
func TestDetUnderflow(t *testing.T) {
	for _, c := range []struct {
		f    halfulp.Format
		x, y string
		want int64
	}{
		{halfulp.Float64, "0x1p-540", "0x1p-540", 1},
		{halfulp.Float64, "-0x1p-540", "0x1p-540", 1},
		{halfulp.Float64, "0x1p-537", "0x1p-537", 0},
		{halfulp.Float64, "0x3p-538", "0x1p-537", 1},
		{halfulp.Float64, "0x1p-3000", "0x1.8p100", 1},
		{halfulp.Float64, "0", "0x1p-540", 0},
		{halfulp.Float64, "3", "5", 0},
		{halfulp.MP(53), "0x1p-540", "0x1p-540", 0},
		{halfulp.DD, "0x1p-1000", "0x1.0000000000000000000000001p0", 1},
		{halfulp.DD, "0x1p-900", "0x1.0000000000000000000000001p0", 0},
		{halfulp.Float32, "0x1p-75", "0x1p-75", 1},
		{halfulp.Float32, "0x1p-75", "0x1p-74", 0},
	} {
		a := halfulp.NewMatrix(halfulp.MP(200), 2, 2)
		for i, text := range []string{c.x, c.y} {
			if err := a.SetString(i, i, text); err != nil {
				t.Fatal(err)
			}
		}
		var stats halfulp.Stats
		d, err := Det(a, c.f, &halfulp.Options{Stats: &stats})
		if err != nil || stats.Underflow != c.want {
			t.Errorf("%v: %s times %s is %s, %d underflows, %v", c.f, c.x, c.y, d, stats.Underflow, err)
		}
	}
}

// TestScalarsLeaveRange checks Stats for scalars beyond the range of their format, and for scalars
// that are themselves infinite or 0.
func TestScalarsLeaveRange(t *testing.T) {
	matrix := func(rows, cols int, texts ...string) *halfulp.Matrix {
		m := halfulp.NewMatrix(halfulp.MP(1200), rows, cols)
		for k, text := range texts {
			if err := m.SetString(k/cols, k%cols, text); err != nil {
				t.Fatal(err)
			}
		}
		return m
	}
	for _, x := range []struct {
		name        string
		f           halfulp.Format
		a           *halfulp.Matrix
		want        string
		over, under int64
	}{
		{"Cond", halfulp.Float64, matrix(2, 2, "0x1p-600", "0", "0", "0x1p600"), "inf", 1, 0},
		{"Cond", halfulp.Float32, matrix(2, 2, "0x1p-70", "0", "0", "0x1p70"), "inf", 1, 0},
		{"Cond", halfulp.Float64, matrix(2, 2, "0x1p-500", "0", "0", "0x1p500"), "0x1p+1000", 0, 0},
		{"Cond", halfulp.MP(53), matrix(2, 2, "0x1p-600", "0", "0", "0x1p600"), "0x1p+1200", 0, 0},
		{"Cond", halfulp.Float64, matrix(2, 2, "1", "2", "2", "4"), "inf", 0, 0},
		{"Det", halfulp.Float32, matrix(2, 2, "0x1p-70", "0", "0", "0x1p-80"), "0", 0, 1},
		{"Det", halfulp.Float32, matrix(2, 2, "0x1p70", "1", "0", "-0x1p80"), "-inf", 1, 0},
		{"Det", halfulp.Float64, matrix(2, 2, "1", "2", "2", "4"), "0", 0, 0},
		{"LogDet", halfulp.Float32, matrix(2, 2, "1", "0x1p-100", "0x1p-100", "1"), "-0", 0, 1},
		{"LogDet", halfulp.Float64, matrix(2, 2, "1", "0x1p-540", "0x1p-540", "1"), "-0", 0, 1},
		{"LogDet", halfulp.Float64, matrix(2, 2, "1", "0x1p-400", "0x1p-400", "1"), "-0x1p-800", 0, 0},
		{"LogDet", halfulp.Float64, matrix(2, 2, "1", "1", "1", "1"), "-inf", 0, 0},
		{"LogDet", halfulp.Float64, matrix(2, 2, "1", "7", "0", "1"), "0", 0, 0},
	} {
		var z halfulp.Scalar
		var stats halfulp.Stats
		var err error
		switch x.name {
		case "Cond":
			z, err = Cond(halfulp.OneNorm, x.a, x.f, &halfulp.Options{Stats: &stats})
		case "Det":
			z, err = Det(x.a, x.f, &halfulp.Options{Stats: &stats})
		default:
			z, _, err = LogDet(x.a, x.f, &halfulp.Options{Stats: &stats})
		}
		if err != nil || z.Text(halfulp.Hex) != x.want && z.String() != x.want || stats.Overflow != x.over || stats.Underflow != x.under {
			t.Errorf("%s to %v: %v, %s, %d overflows, %d underflows, want %s, %d, %d", x.name, x.f, err, z.Text(halfulp.Hex), stats.Overflow, stats.Underflow, x.want, x.over, x.under)
		}
	}
	a := matrix(3, 2, "1", "1", "1", "2", "1", "4")
	// Out of range are sums of squares and residual MS; in f32 estimates, standard errors, residual
	// sd and covariances as well. The last fit has no residuals and an infinite F.
	for _, x := range []struct {
		f           halfulp.Format
		b           [3]string
		over, under int64
	}{
		{halfulp.Float64, [3]string{"0x1p-600", "0x1p-599", "0x5p-600"}, 0, 3},
		{halfulp.Float64, [3]string{"0x1p600", "0x1p601", "0x5p600"}, 3, 0},
		{halfulp.Float32, [3]string{"0x1p-600", "0x1p-599", "0x5p-600"}, 0, 3 + 2 + 2 + 1 + 4},
		{halfulp.MP(53), [3]string{"0x1p-600", "0x1p-599", "0x5p-600"}, 0, 0},
		{halfulp.Float64, [3]string{"0", "0", "0"}, 0, 0},
		{halfulp.Float64, [3]string{"0x1p-600", "0x1p-600", "0x1p-600"}, 0, 0},
	} {
		var stats halfulp.Stats
		fit, err := Regression(a, matrix(3, 1, x.b[:]...), x.f, &RegressionOptions{Covariance: x.f == halfulp.Float32, LeastSquaresOptions: LeastSquaresOptions{Options: halfulp.Options{Stats: &stats}}})
		if err != nil || stats.Overflow != x.over || stats.Underflow != x.under {
			t.Errorf("regression of %v to %v: %v, %d overflows, %d underflows, want %d, %d: %+v", x.b, x.f, err, stats.Overflow, stats.Underflow, x.over, x.under, fit)
		}
	}
}

// TestEntriesUnderflow compares the count in Stats of entries that lose bits below the smallest
// normal number with the count from the same results in a wide format.
func TestEntriesUnderflow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 7))
	wide := halfulp.MP(700)
	const n = 5
	total, counted := map[string]int64{}, map[string]int64{}
	for trial := range 30 {
		a, b := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.Float64, n, 2)
		down := 500 + random.IntN(500)
		for i := range n {
			for j := range n {
				if i == j || random.IntN(3) > 0 {
					a.SetFloat64(i, j, math.Ldexp(float64(random.IntN(201)-100), down-random.IntN(40)))
				}
			}
			a.SetFloat64(i, i, math.Ldexp(float64(300+random.IntN(100)), down))
			for j := range 2 {
				b.SetFloat64(i, j, math.Ldexp(float64(random.IntN(7)-3), -random.IntN(540)))
			}
		}
		small := halfulp.NewMatrix(halfulp.Float64, n, n)
		for i := range n {
			for j := range n {
				small.SetFloat64(i, j, math.Ldexp(a.Float64(i, j), -2*down+random.IntN(9)))
			}
		}
		negative := halfulp.NewMatrix(halfulp.Float64, n, n)
		for i := range n {
			for j := range n {
				negative.SetFloat64(i, j, math.Ldexp(a.Float64(i, j), -down))
			}
			negative.SetFloat64(i, i, float64(-random.IntN(1500)))
		}
		tall := halfulp.NewMatrix(halfulp.Float64, n, 2)
		for i := range n {
			tall.SetFloat64(i, 0, a.Float64(i, 0))
			tall.SetFloat64(i, 1, a.Float64(i, 1))
		}
		into := func(rows, cols int, run func(x *halfulp.Matrix, opt *halfulp.Options) error) func(f halfulp.Format, opt *halfulp.Options) ([]*halfulp.Matrix, error) {
			return func(f halfulp.Format, opt *halfulp.Options) ([]*halfulp.Matrix, error) {
				x := halfulp.NewMatrix(f, rows, cols)
				return []*halfulp.Matrix{x}, run(x, opt)
			}
		}
		for name, routine := range map[string]func(f halfulp.Format, opt *halfulp.Options) ([]*halfulp.Matrix, error){
			"Solve": into(n, 2, func(x *halfulp.Matrix, opt *halfulp.Options) error {
				return lintest.Into(x)(Solve(a, b, x.NumberFormat(), opt))
			}),
			"Inverse": into(n, n, func(x *halfulp.Matrix, opt *halfulp.Options) error {
				return lintest.Into(x)(Inverse(a, x.NumberFormat(), opt))
			}),
			"Pow": into(n, n, func(x *halfulp.Matrix, opt *halfulp.Options) error {
				return lintest.Into(x)(Pow(small, 2, x.NumberFormat(), opt))
			}),
			"Expm": into(n, n, func(x *halfulp.Matrix, opt *halfulp.Options) error {
				return lintest.Into(x)(Expm(negative, x.NumberFormat(), opt))
			}),
			"LeastSquares": into(2, 2, func(x *halfulp.Matrix, opt *halfulp.Options) error {
				return lintest.Into(x)(LeastSquares(tall, b, x.NumberFormat(), &LeastSquaresOptions{Options: *opt}))
			}),
			"LU": func(f halfulp.Format, opt *halfulp.Options) ([]*halfulp.Matrix, error) {
				z, err := LU(small, f, opt)
				if err != nil {
					return nil, err
				}
				return []*halfulp.Matrix{z.L, z.U}, nil
			},
		} {
			exact, err := routine(wide, &halfulp.Options{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD} {
				var stats halfulp.Stats
				got, err := routine(f, &halfulp.Options{Stats: &stats})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				var want int64
				for k, m := range exact {
					from, to := m.View(), halfulp.NewMatrix(f, m.Rows(), m.Cols()).View()
					for i := range m.Rows() {
						for j := range m.Cols() {
							if to.Arr.Convert(to.At(i, j), from.Arr, from.At(i, j))&num.Underflow != 0 {
								want++
							}
							if z := got[k].View(); !z.Arr.SameBits(z.At(i, j), to.Arr, to.At(i, j)) {
								t.Errorf("trial %d, %s to %v: another entry %d, %d", trial, name, f, i, j)
							}
						}
					}
				}
				total[name] += want
				counted[name] += stats.Underflow
				if stats.Underflow > want {
					t.Errorf("trial %d, %s to %v: %d underflows, want %d", trial, name, f, stats.Underflow, want)
				}
			}
		}
	}
	for name, n := range total {
		// A number whose enclosure contains the rounded number may equal it.
		if n == 0 || counted[name] < n-n/20 {
			t.Errorf("%s: %d of %d underflows", name, counted[name], n)
		}
	}
}
