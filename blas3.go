package halfulp

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
)

// Gemm computes C = α op(A) op(B) + β C, op(X) = X or Xᵀ:
//
//	c_ij = RN(α Σ_h op(a)_ih op(b)_hj + β c_ij)
//
// with op(A) m x k, op(B) k x n, C m x n, in any mix of formats, each entry rounded once to the
// format of C. It panics for a bad tA or tB and for shapes that do not fit. See Rounding, Special
// values, Aliasing, Devices and Errors in the package documentation.
//
// The method "residue" runs the exact engine: integer matrix products modulo small coprime moduli
// (Ozaki scheme II), the Chinese remainder theorem, and Ziv's rounding test with an exact second
// pass. The method "direct", which devices do not have, multiplies a matrix by vectors like Gemv,
// or accumulates exactly, entry by entry.
func Gemm(tA, tB Transpose, alpha Scalar, a, b *Matrix, beta Scalar, c *Matrix, opt *Options) error {
	return GemmTo(tA, tB, alpha, a, b, beta, c, c, opt)
}

// GemmTo computes D = α op(A) op(B) + β C like [Gemm], rounded once to the format of D, which may
// differ from the format of C. For β = 0, C may be nil.
func GemmTo(tA, tB Transpose, alpha Scalar, a, b *Matrix, beta Scalar, c, d *Matrix, opt *Options) error {
	opA, preA := a.op(tA)
	opB, preB := b.op(tB)
	c = orUnread(c, beta, d)
	for _, x := range []num.Mat{c.mat(), d.mat()} {
		if x.Rows != opA.Rows || x.Cols != opB.Cols || opA.Cols != opB.Rows {
			panic(errShape)
		}
	}
	defer runtime.KeepAlive(a) // keeps its prepared data
	defer runtime.KeepAlive(b)
	return gemm(opA, opB, c.mat(), d.mat(), alpha, beta, preA, preB, 0, opt)
}

// orUnread returns c, or the output d if c is nil: beta = 0 leaves it unread. It panics if c is nil
// and beta is not 0.
func orUnread(c *Matrix, beta Scalar, d *Matrix) *Matrix {
	if c != nil {
		return c
	}
	if !beta.isZero() {
		panic(errNoC)
	}
	return d
}

// Syrk computes C = α A Aᵀ + β C for t = NoTrans, or α Aᵀ A + β C for t = Trans, in the triangle
// uplo of the n x n matrix C; the other triangle is neither read nor written. It panics for a bad
// uplo or t and for shapes that do not fit. The rest is as for [Gemm].
func Syrk(uplo Uplo, t Transpose, alpha Scalar, a *Matrix, beta Scalar, c *Matrix, opt *Options) error {
	uplo.isUpper()
	opA, pre := a.op(t)
	if c.mat().Rows != opA.Rows || c.mat().Cols != opA.Rows {
		panic(errShape)
	}
	defer runtime.KeepAlive(a) // keeps its prepared data
	return gemm(opA, opA.T(), c.mat(), c.mat(), alpha, beta, pre, pre, byte(uplo), opt)
}

// Syr2k computes C = α A Bᵀ + α B Aᵀ + β C for t = NoTrans, or α Aᵀ B + α Bᵀ A + β C for t = Trans,
// in the triangle uplo of the n x n matrix C,
//
//	c_ij = RN(α Σ_h (op(a)_ih op(b)_jh + op(b)_ih op(a)_jh) + β c_ij),
//
// one expression and one rounding. The other triangle is neither read nor written. A and B have the
// same shape. It panics for a bad uplo or t and for shapes that do not fit. It copies A and B and
// multiplies (A B) by (B A)ᵀ. The rest is as for [Gemm].
func Syr2k(uplo Uplo, t Transpose, alpha Scalar, a, b *Matrix, beta Scalar, c *Matrix, opt *Options) error {
	return Syr2kTo(uplo, t, alpha, a, b, beta, c, c, opt)
}

// Syr2kTo computes the triangle uplo of D = α A Bᵀ + α B Aᵀ + β C, or of the transposed product,
// like [Syr2k], rounded once to the format of D, which may differ from the format of C. For β = 0,
// C may be nil.
func Syr2kTo(uplo Uplo, t Transpose, alpha Scalar, a, b *Matrix, beta Scalar, c, d *Matrix, opt *Options) error {
	uplo.isUpper()
	opA, _ := a.op(t)
	opB, _ := b.op(t)
	n, k := opA.Rows, opA.Cols
	c = orUnread(c, beta, d)
	if opB.Rows != n || opB.Cols != k || c.mat().Rows != n || c.mat().Cols != n || d.mat().Rows != n || d.mat().Cols != n {
		panic(errShape)
	}
	if p, err := whereabouts("Syr2k", a.mat().Arr, b.mat().Arr, c.mat().Arr, d.mat().Arr); err != nil {
		return err
	} else if w, ok := widenerOf(p, opA.Arr.Format, opB.Arr.Format); ok {
		return syr2kAt(p, w, uplo, alpha, opA, opB, beta, c.mat(), d.mat(), opt)
	}
	done, err := throughHost("Syr2k", opt, []num.Mat{a.mat(), b.mat(), c.mat(), d.mat()}, 1, func(h []*Matrix, opt *Options) error {
		return Syr2kTo(uplo, t, alpha, h[0], h[1], beta, h[2], h[3], opt)
	})
	if done {
		return err
	}
	both := num.Mat{Arr: &num.Array{}, RS: 1, CS: n, Rows: n, Cols: 3 * k}
	if !alpha.isZero() { // A, B and A side by side
		both.Arr = num.New(commonFormat(opA, opB), 3*n*k)
		for part, m := range []num.Mat{opA, opB, opA} {
			columns := both
			columns.Off, columns.Cols = both.At(0, part*k), k
			if m.Arr.Format == both.Arr.Format {
				columns.CopyFrom(m)
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
	return gemm(left, right.T(), c.mat(), d.mat(), alpha, beta, nil, nil, byte(uplo), opt)
}

// widenerOf returns the part of p that copies numbers of formats f and g to a format that holds
// both. ok is false if p has no such part for f and g.
func widenerOf(p place.Place, f, g num.Format) (w place.Widener, ok bool) {
	w, ok = place.Part[place.Widener](p)
	return w, ok && (w.Widens(f, g) || w.Widens(g, f) || f.Terms() <= 1 && g.Terms() <= 1)
}

// syr2kAt is Syr2kTo for op(A) and op(B) on the device where all operands live.
func syr2kAt(p place.Place, w place.Widener, uplo Uplo, alpha Scalar, a, b num.Mat, beta Scalar, c, d num.Mat, opt *Options) error {
	s, err := opt.settings()
	if err != nil {
		return fmt.Errorf("Syr2k: %w", err)
	}
	n, k := a.Rows, a.Cols
	both := num.Mat{RS: 1, CS: max(n, 1), Rows: n, Cols: 3 * k}
	if both.Arr, err = p.New(s.Ctx, commonFormat(a, b), n, both.Cols); err != nil {
		return fmt.Errorf("Syr2k: %w", err)
	}
	defer both.Arr.Away.Free()
	part := func(at, cols int) num.Mat {
		m := both
		m.Off, m.Cols = m.At(0, at), cols
		return m
	}
	for i, m := range []num.Mat{a, b, a} {
		if err := w.Widen(s.Config(), part(i*k, k), m); err != nil {
			return fmt.Errorf("Syr2k: %w", err)
		}
	}
	return gemm(part(0, 2*k), part(k, 2*k).T(), c, d, alpha, beta, nil, nil, byte(uplo), opt)
}

// commonFormat returns a format that holds all numbers of a and b exactly.
func commonFormat(a, b num.Mat) num.Format {
	f, g := a.Arr.Format, b.Arr.Format
	if f.Kind > g.Kind || f.Kind == g.Kind && f.Prec > g.Prec {
		a, f, g = b, g, f
	}
	if g.Kind != num.MP || f.Kind == num.MP {
		return g // every kind holds the numbers of the kinds before it
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

// op returns op(m) as a view, with the data that Prepare keeps for m, or nil. It panics for a bad
// t.
func (m *Matrix) op(t Transpose) (num.Mat, *place.Kept) {
	switch t {
	case NoTrans:
		return m.mat(), m.prepared
	case Trans, ConjTrans:
		return m.mat().T(), m.prepared
	}
	panic(errTranspose)
}

// gemm computes C = alpha A B + beta Old, only in the triangle of C if triangle is not 0.
func gemm(a, b, old, c num.Mat, alpha, beta Scalar, preA, preB *place.Kept, triangle byte, opt *Options) error {
	if _, err := whereabouts("gemm", a.Arr, b.Arr, old.Arr, c.Arr); err != nil {
		return err // before errors of the options
	}
	s, err := opt.settings()
	if err != nil {
		return fmt.Errorf("gemm: %w", err)
	}
	st, err := s.Gemm(&place.Gemm{
		Problem: product.Problem{Alpha: alpha.value(), A: a, B: b, Beta: beta.value(), Old: old, C: c, Triangle: triangle},
		Kept:    [2]*place.Kept{preA, preB},
	})
	return opt.report(stats(st, s.Threads), err)
}

func stats(st residue.Stats, threads int) Stats {
	z := Stats{
		Device: st.Device, Processes: st.Processes, Method: Method(st.Method), Kernel: st.Kernel, Threads: threads, Moduli: st.Moduli, Products: st.Products,
		WidthA: st.WidthL, WidthB: st.WidthR, Blocks: st.Blocks, Exact: st.Exact, Overflow: st.Overflow, Underflow: st.Underflow,
	}
	if st.Check != (residue.Check{}) {
		z.Check = (*Check)(&st.Check)
	}
	for _, g := range st.Stages {
		z.Stages = append(z.Stages, Stage(g))
	}
	return z
}

// Symm computes C = α A B + β C for side = Left, or α B A + β C for side = Right, with a symmetric
// matrix A. a holds the triangle uplo of A; the other triangle is not read. Each entry is rounded
// once to the format of C. It panics for a bad side or uplo and for shapes that do not fit. A is
// copied, by blocks of rows where memory is short. The rest is as for [Gemm].
func Symm(side Side, uplo Uplo, alpha Scalar, a, b *Matrix, beta Scalar, c *Matrix, opt *Options) error {
	return SymmTo(side, uplo, alpha, a, b, beta, c, c, opt)
}

// SymmTo computes D = α A B + β C, or D = α B A + β C for side = Right, like [Symm], rounded once
// to the format of D, which may differ from the format of C. For β = 0, C may be nil.
func SymmTo(side Side, uplo Uplo, alpha Scalar, a, b *Matrix, beta Scalar, c, d *Matrix, opt *Options) error {
	c = orUnread(c, beta, d)
	return structuredGemm("Symm", side, func(a num.Mat) direct.Structured { return symmetric(uplo, a) }, a.mat(), alpha, b.mat(), beta, c.mat(), d.mat(), opt)
}

// Trmm stores B = α op(A) B for side = Left, or α B op(A) for side = Right, with a triangular
// matrix A, which a holds in the triangle uplo. The other triangle is not read, nor is the diagonal
// for diag = Unit; entries of the other triangle are no addends, so 0 · ∞ does not occur there.
// Each entry is rounded once to the format of B. α = 0 stores +0. It panics for a bad side, uplo,
// tA or diag and for shapes that do not fit. A is copied, by blocks of rows. The rest is as for
// [Gemm], except that B is unchanged after an error.
func Trmm(side Side, uplo Uplo, tA Transpose, diag Diag, alpha Scalar, a, b *Matrix, opt *Options) error {
	return TrmmTo(side, uplo, tA, diag, alpha, a, b, b, opt)
}

// TrmmTo stores C = α op(A) B, or α B op(A) for side = Right, like [Trmm], rounded once to the
// format of C, which may differ from the format of B. If C shares no storage with the others, its
// contents are unspecified after an error.
func TrmmTo(side Side, uplo Uplo, tA Transpose, diag Diag, alpha Scalar, a, b, c *Matrix, opt *Options) error {
	return structuredGemm("Trmm", side, func(a num.Mat) direct.Structured { return oriented(triangular(uplo, diag, a), tA) }, a.mat(), alpha, b.mat(), Float(0), c.mat(), c.mat(), opt)
}

// structuredGemm computes D = alpha S B + beta C, or alpha B S + beta C for side = Right, where S =
// of(a).
func structuredGemm(name string, side Side, of func(a num.Mat) direct.Structured, a num.Mat, alpha Scalar, b num.Mat, beta Scalar, c, d num.Mat, opt *Options) error {
	operands := []num.Mat{a, b, c, d}
	s := of(a)
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
	if p, err := whereabouts(name, a.Arr, b.Arr, c.Arr, d.Arr); err != nil {
		return err
	} else if p != nil {
		set, err := opt.settings()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r := ondeviceProduct{structuredProduct: structuredProduct{Settings: set, s: s, alpha: alpha.value(), b: b, beta: beta.value(), old: c, c: d}, at: p}
		if done, err := place.Leaves(r.run()); done || err != nil {
			if err != nil {
				err = fmt.Errorf("%s: %w", name, placed(side, err))
			}
			return opt.report(stats(r.stats, set.Threads), err)
		}
	}
	done, err := throughHost(name, opt, operands, 1, func(h []*Matrix, opt *Options) error {
		return structuredGemm(name, side, of, h[0].m, alpha, h[1].m, beta, h[2].m, h[3].m, opt)
	})
	if done {
		return err
	}
	set, err := opt.settings()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p := structuredProduct{Settings: set, s: s, alpha: alpha.value(), b: b, beta: beta.value(), old: c, c: d}
	if d.Arr.Overlaps(s.Array()) || d.Arr.Overlaps(b.Arr) || d != c && d.Arr.Overlaps(c.Arr) {
		p.c = d.Copy()
	}
	if err := p.run(); err != nil {
		return opt.report(stats(p.stats, p.Threads), fmt.Errorf("%s: %w", name, placed(side, err)))
	}
	if p.c.Arr != d.Arr {
		d.CopyFrom(p.c)
	}
	return opt.report(stats(p.stats, p.Threads), nil)
}

// placed exchanges the row and the column of a HardwareError for side = Right, where the routine
// computed the product of the transposes. It returns err.
func placed(side Side, err error) error {
	if fault := (*HardwareError)(nil); side == Right && errors.As(err, &fault) {
		fault.Row, fault.Col = fault.Col, fault.Row
	}
	return err
}

// Prepare returns a matrix equal to a, for repeated products with other matrices. From its first
// product on, the result keeps the exponents of a and the residues of its aligned integers, where a
// lives and on the GPUs that such products run on. It shares storage with a, which must not change
// while the result is in use. Products have the same bits as with a itself. Views of the result are
// ordinary matrices, but a transposition by a routine's argument uses what is kept.
//
// On the host residues take about (2p + 60)/13 words of 2 bytes per entry at p bits. On a device
// they take about 21 bytes per entry at 53 bits, 36 at 106, 78 at 212, 171 at 424. They serve
// products of like precision from the same side; for other products they are computed anew. A
// device keeps what fits in a quarter of its memory, copies of host matrices included, and a
// product adds at most a quarter of Options.MemoryLimit if that is given. Residues that do not fit
// are computed for every product. The residues of a matrix on a device are freed when the matrix
// changes, as an output or by CopyFrom, or is freed. The residues of a host matrix are freed when
// the result of Prepare is collected as garbage.
func Prepare(a *Matrix) *Matrix {
	if p, _ := whereabouts("Prepare", a.mat().Arr); p != nil {
		if keeps, ok := place.Part[place.Preparer](p); ok {
			keeps.Prepare(a.mat())
		}
		return &Matrix{m: a.mat()}
	}
	k := &place.Kept{Host: residue.NewPrepared(a.mat())}
	m := &Matrix{m: a.mat(), prepared: k}
	if gpus, err := place.Find(place.CUDA); err == nil {
		k.Places = gpus.Prepare(a.mat())
		runtime.AddCleanup(m, place.Prepared.Free, k.Places)
	}
	return m
}
