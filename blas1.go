package halfulp

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/num"
)

// Sum returns RN(∑ x_i), the sum of the entries of x rounded once to format f.
//
// NaN and opposite infinities give NaN, else an infinity gives itself. The
// result is -0 only if x is not empty and all its entries are -0; any other zero
// is +0. The error is of the options, a cancelled context included; there is no
// result then.
func Sum(x *Vector, f Format, opt *Options) (Scalar, Stats, error) {
	return reduce("Sum", direct.Sum, x, x, f, opt)
}

// Asum returns RN(∑ |x_i|), the sum of the magnitudes of the entries of x
// rounded once to format f, with the special values and errors of Sum.
func Asum(x *Vector, f Format, opt *Options) (Scalar, Stats, error) {
	return reduce("Asum", direct.Asum, x, x, f, opt)
}

// Dot returns RN(∑ x_i y_i), the scalar product of x and y rounded once to format
// f, with the special values and errors of Sum, the addends being the exact
// products, 0 ∞ = NaN. It panics if the lengths differ.
func Dot(x, y *Vector, f Format, opt *Options) (Scalar, Stats, error) {
	if x.v.N != y.v.N {
		panic(errShape)
	}
	return reduce("Dot", direct.Dot, x, y, f, opt)
}

func reduce(name string, kind direct.Reduction, x, y *Vector, f Format, opt *Options) (Scalar, Stats, error) {
	r, err := beginOn(name, opt)
	if err != nil {
		return Scalar{}, Stats{}, err
	}
	if kind == direct.Dot {
		r.choose(direct.EstimateProducts(r.threads, x.v.N, x.v.Arr.Format, y.v.Arr.Format), vecBytes(x.v)+vecBytes(y.v))
	} else {
		r.choose(direct.EstimateSum(r.threads, x.v.N, x.v.Arr.Format), vecBytes(x.v))
	}
	z := num.New(f.f, 1)
	var flags num.Flags
	var exact bool
	if r.gpu != nil {
		var n gpu.Counts
		flags, n, err = gpu.Reduce(r.gpu, r.config(), kind, x.v, y.v, z)
		exact = n.Host > 0
	}
	if r.gpu == nil || r.leave(err) {
		flags, exact, err = kind.Round(r.work(), x.v, y.v, z)
	}
	return r.reduced(name, z, flags, exact, err)
}

// Nrm2 returns RN(√(∑ x_i²)), the Euclidean norm of x rounded once to format f:
// the correctly rounded root of the exact sum. NaN gives NaN, else an infinity
// gives +Inf. The norm of the empty vector is +0. Errors are those of Sum.
func Nrm2(x *Vector, f Format, opt *Options) (Scalar, Stats, error) {
	r, err := beginOn("Nrm2", opt)
	if err != nil {
		return Scalar{}, Stats{}, err
	}
	r.choose(direct.EstimateProducts(r.threads, x.v.N, x.v.Arr.Format, x.v.Arr.Format), vecBytes(x.v))
	z := num.New(f.f, 1)
	var flags num.Flags
	var exact bool
	if r.gpu != nil {
		var n gpu.Counts
		flags, n, err = gpu.Norm(r.gpu, r.config(), x.v, z)
		exact = n.Host > 0
	}
	if r.gpu == nil || r.leave(err) {
		flags, exact, err = direct.Norm(r.work(), x.v, z)
	}
	return r.reduced("Nrm2", z, flags, exact, err)
}

// Iamax returns the index of the first entry of x of the largest magnitude,
// compared exactly. The first NaN counts as larger than everything; infinities
// are larger than finite numbers. The index is -1 if x is empty. Errors are
// those of Sum.
func Iamax(x *Vector, opt *Options) (int, Stats, error) {
	r, err := beginOn("Iamax", opt)
	if err != nil {
		return -1, Stats{}, err
	}
	var i int
	if r.gpu == nil {
		i, err = direct.LargestIndex(r.work(), x.v)
	} else {
		i, _, err = gpu.Iamax(r.gpu, r.config(), x.v)
	}
	if err != nil {
		return -1, r.end(), fmt.Errorf("Iamax: %w", deviceError(err))
	}
	r.stage("search")
	return i, r.end(), nil
}

// Copy stores y_i ← RN(x_i), each entry rounded once to the format of y. It panics if the
// lengths differ. x and y may overlap in any way: all of x is read before y is written. With an
// error, a cancelled context included, y is unchanged. It runs on the CPU whatever the device, which has
// to exist.
func Copy(x, y *Vector, opt *Options) (Stats, error) {
	return hostRun("Copy", x, y, opt, func(r *run) error {
		z := num.New(y.v.Arr.Format, y.v.N)
		if err := direct.Copy(r.work(), x.v, z, r.count); err != nil {
			return err
		}
		store(y.v.Mat(), z)
		r.stage("copy")
		return nil
	})
}

// Swap exchanges x and y, x_i ← RN(y_i) and y_i ← RN(x_i), each entry rounded once to the format
// of its vector. All is read before x and then y are written, which may overlap. The rest
// is as for Copy.
func Swap(x, y *Vector, opt *Options) (Stats, error) {
	return hostRun("Swap", x, y, opt, func(r *run) error {
		u, v := num.New(x.v.Arr.Format, x.v.N), num.New(y.v.Arr.Format, y.v.N)
		if err := direct.Copy(r.work(), y.v, u, r.count); err != nil {
			return err
		}
		r.stage("x")
		if err := direct.Copy(r.work(), x.v, v, r.count); err != nil {
			return err
		}
		store(x.v.Mat(), u)
		store(y.v.Mat(), v)
		r.stage("y")
		return nil
	})
}

// Axpy stores y_i ← RN(α x_i + y_i), each entry rounded once to the format of y.
// α = 0 leaves x unread and y unchanged. An exact zero is -0 only if both α x_i
// and y_i are. It panics if the lengths differ. x and y may overlap in any way:
// all of x and y is read before y is written. With an error, a cancelled context
// included, y is unchanged.
func Axpy(alpha Scalar, x, y *Vector, opt *Options) (Stats, error) {
	if x.v.N != y.v.N {
		panic(errShape)
	}
	return update("Axpy", y.v.Mat(), alpha, opt, func(r *run, s num.Real, z *num.Array) error {
		if r.gpu == nil {
			return direct.Update(r.work(), s, x.v, one, y.v.Mat(), z, r.count)
		}
		_, err := gpu.Axpy(r.gpu, r.config(), s, x.v, y.v, z, r.count)
		return err
	})
}

// Scal stores x_i ← RN(α x_i), each entry rounded once to the format of x.
// α = 0 leaves x unread and stores +0. With an error, a cancelled context
// included, x is unchanged.
func Scal(alpha Scalar, x *Vector, opt *Options) (Stats, error) {
	r, err := beginOn("Scal", opt)
	if err != nil {
		return Stats{}, err
	}
	z := num.New(x.v.Arr.Format, x.v.N)
	if r.gpu == nil {
		err = direct.Scale(r.work(), alpha.value(), x.v, z, r.count)
	} else {
		_, err = gpu.Scal(r.gpu, r.config(), alpha.value(), x.v, z, r.count)
	}
	if err != nil {
		return r.end(), fmt.Errorf("Scal: %w", deviceError(err))
	}
	store(x.v.Mat(), z)
	r.stage("scale")
	return r.end(), nil
}

// one is the vector (1).
var one = func() num.Vec {
	a := num.New(num.Float64, 1)
	a.F64[0][0] = 1
	return num.Vec{Arr: a, Inc: 1, N: 1}
}()

// update stores what compute makes of A, by columns, in A. alpha = 0 leaves A as it is.
func update(name string, a num.Mat, alpha Scalar, opt *Options, compute func(r *run, s num.Real, z *num.Array) error) (Stats, error) {
	r, err := beginOn(name, opt)
	if err != nil {
		return Stats{}, err
	}
	s := alpha.value()
	if s.Class == num.Zero || a.Rows == 0 || a.Cols == 0 {
		return r.end(), nil
	}
	z := num.New(a.Arr.Format, a.Rows*a.Cols)
	if err := compute(r, s, z); err != nil {
		return r.end(), fmt.Errorf("%s: %w", name, deviceError(err))
	}
	store(a, z)
	r.stage("update")
	return r.end(), nil
}

// store copies z, the entries of a by columns, to a.
func store(a num.Mat, z *num.Array) {
	for j := range a.Cols {
		for i := range a.Rows {
			a.Arr.CopyFrom(a.At(i, j), z, i+j*a.Rows)
		}
	}
}
