package ozaki

import (
	"sync/atomic"
	"time"

	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/sgemm"
)

// product is one step of a sum of products: t = RN(t factor + P). P is the product of x and y by
// SGEMM, or 0 where x is nil.
type product struct {
	x, y   *sgemm.Panels
	factor float64
}

// products returns the steps of the product of a's vectors times b's, in units of
// 2^(e_i - α + f_j - α), e and f the exponents:
//
//	t = 0
//	for g = K+1, K, …, 2:
//	    t = t 2^-(α+1)
//	    for s = 1, …, min(g-1, K):
//	        t = RN(t + P), P the SGEMM of q_s(A), r_K(A) if s = K, and q_(g-s)(B), r_(g-s)(B) if g = K+1
//
// in float64. The products with g ≤ K are exact integers: |P| ≤ len 2^(2α) ≤ 2^24. The first step
// of a group multiplies by the power of two. This is exact, since with at most MaxSlices slices |t|
// stays above 2^-1022 unless it is 0. Products with slices of zeros are left out, which changes no
// bit. Literal slices have no power of two, and g goes from 2 to K+1.
func (r *run) products(a, b *split) []product {
	slices := len(a.q)
	var list []product
	for i := range slices {
		g, factor := slices+1-i, 1/float64(int(1)<<(a.alpha+1))
		if r.Split == Literal {
			g, factor = i+2, 1
		}
		for s := 1; s <= min(g-1, slices); s++ {
			x, y := a.q[s-1], b.q[g-s-1]
			if s == slices {
				x = a.r[s-1]
			}
			if g == slices+1 {
				y = b.r[g-s-1]
			}
			if x == nil || y == nil {
				r.stats.Skipped++
				continue
			}
			r.stats.Products++
			list = append(list, product{x, y, factor})
			factor = 1
		}
		if factor != 1 {
			list = append(list, product{nil, nil, factor})
		}
	}
	return list
}

// multiply sets t, column by column, to the product of a's vectors times b's, block by block, so
// that a block of t stays in a cache.
func (r *run) multiply(a, b *split, t []float64) error {
	rows, cols := len(a.exp), len(b.exp)
	list := r.products(a, b)
	length := 0
	for _, p := range list {
		if p.x != nil {
			length += p.x.Len
		}
	}
	threads, mc, nc := r.kernel.Blocks(r.threads, rows, cols, length)
	start := time.Now()
	var multiplied, added atomic.Int64 // ns of all threads
	work := make([][]float32, threads)
	down := sgemm.Parts(rows, mc)
	err := par.For(r.ctx, threads, down*sgemm.Parts(cols, nc), func(worker, n int) {
		if work[worker] == nil {
			work[worker] = make([]float32, mc*nc)
		}
		i0, j0 := n%down*mc, n/down*nc
		i1, j1 := min(i0+mc, rows), min(j0+nc, cols)
		c, ldc := work[worker], i1-i0
		for j := j0; j < j1; j++ {
			clear(t[i0+j*rows : i1+j*rows])
		}
		for _, p := range list {
			begin := time.Now()
			if p.x != nil {
				r.kernel.MulBlock(c, ldc, p.x, p.y, i0, i1, j0, j1)
			}
			middle := time.Now()
			for j := j0; j < j1; j++ {
				x := t[i0+j*rows : i1+j*rows]
				if p.x == nil {
					scaleBy(x, p.factor)
				} else {
					accumulate(x, p.factor, c[(j-j0)*ldc:])
				}
			}
			multiplied.Add(int64(middle.Sub(begin)))
			added.Add(int64(time.Since(middle)))
		}
		r.advance((i1 - i0) * (j1 - j0))
	})
	// The time is divided between the stages in the ratio of the threads' times.
	took, m, s := time.Since(start), multiplied.Load(), added.Load()
	share := time.Duration(float64(took) * float64(m) / float64(max(m+s, 1)))
	r.stats.Stages[multiplying].Time += share
	r.stats.Stages[summing].Time += took - share
	return err
}

// accumulate sets t = RN(t factor + c).
func accumulate(t []float64, factor float64, c []float32) {
	c = c[:len(t)]
	for i, x := range t {
		t[i] = float64(x*factor) + float64(c[i])
	}
}

// scaleBy sets t = t factor.
func scaleBy(t []float64, factor float64) {
	for i := range t {
		t[i] *= factor
	}
}
