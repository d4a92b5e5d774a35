package rational

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// TestInverseModulo multiplies by the matrix.
func TestInverseModulo(t *testing.T) {
	r := testseed.Rand(t, 36, 10)
	s, err := begin("test", nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, n := range []int{1, 2, 5, 31, 32, 33, 70, 100} {
		a := newInts(n, n)
		for i := range a.a {
			switch k % 3 {
			case 0:
				a.a[i] = big.NewInt(r.Int64N(1001) - 500)
			case 1: // many zeros: exchanges of rows
				if (i%n+i/n)%n < 2 || r.IntN(5) == 0 {
					a.a[i] = big.NewInt(r.Int64() >> r.IntN(60))
				}
			default:
				x := new(big.Int).SetUint64(r.Uint64())
				a.a[i] = x.Mul(x, big.NewInt(r.Int64()-1<<62))
			}
		}
		z, err := s.inverseModulo(a)
		if err != nil || z == nil {
			t.Fatalf("n = %d: %v", n, err)
		}
		f, inverse := z.f, z.rows
		rows, err := s.modulo(f, a)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range n {
				sum := uint64(0)
				for h := range n {
					sum = f.Add(sum, f.Mul(rows[i][h], inverse[h][j]))
				}
				if want := i == j; want && sum != f.One || !want && sum != 0 {
					t.Fatalf("n = %d: entry (%d, %d) is wrong", n, i, j)
				}
			}
		}
	}
	singular := newInts(70, 70)
	for i := range singular.a {
		singular.a[i] = big.NewInt(int64(i/70 + i%70))
	}
	if z, err := s.inverseModulo(singular); z != nil || err != nil {
		t.Fatal("an inverse of a singular matrix", err)
	}
}
