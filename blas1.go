package halfulp

import (
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
)

// Sum returns RN(∑ x_i), the sum of the entries of x rounded once to format f. See Rounding,
// Special values, Devices and Errors in the package documentation.
func Sum(x *Vector, f Format, opt *Options) (Scalar, error) {
	return reduce("Sum", direct.Sum, x, x, f, opt)
}

// Asum returns RN(∑ |x_i|), the sum of the magnitudes of the entries of x rounded once to format f.
// See Rounding, Special values, Devices and Errors in the package documentation.
func Asum(x *Vector, f Format, opt *Options) (Scalar, error) {
	return reduce("Asum", direct.Asum, x, x, f, opt)
}

// Trace returns RN(∑ a_ii), the sum of the diagonal of a square matrix rounded once to format f.
// Other entries are not read. It panics if a is not square. See Rounding, Special values, Devices
// and Errors in the package documentation.
func Trace(a *Matrix, f Format, opt *Options) (Scalar, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	m := a.mat()
	d := &Vector{num.Vec{Arr: m.Arr, Off: m.Off, Inc: m.RS + m.CS, N: m.Rows}}
	return reduce("Trace", direct.Sum, d, d, f, opt)
}

// Dot returns RN(∑ x_i y_i), the scalar product of x and y rounded once to format f. It panics if
// the lengths differ. See Rounding, Special values, Devices and Errors in the package
// documentation.
func Dot(x, y *Vector, f Format, opt *Options) (Scalar, error) {
	if x.vec().N != y.vec().N {
		panic(errShape)
	}
	return reduce("Dot", direct.Dot, x, y, f, opt)
}

func reduce(name string, kind direct.Reduction, x, y *Vector, f Format, opt *Options) (Scalar, error) {
	r, err := begin(name, opt, x.vec().Arr, y.vec().Arr)
	if err != nil {
		return Scalar{}, err
	}
	if kind == direct.Dot {
		r.choose(direct.EstimateProducts(r.Threads, x.vec().N, x.vec().Arr.Format, y.vec().Arr.Format), vecBytes(x.vec())+vecBytes(y.vec()))
	} else {
		r.choose(direct.EstimateSum(r.Threads, x.vec().N, x.vec().Arr.Format), vecBytes(x.vec()))
	}
	z := num.New(f.View(), 1)
	var flags num.Flags
	var exact bool
	if r.at != nil {
		flags, exact, err = r.at.Reduce(r.Config(), kind, x.vec(), y.vec(), z)
	}
	if r.at == nil || r.leave(err) {
		flags, exact, err = kind.Round(r.work(), x.vec(), y.vec(), z)
	}
	return r.reduced(name, z, flags, exact, err)
}

// Nrm2 returns RN(√(∑ x_i²)), the Euclidean norm of x rounded once to format f: the correctly
// rounded square root of the exact sum, and +0 for the empty vector. If an entry is NaN the norm is
// NaN, otherwise if an entry is infinite it is +Inf. See Rounding, Devices and Errors in the
// package documentation.
func Nrm2(x *Vector, f Format, opt *Options) (Scalar, error) {
	r, err := begin("Nrm2", opt, x.vec().Arr)
	if err != nil {
		return Scalar{}, err
	}
	r.choose(direct.EstimateProducts(r.Threads, x.vec().N, x.vec().Arr.Format, x.vec().Arr.Format), vecBytes(x.vec()))
	z := num.New(f.View(), 1)
	var flags num.Flags
	var exact bool
	if r.at != nil {
		flags, exact, err = r.at.Norm(r.Config(), x.vec(), z)
	}
	if r.at == nil || r.leave(err) {
		flags, exact, err = direct.Norm(r.work(), x.vec(), z)
	}
	return r.reduced("Nrm2", z, flags, exact, err)
}

// Iamax returns the index of the first entry of x whose magnitude is largest. Magnitudes are
// compared exactly. NaN counts as larger than every number, so the first NaN wins; infinities are
// larger than finite numbers. The index is -1 if x is empty or after an error. See Devices and
// Errors in the package documentation.
func Iamax(x *Vector, opt *Options) (int, error) {
	r, err := begin("Iamax", opt, x.vec().Arr)
	if err != nil {
		return -1, err
	}
	var i int
	if r.at == nil {
		i, err = direct.LargestIndex(r.work(), x.vec())
	} else {
		i, err = r.at.Iamax(r.Config(), x.vec())
	}
	if err != nil {
		return -1, r.end(err)
	}
	r.stage("search")
	return i, r.end(nil)
}

// Copy stores y_i ← RN(x_i), each entry rounded once to the format of y. It panics if the lengths
// differ. The CPU copies vectors of the host, whatever Options.Device says. See Rounding, Aliasing,
// Devices and Errors in the package documentation.
func Copy(x, y *Vector, opt *Options) error {
	if r, err := beginThere("Copy", x, y, opt); err != nil {
		return err
	} else if r != nil {
		return r.there("Copy", r.copyThere(x.vec(), y.vec()))
	}
	return hostRun("Copy", 1, x, y, opt, func(r *run, x, y *Vector) error {
		z := num.New(y.vec().Arr.Format, y.vec().N)
		if err := direct.Copy(r.work(), x.vec(), z, r.count); err != nil {
			return err
		}
		store(y.vec().Mat(), z)
		r.stage("copy")
		return nil
	})
}

// CumSum stores the prefix sums y_i ← RN(x_1 + ... + x_i), each the exact sum rounded once to the
// format of y. It panics if the lengths differ. The CPU computes them, on copies if the vectors
// live on a device. The exact sum is kept from one entry to the next, so the cost is n additions
// and n roundings. See Rounding, Special values, Aliasing and Errors in the package documentation.
func CumSum(x, y *Vector, opt *Options) error {
	return hostRun("CumSum", 1, x, y, opt, func(r *run, x, y *Vector) error {
		z := num.New(y.vec().Arr.Format, y.vec().N)
		if err := direct.PrefixSums(r.work(), x.vec(), z, r.count); err != nil {
			return err
		}
		store(y.vec().Mat(), z)
		r.stage("sums")
		return nil
	})
}

// Swap exchanges x and y, x_i ← RN(y_i) and y_i ← RN(x_i), each entry rounded once to the format of
// its vector. If x and y overlap, x is written first. It panics if the lengths differ. The CPU
// exchanges vectors of the host, whatever Options.Device says. See Rounding, Aliasing, Devices and
// Errors in the package documentation.
func Swap(x, y *Vector, opt *Options) error {
	if r, err := beginThere("Swap", x, y, opt); err != nil {
		return err
	} else if r != nil {
		return r.there("Swap", r.swapThere(x.vec(), y.vec()))
	}
	return hostRun("Swap", 2, x, y, opt, func(r *run, x, y *Vector) error {
		u, v := num.New(x.vec().Arr.Format, x.vec().N), num.New(y.vec().Arr.Format, y.vec().N)
		if err := direct.Copy(r.work(), y.vec(), u, r.count); err != nil {
			return err
		}
		r.stage("x")
		if err := direct.Copy(r.work(), x.vec(), v, r.count); err != nil {
			return err
		}
		store(x.vec().Mat(), u)
		store(y.vec().Mat(), v)
		r.stage("y")
		return nil
	})
}

// swapThere is Swap on the device where x and y live.
func (r *run) swapThere(x, y num.Vec) error {
	vectors := []num.Vec{x, y}
	var copies []num.Vec
	for i, to := range vectors {
		a, err := r.at.New(r.Ctx, to.Arr.Format, to.N, 1)
		if err != nil {
			return err
		}
		defer a.Away.Free()
		copies = append(copies, num.Vec{Arr: a, Inc: 1, N: to.N})
		if err := r.copyThere(vectors[1-i], copies[i]); err != nil {
			return err
		}
	}
	for i, to := range vectors {
		if err := r.copyThere(copies[i], to); err != nil {
			return err
		}
	}
	return nil
}

// Axpy stores y_i ← RN(α x_i + y_i), each entry rounded once to the format of y. α = 0 leaves y
// unchanged. It panics if the lengths differ. See Rounding, Special values, Aliasing, Devices and
// Errors in the package documentation.
func Axpy(alpha Scalar, x, y *Vector, opt *Options) error {
	if x.vec().N != y.vec().N {
		panic(errShape)
	}
	return update("Axpy", y.vec().Mat(), alpha, opt, func(r *run, s num.Real, z *num.Array) error {
		if r.at == nil {
			return direct.Update(r.work(), s, x.vec(), one, y.vec().Mat(), z, r.count)
		}
		return r.at.Update(r.Config(), s, x.vec(), num.Vec{}, y.vec().Mat(), z, r.count)
	}, x.vec().Arr)
}

// Scal stores x_i ← RN(α x_i), each entry rounded once to the format of x. α = 0 stores +0. See
// Rounding, Special values, Devices and Errors in the package documentation.
func Scal(alpha Scalar, x *Vector, opt *Options) error {
	r, err := begin("Scal", opt, x.vec().Arr)
	if err != nil {
		return err
	}
	z := r.result(x.vec().Arr.Format, x.vec().N)
	if r.at == nil {
		err = direct.Scale(r.work(), alpha.value(), x.vec(), z, r.count)
	} else {
		err = r.at.Scal(r.Config(), alpha.value(), x.vec(), z, r.count)
	}
	if err != nil {
		return r.end(err)
	}
	store(x.vec().Mat(), z)
	r.stage("scale")
	return r.end(nil)
}

// one is the vector (1).
var one = func() num.Vec {
	a := num.New(num.Float64, 1)
	a.F64[0][0] = 1
	return num.Vec{Arr: a, Inc: 1, N: 1}
}()

// update computes new entries of A, column by column, by calling compute with s = alpha, and stores
// them in A. others are the other operands. alpha = 0 leaves A unchanged.
func update(name string, a num.Mat, alpha Scalar, opt *Options, compute func(r *run, s num.Real, z *num.Array) error, others ...*num.Array) error {
	r, err := begin(name, opt, append(others, a.Arr)...)
	if err != nil {
		return err
	}
	s := alpha.value()
	if s.Class == num.Zero || a.Rows == 0 || a.Cols == 0 {
		return r.end(nil)
	}
	z := r.result(a.Arr.Format, a.Rows*a.Cols)
	if err := compute(r, s, z); err != nil {
		return r.end(err)
	}
	store(a, z)
	r.stage("update")
	return r.end(nil)
}

// result returns room on the host for n results of format f, or nil if the operands live on a
// device and the results stay there.
func (r *run) result(f num.Format, n int) *num.Array {
	if r.ondevice {
		return nil
	}
	return num.New(f, n)
}

// store copies z, the entries of a column by column, to a. A nil z means that the results are in a
// already.
func store(a num.Mat, z *num.Array) {
	if z == nil {
		return
	}
	for j := range a.Cols {
		if a.RS == 1 {
			a.Arr.CopyRun(a.At(0, j), z, j*a.Rows, a.Rows)
			continue
		}
		for i := range a.Rows {
			a.Arr.CopyFrom(a.At(i, j), z, i+j*a.Rows)
		}
	}
}
