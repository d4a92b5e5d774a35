package expansion

import (
	"math"
	"sync/atomic"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// Native products: sums of products in the arithmetic of the format itself, not correctly rounded.
//
// A sum adds product by product in a fixed order. Each step adds a b to the sum without normalising
// more than it needs (macDD, macTD, macQD). With M = Σ |a_h b_h| and u = 2^-53, a sum of k products
// differs from the exact one by at most
//
//	16 k u² M in DD, 128 k u³ M in TD, 1024 k u⁴ M in QD
//
// to first order, if nothing overflows and no product of words falls below 2^-1022. If a word of
// the sum is not finite, the result is the sum of the products of the leading words in float64
// arithmetic, in the same order: p = RN(p + RN(a_h[0] b_h[0])). α and β then cost a Mul and an Add
// of the format: see [DD.Mul].
//
// The package documentation has the rules for all routines on arrays. α and β are rounded to the
// format of the result.

// Gemm stores C ← α op(A) op(B) + β C, op(X) = X or Xᵀ, with op(A) m x k, op(B) k x n, C m x n:
// each entry is the native sum of its k products in ascending order from 0, s, and then
//
//	c = Add(Mul(α, s), Mul(β, c))
//
// with no product for α = 1 or β = 1 and no addition for β = 0. α = 0 leaves A and B unread, β = 0
// leaves C unread. If the sum of an entry is not finite, float64 products and sums of the leading
// words give the entry. Options.Method may also be [SquareBlocks], with the same bits. Gemm panics
// for a bad Transpose and if shapes do not fit.
func Gemm(tA, tB halfulp.Transpose, alpha halfulp.Scalar, a, b *halfulp.Matrix, beta halfulp.Scalar, c *halfulp.Matrix, opt *halfulp.Options) error {
	p := &productRun{a: opOf(tA, a.View()), b: opOf(tB, b.View()), c: c.View()}
	return p.product("Gemm", false, alpha, beta, opt)
}

// Gemv stores y ← α op(A) x + β y, op(A) = A or Aᵀ: entry by entry like [Gemm] with a matrix of one
// column, with the same bits.
//
// Operands that live on a device have another order of additions. A sum is made of 32 partial sums.
// Partial sum q adds the products with j = q modulo 32 in their order. The partial sums are added
// by halves, q and q + 16, then q and q + 8 and so on, by Add of the format. A partial sum that is
// not finite is replaced by the sum of the leading words.
func Gemv(t halfulp.Transpose, alpha halfulp.Scalar, a *halfulp.Matrix, x *halfulp.Vector, beta halfulp.Scalar, y *halfulp.Vector, opt *halfulp.Options) error {
	p := &productRun{a: opOf(t, a.View()), b: x.View().Mat(), c: y.View().Mat()}
	return p.product("Gemv", true, alpha, beta, opt)
}

func opOf(t halfulp.Transpose, m num.Mat) num.Mat {
	if transposes(t) {
		return m.T()
	}
	return m
}

// transposes reports whether op(X) is Xᵀ.
func transposes(t halfulp.Transpose) bool {
	switch t {
	case halfulp.NoTrans:
		return false
	case halfulp.Trans, halfulp.ConjTrans:
		return true
	}
	panic(errTranspose)
}

// Sizes of the blocks that a thread works on: rows and columns of C, steps of the sums. Blocks have
// fewer columns where there would not be two blocks for each thread.
const (
	blockRows   = 128
	mostColumns = 512
	blockSteps  = 256
)

// A productRun is a running product of matrices.
type productRun struct {
	run
	words       int
	a, b, c     num.Mat
	tile        tile
	alpha, beta QD
	overflow    atomic.Int64
}

// product computes C; vector reports whether C is a vector.
func (p *productRun) product(name string, vector bool, alpha, beta halfulp.Scalar, opt *halfulp.Options) error {
	if p.a.Rows != p.c.Rows || p.a.Cols != p.b.Rows || p.b.Cols != p.c.Cols {
		panic(errShape)
	}
	var err error
	if p.run, err = begin(name, opt, p.a.Arr, p.b.Arr, p.c.Arr); err != nil {
		return err
	}
	if p.words, err = p.productFormats(p.c.Arr, []num.Mat{p.a, p.b}); err != nil {
		return p.failed(err)
	}
	setScalar(p.alpha[:p.words], alpha)
	setScalar(p.beta[:p.words], beta)
	if p.alpha == (QD{}) {
		p.a.Cols, p.b.Rows = 0, 0
	}
	last := p.last(stageProduct)
	if p.at != nil {
		return p.end(last, p.onDevice(vector))
	}
	err = p.onHost(vector)
	p.stats.Overflow = p.overflow.Load()
	return p.end(last, err)
}

func (p *productRun) onHost(vector bool) error {
	copies := int64(0)
	for _, x := range []*num.Mat{&p.a, &p.b} {
		if !x.Arr.Overlaps(p.c.Arr) {
			continue
		}
		copies += sizeOf(*x)
		if err := p.room(copies); err != nil {
			return err
		}
		*x = copyOf(*x)
	}
	if p.words == 1 {
		return multiplyFloat64(p)
	}
	k := activeKernels()
	if p.tile = k.tiles[p.words]; vector {
		p.tile = k.columns[p.words]
	}
	switch p.words {
	case 2:
		return multiply[DD](p, sumDD)
	case 3:
		return multiply[TD](p, sumTD)
	}
	return multiply[QD](p, sumQD)
}

// copyOf copies a matrix.
func copyOf(m num.Mat) num.Mat {
	c := num.Mat{Arr: num.New(m.Arr.Format, m.Rows*m.Cols), RS: 1, CS: m.Rows, Rows: m.Rows, Cols: m.Cols}
	copyTo(c, m)
	return c
}

// copyTo sets z = x, of one shape and format.
func copyTo(z, x num.Mat) {
	for j := range z.Cols {
		for i := range z.Rows {
			z.Arr.CopyFrom(z.At(i, j), x.Arr, x.At(i, j))
		}
	}
}

// A productBench is the memory of a thread: sums of a block of C, and packed blocks.
type productBench struct{ sums, a, b []float64 }

func multiply[E arithmetical[E]](p *productRun, sum func(E) E) error {
	if p.c.Rows == 0 || p.c.Cols == 0 {
		return p.Ctx.Err()
	}
	t, w, k := &p.tile, p.words, p.a.Cols
	up := func(n, to int) int { return (n + to - 1) / to * to }
	rows, steps := up(min(blockRows, p.c.Rows), t.rows()), min(blockSteps, k)
	down := (p.c.Rows + rows - 1) / rows
	columns := mostColumns
	for columns > 64 && down*((p.c.Cols+columns-1)/columns) < 2*p.Threads && p.Threads > 1 {
		columns /= 2
	}
	columns = up(min(columns, p.c.Cols), t.columns)
	across := (p.c.Cols + columns - 1) / columns
	threads := min(p.Threads, down*across)
	benches := make([]productBench, max(1, threads))
	ended := p.pieces(down * across)
	return par.For(p.Ctx, threads, down*across, func(worker, i int) {
		q := &benches[worker]
		if q.sums == nil {
			*q = productBench{make([]float64, rows*columns*w), make([]float64, rows*steps*w), make([]float64, columns*steps*w)}
		}
		i0, j0 := i%down*rows, i/down*columns
		m, n := min(rows, p.c.Rows-i0), min(columns, p.c.Cols-j0)
		clear(q.sums)
		size := t.rows() * t.columns * w
		for h0 := 0; h0 < k && p.Ctx.Err() == nil; h0 += steps {
			kb := min(steps, k-h0)
			t.packRows(q.a, p.a, w, i0, m, h0, kb)
			t.packColumns(q.b, p.b, w, h0, kb, j0, n)
			s := 0
			for jt := 0; jt < n; jt += t.columns {
				for it := 0; it < m; it += t.rows() {
					t.run(&q.sums[s*size], &q.a[it*kb*w], &q.b[jt*kb*w], kb)
					s++
				}
			}
		}
		s := 0
		for jt := 0; jt < n; jt += t.columns {
			for it := 0; it < m; it += t.rows() {
				sums := q.sums[s*size : (s+1)*size]
				s++
				for j := range min(t.columns, n-jt) {
					for i := range min(t.rows(), m-it) {
						var x E
						for word, at := 0, t.at(w, i, j); word < w; word++ {
							x[word] = sums[at+word*t.lanes]
						}
						finishEntry(p, sum(x), i0+it+i, j0+jt+j)
					}
				}
			}
		}
		ended()
	})
}

// finishEntry sets c_ij = α s + β c_ij.
func finishEntry[E summable[E]](p *productRun, s E, i, j int) {
	for k := range len(s) {
		if s[k]-s[k] != 0 {
			var lead E
			lead[0] = plainSum(p.a, p.b, i, j)
			s = lead
			break
		}
	}
	var alpha, beta, c E
	for k := range len(s) {
		alpha[k], beta[k] = p.alpha[k], p.beta[k]
	}
	var zero, one E
	one[0] = 1
	if alpha != one {
		s = alpha.Mul(s)
	}
	at := p.c.At(i, j)
	old := 0.0 // the leading word
	if beta != zero {
		for k := range len(s) {
			c[k] = p.c.Arr.F64[k][at]
		}
		old = c[0]
		if beta != one {
			c = beta.Mul(c)
		}
		s = s.Add(c)
	}
	s = s.Canonical()
	for k := range len(s) {
		p.c.Arr.F64[k][at] = s[k]
	}
	if math.IsInf(s[0], 0) && isFinite(alpha[0], beta[0], old) && finiteProducts(p.a, p.b, i, j) {
		p.overflow.Add(1)
	}
}

func isFinite(list ...float64) bool {
	for _, x := range list {
		if x-x != 0 {
			return false
		}
	}
	return true
}

// finiteProducts reports whether all factors of the products of entry (i, j) are finite.
func finiteProducts(a, b num.Mat, i, j int) bool {
	for h := range a.Cols {
		if !isFinite(leadOf(a, i, h), leadOf(b, h, j)) {
			return false
		}
	}
	return true
}

// plainSum is the sum of products of leading words in float64 arithmetic.
func plainSum(a, b num.Mat, i, j int) float64 {
	p := 0.0
	for h := range a.Cols {
		p += float64(leadOf(a, i, h) * leadOf(b, h, j))
	}
	return p
}

func leadOf(m num.Mat, i, j int) float64 {
	if m.Arr.Kind == num.F32 {
		return float64(m.Arr.F32[m.At(i, j)])
	}
	return m.Arr.F64[0][m.At(i, j)]
}

// Dot returns the native sum of the products x_i y_i in the format f: DD, TD or QD. Each chunk of
// 4096 products is summed, and the sums of chunks are added in ascending order. Within a chunk,
// products with the same i mod 64 are summed; then sums l and l + 32 are added, l and l + 16, and
// so on, by Add of the format. The error bound of a single sum holds. If the result is not finite,
// Dot returns the sum of the products of the leading words in float64 arithmetic, in ascending
// order. Dot panics if the lengths differ; with an error there is no result.
func Dot(x, y *halfulp.Vector, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, error) {
	u, v := x.View(), y.View()
	if u.N != v.N {
		panic(errShape)
	}
	r, err := begin("Dot", opt, u.Arr, v.Arr)
	if err != nil {
		return halfulp.Scalar{}, err
	}
	z := halfulp.NewVector(f, 1)
	to := z.View()
	words, err := formatsFit(to.Arr, []num.Mat{u.Mat(), v.Mat()})
	if err != nil {
		return halfulp.Scalar{}, r.failed(err)
	}
	last := r.last(stageSum)
	switch words {
	case 2:
		err = dot(&r, to, u, v, macDD, sumDD)
	case 3:
		err = dot(&r, to, u, v, macTD, sumTD)
	default:
		err = dot(&r, to, u, v, macQD, sumQD)
	}
	if err := r.end(last, err); err != nil {
		return halfulp.Scalar{}, err
	}
	return z.At(0), nil
}

// dotChunk is the number of products of a chunk.
const dotChunk = 64 * lanes

// dot stores the native sum of x_i y_i in z.
func dot[E arithmetical[E]](p *run, z, x, y num.Vec, mac func(s, a, b E) E, sum func(E) E) error {
	if p.at != nil {
		return dotOnDevice[E](p, z, x, y)
	}
	k := activeKernels()
	n := (x.N + dotChunk - 1) / dotChunk
	sums := make([]E, n)
	ended := p.pieces(n)
	err := par.For(p.Ctx, p.Threads, n, func(_, c int) {
		t := benches.Get().(*bench)
		defer benches.Put(t)
		s := &t.z
		*s = block{}
		lo, hi := c*dotChunk, min((c+1)*dotChunk, x.N)
		for i := lo; i < hi; i += lanes {
			k.macBlock(s, t, x, y, z.Arr.Terms(), i, min(lanes, hi-i), func(l int) {
				setLane(s, l, mac(lane[E](s, l), lane[E](&t.in[0], l), lane[E](&t.in[1], l)))
			})
		}
		for l := range lanes {
			setLane(s, l, sum(lane[E](s, l)))
		}
		for half := lanes / 2; half > 0; half /= 2 {
			for l := range half {
				setLane(s, l, lane[E](s, l).Add(lane[E](s, l+half)))
			}
		}
		sums[c] = lane[E](s, 0)
		ended()
	})
	if err != nil {
		return err
	}
	var s E
	for _, c := range sums {
		s = s.Add(c)
	}
	setDot(p, z, s, x.Mat(), y.Mat())
	return nil
}

// setDot stores the sum s of x_i y_i in z, or the sum of the leading words if s is not finite.
func setDot[E arithmetical[E]](p *run, z num.Vec, s E, x, y num.Mat) {
	finite := isFinite(s[0])
	if !finite {
		var lead E
		lead[0] = plainSum(x.T(), y, 0, 0)
		s = lead
	}
	s = s.Canonical()
	for k := range len(s) {
		z.Arr.F64[k][z.Off] = s[k]
	}
	if math.IsInf(s[0], 0) && (finite || finiteProducts(x.T(), y, 0, 0)) {
		p.stats.Overflow = 1
	}
}

// macBlock adds n products from x_i y_i on to the lanes of s. It uses the kernel if the numbers
// fill its steps, else it adds lane by lane.
func (k *kernels) macBlock(s *block, t *bench, x, y num.Vec, w, i, n int, lane func(l int)) {
	if mac := k.macs[w]; mac != nil && n == lanes {
		from := [2]location{locate(x, w, i), locate(y, w, i)}
		for j, v := range []num.Vec{x, y} {
			if from[j].first == nil {
				t.in[j].load(v, w, i, n)
				from[j] = t.in[j].location()
			}
		}
		mac.run(s.location(), from[0], from[1], s.location(), n)
		return
	}
	t.in[0].load(x, w, i, n)
	t.in[1].load(y, w, i, n)
	for l := range n {
		lane(l)
	}
}
