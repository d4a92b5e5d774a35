package superacc

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestWordDot compares wordDot with package big at every level, for random words and for the
// largest. Lengths are near the length of a group and the length after which sums are added up.
func TestWordDot(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		for _, n := range []int{0, 1, 3, 4, 5, 7, 8, 63, 1000, 2047, 2048, 2049, 2053, 4096, 5001} {
			for how := range 4 {
				x, ok := numtest.Guarded(n, uint64(math.MaxUint64))
				w, okW := numtest.Guarded(n, uint64(math.MaxUint64))
				want, p := new(big.Int), new(big.Int)
				for i := range x {
					x[i], w[i] = r.Uint64()>>1, r.Uint64()
					switch {
					case how == 1:
						x[i], w[i] = math.MaxInt64, math.MaxUint64
					case how == 2:
						x[i], w[i] = x[i]>>r.UintN(63), w[i]>>r.UintN(64)
					case how == 3:
						x[i], w[i] = 1<<r.UintN(63), 1<<r.UintN(64)
					}
					want.Add(want, p.Mul(p.SetUint64(x[i]), new(big.Int).SetUint64(w[i])))
				}
				s0, s1, s2 := NewWordVector(x).Dot(w)
				got := new(big.Int).SetUint64(s2)
				got.Lsh(got, 64).Or(got, p.SetUint64(s1)).Lsh(got, 64).Or(got, p.SetUint64(s0))
				if got.Cmp(want) != 0 || !ok() || !okW() {
					t.Fatalf("seed %d, level %v, n = %d, numbers %d: %x, want %x", seed, level, n, how, got, want)
				}
			}
		}
		restore()
	}
}

// TestWordKernel compares the kernel with the loop that it equals.
func TestWordKernel(t *testing.T) {
	if !wordKernel() {
		t.Skip("no kernel at this level")
	}
	r := testseed.Rand(t, 1, 2)
	for _, groups := range []int{1, 2, 3, 17, wordGroups} {
		w, parts := make([]uint64, 4*groups), make([]uint64, 8*groups)
		for trial := range 10 {
			for i := range w {
				c := r.Uint64() >> 1
				if w[i] = r.Uint64(); trial == 0 {
					c, w[i] = math.MaxInt64, math.MaxUint64
				}
				parts[i/4*8+i%4], parts[i/4*8+4+i%4] = c&(1<<21-1)|c>>21&(1<<21-1)<<32, c>>42
			}
			var got, want [6]uint64
			wordDot(w, parts, &want)
			if wordDotFast(w, parts, &got); got != want {
				t.Fatalf("%d groups: %x, want %x", groups, got, want)
			}
		}
	}
}

func BenchmarkWordDot(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x, w := make([]uint64, 1000), make([]uint64, 1000)
	for i := range x {
		x[i], w[i] = r.Uint64()>>1, r.Uint64()
	}
	v := NewWordVector(x)
	for b.Loop() {
		v.Dot(w)
	}
}
