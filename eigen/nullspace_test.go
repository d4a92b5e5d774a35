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
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve"
)

func ExampleNullSpace() {
	// The third column is the sum of the others, up to the rounding of 0.3.
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{0.1, 0.2, 0.3}, {1, 0, 1}, {0, 1, 1}})
	exact, err := eigen.NullSpace(a, halfulp.Float64, nil)
	if err != nil {
		panic(err)
	}
	c := halfulp.Float(1e-15)
	z, err := eigen.NullSpace(a, halfulp.Float64, &eigen.Options{RCond: &c})
	if err != nil {
		panic(err)
	}
	fmt.Println(exact.Cols(), z.Cols())
	fmt.Println(z)
	// Output:
	// 0 1
	// 0.5773502691896257
	// 0.5773502691896257
	// -0.5773502691896257
}

// cholesky returns the first k columns of the Cholesky factor with pivots of a projector: M
// diag(d)^(-1/2) with rational M and d.
func (x rats) cholesky(k int) (m rats, d []*big.Rat) {
	n := len(x)
	left := newRats(n, n)
	for i := range n {
		for j := range n {
			left[i][j].Set(x[i][j])
		}
	}
	quarter := new(big.Rat).SetFrac64(884279719003555, 1125899906842624) // π/4 to 50 bits
	m = newRats(n, k)
	for l := range k {
		most := new(big.Rat)
		for i := range n {
			if left[i][i].Cmp(most) > 0 {
				most = left[i][i]
			}
		}
		limit, q := new(big.Rat).Mul(most, quarter), 0
		for left[q][q].Cmp(limit) <= 0 {
			q++
		}
		pivot := new(big.Rat).Set(left[q][q])
		d = append(d, pivot)
		for i := range n {
			m[i][l].Set(left[i][q])
		}
		for i := range n {
			for j := range n {
				t := new(big.Rat).Mul(m[i][l], m[j][l])
				left[i][j].Sub(left[i][j], t.Quo(t, pivot))
			}
		}
	}
	return m, d
}

// overRoot returns x/√d: exactly, if the root is rational, or to 4000 bits.
func overRoot(x, d *big.Rat) *big.Rat {
	a, b := new(big.Int).Sqrt(d.Num()), new(big.Int).Sqrt(d.Denom())
	if new(big.Int).Mul(a, a).Cmp(d.Num()) == 0 && new(big.Int).Mul(b, b).Cmp(d.Denom()) == 0 {
		return new(big.Rat).Quo(x, new(big.Rat).SetFrac(a, b))
	}
	root := new(big.Float).SetPrec(4000).SetRat(d)
	r, _ := root.Sqrt(root).Rat(nil)
	return new(big.Rat).Quo(x, r)
}

// TestNullSpace compares bases for a tolerance with rational projectors.
func TestNullSpace(t *testing.T) {
	seed := testseed.Of(t)
	rng := rand.New(rand.NewPCG(seed, 6))
	for trial := range 60 {
		m, n := 3+rng.IntN(5), 3+rng.IntN(5)
		u, v := orthogonal(rng, m), orthogonal(rng, n)
		if n > 4 { // so that the rows of v are not all alike
			v = v.times(orthogonal(rng, n), n).times(orthogonal(rng, n), n)
		}
		k := rng.IntN(min(m, n) + 1)
		a, p := halfulp.NewMatrix(halfulp.MP(400), m, n), newRats(n, n)
		whole := newRats(m, n)
		for h := range n {
			s := big.NewRat(int64(1+rng.IntN(3)), 1)
			if h >= k {
				s.Mul(s, big.NewRat(int64(rng.IntN(2)), 1<<50))
				for i := range n {
					for j := range n {
						p[i][j].Add(p[i][j], new(big.Rat).Mul(v[i][h], v[j][h]))
					}
				}
			}
			if k == 0 {
				s.SetInt64(0)
			}
			for i := range m {
				for j := range n {
					if h < m {
						whole[i][j].Add(whole[i][j], new(big.Rat).Mul(s, new(big.Rat).Mul(u[i][h], v[j][h])))
					}
				}
			}
		}
		for i := range m {
			for j := range n {
				x := new(big.Float).SetPrec(400).SetRat(whole[i][j])
				if r, _ := x.Rat(nil); r.Cmp(whole[i][j]) != 0 {
					t.Fatal("not a binary number")
				}
				a.SetBig(i, j, x)
			}
		}
		basis, d := p.cholesky(n - k)
		for i := range n {
			for l := range d {
				basis[i][l] = overRoot(basis[i][l], d[l])
			}
		}
		c := halfulp.Float(1e-10)
		var st halfulp.Stats
		opt := &eigen.Options{Options: halfulp.Options{Stats: &st}, RCond: &c}
		z, err := eigen.NullSpace(a, formats[trial%len(formats)], opt)
		if err != nil {
			t.Fatal(err)
		}
		if z.Rows() != n || z.Cols() != n-k {
			t.Fatalf("%d x %d, want %d x %d", z.Rows(), z.Cols(), n, n-k)
		}
		same(t, "NullSpace", z, basis, a)
	}
}

// TestNullSpaceBlocks has entries that are 0 because of zeros of A, and columns of zeros: nothing
// is undecided.
func TestNullSpaceBlocks(t *testing.T) {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{
		{3, 6, 0, 0, 0},
		{0, 0, 5, 1, 0},
		{1, 2.0001, 0, 0, 0},
		{0, 0, 5, 1.0001, 0},
	})
	c := halfulp.Float(0.01)
	var st halfulp.Stats
	z, err := eigen.NullSpace(a, halfulp.Float64, &eigen.Options{Options: halfulp.Options{Stats: &st}, RCond: &c})
	if err != nil || z.Cols() != 3 || st.Undecided != 0 {
		t.Fatal(err, z, st.Undecided)
	}
	// Pivots: the columns of zeros, column 3 of the second block and column 0 of the first one; all
	// exceed π/4, so the first index comes first.
	for l, want := range [][]bool{{true, true, false, false, false}, {false, false, true, true, false}, {false, false, false, false, true}} {
		for i, nonzero := range want {
			if (z.Float64(i, l) != 0) != nonzero {
				t.Errorf("entry (%d, %d) of\n%v", i, l, z)
			}
		}
	}
	if z.Float64(4, 2) != 1 {
		t.Errorf("entry (4, 2) of\n%v", z)
	}
}

// TestNullSpaceUndecided has entries that are 0 although no zeros of A show it, and one that is
// halfway between two numbers of the format.
func TestNullSpaceUndecided(t *testing.T) {
	w := []*big.Rat{}
	for _, x := range []int64{5, 3, 3, -3, 3, 1, 1, -1} { // norm 8
		w = append(w, big.NewRat(x, 8))
	}
	const n = 8
	p, a := newRats(n, n), halfulp.NewMatrix(halfulp.Float64, n, n)
	for i := range n {
		for j := range n {
			p[i][j].Mul(w[i], w[j])
			x, _ := p[i][j].Float64()
			if a.SetFloat64(i, j, -x); i == j {
				a.SetFloat64(i, i, 1-x)
			}
		}
	}
	c := halfulp.Float(1e-10)
	for _, x := range []struct {
		a               *halfulp.Matrix
		p               rats
		cols, undecided int
	}{
		{a, p, 1, 1},                         // the null space of I - w wᵀ
		{a.Slice(0, 1, 0, n), nil, n - 1, 0}, // zeros above pivots are proved
	} {
		if x.p == nil { // I - x xᵀ / xᵀx
			x.p = newRats(n, n)
			row, sum := exact(x.a)[0], new(big.Rat)
			for _, v := range row {
				sum.Add(sum, new(big.Rat).Mul(v, v))
			}
			for i := range n {
				x.p[i][i].SetInt64(1)
				for j := range n {
					v := new(big.Rat).Mul(row[i], row[j])
					x.p[i][j].Sub(x.p[i][j], v.Quo(v, sum))
				}
			}
		}
		basis, d := x.p.cholesky(x.cols)
		for i := range basis {
			for l := range d {
				basis[i][l] = overRoot(basis[i][l], d[l])
			}
		}
		var st halfulp.Stats
		z, err := eigen.NullSpace(x.a, halfulp.MP(2), &eigen.Options{Options: halfulp.Options{Stats: &st}, RCond: &c})
		if err != nil || z.Cols() != x.cols {
			t.Fatal(err, z)
		}
		same(t, "NullSpace", z, basis, x.a)
		if st.Undecided != x.undecided {
			t.Errorf("%d undecided, want %d\n%v", st.Undecided, x.undecided, z)
		}
	}
}

// TestNullSpaceExact requires the basis of linsolve without a tolerance.
func TestNullSpaceExact(t *testing.T) {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 2, 3}, {2, 4, 6}})
	want, err := linsolve.NullSpace(a, halfulp.Float64, nil)
	if err != nil {
		t.Fatal(err)
	}
	zero := halfulp.Float(0)
	for _, c := range []*halfulp.Scalar{nil, &zero} {
		z, err := eigen.NullSpace(a, halfulp.Float64, &eigen.Options{RCond: c})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "NullSpace", z, exact(want), a)
	}
	for _, c := range []float64{-1, math.Inf(1), math.NaN()} {
		c := halfulp.Float(c)
		if _, err := eigen.NullSpace(a, halfulp.Float64, &eigen.Options{RCond: &c}); !errors.Is(err, eigen.ErrRCond) {
			t.Error(err)
		}
	}
	c := halfulp.Float(0.1)
	for _, dims := range [][2]int{{0, 3}, {3, 0}, {2, 2}} {
		z, err := eigen.NullSpace(halfulp.NewMatrix(halfulp.Float64, dims[0], dims[1]), halfulp.Float64, &eigen.Options{RCond: &c})
		if err != nil || z.Rows() != dims[1] || z.Cols() != dims[1] {
			t.Error(dims, z, err)
		}
	}
	a.SetFloat64(0, 0, math.NaN())
	for _, c := range []*halfulp.Scalar{nil, &c} {
		if _, err := eigen.NullSpace(a, halfulp.Float64, &eigen.Options{RCond: c}); !errors.Is(err, linsolve.ErrNotFinite) {
			t.Error(err)
		}
	}
}
