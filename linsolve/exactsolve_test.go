package linsolve

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// TestSolveExactly compares solutions in rational numbers with solutions by the other ways: for
// matrices of integers and of any numbers, distant exponents, zeros and ties among the entries, and
// all formats.
func TestSolveExactly(t *testing.T) {
	r := testseed.Rand(t, 21, 22)
	forced := &halfulp.Options{Context: call.Forcing(t.Context(), call.ByRationals)}
	formats := []halfulp.Format{halfulp.Float64, halfulp.Float32, halfulp.DD, halfulp.MP(20), halfulp.MP(300)}
	for trial := range 24 {
		n, k := 1+r.IntN(12), 1+r.IntN(20)
		f := formats[trial%len(formats)]
		a, b := gallery.Random(halfulp.Float64, n, n, trial%7, r.Uint64()), gallery.Random(halfulp.Float64, n, k, trial%5, r.Uint64())
		if trial%3 == 0 { // integers, and a solution of few bits
			a = halfulp.MatrixOf(triangularProduct(t, n, 1+trial))
			x := gallery.Random(halfulp.Float32, n, k, 3, r.Uint64())
			b = halfulp.NewMatrix(halfulp.MP(400), n, k)
			one, zero := halfulp.Float(1), halfulp.Float(0)
			if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, x, zero, b, nil); err != nil {
				t.Fatal(err)
			}
		}
		if trial%4 == 0 {
			for i := range n {
				b.SetBig(i, 0, new(big.Float))
			}
		}
		want, got := halfulp.NewMatrix(f, n, k), halfulp.NewMatrix(f, n, k)
		if err := lintest.Into(want)(Solve(a, b, want.NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		var st halfulp.Stats
		err := lintest.Into(got)(Solve(a, b, got.NumberFormat(), forced.WithStats(&st)))
		if err != nil {
			t.Fatal(err)
		}
		zeros := int64(0) // the pattern of zeros may have decided these
		for i := range n {
			for j := range k {
				if got.Big(i, j).Sign() == 0 {
					zeros++
				}
			}
		}
		if st.Exact+zeros < int64(n*k) {
			t.Errorf("%d x %d, %v: %d entries by rational numbers, and %d zeros", n, k, f, st.Exact, zeros)
		}
		if !got.Same(want) {
			t.Errorf("%d x %d, %v: other bits", n, k, f)
		}
		s, err := start("solve", nil, a.View())
		if err != nil {
			t.Fatal(err)
		}
		cond, err := solve.MeasuredCondition(s, a.View(), 1e9)
		if err != nil || trial%3 == 0 && n == 12 && cond == 0 {
			t.Errorf("condition 2^%d, error %v", cond, err)
		}
	}
	a := halfulp.NewMatrix(halfulp.Float64, 3, 3)
	for i := range 3 {
		for j := range 3 {
			a.SetFloat64(i, j, float64(3*i+j))
		}
	}
	_, err := Solve(a, halfulp.Identity(halfulp.Float64, 3), halfulp.Float64, forced)
	if !errors.Is(err, ErrSingular) {
		t.Errorf("a singular matrix: error %v", err)
	}
}

// TestSolveByRationals solves systems whose condition numbers have more bits than eliminations, for
// few and many columns, and computes their condition numbers.
func TestSolveByRationals(t *testing.T) {
	const n = 72
	a := halfulp.MatrixOf(triangularProduct(t, n, 14))
	one := halfulp.MatrixOf(num.Identity(num.Float64, n))
	var st halfulp.Stats
	inverse, err := Inverse(a, halfulp.MP(64), &halfulp.Options{Stats: &st})
	if err != nil || st.Digits == 0 {
		t.Fatalf("inverse: error %v, %d digits", err, st.Digits)
	}
	for _, k := range []int{1, n} {
		var st halfulp.Stats
		x, err := Solve(a, one.Slice(0, n, 0, k), halfulp.MP(64), &halfulp.Options{Stats: &st})
		if err != nil || st.Digits == 0 || !x.Same(inverse.Slice(0, n, 0, k)) {
			t.Errorf("%d columns: error %v, %d digits", k, err, st.Digits)
		}
	}
}

// TestRationalsFarApart solves systems whose rows are so far apart that integers of the right-hand
// side would have millions of bits: rational numbers are not used then.
func TestRationalsFarApart(t *testing.T) {
	const n = 4
	a, b := halfulp.NewMatrix(halfulp.MP(64), n, n), halfulp.NewMatrix(halfulp.MP(64), n, 1)
	for i := range n {
		b.SetFloat64(i, 0, float64(i+1))
		for j := range n {
			x := new(big.Float).SetInt64([]int64{3, int64(i + j)}[min(1, max(i-j, j-i))])
			a.SetBig(i, j, x.SetMantExp(x, (i-2)<<24))
		}
	}
	x, err := Solve(a, b, halfulp.MP(64), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Solve(a, b, x.NumberFormat(), &halfulp.Options{Context: call.Forcing(t.Context(), call.ByRationals)})
	if !errors.Is(err, call.ErrWay) {
		t.Errorf("error %v", err)
	}
}

// TestRationalsDecide solves systems with entries ±1, whose residues are sometimes by accident
// about as short as numerators: rational numbers must decide all columns.
func TestRationalsDecide(t *testing.T) {
	for _, seed := range []uint64{1074, 1097, 1156, 1337, 1600, 1716, 2667, 2812, 2834} {
		r := rand.New(rand.NewPCG(seed, 1))
		a, b := lintest.Integers(r, 11, 11, 1), lintest.Integers(r, 11, 9, 9)
		record := new(call.Record)
		_, err := Solve(a, b, halfulp.MP(2), &halfulp.Options{Context: call.Recording(call.Forcing(t.Context(), call.ByRationals), record)})
		if _, left := record.Of("*solve.problem", call.ByRationals); err == nil && left > 0 {
			t.Errorf("seed %d: a column is left", seed)
		} else if err != nil && !errors.Is(err, ErrSingular) {
			t.Error(err)
		}
	}
}
