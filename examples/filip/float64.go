package main

import (
	"math"
	"math/big"
)

// The methods of textbooks, in float64. Products are rounded before they are added, float64(x*y),
// so that results are the same on all machines.

// powersOf returns 1, x, x², ...
func powersOf(x float64) []float64 {
	p := []float64{1}
	for range degree {
		p = append(p, p[len(p)-1]*x)
	}
	return p
}

// normalEquations solves AᵀA c = Aᵀy by elimination with partial pivoting.
func normalEquations(a [][]float64, y []float64) []*big.Float {
	n := len(a[0])
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n+1)
		for k := range a {
			for j := range n {
				rows[i][j] += float64(a[k][i] * a[k][j])
			}
			rows[i][n] += float64(a[k][i] * y[k])
		}
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
			for k := j; k <= n; k++ {
				rows[i][k] -= float64(factor * rows[j][k])
			}
		}
	}
	return backward(rows)
}

// qr solves A c ≈ y by Householder's reflections.
func qr(a [][]float64, y []float64) []*big.Float {
	n := len(a[0])
	rows := make([][]float64, len(a)) // A and y
	for i := range a {
		rows[i] = append(append([]float64{}, a[i]...), y[i])
	}
	for j := range n {
		square := 0.0
		for i := j; i < len(rows); i++ {
			square += float64(rows[i][j] * rows[i][j])
		}
		alpha := -math.Copysign(math.Sqrt(square), rows[j][j])
		v := make([]float64, len(rows)) // I - 2 v vᵀ / vᵀv takes the column to alpha e_j
		for i := j; i < len(rows); i++ {
			v[i] = rows[i][j]
		}
		v[j] -= alpha
		half := square - float64(alpha*rows[j][j])
		for k := j; k <= n; k++ {
			dot := 0.0
			for i := j; i < len(rows); i++ {
				dot += float64(v[i] * rows[i][k])
			}
			for i := j; i < len(rows); i++ {
				rows[i][k] -= float64(v[i] * (dot / half))
			}
		}
	}
	return backward(rows[:n])
}

// backward solves a triangular system, whose right-hand side is the last column.
func backward(rows [][]float64) []*big.Float {
	n := len(rows)
	x := make([]float64, n)
	z := make([]*big.Float, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = rows[i][n]
		for j := i + 1; j < n; j++ {
			x[i] -= float64(rows[i][j] * x[j])
		}
		x[i] /= rows[i][i]
		z[i] = big.NewFloat(x[i])
	}
	return z
}

// scaled fits a polynomial of t = (x - middle)/half, which lies in [-1, 1], by qr, and takes it
// back to one of x, by Horner's rule for polynomials.
func scaled(x, y []float64) []*big.Float {
	low, high := x[0], x[0]
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	middle, half := float64((low+high)/2), float64((high-low)/2)
	a := make([][]float64, len(x))
	for i := range x {
		a[i] = powersOf((x[i] - middle) / half)
	}
	of := qr(a, y)
	c := make([]float64, degree+1)
	for k := degree; k >= 0; k-- { // c := c (x - middle)/half + of[k]
		for i := degree; i >= 0; i-- {
			c[i] = -float64(middle*c[i]) / half
			if i > 0 {
				c[i] += c[i-1] / half
			}
		}
		constant, _ := of[k].Float64()
		c[0] += constant
	}
	z := make([]*big.Float, degree+1)
	for i := range z {
		z[i] = big.NewFloat(c[i])
	}
	return z
}
