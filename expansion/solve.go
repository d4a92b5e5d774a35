package expansion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/raw"
)

// Gauss-Jordan elimination on [A B], which turns A into the unit matrix and B into X (Sivkova,
// Dovgilovich, Voskoboynikova, Sofronov, CUDA algorithms of some linear algebra operations for the
// extended precision arithmetic library QD, section 6), by panels of 32 columns:
//
//  1. In a panel, columns are eliminated one after the other, in all rows. Column k is replaced by what
//     the elimination makes of unit column k. So the panel becomes the matrix M that carries out
//     its elimination: with the pivot rows R of the other columns, the pivot rows become M R, row by
//     row of M, and the others C + M R.
//  2. The other columns have their rows exchanged as the panel had, and are updated that way.
//
// The updates are native products, or, for blocks of panels, exact ones: within a block of Block
// columns panels update the block's other columns natively, and then the block all that is on its
// right by one product rounded once an entry, halfulp.Gemm.

// Pivoting says which row becomes row k in step k.
type Pivoting int

const (
	// PartialPivoting takes the row, of those from k on, whose entry in column k has the largest
	// leading word, the first of several.
	PartialPivoting Pivoting = iota
	// ZeroPivoting takes row k unless its entry in column k is zero, and then the first after it
	// whose entry is not: the paper's rule. Its errors have no useful bound.
	ZeroPivoting
)

// Updates says how columns outside of the panel in hand are updated.
type Updates int

const (
	// NativeUpdates are products in the arithmetic of the format.
	NativeUpdates Updates = iota
	// ExactUpdates are halfulp.Gemm's: each sum of products of a block is rounded once.
	ExactUpdates
)

// SolveOptions say how Solve runs. Nil stands for the zero SolveOptions.
type SolveOptions struct {
	Pivoting Pivoting
	Updates  Updates
	// Block is the number of columns of a block for ExactUpdates, a multiple of 32; 0 stands for
	// 256. It changes roundings.
	Block int
	// Options are those of package halfulp: Device is "cpu", also for "auto" and "", or "cuda:N",
	// Method "", "auto" or "expansion"; Threads and Context are heeded.
	Options *halfulp.Options
}

// ErrSingular is wrapped by errors about matrices in which no row has a pivot.
var ErrSingular = errors.New("singular matrix")

const (
	errFormat   = "expansion: formats differ, or are not DD, TD or QD"
	errPivoting = "expansion: bad Pivoting"
	errUpdates  = "expansion: bad Updates"
	errBlock    = "expansion: Block is not a positive multiple of 32"
)

// panelWidth is the number of columns of a panel, defaultBlock that of a block of panels.
// BenchmarkDeviceSolve measures blocks.
const (
	panelWidth   = 32
	defaultBlock = 256
)

// Solve returns X with A X = B, for a square A and a B with as many rows, all in one of the formats DD,
// TD and QD. Bits depend on the operands, Pivoting, Updates and Block alone, neither on the device nor
// on the number of threads.
//
// X solves (A + E) X = B column by column, |E| <= c n u^w g ‖A‖ to first order, with small c, where g
// is the growth of the entries and of the panels' inverses: moderate for partial pivoting in practice,
// though 2^n at worst. There is no proof of the digits of X.
//
// The error wraps ErrSingular if all entries that could be a pivot are zero. A NaN is a pivot. With
// an error the result is nil. Solve panics if shapes or formats do not fit, or options make no sense.
func Solve(a, b *halfulp.Matrix, o *SolveOptions) (*halfulp.Matrix, error) {
	p := o.with()
	va, vb := raw.Matrix(a), raw.Matrix(b)
	checkSystem(va.Rows, va.Cols, vb.Rows, va.Arr.Format, vb.Arr.Format)
	if err := checkMethod(p.Options); err != nil {
		return nil, err
	}
	devices, err := raw.Devices(p.Options.Device)
	if err != nil {
		return nil, err
	}
	if len(devices) > 0 {
		return solveOn(a, b, p, fmt.Sprintf("cuda:%d", devices[0]))
	}
	var x *halfulp.Matrix
	switch va.Arr.Kind {
	case num.DD:
		x, err = solve[DD](p, a, b)
	case num.TD:
		x, err = solve[TD](p, a, b)
	default:
		x, err = solve[QD](p, a, b)
	}
	if err != nil {
		return nil, fmt.Errorf("Solve: %w", err)
	}
	return x, nil
}

// with returns o with zeros replaced, and panics where it makes no sense.
func (o *SolveOptions) with() SolveOptions {
	var p SolveOptions
	if o != nil {
		p = *o
	}
	if p.Pivoting != PartialPivoting && p.Pivoting != ZeroPivoting {
		panic(errPivoting)
	}
	if p.Updates != NativeUpdates && p.Updates != ExactUpdates {
		panic(errUpdates)
	}
	if p.Block == 0 {
		p.Block = defaultBlock
	}
	if p.Block < 0 || p.Block%panelWidth != 0 {
		panic(errBlock)
	}
	if p.Options == nil {
		p.Options = &halfulp.Options{}
	}
	return p
}

func checkSystem(rows, cols, rowsB int, f, g num.Format) {
	if rows != cols || rowsB != rows {
		panic(errShape)
	}
	if f != g || f.Kind != num.DD && f.Kind != num.TD && f.Kind != num.QD {
		panic(errFormat)
	}
}

// noPivot is the error about a column, which its text counts from 1.
type noPivot int

func (k noPivot) Error() string {
	return fmt.Sprintf("%v: no pivot in column %d", ErrSingular, int(k)+1)
}
func (noPivot) Unwrap() error { return ErrSingular }

// eliminable is a format of numbers.
type eliminable[E any] interface {
	arithmetical[E]
	Neg() E
}

// A system is [A B] row by row, word by word: word t of entry (i, j) is w[t][i ld + j].
type system[E eliminable[E]] struct {
	all    *halfulp.Matrix
	w      [4][]float64
	n, ld  int // rows; columns
	zero   bool
	pivots []int // row that was exchanged with row k
	opt    *halfulp.Options
	ctx    context.Context
	cores  int
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

// newSystem is of n equations, for m right-hand sides.
func newSystem[E eliminable[E]](f halfulp.Format, n, m int, p SolveOptions) *system[E] {
	all := halfulp.NewMatrixLD(f, n+m, n, n+m).T()
	s := &system[E]{
		all: all, w: raw.Matrix(all).Arr.F64, n: n, ld: n + m, zero: p.Pivoting == ZeroPivoting,
		pivots: make([]int, n), ctx: p.Options.Context, cores: p.Options.Threads,
	}
	if s.ctx == nil {
		s.ctx = context.Background()
	}
	if s.cores <= 0 {
		s.cores = runtime.GOMAXPROCS(0)
	}
	s.opt = &halfulp.Options{Device: "cpu", Threads: s.cores, Context: s.ctx}
	return s
}

// solve is Solve on the CPU.
func solve[E eliminable[E]](p SolveOptions, a, b *halfulp.Matrix) (*halfulp.Matrix, error) {
	n, m := a.Rows(), b.Cols()
	x := halfulp.NewMatrix(b.Format(), n, m)
	if n == 0 || m == 0 {
		return x, nil
	}
	s := newSystem[E](b.Format(), n, m, p)
	copyMatrix(s.columns(0, n), a)
	copyMatrix(s.columns(n, n+m), b)
	var err error
	if p.Updates == ExactUpdates {
		err = s.solveByBlocks(p.Block)
	} else {
		err = s.solveByPanels()
	}
	if err != nil {
		return nil, err
	}
	copyMatrix(x, s.columns(n, n+m))
	return x, nil
}

// columns returns columns j0 to j1 - 1 of [A B].
func (s *system[E]) columns(j0, j1 int) *halfulp.Matrix { return s.all.Slice(0, s.n, j0, j1) }

// copyMatrix sets z = x, of one shape and format.
func copyMatrix(z, x *halfulp.Matrix) {
	to, from := raw.Matrix(z), raw.Matrix(x)
	for j := range to.Cols {
		for i := range to.Rows {
			to.Arr.CopyFrom(to.At(i, j), from.Arr, from.At(i, j))
		}
	}
}

func (s *system[E]) solveByPanels() error {
	for k := 0; k < s.n; k += panelWidth {
		width := min(panelWidth, s.n-k)
		if err := s.panel(k, width); err != nil {
			return err
		}
		if err := s.update(k, width, k+width, s.ld); err != nil {
			return err
		}
	}
	return nil
}

// solveByBlocks updates what is on the right of a block by exact products.
func (s *system[E]) solveByBlocks(block int) error {
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
		if _, err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, unit, s.columns(k0, k1), pivots, unit, right, s.opt); err != nil {
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

// panel eliminates columns k0 to k0 + width - 1 of themselves.
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

// reduce subtracts the multiple of row k from row i that makes entry (i, k) zero, and stores in its
// place what becomes of a unit column.
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

// exchange exchanges rows of columns j0 to j1 - 1 as the panels from column k on did.
func (s *system[E]) exchange(k, width, j0, j1 int) {
	for i := k; i < k+width; i++ {
		s.swap(i, s.pivots[i], j0, j1)
	}
}

// update multiplies columns j0 to j1 - 1 by the panel of column k.
func (s *system[E]) update(k, width, j0, j1 int) error {
	if j0 >= j1 {
		return nil
	}
	s.exchange(k, width, j0, j1)
	c, panel := s.columns(j0, j1), s.columns(k, k+width)
	rows := halfulp.NewMatrixLD(c.Format(), j1-j0, width, j1-j0).T()
	copyMatrix(rows, c.Slice(k, k+width, 0, j1-j0))
	for _, part := range []struct {
		i0, i1 int
		beta   halfulp.Scalar
	}{{0, k, unit}, {k, k + width, nought}, {k + width, s.n, unit}} {
		_, err := Gemm(halfulp.NoTrans, halfulp.NoTrans, unit, panel.Slice(part.i0, part.i1, 0, width), rows, part.beta, c.Slice(part.i0, part.i1, 0, j1-j0), s.opt)
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
	return par.For(s.ctx, s.cores, (n+step-1)/step, func(_, part int) {
		for i := part * step; i < min((part+1)*step, n); i++ {
			f(i)
		}
	})
}

// magnitude orders numbers by their absolute values, NaN last.
func magnitude(x float64) uint64 { return math.Float64bits(x) << 1 >> 1 }
