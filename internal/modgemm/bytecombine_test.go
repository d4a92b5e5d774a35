package modgemm

import (
	"math"
	"slices"
	"testing"
)

// TestCombineBytes compares with sums of residues times the words that the digits make, of random
// numbers and of those that make sums the largest.
func TestCombineBytes(t *testing.T) {
	r := newRand(t)
	for _, k := range byteKernels(t) {
		t.Run(k.Name, func(t *testing.T) {
			for trial := range 60 {
				moduli, words, panels := 1+r.IntN(70), 1+r.IntN(3*blockWords), 1+r.IntN(3)
				switch trial % 15 {
				case 0:
					moduli = maxCombined - r.IntN(2)
				case 1:
					moduli = 32 * (1 + r.IntN(3))
				case 2:
					words = blockWords * (1 + r.IntN(2))
				}
				kind := r.IntN(4)
				some := func(bits uint) int64 {
					switch kind {
					case 0:
						return -1 << (bits - 1)
					case 1:
						return 1<<(bits-1) - 1
					}
					return r.Int64N(1<<bits) - 1<<(bits-1)
				}
				rows := make([]int16, len(CombinedDigits)*words*2*moduli)
				weights := make([]int64, words*2*moduli)
				for g := range words {
					for column := range 2 * moduli {
						shift := uint(0)
						for i, bits := range CombinedDigits {
							d := some(bits)
							rows[(g*len(CombinedDigits)+i)*2*moduli+column] = int16(d)
							weights[g*2*moduli+column] += d << shift
							shift += bits
						}
					}
				}
				c := NewByteCombination(rows, words, moduli)

				n := panels * PanelVectors
				planeStride := n + r.IntN(70)
				planes, planesOK := guarded[int16]((moduli-1)*planeStride + n)
				kind = r.IntN(5)
				for i := range planes {
					switch kind {
					case 0:
						planes[i] = 1 << 14
					case 1:
						planes[i] = int16(r.Uint32()) // faults
					case 2:
						planes[i] = -1 << 14
					default:
						planes[i] = int16(r.IntN(1<<15+1) - 1<<14)
					}
				}
				y, yOK := guarded[int16](ByteColumns(moduli, n))
				for i := range y {
					y[i] = int16(r.Uint32())
				}
				packed := y[:2*Pairs(moduli)*n]
				PackResidues(k, packed, planes, planeStride, moduli, panels)
				stride := n + r.IntN(9)
				out, outOK := guarded[int64]((words-1)*stride + n)
				CombineBytes(k, out, stride, c, y, panels)
				if !planesOK() || !yOK() || !outOK() {
					t.Fatalf("seed %d, trial %d: writes outside", seed, trial)
				}
				defined, _ := guarded[int64](len(out))
				combineBytesGeneric(defined, stride, c, y, panels)
				if !slices.Equal(out, defined) {
					t.Fatalf("seed %d, trial %d, %d moduli, %d words, %d panels: not as defined", seed, trial, moduli, words, panels)
				}
				for i, got := range out {
					g, e := i/stride, i%stride
					want := int64(guardWord)
					if e < n {
						want = 0
						for m := range moduli {
							x := planes[m*planeStride+e]
							l, h := int64(uint8(x)), (int64(uint16(x+1<<14))>>8)-64
							want += l*weights[g*2*moduli+2*m] + h*weights[g*2*moduli+2*m+1]
						}
					}
					if got != want {
						t.Fatalf("seed %d, trial %d, %d moduli, %d words, %d panels: word %d of entry %d is %d, not %d", seed, trial, moduli, words, panels, g, e, got, want)
					}
				}
			}
		})
	}
}

// TestCombinationBound adds up what bytecombine.go bounds.
func TestCombinationBound(t *testing.T) {
	const sums = maxCombined * (math.MaxUint8 + math.MaxUint8) * 128
	if sums >= 1<<27 {
		t.Errorf("sums of digits up to %d", sums)
	}
	var word, shift int64
	for _, bits := range CombinedDigits {
		word += 1 << (bits - 1) << shift
		shift += int64(bits)
	}
	if word > 1<<38+1<<32 || shift != 39 {
		t.Errorf("words up to %d of %d bits", word, shift)
	}
	if x := float64(maxCombined * (255 + 64) * float64(word)); x >= 1<<57 {
		t.Errorf("words of sums up to %g", x)
	}
}
