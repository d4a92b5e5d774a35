package direct

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
)

// TestWidestSpread sums numbers whose exponents differ by more than 2^31.
func TestWidestSpread(t *testing.T) {
	f := num.Format{Kind: num.MP, Prec: 64}
	x := num.New(f, 3)
	one := []uint64{1}
	top := num.Real{Class: num.Finite, Exp: math.MaxInt32 - 600, Mag: one}
	x.Set(0, top)
	for i := 1; i < 3; i++ {
		x.Set(i, num.Real{Class: num.Finite, Exp: math.MinInt32 + 600, Mag: one})
	}
	want, got := num.New(f, 1), num.New(f, 1)
	want.Set(0, top)
	v := num.Vec{Arr: x, Inc: 1, N: 3}
	for _, r := range []Reduction{Sum, Asum} {
		if _, _, err := r.Round(Work{Context: context.Background(), Threads: 1}, v, v, got); err != nil {
			t.Fatal(err)
		}
		if !got.SameBits(0, want, 0) {
			t.Errorf("reduction %d: the small numbers changed the sum", r)
		}
	}
}

// TestLongSums compares sums of many MP numbers with integers of math/big: exponents of every
// spread that one window takes, long carries, sums that cancel but for their last bit, zeros, and
// vectors read backwards. One accumulator sums all, so that what one leaves behind spoils another.
func TestLongSums(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	var acc Acc
	// Sums of these words carry from their low halves to their high ones and from word to word.
	carries := []uint64{math.MaxUint64, 1 << 32, math.MaxUint32, 0}
	for _, prec := range []uint32{53, 106, 192, 212, 300, 424, 848, 1000, 1696} {
		f := num.Format{Kind: num.MP, Prec: prec}
		l := f.Limbs()
		for _, spread := range []int{0, 10, 62, 63, 64, 127, 128, 1000, 2000, limbSpan, limbSpan + 1} {
			for kind := range 4 {
				n := manyRows + 2*r.IntN(200)
				x := num.New(f, n)
				for i := range n {
					for k := range l {
						if x.Sig[i*l+k] = r.Uint64(); kind == 1 {
							x.Sig[i*l+k] = carries[r.IntN(1+i%len(carries))]
						}
					}
					x.Sig[i*l] &= math.MaxUint64 << (64*l - int(prec))
					x.Sig[(i+1)*l-1] |= 1 << 63
					x.Exp[i] = int32(r.IntN(spread+1) - spread/2)
					x.Cls[i] = num.MakeCls(r.IntN(2) == 0, num.Finite)
					if kind == 2 && r.IntN(50) == 0 {
						x.Cls[i] = num.MakeCls(r.IntN(2) == 0, num.Zero)
					}
				}
				x.Exp[0], x.Exp[1] = int32(-spread/2), int32(spread-spread/2)
				if kind == 3 { // all cancel but the last bit of one
					for i := 0; i < n; i += 2 {
						x.CopyFrom(i+1, x, i)
						x.Negate(i + 1)
					}
					x.Sig[l-1] ^= 1 << 62
					x.Sig[0] ^= 1 << (64*l - int(prec))
				}
				v := num.Vec{Arr: x, Inc: 1, N: n}
				if kind == 2 {
					v = num.Vec{Arr: x, Off: n - 1, Inc: -1, N: n}
				}
				for _, magnitudes := range []bool{false, true} {
					want := new(big.Int)
					for i := range n {
						if x.Cls[i].Class() == num.Zero {
							continue
						}
						e := new(big.Int)
						for k := l - 1; k >= 0; k-- {
							e.Lsh(e, 64).Or(e, new(big.Int).SetUint64(x.Sig[i*l+k]))
						}
						e.Lsh(e, uint(int(x.Exp[i])+limbSpan))
						if x.Cls[i].Neg() && !magnitudes {
							e.Neg(e)
						}
						want.Add(want, e)
					}
					acc.Reset()
					if magnitudes {
						acc.AddAbs(v)
					} else {
						acc.AddVec(v)
					}
					s := acc.Exact()
					got := new(big.Int)
					for k := len(s.Mag) - 1; k >= 0; k-- {
						got.Lsh(got, 64).Or(got, new(big.Int).SetUint64(s.Mag[k]))
					}
					if shift := s.Exp + int64(64*l+limbSpan); s.Class == num.Finite && shift >= 0 {
						got.Lsh(got, uint(shift))
					} else if s.Class == num.Finite {
						if got.TrailingZeroBits() < uint(-shift) {
							t.Fatalf("bits %d spread %d kind %d: bits below every addend", prec, spread, kind)
						}
						got.Rsh(got, uint(-shift))
					}
					if s.Neg {
						got.Neg(got)
					}
					if got.Cmp(want) != 0 {
						t.Fatalf("bits %d spread %d kind %d magnitudes %v: sum %x, want %x", prec, spread, kind, magnitudes, got, want)
					}
				}
			}
		}
	}
}

// TestLongSpecialSums has infinities and NaN among many numbers.
func TestLongSpecialSums(t *testing.T) {
	f := num.Format{Kind: num.MP, Prec: 424}
	one := num.Real{Class: num.Finite, Mag: []uint64{1}}
	for _, c := range []struct {
		put         []num.Real
		sum, asum   num.Class
		negativeSum bool
	}{
		{[]num.Real{{Class: num.Inf, Neg: true}}, num.Inf, num.Inf, true},
		{[]num.Real{{Class: num.Inf, Neg: true}, {Class: num.Inf}}, num.NaN, num.Inf, false},
		{[]num.Real{{Class: num.NaN}, {Class: num.Inf}}, num.NaN, num.NaN, false},
		{[]num.Real{{Neg: true}, {}}, num.Finite, num.Finite, false},
	} {
		x := num.New(f, manyRows+3)
		for i := range x.Len() {
			x.Set(i, one)
		}
		for i, p := range c.put {
			x.Set(300+7*i, p)
		}
		v := num.Vec{Arr: x, Inc: 1, N: x.Len()}
		var a, b Acc
		a.AddVec(v)
		b.AddAbs(v)
		s, abs := a.Value(f), b.Value(f)
		if s.Class != c.sum || s.Neg != c.negativeSum || abs.Class != c.asum || abs.Neg {
			t.Errorf("%v: sum %v, asum %v", c.put, s, abs)
		}
	}
}
