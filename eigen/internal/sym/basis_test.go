package sym

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// piDigits are the first decimal digits of π.
const piDigits = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"

func TestQuarterPi(t *testing.T) {
	want, _ := new(big.Rat).SetString(piDigits)
	want.Quo(want, big.NewRat(4, 1))
	digits := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(100), nil))
	for p := interval.Prec(20); p < 2000; p += 20 {
		x := quarterPi(p)
		lo, _ := x.Lo.Rat(nil)
		hi, _ := x.Hi.Rat(nil)
		if width := new(big.Float).Sub(x.Hi, x.Lo); lo.Cmp(hi) >= 0 || width.MantExp(nil) > 2-int(p) {
			t.Errorf("%d bits: from %v to %v", p, x.Lo, x.Hi)
		}
		if lo.Cmp(new(big.Rat).Add(want, digits)) > 0 || hi.Cmp(want) < 0 {
			t.Errorf("%d bits: π/4 is not between %v and %v", p, x.Lo, x.Hi)
		}
	}
}

// outer returns u uᵀ exactly.
func outer(u []*big.Float) num.Mat {
	z := num.NewMat(num.Precision(600), len(u), len(u))
	for i := range u {
		for j := range u {
			z.SetBig(i, j, new(big.Float).SetPrec(600).Mul(u[i], u[j]))
		}
	}
	return z
}

// quarterPiAnd returns π/4 + 2^-e, rounded to 300 bits; for a negative e π/4 - 2^e.
func quarterPiAnd(e int) *big.Float {
	z := new(big.Float).SetPrec(300).Set(quarterPi(400).Lo)
	d := new(big.Float).SetMantExp(big.NewFloat(1), -max(e, -e))
	if e < 0 {
		d.Neg(d)
	}
	return z.Add(z, d)
}

// TestNearQuarterPi computes vectors one of whose entries is π/4 of the largest one, but for a
// difference beyond float64 and beyond pairs.
func TestNearQuarterPi(t *testing.T) {
	for _, e := range []int{60, 120, 200} {
		for _, sign := range []int{1, -1} {
			// (-q, 1) is an eigenvector.
			q := quarterPiAnd(sign * e)
			s := prooftest.Run(t, 1)
			z, err := Sym(s, outer([]*big.Float{new(big.Float).Neg(q), big.NewFloat(1)}), num.Float64, Wanted{Vectors: true, Last: 1})
			if err != nil {
				t.Fatal(err)
			}
			s.Release()
			if got := z.Vectors.Big(0, 1).Sign(); got != sign {
				t.Errorf("π/4 + %d 2^-%d: the first entry of the vector has the sign %d", sign, e, got)
			}
		}
	}
}

// TestBasisNearQuarterPi computes a basis of the vectors that are orthogonal to u = (1, b, 1/2),
// whose projector has the diagonal 1 - u_i²/|u|²: the first entry is (b² + 1/4)/(b² + 1) of the
// last one, which is π/4 but for a difference that float64 numbers do not show.
func TestBasisNearQuarterPi(t *testing.T) {
	for _, e := range []int{60, 120, 200} {
		for _, sign := range []int{1, -1} {
			q := quarterPiAnd(sign * e)
			one := big.NewFloat(1)
			// b² = (q - 1/4)/(1 - q)
			b := new(big.Float).SetPrec(300).Sub(q, big.NewFloat(0.25))
			b.Sqrt(b.Quo(b, new(big.Float).SetPrec(300).Sub(one, q)))
			s := prooftest.Run(t, 1)
			z, err := Sym(s, outer([]*big.Float{one, b, big.NewFloat(0.5)}), num.Float64, Wanted{Vectors: true, Last: 2})
			if err != nil {
				t.Fatal(err)
			}
			s.Release()
			// The first column of the factor is that of P to the pivot, divided by its root, and
			// the second column is 0 in the row of the pivot.
			row := 0
			if sign < 0 {
				row = 2
			}
			if len(z.Clusters) != 1 || z.Clusters[0] != [2]int{0, 1} || z.Vectors.Big(row, 1).Sign() != 0 || z.Vectors.Big(2-row, 1).Sign() == 0 {
				t.Errorf("π/4 + %d 2^-%d: clusters %v, second vector %v, %v, %v", sign, e, z.Clusters,
					z.Vectors.Big(0, 1), z.Vectors.Big(1, 1), z.Vectors.Big(2, 1))
			}
		}
	}
}

// TestComplementBasis compares the two ways to a basis of the complement of random orthonormal
// columns.
func TestComplementBasis(t *testing.T) {
	rng := testseed.Rand(t, 71, 3)
	for range testlength.Of(10, 30, 300) {
		const bits = 600
		n, r := 3+rng.IntN(12), 1+rng.IntN(2)
		random := func() *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(rng.NormFloat64()) }
		u := make([][]*big.Float, r) // columns
		dot := func(x, y []*big.Float) *big.Float {
			sum, w := new(big.Float).SetPrec(bits), new(big.Float).SetPrec(bits)
			for i := range x {
				sum.Add(sum, w.Mul(x[i], y[i]))
			}
			return sum
		}
		for c := range u {
			u[c] = make([]*big.Float, n)
			for i := range n {
				u[c][i] = random()
			}
			for range 2 {
				for _, x := range u[:c] {
					f := dot(x, u[c])
					for i := range n {
						u[c][i].Sub(u[c][i], new(big.Float).Mul(f, x[i]))
					}
				}
				norm := dot(u[c], u[c])
				norm.Sqrt(norm)
				for i := range n {
					u[c][i].Quo(u[c][i], norm)
				}
			}
		}
		p := interval.Prec(bits)
		far := new(big.Float).SetMantExp(big.NewFloat(1), 20-bits)
		rows := make([][]interval.Interval, n)
		for i := range rows {
			for c := range u {
				rows[i] = append(rows[i], interval.Interval{Lo: p.Down().Sub(u[c][i], far), Hi: p.Up().Add(u[c][i], far)})
			}
		}
		s := prooftest.Run(t, 1)
		x, err := complementBasis(s, p, rows, n-r)
		if err != nil {
			t.Fatal(err)
		}
		y, err := ProjectorBasis(s, p, n, n-r, func(i, q int) interval.Interval {
			z := new(big.Float).SetPrec(bits)
			if i == q {
				z.SetInt64(1)
			}
			for c := range u {
				z.Sub(z, new(big.Float).Mul(u[c][i], u[c][q]))
			}
			return interval.Interval{Lo: p.Down().Sub(z, far), Hi: p.Up().Add(z, far)}
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Release()
		if x == nil || y == nil {
			t.Fatalf("%d x %d: no basis: %v, %v", n, r, x == nil, y == nil)
		}
		for l := range x {
			for i := range n {
				v, w := x[l][i], y[l][i]
				width := new(big.Float).Sub(v.Hi, v.Lo)
				if v.Lo.Cmp(w.Hi) > 0 || w.Lo.Cmp(v.Hi) > 0 || width.Sign() != 0 && width.MantExp(nil) > -400 {
					t.Fatalf("%d x %d: entry (%d, %d) is in %v, and in %v", n, r, i, l, v, w)
				}
			}
		}
	}
}
