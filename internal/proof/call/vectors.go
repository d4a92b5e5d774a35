package call

import (
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/residue"
)

// NoNumber is an upper bound of the values that stand for the exponents of rows of zeros.
const NoNumber = -1 << 60

// SumUp returns an upper bound of Σ x_i 2^exps[i], where x_i is at most 1. Exponents of at most
// NoNumber stand for terms that are 0. If x is nil all x_i are 1.
func SumUp(x []float64, exps []int64) *big.Float {
	most := slices.Max(exps)
	if most <= NoNumber {
		return bound.Upper()
	}
	sum := 0.0
	for i, e := range exps {
		v := 1.0
		if x != nil {
			v = x[i]
		}
		sum += scale.Ldexp(v, max(e-most, -1000)) + 0x1p-1000
	}
	// Each addition has a relative error of at most 2^-53.
	return bound.ScaledUp(bound.Upper().SetFloat64(sum*(1+float64(float64(len(exps)+2)*0x1p-52))), most)
}

// UniformVectors returns the bounds of count vectors of n numbers of at most 2^top, whose sums of
// magnitudes are at most 2^sum.
func UniformVectors(count, n int, top, sum int64) *residue.Vectors {
	v := &residue.Vectors{Top: make([]int64, count), Norm: min(float64(n), math.Ldexp(1, int(min(sum-top, 1000))))}
	for i := range v.Top {
		v.Top[i] = top
	}
	return v
}
