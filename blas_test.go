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
	"github.com/halfulp/halfulp/internal/testseed"
)

func pickFamily(r *rand.Rand) family { return families[r.IntN(len(families))] }

func pickLength(r *rand.Rand) int {
	return []int{0, 1, 2, 3, 5, 17, 64, 100 + r.IntN(200)}[r.IntN(8)]
}

var threadCounts = []int{1, 2, 5}

func pickOptions(r *rand.Rand) *Options { return &Options{Threads: threadCounts[r.IntN(3)]} }

func sameScalar(what string, got, want Scalar) error {
	if !got.Same(want) {
		return fmt.Errorf("%s: got %s want %s", what, dump(num.Vec{Arr: got.array(), Inc: 1, N: 1}), dump(num.Vec{Arr: want.array(), Inc: 1, N: 1}))
	}
	return nil
}

func TestReductions(t *testing.T) {
	trials(t, 6000, func(r *rand.Rand) error {
		fam, n, f := pickFamily(r), pickLength(r), pickFormat(r)
		x := drawVector(r, pickFormat(r), n, fam)
		y := drawVector(r, pickFormat(r), n, pickFamily(r))
		if r.IntN(3) == 0 {
			y = drawVector(r, x.NumberFormat(), n, fam)
		}
		opt := pickOptions(r)
		var sum, asum, dot, squares []term
		for i := range n {
			u, v := termAt(x.v, i), termAt(y.v, i)
			sum = append(sum, u)
			dot = append(dot, u.times(v))
			squares = append(squares, u.times(u))
			u.neg = false
			asum = append(asum, u)
		}
		what := fmt.Sprintf("%s n=%d to %v, x=%s y=%s", fam.name, n, f, dump(x.v), dump(y.v))
		s, err := Sum(x, f, opt)
		if err != nil {
			return err
		}
		if err := sameScalar("Sum "+what, s, roundTo(f, total(sum))); err != nil {
			return err
		}
		s, _ = Asum(x, f, opt)
		if err := sameScalar("Asum "+what, s, roundTo(f, total(asum))); err != nil {
			return err
		}
		s, _ = Dot(x, y, f, opt)
		if err := sameScalar("Dot "+what, s, roundTo(f, total(dot))); err != nil {
			return err
		}
		s, _ = Nrm2(x, f, opt)
		q := total(squares)
		want := roundTo(f, q)
		switch q.Class {
		case num.Finite:
			want = wantRoot(f, termOf(q).n, q.Exp, big.NewInt(1))
		case num.Zero:
			want = roundTo(f, num.Real{})
		}
		return sameScalar("Nrm2 "+what, s, want)
	})
}

// quotient returns RN(a/b 2^exp) for b > 0.
func quotient(f Format, a, b *big.Int, exp int64) Scalar {
	shift := 9000 + b.BitLen() + f.Bits()
	n := new(big.Int).Lsh(a, uint(shift))
	n, rest := n.QuoRem(n, b, new(big.Int))
	v := realOf(n, exp-int64(shift))
	v.Neg = a.Sign() < 0
	v.Sticky = rest.Sign() != 0
	return roundTo(f, v)
}

func TestVectorUpdates(t *testing.T) {
	trials(t, 2500, func(r *rand.Rand) error {
		n := pickLength(r)
		fam := pickFamily(r)
		x := drawVector(r, pickFormat(r), n, fam)
		y := drawVector(r, pickFormat(r), n, pickFamily(r))
		switch r.IntN(4) {
		case 0:
			y = drawVector(r, x.NumberFormat(), n, fam)
		case 1: // overlap
			z := drawVector(r, x.NumberFormat(), n+2, fam)
			x, y = z.Slice(0, n), z.Slice(2, n+2)
			if r.IntN(2) == 0 {
				x = y.Stride(-1)
			}
		}
		alpha := drawScalar(r, pickFormat(r), pickFamily(r))
		opt := pickOptions(r)
		a := termOf(alpha.value())
		what := fmt.Sprintf("%s n=%d alpha=%s x=%s y=%s", fam.name, n, dump(num.Vec{Arr: alpha.array(), Inc: 1, N: 1}), dump(x.v), dump(y.v))
		var wantY, wantX []Scalar
		for i := range n {
			u, v := termAt(x.v, i), termAt(y.v, i)
			if a.class == num.Zero {
				wantY = append(wantY, y.At(i))
				wantX = append(wantX, roundTo(x.NumberFormat(), num.Real{}))
				continue
			}
			wantY = append(wantY, roundTo(y.NumberFormat(), total([]term{a.times(u), v})))
			wantX = append(wantX, roundTo(x.NumberFormat(), total([]term{a.times(u)})))
		}
		xs := x.Clone()
		if err := Scal(alpha, xs, opt); err != nil {
			return err
		}
		for i := range n {
			if err := sameScalar(fmt.Sprintf("Scal %d %s", i, what), xs.At(i), wantX[i]); err != nil {
				return err
			}
		}
		if err := Axpy(alpha, x, y, opt); err != nil {
			return err
		}
		for i := range n {
			if err := sameScalar(fmt.Sprintf("Axpy %d %s", i, what), y.At(i), wantY[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestGemvGer(t *testing.T) {
	trials(t, 1500, func(r *rand.Rand) error {
		m, n := []int{0, 1, 2, 7, 30}[r.IntN(5)], []int{0, 1, 3, 8, 40}[r.IntN(5)]
		fam := pickFamily(r)
		fa := pickFormat(r)
		a := drawMatrix(r, fa, m, n, fam)
		fx, fy := pickFormat(r), pickFormat(r)
		famX := pickFamily(r)
		if r.IntN(2) == 0 {
			fx, fy, famX = fa, fa, fam
		}
		x, y := drawVector(r, fx, n, famX), drawVector(r, fy, m, famX)
		alpha, beta := drawScalar(r, pickFormat(r), pickFamily(r)), drawScalar(r, pickFormat(r), pickFamily(r))
		if r.IntN(2) == 0 {
			alpha, beta = Float(1), Float(0)
		}
		opt := pickOptions(r)
		u, v := termOf(alpha.value()), termOf(beta.value())
		what := fmt.Sprintf("%s/%s %dx%d %v %v %v alpha=%s beta=%s", fam.name, famX.name, m, n, fa, fx, fy,
			dump(num.Vec{Arr: alpha.array(), Inc: 1, N: 1}), dump(num.Vec{Arr: beta.array(), Inc: 1, N: 1}))
		ger := a.Clone()
		if err := Ger(alpha, y, x, ger, opt); err != nil {
			return err
		}
		want := make([]Scalar, m)
		for i := range m {
			var ts []term
			for j := range n {
				aij := termAt(a.m.Row(i), j)
				if u.class != num.Zero {
					ts = append(ts, u.times(aij).times(termAt(x.v, j)))
				}
				w := a.At(i, j)
				if u.class != num.Zero {
					w = roundTo(fa, total([]term{u.times(termAt(y.v, i)).times(termAt(x.v, j)), aij}))
				}
				if err := sameScalar(fmt.Sprintf("Ger %d %d %s", i, j, what), ger.At(i, j), w); err != nil {
					return err
				}
			}
			if v.class != num.Zero {
				ts = append(ts, v.times(termAt(y.v, i)))
			}
			want[i] = roundTo(fy, total(ts))
		}
		b, tr := a, NoTrans
		if r.IntN(2) == 0 {
			b, tr = a.T(), []Transpose{Trans, ConjTrans}[r.IntN(2)]
		}
		if err := Gemv(tr, alpha, b, x, beta, y, opt); err != nil {
			return err
		}
		for i := range m {
			if err := sameScalar(fmt.Sprintf("Gemv %c row %d %s A=%s x=%s", tr, i, what, dump(a.m.Row(i)), dump(x.v)), y.At(i), want[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// In TestGemvAliased, y is a row of A, and x is y or a column of A.
func TestGemvAliased(t *testing.T) {
	trials(t, 200, func(r *rand.Rand) error {
		n, f := 1+r.IntN(12), pickFormat(r)
		a := drawMatrix(r, f, n, n, families[0])
		y := a.Row(r.IntN(n))
		x := y
		if r.IntN(2) == 0 {
			x = a.Col(r.IntN(n))
		}
		b, u, v := a.Clone(), x.Clone(), y.Clone()
		if err := Gemv(Trans, Float(3), b, u, Float(-2), v, nil); err != nil {
			return err
		}
		if err := Gemv(Trans, Float(3), a, x, Float(-2), y, nil); err != nil {
			return err
		}
		if !y.Same(v) {
			return fmt.Errorf("n=%d %v: got %s want %s", n, f, dump(y.v), dump(v.v))
		}
		return nil
	})
}

func TestIamax(t *testing.T) {
	trials(t, 2000, func(r *rand.Rand) error {
		fam, n := pickFamily(r), pickLength(r)
		x := drawVector(r, pickFormat(r), n, fam)
		want := -1
		var best term
		for i := range n {
			u := termAt(x.v, i)
			u.neg = true // u > best is u - best < 0 here
			larger := want < 0
			switch {
			case larger:
			case u.class != best.class:
				larger = u.class > best.class
			case u.class == num.Finite:
				b := best
				b.neg = false
				d := total([]term{u, b})
				larger = d.Class == num.Finite && d.Neg
			}
			if larger {
				want, best = i, u
			}
		}
		got, err := Iamax(x, pickOptions(r))
		if err != nil || got != want {
			return fmt.Errorf("%s: got %d %v, want %d: %s", fam.name, got, err, want, dump(x.v))
		}
		return nil
	})
}

// MP numbers reach 2^±(2^31); their sums must take little memory.
func TestWildExponents(t *testing.T) {
	f := MP(64)
	mp := func(neg bool, e int64) num.Real {
		return num.Real{Class: num.Finite, Neg: neg, Exp: e, Mag: []uint64{1}}
	}
	vec := func(rs ...num.Real) *Vector {
		x := NewVector(f, len(rs))
		for i, v := range rs {
			x.v.Arr.Set(i, v)
		}
		return x
	}
	const top, low = int64(1<<31 - 2), int64(-1 << 31)
	half := top - 64 // half an ulp of 2^top
	for _, c := range []struct {
		x    []num.Real
		want num.Real
	}{
		{[]num.Real{mp(false, top), mp(false, 0)}, mp(false, top)},
		{[]num.Real{mp(false, top), mp(false, half)}, mp(false, top)}, // tie to even
		{[]num.Real{mp(false, top), mp(false, half), mp(false, low)}, num.Real{Class: num.Finite, Exp: top - 63, Mag: []uint64{1<<63 + 1}}},
		{[]num.Real{mp(false, top), mp(false, half), mp(true, low)}, mp(false, top)},
		{[]num.Real{mp(false, top), mp(true, top), mp(false, 5)}, mp(false, 5)},
		{[]num.Real{mp(false, top), mp(true, top), mp(true, low)}, mp(true, low)},
		{[]num.Real{mp(false, top), mp(true, 0)}, mp(false, top)},
		{[]num.Real{mp(false, low), mp(true, low)}, num.Real{}},
	} {
		x := vec(c.x...)
		got, err := Sum(x, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameScalar("Sum "+dump(x.v), got, roundTo(f, c.want)); err != nil {
			t.Error(err)
		}
		ones := NewVector(Float64, len(c.x))
		for i := range len(c.x) {
			ones.SetFloat64(i, 1)
		}
		got, _ = Dot(ones, x, f, nil)
		if err := sameScalar("Dot "+dump(x.v), got, roundTo(f, c.want)); err != nil {
			t.Error(err)
		}
		y := vec(num.Real{})
		if err := Gemv(Trans, Float(1), x.Matrix(), ones, Float(0), y, nil); err != nil {
			t.Fatal(err)
		}
		if err := sameScalar("Gemv "+dump(x.v), y.At(0), roundTo(f, c.want)); err != nil {
			t.Error(err)
		}
	}
	if got, _ := Nrm2(vec(mp(true, top), mp(false, low)), f, nil); !got.Same(roundTo(f, mp(false, top))) {
		t.Errorf("Nrm2 of wild exponents: %s", dump(num.Vec{Arr: got.array(), Inc: 1, N: 1}))
	}
	var s Stats
	got, _ := Dot(vec(mp(false, top)), vec(mp(true, top)), f, &Options{Stats: &s})
	if !got.IsInf(-1) || s.Overflow != 1 {
		t.Errorf("product of huge numbers: %s, overflows %d", dump(num.Vec{Arr: got.array(), Inc: 1, N: 1}), s.Overflow)
	}
	// Many far exponents.
	r := testseed.Rand(t, 1, 2)
	x := NewVector(f, 20000)
	for i := range x.v.N - 1 {
		x.v.Arr.Set(i, mp(sign(r), r.Int64N(1<<32-100)-1<<31))
	}
	x.v.Arr.Set(x.v.N-1, mp(false, top))
	if got, _ := Sum(x, MP(2), nil); got.Big().MantExp(nil) < int(top)-1 {
		t.Errorf("sum of wild exponents: 2^%d", got.Big().MantExp(nil))
	}
}

func TestThreadsAgree(t *testing.T) {
	r := testseed.Rand(t, 7, 7)
	for _, f := range []Format{Float32, Float64, DD, MP(106), MP(300)} {
		for _, fam := range []family{families[0], families[2]} {
			x, y := drawVector(r, f, 70000, fam), drawVector(r, f, 70000, fam)
			var first [4]Scalar
			for k, threads := range threadCounts {
				var got [4]Scalar
				opt := &Options{Threads: threads}
				got[0], _ = Sum(x, f, opt)
				got[1], _ = Dot(x, y, f, opt)
				got[2], _ = Asum(x, f, opt)
				got[3], _ = Nrm2(x, f, opt)
				for i := range got {
					if k > 0 && !got[i].Same(first[i]) {
						t.Errorf("%v %s: reduction %d differs with %d threads", f, fam.name, i, threads)
					}
				}
				first = got
			}
		}
	}
}

func TestRoutineErrors(t *testing.T) {
	x := NewVector(Float64, 3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		opt  *Options
		want error
	}{
		{&Options{Context: ctx}, context.Canceled},
		{&Options{Device: noGPU}, ErrDevice},
		{&Options{Method: "residue"}, ErrMethod},
	} {
		_, e1 := Sum(x, Float64, c.opt)
		_, e2 := Nrm2(x, Float64, c.opt)
		_, e3 := Iamax(x, c.opt)
		e4 := Axpy(Float(1), x, x, c.opt)
		e5 := Scal(Float(2), x, c.opt)
		e6 := Ger(Float(2), x, x, NewMatrix(Float64, 3, 3), c.opt)
		e7 := Gemv(NoTrans, Float(2), NewMatrix(Float64, 3, 3), x, Float(0), x, c.opt)
		for i, err := range []error{e1, e2, e3, e4, e5, e6, e7} {
			if !errors.Is(err, c.want) {
				t.Errorf("routine %d: error %v, want %v", i, err, c.want)
			}
		}
	}
	for i, f := range []func(){
		func() { Dot(x, NewVector(Float64, 2), Float64, nil) },
		func() { Axpy(Float(1), x, NewVector(Float64, 2), nil) },
		func() { Ger(Float(1), x, x, NewMatrix(Float64, 2, 3), nil) },
		func() { Gemv(Trans, Float(1), NewMatrix(Float64, 2, 3), x, Float(0), x, nil) },
		func() { Gemv('X', Float(1), NewMatrix(Float64, 3, 3), x, Float(0), x, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("misuse %d did not panic", i)
				}
			}()
			f()
		}()
	}
}

func TestStatsCount(t *testing.T) {
	x := NewVectorFloat64(2, 1, []float64{math.MaxFloat64, math.MaxFloat64})
	var s Stats
	_, _ = Sum(x, Float64, &Options{Stats: &s})
	if s.Overflow != 1 || s.Method != "direct" || s.Device != "cpu" {
		t.Errorf("overflow: %+v", s)
	}
	y := NewVectorFloat64(2, 1, []float64{0x1p-1060, 3})
	_ = Scal(Float(0x1.8p-14), y, &Options{Stats: &s})
	if s.Underflow != 1 {
		t.Errorf("underflow: %+v", s)
	}
	z := NewVectorFloat64(2, 1, []float64{0, 1})
	_ = Axpy(Float(0x1.8p-14), NewVectorFloat64(2, 1, []float64{0x1p-1060, 3}), z, &Options{Stats: &s})
	if s.Underflow != 1 || z.Float64(1) != 1+float64(3*0x1.8p-14) {
		t.Errorf("underflow: %+v", s)
	}
}

func TestVec(t *testing.T) {
	m := randomMatrix(MP(70), 5, 7, 3, 1)
	for _, x := range []*Matrix{m, m.T(), m.Slice(1, 4, 2, 6), m.Slice(1, 4, 2, 6).T(), m.Slice(2, 3, 0, 7), m.Slice(0, 5, 3, 4),
		m.Slice(2, 3, 0, 7).T(), m.Slice(0, 0, 0, 7), m.Slice(0, 5, 2, 2)} {
		v := x.Vec()
		if v.Len() != x.Rows()*x.Cols() {
			t.Fatalf("%d x %d: length %d", x.Rows(), x.Cols(), v.Len())
		}
		for j := range x.Cols() {
			for i := range x.Rows() {
				if !v.At(i + j*x.Rows()).Same(x.At(i, j)) {
					t.Fatalf("%d x %d: entry (%d, %d) differs", x.Rows(), x.Cols(), i, j)
				}
			}
		}
	}
	m.Vec().SetFloat64(3, 42)
	if m.Float64(3, 0) != 42 {
		t.Error("Vec of a whole matrix is no view")
	}
}

func TestManyThreads(t *testing.T) {
	a := randomMatrix(Float64, 60, 60, 0, 1)
	c := NewMatrix(Float64, 60, 60)
	for _, method := range []Method{Residue, Direct, AutoMethod} {
		if err := Gemm(NoTrans, NoTrans, Float(1), a, a, Float(0), c, &Options{Threads: math.MaxInt, Method: method}); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
}
