package ozaki

import (
	"fmt"
	"math"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/sgemm"
)

// Gemm computes C = α op(A) op(B) + β C, op(X) = X or Xᵀ, from K (K+1)/2 products of float32
// matrices, as the package documentation defines it: op(A) is m x k, op(B) k x n, C m x n. C is
// a Float64 matrix; A and B are Float64 or Float32 matrices. C may share storage with A or B.
//
// The error of entry (i, j) is at most what Options.Bound receives; about
//
//	(k + 3) 2^-24 2^(-(K-1)(w+1)) |α| max_h|a_ih| max_h|b_hj| times a moderate number,
//
// w = ⌊(24 - ⌈log2 min(k, Block)⌉)/2⌋ being the bits of a slice. It is relative to the largest
// numbers of the row and the column, not to the entry.
//
// alpha = 0 leaves A and B unread, beta = 0 leaves C unread. Infinite and NaN entries give what
// IEEE 754 gives for the sum of α a_ih b_hj and β c_ij. A result of zero is +0 but where β c_ij
// says otherwise.
//
// Gemm panics if shapes, formats or options do not fit. Errors are that of a cancelled context,
// after which C is unspecified, and ErrTolerance.
func Gemm(tA, tB halfulp.Transpose, alpha float64, a, b *halfulp.Matrix, beta float64, c *halfulp.Matrix, opt *Options) (Stats, error) {
	r, err := newProduct(tA, tB, alpha, a, b, beta, c, opt)
	if r.Slices == 0 && !(r.Tolerance > 0) {
		panic(errTolerance)
	}
	switch {
	case err != nil:
	case r.gpu != nil:
		err = r.onDevice(tA, tB, a, b, c, (*deviceRun).bySlices)
	default:
		err = r.slices()
	}
	if err != nil {
		return r.stats, fmt.Errorf("ozaki.Gemm: %w", err)
	}
	return r.stats, nil
}

// newProduct checks the arguments of a product. Its only errors are of devices.
func newProduct(tA, tB halfulp.Transpose, alpha float64, a, b *halfulp.Matrix, beta float64, c *halfulp.Matrix, opt *Options) (*run, error) {
	x, y, z := op(tA, a), op(tB, b), view(c)
	if c.Format() != halfulp.Float64 {
		panic(errFormat)
	}
	if x.cols != y.rows || z.rows != x.rows || z.cols != y.cols {
		panic(errShape)
	}
	if overlap(z, x) {
		x = x.clone()
	}
	if overlap(z, y) {
		y = y.clone()
	}
	r := newRun(opt)
	if r.Bound != nil {
		rows, cols := r.Bound.Dims()
		if rows != z.rows || cols != z.cols {
			panic(errShape)
		}
		if r.Bound.Format() != halfulp.Float64 {
			panic(errFormat)
		}
		bound := view(r.Bound)
		for _, o := range []array{x, y, z} {
			if overlap(bound, o) {
				panic(errAlias)
			}
		}
		r.bound = &bound
	}
	r.alpha, r.beta, r.c = alpha, beta, z
	r.a, r.b = x.left(), y.right()
	var err error
	r.gpu, err = r.device()
	return r, err
}

// begin finds exponents and special values. It does the whole of a product without finite
// terms and reports that.
func (r *run) begin() (done bool, err error) {
	if r.alpha == 0 || r.a.len == 0 {
		return true, r.each(func(i, j int) (float64, float64) {
			c := combine(0, 0, 0.5, 0, r.beta, r.old(i, j))
			return c, ofResult(0, 0, 0.5, 0, r.beta, r.old(i, j), c)
		})
	}
	if !finite(r.alpha) {
		return true, r.each(func(i, j int) (float64, float64) {
			return infinite(r.alpha, r.a, r.b, i, j) + r.addend(i, j), 0
		})
	}
	start := time.Now()
	defer func() { r.stage(splitting, start) }()
	if r.expA, r.specialA, err = survey(r.ctx, r.threads, r.a); err != nil {
		return false, err
	}
	r.expB, r.specialB, err = survey(r.ctx, r.threads, r.b)
	return false, err
}

// slices runs a product by slices.
func (r *run) slices() error {
	if done, err := r.prepare(); done || err != nil {
		return err
	}
	r.kernel = sgemm.Best()
	r.stats.Kernel = r.kernel.Name
	return r.parts()
}

// prepare is begin, and finds the numbers of bits and of slices.
func (r *run) prepare() (done bool, err error) {
	if done, err := r.begin(); done || err != nil {
		return done, err
	}
	r.Block = min(r.Block, r.a.len)
	r.width = sliceWidth(r.Block)
	r.stats.Block, r.stats.Bits = r.Block, r.width
	if r.Slices == 0 {
		if err := r.choose(); err != nil {
			return false, err
		}
	}
	r.stats.Slices = r.Slices
	return false, nil
}

// old returns C's entry (i, j), 0 where it stays unread.
func (r *run) old(i, j int) float64 {
	if r.beta == 0 {
		return 0
	}
	return r.c.data[r.c.at(i, j)]
}

// addend returns β c_ij, whose size does not matter beside an infinite sum.
func (r *run) addend(i, j int) float64 {
	c := r.old(i, j)
	if finite(r.beta) && finite(c) {
		return 0
	}
	return float64(r.beta * c)
}

// each sets all entries of C, and their bounds.
func (r *run) each(f func(i, j int) (c, bound float64)) error {
	return par.For(r.ctx, r.threads, r.c.cols, func(_, j int) {
		for i := range r.c.rows {
			c, bound := f(i, j)
			r.put(i, j, c, bound)
		}
	})
}

func (r *run) put(i, j int, c, bound float64) {
	r.c.data[r.c.at(i, j)] = c
	if r.bound != nil {
		r.bound.data[r.bound.at(i, j)] = bound
	}
}

// parts computes C in parts of rows and columns that fit the memory allowed, each from blocks
// of k.
func (r *run) parts() error {
	rows, cols := r.partSize(r.kernel.MR, r.kernel.NR, 4*int64(r.Block*r.Slices), 4*int64(r.Block*(2*r.Slices-1)))
	n := r.a.len
	t := make([]float64, rows*cols)
	var sum, bounds []float64
	if n > r.Block {
		sum = make([]float64, rows*cols)
	}
	if r.bound != nil {
		bounds = make([]float64, rows*cols)
	}
	blocks := (n + r.Block - 1) / r.Block
	r.work = float64(r.a.n) * float64(r.b.n) * float64(blocks)
	var right *split
	for j := 0; j < r.b.n; j += cols {
		j1 := min(j+cols, r.b.n)
		for i := 0; i < r.a.n; i += rows {
			i1 := min(i+rows, r.a.n)
			size := (i1 - i) * (j1 - j)
			clear(bounds)
			for h := 0; h < n; h += r.Block {
				h1 := min(h+r.Block, n)
				start := time.Now()
				left, err := newSplit(r.ctx, r.threads, r.a.part(i, i1, h, h1), r.expA[i:i1], r.width, r.Slices, r.kernel.MR, leftWant(r.Slices))
				if err != nil {
					return err
				}
				if i == 0 || blocks > 1 {
					right.free()
					if right, err = newSplit(r.ctx, r.threads, r.b.part(j, j1, h, h1), r.expB[j:j1], r.width, r.Slices, r.kernel.NR, rightWant(r.Slices)); err != nil {
						return err
					}
				}
				r.stage(splitting, start)
				if err := r.multiply(left, right, t[:size]); err != nil {
					return err
				}
				left.free()
				if bounds != nil {
					e := newErrorBound(left.norms, right.norms, r.Slices, r.width, h1-h, blocks-1)
					if err := add(r, bounds, i1-i, j1-j, e.at); err != nil {
						return err
					}
				}
				if sum != nil {
					if h == 0 {
						clear(sum)
					}
					if err := add(r, sum, i1-i, j1-j, func(p, q int) float64 { return t[p+q*(i1-i)] }); err != nil {
						return err
					}
				}
			}
			result := t
			if sum != nil {
				result = sum
			}
			if err := r.finish(i, i1, j, j1, -2*r.width, result, bounds); err != nil {
				return err
			}
			r.stats.Parts++
		}
	}
	right.free()
	return nil
}

// add adds f(i, j) to the entries of a rows x cols matrix.
func add(r *run, sum []float64, rows, cols int, f func(i, j int) float64) error {
	return par.For(r.ctx, r.threads, cols, func(_, j int) {
		for i := range rows {
			sum[i+j*rows] += f(i, j)
		}
	})
}

// finish sets the entries of a part of C from its sums t, in units of 2^(e_i + f_j + unit).
func (r *run) finish(i0, i1, j0, j1, unit int, t, bounds []float64) error {
	start := time.Now()
	m, e := math.Frexp(r.alpha)
	err := par.For(r.ctx, r.threads, j1-j0, func(_, q int) {
		j := j0 + q
		for i := i0; i < i1; i++ {
			at := i - i0 + q*(i1-i0)
			if s, ok := special(r.a, r.b, r.specialA, r.specialB, i, j); ok {
				r.put(i, j, float64(r.alpha*s)+r.addend(i, j), 0)
				continue
			}
			x, old := r.expA[i]+r.expB[j]+unit, r.old(i, j)
			c := combine(t[at], x, m, e, r.beta, old)
			bound := 0.0
			if bounds != nil {
				bound = ofResult(bounds[at], t[at], m, x+e, r.beta, old, c)
			}
			r.put(i, j, c, bound)
		}
	})
	r.stage(summing, start)
	return err
}

// partSize returns how many rows and columns a part of C has, not less than mr and nr, where
// a row of A takes so many bytes, and a column of B.
func (r *run) partSize(mr, nr int, left, right int64) (rows, cols int) {
	rows, cols = r.a.n, r.b.n
	limit := r.MemoryLimit
	if limit <= 0 {
		limit = 1 << 30
	}
	for {
		m, n := int64(rows), int64(cols)
		switch {
		case left*m+right*n+24*m*n <= limit:
			return rows, cols
		case rows > mr && (left*m >= right*n || cols <= nr):
			rows = max((rows+1)/2, mr)
		case cols > nr:
			cols = max((cols+1)/2, nr)
		default:
			return rows, cols
		}
	}
}
