package factors

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// atMost is a bound of multipliers that proves that no entry is larger than a pivot that passes for
// as large: less than nearTie allows.
var atMost = new(big.Float).SetPrec(70).Add(big.NewFloat(1), new(big.Float).SetMantExp(big.NewFloat(1), -66))

// PivotsAreFirst reports whether it is proved that rows in that order have the pivots that
// eliminate chooses: of what is left of a column no entry is larger, and those in front of the
// pivot, where exchanges of two rows at each step have brought them, are smaller. So pivots that
// are exactly as large as others, as many are where entries are small integers, are proved to be
// the right ones whatever arithmetic found them.
func PivotsAreFirst(s *call.Run, u *ziv.Unknown, e *ziv.Enclosure, order []int) (bool, error) {
	front := InFront(order, u.K)
	return belowEach(s, u, e, func(i, j int) *big.Float {
		if f := front[j]; f != nil && f[i/64]>>(i%64)&1 != 0 {
			return distinct
		}
		return atMost
	})
}

// InFront returns of each of k steps of an elimination, with row order[i] of a matrix as row i at
// last, which of these rows lie in front of the pivot before the two are exchanged; nil where it is
// the first one.
func InFront(order []int, k int) [][]uint64 {
	n := len(order)
	final, at := make([]int, n), call.All(n) // at: the row in each place, and where it is
	place := call.All(n)
	for i, row := range order {
		final[row] = i
	}
	front := make([][]uint64, k)
	for j := range k {
		p := place[order[j]]
		if p == j {
			continue
		}
		front[j] = make([]uint64, (n+63)/64)
		for _, row := range at[j:p] {
			i := final[row]
			front[j][i/64] |= 1 << (i % 64)
		}
		at[j], at[p] = at[p], at[j]
		place[at[j]], place[at[p]] = j, p
	}
	return front
}
