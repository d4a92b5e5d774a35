package ziv

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// Loops that raise the precision end because two different numbers differ by at least a known
// bound: minors of a matrix of integers are integers, and Hadamard's inequality bounds their bits.
// A loop that needs more bits contradicts a theorem, so a product was wrong: it ends with
// call.Contradiction.

// Need is the number of bits that suffice according to theory.
type Need struct {
	Enclosed int // an attempt with so many bits encloses everything
	Decided  int // an attempt with so many bits decides everything: enclosures prove ties
}

// BeyondMost exceeds the bits of every format. Several times BeyondMost fits in an int.
const BeyondMost = 1 << 24

// TieBits bounds the bits, from the first to the last nonzero bit, of a number halfway between two
// numbers of format f. An expansion may have all bits between the largest and the smallest float64
// number.
func TieBits(f num.Format) int {
	if num.NewMat(f, 0, 0).Arr.Terms() > 1 {
		return 2200
	}
	return f.Bits() + 1
}

// SpanOfSums returns the difference of the largest and the smallest x[i] + y[i], at most
// BeyondMost; 0 if x is empty.
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

// NeedOf returns the bits that are needed for the factors of the m x n matrix C in format f. The
// leading minors of C of order up to k are not 0. With positive, the leading n x n part is
// symmetric and positive definite, and pivots are not exchanged, or the longest columns come first.
// The coefficients below are rounded up: a limit that is several times too large costs little.
//
// Scaled by powers of two in rows and columns, which do not affect the arithmetic, C is a matrix Z
// of integers whose minors have at most M bits. Entries of L, U and of the inverses of their
// leading parts are quotients of two minors (Gantmacher, The theory of matrices, chapter 2) with
// nonzero denominators: their magnitudes are at most 2^M, and at least 2^-M or 0. Factors of n or m
// + n are omitted below; the term small, a multiple of their bits, covers them.
//
// An elimination in p bits computes L' U' = Z + D exactly. Suppose that the entries of L' and U' so
// far are at most 2^(M + 1). Then the entries of D from rounding are below 2^(2 M + q - p). For
// single operations this holds by Higham (Accuracy and stability of numerical algorithms, theorem
// 9.3). A product adds, by seed.About, a multiple of the largest numbers of its row and column;
// this multiple is covered by q bits, the differences between the powers of two of rows. With
// blocks of order 2, whose inverses do not cancel because of the choice of their pivots, the bound
// is 2^(3 M + q - p). Minors of Z + D differ from the minors of Z by at most this bound times 2^M,
// as rows of Z are at least 1 in Hadamard's bound. Once this difference is below 2^(-q - 2),
// leading minors are at least 3/4, and the next entries of L' and U', as quotients of minors of Z +
// D, are at most 2^(M + 1). By induction all entries are. A pivot that is 0 in exact arithmetic is
// not chosen, because it is smaller than the others of its column in C.
//
// Triangles are inverted by halves, h times. If the halves have errors δ, then (L22^-1 L21 L11^-1)'
// is in error by 2^(2 M) δ and a few roundings, because L21 L11^-1 is a quotient of minors and
// L22^-1 L21 a product of two such quotients. For the last halves, which are inverted by
// substitution, δ is 2^(3 M + q - p). So E of Enclosure is below 2^((6 + 2 h) M + 2 q - p) for Z,
// and with s more bits, counted twice, for the scales of rows and columns there. Pivots that are
// accepted as the largest have multipliers below 1 + 2^-60, or squares of lengths below this, once
// the error of L that E leaves is 2^-64 relative to them: this costs M, or 3 M, and the scales once
// more.
//
// Where C is positive definite, H = T C T with unit diagonal has a least eigenvalue λ of at least
// det H / e, because the product of the other n - 1 eigenvalues is at most (n / (n - 1))^(n - 1).
// det H ≥ 2^-P, where P is the sum of the bits of the diagonal of Z. For H, the entries of |L| |U|
// are at most 1, L and L^-1 are bounded by λ^(-1/2), U^-1 by 1/λ, L21 L11^-1 by λ^(-1/2) and L22^-1
// L21 by 1/λ. A D below λ²/16 changes these bounds by a factor of 2 at most. So λ replaces 2^-M
// above: E is below λ^-(2 + h) 2^-p, pivots are at least λ, and the scales and q are measured
// relative to T. E contains only the leading part of C.
//
// Enclosures hold for rows and columns as a whole. The errors of entries computed from E exceed E
// by a factor of 2^M and twice the scales; the errors of entries of L diag(U)^(1/2) exceed E by
// 2^(3 M). Enclosures that begin with E and improve it have smaller errors. An entry of L or U
// differs from another number with v bits after the binary point by at least 2^(-M - v). An entry
// of L diag(U)^(1/2) differs from such a number by at least 2^(-3 M - 2 v - 2), as the squares
// differ by at least 2^(-2 M - 2 v). Ties of f near the entry have at most M + TieBits + 1 bits
// after the point. Together these need 8 M and 2 TieBits. Nothing is proved about enclosures by
// intervals: they are used only where entries of the scaled C lie below 2^-p, and there are none
// for p above M and the scales.
func NeedOf(c num.Mat, k int, f num.Format, positive bool) Need {
	m, n := c.Dims()
	z := modular.ToIntegers(c)
	minor := z.LargestMinor(k)
	if minor < 0 || minor > BeyondMost { // negative: more than a 32-bit int holds
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
		scales += SpanOfSums(minus, z.Rows) + SpanOfSums(minus, z.Cols) // for CholeskyNewton
	}
	y.Decided = y.Enclosed + 10*minor + 4*scales + 2*rows + 2*TieBits(f) + small
	return y
}
