package main

import (
	"testing"

	"github.com/halfulp/halfulp"
)

// TestSpectraReference checks the records of spectra of matrices on a GPU: they have the bits of
// the host, live on the GPU, and give the memory back.
func TestSpectraReference(t *testing.T) {
	o := newStranger(t)
	f := halfulp.MP(90)
	host := make([]*halfulp.Matrix, 3)
	at := make([]*halfulp.Matrix, 3)
	tall, err := random(f, 5, 3, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	host[0] = tall
	// AᵀA, and a right-hand side
	for i, k := range []halfulp.Transpose{halfulp.Trans, halfulp.NoTrans} {
		host[i+1] = halfulp.NewMatrix(f, 3+2*i, 3)
		other := tall
		if k == halfulp.NoTrans {
			other = halfulp.Identity(f, 3)
		}
		if err := halfulp.Gemm(k, halfulp.NoTrans, halfulp.Float(1), tall, other, halfulp.Float(0), host[i+1], nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, m := range host {
		if at[i], err = m.On("cuda:0"); err != nil {
			t.Fatal(err)
		}
	}
	half := halfulp.Float(0.5)
	for name, spectrum := range map[string]func(m []*halfulp.Matrix) (*record, error){
		"svd":        func(m []*halfulp.Matrix) (*record, error) { return svd(m[0], true, true, 0, f, nil) },
		"polar":      func(m []*halfulp.Matrix) (*record, error) { return polar(m[0], f, nil) },
		"truncated":  func(m []*halfulp.Matrix) (*record, error) { return leastSquaresRank(m[0], m[2], &half, f, nil) },
		"expansions": func(m []*halfulp.Matrix) (*record, error) { return leastSquaresRank(m[0], m[2], nil, halfulp.DD, nil) },
		"geigh": func(m []*halfulp.Matrix) (*record, error) {
			return eigh(halfulp.Upper, m[1], m[1], true, 0, -1, nil, nil, f, nil)
		},
	} {
		want, err := spectrum(host)
		if err != nil {
			t.Fatal(name, err)
		}
		// The first time the GPU gets tables that stay there.
		for k := range 2 {
			before := o.dev.Counters().InUse
			got, err := spectrum(at)
			if err != nil {
				t.Fatal(name, err)
			}
			handle := newHandle(&object{got, got.memory})
			for i, p := range want.parts {
				w, ok := p.value.(*halfulp.Matrix)
				if !ok {
					continue
				}
				g := got.parts[i].value.(*halfulp.Matrix)
				if h, err := g.Host(); err != nil || g.Device() != "cuda:0" || !h.Same(w) {
					t.Errorf("%s: %s on %s: %v, want %v (%v)", name, p.name, g.Device(), h, w, err)
				}
			}
			freeHandle(handle)
			if after := o.dev.Counters().InUse; k == 1 && after != before {
				t.Errorf("%s: %d bytes are in use, %d were", name, after, before)
			}
		}
	}
}
