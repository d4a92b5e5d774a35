package conformance

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/stats"
)

// routine runs one trial of one routine with results of format f.
type routine struct {
	name string
	run  func(tr *trial, f halfulp.Format, fam family) error
	thin int // run one in so many trials: other routines share most of the code
}

var routines = []routine{
	{"Sum", runSum, 1}, {"Asum", runAsum, 1}, {"Dot", runDot, 1}, {"Nrm2", runNrm2, 1}, {"Iamax", runIamax, 1},
	{"Trace", runTrace, 3}, {"CumSum", runCumSum, 1}, {"Mean", runMean, 1}, {"StdDev", runStdDev, 1}, {"Autocorr1", runAutocorr1, 1},
	{"Axpy", runAxpy, 1}, {"Scal", runScal, 1}, {"Copy", runCopy, 3}, {"Swap", runSwap, 3},
	{"Rot", runRot, 3}, {"Rotm", runRotm, 3}, {"Rotg", runRotg, 1}, {"Rotmg", runRotmg, 1}, {"Ger", runGer, 1},
	{"GemvN", runGemv(halfulp.NoTrans), 1}, {"GemvT", runGemv(halfulp.Trans), 1},
	{"GemmNN", runGemm(halfulp.NoTrans, halfulp.NoTrans), 1}, {"GemmNT", runGemm(halfulp.NoTrans, halfulp.Trans), 1},
	{"GemmTN", runGemm(halfulp.Trans, halfulp.NoTrans), 1}, {"GemmTT", runGemm(halfulp.Trans, halfulp.ConjTrans), 1},
	{"Gbmv", runGbmv, 3}, {"Symv", runSymv, 3}, {"Sbmv", runSbmv, 3}, {"Spmv", runSpmv, 3}, {"Trmv", runTrmv, 3}, {"Syr", runSyr, 7}, {"Syr2", runSyr2, 3},
	{"Symm", runSymm, 3}, {"Trmm", runTrmm, 3}, {"Syr2k", runSyr2k, 3}, {"Trsv", runTrsv, 3}, {"Trsm", runTrsm, 3},
	{"SyrkUN", runSyrk(halfulp.Upper, halfulp.NoTrans), 1}, {"SyrkUT", runSyrk(halfulp.Upper, halfulp.Trans), 1},
	{"SyrkLN", runSyrk(halfulp.Lower, halfulp.NoTrans), 1}, {"SyrkLT", runSyrk(halfulp.Lower, halfulp.Trans), 1},
}

// routines runs every routine in every format over the families. Short and slow runs take a part of
// the trials.
func (s *suite) routines(t *testing.T) {
	if testlength.Slow() {
		s.some(t, 59)
		return
	}
	s.some(t, testlength.Of(23, 23, 1))
}

// some runs one of every `every` trials of the routines.
func (s *suite) some(t *testing.T, every int) {
	const repeats = 2
	count := 0
	for _, r := range routines {
		t.Run(r.name, func(t *testing.T) {
			for _, f := range formats {
				for _, fam := range families {
					for i := range repeats {
						if count++; (count+int(s.base%1000))%(every*r.thin) != 0 {
							continue
						}
						tr := s.trial(fmt.Sprintf("%s %v %s", r.name, f, fam.name), i)
						tr.fail(t, r.run(tr, f, fam))
					}
				}
			}
		})
	}
}

var sizes = []int{0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 19, 23, 29, 31, 32, 33}

func (tr *trial) size() int { return sizes[tr.IntN(len(sizes))] }

// inputFormat draws the format of an input beside results of format f.
func (tr *trial) inputFormat(f halfulp.Format) halfulp.Format {
	if tr.IntN(2) == 0 {
		return f
	}
	return formats[tr.IntN(len(formats)-tr.IntN(3))]
}

// problem fills operands of the shape, reduced to a size that the oracle can afford, and rounds
// them to their formats. With ones, the factors B are 1 by definition.
func (tr *trial) problem(fam family, m, n, k int, f halfulp.Format, ones bool) *problem {
	p := &problem{r: tr.Rand, m: m, n: n, k: k, fa: tr.inputFormat(f), fb: tr.inputFormat(f), fc: f, ones: ones}
	if ones {
		p.fb = halfulp.Float64
	}
	cost := 1 + (p.fa.Bits()+p.fb.Bits()+p.fc.Bits())/100
	if fam.name == "spread100000" && (p.fa.IsMP() || p.fb.IsMP()) {
		cost += 80
	}
	budget := 12000
	if tr.IntN(6) == 0 {
		budget *= 8
	}
	for p.m*p.n*p.k*cost > budget {
		switch {
		case p.m >= p.n && p.m >= p.k:
			p.m = (p.m + 1) / 2
		case p.n >= p.k:
			p.n = (p.n + 1) / 2
		default:
			p.k = (p.k + 1) / 2
		}
	}
	return p.filled(fam)
}

func (p *problem) filled(fam family) *problem {
	p.a, p.b, p.c = make([]real, p.m*p.k), make([]real, p.k*p.n), make([]real, p.m*p.n)
	fam.fill(p)
	if p.ones {
		for i := range p.b {
			p.b[i] = one
		}
	}
	roundAll(p.a, p.fa)
	if p.square {
		for i := range p.a {
			p.b[i%p.k*p.n+i/p.k] = p.a[i]
		}
	}
	roundAll(p.b, p.fb)
	if p.residual {
		for i := range p.m {
			for j := range p.n {
				p.c[i*p.n+j] = p.entry(one, real{}, i, j)
			}
		}
	}
	roundAll(p.c, p.fc)
	return p
}

func roundAll(x []real, f halfulp.Format) {
	for i := range x {
		x[i] = round(x[i], f).real
	}
}

func (p *problem) A(i, h int) real { return p.a[i*p.k+h] }
func (p *problem) B(h, j int) real { return p.b[h*p.n+j] }
func (p *problem) C(i, j int) real { return p.c[i*p.n+j] }

// entry returns the exact sum of the products alpha a_ih b_hj and beta c_ij.
func (p *problem) entry(alpha, beta real, i, j int) real {
	return entry(alpha, beta, p.k, func(h int) (real, real) { return p.A(i, h), p.B(h, j) }, p.C(i, j))
}

// entry returns the exact sum of the products alpha a_h b_h, h < k, and beta c. Without alpha (0)
// the former are left out, without beta (0) the latter.
func entry(alpha, beta real, k int, ab func(h int) (a, b real), c real) real {
	ts := make([]real, 0, k+1)
	if alpha.class != zero {
		for h := range k {
			a, b := ab(h)
			if !alpha.same(one) {
				a = alpha.times(a)
			}
			ts = append(ts, a.times(b))
		}
	}
	if beta.class != zero {
		ts = append(ts, beta.times(c))
	}
	return sum(ts)
}

// garbage draws the contents of storage that no routine may read or write.
func (tr *trial) garbage(f halfulp.Format) real {
	switch tr.IntN(4) {
	case 0:
		return inf(true)
	case 1:
		return number(tr.Rand, f.Bits(), 90)
	}
	return nan
}

func (tr *trial) garbageGrid(f halfulp.Format, rows, cols int) *grid {
	g := newGrid(f, rows, cols)
	for i := range g.v {
		g.v[i] = tr.garbage(f)
	}
	return g
}

// place returns a view with the given entries, in one of many layouts, in a grid that holds garbage
// elsewhere.
func (tr *trial) place(f halfulp.Format, rows, cols int, x func(i, j int) real) *view {
	var v *view
	switch tr.IntN(4) {
	case 0:
		v = slice(tr.garbageGrid(f, rows, cols), 0, 0, rows, cols)
	case 1: // leading dimension above the number of rows
		r0, c0 := tr.IntN(3), tr.IntN(2)
		v = slice(tr.garbageGrid(f, r0+rows+tr.IntN(4), c0+cols+tr.IntN(2)), r0, c0, rows, cols)
	case 2: // transposed
		r0, c0 := tr.IntN(3), tr.IntN(2)
		v = slice(tr.garbageGrid(f, r0+cols+tr.IntN(4), c0+rows+tr.IntN(2)), r0, c0, cols, rows).t()
	default:
		switch {
		case cols == 1:
			v = tr.line(f, rows)
		case rows == 1:
			v = tr.line(f, cols).t()
		default:
			v = slice(tr.garbageGrid(f, rows+1, cols), 1, 0, rows, cols)
		}
	}
	fill(v, x)
	return v
}

// line returns a vector of n entries with some stride, forwards or backwards, in a column or a row.
func (tr *trial) line(f halfulp.Format, n int) *view {
	step := 1 + max(0, tr.IntN(6)-3)
	extent := (max(n, 1)-1)*step + 1
	before, after, beside := tr.IntN(3), tr.IntN(3), 1+tr.IntN(3)
	at, first := tr.IntN(beside), before
	if tr.IntN(3) == 0 {
		first, step = before+extent-1, -step
	}
	if tr.IntN(3) == 0 {
		return line(tr.garbageGrid(f, beside, before+extent+after), false, at, first, step, n)
	}
	return line(tr.garbageGrid(f, before+extent+after, beside), true, at, first, step, n)
}

func (tr *trial) placeLine(f halfulp.Format, n int, x func(i int) real) *view {
	v := tr.line(f, n)
	fill(v, func(i, _ int) real { return x(i) })
	return v
}

func fill(v *view, x func(i, j int) real) {
	for j := range v.cols {
		for i := range v.rows {
			v.set(i, j, x(i, j))
		}
	}
}

// note appends to the description of the trial.
func (tr *trial) note(format string, a ...any) {
	tr.what += "; " + fmt.Sprintf(format, a...)
}

// scalar is alpha or beta as the library takes it.
type scalar struct {
	real
	s halfulp.Scalar
}

func newScalar(f halfulp.Format, x real) scalar { return scalar{x, scalarOf(f, x)} }

func (tr *trial) scalars(p *problem) (alpha, beta scalar) {
	draw := func() scalar {
		f, x := drawScalar(tr.Rand)
		return newScalar(f, round(x, f).real)
	}
	f := halfulp.Float64
	switch {
	case p.residual:
		alpha, beta = newScalar(f, one), newScalar(f, pow2(-1, 0))
	case tr.IntN(5) < 2:
		alpha, beta = newScalar(f, one), newScalar(f, one)
	case tr.IntN(4) == 0:
		alpha, beta = newScalar(f, one), newScalar(f, real{})
	default:
		alpha, beta = draw(), draw()
	}
	tr.note("alpha %v %v, beta %v %v", alpha.s.NumberFormat(), alpha.real, beta.s.NumberFormat(), beta.real)
	return alpha, beta
}

// unread fills the operands that alpha = 0 or beta = 0 leaves unread with garbage.
func (tr *trial) unread(p *problem, alpha, beta scalar) {
	fillGarbage := func(x []real, f halfulp.Format) {
		for i := range x {
			x[i] = round(tr.garbage(f), f).real
		}
	}
	if alpha.class == zero && tr.IntN(2) == 0 {
		fillGarbage(p.a, p.fa)
		if !p.ones {
			fillGarbage(p.b, p.fb)
		}
	}
	if beta.class == zero && tr.IntN(2) == 0 {
		fillGarbage(p.c, p.fc)
	}
}

// vector draws the vector of a reduction and describes it.
func (tr *trial) vector(f halfulp.Format, fam family) (*view, []real) {
	n := tr.length()
	p := tr.problem(fam, 1, 1, n, f, true)
	x := tr.placeLine(p.fa, p.k, func(i int) real { return p.a[i] })
	tr.note("x %v", x)
	return x, p.a
}

func (tr *trial) length() int {
	if tr.IntN(4) == 0 {
		return 50 + tr.IntN(250)
	}
	return tr.size()
}

func runSum(tr *trial, f halfulp.Format, fam family) error {
	x, v := tr.vector(f, fam)
	err := tr.scalarResult(sum(v), f, func(opt *halfulp.Options) (halfulp.Scalar, error) {
		return halfulp.Sum(tr.vectorOf(x), f, opt)
	})
	return firstError(err, untouched(x.g))
}

// runTrace leaves garbage beside the diagonal.
func runTrace(tr *trial, f halfulp.Format, fam family) error {
	p := tr.problem(fam, 1, 1, tr.size(), f, true)
	a := tr.place(p.fa, p.k, p.k, func(i, j int) real {
		if i == j {
			return p.a[i]
		}
		return tr.garbage(p.fa)
	})
	tr.note("A %v", a)
	err := tr.scalarResult(sum(p.a), f, func(opt *halfulp.Options) (halfulp.Scalar, error) {
		return halfulp.Trace(a.on(tr.move(a.g.matrix())), f, opt)
	})
	return firstError(err, untouched(a.g))
}

func runCumSum(tr *trial, f halfulp.Format, fam family) error {
	_, x, y := tr.lines(f, fam)
	v := make([]real, x.rows)
	for i := range v {
		v[i] = x.at(i, 0)
	}
	err := tr.matrixResult(y, func(i, _ int) (real, bool) { return sum(v[:i+1]), true },
		func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.CumSum(vectorAt(at, x), vectorAt(at, y), opt)
		})
	return firstError(err, untouched(x.g))
}

func firstError(es ...error) error {
	for _, e := range es {
		if e != nil {
			return e
		}
	}
	return nil
}

func runAsum(tr *trial, f halfulp.Format, fam family) error {
	x, v := tr.vector(f, fam)
	var ts []real
	for _, t := range v {
		ts = append(ts, t.abs())
	}
	err := tr.scalarResult(sum(ts), f, func(opt *halfulp.Options) (halfulp.Scalar, error) {
		return halfulp.Asum(tr.vectorOf(x), f, opt)
	})
	return firstError(err, untouched(x.g))
}

func runDot(tr *trial, f halfulp.Format, fam family) error {
	p := tr.problem(fam, 1, 1, tr.length(), f, false)
	x := tr.placeLine(p.fa, p.k, func(i int) real { return p.a[i] })
	y := tr.placeLine(p.fb, p.k, func(i int) real { return p.b[i] })
	tr.note("x %v, y %v", x, y)
	err := tr.scalarResult(p.entry(one, real{}, 0, 0), f, func(opt *halfulp.Options) (halfulp.Scalar, error) {
		return halfulp.Dot(tr.vectorOf(x), tr.vectorOf(y), f, opt)
	})
	return firstError(err, untouched(x.g, y.g))
}

func runNrm2(tr *trial, f halfulp.Format, fam family) error {
	x, v := tr.vector(f, fam)
	if fam.name == "ties" || fam.name == "ties and a tiny term" {
		x, v = tr.tieOfNorm(f, fam.name != "ties")
	}
	var ts []real
	special := real{}
	for _, t := range v {
		if t.class > special.class && t.class != finite {
			special = t.abs()
		}
		ts = append(ts, t.times(t))
	}
	exact := special
	if special.class == zero {
		exact = sum(ts)
		if exact.class == finite {
			exact = exact.root(big.NewInt(1), fine(f, exact.top()/2+1))
		}
		exact.neg = false
	}
	err := tr.scalarResult(exact, f, func(opt *halfulp.Options) (halfulp.Scalar, error) {
		return halfulp.Nrm2(tr.vectorOf(x), f, opt)
	})
	return firstError(err, untouched(x.g))
}

// tieOfNorm returns a vector (3 u, 4 u) whose norm 5 u is the midpoint of two numbers of p bits,
// with a tiny third entry if requested.
func (tr *trial) tieOfNorm(f halfulp.Format, tiny bool) (*view, []real) {
	p := f.Bits()
	five := big.NewInt(5)
	u := new(big.Int).Quo(bitsOf(tr.Rand, p+1), five)
	if u.Bit(0) == 0 {
		u.Sub(u, big.NewInt(1))
	}
	if new(big.Int).Mul(u, five).BitLen() < p+1 {
		u.Add(u, big.NewInt(2))
	}
	e := tr.Int64N(20) - 10 - int64(p)
	if f == halfulp.Float32 && tr.IntN(2) == 0 {
		e = -150 // a tie of subnormal numbers
	}
	v := []real{fin(new(big.Int).Mul(u, big.NewInt(3)), e), fin(new(big.Int).Lsh(u, 2), e).negated()}
	if tiny {
		v = append(v, pow2(1, e-100-tr.Int64N(500)))
	}
	tr.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
	in := halfulp.MP(uint(p + 3))
	x := tr.placeLine(in, len(v), func(i int) real { return v[i] })
	tr.note("3-4-5 x %v", x)
	return x, v
}

func runIamax(tr *trial, f halfulp.Format, fam family) error {
	n := tr.length()
	p := tr.problem(fam, 1, 1, n, f, true)
	for range tr.IntN(3) { // equal magnitudes
		if p.k > 1 {
			p.a[tr.IntN(p.k)] = p.a[tr.IntN(p.k)].negated()
		}
	}
	x := tr.placeLine(p.fa, p.k, func(i int) real { return p.a[i] })
	tr.note("x %v", x)
	want := -1
	for i, t := range p.a {
		if want < 0 || cmpAbs(t, p.a[want]) > 0 {
			want = i
		}
	}
	err := tr.under(func(c config, opt *halfulp.Options) error {
		got, err := halfulp.Iamax(tr.vectorOf(x), opt)
		if err == nil && got != want {
			return mismatchf("got %d, want %d of %v", got, want, p.a)
		}
		return err
	})
	return firstError(err, untouched(x.g))
}

func runMean(tr *trial, f halfulp.Format, fam family) error {
	x, v := tr.vector(f, fam)
	n := big.NewInt(int64(len(v)))
	exact := sum(v)
	switch {
	case len(v) == 0:
		exact = nan
	case exact.class == finite:
		exact = exact.ratio(n, fine(f, exact.top()-int64(n.BitLen())))
	}
	err := tr.scalarResult(exact, f, func(opt *halfulp.Options) (halfulp.Scalar, error) {
		return stats.Mean(tr.vectorOf(x), f, opt)
	})
	return firstError(err, untouched(x.g))
}

// deviations returns n x_i - sum x, exactly, and false if an entry is not finite.
func deviations(v []real) ([]real, bool) {
	n := pow2(int64(len(v)), 0)
	s := wholeSum(v)
	d := make([]real, len(v))
	for i, t := range v {
		if t.class > finite {
			return nil, false
		}
		d[i] = wholeSum([]real{n.times(t), s.negated()})
	}
	return d, true
}

// wholeSum adds finite numbers without leaving out a bit.
func wholeSum(v []real) real {
	var ts []real
	for _, t := range v {
		if t.class == finite {
			ts = append(ts, t)
		}
	}
	if len(ts) == 0 {
		return real{}
	}
	low := ts[0].e
	for _, t := range ts {
		low = min(low, t.e)
	}
	return addAll(ts, low)
}

func runStdDev(tr *trial, f halfulp.Format, fam family) error {
	x, v := tr.vector(f, fam)
	exact := nan
	if d, ok := deviations(v); ok && len(v) > 1 {
		for i, t := range d {
			d[i] = t.times(t)
		}
		exact = wholeSum(d) // of n² times the squares
		if exact.class == finite {
			n := big.NewInt(int64(len(v)))
			q := new(big.Int).Mul(n, n)
			q.Mul(q, big.NewInt(int64(len(v)-1)))
			exact = exact.root(q, fine(f, (exact.top()-int64(q.BitLen()))/2))
		}
	}
	err := tr.scalarResult(exact, f, func(opt *halfulp.Options) (halfulp.Scalar, error) {
		return stats.StdDev(tr.vectorOf(x), f, opt)
	})
	return firstError(err, untouched(x.g))
}

func runAutocorr1(tr *trial, f halfulp.Format, fam family) error {
	x, v := tr.vector(f, fam)
	exact := nan
	if d, ok := deviations(v); ok && len(v) > 1 {
		var above, below []real
		for i, t := range d {
			below = append(below, t.times(t))
			if i > 0 {
				above = append(above, t.times(d[i-1]))
			}
		}
		if den := wholeSum(below); den.class == finite {
			exact = wholeSum(above).scaled(-den.e)
			if exact.class == finite {
				exact = exact.ratio(den.n, fine(f, exact.top()-int64(den.n.BitLen())))
			}
		}
	}
	err := tr.scalarResult(exact, f, func(opt *halfulp.Options) (halfulp.Scalar, error) {
		return stats.Autocorr1(tr.vectorOf(x), f, opt)
	})
	return firstError(err, untouched(x.g))
}

// vectorAt returns the vector at a line of a grid that a call reads or writes.
func vectorAt(at func(v *view) *halfulp.Matrix, v *view) *halfulp.Vector { return at(v).Col(0) }

func runAxpy(tr *trial, f halfulp.Format, fam family) error {
	p := tr.problem(fam, tr.length(), 1, 1, f, true)
	alpha, _ := tr.scalars(p)
	if p.residual {
		alpha = newScalar(halfulp.Float64, pow2(-1, 0))
		tr.note("but alpha -1")
	}
	tr.unread(p, alpha, scalar{real: one})
	x := tr.placeLine(p.fa, p.m, func(i int) real { return p.a[i] })
	y := tr.placeLine(p.fc, p.m, func(i int) real { return p.c[i] })
	tr.note("x %v, y %v", x, y)
	err := tr.matrixResult(y, func(i, _ int) (real, bool) { return p.entry(alpha.real, one, i, 0), true },
		func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.Axpy(alpha.s, vectorAt(at, x), vectorAt(at, y), opt)
		})
	return firstError(err, untouched(x.g))
}

func runScal(tr *trial, f halfulp.Format, fam family) error {
	p := tr.problem(fam, tr.length(), 1, 1, f, true)
	alpha, _ := tr.scalars(p)
	tr.unread(p, scalar{real: one}, alpha)
	x := tr.placeLine(p.fc, p.m, func(i int) real { return p.c[i] })
	tr.note("x %v", x)
	return tr.matrixResult(x, func(i, _ int) (real, bool) {
		if alpha.class == zero {
			return real{}, true
		}
		return alpha.times(p.c[i]), true
	}, func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
		return halfulp.Scal(alpha.s, vectorAt(at, x), opt)
	})
}

func runGer(tr *trial, f halfulp.Format, fam family) error {
	p := tr.problem(fam, tr.size(), tr.size(), 1, f, false)
	alpha, _ := tr.scalars(p)
	if p.residual {
		alpha = newScalar(halfulp.Float64, pow2(-1, 0))
		tr.note("but alpha -1")
	}
	tr.unread(p, alpha, scalar{real: one})
	x := tr.placeLine(p.fa, p.m, func(i int) real { return p.A(i, 0) })
	y := tr.placeLine(p.fb, p.n, func(j int) real { return p.B(0, j) })
	a := tr.place(p.fc, p.m, p.n, p.C)
	tr.note("x %v, y %v, A %v", x, y, a)
	err := tr.matrixResult(a, func(i, j int) (real, bool) { return p.entry(alpha.real, one, i, j), true },
		func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.Ger(alpha.s, vectorAt(at, x), vectorAt(at, y), at(a), opt)
		})
	return firstError(err, untouched(x.g, y.g))
}

// placeOp places op(A), so that op with t gives the entries x.
func (tr *trial) placeOp(t halfulp.Transpose, f halfulp.Format, rows, cols int, x func(i, j int) real) *view {
	if t == halfulp.NoTrans {
		return tr.place(f, rows, cols, x)
	}
	return tr.place(f, cols, rows, func(i, j int) real { return x(j, i) })
}

func runGemv(t halfulp.Transpose) func(tr *trial, f halfulp.Format, fam family) error {
	return func(tr *trial, f halfulp.Format, fam family) error {
		p := tr.problem(fam, tr.size(), 1, tr.size(), f, false)
		alpha, beta := tr.scalars(p)
		tr.unread(p, alpha, beta)
		a := tr.placeOp(t, p.fa, p.m, p.k, p.A)
		x := tr.placeLine(p.fb, p.k, func(h int) real { return p.B(h, 0) })
		y := tr.placeLine(p.fc, p.m, func(i int) real { return p.C(i, 0) })
		tr.note("A %v, x %v, y %v", a, x, y)
		err := tr.matrixResult(y, func(i, _ int) (real, bool) { return p.entry(alpha.real, beta.real, i, 0), true },
			func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
				return halfulp.Gemv(t, alpha.s, at(a), vectorAt(at, x), beta.s, vectorAt(at, y), opt)
			})
		return firstError(err, untouched(a.g, x.g))
	}
}

func runGemm(tA, tB halfulp.Transpose) func(tr *trial, f halfulp.Format, fam family) error {
	return func(tr *trial, f halfulp.Format, fam family) error {
		k := tr.size()
		if tr.IntN(8) == 0 {
			k = 100 + tr.IntN(200)
		}
		return tr.gemm(tA, tB, tr.problem(fam, tr.size(), tr.size(), k, f, false))
	}
}

func (tr *trial) gemm(tA, tB halfulp.Transpose, p *problem) error {
	alpha, beta := tr.scalars(p)
	tr.unread(p, alpha, beta)
	a := tr.placeOp(tA, p.fa, p.m, p.k, p.A)
	b := tr.placeOp(tB, p.fb, p.k, p.n, p.B)
	c := tr.place(p.fc, p.m, p.n, p.C)
	tr.note("A %v, B %v, C %v", a, b, c)
	tr.product, tr.format = true, p.fc.String()
	err := tr.matrixResult(c, func(i, j int) (real, bool) { return p.entry(alpha.real, beta.real, i, j), true },
		func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.Gemm(tA, tB, alpha.s, at(a), at(b), beta.s, at(c), opt)
		})
	return firstError(err, untouched(a.g, b.g))
}

func runSyrk(uplo halfulp.Uplo, t halfulp.Transpose) func(tr *trial, f halfulp.Format, fam family) error {
	return func(tr *trial, f halfulp.Format, fam family) error {
		n := tr.size()
		p := tr.problem(fam, n, n, tr.size(), f, false)
		p.n = min(p.n, p.m)
		p.m, p.fb, p.square = p.n, p.fa, true
		p = p.filled(fam)
		alpha, beta := tr.scalars(p)
		tr.unread(p, alpha, beta)
		in := func(i, j int) bool { return i == j || i < j == (uplo == halfulp.Upper) }
		a := tr.placeOp(t, p.fa, p.m, p.k, p.A)
		c := tr.place(p.fc, p.n, p.n, func(i, j int) real {
			if in(i, j) {
				return p.C(i, j)
			}
			return round(tr.garbage(p.fc), p.fc).real
		})
		tr.note("A %v, C %v", a, c)
		tr.product, tr.format = true, p.fc.String()
		err := tr.matrixResult(c, func(i, j int) (real, bool) {
			if !in(i, j) {
				return real{}, false
			}
			return p.entry(alpha.real, beta.real, i, j), true
		}, func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.Syrk(uplo, t, alpha.s, at(a), beta.s, at(c), opt)
		})
		return firstError(err, untouched(a.g))
	}
}
