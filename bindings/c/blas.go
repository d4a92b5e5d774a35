package main

// #include "library.h"
import "C"

import (
	"unsafe"

	"github.com/halfulp/halfulp"
)

// The functions of this file compute the BLAS routines on C arrays in Fortran's layout: matrices
// are stored by columns, and a vector with a negative increment starts at its end.

// real is the constraint of the BLAS's number types.
type real interface{ float32 | float64 }

// numbers returns the rows x cols matrix with strides rs and cs whose storage is the array data.
func numbers[T real](data *T, rows, cols, rs, cs int) *halfulp.Matrix {
	var m *halfulp.Matrix
	var err error
	switch p := any(data).(type) {
	case *float64:
		m, err = wrapF64(p, rows, cols, rs, cs)
	case *float32:
		m, err = wrapF32(p, rows, cols, rs, cs)
	}
	if err != nil {
		panic(err)
	}
	return m
}

// at returns the address of element i of an array.
func at[T real](data *T, i int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(data), i*int(unsafe.Sizeof(*data))))
}

// full returns an m x n matrix, stored by columns with leading dimension ld.
func full[T real](data *T, m, n, ld int) *halfulp.Matrix { return numbers(data, m, n, 1, ld) }

// vec returns a vector of n numbers with increment inc. With inc = 0 all entries are the number
// *data; such a vector must not be written (see written).
func vec[T real](data *T, n, inc int) *halfulp.Vector {
	if n < 0 {
		panic(misuse("argument n: %d; at least 0 is needed", n))
	}
	if inc == 0 && n > 0 {
		same := make([]T, n)
		for i := range same {
			same[i] = *data
		}
		data, inc = &same[0], 1
	}
	if inc < 0 && n > 0 {
		data = at(data, (1-n)*inc)
	}
	return numbers(data, n, 1, inc, 1).Col(0)
}

// written returns a vector that a routine writes. Unlike vec it panics for inc = 0 if n > 1. arg
// names the increment's argument.
func written[T real](arg string, data *T, n, inc int) *halfulp.Vector {
	if inc == 0 && n > 1 {
		panic(misuse("argument %s: 0; another number is needed, since the vector is written", arg))
	}
	if inc == 0 {
		inc = 1
	}
	return vec(data, n, inc)
}

func number[T real](x T) halfulp.Scalar { return halfulp.Float(float64(x)) }

// formatOf returns the format of T: Float32 or Float64.
func formatOf[T real]() halfulp.Format {
	var x T
	if _, ok := any(x).(float32); ok {
		return halfulp.Float32
	}
	return halfulp.Float64
}

func blasDot[T real](n int, x *T, incx int, y *T, incy int, opt *halfulp.Options) (float64, error) {
	s, err := halfulp.Dot(vec(x, n, incx), vec(y, n, incy), formatOf[T](), opt)
	return s.Float64(), err
}

// blasSdsdot computes sdsdot of the BLAS: the sum of b and all products x_i y_i, rounded once to
// float32.
func blasSdsdot(n int, b float32, x *float32, incx int, y *float32, incy int, opt *halfulp.Options) (float64, error) {
	p, q := halfulp.NewVector(halfulp.Float32, n+1), halfulp.NewVector(halfulp.Float32, n+1)
	p.SetFloat64(n, float64(b))
	q.SetFloat64(n, 1)
	for _, v := range []struct{ to, from *halfulp.Vector }{{p, vec(x, n, incx)}, {q, vec(y, n, incy)}} {
		if err := halfulp.Copy(v.from, v.to.Slice(0, n), opt); err != nil {
			return 0, err
		}
	}
	s, err := halfulp.Dot(p, q, halfulp.Float32, opt)
	return s.Float64(), err
}

// blasDsdot computes dsdot of the BLAS: the dot product of float32 vectors, rounded once to
// float64.
func blasDsdot(n int, x *float32, incx int, y *float32, incy int, opt *halfulp.Options) (float64, error) {
	s, err := halfulp.Dot(vec(x, n, incx), vec(y, n, incy), halfulp.Float64, opt)
	return s.Float64(), err
}

func blasReduce[T real](reduce func(x *halfulp.Vector, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, error), n int, x *T, incx int, opt *halfulp.Options) (float64, error) {
	s, err := reduce(vec(x, n, incx), formatOf[T](), opt)
	return s.Float64(), err
}

func blasRotg[T real](a, b, c, s *T, opt *halfulp.Options) error {
	g, err := halfulp.Rotg(number(*a), number(*b), formatOf[T](), opt)
	if err == nil {
		*a, *b, *c, *s = T(g.R.Float64()), T(g.Z.Float64()), T(g.C.Float64()), T(g.S.Float64())
	}
	return err
}

// blasRotmg stores the modified rotation in param as in the BLAS: the flag, h11, h21, h12, h22.
// Entries that the flag implies are not written.
func blasRotmg[T real](d1, d2, x1 *T, y1 T, param *T, opt *halfulp.Options) error {
	g, err := halfulp.Rotmg(number(*d1), number(*d2), number(*x1), number(y1), formatOf[T](), opt)
	if err != nil {
		return err
	}
	*d1, *d2, *x1 = T(g.D1.Float64()), T(g.D2.Float64()), T(g.X1.Float64())
	*param = T(g.Flag)
	set := func(i int, s halfulp.Scalar) { *at(param, i) = T(s.Float64()) }
	if g.Flag == halfulp.RotmRescaling || g.Flag == halfulp.RotmDiagonal {
		set(1, g.H11)
		set(4, g.H22)
	}
	if g.Flag == halfulp.RotmRescaling || g.Flag == halfulp.RotmOffDiagonal {
		set(2, g.H21)
		set(3, g.H12)
	}
	return nil
}

func blasRotm[T real](n int, x *T, incx int, y *T, incy int, param *T, opt *halfulp.Options) error {
	h := func(i int) halfulp.Scalar { return number(*at(param, i)) }
	p := halfulp.RotmParams{Flag: halfulp.RotmFlag(*param), H11: h(1), H21: h(2), H12: h(3), H22: h(4)}
	return halfulp.Rotm(written("incx", x, n, incx), written("incy", y, n, incy), p, opt)
}

// length returns the lengths of x and y in the product y = op(A) x with an m x n matrix A.
func length(t halfulp.Transpose, m, n int) (x, y int) {
	if t == halfulp.NoTrans {
		return n, m
	}
	return m, n
}

func blasGemv[T real](t halfulp.Transpose, m, n int, alpha T, a *T, lda int, x *T, incx int, beta T, y *T, incy int, opt *halfulp.Options) error {
	nx, ny := length(t, m, n)
	return halfulp.Gemv(t, number(alpha), full(a, m, n, lda), vec(x, nx, incx), number(beta), written("incy", y, ny, incy), opt)
}

func blasGbmv[T real](t halfulp.Transpose, m, n, kl, ku int, alpha T, a *T, lda int, x *T, incx int, beta T, y *T, incy int, opt *halfulp.Options) error {
	nx, ny := length(t, m, n)
	return halfulp.Gbmv(t, m, kl, ku, number(alpha), full(a, kl+ku+1, n, lda), vec(x, nx, incx), number(beta), written("incy", y, ny, incy), opt)
}

// packedLength returns the length n (n + 1)/2 of a packed triangle of order n.
func packedLength(n int) int {
	if n < 0 {
		panic(misuse("argument n: %d; at least 0 is needed", n))
	}
	return n * (n + 1) / 2
}

// visitPacked calls visit with the index, the row and the column of each number of a packed
// triangle, in the order of storage.
func visitPacked(uplo halfulp.Uplo, n int, visit func(at, i, j int)) {
	k := 0
	for j := range n {
		first, last := 0, j
		if uplo == halfulp.Lower {
			first, last = j, n-1
		}
		for i := first; i <= last; i++ {
			visit(k, i, j)
			k++
		}
	}
}

// unpacked copies a packed triangle into the triangle uplo of an n x n matrix. It returns the
// matrix and its storage, by columns.
func unpacked[T real](uplo halfulp.Uplo, n int, ap *T) ([]T, *halfulp.Matrix) {
	packedLength(n)
	a := make([]T, n*n+1) // of one number at least
	visitPacked(uplo, n, func(k, i, j int) { a[i+j*n] = *at(ap, k) })
	return a, full(&a[0], n, n, max(n, 1))
}

func blasTpmv[T real](uplo halfulp.Uplo, t halfulp.Transpose, diag halfulp.Diag, n int, ap, x *T, incx int, opt *halfulp.Options) error {
	_, a := unpacked(uplo, n, ap)
	return halfulp.Trmv(uplo, t, diag, a, written("incx", x, n, incx), opt)
}

func blasTpsv[T real](uplo halfulp.Uplo, t halfulp.Transpose, diag halfulp.Diag, n int, ap, x *T, incx int, opt *halfulp.Options) error {
	_, a := unpacked(uplo, n, ap)
	return halfulp.Trsv(uplo, t, diag, a, written("incx", x, n, incx), opt)
}

// blasSpr2 computes spr2 of the BLAS, or spr if y is nil.
func blasSpr2[T real](uplo halfulp.Uplo, n int, alpha T, x *T, incx int, y *T, incy int, ap *T, opt *halfulp.Options) error {
	data, a := unpacked(uplo, n, ap)
	var err error
	if y == nil {
		err = halfulp.Syr(uplo, number(alpha), vec(x, n, incx), a, opt)
	} else {
		err = halfulp.Syr2(uplo, number(alpha), vec(x, n, incx), vec(y, n, incy), a, opt)
	}
	if err == nil {
		visitPacked(uplo, n, func(k, i, j int) { *at(ap, k) = data[i+j*n] })
	}
	return err
}

// band returns a triangular band matrix of order n, with k diagonals beside the main diagonal, in
// the storage of a general band matrix, and its numbers kl and ku of diagonals below and above the
// main diagonal. For diag = Unit it returns a copy with ones on the diagonal.
func band[T real](uplo halfulp.Uplo, diag halfulp.Diag, n, k int, a *T, lda int) (ab *halfulp.Matrix, kl, ku int) {
	if k < 0 {
		panic(misuse("argument k: %d; at least 0 is needed", k))
	}
	ab, row := full(a, k+1, n, lda), 0
	kl, ku = k, 0
	if uplo == halfulp.Upper {
		kl, ku, row = 0, k, k
	}
	if diag == halfulp.Unit {
		ab = ab.Clone()
		for j := range n {
			ab.SetFloat64(row, j, 1)
		}
	}
	return ab, kl, ku
}

func blasTbmv[T real](uplo halfulp.Uplo, t halfulp.Transpose, diag halfulp.Diag, n, k int, a *T, lda int, x *T, incx int, opt *halfulp.Options) error {
	ab, kl, ku := band(uplo, diag, n, k, a, lda)
	z := written("incx", x, n, incx)
	return halfulp.Gbmv(t, n, kl, ku, one, ab, z.Clone(), zero, z, opt)
}

// exact is a format that holds every sum of products of two float64 numbers exactly.
var exact = halfulp.MP(4400)

// blasTbsv solves a triangular band system op(A) x = b by substitution: every entry is the exact
// quotient, rounded once,
//
//	x_i = RN((b_i - Σ t_ij x_j)/t_ii)
//
// for the rounded entries x_j before it, as in Trsv. The sum has only the addends of the band.
func blasTbsv[T real](uplo halfulp.Uplo, t halfulp.Transpose, diag halfulp.Diag, n, k int, a *T, lda int, x *T, incx int, opt *halfulp.Options) error {
	ab, kl, ku := band(uplo, diag, n, k, a, lda)
	z := written("incx", x, n, incx)
	solution := z.Clone()
	above := ku
	entry := func(i, j int) float64 { return ab.Float64(above+i-j, j) } // of op(A)
	if t != halfulp.NoTrans {
		entry = func(i, j int) float64 { return ab.Float64(above+j-i, i) }
		kl, ku = ku, kl
	}
	for r := range n {
		i := r
		if ku > 0 || kl == 0 {
			i = n - 1 - r
		}
		first, last := max(0, i-kl), min(n-1, i+ku)
		var p, q []float64
		p, q = append(p, solution.Float64(i)), append(q, 1)
		for j := first; j <= last; j++ {
			if j != i {
				p, q = append(p, -entry(i, j)), append(q, solution.Float64(j))
			}
		}
		s, err := halfulp.Dot(halfulp.NewVectorFloat64(len(p), 1, p), halfulp.NewVectorFloat64(len(q), 1, q), exact, opt)
		if err != nil {
			return err
		}
		solution.Set(i, formatOf[T]().Quo(s, halfulp.Float(entry(i, i))))
	}
	return halfulp.Copy(solution, z, opt)
}

func blasSymv[T real](uplo halfulp.Uplo, n int, alpha T, a *T, lda int, x *T, incx int, beta T, y *T, incy int, opt *halfulp.Options) error {
	return halfulp.Symv(uplo, number(alpha), full(a, n, n, lda), vec(x, n, incx), number(beta), written("incy", y, n, incy), opt)
}

func blasSbmv[T real](uplo halfulp.Uplo, n, k int, alpha T, a *T, lda int, x *T, incx int, beta T, y *T, incy int, opt *halfulp.Options) error {
	return halfulp.Sbmv(uplo, k, number(alpha), full(a, k+1, n, lda), vec(x, n, incx), number(beta), written("incy", y, n, incy), opt)
}

func blasSpmv[T real](uplo halfulp.Uplo, n int, alpha T, ap, x *T, incx int, beta T, y *T, incy int, opt *halfulp.Options) error {
	return halfulp.Spmv(uplo, number(alpha), vec(ap, packedLength(n), 1), vec(x, n, incx), number(beta), written("incy", y, n, incy), opt)
}

func blasSyr2[T real](uplo halfulp.Uplo, n int, alpha T, x *T, incx int, y *T, incy int, a *T, lda int, opt *halfulp.Options) error {
	if y == nil {
		return halfulp.Syr(uplo, number(alpha), vec(x, n, incx), full(a, n, n, lda), opt)
	}
	return halfulp.Syr2(uplo, number(alpha), vec(x, n, incx), vec(y, n, incy), full(a, n, n, lda), opt)
}

// operand returns the matrix X as it is stored, where op(X) is m x n: X is n x m if t transposes
// it.
func operand[T real](t halfulp.Transpose, data *T, m, n, ld int) *halfulp.Matrix {
	if t != halfulp.NoTrans {
		m, n = n, m
	}
	return full(data, m, n, ld)
}

func blasGemm[T real](ta, tb halfulp.Transpose, m, n, k int, alpha T, a *T, lda int, b *T, ldb int, beta T, c *T, ldc int, opt *halfulp.Options) error {
	return halfulp.Gemm(ta, tb, number(alpha), operand(ta, a, m, k, lda), operand(tb, b, k, n, ldb), number(beta), full(c, m, n, ldc), opt)
}

// order returns the order of the square matrix that multiplies an m x n matrix on the given side.
func order(side halfulp.Side, m, n int) int {
	if side == halfulp.Left {
		return m
	}
	return n
}

func blasSymm[T real](side halfulp.Side, uplo halfulp.Uplo, m, n int, alpha T, a *T, lda int, b *T, ldb int, beta T, c *T, ldc int, opt *halfulp.Options) error {
	o := order(side, m, n)
	return halfulp.Symm(side, uplo, number(alpha), full(a, o, o, lda), full(b, m, n, ldb), number(beta), full(c, m, n, ldc), opt)
}

func blasSyrk[T real](uplo halfulp.Uplo, t halfulp.Transpose, n, k int, alpha T, a *T, lda int, beta T, c *T, ldc int, opt *halfulp.Options) error {
	return halfulp.Syrk(uplo, t, number(alpha), operand(t, a, n, k, lda), number(beta), full(c, n, n, ldc), opt)
}

func blasSyr2k[T real](uplo halfulp.Uplo, t halfulp.Transpose, n, k int, alpha T, a *T, lda int, b *T, ldb int, beta T, c *T, ldc int, opt *halfulp.Options) error {
	return halfulp.Syr2k(uplo, t, number(alpha), operand(t, a, n, k, lda), operand(t, b, n, k, ldb), number(beta), full(c, n, n, ldc), opt)
}

func blasTrmm[T real](side halfulp.Side, uplo halfulp.Uplo, t halfulp.Transpose, diag halfulp.Diag, m, n int, alpha T, a *T, lda int, b *T, ldb int, opt *halfulp.Options) error {
	o := order(side, m, n)
	return halfulp.Trmm(side, uplo, t, diag, number(alpha), full(a, o, o, lda), full(b, m, n, ldb), opt)
}

func blasTrsm[T real](side halfulp.Side, uplo halfulp.Uplo, t halfulp.Transpose, diag halfulp.Diag, m, n int, alpha T, a *T, lda int, b *T, ldb int, opt *halfulp.Options) error {
	o := order(side, m, n)
	return halfulp.Trsm(side, uplo, t, diag, number(alpha), full(a, o, o, lda), full(b, m, n, ldb), opt)
}
