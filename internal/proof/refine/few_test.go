package refine_test

import (
	"runtime"
	"sync/atomic"
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

// counted is an inverse that counts the corrections of its copies for single threads.
type counted struct {
	seed.Inverse
	alone       func() seed.Inverse
	corrections *atomic.Int64
}

func (c counted) Alone() seed.Inverse { return counted{Inverse: c.alone(), corrections: c.corrections} }

func (c counted) Correct(r *seed.Residual) ([][]float64, error) {
	if c.alone == nil {
		c.corrections.Add(1)
	}
	return c.Inverse.Correct(r)
}

// TestColumnsTogether checks that threads solve columns at the same time, with the bits of one
// thread, and that columns with exact zeros are left to the steps that prove these.
func TestColumnsTogether(t *testing.T) {
	const n, k = 40, 8
	a, b := gallery.Random(halfulp.Float64, n, n, 0, 1), gallery.Random(halfulp.Float64, n, k, 0, 2)
	for i := range n { // two columns of A: their solutions are columns of the identity
		b.Set(i, 2, a.At(i, 5))
		b.Set(i, 7, a.At(i, 0))
	}
	solve := func(threads int, multiplied bool) (*halfulp.Matrix, int64) {
		z := halfulp.NewMatrix(halfulp.Float64, n, k)
		s := prooftest.Run(t, threads)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		triangles, err := seed.InvertTriangles(s, lu)
		if err != nil || triangles == nil {
			t.Fatalf("no inverse: %v", err)
		}
		r := counted{Inverse: triangles, alone: triangles.Alone, corrections: new(atomic.Int64)}
		if multiplied {
			f, err := seed.NewFloatInverse(s, a.View(), triangles)
			if err != nil {
				t.Fatal(err)
			}
			r.Inverse, r.alone = f, f.Alone
		}
		todo := ziv.NewEntries(s, a.View(), b.View(), z.View())
		if err := refine.SolveFew(s, a.View(), b.View(), z.View(), r, todo); err != nil || ziv.CountOpen(todo) > 0 {
			t.Fatalf("%d entries are left, %v", ziv.CountOpen(todo), err)
		}
		return z, r.corrections.Load()
	}
	for _, multiplied := range []bool{false, true} {
		want, none := solve(1, multiplied)
		got, some := solve(3, multiplied)
		if none != 0 || some < k-1 {
			t.Errorf("multiplied %v: %d corrections by copies on one thread, %d on three", multiplied, none, some)
		}
		for i := range n {
			for j := range k {
				if !got.At(i, j).Same(want.At(i, j)) {
					t.Fatalf("multiplied %v: entry %d, %d is %s, want %s", multiplied, i, j, got.At(i, j), want.At(i, j))
				}
			}
			if one := got.At(i, 2).Float64(); (i == 5) != (one == 1) || i != 5 && one != 0 {
				t.Fatalf("entry %d of a column of the identity is %g", i, one)
			}
		}
	}
}
