package factors_test

import (
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestUnitMatrixLasts takes an identity matrix, then lets routines take and return as many numbers:
// the matrix must not change until the Release of the run.
func TestUnitMatrixLasts(t *testing.T) {
	const n = seed.Fewest + 3
	s := prooftest.Run(t, 2)
	a := lintest.Gram(gallery.Random(halfulp.MP(100), n, n, 0, 1)).Convert(halfulp.MP(100))
	one, other := s.IdentityHere(n), s.IdentityHere(n+1)
	for range 3 {
		end := s.Temporary()
		x := s.Floats(n * n)
		for i := range x {
			x[i] = 3
		}
		end()
		if _, err := factors.NewCholeskyNewton(s, a.View(), n, bound.MaxBits); err != nil {
			t.Fatal(err)
		}
		if _, err := factors.NewPivoted(s, a.View(), bound.MaxBits); err != nil {
			t.Fatal(err)
		}
		x = s.Floats(n * n)
		for i := range x {
			x[i] = 5
		}
		for _, m := range []num.Mat{one, other, s.IdentityHere(n)} {
			if !halfulp.MatrixOf(m).Same(halfulp.Identity(halfulp.Float64, m.Rows)) {
				t.Fatalf("the unit matrix of order %d is another one", m.Rows)
			}
		}
	}
	s.Release()
}
