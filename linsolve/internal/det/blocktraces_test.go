package det_test

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/memlimit"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/det"
)

// TestTracedInBlocks compares enclosures by traces, of one block of rows and of several, with
// determinants modulo primes. The last matrices have columns of different magnitudes or are nearly
// singular.
func TestTracedInBlocks(t *testing.T) {
	r := testseed.Rand(t, 4, 7)
	found := 0
	for trial, n := range []int{1, 2, 31, 32, 33, 65, 100, 100, 70, 70, 70} {
		a := gallery.Random(halfulp.Float64, n, n, 0, r.Uint64())
		switch {
		case trial == 7:
			a = gallery.Random(halfulp.MP(200), n, n, 0, r.Uint64())
		case trial > 8:
			for j := range n {
				for i := range n {
					x := a.Big(i, j)
					a.SetBig(i, j, x.SetMantExp(x, j*r.IntN(9)-200))
				}
			}
		case trial == 8:
			for i := range n {
				a.SetBig(i, n-1, new(big.Float).Add(a.Big(i, 0), big.NewFloat(r.Float64()*0x1p-30)))
			}
		}
		for _, small := range []bool{false, true} {
			name := fmt.Sprintf("order %d, trial %d, small blocks %v", n, trial, small)
			s := prooftest.Run(t, 2)
			want, shift, err := det.Exact(s, a.View())
			if err != nil {
				t.Fatal(err)
			}
			if small {
				// All but the bytes of blocks of the fewest rows.
				left, _ := s.Budget.Left()
				s.Budget.Take(left - int64(det.TraceBytes(n, 60, det.LeastTraceRows)))
			}
			f, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
			if err != nil {
				t.Fatal(err)
			}
			d, err := det.TracedInBlocks(s, a.View(), f, 60)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if d == nil {
				continue
			}
			// |want/mid - 1| ≤ 2 log
			x := new(big.Float).SetPrec(20000).SetMantExp(want, int(shift-d.Shift))
			x.Sub(x.Quo(x, d.Mid), big.NewFloat(1))
			most := bound.Upper().Add(d.Log, d.Log)
			if x.Abs(x).Cmp(most) > 0 {
				t.Errorf("%s: off by %.3g, told %.3g", name, x, most)
			}
			if most.MantExp(nil) < -60 {
				found++
			}
		}
	}
	if found < 14 {
		t.Errorf("%d good enclosures, want at least 14", found)
	}
}

// TestTight computes determinants under limits in which only traces fit, with the bits of other
// ways. It checks that what traces do not decide is refused.
func TestTight(t *testing.T) {
	const n = 500
	limit := int64(det.TraceBytes(n, 65, det.LeastTraceRows))
	run := func(a *halfulp.Matrix, limit int64, record *call.Record) (*halfulp.Matrix, error) {
		s := prooftest.Limited(t, 2, limit)
		s.Ctx = call.Recording(s.Ctx, record)
		defer s.Release()
		d, _, err := det.Det(s, a.View(), halfulp.Float64.View())
		x := halfulp.NewMatrix(halfulp.Float64, 1, 1)
		if err == nil {
			v := x.View()
			v.SetEntry(0, 0, d)
		}
		return x, err
	}
	a := gallery.Random(halfulp.Float64, n, n, 0, 3)
	record := new(call.Record)
	got, err := run(a, limit, record)
	if err != nil {
		t.Fatal(err)
	}
	if decided, _ := record.Of("*det.enclosed", call.ByBlockTraces); decided != 1 {
		t.Errorf("traces decided %d times", decided)
	}
	if want, err := run(a, 0, nil); err != nil || !got.Same(want) {
		t.Errorf("another determinant, or %v", err)
	}
	if _, err := run(a, limit-1, nil); !errors.Is(err, memlimit.ErrExceeded) {
		t.Errorf("a byte less: %v", err)
	}
	for i := range n { // traces give too few bits
		a.SetBig(i, n-1, new(big.Float).Add(a.Big(i, 0), big.NewFloat(float64(i)*0x1p-40)))
	}
	if _, err := run(a, limit, nil); !errors.Is(err, memlimit.ErrExceeded) {
		t.Errorf("a nearly singular matrix: %v", err)
	}
	for i := range n { // float64 factors lose everything
		a.SetBig(i, n-1, a.Big(i, 0))
	}
	if _, err := run(a, limit, nil); !errors.Is(err, memlimit.ErrExceeded) {
		t.Errorf("a singular matrix: %v", err)
	}
}
