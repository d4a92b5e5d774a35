package eigen_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve"
)

func ExamplePinv() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 2}, {2, 4}, {3, 6}}) // rank 1
	x, err := eigen.Pinv(a, halfulp.Float64, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(x)
	// Output:
	// 0.014285714285714285 0.02857142857142857 0.04285714285714286
	//  0.02857142857142857 0.05714285714285714 0.08571428571428572
}

func ExampleLeastSquares() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 1}, {1, 1}, {1, 1}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {2}, {4}})
	x, err := eigen.LeastSquares(a, b, halfulp.Float64, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(x)
	// Output:
	// 1.1666666666666667
	// 1.1666666666666667
}

func ExampleRank() {
	// The third column is the sum of the others, up to the rounding of 0.3.
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{0.1, 0.2, 0.3}, {1, 0, 1}, {0, 1, 1}})
	exact, err := eigen.Rank(a, nil)
	if err != nil {
		panic(err)
	}
	c := halfulp.Float(1e-15)
	r, err := eigen.Rank(a, &eigen.Options{RCond: &c})
	if err != nil {
		panic(err)
	}
	fmt.Println(exact, r)
	// Output: 3 2
}

// rats are a matrix of rational numbers.
type rats [][]*big.Rat

func newRats(m, n int) rats {
	z := make(rats, m)
	for i := range z {
		z[i] = make([]*big.Rat, n)
		for j := range z[i] {
			z[i][j] = new(big.Rat)
		}
	}
	return z
}

func (x rats) times(y rats, n int) rats {
	z := newRats(len(x), n)
	for i := range x {
		for j := range n {
			for h := range y {
				z[i][j].Add(z[i][j], new(big.Rat).Mul(x[i][h], y[h][j]))
			}
		}
	}
	return z
}

func (x rats) transposed(n int) rats {
	z := newRats(n, len(x))
	for i := range x {
		for j := range n {
			z[j][i].Set(x[i][j])
		}
	}
	return z
}

func (x rats) equal(y rats) bool {
	for i := range x {
		for j := range x[i] {
			if x[i][j].Cmp(y[i][j]) != 0 {
				return false
			}
		}
	}
	return true
}

// pseudoinverse returns A⁺ for an m x n matrix by Greville's method, column by column: it uses no
// rank and no linear system.
func (x rats) pseudoinverse(n int) rats {
	m := len(x)
	var z rats // k x m
	for k := range n {
		a := newRats(m, 1)
		for i := range m {
			a[i][0].Set(x[i][k])
		}
		d := z.times(a, 1) // A⁺ a
		c := newRats(m, 1) // a - A d
		sum := new(big.Rat)
		for i := range m {
			c[i][0].Set(a[i][0])
			for h := range k {
				c[i][0].Sub(c[i][0], new(big.Rat).Mul(x[i][h], d[h][0]))
			}
			sum.Add(sum, new(big.Rat).Mul(c[i][0], c[i][0]))
		}
		b := newRats(1, m)
		if sum.Sign() != 0 {
			for i := range m {
				b[0][i].Quo(c[i][0], sum)
			}
		} else {
			sum.SetInt64(1)
			for h := range d {
				sum.Add(sum, new(big.Rat).Mul(d[h][0], d[h][0]))
			}
			b = d.transposed(1).times(z, m)
			for i := range m {
				b[0][i].Quo(b[0][i], sum)
			}
		}
		for h := range z {
			for i := range m {
				z[h][i].Sub(z[h][i], new(big.Rat).Mul(d[h][0], b[0][i]))
			}
		}
		z = append(z, b[0])
	}
	return z
}

// nearest returns x rounded to p bits, ties to even, without bounds of exponents.
func nearest(x *big.Rat, p int) *big.Rat {
	if x.Sign() == 0 {
		return new(big.Rat)
	}
	num, den := new(big.Int).Abs(x.Num()), new(big.Int).Set(x.Denom())
	shift := p - num.BitLen() + den.BitLen()
	scaled := func() (q, r, d *big.Int) {
		n, d := new(big.Int).Set(num), new(big.Int).Set(den)
		if shift >= 0 {
			n.Lsh(n, uint(shift))
		} else {
			d.Lsh(d, uint(-shift))
		}
		q, r = new(big.Int).QuoRem(n, d, new(big.Int))
		return q, r, d
	}
	q, r, d := scaled()
	if q.BitLen() > p {
		shift--
		q, r, d = scaled()
	}
	if c := r.Lsh(r, 1).Cmp(d); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	z := new(big.Rat).SetInt(q)
	power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(shift, -shift))))
	if shift > 0 {
		power.Inv(power)
	}
	if z.Mul(z, power); x.Sign() < 0 {
		z.Neg(z)
	}
	return z
}

// exact returns the entries of a matrix.
func exact(a *halfulp.Matrix) rats {
	z := newRats(a.Dims())
	for i := range z {
		for j := range z[i] {
			a.Big(i, j).Rat(z[i][j])
		}
	}
	return z
}

// same fails unless x are the exact numbers, rounded to the bits of its format.
func same(t *testing.T, name string, x *halfulp.Matrix, want rats, a *halfulp.Matrix) {
	t.Helper()
	for i := range want {
		for j := range want[i] {
			v := x.Big(i, j)
			got, _ := v.Rat(nil)
			if got.Cmp(nearest(want[i][j], x.NumberFormat().Bits())) != 0 || v.Sign() == 0 && v.Signbit() {
				t.Fatalf("%s: entry (%d, %d) is %v, exactly %v\nA\n%v", name, i, j, v, want[i][j].RatString(), a)
			}
		}
	}
}

// someMatrix returns an m x n matrix of rank at most r, of one of several kinds.
func someMatrix(rng *rand.Rand, m, n, r int) *halfulp.Matrix {
	f, most := halfulp.Float64, 0
	switch rng.IntN(5) {
	case 0:
		f = halfulp.MP(200)
	case 1:
		most = 300
		f = halfulp.MP(1500)
	}
	left, right := make([]int, m), make([]int, n) // exponents
	for i := range left {
		left[i] = rng.IntN(most+1) - most/2
	}
	for j := range right {
		right[j] = rng.IntN(most+1) - most/2
	}
	x, y := newRats(m, r), newRats(r, n)
	for _, z := range []rats{x, y} {
		for i := range z {
			for j := range z[i] {
				z[i][j].SetInt64(int64(rng.IntN(9) - 4))
				if rng.IntN(3) == 0 {
					z[i][j].SetInt64(0)
				}
			}
		}
	}
	p := x.times(y, n)
	a := halfulp.NewMatrix(f, m, n)
	for i := range m {
		for j := range n {
			v, _ := p[i][j].Float64()
			a.SetBig(i, j, new(big.Float).SetMantExp(big.NewFloat(v), left[i]+right[j]))
		}
	}
	if n > 1 && rng.IntN(3) == 0 { // equal columns
		for i := range m {
			a.Set(i, n-1, a.At(i, 0))
		}
	}
	if m > 0 && n > 0 && rng.IntN(6) == 0 {
		a.SetFloat64(rng.IntN(m), rng.IntN(n), 0.1)
	}
	return a
}

var formats = []halfulp.Format{halfulp.Float64, halfulp.MP(5), halfulp.MP(24), halfulp.MP(130)}

// TestPinv compares pseudo-inverses and solutions of minimal norm with rational numbers.
func TestPinv(t *testing.T) {
	seed := testseed.Of(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 250 {
		m, n := rng.IntN(7), rng.IntN(7)
		a := someMatrix(rng, m, n, rng.IntN(7))
		f := formats[rng.IntN(len(formats))]
		if f.Bits() == 53 && a.NumberFormat().Bits() > 1000 {
			f = halfulp.MP(53) // no underflow
		}
		want := exact(a).pseudoinverse(n)
		penrose(t, exact(a), want, n)
		x, err := eigen.Pinv(a, f, nil)
		if err != nil {
			t.Fatalf("%v\n%v", err, a)
		}
		same(t, "Pinv", x, want, a)

		k := rng.IntN(3)
		b := someMatrix(rng, m, k, 6)
		z, err := eigen.LeastSquares(a, b, f, nil)
		if err != nil {
			t.Fatalf("%v\n%v", err, a)
		}
		same(t, "LeastSquares", z, want.times(exact(b), k), a)

		w := halfulp.NewVector(halfulp.Float64, m)
		wa, wb := newRats(m, n), newRats(m, k)
		for i := range m {
			// Squares: the weighted problem is rational too.
			root := int64(rng.IntN(4))
			w.SetFloat64(i, float64(root*root))
			for j := range n {
				wa[i][j].Mul(exact(a)[i][j], big.NewRat(root, 1))
			}
			for j := range k {
				wb[i][j].Mul(exact(b)[i][j], big.NewRat(root, 1))
			}
		}
		z, err = eigen.LeastSquares(a, b, f, &eigen.LeastSquaresOptions{Weights: w})
		if err != nil {
			t.Fatalf("%v\n%v\n%v", err, a, w)
		}
		same(t, "LeastSquares with weights", z, wa.pseudoinverse(n).times(wb, k), a)
	}
}

// penrose checks the four conditions that define a pseudo-inverse.
func penrose(t *testing.T, a, x rats, n int) {
	t.Helper()
	m := len(a)
	ax, xa := a.times(x, m), x.times(a, n)
	if !ax.times(a, n).equal(a) || !xa.times(x, m).equal(x) || !ax.transposed(m).equal(ax) || !xa.transposed(n).equal(xa) {
		t.Fatalf("the oracle is wrong: %v %v", a, x)
	}
}

// TestPinvLong has rows and columns that are solved in several parts.
func TestPinvLong(t *testing.T) {
	rng := rand.New(rand.NewPCG(testseed.Of(t), 5))
	x, y := newRats(3, 2), newRats(2, 150)
	for _, z := range []rats{x, y} {
		for i := range z {
			for j := range z[i] {
				z[i][j].SetInt64(int64(1 + rng.IntN(9)))
			}
		}
	}
	p := x.times(y, 150)
	a := halfulp.NewMatrix(halfulp.Float64, 3, 150)
	for i := range p {
		for j := range p[i] {
			v, _ := p[i][j].Float64()
			a.SetFloat64(i, j, v)
		}
	}
	want := p.transposed(150).pseudoinverse(3) // 3 x 150
	var reported []float64
	opt := &eigen.Options{Options: halfulp.Options{Progress: func(done float64) { reported = append(reported, done) }}}
	z, err := eigen.Pinv(a, halfulp.Float64, opt)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "wide", z, want.transposed(150), a)
	if len(reported) == 0 || reported[len(reported)-1] != 1 {
		t.Error(reported)
	}
	if z, err = eigen.Pinv(a.T(), halfulp.Float64, nil); err != nil {
		t.Fatal(err)
	}
	same(t, "tall", z, want, a)
}

// TestPinvLarger checks a pseudo-inverse in many bits by its definition, and the one in float64 by
// its rounding.
func TestPinvLarger(t *testing.T) {
	const m, n, r, bits = 40, 75, 20, 400
	seed := testseed.Of(t)
	f := halfulp.MP(bits)
	x, y := gallery.Random(halfulp.Float64, m, r, 8, seed), gallery.Random(halfulp.Float64, r, n, 8, seed+1)
	product := func(a, b *halfulp.Matrix) *halfulp.Matrix {
		z, err := halfulp.Mul(a, b, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	a := product(x, y) // exact
	if k, err := eigen.Rank(a, nil); k != r || err != nil {
		t.Fatal(k, err)
	}
	wide, err := eigen.Pinv(a, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	near := func(name string, u, v *halfulp.Matrix) {
		t.Helper()
		for i := range u.Rows() {
			for j := range u.Cols() {
				d := new(big.Float).Sub(u.Big(i, j), v.Big(i, j))
				if d.Sign() != 0 && d.MantExp(nil) > -bits/2 {
					t.Fatalf("%s: entry (%d, %d) differs by %v", name, i, j, d)
				}
			}
		}
	}
	ax, xa := product(a, wide), product(wide, a)
	near("A X A = A", product(ax, a), a)
	near("X A X = X", product(xa, wide), wide)
	near("A X", ax, ax.T())
	near("X A", xa, xa.T())
	var st halfulp.Stats
	z, err := eigen.Pinv(a, halfulp.Float64, &eigen.Options{Options: halfulp.Options{Stats: &st, Check: true}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "float64", z, exact(wide), a)
	if st.Check == nil || st.Check.Compared < r*r {
		t.Errorf("compared: %+v", st.Check)
	}
	b := gallery.Random(halfulp.Float64, m, 3, 8, seed+2)
	solution, err := eigen.LeastSquares(a, b, halfulp.Float64, nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "LeastSquares", solution, exact(product(wide, b)), a)
}

// TestPinvTies has entries halfway between two numbers of the format, and entries that are 0.
func TestPinvTies(t *testing.T) {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 1, 0}, {1, 1, 0}, {0, 0, 2}, {0, 0, 0}})
	f := halfulp.MP(2)
	// Multiples of 1/9: b makes x = 9/8 and 7/8, ties of 2 and 3 bits.
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{4.5}, {0}, {1.75}, {3}})
	x, err := eigen.LeastSquares(a, b, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "ties", x, exact(a).pseudoinverse(3).times(exact(b), 1), a)
	var st halfulp.Stats
	if _, err := eigen.Pinv(a, f, &eigen.Options{Options: halfulp.Options{Stats: &st}}); err != nil || st.Undecided != 0 {
		t.Error(err, st.Undecided)
	}
}

// TestPinvTolerance compares pseudo-inverses with a tolerance with the exact ones of a matrix from
// which the small singular values are removed.
func TestPinvTolerance(t *testing.T) {
	seed := testseed.Of(t)
	rng := rand.New(rand.NewPCG(seed, 2))
	for trial := range 24 {
		// A = Σ 2^-s_i u_i v_iᵀ for orthogonal vectors: columns of a Hadamard matrix of order 4, or
		// of reflections I - 2 v vᵀ / vᵀv.
		m, n := 4, 3+rng.IntN(2)
		u, v := orthogonal(rng, m), orthogonal(rng, n)
		k := 1 + rng.IntN(2)
		whole, part := newRats(m, n), newRats(m, n)
		for h := range min(m, n) {
			s := big.NewRat(int64(1+rng.IntN(3)), 1)
			if h >= k {
				s.Mul(s, big.NewRat(1, 1<<50))
			}
			for i := range m {
				for j := range n {
					term := new(big.Rat).Mul(s, new(big.Rat).Mul(u[i][h], v[j][h]))
					whole[i][j].Add(whole[i][j], term)
					if h < k {
						part[i][j].Add(part[i][j], term)
					}
				}
			}
		}
		a := halfulp.NewMatrix(halfulp.MP(400), m, n)
		for i := range m {
			for j := range n {
				x, ok := new(big.Float).SetPrec(400).SetRat(whole[i][j]), true
				if r, _ := x.Rat(nil); r.Cmp(whole[i][j]) != 0 {
					ok = false
				}
				if !ok {
					t.Fatal("not a binary number")
				}
				a.SetBig(i, j, x)
			}
		}
		c := halfulp.Float(1e-10)
		f := formats[trial%len(formats)]
		if f.Bits() == 5 {
			f = halfulp.Float32
		}
		opt := &eigen.Options{RCond: &c}
		var st halfulp.Stats
		opt.Stats = &st
		x, err := eigen.Pinv(a, f, opt)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "Pinv with a tolerance", x, part.pseudoinverse(n), a)
		b := someMatrix(rng, m, 2, 4)
		for b.NumberFormat().Bits() > 1000 {
			b = someMatrix(rng, m, 2, 4)
		}
		y, err := eigen.LeastSquares(a, b, f, &eigen.LeastSquaresOptions{Options: *opt})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "LeastSquares with a tolerance", y, part.pseudoinverse(n).times(exact(b), 2), a)
		if r, err := eigen.Rank(a, opt); r != k || err != nil {
			t.Fatal(r, k, err)
		}
		// A tolerance that cuts off nothing changes nothing.
		none := halfulp.Float(0)
		opt.RCond = &none
		if x, err = eigen.Pinv(a, f, opt); err != nil {
			t.Fatal(err)
		}
		same(t, "Pinv with the tolerance 0", x, whole.pseudoinverse(n), a)
	}
}

// orthogonal returns an n x n matrix with orthonormal columns whose entries are binary numbers.
func orthogonal(rng *rand.Rand, n int) rats {
	z := newRats(n, n)
	for i := range n {
		z[i][i].SetInt64(1)
	}
	if n < 4 {
		i := rng.IntN(n)
		z[0], z[i] = z[i], z[0]
		return z
	}
	// I - vvᵀ/2 with four entries ±1 in v.
	v := make([]int64, n)
	for i := range 4 {
		v[i] = int64(2*rng.IntN(2) - 1)
	}
	for i := range n {
		for j := range n {
			z[i][j].Sub(z[i][j], big.NewRat(v[i]*v[j], 2))
		}
	}
	return z
}

// TestPinvZeros has entries that are 0 because of zeros of A and B: they are proved.
func TestPinvZeros(t *testing.T) {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{
		{3, 1, 0, 0, 0},
		{0, 0, 5, 1, 0},
		{1, 2, 0, 0, 0},
		{0, 0, 5, 1.0001, 0},
	})
	c := halfulp.Float(0.01)
	var st halfulp.Stats
	opt := &eigen.Options{Options: halfulp.Options{Stats: &st}, RCond: &c}
	x, err := eigen.Pinv(a, halfulp.Float64, opt)
	if err != nil || st.Undecided != 0 {
		t.Fatal(err, st.Undecided)
	}
	for j := range 5 {
		for i := range 4 {
			if zero := j == 4 || (j < 2) != (i%2 == 0); zero != (x.Float64(j, i) == 0) {
				t.Errorf("entry (%d, %d) is %v", j, i, x.At(j, i))
			}
		}
	}
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 0}, {0, 0}, {1, 0}, {0, 0}})
	y, err := eigen.LeastSquares(a, b, halfulp.Float64, &eigen.LeastSquaresOptions{Options: *opt})
	if err != nil || st.Undecided != 0 || y.Float64(0, 0) == 0 || y.Float64(2, 0) != 0 || y.Float64(0, 1) != 0 {
		t.Fatal(err, st.Undecided, y)
	}
}

// TestPinvUndecided has entries that are 0 although no zeros of A show it.
func TestPinvUndecided(t *testing.T) {
	// Columns of a Hadamard matrix: the singular values are 2 and 2^-59.
	a := halfulp.NewMatrix(halfulp.MP(100), 2, 2)
	small := 0x1p-60
	for i, x := range [][2]float64{{1, small}, {1, -small}, {1, -small}, {1, small}} {
		a.SetBig(i/2, i%2, new(big.Float).SetPrec(100).Add(big.NewFloat(x[0]), big.NewFloat(x[1])))
	}
	c := halfulp.Float(1e-10)
	var st halfulp.Stats
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 1 + 0x1p-52}, {-1, 1}})
	x, err := eigen.LeastSquares(a, b, halfulp.Float64, &eigen.LeastSquaresOptions{Options: eigen.Options{Options: halfulp.Options{Stats: &st}, RCond: &c}})
	if err != nil {
		t.Fatal(err)
	}
	// x = (b_1 + b_2)/4 twice: 0, and halfway between 1/2 and the next number, which is even.
	for i := range 2 {
		if x.Float64(i, 0) != 0 || x.At(i, 0).Signbit() || x.Float64(i, 1) != 0.5 {
			t.Error(x)
		}
	}
	if st.Undecided != 4 || st.Precision != 4*53+64 {
		t.Error(st.Undecided, st.Precision)
	}
}

// TestRCondRule checks the comparison at its border: σ = c σ_max is treated as 0, and the next
// number is not. 0.1 * 3 is 0.30000000000000004.
func TestRCondRule(t *testing.T) {
	c := halfulp.Float(0.1)
	for _, x := range []struct {
		value float64
		rank  int
	}{{0.30000000000000004, 1}, {math.Nextafter(0.30000000000000004, 1), 2}, {0.1, 1}, {0, 1}, {3, 2}} {
		a := halfulp.FromRows(halfulp.Float64, [][]float64{{3, 0}, {0, x.value}})
		if r, err := eigen.Rank(a, &eigen.Options{RCond: &c}); r != x.rank || err != nil {
			t.Error(x, r, err)
		}
	}
}

// TestRCondRange has singular values beyond the range of the format of the result.
func TestRCondRange(t *testing.T) {
	c := halfulp.Float(0.1)
	var st halfulp.Stats
	opt := &eigen.Options{Options: halfulp.Options{Stats: &st}, RCond: &c}
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{0x1p-150, 0x1p-150}, {0x1p-155, -0x1p-155}})
	x, err := eigen.Pinv(a, halfulp.Float32, opt)
	if err != nil || !x.At(0, 0).IsInf(1) || st.Overflow != 2 || x.Float64(0, 1) != 0 {
		t.Error(err, x, st.Overflow)
	}
	a = halfulp.FromRows(halfulp.Float64, [][]float64{{0x1p140, 0x1p140}, {0x1p130, -0x1p130}})
	x, err = eigen.Pinv(a, halfulp.Float32, opt)
	if err != nil || x.Float64(0, 0) != 0x1p-141 || x.Float64(0, 1) != 0 {
		t.Error(err, x)
	}
	for _, scale := range []float64{0x1p-1060, 0x1p1022} {
		a = halfulp.FromRows(halfulp.Float64, [][]float64{{scale, scale}, {0.5 * scale, -0.5 * scale}})
		if r, err := eigen.Rank(a, opt); r != 2 || err != nil {
			t.Error(scale, r, err)
		}
	}
}

func TestPinvErrors(t *testing.T) {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 1}, {1, 1}})
	for _, c := range []float64{-1, math.Inf(1), math.NaN()} {
		c := halfulp.Float(c)
		if _, err := eigen.Pinv(a, halfulp.Float64, &eigen.Options{RCond: &c}); !errors.Is(err, eigen.ErrRCond) {
			t.Error(err)
		}
		if _, err := eigen.Rank(a, &eigen.Options{RCond: &c}); !errors.Is(err, eigen.ErrRCond) {
			t.Error(err)
		}
		if _, err := eigen.LeastSquares(a, a, halfulp.Float64, &eigen.LeastSquaresOptions{Options: eigen.Options{RCond: &c}}); !errors.Is(err, eigen.ErrRCond) {
			t.Error(err)
		}
	}
	w := halfulp.NewVector(halfulp.Float64, 2)
	w.SetFloat64(0, -1)
	if _, err := eigen.LeastSquares(a, a, halfulp.Float64, &eigen.LeastSquaresOptions{Weights: w}); !errors.Is(err, linsolve.ErrWeights) {
		t.Error(err)
	}
	a.SetFloat64(0, 1, math.NaN())
	for _, rows := range []int{1, 2} {
		if _, err := eigen.Pinv(a.Slice(0, rows, 0, 2), halfulp.Float64, nil); !errors.Is(err, linsolve.ErrNotFinite) {
			t.Error(err)
		}
		if _, err := eigen.LeastSquares(a.Slice(0, rows, 0, 2), a.Slice(0, rows, 0, 2), halfulp.Float64, nil); !errors.Is(err, linsolve.ErrNotFinite) {
			t.Error(err)
		}
	}
	if _, err := eigen.Cond2(a, halfulp.Float64, nil); !errors.Is(err, linsolve.ErrNotFinite) {
		t.Error(err)
	}
}

// TestDistance disturbs singular vectors, and compares the bound of the error of V S^-1 Uᵀ with the
// error.
func TestDistance(t *testing.T) {
	seed := testseed.Of(t)
	rng := rand.New(rand.NewPCG(seed, 4))
	proved := 0
	for range 300 {
		m, n, k := 4, 4+rng.IntN(2), 1+rng.IntN(3)
		u, v := orthogonal(rng, m), orthogonal(rng, n)
		// The last of k singular values is 1 or 2, and the next one is smaller, perhaps by little.
		values := []int64{4, 4, 4, 4}
		values[k-1] = int64(1 + rng.IntN(2))
		scale := new(big.Rat).SetFrac64(1, 1<<20)
		// Both are disturbed, or one; both are multiplied by a number near 1; or one has a multiple
		// of a vector to the singular value 0 added.
		mode := rng.IntN(6)
		s := newRats(m, n)
		sum := newRats(n, m) // A_k⁺
		whole := newRats(m, n)
		for h := range m {
			if h < k {
				s[h][h].SetInt64(values[h])
			} else if mode < 4 {
				s[h][h].Sub(big.NewRat(values[k-1], 1), new(big.Rat).Mul(scale, big.NewRat(1<<uint(rng.IntN(21)), 1)))
			}
			for i := range m {
				for j := range n {
					term := new(big.Rat).Mul(u[i][h], v[j][h])
					if h < k {
						sum[j][i].Add(sum[j][i], new(big.Rat).Quo(term, s[h][h]))
					}
					whole[i][j].Add(whole[i][j], term.Mul(term, s[h][h]))
				}
			}
		}
		f := halfulp.MP(100)
		size := math.Ldexp(1, -rng.IntN(60))
		disturbed := func(x rats, n int, size float64) *halfulp.Matrix {
			z := halfulp.NewMatrix(f, n, k)
			for i := range n {
				for j := range k {
					y := new(big.Float).SetPrec(100).SetRat(x[i][j])
					switch mode {
					case 3:
						y.Mul(y, big.NewFloat(1+size))
					case 4, 5:
						zero, _ := x[i][n-1].Float64()
						y.Add(y, big.NewFloat(size*zero))
					default:
						y.Add(y, big.NewFloat(size*(rng.Float64()-0.5)))
					}
					z.SetBig(i, j, y)
				}
			}
			return z
		}
		a := halfulp.NewMatrix(f, m, n)
		for i := range m {
			for j := range n {
				a.SetBig(i, j, new(big.Float).SetPrec(100).SetRat(whole[i][j]))
			}
		}
		sizes := [2]float64{size, size}
		switch mode {
		case 1, 2:
			sizes[mode-1] = 0
		case 4, 5:
			sizes[mode-4] = 0
		}
		uu, vv := disturbed(u, m, sizes[0]), disturbed(v, n, sizes[1])
		list, next := make([]*big.Float, k), new(big.Float)
		for h := range list {
			list[h] = new(big.Float).SetPrec(100).SetRat(s[h][h])
		}
		for h := k; h < m; h++ {
			if x := new(big.Float).SetPrec(100).SetRat(s[h][h]); x.Cmp(next) > 0 {
				next = x
			}
		}
		beta, err := eigen.Distance(a, uu, vv, list, next, 100, 0)
		if err != nil {
			t.Fatal(err)
		}
		if beta == nil {
			continue
		}
		proved++
		// The 2-norm of the difference is at least the length of each column.
		inverse := newRats(k, k)
		for h := range k {
			inverse[h][h].Inv(s[h][h])
		}
		x := exact(vv).times(inverse, k).times(exact(uu).transposed(k), m)
		limit, _ := beta.Rat(nil)
		limit.Mul(limit, limit)
		worst := new(big.Rat)
		for i := range m {
			length := new(big.Rat)
			for j := range n {
				d := new(big.Rat).Sub(x[j][i], sum[j][i])
				length.Add(length, d.Mul(d, d))
			}
			if length.Cmp(worst) > 0 {
				worst = length
			}
		}
		if worst.Cmp(limit) > 0 {
			t.Fatalf("error %s, bound %s (squared)\nA\n%v", worst.FloatString(60), limit.FloatString(60), a)
		}
		if below := new(big.Rat).Mul(worst, big.NewRat(1<<62, 1)); size > 0x1p-50 && below.Cmp(limit) < 0 {
			t.Fatalf("error %s, bound %s (squared): too large\nA\n%v", worst.FloatString(60), limit.FloatString(60), a)
		}
	}
	if proved < 100 {
		t.Errorf("%d bounds only", proved)
	}
}
