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
	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/function"
)

// expmOracle returns Σ A^k / k!, summed in a precision that after cancellation still far exceeds
// the precision of the comparison.
func expmOracle(a *halfulp.Matrix, prec uint) [][]*big.Float {
	n := a.Rows()
	zero := func() [][]*big.Float {
		z := make([][]*big.Float, n)
		for i := range z {
			z[i] = make([]*big.Float, n)
			for j := range z[i] {
				z[i][j] = new(big.Float).SetPrec(prec)
			}
		}
		return z
	}
	sum, term := zero(), zero()
	for i := range n {
		sum[i][i].SetInt64(1)
		term[i][i].SetInt64(1)
	}
	for k := 1; ; k++ {
		next, largest := zero(), new(big.Float)
		for i := range n {
			for j := range n {
				for l := range n {
					next[i][j].Add(next[i][j], new(big.Float).SetPrec(prec).Mul(term[i][l], a.Big(l, j)))
				}
				next[i][j].Quo(next[i][j], big.NewFloat(float64(k)))
				sum[i][j].Add(sum[i][j], next[i][j])
				if m := new(big.Float).Abs(next[i][j]); m.Cmp(largest) > 0 {
					largest = m
				}
			}
		}
		term = next
		if k > 10 && (largest.Sign() == 0 || largest.MantExp(nil) < -int(prec)) {
			return sum
		}
	}
}

func checkExpm(t *testing.T, name string, a *halfulp.Matrix, f halfulp.Format) halfulp.Stats {
	t.Helper()
	n := a.Rows()
	var stats halfulp.Stats
	x, err := Expm(a, f, &halfulp.Options{Stats: &stats})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	want := expmOracle(a, 4000)
	for i := range n {
		for j := range n {
			w := want[i][j]
			if w.Sign() != 0 && w.MantExp(nil) < -2500 {
				w = new(big.Float) // the value is 0; w is the remainder of the cancellation
			}
			z := halfulp.NewScalar(f, w)
			if !x.At(i, j).Same(z) {
				t.Fatalf("%s, %v: entry %d, %d is %s, want %s (%+v)\n%v", name, f, i, j, x.At(i, j).Hex(), z.Hex(), stats, a.Text(20))
			}
		}
	}
	if stats.Undecided != 0 {
		t.Fatalf("%s, %v: %+v", name, f, stats)
	}
	return stats
}

func TestExpm(t *testing.T) {
	seed := testseed.Of(t)
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range lintest.Formats {
		for range testlength.Of(1, 1, 12) {
			n := r.IntN(7)
			g := lintest.Formats[r.IntN(len(lintest.Formats))]
			checkExpm(t, "random", gallery.Random(g, n, n, r.IntN(3), r.Uint64()), f)
			checkExpm(t, "spread", gallery.Random(g, n, n, r.IntN(8), r.Uint64()), f)
			// A sparse matrix, with rows and columns that are not connected.
			a := halfulp.NewMatrix(g, n, n)
			for range n {
				a.Set(r.IntN(n), r.IntN(n), halfulp.Float(r.Float64()))
			}
			checkExpm(t, "sparse", a, f)
			// A generator of a Markov chain: rows of the exponential have the sum 1.
			a = halfulp.NewMatrix(halfulp.Float64, n, n)
			for i := range n {
				for j := range n {
					if i != j {
						v := float64(r.IntN(100)) / 16
						a.Set(i, j, halfulp.Float(v))
						a.Set(i, i, halfulp.Float(a.Float64(i, i)-v))
					}
				}
			}
			checkExpm(t, "generator", a, f)
		}
	}
}

// TestExpmNilpotent uses matrices whose exponentials are rational, with zeros and ties.
func TestExpmNilpotent(t *testing.T) {
	for _, f := range lintest.Formats {
		// Jordan's block: 1/k! beside the diagonal, some of which are ties of 2 or 3 bits.
		n := 6
		a := halfulp.NewMatrix(halfulp.Float64, n, n)
		for i := range n - 1 {
			a.Set(i, i+1, halfulp.Float(3))
		}
		checkExpm(t, "Jordan", a, f)
		// I + A, with a zero that the graph of A does not show.
		a = halfulp.NewMatrixFloat64(2, 2, 2, []float64{1, 1, -1, -1})
		if stats := checkExpm(t, "A^2 = 0", a, f); f.IsMP() && stats.Exact == 0 {
			t.Fatalf("%+v", stats)
		}
		// A tie of f: 1 + 2^-p.
		tie := math.Ldexp(1, -f.Bits())
		if tie > 0 {
			a = halfulp.NewMatrixFloat64(3, 3, 3, []float64{tie, tie, 0, -tie, -tie, 0, 0, 0, 1})
			if stats := checkExpm(t, "tie", a, f); stats.Exact == 0 {
				t.Fatalf("%+v", stats)
			}
		}
	}
	a := halfulp.NewMatrixFloat64(3, 3, 3, []float64{0, 0, 0, 3, 0, 0, 0, 1, 0})
	var stats halfulp.Stats
	x, err := Expm(a, halfulp.MP(2), &halfulp.Options{Stats: &stats})
	if err != nil || x.Float64(0, 2) != 1.5 || stats.Undecided != 0 {
		t.Fatalf("%v, %v, %+v", x, err, stats)
	}
	a.Set(1, 2, halfulp.Float(1.5))
	a.Set(0, 1, halfulp.Float(-5)) // -3.75, then 3 2^1
	x = halfulp.NewMatrix(halfulp.MP(3), 3, 3)
	if err := lintest.Into(x)(Expm(a, x.NumberFormat(), &halfulp.Options{Stats: &stats})); err != nil || x.Float64(0, 2) != -4 || x.Float64(0, 1) != -5 || stats.Exact != 1 {
		t.Fatalf("%v, %v, %+v", x, err, stats)
	}
}

// TestExpmScales uses diagonal entries whose exponentials lie far apart; blocks decide the entries.
func TestExpmScales(t *testing.T) {
	for _, f := range lintest.Formats {
		d := []float64{-1e5, 3, -300, 1e5}
		a := halfulp.NewMatrix(halfulp.Float64, 4, 4)
		for i, v := range d {
			a.Set(i, i, halfulp.Float(v))
		}
		var stats halfulp.Stats
		x, err := Expm(a, f, &halfulp.Options{Stats: &stats})
		if err != nil || stats.Undecided != 0 {
			t.Fatalf("%v, %+v", err, stats)
		}
		for i, v := range d {
			if z := halfulp.NewScalar(f, bigfun.Exp(big.NewFloat(v), 2000)); !x.At(i, i).Same(z) {
				t.Errorf("%v: exp(%g) = %v, want %v", f, v, x.At(i, i), z)
			}
		}
	}
}

// TestExpmUndecided uses exp(A) = e A, whose zero comes from cancelling eigenvalues.
func TestExpmUndecided(t *testing.T) {
	a := halfulp.NewMatrixFloat64(2, 2, 2, []float64{0, -1, 1, 2})
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(60)} {
		var stats halfulp.Stats
		x, err := Expm(a, f, &halfulp.Options{Stats: &stats})
		if err != nil {
			t.Fatal(err)
		}
		if want := 0; f.IsMP() {
			want = 1
			if stats.Undecided != want {
				t.Fatalf("%v: %+v", f, stats)
			}
		} else if stats.Undecided != want {
			t.Fatalf("%v: %+v", f, stats)
		}
		e := bigfun.Exp(big.NewFloat(1), 1000)
		for i := range 2 {
			for j := range 2 {
				v := new(big.Float).Mul(e, a.Big(i, j))
				if z := halfulp.NewScalar(f, v); !x.At(i, j).Same(z) {
					t.Errorf("%v: entry %d, %d is %v, want %v", f, i, j, x.At(i, j), z)
				}
			}
		}
	}
}

func TestExpmErrors(t *testing.T) {
	x := halfulp.NewMatrix(halfulp.Float64, 1, 1)
	for v, want := range map[float64]error{math.Inf(1): call.ErrNotFinite, 1e10: ErrNorm, -1e300: ErrNorm} {
		a := halfulp.NewMatrixFloat64(1, 1, 1, []float64{v})
		if err := lintest.Into(x)(Expm(a, x.NumberFormat(), nil)); !errors.Is(err, want) {
			t.Errorf("%g: %v, want %v", v, err, want)
		}
	}
	a := halfulp.NewMatrixFloat64(1, 1, 1, []float64{800})
	var stats halfulp.Stats
	if err := lintest.Into(x)(Expm(a, x.NumberFormat(), &halfulp.Options{Stats: &stats})); err != nil || !x.At(0, 0).IsInf(1) || stats.Overflow != 1 {
		t.Errorf("%v, %v, %+v", x, err, stats)
	}
}

// TestExponentialBound compares enclosures with the oracle, for random matrices of all norms.
func TestExponentialBound(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range testlength.Of(40, 80, 2000) {
		n := 1 + r.IntN(5)
		a := gallery.Random(halfulp.DD, n, n, r.IntN(6), r.Uint64())
		bits := 20 + r.IntN(300)
		s, _, err := begin("Expm", nil)
		if err != nil {
			t.Fatal(err)
		}
		e, err := function.ExponentialOf(s, a.View(), bits)
		if err != nil {
			t.Fatal(err)
		}
		want := expmOracle(a, 1500)
		norm := new(big.Float)
		for i := range n {
			for j := range n {
				if m := new(big.Float).Abs(want[i][j]); m.Cmp(norm) > 0 {
					norm = m
				}
			}
		}
		for i := range n {
			for j := range n {
				mid, radius := e.Entry(i, j)
				d := new(big.Float).SetPrec(2000).Sub(mid, want[i][j])
				if d.Abs(d).Cmp(radius) > 0 {
					t.Fatalf("seed %d, %d bits: entry %d, %d is off by %.3g, proved %.3g\n%v", seed, bits, i, j, d, radius, a.Text(20))
				}
				if radius.MantExp(nil) > norm.MantExp(nil)-bits+40 {
					t.Fatalf("seed %d, %d bits: proved %.3g of %.3g\n%v", seed, bits, radius, norm, a.Text(20))
				}
			}
		}
	}
}

// TestExpmSame checks that results are the same for all numbers of threads and methods, and with X
// in the place of A.
func TestExpmSame(t *testing.T) {
	a := gallery.Random(halfulp.DD, 20, 20, 0, 3)
	want, err := Expm(a, halfulp.DD, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []halfulp.Options{{Threads: 1}, {Threads: 5}, {Method: "direct"}, {Method: "residue"}} {
		x, done := a.Clone(), 0.0
		o.Progress = func(d float64) {
			if d < done || d > 1 {
				t.Errorf("progress %g after %g", d, done)
			}
			done = d
		}
		if err := lintest.Into(x)(Expm(x, x.NumberFormat(), &o)); err != nil || !x.Same(want) || done != 1 {
			t.Errorf("%+v: %v, same bits %t, progress %g", o, err, x.Same(want), done)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x := a.Clone()
	if err := lintest.Into(x)(Expm(x, x.NumberFormat(), &halfulp.Options{Context: ctx})); !errors.Is(err, context.Canceled) || !x.Same(a) {
		t.Errorf("%v", err)
	}
}

// TestExpmParts uses matrices that consist of unconnected parts, in any order of rows: single
// zeros, single numbers, blocks, and one entry in a matrix of zeros.
func TestExpmParts(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for trial := range 12 {
		n := 9
		order := r.Perm(n)
		a := halfulp.NewMatrix(halfulp.Float64, n, n)
		for first := 0; first < n; {
			size := min(1+r.IntN(3), n-first)
			for i := range size {
				for j := range size {
					if r.IntN(3) > 0 {
						a.SetFloat64(order[first+i], order[first+j], float64(r.IntN(9)-4)/4)
					}
				}
			}
			first += size
		}
		f := lintest.Formats[trial%len(lintest.Formats)]
		checkExpm(t, fmt.Sprintf("trial %d, %v", trial, f), a, f)
		parts := function.Components(function.Reachable(a.View()))
		where := make([]int, n)
		for k, nodes := range parts {
			for _, i := range nodes {
				where[i] = k
			}
		}
		for i := range n {
			for j := range n {
				if a.Float64(i, j) != 0 && where[i] != where[j] {
					t.Fatalf("trial %d: rows %d and %d are in parts %v", trial, i, j, parts)
				}
			}
		}
	}
	one := halfulp.NewMatrix(halfulp.Float64, 60, 60)
	one.SetFloat64(40, 7, 0.3)
	x, err := Expm(one, halfulp.DD, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := halfulp.Identity(halfulp.DD, 60)
	want.SetFloat64(40, 7, 0.3)
	if !x.Same(want) {
		t.Errorf("one entry: %v", x)
	}
	if parts := function.Components(function.Reachable(one.View())); len(parts) != 59 {
		t.Errorf("%d parts", len(parts))
	}
}
