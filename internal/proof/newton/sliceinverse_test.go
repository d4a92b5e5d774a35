package newton_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSlicedInverse compares inverses in float64 and their error bounds with exact inverses, at
// every level: for condition numbers up to the limit and beyond, graded matrices, and inverses of
// integers.
func TestSlicedInverse(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	found := map[string]int{}
	enough := func() bool {
		return found["none"] > 0 && found["entries known to 58 bits"] >= found["entries"]*2/3
	}
	for trial := range testlength.Until(testlength.Of(40, 80, 2000), enough) {
		n := 2 + r.IntN(14)
		a := lintest.Ill(r, halfulp.MP(53), n, r.IntN(48))
		switch trial % 4 {
		case 1:
			lintest.Spread(r, a, 500)
		case 2: // entries of all sizes
			a = gallery.Random(halfulp.Float64, n, n, r.IntN(100), r.Uint64())
		case 3:
			a = lintest.Integers(r, n, n, 1+r.IntN(3))
		}
		restore := isa.Force(isa.Levels()[trial%len(isa.Levels())])
		s := prooftest.Run(t, 1+trial%2)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		bytes := func() {}
		if trial%5 == 0 { // E rounded from products of bytes
			bytes = modgemm.ForceBytes()
		}
		z, err := newton.InvertSlices(s, a.View(), lu)
		bytes()
		restore()
		if err != nil {
			t.Fatal(err)
		}
		if z == nil {
			found["none"]++
			continue
		}
		name := fmt.Sprintf("seed %d, trial %d, n = %d", draw, trial, n)
		f := lintest.Of(a).Scaled(lu.Scaling.Rows, lu.Scaling.Cols)
		inverse := make([][]*big.Rat, n)
		for i := range inverse {
			inverse[i] = make([]*big.Rat, n)
			for j := range n {
				inverse[i][z.Perm[j]] = numtest.Exact(-z.Z[i+j*n])
			}
		}
		prooftest.CheckInverse(t, name, f.Times(inverse, n), inverse, z.Rho, z.Norm)
		want := f.Solve(lintest.Identity(n))
		for i := range n {
			for j, k := range z.Perm {
				x := numtest.Exact(z.Z[i+j*n])
				x.Add(x.Add(x, numtest.Exact(z.V[i+j*n])), want[i][k])
				bound := numtest.Exact(z.Sums[i])
				bound.Mul(bound, numtest.Exact(z.Off[j]))
				if x.Abs(x).Cmp(bound) > 0 {
					t.Fatalf("%s: entry %d, %d is off by %s, bound %s", name, i, k, x.FloatString(60), bound.FloatString(60))
				}
				found["entries"]++
				if bound.Mul(bound, numtest.Exact(0x1p58)).Cmp(x.Abs(want[i][k])) < 0 {
					found["entries known to 58 bits"]++
				}
			}
		}
	}
	if !enough() {
		t.Errorf("%v", found)
	}
}

// TestStoreFloat stores float64 numbers that stand for others near them. StoreFloat has to refuse
// midpoints between two numbers of a format, and numbers near the ends of the exponents.
func TestStoreFloat(t *testing.T) {
	for _, c := range []struct {
		f     num.Format
		x     float64
		shift int64
		ok    bool
	}{
		{num.Float64, 1 + 0x1p-52, 0, true}, {num.Float64, 0, 0, false}, {num.Float64, 1, 500, false}, {num.Float64, 0x1p-500, 0, false}, {num.Float64, math.Inf(1), 0, false},
		{num.Float32, 1 + 0x1p-24, 0, false}, {num.Float32, 1 + 0x1p-24 + 0x1p-52, 0, true}, {num.Float32, 1 + 0x1p-24 - 0x1p-52, 0, true}, {num.Float32, 1 + 0x1p-23, 0, true},
		{num.Float32, 1, -126, false}, {num.Float32, 1, -125, true}, {num.Float32, 1, 127, false}, {num.Float32, 1.5, 126, true},
		{call.MP(52), 1 + 0x1p-52, 0, false}, {call.MP(52), 1 + 0x1p-51, 5, true}, {call.MP(53), 1 + 0x1p-52, -1 << 20, true},
	} {
		for _, sign := range []float64{1, -1} {
			a := num.New(c.f, 1)
			x := float64(sign * c.x)
			if ok := newton.StoreFloat(a, 0, x, c.shift); ok != c.ok {
				t.Errorf("%v: %v 2^%d: %v", c.f, x, c.shift, ok)
			} else if ok {
				var buf [num.MaxValueWords]uint64
				want := num.New(c.f, 1)
				m, e := num.Decompose(x)
				want.Set(0, num.Real{Class: num.Finite, Neg: x < 0, Mag: []uint64{m}, Exp: e + c.shift})
				if !a.SameBits(0, want, 0) {
					t.Errorf("%v: %v 2^%d stored as %+v", c.f, x, c.shift, a.Value(0, buf[:]))
				}
			}
		}
	}
}
