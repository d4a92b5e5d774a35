package linsolve

import (
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// TestFactorsOnDevices checks that factors of matrices on a GPU have the bits of the host: on a
// fake device whose kernels are written in Go, and on the devices of the machine.
func TestFactorsOnDevices(t *testing.T) {
	gputest.OnDevices(t, seed.Fewest+2, 150, compareDevices)
}

func compareDevices(t *testing.T, n int) {
	f := halfulp.MP(106)
	square := gallery.Random(f, n, n, 0, 1)
	spd := lintest.Gram(square)
	for name, factor := range map[string]func(a, s *halfulp.Matrix, opt *halfulp.Options) ([]*halfulp.Matrix, error){
		"LU": func(a, _ *halfulp.Matrix, opt *halfulp.Options) ([]*halfulp.Matrix, error) {
			z, err := LU(a, f, opt)
			return []*halfulp.Matrix{z.L, z.U}, err
		},
		"QR": func(a, _ *halfulp.Matrix, opt *halfulp.Options) ([]*halfulp.Matrix, error) {
			z, err := QR(a, f, opt)
			return []*halfulp.Matrix{z.Q, z.R}, err
		},
		"LDLT": func(_, s *halfulp.Matrix, opt *halfulp.Options) ([]*halfulp.Matrix, error) {
			z, err := LDLT(s, f, opt)
			return []*halfulp.Matrix{z.L, z.D}, err
		},
	} {
		want, err := factor(square, spd, &halfulp.Options{Device: "cpu"})
		if err != nil {
			t.Fatal(err)
		}
		var on [2]*halfulp.Matrix
		for i, m := range []*halfulp.Matrix{square, spd} {
			if on[i], err = m.On("cuda:0"); err != nil {
				t.Fatal(err)
			}
		}
		var stats halfulp.Stats
		got, err := factor(on[0], on[1], &halfulp.Options{Stats: &stats})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if stats.Device != "cuda:0" {
			t.Errorf("%s: products on %s", name, stats.Device)
		}
		for i := range got {
			h, err := got[i].Host()
			if err != nil {
				t.Fatal(err)
			}
			if !h.Same(want[i]) {
				t.Errorf("%s: factor %d differs on the device", name, i)
			}
		}
		on[0].Free()
		on[1].Free()
	}
}
