package call

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
)

// may fuse throughout: estimates of time, none of them a result.

// Panel is how many columns an elimination brings to the form of L and U at most before products
// update others, and the order of triangular matrices that are inverted entry by entry.
const Panel = 16

// All are the numbers below n.
func All(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}

// FewColumns columns are always solved one after the other, by products of F with vectors of 62
// bits.
const FewColumns = 8

// Few reports whether that many columns of n numbers are solved one after the other. At n = 300 all
// of SolveMany takes as long as some 65 columns of float64, 25 of 424 bits.
func Few(columns, n int) bool { return columns <= max(FewColumns, n/20) }

// PlaneBytes returns the bytes of a in planes of 64 bits: see fixed.New.
func PlaneBytes(a num.Mat, planes int) float64 {
	if a.Arr.Kind == num.F64 && planes <= 2 {
		planes = 1
	}
	return 8 * float64(a.Rows) * float64(a.Cols) * float64(planes)
}

// MP is the format of so many bits.
func MP(bits int) num.Format {
	return num.Format{Kind: num.MP, Prec: uint32(min(max(bits, 24), bound.MaxBits))}
}

// ProductOf is ProductCost for operands and results of so many bits.
func ProductOf(m, k, n, bits int) float64 {
	return ProductCost(m, k, n, MP(bits), MP(bits), MP(bits))
}

// What work takes beside products, in ns on one thread. The figures steer estimates of
// time left alone.
const (
	FloatCost   = 0.12 // a multiply-add of float64 factors
	entryCost   = 300  // what is done with each entry of a seed
	RoundCost   = 150  // rounding an entry
	stackEntry  = 1200 // an entry of a stacked matrix
	wantCost    = 200  // what is done with each entry of factors
	WordCost    = 0.9  // a word by a word
	FieldCost   = 2    // a multiply-add modulo a prime
	PrimeCost   = 150  // a residue of a number modulo a prime, its words aside
	PanelCost   = 120  // a multiply-add of big.Float
	PerturbCost = 2000 // perturbing and bounding an entry
	DecideCost  = 3500 // what a step of refinement does with each entry
)

// Cube returns n³.
func Cube(n int) float64 { return float64(n) * float64(n) * float64(n) }

// FactorCost is that of float64 factors.
func FactorCost(n int) float64 {
	return float64(Cube(n)/3*FloatCost) + float64(float64(n)*float64(n)*entryCost/4)
}

// SeedCost is that of a float64 inverse and its residual from factors.
func SeedCost(n int) float64 {
	return float64(2*Cube(n)*FloatCost) + float64(float64(n)*float64(n)*entryCost)
}

// PrimeStep is the cost of an elimination of m modulo a prime.
func PrimeStep(m num.Mat) float64 {
	words := float64((m.Arr.Bits() + 63) / 64)
	r, c := float64(m.Rows), float64(m.Cols)
	return float64(r*c*min(r, c)*FieldCost/3) + float64(r*c*(PrimeCost+5*words))
}

// SquareWords returns how many products of words two numbers of some bits take.
func SquareWords(bits int) float64 { return float64(bits) / 64 * float64(bits) / 64 }

// WantedCost is the cost of the m x n entries of factors beside those: single ones of theirs are
// prepared on one thread.
func WantedCost(s *Run, m, n int) float64 {
	return float64(m) * float64(n) * (RoundCost + wantCost*float64(s.Threads))
}

// StackCost is the cost of putting AᵀA above A, m x n, which one thread does.
func StackCost(s *Run, m, n int) float64 {
	return float64(m+n) * float64(n) * stackEntry * float64(s.Threads)
}

// LikelyGain are the bits that a step of refinement gains at least, with an inverse by many seeds
// or by elimination.
const LikelyGain = 48

// InvertInCost is the cost of an elimination and of the inverses of its factors with so many bits.
func InvertInCost(n, bits int) float64 {
	panels := float64(n) * float64(n) * Panel * (PanelCost + SquareWords(bits)*WordCost)
	return panels + 3*ProductOf(n, n, n, bits)
}

// None32 is the exponent that columns of zeros have, which MP has not.
const None32 = math.MinInt32
