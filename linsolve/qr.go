package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// QRFactors are those of A = Q R, or of A P = Q R with columns in another order. They live where A
// does, with a copy of A.
type QRFactors struct {
	P []int           // column j of A P is column P[j] of A, from 0
	Q *halfulp.Matrix // m x n, with orthonormal columns before they were rounded
	R *halfulp.Matrix // n x n, upper triangular with a positive diagonal, zeros below
	system
}

// Free gives back what the factors have on a GPU. They are not to be used any more then.
func (z *QRFactors) Free() {
	if z == nil {
		panic(errFactors)
	}
	z.free(z.Q, z.R)
}

// Solve returns the solution X of A X = B for the square matrix A that was decomposed: every entry
// is rounded once to format f, as by package function [Solve], with the same errors. It comes from
// A itself, not from its rounded factors. What the first call finds out about A serves all others,
// which take a few products of A with their right-hand sides. X lives where B does. Where A and B
// live on one GPU it is package function Solve that does it. Solve panics if A is not square, or
// shapes do not fit. It may be called by several goroutines.
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

// QR returns the factors A = Q R of an m x n matrix A of rank n ≤ m in format f, every entry of Q,
// m x n, and of R, upper triangular with a positive diagonal, the exact one rounded once, ties to
// even, whatever the condition of A. They are those of LAPACK's geqrf and orgqr but for signs of
// rows of R and columns of Q. Factors live where A does.
//
// R is the Cholesky factor of A^T A, which is computed exactly, and Q = A R^-1; see Cholesky for
// the method, but that n times the number of digits is at most 24000 (AVX-512) or 12000 (AVX2). It
// needs twice the bits of the condition number of A. Where A lives on a GPU or on a grid of
// processes all of it runs there, with A^T A in as many bits as are needed, but for what only
// arithmetic on the host decides: zeros, ties, columns that are linearly dependent or nearly so,
// and a few of them.
//
// The error wraps ErrSingular, it is a *SingularError for square matrices, if the columns of A are
// linearly dependent, which is proved. It wraps ErrNotFinite for infinities and NaN,
// halfulp.ErrMemory if A^T A has more bits than there are formats for, or, naming the bytes, if all
// methods take more than Options.MemoryLimit on the host. Options.Method is of the products, and so
// is Device. QR panics if m < n.
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

// QRPivoted returns the factors A P = Q R with column pivoting (geqp3 of LAPACK), see QR. The next
// column is that whose part orthogonal to the columns before is longest, the first one of those
// whose squares differ by less than 2^-64 of them, by numbers computed in more bits than f has;
// proved is that no sum of squares of R[i,j], k ≤ i ≤ j, exceeds (1 + 2^-60) R[k,k]^2 before the
// entries are rounded. Where A lives on a GPU the host chooses the columns, by float64 numbers of
// A^T A that come to it once, and all else is as in QR; it does it all where lengths to choose from
// differ by less than 2^-29 of their squares.
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
