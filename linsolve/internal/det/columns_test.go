package det

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// columnOf returns a strided column of n random numbers, some of them 0 unless they are factors.
func columnOf(r *rand.Rand, f num.Format, n int, factors bool) num.Mat {
	m := num.NewMat(f, n, 2)
	for i := range n {
		mag := make([]uint64, 1+r.IntN(4))
		for k := range mag {
			mag[k] = r.Uint64()
		}
		x := num.Real{Class: num.Finite, Neg: r.IntN(2) == 1, Mag: mag, Exp: int64(r.IntN(400) - 300)}
		if !factors && r.IntN(8) == 0 {
			x = num.Real{}
		}
		m.Arr.Set(m.At(i, 1), x)
	}
	m.Cols, m.Off = 1, m.At(0, 1)
	return m
}

func TestColumns(t *testing.T) {
	r := testseed.Rand(t, 7, 7)
	for _, f := range []num.Format{num.Precision(53), num.Precision(64), num.Precision(65), num.Precision(300)} {
		for _, n := range []int{1, 2, 50} {
			for _, prec := range []uint{63, 64, 130, 700} {
				a, b := columnOf(r, f, n, false), columnOf(r, f, n, true)
				exact := func() *big.Float { return new(big.Float).SetPrec(20000) }
				sum, product := exact(), exact().SetInt64(1)
				for i := range n {
					sum.Add(sum, a.Big(i, 0))
					product.Mul(product, b.Big(i, 0))
				}
				near := func(name string, got, want *big.Float, units int64) {
					e := exact().Sub(got, want)
					e.Abs(e.Mul(e, exact().SetMantExp(big.NewFloat(1), int(prec))))
					if e.Cmp(exact().Mul(exact().Abs(want), exact().SetInt64(units))) > 0 {
						t.Errorf("%v, %d numbers, %d bits: %s %v, want %v", f, n, prec, name, got, want)
					}
					if got.Prec() != prec {
						t.Errorf("%s of %d bits, want %d", name, got.Prec(), prec)
					}
				}
				near("sum", columnSum(a, prec), sum, 2)
				near("product", columnProduct(b, prec), product, int64(n)+1)
				b.Arr.Set(b.At(n/2, 0), num.Real{})
				if got := columnProduct(b, prec); got.Sign() != 0 {
					t.Errorf("product with 0: %v", got)
				}
			}
		}
	}
}
