package textio

import (
	"fmt"
	"strings"
)

// Count returns a number and its noun, given in the singular: "1 entry", "2 entries", "3
// processes".
func Count[T int | int64](n T, one string) string { return count(int64(n), one) }

func count(n int64, one string) string {
	stem, y := strings.CutSuffix(one, "y")
	switch {
	case n == 1:
	case y:
		one = stem + "ies"
	case strings.HasSuffix(one, "s"):
		one += "es"
	default:
		one += "s"
	}
	return fmt.Sprintf("%d %s", n, one)
}
