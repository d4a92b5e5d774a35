package exact

import (
	"context"
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/plan"
)

// An operand is one side of a product: vectors (rows of the left factor, columns
// of the right one) of k numbers, each aligned to one exponent.
type operand struct {
	mat num.Mat // row v is vector v, whatever the side
	n   int     // vectors
	k   int     // numbers a vector

	exp      []int64   // |x| < 2^exp[v] for all numbers of vector v
	norm     []float64 // upper bound of sum |x| 2^-exp[v]
	special  []bool    // vector v holds an infinity or NaN
	spans    []span    // numbers of vector v outside of its span are zeros
	maxNorm  float64
	width    int // bits of integers that hold every vector exactly; math.MaxInt32 if too many
	specials bool
}

// summary returns what plans need to know of the operand.
func (o *operand) summary() plan.Operand {
	return plan.Operand{Norm: math.Log2(o.maxNorm), Width: o.width, Terms: 1}
}

// zeroExp stands for the exponent of a vector of zeros.
const zeroExp = math.MinInt64 / 4

// scanBlock is the number of vectors that one task scans.
const scanBlock = 64

// scan finds exponents, norms and exact widths of the rows of m.
func scan(ctx context.Context, threads int, m num.Mat) (*operand, error) {
	o := &operand{mat: m, n: m.Rows, k: m.Cols}
	o.exp = make([]int64, o.n)
	o.norm = make([]float64, o.n)
	o.special = make([]bool, o.n)
	o.spans = make([]span, o.n)
	blocks := (o.n + scanBlock - 1) / scanBlock
	widths := make([]int64, blocks)
	err := par.For(ctx, threads, blocks, func(_, b int) {
		v0, v1 := b*scanBlock, min(o.n, (b+1)*scanBlock)
		widths[b] = o.scanVectors(v0, v1)
		o.spanVectors(v0, v1)
	})
	if err != nil {
		return nil, err
	}
	var width int64
	for _, w := range widths {
		width = max(width, w)
	}
	o.width = int(min(width, math.MaxInt32))
	for v, x := range o.norm {
		o.maxNorm = max(o.maxNorm, x)
		o.specials = o.specials || o.special[v]
	}
	return o, nil
}

// scanState is what scanVectors keeps of each vector under way.
type scanState struct {
	top, low [scanBlock]int64
	sum      [scanBlock]float64
}

// add takes in a number x of vector i with |x| <= lead 2^e < 2^e and x a
// multiple of 2^low.
func (s *scanState) add(i int, lead float64, e, low int64) {
	if e > s.top[i] {
		s.sum[i] *= pow2(s.top[i] - e)
		s.top[i] = e
	}
	s.low[i] = min(s.low[i], low)
	s.sum[i] += float64(lead * pow2(e-s.top[i]))
}

// scanVectors handles the vectors v0 <= v < v1 and returns the exact width of
// the widest.
func (o *operand) scanVectors(v0, v1 int) (width int64) {
	if o.mat.Arr.Kind == num.F64 {
		if width, ok := o.scanFloats(v0, v1); ok {
			return width
		}
	}
	s := new(scanState)
	for i := range v1 - v0 {
		s.top[i], s.low[i] = zeroExp, math.MaxInt64
	}
	scanColumn := o.scanAny
	switch o.mat.Arr.Kind {
	case num.MP:
		scanColumn = o.scanMP
	case num.F64:
		scanColumn = o.scanF64
	}
	for h := range o.k {
		scanColumn(s, v0, v1, h)
	}
	for i := range v1 - v0 {
		o.exp[v0+i] = s.top[i]
		// Every addition and scaling errs by at most 2^-53 relatively.
		o.norm[v0+i] = s.sum[i] * (1 + float64(float64(2*o.k+4)*0x1p-53))
		if s.low[i] != math.MaxInt64 {
			width = max(width, s.top[i]-s.low[i])
		}
	}
	return width
}

func (o *operand) scanMP(s *scanState, v0, v1, h int) {
	a := o.mat.Arr
	l := a.Limbs()
	at := o.mat.At(v0, h)
	for i := range v1 - v0 {
		switch a.Cls[at].Class() {
		case num.Finite:
			sig := a.Sig[at*l : at*l+l]
			low := 0
			for sig[low] == 0 {
				low++
			}
			e := int64(a.Exp[at])
			// The leading 52 bits and one unit.
			lead := float64(sig[l-1]>>12+1) * 0x1p-52
			s.add(i, lead, e, e-int64(64*(l-low))+int64(bits.TrailingZeros64(sig[low])))
		case num.Inf, num.NaN:
			o.special[v0+i] = true
		}
		at += o.mat.RS
	}
}

func (o *operand) scanF64(s *scanState, v0, v1, h int) {
	data := o.mat.Arr.F64[0]
	at := o.mat.At(v0, h)
	for i := range v1 - v0 {
		x := data[at]
		at += o.mat.RS
		b := math.Float64bits(x)
		e := int64(b >> 52 & 0x7ff)
		switch {
		case e == 0x7ff:
			o.special[v0+i] = true
		case e == 0:
			if m := b & (1<<52 - 1); m != 0 {
				n := int64(bits.Len64(m))
				s.add(i, float64(m)*pow2(-n), n-1074, int64(bits.TrailingZeros64(m))-1074)
			}
		default:
			m := b&(1<<52-1) | 1<<52
			s.add(i, float64(m)*0x1p-53, e-1022, e-1075+int64(bits.TrailingZeros64(m)))
		}
	}
}

// A floatScan is what scanFloats keeps of a vector: the largest magnitude's bits, the sum of
// magnitudes, and the least exponent, plus 1075, of a power of two that divides all numbers.
type floatScan struct {
	most uint64
	sum  float64
	low  int64
}

// lower lowers low to what divides the number of magnitude b, whose exponent, plus 1075, is less.
func (s *floatScan) lower(b uint64) {
	if b != 0 {
		m, e := b&(1<<52-1), int64(b>>52)
		if e == 0 {
			e = 1
		} else {
			m |= 1 << 52
		}
		s.low = min(s.low, e+int64(bits.TrailingZeros64(m)))
	}
}

// scanFloats is scanVectors for binary64 where there are neither infinities nor NaN, nor sums of
// magnitudes that overflow. Otherwise it returns false.
func (o *operand) scanFloats(v0, v1 int) (width int64, ok bool) {
	data := o.mat.Arr.F64[0]
	const abs = 1<<63 - 1
	var room [scanBlock]floatScan
	state := room[:v1-v0]
	for i := range state {
		state[i].low = math.MaxInt32
	}
	if o.mat.CS == 1 {
		for i := range state {
			s := &state[i]
			at := o.mat.At(v0+i, 0)
			most, low := uint64(0), s.low
			var sum [2]float64
			for h, x := range data[at : at+o.k] {
				b := math.Float64bits(x) & abs
				most = max(most, b)
				if int64(b>>52) < low {
					s.lower(b)
					low = s.low
				}
				sum[h&1] += math.Float64frombits(b)
			}
			s.most, s.sum = most, sum[0]+sum[1]
		}
	} else {
		for h := range o.k {
			at := o.mat.At(v0, h)
			for i := range state {
				s := &state[i]
				b := math.Float64bits(data[at]) & abs
				at += o.mat.RS
				s.most = max(s.most, b)
				if int64(b>>52) < s.low {
					s.lower(b)
				}
				s.sum += math.Float64frombits(b)
			}
		}
	}
	for i, s := range state {
		e := int64(s.most >> 52)
		if e+int64(bits.Len(uint(o.k))) >= 0x7ff {
			return 0, false
		}
		v := v0 + i
		if s.most == 0 {
			o.exp[v], o.norm[v] = zeroExp, 0
			continue
		}
		top := e - 1022
		if e == 0 {
			top = int64(bits.Len64(s.most)) - 1074
		}
		// Every addition errs by at most 2^-53 relatively; the scaling is exact.
		o.exp[v], o.norm[v] = top, math.Ldexp(s.sum, int(-top))*(1+float64(float64(2*o.k+4)*0x1p-53))
		width = max(width, top-(s.low-1075))
	}
	return width, true
}

func (o *operand) scanAny(s *scanState, v0, v1, h int) {
	for i := range v1 - v0 {
		c, top, low := o.mat.Arr.Span(o.mat.At(v0+i, h))
		switch c {
		case num.Finite:
			s.add(i, 1, top, low)
		case num.Inf, num.NaN:
			o.special[v0+i] = true
		}
	}
}

// pow2 returns 2^e for e <= 0, or 2^-1000 if that is more.
func pow2(e int64) float64 {
	return math.Float64frombits(uint64(max(e, -1000)+1023) << 52)
}
