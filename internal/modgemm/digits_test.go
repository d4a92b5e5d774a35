package modgemm

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"
)

// TestDigits puts numbers of all magnitudes and signs, ties, zeros and subnormal ones into digits,
// and adds these up again.
func TestDigits(t *testing.T) {
	r := newRand(t)
	for _, k := range Kernels() {
		t.Run(k.Name, func(t *testing.T) {
			for trial := range 400 {
				pairs, step := 1+trial%MaxDigitsPairs, trial/MaxDigitsPairs%2
				groups := k.NR / 4 * (1 + r.IntN(3))
				stride := 4 + r.IntN(9)
				src := make([]float64, (groups-1)*stride+4)
				base := make([]int64, 4*((groups-1)*step+1))
				// Numbers below 2^top, to be below 2^width.
				top, width := make([]int, len(base)), make([]int, len(base))
				for g := range base {
					top[g], width[g] = r.IntN(1890)-890, 2+r.IntN(61+pairs/3*64)
					base[g] = 1084 - int64(width[g]-top[g])
				}
				for i := range src {
					g := min(i/stride, groups-1)*4*step + min(i%stride, 3)
					m := 1<<52 | r.Uint64()>>12
					if r.IntN(3) == 0 {
						m &^= 1<<r.IntN(53) - 1
					}
					x := math.Ldexp(float64(m|1<<52), top[g]-53-r.IntN(1+r.IntN(width[g]+5)))
					switch r.IntN(20) {
					case 0:
						x = 0
					case 1:
						x = math.Float64frombits(r.Uint64() >> 12)
					}
					src[i] = math.Copysign(x, float64(r.IntN(2))-0.5)
				}
				got := make([]int16, 8*groups*pairs+1)
				got[len(got)-1] = 77
				Digits(k, got, pairs, src, stride, base, step, groups)
				if got[len(got)-1] != 77 {
					t.Fatalf("seed %d: writes beyond the end", seed)
				}
				for n := range 4 * groups {
					g := n/4*4*step + n%4
					x := src[n/4*stride+n%4]
					// floor(|x| 2^(1084 - base) + 1/2)
					f := new(big.Float).SetPrec(2300).SetFloat64(math.Abs(x))
					f.SetMantExp(f, width[g]-top[g])
					want, _ := f.Add(f, big.NewFloat(0.5)).Int(nil)
					if x < 0 {
						want.Neg(want)
					}
					sum := new(big.Int)
					for d := 2*pairs - 1; d >= 0; d-- {
						digit := got[2*((n/k.NR*pairs+d/2)*k.NR+n%k.NR)+d%2]
						sum.Add(sum.Lsh(sum, 16), big.NewInt(int64(digit)))
					}
					if d := sum.Sub(sum, want); d.Sign() != 0 && new(big.Int).And(d, new(big.Int).SetUint64(1<<(32*pairs)-1)).Sign() != 0 {
						t.Fatalf("seed %d, trial %d: digits of %g 2^%d are off by %v", seed, trial, x, width[g]-top[g], d)
					}
				}
			}
		})
	}
}

// TestTranspose compares with the definition, between guards.
func TestTranspose(t *testing.T) {
	r := newRand(t)
	for _, k := range Kernels() {
		for rows := 4; rows <= 20; rows += 4 {
			for columns := 4; columns <= 64; columns += 12 {
				dstStride, srcStride := columns+r.IntN(5), rows+r.IntN(5)
				src := make([]float64, (columns-1)*srcStride+rows)
				for i := range src {
					src[i] = float64(i)
				}
				dst := make([]float64, (rows-1)*dstStride+columns+1)
				for i := range dst {
					dst[i] = -1
				}
				Transpose(k, dst, dstStride, src, srcStride, rows, columns)
				for i := range dst {
					want := -1.0
					if row, h := i/dstStride, i%dstStride; row < rows && h < columns {
						want = float64(h*srcStride + row)
					}
					if dst[i] != want {
						t.Fatalf("%s, seed %d: %d x %d, strides %d and %d: element %d is %g, not %g", k.Name, seed, rows, columns, dstStride, srcStride, i, dst[i], want)
					}
				}
			}
		}
	}
}

// TestWordDigits puts numbers of words, cut off at any bit and below or above all of them, into
// digits, and adds these up again. The words around a number are ones: they must not count.
func TestWordDigits(t *testing.T) {
	r := newRand(t)
	for _, k := range Kernels() {
		t.Run(k.Name, func(t *testing.T) {
			for trial := range 300 {
				pairs, limbs := 1+r.IntN(20), 1+r.IntN(10)
				groups := k.NR / 4 * (1 + r.IntN(3))
				count := 4*groups + 2
				src := make([]uint64, count*limbs)
				for i := range src {
					switch src[i] = r.Uint64(); trial % 4 {
					case 0:
						src[i] = 1<<64 - 1
					case 1:
						src[i] = []uint64{0, 1, 1 << 63, 1<<63 - 1, 0x7fff_7fff_7fff_7fff, 0x7fff_7fff_7fff_8000, 1<<64 - 1}[r.IntN(7)]
					}
				}
				numbers := make([]WordGroup, groups)
				at, pos, neg := make([]int, 4*groups), make([]int64, 4*groups), make([]uint64, 4*groups)
				for n := range at {
					at[n], neg[n] = r.IntN(count)*limbs, r.Uint64()&1
					// |y| <= 2^(32 pairs - 2), or whole words.
					pos[n] = int64(64*limbs-32*pairs+2) + r.Int64N(40)
					switch r.IntN(6) {
					case 0:
						pos[n] = (pos[n] + 63) &^ 63
					case 1:
						pos[n] += int64(r.IntN(64 * (limbs + 2)))
					}
					if numbers[n/4].Set(uint(n%4), at[n], limbs, pos[n], neg[n]); r.IntN(9) == 0 {
						numbers[n/4].Clear(uint(n%4), limbs)
						pos[n] = math.MaxInt32
					}
				}
				got := make([]int16, 8*groups*pairs+1)
				got[len(got)-1] = 77
				WordDigits(k, got, pairs, src, limbs, numbers)
				if got[len(got)-1] != 77 {
					t.Fatalf("seed %d: writes beyond the end", seed)
				}
				for n := range at {
					want := new(big.Int)
					for i := limbs - 1; i >= 0 && pos[n] != math.MaxInt32; i-- {
						want.Or(want.Lsh(want, 64), new(big.Int).SetUint64(src[at[n]+i]))
					}
					if pos[n] > 0 {
						want.Rsh(want, uint(pos[n]-1)).Add(want, big.NewInt(1)).Rsh(want, 1)
					} else {
						want.Lsh(want, uint(-pos[n]))
					}
					if neg[n] != 0 {
						want.Neg(want)
					}
					sum := new(big.Int)
					for d := 2*pairs - 1; d >= 0; d-- {
						digit := got[2*((n/k.NR*pairs+d/2)*k.NR+n%k.NR)+d%2]
						sum.Add(sum.Lsh(sum, 16), big.NewInt(int64(digit)))
					}
					if sum.Cmp(want) != 0 {
						t.Fatalf("seed %d, trial %d: digits of number %d (limbs %d, from bit %d, sign %d) make %x, not %x", seed, trial, n, limbs, pos[n], neg[n], sum, want)
					}
				}
			}
		})
	}
}

// TestWordRows compares rows of digits with the rows that the portable loops compute for the same
// numbers, cut off at any bit and far beyond them. Words around a number, and words of values that
// are not finite, are all ones.
func TestWordRows(t *testing.T) {
	r := newRand(t)
	for _, k := range Kernels() {
		if !HasWordRows(k) {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			for trial := range 300 {
				pairs, limbs := 1+r.IntN(40), 1+r.IntN(20)
				words, panels := (pairs+1)/2+r.IntN(2), 1+r.IntN(3)
				n, stride, baseStep := panels*k.NR, r.IntN(4)-1, r.IntN(2)
				first := r.IntN(3) + (n-1)*max(0, -stride)
				count := first + (n-1)*max(0, stride) + 1
				a := &Words[uint8]{Sig: make([]uint64, count*limbs), Limbs: limbs, Exp: make([]int32, count), Cls: make([]uint8, count)}
				base := make([]int64, (n-1)*baseStep+1)
				for i := range base {
					base[i] = r.Int64N(100)
				}
				for i := range a.Sig {
					switch a.Sig[i] = r.Uint64(); trial % 4 {
					case 0:
						a.Sig[i] = 1<<64 - 1
					case 1:
						a.Sig[i] = []uint64{0, 1, 1 << 63, 1<<63 - 1, 0x7fff_7fff_7fff_7fff, 0x7fff_7fff_7fff_8000, 0x8000_8000_8000_8000, 1<<64 - 1}[r.IntN(8)]
					}
				}
				for i := range a.Exp {
					// From all words of the digits below the number to none.
					pos := r.IntN(64*(limbs+words)) - 64*words
					switch r.IntN(12) {
					case 0:
						pos &^= 63
					case 1:
						pos = 64*limbs + r.IntN(3) - 1
					case 2:
						pos = 64*limbs + r.IntN(1<<30)
					}
					a.Exp[i], a.Cls[i] = int32(-pos), uint8(2+r.IntN(2))
					if r.IntN(9) == 0 {
						a.Cls[i] = uint8([]int{0, 1, 4, 5, 6}[r.IntN(5)])
					}
				}
				// Rows in another order.
				step := []int{1, 3}[r.IntN(2)]
				rows := make([]uint64, RowsRoom(words, n)+1)
				for i := range rows {
					rows[i] = 77
				}
				groups := make([]WordGroup, n/4)
				put := func(row, i, c int) {
					WordRows(k, rows, row, step, words, a, first+i*stride, stride, c, base[i*baseStep:], baseStep, 10)
				}
				for c := range step { // of rows c, c + step, ...
					members := (n - c + step - 1) / step
					from := 0
					for d := range c {
						from += (n - d + step - 1) / step
					}
					put(c, from, members)
					for m := range members {
						row, i := c+m*step, from+m
						at := first + i*stride
						if a.Cls[at]>>1 == 1 {
							groups[row/4].Set(uint(row), at*limbs, limbs, base[i*baseStep]-int64(a.Exp[at]), uint64(a.Cls[at]&1))
						} else {
							groups[row/4].Clear(uint(row), limbs)
						}
					}
				}
				for i := n * words; i < len(rows); i++ {
					if rows[i] != 77 {
						t.Fatalf("seed %d, trial %d: writes beyond the rows", seed, trial)
					}
				}
				got, want := make([]int16, 2*pairs*n+1), make([]int16, 2*pairs*n+1)
				got[2*pairs*n], want[2*pairs*n] = 77, 77
				TransposeRows(k, got, pairs, rows, words, n)
				wordDigitsGeneric(want, pairs, k.NR, a.Sig, limbs, groups)
				for i := range got {
					if got[i] == want[i] {
						continue
					}
					t.Fatalf("seed %d, trial %d: %d pairs of numbers of %d words, from %d on: digit %d is %d, not %d", seed, trial, pairs, limbs, words, i, got[i], want[i])
				}
			}
		})
	}
}

// TestTwoWordRows compares what the digits of rows add up to with integers of math/big, cut off at
// any bit and far beyond them, and finds all rows that are not theirs untouched.
func TestTwoWordRows(t *testing.T) {
	r := newRand(t)
	for _, k := range Kernels() {
		if !HasWordRows(k) {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			for trial := range 600 {
				first, count, baseStep := r.IntN(3), 1+r.IntN(30), r.IntN(2)
				group, step := 1<<r.IntN(4), 1+r.IntN(3)
				jump, n := group*step+r.IntN(5), r.IntN(3)
				a := &Words[uint8]{Sig: make([]uint64, 2*(first+count)), Limbs: 2, Exp: make([]int32, first+count), Cls: make([]uint8, first+count)}
				base := make([]int64, (count-1)*baseStep+1)
				for i := range base {
					base[i] = r.Int64N(100)
				}
				for i := range a.Sig {
					switch a.Sig[i] = r.Uint64(); trial % 4 {
					case 0:
						a.Sig[i] = 1<<64 - 1
					case 1:
						a.Sig[i] = []uint64{0, 1, 1 << 63, 1<<63 - 1, 0x7fff_7fff_7fff_7fff, 0x7fff_7fff_7fff_8000, 0x8000_8000_8000_8000, 1<<64 - 1}[r.IntN(8)]
					}
				}
				for i := range a.Exp {
					pos := r.IntN(4*64) - 2*64
					switch r.IntN(12) {
					case 0:
						pos &^= 63
					case 1:
						pos = 2*64 + r.IntN(3) - 1
					case 2:
						pos = 2*64 + r.IntN(1<<30)
					}
					a.Exp[i], a.Cls[i] = int32(-pos), uint8(2+r.IntN(2))
					if r.IntN(9) == 0 {
						a.Cls[i] = uint8([]int{0, 1, 4, 5, 6}[r.IntN(5)])
					}
				}
				const untouched = 77
				rows := make([]uint64, 2*(n+(count-1)/group*jump+min(count-1, group-1)*step+1), 2*(n+count*jump+8*step))
				all := rows[:cap(rows)]
				for i := range all {
					all[i] = untouched
				}
				TwoWordRows(k, rows, n, group, step, jump, a, first, count, base, baseStep, 5)
				for i := range count {
					what := fmt.Sprintf("seed %d, trial %d: number %d of %d in groups of %d", seed, trial, i, count, group)
					row := all[2*(n+i/group*jump+i%group*step):][:2]
					sum := new(big.Int)
					for s := 7; s >= 0; s-- {
						sum.Lsh(sum, 16).Add(sum, big.NewInt(int64(int16(row[s/4]>>(16*(s%4))))))
					}
					want, at := new(big.Int), first+i
					if a.Cls[at]>>1 == 1 {
						// floor(2 N 2^(Exp - base)), and one more, halved.
						want.SetUint64(a.Sig[2*at+1]).Lsh(want, 64).Add(want, new(big.Int).SetUint64(a.Sig[2*at]))
						if shift := int64(a.Exp[at]) - base[i*baseStep] + 1; shift < 0 {
							want.Rsh(want, uint(-shift))
						} else {
							want.Lsh(want, uint(shift))
						}
						want.Add(want, big.NewInt(1)).Rsh(want, 1)
						if a.Cls[at]&1 != 0 {
							want.Neg(want)
						}
					}
					if want.Sub(want, sum); want.TrailingZeroBits() < 128 && want.Sign() != 0 {
						t.Fatalf("%s: makes %x, off by %x", what, sum, want)
					}
					row[0], row[1] = untouched, untouched
				}
				for i, x := range all {
					if x != untouched {
						t.Fatalf("seed %d, trial %d: row %d, of no number, is written", seed, trial, i/2)
					}
				}
			}
		})
	}
}

// TestScanWords compares with numbers cut off one by one and their plain scan: zeros, powers of two
// and exponents at the bounds among them, and now and then one that does not apply.
func TestScanWords(t *testing.T) {
	r := newRand(t)
	for _, k := range Kernels() {
		if !HasWordScan(k) {
			continue
		}
		for trial := range 400 {
			vectors, columns, limbs := 1+r.IntN(21), 1+r.IntN(9), 1+r.IntN(6)
			stride, at := r.IntN(vectors+5), r.IntN(3)
			count := at + (columns-1)*stride + vectors
			a := &Words[uint8]{Sig: make([]uint64, count*limbs), Limbs: limbs, Exp: make([]int32, count), Cls: make([]uint8, count)}
			floats := make([]float64, count)
			lowest := make([]int64, count)
			bad := make([]bool, count)
			for i := range floats {
				sig := a.Sig[i*limbs:][:limbs]
				for l := range sig {
					sig[l] = r.Uint64()
				}
				switch r.IntN(4) {
				case 0:
					sig[0] = 1 << r.IntN(64)
				case 1:
					sig[0] <<= r.IntN(64)
				}
				sig[0] |= 1 << 63
				sig[limbs-1] |= 1 << 63
				e := int32(r.IntN(1801) - 900)
				c := uint8(2 + r.IntN(2))
				switch r.IntN(20 + 2000*(trial%2)) {
				case 0:
					c = 0
				case 1:
					e = 900
				case 2:
					e = -900
				case 3:
					e, bad[i] = 901+r.Int32N(1<<30), true
				case 4:
					e, bad[i] = -901-r.Int32N(1<<30), true
				case 5:
					c, bad[i] = uint8(4+r.IntN(4)), true
				case 6:
					if limbs > 1 {
						sig[0], bad[i] = 0, true
					}
				}
				a.Exp[i], a.Cls[i] = e, c
				if c == 0 {
					a.Exp[i] = r.Int32()
					continue
				}
				floats[i] = math.Ldexp(float64(sig[limbs-1]>>11), int(e)-53)
				lowest[i] = int64(e) - int64(64*limbs) + int64(bits.TrailingZeros64(sig[0]))
			}
			got, want := NewFloatScan(vectors+1), NewFloatScan(vectors+1)
			low, wantLow := make([]int64, vectors+1), make([]int64, vectors+1)
			for i := range low {
				low[i] = math.MaxInt64 - int64(r.IntN(2))*r.Int64N(1<<62)
				wantLow[i] = low[i]
			}
			fine := true
			for h := range columns {
				for i := range vectors {
					n := at + h*stride + i
					fine = fine && !bad[n]
					if a.Cls[n] != 0 {
						wantLow[i] = min(wantLow[i], lowest[n])
					}
				}
			}
			if ok := ScanWords(k, got, low, a, at, stride, vectors, columns, 7); ok != fine {
				t.Fatalf("%s, seed %d, trial %d: %v, not %v", k.Name, seed, trial, ok, fine)
			} else if !ok {
				continue
			}
			want.Add(generic, vectors, floats[at:], stride, columns)
			for i := range low {
				if got.Most[i] != want.Most[i] || got.Sum[i] != want.Sum[i] || low[i] != wantLow[i] {
					t.Fatalf("%s, seed %d, trial %d: vector %d of %d: %g, %g, %d, not %g, %g, %d", k.Name, seed, trial, i, vectors,
						got.Most[i], got.Sum[i], low[i], want.Most[i], want.Sum[i], wantLow[i])
				}
			}
		}
	}
}

// TestFloatScan compares kernels with the plain loop, on numbers of all kinds, bit for bit.
func TestFloatScan(t *testing.T) {
	r := newRand(t)
	for _, k := range Kernels() {
		for trial := range 200 {
			vectors, columns := 1+r.IntN(21), 1+r.IntN(9)
			stride := r.IntN(vectors + 5)
			src := make([]float64, (columns-1)*stride+vectors)
			for i := range src {
				switch src[i] = math.Float64frombits(r.Uint64()); r.IntN(12 + 400*(trial%2)) {
				case 0:
					src[i] = math.Copysign(0, src[i])
				case 1:
					src[i] = math.Ldexp(1, r.IntN(2098)-1074)
				case 2:
					src[i] = math.Float64frombits(r.Uint64() &^ (0x7ff << 52))
				case 3:
					src[i] = math.Inf(1 - 2*r.IntN(2))
				case 4:
					src[i] = math.NaN()
				case 5:
					src[i] = math.Float64frombits(math.Float64bits(src[i]) &^ (1<<r.IntN(53) - 1))
				}
			}
			got, want := NewFloatScan(vectors+1), NewFloatScan(vectors+1)
			for range 2 {
				got.Add(k, vectors, src, stride, columns)
				want.Add(generic, vectors, src, stride, columns)
			}
			for i := range got.Most {
				if got.Most[i] != want.Most[i] || got.Low[i] != want.Low[i] || got.Sum[i] != want.Sum[i] && !math.IsNaN(want.Sum[i]) {
					t.Fatalf("%s, seed %d, trial %d: vector %d of %d: %g, %g, %d, not %g, %g, %d", k.Name, seed, trial, i, vectors,
						got.Most[i], got.Sum[i], got.Low[i], want.Most[i], want.Sum[i], want.Low[i])
				}
			}
		}
	}
}

// FuzzDigits compares the digits of any numbers, scaled and cut off anywhere, with the digits that
// the portable loops compute.
func FuzzDigits(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 1, 0, 0, 0, 0, 0, 0, 0x80}, int64(1084), uint8(3), uint8(2))
	f.Add([]byte{0xff, 0x7f, 0xff, 0x7f, 0xff, 0x7f, 0xff, 0x7f}, int64(-64), uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, scale int64, pairs, limbs uint8) {
		word := func(i int) (w uint64) {
			for j := range 8 {
				if len(data) > 0 {
					w |= uint64(data[(8*i+j)%len(data)]) << (8 * j)
				}
			}
			return w
		}
		for _, k := range Kernels() {
			n := 2 * k.NR
			p, l := 1+int(pairs)%MaxDigitsPairs, 1+int(limbs)%20
			floats, base := make([]float64, n), make([]int64, n)
			for i := range floats {
				b := word(i)
				if b>>52&0x7ff == 0x7ff {
					b &^= 1 << 62
				}
				// The least scale that keeps the number below 2^62 or 2^126.
				floats[i], base[i] = math.Float64frombits(b), max(64, int64(b>>52&0x7ff)-int64((p-1)/2*64))+int64(uint64(scale)%130)
			}
			got, want := make([]int16, 2*p*n), make([]int16, 2*p*n)
			Digits(k, got, p, floats, 4, base, 1, n/4)
			digitsGeneric(want, p, k.NR, floats, 4, base, 1, n/4)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: digits of %v, base %v, %d pairs: %v, not %v", k.Name, floats, base, p, got, want)
			}
			p = 1 + int(pairs)%60
			src, numbers := make([]uint64, n*l), make([]WordGroup, n/4)
			for i := range src {
				src[i] = word(i)
			}
			for i := range n {
				numbers[i/4].Set(uint(i%4), i*l, l, scale%4000+int64(37*i), word(i)&1)
			}
			got, want = make([]int16, 2*p*n), make([]int16, 2*p*n)
			WordDigits(k, got, p, src, l, numbers)
			wordDigitsGeneric(want, p, k.NR, src, l, numbers)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: digits of %v, %d limbs, scale %d, %d pairs: %v, not %v", k.Name, src, l, scale, p, got, want)
			}
		}
	})
}
