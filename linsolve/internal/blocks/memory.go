package blocks

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/budget"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// may fuse throughout: estimates of memory, none of them a result.

// mostParts bounds the number of parts in which the columns of a Schur complement are computed:
// with more parts, products spend their time on the other factor.
const mostParts = 16

// ReserveDet reserves the memory for a determinant by blocks to the given places. It returns the
// number of parts in which [Determinant] computes the columns of the first Schur complement: 1 if
// that keeps to the limit. It fails if no number of parts keeps to the limit. Float64 factors of
// blocks are counted when they are made.
func ReserveDet(s *call.Run, a num.Mat, places int) (parts int, err error) {
	for parts = 1; parts <= mostParts; parts++ {
		bytes, floats := detBytes(a, places, parts)
		if parts > 1 { // the factors of A, which are given back
			bytes -= 8 * float64(a.Rows) * float64(a.Rows)
		}
		if err = s.Budget.Reserve(bytes); err == nil {
			return parts, s.Budget.Reserve(bytes - floats)
		}
	}
	return 0, err
}

// CheckDet returns the error of ReserveDet in advance, before float64 factors of A exist.
func CheckDet(s *call.Run, a num.Mat, places int) error {
	least, _ := detBytes(a, places, mostParts)
	return s.Budget.Check(max(least, 8*float64(a.Rows)*float64(a.Rows)))
}

// detBytes returns the bytes of ReserveDet, and the bytes of float64 factors of blocks among them.
// It takes the maximum over four steps: F11 is inverted approximately, the inverse is improved, S'
// is computed, and S' is inverted approximately. Blocks have half the order; approximate inverses
// take three matrices of float64 numbers.
func detBytes(a num.Mat, places, parts int) (bytes, floats float64) {
	h := (a.Rows + 1) / 2
	of := func(bits int) float64 { return float64(call.MatrixBytes(call.MP(bits), h, h)) }
	size := bits.Len(uint(a.Rows))
	wide := of(places + 3*size + 22)
	half, first, given := of(max(places/2+size, 64)), of(scale.SeedBits), of(a.Format().Bits())
	floats = 8 * float64(h) * float64(h)
	inverse := 4 * floats // with the factors
	columns := (3*half + 2*given + 2*wide) / float64(parts)
	products := budget.ForProducts(wide/2/float64(parts), wide)
	bytes = math.Ceil(max(
		given+inverse,
		2*given+floats+half+first+2*of(max(places/4+size, scale.SeedBits))+products,
		3*given+floats+half+wide+columns+products,
		2*given+floats+wide+inverse,
	))
	return bytes, 2 * floats
}

// eliminationBytes returns the bytes of an elimination by blocks in the given bits: the scaled
// matrix, its remaining part and the factors.
func eliminationBytes(n, bits int) float64 {
	return 2.5 * float64(call.MatrixBytes(call.MP(bits), n, n))
}
