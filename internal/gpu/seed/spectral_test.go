package seed

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestTridiagonal checks A H = H T, and that H is orthogonal.
func TestTridiagonal(t *testing.T) {
	t.Run("reference", func(t *testing.T) { testTridiagonal(t, reference(t), 161) })
	t.Run("device", func(t *testing.T) { testTridiagonal(t, gputest.Machine(t), 1000) })
}

func testTridiagonal(t *testing.T, dev *cuda.Device, large int) {
	r := testseed.Rand(t, 1, 35)
	dense := func(*rand.Rand, int, int) float64 { return r.Float64() - 0.5 }
	for _, c := range []struct {
		name string
		n    int
		at   func(r *rand.Rand, i, j int) float64
	}{
		{"order 1", 1, dense},
		{"order 2", 2, dense},
		{"order 3", 3, dense},
		{"a panel", 64, dense},
		{"a panel and a column", 65, dense},
		{"panels and a half", large, dense},
		{"zero", 70, func(*rand.Rand, int, int) float64 { return 0 }},
		{"diagonal", 70, func(r *rand.Rand, i, j int) float64 {
			if i == j {
				return r.Float64()
			}
			return 0
		}},
		{"tiny outside of a block", 130, func(r *rand.Rand, i, j int) float64 {
			if i < 60 && j >= 60 {
				return math.Ldexp(r.Float64(), -600)
			}
			return r.Float64() - 0.5
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.n
			a, h := make([]float64, n*n), make([]float64, n*n)
			for j := range n {
				h[j+j*n] = 1
				for i := range j + 1 {
					a[i+j*n] = c.at(r, i, j)
					a[j+i*n] = a[i+j*n]
				}
			}
			var d, e []float64
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
				z, diagonal, off, err := Tridiagonal(t.Context(), s, a, n)
				if err != nil {
					return err
				}
				defer z.Free()
				d, e = diagonal, off
				return z.Apply(t.Context(), s, h)
			}); err != nil {
				t.Fatal(err)
			}
			tol := float64(n) * 0x1p-50
			for j := range n {
				for i := range n {
					residual, product := -float64(d[j]*h[i+j*n]), 0.0
					if j > 0 {
						residual -= float64(e[j-1] * h[i+(j-1)*n])
					}
					if j < n-1 {
						residual -= float64(e[j] * h[i+(j+1)*n])
					}
					if i == j {
						product = -1
					}
					for k := range n {
						residual += float64(a[i+k*n] * h[k+j*n])
						product += float64(h[k+i*n] * h[k+j*n])
					}
					if !(math.Abs(residual) <= tol*math.Sqrt(float64(n)) && math.Abs(product) <= tol) {
						t.Fatalf("entry (%d, %d) of A H - H T is %g, of H'H - I %g", i, j, residual, product)
					}
				}
			}
		})
	}
}
