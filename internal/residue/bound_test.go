package residue

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// boundOf returns the smallest bound of these entries of which one row's is given by its largest
// entry.
func boundOf(c num.Mat) *Bound {
	b := &Bound{Rows: make([]int64, c.Rows), Cols: make([]int64, c.Cols)}
	top := func(i, j int) int64 {
		if class, top, _ := c.Arr.Span(c.At(i, j)); class == num.Finite {
			return top
		}
		return -1 << 30
	}
	for i := range b.Rows {
		b.Rows[i] = -1 << 30
		for j := range b.Cols {
			b.Rows[i] = max(b.Rows[i], top(i, j))
		}
	}
	for j := range b.Cols {
		b.Cols[j] = -1 << 30
		for i := range b.Rows {
			b.Cols[j] = max(b.Cols[j], top(i, j)-b.Rows[i])
		}
	}
	return b
}

// residual is old beta + alpha A B for an old that is the product A B rounded to some bits, so that
// hardly anything is left of it.
type residual struct {
	a, b, old   num.Mat
	alpha, beta num.Real
}

func newResidual(rng *rand.Rand, f, g, h num.Format, m, k, n, spread int, shift int) (r residual, err error) {
	r.a, r.b = randomMat(rng, f, m, k, spread), randomMat(rng, g, n, k, spread).T()
	r.alpha, r.beta = scalar(f, math.Ldexp(-1, shift)), scalar(f, 1)
	if rng.IntN(2) == 0 {
		r.alpha, r.beta = scalar(f, math.Ldexp(1, shift)), scalar(f, -1)
	}
	r.old = num.Mat{Arr: num.New(h, m*n), RS: 1, CS: m, Rows: m, Cols: n}
	neg := r.alpha
	neg.Neg = !r.beta.Neg
	q, err := Plan(Config{Run: par.Run{Ctx: context.Background(), Threads: 1, Memory: 1 << 30}}, neg, r.a, r.b, num.Real{}, r.old, r.old, nil, nil)
	if err != nil {
		return r, err
	}
	// alpha A B + beta RN(-alpha/beta A B)
	neg.Neg = r.alpha.Neg == r.beta.Neg
	q.p.alpha = newScaling(neg)
	_, err = q.Run()
	return r, err
}

// run computes the residual in format f by residues.
func (r residual) run(t *testing.T, f num.Format, cfg Config) (num.Mat, Stats) {
	t.Helper()
	c := num.Mat{Arr: num.New(f, r.old.Rows*r.old.Cols), RS: 1, CS: r.old.Rows, Rows: r.old.Rows, Cols: r.old.Cols}
	cfg.Ctx = context.Background()
	if cfg.Memory == 0 {
		cfg.Memory = 1 << 30
	}
	q, err := Plan(cfg, r.alpha, r.a, r.b, r.beta, r.old, c, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	st, err := q.Run()
	if err != nil {
		t.Fatal(err)
	}
	return c, st
}

// exactly computes it in exact arithmetic.
func (r residual) exactly(f num.Format) num.Mat {
	c := num.Mat{Arr: num.New(f, r.old.Rows*r.old.Cols), RS: 1, CS: r.old.Rows, Rows: r.old.Rows, Cols: r.old.Cols}
	w := newDirectWorker(&product{a: r.a, b: r.b.T(), old: r.old, c: c, alpha: newScaling(r.alpha), beta: newScaling(r.beta)})
	for i := range c.Rows {
		for j := range c.Cols {
			w.entry(i, j)
		}
	}
	return c
}

// rounded returns a matrix in another format.
func rounded(m num.Mat, f num.Format) num.Mat {
	z := num.Mat{Arr: num.New(f, m.Rows*m.Cols), RS: 1, CS: m.Rows, Rows: m.Rows, Cols: m.Cols}
	for i := range m.Rows {
		for j := range m.Cols {
			z.Arr.Set(z.At(i, j), m.Arr.Value(m.At(i, j), make([]uint64, num.MaxValueWords)))
		}
	}
	return z
}

func same(a, b num.Mat) bool {
	for i := range a.Rows {
		for j := range a.Cols {
			if !a.Arr.SameBits(a.At(i, j), b.Arr, b.At(i, j)) {
				return false
			}
		}
	}
	return true
}

func mp(p uint32) num.Format { return num.Format{Kind: num.MP, Prec: p} }

// TestBounded computes residuals with bounds that just suffice.
func TestBounded(t *testing.T) { eachUnit(t, testBounded) }

func testBounded(t *testing.T) {
	rng := testseed.Rand(t, 3, 9)
	formats := []num.Format{num.Float32, num.Float64, num.DDouble, num.QDouble, mp(24), mp(53), mp(106), mp(212), mp(500)}
	fewer, trials := 0, testlength.Trials(150)
	for trial := range trials {
		f, g, h, z := formats[rng.IntN(9)], formats[rng.IntN(9)], formats[trial%9], formats[rng.IntN(9)]
		spread := []int{0, 3, 30, 200}[rng.IntN(4)]
		if f == num.Float32 || g == num.Float32 || h == num.Float32 {
			spread = min(spread, 20)
		}
		m, k, n := 1+rng.IntN(40), 1+rng.IntN(60), 1+rng.IntN(40)
		r, err := newResidual(rng, f, g, h, m, k, n, spread, []int{0, 3, -5}[rng.IntN(3)])
		if err != nil {
			continue
		}
		want := r.exactly(z)
		cfg := Config{Run: par.Run{Threads: 1 + trial%3, Check: trial%2 == 0}, Bound: boundOf(r.exactly(mp(64)))}
		if trial%4 == 3 {
			cfg.Memory = 400000
		}
		got, st := r.run(t, z, cfg)
		if !same(got, want) {
			t.Fatalf("trial %d: %v %v %v -> %v, %d x %d x %d, spread %d: other bits (%+v)", trial, f, g, h, z, m, k, n, spread, st)
		}
		cfg.Bound = nil
		plain, without := r.run(t, z, cfg)
		if !same(plain, want) {
			t.Fatal("without a bound: other bits")
		}
		if st.Moduli < without.Moduli {
			fewer++
		}
	}
	if fewer < trials/3 {
		t.Errorf("%d of %d products had a smaller base", fewer, trials)
	}
}

// TestBoundedBase counts moduli: integers whose product has 3p bits, of which p are known to
// cancel, take a base of 2p and a few bits. One whose bound is 40 bits too small, more than the
// room that roundings have, comes out wrong.
func TestBoundedBase(t *testing.T) { eachUnit(t, testBoundedBase) }

func testBoundedBase(t *testing.T) {
	rng := testseed.Rand(t, 4, 9)
	for _, p := range []uint32{53, 106, 424} {
		// I - A X: A of 2p bits, X of p bits, the result small by p bits.
		r, err := newResidual(rng, mp(2*p), mp(p), mp(p), 30, 40, 30, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := r.exactly(mp(p))
		bound := boundOf(want)
		got, st := r.run(t, mp(p), Config{Run: par.Run{Threads: 1}, Bound: bound})
		if !same(got, want) {
			t.Fatalf("p = %d: other bits", p)
		}
		pool := residuePool()
		if st.Kernel != modgemm.Best().Name {
			pool = bytePool()
		}
		bits := int(pool.bits[st.Moduli])
		if saved := st.WidthL + st.WidthR - bits; saved < int(p)-20 || bits > 2*int(p)+60 || st.Exact > 20 {
			t.Errorf("p = %d: a base of %d bits (%+v)", p, bits, st)
		}
		for i := range bound.Rows {
			bound.Rows[i] -= 40
		}
		if got, _ := r.run(t, mp(p), Config{Run: par.Run{Threads: 1}, Bound: bound}); same(got, want) {
			t.Errorf("p = %d: a bound of 2^-40 of the result goes unnoticed", p)
		}
		q, err := Plan(Config{Run: par.Run{Ctx: context.Background(), Threads: 1, Memory: 1 << 30, Check: true}, Bound: bound}, r.alpha, r.a, r.b, r.beta, r.old, got, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Run(); !errors.Is(err, ErrHardware) {
			t.Errorf("p = %d: a bound of 2^-40 of the result, checked: error %v", p, err)
		}
	}
}

// TestBoundedOldPlaces has old entries of many more places than products of the factors: next to
// none of their residuals, and none that may be in error, is left to the exact pass.
func TestBoundedOldPlaces(t *testing.T) { eachUnit(t, testBoundedOldPlaces) }

func testBoundedOldPlaces(t *testing.T) {
	rng := testseed.Rand(t, 6, 9)
	for _, spread := range []int{0, 40} {
		r, err := newResidual(rng, mp(600), mp(100), mp(600), 30, 40, 30, spread, 3)
		if err != nil {
			t.Fatal(err)
		}
		r.a = rounded(r.a, mp(40))
		want := r.exactly(mp(200))
		bound := boundOf(want)
		got, st := r.run(t, mp(200), Config{Run: par.Run{Threads: 1}, Bound: bound})
		if !same(got, want) {
			t.Fatal("other bits")
		}
		if st.Exact > 45 { // of 900
			t.Errorf("spread %d: %d entries in the exact pass", spread, st.Exact)
		}
		bound.Within = 200
		if _, st = r.run(t, mp(200), Config{Run: par.Run{Threads: 1}, Bound: bound}); st.Exact > 0 {
			t.Errorf("spread %d: %d entries in the exact pass that may be in error", spread, st.Exact)
		}
	}
}

// TestBoundedZeros has results that vanish, with the signs of zeros of IEEE 754, and old entries of
// zeros.
func TestBoundedZeros(t *testing.T) {
	rng := testseed.Rand(t, 5, 9)
	for trial := range testlength.Trials(40) {
		m, k, n := 1+rng.IntN(20), 1+rng.IntN(20), 1+rng.IntN(40)
		r := residual{a: randomMat(rng, num.Float64, m, k, 0), b: randomMat(rng, num.Float64, n, k, 0).T(), alpha: scalar(num.Float64, -1), beta: scalar(num.Float64, 1)}
		for i := range m * k {
			r.a.Arr.F64[0][i] = float64(rng.IntN(5) - 2)
		}
		for i := range n * k {
			r.b.Arr.F64[0][i] = float64(rng.IntN(5) - 2)
		}
		zero := r
		zero.beta = num.Real{}
		r.old = num.Mat{Arr: num.New(num.Float64, m*n), RS: 1, CS: m, Rows: m, Cols: n}
		zero.old = r.old
		zero.alpha.Neg = false
		r.old = zero.exactly(num.Float64) // A B
		for i := range m * n {
			switch x := &r.old.Arr.F64[0][i]; {
			case trial%2 == 0 && i%7 == 0:
				*x += 1.0 / 1024
			case *x == 0 && i%2 == 0:
				*x = math.Copysign(0, -1)
			}
		}
		b := &Bound{Rows: make([]int64, m), Cols: make([]int64, n)}
		for i := range b.Rows {
			b.Rows[i] = -9
		}
		got, _ := r.run(t, num.Float64, Config{Run: par.Run{Threads: 1}, Bound: b})
		if !same(got, r.exactly(num.Float64)) {
			t.Fatalf("trial %d: other bits", trial)
		}
	}
}

// TestBoundedInPlace computes bounded results of expansions in place, where the exact pass reads
// old entries that no attempt before may have touched: some are 2^-60 + 2^-900, of which the first
// term is certain and the second one not.
func TestBoundedInPlace(t *testing.T) { eachUnit(t, testBoundedInPlace) }

func testBoundedInPlace(t *testing.T) {
	rng := testseed.Rand(t, 5, 9)
	const m, k, n = 40, 30, 50
	for _, f := range []num.Format{num.DDouble, num.TDouble, num.QDouble} {
		r := residual{a: randomMat(rng, num.Float64, m, k, 0), b: randomMat(rng, num.Float64, n, k, 0).T(), alpha: scalar(f, 1), beta: scalar(f, 1)}
		a := num.Mat{Arr: num.New(mp(1000), m*k), RS: 1, CS: m, Rows: m, Cols: k}
		set := func(x num.Mat, i, j int, v float64) { x.Arr.Set(x.At(i, j), scalar(num.Float64, v)) }
		r.old = num.Mat{Arr: num.New(f, m*n), RS: 1, CS: m, Rows: m, Cols: n}
		for j := range n {
			for h := range k {
				set(r.b, h, j, 1)
			}
		}
		for i := range m {
			for h := range k {
				set(a, i, h, 0)
			}
			x := 1 + rng.Float64()
			set(a, i, 0, x)
			set(a, i, 1, 0x1p-60*(1+rng.Float64()))
			set(a, i, 2, 0x1p-114*(1+rng.Float64()))
			set(a, i, 3, 0x1p-168*(1+rng.Float64()))
			set(a, i, 4, 0x1p-222*(1+rng.Float64()))
			set(a, i, 5, 0x1p-280*(1+rng.Float64()))
			set(a, i, 6, 0x1p-900)
			if i == 7 {
				set(a, i, 1, 0x1p-60)
				for h := 2; h < 6; h++ {
					set(a, i, h, 0)
				}
			}
			for j := range n {
				set(r.old, i, j, -x)
			}
		}
		r.a = a
		want := r.exactly(f)
		c := r.old.Copy()
		cfg := Config{Run: par.Run{Ctx: context.Background(), Threads: 1, Memory: 1 << 30}, Bound: boundOf(r.exactly(mp(64)))}
		q, err := Plan(cfg, r.alpha, r.a, r.b, r.beta, c, c, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		st, err := q.Run()
		if err != nil {
			t.Fatal(err)
		}
		if q.p.within == nil || st.Exact == 0 {
			t.Errorf("%v: bounded %v, %d entries in the exact pass", f, q.p.within != nil, st.Exact)
		}
		if !same(c, want) {
			t.Errorf("%v: other bits (%+v)", f, st)
		}
	}
}
