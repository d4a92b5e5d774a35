package place

import "github.com/halfulp/halfulp/internal/num"

// Factors is the part of a place for the factorizations of package linsolve. Its matrices live at
// the place.
type Factors interface {
	// InverseRoot starts to compute X, of Float64, a lower triangular matrix that approximates the
	// inverse of the Cholesky factor of F = diag(2^exps) A diag(2^exps). A is square, and only its
	// lower triangle is used. It returns the exponents, which bring the diagonal of F near 1.
	// Nothing is known of the error of X. The seed is not ok, and X unspecified, if float64
	// arithmetic finds no Cholesky factor; it is nil if that is already known.
	InverseRoot(cfg Config, a, x num.Mat) (exps []int64, begun Seed, err error)
	// Triangle carries out op on a square matrix of finite numbers of MP and returns the count, if
	// op counts. With a tally it may count there, and then it may return before it is done.
	Triangle(cfg Config, op TriangleOperation, a num.Mat, tally *num.Array) (count int, err error)
	// Spread returns upper bounds of ‖|A| |B|‖∞ and ‖|A| |B|‖1 for matrices of finite numbers of
	// MP, or infinities if numbers are beyond 2^1000. Without columns it returns only the first
	// bound.
	Spread(cfg Config, a, b num.Mat, columns bool) (rows, cols float64, err error)
}

// TriangleOperation is an operation of Factors.Triangle.
type TriangleOperation int

// The operations: halve the diagonal; copy the lower triangle to the upper triangle; count the
// diagonal entries that are not positive; count the entries below the diagonal whose bits differ
// from their mirror images.
const (
	HalveDiagonal TriangleOperation = iota
	MirrorLower
	CountNotPositive
	CountAsymmetric
)

// Squares is a part of places that changes diagonals where they live.
type Squares interface {
	// HalfLessSquares replaces the numbers d[i] of a column of MP by (d[i] - z[i]²)/2. The errors
	// are at most 2^-(prec+30) times the larger of the two terms, plus rounding. Numbers of z are
	// finite. It returns false, with d as it was, for numbers of more bits than the place supports.
	// Results beyond the exponents of formats are counted in the tally, which must not be nil.
	HalfLessSquares(cfg Config, d, z num.Mat, tally *num.Array) (bool, error)
}
