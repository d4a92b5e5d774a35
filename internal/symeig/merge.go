// may fuse throughout: all results are seeds

package symeig

import (
	"cmp"
	"math"
	"slices"

	"github.com/halfulp/halfulp/internal/par"
)

// piece is a part of a divided matrix, of order to - first, that is merged from the two parts that
// meet at mid.
type piece struct{ first, mid, to int }

// pieces returns what is merged, by levels: the pieces of a level are independent, and the last
// level is the whole. The smallest pieces have least rows; between the two parts of a piece are
// joint rows.
func pieces(n, least, joint int) (levels [][]piece) {
	var divide func(first, to, depth int)
	divide = func(first, to, depth int) {
		if to-first < least {
			return
		}
		for len(levels) <= depth {
			levels = append(levels, nil)
		}
		mid := (first + to) / 2
		levels[depth] = append(levels[depth], piece{first, mid, to})
		divide(first, mid, depth+1)
		divide(mid+joint, to, depth+1)
	}
	divide(0, n, 0)
	slices.Reverse(levels)
	return levels
}

// each calls f for the pieces of a level, and tells it how many workers it may use. f reports
// whether iterations have converged.
func (s *solver) each(level []piece, f func(p piece, workers int) bool) bool {
	if s.workers == 1 || len(level) < s.workers {
		for _, p := range level {
			if !f(p, s.workers) || s.done() {
				return false
			}
		}
		return true
	}
	failed := make([]bool, s.workers)
	some := max(1, len(level)/(8*s.workers))
	err := par.For(s.ctx, s.workers, (len(level)+some-1)/some, func(worker, task int) {
		for _, p := range level[task*some : min(len(level), (task+1)*some)] {
			if !f(p, 1) {
				failed[worker] = true
			}
		}
	})
	return err == nil && !slices.Contains(failed, true)
}

// The vectors of a piece are zero below or above mid, or neither.
const (
	top = iota
	mixed
	bottom
	deflated
)

// sortBy sets order to the places of the values in ascending order.
func sortBy(order []int, values []float64) {
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
}

// deflate finds the columns of vectors that remain vectors of the whole: z has an entry of at most
// small there, or a rotation of two columns removes one of two entries, whose values are not far
// from each other. It returns the other columns, in the ascending order of their values.
func deflate(z []float64, kind []int8, order []int, small float64, far func(p, j int, c, s float64) bool, rotate func(p, j int, c, s float64)) (kept []int) {
	kept = make([]int, 0, len(order))
	for _, j := range order {
		if !(math.Abs(z[j]) > small) {
			kind[j] = deflated
			continue
		}
		if len(kept) > 0 {
			p := kept[len(kept)-1]
			norm := math.Hypot(z[p], z[j])
			if c, s := z[j]/norm, -z[p]/norm; !far(p, j, c, s) {
				z[j], z[p] = norm, 0
				if kind[p] != kind[j] {
					kind[j] = mixed
				}
				kind[p] = deflated
				rotate(p, j, c, s)
				kept = kept[:len(kept)-1]
			}
		}
		kept = append(kept, j)
	}
	return kept
}

// transposeOrdered copies the first entries of columns order[0], order[1], ... to the rows of a
// matrix, which has a column for each such entry.
func (m matrix) transposeOrdered(to matrix, order []int) {
	const side = 32
	for j0 := 0; j0 < len(order); j0 += side {
		some := order[j0:min(len(order), j0+side)]
		for i0 := 0; i0 < to.cols; i0 += side {
			for j, c := range some {
				for i, x := range m.data[c*m.ld+i0 : c*m.ld+min(to.cols, i0+side)] {
					to.data[j0+j+(i0+i)*to.ld] = x
				}
			}
		}
	}
}

// rotate replaces two vectors by c x + s y and c y - s x.
func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for i, v := range x {
		x[i], y[i] = c*v+s*y[i], c*y[i]-s*v
	}
}

// groups has columns in the order top, mixed, bottom, deflated.
type groups struct {
	columns []int
	kept    int
	upTo    [3]int // the ends of the first three
	place   []int  // of each kept column, in the order of its values, among columns
}

func group(kept []int, kind []int8) groups {
	g := groups{columns: make([]int, 0, len(kind)), kept: len(kept), place: make([]int, len(kept))}
	for c := range int8(deflated) {
		for i, j := range kept {
			if kind[j] == c {
				g.place[i] = len(g.columns)
				g.columns = append(g.columns, j)
			}
		}
		g.upTo[c] = len(g.columns)
	}
	for j, c := range kind {
		if c == deflated {
			g.columns = append(g.columns, j)
		}
	}
	return g
}

// vectors replaces the columns of delta by minus the vectors z_j / delta_j of norm 1, with entry j
// at its place. For singular values these are right vectors; minus the left vectors, which are
// proportional to d_j z_j / delta_j but for entry 0, -1, become the columns of left.
func (s *solver) vectors(e *secular, delta, left matrix, place []int, workers int) {
	n := len(e.d)
	workers = max(1, min(workers, 1+n/64))
	room := newMatrix(n, workers)
	const some = 16
	_ = par.For(s.ctx, workers, (n+some-1)/some, func(worker, task int) {
		x := room.column(worker)
		for i := task * some; i < min(n, (task+1)*some); i++ {
			to := delta.column(i)
			f := -1 / math.Sqrt(s.k.divide(x, e.z, to))
			for j, v := range x {
				to[place[j]] = f * v
			}
			if !e.squared {
				continue
			}
			squares := 1.0
			for j, v := range x[1:] {
				v *= e.d[j+1]
				x[j+1] = v
				squares += v * v
			}
			x[0] = -1
			f, to = -1/math.Sqrt(squares), left.column(i)
			for j, v := range x {
				to[place[j]] = f * v
			}
		}
	})
}

// combine multiplies the kept columns of q by -minus, and moves the deflated ones behind them. Rows
// up to upper are zero in columns of the kind bottom, and the others in columns of the kind top.
func (s *solver) combine(q matrix, upper int, g groups, minus matrix, room []float64, workers int) {
	k, kept := q.rows, g.kept
	lower := k - upper
	above := matrix{upper, g.upTo[mixed], upper, room}
	room = room[above.rows*above.cols:]
	below := matrix{lower, kept - g.upTo[top], lower, room}
	room = room[below.rows*below.cols:]
	rest := matrix{k, len(g.columns) - kept, k, room}
	for i, j := range g.columns {
		x := q.column(j)
		if i < above.cols {
			copy(above.column(i), x)
		}
		if i >= g.upTo[top] && i < kept {
			copy(below.column(i-g.upTo[top]), x[upper:])
		}
		if i >= kept {
			copy(rest.column(i-kept), x)
		}
	}
	for i := range kept {
		clear(q.column(i))
	}
	s.subtract(q.view(0, upper, 0, kept), above, minus.view(0, above.cols, 0, kept), workers)
	s.subtract(q.view(upper, k, 0, kept), below, minus.view(g.upTo[top], kept, 0, kept), workers)
	for i := range rest.cols {
		copy(q.column(kept+i), rest.column(i))
	}
}
