package ozaki

import "math"

// special returns the sum of the infinite and NaN products of row i of a and column j of b, and
// whether there are any.
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
