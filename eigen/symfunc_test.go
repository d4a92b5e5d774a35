package eigen_test

import (
	"errors"
	"fmt"
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
