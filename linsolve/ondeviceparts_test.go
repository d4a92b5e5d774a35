package linsolve

import (
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/several"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
)

// where is the place of resident matrices in tests.
var where halfulp.Device = "cuda:0"

// onDevices is gputest.OnDevices, or everywhere if tests are long. Short tests leave the fake
// device to TestOnDevice and TestOnDeviceParts.
func onDevices(t *testing.T, small, large int, f func(t *testing.T, size int)) {
	switch {
	case testlength.Long():
		everywhere(t, small, large, f)
	case testing.Short():
		t.Run("device", func(t *testing.T) {
			gputest.Machine(t)
			f(t, large)
		})
	default:
		gputest.OnDevices(t, small, large, f)
	}
}

// everywhere runs a test by gputest.OnDevices, and with matrices in parts on two fake devices and
// on the devices of the machine if it has several.
func everywhere(t *testing.T, small, large int, f func(t *testing.T, size int)) {
	gputest.OnDevices(t, small, large, f)
	parts := func(t *testing.T, size int) {
		defer inParts(0)()
		f(t, size)
	}
	t.Run("parts reference", func(t *testing.T) {
		devs, _ := gputest.Linked(t, 2)
		defer mem.Substitute(devs...)()
		parts(t, small)
	})
	t.Run("parts device", func(t *testing.T) {
		gputest.Machine(t)
		if gpus, err := halfulp.GPUs(); err != nil || len(gpus) < 2 {
			t.Skip("one GPU")
		}
		parts(t, large)
	})
}

// alone returns the same order for everything.
func alone(below int) several.Orders {
	return several.Orders{Products: below, Solutions: below, Cholesky: below, QR: below, Eliminations: below}
}

// inParts has resident matrices live on two devices, which share work from an order on, until
// restore is called.
func inParts(from int) (restore func()) {
	was := several.AloneBelow
	several.AloneBelow, where = alone(from), "cuda:0,1"
	return func() { several.AloneBelow, where = was, "cuda:0" }
}

// TestOnFirst factors and solves matrices in parts that are so small that the first device computes
// alone: the results belong to both devices.
func TestOnFirst(t *testing.T) {
	devs, _ := gputest.Linked(t, 2)
	defer mem.Substitute(devs...)()
	n := seed.Fewest + 2
	defer inParts(n + 1)()
	checkResidentCholesky(t, "f64", gramIn(t, halfulp.Float64, n, 0, 1), halfulp.Float64, true)
	checkResidentLU(t, "f64", gallery.Random(halfulp.Float64, n, n, 10, 1), halfulp.Float64, true)
	here := gramIn(t, halfulp.Float64, n, 0, 1)
	a, err := here.On(where)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Free()
	for _, c := range []struct {
		from   int
		device string
	}{{n + 1, "cuda:0"}, {n, "cuda:0,1"}} {
		several.AloneBelow = alone(c.from)
		var st halfulp.Stats
		opt := &halfulp.Options{Stats: &st}
		var list []*halfulp.Matrix
		for name, run := range map[string]func() error{
			"Cholesky": func() error {
				y, err := Cholesky(a, halfulp.Float64, opt)
				list = append(list, y.L)
				return err
			},
			"Solve": func() error {
				x, err := Solve(a, a, halfulp.MP(80), opt)
				list = append(list, x)
				return err
			},
		} {
			if err := run(); err != nil {
				t.Fatal(name, err)
			}
			if st.Device != c.device && (name == "Cholesky" || c.device == "cuda:0") {
				t.Errorf("%s on %s, want %s", name, st.Device, c.device)
			}
		}
		for _, z := range list {
			if z.Device() != where {
				t.Errorf("a result lives on %s", z.Device())
			}
			h, err := z.Host()
			if err != nil {
				t.Fatal(err)
			}
			// The product of a result and a matrix in parts.
			want, c := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.Float64, n, n)
			if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), h, here, halfulp.Float(0), want, nil); err != nil {
				t.Fatal(err)
			}
			there, err := c.On(where)
			if err != nil {
				t.Fatal(err)
			}
			if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), z, a, halfulp.Float(0), there, nil); err != nil {
				t.Fatal(err)
			}
			if got, err := there.Host(); err != nil || !got.Same(want) {
				t.Error("products with a result have other bits", err)
			}
			there.Free()
			z.Free()
		}
	}
}

// TestOnDeviceParts factors matrices in parts.
func TestOnDeviceParts(t *testing.T) {
	devs, _ := gputest.Linked(t, 2)
	defer mem.Substitute(devs...)()
	defer inParts(0)()
	n := seed.Fewest + 3
	checkResidentCholesky(t, "f64", gramIn(t, halfulp.Float64, n, 0, 1), halfulp.Float64, true)
	checkResidentCholesky(t, "mp:106, transposed", gramIn(t, halfulp.MP(106), n, 10, 1).T(), halfulp.MP(200), true)
	checkResidentLU(t, "f64", gallery.Random(halfulp.Float64, n, n, 10, 1), halfulp.Float64, true)
	checkResidentLDLT(t, "f64", symmetricIn(halfulp.Float64, n, 0, 2, 0x1p-20), halfulp.Float64, true, true)
	checkResidentLU(t, "tall", gallery.Random(halfulp.Float64, n+5, n, 10, 4), halfulp.MP(106), true)
}
