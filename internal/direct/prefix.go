package direct

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
)

// PrefixSums stores the sum of the first i + 1 entries of x, rounded, in number i of z, and counts
// the flags. The exact sum is carried from one entry to the next. Parts of x are first summed
// separately, so that each part can begin with the sum of the parts before it.
func PrefixSums(w Work, x num.Vec, z *num.Array, count func(num.Flags)) error {
	parts := (x.N + chunk - 1) / chunk
	before := make([]superacc.Acc, parts) // the sum before each part; at first the sum of one part
	if parts > 1 {
		err := par.For(w.Ctx, w.Threads, parts-1, func(_, i int) {
			Sum.addTo(&before[i+1], x, x, i*chunk, (i+1)*chunk)
		})
		if err != nil {
			return err
		}
		for i := 2; i < parts; i++ {
			before[i].Merge(&before[i-1])
		}
	}
	return w.loop(parts, func(_, p int) {
		a := &before[p]
		for i := p * chunk; i < min((p+1)*chunk, x.N); i++ {
			a.Add(x.Arr.Value(x.At(i), a.Buffer(0)))
			if f := z.Set(i, a.Value(z.Format)); f != 0 {
				count(f)
			}
		}
		*a = superacc.Acc{} // frees its memory
	})
}
