package linsolve

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// Zeros that follow from patterns take no arithmetic modulo primes, whichever way solves.
func TestSolvePatterns(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	// Entries of few bits give zeros and ties by chance, which do take primes.
	long := slices.DeleteFunc(slices.Clone(lintest.Formats), func(f halfulp.Format) bool { return f.Bits() < 53 })
	for _, f := range lintest.Formats {
		for range testlength.Of(3, 6, 100) {
			n := 1 + r.IntN(14)
			a := lintest.Sparse(r, long[r.IntN(len(long))], n, r.Float64()/2)
			inverse := lintest.Of(a).Solve(lintest.Identity(n))
			if inverse == nil {
				continue
			}
			var stats halfulp.Stats
			same := func(name string, x *halfulp.Matrix, columns []int, err error) {
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
			x, err := Inverse(a, f, &halfulp.Options{Stats: &stats})
			same("Inverse", x, call.All(n), err)
			err = lintest.Into(x)(Solve(a, halfulp.Identity(halfulp.Float32, n), x.NumberFormat(), &halfulp.Options{Stats: &stats}))
			same("Solve", x, call.All(n), err)
			j := r.IntN(n)
			b, y := halfulp.NewMatrix(halfulp.DD, n, 1), halfulp.NewMatrix(f, n, 1)
			b.SetFloat64(j, 0, 1)
			err = lintest.Into(y)(Solve(a, b, y.NumberFormat(), &halfulp.Options{Stats: &stats}))
			same("Solve, one column", y, []int{j}, err)
			known := newSystem(a.View())
			err = lintest.Into(halfulp.MatrixOf(y.View()))(known.solve(halfulp.MatrixOf(b.View()), halfulp.MatrixOf(y.View()).NumberFormat(), &halfulp.Options{Stats: &stats}))
			same("Solve of factors", y, []int{j}, err)
		}
	}
}

// A matrix with a singular block is singular whatever the entries are that do not belong to the
// block.
func TestSingularBlocks(t *testing.T) {
	one := halfulp.NewMatrixFloat64(3, 3, 3, []float64{3, 0, 0, 0, 1, 1, 0, 1, 1})
	column := halfulp.NewMatrixFloat64(3, 3, 3, []float64{3, 1, 1, 0, 0, 0, 0, 1, 1})
	for _, a := range []*halfulp.Matrix{one, one.T(), column, column.T()} {
		for _, b := range [][]float64{{1, 0, 0}, {0, 0, 0}, {0, 1, 0}} {
			x := halfulp.NewMatrix(halfulp.Float64, 3, 1)
			right := halfulp.NewMatrixFloat64(3, 1, 3, b)
			if err := lintest.Into(x)(Solve(a, right, x.NumberFormat(), nil)); !errors.Is(err, ErrSingular) {
				t.Errorf("Solve: %v for\n%v\nand %v", err, a, b)
			}
			if _, err := VerifySolution(a, right, x, nil); !errors.Is(err, ErrSingular) {
				t.Errorf("VerifySolution: %v for\n%v\nand %v", err, a, b)
			}
		}
		if err := lintest.ErrorOf(Inverse(a, halfulp.Float64, nil)); !errors.Is(err, ErrSingular) {
			t.Errorf("Inverse: %v for\n%v", err, a)
		}
	}
}
