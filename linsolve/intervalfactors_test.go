package linsolve

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// farApart returns a matrix of numbers of 40 bits with exponents up to far apart from 0, symmetric
// if that is asked for, some of them 0.
func farApart(r *rand.Rand, f halfulp.Format, n, far int, symmetric bool) *halfulp.Matrix {
	a := halfulp.NewMatrix(f, n, n)
	for i := range n {
		for j := range n {
			x := new(big.Float)
			if r.IntN(6) > 0 {
				x.SetInt64(r.Int64N(1<<40) - 1<<39)
			}
			a.SetBig(i, j, x.SetMantExp(x, r.IntN(2*far+1)-far))
			if symmetric && j <= i {
				a.Set(j, i, a.At(i, j))
			}
		}
	}
	return a
}

func TestDifference(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(300, 3000, 30000) {
		p := interval.Prec(2 + r.IntN(90))
		number := func() *big.Float {
			if r.IntN(9) == 0 {
				return new(big.Float)
			}
			x := new(big.Float).SetInt64(r.Int64N(1<<20) - 1<<19)
			return x.SetMantExp(x, r.IntN(400)-200)
		}
		x, y := number(), number()
		exact := interval.ExactSub(x, y)
		lo, hi := p.Difference(p.Down(), x, y, -1), p.Difference(p.Up(), x, y, 1)
		if lo.Cmp(exact) > 0 || hi.Cmp(exact) < 0 {
			t.Fatalf("seed %d, trial %d: %g - %g is not between %g and %g", seed, trial, x, y, lo, hi)
		}
		width := interval.ExactSub(hi, lo)
		if most := max(x.MantExp(nil), y.MantExp(nil)) + 3 - int(p); width.Sign() > 0 && width.MantExp(nil) > most+1 {
			t.Fatalf("seed %d, trial %d: %g - %g in %d bits is between %g and %g", seed, trial, x, y, p, lo, hi)
		}
	}
}

// TestEliminateIntervals has exact factors for an oracle.
func TestEliminateIntervals(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	s := prooftest.Run(t, 2)
	narrow := 0
	for trial := range testlength.Of(10, 60, 600) {
		n := 1 + r.IntN(8)
		a := farApart(r, halfulp.MP(64), n, []int{0, 40, 3000}[r.IntN(3)], false)
		g, err := factors.EliminateIntervals(s, a.View(), ziv.Ones(n), 150, true)
		if err != nil {
			t.Fatal(err)
		}
		x, ok := lintest.Of(a).Rows(g.Order).LU(n)
		if !ok && g.Bad < 0 {
			t.Fatalf("seed %d, trial %d: factors of a singular matrix", seed, trial)
		}
		if g.Bad >= 0 {
			continue
		}
		for i := range n {
			for j := range n {
				v := g.X[i][j]
				lo, _ := v.Lo.Rat(nil)
				hi, _ := v.Hi.Rat(nil)
				if lo.Cmp(x[i][j]) > 0 || hi.Cmp(x[i][j]) < 0 {
					t.Fatalf("seed %d, trial %d: entry %d, %d is not between %g and %g", seed, trial, i, j, v.Lo, v.Hi)
				}
				if !v.HasZero() && ziv.BitsMissing(v, 53) == 0 {
					narrow++
				}
			}
		}
	}
	if narrow == 0 {
		t.Fatal("no interval tells an entry")
	}
}

// TestFactorsFarApart has exponents that neither digits nor products reach, and exact oracles.
func TestFactorsFarApart(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(2, 12, 100) {
		n := 2 + r.IntN(6)
		f := lintest.Formats[r.IntN(len(lintest.Formats))]
		name := fmt.Sprintf("seed %d, trial %d, %v, n = %d", seed, trial, f, n)
		checkLU(t, name, farApart(r, halfulp.MP(64), n, 4000, false), f)
		checkLDLT(t, name, farApart(r, halfulp.MP(64), n, 4000, true), f)
		// Symmetric and dominated by its diagonal, D A D.
		a := farApart(r, halfulp.MP(200), n, 3000, true)
		top := make([]int, n)
		for i := range top {
			top[i] = r.IntN(8000) - 4000
		}
		for i := range n {
			for j := range n {
				x := a.Big(i, j)
				if i == j {
					x.SetInt64(1<<50 + r.Int64N(1<<40))
				} else if x.Sign() != 0 {
					x.SetMantExp(x, -3000-x.MantExp(nil)/2) // far below 1
				}
				a.SetBig(i, j, x.SetMantExp(x, top[i]+top[j]))
				if j < i {
					a.Set(i, j, a.At(j, i))
				}
			}
		}
		checkCholesky(t, name, a, f)
	}
}

// TestZerosOfIntervals has zeros of L beside pivots of order 2, of whose inverses some are zeros as
// well, negated: they are 0, not -0.
func TestZerosOfIntervals(t *testing.T) {
	r := testseed.Rand(t, 7, 8)
	twos := 0
	for trial := range 80 {
		n := 3 + trial%4
		a := halfulp.NewMatrix(halfulp.MP(24), n, n)
		for i := range n {
			for j := range i + 1 {
				if r.IntN(3) > 0 {
					a.SetBig(i, j, power2(float64(r.IntN(7)-3), []int{0, 0, -4000, 4000, 60}[r.IntN(5)]))
					a.Set(j, i, a.At(i, j))
				}
			}
		}
		twos += checkLDLT(t, fmt.Sprintf("trial %d, n = %d", trial, n), a, halfulp.Float64)
	}
	if twos == 0 {
		t.Fatal("no pivots of order 2")
	}
}

// TestInvertBlock has a block whose inverse leaves the exponents that products may have.
func TestInvertBlock(t *testing.T) {
	p := interval.Prec(64)
	block := func(x, y float64, e int) [][]interval.Interval {
		off := interval.Of(power2(x, e))
		return [][]interval.Interval{{interval.Of(power2(y, -e)), off}, {off, interval.Of(power2(y, -e))}}
	}
	if p.InvertBlock(block(1, 1, 1<<28), 0, 2) == nil {
		t.Error("no inverse")
	}
	if z := p.InvertBlock(block(1, 1, 1<<29-64), 0, 2); z != nil {
		t.Errorf("an entry of the inverse has exponent %d", z[0][0].Hi.MantExp(nil))
	}
}

// TestTooFarApart wants an answer or an error that says why there is none, in little memory
// and long before go test gives up, for exponents that no format has the bits between.
func TestTooFarApart(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	answers := 0
	for _, far := range []int{1_000_000, 100_000_000} {
		for _, n := range []int{3, 7, testlength.Of(12, 24, 40)} {
			for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(424)} {
				a, b := farApart(r, f, n, 0, false), farApart(r, f, n, 0, true)
				for _, m := range []*halfulp.Matrix{a, b} {
					c := halfulp.NewMatrix(halfulp.MP(424), n, n)
					for i := range n {
						for j := range n {
							x := m.Big(i, j)
							e := r.IntN(2*far) - far
							if m == b && j > i {
								continue
							}
							c.SetBig(i, j, x.SetMantExp(x, e))
							if m == b {
								c.Set(j, i, c.At(i, j))
							}
						}
					}
					x := halfulp.NewMatrix(f, n, n)
					_, _, luErr := LU(c, f, nil)
					_, invErr := Inverse(c, x, nil)
					errs := map[string]error{"LU": luErr, "Inverse": invErr}
					if m == b {
						_, _, errs["LDLT"] = LDLT(c, f, nil)
						_, _, errs["Cholesky"] = Cholesky(c, f, nil)
					}
					for name, err := range errs {
						switch {
						case err == nil || errors.Is(err, ErrSingular) || errors.Is(err, ErrNotPositiveDefinite):
							answers++
						case !errors.Is(err, call.ErrRange) && !errors.Is(err, halfulp.ErrMemory):
							t.Errorf("%s, exponents up to %d, n = %d, %v: %v", name, far, n, f, err)
						}
					}
				}
			}
		}
	}
	if answers == 0 {
		t.Error("no answer at all")
	}
}
