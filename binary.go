package halfulp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// The head of the binary form: see [Matrix.AppendBinary].
const (
	binaryMagic   = "hulp"
	binaryVersion = 1
)

// nan32 is the NaN of Float32.
var nan32 = math.Float32bits(float32(math.NaN()))

// appendBinary appends the binary form of m with dims dimensions: 0 for a scalar, 1 for a vector, 2
// for a matrix.
func appendBinary(dst []byte, m num.Mat, dims int) ([]byte, error) {
	if err := onHost("the binary form", m.Arr); err != nil {
		return dst, err
	}
	f := m.Arr.Format
	dst = append(dst, binaryMagic...)
	dst = append(dst, binaryVersion, byte(dims), byte(f.Kind), 0)
	prec := uint64(0)
	if f.Kind == num.MP {
		prec = uint64(f.Prec)
	}
	order := binary.LittleEndian
	dst = order.AppendUint64(dst, prec)
	for _, n := range []int{m.Rows, m.Cols}[:dims] {
		dst = order.AppendUint64(dst, uint64(n))
	}
	each := func(add func(at int)) {
		for j := range m.Cols {
			for i := range m.Rows {
				add(m.At(i, j))
			}
		}
	}
	a := m.Arr
	switch f.Kind {
	case num.F32:
		each(func(at int) {
			b := math.Float32bits(a.F32[at])
			if a.F32[at] != a.F32[at] {
				b = nan32
			}
			dst = order.AppendUint32(dst, b)
		})
	case num.MP:
		l := f.Limbs()
		each(func(at int) {
			finite := a.Cls[at].Class() == num.Finite
			for _, w := range a.Sig[at*l : (at+1)*l] {
				if !finite {
					w = 0
				}
				dst = order.AppendUint64(dst, w)
			}
		})
		each(func(at int) {
			e := a.Exp[at]
			if a.Cls[at].Class() != num.Finite {
				e = 0
			}
			dst = order.AppendUint32(dst, uint32(e))
		})
		each(func(at int) { dst = append(dst, byte(a.Cls[at])) })
	default:
		for t := range f.Terms() {
			each(func(at int) {
				x := a.F64[t][at]
				if x != x {
					x = math.NaN()
				}
				dst = order.AppendUint64(dst, math.Float64bits(x))
			})
		}
	}
	return dst, nil
}

// binarySize returns the length of the binary form of m.
func binarySize(m num.Mat, dims int) int {
	return 16 + 8*dims + m.Rows*m.Cols*int(num.SizeOf(m.Arr.Format))
}

var errBinary = errors.New("halfulp: not the binary form of a scalar, vector or matrix")

// parseBinary reads a binary form that must have dims dimensions.
func parseBinary(data []byte, dims int) (m num.Mat, err error) {
	const head = 16
	if len(data) < head || string(data[:4]) != binaryMagic {
		return m, errBinary
	}
	switch {
	case data[4] != binaryVersion:
		return m, fmt.Errorf("halfulp: binary form of version %d: this program reads version %d", data[4], binaryVersion)
	case data[5] > 2 || data[7] != 0:
		return m, errBinary
	case int(data[5]) != dims:
		what := []string{"a scalar", "a vector", "a matrix"}
		return m, fmt.Errorf("halfulp: binary form of %s, not of %s", what[data[5]], what[dims])
	}
	order := binary.LittleEndian
	f, ok := binaryFormat(data[6], order.Uint64(data[8:]))
	if !ok {
		return m, errBinary
	}
	rest := data[head:]
	shape := [2]uint64{1, 1}
	for k := range dims {
		if len(rest) < 8 {
			return m, errBinary
		}
		shape[k], rest = order.Uint64(rest), rest[8:]
	}
	over, n := bits.Mul64(shape[0], shape[1])
	size := uint64(num.SizeOf(f))
	if max(shape[0], shape[1]) > math.MaxInt || over != 0 || n != uint64(len(rest))/size || uint64(len(rest)) != n*size {
		return m, fmt.Errorf("halfulp: %d bytes follow the binary form's head, which do not hold %d x %d numbers of format %v", len(rest), shape[0], shape[1], f)
	}
	if err := fitsEmpty(shape[0], shape[1]); err != nil {
		return m, err
	}
	a := num.New(f, int(n))
	fillBinary(a, rest)
	for i := range int(n) {
		if !a.WellFormed(i) {
			return m, fmt.Errorf("halfulp: number %d of the binary form is none of format %v", i, f)
		}
	}
	return num.Mat{Arr: a, RS: 1, CS: max(int(shape[0]), 1), Rows: int(shape[0]), Cols: int(shape[1])}, nil
}

// fitsEmpty returns an error for an empty matrix with a side longer than math.MaxInt32. Such a
// shape needs no data, but loops run over all its rows or columns.
func fitsEmpty(rows, cols uint64) error {
	if (rows == 0 || cols == 0) && max(rows, cols) > math.MaxInt32 {
		return fmt.Errorf("halfulp: an empty matrix of %d x %d is too large", rows, cols)
	}
	return nil
}

// binaryFormat returns the format for the kind and the precision in a binary form.
func binaryFormat(kind byte, prec uint64) (num.Format, bool) {
	fixed := [...]num.Format{num.Float32, num.Float64, num.DDouble, num.TDouble, num.QDouble}
	switch {
	case int(kind) < len(fixed):
		return fixed[kind], prec == 0
	case num.Kind(kind) == num.MP && prec >= num.MinPrec && prec <= num.MaxPrec:
		return num.Format{Kind: num.MP, Prec: uint32(prec)}, true
	}
	return num.Format{}, false
}

// fillBinary stores the numbers of data in a.
func fillBinary(a *num.Array, data []byte) {
	order, n := binary.LittleEndian, a.Len()
	switch a.Kind {
	case num.F32:
		for i := range n {
			a.F32[i] = math.Float32frombits(order.Uint32(data[4*i:]))
		}
	case num.MP:
		for i := range a.Sig {
			a.Sig[i] = order.Uint64(data[8*i:])
		}
		data = data[8*len(a.Sig):]
		for i := range n {
			a.Exp[i], a.Cls[i] = int32(order.Uint32(data[4*i:])), num.Cls(data[4*n+i])
		}
	default:
		for t := range a.Terms() {
			for i := range n {
				a.F64[t][i] = math.Float64frombits(order.Uint64(data[8*(t*n+i):]))
			}
		}
	}
}

// AppendBinary appends the binary form of s, version 1: see [Matrix.AppendBinary]. The error is
// nil.
func (s Scalar) AppendBinary(dst []byte) ([]byte, error) { return appendBinary(dst, s.mat(), 0) }

// MarshalBinary returns the binary form of s. The error is nil.
func (s Scalar) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// UnmarshalBinary replaces s, including its format, by the scalar of a binary form.
func (s *Scalar) UnmarshalBinary(data []byte) error {
	m, err := parseBinary(data, 0)
	if err == nil {
		*s = Scalar{num.ScalarOf(m.Arr)}
	}
	return err
}

// mat returns s as a matrix.
func (s Scalar) mat() num.Mat { return num.Mat{Arr: s.array(), RS: 1, CS: 1, Rows: 1, Cols: 1} }

// AppendBinary appends the binary form of x, version 1: see [Matrix.AppendBinary]. Entries on a
// device are an error.
func (x Vector) AppendBinary(dst []byte) ([]byte, error) {
	return appendBinary(dst, x.vec().Mat(), 1)
}

// MarshalBinary returns the binary form of x, like [Vector.AppendBinary].
func (x Vector) MarshalBinary() ([]byte, error) {
	return x.AppendBinary(make([]byte, 0, binarySize(x.vec().Mat(), 1)))
}

// UnmarshalBinary replaces x, including its format and length, by the vector of a binary form. If x
// was a view, the numbers that it viewed stay as they are.
func (x *Vector) UnmarshalBinary(data []byte) error {
	m, err := parseBinary(data, 1)
	if err == nil {
		*x = Vector{m.Col(0)}
	}
	return err
}

// AppendBinary appends the binary form of m, version 1, which holds every number exactly. All
// integers are little-endian.
//
//	offset  bytes
//	0       4      "hulp"
//	4       1      version, 1
//	5       1      dimensions: 0 scalar, 1 vector, 2 matrix
//	6       1      format: 0 f32, 1 f64, 2 dd, 3 td, 4 qd, 5 mp
//	7       1      0
//	8       8      precision p of mp in bits, else 0
//	16      8 each length of a vector, rows and columns of a matrix
//
// The n numbers follow column by column:
//
//   - f32, f64: IEEE 754 binary32 or binary64.
//   - dd, td, qd: the n first terms in binary64, then the second ones, and so on.
//   - mp: the n significands of ⌈p/64⌉ 64-bit words, least significant first, then n exponents of
//     32 bits in two's complement, then n bytes: 0 +0, 1 -0, 2 positive, 3 negative, 4 +∞, 5 -∞, 6
//     NaN. A finite number is ±0.S 2^e, S the bits of the significand, whose first bit is 1 and
//     whose bits beyond the first p are 0. For zeros, infinities and NaN, significand and exponent
//     are 0.
//
// UnmarshalBinary accepts exactly these bits: NaN has one form, and sums of doubles are canonical,
// see [DD]. Entries on a device are an error.
func (m Matrix) AppendBinary(dst []byte) ([]byte, error) { return appendBinary(dst, m.mat(), 2) }

// MarshalBinary returns the binary form of m, like [Matrix.AppendBinary].
func (m Matrix) MarshalBinary() ([]byte, error) {
	return m.AppendBinary(make([]byte, 0, binarySize(m.mat(), 2)))
}

// UnmarshalBinary replaces m, including its format and shape, by the matrix of a binary form. If m
// was a view, the numbers that it viewed stay as they are.
func (m *Matrix) UnmarshalBinary(data []byte) error {
	z, err := parseBinary(data, 2)
	if err == nil {
		*m = Matrix{m: z}
	}
	return err
}
