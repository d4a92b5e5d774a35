package superacc

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestLongSums compares sums of many MP numbers with integers of math/big: exponents of every
// spread that one window takes, long carries, sums that cancel but for their last bit, zeros, and
// vectors read backwards. One accumulator sums all, so that what one leaves behind spoils another.
func TestLongSums(t *testing.T) {
	r := testseed.Rand(t, 21, 22)
	var acc Acc
	// Sums of these words carry from their low halves to their high ones and from word to word.
	carries := []uint64{math.MaxUint64, 1 << 32, math.MaxUint32, 0}
	for _, prec := range []uint32{53, 106, 192, 212, 300, 424, 848, 1000, 1696} {
		f := num.Format{Kind: num.MP, Prec: prec}
		l := f.Limbs()
		for _, spread := range []int{0, 10, 40, 41, 62, 63, 64, 127, 128, 1000, 2000, limbSpan, limbSpan + 1} {
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

// TestExpansionSums compares sums of expansions, and of products of them with other numbers, with
// sums of their exact values one by one: canonical expansions, terms that overlap or cancel, gaps
// between terms, subnormal terms, zeros of both signs, infinities and NaN, strides.
func TestExpansionSums(t *testing.T) {
	r := testseed.Rand(t, 31, 32)
	const d = math.SmallestNonzeroFloat64
	value := func(e int) float64 { return math.Ldexp(r.Float64()-0.5, e) }
	plain := false // no terms of a special kind
	fill := func(a *num.Array, i, kind int) {
		if a.Kind == num.F32 {
			a.F32[i] = float32(value(r.IntN(200) - 100))
			return
		}
		e := r.IntN(60)
		switch {
		case kind == 1:
			e = r.IntN(2040) - 1020
		case kind == 2:
			e = r.IntN(40) - 1060
		}
		for k := range a.Terms() {
			a.F64[k][i] = value(e)
			if e -= 54 + r.IntN(3)*r.IntN(20); plain && kind == 3 {
				e += 60 // the next term is larger
			}
		}
		if kind < 3 && r.IntN(8) != 0 {
			return
		}
		for k := range a.Terms() {
			special := r.IntN(40)
			if plain {
				special = 40
			}
			switch {
			case special < 10:
				a.F64[k][i] = 0
			case special < 16:
				a.F64[k][i] = d * float64(r.IntN(13)-6)
			case special < 20:
				a.F64[k][i] = -a.F64[0][i]
			case special == 20 && kind == 4:
				a.F64[k][i] = math.Inf(1 - 2*r.IntN(2))
			case special == 21 && kind == 4:
				a.F64[k][i] = math.NaN()
			}
		}
	}
	formats := []num.Kind{num.DD, num.TD, num.QD, num.F64, num.F32}
	for _, fx := range formats {
		for _, fy := range formats {
			if fx < num.DD && fy < num.DD {
				continue
			}
			for trial := range 20 {
				kind := trial % 6
				n := FewFloats + r.IntN(8)
				if plain = trial >= 12 && kind < 5; trial >= 12 {
					n = manyDigits + r.IntN(80)
				}
				if trial == 18 {
					n += termsPart
				}
				inc := 1 + r.IntN(2)
				x, y := num.New(num.Format{Kind: fx}, n*inc), num.New(num.Format{Kind: fy}, n)
				for i := range x.Len() {
					if fill(x, i, kind); kind == 5 { // all are zeros but for a few; signs decide
						for k := range x.Terms() {
							x.F64[k][i] = math.Copysign(0, float64(r.IntN(8)-6-k*2))
						}
					}
				}
				for i := range n {
					fill(y, i, kind)
				}
				u, v := num.Vec{Arr: x, Inc: inc, N: n}, num.Vec{Arr: y, Off: n - 1, Inc: -1, N: n}
				exp, neg := r.Int64N(2000)-1000, r.IntN(2) == 0
				var got, want [3]Acc
				got[0].AddVec(u)
				got[1].AddAbs(u)
				got[2].addDot(neg, exp, u, v)
				var bufs [2][num.MaxValueWords]uint64
				for i := range n {
					p, q := x.Value(u.At(i), bufs[0][:]), y.Value(v.At(i), bufs[1][:])
					want[0].Add(p)
					sign := p.Neg
					p.Neg = false
					want[1].Add(p)
					p.Neg = sign != neg
					p.Exp += exp
					want[2].AddProduct(p, q)
				}
				for k := range want {
					g, w := got[k].Exact(), want[k].Exact()
					if g.Class != w.Class || g.Neg != w.Neg || g.Class == num.Finite && (g.Exp != w.Exp || !slices.Equal(g.Mag, w.Mag)) {
						t.Fatalf("formats %v, %v, kind %d, reduction %d: %v, want %v; x %v y %v", fx, fy, kind, k, g, w, x.F64, y.F64)
					}
				}
			}
		}
	}
}

// TestLargestSums adds as many of the largest numbers, at the largest shift, as fill the
// columns of sums, and one number at shift 0.
func TestLargestSums(t *testing.T) {
	for _, l := range []int{1, 2, 3, 4, 7, 8, 14, 32} {
		n := 1<<12 + 2
		if l <= 4 {
			n = 8<<12 + 2
		}
		x := num.New(num.Format{Kind: num.MP, Prec: uint32(64 * l)}, n)
		for i := range x.Sig {
			x.Sig[i] = math.MaxUint64
		}
		for i := range n {
			x.Exp[i] = sumSpan
			x.Cls[i] = num.MakeCls(false, num.Finite)
		}
		x.Exp[n-1] = 0
		var acc Acc
		acc.AddVec(num.Vec{Arr: x, Inc: 1, N: n})
		// ((n - 1) 2^40 + 1) (2^(64 l) - 1)
		want := new(big.Int).SetUint64(uint64(n-1)<<sumSpan + 1)
		want.Mul(want, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(64*l)), big.NewInt(1)))
		s := acc.Exact()
		got := new(big.Int)
		for k := len(s.Mag) - 1; k >= 0; k-- {
			got.Lsh(got, 64).Or(got, new(big.Int).SetUint64(s.Mag[k]))
		}
		if shift := s.Exp + int64(64*l); shift >= 0 {
			got.Lsh(got, uint(shift))
		} else {
			got.Rsh(got, uint(-shift))
		}
		if s.Neg || got.Cmp(want) != 0 {
			t.Errorf("%d words: sum %x, want %x", l, got, want)
		}
	}
}
