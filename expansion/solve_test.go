package expansion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testseed"
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
			seed := testseed.Of(t)
			if s.o.Pivoting == ZeroPivoting {
				seed = uint64(w) // small pivots make any residual, if seldom
			}
			r := rand.New(rand.NewPCG(seed, 8))
			a, b := randomMatrix(r, f, s.n, s.n, ordinaryNumber), randomMatrix(r, f, s.n, s.m, ordinaryNumber)
			if s.spoil != nil {
				s.spoil(r, a)
			}
			x := b.Clone()
			if err := Solve(a, b, x, &s.o); err != nil {
				t.Fatalf("seed %d: %v %d: %v", seed, f, s.n, err)
			}
			if e := residual(a, x, b, w); !(e <= s.largest) {
				t.Errorf("seed %d: %v %d, %+v: residual %g u^%d", seed, f, s.n, s.o, e, w)
			}
			s.o.Threads = 3
			turned := halfulp.NewMatrixLD(f, s.n, s.n, s.n+2).T()
			copyMatrix(turned, a)
			again := b.Clone()
			must(t, errOf(Solve(turned, b, again, &s.o)))
			sameMatrix(t, "with threads", again, x)
		}
	}
}

// TestSolveExactly solves systems of small integers whose elimination rounds nowhere.
func TestSolveExactly(t *testing.T) {
	const n = 40
	for _, f := range deviceFormats {
		for _, u := range []Updates{NativeUpdates, ExactUpdates} {
			r := testseed.Rand(t, 3, 9)
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
			err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, x, halfulp.Float(0), b, nil)
			must(t, err)
			got := b.Clone()
			must(t, errOf(Solve(a, got, got, &SolveOptions{Updates: u, Block: 32})))
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
	r := testseed.Rand(t, 1, 11)
	a, b := randomMatrix(r, halfulp.DD, 2, 2, ordinaryNumber), randomMatrix(r, halfulp.DD, 2, 1, ordinaryNumber)
	a.SetFloat64(0, 0, 0x1p-60)
	x := b.Clone()
	must(t, errOf(Solve(a, b, x, nil)))
	if e := residual(a, x, b, 2); e > 20 {
		t.Errorf("partial pivoting: residual %g u²", e)
	}
	must(t, errOf(Solve(a, b, x, &SolveOptions{Pivoting: ZeroPivoting})))
	if e := residual(a, x, b, 2); e < 1e6 {
		t.Errorf("the paper's rule: residual %g u²", e)
	}
	a.SetFloat64(0, 0, math.NaN())
	if err := Solve(a, b, x, nil); err != nil || !math.IsNaN(x.Float64(0, 0)) || !math.IsNaN(x.Float64(1, 0)) {
		t.Errorf("NaN: %v", x.At(0, 0))
	}
}

// TestSolveOverlap stores X in the memory of A, and half in the memory of B.
func TestSolveOverlap(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 12))
	a, b := randomMatrix(r, halfulp.TD, 40, 40, ordinaryNumber), randomMatrix(r, halfulp.TD, 40, 40, ordinaryNumber)
	want := copied(b)
	must(t, errOf(Solve(a, b, want, nil)))
	both := halfulp.NewMatrix(halfulp.TD, 40, 60)
	copyMatrix(both.Slice(0, 40, 0, 40), b)
	x := both.Slice(0, 40, 20, 60)
	must(t, errOf(Solve(a, both.Slice(0, 40, 0, 40), x, nil)))
	sameMatrix(t, fmt.Sprintf("seed %d: half in the place of B", seed), x, want)
	must(t, errOf(Solve(a, b, a, nil)))
	sameMatrix(t, fmt.Sprintf("seed %d: in the place of A", seed), a, want)
}

// TestSolveErrors checks singular and empty systems, shapes, formats, options and a cancelled
// context: X stays as it is.
func TestSolveErrors(t *testing.T) {
	r := testseed.Rand(t, 3, 10)
	for _, spoil := range []func(*rand.Rand, *halfulp.Matrix){emptyRow, emptyColumn} {
		a := randomMatrix(r, halfulp.QD, 45, 45, ordinaryNumber)
		spoil(r, a)
		x := copied(a)
		if err := Solve(a, x, x, nil); !errors.Is(err, ErrNoPivot) || !x.Same(a) {
			t.Errorf("singular: %v", err)
		}
	}
	for _, s := range [][2]int{{0, 0}, {0, 3}, {3, 0}} {
		a, x := randomMatrix(r, halfulp.TD, s[0], s[0], ordinaryNumber), halfulp.NewMatrix(halfulp.TD, s[0], s[1])
		if err := Solve(a, x, x, nil); err != nil {
			t.Errorf("%v: %v", s, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a, qd := randomMatrix(r, halfulp.DD, 45, 45, ordinaryNumber), halfulp.NewMatrix(halfulp.QD, 45, 45)
	x := copied(a)
	const enough = (45*90 + 32*(45+90)) * 16
	for i, c := range []struct {
		b    *halfulp.Matrix
		o    SolveOptions
		want error
	}{
		{a, SolveOptions{Options: halfulp.Options{Context: ctx}}, context.Canceled},
		{a, SolveOptions{Options: halfulp.Options{Method: "residue"}}, halfulp.ErrMethod},
		{a, SolveOptions{Options: halfulp.Options{Device: "cuda:"}}, halfulp.ErrDevice},
		{a, SolveOptions{Options: halfulp.Options{MemoryLimit: enough - 1}}, halfulp.ErrMemory},
		{a, SolveOptions{Pivoting: 7}, halfulp.ErrOptions},
		{a, SolveOptions{Updates: 7}, halfulp.ErrOptions},
		{a, SolveOptions{Block: 33}, halfulp.ErrOptions},
		{a, SolveOptions{Block: -32}, halfulp.ErrOptions},
		{qd, SolveOptions{}, halfulp.ErrFormat},
	} {
		if err := Solve(a, c.b, x, &c.o); !errors.Is(err, c.want) || !x.Same(a) {
			t.Errorf("case %d: error %v, want %v", i, err, c.want)
		}
	}
	if err := Solve(a, a, x, &SolveOptions{Options: halfulp.Options{MemoryLimit: enough}}); err != nil {
		t.Errorf("just enough memory: %v", err)
	}
	for _, shape := range [][2]int{{44, 1}, {45, 2}} {
		func() {
			defer func() {
				if got := recover(); got != errShape {
					t.Errorf("%v: panic %v, want %v", shape, got, errShape)
				}
			}()
			_ = Solve(a, halfulp.NewMatrix(halfulp.DD, shape[0], shape[1]), halfulp.NewMatrix(halfulp.DD, 45, 1), nil)
		}()
	}
}
