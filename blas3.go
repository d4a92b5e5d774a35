package halfulp

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/num"
)

// Gemm computes C = alpha op(A) op(B) + beta C, op(X) = X or Xᵀ:
//
//	c_ij = RN(alpha Σ_h op(a)_ih op(b)_hj + beta c_ij)
//
// with op(A) m x k, op(B) k x n, C m x n, in any mix of formats. Each entry is
// the number of C's format nearest to the exact value, ties to even: one rounding
// in all. alpha = 0 leaves A and B unread, beta = 0 leaves C unread. Infinities,
// NaN and signed zeros follow IEEE 754 on the sum of the products alpha a_ih b_hj
// and beta c_ij: an exact zero is -0 only if every addend is -0.
//
// C may share storage with A or B: the result is that for distinct matrices. Gemm
// panics if shapes do not fit. It returns an error for an unknown device or method,
// for a product that does not fit the memory allowed, and that of a cancelled
// context; the contents of C are then unspecified.
//
// The method "residue" runs the exact engine: integer matrix products modulo
// small coprime moduli (Ozaki scheme II), the Chinese remainder theorem, and Ziv's
// rounding test with an exact second pass; "direct" accumulates exactly, entry by
// entry.
func Gemm(tA, tB Transpose, alpha Scalar, a, b *Matrix, beta Scalar, c *Matrix, opt *Options) (Stats, error) {
	return GemmTo(tA, tB, alpha, a, b, beta, c, c, opt)
}

// GemmTo computes D = alpha op(A) op(B) + beta C like Gemm, rounded once to the
// format of D, which may be another one than C's. D may share storage with any
// of the others. For beta = 0, C may be nil.
func GemmTo(tA, tB Transpose, alpha Scalar, a, b *Matrix, beta Scalar, c, d *Matrix, opt *Options) (Stats, error) {
	opA, preA := a.op(tA)
	opB, preB := b.op(tB)
	if c == nil {
		c = &Matrix{m: num.Mat{Arr: &num.Array{}, Rows: opA.Rows, Cols: opB.Cols}}
		if !beta.isZero() {
			panic(errNoC)
		}
	}
	for _, x := range []num.Mat{c.m, d.m} {
		if x.Rows != opA.Rows || x.Cols != opB.Cols || opA.Cols != opB.Rows {
			panic(errShape)
		}
	}
	defer runtime.KeepAlive(a) // what is prepared
	defer runtime.KeepAlive(b)
	return gemm(opA, opB, c.m, d.m, alpha, beta, preA, preB, 0, opt)
}

// Syrk computes C = alpha A Aᵀ + beta C for t = NoTrans, or alpha Aᵀ A + beta C
// for t = Trans, in the triangle uplo of the n x n matrix C; the other triangle is
// neither read nor written. Rounding, special values, aliasing and errors are
// those of Gemm.
func Syrk(uplo Uplo, t Transpose, alpha Scalar, a *Matrix, beta Scalar, c *Matrix, opt *Options) (Stats, error) {
	if uplo != Upper && uplo != Lower {
		panic(errUplo)
	}
	opA, pre := a.op(t)
	if c.m.Rows != opA.Rows || c.m.Cols != opA.Rows {
		panic(errShape)
	}
	defer runtime.KeepAlive(a) // what is prepared
	return gemm(opA, opA.T(), c.m, c.m, alpha, beta, pre, pre, byte(uplo), opt)
}

// op returns op(m) as a view with what is prepared of it.
func (m *Matrix) op(t Transpose) (num.Mat, *prepared) {
	switch t {
	case NoTrans:
		return m.m, m.prepared
	case Trans, ConjTrans:
		return m.m.T(), m.prepared
	}
	panic(errTranspose)
}

func gemm(a, b, old, c num.Mat, alpha, beta Scalar, preA, preB *prepared, triangle byte, opt *Options) (Stats, error) {
	s, err := opt.settings()
	if err != nil {
		return Stats{}, err
	}
	cfg := exact.Config{
		Ctx: s.ctx, Threads: s.threads, Method: s.method, Memory: s.memory, Progress: s.progress, Triangle: triangle,
	}
	out := c
	if c.Arr.Overlaps(a.Arr) || c.Arr.Overlaps(b.Arr) || old != c && c.Arr.Overlaps(old.Arr) {
		out = copyMat(c)
	}
	var bufA, bufB [num.MaxValueWords]uint64
	al, be := alpha.array().Value(0, bufA[:]), beta.array().Value(0, bufB[:])
	var st exact.Stats
	chosen := s.devices[0] == auto
	if chosen {
		s.devices = []int{fasterDevice(s, a, b, c)}
	}
	onCPU := s.devices[0] == cpu
	if !onCPU {
		if err := s.gpuMethod(); err != nil {
			return Stats{}, err
		}
		if chosen && be.Class != num.Zero && out.Arr == old.Arr {
			out = copyMat(c) // for the CPU to begin anew
		}
		on := cfg
		on.Memory = s.limit
		st, err = gemmOn(s.devices, on, al, a, b, be, old, out, [2]*gpu.Copies{preA.onGPU(), preB.onGPU()})
		onCPU = chosen && s.leaves(err)
	}
	if onCPU {
		st, err = exact.Gemm(cfg, al, a, b, be, old, out, preA.onCPU(), preB.onCPU())
	}
	if err == nil && out.Arr != c.Arr {
		for j := range c.Cols {
			for i := range c.Rows {
				c.Arr.CopyFrom(c.At(i, j), out.Arr, out.At(i, j))
			}
		}
	}
	switch {
	case errors.Is(err, exact.ErrMemory):
		err = fmt.Errorf("gemm %d x %d x %d: %w in %d bytes for method residue", c.Rows, a.Cols, c.Cols, ErrMemory, s.memory)
	case errors.Is(err, exact.ErrRange):
		err = fmt.Errorf("gemm: %w: method residue does not reach this precision, spread of exponents or alpha", ErrMethod)
	}
	return stats(st, s.threads), err
}

// gemmOn is exact.Gemm on GPUs.
func gemmOn(devices []int, cfg exact.Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat, copies [2]*gpu.Copies) (exact.Stats, error) {
	devs, err := openDevices(devices)
	if err != nil {
		return exact.Stats{}, fmt.Errorf("gemm: %w", err)
	}
	on := gpu.Config{Ctx: cfg.Ctx, Threads: cfg.Threads, Memory: cfg.Memory, Triangle: cfg.Triangle, Timing: true,
		More: devs[1:], Copies: copies, Progress: cfg.Progress}
	st, err := gpu.Gemm(devs[0], on, alpha, a, b, beta, old, c)
	if err != nil {
		return st, gemmError(c.Rows, a.Cols, c.Cols, err)
	}
	return st, nil
}

// gpuMethod is the error of methods that GPUs do not have for products of matrices.
func (s settings) gpuMethod() error {
	if s.method == methodDirect {
		return fmt.Errorf("gemm: method %q: %w: GPUs have the residue method only", s.method, ErrMethod)
	}
	return nil
}

// gemmError is the error of a GPU in an m x k x n product.
func gemmError(m, k, n int, err error) error {
	return fmt.Errorf("gemm %d x %d x %d: %w", m, k, n, deviceError(err))
}

// copyMat returns a compact copy of m.
func copyMat(m num.Mat) num.Mat {
	z := num.Mat{Arr: num.New(m.Arr.Format, m.Rows*m.Cols), RS: 1, CS: m.Rows, Rows: m.Rows, Cols: m.Cols}
	for j := range m.Cols {
		for i := range m.Rows {
			z.Arr.CopyFrom(z.At(i, j), m.Arr, m.At(i, j))
		}
	}
	return z
}

func stats(st exact.Stats, threads int) Stats {
	z := Stats{
		Device: st.Device, Method: st.Method, Kernel: st.Kernel, Threads: threads, Moduli: st.Moduli, Products: st.Products,
		WidthA: st.WidthL, WidthB: st.WidthR, Blocks: st.Blocks, Exact: st.Exact, Overflow: st.Overflow, Underflow: st.Underflow,
	}
	for _, g := range st.Stages {
		z.Stages = append(z.Stages, Stage(g))
	}
	return z
}

// Prepare returns a matrix equal to a that keeps, from its first product on, its
// exponents and the residues of its aligned integers, for repeated products with
// other matrices. It shares storage with a, which must not change while the
// result is in use. Results have the same bits as with a itself.
//
// The residues take about (2p + 60)/13 words of 2 bytes an entry at p bits. Views
// of the result, but for its transposition by a routine's argument, are ordinary
// matrices.
//
// GPUs keep a copy of a as well, in what DeviceMatrix.Prepare may take of their
// memory, until the result is collected as garbage.
func Prepare(a *Matrix) *Matrix {
	p := &prepared{exact.NewPrepared(a.m), gpu.NewCopies(a.m)}
	m := &Matrix{m: a.m, prepared: p}
	runtime.AddCleanup(m, (*gpu.Copies).Free, p.gpu)
	return m
}
