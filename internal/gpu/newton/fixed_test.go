package newton_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/newton"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// TestRefine compares what is told of residuals with exact ones, for matrices near diagonal ones
// and inverses of these, and for X that are no inverses at all.
func TestRefine(t *testing.T) {
	cases := []struct {
		n, prec, spread, k, words int
		planes                    []int
		bad                       bool // X has nothing to do with F
	}{
		{n: 1, prec: 53, k: 1, words: 3, planes: []int{2, 2, 1}},
		{n: 30, prec: 53, k: 2, words: 3, planes: []int{4, 3, 3, 2, 1}},
		{n: 41, prec: 300, spread: 60, k: 1, words: 6, planes: []int{7, 6, 6, 5, 5, 5, 4, 3, 2, 1}},
		{n: 133, prec: 106, spread: 20, k: 1, words: 4, planes: []int{5, 5, 4, 3, 2}},
		{n: 20, prec: 700, spread: 5, k: 3, words: 12, planes: []int{12, 12, 11, 9, 9, 8, 8}},
		{n: 25, prec: 100, k: 1, words: 3, planes: []int{4, 4, 4}, bad: true},
	}
	run := func(t *testing.T, dev *cuda.Device) {
		for _, c := range cases {
			name := fmt.Sprintf("%+v", c)
			rng := rand.New(rand.NewPCG(3, uint64(c.n)))
			f := gputest.RandomMat(rng, gputest.MP(c.prec), gputest.Spread, c.n, c.n)
			g := gputest.RandomMat(rng, gputest.MP(c.prec), gputest.Spread, c.n, c.k)
			x := num.Mat{Arr: num.New(num.Float64, c.n*c.n), RS: c.n, CS: 1, Rows: c.n, Cols: c.n}
			norm := 0.0
			for i := range c.n {
				for j := range c.n {
					f.Arr.Exp[f.At(i, j)] -= int32(rng.IntN(c.spread+1)) + 14 // small
					switch {
					case i == j:
						setBig(f.Arr, f.At(i, j), new(big.Float).SetPrec(2000).Sub(big.NewFloat(float64(2*(i%2)-1)/2), bigOf(f.Arr, f.At(i, j))))
					case rng.IntN(10) == 0:
						f.Arr.Set(f.At(i, j), num.Real{Neg: true})
					}
					if i == j || c.bad {
						v, _ := bigOf(f.Arr, f.At(i, i)).Float64()
						x.Arr.F64[0][x.At(i, j)] = 1 / v
					}
				}
				norm = max(norm, 4*float64(map[bool]int{true: c.n}[c.bad]+1))
			}
			of := place.Refinement{Top: 1, Words: c.words, Planes: c.planes, Scale: int(math.Ceil(math.Log2(norm))) + 11}
			for j := range c.k {
				of.Shift = append(of.Shift, int64(j))
			}
			var lengths [][]int
			var got *num.Array
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
				var on [3]mem.Matrix
				for i, m := range []num.Mat{f, x, g} {
					a, err := mem.Upload(s, m.Arr)
					if err != nil {
						return err
					}
					defer a.Free()
					on[i] = mem.Matrix{Arr: a, Off: m.Off, RS: m.RS, CS: m.CS, Rows: m.Rows, Cols: m.Cols}
				}
				z, err := mem.NewArray(s, gputest.MP(64*(c.words+2)), c.n*c.k)
				if err != nil {
					return err
				}
				defer z.Free()
				var ok bool
				if lengths, ok, err = newton.Refine(s, of, on[0], on[1], on[2], mem.Matrix{Arr: z, RS: 1, CS: c.n, Rows: c.n, Cols: c.k}); err != nil || !ok {
					return fmt.Errorf("%s: %v, %w", name, ok, err)
				}
				got, err = z.Host(s)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			exact := func(x *big.Float) *big.Float { return new(big.Float).SetPrec(6000).Set(x) }
			for j, list := range lengths {
				lost := exact(big.NewFloat(1))
				for k, planes := range c.planes {
					lost.Add(lost, big.NewFloat(1))
					lost.Add(lost, new(big.Float).SetMantExp(big.NewFloat(float64(c.n)), of.Scale+list[k]+int(of.Top)-7-64*planes))
				}
				bound := lost.Add(lost, new(big.Float).SetMantExp(big.NewFloat(1), list[len(c.planes)]))
				bound.SetMantExp(bound, j-64*c.words)
				for i := range c.n {
					r := exact(bigOf(g.Arr, g.At(i, j)))
					for k := range c.n {
						r.Sub(r, exact(bigOf(f.Arr, f.At(i, k))).Mul(exact(bigOf(f.Arr, f.At(i, k))), bigOf(got, j*c.n+k)))
					}
					if r.Abs(r).Cmp(bound) > 0 {
						t.Fatalf("%s: residual %d of column %d is %g, bound %g (%v)", name, i, j, r, bound, list)
					}
				}
				if first, last := list[0], list[len(c.planes)]; c.bad == (last < first-20) {
					t.Errorf("%s: lengths %v", name, list)
				}
			}
		}
	}
	t.Run("reference", func(t *testing.T) { run(t, gputest.NewtonReference(t, new(fake.Driver))) })
	t.Run("emulated", func(t *testing.T) {
		t.Setenv(gputest.Emulate, "newton/fixed")
		run(t, gputest.NewtonReference(t, new(fake.Driver)))
		defer newton.LongSlices()() // in which sums of products fill 64 bits
		run(t, gputest.NewtonReference(t, new(fake.Driver)))
	})
	t.Run("device", func(t *testing.T) {
		dev := gputest.Machine(t)
		run(t, dev)
		defer newton.LongSlices()()
		run(t, dev)
	})
}
