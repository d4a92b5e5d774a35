package linsolve

import (
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
)

// TestFixedLU eliminates matrices whose entries grow beyond what a small headroom holds.
func TestFixedLU(t *testing.T) {
	r := testseed.Rand(t, 2, 1)
	a := lintest.Growing(r, 24)
	e := blocks.NewFixedLU(a.View(), 16, 100)
	for k := 0; k < 24 && !e.Far; k++ {
		e.Step(k)
	}
	if !e.Far {
		t.Error("entries up to 2^22 are within 2^7")
	}
	checkDet(t, "growing", a, halfulp.MP(100))
	large := halfulp.NewMatrix(halfulp.Float64, 2, 2)
	large.SetFloat64(0, 0, 128)
	if !blocks.NewFixedLU(large.View(), 16, 100).Far {
		t.Error("128 is within 2^7")
	}
}
