package expansion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// ratOf is an entry exactly.
func ratOf(m *halfulp.Matrix, i, j int) *big.Rat {
	r, _ := m.Big(i, j).Rat(nil)
	return r
}

// integers returns the entries of [A B] as integers, each row times a power of two.
func integers(a, b *halfulp.Matrix) [][]*big.Int {
	var all [][]*big.Int
	for i := range a.Rows() {
		lcm := big.NewInt(1) // the largest denominator, a power of two
		var row []*big.Rat
		for j := range a.Cols() {
			row = append(row, ratOf(a, i, j))
		}
		for j := range b.Cols() {
			row = append(row, ratOf(b, i, j))
		}
		for _, x := range row {
			if x.Denom().Cmp(lcm) > 0 {
				lcm = x.Denom()
			}
		}
		var scaled []*big.Int
		for _, x := range row {
			q := new(big.Int).Quo(lcm, x.Denom())
			scaled = append(scaled, q.Mul(q, x.Num()))
		}
		all = append(all, scaled)
	}
	return all
}

// exactSolution solves A X = B by fraction-free elimination (Bareiss); it returns nil if A is
// singular.
func exactSolution(a, b *halfulp.Matrix) [][]*big.Rat {
	n, m := b.Dims()
	w := integers(a, b)
	last := big.NewInt(1)
	for k := range n {
		q := k
		for q < n && w[q][k].Sign() == 0 {
			q++
		}
		if q == n {
			return nil
		}
		w[k], w[q] = w[q], w[k]
		for i := range n {
			if i == k {
				continue
			}
			for j := n + m - 1; j >= 0; j-- {
				if j == k || j < k && j != i {
					continue
				}
				x := new(big.Int).Mul(w[k][k], w[i][j])
				x.Sub(x, new(big.Int).Mul(w[i][k], w[k][j]))
				w[i][j] = x.Quo(x, last)
			}
			w[i][k].SetInt64(0)
		}
		last = w[k][k]
	}
	x := make([][]*big.Rat, n)
	for i := range x {
		for j := range m {
			x[i] = append(x[i], new(big.Rat).SetFrac(w[i][n+j], w[i][i]))
		}
	}
	return x
}

// trueError is the largest error of an entry of X, relative to the largest entry of its column.
func trueError(x *halfulp.Matrix, want [][]*big.Rat) float64 {
	worst := 0.0
	for j := range x.Cols() {
		size, err := new(big.Rat), new(big.Rat)
		for i := range x.Rows() {
			if f := x.Float64(i, j); f-f != 0 {
				return math.Inf(1)
			}
			d := new(big.Rat).Sub(ratOf(x, i, j), want[i][j])
			if d.Abs(d).Cmp(err) > 0 {
				err = d
			}
			if y := new(big.Rat).Abs(want[i][j]); y.Cmp(size) > 0 {
				size = y
			}
		}
		if size.Sign() == 0 {
			continue
		}
		f, _ := err.Quo(err, size).Float64()
		worst = max(worst, f)
	}
	return worst
}

// hilbertSystem is the Hilbert matrix of order n rounded to a format, and two right-hand sides.
func hilbertSystem(f halfulp.Format, n int) (a, b *halfulp.Matrix) {
	a, b = gallery.Hilbert(f, n), halfulp.NewMatrix(f, n, 2)
	for i := range n {
		b.SetFloat64(i, 0, 1)
		b.SetFloat64(i, 1, float64(i%3-1))
	}
	return a, b
}

// checkCondition solves a system. It compares the estimate with the errors of X, and X with the
// result without the estimate.
func checkCondition(t *testing.T, what string, a, b *halfulp.Matrix, want [][]*big.Rat, o SolveOptions) (c *halfulp.Condition, relative float64) {
	t.Helper()
	plain, x := b.Clone(), b.Clone()
	must(t, errOf(Solve(a, b, plain, &o)))
	o.Estimate = true
	var st halfulp.Stats
	o.Stats = &st
	err := Solve(a, b, x, &o)
	must(t, err)
	sameMatrix(t, what, x, plain)
	if c = st.Condition; c == nil {
		t.Fatalf("%s: no estimate", what)
	}
	relative = trueError(x, want)
	if e := float64(c.Error); e < relative && e < 1 || c.Digits != int(-math.Log10(e)) {
		t.Fatalf("%s: %+v, but the error is %g", what, *c, relative)
	}
	return c, relative
}

// TestConditionHilbert compares estimates for increasingly ill-conditioned systems with the errors:
// never more digits than X has, and not many fewer where rows are exchanged.
func TestConditionHilbert(t *testing.T) {
	for n := 5; n <= 40; n += testlength.Of(5, 10, 5) {
		if testing.Short() && n > 30 {
			break
		}
		for w, f := range map[int]halfulp.Format{2: halfulp.DD, 3: halfulp.TD, 4: halfulp.QD} {
			a, b := hilbertSystem(f, n)
			want := exactSolution(a, b)
			for _, o := range []SolveOptions{{}, {Pivoting: ZeroPivoting}, {Updates: ExactUpdates, Block: 32}} {
				what := fmt.Sprintf("%v %d, rule %v, updates %v", f, n, o.Pivoting, o.Updates)
				c, relative := checkCondition(t, what, a, b, want, o)
				if o.Pivoting == PartialPivoting && c.Error < 1 && float64(c.Error) > 1e4*relative {
					t.Errorf("%s: %+v, but the error is only %g", what, *c, relative)
				}
				// The condition number of the Hilbert matrix is about e^(3.5 n), less for scaled
				// columns.
				if logs := math.Log10(float64(c.Number)); c.Digits > 0 && math.Abs(logs-1.5*float64(n)) > 4 {
					t.Errorf("%s: condition number %g", what, c.Number)
				}
				if (c.Digits == 0) != (c.Error > 0.1) || n >= 8*w+9 && c.Digits > 0 {
					t.Errorf("%s: %+v", what, *c)
				}
			}
		}
	}
}

// TestCondition has systems of all kinds.
func TestCondition(t *testing.T) {
	rounds := testlength.Of(20, 60, 1000)
	for round := range rounds {
		seed := testseed.Of(t)
		r := rand.New(rand.NewPCG(seed, 18))
		n := 1 + r.IntN(9)
		f := deviceFormats[round%3]
		a, b := randomMatrix(r, f, n, n, ordinaryNumber), randomMatrix(r, f, n, 2, ordinaryNumber)
		kind := round / 3 % 6
		least := 0 // digits that have to be left
		switch kind {
		case 1: // rows and columns of all sizes
			for i := range n {
				scaleRow(a, i, math.Ldexp(1, r.IntN(300)-150))
				scaleRow(a.T(), i, math.Ldexp(1, r.IntN(300)-150))
			}
		case 2: // almost singular
			for j := range n {
				a.Set(n-1, j, a.At(0, j))
			}
			a.SetFloat64(n-1, n/2, a.Float64(n-1, n/2)*(1+math.Ldexp(r.Float64(), -r.IntN(50))))
		case 3: // the elimination is exact
			for i := range n {
				for j := range n {
					x := 0.0
					if j <= i {
						x = 1
					}
					a.SetFloat64(i, j, x)
				}
			}
			least = 25
		case 4: // some solutions lose words to underflow
			for i := range n {
				scaleRow(b, i, 0x1p-1000)
			}
		case 5: // zeros
			for i := range n {
				b.SetFloat64(i, 1, 0)
				for j := range n {
					if r.IntN(3) == 0 {
						a.SetFloat64(i, j, 0)
					}
				}
			}
		}
		want := exactSolution(a, b)
		if want == nil {
			continue
		}
		what := fmt.Sprintf("seed %d: %v %d, kind %d", seed, f, n, kind)
		c, _ := checkCondition(t, what, a, b, want, SolveOptions{Pivoting: Pivoting(r.IntN(2))})
		if c.Digits < least {
			t.Errorf("%s: %+v", what, *c)
		}
	}
}

// TestConditionScaled checks scalings of rows and columns. Scaled rows cost no digits, nor do
// scaled columns if the solution is scaled accordingly; otherwise they cost all digits of the small
// entries.
func TestConditionScaled(t *testing.T) {
	const n = 6
	r := testseed.Rand(t, 1, 19)
	a, b := randomMatrix(r, halfulp.DD, n, n, ordinaryNumber), randomMatrix(r, halfulp.DD, n, 1, ordinaryNumber)
	digits := func(what string, a, b *halfulp.Matrix) int {
		c, _ := checkCondition(t, what, a, b, exactSolution(a, b), SolveOptions{})
		return c.Digits
	}
	plain := digits("plain", a, b)
	if plain < 24 {
		t.Fatalf("%d digits of a small random system", plain)
	}
	rows, right := a.Clone(), b.Clone()
	for i := range n {
		scaleRow(rows, i, math.Ldexp(1, 60*i))
		scaleRow(right, i, math.Ldexp(1, 60*i))
	}
	if d := digits("rows", rows, right); d < plain-4 {
		t.Errorf("scaled rows: %d digits, not %d", d, plain)
	}
	columns := a.Clone()
	for i := range n {
		scaleRow(columns.T(), i, math.Ldexp(1, -60*i))
	}
	if d := digits("columns", columns, b); d < plain-4 {
		t.Errorf("scaled columns: %d digits, not %d", d, plain)
	}
	same := halfulp.NewMatrix(halfulp.DD, n, 1)
	for i := range n {
		same.SetFloat64(i, 0, 1)
	}
	err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, unit, columns, same, nought, right, nil)
	must(t, err)
	if d := digits("columns, entries of one size", columns, right); d != 0 {
		t.Errorf("scaled columns and entries of one size: %d digits", d)
	}
}

// TestConditionSpecial has numbers that are not finite, empty and singular systems, too little
// memory, progress and a cancelled context.
func TestConditionSpecial(t *testing.T) {
	r := testseed.Rand(t, 1, 20)
	a, b := randomMatrix(r, halfulp.TD, 5, 5, ordinaryNumber), randomMatrix(r, halfulp.TD, 5, 2, ordinaryNumber)
	for _, x := range []float64{math.NaN(), math.Inf(1), math.MaxFloat64} {
		for _, m := range []*halfulp.Matrix{a, b} {
			old := m.At(2, 1)
			m.SetFloat64(2, 1, x)
			var st halfulp.Stats
			err := Solve(a, b, b.Clone(), &SolveOptions{Estimate: true, Options: halfulp.Options{Stats: &st}})
			must(t, err)
			if c := st.Condition; c.Digits != 0 && x != math.MaxFloat64 || !(c.Number <= math.MaxFloat64) || !(c.Error <= 1) {
				t.Errorf("%v: %+v", x, *c)
			}
			m.Set(2, 1, old)
		}
	}
	for _, m := range []int{0, 3} {
		x := halfulp.NewMatrix(halfulp.TD, 3-m, m)
		var st halfulp.Stats
		err := Solve(a.Slice(0, 3-m, 0, 3-m), x, x, &SolveOptions{Estimate: true, Options: halfulp.Options{Stats: &st}})
		if err != nil || st.Condition != nil {
			t.Errorf("%d right-hand sides: %v, %v", m, st.Condition, err)
		}
	}
	x := copied(b)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		o    halfulp.Options
		want error
	}{{halfulp.Options{Context: ctx}, context.Canceled}, {halfulp.Options{MemoryLimit: 1000}, halfulp.ErrMemory}} {
		if err := Solve(a, b, x, &SolveOptions{Options: c.o, Estimate: true}); !errors.Is(err, c.want) || !x.Same(b) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
	last := 0.0
	o := SolveOptions{Estimate: true, Options: halfulp.Options{Progress: func(done float64) {
		if done < last || done > 1 {
			t.Errorf("progress %v after %v", done, last)
		}
		last = done
	}}}
	var st halfulp.Stats
	o.Stats = &st
	err := Solve(a, b, x, &o)
	must(t, err)
	if last != 1 || len(st.Stages) != 3 {
		t.Errorf("progress ends at %v, stages are %v", last, st.Stages)
	}
	emptyRow(r, a)
	if err := Solve(a, b, b, &o); !errors.Is(err, ErrNoPivot) {
		t.Errorf("singular: %v", err)
	}
}

// checkConditionThere compares the estimate on a device with the estimate on the CPU.
func checkConditionThere(t *testing.T) {
	for i, f := range deviceFormats {
		r := testseed.Rand(t, uint64(i), 21)
		a, b := randomMatrix(r, f, 40, 40, ordinaryNumber), randomMatrix(r, f, 40, 3, ordinaryNumber)
		want := b.Clone()
		var st halfulp.Stats
		err := Solve(a, b, want, &SolveOptions{Estimate: true, Options: halfulp.Options{Stats: &st}})
		must(t, err)
		db := laid(t, b, i)
		var there halfulp.Stats
		err = Solve(laid(t, a, 2), db, db, &SolveOptions{Estimate: true, Options: halfulp.Options{Stats: &there}})
		must(t, err)
		wantMatrix(t, f.String(), db, want)
		x := b.Clone()
		var sent halfulp.Stats
		err = Solve(a, b, x, &SolveOptions{Estimate: true, Options: halfulp.Options{Device: device, Stats: &sent}})
		must(t, err)
		sameMatrix(t, f.String()+" from the host", x, want)
		if *there.Condition != *st.Condition || *sent.Condition != *st.Condition {
			t.Errorf("%v: %+v and %+v, want %+v", f, *there.Condition, *sent.Condition, *st.Condition)
		}
		if there.Device != device || sent.Device != device {
			t.Errorf("ran on %v and %v", there.Device, sent.Device)
		}
	}
}

// TestConditionReference has systems on a fake device, with the engine's kernels too.
func TestConditionReference(t *testing.T) {
	if bits.UintSize == 32 {
		t.Skip("the engine on GPUs has structures of 64-bit hosts")
	}
	dev, drv := newReference(t)
	gputest.Reference(t, drv)
	gputest.ElementReference(t, drv)
	t.Cleanup(mem.Substitute(dev))
	t.Run("first", checkConditionThere)
	kept := dev.Counters().InUse // by the engine, for its next product
	t.Run("again", checkConditionThere)
	if n := dev.Counters().InUse; n != kept {
		t.Errorf("%d bytes are in use, and %d before", n, kept)
	}
}

// TestDeviceCondition has systems on a GPU.
func TestDeviceCondition(t *testing.T) {
	gputest.Machine(t)
	checkConditionThere(t)
}
