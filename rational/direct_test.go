package rational

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// edges returns an integer of at most the given bits, often at the ends of words.
func edges(r *rand.Rand, bits int) *big.Int {
	z := new(big.Int)
	switch r.IntN(6) {
	case 0:
		return z
	case 1: // ±2^k and its neighbours
		z.Lsh(one, uint(r.IntN(bits)))
		z.Add(z, big.NewInt(r.Int64N(3)-1))
	case 2: // a multiple of a power of two
		z.Lsh(big.NewInt(1+r.Int64N(9)), uint(r.IntN(bits)))
	case 3:
		z.SetInt64(1 + r.Int64N(5))
	default:
		for z.BitLen() < bits {
			z.Lsh(z, 64)
			z.Or(z, new(big.Int).SetUint64(r.Uint64()))
		}
		z.Rsh(z, uint(z.BitLen()-1-r.IntN(bits)))
	}
	if z.BitLen() > bits {
		z.Rsh(z, uint(z.BitLen()-bits))
	}
	return signed(z, r.IntN(2) == 0)
}

// TestDirect compares eliminations in words and modulo primes with eliminations in integers of any
// length, and determinants likewise. Words have at most mostWords bits.
func TestDirect(t *testing.T) {
	r := testseed.Rand(t, 36, 41)
	s, err := begin("test", nil)
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for range testlength.Of(500, 2000, 100000) {
		m, n := r.IntN(7), r.IntN(9)
		limit := r.IntN(n + 1)
		g := newInts(m, n)
		bits := []int{2, 10, 31, 63, 64, 65, 127, 128, 300}[r.IntN(9)]
		if order := min(m, limit); order > 0 && r.IntN(3) > 0 { // up to mostWords bits of minors
			bits = 1 + r.IntN(max(1, 126/order))
		}
		for i := range g.a {
			g.a[i] = edges(r, bits)
		}
		if m > 1 && r.IntN(3) == 0 { // dependent rows
			for j := range n {
				g.set(m-1, j, new(big.Int).Sub(g.at(0, j), g.at(m/2, j)))
			}
		}
		if n > 0 && r.IntN(3) == 0 { // a column of zeros
			j := r.IntN(n)
			for i := range m {
				g.set(i, j, nil)
			}
		}
		want, _, err := s.eliminate(g, limit)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.directly(g, limit)
		if err != nil {
			t.Fatal(err)
		}
		g.sameEchelon(t, "directly", limit, got, want)
		room := new(directRoom)
		room.words.load(g)
		if got = room.byWords(limit); got != nil {
			words++
			g.sameEchelon(t, "byWords", limit, got, want)
		}
		n = min(m, n)
		square := g.chosen(span(0, n), span(0, n))
		e, det, err := s.eliminate(square, n)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.pivots) < n {
			det = new(big.Int)
		}
		if got, err := s.directDet(square); err != nil || got.Cmp(det) != 0 {
			t.Fatalf("determinant of %v: %v (%v), want %v", square, got, err, det)
		}
	}
	t.Logf("%d eliminations in words", words)
	if words < 100 {
		t.Fatalf("%d eliminations in words", words)
	}
}

// sameEchelon compares echelons of n, whose rows of pivots may differ.
func (n ints) sameEchelon(t *testing.T, what string, limit int, got, want *echelon) {
	t.Helper()
	same := slices.Equal(got.pivots, want.pivots) && slices.Equal(got.free, want.free) && slices.Equal(got.outside, want.outside) && len(got.rows) == len(want.rows)
	for k := range want.free {
		for i := 0; same && !want.outside[k] && i < len(want.pivots); i++ {
			x, y := new(big.Int).Mul(got.x[k][i], want.d[k]), new(big.Int).Mul(want.x[k][i], got.d[k])
			same = got.d[k].Sign() > 0 && x.Cmp(y) == 0
		}
	}
	if !same {
		t.Fatalf("%s of %d x %d, limit %d: %v: %+v, want %+v", what, n.rows, n.cols, limit, n.a, got, want)
	}
}

// TestGCD compares greatest common divisors with the ones of math/big.
func TestGCD(t *testing.T) {
	r := testseed.Rand(t, 36, 42)
	for range testlength.Of(2000, 10000, 1000000) {
		common := edges(r, 60)
		g := new(big.Int).Mul(edges(r, 1+r.IntN(70)), common)
		if g.Sign() == 0 {
			g.SetInt64(1 + r.Int64N(4))
		}
		g.Abs(g)
		x := make([]*big.Int, r.IntN(4))
		want := new(big.Int).Set(g)
		for i := range x {
			if r.IntN(6) > 0 {
				x[i] = new(big.Int).Mul(edges(r, 1+r.IntN(70)), common)
				want.GCD(nil, nil, want, x[i])
			}
		}
		if got := gcd(g, x...); got.Cmp(want) != 0 {
			t.Fatalf("gcd of %v and %v: %v, want %v", g, x, got, want)
		}
	}
}
