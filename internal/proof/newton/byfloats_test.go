package newton_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestNewtonByFloats compares the start of Newton's method with exact inverses, for matrices of up
// to 53 bits and of more. It compares the decided entries with correctly rounded inverses.
func TestNewtonByFloats(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	decided, all, gains, more := 0, 0, 0, 0
	trials := testlength.Of(24, 60, 1000)
	enough := func() bool { return decided >= all*9/10 && gains >= trials/5 && more > 0 }
	for trial := range testlength.Until(trials, enough) {
		n := 2 + r.IntN(10)
		f := halfulp.MP(uint([]int{30, 53, 54, 64, 65, 106, 117, 300}[trial%8]))
		a := lintest.Ill(r, f, n, r.IntN(20))
		if trial%3 == 1 {
			lintest.Spread(r, a, 500)
		}
		restore := isa.Force(isa.Levels()[trial%len(isa.Levels())])
		s := prooftest.Run(t, 1+trial%2)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := newton.SolveByFloats(s, a.View(), lu, trial%2 == 0, 1000)
		restore()
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("seed %d, trial %d, n = %d, %v", draw, trial, n, f)
		if v == nil { // columns or rows are far apart
			continue
		}
		if v.Gain() > 105 {
			more++
		}
		if v.Gain() > 60 {
			gains++
		}
		rho, _ := v.Rho.Float64()
		exact, x := lintest.Of(a).Scaled(lu.Scaling.Rows, lu.Scaling.Cols), lintest.Of(halfulp.MatrixOf(v.X))
		norm := math.Ldexp(1, v.Norm+1)
		e := x.Times(exact, n)
		amp, _ := v.Amp.Rat(nil)
		for i := range n {
			left, size, sum, both := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
			for j := range n {
				if i == j {
					e[i][j].Sub(e[i][j], numtest.Exact(1))
				}
				left.Add(left, e[i][j].Abs(e[i][j]))
				size.Add(size, new(big.Rat).Abs(x[i][j]))
				sum.Add(sum, new(big.Rat).Abs(exact[i][j]))
				if new(big.Rat).Abs(x[i][j]).Cmp(numtest.Exact(math.Ldexp(1, int(v.Col[j]+1)))) > 0 {
					t.Fatalf("%s: column %d of X beyond 2^%d", name, j, v.Col[j]+1)
				}
				for k := range n {
					both.Add(both, new(big.Rat).Abs(new(big.Rat).Mul(x[i][k], exact[k][j])))
				}
			}
			if left.Cmp(numtest.Exact(rho)) > 0 || size.Cmp(numtest.Exact(norm)) > 0 || sum.Cmp(numtest.Exact(math.Ldexp(1, int(v.Row[i])))) > 0 || both.Cmp(amp) > 0 {
				t.Fatalf("%s: row %d: %s beyond %g, %s beyond %g, %s beyond 2^%d or %s beyond %g", name, i, left.FloatString(30), rho, size.FloatString(3), norm, sum.FloatString(3), v.Row[i], both.FloatString(3), v.Amp)
			}
		}
		b := halfulp.Identity(halfulp.Float64, n)
		to := halfulp.NewMatrix(halfulp.MP(uint(54+r.IntN(500))), n, n)
		todo := ziv.NewEntries(s, a.View(), b.View(), to.View())
		if err := newton.SolveByNewton(s, a.View(), b.View(), lu, to.View(), todo); err != nil {
			t.Fatal(name, err)
		}
		want := lintest.Of(a).Solve(lintest.Identity(n))
		for j, e := range todo {
			left := map[int]bool{}
			if e != nil {
				for _, i := range e.Open {
					left[i] = true
				}
			}
			for i := range n {
				if all++; left[i] {
					continue
				}
				decided++
				if x := lintest.Nearest(to.NumberFormat(), want[i][j]); !to.At(i, j).Same(x) {
					t.Fatalf("%s: entry %d, %d is %s, want %s", name, i, j, to.At(i, j).Hex(), x.Hex())
				}
			}
		}
	}
	if !enough() {
		t.Errorf("%d of %d entries decided, %d of %d gains above 60 bits, %d above 105", decided, all, gains, trials, more)
	}
}

// TestStepsInError takes steps and enclosures by products that are not rounded correctly. The
// claims about I - X F, |X| |F|, columns of X, and the inverse hold, and errors are about as small
// as they may be.
func TestStepsInError(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 1))
	within := func(name string, x *big.Rat, bound *big.Float) {
		t.Helper()
		if b, _ := bound.Rat(nil); x.Cmp(b) > 0 {
			t.Fatalf("%s: %s beyond %g", name, x.FloatString(30), bound)
		}
	}
	trials, begun := testlength.Of(6, 16, 200), 0
	enough := func() bool { return begun >= trials/2 }
	for trial := range testlength.Until(trials, enough) {
		n := 4 + r.IntN(8)
		a := lintest.Ill(r, halfulp.MP(uint(40+r.IntN(400))), n, r.IntN(20))
		s := prooftest.Run(t, 1+trial%2)
		s.Reuse = true
		s.Set.Method = "residue" // other products are rounded correctly
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := newton.SolveByFloats(s, a.View(), lu, trial%2 == 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if v == nil { // too ill-conditioned for float64 numbers
			s.Release()
			continue
		}
		begun++
		exact := lintest.Of(a).Scaled(lu.Scaling.Rows, lu.Scaling.Cols)
		for _, bits := range []int{150, 151 + r.IntN(100), 400} {
			if err := v.Refine(bits); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("seed %d, trial %d, n = %d, gain %d", draw, trial, n, v.Gain())
			x := lintest.Of(halfulp.MatrixOf(v.X))
			e := x.Times(exact, n)
			for i := range n {
				left, both := new(big.Rat), new(big.Rat)
				for j := range n {
					if i == j {
						e[i][j].Sub(e[i][j], numtest.Exact(1))
					}
					left.Add(left, e[i][j].Abs(e[i][j]))
					within(name, new(big.Rat).Abs(x[i][j]), bound.Exp2(int(v.Col[j]+1)))
					for k := range n {
						both.Add(both, new(big.Rat).Abs(new(big.Rat).Mul(x[i][k], exact[k][j])))
					}
				}
				within(name, left, v.Rho)
				within(name, both, v.Amp)
			}
			if v.Gain() < bits {
				t.Fatalf("%s in place of %d", name, bits)
			}
		}
		bits := 500 + r.IntN(800)
		y, err := v.Inverse(bits)
		if err != nil {
			t.Fatal(err)
		}
		x, d, want := lintest.Of(halfulp.MatrixOf(y.X)), lintest.Of(halfulp.MatrixOf(y.D)), exact.Solve(lintest.Identity(n))
		for j, top := range call.ColumnTops(y.X, -1<<30) {
			name := fmt.Sprintf("seed %d, trial %d, n = %d, column %d of %d bits", draw, trial, n, j, bits)
			for i := range n {
				off := new(big.Rat).Add(x[i][j], d[i][j])
				within(name, off.Abs(off.Sub(off, want[i][j])), bound.Exp2(int(y.Err[j])))
			}
			if y.Err[j] > top-int64(bits)+6 {
				t.Fatalf("%s: errors below 2^%d, numbers 2^%d", name, y.Err[j], top)
			}
		}
		s.Release()
	}
	if !enough() {
		t.Errorf("%d of %d trials had a beginning", begun, trials)
	}
}
