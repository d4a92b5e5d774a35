package eigen_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve"
)

// rationals are the coefficients of a polynomial in ascending powers.
type rationals []*big.Rat

// exactly returns the entries of a vector.
func exactly(p *halfulp.Vector) rationals {
	z := make(rationals, p.Len())
	for i := range z {
		z[i], _ = p.Big(i).Rat(nil)
	}
	return z.trimmed()
}

func (p rationals) trimmed() rationals {
	for len(p) > 0 && p[len(p)-1].Sign() == 0 {
		p = p[:len(p)-1]
	}
	return p
}

func (p rationals) derivative() (z rationals) {
	for i := 1; i < len(p); i++ {
		z = append(z, new(big.Rat).Mul(p[i], new(big.Rat).SetInt64(int64(i))))
	}
	return z
}

// remainder returns p modulo q, times a positive number.
func (p rationals) remainder(q rationals) rationals {
	r := make(rationals, len(p))
	for i, c := range p {
		r[i] = new(big.Rat).Set(c)
	}
	for len(r) >= len(q) {
		by := new(big.Rat).Quo(r[len(r)-1], q[len(q)-1])
		at := len(r) - len(q)
		for i, c := range q {
			r[at+i].Sub(r[at+i], new(big.Rat).Mul(by, c))
		}
		r = r[:len(r)-1].trimmed()
	}
	if len(r) > 0 {
		by := new(big.Rat).Abs(r[len(r)-1])
		for _, c := range r {
			c.Quo(c, by)
		}
	}
	return r
}

// sign returns the sign of p(x).
func (p rationals) sign(x *big.Rat) int {
	z := new(big.Rat)
	for i := len(p) - 1; i >= 0; i-- {
		z.Mul(z, x)
		z.Add(z, p[i])
	}
	return z.Sign()
}

// sturm is the Sturm chains of p, of gcd(p, p'), and so on: a root of multiplicity k is a root of
// the first polynomials of k of them.
type sturm [][]rationals

func sturmOf(p rationals) (all sturm) {
	for len(p) > 1 {
		chain := []rationals{p, p.derivative()}
		for {
			r := chain[len(chain)-2].remainder(chain[len(chain)-1])
			if len(r) == 0 {
				break
			}
			for _, c := range r {
				c.Neg(c)
			}
			chain = append(chain, r)
		}
		all = append(all, chain)
		p = chain[len(chain)-1]
	}
	return all
}

// changes counts sign changes at x, or at ±∞ for nil.
func changes(chain []rationals, x *big.Rat, infinity int) (n int) {
	last := 0
	for _, p := range chain {
		var s int
		if x != nil {
			s = p.sign(x)
		} else if s = p[len(p)-1].Sign(); infinity < 0 && len(p)%2 == 0 {
			s = -s
		}
		if s != 0 {
			if last != 0 && s != last {
				n++
			}
			last = s
		}
	}
	return n
}

// below counts the roots below x with multiplicity, and above the roots above x. A root at x counts
// for neither, and is counted by at.
func (s sturm) count(x *big.Rat) (below, at, above int) {
	for _, chain := range s {
		// The chain divided by its last polynomial is a Sturm chain of the square-free part, and
		// has no common root. Where the last polynomial vanishes, x is a multiple root.
		g := chain[len(chain)-1]
		free := make([]rationals, len(chain))
		for i, p := range chain {
			free[i] = p.quotient(g)
		}
		least, most, here := changes(free, nil, -1), changes(free, nil, 1), changes(free, x, 0)
		// Changes at x count roots in (-∞, x].
		onIt := 0
		if free[0].sign(x) == 0 {
			onIt = 1
		}
		below += least - here - onIt
		above += here - most
		at += onIt
	}
	return below, at, above
}

// quotient returns p/q for a q that divides p.
func (p rationals) quotient(q rationals) rationals {
	r := make(rationals, len(p))
	for i, c := range p {
		r[i] = new(big.Rat).Set(c)
	}
	z := make(rationals, len(p)-len(q)+1)
	for at := len(z) - 1; at >= 0; at-- {
		z[at] = new(big.Rat).Quo(r[at+len(q)-1], q[len(q)-1])
		for i, c := range q {
			r[at+i].Sub(r[at+i], new(big.Rat).Mul(z[at], c))
		}
	}
	return z
}

// roundsTo returns the ends of the interval of the numbers that round to x, and whether the ends
// belong to it. x is finite and of format Float32, Float64 or MP. An end is nil if it is infinite.
func roundsTo(f halfulp.Format, x *big.Float) (lo, hi *big.Rat, closed bool) {
	if x.Sign() < 0 {
		lo, hi, closed = roundsTo(f, new(big.Float).Neg(x))
		return hi.Neg(hi), lo.Neg(lo), closed
	}
	p, lowest := f.Bits(), math.MinInt32
	switch f {
	case halfulp.Float32:
		lowest = -149
	case halfulp.Float64:
		lowest = -1074
	}
	v, _ := x.Rat(nil)
	if x.Sign() == 0 {
		if lowest < -1<<30 {
			return new(big.Rat), new(big.Rat), true
		}
		half := power(lowest - 1)
		return new(big.Rat).Neg(half), half, true
	}
	e := x.MantExp(nil)
	unit := max(e-p, lowest)
	n := new(big.Rat).Mul(v, power(-unit))
	if !n.IsInt() {
		panic("not a number of the format")
	}
	below, above := power(unit-1), power(unit-1)
	if unit > lowest && n.Num().Cmp(new(big.Int).Lsh(big.NewInt(1), uint(p-1))) == 0 {
		below = power(unit - 2)
	}
	return new(big.Rat).Sub(v, below), new(big.Rat).Add(v, above), n.Num().Bit(0) == 0
}

// power returns 2^e.
func power(e int) *big.Rat {
	n := new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e)))
	if e < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), n)
	}
	return new(big.Rat).SetInt(n)
}

// checkRoots compares roots with exact counts: root i is rounded correctly if at most i roots lie
// below the numbers that round to it, and at most as many above as follow.
func checkRoots(t *testing.T, p *halfulp.Vector, z *halfulp.Vector) {
	t.Helper()
	checkAgainst(t, exactly(p), z)
}

func checkAgainst(t *testing.T, p rationals, z *halfulp.Vector) {
	t.Helper()
	s := sturmOf(p)
	n := 0
	for _, chain := range s {
		n += changes(chain, nil, -1) - changes(chain, nil, 1)
	}
	if z.Len() != n {
		t.Fatalf("%v: %d roots %v, want %d", p, z.Len(), z, n)
	}
	f := z.NumberFormat()
	for i := range n {
		lo, hi, closed := roundsTo(f, z.Big(i))
		below, atLow, _ := s.count(lo)
		_, atHigh, above := s.count(hi)
		if !closed {
			below += atLow
			above += atHigh
		}
		if below > i || above > n-1-i {
			t.Fatalf("%v, %v: root %d is %v: %d roots below, %d above", p, f, i, z.At(i), below, above)
		}
		if i > 0 && z.Big(i).Cmp(z.Big(i-1)) < 0 {
			t.Fatalf("%v: roots %v", p, z)
		}
	}
}

func realRoots(t *testing.T, p *halfulp.Vector, f halfulp.Format) *halfulp.Vector {
	t.Helper()
	z, err := eigen.RealRoots(p, f, nil)
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	if z.NumberFormat() != f {
		t.Fatalf("format %v", z.NumberFormat())
	}
	return z
}

func floats(x ...float64) *halfulp.Vector { return halfulp.NewVectorFloat64(len(x), 1, x) }

// integers returns a vector of integers that holds them exactly.
func integers(x []*big.Int) *halfulp.Vector {
	most := 2
	for _, c := range x {
		most = max(most, c.BitLen())
	}
	v := halfulp.NewVector(halfulp.MP(uint(most)), len(x))
	for i, c := range x {
		v.SetBig(i, new(big.Float).SetInt(c))
	}
	return v
}

// product returns Π (b_i x - a_i).
func product(roots ...[2]int64) []*big.Int {
	p := []*big.Int{big.NewInt(1)}
	for _, r := range roots {
		q := make([]*big.Int, len(p)+1)
		for i := range q {
			q[i] = new(big.Int)
		}
		for i, c := range p {
			q[i].Sub(q[i], new(big.Int).Mul(c, big.NewInt(r[0])))
			q[i+1].Add(q[i+1], new(big.Int).Mul(c, big.NewInt(r[1])))
		}
		p = q
	}
	return p
}

// rootFormats are the formats whose rounding checkRoots knows.
var rootFormats = []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.MP(2), halfulp.MP(11), halfulp.MP(300)}

func TestRealRootsRandom(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 1))
	for range testlength.Of(300, 1500, 30000) {
		n := 1 + r.IntN(8)
		p := halfulp.NewVector(halfulp.Float64, n)
		any := false
		for i := range n {
			var x float64
			switch r.IntN(5) {
			case 0:
				x = float64(r.IntN(7) - 3)
			case 1:
				x = math.Ldexp(float64(r.IntN(1000)-500), r.IntN(20)-10)
			case 2:
				x = r.NormFloat64()
			case 3:
				x = float64(r.IntN(3) - 1)
			case 4:
				x = math.Ldexp(r.NormFloat64(), r.IntN(100)-50)
			}
			any = any || x != 0
			p.SetFloat64(i, x)
		}
		if any {
			f := rootFormats[r.IntN(len(rootFormats))]
			checkRoots(t, p, realRoots(t, p, f))
		}
	}
}

// TestRealRootsProducts has polynomials with known rational roots, some of them equal, close, ties
// or numbers of the format.
func TestRealRootsProducts(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 2))
	for range testlength.Of(100, 1000, 10000) {
		var list [][2]int64
		for len(list) < 1+r.IntN(8) {
			x := [2]int64{r.Int64N(2001) - 1000, 1 + r.Int64N(20)}
			switch r.IntN(4) {
			case 0:
				x = [2]int64{r.Int64N(1<<12) - 1<<11, 1 << r.IntN(6)} // ties of MP(11)
			case 1:
				x = [2]int64{1<<24 + 1 + 2*r.Int64N(50), 1 << r.IntN(3)} // ties of Float32
			}
			for range 1 + r.IntN(3)*r.IntN(2) {
				list = append(list, x)
			}
		}
		p := integers(product(list...))
		f := rootFormats[r.IntN(len(rootFormats))]
		z := realRoots(t, p, f)
		checkRoots(t, p, z)
		want := make(map[string]int)
		for _, x := range list {
			v := new(big.Rat).SetFrac64(x[0], x[1])
			want[halfulp.NewScalar(f, new(big.Float).SetPrec(2000).SetRat(v)).Text(halfulp.Hex)]++
		}
		for i := range z.Len() {
			want[z.At(i).Text(halfulp.Hex)]--
		}
		for x, n := range want {
			if n != 0 {
				t.Fatalf("seed %d: roots %v: %s is missing %d times: %v", seed, list, x, n, z)
			}
		}
	}
}

// TestRealRootsKnown has polynomials of the literature.
func TestRealRootsKnown(t *testing.T) {
	wilkinson := make([][2]int64, 20)
	for i := range wilkinson {
		wilkinson[i] = [2]int64{int64(i + 1), 1}
	}
	w := product(wilkinson...)
	z := realRoots(t, integers(w), halfulp.Float64)
	for i := range 20 {
		if z.Float64(i) != float64(i+1) {
			t.Errorf("Wilkinson: root %d is %v", i, z.At(i))
		}
	}
	// With the coefficient of x^19 less 2^-23 ten roots are real.
	for i := range w {
		w[i].Lsh(w[i], 23)
	}
	w[19].Sub(w[19], big.NewInt(1))
	p := integers(w)
	z = realRoots(t, p, halfulp.Float64)
	if z.Len() != 10 {
		t.Errorf("perturbed Wilkinson: %d roots", z.Len())
	}
	checkRoots(t, p, z)

	p = mignotte(16, 20)
	for _, f := range rootFormats {
		checkRoots(t, p, realRoots(t, p, f))
	}

	// Chebyshev: the roots of T_n are cos((2 k - 1) π/(2 n)).
	const degree = 40
	t0, t1 := []*big.Int{big.NewInt(1)}, []*big.Int{new(big.Int), big.NewInt(1)}
	for k := 1; k < degree; k++ {
		next := make([]*big.Int, k+2)
		for i := range next {
			next[i] = new(big.Int)
			if i > 0 {
				next[i].Lsh(t1[i-1], 1)
			}
			if i < k {
				next[i].Sub(next[i], t0[i])
			}
		}
		t0, t1 = t1, next
	}
	z = realRoots(t, integers(t1), halfulp.Float64)
	if z.Len() != degree {
		t.Fatalf("Chebyshev: %d roots", z.Len())
	}
	for i := range degree {
		want := -math.Cos(float64(2*i+1) / (2 * degree) * math.Pi)
		if math.Abs(z.Float64(i)-want) > 1e-15 {
			t.Errorf("Chebyshev: root %d is %v, want about %v", i, z.At(i), want)
		}
	}
	checkRoots(t, integers(t1), z)
}

// mignotte returns x^n - 2 (2^k x - 1)², which has two roots within 2^(1-k(n/2+1)) of 2^-k.
func mignotte(n int, k uint) *halfulp.Vector {
	m := make([]*big.Int, n+1)
	for i := range m {
		m[i] = new(big.Int)
	}
	m[n].SetInt64(1)
	m[0].SetInt64(-2)
	m[1].Lsh(big.NewInt(4), k)
	m[2].Lsh(big.NewInt(-2), 2*k)
	return integers(m)
}

// TestRealRootsNear has two roots whose distance is near 2^-16800, beside two others.
func TestRealRootsNear(t *testing.T) {
	p := mignotte(6, 4200)
	z := realRoots(t, p, halfulp.MP(13000))
	checkRoots(t, p, z)
	if z.Big(1).Cmp(z.Big(2)) == 0 {
		t.Errorf("roots %v and %v", z.At(1), z.At(2))
	}
}

// TestRealRootsFormats has roots that formats of several terms hold, and exponents at their limits.
func TestRealRootsFormats(t *testing.T) {
	// (x - 1 - 2^-300)(x - 1): both roots are numbers of DD.
	one := new(big.Int).Lsh(big.NewInt(1), 300)
	next := new(big.Int).Add(one, big.NewInt(1))
	p := integers([]*big.Int{new(big.Int).Mul(one, next), new(big.Int).Neg(new(big.Int).Add(new(big.Int).Lsh(one, 300), new(big.Int).Mul(one, next))), new(big.Int).Lsh(one, 300)})
	// 2^600 x² - (2^600 + 2^300 (2^300 + 1)) x + 2^300 (2^300 + 1)
	for _, f := range []halfulp.Format{halfulp.DD, halfulp.TD, halfulp.QD, halfulp.MP(301), halfulp.MP(300)} {
		z := realRoots(t, p, f)
		want := new(big.Float).SetPrec(400).SetInt64(1)
		want.Add(want, new(big.Float).SetMantExp(big.NewFloat(1), -300))
		if z.Len() != 2 || !z.At(0).Same(halfulp.NewScalar(f, big.NewFloat(1))) || !z.At(1).Same(halfulp.NewScalar(f, want)) {
			t.Errorf("%v: %v", f, z)
		}
	}
	// The root of 2 in DD.
	z := realRoots(t, floats(-2, 0, 1), halfulp.DD)
	if want := halfulp.NewScalar(halfulp.DD, new(big.Float).SetPrec(2000).Sqrt(big.NewFloat(2))); !z.At(1).Same(want) {
		t.Errorf("√2: %v, want %v", z.At(1), want)
	}
	// x² - 2^(2^29) and x + 2^-(2^29)...
	big1 := halfulp.NewVector(halfulp.MP(60), 3)
	big1.SetBig(2, big.NewFloat(-1))
	big1.SetBig(0, new(big.Float).SetMantExp(big.NewFloat(1), 1<<29))
	z = realRoots(t, big1, halfulp.MP(60))
	if want := new(big.Float).SetMantExp(big.NewFloat(1), 1<<28); z.Len() != 2 || z.Big(1).Cmp(want) != 0 {
		t.Errorf("√2^(2^29): %v", z)
	}
	var st halfulp.Stats
	z, err := eigen.RealRoots(big1, halfulp.Float64, &halfulp.Options{Stats: &st})
	if err != nil || z.Len() != 2 || !z.At(0).IsInf(-1) || !z.At(1).IsInf(1) || st.Overflow != 2 {
		t.Errorf("overflow: %v %v, %d", z, err, st.Overflow)
	}
	// 2^1100 x² - 2^-1000: roots ±2^-1050, and 10^-400 x... underflow to zeros.
	small := halfulp.NewVector(halfulp.MP(60), 3)
	small.SetBig(2, new(big.Float).SetMantExp(big.NewFloat(3), 5000))
	small.SetBig(0, big.NewFloat(-1))
	z, err = eigen.RealRoots(small, halfulp.Float64, &halfulp.Options{Stats: &st})
	if err != nil || z.Len() != 2 || !z.At(0).Same(halfulp.Float(math.Copysign(0, -1))) || !z.At(1).Same(halfulp.Float(0)) || st.Underflow != 2 {
		t.Errorf("underflow: %v %v, %d", z, err, st.Underflow)
	}
	// Roots 2^-300 apart and float64 coefficients far apart.
	wide := floats(math.Ldexp(1, -1000), -math.Ldexp(1, -900), 0, math.Ldexp(1, 500), -math.Ldexp(1, 1000))
	for _, f := range rootFormats {
		checkRoots(t, wide, realRoots(t, wide, f))
	}
}

func TestRealRootsErrors(t *testing.T) {
	for _, p := range []*halfulp.Vector{floats(), floats(0), floats(0, 0)} {
		if _, err := eigen.RealRoots(p, halfulp.Float64, nil); !errors.Is(err, eigen.ErrZeroPolynomial) {
			t.Errorf("%v: %v", p, err)
		}
	}
	if z := realRoots(t, floats(3, 0), halfulp.Float64); z.Len() != 0 {
		t.Errorf("constant: %v", z)
	}
	if z := realRoots(t, floats(0, 0, -1, 1, 0), halfulp.Float64); z.Len() != 3 || z.Float64(2) != 1 || z.Float64(0) != 0 {
		t.Errorf("x³ - x²: %v", z)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := eigen.RealRoots(floats(1, x), halfulp.Float64, nil); !errors.Is(err, linsolve.ErrNotFinite) {
			t.Errorf("%v: %v", x, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := eigen.RealRoots(floats(-1, 1), halfulp.Float64, &halfulp.Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	far := halfulp.NewVector(halfulp.MP(2), 3)
	far.SetBig(0, new(big.Float).SetMantExp(big.NewFloat(1), 1<<30))
	far.SetBig(1, new(big.Float).SetMantExp(big.NewFloat(1), -1<<30))
	far.SetBig(2, big.NewFloat(1))
	if _, err := eigen.RealRoots(far, halfulp.Float64, &halfulp.Options{MemoryLimit: 1 << 26}); !errors.Is(err, halfulp.ErrMemory) {
		t.Errorf("exponents far apart: %v", err)
	}
	for _, opt := range []*halfulp.Options{{Method: halfulp.Residue}, {Check: true}, {Method: "none"}} {
		if _, err := eigen.RealRoots(floats(-1, 1), halfulp.Float64, opt); !errors.Is(err, halfulp.ErrMethod) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}
