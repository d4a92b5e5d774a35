package rns

import (
	"context"
	"fmt"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/rnsgpu"
)

// laplacian is the five-point difference on a square grid of n² points, of doubles or of numbers.
func laplacian(b *Base, n int, doubles bool) (*Sparse, error) {
	ptr, columns, values := []int{0}, []int32(nil), []float64(nil)
	for k := range n * n {
		for _, d := range []struct {
			there bool
			step  int
			value float64
		}{{k >= n, -n, -1}, {k%n > 0, -1, -1}, {true, 0, 4}, {k%n < n-1, 1, -1}, {k < n*n-n, n, -1}} {
			if d.there {
				columns, values = append(columns, int32(k+d.step)), append(values, d.value)
			}
		}
		ptr = append(ptr, len(columns))
	}
	if doubles {
		return b.CSRFloat64(n*n, n*n, ptr, columns, values)
	}
	return NewCSR(n*n, n*n, ptr, columns, b.VectorFloat64(values))
}

// sparseBenchmarks are the products that are measured.
func sparseBenchmarks(b *testing.B, base *Base, n int, f func(name string, a *Sparse, threads int)) {
	b.Helper()
	for _, doubles := range []bool{false, true} {
		csr, err := laplacian(base, n, doubles)
		must(b, err)
		for _, format := range sparseFormats {
			a, err := csr.To(format)
			must(b, err)
			for _, threads := range []int{1, 4} {
				f(fmt.Sprintf("%v/float64=%v/threads=%d", format, doubles, threads), a, threads)
			}
		}
	}
}

// BenchmarkSpMV multiplies the five-point matrix of order 10^4 and full significands on the CPU.
func BenchmarkSpMV(b *testing.B) {
	const n = 100
	for _, p := range []int{106, 424} {
		base, err := GemvBase(p)
		must(b, err)
		x, y := benchArray(base, n*n, p).Vector(0, n*n, 1), base.NewVector(n*n)
		sparseBenchmarks(b, base, n, func(name string, a *Sparse, threads int) {
			b.Run(fmt.Sprintf("p=%d/%s", p, name), func(b *testing.B) {
				measure(b, a.Entries(), func() { done(SpMV(a, x, y, &Options{RowThreads: threads})) })
			})
		})
	}
}

// BenchmarkDeviceSpMV multiplies the matrix of order 10^6 on a GPU.
func BenchmarkDeviceSpMV(b *testing.B) {
	dev := machine(b)
	const n = 1000
	for _, p := range []int{106, 424} {
		b.Run(fmt.Sprint("p=", p), func(b *testing.B) {
			base, err := GemvBase(p)
			must(b, err)
			b.ReportMetric(0, "ns/op")
			arr := benchArray(base, 2*n*n, p).copyAt(b, dev)
			x, y := arr.Vector(0, n*n, 1), arr.Vector(n*n, n*n, 1)
			c, err := base.on(context.Background(), dev)
			must(b, err)
			sparseBenchmarks(b, base, n, func(name string, a *Sparse, threads int) {
				da := *a
				values, err := base.arrayAt(dev, a.values.n)
				must(b, err)
				da.values = values.Vector(0, a.values.n, 1)
				must(b, da.values.CopyFrom(a.values))
				must(b, da.load())
				defer da.Free()
				must(b, backend.Do(context.Background(), dev, func(s *cuda.Stream) error {
					q, finish := c.(*rnsgpu.Base).Queue(s, 0)
					defer finish()
					deviceTimer{b, s}.measure(name, func() error {
						return q.SparseProducts(da.away, da.values.view().native(), x.view().native(), threads, y.view().native())
					})
					return nil
				}))
			})
		})
	}
}
