// Laplace inverts a Laplace transform by solving a system with a Hilbert matrix, in several
// precisions.
package main

import (
	"fmt"
	"log"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/linsolve"
)

// precision of what is given: the transform, and exact values to compare with.
const precision = 2000

func main() {
	formats := []halfulp.Format{halfulp.Float64, halfulp.DD, halfulp.QD, halfulp.MP(424)}
	fmt.Print(" n")
	for _, f := range formats {
		fmt.Printf("  %9v", f)
	}
	fmt.Println()
	for _, n := range []int{4, 8, 12, 20, 30, 40, 60} {
		fmt.Printf("%2d", n)
		for _, f := range formats {
			worst, err := invert(n, f)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("  %9.1e", worst)
		}
		fmt.Println()
	}
}

// invert approximates f by n exponentials whose transform agrees with F at s = 1, ..., n, F and
// all else in one format, and returns the largest error of f(t) at t = k log 2, k < 10.
func invert(n int, format halfulp.Format) (*big.Float, error) {
	// Σ c_j e^(-j t) has the transform Σ c_j / (s + j).
	h, given := gallery.Hilbert(format, n), transform(n, format)
	c, err := linsolve.Solve(h, given, format, nil)
	if err != nil {
		return nil, err
	}
	worst := new(big.Float)
	for k := range 10 {
		powers := halfulp.NewVector(halfulp.Float64, n) // e^(-j t) = 2^(-k j)
		for j := range n {
			powers.SetBig(j, new(big.Float).SetMantExp(big.NewFloat(1), -k*j))
		}
		f, err := halfulp.Dot(c.Col(0), powers, halfulp.MP(precision), nil)
		if err != nil {
			return nil, err
		}
		x := new(big.Float).SetMantExp(big.NewFloat(1), -k)
		want := new(big.Float).SetPrec(precision).Quo(big.NewFloat(1), x.Add(x, big.NewFloat(1)))
		if d := want.Sub(want, f.Big()); d.Abs(d).Cmp(worst) > 0 {
			worst = d
		}
	}
	return worst, nil
}

// transform returns F(1), ..., F(n) for f(t) = 1 / (1 + e^-t), each rounded once. F(1) = log 2, and
// F(s) + F(s+1) = 1/s.
func transform(n int, format halfulp.Format) *halfulp.Matrix {
	v := new(big.Float).SetPrec(precision)
	for k := 1; k <= precision; k++ { // log 2 = Σ 1 / (k 2^k)
		t := new(big.Float).SetPrec(precision).Quo(big.NewFloat(1), big.NewFloat(float64(k)))
		v.Add(v, t.SetMantExp(t, -k))
	}
	m := halfulp.NewMatrix(format, n, 1)
	for s := range n {
		m.SetBig(s, 0, v)
		t := new(big.Float).SetPrec(precision).Quo(big.NewFloat(1), big.NewFloat(float64(s+1)))
		v.Sub(t, v)
	}
	return m
}
