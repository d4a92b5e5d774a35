package halfulp

import "github.com/halfulp/halfulp/internal/num"

// View returns the storage of m, wherever it lives. It is for the packages of this module, as its
// result has an internal type. It panics for nil.
func (m *Matrix) View() num.Mat { return m.mat() }

// View returns the storage of x, like [Matrix.View].
func (x *Vector) View() num.Vec { return x.vec() }

// View returns the exact value of s, like [Matrix.View].
func (s Scalar) View() num.Real { return s.value() }

// MatrixOf returns the matrix with the given storage. It is the inverse of [Matrix.View].
func MatrixOf(m num.Mat) *Matrix { return &Matrix{m: m} }

// ScalarOf returns the Scalar with the value and format of x.
func ScalarOf(x num.Scalar) Scalar { return Scalar{x} }
