package superacc

import (
	"testing"

	"github.com/halfulp/halfulp/internal/num"
)

// TestExactSubnormalEnclosed encloses a subnormal number: it may be exact, so nothing
// may be counted.
func TestExactSubnormalEnclosed(t *testing.T) {
	var a Acc
	a.Add(num.Real{Class: num.Finite, Exp: -1070, Mag: []uint64{3}})
	z := num.New(num.Float64, 1)
	if f, ok := a.RoundEnclosure(z, num.Real{Class: num.Finite, Exp: -1200, Mag: []uint64{1}}); ok {
		t.Errorf("decided, with flags %v", f)
	}
}
