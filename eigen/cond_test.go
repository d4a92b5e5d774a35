package eigen_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

func ExampleCond2() {
	x, err := eigen.Cond2(gallery.Hilbert(halfulp.MP(200), 12), halfulp.Float64, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(x)
	// Output: 17132289046970050
}

// TestCond2 compares condition numbers of 2 x 2 matrices with their formula: for S = ‖A‖_F² and D =
// |det A|, σ_max/σ_min = κ has κ + 1/κ = S/D.
func TestCond2(t *testing.T) {
	seed := testseed.Of(t)
	rng := rand.New(rand.NewPCG(seed, 3))
	for range 60 {
		var e [4]*big.Rat
		a := halfulp.NewMatrix(halfulp.Float64, 2, 2)
		sum := new(big.Rat)
		for i := range e {
			x := float64(rng.IntN(21)-10) * math.Ldexp(1, rng.IntN(3)*20)
			a.SetFloat64(i/2, i%2, x)
			e[i] = new(big.Rat).SetFloat64(x)
			sum.Add(sum, new(big.Rat).Mul(e[i], e[i]))
		}
		det := new(big.Rat).Sub(new(big.Rat).Mul(e[0], e[3]), new(big.Rat).Mul(e[1], e[2]))
		det.Abs(det)
		f := formats[rng.IntN(len(formats))]
		k, err := eigen.Cond2(a, f, nil)
		if err != nil {
			t.Fatalf("%v\n%v", err, a)
		}
		if det.Sign() == 0 {
			if !k.IsInf(1) {
				t.Fatalf("%v of a singular matrix\n%v", k, a)
			}
			continue
		}
		// κ = (h + sqrt(h² - 4)) / 2, in 2000 bits.
		h := new(big.Float).SetPrec(2000).SetRat(new(big.Rat).Quo(sum, det))
		root := new(big.Float).SetPrec(2000).Mul(h, h)
		root.Sub(root, big.NewFloat(4))
		if root.Sign() < 0 {
			root.SetInt64(0)
		}
		h.Add(h, root.Sqrt(root)).Quo(h, big.NewFloat(2))
		want, _ := new(big.Float).SetPrec(1000).Set(h).Rat(nil)
		if got, _ := k.Big().Rat(nil); got.Cmp(nearest(want, f.Bits())) != 0 {
			t.Fatalf("%v instead of %v\n%v", k, h, a)
		}
	}
}

// TestCond2Ties has condition numbers halfway between two numbers of the format.
func TestCond2Ties(t *testing.T) {
	for _, x := range []struct {
		values [3]float64
		want   float64
	}{{[3]float64{9, 2, 1}, 8}, {[3]float64{11, 1, 1}, 12}, {[3]float64{27, 3, 3}, 8}, {[3]float64{7, 7, 7}, 1}} {
		a := halfulp.NewMatrix(halfulp.Float64, 4, 3)
		for i, v := range x.values {
			a.SetFloat64((i+1)%4, i, v)
		}
		var st halfulp.Stats
		for _, m := range []*halfulp.Matrix{a, a.T()} {
			k, err := eigen.Cond2(m, halfulp.MP(3), &halfulp.Options{Stats: &st})
			if err != nil || k.Float64() != x.want || st.Undecided != 0 {
				t.Error(x, k, err, st.Undecided)
			}
		}
	}
	// Squares of many bits are not proved to be singular values.
	x := 1 + 0x1p-52
	a := halfulp.FromRows(halfulp.MP(60), [][]float64{{9 * x, 0}, {0, x}})
	a.SetBig(0, 0, new(big.Float).SetPrec(60).Mul(big.NewFloat(9), big.NewFloat(x)))
	var st halfulp.Stats
	k, err := eigen.Cond2(a, halfulp.MP(3), &halfulp.Options{Stats: &st})
	if err != nil || k.Float64() != 8 || st.Undecided != 1 {
		t.Error(k, err, st.Undecided)
	}
	// Near a tie, on both sides.
	for i, want := range []float64{8, 10} {
		a.SetBig(0, 0, new(big.Float).SetPrec(60).Add(big.NewFloat(9), big.NewFloat(float64(2*i-1)*0x1p-50)))
		a.SetFloat64(1, 1, 1)
		if k, err := eigen.Cond2(a, halfulp.MP(3), &halfulp.Options{Stats: &st}); err != nil || k.Float64() != want || st.Undecided != 0 {
			t.Error(k, err, st.Undecided)
		}
	}
	for _, shape := range [][2]int{{0, 0}, {0, 3}, {2, 0}, {2, 3}} {
		k, err := eigen.Cond2(halfulp.NewMatrix(halfulp.Float64, shape[0], shape[1]), halfulp.Float64, nil)
		if err != nil || (shape[0]*shape[1] == 0) != (k.Float64() == 0) || shape[0]*shape[1] != 0 && !k.IsInf(1) {
			t.Error(shape, k, err)
		}
	}
}

// TestCond2Hilbert compares the condition number of the Hilbert matrix with the quotient of its
// extreme eigenvalues, from power iterations with H and its exact inverse in mpmath 1.3.
func TestCond2Hilbert(t *testing.T) {
	n, want := 30, 4.227806388187526e+43
	if testlength.Long() {
		n, want = 100, 3.7764862742167324e+150
	}
	k, err := eigen.Cond2(gallery.Hilbert(halfulp.MP(1000), n), halfulp.Float64, nil)
	if err != nil || k.Float64() != want {
		t.Errorf("n = %d: %v, want %v, %v", n, k, want, err)
	}
}
