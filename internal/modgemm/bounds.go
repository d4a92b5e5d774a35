package modgemm

// The kernels add products in int32 and, before a sum can leave its range,
// fold it: take off the nearest multiple of m as float32 arithmetic finds it.
// With u = 2^-24, the unit roundoff of float32, and inv the float32 next to 1/m:
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
// Between folds a sum grows by the products of a block, from at most 2^15 (a
// remainder of the last fold, or the old C, any int16):
//
//	64 pairs of |a|, |b| <= 4095:              128 4095^2      = 2 146 435 200
//	 8 pairs of |a| <= 4095, |b| <= 2^15:       16 4095 2^15   = 2 146 959 360
//	                       less than 2^31 - 1 - 2^15           = 2 147 450 879
//
// and without a fold, for Combine, 64 pairs of |a| <= 4096, |b| <= 4095:
// 128 4096 4095 = 2 146 959 360 < 2^31.
const (
	// maxModulus keeps residues within 4095, for an even modulus too.
	maxModulus = 1<<13 - 1
	// maxResidue bounds residues and conversion constants.
	maxResidue = maxModulus / 2
	// residuePairs is the number of pairs between folds where both operands are
	// residues.
	residuePairs = 64
	// digitPairs is that where the right operand holds any int16.
	digitPairs = 8
	// combinePairs is the number of pairs in a sum that Combine takes without folds.
	combinePairs = 64
	// combineBits is the radix of the weight digits that Combine joins; digits
	// balanced in [-2^12, 2^12] fit the bound above.
	combineBits = 13
)

// maxMR is the largest MR of a kernel.
const maxMR = 12
