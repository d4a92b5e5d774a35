package seed

import (
	"math"

	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// Inverse is an approximate inverse R of F = diag(2^rows) A diag(2^cols), proved to be one.
type Inverse interface {
	// Scales returns the powers of two.
	Scales() scale.Scaling
	// MoreBits returns how many bits residuals have beyond those wanted of y: log2 of a bound of
	// ‖R‖∞ or more.
	MoreBits() int
	// Correct returns R r, without any claim: the sum of vectors, each small beside the one before,
	// and just one where r has no x.
	Correct(r *Residual) ([][]float64, error)
	// Radius returns upper bounds of |F^-1 r|, in units of 2^r.exp, c = correct(r)[0] being known.
	Radius(r *Residual, c []float64) []float64
	// Leading reports whether correct takes nothing of r but r.lead, and radius nothing of c.
	Leading() bool
	// Words is what correct takes: as long as a product of a matrix of so many words with a vector.
	Words() float64
	// Matrix returns F in fixed point if R has it, else nil.
	Matrix() *fixed.Matrix
}

// Residual is r = 2^exp (lead + d) with |lead_i| ≤ 1 and |d_i| ≤ slop, held as fixed-point numbers
// that are in error by less than 2^exp err.
type Residual struct {
	Lead []float64
	slop float64
	Exp  int
	X    [][]uint64 // of unit 2^unit; nil for one that lead is all of
	Err  float64
	Unit int
}

// Look fills in r's leading bits from its fixed-point numbers, which are in error by less than lost
// units, and returns the length of the longest.
func (r *Residual) Look(lost float64) (top int) {
	for _, x := range r.X {
		top = max(top, fixed.BitLen(x))
	}
	for i, x := range r.X {
		r.Lead[i] = fixed.Leading(x, top)
	}
	r.Exp = top + r.Unit
	r.Err = float64(1.001*math.Ldexp(lost, -top)) + 0x1p-1000
	r.slop = 0x1p-51 + r.Err
	return top
}

// Log2 returns log2 of x, about.
func Log2(x float64) float64 { return math.Log2(x) }
