package place

import "github.com/halfulp/halfulp/internal/num"

// Factors is the part of a place for the factors of package linsolve, with matrices that live
// there.
type Factors interface {
	// InverseRoot begins to set X, of Float64, to a lower triangular matrix that is about the
	// inverse of the Cholesky factor of F = diag(2^exps) A diag(2^exps), of whose lower triangle it
	// makes use, A being square, and returns the exponents, which bring the diagonal of F near 1.
	// Nothing is known of the error. It is not ok, and X unspecified, if there is none in float64
	// arithmetic; the seed is nil if that is known already.
	InverseRoot(cfg Config, a, x num.Mat) (exps []int64, begun Seed, err error)
	// Triangle does something with a square matrix of finite numbers of MP and returns what it
	// counts. With a tally it may count there, and not wait.
	Triangle(cfg Config, op TriangleOperation, a num.Mat, tally *num.Array) (count int, err error)
	// Spread returns bounds of ‖|A| |B|‖∞ and ‖|A| |B|‖1 for matrices of finite numbers of MP:
	// infinities where numbers are beyond 2^1000.
	Spread(cfg Config, a, b num.Mat) (rows, cols float64, err error)
}

// TriangleOperation is something that Factors.Triangle does.
type TriangleOperation int

// The operations: halving the diagonal; copying the lower triangle to the upper one; counting the
// numbers of the diagonal that are not positive, and those below it whose bits are not those of the
// numbers across.
const (
	HalveDiagonal TriangleOperation = iota
	MirrorLower
	CountNotPositive
	CountAsymmetric
)
