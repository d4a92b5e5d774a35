package seed

import (
	"github.com/halfulp/halfulp/internal/residue"
)

// About says that a product on the host may be in error by 2^-(bits+4) of the largest number of row
// i of A and of column j of B multiplied, whatever cancels: that of an elimination in so many bits,
// of which nothing need be known.
func About(bits int) *residue.Bound { return &residue.Bound{Within: int64(bits + 4)} }
