package place

import "github.com/halfulp/halfulp/internal/num"

// Splitting is the part of a place for factorizations with two triangular factors in package
// linsolve.
type Splitting interface {
	// PivotedTriangles is Determinant.Triangles with partial pivoting for an m x n matrix A, m ≥ n,
	// whose rows are not scaled: no entry is larger than the pivot of its column, as far as float64
	// arithmetic decides. The order has the n rows of the pivots, to which the triangles belong.
	// There is one attempt; the factors are nil if the place cannot make it.
	PivotedTriangles(cfg Config, a, z, u num.Mat) (rows, cols []int64, begun Triangular, err error)
	// Part copies the entries below the diagonal of a matrix in MP to lower, and the other entries
	// to upper, with zeros elsewhere. Both have its shape and format.
	Part(cfg Config, a, lower, upper num.Mat) error
	// NotSmall counts the numbers below the diagonal of a matrix of finite numbers whose magnitudes
	// exceed bound or may exceed it, where 1/2 < bound < 2^e ≤ 4. The numbers that it does not
	// count are below bound + 2^(e-53) in magnitude. With a tally they are counted there, and 0 is
	// returned.
	NotSmall(cfg Config, a num.Mat, bound float64, tally *num.Array) (count int, err error)
}

// Squaring is the part of a place for products of a small error matrix with itself in float64.
type Squaring interface {
	// Square stores -(X E + Y²) in z for the strictly lower triangle X and the upper triangle Y of
	// an n x n matrix E in MP, in float64 arithmetic. The result and its error,
	//
	//	z_ij ≈ -Σ e_ik e_kj    (k < i or k ≤ j)
	//	at most (n + 16) 2^-51 Σ |e_ik| |e_kj| + 2^-900
	//
	// are those of entries of E below 2^64 in magnitude. z is in Float64 by columns, of SquareOrder
	// rows and columns; those from n on are unspecified.
	Square(cfg Config, e, z num.Mat) error
	// SquareOrder returns the order of z, at least n; 0 if other products are faster.
	SquareOrder(n int) int
}
