package linsolve

import (
	"math/big"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestLongest proves the order of columns from the enclosed factors of both kinds, and not another
// order.
func TestLongest(t *testing.T) {
	s := testSolver(t, 2)
	n := seed.Fewest + 6
	a := halfulp.Random(halfulp.Float64, n+3, n, 4, 1)
	normal, err := factors.Normal(s, a.View())
	if err != nil {
		t.Fatal(err)
	}
	const bits = 140
	right, err := seed.LongestColumns(s, normal, bits)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, n / 2, n - 2} {
		for _, wrong := range []bool{false, true} {
			order := slices.Clone(right)
			if wrong {
				order[at], order[at+1] = order[at+1], order[at]
			}
			c := factors.Stacked(normal, a.View(), order)
			d, err := factors.NewCholeskyNewton(s, c, n, factors.MostBits(normal.Format()))
			if err != nil {
				t.Fatal(err)
			}
			product, err := d.Enclosure(bits)
			if err != nil || product == nil {
				t.Fatalf("no enclosure, error %v", err)
			}
			eliminated, _, err := factors.Positive(s, c, n, bits)
			if err != nil || eliminated == nil {
				t.Fatalf("no enclosure, error %v", err)
			}
			for name, e := range map[string]*ziv.Enclosure{"by products": product, "by elimination": eliminated} {
				if ok, err := seed.Longest(s, e, n); err != nil || ok == wrong {
					t.Errorf("%s, columns %d and %d exchanged %v: proved is %v, error %v", name, at, at+1, wrong, ok, err)
				}
			}
		}
	}
}

// TestPivots64 has columns whose lengths float64 numbers tell, and such that only longestColumns
// does.
func TestPivots64(t *testing.T) {
	const n, first, second = seed.Fewest + 6, 3, 9
	random := halfulp.Random(halfulp.Float64, n+2, n, 4, 1)
	a := halfulp.NewMatrix(halfulp.MP(200), n+2, n)
	for i := range a.Rows() {
		for j := range n {
			a.SetBig(i, j, random.Big(i, j))
		}
		a.SetFloat64(i, first, float64(64+i)) // the longest one
	}
	for _, x := range []struct {
		longer int // by 2^-longer is the second one
		quick  bool
		pivot  int
	}{{10, true, second}, {60, false, second}, {100, false, first}} {
		for i := range a.Rows() {
			v := big.NewFloat(float64(64 + (i+1)%a.Rows()))
			d := new(big.Float).SetMantExp(v, -x.longer)
			a.SetBig(i, second, v.SetPrec(200).Add(v, d))
		}
		s := testSolver(t, 2)
		normal, err := factors.Normal(s, a.View())
		if err != nil {
			t.Fatal(err)
		}
		want, err := seed.LongestColumns(s, normal, 164)
		if err != nil || want[0] != x.pivot {
			t.Fatalf("2^-%d: pivots %v, error %v", x.longer, want, err)
		}
		guess, err := seed.Pivots64(s, normal)
		if err != nil {
			t.Fatal(err)
		}
		d, err := factors.NewCholeskyNewton(s, factors.Stacked(normal, a.View(), guess), n, bound.MaxBits)
		if err != nil {
			t.Fatal(err)
		}
		e, err := d.Enclosure(164)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := d.PivotsKept(1, 164)
		if err != nil {
			t.Fatal(err)
		}
		sure, err := seed.LongestBy(s, big.NewFloat(seed.Clearly), e, n)
		if err != nil {
			t.Fatal(err)
		}
		if quick := kept && sure; quick != x.quick || quick && !slices.Equal(guess, want) {
			t.Errorf("2^-%d: the order of float64 numbers passes: %t, %t; %v", x.longer, kept, sure, guess)
		}
		q, _, err := QRPivoted(a, halfulp.MP(100), nil)
		if err != nil || !slices.Equal(q.P, want) {
			t.Errorf("2^-%d: columns %v, want %v, error %v", x.longer, q.P, want, err)
		}
	}
}
