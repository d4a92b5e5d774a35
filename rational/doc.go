// Package rational computes with matrices of rational numbers. Results are exact.
//
//	a, err := rational.Parse([][]string{{".1", ".2", ".3"}, {".4", ".5", ".6"}, {".7", ".8", ".9"}})
//	r, err := rational.Rank(a, nil)      // 2
//	z, err := rational.NullSpace(a, nil) // the column 1, -2, 1
//
// A Matrix has any number of rows and columns, 0 included. [FromMatrix] converts a matrix of
// package halfulp without rounding, and [Matrix.Round] rounds every entry once.
//
// # Methods
//
// Rows are integers over a common denominator, so that routines compute with integers.
//
//   - Products of large matrices are products of the engine, in as many bits as the exact integers
//     have.
//   - Few columns of a solution, and many columns of short numbers, are lifted modulo powers of a
//     prime (Dixon, Exact solution of linear equations using p-adic expansions, 1982) by float64
//     products: see floatlifting.go. The lifting ends when the solution is proved: see lift.go.
//   - Other columns, small matrices, characteristic polynomials and factors are computed modulo
//     many primes, and combined by the Chinese remainder theorem. Hadamard's inequality bounds the
//     integers. Determinants take few primes, since a lifted solution has a divisor of them.
//   - Matrices up to order 4 are eliminated without fractions (Bareiss, Sylvester's identity and
//     multistep integer-preserving Gaussian elimination, 1968).
//
// No method stops on a probability: what a routine returns is proved.
//
// # Options
//
// Routines that may take long have [halfulp.Options] as their last argument, nil for the defaults.
// They use its Context, Threads and Progress; Device, Method and MemoryLimit apply to the products
// that the engine computes. Stats are not written.
//
// # Errors
//
// Misuse panics with a constant message: shapes that do not fit, indices out of range, nil
// matrices. Errors are ErrSingular, ErrInconsistent, ErrNotFinite, ErrSyntax, and errors of the
// options.
package rational
