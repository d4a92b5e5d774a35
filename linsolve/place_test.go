package linsolve

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/gallery"
)

// BenchmarkDevice measures routines on matrices that live on a GPU, in units of one product of
// their order and precision. With -v it prints for each routine a figure of a record as JSON:
// seconds, and the stages of the last run.
func BenchmarkDevice(b *testing.B) {
	if gpus, err := halfulp.GPUs(); err != nil || len(gpus) == 0 {
		b.Skip("no GPU")
	}
	for _, n := range []int{1000, 4096} {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(106), halfulp.MP(424), halfulp.MP(1696)} {
			a, z, spd := randomOn(b, f, n), newOn(b, f, n, n), newOn(b, f, n, n)
			y, x := on(b, gallery.Random(f, n, 1, 0, 2)), newOn(b, f, n, 1)
			if err := halfulp.GemmTo(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), a, a, halfulp.Float(0), nil, spd, nil); err != nil {
				b.Fatal(err)
			}
			var product float64
			for _, r := range []struct {
				name string
				run  func(opt *halfulp.Options) error
			}{
				{"gemm", func(opt *halfulp.Options) error {
					return halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, a, halfulp.Float(0), nil, z, opt)
				}},
				{"solve1", func(opt *halfulp.Options) error { return lintest.Into(x)(Solve(a, y, x.NumberFormat(), opt)) }},
				{"cholesky", func(opt *halfulp.Options) error {
					l, err := Cholesky(spd, f, opt)
					if err == nil {
						l.Free()
					}
					return err
				}},
				{"det", func(opt *halfulp.Options) error { _, err := Det(a, f, opt); return err }},
				{"inverse", func(opt *halfulp.Options) error { return lintest.Into(z)(Inverse(a, z.NumberFormat(), opt)) }},
				{"solven", func(opt *halfulp.Options) error { return lintest.Into(z)(Solve(a, spd, z.NumberFormat(), opt)) }},
			} {
				b.Run(fmt.Sprintf("n=%d/%v/%s", n, f, r.name), func(b *testing.B) {
					var times []float64
					var st halfulp.Stats
					opt := &halfulp.Options{Stats: &st}
					if err := r.run(opt); err != nil { // kernels are compiled
						b.Fatal(err)
					}
					for b.Loop() {
						start := time.Now()
						if err := r.run(opt); err != nil {
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
					figure, err := json.Marshal(map[string]any{
						"n": n, "bits": f.Bits(), "method": r.name, "median": t, "min": times[0], "max": times[len(times)-1],
						"repeats": len(times), "products": t / product, "stages": st.Stages, "device": st.Device,
					})
					if err != nil {
						b.Fatal(err)
					}
					b.Logf("%s", figure)
				})
			}
			for _, m := range []*halfulp.Matrix{a, y, x, z, spd} {
				m.Free()
			}
		}
	}
}

// on returns a copy of m on the GPU.
func on(b *testing.B, m *halfulp.Matrix) *halfulp.Matrix {
	z, err := m.On("cuda:0")
	if err != nil {
		b.Fatal(err)
	}
	return z
}

func newOn(b *testing.B, f halfulp.Format, rows, cols int) *halfulp.Matrix {
	z, err := halfulp.NewMatrixOn("cuda:0", f, rows, cols)
	if err != nil {
		b.Fatal(err)
	}
	return z
}

// randomOn returns a random n x n matrix X of Float64 on the GPU. For other formats it adds a small
// multiple of a power of X, so that all bits of the format are in use. The host computes only X.
func randomOn(b *testing.B, f halfulp.Format, n int) *halfulp.Matrix {
	x := on(b, gallery.Random(halfulp.Float64, n, n, 0, 1))
	if f == halfulp.Float64 {
		return x
	}
	multiply := func(alpha float64, p, q *halfulp.Matrix, beta float64, c, z *halfulp.Matrix) {
		if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(alpha), p, q, halfulp.Float(beta), c, z, nil); err != nil {
			b.Fatal(err)
		}
	}
	p, z := newOn(b, f, n, n), newOn(b, f, n, n)
	multiply(1, x, x, 0, nil, p)
	for bits := 106; bits < f.Bits(); bits *= 2 {
		multiply(1, p, p, 0, nil, z)
		p, z = z, p
	}
	corner, err := p.Slice(0, 1, 0, 1).Host()
	if err != nil {
		b.Fatal(err)
	}
	multiply(math.Ldexp(1, -corner.Big(0, 0).MantExp(nil)-20), p, x, 1, x, z)
	p.Free()
	x.Free()
	return z
}
