package seed

import (
	"github.com/halfulp/halfulp/internal/residue"
)

// About returns the tolerance of a product of A and B on the host for an elimination in the given
// bits. Entry (i, j) may be in error by 2^-(bits+4) times the largest magnitudes of row i of A and
// of column j of B, whatever cancels. No claim depends on the error of such an elimination.
func About(bits int) *residue.Bound { return &residue.Bound{Within: int64(bits + 4)} }
