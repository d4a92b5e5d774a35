package factors

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// atMost is a bound of multipliers. It proves that no entry is larger than the pivot, up to a
// factor that seed.Eliminate accepts as equality: it is less than nearTie there allows.
var atMost = new(big.Float).SetPrec(70).Add(big.NewFloat(1), new(big.Float).SetMantExp(big.NewFloat(1), -66))

// PivotsAreFirst reports whether the pivots in this order of rows are proved to be the pivots that
// seed.Eliminate chooses: no remaining entry of the column is larger, and all entries in front of
// the pivot are smaller. "In front" takes into account the exchange of two rows at each step.
// Pivots exactly as large as other entries, as is common for small integers, are so proved to be
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

// InFront returns, for each of k steps of an elimination, the set of rows that lie in front of the
// pivot before the exchange; nil if the pivot is the first row. Rows are numbered by their final
// positions: row i is row order[i] of the matrix.
func InFront(order []int, k int) [][]uint64 {
	n := len(order)
	final, at := make([]int, n), call.All(n) // at: the row in each place; place: its inverse
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
