package linsolve

// Factors P A P^T = L D L^T at a place have the host's pivots and approximate inverses, products
// are made there. Of blocks of two rows the host computes the entries below the diagonal, fewer
// than n numbers of a matrix.
