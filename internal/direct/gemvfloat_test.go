package direct

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// hardFloats returns sources of numbers: signs of zeros, ties, cancellation, numbers near the ends
// of the range, infinities and NaN.
func hardFloats(r *rand.Rand) []func() float64 {
	return []func() float64{
		func() float64 { return r.NormFloat64() },
		func() float64 { return float64(r.IntN(5) - 2) },
		func() float64 { return math.Copysign(0, float64(r.IntN(2))-0.5) },
		func() float64 { return math.Ldexp(r.NormFloat64(), r.IntN(240)-120) },
		func() float64 { return math.Ldexp(r.NormFloat64(), r.IntN(1000)-500) },
		func() float64 { return math.Ldexp(float64(r.IntN(9)-4), -1074) },
		func() float64 { return math.Ldexp(1+float64(r.IntN(3))*0x1p-52, r.IntN(3)-1) },
		func() float64 {
			return [...]float64{0, math.Inf(1), math.NaN(), -1, 1e300, 1, 2, 3}[r.IntN(8)]
		},
	}
}

// TestFewAddends compares sums of few binary64 and binary32 numbers, and of products of them, with
// the exact sums.
func TestFewAddends(t *testing.T) {
	r := testseed.Rand(t, 21, 5)
	numbers := hardFloats(r)
	kinds := []num.Format{num.Float64, num.Float32}
	vector := func(n int) num.Vec {
		inc := 1 + r.IntN(2)
		v := num.Vec{Arr: num.New(kinds[r.IntN(2)], max(1, n*inc)), Inc: inc, N: n}
		next := numbers[r.IntN(len(numbers))]
		for i := range n {
			var buf [1]uint64
			v.Arr.Set(v.At(i), superacc.FloatReal(next(), buf[:]))
		}
		return v
	}
	w := Work{Run: par.Run{Ctx: context.Background(), Threads: 2}}
	for round := range testlength.Trials(8000) {
		n := r.IntN(12)
		if r.IntN(8) == 0 {
			n = fewAddends - 1 + r.IntN(3)
		}
		x, y, f := vector(n), vector(n), kinds[r.IntN(2)]
		kind := Reduction(r.IntN(4))
		got, want := num.New(f, 1), num.New(f, 1)
		flags, _, err := kind.Round(w, x, y, got)
		if err != nil {
			t.Fatal(err)
		}
		a, err := kind.Exact(w, x, y)
		if err != nil {
			t.Fatal(err)
		}
		wantFlags := want.Set(0, a.Value(f))
		g, e := superacc.FloatAt(got, 0), superacc.FloatAt(want, 0)
		if flags != wantFlags || math.Float64bits(g) != math.Float64bits(e) && (g == g || e == e) {
			t.Fatalf("round %d: reduction %d of %d numbers, %v and %v to %v: %x, flags %v, not %x, flags %v", round, kind, n, x.Arr.Format, y.Arr.Format, f, g, flags, e, wantFlags)
		}
	}
}

// TestSmallFloatProducts compares products of small matrices of binary64 and binary32 numbers with
// the exact sums of their entries: signs of zeros, ties, cancellation, numbers near the ends of the
// range, factors that are no powers of two, and results that are added to.
func TestSmallFloatProducts(t *testing.T) {
	r := testseed.Rand(t, 21, 4)
	numbers := hardFloats(r)
	factors := []float64{1, -1, 0.5, -3, 1.0 / 3, 0x1p-600, 1e200, 5e-324, math.Inf(1), 0}
	kinds := []num.Format{num.Float64, num.Float32}
	fill := func(m num.Mat, next func() float64) {
		for j := range m.Cols {
			for i := range m.Rows {
				var buf [1]uint64
				m.Arr.Set(m.At(i, j), superacc.FloatReal(next(), buf[:]))
			}
		}
	}
	matrix := func(f num.Format, rows, cols int, byRows bool) num.Mat {
		m := num.Mat{Arr: num.New(f, rows*cols), RS: 1, CS: rows, Rows: rows, Cols: cols}
		if byRows {
			m.RS, m.CS = cols, 1
		}
		return m
	}
	real := func(x float64) num.Real { return superacc.FloatReal(x, make([]uint64, 1)) }
	for round := range testlength.Trials(4000) {
		m, n, k := 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(24)
		next := numbers[r.IntN(len(numbers))]
		p := Product{
			Alpha: real(factors[r.IntN(len(factors)-1)]), Beta: real(factors[r.IntN(len(factors))]),
			A: matrix(kinds[r.IntN(2)], m, k, r.IntN(2) == 0), B: matrix(kinds[r.IntN(2)], k, n, r.IntN(2) == 0),
			Old: matrix(kinds[r.IntN(2)], m, n, r.IntN(2) == 0), C: matrix(kinds[r.IntN(2)], m, n, r.IntN(2) == 0),
		}
		if m == n {
			p.Triangle = [...]byte{0, 'U', 'L'}[r.IntN(3)]
		}
		fill(p.A, next)
		fill(p.B, next)
		fill(p.Old, numbers[r.IntN(len(numbers))])
		q := p
		q.C = matrix(p.C.Arr.Format, m, n, false)
		fill(p.C, func() float64 { return 7 })
		fill(q.C, func() float64 { return 7 })
		var mu sync.Mutex
		var flags [2]num.Flags
		count := func(k int) func(num.Flags) {
			return func(f num.Flags) {
				mu.Lock()
				defer mu.Unlock()
				flags[k] |= f
			}
		}
		w := Work{Run: par.Run{Ctx: context.Background(), Threads: 2}}
		if _, err := Gemm(w, p, 0, count(0)); err != nil {
			t.Fatal(err)
		}
		if err := Entries(w, q, count(1)); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("round %d: %d x %d x %d, alpha %v, beta %v, %v %v %v %v", round, m, k, n, p.Alpha, p.Beta, p.A.Arr.Format, p.B.Arr.Format, p.Old.Arr.Format, p.C.Arr.Format)
		if flags[0] != flags[1] {
			t.Errorf("%s: flags %v, not %v", what, flags[0], flags[1])
		}
		for j := range n {
			for i := range m {
				x, y := superacc.FloatAt(p.C.Arr, p.C.At(i, j)), superacc.FloatAt(q.C.Arr, q.C.At(i, j))
				if math.Float64bits(x) != math.Float64bits(y) && (x == x || y == y) {
					t.Fatalf("%s: entry (%d, %d) is %x, not %x", what, i, j, x, y)
				}
			}
		}
	}
}

// TestFloatQuotients compares quotients of sums in compensated arithmetic with exact ones.
func TestFloatQuotients(t *testing.T) {
	r := testseed.Rand(t, 21, 6)
	numbers := hardFloats(r)
	kinds := []num.Format{num.Float64, num.Float32}
	decided := 0
	for round := range testlength.Trials(20000) {
		next := numbers[r.IntN(len(numbers))]
		n := r.IntN(6)
		s := num.Vec{Arr: num.New(kinds[r.IntN(2)], n+1), Inc: 1, N: n}
		x := num.Vec{Arr: num.New(kinds[r.IntN(2)], n+1), Inc: 1, N: n}
		var buf [4][1]uint64
		for h := range n {
			s.Arr.Set(h, superacc.FloatReal(next(), buf[0][:]))
			x.Arr.Set(h, superacc.FloatReal(next(), buf[0][:]))
		}
		alpha, ok := FloatFactor(superacc.FloatReal(numbers[r.IntN(2)](), buf[0][:]))
		b, d := next(), next()
		if !ok {
			continue
		}
		f := kinds[r.IntN(2)]
		got, want := num.New(f, 1), num.New(f, 1)
		if !FloatQuotient(got, 0, alpha, b, s, x, d) {
			continue
		}
		decided++
		var a superacc.Acc
		a.AddProduct(superacc.FloatReal(alpha, buf[0][:]), superacc.FloatReal(b, buf[1][:]))
		a.AddEntry(One(true), s, x, num.Real{}, num.Real{})
		flags := a.SetQuotient(want, 0, superacc.FloatReal(d, buf[2][:]))
		if g, e := superacc.FloatAt(got, 0), superacc.FloatAt(want, 0); flags != 0 || math.Float64bits(g) != math.Float64bits(e) {
			t.Fatalf("round %d: %d products, %v, divisor %x: %x, not %x, flags %v", round, n, f, d, g, e, flags)
		}
	}
	if decided < testlength.Trials(20000)/5 {
		t.Errorf("%d quotients were decided", decided)
	}
}
