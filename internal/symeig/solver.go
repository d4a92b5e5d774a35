// may fuse throughout: all results are seeds

package symeig

import (
	"context"
	"math"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/par"
)

// matrix is a view of a matrix that is stored by columns.
type matrix struct {
	rows, cols, ld int
	data           []float64
}

// newMatrix returns a matrix of zeros.
func newMatrix(rows, cols int) matrix {
	return matrix{rows, cols, rows, make([]float64, rows*cols)}
}

// view returns rows i0 ≤ i < i1 and columns j0 ≤ j < j1.
func (m matrix) view(i0, i1, j0, j1 int) matrix {
	if i0 == i1 || j0 == j1 {
		return matrix{rows: i1 - i0, cols: j1 - j0, ld: m.ld}
	}
	return matrix{i1 - i0, j1 - j0, m.ld, m.data[i0+j0*m.ld:]}
}

// column returns a column.
func (m matrix) column(j int) []float64 { return m.data[j*m.ld:][:m.rows] }

// solver runs the steps of a decomposition.
type solver struct {
	ctx      context.Context
	workers  int
	k        *kernel
	portable bool      // the level of instructions in force
	room     []float64 // for blocks of reflectors
}

// crew computes shared products with vectors. Its goroutines never end, so all solvers share it.
var crew par.Crew

func newSolver(ctx context.Context, workers int) *solver {
	return &solver{ctx: ctx, workers: max(1, workers), k: best(), portable: isa.Level() == isa.Portable}
}

// done reports whether ctx is done: results are worthless then.
func (s *solver) done() bool { return s.ctx.Err() != nil }

// smallProduct is the number of multiplications below which products run without packing.
const smallProduct = 2048

// subtract sets C -= A B.
func (s *solver) subtract(c, a, b matrix, workers int) {
	if c.rows == 0 || c.cols == 0 || a.cols == 0 {
		return
	}
	switch {
	case c.rows*c.cols*a.cols < smallProduct:
		s.subtractColumns(c, a, b, 0, c.cols)
	case s.portable:
		// Package dgemm calls math.FMA there, which some machines compute in integers.
		const some = 16 // columns a task
		_ = par.For(s.ctx, workers, (c.cols+some-1)/some, func(_, part int) {
			s.subtractColumns(c, a, b, part*some, min(c.cols, (part+1)*some))
		})
	default:
		// An error says that ctx is done, for which all callers look in the end.
		_ = dgemm.SubtractSame(s.ctx, workers, c.rows, c.cols, a.cols, c.data, c.ld, a.data, a.ld, b.data, b.ld)
	}
}

// subtractColumns is subtract for some columns of C, without packing.
func (s *solver) subtractColumns(c, a, b matrix, first, to int) {
	var f [8]float64
	for h := 0; h < a.cols; h += len(f) {
		some := f[:min(len(f), a.cols-h)]
		for j := first; j < to; j++ {
			for i, x := range b.column(j)[h : h+len(some)] {
				some[i] = -x
			}
			s.k.addProduct(a.data[h*a.ld:], a.ld, c.column(j), some)
		}
	}
}

// householder returns a reflector, H = I - tau v v' with H x = beta e_1. v replaces x; v_1 = 1.
// Entries of x are at most about 1. A tail of norm below 2^-450 becomes 0: its squares may
// underflow, and it is nothing beside the norm of the whole matrix.
func householder(x []float64) (beta, tau float64) {
	if len(x) == 0 {
		return 0, 0
	}
	alpha, tail := x[0], x[1:]
	x[0] = 1
	sum := inner(tail, tail)
	if sum < 0x1p-900 {
		clear(tail)
		return alpha, 0
	}
	beta = -math.Copysign(math.Hypot(alpha, math.Sqrt(sum)), alpha)
	f := 1 / (alpha - beta)
	for i := range tail {
		tail[i] *= f
	}
	return beta, (beta - alpha) / beta
}
