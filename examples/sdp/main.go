// SDP solves for a step of an interior-point method in several precisions. The normal matrix is
// built as in semidefinite programs of the conformal bootstrap.
package main

import (
	"fmt"
	"log"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/linsolve"
)

const (
	order  = 24 // unknowns: coefficients of polynomials
	points = 60 // where polynomials are sampled
	period = 7  // of points at which the constraint holds with equality
)

func main() {
	formats := []halfulp.Format{halfulp.Float64, halfulp.DD, halfulp.QD, halfulp.MP(424), halfulp.MP(848)}
	fmt.Print("duality gap  condition    scaled")
	for _, f := range formats {
		fmt.Printf("  %9v", f)
	}
	fmt.Println()
	for _, gap := range []int{0, 40, 80, 160} {
		v, w, g := program(gap)
		one, zero := halfulp.Float(1), halfulp.Float(0)
		// W V, then S = Vᵀ W V in each format, every entry rounded once; 4000 bits hold all of S.
		wv := halfulp.NewMatrix(v.NumberFormat(), points, order)
		if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, one, w, v, zero, nil, wv, nil); err != nil {
			log.Fatal(err)
		}
		normal := func(f halfulp.Format) *halfulp.Matrix {
			s := halfulp.NewMatrix(f, order, order)
			if err := halfulp.GemmTo(halfulp.Trans, halfulp.NoTrans, one, v, wv, zero, nil, s, nil); err != nil {
				log.Fatal(err)
			}
			return s
		}
		s := normal(halfulp.MP(4000))
		exact, err := linsolve.Solve(s, g, halfulp.MP(424), nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("2^-%-8d  %9.1e  %8.1e", gap, condition(s), condition(scaled(s)))
		for _, f := range formats {
			x, err := linsolve.Solve(normal(f), g, halfulp.MP(424), nil)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("  %9.1e", difference(x, exact))
		}
		fmt.Println()
	}
}

// condition returns the condition number in the maximum norm.
func condition(s *halfulp.Matrix) float64 {
	k, err := linsolve.Cond(halfulp.InfNorm, s, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	return k.Float64()
}

// scaled returns S with its rows and columns multiplied by powers of two that make the diagonal
// about 1, which is without errors.
func scaled(s *halfulp.Matrix) *halfulp.Matrix {
	z := s.Clone()
	for i := range order {
		for j := range order {
			x := s.Big(i, j)
			z.SetBig(i, j, x.SetMantExp(x, -s.Big(i, i).MantExp(nil)/2-s.Big(j, j).MantExp(nil)/2))
		}
	}
	return z
}

// program returns the samples v_ki = x_k^i of monomials, the diagonal matrix W of ratios of dual
// and primal slacks at the points x_k, and a right-hand side. As the duality gap closes, ratios of
// active constraints grow like its inverse, and ratios of all other constraints vanish like the
// gap.
func program(gap int) (v, w, g *halfulp.Matrix) {
	nodes := halfulp.NewVector(halfulp.Float64, points)
	w = halfulp.NewMatrix(halfulp.Float64, points, points)
	for k := range points {
		nodes.SetFloat64(k, float64(k*k)/64)
		exponent := -gap
		if k%period == 3 {
			exponent = gap
		}
		w.SetBig(k, k, new(big.Float).SetMantExp(big.NewFloat(float64(1+k%5)), exponent-k))
	}
	g = halfulp.NewMatrix(halfulp.Float64, order, 1)
	for i := range order {
		g.SetFloat64(i, 0, float64(1+i%3))
	}
	return gallery.Vandermonde(halfulp.MP(424), nodes, order), w, g
}

// difference returns the largest difference relative to the entries of exact.
func difference(x, exact *halfulp.Matrix) *big.Float {
	worst := new(big.Float)
	for i := range x.Rows() {
		want := exact.Big(i, 0)
		d := new(big.Float).Sub(x.Big(i, 0), want)
		if d.Quo(d, want).Abs(d).Cmp(worst) > 0 {
			worst = d
		}
	}
	return worst
}
