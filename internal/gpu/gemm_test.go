package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/num"
)

// machine returns the machine's first GPU, or skips.
func machine(t testing.TB) *cuda.Device {
	t.Helper()
	dev, err := cuda.Open(0)
	if errors.Is(err, cuda.ErrNoDevice) && os.Getenv("HALFULP_WANT_GPU") == "" {
		t.Skip("no GPU:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// family is how entries are drawn.
type family int

const (
	uniform  family = iota // full significands, exponents 0 to -1
	spread                 // exponents over 40 octaves
	integers               // small integers: ties, exact zeros
	cancel                 // the second half of a row is the negative of the first
	special                // with zeros of both signs, infinities and NaN
	scaled                 // rows and columns scaled by up to 2^300
)

func (f family) String() string {
	return [...]string{"uniform", "spread", "integers", "cancel", "special", "scaled"}[f]
}

func randomMat(rng *rand.Rand, f num.Format, kind family, m, n int) num.Mat {
	a := num.Mat{Arr: num.New(f, m*n), RS: 1, CS: m, Rows: m, Cols: n}
	mag := make([]uint64, (f.Bits()+63)/64)
	for j := range n {
		for i := range m {
			for k := range mag {
				mag[k] = rng.Uint64()
			}
			r := num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: mag, Exp: int64(-64 * len(mag))}
			switch kind {
			case spread:
				r.Exp -= int64(rng.IntN(40))
			case integers:
				clear(mag)
				mag[0] = uint64(rng.IntN(8))
				r.Exp = 0
			case cancel:
				if j >= n/2 && j-n/2 < n/2 {
					a.Arr.CopyFrom(a.At(i, j), a.Arr, a.At(i, j-n/2))
					negate(a.Arr, a.At(i, j))
					continue
				}
			case special:
				switch rng.IntN(40) {
				case 0:
					r.Class = num.NaN
				case 1:
					r.Class = num.Inf
				case 2, 3, 4, 5:
					r.Class = num.Zero
				}
			case scaled:
				r.Exp += int64(i*37%20 - 10)
				if f.Kind != num.F32 {
					r.Exp += int64((i%3 - 1) * 100)
				}
			}
			a.Arr.Set(a.At(i, j), r)
		}
	}
	return a
}

func negate(a *num.Array, i int) {
	switch a.Kind {
	case num.F32:
		a.F32[i] = -a.F32[i]
	case num.MP:
		a.Cls[i] ^= 1
	default:
		for t := range a.Terms() {
			a.F64[t][i] = -a.F64[t][i]
		}
	}
}

// problem is one product.
type problem struct {
	in, inB, out num.Format
	kind         family
	m, n, k      int
	alpha, beta  float64
	transA       bool
	triangle     byte
	memory       int64
}

func (p problem) String() string {
	return fmt.Sprintf("%v*%v->%v/%v/%dx%dx%d/%g,%g,%v,%c,%d", p.in, p.inB, p.out, p.kind, p.m, p.n, p.k, p.alpha, p.beta, p.transA, p.triangle|' ', p.memory)
}

func scalar(x float64) num.Real {
	var buf [1]uint64
	a := num.New(num.Float64, 1)
	a.F64[0][0] = x
	r := a.Value(0, buf[:])
	r.Mag = append([]uint64{}, r.Mag...)
	return r
}

// check compares a product with the host's, bit for bit.
func check(t *testing.T, dev *cuda.Device, p problem) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, uint64(p.m*p.n*p.k)))
	a, b := randomMat(rng, p.in, p.kind, p.m, p.k), randomMat(rng, p.inB, p.kind, p.n, p.k).T()
	if p.kind == cancel { // whole products cancel
		b = randomMat(rng, p.inB, uniform, p.n, p.k).T()
		for j := range p.n {
			for h := p.k / 2; h < p.k/2*2; h++ {
				b.Arr.CopyFrom(b.At(h, j), b.Arr, b.At(h-p.k/2, j))
			}
		}
	}
	if p.transA {
		x := num.Mat{Arr: num.New(p.in, p.m*p.k), RS: p.k, CS: 1, Rows: p.m, Cols: p.k}
		for i := range p.m {
			for h := range p.k {
				x.Arr.CopyFrom(x.At(i, h), a.Arr, a.At(i, h))
			}
		}
		a = x
	}
	old := randomMat(rng, p.out, uniform, p.m, p.n)
	want := num.Mat{Arr: num.New(p.out, p.m*p.n), RS: 1, CS: p.m, Rows: p.m, Cols: p.n}
	got := num.Mat{Arr: num.New(p.out, p.m*p.n), RS: 1, CS: p.m, Rows: p.m, Cols: p.n}
	cfg := Config{Ctx: context.Background(), Triangle: p.triangle, Memory: p.memory}.defaults()
	if _, err := exact.Gemm(cfg.host(), scalar(p.alpha), a, b, scalar(p.beta), old, want, nil, nil); err != nil {
		t.Fatal(err)
	}
	stats, err := Gemm(dev, cfg, scalar(p.alpha), a, b, scalar(p.beta), old, got)
	if err != nil {
		t.Errorf("%v: %v", p, err)
		return
	}
	bad := 0
	for i := range p.m * p.n {
		if !got.Arr.SameBits(i, want.Arr, i) {
			if bad++; bad <= 3 {
				t.Errorf("%v: entry (%d, %d): got %v, want %v", p, i%p.m, i/p.m, show(got.Arr, i), show(want.Arr, i))
			}
		}
	}
	if bad > 0 {
		t.Errorf("%v: %d of %d entries wrong; %+v", p, bad, p.m*p.n, stats)
	} else if testing.Verbose() {
		t.Logf("%v: %s, %d moduli, widths %d %d, %d exact, %d blocks", p, stats.Kernel, stats.Moduli, stats.WidthL, stats.WidthR, stats.Exact, stats.Blocks)
	}
}

func show(a *num.Array, i int) string {
	var buf [num.MaxValueWords]uint64
	r := a.Value(i, buf[:])
	return fmt.Sprintf("{%v %v %x 2^%d}", r.Class, r.Neg, r.Mag, r.Exp)
}

func mp(p int) num.Format { return num.Format{Kind: num.MP, Prec: uint32(p)} }

// problems returns products of about n x n.
func problems(n int) []problem {
	f64 := num.Float64
	var list []problem
	for _, f := range []num.Format{f64, num.Float32, mp(53), mp(106), mp(200), mp(424)} {
		for _, kind := range []family{uniform, spread, integers, cancel, special, scaled} {
			list = append(list, problem{in: f, inB: f, out: f, kind: kind, m: n, n: n + 3, k: n - 1, alpha: 1})
		}
	}
	return append(list,
		problem{in: mp(848), inB: mp(848), out: mp(848), m: 20, n: 9, k: 30, alpha: -2},
		problem{in: mp(1696), inB: mp(1696), out: mp(1696), m: 9, n: 20, k: 30, alpha: 0.125},
		problem{in: f64, inB: mp(150), out: mp(100), kind: spread, m: n, n: 5, k: 2 * n, alpha: -1, transA: true},
		problem{in: num.DDouble, inB: num.QDouble, out: f64, m: n, n: n, k: n, alpha: 1},
		problem{in: num.TDouble, inB: num.Float32, out: mp(150), kind: cancel, m: n, n: n, k: n, alpha: 1},
		problem{in: num.DDouble, inB: num.DDouble, out: num.DDouble, kind: spread, m: n, n: n, k: n, alpha: 1},
		problem{in: f64, inB: f64, out: num.QDouble, m: n, n: n, k: n, alpha: 3, beta: -0.7},
		problem{in: f64, inB: f64, out: f64, kind: spread, m: n, n: n, k: n, alpha: 0.3, beta: 1},
		problem{in: mp(212), inB: mp(212), out: mp(212), kind: cancel, m: n, n: n, k: n, alpha: 1, beta: -3},
		problem{in: f64, inB: f64, out: f64, m: n, n: n, k: n, alpha: 1, triangle: 'U'},
		problem{in: f64, inB: f64, out: f64, m: n, n: n, k: n, alpha: 1, triangle: 'L', beta: 2},
		problem{in: f64, inB: f64, out: f64, m: 1, n: 1, k: 1, alpha: 1},
		problem{in: f64, inB: f64, out: f64, m: 0, n: 3, k: 1, alpha: 1},
		problem{in: f64, inB: f64, out: f64, m: 2, n: 3, k: 0, alpha: 1},
		problem{in: f64, inB: f64, out: f64, m: 2, n: 3, k: 5, alpha: math.Inf(1)},
		problem{in: f64, inB: f64, out: f64, m: 140, n: 150, k: 20, alpha: 1, memory: 2 << 20},
		problem{in: mp(300), inB: f64, out: mp(300), m: 20, n: 150, k: 20, alpha: 1, triangle: 'L', memory: 6 << 20},
		problem{in: f64, inB: f64, out: f64, m: 1, n: 300, k: 5, alpha: 1},
		problem{in: f64, inB: f64, out: f64, m: 300, n: 2, k: 130, alpha: 1},
	)
}

// TestReference runs all the host's part, with Go functions for the kernels.
func TestReference(t *testing.T) {
	dev := reference(t, &fake.Driver{})
	list := problems(12)
	if testing.Short() {
		list = list[:8]
	}
	for _, p := range list {
		check(t, dev, p)
	}
	if c := dev.Counters(); c.Events != 0 {
		t.Errorf("%d events left", c.Events)
	}
}

// TestFailures lets calls of the driver fail, one after the other: an error each time, and
// nothing kept.
func TestFailures(t *testing.T) {
	drv := &fake.Driver{}
	dev := reference(t, drv)
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := randomMat(rng, num.Float64, uniform, 3, 4), randomMat(rng, num.Float64, uniform, 4, 2)
	run := func() error {
		c := num.Mat{Arr: num.New(num.Float64, 6), RS: 1, CS: 3, Rows: 3, Cols: 2}
		_, err := Gemm(dev, Config{}, scalar(1), a, b, num.Real{}, c, c)
		return err
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	kept := dev.Counters().InUse
	for after := range 20 {
		if err := dev.Do(context.Background(), func(s *cuda.Stream) error { return s.Trim() }); err != nil {
			t.Fatal(err)
		}
		drv.Fail("MemAlloc", after, cudadrv.OutOfMemory)
		drv.Fail("MemAlloc", after, cudadrv.OutOfMemory) // once more after the pool is trimmed
		err := run()
		if err == nil {
			if after < 5 {
				t.Errorf("no error of allocation %d", after)
			}
			break
		}
		if !errors.Is(err, cuda.ErrMemory) {
			t.Error(err)
		}
		if n := dev.Counters().InUse; n != kept {
			t.Errorf("%d bytes in use after failure %d, want %d", n, after, kept)
		}
	}
}
