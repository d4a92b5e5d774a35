package place

import "github.com/halfulp/halfulp/internal/num"

// Determinant is the part of a place for determinants in package linsolve. They use part Newton as
// well.
type Determinant interface {
	// Triangles computes approximate inverses of the triangular factors of P F = L U, where F =
	// diag(2^rows) A diag(2^cols) as in Newton.Inverse, and P is the permutation that makes row
	// order[j] of F row j of P F. It stores L^-1 in Z and U^-1 in U, both of Float64 and all zero
	// before the first attempt. Their other triangles stay zero, and the diagonal of L^-1 is
	// exactly 1. Nothing else is known of the error. The factors settle when they are computed; Z
	// and U are unspecified if they are not ok.
	//
	// Attempts are numbered from 0. A later attempt may succeed where an earlier one does not. The
	// factors are nil if there is no such attempt.
	Triangles(cfg Config, a, z, u num.Mat, attempt int) (rows, cols []int64, begun Triangular, err error)
	// Gather sets row i of Z to row order[i] of X. Both are in MP with the same number of bits.
	Gather(cfg Config, x num.Mat, order []int32, z num.Mat) error
}

// Triangular is like Seed for triangular factors, whose pivot rows are known when they settle.
type Triangular interface {
	// Settle waits for the factors, returns the order of their rows, reports whether the factors
	// are ok, and releases them.
	Settle(cfg Config) (order []int32, ok bool, err error)
	// Drop releases the factors, unless they have been settled.
	Drop()
}

// Factored returns factors that are computed, with the order of their rows.
func Factored(order []int32, ok bool) Triangular { return factored{order, ok} }

type factored struct {
	order []int32
	ok    bool
}

func (z factored) Settle(Config) ([]int32, bool, error) { return z.order, z.ok, nil }
func (factored) Drop()                                  {}
