package halfulp

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/halfulp/halfulp/internal/direct"
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
	c = orUnread(c, beta, opA.Rows, opB.Cols)
	for _, x := range []num.Mat{c.m, d.m} {
		if x.Rows != opA.Rows || x.Cols != opB.Cols || opA.Cols != opB.Rows {
			panic(errShape)
		}
	}
	defer runtime.KeepAlive(a) // what is prepared
	defer runtime.KeepAlive(b)
	return gemm(opA, opB, c.m, d.m, alpha, beta, preA, preB, 0, opt)
}

// orUnread returns c, or a matrix of that shape that beta = 0 leaves unread where there is no c.
func orUnread(c *Matrix, beta Scalar, rows, cols int) *Matrix {
	if c != nil {
		return c
	}
	if !beta.isZero() {
		panic(errNoC)
	}
	return &Matrix{m: num.Mat{Arr: &num.Array{}, Rows: rows, Cols: cols}}
}

// Syrk computes C = alpha A Aᵀ + beta C for t = NoTrans, or alpha Aᵀ A + beta C
// for t = Trans, in the triangle uplo of the n x n matrix C; the other triangle is
// neither read nor written. Rounding, special values, aliasing and errors are
// those of Gemm.
func Syrk(uplo Uplo, t Transpose, alpha Scalar, a *Matrix, beta Scalar, c *Matrix, opt *Options) (Stats, error) {
	uplo.isUpper()
	opA, pre := a.op(t)
	if c.m.Rows != opA.Rows || c.m.Cols != opA.Rows {
		panic(errShape)
	}
	defer runtime.KeepAlive(a) // what is prepared
	return gemm(opA, opA.T(), c.m, c.m, alpha, beta, pre, pre, byte(uplo), opt)
}

// Syr2k computes C = alpha A Bᵀ + alpha B Aᵀ + beta C for t = NoTrans, or
// alpha Aᵀ B + alpha Bᵀ A + beta C for t = Trans, in the triangle uplo of the n x n matrix C,
//
//	c_ij = RN(alpha Σ_h (op(a)_ih op(b)_jh + op(b)_ih op(a)_jh) + beta c_ij),
//
// one expression and one rounding; the other triangle is neither read nor written. A and B have
// the same shape. Rounding, special values, aliasing and errors are those of Gemm: the product
// is that of (A B) and (B A)ᵀ, of which it keeps copies.
func Syr2k(uplo Uplo, t Transpose, alpha Scalar, a, b *Matrix, beta Scalar, c *Matrix, opt *Options) (Stats, error) {
	return Syr2kTo(uplo, t, alpha, a, b, beta, c, c, opt)
}

// Syr2kTo computes the triangle uplo of D = alpha A Bᵀ + alpha B Aᵀ + beta C, or of the transposed product, like
// Syr2k, rounded once to the format of D, which may be another one than C's. D may share storage with
// any of the others. For beta = 0, C may be nil.
func Syr2kTo(uplo Uplo, t Transpose, alpha Scalar, a, b *Matrix, beta Scalar, c, d *Matrix, opt *Options) (Stats, error) {
	uplo.isUpper()
	opA, _ := a.op(t)
	opB, _ := b.op(t)
	n, k := opA.Rows, opA.Cols
	c = orUnread(c, beta, n, n)
	if opB.Rows != n || opB.Cols != k || c.m.Rows != n || c.m.Cols != n || d.m.Rows != n || d.m.Cols != n {
		panic(errShape)
	}
	both := num.Mat{Arr: &num.Array{}, RS: 1, CS: n, Rows: n, Cols: 3 * k}
	if !alpha.isZero() { // A, B and A side by side
		both.Arr = num.New(commonFormat(opA, opB), 3*n*k)
		for part, m := range []num.Mat{opA, opB, opA} {
			columns := both
			columns.Off, columns.Cols = both.At(0, part*k), k
			if m.Arr.Format == both.Arr.Format {
				copyTo(columns, m)
				continue
			}
			for h := range k {
				for i := range n {
					both.Arr.Convert(columns.At(i, h), m.Arr, m.At(i, h))
				}
			}
		}
	}
	left, right := both, both
	left.Cols, right.Cols = 2*k, 2*k
	right.Off = both.At(0, k)
	return gemm(left, right.T(), c.m, d.m, alpha, beta, nil, nil, byte(uplo), opt)
}

// commonFormat returns a format that holds all numbers of a and b.
func commonFormat(a, b num.Mat) num.Format {
	f, g := a.Arr.Format, b.Arr.Format
	if f.Kind > g.Kind || f.Kind == g.Kind && f.Prec > g.Prec {
		a, f, g = b, g, f
	}
	if g.Kind != num.MP || f.Kind == num.MP {
		return g // the kinds are ordered by what they hold
	}
	bits := int64(f.Prec)
	if f.Terms() > 1 {
		for j := range a.Cols {
			for i := range a.Rows {
				if c, top, low := a.Arr.Span(a.At(i, j)); c == num.Finite {
					bits = max(bits, top-low)
				}
			}
		}
	}
	return num.Format{Kind: num.MP, Prec: max(g.Prec, uint32(bits))}
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
	out := c
	if c.Arr.Overlaps(a.Arr) || c.Arr.Overlaps(b.Arr) || old != c && c.Arr.Overlaps(old.Arr) {
		out = copyMat(c)
	}
	st, err := s.multiply(alpha.value(), a, b, beta.value(), old, out, preA, preB, triangle)
	if err == nil && out.Arr != c.Arr {
		copyTo(c, out)
	}
	return stats(st, s.threads), err
}

// multiply computes C = alpha A B + beta Old on the device asked for. C shares no storage with
// A and B, and with Old only if it is the same view.
func (s settings) multiply(alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat, preA, preB *prepared, triangle byte) (exact.Stats, error) {
	cfg := exact.Config{
		Ctx: s.ctx, Threads: s.threads, Method: s.method, Memory: s.memory, Progress: s.progress, Triangle: triangle,
	}
	var st exact.Stats
	var err error
	chosen := s.devices[0] == auto
	if chosen {
		s.devices = []int{fasterDevice(s, a, b, c)}
	}
	onCPU := s.devices[0] == cpu
	if !onCPU {
		if err := s.gpuMethod(); err != nil {
			return st, err
		}
		if chosen && beta.Class != num.Zero && c.Arr == old.Arr {
			old = copyMat(old) // for the CPU to begin anew
		}
		on := cfg
		on.Memory = s.limit
		st, err = gemmOn(s.devices, on, alpha, a, b, beta, old, c, [2]*gpu.Copies{preA.onGPU(), preB.onGPU()})
		onCPU = chosen && s.leaves(err)
	}
	if onCPU {
		st, err = exact.Gemm(cfg, alpha, a, b, beta, old, c, preA.onCPU(), preB.onCPU())
	}
	switch {
	case errors.Is(err, exact.ErrMemory):
		err = fmt.Errorf("gemm %d x %d x %d: %w in %d bytes for method residue", c.Rows, a.Cols, c.Cols, ErrMemory, s.memory)
	case errors.Is(err, exact.ErrRange):
		err = beyondResidue()
	}
	return st, err
}

// beyondResidue is the error of products that only the direct method can compute, where the
// other is asked for.
func beyondResidue() error {
	return fmt.Errorf("gemm: %w: method residue does not reach this precision, spread of exponents or alpha", ErrMethod)
}

// gemmOn is exact.Gemm on GPUs.
func gemmOn(devices []int, cfg exact.Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat, copies [2]*gpu.Copies) (exact.Stats, error) {
	devs, err := openDevices(devices)
	if err != nil {
		return exact.Stats{}, fmt.Errorf("gemm: %w", err)
	}
	on := gpu.Config{Ctx: cfg.Ctx, Threads: cfg.Threads, Method: cfg.Method, Memory: cfg.Memory, Triangle: cfg.Triangle, Timing: true,
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
	copyTo(z, m)
	return z
}

// copyTo copies the entries of b to a, of the same shape and format.
func copyTo(a, b num.Mat) {
	for j := range a.Cols {
		for i := range a.Rows {
			a.Arr.CopyFrom(a.At(i, j), b.Arr, b.At(i, j))
		}
	}
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

// Symm computes C = alpha A B + beta C for side = Left, or alpha B A + beta C for side = Right, with a symmetric
// matrix A, of which a holds the triangle uplo; the other triangle is not read. Each entry is
// rounded once to the format of C. Special values, aliasing and errors are those of Gemm. A is
// copied, by blocks of rows where memory is short. It panics for a bad side or uplo and for shapes that do not fit.
func Symm(side Side, uplo Uplo, alpha Scalar, a, b *Matrix, beta Scalar, c *Matrix, opt *Options) (Stats, error) {
	return SymmTo(side, uplo, alpha, a, b, beta, c, c, opt)
}

// SymmTo computes D = alpha A B + beta C, or D = alpha B A + beta C for side = Right, like Symm, rounded once to the
// format of D, which may be another one than C's. D may share storage with any of the others. For beta = 0, C
// may be nil.
func SymmTo(side Side, uplo Uplo, alpha Scalar, a, b *Matrix, beta Scalar, c, d *Matrix, opt *Options) (Stats, error) {
	c = orUnread(c, beta, d.m.Rows, d.m.Cols)
	return structuredGemm("Symm", side, symmetric(uplo, a), alpha, b.m, beta, c.m, d.m, opt)
}

// Trmm stores B = alpha op(A) B for side = Left, or alpha B op(A) for side = Right, with a triangular matrix A,
// which a holds in the triangle uplo; the other triangle, and for diag = Unit the diagonal, is not
// read and makes no addends: 0 · ∞ is not met there. Each entry is rounded once to the format of B.
// alpha = 0 leaves A and B unread and stores +0. A is copied, by blocks of rows. B may overlap A in any
// way. With an error, a cancelled context included, B is unchanged. Special values are those
// of Gemm. It panics for a bad side, uplo, tA or diag and for shapes that do not fit.
func Trmm(side Side, uplo Uplo, tA Transpose, diag Diag, alpha Scalar, a, b *Matrix, opt *Options) (Stats, error) {
	return TrmmTo(side, uplo, tA, diag, alpha, a, b, b, opt)
}

// TrmmTo stores C = alpha op(A) B, or alpha B op(A) for side = Right, like Trmm, rounded once to the format of C,
// which may be another one than B's. C may share storage with the others; if it does not, its contents
// are unspecified after an error.
func TrmmTo(side Side, uplo Uplo, tA Transpose, diag Diag, alpha Scalar, a, b, c *Matrix, opt *Options) (Stats, error) {
	return structuredGemm("Trmm", side, oriented(triangular(uplo, diag, a), tA), alpha, b.m, Float(0), c.m, c.m, opt)
}

// structuredGemm computes D = alpha S B + beta C, or alpha B S + beta C for side = Right.
func structuredGemm(name string, side Side, s direct.Structured, alpha Scalar, b num.Mat, beta Scalar, c, d num.Mat, opt *Options) (Stats, error) {
	switch side {
	case Left:
	case Right:
		s, b, c, d = s.T(), b.T(), c.T(), d.T()
	default:
		panic(errSide)
	}
	for _, x := range []num.Mat{c, d} {
		if b.Rows != s.Cols || x.Rows != s.Rows || b.Cols != x.Cols {
			panic(errShape)
		}
	}
	set, err := opt.settings()
	if err != nil {
		return Stats{}, fmt.Errorf("%s: %w", name, err)
	}
	p := structuredProduct{settings: set, s: s, alpha: alpha.value(), b: b, beta: beta.value(), old: c, c: d}
	if d.Arr.Overlaps(s.Array()) || d.Arr.Overlaps(b.Arr) || d != c && d.Arr.Overlaps(c.Arr) {
		p.c = copyMat(d)
	}
	if err := p.run(); err != nil {
		return stats(p.stats, p.threads), fmt.Errorf("%s: %w", name, err)
	}
	if p.c.Arr != d.Arr {
		copyTo(d, p.c)
	}
	return stats(p.stats, p.threads), nil
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
