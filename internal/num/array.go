package num

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/halfulp/halfulp/internal/hugepage"
)

// Class is the class of a number. The zero value is Zero, so zeroed memory holds +0.
type Class uint8

// The classes. Of two addends with different classes, the larger class is the class of the sum.
const (
	Zero Class = iota
	Finite
	Inf
	NaN
)

// Cls packs sign and class of an MP number: bit 0 the sign, the rest the class.
type Cls uint8

// MakeCls packs a sign and a class. NaN has no sign.
func MakeCls(neg bool, c Class) Cls {
	sign := Cls(0)
	if neg { // no branch
		sign = 1
	}
	if c == NaN {
		sign = 0
	}
	return Cls(c)<<1 | sign
}

// FiniteCls returns MakeCls of a finite number with the given sign, 0 or 1. It has no branch,
// because a branch would be mispredicted half of the time.
func FiniteCls(sign uint64) Cls { return Cls(Finite)<<1 | Cls(sign) }

// Sign returns 1 for Neg and 0 otherwise. Like FiniteCls it has no branch.
func (c Cls) Sign() uint64 { return uint64(c & 1) }

// Class returns the class.
func (c Cls) Class() Class { return Class(c >> 1) }

// Neg reports the sign bit.
func (c Cls) Neg() bool { return c&1 != 0 }

// Array stores numbers of one format as a structure of arrays.
type Array struct {
	Format
	F32 []float32    // F32: the numbers
	F64 [4][]float64 // F64, DD, TD, QD: term t of number i is F64[t][i]

	// MP: number i is (-1)^s 0.S 2^Exp[i], S the Limbs() words
	// Sig[i*L : (i+1)*L], least significant first, top bit of the last word
	// set if Cls[i] is finite; bits below the precision are zero.
	Sig []uint64
	Exp []int32
	Cls []Cls

	// Away holds the numbers of an array that lives outside the host's memory, see package place.
	// The slices above are then nil.
	Away Storage
}

// Storage holds the numbers of an array that lives outside the host's memory.
type Storage interface {
	Len() int    // returns how many numbers there are
	Free()       // gives the memory back; further calls do nothing
	Freed() bool // reports whether Free was called
}

// TooMany is the panic value of New and of functions that make larger shapes.
const TooMany = "halfulp: more numbers than an int counts"

// New returns an array of n numbers, all +0. It panics if the number of words overflows an int.
func New(f Format, n int) *Array {
	if n > (math.MaxInt-32)/max(f.Terms(), f.Limbs(), 1) { // 32: the distance between terms below
		panic(TooMany)
	}
	a := &Array{Format: f}
	switch f.Kind {
	case F32:
		a.F32 = make([]float32, n)
	case MP:
		a.Sig = make([]uint64, n*f.Limbs())
		hugepage.Large(a.Sig)
		a.Exp = make([]int32, n)
		a.Cls = make([]Cls, n)
	default:
		// The terms lie at equal distances, see Words. The distances are not multiples of a page,
		// because the terms would then compete for the same cache lines.
		d := n
		if d > 0 && d%256 == 0 {
			d += 8
		}
		all := make([]float64, f.Terms()*d)
		hugepage.Large(all)
		for t := range f.Terms() {
			a.F64[t] = all[t*d : t*d+n : t*d+n]
		}
	}
	return a
}

// Words describes the memory of number i in an array of F64, DD, TD or QD. It returns the address
// of the first term and the distance in bytes from each term to the next, or no address if the
// distances differ.
func (a *Array) Words(i int) (first *float64, stride int) {
	first = &a.F64[0][i]
	last := first
	for t := 1; t < a.Terms(); t++ {
		p := &a.F64[t][i]
		d := int(uintptr(unsafe.Pointer(p)) - uintptr(unsafe.Pointer(last)))
		if t > 1 && d != stride {
			return nil, 0
		}
		last, stride = p, d
	}
	return first, stride
}

// Len returns how many numbers the array holds.
func (a *Array) Len() int {
	if a.Away != nil {
		return a.Away.Len()
	}
	switch a.Kind {
	case F32:
		return len(a.F32)
	case MP:
		return len(a.Exp)
	}
	return len(a.F64[0])
}

// Slice returns the numbers lo <= i < hi of a, which share its storage.
func (a *Array) Slice(lo, hi int) *Array {
	b := &Array{Format: a.Format}
	switch a.Kind {
	case F32:
		b.F32 = a.F32[lo:hi]
	case MP:
		l := a.Limbs()
		b.Sig, b.Exp, b.Cls = a.Sig[lo*l:hi*l], a.Exp[lo:hi], a.Cls[lo:hi]
	default:
		for t := range a.Terms() {
			b.F64[t] = a.F64[t][lo:hi]
		}
	}
	return b
}

// SizeOf returns the bytes that one number of format f takes.
func SizeOf(f Format) int64 {
	switch f.Kind {
	case F32:
		return 4
	case MP:
		return int64(8*f.Limbs() + 5)
	}
	return int64(8 * f.Terms())
}

// CopyFrom sets number i of a to number j of b, of the same format.
func (a *Array) CopyFrom(i int, b *Array, j int) {
	switch a.Kind {
	case F32:
		a.F32[i] = b.F32[j]
	case MP:
		l := a.Limbs()
		copy(a.Sig[i*l:(i+1)*l], b.Sig[j*l:(j+1)*l])
		a.Exp[i], a.Cls[i] = b.Exp[j], b.Cls[j]
	default:
		for t := range a.Terms() {
			a.F64[t][i] = b.F64[t][j]
		}
	}
}

// CopyRun is CopyFrom for n adjacent numbers. If n is 0, i may be beyond the end, as it is for the
// columns of a matrix without rows.
func (a *Array) CopyRun(i int, b *Array, j, n int) {
	if n == 0 {
		return
	}
	switch a.Kind {
	case F32:
		copy(a.F32[i:i+n], b.F32[j:j+n])
	case MP:
		l := a.Limbs()
		copy(a.Sig[i*l:(i+n)*l], b.Sig[j*l:(j+n)*l])
		copy(a.Exp[i:i+n], b.Exp[j:j+n])
		copy(a.Cls[i:i+n], b.Cls[j:j+n])
	default:
		for t := range a.Terms() {
			copy(a.F64[t][i:i+n], b.F64[t][j:j+n])
		}
	}
}

// Negate changes the sign of number i, which is not NaN.
func (a *Array) Negate(i int) {
	switch a.Kind {
	case F32:
		a.F32[i] = -a.F32[i]
		return
	case MP:
		a.Cls[i] ^= 1
		return
	}
	a.F64[0][i] = -a.F64[0][i]
	for t := 1; t < a.Terms(); t++ {
		if x := a.F64[t][i]; x != 0 { // there is no -0 after the first term
			a.F64[t][i] = -x
		}
	}
}

// SameBits reports whether number i of a and number j of b, of the same
// format, are stored alike, bit for bit.
func (a *Array) SameBits(i int, b *Array, j int) bool {
	switch a.Kind {
	case F32:
		return math.Float32bits(a.F32[i]) == math.Float32bits(b.F32[j])
	case MP:
		if a.Cls[i] != b.Cls[j] {
			return false
		}
		if a.Cls[i].Class() != Finite {
			return true
		}
		if a.Exp[i] != b.Exp[j] {
			return false
		}
		l := a.Limbs()
		for k := range l {
			if a.Sig[i*l+k] != b.Sig[j*l+k] {
				return false
			}
		}
		return true
	}
	for t := range a.Terms() {
		if math.Float64bits(a.F64[t][i]) != math.Float64bits(b.F64[t][j]) {
			return false
		}
	}
	return true
}

// WellFormed reports whether number i is stored as its format requires. It is meant for numbers
// that come from elsewhere. A number is well formed if Set would store its value so. The
// significand and the exponent of an MP number that is not finite must be 0.
func (a *Array) WellFormed(i int) bool {
	switch a.Kind {
	case MP:
		c, l := a.Cls[i], a.Limbs()
		sig := a.Sig[i*l : (i+1)*l]
		switch {
		case c > MakeCls(false, NaN):
			return false
		case c.Class() != Finite:
			return IsZero(sig) && a.Exp[i] == 0
		}
		return sig[l-1]>>63 != 0 && TrailingZeros(sig) >= 64*l-int(a.Prec)
	case F32:
		x := a.F32[i]
		return x == x || math.Float32bits(x) == math.Float32bits(float32(math.NaN()))
	case F64:
		x := a.F64[0][i]
		return x == x || math.Float64bits(x) == math.Float64bits(math.NaN())
	}
	var terms [4]float64
	test := Array{Format: a.Format}
	for t := range a.Terms() {
		test.F64[t] = terms[t : t+1]
	}
	var buf [MaxValueWords]uint64
	test.Set(0, a.Value(i, buf[:]))
	return test.SameBits(0, a, i)
}

// Real is an exact number: (-1)^Neg Mag 2^Exp if Class is Finite. Mag is an integer of
// little-endian words, which need not be normalised but is not zero. If Sticky is set, the true
// magnitude lies strictly between Mag and Mag + 1, in units of 2^Exp.
type Real struct {
	Class  Class
	Neg    bool
	Sticky bool
	Exp    int64
	Mag    []uint64
}

// MaxValueWords is the number of words that Value needs for numbers that are not MP. A sum of four
// binary64 numbers spans at most 2098 bits and two bits of carry.
const MaxValueWords = 34

// ValueWords returns the words of scratch that Value needs for format f.
func ValueWords(f Format) int {
	switch f.Kind {
	case MP:
		return 0
	case F32, F64:
		return 1
	}
	return MaxValueWords
}

// Value returns number i exactly. Mag is a view of the array for MP, else it
// lies in buf, which has at least ValueWords(a.Format) words.
func (a *Array) Value(i int, buf []uint64) Real {
	switch a.Kind {
	case F32:
		return float64Value(float64(a.F32[i]), buf)
	case F64:
		return float64Value(a.F64[0][i], buf)
	case MP:
		c, l := a.Cls[i], a.Limbs()
		return Real{Class: c.Class(), Neg: c.Neg(), Exp: int64(a.Exp[i]) - int64(64*l), Mag: a.Sig[i*l : (i+1)*l]}
	}
	return a.expansionValue(i, buf)
}

// Decompose returns m and e with |x| = m 2^e for finite x, m = 0 for zero.
func Decompose(x float64) (m uint64, e int64) {
	b := math.Float64bits(x)
	m = b & (1<<52 - 1)
	e = int64(b >> 52 & 0x7ff)
	if e == 0 {
		return m, -1074
	}
	return m | 1<<52, e - 1075
}

func float64Value(x float64, buf []uint64) Real {
	neg := math.Signbit(x)
	switch {
	case x != x:
		return Real{Class: NaN}
	case math.IsInf(x, 0):
		return Real{Class: Inf, Neg: neg}
	case x == 0:
		return Real{Class: Zero, Neg: neg}
	}
	m, e := Decompose(x)
	buf[0] = m
	return Real{Class: Finite, Neg: neg, Exp: e, Mag: buf[:1]}
}

// expansionValue adds the terms of an expansion exactly. A NaN term or
// infinities of both signs make NaN, else an infinite term makes Inf.
func (a *Array) expansionValue(i int, buf []uint64) Real {
	n := a.Terms()
	hi := a.F64[0][i]
	low, top := int64(math.MaxInt64), int64(math.MinInt64)
	var special float64
	var terms [4]struct {
		m uint64
		e int64
	}
	for t := range n {
		x := a.F64[t][i]
		if x-x != 0 { // Inf or NaN
			special += x
		}
		if x == 0 {
			continue
		}
		m, e := Decompose(x)
		terms[t].m, terms[t].e = m, e
		low = min(low, e)
		top = max(top, e+int64(bits.Len64(m)))
	}
	switch {
	case special != special:
		return Real{Class: NaN}
	case special != 0:
		return Real{Class: Inf, Neg: special < 0}
	case top == math.MinInt64:
		return Real{Class: Zero, Neg: math.Signbit(hi)}
	}
	// Two's complement sum at weight 2^low; two bits of room for four terms
	// and one for the sign.
	words := int(top-low+3+63) / 64
	sum := buf[:words]
	clear(sum)
	for t, v := range terms[:n] {
		if v.m == 0 {
			continue
		}
		w, s := int(v.e-low)/64, uint(v.e-low)%64
		lo, hi := v.m<<s, v.m>>1>>(63-s)
		var c uint64
		if a.F64[t][i] > 0 {
			sum[w], c = bits.Add64(sum[w], lo, 0)
			for w++; w < words && hi|c != 0; w++ {
				sum[w], c = bits.Add64(sum[w], hi, c)
				hi = 0
			}
			continue
		}
		sum[w], c = bits.Sub64(sum[w], lo, 0)
		for w++; w < words && hi|c != 0; w++ {
			sum[w], c = bits.Sub64(sum[w], hi, c)
			hi = 0
		}
	}
	r := Real{Class: Finite, Exp: low, Mag: sum}
	if int64(sum[words-1]) < 0 {
		r.Neg = true
		Negate(sum)
	}
	if IsZero(sum) {
		return Real{Class: Zero}
	}
	return r
}

// Class returns the class of number i. The class of an expansion is the class of its first term.
func (a *Array) Class(i int) Class {
	var x float64
	switch a.Kind {
	case MP:
		return a.Cls[i].Class()
	case F32:
		x = float64(a.F32[i])
	default:
		x = a.F64[0][i]
	}
	switch {
	case x != x:
		return NaN
	case x == 0:
		return Zero
	case x-x != 0:
		return Inf
	}
	return Finite
}

// Span returns the class of number i. If the number is finite, Span also returns top and low such
// that |x| < 2^top and x is a multiple of 2^low.
func (a *Array) Span(i int) (c Class, top, low int64) {
	switch a.Kind {
	case F32:
		return spanFloat64(float64(a.F32[i]))
	case F64:
		return spanFloat64(a.F64[0][i])
	case MP:
		c = a.Cls[i].Class()
		if c != Finite {
			return c, 0, 0
		}
		l := a.Limbs()
		e := int64(a.Exp[i])
		for k, w := range a.Sig[i*l : (i+1)*l] {
			if w != 0 {
				return c, e, e - int64(64*(l-k)) + int64(bits.TrailingZeros64(w))
			}
		}
		return Zero, 0, 0
	}
	var buf [MaxValueWords]uint64
	r := a.expansionValue(i, buf[:])
	if r.Class != Finite {
		return r.Class, 0, 0
	}
	return Finite, r.Exp + int64(BitLen(r.Mag)), r.Exp + int64(TrailingZeros(r.Mag))
}

// Leading returns x and e such that x 2^e is close to number i, to about 50 bits, and 1/2 <= |x| <
// 1 approximately. For zeros, infinities and NaN, x is 0.
func (a *Array) Leading(i int) (x float64, e int64) {
	switch a.Kind {
	case MP:
		c := a.Cls[i]
		if c.Class() != Finite {
			return 0, 0
		}
		l := a.Limbs()
		x = float64(a.Sig[i*l+l-1]>>11) * 0x1p-53
		if c.Neg() {
			x = -x
		}
		return x, int64(a.Exp[i])
	case F32:
		x = float64(a.F32[i])
	default:
		x = a.F64[0][i]
	}
	b := math.Float64bits(x)
	switch n := int64(b >> 52 & 0x7ff); n {
	case 0: // 0, or subnormal
		f, n := math.Frexp(x)
		return f, int64(n)
	case 0x7ff:
		return 0, 0
	default:
		return math.Float64frombits(b&^(0x7ff<<52) | 1022<<52), n - 1022
	}
}

func spanFloat64(x float64) (c Class, top, low int64) {
	if x-x != 0 {
		if x != x {
			return NaN, 0, 0
		}
		return Inf, 0, 0
	}
	if x == 0 {
		return Zero, 0, 0
	}
	m, e := Decompose(x)
	return Finite, e + int64(bits.Len64(m)), e + int64(bits.TrailingZeros64(m))
}

// Overlaps reports whether a and b share storage.
func (a *Array) Overlaps(b *Array) bool {
	if a.Away != nil || b.Away != nil {
		return a.Away == b.Away
	}
	if a.Kind == MP || b.Kind == MP || a.Kind == F32 || b.Kind == F32 {
		return a.Format.Kind == b.Format.Kind && (overlap(a.Exp, b.Exp) || overlap(a.F32, b.F32))
	}
	for _, x := range a.F64 {
		for _, y := range b.F64 {
			if overlap(x, y) {
				return true
			}
		}
	}
	return false
}

// overlap reports whether x and y have an element in common.
func overlap[T any](x, y []T) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	size := unsafe.Sizeof(x[0])
	x0, y0 := uintptr(unsafe.Pointer(&x[0])), uintptr(unsafe.Pointer(&y[0]))
	return x0 < y0+size*uintptr(len(y)) && y0 < x0+size*uintptr(len(x))
}
