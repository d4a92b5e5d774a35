package halfulp

import "github.com/halfulp/halfulp/internal/num"

// View returns the storage of m, wherever that lives. It is for the packages of this module: its
// type is theirs. Nil has none.
func (m *Matrix) View() num.Mat {
	if m == nil {
		return num.Mat{}
	}
	return m.mat()
}

// View returns the storage of x, like [Matrix.View].
func (x *Vector) View() num.Vec {
	if x == nil {
		return num.Vec{}
	}
	return x.vec()
}

// View returns the exact value of s, like [Matrix.View].
func (s Scalar) View() num.Real { return s.value() }

// MatrixOf returns the matrix with a storage, the converse of [Matrix.View].
func MatrixOf(m num.Mat) *Matrix { return &Matrix{m: m} }

// View returns the format as the packages of this module know it, like [Matrix.View].
func (f Format) View() num.Format {
	if f == (Format{}) {
		return num.Float64
	}
	return f.other
}

// FormatOf is the converse of [Format.View].
func FormatOf(f num.Format) Format {
	if f == num.Float64 {
		return Format{}
	}
	return Format{f}
}

// ScalarOf returns the scalar that is a number of the packages of this module.
func ScalarOf(x num.Scalar) Scalar { return Scalar{x} }
