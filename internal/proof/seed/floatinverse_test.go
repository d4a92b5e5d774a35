package seed_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestFloatInverse compares rho and the bound of ‖R‖ with I - F R and R, computed exactly, at every
// level: for matrices whose condition numbers lie around the limit, of two rows or of all, with
// rows and columns scaled by powers of two up to 2^±500, and for singular ones.
func TestFloatInverse(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	found := map[string]int{}
	enough := func() bool {
		return found["bad"] > 0 && found["by triangles"] > 0 && found["by its residual alone"] > 0
	}
	for trial := range testlength.Until(testlength.Of(160, 160, 3000), enough) {
		n := 2 + r.IntN(18)
		f := halfulp.MP(uint([]int{53, 54, 106, 300}[r.IntN(4)]))
		a := lintest.Ill(r, f, n, r.IntN(60))
		how := trial % 5
		switch how {
		case 1:
			lintest.Spread(r, a, 500)
		case 2: // the last row is about the sum of the others
			for j := range n {
				sum := new(big.Float).SetPrec(2000)
				for i := range n - 1 {
					sum.Add(sum, a.Big(i, j))
				}
				d := a.Big(n-1, j)
				a.SetBig(n-1, j, sum.Add(sum, d.SetMantExp(d, -30-r.IntN(25))))
			}
		case 3:
			a = lintest.Integers(r, n, n, 1+r.IntN(3)) // singular now and then
			if r.IntN(2) == 0 {
				for j := range n {
					a.Set(n-1, j, a.At(0, j))
				}
			}
		case 4:
			a = gallery.Random(halfulp.QD, n, n, 0, r.Uint64())
		}
		level := isa.Portable
		if trial%2 == 0 {
			level = isa.Best()
		}
		restore := isa.Force(level)
		s := prooftest.Run(t, 1+trial%2)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		v, err := seed.InvertTriangles(s, lu)
		if err != nil {
			t.Fatal(err)
		}
		if v == nil {
			restore()
			continue
		}
		first := v.Rho
		z, err := seed.NewFloatInverse(s, a.View(), v)
		restore()
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case !(z.Rho <= seed.MostRho):
			found["bad"]++
		case first <= seed.MostRho:
			found["by triangles"]++
		default:
			found["by its residual alone"]++
		}
		inverse := make([][]*big.Rat, n)
		for i := range inverse {
			inverse[i] = make([]*big.Rat, n)
			for j := range n {
				inverse[i][z.Perm[j]] = numtest.Exact(-z.Z[i+j*n])
			}
		}
		prooftest.CheckInverse(t, fmt.Sprintf("seed %d, trial %d, n = %d", draw, trial, n), lintest.Of(a).Scaled(lu.Scaling.Rows, lu.Scaling.Cols), inverse, z.Rho, z.Norm)
	}
	if !enough() {
		t.Errorf("not all kinds of inverses: %v", found)
	}
}

// TestInversesInUsedRoom computes inverses by factors in memory that is 0 and in memory that is
// not, at an order with numbers beyond the strips of triangles. Their bits are the same.
func TestInversesInUsedRoom(t *testing.T) {
	const n = 2*dgemm.Strip + 40
	a := gallery.Random(halfulp.Float64, n, n, 0, 5).View()
	inverses := func(room float64) (list [][]float64) {
		s := prooftest.Run(t, 2)
		for range 8 {
			x := make([]float64, n*n)
			for i := range x {
				x[i] = room
			}
			s.FloatsTaken = append(s.FloatsTaken, x)
		}
		s.Release()
		lu, err := seed.NewFactors(s, a, scale.Of(a))
		if err != nil {
			t.Fatal(err)
		}
		v, err := seed.InvertTriangles(s, lu)
		if err != nil || v == nil {
			t.Fatal("no inverses of triangles", err)
		}
		r := [][]float64{{v.Rho, v.Norm}}
		z, err := seed.NewFloatInverse(s, a, v)
		if err != nil {
			t.Fatal(err)
		}
		return append(r, []float64{z.Rho, z.Norm}, slices.Clone(z.Z))
	}
	want, got := inverses(0), inverses(math.NaN())
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("part %d: other bits", i)
		}
	}
}

// TestInverseOfFactors checks which inverse is taken: the one with a residual where the triangles'
// own bounds do not suffice, and none where no inverse is near.
func TestInverseOfFactors(t *testing.T) {
	const n = 20
	kinds := map[string]string{}
	for _, c := range []struct {
		name string
		k    int
	}{{"well", 0}, {"ill", 40}, {"worse", 80}} {
		a := lintest.Ill(testseed.Rand(t, 1, 2), halfulp.MP(106), n, c.k)
		s := prooftest.Run(t, 1)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		r, rho, norm, err := seed.InvertFactors(s, a.View(), lu, 1, 0)
		if err != nil || r != nil && !(rho <= seed.MostRho && norm < math.Inf(1)) {
			t.Fatalf("%s: rho %g, norm %g, %v", c.name, rho, norm, err)
		}
		kinds[c.name] = fmt.Sprintf("%T", r)
	}
	want := map[string]string{"well": "*seed.Triangles", "ill": "*seed.FloatInverse", "worse": "<nil>"}
	if fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("inverses are %v, want %v", kinds, want)
	}
}
