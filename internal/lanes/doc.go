// Package lanes multiplies long numbers several side by side: digit s of each is in a lane of one
// vector, so that one instruction multiplies a pair of digits of every lane. Digits are integers
// of 52 bits (AVX-512's IFMA, eight lanes), or of 51 bits in binary64 (AVX2's FMA, four lanes). In
// binary64 the high and low parts of a product are found by adding 1.5 2^103 and 1.5 2^52.
//
// From numbers as [num.Array] stores them, and a reference exponent that no product exceeds, it
// computes:
//
//   - sums of products in D digits, chosen by a [Plan]: rows of a matrix times a vector, several
//     rows at a time ([Rows]), or two vectors ([Dot]);
//   - a x_i + b y_i, rounded ([Linear]);
//   - numbers in fixed point for eliminations and substitutions in many digits ([Lanes]).
//
// The error is bounded: in units of the last digit the error of a product of D digits is less than
// 3 D + 1, as proved at [Unit], and the error of a sum of n products is less than n times that
// bound. A plan chooses the number of digits so that the bound is at least ten bits below the
// requested precision; then the rounding of few results is undecided for data of similar size. Sums
// are returned unrounded, for the caller to round with the bound. [Linear] reports numbers whose
// rounding the bound does not decide; the caller rounds their exact sums.
//
// Unit's methods in Go define what the kernels compute, bit for bit; tests run them as units of
// their own on every machine ([EachUnit]). Machines without AVX2 have no unit, and use other
// methods.
package lanes
