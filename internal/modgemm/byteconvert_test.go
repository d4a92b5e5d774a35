package modgemm

import (
	"math"
	"math/big"
	"testing"
)

// TestConvertBytes compares with the residues of the numbers that the digits make, of random digits
// and those that make the sums the largest.
func TestConvertBytes(t *testing.T) {
	r := newRand()
	pool := ByteModuli()
	for _, k := range byteKernels(t) {
		t.Run(k.Name, func(t *testing.T) {
			for trial := range 150 {
				pairs := 1 + r.IntN(6)
				if trial%10 == 0 {
					pairs = 1 + r.IntN(maxBytePairs)
				}
				from := r.IntN(pool.Plain)
				if trial%3 == 0 {
					from = 0 // 256 is the first
				}
				moduli := pool.Moduli[from:min(pool.Plain, from+1+r.IntN(11))]
				w := make([]int64, len(moduli))
				for i, m := range moduli {
					for w[i] = 1; r.IntN(3) > 0; {
						if x := r.Int64N(int64(m)) - int64(m)/2; GCD(int((x+int64(m))%int64(m)), m) == 1 {
							w[i] = x
							break
						}
					}
				}
				c := NewByteConversion(moduli, w, pairs)
				n, panel := 64*(1+r.IntN(4)), 32>>(trial%2)
				digits := make([]int16, 2*pairs*n)
				number := func(e, s int) *int16 {
					return &digits[2*((e/panel*pairs+s/2)*panel+e%panel)+s%2]
				}
				for e := range n {
					// Bytes that make every sum of modulus t the largest or the least.
					kind, of := r.IntN(4), r.IntN(len(moduli))
					for s := range 2 * pairs {
						d := uint16(r.Uint32())
						if kind < 2 {
							word := c.table[of*(pairs+3)+s/2] >> (16 * (s % 2))
							for i := range 2 {
								d &^= 0xff << (8 * i)
								if int8(word>>(8*i)) > 0 == (kind == 0) {
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
				stride := n + 64*r.IntN(3)
				dst, intact := guardedBytes((len(moduli)-1)*stride + n)
				ConvertBytes(k, dst, stride, c, digits, panel, n)
				if !intact() {
					t.Fatalf("seed %d, trial %d: writes beyond its room", seed, trial)
				}
				var sum, rest big.Int
				for e := range n {
					sum.SetInt64(0)
					for s := 2*pairs - 1; s >= 0; s-- {
						sum.Lsh(&sum, 16).Add(&sum, big.NewInt(int64(*number(e, s))))
					}
					for i, m := range moduli {
						rest.Mul(&sum, big.NewInt(w[i]))
						want := int8(Balanced(rest.Mod(&rest, big.NewInt(int64(m))).Int64(), int64(m)))
						if got := dst[i*stride+e]; got != want {
							t.Fatalf("seed %d, trial %d: entry %d of %d is %d modulo %d, not %d (%d pairs)", seed, trial, e, n, got, m, want, pairs)
						}
					}
				}
			}
		})
	}
}

// TestByteConversionBound adds up what the proof of byteconvert.go bounds.
func TestByteConversionBound(t *testing.T) {
	pool := ByteModuli()
	for i, m := range pool.Moduli[:pool.Plain] {
		for _, w := range []int64{1, int64(m) - 1, int64(m)/2 - 1 + int64(m/2%2)} {
			if GCD(int(w), m) != 1 {
				continue
			}
			c := NewByteConversion([]int{m}, []int64{w}, maxBytePairs)
			low := int64(int32(c.table[maxBytePairs]))
			high := low
			for _, word := range c.table[:maxBytePairs] {
				for b := range 4 {
					x := 255 * int64(int8(word>>(8*b)))
					low, high = low+min(x, 0), high+max(x, 0)
				}
			}
			if i == 0 && (low <= 0 || high >= 1<<17) || low <= -1<<22 || high >= 1<<22 ||
				float64(max(high, -low))/float64(m)+0.5 > math.MaxInt16 {
				t.Errorf("modulus %d, w = %d: sums from %d to %d", m, w, low, high)
			}
		}
	}
}
