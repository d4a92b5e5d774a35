package halfulp

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
)

// Vector is a vector of numbers in one format with a stride, or a view of one. It lives on the host
// or on a device: see On, Host and Device. The zero Vector is a Float64 vector of no entries.
type Vector struct{ v num.Vec }

// vec returns the storage and length of x. It panics for nil, like [Matrix.mat].
func (x *Vector) vec() num.Vec {
	if x == nil {
		panic(errNilVector)
	}
	if x.v.Arr == nil {
		return num.Vec{Arr: none, Inc: 1}
	}
	return x.v
}

// NewVector returns a vector of n times +0. It panics if n is negative.
func NewVector(f Format, n int) *Vector {
	if n < 0 {
		panic(errNegativeDim)
	}
	return &Vector{num.Vec{Arr: num.New(f.View(), n), Inc: 1, N: n}}
}

// NewVectorFloat64 returns a Float64 vector of n numbers that uses data as its storage: entry i is
// data[i inc] for inc > 0 and data[(n-1-i) |inc|] for inc < 0, as in BLAS. It panics if n is
// negative, if inc = 0, or if data is too short.
func NewVectorFloat64(n, inc int, data []float64) *Vector {
	switch {
	case n < 0:
		panic(errNegativeDim)
	case inc == 0:
		panic(errInc)
	case n > 0 && (len(data) == 0 || uint(n-1) > uint(len(data)-1)/uint(max(inc, -inc))):
		panic(errShort)
	}
	a := &num.Array{Format: num.Float64, F64: [4][]float64{data}}
	v := num.Vec{Arr: a, Inc: inc, N: n}
	if inc < 0 && n > 0 {
		v.Off = (1 - n) * inc
	}
	return &Vector{v}
}

// NewVectorBig returns the vector of the numbers in data, each rounded to format f.
func NewVectorBig(f Format, data []*big.Float) *Vector {
	x := NewVector(f, len(data))
	for i, d := range data {
		x.SetBig(i, d)
	}
	return x
}

// Len returns the number of entries.
func (x *Vector) Len() int { return x.vec().N }

// NumberFormat returns the format of the entries.
func (x *Vector) NumberFormat() Format { return FormatOf(x.vec().Arr.Format) }

// Slice returns the view of the entries i0 <= i < i1.
func (x *Vector) Slice(i0, i1 int) *Vector {
	if i0 < 0 || i1 < i0 || i1 > x.vec().N {
		panic(errIndex)
	}
	v := x.vec()
	v.Off, v.N = v.At(i0), i1-i0
	return &Vector{v}
}

// Stride returns the view of every step-th entry, starting with the first entry for step > 0 and
// backwards from the last one for step < 0. It panics if step = 0.
func (x *Vector) Stride(step int) *Vector {
	if step == 0 {
		panic(errInc)
	}
	v := x.vec()
	if step < 0 && v.N > 0 {
		v.Off = v.At(v.N - 1)
	}
	if v.N > 0 {
		v.N = 1 + int(uint(v.N-1)/uint(max(step, -step)))
	}
	if v.N > 1 {
		v.Inc *= step
	}
	return &Vector{v}
}

// Matrix returns x as a Len() x 1 matrix view.
func (x *Vector) Matrix() *Matrix {
	m := x.vec().Mat()
	m.CS = 1
	return &Matrix{m: m}
}

// at returns the index of entry i in the storage.
func (x *Vector) at(i int) int {
	if x == nil {
		panic(errNilVector)
	}
	if i < 0 || i >= x.v.N {
		panic(errIndex)
	}
	needHost(x.v.Arr)
	return x.v.At(i)
}

// At returns entry i.
func (x *Vector) At(i int) Scalar {
	k := x.at(i)
	return Scalar{x.v.Arr.Scalar(k)}
}

// Set rounds s to the format of x and stores it in entry i.
func (x *Vector) Set(i int, s Scalar) {
	k := x.at(i)
	x.v.Arr.Convert(k, s.array(), 0)
}

// Float64 returns the binary64 nearest to entry i.
func (x *Vector) Float64(i int) float64 {
	k := x.at(i)
	return x.v.Arr.Float64(k)
}

// SetFloat64 rounds s to the format of x and stores it in entry i.
func (x *Vector) SetFloat64(i int, s float64) {
	k := x.at(i)
	x.v.Arr.SetFloat64(k, s)
}

// Big returns entry i exactly. It panics with big.ErrNaN for NaN.
func (x *Vector) Big(i int) *big.Float {
	k := x.at(i)
	return x.v.Arr.Big(k)
}

// SetBig rounds s to the format of x and stores it in entry i.
func (x *Vector) SetBig(i int, s *big.Float) {
	k := x.at(i)
	x.v.Arr.Set(k, num.RealOf(s))
}

// Convert returns a copy of x in format f, each entry rounded to nearest even.
func (x *Vector) Convert(f Format) *Vector {
	needHost(x.vec().Arr)
	z := NewVector(f, x.vec().N)
	for i := range x.vec().N {
		z.vec().Arr.Convert(i, x.vec().Arr, x.vec().At(i))
	}
	return z
}

// Clone returns a copy of x with its own storage and stride 1.
func (x *Vector) Clone() *Vector { return x.Convert(x.NumberFormat()) }

// Same reports whether x and y have the same length, format and bits.
func (x *Vector) Same(y *Vector) bool { return x.Matrix().Same(y.Matrix()) }
