package linsolve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testlength"
)

// TestWays solves systems in every way: all have the same bits. Every way decides something.
func TestWays(t *testing.T) {
	formats := []halfulp.Format{halfulp.Float64, halfulp.MP(106), halfulp.DD, halfulp.MP(424)}
	solved := map[string]int{}
	for trial, n := range []int{3, 30, 70}[:testlength.Of(2, 3, 3)] {
		matrices := map[string]*halfulp.Matrix{
			"random":  halfulp.Random(halfulp.Float64, n, n, 0, uint64(trial)),
			"spread":  halfulp.Random(halfulp.MP(70), n, n, 40, uint64(trial)+10),
			"Hilbert": halfulp.Hilbert(halfulp.MP(300), min(n, 40)),
		}
		for name, a := range matrices {
			order := a.Rows()
			for _, f := range formats {
				for _, columns := range []int{1, order} {
					b := halfulp.Random(halfulp.Float64, order, columns, 3, 5)
					if columns == order {
						b = halfulp.Identity(halfulp.Float64, order)
					}
					want := halfulp.NewMatrix(f, order, columns)
					if _, err := Solve(a, b, want, nil); err != nil {
						t.Fatal(err)
					}
					for _, way := range call.SystemWays {
						x := halfulp.NewMatrix(f, order, columns)
						what := fmt.Sprintf("%s %d, %v, %d columns by %s", name, order, f, columns, way)
						_, err := Solve(a, b, x, &halfulp.Options{Context: call.Forcing(context.Background(), way)})
						if errors.Is(err, call.ErrWay) {
							continue
						}
						if err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						if !x.Same(want) {
							t.Errorf("%s: other bits", what)
						}
						solved[way]++
					}
				}
			}
		}
	}
	for _, way := range call.SystemWays {
		if solved[way] == 0 {
			t.Errorf("%s: no problem", way)
		}
	}
	a := halfulp.Random(halfulp.Float64, 3, 3, 0, 1)
	_, err := Solve(a, a, halfulp.NewMatrix(halfulp.Float64, 3, 3), &halfulp.Options{Context: call.Forcing(context.Background(), call.ByDigits)})
	if !errors.Is(err, call.ErrWay) {
		t.Errorf("digits for no inverse: %v", err)
	}
	if i := slices.Index(call.SystemWays, call.ByProducts); i != len(call.SystemWays)-1 {
		t.Errorf("products are way %d", i)
	}
}
