package direct

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestPlainSum compares what is decided with exact values: words of ones and of zeros, few bits,
// powers of two, ties and numbers beside them, terms that cancel, exponents far apart and at their
// ends, precisions of all sizes beside each other.
func TestPlainSum(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	usual, decided := 0, 0
	for trial := range testlength.Of(20000, 60000, 2000000) {
		kind := r.IntN(8)
		format := func() num.Format {
			return num.Format{Kind: num.MP, Prec: uint32(2 + r.IntN([]int{60, 130, 500, 1000}[r.IntN(4)]))}
		}
		number := func(f num.Format) *num.Array {
			a, m := num.New(f, 1), make([]uint64, f.Limbs()+1)
			for k := range m {
				switch m[k] = r.Uint64(); kind {
				case 0:
					m[k] = math.MaxUint64
				case 1:
					m[k] &= -(r.Uint64() & 1)
				case 2:
					m[k] = 1 << 63 & -uint64(k/f.Limbs())
				case 3:
					m[k] = r.Uint64() >> 50 << 50 & -uint64(k/f.Limbs())
				}
			}
			v := num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Exp: int64(r.IntN(20) - 64*len(m)), Mag: m}
			if r.IntN(20) == 0 {
				v.Exp += int64(r.IntN(4000) - 2000)
			}
			if kind == 7 && r.IntN(4) == 0 {
				v.Exp = []int64{math.MaxInt32, math.MinInt32}[r.IntN(2)] - int64(64*len(m)) + int64(r.IntN(12)-6)
			}
			if r.IntN(40) == 0 {
				v.Class = num.Class(r.IntN(4))
			}
			a.Set(0, v)
			return a
		}
		fz := format()
		fx, fy := fz, fz
		if r.IntN(2) == 0 {
			fx, fy = format(), format()
		}
		x, y, a, b := number(fx), number(fy), number(format()), number(format())
		if kind == 4 { // the terms cancel but for some bits
			y, b = num.New(fy, 1), num.New(num.Format{Kind: num.MP, Prec: a.Prec}, 1)
			y.Convert(0, x, 0)
			b.CopyFrom(0, a, 0)
			b.Negate(0)
		}
		if kind == 5 { // a tie or a number beside it
			a.Set(0, realOne)
			b.Set(0, realOne)
			y.Set(0, num.Real{Class: num.Finite, Mag: one[:], Exp: int64(x.Exp[0]) - int64(fz.Prec) - 1})
		}
		ra, rb := a.Value(0, nil), b.Value(0, nil)
		got, want := num.New(fz, 1), num.New(fz, 1)
		var acc, exact superacc.Acc
		fa, fb := newFactor(ra, realOne), newFactor(rb, realOne)
		s, second := newPlainSum(fa, x, fb, y, got), true
		if r.IntN(3) == 0 {
			s, second = newPlainSum(fa, x, factor{}, nil, got), false
		}
		if s == nil {
			continue
		}
		simple := kind == 6 && x.Class(0) == num.Finite && y.Class(0) == num.Finite && fz.Prec > 40
		if simple {
			usual++
		}
		for range 2 { // rooms are as they were
			if !s.set(&acc, 0, 0, 0) {
				break
			}
			exact.Reset()
			exact.AddProduct(ra, x.Value(0, nil))
			if second {
				exact.AddProduct(rb, y.Value(0, nil))
			}
			if flags := want.Set(0, exact.Value(fz)); flags != 0 || !got.SameBits(0, want, 0) {
				t.Fatalf("seed %d, trial %d, kind %d: %v x %v + %v x %v (%v) to %v: %v, want %v", seed, trial, kind,
					ra, x.Value(0, nil), rb, y.Value(0, nil), second, fz, got.Value(0, nil), want.Value(0, nil))
			}
			if simple {
				decided++
				simple = false
			}
		}
	}
	if decided < usual*9/10 {
		t.Errorf("%d of %d usual ones are decided", decided, usual)
	}
}

// TestPlainSumErrors has terms cancel so that a sum is half way between two numbers but for what
// the product was cut by, which has become large.
func TestPlainSumErrors(t *testing.T) {
	r := testseed.Rand(t, 3, 14)
	for _, prec := range []uint32{40, 46, 47, 53, 60, 63, 64, 65, 80, 106, 110, 111, 128, 150, 192, 300, 424} {
		words := 1
		for 64*words < int(prec)+14+bits.Len(uint(plainBound(words))) {
			words++
		}
		all, decided := uint(64*words), 0
		wide, format := num.Format{Kind: num.MP, Prec: uint32(all)}, num.Format{Kind: num.MP, Prec: prec}
		fraction := func(x *big.Int, neg bool) *num.Array {
			mag := make([]uint64, words)
			for k := range mag {
				mag[k] = new(big.Int).Rsh(x, uint(64*k)).Uint64()
			}
			a := num.New(wide, 1)
			a.Set(0, num.Real{Class: num.Finite, Neg: neg, Mag: mag, Exp: -int64(all)})
			return a
		}
		random := func(bits uint) *big.Int {
			x := new(big.Int)
			for range words + 1 {
				x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(r.Uint64()))
			}
			return x.SetBit(x.Rsh(x, all+64-bits), int(bits)-1, 1)
		}
		for trial := range 600 {
			f, g := random(all), random(all)
			a, x := fraction(f, false), fraction(g, false)
			// The sum is about s units of the last word, half way or some units beside.
			length := all - 15 + uint(r.IntN(14))
			s := random(uint(prec))
			s.Lsh(s, 1).SetBit(s, 0, 1).Lsh(s, length-uint(prec)-1)
			s.Add(s, big.NewInt(int64(trial%41-20)))
			y := fraction(s.Sub(f.Rsh(f.Mul(f, g), all), s), true)
			got, want := num.New(format, 1), num.New(format, 1)
			var acc, exact superacc.Acc
			if !newPlainSum(newFactor(a.Value(0, nil), realOne), x, newFactor(realOne, realOne), y, got).set(&acc, 0, 0, 0) {
				continue
			}
			decided++
			exact.Reset()
			exact.AddProduct(a.Value(0, nil), x.Value(0, nil))
			exact.AddProduct(realOne, y.Value(0, nil))
			want.Set(0, exact.Value(format))
			if !got.SameBits(0, want, 0) {
				t.Fatalf("%d bits, trial %d: %v, want %v", prec, trial, got.Value(0, nil), want.Value(0, nil))
			}
		}
		if decided < 10 {
			t.Errorf("%d bits: %d sums are decided", prec, decided)
		}
	}
}
