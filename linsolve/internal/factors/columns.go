package factors

import "math/bits"

// Columns of QRPivoted are in the order in which LongestColumns has them in so many bits, which
// takes n³ operations on big.Float. The same order comes from float64 arithmetic where the factors
// tell afterwards that each pivot is by more than LongestColumns may err larger than all that it is
// chosen from.

// PivotsKept reports whether LongestColumns in prec bits or more, if it takes these pivots, has all
// diagonals of what is left up to 2^-33 of them. Entries of F are below 2^top, and S is the seed,
// whose E is proved later to be at most 2^-8 in the norm.
//
// Let u = 2^-prec and X be what is left of C before a step, positive definite. The step computes
// X[i,j] - X[i,k] X[j,k] / X[k,k] up to
//
//	2.01 u |X[i,k] X[j,k]| / X[k,k] + u |result| ≤ 4.1 u (X[i,i] X[j,j])^(1/2)
//
// as that is how large entries off the diagonal may be, and diagonals do not grow but for
// roundings. An error of what is left is one of C at the same place. After any number of steps what
// is computed is hence left of C + δ, with |δ[i,j]| ≤ 8 n u (C[i,i] C[j,j])^(1/2), the rounding of
// C among it. For F = D C D these are 8 n u 2^top at most. With S F S^T = I + E and w = S^-T v
//
//	|v^T δ v| ≤ ‖S‖² ‖δ‖ |w|²,  v^T F v ≥ (1 - 2^-8) |w|²,  ‖S‖² ≤ ‖S‖∞ ‖S‖1,  ‖δ‖ ≤ 8 n² u 2^top
//
// in Euclidean norms: -ε F ≤ δ ≤ ε F for ε = 1.01 ‖S‖∞ ‖S‖1 8 n² u 2^top. Schur complements are
// monotonic, so that what is left of C + δ lies between 1 - ε and 1 + ε times what is left of C: it
// is positive definite, as the next step wants.
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
