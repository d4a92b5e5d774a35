package digits_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// digitsOf returns an inverse in digits with so many bits, nil if there is none.
func digitsOf(t *testing.T, s *call.Run, a *halfulp.Matrix, f *seed.Factors, bits int) *digits.Elimination {
	t.Helper()
	d, ok := digits.CountFor(s, f.N, bits, digits.MostDigits)
	if !ok {
		return nil
	}
	z, more, err := digits.Eliminate(s, a.View(), f, d, 53)
	switch {
	case errors.Is(err, seed.ErrNoise) || errors.Is(err, seed.ErrProof) || errors.Is(err, call.ErrRange):
		if errors.Is(err, seed.ErrProof) && more <= 0 {
			t.Fatalf("%d more bits than %d", more, bits)
		}
		return nil
	case err != nil:
		t.Fatal(err)
	}
	return z
}

// TestDigits compares bounds of |F^-1| and of |F^-1 r|, and the error of x ≈ F^-1 r, with exact
// values, for orders below and above the number of lanes.
func TestDigits(t *testing.T) {
	if lanes.Bits() == 0 {
		t.Skip("no lanes")
	}
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	good, none, near, narrow, several := 0, 0, 0, 0, 0
	enough := func() bool { return good > 0 && none > 0 && near > 0 && narrow > 0 && several > 0 }
	for trial := range testlength.Until(testlength.Of(30, 60, 10000), enough) {
		n := 1 + r.IntN(6)
		a := lintest.Hard(r, n)
		if trial%8 == 0 { // more than one panel
			n = 9 + r.IntN(9)
			a = lintest.Ill(r, halfulp.MP(53), n, 30)
		}
		bits := 100 + r.IntN(700)
		if trial%10 == 1 { // too few
			a, bits = lintest.NearSingular(r, 400, n+1), 100
			n++
		}
		if bound.Far(a.View(), 1<<20) {
			continue
		}
		name := fmt.Sprintf("seed %d, trial %d, n = %d, %d bits", draw, trial, n, bits)
		s := prooftest.Run(t, 1+trial%2)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		z := digitsOf(t, s, a, lu, bits)
		if z == nil {
			none++
			continue
		}
		inverse := lintest.Of(a).Scaled(lu.Scaling.Rows, lu.Scaling.Cols).Solve(lintest.Identity(n))
		if inverse == nil {
			t.Fatalf("%s: a singular matrix is proved to be regular", name)
		}
		good++
		for i := range n {
			sum := new(big.Rat)
			for j := range n {
				sum.Add(sum, new(big.Rat).Abs(inverse[i][j]))
			}
			h := numtest.Exact(z.H[i])
			if sum.Cmp(h) > 0 {
				t.Fatalf("%s: row %d of |F^-1| has the sum %s, bound %g", name, i, sum.FloatString(20), z.H[i])
			}
			if h.Quo(h, sum).Cmp(numtest.Exact(0x1p20)) < 0 {
				near++
			}
		}
		// Residuals r = F x, where F^-1 r cancels to x, and random ones.
		v := &seed.Residual{Lead: make([]float64, n), Unit: -1024}
		for i := range n {
			v.Lead[i] = 2*r.Float64() - 1
		}
		if _, err := z.Correct(v); err != nil {
			t.Fatal(err)
		}
		f := lintest.Of(a).Scaled(lu.Scaling.Rows, lu.Scaling.Cols)
		for step := range 3 {
			v.X = make([][]uint64, n)
			x := make([]*big.Rat, n)
			for i := range n {
				x[i] = numtest.Exact(2*r.Float64() - 1)
			}
			for i := range n {
				sum := new(big.Rat)
				if step == 0 {
					sum.Set(x[i])
				} else {
					for j := range n {
						sum.Add(sum, new(big.Rat).Mul(f[i][j], x[j]))
					}
				}
				v.X[i] = twosOf(sum, 1024, 18)
			}
			v.Look(1)
			c, err := z.Correct(v)
			if err != nil {
				t.Fatal(err)
			}
			if len(c) > 1 {
				several++
			}
			checkSubstitution(t, name, z, v, inverse, r.IntN(max(z.Top, 0)+30))
			radius := z.Radius(v, c[0])
			other := z.Radius(v, append([]float64(nil), c[0]...)) // the bound for any x
			for i := range n {
				exact := new(big.Rat)
				for j := range n {
					exact.Add(exact, new(big.Rat).Mul(inverse[i][j], numtest.Scaled(numtest.Signed(v.X[j]), v.Unit-v.Exp)))
				}
				size := new(big.Rat).Abs(exact)
				if size.Cmp(numtest.Exact(radius[i])) > 0 {
					t.Fatalf("%s: |F^-1 r| is %s in row %d, bound %g", name, size.FloatString(20), i, radius[i])
				}
				sum := new(big.Rat)
				for _, c := range c {
					sum.Add(sum, numtest.Exact(c[i]))
				}
				off := exact.Sub(exact, sum)
				bound := radius[i] - math.Abs(c[0][i])
				if radius[i] < 0.99*other[i] { // the bound by x
					narrow++
					if off.Abs(off).Cmp(numtest.Exact(float64(bound*(1+0x1p-20))+0x1p-30*radius[i])) > 0 {
						t.Fatalf("%s: x is off by %s in row %d, bound %g", name, off.FloatString(20), i, bound)
					}
				}
			}
		}
	}
	if !enough() {
		t.Fatalf("%d inverses, %d none, %d bounds within 2^20, %d radii of x, %d corrections of several pieces", good, none, near, narrow, several)
	}
}

// checkSubstitution compares all bits of x with F^-1 r.
func checkSubstitution(t *testing.T, name string, z *digits.Elimination, v *seed.Residual, inverse [][]*big.Rat, scale int) {
	t.Helper()
	x, unit, ok := z.Substitute(v, scale)
	if !ok {
		return
	}
	most := math.Ldexp(1, fixed.TopOf(x)-unit)
	lost := z.Lost(most, z.SubstitutionError(scale))
	for i := range x {
		off := numtest.Scaled(numtest.Signed(x[i]), -unit)
		for j := range x {
			off.Sub(off, new(big.Rat).Mul(inverse[i][j], numtest.Scaled(numtest.Signed(v.X[j]), v.Unit-v.Exp)))
		}
		if bound := float64(z.H[i] * lost); off.Abs(off).Cmp(numtest.Exact(bound)) > 0 {
			t.Fatalf("%s, scale %d: x is off by %s in row %d, bound %g", name, scale, off.FloatString(60), i, bound)
		}
	}
}

// twosOf returns 2^bits x, truncated, in two's complement.
func twosOf(x *big.Rat, bits, words int) []uint64 {
	z := new(big.Int).Lsh(x.Num(), uint(bits))
	z.Div(z, x.Denom())
	w := make([]uint64, words)
	mask := new(big.Int).SetUint64(math.MaxUint64)
	for k := range w {
		w[k] = new(big.Int).And(z, mask).Uint64()
		z.Rsh(z, 64)
	}
	return w
}
