// Package superacc adds numbers and products of numbers without any error, in accumulators that
// are as wide as their addends need (superaccumulators, Kulisch's long accumulators), and rounds
// sums, quotients and roots of them once.
//
// An [Acc] keeps a sum as integers of 1024 bits at multiples of 1024, pages, each with a word of
// room for carries, so that addends of any exponents cost memory for the pages they touch. Sums of
// integers are exact, whatever the order of the addends. After carrying, the sum has the sign of
// its topmost page, and the pages below a page sum to less than the unit of that page. So the
// leading bits and one sticky bit, which is set if lower bits are not all 0, suffice for the one
// rounding, in [num.Array.Set]. Infinities, NaN and the signs of zeros are recorded separately,
// by the rules of IEEE 754.
//
// Many numbers are first added up in a cheaper form, also exactly, and then added to the pages
// together:
//
//   - numbers of one or several words in an integer, by rows for every shift within a word, or,
//     with AVX-512's IFMA, in columns of 52 bits (limbs.go);
//   - binary64 and binary32 numbers and expansions, and their products, in words of 32 bits with
//     room for 2^30 additions (floats.go);
//   - sums of two addends next to each other (two.go).
//
// An enclosure, a sum known up to a bound, is rounded if both ends round to the same number
// ([Acc.RoundEnclosure], Ziv's test): rounding is monotonic, so all numbers between them round to
// it, too. Otherwise the caller computes the exact sum.
//
// The package also has arithmetic on integers of words ([Multiply], [Trim], [WordVector]), and
// [Packer], which joins digits to numbers for the digit kernels of packages lanes, tiles and
// direct. The loops in generic.go define what the kernels in assembly compute, bit for bit.
package superacc
