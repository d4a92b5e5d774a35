package rns

import (
	"errors"
	"fmt"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
)

// Algorithm 1 of 001 as published. An entrywise product takes three passes, which together are
// Base.mul: signs, exponents and evaluations; digits; rounding. The passes over vectors and over
// the matrix B are kernels on a GPU, and loops here.

// The names of the steps of algorithm 1, in Stats.Stages.
var (
	passes     = [...]string{"signs, exponents, evaluations", "digits", "rounding"}
	sumsStep   = "sums of B + β y"
	copiesStep = "copies"
)

// steps names the times of the launches, of which there are three for α = 0.
func steps(times []time.Duration) []halfulp.Stage {
	products := []string{"α x", "β y", "B"}
	if len(times) == len(passes) {
		products = products[1:2]
	}
	var list []halfulp.Stage
	for i, t := range times {
		name := sumsStep
		if p := i / len(passes); p < len(products) {
			name = products[p] + ": " + passes[i%len(passes)]
		}
		list = append(list, halfulp.Stage{Name: name, Time: t})
	}
	return list
}

// esi sets z to x y, not rounded, without its digits. An exponent beyond the range becomes
// maxExp + 1.
func (b *Base) esi(z, x, y *val) {
	switch {
	case x.isNaN() || y.isNaN():
		z.ev, z.exp, z.neg = Interval{}, nanExp, false
	case x.isZero() || y.isZero():
		z.ev, z.exp, z.neg = Interval{}, 0, false
	default:
		z.exp = int32(min(int64(x.exp)+int64(y.exp), maxExp+1))
		z.neg, z.ev = x.neg != y.neg, b.mulEval(x.ev, y.ev)
	}
}

// rounded normalises a z that esi and the product of digits have set.
func (b *Base) rounded(z *val, w *scratch) {
	if !z.isNaN() && !z.isZero() {
		b.finish(z, int64(z.exp), w)
	}
}

// scaling is an entrywise product z = x y; entry k of z is number k of its array. If none is set,
// z = 0.
type scaling struct {
	z    *Array
	x, y func(k int) val
	none bool
}

// scale3 runs the three passes of a scaling, and returns their times; share is its part of the
// routine's work.
func (r *run) scale3(s scaling, share float64) ([]time.Duration, error) {
	var times []time.Duration
	for _, pass := range []func(k int, z *val, w *scratch){
		func(k int, z *val, _ *scratch) {
			if s.none {
				z.ev, z.exp, z.neg = Interval{}, 0, false
				return
			}
			x, y := s.x(k), s.y(k)
			r.b.esi(z, &x, &y)
		},
		func(k int, z *val, _ *scratch) {
			if s.none {
				clear(z.x)
				return
			}
			r.b.mulMod(z.x, s.x(k).x, s.y(k).x)
		},
		func(_ int, z *val, w *scratch) { r.b.rounded(z, w) },
	} {
		start := time.Now()
		err := r.each(s.z.Len(), 1, share/float64(len(passes)), func(lo, hi int, w *scratch) {
			for k := lo; k < hi; k++ {
				z := s.z.val(k)
				pass(k, &z, w)
				s.z.put(k, &z)
			}
		})
		times = append(times, time.Since(start))
		if err != nil {
			return times, err
		}
	}
	return times, nil
}

// The shares of the work of algorithm 1 that are reported for the vectors, for B and for the sums.
const (
	vectorShare = 0.01
	matrixShare = 0.48
	sumsShare   = 0.5
)

// algorithm1 is Gemv on the CPU step by step, with B in memory.
func (r *run) algorithm1(trans bool, alpha, beta *val, a *Matrix, x, y *Vector) error {
	numbers := y.n
	if !alpha.isZero() {
		numbers += x.n + a.rows*a.cols + min(r.Threads, y.n)*r.BlockSize
	}
	if err := r.room(numbers); err != nil {
		return err
	}
	vector := func(s *val, v *Vector, share float64) (*Array, []time.Duration, error) {
		z := r.b.NewArray(v.n)
		times, err := r.scale3(scaling{z, v.val, func(int) val { return *s }, s.isZero()}, share)
		return z, times, err
	}
	var times []time.Duration
	var d *Array
	if !alpha.isZero() {
		var err error
		if d, times, err = vector(alpha, x, vectorShare); err != nil {
			return err
		}
	}
	scaled, more, err := vector(beta, y, vectorShare)
	if err != nil {
		return err
	}
	times = append(times, more...)
	if !alpha.isZero() {
		sums, more, err := r.scaledSums(trans, a, d, scaled)
		if err != nil {
			return err
		}
		scaled, times = sums, append(times, more...)
	}
	r.stats.Stages = steps(times)
	for i := range y.n {
		z, v := y.val(i), scaled.val(i)
		z.set(&v)
		y.put(i, &z)
	}
	return nil
}

// scaledSums runs steps 3 and 4 of algorithm 1 for d = α x and y = β y, and returns the result.
func (r *run) scaledSums(trans bool, a *Matrix, d, y *Array) (*Array, []time.Duration, error) {
	product := r.b.NewArray(a.rows*a.cols).Matrix(0, a.rows, a.cols, max(a.rows, 1))
	factor := func(k int) val { return d.val(k / a.rows) }
	if trans {
		factor = func(k int) val { return d.val(k % a.rows) }
	}
	times, err := r.scale3(scaling{product.arr, func(k int) val { return a.val(k%a.rows, k/a.rows) }, factor, false}, matrixShare)
	if err != nil {
		return nil, times, err
	}
	start := time.Now()
	err = r.blocks(y.Len(), sumsShare, func(i int, s *block) {
		row := product.line(trans, i)
		sum := s.row(row.n, func(j int, _ *block) val { return row.val(j) })
		z, u := y.val(i), y.val(i)
		r.b.add(&z, &sum, &u, false, s.w)
		y.put(i, &z)
	})
	return y, append(times, time.Since(start)), err
}

// algorithm1Away is algorithm1 on a device.
func algorithm1Away(q place.RNSQueue, r *run, g place.RNSGemv) error {
	times, err := q.Algorithm1(g)
	r.stats.Stages = steps(times)
	if errors.Is(err, place.ErrBlockSize) {
		return fmt.Errorf("%w: %w", halfulp.ErrOptions, err)
	}
	return err
}

// basicAway is GemvBasic as published on a device.
func basicAway(q place.RNSQueue, r *run, g place.RNSGemv) error {
	times, err := q.Basic(g)
	for i, t := range times {
		name := "α x"
		switch i {
		case 0:
			name = "β y"
		case len(times) - 1:
			name = "sums of products + β y"
		}
		r.stats.Stages = append(r.stats.Stages, halfulp.Stage{Name: name, Time: t})
	}
	return err
}
