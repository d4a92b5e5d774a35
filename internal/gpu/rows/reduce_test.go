package rows

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testlength"
)

// A rowProblem is a reduction or a matrix-vector product.
type rowProblem struct {
	in, inX, out num.Format
	kind         gputest.Family
	m, k         int
	alpha, beta  float64
	trans        bool
	inc          int // of vectors
	pad          int // entries after each row of a transposed matrix
}

func (p rowProblem) String() string {
	return fmt.Sprintf("%v*%v->%v/%v/%dx%d/%g,%g,%v,%d,%d", p.in, p.inX, p.out, p.kind, p.m, p.k, p.alpha, p.beta, p.trans, p.inc, p.pad)
}

// rowProblems returns products of about n x n.
func rowProblems(n int) (list []rowProblem) {
	for _, f := range []num.Format{num.Float32, num.Float64, num.DDouble, num.QDouble, gputest.MP(24), gputest.MP(106), gputest.MP(212), gputest.MP(424)} {
		for _, kind := range []gputest.Family{gputest.Uniform, gputest.Spread, gputest.Integers, gputest.Cancel, gputest.Special, gputest.Scaled, gputest.Ascending, gputest.Scattered} {
			list = append(list, rowProblem{in: f, inX: f, out: f, kind: kind, m: n, k: n + 3, alpha: 1, inc: 1})
		}
	}
	f64 := num.Float64
	return append(list,
		rowProblem{in: gputest.MP(848), inX: gputest.MP(848), out: gputest.MP(848), m: n, k: 2 * n, alpha: -2, inc: 1},
		rowProblem{in: gputest.MP(848), inX: gputest.MP(848), out: gputest.MP(848), kind: gputest.Cancel, m: n, k: n, alpha: 1, inc: -1},
		rowProblem{in: gputest.MP(1696), inX: gputest.MP(1696), out: gputest.MP(1696), m: n, k: n, alpha: 0.125, trans: true, inc: 2},
		rowProblem{in: gputest.MP(1696), inX: gputest.MP(1696), out: gputest.MP(1696), kind: gputest.Integers, m: n, k: n, alpha: 1, inc: 1},
		rowProblem{in: gputest.MP(2000), inX: f64, out: gputest.MP(2000), m: 4, k: n, alpha: 1, inc: 1},
		rowProblem{in: f64, inX: gputest.MP(150), out: gputest.MP(100), kind: gputest.Spread, m: n, k: 2 * n, alpha: -1, trans: true, inc: 3},
		rowProblem{in: gputest.MP(1200), inX: f64, out: gputest.MP(300), kind: gputest.Scaled, m: 2 * n, k: n, alpha: 1, inc: -2},
		rowProblem{in: num.TDouble, inX: num.Float32, out: gputest.MP(150), m: n, k: n, alpha: 1, inc: 1},
		rowProblem{in: f64, inX: num.DDouble, out: num.TDouble, kind: gputest.Cancel, m: n, k: n, alpha: -3, beta: 0.7, inc: 1},
		rowProblem{in: f64, inX: f64, out: f64, kind: gputest.Integers, m: n, k: n, alpha: 0.3, beta: -1, inc: -1, trans: true},
		rowProblem{in: f64, inX: f64, out: f64, kind: gputest.Special, m: n, k: 3, alpha: -1, beta: 1, inc: 1},
		rowProblem{in: gputest.MP(212), inX: gputest.MP(212), out: gputest.MP(106), kind: gputest.Cancel, m: n, k: n, alpha: 1, beta: -3, inc: 1},
		rowProblem{in: gputest.MP(106), inX: gputest.MP(106), out: gputest.MP(106), m: 60, k: n, alpha: 1, inc: 1},
		rowProblem{in: gputest.MP(106), inX: gputest.MP(106), out: gputest.MP(106), m: 131, k: n, alpha: 1, inc: 2, trans: true},
		rowProblem{in: f64, inX: f64, out: f64, m: 3, k: 1, alpha: 1, inc: 1},
		rowProblem{in: f64, inX: f64, out: f64, m: 1, k: 0, alpha: 1, beta: 2, inc: 1},
		rowProblem{in: f64, inX: f64, out: f64, m: 0, k: 3, alpha: 1, inc: 1},
		rowProblem{in: f64, inX: f64, out: f64, m: 3, k: 3, alpha: 0, beta: 2, inc: 1},
	)
}

// A counter counts flags.
type counter struct{ overflows, underflows atomic.Int64 }

func (c *counter) count(f num.Flags) {
	c.overflows.Add(int64(f & num.Overflow))
	c.underflows.Add(int64(f & num.Underflow / num.Underflow))
}

func (c *counter) sums() [2]int64 { return [2]int64{c.overflows.Load(), c.underflows.Load()} }

// randomVec returns a vector with distance inc between its entries.
func randomVec(rng *rand.Rand, f num.Format, kind gputest.Family, n, inc int) num.Vec {
	v := num.Vec{Arr: num.New(f, max(1, n*max(inc, -inc))), Inc: inc, N: n}
	if inc < 0 {
		v.Off = v.Arr.Len() - 1
	}
	a := gputest.RandomMat(rng, f, kind, 1, n)
	for i := range n {
		v.Arr.CopyFrom(v.At(i), a.Arr, a.At(0, i))
	}
	return v
}

// data returns the operands of p.
func (p rowProblem) data() (a num.Mat, x, y num.Vec) {
	rng := rand.New(rand.NewPCG(11, uint64(p.m*p.k)))
	a = gputest.RandomMat(rng, p.in, p.kind, p.m, p.k)
	kind := p.kind
	if kind == gputest.Cancel {
		kind = gputest.Uniform
	}
	x = randomVec(rng, p.inX, kind, p.k, p.inc)
	if p.kind == gputest.Cancel { // whole rows cancel
		for j := p.k / 2; j < p.k/2*2; j++ {
			x.Arr.CopyFrom(x.At(j), x.Arr, x.At(j-p.k/2))
		}
		for j := p.k / 2 * 2; j < p.k; j++ {
			x.Arr.Set(x.At(j), num.Real{})
		}
	}
	if p.trans {
		b := num.Mat{Arr: num.New(p.in, p.m*(p.k+p.pad)), RS: p.k + p.pad, CS: 1, Rows: p.m, Cols: p.k}
		for i := range p.m {
			for j := range p.k {
				b.Arr.CopyFrom(b.At(i, j), a.Arr, a.At(i, j))
			}
		}
		a = b
	}
	return a, x, randomVec(rng, p.out, gputest.Uniform, p.m, p.inc)
}

// checkGemv compares a product with the host's, bit for bit, for operands of the host and of the
// device.
func checkGemv(t *testing.T, dev *cuda.Device, p rowProblem) {
	t.Helper()
	a, x, y := p.data()
	alpha, beta := gputest.Scalar(p.alpha), gputest.Scalar(p.beta)
	cfg := par.Run{Ctx: context.Background(), Threads: 2}
	var flags [3]counter
	want := num.New(p.out, p.m)
	work := direct.Work{Run: cfg}
	if _, err := direct.Gemv(work, alpha, a, x, beta, y, want, flags[0].count); err != nil {
		t.Fatal(err)
	}
	got := num.New(p.out, p.m)
	counts, err := Gemv(dev, cfg, alpha, a, x, beta, y, got, flags[1].count)
	if err != nil {
		t.Errorf("%v: %v", p, err)
		return
	}
	compare(t, p, counts, got, want, &flags[0], &flags[1])
	if p.m == 0 || p.k == 0 {
		return
	}
	got = num.New(p.out, p.m)
	err = dev.Do(cfg.Ctx, func(s *cuda.Stream) error {
		var arrays [4]*mem.Array
		for i, h := range []*num.Array{a.Arr, x.Arr, y.Arr, got} {
			var err error
			if arrays[i], err = mem.Upload(s, h); err != nil {
				return err
			}
			defer arrays[i].Free()
		}
		m := mem.Matrix{Arr: arrays[0], Off: a.Off, RS: a.RS, CS: a.CS, Rows: a.Rows, Cols: a.Cols}
		counts, err = GemvOnDevice(s, cfg, alpha, m, mem.Vector{Arr: arrays[1], Off: x.Off, Inc: x.Inc, N: x.N}, beta,
			mem.Vector{Arr: arrays[2], Off: y.Off, Inc: y.Inc, N: y.N}, mem.Vector{Arr: arrays[3], Off: 0, Inc: 1, N: p.m}, flags[2].count)
		if err != nil {
			return err
		}
		return arrays[3].Get(s, got)
	})
	if err != nil {
		t.Errorf("%v, resident: %v", p, err)
		return
	}
	compare(t, p, counts, got, want, &flags[0], &flags[2])
}

func compare(t *testing.T, p any, counts Counts, got, want *num.Array, expected, counted *counter) {
	t.Helper()
	bad := 0
	for i := range want.Len() {
		if !got.SameBits(i, want, i) {
			if bad++; bad <= 3 {
				t.Errorf("%v: number %d: got %v, want %v", p, i, gputest.Show(got, i), gputest.Show(want, i))
			}
		}
	}
	if bad > 0 {
		t.Errorf("%v: %d of %d numbers wrong; %+v", p, bad, want.Len(), counts)
	} else if testing.Verbose() {
		t.Logf("%v: %+v", p, counts)
	}
	if expected.sums() != counted.sums() {
		t.Errorf("%v: flags %v, want %v", p, counted.sums(), expected.sums())
	}
}

// checkReductions compares all reductions of the first row of p with the results on the host.
func checkReductions(t *testing.T, dev *cuda.Device, p rowProblem) {
	t.Helper()
	a, x, _ := p.data()
	if p.m == 0 {
		return
	}
	u := a.Row(0)
	cfg := par.Run{Ctx: context.Background(), Threads: 2}
	work := direct.Work{Run: cfg}
	for _, r := range []direct.Reduction{direct.Sum, direct.Asum, direct.Dot, direct.Squares, -1} {
		want, got := num.New(p.out, 1), num.New(p.out, 2)
		var flags, resident, expected num.Flags
		var counts Counts
		var err error
		if r < 0 {
			if expected, _, err = direct.Norm(work, u, want); err == nil {
				flags, counts, err = Norm(dev, cfg, u, got)
			}
		} else {
			y := u
			if r == direct.Dot {
				y = x
			}
			if expected, _, err = r.Round(work, u, y, want); err == nil {
				flags, counts, err = Reduce(dev, cfg, r, u, y, got)
			}
		}
		if err != nil {
			t.Errorf("%v, reduction %d: %v", p, r, err)
			continue
		}
		got.CopyFrom(1, got, 0)
		err = dev.Do(cfg.Ctx, func(s *cuda.Stream) error {
			b, err := mem.Upload(s, u.Arr)
			if err != nil {
				return err
			}
			defer b.Free()
			y, err := mem.Upload(s, x.Arr)
			if err != nil {
				return err
			}
			defer y.Free()
			v := mem.Vector{Arr: b, Off: u.Off, Inc: u.Inc, N: u.N}
			if r < 0 {
				resident, _, err = NormOnDevice(s, cfg, v, got)
			} else {
				resident, _, err = ReduceOnDevice(s, cfg, r, v, mem.Vector{Arr: y, Off: x.Off, Inc: x.Inc, N: x.N}, got)
			}
			return err
		})
		if err != nil {
			t.Errorf("%v, reduction %d: %v", p, r, err)
			continue
		}
		if testing.Verbose() {
			t.Logf("%v, reduction %d: %+v", p, r, counts)
		}
		for i := range 2 {
			if !got.SameBits(i, want, 0) || flags != expected || resident != expected {
				t.Errorf("%v, reduction %d: got %v %v, want %v %v; %+v", p, r, gputest.Show(got, i), flags, gputest.Show(want, 0), expected, counts)
			}
		}
	}
}

// TestRowReference runs all the host's part of level 1 and 2, with Go functions for the kernels.
func TestRowReference(t *testing.T) {
	dev := gputest.RowReference(t, &fake.Driver{})
	for _, p := range rowProblems(10) {
		checkGemv(t, dev, p)
		checkReductions(t, dev, p)
	}
	if c := dev.Counters(); c.InUse != 0 {
		t.Errorf("%d bytes left", c.InUse)
	}
}

// TestRowFailures lets every call of the driver fail in turn: there is an error, and no memory is
// lost.
func TestRowFailures(t *testing.T) {
	p := rowProblem{in: num.DDouble, inX: num.Float64, out: num.Float64, m: 20, k: 5, alpha: 1, inc: 1}
	a, x, y := p.data()
	failed := 0
	for _, beta := range []float64{0, 1} {
		calls := 1
		for after := -1; after < calls; after++ {
			drv := &fake.Driver{}
			dev := gputest.RowReference(t, drv)
			drv.ForgetCalls()
			if after >= 0 {
				drv.Fail("", after, cudadrv.InvalidDevice)
			}
			cfg := par.Run{Ctx: context.Background(), Threads: 1}
			_, err := Gemv(dev, cfg, gputest.Scalar(1), a, x, gputest.Scalar(beta), y, num.New(p.out, p.m), func(num.Flags) {})
			if err == nil {
				_, _, err = Reduce(dev, cfg, direct.Dot, x, x, num.New(p.out, 1))
			}
			if c := dev.Counters(); c.InUse != 0 || c.Events != 0 {
				t.Errorf("call %d of %d fails: %+v left", after, calls, c)
			}
			if after < 0 {
				calls = len(drv.Calls())
			}
			if err != nil {
				failed++
			}
		}
	}
	if failed < 30 {
		t.Errorf("%d calls can fail", failed)
	}
}

// TestShares checks that blocks that share tiles have slots, and that kernels count them.
func TestShares(t *testing.T) {
	for _, c := range []struct{ tiles, slots, most, want int }{
		{4, 100, 1000, 25}, {4, 100, 7, 7}, {1, 1, 5, 1}, {60, 100, 5, 1}, {abi.MaxTiles, 1 << 20, 5, 5}, {abi.MaxTiles + 1, 1 << 20, 5, 1},
	} {
		if got := shares(c.tiles, c.slots, c.most); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

const exactDigits = 9

// withVectors calls f with copies of x and y on a device.
func withVectors(t *testing.T, dev *cuda.Device, x, y *num.Array, f func(s *cuda.Stream, x, y mem.Vector) error) {
	t.Helper()
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		a, err := mem.Upload(s, x)
		if err != nil {
			return err
		}
		defer a.Free()
		b, err := mem.Upload(s, y)
		if err != nil {
			return err
		}
		defer b.Free()
		return f(s, mem.Vector{Arr: a, Inc: 1, N: x.Len()}, mem.Vector{Arr: b, Inc: 1, N: y.Len()})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestExactSpread checks, at the limit, that sums are exact of which that is said.
func TestExactSpread(t *testing.T) {
	dev := gputest.RowReference(t, &fake.Driver{})
	for _, p := range []int{53, 56, 57, 84, 106} {
		for extra := range int64(3) {
			q := &rowSums{a: mem.Matrix{Arr: &mem.Array{Format: gputest.MP(p)}}, x: &mem.Matrix{Arr: &mem.Array{Format: gputest.MP(p)}}}
			spread := q.exactSpread(exactDigits) + extra - 1
			if spread < 0 {
				continue
			}
			// 2^spread u v - 2^spread u v + u v, u and v without trailing zeros and the
			// largest addend just below the reference.
			x, y := num.New(gputest.MP(p), 3), num.New(gputest.MP(p), 3)
			down := spread + 2*int64(p)
			for i := range 3 {
				r := num.Real{Class: num.Finite, Neg: i == 1, Mag: onesOf(p)}
				y.Set(i, num.Real{Class: num.Finite, Mag: onesOf(p), Exp: -down})
				if i < 2 {
					r.Exp = spread
				}
				x.Set(i, r)
			}
			withVectors(t, dev, x, y, func(s *cuda.Stream, a, b mem.Vector) error {
				right := b.Row()
				q := &rowSums{s: s, a: a.Row(), x: &right}
				defer q.free()
				h, err := q.sums(exactDigits)
				if err != nil {
					return err
				}
				want := num.ToInt(onesOf(p))
				want.Mul(want, want)
				v := h.sum(0)
				got := num.ToInt(v.Mag)
				want.Lsh(want, uint(max(0, -down-v.Exp)))
				got.Lsh(got, uint(max(0, v.Exp+down)))
				if h.exact(0) != (extra < 2) || h.exact(0) && got.Cmp(want) != 0 {
					t.Errorf("%d bits, spread %d: exact %v, %x, want %x", p, spread, h.exact(0), got, want)
				}
				return nil
			})
		}
	}
}

// TestColumnsReference checks the columns of digits of the reference.
func TestColumnsReference(t *testing.T) {
	checkColumns(t, gputest.RowReference(t, &fake.Driver{}), testlength.Of(7, 3, 1))
}

// checkColumns compares sums, as they are kept, with the exact ones, in one of every `every`
// problems.
func checkColumns(t *testing.T, dev *cuda.Device, every int) {
	number := 0
	for _, digits := range abi.ReduceDigits() {
		for _, products := range []bool{false, true} {
			for _, p := range []rowProblem{
				{in: gputest.MP(28*digits + 5), inX: gputest.MP(28 * digits), kind: gputest.Spread, m: 3, k: 300, inc: 1},
				{in: gputest.MP(28*digits - 30), inX: num.Float64, kind: gputest.Scaled, m: 60, k: 20, inc: 2},
				{in: num.Float64, inX: gputest.MP(28 * digits), kind: gputest.Uniform, m: 70, k: 21, inc: 1, trans: true},
				{in: num.Float64, inX: num.Float64, kind: gputest.Ascending, m: 2, k: 1000, inc: 1},
				{in: gputest.MP(106), inX: num.Float64, kind: gputest.Scattered, m: 30, k: 200, inc: 1},
				{in: gputest.MP(100), inX: num.Float32, kind: gputest.Ascending, m: 40, k: 500, inc: 1, trans: true},
				{in: gputest.MP(28*digits + 5), inX: gputest.MP(28*digits - 30), kind: gputest.Spread, m: 33, k: 70, inc: 1},
				{in: gputest.MP(300), inX: gputest.MP(28*digits + 40), kind: gputest.Scattered, m: 150, k: 19, inc: -2, trans: true},
			} {
				if number++; number%every == 0 {
					p.out = num.Float64
					checkColumnsOf(t, dev, p, digits, products)
				}
			}
		}
	}
}

func checkColumnsOf(t *testing.T, dev *cuda.Device, p rowProblem, digits int, products bool) {
	a, x, _ := p.data()
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		m, err := mem.UploadView(s, a)
		if err != nil {
			return err
		}
		defer m.Arr.Free()
		v, err := mem.UploadVector(s, x)
		if err != nil {
			return err
		}
		defer v.Arr.Free()
		q := &rowSums{s: s, a: m}
		if products {
			row := v.Row()
			q.x = &row
		}
		defer q.free()
		h, err := q.sums(digits)
		if err != nil {
			return err
		}
		for i := range a.Rows {
			checkSum(t, fmt.Sprintf("%v, %d digits, products %v, row %d", p, digits, products, i), h, i, a.Row(i), x)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkSum compares sum i of h with the sum of a, or of the products of a and x.
func checkSum(t *testing.T, name string, h *hostSums, i int, a, x num.Vec) {
	top, bottom, seen := int64(math.MinInt64), int64(math.MaxInt64), uint32(0)
	var bufs [2][num.MaxValueWords]uint64
	for j := range a.N {
		r := a.Arr.Value(a.At(j), bufs[0][:])
		e, zero, neg := r.Exp+int64(num.BitLen(r.Mag)), r.Class == num.Zero, r.Neg
		if h.q.x != nil {
			v := x.Arr.Value(x.At(j), bufs[1][:])
			e, zero, neg = e+v.Exp+int64(num.BitLen(v.Mag)), zero || v.Class == num.Zero, neg != v.Neg
		}
		switch {
		case !zero:
			top, bottom = max(top, e), min(bottom, e)
			seen |= abi.SeenFinite
		case neg:
			seen |= abi.SeenNegativeZero
		default:
			seen |= abi.SeenPositiveZero
		}
	}
	if h.flags[i] != seen {
		t.Errorf("%s: flags %d, want %d", name, h.flags[i], seen)
	}
	if seen&abi.SeenFinite == 0 {
		return
	}
	if above := h.top[i] - top; above < 0 || above >= abi.RowDigit || h.bottom[i] != -bottom {
		t.Errorf("%s: reference %d, least exponent %d, exponents of addends from %d to %d", name, h.top[i], -h.bottom[i], bottom, top)
	}
	var acc superacc.Acc
	if h.q.x != nil {
		acc.AddDot(a, x)
	} else {
		acc.AddVec(a)
	}
	sum := h.sum(i)
	sum.Neg = !sum.Neg
	acc.Add(sum)
	off := acc.Exact()
	if off.Class == num.Zero {
		return
	}
	errors, shift := h.q.error()
	off.Neg = false
	acc.Reset()
	acc.Add(off)
	acc.Add(num.Real{Class: num.Finite, Neg: true, Exp: sum.Exp + shift, Mag: []uint64{errors}})
	if h.exact(i) || !acc.Exact().Neg {
		t.Errorf("%s: wrong by %x 2^%d, exact %v, bound %d 2^%d", name, off.Mag, off.Exp, h.exact(i), errors, sum.Exp+shift)
	}
}

// onesOf returns 2^p - 1.
func onesOf(p int) []uint64 {
	m := make([]uint64, (p+63)/64)
	for i := range p {
		m[i/64] |= 1 << (i % 64)
	}
	return m
}
