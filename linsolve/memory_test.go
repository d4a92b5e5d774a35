package linsolve

import (
	"errors"
	"fmt"
	"regexp"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/linsolve/internal/det"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// TestMemory checks that routines reject a limit that is too small and name the bytes that they
// take. With these bytes as the limit they must run and give the same bits; their large slices must
// take at most the limit and at least nine tenths of it. With a byte less they must fail.
func TestMemory(t *testing.T) {
	if lanes.Bits() == 0 {
		t.Skip("eliminations in digits take AVX2")
	}
	solveFor := func(columns int) func(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
		return func(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
			return solve.Solve(s, a, gallery.Random(halfulp.FormatOf(f), a.Rows, columns, 0, 5).View(), f)
		}
	}
	determinant := func(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
		d, _, err := det.Det(s, a, f)
		x := num.NewMat(f, 1, 1)
		if err == nil {
			x.SetEntry(0, 0, d)
		}
		return x, err
	}
	for i, c := range []struct {
		name string
		f    halfulp.Format
		n    int
		run  func(s *call.Run, a num.Mat, f num.Format) (num.Mat, error)
	}{
		{"Solve", halfulp.Float64, 500, solveFor(1)},
		{"Solve", halfulp.MP(200), 430, solveFor(1)},
		{"Solve for 100 columns", halfulp.Float64, 400, solveFor(100)},
		{"Solve for 20 columns", halfulp.MP(300), 380, solveFor(20)},
		{"Inverse", halfulp.Float64, 350, func(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
			return solve.Solve(s, a, num.Identity(num.Float64, a.Rows), f)
		}},
		{"LU", halfulp.Float64, 300, func(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
			z, err := factors.LU(s, a, f)
			if err != nil {
				return num.Mat{}, err
			}
			return z.U, nil
		}},
		{"QR", halfulp.Float64, 240, func(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
			z, err := factors.FactorQR(s, a, f, false)
			if err != nil {
				return num.Mat{}, err
			}
			return z.Q, nil
		}},
		{"Det", halfulp.Float64, 400, determinant},
		{"Det", halfulp.MP(1000), 150, determinant},
		{"Cholesky", halfulp.Float64, 400, func(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
			for j := range a.Cols {
				for i := range j {
					a.SetEntry(i, j, a.Entry(j, i))
				}
				a.SetFloat64(j, j, float64(a.Cols))
			}
			return factors.Cholesky(s, a, f, det.Sign)
		}},
	} {
		if !testlength.Long() && i%2 == 1 {
			continue
		}
		name := fmt.Sprintf("%s of order %d in %v", c.name, c.n, c.f)
		a := gallery.Random(c.f, c.n, c.n, 0, 11)
		run := func(limit int64) (x *halfulp.Matrix, most int64, err error) {
			s, err := start(c.name, &halfulp.Options{Device: "cpu", Threads: 2, MemoryLimit: limit}, a.View())
			if err != nil {
				t.Fatal(err)
			}
			z, err := c.run(s, a.View(), c.f.View())
			s.Release()
			return halfulp.MatrixOf(z), s.Budget.Most(), err
		}
		free, _, err := run(0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, _, err = run(1)
		said := regexp.MustCompile(`^not enough memory: it takes (\d+) bytes `).FindStringSubmatch(fmt.Sprint(err))
		if !errors.Is(err, halfulp.ErrMemory) || said == nil {
			t.Errorf("%s in one byte: %v", name, err)
			continue
		}
		var need int64
		if _, err := fmt.Sscan(said[1], &need); err != nil {
			t.Fatal(err)
		}
		if _, _, err := run(need - 1); !errors.Is(err, halfulp.ErrMemory) {
			t.Errorf("%s in %d bytes: %v", name, need-1, err)
		}
		x, most, err := run(need)
		if err != nil || !x.Same(free) {
			t.Errorf("%s in %d bytes: %v, or another result", name, need, err)
		}
		if most > need || float64(most) < 0.9*float64(need) {
			t.Errorf("%s takes %d bytes and says %d", name, most, need)
		}
	}
}
