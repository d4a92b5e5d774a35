package main

// #include "library.h"
import "C"

import (
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/linsolve"
)

// withStats returns options with statistics, which tell how many entries are undecided.
func withStats(opt *halfulp.Options) halfulp.Options {
	o := orDefaults(opt)
	if o.Stats == nil {
		o.Stats = new(halfulp.Stats)
	}
	return o
}

// where returns the memory of a record's matrices, which live where a does; nil on the host.
func where(a *halfulp.Matrix, matrices ...*halfulp.Matrix) *memory {
	if a.Device() == halfulp.CPU {
		return nil
	}
	return &memory{at: place.Of(a.View().Arr), free: func() {
		for _, m := range matrices {
			discard(m)
		}
	}}
}

// addClusters adds runs of values that are not separated, and the number of undecided entries.
func (r *record) addClusters(clusters [][2]int, undecided int) {
	ends := []int{}
	for _, c := range clusters {
		ends = append(ends, c[0], c[1])
	}
	r.add("clusters", ends)
	r.add("undecided", undecided)
}

// eigh returns eigenvalues and eigenvectors of A x = λ x, or of A x = λ B x unless b is nil. One
// triangle of each matrix is read.
func eigh(uplo halfulp.Uplo, a, b *halfulp.Matrix, vectors bool, first, last int, above, upTo *halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (*record, error) {
	needSquare(a)
	n := a.Rows()
	if b != nil && (b.Rows() != n || b.Cols() != n) {
		panic(misuse("a is %d x %[1]d, b is %d x %d: they need the same shape", n, b.Rows(), b.Cols()))
	}
	if last == -1 {
		last = n - 1
	}
	o := eigen.SymOptions{Options: withStats(opt), ValuesOnly: !vectors, Above: bounded(above, -1), UpTo: bounded(upTo, 1)}
	if first != 0 || last != n-1 {
		if first < 0 || first > last || last >= n {
			panic(misuse("arguments first and last: there are no eigenvalues %d to %d of %d", first, last, n))
		}
		o.Index = &[2]int{first, last}
	}
	if err := checkMemory(f, n, n); err != nil {
		return nil, err
	}
	whole, free, err := symmetric(uplo, a)
	if err != nil {
		return nil, err
	}
	defer free()
	var z *eigen.SymResult
	if b == nil {
		z, err = eigen.Sym(whole, f, &o)
	} else {
		right, free, mirrored := symmetric(uplo, b)
		if mirrored != nil {
			return nil, mirrored
		}
		defer free()
		z, err = eigen.SymGeneral(whole, right, f, &o)
	}
	if err != nil {
		return nil, err
	}
	w := z.Values.Matrix()
	r := &record{memory: where(a, w, z.Vectors)}
	r.add("w", w)
	if z.Vectors != nil {
		r.add("V", z.Vectors)
	}
	r.add("first", z.First)
	r.addClusters(z.Clusters, o.Stats.Undecided)
	return r, nil
}

// bounded returns a bound of eigenvalues, or nil for an infinity of the given sign, which is none.
func bounded(x *halfulp.Scalar, sign int) *halfulp.Scalar {
	switch {
	case x == nil || x.IsInf(sign):
		return nil
	case x.IsNaN() || x.IsInf(-sign):
		panic(misuse("no eigenvalue can be compared with %v", *x))
	}
	return x
}

// symmetric returns a copy of a, where a lives, whose other triangle mirrors the given one, and the
// function that frees it.
func symmetric(uplo halfulp.Uplo, a *halfulp.Matrix) (*halfulp.Matrix, func(), error) {
	h, err := a.Host()
	if err != nil {
		return nil, nil, err
	}
	m := h.Clone()
	for j := range m.Cols() {
		for i := range j {
			if uplo == halfulp.Upper {
				m.Set(j, i, m.At(i, j))
			} else {
				m.Set(i, j, m.At(j, i))
			}
		}
	}
	if a.Device() == halfulp.CPU {
		return m, func() {}, nil
	}
	m, err = m.On(a.Device())
	if err != nil {
		return nil, nil, err
	}
	return m, m.Free, nil
}

func svd(a *halfulp.Matrix, vectors, full bool, largest int, f halfulp.Format, opt *halfulp.Options) (*record, error) {
	k := min(a.Rows(), a.Cols())
	if largest < 0 || largest > k {
		panic(misuse("argument largest: %d; the matrix has %d singular values", largest, k))
	}
	if full && largest != 0 && largest != k {
		panic(misuse("argument full: all vectors need all singular values, not the %d largest", largest))
	}
	if vectors {
		rows := max(a.Rows(), a.Cols())
		if err := checkMemory(f, rows, k); err != nil {
			return nil, err
		}
		if err := checkMemory(f, rows, rows); full && err != nil {
			return nil, err
		}
	}
	o := eigen.SVDOptions{Options: withStats(opt), ValuesOnly: !vectors, Full: full, Largest: largest}
	z, err := eigen.SVD(a, f, &o)
	if err != nil {
		return nil, err
	}
	s := z.S.Matrix()
	r := &record{memory: where(a, s, z.U, z.V)}
	r.add("s", s)
	if vectors {
		r.add("U", z.U)
		r.add("Vt", z.V.T())
	}
	r.addClusters(z.Clusters, o.Stats.Undecided)
	return r, nil
}

// tolerance returns the tolerance of rcond, nil for none and for 0: the rank is then exact.
func tolerance(rcond *halfulp.Scalar) *halfulp.Scalar {
	if rcond == nil || rcond.Sign() == 0 && !rcond.IsNaN() {
		return nil
	}
	return rcond
}

func pinv(a *halfulp.Matrix, rcond *halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, int, error) {
	if err := checkMemory(f, a.Cols(), a.Rows()); err != nil {
		return nil, 0, err
	}
	o := withStats(opt)
	z, err := eigen.Pinv(a, f, &eigen.Options{Options: o, RCond: tolerance(rcond)})
	return z, o.Stats.Undecided, err
}

func nullSpace(a *halfulp.Matrix, rcond *halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, int, error) {
	if err := checkMemory(f, a.Cols(), a.Cols()); err != nil {
		return nil, 0, err
	}
	o := withStats(opt)
	z, err := eigen.NullSpace(a, f, &eigen.Options{Options: o, RCond: tolerance(rcond)})
	return z, o.Stats.Undecided, err
}

func rank(a *halfulp.Matrix, rcond *halfulp.Scalar, opt *halfulp.Options) (int, error) {
	return eigen.Rank(a, &eigen.Options{Options: orDefaults(opt), RCond: tolerance(rcond)})
}

// checkLeastSquares panics if the shapes of a least squares problem do not fit, and returns an
// error if its result does not fit in memory.
func checkLeastSquares(a, b *halfulp.Matrix, f halfulp.Format) error {
	if a.Rows() != b.Rows() {
		panic(misuse("a is %d x %d, b is %d x %d: they need as many rows", a.Rows(), a.Cols(), b.Rows(), b.Cols()))
	}
	return checkMemory(f, a.Cols(), b.Cols())
}

func leastSquares(a, b *halfulp.Matrix, w *halfulp.Vector, rcond *halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, int, error) {
	if err := checkLeastSquares(a, b, f); err != nil {
		return nil, 0, err
	}
	checkWeights(a.Rows(), w)
	o := withStats(opt)
	z, err := eigen.LeastSquares(a, b, f, &eigen.LeastSquaresOptions{Options: eigen.Options{Options: o, RCond: tolerance(rcond)}, Weights: w})
	return z, o.Stats.Undecided, err
}

// leastSquaresRank returns a solution of least squares with the singular values of A and the rank.
func leastSquaresRank(a, b *halfulp.Matrix, rcond *halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (*record, error) {
	if err := checkLeastSquares(a, b, f); err != nil {
		return nil, err
	}
	o := withStats(opt)
	s, rank, err := values(a, rcond, f, &o)
	if err != nil {
		return nil, err
	}
	// A of full rank has no singular value that is treated as 0.
	c := tolerance(rcond)
	if rank == min(a.Rows(), a.Cols()) {
		c = nil
	}
	o.Stats.Undecided = 0
	x, err := eigen.LeastSquares(a, b, f, &eigen.LeastSquaresOptions{Options: eigen.Options{Options: o, RCond: c}})
	if err != nil {
		discard(s)
		return nil, err
	}
	r := &record{memory: where(a, x, s)}
	r.add("X", x)
	r.add("s", s)
	r.add("rank", rank)
	r.add("undecided", o.Stats.Undecided)
	return r, nil
}

// values returns the singular values of a in format f, and the number of those above c times the
// largest, which is counted as eigen.LeastSquares does: all are rounded to the bits of f, with
// exponents of any size.
func values(a *halfulp.Matrix, c *halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, int, error) {
	wide := halfulp.MP(uint(f.Bits()))
	z, err := eigen.SVD(a, wide, &eigen.SVDOptions{Options: *opt, ValuesOnly: true})
	if err != nil {
		return nil, 0, err
	}
	all := z.S.Matrix()
	host, err := all.Host()
	if err != nil {
		discard(all)
		return nil, 0, err
	}
	zero := halfulp.Float(0)
	if c == nil {
		c = &zero
	}
	rank, exact := 0, f != halfulp.DD && f != halfulp.TD && f != halfulp.QD
	s := halfulp.NewMatrix(f, host.Rows(), 1)
	for i := range host.Rows() {
		x := host.At(i, 0)
		if x.Cmp(wide.Mul(*c, host.At(0, 0))) > 0 {
			rank++
		}
		s.Set(i, 0, x)
		exact = exact && s.At(i, 0).Cmp(x) == 0
	}
	// A value that f holds is also the number of f nearest to the exact one.
	if !exact {
		discard(all)
		if z, err = eigen.SVD(a, f, &eigen.SVDOptions{Options: *opt, ValuesOnly: true}); err != nil {
			return nil, 0, err
		}
		return z.S.Matrix(), rank, nil
	}
	if a.Device() == halfulp.CPU {
		return s, rank, nil
	}
	discard(all)
	s, err = s.On(a.Device())
	return s, rank, err
}

func polar(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*record, error) {
	if err := checkMemory(f, a.Rows()+a.Cols(), a.Cols()); err != nil {
		return nil, err
	}
	o := withStats(opt)
	u, h, err := eigen.Polar(a, f, &o)
	if err != nil {
		return nil, err
	}
	r := &record{memory: where(a, u, h)}
	r.add("U", u)
	r.add("H", h)
	r.add("undecided", o.Stats.Undecided)
	return r, nil
}

// functions are the functions of symmetric matrices.
var functions = []eigen.Function{eigen.Sqrt, eigen.InvSqrt, eigen.Exp, eigen.Log, eigen.Abs, eigen.Sign, eigen.Positive}

func symFunc(name string, a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, int, error) {
	needSquare(a)
	if err := checkMemory(f, a.Rows(), a.Cols()); err != nil {
		return nil, 0, err
	}
	var names []string
	for _, function := range functions {
		if function.Name == name {
			o := withStats(opt)
			z, err := eigen.SymFunc(function, a, f, &o)
			return z, o.Stats.Undecided, err
		}
		names = append(names, function.Name)
	}
	panic(misuse("argument name: %q; one of %s is needed", name, strings.Join(names, ", ")))
}

func realRoots(p *halfulp.Vector, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	x, err := eigen.RealRoots(p, f, opt)
	if err != nil {
		return nil, err
	}
	return x.Matrix(), nil
}

func tridiagonal(d, e *halfulp.Vector, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if e.Len() != max(d.Len()-1, 0) {
		panic(misuse("%d numbers beside a diagonal of %d: one less is needed", e.Len(), d.Len()))
	}
	w, err := eigen.Tridiagonal(d, e, f, opt)
	if err != nil {
		return nil, err
	}
	return w.Matrix(), nil
}

// rule is a quadrature rule of Gauss whose weight function has exponents as parameters.
type rule struct {
	name      string
	exponents int
	points    func(n int, alpha, beta halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Vector, err error)
}

// fixed returns a rule without exponents.
func fixed(name string, points func(n int, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Vector, err error)) rule {
	return rule{name, 0, func(n int, _, _ halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Vector, err error) {
		return points(n, f, opt)
	}}
}

// single returns a rule with one exponent.
func single(name string, points func(n int, alpha halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Vector, err error)) rule {
	return rule{name, 1, func(n int, alpha, _ halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Vector, err error) {
		return points(n, alpha, f, opt)
	}}
}

var rules = []rule{
	fixed("legendre", eigen.GaussLegendre), fixed("hermite", eigen.GaussHermite), fixed("laguerre", eigen.GaussLaguerre),
	fixed("chebyshev1", eigen.GaussChebyshev1), fixed("chebyshev2", eigen.GaussChebyshev2),
	single("genlaguerre", eigen.GaussGenLaguerre), single("gegenbauer", eigen.GaussGegenbauer), {"jacobi", 2, eigen.GaussJacobi},
}

// ruleNamed returns the rule of a name. It panics unless as many exponents are given as it has.
func ruleNamed(name string, alpha, beta *halfulp.Scalar) rule {
	var names []string
	for _, r := range rules {
		if r.name != name {
			names = append(names, r.name)
			continue
		}
		for k, x := range []*halfulp.Scalar{alpha, beta} {
			if exponent := []string{"alpha", "beta"}[k]; (x != nil) != (k < r.exponents) {
				panic(misuse("argument %s: the rule %s has %d exponents", exponent, name, r.exponents))
			}
		}
		return r
	}
	panic(misuse("argument rule: %q; one of %s is needed", name, strings.Join(names, ", ")))
}

func quadrature(name string, n int, alpha, beta *halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (nodes, weights *halfulp.Matrix, undecided int, err error) {
	r := ruleNamed(name, alpha, beta)
	if n < 0 {
		panic(misuse("argument n: %d; at least 0 is needed", n))
	}
	if err := checkMemory(f, n, 2); err != nil {
		return nil, nil, 0, err
	}
	o := withStats(opt)
	var exponents [2]halfulp.Scalar
	for k, given := range []*halfulp.Scalar{alpha, beta} {
		if given != nil {
			exponents[k] = *given
		}
	}
	x, w, err := r.points(n, exponents[0], exponents[1], f, &o)
	if err != nil {
		return nil, nil, 0, err
	}
	return x.Matrix(), w.Matrix(), o.Stats.Undecided, nil
}

// cond returns a condition number, and 1 if it was rounded undecided.
func cond(norm byte, a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, int, error) {
	if norm != '2' {
		needSquare(a)
		z, err := linsolve.Cond(halfulp.Norm(norm), a, f, opt)
		return z, 0, err
	}
	o := withStats(opt)
	z, err := eigen.Cond2(a, f, &o)
	return z, o.Stats.Undecided, err
}
