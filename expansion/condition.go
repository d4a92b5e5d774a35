package expansion

import (
	"math"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// The accuracy of X is estimated from sixteen more right-hand sides, by small-sample statistics
// (Kenney, Laub, Small-sample statistical condition estimates for general matrix functions, SIAM J.
// Sci. Comput. 15, 1994). C is the diagonal matrix of the 2-norms of the columns of A, rounded to
// powers of two. D is the diagonal matrix of the 2-norms of the rows of A C⁻¹, and M = C A⁻¹ D.
// Random numbers are uniform in (-1, 1).
//
//  1. Eight are D g, g random. Let z be their solutions. Row k of C z has the root mean square ν_k
//     / √3, where ν_k is the 2-norm of row k of M. The ν_k give the condition number. Rounding the
//     entries of A and B to the format would change entry k of C x by ν_k u^w.
//  2. Eight are A y rounded, with C y random: their solutions are known. η_k, the largest error of
//     an entry k of C z relative to ‖C y‖∞, thus contains all effects of the elimination: growth,
//     cancellation and the pivots that were taken. The forward error of Gauss-Jordan elimination is
//     bounded entry by entry by H |x|, with the same H for all right-hand sides (Higham, Accuracy
//     and Stability of Numerical Algorithms, 14.4), and C y has no small entries where C x has
//     large ones.
//  3. The residuals show the effects of B alone. Let ρ(x) = ‖D⁻¹ (b - A x)‖ / ‖C x‖∞, in the
//     arithmetic of the format, for a column b of B, and ρ the largest such number for the
//     right-hand sides of 2. If ρ(x) > ρ, the error of x is taken to exceed the errors of 2 by the
//     same factor. (Products of A that are rounded once would take several times as long as the
//     elimination, so much cancels in them.)
//  4. Underflow may change entries of a column by 2^-1074 in each of n steps, or by a fraction of
//     that: ω = n 2^-1064 ‖D⁻¹ e‖ / ‖C x‖∞, where all entries of e are 1.
//
// Among eight samples of a normal distribution, the root mean square is below a fifth of its true
// value once in 30000 times, the largest below a tenth of it once in 10^9. So the error of entry k
// of a column x is taken to be ten times
//
//	(η_k max(1, ρ(x) / max(ρ, u^w)) + ν_k (u^w + ω)) ‖C x‖∞ / c_k.
const (
	samples     = 8
	sampleSlack = 10
)

// An estimate is the state of an estimate for a system that is being solved.
type estimate struct {
	*run
	home  halfulp.Device  // where the operands live
	opt   halfulp.Options // of products
	a, b  *halfulp.Matrix
	known *halfulp.Matrix // y, on the host
	right *halfulp.Matrix // A y
	all   *halfulp.Matrix // [B, D g, A y], and then the solution
	c, d  []float64       // C and D
	free  []func()
}

// solveAndEstimate is Solve with an estimate of the digits of X.
func (r *run) solveAndEstimate(opt SolveOptions, a, b, x *halfulp.Matrix) error {
	n, m := b.Dims()
	e := &estimate{run: r, home: a.Device(), a: a, b: b}
	defer e.close()
	e.opt = halfulp.Options{Device: halfulp.CPU, Threads: r.Threads, Context: r.Ctx}
	if r.at != nil && !r.resident {
		e.opt.Device = opt.Device
	}
	// The elimination takes about n/2 + m steps an entry of A, the product of X and A about m.
	steps := float64(float64(n)/2) + float64(m+2*samples)
	progress, share := r.Progress, steps/(steps+float64(m))
	if progress != nil {
		r.Progress = func(done float64) { progress(share * done) }
	}
	if err := e.prepare(); err != nil {
		return r.end(stageScale, err)
	}
	r.stage(stageScale)
	if err := r.eliminate(opt, a, e.all, e.all); err != nil {
		return r.end(stageSolve, err)
	}
	r.stage(r.last(stageSolve))
	if progress != nil {
		r.Progress = progress
		e.opt.Progress = func(done float64) { progress(share + float64((1-share)*done)) }
	}
	err := e.finish()
	if err == nil {
		err = e.copy(x, e.all.Slice(0, n, 0, m))
	}
	return r.end(stageError, err)
}

func (e *estimate) close() {
	for _, f := range e.free {
		f()
	}
}

// matrix returns a matrix of +0 where the operands live.
func (e *estimate) matrix(f halfulp.Format, rows, cols int) (*halfulp.Matrix, error) {
	m, err := halfulp.NewMatrixOn(e.home, f, rows, cols)
	if err == nil {
		e.free = append(e.free, m.Free)
	}
	return m, err
}

// sent returns m, which lives on the host, as a matrix where the operands live.
func (e *estimate) sent(m *halfulp.Matrix) (*halfulp.Matrix, error) {
	if !e.resident {
		return m, nil
	}
	z, err := m.On(e.home)
	if err == nil {
		e.free = append(e.free, z.Free)
	}
	return z, err
}

// copy sets z = x; both have one format and live where the operands do.
func (e *estimate) copy(z, x *halfulp.Matrix) error {
	if !e.resident {
		copyMatrix(z, x)
		return nil
	}
	return place.Provided[place.Expansions]().Widen(e.at, place.Config{Run: e.Run}, x.View(), z.View())
}

// product returns α op(A) x + c, computed in the arithmetic of the format, as float64 numbers on
// the host; c may be nil.
func (e *estimate) product(t halfulp.Transpose, alpha float64, x, c *halfulp.Matrix) (*halfulp.Matrix, error) {
	z, err := e.matrix(e.b.NumberFormat(), x.Rows(), x.Cols())
	if err != nil {
		return nil, err
	}
	beta := nought
	if c != nil {
		beta = unit
		if err := e.copy(z, c); err != nil {
			return nil, err
		}
	}
	opt := e.opt
	if z.NumberFormat() == halfulp.Float64 {
		opt.Method = SquareBlocks
	}
	if err := Gemm(t, halfulp.NoTrans, halfulp.Float(alpha), e.a, x, beta, z, &opt); err != nil {
		return nil, err
	}
	return e.leading(z)
}

// leading returns the entries of m rounded to float64, on the host.
func (e *estimate) leading(m *halfulp.Matrix) (*halfulp.Matrix, error) {
	z, err := e.matrix(halfulp.Float64, m.Rows(), m.Cols())
	if err != nil {
		return nil, err
	}
	opt := e.opt
	opt.Progress = nil
	if err := halfulp.Axpy(unit, m.Vec(), z.Vec(), &opt); err != nil {
		return nil, err
	}
	return z.Host()
}

// norms estimates the 2-norms of the rows of op(A) C⁻¹ from its product with random columns.
func (e *estimate) norms(t halfulp.Transpose, seed uint64) ([]float64, error) {
	g := gallery.Random(halfulp.Float64, e.a.Rows(), samples, 0, seed)
	for k, c := range e.c {
		scaleRow(g, k, 1/c)
	}
	g, err := e.sent(g)
	if err != nil {
		return nil, err
	}
	z, err := e.product(t, 1, g, nil)
	if err != nil {
		return nil, err
	}
	return rowNorms(z), nil
}

// scaleRow multiplies row k of a matrix on the host by a power of two, or a float64 row by any
// number.
func scaleRow(m *halfulp.Matrix, k int, factor float64) {
	v := m.Row(k).Matrix().View()
	for t := range v.Arr.Terms() {
		for j := range v.Rows {
			v.Arr.F64[t][v.At(j, 0)] *= factor
		}
	}
}

// columns returns columns j0 to j1 - 1 of the solution.
func (e *estimate) columns(j0, j1 int) *halfulp.Matrix { return e.all.Slice(0, e.all.Rows(), j0, j1) }

// prepare makes the right-hand sides. C and D come from products of Aᵀ and A C⁻¹ with random
// columns, as ν comes from products of M.
func (e *estimate) prepare() error {
	f := e.b.NumberFormat()
	n, m := e.b.Dims()
	size := num.SizeOf(e.b.View().Arr.Format)
	taken := (int64(m+2*samples)*2*(size+8) + 6*samples*size) * int64(n)
	if err := e.room(taken); err != nil {
		return err
	}
	if e.limit > 0 {
		e.limit = max(1, e.limit-taken)
		e.opt.MemoryLimit = e.limit
	}
	columns, err := e.norms(halfulp.Trans, 1)
	if err != nil {
		return err
	}
	for k, c := range columns {
		_, exp := math.Frexp(c)
		columns[k] = math.Ldexp(1, exp)
	}
	e.c = columns
	if e.d, err = e.norms(halfulp.NoTrans, 2); err != nil {
		return err
	}
	w := gallery.Random(halfulp.Float64, n, samples, 0, 3)
	e.known = gallery.Random(f, n, samples, 0, 4)
	for i := range n {
		scaleRow(w, i, e.d[i])
		scaleRow(e.known, i, 1/e.c[i])
	}
	if w, err = e.sent(w.Convert(f)); err != nil {
		return err
	}
	y, err := e.sent(e.known)
	if err != nil {
		return err
	}
	if e.right, err = e.matrix(f, n, samples); err != nil {
		return err
	}
	if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, unit, e.a, y, nought, e.right, &e.opt); err != nil {
		return err
	}
	if e.all, err = e.matrix(f, n, m+2*samples); err != nil {
		return err
	}
	for _, part := range []struct {
		j0, j1 int
		from   *halfulp.Matrix
	}{{0, m, e.b}, {m, m + samples, w}, {m + samples, m + 2*samples, e.right}} {
		if err := e.copy(e.columns(part.j0, part.j1), part.from); err != nil {
			return err
		}
	}
	return nil
}

// rowNorms estimates the 2-norms of the rows of a matrix from its product with random columns.
func rowNorms(m *halfulp.Matrix) []float64 {
	norms := make([]float64, m.Rows())
	for j := range m.Cols() {
		for i := range norms {
			norms[i] = math.Hypot(norms[i], m.Float64(i, j))
		}
	}
	for i := range norms {
		norms[i] *= math.Sqrt(3 / float64(m.Cols()))
	}
	return norms
}

// largestOf returns the largest magnitude of an entry in column j of diag(c) m, or of m if c is
// nil, for m on the host; NaN if there is a NaN.
func largestOf(c []float64, m *halfulp.Matrix, j int) (size float64) {
	for i := range m.Rows() {
		x := m.Float64(i, j)
		if c != nil {
			x *= c[i]
		}
		size = math.Max(size, math.Abs(x))
	}
	return size
}

// residuals returns ‖D⁻¹ (b - A x)‖ / ‖C x‖∞ of each column; values are the leading words of x, on
// the host.
func (e *estimate) residuals(b, x, values *halfulp.Matrix) ([]float64, error) {
	z, err := e.product(halfulp.NoTrans, -1, x, b)
	if err != nil {
		return nil, err
	}
	list := make([]float64, b.Cols())
	for j := range list {
		size := largestOf(e.c, values, j)
		if size == 0 && largestOf(nil, z, j) == 0 {
			continue // b = 0
		}
		for i, d := range e.d {
			list[j] = math.Hypot(list[j], z.Float64(i, j)/d/size)
		}
	}
	return list, nil
}

// knownErrors returns the largest error of each entry of C z over the known solutions, relative to
// the largest entry of C y.
func (e *estimate) knownErrors(z *halfulp.Matrix) ([]float64, error) {
	z, err := z.Host()
	if err != nil {
		return nil, err
	}
	opt := halfulp.Options{Device: halfulp.CPU, Threads: e.Threads, Context: e.Ctx}
	if err := halfulp.Axpy(halfulp.Float(-1), e.known.Vec(), z.Vec(), &opt); err != nil {
		return nil, err
	}
	worst := make([]float64, z.Rows())
	for j := range z.Cols() {
		size := largestOf(e.c, e.known, j)
		for k, c := range e.c {
			worst[k] = math.Max(worst[k], math.Abs(float64(c*z.Float64(k, j)))/size)
		}
	}
	return worst, nil
}

// finish fills Stats.Condition.
func (e *estimate) finish() error {
	n, m := e.b.Dims()
	values, err := e.leading(e.all)
	if err != nil {
		return err
	}
	eta, err := e.knownErrors(e.columns(m+samples, m+2*samples))
	if err != nil {
		return err
	}
	ofX, err := e.residuals(e.b, e.columns(0, m), values.Slice(0, n, 0, m))
	if err != nil {
		return err
	}
	e.opt.Progress = nil
	ofKnown, err := e.residuals(e.right, e.columns(m+samples, m+2*samples), values.Slice(0, n, m+samples, m+2*samples))
	if err != nil {
		return err
	}
	rounding := math.Ldexp(1, -53*e.b.View().Arr.Terms())
	rho, total := rounding, 0.0
	for _, r := range ofKnown {
		rho = math.Max(rho, r)
	}
	nu := rowNorms(values.Slice(0, n, m, m+samples))
	for k, c := range e.c {
		nu[k] *= c
		total = math.Hypot(total, nu[k])
	}
	worst, omega := 0.0, 0.0
	for _, d := range e.d {
		omega = math.Hypot(omega, float64(n)*0x1p-1064/d)
	}
	for j, r := range ofX {
		size, scaled := largestOf(nil, values, j), largestOf(e.c, values, j)
		if size == 0 && r == 0 {
			continue
		}
		growth, change := math.Max(1, r/rho), rounding+omega/scaled
		for k, c := range e.c {
			worst = math.Max(worst, sampleSlack*(float64(eta[k]*growth)+float64(nu[k]*change))*(scaled/size)/c)
		}
	}
	e.stats.Condition = condition(math.Sqrt(float64(n))*total, worst)
	return nil
}

// condition returns the reported condition number and error; the arguments need not be finite.
func condition(number, relative float64) *halfulp.Condition {
	if !(number <= math.MaxFloat64) {
		number, relative = math.MaxFloat64, 1
	}
	if !(relative < 1) {
		relative = 1
	}
	return &halfulp.Condition{
		Number: halfulp.Measure(number), Error: halfulp.Measure(relative),
		Digits: int(-math.Log10(max(relative, math.SmallestNonzeroFloat64))),
	}
}
