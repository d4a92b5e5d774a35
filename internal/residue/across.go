package residue

import (
	"math"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/rounding"
)

// across holds the data for rounding many numbers at a time, for the plain expression (-1)^s 2^e A
// B.
type across struct {
	format rounding.Format
	count  int      // words of an integer
	mag    []uint64 // after rounding.Pad rows of zeros
	neg    []uint64
	z      []uint64
	top    []int64
	ok     []uint64
	open   []bool // of expansions
	terms  []float64
	sums   []uint64 // for checked results
}

// across reports whether results are rounded many at a time: not if they have far more bits than
// the integers.
func (p *product) across(w *weights) bool {
	return p.alpha.pow && (p.beta.zero || p.within != nil) && p.c.Arr.Limbs() <= 2*w.mod.Count()+4
}

// newAcross returns an across for rows of stride numbers, with its memory in s.
func newAcross(f num.Format, m *rounding.Modulus, stride int, s *scratch) *across {
	prec := f.Bits()
	if f.Terms() > 1 {
		prec = 53
		s.open, s.terms = grow(&s.open, stride), grow(&s.terms, f.Terms()*stride)
	}
	a := &across{format: rounding.FormatOf(prec), count: m.Count(), open: s.open, terms: s.terms}
	pad := rounding.Pad(a.format.Limbs)
	a.mag = grow(&s.mag, (pad+a.count)*stride)
	clear(a.mag[:pad*stride])
	a.z = grow(&s.z, a.format.Limbs*stride)
	a.neg, a.ok, a.top = grow(&s.neg, stride), grow(&s.ok, stride), grow(&s.top, stride)
	a.sums = grow(&s.sums, stride)
	return a
}

// roundRow finishes entries of row i, as entry does, in the columns j + first to j + n - 1. The
// integers from column j on are in a, from number e on, where e is a multiple of rounding.Group.
// Uncertain entries are passed to entry.
func (f *finisher) roundRow(a *across, i, j, first, n int, words []int64, stride, e int) {
	padded := (n + rounding.Group - 1) / rounding.Group * rounding.Group
	rounding.Round(a.z, a.top, a.ok, a.mag[e:], stride, a.count, a.format, f.errL[i]+f.errAll, f.errR[j:], padded)
	unit := f.p.unit + f.left.exp[i] + f.p.alpha.exp
	exps, tops, oks, neg := f.right.exp[j:][:n], a.top[:n], a.ok[:n], a.neg[e:][:n]
	flip := uint64(0)
	if f.p.alpha.neg {
		flip = 1
	}
	at, step := f.c.At(i, j+first), f.c.CS
	arr := f.c.Arr
	switch {
	case arr.Kind == num.F64:
		out, z := arr.F64[0], a.z[:n]
		all := rounding.Floats(z[first:], oks[first:], tops[first:], exps[first:], unit, neg[first:], flip, n-first)
		if all && step == 1 {
			copy(out[at:][:n-first], unsafe.Slice((*float64)(unsafe.Pointer(&z[first])), n-first))
			return
		}
		for d := first; d < n; d++ {
			if oks[d] == 0 {
				f.entry(i, j+d, words, stride, e+d)
			} else {
				out[at] = math.Float64frombits(z[d])
			}
			at += step
		}
	case arr.Kind == num.F32:
		out := arr.F32
		for d := first; d < n; d++ {
			if exp := unit + exps[d] + tops[d]; oks[d] == 0 || exp < -120 || exp > 120 {
				f.entry(i, j+d, words, stride, e+d)
			} else {
				out[at] = math.Float32frombits(uint32(a.z[d]>>40) + uint32(exp+125)<<23 | uint32(neg[d]^flip)<<31)
			}
			at += step
		}
	case arr.Terms() > 1:
		f.roundExpansions(a, i, j, first, n, words, stride, e, unit, flip)
	default:
		// Neighbours are written together.
		count := n - first
		if step != 1 {
			count = 1
		}
		for d := first; d < n; d += count {
			f.storeWords(a, i, j, d, d+count, at, words, stride, e, unit, flip)
			at += step
		}
	}
}

// storeWords stores the rounded entries in columns j + first to j + last - 1 of a result in MP,
// which are contiguous from at on, for roundRow.
func (f *finisher) storeWords(a *across, i, j, first, last, at int, words []int64, stride, e int, unit int64, flip uint64) {
	arr, limbs := f.c.Arr, a.format.Limbs
	all := rounding.Exponents(arr.Exp[at:], arr.Cls[at:], a.ok[first:], a.top[first:], f.right.exp[j+first:], unit, a.neg[e+first:], flip, last-first)
	run := first
	write := func(d int) {
		if run < d {
			rounding.Significands(arr.Sig[(at+run-first)*limbs:], a.z[run:], stride, limbs, d-run)
		}
	}
	for d := first; d < last && !all; d++ {
		if a.ok[d] == 0 {
			write(d)
			f.entry(i, j+d, words, stride, e+d)
			run = d + 1
		}
	}
	write(last)
}

// roundExpansions is roundRow for expansions. It rounds first terms; every further term is the
// rounded difference of the number and the terms before, so an error of the number shifts the
// difference by as much. Therefore an expansion whose terms are all safe, and normal, is the
// expansion of every number of the enclosure. It is also the canonical expansion. The other one
// would have a term of half a unit in the last place of the term before. Such a term comes from a
// difference of at least 1 - 2^-54 of that half unit, so the tail of the term before was within
// 2^63 2^-54 + 1 of the tie, and not safe.
//
// Nothing is written before all terms are safe, because the exact pass may read old entries in
// their place.
func (f *finisher) roundExpansions(a *across, i, j, first, n int, words []int64, stride, e int, unit int64, flip uint64) {
	exps, open, neg := f.right.exp[j:][:n], a.open[:n], a.neg[e:][:n]
	clear(open)
	padded := (n + rounding.Group - 1) / rounding.Group * rounding.Group
	for t := range f.c.Arr.Terms() {
		if t > 0 {
			rounding.Remainders(a.mag[e:], a.neg[e:], a.top, rounding.Pad(1), stride, a.count, 53, padded)
			rounding.Round(a.z, a.top, a.ok, a.mag[e:], stride, a.count, a.format, f.errL[i]+f.errAll, f.errR[j:], padded)
		}
		rounding.Floats(a.z[first:], a.ok[first:], a.top[first:], exps[first:], unit, neg[first:], flip, n-first)
		out := a.terms[t*stride:][:n]
		for d := first; d < n; d++ {
			open[d] = open[d] || a.ok[d] == 0
			out[d] = math.Float64frombits(a.z[d])
		}
	}
	at, step := f.c.At(i, j+first), f.c.CS
	for d := first; d < n; d++ {
		if open[d] {
			f.entry(i, j+d, words, stride, e+d)
		} else {
			for t, out := range f.c.Arr.F64[:f.c.Arr.Terms()] {
				out[at] = a.terms[t*stride+d]
			}
		}
		at += step
	}
}
