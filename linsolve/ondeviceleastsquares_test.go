package linsolve

import (
	"math"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// TestOnDeviceLeastSquares compares solutions on a device with solutions on the host.
func TestOnDeviceLeastSquares(t *testing.T) {
	gputest.OnDevices(t, seed.Fewest+2, 100, func(t *testing.T, n int) {
		dependent, nan := gallery.Random(halfulp.Float64, 2*n, n, 0, 4), gallery.Random(halfulp.Float64, 2*n, n, 0, 4)
		for i := range dependent.Rows() {
			dependent.Set(i, n-1, dependent.At(i, 0))
		}
		nan.SetFloat64(1, 2, math.NaN())
		far := gallery.Random(halfulp.Float64, 4, 2, 0, 1)
		far.SetFloat64(0, 0, 0x1p1000)
		far.SetFloat64(1, 0, 0x1p-1000)
		for _, c := range []struct {
			name     string
			a        *halfulp.Matrix
			k        int
			resident bool // all is done there
		}{
			{"float64", gallery.Random(halfulp.Float64, 3*n, n, 3, 1), 2, true},
			{"mp", gallery.Random(halfulp.MP(150), n+3, n, 3, 2), 2, true},
			{"dd", gallery.Random(halfulp.DD, n, n/2, 0, 3), 1, true},
			{"dependent columns", dependent, 1, false},
			{"nan", nan, 1, false},
			{"far exponents", far, 1, false},
		} {
			f := c.a.NumberFormat()
			b, want := gallery.Random(f, c.a.Rows(), c.k, 1, 9), halfulp.NewMatrix(f, c.a.Cols(), c.k)
			x := put(t, want)
			wantErr := lintest.Into(want)(LeastSquares(c.a, b, want.NumberFormat(), nil))
			var st halfulp.Stats
			err := lintest.Into(x)(LeastSquares(put(t, c.a), put(t, b), x.NumberFormat(), &LeastSquaresOptions{Options: halfulp.Options{Stats: &st}}))
			if wantErr != nil || err != nil {
				if wantErr == nil || err == nil || err.Error() != wantErr.Error() {
					t.Errorf("%s: %v, the host says %v", c.name, err, wantErr)
				}
				continue
			}
			checkSameThere(t, c.name, x, want)
			names := make([]string, len(st.Stages))
			for i, stage := range st.Stages {
				names[i] = stage.Name
			}
			if all := slices.Equal(names, []string{"equations", "approximate inverse", "proof", "products", "rounding"}); all != c.resident {
				t.Errorf("%s: stages %v", c.name, names)
			}
		}
	})
}
