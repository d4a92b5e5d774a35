package halfulp

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// TestGemmToTies compares products plus an old matrix, wider than the result, with rational
// arithmetic. The old matrices take every entry to a tie or very near one.
func TestGemmToTies(t *testing.T) {
	seed := testseed.Vary(t, 11)
	rng := rand.New(rand.NewPCG(seed, 0))
	for trial := range 60 {
		rows, k, cols := 1+rng.IntN(3), rng.IntN(4), 1+rng.IntN(3)
		a, b := randomMatrix(Float64, rows, k, 5, rng.Uint64()), randomMatrix(DD, k, cols, 5, rng.Uint64())
		alpha, beta := Float(float64(rng.IntN(5)-2)/4), Float(float64(1+rng.IntN(3)))
		c, d := NewMatrix(MP(300), rows, cols), NewMatrix(Float64, rows, cols)
		want := make([]float64, rows*cols)
		for i := range rows {
			for j := range cols {
				product := new(big.Rat)
				for h := range k {
					product.Add(product, new(big.Rat).Mul(ratOf(a.Big(i, h)), ratOf(b.Big(h, j))))
				}
				product.Mul(product, ratOf(alpha.Big()))
				// beta c = 1 + 2^-53 + a hair either way - product, in 300 bits.
				near := new(big.Rat).SetFrac64(1<<53+1, 1<<53)
				hair := new(big.Rat).SetFrac(big.NewInt(int64(rng.IntN(3)-1)), new(big.Int).Lsh(big.NewInt(1), 200))
				old := new(big.Rat).Sub(near.Add(near, hair), product)
				old.Quo(old, ratOf(beta.Big()))
				c.SetBig(i, j, new(big.Float).SetPrec(300).SetRat(old))
				exact := new(big.Rat).Mul(ratOf(beta.Big()), ratOf(c.Big(i, j)))
				want[i+j*rows], _ = exact.Add(exact, product).Float64()
			}
		}
		for _, method := range []Method{AutoMethod, Direct, Residue} {
			if method == "residue" && k == 0 {
				continue
			}
			if err := GemmTo(NoTrans, NoTrans, alpha, a, b, beta, c, d, &Options{Method: method}); err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				for j := range cols {
					if got := d.Float64(i, j); got != want[i+j*rows] {
						t.Errorf("seed %d, trial %d, %s: entry (%d, %d) = %b, want %b", seed, trial, method, i, j, got, want[i+j*rows])
					}
				}
			}
		}
		y := NewVector(Float64, rows)
		if err := GemvTo(NoTrans, alpha, a, b.Convert(MP(200)).Col(0), beta, c.Col(0), y, nil); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if y.Float64(i) != want[i] {
				t.Errorf("seed %d, trial %d: y[%d] = %b, want %b", seed, trial, i, y.Float64(i), want[i])
			}
		}
	}
}

// TestGemmToAliases stores the result in each operand.
func TestGemmToAliases(t *testing.T) {
	const n = 17
	a, b, c := randomMatrix(DD, n, n, 3, 1), randomMatrix(DD, n, n, 3, 2), randomMatrix(DD, n, n, 3, 3)
	want := NewMatrix(DD, n, n)
	if err := GemmTo(NoTrans, Trans, Float(3), a, b, Float(-1), c, want, nil); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]func() (a, b, c, d *Matrix){
		"A":  func() (x, y, z, d *Matrix) { x = a.Clone(); return x, b, c, x },
		"B":  func() (x, y, z, d *Matrix) { y = b.Clone(); return a, y, c, y },
		"C":  func() (x, y, z, d *Matrix) { z = c.Clone(); return a, b, z, z },
		"Cᵀ": func() (x, y, z, d *Matrix) { s := c.T().Clone(); return a, b, s.T(), s },
	} {
		x, y, z, d := in()
		if err := GemmTo(NoTrans, Trans, Float(3), x, y, Float(-1), z, d, nil); err != nil {
			t.Fatal(err)
		}
		if !d.Same(want) {
			t.Errorf("D in %s differs", name)
		}
	}
}

func ratOf(x *big.Float) *big.Rat {
	r, _ := x.Rat(nil)
	return r
}

// TestShortWidths multiplies integers of few bits, where rounding adds much to the norms.
func TestShortWidths(t *testing.T) {
	for _, c := range []struct {
		x float64
		k int
	}{{8.500001 * 0x1p-14, 12805}, {8.500001 * 0x1p-14, 12825}, {8.500001 * 0x1p-14, 12941}, {10.500001 * 0x1p-14, 10476}, {6.500001 * 0x1p-15, 14139}} {
		a, b := NewMatrix(Float64, 4, c.k), NewMatrix(Float64, c.k, 32)
		for i := range 4 {
			a.SetFloat64(i, 0, 1-0x1p-40)
		}
		for h := 1; h < c.k; h++ {
			a.SetFloat64(3, h, c.x)
			b.SetFloat64(h, 30, 1-0x1p-8)
		}
		for j := range 32 {
			b.SetFloat64(0, j, 1-0x1p-8)
		}
		got, want := NewMatrix(MP(2), 4, 32), NewMatrix(MP(2), 4, 32)
		for method, z := range map[Method]*Matrix{Residue: got, Direct: want} {
			if err := Gemm(NoTrans, NoTrans, Float(1), a, b, Float(0), z, &Options{Method: method}); err != nil {
				t.Fatal(err)
			}
		}
		if !got.Same(want) {
			t.Errorf("k = %d: entry (3, 30) = %v, want %v", c.k, got.At(3, 30), want.At(3, 30))
		}
	}
}

// TestSignsOfSparseZeros compares the signs of zeros, by residues and directly, in products of
// matrices with few nonzero entries, at different places of rows and columns.
func TestSignsOfSparseZeros(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	negative, compared := 0, 0
	for trial := range 120 {
		m, n, k := 1+r.IntN(5), 1+r.IntN(5), 1+r.IntN(7)
		fill := func(rows, cols int, minus bool) *Matrix {
			a := NewMatrix([]Format{Float64, MP(90), DD}[trial%3], rows, cols)
			for i := range rows {
				for j := range cols {
					x := 0.0
					if minus && r.IntN(8) > 0 || r.IntN(4) == 0 {
						x = math.Copysign(0, -1)
					}
					if r.IntN(7) == 0 {
						x = 1.0 / 3
					}
					a.SetFloat64(i, j, x)
				}
			}
			return a
		}
		minus := r.IntN(2) == 0
		a, b, c := fill(m, k, minus), fill(k, n, false), fill(m, n, minus)
		alpha, beta := Float([]float64{1, -1, 0.3, 0, math.Inf(1)}[r.IntN(5)]), Float([]float64{0, 1, -2, math.Inf(-1)}[r.IntN(4)])
		var results []*Matrix
		for _, method := range []Method{Residue, Direct} {
			d := NewMatrix(MP(70), m, n)
			err := GemmTo(NoTrans, NoTrans, alpha, a, b, beta, c, d, &Options{Method: method})
			if errors.Is(err, ErrMethod) { // residues for infinite factors
				continue
			}
			if err != nil {
				t.Fatalf("trial %d, %s: %v", trial, method, err)
			}
			results = append(results, d)
		}
		if len(results) < 2 {
			continue
		}
		compared++
		if !results[0].Same(results[1]) {
			t.Fatalf("trial %d: %v times\n%v times\n%v plus %v times\n%v is by residues\n%v, directly\n%v", trial, alpha, a, b, beta, c, results[0], results[1])
		}
		for i := range m {
			for j := range n {
				if x := results[1].At(i, j); !x.IsNaN() && x.Big().Sign() == 0 && x.Big().Signbit() {
					negative++
				}
			}
		}
	}
	if negative == 0 || compared < 60 {
		t.Errorf("%d negative zeros, %d products compared", negative, compared)
	}
}
