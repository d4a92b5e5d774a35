package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/stats"
)

// rounding checks that numbers of every kind are stored in every format as the oracle rounds them.
// The other tests rely on this for their inputs and expected results.
func (s *suite) rounding(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 60
	}
	for _, f := range formats {
		tr := s.trial(fmt.Sprintf("rounding to %v", f), 0)
		low, high := limits(f)
		p := int64(f.Bits())
		for k := range n {
			top := tr.Int64N(60) - 30
			switch k % 5 {
			case 1:
				top = low + tr.Int64N(p+60)
			case 2:
				top = high - tr.Int64N(3)
			case 3:
				top = tr.Int64N(2000) - 1000
			}
			x := number(tr.Rand, 1+tr.IntN(f.Bits()+70), max(top, low-2))
			switch tr.IntN(6) {
			case 0: // a tie
				x = number(tr.Rand, int(p)+1, x.top())
			case 1: // beside a tie
				x = sum([]real{number(tr.Rand, int(p)+1, x.top()), pow2(sign(tr.Rand), x.top()-p-1-tr.Int64N(1200))})
			case 2: // below a power of two
				x = sum([]real{pow2(1, x.top()), pow2(-1, x.top()-p+tr.Int64N(5)-3)})
			case 3: // terms with gaps
				for e := x.top() - 53; e > x.top()-2000 && tr.IntN(6) != 0; e -= tr.Int64N(120) {
					x = sum([]real{x, pow2(sign(tr.Rand)*(1+tr.Int64N(1<<20)), e)})
				}
			}
			if x.class != finite {
				continue
			}
			if x.e < -1<<31-1 && f.IsMP() || x.top() > 1<<31-1 {
				continue // big.Float does not hold it
			}
			w := round(x, f)
			m := halfulp.NewMatrix(f, 1, 1)
			m.SetBig(0, 0, bigOf(x))
			if err := w.stored(m.At(0, 0)); err != nil {
				t.Errorf("seed %d: SetBig to %v of %v: %v", tr.seed, f, x, err)
				break
			}
			if err := w.stored(halfulp.NewScalar(f, bigOf(x))); err != nil {
				t.Errorf("seed %d: NewScalar to %v of %v: %v", tr.seed, f, x, err)
				break
			}
			g := formats[tr.IntN(len(formats))]
			if err := round(w.real, g).stored(m.Convert(g).At(0, 0)); err != nil {
				t.Errorf("seed %d: Convert from %v to %v of %v: %v", tr.seed, f, g, w.real, err)
				break
			}
		}
	}
}

// configurations runs a few products of every kind under every combination of level, method,
// threads and memory.
func (s *suite) configurations(t *testing.T) {
	shapes := [][3]int{{33, 31, 17}, {15, 33, 32}, {1, 70, 40}, {67, 1, 33}, {7, 5, 200}, {64, 96, 6}}
	fs := []halfulp.Format{halfulp.Float64, halfulp.MP(106), halfulp.QD, halfulp.Float32, halfulp.MP(424), halfulp.DD}
	names := []string{"uniform", "spread50", "cancel to one ulp", "residual", "Inf and NaN", "Hilbert", "scaled rows and columns", "patterns", "ties and a tiny term"}
	k := 0
	for _, fam := range families {
		for _, name := range names {
			if fam.name != name {
				continue
			}
			k++
			if (k-1)%testlength.Of(4, 2, 1) != 0 {
				continue
			}
			for d := range 2 {
				sh, f := shapes[(2*k+d)%len(shapes)], fs[(k+3*d)%len(fs)]
				tr := s.trial(fmt.Sprintf("configurations %v %s", f, fam.name), d)
				p := &problem{r: tr.Rand, m: sh[0], n: sh[1], k: sh[2], fa: tr.inputFormat(f), fb: f, fc: f}
				if p.fa.Bits() > 2000 {
					p.fa = f
				}
				tr.all()
				tA := []halfulp.Transpose{halfulp.NoTrans, halfulp.Trans}[d]
				tr.fail(t, tr.gemm(tA, halfulp.NoTrans, p.filled(fam)))
			}
		}
	}
	// Level 1 routines over several chunks of work.
	for _, fam := range families[:6] {
		for i, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(106)} {
			n := 40000
			if fam.name == "spread100000" || !testlength.Long() && i == 1 {
				continue
			}
			tr := s.trial(fmt.Sprintf("long vectors %v %s", f, fam.name), i)
			tr.all()
			// Only the method auto without memory limits: the others make no difference here.
			var cs []config
			for _, c := range tr.configs {
				if c.method == "auto" && c.memory == 0 {
					cs = append(cs, c)
				}
			}
			tr.configs = cs
			p := (&problem{r: tr.Rand, m: 1, n: 1, k: n, fa: halfulp.Float64, fb: f, fc: f}).filled(fam)
			x := tr.placeLine(p.fa, n, func(i int) real { return p.a[i] })
			y := tr.placeLine(p.fb, n, func(i int) real { return p.b[i] })
			tr.fail(t, tr.scalarResult(p.entry(one, real{}, 0, 0), f, func(opt *halfulp.Options) (halfulp.Scalar, error) {
				return halfulp.Dot(tr.vectorOf(x), tr.vectorOf(y), f, opt)
			}))
			tr.fail(t, tr.scalarResult(sum(p.a), f, func(opt *halfulp.Options) (halfulp.Scalar, error) {
				return halfulp.Sum(tr.vectorOf(x), f, opt)
			}))
		}
	}
}

// aliasing passes routines an output that shares storage with inputs.
func (s *suite) aliasing(t *testing.T) {
	rounds := testlength.Of(1, 2, 4)
	for _, f := range formats[:len(formats)-1] {
		for i := range rounds {
			for _, name := range []string{"uniform", "spread50", "Inf and NaN", "cancel to one ulp"} {
				tr := s.trial(fmt.Sprintf("aliasing %v %s", f, name), i)
				tr.aliased(t, name)
			}
		}
	}
}

func familyOf(name string) family {
	for _, f := range families {
		if f.name == name {
			return f
		}
	}
	panic("conformance: no family " + name)
}

// aliased runs routines on views of one grid.
func (tr *trial) aliased(t *testing.T, name string) {
	var f halfulp.Format
	for _, g := range formats {
		if name := fmt.Sprintf("aliasing %v ", g); len(tr.what) > len(name) && tr.what[:len(name)] == name {
			f = g
		}
	}
	n := 3 + tr.IntN(7)
	if f.Bits() > 1000 {
		n = 3
	}
	fam := familyOf(name)
	p := (&problem{r: tr.Rand, m: 2*n + 1, n: 2*n + 1, k: 2*n + 1, fa: f, fb: f, fc: f}).filled(fam)
	alpha, beta := tr.scalars(p)
	what := tr.what
	fresh := func() *grid {
		g := newGrid(f, 2*n+1, 2*n+1)
		copy(g.v, p.a)
		return g
	}
	// A square block of n x n at a random place, possibly transposed.
	block := func(g *grid) *view {
		v := slice(g, tr.IntN(n+2), tr.IntN(n+2), n, n)
		if tr.IntN(2) == 0 {
			v = v.t()
		}
		return v
	}
	vec := func(g *grid) *view {
		step := 1 + tr.IntN(2)
		first := tr.IntN(2*n + 1 - (n-1)*step)
		if tr.IntN(2) == 0 {
			first, step = first+(n-1)*step, -step
		}
		return line(g, tr.IntN(2) == 0, tr.IntN(2*n+1), first, step, n)
	}
	product := func(a, b, c *view) func(i, j int) (real, bool) {
		return func(i, j int) (real, bool) {
			return entry(alpha.real, beta.real, a.cols, func(h int) (real, real) { return a.at(i, h), b.at(h, j) }, c.at(i, j)), true
		}
	}
	run := func(name string, out *view, exact func(i, j int) (real, bool), call func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error) {
		tr.what = what + "; " + name
		tr.fail(t, tr.matrixResult(out, exact, call))
	}

	for k := range 4 {
		g := fresh()
		a, b, c := block(g), block(g), block(g)
		switch k {
		case 0:
			c = a
		case 1:
			c = b.t()
		case 2:
			a, b = c, c
		}
		run(fmt.Sprintf("Gemm A %v B %v C %v", a, b, c), c, product(a, b, c), func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, alpha.s, at(a), at(b), beta.s, at(c), opt)
		})
	}
	{
		g := fresh()
		a, c := block(g), block(g)
		if tr.IntN(2) == 0 {
			c = a
		}
		run(fmt.Sprintf("Syrk A %v C %v", a, c), c, func(i, j int) (real, bool) {
			if i > j {
				return real{}, false
			}
			return product(a, a.t(), c)(i, j)
		}, func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.Syrk(halfulp.Upper, halfulp.NoTrans, alpha.s, at(a), beta.s, at(c), opt)
		})
	}
	for k := range 3 {
		g := fresh()
		a, x, y := block(g), vec(g), vec(g)
		if k == 0 {
			y = x
		}
		run(fmt.Sprintf("Gemv A %v x %v y %v", a, x, y), y, product(a, x, y), func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.Gemv(halfulp.NoTrans, alpha.s, at(a), vectorAt(at, x), beta.s, vectorAt(at, y), opt)
		})
		run(fmt.Sprintf("Axpy x %v y %v", x, y), y, func(i, _ int) (real, bool) {
			return entry(alpha.real, one, 1, func(int) (real, real) { return x.at(i, 0), one }, y.at(i, 0)), true
		}, func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.Axpy(alpha.s, vectorAt(at, x), vectorAt(at, y), opt)
		})
		run(fmt.Sprintf("Ger x %v y %v A %v", x, y, a), a, func(i, j int) (real, bool) {
			return entry(alpha.real, one, 1, func(int) (real, real) { return x.at(i, 0), y.at(j, 0) }, a.at(i, j)), true
		}, func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.Ger(alpha.s, vectorAt(at, x), vectorAt(at, y), at(a), opt)
		})
		run(fmt.Sprintf("Dot x %v y %v", x, y), y, func(i, j int) (real, bool) { return real{}, false }, func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			want := round(entry(one, real{}, n, func(h int) (real, real) { return x.at(h, 0), y.at(h, 0) }, real{}), f)
			got, err := halfulp.Dot(vectorAt(at, x), vectorAt(at, y), f, opt)
			if err == nil {
				if bad := want.stored(got); bad != nil {
					return mismatchf("%v", bad)
				}
			}
			opt.Stats.Overflow, opt.Stats.Underflow = 0, 0
			return err
		})
	}
}

// prepared uses prepared operands again and again: on both sides, transposed, with other partners
// and formats, at every level, and from several goroutines.
func (s *suite) prepared(t *testing.T) {
	fs := formats
	names := []string{"uniform", "spread50", "Inf and NaN", "cancel to one ulp", "Hilbert", "sparse", "spread1000"}
	for i, f := range fs {
		for k, name := range names {
			if (i+k)%testlength.Of(6, 6, 1) != 0 {
				continue
			}
			tr := s.trial(fmt.Sprintf("prepared %v %s", f, name), k)
			n := 9 + tr.IntN(12)
			switch {
			case f.Bits() > 2000:
				n = 2
			case f.Bits() > 300:
				n = 6
			}
			p := (&problem{r: tr.Rand, m: n, n: n, k: n, fa: f, fb: tr.inputFormat(f), fc: f}).filled(familyOf(name))
			tr.usePrepared(t, p)
		}
	}
	t.Run("Concurrent", s.preparedConcurrently)
}

func (tr *trial) usePrepared(t *testing.T, p *problem) {
	a, b := tr.place(p.fa, p.m, p.k, p.A), tr.place(p.fb, p.k, p.n, p.B)
	alpha, beta := tr.scalars(p)
	preA, preB := halfulp.Prepare(a.on(a.g.matrix())), halfulp.Prepare(b.on(b.g.matrix()))
	plainA, plainB := a.on(a.g.matrix()), b.on(b.g.matrix())
	what, configs := tr.what, tr.configs
	N, T := halfulp.NoTrans, halfulp.Trans
	n := p.n
	for k, use := range []struct {
		name   string
		tA, tB halfulp.Transpose
		x, y   *halfulp.Matrix
		u, v   *view
	}{
		{"A left", N, N, preA, plainB, a, b},
		{"both", N, N, preA, preB, a, b},
		{"A left transposed", T, N, preA, plainB, a.t(), b},
		{"A right", N, N, plainB, preA, b, a},
		{"both, swapped and transposed", T, T, preB, preA, b.t(), a.t()},
		{"B right", N, N, plainA, preB, a, b},
		{"A twice", N, T, preA, preA, a, a.t()},
		{"A twice, transposed", T, N, preA, preA, a.t(), a},
		{"both again", N, N, preA, preB, a, b},
	} {
		f := p.fc
		if k%3 == 2 {
			f = formats[tr.IntN(len(formats)-1)]
		}
		c := tr.place(f, n, n, func(i, j int) real { return round(p.C(i, j), f).real })
		tr.what = fmt.Sprintf("%s; %s, A %v, B %v, C %v", what, use.name, a, b, c)
		tr.product, tr.format = true, f.String()
		tr.configs = configs
		if k%3 != 1 && !testlength.Long() { // emulated tiles are slow
			tr.configs = slices.DeleteFunc(slices.Clone(configs), func(c config) bool { return c.mode.emulated })
		}
		tr.fail(t, tr.matrixResult(c, func(i, j int) (real, bool) {
			return entry(alpha.real, beta.real, n, func(h int) (real, real) { return use.u.at(i, h), use.v.at(h, j) }, c.at(i, j)), true
		}, func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.Gemm(use.tA, use.tB, alpha.s, use.x, use.y, beta.s, at(c), opt)
		}))
	}
	c := tr.place(p.fc, n, n, p.C)
	tr.what, tr.configs = what+"; Syrk", configs
	tr.fail(t, tr.matrixResult(c, func(i, j int) (real, bool) {
		if i < j {
			return real{}, false
		}
		return entry(alpha.real, beta.real, n, func(h int) (real, real) { return a.at(i, h), a.at(j, h) }, c.at(i, j)), true
	}, func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
		return halfulp.Syrk(halfulp.Lower, N, alpha.s, preA, beta.s, at(c), opt)
	}))
	tr.fail(t, untouched(a.g, b.g))
}

func (s *suite) preparedConcurrently(t *testing.T) {
	tr := s.trial("prepared operand in several goroutines", 0)
	f := halfulp.MP(106)
	n := 40
	p := (&problem{r: tr.Rand, m: n, n: n, k: n, fa: f, fb: f, fc: f}).filled(familyOf("uniform"))
	a, b := tr.place(f, n, n, p.A), tr.place(f, n, n, p.B)
	pa, pb := halfulp.Prepare(a.on(a.g.matrix())), halfulp.Prepare(b.on(b.g.matrix()))
	run := func(opt *halfulp.Options, x, y *halfulp.Matrix, tA halfulp.Transpose) (*halfulp.Matrix, error) {
		c := halfulp.NewMatrix(f, n, n)
		err := halfulp.Gemm(tA, halfulp.NoTrans, halfulp.Float(1), x, y, halfulp.Float(0), c, opt)
		return c, err
	}
	ts := []halfulp.Transpose{halfulp.NoTrans, halfulp.Trans}
	var want [2]*halfulp.Matrix
	for k, tA := range ts {
		var err error
		if want[k], err = run(&halfulp.Options{Device: "cpu", Method: "direct"}, a.on(a.g.matrix()), b.on(b.g.matrix()), tA); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			opt := s.b.Options()
			opt.Method, opt.Threads = "residue", 1+k%3
			got, err := run(opt, pa, pb, ts[k%2])
			if err != nil && !errors.Is(err, halfulp.ErrMethod) {
				t.Error(err)
			} else if err == nil && !got.Same(want[k%2]) {
				t.Errorf("seed %d: goroutine %d: results differ", tr.seed, k)
			}
		})
	}
	wg.Wait()
}

// large compares all entries of larger products among the configurations, and a sample of them with
// the oracle.
func (s *suite) large(t *testing.T) {
	type large struct {
		f       halfulp.Format
		m, n, k int
		family  string
	}
	cases := []large{
		{halfulp.Float64, 130, 90, 70, "spread50"},
		{halfulp.MP(106), 130, 90, 70, "uniform"},
		{halfulp.Float64, 300, 530, 12, "uniform"},
		{halfulp.Float64, 37, 41, 1000, "uniform"},
		{halfulp.DD, 65, 130, 64, "cancel to one ulp"},
		{halfulp.QD, 40, 60, 80, "uniform"},
		{halfulp.Float32, 259, 97, 33, "ties and a tiny term"},
		{halfulp.MP(53), 17, 17, 700, "cancel to zero"},
		{halfulp.MP(424), 61, 53, 67, "spread1000"},
		{halfulp.MP(1696), 33, 34, 35, "uniform"},
		{halfulp.MP(64), 90, 100, 30, "residual"},
		{halfulp.Float64, 9, 11, 5000, "all ones"},
		{halfulp.MP(424), 13, 17, 1500, "all ones"},
		{halfulp.MP(1696), 19, 7, 300, "one large entry"},
		{halfulp.MP(5000), 12, 13, 14, "uniform"},
		{halfulp.TD, 49, 35, 60, "patterns"},
		{halfulp.Float64, 70, 70, 70, "Inf and NaN"},
	}
	cases = cases[:testlength.Of(2, 5, len(cases))]
	for i, l := range cases {
		name := fmt.Sprintf("%v_%dx%dx%d_%s", l.f, l.m, l.n, l.k, l.family)
		t.Run(name, func(t *testing.T) {
			tr := s.trial("large "+name, i)
			p := &problem{r: tr.Rand, m: l.m, n: l.n, k: l.k, fa: l.f, fb: l.f, fc: l.f}
			if l.family == "residual" {
				p = p.filled(familyOf("uniform"))
			} else {
				p = p.filled(familyOf(l.family))
			}
			tr.largeProduct(t, p, l.family == "residual")
		})
	}
}

func (tr *trial) largeProduct(t *testing.T, p *problem, residual bool) {
	a, b, c := tr.place(p.fa, p.m, p.k, p.A), tr.place(p.fb, p.k, p.n, p.B), tr.place(p.fc, p.m, p.n, p.C)
	alpha, beta := newScalar(halfulp.Float64, one), newScalar(halfulp.Float64, real{})
	before := c.g.matrix()
	gemm := func(m *halfulp.Matrix, c *view, opt *halfulp.Options) error {
		return halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, alpha.s, a.on(a.g.matrix()), b.on(b.g.matrix()), beta.s, c.on(m), opt)
	}
	if residual { // take the rounded product away again
		if err := gemm(before, c, nil); err != nil {
			t.Fatal(err)
		}
		for j := range p.n {
			for i := range p.m {
				p.c[i*p.n+j] = realOf(c.on(before).At(i, j))
			}
		}
		beta = newScalar(halfulp.Float64, pow2(-1, 0))
	}
	want := before.Clone()
	if err := gemm(want, c, &halfulp.Options{Device: "cpu", Method: "direct"}); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		i, j := tr.IntN(p.m), tr.IntN(p.n)
		x := p.entry(alpha.real, beta.real, i, j)
		w := round(x, p.fc)
		if err := w.stored(c.on(want).At(i, j)); err != nil {
			t.Errorf("seed %d: %s; method direct, entry (%d, %d): %v\nexact %v", tr.seed, tr.what, i, j, err, x)
			return
		}
	}
	tr.configs = nil
	for k, m := range tr.b.Modes {
		if m.emulated && !testlength.Long() { // slow; the configurations differ in the engine above
			tr.configs = append(tr.configs, config{m, "residue", threadCounts[k%3], 0, ""})
			continue
		}
		tr.configs = append(tr.configs,
			config{m, "residue", threadCounts[k%3], 0, ""},
			config{m, "residue", threadCounts[(k+1)%3], 1 << 20, ""},
			config{m, "residue", threadCounts[(k+2)%3], 1 << 18, ""},
			config{m, "auto", threadCounts[(k+1)%3], 0, ""},
		)
	}
	blocks := 0
	tr.product, tr.format = true, p.fc.String()
	tr.fail(t, tr.under(func(cf config, opt *halfulp.Options) error {
		got := before.Clone()
		err := gemm(got, c, opt)
		if err == nil {
			blocks = max(blocks, opt.Stats.Blocks)
		}
		if err == nil && !got.Same(want) {
			for j := range p.n {
				for i := range p.m {
					if g := c.on(got).At(i, j); !g.Same(c.on(want).At(i, j)) {
						x := p.entry(alpha.real, beta.real, i, j)
						return mismatchf("entry (%d, %d)\ngot   %v\nwant  %v\nexact %v", i, j, describe(g), round(x, p.fc).real, x)
					}
				}
			}
			return mismatchf("storage outside of the output changed")
		}
		return err
	}))
	t.Logf("%d calls ran, in up to %d blocks", tr.ran, blocks)
}

// empty passes every routine a 0 for every dimension.
func (s *suite) empty(t *testing.T) {
	for _, f := range formats {
		for m := range 2 {
			for n := range 2 {
				for k := range 2 {
					if m*n*k != 0 {
						continue
					}
					tr := s.trial(fmt.Sprintf("empty %v %dx%dx%d", f, m, n, k), 0)
					tr.configs = nil
					for _, method := range methods {
						tr.configs = append(tr.configs, config{s.b.Modes[0], method, 2, 0, ""})
					}
					what := tr.what
					for _, c0 := range []real{minus, {}, pow2(3, 0), nan} {
						p := &problem{r: tr.Rand, m: m, n: n, k: k, fa: f, fb: f, fc: f}
						p = p.filled(familyOf("uniform"))
						for i := range p.c {
							p.c[i] = c0
						}
						tr.what = what
						for _, tA := range []halfulp.Transpose{halfulp.NoTrans, halfulp.Trans} {
							for _, tB := range []halfulp.Transpose{halfulp.NoTrans, halfulp.Trans} {
								tr.what = what
								tr.fail(t, tr.gemm(tA, tB, p))
							}
						}
					}
					tr.what = what
					tr.emptyVectors(t, f)
				}
			}
		}
	}
}

func (tr *trial) emptyVectors(t *testing.T, f halfulp.Format) {
	x := halfulp.NewVector(f, 0)
	check := func(name string, exact real, call func(opt *halfulp.Options) (halfulp.Scalar, error)) {
		tr.what = "empty " + name
		tr.fail(t, tr.scalarResult(exact, f, call))
	}
	type options = *halfulp.Options
	check("Sum", real{}, func(o options) (halfulp.Scalar, error) { return halfulp.Sum(x, f, o) })
	check("Asum", real{}, func(o options) (halfulp.Scalar, error) { return halfulp.Asum(x, f, o) })
	check("Trace", real{}, func(o options) (halfulp.Scalar, error) {
		return halfulp.Trace(halfulp.NewMatrix(f, 0, 0), f, o)
	})
	check("Dot", real{}, func(o options) (halfulp.Scalar, error) { return halfulp.Dot(x, x, f, o) })
	check("Nrm2", real{}, func(o options) (halfulp.Scalar, error) { return halfulp.Nrm2(x, f, o) })
	check("Mean", nan, func(o options) (halfulp.Scalar, error) { return stats.Mean(x, f, o) })
	check("StdDev", nan, func(o options) (halfulp.Scalar, error) { return stats.StdDev(x, f, o) })
	check("Autocorr1", nan, func(o options) (halfulp.Scalar, error) { return stats.Autocorr1(x, f, o) })
	if i, err := halfulp.Iamax(x, nil); i != -1 || err != nil {
		t.Errorf("empty Iamax = %d, %v", i, err)
	}
}

// cancelled passes every routine a context that has ended, and cancels the context of products that
// are running.
func (s *suite) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := halfulp.MP(106)
	n := 20
	tr := s.trial("cancelled", 0)
	x, y := halfulp.NewVector(f, n), halfulp.NewVector(f, n)
	a, b, c := halfulp.NewMatrix(f, n, n), halfulp.NewMatrix(f, n, n), halfulp.NewMatrix(f, n, n)
	for i := range n {
		x.SetFloat64(i, float64(i+1))
		y.SetFloat64(i, float64(i+1))
		for j := range n {
			v := bigOf(number(tr.Rand, 106, 0))
			a.SetBig(i, j, v)
			b.SetBig(j, i, new(big.Float).Neg(v))
		}
	}
	y0 := y.Clone()
	one := halfulp.Float(1)
	third := halfulp.NewScalar(f, bigOf(round(pow2(1, 0).ratio(big.NewInt(3), -300), f).real))
	for _, r := range []struct {
		name string
		call func(opt *halfulp.Options) error
	}{
		{"Sum", func(o *halfulp.Options) error { _, err := halfulp.Sum(x, f, o); return err }},
		{"Asum", func(o *halfulp.Options) error { _, err := halfulp.Asum(x, f, o); return err }},
		{"Trace", func(o *halfulp.Options) error { _, err := halfulp.Trace(c, f, o); return err }},
		{"CumSum", func(o *halfulp.Options) error { return halfulp.CumSum(x, y, o) }},
		{"Dot", func(o *halfulp.Options) error { _, err := halfulp.Dot(x, y, f, o); return err }},
		{"Nrm2", func(o *halfulp.Options) error { _, err := halfulp.Nrm2(x, f, o); return err }},
		{"Iamax", func(o *halfulp.Options) error { _, err := halfulp.Iamax(x, o); return err }},
		{"Mean", func(o *halfulp.Options) error { _, err := stats.Mean(x, f, o); return err }},
		{"StdDev", func(o *halfulp.Options) error { _, err := stats.StdDev(x, f, o); return err }},
		{"Autocorr1", func(o *halfulp.Options) error { _, err := stats.Autocorr1(x, f, o); return err }},
		{"Axpy", func(o *halfulp.Options) error { return halfulp.Axpy(third, x, y, o) }},
		{"Axpy, alpha 0", func(o *halfulp.Options) error { return halfulp.Axpy(halfulp.Float(0), x, y, o) }},
		{"Scal", func(o *halfulp.Options) error { return halfulp.Scal(third, y, o) }},
		{"Ger", func(o *halfulp.Options) error { return halfulp.Ger(third, x, y, c, o) }},
		{"Gemv", func(o *halfulp.Options) error {
			return halfulp.Gemv(halfulp.Trans, third, a, x, one, y, o)
		}},
		{"Gemm auto", func(o *halfulp.Options) error {
			return halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, one, c, o)
		}},
		{"Gemm residue", func(o *halfulp.Options) error {
			o.Method = "residue"
			return halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, one, c, o)
		}},
		{"Gemm direct", func(o *halfulp.Options) error {
			o.Method = "direct"
			return halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, third, a, b, one, c, o)
		}},
		{"Syrk", func(o *halfulp.Options) error {
			return halfulp.Syrk(halfulp.Upper, halfulp.NoTrans, third, a, one, c, o)
		}},
	} {
		for _, threads := range threadCounts {
			opt := s.b.Options()
			opt.Context, opt.Threads = ctx, threads
			if err := r.call(opt); !isCancelled(err) && !s.b.refused(err) {
				t.Errorf("%s, %d threads: error %v for a cancelled context", r.name, threads, err)
			}
		}
	}
	if !y.Same(y0) {
		t.Errorf("a cancelled level-1 or level-2 routine changed its output")
	}
	n = 200
	big1 := halfulp.NewMatrix(halfulp.Float64, n, n)
	for j := range n {
		for i := range n {
			big1.SetFloat64(i, j, float64(tr.Float64())-0.5)
		}
	}
	for _, method := range methods {
		for _, threads := range threadCounts {
			ctx, cancel := context.WithCancel(context.Background())
			opt := s.b.Options()
			opt.Context, opt.Threads, opt.Method = ctx, threads, method
			opt.Progress = func(done float64) {
				if done > 0.05 && done < 1 {
					cancel()
				}
			}
			err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, big1, big1, halfulp.Float(0), halfulp.NewMatrix(f, n, n), opt)
			if !isCancelled(err) && !s.b.refused(err) && !(method != "direct" && err == nil && ctx.Err() == nil) {
				t.Errorf("Gemm, method %s, %d threads: error %v for a context cancelled on the way", method, threads, err)
			}
			cancel()
		}
	}
}
