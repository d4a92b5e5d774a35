package call

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
)

// may fuse throughout: estimates of time, none of them a result.

// Panel is the largest number of columns that an elimination factors before products update the
// other columns. It is also the order of triangular matrices that are inverted entry by entry.
const Panel = 16

// All returns the numbers 0, 1, ..., n - 1.
func All(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}

// FewColumns is the number of columns up to which systems are always solved one column after the
// other, by products of F with vectors of 62 bits.
const FewColumns = 8

// Few reports whether this number of columns of n numbers is solved one column after the other. At
// n = 300 a complete SolveMany takes as long as about 65 columns of float64, or 25 columns of 424
// bits.
func Few(columns, n int) bool { return columns <= max(FewColumns, n/20) }

// PlaneBytes returns the bytes of a stored in planes of 64 bits: see fixed.New.
func PlaneBytes(a num.Mat, planes int) float64 {
	if a.Arr.Kind == num.F64 && planes <= 2 {
		planes = 1
	}
	return 8 * float64(a.Rows) * float64(a.Cols) * float64(planes)
}

// MP returns the MP format of the given bits, at least 24 and at most bound.MaxBits.
func MP(bits int) num.Format {
	return num.Format{Kind: num.MP, Prec: uint32(min(max(bits, 24), bound.MaxBits))}
}

// ProductOf is ProductCost for operands and results of the given bits.
func ProductOf(m, k, n, bits int) float64 {
	return ProductCost(m, k, n, MP(bits), MP(bits), MP(bits))
}

// Times of work other than products, in ns on one thread. They affect only estimates of time.
const (
	FloatCost   = 0.12 // a multiply-add of float64 factors
	entryCost   = 300  // the work on each entry of a seed
	RoundCost   = 150  // rounding an entry
	stackEntry  = 1200 // an entry of a stacked matrix
	wantCost    = 200  // the work on each entry of factors
	WordCost    = 0.9  // a product of two words
	FieldCost   = 2    // a multiply-add modulo a prime
	PrimeCost   = 150  // reducing a number modulo a prime, without the cost of its words
	PanelCost   = 120  // a multiply-add of big.Float
	PerturbCost = 2000 // perturbing and bounding an entry
	DecideCost  = 3500 // the work of a step of refinement on each entry
)

// Cube returns n³.
func Cube(n int) float64 { return float64(n) * float64(n) * float64(n) }

// FactorCost is the cost of float64 factors of order n.
func FactorCost(n int) float64 {
	return float64(Cube(n)/3*FloatCost) + float64(float64(n)*float64(n)*entryCost/4)
}

// SeedCost is the cost of a float64 inverse, from its factors, and of its residual.
func SeedCost(n int) float64 {
	return float64(2*Cube(n)*FloatCost) + float64(float64(n)*float64(n)*entryCost)
}

// PrimeStep is the cost of an elimination of m modulo a prime.
func PrimeStep(m num.Mat) float64 {
	words := float64((m.Arr.Bits() + 63) / 64)
	r, c := float64(m.Rows), float64(m.Cols)
	return float64(r*c*min(r, c)*FieldCost/3) + float64(r*c*(PrimeCost+5*words))
}

// SquareWords returns the number of products of words in a product of two numbers of the given
// bits.
func SquareWords(bits int) float64 { return float64(bits) / 64 * float64(bits) / 64 }

// WantedCost is the cost of preparing and rounding m x n entries of factors, without the
// factorization. Single entries are prepared on one thread.
func WantedCost(s *Run, m, n int) float64 {
	return float64(m) * float64(n) * (RoundCost + wantCost*float64(s.Threads))
}

// StackCost is the cost of stacking AᵀA above the m x n matrix A, on one thread.
func StackCost(s *Run, m, n int) float64 {
	return float64(m+n) * float64(n) * stackEntry * float64(s.Threads)
}

// LikelyGain is the number of bits that a step of refinement gains at least, with an inverse by
// many seeds or by elimination.
const LikelyGain = 48

// InvertInCost is the cost of an elimination of order n in the given bits, and of inverting its
// factors.
func InvertInCost(n, bits int) float64 {
	panels := float64(n) * float64(n) * Panel * (PanelCost + SquareWords(bits)*WordCost)
	return panels + 3*ProductOf(n, n, n, bits)
}

// None32 stands for the exponent of a column of zeros. No number of MP has this exponent.
const None32 = math.MinInt32
