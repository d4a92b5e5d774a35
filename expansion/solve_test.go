package expansion

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
)

// residual returns max |A X - B| / Σ |a x| in units of u^w.
func residual(a, x, b *halfulp.Matrix, w int) float64 {
	worst := 0.0
	n, m := b.Dims()
	for j := range m {
		for i := range n {
			sum, size := new(big.Float).SetPrec(4*prec), new(big.Float).SetPrec(4*prec)
			for h := range n {
				p := new(big.Float).SetPrec(4*prec).Mul(a.Big(i, h), x.Big(h, j))
				sum.Add(sum, p)
				size.Add(size, p.Abs(p))
			}
			sum.Sub(sum, b.Big(i, j)).Quo(sum, size)
			f, _ := sum.Float64()
			worst = max(worst, math.Abs(math.Ldexp(f, 53*w)))
		}
	}
	return worst
}

// TestSolve checks residuals, of systems whose diagonal has zeros too, and that threads change
// nothing.
func TestSolve(t *testing.T) {
	for w, f := range map[int]halfulp.Format{2: halfulp.DD, 3: halfulp.TD, 4: halfulp.QD} {
		for _, s := range []struct {
			n, m    int
			o       SolveOptions
			spoil   func(r *rand.Rand, a *halfulp.Matrix)
			largest float64
		}{
			{1, 2, SolveOptions{}, nil, 20},
			{7, 3, SolveOptions{}, nil, 1e3},
			{7, 3, SolveOptions{Pivoting: ZeroPivoting}, zeros, 1e6},
			{45, 2, SolveOptions{}, zeros, 1e4},
			{70, 3, SolveOptions{Updates: ExactUpdates, Block: 32}, nil, 1e4},
			{70, 1, SolveOptions{Updates: ExactUpdates, Block: 64, Pivoting: ZeroPivoting}, nil, 1e8},
		} {
			seed := rand.Uint64()
			r := rand.New(rand.NewPCG(seed, 8))
			a, b := randomMatrix(r, f, s.n, s.n, ordinaryNumber), randomMatrix(r, f, s.n, s.m, ordinaryNumber)
			if s.spoil != nil {
				s.spoil(r, a)
			}
			x, err := Solve(a, b, &s.o)
			if err != nil {
				t.Fatalf("seed %d: %v %d: %v", seed, f, s.n, err)
			}
			if e := residual(a, x, b, w); !(e <= s.largest) {
				t.Errorf("seed %d: %v %d, %+v: residual %g u^%d", seed, f, s.n, s.o, e, w)
			}
			s.o.Options = &halfulp.Options{Threads: 3}
			turned := halfulp.NewMatrixLD(f, s.n, s.n, s.n+2).T()
			copyMatrix(turned, a)
			again, err := Solve(turned, b, &s.o)
			must(t, err)
			sameMatrix(t, "with threads", again, x)
		}
	}
}

// TestSolveExactly solves systems of small integers whose elimination rounds nowhere.
func TestSolveExactly(t *testing.T) {
	const n = 40
	for _, f := range deviceFormats {
		for _, u := range []Updates{NativeUpdates, ExactUpdates} {
			r := rand.New(rand.NewPCG(3, 9))
			// A is a permutation of rows of a unit triangular matrix, with few entries.
			a, x := halfulp.NewMatrix(f, n, n), halfulp.NewMatrix(f, n, 2)
			for k, i := range r.Perm(n) {
				a.SetFloat64(i, k, 1)
				if k > 0 && r.IntN(2) == 0 {
					a.SetFloat64(i, r.IntN(k), float64(r.IntN(3)-1)/2)
				}
				x.SetFloat64(k, 0, float64(r.IntN(100)-50))
				x.SetFloat64(k, 1, math.Ldexp(1, k-20))
			}
			b := halfulp.NewMatrix(f, n, 2)
			_, err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, x, halfulp.Float(0), b, nil)
			must(t, err)
			got, err := Solve(a, b, &SolveOptions{Updates: u, Block: 32})
			must(t, err)
			for j := range 2 {
				for i := range n {
					if got.Float64(i, j) != x.Float64(i, j) {
						t.Fatalf("%v: entry (%d, %d) is %v, want %v", f, i, j, got.At(i, j), x.At(i, j))
					}
				}
			}
		}
	}
}

// TestSolvePivots checks which row is chosen: the paper's rule divides by a tiny diagonal entry.
func TestSolvePivots(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 11))
	a, b := randomMatrix(r, halfulp.DD, 2, 2, ordinaryNumber), randomMatrix(r, halfulp.DD, 2, 1, ordinaryNumber)
	a.SetFloat64(0, 0, 0x1p-60)
	x, err := Solve(a, b, nil)
	must(t, err)
	if e := residual(a, x, b, 2); e > 20 {
		t.Errorf("partial pivoting: residual %g u²", e)
	}
	x, err = Solve(a, b, &SolveOptions{Pivoting: ZeroPivoting})
	must(t, err)
	if e := residual(a, x, b, 2); e < 1e6 {
		t.Errorf("the paper's rule: residual %g u²", e)
	}
	a.SetFloat64(0, 0, math.NaN())
	if x, err = Solve(a, b, nil); err != nil || !math.IsNaN(x.Float64(0, 0)) || !math.IsNaN(x.Float64(1, 0)) {
		t.Errorf("NaN: %v, %v", x.At(0, 0), err)
	}
}

// TestSolveErrors checks singular and empty systems, shapes and a cancelled context.
func TestSolveErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 10))
	for _, spoil := range []func(*rand.Rand, *halfulp.Matrix){emptyRow, emptyColumn} {
		a := randomMatrix(r, halfulp.QD, 45, 45, ordinaryNumber)
		spoil(r, a)
		x, err := Solve(a, a, nil)
		if x != nil || !errors.Is(err, ErrSingular) {
			t.Errorf("singular: %v", err)
		}
	}
	for _, s := range [][2]int{{0, 0}, {0, 3}, {3, 0}} {
		a := randomMatrix(r, halfulp.TD, s[0], s[0], ordinaryNumber)
		x, err := Solve(a, halfulp.NewMatrix(halfulp.TD, s[0], s[1]), nil)
		if err != nil || x.Rows() != s[0] || x.Cols() != s[1] {
			t.Errorf("%v: %v", s, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := randomMatrix(r, halfulp.DD, 45, 45, ordinaryNumber)
	if _, err := Solve(a, a, &SolveOptions{Options: &halfulp.Options{Context: ctx}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if x, err := Solve(a, a, &SolveOptions{Options: &halfulp.Options{Method: "residue"}}); x != nil || !errors.Is(err, halfulp.ErrMethod) {
		t.Errorf("another method: %v", err)
	}
	for want, f := range map[string]func(){
		errShape:  func() { _, _ = Solve(a, halfulp.NewMatrix(halfulp.DD, 44, 1), nil) },
		errFormat: func() { _, _ = Solve(a, halfulp.NewMatrix(halfulp.QD, 45, 1), nil) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %v", got, want)
				}
			}()
			f()
		}()
	}
}
