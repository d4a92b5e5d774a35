package main

import (
	"fmt"
	"io"
	"math"
	"sort"
	"text/tabwriter"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/textio"
)

// The loops below compute the values that --compare shows beside the result: the textbook
// algorithms in float64, every operand and every operation rounded.

// plainSum is s <- s + x_i over the entries, column by column.
func plainSum(x *halfulp.Matrix) float64 {
	s := 0.0
	for j := range x.Cols() {
		for i := range x.Rows() {
			s += x.Float64(i, j)
		}
	}
	return s
}

// plainGemm is the three-loop alpha A B + beta C with A rows x k and B k x cols;
// c is nil where beta is 0.
func plainGemm(alpha float64, a, b *halfulp.Matrix, beta float64, c *halfulp.Matrix) [][]float64 {
	rows, cols, k := a.Rows(), b.Cols(), a.Cols()
	left, right := float64Rows(a), float64Rows(b.T())
	z := make([][]float64, rows)
	for i := range z {
		z[i] = make([]float64, cols)
		for j := range z[i] {
			s := 0.0
			for h := range k {
				s += float64(left[i][h] * right[j][h])
			}
			z[i][j] = float64(alpha * s)
			if c != nil {
				z[i][j] += float64(beta * c.Float64(i, j))
			}
		}
	}
	return z
}

// plainSolve is Gaussian elimination with partial pivoting of A X = B, and back substitution.
func plainSolve(a, b *halfulp.Matrix) [][]float64 {
	u, z := float64Rows(a), float64Rows(b)
	n := len(u)
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(u[i][k]) > math.Abs(u[p][k]) {
				p = i
			}
		}
		u[k], u[p], z[k], z[p] = u[p], u[k], z[p], z[k]
		for i := k + 1; i < n; i++ {
			f := u[i][k] / u[k][k]
			for j := k; j < n; j++ {
				u[i][j] -= float64(f * u[k][j])
			}
			for j := range z[i] {
				z[i][j] -= float64(f * z[k][j])
			}
		}
	}
	for k := n - 1; k >= 0; k-- {
		for j := range z[k] {
			for i := k + 1; i < n; i++ {
				z[k][j] -= float64(u[k][i] * z[i][j])
			}
			z[k][j] /= u[k][k]
		}
	}
	return z
}

func float64Rows(a *halfulp.Matrix) [][]float64 {
	z := make([][]float64, a.Rows())
	for i := range z {
		z[i] = make([]float64, a.Cols())
		for j := range z[i] {
			z[i][j] = a.Float64(i, j)
		}
	}
	return z
}

// comparedRows is the largest number of entries in a comparison.
const comparedRows = 30

// writeComparison prints entries of the result beside the entries of the plain float64 loop; if
// there are more than comparedRows, the worst ones.
func writeComparison(w io.Writer, result *halfulp.Matrix, plain [][]float64, text func(halfulp.Scalar) string) error {
	type entry struct {
		i, j int
		err  float64 // relative to the right value
	}
	var entries []entry
	same := 0
	for i := range result.Rows() {
		for j := range result.Cols() {
			r, p := result.Float64(i, j), plain[i][j]
			e := entry{i: i, j: j}
			switch {
			case r == p || r != r && p != p:
				same++
			case r == 0 || math.IsInf(p-r, 0) || p-r != p-r:
				e.err = math.Inf(1)
			default:
				e.err = math.Abs((p - r) / r)
			}
			entries = append(entries, e)
		}
	}
	shown := entries
	if len(entries) > comparedRows {
		sort.SliceStable(entries, func(a, b int) bool { return entries[a].err > entries[b].err })
		shown = entries[:comparedRows]
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "entry\thalfulp\tplain float64")
	for _, e := range shown {
		fmt.Fprintf(t, "(%d, %d)\t%s\t%v\n", e.i+1, e.j+1, text(result.At(e.i, e.j)), plain[e.i][e.j])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if n := len(entries) - len(shown); n > 0 {
		fmt.Fprintf(w, "... and %s with smaller relative differences\n", textio.Count(n, "entry"))
	}
	_, err := fmt.Fprintf(w, "plain float64 agrees in %d of %s\n", same, textio.Count(len(entries), "entry"))
	return err
}
