package eigen

import (
	"math/big"

	"github.com/halfulp/halfulp"
)

// Distance is distance with default options.
func Distance(a, u, v *halfulp.Matrix, s []*big.Float, next *big.Float, bits, least int) (*big.Float, error) {
	return new(problem).distance(a, u, v, s, next, bits, least)
}
