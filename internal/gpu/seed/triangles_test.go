package seed

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
)

// distinct are problems whose pivots are not about as large as others of their columns.
var distinct = []string{"uniform", "permutation", "antidiagonal", "zero leading minors", "graded", "symmetric indefinite", "kappa 1e8"}

// factored computes factors in the first of some ways in which they are ok.
func factored(s *cuda.Stream, a, z, u mem.Matrix, ways []search, width int) (rows, cols []int64, order []int32, ok bool, err error) {
	for _, way := range ways {
		var begun *Factors
		if rows, cols, begun, err = factor(s, a, z, u, way, width); err != nil || begun == nil {
			return nil, nil, nil, false, err
		}
		if order, ok, err = begun.Settle(); ok || err != nil {
			break
		}
	}
	return rows, cols, order, ok, err
}

// checkTriangles has the zeros and ones of triangles, and a small Z P F U - I, for the first n
// columns.
func checkTriangles(t *testing.T, dev *cuda.Device, p problem, n int, f num.Format, transposed, partially bool, width int) {
	t.Helper()
	name := fmt.Sprintf("%s, %d x %d, %v, transposed %v, partial %v, width %d", p.name, p.n, n, f, transposed, partially, width)
	if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
		a, h, err := resident(s, f, p.n, transposed, p.at)
		if err != nil {
			return err
		}
		defer a.Arr.Free()
		a.Cols, h.Cols = n, n
		x, err := mem.NewArray(s, num.Float64, 2*n*n+3)
		if err != nil {
			return err
		}
		defer x.Free()
		z := mem.Matrix{Arr: x, Off: 1, RS: n, CS: 1, Rows: n, Cols: n}
		u := mem.Matrix{Arr: x, Off: n*n + 2, RS: 1, CS: n, Rows: n, Cols: n}
		ways := searches
		if partially {
			ways = []search{partial}
		} else if transposed {
			ways = []search{tournament}
		}
		rows, cols, order, ok, err := factored(s, a, z, u, ways, width)
		if err != nil {
			return err
		}
		if !ok {
			t.Errorf("%s: none", name)
			return nil
		}
		if sorted := slices.Sorted(slices.Values(order)); sorted[0] < 0 || sorted[n-1] >= int32(p.n) || len(slices.Compact(sorted)) != n {
			t.Fatalf("%s: order %v", name, order)
		}
		if want := partialOrder(h); partially && slices.Contains(distinct, p.name) && !slices.Equal(order, want) {
			t.Errorf("%s: order %v, want %v", name, order, want)
		}
		host, err := x.Host(s)
		if err != nil {
			return err
		}
		all := host.F64[0]
		if all[0] != 0 || all[n*n+1] != 0 || all[2*n*n+2] != 0 {
			t.Fatalf("%s: numbers beside the matrices are not zeros", name)
		}
		lower, upper := all[1:n*n+1], all[n*n+2:2*n*n+2]
		product := make([]float64, n*n) // Z P F by rows
		for i := range n {
			for j := range n {
				switch v := lower[i*n+j]; {
				case j == i && v != 1:
					t.Fatalf("%s: %g on the diagonal of L^-1", name, v)
				case j > i && v != 0:
					t.Fatalf("%s: %g above the diagonal of L^-1", name, v)
				}
				if i > j && upper[i+j*n] != 0 {
					t.Fatalf("%s: %g below the diagonal of U^-1", name, upper[i+j*n])
				}
			}
			for k, row := range order[:i+1] {
				for j := range n {
					x, e := h.Arr.Leading(h.At(int(row), j))
					product[i*n+j] += float64(lower[i*n+k] * math.Ldexp(x, int(e+rows[row]+cols[j])))
				}
			}
		}
		most := 0.0
		for i := range n {
			for j := range n {
				sum := 0.0
				if i == j {
					sum = -1
				}
				for k := range j + 1 {
					sum += float64(product[i*n+k] * upper[k+j*n])
				}
				most = math.Max(most, math.Abs(sum))
			}
		}
		t.Logf("%s: %.2g", name, most)
		if !(most <= p.most) {
			t.Errorf("%s: |Z P F U - I| is %g, want at most %g", name, most, p.most)
		}
		return nil
	}); err != nil {
		t.Fatal(name, err)
	}
}

// partialOrder returns the order of rows of elimination with partial pivoting, in float64 numbers
// that may have any exponents.
func partialOrder(m num.Mat) []int32 {
	n := m.Rows
	order, a := make([]int32, n), make([][]float64, n)
	for j := range m.Cols {
		top := int64(math.MinInt64)
		for i := range n {
			if x, e := m.Arr.Leading(m.At(i, j)); x != 0 {
				top = max(top, e)
			}
		}
		for i := range n {
			x, e := m.Arr.Leading(m.At(i, j))
			a[i] = append(a[i], math.Ldexp(x, int(max(e-top, -1000))))
		}
	}
	for k := range n {
		order[k] = int32(k)
	}
	for k := range m.Cols {
		p := k
		for i := k; i < n; i++ {
			if math.Abs(a[i][k]) > math.Abs(a[p][k]) {
				p = i
			}
		}
		a[k], a[p], order[k], order[p] = a[p], a[k], order[p], order[k]
		for i := k + 1; i < n; i++ {
			l := a[i][k] / a[k][k]
			for j := k + 1; j < m.Cols; j++ {
				a[i][j] -= float64(l * a[k][j])
			}
		}
	}
	return order[:m.Cols]
}

// withPanels runs f, and again, if wanted, with the pivots of few rows found as those of many.
func withPanels(wanted bool, f func()) {
	f()
	if !wanted {
		return
	}
	defer func(few int) { fewRows = few }(fewRows)
	fewRows = 0
	f()
}

// checkAllTriangles has nasty matrices of some orders.
func checkAllTriangles(t *testing.T, dev *cuda.Device, orders ...int) {
	t.Helper()
	formats := []num.Format{num.Float64, gputest.MP(424), num.DDouble}
	for _, n := range orders {
		for i, p := range problems(n) {
			checkTriangles(t, dev, p, p.n, formats[i%len(formats)], i%4 == 1, false, widths[i%3])
			withPanels(n%2 == 1, func() {
				checkTriangles(t, dev, p, p.n, formats[(i+1)%len(formats)], i%4 == 2, true, widths[(i+1)%3])
				if p.name == "uniform" || p.name == "graded" {
					for _, columns := range []int{1, (n + 1) / 2, n * 9 / 10} {
						if columns > 0 {
							checkTriangles(t, dev, p, columns, formats[i%len(formats)], i%4 == 1, true, widths[columns%3])
						}
					}
				}
			})
		}
	}
}

// TestTriangles makes triangles on a fake device.
func TestTriangles(t *testing.T) { checkAllTriangles(t, reference(t), 1, 2, 63, 65, 150) }

// TestPanelTooTall has more rows than the fake device's multiprocessors take.
func TestPanelTooTall(t *testing.T) {
	dev := reference(t)
	for rows, want := range map[int]bool{1024: true, 1025: false} {
		if got := fitsPanel(dev, rows); got != want {
			t.Errorf("%d rows: %v", rows, got)
		}
	}
	if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
		_, _, begun, err := PivotedTriangles(s, mem.Matrix{Rows: 1025, Cols: 64}, mem.Matrix{}, mem.Matrix{})
		if begun != nil {
			t.Error("triangles")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestDeviceTriangles makes them on the machine's GPU.
func TestDeviceTriangles(t *testing.T) {
	dev := gputest.Machine(t)
	checkAllTriangles(t, dev, 1, 2, 63, 64, 65, 150, 330)
	// more rows than one block has
	checkTriangles(t, dev, problems(1050)[0], 1050, num.Float64, false, true, block)
}

// TestSanitizeTriangles runs every kernel on small matrices.
func TestSanitizeTriangles(t *testing.T) {
	dev := gputest.Machine(t)
	checkTriangles(t, dev, problems(150)[0], 150, num.Float64, true, false, panelWidth)
	withPanels(true, func() { checkTriangles(t, dev, problems(150)[0], 150, num.Float64, true, true, panelWidth) })
}

// BenchmarkTriangles measures triangles of resident matrices of uniform numbers, with pivots by a
// tournament and by partial pivoting.
func BenchmarkTriangles(b *testing.B) {
	dev := gputest.Machine(b)
	for _, n := range []int{1000, 4096} {
		for _, way := range []search{narrow, tournament, partial} {
			b.Run(fmt.Sprintf("%d/%v", n, way), func(b *testing.B) {
				if err := dev.Do(b.Context(), func(s *cuda.Stream) error {
					a, _, err := resident(s, num.Float64, n, false, problems(n)[0].at)
					if err != nil {
						return err
					}
					defer a.Arr.Free()
					x, err := mem.NewArray(s, num.Float64, 2*n*n)
					if err != nil {
						return err
					}
					defer x.Free()
					z := mem.Matrix{Arr: x, RS: 1, CS: n, Rows: n, Cols: n}
					u := mem.Matrix{Arr: x, Off: n * n, RS: 1, CS: n, Rows: n, Cols: n}
					for b.Loop() {
						if _, _, _, ok, err := factored(s, a, z, u, []search{way}, widthFor(n, panelsFrom)); err != nil || !ok {
							return fmt.Errorf("%v %w", ok, err)
						}
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
