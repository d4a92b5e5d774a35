package direct

import (
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Parts are binary64 numbers that are read part by part. Read returns the numbers of part i, at
// most FloatPart. They stay unchanged until the same worker reads again. Every part may be read
// twice.
type Parts struct {
	N    int
	Read func(worker, i int) ([]float64, error)
}

// FloatPart is the largest number of numbers in a part.
const FloatPart = floatChunk

// each calls f for all parts.
func (p Parts) each(w Work, f func(worker int, x []float64)) error {
	errs := make([]error, p.N)
	var failed atomic.Bool
	err := w.loop(p.N, func(worker, i int) {
		if failed.Load() {
			return
		}
		var x []float64
		if x, errs[i] = p.Read(worker, i); errs[i] != nil {
			failed.Store(true)
			return
		}
		f(worker, x)
	})
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	return err
}

// RoundParts is Round for the sums Sum and Asum of numbers in parts.
func (r Reduction) RoundParts(w Work, p Parts, z *num.Array) (flags num.Flags, exact bool, err error) {
	workers := max(1, min(w.Threads, p.N))
	tried := false
	if z.Bits() <= floatBits {
		sums := make([]floatSum, workers)
		if err := p.each(w, func(worker int, x []float64) {
			if s := &sums[worker]; !s.failed {
				s.addSlices(r, x, x)
			}
		}); err != nil {
			return 0, false, err
		}
		if a, bound, ok := joined(sums); ok {
			if flags, ok := a.RoundEnclosure(z, bound); ok {
				return flags, false, nil
			}
			tried = true
		}
	}
	accs := make([]superacc.Acc, workers)
	if err := p.each(w, func(worker int, x []float64) {
		v := num.Vec{Arr: &num.Array{Format: num.Float64, F64: [4][]float64{x}}, Inc: 1, N: len(x)}
		r.addTo(&accs[worker], v, v, 0, len(x))
	}); err != nil {
		return 0, tried, err
	}
	for i := range accs[1:] {
		accs[0].Merge(&accs[1+i])
	}
	return z.Set(0, accs[0].Value(z.Format)), tried, nil
}
