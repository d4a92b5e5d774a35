package expansion

import (
	"errors"
	"fmt"
	"math"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
)

// Gauss-Jordan elimination on [A B] turns A into the unit matrix and B into X (Sivkova,
// Dovgilovich, Voskoboynikova, Sofronov, CUDA algorithms of some linear algebra operations for the
// extended precision arithmetic library QD, section 6). It works by panels of 32 columns:
//
//  1. In a panel, columns are eliminated one after the other, in all rows. Column k is replaced by
//     the result of the elimination for unit column k. So the panel becomes the matrix M that
//     carries out its elimination: with the pivot rows R of the other columns, the pivot rows
//     become M R, row by row of M, and the other rows C become C + M R.
//  2. The rows of the other columns are exchanged as in the panel, and updated that way.
//
// The updates are native products, or, for blocks of panels, exact ones. Within a block of Block
// columns, panels update the block's other columns natively. Then the block updates all columns on
// its right by one product, halfulp.Gemm, which rounds each entry once.

// Pivoting selects the row that becomes row k in step k.
type Pivoting int

const (
	// PartialPivoting takes, among the rows from k on, the first whose entry in column k has the
	// largest leading word in magnitude.
	PartialPivoting Pivoting = iota
	// ZeroPivoting takes row k unless its entry in column k is zero; then it takes the first later
	// row whose entry is not zero. This is the paper's rule. Its errors have no useful bound.
	ZeroPivoting
)

// Updates selects how columns outside of the current panel are updated.
type Updates int

const (
	// NativeUpdates are products in the arithmetic of the format.
	NativeUpdates Updates = iota
	// ExactUpdates are products by halfulp.Gemm: each sum of products of a block is rounded once.
	ExactUpdates
)

// SolveOptions say how Solve runs. Nil stands for the zero SolveOptions. Options.Method is "",
// "auto", [Method], [SquareBlocks] or [LinearBlocks].
type SolveOptions struct {
	halfulp.Options
	Pivoting Pivoting
	Updates  Updates
	// Block is the number of columns of a block for ExactUpdates, a multiple of 32; 0 stands for
	// 256. It changes roundings.
	Block int
	// Estimate requests Stats.Condition: how many digits of X can be trusted. X has the same bits
	// with and without it. It costs sixteen more right-hand sides, the product A X, a product of A
	// and eight vectors that is rounded once an entry, and memory for two more copies of X, also in
	// float64.
	Estimate bool
}

// ErrNoPivot is wrapped by errors about systems in whose elimination all possible pivots of a
// column are zero. Elimination rounds, so this does not prove that the matrix is singular.
var ErrNoPivot = errors.New("no nonzero pivot")

// panelWidth is the number of columns of a panel, defaultBlock the number of columns of a block of
// panels. BenchmarkDeviceSolve measures blocks.
const (
	panelWidth   = 32
	defaultBlock = 256
)

// Solve stores the solution of A X = B in X. A is square, and B and X have as many rows as A. All
// have one of the formats DD, TD and QD, or Float64 with a method of block schemes.
//
// X solves (A + E) X = B column by column, |E| <= c n u^w g ‖A‖ to first order, with small c. g is
// the growth of the entries and of the panels' inverses: moderate for partial pivoting in practice,
// though 2^n at worst. How many digits of X this leaves depends on A: SolveOptions.Estimate
// requests an estimate, without which an ill-conditioned system is not detected. Package linsolve
// rounds every entry of X correctly. Bits of X depend only on the operands, Pivoting, Updates,
// Block and whether the method is [Method], not on the device or the number of threads.
//
// X may overlap A and B in any way; otherwise A and B are unchanged. The error wraps ErrNoPivot if
// all entries that could be a pivot are zero, halfulp.ErrFormat if formats differ or are not
// supported, and [halfulp.ErrOptions] for an invalid Pivoting, Updates or Block. A NaN is a pivot.
// With an error X is unchanged, unless a device has failed. Solve panics if shapes do not fit.
func Solve(a, b, x *halfulp.Matrix, opt *SolveOptions) error {
	va, vb, vx := a.View(), b.View(), x.View()
	if va.Rows != va.Cols || vb.Rows != va.Rows || vx.Rows != vb.Rows || vx.Cols != vb.Cols {
		panic(errShape)
	}
	var o SolveOptions
	if opt != nil {
		o = *opt
	}
	r, err := begin("Solve", &o.Options, va.Arr, vb.Arr, vx.Arr)
	if err != nil {
		return err
	}
	if r.byBlocks() {
		err = o.checkBlocks(r.stats.Method)
	}
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return r.failed(err)
	}
	f := vx.Arr.Format
	if va.Arr.Format != f || vb.Arr.Format != f || f.Kind != num.DD && f.Kind != num.TD && f.Kind != num.QD && (f.Kind != num.F64 || !r.byBlocks()) {
		return r.failed(fmt.Errorf("formats %v, %v and %v: %w (want dd, td or qd, the same)", va.Arr.Format, vb.Arr.Format, f, halfulp.ErrFormat))
	}
	if o.Estimate && vb.Rows > 0 && vb.Cols > 0 {
		return r.solveAndEstimate(o, a, b, x)
	}
	return r.end(r.last(stageSolve), r.eliminate(o, a, b, x))
}

// eliminate solves the system.
func (r *run) eliminate(opt SolveOptions, a, b, x *halfulp.Matrix) error {
	va, vb, vx := a.View(), b.View(), x.View()
	work := opt.workBytes(vb.Rows, vb.Cols, num.SizeOf(vx.Arr.Format))
	if err := r.room(work); err != nil {
		return err
	}
	products := int64(0) // memory limit of exact products
	if r.limit > 0 {
		products = max(1, r.limit-work)
	}
	if r.at != nil {
		e := place.Elimination{ZeroRule: opt.Pivoting == ZeroPivoting}
		if opt.Updates == ExactUpdates {
			e.Block = opt.Block
		}
		r.Progress = par.Rising(r.Progress)
		err := r.solveOnDevice(e, products, va, vb, vx)
		if errors.Is(err, place.ErrUnsupported) {
			return r.solveInstead(opt, products, a, b, x)
		}
		var singular place.Singular
		if errors.As(err, &singular) {
			return noPivot(singular.Column)
		}
		return err
	}
	return r.solveOnHost(opt, products, a, b, x)
}

// solveInstead is solveOnHost for operands anywhere. It runs where a device leaves an exact product
// to the host.
func (r *run) solveInstead(opt SolveOptions, products int64, a, b, x *halfulp.Matrix) error {
	onHost := [2]*halfulp.Matrix{a, b}
	for i, m := range onHost {
		var err error
		if onHost[i], err = m.Host(); err != nil {
			return err
		}
	}
	r.stats.Device, r.stats.Kernel = place.Host, isa.Level().String()
	z := onHost[1] // a copy
	if err := r.solveOnHost(opt, products, onHost[0], z, z); err != nil {
		return err
	}
	return x.CopyFrom(z)
}

// solveOnHost solves the system on the CPU, where all operands live.
func (r *run) solveOnHost(opt SolveOptions, products int64, a, b, x *halfulp.Matrix) error {
	switch x.View().Arr.Format.Kind {
	case num.F64:
		return solve[float1](r, opt, products, a, b, x)
	case num.DD:
		return solve[DD](r, opt, products, a, b, x)
	case num.TD:
		return solve[TD](r, opt, products, a, b, x)
	}
	return solve[QD](r, opt, products, a, b, x)
}

// check returns an error for invalid options, and replaces zeros by defaults.
func (o *SolveOptions) check() error {
	switch {
	case o.Pivoting != PartialPivoting && o.Pivoting != ZeroPivoting:
		return fmt.Errorf("pivoting %d: %w", o.Pivoting, halfulp.ErrOptions)
	case o.Updates != NativeUpdates && o.Updates != ExactUpdates:
		return fmt.Errorf("updates %d: %w", o.Updates, halfulp.ErrOptions)
	case o.Block < 0 || o.Block%panelWidth != 0:
		return fmt.Errorf("blocks of %d columns: %w (want a positive multiple of %d)", o.Block, halfulp.ErrOptions, panelWidth)
	case o.Block == 0:
		o.Block = defaultBlock
	}
	return nil
}

// workBytes is the memory that a system of n equations with m right-hand sides takes beside its
// operands and exact products: [A B], a copy of the columns of a panel or block, and a copy of its
// rows. A number takes size bytes.
func (o *SolveOptions) workBytes(n, m int, size int64) int64 {
	width := int64(panelWidth)
	if o.Updates == ExactUpdates {
		width = int64(o.Block)
	}
	rows, cols := int64(n), int64(n)+int64(m)
	return (rows*cols + min(width, rows)*(rows+cols)) * size
}

// noPivot is the error about a column without a pivot.
type noPivot int

func (k noPivot) Error() string { return k.From(0) }

// From implements counted.From.
func (k noPivot) From(first int) string {
	return fmt.Sprintf("%v in column %d", ErrNoPivot, int(k)+first)
}
func (noPivot) Unwrap() error { return ErrNoPivot }

// A system is [A B] row by row, word by word: word t of entry (i, j) is w[t][i ld + j].
type system[E eliminable[E]] struct {
	all    *halfulp.Matrix
	w      [4][]float64
	n, ld  int // rows; columns
	zero   bool
	pivots []int // row that was exchanged with row k
	run    *run
	opt    *halfulp.Options // of native products
}

func (s *system[E]) at(i, j int) (x E) {
	for t := range len(x) {
		x[t] = s.w[t][i*s.ld+j]
	}
	return x
}

func (s *system[E]) set(i, j int, x E) {
	for t := range len(x) {
		s.w[t][i*s.ld+j] = x[t]
	}
}

// newSystem returns a system of n equations with m right-hand sides.
func newSystem[E eliminable[E]](r *run, f halfulp.Format, n, m int, zero bool) *system[E] {
	all := halfulp.NewMatrixLD(f, n+m, n, n+m).T()
	return &system[E]{
		all: all, w: all.View().Arr.F64, n: n, ld: n + m, zero: zero, pivots: make([]int, n), run: r,
		opt: &halfulp.Options{Device: halfulp.CPU, Threads: r.Threads, Context: r.Ctx},
	}
}

// solve is Solve on the CPU; products is the memory limit of exact products.
func solve[E eliminable[E]](r *run, opt SolveOptions, products int64, a, b, x *halfulp.Matrix) error {
	n, m := b.Dims()
	if n == 0 || m == 0 {
		return nil
	}
	s := newSystem[E](r, b.NumberFormat(), n, m, opt.Pivoting == ZeroPivoting)
	copyMatrix(s.columns(0, n), a)
	copyMatrix(s.columns(n, n+m), b)
	var err error
	switch {
	case r.byBlocks():
		err = s.solveByColumns()
	case opt.Updates == ExactUpdates:
		err = s.solveByBlocks(opt.Block, products)
	default:
		err = s.solveByPanels()
	}
	if err != nil {
		return err
	}
	copyMatrix(x, s.columns(n, n+m))
	return nil
}

// eliminated reports progress after the columns before k.
func (s *system[E]) eliminated(k int) {
	if s.run.Progress != nil {
		s.run.Progress(float64(k) / float64(s.n))
	}
}

// columns returns columns j0 to j1 - 1 of [A B].
func (s *system[E]) columns(j0, j1 int) *halfulp.Matrix { return s.all.Slice(0, s.n, j0, j1) }

// copyMatrix sets z = x, of one shape and format.
func copyMatrix(z, x *halfulp.Matrix) { copyTo(z.View(), x.View()) }

func (s *system[E]) solveByPanels() error {
	for k := 0; k < s.n; k += panelWidth {
		width := min(panelWidth, s.n-k)
		if err := s.panel(k, width); err != nil {
			return err
		}
		if err := s.update(k, width, k+width, s.ld); err != nil {
			return err
		}
		s.eliminated(k + width)
	}
	return nil
}

// solveByBlocks updates the columns on the right of a block by exact products.
func (s *system[E]) solveByBlocks(block int, memory int64) error {
	opt := *s.opt
	opt.MemoryLimit = memory
	for k0 := 0; k0 < s.n; k0 += block {
		k1 := min(k0+block, s.n)
		for k := k0; k < k1; k += panelWidth {
			width := min(panelWidth, k1-k)
			if err := s.panel(k, width); err != nil {
				return err
			}
			if err := s.update(k, width, k0, k); err != nil {
				return err
			}
			if err := s.update(k, width, k+width, k1); err != nil {
				return err
			}
			s.eliminated(k + width)
		}
		s.exchange(k0, k1-k0, k1, s.ld)
		right := s.columns(k1, s.ld)
		rows := right.Slice(k0, k1, 0, s.ld-k1)
		pivots := rows.Clone()
		for t := range s.words() {
			for i := k0; i < k1; i++ {
				clear(s.w[t][i*s.ld+k1 : (i+1)*s.ld])
			}
		}
		if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, unit, s.columns(k0, k1), pivots, unit, right, &opt); err != nil {
			return err
		}
	}
	return nil
}

// unit and nought are factors of products.
var unit, nought = halfulp.Float(1), halfulp.Float(0)

func (s *system[E]) words() int {
	var x E
	return len(x)
}

// panel eliminates columns k0 to k0 + width - 1 within these columns.
func (s *system[E]) panel(k0, width int) error {
	for k := k0; k < k0+width; k++ {
		q, ok := s.pivot(k)
		if !ok {
			return noPivot(k)
		}
		s.pivots[k] = q
		s.swap(k, q, k0, k0+width)
		divisor := s.at(k, k)
		var one E
		one[0] = 1
		s.set(k, k, one)
		for j := k0; j < k0+width; j++ {
			s.set(k, j, s.at(k, j).Div(divisor))
		}
		if err := s.rows(s.n, width, func(i int) { s.reduce(i, k, k0, width) }); err != nil {
			return err
		}
	}
	return nil
}

// reduce subtracts the multiple of row k from row i that makes entry (i, k) zero. It stores the
// result for unit column k in column k.
func (s *system[E]) reduce(i, k, k0, width int) {
	if i == k {
		return
	}
	var none E
	l := s.at(i, k).Neg()
	s.set(i, k, none)
	for j := k0; j < k0+width; j++ {
		s.set(i, j, l.FMA(s.at(k, j), s.at(i, j)))
	}
}

// pivot returns the row that becomes row k.
func (s *system[E]) pivot(k int) (q int, ok bool) {
	best := uint64(0)
	for i := k; i < s.n; i++ {
		key := magnitude(s.w[0][i*s.ld+k])
		if key > best {
			best, q = key, i
		}
		if s.zero && best > 0 {
			break
		}
	}
	return q, best > 0
}

// swap exchanges rows i and q in columns j0 to j1 - 1.
func (s *system[E]) swap(i, q, j0, j1 int) {
	if i == q {
		return
	}
	for t := range s.words() {
		x, y := s.w[t][i*s.ld:], s.w[t][q*s.ld:]
		for j := j0; j < j1; j++ {
			x[j], y[j] = y[j], x[j]
		}
	}
}

// exchange exchanges rows of columns j0 to j1 - 1 as the panels of columns k to k + width - 1 did.
func (s *system[E]) exchange(k, width, j0, j1 int) {
	for i := k; i < k+width; i++ {
		s.swap(i, s.pivots[i], j0, j1)
	}
}

// update multiplies columns j0 to j1 - 1 by the panel of columns k to k + width - 1.
func (s *system[E]) update(k, width, j0, j1 int) error {
	if j0 >= j1 {
		return nil
	}
	s.exchange(k, width, j0, j1)
	c, panel := s.columns(j0, j1), s.columns(k, k+width)
	rows := halfulp.NewMatrixLD(c.NumberFormat(), j1-j0, width, j1-j0).T()
	copyMatrix(rows, c.Slice(k, k+width, 0, j1-j0))
	for _, part := range []struct {
		i0, i1 int
		beta   halfulp.Scalar
	}{{0, k, unit}, {k, k + width, nought}, {k + width, s.n, unit}} {
		err := Gemm(halfulp.NoTrans, halfulp.NoTrans, unit, panel.Slice(part.i0, part.i1, 0, width), rows, part.beta, c.Slice(part.i0, part.i1, 0, j1-j0), s.opt)
		if err != nil {
			return err
		}
	}
	return nil
}

// rows calls f for n rows, on several goroutines if each is work for more than a few µs.
func (s *system[E]) rows(n, work int, f func(i int)) error {
	const share = 1 << 10 // operations of a goroutine at least
	step := max(1, share/work)
	return par.For(s.run.Ctx, s.run.Threads, (n+step-1)/step, func(_, part int) {
		for i := part * step; i < min((part+1)*step, n); i++ {
			f(i)
		}
	})
}

// magnitude orders numbers by their absolute values, NaN last.
func magnitude(x float64) uint64 { return math.Float64bits(x) << 1 >> 1 }
