package linsolve

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestMatricesInUsedRoom takes matrices in the room of others: they are of zeros, whatever those
// held, and those have no numbers any more.
func TestMatricesInUsedRoom(t *testing.T) {
	s := testSolver(t, 1)
	last := new(big.Float).Quo(big.NewFloat(1), big.NewFloat(-3))
	fill := func(f halfulp.Format, m, n int) *halfulp.Matrix {
		z := halfulp.MatrixOf(s.MatrixHere(f.View(), m, n))
		if !z.Same(halfulp.NewMatrix(f, m, n)) || z.Format() != f {
			t.Fatalf("%d x %d numbers of %v are not zeros", m, n, f)
		}
		a := z.View().Arr
		for _, x := range a.Sig {
			if x != 0 {
				t.Fatalf("words of %d x %d numbers of %v are not zeros", m, n, f)
			}
		}
		for i := range m {
			for j := range n {
				z.SetBig(i, j, last)
			}
		}
		return halfulp.MatrixOf(z.View())
	}
	for range 3 {
		s.Reuse = true
		first := fill(halfulp.MP(300), 30, 40)
		s.Drop(first.View())
		if first.View().Arr.Sig != nil {
			t.Fatal("a matrix that was dropped has numbers")
		}
		s.Drop(first.View()) // once more, it does nothing
		second := fill(halfulp.MP(290), 40, 29)
		third := fill(halfulp.MP(300), 30, 40)
		if &second.View().Arr.Sig[0] == &third.View().Arr.Sig[0] {
			t.Fatal("two matrices share room")
		}
		fill(halfulp.MP(24), 1, 1)
		fill(halfulp.Float64, 3, 3)
		kept := halfulp.NewMatrix(halfulp.MP(300), 30, 40)
		s.Drop(kept.View()) // of others
		if kept.View().Arr.Sig == nil {
			t.Fatal("a matrix of others was given away")
		}
		s.Release()
		if third.View().Arr.Sig != nil {
			t.Fatal("a matrix has numbers after the release")
		}
		s.Drop(third.View())
		outlives := fill(halfulp.MP(300), 30, 40)
		s.Release()
		if outlives.View().Arr.Sig == nil {
			t.Fatal("a matrix that may outlive the solver was given away")
		}
	}
}

// TestUnitMatrixLasts takes a unit matrix, and has routines take and give back numbers of as many:
// the matrix stays what it is until the run's Release.
func TestUnitMatrixLasts(t *testing.T) {
	const n = seed.Fewest + 3
	s := testSolver(t, 2)
	a := gramIn(t, halfulp.MP(100), n, 0, 1)
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
