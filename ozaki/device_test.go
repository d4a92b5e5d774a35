package ozaki

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testseed"
)

// eachDevice runs f on the machine's GPU, if there is one, and on a device whose kernels are
// written in Go.
func eachDevice(t *testing.T, f func(t *testing.T, real bool)) {
	t.Run("reference", func(t *testing.T) {
		defer mem.Substitute(newReference(t))()
		f(t, false)
	})
	t.Run("machine", func(t *testing.T) {
		gputest.Machine(t)
		f(t, true)
	})
}

// must stops a test.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sameBits reports whether x and y are equal, sign of zero included, or NaN both.
func sameBits(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
}

// wantBits compares two matrices.
func wantBits(t *testing.T, what string, got, want *halfulp.Matrix) {
	t.Helper()
	for j := range want.Cols() {
		for i := range want.Rows() {
			if x, y := got.Float64(i, j), want.Float64(i, j); !sameBits(x, y) {
				t.Fatalf("%s: entry (%d, %d) is %g (%#x), want %g (%#x)", what, i, j, x, math.Float64bits(x), y, math.Float64bits(y))
			}
		}
	}
}

// A family draws matrices.
type family struct {
	name string
	draw func(rng *rand.Rand, rows, cols int) *halfulp.Matrix
}

// with returns a matrix of the paper's, with entries changed by f.
func with(phi float64, f func(rng *rand.Rand, i, j int, x float64) float64) func(rng *rand.Rand, rows, cols int) *halfulp.Matrix {
	return func(rng *rand.Rand, rows, cols int) *halfulp.Matrix {
		m := testMatrix(rng, rows, cols, phi)
		for j := range cols {
			for i := range rows {
				m.SetFloat64(i, j, f(rng, i, j, m.Float64(i, j)))
			}
		}
		return m
	}
}

var families = []family{
	{"paper", with(1, func(_ *rand.Rand, _, _ int, x float64) float64 { return x })},
	{"zero rows and columns", with(2, func(_ *rand.Rand, i, j int, x float64) float64 {
		if i%3 == 0 || j%4 == 1 {
			return 0
		}
		return x
	})},
	{"far apart", with(1, func(rng *rand.Rand, i, j int, x float64) float64 {
		return x * []float64{1e300, 1e-300, 1, -1e150, 5e-324, 1e-310}[(i+2*j+rng.IntN(2))%6]
	})},
	{"random bits", with(0, func(rng *rand.Rand, _, _ int, _ float64) float64 {
		for {
			if x := math.Float64frombits(rng.Uint64()); finite(x) {
				return x
			}
		}
	})},
	{"subnormal", with(0, func(rng *rand.Rand, _, _ int, _ float64) float64 {
		return math.Float64frombits(rng.Uint64N(1<<rng.IntN(53))) * float64(1-2*rng.IntN(2))
	})},
	{"powers of two", with(0, func(rng *rand.Rand, _, _ int, _ float64) float64 {
		return math.Ldexp(float64(1-2*rng.IntN(2)), rng.IntN(30))
	})},
	{"ties", with(0, func(rng *rand.Rand, _, _ int, _ float64) float64 { return float64(2*rng.IntN(1<<16)+1) / 2 })},
	{"specials", with(1, func(rng *rand.Rand, _, _ int, x float64) float64 {
		if rng.IntN(40) == 0 {
			return []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), math.MaxFloat64}[rng.IntN(5)]
		}
		return x
	})},
}

// on returns a copy of m on GPU 0 that is freed at the end of the test.
func on(t testing.TB, m *halfulp.Matrix) *halfulp.Matrix {
	t.Helper()
	z, err := m.On("cuda:0")
	must(t, err)
	t.Cleanup(z.Free)
	return z
}

// gpu are options with GPU 0.
func gpu(o Options) *Options {
	o.Device = "cuda:0"
	return &o
}

// a view of some columns of a larger matrix.
func embedded(m *halfulp.Matrix) *halfulp.Matrix {
	z := halfulp.NewMatrixLD(halfulp.Float64, m.Rows()+2, m.Cols()+1, m.Rows()+5).Slice(1, m.Rows()+1, 1, m.Cols()+1)
	for j := range m.Cols() {
		for i := range m.Rows() {
			z.SetFloat64(i, j, m.Float64(i, j))
		}
	}
	return z
}

// TestDeviceGemm checks that products by chains of multiply-adds and their bounds have the bits
// of the CPU's, and that products by cuBLAS satisfy the bounds.
func TestDeviceGemm(t *testing.T) {
	eachDevice(t, func(t *testing.T, real bool) {
		rng := testseed.Rand(t, 7, 8)
		shapes := [][3]int{{1, 1, 1}, {3, 5, 2}, {17, 33, 9}, {5, 300, 7}, {20, 65, 31}}
		every := 4 // of them is tried
		if real {
			every = 2
			shapes = append(shapes, [3]int{130, 600, 67}, [3]int{64, 1030, 257}, [3]int{1, 2000, 500}, [3]int{300, 3, 1})
		}
		for _, f := range families {
			for n, shape := range shapes {
				for k, slices := range []int{1, 2, 3, 6, 9, 11} {
					if n > 0 && (n+k)%every != 1 {
						continue
					}
					m, l, p := shape[0], shape[1], shape[2]
					a, b, c := f.draw(rng, m, l), f.draw(rng, l, p), f.draw(rng, m, p)
					opt := Options{Slices: slices}
					alpha, beta, tA, tB := 1.0, 0.0, halfulp.NoTrans, halfulp.NoTrans
					switch (n + k/2) % 4 {
					case 1:
						alpha, beta, opt.Block, opt.MemoryLimit = -0.7, 1.3, 32, 1<<17
						a, tA = a.T(), halfulp.Trans
					case 2:
						alpha, beta, opt.Block = 3e-5, math.Inf(1), 48
						b, tB = embedded(b.T()), halfulp.Trans
					case 3:
						alpha, beta = 1e300, -1e-300
						a, c = embedded(a), embedded(c)
					}
					name := fmt.Sprintf("%s %v K=%d", f.name, shape, slices)
					compareDevice(t, name, real, tA, tB, alpha, a, b, beta, c, opt)
				}
			}
		}
	})
}

// compareDevice computes a product on the CPU and on a GPU, there from operands of the host and
// from operands of the device.
func compareDevice(t *testing.T, name string, real bool, tA, tB halfulp.Transpose, alpha float64, a, b *halfulp.Matrix, beta float64, c *halfulp.Matrix, opt Options) {
	t.Helper()
	cpu, want := opt, c.Clone()
	cpu.Bound = halfulp.NewMatrix(halfulp.Float64, c.Rows(), c.Cols())
	var stats Stats
	cpu.Stats = &stats
	err := Gemm(tA, tB, alpha, a, b, beta, want, &cpu)
	must(t, err)

	dev, got := opt, c.Clone()
	dev.Device, dev.SGEMM = "cuda:0", "own"
	dev.Bound = halfulp.NewMatrix(halfulp.Float64, c.Rows(), c.Cols())
	last := 0.0
	dev.Progress = func(done float64) {
		if done <= last || done > 1 {
			t.Errorf("%s: progress %g after %g", name, done, last)
		}
		last = done
	}
	var own Stats
	dev.Stats = &own
	err = Gemm(tA, tB, alpha, a, b, beta, got, &dev)
	must(t, err)
	if last != 1 {
		t.Errorf("%s: progress ended at %g", name, last)
	}
	dev.Progress = nil
	wantBits(t, name+" on a GPU", got, want)
	wantBits(t, name+": bounds on a GPU", dev.Bound, cpu.Bound)
	if own.Device != "cuda:0" && finite(alpha) || own.Slices != stats.Slices || own.Bits != stats.Bits || own.Block != stats.Block {
		t.Errorf("%s: %+v on a GPU, %+v on the CPU", name, own, stats)
	}
	compareDoubleFloat(t, name, tA, tB, alpha, a, b, beta, c)

	x, y, z, bound := on(t, a), on(t, b), on(t, c), on(t, dev.Bound)
	opt.SGEMM, opt.Bound = "own", halfulp.NewMatrix(halfulp.Float64, c.Rows(), c.Cols())
	var stays Stats
	opt.Stats = &stays
	err = Gemm(tA, tB, alpha, x, y, beta, z, &opt)
	must(t, err)
	got, err = z.Host()
	must(t, err)
	wantBits(t, name+" of matrices on a GPU", got, want)
	wantBits(t, name+": bounds of matrices on a GPU", opt.Bound, cpu.Bound)
	if stays.Device != own.Device || stays.Slices != own.Slices || stays.Products != own.Products || stays.Blocks != own.Blocks {
		t.Errorf("%s: %+v of matrices on a GPU, %+v of matrices on the host", name, stays, own)
	}
	must(t, z.CopyFrom(c))
	opt.SGEMM, opt.Bound = "cublas", bound
	// no cuBLAS
	if err = Gemm(tA, tB, alpha, x, y, beta, z, &opt); errors.Is(err, halfulp.ErrMethod) {
		return
	}
	must(t, err)
	got, err = z.Host()
	must(t, err)
	host, err := bound.Host()
	must(t, err)
	wantBits(t, name+": bounds that stay on a GPU", host, cpu.Bound)
	for j := range c.Cols() {
		for i := range c.Rows() {
			g, w, bound := got.Float64(i, j), want.Float64(i, j), cpu.Bound.Float64(i, j)
			if !sameBits(g, w) && !(math.Abs(g-w) <= 2*bound) {
				t.Fatalf("%s by cuBLAS: entry (%d, %d) is %g, by chains %g: bound %g", name, i, j, g, w, bound)
			}
		}
	}
}

// compareDoubleFloat computes a product in double-float arithmetic on the CPU and on a GPU.
func compareDoubleFloat(t *testing.T, name string, tA, tB halfulp.Transpose, alpha float64, a, b *halfulp.Matrix, beta float64, c *halfulp.Matrix) {
	t.Helper()
	var results, bounds [2]*halfulp.Matrix
	for i, device := range []halfulp.Device{"cpu", "cuda:0"} {
		results[i], bounds[i] = c.Clone(), halfulp.NewMatrix(halfulp.Float64, c.Rows(), c.Cols())
		err := GemmDoubleFloat(tA, tB, alpha, a, b, beta, results[i], &Options{Options: halfulp.Options{Device: device}, Bound: bounds[i]})
		must(t, err)
	}
	wantBits(t, name+" by double-floats", results[1], results[0])
	z, bound := on(t, c), on(t, bounds[0])
	err := GemmDoubleFloat(tA, tB, alpha, on(t, a), on(t, b), beta, z, &Options{Bound: bound})
	must(t, err)
	stays, err := z.Host()
	must(t, err)
	wantBits(t, name+" by double-floats of matrices on a GPU", stays, results[0])
	stays, err = bound.Host()
	must(t, err)
	wantBits(t, name+" by double-floats: bounds that stay on a GPU", stays, bounds[1])
	for j := range c.Cols() {
		for i := range c.Rows() {
			if cpu, dev := bounds[0].Float64(i, j), bounds[1].Float64(i, j); !(dev >= cpu*(1-0x1p-20) && dev <= cpu*(1+0x1p-20)+0x1p-1000) {
				t.Fatalf("%s: bound (%d, %d) of double-floats is %g, the CPU's %g", name, i, j, dev, cpu)
			}
		}
	}
}

// TestDeviceExact checks that products without error are that by whatever multiplies: numbers of
// two slices by six leave nothing to the remainders.
func TestDeviceExact(t *testing.T) {
	eachDevice(t, func(t *testing.T, real bool) {
		rng := testseed.Rand(t, 3, 4)
		shapes := [][3]int{{9, 200, 8}}
		if real {
			shapes = [][3]int{{100, 4096, 120}, {200, 2048, 150}, {40, 511, 40}}
		}
		for _, s := range shapes {
			width := sliceWidth(s[1])
			integers := with(0, func(rng *rand.Rand, i, j int, _ float64) float64 {
				x := rng.IntN(1 << (2*width + 1))
				if i == j {
					x = 1<<(2*width+1) - 1 // the largest, so that slices are full
				}
				return float64(x) * float64(1-2*rng.IntN(2))
			})
			a, b := integers(rng, s[0], s[1]), integers(rng, s[1], s[2])
			want := halfulp.NewMatrix(halfulp.Float64, s[0], s[2])
			x, _, _ := a.RawFloat64()
			y, _, _ := b.RawFloat64()
			for j := range s[2] {
				for i := range s[0] {
					sum := int64(0)
					for h := range s[1] {
						sum += int64(x[i+h*s[0]]) * int64(y[h+j*s[1]])
					}
					want.SetFloat64(i, j, float64(sum)) // below 2^53
				}
			}
			for _, sgemm := range []string{"own", "cublas"} {
				got := halfulp.NewMatrix(halfulp.Float64, s[0], s[2])
				err := Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, a, b, 0, got, gpu(Options{Slices: 6, SGEMM: sgemm}))
				if sgemm == "cublas" && errors.Is(err, halfulp.ErrMethod) {
					continue
				}
				must(t, err)
				wantBits(t, fmt.Sprint(s, " by ", sgemm), got, want)
			}
		}
	})
}

// TestDeviceTolerance checks that the number of slices is the CPU's.
func TestDeviceTolerance(t *testing.T) {
	eachDevice(t, func(t *testing.T, _ bool) {
		rng := testseed.Rand(t, 5, 6)
		a, b := testMatrix(rng, 20, 700, 1), testMatrix(rng, 700, 10, 1)
		for _, tolerance := range []float64{1e-3, 1e-7, 1e-12, 1e-30} {
			var slices [2]int
			for i, device := range []halfulp.Device{"cpu", "cuda:0"} {
				c := halfulp.NewMatrix(halfulp.Float64, 20, 10)
				opt := Options{Tolerance: tolerance, Block: 256, Options: halfulp.Options{Device: device}}
				var stats Stats
				opt.Stats = &stats
				err := Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, a, b, 0, c, &opt)
				if tolerance < 1e-16 {
					if !errors.Is(err, ErrTolerance) {
						t.Error(device, tolerance, err)
					}
					continue
				}
				must(t, err)
				slices[i] = stats.Slices
			}
			if slices[0] != slices[1] {
				t.Errorf("tolerance %g: %d slices on the CPU, %d on a GPU", tolerance, slices[0], slices[1])
			}
		}
	})
}

// TestDeviceDegenerate checks products with nothing to multiply, and an infinite α.
func TestDeviceDegenerate(t *testing.T) {
	eachDevice(t, func(t *testing.T, real bool) {
		rng := testseed.Rand(t, 9, 9)
		for _, s := range [][3]int{{0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {0, 0, 0}, {4, 3, 5}} {
			for _, alpha := range []float64{0, 1, math.Inf(-1), math.NaN()} {
				for _, beta := range []float64{0, 1, -2.5, math.Inf(1)} {
					a, b, c := testMatrix(rng, s[0], s[1], 1), testMatrix(rng, s[1], s[2], 1), testMatrix(rng, s[0], s[2], 1)
					if s[2] > 1 && s[0] > 1 {
						c.SetFloat64(0, 0, math.NaN())
						c.SetFloat64(1, 1, math.Copysign(0, -1))
					}
					opt := Options{Slices: 3}
					if beta == 1 {
						opt = Options{Tolerance: 1e-3}
					}
					compareDevice(t, fmt.Sprint(s, alpha, beta), real, halfulp.NoTrans, halfulp.NoTrans, alpha, a, b, beta, c, opt)
				}
			}
		}
	})
}

// TestDeviceFloat32 checks operands of float32.
func TestDeviceFloat32(t *testing.T) {
	eachDevice(t, func(t *testing.T, real bool) {
		rng := testseed.Rand(t, 2, 9)
		a, b := testMatrix(rng, 30, 70, 2).Convert(halfulp.Float32), testMatrix(rng, 70, 20, 2)
		c := halfulp.NewMatrix(halfulp.Float64, 30, 20)
		compareDevice(t, "float32", real, halfulp.NoTrans, halfulp.NoTrans, 1, a, b, 0, c, Options{Slices: 4})
		compareDevice(t, "float32", real, halfulp.Trans, halfulp.Trans, 1, b, a, 0, halfulp.NewMatrix(halfulp.Float64, 20, 30), Options{Slices: 4})
	})
}

// TestDeviceErrors checks errors.
func TestDeviceErrors(t *testing.T) {
	defer mem.Substitute(newReference(t))()
	a := halfulp.NewMatrix(halfulp.Float64, 3, 3)
	for _, device := range []halfulp.Device{"cuda:7", "cuda:0,1"} {
		opt := Options{Slices: 2, Options: halfulp.Options{Device: device}}
		if err := Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, a, a, 0, a, &opt); !errors.Is(err, halfulp.ErrDevice) {
			t.Errorf("%s: error %v", device, err)
		}
		if err := opt.Validate(); !errors.Is(err, halfulp.ErrDevice) {
			t.Errorf("%s: Validate says %v", device, err)
		}
	}
	must(t, gpu(Options{}).Validate())

	x, y := on(t, a), on(t, a)
	for name, m := range map[string][3]*halfulp.Matrix{"A": {a, x, x}, "B": {x, a, x}, "C": {x, x, a}} {
		if err := Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, m[0], m[1], 0, m[2], &Options{Slices: 2}); !errors.Is(err, halfulp.ErrMixedDevices) {
			t.Errorf("%s on the host: error %v", name, err)
		}
	}
	if err := Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, a, a, 0, a, gpu(Options{Slices: 2, Bound: x})); !errors.Is(err, halfulp.ErrMixedDevices) {
		t.Errorf("bounds on a GPU, C on the host: error %v", err)
	}
	if err := Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, x, x, 0, y, &Options{Slices: 2, SGEMM: "cublas"}); !errors.Is(err, halfulp.ErrMethod) {
		t.Errorf("no cuBLAS: error %v", err)
	}
	if err := Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, x, x, 0, y, &Options{Slices: 2, Options: halfulp.Options{Device: "tpu"}}); !errors.Is(err, halfulp.ErrDevice) {
		t.Errorf("no name of a device, matrices on a GPU: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, m := range map[string]*halfulp.Matrix{"the host": a, "a GPU": x} {
		if err := Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, m, m, 0, m, &Options{Slices: 2, Options: halfulp.Options{Device: "cuda:0", Context: ctx}}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled, matrices on %s: error %v", name, err)
		}
	}
	freed := on(t, a)
	freed.Free()
	for message, opt := range map[string]Options{errAlias: {Slices: 2, Bound: y}, place.Freed: {Slices: 2, Bound: freed}} {
		func() {
			defer func() {
				if got := recover(); got != message {
					t.Errorf("got %v, want %q", got, message)
				}
			}()
			_ = Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, x, x, 0, y, &opt)
		}()
	}
}

// TestDeviceAliasing checks that outputs that overlap factors get the numbers of distinct storage,
// on the host and on GPUs alike, and that nothing stays in a GPU's memory.
func TestDeviceAliasing(t *testing.T) {
	eachDevice(t, func(t *testing.T, _ bool) {
		rng := testseed.Rand(t, 23, 24)
		all := testMatrix(rng, 40, 30, 1)
		x := on(t, all)
		view := func(m *halfulp.Matrix, i, j int) *halfulp.Matrix { return m.Slice(i, i+20, j, j+20) }
		dev, err := mem.Open(0)
		must(t, err)
		before := dev.Counters().InUse
		for _, at := range [][3][2]int{ // where A, B and C begin
			{{0, 0}, {0, 0}, {0, 0}}, {{0, 0}, {20, 0}, {0, 0}}, {{20, 0}, {0, 0}, {0, 0}}, {{0, 0}, {20, 10}, {10, 5}},
			{{0, 0}, {0, 0}, {1, 1}}, {{0, 0}, {20, 0}, {20, 10}}, {{0, 0}, {0, 10}, {20, 0}},
		} {
			for _, tB := range []halfulp.Transpose{halfulp.NoTrans, halfulp.Trans} {
				for name, gemm := range map[string]func(halfulp.Transpose, halfulp.Transpose, float64, *halfulp.Matrix, *halfulp.Matrix, float64, *halfulp.Matrix, *Options) error{
					"Gemm": Gemm, "GemmDoubleFloat": GemmDoubleFloat,
				} {
					want := all.Clone()
					apart := view(want, at[2][0], at[2][1]).Clone()
					err := gemm(halfulp.NoTrans, tB, 1.5, view(all, at[0][0], at[0][1]), view(all, at[1][0], at[1][1]), -1, apart, &Options{Slices: 3})
					must(t, err)
					must(t, view(want, at[2][0], at[2][1]).CopyFrom(apart))

					must(t, x.CopyFrom(all))
					for where, m := range map[string]*halfulp.Matrix{"the host": all.Clone(), "a GPU": x} {
						err := gemm(halfulp.NoTrans, tB, 1.5, view(m, at[0][0], at[0][1]), view(m, at[1][0], at[1][1]), -1, view(m, at[2][0], at[2][1]),
							&Options{Slices: 3, SGEMM: "own"})
						must(t, err)
						got, err := m.Host()
						must(t, err)
						wantBits(t, fmt.Sprintf("%s of %v on %s, op(B) by %c", name, at, where, tB), got, want)
					}
				}
			}
		}
		if after := dev.Counters().InUse; after != before {
			t.Errorf("%d bytes in use before, %d after", before, after)
		}
	})
}

// TestDeviceProgress checks that products in parts report each part, and end when cancelled.
func TestDeviceProgress(t *testing.T) {
	eachDevice(t, func(t *testing.T, _ bool) {
		rng := testseed.Rand(t, 25, 26)
		a, b, c := testMatrix(rng, 300, 40, 1), testMatrix(rng, 40, 150, 1), halfulp.NewMatrix(halfulp.Float64, 300, 150)
		for where, m := range map[string][3]*halfulp.Matrix{"the host": {a, b, c}, "a GPU": {on(t, a), on(t, b), on(t, c)}} {
			for name, gemm := range map[string]func(halfulp.Transpose, halfulp.Transpose, float64, *halfulp.Matrix, *halfulp.Matrix, float64, *halfulp.Matrix, *Options) error{
				"Gemm": Gemm, "GemmDoubleFloat": GemmDoubleFloat,
			} {
				ctx, cancel := context.WithCancel(t.Context())
				last, calls, stop := 0.0, 0, 0
				opt := gpu(Options{Slices: 3, SGEMM: "own", Block: 16})
				opt.MemoryLimit, opt.Context = 1, ctx
				opt.Progress = func(done float64) {
					if done <= last || done > 1 {
						t.Errorf("%s of matrices on %s: progress %g after %g", name, where, done, last)
					}
					last = done
					if calls++; calls == stop {
						cancel()
					}
				}
				err := gemm(halfulp.NoTrans, halfulp.NoTrans, 1, m[0], m[1], 0, m[2], opt)
				if err != nil || last != 1 || calls < 6 {
					t.Errorf("%s of matrices on %s: %d calls up to %g, error %v", name, where, calls, last, err)
				}
				last, calls, stop = 0, 0, 2
				if err := gemm(halfulp.NoTrans, halfulp.NoTrans, 1, m[0], m[1], 0, m[2], opt); !errors.Is(err, context.Canceled) || calls != 2 {
					t.Errorf("%s of matrices on %s, cancelled after 2 calls: %d calls, error %v", name, where, calls, err)
				}
			}
		}
	})
}

// TestSanitizeDevice is small enough for compute-sanitizer.
func TestSanitizeDevice(t *testing.T) {
	gputest.Machine(t)
	rng := testseed.Rand(t, 1, 3)
	for _, f := range families {
		for i, s := range [][3]int{{1, 1, 1}, {5, 70, 3}, {130, 33, 67}} {
			a, b, c := f.draw(rng, s[0], s[1]), f.draw(rng, s[1], s[2]), f.draw(rng, s[0], s[2])
			tA := halfulp.NoTrans
			if i == 1 {
				a, tA = a.T(), halfulp.Trans
			}
			opt := gpu(Options{Slices: 3, Block: 32, SGEMM: "own", Bound: halfulp.NewMatrix(halfulp.Float64, s[0], s[2])})
			err := Gemm(tA, halfulp.NoTrans, 1, a, b, 1, c, opt)
			must(t, err)
			err = GemmDoubleFloat(tA, halfulp.NoTrans, 1, a, b, 0, c, opt)
			must(t, err)
			if f.name == "paper" {
				opt.Split, opt.Block = Literal, 0
				err = Gemm(tA, halfulp.NoTrans, 1, a, b, 0, c, opt)
				must(t, err)
			}
		}
	}
}

// TestDeviceParts checks results in parts, and sums of products that do not come all at a time.
func TestDeviceParts(t *testing.T) {
	eachDevice(t, func(t *testing.T, _ bool) {
		rng := testseed.Rand(t, 11, 12)
		a, b, c := testMatrix(rng, 300, 40, 1), testMatrix(rng, 40, 150, 1), testMatrix(rng, 300, 150, 1)
		var results, bounds [2]*halfulp.Matrix
		for i, device := range []halfulp.Device{"cpu", "cuda:0"} {
			results[i], bounds[i] = c.Clone(), halfulp.NewMatrix(halfulp.Float64, 300, 150)
			opt := Options{Slices: 4, Block: 24, SGEMM: "own", Bound: bounds[i], Options: halfulp.Options{MemoryLimit: 1, Device: device}}
			var stats Stats
			opt.Stats = &stats
			err := Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, a, b, 1, results[i], &opt)
			must(t, err)
			if stats.Blocks < 6 {
				t.Errorf("%s: %d blocks", device, stats.Blocks)
			}
		}
		wantBits(t, "parts on a GPU", results[1], results[0])
		wantBits(t, "bounds of parts on a GPU", bounds[1], bounds[0])
	})
}

// TestDeviceLarge checks products of matrices that do not fit a GPU's memory.
func TestDeviceLarge(t *testing.T) {
	defer mem.Substitute(newSmallReference(t, 1200<<10))()
	rng := testseed.Rand(t, 17, 18)
	a, b, c := testMatrix(rng, 300, 40, 1), testMatrix(rng, 40, 160, 1), testMatrix(rng, 300, 160, 1)
	double := func(opt *Options, c *halfulp.Matrix) error {
		return GemmDoubleFloat(halfulp.Trans, halfulp.NoTrans, -3, a.T(), b, 0.5, c, opt)
	}
	slices := func(opt *Options, c *halfulp.Matrix) error {
		return Gemm(halfulp.NoTrans, halfulp.Trans, -3, a, b.T(), 0.5, c, opt)
	}
	for _, test := range []struct {
		name string
		run  func(opt *Options, c *halfulp.Matrix) error
		opt  Options
	}{
		{"slices", slices, Options{Slices: 2}},
		{"tolerance", slices, Options{Tolerance: 1e-5}},
		{"double-floats", double, Options{}},
	} {
		want, got := c.Clone(), c.Clone()
		test.opt.Bound = halfulp.NewMatrix(halfulp.Float64, 300, 160)
		var cpu Stats
		test.opt.Stats = &cpu
		err := test.run(&test.opt, want)
		must(t, err)
		bound := test.opt.Bound
		test.opt.Device, test.opt.SGEMM, test.opt.Bound = "cuda:0", "own", halfulp.NewMatrix(halfulp.Float64, 300, 160)
		var stats Stats
		test.opt.Stats = &stats
		err = test.run(&test.opt, got)
		must(t, err)
		wantBits(t, test.name, got, want)
		if test.name != "double-floats" {
			wantBits(t, test.name+": bounds", test.opt.Bound, bound)
		}
		if stats.Blocks < 2 || stats.Slices != cpu.Slices || stats.Device != "cuda:0" {
			t.Errorf("%s: %+v", test.name, stats)
		}
	}
	square := testMatrix(rng, 300, 300, 1)
	want, got := square.Clone(), square.Clone()
	err := Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, want, want, 1, want, &Options{Slices: 1})
	must(t, err)
	err = Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, got, got, 1, got, gpu(Options{Slices: 1, SGEMM: "own"}))
	if errors.Is(err, halfulp.ErrMemory) {
		t.Fatal(err)
	}
	must(t, err)
	wantBits(t, "the output is both operands", got, want)
}

// TestDeviceZeroSlices checks that products with slices of zeros are left out of large products.
func TestDeviceZeroSlices(t *testing.T) {
	gputest.Machine(t)
	rng := testseed.Rand(t, 13, 14)
	integers := with(0, func(rng *rand.Rand, _, _ int, _ float64) float64 { return float64(rng.IntN(100) - 50) })
	a, b := integers(rng, 1000, 1000), integers(rng, 1000, 1000)
	want, got := halfulp.NewMatrix(halfulp.Float64, 1000, 1000), halfulp.NewMatrix(halfulp.Float64, 1000, 1000)
	err := Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, a, b, 0, want, &Options{Slices: 2})
	must(t, err)
	var stats Stats
	err = Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, a, b, 0, got, gpu(Options{Slices: 6, Stats: &stats}))
	must(t, err)
	wantBits(t, "integers", got, want)
	if stats.Products != 1 || stats.Skipped != 20 {
		t.Errorf("%+v", stats)
	}
}
