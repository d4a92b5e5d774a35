package linsolve

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

func TestPow(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range lintest.Formats {
		for trial := range testlength.Of(10, 20, 200) {
			n, e := r.IntN(6), r.IntN(12)
			a := lintest.Integers(r, n, n, 2)
			if trial%2 == 0 {
				a = gallery.Random(lintest.Formats[r.IntN(len(lintest.Formats))], n, n, r.IntN(10), r.Uint64())
			}
			if trial%3 == 0 {
				a = a.Convert(f)
			}
			want := lintest.Of(a).Pow(e)
			var stats halfulp.Stats
			x, err := Pow(a, e, f, &halfulp.Options{Stats: &stats})
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j := range n {
					if z := lintest.Nearest(f, want[i][j]); !x.At(i, j).Same(z) {
						t.Fatalf("seed %d, %v, n = %d, e = %d: entry %d, %d is %s, want %s (%+v)", seed, f, n, e, i, j, x.At(i, j).Hex(), z.Hex(), stats)
					}
				}
			}
		}
	}
}

// TestNullSpace compares with elimination in rationals, whose pivots lie as far left as possible.
func TestNullSpace(t *testing.T) {
	r := testseed.Rand(t, 5, 6)
	for _, f := range lintest.Formats {
		for range testlength.Of(10, 20, 200) {
			m, n, k := r.IntN(7), r.IntN(7), r.IntN(5)
			a := halfulp.NewMatrix(halfulp.Float64, m, n)
			if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), lintest.Integers(r, m, k, 5), lintest.Integers(r, k, n, 5),
				halfulp.Float(0), nil, a, nil); err != nil {
				t.Fatal(err)
			}
			rows, cols, _ := lintest.Of(a).Reduce(n)
			var stats halfulp.Stats
			z, err := NullSpace(a, f, &halfulp.Options{Stats: &stats})
			if err != nil || z.Rows() != n || z.Cols() != n-len(cols) {
				t.Fatalf("%d x %d, rank %d: %d x %d, %v", m, n, len(cols), z.Rows(), z.Cols(), err)
			}
			free := 0
			for j := range n {
				if slices.Contains(cols, j) {
					continue
				}
				for i := range n {
					want := new(big.Rat)
					if i == j {
						want.SetInt64(1)
					}
					for p, c := range cols {
						if c == i {
							want.Neg(rows[p][j])
						}
					}
					if w := lintest.Nearest(f, want); !z.At(i, free).Same(w) {
						t.Fatalf("%v, %d x %d: entry %d, %d is %s, want %s (%+v)", f, m, n, i, free, z.At(i, free).Hex(), w.Hex(), stats)
					}
				}
				free++
			}
		}
	}
}

func TestCond(t *testing.T) {
	r := testseed.Rand(t, 7, 8)
	for _, f := range lintest.Formats {
		for range testlength.Of(5, 10, 100) {
			n := 1 + r.IntN(6)
			a := gallery.Random(halfulp.DD, n, n, r.IntN(20), r.Uint64())
			inverse := lintest.Of(a).Solve(lintest.Identity(n))
			for _, norm := range []halfulp.Norm{halfulp.OneNorm, halfulp.InfNorm} {
				of := func(m lintest.Matrix) *big.Rat {
					if norm == halfulp.OneNorm {
						m = m.T(n)
					}
					return m.Norm()
				}
				want := new(big.Rat).Mul(of(lintest.Of(a)), of(inverse))
				var stats halfulp.Stats
				got, err := Cond(norm, a, f, &halfulp.Options{Stats: &stats})
				if err != nil {
					t.Fatal(err)
				}
				if z := lintest.Nearest(f, want); !got.Same(z) {
					t.Fatalf("%v: %v, want %v (%+v)", f, got, z, stats)
				}
			}
		}
		for want, x := range map[float64][]float64{1: {1, 0, 0, 1}, 2: {1, 1, 1, -1}, math.Inf(1): {0, 0, 0, 0}} {
			a := halfulp.NewMatrixFloat64(2, 2, 2, x)
			if z, err := Cond(halfulp.InfNorm, a, f, nil); err != nil || z.Float64() != want {
				t.Fatalf("%v: %v, %v, want %g", x, z, err, want)
			}
		}
	}
	// [2 1; 1 1] and its inverse have the norm 3: 9 lies halfway between 8 and 10, of 3 bits.
	a := halfulp.NewMatrixFloat64(2, 2, 2, []float64{2, 1, 1, 1})
	if z, err := Cond(halfulp.OneNorm, a, halfulp.MP(3), nil); err != nil || z.Float64() != 8 {
		t.Fatalf("%v, %v, want 8", z, err)
	}
}
