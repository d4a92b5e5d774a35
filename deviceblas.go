package halfulp

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/num"
)

// The routines for operands in the memory of a GPU: those of blas1.go, blas2.go and blas3.go,
// bit for bit, with the order of arguments, special values and errors that they have there.
// They run where their operands are, opt.Device being left aside, and panic if those are on
// several GPUs or freed. An output may overlap an operand only where that is said.

// DeviceSum is Sum for a vector in the memory of a GPU. Nothing travels but a few words,
// unless x has infinities or NaN or its exponents spread so far that the host sums it.
func DeviceSum(x *DeviceVector, f Format, opt *Options) (Scalar, Stats, error) {
	return deviceReduce("DeviceSum", direct.Sum, x, x, f, opt)
}

// DeviceAsum is Asum for a vector in the memory of a GPU, with the transfers of DeviceSum.
// The host sums vectors in the formats DD, TD and QD.
func DeviceAsum(x *DeviceVector, f Format, opt *Options) (Scalar, Stats, error) {
	return deviceReduce("DeviceAsum", direct.Asum, x, x, f, opt)
}

// DeviceDot is Dot for vectors in the memory of one GPU, with the transfers of DeviceSum.
func DeviceDot(x, y *DeviceVector, f Format, opt *Options) (Scalar, Stats, error) {
	if x.v.N != y.v.N {
		panic(errShape)
	}
	return deviceReduce("DeviceDot", direct.Dot, x, y, f, opt)
}

func deviceReduce(name string, kind direct.Reduction, x, y *DeviceVector, f Format, opt *Options) (Scalar, Stats, error) {
	return deviceScalar(name, placeOf(x, y), f, opt, func(r *run, s *cuda.Stream, z *num.Array) (num.Flags, gpu.Counts, error) {
		return gpu.ReduceResident(s, r.config(), kind, x.v, y.v, z)
	})
}

// DeviceNrm2 is Nrm2 for a vector in the memory of a GPU, with the transfers of DeviceSum.
func DeviceNrm2(x *DeviceVector, f Format, opt *Options) (Scalar, Stats, error) {
	return deviceScalar("DeviceNrm2", placeOf(x), f, opt, func(r *run, s *cuda.Stream, z *num.Array) (num.Flags, gpu.Counts, error) {
		return gpu.NormResident(s, r.config(), x.v, z)
	})
}

// deviceScalar runs a reduction to one number of format f on a GPU.
func deviceScalar(name string, dev *cuda.Device, f Format, opt *Options,
	reduce func(r *run, s *cuda.Stream, z *num.Array) (num.Flags, gpu.Counts, error)) (Scalar, Stats, error) {
	r, err := beginAt(name, dev, opt)
	if err != nil {
		return Scalar{}, Stats{}, err
	}
	z := num.New(f.f, 1)
	var flags num.Flags
	var n gpu.Counts
	err = dev.Do(r.ctx, func(s *cuda.Stream) (err error) {
		flags, n, err = reduce(r, s, z)
		return err
	})
	return r.reduced(name, z, flags, n.Host > 0, err)
}

// DeviceMean is Mean for a vector in the memory of a GPU, with the transfers of DeviceSum.
func DeviceMean(x *DeviceVector, f Format, opt *Options) (Scalar, Stats, error) {
	return deviceStatistic("DeviceMean", x, f, opt, mean)
}

// DeviceStdDev is StdDev for a vector in the memory of a GPU, with the transfers of DeviceSum.
func DeviceStdDev(x *DeviceVector, f Format, opt *Options) (Scalar, Stats, error) {
	return deviceStatistic("DeviceStdDev", x, f, opt, stdDev)
}

// DeviceAutocorr1 is Autocorr1 for a vector in the memory of a GPU, with the transfers of
// DeviceSum.
func DeviceAutocorr1(x *DeviceVector, f Format, opt *Options) (Scalar, Stats, error) {
	return deviceStatistic("DeviceAutocorr1", x, f, opt, autocorr1)
}

func deviceStatistic(name string, x *DeviceVector, f Format, opt *Options, compute func(x sample, f Format) (num.Real, error)) (Scalar, Stats, error) {
	dev := placeOf(x)
	r, err := beginAt(name, dev, opt)
	if err != nil {
		return Scalar{}, Stats{}, err
	}
	var v num.Real
	err = dev.Do(r.ctx, func(s *cuda.Stream) (err error) {
		v, err = compute(sample{x.v.N, func(list ...direct.Moment) ([]*direct.Acc, error) {
			sums, _, err := gpu.MomentsResident(s, r.config(), x.v, list...)
			return sums, err
		}, func(i int) (num.Vec, error) {
			m, err := x.Slice(i, i+1).v.Col().Get(s)
			return m.Col(0), err
		}}, f)
		return err
	})
	return r.computed(name, v, f, err)
}

// DeviceIamax is Iamax for a vector in the memory of a GPU.
func DeviceIamax(x *DeviceVector, opt *Options) (int, Stats, error) {
	dev := placeOf(x)
	r, err := beginAt("DeviceIamax", dev, opt)
	if err != nil {
		return -1, Stats{}, err
	}
	best := -1
	err = dev.Do(r.ctx, func(s *cuda.Stream) (err error) {
		best, _, err = gpu.IamaxResident(s, r.config(), x.v)
		return err
	})
	if err != nil {
		return -1, r.end(), fmt.Errorf("DeviceIamax: %w", deviceError(err))
	}
	r.stage("search")
	return best, r.end(), nil
}

// DeviceAxpy is Axpy for vectors in the memory of one GPU, which may overlap. Nothing travels but
// a few words, and the vectors if the host computes some entries: of vectors in the formats DD, TD
// and QD whose terms spread far, and of some whose precision is too high for the GPU. With an error
// y is unspecified.
func DeviceAxpy(alpha Scalar, x, y *DeviceVector, opt *Options) (Stats, error) {
	if x.v.N != y.v.N {
		panic(errShape)
	}
	return deviceUpdate("DeviceAxpy", placeOf(x, y), alpha, opt, func(r *run, s *cuda.Stream) (gpu.Counts, error) {
		return gpu.AxpyResident(s, r.config(), alpha.value(), x.v, y.v, r.count)
	})
}

// DeviceScal is Scal for a vector in the memory of a GPU, with the transfers and errors of
// DeviceAxpy.
func DeviceScal(alpha Scalar, x *DeviceVector, opt *Options) (Stats, error) {
	return deviceRun("DeviceScal", "scale", placeOf(x), opt, func(r *run, s *cuda.Stream) (gpu.Counts, error) {
		return gpu.ScalResident(s, r.config(), alpha.value(), x.v, r.count)
	})
}

// DeviceGer is Ger for operands in the memory of one GPU, which may overlap, with the transfers and
// errors of DeviceAxpy.
func DeviceGer(alpha Scalar, x, y *DeviceVector, a *DeviceMatrix, opt *Options) (Stats, error) {
	if x.v.N != a.m.Rows || y.v.N != a.m.Cols {
		panic(errShape)
	}
	return deviceUpdate("DeviceGer", placeOf(x, y, a), alpha, opt, func(r *run, s *cuda.Stream) (gpu.Counts, error) {
		return gpu.GerResident(s, r.config(), alpha.value(), x.v, y.v, a.m, r.count)
	})
}

// deviceUpdate runs an update, which alpha = 0 leaves out.
func deviceUpdate(name string, dev *cuda.Device, alpha Scalar, opt *Options, compute func(r *run, s *cuda.Stream) (gpu.Counts, error)) (Stats, error) {
	return deviceRun(name, "update", dev, opt, func(r *run, s *cuda.Stream) (gpu.Counts, error) {
		if alpha.isZero() {
			return gpu.Counts{}, nil
		}
		return compute(r, s)
	})
}

// deviceRun runs a routine that stores its results.
func deviceRun(name, stage string, dev *cuda.Device, opt *Options, compute func(r *run, s *cuda.Stream) (gpu.Counts, error)) (Stats, error) {
	r, err := beginAt(name, dev, opt)
	if err != nil {
		return Stats{}, err
	}
	err = dev.Do(r.ctx, func(s *cuda.Stream) error {
		_, err := compute(r, s)
		return err
	})
	if err != nil {
		return r.end(), fmt.Errorf("%s: %w", name, deviceError(err))
	}
	r.stage(stage)
	return r.end(), nil
}

// DeviceGemv is Gemv for operands in the memory of one GPU. Nothing travels but a few words,
// and the operands of rows that the host computes: those with infinities or NaN or a wide spread
// of exponents, and all if alpha is no power of two, beta is not 0 or the format of y is DD, TD
// or QD. It panics if y overlaps A or x.
func DeviceGemv(t Transpose, alpha Scalar, a *DeviceMatrix, x *DeviceVector, beta Scalar, y *DeviceVector, opt *Options) (Stats, error) {
	return DeviceGemvTo(t, alpha, a, x, beta, y, y, opt)
}

// DeviceGemvTo is GemvTo for operands in the memory of one GPU, with the transfers of
// DeviceGemv. It panics if z overlaps A or x, or y without being the same view. For
// beta = 0, y may be nil.
func DeviceGemvTo(t Transpose, alpha Scalar, a *DeviceMatrix, x *DeviceVector, beta Scalar, y, z *DeviceVector, opt *Options) (Stats, error) {
	m := a.op(t)
	if y == nil {
		if !beta.isZero() {
			panic(errNoC)
		}
		y = z
	}
	if x.v.N != m.Cols || y.v.N != m.Rows || z.v.N != m.Rows {
		panic(errShape)
	}
	dev := placeOf(a, x, y, z)
	apart(z.v.Col(), m, x.v.Col())
	if y.v != z.v {
		apart(z.v.Col(), y.v.Col())
	}
	return deviceRun("DeviceGemv", "product", dev, opt, func(r *run, s *cuda.Stream) (gpu.Counts, error) {
		n, err := gpu.GemvResident(s, r.config(), alpha.value(), m, x.v, beta.value(), y.v, z.v, r.count)
		r.exact.Add(n.Host)
		return n, err
	})
}

// apart panics if the output c overlaps an operand.
func apart(c gpu.Matrix, operands ...gpu.Matrix) {
	for _, m := range operands {
		if c.Overlaps(m) {
			panic(errAlias)
		}
	}
}

// DeviceGemm is Gemm for matrices in the memory of one GPU. Nothing travels but a few words,
// and operands and result if the host has to compute some entries: those with infinities or NaN
// or a wide spread of exponents. It panics if C overlaps A or B.
func DeviceGemm(tA, tB Transpose, alpha Scalar, a, b *DeviceMatrix, beta Scalar, c *DeviceMatrix, opt *Options) (Stats, error) {
	return DeviceGemmTo(tA, tB, alpha, a, b, beta, c, c, opt)
}

// DeviceGemmTo is GemmTo for matrices in the memory of one GPU, with the transfers of
// DeviceGemm. It panics if D overlaps A or B, or C without being the same view. For
// beta = 0, C may be nil.
func DeviceGemmTo(tA, tB Transpose, alpha Scalar, a, b *DeviceMatrix, beta Scalar, c, d *DeviceMatrix, opt *Options) (Stats, error) {
	x, y := a.op(tA), b.op(tB)
	if c == nil {
		if !beta.isZero() {
			panic(errNoC)
		}
		c = d
	}
	for _, z := range []gpu.Matrix{c.m, d.m} {
		if z.Rows != x.Rows || z.Cols != y.Cols || x.Cols != y.Rows {
			panic(errShape)
		}
	}
	return deviceGemm(placeOf(a, b, c, d), x, y, c.m, d.m, alpha, beta, 0, opt)
}

// DeviceSyrk is Syrk for matrices in the memory of one GPU, with the transfers of DeviceGemm.
// It panics if C overlaps A.
func DeviceSyrk(uplo Uplo, t Transpose, alpha Scalar, a *DeviceMatrix, beta Scalar, c *DeviceMatrix, opt *Options) (Stats, error) {
	if uplo != Upper && uplo != Lower {
		panic(errUplo)
	}
	x := a.op(t)
	if c.m.Rows != x.Rows || c.m.Cols != x.Rows {
		panic(errShape)
	}
	return deviceGemm(placeOf(a, c), x, x.T(), c.m, c.m, alpha, beta, byte(uplo), opt)
}

func deviceGemm(dev *cuda.Device, a, b, old, c gpu.Matrix, alpha, beta Scalar, triangle byte, opt *Options) (Stats, error) {
	apart(c, a, b)
	if old != c {
		apart(c, old)
	}
	s, err := opt.settings()
	if err != nil {
		return Stats{}, err
	}
	if err := s.gpuMethod(); err != nil {
		return Stats{}, err
	}
	cfg := gpu.Config{Ctx: s.ctx, Threads: s.threads, Method: s.method, Memory: s.limit, Triangle: triangle, Progress: s.progress}
	var st exact.Stats
	err = dev.Do(s.ctx, func(s *cuda.Stream) (err error) {
		st, err = gpu.GemmResident(s, cfg, alpha.value(), a, b, beta.value(), old, c)
		return err
	})
	if errors.Is(err, exact.ErrRange) {
		return Stats{}, beyondResidue()
	}
	if err != nil {
		return Stats{}, gemmError(c.Rows, a.Cols, c.Cols, err)
	}
	return stats(st, s.threads), nil
}
