package linsolve

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/linsolve/internal/det"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// progressCases are routines that report progress.
func progressCases(n, bits int) (a *halfulp.Matrix, cases map[string]func(opt *halfulp.Options) error) {
	f := halfulp.MP(uint(bits))
	random := rand.New(rand.NewPCG(1, 2))
	entry := func() *big.Float {
		x := new(big.Float).SetPrec(uint(bits))
		for range bits/53 + 1 {
			x.Add(x.SetMantExp(x, -53), big.NewFloat(float64(2*random.Float64())-1))
		}
		return x
	}
	a = halfulp.NewMatrix(f, n, n)
	b := halfulp.NewMatrix(f, n, n/2)
	for i := range n {
		for j := range n {
			a.SetBig(i, j, entry())
		}
		for j := range n / 2 {
			b.SetBig(i, j, entry())
		}
	}
	square := halfulp.NewMatrix(f, n, n)
	for i := range n {
		for j := range i + 1 {
			x := entry()
			if i == j {
				x.SetInt64(int64(n))
			}
			square.SetBig(i, j, x)
			square.SetBig(j, i, x)
		}
	}
	hilbert := halfulp.NewMatrix(f, n/4, n/4)
	for i := range n / 4 {
		for j := range n / 4 {
			hilbert.SetBig(i, j, new(big.Float).SetPrec(uint(bits)).Quo(big.NewFloat(1), big.NewFloat(float64(i+j+1))))
		}
	}
	last := func(_ any, err error) error { return err }
	return a, map[string]func(opt *halfulp.Options) error{
		"Solve, one column": func(opt *halfulp.Options) error {
			return lintest.ErrorOf(Solve(a, b.Slice(0, n, 0, 1), f, opt))
		},
		"Solve, many columns": func(opt *halfulp.Options) error {
			return lintest.ErrorOf(Solve(a, b, f, opt))
		},
		"Solve, Hilbert": func(opt *halfulp.Options) error {
			return lintest.ErrorOf(Solve(hilbert, b.Slice(0, n/4, 0, 1), f, opt))
		},
		"Inverse": func(opt *halfulp.Options) error { return lintest.ErrorOf(Inverse(a, f, opt)) },
		"Inverse, Hilbert": func(opt *halfulp.Options) error {
			return lintest.ErrorOf(Inverse(hilbert, f, opt))
		},
		"Det": func(opt *halfulp.Options) error {
			return last(Det(a, f, opt))
		},
		"LU": func(opt *halfulp.Options) error {
			return last(LU(a, f, opt))
		},
		"QR": func(opt *halfulp.Options) error {
			return last(QR(a, f, opt))
		},
		"Cholesky": func(opt *halfulp.Options) error {
			return last(Cholesky(square, f, opt))
		},
		"LDLT": func(opt *halfulp.Options) error {
			return last(LDLT(square, f, opt))
		},
		"LeastSquares": func(opt *halfulp.Options) error {
			return lintest.ErrorOf(LeastSquares(a.Slice(0, n, 0, n/2), b, f, &LeastSquaresOptions{Options: *opt}))
		},
	}
}

// TestProgress checks that shares end at 1, and fall only if much more work is left than was
// reported.
func TestProgress(t *testing.T) {
	_, cases := progressCases(100, 300)
	for name, run := range cases {
		var shares []float64
		if err := run(&halfulp.Options{Progress: func(share float64) { shares = append(shares, share) }}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(shares) < 4 || shares[len(shares)-1] != 1 {
			t.Fatalf("%s: shares %v", name, shares)
		}
		for i, share := range shares[1:] {
			before := shares[i]
			if share == 0 {
				continue // the remaining work is unknown
			}
			if !(share >= 0 && share <= 1) || share < before && (1-share)*before < call.Falls*share*(1-before)*(1-1e-9) {
				t.Errorf("%s: share %d is %g after %g", name, i+1, share, before)
			}
		}
		if len(shares) > 4 && shares[len(shares)-2] < 0.5 {
			t.Errorf("%s: %g of the work is told at last", name, shares[len(shares)-2])
		}
	}
}

// TestPlans compares the reported remaining work with the true remaining work, in units of work.
// They must agree up to a factor of far while a tenth or more is left. For ill-conditioned matrices
// nothing is reported at first. Estimates have no provable bound. They depend on the
// instruction-set level, which decides how systems are solved: with AVX2 the worst factor is 2.06.
// Work, inputs and so the result of the test are the same in every run on a machine.
func TestPlans(t *testing.T) {
	const n, bits, far = 160, 500, 3
	f := halfulp.MP(bits)
	a, _ := progressCases(n, bits)
	b := halfulp.Identity(halfulp.Float64, n)
	square := halfulp.NewMatrix(f, n, n)
	if err := halfulp.Gemm(halfulp.NoTrans, halfulp.Trans, halfulp.Float(1), a, a, halfulp.Float(0), square, nil); err != nil {
		t.Fatal(err)
	}
	hilbert, unit := gallery.Hilbert(f, n/4), halfulp.Identity(halfulp.Float64, n/4)
	large, small := gallery.Hilbert(f, n/2), gallery.Hilbert(f, n/8)
	for name, run := range map[string]func(s *call.Run) error{
		"inverse":  func(s *call.Run) error { _, err := solve.Solve(s, a.View(), b.View(), f.View()); return err },
		"solve":    func(s *call.Run) error { _, err := solve.Solve(s, a.View(), square.View(), f.View()); return err },
		"det":      func(s *call.Run) error { _, _, err := det.Det(s, a.View(), f.View()); return err },
		"lu":       func(s *call.Run) error { _, err := factors.LU(s, a.View(), f.View()); return err },
		"cholesky": func(s *call.Run) error { _, err := factors.Cholesky(s, square.View(), f.View(), det.Sign); return err },

		"Hilbert, inverse": func(s *call.Run) error { _, err := solve.Solve(s, hilbert.View(), unit.View(), f.View()); return err },
		"Hilbert, solve": func(s *call.Run) error {
			_, err := solve.Solve(s, large.View(), a.Slice(0, n/2, 0, 1).View(), f.View())
			return err
		},
		"Hilbert, blocks": func(s *call.Run) error {
			_, err := solve.Solve(s, small.View(), a.Slice(0, n/8, 0, 3).View(), f.View())
			return err
		},
		"Hilbert, det": func(s *call.Run) error { _, _, err := det.Det(s, hilbert.View(), f.View()); return err },
	} {
		s, err := start(name, &halfulp.Options{Threads: 2, Device: "cpu"}, a.View())
		if err != nil {
			t.Fatal(err)
		}
		var at, left []float64
		s.Work.Report = func(share float64) {
			if share > 0 && s.Set.Progress == nil { // between products
				at, left = append(at, s.Work.Done), append(left, s.Work.Ahead)
			}
		}
		if err := run(s); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all, seen := s.Work.Done, 0
		for i, done := range at {
			is := all - done
			if is < all/10 || done < all/10 {
				continue
			}
			seen++
			if left[i] > far*is || is > far*left[i] {
				t.Errorf("%s: %.3g left of %.3g, told %.3g", name, is, all, left[i])
			}
		}
		// For ill-conditioned matrices only the last tenth may be reported.
		if ill := strings.HasPrefix(name, "Hilbert"); len(at) == 0 || seen == 0 && !ill {
			t.Errorf("%s: nothing was told of %d times", name, len(at))
		}
	}
}
