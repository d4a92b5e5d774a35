package rows

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testseed"
)

// An updateProblem is Scal (n = -1), Axpy (n = 0) or Ger.
type updateProblem struct {
	in, inY, out num.Format
	alpha        number
	m, n, inc    int
	trans        bool
}

func (p updateProblem) String() string {
	return fmt.Sprintf("%v*%v->%v/%dx%d/%s,%d,%v", p.in, p.inY, p.out, p.m, p.n, p.alpha, p.inc, p.trans)
}

// A number is a scalar with its name.
type number struct {
	name string
	num.Real
}

func (n number) String() string { return n.name }

func finite(name string, neg bool, exp int64, mag ...uint64) number {
	return number{name, num.Real{Class: num.Finite, Neg: neg, Exp: exp, Mag: mag}}
}

var (
	alphaOne = finite("1", false, 0, 1)
	alphas   = []number{
		alphaOne, finite("-1", true, 0, 1), finite("2^-3", false, -3, 1), finite("-3", true, 5, 3<<40),
		{"0.1", gputest.Scalar(0.1)},
		finite("2^-1074", false, -1074, 1), finite("2^1023", false, 1023, 1), finite("2^(2^31)", false, 1<<31, 1),
		finite("2^-(2^31)", true, -1<<31, 1),
		finite("wide", true, -424, 0x8123456789abcdef, 3, 0x55, ^uint64(0), 1, 7, 0xfedcba9876543210),
		{"inf", num.Real{Class: num.Inf, Neg: true}}, {"nan", num.Real{Class: num.NaN}},
	}
)

// updateProblems returns problems of about m x n.
func updateProblems(m, n int) (list []updateProblem) {
	formats := []num.Format{num.Float32, num.Float64, num.DDouble, num.TDouble, num.QDouble, gputest.MP(2), gputest.MP(24), gputest.MP(64), gputest.MP(65), gputest.MP(106), gputest.MP(424)}
	for i, f := range formats {
		for j, a := range alphas {
			g, h := formats[(i+j)%len(formats)], formats[(i+2*j+1)%len(formats)]
			list = append(list,
				updateProblem{in: f, inY: f, out: f, alpha: a, m: m, n: []int{-1, 0, n}[(i+j)%3], inc: 1},
				updateProblem{in: f, inY: f, out: f, alpha: a, m: m, n: []int{-1, 0, n}[(i+j+1)%3], inc: -2},
				updateProblem{in: g, inY: h, out: f, alpha: a, m: m, n: n * (j % 2), inc: 1 + j%3, trans: j%4 == 0},
				updateProblem{in: f, inY: g, out: h, alpha: a, m: m, n: n * (j % 3 / 2), inc: -1})
		}
	}
	return append(list,
		updateProblem{in: gputest.MP(1696), inY: gputest.MP(1696), out: gputest.MP(1696), alpha: alphas[9], m: m, n: n, inc: 1},
		updateProblem{in: gputest.MP(5000), inY: gputest.MP(100), out: gputest.MP(5000), alpha: alphaOne, m: 40, n: 2, inc: 1},
		// for the host
		updateProblem{in: gputest.MP(60000), inY: gputest.MP(60000), out: gputest.MP(60000), alpha: alphaOne, m: 2, n: 2, inc: 1},
		updateProblem{in: gputest.MP(106), inY: gputest.MP(106), out: gputest.MP(106), alpha: alphaOne, m: 0, n: 2, inc: 1},
		updateProblem{in: gputest.MP(106), inY: gputest.MP(106), out: gputest.MP(106), alpha: number{name: "0"}, m: m, n: -1, inc: 1},
		updateProblem{in: gputest.MP(106), inY: gputest.MP(106), out: gputest.MP(106), alpha: finite("long", false, 0, append(make([]uint64, 64), 1, 1)...), m: m, n: -1, inc: 1},
		updateProblem{in: gputest.MP(106), inY: gputest.MP(106), out: gputest.MP(106), alpha: finite("longer", false, 0, append([]uint64{1}, append(make([]uint64, 64), 1)...)...), m: m, n: -1, inc: 1},
	)
}

// adversary sets number i to one of a kind that is hard to round.
func adversary(rng *rand.Rand, a *num.Array, i int) {
	p := a.Bits()
	mag := make([]uint64, (p+63)/64)
	r := num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: mag}
	switch rng.IntN(4) {
	case 0: // a few bits at the top and the bottom
		mag[len(mag)-1] = 1 << 63
		mag[0] |= uint64(rng.IntN(3))
	case 1:
		mag[len(mag)-1] = 1 << 63 >> rng.IntN(3)
	case 2: // ones
		for k := range mag {
			mag[k] = ^uint64(0)
		}
		mag[0] -= uint64(rng.IntN(3))
	default:
		for k := range mag {
			mag[k] = rng.Uint64()
		}
	}
	r.Exp = int64(-64 * len(mag))
	switch rng.IntN(10) {
	case 0:
		r.Class = num.Zero
	case 1:
		r.Class = []num.Class{num.Inf, num.NaN, num.Zero, num.Finite}[rng.IntN(4)]
	case 2: // the smallest numbers
		r.Exp += map[num.Kind]int64{num.F32: -140, num.MP: math.MinInt32}[a.Kind]
		if a.Kind != num.F32 && a.Kind != num.MP {
			r.Exp -= 1060
		}
		r.Exp += int64(rng.IntN(30) - 15)
	case 3: // the largest
		r.Exp += map[num.Kind]int64{num.F32: 128, num.MP: math.MaxInt32}[a.Kind]
		if a.Kind != num.F32 && a.Kind != num.MP {
			r.Exp += 1024
		}
		r.Exp -= int64(rng.IntN(4))
	case 4, 5: // one precision away, about
		r.Exp += int64(p * (rng.IntN(5) - 2))
		r.Exp += int64(rng.IntN(5) - 2)
	case 6:
		if a.Kind == num.MP {
			r.Exp += int64(int32(rng.Uint32()))
		} else {
			r.Exp += int64(rng.IntN(2000) - 1000)
		}
	}
	a.Set(i, r)
	if a.Terms() > 1 && rng.IntN(12) == 0 { // not canonical
		a.F64[1][i] = a.F64[0][i] * float64(rng.IntN(5)-2) / 2
	}
}

// adversaries returns numbers with distance inc between them.
func adversaries(rng *rand.Rand, f num.Format, n, inc int) num.Vec {
	v := num.Vec{Arr: num.New(f, max(1, n*max(inc, -inc))), Inc: inc, N: n}
	if inc < 0 {
		v.Off = v.Arr.Len() - 1
	}
	for i := range v.Arr.Len() {
		adversary(rng, v.Arr, i)
	}
	return v
}

// data returns the operands of p; if n is 0, the operands of Axpy.
func (p updateProblem) data() (x, y num.Vec, c num.Mat) {
	rng := rand.New(rand.NewPCG(uint64(p.m), uint64(p.n)))
	n := max(1, p.n)
	x = adversaries(rng, p.in, p.m, p.inc)
	y = ones
	if p.n > 0 {
		y = adversaries(rng, p.inY, n, -p.inc)
	}
	v := adversaries(rng, p.out, p.m*n, 1+(p.inc&1))
	c = num.Mat{Arr: v.Arr, Off: v.Off, RS: v.Inc, CS: p.m * v.Inc, Rows: p.m, Cols: n}
	if p.trans {
		c = num.Mat{Arr: v.Arr, Off: v.Off, RS: n * v.Inc, CS: v.Inc, Rows: p.m, Cols: n}
	}
	// Some entries nearly cancel the product, or are half a unit in its last place or so.
	var acc superacc.Acc
	zero := num.Mat{Arr: num.New(p.out, 1), Rows: p.m, Cols: n}
	for j := range n {
		for i := range p.m {
			if rng.IntN(3) > 0 {
				continue
			}
			r := acc.Updated(num.Format{Kind: num.MP, Prec: uint32(p.out.Bits() + 80)}, p.alpha.Real, x, y, zero, i, j)
			r.Neg = r.Neg != (rng.IntN(2) == 0)
			switch rng.IntN(3) {
			case 0:
				r.Exp += int64(p.out.Bits() + rng.IntN(5) - 2)
			case 1:
				r.Exp -= int64(p.out.Bits() + rng.IntN(5) - 2)
			}
			c.Arr.Set(c.At(i, j), r)
		}
	}
	return x, y, c
}

// checkUpdate compares a problem with the host's, bit for bit, for operands of the host and of the
// device.
func checkUpdate(t *testing.T, dev *cuda.Device, p updateProblem) Counts {
	t.Helper()
	x, y, c := p.data()
	cfg := par.Run{Ctx: context.Background(), Threads: 2}
	work := direct.Work{Run: cfg}
	var flags [3]counter
	var counts, resident Counts
	var want, got *num.Array
	var err error
	if p.n < 0 {
		c = x.Mat()
		want, got = num.New(p.in, p.m), num.New(p.in, p.m)
		if err = direct.Scale(work, p.alpha.Real, x, want, flags[0].count); err == nil {
			counts, err = Scal(dev, cfg, p.alpha.Real, x, got, flags[1].count)
		}
	} else {
		want, got = num.New(p.out, c.Rows*c.Cols), num.New(p.out, c.Rows*c.Cols)
		if err = direct.Update(work, p.alpha.Real, x, y, c, want, flags[0].count); err != nil {
			t.Fatal(err)
		}
		if p.n == 0 {
			counts, err = Axpy(dev, cfg, p.alpha.Real, x, c.Col(0), got, flags[1].count)
		} else {
			counts, err = Ger(dev, cfg, p.alpha.Real, x, y, c, got, flags[1].count)
		}
	}
	if err != nil {
		t.Errorf("%v: %v", p, err)
		return counts
	}
	compare(t, p, counts, got, want, &flags[0], &flags[1])
	if p.m == 0 {
		return counts
	}
	// Numbers of the array between the entries must stay as they are.
	all := num.New(c.Arr.Format, c.Arr.Len())
	wantAll := num.New(c.Arr.Format, c.Arr.Len())
	for i := range c.Arr.Len() {
		wantAll.CopyFrom(i, c.Arr, i)
	}
	for j := range c.Cols {
		for i := range c.Rows {
			wantAll.CopyFrom(c.At(i, j), want, i+j*c.Rows)
		}
	}
	err = dev.Do(cfg.Ctx, func(s *cuda.Stream) error {
		var arrays [3]*mem.Array
		for i, h := range []*num.Array{x.Arr, y.Arr, c.Arr} {
			var err error
			if arrays[i], err = mem.Upload(s, h); err != nil {
				return err
			}
			defer arrays[i].Free()
		}
		z := mem.Matrix{Arr: arrays[2], Off: c.Off, RS: c.RS, CS: c.CS, Rows: c.Rows, Cols: c.Cols}
		v := mem.Vector{Arr: arrays[0], Off: x.Off, Inc: x.Inc, N: x.N}
		var err error
		switch {
		case p.n < 0:
			v.Arr = arrays[2]
			resident, err = ScalOnDevice(s, cfg, p.alpha.Real, v, flags[2].count)
		case p.n == 0:
			resident, err = AxpyOnDevice(s, cfg, p.alpha.Real, v, mem.Vector{Arr: z.Arr, Off: z.Off, Inc: z.RS, N: z.Rows}, flags[2].count)
		default:
			resident, err = GerOnDevice(s, cfg, p.alpha.Real, v, mem.Vector{Arr: arrays[1], Off: y.Off, Inc: y.Inc, N: y.N}, z, flags[2].count)
		}
		if err != nil {
			return err
		}
		return arrays[2].Get(s, all)
	})
	if err != nil {
		t.Errorf("%v, resident: %v", p, err)
		return counts
	}
	compare(t, p, resident, all, wantAll, &flags[0], &flags[2])
	if p.in.Terms() < 2 && p.inY.Terms() < 2 && p.out.Terms() < 2 && p.m < 1000 && counts.Host > 0 && p.alpha.Class != num.Zero && len(p.alpha.Mag) < 65 && p.out.Prec < 10000 {
		t.Errorf("%v: %d entries are left to the host", p, counts.Host)
	}
	return counts
}

// TestUpdateReference runs the host's part of updates, with Go functions for the kernels.
func TestUpdateReference(t *testing.T) {
	dev := gputest.ElementReference(t, &fake.Driver{})
	left, all := int64(0), 0
	for _, p := range updateProblems(41, 3) {
		if c := checkUpdate(t, dev, p); p.out.Terms() > 1 {
			left += c.Host
			all += p.m * max(1, p.n)
		}
	}
	if left == 0 || left > int64(all)*3/4 {
		t.Errorf("%d of %d expansions are left to the host", left, all)
	}
	if c := dev.Counters(); c.InUse != 0 {
		t.Errorf("%d bytes left", c.InUse)
	}
}

// TestUpdateSpecials updates with all combinations of zeros, infinities, NaN and a few numbers.
func TestUpdateSpecials(t *testing.T) {
	t.Run("reference", func(t *testing.T) { specials(t, gputest.ElementReference(t, &fake.Driver{})) })
	t.Run("device", func(t *testing.T) { specials(t, gputest.Machine(t)) })
}

// specialNumbers returns zeros, infinities, NaN and a few numbers, of which some expansions are not
// canonical.
func specialNumbers(f num.Format) *num.Array {
	list := []num.Real{{}, {Neg: true}, {Class: num.Inf}, {Class: num.Inf, Neg: true}, {Class: num.NaN}}
	for _, neg := range []bool{false, true} {
		for _, exp := range []int64{0, -60, 100} {
			list = append(list, num.Real{Class: num.Finite, Neg: neg, Exp: exp, Mag: []uint64{1}})
		}
	}
	var odd [][2]float64
	if f.Terms() > 1 {
		odd = [][2]float64{{1, -1}, {-1, 1}, {0, 1}, {math.Copysign(0, -1), -1}, {1, 1}, {1, math.Inf(1)}, {math.Inf(1), math.Inf(-1)}, {0, math.NaN()}}
	}
	a := num.New(f, len(list)+len(odd))
	for i, r := range list {
		a.Set(i, r)
	}
	for i, pair := range odd {
		a.F64[0][len(list)+i], a.F64[1][len(list)+i] = pair[0], pair[1]
	}
	return a
}

func specials(t *testing.T, dev *cuda.Device) {
	formats := []num.Format{num.Float32, num.Float64, num.DDouble, num.QDouble, gputest.MP(70)}
	for i, f := range formats {
		for k := range formats {
			x, y, z := specialNumbers(f), specialNumbers(formats[(i+k)%len(formats)]), specialNumbers(formats[(i+2*k)%len(formats)])
			vx, vy := num.Vec{Arr: x, Inc: 1, N: x.Len()}, num.Vec{Arr: y, Inc: 1, N: y.Len()}
			c := num.Mat{Arr: num.New(z.Format, x.Len()*y.Len()), RS: 1, CS: x.Len(), Rows: x.Len(), Cols: y.Len()}
			for n := range z.Len() {
				for e := range c.Arr.Len() {
					c.Arr.CopyFrom(e, z, n)
				}
				for _, alpha := range []num.Real{gputest.Scalar(-2), {Class: num.Inf}} {
					var flags [2]counter
					want, got := num.New(z.Format, c.Arr.Len()), num.New(z.Format, c.Arr.Len())
					if err := direct.Update(direct.Work{Run: par.Run{Ctx: context.Background(), Threads: 2}}, alpha, vx, vy, c, want, flags[0].count); err != nil {
						t.Fatal(err)
					}
					counts, err := Ger(dev, par.Run{}, alpha, vx, vy, c, got, flags[1].count)
					if err != nil {
						t.Fatal(err)
					}
					compare(t, fmt.Sprintf("%v %v %v, %v, addend %v", f, y.Format, z.Format, alpha, gputest.Show(z, n)), counts, got, want, &flags[0], &flags[1])
				}
			}
		}
	}
}

// TestUpdateOverlap updates vectors and matrices in place with parts of themselves.
func TestUpdateOverlap(t *testing.T) {
	t.Run("reference", func(t *testing.T) { overlap(t, gputest.ElementReference(t, &fake.Driver{}), 20) })
	t.Run("device", func(t *testing.T) { overlap(t, gputest.Machine(t), 500) })
}

func overlap(t *testing.T, dev *cuda.Device, n int) {
	before := dev.Counters().InUse // constants that other tests have left there
	rng := testseed.Rand(t, 1, 2)
	for _, f := range []num.Format{num.Float64, num.DDouble, gputest.MP(106)} {
		a := adversaries(rng, f, n*n, 1).Arr
		for _, v := range []struct {
			name string
			x, y num.Vec
			c    num.Mat
		}{
			{"the same vector", num.Vec{Arr: a, Inc: 1, N: n}, ones, num.Mat{Arr: a, RS: 1, Rows: n, Cols: 1}},
			{"one further", num.Vec{Arr: a, Inc: 1, N: n}, ones, num.Mat{Arr: a, Off: 1, RS: 1, Rows: n, Cols: 1}},
			{"backwards", num.Vec{Arr: a, Inc: 1, N: n}, ones, num.Mat{Arr: a, Off: n - 1, RS: -1, Rows: n, Cols: 1}},
			{"row and column", num.Vec{Arr: a, Inc: 1, N: n}, num.Vec{Arr: a, Off: 2, Inc: n, N: n}, num.Mat{Arr: a, RS: 1, CS: n, Rows: n, Cols: n}},
			{"first column of the transpose", num.Vec{Arr: a, Inc: n, N: n}, num.Vec{Arr: a, Inc: 1, N: n}, num.Mat{Arr: a, RS: n, CS: 1, Rows: n, Cols: n}},
		} {
			var flags [2]counter
			want, got := num.New(f, a.Len()), num.New(f, a.Len())
			for i := range a.Len() {
				want.CopyFrom(i, a, i)
			}
			z := num.New(f, v.c.Rows*v.c.Cols)
			alpha := alphas[4].Real
			if err := direct.Update(direct.Work{Run: par.Run{Ctx: context.Background(), Threads: 2}}, alpha, v.x, v.y, v.c, z, flags[0].count); err != nil {
				t.Fatal(err)
			}
			for j := range v.c.Cols {
				for i := range v.c.Rows {
					want.CopyFrom(v.c.At(i, j), z, i+j*v.c.Rows)
				}
			}
			var counts Counts
			err := dev.Do(context.Background(), func(s *cuda.Stream) error {
				b, err := mem.Upload(s, a)
				if err != nil {
					return err
				}
				defer b.Free()
				y := mem.Vector{N: 1}
				if v.y.Arr == a {
					y = mem.Vector{Arr: b, Off: v.y.Off, Inc: v.y.Inc, N: v.y.N}
				}
				c := mem.Matrix{Arr: b, Off: v.c.Off, RS: v.c.RS, CS: v.c.CS, Rows: v.c.Rows, Cols: v.c.Cols}
				counts, err = GerOnDevice(s, par.Run{}, alpha, mem.Vector{Arr: b, Off: v.x.Off, Inc: v.x.Inc, N: v.x.N}, y, c, flags[1].count)
				if err != nil {
					return err
				}
				return b.Get(s, got)
			})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, fmt.Sprint(f, ", ", v.name), counts, got, want, &flags[0], &flags[1])
		}
	}
	if n := dev.Counters().InUse - before; n != 0 {
		t.Errorf("%d bytes left", n)
	}
}

// checkSearches compares Iamax with the host's.
func checkSearches(t *testing.T, dev *cuda.Device, n int) {
	rng := testseed.Rand(t, 5, uint64(n))
	cfg := par.Run{Ctx: context.Background(), Threads: 2}
	onDevice := map[num.Kind]int{}
	for _, f := range []num.Format{num.Float32, num.Float64, num.DDouble, num.TDouble, num.QDouble, gputest.MP(2), gputest.MP(64), gputest.MP(106), gputest.MP(424)} {
		for _, inc := range []int{1, -1, 3} {
			for kind := range 6 {
				x := adversaries(rng, f, n, inc)
				for i := range n {
					at := x.At(i)
					switch kind {
					case 0: // all but equal, of both signs
						one := num.New(f, 1)
						mag := make([]uint64, (f.Bits()+63)/64)
						mag[len(mag)-1] = 1 << 63
						mag[0] |= uint64(rng.IntN(3)) << (63 - (f.Bits()-1)%64)
						one.Set(0, num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: mag, Exp: int64(-64 * len(mag))})
						x.Arr.CopyFrom(at, one, 0)
					case 1: // finite and canonical
						for r := x.Arr.Value(at, make([]uint64, num.MaxValueWords)); ; r = x.Arr.Value(at, make([]uint64, num.MaxValueWords)) {
							if r.Class <= num.Finite {
								r.Mag = append([]uint64{}, r.Mag...)
								x.Arr.Set(at, r)
								break
							}
							adversary(rng, x.Arr, at)
						}
					case 2: // zeros
						x.Arr.Set(at, num.Real{Neg: rng.IntN(2) == 0})
					case 3: // infinities
						x.Arr.Set(at, num.Real{Class: num.Class(rng.IntN(3)), Neg: rng.IntN(2) == 0, Mag: []uint64{1}})
					case 4:
						x.Arr.Set(at, num.Real{Class: num.Class(rng.IntN(4)), Neg: rng.IntN(2) == 0, Mag: []uint64{1}})
					}
				}
				want, err := direct.LargestIndex(direct.Work{Run: cfg}, x)
				if err != nil {
					t.Fatal(err)
				}
				got, counts, err := Iamax(dev, cfg, x)
				if err != nil || got != want {
					t.Errorf("%v, distance %d, kind %d: got %d, want %d of %d; %v", f, inc, kind, got, want, n, err)
				}
				if counts.Host == 0 {
					onDevice[f.Kind]++
				} else if f.Terms() < 2 && n > 0 {
					t.Errorf("%v: left to the host", f)
				}
				err = dev.Do(cfg.Ctx, func(s *cuda.Stream) error {
					b, err := mem.Upload(s, x.Arr)
					if err != nil {
						return err
					}
					defer b.Free()
					got, _, err = IamaxOnDevice(s, cfg, mem.Vector{Arr: b, Off: x.Off, Inc: x.Inc, N: x.N})
					return err
				})
				if err != nil || got != want {
					t.Errorf("%v, resident, distance %d, kind %d: got %d, want %d of %d; %v", f, inc, kind, got, want, n, err)
				}
			}
		}
	}
	for _, k := range []num.Kind{num.DD, num.TD, num.QD} {
		if n > 0 && onDevice[k] < 9 {
			t.Errorf("kind %d: only %d searches on the device", k, onDevice[k])
		}
	}
}

func TestIamaxReference(t *testing.T) {
	dev := gputest.ElementReference(t, &fake.Driver{})
	for _, n := range []int{0, 1, 2, 50, 5000} {
		checkSearches(t, dev, n)
	}
	if c := dev.Counters(); c.InUse != 0 {
		t.Errorf("%d bytes left", c.InUse)
	}
}

// checkMoments compares exact sums with the host's.
func checkMoments(t *testing.T, dev *cuda.Device, p rowProblem) {
	t.Helper()
	a, _, _ := p.data()
	cfg := par.Run{Ctx: context.Background(), Threads: 2}
	work := direct.Work{Run: cfg}
	list := []direct.Moment{direct.First, direct.Second, direct.Neighbours}
	x := a.Row(0)
	got, counts, err := Moments(dev, cfg, x, list...)
	if err != nil {
		t.Fatal(err)
	}
	var resident []*superacc.Acc
	err = dev.Do(cfg.Ctx, func(s *cuda.Stream) error {
		b, err := mem.Upload(s, x.Arr)
		if err != nil {
			return err
		}
		defer b.Free()
		resident, _, err = MomentsOnDevice(s, cfg, mem.Vector{Arr: b, Off: x.Off, Inc: x.Inc, N: x.N}, list...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range list {
		want, err := m.Exact(work, x)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []*superacc.Acc{got[i], resident[i]} {
			var d superacc.Acc
			d.Merge(want)
			d.AddScaled(b, gputest.Scalar(-1))
			v, w := b.Value(p.out), want.Value(p.out)
			if want.Finite() && d.Value(num.Float64).Class != num.Zero || v.Class != w.Class || v.Neg != w.Neg {
				t.Errorf("%v, moment %d: got %v, want %v; %+v", p, m, v, w, counts)
			}
		}
	}
	if p.kind == gputest.Uniform && p.k > 1 && p.in.Bits() < 800 && counts.Host > 0 {
		t.Errorf("%v: %d sums are left to the host", p, counts.Host)
	}
}

func TestMomentsReference(t *testing.T) {
	dev := gputest.ElementReference(t, &fake.Driver{})
	for _, p := range rowProblems(10) {
		if p.m > 0 && p.k > 0 {
			checkMoments(t, dev, p)
		}
	}
	if c := dev.Counters(); c.InUse != 0 {
		t.Errorf("%d bytes left", c.InUse)
	}
}

// TestElementFailures lets every call of the driver fail in turn: there is an error, and no memory
// is lost.
func TestElementFailures(t *testing.T) {
	p := updateProblem{in: num.Float64, inY: gputest.MP(70), out: num.DDouble, alpha: alphas[4], m: 20, n: 3, inc: 1}
	x, y, c := p.data()
	cfg := par.Run{Ctx: context.Background(), Threads: 1}
	none := func(num.Flags) {}
	failed, calls := 0, 1
	for after := -1; after < calls; after++ {
		drv := &fake.Driver{}
		dev := gputest.ElementReference(t, drv)
		drv.ForgetCalls()
		if after >= 0 {
			drv.Fail("", after, cudadrv.InvalidDevice)
		}
		_, err := Ger(dev, cfg, p.alpha.Real, x, y, c, num.New(p.out, c.Rows*c.Cols), none)
		if err == nil {
			_, err = Scal(dev, cfg, p.alpha.Real, x, num.New(p.in, p.m), none)
		}
		if err == nil {
			_, _, err = Iamax(dev, cfg, x)
		}
		if err == nil {
			_, _, err = Moments(dev, cfg, x, direct.First, direct.Neighbours)
		}
		if err == nil {
			err = dev.Do(cfg.Ctx, func(s *cuda.Stream) error {
				a, err := mem.Upload(s, c.Arr)
				if err != nil {
					return err
				}
				defer a.Free()
				v := mem.Vector{Arr: a, Off: 0, Inc: 1, N: 10}
				if _, err := AxpyOnDevice(s, cfg, p.alpha.Real, v, mem.Vector{Arr: a, Off: 1, Inc: 1, N: 10}, none); err != nil {
					return err
				}
				_, err = ScalOnDevice(s, cfg, p.alpha.Real, v, none)
				return err
			})
		}
		if c := dev.Counters(); c.InUse != 0 || c.Events != 0 {
			t.Errorf("call %d of %d fails: %+v left", after, calls, c)
		}
		if after < 0 {
			if err != nil {
				t.Fatal(err)
			}
			calls = len(drv.Calls())
		}
		if err != nil {
			failed++
		}
	}
	if failed < 30 {
		t.Errorf("%d calls can fail", failed)
	}
}
