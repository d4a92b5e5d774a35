package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp/internal/num"
)

// The orders of bytes.
var littleEndian, bigEndian binary.ByteOrder = binary.LittleEndian, binary.BigEndian

// dtype is a type of numbers.
type dtype struct {
	order binary.ByteOrder
	kind  byte // f floating point, i and u integers, b booleans
	size  int  // bytes a number
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

// value returns number k of data exactly. Mag lies in buf, which has a word.
func (d dtype) value(data []byte, k int, buf []uint64) (num.Real, error) {
	b := data[k*d.size : (k+1)*d.size]
	switch {
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

// widths are the exponent bits of the IEEE 754 format with so many fraction bits.
var widths = map[int]int{10: 5, 23: 8, 52: 11}

// binaryFloat returns the number of an IEEE 754 format whose bits, but for the sign, are given.
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

// errLong is what other long doubles than those of x86 meet, and errUnclear those that may be such.
var (
	errLong    = errors.New("the array has NumPy type float128, but not the 80-bit numbers of x86, which alone can be read")
	errUnclear = errors.New("the array has NumPy type float128, and does not tell whether its numbers are the 80-bit ones of x86, " +
		"which alone can be read: if they are, save numpy.positive(a, out=numpy.zeros_like(a)) in place of a")
)

// checkLong returns an error unless long doubles in 16 bytes are those of x86: NumPy has the same
// name for IEEE binary128 and for sums of two doubles. x86 leaves the last 6 bytes to chance.
// Arrays are taken if the exponent that binary128 has in the last 2 is 0, so that its numbers would
// all be 0 or below 2^-16382: NumPy leaves zeros there in memory that it takes anew. Sums of two
// doubles have the sign and the exponent of the second one there, which is 0, then, or below
// 2^-1022. x86 reads those in which it is 0 as numbers without a first bit, which it has below
// 2^-16382 only: arrays are refused that have no others but 0.
func (a *array) checkLong() error {
	if a.size != 16 {
		return nil
	}
	small, normal := false, false
	for k := range len(a.data) / 16 {
		b := a.data[16*k : 16*k+16]
		last, m := binary.LittleEndian.Uint16(b[14:]), binary.LittleEndian.Uint64(b)
		if a.order == bigEndian {
			last, m = binary.BigEndian.Uint16(b), binary.BigEndian.Uint64(b[8:])
		}
		switch {
		case last&0x7fff != 0:
			return errUnclear
		case m>>63 != 0:
			normal = true
		case m != 0:
			small = true
		}
	}
	if small && !normal {
		return errLong
	}
	return nil
}

// longDouble returns an 80-bit number of x86, in 12 or 16 bytes: a sign, 15 bits of exponent, and
// 64 bits of significand, the first one stored.
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
