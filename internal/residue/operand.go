package residue

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/plan"
)

// An operand is one side of a product: vectors (rows of the left factor or columns of the right
// factor) of k numbers, each vector aligned to one exponent.
type operand struct {
	mat num.Mat // row v is vector v, on both sides
	n   int     // number of vectors
	k   int     // numbers of a vector

	exp      []int64   // |x| < 2^exp[v] for all numbers of vector v
	norm     []float64 // upper bound of sum |x| 2^-exp[v]
	special  []bool    // vector v contains an infinity or NaN
	spans    []span    // numbers of vector v outside of its span are zero
	maxNorm  float64
	width    int // bits of integers that hold every vector exactly; math.MaxInt32 if too many
	specials bool
}

// summary returns the data of the operand for plans.
func (o *operand) summary() plan.Operand {
	return plan.Operand{Norm: math.Log2(o.maxNorm), Width: o.width, Terms: 1}
}

// zeroExp stands for the exponent of a zero vector.
const zeroExp = math.MinInt64 / 4

// scanBlock is the most vectors that one task scans. leastBlock is the least, two cache lines of
// numbers of vectors that are stored side by side.
const (
	scanBlock  = 64
	leastBlock = 16
)

// scanNumbers bounds the numbers that one task scans, unless leastBlock vectors have more.
const scanNumbers = 1 << 23

// scan computes exponents, norms and exact widths of the rows of m.
func scan(ctx context.Context, threads int, m num.Mat) (*operand, error) {
	o := &operand{mat: m, n: m.Rows, k: m.Cols}
	o.exp = make([]int64, o.n)
	o.norm = make([]float64, o.n)
	o.special = make([]bool, o.n)
	o.spans = make([]span, o.n)
	block := max(leastBlock, min(scanBlock, scanNumbers/max(o.k, 1)))
	blocks := (o.n + block - 1) / block
	widths := make([]int64, blocks)
	err := par.For(ctx, threads, blocks, func(_, b int) {
		v0, v1 := b*block, min(o.n, (b+1)*block)
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

// scanState is the state of scanVectors for each vector in progress.
type scanState struct {
	top, low [scanBlock]int64
	sum      [scanBlock]float64
}

// add adds a number x to vector i, where |x| <= lead 2^e < 2^e and x is a multiple of 2^low.
func (s *scanState) add(i int, lead float64, e, low int64) {
	if e > s.top[i] {
		s.sum[i] *= pow2(s.top[i] - e)
		s.top[i] = e
	}
	s.low[i] = min(s.low[i], low)
	s.sum[i] += float64(lead * pow2(e-s.top[i]))
}

// scanVectors scans the vectors v0 <= v < v1 and returns the exact width of the widest.
func (o *operand) scanVectors(v0, v1 int) (width int64) {
	switch o.mat.Arr.Kind {
	case num.F64:
		if width, ok := o.scanFloats(v0, v1); ok {
			return width
		}
	case num.MP:
		if width, ok := o.scanWords(v0, v1); ok {
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
		// Every addition and scaling has a relative error of at most 2^-53.
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

// scanLanes is the number of parts of a contiguous vector that scanFloats processes in parallel.
const scanLanes = 16

// A laneScan is a scan of one vector.
type laneScan struct {
	*modgemm.FloatScan
	kernel *modgemm.Kernel
}

func newLaneScan(k *modgemm.Kernel) laneScan { return laneScan{modgemm.NewFloatScan(scanLanes), k} }

// add adds numbers to the scan.
func (s laneScan) add(x []float64) {
	whole := len(x) / scanLanes * scanLanes
	s.Add(s.kernel, scanLanes, x, scanLanes, whole/scanLanes)
	s.Add(s.kernel, len(x)-whole, x[whole:], scanLanes, 1)
}

// total returns the largest magnitude and the sum of the magnitudes.
func (s laneScan) total() (most, sum float64) {
	for _, x := range s.Sum {
		sum += x
	}
	return slices.Max(s.Most), sum
}

// scanPart is the number of numbers that are gathered for a scan.
const scanPart = 64 * scanLanes

// scanFloats is scanVectors for binary64 numbers without infinities, NaN or subnormal numbers, and
// without sums of magnitudes that overflow. Otherwise it returns false.
func (o *operand) scanFloats(v0, v1 int) (width int64, ok bool) {
	data, k := o.mat.Arr.F64[0], modgemm.Best()
	add := func(v int, most, sum float64, low uint64) bool {
		if low == 0 || !o.scanned(v, most, sum) {
			return false
		}
		if most != 0 {
			width = max(width, o.exp[v]-(int64(low)-1023-1075))
		}
		return true
	}
	if o.mat.RS == 1 && o.mat.CS != 1 && o.mat.CS >= 0 {
		s := modgemm.NewFloatScan(v1 - v0)
		s.Add(k, v1-v0, data[o.mat.At(v0, 0):], o.mat.CS, o.k)
		for i := range v1 - v0 {
			if !add(v0+i, s.Most[i], s.Sum[i], s.Low[i]) {
				return 0, false
			}
		}
		return width, true
	}
	var room [scanPart]float64
	for v := v0; v < v1; v++ {
		s := newLaneScan(k)
		if at := o.mat.At(v, 0); o.mat.CS == 1 {
			s.add(data[at : at+o.k])
		} else {
			for h := 0; h < o.k; h += scanPart {
				part := room[:min(scanPart, o.k-h)]
				for i := range part {
					part[i] = data[at+(h+i)*o.mat.CS]
				}
				s.add(part)
			}
		}
		if most, sum := s.total(); !add(v, most, sum, slices.Min(s.Low)) {
			return 0, false
		}
	}
	return width, true
}

// scanned sets the exponent and the norm of vector v from its largest magnitude and the sum of its
// magnitudes, which have relative errors of k 2^-53 from the additions and 2^-52 of every number.
// It returns false if the sum may have overflowed or is NaN.
func (o *operand) scanned(v int, most, sum float64) bool {
	if most == 0 && sum == 0 {
		o.exp[v], o.norm[v] = zeroExp, 0
		return true
	}
	e := int64(math.Float64bits(most) >> 52)
	if sum != sum || e+int64(bits.Len(uint(o.k))) >= 0x7ff {
		return false
	}
	top := e - 1022
	// The scaling is exact.
	o.exp[v], o.norm[v] = top, math.Ldexp(sum, int(-top))*(1+float64(float64(2*o.k+8)*0x1p-53))
	return true
}

// wordExponents bounds the exponents of MP numbers that scanWords supports: as binary64 they are
// normal, and far from overflow.
const wordExponents = 900

// cutOff writes the MP numbers at, at + stride, ... to dst, truncated to binary64, and lowers low[i
// lowStride] to the exponent of the lowest bit of number i. It returns false if a number is not
// finite or beyond wordExponents.
func (o *operand) cutOff(dst []float64, low []int64, lowStride, at, stride int) bool {
	a := o.mat.Arr
	l := a.Limbs()
	for i := range dst {
		switch e := int64(a.Exp[at]); {
		case a.Cls[at].Class() == num.Zero:
			dst[i] = 0
		case a.Cls[at].Class() != num.Finite || e < -wordExponents || e > wordExponents:
			return false
		default:
			sig := a.Sig[at*l : at*l+l]
			dst[i] = math.Float64frombits(uint64(e+1022)<<52 | sig[l-1]<<1>>12)
			e -= int64(64 * l)
			for ; sig[0] == 0; sig = sig[1:] {
				e += 64
			}
			if e += int64(bits.TrailingZeros64(sig[0])); e < low[i*lowStride] {
				low[i*lowStride] = e
			}
		}
		at += stride
	}
	return true
}

// rowsAhead is the number of rows of scanLanes numbers that scanWords prefetches from contiguous
// vectors.
const rowsAhead = 4

// scanStored scans MP numbers in place, with modgemm.ScanWords. It returns false if that does not
// apply.
func (o *operand) scanStored(k *modgemm.Kernel, s *modgemm.FloatScan, low []int64, at, stride, vectors, columns, ahead int) bool {
	return stride >= 0 && modgemm.HasWordScan(k) && modgemm.ScanWords(k, s, low, o.words(), at, stride, vectors, columns, ahead)
}

// scanWords is scanVectors for MP numbers with exponents within wordExponents, without infinities
// or NaN. Otherwise it returns false. It scans the numbers truncated to binary64.
func (o *operand) scanWords(v0, v1 int) (width int64, ok bool) {
	k := modgemm.Best()
	var room [scanPart]float64
	var low [scanBlock]int64
	add := func(v int, most, sum float64, low int64) bool {
		if !o.scanned(v, most, sum) {
			return false
		}
		if most != 0 {
			width = max(width, o.exp[v]-low)
		}
		return true
	}
	none := func() {
		for i := range low {
			low[i] = math.MaxInt64
		}
	}
	if n := v1 - v0; o.mat.RS == 1 {
		s := modgemm.NewFloatScan(n)
		none()
		if !o.scanStored(k, s, low[:], o.mat.At(v0, 0), o.mat.CS, n, o.k, columnsAhead*o.mat.CS) {
			s = modgemm.NewFloatScan(n)
			none()
			for h := range o.k {
				if !o.cutOff(room[:n], low[:], 1, o.mat.At(v0, h), 1) {
					return 0, false
				}
				s.Add(k, n, room[:n], n, 1)
			}
		}
		for i := range n {
			if !add(v0+i, s.Most[i], s.Sum[i], low[i]) {
				return 0, false
			}
		}
		return width, true
	}
	for v := v0; v < v1; v++ {
		s := newLaneScan(k)
		none()
		whole := o.k / scanLanes
		at := o.mat.At(v, 0)
		if o.mat.CS == 1 && o.scanStored(k, s.FloatScan, low[:], at, scanLanes, scanLanes, whole, rowsAhead*scanLanes) &&
			o.scanStored(k, s.FloatScan, low[:], at+whole*scanLanes, 0, o.k-whole*scanLanes, 1, 0) {
			low[0] = slices.Min(low[:scanLanes])
		} else {
			s, low[0] = newLaneScan(k), math.MaxInt64
			for h := 0; h < o.k; h += scanPart {
				part := room[:min(scanPart, o.k-h)]
				if !o.cutOff(part, low[:], 0, o.mat.At(v, h), o.mat.CS) {
					return 0, false
				}
				s.add(part)
			}
		}
		if most, sum := s.total(); !add(v, most, sum, low[0]) {
			return 0, false
		}
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

// pow2 returns 2^e for e <= 0, but at least 2^-1000.
func pow2(e int64) float64 {
	return math.Float64frombits(uint64(max(e, -1000)+1023) << 52)
}
