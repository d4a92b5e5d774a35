package solve_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/refine"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// wrong is an approximate inverse whose corrections are wrong.
type wrong struct {
	seed.Inverse
	rand *rand.Rand
	how  int
	c    []float64
}

func (w *wrong) Correct(r *seed.Residual) ([][]float64, error) {
	pieces, err := w.Inverse.Correct(r)
	if err != nil {
		return nil, err
	}
	w.c = pieces[0]
	for p := range pieces {
		pieces[p] = w.spoil(pieces[p])
	}
	return pieces, nil
}

func (w *wrong) spoil(c []float64) []float64 {
	z := append([]float64(nil), c...)
	for i := range z {
		switch w.how {
		case 0:
			z[i] *= 1 + 0.2*w.rand.Float64()
		case 1:
			z[i] = w.rand.NormFloat64()
		case 2:
			z[i] = 0
		case 3:
			z[i] *= math.Ldexp(1, w.rand.IntN(2000)-1000)
		case 4:
			z[i] = []float64{z[i], math.NaN(), math.Inf(1)}[w.rand.IntN(3)]
		}
	}
	return z
}

func (w *wrong) Radius(r *seed.Residual, _ []float64) []float64 { return w.Inverse.Radius(r, w.c) }

// inDigits returns an inverse in digits of some bits, nil if the elimination fails.
func inDigits(s *call.Run, a *halfulp.Matrix, f *seed.Factors, bits int) *digits.Elimination {
	d, ok := digits.CountFor(s, f.N, bits, digits.MostDigits)
	if !ok {
		return nil
	}
	z, _, err := digits.Eliminate(s, a.View(), f, d, 53)
	if err != nil {
		return nil
	}
	return z
}

// TestWrongCorrections solves with corrections that are far from R r: entries that are decided must
// be right all the same.
func TestWrongCorrections(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	decided := map[string]int{}
	kinds := []string{"triangles0", "float0", "wide0", "triangles5", "float5", "wide5", "blocks"}
	if lanes.Bits() > 0 {
		kinds = append(kinds, "digits")
	}
	enough := func() bool {
		return !slices.ContainsFunc(kinds, func(kind string) bool { return decided[kind] == 0 })
	}
	for trial := range testlength.Until(testlength.Of(160, 320, 20000), enough) {
		n := 1 + r.IntN(6)
		f, g := lintest.Formats[r.IntN(len(lintest.Formats))], lintest.Formats[r.IntN(len(lintest.Formats))]
		a, b := lintest.Ill(r, g, n, r.IntN(40)), gallery.Random(g, n, 1, 0, r.Uint64())
		if trial%4 == 0 {
			a, b = lintest.Integers(r, n, n, 9), lintest.Integers(r, n, 1, 9)
		}
		want := lintest.Of(a).Solve(lintest.Of(b))
		if want == nil {
			continue
		}
		s := prooftest.Run(t, 1)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		w := &wrong{rand: r, how: trial / 12 % 6} // with inverses of all kinds; 5: not wrong
		kind := "triangles"
		cut := n
		if trial%3 == 1 {
			cut = 1 + r.IntN(n)
		}
		if v, err := seed.TrianglesOf(s, lu, cut); err != nil {
			t.Fatal(err)
		} else if v != nil && v.Rho <= seed.MostRho && trial%3 > 0 {
			w.Inverse = v
			if trial%3 > 1 {
				kind = "float"
				z, err := seed.NewFloatInverse(s, a.View(), v)
				if err != nil {
					t.Fatal(err)
				}
				if !(z.Rho <= seed.MostRho) { // its bounds of roundings are larger for small orders
					continue
				}
				w.Inverse = z
			}
		} else if v := inDigits(s, a, lu, 400); v != nil && trial%4 == 1 {
			kind = "digits"
			w.Inverse = v
		} else if v, _, err := blocks.Eliminate(s, a.View(), lu, 400, 1+r.IntN(3)); err == nil && trial%2 == 0 {
			kind = "blocks"
			w.Inverse = v
		} else {
			kind = "wide"
			p, err := solve.InvertBy(s, a.View(), lu)
			if err != nil {
				t.Fatal(err)
			}
			if w.Inverse, err = refine.NewWideInverse(s, p); err != nil {
				t.Fatal(err)
			}
		}
		z := halfulp.NewMatrix(f, n, 1)
		todo := ziv.NewEntries(s, a.View(), b.View(), z.View())
		left := map[int]bool{}
		open := todo[0]
		if err := refine.SolveFew(s, a.View(), b.View(), z.View(), w, todo); err != nil {
			t.Fatal(err)
		}
		for _, i := range open.Open {
			left[i] = true
		}
		for i := range n {
			if left[i] {
				continue
			}
			decided[fmt.Sprint(kind, w.how)]++
			decided[kind]++
			if x := lintest.Nearest(f, want[i][0]); !z.At(i, 0).Same(x) {
				t.Fatalf("seed %d, trial %d, %v, n = %d, %s, corrections wrong by %d: x[%d] = %s, want %s", draw, trial, f, n, kind, w.how, i, z.At(i, 0).Hex(), x.Hex())
			}
		}
	}
	if !enough() {
		t.Errorf("nothing was decided of one of %v (%v)", kinds, decided)
	}
}
