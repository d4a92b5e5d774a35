package residue

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testseed"
)

// evenMat returns a matrix of the magnitudes (2h+1)/(2n), h < n = rows cols, with random low bits
// and signs. The magnitudes in every row are evenly spread over (0, 1).
func evenMat(rng *rand.Rand, f num.Format, rows, cols int) num.Mat {
	m := num.Mat{Arr: num.New(f, rows*cols), RS: 1, CS: rows, Rows: rows, Cols: cols}
	bound := new(big.Int).Lsh(big.NewInt(1), uint(f.Prec-min(f.Prec, 53)))
	for i := range rows {
		shift := rng.IntN(rows)
		for h, j := range rng.Perm(cols) {
			x := float64(2*(j*rows+(i+j+shift*j)%rows)+1) / float64(2*rows*cols)
			mag, e := num.Decompose(x)
			z := new(big.Int).SetUint64(mag | 1) // 53 bits
			z.Mul(z, bound).Add(z, randomBelow(rng, bound))
			z.SetBit(z, 0, 1)
			m.Arr.Set(m.At(i, h), num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: num.FromInt(nil, z), Exp: e - int64(bound.BitLen()-1)})
		}
	}
	return m
}

// randomBelow returns a random number below 2^n, given as that.
func randomBelow(rng *rand.Rand, bound *big.Int) *big.Int {
	z := new(big.Int)
	for z.BitLen() < bound.BitLen() {
		z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(rng.Uint64()))
	}
	return z.Mod(z, bound)
}

// TestEstimatedPlan compares the plan that an estimate rests on with the one that runs: the same
// widths and number of moduli for numbers as they are assumed.
func TestEstimatedPlan(t *testing.T) {
	rng := testseed.Rand(t, 1, 2)
	for _, prec := range []uint32{0, 53, 106, 212, 424, 848, 1696} {
		f := num.Format{Kind: num.MP, Prec: prec}
		if prec == 0 {
			f = num.Float64
		}
		for _, s := range [][3]int{{50, 100, 50}, {60, 200, 40}, {20, 500, 20}} {
			m, k, n := s[0], s[1], s[2]
			a, b := evenMat(rng, f, m, k), evenMat(rng, f, n, k).T()
			c := num.Mat{Arr: num.New(f, m*n), RS: n, CS: 1, Rows: m, Cols: n}
			q, err := Plan(Config{Run: par.Run{Ctx: context.Background(), Threads: 1, Memory: 1 << 30}}, one, a, b, num.Real{}, c, c, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, want, _ := estimate(m, n, k, f, f, f, [2]bool{})
			got := q.p.plan.Plan
			if got.Moduli != want.Moduli || got.WidthL != want.WidthL || got.WidthR != want.WidthR {
				t.Errorf("%v %v: estimated %+v, executed %+v", f, s, want, got)
			}
		}
	}
}
