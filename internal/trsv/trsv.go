// Package trsv solves triangular systems on the host, with every quotient rounded once.
package trsv

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Config says how a system is solved.
type Config struct {
	par.Run
	// Multiply stores alpha A B + beta Old, rounded once, in C, which may be Old.
	Multiply func(alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error)
	// Vectors says that products with one column are not Multiply's.
	Vectors bool
	// Floats says that systems of binary64 and binary32 numbers have larger blocks of rows that are
	// solved entry by entry, with fewer products for Multiply.
	Floats bool
}

// Solve returns the solution X of S X = alpha B, S triangular, in a format: with
//
//	x_ij = RN((alpha b_ij - Σ_h s_ih x_hj) / s_ii),
//
// h over the rows solved before; +0 for alpha = 0. Columns do not depend on each other.
func Solve(cfg Config, s direct.Structured, alpha num.Real, b num.Mat, f num.Format) (x num.Mat, st residue.Stats, err error) {
	v := &work{Config: cfg, s: s, alpha: alpha, b: b}
	v.stats = residue.Stats{Device: place.Host, Method: residue.Direct}
	v.x = num.Mat{Arr: num.New(f, b.Rows*b.Cols), RS: 1, CS: b.Rows, Rows: b.Rows, Cols: b.Cols}
	err = v.Ctx.Err()
	if err == nil && v.alpha.Class != num.Zero && b.Rows > 0 {
		err = v.run()
	}
	if err != nil {
		return v.x, v.stats, err
	}
	v.stats.Stages = append(v.stats.Stages, residue.Stage{Name: "quotients", Time: v.dividing})
	v.stats.Overflow, v.stats.Underflow, v.stats.Exact = v.overflow.Load(), v.underflow.Load(), v.exact.Load()
	return v.x, v.stats, nil
}

// A work is S X = alpha B under way: rows are solved in blocks, and what they make of the
// right-hand sides of later rows is found by products of matrices,
//
//	r_ij = alpha b_ij - Σ_h s_ih x_hj, rounded to guardBits more bits than X has.
//
// Rounded so a few times, r is known up to a bound that decides the rounding of nearly all
// quotients.
type work struct {
	Config
	s     direct.Structured
	alpha num.Real
	b, x  num.Mat
	stats residue.Stats

	col, cols int                // columns under way
	r         num.Mat            // of these, rows that have met a product
	top       []int64            // of each number of r the exponent of the largest value it had
	lost      []bool             // rows of r that left the range
	workers   []*divider         // one a thread
	divisors  []superacc.Divisor // of the block under way
	// In systems of binary64 and binary32 numbers compensated sums decide most entries of blocks
	// that have not met a product.
	float    bool
	factor   float64   // alpha
	diagonal []float64 // of the block under way, 0 where it is no such number
	solved   int       // rows times columns
	dividing time.Duration

	exact, overflow, underflow atomic.Int64
}

const (
	// solveBlock is the largest number of rows that are solved entry by entry.
	solveBlock = 32
	// floatBlock is the same where compensated sums decide. With exact sums and blocks of 32 rows a
	// system of 128 rows takes seven times as long (bench/records/epyc-avx2-small-calls.json).
	floatBlock = 128
	// fewProducts is the largest number of products in compensated sums for one thread: to start
	// another one takes as long.
	fewProducts = 1 << 13
	guardBits   = 32
	noTop       = math.MinInt64 / 4
)

// run solves as many columns at a time as a quarter of the memory allowed holds.
func (v *work) run() error {
	f := num.Format{Kind: num.MP, Prec: uint32(v.x.Arr.Bits() + guardBits)}
	n := v.s.Rows
	fit := max(1, min(int64(v.b.Cols), v.Memory/4/((num.SizeOf(f)+8)*int64(n))))
	v.workers = make([]*divider, max(v.Threads, 1))
	if superacc.IsFloat(v.s.Array().Format) && superacc.IsFloat(v.b.Arr.Format) && superacc.IsFloat(v.x.Arr.Format) {
		v.factor, v.float = direct.FloatFactor(v.alpha)
	}
	for v.col = 0; v.col < v.b.Cols; v.col += v.cols {
		v.cols = int(min(fit, int64(v.b.Cols-v.col)))
		if n > v.blockRows() {
			v.r = num.Mat{Arr: num.New(f, n*v.cols), RS: 1, CS: n, Rows: n, Cols: v.cols}
			v.top = make([]int64, n*v.cols)
			for i := range v.top {
				v.top[i] = noTop
			}
			v.lost = make([]bool, n)
		}
		if err := v.rows(0, n, 0); err != nil {
			return err
		}
	}
	return nil
}

// blockRows is the largest number of rows that are solved entry by entry.
func (v *work) blockRows() int {
	if v.float && v.Floats {
		return floatBlock
	}
	return solveBlock
}

// rows solves rows lo <= i < hi, which have met so many products.
func (v *work) rows(lo, hi, updates int) error {
	if hi-lo <= v.blockRows() {
		return v.block(lo, hi, updates)
	}
	mid := lo + (hi-lo+1)/2
	first, then := [2]int{lo, mid}, [2]int{mid, hi}
	if !v.s.IsLower() {
		first, then = then, first
	}
	if err := v.rows(first[0], first[1], updates); err != nil {
		return err
	}
	if err := v.update(then, first, updates); err != nil {
		return err
	}
	return v.rows(then[0], then[1], updates+1)
}

// update subtracts from the right-hand sides of some rows the part of rows solved.
func (v *work) update(to, from [2]int, updates int) error {
	view := func(m num.Mat, rows [2]int, col int) num.Mat {
		m.Off, m.Rows, m.Cols = m.At(rows[0], col), rows[1]-rows[0], v.cols
		return m
	}
	a := v.s.Block(to, from)
	x, r := view(v.x, from, v.col), view(v.r, to, 0)
	old, beta := r, direct.One(false)
	if updates == 0 {
		old, beta = view(v.b, to, v.col), v.alpha
	}
	minus := direct.One(true)
	var leaves bool
	if v.cols == 1 && v.Vectors {
		z := num.New(r.Arr.Format, r.Rows)
		var events atomic.Int64
		_, err := direct.Gemv(direct.Work{Run: v.Run}, minus, a, x.Col(0), beta, old.Col(0), z,
			func(num.Flags) { events.Add(1) })
		if err != nil {
			return err
		}
		for i := range r.Rows {
			r.Arr.CopyFrom(r.At(i, 0), z, i)
		}
		leaves = events.Load() > 0
	} else {
		st, err := v.Multiply(minus, a, x, beta, old, r)
		if err != nil {
			return err
		}
		leaves = st.Overflow+st.Underflow > 0
		v.stats.Add(st)
	}
	if leaves {
		for i := to[0]; i < to[1]; i++ {
			v.lost[i] = true
		}
		return nil
	}
	return par.For(v.Ctx, v.Threads, v.cols, func(_, j int) {
		for i := to[0]; i < to[1]; i++ {
			at := v.r.At(i, j)
			if c, top, _ := v.r.Arr.Span(at); c == num.Finite {
				v.top[at] = max(v.top[at], top)
			}
		}
	})
}

// block solves rows lo <= i < hi entry by entry.
func (v *work) block(lo, hi, updates int) error {
	start := time.Now()
	v.divisors, v.diagonal = v.divisors[:0], v.diagonal[:0]
	for i := lo; i < hi; i++ {
		d := v.s.Diagonal(i, make([]uint64, num.ValueWords(v.s.Array().Format)))
		f, _ := direct.FloatFactor(d)
		v.diagonal = append(v.diagonal, f)
		if updates > 0 {
			v.divisors = append(v.divisors, superacc.NewDivisor(d, v.x.Arr.Bits()+guardBits))
		} else {
			v.divisors = append(v.divisors, superacc.Divisor{Real: d})
		}
	}
	threads := v.Threads
	if v.float && updates == 0 && (hi-lo)*(hi-lo) <= fewProducts/v.cols {
		threads = 1
	}
	err := par.For(v.Ctx, threads, v.cols, func(worker, j int) {
		w := v.workers[worker]
		if w == nil {
			w = &divider{work: v, quotients: superacc.NewQuotients(v.x.Arr.Format)}
			v.workers[worker] = w
		}
		for k := range hi - lo {
			i := lo + k
			if !v.s.IsLower() {
				i = hi - 1 - k
			}
			w.entry(lo, hi, i, j, updates)
		}
	})
	v.dividing += time.Since(start)
	v.solved += (hi - lo) * v.cols
	if v.Progress != nil && err == nil {
		v.Progress(float64(v.solved) / float64(v.x.Rows*v.x.Cols))
	}
	return err
}

// A divider computes single entries.
type divider struct {
	*work
	acc       superacc.Acc
	quotients *superacc.Quotients
	buf       [num.MaxValueWords]uint64
}

// entry solves entry (i, j) of the columns under way, in the block of rows from lo to hi.
func (w *divider) entry(lo, hi, i, j, updates int) {
	at := w.x.At(i, w.col+j)
	d := &w.divisors[i-lo]
	if updates > 0 && !w.lost[i] {
		r := w.r.At(i, j)
		w.acc.Reset()
		w.acc.Add(w.r.Arr.Value(r, w.buf[:]))
		w.subtract(i, j, lo, hi)
		// Every product was rounded by at most 2^(top-p-1), p the bits of r, at most 64 times.
		if fl, ok := w.acc.TryQuotient(w.x.Arr, at, d, w.top[r]-int64(w.r.Arr.Prec)+5, w.quotients); ok {
			w.count(fl)
			return
		}
	}
	if w.float && updates == 0 {
		b := w.b.At(i, w.col+j)
		s, x := w.before(i, j, lo, hi)
		if direct.FloatQuotient(w.x.Arr, at, w.factor, superacc.FloatAt(w.b.Arr, b), s, x, w.diagonal[i-lo]) {
			return
		}
	}
	w.acc.Reset()
	w.acc.AddProduct(w.alpha, w.b.Arr.Value(w.b.At(i, w.col+j), w.buf[:]))
	w.subtract(i, j, 0, w.x.Rows)
	w.count(w.acc.SetQuotient(w.x.Arr, at, d.Real))
	if updates > 0 {
		w.exact.Add(1)
	}
}

// subtract subtracts what the rows solved before row i, of those from lo to hi, make.
func (w *divider) subtract(i, j, lo, hi int) {
	s, x := w.before(i, j, lo, hi)
	w.acc.AddEntry(direct.One(true), s, x, num.Real{}, num.Real{})
}

// before returns the entries x that are solved before row i, in rows lo to hi, and their factors.
func (w *divider) before(i, j, lo, hi int) (s, x num.Vec) {
	if w.s.IsLower() {
		hi = i
	} else {
		lo = i + 1
	}
	x = w.x.Col(w.col + j)
	x.Off, x.N = x.At(lo), hi-lo
	return w.s.Block([2]int{i, i + 1}, [2]int{lo, hi}).Row(0), x
}

func (w *divider) count(f num.Flags) {
	if f&num.Overflow != 0 {
		w.overflow.Add(1)
	}
	if f&num.Underflow != 0 {
		w.underflow.Add(1)
	}
}
