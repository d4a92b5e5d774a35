package halfulp

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
)

// Trsv solves op(A) x = b for a triangular matrix A, which a holds in the triangle uplo, and stores
// the solution in place of b in x. It is [Trsm] for one column, α = 1 and side = Left, with the
// method direct only, on the CPU. It panics for a bad uplo, t or diag and for shapes that do not
// fit.
func Trsv(uplo Uplo, t Transpose, diag Diag, a *Matrix, x *Vector, opt *Options) (Stats, error) {
	s := oriented(triangular(uplo, diag, a.mat()), t)
	if x.vec().N != s.Rows {
		panic(errShape)
	}
	done, st, err := throughHost("Trsv", opt, []num.Mat{a.mat(), x.vec().Mat()}, 1, func(h []*Matrix, opt *Options) (Stats, error) {
		return Trsv(uplo, t, diag, h[0], h[1].Col(0), opt)
	})
	if done {
		return st, err
	}
	r, err := beginOnHost("Trsv", opt)
	if err != nil {
		return Stats{}, err
	}
	set := r.settings
	set.device = place.Name{Kind: place.Host}
	b := x.Matrix().mat()
	return solve("Trsv", set, s, Float(1), b, b)
}

// Trsm solves op(A) X = α B for side = Left, or X op(A) = α B for side = Right, with a triangular
// matrix A, which a holds in the triangle uplo, and stores the solution X in place of B in b. The
// other triangle, and for diag = Unit the diagonal, which is 1 then, is not read.
//
// With T = op(A) for side = Left, one column b of B and x of X at a time, from the first row on if
// T is a lower triangle, from the last one on if it is an upper one,
//
//	x_i = RN((α b_i - Σ_j t_ij x_j) / t_ii),
//
// j over the rows solved before: every entry is the exact quotient, for the entries that come
// before it, rounded once to the format of B. So the bits do not depend on methods, blocks or
// threads. Without under- and overflow the computed x satisfies
//
//	(T + ΔT) x = α b, ΔT diagonal, |Δt_ii| ≤ u |t_ii|,
//
// since |x_i - q| ≤ u |x_i| for the quotient q that is rounded to x_i; with the solution x*,
// |x - x*| ≤ u |T⁻¹| |D| |x|, D the diagonal of T. Here u = 2^-p for formats of p bits, and 2^(-53
// k) (1 + 2^-52) for sums of k doubles. For side = Right this holds of the rows of X with
// T = op(A)ᵀ.
//
// There is no test for singular matrices: special values are those of the sum and of the division
// in IEEE 754, so that a zero on the diagonal makes an infinity or NaN. α = 0 stores +0. With an
// error B is unchanged. It panics for a bad side, uplo, tA or diag and for shapes that do not fit.
// Methods are those of [Gemm], which updates the rows not yet solved block by block to some bits
// more than the format has; quotients that this leaves undecided are computed exactly, and Stats
// counts them. See Aliasing, Places and Errors in the package documentation.
func Trsm(side Side, uplo Uplo, tA Transpose, diag Diag, alpha Scalar, a, b *Matrix, opt *Options) (Stats, error) {
	return TrsmTo(side, uplo, tA, diag, alpha, a, b, b, opt)
}

// TrsmTo solves op(A) X = α B, or X op(A) = α B for side = Right, like [Trsm] and stores the
// solution in x, every entry rounded once to the format of X, which may be another one than B's;
// the bound is that of this format. X may share storage with the others.
func TrsmTo(side Side, uplo Uplo, tA Transpose, diag Diag, alpha Scalar, a, b, x *Matrix, opt *Options) (Stats, error) {
	s, m, z := oriented(triangular(uplo, diag, a.mat()), tA), b.mat(), x.mat()
	switch side {
	case Left:
	case Right:
		s, m, z = s.T(), m.T(), z.T()
	default:
		panic(errSide)
	}
	if m.Rows != s.Rows || z.Rows != m.Rows || z.Cols != m.Cols {
		panic(errShape)
	}
	done, st, err := throughHost("Trsm", opt, []num.Mat{a.mat(), b.mat(), x.mat()}, 1, func(h []*Matrix, opt *Options) (Stats, error) {
		return TrsmTo(side, uplo, tA, diag, alpha, h[0], h[1], h[2], opt)
	})
	if done {
		return st, err
	}
	set, err := opt.settings()
	if err != nil {
		return Stats{}, fmt.Errorf("Trsm: %w", err)
	}
	return solve("Trsm", set, s, alpha, m, z)
}

// solve stores the solution X of S X = alpha B in z.
func solve(name string, set settings, s direct.Structured, alpha Scalar, b, z num.Mat) (Stats, error) {
	v := &substitution{settings: set, s: s, alpha: alpha.value(), b: b}
	v.stats = exact.Stats{Device: place.Host, Method: methodDirect}
	v.x = num.Mat{Arr: num.New(z.Arr.Format, b.Rows*b.Cols), RS: 1, CS: b.Rows, Rows: b.Rows, Cols: b.Cols}
	err := set.ctx.Err()
	if err == nil && v.alpha.Class != num.Zero && b.Rows > 0 {
		err = v.run()
	}
	if err != nil {
		return stats(v.stats, v.threads), fmt.Errorf("%s: %w", name, err)
	}
	copyTo(z, v.x)
	v.stats.Stages = append(v.stats.Stages, exact.Stage{Name: "quotients", Time: v.dividing})
	v.stats.Overflow, v.stats.Underflow, v.stats.Exact = v.overflow.Load(), v.underflow.Load(), v.exact.Load()
	return stats(v.stats, v.threads), nil
}

// substitution is S X = alpha B under way: rows are solved in blocks, and what they make of the
// right-hand sides of later rows is found by products of matrices,
//
//	r_ij = alpha b_ij - Σ_h s_ih x_hj, rounded to guardBits more bits than X has.
//
// Rounded so a few times, r is known up to a bound that decides the rounding of nearly all
// quotients.
type substitution struct {
	settings
	s     direct.Structured
	alpha num.Real
	b, x  num.Mat
	stats exact.Stats

	col, cols int        // columns under way
	r         num.Mat    // of these, rows that have met a product
	top       []int64    // of each number of r the exponent of the largest value it had
	lost      []bool     // rows of r that left the range
	workers   []*divider // one a thread
	divisors  [solveBlock]direct.Divisor
	solved    int // rows times columns
	dividing  time.Duration

	exact, overflow, underflow atomic.Int64
}

const (
	// solveBlock is the largest number of rows that are solved entry by entry.
	solveBlock = 32
	guardBits  = 32
	noTop      = math.MinInt64 / 4
)

// run solves as many columns at a time as a quarter of the memory allowed holds.
func (v *substitution) run() error {
	f := num.Format{Kind: num.MP, Prec: uint32(v.x.Arr.Bits() + guardBits)}
	n := v.s.Rows
	fit := max(1, min(int64(v.b.Cols), v.memory/4/((num.SizeOf(f)+8)*int64(n))))
	v.workers = make([]*divider, v.threads)
	for v.col = 0; v.col < v.b.Cols; v.col += v.cols {
		v.cols = int(min(fit, int64(v.b.Cols-v.col)))
		if n > solveBlock {
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

// rows solves rows lo <= i < hi, which have met so many products.
func (v *substitution) rows(lo, hi, updates int) error {
	if hi-lo <= solveBlock {
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
func (v *substitution) update(to, from [2]int, updates int) error {
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
	if v.cols == 1 && !v.device.IsPlace() {
		z := num.New(r.Arr.Format, r.Rows)
		var events atomic.Int64
		_, err := direct.Gemv(direct.Work{Context: v.ctx, Threads: v.threads}, minus, a, x.Col(0), beta, old.Col(0), z,
			func(num.Flags) { events.Add(1) })
		if err != nil {
			return err
		}
		store(r, z)
		leaves = events.Load() > 0
	} else {
		set := v.settings
		set.progress = nil
		st, err := set.multiply(minus, a, x, beta, old, r, nil, nil, 0, nil)
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
	return par.For(v.ctx, v.threads, v.cols, func(_, j int) {
		for i := to[0]; i < to[1]; i++ {
			at := v.r.At(i, j)
			if c, top, _ := v.r.Arr.Span(at); c == num.Finite {
				v.top[at] = max(v.top[at], top)
			}
		}
	})
}

// block solves rows lo <= i < hi entry by entry.
func (v *substitution) block(lo, hi, updates int) error {
	start := time.Now()
	for i := lo; i < hi; i++ {
		d := v.s.Diagonal(i, make([]uint64, num.ValueWords(v.s.Array().Format)))
		v.divisors[i-lo] = direct.NewDivisor(d, v.x.Arr.Bits()+guardBits)
	}
	err := par.For(v.ctx, v.threads, v.cols, func(worker, j int) {
		w := v.workers[worker]
		if w == nil {
			w = &divider{substitution: v, quotients: direct.NewQuotients(v.x.Arr.Format)}
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
	if v.progress != nil && err == nil {
		v.progress(float64(v.solved) / float64(v.x.Rows*v.x.Cols))
	}
	return err
}

// A divider computes single entries.
type divider struct {
	*substitution
	acc       direct.Acc
	quotients *direct.Quotients
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
	if w.s.IsLower() {
		hi = i
	} else {
		lo = i + 1
	}
	x := w.x.Col(w.col + j)
	x.Off, x.N = x.At(lo), hi-lo
	w.acc.AddEntry(direct.One(true), w.s.Block([2]int{i, i + 1}, [2]int{lo, hi}).Row(0), x, num.Real{}, num.Real{})
}

func (w *divider) count(f num.Flags) {
	if f&num.Overflow != 0 {
		w.overflow.Add(1)
	}
	if f&num.Underflow != 0 {
		w.underflow.Add(1)
	}
}
