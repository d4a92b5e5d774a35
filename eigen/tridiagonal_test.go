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

// characteristic returns det(x I - T).
func characteristic(d, e *halfulp.Vector) rationals {
	before, p := rationals{}, rationals{big.NewRat(1, 1)}
	for k := range d.Len() {
		a, _ := d.Big(k).Rat(nil)
		b := new(big.Rat)
		if k > 0 {
			b, _ = e.Big(k - 1).Rat(nil)
			b.Mul(b, b)
		}
		next := make(rationals, len(p)+1)
		for i := range next {
			next[i] = new(big.Rat)
			if i > 0 {
				next[i].Set(p[i-1])
			}
			if i < len(p) {
				next[i].Sub(next[i], new(big.Rat).Mul(a, p[i]))
			}
			if i < len(before) {
				next[i].Sub(next[i], new(big.Rat).Mul(b, before[i]))
			}
		}
		before, p = p, next
	}
	return p
}

func tridiagonal(t *testing.T, d, e *halfulp.Vector, f halfulp.Format) *halfulp.Vector {
	t.Helper()
	z, err := eigen.Tridiagonal(d, e, f, nil)
	if err != nil {
		t.Fatalf("%v, %v: %v", d, e, err)
	}
	return z
}

func TestTridiagonalRandom(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 3))
	for trial := range testlength.Of(150, 300, 20000) {
		n := 1 + r.IntN(7)
		number := func() float64 {
			switch r.IntN(4) {
			case 0:
				return float64(r.IntN(7) - 3)
			case 1:
				return r.NormFloat64()
			case 2:
				return math.Ldexp(float64(r.IntN(1000)-500), r.IntN(20)-10)
			}
			return math.Ldexp(r.NormFloat64(), r.IntN(100)-50)
		}
		if trial%10 == 0 { // integers alone: eigenvalues that are integers or ties are frequent
			number = func() float64 { return float64(r.IntN(5) - 2) }
		}
		d, e := halfulp.NewVector(halfulp.Float64, n), halfulp.NewVector(halfulp.Float64, n-1)
		for i := range n {
			d.SetFloat64(i, number())
			if i > 0 {
				e.SetFloat64(i-1, number())
			}
		}
		z := tridiagonal(t, d, e, formats[r.IntN(len(formats))])
		checkAgainst(t, characteristic(d, e), z)
		if t.Failed() {
			t.Fatalf("d = %v, e = %v", d, e)
		}
	}
}

// TestTridiagonalKnown has matrices with close eigenvalues, ties, exact values and large spreads.
func TestTridiagonalKnown(t *testing.T) {
	// Wilkinson's W21+ and its larger kin: pairs of eigenvalues that agree in most bits.
	for _, n := range []int{11, 21, 41} {
		d, e := halfulp.NewVector(halfulp.Float64, n), halfulp.NewVector(halfulp.Float64, n-1)
		for i := range n {
			d.SetFloat64(i, math.Abs(float64(i-n/2)))
			if i > 0 {
				e.SetFloat64(i-1, 1)
			}
		}
		lower := tridiagonal(t, d, e, halfulp.MP(400))
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(300)} {
			z := tridiagonal(t, d, e, f)
			if n < 41 {
				checkAgainst(t, characteristic(d, e), z)
			}
			for i := range n {
				if !z.At(i).Same(lower.At(i).Convert(f)) {
					t.Errorf("W%d, %v: eigenvalue %d", n, f, i)
				}
			}
		}
	}
	// The second difference: 2 - 2 cos(k π/(n+1)); 1, 2 and 3 are eigenvalues of order 5.
	d, e := floats(2, 2, 2, 2, 2), floats(-1, -1, -1, -1)
	for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.QD, halfulp.MP(100)} {
		z := tridiagonal(t, d, e, f)
		for i, want := range map[int]float64{1: 1, 2: 2, 3: 3} {
			if z.Float64(i) != want || !z.At(i).Same(halfulp.NewScalar(f, big.NewFloat(want))) {
				t.Errorf("%v: eigenvalue %d is %v", f, i, z.At(i))
			}
		}
	}
	// A tie: the eigenvalues of [a b; b a] are a ± b.
	const tie = 1 << 24
	z := tridiagonal(t, floats(tie, tie), floats(1), halfulp.Float32)
	if z.Float64(0) != tie-1 || z.Float64(1) != tie {
		t.Errorf("tie: %v", z)
	}
	var st halfulp.Stats
	if _, err := eigen.Tridiagonal(floats(tie, tie), floats(1), halfulp.Float32, &halfulp.Options{Stats: &st}); err != nil || st.Exact != 1 {
		t.Errorf("tie: %v, %d exact", err, st.Exact)
	}
	// An eigenvalue that is 0 and a graded matrix.
	checkAgainst(t, characteristic(floats(1, 1), floats(1)), tridiagonal(t, floats(1, 1), floats(1), halfulp.Float64))
	d, e = floats(1, 1e-100, 1e-200, 1e-300), floats(1e-50, 1e-150, 1e-250)
	for _, f := range formats {
		checkAgainst(t, characteristic(d, e), tridiagonal(t, d, e, f))
	}
	d, e = floats(0, 0, 0), floats(1e300, 1e-300)
	for _, f := range formats[1:] { // Float32 overflows
		checkAgainst(t, characteristic(d, e), tridiagonal(t, d, e, f))
	}
	// Order 0 and 1, blocks, exponents of MP.
	if z := tridiagonal(t, floats(), floats(), halfulp.Float64); z.Len() != 0 {
		t.Errorf("order 0: %v", z)
	}
	if z := tridiagonal(t, floats(3, -1, 0), floats(0, 0), halfulp.Float64); z.Float64(0) != -1 || z.Float64(1) != 0 || z.Float64(2) != 3 {
		t.Errorf("diagonal: %v", z)
	}
	far := halfulp.NewVector(halfulp.MP(60), 2)
	far.SetBig(0, new(big.Float).SetMantExp(big.NewFloat(1), 1<<30))
	far.SetBig(1, new(big.Float).SetMantExp(big.NewFloat(1), 1<<30))
	off := far.Slice(0, 1)
	w := tridiagonal(t, far, off, halfulp.MP(60))
	if w.Big(0).Sign() != 0 || w.Big(1).Cmp(new(big.Float).SetMantExp(big.NewFloat(2), 1<<30)) != 0 {
		t.Errorf("exponents near the limit: %v", w)
	}
	if z := tridiagonal(t, far, off, halfulp.Float64); !z.At(1).IsInf(1) {
		t.Errorf("overflow: %v", z)
	}
}

func TestTridiagonalErrors(t *testing.T) {
	for _, v := range [][2]*halfulp.Vector{{floats(1, math.NaN()), floats(1)}, {floats(1, 1), floats(math.Inf(-1))}} {
		if _, err := eigen.Tridiagonal(v[0], v[1], halfulp.Float64, nil); !errors.Is(err, linsolve.ErrNotFinite) {
			t.Errorf("%v: %v", v, err)
		}
	}
	far := halfulp.NewVector(halfulp.MP(60), 2)
	far.SetBig(0, new(big.Float).SetMantExp(big.NewFloat(1), 1<<30))
	if _, err := eigen.Tridiagonal(far, floats(1), halfulp.Float64, nil); !errors.Is(err, linsolve.ErrRange) {
		t.Errorf("far exponents: %v", err)
	}
	near := halfulp.NewVector(halfulp.MP(60), 2)
	near.SetBig(0, new(big.Float).SetMantExp(big.NewFloat(1), 1<<27))
	if _, err := eigen.Tridiagonal(near, floats(1), halfulp.Float64, &halfulp.Options{MemoryLimit: 1 << 20}); !errors.Is(err, halfulp.ErrMemory) {
		t.Errorf("memory: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := eigen.Tridiagonal(floats(1, 2), floats(1), halfulp.Float64, &halfulp.Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	_, _ = eigen.Tridiagonal(floats(1), floats(1), halfulp.Float64, nil)
}
