package direct

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// linearNumbers returns numbers of similar size, spread widely, short, special, near the ends of
// the exponent range, or numbers with multiples that are halfway between two others.
func linearNumbers(r *rand.Rand, f num.Format, n, family int) *num.Array {
	a := num.New(f, n)
	buf := make([]uint64, f.Limbs()+1)
	for i := range n {
		v := num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Mag: buf}
		clear(buf)
		for k := range buf {
			switch r.IntN(8) {
			case 0:
			case 1:
				buf[k] = 1<<64 - 1
			default:
				buf[k] = r.Uint64()
			}
		}
		switch family % 8 {
		case 1:
			v.Exp = int64(r.IntN(3*int(f.Prec)+100)) - int64(f.Prec)
		case 2: // integers of a few bits
			clear(buf)
			buf[0] = uint64(r.IntN(64))
		case 3:
			v.Class = num.Class(r.IntN(4))
		case 4:
			v.Exp = math.MaxInt32 - int64(64*len(buf)) - int64(r.IntN(4))
		case 5:
			v.Exp = math.MinInt32 - int64(64*len(buf)) + int64(r.IntN(4))
		case 6: // ones behind the first bits
			for k := range buf {
				buf[k] = -uint64(r.IntN(2))
			}
		case 7: // halves of small numbers' last places
			v.Exp = -int64(r.IntN(3))
			clear(buf)
			buf[0] = 1 | uint64(r.IntN(8))<<1
			buf[len(buf)-1] = uint64(r.IntN(3)) << 20
		}
		if v.Class == num.Finite && num.IsZero(v.Mag) {
			v.Class = num.Zero
		}
		a.Set(i, v)
	}
	return a
}

// TestLinear compares updates, multiples and combinations in lanes with the same operations on
// single numbers.
func TestLinear(t *testing.T) {
	no := func(num.Flags) {}
	w := Work{Run: par.Run{Ctx: context.Background(), Threads: 2}}
	lanes.EachUnit(func(name string) {
		r := testseed.Rand(t, 5, 5)
		for trial := range testlength.Trials(2000) {
			format := func() num.Format {
				return num.Format{Kind: num.MP, Prec: uint32(2 + r.IntN(1+r.IntN(1000)))}
			}
			fx, fy, fz := format(), format(), format()
			if r.IntN(2) == 0 {
				fy, fz = fx, fx
			}
			m, n := 1+r.IntN(100), 1+r.IntN(3)
			x, c := linearNumbers(r, fx, m, r.IntN(8)), linearNumbers(r, fy, m*n, r.IntN(8))
			fa := format()
			if r.IntN(2) == 0 {
				fa = num.Float64
			}
			s := num.New(fa, n+2)
			for i := range n + 2 {
				v := num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Mag: []uint64{r.Uint64()}}
				switch r.IntN(5) {
				case 0:
					v.Mag[0] = 1
				case 1:
					v.Mag[0] &= 15
				case 2:
					v.Class = num.Class(r.IntN(4))
				case 3:
					if i == 0 {
						v.Mag = []uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
					}
				}
				s.Set(i, v)
			}
			if trial%3 == 0 { // what cancels but for the last places
				for i := range min(m, c.Len()) {
					c.Convert(i, x, i)
					c.Cls[i] ^= num.Cls(r.IntN(2))
					if c.Cls[i].Class() == num.NaN {
						c.Cls[i] = num.MakeCls(false, num.NaN)
					}
					if l := fy.Limbs(); r.IntN(2) == 0 && fy.Prec > 64 {
						c.Sig[i*l+r.IntN(l)] ^= 1 << 63 >> r.IntN(3) &^ (1 << 63 * uint64(1/l))
						c.Sig[i*l+l-1] |= 1 << 63
						c.Sig[i*l] &^= 1<<(64*uint(l)-uint(fy.Prec)) - 1
					}
				}
			}
			var buf [3][num.MaxValueWords]uint64
			a, b := s.Value(n, buf[0][:]), s.Value(n+1, buf[1][:])
			if a.Class == num.Zero {
				a = realOne
			}
			X, Y, C := num.Vec{Arr: x, Inc: 1, N: m}, num.Vec{Arr: s, Inc: 1, N: n}, num.Mat{Arr: c, Rows: m, Cols: n, RS: 1, CS: m}
			do := []func(z *num.Array) error{
				func(z *num.Array) error { return Update(w, a, X, Y, C, z, no) },
				func(z *num.Array) error { return Scale(w, a, X, z, no) },
				func(z *num.Array) error {
					return Combine(w, a, X, b, num.Vec{Arr: c, Inc: 1, N: m}, z, no)
				},
			}
			for k, f := range do {
				size := m
				if k == 0 {
					size *= n
				}
				got, want := num.New(fz, size), num.New(fz, size)
				if err := f(got); err != nil {
					t.Fatal(err)
				}
				lanes.WithoutUnit(func() {
					if err := f(want); err != nil {
						t.Fatal(err)
					}
				})
				for i := range size {
					if !got.SameBits(i, want, i) {
						l := fz.Limbs()
						t.Fatalf("%s, trial %d, operation %d, %v %v to %v: number %d is %x %d %d, want %x %d %d", name, trial, k, fx, fy, fz, i,
							got.Sig[i*l:(i+1)*l], got.Exp[i], got.Cls[i], want.Sig[i*l:(i+1)*l], want.Exp[i], want.Cls[i])
					}
				}
			}
		}
	})
}

// TestLinearHalfway adds up numbers and multiplies them so that the results lie as close to halfway
// between two others as longer formats can tell: what is cut of the products decides.
func TestLinearHalfway(t *testing.T) {
	no := func(num.Flags) {}
	w := Work{Run: par.Run{Ctx: context.Background(), Threads: 1}}
	lanes.EachUnit(func(name string) {
		r := testseed.Rand(t, 7, 7)
		for trial := range testlength.Trials(1000) {
			fz := num.Format{Kind: num.MP, Prec: uint32(2 + r.IntN(1+r.IntN(1000)))}
			fx := num.Format{Kind: num.MP, Prec: uint32(2 + r.IntN(1+r.IntN(1000)))}
			long := num.Format{Kind: num.MP, Prec: fz.Prec + uint32(1+r.IntN(500))}
			fa := num.Format{Kind: num.MP, Prec: uint32(1 + 1<<r.IntN(10))}
			const n = 16
			x, y, v := linearNumbers(r, fx, n, 0), num.New(long, n), num.New(long, n)
			s := linearNumbers(r, fa, 2, 0)
			s.Cls[0], s.Cls[1] = 2|s.Cls[0]&1, 2|s.Cls[1]&1
			s.Sig[fa.Limbs()-1] |= 1 << 63
			s.Sig[2*fa.Limbs()-1] |= 1 << 63
			var buf [3][num.MaxValueWords]uint64
			a, b := s.Value(0, buf[0][:]), s.Value(1, buf[1][:])
			da, db := newDyadic(a), newDyadic(b)
			for i := range n {
				z := num.New(fz, 1)
				z.Set(0, linearNumbers(r, fz, 1, 0).Value(0, buf[2][:]))
				z.Sig[fz.Limbs()-1] |= 1 << 63
				z.Cls[0] = 2 | z.Cls[0]&1
				middle := newDyadic(z.Value(0, buf[2][:]))
				middle = middle.plus(dyadic{dyadicOne.n, int64(z.Exp[0]) - int64(fz.Prec) - 1}, math.MaxInt32)
				v.Set(i, quotient(long, middle, da, 0))
				rest := middle.plus(da.times(newDyadic(x.Value(i, buf[2][:]))).negated(), math.MaxInt32)
				y.Set(i, quotient(long, rest, db, 0))
			}
			X, Y := num.Vec{Arr: x, Inc: 1, N: n}, num.Vec{Arr: y, Inc: 1, N: n}
			for k, f := range []func(z *num.Array) error{
				func(z *num.Array) error { return Combine(w, a, X, b, Y, z, no) },
				func(z *num.Array) error { return Combine(w, b, Y, a, X, z, no) },
				func(z *num.Array) error { return Scale(w, a, num.Vec{Arr: v, Inc: 1, N: n}, z, no) },
			} {
				got, want := num.New(fz, n), num.New(fz, n)
				if err := f(got); err != nil {
					t.Fatal(err)
				}
				lanes.WithoutUnit(func() {
					if err := f(want); err != nil {
						t.Fatal(err)
					}
				})
				for i := range n {
					if !got.SameBits(i, want, i) {
						t.Fatalf("%s, trial %d, operation %d, %v and %v by %v to %v: number %d is %x, want %x", name, trial, k, fx, long, fa, fz, i, got.Sig, want.Sig)
					}
				}
			}
		}
	})
}
