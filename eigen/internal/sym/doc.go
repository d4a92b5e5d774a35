// Package sym encloses the eigenvalues and eigenvectors of symmetric matrices, and of pairs and
// products of matrices with the same structure, and rounds them correctly.
//
// # From a matrix to its spectrum
//
// eigen.Sym has these stops:
//
//  1. [ByBlocks] sorts rows and columns into the diagonal blocks of A. Each is solved by itself.
//  2. [Sym] scales A by a power of two. Package symeig computes float64 eigenvectors X.
//  3. products computes S = Xᵀ A X and R = I - Xᵀ B X, with bounds of their errors (problem.go). A
//     problem is A x = λ x, A x = λ B x, or A = CᵀC for singular values.
//  4. couple sorts the columns of X into clusters: columns whose coupling in S and R is not far
//     smaller than the distance of their Rayleigh quotients d_i. enclose bounds the eigenvalues of
//     each cluster. Its comment has the proof, by Sylvester's law of inertia.
//  5. roundValues rounds the eigenvalues whose enclosures round to one number. If an enclosure has
//     become narrow around a number halfway between two numbers of the format, or around 0, the
//     exact rank of A - m B tells how many eigenvalues are that number.
//  6. correction computes the first-order correction E; the columns of X + X E are eigenvectors
//     with an error of second order, which distances bounds. roundVectors rounds their entries. For
//     singular vectors of the other side see svd.go.
//  7. If something is open, improved makes the next X from X + X E, with about twice as many bits,
//     and turns the vectors of a cluster by the eigenvectors of its own part of S, in float64.
//     Steps 3 to 7 are repeated.
//  8. What enclosures with 4p + 64 bits leave open in vectors, for a format of p bits, is settled
//     by a rule and counted (basis.go).
//
// Bounds are numbers of type size, rounded up; corrections of up to 90 bits are computed with
// numbers of type pair.
package sym
