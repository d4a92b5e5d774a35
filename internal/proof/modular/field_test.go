package modular

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestField compares elements with integers modulo the prime.
func TestField(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	for next, k := Primes(), 0; k < 3; k++ {
		f := New(next())
		p := new(big.Int).SetUint64(f.P)
		same := func(name string, x uint64, want *big.Int) {
			t.Helper()
			if want = want.Mod(want, p); !want.IsUint64() || f.Value(x) != want.Uint64() || x >= f.P {
				t.Fatalf("modulo %d: %s is %d, want %d", f.P, name, f.Value(x), want)
			}
		}
		for _, x := range []uint64{0, 1, f.P - 1, f.P, f.P + 1, math.MaxUint64, r.Uint64()} {
			same("an element", f.Element(x), new(big.Int).SetUint64(x))
		}
		two := big.NewInt(2)
		for _, e := range []int64{-1 << 40, -2049, -2048, -2047, -65, -64, -63, -1, 0, 1, 63, 64, 65, 2047, 2048, 2049, 1 << 40} {
			same("a power of 2", f.Power2(e), new(big.Int).Exp(two, big.NewInt(e), p))
		}
		for range 100 {
			words := []uint64{r.Uint64(), r.Uint64(), r.Uint64()}[:1+r.IntN(3)]
			e := r.Int64N(8192) - 4096
			want := new(big.Int)
			for i := len(words) - 1; i >= 0; i-- {
				want.Lsh(want, 64).Or(want, new(big.Int).SetUint64(words[i]))
			}
			want.Mul(want, new(big.Int).Exp(two, big.NewInt(e), p))
			same("a number", f.Real(num.Real{Class: num.Finite, Neg: true, Mag: words, Exp: e}), want.Neg(want))
		}
	}
}

// TestEliminate compares echelon forms, ranks and determinants by panels with the results of a
// single panel without sums, and with the reduced form, for matrices of all shapes and ranks.
func TestEliminate(t *testing.T) {
	r := testseed.Rand(t, 3, 4)
	f := New(Prime(1))
	for _, shape := range [][3]int{{1, 1, 1}, {5, 7, 3}, {16, 16, 16}, {17, 40, 17}, {40, 33, 30}, {50, 50, 50}, {70, 90, 41}, {100, 100, 99}} {
		m, n, rank := shape[0], shape[1], shape[2]
		left, right := make([][]uint64, m), make([][]uint64, rank)
		fill := func(rows [][]uint64, n int) {
			for i := range rows {
				rows[i] = make([]uint64, n)
				for j := range rows[i] {
					if r.IntN(4) > 0 { // or 0, for exchanges
						rows[i][j] = f.Element(r.Uint64())
					}
				}
			}
		}
		fill(left, rank)
		fill(right, n)
		a := make([][]uint64, m)
		for i := range a {
			a[i] = make([]uint64, n)
			for j := range a[i] {
				for k := range rank {
					a[i][j] = f.Add(a[i][j], f.Mul(left[i][k], right[k][j]))
				}
			}
		}
		copied := func() [][]uint64 {
			z := make([][]uint64, m)
			for i := range z {
				z[i] = slices.Clone(a[i])
			}
			return z
		}
		rows, want := copied(), copied()
		pivots, det, err := f.Eliminate(t.Context(), 2, rows, n, false)
		if err != nil {
			t.Fatal(err)
		}
		// Row by row, as it is defined.
		k, product, at := 0, f.One, []int(nil)
		for j := 0; j < n && k < m; j++ {
			i := slices.IndexFunc(want[k:], func(row []uint64) bool { return row[j] != 0 }) + k
			if i < k {
				continue
			}
			if i != k {
				want[i], want[k] = want[k], want[i]
				product = f.Sub(0, product)
			}
			product = f.Mul(product, want[k][j])
			scale := f.Invert(want[k][j])
			for c := range want[k] {
				want[k][c] = f.Mul(want[k][c], scale)
			}
			for _, row := range want[k+1:] {
				x := row[j]
				for c := range row {
					row[c] = f.Sub(row[c], f.Mul(x, want[k][c]))
				}
			}
			at, k = append(at, j), k+1
		}
		if !slices.Equal(pivots, at) || det != product {
			t.Fatalf("%v: pivots %v, determinant %d, want %v, %d", shape, pivots, det, at, product)
		}
		for i := range want {
			if !slices.Equal(rows[i], want[i]) {
				t.Fatalf("%v: row %d differs", shape, i)
			}
		}
	}
}

func TestPrime(t *testing.T) {
	next := new(big.Int).SetUint64(1<<61 - 1)
	for i := range 40 {
		for !next.ProbablyPrime(20) {
			next.Sub(next, big.NewInt(1))
		}
		if p := Prime(i); p != next.Uint64() {
			t.Fatalf("prime %d is %d, want %v", i, p, next)
		}
		next.Sub(next, big.NewInt(1))
	}
}
