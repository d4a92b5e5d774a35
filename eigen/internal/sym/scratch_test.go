package sym

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestScratch reads and writes random numbers of MP, and compares with Mat.Big and Mat.SetBig.
func TestScratch(t *testing.T) {
	rng := testseed.Rand(t, 7, 3)
	var b scratch
	var z big.Float
	for range 2000 {
		p, q := uint(24+rng.IntN(300)), uint(24+rng.IntN(300))
		from, to, want := num.NewMat(num.Precision(p), 1, 1), num.NewMat(num.Precision(q), 1, 1), num.NewMat(num.Precision(q), 1, 1)
		x := new(big.Float).SetPrec(400)
		for range rng.IntN(6) { // 0 at times
			x.SetMantExp(x, 60).Add(x, new(big.Float).SetInt64(rng.Int64N(1<<60)))
		}
		x.SetMantExp(x, rng.IntN(4000)-2000)
		if rng.IntN(2) == 0 {
			x.Neg(x)
		}
		from.SetBig(0, 0, x)
		if b.read(&z, from, 0, 0).Cmp(from.Big(0, 0)) != 0 {
			t.Fatalf("read %v, want %v", &z, from.Big(0, 0))
		}
		want.SetBig(0, 0, &z)
		tie := z.MinPrec() == q+1 // rounded away from zero, and by SetBig to even
		b.write(to, 0, 0, &z)
		if got := to.Big(0, 0); !tie && got.Cmp(want.Big(0, 0)) != 0 {
			t.Fatalf("wrote %v, want %v", got, want.Big(0, 0))
		}
	}
}

// TestDiffer checks lower bounds of differences: they are not too large, and hardly too small.
func TestDiffer(t *testing.T) {
	rng := testseed.Rand(t, 8, 4)
	for range 20000 {
		x := new(big.Float).SetPrec(300).SetInt64(rng.Int64N(1<<62) + 1)
		x.SetMantExp(x, rng.IntN(100)-50)
		y := new(big.Float).SetPrec(300).SetInt64(rng.Int64N(1<<62) + 1)
		y.SetMantExp(y, rng.IntN(100)-50)
		if rng.IntN(3) > 0 { // close to each other
			y.Add(x, y.SetMantExp(y, x.MantExp(nil)-y.MantExp(nil)-rng.IntN(120)))
		}
		for _, v := range []*big.Float{x, y} {
			if rng.IntN(3) == 0 {
				v.Neg(v)
			}
		}
		exact := new(big.Float).SetPrec(600).Sub(x, y)
		exact.Abs(exact)
		got := differ(x, y, pairOfBig(x), pairOfBig(y), sizeOfBig(x), sizeOfBig(y))
		part := 1 - 0x1p-36
		if x.Sign() != y.Sign() { // the larger number is the bound
			part /= 2
		}
		low := new(big.Float).SetPrec(600).Mul(exact, big.NewFloat(part))
		if z := got.big(); !got.zero() && z.Cmp(exact) > 0 || z.Cmp(low) < 0 {
			t.Fatalf("|%v - %v| is %v, bounded by %v", x, y, exact, got)
		}
	}
}
