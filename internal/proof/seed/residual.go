package seed

import (
	"math"

	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// Inverse is an approximate inverse R of F = diag(2^rows) A diag(2^cols), proved to be close.
type Inverse interface {
	// Scales returns the powers of two, rows and cols.
	Scales() scale.Scaling
	// MoreBits returns how many more bits residuals need than y: at least log2 of a bound of ‖R‖∞.
	MoreBits() int
	// Correct returns about R r, without any claim: a sum of vectors, each small compared with the
	// one before, and a single vector where r has no X.
	Correct(r *Residual) ([][]float64, error)
	// Radius returns upper bounds of |F^-1 r| in units of 2^r.Exp, for c = Correct(r)[0].
	Radius(r *Residual, c []float64) []float64
	// Leading reports whether Correct reads only r.Lead of r, and Radius does not read c.
	Leading() bool
	// Words measures the time of Correct: it takes as long as a product of a vector with a matrix
	// of Words() words per entry.
	Words() float64
	// Matrix returns F in fixed point if R has it, else nil.
	Matrix() *fixed.Matrix
}

// Residual is r = 2^Exp (Lead + d) with |Lead_i| ≤ 1 and |d_i| ≤ slop. It is held in fixed-point
// numbers X that are in error by less than 2^Exp Err.
type Residual struct {
	Lead []float64
	slop float64
	Exp  int
	X    [][]uint64 // in units of 2^Unit; nil if Lead is the whole residual
	Err  float64
	Unit int
}

// Look sets r's leading bits from its fixed-point numbers, which are in error by less than lost
// units. It returns the length of the longest number.
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

// Log2 returns about log2 of x.
func Log2(x float64) float64 { return math.Log2(x) }
