package sym_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/testlength"
)

func random(rng *rand.Rand, n, bits int) num.Mat {
	a := num.NewMat(num.Precision(uint(max(bits, 24))), n, n)
	for i := range n {
		for j := range i + 1 {
			x := new(big.Float).SetInt64(rng.Int64N(1<<bits) - 1<<(bits-1))
			a.SetBig(i, j, x)
			a.SetBig(j, i, x)
		}
	}
	return a
}

// check compares the eigenvalues with exact counts of eigenvalues below the borders of rounding.
// Values that are infinite or below the normal numbers of their format are left to package
// conformance.
func check(t *testing.T, a num.Mat, f num.Format, values num.Mat) {
	t.Helper()
	r := lintest.Of(halfulp.MatrixOf(a))
	least := map[num.Format]int{num.Float32: -125, num.Float64: -1021}[f]
	for p := range a.Rows {
		z := values.Big(p, 0)
		if z.IsInf() || least != 0 && (z.Sign() == 0 && !f.IsMP() || z.MantExp(nil) < least) {
			continue
		}
		if z.Sign() == 0 {
			if neg, zero := r.Inertia(new(big.Rat)); p < neg || p >= neg+zero {
				t.Fatalf("eigenvalue %d is 0, but there are %d negative ones and %d zeros\n%v", p, neg, zero, r)
			}
			continue
		}
		lo, hi, belongs := halfway(z, f.Bits())
		below, at := r.Inertia(lo)
		if belongs {
			at = 0
		}
		upTo, equal := r.Inertia(hi)
		if belongs {
			upTo += equal
		}
		if below+at > p || upTo <= p {
			t.Fatalf("eigenvalue %d is %v, but %d are below and %d up to the numbers that round to it\n%v", p, z, below+at, upTo, r)
		}
	}
}

// halfway returns the ends of the interval of real numbers that round to z, and whether they do
// themselves, for a finite z in MP format of the given bits.
func halfway(z *big.Float, bits int) (lo, hi *big.Rat, belongs bool) {
	x, _ := z.Rat(nil)
	e := z.MantExp(nil)
	mant := new(big.Float)
	z.MantExp(mant)
	shift := func(k int) *big.Rat {
		v := new(big.Float).SetMantExp(big.NewFloat(1), k)
		r, _ := v.Rat(nil)
		return r
	}
	half := shift(e - bits - 1)
	below, above := half, half
	if v, _ := mant.Float64(); v == 0.5 && mant.MinPrec() == 1 { // a power of two
		below = shift(e - bits - 2)
	} else if v == -0.5 && mant.MinPrec() == 1 {
		above = shift(e - bits - 2)
	}
	// The last place is even if the significand has fewer bits.
	return new(big.Rat).Sub(x, below), new(big.Rat).Add(x, above), int(z.MinPrec()) < bits
}

func TestValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range testlength.Of(60, 200, 3000) {
		n := 1 + rng.IntN(8)
		bits := []int{1, 2, 4, 10, 53, 100}[rng.IntN(6)]
		bits = min(bits, 60)
		a := random(rng, n, bits)
		f := []num.Format{num.Float32, num.Float64, num.Precision(24), num.Precision(200)}[rng.IntN(4)]
		s := prooftest.Run(t, 2)
		z, err := sym.Sym(s, a, f, sym.Wanted{Last: n - 1})
		if err != nil {
			t.Fatal(trial, n, bits, f, err)
		}
		s.Release()
		check(t, a, f, z.Values)
	}
}

// eigenvector returns the eigenvector of norm 1, with the sign of the results, to the simple
// eigenvalue number p of a matrix, to about 1500 bits, by bisection and by inverse iteration.
func eigenvector(t *testing.T, a lintest.Matrix, p int) []*big.Float {
	t.Helper()
	n := len(a)
	const bits = 3000
	bound := new(big.Rat).SetInt64(1)
	for i := range a {
		for j := range a {
			bound.Add(bound, new(big.Rat).Abs(a[i][j]))
		}
	}
	lo, hi := new(big.Rat).Neg(bound), bound
	for range 300 {
		mid := new(big.Rat).Add(lo, hi)
		mid.Quo(mid, big.NewRat(2, 1))
		f, _ := new(big.Float).SetPrec(400).SetRat(mid).Rat(nil)
		mid = f
		if neg, _ := a.Inertia(mid); neg > p {
			hi = mid
		} else {
			lo = mid
		}
	}
	mu := new(big.Float).SetPrec(bits).SetRat(lo)
	mu.Sub(mu, new(big.Float).SetMantExp(big.NewFloat(1), -310)) // no eigenvalue itself
	x := make([]*big.Float, n)
	for i := range x {
		x[i] = new(big.Float).SetPrec(bits).SetInt64(int64(1 + i*i))
	}
	for range 12 {
		x = solve(a, mu, x)
		sum := new(big.Float).SetPrec(bits)
		for _, v := range x {
			sum.Add(sum, new(big.Float).Mul(v, v))
		}
		sum.Sqrt(sum)
		for _, v := range x {
			v.Quo(v, sum)
		}
	}
	most := new(big.Float)
	for _, v := range x {
		if w := new(big.Float).Abs(v); w.Cmp(most) > 0 {
			most = w
		}
	}
	most = new(big.Float).Mul(most, big.NewFloat(3.14159265358979/4))
	for _, v := range x {
		if w := new(big.Float).Abs(v); w.Cmp(most) > 0 {
			if v.Sign() < 0 {
				for _, v := range x {
					v.Neg(v)
				}
			}
			break
		}
	}
	return x
}

// solve returns (A - mu I)^-1 b by elimination with partial pivoting.
func solve(a lintest.Matrix, mu *big.Float, b []*big.Float) []*big.Float {
	n := len(a)
	prec := mu.Prec()
	m := make([][]*big.Float, n)
	for i := range m {
		m[i] = make([]*big.Float, n+1)
		for j := range n {
			m[i][j] = new(big.Float).SetPrec(prec).SetRat(a[i][j])
			if i == j {
				m[i][j].Sub(m[i][j], mu)
			}
		}
		m[i][n] = new(big.Float).Set(b[i])
	}
	for k := range n {
		best := k
		for i := k; i < n; i++ {
			if new(big.Float).Abs(m[i][k]).Cmp(new(big.Float).Abs(m[best][k])) > 0 {
				best = i
			}
		}
		m[k], m[best] = m[best], m[k]
		for i := k + 1; i < n; i++ {
			f := new(big.Float).Quo(m[i][k], m[k][k])
			for j := k; j <= n; j++ {
				m[i][j].Sub(m[i][j], new(big.Float).Mul(f, m[k][j]))
			}
		}
	}
	x := make([]*big.Float, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = m[i][n]
		for j := i + 1; j < n; j++ {
			x[i].Sub(x[i], new(big.Float).Mul(m[i][j], x[j]))
		}
		x[i].Quo(x[i], m[i][i])
	}
	return x
}

func TestVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for trial := range testlength.Of(10, 15, 400) {
		n := 1 + rng.IntN(5)
		bits := []int{3, 10, 53}[rng.IntN(3)]
		a := random(rng, n, bits)
		f := []num.Format{num.Float32, num.Float64, num.Precision(24), num.Precision(200)}[rng.IntN(4)]
		s := prooftest.Run(t, 2)
		z, err := sym.Sym(s, a, f, sym.Wanted{Vectors: true, Last: n - 1})
		if err != nil {
			t.Fatal(trial, n, bits, f, err)
		}
		check(t, a, f, z.Values)
		r := lintest.Of(halfulp.MatrixOf(a))
		simple := true
		for p := 1; p < n; p++ {
			simple = simple && z.Values.Big(p, 0).Cmp(z.Values.Big(p-1, 0)) != 0
		}
		if !simple {
			continue
		}
		for p := range n {
			x := eigenvector(t, r, p)
			for i := range n {
				want := num.NewScalar(f, x[i])
				if x[i].Sign() == 0 || x[i].MantExp(nil) < -500 {
					want = num.NewScalar(f, new(big.Float))
				}
				if got := z.Vectors.Entry(i, p); !got.Same(want) {
					t.Fatalf("trial %d n %d %v: entry %d of vector %d is %v, want %v\n%v", trial, n, f, i, p, got.Big(), want.Big(), r)
				}
			}
		}
	}
}
