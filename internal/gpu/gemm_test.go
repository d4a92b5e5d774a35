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
	uniform   family = iota // full significands, exponents 0 to -1
	spread                  // exponents over 40 octaves
	integers                // small integers: ties, exact zeros
	cancel                  // the second half of a row is the negative of the first
	special                 // with zeros of both signs, infinities and NaN
	scaled                  // rows and columns scaled by up to 2^300
	edges                   // rows scaled such that squares are around the ends of the range
	sparse                  // mostly zeros of both signs
	ascending               // exponents from -400 to 400 along the rows
	scattered               // few numbers but zeros, of exponents far apart
)

func (f family) String() string {
	return [...]string{"uniform", "spread", "integers", "cancel", "special", "scaled", "edges", "sparse", "ascending", "scattered"}[f]
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
			case sparse:
				if rng.IntN(3) != 0 {
					r.Class = num.Zero
				}
			case edges:
				r.Exp += int64(edgesOf(f)[i%5])
			case scaled:
				r.Exp += int64(i*37%20 - 10)
				if f.Kind != num.F32 {
					r.Exp += int64((i%3 - 1) * 100)
				}
			case ascending:
				r.Exp += int64((j*2 - n) * farthest(f) / n)
			case scattered:
				if rng.IntN(50) != 0 {
					r.Class = num.Zero
				}
				r.Exp += int64((rng.IntN(3) - 1) * farthest(f))
			}
			a.Arr.Set(a.At(i, j), r)
		}
	}
	return a
}

// edgesOf returns exponents of which two make results that overflow, barely or not, are
// ordinary, or underflow.
func edgesOf(f num.Format) [5]int {
	switch f.Kind {
	case num.F32:
		return [5]int{63, 62, 0, -64, -70}
	case num.MP:
		return [5]int{1 << 30, 1<<30 - 2, 0, -1 << 30, -1<<30 - 60}
	}
	return [5]int{511, 510, 0, -512, -533}
}

// farthest is an exponent from whose square f is far enough.
func farthest(f num.Format) int {
	if f.Kind == num.F32 {
		return 20
	}
	return 400
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
	transA       bool // A, and C, are stored row by row
	triangle     byte
	memory       int64
	bits         int        // of significands of alpha and beta, if not 0
	old          num.Format // of Old, if not that of C
	oldKind      family
	oldExp       int64 // of a factor of Old
	against      bool  // Old is the rounded -alpha/beta A B for alpha = beta = 1
	inPlace      bool  // Old is C
}

func (p problem) String() string {
	return fmt.Sprintf("%v*%v->%v/%v/%dx%dx%d/%g,%g,%v,%c,%d/%d,%v,%v,2^%d,%v,%v", p.in, p.inB, p.out, p.kind, p.m, p.n, p.k, p.alpha, p.beta,
		p.transA, p.triangle|' ', p.memory, p.bits, p.old, p.oldKind, p.oldExp, p.against, p.inPlace)
}

// scalars returns alpha and beta.
func (p problem) scalars(rng *rand.Rand) (alpha, beta num.Real) {
	alpha, beta = scalar(p.alpha), scalar(p.beta)
	for _, r := range []*num.Real{&alpha, &beta} {
		if p.bits > 0 && r.Class == num.Finite {
			a := randomMat(rng, mp(p.bits), uniform, 1, 1).Arr
			v := a.Value(0, nil)
			*r = num.Real{Class: num.Finite, Neg: r.Neg, Mag: v.Mag, Exp: v.Exp + int64(rng.IntN(9))}
		}
	}
	return alpha, beta
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
	compareGemm(t, p, func(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (exact.Stats, error) {
		return Gemm(dev, cfg, alpha, a, b, beta, old, c)
	})
}

// compareGemm compares a way to multiply with the host's, bit for bit.
func compareGemm(t *testing.T, p problem, gemm func(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (exact.Stats, error)) {
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
	alpha, beta := p.scalars(rng)
	cfg := Config{Ctx: context.Background(), Triangle: p.triangle, Memory: p.memory}.defaults()
	product := func(old, c num.Mat) exact.Stats {
		stats, err := exact.Gemm(cfg.host(), alpha, a, b, beta, old, c, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return stats
	}
	if p.old == (num.Format{}) {
		p.old = p.out
	}
	old := randomMat(rng, p.old, p.oldKind, p.m, p.n)
	if p.against {
		if _, err := exact.Gemm(cfg.host(), scalar(-1), a, b, num.Real{}, old, old, nil, nil); err != nil {
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
	stats, err := gemm(cfg, alpha, a, b, beta, oldGot, got)
	if err != nil {
		t.Errorf("%v: %v", p, err)
		return
	}
	if stats.Overflow != counted.Overflow || p.out.Terms() < 2 && stats.Underflow != counted.Underflow {
		t.Errorf("%v: %d overflows, %d underflows, want %d, %d", p, stats.Overflow, stats.Underflow, counted.Overflow, counted.Underflow)
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
	for _, f := range []num.Format{f64, f32, dd, td, qd, mp(53), mp(300)} {
		for _, kind := range []family{uniform, spread, integers, cancel, special, sparse, edges} {
			add(problem{in: f, kind: kind, alpha: 0.3})
			add(problem{in: f, kind: kind, beta: 1, inPlace: true, oldKind: kind, transA: kind == spread || kind == special})
			add(problem{in: f, kind: kind, alpha: -3, beta: 0.7, bits: 100, oldKind: kind, triangle: 'L'})
		}
		add(problem{in: f})
		add(problem{in: f, beta: 1, against: true, inPlace: true})
		add(problem{in: f, beta: 1, against: true, kind: spread})
		add(problem{in: f, kind: integers, beta: 1, against: true, inPlace: true})
		add(problem{in: f, kind: integers, out: qd, beta: -5, oldKind: integers})
		add(problem{in: f, beta: 0.1, old: mp(500), oldExp: 40})
		add(problem{in: f, beta: 0.1, bits: 600, old: qd, oldExp: -60})
		add(problem{in: f, beta: 1, old: f32, oldKind: sparse, out: mp(900)})
		for _, e := range []int64{-1000, -140, -60, 20, 120, 900} {
			if f.Kind != num.F32 || e > -100 && e < 100 {
				add(problem{in: f, alpha: 0.9, beta: 1, oldExp: e})
			}
			add(problem{in: f64, out: f, kind: sparse, beta: 1, oldExp: e, old: f64})
		}
	}
	add(problem{in: mp(200), kind: uniform, beta: 1, oldExp: 1 << 28, inPlace: true})
	add(problem{in: mp(200), kind: uniform, beta: 1, oldExp: -1 << 28, bits: 64})
	add(problem{in: f64, kind: edges, out: f32})
	add(problem{in: f64, kind: edges, out: dd, alpha: 0.1})
	add(problem{in: mp(60), kind: edges, out: f64, alpha: 0.1})
	add(problem{in: f64, kind: special, beta: 2, oldKind: special, inPlace: true, triangle: 'U'})
	return list
}

// TestReference runs all the host's part, with Go functions for the kernels.
func TestReference(t *testing.T) {
	dev := reference(t, &fake.Driver{})
	list := append(problems(12), expressions(3)...)
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

// TestExactPass computes every entry in the exact pass.
func TestExactPass(t *testing.T) {
	t.Run("reference", func(t *testing.T) {
		everyEntry(t, reference(t, &fake.Driver{}), append(few(2)[:36], expressions(2)...))
	})
	t.Run("device", func(t *testing.T) {
		list := append(few(3000), expressions(40)...)
		for _, f := range []num.Format{num.QDouble, mp(1000)} { // one block an entry, but counters that carry in between
			list = append(list, problem{in: f, inB: f, out: f, kind: spread, m: 18, n: 19, k: 34000, alpha: 3})
		}
		everyEntry(t, machine(t), list)
	})
}

// TestLong multiplies integers that take several passes of residues, and checks that the device
// does it.
func TestLong(t *testing.T) {
	t.Run("reference", func(t *testing.T) { longIntegers(t, reference(t, &fake.Driver{}), 2, 3, 2040, 4100) })
	t.Run("device", func(t *testing.T) { longIntegers(t, machine(t), 70, 130, 2040, 2100, 4090, 5000, 9000, 10300) })
}

func longIntegers(t *testing.T, dev *cuda.Device, n, k int, precisions ...int) {
	for i, bits := range precisions {
		for _, p := range []problem{
			{alpha: 1},
			{alpha: -1, kind: spread, transA: true},
			{alpha: 0.1, beta: 1, inPlace: true, triangle: 'L'},
			{alpha: 1, kind: special},
			{alpha: 1, kind: cancel},
		} {
			p.in, p.inB, p.out, p.m, p.n, p.k = mp(bits), mp(bits), mp(bits), n, n, k
			compareGemm(t, p, func(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (exact.Stats, error) {
				stats, err := Gemm(dev, cfg, alpha, a, b, beta, old, c)
				if err == nil && (stats.Device != dev.String() || stats.WidthL < bits) {
					err = fmt.Errorf("%s, integers of %d bits", stats.Device, stats.WidthL)
				}
				return stats, err
			})
			if n < 10 && i > 0 || testing.Short() {
				break
			}
		}
	}
	// One long factor and a short one; numbers for which there are not enough moduli.
	check(t, dev, problem{in: mp(19000), inB: mp(100), out: mp(300), m: 3, n: 4, k: 20, alpha: 1})
	check(t, dev, problem{in: mp(20000), inB: mp(20000), out: mp(20000), m: 2, n: 2, k: 3, alpha: 1})
}

// TestResiduals adds to products the negatives of what they round to: the plan foresees the
// cancellation, and few entries need the exact pass.
func TestResiduals(t *testing.T) {
	t.Run("reference", func(t *testing.T) { residuals(t, reference(t, &fake.Driver{}), 12) })
	t.Run("device", func(t *testing.T) { residuals(t, machine(t), 150) })
}

func residuals(t *testing.T, dev *cuda.Device, n int) {
	for _, f := range []num.Format{num.Float64, num.Float32, num.DDouble, num.QDouble, mp(200)} {
		for _, p := range []problem{{alpha: 1, beta: 1}, {alpha: 0.3, beta: 0.3}} {
			p.in, p.inB, p.out, p.m, p.n, p.k, p.against, p.kind = f, f, f, n, n+1, n, true, spread
			compareGemm(t, p, func(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (exact.Stats, error) {
				stats, err := Gemm(dev, cfg, alpha, a, b, beta, old, c)
				if all := int64(n * (n + 1)); err == nil && stats.Exact > all/8 {
					err = fmt.Errorf("%d of %d entries in the exact pass, widths %d, %d", stats.Exact, all, stats.WidthL, stats.WidthR)
				}
				return stats, err
			})
		}
	}
}

// TestQuotientWeights checks that the weights of the quotient have the digits that
// kernels/finish.cu takes, for residues of two bytes as for those of one.
func TestQuotientWeights(t *testing.T) {
	p := pool()
	for i, m := range p.moduli {
		bits := 32
		if i >= p.plain {
			bits = 24
		}
		if f := (int64(1)<<quotientBits + int64(m)/2) / int64(m); f>>bits != 0 {
			t.Errorf("modulus %d: %#x", m, f)
		}
	}
}

// few returns products of few entries, whose sums the exact pass divides, and whose counters it
// has to carry in between.
func few(k int) []problem {
	var list []problem
	for _, f := range []num.Format{num.Float64, num.QDouble, mp(106), mp(2000)} {
		for _, kind := range []family{uniform, spread, cancel, sparse} {
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
		if p.kind != special { // which the host computes
			compareGemm(t, p, func(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (stats exact.Stats, err error) {
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
func gemmUndecided(s *cuda.Stream, cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (exact.Stats, error) {
	e := engineOf(s)
	var v [4]Matrix
	for i, m := range []num.Mat{a, b, old, c} {
		var err error
		if v[i], err = uploadView(s, m); err != nil {
			return exact.Stats{}, err
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
	if err := downloadView(s, c, v[3], cfg.Triangle); err != nil {
		return m.stats, err
	}
	f := exact.NewFinisher(cfg.host(), alpha, a, b, beta, old, c)
	for _, e := range rest {
		f.Fail(int(uint32(e)), int(e>>32))
	}
	return m.stats, f.Exact(&m.stats)
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

// TestWholeRange multiplies a row whose exponents span nearly all that MP has.
func TestWholeRange(t *testing.T) {
	run := func(t *testing.T, dev *cuda.Device) {
		f := mp(64)
		a, b := num.Mat{Arr: num.New(f, 2), RS: 1, CS: 1, Rows: 1, Cols: 2}, num.Mat{Arr: num.New(num.Float64, 2), RS: 1, CS: 2, Rows: 2, Cols: 1}
		for i, e := range []int64{math.MaxInt32 - 10, math.MinInt32 + 1} {
			a.Arr.Set(i, num.Real{Class: num.Finite, Mag: []uint64{3 << 62}, Exp: e - 64})
			b.Arr.F64[0][i] = 1
		}
		got, want := num.Mat{Arr: num.New(f, 1), RS: 1, CS: 1, Rows: 1, Cols: 1}, num.Mat{Arr: num.New(f, 1), RS: 1, CS: 1, Rows: 1, Cols: 1}
		if _, err := Gemm(dev, Config{}, scalar(1), a, b, num.Real{}, num.Mat{}, got); err != nil {
			t.Fatal(err)
		}
		want.Arr.CopyFrom(0, a.Arr, 0)
		if !got.Arr.SameBits(0, want.Arr, 0) {
			t.Errorf("got %v, want %v", got.Arr.Value(0, make([]uint64, 8)), want.Arr.Value(0, make([]uint64, 8)))
		}
	}
	t.Run("reference", func(t *testing.T) { run(t, reference(t, &fake.Driver{})) })
	t.Run("device", func(t *testing.T) { run(t, machine(t)) })
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
		stats, err := Gemm(dev, Config{}, scalar(1), a, b, num.Real{}, num.Mat{}, c)
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
		if testing.Short() {
			t.Skip("long")
		}
		run(t, reference(t, &fake.Driver{TotalMemory: 64 << 30}))
	})
	t.Run("device", func(t *testing.T) { run(t, machine(t)) })
}
