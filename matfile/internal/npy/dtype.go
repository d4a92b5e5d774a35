package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
)

// The byte orders.
var littleEndian, bigEndian binary.ByteOrder = binary.LittleEndian, binary.BigEndian

// dtype is a NumPy type of numbers.
type dtype struct {
	order binary.ByteOrder
	kind  byte // f floating point, i and u integers, b booleans
	size  int  // bytes a number
	quad  bool // 16-byte numbers are IEEE binary128, not long doubles of x86
}

// parseDtype reads the name of a type, such as '<f8'.
func parseDtype(descr string) (d dtype, err error) {
	s := strings.Trim(descr, `'"`)
	refused := func(what string) error {
		return fmt.Errorf("the array has NumPy type %.40q%s: only arrays of integers, booleans and real floating-point numbers can be read", s, what)
	}
	if strings.HasPrefix(s, "[") {
		return d, refused(", which has fields")
	}
	if len(s) < 2 {
		return d, refused("")
	}
	d.kind = s[1]
	if what, ok := map[byte]string{
		'c': ", which is complex", 'O': ", which holds Python objects", 'U': ", which holds text", 'S': ", which holds text",
		'M': ", which holds dates", 'm': ", which holds durations", 'V': ", which holds plain bytes",
	}[d.kind]; ok {
		return d, refused(what)
	}
	if d.size, err = strconv.Atoi(s[2:]); err != nil {
		return d, refused("")
	}
	switch s[0] {
	case '<':
		d.order = littleEndian
	case '>':
		d.order = bigEndian
	case '|': // a byte has no order
		d.order = littleEndian
		if d.size != 1 {
			return d, refused("")
		}
	default:
		return d, refused("")
	}
	if !slices.Contains(map[byte][]int{'f': {2, 4, 8, 12, 16}, 'i': {1, 2, 4, 8}, 'u': {1, 2, 4, 8}, 'b': {1}}[d.kind], d.size) {
		return d, refused("")
	}
	return d, nil
}

// value returns number k of data exactly. Its Mag is stored in buf, which has two words.
func (d dtype) value(data []byte, k int, buf []uint64) (num.Real, error) {
	b := data[k*d.size : (k+1)*d.size]
	switch {
	case d.quad:
		return d.quadNumber(b, buf), nil
	case d.size > 8:
		return d.longDouble(b, buf)
	case d.kind == 'f' && d.size == 8:
		x := math.Float64frombits(d.order.Uint64(b))
		return binaryFloat(math.Signbit(x), math.Float64bits(x)<<1>>1, 52, buf), nil
	case d.kind == 'f' && d.size == 4:
		x := d.order.Uint32(b)
		return binaryFloat(x>>31 != 0, uint64(x<<1>>1), 23, buf), nil
	case d.kind == 'f':
		x := d.order.Uint16(b)
		return binaryFloat(x>>15 != 0, uint64(x&0x7fff), 10, buf), nil
	}
	var x uint64
	switch d.size {
	case 1:
		x = uint64(b[0])
	case 2:
		x = uint64(d.order.Uint16(b))
	case 4:
		x = uint64(d.order.Uint32(b))
	case 8:
		x = d.order.Uint64(b)
	}
	neg := false
	switch d.kind {
	case 'b':
		x = min(x, 1)
	case 'i':
		shift := 64 - 8*d.size
		if y := int64(x<<shift) >> shift; y < 0 {
			neg, x = true, -uint64(y)
		}
	}
	buf[0] = x
	return num.Real{Class: num.Finite, Neg: neg, Mag: buf[:1]}, nil
}

// widths maps the fraction bits of an IEEE 754 format to its exponent bits.
var widths = map[int]int{10: 5, 23: 8, 52: 11}

// binaryFloat returns the number of an IEEE 754 format with the given sign and other bits x.
func binaryFloat(neg bool, x uint64, fraction int, buf []uint64) num.Real {
	top := uint64(1)<<widths[fraction] - 1
	bias := int64(top/2) + int64(fraction)
	m, e := x&(1<<fraction-1), x>>fraction
	switch {
	case e == top && m != 0:
		return num.Real{Class: num.NaN}
	case e == top:
		return num.Real{Class: num.Inf, Neg: neg}
	case e == 0 && m == 0:
		return num.Real{Neg: neg}
	case e == 0:
		e = 1
	default:
		m |= 1 << fraction
	}
	buf[0] = m
	return num.Real{Class: num.Finite, Neg: neg, Exp: int64(e) - bias, Mag: buf[:1]}
}

// NumPy uses one name for three types: 80-bit numbers of x86 in 16 bytes, whose last 6 bytes are
// arbitrary, IEEE binary128, and sums of two doubles.
var (
	errLong = errors.New("the array has NumPy type float128, but not the 80-bit numbers of x86: IEEE binary128 is read where --in mp:113 says so, " +
		"other types are not")
	errNoQuad  = errors.New("--in mp:113 means that the NumPy type float128 is IEEE binary128: the array has the 80-bit numbers of x86")
	errUnclear = errors.New("the array has NumPy type float128, and does not tell whether its numbers are the 80-bit ones of x86 or IEEE binary128: " +
		"--in mp:64 or --in mp:113 does")
)

// The precisions of a requested MP format that determine the meaning of NumPy's type float128.
const x86Bits, quadBits = 64, 113

// doubleRange bounds the exponents of doubles. A number with such an exponent is likely to be a
// number of x86.
const doubleRange = 1100

// longs are properties of an array of long doubles in 16 bytes.
type longs struct {
	invalid bool // some are no numbers of x86
	normal  bool // some are normal numbers of x86
	small   bool // some are numbers of x86 other than 0 that are not normal
	far     bool // some are normal numbers of x86 beyond the range of doubles

	quadTiny  bool // some of the normal ones would be 0, NaN or below 2^-16382 as binary128
	quadLarge bool // some would be at least 2^-16382 as binary128
	quadFar   bool // some would be beyond the range of doubles as binary128

	// pairs are some exponents and significands of normal numbers of x86, exponents are the
	// exponents in them.
	pairs     map[[2]uint64]bool
	exponents map[uint16]bool
}

// enough is the number of different numbers that decide their type. A binary128 number passes for a
// likely number of x86 by chance in one of 30 cases: bit 63 must be set, and the 15 bits after it
// must be an exponent near the exponent of 1.
const enough = 8

// look returns the properties of long doubles in 16 bytes.
func (a *array) look() (l longs) {
	l.pairs, l.exponents = map[[2]uint64]bool{}, map[uint16]bool{}
	var before [2]uint64
	for k := range len(a.data) / 16 {
		b := a.data[16*k : 16*k+16]
		m, e, last := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint16(b[8:]), binary.LittleEndian.Uint16(b[14:])
		if a.order == bigEndian {
			m, e, last = binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint16(b[6:]), binary.BigEndian.Uint16(b)
		}
		const top, one = 0x7fff, 0x3fff
		e, last = e&top, last&top
		likely := func(e uint16) bool { return e > one-doubleRange && e < one+doubleRange }
		l.invalid = l.invalid || (e == 0) != (m>>63 == 0)
		l.small = l.small || e == 0 && m != 0
		l.quadLarge = l.quadLarge || last != 0
		l.quadFar = l.quadFar || last != 0 && last != top && !likely(last)
		if e == 0 {
			continue
		}
		l.normal = true
		l.far = l.far || e != top && !likely(e)
		l.quadTiny = l.quadTiny || last == 0 || last == top
		if pair := [2]uint64{uint64(e), m}; pair != before && (len(l.pairs) < enough || len(l.exponents) < 2 && len(l.pairs) < 64*enough) {
			l.pairs[pair], l.exponents[e], before = true, true, pair
		}
	}
	return l
}

// isQuad reports whether long doubles in 16 bytes are IEEE binary128; otherwise they are long
// doubles of x86. If in names a format of 64 or 113 bits, this format decides. Otherwise the
// numbers are never interpreted as binary128, and as numbers of x86 only in these cases:
//
//   - All numbers would be 0 or below 2^-16382 as binary128. This is so for numbers of x86 if NumPy
//     left zeros behind them. In a sum of two doubles, these bytes hold the sign and the exponent
//     of the second double, which would then be 0 or below 2^-1022. As numbers of x86, sums whose
//     second double is 0 have no first bit, and x86 has such numbers only below 2^-16382.
//   - All are numbers of x86, and a normal one of them would be 0, NaN or below 2^-16382 as
//     binary128.
//   - All are numbers of x86, [enough] of them differ, and none is beyond the range of doubles.
func (a *array) isQuad(in halfulp.InputFormat) (bool, error) {
	l := a.look()
	if in.Exact() && in.Format().IsMP() {
		switch in.Format().Bits() {
		case quadBits:
			if l.normal && !l.invalid && !l.quadLarge {
				return false, errNoQuad
			}
			return true, nil
		case x86Bits:
			// Numbers that look like binary128 and not like x86 are an error in spite of the
			// format.
			if l.invalid || l.quadLarge && !l.quadFar && !l.quadTiny && (l.far || !l.normal) {
				return false, errLong
			}
			return false, nil
		}
	}
	switch {
	case l.invalid, l.small && !l.normal:
		return false, errLong
	case !l.quadLarge, l.quadTiny, !l.far && len(l.pairs) >= enough && len(l.exponents) > 1:
		return false, nil
	}
	return false, errUnclear
}

// quadNumber returns an IEEE binary128 number, which has a sign, 15 bits of exponent and 112 bits
// of fraction.
func (d dtype) quadNumber(b []byte, buf []uint64) num.Real {
	lo, hi := d.order.Uint64(b), d.order.Uint64(b[8:])
	if d.order == bigEndian {
		lo, hi = hi, lo
	}
	const top, fraction = 0x7fff, 48 // bits of the fraction in hi
	neg, e := hi>>63 != 0, int64(hi>>fraction&top)
	hi &= 1<<fraction - 1
	switch {
	case e == top && hi|lo != 0:
		return num.Real{Class: num.NaN}
	case e == top:
		return num.Real{Class: num.Inf, Neg: neg}
	case e == 0 && hi|lo == 0:
		return num.Real{Neg: neg}
	case e == 0:
		e = 1
	default:
		hi |= 1 << fraction
	}
	buf[0], buf[1] = lo, hi
	return num.Real{Class: num.Finite, Neg: neg, Exp: e - 16383 - 112, Mag: buf[:2]}
}

// longDouble returns an 80-bit number of x86, in 12 or 16 bytes. It has a sign, 15 bits of exponent
// and 64 bits of significand, including the first one.
func (d dtype) longDouble(b []byte, buf []uint64) (num.Real, error) {
	if d.order == bigEndian {
		b = slices.Clone(b)
		slices.Reverse(b)
	}
	m, s := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint16(b[8:])
	neg, e := s>>15 != 0, int64(s&0x7fff)
	switch {
	case e == 0 && m == 0:
		return num.Real{Neg: neg}, nil
	case (e == 0) != (m>>63 == 0):
		return num.Real{}, errLong
	case e == 0:
		e = 1
	case e == 0x7fff && m<<1 == 0:
		return num.Real{Class: num.Inf, Neg: neg}, nil
	case e == 0x7fff:
		return num.Real{Class: num.NaN}, nil
	}
	buf[0] = m
	return num.Real{Class: num.Finite, Neg: neg, Exp: e - 16383 - 63, Mag: buf[:1]}, nil
}
