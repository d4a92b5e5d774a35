package halfulp

import "github.com/halfulp/halfulp/internal/num"

// View returns the storage of m, wherever that lives. It is for the packages of this module: its
// type is theirs. It panics for nil.
func (m *Matrix) View() num.Mat { return m.mat() }

// View returns the storage of x, like [Matrix.View].
func (x *Vector) View() num.Vec { return x.vec() }

// View returns the exact value of s, like [Matrix.View].
func (s Scalar) View() num.Real { return s.value() }

// MatrixOf returns the matrix with a storage, the converse of [Matrix.View].
func MatrixOf(m num.Mat) *Matrix { return &Matrix{m: m} }

// ScalarOf returns the scalar that is a number of the packages of this module.
func ScalarOf(x num.Scalar) Scalar { return Scalar{x} }
