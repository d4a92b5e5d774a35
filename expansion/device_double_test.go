package expansion

import (
	"context"
	"math"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/expgpu"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testseed"
)

// doubles are the operations and functions of double.cu.
var doubles = map[string]func(x, y float64) float64{
	"Add":  func(x, y float64) float64 { return x + y },
	"Sub":  func(x, y float64) float64 { return x - y },
	"Mul":  func(x, y float64) float64 { return x * y },
	"Div":  func(x, y float64) float64 { return x / y },
	"Sqrt": func(x, _ float64) float64 { return math.Sqrt(x) },
	"exp":  func(x, _ float64) float64 { return math.Exp(x) },
	"log":  func(x, _ float64) float64 { return math.Log(x) },
	"sin":  func(x, _ float64) float64 { return math.Sin(x) },
	"cos":  func(x, _ float64) float64 { return math.Cos(x) },
}

// checkDoubles compares operations on doubles with Go's, bit by bit, and functions to a few units
// of the last place.
func checkDoubles(t *testing.T, n int) {
	r := testseed.Rand(t, 1, 22)
	m := halfulp.NewMatrix(halfulp.Float64, n, 2)
	x := m.View().Arr.F64[0]
	for i := range x {
		x[i] = math.Ldexp(1+float64(r.Float64()), r.IntN(12)-6)
	}
	d := laid(t, m, 0)
	z, err := halfulp.NewVectorOn(device, halfulp.Float64, n)
	must(t, err)
	defer z.Free()
	view := func(x *halfulp.Vector) mem.Matrix { return backend.Matrix(x.Matrix().View()) }
	dev := backend.Device(place.Of(z.View().Arr))
	for name, f := range doubles {
		operands := []mem.Matrix{view(d.Col(0)), view(d.Col(1))}
		if f(1, 2) == f(1, 3) {
			operands = operands[:1]
		}
		for _, scheme := range []expgpu.Scheme{expgpu.Spread, expgpu.Fixed} {
			must(t, dev.Do(context.Background(), func(s *cuda.Stream) error {
				if err := expgpu.EachRepeated(s, name, scheme, 3, view(z), operands...); err != nil {
					return err
				}
				return s.Synchronize()
			}))
			got, err := z.Host()
			must(t, err)
			for i := range n {
				v, want := got.View().Arr.F64[0][i], f(x[i], x[n+i])
				if near := math.Abs(v-want) <= 0x1p-50*math.Abs(want); v != want && !(name[0] >= 'a' && near) {
					t.Fatalf("%s(%x, %x) = %x, want %x", name, x[i], x[n+i], v, want)
				}
			}
		}
	}
}

// TestDoubleReference runs the host's side on a fake GPU.
func TestDoubleReference(t *testing.T) {
	onReference(t)
	checkDoubles(t, 300)
}

// TestDoubleDevice runs the kernels of the machine's GPU.
func TestDoubleDevice(t *testing.T) {
	gputest.Machine(t)
	checkDoubles(t, 100000)
}

// registerDoubles registers the kernels of double.cu.
func registerDoubles(drv *fake.Driver) {
	for name, f := range doubles {
		drv.Kernel("expansion"+name+"Double", func(l *fake.Launch, z, x, y, _ refEntries, rows, cols int64, _, _ int32) {
			vz, vx, vy := z.open(l, rows, cols), x.open(l, rows, cols), y.open(l, rows, cols)
			for j := range cols {
				for i := range rows {
					b := 0.0
					if y.W[0] != 0 {
						b = *vy.word(0, i, j)
					}
					*vz.word(0, i, j) = f(*vx.word(0, i, j), b)
				}
			}
		})
	}
}
