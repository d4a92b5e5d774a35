package linsolve

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// conditioned returns X D Y for random X and Y, or X D Xᵀ, and a diagonal D that falls from 1 to
// 1/cond.
func conditioned(b testing.TB, n int, cond float64, symmetric bool) *halfulp.Matrix {
	log := math.Log2(cond)
	f := halfulp.MP(uint(64 + log))
	x, y, trans := gallery.Random(halfulp.Float64, n, n, 0, 1), gallery.Random(halfulp.Float64, n, n, 0, 2), halfulp.NoTrans
	if symmetric {
		f, y, trans = halfulp.MP(uint(256+log)), x, halfulp.Trans
	}
	d := halfulp.NewMatrix(halfulp.MP(24), n, n)
	for i := range n {
		d.SetBig(i, i, new(big.Float).SetMantExp(big.NewFloat(1), -int(log*float64(i)/float64(max(n-1, 1)))))
	}
	xd, z := halfulp.NewMatrix(halfulp.MP(64), n, n), halfulp.NewMatrix(f, n, n)
	one := halfulp.Float(1)
	if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, one, x, d, halfulp.Float(0), nil, xd, nil); err != nil {
		b.Fatal(err)
	}
	if err := halfulp.GemmTo(halfulp.NoTrans, trans, one, xd, y, halfulp.Float(0), nil, z, nil); err != nil {
		b.Fatal(err)
	}
	return z
}

// unitProduct returns L U for unit triangular matrices of integers between -1 and 1: a matrix of
// integers with the determinant 1, whose condition number grows exponentially in n.
func unitProduct(r *rand.Rand, n int) *halfulp.Matrix {
	l, u := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.Float64, n, n)
	for i := range n {
		for j := range i {
			l.SetFloat64(i, j, float64(r.IntN(3)-1))
			u.SetFloat64(j, i, float64(r.IntN(3)-1))
		}
		l.SetFloat64(i, i, 1)
		u.SetFloat64(i, i, 1)
	}
	z := halfulp.NewMatrix(halfulp.Float64, n, n)
	if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), l, u, halfulp.Float(0), nil, z, nil); err != nil {
		panic(err)
	}
	return z
}

// BenchmarkConditions measures the routines for matrices of condition numbers from 1e2 to 1e100,
// and of integers with the determinant 1.
func BenchmarkConditions(b *testing.B) {
	for _, n := range []int{30, 100, 300} {
		for _, family := range []string{"1e2", "1e12", "1e30", "1e100", "unimodular"} {
			var a, s *halfulp.Matrix
			if family == "unimodular" {
				if n > 100 {
					continue
				}
				a = unitProduct(rand.New(rand.NewPCG(1, 2)), n)
			} else {
				var cond float64
				if _, err := fmt.Sscan(family, &cond); err != nil {
					b.Fatal(err)
				}
				a, s = conditioned(b, n, cond, false), conditioned(b, n, cond, true)
			}
			y := gallery.Random(halfulp.Float64, n, 1, 0, 3)
			for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(212)} {
				x, inverse := halfulp.NewMatrix(f, n, 1), halfulp.NewMatrix(f, n, n)
				for _, c := range []struct {
					name string
					run  func() error
				}{
					{"Solve", func() error { return lintest.Into(x)(Solve(a, y, x.NumberFormat(), nil)) }},
					{"Inverse", func() error { return lintest.Into(inverse)(Inverse(a, inverse.NumberFormat(), nil)) }},
					{"Det", func() error { _, err := Det(a, f, nil); return err }},
					{"Cond", func() error { _, err := Cond(halfulp.OneNorm, a, f, nil); return err }},
					{"LU", func() error { _, err := LU(a, f, nil); return err }},
					{"QR", func() error { _, err := QR(a, f, nil); return err }},
					{"LDLT", func() error { _, err := LDLT(s, f, nil); return err }},
					{"Cholesky", func() error { _, err := Cholesky(s, f, nil); return err }},
					{"Rank", func() error { _, err := Rank(a, nil); return err }},
				} {
					if s == nil && (c.name == "LDLT" || c.name == "Cholesky") || c.name == "Rank" && f != halfulp.Float64 {
						continue
					}
					b.Run(fmt.Sprintf("%s/n=%d/%s/%v", c.name, n, family, f), func(b *testing.B) {
						for b.Loop() {
							if err := c.run(); err != nil {
								b.Fatal(err)
							}
						}
					})
				}
			}
		}
	}
}

// TestIllQR decomposes matrices with condition numbers up to 1e120 by digits alone, if the machine
// has digits. The factors must have the bits of an elimination.
func TestIllQR(t *testing.T) {
	for _, cond := range []float64{1e60, 1e100, 1e120} {
		a := conditioned(t, 26, cond, false)
		record := new(call.Record)
		z, err := QR(a, halfulp.Float64, &halfulp.Options{Context: call.Recording(t.Context(), record)})
		if err != nil {
			t.Fatal(err)
		}
		want, err := QR(a, halfulp.Float64, &halfulp.Options{Context: call.Forcing(t.Context(), call.ByElimination)})
		if err != nil {
			t.Fatal(err)
		}
		if !z.Q.Same(want.Q) || !z.R.Same(want.R) {
			t.Errorf("condition %g: other bits", cond)
		}
		if _, left := record.Of("*factors.qrFactors", call.ByDigits); left > 0 {
			t.Errorf("condition %g: digits left the factors open", cond)
		}
	}
}

// TestShownGain inverts matrices so ill-conditioned that the bound of the first E' is far above its
// norm. The next E' must be accurate to the bits for which it is used, so that its enclosures
// decide all entries and columns are not refined one by one.
func TestShownGain(t *testing.T) {
	for _, cond := range []float64{1e12, 1e20} {
		a := conditioned(t, 64, cond, false)
		for _, bits := range []uint{150, 212, 300} {
			f := halfulp.MP(bits)
			x, want := halfulp.NewMatrix(f, 64, 64), halfulp.NewMatrix(f, 64, 64)
			if err := lintest.Into(want)(Inverse(a, want.NumberFormat(), nil)); err != nil {
				t.Fatal(err)
			}
			var st halfulp.Stats
			err := lintest.Into(x)(Inverse(a, x.NumberFormat(), &halfulp.Options{Context: call.Forcing(t.Context(), call.ByProducts), Stats: &st}))
			if err != nil {
				t.Fatal(err)
			}
			if most := int(bits) + ziv.Guard(64); st.Precision > most {
				t.Errorf("condition %g, %d bits: entries took %d bits, want %d", cond, bits, st.Precision, most)
			}
			if !x.Same(want) {
				t.Errorf("condition %g, %d bits: other bits", cond, bits)
			}
		}
	}
}
