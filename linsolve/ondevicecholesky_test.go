package linsolve

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
)

// gramIn returns the Gram matrix of a random matrix, rounded to a format.
func gramIn(t *testing.T, f halfulp.Format, n, spread int, seed uint64) *halfulp.Matrix {
	t.Helper()
	x, z := gallery.Random(f, n, n, spread, seed), halfulp.NewMatrix(f, n, n)
	if err := halfulp.GemmTo(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), x, x, halfulp.Float(0), nil, z, nil); err != nil {
		t.Fatal(err)
	}
	return z
}

// checkResidentCholesky compares the factor of a matrix on a device with the factor on the host.
func checkResidentCholesky(t *testing.T, name string, a *halfulp.Matrix, f halfulp.Format, resident bool) {
	t.Helper()
	want, wantErr := Cholesky(a, f, nil)
	var stats halfulp.Stats
	got, err := Cholesky(put(t, a), f, &halfulp.Options{Stats: &stats})
	if wantErr != nil || err != nil {
		if wantErr == nil || err == nil || err.Error() != wantErr.Error() {
			t.Errorf("%s: %v, the host says %v", name, err, wantErr)
		}
		return
	}
	defer got.Free()
	checkSameThere(t, name, got.L, want.L)
	names := make([]string, len(stats.Stages))
	for i, stage := range stats.Stages {
		names[i] = stage.Name
	}
	if only := slices.Equal(names, []string{"approximate inverse", "products", "rounding"}); only != resident {
		t.Errorf("%s: stages %v", name, names)
	}
	if left := names[0] == "attempt on "+string(where); left != (!resident && a.Rows() >= seed.Fewest) {
		t.Errorf("%s: stages %v", name, names)
	}
}

// TestOnDeviceCholesky compares factors on a device with factors on the host. Products on the
// device, not the host, must have computed them.
func TestOnDeviceCholesky(t *testing.T) {
	onDevices(t, seed.Fewest+2, 200, func(t *testing.T, n int) {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(424), halfulp.DD, halfulp.MP(106), halfulp.Float32}[:testlength.Of(2, 2, 5)] {
			for _, spread := range []int{0, 10} {
				name := fmt.Sprintf("%v, spread %d", f, spread)
				a := gramIn(t, f, n, spread, 1)
				checkResidentCholesky(t, name, a, f, true)
				checkResidentCholesky(t, name+", transposed", a.T(), halfulp.MP(200), true)
			}
		}
		// Rows and columns of sizes far apart.
		a := gramIn(t, halfulp.Float64, n, 0, 2)
		for i := range n {
			for j := range n {
				a.SetFloat64(i, j, math.Ldexp(a.Float64(i, j), i*37%n*500/n+j*37%n*500/n-500))
			}
		}
		checkResidentCholesky(t, "scaled", a, halfulp.MP(106), true)
		checkResidentCholesky(t, "many bits", gramIn(t, halfulp.Float64, n, 0, 3), halfulp.MP(2000), true)
	})
}

// TestOnDeviceCholeskyLeft uses matrices on a device that only the host decides.
func TestOnDeviceCholeskyLeft(t *testing.T) {
	onDevices(t, seed.Fewest+2, 100, func(t *testing.T, n int) {
		n = min(n, 40) // the host decides about ties by elimination
		change := func(f func(a *halfulp.Matrix)) *halfulp.Matrix {
			a := gramIn(t, halfulp.Float64, n, 0, 1)
			f(a)
			return a
		}
		for name, a := range map[string]*halfulp.Matrix{
			"unit matrix":   halfulp.Identity(halfulp.Float64, n),
			"zero":          halfulp.NewMatrix(halfulp.Float64, n, n),
			"indefinite":    change(func(a *halfulp.Matrix) { a.SetFloat64(n/2, n/2, -1) }),
			"zero pivot":    change(func(a *halfulp.Matrix) { a.SetFloat64(n/2, n/2, 0) }),
			"not symmetric": change(func(a *halfulp.Matrix) { a.SetFloat64(n-1, 0, 3) }),
			"infinity":      change(func(a *halfulp.Matrix) { a.SetFloat64(2, 1, math.Inf(1)); a.SetFloat64(1, 2, math.Inf(1)) }),
			"nan":           change(func(a *halfulp.Matrix) { a.SetFloat64(1, 1, math.NaN()) }),
			"tridiagonal": change(func(a *halfulp.Matrix) {
				for i := range n {
					for j := range n {
						a.SetFloat64(i, j, float64(max(0, 2-max(i-j, j-i))))
					}
					a.SetFloat64(i, i, 3)
				}
			}),
			"ill-conditioned": change(func(a *halfulp.Matrix) {
				for i := range n {
					for j := range n {
						a.SetFloat64(i, j, math.Exp(float64(-(i-j)*(i-j))/50))
					}
					a.SetFloat64(i, i, 1+0x1p-44)
				}
			}),
			"small": gramIn(t, halfulp.Float64, 5, 0, 1),
			"empty": halfulp.NewMatrix(halfulp.Float64, 0, 0),
		} {
			checkResidentCholesky(t, name, a, halfulp.Float64, false)
		}
	})
}

// TestOnDeviceCholeskySolve solves with the factors of a matrix on a device, for right-hand sides
// there and on the host, and checks that the factors do not change when A does.
func TestOnDeviceCholeskySolve(t *testing.T) {
	onDevices(t, seed.Fewest+2, 100, func(t *testing.T, n int) {
		a, b := gramIn(t, halfulp.Float64, n, 0, 1), gallery.Random(halfulp.Float64, n, 2, 0, 2)
		want, x := halfulp.NewMatrix(halfulp.Float64, n, 2), halfulp.NewMatrix(halfulp.Float64, n, 2)
		if err := lintest.Into(want)(Solve(a, b, want.NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		there, y := put(t, a), put(t, x)
		l, err := Cholesky(there, halfulp.Float64, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Free()
		if err := there.CopyFrom(halfulp.Identity(halfulp.Float64, n)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := lintest.Into(halfulp.MatrixOf(x.View()))(l.Solve(halfulp.MatrixOf(b.View()), halfulp.MatrixOf(x.View()).NumberFormat(), nil)); err != nil || !x.Same(want) {
				t.Errorf("the host's right-hand side: %v", err)
			}
		}
		if err := lintest.Into(halfulp.MatrixOf(y.View()))(l.Solve(halfulp.MatrixOf(put(t, b).View()), halfulp.MatrixOf(y.View()).NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		if h, err := y.Host(); err != nil || !h.Same(want) {
			t.Errorf("the device's right-hand side: %v", err)
		}
	})
}
