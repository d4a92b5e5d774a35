package main

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
)

// TestMixed holds products with a wide old matrix against rational arithmetic;
// the old matrices take every product to a tie or within a hair of one.
func TestMixed(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	wide := halfulp.MP(300)
	for trial := range 60 {
		rows, k, cols := 1+rng.IntN(3), rng.IntN(4), 1+rng.IntN(3)
		a := halfulp.Random(halfulp.Float64, rows, k, 5, rng.Uint64())
		b := halfulp.Random(halfulp.DD, k, cols, 5, rng.Uint64())
		alpha, beta := halfulp.Float(float64(rng.IntN(5)-2)/4), halfulp.Float(float64(1+rng.IntN(3)))
		c := halfulp.NewMatrix(wide, rows, cols)
		want := make([]float64, rows*cols)
		for i := range rows {
			for j := range cols {
				product := new(big.Rat)
				for h := range k {
					product.Add(product, new(big.Rat).Mul(rat(a.Big(i, h)), rat(b.Big(h, j))))
				}
				product.Mul(product, rat(alpha.Big()))
				// beta c = 1 + 2^-53 + a hair either way - product, in 300 bits.
				near := new(big.Rat).SetFrac64(1<<53+1, 1<<53)
				hair := new(big.Rat).SetFrac(big.NewInt(int64(rng.IntN(3)-1)), new(big.Int).Lsh(big.NewInt(1), 200))
				old := new(big.Rat).Sub(near.Add(near, hair), product)
				old.Quo(old, rat(beta.Big()))
				c.SetBig(i, j, new(big.Float).SetPrec(300).SetRat(old))
				exact := new(big.Rat).Mul(rat(beta.Big()), rat(c.Big(i, j)))
				want[i+j*rows], _ = exact.Add(exact, product).Float64()
			}
		}
		if _, ok := fits(c, halfulp.Float64); ok {
			t.Fatalf("trial %d: the old matrix fits float64, so nothing is tested", trial)
		}
		opt := &halfulp.Options{Context: context.Background()}
		p := &product{alpha: alpha, a: a, b: b, beta: beta, c: c, run: func(c *halfulp.Matrix) (halfulp.Stats, error) {
			return halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, alpha, a, b, beta, c, opt)
		}}
		z := halfulp.NewMatrix(halfulp.Float64, rows, cols)
		if _, err := p.mixed(z, opt); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			for j := range cols {
				if got := z.Float64(i, j); got != want[i+j*rows] {
					t.Errorf("seed %d, trial %d: entry (%d, %d) = %b, want %b; alpha %v beta %v\nA\n%vB\n%vC\n%v",
						seed, trial, i, j, got, want[i+j*rows], alpha, beta, a, b, c)
				}
			}
		}
	}
}

func rat(x *big.Float) *big.Rat {
	r, _ := x.Rat(nil)
	return r
}

func TestParseFactor(t *testing.T) {
	for _, c := range []struct {
		text string
		f    halfulp.Format
		want string // in hexadecimal, "" for an error
	}{
		{"-1", halfulp.MP(53), "-0x1p+0"},
		{"0.375", halfulp.MP(2), "0x1.8p-2"},
		{"36893488147419103233", halfulp.MP(53), "0x1.00000000000000008p+65"},
		{"1d3", halfulp.MP(2), "0x1.f4p+9"},
		{"-0", halfulp.MP(53), "-0x0p+0"},
		{"0.1", halfulp.MP(4), "0x1.ap-4"},
		{"0.1", halfulp.Float64, "0x1.999999999999ap-4"},
		{"0x1.8p1", halfulp.Float64, "0x1.8p+1"},
		{"1e", halfulp.Float64, ""},
		{"", halfulp.Float64, ""},
		{"1/3", halfulp.Float64, ""},
		{"--2", halfulp.Float64, ""},
	} {
		s, err := parseFactor(c.text, c.f)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("parseFactor(%q) = %v, want an error", c.text, s)
		case c.want != "" && (err != nil || s.Hex() != c.want):
			t.Errorf("parseFactor(%q) = %v, %v, want %s", c.text, s.Hex(), err, c.want)
		}
	}
	if s, err := parseFactor("1e9999999999", halfulp.MP(53)); err == nil && !s.IsInf(1) {
		t.Errorf("parseFactor(1e9999999999) = %v", s)
	}
}

// TestMixedHair puts C on a midpoint of the result's format and adds a product
// that no format in between can hold beside it.
func TestMixedHair(t *testing.T) {
	one := big.NewFloat(1)
	for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.MP(60), halfulp.DD} {
		p := f.Bits()
		for sign := -1; sign <= 1; sign++ {
			tie := new(big.Float).SetPrec(500).Add(one, new(big.Float).SetMantExp(one, -p))
			up := new(big.Float).SetPrec(500).Add(one, new(big.Float).SetMantExp(one, 1-p))
			want := one
			if f == halfulp.DD { // 1 + 2^-60 + a midpoint below
				tie.Add(tie, new(big.Float).SetMantExp(one, -60))
				tie.Sub(tie, new(big.Float).SetMantExp(one, -p))
				tie.Add(tie, new(big.Float).SetMantExp(one, -113))
				want = new(big.Float).SetPrec(500).Add(one, new(big.Float).SetMantExp(one, -60))
				up.Add(want, new(big.Float).SetMantExp(one, -112))
			}
			if sign > 0 {
				want = up
			}
			a, b, c := halfulp.NewMatrix(halfulp.Float64, 1, 1), halfulp.Identity(halfulp.Float32, 1), halfulp.NewMatrix(halfulp.MP(200), 1, 1)
			a.SetBig(0, 0, new(big.Float).SetMantExp(big.NewFloat(float64(sign)), -900))
			c.SetBig(0, 0, tie)
			q := &product{alpha: halfulp.Float(1), a: a, b: b, beta: halfulp.Float(1), c: c}
			q.run = func(c *halfulp.Matrix) (halfulp.Stats, error) {
				return halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, q.alpha, a, b, q.beta, c, nil)
			}
			z := halfulp.NewMatrix(f, 1, 1)
			if _, err := q.mixed(z, &halfulp.Options{}); err != nil {
				t.Fatal(err)
			}
			if w := halfulp.NewScalar(f, want); !z.At(0, 0).Same(w) {
				t.Errorf("%v, product %d 2^-900: %v, want %v", f, sign, z.At(0, 0).Hex(), w.Hex())
			}
		}
	}
}
