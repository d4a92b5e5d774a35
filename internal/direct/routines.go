package direct

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Round stores the reduction, rounded to nearest even, in number 0 of z. The result exact reports
// whether it took the exact second pass.
func (r Reduction) Round(w Work, x, y num.Vec, z *num.Array) (flags num.Flags, exact bool, err error) {
	if w.Done == nil && w.Together == nil && r.few(x, y, z) {
		return 0, false, w.Ctx.Err()
	}
	a, bound, ok, err := r.enclose(w, x, y, z.Bits())
	if err == nil {
		a, bound, ok, err = w.together(a, bound, ok)
	}
	if err != nil {
		return 0, false, err
	}
	tried := ok
	if ok {
		if flags, ok = a.RoundEnclosure(z, bound); ok {
			return flags, false, nil
		}
	}
	if a, err = r.Exact(w, x, y); err != nil {
		return 0, tried, err
	}
	return z.Set(0, a.Value(z.Format)), tried, nil
}

// floatBits is the largest precision for which compensated sums are tried. Their accuracy is about
// 100 bits less twice the logarithm of the length.
const floatBits = 64

// fewProducts is the least number of products for which leading digits are tried before the exact
// sum.
const fewProducts = 16

// enclose returns a sum known up to bound, if there is a quick one that will probably decide the
// rounding to p bits.
func (r Reduction) enclose(w Work, x, y num.Vec, p int) (a *superacc.Acc, bound num.Real, ok bool, err error) {
	if superacc.IsFloat(x.Arr.Format) && superacc.IsFloat(y.Arr.Format) && p <= floatBits {
		return r.floats(w, x, y)
	}
	if (r == Dot || r == Squares) && (x.Arr.Kind == num.MP || y.Arr.Kind == num.MP) && x.N >= fewProducts {
		if g := groupsFor(p, x.N); g != 0 {
			return r.digits(w, x, y, g, p)
		}
	}
	return nil, bound, false, nil
}

// Norm stores the Euclidean norm of x, rounded to nearest even, in number 0 of z. The result exact
// reports whether it took the exact second pass.
func Norm(w Work, x num.Vec, z *num.Array) (flags num.Flags, exact bool, err error) {
	a, bound, ok, err := Squares.enclose(w, x, x, z.Bits())
	if err == nil {
		a, bound, ok, err = w.together(a, bound, ok)
	}
	if err != nil {
		return 0, false, err
	}
	tried := ok
	if ok {
		if flags, ok = a.RoundNorm(z, bound); ok {
			return flags, false, nil
		}
	}
	if a, err = Squares.Exact(w, x, x); err != nil {
		return 0, tried, err
	}
	return z.Set(0, a.Norm(z.Format)), tried, nil
}

// LargestIndex returns the index of the first entry of x with the largest magnitude, or -1 if x is
// empty. NaN counts as the largest.
func LargestIndex(w Work, x num.Vec) (int, error) {
	parts := (x.N + chunk - 1) / chunk
	best := make([]int, parts)
	err := w.loop(parts, func(_, p int) {
		best[p] = largestOf(x, func(yield func(int) bool) {
			for i := p * chunk; i < min((p+1)*chunk, x.N); i++ {
				if !yield(i) {
					return
				}
			}
		})
	})
	if err != nil {
		return -1, err
	}
	return largestOf(x, func(yield func(int) bool) {
		for _, i := range best {
			if !yield(i) {
				return
			}
		}
	}), nil
}

// largestOf returns the first of the given indices with the largest magnitude.
func largestOf(x num.Vec, indices func(func(int) bool)) int {
	var bufs [2][num.MaxValueWords]uint64
	best, use := -1, 0
	var top num.Real
	for i := range indices {
		v := x.Arr.Value(x.At(i), bufs[use][:])
		if best < 0 || compareMagnitude(v, top) > 0 {
			best, top = i, v
			use = 1 - use
		}
	}
	return best
}

// compareMagnitude compares |x| and |y|. Neither is sticky, and NaN counts as the largest.
func compareMagnitude(x, y num.Real) int {
	if x.Class != y.Class {
		return int(x.Class) - int(y.Class)
	}
	if x.Class != num.Finite {
		return 0
	}
	topX, topY := x.Exp+int64(num.BitLen(x.Mag)), y.Exp+int64(num.BitLen(y.Mag))
	if topX != topY {
		if topX < topY {
			return -1
		}
		return 1
	}
	low := min(x.Exp, y.Exp)
	for pos := topX - 64; pos > low-64; pos -= 64 {
		u, v := num.WordAt(x.Mag, pos-x.Exp), num.WordAt(y.Mag, pos-y.Exp)
		if u != v {
			if u < v {
				return -1
			}
			return 1
		}
	}
	return 0
}

// Scale stores alpha x_i, rounded, in number i of z. For alpha = 0 it does not read x and stores
// +0.
func Scale(w Work, alpha num.Real, x num.Vec, z *num.Array, count func(num.Flags)) error {
	if alpha.Class == num.Zero {
		return w.Ctx.Err()
	}
	t := newFactor(alpha, realOne)
	floats := t.isFloat && z.Kind == num.F64 && x.Arr.Kind == num.F64
	g := lanes.NewLinear([]num.Real{alpha}, x, num.Real{}, num.Mat{}, z)
	pairs, plain := newPairs(t, x.Arr, factor{}, nil, z), newPlainSum(t, x.Arr, factor{}, nil, z)
	return w.linear(g, x.N, 1, count, func(a *superacc.Acc, i int) num.Flags {
		if floats {
			if r := float64(t.float * x.Arr.F64[0][x.At(i)]); normal(r) {
				z.F64[0][i] = r
				return 0
			}
		}
		if pairs.set(i, x.At(i), 0) || plain.set(a, i, x.At(i), 0) {
			return 0
		}
		return z.Set(i, a.Scaled(t.Real, x, i))
	})
}

// realOne is 1.
var realOne = num.Real{Class: num.Finite, Mag: one[:]}

// Update stores alpha x_i y_j + c_ij, rounded, in number i + j m of z, where m is the length of x.
// The factor alpha is not 0.
func Update(w Work, alpha num.Real, x, y num.Vec, c num.Mat, z *num.Array, count func(num.Flags)) error {
	m := x.N
	factors, reals, each, plain := make([]factor, y.N), make([]num.Real, y.N), make([]*pairs, y.N), make([]*plainSum, y.N)
	unity := newFactor(realOne, realOne)
	var buf [num.MaxValueWords]uint64
	for j := range factors {
		factors[j] = newFactor(alpha, y.Arr.Value(y.At(j), buf[:]))
		reals[j] = factors[j].Real
		each[j], plain[j] = newPairs(factors[j], x.Arr, unity, c.Arr, z), newPlainSum(factors[j], x.Arr, unity, c.Arr, z)
	}
	floats := z.Kind == num.F64 && x.Arr.Kind == num.F64 && c.Arr.Kind == num.F64
	return w.linear(lanes.NewLinear(reals, x, realOne, c, z), m, y.N, count, func(a *superacc.Acc, k int) num.Flags {
		i, j := k%m, k/m
		t := &factors[j]
		if floats && t.isFloat {
			if r := math.FMA(t.float, x.Arr.F64[0][x.At(i)], c.Arr.F64[0][c.At(i, j)]); normal(r) {
				z.F64[0][k] = r
				return 0
			}
		}
		if each[j].set(k, x.At(i), c.At(i, j)) || plain[j].set(a, k, x.At(i), c.At(i, j)) {
			return 0
		}
		return z.Set(k, a.MulAdd(z.Format, t.Real, x, c, i, j))
	})
}

// Copy stores the entries of x, rounded, in z.
func Copy(w Work, x num.Vec, z *num.Array, count func(num.Flags)) error {
	return w.rounded(x.N, count, func(_ *superacc.Acc, i int) num.Flags { return z.Convert(i, x.Arr, x.At(i)) })
}

// Combine stores a x_i + b y_i, rounded, in number i of z.
func Combine(w Work, a num.Real, x num.Vec, b num.Real, y num.Vec, z *num.Array, count func(num.Flags)) error {
	t, u := newFactor(a, realOne), newFactor(b, realOne)
	floats := t.isFloat && u.isFloat && z.Kind == num.F64 && x.Arr.Kind == num.F64 && y.Arr.Kind == num.F64
	pairs, plain := newPairs(t, x.Arr, u, y.Arr, z), newPlainSum(t, x.Arr, u, y.Arr, z)
	return w.linear(lanes.NewLinear([]num.Real{a}, x, b, y.Mat(), z), x.N, 1, count, func(s *superacc.Acc, i int) num.Flags {
		if floats {
			if r, ok := combineFloat(t.float, x.Arr.F64[0][x.At(i)], u.float, y.Arr.F64[0][y.At(i)]); ok {
				z.F64[0][i] = r
				return 0
			}
		}
		if pairs.set(i, x.At(i), y.At(i)) || plain.set(s, i, x.At(i), y.At(i)) {
			return 0
		}
		return z.Set(i, s.Combined(z.Format, t.Real, x, u.Real, y, i))
	})
}

// rounded calls f for all i < n and counts the flags. Each worker has its own accumulator.
func (w Work) rounded(n int, count func(num.Flags), f func(a *superacc.Acc, i int) num.Flags) error {
	const part = 1 << 10
	parts := (n + part - 1) / part
	accs := make([]superacc.Acc, max(1, min(w.Threads, parts)))
	return w.loop(parts, func(worker, p int) {
		a := &accs[worker]
		for i := p * part; i < min((p+1)*part, n); i++ {
			if fl := f(a, i); fl != 0 {
				count(fl)
			}
		}
	})
}

// linear computes the rows x columns entries of g. It calls f for entries that g leaves open, like
// rounded, or for all entries if g is nil.
func (w Work) linear(g *lanes.Linear, rows, columns int, tally func(num.Flags), f func(a *superacc.Acc, k int) num.Flags) error {
	if g == nil {
		return w.rounded(rows*columns, tally, f)
	}
	const part = 1 << 10
	n, count := rows*columns, g.Plan.Unit.Lanes
	parts := (n + part - 1) / part
	workers := make([]*lanes.LinearWorker, max(1, min(w.Threads, parts)))
	return w.loop(parts, func(worker, p int) {
		if workers[worker] == nil {
			workers[worker] = g.NewWorker()
		}
		s := workers[worker]
		one := func(k int) {
			if fl := f(&s.Acc, k); fl != 0 {
				tally(fl)
			}
		}
		for k, end := p*part, min((p+1)*part, n); k < end; {
			i, j := k%rows, k/rows
			some := min(end-k, rows-i)
			if some < count || g.A[j].Odd {
				for range some {
					one(k)
					k++
				}
				continue
			}
			some = min(some/count, g.Plan.Numbers)
			all := uint8(1)<<count - 1
			for v, ok := range s.Run(j, i, some*count, k) {
				for open := all &^ ok; open != 0; open &= open - 1 {
					one(k + v*count + bits.TrailingZeros8(open))
				}
			}
			k += some * count
		}
	})
}
