package lintest

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// Elimination as in textbooks, in rational numbers.

// clone returns a copy whose entries may be replaced.
func (a Matrix) clone() Matrix {
	z := make(Matrix, len(a))
	for i := range a {
		z[i] = append([]*big.Rat(nil), a[i]...)
	}
	return z
}

// subtract replaces row x by x - factor y, from column j on.
func subtract(x, y []*big.Rat, factor *big.Rat, j int) {
	if factor.Sign() == 0 {
		return
	}
	t := new(big.Rat)
	for c := j; c < len(x); c++ {
		if y[c].Sign() != 0 {
			x[c] = new(big.Rat).Sub(x[c], t.Mul(factor, y[c]))
		}
	}
}

// plainReduce is Reduce without common denominators.
func (a Matrix) plainReduce(cols int) (z Matrix, pivots []int, det *big.Rat) {
	z, det = a.clone(), big.NewRat(1, 1)
	for j := 0; j < cols && len(pivots) < len(z); j++ {
		k := len(pivots)
		i := k
		for i < len(z) && z[i][j].Sign() == 0 {
			i++
		}
		if i == len(z) {
			continue
		}
		if i != k {
			z[i], z[k] = z[k], z[i]
			det.Neg(det)
		}
		pivots = append(pivots, j)
		det.Mul(det, z[k][j])
		inverse := new(big.Rat).Inv(z[k][j])
		for c := j; c < len(z[k]); c++ {
			z[k][c] = new(big.Rat).Mul(z[k][c], inverse)
		}
		for i := range z {
			if i != k {
				subtract(z[i], z[k], z[i][j], j)
			}
		}
	}
	return z, pivots, det
}

// plainLU is LU without common denominators.
func (a Matrix) plainLU(k int) (Matrix, bool) {
	z := a.clone()
	for b := range k {
		if z[b][b].Sign() == 0 {
			return z, false
		}
		for i := b + 1; i < len(z); i++ {
			l := new(big.Rat).Quo(z[i][b], z[b][b])
			subtract(z[i], z[b], l, b+1)
			z[i][b] = l
		}
	}
	return z, true
}

// TestElimination compares elimination in integers with elimination in rational numbers: for
// fractions, numbers of 2^±1000, graded rows and columns, zeros, and matrices of all ranks and
// shapes.
func TestElimination(t *testing.T) {
	seed := testseed.Of(t)
	for trial := range 2000 {
		r := rand.New(rand.NewPCG(seed, uint64(trial)))
		m, n := r.IntN(6), 1+r.IntN(7)
		spread, graded, most := []int{0, 1, 60, 1000}[r.IntN(4)], []int{0, 300}[r.IntN(2)], []int64{1, 3, 1000, 1 << 50}[r.IntN(4)]
		rows, cols := make([]int, m), make([]int, n)
		for i := range rows {
			rows[i] = r.IntN(graded + 1)
		}
		for j := range cols {
			cols[j] = r.IntN(graded + 1)
		}
		a := New(m, n)
		for i := range a {
			for j := range a[i] {
				x := big.NewRat(r.Int64N(2*most+1)-most, 1)
				x.Mul(x, power(r.IntN(2*spread+1)-spread+rows[i]-cols[j]))
				if trial%3 == 0 {
					x.Quo(x, big.NewRat(1+r.Int64N(30), 1))
				}
				a[i][j] = x
			}
			if i > 1 && r.IntN(4) == 0 { // a combination of others
				for j := range a[i] {
					a[i][j] = new(big.Rat).Sub(a[0][j], new(big.Rat).Mul(a[1][j], big.NewRat(5, 3)))
				}
			}
		}
		same := func(what string, x, y Matrix) {
			for i := range y {
				for j := range y[i] {
					if x[i][j].Cmp(y[i][j]) != 0 {
						t.Fatalf("seed %d, trial %d, %s: entry (%d, %d) is %v, want %v", seed, trial, what, i, j, x[i][j], y[i][j])
					}
				}
			}
		}
		first := a.clone()
		c := r.IntN(n + 1)
		z, pivots, det := a.Reduce(c)
		want, wantPivots, wantDet := a.plainReduce(c)
		if !slices.Equal(pivots, wantPivots) || det.Cmp(wantDet) != 0 {
			t.Fatalf("seed %d, trial %d: pivots %v, product %v, want %v, %v", seed, trial, pivots, det, wantPivots, wantDet)
		}
		same(fmt.Sprintf("echelon form of %d columns", c), z[:len(pivots)], want[:len(pivots)])
		k := r.IntN(min(m, n) + 1)
		lu, ok := a.LU(k)
		wantLU, wantOK := a.plainLU(k)
		if ok != wantOK {
			t.Fatalf("seed %d, trial %d: regular %t, want %t", seed, trial, ok, wantOK)
		}
		same(fmt.Sprintf("L and U of %d columns", k), lu, wantLU)
		same("A", a, first)
	}
}
