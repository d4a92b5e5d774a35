package decimal

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRat(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "12": "12", "-12": "-12", "+3": "3", "007": "7", ".5": "1/2", "5.": "5", "-.125": "-1/8",
		"1e3": "1000", "1E-3": "1/1000", "2.5d-1": "1/4", "1.5Q2": "150", "5.6-304": "56/1" + strings.Repeat("0", 305),
		"0x1.8p3": "12", "0x.8": "1/2", "-0xAp-1": "-5", "7/15": "7/15", "-14/30": "-7/15", "+1/3": "1/3", "00/7": "0", "08/012": "2/3",
		"123456789012345678901234567890": "123456789012345678901234567890",
	} {
		x, err := Rat([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		w, ok := new(big.Rat).SetString(want)
		if !ok {
			t.Fatal(want)
		}
		if x.Cmp(w) != 0 {
			t.Errorf("%s is %v, want %v", text, x, w)
		}
	}
	for text, want := range map[string]error{
		"": ErrSyntax, "a": ErrSyntax, "1/": ErrSyntax, "/2": ErrSyntax, "1/-2": ErrSyntax, "1/+2": ErrSyntax, "1.5/2": ErrSyntax, "1/2/3": ErrSyntax,
		"1_0": ErrSyntax, "0b1": ErrSyntax, "1e": ErrSyntax, "--1": ErrSyntax, "1//2": ErrSyntax, "1/0": ErrNotRational, "-5/000": ErrNotRational,
		"inf": ErrNotRational, "-Infinity": ErrNotRational, "nan": ErrNotRational, "1e1000001": nil, "0x1p-99999999999999999999": nil,
	} {
		if _, err := Rat([]byte(text)); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%q: error %v, want %v", text, err, want)
		}
	}
}

// TestRatRandom compares decimals with math/big.
func TestRatRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		text := fmt.Sprint(r.Int64()-r.Int64(), ".", r.Uint64(), "e", r.IntN(600)-300)
		x, err := Rat([]byte(text))
		want, ok := new(big.Rat).SetString(text)
		if err != nil || !ok || x.Cmp(want) != 0 {
			t.Fatalf("%s is %v (%v), want %v", text, x, err, want)
		}
	}
}
