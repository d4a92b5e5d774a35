package several

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// tally returns the counter of GPU d for the tally s.
func (s *storage) tally(ctx context.Context, d int) (*num.Array, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tallies == nil {
		s.tallies = make([]*num.Array, len(s.p.parts))
	}
	if s.tallies[d] == nil {
		var err error
		if s.tallies[d], err = s.p.parts[d].New(ctx, num.Format{Kind: num.F64}, 1, 1); err != nil {
			return nil, err
		}
	}
	return s.tallies[d], nil
}

// tallyOf returns the counter of GPU d for a tally, nil for nil.
func tallyOf(ctx context.Context, tally *num.Array, d int) (*num.Array, error) {
	if tally == nil {
		return nil, nil
	}
	return storageOf(tally).tally(ctx, d)
}

// Oblique returns true: oblique views have few numbers, which are copied to all GPUs that need some
// of them.
func (p *Place) Oblique() bool { return true }

// Shift runs on all GPUs.
func (p *Place) Shift(c place.Config, x num.Mat, rows, cols []int64, z num.Mat, tally *num.Array) (int, error) {
	var odd atomic.Int64
	err := p.each(c, z, []num.Mat{x}, func(c place.Config, g GPU, q piece, in []num.Mat) error {
		t, err := tallyOf(c.Ctx, tally, q.d)
		if err != nil {
			return err
		}
		n, err := g.Shift(c, in[0], cut(rows, q.i0, q.i1), cut(cols, q.j0, q.j1), q.m, t)
		odd.Add(int64(n))
		return err
	})
	return int(odd.Load()), err
}

// cut returns list[from:to], nil for nil.
func cut(list []int64, from, to int) []int64 {
	if list == nil {
		return nil
	}
	return list[from:to]
}

// Sum runs on all GPUs.
func (p *Place) Sum(c place.Config, s place.Sum, z num.Mat) (int, error) {
	var left atomic.Int64
	err := p.each(c, z, []num.Mat{s.X, s.D}, func(c place.Config, g GPU, q piece, in []num.Mat) error {
		t, err := tallyOf(c.Ctx, s.Tally, q.d)
		if err != nil {
			return err
		}
		for _, r := range q.regions(s.Triangle, z.Rows, z.Cols) {
			inner := func(m num.Mat) num.Mat { return block(m, r.i0-q.i0, r.i1-q.i0, r.j0-q.j0, r.j1-q.j0) }
			of := s
			of.X, of.D, of.Tally, of.Triangle = inner(in[0]), inner(in[1]), t, r.triangle
			of.Errors, of.Rows, of.Cols = cut(s.Errors, r.j0, r.j1), cut(s.Rows, r.i0, r.i1), cut(s.Cols, r.j0, r.j1)
			n, err := g.Sum(c, of, inner(q.m))
			if err != nil {
				return err
			}
			left.Add(int64(n))
		}
		return nil
	})
	return int(left.Load()), err
}

// Extents combines the extents that the GPUs find in their pieces.
func (p *Place) Extents(c place.Config, tally *num.Array, list ...num.Mat) (all []place.Extents, left int, err error) {
	lists := make([][]piece, len(list))
	for k, m := range list {
		var ok bool
		if lists[k], ok = p.pieces(m); !ok {
			err := p.first(c, list, nil, func(g GPU, in, _ []num.Mat) (err error) {
				all, _, err = g.Extents(c, nil, in...)
				return err
			})
			if err != nil {
				return nil, 0, err
			}
			break
		}
	}
	alone := all != nil
	found := make([][]place.Extents, len(p.parts))
	var sum atomic.Int64
	err = p.together(func(d int) error {
		t, err := tallyOf(c.Ctx, tally, d)
		if err != nil {
			return err
		}
		var of []num.Mat
		for _, pieces := range lists {
			for _, q := range pieces {
				if q.d == d && !alone {
					of = append(of, q.m)
				}
			}
		}
		x, n, err := p.parts[d].Extents(c, t, of...)
		found[d] = x
		sum.Add(int64(n))
		return err
	})
	if err != nil || alone {
		return all, int(sum.Load()), err
	}
	all = make([]place.Extents, len(list))
	parts := make([][]place.Extents, len(list))
	for k := range list {
		for _, q := range lists[k] {
			parts[k], found[q.d] = append(parts[k], found[q.d][0]), found[q.d][1:]
		}
	}
	p.crew.Do(len(list), func(k int) {
		x := newExtents(list[k].Rows)
		for i, q := range lists[k] {
			join(x, parts[k][i], q)
		}
		all[k] = *x
	})
	return all, int(sum.Load()), nil
}

// none is greater than the Top of zero rows, and less than the Top of other rows.
const none = -1 << 60

// zeros is the Top of zero rows.
const zeros = -1 << 61

// newExtents returns the extents of rows of which no piece is known yet.
func newExtents(rows int) *place.Extents {
	x := &place.Extents{Top: make([]int64, rows), Low: make([]int64, rows), Norm: make([]float64, rows)}
	for i := range x.Top {
		x.Top[i] = zeros
	}
	return x
}

// join adds the extents of a piece. The sum of two norms, multiplied by 1 + 2^-51, is above the
// exact sum after both roundings: (1 + 2^-51) (1 - 2^-53)^2 > 1.
func join(x *place.Extents, y place.Extents, q piece) {
	x.Special = x.Special || y.Special
	for k, top := range y.Top {
		i := q.i0 + k
		if top <= none {
			continue
		}
		if x.Top[i] <= none {
			x.Top[i], x.Norm[i], x.Low[i] = top, y.Norm[k], y.Low[k]
		} else {
			most := max(x.Top[i], top)
			x.Norm[i] = float64((scaled(x.Norm[i], x.Top[i]-most) + scaled(y.Norm[k], top-most)) * (1 + 0x1p-51))
			x.Top[i], x.Low[i] = most, min(x.Low[i], y.Low[k])
		}
		x.Width = max(x.Width, x.Top[i]-x.Low[i])
	}
}

// scaled returns an upper bound of norm 2^e, e <= 0, for a norm from 1/2 to 2^60.
func scaled(norm float64, e int64) float64 {
	return float64(norm * math.Float64frombits(uint64(1023+max(e, -900))<<52))
}

// Spread computes bounds of |A| (|B| 1) and (1 |A|) |B| on all GPUs if both matrices are
// distributed by columns or rows, else on the first GPU.
func (p *Place) Spread(c place.Config, a, b num.Mat, columns bool) (rows, cols float64, err error) {
	left, ok := p.pieces(a)
	right, good := p.pieces(b)
	if ok && good && len(left) > 0 && len(right) > 0 {
		if c.Ctx == nil {
			c.Ctx = context.Background()
		}
		ofA, ofB := vectorOf{left, a.Rows, nil}, vectorOf{right, b.Rows, nil}
		acrossA, acrossB := vectorOf{across(left), a.Cols, nil}, vectorOf{across(right), b.Cols, nil}
		z, err := p.magnitudes(c, ofB, acrossA)
		if err != nil {
			return 0, 0, err
		}
		ofA.x, acrossB.x = z[0], z[1]
		if z, err = p.magnitudes(c, ofA, acrossB); err != nil {
			return 0, 0, err
		}
		return slices.Max(z[0]), slices.Max(z[1]), nil
	}
	err = p.first(c, []num.Mat{a, b}, nil, func(g GPU, in, _ []num.Mat) (err error) {
		rows, cols, err = g.Spread(c, in[0], in[1], columns)
		return err
	})
	return rows, cols, err
}

// across returns the pieces of the transpose.
func across(list []piece) (z []piece) {
	for _, q := range list {
		z = append(z, piece{q.d, q.j0, q.j1, q.i0, q.i1, q.m.T()})
	}
	return z
}

// A vectorOf is the product |M| x of a matrix M in pieces, with the given number of rows, and a
// vector x; a nil x stands for ones.
type vectorOf struct {
	pieces []piece
	rows   int
	x      []float64
}

// magnitudes returns upper bounds of the products.
func (p *Place) magnitudes(c place.Config, list ...vectorOf) ([][]float64, error) {
	found := make([][][]float64, len(p.parts))
	if err := p.together(func(d int) (err error) {
		var of []num.Mat
		var x [][]float64
		for _, v := range list {
			for _, q := range v.pieces {
				if q.d != d {
					continue
				}
				of = append(of, q.m)
				if x = append(x, nil); v.x != nil {
					x[len(x)-1] = v.x[q.j0:q.j1]
				}
			}
		}
		if len(of) > 0 {
			found[d], err = p.link.Magnitudes(c.Ctx, d, of, x)
		}
		return err
	}); err != nil {
		return nil, err
	}
	var z [][]float64
	for _, v := range list {
		sums := make([]float64, v.rows)
		for _, q := range v.pieces {
			for i, part := range found[q.d][0] {
				sums[q.i0+i] += part
			}
			found[q.d] = found[q.d][1:]
		}
		for i := range sums { // each of the sums has a relative error of at most 2^-53
			sums[i] *= 1 + float64(float64(len(v.pieces))*0x1p-52)
		}
		z = append(z, sums)
	}
	return z, nil
}

// Triangles runs on the first GPU.
func (p *Place) Triangles(c place.Config, a, z, u num.Mat, attempt int) (rows, cols []int64, begun place.Triangular, err error) {
	return p.factors(c, a, z, u, func(g GPU, in, out []num.Mat) ([]int64, []int64, place.Triangular, error) {
		return g.Triangles(c, in[0], out[0], out[1], attempt)
	})
}

// factors runs f on the first GPU, and returns factors that are settled. Factors that are not ok
// stay factors: a later attempt may succeed.
func (p *Place) factors(c place.Config, a, z, u num.Mat, f func(g GPU, in, out []num.Mat) ([]int64, []int64, place.Triangular, error)) (rows, cols []int64, begun place.Triangular, err error) {
	err = p.first(c, []num.Mat{a}, []num.Mat{z, u}, func(g GPU, in, out []num.Mat) (err error) {
		var made place.Triangular
		if rows, cols, made, err = f(g, in, out); err != nil || made == nil {
			return err
		}
		order, ok, err := made.Settle(c)
		begun = place.Factored(order, ok)
		return err
	})
	return rows, cols, begun, err
}

// PivotedTriangles runs on the first GPU.
func (p *Place) PivotedTriangles(c place.Config, a, z, u num.Mat) (rows, cols []int64, begun place.Triangular, err error) {
	return p.factors(c, a, z, u, func(g GPU, in, out []num.Mat) ([]int64, []int64, place.Triangular, error) {
		return g.PivotedTriangles(c, in[0], out[0], out[1])
	})
}

// Gather runs on the first GPU.
func (p *Place) Gather(c place.Config, x num.Mat, order []int32, z num.Mat) error {
	return p.first(c, []num.Mat{x}, []num.Mat{z}, func(g GPU, in, out []num.Mat) error {
		return g.Gather(c, in[0], order, out[0])
	})
}

// Part runs on the first GPU.
func (p *Place) Part(c place.Config, a, lower, upper num.Mat) error {
	return p.first(c, []num.Mat{a}, []num.Mat{lower, upper}, func(g GPU, in, out []num.Mat) error {
		return g.Part(c, in[0], out[0], out[1])
	})
}

// NotSmall runs on the first GPU.
func (p *Place) NotSmall(c place.Config, a num.Mat, bound float64, tally *num.Array) (count int, err error) {
	err = p.first(c, []num.Mat{a}, nil, func(g GPU, in, _ []num.Mat) (err error) {
		t, err := tallyOf(c.Ctx, tally, 0)
		if err != nil {
			return err
		}
		count, err = g.NotSmall(c, in[0], bound, t)
		return err
	})
	return count, err
}

// refinedFrom is the order from which on all GPUs solve in fixed point, if they can access each
// other's memory. The value is a guess.
var refinedFrom = 3072

// Refine runs on all GPUs from order refinedFrom on, else on the first GPU. For one right-hand side
// of order 8192, in float64, after the columns of another, two H100 take 3.2 ms and one takes 5.2
// ms (bench/records/h100-two.json.gz).
func (p *Place) Refine(c place.Config, r place.Refinement, z num.Mat) (lengths [][]int, ok bool, err error) {
	if c.Ctx == nil {
		c.Ctx = context.Background()
	}
	together, err := p.sharesSystem(c, r)
	if err != nil {
		return nil, false, err
	}
	if !together {
		err = p.first(c, []num.Mat{r.F, r.X, r.G}, []num.Mat{z}, func(g GPU, in, out []num.Mat) (err error) {
			r.F, r.X, r.G = in[0], in[1], in[2]
			lengths, ok, err = g.Refine(c, r, out[0])
			return err
		})
		return lengths, ok, err
	}
	var jobs []job
	for d, q := range p.shares(r.F) {
		columns := func(m num.Mat) num.Mat { return block(m, 0, m.Rows, q.j0, q.j1) }
		rows := func(m num.Mat) num.Mat { return block(m, q.j0, q.j1, 0, m.Cols) }
		jobs = append(jobs, job{d: d, in: []num.Mat{columns(r.F), columns(r.X), rows(r.G)}, out: rows(z), written: true})
	}
	err = p.workBy(c, jobs, func(c place.Config, _ *fetching, _ []job, in [][]num.Mat) (err error) {
		lengths, ok, err = p.link.Refine(c.Ctx, r, in)
		return err
	})
	return lengths, ok, err
}

// sharesSystem reports whether the GPUs store the same columns of F and of X and can access each
// other's memory.
func (p *Place) sharesSystem(c place.Config, r place.Refinement) (bool, error) {
	if r.F.Rows < refinedFrom || len(p.parts) > place.MaxPanels || !sameColumns(p.shares(r.F), p.shares(r.X)) {
		return false, nil
	}
	return p.link.Linked(c.Ctx)
}
