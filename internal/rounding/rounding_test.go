package rounding

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testseed"
)

// eachLevel runs f under every level of the machine.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	for _, l := range isa.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer isa.Force(l)()
			f(t)
		})
	}
}

const guard = 0xa5a5_a5a5_a5a5_a5a5

// guarded returns n words that look written by nobody.
func guarded(n int) []uint64 {
	s := make([]uint64, n)
	for i := range s {
		s[i] = guard
	}
	return s
}

// TestIntegers compares with math/big: quotients and words at the ends of their ranges, and numbers
// that are 0, ±1 and ± powers of 2^39 among them.
func TestIntegers(t *testing.T) { eachLevel(t, testIntegers) }

func testIntegers(t *testing.T) {
	rng := testseed.Rand(t, 3, 14)
	for trial := range 400 {
		count := 1 + trial%50
		m := make([]int64, count)
		for w := range m {
			m[w] = rng.Int64N(1 << WordBits)
			switch rng.IntN(6) {
			case 0:
				m[w] = 1<<WordBits - 1
			case 1:
				m[w] = 0
			}
		}
		m[count-1] = rng.Int64N(1 << (1 + rng.IntN(50)))
		mod := NewModulus(m)
		n := Group * (1 + rng.IntN(4))
		stride, wordStride, pad := n+rng.IntN(3), n+rng.IntN(3), rng.IntN(4)
		words := make([]int64, count*wordStride+n)
		want := make([]*big.Int, n)
		for e := range n {
			q := rng.Int64N(1<<12+1) - 1<<11
			words[e] = q<<WordBits + rng.Int64N(1<<WordBits) - 1<<(WordBits-1)
			x := new(big.Int)
			for w := range count {
				y := int64(rng.Uint64()) >> (2 + rng.IntN(62))
				switch rng.IntN(4) {
				case 0: // cancels, or almost
					y = q*m[w] + int64(rng.IntN(3)) - 1
				case 1:
					y = q * m[w]
				}
				if w == count-1 { // within what the last word holds
					y = q*m[w] + int64(rng.Uint64())>>(3+rng.IntN(60))
				}
				words[(w+1)*wordStride+e] = y
				x.Add(x, new(big.Int).Lsh(big.NewInt(y-q*m[w]), uint(WordBits*w)))
			}
			want[e] = x
		}
		rows := pad + mod.Count()
		mag, neg := guarded(rows*stride+1), guarded(n+1)
		Integers(mag, neg, pad, stride, words, wordStride, mod, n)
		for i, x := range mag {
			if k, e := i/stride-pad, i%stride; (k < 0 || k >= mod.Count() || e >= n) && x != guard {
				t.Fatalf("trial %d: wrote row %d, number %d", trial, k, e)
			}
		}
		if neg[n] != guard {
			t.Fatalf("trial %d: wrote a sign too many", trial)
		}
		for e, x := range want {
			got := number(mag[pad*stride:], stride, mod.Count(), e)
			if neg[e] == math.MaxUint64 {
				got.Neg(got)
			} else if neg[e] != 0 {
				t.Fatalf("trial %d: sign %x", trial, neg[e])
			}
			if got.Cmp(x) != 0 {
				t.Fatalf("trial %d: words %d, number %d is %x, want %x", trial, count, e, got, x)
			}
		}
	}
}

// number returns number e of count words.
func number(mag []uint64, stride, count, e int) *big.Int {
	x := new(big.Int)
	for k := count - 1; k >= 0; k-- {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(mag[k*stride+e]))
	}
	return x
}

// roundBig rounds x > 0 to prec bits, ties away from 0, and says whether it is a tie.
func roundBig(x *big.Rat, prec int) (sig *big.Int, b int, tie bool) {
	b = x.Num().BitLen() - x.Denom().BitLen() + 1
	scaled := func() *big.Rat {
		s := new(big.Rat).Set(x)
		if d := b - prec; d > 0 {
			s.Quo(s, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(d))))
		} else {
			s.Mul(s, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(-d))))
		}
		return s
	}
	s := scaled() // below 2^prec, at least 2^(prec-2)
	if s.Cmp(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(prec-1)))) < 0 {
		b--
		s = scaled()
	}
	s.Add(s, big.NewRat(1, 2))
	sig = new(big.Int).Quo(s.Num(), s.Denom())
	tie = s.IsInt()
	if sig.BitLen() > prec {
		sig.Rsh(sig, 1)
		b++
	}
	return sig, b, tie
}

// TestRound takes numbers whose tails are ties, next to ties, all ones, zeros or random, with
// errors from none to ones that reach the tie or a quarter of the last place. What is written and
// marked as safe must be the rounded value of both ends of the enclosure, no end a tie; what is far
// from a tie must be marked.
func TestRound(t *testing.T) { eachLevel(t, testRound) }

func testRound(t *testing.T) {
	rng := testseed.Rand(t, 2, 71)
	precs := []int{2, 11, 24, 53, 63, 64, 65, 106, 127, 128, 129, 190, 212, 424, 1696}
	safe, unsafe, carried := 0, 0, 0
	for trial := range 1200 {
		prec := precs[trial%len(precs)]
		f := FormatOf(prec)
		count := 1 + rng.IntN(f.Limbs+3)
		n := Group * (1 + rng.IntN(2))
		stride := n + rng.IntN(2)
		pad := Pad(f.Limbs)
		mag := make([]uint64, (pad+count)*stride)
		errCol := make([]float64, n)
		errRow := math.Floor(math.Ldexp(rng.Float64(), rng.IntN(40)))
		if rng.IntN(3) == 0 {
			errRow = 0
		}
		most := 64*count - rng.IntN(64)
		for e := range n {
			length := max(1, most-rng.IntN(70))
			if rng.IntN(8) == 0 {
				length = 1 + rng.IntN(64*count)
			}
			x := randomBits(rng, length, prec)
			for k := range count {
				mag[(pad+k)*stride+e] = new(big.Int).Rsh(x, uint(64*k)).Uint64()
			}
			switch drop := length - prec; rng.IntN(4) {
			case 0:
			case 1: // up to a quarter of the last place or more
				errCol[e] = math.Ldexp(1+rng.Float64(), min(drop-4+rng.IntN(4), 900))
			case 2:
				errCol[e] = math.Ldexp(rng.Float64(), rng.IntN(max(1, min(drop, 900))))
			default:
				errCol[e] = float64(rng.IntN(3))
			}
			if rng.IntN(50) == 0 {
				errCol[e] = math.Inf(1)
			}
		}
		z, ok := guarded((f.Limbs-1)*stride+n+1), guarded(n+1)
		top := make([]int64, n+1)
		top[n] = 77
		Round(z, top, ok, mag, stride, count, f, errRow, errCol, n)
		if z[(f.Limbs-1)*stride+n] != guard || ok[n] != guard || top[n] != 77 {
			t.Fatalf("trial %d: wrote beyond the end", trial)
		}
		// All levels mark the same numbers.
		z2, ok2 := guarded(len(z)), guarded(n+1)
		roundGeneric(z2, make([]int64, n), ok2, mag, stride, count, f, errRow, errCol, n)
		for e := range n {
			x := number(mag[pad*stride:], stride, count, e)
			what := func() string {
				return fmt.Sprintf("trial %d: prec %d, %d words, number %d = %x, error %g + %g", trial, prec, count, e, x, errRow, errCol[e])
			}
			if ok[e] != ok2[e] {
				t.Fatalf("%s: marked %x, want %x", what(), ok[e], ok2[e])
			}
			if ok[e] == 0 {
				unsafe++
				if far(x, prec, errRow+errCol[e]) && sameWord(mag, pad, stride, count, e) {
					t.Fatalf("%s: not marked", what())
				}
				continue
			}
			safe++
			err := new(big.Rat).SetFloat64(errRow + errCol[e])
			if err == nil {
				t.Fatalf("%s: marked", what())
			}
			got := number(z, stride, f.Limbs, e)
			for _, end := range []*big.Rat{new(big.Rat).Sub(new(big.Rat).SetInt(x), err), new(big.Rat).Add(new(big.Rat).SetInt(x), err)} {
				if end.Sign() <= 0 {
					t.Fatalf("%s: marked, but may be 0", what())
				}
				sig, b, tie := roundBig(end, prec)
				sig.Lsh(sig, uint(f.Spare))
				if got.Cmp(sig) != 0 || top[e] != int64(b) || tie {
					t.Fatalf("%s: is %x 2^%d, want %x 2^%d, tie %v", what(), got, top[e], sig, b, tie)
				}
			}
			if got.TrailingZeroBits() == uint(64*f.Limbs-1) {
				carried++
			}
		}
		checkRemainders(t, rng, mag, z, top, ok, pad, stride, count, f, n)
	}
	if safe < 5000 || unsafe < 1000 || carried < 10 {
		t.Fatalf("%d numbers safe, %d not, %d powers of two", safe, unsafe, carried)
	}
}

// checkRemainders compares the remainders of the marked numbers with differences.
func checkRemainders(t *testing.T, rng *rand.Rand, mag, z []uint64, top []int64, ok []uint64, pad, stride, count int, f Format, n int) {
	t.Helper()
	prec := 64*f.Limbs - f.Spare
	rest := append([]uint64(nil), mag...)
	neg := make([]uint64, n)
	for e := range neg {
		neg[e] = -rng.Uint64N(2)
	}
	was := append([]uint64(nil), neg...)
	Remainders(rest, neg, top, pad, stride, count, prec, n)
	for e := range n {
		if ok[e] == 0 {
			continue
		}
		rounded := number(z, stride, f.Limbs, e)
		if d := int(top[e]) - 64*f.Limbs; d > 0 {
			rounded.Lsh(rounded, uint(d))
		} else {
			rounded.Rsh(rounded, uint(-d))
		}
		want := new(big.Int).Sub(number(mag[pad*stride:], stride, count, e), rounded)
		sign := was[e]
		if want.Sign() < 0 {
			sign = ^sign
		}
		if got := number(rest[pad*stride:], stride, count, e); got.CmpAbs(want) != 0 || neg[e] != sign {
			t.Fatalf("number %d: remainder %x with sign %x, want %x with %x", e, got, neg[e], want.Abs(want), sign)
		}
	}
}

// randomBits returns a number of so many bits with the significand and the tail that a family has.
func randomBits(rng *rand.Rand, length, prec int) *big.Int {
	x := new(big.Int)
	for range length/64 + 1 {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(rng.Uint64()))
	}
	x.Rsh(x, uint(x.BitLen()-min(x.BitLen(), length)))
	x.SetBit(x, length-1, 1)
	fill := func(from, to int, bit uint) {
		for i := max(from, 0); i < to; i++ {
			x.SetBit(x, i, bit)
		}
	}
	drop := length - prec
	if rng.IntN(4) == 0 { // a carry goes through
		fill(drop, length, 1)
	}
	if drop < 1 {
		return x
	}
	switch rng.IntN(6) {
	case 0, 1: // a tie, or next to one
		fill(0, drop, 0)
		x.SetBit(x, drop-1, 1)
		d := new(big.Int).Lsh(big.NewInt(int64(rng.IntN(3)-1)), uint(rng.IntN(max(1, drop-1))))
		if y := new(big.Int).Add(x, d); y.BitLen() == length {
			x = y
		}
	case 2:
		fill(0, drop, 1)
	case 3:
		fill(0, drop, 0)
	}
	return x
}

// far reports whether x must be marked: not 0, the error far below a quarter of the last place, and
// the tail far from the tie.
func far(x *big.Int, prec int, err float64) bool {
	drop := x.BitLen() - prec
	if x.Sign() == 0 || math.IsInf(err, 1) {
		return false
	}
	if drop < 1 {
		return err == 0
	}
	unit := math.Ldexp(1, min(drop, 1000)) // of the last place
	if err >= unit/8 || err != 0 && drop < 2 {
		return false
	}
	low := new(big.Int).And(x, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(drop)), big.NewInt(1)))
	low.Sub(low, new(big.Int).Lsh(big.NewInt(1), uint(drop-1)))
	return low.BitLen() >= max(1, drop-3) && err < unit/64
}

// sameWord reports whether the first words of the four numbers that e is one of lie within one.
func sameWord(mag []uint64, pad, stride, count, e int) bool {
	low, high := count, -1
	for i := e &^ 3; i < e&^3+4; i++ {
		k := count - 1
		for k >= 0 && mag[(pad+k)*stride+i] == 0 {
			k--
		}
		if i == e {
			low = k
		}
		high = max(high, k)
	}
	return low >= high-1
}

// TestFloats compares with math.Ldexp, at exponents around the bounds among others.
func TestFloats(t *testing.T) { eachLevel(t, testFloats) }

func testFloats(t *testing.T) {
	rng := testseed.Rand(t, 2, 71)
	for trial := range 300 {
		n := rng.IntN(21)
		z, ok, neg := guarded(n+1), guarded(n+1), make([]uint64, n)
		top, exps := make([]int64, n), make([]int64, n)
		unit, flip := rng.Int64N(1<<40), rng.Uint64N(2)
		want, fine, all := make([]float64, n), make([]bool, n), true
		for e := range n {
			sig := rng.Uint64N(1<<53) | 1<<52
			switch rng.IntN(4) {
			case 0:
				sig = 1 << 52
			case 1:
				sig = 1<<53 - 1
			}
			exp := rng.Int64N(2*MaxExp+1) - MaxExp
			fine[e] = true
			switch rng.IntN(10 + 90*(trial%2)) {
			case 0:
				exp = MaxExp
			case 1:
				exp = -MaxExp
			case 2:
				exp, fine[e] = MaxExp+1+rng.Int64N(1<<61), false
			case 3:
				exp, fine[e] = -MaxExp-1-rng.Int64N(1<<61), false
			}
			z[e], top[e], ok[e], neg[e] = sig<<11, rng.Int64N(5000), math.MaxUint64, -rng.Uint64N(2)
			exps[e] = exp - unit - top[e]
			if fine[e] {
				want[e] = math.Ldexp(float64(sig), int(exp)-53)
				if neg[e]&1 != flip {
					want[e] = -want[e]
				}
				if rng.IntN(20) == 0 {
					ok[e], fine[e] = 0, false
				}
			}
			all = all && fine[e]
		}
		if got := Floats(z, ok, top, exps, unit, neg, flip, n); got != all {
			t.Fatalf("trial %d: all are ok: %v, not %v", trial, got, all)
		}
		for e := range n {
			if got := math.Float64frombits(z[e]); ok[e] != -btou(fine[e]) || fine[e] && got != want[e] {
				t.Fatalf("trial %d: number %d of %d: %g, ok %x, not %g, %v", trial, e, n, got, ok[e], want[e], fine[e])
			}
		}
		if z[n] != guard || ok[n] != guard {
			t.Fatalf("trial %d: writes beyond the end", trial)
		}
	}
}

// btou is 1 for true.
func btou(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// TestSignificands compares words with their places, for all small sizes.
func TestSignificands(t *testing.T) { eachLevel(t, testSignificands) }

func testSignificands(t *testing.T) {
	for limbs := 1; limbs <= 21; limbs++ {
		for n := range 14 {
			stride := n + limbs%3
			z := make([]uint64, limbs*stride+1)
			for i := range z {
				z[i] = uint64(i)
			}
			sig := guarded(n*limbs + 1)
			Significands(sig, z, stride, limbs, n)
			for i, got := range sig {
				want := uint64(guard)
				if i < n*limbs {
					want = uint64(i%limbs*stride + i/limbs)
				}
				if got != want {
					t.Fatalf("%d numbers of %d words: word %d is %x, not %x", n, limbs, i, got, want)
				}
			}
		}
	}
}

// TestExponents takes exponents at both ends of int32 and beyond, and numbers that are not ok, of
// which nothing is to be written.
func TestExponents(t *testing.T) { eachLevel(t, testExponents) }

func testExponents(t *testing.T) {
	rng := testseed.Rand(t, 1, 62)
	seen := map[bool]int{}
	for trial := range 500 {
		n := trial % 21
		exp, cls := make([]int32, n+1), make([]uint8, n+1)
		ok, neg := guarded(n+1), make([]uint64, n)
		top, exps, flip := make([]int64, n), make([]int64, n), rng.Uint64N(2)
		unit := int64(rng.Uint64()) >> rng.IntN(60) >> 3
		sums := make([]int64, n)
		wantAll := true
		for e := range n + 1 {
			exp[e], cls[e] = -77, 99
		}
		for e := range n {
			ok[e], neg[e] = math.MaxUint64, -rng.Uint64N(2)
			switch sums[e] = int64(int32(rng.Uint32())); {
			case rng.IntN(8*n) == 0:
				sums[e] = int64(rng.Uint64()) >> 2
			case rng.IntN(4) == 0:
				sums[e] = math.MaxInt32 - 2
			case rng.IntN(4) == 0:
				sums[e] = math.MinInt32 + 2
			case rng.IntN(8*n) == 0:
				sums[e] = math.MaxInt32 - 1
			case rng.IntN(8*n) == 0:
				sums[e] = math.MinInt32 + 1
			}
			if rng.IntN(8*n) == 0 {
				ok[e] = 0
			}
			exps[e] = int64(int32(rng.Uint32()))
			top[e] = sums[e] - unit - exps[e]
			if math.MinInt32+2 > sums[e] || sums[e] > math.MaxInt32-2 || ok[e] == 0 {
				wantAll = false
			}
		}
		before := slices.Clone(ok)
		all := Exponents(exp, cls, ok, top, exps, unit, neg, flip, n)
		if all != wantAll {
			t.Fatalf("trial %d: %d numbers: all ok %v", trial, n, all)
		}
		seen[all]++
		for e := range n + 1 {
			wantExp, wantCls, wantOK := int32(-77), uint8(99), uint64(0)
			switch {
			case e == n:
				wantOK = guard
			case before[e] != 0 && math.MinInt32+2 <= sums[e] && sums[e] <= math.MaxInt32-2:
				wantExp, wantCls, wantOK = int32(sums[e]), 2+uint8(neg[e]&1^flip), math.MaxUint64
			}
			if exp[e] != wantExp || cls[e] != wantCls || ok[e] != wantOK {
				t.Fatalf("trial %d: number %d of %d, 2^%d: %d, class %d, ok %x", trial, e, n, sums[min(e, n-1)], exp[e], cls[e], ok[e])
			}
		}
	}
	if seen[true] < 50 || seen[false] < 50 {
		t.Fatalf("all ok, not all: %v", seen)
	}
}

func BenchmarkIntegers(b *testing.B) {
	for _, count := range []int{2, 5, 13, 45} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			const n, stride = 512, 512 + Group
			mod := NewModulus(make([]int64, count))
			words, mag, neg := make([]int64, (count+1)*stride), make([]uint64, mod.Count()*stride), make([]uint64, n)
			for b.Loop() {
				Integers(mag, neg, 0, stride, words, stride, mod, n)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/n, "ns/number")
		})
	}
}

func BenchmarkRound(b *testing.B) {
	for _, prec := range []int{53, 106, 424, 1696} {
		b.Run(fmt.Sprint(prec), func(b *testing.B) {
			const n, stride = 512, 512 + Group
			f := FormatOf(prec)
			count := f.Limbs + 1
			mag := make([]uint64, (Pad(f.Limbs)+count)*stride)
			r := rand.New(rand.NewPCG(1, 2))
			for i := Pad(f.Limbs) * stride; i < len(mag); i++ {
				mag[i] = r.Uint64()
			}
			z, top, ok := make([]uint64, f.Limbs*stride), make([]int64, n), make([]uint64, n)
			errCol := make([]float64, n)
			for b.Loop() {
				Round(z, top, ok, mag, stride, count, f, 1000, errCol, n)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/n, "ns/number")
		})
	}
}
