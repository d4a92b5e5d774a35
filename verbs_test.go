package halfulp

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestVerbsFloat compares with package fmt: numbers of Float64 and Float32 with the corresponding
// Go types, and the same numbers in other formats for verbs whose text depends on the value alone.
func TestVerbsFloat(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 3))
	special := []float64{0, 1, 10, 99, 100, 123456, 1e6, 1e20, 1e21, 1e22, 9.5, 0.95, 0.05, 0.5, 1.5, 2.5, 0.00001, 0.0001, 999999.5,
		math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, 0x1.8p-1074, math.Inf(1), math.NaN(), math.Copysign(0, -1)}
	for trial := range 20000 {
		var x float64
		switch r.IntN(4) {
		case 0:
			x = special[r.IntN(len(special))]
		case 1:
			x = math.Float64frombits(r.Uint64())
		case 2:
			x = float64(r.IntN(2000)) / 8
		default:
			x = r.NormFloat64()
		}
		if r.IntN(2) == 0 {
			x = -x
		}
		layout := "%"
		for _, c := range "+- 0#" {
			if r.IntN(4) == 0 {
				layout += string(c)
			}
		}
		if r.IntN(2) == 0 {
			layout += fmt.Sprint(r.IntN(30))
		}
		verbs := "eEfFgGxX"
		if r.IntN(3) > 0 {
			layout += "." + fmt.Sprint(r.IntN(25))
		} else if r.IntN(8) == 0 {
			verbs = "b" // which takes no precision
		}
		verb := verbs[r.IntN(len(verbs))]
		layout += string(verb)
		check := func(s Scalar, want string) {
			t.Helper()
			if got := fmt.Sprintf(layout, s); got != want {
				t.Errorf("%s of %v %s: %q, want %q", layout, s.NumberFormat(), s.Hex(), got, want)
			}
		}
		if math.IsNaN(x) || math.IsInf(x, 0) || verb == 'x' && strings.Contains(layout, "#") {
			continue // fmt gives them signs of its own; for # and x, but not X, zeros
		}
		check(Float(x), fmt.Sprintf(layout, x))
		if y := float32(x); !math.IsInf(float64(y), 0) {
			check(Float(x).Convert(Float32), fmt.Sprintf(layout, y))
		}
		shortest := verb == 'b' || (verb == 'g' || verb == 'G') && !strings.Contains(layout, ".")
		if !shortest {
			for _, f := range []Format{DD, QD, MP(53), MP(424)} {
				check(Float(x).Convert(f), fmt.Sprintf(layout, x))
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d, trial %d", seed, trial)
		}
	}
}

// TestVerbsBig compares with math/big, which prints digits of any precision.
func TestVerbsBig(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 4))
	for range 3000 {
		bits := []int{2, 24, 53, 113, 424}[r.IntN(5)]
		z := num.New(MP(uint(bits)).View(), 1)
		z.Set(0, randomReal(r, 64*(1+r.IntN(7)), r.Int64N(400)-200))
		s := Scalar{num.ScalarOf(z)}
		layout := fmt.Sprintf("%%.%d%c", r.IntN(80), "efgx"[r.IntN(4)])
		if r.IntN(4) == 0 {
			layout = "%" + string("gb"[r.IntN(2)])
		}
		want := fmt.Sprintf(layout, s.Big())
		if layout == "%g" {
			back, err := ParseScalar(s.NumberFormat(), fmt.Sprintf(layout, s))
			if err != nil || !back.Same(s) {
				t.Fatalf("seed %d: %%g of %s is read as %v, %v", seed, s.Hex(), back, err)
			}
			continue // the shortest digits of math/big are not always the nearest
		}
		if got := fmt.Sprintf(layout, s); got != want {
			t.Fatalf("seed %d: %s of %s: %q, want %q", seed, layout, s.Hex(), got, want)
		}
	}
}

func TestVerbs(t *testing.T) {
	third := DD.Quo(Float(1), Float(3))
	m := NewMatrixFloat64(2, 2, 2, []float64{1, -1000, 0.1, 2})
	huge := NewScalar(MP(8), new(big.Float).SetMantExp(big.NewFloat(1), math.MinInt32))
	for _, c := range []struct{ got, want string }{
		{fmt.Sprintf("%v", third), third.String()},
		{fmt.Sprintf("%s|%10v|%-10.3v|", Float(1.5), Float(1.5), third), "1.5|       1.5|0.333     |"},
		{fmt.Sprintf("%+v %+v %+g %+s", Float(1), Float(-1), Float(1), Float(1)), "1 -1 +1 1"},
		{fmt.Sprintf("%.35f", third), third.Big().Text('f', 35)},
		{fmt.Sprintf("%x", DD.Add(Float(1), Float(0x1p-100))), "0x1.0000000000000000000000001p+00"},
		{fmt.Sprintf("%b", DD.Add(Float(1), Float(0x1p-60))), "1152921504606846977p-60"},
		{fmt.Sprintf("%b %b", MP(3).Quo(Float(1), Float(3)), NewScalar(MP(3), new(big.Float))), "5p-4 0"},
		{fmt.Sprintf("%.3f", huge), "0.000"},
		{fmt.Sprintf("%08.2f|%-8.2f|", Float(-1.5), Float(1.5)), "-0001.50|1.50    |"},
		{fmt.Sprintf("%08f %+f % f", Float(math.Inf(-1)), Float(math.Inf(1)), NaN(DD)), "    -inf +inf nan"},
		{fmt.Sprintf("%d", Float(1)), "%!d(halfulp.Scalar=1)"},
		{fmt.Sprintf("%q", m), "%!q(halfulp.Matrix=    1 0.1\n-1000   2)"},
		{fmt.Sprintf("%v", m), m.String()},
		{fmt.Sprintf("%.2f", m), "    1.00 0.10\n-1000.00 2.00"},
		{fmt.Sprintf("%-5g", m), "1     0.1  \n-1000 2    "},
		{fmt.Sprintf("%6.1f", m.Row(1)), "-1000.0\n   2.0"},
		{fmt.Sprintf("%v", m.Col(0)), m.Col(0).String()},
		{fmt.Sprintf("%v %g", NewMatrix(DD, 0, 2), NewMatrix(DD, 2, 0)), "[matrix of shape 0 x 2, format dd] [matrix of shape 2 x 0, format dd]"},
		{fmt.Sprint(Matrix{}, new(Matrix)), "[matrix of shape 0 x 0, format f64] [matrix of shape 0 x 0, format f64]"},
		{fmt.Sprint(Vector{}, NewVector(MP(70), 0)), "[vector of length 0, format f64] [vector of length 0, format mp:70]"},
		{fmt.Sprintf("%v %g %s", (*Matrix)(nil), (*Vector)(nil), (*Scalar)(nil)), "<nil> <nil> <nil>"},
		{(*Matrix)(nil).String() + (*Vector)(nil).String(), "<nil><nil>"},
		{fmt.Sprintf("%.2g %5.1f", *m, *m.Row(0)), "     1 0.1\n-1e+03   2   1.0\n  0.1"},
		{fmt.Sprintf("%.20g", m.At(0, 1)), "0.10000000000000000555"},
		{fmt.Sprint(&third), third.String()},
		{fmt.Sprintf("%v %+v", struct{ X Scalar }{Float(2)}, struct{ X *Matrix }{m.Slice(0, 1, 0, 2)}), "{2} {X:1 0.1}"},
		{fmt.Sprint([]Scalar{Float(1), Float(0.5)}, map[string]Vector{"x": *m.Row(0)}), "[1 0.5] map[x:1\n0.1]"},
		{fmt.Sprintf("%d %x", m.Row(0), m.Row(0).Slice(0, 1)), "%!d(halfulp.Vector=1\n0.1) 0x1p+00"},
		{fmt.Sprintf("%e", Scalar{}), "0.000000e+00"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
