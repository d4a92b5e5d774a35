package digits_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// number returns entry (i, j) of L.
func numberOfRoot(t *digits.Root, i, j int) *big.Rat {
	mag := make([]uint64, (t.D*t.Bits()+63)/64+1)
	v := t.EnclosedInteger(mag, t.Roots[i%t.N], 0)
	if i != j {
		p := 0
		for first, end := t.Place(p); i < first || i >= end; first, end = t.Place(p) {
			p++
		}
		first, _ := t.Place(p)
		v = t.EnclosedVector(mag, t.Upper[p][j*t.Size():][:t.Size()], i-first, 0)
	}
	x := new(big.Float).SetPrec(5000).SetInt(numtest.Signed(append(v.Mag, 0)))
	if v.Neg {
		x.Neg(x)
	}
	z, _ := x.SetMantExp(x, int(v.Exp)).Rat(nil)
	return z
}

// TestRootByDigits compares L L^T with F, and enclosures with factors in many more bits.
func TestRootByDigits(t *testing.T) {
	if lanes.Bits() == 0 {
		t.Skip("no lanes")
	}
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	const more = 5000
	found, none, below := 0, 0, 0
	defect, off := 0.0, 0.0 // in multiples of their bounds
	enough := func() bool { return found > 0 && none > 0 && below > 0 && defect >= 0x1p-8 && off >= 0x1p-12 }
	for trial := range testlength.Until(testlength.Of(30, 60, 1500), enough) {
		n := 1 + r.IntN(6)
		if trial%10 == 0 { // more than one panel
			n = 9 + r.IntN(9)
		}
		extra := 0
		if trial%2 == 0 {
			extra = r.IntN(12)
		}
		var a *halfulp.Matrix
		switch trial % 5 {
		case 0:
			a = gallery.Random(halfulp.MP(100), n+extra, n, 0, r.Uint64())
		case 1:
			a = gallery.Random(halfulp.Float64, n+extra, n, 40, r.Uint64())
		case 2: // factors of few bits
			a = lintest.Integers(r, n+extra, n, 2)
		case 3: // ill-conditioned
			a = gallery.Hilbert(halfulp.MP(100), n+extra).Slice(0, n+extra, 0, n)
		default: // columns that hardly differ
			a = halfulp.NewMatrix(halfulp.MP(200), n+extra, n)
			for i := range n + extra {
				for j := range n {
					x := big.NewFloat(r.Float64())
					a.SetBig(i, j, x.Add(x.SetPrec(200).SetMantExp(x, -r.IntN(60)), big.NewFloat(1)))
				}
			}
		}
		if trial%7 == 0 { // columns that are dependent
			a, extra = gallery.Random(halfulp.Float64, n, n+1, 0, r.Uint64()), 0
			n++
		}
		c := lintest.Gram(a)
		if trial%7 == 1 && n > 1 { // indefinite, hardly or by far
			x := c.Big(n-1, n-1)
			extra = 0
			c.SetBig(n-1, n-1, x.Mul(x, big.NewFloat(-math.Ldexp(1, -r.IntN(300)))))
		}
		if trial%7 == 2 && n > 1 && c.Big(0, 0).Sign() > 0 { // an entry with few bits, too large
			e := (c.Big(0, 0).MantExp(nil)+c.Big(n-1, n-1).MantExp(nil))/2 + 1 + r.IntN(60)
			extra = 0
			c.SetBig(n-1, 0, new(big.Float).SetMantExp(big.NewFloat(1), e))
			c.SetBig(0, n-1, new(big.Float).SetMantExp(big.NewFloat(1), e))
		}
		if extra > 0 {
			c = halfulp.MatrixOf(factors.Stacked(c.View(), a.View(), call.All(n)))
			below++
		}
		bits := 40 + r.IntN(300)
		if trial%8 == 0 { // beyond the exponents of float64
			bits += 900
		}
		name := fmt.Sprintf("seed %d, trial %d, %d x %d, %d bits", seed, trial, c.Rows(), n, bits)
		s := prooftest.Run(t, 1+trial%2)
		known := true // even if it is not: then there is none
		all := c.View()
		z, err := digits.NewRoot(s, all.Slice(0, n, 0, n), all.Slice(n, all.Rows, 0, n), bits, &known)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if z == nil {
			none++
			continue
		}
		found++
		if z.Gain < bits-digits.RootSlack {
			t.Fatalf("%s: an enclosure of %d bits", name, z.Gain)
		}
		exact, ok := lintest.Of(c).LU(n)
		for j := range n {
			ok = ok && exact[j][j].Sign() > 0
		}
		if !ok {
			t.Fatalf("%s: not positive definite", name)
		}
		l := make([][]*big.Rat, c.Rows())
		for i := range l {
			for j := range min(i+1, n) {
				l[i] = append(l[i], numberOfRoot(z, i, j))
			}
		}
		units := func(x *big.Float) float64 {
			f, _ := x.SetMantExp(x, z.D*z.Bits()).Float64()
			return math.Abs(f)
		}
		u := ziv.NewUnknown(c.View(), n, ziv.Ones(n), 0)
		for i := range l {
			for j := range l[i] {
				u.Open = append(u.Open, ziv.Wanted{Part: ziv.OfRoot, I: i, J: j})
			}
		}
		e := z.Enclosure(u)
		for i := range l {
			for j := range l[i] {
				sum, _ := new(big.Float).SetMantExp(c.Big(i, j), int(z.Rows[i]+z.Cols[j])).Rat(nil)
				for k := range l[j] {
					if k < len(l[i]) {
						sum.Sub(sum, new(big.Rat).Mul(l[i][k], l[j][k]))
					}
				}
				f := units(new(big.Float).SetPrec(more).SetRat(sum)) / float64((n+1)*(3*z.D+4))
				if f > 1 {
					t.Fatalf("%s: entry (%d, %d) of F - G is %g of its bound", name, i, j, f)
				}
				defect = max(defect, f)
				x := new(big.Float).SetPrec(more).SetRat(exact[j][j])
				if x.Sqrt(x); i > j {
					x.Mul(x, new(big.Float).SetPrec(more).SetRat(exact[i][j]))
				}
				if by := prooftest.Outside(e.Root, j, i, x); by > 0 {
					t.Fatalf("%s: entry (%d, %d) of the factor lies outside by %g", name, i, j, by)
				}
				x.SetMantExp(x, int(z.Rows[i]))
				x.Sub(x, new(big.Float).SetPrec(more).SetRat(l[i][j]))
				if f = units(x) / (z.Radius[i] * z.V[j]); f > 1 {
					t.Fatalf("%s: entry (%d, %d) is off by %g of its bound", name, i, j, f)
				}
				off = max(off, f)
			}
		}
		// Rounded entries are the exact entries rounded.
		format := halfulp.MP(uint(max(bits-40, halfulp.MinPrec)))
		to := halfulp.NewMatrix(format, c.Rows(), n)
		m := to.View()
		lower := m
		if c.Rows() > n {
			lower = to.Slice(n, c.Rows(), 0, n).View()
		}
		open, err := z.RoundTo(m, lower)
		if err != nil {
			t.Fatal(err)
		}
		left := map[[2]int]bool{}
		for _, at := range open {
			left[at] = true
		}
		for i := range l {
			for j := range l[i] {
				if left[[2]int{i, j}] {
					continue
				}
				want := lintest.NearestRoot(format, big.NewRat(1, 1), exact[j][j])
				if i > j {
					want = lintest.NearestRoot(format, exact[i][j], exact[j][j])
				}
				if got := to.At(i, j); !got.Same(want) {
					t.Fatalf("%s: entry (%d, %d) is %s, want %s", name, i, j, got.Hex(), want.Hex())
				}
			}
		}
	}
	t.Logf("defects up to %g, errors up to %g of their bounds", defect, off)
	if !enough() {
		t.Fatalf("%d enclosures, %d none, %d with rows below, defects up to %g, errors up to %g of their bounds", found, none, below, defect, off)
	}
}
