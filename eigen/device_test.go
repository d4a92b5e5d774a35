package eigen_test

import (
	"testing"

	"github.com/halfulp/halfulp"
	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
)

// TestDevices compares spectra with products on a GPU, of matrices of the host and of the GPU, with
// spectra computed on the host.
func TestDevices(t *testing.T) {
	defer func(n int) { sym.SeedFrom = n }(sym.SeedFrom)
	sym.SeedFrom = 4
	gputest.OnDevices(t, 12, 200, func(t *testing.T, n int) {
		a := gallery.Random(halfulp.Float64, n, n, 3, 2)
		s := halfulp.NewMatrix(halfulp.Float64, n, n)
		for i := range n {
			for j := range n {
				s.Set(i, j, a.At(max(i, j), min(i, j)))
			}
		}
		there, err := s.On("cuda:0")
		if err != nil {
			t.Fatal(err)
		}
		defer there.Free()
		f := halfulp.MP(106)
		same := func(name string, got, want *halfulp.Matrix) {
			if got.Device() != halfulp.CPU {
				var err error
				if got, err = got.Host(); err != nil {
					t.Fatal(err)
				}
			}
			if !got.Same(want) {
				t.Errorf("%s differ on the device", name)
			}
		}
		want, err := eigen.Sym(s, f, &eigen.SymOptions{Options: halfulp.Options{Device: halfulp.CPU}})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*halfulp.Matrix{s, there} {
			var st halfulp.Stats
			got, err := eigen.Sym(m, f, &eigen.SymOptions{Options: halfulp.Options{Device: "cuda:0", Stats: &st}})
			if err != nil {
				t.Fatal(err)
			}
			if st.Device != "cuda:0" {
				t.Errorf("products on %s", st.Device)
			}
			same("eigenvalues", got.Values.Matrix(), want.Values.Matrix())
			same("eigenvectors", got.Vectors, want.Vectors)
		}
		values, err := eigen.SVD(a, f, &eigen.SVDOptions{Options: halfulp.Options{Device: halfulp.CPU}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := eigen.SVD(a, f, &eigen.SVDOptions{Options: halfulp.Options{Device: "cuda:0"}})
		if err != nil {
			t.Fatal(err)
		}
		same("singular values", got.S.Matrix(), values.S.Matrix())
		same("left singular vectors", got.U, values.U)
		same("right singular vectors", got.V, values.V)
	})
}
