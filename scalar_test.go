package halfulp_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
)

// TestBigLeastExponents has numbers whose last bits have exponents that an int of 32 bits has not:
// scripts/check.sh runs it on such a target.
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
