package gpu_test

import (
	"errors"
	"testing"

	. "github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// TestCheck compares checked products on GPUs with products of the host, with operands prepared and
// not. Checked and unchecked products alternate.
func TestCheck(t *testing.T) {
	gputest.OnDevices(t, 12, 150, func(t *testing.T, n int) {
		for _, f := range []Format{Float64, QD, MP(106)} {
			one, zero := Float(1), Float(0)
			a, b := gallery.Random(f, n, n, 3, 1), gallery.Random(f, n, n, 3, 2)
			da, db := Prepare(must(a.On("cuda:0"))), must(b.On("cuda:0"))
			dc := must(NewMatrix(f, n, n).On("cuda:0"))
			want, got := NewMatrix(f, n, n), NewMatrix(f, n, n)
			for name, run := range map[string]func(a, b, c *Matrix, opt *Options) error{
				"Gemm": func(a, b, c *Matrix, opt *Options) error {
					return Gemm(NoTrans, Trans, Float(-3), a, b, zero, c, opt)
				},
				"Syrk": func(a, _, c *Matrix, opt *Options) error { return Syrk(Lower, NoTrans, one, a, zero, c, opt) },
			} {
				ok(run(a, b, want, onCPU))
				for trial := range 4 {
					check := trial%2 == 1
					var resident, host Stats
					ok(run(da, db, dc, &Options{Check: check, Stats: &resident}))
					ok(run(a, b, got, &Options{Device: "cuda:0", Check: check, Stats: &host}))
					for place, st := range map[string]Stats{"resident": resident, "host": host} {
						if st.Device != "cuda:0" || check != (st.Check != nil && st.Check.Compared >= int64(n*(n+1)/2)) {
							t.Errorf("%v, %s, %s: %s, compared %+v", f, name, place, st.Device, st.Check)
						}
					}
					if !got.Same(want) || !must(dc.Host()).Same(want) {
						t.Errorf("%v, %s: other bits", f, name)
					}
				}
			}
			x := must(a.Col(0).On("cuda:0"))
			if _, err := Sum(x, f, &Options{Check: true}); !errors.Is(err, ErrMethod) {
				t.Errorf("Sum: error %v", err)
			}
			if err := Trsm(Left, Upper, NoTrans, NonUnit, one, da, dc, &Options{Check: true}); !errors.Is(err, ErrMethod) {
				t.Errorf("Trsm: error %v", err)
			}
			for _, m := range []interface{ Free() }{da, db, dc, x} {
				m.Free()
			}
		}
	})
}

// TestFaultPlace has a GPU tell of a fault in entry (2, 1) of a product, which is entry (1, 2) of
// the caller's where the transposes are multiplied.
func TestFaultPlace(t *testing.T) {
	const n = 5
	devs, drivers := gputest.References(t, 1)
	defer mem.Substitute(devs...)()
	drivers[0].Kernel("outcomes", func(l *fake.Launch, at, to cuda.Pointer, ticket uint32) {
		o := fake.Slice[abi.Control](l, at, 1)[0].Outcome
		o.Fault = ^uint64((1*n + 2) << 32)
		fake.Slice[abi.Outcome](l, to+abi.ToldAt, 1)[0] = o
		fake.Slice[uint32](l, to, 1)[0] = ticket
	})
	a, b := must(gallery.Random(Float64, n, n, 3, 1).On("cuda:0")), must(gallery.Random(Float64, n, n, 3, 2).On("cuda:0"))
	c := must(NewMatrix(Float64, n, n).On("cuda:0"))
	opt := &Options{Check: true}
	for name, run := range map[string]func(side Side) error{
		"Symm": func(side Side) error { return Symm(side, Upper, Float(1), a, b, Float(0), c, opt) },
		"Trmm": func(side Side) error { return Trmm(side, Upper, NoTrans, NonUnit, Float(1), a, c, opt) },
	} {
		for side, want := range map[Side][2]int{Left: {2, 1}, Right: {1, 2}} {
			var fault *HardwareError
			if err := run(side); !errors.As(err, &fault) || [2]int{fault.Row, fault.Col} != want {
				t.Errorf("%s from %c: %v, want entry %d", name, side, err, want)
			}
		}
	}
}
