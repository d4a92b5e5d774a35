package sym

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestPlain compares the bounds and corrections of loops in float64 arithmetic with the ones of
// sizes and of pairs.
func TestPlain(t *testing.T) {
	rng := testseed.Rand(t, 35, 36)
	for trial := range testlength.Of(8, 25, 400) {
		n := 1 + rng.IntN(24)
		a := num.NewMat(num.Float64, n, n)
		close := rng.IntN(2) == 0
		for j := range n {
			for i := range j + 1 {
				// Positive definite, as sizes take |d| for the distance of d and a negative d.
				x := rng.Float64() - 0.5
				if close {
					x *= 0x1p-20
				}
				if i == j {
					x += float64(n)
				}
				a.SetFloat64(i, j, x)
				a.SetFloat64(j, i, x)
			}
		}
		s := prooftest.Run(t, 1)
		a, _, err := normalized(s, a, false)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Seed(s, a)
		if err != nil {
			t.Fatal(err)
		}
		p := &problem{a: a}
		if rng.IntN(2) == 0 { // as for the singular values of A
			p.gram = true
		}
		z, err := p.products(s, x, 128)
		if err != nil {
			t.Fatal(err)
		}
		if z.plain == nil {
			t.Fatalf("trial %d, order %d: bounds out of range", trial, n)
		}
		if err := z.couple(); err != nil {
			t.Fatal(err)
		}
		// The difference of two bounds of the same number is a few of its last places.
		near := func(what string, got, want size) {
			t.Helper()
			if want.times(1+0x1p-20).less(got) || got.times(1+0x1p-20).less(want) {
				t.Fatalf("trial %d, order %d: %s is %v, want %v", trial, n, what, got, want)
			}
		}
		for i := range n {
			for k := range n {
				if i == k {
					continue
				}
				exact := new(big.Float).Sub(z.d[i], z.d[k])
				if low := z.plain.apart(i, k); low > 0 && exact.Abs(exact).Cmp(big.NewFloat(low)) < 0 {
					t.Fatalf("trial %d: distance %v is below %g", trial, exact, low)
				}
			}
		}
		const bits = 60
		e, pairs := num.NewMat(call.MP(bits), n, n), num.NewMat(call.MP(bits), n, n)
		for _, c := range z.clusters {
			i, room := z.order[c.first], new(gapRoom)
			if c.count() > 1 || !c.proved {
				continue
			}
			inner := z.dLost[i]
			got, ok := z.plainCouplings(i, inner, room)
			if !ok {
				continue
			}
			want, _ := z.couplings([]int{i}, inner, z.dSize[i], z.d[i], z.near[i], room)
			near("sum", got.sum, want.sum)
			near("gap", got.gap, want.gap)
			near("row", got.row, want.row)
			near("theta", got.theta, want.theta)
			near("nearest", got.nearest, want.nearest)
			cut := power(-100)
			squares, pull, ok := z.plainDistance(i, &c, c.radius, cut)
			if !ok {
				t.Fatalf("trial %d, order %d: no distance", trial, n)
			}
			wantSquares, wantPull := z.distance(i, &c, c.radius, cut)
			near("squares", squares, wantSquares)
			near("pull", pull, wantPull)
			for k := range n {
				small, large := k, i
				if z.of[k] == z.of[i] || z.dSize[large].less(z.dSize[small]) {
					continue
				}
				low, ok := z.entries(e, bits, min(i, k), max(i, k), new(scratch))
				if !ok {
					continue
				}
				low.store(e.Arr, e.At(max(i, k), min(i, k)))
				r, m := pairOf(z.r.Arr, z.r.At(min(i, k), max(i, k))), pairOf(z.sm.Arr, z.sm.At(min(i, k), max(i, k)))
				v := m.add(z.near[small].mul(r)).over(z.difference(small, large))
				v.store(pairs.Arr, pairs.At(large, small))
				r.add(v.negated()).store(pairs.Arr, pairs.At(small, large))
				scale := new(big.Float).Abs(r.number())
				scale.Add(scale, new(big.Float).Abs(v.number()))
				for _, at := range [][2]int{{large, small}, {small, large}} {
					d := new(big.Float).Sub(e.Big(at[0], at[1]), pairs.Big(at[0], at[1]))
					if d.Abs(d).Cmp(new(big.Float).SetMantExp(scale, 1-bits)) > 0 {
						t.Fatalf("trial %d: correction %v is %v, want %v", trial, at, e.Big(at[0], at[1]), pairs.Big(at[0], at[1]))
					}
				}
			}
		}
		p.release()
	}
}

// number returns the number that a pair is about.
func (x pair) number() *big.Float {
	z := new(big.Float).SetFloat64(x.hi)
	return z.SetMantExp(z, int(x.e))
}

// TestDoubleStore compares stored numbers with exact ones: they are rounded twice, to 64 bits and
// to the bits of the array, so their errors are at most 2^-bits + 2^-64, which distances bounds by
// 2^(1-bits).
func TestDoubleStore(t *testing.T) {
	rng := testseed.Rand(t, 35, 37)
	for trial := range testlength.Of(3000, 30000, 1000000) {
		bits := 24 + trial%41
		a := num.NewMat(call.MP(bits), 1, 1)
		z := double{hi: math.Ldexp(1+rng.Float64(), rng.IntN(400)-200)}
		if rng.IntN(3) == 0 { // a power of two, or near it
			z.hi = math.Ldexp(1+float64(rng.IntN(3))*0x1p-52, rng.IntN(400)-200)
		}
		z.lo = math.Ldexp(rng.Float64()*2-1, math.Ilogb(z.hi)-53-rng.IntN(12))
		if rng.IntN(2) == 0 {
			z.hi, z.lo = -z.hi, -z.lo
		}
		z.store(a.Arr, a.At(0, 0))
		exact := new(big.Float).SetPrec(500).Add(new(big.Float).SetPrec(500).SetFloat64(z.hi), big.NewFloat(z.lo))
		lost := new(big.Float).Sub(a.Big(0, 0), exact)
		limit := new(big.Float).SetMantExp(new(big.Float).Abs(exact), -bits)
		limit.Add(limit, new(big.Float).SetMantExp(new(big.Float).Abs(exact), -64))
		if lost.Abs(lost).Cmp(limit) > 0 {
			t.Fatalf("%d bits of %g + %g: %v", bits, z.hi, z.lo, a.Big(0, 0))
		}
	}
}
