package linsolve

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSmallSystems solves small systems, 10^5 in its long form. No solution may be wrong, and no
// regular system may be reported singular.
func TestSmallSystems(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	few := []halfulp.Format{halfulp.Float64, halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.MP(2), halfulp.MP(106), halfulp.QD}
	for trial := range testlength.Of(400, 800, 100000) {
		n, f := 1+r.IntN(6), few[r.IntN(len(few))]
		a, b := lintest.Adversarial(r, n, 1)
		level := anyLevel(r)
		name := fmt.Sprintf("seed %d, trial %d, n = %d, %v, %v", seed, trial, n, f, level)
		restore := isa.Force(level)
		want := lintest.Of(a).Solve(lintest.Of(b))
		if trial%4 == 0 {
			checkDet(t, name, a, f)
			rank, err := Rank(a, nil)
			if exact := lintest.Of(a).Rank(n); err != nil || rank != exact {
				t.Fatalf("%s: rank %d, %v, want %d", name, rank, err, exact)
			}
		}
		checkSolution(t, name, a, b, f, want)
		restore()
	}
}

// anyLevel selects a random instruction-set level of those in force.
func anyLevel(r *rand.Rand) isa.Set {
	levels := slices.DeleteFunc(isa.Levels(), func(l isa.Set) bool { return l > isa.Level() })
	return levels[r.IntN(len(levels))]
}

// TestHard solves systems of all families, with known solutions or by elimination.
func TestHard(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for i, fam := range lintest.Families {
		for _, n := range testlength.Of([]int{0, 1, 7}, []int{0, 1, 12}, []int{0, 1, 2, 5, 12, 25}) {
			for _, k := range []int{0, 1, 10} {
				f := lintest.Formats[(i+n+k)%len(lintest.Formats)]
				a, b := fam.Make(r, n, k)
				check(t, fmt.Sprintf("seed %d, %s, %v, n = %d, k = %d", seed, fam.Name, f, n, k), a, b, f)
			}
		}
	}
}

// hilbert returns the Hilbert matrix multiplied by m, the least common multiple of 1, ..., 2n - 1,
// exactly. It also returns m and the inverse of the Hilbert matrix, whose entries are
//
//	(-1)^(i+j) (i+j-1) C(n+i-1, n-j) C(n+j-1, n-i) C(i+j-2, i-1)².
func hilbert(n int) (a *halfulp.Matrix, m *big.Int, inverse func(i, j int) *big.Int) {
	m = big.NewInt(1)
	for k := int64(2); k < int64(2*n); k++ {
		m.Mul(m, big.NewInt(k/new(big.Int).GCD(nil, nil, m, big.NewInt(k)).Int64()))
	}
	a = halfulp.NewMatrix(halfulp.MP(uint(max(m.BitLen(), 2))), n, n)
	for i := range n {
		for j := range n {
			a.SetBig(i, j, new(big.Float).SetInt(new(big.Int).Quo(m, big.NewInt(int64(i+j+1)))))
		}
	}
	return a, m, func(i, j int) *big.Int {
		binomial := func(n, k int) *big.Int { return new(big.Int).Binomial(int64(n), int64(k)) }
		z := big.NewInt(int64(i + j + 1))
		z.Mul(z, binomial(n+i, n-j-1)).Mul(z, binomial(n+j, n-i-1))
		square := binomial(i+j, i)
		z.Mul(z, square).Mul(z, square)
		if (i+j)%2 != 0 {
			z.Neg(z)
		}
		return z
	}
}

// TestHilbert uses exact Hilbert matrices, whose inverses and determinants are known.
func TestHilbert(t *testing.T) {
	for _, n := range testlength.Of([]int{1, 10, 50}, []int{1, 10, 50}, []int{1, 10, 50, 200, 500}) {
		a, m, inverse := hilbert(n)
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(106)} {
			// The columns of the inverse times 3 and times m: integers that are not numbers of f.
			b, x := halfulp.NewMatrix(halfulp.MP(uint(m.BitLen()+2)), n, 2), halfulp.NewMatrix(f, n, 2)
			b.SetFloat64(n/2, 0, 3)
			b.SetBig(n/3, 1, new(big.Float).SetInt(m))
			var stats halfulp.Stats
			err := lintest.Into(x)(Solve(a, b, x.NumberFormat(), &halfulp.Options{Stats: &stats}))
			if err != nil {
				t.Fatalf("n = %d: %v (%+v)", n, err, stats)
			}
			for i := range n {
				third := new(big.Rat).SetFrac(new(big.Int).Mul(inverse(i, n/2), big.NewInt(3)), m)
				for j, want := range []*big.Rat{third, new(big.Rat).SetInt(inverse(i, n/3))} {
					if z := lintest.Nearest(f, want); !x.At(i, j).Same(z) {
						t.Fatalf("n = %d, %v: x[%d,%d] = %v, want %v (%+v)", n, f, i, j, x.At(i, j), z, stats)
					}
				}
			}
			if f != halfulp.Float64 {
				continue
			}
			if n > 200 {
				continue
			}
			// det H = Π_(k<n) k!^4 / Π_(k<2n) k!
			det := new(big.Rat).SetInt(new(big.Int).Exp(m, big.NewInt(int64(n)), nil))
			for k := range 2 * n {
				factorial := new(big.Rat).SetInt(new(big.Int).MulRange(1, int64(k)))
				det.Quo(det, factorial)
				if k < n {
					for range 4 {
						det.Mul(det, factorial)
					}
				}
			}
			for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(100)} {
				var stats halfulp.Stats
				if z, err := Det(a, f, &halfulp.Options{Stats: &stats}); err != nil || !z.Same(lintest.Nearest(f, det)) {
					t.Fatalf("n = %d: determinant %v, %v (%+v)", n, z, err, stats)
				}
			}
		}
	}
}

// TestModular compares ranks, and all bits of determinants of integers, with results modulo a prime
// that the package does not use.
func TestModular(t *testing.T) {
	r := testseed.Rand(t, 1, 3)
	for _, n := range testlength.Of([]int{30}, []int{30, 60}, []int{30, 60, 200}) {
		a := lintest.Integers(r, n, n, 1<<30)
		var stats halfulp.Stats
		z, err := Det(a, halfulp.MP(uint(40*n)), &halfulp.Options{Stats: &stats})
		if err != nil {
			t.Fatal(err)
		}
		det, _ := lintest.DetModulo(a)
		if !z.Big().IsInt() || lintest.Residue(z.Big()).Cmp(det) != 0 {
			t.Errorf("n = %d: %v is wrong modulo 2^127 - 1 (%+v)", n, z, stats)
		}
		for _, k := range []int{n - 1, n / 2} {
			b := lintest.Product(200, lintest.Integers(r, n, k, 99), lintest.Integers(r, k, n, 99))
			rank, err := Rank(b, nil)
			if _, want := lintest.DetModulo(b); err != nil || rank != want {
				t.Errorf("n = %d: rank %d, %v, want %d", n, rank, err, want)
			}
		}
	}
}

// TestKnownSolutions solves integer systems whose solutions are numbers of the format, halfway
// between two such numbers, or next to a tie.
func TestKnownSolutions(t *testing.T) {
	r := testseed.Rand(t, 2, 3)
	for _, n := range testlength.Of([]int{40}, []int{40, 90}, []int{40, 90, 250}) {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(106)} {
			a := lintest.Integers(r, n, n, 1<<20)
			want := lintest.New(n, 3)
			half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(f.Bits())))
			tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 900))
			for i := range n {
				want[i][0].SetInt64(r.Int64N(1<<40) - 1<<39)
				want[i][1].Add(big.NewRat(1+r.Int64N(2), 1), half)
				want[i][2].Add(want[i][1], new(big.Rat).Mul(tiny, big.NewRat(int64(r.IntN(3)-1), 1)))
			}
			x := halfulp.NewMatrix(halfulp.MP(1000), n, 3)
			for i := range n {
				for j := range 3 {
					x.SetBig(i, j, new(big.Float).SetPrec(1000).SetRat(want[i][j]))
				}
			}
			checkSolution(t, fmt.Sprintf("n = %d, %v", n, f), a, lintest.Product(1100, a, x), f, want)
		}
	}
}
