package halfulp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
)

// substitute solves T x = b for a lower triangle T, with finite numbers other than 0 on the
// diagonal, by the definition of Trsm, in the format of b.
func substitute(t, b *Matrix, alpha Scalar) *Matrix {
	return substituteTo(b.NumberFormat(), t, b, alpha)
}

func substituteTo(f Format, t, b *Matrix, alpha Scalar) *Matrix {
	x := NewMatrix(f, b.Rows(), b.Cols())
	al := termOf(alpha.value())
	for j := range b.Cols() {
		for i := range b.Rows() {
			ts := []term{al.times(termAt(b.m.Col(j), i))}
			for h := range i {
				u := termAt(t.m.Row(i), h).times(termAt(x.m.Col(j), h))
				u.neg = !u.neg
				ts = append(ts, u)
			}
			n, d := total(ts), termAt(t.m.Row(i), i)
			if n.Class != num.Finite {
				x.Set(i, j, roundTo(f, num.Real{Class: n.Class, Neg: n.Neg != d.neg}))
				continue
			}
			above, below := termOf(n), d.n
			if above.neg != d.neg {
				above.n.Neg(above.n)
			}
			x.Set(i, j, quotient(f, above.n, below, above.exp-d.exp))
		}
	}
	return x
}

// TestTrsmBlocks solves systems of several blocks, in all orientations, with the bits of the
// definition.
func TestTrsmBlocks(t *testing.T) {
	trials(t, 24, func(r *rand.Rand) error {
		n, cols := 33+r.IntN(120), 1+r.IntN(3)
		fa, fb := pickFormat(r), pickFormat(r)
		fam := families[r.IntN(5)]
		a := NewMatrix(fa, n, n)
		b := drawMatrix(r, fb, n, cols, fam)
		for j := range n {
			for i := range n {
				if i < j {
					a.Set(i, j, NaN(fa))
					continue
				}
				fam.draw(r, a.m.Arr, a.m.At(i, j))
				if i == j {
					a.m.Arr.Set(a.m.At(i, i), randomReal(r, min(fa.Bits(), 1+r.IntN(100)), 6))
				}
			}
		}
		alpha := []Scalar{Float(1), Float(-0.375), drawScalar(r, pickFormat(r), families[0])}[r.IntN(3)]
		if alpha.isZero() {
			alpha = Float(1)
		}
		want := substitute(a, b, alpha)
		what := fmt.Sprintf("%s %dx%d %v %v", fam.name, n, cols, fa, fb)
		// With rows and columns in reverse order, the same system has an upper triangle.
		back := NewMatrix(fa, n, n)
		for j := range n {
			for i := range n {
				back.Set(n-1-i, n-1-j, a.At(i, j))
			}
		}
		reversed := func(m *Matrix) *Matrix {
			z := NewMatrix(m.NumberFormat(), n, m.Cols())
			for j := range m.Cols() {
				for i := range n {
					z.Set(n-1-i, j, m.At(i, j))
				}
			}
			return z
		}
		opt := pickOptions(r)
		opt.MemoryLimit = []int64{0, 1, 1 << 16}[r.IntN(3)]
		opt.Method = []Method{AutoMethod, Direct}[r.IntN(2)]
		for name, solve := range map[string]func() (*Matrix, error){
			"L L N": func() (*Matrix, error) {
				x := b.Clone()
				return x, Trsm(Left, Lower, NoTrans, NonUnit, alpha, a, x, opt)
			},
			"L U T": func() (*Matrix, error) {
				x := b.Clone()
				return x, Trsm(Left, Upper, Trans, NonUnit, alpha, a.T(), x, opt)
			},
			"R L T": func() (*Matrix, error) {
				x := b.T().Clone()
				return x.T(), Trsm(Right, Lower, Trans, NonUnit, alpha, a, x, opt)
			},
			"L U N": func() (*Matrix, error) {
				x := reversed(b)
				err := Trsm(Left, Upper, NoTrans, NonUnit, alpha, back, x, opt)
				return reversed(x), err
			},
			"R U T": func() (*Matrix, error) {
				x := reversed(b).T().Clone()
				err := Trsm(Right, Upper, Trans, NonUnit, alpha, back, x, opt)
				return reversed(x.T()), err
			},
		} {
			got, err := solve()
			if err != nil {
				return fmt.Errorf("%s %s: %w", name, what, err)
			}
			for j := range cols {
				for i := range n {
					if err := sameScalar(fmt.Sprintf("Trsm %s entry (%d, %d) %s", name, i, j, what), got.At(i, j), want.At(i, j)); err != nil {
						return err
					}
				}
			}
		}
		if alpha.Same(Float(1)) {
			x := b.Col(0).Clone()
			if err := Trsv(Lower, NoTrans, NonUnit, a, x, &Options{Threads: opt.Threads}); err != nil {
				return err
			}
			if !x.Same(want.Col(0)) {
				return fmt.Errorf("Trsv %s: other bits than Trsm", what)
			}
		}
		return nil
	})
}

// TestTrsmTies solves systems whose quotients are midpoints of two numbers, or a little off.
func TestTrsmTies(t *testing.T) {
	trials(t, 40, func(r *rand.Rand) error {
		n := 128
		fb := testFormats[r.IntN(len(testFormats)-3)]
		p := fb.Bits()
		fa := MP(uint(3*p + 2400))
		a, b := NewMatrix(fa, n, n), NewMatrix(fb, n, 2)
		for i := range n {
			a.SetFloat64(i, i, 3)
			for j := range 2 {
				b.SetFloat64(i, j, 1)
			}
		}
		a.SetFloat64(0, 0, 1)
		// x_0 = 1 and x_i = (1 - t_i0) / 3 is a midpoint and a distance.
		for i := 1; i < n; i++ {
			m := new(big.Float).SetPrec(uint(3*p + 2300)).SetInt(num.ToInt(randomReal(r, p, 0).Mag))
			m.SetMantExp(m, -m.MantExp(nil))
			half := new(big.Float).SetMantExp(big.NewFloat(1), -p-1)
			m.Add(m, half)
			if r.IntN(2) == 0 {
				tiny := new(big.Float).SetMantExp(big.NewFloat(1-2*float64(r.IntN(2))), -p-[]int{2, 20, 64, 300, 1200, 28 + r.IntN(12), 28 + r.IntN(12)}[r.IntN(7)])
				m.Add(m, tiny)
			}
			m.Mul(m, big.NewFloat(3))
			a.SetBig(i, 0, m.Sub(big.NewFloat(1), m))
			if i >= 96 { // sums that cancel in the next product
				a.SetFloat64(i, 0, 0x1p40)
				a.SetBig(i, 64, m.Sub(m, big.NewFloat(0x1p40)))
			}
		}
		a.SetFloat64(64, 0, -2) // x_64 = 1
		want := substitute(a, b, Float(1))
		if err := Trsm(Left, Lower, NoTrans, NonUnit, Float(1), a, b, pickOptions(r)); err != nil {
			return err
		}
		for i := range n {
			if err := sameScalar(fmt.Sprintf("%v entry %d", fb, i), b.At(i, 1), want.At(i, 1)); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestTrsmGaps solves for expansions whose terms lie far apart.
func TestTrsmGaps(t *testing.T) {
	for _, f := range []Format{DD, TD, QD} {
		for _, e := range []int{-200, -600, -1010, -1060, -1070} {
			a, x := NewMatrix(Float64, 1, 1), NewMatrix(f, 1, 1)
			a.SetFloat64(0, 0, 3)
			one := new(big.Float).SetPrec(1200).SetInt64(1)
			x.SetBig(0, 0, one.Add(one, new(big.Float).SetMantExp(big.NewFloat(1), e)))
			want := x.Clone()
			if err := Trsm(Left, Upper, NoTrans, NonUnit, Float(3), a, x, nil); err != nil || !x.Same(want) {
				t.Errorf("%v: 3 (1 + 2^%d) / 3 = %s, error %v", f, e, dump(x.Col(0).v), err)
			}
		}
	}
}

// TestTrsmExact checks that ordinary quotients need no exact sums.
func TestTrsmExact(t *testing.T) {
	for _, f := range []Format{Float64, DD, QD, MP(300)} {
		n := 100
		a, b := randomMatrix(f, n, n, 3, 1), randomMatrix(f, n, 20, 3, 2)
		for i := range n {
			a.SetFloat64(i, i, 100+float64(i)/7)
		}
		x := b.Clone()
		var st Stats
		err := Trsm(Left, Lower, NoTrans, NonUnit, Float(1), a, x, &Options{Stats: &st})
		if err != nil {
			t.Fatal(err)
		}
		if st.Exact > int64(n*20/50) {
			t.Errorf("%v: %d of %d entries took exact sums", f, st.Exact, n*20)
		}
		// The error bound: |T x - b| <= u |D| |x|.
		u := math.Exp2(-float64(f.Bits())) * (1 + 0x1p-50)
		for j := range 20 {
			for i := range n {
				sum := new(big.Float).SetPrec(6000).Neg(b.Big(i, j))
				for h := range i + 1 {
					sum.Add(sum, new(big.Float).SetPrec(6000).Mul(a.Big(i, h), x.Big(h, j)))
				}
				bound := new(big.Float).SetPrec(100).Mul(a.Big(i, i), x.Big(i, j))
				bound.Mul(bound, big.NewFloat(u))
				if sum.Abs(sum).Cmp(bound.Abs(bound)) > 0 {
					t.Fatalf("%v entry (%d, %d): residual %g, bound %g", f, i, j, sum, bound)
				}
			}
		}
	}
}

// TestTrsmSpecial solves systems with zeros on the diagonal and with infinities, which spread to
// later rows, and systems whose right-hand sides underflow on the way.
func TestTrsmSpecial(t *testing.T) {
	n := 70
	a, b := NewMatrix(Float64, n, n), NewMatrix(Float64, n, 3)
	for i := range n {
		a.SetFloat64(i, i, 2)
		a.SetFloat64(i, 0, 1)
		b.SetFloat64(i, 0, math.Copysign(0, -1))
		b.SetFloat64(i, 1, 4)
		b.SetFloat64(i, 2, 6)
	}
	a.SetFloat64(0, 0, 0)
	x := b.Clone()
	if err := Trsm(Left, Lower, NoTrans, NonUnit, Float(1), a, x, nil); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range 3 {
			got := x.Float64(i, j)
			want := math.NaN() // -0/0, and below 0 times infinity
			switch {
			case i == 0 && j > 0:
				want = math.Inf(1)
			case i == 1 && j > 0:
				want = math.Inf(-1)
			}
			if got != want && (got == got || want == want) {
				t.Errorf("entry (%d, %d): %v, want %v", i, j, got, want)
			}
		}
	}
	a.SetFloat64(0, 0, -1) // then finite
	a.SetFloat64(50, 50, math.Inf(-1))
	x = b.Clone()
	if err := Trsm(Left, Lower, NoTrans, NonUnit, Float(1), a, x, nil); err != nil {
		t.Fatal(err)
	}
	a.SetFloat64(50, 50, 1)
	want := substitute(a, b, Float(1))
	for j := range 3 { // later rows have 0 in column 50
		if want.Set(50, j, Float(math.Copysign(0, -want.Float64(50, j)))); want.Float64(50, j) != 0 {
			t.Fatal("no zero")
		}
	}
	if !x.Same(want) {
		t.Error("zeros: other bits than the definition")
	}
	// Products far below the range of the format of the sums.
	f := MP(60)
	least, err := ParseScalar(f, "0x1p-2147483600")
	if err != nil {
		t.Fatal(err)
	}
	random := randomMatrix(f, n, n+2, 1, 3)
	tiny := random.Clone()
	for j := range n + 2 {
		if err := Scal(least, tiny.Col(j), nil); err != nil {
			t.Fatal(err)
		}
	}
	s, y := tiny.Slice(0, n, 0, n), tiny.Slice(0, n, n, n+2)
	for i := range n {
		s.Set(i, i, least)
	}
	z := y.Clone()
	if err := Trsm(Left, Lower, NoTrans, NonUnit, least, s, z, nil); err != nil {
		t.Fatal(err)
	}
	if want := substitute(s, y, least); !z.Same(want) {
		t.Error("tiny numbers: other bits than the definition")
	}
}

// TestSolveAliases solves with B within A, and with x a row of A.
func TestSolveAliases(t *testing.T) {
	trials(t, 40, func(r *rand.Rand) error {
		n, f := 2+r.IntN(50), pickFormat(r)
		a := drawMatrix(r, f, n, n, families[0])
		for i := range n {
			a.SetFloat64(i, i, 8)
		}
		b, x := a.Slice(0, n, n/2, n), a.Row(r.IntN(n)).Stride(-1)
		if r.IntN(2) == 0 {
			b = a
		}
		before := a.Clone()
		u, v := b.Clone(), x.Clone()
		if err := errors.Join(Trsm(Left, Upper, Trans, NonUnit, Float(2), a, b, nil), Trsm(Left, Upper, Trans, NonUnit, Float(2), before, u, nil)); err != nil {
			return err
		}
		if !b.Same(u) {
			return fmt.Errorf("Trsm n = %d %v: other bits than for copies", n, f)
		}
		for j := range n {
			for i := range n {
				a.Set(i, j, before.At(i, j))
			}
		}
		if err := errors.Join(Trsv(Lower, NoTrans, Unit, a, x, nil), Trsv(Lower, NoTrans, Unit, before, v, nil)); err != nil {
			return err
		}
		if !x.Same(v) {
			return fmt.Errorf("Trsv n = %d %v: other bits than for copies", n, f)
		}
		return nil
	})
}

func TestSolveErrors(t *testing.T) {
	n := 200
	a, b := Identity(Float64, n), randomMatrix(Float64, n, 4, 3, 1)
	b0 := b.Clone()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		opt  *Options
		want error
	}{
		{&Options{Context: ctx}, context.Canceled},
		{&Options{Device: noGPU}, ErrDevice},
		{&Options{Method: "none"}, ErrMethod},
	} {
		if err := Trsm(Left, Lower, NoTrans, Unit, Float(1), a, b, c.opt); !errors.Is(err, c.want) {
			t.Errorf("Trsm: error %v, want %v", err, c.want)
		}
		if err := Trsv(Lower, NoTrans, Unit, a, b.Col(0), c.opt); !errors.Is(err, c.want) {
			t.Errorf("Trsv: error %v, want %v", err, c.want)
		}
	}
	if err := Trsv(Lower, NoTrans, Unit, a, b.Col(0), &Options{Method: "residue"}); !errors.Is(err, ErrMethod) {
		t.Errorf("Trsv by residue: error %v", err)
	}
	// A context that ends on the way.
	ctx, cancel = context.WithCancel(context.Background())
	done := 0.0
	err := Trsm(Left, Lower, NoTrans, Unit, Float(1), a, b, &Options{Context: ctx, Progress: func(d float64) {
		if d < done || d > 1 {
			t.Errorf("progress falls from %v to %v", done, d)
		}
		if done = d; d > 0.4 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled on the way: error %v", err)
	}
	if !b.Same(b0) {
		t.Error("a solve that failed changed B")
	}
	if err := Trsm(Left, Lower, NoTrans, Unit, Float(0), a, b, nil); err != nil || !b.Same(NewMatrix(Float64, n, 4)) {
		t.Errorf("alpha = 0: error %v", err)
	}
	for name, f := range map[string]func(){
		"side":  func() { Trsm('X', Lower, NoTrans, Unit, Float(1), a, b, nil) },
		"uplo":  func() { Trsm(Left, 'X', NoTrans, Unit, Float(1), a, b, nil) },
		"t":     func() { Trsm(Left, Lower, 'X', Unit, Float(1), a, b, nil) },
		"diag":  func() { Trsm(Left, Lower, NoTrans, 'X', Float(1), a, b, nil) },
		"shape": func() { Trsm(Right, Lower, NoTrans, Unit, Float(1), a, b, nil) },
		"A":     func() { Trsm(Left, Lower, NoTrans, Unit, Float(1), b, b, nil) },
		"x":     func() { Trsv(Lower, NoTrans, Unit, a, NewVector(Float64, 3), nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
