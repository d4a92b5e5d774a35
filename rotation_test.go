package halfulp

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/halfulp/halfulp/internal/testseed"
)

// near reports whether x and y agree up to roundings, some of which 1 + q2/q1 may magnify.
func near(x, y float64) bool { return math.Abs(x-y) <= 0x1p-28*math.Max(math.Abs(x), math.Abs(y)) }

// TestRotgOfBLAS compares Rotg with another implementation of the BLAS, for its conventions.
func TestRotgOfBLAS(t *testing.T) {
	r := testseed.Rand(t, 3, 4)
	for k := range 2000 {
		a, b := r.NormFloat64(), r.NormFloat64()
		switch k % 8 {
		case 0:
			a = 0
		case 1:
			b = 0
		case 2:
			b = a
		case 3:
			b = -a
		}
		c, s, rho, z := gonum.Implementation{}.Drotg(a, b)
		g, err := Rotg(Float(a), Float(b), Float64, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !near(g.C.Float64(), c) || !near(g.S.Float64(), s) || !near(g.R.Float64(), rho) || !near(g.Z.Float64(), z) {
			t.Fatalf("Rotg(%v, %v) = %v, BLAS %v %v %v %v", a, b, g, c, s, rho, z)
		}
	}
}

// TestRotmgOfBLAS compares Rotmg with another implementation of the BLAS, for its conventions.
func TestRotmgOfBLAS(t *testing.T) {
	r := testseed.Rand(t, 5, 6)
	flags := map[RotmFlag]int{}
	for k := range 4000 {
		v := [4]float64{r.ExpFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		if k%3 == 0 {
			for i := range v {
				v[i] *= math.Exp2(float64(r.IntN(60) - 30))
			}
		}
		switch k % 10 {
		case 0:
			v[0] = -v[0]
		case 1:
			v[1+r.IntN(3)] = 0 // that implementation leaves out h22 = x1/y1 for d1 = 0
		}
		p, d1, d2, x1 := gonum.Implementation{}.Drotmg(v[0], v[1], v[2], v[3])
		g, err := Rotmg(Float(v[0]), Float(v[1]), Float(v[2]), Float(v[3]), Float64, nil)
		if err != nil {
			t.Fatal(err)
		}
		h := [4]float64{g.H11.Float64(), g.H21.Float64(), g.H12.Float64(), g.H22.Float64()}
		same := int(p.Flag) == int(g.Flag) && near(g.D1.Float64(), d1) && near(g.D2.Float64(), d2) && near(g.X1.Float64(), x1)
		for i := range h {
			same = same && near(h[i], p.H[i])
		}
		if !same {
			t.Fatalf("Rotmg(%v) = %v, BLAS %v %v %v %v", v, g, p, d1, d2, x1)
		}
		flags[g.Flag]++
	}
	if len(flags) != 4 {
		t.Errorf("flags met: %v", flags)
	}
}

// TestRotmgScaling takes scale factors to the bounds of their range. With x1 = 0 the new d1 is the
// old d2.
func TestRotmgScaling(t *testing.T) {
	for _, c := range []struct {
		d2   float64
		flag RotmFlag
		d1   float64
	}{
		{1, RotmDiagonal, 1},
		{0x1.8p-24, RotmDiagonal, 0x1.8p-24},
		{0x1.fffffffffffffp23, RotmDiagonal, 0x1.fffffffffffffp23},
		{0x1p-24, RotmRescaling, 1},
		{0x1p24, RotmRescaling, 1},
		{0x1.fffffffffffffp-25, RotmRescaling, 0x1.fffffffffffffp-1},
		{0x1p-25, RotmRescaling, 0x1p-1},
		{0x1p-48, RotmRescaling, 1},
		{0x1.8p-48, RotmRescaling, 0x1.8p-24},
		{0x1p48, RotmRescaling, 1},
		{0x1.8p47, RotmRescaling, 0x1.8p23},
		{0x1p-1074, RotmRescaling, 0x1p-18},
	} {
		g, err := Rotmg(Float(1), Float(c.d2), Float(0), Float(1), Float64, nil)
		if err != nil {
			t.Fatal(err)
		}
		if g.Flag != c.flag || g.D1.Float64() != c.d1 || g.D2.Float64() != 1 {
			t.Errorf("d2 = %x: flag %d, d1 %x, d2 %x, want %d, %x, 1", c.d2, g.Flag, g.D1.Float64(), g.D2.Float64(), c.flag, c.d1)
		}
		gamma := math.Sqrt(c.d2 / c.d1) // h12 = 1 before
		if h := g.H12.Float64(); c.flag == RotmRescaling && c.d2 > 0x1p-1000 && h != gamma || c.flag == RotmDiagonal && h != 0 {
			t.Errorf("d2 = %x: h12 %x, want %x", c.d2, h, gamma)
		}
	}
	// Exponents that need too many steps for a loop.
	f := MP(53)
	tiny, err := ParseScalar(f, "0x1p-2000000000")
	if err != nil {
		t.Fatal(err)
	}
	g, err := Rotmg(Float(1), tiny, Float(0), Float(1), f, nil)
	if err != nil || g.Flag != RotmRescaling || g.D1.Float64() != 0x1p-8 {
		t.Errorf("d2 = 2^-2000000000: %v, error %v", g, err)
	}
}

// TestRotmAnnihilates applies the results of Rotg and Rotmg to the vectors that they were computed
// for.
func TestRotmAnnihilates(t *testing.T) {
	for _, f := range []Format{Float64, DD, QD, MP(300)} {
		r := randomMatrix(f, 50, 4, 30, 9)
		small := math.Exp2(-float64(f.Bits()) + 3)
		for i := range r.Rows() {
			x, y := NewVector(f, 1), NewVector(f, 1)
			x.Set(0, r.At(i, 0))
			y.Set(0, r.At(i, 1))
			g, _ := Rotg(x.At(0), y.At(0), f, nil)
			if err := Rot(x, y, g.C, g.S, nil); err != nil {
				t.Fatal(err)
			}
			if math.Abs(y.Float64(0)) > small*math.Abs(g.R.Float64()) || math.Abs(x.Float64(0)/g.R.Float64()-1) > 0x1p-20 {
				t.Errorf("%v row %d: Rot makes (%v, %v), Rotg r = %v", f, i, x.At(0), y.At(0), g.R)
			}
			x.Set(0, r.At(i, 0))
			y.Set(0, r.At(i, 1))
			m, _ := Rotmg(Float(1), Float(0.75), x.At(0), y.At(0), f, nil)
			if err := Rotm(x, y, m.RotmParams, nil); err != nil {
				t.Fatal(err)
			}
			if math.Abs(y.Float64(0)) > 4*small*math.Abs(x.Float64(0)) || math.Abs(x.Float64(0)/m.X1.Float64()-1) > 0x1p-20 {
				t.Errorf("%v row %d: Rotm makes (%v, %v), Rotmg x1 = %v", f, i, x.At(0), y.At(0), m.X1)
			}
		}
	}
}

// TestPairsOverlap calls routines of two vectors with overlapping views: all entries are read
// before x and then y are written.
func TestPairsOverlap(t *testing.T) {
	c, s := Float(0.6), Float(-3)
	p := RotmParams{RotmRescaling, Float(2), Float(-1), Float(0.3), Float(5)}
	for name, f := range map[string]func(x, y *Vector) error{
		"Copy": func(x, y *Vector) error { return Copy(x, y, nil) },
		"Swap": func(x, y *Vector) error { return Swap(x, y, nil) },
		"Rot":  func(x, y *Vector) error { return Rot(x, y, c, s, nil) },
		"Rotm": func(x, y *Vector) error { return Rotm(x, y, p, nil) },
	} {
		for _, format := range []Format{Float32, DD, MP(90)} {
			z := randomMatrix(format, 12, 1, 3, 8).Col(0)
			want := z.Clone()
			x, y := z.Slice(0, 9), z.Slice(3, 12).Stride(-1)
			u, v := x.Clone(), y.Clone()
			if err := f(x, y); err != nil {
				t.Fatal(err)
			}
			if err := f(u, v); err != nil {
				t.Fatal(err)
			}
			if name != "Copy" {
				for i := range 9 {
					want.Set(i, u.At(i))
				}
			}
			for i := range 9 {
				want.Set(11-i, v.At(i))
			}
			if !z.Same(want) {
				t.Errorf("%s of overlapping vectors, %v: got %s want %s", name, format, dump(z.v), dump(want.v))
			}
		}
	}
}

// TestPairsErrors checks that both vectors are unchanged after an error of the options.
func TestPairsErrors(t *testing.T) {
	x, y := NewVectorFloat64(2, 1, []float64{1, 2}), NewVectorFloat64(2, 1, []float64{3, 4})
	x0, y0 := x.Clone(), y.Clone()
	one := Float(1)
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
		e1 := Copy(x, y, c.opt)
		e2 := Swap(x, y, c.opt)
		e3 := Rot(x, y, one, one, c.opt)
		e4 := Rotm(x, y, RotmParams{Flag: RotmRescaling}, c.opt)
		e5 := Rotm(x, y, RotmParams{Flag: RotmIdentity}, c.opt)
		_, e6 := Rotg(one, one, Float64, c.opt)
		_, e7 := Rotmg(one, one, one, one, Float64, c.opt)
		for i, err := range []error{e1, e2, e3, e4, e5, e6, e7} {
			if !errors.Is(err, c.want) {
				t.Errorf("routine %d: error %v, want %v", i, err, c.want)
			}
		}
	}
	if !x.Same(x0) || !y.Same(y0) {
		t.Error("a routine that failed changed a vector")
	}
	short := NewVector(Float64, 1)
	for i, f := range []func(){
		func() { Copy(x, short, nil) },
		func() { Swap(x, short, nil) },
		func() { Rot(x, short, one, one, nil) },
		func() { Rotm(x, short, RotmParams{Flag: RotmIdentity}, nil) },
		func() { Rotm(x, y, RotmParams{Flag: 2}, nil) },
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
