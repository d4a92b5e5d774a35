package linsolve

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/halfulp/halfulp"
	_ "github.com/halfulp/halfulp/cuda"
)

// BenchmarkDevice has times of routines on matrices that live on a GPU in units of one product of
// their order and precision.
func BenchmarkDevice(b *testing.B) {
	if gpus, err := halfulp.GPUs(); err != nil || len(gpus) == 0 {
		b.Skip("no GPU")
	}
	for _, n := range []int{1000, 4096} {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(106), halfulp.MP(424), halfulp.MP(1696)} {
			on := func(m *halfulp.Matrix) *halfulp.Matrix {
				z, err := m.On("cuda:0")
				if err != nil {
					b.Fatal(err)
				}
				return z
			}
			ha := halfulp.Random(f, n, n, 0, 1)
			a, y := on(ha), on(halfulp.Random(f, n, 1, 0, 2))
			x, z := on(halfulp.NewMatrix(f, n, 1)), on(halfulp.NewMatrix(f, n, n))
			spd := on(halfulp.NewMatrix(f, n, n))
			if _, err := halfulp.GemmTo(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), a, a, halfulp.Float(0), nil, spd, nil); err != nil {
				b.Fatal(err)
			}
			var product float64
			for _, r := range []struct {
				name string
				run  func() (Stats, error)
			}{
				{"gemm", func() (Stats, error) {
					st, err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, a, halfulp.Float(0), nil, z, nil)
					return Stats{Stats: st}, err
				}},
				{"solve1", func() (Stats, error) { return Solve(a, y, x, nil) }},
				{"cholesky", func() (Stats, error) { _, st, err := Cholesky(spd, f, nil); return st, err }},
				{"det", func() (Stats, error) { _, st, err := Det(a, f, nil); return st, err }},
				{"inverse", func() (Stats, error) { return Inverse(a, z, nil) }},
				{"solven", func() (Stats, error) { return Solve(a, spd, z, nil) }},
			} {
				b.Run(fmt.Sprintf("n=%d/%v/%s", n, f, r.name), func(b *testing.B) {
					var times []float64
					st, err := r.run() // kernels are compiled
					if err != nil {
						b.Fatal(err)
					}
					for b.Loop() {
						start := time.Now()
						if st, err = r.run(); err != nil {
							b.Fatal(err)
						}
						times = append(times, time.Since(start).Seconds())
					}
					slices.Sort(times)
					t := times[len(times)/2]
					if r.name == "gemm" {
						product = t
					}
					b.ReportMetric(t*1e3, "ms")
					b.ReportMetric(t/product, "products")
					b.Log(st.Stages)
				})
			}
			for _, m := range []*halfulp.Matrix{a, y, x, z, spd} {
				m.Free()
			}
		}
	}
}
