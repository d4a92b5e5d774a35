// Package factors computes Cholesky, LU, LDLᵀ and QR factors with every entry correctly rounded.
//
// Let S and T be triangular matrices near the inverses of the factors of a matrix C. The factors of
// I + E = S C T have a first-order solution, and Brouwer's theorem bounds the rest (ziv.Enclosure).
// CholeskyNewton and LUNewton improve S and T by products; a step has up to four times the bits of
// the step before. Seeds come from float64 factors, or from eliminations by blocks or in more bits.
// Package digits encloses factors too, and faster where it applies.
//
// Pivots come from a computation in enough bits. The enclosures prove that the pivots are the
// largest entries, up to a factor of 1 + 2^-60. R of QR is the Cholesky factor of AᵀA, which is
// computed exactly. Factors live where A does; the files ondevice*.go contain the operations of a
// place other than products.
package factors
