package expansion

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/raw"
)

// Array is a vector or matrix of package halfulp, with any strides.
type Array interface {
	*halfulp.Vector | *halfulp.Matrix
}

// Add sets z_i = x_i + y_i: see [DD.Add], [TD.Add], [QD.Add].
func Add[A Array](z, x, y A, o *halfulp.Options) error { return operate(opAdd, o, z, x, y) }

// Sub sets z_i = x_i - y_i: see [DD.Sub], [TD.Sub], [QD.Sub].
func Sub[A Array](z, x, y A, o *halfulp.Options) error { return operate(opSub, o, z, x, y) }

// Mul sets z_i = x_i y_i: see [DD.Mul], [TD.Mul], [QD.Mul].
func Mul[A Array](z, x, y A, o *halfulp.Options) error { return operate(opMul, o, z, x, y) }

// Div sets z_i = x_i / y_i: see [DD.Div], [TD.Div], [QD.Div].
func Div[A Array](z, x, y A, o *halfulp.Options) error { return operate(opDiv, o, z, x, y) }

// Sqrt sets z_i = √x_i: see [DD.Sqrt], [TD.Sqrt], [QD.Sqrt].
func Sqrt[A Array](z, x A, o *halfulp.Options) error { return operate(opSqrt, o, z, x) }

// FMA sets z_i = x_i y_i + c_i: see [DD.FMA], [TD.FMA], [QD.FMA].
func FMA[A Array](z, x, y, c A, o *halfulp.Options) error { return operate(opFMA, o, z, x, y, c) }

// Map sets z_i = f(x_i), for a function of one argument: see the method of f's name.
func Map[A Array](f Function, z, x A, o *halfulp.Options) error { return apply(f, o, z, x) }

// Map2 sets z_i = f(x_i, y_i), for a function of two arguments: see the method of f's name.
func Map2[A Array](f Function, z, x, y A, o *halfulp.Options) error { return apply(f, o, z, x, y) }

// SinCos sets s_i = sin x_i and c_i = cos x_i, the bits of Map, at less than the cost of both. s and
// c have one format; they may overlap x, and each other, where c is what is left.
func SinCos[A Array](s, c, x A, o *halfulp.Options) error {
	r, err := newRun(o, s, []A{x})
	if err != nil {
		return err
	}
	cos := matrixOf(c)
	if cos.Rows != r.z.Rows || cos.Cols != r.z.Cols {
		panic(errShape)
	}
	if cos.Arr.Format != r.z.Arr.Format {
		return fmt.Errorf("expansion: cosines of format %v, sines of %v: %w", cos.Arr.Format, r.z.Arr.Format, ErrFormat)
	}
	if r.device != "" {
		return sinCosOn(r.device, hostMatrix(s), hostMatrix(c), hostMatrix(x))
	}
	var apart *halfulp.Matrix
	switch {
	case cos.Arr.Overlaps(r.z.Arr): // columns of one matrix, say
		apart = hostMatrix(c).Clone()
		cos = raw.Matrix(apart)
	case r.in[0].Arr.Overlaps(cos.Arr) && r.in[0] != cos:
		r.in[0] = copyOf(r.in[0])
	}
	r.in[1], r.operands = cos, 2
	k := activeKernels()
	err = r.each(func(p *piece) { k.sinCos(p) })
	if err == nil && apart != nil {
		copyMatrix(hostMatrix(c), apart)
	}
	return err
}

// ErrFormat is wrapped by errors about formats that a routine does not take.
var ErrFormat = errors.New("format does not fit")

const (
	errShape     = "expansion: shapes do not fit"
	errTranspose = "expansion: bad Transpose"
)

// chunk is how many numbers a thread takes at a time.
const chunk = 4096

func operate[A Array](op operation, o *halfulp.Options, z A, in ...A) error {
	r, err := newRun(o, z, in)
	if err != nil {
		return err
	}
	if r.device != "" {
		return eachOn(r.device, operationNames[op], z, in)
	}
	k := activeKernels()
	if p, whole := r.whole(); whole {
		k.operate(op, &p)
		return nil
	}
	return r.each(func(p *piece) { k.operate(op, p) })
}

func apply[A Array](f Function, o *halfulp.Options, z A, in ...A) error {
	if err := f.takes(len(in)); err != nil {
		return err
	}
	r, err := newRun(o, z, in)
	if err != nil {
		return err
	}
	if r.device != "" {
		return eachOn(r.device, f.String(), z, in)
	}
	k := activeKernels()
	return r.each(func(p *piece) { k.apply(f, p) })
}

// takes returns an error unless f is a function of n arguments.
func (f Function) takes(n int) error {
	if f < 0 || int(f) >= len(functions) || f.Arity() != n {
		return fmt.Errorf("expansion: %v is no function of %s", f, []string{"one argument", "two arguments"}[n-1])
	}
	return nil
}

// A run is an elementwise routine under way.
type run struct {
	ctx      context.Context
	threads  int
	progress func(float64)
	words    int
	z        num.Mat
	in       [3]num.Mat
	operands int
	device   string // "cuda:N", or empty for the CPU
}

// A piece is what one thread does at a time: the same entries of the result and the operands.
type piece struct {
	words    int
	z        num.Vec
	in       [3]num.Vec
	operands int
}

func newRun[A Array](o *halfulp.Options, z A, in []A) (r run, err error) {
	r.z, r.operands = matrixOf(z), len(in)
	for i, x := range in {
		m := matrixOf(x)
		if m.Rows != r.z.Rows || m.Cols != r.z.Cols {
			panic(errShape)
		}
		if m.Arr.Overlaps(r.z.Arr) && m != r.z {
			m = copyOf(m)
		}
		r.in[i] = m
	}
	if err = r.options(o); err != nil {
		return r, err
	}
	r.words, err = formatsFit(r.z.Arr, r.in[:r.operands])
	return r, err
}

// options checks o and fills in the defaults.
func (r *run) options(o *halfulp.Options) error {
	r.ctx, r.threads = context.Background(), runtime.GOMAXPROCS(0)
	if o == nil {
		return nil
	}
	if o.Context != nil {
		r.ctx = o.Context
	}
	if o.Threads > 0 {
		r.threads = min(o.Threads, 4*r.threads+16)
	}
	r.progress = o.Progress
	if err := checkMethod(o); err != nil {
		return err
	}
	list, err := raw.Devices(o.Device)
	if len(list) > 0 {
		r.device = fmt.Sprintf("cuda:%d", list[0])
	}
	return err
}

// checkMethod returns an error unless the method is this package's.
func checkMethod(o *halfulp.Options) error {
	switch o.Method {
	case "", "auto", Method:
		return nil
	}
	return fmt.Errorf("expansion: method %q: %w (want auto or %s)", o.Method, halfulp.ErrMethod, Method)
}

// Method is the name of this package's algorithms among the methods of products.
const Method = "expansion"

// formatsFit returns the words of the result's format, or an error if that is not DD, TD or QD or
// an operand does not convert to it exactly.
func formatsFit(z *num.Array, in []num.Mat) (words int, err error) {
	switch z.Kind {
	case num.DDouble.Kind, num.TDouble.Kind, num.QDouble.Kind:
	default:
		return 0, fmt.Errorf("expansion: result of format %v: %w (want dd, td or qd)", z.Format, ErrFormat)
	}
	for i, m := range in {
		if m.Arr.Kind == num.MP || m.Arr.Kind != num.F32 && m.Arr.Terms() > z.Terms() {
			return 0, fmt.Errorf("expansion: operand %d of format %v, result %v: %w (want %v or a shorter one; convert it first)", i+1, m.Arr.Format, z.Format, ErrFormat, z.Format)
		}
	}
	return z.Terms(), nil
}

func matrixOf[A Array](x A) num.Mat {
	switch x := any(x).(type) {
	case *halfulp.Vector:
		return raw.Vector(x).Mat()
	default:
		return raw.Matrix(x)
	}
}

// whole returns all as one piece, and whether it is so small that nothing more need be done.
func (r *run) whole() (p piece, ok bool) {
	if r.z.Cols != 1 || r.z.Rows > chunk || r.progress != nil || r.ctx.Err() != nil {
		return p, false
	}
	return r.piece(0, 0, r.z.Rows), true
}

// piece is entries (lo, j) to (lo+n-1, j) of all.
func (r *run) piece(j, lo, n int) piece {
	at := func(m *num.Mat) num.Vec { return num.Vec{Arr: m.Arr, Off: m.At(lo, j), Inc: m.RS, N: n} }
	p := piece{words: r.words, z: at(&r.z), operands: r.operands}
	for k := range r.operands {
		p.in[k] = at(&r.in[k])
	}
	return p
}

// each calls f with pieces of the whole.
func (r run) each(f func(p *piece)) error {
	if r.z.RS != 1 && r.z.CS == 1 {
		r.all(func(m *num.Mat) { *m = m.T() })
	}
	// Columns that follow one another are one.
	joined := true
	r.all(func(m *num.Mat) { joined = joined && (m.Cols == 1 || m.CS == m.RS*m.Rows) })
	if joined {
		r.all(func(m *num.Mat) { m.Rows, m.Cols = m.Rows*m.Cols, 1 })
	}
	column := (r.z.Rows + chunk - 1) / chunk // pieces of one
	report := progress(r.progress, column*r.z.Cols)
	return par.For(r.ctx, r.threads, column*r.z.Cols, func(_, i int) {
		lo := i % column * chunk
		p := r.piece(i/column, lo, min(chunk, r.z.Rows-lo))
		f(&p)
		report()
	})
}

// all calls f with the result and every operand.
func (r *run) all(f func(m *num.Mat)) {
	f(&r.z)
	for i := range r.operands {
		f(&r.in[i])
	}
}

// progress returns what to call at the end of each of total pieces of work, from any goroutine.
func progress(f func(done float64), total int) func() {
	if f == nil {
		return func() {}
	}
	var mu sync.Mutex
	ended := 0
	return func() {
		mu.Lock()
		defer mu.Unlock()
		ended++
		f(float64(ended) / float64(total))
	}
}
