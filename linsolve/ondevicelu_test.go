package linsolve

import (
	"math"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
)

// checkResidentLU compares the factors of a matrix on a device with the factors on the host.
func checkResidentLU(t *testing.T, name string, a *halfulp.Matrix, f halfulp.Format, resident bool) {
	t.Helper()
	want, wantErr := LU(a, f, nil)
	var stats halfulp.Stats
	got, err := LU(put(t, a), f, &halfulp.Options{Stats: &stats})
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
	checkSameThere(t, name+": L", got.L, want.L)
	checkSameThere(t, name+": U", got.U, want.U)
	checkResidentStages(t, name, stats, resident, min(a.Dims()) >= seed.Fewest)
}

// TestOnDeviceLU compares factors on a device with factors on the host. Products on the device, not
// the host, must have computed them.
func TestOnDeviceLU(t *testing.T) {
	onDevices(t, seed.Fewest+2, 200, func(t *testing.T, n int) {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(424), halfulp.DD, halfulp.MP(106), halfulp.Float32}[:testlength.Of(2, 2, 5)] {
			checkResidentLU(t, f.String(), gallery.Random(f, n, n, 10, 1), f, true)
		}
		checkResidentLU(t, "transposed", gallery.Random(halfulp.MP(106), n, n, 0, 1).T(), halfulp.MP(200), true)
		// Rows and columns of sizes far apart, which decide about pivots.
		a := gallery.Random(halfulp.Float64, n, n, 0, 2)
		for i := range n {
			for j := range n {
				a.SetFloat64(i, j, math.Ldexp(a.Float64(i, j), i*37%n*500/n+j*37%n*500/n-500))
			}
		}
		checkResidentLU(t, "scaled", a, halfulp.MP(106), true)
		checkResidentLU(t, "tall", gallery.Random(halfulp.Float64, 2*n+5, n, 10, 4), halfulp.MP(106), true)
		checkResidentLU(t, "wide", gallery.Random(halfulp.Float64, n, 2*n+5, 10, 6), halfulp.MP(106), true)
		if testlength.Long() {
			checkResidentLU(t, "tall, many bits", gallery.Random(halfulp.Float64, n+1, n, 0, 5), halfulp.MP(500), true)
			checkResidentLU(t, "wide, many bits", a.Slice(0, n-1, 0, n), halfulp.MP(500), true)
		}
		checkResidentLU(t, "tall and scaled", a.Slice(0, n, 0, n-1), halfulp.MP(106), true)
		checkResidentLU(t, "many bits", gallery.Random(halfulp.Float64, n, n, 0, 3), halfulp.MP(2000), true)
		checkResidentLU(t, "nearly equal pivots", nearlyEqual(n, 0x1p-30), halfulp.MP(300), true)
	})
}

// nearlyEqual returns a matrix whose first pivot is a little larger in magnitude than the last
// entry of its column.
func nearlyEqual(n int, by float64) *halfulp.Matrix {
	a := gallery.Random(halfulp.Float64, n, n, 0, 1)
	a.SetFloat64(n/2, 0, -2)
	a.SetFloat64(n-1, 0, 2-by)
	return a
}

// TestOnDeviceLULeft uses matrices on a device that only the host decides.
func TestOnDeviceLULeft(t *testing.T) {
	onDevices(t, seed.Fewest+2, 100, func(t *testing.T, n int) {
		n = min(n, 40) // the host decides about ties by elimination
		change := func(f func(a *halfulp.Matrix)) *halfulp.Matrix {
			a := gallery.Random(halfulp.Float64, n, n, 0, 1)
			f(a)
			return a
		}
		for name, a := range map[string]*halfulp.Matrix{
			"unit matrix":   halfulp.Identity(halfulp.Float64, n),
			"zero":          halfulp.NewMatrix(halfulp.Float64, n, n),
			"column of 0":   change(func(a *halfulp.Matrix) { fillColumn(a, n/2, 0) }),
			"equal columns": change(func(a *halfulp.Matrix) { fillColumn(a, 2, 1); fillColumn(a, n-1, 1) }),
			"equal pivots":  nearlyEqual(n, 0),
			"zero entry":    change(func(a *halfulp.Matrix) { a.SetFloat64(n/2, 0, 0) }),
			"infinity":      change(func(a *halfulp.Matrix) { a.SetFloat64(2, 1, math.Inf(1)) }),
			"nan":           change(func(a *halfulp.Matrix) { a.SetFloat64(1, 1, math.NaN()) }),
			"ill-conditioned": change(func(a *halfulp.Matrix) {
				for i := range n {
					for j := range n {
						a.SetFloat64(i, j, math.Exp(float64(-(i-j)*(i-j))/50))
					}
				}
			}),
			"tall, equal pivots": nearlyEqual(n, 0).Slice(0, n, 0, n-1),
			"wide, column of 0":  change(func(a *halfulp.Matrix) { fillColumn(a, 3, 0) }).Slice(0, n-1, 0, n),
			"narrow":             gallery.Random(halfulp.Float64, 100, 5, 0, 1),
			"small":              gallery.Random(halfulp.Float64, 5, 5, 0, 1),
			"empty":              halfulp.NewMatrix(halfulp.Float64, 0, 0),
		} {
			checkResidentLU(t, name, a, halfulp.Float64, false)
		}
		// Two candidates are accepted as equal; the first one is the pivot.
		a := gallery.Random(halfulp.MP(200), n, n, 0, 1)
		two := halfulp.NewMatrix(halfulp.MP(200), 1, 1)
		for _, row := range []int{n / 3, n - 1} {
			two.SetFloat64(0, 0, 2)
			if row == n-1 {
				x := two.Big(0, 0)
				two.SetBig(0, 0, x.Add(x.SetPrec(200), bound.Exp2(-63)))
			}
			a.SetBig(row, 0, two.Big(0, 0))
		}
		checkResidentLU(t, "pivots that differ by 2^-64", a, halfulp.MP(106), false)
	})
}

func fillColumn(a *halfulp.Matrix, j int, x float64) {
	for i := range a.Rows() {
		a.SetFloat64(i, j, x)
	}
}

// TestOnDeviceLUSolve solves with the factors of a matrix on a device, for right-hand sides there
// and on the host, and checks that the factors do not change when A does.
func TestOnDeviceLUSolve(t *testing.T) {
	onDevices(t, seed.Fewest+2, 100, func(t *testing.T, n int) {
		a, b := gallery.Random(halfulp.Float64, n, n, 0, 1), gallery.Random(halfulp.Float64, n, 2, 0, 2)
		want, x := halfulp.NewMatrix(halfulp.Float64, n, 2), halfulp.NewMatrix(halfulp.Float64, n, 2)
		if err := lintest.Into(want)(Solve(a, b, want.NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		there, y := put(t, a), put(t, x)
		z, err := LU(there, halfulp.Float64, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Free()
		if err := there.CopyFrom(halfulp.Identity(halfulp.Float64, n)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := lintest.Into(halfulp.MatrixOf(x.View()))(z.Solve(halfulp.MatrixOf(b.View()), halfulp.MatrixOf(x.View()).NumberFormat(), nil)); err != nil || !x.Same(want) {
				t.Errorf("the host's right-hand side: %v", err)
			}
		}
		if err := lintest.Into(halfulp.MatrixOf(y.View()))(z.Solve(halfulp.MatrixOf(put(t, b).View()), halfulp.MatrixOf(y.View()).NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		if h, err := y.Host(); err != nil || !h.Same(want) {
			t.Errorf("the device's right-hand side: %v", err)
		}
	})
}
