package rows

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// alwaysOuter has all products of MP numbers go to the kernels of kernels/rows/outer.cuh.
func alwaysOuter(t testing.TB) {
	old := outerRules
	outerRules = outerRule{rows: math.MaxInt}
	t.Cleanup(func() { outerRules = old })
}

// outerProblems cover all shapes: lengths near the length of a stage, on one block and on several,
// numbers shorter and longer than what shapes keep, two lengths of numbers, and results shorter and
// longer than factors.
func outerProblems() (list []rowProblem) {
	for i, p := range []int{20, 64, 106, 212, 424, 640, 848, 1344, 1696} {
		in, out := gputest.MP(p), gputest.MP(p)
		for _, k := range []int{1, 31, 33, 300} {
			list = append(list, rowProblem{in: in, inX: in, out: out, m: 2, k: k, alpha: 1, inc: 1, trans: i%2 == 0})
		}
		for _, kind := range []gputest.Family{gputest.Spread, gputest.Integers, gputest.Cancel, gputest.Special, gputest.Scaled, gputest.Ascending, gputest.Scattered} {
			list = append(list, rowProblem{in: in, inX: gputest.MP(p - p/3), out: out, kind: kind, m: 3, k: 70, alpha: -1, inc: -2, trans: i%2 == 1})
		}
	}
	return append(list,
		rowProblem{in: gputest.MP(5000), inX: gputest.MP(100), out: gputest.MP(200), kind: gputest.Scaled, m: 2, k: 130, alpha: 1, inc: 3},
		rowProblem{in: gputest.MP(100), inX: gputest.MP(3000), out: gputest.MP(1600), m: 2, k: 130, alpha: 1, beta: 3, inc: 1},
		rowProblem{in: gputest.MP(848), inX: gputest.MP(848), out: gputest.MP(848), m: 1, k: 0, alpha: 1, inc: 1},
		rowProblem{in: gputest.MP(848), inX: gputest.MP(848), out: gputest.MP(848), kind: gputest.Cancel, m: 40, k: 40, alpha: 1, inc: 1},
	)
}

// checkOuter checks one of every `every` problems.
func checkOuter(t *testing.T, every int) {
	alwaysOuter(t)
	dev := gputest.RowReference(t, &fake.Driver{Shared: 227 << 10})
	for i, p := range outerProblems() {
		if i%every == 0 {
			checkGemv(t, dev, p)
			checkReductions(t, dev, p)
		}
	}
	checkColumns(t, dev, every)
	if c := dev.Counters(); c.InUse != 0 {
		t.Errorf("%d bytes left", c.InUse)
	}
}

// TestOuterReference runs the host's part, with Go functions for the kernels.
func TestOuterReference(t *testing.T) { checkOuter(t, testlength.Of(5, 5, 1)) }

// TestOuterEmulated runs the kernels themselves, compiled for the host.
func TestOuterEmulated(t *testing.T) {
	t.Setenv(gputest.Emulate, "rows/outer")
	checkOuter(t, testlength.Of(23, 19, 1))
}

// TestOuterLongest adds more products than sums of 32 bits hold, of the digits that make them
// largest: 255 of both factors. There are so many rows that no two blocks share one.
func TestOuterLongest(t *testing.T) {
	if !testlength.Long() {
		t.Skip("a million products on an emulated GPU")
	}
	alwaysOuter(t)
	t.Setenv(gputest.Emulate, "rows/outer")
	shape, _ := abi.OuterShapeOf(9)
	p, n, rows := 192, shape.Numbers()*1040, 5
	ones := num.Real{Class: num.Finite, Mag: onesOf(p), Exp: -int64(p)}
	x := num.New(gputest.MP(p), n)
	for i := range n {
		x.Set(i, ones)
	}
	withVectors(t, gputest.RowReference(t, &fake.Driver{Shared: 227 << 10}), x, x, func(s *cuda.Stream, a, b mem.Vector) error {
		right := b.Row()
		q := &rowSums{s: s, a: mem.Matrix{Arr: a.Arr, RS: 0, CS: 1, Rows: rows, Cols: n}, x: &right}
		defer q.free()
		h, err := q.sums(9)
		if err != nil {
			return err
		}
		v := num.Vec{Arr: x, Inc: 1, N: n}
		checkSum(t, "longest", h, rows-1, v, v)
		return nil
	})
}

// uneven returns n numbers, twice, of which blocks have other references than others: some are far
// smaller, or zeros, which Y has, and all exponents may be about the least or the largest; or one
// block has two that are far above all others, from number large on, of opposite signs in X.
func uneven(rng *rand.Rand, digits, n, trial int) (x, y *num.Array, large int) {
	f := gputest.MP(28*digits - 50)
	x, y, large = num.New(f, n), num.New(f, n), rng.IntN(n-1)
	for i := range n {
		r := num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: make([]uint64, f.Limbs())}
		for w := range r.Mag {
			r.Mag[w] = rng.Uint64() | 1<<63
		}
		exp := int64(i/200*rng.IntN(29)) - int64(trial*200)
		if trial%3 == 2 {
			exp = (1<<31 - 2000) * int64(1-trial%2*2)
		}
		r.Exp = -exp - 64*int64(len(r.Mag))
		x.Set(i, r)
		if i/100%5 == trial%5 {
			r.Class = num.Zero
		}
		y.Set(i, r)
	}
	if trial%3 == 0 {
		for i := range 2 {
			r := num.Real{Class: num.Finite, Mag: onesOf(28*digits - 50), Exp: int64(trial) * 20}
			y.Set(large+i, r)
			r.Neg = i == 1
			x.Set(large+i, r)
		}
	}
	return x, y, large
}

// TestOuterSlices adds products of uneven numbers.
func TestOuterSlices(t *testing.T) {
	alwaysOuter(t)
	t.Setenv(gputest.Emulate, "rows/outer")
	rng := testseed.Rand(t, 5, 7)
	for _, digits := range []int{9, 17, 32, 62} {
		for trial := range testlength.Of(3, 3, 12) {
			n := testlength.Of(800, 800, 1600)
			x, y, _ := uneven(rng, digits, n, trial)
			withVectors(t, gputest.RowReference(t, &fake.Driver{Shared: 227 << 10}), x, y, func(s *cuda.Stream, a, b mem.Vector) error {
				right := b.Row()
				q := &rowSums{s: s, a: a.Row(), x: &right}
				defer q.free()
				h, err := q.sums(digits)
				if err != nil {
					return err
				}
				checkSum(t, fmt.Sprintf("%d digits, trial %d", digits, trial), h, 0, num.Vec{Arr: x, Inc: 1, N: n}, num.Vec{Arr: y, Inc: 1, N: n})
				return nil
			})
		}
	}
}

// TestOuterShapes checks that shapes hold all digits, and that the last antidiagonal kept weighs no
// less than the last column.
func TestOuterShapes(t *testing.T) {
	for _, k := range abi.ReduceDigits() {
		s, ok := abi.OuterShapeOf(k)
		if kept := s.Kept(k); !ok || 8*kept < abi.RowDigit*k || 8*(kept+1) > abi.RowDigit*(k+1) || kept > 16*s.Groups {
			t.Errorf("%d digits: shape %v keeps %d antidiagonals", k, s, kept)
		}
	}
}
