package direct

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
)

// TestFew compares Scale, Update and Combine with exact sums in pages: exponents alike and far
// apart, sums that cancel wholly or but for a bit, ties, results at the ends of the range, zeros of
// both signs, infinities and NaN, strides.
func TestFew(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	formats := []num.Format{{Kind: num.F64}, {Kind: num.F32}, {Kind: num.MP, Prec: 2}, {Kind: num.MP, Prec: 64}, {Kind: num.MP, Prec: 106}, {Kind: num.MP, Prec: 424}, {Kind: num.DD}, {Kind: num.QD}}
	const n = 40
	work := Work{Context: context.Background(), Threads: 1}
	buf := make([]uint64, 3*num.MaxValueWords)
	var acc Acc
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
	for trial := range 4000 {
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

// TestTwo adds integers at all distances of their bits.
func TestTwo(t *testing.T) {
	var a, pages Acc
	for _, words := range [][2]int{{1, 1}, {1, 3}, {4, 2}, {7, 7}} {
		for d := int64(-64*fewWords - 3); d <= 64*fewWords+3; d += 1 + d&6 {
			for signs := range 4 {
				u := num.Real{Class: num.Finite, Neg: signs&1 != 0, Exp: 5, Mag: make([]uint64, words[0])}
				v := num.Real{Class: num.Finite, Neg: signs&2 != 0, Exp: 5 + d, Mag: make([]uint64, words[1])}
				for i := range u.Mag {
					u.Mag[i] = math.MaxUint64
				}
				for i := range v.Mag {
					v.Mag[i] = math.MaxUint64
				}
				s, ok := a.two(u, v)
				if !ok {
					if d > -64*fewWords && d < 64*fewWords {
						t.Fatalf("distance %d: none", d)
					}
					continue
				}
				pages.Reset()
				pages.Add(u)
				pages.Add(v)
				s.Neg = !s.Neg
				if s.Class == num.Finite {
					pages.Add(s)
				}
				if z := pages.Exact(); z.Class != num.Zero {
					t.Fatalf("words %v distance %d signs %d: off by %v", words, d, signs, z)
				}
			}
		}
	}
}
