package eigen

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen/internal/roots"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// ErrZeroPolynomial is wrapped by errors about polynomials whose coefficients are all 0: every
// number is a root.
var ErrZeroPolynomial = roots.ErrZeroPolynomial

// RealRoots returns all real roots of the polynomial p_0 + p_1 x + ... + p_d x^d in ascending
// order, each rounded once to format f, ties to even. A root of multiplicity k stands k times. The
// coefficients are in ascending powers, as in numpy.polynomial, and may have any format; leading
// coefficients may be 0. Roots that are not real are left out: their number, with multiplicity, is
// the degree minus the length of the result. A constant has no roots. Zeros are +0, except that a
// negative root that underflows is -0.
//
//	x, err := eigen.RealRoots(p, halfulp.Float64, nil)
//
// The error wraps ErrZeroPolynomial if all coefficients are 0 or p is empty. It wraps
// linsolve.ErrNotFinite for infinities and NaN in p. It wraps halfulp.ErrMemory if the integers
// that the coefficients become need more than Options.MemoryLimit, because their exponents are too
// far apart, or if the bits that separate close roots do; there is no other limit of their
// distance. Options.Method and Options.Check must be unset. Vectors on a GPU are copied to the
// host, which computes the result.
//
// Method. Roots are isolated exactly, whatever their distance, by Descartes' rule of signs in the
// Bernstein basis, and refined by quadratic interval refinement (Abbott, 2006). Signs of values
// prove each step. A root that is a number of the format, or halfway between two, is found because
// the value there is exactly 0. The isolation takes about d² additions of d bits or more for each
// bisection; ill-conditioned roots and roots that lie close together need more bits and more
// bisections. Several roots near 2^-e times the largest one take e bisections in e bits or more,
// which is minutes for e = 10^5; Options.Context ends them.
func RealRoots(p *halfulp.Vector, f halfulp.Format, opt *halfulp.Options) (*halfulp.Vector, error) {
	const name = "RealRoots"
	o := orDefault(opt)
	s, on, err := startOnHost(name, o, p)
	if err != nil {
		return nil, err
	}
	err = call.Finite("p", on[0].Mat())
	var z *num.Array
	if err == nil {
		z, err = roots.Real(s, on[0], f.View())
	}
	return vectorResult(o, s, name, z, p.Device(), err)
}

// vectorResult ends routine name and returns its result on a device.
func vectorResult(opt halfulp.Options, s *call.Run, name string, z *num.Array, on halfulp.Device, err error) (*halfulp.Vector, error) {
	if err := ended(name, opt, s, err); err != nil {
		return nil, err
	}
	x := vectorOf(z)
	if on == place.Host {
		return x, nil
	}
	there, err := x.On(on)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return there, nil
}

// vectorOf returns the numbers of an array as a vector.
func vectorOf(z *num.Array) *halfulp.Vector {
	n := z.Len()
	return halfulp.MatrixOf(num.Mat{Arr: z, RS: 1, CS: n, Rows: n, Cols: 1}).Col(0)
}

// Tridiagonal returns the eigenvalues, in ascending order, of the symmetric tridiagonal matrix T
// with the diagonal d_0, ..., d_(n-1) and the off-diagonal e_0, ..., e_(n-2): T_kk = d_k, T_(k,k+1)
// = T_(k+1,k) = e_k. Every eigenvalue is the exact one rounded once to format f, ties to even. d
// and e may have any formats. Zeros are +0, except that a negative eigenvalue that underflows is
// -0.
//
//	w, err := eigen.Tridiagonal(d, e, halfulp.Float64, nil)
//
// The error wraps linsolve.ErrNotFinite for infinities and NaN. It wraps linsolve.ErrRange if
// exponents of entries differ by more than 2^28, and halfulp.ErrMemory if the bits that decide an
// eigenvalue need more than Options.MemoryLimit. Options.Method and Options.Check must be unset.
// Vectors on a GPU are copied to the host, which computes the result. Tridiagonal panics if d is
// empty and e is not, or if e is not shorter than d by one entry.
//
// Method. T is split where e_k = 0. Float64 values are refined by Rayleigh quotients and enclosed
// by counts of negative pivots, at about 4 n divisions each for the first 100 bits and again for
// each doubling of the bits. An eigenvalue that is halfway between two numbers of the format is
// found by the signs of exact minors.
func Tridiagonal(d, e *halfulp.Vector, f halfulp.Format, opt *halfulp.Options) (*halfulp.Vector, error) {
	if e.Len() != max(d.Len()-1, 0) {
		panic("eigen: shapes do not fit")
	}
	const name = "Tridiagonal"
	o := orDefault(opt)
	s, on, err := startOnHost(name, o, d, e)
	if err != nil {
		return nil, err
	}
	var z *num.Array
	if err = call.Finite("d", on[0].Mat()); err == nil {
		err = call.Finite("e", on[1].Mat())
	}
	if err == nil {
		z, err = roots.Eigenvalues(s, on[0], on[1], f.View())
	}
	return vectorResult(o, s, name, z, d.Device(), err)
}
