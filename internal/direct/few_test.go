package direct

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestFew compares Scale, Update and Combine with exact sums in pages: exponents alike and far
// apart, sums that cancel wholly or but for a bit, ties, results at the ends of the range, zeros of
// both signs, infinities and NaN, strides.
func TestFew(t *testing.T) {
	r := testseed.Rand(t, 41, 42)
	formats := []num.Format{{Kind: num.F64}, {Kind: num.F32}, {Kind: num.MP, Prec: 2}, {Kind: num.MP, Prec: 64}, {Kind: num.MP, Prec: 106}, {Kind: num.MP, Prec: 424}, {Kind: num.DD}, {Kind: num.QD}}
	const n = 40
	work := Work{Run: par.Run{Ctx: context.Background(), Threads: 1}}
	buf := make([]uint64, 3*num.MaxValueWords)
	var acc superacc.Acc
	random := func(f num.Format, kind int) *num.Array {
		a := num.New(f, 2*n)
		for i := range 2 * n {
			e := int64(r.IntN(8)) - 70
			switch {
			case kind == 1:
				e = int64(r.IntN(2100)) - 1140
			case kind == 2 && f.Kind == num.MP:
				e = int64(r.IntN(20000)) - 10000
			case kind == 3:
				e = int64(r.IntN(4)) - 1090 + int64(r.IntN(2))*300
			case kind == 4:
				e = 950 - int64(r.IntN(600))
			}
			v := num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Exp: e, Mag: []uint64{r.Uint64()}}
			if r.IntN(2) == 0 { // few bits make ties and cancel
				v.Mag[0] = uint64(r.IntN(4)) + 1<<uint(r.IntN(60))
			}
			if r.IntN(20) == 0 {
				v.Class = num.Class(r.IntN(4))
			}
			if v.Class == num.NaN {
				v.Neg = false
			}
			a.Set(i, v)
		}
		return a
	}
	for trial := range testlength.Trials(4000) {
		pick := func() num.Format { return formats[r.IntN(len(formats))] }
		fx, fy, fz := pick(), pick(), pick()
		if trial%2 == 0 {
			fy, fz = fx, fx
		}
		kind := r.IntN(5)
		xa, ya := random(fx, kind), random(fy, kind)
		scalars := random(pick(), kind)
		alpha, beta := scalars.Value(0, buf[:num.MaxValueWords]), scalars.Value(1, buf[num.MaxValueWords:])
		if r.IntN(3) == 0 {
			alpha = num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Mag: one[:]}
		}
		x, y := num.Vec{Arr: xa, Inc: 1, N: n}, num.Vec{Arr: ya, Inc: 2, N: n}
		for i := range n {
			if fx == fy && r.IntN(3) == 0 { // alpha x + y may cancel
				ya.CopyFrom(2*i, xa, i)
				ya.Negate(2 * i)
			}
		}
		got, want := num.New(fz, n), num.New(fz, n)
		var flags, wantFlags [2]int
		count := func(f num.Flags) { flags[0]++; flags[1] += int(f) }
		compare := func(name string, entry func(i int)) {
			for i := range n {
				acc.Reset()
				entry(i)
				if f := want.Set(i, acc.Value(fz)); f != 0 {
					wantFlags[0]++
					wantFlags[1] += int(f)
				}
				if !got.SameBits(i, want, i) {
					t.Fatalf("trial %d: %s of %v, %v to %v: number %d is %v, want %v; alpha %v beta %v x %v y %v", trial, name, fx, fy, fz, i,
						got.Value(i, room()), want.Value(i, room()), alpha, beta, xa.Value(i, room()), ya.Value(2*i, room()))
				}
			}
			if flags != wantFlags {
				t.Fatalf("trial %d: %s of %v, %v to %v: flags %v, want %v", trial, name, fx, fy, fz, flags, wantFlags)
			}
		}
		xi := func(i int) num.Real { return xa.Value(i, room()) }
		yi := func(i int) num.Real { return ya.Value(2*i, room()) }
		if alpha.Class != num.Zero {
			if err := Scale(work, alpha, x, got, count); err != nil {
				t.Fatal(err)
			}
			compare("Scale", func(i int) { acc.AddProduct(alpha, xi(i)) })
			factors := num.Vec{Arr: scalars, Off: 2, Inc: 1, N: 1}
			if err := Update(work, alpha, x, factors, y.Mat(), got, count); err != nil {
				t.Fatal(err)
			}
			compare("Update", func(i int) {
				acc.AddProduct3(alpha, xi(i), scalars.Value(2, room()))
				acc.Add(yi(i))
			})
		}
		if err := Combine(work, alpha, x, beta, y, got, count); err != nil {
			t.Fatal(err)
		}
		compare("Combine", func(i int) {
			acc.AddProduct(alpha, xi(i))
			acc.AddProduct(beta, yi(i))
		})
	}
}

func room() []uint64 { return make([]uint64, num.MaxValueWords) }

// TestPairs compares updates, multiples and combinations of double-doubles with those that are
// rounded from their exact values: numbers at random, short ones, those that cancel, results close
// to halfway between two others, terms with gaps and near the ends of the exponents.
func TestPairs(t *testing.T) {
	r := testseed.Rand(t, 11, 1)
	w := Work{Run: par.Run{Ctx: context.Background(), Threads: 1}}
	no := func(num.Flags) {}
	var buf [4][num.MaxValueWords]uint64
	number := func(a *num.Array, i, family int) {
		h := math.Ldexp(float64(r.Uint64()>>11), -53+r.IntN(4))
		l := math.Ldexp(float64(r.Uint64()>>11), -53-53-r.IntN(3))
		switch family {
		case 0:
			l = 0
		case 1:
			h, l = float64(r.IntN(100)), 0
		case 2:
			l = math.Ldexp(l, -r.IntN(900))
		case 3:
			h, l = math.Ldexp(h, r.IntN(2000)-1000), math.Ldexp(l, r.IntN(2000)-1000)
		case 4:
			h, l = 1+math.Ldexp(1, -r.IntN(53)), math.Ldexp(1, -53-r.IntN(80))
		case 5:
			h, l = []float64{0, math.Inf(1), math.NaN(), math.Copysign(0, -1)}[r.IntN(4)], 0
		}
		if r.IntN(2) == 0 {
			h = -h
		}
		if r.IntN(2) == 0 {
			l = -l
		}
		test := &num.Array{Format: num.DDouble}
		test.F64[0], test.F64[1] = []float64{h}, []float64{l}
		a.Set(i, test.Value(0, buf[3][:]))
	}
	decided, all := 0, 0
	for trial := range testlength.Trials(3000) {
		const n = 20
		x, y, s := num.New(num.DDouble, n), num.New(num.DDouble, n), num.New(num.DDouble, 2)
		fx, fy := r.IntN(12), r.IntN(12)
		number(s, 0, r.IntN(10))
		number(s, 1, r.IntN(10))
		a, b := s.Value(0, buf[0][:]), s.Value(1, buf[1][:])
		if a.Class == num.Zero {
			a = realOne
		}
		if trial%3 == 0 {
			b = realOne
		}
		if trial%4 == 1 {
			a, b = realOne, realOne
		}
		for i := range n {
			number(x, i, fx)
			number(y, i, fy)
			if trial%4 == 1 { // half an ulp of the first or the second term, but for a last bit
				h := 1 + float64(r.IntN(8))*0x1p-52
				l, half := 0.0, 0x1p-53
				if r.IntN(2) == 0 {
					l, half = float64(float64(1+r.IntN(7))*0x1p-106+0x1p-54), 0x1p-107
				}
				x.F64[0][i], x.F64[1][i] = h, l
				y.F64[0][i], y.F64[1][i] = half, float64(r.IntN(3)-1)*math.Ldexp(half, -54-r.IntN(100))
			}
			if trial%4 == 0 && a.Class == num.Finite { // a x + y is nearly a number, or halfway
				v := x.Value(i, buf[2][:])
				if v.Class == num.Finite {
					z := num.New(num.DDouble, 1)
					number(z, 0, 6)
					p := newDyadic(a).times(newDyadic(v))
					target := newDyadic(z.Value(0, buf[3][:]))
					ulp := dyadic{big.NewInt(int64(r.IntN(3))), p.top() - int64(50+r.IntN(120))}
					y.Set(i, target.plus(ulp, math.MaxInt32).plus(p.negated(), math.MaxInt32).real())
				}
			}
		}
		X, Y := num.Vec{Arr: x, Inc: 1, N: n}, num.Vec{Arr: y, Inc: 1, N: n}
		unity := num.Vec{Arr: num.New(num.Float64, 1), Inc: 1, N: 1}
		unity.Arr.F64[0][0] = 1
		got := [3]*num.Array{num.New(num.DDouble, n), num.New(num.DDouble, n), num.New(num.DDouble, n)}
		for k, err := range []error{
			Update(w, a, X, unity, Y.Mat(), got[0], no),
			Scale(w, a, X, got[1], no),
			Combine(w, a, X, b, Y, got[2], no),
		} {
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				var acc superacc.Acc
				u := x.Value(i, buf[2][:])
				acc.AddProduct(a, u)
				switch v := y.Value(i, buf[3][:]); k {
				case 0:
					acc.Add(v)
				case 2:
					acc.AddProduct(b, v)
				}
				want := num.New(num.DDouble, 1)
				want.Set(0, acc.Value(num.DDouble))
				if !got[k].SameBits(i, want, 0) {
					t.Fatalf("trial %d, operation %d: a = %v, b = %v, x = %x %x, y = %x %x: %x %x, want %x %x", trial, k, a, b,
						x.F64[0][i], x.F64[1][i], y.F64[0][i], y.F64[1][i], got[k].F64[0][i], got[k].F64[1][i], want.F64[0][0], want.F64[1][0])
				}
			}
		}
		for i := range n {
			if c := newPairs(newFactor(a, realOne), x, newFactor(b, realOne), y, got[0]); c != nil {
				all++
				if c.set(i, i, i) {
					decided++
				}
			}
		}
	}
	if decided < all/3 {
		t.Fatalf("%d of %d decided", decided, all)
	}
	t.Logf("%d of %d decided", decided, all)
}
