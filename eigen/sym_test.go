package eigen_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/linsolve"
)

func ExampleSym() {
	a := halfulp.NewMatrix(halfulp.Float64, 2, 2)
	for i, x := range []float64{2, 1, 1, 2} {
		a.SetFloat64(i/2, i%2, x)
	}
	z, err := eigen.Sym(a, halfulp.Float64, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(z.Values)
	fmt.Println(z.Vectors)
	// Output:
	// 1
	// 3
	//  0.7071067811865476 0.7071067811865476
	// -0.7071067811865476 0.7071067811865476
}

func TestSymErrors(t *testing.T) {
	a := gallery.Hilbert(halfulp.Float64, 3)
	a.SetFloat64(0, 2, 7)
	if _, err := eigen.Sym(a, halfulp.Float64, nil); !errors.Is(err, linsolve.ErrNotSymmetric) {
		t.Error(err)
	}
}

// TestSymBlocks compares the spectrum of a permuted block diagonal matrix with equal blocks.
func TestSymBlocks(t *testing.T) {
	const n = 7
	a := halfulp.NewMatrix(halfulp.Float64, n, n)
	for _, p := range [][2]int{{0, 5}, {2, 6}, {1, 3}} { // 2 x 2 blocks with eigenvalues 1 and 3
		for _, i := range p {
			a.SetFloat64(i, i, 2)
		}
		a.SetFloat64(p[0], p[1], 1)
		a.SetFloat64(p[1], p[0], 1)
	}
	a.SetFloat64(4, 4, 3)
	var st halfulp.Stats
	z, err := eigen.Sym(a, halfulp.Float64, &eigen.SymOptions{Options: halfulp.Options{Stats: &st}})
	if err != nil {
		t.Fatal(err)
	}
	if got := z.Values.String(); got != "1\n1\n1\n3\n3\n3\n3" || st.Proof.Undecided != 0 {
		t.Errorf("%v, %d undecided", got, st.Proof.Undecided)
	}
	if got := fmt.Sprint(z.Clusters); got != "[[0 2] [3 6]]" {
		t.Errorf("clusters %v", got)
	}
	// Blocks come in the order of their first indices, and vectors are 0 outside of their block.
	for j, block := range [][]int{{0, 5}, {1, 3}, {2, 6}, {0, 5}, {1, 3}, {2, 6}, {4}} {
		for i := range n {
			if (z.Vectors.Float64(i, j) != 0) != slices.Contains(block, i) {
				t.Errorf("entry (%d, %d) of\n%v", i, j, z.Vectors)
			}
		}
	}
}

// TestSymFirst selects eigenvalues of matrices with blocks that have none in the interval.
func TestSymFirst(t *testing.T) {
	a := halfulp.NewMatrix(halfulp.Float64, 4, 4)
	for i, x := range []float64{2, 1, 4, 3} {
		a.SetFloat64(i, i, x)
	}
	a.SetFloat64(0, 1, 0.5) // the eigenvalues of the first block are 0.79 and 2.2
	a.SetFloat64(1, 0, 0.5)
	for _, c := range []struct {
		above, upTo  float64
		first, count int
	}{{0, 1, 0, 1}, {1, 3, 1, 2}, {1, 2, 1, 0}, {3, 4, 3, 1}, {5, 6, 4, 0}, {-2, -1, 0, 0}, {0, 9, 0, 4}} {
		above, upTo := halfulp.Float(c.above), halfulp.Float(c.upTo)
		z, err := eigen.Sym(a, halfulp.Float64, &eigen.SymOptions{Above: &above, UpTo: &upTo})
		if err != nil {
			t.Fatal(err)
		}
		if z.First != c.first || z.Values.Len() != c.count {
			t.Errorf("(%v, %v]: %d eigenvalues from position %d, want %d from %d", c.above, c.upTo, z.Values.Len(), z.First, c.count, c.first)
		}
	}
}

// TestClusterAcrossValues checks that a cluster whose eigenvalues differ is named as one cluster
// in a matrix of several blocks too.
func TestClusterAcrossValues(t *testing.T) {
	const tiny = 0x1p-400
	c := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 1, 0, 0}, {1, 1, tiny, 0}, {0, tiny, tiny, 0}, {0, 0, 0, 0}})
	z, err := eigen.Sym(c, halfulp.Float64, nil)
	if err != nil || len(z.Clusters) != 1 || z.Clusters[0] != [2]int{0, 2} {
		t.Fatalf("%v, clusters %v\n%v\n%v", err, z.Clusters, z.Values, z.Vectors)
	}
}
