package grid

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/mpi"
)

// Set stores this process's part of a matrix that all processes have.
func (g *Grid) Set(_ context.Context, to, from num.Mat) error {
	v, err := g.look(to)
	if err != nil {
		return err
	}
	v.store(from, nil, nil)
	return nil
}

// Get returns the whole matrix in all processes.
func (g *Grid) Get(ctx context.Context, from num.Mat) (num.Mat, error) {
	v, err := g.look(from)
	if err != nil {
		return num.Mat{}, err
	}
	return g.move(ctx, v, everything{v.Rows, v.Cols})
}

// Clone copies the array of a matrix.
func (g *Grid) Clone(_ context.Context, m num.Mat) (num.Mat, error) {
	s := m.Arr.Away.(*storage)
	z := num.New(m.Arr.Format, s.local.Len())
	for i := range z.Len() {
		z.CopyFrom(i, s.local, i)
	}
	m.Arr = &num.Array{Format: m.Arr.Format, Away: &storage{g: g, rows: s.rows, cols: s.cols, local: z}}
	return m, nil
}

// Overlap reports whether the ranges of rows and of columns of the stored matrix that the two views
// span have an entry in common. Lines are taken to overlap with every view of the same array.
func (g *Grid) Overlap(a, b num.Mat) bool {
	if a.Arr.Away != b.Arr.Away || a.Rows*a.Cols == 0 || b.Rows*b.Cols == 0 {
		return false
	}
	v, err := g.look(a)
	w, err2 := g.look(b)
	return err != nil || err2 != nil || v.line || w.line || v.r.meets(w.r) && v.c.meets(w.c)
}

// meets reports whether the ranges of two axes have an index in common.
func (a axis) meets(b axis) bool {
	ends := func(x axis) (lo, hi int) { return min(x.first, x.at(x.n-1)), max(x.first, x.at(x.n-1)) }
	aLo, aHi := ends(a)
	bLo, bHi := ends(b)
	return aLo <= bHi && bLo <= aHi
}

// Copy copies a matrix to another one.
func (g *Grid) Copy(c place.Config, to, from num.Mat) error {
	v, err := g.look(to)
	if err != nil {
		return err
	}
	w, err := g.look(from)
	if err != nil {
		return err
	}
	z, err := g.move(c.Ctx, w, v)
	if err != nil {
		return err
	}
	v.storeOwn(z)
	return nil
}

// Gemm computes in each process the entries of C that it has, from the rows of A and the columns of
// B that these entries need.
func (g *Grid) Gemm(c place.Config, alpha num.Real, a, b num.Mat, beta num.Real, old, z num.Mat) (st residue.Stats, err error) {
	if z.Arr.Away == nil {
		return g.gemmHost(c, alpha, a, b, beta, old, z)
	}
	v, err := g.look(z)
	if err != nil {
		return st, err
	}
	p := product.Problem{Alpha: alpha, Beta: beta, C: v.ownPart()}
	var kept []*num.Array
	operand := func(m num.Mat, to func(view) layout) (num.Mat, error) {
		z, room, err := g.factor(c.Ctx, m, to)
		if room != nil {
			kept = append(kept, room)
		}
		return z, err
	}
	if p.A, err = operand(a, func(w view) layout { return rowsOf{v, w.Cols} }); err != nil {
		return st, err
	}
	if p.B, err = operand(b, func(w view) layout { return colsOf{v, w.Rows} }); err != nil {
		return st, err
	}
	if beta.Class != num.Zero {
		if p.Old, err = operand(old, func(view) layout { return v }); err != nil {
			return st, err
		}
	}
	rows, cols := v.own()
	st, where, err := g.multiply(c, p, rows, cols)
	if err = g.agree(c.Ctx, err); err != nil {
		return st, err
	}
	for _, a := range kept {
		keepFactor(a)
	}
	if !v.whole() {
		v.storeOwn(p.C)
	}
	if c.Bound != nil && c.Bound.Tally != nil {
		count64(c.Bound.Tally, st.Overflow)
	}
	return g.together(c.Ctx, st, where)
}

// moved is move for a matrix that lives on the grid, to the layout that to returns for its view.
func (g *Grid) moved(ctx context.Context, m num.Mat, to func(view) layout) (num.Mat, error) {
	v, err := g.look(m)
	if err != nil {
		return num.Mat{}, err
	}
	return g.move(ctx, v, to(v))
}

// factor is moved for a matrix that is only read. If all processes already have exactly the entries
// that they need, it returns the storage itself; else it returns a copy in room, one of the kept
// arrays.
func (g *Grid) factor(ctx context.Context, m num.Mat, to func(view) layout) (z num.Mat, room *num.Array, err error) {
	v, err := g.look(m)
	if err != nil {
		return z, nil, err
	}
	l := to(v)
	if v.whole() && g.stays(v, l) {
		return v.ownPart(), nil, nil
	}
	z, err = g.moveTo(ctx, v, l, func(f num.Format, n int) *num.Array {
		room = factor(f, n)
		return room.Slice(0, n)
	})
	return z, room, err
}

// stays reports whether all processes have the same entries in layout l as in v.
func (g *Grid) stays(v view, l layout) bool {
	for p := range g.size() {
		r, c := v.part(p/g.cols, p%g.cols)
		rows, cols := l.part(p/g.cols, p%g.cols)
		if !slices.Equal(r, rows) || !slices.Equal(c, cols) {
			return false
		}
	}
	return true
}

// multiply computes, on this process's device, its part of a larger product: the part in the given
// rows and columns of the larger result.
func (g *Grid) multiply(c place.Config, p product.Problem, rows, cols []int) (st residue.Stats, where workplace, err error) {
	steps := c.Triangle != 0 && g.on.alone()
	for q := range pieces(rows, cols, c.Triangle, steps) {
		part := p
		part.C, part.Triangle, part.Steps = q.of(p.C), q.triangle, q.steps
		part.A, part.B = p.A, p.B
		if p.Alpha.Class != num.Zero {
			part.A, part.B = q.rowsOf(p.A), q.colsOf(p.B)
		} else {
			part.A.Rows, part.B.Cols = q.i1-q.i0, q.j1-q.j0
		}
		if p.Beta.Class != num.Zero {
			part.Old = q.of(p.Old)
		}
		if b := c.Bound; b != nil {
			part.Bound = &residue.Bound{Within: b.Within}
			for _, i := range rows[q.i0:q.i1] {
				part.Bound.Rows = append(part.Bound.Rows, b.Rows[i])
			}
			for _, j := range cols[q.j0:q.j1] {
				part.Bound.Cols = append(part.Bound.Cols, b.Cols[j])
			}
		}
		if part.C.Rows == 0 || part.C.Cols == 0 {
			continue
		}
		one, err := product.Run(g.on.config(c, q.triangle), part)
		if fault := (*residue.HardwareError)(nil); errors.As(err, &fault) {
			fault.Device = g.String()
			fault.Row, fault.Col = rows[q.i0+fault.Row], cols[q.j0+fault.Col]
		}
		if err != nil {
			return st, where, err
		}
		where |= workplaceOf(one.Device)
		if st.Method == "" {
			st = one
		} else {
			st.Add(one)
		}
	}
	return st, where, nil
}

// together returns the statistics of all processes together, with the devices that each has used.
func (g *Grid) together(ctx context.Context, st residue.Stats, where workplace) (residue.Stats, error) {
	sums := []int64{st.Products, st.Exact, st.Overflow, st.Underflow, st.Check.Compared, st.Check.Unchecked}
	own := len(sums)
	sums = append(sums, make([]int64, g.size())...)
	sums[own+g.to.Rank()] = int64(where)
	if err := g.to.Allreduce(ctx, mpi.Sum, sums); err != nil {
		return st, err
	}
	methods := []string{"", residue.Direct, residue.Residue} // "": of processes without work
	most := []int64{int64(st.Moduli), int64(st.WidthL), int64(st.WidthR), int64(st.Blocks), int64(slices.Index(methods, st.Method)), int64(st.Check.Modulus)}
	if err := g.to.Allreduce(ctx, mpi.Max, most); err != nil {
		return st, err
	}
	st.Method = methods[max(most[4], 1)]
	st.Products, st.Exact, st.Overflow, st.Underflow = sums[0], sums[1], sums[2], sums[3]
	st.Moduli, st.WidthL, st.WidthR, st.Blocks = int(most[0]), int(most[1]), int(most[2]), int(most[3])
	st.Check = residue.Check{Compared: sums[4], Unchecked: sums[5], Modulus: int(most[5])}
	st.Device, st.Stages, st.Processes = g.String(), nil, nil
	for _, w := range sums[own:] {
		st.Processes = append(st.Processes, workplace(w).String())
	}
	return st, nil
}

// gemmHost is Gemm for matrices of the host: each process computes a rectangle of the result and
// sends it to the others.
func (g *Grid) gemmHost(c place.Config, alpha num.Real, a, b num.Mat, beta num.Real, old, z num.Mat) (residue.Stats, error) {
	at := func(p int) (rows, cols []int) {
		if c.Triangle != 0 {
			return slope(z.Rows, p, g.size(), c.Triangle), count(z.Cols)
		}
		return between(z.Rows, p/g.cols, g.rows), between(z.Cols, p%g.cols, g.cols)
	}
	rows, cols := at(g.to.Rank())
	p := product.Problem{Alpha: alpha, Beta: beta, C: rectangle(z, rows, cols)}
	if alpha.Class != num.Zero {
		p.A, p.B = rectangle(a, rows, count(a.Cols)), rectangle(b, count(b.Rows), cols)
	} else {
		p.A, p.B = num.Mat{Arr: a.Arr, Rows: len(rows)}, num.Mat{Arr: b.Arr, Cols: len(cols)}
	}
	if beta.Class != num.Zero {
		p.Old = rectangle(old, rows, cols)
	}
	st, where, err := g.multiply(c, p, rows, cols)
	if err = g.agree(c.Ctx, err); err != nil {
		return st, err
	}
	if err := g.share(c.Ctx, z, at); err != nil {
		return st, err
	}
	return g.together(c.Ctx, st, where)
}

// rectangle returns a view of the given rows and columns, which must be consecutive.
func rectangle(m num.Mat, rows, cols []int) num.Mat {
	if len(rows) > 0 && len(cols) > 0 {
		m.Off = m.At(rows[0], cols[0])
	}
	m.Rows, m.Cols = len(rows), len(cols)
	return m
}

// share sends to all processes the rectangles of a matrix of the host that each of them has
// computed. If the rectangles are consecutive in memory they are sent without copies, all at a
// time: two processes exchange halves of 16 MB in 2.3 ms so, and in 8 ms by two broadcasts one
// after the other.
func (g *Grid) share(ctx context.Context, z num.Mat, at func(p int) (rows, cols []int)) error {
	size := int(num.SizeOf(z.Arr.Format))
	counts, all := make([]int, g.size()), make([]patch, g.size())
	for p := range counts {
		rows, cols := at(p)
		all[p] = patchOf(z, rows, cols, z.CS == 1 && z.RS != 1)
		counts[p] = all[p].numbers() * size
	}
	if whole, ok := oneByOne(all); ok {
		for _, l := range all[0].lanes {
			for p, m := range all {
				counts[p] = m.numbers() * l.width
			}
			if err := g.to.AllgatherInPlace(ctx, l.bytes[whole.at*l.width:(whole.at+whole.n)*l.width], counts); err != nil {
				return err
			}
		}
		return nil
	}
	me := g.to.Rank()
	out, in := message(counts[me:me+1]), message(counts)
	letter(out, z.Arr.Format, all[me]).set(all[me])
	if err := g.to.Allgather(ctx, out, in, counts); err != nil {
		return err // the library may still use the messages
	}
	for p, text := range parts(in, counts) {
		if p != me {
			all[p].set(letter(text, z.Arr.Format, all[p]))
		}
	}
	keep(out)
	keep(in)
	return nil
}

// between returns the consecutive indices below n that part p of parts has.
func between(n, p, parts int) (list []int) {
	for i := n * p / parts; i < n*(p+1)/parts; i++ {
		list = append(list, i)
	}
	return list
}

// slope is between for the rows of a triangle of n rows: all parts have about equally many entries.
func slope(n, p, parts int, triangle byte) []int {
	at := func(p int) int { return int(float64(n) * math.Sqrt(float64(p)/float64(parts))) }
	lo, hi := at(p), at(p+1)
	if triangle == 'U' {
		lo, hi = n-at(parts-p), n-at(parts-p-1)
	}
	return count(n)[lo:hi]
}

// work returns the configuration of a reduction whose vectors are distributed over the processes.
func (g *Grid) work(c place.Config) direct.Work {
	return direct.Work{Run: c.Run, Together: func(part *superacc.Acc) (*superacc.Acc, error) { return g.sum(c.Ctx, part) }}
}

// sum returns the sum of the exact sums of all processes.
func (g *Grid) sum(ctx context.Context, part *superacc.Acc) (*superacc.Acc, error) {
	mine, err := part.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	lengths := make([]int64, g.size())
	lengths[g.to.Rank()] = int64(len(mine))
	if err := g.to.Allreduce(ctx, mpi.Sum, lengths); err != nil {
		return nil, err
	}
	counts, total := make([]int, g.size()), 0
	for p, n := range lengths {
		counts[p] = int(n)
		total += int(n)
	}
	all := make([]byte, total)
	if err := g.to.Allgather(ctx, mine, all, counts); err != nil {
		return nil, err
	}
	var sum, other superacc.Acc
	for _, n := range counts {
		if err := other.UnmarshalBinary(all[:n]); err != nil {
			return nil, err
		}
		sum.Merge(&other)
		all = all[n:]
	}
	return &sum, nil
}

// own returns the entries of x that this process sums up, and the entries of y at the same indices.
func (g *Grid) own(ctx context.Context, x, y num.Vec) (mine, beside num.Vec, err error) {
	if x.Arr.Away == nil {
		at := between(x.N, g.to.Rank(), g.size())
		return rectangle(x.Mat(), at, []int{0}).Col(0), rectangle(y.Mat(), at, []int{0}).Col(0), nil
	}
	if s, t := stored(x), stored(y); s != nil && t != nil && s.rows == t.rows && s.cols == t.cols {
		return num.Vec{Arr: s.local, Inc: 1, N: s.local.Len()}, num.Vec{Arr: t.local, Inc: 1, N: t.local.Len()}, nil
	}
	v, err := g.look(x.Mat())
	if err != nil {
		return mine, beside, err
	}
	part := v.ownPart()
	mine = num.Vec{Arr: part.Arr, Inc: 1, N: part.Rows * part.Cols}
	if x == y {
		return mine, mine, nil
	}
	m, err := g.moved(ctx, y.Mat(), func(view) layout { return v })
	return mine, num.Vec{Arr: m.Arr, Inc: 1, N: m.Rows * m.Cols}, err
}

// stored returns the storage of a vector that consists of the whole stored array, in its order;
// else nil.
func stored(x num.Vec) *storage {
	if s, ok := x.Arr.Away.(*storage); ok && x.Off == 0 && x.Inc == 1 && x.N == s.Len() {
		return s
	}
	return nil
}

// Reduce adds the parts of all processes exactly and rounds the sum.
func (g *Grid) Reduce(c place.Config, r direct.Reduction, x, y num.Vec, z *num.Array) (num.Flags, bool, error) {
	if r != direct.Dot {
		y = x
	}
	mine, beside, err := g.own(c.Ctx, x, y)
	if err != nil {
		return 0, false, err
	}
	return r.Round(g.work(c), mine, beside, z)
}

// Norm rounds the root of the exact sum of the parts of all processes.
func (g *Grid) Norm(c place.Config, x num.Vec, z *num.Array) (num.Flags, bool, error) {
	mine, _, err := g.own(c.Ctx, x, x)
	if err != nil {
		return 0, false, err
	}
	return direct.Norm(g.work(c), mine, z)
}

// Moments adds the parts of all processes exactly. For products of neighbours all processes get the
// whole vector.
func (g *Grid) Moments(c place.Config, x num.Vec, list ...direct.Moment) (sums []*superacc.Acc, err error) {
	mine, _, err := g.own(c.Ctx, x, x)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		w, v := g.work(c), mine
		if m == direct.Neighbours {
			w.Together = nil
			if v, err = g.here(c.Ctx, x); err != nil {
				return nil, err
			}
		}
		a, err := m.Exact(w, v)
		if err != nil {
			return nil, err
		}
		sums = append(sums, a)
	}
	return sums, nil
}

// here returns a vector of the host: x itself, or a copy that all processes get.
func (g *Grid) here(ctx context.Context, x num.Vec) (num.Vec, error) {
	if x.Arr == nil || x.Arr.Away == nil {
		return x, nil
	}
	m, err := g.Get(ctx, x.Mat())
	return num.Vec{Arr: m.Arr, Inc: 1, N: x.N}, err
}

// Iamax compares all entries in every process.
func (g *Grid) Iamax(c place.Config, x num.Vec) (int, error) {
	v, err := g.here(c.Ctx, x)
	if err != nil {
		return 0, err
	}
	return direct.LargestIndex(direct.Work{Run: c.Run}, v)
}

// Gemv computes some of the rows of the result in each process.
func (g *Grid) Gemv(c place.Config, alpha num.Real, m num.Mat, x num.Vec, beta num.Real, y, z num.Vec, flag func(num.Flags)) (exact int64, err error) {
	at := func(p int) (rows, cols []int) { return between(m.Rows, p, g.size()), []int{0} }
	rows, _ := at(g.to.Rank())
	var part num.Mat
	if m.Arr.Away == nil {
		part = rectangle(m, rows, count(m.Cols))
	} else if part, err = g.moved(c.Ctx, m, func(v view) layout { return dealt{g, v.Rows, v.Cols} }); err != nil {
		return 0, err
	}
	if x, err = g.here(c.Ctx, x); err != nil {
		return 0, err
	}
	if beta.Class != num.Zero {
		if y, err = g.here(c.Ctx, y); err != nil {
			return 0, err
		}
		y = rectangle(y.Mat(), rows, []int{0}).Col(0)
	}
	out := num.New(z.Arr.Format, z.N)
	var t tally
	if len(rows) > 0 {
		exact, err = direct.Gemv(direct.Work{Run: c.Run}, alpha, part, x, beta, y, out.Slice(rows[0], rows[0]+len(rows)), t.add)
	}
	if err = g.agree(c.Ctx, err); err != nil {
		return 0, err
	}
	all := num.Vec{Arr: out, Inc: 1, N: z.N}.Mat()
	if err := g.share(c.Ctx, all, at); err != nil {
		return 0, err
	}
	sums := []int64{exact, t.overflow.Load(), t.underflow.Load()}
	if err := g.to.Allreduce(c.Ctx, mpi.Sum, sums); err != nil {
		return 0, err
	}
	for range sums[1] {
		flag(num.Overflow)
	}
	for range sums[2] {
		flag(num.Underflow)
	}
	return sums[0], g.put(z, all)
}

// put stores in z a vector that all processes have.
func (g *Grid) put(z num.Vec, all num.Mat) error {
	if z.Arr.Away != nil {
		return g.Set(context.Background(), z.Mat(), all)
	}
	for i := range z.N {
		z.Arr.CopyFrom(z.At(i), all.Arr, i)
	}
	return nil
}

// tally counts flags from any goroutine.
type tally struct{ overflow, underflow atomic.Int64 }

func (t *tally) add(f num.Flags) {
	if f&num.Overflow != 0 {
		t.overflow.Add(1)
	}
	if f&num.Underflow != 0 {
		t.underflow.Add(1)
	}
}

// The routines below compute their complete results in every process, since their vectors are short
// compared with matrices.

// Scal computes alpha x.
func (g *Grid) Scal(c place.Config, alpha num.Real, x num.Vec, z *num.Array, flag func(num.Flags)) error {
	w := direct.Work{Run: c.Run}
	if x.Arr.Away == nil {
		return direct.Scale(w, alpha, x, z, flag)
	}
	v, err := g.here(c.Ctx, x)
	if err != nil {
		return err
	}
	all := num.New(x.Arr.Format, x.N)
	if err := direct.Scale(w, alpha, v, all, flag); err != nil {
		return err
	}
	return g.put(x, num.Vec{Arr: all, Inc: 1, N: x.N}.Mat())
}

// one is the vector (1).
var one = func() num.Vec {
	a := num.New(num.Float64, 1)
	a.F64[0][0] = 1
	return num.Vec{Arr: a, Inc: 1, N: 1}
}()

// Update computes alpha x y^T + A completely in each process.
func (g *Grid) Update(c place.Config, alpha num.Real, x, y num.Vec, a num.Mat, z *num.Array, flag func(num.Flags)) error {
	w := direct.Work{Run: c.Run}
	if y.Arr == nil {
		y = one
	}
	if a.Arr.Away == nil {
		return direct.Update(w, alpha, x, y, a, z, flag)
	}
	x, err := g.here(c.Ctx, x)
	if err != nil {
		return err
	}
	if y, err = g.here(c.Ctx, y); err != nil {
		return err
	}
	m, err := g.Get(c.Ctx, a)
	if err != nil {
		return err
	}
	all := num.New(a.Arr.Format, m.Arr.Len())
	if err := direct.Update(w, alpha, x, y, m, all, flag); err != nil {
		return err
	}
	return g.Set(c.Ctx, a, num.Mat{Arr: all, RS: 1, CS: max(m.Rows, 1), Rows: m.Rows, Cols: m.Cols})
}
