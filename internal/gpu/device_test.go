package gpu

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/gpu/kernels"
	"github.com/halfulp/halfulp/internal/num"
)

// TestGemm compares products of a GPU with those of the host.
func TestGemm(t *testing.T) {
	dev := machine(t)
	list := problems(150)
	for _, f := range []num.Format{num.Float64, mp(106), mp(424)} {
		list = append(list, problem{in: f, inB: f, out: f, m: 700, n: 600, k: 1500, alpha: 1},
			problem{in: f, inB: f, out: f, kind: spread, m: 300, n: 1000, k: 129, alpha: 1, transA: true},
			problem{in: f, inB: f, out: f, m: 600, n: 700, k: 300, alpha: 1, memory: 40 << 20})
	}
	for i, p := range list {
		if !testing.Short() || i%5 == 0 {
			check(t, dev, p)
		}
	}
}

// TestStages compares what each stage leaves in memory with the reference.
func TestStages(t *testing.T) {
	dev := machine(t)
	ref := reference(t, &fake.Driver{})
	for _, general := range []bool{true, false} {
		useGeneral(t, dev, general)
		compareStages(t, ref, dev)
	}
}

// useGeneral makes the device take the products' kernel for all devices, or its own.
func useGeneral(t *testing.T, dev *cuda.Device, general bool) {
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		e, err := engineOf(s)
		if err != nil {
			return err
		}
		if !general {
			return e.load(s)
		}
		m, err := s.Load(kernels.PTX("product"))
		if err != nil {
			return err
		}
		e.wide = false
		e.products, err = m.Function("products")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func compareStages(t *testing.T, ref, dev *cuda.Device) {
	for _, f := range []num.Format{num.Float64, num.Float32, num.DDouble, mp(106), mp(424)} {
		for _, kind := range []family{uniform, spread} {
			rng := rand.New(rand.NewPCG(9, 9))
			a, b := randomMat(rng, f, kind, 200, 150), randomMat(rng, f, kind, 20, 150)
			want, wantPlan := stages(t, ref, a, b)
			got, plan := stages(t, dev, a, b)
			if plan != wantPlan {
				t.Errorf("%v: plan %+v, want %+v", f, plan, wantPlan)
				continue
			}
			for i, name := range stageNames {
				if i >= len(want) || name == "" {
					continue
				}
				if n := differences(got[i], want[i]); n > 0 {
					t.Errorf("%v/%v: %d of %d bytes of %s differ, first at %d", f, kind, n, len(want[i]), name, firstDifference(got[i], want[i]))
				}
			}
		}
	}
}

// stageNames names the pieces of memory of a product in the order of their allocation; those
// without a name need not be equal.
var stageNames = []string{"", "", "", "", "", "left residues", "right residues", "bytes of products", "half words of products"}

// stages returns the contents of the memory of a product.
func stages(t *testing.T, dev *cuda.Device, a, b num.Mat) (out [][]byte, p plan) {
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		e, err := engineOf(s)
		if err != nil {
			return err
		}
		x, err := uploadView(s, a)
		if err != nil {
			return err
		}
		y, err := uploadView(s, b)
		if err != nil {
			return err
		}
		z, err := NewArray(s, a.Arr.Format, a.Rows*b.Rows)
		if err != nil {
			return err
		}
		c := Matrix{Arr: z, RS: 1, CS: a.Rows, Rows: a.Rows, Cols: b.Rows}
		m := &multiplication{cfg: Config{}.defaults(), e: e, s: s, a: x, b: y, c: &c, format: a.Arr.Format}
		if a.Arr.Terms() > 1 {
			m.c = nil
		}
		defer m.free()
		if err := m.prepare(); err != nil {
			return err
		}
		p = m.plan
		p.cost = 0
		if err := m.run(func(int, int, int, int, *cuda.Memory) error { return nil }); err != nil {
			return err
		}
		for _, k := range m.owned {
			h := make([]byte, k.Size())
			if err := cuda.Download(s, h, k.Pointer()); err != nil {
				return err
			}
			out = append(out, h)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, p
}

func differences(a, b []byte) (n int) {
	if len(a) != len(b) {
		return max(len(a), len(b))
	}
	if bytes.Equal(a, b) {
		return 0
	}
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// patternLength is the number of numbers that residentRandom repeats: no multiple of
// usual sizes.
const patternLength = 1000003

// residentRandom returns an n x n matrix of numbers of sizes (u - 1/2) exp(phi g), u uniform, g
// normal, and random full significands, without the host's memory for all of them.
func residentRandom(s *cuda.Stream, f num.Format, n int, phi float64, seed uint64) (Matrix, error) {
	rng := rand.New(rand.NewPCG(1, seed))
	h := num.New(f, min(patternLength, n*n))
	mag := make([]uint64, (f.Bits()+63)/64)
	for i := range h.Len() {
		for k := range mag {
			mag[k] = rng.Uint64()
		}
		mag[len(mag)-1] |= 1 << 63
		_, e := math.Frexp((rng.Float64() - 0.5) * math.Exp(phi*rng.NormFloat64()))
		h.Set(i, num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: mag, Exp: int64(e - 64*len(mag))})
	}
	small, err := Upload(s, h)
	if err != nil {
		return Matrix{}, err
	}
	defer small.Free()
	a, err := NewArray(s, f, n*n)
	if err != nil {
		return Matrix{}, err
	}
	for at := 0; at < n*n; at += h.Len() {
		count := int64(min(h.Len(), n*n-at))
		for i, size := range planeBytes(f) {
			if err := s.Copy(a.planes[i].At(size*int64(at)), small.planes[i].Pointer(), size*count); err != nil {
				return Matrix{}, err
			}
		}
	}
	return Matrix{Arr: a, RS: 1, CS: n, Rows: n, Cols: n}, nil
}

// TestSpeed prints the times of products of resident matrices, stage by stage. It runs where
// HALFULP_GPU_SPEED is set.
func TestSpeed(t *testing.T) {
	if os.Getenv("HALFULP_GPU_SPEED") == "" {
		t.Skip("HALFULP_GPU_SPEED is not set")
	}
	dev := machine(t)
	fmt.Println(dev.Info(), "driver", dev.Info().Driver)
	start := time.Now()
	useGeneral(t, dev, false)
	fmt.Printf("kernels loaded in %.0f ms\n", ms(time.Since(start)))
	for _, n := range []int{1000, 4096} {
		for _, p := range []int{53, 106, 212, 424, 848, 1696} {
			f := mp(p)
			if p == 53 {
				f = num.Float64
			}
			speed(t, dev, f, n, 0)
		}
	}
	speed(t, dev, num.Float64, 8192, 0)
	for _, phi := range []float64{0.5, 4} {
		fmt.Printf("entries spread by exp(%g randn)\n", phi)
		speed(t, dev, num.Float64, 4096, phi)
		speed(t, dev, num.Float64, 8192, phi)
		speed(t, dev, mp(424), 4096, phi)
	}
	if os.Getenv("HALFULP_GPU_SPEED") == "all" {
		fmt.Println("kernels of compute capability 8")
		useGeneral(t, dev, true)
		defer useGeneral(t, dev, false)
		speed(t, dev, num.Float64, 4096, 0)
		speed(t, dev, mp(424), 4096, 0)
	}
}

// spotCheck compares entries of a product with their exact values.
func spotCheck(s *cuda.Stream, a, b, c Matrix) error {
	var h [3]num.Mat
	for i, m := range []Matrix{a, b, c} {
		x, err := m.Arr.host(s)
		if err != nil {
			return err
		}
		h[i] = m.on(x)
	}
	one := num.New(c.Arr.Format, 1)
	var acc direct.Acc
	rng := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		i, j := rng.IntN(c.Rows), rng.IntN(c.Cols)
		one.Set(0, acc.Entry(c.Arr.Format, scalar(1), h[0].Row(i), h[1].Col(j), num.Real{}, num.Real{}))
		if !one.SameBits(0, h[2].Arr, h[2].At(i, j)) {
			return fmt.Errorf("%v: entry (%d, %d) of %d x %d is wrong", c.Arr.Format, i, j, c.Rows, c.Cols)
		}
	}
	return nil
}

func speed(t *testing.T, dev *cuda.Device, f num.Format, n int, phi float64) {
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		a, err := residentRandom(s, f, n, phi, 1)
		if err != nil {
			return err
		}
		defer a.Arr.Free()
		b, err := residentRandom(s, f, n, phi, 2)
		if err != nil {
			return err
		}
		defer b.Arr.Free()
		z, err := NewArray(s, f, n*n)
		if err != nil {
			return err
		}
		defer z.Free()
		c := Matrix{Arr: z, RS: 1, CS: n, Rows: n, Cols: n}
		type run struct {
			stats       exact.Stats
			device, all time.Duration
		}
		var runs []run
		for range 7 {
			start := time.Now()
			stats, err := GemmResident(s, Config{Timing: true}, scalar(1), a, b, num.Real{}, c, c)
			if err != nil {
				return err
			}
			r := run{stats: stats, all: time.Since(start)}
			for _, st := range stats.Stages {
				r.device += st.Time
			}
			runs = append(runs, r)
			if r.all > 3*time.Second {
				break
			}
		}
		slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.all, b.all) })
		r := runs[len(runs)/2]
		line := fmt.Sprintf("%-8v n=%d: %8.3f ms (host %.3f), %.1f TFLOPS, %d moduli, widths %d %d, %d products, %d exact;", f, n,
			ms(r.device), ms(r.all), 2*float64(n)*float64(n)*float64(n)/r.device.Seconds()*1e-12,
			r.stats.Moduli, r.stats.WidthL, r.stats.WidthR, r.stats.Products, r.stats.Exact)
		for _, st := range r.stats.Stages {
			line += fmt.Sprintf(" %s %.3f", st.Name, ms(st.Time))
			if st.Name == "products" {
				line += fmt.Sprintf(" (%.0f TOPS)", 2*float64(n)*float64(n)*float64(n)*float64(r.stats.Products)/st.Time.Seconds()*1e-12)
			}
		}
		fmt.Println(line)
		if n <= 1000 || f.Bits() <= 106 {
			return spotCheck(s, a, b, c)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

// TestExtremes compares products of the bytes of largest magnitude with the reference.
func TestExtremes(t *testing.T) {
	t.Run("reference", func(t *testing.T) { extremes(t, reference(t, &fake.Driver{}), tile) })
	t.Run("device", func(t *testing.T) {
		dev := machine(t)
		extremes(t, dev, maxInner)
		useGeneral(t, dev, true)
		defer useGeneral(t, dev, false)
		extremes(t, dev, maxInner)
	})
}

// extremes multiplies planes of equal bytes, k numbers a vector, for all moduli of a base.
func extremes(t *testing.T, dev *cuda.Device, k int) {
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		e, err := engineOf(s)
		if err != nil {
			return err
		}
		b := e.base(pool().plain + 5)
		m := &multiplication{e: e, s: s, base: b, a: Matrix{Cols: k}, plan: plan{moduli: len(b.moduli)}}
		defer m.free()
		c := chunk{plain1: b.plain, kar1: len(b.moduli) - b.plain}
		rows, cols := m.rowTile(), tile
		left, err := m.alloc(int64(c.planes()) * residueBytes(rows, k))
		if err != nil {
			return err
		}
		right, err := m.alloc(int64(c.planes()) * residueBytes(cols, k))
		if err != nil {
			return err
		}
		n := int64(rows * cols)
		y, err := m.alloc(n * int64(c.plain1))
		if err != nil {
			return err
		}
		wide, err := m.alloc(2 * n * int64(c.kar1))
		if err != nil {
			return err
		}
		for _, bytes := range [][2]int8{{-128, -128}, {-128, 127}, {127, -128}, {127, 127}} {
			if err := s.Fill(left.Pointer(), byte(bytes[0]), left.Size()); err != nil {
				return err
			}
			if err := s.Fill(right.Pointer(), byte(bytes[1]), right.Size()); err != nil {
				return err
			}
			if err := m.products(c, left, right, y, wide, rows, cols, rows, n); err != nil {
				return err
			}
			got, gotWide := make([]uint8, y.Size()), make([]uint16, wide.Size()/2)
			if err := cuda.Download(s, got, y.Pointer()); err != nil {
				return err
			}
			if err := cuda.Download(s, gotWide, wide.Pointer()); err != nil {
				return err
			}
			sum := int32(k) * int32(bytes[0]) * int32(bytes[1])
			for u, r := range b.reductions() {
				for i := range int(n) {
					var v, want int
					if u < b.plain {
						v, want = int(got[u*int(n)+i]), int(reducePlainReference(sum, r))
					} else {
						v, want = int(gotWide[(u-b.plain)*int(n)+i]), int(r.m)
						for pass := range 3 {
							want += int(reduceFactorReference(sum, r, pass))
						}
					}
					exact := int64(sum) // times -127 + 16256 + 128 for Karatsuba moduli
					if u >= b.plain {
						exact *= 16257
					}
					if v != want || (int64(v)-exact)%int64(r.m) != 0 {
						return fmt.Errorf("bytes %v, k = %d, modulus %d, entry %d: got %d, want %d", bytes, k, r.m, i, v, want)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
