package ozaki

import (
	"fmt"
	"math"
	"time"

	"github.com/halfulp/halfulp/internal/par"
)

// choose sets Slices to the smallest number whose bound meets Tolerance.
func (r *run) choose() error {
	start := time.Now()
	defer func() { r.stage(splitting, start) }()
	have := 0
	var a, b []norms // of the blocks
	for slices := 1; slices <= MaxSlices && r.Tolerance >= 4*unit64; slices++ {
		if slices > have {
			have = min(2*slices+2, MaxSlices)
			var err error
			if a, err = r.normsOf(r.a, r.expA, have); err != nil {
				return err
			}
			if b, err = r.normsOf(r.b, r.expB, have); err != nil {
				return err
			}
		}
		ok, err := r.meets(a, b, slices)
		if err != nil {
			return err
		}
		if ok {
			r.Slices = slices
			return nil
		}
	}
	return fmt.Errorf("%w: %g by %d slices", ErrTolerance, r.Tolerance, MaxSlices)
}

// normsOf returns the norms of the slices of each block of x.
func (r *run) normsOf(x vectors, exp []int, slices int) ([]norms, error) {
	var list []norms
	for h := 0; h < x.len; h += r.Block {
		h1 := min(h+r.Block, x.len)
		if x.norms != nil {
			z, err := x.norms(h, h1, slices)
			if err != nil {
				return nil, err
			}
			list = append(list, z)
			continue
		}
		none := want{func(int) bool { return false }, func(int) bool { return false }}
		s, err := newSplit(r.ctx, r.threads, x.part(0, x.n, h, h1), exp, r.width, slices, 16, none)
		if err != nil {
			return nil, err
		}
		list = append(list, s.norms)
	}
	return list, nil
}

// meets reports whether the bound of every entry, with two roundings of the result, is at most
// Tolerance times the norms of its row and column.
func (r *run) meets(a, b []norms, slices int) (bool, error) {
	lower := func(list []norms, n int) []float64 {
		x := make([]float64, n)
		for v := range x {
			sum := 0.0
			for _, l := range list {
				sum += float64(l.r[0][v] * l.r[0][v])
			}
			x[v] = math.Sqrt(sum) * (1 - 0x1p-22) // r_1 was rounded to float32
		}
		return x
	}
	normA, normB := lower(a, r.a.n), lower(b, r.b.n)
	var es []*errorBound
	for h := range a {
		n := min(r.Block, r.a.len-h*r.Block)
		es = append(es, newErrorBound(a[h], b[h], slices, r.width, n, len(a)-1))
	}
	bad := make([]bool, r.b.n)
	err := par.For(r.ctx, r.threads, r.b.n, func(_, j int) {
		for i := range r.a.n {
			sum := 0.0
			for _, e := range es {
				sum += e.at(i, j)
			}
			size := float64(normA[i] * normB[j])
			if sum+float64(4*unit64*size) > r.Tolerance*size*(1-0x1p-40) {
				bad[j] = true
				return
			}
		}
	})
	for _, x := range bad {
		if x {
			return false, err
		}
	}
	return true, err
}
