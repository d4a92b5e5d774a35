package npy

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
)

// An Array is a .npy file to be written: a header, and data in parts.
type Array struct {
	Name   string                         // within a .npz file
	Head   []byte                         // header
	Parts  int                            // number of parts
	Append func(dst []byte, i int) []byte // appends part i
	Bytes  int64                          // bytes of all parts
}

// Holds reports whether a .npy file can hold numbers of format f. A .npz file can hold all formats.
func Holds(f halfulp.Format) bool { return !f.IsMP() }

// File returns the .npy file of m, little-endian in Fortran order. The array has two dimensions;
// with flat, one column of F32 or F64 has one dimension. For DD, TD and QD the terms of the numbers
// lie along a third dimension. MP is an error.
func File(m *halfulp.Matrix, flat bool) (Array, error) {
	return numbers(m, flat && m.NumberFormat().Bits() <= 53)
}

// numbers returns the array of values, or of terms for DD, TD and QD.
func numbers(m *halfulp.Matrix, flat bool) (Array, error) {
	if !Holds(m.NumberFormat()) {
		return Array{}, fmt.Errorf("a .npy file does not hold numbers of format %v, a .npz file does", m.NumberFormat())
	}
	v := m.View()
	if v.Arr.Kind == num.F32 {
		return planes("values", "<f4", v, flat, 0, func(dst []byte, at, _ int) []byte {
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(v.Arr.F32[at]))
		}), nil
	}
	name, terms := "values", 0
	if v.Arr.Kind != num.F64 {
		name, terms = "terms", v.Arr.Terms()
	}
	return planes(name, "<f8", v, flat, terms, func(dst []byte, at, t int) []byte {
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Arr.F64[t][at]))
	}), nil
}

// planes returns an array in the shape of v. With flat, one column has one dimension. For planes >
// 0 the array has one further dimension of this length. add appends the bytes for number at of v in
// plane t.
func planes(name, descr string, v num.Mat, flat bool, planes int, add func(dst []byte, at, t int) []byte) Array {
	shape := fmt.Sprintf("%d,", v.Rows)
	if !flat || v.Cols != 1 {
		shape += fmt.Sprintf(" %d,", v.Cols)
	}
	if planes > 0 {
		shape += fmt.Sprintf(" %d,", planes)
	}
	if strings.Count(shape, ",") > 1 { // as Python writes it
		shape = strings.TrimSuffix(shape, ",")
	}
	parts := 0 // an array without numbers has no parts, whatever its number of columns
	if v.Rows > 0 {
		parts = max(planes, 1) * v.Cols
	}
	return Array{name, header1(descr, "("+shape+")"), parts, func(dst []byte, part int) []byte {
		t, j := part/v.Cols, part%v.Cols
		for i := range v.Rows {
			dst = add(dst, v.At(i, j), t)
		}
		return dst
	}, int64(v.Rows) * int64(parts) * int64(descr[2]-'0')}
}

// header1 returns the header of version 1 of an array in Fortran order.
func header1(descr, shape string) []byte {
	s := fmt.Sprintf("{'descr': '%s', 'fortran_order': True, 'shape': %s, }", descr, shape)
	n := (10 + len(s) + 1 + 63) / 64 * 64 // NumPy aligns the data to 64 bytes
	b := append([]byte(Magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(n-10))
	b = append(b, s...)
	b = append(b, strings.Repeat(" ", n-1-len(b))...)
	return append(b, '\n')
}

// text returns an array of no dimension that holds a string of ASCII characters.
func text(name, s string) Array {
	var b []byte
	for _, c := range s {
		b = binary.LittleEndian.AppendUint32(b, uint32(c))
	}
	return Array{name, header1(fmt.Sprintf("<U%d", len(s)), "()"), 1, func(dst []byte, _ int) []byte { return append(dst, b...) }, int64(len(b))}
}

// Arrays returns the arrays of the .npz file of m, which [ParseZip] reads without loss. Each has
// the two dimensions of m; with flat, one column has one dimension. They are:
//
//   - format: the name of the format, such as f64, dd or mp:424.
//   - f32 and f64: values, the numbers.
//   - dd, td and qd: terms, the terms of the numbers along a further dimension.
//   - mp: limbs, the 64-bit words of significands along a further dimension, least significant
//     first; exponents; signs, 1 and -1; and classes, 0 zero, 1 finite, 2 infinite, 3 NaN. A finite
//     number is sign S 2^(exponent - 64 L), where S is the integer of its L limbs. For other
//     classes the limbs and the exponent are 0.
func Arrays(m *halfulp.Matrix, flat bool) ([]Array, error) {
	all := []Array{text("format", m.NumberFormat().String())}
	if Holds(m.NumberFormat()) {
		a, err := numbers(m, flat)
		return append(all, a), err
	}
	v := m.View()
	a, l := v.Arr, v.Arr.Limbs()
	finite := func(at int) bool { return a.Cls[at].Class() == num.Finite }
	return append(all,
		planes("limbs", "<u8", v, flat, l, func(dst []byte, at, t int) []byte {
			w := a.Sig[at*l+t]
			if !finite(at) {
				w = 0
			}
			return binary.LittleEndian.AppendUint64(dst, w)
		}),
		planes("exponents", "<i4", v, flat, 0, func(dst []byte, at, _ int) []byte {
			e := a.Exp[at]
			if !finite(at) {
				e = 0
			}
			return binary.LittleEndian.AppendUint32(dst, uint32(e))
		}),
		planes("signs", "|i1", v, flat, 0, func(dst []byte, at, _ int) []byte {
			if a.Cls[at].Neg() {
				return append(dst, 0xff)
			}
			return append(dst, 1)
		}),
		planes("classes", "|u1", v, flat, 0, func(dst []byte, at, _ int) []byte { return append(dst, byte(a.Cls[at].Class())) }),
	), nil
}

// Member returns the arrays of the matrix called name in a .npz file of several matrices. For F32
// to QD this is one array of that name, as in a .npy file. For MP these are the arrays of [Arrays],
// whose names follow the name of the matrix and an underscore, such as L_limbs. If flat is set, a
// matrix of one column becomes an array of one dimension.
func Member(name string, m *halfulp.Matrix, flat bool) ([]Array, error) {
	if Holds(m.NumberFormat()) {
		a, err := File(m, flat)
		a.Name = name
		return []Array{a}, err
	}
	all, err := Arrays(m, flat)
	for i := range all {
		all[i].Name = name + "_" + all[i].Name
	}
	return all, err
}

// Integers returns an array of int64 of one dimension.
func Integers(name string, x []int) Array {
	return Array{name, header1("<i8", fmt.Sprintf("(%d,)", len(x))), 1, func(dst []byte, _ int) []byte {
		for _, v := range x {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
		}
		return dst
	}, int64(8 * len(x))}
}

// WriteZip writes arrays as a .npz file that is not compressed. data writes the parts of one array.
func WriteZip(w io.Writer, all []Array, data func(w io.Writer, a Array) error) error {
	z := zip.NewWriter(w)
	for _, a := range all {
		f, err := z.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		if _, err := f.Write(a.Head); err != nil {
			return err
		}
		if err := data(f, a); err != nil {
			return err
		}
	}
	return z.Close()
}
