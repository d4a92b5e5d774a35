package rational

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestRegular compares determinants modulo three primes with eliminations without fractions, and
// multiplies the solutions by the matrix. Matrices with many zeros need exchanges of rows.
func TestRegular(t *testing.T) {
	r := testseed.Rand(t, 36, 31)
	s, err := begin("test", nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, n := range []int{1, 2, 7, 8, 9, 15, 16, 17, 24, 25, 33} {
		g := newInts(n, n+2)
		for i := range g.a {
			if r.IntN(3) > 0 {
				g.a[i] = big.NewInt(r.Int64N(2001) - 1000)
			}
		}
		f, q := productOfThree(k)
		product := new(big.Int).SetUint64(f.P)
		minor, det, err := s.eliminate(g.chosen(span(0, n), span(0, n)), n)
		if err != nil {
			t.Fatal(err)
		}
		if len(minor.pivots) < n {
			det = new(big.Int)
		}
		e := g.words().regular(f, q, new(workspace))
		if e == nil {
			if new(big.Int).GCD(nil, nil, product, det.Abs(det)).Cmp(one) == 0 {
				t.Fatalf("n = %d: no echelon for determinant %v", n, det)
			}
			continue
		}
		if got := new(big.Int).SetUint64(f.Value(e.Det)); got.Cmp(det.Mod(det, product)) != 0 {
			t.Fatalf("n = %d: determinant %v, want %v", n, got, det)
		}
		rows, err := s.modulo(f, g)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			for c, j := range e.Free {
				if got := f.Dot(row[:n], e.X[c*n:(c+1)*n]); got != row[j] {
					t.Fatalf("n = %d: row %d of column %d is %d, want %d", n, i, j, got, row[j])
				}
			}
		}
	}
	singular := newInts(20, 20)
	for i := range singular.a {
		singular.a[i] = big.NewInt(int64(i/20 + i%20))
	}
	f, q := productOfThree(0)
	if singular.words().regular(f, q, new(workspace)) != nil {
		t.Fatal("an echelon of a singular matrix")
	}
}

// TestPowerBasis compares characteristic polynomials by powers of the matrix with Hessenberg
// matrices, for one prime of 61 bits and for three of 21 bits.
func TestPowerBasis(t *testing.T) {
	r := testseed.Rand(t, 36, 32)
	s, err := begin("test", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 5, 16, 17, 30, 41} {
		g := newInts(n, n)
		for i := range g.a {
			g.a[i] = big.NewInt(r.Int64N(1<<20) - 1<<19)
		}
		bits := minors(g.bothNorms())
		krylov := s.byKrylov
		if n <= modular.MostCross {
			krylov = s.directKrylov
		}
		got, err := krylov(g.words(), bits)
		if err != nil || got == nil {
			t.Fatalf("n = %d: %v, %v", n, got, err)
		}
		var residues [][]uint64
		fields := primesFor(bits, one)
		for _, f := range fields {
			rows, err := s.modulo(f, g)
			if err != nil {
				t.Fatal(err)
			}
			x, err := characteristic(s, f, rows)
			if err != nil {
				t.Fatal(err)
			}
			residues = append(residues, x)
		}
		want, err := s.combine(fields, residues)
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			if got[k].Cmp(want[k]) != 0 {
				t.Fatalf("n = %d: coefficient %d is %v, want %v", n, k, got[k], want[k])
			}
		}
	}
	for _, n := range []int{3, 20} { // the powers of a unit matrix are dependent
		for _, krylov := range []func(*words, int) ([]*big.Int, error){s.byKrylov, s.directKrylov} {
			if z, err := krylov(Identity(n).n.words(), 100); z != nil || err != nil {
				t.Fatalf("n = %d: %v, %v", n, z, err)
			}
		}
	}
}

// TestRemainders restores integers from residues, for few and for many moduli.
func TestRemainders(t *testing.T) {
	r := testseed.Rand(t, 36, 33)
	for _, count := range []int{1, 2, 3, 17, 63, 64, 65, fewPrimes, fewPrimes + 1} {
		var fields []*modular.Field
		for i := range count {
			fields = append(fields, modular.Numbered(i))
		}
		crt := newRemainders(fields)
		most := new(big.Int).Lsh(one, uint(count*primeBits-1))
		for k := range 20 {
			x := new(big.Int).Sub(most, big.NewInt(int64(k))) // the largest ones
			if k%2 == 0 {
				x.Rsh(x, uint(r.IntN(count*primeBits)))
			}
			if k%3 == 0 {
				x.Neg(x)
			}
			if got := crt.integer(func(i int) uint64 { return fields[i].Integer(x) }); got.Cmp(x) != 0 {
				t.Fatalf("%d primes: %v, want %v", count, got, x)
			}
		}
	}
}
