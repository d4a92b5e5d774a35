package halfulp

import (
	"errors"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// Ger stores A ← RN(α x yᵀ + A), a_ij ← RN(α x_i y_j + a_ij), each entry rounded once to the format
// of A. α = 0 leaves A unchanged. It panics unless the length of x is the number of rows of A and
// the length of y the number of columns. See Rounding, Special values, Aliasing, Devices and Errors
// in the package documentation.
func Ger(alpha Scalar, x, y *Vector, a *Matrix, opt *Options) error {
	if x.vec().N != a.mat().Rows || y.vec().N != a.mat().Cols {
		panic(errShape)
	}
	return update("Ger", a.mat(), alpha, opt, func(r *run, s num.Real, z *num.Array) error {
		if r.at == nil {
			return direct.Update(r.work(), s, x.vec(), y.vec(), a.mat(), z, r.count)
		}
		return r.at.Update(r.Config(), s, x.vec(), y.vec(), a.mat(), z, r.count)
	}, x.vec().Arr, y.vec().Arr)
}

// Gemv stores y ← RN(α op(A) x + β y), op(A) = A for NoTrans, Aᵀ for Trans and ConjTrans:
// y_i ← RN(∑_j α a_ij x_j + β y_i), each entry rounded once to the format of y. It panics for a bad
// t and for shapes that do not fit. See Rounding, Special values, Aliasing, Devices and Errors in
// the package documentation.
func Gemv(t Transpose, alpha Scalar, a *Matrix, x *Vector, beta Scalar, y *Vector, opt *Options) error {
	return GemvTo(t, alpha, a, x, beta, y, y, opt)
}

// GemvTo stores z ← RN(α op(A) x + β y) like [Gemv], rounded once to the format of z, which may
// differ from the format of y. For β = 0, y may be nil.
func GemvTo(t Transpose, alpha Scalar, a *Matrix, x *Vector, beta Scalar, y, z *Vector, opt *Options) error {
	m := a.mat()
	switch t {
	case NoTrans:
	case Trans, ConjTrans:
		m = m.T()
	default:
		panic(errTranspose)
	}
	if y == nil {
		if !beta.isZero() {
			panic(errNoC)
		}
		y = z
	}
	if x.vec().N != m.Cols || y.vec().N != m.Rows || z.vec().N != m.Rows {
		panic(errShape)
	}
	r, err := begin("Gemv", opt, m.Arr, x.vec().Arr, y.vec().Arr, z.vec().Arr)
	if err != nil {
		return err
	}
	if err := r.gemv(m, x.vec(), y.vec(), z.vec(), alpha.value(), beta.value()); err != nil {
		return r.end(err)
	}
	r.stage("product")
	return r.end(nil)
}

// gemv stores RN(alpha A x + beta y) in z.
func (r *run) gemv(a num.Mat, x, y, z num.Vec, alpha, beta num.Real) error {
	if r.ondevice {
		in, old := x.Mat(), y.Mat()
		operands := [3]*num.Mat{&a, &in, &old}
		n := 3
		if y == z {
			n = 2
		}
		free, err := place.Apart(r.Ctx, r.at, z.Mat(), operands[:n]...)
		if err != nil {
			return err
		}
		defer free()
		exact, err := r.at.Gemv(r.Config(), alpha, a, in.Col(0), beta, old.Col(0), z, r.count)
		r.exact.Add(exact)
		return err
	}
	entries := a.Rows * a.Cols
	r.choose(direct.EstimateProducts(r.Threads, entries, a.Arr.Format, x.Arr.Format), int64(entries)*num.SizeOf(a.Arr.Format))
	out := num.Vec{Arr: num.New(z.Arr.Format, z.N), Inc: 1, N: z.N}
	var exact int64
	var err error
	if r.at != nil {
		exact, err = r.at.Gemv(r.Config(), alpha, a, x, beta, y, out, r.count)
	}
	if r.at == nil || r.leave(err) {
		exact, err = direct.Gemv(r.work(), alpha, a, x, beta, y, out.Arr, r.count)
	}
	if err != nil {
		return err
	}
	r.exact.Add(exact)
	store(z.Mat(), out.Arr)
	return nil
}

// Gbmv stores y ← RN(α op(A) x + β y) like [Gemv] for a band matrix A of m rows with kl diagonals
// below and ku diagonals above the main one. ab holds A in the band storage of the BLAS: column by
// column, entry (i, j) of A is entry (ku + i - j, j) of ab. ab has kl + ku + 1 rows and as many
// columns as A. Entries of ab outside A are not read. Entries of A outside the band are no addends,
// so 0 · ∞ does not occur there, and a row without entries in the band has the sum +0. It panics
// for a bad t, for negative m, kl or ku, and for shapes that do not fit.
func Gbmv(t Transpose, m, kl, ku int, alpha Scalar, ab *Matrix, x *Vector, beta Scalar, y *Vector, opt *Options) error {
	if m < 0 || kl < 0 || ku < 0 {
		panic(errNegativeDim)
	}
	if ab.mat().Rows != kl+ku+1 {
		panic(errBand)
	}
	return structuredGemv("Gbmv", func(ab num.Mat) direct.Structured { return oriented(direct.Band(ab, m, kl, ku), t) }, ab.m, alpha, x, beta, y, opt)
}

// Symv stores y ← RN(α A x + β y) like [Gemv] for a symmetric matrix A. a holds the triangle uplo
// of A; the other triangle is not read. It panics for a bad uplo and for shapes that do not fit.
func Symv(uplo Uplo, alpha Scalar, a *Matrix, x *Vector, beta Scalar, y *Vector, opt *Options) error {
	return structuredGemv("Symv", func(a num.Mat) direct.Structured { return symmetric(uplo, a) }, a.mat(), alpha, x, beta, y, opt)
}

// Sbmv stores y ← RN(α A x + β y) like [Gemv] for a symmetric band matrix A with k diagonals on
// each side of the main one. ab has k + 1 rows and holds the diagonals of the triangle uplo in the
// band storage of the BLAS: entry (i, j) of A is entry (k + i - j, j) of ab for Upper, i ≤ j, and
// entry (i - j, j) for Lower, i ≥ j. Other entries of ab are not read, and entries of A outside the
// band are no addends. It panics for a bad uplo, for k < 0 and for shapes that do not fit.
func Sbmv(uplo Uplo, k int, alpha Scalar, ab *Matrix, x *Vector, beta Scalar, y *Vector, opt *Options) error {
	if k < 0 {
		panic(errNegativeDim)
	}
	if ab.mat().Rows != k+1 {
		panic(errBand)
	}
	return structuredGemv("Sbmv", func(ab num.Mat) direct.Structured { return direct.SymmetricBand(ab, k, uplo.isUpper()) }, ab.m, alpha, x, beta, y, opt)
}

// Spmv stores y ← RN(α A x + β y) like [Gemv] for a symmetric matrix A of order n. ap holds the
// triangle uplo of A, packed column by column in n (n + 1) / 2 numbers: entry (i, j) of A is entry
// i + j (j + 1) / 2 of ap for Upper, i ≤ j, and entry i + j (2 n - j - 1) / 2 for Lower, i ≥ j. It
// panics for a bad uplo and for shapes that do not fit.
func Spmv(uplo Uplo, alpha Scalar, ap, x *Vector, beta Scalar, y *Vector, opt *Options) error {
	n := x.vec().N
	if ap.vec().N != n*(n+1)/2 {
		panic(errShape)
	}
	return structuredGemv("Spmv", func(ap num.Mat) direct.Structured { return direct.SymmetricPacked(ap.Col(0), n, uplo.isUpper()) }, ap.v.Mat(), alpha, x, beta, y, opt)
}

// Trmv stores x ← RN(op(A) x), each entry rounded once to the format of x, for a triangular matrix
// A, which a holds in the triangle uplo. The other triangle is not read, nor is the diagonal for
// diag = Unit; entries of the other triangle are no addends, so 0 · ∞ does not occur there. It
// panics for a bad uplo, t or diag and for shapes that do not fit. See Rounding, Special values,
// Aliasing, Devices and Errors in the package documentation.
func Trmv(uplo Uplo, t Transpose, diag Diag, a *Matrix, x *Vector, opt *Options) error {
	return structuredGemv("Trmv", func(a num.Mat) direct.Structured { return oriented(triangular(uplo, diag, a), t) }, a.mat(), Float(1), x, Float(0), x, opt)
}

// Syr stores A ← RN(α x xᵀ + A) in the triangle uplo of A, a_ij ← RN(α x_i x_j + a_ij), each entry
// rounded once to the format of A; the other triangle is neither read nor written. It is [Syrk] for
// a matrix of one column and β = 1. It panics for a bad uplo and for shapes that do not fit.
func Syr(uplo Uplo, alpha Scalar, x *Vector, a *Matrix, opt *Options) error {
	return Syrk(uplo, NoTrans, alpha, x.Matrix(), Float(1), a, opt)
}

// Syr2 stores A ← RN(α x yᵀ + α y xᵀ + A) in the triangle uplo of A,
// a_ij ← RN(α x_i y_j + α y_i x_j + a_ij), each entry rounded once to the format of A; the other
// triangle is neither read nor written. It is [Syr2k] for matrices of one column and β = 1. It
// panics for a bad uplo and for shapes that do not fit.
func Syr2(uplo Uplo, alpha Scalar, x, y *Vector, a *Matrix, opt *Options) error {
	return Syr2k(uplo, NoTrans, alpha, x.Matrix(), y.Matrix(), Float(1), a, opt)
}

// isUpper reports whether u is Upper. It panics unless u is Upper or Lower.
func (u Uplo) isUpper() bool {
	if u != Upper && u != Lower {
		panic(errUplo)
	}
	return u == Upper
}

// symmetric returns the symmetric matrix that a holds in the triangle uplo.
func symmetric(uplo Uplo, a num.Mat) direct.Structured {
	upper := uplo.isUpper()
	if a.Rows != a.Cols {
		panic(errShape)
	}
	return direct.Symmetric(a, upper)
}

// triangular returns the triangular matrix that a holds in the triangle uplo.
func triangular(uplo Uplo, diag Diag, a num.Mat) direct.Structured {
	upper := uplo.isUpper()
	if diag != Unit && diag != NonUnit {
		panic(errDiag)
	}
	if a.Rows != a.Cols {
		panic(errShape)
	}
	return direct.Triangular(a, upper, diag == Unit)
}

// oriented returns op(s).
func oriented(s direct.Structured, t Transpose) direct.Structured {
	switch t {
	case NoTrans:
		return s
	case Trans, ConjTrans:
		return s.T()
	}
	panic(errTranspose)
}

// structuredGemv stores RN(α S x + β y) in y, where S = of(a).
func structuredGemv(name string, of func(a num.Mat) direct.Structured, a num.Mat, alpha Scalar, x *Vector, beta Scalar, y *Vector, opt *Options) error {
	s := of(a)
	if x.vec().N != s.Cols || y.vec().N != s.Rows {
		panic(errShape)
	}
	if p, err := whereabouts(name, a.Arr, x.vec().Arr, y.vec().Arr); err != nil {
		return err
	} else if p != nil {
		r, err := begin(name, opt, a.Arr)
		if err != nil {
			return err
		}
		v := ondeviceGemv{run: r, s: s, alpha: alpha.value(), x: x.vec(), beta: beta.value(), y: y.vec()}
		if done, err := place.Leaves(v.compute()); done || err != nil {
			if err != nil {
				return r.end(err)
			}
			r.stage("product")
			return r.end(nil)
		}
	}
	done, err := throughHost(name, opt, []num.Mat{a, x.vec().Mat(), y.vec().Mat()}, 1, func(h []*Matrix, opt *Options) error {
		return structuredGemv(name, of, h[0].m, alpha, h[1].Col(0), beta, h[2].Col(0), opt)
	})
	if done {
		return err
	}
	r, err := begin(name, opt, a.Arr)
	if err != nil {
		return err
	}
	f := a.Arr.Format
	entries := s.Entries()
	r.choose(direct.EstimateProducts(r.Threads, entries, f, x.vec().Arr.Format), int64(entries)*num.SizeOf(f))
	al, be := alpha.value(), beta.value()
	out := num.New(y.vec().Arr.Format, y.vec().N)
	product := func(m num.Mat, x, y num.Vec, z *num.Array) (int64, error) {
		if r.at != nil {
			return r.at.Gemv(r.Config(), al, m, x, be, y, num.Vec{Arr: z, Inc: 1, N: z.Len()}, r.count)
		}
		return direct.Gemv(direct.Work{Run: r.Run}, al, m, x, be, y, z, r.count)
	}
	exact, err := s.Gemv(r.work(), al, x.vec(), be, y.vec(), out, r.count, product)
	if r.leave(err) {
		r.overflow.Store(0)
		r.underflow.Store(0)
		exact, err = s.Gemv(r.work(), al, x.vec(), be, y.vec(), out, r.count, product)
	}
	if err != nil {
		return r.end(err)
	}
	r.exact.Add(exact)
	store(y.vec().Mat(), out)
	r.stage("product")
	return r.end(nil)
}

// ondeviceGemv computes y = alpha S x + beta y on the device where all operands live.
type ondeviceGemv struct {
	*run
	s     direct.Structured
	alpha num.Real
	x     num.Vec
	beta  num.Real
	y     num.Vec
	dense place.Structured // of the place
}

// rowsAtPlace bounds the rows of a band or a triangle that are gathered as a dense block at a time,
// and with them the zeros read. A block may have more rows: an eighth of a triangle, or as many as
// the band is wide.
const rowsAtPlace = 1024

// compute reports whether the device computes the product. It leaves the product to the host where
// the zeros that fill in for entries outside the triangle or band would change the result.
func (p *ondeviceGemv) compute() (bool, error) {
	cfg, z := p.Config(), p.y
	full := p.s.Full()
	if !full && p.alpha.Class > num.Finite {
		return false, nil
	}
	// The result goes to a copy if it would overwrite an operand, or if signs of zeros need the old
	// entries.
	if p.y.Arr.Away == p.s.Array().Away || p.at.Overlap(p.y.Mat(), p.x.Mat()) || !full && p.beta.Class != num.Zero {
		a, err := p.at.New(p.Ctx, p.y.Arr.Format, p.y.N, 1)
		if err != nil {
			return true, err
		}
		defer a.Away.Free()
		z = num.Vec{Arr: a, Inc: 1, N: p.y.N}
	}
	if p.alpha.Class == num.Zero { // no addends
		a, x := p.x.Mat(), p.x
		a.Rows, a.Cols, x.N = p.s.Rows, 0, 0
		if _, err := p.at.Gemv(cfg, p.alpha, a, x, p.beta, p.y, z, p.count); err != nil {
			return true, err
		}
	} else {
		var ok bool
		if p.dense, ok = place.Part[place.Structured](p.at); !ok {
			return false, nil
		}
		if !full {
			if plain, err := p.plain(p.x); err != nil || !plain {
				return err != nil, err
			}
			if plain, err := p.plain(p.y); p.beta.Class != num.Zero && (err != nil || !plain) {
				return err != nil, err
			}
		}
		if done, err := p.blocks(cfg, z); err != nil || !done {
			return err != nil, err
		}
	}
	if z.Arr != p.y.Arr {
		return true, p.at.Copy(cfg, p.y.Mat(), z.Mat())
	}
	return true, nil
}

func (p *ondeviceGemv) plain(x num.Vec) (bool, error) { return p.dense.Plain(p.Config(), x.Mat()) }

// blocks computes z by blocks of rows and reports whether it could. Otherwise z is unspecified; z
// is not y in this case, unless beta is 0.
func (p *ondeviceGemv) blocks(cfg place.Config, z num.Vec) (bool, error) {
	full := p.s.Full()
	block := p.s.Rows
	if l := p.s.Layout(); !full {
		block = max(rowsAtPlace, p.s.Rows/8)
		if width := l.Below + l.Above + 1; width < p.s.Cols {
			block = max(width, rowsAtPlace)
		}
	}
	for i0 := 0; i0 < p.s.Rows; {
		i1 := min(i0+block, p.s.Rows)
		m, first, err := p.dense.Dense(cfg, p.s, i0, i1)
		if errors.Is(err, place.ErrMemory) && block > 16 {
			block /= 2
			continue
		}
		if err != nil {
			return false, err
		}
		done, err := p.block(cfg, m, first, z, i0, i1)
		m.Arr.Away.Free()
		if err != nil || !done {
			return false, err
		}
		i0 = i1
	}
	return true, nil
}

// block computes rows i0 <= i < i1 of z from m, these rows of S without the columns before column
// first.
func (p *ondeviceGemv) block(cfg place.Config, m num.Mat, first int, z num.Vec, i0, i1 int) (bool, error) {
	full := p.s.Full()
	if !full && m.Arr.Terms() > 1 {
		if plain, err := p.dense.Plain(cfg, m); err != nil || !plain {
			return false, err
		}
	}
	part := func(v num.Vec, from, to int) num.Vec {
		v.Off, v.N = v.At(from), to-from
		return v
	}
	x, y := part(p.x, first, first+m.Cols), part(p.y, i0, i1)
	z = part(z, i0, i1)
	exact, err := p.at.Gemv(cfg, p.alpha, m, x, p.beta, y, z, p.count)
	p.exact.Add(exact)
	if err != nil || full {
		return err == nil, err
	}
	return true, p.dense.MendZeros(cfg, p.s, p.alpha, m, i0, first, x.Mat(), p.beta, y.Mat(), z.Mat())
}
