package peer

import (
	"fmt"
	"math/big"
)

// ParseHex reads a number that a C library printed with %Ra, losing nothing.
func ParseHex(text string) *big.Float {
	const widest = 1 << 16
	z, _, err := big.ParseFloat(text, 0, widest, big.ToNearestEven)
	if err != nil {
		panic(fmt.Sprintf("peer: number %q: %v", text, err))
	}
	return z
}
