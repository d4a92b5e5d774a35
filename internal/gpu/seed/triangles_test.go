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

// checkTriangles has the zeros and ones of triangles, and a small Z P F U - I.
func checkTriangles(t *testing.T, dev *cuda.Device, p problem, f num.Format, transposed, ahead bool) {
	t.Helper()
	name := fmt.Sprintf("%s, n = %d, %v, transposed %v, ahead %v", p.name, p.n, f, transposed, ahead)
	n := p.n
	if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
		a, h, err := resident(s, f, n, transposed, p.at)
		if err != nil {
			return err
		}
		defer a.Arr.Free()
		x, err := mem.NewArray(s, num.Float64, 2*n*n+3)
		if err != nil {
			return err
		}
		defer x.Free()
		z := mem.Matrix{Arr: x, Off: 1, RS: n, CS: 1, Rows: n, Cols: n}
		u := mem.Matrix{Arr: x, Off: n*n + 2, RS: 1, CS: n, Rows: n, Cols: n}
		rows, cols, order, ok, err := triangles(s, a, z, u, ahead)
		if err != nil {
			return err
		}
		if !ok {
			t.Errorf("%s: none", name)
			return nil
		}
		if sorted := slices.Sorted(slices.Values(order)); sorted[0] != 0 || sorted[n-1] != int32(n-1) || len(slices.Compact(sorted)) != n {
			t.Fatalf("%s: order %v", name, order)
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

// checkAllTriangles has nasty matrices of some orders.
func checkAllTriangles(t *testing.T, dev *cuda.Device, orders ...int) {
	t.Helper()
	formats := []num.Format{num.Float64, gputest.MP(424), num.DDouble}
	for _, n := range orders {
		for i, p := range problems(n) {
			checkTriangles(t, dev, p, formats[i%len(formats)], i%4 == 1, i%2 == 0)
		}
	}
}

// TestTriangles makes triangles on a fake device.
func TestTriangles(t *testing.T) { checkAllTriangles(t, reference(t), 1, 2, 63, 65, 150) }

// TestDeviceTriangles makes them on the machine's GPU.
func TestDeviceTriangles(t *testing.T) {
	checkAllTriangles(t, gputest.Machine(t), 1, 2, 63, 64, 65, 150, 330)
}

// TestSanitizeTriangles runs every kernel on small matrices.
func TestSanitizeTriangles(t *testing.T) {
	dev := gputest.Machine(t)
	checkTriangles(t, dev, problems(150)[0], num.Float64, true, true)
}
