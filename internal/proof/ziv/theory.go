package ziv

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// Loops that raise the precision end because numbers that differ do so by a bound: minors of a
// matrix of integers are integers, of as many bits as Hadamard's inequality allows. Past these bits
// a loop contradicts a theorem, since a product was wrong: it ends with call.Contradiction.

// Need says how many bits the factors of a matrix take by theory.
type Need struct {
	Enclosed int // there is an enclosure from an elimination in so many bits
	Decided  int // that decides all entries which are no ties, and ties are proved by it
}

// BeyondMost is more bits than any format has, and several times that is an int.
const BeyondMost = 1 << 24

// TieBits bounds the bits, from the first to the last, of a number halfway between two of format f:
// expansions may have all that are between the largest and the smallest float64 number.
func TieBits(f num.Format) int {
	if num.NewMat(f, 0, 0).Arr.Terms() > 1 {
		return 2200
	}
	return f.Bits() + 1
}

// SpanOfSums returns the difference of the largest and the least of x[i] + y[i].
func SpanOfSums(x, y []int64) int {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range x {
		low, high = min(low, x[i]+y[i]), max(high, x[i]+y[i])
	}
	if len(x) == 0 {
		return 0
	}
	return int(min(high-low, BeyondMost))
}

// NeedOf returns what the factors of C take, m x n with leading minors of order k that are not 0,
// in format f; positive says that the leading n x n part is symmetric and positive definite, and
// that pivots are not exchanged.
//
// With powers of two in front of rows and columns C is a matrix Z of integers whose minors have at
// most M bits. Entries of L, U and of the inverses of their leading parts are quotients of two
// minors (Gantmacher, The theory of matrices, chapter 2), the denominators not being 0: their
// magnitudes are at most 2^M, and at least 2^-M or 0. For an elimination in p bits L' U' = Z + D
// with |D| ≤ n 2^(1-p) |L'| |U'| (Higham, Accuracy and stability of numerical algorithms, theorem
// 9.3), so that L^-1 D U^-1 is below n^4 2^(4 M + 3 - p). As soon as that is below 1/8 factors and
// their inverses, which are in error by as much in the same way, are those of Z but for a factor of
// 2, and so is the bound of E in Enclosure. Pivots are the largest entries of C, not of Z: they are
// not 0 if p has the bits between the powers of two of rows as well.
//
// Without exchanges of a positive definite C, H = T C T with ones on its diagonal has a least
// eigenvalue λ of det H / e at least, as the product of the n - 1 others is at most
// (n / (n - 1))^(n - 1). det H ≥ 2^-P with P the sum of the bits of the diagonal of Z. Then |L'|
// |U'| has entries of 1, and L^-1, U^-1 norms of 2 λ^(-1/2) and 1/λ: inverses of these in p bits
// leave an E below n^4 λ^-2 2^(8 - p).
//
// Enclosures hold for rows and columns as a whole, scaled to 1, which costs the bits between those
// scales and Z's, or H's. Entry x of L or U differs from another number of v bits behind the point
// by 2^(-M - v) at least, an entry of L diag(U)^(1/2) by 2^(-3 M - 2 v - 1), as the squares do by
// 2^(-2 M - 2 v); and ties of f near x have M + TieBits behind the point at most.
func NeedOf(c num.Mat, k int, f num.Format, positive bool) Need {
	m, n := c.Dims()
	z := modular.ToIntegers(c)
	minor := z.LargestMinor(k)
	if minor < 0 || minor > BeyondMost { // the former beyond an int of 32 bits
		minor = BeyondMost
	}
	e := scale.Equilibrate(c, scale.Unscaled(m, n))
	scales := SpanOfSums(e.Rows, z.Rows) + SpanOfSums(e.Cols, z.Cols)
	order := bits.Len(uint(m + n))
	y := Need{Enclosed: 4*minor + 2*scales + SpanOfSums(z.Rows, make([]int64, m)) + 16*order + 256}
	if positive {
		leading := c.Slice(0, n, 0, n)
		z := modular.ToIntegers(leading)
		sum, half := 0, make([]int64, n)
		for i := range half {
			if class, top, _ := c.Arr.Span(c.At(i, i)); class == num.Finite {
				sum = min(sum+int(max(0, min(top-z.Rows[i]-z.Cols[i], BeyondMost))), BeyondMost)
				half[i] = top >> 1
			}
		}
		of := SpanOfSums(e.Rows[:n], half) + SpanOfSums(e.Cols[:n], half)
		y.Enclosed = min(y.Enclosed, 2*sum+2*of+16*order+256)
	}
	y.Decided = y.Enclosed + 6*minor + 3*scales + 2*TieBits(f) + 256
	return y
}
