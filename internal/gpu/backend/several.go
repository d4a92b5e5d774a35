package backend

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/newton"
	"github.com/halfulp/halfulp/internal/gpu/product"
	"github.com/halfulp/halfulp/internal/gpu/seed"
	"github.com/halfulp/halfulp/internal/gpu/several"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// together holds the places of several GPUs.
var together struct {
	sync.Mutex
	list []*group
}

// group is several GPUs that form a place together.
type group struct {
	devs  []*cuda.Device
	place *several.Place

	mu     sync.Mutex    // held for one meeting at a time
	events []*cuda.Event // one of each GPU, recorded in a meeting; guarded by mu
}

// severalOf returns the place of several GPUs, the same at every call.
func severalOf(first *cuda.Device, numbers []int) (place.Place, error) {
	g := &group{devs: []*cuda.Device{first}}
	parts := []several.GPU{at(first)}
	for _, i := range numbers[1:] {
		dev, err := mem.Open(i)
		if err != nil {
			return nil, absent(err)
		}
		g.devs, parts = append(g.devs, dev), append(parts, at(dev))
	}
	together.Lock()
	defer together.Unlock()
	for _, old := range together.list {
		if slices.Equal(old.devs, g.devs) {
			return old.place, nil
		}
	}
	names := name(numbers...)
	g.place = several.New(names, parts, &gpus{first: first, more: numbers[1:], name: names}, g)
	together.list = append(together.list, g)
	return g.place, nil
}

// on runs f on GPU d.
func (g *group) on(ctx context.Context, d int, f func(d int, s *cuda.Stream) error) error {
	return explained(g.devs[d].Do(ctx, func(s *cuda.Stream) error { return f(d, s) }))
}

// inTurn runs f, which must not wait, on one GPU after the other, and returns the first error.
func (g *group) inTurn(ctx context.Context, f func(d int, s *cuda.Stream) error) (err error) {
	for d := range g.devs {
		err = cmp.Or(err, g.on(ctx, d, f))
	}
	return err
}

// each runs f on all GPUs concurrently, and returns the first error. The goroutines of the place
// rarely sleep.
func (g *group) each(ctx context.Context, f func(d int, s *cuda.Stream) error) error {
	errs := make([]error, len(g.devs))
	g.place.Crew().Do(len(g.devs), func(d int) { errs[d] = g.on(ctx, d, f) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Meet makes all GPUs wait for each other; the host does not wait.
func (g *group) Meet(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.events == nil {
		g.events = make([]*cuda.Event, len(g.devs))
	}
	err := g.inTurn(ctx, func(d int, s *cuda.Stream) (err error) {
		if g.events[d] == nil {
			if g.events[d], err = s.NewEvent(); err != nil {
				return err
			}
		}
		return s.Record(g.events[d])
	})
	if err != nil {
		return err
	}
	return g.inTurn(ctx, func(d int, s *cuda.Stream) error {
		for e, other := range g.events {
			if e == d {
				continue
			}
			if err := s.Wait(other); err != nil {
				return err
			}
		}
		return nil
	})
}

// Pull copies n numbers of GPU from's array a to GPU to's array z.
func (g *group) Pull(ctx context.Context, to int, z *num.Array, j, from int, a *num.Array, i, n int) error {
	return explained(g.devs[to].Do(ctx, func(s *cuda.Stream) error {
		m := mem.Matrix{Arr: arrayOf(z), Off: j, RS: 1, CS: n, Rows: n, Cols: 1}
		m.Changed()
		return m.Arr.CopyPeer(s, j, g.devs[from], arrayOf(a), i, n)
	}))
}

// Gather copies panels to the GPUs that need them.
func (g *group) Gather(ctx context.Context, start []int, from, to []num.Mat, want [][2]int, known bool) ([]place.Panels, error) {
	all := make([]*product.Panels, len(g.devs))
	err := g.each(ctx, func(d int, s *cuda.Stream) (err error) {
		all[d], err = product.LookAt(s, Matrix(from[d]), start, d, known)
		return err
	})
	if err == nil {
		err = g.each(ctx, func(d int, s *cuda.Stream) error {
			if to[d].Arr == nil {
				return nil
			}
			return all[d].Gather(s, all, Matrix(to[d]), want[d][0], want[d][1])
		})
	}
	list := make([]place.Panels, len(all))
	for d, p := range all {
		list[d] = p
	}
	if err != nil {
		ctx := context.WithoutCancel(ctx)
		_ = g.Meet(ctx) // fails only if a GPU is lost
		g.Release(ctx, list)
		return nil, err
	}
	return list, nil
}

// Release frees the panels that Gather has returned.
func (g *group) Release(ctx context.Context, list []place.Panels) {
	all := make([]*product.Panels, len(list))
	for d, p := range list {
		all[d] = p.(*product.Panels)
	}
	each := func(f func(p *product.Panels, s *cuda.Stream) error) {
		_ = g.each(ctx, func(d int, s *cuda.Stream) error { // fails only if a GPU is lost
			if p := all[d]; p != nil {
				return f(p, s)
			}
			return nil
		})
	}
	each(func(p *product.Panels, s *cuda.Stream) error { return p.Leave(s, all) })
	each(func(p *product.Panels, _ *cuda.Stream) error { return p.Free() })
}

// Lent returns m prepared with copies that the GPUs already hold.
func (g *group) Lent(m num.Mat, on []num.Mat) place.Prepared {
	c := product.NewCopies(m)
	for d, z := range on {
		c.Lend(g.devs[d], Matrix(z))
	}
	return c
}

// Inverse runs on all GPUs.
func (g *group) Inverse(ctx context.Context, a, x []num.Mat) (rows, cols []int64, ok, possible bool, err error) {
	rows, cols, ok, possible, err = seed.InverseTogether(ctx, g.shares(a, x))
	return rows, cols, ok, possible, explained(err)
}

// InverseRoot runs on all GPUs.
func (g *group) InverseRoot(ctx context.Context, a, x []num.Mat) (exps []int64, ok, possible bool, err error) {
	exps, ok, possible, err = seed.InverseRootTogether(ctx, g.shares(a, x))
	return exps, ok, possible, explained(err)
}

// shares returns the GPUs' shares of a matrix and of its inverse.
func (g *group) shares(a, x []num.Mat) (list []seed.Share) {
	for d, dev := range g.devs {
		list = append(list, seed.Share{Device: dev, A: Matrix(a[d]), X: Matrix(x[d])})
	}
	return list
}

// Linked calls cuda.Linked for all GPUs.
func (g *group) Linked(ctx context.Context) (bool, error) {
	all, err := cuda.Linked(ctx, g.devs...)
	return all, explained(err)
}

// Refine runs on all GPUs.
func (g *group) Refine(ctx context.Context, r place.Refinement, there [][]num.Mat) ([][]int, bool, error) {
	var shares []newton.Share
	for d, m := range there {
		shares = append(shares, newton.Share{Device: g.devs[d], F: Matrix(m[0]), X: Matrix(m[1]), G: Matrix(m[2]), Z: Matrix(m[3])})
	}
	lengths, ok, err := newton.RefineTogether(ctx, r, shares)
	return lengths, ok, explained(err)
}

// acrossOf returns the blocks as views of GPU arrays.
func acrossOf(list []several.Across) (z []newton.Across) {
	for _, x := range list {
		z = append(z, newton.Across{A: Matrix(x.A), B: Matrix(x.B), Triangle: x.Triangle})
	}
	return z
}

// CountAsymmetric runs on all GPUs.
func (g *group) CountAsymmetric(ctx context.Context, list [][]several.Across, counters []*num.Array) (int, error) {
	if err := g.Meet(ctx); err != nil {
		return 0, err
	}
	counts := make([]int, len(list))
	err := g.each(ctx, func(d int, s *cuda.Stream) (err error) {
		counts[d], err = newton.CountAsymmetric(s, acrossOf(list[d]), arrayOf(counters[d]))
		return err
	})
	sum := 0
	for _, n := range counts {
		sum += n
	}
	// No GPU changes data that others read.
	return sum, cmp.Or(err, g.Meet(context.WithoutCancel(ctx)))
}

// Mirror runs on all GPUs.
func (g *group) Mirror(ctx context.Context, list [][]several.Across) error {
	if err := g.Meet(ctx); err != nil {
		return err
	}
	err := g.each(ctx, func(d int, s *cuda.Stream) error { return newton.Mirror(s, acrossOf(list[d])) })
	return cmp.Or(err, g.Meet(context.WithoutCancel(ctx))) // no GPU changes data that others read
}

// Magnitudes runs on GPU d.
func (g *group) Magnitudes(ctx context.Context, d int, list []num.Mat, x [][]float64) (z [][]float64, err error) {
	var there []mem.Matrix
	for _, a := range list {
		there = append(there, Matrix(a))
	}
	err = g.devs[d].Do(ctx, func(s *cuda.Stream) (err error) {
		z, err = newton.Magnitudes(s, there, x)
		return err
	})
	return z, explained(err)
}

// Memory returns the free memory in bytes of the GPU that has the least.
func (g *group) Memory() int64 {
	least := int64(math.MaxInt64)
	for _, d := range g.devs {
		least = min(least, int64(d.Info().Memory)-d.Counters().InUse)
	}
	return least
}
