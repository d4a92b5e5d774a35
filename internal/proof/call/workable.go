package call

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
)

// MostExponent bounds exponents: products and quotients of such numbers are still numbers.
const MostExponent = 1 << 29

// Workable returns an error if formats have less bits, or if entries have exponents that products
// may leave the range of.
func Workable(bits int, m num.Mat) error {
	if bits > bound.MaxBits {
		return fmt.Errorf("%d bits: %w", bits, ErrMemory)
	}
	if bound.Far(m, MostExponent) {
		return fmt.Errorf("exponents beyond 2^29: %w", ErrRange)
	}
	return nil
}
