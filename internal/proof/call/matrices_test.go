package call_test

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
)

// TestMatricesInUsedRoom checks that matrices in the memory of released matrices are zero, and that
// the released matrices no longer have numbers.
func TestMatricesInUsedRoom(t *testing.T) {
	s := prooftest.Run(t, 1)
	last := new(big.Float).Quo(big.NewFloat(1), big.NewFloat(-3))
	fill := func(f halfulp.Format, m, n int) *halfulp.Matrix {
		z := halfulp.MatrixOf(s.MatrixHere(f.View(), m, n))
		if !z.Same(halfulp.NewMatrix(f, m, n)) || z.NumberFormat() != f {
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
		s.Drop(first.View()) // a second Drop does nothing
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
