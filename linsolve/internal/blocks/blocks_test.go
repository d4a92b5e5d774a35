package blocks_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// TestDetBlocks encloses determinants by blocks down to several orders, and in digits. The exact
// determinants lie inside, and the ends are near each other.
func TestDetBlocks(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 1))
	const inDigits = -1 // in place of an order
	for trial := range testlength.Of(1, 2, 10) {
		n := 6 + r.IntN(testlength.Of(10, 10, 30))
		far := lintest.ScaledRandom(r, halfulp.MP(80), n, 300)
		for name, a := range map[string]*halfulp.Matrix{
			"random":     gallery.Random(halfulp.MP(150), n, n, 0, r.Uint64()),
			"graded":     far,
			"growing":    lintest.Growing(r, n),
			"unimodular": lintest.Unimodular(r, n),
			"integers":   lintest.Integers(r, n, n, 9),
			"signs":      lintest.Integers(r, n, n, 1),
			"identity":   halfulp.Identity(halfulp.Float64, n),
			"triangular": lintest.Triangular(r, n),
		} {
			want := lintest.Of(a).Det()
			for _, leaf := range []int{1, 2, 5, n, inDigits} {
				for _, bits := range []int{40, 150, 700} {
					name := fmt.Sprintf("seed %d, %s, n = %d, leaf %d, %d bits", draw, name, n, leaf, bits)
					s := prooftest.Run(t, runtime.GOMAXPROCS(0))
					f, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
					if err != nil {
						t.Fatal(err)
					}
					var d *seed.Determinant
					if leaf == inDigits {
						d, _, err = digits.Determinant(s, a.View(), f, 40+bits, bits)
						err = seed.UnlessShort(err)
					} else {
						d, err = blocks.Determinant(s, a.View(), f, bits, leaf, 1+(trial+leaf)%3)
					}
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if d == nil {
						if random := strings.Contains(name, "random"); random && (leaf != inDigits || lanes.Bits() > 0) {
							t.Errorf("%s: none", name)
						}
						continue
					}
					if d.Log.Cmp(bound.Exp2(-bits+4)) > 0 {
						t.Errorf("%s: log %v", name, d.Log)
					}
					// |want / (mid 2^shift) - 1| ≤ 2 log
					mid, _ := d.Mid.Rat(nil)
					power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(d.Shift, -d.Shift))))
					if d.Shift < 0 {
						power.Inv(power)
					}
					off := new(big.Rat).Quo(want, mid.Mul(mid, power))
					off.Abs(off.Sub(off, big.NewRat(1, 1)))
					if most, _ := d.Log.Rat(nil); off.Cmp(most.Add(most, most)) > 0 {
						t.Fatalf("%s: off by %v of itself, log %v", name, lintest.Nearest(halfulp.Float64, off), d.Log)
					}
				}
			}
		}
	}
}

// TestMultiplyFixed compares products with exact integers, for words that carry far.
func TestMultiplyFixed(t *testing.T) {
	r := testseed.Rand(t, 3, 1)
	word := func() uint64 {
		return []uint64{0, 1, math.MaxUint64, math.MaxUint64 - 1, 1 << 63, r.Uint64()}[r.IntN(6)]
	}
	for range testlength.Of(2000, 4000, 200000) {
		w := 2 + r.IntN(5)
		if r.IntN(8) == 0 { // so many words that the words left out add more than a unit
			w = 20
		}
		headroom := []uint{16, 62}[r.IntN(2)]
		x, y, z := make([]uint64, w), make([]uint64, w), make([]uint64, w)
		for i := range w {
			if x[i], y[i] = word(), word(); w == 20 {
				x[i], y[i] = x[i]|1<<63, y[i]|1<<63
			}
		}
		// Numbers below 2^most have these leading zeros.
		for _, v := range [][]uint64{x, y} {
			v[w-1] >>= headroom/2 + 1
		}
		blocks.MultiplyFixed(z, x, y, headroom)
		want := new(big.Int).Mul(blocks.Natural(new(big.Int), x), blocks.Natural(new(big.Int), y))
		want.Rsh(want, uint(64*w)-headroom)
		most := (&blocks.FixedLU{Words: w, Headroom: headroom}).Lost()
		if d := want.Sub(want, blocks.Natural(new(big.Int), z)); d.Sign() < 0 || d.Cmp(big.NewInt(int64(most))) >= 0 {
			t.Fatalf("%d words, headroom %d: %x times %x is off by %v", w, headroom, x, y, d)
		}
	}
}
