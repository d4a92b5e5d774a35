// Package roots computes real roots of polynomials, eigenvalues of symmetric tridiagonal matrices,
// and the nodes and weights of Gaussian quadrature. Every number is enclosed by an interval with a
// proof, and the interval is narrowed until both ends round to the same number (Ziv, 1991).
//
// # Polynomials
//
// Coefficients are scaled to integers by powers of two. The polynomial is split into square-free
// factors by Yun's algorithm (Knuth, The Art of Computer Programming 2, section 4.6.2), with
// greatest common divisors modulo primes (Collins; Brown, On Euclid's algorithm, 1971) that
// division proves. Roots of a factor are isolated by Descartes' rule of signs in the Bernstein
// basis (Lane and Riesenfeld, Bounds on a polynomial, 1981; Collins and Akritas, 1976): the number
// of sign changes of the coefficients on an interval exceeds the number of its roots by an even
// number. Coefficients are fixed-point numbers with a bound of their errors; a coefficient below
// that bound has no sign. An isolated root is refined by quadratic interval refinement (Abbott,
// Quadratic interval refinement for real roots, 2006), in which the signs of two values prove every
// step. All ends of intervals are multiples of 2^-k. So a root that is such a multiple is found
// when its sign is computed, and another root eventually leaves every midpoint of two numbers of
// the format.
//
// # Tridiagonal matrices
//
// The signs of the pivots of T - x I count the eigenvalues of T below x (Sylvester). Pivots in
// floating-point arithmetic are the exact pivots of a matrix near T (Kahan, Accurate eigenvalues of
// a symmetric tri-diagonal matrix, 1966): see the method count. So two counts enclose an
// eigenvalue. A candidate comes from float64 arithmetic, and from Rayleigh quotients of twisted
// factorisations (Dhillon and Parlett, Multiple representations to compute orthogonal eigenvectors,
// 2004). A number that equals an eigenvalue is found by exact integer arithmetic.
//
// # Quadrature
//
// Nodes are eigenvalues of tridiagonal matrices (Golub and Welsch, Calculation of Gauss quadrature
// rules, 1969), of half the order where nodes are symmetric. Weights are products of differences of
// nodes: see quadrature.go.
package roots
