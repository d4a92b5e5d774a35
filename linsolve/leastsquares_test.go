package linsolve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/lsq"
)

// rationalLeastSquares solves the normal equations in rationals. It returns nil if A does not have
// full rank.
func rationalLeastSquares(a, b *halfulp.Matrix, w *halfulp.Vector) lintest.Matrix {
	x, y := lintest.Of(a), lintest.Of(b)
	n, k := a.Cols(), b.Cols()
	var weights []*big.Rat
	if w != nil {
		var keptX, keptY lintest.Matrix
		for i := range x {
			v, _ := w.Big(i).Rat(nil)
			if v.Sign() != 0 {
				weights, keptX, keptY = append(weights, v), append(keptX, x[i]), append(keptY, y[i])
			}
		}
		x, y = keptX, keptY
	}
	t := x.T(n)
	if len(x) >= n {
		return t.Weighted(weights, x, n).Solve(t.Weighted(weights, y, k))
	}
	z := x.Times(t, len(x)).Solve(y)
	if z == nil {
		return nil
	}
	return t.Times(z, k)
}

func checkLeastSquares(t *testing.T, name string, a, b *halfulp.Matrix, w *halfulp.Vector, f halfulp.Format) {
	t.Helper()
	var stats halfulp.Stats
	x, err := LeastSquares(a, b, f, &LeastSquaresOptions{Weights: w, Options: halfulp.Options{Stats: &stats}})
	want := rationalLeastSquares(a, b, w)
	if want == nil {
		var rank *RankError
		if !errors.As(err, &rank) || !errors.Is(err, ErrSingular) {
			t.Fatalf("%s: %v, want a deficient rank", name, err)
		}
		kept := a
		if w != nil {
			var rows []int
			for i := range w.Len() {
				if w.Float64(i) != 0 {
					rows = append(rows, i)
				}
			}
			kept = halfulp.MatrixOf(lsq.Choose(a.View(), rows))
		}
		if r, err := Rank(kept, nil); err != nil || rank.Rank != r || rank.Rows != kept.Rows() || rank.Cols != a.Cols() {
			t.Fatalf("%s: %v, want rank %d", name, rank, r)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i := range x.Rows() {
		for j := range x.Cols() {
			if z := lintest.Nearest(f, want[i][j]); !x.At(i, j).Same(z) {
				t.Fatalf("%s: x[%d,%d] = %s, want %s (%+v)", name, i, j, x.At(i, j).Hex(), z.Hex(), stats)
			}
		}
	}
}

// randomWeights returns random weights, some of them 0.
func randomWeights(r *rand.Rand, n int) *halfulp.Vector {
	w := halfulp.NewVector(halfulp.Float64, n)
	for i := range n {
		if r.IntN(5) > 0 {
			w.SetFloat64(i, r.Float64()*float64(1+r.IntN(4)))
		}
	}
	return w
}

func TestLeastSquares(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range lintest.Formats {
		for trial := range testlength.Of(1, 2, 40) {
			n, k := r.IntN(6), 1+r.IntN(3)
			m := n + r.IntN(8)
			if trial%2 == 1 {
				m, n = n, m
			}
			g := lintest.Formats[r.IntN(len(lintest.Formats))]
			for _, w := range []*halfulp.Vector{nil, randomWeights(r, m)} {
				name := fmt.Sprintf("seed %d, trial %d, %v, %d x %d, k = %d, weights %v", seed, trial, f, m, n, k, w != nil)
				checkLeastSquares(t, name+", random", gallery.Random(g, m, n, 0, r.Uint64()), gallery.Random(g, m, k, 0, r.Uint64()), w, f)
				checkLeastSquares(t, name+", spread", gallery.Random(halfulp.Float64, m, n, 30, r.Uint64()), gallery.Random(g, m, k, 30, r.Uint64()), w, f)
				checkLeastSquares(t, name+", integers", lintest.Integers(r, m, n, 3), lintest.Integers(r, m, k, 9), w, f)
				checkLeastSquares(t, name+", small integers", lintest.Integers(r, m, n, 1), lintest.Integers(r, m, k, 1), w, f)
			}
		}
	}
	// Columns of Hilbert matrices: the square of a condition number of 2^60.
	for _, f := range lintest.Formats {
		h := gallery.Hilbert(halfulp.MP(150), 14)
		checkLeastSquares(t, "Hilbert", h.Slice(0, 14, 0, 11), gallery.Random(halfulp.DD, 14, 2, 0, 1), nil, f)
		checkLeastSquares(t, "Hilbert rows", h.Slice(0, 11, 0, 14), gallery.Random(halfulp.DD, 11, 2, 0, 1), nil, f)
	}
}

// TestLeastSquaresAugmented uses exponents too far apart for the normal equations.
func TestLeastSquaresAugmented(t *testing.T) {
	r := testseed.Rand(t, 5, 6)
	for trial := range testlength.Of(1, 1, 40) {
		n := 2 + r.IntN(2)
		m := n + 1 + r.IntN(2)
		a, b := gallery.Random(halfulp.MP(60), m, n, 2000, r.Uint64()), gallery.Random(halfulp.Float64, m, 2, 50, r.Uint64())
		a.SetBig(0, 0, new(big.Float).SetMantExp(big.NewFloat(3), 2000))
		a.SetBig(m-1, 0, new(big.Float).SetMantExp(big.NewFloat(5), -2000))
		s, err := start("test", nil)
		if err != nil {
			t.Fatal(err)
		}
		problem, err := lsq.NewModel(s, a.View(), b.View(), num.Mat{})
		if err != nil {
			t.Fatal(err)
		}
		if e, err := problem.Equations(); err != nil || e.First != m {
			t.Fatalf("trial %d: first %d, %v: want the augmented system", trial, e.First, err)
		}
		for _, f := range lintest.Formats {
			name := fmt.Sprintf("trial %d, %v, %d x %d", trial, f, m, n)
			checkLeastSquares(t, name, a, b, nil, f)
			checkLeastSquares(t, name+", weights", a, b, randomWeights(r, m), f)
			checkLeastSquares(t, name+", minimal norm", a.T(), b.Slice(0, n, 0, 2), nil, f)
		}
	}
}

// TestZeroWeights leaves so few rows with nonzero weights that a tall matrix becomes wide, with
// full row rank or not, or empty.
func TestZeroWeights(t *testing.T) {
	r := testseed.Rand(t, 7, 8)
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.QD, halfulp.MP(40)} {
		for left := range 4 {
			m, n := 6, 4
			w := halfulp.NewVector(halfulp.Float64, m)
			for _, i := range r.Perm(m)[:left] {
				w.SetFloat64(i, 0.25+r.Float64())
			}
			a, b := lintest.Integers(r, m, n, 9), lintest.Integers(r, m, 2, 9)
			name := fmt.Sprintf("%v, %d rows left", f, left)
			checkLeastSquares(t, name, a, b, w, f)
			for j := range n { // rows that depend on each other
				for i := range m {
					a.SetFloat64(i, j, float64((i+1)*(j+2)))
				}
			}
			checkLeastSquares(t, name+", rank 1", a, b, w, f)
			_, err := Regression(a, b, f, &RegressionOptions{LeastSquaresOptions: LeastSquaresOptions{Weights: w}})
			var rank *RankError
			if !errors.As(err, &rank) || rank.Rows != left || rank.Cols != n || rank.Rank != min(left, 1) {
				t.Fatalf("%s: Regression: %v", name, err)
			}
		}
	}
}

// TestLeastSquaresParts uses more columns than one part of a solution of minimal norm.
func TestLeastSquaresParts(t *testing.T) {
	checkLeastSquares(t, "3 x 150", gallery.Random(halfulp.Float64, 3, 150, 3, 1), gallery.Random(halfulp.Float64, 3, 2, 0, 2), nil, halfulp.DD)
}

func TestLeastSquaresErrors(t *testing.T) {
	a, b := gallery.Random(halfulp.Float64, 5, 2, 0, 1), gallery.Random(halfulp.Float64, 5, 1, 0, 2)
	for _, bad := range []float64{-1, math.Inf(1), math.NaN()} {
		w := halfulp.NewVectorFloat64(5, 1, []float64{1, 1, bad, 1, 1})
		if _, err := LeastSquares(a, b, halfulp.Float64, &LeastSquaresOptions{Weights: w}); !errors.Is(err, ErrWeights) {
			t.Fatalf("weight %g: %v", bad, err)
		}
	}
	nan := b.Clone()
	nan.SetFloat64(3, 0, math.NaN())
	if _, err := LeastSquares(a, nan, halfulp.Float64, nil); !errors.Is(err, call.ErrNotFinite) {
		t.Fatal(err)
	}
	huge := halfulp.NewMatrix(halfulp.MP(64), 5, 2)
	huge.SetBig(0, 0, new(big.Float).SetMantExp(big.NewFloat(1), 1<<30))
	if _, err := LeastSquares(huge, b, halfulp.Float64, nil); !errors.Is(err, call.ErrRange) {
		t.Fatal(err)
	}
	defer func() {
		if recover() != errShape {
			t.Fatal("no panic for shapes that do not fit")
		}
	}()
	_, _ = LeastSquares(a, b.Slice(0, b.Rows()-1, 0, b.Cols()), halfulp.Float64, nil)
}

// TestLeastSquaresSame checks that results are the same for all numbers of threads and methods, and
// that solving can be cancelled.
func TestLeastSquaresSame(t *testing.T) {
	for _, shape := range [][2]int{{30, 12}, {12, 80}, {12, 12}} {
		m, n := shape[0], shape[1]
		a, b := gallery.Random(halfulp.DD, m, n, 5, 1), gallery.Random(halfulp.Float64, m, 2, 0, 2)
		want, err := LeastSquares(a, b, halfulp.DD, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []halfulp.Options{{Threads: 1}, {Threads: 5}, {Method: "direct"}, {Method: "residue"}} {
			done := 0.0
			o.Progress = func(d float64) {
				if d > 0 && d < done || d > 1 { // 0: unknown
					t.Errorf("progress %g after %g", d, done)
				}
				done = max(d, done)
			}
			x, err := LeastSquares(a, b, halfulp.DD, &LeastSquaresOptions{Options: o})
			if err != nil {
				t.Fatal(err)
			}
			if !x.Same(want) || done != 1 {
				t.Errorf("%d x %d, %+v: same bits: %v, progress %g", m, n, o, x.Same(want), done)
			}
			if m < n {
				continue
			}
			done = 0
			if fit, err := Regression(a, b, halfulp.DD, &RegressionOptions{LeastSquaresOptions: LeastSquaresOptions{Options: o}}); err != nil || !fit.X.Same(want) || done != 1 {
				t.Errorf("%+v: other estimates, %v, or progress %g", o, err, done)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		opt := LeastSquaresOptions{Options: halfulp.Options{Context: ctx}}
		if _, err := LeastSquares(a, b, halfulp.DD, &opt); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}
