package linsolve

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testlength"
)

// rationals returns the entries of a matrix.
func rationals(a *halfulp.Matrix) [][]*big.Rat {
	z := make([][]*big.Rat, a.Rows())
	for i := range z {
		z[i] = make([]*big.Rat, a.Cols())
		for j := range z[i] {
			z[i][j], _ = a.Big(i, j).Rat(nil)
		}
	}
	return z
}

func TestPow(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range formats {
		for trial := range testlength.Of(10, 30, 200) {
			n, e := r.IntN(6), r.IntN(12)
			a := randomIntegers(r, n, n, 2)
			if trial%2 == 0 {
				a = halfulp.Random(formats[r.IntN(len(formats))], n, n, r.IntN(10), r.Uint64())
			}
			x := halfulp.NewMatrix(f, n, n)
			if trial%3 == 0 { // in place
				a = a.Convert(f)
				x = a
			}
			want := rationals(halfulp.Identity(halfulp.Float64, n))
			m := rationals(a)
			for range e {
				next := rationals(halfulp.NewMatrix(halfulp.Float64, n, n))
				for i := range n {
					for j := range n {
						for k := range n {
							next[i][j].Add(next[i][j], new(big.Rat).Mul(want[i][k], m[k][j]))
						}
					}
				}
				want = next
			}
			stats, err := Pow(a, e, x, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j := range n {
					if z := nearest(f, want[i][j]); !x.At(i, j).Same(z) {
						t.Fatalf("seed %d, %v, n = %d, e = %d: entry %d, %d is %s, want %s (%+v)", seed, f, n, e, i, j, x.At(i, j).Hex(), z.Hex(), stats)
					}
				}
			}
		}
	}
}

// TestNullSpace compares with elimination in rationals, whose pivots lie furthest left.
func TestNullSpace(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, f := range formats {
		for range testlength.Of(10, 30, 200) {
			m, n, k := r.IntN(7), r.IntN(7), r.IntN(5)
			a := halfulp.NewMatrix(halfulp.Float64, m, n)
			if _, err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), randomIntegers(r, m, k, 5), randomIntegers(r, k, n, 5),
				halfulp.Float(0), nil, a, nil); err != nil {
				t.Fatal(err)
			}
			rows, cols := rationals(a), []int(nil)
			for j := 0; j < n && len(cols) < m; j++ {
				i := len(cols)
				for i < m && rows[i][j].Sign() == 0 {
					i++
				}
				if i == m {
					continue
				}
				p := len(cols)
				rows[i], rows[p] = rows[p], rows[i]
				cols = append(cols, j)
				d := new(big.Rat).Inv(rows[p][j])
				for c := range n {
					rows[p][c] = new(big.Rat).Mul(rows[p][c], d)
				}
				for i := range m {
					if i != p {
						d := new(big.Rat).Set(rows[i][j])
						for c := range n {
							rows[i][c] = new(big.Rat).Sub(rows[i][c], new(big.Rat).Mul(d, rows[p][c]))
						}
					}
				}
			}
			z, stats, err := NullSpace(a, f, nil)
			if err != nil || z.Rows() != n || z.Cols() != n-len(cols) {
				t.Fatalf("%d x %d, rank %d: %d x %d, %v", m, n, len(cols), z.Rows(), z.Cols(), err)
			}
			free := 0
			for j := range n {
				if slices.Contains(cols, j) {
					continue
				}
				for i := range n {
					want := new(big.Rat)
					if i == j {
						want.SetInt64(1)
					}
					for p, c := range cols {
						if c == i {
							want.Neg(rows[p][j])
						}
					}
					if w := nearest(f, want); !z.At(i, free).Same(w) {
						t.Fatalf("%v, %d x %d: entry %d, %d is %s, want %s (%+v)", f, m, n, i, free, z.At(i, free).Hex(), w.Hex(), stats)
					}
				}
				free++
			}
		}
	}
}

func TestCond(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, f := range formats {
		for range testlength.Of(5, 20, 100) {
			n := 1 + r.IntN(6)
			a := halfulp.Random(halfulp.DD, n, n, r.IntN(20), r.Uint64())
			inverse := rational(a, halfulp.Identity(halfulp.Float64, n))
			for _, norm := range []Norm{OneNorm, InfNorm} {
				of := func(m [][]*big.Rat) *big.Rat {
					most := new(big.Rat)
					for i := range n {
						sum := new(big.Rat)
						for j := range n {
							x := m[i][j]
							if norm == OneNorm {
								x = m[j][i]
							}
							sum.Add(sum, new(big.Rat).Abs(x))
						}
						if sum.Cmp(most) > 0 {
							most = sum
						}
					}
					return most
				}
				want := new(big.Rat).Mul(of(rationals(a)), of(inverse))
				got, stats, err := Cond(norm, a, f, nil)
				if err != nil {
					t.Fatal(err)
				}
				if z := nearest(f, want); !got.Same(z) {
					t.Fatalf("%v: %v, want %v (%+v)", f, got, z, stats)
				}
			}
		}
		for want, x := range map[float64][]float64{1: {1, 0, 0, 1}, 2: {1, 1, 1, -1}, math.Inf(1): {0, 0, 0, 0}} {
			a := halfulp.NewMatrixFloat64(2, 2, 2, x)
			if z, _, err := Cond(InfNorm, a, f, nil); err != nil || z.Float64() != want {
				t.Fatalf("%v: %v, %v, want %g", x, z, err, want)
			}
		}
	}
	// [2 1; 1 1] and its inverse have the norm 3: 9 lies halfway between 8 and 10, of 3 bits.
	a := halfulp.NewMatrixFloat64(2, 2, 2, []float64{2, 1, 1, 1})
	if z, _, err := Cond(OneNorm, a, halfulp.MP(3), nil); err != nil || z.Float64() != 8 {
		t.Fatalf("%v, %v, want 8", z, err)
	}
}
