package call

import (
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/residue"
)

// NoNumber is above the exponents of rows of zeros.
const NoNumber = -1 << 60

// SumUp returns an upper bound of Σ x_i 2^exps[i], x_i at most 1 and NoNumber the exponents of
// zeros. Without x all of them are 1.
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
	// Each addition errs by 2^-53 relatively.
	return bound.ScaledUp(bound.Upper().SetFloat64(sum*(1+float64(float64(len(exps)+2)*0x1p-52))), most)
}

// UniformVectors are so many vectors of n numbers of at most 2^top, whose sums of magnitudes are at
// most 2^sum.
func UniformVectors(count, n int, top, sum int64) *residue.Vectors {
	v := &residue.Vectors{Top: make([]int64, count), Norm: min(float64(n), math.Ldexp(1, int(min(sum-top, 1000))))}
	for i := range v.Top {
		v.Top[i] = top
	}
	return v
}
