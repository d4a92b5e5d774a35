// Package superacc adds numbers and products of numbers without any error, in accumulators that
// are as wide as their addends need (superaccumulators, Kulisch's long accumulators), and rounds
// sums, quotients and roots of them once.
//
// An [Acc] keeps a sum as integers of 1024 bits at multiples of 1024, pages, each with a word of
// room for carries, so that addends of any exponents cost memory for the pages they touch. Sums of
// integers are exact, whatever the order of the addends. After carrying, the sum has the sign of
// its topmost page, and the pages below a page sum to less than the unit of that page. So the
// leading bits and one sticky bit, which is set if lower bits are not all 0, suffice for the one
// rounding, in [num.Array.Set]. Infinities, NaN and the signs of zeros are noted aside, by IEEE
// 754.
//
// Many numbers are first added up in a form that costs less, and exactly as well, and then enter
// the pages together:
//
//   - numbers of one or several words in an integer, by rows for every shift within a word, or,
//     with AVX-512's IFMA, in columns of 52 bits (limbs.go);
//   - binary64 and binary32 numbers and expansions, and their products, in words of 32 bits with
//     room for 2^30 additions (floats.go);
//   - sums of two addends next to each other (two.go).
//
// An enclosure, a sum known up to a bound, is rounded if both ends round to the same number
// ([Acc.RoundEnclosure], Ziv's test): rounding is monotonic, so that what lies between does, too.
// Otherwise it is left to the caller, who adds up the exact sum.
//
// The package also has the integers of words that this takes ([Multiply], [Trim], [WordVector]),
// and digits of sums put together ([Packer]), which the digit kernels of packages lanes, tiles and
// direct share. The loops in generic.go define what the kernels in assembly compute, bit for bit.
package superacc
