package function

import (
	mathbits "math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Walks returns for each i the set of all j for which the graph of the nonzeros of A has a walk of
// exactly e edges a_ik, a_kl, ... from i to j. Without such a walk, entry (i, j) of A^e is an empty
// sum of products: it is 0, whatever the values of the nonzeros.
//
// The sets are the rows of the e-th power of the Boolean matrix of the nonzeros, which comes from
// at most 2 log2(e) Boolean products of n³/64 operations. For e = 0 they are the rows of I.
func Walks(a num.Mat, e int) []ziv.Set {
	n := a.Rows
	edges, walks := make([]ziv.Set, n), make([]ziv.Set, n)
	for i := range n {
		edges[i], walks[i] = make(ziv.Set, (n+63)/64), make(ziv.Set, (n+63)/64)
		walks[i].Add(i)
		for j := range n {
			if a.Arr.Class(a.At(i, j)) != num.Zero {
				edges[i].Add(j)
			}
		}
	}
	for k := mathbits.Len(uint(e)) - 1; k >= 0; k-- {
		walks = composed(walks, walks)
		if e>>k&1 != 0 {
			walks = composed(walks, edges)
		}
	}
	return walks
}

// composed returns the product of two Boolean matrices, whose rows are given as sets.
func composed(x, y []ziv.Set) []ziv.Set {
	z := make([]ziv.Set, len(x))
	for i, row := range x {
		z[i] = make(ziv.Set, len(row))
		for w, bits := range row {
			for ; bits != 0; bits &= bits - 1 {
				for v, t := range y[64*w+mathbits.TrailingZeros64(bits)] {
					z[i][v] |= t
				}
			}
		}
	}
	return z
}
