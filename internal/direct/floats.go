package direct

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Sums over binary32 and binary64 numbers. A compensated sum with a proved error bound is tried
// first. If it does not decide the rounding, the sum is computed exactly in fixed-point words.

// gatherSize is the number of entries that floatsOf copies at a time. If nothing is copied, one
// compensated sum takes floatChunk entries.
const (
	gatherSize = 1 << 12
	floatChunk = 1 << 16
)

// floatsOf returns the entries lo <= i < hi of v. They are copied to buf unless they are contiguous
// binary64 numbers.
func floatsOf(v num.Vec, lo, hi int, buf []float64) []float64 {
	if v.Arr.Kind == num.F64 {
		if v.Inc == 1 {
			return v.Arr.F64[0][v.Off+lo : v.Off+hi]
		}
		for i := range hi - lo {
			buf[i] = v.Arr.F64[0][v.At(lo+i)]
		}
		return buf[:hi-lo]
	}
	at := v.At(lo)
	if v.Inc == 1 {
		for i, t := range v.Arr.F32[at : at+hi-lo] {
			buf[i] = float64(t)
		}
		return buf[:hi-lo]
	}
	for i := range hi - lo {
		buf[i] = float64(v.Arr.F32[at])
		at += v.Inc
	}
	return buf[:hi-lo]
}

// floatSum is a worker's part of a sum. It holds the exact total of the sums of the lanes and a
// bound on the distance to the true sum.
type floatSum struct {
	acc    superacc.Acc
	bound  float64
	bufs   [2][]float64
	failed bool
}

// step returns the number of entries that one compensated sum takes.
func step(x, y num.Vec) int {
	if x.Arr.Kind == num.F64 && y.Arr.Kind == num.F64 && x.Inc == 1 && y.Inc == 1 {
		return floatChunk
	}
	return gatherSize
}

// add adds the entries lo <= i < hi of the reduction r.
//
// Every lane turns its addends v_1 ... v_m into s and errors e_k of its additions such that s + sum
// e_k = sum v_k exactly. For Dot the addends are the rounded products, whose errors q_k are exact
// but for 2^-1074 of underflow. The lane sums e_k + q_k in floating point. Let u = 2^-53 and let A
// be the sum of magnitudes. Then |e_k| <= u |s_k| <= u (1 + 2 m u) A and |q_k| <= u |v_k|, so the
// errors sum to at most (m + 1) u A (1 + 2 m u). Summing them with two roundings a step errs by at
// most (m + 1) u times that. The total error is less than 2 (m + 2)^2 u^2 A. The condition A <
// 2^1000 excludes overflow.
func (f *floatSum) add(r Reduction, x, y num.Vec, lo, hi int) {
	n := step(x, y)
	if n == gatherSize && f.bufs[0] == nil {
		f.bufs[0], f.bufs[1] = make([]float64, gatherSize), make([]float64, gatherSize)
	}
	for ; lo < hi && !f.failed; lo += n {
		f.addPart(r, x, y, lo, min(hi, lo+n))
	}
}

func (f *floatSum) addPart(r Reduction, x, y num.Vec, lo, hi int) {
	u := floatsOf(x, lo, hi, f.bufs[0])
	v := u
	if r == Dot {
		v = floatsOf(y, lo, hi, f.bufs[1])
	}
	f.addSlices(r, u, v)
}

func (f *floatSum) addSlices(r Reduction, u, v []float64) {
	n := len(u) &^ (sumLanes - 1)
	var out [3 * sumLanes]float64
	if n > 0 {
		compensated(r, u[:n], v[:n], &out)
	}
	var a float64
	for _, t := range out[2*sumLanes:] {
		a += t
	}
	if !(a < 0x1p1000) {
		f.failed = true
		return
	}
	m := float64(n/sumLanes + 2)
	f.bound += float64(0x1.01p-105*m*m*a) + float64(float64(n)*0x1p-1072)
	for _, t := range out[:2*sumLanes] {
		f.addFloat(t)
	}
	var buf [2][1]uint64
	for i := n; i < len(u); i++ {
		p, q := superacc.FloatReal(u[i], buf[0][:]), superacc.FloatReal(v[i], buf[1][:])
		switch r {
		case Sum:
			f.acc.Add(p)
		case Asum:
			p.Neg = false
			f.acc.Add(p)
		default:
			f.acc.AddProduct(p, q)
		}
	}
}

func (f *floatSum) addFloat(x float64) {
	var buf [1]uint64
	if x != 0 {
		f.acc.Add(superacc.FloatReal(x, buf[:]))
	}
}

func compensated(r Reduction, x, y []float64, out *[3 * sumLanes]float64) {
	fast := superacc.Assembly()
	switch {
	case r == Sum && fast:
		sum2Fast(x, out)
	case r == Sum:
		sum2(x, out)
	case r == Asum && fast:
		asum2Fast(x, out)
	case r == Asum:
		asum2(x, out)
	case fast:
		dot2Fast(x, y, out)
	default:
		dot2(x, y, out)
	}
}

// floats computes the reduction of binary32 and binary64 vectors in compensated arithmetic. It
// returns a sum known up to bound > 0, or ok = false.
func (r Reduction) floats(w Work, x, y num.Vec) (a *superacc.Acc, bound num.Real, ok bool, err error) {
	parts := (x.N + floatChunk - 1) / floatChunk
	sums := make([]floatSum, max(1, min(w.Threads, parts)))
	err = w.loop(parts, func(worker, i int) {
		sums[worker].add(r, x, y, i*floatChunk, min((i+1)*floatChunk, x.N))
	})
	if err != nil {
		return nil, bound, false, err
	}
	a, bound, ok = joined(sums)
	return a, bound, ok, nil
}

// fewAddends is the largest number of binary32 or binary64 addends for which few tries a sum.
const fewAddends = 64

// few computes the reduction of a few binary32 or binary64 numbers and stores it in number 0 of z,
// which is binary32 or binary64 too. It succeeds if one compensated sum decides the rounding, with
// the bound of floatSum.add.
func (r Reduction) few(x, y num.Vec, z *num.Array) bool {
	if x.N > fewAddends || !superacc.IsFloat(x.Arr.Format) || !superacc.IsFloat(z.Format) || r == Dot && !superacc.IsFloat(y.Arr.Format) {
		return false
	}
	var s, e, m float64
	for i := range x.N {
		p, q := superacc.FloatAt(x.Arr, x.At(i)), 0.0
		switch r {
		case Asum:
			p = math.Abs(p)
		case Dot:
			p, q = twoProduct(p, superacc.FloatAt(y.Arr, y.At(i)))
		case Squares:
			p, q = twoProduct(p, p)
		}
		var d float64
		s, d = twoSum(s, p)
		e += d + q
		m += math.Abs(p)
	}
	if !(m < 0x1p1000) {
		return false
	}
	unit := floatFactors{alpha: 1, ok: true}
	lo, hi, ok := unit.enclose(s, e, sumError(x.N, m), 0)
	return ok && setEnclosed(z, 0, lo, hi)
}

// joined returns the sum of all parts, known up to bound > 0, or ok = false.
func joined(sums []floatSum) (a *superacc.Acc, bound num.Real, ok bool) {
	f := &sums[0]
	for i := range sums[1:] {
		g := &sums[1+i]
		f.acc.Merge(&g.acc)
		f.bound += g.bound
		f.failed = f.failed || g.failed
	}
	f.bound *= 1 + 0x1p-20
	if f.failed || f.bound == 0 || !f.acc.Finite() {
		return nil, bound, false
	}
	return &f.acc, superacc.FloatReal(f.bound, make([]uint64, 1)), true
}
