package roots

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/budget"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

func source(t *testing.T, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(testseed.Of(t), stream))
}

func rat(x *big.Float) *big.Rat {
	z, _ := x.Rat(nil)
	if z == nil {
		return new(big.Rat)
	}
	return z
}

func (x double) rat() *big.Rat {
	return new(big.Rat).Add(rat(big.NewFloat(x.h)), rat(big.NewFloat(x.l)))
}

// TestDoubles compares double-double operations with rational arithmetic.
func TestDoubles(t *testing.T) {
	r := source(t, 1)
	number := func() double {
		h := math.Ldexp(1+r.Float64(), r.IntN(60)-30)
		l := math.Ldexp(r.Float64()-0.5, r.IntN(8)-8) * (math.Nextafter(h, math.Inf(1)) - h)
		switch r.IntN(6) {
		case 0:
			l = 0
		case 1: // the largest low part
			l = (math.Nextafter(h, math.Inf(1)) - h) / 2
		}
		if h+l != h {
			l = 0
		}
		if r.IntN(2) == 0 {
			h, l = -h, -l
		}
		return double{h, l}
	}
	bound := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), doubleBits))
	for trial := range testlength.Of(2000, 20000, 300000) {
		x, y := number(), number()
		if r.IntN(3) == 0 { // cancellation
			y = double{x.h * (1 + float64(r.IntN(5)-2)*0x1p-52), y.l * 0}
		}
		for name, z := range map[string][2]*big.Rat{
			"difference": {x.sub(y).rat(), new(big.Rat).Sub(x.rat(), y.rat())},
			"quotient":   {x.quo(y).rat(), new(big.Rat).Quo(x.rat(), y.rat())},
			"product":    {x.times(y).rat(), new(big.Rat).Mul(x.rat(), y.rat())},
		} {
			err := new(big.Rat).Sub(z[0], z[1])
			if most := new(big.Rat).Mul(bound, z[1]); err.Abs(err).Cmp(most.Abs(most)) > 0 {
				t.Fatalf("trial %d: %s of %v and %v: error %v", trial, name, x, y, err.FloatString(60))
			}
		}
		n := new(big.Float).SetPrec(shiftBits).SetMantExp(new(big.Float).SetInt(new(big.Int).Add(
			new(big.Int).Lsh(new(big.Int).SetUint64(r.Uint64()|1<<63), shiftBits-64), new(big.Int).SetUint64(r.Uint64()>>(128-shiftBits)))), r.IntN(99)-99)
		if d := doubleOf(n); d.rat().Cmp(rat(n)) != 0 || d.float().Cmp(n) != 0 {
			t.Fatalf("trial %d: %v is stored as %v", trial, n, d)
		}
	}
}

// randomBlock returns a block of order n with entries of bits bits.
func randomBlock(r *rand.Rand, n int, bits uint) *block {
	b := &block{of: budget.New(0)}
	number := func() *big.Float {
		x := new(big.Float).SetInt64(int64(r.Uint64()>>(64-bits)) - 1<<(bits-1))
		if x.Sign() == 0 {
			x.SetInt64(1)
		}
		return x.SetMantExp(x, -int(bits))
	}
	for k := range n {
		b.d = append(b.d, number())
		if k > 0 {
			b.e = append(b.e, number())
		}
	}
	b.prepare()
	return b
}

// TestCounts compares counts in few bits with exact ones: within slack of a shift they may differ.
func TestCounts(t *testing.T) {
	r := source(t, 2)
	for trial := range testlength.Of(100, 500, 5000) {
		b := randomBlock(r, 2+r.IntN(8), 10+uint(r.IntN(40)))
		for _, l := range []level{newDoubles(b.t), newFloats(b.t, 64), newFloats(b.t, 4)} {
			x := new(big.Float).SetPrec(l.bits()).SetFloat64(r.NormFloat64())
			if r.IntN(2) == 0 { // near an eigenvalue
				e := b.t.eigenvalue(r.IntN(len(b.d)))
				if err := e.refine(context.Background(), 200); err != nil {
					t.Fatal(err)
				}
				x.Set(e.x)
				if r.IntN(2) == 0 {
					x.Add(x, new(big.Float).SetMantExp(l.slack(), r.IntN(3)))
				}
			}
			if r.IntN(8) == 0 { // the first pivot is 0
				x.Set(b.d[0])
			}
			n, m, ok := l.count(x, x)
			k, _, fine := l.correct(x)
			if !ok || !fine || m != n || k != n {
				t.Fatalf("trial %d: counts %d, %d, %d", trial, n, m, k)
			}
			exact := func(sign int) int {
				y := new(big.Float).SetPrec(2000).SetInt64(int64(sign))
				y.Mul(y, l.slack())
				y.Add(y, x)
				below, equal, err := b.compare(context.Background(), y)
				if err != nil {
					t.Fatal(err)
				}
				return below + boolInt(equal && sign > 0)
			}
			if least, most := exact(-1), exact(1); n < least || n > most {
				t.Fatalf("trial %d: %d eigenvalues below %v in %d bits, want %d to %d", trial, n, x, l.bits(), least, most)
			}
		}
	}
}

// TestCompare counts the eigenvalues of a matrix with the eigenvalues -1, 0 and 1, times √2.
func TestCompare(t *testing.T) {
	b := &block{of: budget.New(0)}
	for range 3 {
		b.d = append(b.d, new(big.Float))
	}
	b.e = []*big.Float{big.NewFloat(1), big.NewFloat(-1)}
	for x, want := range map[float64]int{-2: 0, -1: 1, -0.5: 1, 0: 1, 0.5: 2, 1.5: 3} {
		below, equal, err := b.compare(context.Background(), big.NewFloat(x))
		if err != nil || below != want || equal != (x == 0) {
			t.Errorf("%v: %d eigenvalues below, equal %t, %v", x, below, equal, err)
		}
	}
}

func TestSimplest(t *testing.T) {
	r := source(t, 3)
	for trial := range testlength.Of(1000, 10000, 100000) {
		a, b := r.Int64N(2000)-1000, r.Int64N(2000)-1000
		if a > b {
			a, b = b, a
		}
		fewest := func(x int64) uint { return new(big.Float).SetInt64(x).MinPrec() }
		want := fewest(a)
		for x := a; x <= b; x++ {
			want = min(want, fewest(x))
		}
		z := simplest(new(big.Float).SetInt64(a), new(big.Float).SetInt64(b))
		if v, _ := z.Int64(); !z.IsInt() || v < a || v > b || z.MinPrec() != want {
			t.Fatalf("trial %d: from %d to %d: %v", trial, a, b, z)
		}
	}
}

func multiply(p, q poly) poly {
	z := make(poly, len(p)+len(q)-1)
	for i := range z {
		z[i] = new(big.Int)
	}
	for i, a := range p {
		for j, b := range q {
			z[i+j].Add(z[i+j], new(big.Int).Mul(a, b))
		}
	}
	return z
}

// TestSquareFree multiplies powers of square-free polynomials and finds these again.
func TestSquareFree(t *testing.T) {
	r := source(t, 4)
	for trial := range testlength.Of(50, 300, 3000) {
		p := poly{big.NewInt(r.Int64N(99) + 1)}
		degrees := map[int]int{}
		used := map[int64]bool{}
		for range 1 + r.IntN(5) {
			a := r.Int64N(1 << 40)
			if used[a] {
				continue
			}
			used[a] = true
			q := poly{big.NewInt(-a), big.NewInt(1)}
			if r.IntN(2) == 0 { // no real roots
				q = poly{big.NewInt(a*2 + 1), new(big.Int), big.NewInt(1)}
			}
			k := 1 + r.IntN(4)
			degrees[k] += q.degree()
			for range k {
				p = multiply(p, q)
			}
		}
		list, err := squareFree(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		product := poly{big.NewInt(1)}
		for _, f := range list {
			if f.p.degree() != degrees[f.multiplicity] {
				t.Fatalf("trial %d: multiplicity %d has degree %d, want %d", trial, f.multiplicity, f.p.degree(), degrees[f.multiplicity])
			}
			for range f.multiplicity {
				product = multiply(product, f.p)
			}
		}
		if q := divide(p, product); len(q) != 1 {
			t.Fatalf("trial %d: the factors have the product %v, not %v", trial, product, p)
		}
	}
}

// TestIsolate begins with coefficients of few bits, so that cells stay open and need more: the
// brackets are disjoint and have a change of sign each.
func TestIsolate(t *testing.T) {
	r := source(t, 5)
	for trial := range testlength.Of(30, 200, 2000) {
		p := poly{big.NewInt(1)}
		n := 1 + r.IntN(6)
		at := map[int64]bool{}
		for len(at) < n {
			a := 1<<29 + r.Int64N(9) // close roots
			if r.IntN(2) == 0 {
				a = 1 + r.Int64N(1<<30-1)
			}
			if !at[a] {
				at[a] = true
				p = multiply(p, poly{big.NewInt(-3*a - r.Int64N(2)), big.NewInt(3 << 30)})
			}
		}
		list, err := isolate(context.Background(), budget.New(0), p)
		if err != nil || len(list) != n {
			t.Fatalf("trial %d: %d roots, want %d: %v", trial, len(list), n, err)
		}
		v := newValuer(p)
		for i, b := range list {
			lo, hi := new(big.Int).Lsh(b.m, uint(200-b.k)), new(big.Int).Add(b.m, big.NewInt(1))
			hi.Lsh(hi, uint(200-b.k))
			if b.exact {
				if v.exactly(b.m, b.k).Sign() != 0 {
					t.Fatalf("trial %d: %v / 2^%d is no root", trial, b.m, b.k)
				}
				continue
			}
			one := big.NewInt(1)
			low, high := v.exactly(new(big.Int).Add(lo, one), 200).Sign(), v.exactly(new(big.Int).Sub(hi, one), 200).Sign()
			if low != b.sign || high != -b.sign {
				t.Fatalf("trial %d: bracket %d has signs %d and %d, want %d", trial, i, low, high, b.sign)
			}
		}
	}
}

// TestDifferences compares products in double-double arithmetic with exact ones.
func TestDifferences(t *testing.T) {
	r := source(t, 6)
	for trial := range testlength.Of(30, 200, 2000) {
		q := &quadrature{bits: 77}
		n := 2 + r.IntN(40)
		for range n {
			x := new(big.Float).SetPrec(shiftBits).SetFloat64(math.Ldexp(r.Float64()+1, r.IntN(40)-20))
			q.mid = append(q.mid, x.Add(x, big.NewFloat(r.Float64()*0x1p-60)))
			q.rad = append(q.rad, r.Float64())
			q.near = append(q.near, doubleOf(x))
		}
		i := r.IntN(n)
		z, err := new(big.Float).SetPrec(200), 0.0
		if !q.differences(i, z, &err) {
			t.Fatal("not ok")
		}
		// The nodes at the ends of their intervals that give the largest product.
		exact := big.NewRat(1, 1)
		radius := func(k int) *big.Rat { return rat(new(big.Float).SetMantExp(big.NewFloat(q.rad[k]), -q.bits)) }
		for j := range n {
			if j == i {
				continue
			}
			d := new(big.Rat).Sub(rat(q.mid[i]), rat(q.mid[j]))
			wide := new(big.Rat).Add(radius(i), radius(j))
			if d.Sign() < 0 {
				wide.Neg(wide)
			}
			exact.Mul(exact, d.Add(d, wide))
		}
		off := new(big.Rat).Quo(rat(z), exact)
		off.Sub(off, big.NewRat(1, 1))
		if got, _ := off.Float64(); math.Abs(got) > 2*math.Ldexp(err, -q.bits) || math.Abs(got) < math.Ldexp(err, -q.bits-8) {
			t.Fatalf("trial %d: relative error %g, bound %g", trial, got, math.Ldexp(err, -q.bits))
		}
	}
}

// TestDecide rounds numbers that intervals decide, and others.
func TestDecide(t *testing.T) {
	to := newRounder(num.Float32)
	at := func(m int64, e int64) dyadic { return dyadic{big.NewInt(m), e} }
	if z, ok := to.decide(at(1<<40+1, -40), at(1<<40+2, -40)); !ok || z.value.Float64() != 1 {
		t.Errorf("%v %t", z, ok)
	}
	if _, ok := to.decide(at(1<<24+1, -24), at(1<<26+5, -26)); ok {
		t.Error("a tie and a number above it round to one number")
	}
	if z := to.exactly(at(1<<24+1, -24)); z.value.Float64() != 1 || !z.exact {
		t.Errorf("%v", z)
	}
	if _, ok := to.decide(at(-1, -200), at(1, -200)); ok {
		t.Error("-0 is +0")
	}
}
