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
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/det"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestByEliminationSingular uses singular matrices: there is nothing to enclose, and eliminations
// must stop once that is known.
func TestByEliminationSingular(t *testing.T) {
	s := prooftest.Run(t, 1)
	a := gallery.Random(halfulp.Float64, seed.Fewest+2, seed.Fewest+2, 0, 1)
	for j := range a.Cols() {
		a.SetFloat64(5, j, a.Float64(2, j))
	}
	want := errors.New("singular")
	if _, e, err := factors.LUByElimination(s, a.View(), bound.MaxBits, 100, func() error { return want }); e != nil || !errors.Is(err, want) {
		t.Errorf("%v, error %v", e, err)
	}
	if _, err := LU(a, halfulp.Float64, nil); !errors.Is(err, ErrSingular) {
		t.Errorf("LU: error %v", err)
	}
}

// TestFactoredDet compares determinants of ill-conditioned matrices by factors with exact
// determinants of integers.
func TestFactoredDet(t *testing.T) {
	s := prooftest.Run(t, 2)
	for i, n := range []int{seed.Fewest, seed.Fewest + 9, 50}[:testlength.Of(2, 2, 3)] {
		a := gallery.Hilbert(halfulp.MP(300), n)
		if i > 0 { // three rows in another order
			a = halfulp.MatrixOf(modular.Chosen(a.View(), append([]int{2, 0, 1, 5, 4, 3}, call.All(n)[6:]...), call.All(n)))
		}
		exact, shift, err := det.Exact(s, a.View())
		if err != nil {
			t.Fatal(err)
		}
		exact.SetMantExp(exact, int(shift))
		for _, bits := range []int{30, 200, 900} {
			lo, hi, shift, err := det.Factored(s, a.View(), bits)
			if err != nil || lo == nil {
				t.Fatalf("n = %d, %d bits: %v, error %v", n, bits, lo, err)
			}
			lo.SetMantExp(lo, int(shift))
			hi.SetMantExp(hi, int(shift))
			if lo.Cmp(exact) > 0 || hi.Cmp(exact) < 0 {
				t.Errorf("n = %d, %d bits: %g is not in [%g, %g]", n, bits, exact, lo, hi)
			}
			if d, _ := new(big.Float).Quo(new(big.Float).Sub(hi, lo), exact).Float64(); math.Abs(d) > math.Ldexp(1, -bits) {
				t.Errorf("n = %d, %d bits: the enclosure is %g wide, relatively", n, bits, d)
			}
		}
		var st halfulp.Stats
		d, err := Det(a, halfulp.MP(200), &halfulp.Options{Stats: &st})
		if err != nil || !d.Same(halfulp.NewScalar(halfulp.MP(200), exact)) || st.Exact > 0 {
			t.Errorf("n = %d: %v, error %v, %+v", n, d, err, st)
		}
	}
	one := halfulp.Identity(halfulp.Float64, seed.Fewest)
	one.SetFloat64(3, 3, 0)
	if lo, _, _, err := det.Factored(s, one.View(), 60); lo != nil || !errors.Is(err, ErrSingular) {
		t.Errorf("singular: %v, error %v", lo, err)
	}
}

// TestIllLDLT factors symmetric matrices too ill-conditioned for float64, definite and indefinite
// ones.
func TestIllLDLT(t *testing.T) {
	const n = seed.Fewest + 4
	r := testseed.Rand(t, 1, 0)
	one := halfulp.Float(1)
	for _, f := range []halfulp.Format{halfulp.MP(150), halfulp.DD}[:testlength.Of(1, 1, 2)] {
		a := lintest.Gram(lintest.Ill(r, halfulp.Float64, n, 45))
		for _, indefinite := range []bool{false, true} {
			if indefinite { // by more than the smallest eigenvalue
				x := halfulp.Identity(halfulp.Float64, n)
				if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(-0x1p-70), x, x, one, a, a, nil); err != nil {
					t.Fatal(err)
				}
			}
			name := fmt.Sprintf("%v, indefinite %t", f, indefinite)
			checkLDLT(t, name, a, f)
			var st halfulp.Stats
			if _, err := LDLT(a, f, &halfulp.Options{Check: true, Stats: &st}); err != nil || st.Steps < 2 {
				t.Errorf("%s: not by products: %+v, error %v", name, st, err)
			}
		}
	}
}
