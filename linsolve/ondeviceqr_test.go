package linsolve

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
)

// checkResidentQR compares the factors of a matrix on a device with the factors on the host, by QR
// or QRPivoted.
func checkResidentQR(t *testing.T, name string, factor func(*halfulp.Matrix, halfulp.Format, *halfulp.Options) (*QRFactors, error), a *halfulp.Matrix, f halfulp.Format, resident bool) {
	t.Helper()
	want, wantErr := factor(a, f, nil)
	var stats halfulp.Stats
	got, err := factor(put(t, a), f, &halfulp.Options{Stats: &stats})
	if wantErr != nil || err != nil {
		if wantErr == nil || err == nil || err.Error() != wantErr.Error() {
			t.Errorf("%s: %v, the host says %v", name, err, wantErr)
		}
		return
	}
	defer got.Free()
	if !slices.Equal(got.P, want.P) {
		t.Errorf("%s: order %v, the host has %v", name, got.P, want.P)
	}
	checkSameThere(t, name+": Q", got.Q, want.Q)
	checkSameThere(t, name+": R", got.R, want.R)
	checkResidentStages(t, name, stats, resident, a.Cols() >= seed.Fewest)
}

// checkResidentStages checks whether everything ran on the device, or was tried there before the
// host computed it.
func checkResidentStages(t *testing.T, name string, stats halfulp.Stats, resident, tried bool) {
	t.Helper()
	names := make([]string, len(stats.Stages))
	for i, stage := range stats.Stages {
		names[i] = stage.Name
	}
	if only := slices.Equal(names, []string{"approximate inverse", "products", "rounding"}); only != resident {
		t.Errorf("%s: stages %v", name, names)
	}
	if left := len(names) > 0 && names[0] == "attempt on "+string(where); left != (!resident && tried) {
		t.Errorf("%s: stages %v", name, names)
	}
}

// TestOnDeviceQR compares factors on a device with factors on the host. Products on the device, not
// the host, must have computed them.
func TestOnDeviceQR(t *testing.T) {
	onDevices(t, seed.Fewest+2, 200, func(t *testing.T, n int) {
		for i, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(424), halfulp.DD, halfulp.MP(106), halfulp.Float32}[:testlength.Of(2, 2, 5)] {
			checkResidentQR(t, fmt.Sprint(f), QR, gallery.Random(f, n+i*i, n, 10, 1), f, true)
		}
		checkResidentQR(t, "transposed", QR, gallery.Random(halfulp.MP(106), n, n+7, 0, 1).T(), halfulp.MP(200), true)
		// Rows and columns of sizes far apart.
		a := gallery.Random(halfulp.Float64, n+3, n, 0, 2)
		for i := range n + 3 {
			for j := range n {
				a.SetFloat64(i, j, math.Ldexp(a.Float64(i, j), i*37%n*20/n+j*37%n*800/n-500))
			}
		}
		checkResidentQR(t, "scaled", QR, a, halfulp.MP(106), true)
	})
}

// TestOnDeviceQRLeft uses matrices on a device that only the host decides.
func TestOnDeviceQRLeft(t *testing.T) {
	onDevices(t, seed.Fewest+2, 100, func(t *testing.T, n int) {
		n = min(n, 40) // the host decides about ties by elimination
		change := func(f func(a *halfulp.Matrix)) *halfulp.Matrix {
			a := gallery.Random(halfulp.Float64, n+2, n, 0, 1)
			f(a)
			return a
		}
		for name, a := range map[string]*halfulp.Matrix{
			"unit matrix":   halfulp.Identity(halfulp.Float64, n),
			"zero":          halfulp.NewMatrix(halfulp.Float64, n, n),
			"column of 0":   change(func(a *halfulp.Matrix) { fillColumn(a, n/2, 0) }),
			"equal columns": change(func(a *halfulp.Matrix) { fillColumn(a, 2, 1); fillColumn(a, n-1, 1) }),
			"nearly dependent": change(func(a *halfulp.Matrix) {
				fillColumn(a, 2, 1)
				fillColumn(a, n-1, 1)
				a.SetFloat64(0, 2, 1+0x1p-40)
			}),
			"row of 0": change(func(a *halfulp.Matrix) {
				for j := range n {
					a.SetFloat64(3, j, 0)
				}
			}),
			"infinity": change(func(a *halfulp.Matrix) { a.SetFloat64(2, 1, math.Inf(1)) }),
			"nan":      change(func(a *halfulp.Matrix) { a.SetFloat64(1, 1, math.NaN()) }),
			"small":    gallery.Random(halfulp.Float64, 50, 5, 0, 1),
			"empty":    halfulp.NewMatrix(halfulp.Float64, 3, 0),
		} {
			checkResidentQR(t, name, QR, a, halfulp.Float64, false)
			checkResidentQR(t, name+", pivoted", QRPivoted, a, halfulp.Float64, false)
		}
	})
}

// TestOnDeviceQRPivoted compares factors and the order of columns on a device with the results on
// the host. Products on the device, not the host, must have computed them.
func TestOnDeviceQRPivoted(t *testing.T) {
	onDevices(t, seed.Fewest+2, 200, func(t *testing.T, n int) {
		n = min(n, 60) // the host chooses columns by elimination
		for i, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(424), halfulp.DD, halfulp.MP(106), halfulp.Float32}[:testlength.Of(2, 2, 5)] {
			checkResidentQR(t, fmt.Sprint(f), QRPivoted, gallery.Random(f, n+i*i, n, 10, 1), f, true)
		}
		checkResidentQR(t, "transposed", QRPivoted, gallery.Random(halfulp.MP(106), n, n+7, 0, 1).T(), halfulp.MP(200), true)
		// Columns of sizes far apart, the longest ones in the middle.
		a := gallery.Random(halfulp.Float64, n+3, n, 0, 2)
		for i := range n + 3 {
			for j := range n {
				a.SetFloat64(i, j, math.Ldexp(a.Float64(i, j), i*37%n*20/n+j*37%n*800/n-500))
			}
		}
		checkResidentQR(t, "scaled", QRPivoted, a, halfulp.MP(106), true)
	})
}

// TestOnDeviceQRPivotedNear uses two columns of nearly the same length. The second one is longer,
// or is accepted as equally long. A device decides the first case only.
func TestOnDeviceQRPivotedNear(t *testing.T) {
	onDevices(t, seed.Fewest+2, 40, func(t *testing.T, n int) {
		for i, x := range []struct {
			by       float64
			resident bool
		}{{0x1p-24, true}, {-0x1p-24, true}, {0x1p-40, false}, {-0x1p-40, false}, {0x1p-66, false}, {0, false}} {
			if i%4 == 3 && !testlength.Long() {
				continue
			}
			a := gallery.Random(halfulp.MP(200), n, n, 0, 1)
			for i := range n {
				v := a.Big(i, 3)
				a.SetBig((i+1)%n, n-2, v) // as long
			}
			for _, j := range []int{3, n - 2} {
				for i := range n {
					v := a.Big(i, j)
					a.SetBig(i, j, v.SetMantExp(v, 4))
				}
			}
			for i := range n {
				v := a.Big(i, n-2)
				more := new(big.Float).SetPrec(200).Add(big.NewFloat(1), big.NewFloat(x.by))
				a.SetBig(i, n-2, v.Mul(v, more))
			}
			checkResidentQR(t, fmt.Sprint("longer by ", x.by), QRPivoted, a, halfulp.MP(106), x.resident)
		}
	})
}

// TestOnDeviceQRSolve solves with the factors of a matrix on a device.
func TestOnDeviceQRSolve(t *testing.T) {
	onDevices(t, seed.Fewest+2, 100, func(t *testing.T, n int) {
		a, b := gallery.Random(halfulp.Float64, n, n, 0, 1), gallery.Random(halfulp.Float64, n, 2, 0, 2)
		want, x := halfulp.NewMatrix(halfulp.Float64, n, 2), halfulp.NewMatrix(halfulp.Float64, n, 2)
		if err := lintest.Into(want)(Solve(a, b, want.NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		y := put(t, x)
		z, err := QR(put(t, a), halfulp.Float64, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Free()
		if err := lintest.Into(halfulp.MatrixOf(x.View()))(z.Solve(halfulp.MatrixOf(b.View()), halfulp.MatrixOf(x.View()).NumberFormat(), nil)); err != nil || !x.Same(want) {
			t.Errorf("the host's right-hand side: %v", err)
		}
		if err := lintest.Into(halfulp.MatrixOf(y.View()))(z.Solve(halfulp.MatrixOf(put(t, b).View()), halfulp.MatrixOf(y.View()).NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		if h, err := y.Host(); err != nil || !h.Same(want) {
			t.Errorf("the device's right-hand side: %v", err)
		}
	})
}
