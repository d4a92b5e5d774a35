package ozaki

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/ozgpu"
	"github.com/halfulp/halfulp/internal/raw"
)

// DeviceGemm is [Gemm] for matrices in the memory of one GPU, where the work is done: C must not
// overlap A or B. Options.Device does not matter. Slices, their exponents, sums and bounds have
// the bits of the CPU, and so have results by Options.SGEMM = "own"; cuBLAS adds in an order of
// its own.
//
// Errors wrap halfulp.ErrMemory if the GPU has too little memory, halfulp.ErrMethod if there is
// no such SGEMM; else they are those of Gemm.
func DeviceGemm(tA, tB halfulp.Transpose, alpha float64, a, b *halfulp.DeviceMatrix, beta float64, c *halfulp.DeviceMatrix, opt *Options) (Stats, error) {
	r := newRun(opt)
	if r.Slices == 0 && !(r.Tolerance > 0) {
		panic(errTolerance)
	}
	r.alpha, r.beta = alpha, beta
	if err := r.resident(tA, tB, a, b, c, (*deviceRun).bySlices); err != nil {
		return r.stats, fmt.Errorf("ozaki.DeviceGemm: %w", err)
	}
	return r.stats, nil
}

// DeviceGemmDoubleFloat is [GemmDoubleFloat] for matrices in the memory of one GPU, as
// [DeviceGemm] is Gemm: it has the bits of the CPU. Its bounds may be a little above the
// CPU's.
func DeviceGemmDoubleFloat(tA, tB halfulp.Transpose, alpha float64, a, b *halfulp.DeviceMatrix, beta float64, c *halfulp.DeviceMatrix, opt *Options) (Stats, error) {
	r := newRun(opt)
	r.alpha, r.beta = alpha, beta
	if err := r.resident(tA, tB, a, b, c, (*deviceRun).byPairs); err != nil {
		return r.stats, fmt.Errorf("ozaki.DeviceGemmDoubleFloat: %w", err)
	}
	return r.stats, nil
}

// deviceRun is a product under way on a GPU.
type deviceRun struct {
	*run
	dev     *cuda.Device
	a, b, c gpu.Matrix // op(A), op(B), C
	sgemm   ozgpu.SGEMM
	s       *cuda.Stream // within do
	e       *ozgpu.Engine
}

// way is one way to multiply.
type way func(*deviceRun, *ozgpu.Product) (ozgpu.Stats, error)

// resident checks operands and runs a product.
func (r *run) resident(tA, tB halfulp.Transpose, a, b, c *halfulp.DeviceMatrix, multiply way) error {
	d, err := r.newDeviceRun(tA, tB, a, b, c)
	if err != nil {
		return err
	}
	if !finite(r.alpha) {
		return r.onHost(tA, tB, a, b, c)
	}
	err = d.dev.Do(d.ctx, func(s *cuda.Stream) (err error) {
		d.s = s
		if d.e, err = ozgpu.On(s); err != nil {
			return err
		}
		return d.product(multiply)
	})
	if errors.Is(err, cuda.ErrMemory) {
		err = fmt.Errorf("%w: %w", halfulp.ErrMemory, err)
	}
	return err
}

// newDeviceRun checks operands.
func (r *run) newDeviceRun(tA, tB halfulp.Transpose, a, b, c *halfulp.DeviceMatrix) (*deviceRun, error) {
	d := &deviceRun{run: r}
	devs := [3]*cuda.Device{}
	for i, m := range []struct {
		to *gpu.Matrix
		x  *halfulp.DeviceMatrix
		t  halfulp.Transpose
	}{{&d.a, a, tA}, {&d.b, b, tB}, {&d.c, c, halfulp.NoTrans}} {
		if f := m.x.Format(); f != halfulp.Float64 && (f != halfulp.Float32 || i == 2) {
			panic(errFormat)
		}
		devs[i], *m.to = raw.DeviceMatrix(m.x)
		switch m.t {
		case halfulp.NoTrans:
		case halfulp.Trans, halfulp.ConjTrans:
			*m.to = m.to.T()
		default:
			panic(errTranspose)
		}
	}
	if devs[0] != devs[2] || devs[1] != devs[2] {
		panic(errDevices)
	}
	if d.a.Cols != d.b.Rows || d.c.Rows != d.a.Rows || d.c.Cols != d.b.Cols {
		panic(errShape)
	}
	if d.c.Overlaps(d.a) || d.c.Overlaps(d.b) {
		panic(errOverlap)
	}
	if r.Bound != nil {
		if rows, cols := r.Bound.Dims(); rows != d.c.Rows || cols != d.c.Cols {
			panic(errShape)
		}
		if r.Bound.Format() != halfulp.Float64 {
			panic(errFormat)
		}
	}
	switch r.SGEMM {
	case "", "auto":
	case "own":
		d.sgemm = ozgpu.Own
	case "cublas":
		d.sgemm = ozgpu.CuBLAS
	default:
		return nil, fmt.Errorf("SGEMM %q: %w (want auto, cublas or own)", r.SGEMM, halfulp.ErrMethod)
	}
	d.dev = devs[2]
	r.stats.Device = d.dev.String()
	return d, nil
}

// onHost runs a product whose α is infinite or NaN on the CPU.
func (r *run) onHost(tA, tB halfulp.Transpose, a, b, c *halfulp.DeviceMatrix) error {
	var h [3]*halfulp.Matrix
	for i, m := range []*halfulp.DeviceMatrix{a, b, c} {
		var err error
		if h[i], err = m.Matrix(); err != nil {
			return err
		}
	}
	r.stats.Device = "cpu"
	r.a, r.b, r.c = op(tA, h[0]).left(), op(tB, h[1]).right(), view(h[2])
	if r.Bound != nil {
		bound := view(r.Bound)
		r.bound = &bound
	}
	if _, err := r.begin(); err != nil {
		return err
	}
	return c.Set(h[2])
}

// product runs one way to multiply, and gets the bounds if they are wanted.
func (d *deviceRun) product(multiply way) error {
	p := &ozgpu.Product{C: d.c, Alpha: d.alpha, Beta: d.beta, SGEMM: d.sgemm, Memory: d.Options.MemoryLimit}
	if d.Bound != nil {
		bound, err := gpu.NewArray(d.s, d.c.Arr.Format, d.c.Rows*d.c.Cols)
		if err != nil {
			return err
		}
		defer bound.Free()
		p.Bound = gpu.Matrix{Arr: bound, RS: 1, CS: max(d.c.Rows, 1), Rows: d.c.Rows, Cols: d.c.Cols}
	}
	var err error
	if p.Factors, err = d.e.NewFactors(d.s, d.a, d.b); err != nil {
		return err
	}
	defer p.Free()
	stats, err := multiply(d, p)
	if err != nil {
		return err
	}
	d.record(stats)
	if d.Bound == nil {
		return nil
	}
	return getTo(d.s, p.Bound, raw.Matrix(d.Bound))
}

// getTo copies a matrix that is all of its array to the host.
func getTo(s *cuda.Stream, from gpu.Matrix, to num.Mat) error {
	n := to.Rows * to.Cols
	if to.RS == 1 && (to.CS == to.Rows || to.Cols <= 1) {
		return from.Arr.Get(s, to.Arr.Slice(to.Off, to.Off+n))
	}
	h := num.New(to.Arr.Format, n)
	if err := from.Arr.Get(s, h); err != nil {
		return err
	}
	for j := range to.Cols {
		for i := range to.Rows {
			to.Arr.F64[0][to.At(i, j)] = h.F64[0][i+j*to.Rows]
		}
	}
	return nil
}

// bySlices finds the numbers of slices and of bits, as run.slices does, and multiplies.
func (d *deviceRun) bySlices(p *ozgpu.Product) (ozgpu.Stats, error) {
	n := d.a.Cols
	if d.alpha == 0 || n == 0 {
		return d.e.Gemm(d.s, p)
	}
	d.Block = min(d.Block, n)
	d.width = sliceWidth(d.Block)
	d.stats.Block, d.stats.Bits = d.Block, d.width
	if d.Slices == 0 {
		d.run.a = vectors{n: d.a.Rows, len: n, norms: d.norms(p.A)}
		d.run.b = vectors{n: d.b.Cols, len: n, norms: d.norms(p.B)}
		if err := d.choose(); err != nil {
			return ozgpu.Stats{}, err
		}
	}
	d.stats.Slices = d.Slices
	p.Slices, p.Width, p.Block, p.Bounds = d.Slices, d.width, d.Block, d.bounds
	return d.e.Gemm(d.s, p)
}

// byPairs multiplies in double-float arithmetic.
func (d *deviceRun) byPairs(p *ozgpu.Product) (ozgpu.Stats, error) {
	p.Bounds = d.pairsBounds
	return d.e.GemmDouble(d.s, p)
}

// norms returns what gives the norms of slices of entries of v.
func (d *deviceRun) norms(v *ozgpu.Vectors) func(h0, h1, slices int) (norms, error) {
	return func(h0, h1, slices int) (norms, error) {
		x, err := d.e.Norms(d.s, v, h0, h1, d.width, slices)
		return norms{x.Q, x.R}, err
	}
}

// bounds makes the bounds of a block.
func (d *deviceRun) bounds(a, b ozgpu.Norms, length int) ozgpu.Bounds {
	blocks := (d.a.Cols + d.Block - 1) / d.Block
	e := newErrorBound(norms{a.Q, a.R}, norms{b.Q, b.R}, d.Slices, d.width, length, blocks-1)
	return ozgpu.Bounds{X: e.x, Y: e.y, SumX: e.sumX, SumY: e.sumY, Tau: e.tau}
}

// pairsBounds are bounds like pairsBound from norms of the numbers rounded to float32, r_1 of no
// bits.
func (d *deviceRun) pairsBounds(a, b ozgpu.Norms, length int) ozgpu.Bounds {
	scaled := func(x []float64, factor float64) (y, zero []float64) {
		y = make([]float64, len(x))
		for i, v := range x {
			y[i] = v * (1 + 0x1p-22) * factor
		}
		return y, make([]float64, len(x))
	}
	x, sumX := scaled(a.R[0], 1)
	y, sumY := scaled(b.R[0], float64(3*length+10)*0x1p-48*(1+0x1p-10)*upward)
	return ozgpu.Bounds{X: [][]float64{x}, Y: [][]float64{y}, SumX: sumX, SumY: sumY, Tau: float64(length) * 0x1p-120}
}

// record enters what a product on a GPU tells.
func (d *deviceRun) record(s ozgpu.Stats) {
	d.stats.Kernel, d.stats.Products, d.stats.Skipped, d.stats.Parts = s.Kernel, s.Products, s.Skipped, s.Parts
	for i, t := range s.Stages {
		d.stats.Stages[i].Time += t
	}
}

// onDevice runs the product of matrices of the host on the GPU r.gpu, in parts of rows and
// columns if they take more than half of its memory.
func (r *run) onDevice(tA, tB halfulp.Transpose, a, b, c *halfulp.Matrix, multiply way) error {
	rows, cols := r.residentPart()
	if rows == r.c.rows && cols == r.c.cols {
		return r.travel(tA, tB, a, b, c, multiply)
	}
	if r.Slices == 0 { // one choice for all parts
		if done, err := r.prepare(); done || err != nil {
			return err
		}
	}
	if z := view(c); overlap(z, view(a)) || overlap(z, view(b)) {
		a, b = a.Clone(), b.Clone()
	}
	for j := 0; j < r.c.cols; j += cols {
		j1 := min(j+cols, r.c.cols)
		for i := 0; i < r.c.rows; i += rows {
			i1 := min(i+rows, r.c.rows)
			part := *r
			if r.Bound != nil {
				part.Bound = r.Bound.Slice(i, i1, j, j1)
			}
			if err := part.travel(tA, tB, rowsOf(tA, a, i, i1), colsOf(tB, b, j, j1), c.Slice(i, i1, j, j1), multiply); err != nil {
				return err
			}
			stats := part.stats
			stats.Products, stats.Skipped, stats.Parts = stats.Products+r.stats.Products, stats.Skipped+r.stats.Skipped, stats.Parts+r.stats.Parts
			r.stats = stats
		}
	}
	return nil
}

// residentPart returns how many rows and columns of C are computed at a time, so that they and
// their operands take up to half of the GPU's memory.
func (r *run) residentPart() (rows, cols int) {
	const least = 128
	rows, cols = r.c.rows, r.c.cols
	bytes := func() uint64 {
		m, n, k := uint64(rows), uint64(cols), uint64(r.a.len)
		return 8 * (k*(m+n) + 2*m*n)
	}
	for bytes() > r.gpu.Info().Memory/2 {
		switch {
		case rows > least && rows >= cols:
			rows = max((rows+1)/2, least)
		case cols > least:
			cols = max((cols+1)/2, least)
		default:
			return rows, cols // the GPU says whether it has enough
		}
	}
	return rows, cols
}

// rowsOf returns the part of m that gives the rows i to i1 of op(m).
func rowsOf(t halfulp.Transpose, m *halfulp.Matrix, i, i1 int) *halfulp.Matrix {
	if t == halfulp.NoTrans {
		return m.Slice(i, i1, 0, m.Cols())
	}
	return m.Slice(0, m.Rows(), i, i1)
}

// colsOf returns the part of m that gives the columns j to j1 of op(m).
func colsOf(t halfulp.Transpose, m *halfulp.Matrix, j, j1 int) *halfulp.Matrix {
	if t == halfulp.NoTrans {
		return m.Slice(0, m.Rows(), j, j1)
	}
	return m.Slice(j, j1, 0, m.Cols())
}

// travel copies operands to the GPU, runs the product there and copies the result back.
func (r *run) travel(tA, tB halfulp.Transpose, a, b, c *halfulp.Matrix, multiply way) error {
	name := r.gpu.String()
	x, err := a.To(name)
	if err != nil {
		return err
	}
	defer x.Free()
	y := x
	if b != a {
		if y, err = b.To(name); err != nil {
			return err
		}
		defer y.Free()
	}
	var z *halfulp.DeviceMatrix
	if r.beta == 0 {
		z, err = halfulp.NewDeviceMatrix(name, c.Format(), c.Rows(), c.Cols())
	} else {
		z, err = c.To(name)
	}
	if err != nil {
		return err
	}
	defer z.Free()
	if err := r.resident(tA, tB, x, y, z, multiply); err != nil {
		return err
	}
	return r.gpu.Do(r.ctx, func(s *cuda.Stream) error {
		_, from := raw.DeviceMatrix(z)
		return getTo(s, from, raw.Matrix(c))
	})
}

// device returns the GPU that Options.Device stands for, nil for the CPU.
func (r *run) device() (*cuda.Device, error) {
	list, err := raw.Devices(r.Device)
	switch {
	case err != nil || len(list) == 0:
		return nil, err
	case len(list) > 1:
		return nil, fmt.Errorf("device %q: %w (want one GPU)", r.Device, halfulp.ErrDevice)
	}
	dev, err := gpu.Open(list[0])
	if err != nil {
		return nil, fmt.Errorf("device %q: %w", r.Device, err)
	}
	return dev, nil
}
