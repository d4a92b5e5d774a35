package eigen_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve"
)

func ExampleSymFunc() {
	a := halfulp.NewMatrix(halfulp.Float64, 2, 2)
	for i, x := range []float64{5, 4, 4, 5} {
		a.SetFloat64(i/2, i%2, x)
	}
	z, err := eigen.SymFunc(eigen.Sqrt, a, halfulp.Float64, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(z)
	// Output:
	// 2 1
	// 1 2
}

// TestSymFunc checks identities in many bits: roots, inverse roots, exponentials by another method,
// logarithms, and the parts of a matrix.
func TestSymFunc(t *testing.T) {
	rng := testseed.Rand(t, 11, 12)
	f := halfulp.MP(300)
	call := func(g eigen.Function, a *halfulp.Matrix, f halfulp.Format) *halfulp.Matrix {
		t.Helper()
		z, err := eigen.SymFunc(g, a, f, nil)
		if err != nil {
			t.Fatalf("%s: %v\n%v", g.Name, err, a)
		}
		return z
	}
	mul := func(a, b *halfulp.Matrix) *halfulp.Matrix {
		t.Helper()
		z, err := halfulp.Mul(a, b, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	near := func(what string, a, b *halfulp.Matrix, bits int) {
		t.Helper()
		for i := range a.Rows() {
			for j := range a.Cols() {
				d := new(big.Float).SetPrec(400).Sub(a.Big(i, j), b.Big(i, j))
				if d.Sign() != 0 && d.MantExp(nil) > -bits {
					t.Fatalf("%s: entry (%d, %d) is %v and %v", what, i, j, a.At(i, j), b.At(i, j))
				}
			}
		}
	}
	for range 10 {
		n := 1 + rng.IntN(5)
		a := halfulp.NewMatrix(halfulp.Float64, n, n)
		for i := range n {
			for j := range i + 1 {
				x := float64(rng.IntN(5) - 2)
				a.SetFloat64(i, j, x)
				a.SetFloat64(j, i, x)
			}
		}
		square := mul(a, a) // positive semidefinite; its root is |A|
		near("root of the square", call(eigen.Sqrt, square, f), call(eigen.Abs, a, f), 280)
		near("square of the root", mul(call(eigen.Sqrt, square, f), call(eigen.Sqrt, square, f)), square, 280)
		near("A sign(A)", mul(a, call(eigen.Sign, a, f)), call(eigen.Abs, a, f), 280)
		positive := call(eigen.Positive, a, f)
		for i := range n {
			for j := range n {
				v := new(big.Float).SetPrec(300).Add(a.Big(i, j), call(eigen.Abs, a, f).Big(i, j))
				d := v.Sub(v.SetMantExp(v, -1), positive.Big(i, j))
				if d.Sign() != 0 && d.MantExp(nil) > -280 {
					t.Fatalf("positive part: entry (%d, %d)\n%v", i, j, a)
				}
			}
		}
		e, err := linsolve.Expm(a, halfulp.Float64, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := call(eigen.Exp, a, halfulp.Float64); !got.Same(e) {
			t.Fatalf("exp\n%v\nwant\n%v", got, e)
		}
		near("log of exp", call(eigen.Log, call(eigen.Exp, a, f), f), a, 270)
		shifted := call(eigen.Exp, a, f)
		r := call(eigen.InvSqrt, shifted, f)
		near("inverse root", mul(mul(r, shifted), r), halfulp.Identity(halfulp.Float64, n), 260)
	}
}

// TestSignOfCluster has eigenvalues -2^-e, 2^-e/2 and 2^-e 2, which are one cluster until
// enclosures have many more bits than results. A = Q diag(3/4, ...) Q with the reflector Q = I - v
// vᵀ/2, v = (1, 1, 1, 1), so sign(A) = I - 2 q qᵀ with the second column q of Q.
func TestSignOfCluster(t *testing.T) {
	const bits = 4000
	q := func(i, k int) float64 {
		if i == k {
			return 0.5
		}
		return -0.5
	}
	for _, e := range []int{390, 1640} {
		power := func(x float64) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(x), -e) }
		d := []*big.Float{big.NewFloat(0.75), power(-1), power(0.5), power(2)}
		a := halfulp.NewMatrix(halfulp.MP(bits), 4, 4)
		want, positive := halfulp.NewMatrix(halfulp.Float64, 4, 4), halfulp.NewMatrix(halfulp.MP(53), 4, 4)
		for i := range 4 {
			for j := range 4 {
				sum, part := new(big.Float).SetPrec(bits), new(big.Float).SetPrec(bits)
				for k := range 4 {
					x := new(big.Float).SetPrec(bits).Mul(d[k], big.NewFloat(q(i, k)*q(j, k)))
					if sum.Add(sum, x); k != 1 {
						part.Add(part, x)
					}
				}
				a.SetBig(i, j, sum)
				positive.SetBig(i, j, part)
				want.SetFloat64(i, j, -2*q(i, 1)*q(j, 1))
			}
			want.SetFloat64(i, i, want.Float64(i, i)+1)
		}
		var st halfulp.Stats
		z, err := eigen.SymFunc(eigen.Sign, a, halfulp.Float64, &halfulp.Options{Stats: &st})
		if err != nil || !z.Same(want) || st.Undecided != 0 {
			t.Errorf("e = %d: %v, %d undecided\n%v\nwant\n%v", e, err, st.Undecided, z, want)
		}
		if z, err := eigen.SymFunc(eigen.Positive, a, halfulp.MP(53), nil); err != nil || !z.Same(positive) {
			t.Errorf("e = %d, positive part: %v\n%v\nwant\n%v", e, err, z, positive)
		}
	}
}

func TestSymFuncErrors(t *testing.T) {
	a := gallery.Hilbert(halfulp.Float64, 3)
	a.SetFloat64(0, 0, -1)
	for _, f := range []eigen.Function{eigen.Sqrt, eigen.InvSqrt, eigen.Log} {
		if _, err := eigen.SymFunc(f, a, halfulp.Float64, nil); !errors.Is(err, eigen.ErrDomain) {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	zero := halfulp.NewMatrix(halfulp.Float64, 3, 3)
	for _, f := range []eigen.Function{eigen.InvSqrt, eigen.Log} {
		if _, err := eigen.SymFunc(f, zero, halfulp.Float64, nil); !errors.Is(err, eigen.ErrDomain) {
			t.Errorf("%s of 0: %v", f.Name, err)
		}
	}
	if z, err := eigen.SymFunc(eigen.Sqrt, zero, halfulp.Float64, nil); err != nil || !z.Same(zero) {
		t.Errorf("root of 0: %v, %v", z, err)
	}
	a.SetFloat64(0, 0, 1<<40)
	if _, err := eigen.SymFunc(eigen.Exp, a, halfulp.Float64, nil); !errors.Is(err, linsolve.ErrRange) {
		t.Errorf("exp: %v", err)
	}
}

// TestFunctionOverflow counts the entries of functions that are beyond the range of the format.
func TestFunctionOverflow(t *testing.T) {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1000, 1}, {1, 1000}})
	var st halfulp.Stats
	z, err := eigen.SymFunc(eigen.Exp, a, halfulp.Float64, &halfulp.Options{Stats: &st})
	if err != nil || !z.At(0, 1).IsInf(1) || st.Overflow != 4 {
		t.Error(z, err, st.Overflow)
	}
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{-1e300, 0}, {0, 1}})
	_, h, err := eigen.Polar(b, halfulp.Float32, &halfulp.Options{Stats: &st})
	if err != nil || !h.At(0, 0).IsInf(1) || st.Overflow != 1 {
		t.Error(h, err, st.Overflow)
	}
}

// TestFunctionBlocks checks that the limit of small entries is a limit of each block, and that
// entries between blocks and entries of zero blocks are known to be 0.
func TestFunctionBlocks(t *testing.T) {
	f := halfulp.Float64
	for _, c := range []struct {
		function eigen.Function
		a, want  [][]float64
	}{
		{eigen.Exp, [][]float64{{-1e5, 0, 0}, {0, 1, 0}, {0, 0, 700}}, [][]float64{{0, 0, 0}, {0, math.E, 0}, {0, 0, 1.0142320547350045e304}}},
		{eigen.Sqrt, [][]float64{{0, 0, 0}, {0, 0x1p-1000, 0}, {0, 0, 0x1p1000}}, [][]float64{{0, 0, 0}, {0, 0x1p-500, 0}, {0, 0, 0x1p500}}},
		{eigen.Sqrt, [][]float64{{5, 0, 4}, {0, 0, 0}, {4, 0, 5}}, [][]float64{{2, 0, 1}, {0, 0, 0}, {1, 0, 2}}},
		{eigen.Positive, [][]float64{{-2, 1, 0}, {1, -2, 0}, {0, 0, 0x1p-400}}, [][]float64{{0, 0, 0}, {0, 0, 0}, {0, 0, 0x1p-400}}},
	} {
		var st halfulp.Stats
		z, err := eigen.SymFunc(c.function, halfulp.FromRows(f, c.a), f, &halfulp.Options{Stats: &st})
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range c.want {
			for j, x := range row {
				if got, _ := z.Big(i, j).Float64(); got != x {
					t.Errorf("%s of\n%v\nis\n%v", c.function.Name, c.a, z)
				}
			}
		}
		if st.Proof.Undecided != 0 {
			t.Errorf("%s of %v: %d undecided", c.function.Name, c.a, st.Proof.Undecided)
		}
	}
	a := halfulp.FromRows(f, [][]float64{{0, 0x1p-500, 0}, {-0x1p500, 0, 0}, {0, 0, 0}})
	var st halfulp.Stats
	u, h, err := eigen.Polar(a, f, &halfulp.Options{Stats: &st})
	if err != nil || st.Proof.Undecided != 0 {
		t.Errorf("%v, %d undecided", err, st.Proof.Undecided)
	}
	if u.String() != " 0 1 0\n-1 0 0\n 0 0 0" || h.Big(1, 1).Cmp(big.NewFloat(0x1p-500)) != 0 {
		t.Errorf("%v\n%v", u, h)
	}
}
