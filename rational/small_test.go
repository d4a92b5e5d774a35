package rational_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// edge returns an integer at the ends of the words of a machine, or a small one.
func edge(r *rand.Rand) *big.Int {
	z := new(big.Int)
	switch r.IntN(8) {
	case 0:
		return z
	case 1, 2: // ±2^k and its neighbours: 2^63, 2^64 - 1, -2^63
		z.Lsh(big.NewInt(1), []uint{31, 32, 62, 63, 64, 65, 127, 128}[r.IntN(8)])
		z.Add(z, big.NewInt(r.Int64N(3)-1))
	case 3:
		z.Lsh(big.NewInt(1+r.Int64N(9)), uint(r.IntN(130)))
	case 4:
		z.SetUint64(r.Uint64())
	default:
		z.SetInt64(r.Int64N(19))
	}
	if r.IntN(2) == 0 {
		z.Neg(z)
	}
	return z
}

// TestSmall compares all routines with the oracle for many small matrices of all shapes and ranks,
// with entries at the ends of words, zero rows and columns, and repeated ones.
func TestSmall(t *testing.T) {
	r := testseed.Rand(t, 36, 43)
	for range testlength.Of(30, 300, 100000) {
		m, n := r.IntN(5), r.IntN(5)
		if r.IntN(2) == 0 {
			n = m
		}
		a := zeros(m, n)
		small := r.IntN(2) == 0
		for i := range a {
			for j := range a[i] {
				if small {
					a[i][j].SetInt64(r.Int64N(2048) - 1024)
				} else {
					a[i][j].SetInt(edge(r))
				}
				if r.IntN(30) == 0 {
					a[i][j].Quo(a[i][j], big.NewRat(1+r.Int64N(12), 1))
				}
			}
		}
		if m > 0 && n > 0 {
			switch i, j := r.IntN(m), r.IntN(n); r.IntN(6) {
			case 0:
				for k := range a {
					a[k][j].SetInt64(0)
				}
			case 1:
				for k := range a[i] {
					a[i][k].SetInt64(0)
				}
			case 2: // a multiple of another row
				by := r.IntN(m)
				for k := range a[i] {
					a[i][k].Mul(a[by][k], big.NewRat(-3, 7))
				}
			case 3: // a combination of columns
				for k := range a {
					a[k][j].Add(a[k][0], a[k][n-1])
				}
			}
		}
		checkMatrix(t, r, a, "small", m, n)
	}
}
