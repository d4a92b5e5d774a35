package linsolve

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestTiesOfFactors computes factors with zeros and numbers halfway between two numbers of the
// format, and numbers near to these, by more or less than the first enclosure can tell.
func TestTiesOfFactors(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	ties, near := 0, 0
	for trial := range testlength.Of(6, 12, 200) {
		n := []int{3, 6, seed.Fewest + 3}[trial%3]
		lower := halfulp.NewMatrix(halfulp.MP(600), n, n)
		for i := range n {
			for j := range i + 1 {
				x := new(big.Float).SetPrec(600)
				switch r.IntN(4) {
				case 0:
				case 1:
					x.SetInt64(r.Int64N(100) - 50)
				default:
					x.SetInt64(1<<53 + 2*r.Int64N(1<<20) + 1) // a tie of float64
					if r.IntN(2) == 0 {
						x.Add(x, new(big.Float).SetMantExp(big.NewFloat(float64(1-2*r.IntN(2))), -r.IntN(200)))
						near++
					} else {
						ties++
					}
					x.SetMantExp(x, -60)
				}
				if i == j {
					x.Abs(x)
					x.Add(x, big.NewFloat(float64(1+r.IntN(3))))
				}
				lower.SetBig(i, j, x)
			}
		}
		a := halfulp.NewMatrix(halfulp.MP(2500), n, n)
		if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.Trans, halfulp.Float(1), lower, lower, halfulp.Float(0), nil, a, nil); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("seed %d, trial %d, n = %d", draw, trial, n)
		z, err := Cholesky(a, halfulp.Float64, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range n {
			for j := range i + 1 {
				x, _ := lower.Big(i, j).Rat(nil)
				if want := lintest.Nearest(halfulp.Float64, x); !z.L.At(i, j).Same(want) {
					t.Fatalf("%s: L[%d,%d] = %s, want %s", name, i, j, z.L.At(i, j).Hex(), want.Hex())
				}
			}
		}
		if n < seed.Fewest {
			checkLU(t, name, a, halfulp.MP(40))
			checkLDLT(t, name, a, halfulp.Float64)
		}
	}
	if ties == 0 || near == 0 {
		t.Fatal("no ties")
	}
}

// TestLeastDistances uses an entry N/D of L as near to a tie as the denominator D allows, for all
// sizes of D. For some sizes the bound of the integer that separates entry and tie is just above 1.
func TestLeastDistances(t *testing.T) {
	r := testseed.Rand(t, 1, 3)
	for k := range 300 {
		for _, off := range []int64{-1, 1} {
			d := new(big.Int).Lsh(big.NewInt(1), uint(k+1))
			d.Add(d, big.NewInt(1))
			twice := big.NewInt(1<<53 + 2*r.Int64N(1<<52) + 1) // the tie is half of twice
			n := new(big.Int).Mul(twice, d)
			n.Rsh(n.Add(n, big.NewInt(off)), 1)
			// The entry stays below 1.
			a := halfulp.NewMatrix(halfulp.MP(400), 2, 2)
			float := func(x *big.Int, e int) *big.Float {
				f := new(big.Float).SetPrec(400).SetInt(x)
				return f.SetMantExp(f, e)
			}
			a.SetBig(0, 0, float(d, 0))
			a.SetBig(1, 0, float(n, -60))
			a.SetBig(0, 1, float(big.NewInt(1), 0))
			a.SetBig(1, 1, float(big.NewInt(3), -60))
			want := lintest.Nearest(halfulp.Float64, new(big.Rat).Mul(new(big.Rat).SetFrac(n, d), big.NewRat(1, 1<<60)))
			z, err := LU(a, halfulp.Float64, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := z.L.At(1, 0); !got.Same(want) {
				t.Fatalf("D = 2^%d + 1, N %+d: LU has %s, want %s", k+1, off, got.Hex(), want.Hex())
			}
		}
	}
}

// TestPrimesOfPascal computes factors that consist of integers, the binomial coefficients, with
// determinants 1. Enclosures must prove them, not the hundreds of primes that Hadamard's bound
// would take.
func TestPrimesOfPascal(t *testing.T) {
	n := testlength.Of(30, 60, 100)
	a := halfulp.NewMatrix(halfulp.MP(256), n, n)
	for i := range n {
		for j := range n {
			a.SetBig(i, j, new(big.Float).SetPrec(256).SetInt(new(big.Int).Binomial(int64(i+j), int64(i))))
		}
	}
	var stats halfulp.Stats
	z, err := Cholesky(a, halfulp.MP(24), &halfulp.Options{Stats: &stats})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range n {
			x := new(big.Rat).SetInt(new(big.Int).Binomial(int64(i), int64(j)))
			if want := lintest.Nearest(halfulp.MP(24), x); !z.L.At(i, j).Same(want) {
				t.Fatalf("L[%d,%d] = %s, want %s", i, j, z.L.At(i, j).Hex(), want.Hex())
			}
		}
	}
	if stats.Primes > 20 {
		t.Errorf("%d primes", stats.Primes)
	}
}
