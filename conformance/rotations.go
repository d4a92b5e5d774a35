package conformance

import (
	"math/big"

	"github.com/halfulp/halfulp"
)

// changes is the expected contents of an output: which entries change, and to which values.
type changes struct {
	out   *view
	exact func(i, j int) (real, bool)
}

// pairResult checks a routine that writes two outputs in different grids.
func (tr *trial) pairResult(x, y changes, call func(x, y *halfulp.Vector, opt *halfulp.Options) error) error {
	one := func(this, other changes, call func(this, other *halfulp.Vector, opt *halfulp.Options) error) error {
		over, under := other.counts()
		return tr.matrixResult(this.out, this.exact, func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			too := other.out.g.matrix().Clone()
			err := call(vectorAt(at, this.out), other.out.lineOn(tr.move(too)), opt)
			if err == nil {
				err = tr.back(too)
			}
			opt.Stats.Overflow -= over
			opt.Stats.Underflow -= under
			return err
		})
	}
	return firstError(one(x, y, call), one(y, x, func(y, x *halfulp.Vector, opt *halfulp.Options) error { return call(x, y, opt) }))
}

// counts returns the overflows and underflows of the expected contents.
func (c changes) counts() (over, under int64) {
	for j := range c.out.cols {
		for i := range c.out.rows {
			if x, ok := c.exact(i, j); ok {
				w := round(x, c.out.g.format)
				if w.overflow {
					over++
				}
				if w.underflow {
					under++
				}
			}
		}
	}
	return over, under
}

// lines draws two vectors of one length: x in the format of a factor, y in the format of the
// result.
func (tr *trial) lines(f halfulp.Format, fam family) (p *problem, x, y *view) {
	p = tr.problem(fam, tr.length(), 1, 1, f, true)
	x = tr.placeLine(p.fa, p.m, func(i int) real { return p.a[i] })
	y = tr.placeLine(p.fc, p.m, func(i int) real { return p.c[i] })
	tr.note("x %v, y %v", x, y)
	return p, x, y
}

func runCopy(tr *trial, f halfulp.Format, fam family) error {
	_, x, y := tr.lines(f, fam)
	err := tr.matrixResult(y, func(i, _ int) (real, bool) { return x.at(i, 0), true },
		func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.Copy(vectorAt(at, x), vectorAt(at, y), opt)
		})
	return firstError(err, untouched(x.g))
}

func runSwap(tr *trial, f halfulp.Format, fam family) error {
	_, x, y := tr.lines(f, fam)
	return tr.pairResult(changes{x, func(i, _ int) (real, bool) { return y.at(i, 0), true }},
		changes{y, func(i, _ int) (real, bool) { return x.at(i, 0), true }}, halfulp.Swap)
}

func runRot(tr *trial, f halfulp.Format, fam family) error {
	p, x, y := tr.lines(f, fam)
	c, s := tr.scalars(p)
	return tr.pairResult(changes{x, func(i, _ int) (real, bool) {
		return sum([]real{c.times(x.at(i, 0)), s.times(y.at(i, 0))}), true
	}}, changes{y, func(i, _ int) (real, bool) {
		return sum([]real{c.times(y.at(i, 0)), s.negated().times(x.at(i, 0))}), true
	}}, func(x, y *halfulp.Vector, opt *halfulp.Options) error {
		return halfulp.Rot(x, y, c.s, s.s, opt)
	})
}

func runRotm(tr *trial, f halfulp.Format, fam family) error {
	p, x, y := tr.lines(f, fam)
	h11, h12 := tr.scalars(p)
	h21, h22 := tr.scalars(p)
	flag := halfulp.RotmFlag(tr.IntN(4) - 2)
	tr.note("flag %d", flag)
	params := halfulp.RotmParams{Flag: flag, H11: h11.s, H21: h21.s, H12: h12.s, H22: h22.s}
	switch flag {
	case halfulp.RotmOffDiagonal:
		h11.real, h22.real = one, one
	case halfulp.RotmDiagonal:
		h12.real, h21.real = one, pow2(-1, 0)
	}
	changed := flag != halfulp.RotmIdentity
	return tr.pairResult(changes{x, func(i, _ int) (real, bool) {
		return sum([]real{h11.times(x.at(i, 0)), h12.times(y.at(i, 0))}), changed
	}}, changes{y, func(i, _ int) (real, bool) {
		return sum([]real{h21.times(x.at(i, 0)), h22.times(y.at(i, 0))}), changed
	}}, func(x, y *halfulp.Vector, opt *halfulp.Options) error {
		return halfulp.Rotm(x, y, params, opt)
	})
}

// scalarResults checks a routine with several scalar results, whose exact values are x.
func (tr *trial) scalarResults(x []real, f halfulp.Format, call func(opt *halfulp.Options) ([]halfulp.Scalar, error)) error {
	want := make([]halfulp.Scalar, len(x))
	var over, under int64
	for k, t := range x {
		w := round(t, f)
		want[k] = scalarOf(f, w.real)
		if err := w.stored(want[k]); err != nil {
			return err
		}
		if w.overflow {
			over++
		}
		if w.underflow {
			under++
		}
	}
	return tr.under(func(c config, opt *halfulp.Options) error {
		got, err := call(opt)
		if err != nil {
			return err
		}
		for k := range got {
			if !got[k].Same(want[k]) {
				return mismatchf("number %d of %d\ngot   %v\nwant  %v\nexact %v", k, len(got), describe(got[k]), realOf(want[k]), x[k])
			}
		}
		if st := opt.Stats; st.Overflow != over || st.Underflow != under {
			return mismatchf("Stats counts %d overflows, %d underflows, want %d, %d", st.Overflow, st.Underflow, over, under)
		}
		return nil
	})
}

// few draws n numbers of a family in a format, some of which may be alike or far apart.
func (tr *trial) few(f halfulp.Format, fam family, n int) []scalar {
	p := tr.problem(fam, 1, 1, n, f, true)
	for k := range p.a {
		switch tr.IntN(8) {
		case 0:
			p.a[k] = p.a[tr.IntN(n)]
		case 1:
			p.a[k] = p.a[tr.IntN(n)].negated()
		case 2: // far apart
			if p.fa.IsMP() && p.a[k].class == finite && p.a[k].top() > -1<<30 && p.a[k].top() < 1<<30 {
				p.a[k] = p.a[k].scaled(tr.Int64N(200000) - 100000)
			}
		case 3:
			if p.a[k].class == finite {
				p.a[k] = round(pow2(sign(tr.Rand), p.a[k].top()-tr.Int64N(60)), p.fa).real
			}
		}
	}
	s := make([]scalar, n)
	for k := range s {
		s[k] = newScalar(p.fa, p.a[k])
		tr.note("%v %v", p.fa, p.a[k])
	}
	return s
}

// quotientOf returns x / y for rounding to f.
func quotientOf(f halfulp.Format, x, y real) real {
	if x.class != finite {
		return real{}
	}
	x = x.scaled(-y.e)
	q := x.ratio(new(big.Int).Abs(y.n), fine(f, x.top()-int64(y.n.BitLen())))
	if y.n.Sign() < 0 {
		return q.negated()
	}
	return q
}

// rootOfQuotient returns sqrt(x / y) for rounding to f, negated for neg.
func rootOfQuotient(f halfulp.Format, x, y real, neg bool) real {
	x = x.scaled(-y.e)
	z := x.root(y.n, fine(f, (x.top()-int64(y.n.BitLen()))/2))
	if neg {
		return z.negated()
	}
	return z
}

func runRotg(tr *trial, f halfulp.Format, fam family) error {
	v := tr.few(f, fam, 2)
	if fam.name == "ties" || fam.name == "ties and a tiny term" {
		_, w := tr.tieOfNorm(f, false)
		in := halfulp.MP(uint(f.Bits() + 3))
		v = []scalar{newScalar(in, w[0]), newScalar(in, w[1])}
	}
	a, b := v[0].real, v[1].real
	var want []real
	switch {
	case a.class == notANumber || b.class == notANumber:
		want = []real{nan, nan, nan, nan}
	case b.class == zero:
		want = []real{one, {}, a, {}}
	case a.class == zero:
		want = []real{{}, one, b, one}
	case a.class == infinite && b.class == infinite:
		want = []real{nan, nan, b, nan}
	case a.class == infinite:
		s := real{neg: a.neg != b.negative()}
		want = []real{one, s, a, s}
	case b.class == infinite:
		neg := a.negative() != b.neg
		want = []real{{neg: neg}, one, b, inf(neg)}
	default:
		aa, bb := a.times(a), b.times(b)
		d := wholeSum([]real{aa, bb})
		neg := b.negative()
		if cmpAbs(a, b) > 0 {
			neg = a.negative()
		}
		c := rootOfQuotient(f, aa, d, a.negative() != neg)
		s := rootOfQuotient(f, bb, d, b.negative() != neg)
		z := s
		if cmpAbs(a, b) <= 0 {
			z = rootOfQuotient(f, d, aa, a.negative() != neg)
		}
		want = []real{c, s, rootOfQuotient(f, d, one, neg), z}
	}
	return tr.scalarResults(want, f, func(opt *halfulp.Options) ([]halfulp.Scalar, error) {
		g, err := halfulp.Rotg(v[0].s, v[1].s, f, opt)
		return []halfulp.Scalar{g.C, g.S, g.R, g.Z}, err
	})
}

// rational is n / d 2^e.
type rational struct {
	n, d real
	e    int64
}

// versus compares |q| and 2^e.
func (q rational) versus(e int64) int { return cmpAbs(q.n, q.d.scaled(e-q.e)) }

// rotmg is the routine of the reference BLAS in exact arithmetic.
func rotmg(d1, d2, x1, y1 real) (flag halfulp.RotmFlag, h [4]rational, d [2]rational, x rational) {
	zeros := func(f halfulp.RotmFlag) (halfulp.RotmFlag, [4]rational, [2]rational, rational) {
		return f, [4]rational{}, [2]rational{}, rational{}
	}
	unit := rational{n: one, d: one}
	if d1.class == finite && d1.negative() {
		return zeros(halfulp.RotmRescaling)
	}
	p2 := d2.times(y1)
	if p2.class == zero {
		return halfulp.RotmIdentity, [4]rational{}, [2]rational{{n: d1, d: one}, {n: d2, d: one}}, rational{n: x1, d: one}
	}
	p1 := d1.times(x1)
	q1, q2 := p1.times(x1), p2.times(y1)
	total := wholeSum([]real{q1, q2})
	switch {
	case cmpAbs(q1, q2) > 0:
		flag = halfulp.RotmOffDiagonal
		h[1], h[2] = rational{n: y1.negated(), d: x1}, rational{n: p2, d: p1}
		d[0], d[1] = rational{n: d1.times(q1), d: total}, rational{n: d2.times(q1), d: total}
		x = rational{n: total, d: p1}
	case q2.negative():
		return zeros(halfulp.RotmRescaling)
	default:
		flag = halfulp.RotmDiagonal
		h[0], h[3] = rational{n: p1, d: p2}, rational{n: x1, d: y1}
		d[0], d[1] = rational{n: d2.times(q2), d: total}, rational{n: d1.times(q2), d: total}
		x = rational{n: total, d: p2}
	}
	for i := range d {
		for d[i].n.class == finite && (d[i].versus(-24) <= 0 || d[i].versus(24) >= 0) {
			switch flag {
			case halfulp.RotmOffDiagonal:
				h[0], h[3] = unit, unit
			case halfulp.RotmDiagonal:
				h[1], h[2] = rational{n: pow2(-1, 0), d: one}, unit
			}
			flag = halfulp.RotmRescaling
			// Many steps at once, and the last one by one.
			steps := int64(-1)
			if d[i].versus(-24) <= 0 {
				steps = 1
			}
			for _, jump := range []int64{1 << 20, 1 << 10} {
				for d[i].versus(-24*jump) <= 0 && steps > 0 && steps < jump || d[i].versus(24*jump) >= 0 && steps < 0 && -steps < jump {
					steps *= jump
				}
			}
			d[i].e += 24 * steps
			h[i].e -= 12 * steps
			h[2+i].e -= 12 * steps
			if i == 0 {
				x.e -= 12 * steps
			}
		}
	}
	return flag, h, d, x
}

func runRotmg(tr *trial, f halfulp.Format, fam family) error {
	v := tr.few(f, fam, 4)
	if tr.IntN(4) != 0 && v[0].class == finite && v[0].negative() {
		v[0] = newScalar(v[0].s.NumberFormat(), v[0].real.negated())
		tr.note("but the first one positive")
	}
	special := false
	for _, t := range v {
		special = special || t.class > finite
	}
	var want []real
	flag := halfulp.RotmRescaling
	if special {
		want = []real{nan, nan, nan, nan, nan, nan, nan}
	} else {
		var h [4]rational
		var d [2]rational
		var x rational
		flag, h, d, x = rotmg(v[0].real, v[1].real, v[2].real, v[3].real)
		for _, q := range append(append(h[:], d[:]...), x) {
			switch {
			case flag == halfulp.RotmIdentity && q.d.class == finite:
				want = append(want, q.n)
			case q.n.class != finite:
				want = append(want, real{})
			default:
				want = append(want, quotientOf(f, q.n.scaled(q.e), q.d))
			}
		}
	}
	return tr.scalarResults(want, f, func(opt *halfulp.Options) ([]halfulp.Scalar, error) {
		g, err := halfulp.Rotmg(v[0].s, v[1].s, v[2].s, v[3].s, f, opt)
		if err == nil && g.Flag != flag {
			return nil, mismatchf("flag %d, want %d", g.Flag, flag)
		}
		return []halfulp.Scalar{g.H11, g.H21, g.H12, g.H22, g.D1, g.D2, g.X1}, err
	})
}
