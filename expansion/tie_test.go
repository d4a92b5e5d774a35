package expansion

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestStored compares the stored form by words alone with canonical, for words that are halves of
// an ulp of others, or nearly, of all signs.
func TestStored(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 12))
	changed := 0
	for range testlength.Trials(400000) {
		w := 2 + r.IntN(3)
		x := make([]float64, w)
		x[0] = word(r, -20, 20)
		for i := 1; i < w; i++ {
			_, e := math.Frexp(x[i-1])
			next := math.Nextafter(x[i-1], math.Inf(2*r.IntN(2)-1))
			switch r.IntN(8) {
			case 0:
				x[i] = word(r, e-56, e-53)
			case 1:
				x[i] = word(r, e-120, e-53)
			case 2:
				x[i] = (next - x[i-1]) / 2 * (1 - 0x1p-53)
			default:
				x[i] = (next - x[i-1]) / 2
			}
			if x[i-1]+x[i] != x[i-1] {
				x[i] = 0
				break
			}
		}
		if r.IntN(50) == 0 {
			x[0] = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN()}[r.IntN(5)]
			for i := 1; i < w; i++ {
				x[i] = math.Copysign(0, x[i])
			}
		}
		want := append([]float64(nil), x...)
		canonical(want)
		var got []float64
		switch w {
		case 2:
			z := storedDD(DD(x))
			got = z[:]
		case 3:
			z := storedTD(TD(x))
			got = z[:]
		default:
			z := storedQD(QD(x))
			got = z[:]
		}
		for i := range want {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
				t.Fatalf("seed %d: %x is stored as %x, want %x", seed, x, got, want)
			}
		}
		if x[0] == x[0] && got[0] != x[0] || w > 2 && got[1] != x[1] {
			changed++
		}
	}
	if changed < testlength.Trials(10000) {
		t.Errorf("only %d numbers changed", changed)
	}
}
