// Package lanes multiplies long numbers several side by side: digit s of each is in a lane of one
// vector, so that one instruction multiplies a pair of digits of every lane. Digits are integers
// of 52 bits (AVX-512's IFMA, eight lanes), or of 51 bits in binary64 (AVX2's FMA, four lanes),
// whose high and low parts of a product are found by adding it to 1.5 2^103 and to 1.5 2^52.
//
// From numbers as [num.Array] stores them, and a reference exponent that no product exceeds, it
// computes:
//
//   - sums of products, a row of a matrix times a vector, several rows at a time ([Rows]), or of
//     two vectors ([Dot]), in D digits as a [Plan] says;
//   - a x_i + b y_i, rounded ([Linear]);
//   - numbers in fixed point for eliminations and substitutions in many digits ([Lanes]).
//
// What is cut off is bounded: in units of the last digit the error of a product of D digits is
// less than 3 D + 1, as [Unit] proves, and sums of n products are in error by less than n times
// that. A plan takes as many digits as leave ten bits between that bound and the precision asked
// for, so that for data of like size few results are left open. The package decides nothing by
// itself: sums go back with their bound, and [Linear] leaves a number open where the bound could
// matter, for the caller to round an exact sum.
//
// Unit's methods in Go define what the kernels compute, bit for bit; tests run them as units of
// their own on every machine ([EachUnit]). Machines without AVX2 have no unit, and other ways are
// taken.
package lanes
