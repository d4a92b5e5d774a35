package modular

import (
	"reflect"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// TestCross compares Cross with Crout for matrices of all shapes and ranks.
func TestCross(t *testing.T) {
	r := testseed.Rand(t, 36, 34)
	f := New(Prime(2))
	got, again := new(Echelon), new(Echelon) // with memory of other shapes
	for range 300 {
		m, n, rank := r.IntN(12), 1+r.IntN(14), 1+r.IntN(12)
		limit := r.IntN(n + 1)
		left, right := make([]uint64, m*rank), make([]uint64, n*rank)
		for _, x := range [][]uint64{left, right} {
			for i := range x {
				if r.IntN(3) > 0 { // or 0, for exchanges
					x[i] = f.Element(r.Uint64())
				}
			}
		}
		a, rows := make([]uint64, m*n), make([][]uint64, m)
		for i := range m {
			for j := range n {
				a[i*n+j] = f.Dot(left[i*rank:(i+1)*rank], right[j*rank:])
			}
			rows[i] = append([]uint64(nil), a[i*n:(i+1)*n]...)
		}
		want := new(Echelon)
		f.Crout(rows, n, limit, want)
		f.Crout(rows, n, limit, again)
		f.Cross(a, m, n, limit, got)
		if !slices.Equal(again.X, want.X) {
			t.Fatalf("%d x %d, limit %d: X %v in used memory, want %v", m, n, limit, again.X, want.X)
		}
		for c, outside := range want.Outside { // then they have no meaning
			if k := len(want.Pivots); outside && k > 0 {
				copy(got.X[c*k:(c+1)*k], want.X[c*k:(c+1)*k])
			}
		}
		same := got.Det == want.Det && got.Odd == want.Odd && want.Odd == odd(want.Order)
		for _, x := range [][2][]int{{got.Order, want.Order}, {got.Pivots, want.Pivots}, {got.Free, want.Free}} {
			same = same && len(x[0]) == len(x[1]) && (len(x[0]) == 0 || reflect.DeepEqual(x[0], x[1]))
		}
		same = same && len(got.X) == len(want.X) && (len(got.X) == 0 || reflect.DeepEqual(got.X, want.X))
		if !same || len(got.Outside) > 0 && !reflect.DeepEqual(got.Outside, want.Outside) {
			t.Fatalf("%d x %d, limit %d: %+v, want %+v", m, n, limit, got, want)
		}
	}
}

// odd reports whether a permutation is odd: whether the number of its inversions is.
func odd(p []int) (z bool) {
	for i, x := range p {
		for _, y := range p[i:] {
			z = z != (y < x)
		}
	}
	return z
}

// TestInvert multiplies elements by their inverses.
func TestInvert(t *testing.T) {
	r := testseed.Rand(t, 36, 35)
	for _, f := range []*Field{New(Prime(0)), New(Prime(500)), Cube(1321109)} {
		for k := range 200 {
			x := f.Element(r.Uint64()>>r.IntN(63) | 1)
			if k < 2 { // ±1
				x = f.One
				if k == 1 {
					x = f.Sub(0, x)
				}
			}
			if x != 0 && f.P == 1321109*1321109*1321109 && f.Value(x)%1321109 == 0 {
				continue
			}
			if got := f.Mul(x, f.Invert(x)); got != f.One {
				t.Fatalf("modulo %d: %d times its inverse is %d", f.P, f.Value(x), f.Value(got))
			}
		}
	}
}
