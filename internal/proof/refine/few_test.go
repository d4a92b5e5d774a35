package refine_test

import (
	"runtime"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/refine"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// idle is an inverse whose corrections vanish after the first one.
type idle struct{ seed.Inverse }

func (t idle) Correct(r *seed.Residual) ([][]float64, error) {
	z, err := t.Inverse.Correct(r)
	if r.X != nil {
		clear(z[0])
	}
	return z, err
}

// TestNoCorrection checks that refinement gives up where corrections vanish and the residual does
// not.
func TestNoCorrection(t *testing.T) {
	const n = 5
	a, b := gallery.Random(halfulp.Float64, n, n, 0, 1), gallery.Random(halfulp.Float64, n, 1, 0, 2)
	z := halfulp.NewMatrix(halfulp.Float64, n, 1)
	s := prooftest.Run(t, runtime.GOMAXPROCS(0))
	lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := seed.InvertTriangles(s, lu)
	if err != nil || r == nil {
		t.Fatalf("no inverse: %v", err)
	}
	todo := ziv.NewEntries(s, a.View(), b.View(), z.View())
	if err := refine.SolveFew(s, a.View(), b.View(), z.View(), idle{r}, todo); err != nil || ziv.CountOpen(todo) != n {
		t.Errorf("%d entries are left, %v", ziv.CountOpen(todo), err)
	}
}
