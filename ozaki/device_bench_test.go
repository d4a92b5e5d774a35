package ozaki

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/place"
)

// residentMatrix returns a matrix of the paper's, φ = 1, in the GPU's memory.
func residentMatrix(b *testing.B, f halfulp.Format, n int) *halfulp.Matrix {
	b.Helper()
	data := make([]float64, n*n)
	var wait sync.WaitGroup
	const parts = 16
	for p := range parts {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(n), uint64(p)))
			for i := p; i < len(data); i += parts {
				data[i] = (rng.Float64() - 0.5) * math.Exp(rng.NormFloat64())
			}
		})
	}
	wait.Wait()
	m := halfulp.NewMatrixFloat64(n, n, n, data)
	if f != halfulp.Float64 {
		m = m.Convert(f)
	}
	return on(b, m)
}

// medianOf reports the median time of seven runs of f, without the first.
func medianOf(b *testing.B, name string, f func() error) float64 {
	b.Helper()
	var times []time.Duration
	for i := range 8 {
		start := time.Now()
		must(b, f())
		if t := time.Since(start); i > 0 {
			times = append(times, t)
		}
	}
	slices.Sort(times)
	ms := float64(times[len(times)/2]) * 1e-6
	b.ReportMetric(ms, name+"-ms")
	return ms
}

// native returns a function that multiplies matrices by cuBLAS and waits for the end.
func native(x, y, z *halfulp.Matrix) func() error {
	return func() error {
		return place.Provided[place.Ozaki]().Native(context.Background(), x.View(), y.View(), z.View())
	}
}

// BenchmarkDevice measures products of n x n matrices that are on the GPU, by the host's clock,
// and their stages by the device's; beside them SGEMM and DGEMM of cuBLAS, double-floats, and
// the correctly rounded float64 product. products/sgemm is the time of a product by slices over
// the time of K (K+1)/2 SGEMMs.
func BenchmarkDevice(b *testing.B) {
	gputest.Machine(b)
	for _, n := range []int{128, 256, 512, 1024, 2048, 4096} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) { benchmarkDevice(b, n) })
	}
}

func benchmarkDevice(b *testing.B, n int) {
	b.ReportMetric(0, "ns/op")
	x, y := residentMatrix(b, halfulp.Float64, n), residentMatrix(b, halfulp.Float64, n)
	z, err := halfulp.NewMatrixOn("cuda:0", halfulp.Float64, n, n)
	must(b, err)
	defer z.Free()
	ways := []string{"cublas", "own"}
	single := 0.0
	if err := native(x, y, z)(); errors.Is(err, place.ErrLibrary) {
		ways = ways[1:]
	} else {
		x32, y32 := residentMatrix(b, halfulp.Float32, n), residentMatrix(b, halfulp.Float32, n)
		z32, err := halfulp.NewMatrixOn("cuda:0", halfulp.Float32, n, n)
		must(b, err)
		defer z32.Free()
		single = medianOf(b, "sgemm", native(x32, y32, z32))
		medianOf(b, "dgemm", native(x, y, z))
	}
	for k := 1; k <= 6; k++ {
		for _, way := range ways {
			var stages [3][]time.Duration
			name := fmt.Sprintf("K=%d/%s", k, way)
			t := medianOf(b, name, func() error {
				var stats Stats
				err := Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, x, y, 0, z, &Options{Slices: k, SGEMM: way, Stats: &stats})
				for i, s := range stats.Stages {
					stages[i] = append(stages[i], s.Time)
				}
				return err
			})
			for i, s := range []string{"split", "products", "sum"} {
				slices.Sort(stages[i])
				b.ReportMetric(float64(stages[i][len(stages[i])/2])*1e-6, name+"/"+s+"-ms")
			}
			if single > 0 {
				b.ReportMetric(t/(single*float64(k*(k+1)/2)), name+"/sgemm")
			}
		}
	}
	medianOf(b, "doublefloat", func() error {
		err := GemmDoubleFloat(halfulp.NoTrans, halfulp.NoTrans, 1, x, y, 0, z, nil)
		return err
	})
	one, zero := halfulp.Float(1), halfulp.Float(0)
	medianOf(b, "exact", func() error {
		return halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, x, y, zero, z, nil)
	})
}
