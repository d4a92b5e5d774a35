package modular_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestInvertMatrix multiplies inverses modulo primes by their matrices, and expects no inverse of a
// singular matrix. The matrices are permutations, zeros, and random matrices of all ranks; their
// orders are near multiples of the block.
func TestInvertMatrix(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	next := modular.Primes()
	fields := []*modular.Field{modular.New(next()), modular.New(next()), modular.New(1<<60 + 33)}
	for trial, n := range []int{1, 2, 3, 7, 8, 30, 95, 96, 97, 130, 200} {
		f := fields[trial%len(fields)]
		for how := range 4 {
			level := isa.Best()
			if how%2 == 1 {
				level = isa.Portable
			}
			a := make([][]uint64, n)
			for i := range a {
				a[i] = make([]uint64, n)
				for j := range a[i] {
					if how < 3 {
						a[i][j] = f.Element(r.Uint64())
					}
					if how == 1 && r.IntN(3) > 0 {
						a[i][j] = 0
					}
				}
			}
			rank := n
			switch how {
			case 1:
				for i := range a { // a cycle, so that most are regular
					a[i][(i+1)%n] = f.Element(r.Uint64())
				}
			case 2: // the last row is a sum of multiples of others
				rank = n - 1
				clear(a[n-1])
				for range min(3, n-1) {
					k, x := r.IntN(n-1), f.Element(r.Uint64())
					for j := range a[n-1] {
						a[n-1][j] = f.Add(a[n-1][j], f.Mul(x, a[k][j]))
					}
				}
				k := r.IntN(n)
				a[k], a[n-1] = a[n-1], a[k]
			case 3:
				for i, j := range r.Perm(n) {
					a[i][j] = f.Element(uint64(i) + 1)
				}
			}
			x := make([][]uint64, n)
			for i := range a {
				x[i] = slices.Clone(a[i])
			}
			if how == 1 {
				pivots, _, err := f.Eliminate(t.Context(), 1, x, n, false)
				if err != nil {
					t.Fatal(err)
				}
				rank = len(pivots)
				for i := range a {
					x[i] = slices.Clone(a[i])
				}
			}
			restore := isa.Force(level)
			ok, err := f.InvertMatrix(t.Context(), 1+how%3, x)
			restore()
			if err != nil || ok != (rank == n) {
				t.Fatalf("seed %d, n = %d, matrix %d of rank %d: %v, %v", seed, n, how, rank, ok, err)
			}
			if !ok {
				continue
			}
			for i := range n { // X A = I
				row := make([]uint64, n)
				for k, v := range x[i] {
					for j, w := range a[k] {
						row[j] = f.Add(row[j], f.Mul(v, w))
					}
				}
				row[i] = f.Sub(row[i], f.One)
				for j, v := range row {
					if v != 0 {
						t.Fatalf("seed %d, n = %d, matrix %d: entry %d, %d is wrong", seed, n, how, i, j)
					}
				}
			}
		}
	}
}

// TestFieldSum compares sums of words with package big.
func TestFieldSum(t *testing.T) {
	r := testseed.Rand(t, 1, 5)
	for _, p := range []uint64{modular.Primes()(), 1<<60 + 33} {
		if !new(big.Int).SetUint64(p).ProbablyPrime(0) {
			t.Fatal("no prime")
		}
		f := modular.New(p)
		modulus := new(big.Int).SetUint64(p)
		inverse := new(big.Int).ModInverse(new(big.Int).Lsh(big.NewInt(1), 64), modulus)
		for trial := range 2000 {
			s := [3]uint64{r.Uint64(), r.Uint64(), r.Uint64() >> r.UintN(64)}
			if trial%4 == 0 {
				for i := range s {
					s[i] = []uint64{0, 1, p - 1, p, p + 1, 1<<64 - 1}[r.IntN(6)]
				}
			}
			want := new(big.Int)
			for k := 2; k >= 0; k-- {
				want.Add(want.Lsh(want, 64), new(big.Int).SetUint64(s[k]))
			}
			want.Mod(want.Mul(want, inverse), modulus)
			if z := f.Sum(s[0], s[1], s[2]); z != want.Uint64() {
				t.Fatalf("%x modulo %d: %d, want %d", s, p, z, want)
			}
		}
	}
}

// TestLifting multiplies the first digits of solutions by the matrix. It covers integers of few and
// of many bits, numbers far apart, several large and negative right-hand sides, and A both in words
// and by products. Rows beyond the first n are copies of the first; their right-hand side may
// differ by a power of p, and then they have room for as many digits as its exponent.
func TestLifting(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	ways := map[bool]int{}
	for trial := range testlength.Of(24, 60, 600) {
		n := 1 + r.IntN(8)
		if trial%12 == 0 {
			n = modular.Block + 1 + r.IntN(20)
		}
		m := n + r.IntN(3)
		spread := []int{0, 3, 60, 900}[trial%4]
		a := gallery.Random([]halfulp.Format{halfulp.Float64, halfulp.MP(24), halfulp.MP(300)}[trial%3], m, n, 0, r.Uint64())
		source := call.All(m)
		for i := range m {
			if i >= n {
				source[i] = r.IntN(n)
			}
			for j := range n {
				x := a.Big(source[i], j)
				if i < n {
					x.SetMantExp(x, r.IntN(spread+1)-r.IntN(spread+1))
				}
				a.SetBig(i, j, x)
			}
		}
		level := isa.Best()
		if trial%5 == 0 {
			level = isa.Portable
		}
		restore := isa.Force(level)
		s := prooftest.Run(t, 1+trial%2)
		f := modular.New(modular.Primes()())
		z := modular.ToIntegers(a.View())
		l, err := modular.NewLifting(s, a.View(), z, f)
		if err != nil || l == nil {
			t.Fatalf("seed %d, trial %d: %v", seed, trial, err)
		}
		ways[l.Fixed != nil]++
		p := new(big.Int).SetUint64(f.P)
		columns := make([][]*big.Int, 1+r.IntN(3))
		const most = 12
		room := most + 1 // of the last row of the last column
		for c := range columns {
			b := make([]*big.Int, m)
			for i := range b {
				b[i] = new(big.Int)
				for range r.IntN(9) {
					b[i].Add(b[i].Lsh(b[i], uint(1+r.IntN(64))), new(big.Int).SetUint64(r.Uint64()))
				}
				if r.IntN(2) == 0 {
					b[i].Neg(b[i])
				}
				b[i].Set(b[source[i]])
			}
			if c == len(columns)-1 && m > n && r.IntN(2) == 0 {
				room = r.IntN(most)
				b[m-1].Add(b[m-1], new(big.Int).Exp(p, big.NewInt(int64(room)), nil))
			}
			columns[c] = b
			l.Add(b)
		}
		x, power := make([][]*big.Int, len(columns)), big.NewInt(1)
		for c := range x {
			x[c] = make([]*big.Int, n)
			for i := range x[c] {
				x[c][i] = new(big.Int)
			}
		}
		for k := range most {
			digits, fits, err := l.Digits()
			if err != nil {
				t.Fatal(err)
			}
			if fits != (k < room) {
				t.Fatalf("seed %d, trial %d: room for %d digits: %t, want for %d", seed, trial, k+1, fits, room)
			}
			if !fits {
				break
			}
			for c, x := range x {
				for i, d := range digits[c] {
					v := big.NewInt(d)
					if v.CmpAbs(new(big.Int).Rsh(p, 1)) > 0 {
						t.Fatalf("seed %d, trial %d: digit %d", seed, trial, d)
					}
					x[i].Add(x[i], v.Mul(v, power))
				}
			}
			power.Mul(power, p)
		}
		restore()
		for c, x := range x {
			for i := range n {
				sum := new(big.Int)
				for j := range n {
					v := a.Big(i, j)
					m, accuracy := v.SetMantExp(v, int(-z.Rows[i]-z.Cols[j])).Int(nil)
					if accuracy != big.Exact {
						t.Fatal("no integer")
					}
					sum.Add(sum, m.Mul(m, x[j]))
				}
				if sum.Sub(sum, columns[c][i]).Mod(sum, power).Sign() != 0 {
					t.Fatalf("seed %d, trial %d, n = %d, spread %d: row %d is wrong", seed, trial, n, spread, i)
				}
			}
		}
	}
	if ways[true] == 0 || ways[false] == 0 {
		t.Errorf("products in words: %v", ways)
	}
}

// Solutions of small integers of either sign have one digit.
func TestLiftingEnds(t *testing.T) {
	r := testseed.Rand(t, 4, 4)
	for _, n := range []int{1, 2, 30} {
		for _, bits := range []int{20, 1000} {
			a := halfulp.NewMatrix(halfulp.MP(1010), n, n)
			b := make([]*big.Int, n)
			for i := range n {
				b[i] = new(big.Int)
				for j := range n {
					v := new(big.Int).Rsh(new(big.Int).Lsh(big.NewInt(r.Int64()), 1000), uint(1063-bits))
					a.SetBig(i, j, new(big.Float).SetPrec(1010).SetInt(v))
					b[i].Add(b[i], v.Mul(v, big.NewInt(int64(j%7-3))))
				}
			}
			z := modular.Integers{Rows: make([]int64, n), Cols: make([]int64, n), Bits: make([]int, n)}
			for i := range z.Bits {
				z.Bits[i] = bits
			}
			l, err := modular.NewLifting(prooftest.Run(t, 1), a.View(), z, modular.New(modular.Primes()()))
			if err != nil || l == nil {
				t.Fatal(err)
			}
			if l.Add(b); l.Done() {
				t.Fatal("done at once")
			}
			digits, fits, err := l.Digits()
			if err != nil || !fits || !l.Done() {
				t.Fatalf("n = %d: %v, %v, done %t", n, fits, err, l.Done())
			}
			for j, d := range digits[0] {
				if want := int64(j%7 - 3); d != want {
					t.Errorf("n = %d: digit %d, want %d", n, d, want)
				}
			}
		}
	}
}
