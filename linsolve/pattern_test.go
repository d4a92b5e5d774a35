package linsolve

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// sparse returns a random matrix with zeros in a share of its places, at random or above a
// diagonal, in random order.
func sparse(r *rand.Rand, f halfulp.Format, n int, share float64) *halfulp.Matrix {
	a := halfulp.Random(f, n, n, 0, r.Uint64())
	z := halfulp.NewMatrix(f, n, n)
	rows, cols, block := r.Perm(n), r.Perm(n), 1+r.IntN(n)
	for i := range n {
		for j := range n {
			if i/block < j/block || i != j && r.Float64() < share {
				continue
			}
			z.Set(rows[i], cols[j], a.At(i, j))
		}
	}
	return z
}

// TestPattern compares with inverses of random matrices modulo a prime, which have no zeros but for
// those of the pattern.
func TestPattern(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	f := modular.New(modular.Primes()())
	s := prooftest.Run(t, 1)
	patterns := 0
	for range testlength.Of(100, 300, 3000) {
		n := 1 + r.IntN(80)
		a := sparse(r, halfulp.Float64, n, r.Float64())
		if r.IntN(4) == 0 { // any places
			i := r.IntN(n)
			for j := range n {
				if r.IntN(8) > 0 {
					a.SetFloat64(i, j, 0)
				}
			}
		}
		l, err := modular.NewLifting(s, a.View(), modular.ToIntegers(a.View()), f)
		if err != nil {
			t.Fatal(err)
		}
		zeros := false
		for i := range n {
			for j := range n {
				zeros = zeros || a.At(i, j).Sign() == 0
			}
		}
		p := ziv.NewPattern(a.View())
		if (p != nil) != (zeros && l != nil) {
			t.Fatalf("seed %d, n = %d: a pattern is %t, zeros %t, a regular matrix %t\n%v", seed, n, p != nil, zeros, l != nil, a)
		}
		if p == nil {
			continue
		}
		patterns++
		for j := range n {
			in := p.Reached(halfulp.Identity(halfulp.Float64, n).View(), j)
			for i := range n {
				if got, want := in[i/64]>>(i%64)&1 != 0, l.Inverse[i][j] != 0; got != want {
					t.Fatalf("seed %d, n = %d: entry %d, %d of the inverse is not 0: %t, want %t\n%v", seed, n, i, j, got, want, a)
				}
			}
		}
	}
	if patterns == 0 {
		t.Fatal("no pattern was looked at")
	}
}

// Zeros of patterns take no arithmetic modulo primes, wherever solutions come from.
func TestSolvePatterns(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	// Entries of few bits make zeros and ties by chance, which do take primes.
	long := slices.DeleteFunc(slices.Clone(lintest.Formats), func(f halfulp.Format) bool { return f.Bits() < 53 })
	for _, f := range lintest.Formats {
		for range testlength.Of(3, 10, 100) {
			n := 1 + r.IntN(14)
			a := sparse(r, long[r.IntN(len(long))], n, r.Float64()/2)
			inverse := lintest.Of(a).Solve(lintest.Identity(n))
			if inverse == nil {
				continue
			}
			same := func(name string, x *halfulp.Matrix, columns []int, stats Stats, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("seed %d: %s: %v", seed, name, err)
				}
				for c, j := range columns {
					for i := range n {
						if w := lintest.Nearest(f, inverse[i][j]); !x.At(i, c).Same(w) {
							t.Fatalf("seed %d, %v: %s: entry %d, %d of the inverse of\n%v\nis %s, want %s (%+v)", seed, f, name, i, j, a, x.At(i, c).Hex(), w.Hex(), stats)
						}
					}
				}
				if stats.Primes+stats.Digits+stats.Ties > 0 {
					t.Errorf("seed %d, %v: %s takes primes: %+v\n%v", seed, f, name, stats, a)
				}
			}
			x := halfulp.NewMatrix(f, n, n)
			stats, err := Inverse(a, x, nil)
			same("Inverse", x, call.All(n), stats, err)
			stats, err = Solve(a, halfulp.Identity(halfulp.Float32, n), x, nil)
			same("Solve", x, call.All(n), stats, err)
			j := r.IntN(n)
			b, y := halfulp.NewMatrix(halfulp.DD, n, 1), halfulp.NewMatrix(f, n, 1)
			b.SetFloat64(j, 0, 1)
			stats, err = Solve(a, b, y, nil)
			same("Solve, one column", y, []int{j}, stats, err)
			known := newSystem(a.View())
			stats, err = known.Solve(halfulp.MatrixOf(b.View()), halfulp.MatrixOf(y.View()), nil)
			same("Solve of factors", y, []int{j}, stats, err)
		}
	}
}

// A matrix is singular whatever the entries are that depend on no singular block of it.
func TestSingularBlocks(t *testing.T) {
	one := halfulp.NewMatrixFloat64(3, 3, 3, []float64{3, 0, 0, 0, 1, 1, 0, 1, 1})
	column := halfulp.NewMatrixFloat64(3, 3, 3, []float64{3, 1, 1, 0, 0, 0, 0, 1, 1})
	for _, a := range []*halfulp.Matrix{one, one.T(), column, column.T()} {
		for _, b := range [][]float64{{1, 0, 0}, {0, 0, 0}, {0, 1, 0}} {
			x := halfulp.NewMatrix(halfulp.Float64, 3, 1)
			right := halfulp.NewMatrixFloat64(3, 1, 3, b)
			if _, err := Solve(a, right, x, nil); !errors.Is(err, ErrSingular) {
				t.Errorf("Solve: %v for\n%v\nand %v", err, a, b)
			}
			if _, _, err := VerifySolution(a, right, x, nil); !errors.Is(err, ErrSingular) {
				t.Errorf("VerifySolution: %v for\n%v\nand %v", err, a, b)
			}
		}
		if _, err := Inverse(a, halfulp.NewMatrix(halfulp.Float64, 3, 3), nil); !errors.Is(err, ErrSingular) {
			t.Errorf("Inverse: %v for\n%v", err, a)
		}
	}
}
