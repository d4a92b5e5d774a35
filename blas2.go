package halfulp

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/num"
)

// Ger stores A ← RN(α x yᵀ + A), a_ij ← RN(α x_i y_j + a_ij), each entry rounded
// once to the format of A. α = 0 leaves x and y unread and A unchanged. An exact
// zero is -0 only if both α x_i y_j and a_ij are. It panics unless x has as many
// entries as A rows and y as many as A columns. x, y and A may overlap in any way:
// all is read before A is written. With an error, a cancelled context included,
// A is unchanged.
func Ger(alpha Scalar, x, y *Vector, a *Matrix, opt *Options) (Stats, error) {
	if x.v.N != a.m.Rows || y.v.N != a.m.Cols {
		panic(errShape)
	}
	return update("Ger", a.m, alpha, opt, func(r *run, s num.Real, z *num.Array) error {
		if r.gpu == nil {
			return direct.Update(r.work(), s, x.v, y.v, a.m, z, r.count)
		}
		_, err := gpu.Ger(r.gpu, r.config(), s, x.v, y.v, a.m, z, r.count)
		return err
	})
}

// Gemv stores y ← RN(α op(A) x + β y), op(A) = A for NoTrans, Aᵀ for Trans and
// ConjTrans: y_i ← RN(∑_j α a_ij x_j + β y_i), each entry rounded once to the
// format of y.
//
// The addends are the exact products α a_ij x_j and β y_i. α = 0 leaves A and x
// unread, β = 0 leaves y unread: there are no such addends then, and an empty sum
// is +0. NaN and opposite infinities give NaN, else an infinity gives itself; an
// exact zero is -0 only if all addends are.
//
// It panics for a bad t and for shapes that do not fit. y may overlap A and x in
// any way: all is read before y is written. With an error, a cancelled context
// included, y is unchanged.
func Gemv(t Transpose, alpha Scalar, a *Matrix, x *Vector, beta Scalar, y *Vector, opt *Options) (Stats, error) {
	return GemvTo(t, alpha, a, x, beta, y, y, opt)
}

// GemvTo stores z ← RN(α op(A) x + β y) like Gemv, rounded once to the format of z,
// which may be another one than y's. z may overlap all others. For β = 0, y may
// be nil.
func GemvTo(t Transpose, alpha Scalar, a *Matrix, x *Vector, beta Scalar, y, z *Vector, opt *Options) (Stats, error) {
	m := a.m
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
	if x.v.N != m.Cols || y.v.N != m.Rows || z.v.N != m.Rows {
		panic(errShape)
	}
	r, err := beginOn("Gemv", opt)
	if err != nil {
		return Stats{}, err
	}
	entries := m.Rows * m.Cols
	r.choose(direct.EstimateProducts(r.threads, entries, m.Arr.Format, x.v.Arr.Format), int64(entries)*num.SizeOf(m.Arr.Format))
	out := num.New(z.v.Arr.Format, z.v.N)
	var exact int64
	if r.gpu != nil {
		var n gpu.Counts
		n, err = gpu.Gemv(r.gpu, r.config(), alpha.value(), m, x.v, beta.value(), y.v, out, r.count)
		exact = n.Host
	}
	if r.gpu == nil || r.leave(err) {
		exact, err = direct.Gemv(r.work(), alpha.value(), m, x.v, beta.value(), y.v, out, r.count)
	}
	if err != nil {
		return r.end(), fmt.Errorf("Gemv: %w", deviceError(err))
	}
	r.exact.Add(exact)
	store(z.v.Mat(), out)
	r.stage("product")
	return r.end(), nil
}
