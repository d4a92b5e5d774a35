package place

import "github.com/halfulp/halfulp/internal/num"

// A Routine is a kind of routines of package linsolve. Each kind has an order from which on several
// places take less time than the first of them.
type Routine int

// The kinds.
const (
	Solution Routine = iota // of systems, and inverses
	CholeskyFactors
	QRFactors
	EliminationFactors // LU and LDL^T factors, and determinants
)

// FirstOnly is the part of a place that consists of several places, of which the first one alone
// takes less time for small matrices.
type FirstOnly interface {
	// OnFirst runs a routine with copies of the matrices at the first place. It does not, and
	// returns false, if the order of the matrices is so large that all places take less time. The
	// copies are valid until run returns.
	OnFirst(cfg Config, routine Routine, order int, list []num.Mat, run func(list []num.Mat) error) (done bool, err error)
	// FromFirst returns a matrix that owns its array at the first place as a matrix of this place.
	FromFirst(m num.Mat) num.Mat
}

// Moved returns a matrix of the host, or of the first of several places, as a matrix of p; nil: the
// host. The matrix m must not be used any more.
func Moved(p Place, m num.Mat) (num.Mat, error) {
	q := Of(m.Arr)
	if q == p {
		return m, nil
	}
	if first, ok := Part[FirstOnly](p); ok && q != nil && q == p.First() {
		return first.FromFirst(m), nil
	}
	return On(p, m)
}
