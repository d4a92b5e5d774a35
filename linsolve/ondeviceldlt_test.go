package linsolve

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// checkResidentLDLT compares the factors of a matrix on a device with the factors on the host. An
// attempt on the device must have begun if resident or tried is set. It returns the blocks.
func checkResidentLDLT(t *testing.T, name string, a *halfulp.Matrix, f halfulp.Format, resident, tried bool) []int {
	t.Helper()
	want, wantErr := LDLT(a, f, nil)
	var stats halfulp.Stats
	got, err := LDLT(put(t, a), f, &halfulp.Options{Stats: &stats})
	if wantErr != nil || err != nil {
		if wantErr == nil || err == nil || err.Error() != wantErr.Error() {
			t.Errorf("%s: %v, the host says %v", name, err, wantErr)
		}
		return nil
	}
	defer got.Free()
	if !slices.Equal(got.P, want.P) || !slices.Equal(got.Blocks, want.Blocks) {
		t.Errorf("%s: order %v and blocks %v, the host has %v and %v", name, got.P, got.Blocks, want.P, want.Blocks)
	}
	checkSameThere(t, name+": L", got.L, want.L)
	checkSameThere(t, name+": D", got.D, want.D)
	checkResidentStages(t, name, stats, resident, tried)
	return want.Blocks
}

// symmetricIn returns a random symmetric matrix, whose diagonal is multiplied by a number.
func symmetricIn(f halfulp.Format, n, spread int, seed uint64, diagonal float64) *halfulp.Matrix {
	a := gallery.Random(f, n, n, spread, seed)
	for i := range n {
		for j := range i {
			a.Set(i, j, a.At(j, i))
		}
		x := a.Big(i, i)
		a.SetBig(i, i, x.Mul(x, big.NewFloat(diagonal)))
	}
	return a
}

// TestOnDeviceLDLT compares factors on a device with factors on the host, with blocks of one and of
// two rows. Products on the device, not the host, must have computed them.
func TestOnDeviceLDLT(t *testing.T) {
	onDevices(t, seed.Fewest+2, 200, func(t *testing.T, n int) {
		twos := 0
		check := func(name string, a *halfulp.Matrix, f halfulp.Format) {
			t.Helper()
			blocks := checkResidentLDLT(t, name, a, f, true, true)
			twos += a.Rows() - len(blocks)
		}
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(424), halfulp.DD, halfulp.MP(106), halfulp.Float32}[:testlength.Of(2, 2, 5)] {
			check(f.String(), symmetricIn(f, n, 10, 1, 1), f)
		}
		few := twos
		// Small numbers on the diagonal make many pivots have two rows.
		check("pairs", symmetricIn(halfulp.Float64, n, 0, 2, 0x1p-20), halfulp.MP(106))
		check("pairs, odd", symmetricIn(halfulp.Float64, n+1, 0, 3, 0x1p-20), halfulp.Float64)
		check("pairs, many bits", symmetricIn(halfulp.MP(106), n, 0, 4, 0x1p-20), halfulp.MP(500))
		check("pairs, qd", symmetricIn(halfulp.QD, n, 0, 4, 0x1p-20), halfulp.QD)
		if twos-few < n/2 {
			t.Errorf("%d pivots of two rows", twos-few)
		}
		twos = 0
		check("diagonal", symmetricIn(halfulp.Float64, n, 0, 5, 100), halfulp.Float64)
		if twos != 0 {
			t.Errorf("%d pivots of two rows of a matrix with a large diagonal", twos)
		}
		check("transposed", symmetricIn(halfulp.MP(106), n, 0, 6, 1).T(), halfulp.Float64)
		// Rows and columns of sizes far apart.
		a := symmetricIn(halfulp.Float64, n, 0, 7, 0x1p-10)
		for i := range n {
			for j := range n {
				a.SetFloat64(i, j, math.Ldexp(a.Float64(i, j), (i*37%n+j*37%n)*20/n-10))
			}
		}
		check("graded", a, halfulp.Float64)
		// Numbers of D below the smallest normal one of the format.
		a = symmetricIn(halfulp.Float64, n, 0, 9, 1)
		for i := range n {
			for j := range n {
				a.SetFloat64(i, j, 0x1p-145*a.Float64(i, j))
			}
		}
		check("underflow", a, halfulp.Float32)
		check("definite", gramIn(t, halfulp.Float64, n, 0, 8), halfulp.Float64)
	})
}

// TestOnDeviceLDLTLeft uses matrices on a device that only the host decides.
func TestOnDeviceLDLTLeft(t *testing.T) {
	onDevices(t, seed.Fewest+2, 100, func(t *testing.T, n int) {
		n = min(n, 40) // the host decides about ties by elimination
		change := func(f func(a *halfulp.Matrix)) *halfulp.Matrix {
			a := symmetricIn(halfulp.Float64, n, 0, 1, 1)
			f(a)
			return a
		}
		both := func(a *halfulp.Matrix, i, j int, x float64) {
			a.SetFloat64(i, j, x)
			a.SetFloat64(j, i, x)
		}
		for _, c := range []struct {
			name  string
			a     *halfulp.Matrix
			tried bool
		}{
			{"unit matrix", halfulp.Identity(halfulp.Float64, n), true},
			{"zero", halfulp.NewMatrix(halfulp.Float64, n, n), false},
			{"no diagonal", change(func(a *halfulp.Matrix) {
				for i := range n {
					a.SetFloat64(i, i, 0)
				}
			}), true},
			{"equal pivots", change(func(a *halfulp.Matrix) { both(a, n-1, 0, 2); both(a, n-2, 0, 2); both(a, 0, 0, 0) }), false},
			{"row of 0", change(func(a *halfulp.Matrix) {
				for i := range n {
					both(a, i, n/2, 0)
				}
			}), false},
			{"equal rows", change(func(a *halfulp.Matrix) {
				for i := range n {
					both(a, i, 2, a.Float64(i, 3))
				}
				both(a, 2, 2, a.Float64(3, 3))
				both(a, 2, 3, a.Float64(3, 3))
			}), false},
			{"not symmetric", change(func(a *halfulp.Matrix) { a.SetFloat64(1, 0, 7) }), false},
			{"infinity", change(func(a *halfulp.Matrix) { both(a, 2, 1, math.Inf(1)) }), false},
			{"nan", change(func(a *halfulp.Matrix) { a.SetFloat64(1, 1, math.NaN()) }), false},
			{"overflow", change(func(a *halfulp.Matrix) {
				for i := range n {
					for j := range n {
						a.SetFloat64(i, j, 0x1p129*a.Float64(i, j))
					}
				}
			}), true},
			{"ill-conditioned", gallery.Hilbert(halfulp.MP(300), n), false},
			{"small", symmetricIn(halfulp.Float64, 5, 0, 1, 0), false},
			{"1 x 1", halfulp.Identity(halfulp.Float64, 1), false},
			{"empty", halfulp.NewMatrix(halfulp.Float64, 0, 0), false},
		} {
			f := halfulp.Float64
			if c.name == "overflow" {
				f = halfulp.Float32
			}
			checkResidentLDLT(t, c.name, c.a, f, false, c.tried)
		}
		checkResidentLDLT(t, "few bits", symmetricIn(halfulp.Float64, n, 0, 1, 1), halfulp.MP(5), false, false)
	})
}

// TestOnDeviceLDLTGrowth uses pivots that a rook search would not choose; the first one is small.
// They must be left to the host if an entry of L exceeds the bound for pivots, and accepted
// otherwise.
func TestOnDeviceLDLTGrowth(t *testing.T) {
	onDevices(t, seed.Fewest+2, 100, func(t *testing.T, n int) {
		for _, most := range []float64{2.75, 2.8} {
			a := symmetricIn(halfulp.Float64, n, 0, 1, 1)
			for i := range n {
				a.SetFloat64(i, i, a.Float64(i, i)+float64(8*n))
			}
			a.SetFloat64(0, 0, 0.5)
			a.SetFloat64(n-1, 0, most/2)
			a.SetFloat64(0, n-1, most/2)
			for i := 1; i < n-1; i++ { // so that no other entry is larger
				a.SetFloat64(i, 0, a.Float64(i, 0)/2)
				a.SetFloat64(0, i, a.Float64(i, 0))
			}
			there := put(t, a)
			s, err := start("LDLT", nil, there.View())
			if err != nil {
				t.Fatal(err)
			}
			r := &seed.RookSeed{Order: call.All(n), Blocks: ziv.Ones(n)}
			for i := range n {
				r.X = append(r.X, make([]float64, i+1))
				for j := range i + 1 {
					r.X[i][j] = a.Float64(i, j)
				}
			}
			for k := range n {
				for i := k + 1; i < n; i++ {
					for j := k + 1; j <= i; j++ {
						r.X[i][j] -= r.X[i][k] * r.X[j][k] / r.X[k][k]
					}
				}
				for i := k + 1; i < n; i++ {
					r.X[i][k] /= r.X[k][k]
				}
			}
			seed := &factors.LUNewton{S: s, K: n, Blocks: r.Blocks, By: scale.Equilibrate(a.View(), scale.Unscaled(n, n))}
			seed.F = call.Scaled(a.View(), seed.By, factors.MostBits(halfulp.Float64.View()))
			if ok, err := seed.InvertBlocks(r, 0); !ok || err != nil {
				t.Fatalf("no approximate inverses: %v", err)
			}
			z, err := factors.LDLTThere(s, there.View(), halfulp.Float64.View(), &factors.Rooked{Pivoted: factors.Pivoted{LUNewton: seed, Order: r.Order, C: a.View()}, Blocks: r.Blocks})
			if err != nil {
				t.Fatal(err)
			}
			if taken := z != nil; taken != (most < factors.RookBelow) {
				t.Errorf("an entry of %v: factors %v", most, taken)
			}
			if z != nil {
				z.L.Free()
				z.D.Free()
			}
		}
	})
}

// TestOnDeviceLDLTSolve solves with the factors of a matrix on a device, for right-hand sides there
// and on the host, and checks that the factors do not change when A does.
func TestOnDeviceLDLTSolve(t *testing.T) {
	onDevices(t, seed.Fewest+2, 100, func(t *testing.T, n int) {
		a, b := symmetricIn(halfulp.Float64, n, 0, 1, 0x1p-9), gallery.Random(halfulp.Float64, n, 2, 0, 2)
		want, x := halfulp.NewMatrix(halfulp.Float64, n, 2), halfulp.NewMatrix(halfulp.Float64, n, 2)
		if err := lintest.Into(want)(Solve(a, b, want.NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		there, y := put(t, a), put(t, x)
		z, err := LDLT(there, halfulp.Float64, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Free()
		if err := there.CopyFrom(halfulp.Identity(halfulp.Float64, n)); err != nil {
			t.Fatal(err)
		}
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
