package newton_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/newton"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestPart compares both parts of matrices, and what is around them, with the host's.
func TestPart(t *testing.T) {
	onDevices(t, func(t *testing.T, dev *cuda.Device) {
		rng := testseed.Rand(t, 5, 6)
		for _, shape := range [][2]int{{0, 3}, {1, 1}, {7, 7}, {33, 20}, {20, 300}} {
			m, n := shape[0], shape[1]
			h := random(rng, 100, m, n, n%2 == 1)
			name := fmt.Sprintf("%d x %d", m, n)
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
				a, err := mem.Upload(s, h.Arr)
				if err != nil {
					return err
				}
				defer a.Free()
				x, err := mem.NewArray(s, h.Arr.Format, 2*m*n+3)
				if err != nil {
					return err
				}
				defer x.Free()
				lower := num.Mat{Off: 1, RS: n, CS: 1, Rows: m, Cols: n}
				upper := num.Mat{Off: m*n + 2, RS: 1, CS: max(m, 1), Rows: m, Cols: n}
				on := func(a *mem.Array, v num.Mat) mem.Matrix {
					return mem.Matrix{Arr: a, Off: v.Off, RS: v.RS, CS: v.CS, Rows: m, Cols: n}
				}
				if err := newton.Part(s, on(a, h), on(x, lower), on(x, upper)); err != nil {
					return err
				}
				want := num.New(h.Arr.Format, 2*m*n+3)
				for j := range n {
					for i := range m {
						to := upper
						if i > j {
							to = lower
						}
						want.CopyFrom(to.At(i, j), h.Arr, h.At(i, j))
					}
				}
				got, err := x.Host(s)
				if err != nil {
					return err
				}
				for i := range got.Len() {
					if !got.SameBits(i, want, i) {
						t.Fatalf("%s: number %d is %s, want %s", name, i, gputest.Show(got, i), gputest.Show(want, i))
					}
				}
				return nil
			}); err != nil {
				t.Fatal(name, err)
			}
		}
	})
}

// TestNotSmall counts numbers above bounds below diagonals, in formats of few and of many bits.
func TestNotSmall(t *testing.T) {
	onDevices(t, func(t *testing.T, dev *cuda.Device) {
		rng := testseed.Rand(t, 7, 8)
		bounds := []float64{1 - 0x1p-52, 1.5, 2.785}
		list := []float64{0, 0.5, -0.75, 1 - 0x1p-20, -1 + 0x1p-51, 1 - 0x1p-52, 1, -1, 1 + 0x1p-20, -1.5, 2, 2.75, -2.785, 2.8, -3, 4, 7, 0x1p900, 0x1p-900}
		for _, f := range []num.Format{num.Float64, num.Float32, num.DDouble, gputest.MP(53), gputest.MP(200)} {
			m, n := 60, 40
			h, want := num.Mat{Arr: num.New(f, m*n), RS: 1, CS: m, Rows: m, Cols: n}, make([]int, len(bounds))
			for j := range n {
				for i := range m {
					x := list[rng.IntN(len(list))]
					if f == num.Float32 {
						x = float64(float32(x))
						if math.IsInf(x, 0) {
							x = 7
						}
					}
					h.Arr.Set(h.At(i, j), gputest.Scalar(x))
					for b, bound := range bounds {
						if i > j && math.Abs(x) > bound {
							want[b]++
						}
					}
				}
			}
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
				a, err := mem.Upload(s, h.Arr)
				if err != nil {
					return err
				}
				defer a.Free()
				for b, bound := range bounds {
					got, err := newton.NotSmall(s, mem.Matrix{Arr: a, RS: h.RS, CS: h.CS, Rows: m, Cols: n}, bound, nil)
					if got != want[b] {
						t.Errorf("%v, above %v: %d, want %d", f, bound, got, want[b])
					}
					if err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(f, err)
			}
		}
	})
}
