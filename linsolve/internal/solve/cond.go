package solve

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	mathbits "math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// ConditionNumber returns the condition number of a in format f, in the norm of column sums if
// columns is set, else of row sums.
func ConditionNumber(s *call.Run, columns bool, a num.Mat, f num.Format) (z num.Scalar, err error) {
	n := a.Rows
	if n == 0 {
		return num.NewScalar(f, new(big.Float)), nil
	}
	// Let D be the determinant of the matrix of integers A 2^-low. The condition number is K / D
	// for an integer K: the norm of this matrix times the norm of its adjugate. So it equals a tie,
	// an odd multiple of 2^v, or differs from the tie by at least 2^min(v, 0) / D. Relative to the
	// condition number that is 2^min(v, 0) / K. K ≤ n n! 2^(n b) for integers of b bits, so
	// PowerBits bounds the bits of K.
	most := int64(ziv.PowerBits(s.Threads, a, n))
	// The condition number is at least 1, so ties near it have at most TieBits bits behind the
	// point.
	enough := int(min(most+int64(ziv.TieBits(f))+9, ziv.BeyondMost))
	loop := ziv.Loop{What: "a condition number", First: f.Bits() + 32 + mathbits.Len(uint(n)), Theory: ziv.Enough(enough)}
	err = ziv.Decide(s, loop, func(bits int) (missing int, err error) {
		x, err := Solve(s, a, num.Identity(num.Float64, n), num.Precision(uint(bits)))
		if errors.Is(err, call.ErrSingular) {
			z = num.NewScalar(f, new(big.Float).SetInf(false))
			return ziv.Done, nil
		}
		if err != nil {
			return 0, err
		}
		of := func(m num.Mat) *big.Float {
			if columns {
				m = m.T()
			}
			return rowNorm(m, bits)
		}
		// Entries of the inverse have relative errors below 2^-bits; the norms have twice that.
		product := new(big.Float).SetPrec(uint(2*bits)).Mul(of(a), of(x))
		if product.IsInf() {
			return 0, fmt.Errorf("a condition number beyond the exponents of formats: %w", call.ErrRange)
		}
		radius := new(big.Float).SetMantExp(product, 3-bits)
		lower := num.NewScalar(f, new(big.Float).SetPrec(uint(3*bits)).Sub(product, radius))
		upper := num.NewScalar(f, new(big.Float).SetPrec(uint(3*bits)).Add(product, radius))
		if lower.Same(upper) {
			z = lower
			ziv.LeavesRange(s, z, product, product)
			return ziv.Done, nil
		}
		if t, _ := ziv.Tie(lower, upper); t != nil && int64(bits) > most+max(0, -interval.Lowest(t))+8 {
			z = num.NewScalar(f, t)
			ziv.LeavesRange(s, z, t, t)
			return ziv.Done, nil
		}
		return ziv.Double, nil
	})
	return z, err
}

// rowNorm returns the largest sum of magnitudes of a row with a relative error below 2^-bits.
func rowNorm(a num.Mat, bits int) *big.Float {
	norm := new(big.Float).SetPrec(uint(bits + 32))
	for i := range a.Rows {
		sum, top := new(big.Float).SetPrec(uint(bits+64)), math.MinInt
		row := make([]*big.Float, a.Cols)
		for j := range row {
			if row[j] = a.Big(i, j); row[j].IsInf() {
				return row[j].Abs(row[j])
			}
			if row[j].Sign() != 0 {
				top = max(top, row[j].MantExp(nil))
			}
		}
		for _, x := range row {
			// An exact sum of numbers far apart would take all bits between them. n numbers below
			// 2^-(bits+64), relatively, are negligible.
			if x.Sign() != 0 && x.MantExp(nil) >= top-bits-64 {
				sum.Add(sum, x.Abs(x))
			}
		}
		if sum.Cmp(norm) > 0 {
			norm = sum
		}
	}
	return norm
}
