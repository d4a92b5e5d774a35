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
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// ratOfEnclosed returns the midpoint of an enclosure.
func ratOfEnclosed(v bound.EnclosedEntry) *big.Rat {
	x := new(big.Float).SetPrec(5000).SetInt(bound.IntegerOf(v.Mag))
	if v.Neg {
		x.Neg(x)
	}
	z, _ := x.SetMantExp(x, int(v.Exp)).Rat(nil)
	return z
}

// TestLDLTByDigits compares L D L^T with F, and enclosures with exact factors, with good pivots and
// with arbitrary ones.
func TestLDLTByDigits(t *testing.T) {
	if lanes.Bits() == 0 {
		t.Skip("no lanes")
	}
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	found, none, twos, large, long, rounded := 0, 0, 0, 0, 0, 0
	defect, off := 0.0, 0.0 // in multiples of their bounds
	enough := func() bool {
		return found > 0 && none > 0 && twos > 0 && large > 0 && long > 0 && rounded > 0 && defect >= 0x1p-12 && off >= 0x1p-24
	}
	for trial := range testlength.Until(testlength.Of(60, 120, 2000), enough) {
		n := 1 + r.IntN(6)
		if trial%7 == 0 { // more than one panel, some of them parted by a block
			n = 9 + r.IntN(10)
		}
		var a *halfulp.Matrix
		switch trial % 5 {
		case 0:
			a = gallery.Random(halfulp.MP(200), n, n, 0, r.Uint64())
		case 1:
			a = gallery.Random(halfulp.Float64, n, n, 30, r.Uint64())
		case 2: // zeros and ties
			a = lintest.Integers(r, n, n, 2)
		case 3: // ill-conditioned
			a = gallery.Hilbert(halfulp.MP(100), n)
		default: // no diagonal: blocks of two
			a = gallery.Random(halfulp.MP(60), n, n, 0, r.Uint64())
			for i := range n {
				a.SetBig(i, i, new(big.Float))
			}
		}
		a = lintest.Mirrored(a)
		bits := 40 + r.IntN(300)
		if trial%8 == 0 { // beyond the exponents of float64
			bits += 900
		}
		name := fmt.Sprintf("seed %d, trial %d, n = %d, %d bits", draw, trial, n, bits)
		s := prooftest.Run(t, 1+trial%2)
		g, err := factors.RookOf(s, a.View(), 400)
		if err != nil {
			t.Fatal(err)
		}
		if g == nil { // singular
			none++
			continue
		}
		p := &seed.RookOrder{Order: g.Order, Blocks: g.Blocks}
		if trial%6 == 1 { // any others
			p.Order, p.Blocks = r.Perm(n), nil
			for left := n; left > 0; left -= p.Blocks[len(p.Blocks)-1] {
				p.Blocks = append(p.Blocks, 1+r.IntN(min(left, 2)))
			}
		}
		p.High = int64(call.None32)
		for _, e := range scale.TopsOf(a.View()).Top {
			p.High = max(p.High, e)
		}
		z, err := digits.NewLDLT(s, a.View(), p, bits, func() error { return nil })
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if z == nil {
			none++
			continue
		}
		found++
		if z.D > digits.MostDigits {
			long++
		}
		l, d, ok := lintest.Of(a).LDLT(p.Order, p.Blocks)
		if !ok {
			t.Fatalf("%s: a pivot is singular", name)
		}
		// G = L D L^T.
		mag := z.Room()
		u := ziv.NewUnknown(modular.Chosen(a.View(), p.Order, p.Order), n, p.Blocks, 0)
		x, y := lintest.Identity(n), lintest.New(n, n)
		for i := range n {
			for j := range z.Start[i] {
				x[i][j] = ratOfEnclosed(z.Enclosed(mag, i, j, 0))
				u.Open = append(u.Open, ziv.Wanted{Part: ziv.OfL, I: i, J: j})
			}
		}
		for k, b := range z.First {
			if p.Blocks[k] == 2 {
				twos++
			}
			for i := range p.Blocks[k] {
				for j := range p.Blocks[k] {
					y[b+i][b+j] = ratOfEnclosed(z.EnclosedInteger(mag, z.At(k, i, j), 0))
					u.Open = append(u.Open, ziv.Wanted{Part: ziv.OfU, I: b + min(i, j), J: b + max(i, j)})
				}
			}
		}
		product := x.Times(y, n).Times(x.T(n), n)
		for i := range n {
			for j := range n {
				w := a.Big(p.Order[i], p.Order[j])
				v, _ := w.SetMantExp(w, int(z.Shift)).Rat(nil)
				f := new(big.Float).SetRat(v.Sub(v, product[i][j]))
				f.SetMantExp(f, z.D*z.Bits())
				by, _ := f.Float64()
				if by = math.Abs(by) / float64((n+1)*(408*z.D+420)); by > 1 {
					t.Fatalf("%s: entry (%d, %d) of F - G is %g of its bound", name, i, j, by)
				}
				defect = max(defect, by)
			}
		}
		e := z.Enclosure(u)
		for _, w := range u.Open {
			in, i, j, exact, had := e.L, w.J, w.I, l, x[w.I][w.J]
			if w.Part == ziv.OfU {
				in, i, j, exact, had = e.U, w.I, w.J, d, y[w.I][w.J]
			}
			want := new(big.Float).SetPrec(6000).SetRat(exact[w.I][w.J])
			if by := prooftest.Outside(in, i, j, want); by > 0 {
				t.Fatalf("%s: entry (%d, %d) lies outside by %g", name, w.I, w.J, by)
			}
			if w.Part == ziv.OfU {
				want.SetMantExp(want, int(z.Shift))
			}
			by, _ := want.Sub(want, new(big.Float).SetPrec(6000).SetRat(had)).SetMantExp(want, -int(in.Err[j])).Float64()
			off = max(off, math.Abs(by))
		}
		format := halfulp.MP(uint(max(bits-20-r.IntN(20), halfulp.MinPrec)))
		to := struct{ L, D *halfulp.Matrix }{L: halfulp.NewMatrix(format, n, n), D: halfulp.NewMatrix(format, n, n)}
		lower, middle, ok, err := z.RoundTo(to.L.View(), to.D.View())
		if err != nil {
			t.Fatal(err)
		}
		most, _ := seed.RookGrowth.Rat(nil)
		small := true
		for i := range n {
			for j := range z.Start[i] {
				small = small && new(big.Rat).Abs(l[i][j]).Cmp(most) <= 0
			}
		}
		if ok != small {
			t.Fatalf("%s: multipliers pass for good: %v, want %v", name, ok, small)
		}
		if !ok {
			large++
			continue
		}
		checkRounded(t, name, to.L, lower, func(i, j int) *big.Rat { return l[i][j] })
		checkRounded(t, name, to.D, middle, func(i, j int) *big.Rat {
			if i > j { // mirrored later
				return new(big.Rat)
			}
			return d[i][j]
		})
		rounded += n*n - len(lower) - len(middle)
	}
	t.Logf("defects up to %g, errors up to %g of their bounds", defect, off)
	if !enough() {
		t.Fatalf("%d found, %d none, %d of two rows, %d with large multipliers, %d of many digits, %d entries rounded, defects up to %g, errors up to %g of their bounds", found, none, twos, large, long, rounded, defect, off)
	}
}

// TestLDLTDigitsRange eliminates with a block of two rows whose diagonal entries have grown to 1/2
// of the range of digits, or stayed below it.
func TestLDLTDigitsRange(t *testing.T) {
	if lanes.Bits() == 0 {
		t.Skip("no lanes")
	}
	for _, first := range []bool{false, true} {
		for _, x := range []struct {
			diagonal float64
			in       bool
		}{{0.25, true}, {0.5 - 0x1p-40, true}, {0.5, false}, {0.625, false}} {
			a := halfulp.NewMatrix(halfulp.Float64, 2, 2)
			a.SetFloat64(0, 1, 0.375)
			a.SetFloat64(1, 0, 0.375)
			i := 0
			if !first {
				i = 1
			}
			a.SetFloat64(i, i, x.diagonal)
			a.SetFloat64(1-i, 1-i, -0.25)
			// An elimination whose matrix is multiplied by 1.
			p := &seed.RookOrder{Order: call.All(2), Blocks: []int{2}, High: -seed.Growth}
			z, err := digits.NewLDLT(prooftest.Run(t, 1), a.View(), p, 60, func() error { return nil })
			if err != nil || (z != nil) != x.in {
				t.Errorf("%v in row %d: factors: %v, %v, want %v", x.diagonal, i, z != nil, err, x.in)
			}
		}
	}
}
