package grid

import (
	"context"
	"math"
	"slices"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/mpi"
)

// Factors and determinants are computed by products, which are distributed over the processes. They
// start from triangles that the first process inverts in float64.

// leastPivot is the smallest accepted pivot of a matrix scaled by rows and columns.
const leastPivot = 0x1p-80

// InverseRoot computes the inverse on the first process, sends it to all, and waits for it.
func (g *Grid) InverseRoot(c place.Config, a, x num.Mat) (exps []int64, begun place.Seed, err error) {
	n := a.Rows
	out, ok, err := g.seeded(c, a, n+n*n, func(d digits, out []float64) (bool, error) {
		exps := make([]int64, n)
		for i := range exps {
			if !(d.lead[i+i*n] > 0) {
				return false, nil
			}
			exps[i] = -(d.exps[i+i*n] >> 1)
			out[i] = float64(exps[i])
		}
		f := make([]float64, n*n)
		for j := range n {
			for i := j; i < n; i++ {
				k := i + j*n
				switch e := d.exps[k] + exps[i] + exps[j]; {
				case d.lead[k] != 0 && e > farLead:
					return false, nil
				case e >= -farLead:
					f[k] = math.Ldexp(d.lead[k], int(e))
				}
				f[j+i*n] = f[k]
			}
		}
		return invertRoot(c, n, f, out[n:])
	})
	if err != nil || !ok {
		return nil, nil, err
	}
	return integers(out[:n]), place.Made(true), g.set64(c.Ctx, x, out[n:])
}

// farLead limits the exponents of the float64 numbers from which seeds are computed.
const farLead = 1000

// invertRoot stores in X an approximate inverse of the Cholesky factor of a symmetric F, by
// columns. It destroys F. X must be 0.
func invertRoot(c place.Config, n int, f, x []float64) (bool, error) {
	if err := dgemm.LU(c.Ctx, c.Threads, n, f, leastPivot, nil); err != nil {
		return false, err
	}
	roots := make([]float64, n)
	for i := range roots {
		d := f[i+i*n]
		if !(d > 2*leastPivot && d < 0x1p100) {
			return false, nil
		}
		roots[i] = math.Sqrt(d)
	}
	if err := dgemm.InvertLower(c.Ctx, c.Threads, n, f, x); err != nil {
		return false, err
	}
	for j := range n {
		for i := range n {
			if k := i + j*n; i < j {
				x[k] = 0
			} else {
				x[k] /= roots[i]
			}
		}
	}
	return finite(x), nil
}

// Triangles computes the triangles on the first process, with partial pivoting, and sends them to
// all. There is one attempt.
func (g *Grid) Triangles(c place.Config, a, z, u num.Mat, attempt int) (rows, cols []int64, begun place.Triangular, err error) {
	if attempt > 0 {
		return nil, nil, nil, nil
	}
	return g.triangles(c, a, z, u, true)
}

// PivotedTriangles computes the triangles on the first process and sends them to all.
func (g *Grid) PivotedTriangles(c place.Config, a, z, u num.Mat) (rows, cols []int64, begun place.Triangular, err error) {
	return g.triangles(c, a, z, u, false)
}

func (g *Grid) triangles(c place.Config, a, z, u num.Mat, scaleRows bool) (rows, cols []int64, begun place.Triangular, err error) {
	m, n := a.Rows, a.Cols
	out, ok, err := g.seeded(c, a, m+2*n+2*n*n, func(d digits, out []float64) (bool, error) {
		least := 0x1p-900 // rows may be small
		if scaleRows {
			least = leastPivot
			if !d.scaleRows(out[:m]) {
				return false, nil
			}
		}
		if !d.scaleCols(out[m:][:n]) {
			return false, nil
		}
		chosen, inverses := out[m+n:][:n], out[m+2*n:]
		return invertTriangles(c, m, n, d.floats(), least, chosen, inverses[:n*n], inverses[n*n:])
	})
	if err != nil || !ok {
		return nil, nil, nil, err
	}
	order := make([]int32, n)
	for i, row := range out[m+n:][:n] {
		order[i] = int32(row)
	}
	inverses := out[m+2*n:]
	if err := g.set64(c.Ctx, z, inverses[:n*n]); err != nil {
		return nil, nil, nil, err
	}
	return integers(out[:m]), integers(out[m:][:n]), place.Factored(order, true), g.set64(c.Ctx, u, inverses[n*n:])
}

// invertTriangles factors an m x n matrix F, by columns, and destroys it. It stores the rows of the
// n pivots in chosen and the inverses of the triangular factors in x and y, which must be 0.
func invertTriangles(c place.Config, m, n int, f []float64, least float64, chosen, x, y []float64) (bool, error) {
	pivots := make([]int, n)
	if err := dgemm.LUTall(c.Ctx, c.Threads, m, n, f, least, pivots); err != nil {
		return false, err
	}
	order := count(m)
	for i, p := range pivots {
		order[i], order[p] = order[p], order[i]
	}
	lu := make([]float64, n*n)
	for j := range n {
		chosen[j] = float64(order[j])
		copy(lu[j*n:(j+1)*n], f[j*m:])
	}
	if err := dgemm.InvertLower(c.Ctx, c.Threads, n, lu, x); err != nil {
		return false, err
	}
	if err := dgemm.InvertUpper(c.Ctx, c.Threads, n, lu, n, y); err != nil {
		return false, err
	}
	for j := range n {
		clear(x[j*n : j*n+j])
		x[j+j*n] = 1
		clear(y[j*n+j+1 : (j+1)*n])
	}
	return finite(x) && finite(y), nil
}

// Triangle processes in each process the entries that it has. If needed, the process first gets
// their mirror images.
func (g *Grid) Triangle(c place.Config, op place.TriangleOperation, a num.Mat, tally *num.Array) (int, error) {
	v, err := g.look(a)
	if err != nil {
		return 0, err
	}
	x, across := v.s.local, num.Mat{}
	if op == place.MirrorLower || op == place.CountAsymmetric {
		if across, err = g.beside(c.Ctx, a.T(), v); err != nil {
			return 0, err
		}
	}
	n, err := v.entries(c, func(_ *scratch, e entry) int64 {
		switch {
		case op == place.HalveDiagonal && e.i == e.j && x.Class(e.at) == num.Finite:
			x.Exp[e.at]--
		case op == place.MirrorLower && e.i < e.j:
			x.CopyFrom(e.at, across.Arr, across.At(e.a, e.b))
		case op == place.CountNotPositive && e.i == e.j && !positive(x, e.at),
			op == place.CountAsymmetric && e.i > e.j && !x.SameBits(e.at, across.Arr, across.At(e.a, e.b)):
			return 1
		}
		return 0
	})
	if err = g.agree(c.Ctx, err); err != nil {
		return 0, err
	}
	return g.tallied(c.Ctx, tally, n)
}

// positive reports whether number i of an array is finite and above 0.
func positive(x *num.Array, i int) bool {
	if x.Class(i) != num.Finite {
		return false
	}
	lead, _ := x.Leading(i)
	return lead > 0
}

// Spread bounds |A| (|B| 1) and (1 |A|) |B|.
func (g *Grid) Spread(c place.Config, a, b num.Mat, _ bool) (rows, cols float64, err error) {
	times := func(m num.Mat, w []bounded) ([]bounded, error) {
		v, err := g.look(m)
		if err != nil {
			return nil, err
		}
		return g.boundedSums(c.Ctx, v, w)
	}
	if rows, err = spread(times, b, a); err == nil {
		cols, err = spread(times, a.T(), b.T())
	}
	return rows, cols, err
}

// spread bounds the largest entry of |P| (|M| 1), for the matrices M and P in this order.
func spread(times func(m num.Mat, w []bounded) ([]bounded, error), list ...num.Mat) (most float64, err error) {
	w := slices.Repeat([]bounded{{1, 0}}, list[0].Cols)
	for _, m := range list {
		if w, err = times(m, w); err != nil {
			return 0, err
		}
	}
	for _, x := range w {
		switch {
		case x.f != 0 && x.e > farLead:
			return math.Inf(1), nil
		case x.f != 0:
			most = max(most, math.Ldexp(x.f, int(max(x.e, -farLead))))
		}
	}
	return most, nil
}

// A bounded is an upper bound f 2^e, 0 <= f <= 1.
type bounded struct {
	f float64
	e int64
}

// boundedSums returns bounds of the product of |V| and a vector, by the method of Extents: it finds
// the largest addend of each row first, and then adds magnitudes as integers, in units of 2^-40 of
// the largest addend.
func (g *Grid) boundedSums(ctx context.Context, v view, w []bounded) ([]bounded, error) {
	rows, cols := v.own()
	p := v.positions(rows, cols)
	each := func(f func(i int, x float64, e int64)) {
		for b, j := range cols {
			if w[j].f == 0 {
				continue
			}
			for a, i := range rows {
				if x, e := v.s.local.Leading(p.at(a, b)); x != 0 {
					f(i, math.Abs(x)*w[j].f, e+w[j].e)
				}
			}
		}
	}
	tops := slices.Repeat([]int64{zeroTop}, v.Rows)
	each(func(i int, _ float64, e int64) { tops[i] = max(tops[i], e) })
	if err := g.to.Allreduce(ctx, mpi.Max, tops); err != nil {
		return nil, err
	}
	sums := make([]int64, v.Rows)
	each(func(i int, x float64, e int64) {
		// The relative error of x is 2^-48, so its error is below 2^-40.
		sums[i] += 2
		if d := e - tops[i]; d > -44 {
			sums[i] += int64(math.Ldexp(x, int(d)+40))
		}
	})
	if err := g.to.Allreduce(ctx, mpi.Sum, sums); err != nil {
		return nil, err
	}
	z := make([]bounded, v.Rows)
	for i, s := range sums {
		f, e := math.Frexp(float64(s) * (1 + 0x1p-50))
		z[i] = bounded{f, tops[i] + int64(e) - 40}
	}
	return z, nil
}

// Part copies to each process the entries that it has of the two triangles.
func (g *Grid) Part(c place.Config, a, lower, upper num.Mat) error {
	for _, t := range []struct {
		to    num.Mat
		below bool
	}{{lower, true}, {upper, false}} {
		v, err := g.look(t.to)
		if err != nil {
			return err
		}
		m, err := g.beside(c.Ctx, a, v)
		if err != nil {
			return err
		}
		_, err = v.entries(c, func(_ *scratch, e entry) int64 {
			if (e.i > e.j) == t.below {
				v.s.local.CopyFrom(e.at, m.Arr, m.At(e.a, e.b))
			}
			return 0
		})
		if err = g.agree(c.Ctx, err); err != nil {
			return err
		}
	}
	return nil
}

// NotSmall compares the leading digits, whose relative error is 2^-52 for numbers of one term.
func (g *Grid) NotSmall(c place.Config, a num.Mat, bound float64, tally *num.Array) (int, error) {
	v, err := g.look(a)
	if err != nil {
		return 0, err
	}
	n, err := v.entries(c, func(_ *scratch, e entry) int64 {
		if e.i <= e.j {
			return 0
		}
		if x, exp := v.s.local.Leading(e.at); math.Ldexp(math.Abs(x), int(max(-2, min(exp, 3)))) > bound {
			return 1
		}
		return 0
	})
	if err = g.agree(c.Ctx, err); err != nil {
		return 0, err
	}
	return g.tallied(c.Ctx, tally, n)
}

// Gather moves to each process the rows of X that its part of the result needs.
func (g *Grid) Gather(c place.Config, x num.Mat, order []int32, z num.Mat) error {
	v, err := g.look(z)
	if err != nil {
		return err
	}
	w, err := g.look(x)
	if err != nil {
		return err
	}
	from := gathered{v, order}
	m, err := g.move(c.Ctx, w, from)
	if err != nil {
		return err
	}
	rows, _ := from.part(g.row, g.col)
	at := places(rows, x.Rows)
	_, err = v.entries(c, func(_ *scratch, e entry) int64 {
		v.s.local.CopyFrom(e.at, m.Arr, m.At(at[order[e.i]], e.b))
		return 0
	})
	return g.agree(c.Ctx, err)
}

// gathered is the layout in which a process has the rows order[i] for the rows i that it has in
// another layout.
type gathered struct {
	layout
	order []int32
}

func (l gathered) part(row, col int) (rows, cols []int) {
	to, cols := l.layout.part(row, col)
	rows = make([]int, len(to))
	for k, i := range to {
		rows[k] = int(l.order[i])
	}
	slices.Sort(rows)
	return rows, cols
}
