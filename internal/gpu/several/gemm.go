package several

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
)

// A region is the rows i0 <= i < i1 and columns j0 <= j < j1 of a matrix, or a triangle of them,
// 'U' or 'L', whose diagonal begins at their first entry; 0 means all entries.
type region struct {
	i0, i1, j0, j1 int
	triangle       byte
}

// regions returns the parts of a triangle of an m x n matrix that lie in a piece: a smaller
// triangle and a rectangle, as far as these are not empty.
func (q piece) regions(triangle byte, m, n int) []region {
	if triangle == 0 {
		return []region{{q.i0, q.i1, q.j0, q.j1, 0}}
	}
	var diagonal, rest region
	if q.i0 == 0 && q.i1 == m { // columns
		from, to := min(q.j0, m), min(q.j1, m)
		diagonal, rest = region{from, to, q.j0, q.j1, triangle}, region{0, from, q.j0, q.j1, 0}
		if triangle == 'L' {
			rest.i0, rest.i1 = to, m
		}
	} else {
		from, to := min(q.i0, n), min(q.i1, n)
		diagonal, rest = region{q.i0, q.i1, from, to, triangle}, region{q.i0, q.i1, to, n, 0}
		if triangle == 'L' {
			rest.j0, rest.j1 = 0, from
		}
	}
	return slices.DeleteFunc([]region{diagonal, rest}, func(r region) bool { return r.i0 >= r.i1 || r.j0 >= r.j1 })
}

// Gemm computes, on each GPU, the entries of C that it stores, for which it gets rows of A and
// columns of B. Where the work would be unbalanced, or the copies would take longer than the
// computation, GPUs compute other entries, which are then copied to the GPUs that store them.
func (p *Place) Gemm(c place.Config, alpha num.Real, a, b num.Mat, beta num.Real, old, z num.Mat) (residue.Stats, error) {
	if z.Arr.Away == nil {
		return p.hostGemm(c, alpha, a, b, beta, old, z)
	}
	// The transposed product has a left factor that can come in panels, and nothing here depends on
	// positions of entries.
	if byRows(z) && z.Cols > 1 && c.Triangle == 0 && c.Factors == [2]byte{} && c.Bound == nil && !c.Check {
		st, err := p.Gemm(c, alpha, b.T(), a.T(), beta, old.T(), z.T())
		st.WidthL, st.WidthR = st.WidthR, st.WidthL
		if left := (*place.Declined)(nil); errors.As(err, &left) {
			return st, left.Transposed()
		}
		return st, err
	}
	m := &multiplication{p: p, alpha: alpha, beta: beta, a: a, b: b, old: old, z: z}
	if beta.Class == num.Zero {
		m.old = z // Old is not read
	}
	if done, err := m.directly(c); done || err != nil {
		return m.end(err)
	}
	list, ok := m.blocks(c)
	if !ok || len(list) == 0 {
		in := []num.Mat{a, b, m.old}
		err := p.first(c, in, []num.Mat{z}, func(g GPU, in, out []num.Mat) error {
			c.Bound = m.bound(c, 0, 0, z.Rows, 0, z.Cols)
			st, err := g.Gemm(c, alpha, in[0], in[1], beta, in[2], out[0])
			return m.add(st, err, 0, 0)
		})
		return m.end(err)
	}
	var jobs []job
	how := m.gathers(c, list)
	for _, q := range list {
		if products := m.products(c, q); len(products) > 0 {
			jobs = append(jobs, m.job(q.d, products, how))
		}
	}
	err := p.work(c, jobs)
	if err == nil && c.Progress != nil && len(m.left) == 0 {
		c.Progress(1)
	}
	return m.end(err)
}

// A multiplication is a product C = alpha A B + beta Old in progress.
type multiplication struct {
	p            *Place
	alpha, beta  num.Real
	a, b, old, z num.Mat
	written      bool    // every entry of C is written, and read only from Old
	keep         [2]bool // keep copies of A, and of B
	did
}

// did accumulates the results of products.
type did struct {
	mu    sync.Mutex // guards what follows
	stats residue.Stats
	ran   []string     // devices that have run a product
	left  []place.Rest // parts left to the host
}

// A product computes a region from the parts of the factors that are not known to be zero.
type product struct {
	region
	k0, k1  int
	factors [2]byte
	before  [2]int // rows of A, and columns of B, before the region
}

// products returns the products of a piece. There is one product if the piece's part of a triangle
// can be extended to a triangle with all rows below, or all columns beside. Triangular factors are
// cut to k0 <= k < k1. The remaining part of a factor is part of a triangle unless it begins beyond
// the diagonal.
func (m *multiplication) products(c place.Config, q piece) (list []product) {
	k := m.a.Cols
	regions := q.regions(c.Triangle, m.z.Rows, m.z.Cols)
	if len(regions) == 2 {
		switch columns := q.i0 == 0 && q.i1 == m.z.Rows; {
		case c.Triangle == 'L' && columns:
			regions = []region{{q.j0, m.z.Rows, q.j0, q.j1, 'L'}}
		case c.Triangle == 'U' && !columns:
			regions = []region{{q.i0, q.i1, q.i0, m.z.Cols, 'U'}}
		}
	}
	for _, r := range regions {
		x := product{region: r, k1: k}
		for side, of := range [2][2]int{{r.i0, r.i1}, {r.j0, r.j1}} {
			f := c.Factors[side]
			switch {
			// Rows of A are zero beyond the diagonal, or columns of B are.
			case f == 'L' && side == 0 || f == 'U' && side == 1:
				x.k1 = min(x.k1, of[1])
			case f != 0:
				x.k0 = max(x.k0, of[0])
			}
		}
		if x.k0 >= x.k1 {
			x.k0, x.k1 = 0, k
		}
		for side, first := range [2]int{r.i0, r.j0} {
			if first >= x.k0 {
				x.factors[side], x.before[side] = c.Factors[side], first-x.k0
			}
		}
		list = append(list, x)
	}
	return list
}

// job returns the job that computes products on GPU d, which gets all parts of the factors that
// they need.
func (m *multiplication) job(d int, list []product, how gathering) job {
	all := list[0]
	for _, x := range list[1:] {
		all.i0, all.i1, all.j0, all.j1 = min(all.i0, x.i0), max(all.i1, x.i1), min(all.j0, x.j0), max(all.j1, x.j1)
		all.k0, all.k1 = min(all.k0, x.k0), max(all.k1, x.k1)
	}
	of := func(y num.Mat) num.Mat { return block(y, all.i0, all.i1, all.j0, all.j1) }
	i0, k0 := all.i0, all.k0 // the first row and column of the left factor
	in := []num.Mat{block(m.a, i0, all.i1, k0, all.k1), block(m.b, all.k0, all.k1, all.j0, all.j1), {}}
	var comes *coming
	if m.comes(how, d, list, all.k0, all.k1) {
		i0, k0, in[0] = 0, 0, m.a
		comes = &coming{all.k0, all.k1, how == known}
	}
	if adds := m.beta.Class != num.Zero; adds && (m.written || m.old != m.z) {
		in[2] = of(m.old)
	}
	keep := []bool{m.keep[0], m.keep[1], false}
	return job{d: d, in: in, keep: keep, comes: comes, out: of(m.z), written: m.written, run: func(c place.Config, g GPU, in []num.Mat) error {
		old, to := in[2], in[3]
		if old.Arr == nil {
			old = to
		}
		whole := c
		for k, x := range list {
			if whole.Progress != nil {
				c.Progress = func(done float64) { whole.Progress((float64(k) + done) / float64(len(list))) }
			}
			c.Triangle, c.Factors, c.Before = x.triangle, x.factors, x.before
			c.Bound = m.bound(whole, d, x.i0, x.i1, x.j0, x.j1)
			a := block(in[0], x.i0-i0, x.i1-i0, x.k0-k0, x.k1-k0)
			b := block(in[1], x.k0-all.k0, x.k1-all.k0, x.j0-all.j0, x.j1-all.j0)
			inner := func(y num.Mat) num.Mat { return block(y, x.i0-all.i0, x.i1-all.i0, x.j0-all.j0, x.j1-all.j0) }
			st, err := g.Gemm(c, m.alpha, a, b, m.beta, inner(old), inner(to))
			if left := (*place.Declined)(nil); errors.As(err, &left) && m.old == m.z && old.Arr != to.Arr {
				// The old entries are copied back.
				for _, r := range left.List {
					part := func(y num.Mat) num.Mat { return block(inner(y), r.I0, r.I1, r.J0, r.J1) }
					if err := g.Copy(c, part(to), part(old)); err != nil {
						return err
					}
				}
			}
			if err := m.add(st, err, x.i0, x.j0); err != nil {
				return err
			}
		}
		return nil
	}}
}

// bound returns the known bounds of a region on GPU d.
func (m *multiplication) bound(c place.Config, d, i0, i1, j0, j1 int) *residue.Bound {
	if c.Bound == nil {
		return nil
	}
	b := *c.Bound
	b.Rows, b.Cols = b.Rows[i0:i1], b.Cols[j0:j1]
	cut := func(v *residue.Vectors, from, to int) *residue.Vectors {
		if v == nil {
			return nil
		}
		w := *v
		w.Top = w.Top[from:to]
		return &w
	}
	b.A, b.B = cut(b.A, i0, i1), cut(b.B, j0, j1)
	if b.Tally != nil {
		var err error
		if b.Tally, err = storageOf(b.Tally).tally(c.Ctx, d); err != nil {
			b.Tally, b.A, b.B = nil, nil, nil // the GPU scans the factors, and waits
		}
	}
	return &b
}

// add adds the statistics and the error of a product of the block from row i0 and column j0 on. It
// records the parts that the product leaves to the host, and returns other errors.
func (m *did) add(st residue.Stats, err error, i0, j0 int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if left := (*place.Declined)(nil); errors.As(err, &left) {
		m.left = append(m.left, left.Shifted(i0, j0)...)
	} else if err != nil {
		return residue.Shifted(err, i0, j0)
	}
	if st.Method == "" { // all of it is left to the host
		return nil
	}
	m.stats.Add(st)
	if !slices.Contains(m.ran, st.Device) {
		m.ran = append(m.ran, st.Device)
	}
	return nil
}

// end returns the statistics of all products, with the names of the GPUs that have run them. The
// error is err, the first product's error, or else *place.Declined with the parts left to the host.
func (m *did) end(err error) (residue.Stats, error) {
	slices.Sort(m.ran)
	var names []string
	for _, name := range m.ran {
		if number, ok := strings.CutPrefix(name, place.CUDA+":"); ok && len(names) > 0 {
			name = number
		}
		names = append(names, name)
	}
	m.stats.Device = strings.Join(names, ",")
	if err == nil && len(m.left) > 0 {
		slices.SortFunc(m.left, func(x, y place.Rest) int { return cmp.Or(cmp.Compare(x.I0, y.I0), cmp.Compare(x.J0, y.J0)) })
		err = &place.Declined{List: m.left}
	}
	return m.stats, err
}
