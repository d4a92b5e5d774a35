package main

// #include "library.h"
import "C"

import (
	"context"
	"math"
	"runtime"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// broadcast returns the shape of the result of an operation on a and b entry by entry: a dimension
// of 1 is repeated. It panics if other dimensions differ.
func broadcast(a, b *halfulp.Matrix) (rows, cols int) {
	one := func(x, y int) (int, bool) {
		switch {
		case x == y, y == 1:
			return x, true
		case x == 1:
			return y, true
		}
		return 0, false
	}
	rows, ok1 := one(a.Rows(), b.Rows())
	cols, ok2 := one(a.Cols(), b.Cols())
	if !ok1 || !ok2 {
		panic(misuse("%d x %d and %d x %d: shapes need to be equal, but for dimensions of 1", a.Rows(), a.Cols(), b.Rows(), b.Cols()))
	}
	return rows, cols
}

// operation is an operation entry by entry: a float64 function, which IEEE 754 rounds once, or nil,
// and a function of scalars. The float64 function of a product or a quotient is this one operation,
// so no compiler can fuse it with another.
type operation struct {
	// axpy is the sign of b in a ± b, which Axpy rounds once; it is 0 for other operations.
	axpy    float64
	float64 func(x, y float64) float64
	scalar  func(f halfulp.Format, x, y halfulp.Scalar) halfulp.Scalar
}

var (
	add = operation{1, func(x, y float64) float64 { return x + y }, halfulp.Format.Add}
	sub = operation{-1, func(x, y float64) float64 { return x - y }, halfulp.Format.Sub}
	mul = operation{0, func(x, y float64) float64 { return x * y }, halfulp.Format.Mul}
	div = operation{0, func(x, y float64) float64 { return x / y }, halfulp.Format.Quo}

	sqrt = operation{0, func(x, _ float64) float64 { return math.Sqrt(x) },
		func(f halfulp.Format, x, _ halfulp.Scalar) halfulp.Scalar { return f.Sqrt(x) }}
	negate = operation{scalar: func(f halfulp.Format, x, _ halfulp.Scalar) halfulp.Scalar { return x.Neg().Convert(f) }}
	abs    = operation{scalar: func(f halfulp.Format, x, _ halfulp.Scalar) halfulp.Scalar { return x.Abs().Convert(f) }}
)

// repeated returns a rows x cols view of m in which dimensions of 1 are repeated, by strides of 0.
func repeated(m *halfulp.Matrix, rows, cols int) num.Mat {
	v := m.View()
	if v.Rows != rows {
		v.RS = 0
	}
	if v.Cols != cols {
		v.CS = 0
	}
	v.Rows, v.Cols = rows, cols
	return v
}

// apply computes op(a, b) entry by entry, in format f, and returns the result at the place of a and
// b.
func (op operation) apply(a, b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	rows, cols := broadcast(a, b)
	if a.Device() != b.Device() {
		panic(misuse("a lives on %s, b on %s", a.Device(), b.Device()))
	}
	if err := checkMemory(f, rows, cols); err != nil {
		return nil, err
	}
	// The operand to which Axpy adds must have the format of the result.
	same := a.Rows() == b.Rows() && a.Cols() == b.Cols() && !(a.NumberFormat() == halfulp.Float64 && a.NumberFormat() == b.NumberFormat())
	switch {
	case op.axpy != 0 && same && a.NumberFormat() == f:
		return plus(op.axpy, b, a, opt)
	case op.axpy > 0 && same && b.NumberFormat() == f:
		return plus(op.axpy, a, b, opt)
	}
	ha, err := onHost(a, a.NumberFormat())
	if err != nil {
		return nil, err
	}
	hb := ha
	if b != a {
		if hb, err = onHost(b, b.NumberFormat()); err != nil {
			return nil, err
		}
	}
	// The result is stored by rows or columns as a is.
	byRows := rows == 1 || magnitude(ha.View().CS) < magnitude(ha.View().RS)
	z := halfulp.NewMatrix(f, rows, cols)
	if byRows {
		z = halfulp.NewMatrix(f, cols, rows).T()
	}
	x, y, to := repeated(ha, rows, cols), repeated(hb, rows, cols), z.View()
	if byRows {
		x, y, to = x.T(), y.T(), to.T()
	}
	plain := op.float64 != nil && f == halfulp.Float64 && a.NumberFormat() == f && b.NumberFormat() == f
	column := func(_, j int) {
		if plain {
			p, q, r := x.Arr.F64[0], y.Arr.F64[0], to.Arr.F64[0]
			for i := range to.Rows {
				s := op.float64(p[x.At(i, j)], q[y.At(i, j)])
				if s != s {
					s = math.NaN() // the format has one
				}
				r[to.At(i, j)] = s
			}
			return
		}
		za, zb, zz := halfulp.MatrixOf(x), halfulp.MatrixOf(y), halfulp.MatrixOf(to)
		for i := range to.Rows {
			zz.Set(i, j, op.scalar(f, za.At(i, j), zb.At(i, j)))
		}
	}
	o := orDefaults(opt)
	ctx, threads := o.Context, o.Threads
	if ctx == nil {
		ctx = context.Background()
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	if to.Rows*to.Cols < 1000 {
		threads = 1
	}
	if err := par.For(ctx, threads, to.Cols, column); err != nil {
		return nil, err
	}
	if a.Device() == halfulp.CPU {
		return z, nil
	}
	z, err = z.On(a.Device())
	return z, err
}

// plus returns alpha x + y in the format of y, at the place of the operands.
func plus(alpha float64, x, y *halfulp.Matrix, opt *halfulp.Options) (*halfulp.Matrix, error) {
	var z *halfulp.Matrix
	var err error
	if v := y.View(); magnitude(v.CS) < magnitude(v.RS) {
		z, err = likeMatrix(y.T(), y.NumberFormat())
		if err == nil {
			z = z.T()
		}
	} else {
		z, err = likeMatrix(y, y.NumberFormat())
	}
	if err == nil {
		err = z.CopyFrom(y)
	}
	if err == nil {
		err = vectors(x, z, func(x, z *halfulp.Vector) error {
			return halfulp.Axpy(halfulp.Float(alpha), x, z, opt)
		})
	}
	return z, err
}

// compareEntries compares each entry of a with the corresponding entry of b, exactly, and stores -1
// for less, 0 for equal, 1 for greater, and 2 if one of them is NaN.
func compareEntries(a, b *halfulp.Matrix, data *int8, rs, cs int) error {
	rows, cols := broadcast(a, b)
	g := grid[int8]{data, rs, cs}
	checkGrid(g, rows, cols)
	ha, err := onHost(a, a.NumberFormat())
	if err != nil {
		return err
	}
	hb, err := onHost(b, b.NumberFormat())
	if err != nil {
		return err
	}
	x, y := repeated(ha, rows, cols), repeated(hb, rows, cols)
	plain := a.NumberFormat() == halfulp.Float64 && b.NumberFormat() == halfulp.Float64
	za, zb := halfulp.MatrixOf(x), halfulp.MatrixOf(y)
	for j := range cols {
		for i := range rows {
			var c int
			if plain {
				c = compareFloat64(x.Arr.F64[0][x.At(i, j)], y.Arr.F64[0][y.At(i, j)])
			} else if c, err = compare(za.At(i, j), zb.At(i, j)); err != nil {
				return err
			}
			*g.at(i, j) = int8(c)
		}
	}
	return nil
}

func compareFloat64(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return 2
}
