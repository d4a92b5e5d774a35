package eigen_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve"
)

func ExampleSymGeneral() {
	a, b := halfulp.NewMatrix(halfulp.Float64, 2, 2), gallery.Hilbert(halfulp.MP(300), 2)
	for i, x := range []float64{2, 1, 1, 2} {
		a.SetFloat64(i/2, i%2, x)
	}
	z, err := eigen.SymGeneral(a, b, halfulp.Float64, nil) // A x = λ B x
	if err != nil {
		panic(err)
	}
	fmt.Println(z.Values)
	// Output:
	// 2
	// 18
}

// TestSymGeneral compares eigenvalues with exact ones: A x = λ B x has an eigenvalue below m for
// each negative eigenvalue of A - m B.
func TestSymGeneral(t *testing.T) {
	rng := testseed.Rand(t, 21, 22)
	for trial := range 40 {
		n := 1 + rng.IntN(5)
		a, b := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.MP(200), n, n)
		for i := range n {
			for j := range i + 1 {
				x := float64(rng.IntN(7) - 3)
				a.SetFloat64(i, j, x)
				a.SetFloat64(j, i, x)
			}
		}
		switch trial % 3 {
		case 0:
			b = gallery.Hilbert(halfulp.MP(200), n)
		case 1:
			b.CopyFrom(halfulp.Identity(halfulp.MP(200), n))
		default:
			for i := range n {
				b.SetFloat64(i, i, 5)
				if i > 0 {
					b.SetFloat64(i, i-1, 1)
					b.SetFloat64(i-1, i, 1)
				}
			}
		}
		f := []halfulp.Format{halfulp.Float64, halfulp.Float32, halfulp.MP(150)}[rng.IntN(3)]
		z, err := eigen.SymGeneral(a, b, f, nil)
		if err != nil {
			t.Fatalf("%v\n%v\n%v", err, a, b)
		}
		x, y := lintest.Of(a), lintest.Of(b)
		for p := range n {
			if got := z.Values.At(p); !got.Same(x.Pencil(y, f, p, got)) {
				t.Fatalf("eigenvalue %d in %v is %v, want %v\n%v\n%v", p, f, got, x.Pencil(y, f, p, got), a, b)
			}
		}
		// Vectors: Xᵀ B X = I, up to roundings.
		bx, _ := halfulp.Mul(b, z.Vectors, halfulp.MP(300), nil)
		g, _ := halfulp.Mul(z.Vectors.T(), bx, halfulp.MP(300), nil)
		for i := range n {
			for j := range n {
				want := 0.0
				if i == j {
					want = 1
				}
				if d := math.Abs(g.Float64(i, j) - want); d > 1e-2 && f.Bits() < 50 && trial%3 != 0 || d > 1e-20 && f.Bits() == 150 {
					t.Fatalf("not orthonormal: entry (%d, %d) is %g\n%v\n%v", i, j, g.Float64(i, j), a, b)
				}
			}
		}
	}
}

func TestSymGeneralErrors(t *testing.T) {
	a, b := gallery.Hilbert(halfulp.Float64, 4), gallery.Hilbert(halfulp.Float64, 4)
	b.SetFloat64(2, 2, -1)
	var indefinite *linsolve.NotPositiveDefiniteError
	if _, err := eigen.SymGeneral(a, b, halfulp.Float64, nil); !errors.As(err, &indefinite) || indefinite.Order != 3 {
		t.Error(err)
	}
	// Blocks of B: the minor is the one of B itself.
	c := halfulp.Identity(halfulp.Float64, 4)
	c.SetFloat64(3, 3, 0)
	if _, err := eigen.SymGeneral(c, c, halfulp.Float64, nil); !errors.As(err, &indefinite) || indefinite.Order != 4 {
		t.Error(err)
	}
	b.SetFloat64(0, 1, 7)
	if _, err := eigen.SymGeneral(a, b, halfulp.Float64, nil); !errors.Is(err, linsolve.ErrNotSymmetric) {
		t.Error(err)
	}
}

// TestSymGeneralCluster has one eigenvalue of full multiplicity, with a B that is ill-conditioned:
// the basis X of all vectors satisfies Xᵀ B X = I.
func TestSymGeneralCluster(t *testing.T) {
	for _, n := range []int{3, 7} {
		b := gallery.Hilbert(halfulp.MP(300), n)
		z, err := eigen.SymGeneral(b, b, halfulp.MP(200), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(z.Clusters) != 1 || z.Clusters[0] != [2]int{0, n - 1} {
			t.Errorf("clusters %v", z.Clusters)
		}
		bx, _ := halfulp.Mul(b, z.Vectors, halfulp.MP(500), nil)
		g, _ := halfulp.Mul(z.Vectors.T(), bx, halfulp.MP(500), nil)
		for i := range n {
			if z.Values.Float64(i) != 1 {
				t.Errorf("eigenvalue %d is %v", i, z.Values.At(i))
			}
			for j := range n {
				want := 0.0
				if i == j {
					want = 1
				}
				if d := math.Abs(g.Float64(i, j) - want); d > 1e-12 {
					t.Errorf("n = %d: entry (%d, %d) of Xᵀ B X is %g", n, i, j, g.Float64(i, j))
				}
			}
		}
	}
}

// TestSymGeneralHilbert compares A x = λ B x for a B with a condition number beyond 1e16 with exact
// counts of eigenvalues below the ends of the intervals that round to the results.
func TestSymGeneralHilbert(t *testing.T) {
	for _, n := range []int{20, 60} { // condition numbers 1e28 and 1e89
		a, b := halfulp.NewMatrix(halfulp.Float64, n, n), gallery.Hilbert(halfulp.MP(400), n)
		r := gallery.Random(halfulp.Float64, n, n, 4, testseed.Of(t))
		for i := range n {
			for j := range n {
				a.SetFloat64(i, j, r.Float64(i, j)+r.Float64(j, i))
			}
		}
		z, err := eigen.SymGeneral(a, b, halfulp.Float64, &eigen.SymOptions{ValuesOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		positions := []int{0, n - 1, 1, n / 2}[:testlength.Of(2, 2, 4)]
		for _, p := range positions {
			v := z.Values.Float64(p)
			// The inertia of A - m B in the middle of v and its neighbours.
			for i, m := range []float64{math.Nextafter(v, math.Inf(-1)), math.Nextafter(v, math.Inf(1))} {
				middle := new(big.Float).SetPrec(60).Add(big.NewFloat(v), big.NewFloat(m))
				middle.SetMantExp(middle, -1)
				shifted := halfulp.NewMatrix(halfulp.MP(1000), n, n)
				for i := range n {
					for j := range n {
						x := new(big.Float).SetPrec(1000).Mul(middle, b.Big(i, j))
						shifted.SetBig(i, j, x.Sub(a.Big(i, j), x))
					}
				}
				if below := negativePivots(t, shifted); i == 0 && below > p || i == 1 && below <= p {
					t.Errorf("n = %d: %d eigenvalues below the middle %v, eigenvalue %d is %v", n, below, middle, p, v)
				}
			}
		}
	}
}

// negativePivots returns the number of negative pivots of a symmetric matrix, by elimination in
// 4000 bits.
func negativePivots(t *testing.T, a *halfulp.Matrix) (count int) {
	t.Helper()
	n := a.Rows()
	x := make([][]*big.Float, n)
	for i := range x {
		for j := range n {
			x[i] = append(x[i], new(big.Float).SetPrec(4000).Set(a.Big(i, j)))
		}
	}
	for k := range n {
		if x[k][k].Sign() == 0 || x[k][k].MantExp(nil) < -2000 {
			t.Fatal("no pivot")
		}
		if x[k][k].Sign() < 0 {
			count++
		}
		for i := k + 1; i < n; i++ {
			f := new(big.Float).Quo(x[i][k], x[k][k])
			for j := k + 1; j <= i; j++ {
				y := new(big.Float).Mul(f, x[j][k])
				x[i][j].Sub(x[i][j], y)
			}
		}
	}
	return count
}
