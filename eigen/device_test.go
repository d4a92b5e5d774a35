package eigen_test

import (
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/symeig"
)

// TestDevices compares spectra with products on a GPU, of matrices of the host and of the GPU, with
// spectra computed on the host.
func TestDevices(t *testing.T) {
	defer func(n int) { sym.SeedFrom = n }(sym.SeedFrom)
	sym.SeedFrom = 4
	defer func(n int) { symeig.MergeFrom = n }(symeig.MergeFrom)
	symeig.MergeFrom = 3
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
		// A circulant matrix has pairs of equal eigenvalues.
		double, banded := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.Float64, n, n)
		for i := range n {
			for j := range n {
				apart := max(i-j, j-i)
				double.SetFloat64(i, j, 1/float64(1+min(apart, n-apart)))
				if i == j || i == j+1 || j == i+1 {
					banded.SetFloat64(i, j, float64(2+(i+j)/2-3*max(i-j, j-i)))
				}
			}
		}
		f := halfulp.MP(106)
		for _, c := range []struct {
			name string
			a    *halfulp.Matrix
			f    halfulp.Format
			opt  eigen.SymOptions
		}{
			{"", s, f, eigen.SymOptions{}}, {"of the device", there, f, eigen.SymOptions{}}, {"of float64", s, halfulp.Float64, eigen.SymOptions{}},
			{"of two float64", s, halfulp.DD, eigen.SymOptions{}}, {"of 300 bits", s, halfulp.MP(300), eigen.SymOptions{}},
			{"alone", s, halfulp.Float64, eigen.SymOptions{ValuesOnly: true}}, {"of some indices", s, halfulp.Float64, eigen.SymOptions{Index: &[2]int{2, n / 2}}},
			{"in an interval", s, halfulp.Float64, eigen.SymOptions{Above: new(halfulp.Float(0))}}, {"of a matrix with pairs", double, halfulp.Float64, eigen.SymOptions{}},
			{"of a banded matrix", banded, halfulp.Float64, eigen.SymOptions{}},
		} {
			here := c.a
			if here == there {
				here = s
			}
			opt := c.opt
			opt.Device = halfulp.CPU
			want, err := eigen.Sym(here, c.f, &opt)
			if err != nil {
				t.Fatal(err)
			}
			var st halfulp.Stats
			opt.Device, opt.Stats = "cuda:0", &st
			got, err := eigen.Sym(c.a, c.f, &opt)
			if err != nil {
				t.Fatal(err)
			}
			if st.Device != "cuda:0" {
				t.Errorf("products on %s", st.Device)
			}
			same("eigenvalues "+c.name, got.Values.Matrix(), want.Values.Matrix())
			if want.Vectors != nil {
				same("eigenvectors "+c.name, got.Vectors, want.Vectors)
			}
			if (c.a == double) != (len(want.Clusters) > 0) {
				t.Errorf("eigenvalues %s: clusters %v", c.name, want.Clusters)
			}
			if !slices.Equal(got.Clusters, want.Clusters) || got.First != want.First {
				t.Errorf("eigenvalues %s: clusters %v from %d on the device, %v from %d", c.name, got.Clusters, got.First, want.Clusters, want.First)
			}
		}
		near := gallery.Random(halfulp.Float64, n, n, 3, 2) // of condition 2^40
		for j := range n {
			near.SetFloat64(n-1, j, near.Float64(n-1, j)*0x1p-40)
		}
		for _, c := range []*halfulp.Matrix{a, gallery.Random(halfulp.Float64, n+5, n, 2, 3), near} {
			for _, only := range []bool{false, true} {
				want, err := eigen.SVD(c, f, &eigen.SVDOptions{ValuesOnly: only, Options: halfulp.Options{Device: halfulp.CPU}})
				if err != nil {
					t.Fatal(err)
				}
				got, err := eigen.SVD(c, f, &eigen.SVDOptions{ValuesOnly: only, Options: halfulp.Options{Device: "cuda:0"}})
				if err != nil {
					t.Fatal(err)
				}
				same("singular values", got.S.Matrix(), want.S.Matrix())
				if !only {
					same("left singular vectors", got.U, want.U)
					same("right singular vectors", got.V, want.V)
				}
			}
		}
	})
}

// TestDeviceMemory has the launches of a decomposition fail for lack of memory, one at a time: the
// host computes the same results.
func TestDeviceMemory(t *testing.T) {
	defer func(n int) { sym.SeedFrom = n }(sym.SeedFrom)
	sym.SeedFrom = 4
	devs, drivers := gputest.References(t, 1)
	defer mem.Substitute(devs...)()
	a := gallery.Random(halfulp.Float64, 5, 5, 3, 2)
	want, err := eigen.SVD(a, halfulp.Float64, &eigen.SVDOptions{Options: halfulp.Options{Device: halfulp.CPU}})
	if err != nil {
		t.Fatal(err)
	}
	for after := range 60 {
		drivers[0].Fail("LaunchKernel", after, cudadrv.OutOfMemory)
		got, err := eigen.SVD(a, halfulp.Float64, &eigen.SVDOptions{Options: halfulp.Options{Device: "cuda:0"}})
		if err != nil {
			t.Fatalf("launch %d: %v", after, err)
		}
		if !got.S.Matrix().Same(want.S.Matrix()) || !got.U.Same(want.U) || !got.V.Same(want.V) {
			t.Fatalf("launch %d: results differ", after)
		}
		drivers[0].Forgive()
	}
}

// TestSeveralDevices has options and an operand that name two GPUs: the first GPU computes as it
// does alone, and the second one launches no kernel.
func TestSeveralDevices(t *testing.T) {
	defer func(n int) { sym.SeedFrom = n }(sym.SeedFrom)
	sym.SeedFrom = 4
	devs, drivers := gputest.References(t, 2)
	defer mem.Substitute(devs...)()
	s := halfulp.NewMatrix(halfulp.Float64, 8, 8)
	for i := range 8 {
		for j := range 8 {
			s.SetFloat64(i, j, 1/float64(1+i+j*j*i+j+i*i*j))
		}
	}
	there, err := s.On("cuda:0,1")
	if err != nil {
		t.Fatal(err)
	}
	defer there.Free()
	launches := func(d int) (n int) {
		for _, name := range drivers[d].Calls() {
			if name == "LaunchKernel" {
				n++
			}
		}
		drivers[d].ForgetCalls()
		return n
	}
	run := func(a *halfulp.Matrix, device halfulp.Device) (list []*halfulp.Matrix) {
		var st halfulp.Stats
		opt := halfulp.Options{Device: device, Stats: &st}
		z, err := eigen.Sym(a, halfulp.Float64, &eigen.SymOptions{Options: opt})
		if err != nil {
			t.Fatal(err)
		}
		y, err := eigen.SVD(a, halfulp.Float64, &eigen.SVDOptions{Options: opt})
		if err != nil {
			t.Fatal(err)
		}
		if device != halfulp.CPU && st.Device != "cuda:0" {
			t.Errorf("%s: products on %s", device, st.Device)
		}
		for _, m := range []*halfulp.Matrix{z.Values.Matrix(), z.Vectors, y.S.Matrix(), y.U, y.V} {
			h, err := m.Host()
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, h)
			if m.Device() != halfulp.CPU {
				m.Free()
			}
		}
		return list
	}
	want := run(s, halfulp.CPU)
	run(s, "cuda:0")
	alone := launches(0)
	launches(1)
	for _, a := range []*halfulp.Matrix{s, there} {
		for k, z := range run(a, "cuda:0,1") {
			if !z.Same(want[k]) {
				t.Errorf("result %d of a matrix on %s differs", k, a.Device())
			}
		}
		if first, second := launches(0), launches(1); alone == 0 || first < alone || second > 0 {
			t.Errorf("a matrix on %s: the GPUs launch %d and %d kernels, one GPU %d", a.Device(), first, second, alone)
		}
	}
}
