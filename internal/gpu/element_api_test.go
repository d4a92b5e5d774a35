package gpu_test

import (
	"errors"
	"testing"

	. "github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/stats"
)

// TestElements compares routines of level 1 on "cuda:0", for operands of the host, with those
// on the CPU.
func TestElements(t *testing.T) {
	onGPU := &Options{Device: "cuda:0"}
	gputest.OnDevices(t, 12, 50, func(t *testing.T, size int) {
		for _, f := range []Format{Float32, Float64, DD, MP(106), MP(424)} {
			a, x := gallery.Random(f, size, size+3, 5, 1), gallery.Random(MP(80), size, 1, 5, 2).Col(0)
			y := gallery.Random(Float64, 2*size+6, 1, 5, 3).Col(0).Stride(-2)
			third := must(ParseScalar(MP(80), "0.33333"))
			for _, alpha := range []Scalar{Float(-1), third, Float(0)} {
				for _, r := range []struct {
					name string
					call func(z *Matrix, opt *Options) error
				}{
					{"Ger", func(z *Matrix, opt *Options) error { return Ger(alpha, x, y, z, opt) }},
					{"Ger of a transpose", func(z *Matrix, opt *Options) error { return Ger(alpha, y, x, z.T(), opt) }},
					{"Ger within a matrix", func(z *Matrix, opt *Options) error {
						return Ger(alpha, z.Col(1), z.Row(2), z, opt)
					}},
					{"Axpy", func(z *Matrix, opt *Options) error { return Axpy(alpha, x, z.Col(2).Stride(-1), opt) }},
					{"Axpy within a vector", func(z *Matrix, opt *Options) error {
						return Axpy(alpha, z.Vec().Slice(0, size), z.Vec().Slice(1, size+1), opt)
					}},
					{"Scal", func(z *Matrix, opt *Options) error { return Scal(alpha, z.Row(3), opt) }},
				} {
					got, want := a.Clone(), a.Clone()
					ok(r.call(want, onCPU))
					var st Stats
					err := r.call(got, onGPU.WithStats(&st))
					if err != nil || !got.Same(want) || st.Device != "cuda:0" {
						t.Errorf("%s of %v, alpha %v: other bits than on the CPU; %+v, %v", r.name, f, alpha, st, err)
					}
				}
			}
			for _, r := range []struct {
				name string
				call func(x *Vector, f Format, opt *Options) (Scalar, error)
			}{
				{"Mean", stats.Mean}, {"StdDev", stats.StdDev}, {"Autocorr1", stats.Autocorr1},
				{"Iamax", func(x *Vector, _ Format, opt *Options) (Scalar, error) {
					i, err := Iamax(x, opt)
					return Float(float64(i)), err
				}},
			} {
				for _, v := range []*Vector{a.Vec(), a.Row(1).Stride(-2), a.Vec().Slice(0, 2), a.Vec().Slice(0, 1), a.Vec().Slice(0, 0)} {
					want, err := r.call(v, f, onCPU)
					if err != nil {
						t.Fatal(err)
					}
					var st Stats
					got, err := r.call(v, f, onGPU.WithStats(&st))
					if err != nil || !got.Same(want) || st.Device != "cuda:0" {
						t.Errorf("%s of %d %v: %v, want %v; %+v, %v", r.name, v.Len(), f, got, want, st, err)
					}
				}
			}
		}
	})
}

// TestElementMemory checks the error where a GPU has too little memory.
func TestElementMemory(t *testing.T) {
	devs, drivers := gputest.References(t, 1)
	defer mem.Substitute(devs...)()
	drivers[0].TotalMemory = 1 << 20
	opt := &Options{Device: "cuda:0"}
	x := gallery.Random(MP(424), 1<<15, 1, 5, 1).Col(0)
	y := x.Clone()
	for i, call := range []func() error{
		func() error { return Axpy(Float(3), x, y, opt) },
		func() error { return Scal(Float(3), y, opt) },
		func() error { _, err := Iamax(x, opt); return err },
		func() error { _, err := stats.Mean(x, Float64, opt); return err },
	} {
		if err := call(); !errors.Is(err, ErrMemory) {
			t.Errorf("routine %d: %v", i, err)
		}
	}
	if !y.Same(x) {
		t.Error("a failed routine changed its output")
	}
}
