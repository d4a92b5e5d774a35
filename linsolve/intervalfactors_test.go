package linsolve

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestFactorsFarApart uses exponents that neither digits nor products reach, and exact oracles.
func TestFactorsFarApart(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(2, 4, 100) {
		n := 2 + r.IntN(6)
		f := lintest.Formats[r.IntN(len(lintest.Formats))]
		name := fmt.Sprintf("seed %d, trial %d, %v, n = %d", seed, trial, f, n)
		checkLU(t, name, lintest.FarApart(r, halfulp.MP(64), n, 4000, false), f)
		checkLDLT(t, name, lintest.FarApart(r, halfulp.MP(64), n, 4000, true), f)
		// Symmetric and dominated by its diagonal, D A D.
		a := lintest.FarApart(r, halfulp.MP(200), n, 3000, true)
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

// TestZerosOfIntervals uses zeros of L beside pivots of order 2 whose inverses contain negated
// zeros: the entries must be 0, not -0.
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

// TestTooFarApart requires an answer, or an error that says why there is none, in little memory and
// long before the timeout of go test, for exponents so far apart that no format has the bits
// between them.
func TestTooFarApart(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	answers := 0
	for _, far := range []int{1_000_000, 100_000_000} {
		for _, n := range []int{3, 7, testlength.Of(8, 12, 40)} {
			for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(424)} {
				a, b := lintest.FarApart(r, f, n, 0, false), lintest.FarApart(r, f, n, 0, true)
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
					_, luErr := LU(c, f, nil)
					invErr := lintest.Into(x)(Inverse(c, x.NumberFormat(), nil))
					errs := map[string]error{"LU": luErr, "Inverse": invErr}
					if m == b {
						_, errs["LDLT"] = LDLT(c, f, nil)
						_, errs["Cholesky"] = Cholesky(c, f, nil)
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
