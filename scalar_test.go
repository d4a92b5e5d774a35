package halfulp_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
)

// TestBigLeastExponents uses numbers whose last bits have exponents that do not fit 32 bits:
// scripts/check.sh runs it on a target with an int of 32 bits.
func TestBigLeastExponents(t *testing.T) {
	for _, prec := range []uint{2, 64, 1000} {
		for _, exp := range []int{math.MinInt32, math.MinInt32 + 100, math.MaxInt32} {
			m := new(big.Float).SetPrec(prec).SetInt(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), prec), big.NewInt(1)))
			x := new(big.Float).SetMantExp(m, -int(prec))
			x.SetMantExp(x, exp) // just below 2^exp
			if got := halfulp.NewScalar(halfulp.MP(prec), x).Big(); got.Cmp(x) != 0 || x.Sign() == 0 || x.IsInf() {
				t.Errorf("%d bits, exponent %d: %g", prec, exp, got)
			}
		}
	}
}
