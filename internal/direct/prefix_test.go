package direct

import (
	"context"
	"math"
	"sync/atomic"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testseed"
)

// Parts that run at once have the sums of one that runs alone, also behind infinities.
func TestPrefixSums(t *testing.T) {
	r := testseed.Rand(t, 31, 3)
	const n = 3*chunk + 5
	for _, special := range []int{n, chunk + 7} {
		x := num.New(num.Float64, 2*n)
		for i := range n {
			v := math.Ldexp(r.Float64()-0.5, r.IntN(120))
			if i%2 == 1 && r.IntN(3) > 0 {
				v = -x.F64[0][2*(i-1)]
			}
			if i >= special && r.IntN(1000) == 0 {
				v = math.Inf(-1)
			}
			x.F64[0][2*i] = v
		}
		v := num.Vec{Arr: x, Inc: 2, N: n}
		for _, threads := range []int{1, 3} {
			var overflow atomic.Int64
			z := num.New(num.Float32, n)
			w := Work{Run: par.Run{Ctx: context.Background(), Threads: threads}}
			err := PrefixSums(w, v, z, func(f num.Flags) {
				if f&num.Overflow != 0 {
					overflow.Add(1)
				}
			})
			if err != nil || overflow.Load() != 0 {
				t.Fatal(err, overflow.Load())
			}
			var a superacc.Acc
			want := num.New(z.Format, 1)
			for i := range n {
				a.AddVec(v.Slice(i, i+1))
				want.Set(0, a.Value(z.Format))
				if math.Float32bits(z.F32[i]) != math.Float32bits(want.F32[0]) {
					t.Fatalf("%d threads: sum of %d numbers is %g, want %g", threads, i+1, z.F32[i], want.F32[0])
				}
			}
		}
	}
}

func BenchmarkPrefixSums(b *testing.B) {
	const n = 1 << 20
	x := num.New(num.Float64, n)
	for i := range n {
		x.F64[0][i] = math.Ldexp(1/float64(i+1), i%64)
	}
	z := num.New(num.Float64, n)
	b.SetBytes(8 * n)
	for range b.N {
		if err := PrefixSums(Work{Run: par.Run{Ctx: context.Background(), Threads: 1}}, num.Vec{Arr: x, Inc: 1, N: n}, z, func(num.Flags) {}); err != nil {
			b.Fatal(err)
		}
	}
}
