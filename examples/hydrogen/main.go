// Command hydrogen computes energies of the hydrogen atom with Gaussian functions, whose overlap
// matrix is nearly singular.
package main

import (
	"fmt"
	"log"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"gonum.org/v1/gonum/mat"
)

const bits = 400

func number(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }

func times(x ...*big.Float) *big.Float {
	z := number(1)
	for _, y := range x {
		z.Mul(z, y)
	}
	return z
}

func root(x *big.Float) *big.Float { return number(0).Sqrt(x) }

// matrices returns the Hamiltonian H and the overlap matrix S of the functions exp(-α_k r²), k = 0,
// ..., n - 1, with α_k = 1.125^k / 64, scaled to norm 1 (Szabo and Ostlund, Modern Quantum
// Chemistry, 1996, appendix A).
func matrices(n int) (h, s *halfulp.Matrix) {
	pi, _, err := big.ParseFloat("3.141592653589793238462643383279502884197169399375105820974944592307816406286208998628034825342117067982148086513282306647", 10, bits, big.ToNearestEven)
	if err != nil {
		log.Fatal(err)
	}
	alpha := []*big.Float{number(1.0 / 64)}
	for len(alpha) < n {
		alpha = append(alpha, times(alpha[len(alpha)-1], number(1.125)))
	}
	h, s = halfulp.NewMatrix(halfulp.MP(bits), n, n), halfulp.NewMatrix(halfulp.MP(bits), n, n)
	for i, a := range alpha {
		for j, b := range alpha {
			sum := number(0).Add(a, b)
			q := number(0).Quo(times(number(2), root(times(a, b))), sum)
			overlap := times(q, root(q))
			kinetic := number(0).Quo(times(number(3), a, b, overlap), sum)
			nuclear := times(number(2), root(number(0).Quo(sum, pi)), overlap)
			s.SetBig(i, j, overlap)
			h.SetBig(i, j, kinetic.Sub(kinetic, nuclear))
		}
	}
	return h, s
}

func main() {
	fmt.Println(" n  condition of S  positive definite in float64  lowest energies")
	for _, n := range []int{5, 20, 40, 80} {
		h, s := matrices(n)
		cond, err := eigen.Cond2(s, halfulp.Float64, nil)
		if err != nil {
			log.Fatal(err)
		}
		opt := &eigen.SymOptions{ValuesOnly: true, Index: &[2]int{0, 1}}
		z, err := eigen.SymGeneral(h, s, halfulp.Float64, opt)
		if err != nil {
			log.Fatal(err)
		}
		var c mat.Cholesky
		definite := c.Factorize(symmetric(s))
		fmt.Printf("%2d  %14.1e  %28v  %v %v\n", n, cond.Float64(), definite, z.Values.At(0), z.Values.At(1))
	}
}

// symmetric returns a matrix in float64.
func symmetric(a *halfulp.Matrix) *mat.SymDense {
	z := mat.NewSymDense(a.Rows(), nil)
	for i := range a.Rows() {
		for j := range i + 1 {
			z.SetSym(i, j, a.Float64(i, j))
		}
	}
	return z
}
