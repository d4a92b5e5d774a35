package product

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// problem is one product.
type problem struct {
	in, inB, out num.Format
	kind         gputest.Family
	m, n, k      int
	alpha, beta  float64
	transA       bool // A, and C, are stored row by row
	triangle     byte
	memory       int64
	bits         int        // of significands of alpha and beta, if not 0
	old          num.Format // of Old, if it differs from the format of C
	oldKind      gputest.Family
	oldExp       int64 // of a factor of Old
	against      bool  // Old is the rounded -alpha/beta A B for alpha = beta = 1
	inPlace      bool  // Old is C
	checked      bool  // the GPU's product is
}

func (p problem) String() string {
	return fmt.Sprintf("%v*%v->%v/%v/%dx%dx%d/%g,%g,%v,%c,%d/%d,%v,%v,2^%d,%v,%v,%v", p.in, p.inB, p.out, p.kind, p.m, p.n, p.k, p.alpha, p.beta,
		p.transA, p.triangle|' ', p.memory, p.bits, p.old, p.oldKind, p.oldExp, p.against, p.inPlace, p.checked)
}

// scalars returns alpha and beta.
func (p problem) scalars(rng *rand.Rand) (alpha, beta num.Real) {
	alpha, beta = gputest.Scalar(p.alpha), gputest.Scalar(p.beta)
	for _, r := range []*num.Real{&alpha, &beta} {
		if p.bits > 0 && r.Class == num.Finite {
			a := gputest.RandomMat(rng, gputest.MP(p.bits), gputest.Uniform, 1, 1).Arr
			v := a.Value(0, nil)
			*r = num.Real{Class: num.Finite, Neg: r.Neg, Mag: v.Mag, Exp: v.Exp + int64(rng.IntN(9))}
		}
	}
	return alpha, beta
}

// check compares a product with the host's, bit for bit.
func check(t *testing.T, dev *cuda.Device, p problem) {
	t.Helper()
	compareGemm(t, p, func(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error) {
		return multiply(dev, cfg, alpha, a, b, beta, old, c)
	})
}

// compareGemm compares a way to multiply with the host's, bit for bit.
func compareGemm(t *testing.T, p problem, gemm func(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error)) {
	t.Helper()
	rng := testseed.Rand(t, 7, uint64(p.m*p.n*p.k))
	a, b := gputest.RandomMat(rng, p.in, p.kind, p.m, p.k), gputest.RandomMat(rng, p.inB, p.kind, p.n, p.k).T()
	if p.kind == gputest.Cancel { // whole products cancel
		b = gputest.RandomMat(rng, p.inB, gputest.Uniform, p.n, p.k).T()
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
	alpha, beta := p.scalars(rng)
	cfg := Config{Pattern: place.Pattern{Triangle: p.triangle}, Run: par.Run{Ctx: context.Background()}, Limit: p.memory}.defaults()
	product := func(old, c num.Mat) residue.Stats {
		stats, err := hostGemm(cfg, alpha, a, b, beta, old, c)
		if err != nil {
			t.Fatal(err)
		}
		return stats
	}
	if p.old == (num.Format{}) {
		p.old = p.out
	}
	old := gputest.RandomMat(rng, p.old, p.oldKind, p.m, p.n)
	if p.against {
		if _, err := hostGemm(cfg, gputest.Scalar(-1), a, b, num.Real{}, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if p.oldExp != 0 {
		for i := range old.Arr.Len() {
			r := old.Arr.Value(i, make([]uint64, num.MaxValueWords))
			r.Exp += p.oldExp
			r.Mag = append([]uint64{}, r.Mag...)
			old.Arr.Set(i, r)
		}
	}
	fresh := func() num.Mat {
		c := num.Mat{Arr: num.New(p.out, p.m*p.n), RS: 1, CS: p.m, Rows: p.m, Cols: p.n}
		if p.transA {
			c.RS, c.CS = p.n, 1
		}
		if p.inPlace {
			for i := range p.m * p.n {
				c.Arr.CopyFrom(c.At(i%p.m, i/p.m), old.Arr, i)
			}
		}
		return c
	}
	want, got := fresh(), fresh()
	oldWant, oldGot := old, old
	if p.inPlace {
		oldWant, oldGot = want, got
	}
	counted := product(oldWant, want)
	cfg.Check = p.checked
	stats, err := gemm(cfg, alpha, a, b, beta, oldGot, got)
	if err != nil {
		t.Errorf("%v: %v", p, err)
		return
	}
	entries := int64(0)
	for i := range p.m {
		for j := range p.n {
			if p.triangle == 0 || p.triangle == 'U' && i <= j || p.triangle == 'L' && i >= j {
				entries++
			}
		}
	}
	if c := stats.Check; p.checked && stats.Device != "cpu" && (c.Compared != entries || c.Unchecked != stats.Exact) {
		t.Errorf("%v: compared %+v", p, c)
	}
	if stats.Overflow != counted.Overflow || stats.Underflow != counted.Underflow {
		t.Errorf("%v: %d overflows, %d underflows, want %d, %d", p, stats.Overflow, stats.Underflow, counted.Overflow, counted.Underflow)
	}
	bad := 0
	for i := range p.m * p.n {
		if !got.Arr.SameBits(i, want.Arr, i) {
			if bad++; bad <= 3 {
				t.Errorf("%v: entry (%d, %d): got %v, want %v", p, i%p.m, i/p.m, gputest.Show(got.Arr, i), gputest.Show(want.Arr, i))
			}
		}
	}
	if bad > 0 {
		t.Errorf("%v: %d of %d entries wrong; %+v", p, bad, p.m*p.n, stats)
	} else if testing.Verbose() {
		t.Logf("%v: %s, %d moduli, widths %d %d, %d exact, %d blocks", p, stats.Kernel, stats.Moduli, stats.WidthL, stats.WidthR, stats.Exact, stats.Blocks)
	}
}

// problems returns products of about n x n.
func problems(n int) []problem {
	f64 := num.Float64
	var list []problem
	for _, f := range []num.Format{f64, num.Float32, gputest.MP(53), gputest.MP(106), gputest.MP(200), gputest.MP(424)} {
		for _, kind := range []gputest.Family{gputest.Uniform, gputest.Spread, gputest.Integers, gputest.Cancel, gputest.Special, gputest.Scaled} {
			list = append(list, problem{in: f, inB: f, out: f, kind: kind, m: n, n: n + 3, k: n - 1, alpha: 1})
		}
	}
	return append(list,
		problem{in: gputest.MP(848), inB: gputest.MP(848), out: gputest.MP(848), m: 20, n: 9, k: 30, alpha: -2},
		problem{in: gputest.MP(1696), inB: gputest.MP(1696), out: gputest.MP(1696), m: 9, n: 20, k: 30, alpha: 0.125},
		problem{in: f64, inB: gputest.MP(150), out: gputest.MP(100), kind: gputest.Spread, m: n, n: 5, k: 2 * n, alpha: -1, transA: true},
		problem{in: num.DDouble, inB: num.QDouble, out: f64, m: n, n: n, k: n, alpha: 1},
		problem{in: num.TDouble, inB: num.Float32, out: gputest.MP(150), kind: gputest.Cancel, m: n, n: n, k: n, alpha: 1},
		problem{in: num.DDouble, inB: num.DDouble, out: num.DDouble, kind: gputest.Spread, m: n, n: n, k: n, alpha: 1},
		problem{in: f64, inB: f64, out: num.QDouble, m: n, n: n, k: n, alpha: 3, beta: -0.7},
		problem{in: f64, inB: f64, out: f64, kind: gputest.Spread, m: n, n: n, k: n, alpha: 0.3, beta: 1},
		problem{in: gputest.MP(212), inB: gputest.MP(212), out: gputest.MP(212), kind: gputest.Cancel, m: n, n: n, k: n, alpha: 1, beta: -3},
		problem{in: f64, inB: f64, out: f64, m: n, n: n, k: n, alpha: 1, triangle: 'U'},
		problem{in: f64, inB: f64, out: f64, m: n, n: n, k: n, alpha: 1, triangle: 'L', beta: 2},
		problem{in: f64, inB: f64, out: f64, m: 1, n: 1, k: 1, alpha: 1},
		problem{in: f64, inB: f64, out: f64, m: 0, n: 3, k: 1, alpha: 1},
		problem{in: f64, inB: f64, out: f64, m: 2, n: 3, k: 0, alpha: 1},
		problem{in: f64, inB: f64, out: f64, m: 2, n: 3, k: 5, alpha: math.Inf(1)},
		problem{in: f64, inB: f64, out: f64, m: 140, n: 150, k: 20, alpha: 1, memory: 2 << 20},
		problem{in: gputest.MP(300), inB: f64, out: gputest.MP(300), m: 20, n: 150, k: 20, alpha: 1, triangle: 'L', memory: 6 << 20},
		problem{in: f64, inB: f64, out: f64, m: 1, n: 300, k: 5, alpha: 1},
		problem{in: f64, inB: f64, out: f64, m: 300, n: 2, k: 130, alpha: 1},
	)
}

// expressions returns products of about n x n with alpha, beta, old entries and formats of all
// sorts.
func expressions(n int) []problem {
	f64, f32, dd, td, qd := num.Float64, num.Float32, num.DDouble, num.TDouble, num.QDouble
	var list []problem
	add := func(p problem) {
		p.m, p.n, p.k = n, n+3, n-1
		if p.alpha == 0 {
			p.alpha = 1
		}
		if p.inB == (num.Format{}) {
			p.inB = p.in
		}
		if p.out == (num.Format{}) {
			p.out = p.in
		}
		list = append(list, p)
	}
	for _, f := range []num.Format{f64, f32, dd, td, qd, gputest.MP(53), gputest.MP(300)} {
		for _, kind := range []gputest.Family{gputest.Uniform, gputest.Spread, gputest.Integers, gputest.Cancel, gputest.Special, gputest.Sparse, gputest.Edges} {
			add(problem{in: f, kind: kind, alpha: 0.3})
			add(problem{in: f, kind: kind, beta: 1, inPlace: true, oldKind: kind, transA: kind == gputest.Spread || kind == gputest.Special})
			add(problem{in: f, kind: kind, alpha: -3, beta: 0.7, bits: 100, oldKind: kind, triangle: 'L'})
		}
		add(problem{in: f})
		add(problem{in: f, beta: 1, against: true, inPlace: true})
		add(problem{in: f, beta: 1, against: true, kind: gputest.Spread})
		add(problem{in: f, kind: gputest.Integers, beta: 1, against: true, inPlace: true})
		add(problem{in: f, kind: gputest.Integers, out: qd, beta: -5, oldKind: gputest.Integers})
		add(problem{in: f, beta: 0.1, old: gputest.MP(500), oldExp: 40})
		add(problem{in: f, beta: 0.1, bits: 600, old: qd, oldExp: -60})
		add(problem{in: f, beta: 1, old: f32, oldKind: gputest.Sparse, out: gputest.MP(900)})
		for _, e := range []int64{-1000, -140, -60, 20, 120, 900} {
			if f.Kind != num.F32 || e > -100 && e < 100 {
				add(problem{in: f, alpha: 0.9, beta: 1, oldExp: e})
			}
			add(problem{in: f64, out: f, kind: gputest.Sparse, beta: 1, oldExp: e, old: f64})
		}
	}
	add(problem{in: gputest.MP(200), kind: gputest.Uniform, beta: 1, oldExp: 1 << 28, inPlace: true})
	add(problem{in: gputest.MP(200), kind: gputest.Uniform, beta: 1, oldExp: -1 << 28, bits: 64})
	add(problem{in: f64, kind: gputest.Edges, out: f32})
	add(problem{in: f64, kind: gputest.Edges, out: dd, alpha: 0.1})
	add(problem{in: gputest.MP(60), kind: gputest.Edges, out: f64, alpha: 0.1})
	add(problem{in: f64, kind: gputest.Special, beta: 2, oldKind: gputest.Special, inPlace: true, triangle: 'U'})
	return list
}

// TestReference runs all the host's part, with Go functions for the kernels.
func TestReference(t *testing.T) {
	dev := gputest.Reference(t, &fake.Driver{})
	list := append(problems(12), expressions(3)...)
	if testing.Short() {
		list = list[:8]
	}
	for i, p := range list {
		if i%testlength.Of(1, 3, 1) == 0 {
			p.checked = i%2 == 1
			check(t, dev, p)
		}
	}
	if c := dev.Counters(); c.Events != 0 {
		t.Errorf("%d events left", c.Events)
	}
}

// TestExactPass computes every entry in the exact pass.
func TestExactPass(t *testing.T) {
	t.Run("reference", func(t *testing.T) {
		var list []problem
		for i, p := range append(few(2)[:36], expressions(2)...) {
			if i%testlength.Of(5, 5, 1) == 0 {
				list = append(list, p)
			}
		}
		everyEntry(t, gputest.Reference(t, &fake.Driver{}), list)
	})
	// Where an entry has fewer products, of numbers with many limbs, than blocks, some blocks have
	// none.
	var limbs []problem
	for k := 1; k < testlength.Of(3, 3, 4); k++ {
		f := gputest.MP(150_000 * k)
		limbs = append(limbs, problem{in: f, inB: f, out: f, kind: gputest.Integers, m: 2, n: 1, k: k, alpha: 1})
	}
	t.Run("limbs", func(t *testing.T) {
		t.Setenv(gputest.Emulate, "exact/exact")
		everyEntry(t, gputest.Reference(t, &fake.Driver{}), limbs)
	})
	t.Run("device", func(t *testing.T) {
		list := append(few(3000), expressions(40)...)
		list = append(list, limbs...)
		// one block an entry, but counters that carry in between
		for _, f := range []num.Format{num.QDouble, gputest.MP(1000)} {
			list = append(list, problem{in: f, inB: f, out: f, kind: gputest.Spread, m: 18, n: 19, k: 34000, alpha: 3})
		}
		everyEntry(t, gputest.Machine(t), list)
	})
}

// TestLong multiplies integers that take several passes of residues, and checks that the device
// does it.
func TestLong(t *testing.T) {
	t.Run("reference", func(t *testing.T) { longIntegers(t, gputest.Reference(t, &fake.Driver{}), 2, 3, 2040, 4100) })
	t.Run("device", func(t *testing.T) { longIntegers(t, gputest.Machine(t), 70, 130, 2040, 2100, 4090, 5000, 9000, 10300) })
}

func longIntegers(t *testing.T, dev *cuda.Device, n, k int, precisions ...int) {
	for i, bits := range precisions {
		for _, p := range []problem{
			{alpha: 1},
			{alpha: -1, kind: gputest.Spread, transA: true},
			{alpha: 0.1, beta: 1, inPlace: true, triangle: 'L'},
			{alpha: 1, kind: gputest.Special},
			{alpha: 1, kind: gputest.Cancel},
		} {
			p.in, p.inB, p.out, p.m, p.n, p.k, p.checked = gputest.MP(bits), gputest.MP(bits), gputest.MP(bits), n, n, k, i%2 == 0
			compareGemm(t, p, func(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error) {
				stats, err := multiply(dev, cfg, alpha, a, b, beta, old, c)
				if err == nil && (stats.Device != dev.String() || stats.WidthL < bits) {
					err = fmt.Errorf("%s, integers of %d bits", stats.Device, stats.WidthL)
				}
				return stats, err
			})
			if n < 10 && (i > 0 || !testlength.Long()) || testing.Short() {
				break
			}
		}
	}
	// One long factor and a short one; numbers for which there are not enough moduli.
	check(t, dev, problem{in: gputest.MP(19000), inB: gputest.MP(100), out: gputest.MP(300), m: 3, n: 4, k: 20, alpha: 1})
	check(t, dev, problem{in: gputest.MP(20000), inB: gputest.MP(20000), out: gputest.MP(20000), m: 2, n: 2, k: 3, alpha: 1})
}

// TestResiduals adds to products the negatives of what they round to: the plan foresees the
// cancellation, and few entries need the exact pass.
func TestResiduals(t *testing.T) {
	t.Run("reference", func(t *testing.T) { residuals(t, gputest.Reference(t, &fake.Driver{}), 12) })
	t.Run("device", func(t *testing.T) { residuals(t, gputest.Machine(t), 150) })
}

func residuals(t *testing.T, dev *cuda.Device, n int) {
	for _, f := range []num.Format{num.Float64, num.Float32, num.DDouble, num.QDouble, gputest.MP(200)} {
		for _, p := range []problem{{alpha: 1, beta: 1}, {alpha: 0.3, beta: 0.3}} {
			p.in, p.inB, p.out, p.m, p.n, p.k, p.against, p.kind = f, f, f, n, n+1, n, true, gputest.Spread
			compareGemm(t, p, func(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error) {
				stats, err := multiply(dev, cfg, alpha, a, b, beta, old, c)
				if all := int64(n * (n + 1)); err == nil && stats.Exact > all/8 {
					err = fmt.Errorf("%d of %d entries in the exact pass, widths %d, %d", stats.Exact, all, stats.WidthL, stats.WidthR)
				}
				return stats, err
			})
		}
	}
}

// TestQuotientWeights checks that the weights of the quotient have the digits that
// kernels/exact/finish.cu takes, for residues of one byte and of two bytes.
func TestQuotientWeights(t *testing.T) {
	p := pool()
	for i, m := range p.Moduli {
		bits := 32
		if i >= p.Plain {
			bits = 24
		}
		if f := (int64(1)<<abi.QuotientBits + int64(m)/2) / int64(m); f>>bits != 0 {
			t.Errorf("modulus %d: %#x", m, f)
		}
	}
}

// few returns products of few entries, whose sums the exact pass divides, and whose counters it
// has to carry in between.
func few(k int) []problem {
	var list []problem
	for _, f := range []num.Format{num.Float64, num.QDouble, gputest.MP(106), gputest.MP(2000)} {
		for _, kind := range []gputest.Family{gputest.Uniform, gputest.Spread, gputest.Cancel, gputest.Sparse} {
			list = append(list,
				problem{in: f, inB: f, out: f, kind: kind, m: 1, n: 2, k: k, alpha: 1},
				problem{in: f, inB: f, out: f, kind: kind, m: 3, n: 4, k: k, alpha: 0.1, beta: 3},
				problem{in: f, inB: f, out: f, kind: kind, m: 3, n: 2, k: 20 * k, alpha: -1, beta: 1, against: true, inPlace: true})
		}
	}
	return list
}

// everyEntry lets the rounding test fail for every entry of products.
func everyEntry(t *testing.T, dev *cuda.Device, list []problem) {
	for _, p := range list {
		if p.kind != gputest.Special { // which the host computes
			compareGemm(t, p, func(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (stats residue.Stats, err error) {
				err = dev.Do(cfg.Ctx, func(s *cuda.Stream) error {
					stats, err = gemmUndecided(s, cfg, alpha, a, b, beta, old, c)
					return err
				})
				return stats, err
			})
		}
	}
}

// gemmUndecided is gemm with errors that leave nothing decided.
func gemmUndecided(s *cuda.Stream, cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error) {
	e := engineOf(s)
	var v [4]mem.Matrix
	for i, m := range []num.Mat{a, b, old, c} {
		var err error
		if v[i], err = mem.UploadView(s, m); err != nil {
			return residue.Stats{}, err
		}
		defer v[i].Arr.Free()
	}
	m := &multiplication{cfg: cfg, e: e, s: s, a: v[0], b: v[1].T(), c: &v[3], expr: expression{alpha, beta, &v[2]}, format: c.Arr.Format}
	defer m.free()
	if err := m.prepare(); err != nil {
		return m.stats, err
	}
	w := *m.weights
	w.err = 1e30
	m.weights = &w
	if err := m.run(); err != nil {
		return m.stats, err
	}
	rest, err := m.exactPass()
	if err != nil {
		return m.stats, err
	}
	entries := int64(c.Rows * c.Cols)
	if cfg.Triangle != 0 {
		entries = 0
		for j := range c.Cols {
			if cfg.Triangle == 'L' {
				entries += int64(max(0, c.Rows-j))
			} else {
				entries += int64(min(c.Rows, j+1))
			}
		}
	}
	if m.stats.Exact != entries {
		return m.stats, fmt.Errorf("%d of %d entries in the exact pass", m.stats.Exact, entries)
	}
	if err := mem.DownloadView(s, c, v[3], cfg.Triangle); err != nil {
		return m.stats, err
	}
	f := residue.NewFinisher(cfg.finish(), alpha, a, b, beta, old, c)
	for _, e := range rest {
		f.Fail(int(uint32(e)), int(e>>32))
	}
	return m.stats, f.Exact(&m.stats)
}

// checkFactors multiplies triangles on the device of s, and compares with the host.
func checkFactors(t *testing.T, dev *cuda.Device, n int) {
	t.Helper()
	rng := testseed.Rand(t, 5, uint64(n))
	f := gputest.MP(30)
	for k, factors := range [][2]byte{{'L', 'L'}, {'L', 'U'}, {'U', 'L'}, {'U', 'U'}, {'L', 0}, {0, 'U'}, {'U', 0}, {0, 'L'}} {
		var v [3]num.Mat
		for i := range v {
			v[i] = gputest.RandomMat(rng, f, gputest.Uniform, n, n)
			for j := range n * n {
				if row, col := j%n, j/n; i < 2 && (factors[i] == 'L' && row < col || factors[i] == 'U' && row > col) {
					v[i].Arr.Set(v[i].At(row, col), num.Real{Class: num.Zero})
				}
			}
		}
		for j, triangle := range []byte{0, 'L', 'U'} {
			if (j+k)%testlength.Of(3, 2, 1) != 0 {
				continue
			}
			for _, memory := range []int64{0, int64(250 * n * n)} {
				if memory > 0 && triangle != 'L' {
					continue
				}
				cfg := Config{Pattern: place.Pattern{Triangle: triangle, Factors: factors}, Limit: memory}.defaults()
				want := num.Mat{Arr: num.New(f, n*n), RS: 1, CS: n, Rows: n, Cols: n}
				if _, err := hostGemm(cfg, gputest.Scalar(-1), v[0], v[1], gputest.Scalar(1), v[2], want); err != nil {
					t.Fatal(err)
				}
				if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
					var on [4]mem.Matrix
					for i, m := range append(v[:], num.Mat{Arr: num.New(f, n*n), RS: 1, CS: n, Rows: n, Cols: n}) {
						var err error
						if on[i], err = mem.UploadView(s, m); err != nil {
							return err
						}
						defer on[i].Arr.Free()
					}
					stats, err := GemmOnDevice(s, cfg, gputest.Scalar(-1), on[0], on[1], gputest.Scalar(1), on[2], on[3])
					if err != nil {
						return err
					}
					got, err := on[3].Arr.Host(s)
					if err != nil {
						return err
					}
					for i := range n * n {
						if !got.SameBits(i, want.Arr, i) {
							t.Errorf("triangles %q, %c of %d: entry (%d, %d) is wrong, %d blocks", factors, triangle|' ', n, i%n, i/n, stats.Blocks)
							break
						}
					}
					return nil
				}); err != nil {
					t.Fatal(k, err)
				}
			}
		}
	}
}

// TestFactors multiplies triangles on a fake device.
func TestFactors(t *testing.T) { checkFactors(t, gputest.Reference(t, new(fake.Driver)), 150) }

// TestDeviceFactors multiplies triangles on the machine's GPU.
func TestDeviceFactors(t *testing.T) {
	dev := gputest.Machine(t)
	checkFactors(t, dev, 300)
	checkFactors(t, dev, 700)
}

// TestFailures lets calls of the driver fail, one after the other: an error each time, and
// nothing kept.
func TestFailures(t *testing.T) {
	drv := &fake.Driver{}
	dev := gputest.Reference(t, drv)
	rng := testseed.Rand(t, 1, 1)
	a, b := gputest.RandomMat(rng, num.Float64, gputest.Uniform, 3, 4), gputest.RandomMat(rng, num.Float64, gputest.Uniform, 4, 2)
	run := func() error {
		c := num.Mat{Arr: num.New(num.Float64, 6), RS: 1, CS: 3, Rows: 3, Cols: 2}
		_, err := multiply(dev, Config{}, gputest.Scalar(1), a, b, num.Real{}, c, c)
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

// TestControl checks that a product leaves zeros for the next one where it says so: where no entry
// needed the exact pass. A product that was broken off does not.
func TestControl(t *testing.T) {
	run := func(t *testing.T, dev *cuda.Device) {
		rng := testseed.Rand(t, 7, 7)
		seen := map[bool]bool{}
		for i, kind := range []gputest.Family{gputest.Uniform, gputest.Integers, gputest.Spread, gputest.Special, gputest.Uniform} {
			a, b := gputest.RandomMat(rng, num.Float64, kind, 12, 9), gputest.RandomMat(rng, num.Float64, kind, 9, 10)
			if i == 1 { // a zero, which is left to the exact pass
				for h := range 9 {
					b.Arr.Set(b.At(h, 3), num.Real{})
					b.Arr.Set(b.At(h, 4), num.Real{Class: num.Finite, Mag: []uint64{1}, Neg: h == 0})
					a.Arr.Set(a.At(2, h), num.Real{Class: num.Finite, Mag: []uint64{uint64(max(1, 8*(1-h)))}})
				}
			}
			c := num.Mat{Arr: num.New(num.Float64, 120), RS: 1, CS: 12, Rows: 12, Cols: 10}
			stats, err := multiply(dev, Config{}, gputest.Scalar(1), a, b, num.Real{}, num.Mat{}, c)
			if err != nil {
				t.Fatal(err)
			}
			if err := dev.Do(context.Background(), func(s *cuda.Stream) error {
				e := engineOf(s)
				seen[e.clean] = true
				if e.clean != (stats.Exact == 0) {
					t.Errorf("%v: clean %v, %d entries in the exact pass", kind, e.clean, stats.Exact)
				}
				if !e.clean {
					return nil
				}
				words := make([]uint64, unsafe.Sizeof(abi.Control{})/8)
				if err := cuda.Download(s, words, e.control.Pointer()); err != nil {
					return err
				}
				if n := slices.IndexFunc(words, func(w uint64) bool { return w != 0 }); n >= 0 {
					t.Errorf("%v: word %d is %x", kind, n, words[n])
				}
				if i == 2 { // a product that is broken off
					if _, err := e.controlOf(s, int64(unsafe.Sizeof(abi.Control{}))); err != nil {
						return err
					}
					if e.clean {
						t.Error("clean without an outcome")
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if len(seen) < 2 {
			t.Errorf("clean: %v in all cases", seen)
		}
	}
	t.Run("reference", func(t *testing.T) { run(t, gputest.Reference(t, &fake.Driver{})) })
	t.Run("device", func(t *testing.T) { run(t, gputest.Machine(t)) })
}

// TestWholeRange multiplies a row whose exponents span nearly all that MP has.
func TestWholeRange(t *testing.T) {
	run := func(t *testing.T, dev *cuda.Device) {
		f := gputest.MP(64)
		a, b := num.Mat{Arr: num.New(f, 2), RS: 1, CS: 1, Rows: 1, Cols: 2}, num.Mat{Arr: num.New(num.Float64, 2), RS: 1, CS: 2, Rows: 2, Cols: 1}
		for i, e := range []int64{math.MaxInt32 - 10, math.MinInt32 + 1} {
			a.Arr.Set(i, num.Real{Class: num.Finite, Mag: []uint64{3 << 62}, Exp: e - 64})
			b.Arr.F64[0][i] = 1
		}
		got, want := num.Mat{Arr: num.New(f, 1), RS: 1, CS: 1, Rows: 1, Cols: 1}, num.Mat{Arr: num.New(f, 1), RS: 1, CS: 1, Rows: 1, Cols: 1}
		if _, err := multiply(dev, Config{}, gputest.Scalar(1), a, b, num.Real{}, num.Mat{}, got); err != nil {
			t.Fatal(err)
		}
		want.Arr.CopyFrom(0, a.Arr, 0)
		if !got.Arr.SameBits(0, want.Arr, 0) {
			t.Errorf("got %v, want %v", got.Arr.Value(0, make([]uint64, 8)), want.Arr.Value(0, make([]uint64, 8)))
		}
	}
	t.Run("reference", func(t *testing.T) { run(t, gputest.Reference(t, &fake.Driver{})) })
	t.Run("device", func(t *testing.T) { run(t, gputest.Machine(t)) })
}

// TestTall multiplies more rows than are converted at a time.
func TestTall(t *testing.T) {
	run := func(t *testing.T, dev *cuda.Device) {
		const m = maxVectors + 1000
		a, c := num.Mat{Arr: num.New(num.Float64, m), RS: 1, CS: m, Rows: m, Cols: 1}, num.Mat{Arr: num.New(num.Float64, m), RS: 1, CS: m, Rows: m, Cols: 1}
		for i := range m {
			a.Arr.F64[0][i] = float64(i)
		}
		b := num.Mat{Arr: num.New(num.Float64, 1), RS: 1, CS: 1, Rows: 1, Cols: 1}
		b.Arr.F64[0][0] = 1.5
		stats, err := multiply(dev, Config{}, gputest.Scalar(1), a, b, num.Real{}, num.Mat{}, c)
		if err != nil {
			t.Fatal(err)
		}
		if stats.Blocks != 2 {
			t.Errorf("%d blocks", stats.Blocks)
		}
		for i := range m {
			if c.Arr.F64[0][i] != 1.5*float64(i) {
				t.Fatalf("row %d: %g", i, c.Arr.F64[0][i])
			}
		}
	}
	t.Run("reference", func(t *testing.T) {
		if !testlength.Long() {
			t.Skip("long")
		}
		run(t, gputest.Reference(t, &fake.Driver{TotalMemory: 64 << 30}))
	})
	t.Run("device", func(t *testing.T) { run(t, gputest.Machine(t)) })
}
