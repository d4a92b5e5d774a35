package expansion

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/expgpu"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/product"
	"github.com/halfulp/halfulp/internal/place"
)

// benchMatrix returns a matrix on the device of full random significands, exponents about 0.
func benchMatrix(b *testing.B, f halfulp.Format, rows, cols int) *halfulp.Matrix {
	r := rand.New(rand.NewPCG(7, uint64(rows)))
	m := halfulp.NewMatrix(f, rows, cols)
	a := m.View().Arr
	for i := range a.Len() {
		scale := 2.0
		for t := range a.Terms() {
			a.F64[t][i] = (r.Float64() - 0.5) * scale
			scale = 0x1p-54 * max(a.F64[t][i], -a.F64[t][i])
		}
	}
	d, err := m.On(device)
	must(b, err)
	b.Cleanup(d.Free)
	return d
}

// gpuMatrix returns the device where m lives, and m there.
func gpuMatrix(m *halfulp.Matrix) (*cuda.Device, mem.Matrix) {
	v := m.View()
	return backend.Device(place.Of(v.Arr)), backend.Matrix(v)
}

// gpuVector is gpuMatrix for vectors.
func gpuVector(x *halfulp.Vector) (*cuda.Device, mem.Vector) {
	v := x.View()
	return backend.Device(place.Of(v.Arr)), backend.Vector(v)
}

// clock returns the median time of runs of f by the device's clock, in ms.
func clock(b *testing.B, s *cuda.Stream, runs int, f func() error) float64 {
	var times []time.Duration
	for i := range runs + 1 {
		start, err := s.NewEvent()
		must(b, err)
		end, err := s.NewEvent()
		must(b, err)
		must(b, s.Record(start))
		must(b, f())
		must(b, s.Record(end))
		must(b, end.Synchronize())
		d, err := end.Since(start)
		must(b, err)
		if i > 0 {
			times = append(times, d)
		}
		_, _ = start.Close(), end.Close()
	}
	slices.Sort(times)
	return float64(times[len(times)/2]) * 1e-6
}

var benchOperations = []struct {
	name     string
	operands int
}{{"Add", 2}, {"Mul", 2}, {"Div", 2}, {"Sqrt", 1}, {"FMA", 3}, {"exp", 1}, {"log", 1}, {"sin", 1}}

// BenchmarkDeviceEach measures operations on vectors of 2^22 numbers: ms, GB/s, operations a ms.
func BenchmarkDeviceEach(b *testing.B) {
	gputest.Machine(b)
	const n = 1 << 22
	for _, f := range deviceFormats {
		d := benchMatrix(b, f, n, 1)
		for _, op := range benchOperations {
			b.Run(fmt.Sprintf("%v/%s", f, op.name), func(b *testing.B) {
				dev, x := gpuMatrix(d)
				must(b, dev.Do(context.Background(), func(s *cuda.Stream) error {
					var all []mem.Matrix
					for range op.operands + 1 {
						a, err := mem.NewArray(s, x.Arr.Format, n)
						must(b, err)
						defer a.Free()
						m := x
						m.Arr = a
						must(b, expgpu.Copy(s, m, x))
						all = append(all, m)
					}
					ms := clock(b, s, 11, func() error { return expgpu.Each(s, op.name, all[0], all[1:]...) })
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(ms, "ms")
					b.ReportMetric(float64(8*x.Arr.Terms()*(op.operands+1)*n)*1e-6/ms, "GB/s")
					b.ReportMetric(n/ms, "op/ms")
					return nil
				}))
			})
		}
	}
}

// BenchmarkDeviceCompute measures operations 10^4 times on 16384 numbers each by both schemes, the
// paper's test, and 10^3 times on 2^20: operations a ms.
func BenchmarkDeviceCompute(b *testing.B) {
	gputest.Machine(b)
	for _, c := range []struct {
		n, repeat int
		scheme    expgpu.Scheme
	}{{1 << 14, 10000, expgpu.Fixed}, {1 << 14, 10000, expgpu.Spread}, {1 << 20, 300, expgpu.Fixed}, {1 << 20, 300, expgpu.Spread}} {
		for _, f := range deviceFormats {
			d := benchMatrix(b, f, c.n, 2)
			for _, op := range benchOperations {
				b.Run(fmt.Sprintf("n=%d/scheme=%d/%v/%s", c.n, c.scheme, f, op.name), func(b *testing.B) {
					dev, x := gpuMatrix(d.Slice(0, c.n, 0, 1))
					_, z := gpuMatrix(d.Slice(0, c.n, 1, 2))
					must(b, dev.Do(context.Background(), func(s *cuda.Stream) error {
						ms := clock(b, s, 3, func() error {
							return expgpu.EachRepeated(s, op.name, c.scheme, c.repeat, z, []mem.Matrix{x, x, x}[:op.operands]...)
						})
						b.ReportMetric(0, "ns/op")
						b.ReportMetric(float64(c.n*c.repeat)/ms, "op/ms")
						return nil
					}))
				})
			}
		}
	}
}

// BenchmarkDeviceGemm measures 1600 x 3200 by 3200 x 1600, natively and by the exact engine, and
// native Gemv 1000 x 1000 and Dot of 10^6.
func BenchmarkDeviceGemm(b *testing.B) {
	gputest.Machine(b)
	const m, k, n = 1600, 3200, 1600
	one, zero := expgpu.One, expgpu.Zero
	for _, f := range deviceFormats {
		b.Run(f.String(), func(b *testing.B) {
			x, y, z := benchMatrix(b, f, m, k), benchMatrix(b, f, k, n), benchMatrix(b, f, m, n)
			dev, vx := gpuMatrix(x)
			_, vy := gpuMatrix(y)
			_, vz := gpuMatrix(z)
			b.ReportMetric(0, "ns/op")
			must(b, dev.Do(context.Background(), func(s *cuda.Stream) error {
				b.ReportMetric(clock(b, s, 3, func() error { return expgpu.Gemm(s, one, vx, vy, zero, vz) }), "native-ms")
				unit := halfulp.Float(1).View()
				none := halfulp.Float(0).View()
				b.ReportMetric(clock(b, s, 5, func() error {
					_, err := product.GemmOnDevice(s, product.Config{}, unit, vx, vy, none, vz, vz)
					return err
				}), "exact-ms")
				_, sx := gpuMatrix(x.Slice(0, 1000, 0, 1000))
				_, col := gpuVector(y.Col(0).Slice(0, 1000))
				_, out := gpuVector(z.Col(0).Slice(0, 1000))
				b.ReportMetric(clock(b, s, 11, func() error { return expgpu.Gemv(s, one, sx, col, zero, out) }), "gemv-ms")
				b.ReportMetric(clock(b, s, 11, func() error { return expgpu.Gemv(s, one, sx.T(), col, zero, out) }), "gemvT-ms")
				_, u := gpuVector(x.Vec().Slice(0, 1000000))
				_, v := gpuVector(y.Vec().Slice(0, 1000000))
				b.ReportMetric(clock(b, s, 11, func() error {
					_, err := expgpu.Dot(s, u, v)
					return err
				}), "dot-ms")
				return nil
			}))
		})
	}
}

// BenchmarkDeviceSolve measures the 2400 x 2400 system with 1600 right-hand sides.
func BenchmarkDeviceSolve(b *testing.B) {
	gputest.Machine(b)
	const n, m = 2400, 1600
	for _, f := range deviceFormats {
		x, y := benchMatrix(b, f, n, n), benchMatrix(b, f, n, m)
		z, err := halfulp.NewMatrixOn(device, f, n, m)
		must(b, err)
		b.Cleanup(z.Free)
		dev, vx := gpuMatrix(x)
		_, vy := gpuMatrix(y)
		_, vz := gpuMatrix(z)
		for _, block := range []int{0, 64, 128, 192, 256, 384} {
			for _, zero := range []bool{false, true} {
				if zero && block > 0 {
					continue
				}
				b.Run(fmt.Sprintf("%v/block=%d/zeroRule=%v", f, block, zero), func(b *testing.B) {
					must(b, dev.Do(context.Background(), func(s *cuda.Stream) error {
						ms := clock(b, s, 3, func() error {
							return expgpu.Solve(s, expgpu.Elimination{ZeroRule: zero, Block: block}, vx, vy, vz)
						})
						b.ReportMetric(0, "ns/op")
						b.ReportMetric(ms, "ms")
						return nil
					}))
				})
			}
		}
	}
}
