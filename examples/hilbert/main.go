// Hilbert solves systems with Hilbert matrices by elimination in float64 and by package linsolve,
// and compares with the exact solutions.
package main

import (
	"fmt"
	"log"
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve"
)

func main() {
	fmt.Println(" n  condition  error of float64 elimination  correctly rounded by linsolve")
	for _, n := range []int{4, 8, 12, 16, 20} {
		a, b, exact := system(n)
		x, err := linsolve.Solve(a, b, halfulp.Float64, nil)
		if err != nil {
			log.Fatal(err)
		}
		condition, err := linsolve.Cond(halfulp.InfNorm, a, halfulp.Float64, nil)
		if err != nil {
			log.Fatal(err)
		}
		y := eliminate(a, b)
		worst, right := 0.0, 0
		for i, want := range exact {
			w, _ := want.Float64() // to nearest
			worst = max(worst, math.Abs(y[i]-w)/math.Abs(w))
			if x.Float64(i, 0) == w {
				right++
			}
		}
		fmt.Printf("%2d  %9.1e  %28.1e  %d of %d\n", n, condition.Float64(), worst, right, n)
	}
}

// system returns A = m H for the Hilbert matrix H of order n, m the least common multiple of its
// denominators: integers below 2^53 up to n = 20. With b = m e_1 the solution of A x = b is the
// first column of the inverse of H, which has integer entries that are known.
func system(n int) (a, b *halfulp.Matrix, exact []*big.Float) {
	m := big.NewInt(1)
	for k := int64(1); k < int64(2*n); k++ {
		g := new(big.Int).GCD(nil, nil, m, big.NewInt(k))
		m.Mul(m, big.NewInt(k)).Quo(m, g)
	}
	a, b = halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.Float64, n, 1)
	b.SetBig(0, 0, new(big.Float).SetInt(m))
	for i := range n {
		for j := range n {
			a.SetBig(i, j, new(big.Float).SetInt(new(big.Int).Quo(m, big.NewInt(int64(i+j+1)))))
		}
		// (-1)^i (i+1) C(n+i, n-1) C(n, n-1-i), i counted from 0
		z := big.NewInt(int64(i + 1))
		z.Mul(z, new(big.Int).Binomial(int64(n+i), int64(n-1)))
		z.Mul(z, new(big.Int).Binomial(int64(n), int64(n-1-i)))
		if i%2 == 1 {
			z.Neg(z)
		}
		exact = append(exact, new(big.Float).SetInt(z))
	}
	return a, b, exact
}

// eliminate solves A x = b in float64 by elimination with partial pivoting.
func eliminate(a, b *halfulp.Matrix) []float64 {
	n := a.Rows()
	rows := make([][]float64, n)
	for i := range rows {
		for j := range n {
			rows[i] = append(rows[i], a.Float64(i, j))
		}
		rows[i] = append(rows[i], b.Float64(i, 0))
	}
	for j := range n {
		p := j
		for i := j; i < n; i++ {
			if math.Abs(rows[i][j]) > math.Abs(rows[p][j]) {
				p = i
			}
		}
		rows[j], rows[p] = rows[p], rows[j]
		for i := j + 1; i < n; i++ {
			factor := rows[i][j] / rows[j][j]
			for c := j; c <= n; c++ {
				rows[i][c] -= float64(factor * rows[j][c]) // not fused
			}
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = rows[i][n]
		for j := i + 1; j < n; j++ {
			x[i] -= float64(rows[i][j] * x[j])
		}
		x[i] /= rows[i][i]
	}
	return x
}
