package eigen_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/gallery"
)

func ExampleSVD() {
	a := halfulp.NewMatrix(halfulp.Float64, 3, 2)
	for i, x := range []float64{1, 2, 3, 4, 5, 6} {
		a.SetFloat64(i/2, i%2, x)
	}
	z, err := eigen.SVD(a, halfulp.Float64, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(z.S)
	// Output:
	// 9.525518091565107
	// 0.5143005806586443
}

func ExampleNorm2() {
	x, err := eigen.Norm2(gallery.Hilbert(halfulp.Float64, 3), halfulp.Float64, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(x)
	// Output: 1.408318927123654
}

// lowRank returns an m x n matrix of rank at most r, a sum of r products of vectors with integers
// from -most to most.
func lowRank(rng *rand.Rand, m, n, r, most int) *halfulp.Matrix {
	a := halfulp.NewMatrix(halfulp.Float64, m, n)
	for range r {
		u, v := make([]float64, m), make([]float64, n)
		for _, x := range [][]float64{u, v} {
			for i := range x {
				x[i] = float64(rng.IntN(2*most+1) - most)
			}
		}
		for i := range m {
			for j := range n {
				a.SetFloat64(i, j, a.Float64(i, j)+float64(u[i]*v[j]))
			}
		}
	}
	return a
}

// TestSVD checks A = U diag(S) Vᵀ and that U and V are orthonormal, up to the rounding of results
// in many bits, for matrices of all shapes and ranks.
func TestSVD(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for trial := range 60 {
		m, n, r := rng.IntN(6), rng.IntN(6), rng.IntN(6)
		a := lowRank(rng, m, n, r, 3)
		f := halfulp.MP(100)
		z, err := eigen.SVD(a, f, &eigen.SVDOptions{Full: trial%2 == 0})
		if err != nil {
			t.Fatalf("%d x %d: %v\n%v", m, n, err, a)
		}
		k := min(m, n)
		if trial%2 == 0 && (z.U.Cols() != m && m >= n || z.V.Cols() != n && n >= m) {
			t.Fatalf("%d x %d: U has %d columns, V %d", m, n, z.U.Cols(), z.V.Cols())
		}
		d := halfulp.NewMatrix(f, z.U.Cols(), z.V.Cols())
		for i := range k {
			d.Set(i, i, z.S.At(i))
		}
		us, _ := halfulp.Mul(z.U, d, f, nil)
		b, _ := halfulp.Mul(us, z.V.T(), f, nil)
		for i := range m {
			for j := range n {
				if e := math.Abs(b.Float64(i, j) - a.Float64(i, j)); e > 1e-20 {
					t.Fatalf("%d x %d, rank %d: entry (%d, %d) is off by %g\nA\n%v\nS %v\nU\n%v\nV\n%v", m, n, r, i, j, e, a, z.S, z.U, z.V)
				}
			}
		}
		for _, q := range []*halfulp.Matrix{z.U, z.V} {
			g, _ := halfulp.Mul(q.T(), q, f, nil)
			for i := range g.Rows() {
				for j := range g.Cols() {
					want := 0.0
					if i == j {
						want = 1
					}
					if e := math.Abs(g.Float64(i, j) - want); e > 1e-25 {
						t.Fatalf("%d x %d: not orthonormal at (%d, %d): %g\nA\n%v\nS %v\n%v", m, n, i, j, e, a, z.S, q)
					}
				}
			}
		}
	}
}

// TestCompletedVectors checks that the zeros above the pivots of a Cholesky factor, of the vectors
// that complete an orthonormal basis, are proved.
func TestCompletedVectors(t *testing.T) {
	a := halfulp.NewMatrix(halfulp.Float64, 5, 2)
	for i, x := range []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 4} {
		a.SetFloat64(i/2, i%2, x)
	}
	var st halfulp.Stats
	z, err := eigen.SVD(a, halfulp.Float64, &eigen.SVDOptions{Full: true, Options: halfulp.Options{Stats: &st}})
	if err != nil || z.U.Cols() != 5 || st.Undecided != 0 {
		t.Errorf("%v, %d undecided\n%v", err, st.Undecided, z.U)
	}
}
