package linsolve

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
)

// put returns a copy of m on the device.
func put(t *testing.T, m *halfulp.Matrix) *halfulp.Matrix {
	t.Helper()
	z, err := m.On(where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(z.Free)
	return z
}

// checkSameThere checks that a matrix lives on the device and has the bits of a matrix on the host.
func checkSameThere(t *testing.T, name string, got, want *halfulp.Matrix) {
	t.Helper()
	if got.Device() != where {
		t.Errorf("%s lives on %s", name, got.Device())
	}
	h, err := got.Host()
	if err != nil {
		t.Fatal(err)
	}
	if !h.Same(want) {
		t.Errorf("%s: not the host's bits", name)
	}
}

// nearlySingular stands for matrices whose last column is the first one up to some 2^-14.
const nearlySingular = -1

// TestOnDevice compares inverses and solutions on a device with inverses and solutions on the host.
// Newton's method on the device, not the host, must have computed them.
func TestOnDevice(t *testing.T) {
	everywhere(t, 12, 150, func(t *testing.T, n int) {
		formats := []halfulp.Format{halfulp.Float64, halfulp.MP(424), halfulp.DD, halfulp.MP(106), halfulp.Float32}
		for i, f := range formats[:testlength.Of(2, 2, 5)] {
			spreads := []int{20, 0, nearlySingular}
			if i > 0 {
				spreads = spreads[:testlength.Of(1, 1, 3)]
			}
			for _, spread := range spreads {
				a, b := gallery.Random(f, n, n, max(spread, 0), 1), gallery.Random(f, n, n, max(spread, 0), 2)
				if spread == nearlySingular { // for which seeds gain few bits
					if f.Bits() == 106 {
						continue
					}
					for i := range n {
						x := a.Big(i, 0)
						a.SetBig(i, n-1, x.Add(x, new(big.Float).SetMantExp(a.Big(i, n-1), -14)))
					}
				}
				for name, run := range map[string]func(a, b, x *halfulp.Matrix, opt *halfulp.Options) error{
					"inverse": func(a, _, x *halfulp.Matrix, opt *halfulp.Options) error {
						return lintest.Into(x)(Inverse(a, x.NumberFormat(), opt))
					},
					"solve": func(a, b, x *halfulp.Matrix, opt *halfulp.Options) error {
						return lintest.Into(x)(Solve(a, b, x.NumberFormat(), opt))
					},
					"one": func(a, b, x *halfulp.Matrix, opt *halfulp.Options) error {
						return lintest.Into(x.Slice(0, n, 0, 1))(Solve(a, b.Slice(0, n, 1, 2), x.Slice(0, n, 0, 1).NumberFormat(), opt))
					},
					"few": func(a, b, x *halfulp.Matrix, opt *halfulp.Options) error {
						return lintest.Into(x.Slice(0, n, 2, 4))(Solve(a, b.Slice(0, n, 1, 3), x.Slice(0, n, 2, 4).NumberFormat(), opt))
					},
				} {
					t.Run(fmt.Sprintf("%v/%d/%s", f, spread, name), func(t *testing.T) {
						want, x := halfulp.NewMatrix(f, n, n), put(t, halfulp.NewMatrix(f, n, n))
						if err := run(a, b, want, nil); err != nil {
							t.Fatal(err)
						}
						var stats halfulp.Stats
						if err := run(put(t, a), put(t, b), x, &halfulp.Options{Stats: &stats}); err != nil {
							t.Fatal(err)
						}
						checkSameThere(t, name, x, want)
						if last := stats.Stages[len(stats.Stages)-1].Name; last != "rounding" || stats.Device != string(where) {
							t.Errorf("stages %v on %s", stats.Stages, stats.Device)
						}
					})
				}
			}
		}
	})
}

// TestOnDeviceLeft uses matrices on a device that only the host decides: zeros and ties, singular
// matrices, infinities, exponents far apart, and formats that overflow. Stats must describe the way
// of the host.
func TestOnDeviceLeft(t *testing.T) {
	onDevices(t, 12, 150, func(t *testing.T, n int) {
		n = min(n, 40) // the host decides about zeros column by column
		triangle := gallery.Random(halfulp.Float64, n, n, 0, 1)
		for j := range n {
			for i := range j {
				triangle.SetFloat64(i, j, 0)
			}
		}
		singular := gallery.Random(halfulp.Float64, n, n, 0, 1)
		infinite := singular.Clone()
		for i := range n {
			singular.Set(i, 1, singular.At(i, 0))
		}
		infinite.Set(1, 2, halfulp.NewScalar(halfulp.Float64, halfulp.Float(1).Big().SetInf(false)))
		far := gallery.Random(halfulp.MP(60), n, n, 0, 1)
		far.SetBig(0, 0, halfulp.Float(1).Big().SetMantExp(halfulp.Float(1).Big(), 1<<30))
		tiny := gallery.Random(halfulp.Float64, n, n, 0, 1)
		for i := range n {
			for j := range n {
				tiny.SetFloat64(i, j, tiny.Float64(i, j)*0x1p-1022)
			}
		}
		for name, a := range map[string]*halfulp.Matrix{"triangle": triangle, "singular": singular, "infinite": infinite, "far": far, "tiny": tiny} {
			x, on := halfulp.NewMatrix(halfulp.Float64, n, n), put(t, halfulp.NewMatrix(halfulp.Float64, n, n))
			var here halfulp.Stats
			want := lintest.Into(x)(Inverse(a, x.NumberFormat(), &halfulp.Options{Stats: &here}))
			var stats halfulp.Stats
			err := lintest.Into(on)(Inverse(put(t, a), on.NumberFormat(), &halfulp.Options{Stats: &stats}))
			if (want == nil) != (err == nil) || want != nil && err.Error() != want.Error() {
				t.Errorf("%s: %v, the host says %v", name, err, want)
			}
			if errors.Is(want, ErrSingular) != (name == "singular") {
				t.Errorf("%s: %v", name, want)
			}
			if name != "tiny" && (stats.Proof != here.Proof || stats.Stages[0].Name != "attempt on "+string(where)) {
				t.Errorf("%s: %+v, the host's are %+v", name, stats, here)
			}
			checkSameThere(t, name, on, x)
		}
	})
}

// TestOnDeviceEmpty solves systems without equations or without columns on a device.
func TestOnDeviceEmpty(t *testing.T) {
	onDevices(t, 12, 150, func(t *testing.T, n int) {
		empty := func(rows, cols int) *halfulp.Matrix {
			return put(t, halfulp.NewMatrix(halfulp.Float64, rows, cols))
		}
		for _, k := range []int{0, 1, 100} {
			if err := lintest.Into(empty(0, k))(Solve(empty(0, 0), empty(0, k), empty(0, k).NumberFormat(), nil)); err != nil {
				t.Errorf("order 0, %d columns: %v", k, err)
			}
		}
		if err := lintest.Into(empty(0, 0))(Inverse(empty(0, 0), empty(0, 0).NumberFormat(), nil)); err != nil {
			t.Errorf("inverse of order 0: %v", err)
		}
		if err := lintest.Into(empty(n, 0))(Solve(put(t, halfulp.Identity(halfulp.Float64, n)), empty(n, 0), empty(n, 0).NumberFormat(), nil)); err != nil {
			t.Errorf("order %d, no columns: %v", n, err)
		}
	})
}

// TestOnDeviceNotFinite checks that an infinity or a NaN in A or B gives the error of the host.
func TestOnDeviceNotFinite(t *testing.T) {
	everywhere(t, seed.Fewest+2, 60, func(t *testing.T, n int) {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.Float32, halfulp.DD, halfulp.MP(100)} {
			for _, special := range []float64{math.Inf(1), math.NaN()} {
				a, b := gramIn(t, f, n, 0, 1), gallery.Random(f, n, 1, 0, 2)
				fine, right := put(t, a), put(t, b)
				b.SetFloat64(n/2, 0, special)
				a.SetFloat64(n/2, n/3, special)
				a.SetFloat64(n/3, n/2, special)
				on, odd, x, z := put(t, a), put(t, b), put(t, halfulp.NewMatrix(f, n, 1)), put(t, halfulp.NewMatrix(f, n, n))
				for name, run := range map[string]func() error{
					"A":                  func() error { return lintest.Into(x)(Solve(on, right, x.NumberFormat(), nil)) },
					"B":                  func() error { return lintest.Into(x)(Solve(fine, odd, x.NumberFormat(), nil)) },
					"A of an inverse":    func() error { return lintest.Into(z)(Inverse(on, z.NumberFormat(), nil)) },
					"A of a factor":      func() error { _, err := Cholesky(on, f, nil); return err },
					"A of least squares": func() error { return lintest.Into(x)(LeastSquares(on, right, x.NumberFormat(), nil)) },
					"B of least squares": func() error { return lintest.Into(x)(LeastSquares(fine, odd, x.NumberFormat(), nil)) },
				} {
					if err := run(); !errors.Is(err, call.ErrNotFinite) {
						t.Errorf("%v, %v in %s: %v", f, special, name, err)
					}
				}
			}
		}
	})
}
