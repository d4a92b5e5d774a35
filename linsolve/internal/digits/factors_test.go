package digits_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestLUByDigits compares pivots, ties among them, with the pivots of an elimination in many bits,
// and enclosures with exact factors.
func TestLUByDigits(t *testing.T) {
	if lanes.Bits() == 0 {
		t.Skip("no lanes")
	}
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	found, none, ties, long, rounded := 0, 0, 0, 0, 0
	enough := func() bool { return found > 0 && none > 0 && ties > 0 && long > 0 && rounded > 0 }
	for trial := range testlength.Until(testlength.Of(40, 80, 1500), enough) {
		n := 1 + r.IntN(6)
		if trial%8 == 0 { // more than one panel
			n = 9 + r.IntN(9)
		}
		var a *halfulp.Matrix
		switch trial % 4 {
		case 0:
			a = lintest.Ill(r, halfulp.MP(200), n, r.IntN(150))
		case 1:
			a = lintest.Hard(r, n)
		case 2:
			a = lintest.Integers(r, n, n, 2)
		default: // pivots that differ by less than 2^-64, or by little more
			a = lintest.Integers(r, n, n, 1).Convert(halfulp.MP(200))
			for j := range n {
				for i := range n {
					x := a.Big(i, j)
					d := new(big.Float).SetMantExp(x, -60-r.IntN(12))
					a.SetBig(i, j, x.Add(x, d))
				}
			}
		}
		if bound.Far(a.View(), 1<<20) {
			continue
		}
		bits := 40 + r.IntN(300)
		if trial%6 == 0 { // more digits than solutions have, and pivots below 2^-860
			bits += 400 + r.IntN(1000)
			if trial%24 == 0 {
				a = lintest.Ill(r, halfulp.MP(1200), n, 300+r.IntN(700))
			}
		}
		name := fmt.Sprintf("seed %d, trial %d, n = %d, %d bits", draw, trial, n, bits)
		s := prooftest.Run(t, 1+trial%2)
		known := true // even if it is not: then there are none
		z, err := factors.LUByDigits(s, a.View(), bits, &known)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if z == nil {
			none++
			continue
		}
		found++
		order := z.Order
		u := ziv.NewUnknown(modular.Chosen(a.View(), order, call.All(n)), n, ziv.Ones(n), 0)
		for i := range n {
			for j := range n {
				w := ziv.Wanted{Part: ziv.OfU, I: i, J: j}
				if i > j {
					w.Part = ziv.OfL
				}
				u.Open = append(u.Open, w)
			}
		}
		e := z.Enclosure(u)
		if s.Stats.Precision > digits.MostDigits*lanes.Bits() {
			long++
		}
		g, err := seed.Eliminate(s, a.View(), n, 3000, true)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(order, g.Order) {
			t.Fatalf("%s: rows %v, want %v", name, order, g.Order)
		}
		if order, _ := lintest.ByPivots(a); !slices.Equal(order, g.Order) {
			ties++
		}
		lu, ok := lintest.Of(a).Rows(order).LU(n)
		if !ok {
			t.Fatalf("%s: a pivot is 0", name)
		}
		for i := range lu {
			for j, x := range lu[i] {
				y, k, l := e.U, i, j
				if i > j {
					y, k, l = e.L, j, i
				}
				if by := prooftest.Outside(y, k, l, new(big.Float).SetPrec(6000).SetRat(x)); by > 0 {
					t.Fatalf("%s: entry (%d, %d) of L and U lies outside by %g", name, i, j, by)
				}
			}
		}
		prooftest.CheckWidth(t, name, e.U, bits, 9)
		for i := range n {
			if e.L.Err[i] > int64(9-bits) {
				t.Fatalf("%s: row %d of L has errors of 2^%d", name, i, e.L.Err[i])
			}
		}
		format := halfulp.MP(uint(max(bits-20-r.IntN(20), halfulp.MinPrec)))
		to := struct{ L, U *halfulp.Matrix }{L: halfulp.NewMatrix(format, n, n), U: halfulp.NewMatrix(format, n, n)}
		lower, upper, ok, err := z.RoundTo(to.L.View(), to.U.View())
		if err != nil {
			t.Fatal(err)
		}
		if !ok && bits > 80 { // fewer bits do not show an entry that exceeds 1 by less than 2^-60
			t.Fatalf("%s: a multiplier that exceeds 1", name)
		}
		if !ok {
			continue
		}
		open := len(lower) + len(upper)
		rounded += n*n - open
		checkRounded(t, name, to.L, lower, func(i, j int) *big.Rat {
			switch {
			case i < j:
				return new(big.Rat)
			case i == j:
				return big.NewRat(1, 1)
			}
			return lu[i][j]
		})
		checkRounded(t, name, to.U, upper, func(i, j int) *big.Rat {
			if i > j {
				return new(big.Rat)
			}
			return lu[i][j]
		})
	}
	if !enough() {
		t.Fatalf("%d enclosures, %d of many digits, %d none, %d with other than the largest pivots, %d entries rounded", found, long, none, ties, rounded)
	}
}

// checkRounded compares the entries that are not open with the exact entries.
func checkRounded(t *testing.T, name string, z *halfulp.Matrix, open [][2]int, exact func(i, j int) *big.Rat) {
	t.Helper()
	for j := range z.Cols() {
		for i := range z.Rows() {
			if slices.Contains(open, [2]int{i, j}) {
				continue
			}
			if want := lintest.Nearest(z.NumberFormat(), exact(i, j)); !z.At(i, j).Same(want) {
				t.Fatalf("%s: entry (%d, %d) is %s, want %s", name, i, j, z.At(i, j).Hex(), want.Hex())
			}
		}
	}
}
