package conformance

import "github.com/halfulp/halfulp"

// divided returns x / y for rounding to f, with the special values of IEEE 754.
func divided(f halfulp.Format, x, y real) real {
	neg := x.negative() != y.negative()
	switch {
	case x.class == notANumber, y.class == notANumber, x.class == y.class && x.class != finite:
		return nan
	case x.class == infinite, y.class == zero:
		return inf(neg)
	case x.class == zero, y.class == infinite:
		return real{neg: neg}
	}
	return quotientOf(f, x, y)
}

// substituted returns the results of Trsm for the matrix A of p, which has the structure s, and the
// right-hand sides alpha B. Each entry is computed from the rounded entries before it.
func substituted(p *problem, s structure, f halfulp.Format, alpha real, lower bool) []real {
	exact := make([]real, p.k*p.n)
	if alpha.class == zero {
		return exact
	}
	for j := range p.n {
		x := make([]real, p.k)
		for step := range p.k {
			i := step
			if !lower {
				i = p.k - 1 - step
			}
			ts := []real{alpha.times(p.B(i, j))}
			for h := range p.k {
				if h != i && s.present(i, h) {
					ts = append(ts, p.A(i, h).negated().times(x[h]))
				}
			}
			exact[i*p.n+j] = divided(f, sum(ts), p.A(i, i))
			x[i] = round(exact[i*p.n+j], f).real
		}
	}
	return exact
}

// system draws a triangular system with cols right-hand sides; flip selects how A is stored.
func (tr *trial) system(f halfulp.Format, fam family, cols int, flip halfulp.Transpose, uplo halfulp.Uplo) (*problem, structure, halfulp.Diag) {
	n := tr.order()
	p := &problem{r: tr.Rand, fa: tr.inputFormat(f), fb: f, fc: f}
	for cost := 1 + (p.fa.Bits()+2*f.Bits())/100; n*n*cols*cost > 40000; {
		if cols = cols / 2; cols == 0 {
			n, cols = n/2, 1
		}
	}
	p.m, p.n, p.k = n, cols, n
	p = p.filled(fam)
	s, diag := tr.triangular(other(uplo, flip))
	if tr.IntN(2) == 0 { // a dominant diagonal: the solution does not grow
		tr.note("dominant")
		for i := range p.k {
			p.a[i*p.k+i] = round(number(tr.Rand, min(p.fa.Bits(), 1+tr.IntN(200)), 9), p.fa).real
		}
	}
	p.residual = false
	s.impose(p)
	return p, s, diag
}

func runTrsv(tr *trial, f halfulp.Format, fam family) error {
	uplo, t := tr.uplo(), tr.transpose()
	p, s, diag := tr.system(f, fam, 1, t, uplo)
	a := s.place(tr, t, p)
	x := tr.placeLine(f, p.k, func(h int) real { return p.B(h, 0) })
	tr.note("%c diag %c A %v x %v", t, diag, a, x)
	exact := substituted(p, s, f, one, other(uplo, t) == halfulp.Lower)
	err := tr.matrixResult(x, func(i, _ int) (real, bool) { return exact[i], true },
		func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
			return halfulp.Trsv(uplo, t, diag, at(a), vectorAt(at, x), opt)
		})
	return firstError(err, untouched(a.g))
}

func runTrsm(tr *trial, f halfulp.Format, fam family) error {
	side, uplo, t := tr.side(), tr.uplo(), tr.transpose()
	flip := onRight(side, t)
	p, s, diag := tr.system(f, fam, tr.size(), flip, uplo)
	alpha, _ := tr.scalars(p)
	tr.unread(p, alpha, scalar{real: one})
	a := s.place(tr, flip, p)
	b := tr.onSide(side, f, p.k, p.n, p.B)
	tr.note("%c diag %c A %v, B %v", t, diag, a, b)
	exact := substituted(p, s, f, alpha.real, other(uplo, flip) == halfulp.Lower)
	tr.product, tr.format = true, f.String()
	err := tr.matrixResult(b, func(i, j int) (real, bool) {
		i, j = sided(side, i, j)
		return exact[i*p.n+j], true
	}, func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error {
		return halfulp.Trsm(side, uplo, t, diag, alpha.s, at(a), at(b), opt)
	})
	return firstError(err, untouched(a.g))
}
