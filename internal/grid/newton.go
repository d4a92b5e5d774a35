package grid

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/mpi"
)

// Routines look for these parts when they run, and the host computes alone without them.
var _ interface {
	place.Newton
	place.Factors
	place.Splitting
	place.Determinant
} = (*Grid)(nil)

// Oblique is false: blocks are rectangles.
func (g *Grid) Oblique() bool { return false }

// Together prevents processes from computing separately where that is faster. It is for tests.
var Together bool

// Hosts returns the number of processes, or 0 if one of them can use a GPU.
func (g *Grid) Hosts(ctx context.Context) (int, error) {
	gpus := []int64{0}
	if Together || !g.on.alone() {
		gpus[0] = 1
	}
	if err := g.to.Allreduce(ctx, mpi.Max, gpus); err != nil || gpus[0] > 0 {
		return 0, err
	}
	return g.size(), nil
}

// Room returns the array of New.
func (g *Grid) Room(c place.Config, f num.Format, rows, cols int) (*num.Array, error) {
	return g.New(c.Ctx, f, rows, cols)
}

// Zeros returns the array of New.
func (g *Grid) Zeros(c place.Config, f num.Format, rows, cols int) (*num.Array, error) {
	return g.New(c.Ctx, f, rows, cols)
}

// count64 adds n to the count of a tally in this process.
func count64(tally *num.Array, n int64) { tally.Away.(*storage).tally += n }

// tallied adds this process's count n to a tally. If the tally is nil, it returns the sum of the
// counts of all processes.
func (g *Grid) tallied(ctx context.Context, tally *num.Array, n int64) (int, error) {
	if tally != nil {
		count64(tally, n)
		return 0, nil
	}
	sum := []int64{n}
	err := g.to.Allreduce(ctx, mpi.Sum, sum)
	return int(sum[0]), err
}

// zeroTop is the Extents.Top of a row of zeros.
const zeroTop = -1 << 61

// Extents finds the largest number of each row first, and then adds magnitudes as integers in units
// of 2^-40 of it, because sums of floats would depend on the grid.
func (g *Grid) Extents(c place.Config, tally *num.Array, list ...num.Mat) (all []place.Extents, left int, err error) {
	for _, m := range list {
		x, err := g.extents(c.Ctx, m)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, x)
	}
	if tally == nil {
		return all, 0, nil
	}
	s := tally.Away.(*storage)
	sum := []int64{s.tally}
	s.tally = 0
	err = g.to.Allreduce(c.Ctx, mpi.Sum, sum)
	return all, int(sum[0]), err
}

func (g *Grid) extents(ctx context.Context, m num.Mat) (x place.Extents, err error) {
	v, err := g.look(m)
	if err != nil {
		return x, err
	}
	x.Top = slices.Repeat([]int64{zeroTop}, m.Rows)
	rows, cols := v.own()
	at := v.positions(rows, cols)
	// low and special are sent in one message with the tops: all are maxima.
	low := slices.Repeat([]int64{zeroTop}, m.Rows)
	special := int64(0)
	for b := range cols {
		for a, i := range rows {
			switch class, top, l := v.s.local.Span(at.at(a, b)); class {
			case num.Finite:
				x.Top[i], low[i] = max(x.Top[i], top), max(low[i], -l)
			case num.Inf, num.NaN:
				special = 1
			}
		}
	}
	message := append(append(slices.Clone(x.Top), low...), special)
	if err := g.to.Allreduce(ctx, mpi.Max, message); err != nil {
		return x, err
	}
	copy(x.Top, message)
	x.Special = message[2*m.Rows] > 0
	sums := make([]int64, m.Rows)
	for b := range cols {
		for a, i := range rows {
			if f, e := v.s.local.Leading(at.at(a, b)); f != 0 {
				// The relative error of Leading is 2^-50, so its error is below 2^-40 of the row's
				// largest number.
				d := e - x.Top[i]
				sums[i] += 2
				if d > -44 {
					sums[i] += int64(math.Ldexp(math.Abs(f), int(d)+40))
				}
			}
		}
	}
	if err := g.to.Allreduce(ctx, mpi.Sum, sums); err != nil {
		return x, err
	}
	x.Norm = make([]float64, m.Rows)
	for i, s := range sums {
		x.Norm[i] = math.Ldexp(float64(s)*(1+0x1p-50), -40)
		if message[m.Rows+i] != zeroTop {
			x.Width = max(x.Width, x.Top[i]+message[m.Rows+i])
		}
	}
	return x, nil
}

// beside returns the entries of a matrix m, of the shape of v, in the positions in which this
// process has entries of v.
func (g *Grid) beside(ctx context.Context, m num.Mat, v view) (num.Mat, error) {
	w, err := g.look(m)
	if err != nil {
		return m, err
	}
	if w.whole() && v.whole() && w.s.rows == v.s.rows && w.s.cols == v.s.cols {
		return w.ownPart(), nil
	}
	return g.move(ctx, w, v)
}

// positions are the places of a view's entries in this process's storage: the entry in row a and
// column b of the process's part is number rows[a] + cols[b].
type positions struct{ rows, cols []int }

// at returns the place of the entry in row a and column b of the process's part.
func (p positions) at(a, b int) int { return p.rows[a] + p.cols[b] }

// positions returns the places of the entries of v in the given rows and columns, which this
// process must have.
func (v view) positions(rows, cols []int) positions {
	p := positions{make([]int, len(rows)), make([]int, len(cols))}
	if len(rows) == 0 || len(cols) == 0 {
		return p
	}
	first := v.position(rows[0], cols[0])
	for a, i := range rows {
		p.rows[a] = v.position(i, cols[0])
	}
	for b, j := range cols {
		p.cols[b] = v.position(rows[0], j) - first
	}
	return p
}

// scratch is the working memory with which a goroutine computes an entry.
type scratch struct {
	acc superacc.Acc
	out *num.Array // one number of a view's format
}

// An entry is an entry of a view that this process has: entry (i, j) of the view, entry (a, b) of
// matrices that beside returns, and number at of the storage.
type entry struct{ i, j, a, b, at int }

// entries calls f for the entries of v that this process has, and returns the sum of its results.
func (v view) entries(c place.Config, f func(w *scratch, e entry) int64) (int64, error) {
	rows, cols := v.own()
	p := v.positions(rows, cols)
	work := make([]scratch, max(1, c.Threads))
	sums := make([]int64, len(work))
	err := par.For(c.Ctx, len(work), len(cols), func(worker, b int) {
		w := &work[worker]
		if w.out == nil {
			w.out = num.New(v.Arr.Format, 1)
		}
		for a, i := range rows {
			sums[worker] += f(w, entry{i, cols[b], a, b, p.at(a, b)})
		}
	})
	total := int64(0)
	for _, n := range sums {
		total += n
	}
	return total, err
}

// farShift is the limit of exponents and shifts.
const farShift = 1 << 29

// exponent returns rows[i] + cols[j], where a nil slice stands for zeros.
func exponent(rows, cols []int64, i, j int) (e int64) {
	if rows != nil {
		e = rows[i]
	}
	if cols != nil {
		e += cols[j]
	}
	return e
}

// Shift multiplies by powers of two.
func (g *Grid) Shift(c place.Config, x num.Mat, rows, cols []int64, z num.Mat, tally *num.Array) (int, error) {
	v, err := g.look(z)
	if err != nil {
		return 0, err
	}
	from, err := g.beside(c.Ctx, x, v)
	if err != nil {
		return 0, err
	}
	odd, err := v.entries(c, func(_ *scratch, e entry) int64 {
		var buf [num.MaxValueWords]uint64
		at := from.At(e.a, e.b)
		r := from.Arr.Value(at, buf[:])
		switch r.Class {
		case num.Inf, num.NaN:
			v.s.local.Set(e.at, num.Real{})
			return 1
		case num.Finite:
			top, shift := r.Exp+int64(num.BitLen(r.Mag)), exponent(rows, cols, e.i, e.j)
			if max(top, -top, shift, -shift) > farShift {
				return 1
			}
			r.Exp += shift
		}
		v.s.local.Set(e.at, r)
		return 0
	})
	if err = g.agree(c.Ctx, err); err != nil {
		return 0, err
	}
	return g.tallied(c.Ctx, tally, odd)
}

// Sum adds exactly and rounds once. With Errors it rounds only if both ends of the enclosure round
// to the same number.
func (g *Grid) Sum(c place.Config, s place.Sum, z num.Mat) (int, error) {
	v, err := g.look(z)
	if err != nil {
		return 0, err
	}
	x, err := g.beside(c.Ctx, s.X, v)
	if err != nil {
		return 0, err
	}
	d, err := g.beside(c.Ctx, s.D, v)
	if err != nil {
		return 0, err
	}
	left, err := v.entries(c, func(w *scratch, e entry) int64 {
		if s.Triangle != 0 && e.i != e.j && (e.i > e.j) != (s.Triangle == 'L') {
			return 0
		}
		acc, out := &w.acc, w.out
		var buf [2][num.MaxValueWords]uint64
		p, q := x.Arr.Value(x.At(e.a, e.b), buf[0][:]), d.Arr.Value(d.At(e.a, e.b), buf[1][:])
		// Outside of triangles both are zeros.
		if s.Errors == nil && p.Class == num.Zero && q.Class == num.Zero && !p.Neg && !q.Neg {
			v.s.local.Set(e.at, p)
			return 0
		}
		shift := exponent(s.Rows, s.Cols, e.i, e.j)
		p.Exp, q.Exp = p.Exp+shift, q.Exp+shift
		acc.Reset()
		acc.Add(p)
		acc.Add(q)
		var flags num.Flags
		if s.Errors == nil {
			sum := acc.Exact()
			if s.Unit != nil {
				sum = cutOff(sum, *s.Unit)
			}
			flags = out.Set(0, sum)
			if sum.Class == num.Zero { // the numbers cancel, or are cut off
				v.s.local.CopyFrom(e.at, out, 0)
				return 0
			}
		} else {
			bound := num.Real{Class: num.Finite, Mag: []uint64{1}, Exp: s.Errors[e.j] + shift}
			var ok bool
			if flags, ok = acc.RoundEnclosure(out, bound); !ok {
				return 1
			}
		}
		if flags != 0 || !normal(out) {
			return 1
		}
		v.s.local.CopyFrom(e.at, out, 0)
		return 0
	})
	if err = g.agree(c.Ctx, err); err != nil {
		return 0, err
	}
	return g.tallied(c.Ctx, s.Tally, left)
}

// normal reports whether number 0 of a is finite, not zero, and has all bits of its format.
func normal(a *num.Array) bool {
	class, top, _ := a.Span(0)
	if class != num.Finite {
		return false
	}
	switch a.Kind {
	case num.MP:
		return true
	case num.F32:
		return top > -126+24
	}
	return top > -1022+int64(a.Bits())
}

// cutOff returns x without its bits below 2^unit.
func cutOff(x num.Real, unit int64) num.Real {
	n := unit - x.Exp
	if x.Class != num.Finite || n <= 0 {
		return x
	}
	if n >= int64(num.BitLen(x.Mag)) {
		return num.Real{Class: num.Zero}
	}
	mag := slices.Clone(x.Mag)
	clear(mag[:n/64])
	mag[n/64] &= math.MaxUint64 << (n % 64)
	x.Mag = mag
	return x
}

// Inverse computes the inverse on the first process, sends it to all, and waits for it. There is
// one attempt.
func (g *Grid) Inverse(c place.Config, a, x num.Mat, attempt int) (rows, cols []int64, begun place.Seed, err error) {
	if attempt > 0 {
		return nil, nil, nil, nil
	}
	n := a.Rows
	out, ok, err := g.seeded(c, a, 2*n+n*n, func(d digits, out []float64) (bool, error) {
		if !d.scaleRows(out[:n]) || !d.scaleCols(out[n:2*n]) {
			return false, nil
		}
		return invert(c, n, d.floats(), out[2*n:])
	})
	if err != nil || !ok {
		return nil, nil, nil, err
	}
	return integers(out[:n]), integers(out[n : 2*n]), place.Made(true), g.set64(c.Ctx, x, out[2*n:])
}

// seeded sends to all processes numbers that the first process computes from the leading digits of
// a matrix. Only one process computes them because processors may differ in float64 roundings.
func (g *Grid) seeded(c place.Config, a num.Mat, numbers int, compute func(d digits, out []float64) (ok bool, err error)) (out []float64, ok bool, err error) {
	v, err := g.look(a)
	if err != nil {
		return nil, false, err
	}
	d, err := g.leading(c.Ctx, v)
	if err != nil {
		return nil, false, err
	}
	out = make([]float64, numbers)
	message := make([]byte, 8*numbers+1)
	if g.to.Rank() == 0 {
		if ok, err = compute(d, out); ok {
			message[8*numbers] = 1
			for k, y := range out {
				binary.LittleEndian.PutUint64(message[8*k:], math.Float64bits(y))
			}
		}
	}
	if err = g.agree(c.Ctx, err); err != nil {
		return nil, false, err
	}
	if err := g.to.Bcast(c.Ctx, message, 0); err != nil {
		return nil, false, err
	}
	if message[8*numbers] == 0 {
		return nil, false, nil
	}
	for k := range out {
		out[k] = math.Float64frombits(binary.LittleEndian.Uint64(message[8*k:]))
	}
	return out, true, nil
}

// set64 stores the numbers x, by columns, in a matrix of Float64.
func (g *Grid) set64(ctx context.Context, to num.Mat, x []float64) error {
	from := num.Mat{Arr: &num.Array{Format: num.Float64}, RS: 1, CS: to.Rows, Rows: to.Rows, Cols: to.Cols}
	from.Arr.F64[0] = x
	return g.Set(ctx, to, from)
}

// integers converts numbers that are integers.
func integers(x []float64) []int64 {
	z := make([]int64, len(x))
	for i, v := range x {
		z[i] = int64(v)
	}
	return z
}

// digits are the leading digits of an m x n matrix, by columns: an entry is about lead 2^exps; lead
// is 0 for entries that are not finite.
type digits struct {
	m, n int
	lead []float64
	exps []int64
}

// scaleRows scales the rows so that the largest magnitude of each lies near 1, and stores the
// exponents in by. It returns false if a row is 0.
func (d digits) scaleRows(by []float64) bool {
	for i := range by {
		if !d.scale(&by[i], i, d.m, d.n) {
			return false
		}
	}
	return true
}

// scaleCols is scaleRows for columns.
func (d digits) scaleCols(by []float64) bool {
	for j := range by {
		if !d.scale(&by[j], j*d.m, 1, d.m) {
			return false
		}
	}
	return true
}

// scale scales the given number of numbers, at first, first + step, ..., and stores the exponent in
// by. It returns false if all are 0.
func (d digits) scale(by *float64, first, step, numbers int) bool {
	top := int64(math.MinInt64)
	for k := range numbers {
		if at := first + k*step; d.lead[at] != 0 {
			top = max(top, d.exps[at])
		}
	}
	if top == math.MinInt64 {
		return false
	}
	*by = float64(-top)
	for k := range numbers {
		d.exps[first+k*step] -= top
	}
	return true
}

// floats returns the scaled numbers, which are at most 1, with 0 for numbers below 2^-1000.
func (d digits) floats() []float64 {
	f := make([]float64, len(d.lead))
	for k, x := range d.lead {
		if e := d.exps[k]; e > -farLead {
			f[k] = math.Ldexp(x, int(e))
		}
	}
	return f
}

// leading returns the leading digits of a matrix in the first process.
func (g *Grid) leading(ctx context.Context, v view) (d digits, err error) {
	rows, cols := v.own()
	local := num.New(num.Float64, v.s.local.Len())
	powers := num.New(num.Float64, v.s.local.Len())
	p := v.positions(rows, cols)
	for b := range cols {
		for a := range rows {
			at := p.at(a, b)
			f, e := v.s.local.Leading(at)
			local.F64[0][at], powers.F64[0][at] = f, float64(e)
		}
	}
	all := func(a *num.Array) ([]float64, error) {
		w := v
		w.Arr = &num.Array{Format: num.Float64}
		w.s = &storage{g: g, rows: v.s.rows, cols: v.s.cols, local: a}
		m, err := g.move(ctx, w, first{v.Rows, v.Cols})
		return m.Arr.F64[0], err
	}
	d.m, d.n = v.Rows, v.Cols
	if d.lead, err = all(local); err != nil {
		return d, err
	}
	e, err := all(powers)
	d.exps = integers(e)
	return d, err
}

// first is the layout in which the first process has the whole m x n matrix.
type first struct{ m, n int }

func (f first) part(row, col int) (rows, cols []int) {
	if row != 0 || col != 0 {
		return nil, nil
	}
	return count(f.m), count(f.n)
}

// invert stores an approximate inverse of F, by columns, in X, which must be 0. It destroys F.
func invert(c place.Config, n int, f, x []float64) (ok bool, err error) {
	pivots := make([]int, n)
	if err := dgemm.LU(c.Ctx, c.Threads, n, f, leastPivot, pivots); err != nil {
		return false, err
	}
	order := count(n)
	for i, p := range pivots {
		order[i], order[p] = order[p], order[i]
	}
	for i, k := range order {
		x[i+k*n] = 1
	}
	if err := dgemm.SolveLower(c.Ctx, c.Threads, n, n, f, x); err != nil {
		return false, err
	}
	if err := dgemm.SolveUpper(c.Ctx, c.Threads, n, n, f, x); err != nil {
		return false, err
	}
	return finite(x), nil
}

// finite reports whether x has neither an infinity nor a NaN.
func finite(x []float64) bool {
	for _, y := range x {
		if y-y != 0 {
			return false
		}
	}
	return true
}
