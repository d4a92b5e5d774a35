package dgemm

import (
	"context"
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/par"
)

// few is the number of columns or rows that recursions do not cut further.
const few = 16

const (
	// fewPanels is the largest number of panels of whole columns for which recursions replace
	// panels.
	fewPanels = 2
	// fewColumns is the least number of right-hand sides for which triangles are solved by panels.
	fewColumns = 24
)

// workers holds free workers with their memory, because page faults of new memory take as long as
// packing.
// Helpers need less memory than the workers that they help.
var workers, helpers bufpool.Shelf[*worker]

// newWorker returns a worker for products. The caller releases it by free.
func newWorker(ctx context.Context, threads int) *worker {
	return workerOf(ctx, threads, &workers)
}

func workerOf(ctx context.Context, threads int, shelf *bufpool.Shelf[*worker]) *worker {
	w, ok := shelf.Take(0, math.MaxInt)
	if !ok {
		w = &worker{shelf: shelf}
	}
	w.ctx, w.threads, w.k, w.piece = ctx, threads, best(), length
	return w
}

// newFactorWorker returns a worker whose errors are bounded by FactorError.
func newFactorWorker(ctx context.Context, threads int) *worker {
	w := newWorker(ctx, threads)
	w.piece = factorPiece
	return w
}

// RoomBytes bounds the size, in bytes, of the panels that products and LU of order n pack and keep.
func RoomBytes(n int) int64 {
	bytes := 2 * 8 * length * int64(n)
	if n > fewPanels*whole {
		bytes += 8 * int64(n) * int64(n) / 2 // rows of L
	}
	return bytes
}

func (w *worker) free() {
	w.ctx = nil
	bytes := bufpool.Bytes(w.a) + bufpool.Bytes(w.b)
	for _, x := range w.panels {
		bytes += bufpool.Bytes(x)
	}
	w.shelf.Put(w, cap(w.a)+cap(w.b), bytes)
}

// LU factors an n x n matrix A with leading dimension n in place, A = P L U. For i in turn, row i
// was exchanged with row pivots[i] ≥ i; if pivots is nil, no rows are exchanged. L has a unit
// diagonal. A pivot less than least is replaced by least. LU returns an error only if ctx is done.
func LU(ctx context.Context, threads, n int, a []float64, least float64, pivots []int) error {
	return LUTall(ctx, threads, n, n, a, least, pivots)
}

// LUTall is like LU for an m x n matrix with leading dimension m ≥ n.
func LUTall(ctx context.Context, threads, m, n int, a []float64, least float64, pivots []int) error {
	w := newFactorWorker(ctx, threads)
	defer w.free()
	if n > fewPanels*whole {
		return w.luByPanels(matrix{m, n, max(m, 1), a}, pivots, least)
	}
	return w.lu(matrix{m, n, max(m, 1), a}, pivots, least)
}

// lu factors a matrix by recursion on columns (Toledo, Locality of reference in LU decomposition
// with partial pivoting, 1997).

func (w *worker) lu(a matrix, pivots []int, least float64) error {
	if a.cols <= few {
		luColumns(a, pivots, least)
		return w.ctx.Err()
	}
	half := halfOf(a.cols)
	left, right := a.view(0, a.rows, 0, half), a.view(0, a.rows, half, a.cols)
	var first, second []int
	if pivots != nil {
		first, second = pivots[:half], pivots[half:]
	}
	if err := w.lu(left, first, least); err != nil {
		return err
	}
	w.exchange(right, first)
	top, bottom := right.view(0, half, 0, right.cols), right.view(half, right.rows, 0, right.cols)
	if err := w.lower(left.view(0, half, 0, half), top); err != nil {
		return err
	}
	if err := w.subtract(bottom, left.view(half, a.rows, 0, half), top); err != nil {
		return err
	}
	if err := w.lu(bottom, second, least); err != nil {
		return err
	}
	w.exchange(left.view(half, a.rows, 0, half), second)
	for i := range second {
		second[i] += half
	}
	return nil
}

// exchange is exchange on all threads.
func (w *worker) exchange(a matrix, pivots []int) {
	const some = 16 // columns a call
	if len(pivots) < some {
		exchange(a, pivots)
		return
	}
	_ = par.For(context.Background(), w.threads, (a.cols+some-1)/some, func(_, part int) {
		exchange(a.view(0, a.rows, part*some, min((part+1)*some, a.cols)), pivots)
	})
}

// exchange exchanges row i with row pivots[i], for all i in turn.
func exchange(a matrix, pivots []int) {
	for j := range a.cols {
		column := a.data[j*a.ld:][:a.rows]
		for i, p := range pivots {
			column[i], column[p] = column[p], column[i]
		}
	}
}

// luColumns factors up to few columns, one after the other. A column first subtracts its products
// with the columns before it.
func luColumns(a matrix, pivots []int, least float64) {
	var room [few]float64
	for k := range a.cols {
		column, minus := a.data[k*a.ld:][:a.rows], room[:k] // minus row k of U
		for j := range minus {
			u := column[j]
			for i, v := range minus[:j] {
				u = math.FMA(v, a.data[j+i*a.ld], u)
			}
			column[j], minus[j] = u, -u
		}
		Combine(a.data[k:], a.ld, minus, column[k:])
		if pivots != nil {
			pivots[k] = largest(column, k)
			for j := range a.cols {
				x, y := &a.data[k+j*a.ld], &a.data[pivots[k]+j*a.ld]
				*x, *y = *y, *x
			}
		}
		if !(math.Abs(column[k]) >= least) {
			column[k] = least
		}
		scale := 1 / column[k]
		below := column[k+1:]
		for i := range below {
			below[i] *= scale
		}
	}
}

// largest returns the index of the first entry of largest magnitude of x from entry k on.
func largest(x []float64, k int) int {
	p, most := k, math.Abs(x[k])
	for i, v := range x[k+1:] {
		if v := math.Abs(v); v > most {
			p, most = k+1+i, v
		}
	}
	return p
}

// factorPiece is the number of products that are summed before they are added to a result, in
// factorizations and inverses of triangles. Products take 2 % longer than with length products.
const factorPiece = 128

// FactorError returns γ with
//
//	|P A - L U| ≤ γ |L| |U|,  |L X - I| ≤ γ |L| |X|,  |U Y - I| ≤ γ |U| |Y|
//
// for LU, InvertLower and InvertUpper with at most n rows, if no pivot is replaced and nothing
// underflows.
//
// All numbers come from x d = c - Σ a b by adding m sums of up to factorPiece products each, in any
// order, fused or not, to c, and by a product with the reciprocal of d. With u = 2^-53 that is
//
//	x d Π_m (1 + δ)^±1 = c - Σ a b (1 + θ)
//
// where the θ of a product collects fewer than factorPiece roundings of its own sum, and the
// roundings of the sums before it, by which the Π of c is divided. So fewer than factorPiece + m +
// 3 roundings affect every term but c (Higham, Accuracy and Stability of Numerical Algorithms,
// lemma 8.4). An entry gets one sum for every panel before the last one, if there are several. In a
// panel, and in a matrix of few panels, a step of the recursions on some columns adds one sum for
// every factorPiece of them, and one for the rest; the last 16 columns are added one by one. So
// m ≤ n / panelWidth + 2 log2 n + 16. If one of m sums has p products, they have at least m + p - 1
// products together.
func FactorError(n int) float64 {
	return float64(float64(min(n+1, factorPiece+factorAdditions(n))+3) * (0x1p-53 * 1.01))
}

// factorAdditions bounds the number of sums that are added to an entry, for at most n rows.
func factorAdditions(n int) int {
	return max(n/panelWidth(n), min(n, wideOrder)/whole) + 2*bits.Len(uint(n)) + 16
}

// shortPiece is the number of products that Subtract sums before it adds them to C. It divides
// length, and is near the square root of usual orders, which makes errors small. Products take
// about 10 % longer than with length products.
const shortPiece = 32

// Subtract sets C -= A B for n x n matrices, with an error below SubtractError(n) (|C| + |A| |B|),
// and below AdditionError(n) |C| + SubtractError(n) |A| |B|, if nothing underflows.
func Subtract(ctx context.Context, threads, n int, c, a, b []float64) error {
	square := func(x []float64) matrix { return matrix{n, n, max(n, 1), x} }
	w := newWorker(ctx, threads)
	defer w.free()
	w.piece = shortPiece
	return w.subtract(square(c), square(a), square(b))
}

// SubtractPart sets C -= A B, where A is a part of the columns of an n x n matrix, from column
// first on, and B the corresponding rows of the matrix of, which has as many columns as C. Together
// the calls for all columns have the error of Subtract, if the lengths of all parts but the last
// are multiples of [Parts].
func SubtractPart(ctx context.Context, threads, n, first int, c, a, of []float64) error {
	w := newWorker(ctx, threads)
	defer w.free()
	w.piece = shortPiece
	columns := func(x []float64) matrix { return matrix{n, len(x) / max(n, 1), max(n, 1), x} }
	part, b := columns(a), columns(of)
	return w.subtract(columns(c), part, b.view(first, first+part.cols, 0, b.cols))
}

// Parts divides the lengths of parts, see [SubtractPart].
const Parts = shortPiece

// SubtractError returns the factor in the error bound of Subtract. With u = 2^-53, sums of p ≤
// shortPiece products, in any order, fused or not, have errors below
//
//	p u / (1 - p u) Σ |a b|
//
// (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), and each of the t sums is
// added to C with an error below u |C'|, where all C' ≤ (1 + u)^t (1 + p u / (1 - p u)) (|C| +
// |A| |B|). The sum is below (p + t) u 1.001 (|C| + |A| |B|) for n < 2^40.
func SubtractError(n int) float64 {
	return AdditionError(n) + float64(shortPiece*(0x1p-53*1.01))
}

// AdditionError returns the part of SubtractError for the additions to C.
func AdditionError(n int) float64 {
	pieces := (n+length-1)/length*(length/shortPiece) + 1
	return float64(float64(pieces) * (0x1p-53 * 1.01))
}

// MultiplyTriangles sets C = -U L for the upper triangle U and the unit lower triangle L, stored as
// n x n matrices with all zeros and ones. Its error is below FactorError(n) |U| |L| if nothing
// underflows, because sums are added up as there.
func MultiplyTriangles(ctx context.Context, threads, n int, c, u, l []float64) error {
	square := func(x []float64) matrix { return matrix{n, n, max(n, 1), x} }
	w := newFactorWorker(ctx, threads)
	defer w.free()
	if err := par.Each(ctx, threads, n, func(j int) { clear(c[j*n : (j+1)*n]) }); err != nil {
		return err
	}
	for k := 0; k < n; k += length {
		to := min(k+length, n)
		// Columns k ≤ h < to of U and rows k ≤ h < to of L are 0 from row and column to on.
		err := w.subtract(square(c).view(0, to, 0, to), square(u).view(0, to, k, to), square(l).view(k, to, 0, to))
		if err != nil {
			return err
		}
	}
	return nil
}

// ExchangeRows exchanges row i with row pivots[i] of an n x n matrix, for all i in turn.
func ExchangeRows(threads, n int, a []float64, pivots []int) {
	(&worker{threads: threads}).exchange(matrix{n, n, max(n, 1), a}, pivots)
}

// SolveLower solves L X = B for the unit lower triangle L of an n x n matrix. X replaces B, which
// is n x k. Both have leading dimension n.
func SolveLower(ctx context.Context, threads, n, k int, l, b []float64) error {
	w := newFactorWorker(ctx, threads)
	defer w.free()
	t, x := matrix{n, n, max(n, 1), l}, matrix{n, k, max(n, 1), b}
	if n > fewPanels*whole && k >= fewColumns {
		return w.byColumns(t, x, false, false)
	}
	return w.lower(t, x)
}

func (w *worker) lower(l, b matrix) error {
	n := l.rows
	if n <= block {
		w.substitute(n, func(i, k int) float64 {
			if i == k {
				return 1
			}
			return l.data[i+k*l.ld]
		}, false, b)
		return w.ctx.Err()
	}
	half := halfOf(n)
	top, bottom := b.view(0, half, 0, b.cols), b.view(half, n, 0, b.cols)
	if err := w.lower(l.view(0, half, 0, half), top); err != nil {
		return err
	}
	if err := w.subtract(bottom, l.view(half, n, 0, half), top); err != nil {
		return err
	}
	return w.lower(l.view(half, n, half, n), bottom)
}

// SolveUpper is like SolveLower for the upper triangle U, including the diagonal.
func SolveUpper(ctx context.Context, threads, n, k int, u, b []float64) error {
	w := newFactorWorker(ctx, threads)
	defer w.free()
	t, x := matrix{n, n, max(n, 1), u}, matrix{n, k, max(n, 1), b}
	if n > fewPanels*whole && k >= fewColumns {
		return w.byColumns(t, x, true, false)
	}
	return w.upper(t, x)
}

func (w *worker) upper(u, b matrix) error {
	n := u.rows
	if n <= block {
		w.substitute(n, func(i, k int) float64 { return u.data[n-1-i+(n-1-k)*u.ld] }, true, b)
		return w.ctx.Err()
	}
	half := halfOf(n)
	top, bottom := b.view(0, half, 0, b.cols), b.view(half, n, 0, b.cols)
	if err := w.upper(u.view(half, n, half, n), bottom); err != nil {
		return err
	}
	if err := w.subtract(top, u.view(0, half, half, n), bottom); err != nil {
		return err
	}
	return w.upper(u.view(0, half, 0, half), top)
}
