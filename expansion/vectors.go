package expansion

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// Array is a vector or matrix of package halfulp, with any strides, on the host or on a device.
type Array interface {
	*halfulp.Vector | *halfulp.Matrix
}

// Add stores z_i ← x_i + y_i, with the bits and error bounds of [DD.Add], [TD.Add], [QD.Add]. The
// package documentation has the rules for all routines on arrays.
func Add[A Array](x, y, z A, opt *halfulp.Options) error {
	return operate(opAdd, opt, z, x, y)
}

// Sub stores z_i ← x_i - y_i like [Add]: see [DD.Sub], [TD.Sub], [QD.Sub].
func Sub[A Array](x, y, z A, opt *halfulp.Options) error {
	return operate(opSub, opt, z, x, y)
}

// Mul stores z_i ← x_i y_i like [Add]: see [DD.Mul], [TD.Mul], [QD.Mul].
func Mul[A Array](x, y, z A, opt *halfulp.Options) error {
	return operate(opMul, opt, z, x, y)
}

// Div stores z_i ← x_i / y_i like [Add]: see [DD.Div], [TD.Div], [QD.Div].
func Div[A Array](x, y, z A, opt *halfulp.Options) error {
	return operate(opDiv, opt, z, x, y)
}

// Sqrt stores z_i ← √x_i like [Add]: see [DD.Sqrt], [TD.Sqrt], [QD.Sqrt].
func Sqrt[A Array](x, z A, opt *halfulp.Options) error {
	return operate(opSqrt, opt, z, x)
}

// FMA stores z_i ← x_i y_i + c_i like [Add]: see [DD.FMA], [TD.FMA], [QD.FMA].
func FMA[A Array](x, y, c, z A, opt *halfulp.Options) error {
	return operate(opFMA, opt, z, x, y, c)
}

// Map stores z_i ← f(x_i) like [Add], for a function of one argument: see the method with f's name.
// A function of two arguments is an error.
func Map[A Array](f Function, x, z A, opt *halfulp.Options) error {
	return apply("Map", f, opt, z, x)
}

// Map2 stores z_i ← f(x_i, y_i) like [Add], for a function of two arguments: see the method with
// f's name. A function of one argument is an error.
func Map2[A Array](f Function, x, y, z A, opt *halfulp.Options) error {
	return apply("Map2", f, opt, z, x, y)
}

// SinCos stores s_i ← sin x_i and c_i ← cos x_i like [Add], with the bits of Map, on the CPU at
// less than the cost of both. s and c have one format. They may overlap x and each other; where
// they overlap each other, c remains.
func SinCos[A Array](x, s, c A, opt *halfulp.Options) error {
	sin, cos := matrixOf(s), matrixOf(c)
	if cos.Rows != sin.Rows || cos.Cols != sin.Cols {
		panic(errShape)
	}
	r, err := newElementwise("SinCos", opt, s, []A{x}, cos.Arr)
	if err != nil {
		return err
	}
	if cos.Arr.Format != sin.Arr.Format {
		return r.failed(fmt.Errorf("cosines of format %v, sines of %v: %w", cos.Arr.Format, sin.Arr.Format, halfulp.ErrFormat))
	}
	last := r.last(stageCompute)
	if r.at != nil {
		return r.end(last, r.sinCosOnDevice(cos))
	}
	to := cos
	switch {
	case cos.Arr.Overlaps(sin.Arr): // columns of one matrix, say
		if err := r.room(sizeOf(cos)); err != nil {
			return r.failed(err)
		}
		to = copyOf(cos)
	case r.in[0].Arr.Overlaps(cos.Arr) && r.in[0] != cos:
		if err := r.room(sizeOf(r.in[0])); err != nil {
			return r.failed(err)
		}
		r.in[0] = copyOf(r.in[0])
	}
	r.in[1], r.operands = to, 2
	k := activeKernels()
	err = r.each(func(p *piece) { k.sinCos(p) })
	if err == nil && to != cos {
		copyTo(cos, to)
	}
	return r.end(last, err)
}

const (
	errShape     = "expansion: shapes do not fit"
	errTranspose = "expansion: bad Transpose"
)

// chunk is the number of numbers that a thread processes at a time.
const chunk = 4096

// operationNames are the names of routines and of kernels.
var operationNames = [operations]string{opAdd: "Add", opSub: "Sub", opMul: "Mul", opDiv: "Div", opSqrt: "Sqrt", opFMA: "FMA"}

func operate[A Array](op operation, opt *halfulp.Options, z A, in ...A) error {
	r, err := newElementwise(operationNames[op], opt, z, in)
	if err != nil {
		return err
	}
	last := r.last(stageCompute)
	if r.at != nil {
		away := r // which moves to the heap
		return away.end(last, away.onDevice(operationNames[op]))
	}
	if r.paper {
		return r.end(last, r.published(operationNames[op]))
	}
	k := activeKernels()
	if p, whole := r.whole(); whole {
		k.operate(op, &p)
		return r.end(last, nil)
	}
	return r.end(last, r.each(func(p *piece) { k.operate(op, p) }))
}

func apply[A Array](name string, f Function, opt *halfulp.Options, z A, in ...A) error {
	if err := f.takes(len(in)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r, err := newElementwise(name, opt, z, in)
	if err != nil {
		return err
	}
	if r.paper && !f.published() {
		return r.failed(fmt.Errorf("method %q of %v: %w (the paper has %s)", Published, f, halfulp.ErrMethod, publishedFunctionNames()))
	}
	last := r.last(stageCompute)
	if r.at != nil {
		return r.end(last, r.onDevice(f.String()))
	}
	if r.paper {
		return r.end(last, r.published(f.String()))
	}
	k := activeKernels()
	return r.end(last, r.each(func(p *piece) { k.apply(f, p) }))
}

// takes returns an error unless f is a function of n arguments.
func (f Function) takes(n int) error {
	if f < 0 || int(f) >= len(functions) || f.Arity() != n {
		return fmt.Errorf("%v is no function of %s", f, []string{"one argument", "two arguments"}[n-1])
	}
	return nil
}

// An elementwise is a running elementwise routine.
type elementwise struct {
	run
	words    int
	z        num.Mat
	in       [3]num.Mat
	operands int
}

// A piece is the work of one thread at a time: the same entries of the result and the operands.
type piece struct {
	words    int
	z        num.Vec
	in       [3]num.Vec
	operands int
}

// newElementwise begins the routine name, which computes z from operands, and also writes to
// others.
func newElementwise[A Array](name string, opt *halfulp.Options, z A, in []A, others ...*num.Array) (r elementwise, err error) {
	r.z, r.operands = matrixOf(z), len(in)
	arrays := [5]*num.Array{r.z.Arr}
	n := 1 + copy(arrays[1:], others)
	for i, x := range in {
		m := matrixOf(x)
		if m.Rows != r.z.Rows || m.Cols != r.z.Cols {
			panic(errShape)
		}
		r.in[i], arrays[n] = m, m.Arr
		n++
	}
	if r.run, err = begin(name, opt, arrays[:n]...); err != nil {
		return r, err
	}
	if r.words, err = formatsFit(r.z.Arr, r.in[:r.operands]); err != nil {
		return r, r.failed(err)
	}
	if r.paper && r.words == 3 {
		return r, r.failed(fmt.Errorf("method %q with td: %w (want dd or qd)", Published, halfulp.ErrFormat))
	}
	if r.at != nil {
		return r, nil
	}
	copies := int64(0)
	for i, m := range r.in[:r.operands] {
		if !m.Arr.Overlaps(r.z.Arr) || m == r.z {
			continue
		}
		copies += sizeOf(m)
		if err := r.room(copies); err != nil {
			return r, r.failed(err)
		}
		r.in[i] = copyOf(m)
	}
	return r, nil
}

// formatsFit returns the number of words of the result's format, or an error if the format is not
// DD, TD or QD or an operand does not convert to it exactly.
func formatsFit(z *num.Array, in []num.Mat) (words int, err error) {
	switch z.Kind {
	case num.DDouble.Kind, num.TDouble.Kind, num.QDouble.Kind:
	default:
		return 0, fmt.Errorf("result of format %v: %w (want dd, td or qd)", z.Format, halfulp.ErrFormat)
	}
	for i, m := range in {
		if m.Arr.Kind == num.MP || m.Arr.Kind != num.F32 && m.Arr.Terms() > z.Terms() {
			return 0, fmt.Errorf("operand %d of format %v, result %v: %w (want %v or a shorter one; convert it first)", i+1, m.Arr.Format, z.Format, halfulp.ErrFormat, z.Format)
		}
	}
	return z.Terms(), nil
}

func matrixOf[A Array](x A) num.Mat {
	switch x := any(x).(type) {
	case *halfulp.Vector:
		return x.View().Mat()
	case *halfulp.Matrix:
		return x.View()
	}
	panic("expansion: neither a vector nor a matrix")
}

// whole returns all entries as one piece, and whether the piece is so small that one thread
// computes it at once.
func (r *elementwise) whole() (p piece, ok bool) {
	if r.z.Cols != 1 || r.z.Rows > chunk || r.Progress != nil || r.Ctx.Err() != nil {
		return p, false
	}
	return r.piece(0, 0, r.z.Rows), true
}

// piece returns entries (lo, j) to (lo+n-1, j) of the result and the operands.
func (r *elementwise) piece(j, lo, n int) piece {
	at := func(m *num.Mat) num.Vec { return num.Vec{Arr: m.Arr, Off: m.At(lo, j), Inc: m.RS, N: n} }
	p := piece{words: r.words, z: at(&r.z), operands: r.operands}
	for k := range r.operands {
		p.in[k] = at(&r.in[k])
	}
	return p
}

// each calls f with pieces of the whole.
func (r elementwise) each(f func(p *piece)) error {
	if r.z.RS != 1 && r.z.CS == 1 {
		r.all(func(m *num.Mat) { *m = m.T() })
	}
	// Columns that are contiguous are processed as one.
	joined := true
	r.all(func(m *num.Mat) { joined = joined && (m.Cols == 1 || m.CS == m.RS*m.Rows) })
	if joined {
		r.all(func(m *num.Mat) { m.Rows, m.Cols = m.Rows*m.Cols, 1 })
	}
	column := (r.z.Rows + chunk - 1) / chunk // pieces of one
	ended := r.pieces(column * r.z.Cols)
	return par.For(r.Ctx, r.Threads, column*r.z.Cols, func(_, i int) {
		lo := i % column * chunk
		p := r.piece(i/column, lo, min(chunk, r.z.Rows-lo))
		f(&p)
		ended()
	})
}

// all calls f with the result and every operand.
func (r *elementwise) all(f func(m *num.Mat)) {
	f(&r.z)
	for i := range r.operands {
		f(&r.in[i])
	}
}
