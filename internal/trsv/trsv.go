// Package trsv solves triangular systems on the host by substitution. Each entry of the solution is
// the exact quotient for the rounded entries before it, rounded once.
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

// Config holds the options of Solve.
type Config struct {
	par.Run
	// Multiply stores alpha A B + beta old, rounded once, in c. c may be old.
	Multiply func(alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error)
	// Vectors means that Solve computes products with one column itself, not with Multiply.
	Vectors bool
	// Floats allows larger blocks of rows to be solved entry by entry in systems of binary64 and
	// binary32 numbers. Such systems need fewer calls of Multiply.
	Floats bool
}

// Solve returns the solution X of S X = alpha B in format f, S triangular. Each entry is rounded
// once,
//
//	x_ij = RN((alpha b_ij - Σ_h s_ih x_hj) / s_ii),
//
// where h runs over the rows solved before row i and x_hj is already rounded. For alpha = 0 all
// entries are +0. Columns do not depend on each other.
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

// work is the state of one call of Solve. Rows are solved in blocks. When a block is solved,
// products of matrices subtract its contribution from the right-hand sides of later rows,
//
//	r_ij = alpha b_ij - Σ_h s_ih x_hj, rounded to guardBits more bits than X has.
//
// Such roundings happen a few times for each entry, and their total error has a known bound. That
// bound is small enough to decide the rounding of nearly all quotients.
type work struct {
	Config
	s     direct.Structured
	alpha num.Real
	b, x  num.Mat
	stats residue.Stats

	col, cols int                // columns col <= j < col + cols are being solved
	r         num.Mat            // right-hand sides, set in rows that a product has updated
	top       []int64            // exponents of the largest values of the numbers of r so far
	lost      []bool             // rows where a number of r overflowed or underflowed
	workers   []*divider         // one for each thread
	divisors  []superacc.Divisor // for the block being solved
	// In systems of binary64 and binary32 numbers, compensated sums decide most entries of blocks
	// that no product has updated.
	float    bool
	factor   float64   // alpha
	diagonal []float64 // of the block being solved; 0 for an entry that is no such number
	solved   int       // number of entries solved
	dividing time.Duration

	exact, overflow, underflow atomic.Int64
}

const (
	// solveBlock is the largest number of rows solved entry by entry.
	solveBlock = 32
	// floatBlock replaces solveBlock where compensated sums decide. With exact sums and blocks of
	// 32 rows, a system of 128 rows takes seven times as long
	// (bench/records/epyc-avx2-small-calls.json.gz).
	floatBlock = 128
	// fewProducts is the largest number of products in compensated sums for one thread. Starting
	// another thread takes about as long as computing them.
	fewProducts = 1 << 13
	guardBits   = 32
	noTop       = math.MinInt64 / 4
)

// run solves the system. It takes as many columns at a time as fit in a quarter of the allowed
// memory.
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

// blockRows returns the largest number of rows solved entry by entry.
func (v *work) blockRows() int {
	if v.float && v.Floats {
		return floatBlock
	}
	return solveBlock
}

// rows solves rows lo <= i < hi. The number of products that have updated them is updates.
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

// update subtracts what the solved rows, from, contribute to right-hand sides of other rows, to.
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

// A divider computes single entries, for one thread.
type divider struct {
	*work
	acc       superacc.Acc
	quotients *superacc.Quotients
	buf       [num.MaxValueWords]uint64
}

// entry solves entry (i, j) of the current columns. Row i belongs to the block of rows lo to hi.
func (w *divider) entry(lo, hi, i, j, updates int) {
	at := w.x.At(i, w.col+j)
	d := &w.divisors[i-lo]
	if updates > 0 && !w.lost[i] {
		r := w.r.At(i, j)
		w.acc.Reset()
		w.acc.Add(w.r.Arr.Value(r, w.buf[:]))
		w.subtract(i, j, lo, hi)
		// Each product was rounded by at most 2^(top-p-1), where p is the number of bits of r.
		// There are at most 64 products.
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

// subtract subtracts from acc the products with the rows between lo and hi that are solved before
// row i.
func (w *divider) subtract(i, j, lo, hi int) {
	s, x := w.before(i, j, lo, hi)
	w.acc.AddEntry(direct.One(true), s, x, num.Real{}, num.Real{})
}

// before returns the entries x of rows lo to hi that are solved before row i, and their factors s.
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
