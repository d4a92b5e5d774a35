package place

import "github.com/halfulp/halfulp/internal/num"

// Spectra is the part of a place for what package eigen does entry by entry with matrices at the
// place: approximate eigenvectors X, S = X' A X, R = I - X' X and corrections. Package
// eigen/internal/sym has the formulas and proofs.
type Spectra interface {
	// Residuals bounds S and R, which are upper triangles in MP. Entry (i, j) of S, i ≤ j, differs
	// from the exact one by at most longS[i] lostS[j] and its rounding. squares has n sums of the
	// squares of the columns of the bounds of S without the diagonal, the same for R, and the
	// bounds of the diagonal of R. It is not ok if a bound is neither 0 nor between 2^-250 and
	// 2^250. The caller must free z.
	Residuals(cfg Config, sm, r num.Mat, longS, lostS []float64) (z Residuals, squares []float64, ok bool, err error)
	// Signs returns the sign of the first entry of each column of X + D, in MP, whose magnitude
	// exceeds π/4 of the largest one; 0 if errors of 2^errors[j] in column j do not decide which
	// entry that is.
	Signs(cfg Config, x, d num.Mat, errors []int64) (signs []int32, err error)
	// Columns sets column p of Z to column order[p] of X times signs[p].
	Columns(cfg Config, x num.Mat, order, signs []int32, z num.Mat) error
}

// Residuals are the bounds of S and R, which must not change, at a place.
type Residuals interface {
	// Couplings returns, for each column, six numbers as six lists: the largest bound of an entry
	// of R, or of a first-order correction, up to the diagonal; the nearest gap; and the four sums
	// of the couplings. It is not ok if a column is not separated from all others, or a number is
	// out of range.
	Couplings(cfg Config, q Quotients) (z [6][]float64, ok bool, err error)
	// Correction computes the first-order correction E, after Couplings. It is not ok, and E
	// unspecified, if the bits of E are not between 24 and 90, or if a difference of quotients
	// loses too many bits.
	Correction(cfg Config, e num.Mat) (ok bool, err error)
	// Distances returns, after Couplings, for each column three numbers as three lists: the sum of
	// the squares of the distances, the largest distance, and the sum of the distances times image,
	// unless that is nil.
	Distances(cfg Config, radius, tilt, image []float64, cut float64) (z [3][]float64, ok bool, err error)
	Free()
}

// Quotients are the Rayleigh quotients Hi + Lo + Last, in error by less than 2^-140 relatively, and
// bounds: Size of their magnitudes, Lost of their errors, RowS and RowR of the 2-norms of the rows
// of S and R without the diagonal, Alpha of the norm of R.
type Quotients struct {
	Hi, Lo, Last, Size, Lost, RowS, RowR []float64
	Alpha                                float64
}
