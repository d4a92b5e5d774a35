package ozaki

import (
	"context"
	"time"

	"github.com/halfulp/halfulp/internal/par"
)

// multiply sets t, of a's vectors times b's, column by column, to their product in units of
// 2^(e_i - α + f_j - α), e and f the exponents:
//
//	t = 0
//	for g = K+1, K, …, 2:
//	    t = t 2^-(α+1)
//	    for s = 1, …, min(g-1, K):
//	        t = RN(t + P), P the SGEMM of q_s(A), r_K(A) if s = K, and q_(g-s)(B), r_(g-s)(B) if g = K+1
//
// in float64. The products with g ≤ K are exact integers: |P| ≤ len 2^(2α) ≤ 2^24. Products
// with slices of zeros are left out, which changes no bit. c is memory for P.
func (r *run) multiply(a, b *split, t []float64, c []float32) error {
	slices := len(a.q)
	rows, cols := len(a.exp), len(b.exp)
	down := 1 / float64(int(1)<<(a.alpha+1))
	clear(t)
	for g := slices + 1; g >= 2; g-- {
		factor := down
		for s := 1; s <= min(g-1, slices); s++ {
			x, y := a.q[s-1], b.q[g-s-1]
			if s == slices {
				x = a.r[s-1]
			}
			if g == slices+1 {
				y = b.r[g-s-1]
			}
			r.step()
			if x == nil || y == nil {
				r.stats.Skipped++
				continue
			}
			r.stats.Products++
			start := time.Now()
			if err := r.kernel.Mul(r.ctx, r.threads, c, rows, x, y); err != nil {
				return err
			}
			start = r.stage(multiplying, start)
			if err := accumulate(r.ctx, r.threads, t, factor, c, rows, cols); err != nil {
				return err
			}
			r.stage(summing, start)
			factor = 1
		}
		if factor != 1 {
			if err := accumulate(r.ctx, r.threads, t, factor, nil, rows, cols); err != nil {
				return err
			}
		}
	}
	return nil
}

// accumulate sets t = RN(t factor + c), c = 0 for nil. The product with a power of two is
// exact: MaxSlices leaves |t| above 2^-1022 unless it is 0.
func accumulate(ctx context.Context, threads int, t []float64, factor float64, c []float32, rows, cols int) error {
	return par.For(ctx, threads, cols, func(_, j int) {
		x := t[j*rows : (j+1)*rows]
		if c == nil {
			for i := range x {
				x[i] *= factor
			}
			return
		}
		for i, p := range c[j*rows : (j+1)*rows] {
			x[i] = float64(x[i]*factor) + float64(p)
		}
	})
}
