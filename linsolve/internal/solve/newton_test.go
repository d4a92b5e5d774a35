package solve_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// TestNewtonFar checks that no steps are planned from an inverse that steps would not improve.
func TestNewtonFar(t *testing.T) {
	const n = 3
	s := prooftest.Run(t, runtime.GOMAXPROCS(0))
	a := halfulp.Identity(halfulp.Float64, n)
	p, err := solve.ApproximateInverse(s, a.View())
	if err != nil {
		t.Fatal(err)
	}
	for e := 1; e <= 8; e++ {
		p.Rho = bound.Exp2(-e)
		switch v := newton.New(s, a.View(), p, math.MaxInt32); {
		case v == nil && e > newton.LeastNewton:
			t.Errorf("none for 2^-%d", e)
		case v == nil:
		case v.Gain() < newton.LeastNewton:
			t.Errorf("one for 2^-%d", e)
		default:
			if err := v.Refine(100); err != nil || v.Gain() < 100 {
				t.Errorf("gain %d from 2^-%d: %v", v.Gain(), e, err)
			}
		}
	}
}
