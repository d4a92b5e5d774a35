package expansion

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// macs are the steps of sums of products over slices of words.
var macs = []struct {
	w         int
	perStep   float64 // error, in units of u^w Σ |a b|: the largest of the tests, or twice that
	mac       func(s, a, b []float64) []float64
	normalise func(s []float64) []float64
}{
	{
		2, 16,
		func(s, a, b []float64) []float64 { z := macDD(DD(s), DD(a), DD(b)); return z[:] },
		func(s []float64) []float64 { z := sumDD(DD(s)); return z[:] },
	},
	{
		3, 16,
		func(s, a, b []float64) []float64 { z := macTD(TD(s), TD(a), TD(b)); return z[:] },
		func(s []float64) []float64 { z := sumTD(TD(s)); return z[:] },
	},
	{
		4, 16,
		func(s, a, b []float64) []float64 { z := macQD(QD(s), QD(a), QD(b)); return z[:] },
		func(s []float64) []float64 { z := sumQD(QD(s)); return z[:] },
	},
}

// TestMac compares sums of up to 300 products with the exact ones: random ones, ones that cancel
// again and again, and ones of a few terms whose exponents are far apart.
func TestMac(t *testing.T) {
	for _, f := range macs {
		seed := testseed.Of(t)
		r := rand.New(rand.NewPCG(seed, 1))
		largest := 0.0
		for range testlength.Trials(2000) {
			k := 1 + r.IntN(30)
			if r.IntN(20) == 0 {
				k *= 10
			}
			spread := []int{0, 3, 40, 150}[r.IntN(4)]
			s, last := make([]float64, f.w), make([][]float64, 2)
			sum, size := new(big.Float).SetPrec(4*prec), new(big.Float).SetPrec(4*prec)
			for h := range k {
				a, b := operand(r, f.w, -spread, spread), operand(r, f.w, -spread, spread)
				if h > 0 && r.IntN(3) == 0 { // the last product again, with another sign, about
					a, b = near(r, last[0]), last[1]
				}
				last[0], last[1] = a, b
				p := new(big.Float).SetPrec(4*prec).Mul(exact(a), exact(b))
				sum.Add(sum, p)
				size.Add(size, p.Abs(p))
				s = f.mac(s, a, b)
			}
			z := f.normalise(slices.Clone(s))
			e := relative(z, sum, size) / float64(k)
			largest = max(largest, e)
			if e > f.perStep || !normalised(z) {
				t.Fatalf("seed %d, %d words, %d products: %x: error %g u^%d a step, normalised %v", seed, f.w, k, z, e, f.w, normalised(z))
			}
		}
		t.Logf("%d words: largest error a step %.3f of %g", f.w, largest, f.perStep)
	}
}

// TestMacZero checks that sums that vanish are +0 in all words.
func TestMacZero(t *testing.T) {
	for _, f := range macs {
		x, y := make([]float64, f.w), make([]float64, f.w)
		x[0], y[0] = 3, math.Copysign(0, -1)
		minus := slices.Clone(x)
		minus[0] = -3
		for _, steps := range [][2][]float64{{x, minus}, {y, y}, {x, y}} {
			s := f.mac(make([]float64, f.w), steps[0], x)
			s = f.normalise(f.mac(s, steps[1], x))
			if steps[1][0] == 0 && steps[0][0] != 0 {
				s[0] -= 9
			}
			for _, v := range s {
				if math.Float64bits(v) != 0 {
					t.Errorf("%v: sum is %v", steps, s)
				}
			}
		}
	}
}
