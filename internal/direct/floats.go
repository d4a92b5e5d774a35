package direct

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// Sums over binary32 and binary64 numbers: first compensated with a proved error
// bound, and where that does not decide the rounding, exactly in fixed-point words.

// IsFloat reports whether the numbers of format f are single binary32 or binary64 numbers.
func IsFloat(f num.Format) bool { return f.Kind == num.F32 || f.Kind == num.F64 }

// gatherSize is the number of entries that floatsOf copies at a time, and
// floatChunk the number that one compensated sum takes where nothing is copied.
const (
	gatherSize = 1 << 12
	floatChunk = 1 << 16
)

// floatsOf returns the entries lo <= i < hi of v, copied to buf unless they lie
// in line as binary64 numbers.
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

// floatSum is what a worker knows of its part of a sum: the lanes' sums exactly, and
// how far the true sum may lie from them.
type floatSum struct {
	acc    Acc
	bound  float64
	bufs   [2][]float64
	failed bool
}

// step returns how many entries one compensated sum takes.
func step(x, y num.Vec) int {
	if x.Arr.Kind == num.F64 && y.Arr.Kind == num.F64 && x.Inc == 1 && y.Inc == 1 {
		return floatChunk
	}
	return gatherSize
}

// add adds the entries lo <= i < hi of the reduction r.
//
// Every lane turns its addends v_1 ... v_m (for Dot the rounded products, whose
// errors q_k are exact but for 2^-1074 of underflow) into s and errors e_k of its
// additions with s + sum e_k = sum v_k exactly, and sums e_k + q_k in floating
// point. With u = 2^-53, |e_k| <= u |s_k| <= u (1 + 2 m u) A and |q_k| <= u |v_k|, A the
// sum of magnitudes, so the errors sum to at most (m + 1) u A (1 + 2 m u), and
// summing them with two roundings a step errs by at most
// (m + 1) u times that, in all less than 2 (m + 2)^2 u^2 A; overflow is excluded
// by A < 2^1000.
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
		p, q := floatReal(u[i], buf[0][:]), floatReal(v[i], buf[1][:])
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
		f.acc.Add(floatReal(x, buf[:]))
	}
}

// floatReal returns x exactly, its significand in buf.
func floatReal(x float64, buf []uint64) num.Real {
	neg := math.Signbit(x)
	switch {
	case x != x:
		return num.Real{Class: num.NaN}
	case x-x != 0:
		return num.Real{Class: num.Inf, Neg: neg}
	case x == 0:
		return num.Real{Neg: neg}
	}
	m, e := num.Decompose(x)
	buf[0] = m
	return num.Real{Class: num.Finite, Neg: neg, Exp: e, Mag: buf[:1]}
}

func compensated(r Reduction, x, y []float64, out *[3 * sumLanes]float64) {
	fast := assembly()
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

// floats computes the reduction of binary32 and binary64 vectors in compensated
// arithmetic: a sum known up to bound > 0, or ok = false.
func (r Reduction) floats(w Work, x, y num.Vec) (a *Acc, bound num.Real, ok bool, err error) {
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

// fewAddends is the largest number of binary32 or binary64 addends whose sum few tries.
const fewAddends = 64

// few stores the reduction of a few binary32 or binary64 numbers in number 0 of z, of the same
// formats, if one compensated sum decides it, with the bound of floatSum.add.
func (r Reduction) few(x, y num.Vec, z *num.Array) bool {
	if x.N > fewAddends || !IsFloat(x.Arr.Format) || !IsFloat(z.Format) || r == Dot && !IsFloat(y.Arr.Format) {
		return false
	}
	var s, e, m float64
	for i := range x.N {
		p, q := FloatAt(x.Arr, x.At(i)), 0.0
		switch r {
		case Asum:
			p = math.Abs(p)
		case Dot:
			p, q = twoProduct(p, FloatAt(y.Arr, y.At(i)))
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
func joined(sums []floatSum) (a *Acc, bound num.Real, ok bool) {
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
	return &f.acc, floatReal(f.bound, make([]uint64, 1)), true
}

// A wide holds a sum of binary64 numbers and products of two of them in words of
// 32 bits with room for carries: word k weighs 2^(32 k - wideLow).
type wide [wideWords]int64

const (
	wideLow   = 2176 // products of subnormals reach down to 2^-2148
	wideWords = (wideLow+2048)/32 + 5
	wideLimit = 1 << 30 // additions until a word could overflow
)

// add adds (-1)^neg (hi 2^64 + lo) 2^exp, hi < 2^42.
func (a *wide) add(neg bool, hi, lo uint64, exp int64) {
	exp += wideLow
	s := uint(exp & 31)
	d := a[exp>>5:][:5]
	top := hi << s
	if s != 0 {
		top |= lo >> (64 - s)
	}
	lo <<= s
	over := hi >> 1 >> (63 - s)
	sign := int64(0) // -1 to subtract; signs are no branches, which nobody foresees
	if neg {
		sign = -1
	}
	d[0] += int64(lo&math.MaxUint32) ^ sign - sign
	d[1] += int64(lo>>32) ^ sign - sign
	d[2] += int64(top&math.MaxUint32) ^ sign - sign
	d[3] += int64(top>>32) ^ sign - sign
	d[4] += int64(over) ^ sign - sign
}

// addWide adds (-1)^neg 2^exp w.
func (a *Acc) addWide(neg bool, exp int64, w *wide) {
	for k, v := range w {
		if v != 0 {
			m := [1]uint64{uint64(max(v, -v))}
			a.addMag((v < 0) != neg, int64(32*k)-wideLow+exp, m[:])
		}
	}
}

// addends are what a sum over one or two vectors adds up.
type addends int

const (
	asNumbers    addends = iota // x_i
	asMagnitudes                // |x_i|
	asProducts                  // x_i y_i
)

// addFloats adds (-1)^neg 2^exp times the sum of r of two vectors of binary32 or binary64
// numbers.
func (a *Acc) addFloats(r addends, neg bool, exp int64, x, y num.Vec) {
	for lo := 0; lo < x.N; lo += wideLimit {
		hi := min(lo+wideLimit, x.N)
		var w wide
		finite := false
		for i := lo; i < hi; i++ {
			u := FloatAt(x.Arr, x.At(i))
			if r == asMagnitudes {
				u = math.Abs(u)
			}
			v := 1.0
			if r == asProducts {
				v = FloatAt(y.Arr, y.At(i))
			}
			if u-u != 0 || v-v != 0 || u == 0 || v == 0 {
				var b [2][1]uint64
				c, n := productClass(floatReal(u, b[0][:]), floatReal(v, b[1][:]))
				a.addSpecial(c, n != neg)
				continue
			}
			finite = true
			m, e := num.Decompose(u)
			if r != asProducts {
				w.add(u < 0, 0, m, e)
				continue
			}
			n, f := num.Decompose(v)
			h, l := bits.Mul64(m, n)
			w.add((u < 0) != (v < 0), h, l, e+f)
		}
		if finite {
			a.seen |= seenFinite
			a.addWide(neg, exp, &w)
		}
	}
}

// addExpansions adds (-1)^neg 2^exp times the sum of r of two vectors of
// which none has the format MP, term by term. Numbers take their exact values that have a term
// which is not finite, or 0 as the first term, or a term larger than a quarter of the last one
// before it that is not 0. The others are not 0 and have the sign of their first term: with d =
// 2^-1074 a rounded quarter of t is at most |t| / 3, the worst being t = 3 d, so the terms after
// the first sum to less than its magnitude (1/3 + 1/9 + 1/27).
func (a *Acc) addExpansions(r addends, neg bool, exp int64, x, y num.Vec) {
	const limit = wideLimit / 16 // products of terms in a product of two numbers
	for lo := 0; lo < x.N; lo += limit {
		var w wide
		finite := false
		for i := lo; i < min(lo+limit, x.N); i++ {
			ix, iy := x.At(i), y.At(i)
			var u, v [4]term
			m, ok := splitTerms(x.Arr, ix, &u)
			n := 0
			if r == asProducts && ok {
				n, ok = splitTerms(y.Arr, iy, &v)
			}
			if !ok {
				p := x.Arr.Value(ix, a.values[0][:])
				p.Neg = p.Neg != neg
				p.Exp += exp
				switch r {
				case asProducts:
					a.AddProduct(p, y.Arr.Value(iy, a.values[1][:]))
				case asMagnitudes:
					p.Neg = neg
					a.Add(p)
				default:
					a.Add(p)
				}
				continue
			}
			finite = true
			if r == asProducts {
				for _, s := range u[:m] {
					for _, t := range v[:n] {
						hi, lo := bits.Mul64(s.mag, t.mag)
						w.add(s.neg != t.neg, hi, lo, s.exp+t.exp)
					}
				}
				continue
			}
			flip := r == asMagnitudes && u[0].neg
			for _, s := range u[:m] {
				w.add(s.neg != flip, 0, s.mag, s.exp)
			}
		}
		if finite {
			a.seen |= seenFinite
			a.addWide(neg, exp, &w)
		}
	}
}

// term is (-1)^neg mag 2^exp.
type term struct {
	mag uint64
	exp int64
	neg bool
}

// splitTerms stores the terms other than 0 of number i of a, of which there are n. It reports false
// if addExpansions says that the number takes its exact value.
func splitTerms(a *num.Array, i int, t *[4]term) (n int, ok bool) {
	h := FloatAt(a, i)
	if h-h != 0 || h == 0 {
		return 0, false
	}
	m, e := num.Decompose(h)
	t[0] = term{m, e, h < 0}
	n = 1
	for k := 1; k < a.Terms(); k++ {
		x := a.F64[k][i]
		if !(math.Abs(x) <= 0.25*math.Abs(h)) {
			return 0, false
		}
		if x == 0 {
			continue
		}
		m, e := num.Decompose(x)
		t[n] = term{m, e, x < 0}
		n++
		h = x
	}
	return n, true
}

// FloatAt returns number at of an array of binary32 or binary64 numbers.
func FloatAt(a *num.Array, at int) float64 {
	if a.Kind == num.F32 {
		return float64(a.F32[at])
	}
	return a.F64[0][at]
}
