package casformat

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
)

func written(t *testing.T, kind string, m *halfulp.Matrix, digits int) (string, error) {
	t.Helper()
	for _, k := range Kinds {
		if k.Name == kind {
			var b strings.Builder
			err := k.Write(&b, m, Options{Digits: digits, Threads: 2, Context: context.Background()})
			return b.String(), err
		}
	}
	t.Fatalf("no kind %s", kind)
	return "", nil
}

// TestKinds compares with text that the programs read according to their manuals.
func TestKinds(t *testing.T) {
	m := halfulp.FromRows(halfulp.Float64, [][]float64{{1, -2.5e-9, math.Inf(1)}, {3e21, 0, math.Inf(-1)}})
	for kind, want := range map[string]string{
		"pari":        "[1.0, -2.5e-9, +oo; 3.0e+21, 0.0, -oo]\n",
		"mpmath":      "# mp.prec = 53\nmatrix(\n[['1.0', '-2.5e-9', '+inf'],\n ['3.0e+21', '0.0', '-inf']])\n",
		"mathematica": "{{1.0, -2.5*^-9, Infinity},\n {3.0*^21, 0.0, -Infinity}}\n",
	} {
		got, err := written(t, kind, m, 0)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if got != want {
			t.Errorf("%s:\n%s, want\n%s", kind, got, want)
		}
	}
	nan := halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {math.NaN()}})
	for kind, want := range map[string]string{"flint": "\n0 -3 0 0\n", "mpmath": "'nan'", "mathematica": "{Indeterminate}"} {
		if got, err := written(t, kind, nan, 0); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %q, %v", kind, got, err)
		}
	}
	if _, err := written(t, "pari", nan, 0); err == nil || !strings.Contains(err.Error(), "row 2, column 1 is nan") {
		t.Errorf("NaN in PARI/GP: %v", err)
	}
	if _, err := written(t, "pari", m, halfulp.Hex); err == nil {
		t.Error("hexadecimal digits in PARI/GP")
	}
	if _, err := written(t, "mpmath", halfulp.NewMatrix(halfulp.DD, 0, 2), 0); err == nil {
		t.Error("an empty list")
	}
	third := gallery.Hilbert(halfulp.MP(100), 3).Slice(2, 3, 0, 1)
	if got, err := written(t, "mathematica", third, 10); err != nil || got != "{{0.3333333333`30.10}}\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestFLINT reads significands and exponents back, exactly.
func TestFLINT(t *testing.T) {
	for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.QD, halfulp.MP(424)} {
		m := gallery.Random(f, 40, 3, 30, 1)
		text, err := written(t, "flint", m, 0)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(all) != 1+40*3 || all[0] != "40 3" {
			t.Fatalf("%d lines, the first %q", len(all), all[0])
		}
		for k, line := range all[1:] {
			var digits string
			var exp int
			if _, err := fmt.Sscanf(line, "%s %x 0 0", &digits, &exp); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			n, ok := new(big.Int).SetString(digits, 16)
			if !ok || n.Bit(0) == 0 {
				t.Fatalf("%q: significands are odd", line)
			}
			x := new(big.Float).SetInt(n)
			x.SetMantExp(x, exp)
			if want := m.Big(k/3, k%3); x.Cmp(want) != 0 {
				t.Errorf("%v: %q is %v, want %v", f, line, x, want)
			}
		}
	}
}

// TestDecimals reads the decimals of the other kinds back; they have enough digits to distinguish
// numbers.
func TestDecimals(t *testing.T) {
	f := halfulp.MP(424)
	m := gallery.Random(f, 300, 7, 300, 1) // several blocks
	number := regexp.MustCompile(`-?[0-9]+\.[0-9]+(e[+-]?[0-9]+)?`)
	for _, kind := range []string{"pari", "mpmath", "mathematica"} {
		text, err := written(t, kind, m, 0)
		if err != nil {
			t.Fatal(err)
		}
		text = regexp.MustCompile("`[0-9.]+").ReplaceAllString(text, "")
		words := number.FindAllString(strings.ReplaceAll(text, "*^", "e"), -1)
		if len(words) != 300*7 {
			t.Fatalf("%s: %d numbers", kind, len(words))
		}
		for k, w := range words {
			x, err := halfulp.ParseScalar(f, w)
			if err != nil || !x.Same(m.At(k/7, k%7)) {
				t.Fatalf("%s: %s, %v, want %v", kind, w, err, m.At(k/7, k%7))
			}
		}
	}
}
