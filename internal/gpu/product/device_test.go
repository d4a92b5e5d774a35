package product

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/cudadrv/trace"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/plan"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestGemm compares products on a GPU with products on the host.
func TestGemm(t *testing.T) {
	dev := gputest.Machine(t)
	list := append(problems(150), expressions(70)...)
	for _, f := range []num.Format{num.Float64, gputest.MP(106), gputest.MP(424)} {
		list = append(list, problem{in: f, inB: f, out: f, m: 700, n: 600, k: 1500, alpha: 1},
			problem{in: f, inB: f, out: f, kind: gputest.Spread, m: 300, n: 1000, k: 129, alpha: 1, transA: true},
			problem{in: f, inB: f, out: f, m: 600, n: 700, k: 300, alpha: 1, memory: 40 << 20})
	}
	for i, p := range list {
		p.checked = i%2 == 1
		if !testing.Short() || i%5 == 0 {
			check(t, dev, p)
		}
	}
}

// TestStages compares what each stage leaves in memory with the reference.
func TestStages(t *testing.T) {
	dev := gputest.Machine(t)
	ref := gputest.Reference(t, &fake.Driver{})
	for _, general := range []bool{true, false} {
		useGeneral(t, dev, general)
		compareStages(t, ref, dev)
	}
}

// TestStagesEmulated is TestStages for the kernels of compute capability 8.0, as they run on the
// host.
func TestStagesEmulated(t *testing.T) {
	if !testlength.Long() {
		t.Skip("emulated kernels take a minute; TestShort runs some")
	}
	ref := gputest.Reference(t, &fake.Driver{})
	t.Setenv(gputest.Emulate, "exact/residues exact/finish")
	dev := gputest.Reference(t, &fake.Driver{})
	compareStages(t, ref, dev)
}

// TestSplit splits sums of all magnitudes that kernels/exact/residues.cu has for every Karatsuba
// modulus, at the ends of its residues' range above all.
func TestSplit(t *testing.T) {
	b := newBase(baseKey{moduli: pool().Plain + 400})
	plain, _ := b.tiles()
	if least := slices.Min(pool().Moduli[pool().Plain:]); least <= 520 {
		t.Errorf("modulus %d: kernels/exact/product.cuh reduces sums for moduli above 520", least)
	}
	for _, m := range b.rowModuli()[tileRows*plain:][:b.karatsuba()] {
		for _, limit := range []int32{0, 1 << 20, 1<<28 + 1<<14} {
			for _, at := range []int32{-limit, limit} {
				for s := at - m.M; s <= at+m.M; s++ {
					if a0, a1 := gputest.SplitReference(s, m); (128*a1+a0-s)%m.M != 0 || a0 != int32(int8(a0)) || a1 != int32(int8(a1)) || a0+a1 != int32(int8(a0+a1)) {
						t.Fatalf("modulus %d, sum %d: %d, %d", m.M, s, a0, a1)
					}
				}
			}
		}
	}
}

// useGeneral makes the device take the products' kernel for all devices, or its own.
func useGeneral(t *testing.T, dev *cuda.Device, general bool) {
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		i := dev.Info()
		engineOf(s).wide = !general && i.Major == 9 && i.Minor == 0
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func compareStages(t *testing.T, ref, dev *cuda.Device) {
	for _, f := range []num.Format{num.Float64, num.Float32, num.DDouble, gputest.MP(106), gputest.MP(424)} {
		for _, kind := range []gputest.Family{gputest.Uniform, gputest.Spread} {
			rng := testseed.Rand(t, 9, 9)
			a, b := gputest.RandomMat(rng, f, kind, 200, 150), gputest.RandomMat(rng, f, kind, 20, 150)
			want, wantPlan := stages(t, ref, a, b)
			got, gotPlan := stages(t, dev, a, b)
			if gotPlan != wantPlan {
				t.Errorf("%v: plan %+v, want %+v", f, gotPlan, wantPlan)
				continue
			}
			for i, name := range stageNames {
				if name == "" {
					continue
				}
				if n := differences(got[i], want[i]); n > 0 {
					t.Errorf("%v/%v: %d of %d bytes of %s differ, first at %d", f, kind, n, len(want[i]), name, firstDifference(got[i], want[i]))
				}
			}
		}
	}
}

// stageNames names the pieces of memory of a product in the order of their allocation, from scans
// to lists; those without a name need not be equal.
var stageNames = []string{"", "", "left residues", "right residues", "bytes of products", "half words of products", "", ""}

// stages returns the contents of the memory of a product.
func stages(t *testing.T, dev *cuda.Device, a, b num.Mat) (out [][]byte, p plan.Plan) {
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		e := engineOf(s)
		x, err := mem.UploadView(s, a)
		if err != nil {
			return err
		}
		y, err := mem.UploadView(s, b)
		if err != nil {
			return err
		}
		z, err := mem.NewArray(s, a.Arr.Format, a.Rows*b.Rows)
		if err != nil {
			return err
		}
		c := mem.Matrix{Arr: z, RS: 1, CS: a.Rows, Rows: a.Rows, Cols: b.Rows}
		m := &multiplication{cfg: Config{}.defaults(), e: e, s: s, a: x, b: y, c: &c, format: a.Arr.Format, expr: expression{alpha: gputest.Scalar(1)}}
		defer m.free()
		if err := m.prepare(); err != nil {
			return err
		}
		p = m.plan
		p.Cost = 0
		if err := m.run(); err != nil {
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

// TestExtremes compares products of the bytes of largest magnitude with the reference.
func TestExtremes(t *testing.T) {
	t.Run("reference", func(t *testing.T) { extremes(t, gputest.Reference(t, &fake.Driver{}), abi.Tile) })
	t.Run("device", func(t *testing.T) {
		dev := gputest.Machine(t)
		extremes(t, dev, maxInner)
		useGeneral(t, dev, true)
		defer useGeneral(t, dev, false)
		extremes(t, dev, maxInner)
	})
}

// extremes multiplies planes of equal bytes, k numbers a vector, for all moduli of a base.
func extremes(t *testing.T, dev *cuda.Device, k int) {
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		e := engineOf(s)
		b := e.base(baseKey{moduli: pool().Plain + 5})
		m := &multiplication{e: e, s: s, base: b, a: mem.Matrix{Cols: k}, plan: plan.Plan{Moduli: len(b.moduli)}}
		defer m.free()
		c := chunk{plain1: b.plain, kar1: len(b.moduli) - b.plain}
		rows, cols := m.rowTile(), abi.Tile
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
			if err := m.products(region{}, c, planes{left.Pointer(), residueBytes(rows, k)}, planes{right.Pointer(), residueBytes(cols, k)}, room{y: y, wide: wide, ld: rows, n: n}, rows, cols); err != nil {
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
						v, want = int(got[u*int(n)+i]), int(gputest.ReducePlainReference(sum, r))
					} else {
						start, reduce := gputest.KaratsubaReference(roundUp(k, abi.Tile)/abi.Tile, r)
						v, want = int(gotWide[(u-b.plain)*int(n)+i]), int(start)
						for pass := range 3 {
							want += int(reduce(sum, pass))
						}
					}
					exact := int64(sum) // times -127 + 16256 + 128 for Karatsuba moduli
					if u >= b.plain {
						exact *= 16257
					}
					if v != want || (int64(v)-exact)%int64(r.M) != 0 {
						return fmt.Errorf("bytes %v, k = %d, modulus %d, entry %d: got %d, want %d", bytes, k, r.M, i, v, want)
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

// TestSanitizeGemm multiplies small matrices, and the bytes of largest magnitude, with every
// kernel of products.
func TestSanitizeGemm(t *testing.T) {
	dev := gputest.Machine(t)
	for i, p := range append(problems(20), expressions(10)...) {
		if i%3 == 0 {
			check(t, dev, p)
		}
	}
	everyEntry(t, dev, few(600)[:8])
	for _, general := range []bool{true, false} {
		useGeneral(t, dev, general)
		extremes(t, dev, abi.Tile)
	}
}

// TestShort compares products whose integers are finished in registers with the host's.
func TestShort(t *testing.T) {
	var list []problem
	for _, f := range []num.Format{num.Float64, num.Float32} {
		for _, kind := range []gputest.Family{gputest.Uniform, gputest.Spread, gputest.Integers, gputest.Cancel, gputest.Special, gputest.Edges, gputest.Scaled, gputest.Sparse} {
			p := problem{in: f, inB: f, out: f, kind: kind, m: 70 + 67*(len(list)%3), n: 3, k: 21 + len(list)%5, alpha: float64(1 - 2*(len(list)%2))}
			switch len(list) % 4 {
			case 1:
				p.transA = true
			case 2:
				p.triangle, p.n = "UL"[len(list)/4%2], 40
			case 3:
				p.out = map[num.Kind]num.Format{num.F64: num.Float32, num.F32: num.Float64}[f.Kind]
			}
			list = append(list, p)
		}
	}
	t.Run("emulated", func(t *testing.T) {
		t.Setenv(gputest.Emulate, "exact/finish")
		fakes := new(fake.Driver)
		gputest.Kernels(t, fakes)
		drv := &trace.Driver{Driver: fakes}
		dev, err := cuda.OpenDriver(drv, 0)
		if err != nil {
			t.Fatal(err)
		}
		drv.Reset()
		for _, p := range list {
			check(t, dev, p)
		}
		calls, err := drv.Calls()
		if err != nil {
			t.Fatal(err)
		}
		short := 0
		for _, c := range calls {
			if c.Name == "LaunchKernel" && strings.HasPrefix(c.What, "finish0 ") {
				short++
			}
		}
		if short < len(list)/2 {
			t.Errorf("finish0 was launched %d times for %d products", short, len(list))
		}
	})
	t.Run("device", func(t *testing.T) {
		dev := gputest.Machine(t)
		for _, p := range list {
			check(t, dev, p)
		}
	})
}

// TestCarries rounds integers of ones alone up to powers of two, and ties.
func TestCarries(t *testing.T) {
	t.Run("emulated", func(t *testing.T) {
		t.Setenv(gputest.Emulate, "exact/finish")
		dev := gputest.Reference(t, &fake.Driver{})
		carries(t, dev)
		ties(t, dev)
	})
	t.Run("device", func(t *testing.T) {
		carries(t, gputest.Machine(t))
		ties(t, gputest.Machine(t))
	})
}

// ties rounds 3 times numbers of 53 bits, beside zeros times longer ones: integers of five words.
func ties(t *testing.T, dev *cuda.Device) {
	rng := testseed.Rand(t, 5, 6)
	a, b := num.Mat{Arr: num.New(num.Float64, 80), RS: 1, CS: 40, Rows: 40, Cols: 2}, gputest.RandomMat(rng, num.Float64, gputest.Uniform, 2, 3)
	for i := range a.Rows {
		x := 1<<52 + rng.Int64N(1<<50) | 1
		if i == 0 {
			x = (1<<54 - 1) / 3
		}
		a.Arr.F64[0][a.At(i, 0)] = float64(x)
	}
	for j := range b.Cols {
		b.Arr.F64[0][b.At(0, j)] = float64(3 - 6*(j%2))
		b.Arr.F64[0][b.At(1, j)] *= 0x1p-12
	}
	exactly(t, dev, a, b, num.Float64)
}

func carries(t *testing.T, dev *cuda.Device) {
	in, out := gputest.MP(514), gputest.MP(510)
	rng := testseed.Rand(t, 5, 5)
	a, b := gputest.RandomMat(rng, in, gputest.Uniform, 40, 1), gputest.RandomMat(rng, in, gputest.Uniform, 1, 3)
	for i := range a.Rows {
		if i%3 > 0 {
			sig := a.Arr.Sig[a.At(i, 0)*in.Limbs():][:in.Limbs()]
			for k := range sig {
				sig[k] = math.MaxUint64
			}
			sig[0] <<= 64*in.Limbs() - in.Bits() // four more bits than results have
		}
	}
	one := num.New(in, 1)
	one.Sig[in.Limbs()-1], one.Exp[0], one.Cls[0] = 1<<63, 1, num.MakeCls(false, num.Finite)
	for j := range b.Cols {
		b.Arr.CopyFrom(b.At(0, j), one, 0)
	}
	exactly(t, dev, a, b, out)
}

// exactly checks a product whose entries all come out without the exact pass.
func exactly(t *testing.T, dev *cuda.Device, a, b num.Mat, out num.Format) {
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		x, err := mem.UploadView(s, a)
		if err != nil {
			return err
		}
		defer x.Arr.Free()
		y, err := mem.UploadView(s, b)
		if err != nil {
			return err
		}
		defer y.Arr.Free()
		z, err := mem.NewArray(s, out, a.Rows*b.Cols)
		if err != nil {
			return err
		}
		defer z.Free()
		c := mem.Matrix{Arr: z, RS: 1, CS: a.Rows, Rows: a.Rows, Cols: b.Cols}
		stats, err := GemmOnDevice(s, Config{}, gputest.Scalar(1), x, y, num.Real{}, c, c)
		if err != nil {
			return err
		}
		if stats.Exact > 0 {
			return fmt.Errorf("%d entries in the exact pass, of integers of %d and %d bits", stats.Exact, stats.WidthL, stats.WidthR)
		}
		return spotCheck(s, gputest.Scalar(1), x, y, num.Real{}, c, c)
	})
	if err != nil {
		t.Error(err)
	}
}
