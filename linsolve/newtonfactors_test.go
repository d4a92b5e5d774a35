package linsolve

import (
	"fmt"
	"math"
	"math/big"
	mathbits "math/bits"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// byProducts are orders of matrices whose factors are refined by products.
func byProducts(r *rand.Rand) int { return seed.Fewest + r.IntN(8) }

// isOutside returns how far a number lies outside of an enclosure of so many bits, as a multiple of
// the width of that; 0 within.
func isOutside(y *bound.Nearly, i, j int, x *big.Float) float64 {
	mid := interval.ExactAdd(y.X.Big(i, j), y.D.Big(i, j))
	mid.SetMantExp(mid, int(y.Left[i]+y.Right[j]))
	d, _ := interval.ExactSub(mid, x).Float64()
	return max(0, math.Abs(math.Ldexp(d, -int(y.Err[j]+y.Left[i]+y.Right[j])))-1)
}

// TestNewtonFactors compares enclosures with factors in many more bits: all hold, and they are
// as narrow as they were asked for, with corrections of all orders.
func TestNewtonFactors(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	const more = 1500
	wide := func(x *big.Rat) *big.Float { return new(big.Float).SetPrec(more).SetRat(x) }
	s := testSolver(t, 2)
	for trial := range testlength.Of(1, 8, 60) {
		n := byProducts(r)
		extra := r.IntN(4)
		a := halfulp.Random(halfulp.Float64, n+extra, n, r.IntN(12), r.Uint64())
		c := gram(t, a.Slice(0, n, 0, n))
		d, err := factors.NewCholeskyNewton(s, factors.Stacked(c.View(), a.View(), call.All(n)), n, bound.MaxBits)
		if err != nil {
			t.Fatal(err)
		}
		p, err := factors.NewPivoted(s, a.View(), bound.MaxBits)
		if err != nil {
			t.Fatal(err)
		}
		root, ok := lintest.Of(halfulp.MatrixOf(factors.Stacked(c.View(), a.View(), call.All(n)))).LU(n)
		lu, regular := lintest.Of(a).Rows(p.Order).LU(n)
		if !ok || !regular {
			continue
		}
		for bits := 20; bits < 900; bits += 1 + r.IntN(bits) {
			name := fmt.Sprintf("seed %d, trial %d, n = %d, %d bits", seed, trial, n, bits)
			e, err := d.Enclosure(bits)
			if err != nil {
				t.Fatal(err)
			}
			if e == nil || d.Blocks {
				t.Logf("%s: no factors", name) // ill-conditioned
				break
			}
			for j := range n {
				diagonal := wide(root[j][j])
				diagonal.Sqrt(diagonal)
				for i := j; i < len(root); i++ {
					x := diagonal
					if i > j {
						x = wide(root[i][j])
						x.Mul(x, diagonal)
					}
					if by := isOutside(e.Root, j, i, x); by > 0 {
						t.Fatalf("%s: L[%d,%d] lies outside by %g", name, i, j, by)
					}
				}
			}
			checkWidth(t, name, e.Root, bits, wider(n, bits, d.Amp, e.Root))
			if e, err = p.Enclosure(bits); err != nil || e == nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i := range n + extra {
				for j := range n {
					y, k, l := e.U, i, j
					if i > j {
						y, k, l = e.L, j, i
					}
					if by := isOutside(y, k, l, wide(lu[i][j])); by > 0 {
						t.Fatalf("%s: entry (%d, %d) of L and U lies outside by %g", name, i, j, by)
					}
				}
			}
			checkWidth(t, name, e.U, bits, wider(n, bits, p.Amp, e.U))
			checkWidth(t, name, e.L, bits, wider(n, bits, p.Amp, e.L))
		}
	}
}

// checkWidth fails unless the errors are at most 2^(wider-bits) of the largest entries of columns.
func checkWidth(t *testing.T, name string, y *bound.Nearly, bits, wider int) {
	t.Helper()
	for j, top := range call.ColumnTops(y.X, math.MinInt32) {
		if y.Err[j] > top+int64(wider-bits) {
			t.Fatalf("%s: column %d has entries of 2^%d with errors of 2^%d, more than 2^(%d - %d) of them", name, j, top, y.Err[j], wider, bits)
		}
	}
}

// wider returns w such that CholeskyNewton and LUNewton enclose factors of order n with errors of
// at most 2^(w-bits) of the largest entry of a column, as the sum of the following bounds proves.
//
// Let u = 2^-bits, g the gain by the last E, G the gain that its places were chosen for, a the amp
// that the width bits + a + 4 of V was chosen for, and A = a + δ the amp that V showed. Then E is
// known up to h, where
//
//	2^(a-width) = 2^-4 u         errors of V beside its rounding
//	2^(A-width) = 2^(δ-4) u      the rounding of V
//	2^(A-width-2) = 2^(δ-6) u    errors of E beside its rounding
//	2^(-g-places) ≤ 2^(G-g-4) u  the rounding of E, of bits - G + 4 places or more
//
// and G - g ≤ 2: the E before proves that the last one is at most 2^-G up to h, and so 2^-g ≤
// 2^(2-G); before the first E, G = 32, and the 24 places of 20 bits are more than enough. So
// 2 h ≤ (0.13 + 0.16 2^δ + 0.5) u. What correction adds to it is the largest with four powers of
// 2^-g, where 4 g ≥ bits + 10, and numbers of bits - k g + 4 bits hold its products of k powers:
//
//	2^(5-4g)                         2^-5 u
//	errors of products, four times   2^-2 + 2^-2 + 1 (Cholesky), 2^-2 + 2^-2 + 2^-1 + 1 + 1 (LU)
//	roundings                        1 + 1 + 2 + 2^-3
//
// and finish adds 2^(1-width), 2^(1-g-places), 2^(-g-places) and less: 0.4 u. All are at most
// (8.3 + 0.16 2^δ) u, below 16 u up to δ = 5 and below 2^(δ-1) u beyond. This is relative to sums
// of at most n entries, so that 2^(bit length of n) is a further factor; LUNewton doubles all.
func wider(n, bits, amp int, y *bound.Nearly) int {
	delta := amp - (y.X.Format().Bits() - bits - 4)
	return max(4, delta-1) + mathbits.Len(uint(n)) + 1
}

// TestFactorsByProducts has matrices large enough for it: well and ill-conditioned ones, graded
// ones, with entries of factors that are exact or ties, and near to singular ones.
func TestFactorsByProducts(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	some := []halfulp.Format{halfulp.Float64, halfulp.MP(30), halfulp.DD, halfulp.Float32, halfulp.MP(300), halfulp.QD, halfulp.TD}
	for trial := range testlength.Of(1, 4, 40) {
		f := some[trial%len(some)]
		n := byProducts(r)
		m := n + r.IntN(3)
		name := fmt.Sprintf("seed %d, trial %d, %v, %d x %d", seed, trial, f, m, n)
		random := halfulp.Random(halfulp.Float64, m, n, 0, r.Uint64())
		checkLU(t, name+", random", random, f)
		checkLU(t, name+", wide", random.T(), f)
		checkLU(t, name+", spread", halfulp.Random(halfulp.Float32, m, n, 20, r.Uint64()), f)
		checkLU(t, name+", graded rows", scaledRows(r, n, 300), f)
		checkLU(t, name+", graded columns", scaledRows(r, n, 300).T(), f)
		checkLU(t, name+", signs", lintest.Integers(r, m, n, 1), f)
		symmetric := halfulp.Random(halfulp.Float64, n, n, 0, r.Uint64())
		for i := range n {
			for j := range i {
				symmetric.Set(i, j, symmetric.At(j, i))
			}
			if trial%2 == 0 {
				symmetric.SetFloat64(i, i, 0)
			}
		}
		checkLDLT(t, name+", indefinite", symmetric, f)
		checkQR(t, name+", random", lintest.Integers(r, m, n, 1<<10), f, false)
		checkCholesky(t, name+", random", gram(t, random), f)
		checkCholesky(t, name+", graded", gram(t, scaledRows(r, n, 60).T()), f)
		checkCholesky(t, name+", semidefinite", gram(t, lintest.Integers(r, n-1, n, 9)), f)

		// A factor of integers: its entries, and some halfway between two numbers, are exact.
		l := lintest.Integers(r, n, n, 1<<20)
		for i := range n {
			l.SetFloat64(i, i, 1+math.Abs(l.Float64(i, i)))
			for j := i + 1; j < n; j++ {
				l.SetFloat64(i, j, 0)
			}
		}
		product := gram(t, l.T())
		checkCholesky(t, name+", integer factor", product, halfulp.MP(24))
		// Less the square of the last pivot, and an ulp of the least number there is.
		last := product.Big(n-1, n-1)
		square := interval.ExactMul(l.Big(n-1, n-1), l.Big(n-1, n-1))
		product.SetBig(n-1, n-1, interval.ExactSub(last, square))
		checkCholesky(t, name+", last pivot 0", product, f)
		for _, sign := range []float64{1, -1} {
			tiny := new(big.Float).SetMantExp(big.NewFloat(sign), -200)
			product.SetBig(n-1, n-1, interval.ExactAdd(interval.ExactSub(last, square), tiny))
			checkCholesky(t, name+", last pivot next to 0", product, f)
		}

		// Unit triangular factors of small multiples of 2^-26, in an order that pivoting finds.
		u := lintest.Integers(r, n, n, 1<<20)
		for i := range n {
			u.SetFloat64(i, i, float64(1+r.IntN(1<<20)))
			l.SetFloat64(i, i, 1)
			for j := range i {
				l.SetFloat64(i, j, math.Ldexp(float64(r.IntN(1<<26)-1<<25), -26))
				u.SetFloat64(i, j, 0)
			}
		}
		c := halfulp.NewMatrix(halfulp.MP(200), n, n)
		if _, err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), halfulp.MatrixOf(modular.Chosen(l.View(), r.Perm(n), call.All(n))), u, halfulp.Float(0), c, nil); err != nil {
			t.Fatal(err)
		}
		checkLU(t, name+", exact factors", c, halfulp.MP(24))

		// A condition number of 2^50, and one of 2^80.
		for _, low := range []int{-50, -80} {
			d := halfulp.Random(halfulp.Float64, n, n, 0, r.Uint64())
			for i := range n {
				for j := range n {
					d.SetFloat64(i, j, math.Ldexp(d.Float64(i, j), low*j/(n-1)))
				}
			}
			ill := halfulp.NewMatrix(halfulp.MP(200), n, n)
			if _, err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), d, halfulp.Random(halfulp.Float64, n, n, 0, r.Uint64()), halfulp.Float(0), ill, nil); err != nil {
				t.Fatal(err)
			}
			checkLU(t, fmt.Sprintf("%s, condition 2^%d", name, -low), ill, f)
		}
		checkLU(t, name+", Hilbert", halfulp.Hilbert(halfulp.MP(200), n), f)
		checkCholesky(t, name+", Hilbert", halfulp.Hilbert(halfulp.Float64, n), f)
	}
}

// TestFactorsSeeds has matrices whose factors are refined, and not eliminated.
func TestFactorsSeeds(t *testing.T) {
	const n = 60
	a := halfulp.Random(halfulp.Float64, n, n, 0, 7)
	c := gram(t, a)
	c0 := c.Clone()
	for i := range n {
		c0.SetFloat64(i, i, float64(1+i)/64)
	}
	tall := halfulp.Random(halfulp.Float64, n+1, n, 0, 7) // square ones may be eliminated in digits
	check := &halfulp.Options{Check: true}                // others are not, then
	for name, factor := range map[string]func() (Stats, error){
		"LU":       func() (Stats, error) { _, st, err := LU(tall, halfulp.Float64, nil); return st, err },
		"Cholesky": func() (Stats, error) { _, st, err := Cholesky(c, halfulp.MP(200), check); return st, err },
		"LDLT":     func() (Stats, error) { _, st, err := LDLT(c0, halfulp.Float64, check); return st, err },
		"QR":       func() (Stats, error) { _, st, err := QR(a, halfulp.DD, check); return st, err },
	} {
		if st, err := factor(); err != nil || st.Steps == 0 || !(st.Rho < 1e-6) || st.Ties > 0 {
			t.Errorf("%s: %v, %+v", name, err, st)
		}
	}
}

// TestMostBits asks for enclosures of more bits than formats have.
func TestMostBits(t *testing.T) {
	const n = 24
	a := halfulp.Random(halfulp.Float64, n, n, 0, 1)
	s := testSolver(t, 1)
	d, err := factors.NewCholeskyNewton(s, gram(t, a).View(), n, bound.MaxBits)
	if err != nil || d == nil {
		t.Fatalf("no seed: %v", err)
	}
	p, err := factors.NewPivoted(s, a.View(), bound.MaxBits)
	if err != nil || p.LUNewton == nil {
		t.Fatalf("no seed: %v", err)
	}
	if e, err := d.Enclosure(bound.MaxBits - 4); e != nil || err != nil {
		t.Errorf("an enclosure of Cholesky's factor, %v", err)
	}
	if e, err := p.Enclosure(bound.MaxBits - 4); e != nil || err != nil {
		t.Errorf("an enclosure of L and U, %v", err)
	}
}

// TestPoorSeed asks seeds again that have proved to be far off: no number of steps makes them
// better.
func TestPoorSeed(t *testing.T) {
	s := testSolver(t, 1)
	for _, gain := range []int{-1000, -9, -5, -1, 1, factors.LeastGain - 1} {
		poor := factors.Improvement{Gain: gain, Amp: 10}
		for _, seed := range []factors.Improving{&factors.CholeskyNewton{Improvement: poor}, &factors.LUNewton{Improvement: poor}} {
			if e, err := factors.Improved(s, seed, 200); e != nil || err != nil {
				t.Errorf("%T of gain %d: %v, %v", seed, gain, e, err)
			}
		}
	}
}
