package conformance

import (
	"github.com/halfulp/halfulp"
)

// structure describes which entries of a matrix may be nonzero, and which of them are stored.
type structure struct {
	present, stored func(i, j int) bool
	mirror          bool // other entries equal entries of the transpose
	unit            bool // the diagonal is 1
}

func everywhere(i, j int) bool { return true }

// inTriangle reports whether (i, j) lies in a triangle.
func inTriangle(uplo halfulp.Uplo, i, j int) bool {
	return i == j || i < j == (uplo == halfulp.Upper)
}

func symmetric(uplo halfulp.Uplo) structure {
	return structure{everywhere, func(i, j int) bool { return inTriangle(uplo, i, j) }, true, false}
}

func (tr *trial) triangular(uplo halfulp.Uplo) (structure, halfulp.Diag) {
	in := func(i, j int) bool { return inTriangle(uplo, i, j) }
	if tr.IntN(2) == 0 {
		return structure{in, func(i, j int) bool { return i != j && in(i, j) }, false, true}, halfulp.Unit
	}
	return structure{in, in, false, false}, halfulp.NonUnit
}

// impose gives the factor A of p the structure.
func (s structure) impose(p *problem) {
	for i := range p.m {
		for h := range p.k {
			switch {
			case s.unit && i == h:
				p.a[i*p.k+h] = one
			case s.mirror && !s.stored(i, h) && s.present(i, h):
				p.a[i*p.k+h] = p.a[h*p.k+i]
			}
		}
	}
	if !p.residual {
		return
	}
	for i := range p.m {
		for j := range p.n {
			p.c[i*p.n+j] = round(s.entry(p, one, real{}, i, j), p.fc).real
		}
	}
}

// entry is problem.entry for the entries that the structure has.
func (s structure) entry(p *problem, alpha, beta real, i, j int) real {
	var cols []int
	for h := range p.k {
		if s.present(i, h) {
			cols = append(cols, h)
		}
	}
	return entry(alpha, beta, len(cols), func(h int) (real, real) { return p.A(i, cols[h]), p.B(cols[h], j) }, p.C(i, j))
}

// place places op(A) so that op with t gives p's A, with garbage for all entries that are not
// stored.
func (s structure) place(tr *trial, t halfulp.Transpose, p *problem) *view {
	return tr.placeOp(t, p.fa, p.m, p.k, func(i, j int) real {
		if s.stored(i, j) {
			return p.A(i, j)
		}
		return round(tr.garbage(p.fa), p.fa).real
	})
}

// order draws the order of a matrix; from about order 32 on matrices are gathered in blocks.
func (tr *trial) order() int {
	if tr.IntN(2) == 0 {
		return 32 + tr.IntN(70)
	}
	return tr.size()
}

// squareProblem draws a problem with a square A.
func (tr *trial) squareProblem(fam family, n, cols int, f halfulp.Format) *problem {
	p := tr.problem(fam, n, cols, n, f, false)
	p.m = min(p.m, p.k)
	p.k = p.m
	return p.filled(fam)
}

// other returns the triangle of op(A) that is stored as uplo of A.
func other(uplo halfulp.Uplo, t halfulp.Transpose) halfulp.Uplo {
	switch {
	case t == halfulp.NoTrans:
		return uplo
	case uplo == halfulp.Upper:
		return halfulp.Lower
	}
	return halfulp.Upper
}

func (tr *trial) transpose() halfulp.Transpose {
	return []halfulp.Transpose{halfulp.NoTrans, halfulp.Trans, halfulp.ConjTrans}[tr.IntN(3)]
}

func (tr *trial) uplo() halfulp.Uplo {
	u := []halfulp.Uplo{halfulp.Upper, halfulp.Lower}[tr.IntN(2)]
	tr.note("uplo %c", u)
	return u
}

// vectorProduct checks a product of a structured matrix with a vector.
func (tr *trial) vectorProduct(p *problem, s structure, alpha, beta scalar, x *view,
	call func(x, y *halfulp.Vector, opt *halfulp.Options) error) error {
	y := tr.placeLine(p.fc, p.m, func(i int) real { return p.C(i, 0) })
	tr.note("x %v, y %v", x, y)
	return tr.matrixResult(y, func(i, _ int) (real, bool) { return s.entry(p, alpha.real, beta.real, i, 0), true },
		func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return call(vectorAt(at, x), vectorAt(at, y), opt)
		})
}

func runGbmv(tr *trial, f halfulp.Format, fam family) error {
	t := tr.transpose()
	p := tr.problem(fam, tr.order(), 1, tr.order(), f, false)
	kl, ku := tr.IntN(p.m+2), tr.IntN(p.k+2) // of op(A)
	if tr.IntN(3) == 0 {
		kl, ku = tr.IntN(4), tr.IntN(4)
	}
	below, above := kl, ku
	in := func(i, j int) bool { return i-j <= below && j-i <= above }
	s := structure{in, in, false, false}
	s.impose(p)
	alpha, beta := tr.scalars(p)
	tr.unread(p, alpha, beta)
	m, cols := p.m, p.k
	at := p.A
	if t != halfulp.NoTrans {
		m, cols, kl, ku = cols, m, ku, kl
		at = func(i, j int) real { return p.A(j, i) }
	}
	ab := tr.place(p.fa, kl+ku+1, cols, func(r, j int) real {
		if i := r - ku + j; i >= 0 && i < m {
			return at(i, j)
		}
		return round(tr.garbage(p.fa), p.fa).real
	})
	x := tr.placeLine(p.fb, p.k, func(h int) real { return p.B(h, 0) })
	tr.note("%c m %d kl %d ku %d AB %v", t, m, kl, ku, ab)
	err := tr.vectorProduct(p, s, alpha, beta, x, func(x, y *halfulp.Vector, opt *halfulp.Options) error {
		return halfulp.Gbmv(t, m, kl, ku, alpha.s, ab.on(tr.move(ab.g.matrix())), x, beta.s, y, opt)
	})
	return firstError(err, untouched(ab.g, x.g))
}

func runSymv(tr *trial, f halfulp.Format, fam family) error {
	p := tr.squareProblem(fam, tr.order(), 1, f)
	uplo := tr.uplo()
	s := symmetric(uplo)
	s.impose(p)
	alpha, beta := tr.scalars(p)
	tr.unread(p, alpha, beta)
	a := s.place(tr, halfulp.NoTrans, p)
	x := tr.placeLine(p.fb, p.k, func(h int) real { return p.B(h, 0) })
	tr.note("A %v", a)
	err := tr.vectorProduct(p, s, alpha, beta, x, func(x, y *halfulp.Vector, opt *halfulp.Options) error {
		return halfulp.Symv(uplo, alpha.s, a.on(tr.move(a.g.matrix())), x, beta.s, y, opt)
	})
	return firstError(err, untouched(a.g, x.g))
}

func runSbmv(tr *trial, f halfulp.Format, fam family) error {
	p := tr.squareProblem(fam, tr.order(), 1, f)
	uplo := tr.uplo()
	k := tr.IntN(p.k + 2)
	if tr.IntN(3) == 0 {
		k = tr.IntN(4)
	}
	s := symmetric(uplo)
	s.present = func(i, j int) bool { return i-j <= k && j-i <= k }
	s.impose(p)
	alpha, beta := tr.scalars(p)
	tr.unread(p, alpha, beta)
	ab := tr.place(p.fa, k+1, p.k, func(r, j int) real {
		i := r + j
		if uplo == halfulp.Upper {
			i = r - k + j
		}
		if i >= 0 && i < p.k {
			return p.A(i, j)
		}
		return round(tr.garbage(p.fa), p.fa).real
	})
	x := tr.placeLine(p.fb, p.k, func(h int) real { return p.B(h, 0) })
	tr.note("k %d AB %v", k, ab)
	err := tr.vectorProduct(p, s, alpha, beta, x, func(x, y *halfulp.Vector, opt *halfulp.Options) error {
		return halfulp.Sbmv(uplo, k, alpha.s, ab.on(tr.move(ab.g.matrix())), x, beta.s, y, opt)
	})
	return firstError(err, untouched(ab.g, x.g))
}

func runSpmv(tr *trial, f halfulp.Format, fam family) error {
	p := tr.squareProblem(fam, tr.order(), 1, f)
	uplo := tr.uplo()
	s := symmetric(uplo)
	s.impose(p)
	alpha, beta := tr.scalars(p)
	tr.unread(p, alpha, beta)
	var list []real // column by column
	for j := range p.k {
		for i := range p.k {
			if s.stored(i, j) {
				list = append(list, p.A(i, j))
			}
		}
	}
	ap := tr.placeLine(p.fa, len(list), func(i int) real { return list[i] })
	x := tr.placeLine(p.fb, p.k, func(h int) real { return p.B(h, 0) })
	tr.note("AP %v", ap)
	err := tr.vectorProduct(p, s, alpha, beta, x, func(x, y *halfulp.Vector, opt *halfulp.Options) error {
		return halfulp.Spmv(uplo, alpha.s, tr.vectorOf(ap), x, beta.s, y, opt)
	})
	return firstError(err, untouched(ap.g, x.g))
}

func runTrmv(tr *trial, f halfulp.Format, fam family) error {
	p := tr.squareProblem(fam, tr.order(), 1, f)
	p.fb = f
	p = p.filled(fam)
	uplo, t := tr.uplo(), tr.transpose()
	s, diag := tr.triangular(other(uplo, t))
	s.impose(p)
	a := s.place(tr, t, p)
	x := tr.placeLine(f, p.k, func(h int) real { return p.B(h, 0) })
	tr.note("%c diag %c A %v x %v", t, diag, a, x)
	err := tr.matrixResult(x, func(i, _ int) (real, bool) { return s.entry(p, one, real{}, i, 0), true },
		func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.Trmv(uplo, t, diag, at(a), vectorAt(at, x), opt)
		})
	return firstError(err, untouched(a.g))
}

// triangleUpdate checks an update of a triangle by alpha (A Bᵀ + B Aᵀ) + beta C with k columns, or
// if half is set by alpha A Aᵀ + beta C.
func (tr *trial) triangleUpdate(f halfulp.Format, fam family, k int, half, vectors bool,
	call func(uplo halfulp.Uplo, t halfulp.Transpose, alpha halfulp.Scalar, a, b *halfulp.Matrix, beta halfulp.Scalar, c *halfulp.Matrix, opt *halfulp.Options) error) error {
	n := tr.size()
	p := tr.problem(fam, n, n, k, f, false)
	p.n = min(p.n, p.m)
	p.m = p.n
	p = p.filled(fam)
	uplo, t := tr.uplo(), halfulp.NoTrans
	if !vectors {
		t = tr.transpose()
	}
	alpha, beta := tr.scalars(p)
	if vectors {
		beta = newScalar(halfulp.Float64, one)
		tr.note("but beta 1")
	}
	tr.unread(p, alpha, beta)
	A, B, fb := p.A, func(i, h int) real { return p.B(h, i) }, p.fb
	if half {
		B, fb = A, p.fa
	}
	exact := func(i, j int) real {
		pairs := 2
		if half {
			pairs = 1
		}
		return entry(alpha.real, beta.real, pairs*p.k, func(h int) (real, real) {
			if h < p.k {
				return A(i, h), B(j, h)
			}
			return B(i, h-p.k), A(j, h-p.k)
		}, p.C(i, j))
	}
	if p.residual {
		for i := range p.m {
			for j := range p.n {
				c := p.c[i*p.n+j]
				p.c[i*p.n+j] = real{}
				if x := exact(i, j); x.class == finite {
					c = round(x, f).real
				}
				p.c[i*p.n+j] = c
			}
		}
	}
	var a, b *view
	if vectors {
		a, b = tr.placeLine(p.fa, p.m, func(i int) real { return A(i, 0) }), tr.placeLine(fb, p.m, func(i int) real { return B(i, 0) })
	} else {
		a, b = tr.placeOp(t, p.fa, p.m, p.k, A), tr.placeOp(t, fb, p.m, p.k, B)
	}
	c := tr.place(f, p.n, p.n, func(i, j int) real {
		if inTriangle(uplo, i, j) {
			return p.C(i, j)
		}
		return round(tr.garbage(f), f).real
	})
	tr.note("%c A %v B %v C %v", t, a, b, c)
	tr.product, tr.format = true, f.String()
	err := tr.matrixResult(c, func(i, j int) (real, bool) {
		if !inTriangle(uplo, i, j) {
			return real{}, false
		}
		return exact(i, j), true
	}, func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
		return call(uplo, t, alpha.s, at(a), at(b), beta.s, at(c), opt)
	})
	return firstError(err, untouched(a.g, b.g))
}

func runSyr(tr *trial, f halfulp.Format, fam family) error {
	return tr.triangleUpdate(f, fam, 1, true, true, func(uplo halfulp.Uplo, _ halfulp.Transpose, alpha halfulp.Scalar, x, _ *halfulp.Matrix, _ halfulp.Scalar, a *halfulp.Matrix, opt *halfulp.Options) error {
		return halfulp.Syr(uplo, alpha, x.Col(0), a, opt)
	})
}

func runSyr2(tr *trial, f halfulp.Format, fam family) error {
	return tr.triangleUpdate(f, fam, 1, false, true, func(uplo halfulp.Uplo, _ halfulp.Transpose, alpha halfulp.Scalar, x, y *halfulp.Matrix, _ halfulp.Scalar, a *halfulp.Matrix, opt *halfulp.Options) error {
		return halfulp.Syr2(uplo, alpha, x.Col(0), y.Col(0), a, opt)
	})
}

func runSyr2k(tr *trial, f halfulp.Format, fam family) error {
	return tr.triangleUpdate(f, fam, tr.size(), false, false, halfulp.Syr2k)
}

// onSide places the result of a product A B, or its transpose for the right side.
func (tr *trial) onSide(side halfulp.Side, f halfulp.Format, rows, cols int, x func(i, j int) real) *view {
	if side == halfulp.Left {
		return tr.place(f, rows, cols, x)
	}
	return tr.place(f, cols, rows, func(i, j int) real { return x(j, i) })
}

func (tr *trial) side() halfulp.Side {
	s := []halfulp.Side{halfulp.Left, halfulp.Right}[tr.IntN(2)]
	tr.note("side %c", s)
	return s
}

// onRight returns how the factor on a side is transposed as p's A: B op(A) is the transpose of
// op(A)ᵀ Bᵀ.
func onRight(side halfulp.Side, t halfulp.Transpose) halfulp.Transpose {
	switch {
	case side == halfulp.Left:
		return t
	case t == halfulp.NoTrans:
		return halfulp.Trans
	}
	return halfulp.NoTrans
}

// sided returns the indices in the product A B of entry (i, j) of the result.
func sided(side halfulp.Side, i, j int) (int, int) {
	if side == halfulp.Left {
		return i, j
	}
	return j, i
}

func runSymm(tr *trial, f halfulp.Format, fam family) error {
	p := tr.squareProblem(fam, tr.order(), tr.size(), f)
	side, uplo := tr.side(), tr.uplo()
	s := symmetric(uplo)
	s.impose(p)
	alpha, beta := tr.scalars(p)
	tr.unread(p, alpha, beta)
	a := s.place(tr, halfulp.NoTrans, p)
	b, c := tr.onSide(side, p.fb, p.k, p.n, p.B), tr.onSide(side, f, p.m, p.n, p.C)
	tr.note("A %v, B %v, C %v", a, b, c)
	tr.product, tr.format = true, f.String()
	err := tr.matrixResult(c, func(i, j int) (real, bool) {
		i, j = sided(side, i, j)
		return s.entry(p, alpha.real, beta.real, i, j), true
	}, func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
		return halfulp.Symm(side, uplo, alpha.s, at(a), at(b), beta.s, at(c), opt)
	})
	return firstError(err, untouched(a.g, b.g))
}

func runTrmm(tr *trial, f halfulp.Format, fam family) error {
	p := tr.squareProblem(fam, tr.order(), tr.size(), f)
	p.fb = f
	p = p.filled(fam)
	side, uplo, t := tr.side(), tr.uplo(), tr.transpose()
	flip := onRight(side, t)
	s, diag := tr.triangular(other(uplo, flip))
	s.impose(p)
	alpha, _ := tr.scalars(p)
	tr.unread(p, alpha, scalar{real: one})
	a := s.place(tr, flip, p)
	b := tr.onSide(side, f, p.k, p.n, p.B)
	tr.note("%c diag %c A %v, B %v", t, diag, a, b)
	tr.product, tr.format = true, f.String()
	err := tr.matrixResult(b, func(i, j int) (real, bool) {
		i, j = sided(side, i, j)
		return s.entry(p, alpha.real, real{}, i, j), true
	}, func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
		return halfulp.Trmm(side, uplo, t, diag, alpha.s, at(a), at(b), opt)
	})
	return firstError(err, untouched(a.g))
}
