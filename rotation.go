package halfulp

import (
	"strings"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// Rot applies a plane rotation to n points, (x_i, y_i) ← (RN(c x_i + s y_i), RN(c y_i - s x_i)),
// each number rounded once to the format of its vector. c = 0 and s = 0 multiply like any other
// number. If x and y overlap, x is written first. It panics if the lengths differ. The CPU rotates
// vectors of the host, whatever Options.Device says. See Rounding, Special values, Aliasing,
// Devices and Errors in the package documentation.
func Rot(x, y *Vector, c, s Scalar, opt *Options) error {
	u, v := c.value(), s.value()
	w := v
	if w.Class != num.NaN {
		w.Neg = !w.Neg
	}
	return transform("Rot", x, y, [4]num.Real{u, w, v, u}, opt)
}

// RotmFlag selects the stored entries of the matrix of a modified Givens rotation.
type RotmFlag int

// The values of RotmFlag, as in the BLAS.
const (
	RotmIdentity    RotmFlag = -2 // H = I
	RotmRescaling   RotmFlag = -1 // all of H
	RotmOffDiagonal RotmFlag = 0  // h21 and h12; h11 = h22 = 1
	RotmDiagonal    RotmFlag = 1  // h11 and h22; h21 = -1, h12 = 1
)

// RotmParams is the matrix of a modified Givens rotation,
//
//	H = (h11 h12)
//	    (h21 h22).
//
// Flag selects the entries that are read.
type RotmParams struct {
	Flag               RotmFlag
	H11, H21, H12, H22 Scalar
}

// Rotm applies a modified Givens rotation to n points,
//
//	(x_i, y_i) ← (RN(h11 x_i + h12 y_i), RN(h21 x_i + h22 y_i)),
//
// each number rounded once to the format of its vector. RotmIdentity changes nothing. It panics for
// any other flag than the values of [RotmFlag]. The rest is as for [Rot].
func Rotm(x, y *Vector, p RotmParams, opt *Options) error {
	one := direct.One(false)
	h := [4]num.Real{one, one, one, one}
	switch p.Flag {
	case RotmIdentity:
		if r, err := beginThere("Rotm", x, y, opt); err != nil {
			return err
		} else if r != nil {
			return r.there("Rotm", nil)
		}
		return hostRun("Rotm", 2, x, y, opt, func(*run, *Vector, *Vector) error { return nil })
	case RotmRescaling:
		h = [4]num.Real{p.H11.value(), p.H21.value(), p.H12.value(), p.H22.value()}
	case RotmOffDiagonal:
		h[1], h[2] = p.H21.value(), p.H12.value()
	case RotmDiagonal:
		h[0], h[3] = p.H11.value(), p.H22.value()
		h[1].Neg = true
	default:
		panic(errRotmFlag)
	}
	return transform("Rotm", x, y, h, opt)
}

// transform stores h11 x + h12 y in x and h21 x + h22 y in y; h holds the matrix by columns.
func transform(name string, x, y *Vector, h [4]num.Real, opt *Options) error {
	r, err := beginThere(name, x, y, opt)
	if err != nil {
		return err
	}
	if r != nil {
		if w, ok := widenerOf(r.at, x.vec().Arr.Format, y.vec().Arr.Format); ok {
			return r.there(name, r.transform(w, x.vec(), y.vec(), h))
		}
	}
	return hostRun(name, 2, x, y, opt, func(r *run, x, y *Vector) error {
		u, v := num.New(x.vec().Arr.Format, x.vec().N), num.New(y.vec().Arr.Format, x.vec().N)
		if err := direct.Combine(r.work(), h[0], x.vec(), h[2], y.vec(), u, r.count); err != nil {
			return err
		}
		r.stage("x")
		if err := direct.Combine(r.work(), h[1], x.vec(), h[3], y.vec(), v, r.count); err != nil {
			return err
		}
		store(x.vec().Mat(), u)
		store(y.vec().Mat(), v)
		r.stage("y")
		return nil
	})
}

// beginThere begins a routine of two vectors of equal length on the device where they live. It
// returns nil for vectors of the host.
func beginThere(name string, x, y *Vector, opt *Options) (*run, error) {
	if x.vec().N != y.vec().N {
		panic(errShape)
	}
	r, err := begin(name, opt, x.vec().Arr, y.vec().Arr)
	if err != nil || !r.ondevice {
		return nil, err
	}
	return r, nil
}

// there ends a routine on a device.
func (r *run) there(name string, err error) error {
	if err != nil {
		return r.end(err)
	}
	r.stage(strings.ToLower(name))
	return r.end(nil)
}

// transform is function transform on the device of x and y: it multiplies the matrix (x y) by the
// columns of Hᵀ.
func (r *run) transform(w place.Widener, x, y num.Vec, h [4]num.Real) error {
	m := num.Mat{RS: 1, CS: max(x.N, 1), Rows: x.N, Cols: 2}
	var err error
	if m.Arr, err = r.at.New(r.Ctx, commonFormat(x.Mat(), y.Mat()), x.N, 2); err != nil {
		return err
	}
	defer m.Arr.Away.Free()
	for j, v := range []num.Vec{x, y} {
		if err := w.Widen(r.Config(), m.Col(j).Mat(), v.Mat()); err != nil {
			return err
		}
	}
	for j, z := range []num.Vec{x, y} {
		if err := r.timesThere(m, []num.Real{h[j], h[2+j]}, z); err != nil {
			return err
		}
	}
	return nil
}

// timesThere stores RN(M w) in z on a device. w lies on the host; z shares no storage with M.
func (r *run) timesThere(m num.Mat, w []num.Real, z num.Vec) error {
	f := num.Format{Kind: num.MP, Prec: 2}
	for _, v := range w {
		f.Prec = max(f.Prec, uint32(num.BitLen(v.Mag)))
	}
	h := num.New(f, len(w))
	for i, v := range w {
		h.Set(i, v)
	}
	a, err := r.at.New(r.Ctx, f, len(w), 1)
	if err != nil {
		return err
	}
	defer a.Away.Free()
	v := num.Vec{Arr: a, Inc: 1, N: len(w)}
	if err := r.at.Set(r.Ctx, v.Mat(), num.Vec{Arr: h, Inc: 1, N: len(w)}.Mat()); err != nil {
		return err
	}
	exact, err := r.at.Gemv(r.Config(), direct.One(false), m, v, num.Real{}, z, z, r.count)
	r.exact.Add(exact)
	return err
}

// copyThere stores RN(x) in z on the device of both. x and z may overlap.
func (r *run) copyThere(x, z num.Vec) error {
	if x.Arr.Format == z.Arr.Format {
		return r.at.Copy(r.Config(), z.Mat(), x.Mat())
	}
	return r.timesThere(x.Mat(), []num.Real{direct.One(false)}, z)
}

// hostRun runs a routine of two vectors of equal length on the CPU, on copies if the vectors live
// on a device. For outputs = 1 it copies y back, for outputs = 2 x and y.
func hostRun(name string, outputs int, x, y *Vector, opt *Options, compute func(r *run, x, y *Vector) error) error {
	if x.vec().N != y.vec().N {
		panic(errShape)
	}
	done, err := throughHost(name, opt, []num.Mat{x.vec().Mat(), y.vec().Mat()}, outputs, func(h []*Matrix, opt *Options) error {
		return hostRun(name, outputs, h[0].Col(0), h[1].Col(0), opt, compute)
	})
	if done {
		return err
	}
	r, err := beginOnHost(name, opt)
	if err != nil {
		return err
	}
	if err := compute(r, x, y); err != nil {
		return r.end(err)
	}
	return r.end(nil)
}

// Givens is a plane rotation, together with the result of rotating the point that it was made for.
type Givens struct {
	C, S Scalar // cosine and sine
	R    Scalar // the rotated point is (R, 0)
	Z    Scalar // one number that C and S can be found from
}

// Rotg returns the plane rotation that takes the point (a, b) to (r, 0),
//
//	c = RN(a/ρ), s = RN(b/ρ), r = RN(ρ), ρ = σ √(a² + b²),
//
// where σ is the sign of a if |a| > |b|, otherwise the sign of b. It also returns z = s if |a| >
// |b|, otherwise z = RN(ρ/a). Each of the four numbers is the exact value rounded once to format f;
// no square overflows or underflows. For b = 0 they are 1, 0, RN(a) and 0, otherwise for a = 0 they
// are 0, 1, RN(b) and 1, as in the BLAS. z gives c and s: s = z and c = √(1 - z²) for |z| < 1, c =
// 1/z and s = √(1 - c²) for |z| > 1, and c = 0, s = 1 for z = 1.
//
// If a or b is NaN, all four numbers are NaN. If one is infinite, they are the limits; if both are,
// c, s and z are NaN. The error is an error of the options, including a cancelled context.
//
// Source: Lawson, Hanson, Kincaid and Krogh, Basic Linear Algebra Subprograms for Fortran usage,
// ACM TOMS 5 (1979), section 5; signs as in LAPACK 3.10.
func Rotg(a, b Scalar, f Format, opt *Options) (Givens, error) {
	r, err := beginOnHost("Rotg", opt)
	if err != nil {
		return Givens{}, err
	}
	c, s, rho, z := direct.Givens(f.View(), a.value(), b.value())
	g := Givens{r.scalar(f, c), r.scalar(f, s), r.scalar(f, rho), r.scalar(f, z)}
	r.stage("rotation")
	return g, r.end(nil)
}

// ModifiedGivens is a modified Givens rotation, with the new scale factors and the new first
// component of the vector that it was made for.
type ModifiedGivens struct {
	RotmParams
	D1, D2, X1 Scalar
}

// Rotmg returns the modified Givens rotation H that makes the second component of the vector
// (√d1 x1, √d2 y1) zero: with q1 = d1 x1² and q2 = d2 y1²
//
//	d1 < 0:                 all numbers 0, RotmRescaling
//	else d2 y1 = 0:         d1, d2 and x1 as they are, RotmIdentity
//	else |q1| > |q2|:       h21 = -y1/x1, h12 = d2 y1/(d1 x1), d1/u, d2/u, x1 u, u = 1 + q2/q1, RotmOffDiagonal
//	else q2 > 0:            h11 = d1 x1/(d2 y1), h22 = x1/y1, d2/u, d1/u, y1 u, u = 1 + q1/q2, RotmDiagonal
//	else:                   all numbers 0, RotmRescaling
//
// Then, with γ = 4096, the numbers are rescaled as long as d1 is not 0 and not between γ^-2 and γ²:
// d1 ← d1 γ^±2, x1 ← x1 γ^∓1, and (h11, h12) ← (h11, h12) γ^∓1. The same is done for |d2|, with d2
// and (h21, h22). Either rescaling makes the flag RotmRescaling. Entries of H that the flag does
// not select are 0 here.
//
// Every decision is made on the exact numbers, and every number returned is the exact value rounded
// once to format f: no intermediate result overflows. If an input is infinite or NaN, all numbers
// are NaN and the flag is RotmRescaling. The error is an error of the options, including a
// cancelled context.
//
// Source: Lawson, Hanson, Kincaid and Krogh 1979 (see Rotg), section 5; Hopkins, Remark on
// Algorithm 539: A modified Givens rotation, ACM TOMS 23 (1997).
func Rotmg(d1, d2, x1, y1 Scalar, f Format, opt *Options) (ModifiedGivens, error) {
	r, err := beginOnHost("Rotmg", opt)
	if err != nil {
		return ModifiedGivens{}, err
	}
	m := direct.ModifiedGivens(f.View(), d1.value(), d2.value(), x1.value(), y1.value())
	g := ModifiedGivens{
		RotmParams{RotmFlag(m.Flag), r.scalar(f, m.H11), r.scalar(f, m.H21), r.scalar(f, m.H12), r.scalar(f, m.H22)},
		r.scalar(f, m.D1), r.scalar(f, m.D2), r.scalar(f, m.X1),
	}
	r.stage("rotation")
	return g, r.end(nil)
}
