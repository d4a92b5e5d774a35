package seed

import (
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSquare compares -(X E + Y²) for the triangles X and Y of E with sums in float64, within twice
// the error bound of place.Squaring.
func TestSquare(t *testing.T) {
	check := func(t *testing.T, dev *cuda.Device, orders []int) {
		rng := testseed.Rand(t, 3, 4)
		for _, n := range orders {
			h := gputest.RandomMat(rng, gputest.MP(70), gputest.Spread, n, n)
			e := make([]float64, n*n)
			for i := range e {
				h.Arr.Exp[i] %= 40
				x, exp := h.Arr.Leading(h.At(i%n, i/n))
				e[i] = math.Ldexp(x, int(exp))
			}
			size := SquareOrder(n)
			var got *num.Array
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
				a, err := mem.Upload(s, h.Arr)
				if err != nil {
					return err
				}
				defer a.Free()
				z, err := mem.NewArray(s, num.Float64, size*size)
				if err != nil {
					return err
				}
				defer z.Free()
				of := mem.Matrix{Arr: a, Off: h.Off, RS: h.RS, CS: h.CS, Rows: n, Cols: n}
				if err := Square(s, of, mem.Matrix{Arr: z, RS: 1, CS: size, Rows: size, Cols: size}); err != nil {
					return err
				}
				got, err = z.Host(s)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			for j := range n {
				for i := range n {
					want, most := 0.0, 0.0
					for k := range max(i, j+1) {
						x := float64(e[i+k*n] * e[k+j*n])
						want -= x
						most += math.Abs(x)
					}
					if x := got.F64[0][i+j*size]; !(math.Abs(x-want) <= float64(n+16)*0x1p-50*most) {
						t.Fatalf("n = %d: number (%d, %d) is %v, want %v", n, i, j, x, want)
					}
				}
			}
		}
	}
	t.Run("reference", func(t *testing.T) {
		check(t, gputest.SeedReference(t, new(fake.Driver)), []int{0, 1, 63, 64, 65, 200})
	})
	t.Run("device", func(t *testing.T) { check(t, gputest.Machine(t), []int{1, 64, 65, 129, 200, 513}) })
}
