package ozaki

import (
	"context"
	"math"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/sgemm"
)

// GemmDoubleFloat computes C = α op(A) op(B) + β C like [Gemm], but in double-float arithmetic:
// numbers of two float32 words, about 48 bits. The paper names it as the competitor.
//
// With the exponents of rows and columns, entries y = x 2^-e become pairs (h, l), h = RN(y),
// l = RN(y - h). A chain over k from (0, 0) adds the products of pairs, without l l',
//
//	p = RN(h h'), d = RN(h h' - p), d = RN(h l' + d), d = RN(l h' + d), (p, d) = Fast2Sum(p, d),
//
// by algorithm 6 (AccurateDWPlusDW) of Joldes, Muller and Popescu, 2017; its value T = h + l is
// exact in float64, and c_ij follows from it as in Gemm, with the exponent e_i + f_j. Each fused
// multiply-add rounds once, so CPU and GPU have the same bits.
//
// The error of T is at most ((3k + 10) 2^-48 (1 + 2^-10) ‖y_i‖₂ ‖y_j‖₂ + k 2^-120) 2^(e_i+f_j):
// splitting costs 2^-48 of each factor, a product 6·2^-48 of the product, an addition 3·2^-48 of
// the sum. Options.Bound receives this bound; a GPU's may be a little larger than the CPU's.
// Slices, Split, Tolerance, Block and SGEMM are ignored.
//
// Where it runs and where C stays, aliasing, panics and errors are as for [Gemm].
func GemmDoubleFloat(tA, tB halfulp.Transpose, alpha float64, a, b *halfulp.Matrix, beta float64, c *halfulp.Matrix, opt *Options) error {
	return multiply("ozaki.GemmDoubleFloat", true, tA, tB, alpha, a, b, beta, c, opt)
}

// pairs runs a product in double-float arithmetic.
func (r *run) pairs() error {
	if done, err := r.begin(); done || err != nil {
		return err
	}
	k := sgemm.BestPairs()
	rows, cols := r.partSize(k.MR, k.NR, 8*int64(r.a.len), 8*int64(r.a.len))
	r.work = float64(r.a.n) * float64(r.b.n)
	t := make([]float64, rows*cols)
	hi, lo := make([]float32, rows*cols), make([]float32, rows*cols)
	var bounds []float64
	if r.bound != nil {
		bounds = make([]float64, rows*cols)
	}
	for j := 0; j < r.b.n; j += cols {
		j1 := min(j+cols, r.b.n)
		start := time.Now()
		right, normB, err := newPairs(r.ctx, r.threads, r.b.part(j, j1, 0, r.b.len), r.expB[j:j1], k.NR)
		if err != nil {
			return err
		}
		for i := 0; i < r.a.n; i += rows {
			i1 := min(i+rows, r.a.n)
			left, normA, err := newPairs(r.ctx, r.threads, r.a.part(i, i1, 0, r.a.len), r.expA[i:i1], k.MR)
			if err != nil {
				return err
			}
			start = r.stage(splitting, start)
			if err := k.Mul(r.ctx, r.threads, hi, lo, i1-i, left, right); err != nil {
				return err
			}
			free(&left.Hi)
			free(&left.Lo)
			start = r.stage(multiplying, start)
			r.advance((i1 - i) * (j1 - j))
			for at := range t[:(i1-i)*(j1-j)] {
				t[at] = float64(hi[at]) + float64(lo[at])
				if bounds != nil {
					bounds[at] = pairsBound(r.a.len, normA[at%(i1-i)], normB[at/(i1-i)])
				}
			}
			r.stage(summing, start)
			if err := r.finish(i, i1, j, j1, 0, t, bounds); err != nil {
				return err
			}
			start = time.Now()
			r.stats.Blocks++
		}
		free(&right.Hi)
		free(&right.Lo)
	}
	return nil
}

// pairsBound returns the bound on the chain's error, 0 if a factor is zero.
func pairsBound(n int, normA, normB float64) float64 {
	if normA == 0 || normB == 0 {
		return 0
	}
	return (float64(float64(3*n+10)*0x1p-48*(1+0x1p-10)*normA*normB) + float64(float64(n)*0x1p-120)) * upward
}

// newPairs returns the pairs of x 2^-e, as panels, and upper bounds of the 2-norms.
func newPairs(ctx context.Context, threads int, x vectors, exp []int, width int) (sgemm.Pairs, []float64, error) {
	p := sgemm.Pairs{Hi: newPanels(width, x.n, x.len), Lo: newPanels(width, x.n, x.len)}
	norm := make([]float64, x.n)
	err := par.For(ctx, threads, (x.n+width-1)/width, func(_, panel int) {
		for v := panel * width; v < min((panel+1)*width, x.n); v++ {
			shift := -exp[v]
			half := shift / 2
			sum := 0.0
			for h := range x.len {
				y := x.at(v, h)
				if !finite(y) {
					y = 0
				}
				if y != 0 {
					sum += smallest * smallest // for numbers that underflow
				}
				y = scale(scale(y, half), shift-half)
				hi := float32(y)
				at := (v/width*x.len+h)*width + v%width
				p.Hi.Data[at], p.Lo.Data[at] = hi, float32(y-float64(hi))
				sum += float64(y * y)
			}
			norm[v] = math.Sqrt(sum) * (1 + float64(float64(2*x.len+8)*0x1p-53))
		}
	})
	return p, norm, err
}
