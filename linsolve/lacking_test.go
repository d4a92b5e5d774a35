package linsolve

import (
	"errors"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/linsolve/internal/det"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// A lacking place offers Newton and no other part.
type lacking struct {
	place.Place
	place.Newton
}

// TestLackingParts solves systems at a place that offers only Newton and leaves operations that
// need other parts to the host.
func TestLackingParts(t *testing.T) {
	gputest.OnDevices(t, 26, 60, func(t *testing.T, n int) {
		f := halfulp.Float64
		a, b := gramIn(t, f, n, 0, 1), gallery.Random(f, n, 1, 0, 2)
		want, err := Solve(a, b, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		on, right := put(t, a), put(t, b)
		start := func() *call.Run {
			s := tracedOn(t, on)
			at := place.Of(on.View().Arr)
			s.At = call.At(lacking{at, partOf[place.Newton](t, at)})
			return s
		}
		z, err := newton.SolveThere(start(), on.View(), right.View(), f.View())
		if err != nil || z.Arr == nil {
			t.Fatalf("%v, %v", z, err)
		}
		checkSameThere(t, "solution", halfulp.MatrixOf(z), want)
		for name, run := range map[string]func(s *call.Run) (made bool, err error){
			"Cholesky": func(s *call.Run) (bool, error) {
				z, err := factors.CholeskyOnDevice(s, on.View(), f.View())
				return z.Arr != nil, err
			},
			"LU": func(s *call.Run) (bool, error) {
				z, err := factors.LUOnDevice(s, on.View(), f.View())
				return z != nil, err
			},
			"QR": func(s *call.Run) (bool, error) {
				z, err := factors.QROnDevice(s, on.View(), f.View(), false)
				return z != nil, err
			},
			"QRPivoted": func(s *call.Run) (bool, error) {
				z, err := factors.QROnDevice(s, on.View(), f.View(), true)
				return z != nil, err
			},
			"Det": func(s *call.Run) (bool, error) {
				d, err := det.Traced(s, on.View(), 65)
				return d != nil, err
			},
		} {
			made, err := run(start())
			if made || !errors.Is(err, place.ErrUnsupported) || call.Resignable(err) != nil {
				t.Errorf("%s: %v, %v", name, made, err)
			}
		}
	})
}
