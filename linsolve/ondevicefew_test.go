package linsolve

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestOnDeviceFixed compares solutions of systems with one right-hand side on a device with
// rational solutions: for scaled matrices, nearly singular ones, and matrices whose solutions have
// zeros, ties or components far below others. Fixed point must have solved the well-conditioned
// systems.
func TestOnDeviceFixed(t *testing.T) {
	everywhere(t, 9, 9, func(t *testing.T, n int) {
		r := testseed.Rand(t, 11, 12)
		fixed := 0
		for trial := range 30 {
			f := []halfulp.Format{halfulp.Float64, halfulp.MP(106), halfulp.MP(300), halfulp.Float32, halfulp.DD}[trial%5]
			a, b := lintest.ScaledRandom(r, f, n, 30*(trial%3)), gallery.Random(f, n, 1, 10, r.Uint64())
			close, name := 4*(trial%12)-4, "random"
			if close > 0 { // the last column is about the first one
				name = fmt.Sprintf("nearly singular by 2^-%d", close)
				for i := range n {
					x, y := a.Big(i, 0), a.Big(i, n-1)
					a.SetBig(i, n-1, x.Add(x, y.SetMantExp(y, -close)))
				}
			}
			switch trial % 7 {
			case 1: // so that the solution has zeros
				for i := range n {
					b.SetBig(i, 0, a.Big(i, 1))
				}
				name += ", a column"
			case 2: // far below others
				b.SetBig(0, 0, new(big.Float).SetMantExp(b.Big(0, 0), 60))
				name += ", graded"
			}
			x := put(t, halfulp.NewMatrix(f, n, 1))
			var stats halfulp.Stats
			err := lintest.Into(x)(Solve(put(t, a), put(t, b), x.NumberFormat(), &halfulp.Options{Stats: &stats}))
			want := lintest.Of(a).Solve(lintest.Of(b))
			if want == nil && errors.Is(err, ErrSingular) { // as it was rounded
				continue
			}
			if err != nil {
				t.Fatalf("%s, %v: %v", name, f, err)
			}
			got, err := x.Host()
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if z := lintest.Nearest(f, want[i][0]); !got.At(i, 0).Same(z) {
					t.Fatalf("trial %d: %s, %v: entry %d is %s, want %s (%+v)", trial, name, f, i, got.At(i, 0).Hex(), z.Hex(), stats)
				}
			}
			if close <= 0 && trial%7 != 1 && stats.Precision%64 == 0 && stats.Stages[len(stats.Stages)-1].Name == "rounding" {
				fixed++
			}
		}
		if fixed < 5 {
			t.Errorf("fixed point made %d solutions", fixed)
		}
	})
}
