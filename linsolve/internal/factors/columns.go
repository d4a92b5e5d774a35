package factors

import "math/bits"

// QRPivoted orders the columns as LongestColumns does in the bits of the result, which takes n³
// operations on big.Float. Float64 arithmetic gives the same order if the factors show afterwards
// that each pivot exceeds all other candidates by more than the possible error of LongestColumns.

// PivotsKept reports whether LongestColumns in prec bits or more, if it takes these pivots,
// computes all diagonals of the remaining matrices with relative errors of at most 2^-33. Entries
// of F are below 2^top, and S is the seed; ‖E‖ ≤ 2^-8 is proved later.
//
// Let u = 2^-prec, and let the positive definite X be the remainder of C before a step. The step
// computes X[i,j] - X[i,k] X[j,k] / X[k,k] with an error of at most
//
//	2.01 u |X[i,k] X[j,k]| / X[k,k] + u |result| ≤ 4.1 u (X[i,i] X[j,j])^(1/2)
//
// because off-diagonal entries are at most (X[i,i] X[j,j])^(1/2), and diagonals grow only by
// roundings. An error of the remainder equals an error of C at the same place. After any number of
// steps the computed matrix is hence the exact remainder of C + δ, with |δ[i,j]| ≤ 8 n u (C[i,i]
// C[j,j])^(1/2) including the rounding of C. For F = D C D these bounds are at most 8 n u 2^top.
// With S F S^T = I + E and w = S^-T v
//
//	|v^T δ v| ≤ ‖S‖² ‖δ‖ |w|²,  v^T F v ≥ (1 - 2^-8) |w|²,  ‖S‖² ≤ ‖S‖∞ ‖S‖1,  ‖δ‖ ≤ 8 n² u 2^top
//
// in Euclidean norms. Hence -ε F ≤ δ ≤ ε F for ε = 1.01 ‖S‖∞ ‖S‖1 8 n² u 2^top. Schur complements
// are monotonic, so the remainder of C + δ lies between 1 - ε and 1 + ε times the remainder of C.
// It is positive definite, as the next step requires.
func (t *CholeskyNewton) PivotsKept(top, prec int) (bool, error) {
	rows, err := t.S.RowNorm(t.X)
	if err != nil {
		return false, err
	}
	cols, err := t.S.RowNorm(t.X.T())
	if err != nil {
		return false, err
	}
	length := bits.Len(uint(t.N))
	return length <= 20 && 4+2*length+top+rows.MantExp(nil)+cols.MantExp(nil)-prec <= -33, nil
}
