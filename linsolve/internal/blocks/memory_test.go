package blocks

import (
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// TestDetBytes checks that determinants take at most a multiple of the bytes of the matrix, and
// less in more parts.
func TestDetBytes(t *testing.T) {
	for _, c := range []struct {
		f     num.Format
		n     int
		times float64
	}{{num.Float64, 1000, 4}, {num.Float64, 2500, 4}, {num.Precision(1000), 400, 2}} {
		a := num.Mat{Arr: num.NewMat(c.f, 0, 0).Arr, RS: 1, CS: c.n, Rows: c.n, Cols: c.n}
		least, floats := detBytes(a, c.f.Bits()+12, mostParts)
		if most := c.times * float64(call.MatrixBytes(c.f, c.n, c.n)); least > most {
			t.Errorf("order %d in %v takes %.0f bytes, more than %.0f", c.n, c.f, least, most)
		}
		if all, _ := detBytes(a, c.f.Bits()+12, 1); all <= least || floats >= least {
			t.Errorf("order %d in %v takes %.0f bytes in parts, %.0f in one, %.0f in float64", c.n, c.f, least, all, floats)
		}
	}
}
