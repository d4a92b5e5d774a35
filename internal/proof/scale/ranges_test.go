package scale

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestRanges compares scalings by the ranges of numbers with scalings by all exponents, and the
// least exponent with the smallest number: for rows and columns of equal and of different size,
// zeros, subnormal numbers, numbers far apart and transposed matrices.
func TestRanges(t *testing.T) {
	r := testseed.Rand(t, 3, 1)
	taken := 0
	for trial := range 3000 {
		n := 1 + r.IntN(12)
		a := halfulp.NewMatrix(halfulp.Float64, n, n)
		far, all := r.IntN(60), r.IntN(2000)-1000
		if trial%4 == 0 {
			far, all = r.IntN(2), 40-r.IntN(80)
		}
		for i := range n {
			for j := range n {
				x := math.Ldexp(1+r.Float64(), all-r.IntN(far+1))
				if trial%7 == 1 && r.IntN(n*n) == 0 {
					x = 0
				}
				if trial%11 == 1 && r.IntN(n*n) == 0 {
					x = math.Ldexp(1, -1060-r.IntN(15))
				}
				a.SetFloat64(i, j, x)
			}
		}
		if trial%3 == 0 {
			a = a.T()
		}
		m := a.View()
		s, ok := rangesOf(m).equilibrate()
		tops := TopsOf(m)
		want := tops.Equilibrate(Unscaled(n, n))
		if ok {
			taken++
			if !slices.Equal(s.Rows, want.Rows) || !slices.Equal(s.Cols, want.Cols) {
				t.Fatalf("trial %d: %v, want %v of\n%v", trial, s, want, a)
			}
			if s.spreads(tops) {
				t.Fatalf("trial %d: numbers far below 1 are not seen in\n%v", trial, a)
			}
		}
		if alike := far == 0 && trial%7 != 1 && trial%11 != 1 && all > -1000; alike && !ok {
			t.Fatalf("trial %d: no scaling of\n%v", trial, a)
		}
		low := LowestBit(m, want)
		for i := range n {
			for j := range n {
				v := a.Big(i, j)
				if v.Sign() == 0 {
					continue
				}
				if last := int64(v.MantExp(nil)) - int64(v.MinPrec()) + want.Rows[i] + want.Cols[j]; last < -low {
					t.Fatalf("trial %d: entry %d, %d of F is no multiple of 2^-%d:\n%v", trial, i, j, low, a)
				}
			}
		}
	}
	if taken < 700 {
		t.Errorf("%d matrices only were scaled by their ranges", taken)
	}
}

func BenchmarkScale(b *testing.B) {
	for _, n := range []int{300, 1000} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			a := gallery.Random(halfulp.Float64, n, n, 0, 1).View()
			for b.Loop() {
				LowestBit(a, Of(a))
			}
		})
	}
}
