package call

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
)

// MostExponent bounds exponents, so that products and quotients of numbers stay in the range of MP.
const MostExponent = 1 << 29

// Workable returns an error that wraps ErrMemory if bits exceeds the largest format, and an error
// that wraps ErrRange if entries of m have exponents beyond MostExponent.
func Workable(bits int, m num.Mat) error {
	if bits > bound.MaxBits {
		return fmt.Errorf("%d bits: %w", bits, ErrMemory)
	}
	if bound.Far(m, MostExponent) {
		return fmt.Errorf("exponents beyond 2^29: %w", ErrRange)
	}
	return nil
}
