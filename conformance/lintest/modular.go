package lintest

import (
	"math/big"

	"github.com/halfulp/halfulp"
)

// prime is 2^127 - 1. Package linsolve does not use it.
var prime = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 127), big.NewInt(1))

// modulo returns x modulo prime; the denominator of x must not be a multiple of prime.
func modulo(x *big.Rat) *big.Int {
	z := new(big.Int).ModInverse(x.Denom(), prime)
	return z.Mod(z.Mul(z, x.Num()), prime)
}

// Residue returns x modulo the prime 2^127 - 1, for a finite x.
func Residue(x *big.Float) *big.Int {
	r, _ := x.Rat(nil)
	return modulo(r)
}

// DetModulo returns the determinant and the rank of a finite matrix modulo 2^127 - 1.
func DetModulo(a *halfulp.Matrix) (det *big.Int, rank int) {
	m, n := a.Dims()
	z := make([][]*big.Int, m)
	for i := range z {
		z[i] = make([]*big.Int, n)
		for j := range n {
			z[i][j] = Residue(a.Big(i, j))
		}
	}
	det = big.NewInt(1)
	t := new(big.Int)
	for j := 0; j < n && rank < m; j++ {
		i := rank
		for i < m && z[i][j].Sign() == 0 {
			i++
		}
		if i == m {
			continue
		}
		if i != rank {
			z[i], z[rank] = z[rank], z[i]
			det.Neg(det)
		}
		pivot := z[rank]
		det.Mod(det.Mul(det, pivot[j]), prime)
		inverse := new(big.Int).ModInverse(pivot[j], prime)
		for _, row := range z[rank+1:] {
			if row[j].Sign() == 0 {
				continue
			}
			factor := new(big.Int).Mul(row[j], inverse)
			factor.Mod(factor, prime)
			for c := j; c < n; c++ {
				row[c].Mod(row[c].Sub(row[c], t.Mul(factor, pivot[c])), prime)
			}
		}
		rank++
	}
	if rank < m || m != n {
		det.SetInt64(0)
	}
	return det, rank
}
