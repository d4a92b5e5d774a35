package exact

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/rounding"
)

// across holds what rounding many numbers at a time needs, for the plain expression (-1)^s 2^e A B
// in MP, Float64 or Float32.
type across struct {
	format rounding.Format
	count  int      // words of an integer
	mag    []uint64 // above rounding.Pad rows of zeros
	neg    []uint64
	z      []uint64
	top    []int64
	ok     []uint64
}

// across reports whether results are rounded many at a time: not where they hold far more bits than
// the integers.
func (p *product) across(w *weights) bool {
	f := p.c.Arr.Format
	return p.alpha.pow && (p.beta.zero || p.within != nil) && (f.Kind == num.F64 || f.Kind == num.F32 || f.Kind == num.MP && f.Limbs() <= 2*w.mod.Count()+4)
}

// newAcross returns what it needs for rows of so many numbers, in s.
func newAcross(f num.Format, m *rounding.Modulus, stride int, s *scratch) *across {
	a := &across{format: rounding.FormatOf(f.Bits()), count: m.Count()}
	pad := rounding.Pad(a.format.Limbs)
	a.mag = grow(&s.mag, (pad+a.count)*stride)
	clear(a.mag[:pad*stride])
	a.z = grow(&s.z, a.format.Limbs*stride)
	a.neg, a.ok, a.top = grow(&s.neg, stride), grow(&s.ok, stride), grow(&s.top, stride)
	return a
}

// roundRow finishes n entries of row i from column j on like entry. Their integers lie in a, from
// number e on. What is not certain goes to entry.
func (f *finisher) roundRow(a *across, i, j, n int, words []int64, stride, e int) {
	padded := (n + rounding.Group - 1) / rounding.Group * rounding.Group
	rounding.Round(a.z, a.top, a.ok, a.mag[e:], stride, a.count, a.format, f.errL[i]+f.errAll, f.errR[j:], padded)
	unit := f.p.unit + f.left.exp[i] + f.p.alpha.exp
	exps, tops, oks, neg := f.right.exp[j:][:n], a.top[:n], a.ok[:n], a.neg[e:][:n]
	flip := uint64(0)
	if f.p.alpha.neg {
		flip = 1
	}
	at, step := f.c.At(i, j)-f.c.CS, f.c.CS
	arr, limbs := f.c.Arr, a.format.Limbs
	switch arr.Kind {
	case num.F64:
		out := arr.F64[0]
		for d, z := range a.z[:n] {
			at += step
			exp := unit + exps[d] + tops[d]
			if oks[d] == 0 || exp < -1000 || exp > 1000 {
				f.entry(i, j+d, words, stride, e+d)
				continue
			}
			// The leading bit goes into the exponent.
			out[at] = math.Float64frombits(z>>11 + uint64(exp+1021)<<52 | (neg[d]^flip)<<63)
		}
		return
	case num.F32:
		out := arr.F32
		for d, z := range a.z[:n] {
			at += step
			exp := unit + exps[d] + tops[d]
			if oks[d] == 0 || exp < -120 || exp > 120 {
				f.entry(i, j+d, words, stride, e+d)
				continue
			}
			out[at] = math.Float32frombits(uint32(z>>40) + uint32(exp+125)<<23 | uint32(neg[d]^flip)<<31)
		}
		return
	}
	for d := range n {
		at += step
		exp := unit + exps[d] + tops[d]
		if oks[d] == 0 || exp > math.MaxInt32-2 || exp < math.MinInt32+2 {
			f.entry(i, j+d, words, stride, e+d)
			continue
		}
		sig := arr.Sig[at*limbs:][:limbs]
		from := d
		for k := range sig {
			sig[k] = a.z[from]
			from += stride
		}
		arr.Exp[at], arr.Cls[at] = int32(exp), num.MakeCls((neg[d]^flip)&1 != 0, num.Finite)
	}
}
