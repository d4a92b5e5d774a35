package rational

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// randomInts returns integers below 2^bits in magnitude, row by row.
func randomInts(r *rand.Rand, rows, cols, bits int) ints {
	z := newInts(rows, cols)
	for i := range z.a {
		x := new(big.Int)
		for range (bits + 63) / 64 {
			x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(r.Uint64()))
		}
		if x.Rsh(x, uint((bits+63)/64*64-bits)); r.IntN(2) == 0 {
			x.Neg(x)
		}
		z.a[i] = x
	}
	return z
}

// TestGroups multiplies p-adic solutions by groups of digits by the matrix.
func TestGroups(t *testing.T) {
	r := testseed.Rand(t, 36, 40)
	s, err := begin("test", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func(f func(n, planes int) int) { groupOf = f }(groupOf)
	for _, size := range [][3]int{{1, 10, 1}, {7, 90, 2}, {33, 10, 5}, {40, 300, 1}, {21, 64, 3}} {
		n, bits, cols := size[0], size[1], size[2]
		for _, group := range []int{1, 2, 3, 5, 12, 24} {
			groupOf = func(int, int) int { return group }
			for _, top := range []int{1, bits, 4 * bits} {
				a, b := randomInts(r, n, n, bits), randomInts(r, n, cols, top)
				for i := range n {
					a.set(i, i, new(big.Int).Lsh(one, uint(bits-1))) // the largest ones
				}
				m, err := s.squareOf(a)
				if err != nil {
					t.Fatal(err)
				}
				l, err := s.newFloatLifting(m.w, m.inverse, top, cols)
				if err != nil || l == nil {
					t.Fatal(size, err)
				}
				for j := range cols {
					l.add(b.transposed().row(j))
				}
				columns := make([]*lifted, cols)
				for j := range columns {
					columns[j] = new(lifted)
				}
				const count = 9
				for range count {
					digits, err := l.next()
					if err != nil {
						t.Fatal(err)
					}
					for j, d := range digits {
						columns[j].digits = append(columns[j].digits, d)
					}
				}
				powers := powersOf(l.p())
				for j, c := range columns {
					for i := range n {
						sum := new(big.Int).Neg(b.at(i, j))
						for k := range n {
							sum.Add(sum, new(big.Int).Mul(a.at(i, k), c.value(powers, k, 0, count)))
						}
						if sum.Rem(sum, powers.of(count)).Sign() != 0 {
							t.Fatalf("%v, groups of %d: row %d of column %d differs", size, group, i, j)
						}
					}
				}
			}
		}
	}
}

// TestNearDeterminant compares bounds with determinants: of random matrices, of products of them,
// whose columns are nearly dependent, and with rows of very different sizes.
func TestNearDeterminant(t *testing.T) {
	r := testseed.Rand(t, 36, 41)
	s, err := begin("test", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]int{{1, 1}, {2, 70}, {5, 10}, {20, 3}, {30, 200}, {40, 10}} {
		n, bits := size[0], size[1]
		for _, kind := range []string{"random", "near", "rows", "huge"} {
			a := randomInts(r, n, n, bits)
			switch kind {
			case "near":
				for i := range n {
					for j := 1; j < n; j++ {
						x := new(big.Int).Lsh(a.at(i, 0), 80)
						a.set(i, j, x.Add(x, a.at(i, j)))
					}
				}
			case "rows":
				for i := range n {
					for j := range n {
						a.set(i, j, new(big.Int).Lsh(a.at(i, j), uint(i*i%97*10)))
					}
				}
			case "huge":
				a.set(n/2, n/3, new(big.Int).Lsh(one, 3000))
			}
			m, err := s.squareOf(a)
			if err != nil {
				t.Fatal(err)
			}
			if m.inverse == nil {
				continue
			}
			bound, err := s.nearDeterminant(m)
			if err != nil {
				t.Fatal(err)
			}
			_, det, err := s.eliminate(a, n)
			if err != nil {
				t.Fatal(err)
			}
			if got := det.BitLen(); got > bound || kind == "random" && bound > got+2 {
				t.Errorf("%s, n = %d: bound %d for %d bits, Hadamard's is %d", kind, n, bound, got, m.determinant)
			}
			again, err := s.regularDet(m, 0)
			if err != nil || again.Cmp(det) != 0 {
				t.Errorf("%s, n = %d: determinant %v, want %v (%v)", kind, n, again, det, err)
			}
		}
	}
}

// TestLongestFloats has entries of 53 bits next to a multiple of the first prime modulo which the
// matrix is regular, which has 54 bits.
func TestLongestFloats(t *testing.T) {
	const n = 26
	a, want := New(n, n), big.NewInt(80)
	for i := range n {
		d := int64(1)
		if i < 3 {
			d = floatPrime(3 * i)
			want.Mul(want, big.NewInt(d))
		}
		a.Set(i, i, new(big.Rat).SetInt64(d))
	}
	// The determinant of these is 16 (2^53 - 1) - 32 (2^52 - 3) = 80.
	a.Set(4, 4, new(big.Rat).SetInt64(16))
	a.Set(4, 6, new(big.Rat).SetInt64(1<<52-3))
	a.Set(6, 4, new(big.Rat).SetInt64(32))
	a.Set(6, 6, new(big.Rat).SetInt64(1<<53-1))
	d, err := Det(a, nil)
	if err != nil || !d.IsInt() || d.Num().Cmp(want) != 0 {
		t.Fatalf("determinant %v, %v, want %v", d, err, want)
	}
}
