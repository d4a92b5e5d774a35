package ziv

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// Loops that raise the precision end because numbers that differ do so by a bound: minors of a
// matrix of integers are integers, of as many bits as Hadamard's inequality allows. Past these bits
// a loop contradicts a theorem, since a product was wrong: it ends with call.Contradiction.

// Need is how many bits theory needs.
type Need struct {
	Enclosed int // attempts with so many bits enclose everything
	Decided  int // and with so many decide everything: enclosures prove ties
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
// that pivots are not exchanged, or that the longest columns come first. The coefficients below are
// rounded up: a limit that is several times too large costs little.
//
// With powers of two in front of rows and columns, which arithmetic does not see, C is a matrix Z
// of integers whose minors have at most M bits. Entries of L, U and of the inverses of their
// leading parts are quotients of two minors (Gantmacher, The theory of matrices, chapter 2), the
// denominators not being 0: their magnitudes are at most 2^M, and at least 2^-M or 0. Factors of
// n or m + n are left out below; the multiples of their bits, order, cover them.
//
// An elimination in p bits has L' U' = Z + D exactly. Suppose that entries of L' and U' so far are
// at most 2^(M + 1). Rounding then leaves entries of D below 2^(2 M + q - p): that of a single
// operation by Higham (Accuracy and stability of numerical algorithms, theorem 9.3), that of a
// product, by seed.About, a multiple of the largest numbers of its row and column, which q bits
// cover, those between the powers of two of rows. With blocks of order 2, the inverses of which do
// not cancel by the choice of their pivots, this is 2^(3 M + q - p). Minors of Z + D differ from
// those of Z by as much times 2^M, as rows of Z are at least 1 in Hadamard's bound. Once this is
// below 2^(-q - 2), leading minors are at least 3/4, and the next entries of L' and U', as
// quotients of minors of Z + D, at most 2^(M + 1): so all are, by induction. A pivot that is 0 in
// exact arithmetic is not chosen, being smaller than the others of its column in C.
//
// Triangles are inverted by halves, h times: with errors δ of the halves, (L22^-1 L21 L11^-1)' is
// in error by 2^(2 M) δ and a few roundings, as L21 L11^-1 is a quotient of minors and L22^-1 L21 a
// product of two; and δ is 2^(3 M + q - p) for the last ones, by substitution. So E of Enclosure is
// below 2^((6 + 2 h) M + 2 q - p) for Z, and with s bits more, twice, for the scales of rows and
// columns there. Pivots that pass for the largest have multipliers below 1 + 2^-60, or squares of
// lengths, when what E leaves of L is 2^-64 beside them: M, or 3 M, and scales, once more.
//
// Where C is positive definite, H = T C T with ones on its diagonal has a least eigenvalue λ of
// det H / e at least, as the product of the n - 1 others is at most (n / (n - 1))^(n - 1).
// det H ≥ 2^-P with P the sum of the bits of the diagonal of Z. H has |L| |U| of at most 1, L and
// L^-1 of λ^(-1/2), U^-1 of 1/λ, L21 L11^-1 of λ^(-1/2) and L22^-1 L21 of 1/λ; D below λ²/16 leaves
// all this but for a factor of 2. So λ takes the place of 2^-M above: E is below λ^-(2 + h) 2^-p,
// pivots are at least λ, and T is what scales and q are measured by. Only the leading part of C is
// in E.
//
// Enclosures hold for rows and columns as a whole: the entries that E leaves have errors of 2^M and
// twice the scales beside it, those of L diag(U)^(1/2) of 2^(3 M); enclosures that begin with E
// and improve it have less. An entry of L or U differs from another number of v bits behind the
// point by 2^(-M - v) at least, one of L diag(U)^(1/2) by 2^(-3 M - 2 v - 2), as the squares do by
// 2^(-2 M - 2 v); and ties of f near it have M + TieBits + 1 behind the point at most: 8 M and 2
// TieBits altogether. Nothing is said of enclosures by intervals: they are made only where entries
// of the scaled C lie below 2^-p, which none do with p above M and the scales.
func NeedOf(c num.Mat, k int, f num.Format, positive bool) Need {
	m, n := c.Dims()
	z := modular.ToIntegers(c)
	minor := z.LargestMinor(k)
	if minor < 0 || minor > BeyondMost { // the former beyond an int of 32 bits
		minor = BeyondMost
	}
	e := scale.Equilibrate(c, scale.Unscaled(m, n))
	scales := SpanOfSums(e.Rows, z.Rows) + SpanOfSums(e.Cols, z.Cols)
	rows := SpanOfSums(z.Rows, make([]int64, m))
	halvings := bits.Len(uint(max(k-1, 0) / call.Panel))
	small := (12+2*halvings)*bits.Len(uint(m+n)) + 256
	y := Need{Enclosed: (12+2*halvings)*minor + 4*scales + 4*rows + small}
	if positive {
		leading := c.Slice(0, n, 0, n)
		z := modular.ToIntegers(leading)
		sum, half, minus := 0, make([]int64, n), make([]int64, n)
		for i := range half {
			if class, top, _ := c.Arr.Span(c.At(i, i)); class == num.Finite {
				sum = min(sum+int(max(0, min(top-z.Rows[i]-z.Cols[i], BeyondMost))), BeyondMost)
				half[i], minus[i] = top>>1, -(top >> 1)
			}
		}
		of := SpanOfSums(e.Rows[:n], half) + SpanOfSums(e.Cols[:n], half) + SpanOfSums(half, make([]int64, n))
		y.Enclosed = min(y.Enclosed, (6+halvings)*sum+4*of+small)
		scales += SpanOfSums(minus, z.Rows) + SpanOfSums(minus, z.Cols) // CholeskyNewton's
	}
	y.Decided = y.Enclosed + 10*minor + 4*scales + 2*rows + 2*TieBits(f) + small
	return y
}
