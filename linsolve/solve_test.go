package linsolve

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

func check(t *testing.T, name string, a, b *halfulp.Matrix, f halfulp.Format) halfulp.Stats {
	t.Helper()
	return checkSolution(t, name, a, b, f, lintest.Of(a).Solve(lintest.Of(b)))
}

// checkSolution compares with the expected solution; nil means that an error with the rank is
// expected.
func checkSolution(t *testing.T, name string, a, b *halfulp.Matrix, f halfulp.Format, want lintest.Matrix) halfulp.Stats {
	t.Helper()
	n, k := b.Rows(), b.Cols()
	var stats halfulp.Stats
	x, err := Solve(a, b, f, &halfulp.Options{Stats: &stats})
	if n <= 6 { // ways without statistics
		y, other := Solve(a, b, f, nil)
		if (err == nil) != (other == nil) || err == nil && !x.Same(y) {
			t.Fatalf("%s: other bits without statistics: %v and %v (%v)", name, x, y, other)
		}
	}
	if want == nil && k > 0 {
		var singular *SingularError
		if !errors.As(err, &singular) || singular.Rank != lintest.Of(a).Rank(n) {
			t.Fatalf("%s: %v, want a singular matrix", name, err)
		}
		return stats
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i := range n {
		for j := range k {
			if z := lintest.Nearest(f, want[i][j]); !x.At(i, j).Same(z) {
				t.Fatalf("%s: x[%d,%d] = %s, want %s (%+v)", name, i, j, x.At(i, j).Hex(), z.Hex(), stats)
			}
		}
	}
	return stats
}

func TestSolve(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range lintest.Formats {
		for trial := range testlength.Of(1, 1, 60) {
			n, k := 1+r.IntN(8), 1+r.IntN(3)
			name := fmt.Sprintf("seed %d, trial %d, %v, n = %d, k = %d", seed, trial, f, n, k)
			g := lintest.Formats[r.IntN(len(lintest.Formats))]
			check(t, name+", random", gallery.Random(g, n, n, 0, r.Uint64()), gallery.Random(g, n, k, 0, r.Uint64()), f)
			check(t, name+", spread", gallery.Random(g, n, n, 50, r.Uint64()), gallery.Random(g, n, k, 50, r.Uint64()), f)
			check(t, name+", integers", lintest.Integers(r, n, n, 3), lintest.Integers(r, n, k, 9), f)
			check(t, name+", small integers", lintest.Integers(r, n, n, 1), lintest.Integers(r, n, k, 1), f)
			check(t, name+", powers", lintest.Integers(r, n, n, 1), lintest.Integers(r, n, k, 0), f)
		}
		for _, n := range testlength.Of([]int{12}, []int{12, 20}, []int{12, 20, 30}) {
			check(t, "Hilbert", gallery.Hilbert(halfulp.MP(200), n), gallery.Random(halfulp.Float64, n, 1, 0, 1), f)
		}
	}
}

func TestDet(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range lintest.Formats {
		for trial := range testlength.Of(1, 1, 60) {
			n := 1 + r.IntN(8)
			g := lintest.Formats[r.IntN(len(lintest.Formats))]
			name := fmt.Sprintf("seed %d, trial %d, %v, n = %d", seed, trial, f, n)
			checkDet(t, name+", random", gallery.Random(g, n, n, 0, r.Uint64()), f)
			checkDet(t, name+", spread", gallery.Random(g, n, n, 50, r.Uint64()), f)
			checkDet(t, name+", integers", lintest.Integers(r, n, n, 5), f)
			checkDet(t, name+", signs", lintest.Integers(r, n, n, 1), f)
		}
		checkDet(t, "Hilbert", gallery.Hilbert(halfulp.MP(200), 14), f)
		n := testlength.Of(10, 20, 40)
		checkDet(t, "random", gallery.Random(halfulp.DD, n, n, 0, 3), f)
	}
}

func checkDet(t *testing.T, name string, a *halfulp.Matrix, f halfulp.Format) {
	t.Helper()
	var stats halfulp.Stats
	got, err := Det(a, f, &halfulp.Options{Stats: &stats})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if want := lintest.Nearest(f, lintest.Of(a).Det()); !got.Same(want) {
		t.Fatalf("%s: %s, want %s (%+v)", name, got.Hex(), want.Hex(), stats)
	}
}

func TestSolveExtremes(t *testing.T) {
	one := halfulp.Identity(halfulp.Float64, 1)
	power := func(e int) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(1), e) }
	sub := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(2000).Sub(x, y) }
	for name, b := range map[string]*big.Float{
		"half the smallest":            power(-1075),
		"just above":                   sub(power(-1074), sub(power(-1075), power(-1300))),
		"just below":                   sub(power(-1075), power(-1300)),
		"half the smallest of float32": power(-150),
		"overflow of float64":          sub(power(1024), power(970)),
		"less than that":               sub(sub(power(1024), power(970)), power(-1000)),
		"overflow of float32":          sub(power(128), power(103)),
		"less than that, in float32":   sub(sub(power(128), power(103)), power(-1000)),
		"tie of float64":               sub(power(1), power(-53)),
		"near that":                    sub(sub(power(1), power(-53)), power(-1500)),
		"0":                            new(big.Float),
	} {
		for _, f := range lintest.Formats {
			y := halfulp.NewMatrixBig(halfulp.MP(2600), 1, 1, []*big.Float{b})
			check(t, name, one, y, f)
			check(t, name+", negative", one, halfulp.NewMatrixBig(halfulp.MP(2600), 1, 1, []*big.Float{sub(new(big.Float), b)}), f)
			// x = [b, 1/3]: the second component is not a number of any format
			third := halfulp.NewMatrixBig(halfulp.MP(2600), 3, 1, []*big.Float{b, big.NewFloat(1), big.NewFloat(3)})
			a := halfulp.NewMatrix(halfulp.Float64, 3, 3)
			for _, e := range [][3]int{{0, 0, 1}, {1, 1, 3}, {2, 2, 1}, {2, 1, 3}} {
				a.Set(e[0], e[1], halfulp.Float(float64(e[2])))
			}
			check(t, name+", beside 1/3", a, third, f)
		}
	}
}
