package ozaki

import (
	"fmt"
	"math"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/sgemm"
)

// Gemm computes C = α op(A) op(B) + β C, op(X) = X or Xᵀ, from K (K+1)/2 products of float32
// matrices, as the package documentation defines it: op(A) is m x k, op(B) k x n, C m x n. C is
// a Float64 matrix; A and B are Float64 or Float32 matrices. C may share storage with A or B in any
// way, wherever they live: the result is the one for distinct storage.
//
// Options.Bound receives a bound on the error of each entry (i, j). It is about
//
//	(k + 3) 2^-24 2^(-(K-1)(w+1)) |α| max_h|a_ih| max_h|b_hj| times a moderate number,
//
// where w = ⌊(24 - ⌈log2 min(k, Block)⌉)/2⌋ is the number of bits of a slice. It is relative to the
// largest numbers of the row and the column, not to the entry. For Options.Split = Literal, w - 1
// takes the place of w.
//
// alpha = 0 leaves A and B unread, beta = 0 leaves C unread. Infinite and NaN entries give the IEEE
// 754 result of the sum of α a_ih b_hj and β c_ij. A result of zero is +0 unless β c_ij makes it
// -0.
//
// Where A, B and C live on a device, Gemm runs there and leaves C there; with an infinite or NaN α
// it runs on the CPU, on copies on the host. Where they live on the host, Options.Device says where
// it runs: products that take more than half of a GPU's memory run there in parts. Slices, their
// exponents, sums and bounds have the bits of the CPU everywhere, and so do results with
// Options.SGEMM = "own"; cuBLAS adds in an order of its own.
//
// Gemm panics for shapes that do not fit, a bad tA or tB, a freed matrix, and bounds that share
// storage with A, B or C. Errors wrap halfulp.ErrOptions, halfulp.ErrFormat, ErrTolerance,
// ErrFloat32Range for literal slices, halfulp.ErrMethod, halfulp.ErrDevice,
// halfulp.ErrMixedDevices, halfulp.ErrMemory if a device has too little memory, or the error of a
// cancelled context; C and the bounds are then unspecified.
func Gemm(tA, tB halfulp.Transpose, alpha float64, a, b *halfulp.Matrix, beta float64, c *halfulp.Matrix, opt *Options) error {
	return multiply("ozaki.Gemm", false, tA, tB, alpha, a, b, beta, c, opt)
}

// multiply computes C for the routine of the given name, by slices or in double-float arithmetic.
func multiply(name string, double bool, tA, tB halfulp.Transpose, alpha float64, a, b *halfulp.Matrix, beta float64, c *halfulp.Matrix, opt *Options) error {
	x, y, z, bounds := op(tA, a), op(tB, b), c.View(), num.Mat{}
	if opt != nil && opt.Bound != nil {
		bounds = opt.Bound.View()
	}
	check(x, y, z, bounds)
	r, err := newRun(opt, double)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	operands := []*num.Array{x.Arr, y.Arr, z.Arr}
	if bounds.Arr != nil && bounds.Arr.Away != nil {
		operands = append(operands, bounds.Arr)
	}
	if r.at, err = place.Common(name, operands...); err != nil {
		return err
	}
	r.alpha, r.beta, r.left, r.right, r.out, r.bounds = alpha, beta, x, y, z, bounds
	err = r.run()
	if r.Stats != nil {
		*r.Stats = r.stats
	}
	if r.Options.Options.Stats != nil {
		*r.Options.Options.Stats = r.stats.Stats
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.tell(1)
	return nil
}

// check panics for misuse of A, B, C and the bounds; bounds without an array are not requested.
func check(a, b, c, bounds num.Mat) {
	if a.Cols != b.Rows || c.Rows != a.Rows || c.Cols != b.Cols {
		panic(errShape)
	}
	if bounds.Arr == nil {
		return
	}
	if bounds.Rows != c.Rows || bounds.Cols != c.Cols {
		panic(errShape)
	}
	for _, m := range []num.Mat{a, b, c} {
		if overlap(bounds, m) {
			panic(errAlias)
		}
	}
}

// run computes C where its operands live, or for operands of the host where the options say.
func (r *run) run() (err error) {
	for i, m := range []num.Mat{r.left, r.right, r.out, r.bounds} {
		if m.Arr != nil && m.Arr.Format != num.Float64 && (m.Arr.Format != num.Float32 || i > 1) {
			return fmt.Errorf("%v: %w (want f64, or f32 for A and B)", m.Arr.Format, halfulp.ErrFormat)
		}
	}
	if err := place.Single(r.at); err != nil {
		return err
	}
	if r.resident = r.at != nil; !r.resident {
		if r.at, err = r.device(); err != nil {
			return err
		}
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	switch {
	case r.at != nil && finite(r.alpha):
		r.stats.Device = r.at.String()
		return r.there()
	case r.resident:
		return r.atHome()
	}
	return r.here()
}

// here runs the product on the CPU, for matrices of the host.
func (r *run) here() error {
	if _, err := r.apart(); err != nil {
		return err
	}
	r.local()
	if r.double {
		return r.pairs()
	}
	return r.slices()
}

// local gives the CPU access to the operands, which live on the host.
func (r *run) local() {
	r.a, r.b, r.c = view(r.left).left(), view(r.right).right(), view(r.out)
	if r.bounds.Arr != nil {
		bound := view(r.bounds)
		r.bound = &bound
	}
}

// begin finds exponents and special values. If a product has no finite terms, begin computes all of
// it and reports that it is done.
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
	if r.maxA, r.specialA, err = survey(r.ctx, r.threads, r.a); err != nil {
		return false, err
	}
	r.maxB, r.specialB, err = survey(r.ctx, r.threads, r.b)
	r.expA, r.expB = exponents(r.maxA), exponents(r.maxB)
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

// prepare is begin, and also finds the numbers of bits and of slices.
func (r *run) prepare() (done bool, err error) {
	if done, err := r.begin(); done || err != nil {
		return done, err
	}
	r.setWidth()
	switch {
	case r.Split == Literal:
		if err := r.inRange(r.maxA, r.maxB); err != nil {
			return false, err
		}
		clear(r.expA)
		clear(r.expB)
	case r.Slices == 0:
		if err := r.choose(); err != nil {
			return false, err
		}
	}
	r.stats.Slices = r.Slices
	return false, nil
}

// setWidth finds the number of bits of a slice.
func (r *run) setWidth() {
	r.Block = min(r.Block, r.left.Cols)
	r.width = sliceWidth(r.Block)
	r.stats.Block, r.stats.Bits = r.Block, r.width
}

// old returns C's entry (i, j), or 0 if C is not read.
func (r *run) old(i, j int) float64 {
	if r.beta == 0 {
		return 0
	}
	return r.c.data[r.c.at(i, j)]
}

// addend returns β c_ij for an infinite sum, where its size does not matter.
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

// parts computes C in parts of rows and columns that fit the allowed memory, each from blocks of k.
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
				left, err := r.split(r.a.part(i, i1, h, h1), r.maxA[i:i1], r.expA[i:i1], r.kernel.MR, leftWant(r.Slices))
				if err != nil {
					return err
				}
				if i == 0 || blocks > 1 {
					right.free()
					if right, err = r.split(r.b.part(j, j1, h, h1), r.maxB[j:j1], r.expB[j:j1], r.kernel.NR, rightWant(r.Slices)); err != nil {
						return err
					}
				}
				r.stage(splitting, start)
				if err := r.multiply(left, right, t[:size]); err != nil {
					return err
				}
				left.free()
				if bounds != nil {
					e := r.boundOf(left.norms, right.norms, h1-h)
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
			unit := -2 * r.width
			if r.Split == Literal {
				unit = 0
			}
			if err := r.finish(i, i1, j, j1, unit, result, bounds); err != nil {
				return err
			}
			r.stats.Blocks++
		}
	}
	right.free()
	return nil
}

// split splits vectors with these largest numbers and exponents, as panels of the given width.
func (r *run) split(x vectors, maxima []float64, exp []int, width int, w want) (*split, error) {
	if r.Split == Literal {
		return newLiteralSplit(r.ctx, r.threads, x, maxima, r.width, r.Slices, width, w)
	}
	return newSplit(r.ctx, r.threads, x, exp, r.width, r.Slices, width, w)
}

// boundOf returns the bounds of the sums of a block of n entries whose slices have these norms.
func (r *run) boundOf(a, b norms, n int) *errorBound {
	if r.Split == Literal {
		return literalBound(a, b, r.Slices, n, r.tau)
	}
	blocks := (r.left.Cols + r.Block - 1) / r.Block
	return newErrorBound(a, b, r.Slices, r.width, n, blocks-1)
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

// partSize returns the numbers of rows and columns of a part of C, at least mr and nr, for a row of
// A that takes left bytes, and a column of B that takes right bytes.
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
