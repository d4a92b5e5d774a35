package halfulp

import (
	"errors"
	"fmt"
	"time"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/trsv"
)

// Trsv solves op(A) x = b for a triangular matrix A, which a holds in the triangle uplo. x holds b
// and receives the solution. It panics for a bad uplo, t or diag and for shapes that do not fit. It
// is [Trsm] for one column, α = 1 and side = Left, by the method direct only, and for operands of
// the host on the CPU.
func Trsv(uplo Uplo, t Transpose, diag Diag, a *Matrix, x *Vector, opt *Options) error {
	s := oriented(triangular(uplo, diag, a.mat()), t)
	if x.vec().N != s.Rows {
		panic(errShape)
	}
	if p, err := whereabouts("Trsv", a.mat().Arr, x.vec().Arr); err != nil {
		return err
	} else if p != nil {
		r, err := newRun("Trsv", opt)
		if err != nil {
			return err
		}
		b := x.Matrix().mat()
		if done, err := solveAt("Trsv", p, opt, r.Settings, s, Float(1), b, b); done {
			return err
		}
	}
	done, err := throughHost("Trsv", opt, []num.Mat{a.mat(), x.vec().Mat()}, 1, func(h []*Matrix, opt *Options) error {
		return Trsv(uplo, t, diag, h[0], h[1].Col(0), opt)
	})
	if done {
		return err
	}
	r, err := beginOnHost("Trsv", opt)
	if err != nil {
		return err
	}
	set := r.Settings
	set.Device = place.Name{Kind: place.Host}
	b := x.Matrix().mat()
	return solve("Trsv", opt, set, s, Float(1), b, b)
}

// Trsm solves op(A) X = α B for side = Left, or X op(A) = α B for side = Right, with a triangular
// matrix A, which a holds in the triangle uplo. b holds B and receives the solution X. The other
// triangle is not read, nor is the diagonal for diag = Unit, where its entries are 1.
//
// For side = Left let T = op(A), and let b and x be a column of B and the same column of X. The
// rows are solved from the first one on if T is lower triangular, from the last one on if T is
// upper triangular,
//
//	x_i = RN((α b_i - Σ_j t_ij x_j) / t_ii),
//
// where j runs over the rows solved before. Every entry is the exact quotient, for the entries
// solved before it, rounded once to the format of B. So the bits do not depend on methods, blocks
// or threads. For side = Right the same holds for the rows of B and X with T = op(A)ᵀ.
//
// There is no test for singular matrices. Special values follow IEEE 754 for the sum and the
// division, so a zero on the diagonal makes an infinity or NaN. α = 0 stores +0. After an error B
// is unchanged. It panics for a bad side, uplo, tA or diag and for shapes that do not fit. See
// Aliasing, Devices and Errors in the package documentation.
//
// The methods are the methods of [Gemm]: a product updates the rows not yet solved, block by block,
// to some bits more than the format has. A quotient whose rounding these bits leave undecided is
// computed exactly, and Stats counts it.
//
// Error bound: without underflow and overflow the computed x satisfies
//
//	(T + ΔT) x = α b, ΔT diagonal, |Δt_ii| ≤ u |t_ii|,
//
// since |x_i - q| ≤ u |x_i| for the quotient q that is rounded to x_i. With the solution x* and the
// diagonal D of T, |x - x*| ≤ u |T⁻¹| |D| |x|. Here u = 2^-p for formats of p bits, and 2^(-53 k)
// (1 + 2^-52) for sums of k doubles.
func Trsm(side Side, uplo Uplo, tA Transpose, diag Diag, alpha Scalar, a, b *Matrix, opt *Options) error {
	return TrsmTo(side, uplo, tA, diag, alpha, a, b, b, opt)
}

// TrsmTo solves op(A) X = α B, or X op(A) = α B for side = Right, like [Trsm] and stores the
// solution in x. Every entry is rounded once to the format of X, which may differ from the format
// of B; the error bound holds with the u of X. X may share storage with the others.
func TrsmTo(side Side, uplo Uplo, tA Transpose, diag Diag, alpha Scalar, a, b, x *Matrix, opt *Options) error {
	s, m, z := oriented(triangular(uplo, diag, a.mat()), tA), b.mat(), x.mat()
	switch side {
	case Left:
	case Right:
		s, m, z = s.T(), m.T(), z.T()
	default:
		panic(errSide)
	}
	if m.Rows != s.Rows || z.Rows != m.Rows || z.Cols != m.Cols {
		panic(errShape)
	}
	set, err := opt.settings()
	if err != nil {
		return fmt.Errorf("Trsm: %w", err)
	}
	if err := set.Unchecked("Trsm"); err != nil {
		return err
	}
	if p, err := whereabouts("Trsm", a.mat().Arr, m.Arr, z.Arr); err != nil {
		return err
	} else if p != nil && set.Method != methodDirect {
		if done, err := solveAt("Trsm", p, opt, set, s, alpha, m, z); done {
			return err
		}
	}
	done, err := throughHost("Trsm", opt, []num.Mat{a.mat(), b.mat(), x.mat()}, 1, func(h []*Matrix, opt *Options) error {
		return TrsmTo(side, uplo, tA, diag, alpha, h[0], h[1], h[2], opt)
	})
	if done {
		return err
	}
	return solve("Trsm", opt, set, s, alpha, m, z)
}

// solveAt is solve on the device where all operands live. done means that the device computed the
// solution, or that there is an error. Otherwise the host must solve the system: the device lacks
// the memory or the method, or cannot decide every rounding.
func solveAt(name string, p place.Place, opt *Options, set place.Settings, s direct.Structured, alpha Scalar, b, z num.Mat) (done bool, err error) {
	r := &run{Settings: set, name: name, since: time.Now()}
	if opt != nil {
		r.out = opt.Stats
	}
	fail := func(err error) (bool, error) { return true, fmt.Errorf("%s: %w", name, err) }
	if err := place.Ended(set.Ctx, p); err != nil {
		return fail(err)
	}
	solver, ok := place.Part[place.Solver](p)
	if !ok {
		return false, nil
	}
	x := num.Mat{RS: 1, CS: max(z.Rows, 1), Rows: z.Rows, Cols: z.Cols}
	if x.Arr, err = p.New(set.Ctx, z.Arr.Format, z.Rows, z.Cols); err != nil {
		if errors.Is(err, place.ErrMemory) {
			return false, nil
		}
		return fail(err)
	}
	defer x.Arr.Away.Free()
	ran, done, err := solver.Solve(set.Config(), s, alpha.value(), b, x, r.count)
	if err == nil && done {
		err = p.Copy(set.Config(), z, x)
	}
	switch {
	case errors.Is(err, place.ErrMemory), err == nil && !done:
		return false, nil
	case err != nil:
		return fail(err)
	}
	if ran.Device = p.String(); ran.Method == "" {
		ran.Method = methodDirect
	}
	r.exact.Store(ran.Exact)
	r.stats = stats(ran, set.Threads)
	r.stage("substitution")
	return true, r.end(nil)
}

// solve stores the solution X of S X = alpha B in z.
func solve(name string, opt *Options, set place.Settings, s direct.Structured, alpha Scalar, b, z num.Mat) error {
	unreported := set
	unreported.Progress = nil
	x, st, err := trsv.Solve(trsv.Config{
		Run: set.Run, Vectors: !set.Device.IsPlace(), Floats: !set.Device.IsPlace() && set.Method != methodResidue,
		Multiply: func(alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error) {
			return unreported.Multiply(&place.Gemm{Problem: product.Problem{Alpha: alpha, A: a, B: b, Beta: beta, Old: old, C: c}})
		},
	}, s, alpha.value(), b, z.Arr.Format)
	if err != nil {
		return opt.report(stats(st, set.Threads), fmt.Errorf("%s: %w", name, err))
	}
	z.CopyFrom(x)
	return opt.report(stats(st, set.Threads), nil)
}
