package ozaki

import (
	"context"
	"math"

	"github.com/halfulp/halfulp/internal/par"
)

// specials lists, for each vector, the entries that are infinite or NaN; nil if there are
// none at all.
func specials(ctx context.Context, threads int, x vectors) ([][]int, error) {
	list := make([][]int, x.n)
	err := par.For(ctx, threads, x.n, func(_, v int) {
		for h := range x.len {
			if !finite(x.at(v, h)) {
				list[v] = append(list[v], h)
			}
		}
	})
	for _, l := range list {
		if l != nil {
			return list, err
		}
	}
	return nil, err
}

// special returns the sum of the products of row i of a with column j of b that are infinite
// or NaN, and whether there are any.
func special(a, b vectors, listA, listB [][]int, i, j int) (sum float64, any bool) {
	add := func(list [][]int, v int) {
		if list != nil {
			for _, h := range list[v] {
				sum, any = sum+float64(a.at(i, h)*b.at(j, h)), true
			}
		}
	}
	add(listA, i)
	add(listB, j)
	return sum, any
}

// infinite returns Σ α a_ih b_hj for an α that is infinite or NaN, and at least one product.
func infinite(alpha float64, a, b vectors, i, j int) float64 {
	sum := 0.0
	for h := range a.len {
		if sum += float64(float64(alpha*a.at(i, h)) * b.at(j, h)); math.IsNaN(sum) {
			break
		}
	}
	return sum
}
