package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// QRFactors is the factorisation A = Q R, or A P = Q R with column pivoting. If A lives on a GPU, Q
// and R live there too, with a copy of A.
type QRFactors struct {
	P []int           // column j of A P is column P[j] of A, from 0
	Q *halfulp.Matrix // m x n, with orthonormal columns before they were rounded
	R *halfulp.Matrix // n x n, upper triangular with a positive diagonal, zeros below
	system
}

// Free releases the GPU memory of the factors and of their copy of A. The factors must not be used
// afterwards. Free panics for nil and for zero factors.
func (z *QRFactors) Free() {
	if z == nil {
		panic(errFactors)
	}
	z.free(z.Q, z.R)
}

// Solve returns the solution X of A X = B for the factored matrix A, which must be square: every
// entry is the exact one rounded once to format f, as by package function [Solve] and with the same
// errors. X lives where B does.
//
// The solution is computed from A itself, not from its rounded factors. The first call stores what
// it learns about A; every later call costs a few products of A with the right-hand sides. If A and
// B live on one GPU, the method calls package function [Solve]. Several goroutines may call it at
// once. Solve panics if A is not square or the shapes do not fit.
func (z *QRFactors) Solve(b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if z == nil {
		panic(errFactors)
	}
	return z.solve(b, f, opt)
}

// publicQR returns the factors with this package's types.
func publicQR(z *factors.QRFactors) *QRFactors {
	return &QRFactors{P: z.P, Q: halfulp.MatrixOf(z.Q), R: halfulp.MatrixOf(z.R), system: newSystem(z.A)}
}

// QR returns the factors A = Q R of an m x n matrix A of rank n ≤ m: Q is m x n with orthonormal
// columns, R upper triangular with a positive diagonal. Every entry of Q and R is the exact one
// rounded once to format f, ties to even, whatever the condition of A. The factors agree with
// LAPACK's geqrf and orgqr except for the signs of rows of R and columns of Q. They live where A
// does.
//
//	z, err := linsolve.QR(a, halfulp.Float64, nil)
//	fmt.Println(z.R.Float64(0, 0), err)
//
// The error wraps ErrSingular if the columns of A are proved to be linearly dependent; for square
// matrices it is a *SingularError. It wraps ErrNotFinite for infinities and NaN. It wraps
// halfulp.ErrMemory if A^T A has more bits than any format; it also does so, and names the bytes,
// if every method needs more than Options.MemoryLimit on the host. Options.Method and
// Options.Device apply to the matrix products. QR panics if m < n.
//
// Method. R is the Cholesky factor of A^T A, which is computed exactly, and Q = A R^-1. This takes
// twice the bits of the condition number of A. The method is described at [Cholesky]; in fixed
// point n times the number of digits is at most 24000 (AVX-512) or 12000 (AVX2). If A lives on a
// GPU or on a grid of processes, the computation runs there, with A^T A in as many bits as are
// needed. The host handles only the cases that its arithmetic must decide: zeros, ties, columns
// that are linearly dependent or nearly so, and matrices with few columns.
func QR(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*QRFactors, error) {
	if a.Rows() < a.Cols() {
		panic(errShape)
	}
	s, err := start("QR", opt, a.View())
	if err != nil {
		return nil, err
	}
	z, err := factors.FactorQR(s, a.View(), f.View(), false)
	if err != nil {
		return nil, ended(opt, s, "QR", err)
	}
	s.Finished()
	return publicQR(z), ended(opt, s, "", nil)
}

// QRPivoted returns the factors A P = Q R of an m x n matrix A with column pivoting (geqp3 of
// LAPACK). Everything else is as for [QR], including the errors and the panic if m < n.
//
// The next column is the one whose part orthogonal to the previous columns is longest, by numbers
// computed in more bits than f has. Of the columns whose squared lengths differ from the largest by
// less than 2^-64, relatively, it is the first. It is proved that, before the entries are rounded,
// no sum of squares of R[i,j], k ≤ i ≤ j, exceeds (1 + 2^-60) R[k,k]^2. If A lives on a GPU, the
// host chooses the columns by float64 numbers of A^T A, which are copied to it once. The host
// computes everything if squared lengths that decide a choice differ by less than 2^-29,
// relatively.
func QRPivoted(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*QRFactors, error) {
	if a.Rows() < a.Cols() {
		panic(errShape)
	}
	s, err := start("QRPivoted", opt, a.View())
	if err != nil {
		return nil, err
	}
	z, err := factors.FactorQR(s, a.View(), f.View(), true)
	if err != nil {
		return nil, ended(opt, s, "QRPivoted", err)
	}
	s.Finished()
	return publicQR(z), ended(opt, s, "", nil)
}
