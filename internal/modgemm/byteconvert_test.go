package modgemm

import (
	"math"
	"math/big"
	"slices"
	"testing"
)

// TestConvertBytes compares with the residues of the numbers that the digits make, of random digits
// and of those that make sums the largest.
func TestConvertBytes(t *testing.T) {
	r := newRand(t)
	pool := ByteModuli()
	for _, k := range byteKernels(t) {
		t.Run(k.Name, func(t *testing.T) {
			for trial := range 120 {
				pairs := 1 + r.IntN(20)
				plain, karatsuba := r.IntN(40), r.IntN(40)
				fromPlain, fromKaratsuba := r.IntN(pool.Plain), pool.Plain+r.IntN(len(pool.Moduli)-pool.Plain)
				switch trial % 6 {
				case 0:
					fromPlain, fromKaratsuba = 0, pool.Plain // 256 is the first
				case 1:
					fromKaratsuba = len(pool.Moduli) - 1 - r.IntN(20)
				case 2:
					plain = 0
				case 3:
					karatsuba = 0
				}
				switch trial % 20 {
				case 0:
					pairs = maxPlainPairs - r.IntN(2)
				case 1:
					pairs, plain = maxBytePairs-r.IntN(2), 0
				}
				moduli := slices.Concat(pool.Moduli[fromPlain:min(pool.Plain, fromPlain+plain)], pool.Moduli[fromKaratsuba:min(len(pool.Moduli), fromKaratsuba+karatsuba)])
				plain = min(plain, pool.Plain-fromPlain)
				w := make([]int64, len(moduli))
				for i, m := range moduli {
					for w[i] = 1; r.IntN(3) > 0; {
						if x := r.Int64N(int64(m)); GCD(int(x+int64(m)), m) == 1 {
							w[i] = x - int64(m)*r.Int64N(2)
							break
						}
					}
				}
				c := NewByteConversion(moduli, w, pairs)
				n, panel := 64*(1+r.IntN(3)), 32>>(r.IntN(4)/3)
				digits := make([]int16, ByteDigits(pairs, n))
				number := func(e, s int) *int16 {
					return &digits[2*((e/panel*pairs+s/2)*panel+e%panel)+s%2]
				}
				rows, vectors := len(c.table)/(64*c.steps), c.onVectors()
				for e := range n {
					kind, row, of := r.IntN(5), r.IntN(max(rows, 1)), r.IntN(max(vectors, 1))
					onVectors := rows == 0 || vectors > 0 && r.IntN(2) == 0
					for s := range 2 * pairs {
						d := uint16(r.Uint32())
						if kind < 2 && rows+vectors > 0 {
							// Plain bytes that make the sum of a row the largest or the least.
							for i := range 2 {
								h := 2*s + i
								var factor int8
								if onVectors {
									factor = int8(c.words[of*(pairs+3)+h/4] >> (8 * (h % 4)))
								} else {
									factor = c.table[((row/32*c.steps+h/64)*2+row%32/16)*1024+row%16*64+h%64]
								}
								d &^= 0xff << (8 * i)
								if factor > 0 == (kind == 0) {
									d |= 0xff << (8 * i)
								}
							}
							d ^= 0x8000
						} else if kind == 2 {
							d = []uint16{0, 1, 0x7fff, 0x8000, 0xffff}[r.IntN(5)]
						}
						*number(e, s) = int16(d)
					}
				}
				sums := make([]*big.Int, n)
				for e := range sums {
					sums[e] = new(big.Int)
					for s := 2*pairs - 1; s >= 0; s-- {
						sums[e].Lsh(sums[e], 16).Add(sums[e], big.NewInt(int64(*number(e, s))))
					}
				}
				for i := 2 * pairs * n; i < len(digits); i++ {
					digits[i] = int16(r.Uint32())
				}
				stride := n + 64*r.IntN(3)
				dst, intact := guardedBytes(max(0, (c.planes()-1)*stride+n))
				ConvertBytes(k, dst, stride, c, digits, panel, n, trial%2 == 1)
				if !intact() {
					t.Fatalf("seed %d, trial %d: writes beyond its room", seed, trial)
				}
				var rest big.Int
				for e := range n {
					plane := 0
					for i, m := range moduli {
						rest.Mul(sums[e], big.NewInt(w[i]))
						a := Balanced(rest.Mod(&rest, big.NewInt(int64(m))).Int64(), int64(m))
						got := int64(dst[plane*stride+e])
						same := got == int64(int8(a))
						if plane++; i >= plain {
							a1, sum := int64(dst[plane*stride+e]), int64(dst[(plane+1)*stride+e])
							same = sum == got+a1
							got += 128 * a1
							same = same && Balanced(got, int64(m)) == a && max(got, -got) <= int64(m/2+9)
							plane += 2
						}
						if !same {
							t.Fatalf("seed %d, trial %d: entry %d of %d is %d modulo %d, not %d (%d pairs)", seed, trial, e, n, got, m, a, pairs)
						}
					}
				}
			}
		})
	}
}

// TestByteConversionBound adds up what the proof of byteconvert.go bounds.
func TestByteConversionBound(t *testing.T) {
	const bound = 256*255*127 + 127
	pool := ByteModuli()
	for i, m := range pool.Moduli[:pool.Plain] {
		for _, w := range []int64{1, int64(m) - 1, int64(m)/2 - 1 + int64(m/2%2)} {
			if GCD(int(w), m) != 1 {
				continue
			}
			c := NewByteConversion([]int{m}, []int64{w}, maxPlainPairs)
			low := int64(int32(c.tails[0]))
			high := low
			for h := range 4 * maxPlainPairs {
				x := 255 * int64(c.table[h/64*2048+h%64])
				low, high = low+min(x, 0), high+max(x, 0)
			}
			if i == 0 && (low <= 0 || high >= 1<<17) || low < -bound || high > bound ||
				float64(max(high, -low))/float64(m)+0.5 > math.MaxInt16 {
				t.Errorf("modulus %d, w = %d: sums from %d to %d", m, w, low, high)
			}
		}
		if i == 0 {
			continue
		}
		// The largest sums next to halves of odd multiples of m.
		inv := float32(1 / float64(m))
		for q := bound/m - 300; q < bound/m; q++ {
			for _, x := range []int{m*q + m/2, m*q + m/2 + 1, -m*q - m/2, -m*q - m/2 - 1} {
				const magic = 3 << 22
				got := int(float32(math.FMA(float64(x), float64(inv), magic)) - magic)
				if r := x - m*got; 2*r >= m || 2*r <= -m {
					t.Fatalf("modulus %d: %d/m is rounded to %d", m, x, got)
				}
			}
		}
	}
}

// TestKaratsubaConversionFolds follows the reduction of the assembly from the largest sums, and
// those that leave the last fold next to half a modulus.
func TestKaratsubaConversionFolds(t *testing.T) {
	const most = maxBytePairs * 4 * 255 * 127
	pool := ByteModuli()
	r := newRand(t)
	for i, m := range pool.Moduli[pool.Plain:] {
		if i%37 != 0 && m != pool.Moduli[len(pool.Moduli)-1] {
			continue
		}
		fold := func(x int32) int32 { return int32(wordFold(t, int64(x), m)) }
		for range 500 {
			some := func() int32 {
				if r.IntN(2) == 0 {
					return int32(most - 2*most*r.IntN(2))
				}
				return int32(r.IntN(2*most+1) - most)
			}
			x0, x1, first := some(), some(), int32(r.IntN(m)-m/2)
			if r.IntN(3) == 0 {
				x0 = x0/int32(m)*int32(m) + int32(m/2) + int32(r.IntN(3)-1)
				x1, first = 0, 0
				x0 = max(-most, min(most, x0))
			}
			got := int64(fold(x0 + first + 128*fold(x1)))
			if want := Balanced(int64(x0)+int64(first)+128*int64(x1), int64(m)); Balanced(got, int64(m)) != want || max(got, -got) > int64(m/2+9) {
				t.Fatalf("%d + %d + 128 %d modulo %d: %d, want %d", x0, first, x1, m, got, want)
			}
		}
	}
}
