package superacc

import (
	"math"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/testseed"
)

func needAssembly(t testing.TB) {
	if !Assembly() {
		t.Skip("no assembly at this level")
	}
}

func TestSpanKernel(t *testing.T) {
	needAssembly(t)
	r := testseed.Rand(t, 11, 12)
	for n := range 70 {
		exp, cls := make([]int32, n), make([]uint8, n)
		for range 20 {
			for i := range n {
				exp[i], cls[i] = int32(r.Uint32()), 2|uint8(r.IntN(2))
			}
			if n > 0 && r.IntN(2) == 0 {
				cls[r.IntN(n)] = uint8(r.IntN(8))
			}
			low, high, finite := spanFast(exp, cls)
			if l, h, f := span(exp, cls); low != l || high != h || finite != f {
				t.Fatalf("n = %d: %d, %d, %v, want %d, %d, %v", n, low, high, finite, l, h, f)
			}
		}
	}
}

func TestSumNearKernel(t *testing.T) {
	needAssembly(t)
	r := testseed.Rand(t, 9, 10)
	for limbs := 1; limbs <= maxNear; limbs++ {
		for trial := range 50 {
			n := 1 + r.IntN(40)
			sig, exp, cls := make([]uint64, n*limbs), make([]int32, n), make([]uint8, n)
			base := int64(int32(r.Uint32())) / 2
			for i := range n {
				exp[i] = int32(base) + 1 + int32(r.IntN(63))
				cls[i] = 2 | uint8(r.IntN(2))
				for k := range limbs {
					if sig[i*limbs+k] = r.Uint64(); trial%5 == 0 {
						sig[i*limbs+k] = math.MaxUint64
					}
				}
			}
			want, got := make([]uint64, limbs+2), make([]uint64, limbs+2)
			for signs := range uint64(2) {
				sumNear(want, sig, exp, cls, limbs, base, signs)
				sumNearFast(got, sig, exp, cls, limbs, base, signs)
				if !slices.Equal(got, want) {
					t.Fatalf("%d limbs, n = %d: %x, want %x", limbs, n, got, want)
				}
			}
		}
	}
}

func TestSumDigitsKernel(t *testing.T) {
	if !sumUnit() {
		t.Skip("no kernels for sums of digits")
	}
	r := testseed.Rand(t, 19, 20)
	for limbs := 1; limbs <= 8*sumVectors; limbs++ {
		for trial := range 20 {
			n := 1 + r.IntN(40)
			sig, exp, cls := make([]uint64, n*limbs), make([]int32, n), make([]uint8, n)
			for i := range sig {
				if sig[i] = r.Uint64(); r.IntN(2) == 0 {
					sig[i] = math.MaxUint64
				}
			}
			low := int32(r.Uint32()) >> 1
			for i := range exp {
				exp[i], cls[i] = low+int32(r.IntN(sumSpan+1)), uint8(2+r.IntN(2))
				if trial%2 == 0 && r.IntN(5) == 0 {
					exp[i], cls[i] = int32(r.Uint32()), uint8(r.IntN(8))&^2
				}
			}
			signs := r.Uint64() & 1
			want, got := (*[sumWords]uint64)(Aligned(sumWords)), (*[sumWords]uint64)(Aligned(sumWords))
			for range 2 { // sums go on
				sumDigits(want, sig, exp, cls, limbs, int64(low), signs)
				sumDigitsFast(got, sig, exp, cls, limbs, int64(low), signs)
			}
			if !slices.Equal(want[sumNegatives:], got[sumNegatives:]) {
				t.Fatalf("limbs %d signs %d: %#x, want %#x; sig %#x exp %v - %d cls %v", limbs, signs, got[sumNegatives:], want[sumNegatives:], sig, exp, low, cls)
			}
		}
	}
}

func TestSumLimbsKernel(t *testing.T) {
	needAssembly(t)
	r := testseed.Rand(t, 5, 6)
	for limbs := 1; limbs <= 9; limbs++ {
		for range 30 {
			n, width := 1+r.IntN(20), r.IntN(500)
			pitch := limbs + width/64 + 4
			want := make([]uint64, 2*pitch)
			got, ok := numtest.Guarded(2*pitch, uint64(0xdeadbeef))
			sig := make([]uint64, n*limbs)
			for i := range sig {
				if sig[i] = r.Uint64(); r.IntN(2) == 0 {
					sig[i] = math.MaxUint64
				}
			}
			exp, cls := make([]int32, n), make([]uint8, n)
			for i := range exp {
				exp[i], cls[i] = int32(r.IntN(width+1)-100), uint8(2+r.IntN(2))
				if r.IntN(5) == 0 {
					cls[i] = uint8(r.IntN(7))
				}
			}
			sumLimbs(want, pitch, sig, exp, cls, limbs, -100)
			sumLimbsFast(got, pitch, sig, exp, cls, limbs, -100)
			for i := range want {
				if want[i] != got[i] {
					t.Fatalf("limbs %d: word %d is %#x, want %#x; sig %#x exp %v cls %v", limbs, i, got[i], want[i], sig, exp, cls)
				}
			}
			if !ok() {
				t.Fatalf("limbs %d: guards overwritten", limbs)
			}
		}
	}
}

func TestSumRowsKernel(t *testing.T) {
	needAssembly(t)
	r := testseed.Rand(t, 15, 16)
	for limbs := 1; limbs <= 13; limbs++ {
		for range 30 {
			n, width := 1+r.IntN(20), r.IntN(500)
			half := width/64 + limbs + 3
			want := make([]uint64, 256*half)
			got, ok := numtest.Guarded(256*half, uint64(0xdeadbeef))
			sig := make([]uint64, n*limbs)
			for i := range sig {
				if sig[i] = r.Uint64(); r.IntN(2) == 0 {
					sig[i] = math.MaxUint64
				}
			}
			exp, cls := make([]int32, n), make([]uint8, n)
			for i := range exp {
				exp[i], cls[i] = int32(r.IntN(width+1)-100), uint8(2+r.IntN(2))
				if r.IntN(5) == 0 {
					cls[i] = uint8(r.IntN(7))
				}
			}
			var used, usedFast [128]uint8
			signs := r.Uint64() & 1
			sumRows(want, &used, half, sig, exp, cls, limbs, -100, signs)
			sumRowsFast(got, &usedFast, half, sig, exp, cls, limbs, -100, signs)
			if used != usedFast || !slices.Equal(want, got) {
				t.Fatalf("limbs %d signs %d: rows differ; sig %#x exp %v cls %v", limbs, signs, sig, exp, cls)
			}
			if !ok() {
				t.Fatalf("limbs %d: guards overwritten", limbs)
			}
		}
	}
}

func TestSumRowsNearKernel(t *testing.T) {
	needAssembly(t)
	r := testseed.Rand(t, 17, 18)
	for limbs := range 13 {
		for range 30 {
			n, width := 1+r.IntN(20), r.IntN(500)
			half := width/64 + limbs + 3
			want := make([]uint64, 256*half)
			got, ok := numtest.Guarded(256*half, uint64(0xdeadbeef))
			others, othersOK := numtest.Guarded(256*half, uint64(0xdeadbeef))
			sig := make([]uint64, n*limbs)
			for i := range sig {
				if sig[i] = r.Uint64(); r.IntN(2) == 0 {
					sig[i] = math.MaxUint64
				}
			}
			exp, cls := make([]int32, n), make([]uint8, n)
			for i := range exp {
				exp[i], cls[i] = int32(r.IntN(width+1)-100), uint8(2+r.IntN(2))
			}
			low := int64(slices.Min(exp))
			span := int(int64(slices.Max(exp)) - low)
			var used, usedFast [128]uint8
			signs := r.Uint64() & 1
			if !sumRowsNearFast(got, others, &usedFast, half, sig, exp, cls, limbs, -100, low, span, signs) {
				continue
			}
			sumRows(want, &used, half, sig, exp, cls, limbs, -100, signs)
			for i, x := range others {
				got[i] += x
			}
			if used != usedFast || !slices.Equal(want, got) {
				t.Fatalf("limbs %d signs %d: rows differ; sig %#x exp %v cls %v", limbs, signs, sig, exp, cls)
			}
			if !ok() || !othersOK() {
				t.Fatalf("limbs %d: guards overwritten", limbs)
			}
		}
	}
}
