// Package factors computes Cholesky, LU, LDLᵀ and QR factors, every entry rounded correctly.
//
// For S and T near the inverses of the factors of a matrix C, triangular as these are, the factors
// of I + E = S C T have a first-order solution, and Brouwer's theorem bounds what is left
// (ziv.Enclosure). CholeskyNewton and LUNewton improve S and T by products: a step has up to four
// times the bits of the one before it. Seeds are float64 factors, those of eliminations by blocks
// or in more bits. Package digits encloses factors too, faster where it applies.
//
// Pivots are those of a computation in enough bits; that they are the largest ones, up to a factor
// of 1 + 2^-60, is proved of the enclosures. R of QR is the Cholesky factor of AᵀA, which is
// computed exactly. Factors live where A does; the files ondevice*.go have what a place does beside
// products.
package factors
