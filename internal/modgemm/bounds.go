package modgemm

// The kernels add products in int32 and, before a sum can leave its range, fold it:
// replace it by a smaller one that is congruent modulo m.
//
// Step fold, acc = acc mod 2^21 + floor(acc/2^21) step, between the blocks of a sum,
// with step the representative of 2^21 modulo m in (-m/2, m/2]. floor(acc/2^21) is
// within 2^10 and fits int16, so VPMADDWD multiplies it. For every int32,
//
//	|acc| <= 2^21 - 1 + 2^10 4095 = 6 290 431.
//
// At the end of a sum two folds take off the nearest multiple of m as float32
// arithmetic finds it. With u = 2^-24, the unit roundoff of float32, and inv the float32
// next to 1/m:
//
// Coarse fold, acc -= m rint(float32(float32(acc) inv)), for |acc| < 2^31 and m >= 2.
// The conversion, inv and the product each have a relative error of at most u (inv
// u + 2^-53, since it is rounded by way of float64), so the quotient is off by less
// than 3.001 u |acc|/m, rint adds at most 1/2, and what remains is
//
//	|acc| <= m/2 + 3.001 u 2^31 < m/2 + 385.
//
// The quotient is at most 2^30 (1 + 4u) and fits int32; m times it may wrap, but
// its difference from acc is small, hence right, modulo 2^32.
//
// Exact fold, acc -= m rint(fma(acc, inv, -d)) with d = 2^-15 = 512 u, for
// |acc| <= m/2 + 385 and 2 <= m <= 8191. Now acc is exact in float32, and with
// q = acc/m, |q| <= 1/2 + 385/m <= 193, the argument of rint differs from q - d by
// E <= 2.001 u |q| + u d < 387 u.
//   - If q is half an odd integer (m even), q - d - E < argument <= q - d + E < q: it is
//     rounded down, and +m/2 remains.
//   - Else q is at least 1/(2m) > 2^-14 = 1024 u from every such half, more than
//     d + E < 899 u: the argument is rounded like q.
//
// So the remainder r is the one representative in -m/2 < r <= m/2, the same bits
// from every kernel.
//
// A block adds to at most 6 290 431 (left by a step fold; the old C, any int16, is less):
//
//	63 pairs of |a|, |b| <= 4095:              126 4095^2      = 2 112 897 150
//	 7 pairs of |a| <= 4095, |b| <= 2^15:       14 4095 2^15   = 1 878 589 440
//	                       at most 2^31 - 1 - 6 290 431        = 2 141 193 216
//
// (One pair more exceeds it. A fold in float32 would leave less and allow 64 and 8 pairs,
// but takes twice as long, and more than that on machines where VPMULLD is two operations.)
//
// Without a fold, for Combine, 64 pairs of |a| <= 4096, |b| <= 4095:
// 128 4096 4095 = 2 146 959 360 < 2^31.
const (
	// maxModulus keeps residues within 4095, for an even modulus too.
	maxModulus = 1<<13 - 1
	// maxResidue bounds residues and conversion constants.
	maxResidue = maxModulus / 2
	// residuePairs is the number of pairs between folds if both operands are residues.
	residuePairs = 63
	// digitPairs is the number of pairs between folds if the right operand holds any int16.
	digitPairs = 7
	// foldBits is the position of the bit at which a step fold cuts a sum in two.
	foldBits = 21
	// combinePairs is the number of pairs that Combine adds up without folds.
	combinePairs = 64
	// combineBits is the radix of the weight digits that Combine joins; digits
	// balanced in [-2^12, 2^12] fit the bound above.
	combineBits = 13
)

// maxMR is the largest MR of a kernel.
const maxMR = 12
