package newton_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/newton"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testseed"
)

// summing is a case of TestSum.
// float64s stands for the bits of operands in Float64.
const float64s = 0

type summing struct {
	x, d, bits int // of the operands, and of the sum
	f          num.Format
	m, n       int
	down, out  bool // whether operands, and results, are views of transposed matrices
	both       bool // x and d are alike: else one of them is
	triangle   byte
	errors     bool
	unit       bool
}

// TestHalfLessSquares compares (d - z²)/2 with the exact value.
func TestHalfLessSquares(t *testing.T) {
	everywhere(t, func(t *testing.T, dev *cuda.Device) {
		rng := testseed.Rand(t, 1, 5)
		for _, c := range []struct {
			d, z, n, apart int
			done           bool
		}{{24, 24, 1, 0, true}, {64, 53, 300, 3, true}, {104, 64, 257, 20, true}, {130, 200, 300, 200, true}, {512, 256, 40, 8, true}, {100, 257, 3, 0, false}, {513, 64, 3, 0, false}} {
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error { return halfLessSquares(t, s, rng, c.d, c.z, c.n, c.apart, c.done) }); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func halfLessSquares(t *testing.T, s *cuda.Stream, rng *rand.Rand, bitsD, bitsZ, n, apart int, done bool) error {
	d, z := random(rng, bitsD, n, 1, n%2 == 0), random(rng, bitsZ, n, 1, false)
	for i := range n { // d near the square, above and below it, and equal to it
		at := d.At(i, 0)
		if x := bigOf(z.Arr, z.At(i, 0)); x.Sign() != 0 && rng.IntN(4) > 0 {
			y := new(big.Float).Mul(x, x)
			d.Arr.Set(at, num.Real{Class: num.Finite, Neg: rng.IntN(8) == 0, Exp: int64(y.MantExp(nil) - 64 + rng.IntN(2*apart+1) - apart), Mag: []uint64{1<<63 | rng.Uint64()>>1<<(rng.IntN(2)*63)}})
		}
	}
	a, err := mem.Upload(s, d.Arr)
	if err != nil {
		return err
	}
	defer a.Free()
	b, err := mem.Upload(s, z.Arr)
	if err != nil {
		return err
	}
	defer b.Free()
	tally, err := mem.NewArray(s, num.Float64, 1)
	if err != nil {
		return err
	}
	defer tally.Free()
	ok, err := newton.HalfLessSquares(s, mem.Matrix{Arr: a, Off: d.Off, RS: d.RS, CS: d.CS, Rows: n, Cols: 1},
		mem.Matrix{Arr: b, Off: z.Off, RS: z.RS, CS: z.CS, Rows: n, Cols: 1}, tally)
	if err != nil || ok != done {
		return fmt.Errorf("%d and %d bits: done %v, %v", bitsD, bitsZ, ok, err)
	}
	got, err := a.Host(s)
	if err != nil {
		return err
	}
	left, err := tally.Host(s)
	if err != nil || left.F64[0][0] != 0 {
		return fmt.Errorf("%v left, %w", left.F64[0][0], err)
	}
	column := map[int]bool{}
	for i := range n {
		at := d.At(i, 0)
		column[at] = done
		if !done {
			continue
		}
		x, y := bigOf(d.Arr, at), bigOf(z.Arr, z.At(i, 0))
		square := new(big.Float).SetPrec(4000).Mul(y, y)
		want := new(big.Float).SetPrec(4000).Sub(x, square)
		want.Quo(want, big.NewFloat(2))
		larger := new(big.Float).Abs(x)
		if larger.Cmp(square) < 0 {
			larger = square
		}
		bound := new(big.Float).SetMantExp(new(big.Float).Abs(want), -bitsD)
		bound.Add(bound, new(big.Float).SetMantExp(larger, -bitsD-30))
		if e := new(big.Float).Sub(bigOf(got, at), want); e.Abs(e).Cmp(bound) > 0 {
			t.Errorf("%d and %d bits, number %d: (%v - %v²)/2 = %v, want %v", bitsD, bitsZ, i, x, y, bigOf(got, at), want)
		}
	}
	for i := range got.Len() {
		if !column[i] && !got.SameBits(i, d.Arr, i) {
			t.Errorf("%d and %d bits: number %d beside the column has changed", bitsD, bitsZ, i)
		}
	}
	return nil
}

// TestSum compares sums of matrices with exact ones: results lie between what the least and the
// largest of the numbers that the sum may be round to, are the same for both where errors are
// given, and nothing else is stored.
func TestSum(t *testing.T) {
	mp := gputest.MP
	cases := []summing{
		{x: 53, d: 64, bits: 100, f: mp(100), m: 1, n: 1},
		{x: 64, d: 24, bits: 64, f: mp(64), m: 300, n: 3},
		{x: 100, d: 300, bits: 250, f: mp(250), m: 70, n: 5, down: true},
		{x: 73, d: float64s, bits: 64, f: mp(64), m: 260, n: 3},
		{x: 110, d: float64s, bits: 100, f: mp(100), m: 20, n: 30, down: true, both: true, out: true},
		{x: 300, d: 100, bits: 424, f: mp(424), m: 257, n: 4, out: true},
		{x: 1000, d: 700, bits: 1696, f: mp(1696), m: 130, n: 2},
		{x: 200, d: 150, bits: 250, f: mp(250), m: 40, n: 40, triangle: 'L'},
		{x: 200, d: 150, bits: 250, f: mp(250), m: 40, n: 40, triangle: 'U', down: true, out: true},
		{x: 120, d: 90, bits: 160, f: mp(160), m: 261, n: 2, unit: true},
		{x: 53, d: 60, bits: 101, f: num.Float64, m: 270, n: 3, errors: true},
		{x: 53, d: 60, bits: 101, f: num.Float64, m: 20, n: 33, errors: true, out: true},
		{x: 240, d: 240, bits: 472, f: mp(424), m: 265, n: 3, errors: true},
		{x: 100, d: 100, bits: 160, f: num.DDouble, m: 265, n: 3, errors: true},
		{x: 60, d: 60, bits: 90, f: num.Float32, m: 30, n: 30, errors: true, triangle: 'L'},
		{x: 118, d: 90, bits: 101, f: num.Float64, m: 60, n: 60, errors: true, down: true, both: true, out: true, triangle: 'U'},
		{x: 118, d: 90, bits: 101, f: num.DDouble, m: 5, n: 270, errors: true, down: true, both: true, out: true},
		{x: 240, d: 240, bits: 472, f: mp(424), m: 40, n: 40, errors: true, down: true, both: true, triangle: 'L'},
		{x: 120, d: 90, bits: 160, f: mp(160), m: 3, n: 261, unit: true, down: true, both: true, out: true},
	}
	everywhere(t, func(t *testing.T, dev *cuda.Device) {
		for _, c := range cases {
			rng := testseed.Rand(t, 1, uint64(c.m))
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error { return c.run(t, s, rng) }); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// everywhere runs f on a fake device with the kernels' references, with the kernels themselves, and
// on the machine's.
func everywhere(t *testing.T, f func(t *testing.T, dev *cuda.Device)) {
	t.Run("reference", func(t *testing.T) { f(t, gputest.NewtonReference(t, new(fake.Driver))) })
	t.Run("emulated", func(t *testing.T) {
		t.Setenv(gputest.Emulate, "newton/newton")
		f(t, gputest.NewtonReference(t, new(fake.Driver)))
	})
	t.Run("device", func(t *testing.T) { f(t, gputest.Machine(t)) })
}

// TestShift compares scaled matrices with exact ones, and what is around them; numbers that cannot
// be scaled are counted.
func TestShift(t *testing.T) {
	everywhere(t, func(t *testing.T, dev *cuda.Device) {
		for k, c := range []struct {
			f    num.Format
			prec int // of the result
			m, n int
		}{{num.Float64, 53, 300, 3}, {num.Float64, 200, 7, 40}, {num.Float32, 24, 33, 2}, {gputest.MP(64), 64, 1, 1},
			{gputest.MP(100), 100, 257, 5}, {gputest.MP(424), 424, 300, 4}, {gputest.MP(424), 700, 20, 20}, {gputest.MP(60), 1000, 261, 2}} {
			rng := testseed.Rand(t, 2, uint64(k))
			odd := 0
			in := gputest.RandomMat(rng, c.f, gputest.Spread, c.m*c.n+2, 1)
			x := view(in.Arr, c.m, c.n, k%2 == 0)
			by := [2][]int64{make([]int64, c.m), make([]int64, c.n)}
			for _, list := range by {
				for i := range list {
					list[i] = int64(rng.IntN(100) - 50)
				}
			}
			z := num.New(gputest.MP(c.prec), c.m*c.n+2)
			to := view(z, c.m, c.n, k%3 == 0)
			want, counted := num.New(z.Format, z.Len()), map[int]bool{}
			for j := range c.n {
				for i := range c.m {
					switch rng.IntN(20) {
					case 0:
						in.Arr.Set(x.At(i, j), num.Real{Neg: j%2 == 0})
					case 1:
						in.Arr.Set(x.At(i, j), num.Real{Class: num.Inf})
						z.Set(to.At(i, j), num.Real{Class: num.NaN}) // which is not to stay
						odd++
						counted[to.At(i, j)] = true
						continue
					}
					r := in.Arr.Value(x.At(i, j), make([]uint64, num.ValueWords(c.f)))
					r.Exp += by[0][i] + by[1][j]
					want.Set(to.At(i, j), r)
				}
			}
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
				a, err := mem.Upload(s, in.Arr)
				if err != nil {
					return err
				}
				defer a.Free()
				b, err := mem.Upload(s, z)
				if err != nil {
					return err
				}
				defer b.Free()
				on := func(a *mem.Array, v num.Mat) mem.Matrix {
					return mem.Matrix{Arr: a, Off: v.Off, RS: v.RS, CS: v.CS, Rows: c.m, Cols: c.n}
				}
				count, err := newton.Shift(s, on(a, x), by[0], by[1], on(b, to), nil)
				if err != nil {
					return err
				}
				got, err := b.Host(s)
				if err != nil {
					return err
				}
				if count != odd {
					t.Errorf("%+v: %d numbers are odd, want %d", c, count, odd)
				}
				for i := range got.Len() {
					if counted[i] && got.Class(i) != num.Zero || !counted[i] && !got.SameBits(i, want, i) {
						t.Fatalf("%+v: number %d is %s, want %s", c, i, gputest.Show(got, i), gputest.Show(want, i))
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// view returns the m x n view of an array from its second number on, of rows or of columns.
func view(a *num.Array, m, n int, rows bool) num.Mat {
	if rows {
		return num.Mat{Arr: a, Off: 1, RS: n, CS: 1, Rows: m, Cols: n}
	}
	return num.Mat{Arr: a, Off: 1, RS: 1, CS: m, Rows: m, Cols: n}
}

func (c summing) run(t *testing.T, s *cuda.Stream, rng *rand.Rand) error {
	name := fmt.Sprintf("%+v", c)
	x, d := random(rng, c.x, c.m, c.n, c.down), random(rng, max(c.d, 24), c.m, c.n, c.down == c.both)
	of := place.Sum{Bits: c.bits, Triangle: c.triangle}
	sums, size := make([]*big.Float, c.m*c.n), make([]int, c.m*c.n)
	for j := range c.n {
		for i := range c.m {
			if rng.IntN(12) == 0 && c.x >= c.d { // cancellation to 0
				x.Arr.Convert(x.At(i, j), d.Arr, d.At(i, j))
				gputest.Negate(x.Arr, x.At(i, j))
			}
			p, q := bigOf(x.Arr, x.At(i, j)), bigOf(d.Arr, d.At(i, j))
			sums[i+j*c.m] = new(big.Float).SetPrec(4000).Add(p, q)
			size[i+j*c.m] = max(top(p), top(q))
		}
	}
	if c.errors {
		for j := range c.n {
			of.Errors = append(of.Errors, int64(slices.Max(size[j*c.m:(j+1)*c.m])-c.bits-180+200*(j%2)))
		}
		for i := range c.m {
			of.Rows = append(of.Rows, int64(i%7)-3)
		}
		for j := range c.n {
			of.Cols = append(of.Cols, int64(j%5)-2)
		}
	}
	if c.unit {
		unit := int64(slices.Max(size) - c.bits/2)
		of.Unit = &unit
	}
	arr := num.New(c.f, c.m*c.n+2)
	mark := num.Real{Class: num.Finite, Mag: []uint64{5}, Exp: 3}
	for i := range arr.Len() {
		arr.Set(i, mark)
	}
	a, err := mem.Upload(s, x.Arr)
	if err != nil {
		return err
	}
	defer a.Free()
	if c.d == float64s {
		arr := num.New(num.Float64, d.Arr.Len())
		for i := range arr.Len() {
			arr.Convert(i, d.Arr, i)
		}
		d.Arr = arr
	}
	b, err := mem.Upload(s, d.Arr)
	if err != nil {
		return err
	}
	defer b.Free()
	z, err := mem.Upload(s, arr)
	if err != nil {
		return err
	}
	defer z.Free()
	on := func(a *mem.Array, v num.Mat) mem.Matrix {
		return mem.Matrix{Arr: a, Off: v.Off, RS: v.RS, CS: v.CS, Rows: c.m, Cols: c.n}
	}
	to := view(arr, c.m, c.n, c.out)
	left, err := newton.Sum(s, of, on(a, x), on(b, d), on(z, to), nil)
	if err != nil {
		return err
	}
	got, err := z.Host(s)
	if err != nil {
		return err
	}
	untouched := map[int]bool{}
	one := num.New(c.f, 1)
	// rounded returns what a number rounds to, cut off to multiples of the unit first.
	rounded := func(v *big.Float, by int) *big.Float {
		if of.Unit != nil {
			n, _ := new(big.Float).SetMantExp(v, -int(*of.Unit)).Int(nil)
			v = new(big.Float).SetMantExp(new(big.Float).SetPrec(4000).SetInt(n), int(*of.Unit))
		}
		setBig(one, 0, new(big.Float).SetMantExp(v, by))
		return bigOf(one, 0)
	}
	for k := range got.Len() {
		untouched[k] = true
	}
	count, wanted := 0, 0
	for j := range c.n {
		for i := range c.m {
			if c.triangle == 'U' && i > j || c.triangle == 'L' && i < j {
				continue
			}
			wanted++
			sum, at, by := sums[i+j*c.m], to.At(i, j), 0
			most := new(big.Float).SetPrec(4000).SetMantExp(big.NewFloat(1), size[i+j*c.m]+1-32*of.Words())
			if c.errors {
				by = int(of.Rows[i] + of.Cols[j])
				most.Add(most, new(big.Float).SetMantExp(big.NewFloat(1), int(of.Errors[j])))
			}
			low := rounded(new(big.Float).Sub(sum, most), by)
			high := rounded(new(big.Float).Add(sum, most), by)
			if got.SameBits(at, arr, at) && c.errors {
				count++
				continue
			}
			delete(untouched, at)
			v := bigOf(got, at)
			if v.Cmp(low) < 0 || v.Cmp(high) > 0 || c.errors && low.Cmp(high) != 0 {
				t.Fatalf("%s: entry (%d, %d) is %v, not from %v to %v", name, i, j, v, low, high)
			}
		}
	}
	if count != left || count > wanted*2/3 {
		t.Errorf("%s: %d of %d entries are as they were, %d are left", name, count, wanted, left)
	}
	for k := range untouched {
		if !got.SameBits(k, arr, k) {
			t.Errorf("%s: number %d has changed", name, k)
		}
	}
	return nil
}

// top returns the exponent of x. The exponent of 0 is below all others.
func top(x *big.Float) int {
	if x.Sign() == 0 {
		return -1 << 20
	}
	return x.MantExp(nil)
}

// setBig sets number i to x, rounded.
func setBig(a *num.Array, i int, x *big.Float) {
	if x.Sign() == 0 {
		a.Set(i, num.Real{})
		return
	}
	n := int(x.MinPrec())
	m, _ := new(big.Float).SetMantExp(x, n-x.MantExp(nil)).Int(nil)
	r := num.Real{Class: num.Finite, Neg: m.Sign() < 0, Exp: int64(x.MantExp(nil) - n)}
	for m.Abs(m); m.Sign() > 0; m.Rsh(m, 64) {
		r.Mag = append(r.Mag, new(big.Int).And(m, new(big.Int).SetUint64(1<<64-1)).Uint64())
	}
	a.Set(i, r)
}
