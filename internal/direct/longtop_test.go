package direct

import (
	"context"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestPortableProducts compares scalar products and matrix-vector products of long numbers without
// assembly with exact ones: words of ones, zeros, exponents far apart, and sums that nearly cancel.
func TestPortableProducts(t *testing.T) {
	defer isa.Force(isa.Portable)()
	r := testseed.Rand(t, 61, 62)
	w := Work{Run: par.Run{Ctx: context.Background(), Threads: 1}}
	decided, trials := 0, 0
	for trial := range testlength.Trials(400) {
		f := num.Format{Kind: num.MP, Prec: []uint32{106, 448, 500, 848, 1696, 53, 64}[trial%7]}
		l, n := f.Limbs(), fewProducts+r.IntN(8)
		x, y := num.New(f, 4*n), num.New(f, n)
		for _, a := range []*num.Array{x, y} {
			for i := range a.Cls {
				m := make([]uint64, l)
				for k := range m {
					if m[k] = r.Uint64(); trial%3 == 0 {
						m[k] = math.MaxUint64
					}
				}
				v := num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Exp: int64(r.IntN(20)), Mag: m}
				if trial%4 == 0 {
					v.Exp = int64(r.IntN(5000))
				}
				if r.IntN(20) == 0 {
					v.Class = num.Zero
				}
				a.Set(i, v)
			}
		}
		if trial%2 == 0 { // products that cancel but for some bits
			for i := 0; i+1 < n; i += 2 {
				y.CopyFrom(i+1, y, i)
				for row := range 4 {
					x.CopyFrom(row+4*(i+1), x, row+4*i)
					x.Negate(row + 4*(i+1))
				}
			}
		}
		m := num.Mat{Arr: x, Rows: 4, Cols: n, RS: 1, CS: 4}
		if trial%3 == 1 {
			m.RS, m.CS = n, 1
		}
		v := num.Vec{Arr: y, Inc: 1, N: n}
		out := num.Format{Kind: num.MP, Prec: []uint32{f.Prec, 60}[r.IntN(2)]}
		z, want := num.New(out, 4), num.New(out, 1)
		exact, err := Gemv(w, realOne, m, v, num.Real{}, num.Vec{}, z, func(num.Flags) {})
		if err != nil {
			t.Fatal(err)
		}
		trials += 4
		decided += 4 - int(exact)
		for i := range 4 {
			var a superacc.Acc
			a.AddDot(m.Row(i), v)
			want.Set(0, a.Value(out))
			dot := num.New(out, 1)
			if _, _, err := Dot.Round(w, m.Row(i), v, dot); err != nil {
				t.Fatal(err)
			}
			if !z.SameBits(i, want, 0) || !dot.SameBits(0, want, 0) {
				t.Fatalf("trial %d, %v to %v: %v and %v, want %v", trial, f, out, z.Value(i, nil), dot.Value(0, nil), want.Value(0, nil))
			}
		}
	}
	if decided < trials/4 {
		t.Errorf("only %d of %d without the exact sum", decided, trials)
	}
}

// TestTopRows compares sums of products in rows with exact ones: they differ by less than the
// plan's bound for each product.
func TestTopRows(t *testing.T) {
	r := testseed.Rand(t, 63, 64)
	for trial := range testlength.Trials(2000) {
		l, n := 1+r.IntN(12), 1+r.IntN(20)
		rows, sum := newTopRows(l), make([]uint64, l+1)
		want, unit := new(big.Int), uint(64*l) // in units of sum, times 2^-(128 l)
		for range 1 + trial%2 {                // rows are zeros again after a sum
			for range n {
				a, x := make([]uint64, l), make([]uint64, l)
				for k := range l {
					if a[k], x[k] = r.Uint64(), r.Uint64(); r.IntN(3) == 0 {
						a[k], x[k] = math.MaxUint64, math.MaxUint64
					}
				}
				d, sign := uint64(r.IntN(64*l)), uint8(r.IntN(4))
				if r.IntN(2) == 0 {
					d = uint64(r.IntN(4)) // so that rows take several
				}
				rows.add(a, x, d, sign)
				p := new(big.Int).Mul(num.ToInt(a), num.ToInt(x))
				p.Lsh(p, unit).Rsh(p, uint(d))
				if sign&1 != 0 {
					p.Neg(p)
				}
				want.Add(want, p)
			}
			rows.fold(sum)
		}
		got, neg := append([]uint64(nil), sum...), int64(sum[l]) < 0
		if neg {
			num.Negate(got)
		}
		z := num.ToInt(got)
		if neg {
			z.Neg(z)
		}
		z.Lsh(z, 2*unit)
		bound := new(big.Int).Lsh(big.NewInt(int64(n*(1+trial%2)*(2*l+3))), 2*unit)
		if d := z.Sub(z, want); d.CmpAbs(bound) > 0 {
			t.Fatalf("trial %d: %d words, %d products: off by %v units", trial, l, n, d.Rsh(d, 2*unit))
		}
	}
}

// TestDotTop1 compares sums of products of one word with sums of products of two words, of which
// the lower one is 0.
func TestDotTop1(t *testing.T) {
	r := testseed.Rand(t, 65, 66)
	for trial := range testlength.Trials(2000) {
		n := 1 + r.IntN(12)
		a, x, a2, x2 := make([]uint64, n), make([]uint64, n), make([]uint64, 2*n), make([]uint64, 2*n)
		ae, xe, ac, xc := make([]int32, n), make([]int32, n), make([]uint8, n), make([]uint8, n)
		for i := range n {
			if a[i], x[i] = r.Uint64(), r.Uint64(); r.IntN(3) == 0 {
				a[i], x[i] = math.MaxUint64, math.MaxUint64
			}
			a2[2*i+1], x2[2*i+1] = a[i], x[i]
			ae[i], xe[i] = int32(r.IntN(110)), int32(r.IntN(110))
			ac[i], xc[i] = uint8(r.IntN(4)), uint8(2+r.IntN(2))
		}
		got, want := []uint64{1, 2, 3, 4}, []uint64{1, 2, 3, 4}
		dotTop1(got, 218, a, ae, ac, x, xe, xc)
		dotTop2(want, 218, a2, ae, ac, x2, xe, xc)
		if !slices.Equal(got, want) {
			t.Fatalf("trial %d: %#x, want %#x: %#x %v %v x %#x %v %v", trial, got, want, a, ae, ac, x, xe, xc)
		}
	}
}

// TestAddTop compares sums of the highest words of products with sums of integers.
func TestAddTop(t *testing.T) {
	r := testseed.Rand(t, 67, 68)
	for trial := range testlength.Trials(3000) {
		n := 2 + r.IntN(7)
		if trial%3 == 0 {
			n = 4
		}
		a, x, p := make([]uint64, n), make([]uint64, n), make([]uint64, n+2)
		word := func() uint64 { return []uint64{0, 1, math.MaxUint64, r.Uint64()}[r.IntN(4)] }
		for k := range n {
			a[k], x[k], p[k] = word(), word(), word()
			if trial%5 == 0 && k > 0 { // as large as can be
				a[k], x[k] = math.MaxUint64, math.MaxUint64
			}
		}
		want := num.ToInt(p)
		for i, v := range a {
			for j := n - 1 - i; j < n; j++ {
				h, l := bits.Mul64(v, x[j])
				if i+j < n {
					l = 0
				}
				for k, w := range []uint64{l, h} {
					if at := i + j - n + k; w != 0 {
						want.Add(want, new(big.Int).Lsh(new(big.Int).SetUint64(w), uint(64*at)))
					}
				}
			}
		}
		addTop(p, a, x)
		if got := num.ToInt(p); got.Cmp(want) != 0 {
			t.Fatalf("trial %d, %d words: %#x, want %#x: %#x x %#x", trial, n, got, want, a, x)
		}
	}
}
