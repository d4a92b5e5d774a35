// Package eigen computes eigenvalues and eigenvectors of symmetric matrices, singular values, real
// roots of polynomials and Gaussian quadrature rules. Every eigenvalue, singular value, root, node
// and weight is correctly rounded, whatever the condition of the problem.
//
//	z, err := eigen.Sym(a, halfulp.Float64, nil)        // A x = λ x
//	z, err := eigen.SymGeneral(a, b, halfulp.Float64, nil) // A x = λ B x
//	z, err := eigen.SVD(a, halfulp.Float64, nil)        // A = U diag(S) Vᵀ
//	x, err := eigen.RealRoots(p, halfulp.Float64, nil)
//	x, w, err := eigen.GaussLegendre(20, halfulp.Float64, nil)
//
// The entries of eigenvectors and singular vectors, and of functions of matrices, are irrational.
// They are correctly rounded as far as enclosures decide; see [Sym] for the others, which
// Stats.Proof.Undecided counts. Vectors have unique signs, so they have the same bits on every
// machine.
//
// Matrices of up to some thousand rows are meant: a spectrum takes a float64 decomposition and some
// matrix products in about the bits of the format. Products run where Options.Device says. On one
// GPU the other work on entries runs there too, for orders from 384 on, up to 106 bits or so, while
// no eigenvalues are close to each other; else on the host. Results are copied to the device where
// the operands live.
package eigen
