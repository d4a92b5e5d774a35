package main

// #include "library.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/linsolve"
	"github.com/halfulp/halfulp/rational"
)

// failure is an error with its status. Functions that find a misuse in the arguments panic with a
// failure, which ends the call.
type failure struct {
	status C.int
	text   string
}

func misuse(format string, args ...any) failure {
	return failure{C.HALFULP_MISUSE, fmt.Sprintf(format, args...)}
}

func (f failure) Error() string { return f.text }

// call is the state of one call of the library.
type call struct {
	name string
	held []*memory // until the call ends
	err  error
}

// end ends a call: it releases the memory that the call holds, and converts an error or a panic
// into a status and a text, which C frees.
func (k *call) end(status *C.int, text **C.char) {
	if p := recover(); p != nil {
		k.err = thrown(p)
	}
	for _, m := range k.held {
		if err := m.settle(); k.err == nil {
			k.err = err
		}
		m.drop()
	}
	if k.err != nil {
		*status = statusOf(k.err)
		*text = C.CString(k.name + ": " + strings.TrimPrefix(k.err.Error(), k.name+": "))
	}
}

// thrown returns the error for the value of a panic. The constant messages of package halfulp
// become misuse, errors of the Go runtime become HALFULP_INTERNAL with a stack trace.
func thrown(p any) error {
	switch p := p.(type) {
	case runtime.Error:
		return failure{C.HALFULP_INTERNAL, fmt.Sprintf("%v\n%s", p, debug.Stack())}
	case error:
		return p
	case string:
		return misuse("%s", strings.TrimPrefix(strings.TrimPrefix(p, "halfulp: "), "rational: "))
	}
	return misuse("%v", p)
}

// statusOf returns the status of an error.
func statusOf(err error) C.int {
	var f failure
	if errors.As(err, &f) {
		return f.status
	}
	for _, s := range []struct {
		status C.int
		errors []error
	}{
		{C.HALFULP_CANCELLED, []error{context.Canceled, context.DeadlineExceeded}},
		{C.HALFULP_SINGULAR, []error{linsolve.ErrSingular}},
		{C.HALFULP_INCONSISTENT, []error{rational.ErrInconsistent}},
		{C.HALFULP_NOT_POSITIVE_DEFINITE, []error{linsolve.ErrNotPositiveDefinite, eigen.ErrDomain}},
		{C.HALFULP_NOT_FINITE, []error{linsolve.ErrNotFinite}},
		{C.HALFULP_RANGE, []error{linsolve.ErrRange, linsolve.ErrNorm, linsolve.ErrWide}},
		{C.HALFULP_MEMORY, []error{halfulp.ErrMemory}},
		{C.HALFULP_DEVICE, []error{halfulp.ErrDevice}},
		{C.HALFULP_HARDWARE, []error{halfulp.ErrHardware}},
		{C.HALFULP_MISUSE, []error{halfulp.ErrMixedDevices, halfulp.ErrMethod, halfulp.ErrOptions, linsolve.ErrNotSymmetric, linsolve.ErrUnit, linsolve.ErrWeights, linsolve.ErrConfidence, eigen.ErrRCond, eigen.ErrZeroPolynomial, eigen.ErrWeightExponent, rational.ErrSyntax, rational.ErrNotSymmetric}},
		{C.HALFULP_FILE, []error{fs.ErrNotExist, fs.ErrPermission, fs.ErrExist}},
	} {
		for _, e := range s.errors {
			if errors.Is(err, e) {
				return s.status
			}
		}
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return C.HALFULP_FILE
	}
	return C.HALFULP_INTERNAL
}

// kindOf returns the name of the kind of a handle's object.
func kindOf(value any) string {
	switch value.(type) {
	case *halfulp.Matrix:
		return "a matrix"
	case halfulp.Scalar:
		return "a scalar"
	case *rational.Matrix:
		return "a rational matrix"
	case *record:
		return "a record"
	}
	return "options"
}

// value returns the value of type T of the handle in argument arg, and the handle's object. The
// call holds the object's memory until it ends. It panics if the handle is not live or denotes an
// object of another kind.
func value[T any](k *call, arg string, handle C.uint64_t) (T, *object) {
	o := lookUp(uint64(handle))
	var t T
	if o == nil {
		if handle == 0 {
			panic(misuse("argument %s: the handle is 0, which stands for nothing; %s is needed", arg, kindOf(t)))
		}
		panic(misuse("argument %s: the handle %#x was freed, or never made; %s is needed", arg, uint64(handle), kindOf(t)))
	}
	if o.memory != nil {
		k.held = append(k.held, o.memory)
		if err := o.memory.follow(); err != nil {
			panic(err)
		}
	}
	t, ok := o.value.(T)
	if !ok {
		panic(misuse("argument %s: the handle stands for %s; %s is needed", arg, kindOf(o.value), kindOf(t)))
	}
	return t, o
}

func (k *call) matrix(arg string, handle C.uint64_t) *halfulp.Matrix {
	m, _ := value[*halfulp.Matrix](k, arg, handle)
	return m
}

// view is a matrix with the device memory that it shares with other views of the matrix.
type view struct {
	*halfulp.Matrix
	memory *memory
}

func (k *call) view(arg string, handle C.uint64_t) view {
	m, o := value[*halfulp.Matrix](k, arg, handle)
	return view{m, o.memory}
}

// vector returns a matrix of one column, or of one row, as a vector.
func (k *call) vector(arg string, handle C.uint64_t) *halfulp.Vector {
	m := k.matrix(arg, handle)
	switch {
	case m.Cols() == 1:
		return m.Col(0)
	case m.Rows() == 1:
		return m.Row(0)
	}
	panic(misuse("argument %s: the matrix is %d x %d; a vector is n x 1 or 1 x n", arg, m.Rows(), m.Cols()))
}

func (k *call) optionalVector(arg string, handle C.uint64_t) *halfulp.Vector {
	if handle == 0 {
		return nil
	}
	return k.vector(arg, handle)
}

func (k *call) optionalMatrix(arg string, handle C.uint64_t) *halfulp.Matrix {
	if handle == 0 {
		return nil
	}
	return k.matrix(arg, handle)
}

func (k *call) scalar(arg string, handle C.uint64_t) halfulp.Scalar {
	s, _ := value[halfulp.Scalar](k, arg, handle)
	return s
}

func (k *call) optionalScalar(arg string, handle C.uint64_t) *halfulp.Scalar {
	if handle == 0 {
		return nil
	}
	s := k.scalar(arg, handle)
	return &s
}

func (k *call) rational(arg string, handle C.uint64_t) *rational.Matrix {
	m, _ := value[*rational.Matrix](k, arg, handle)
	return m
}

func (k *call) record(arg string, handle C.uint64_t) *record {
	r, _ := value[*record](k, arg, handle)
	return r
}

func (k *call) options(arg string, handle C.uint64_t) *options {
	if handle == 0 {
		return nil
	}
	o, _ := value[*options](k, arg, handle)
	return o
}

// format returns the format that a text names, or otherwise if the text is NULL or empty.
func (k *call) format(arg string, text *C.char, otherwise halfulp.Format) halfulp.Format {
	if text == nil || *text == 0 {
		return otherwise
	}
	f, err := halfulp.ParseFormat(C.GoString(text))
	if err != nil {
		panic(misuse("argument %s: %v", arg, err))
	}
	return f
}

func (k *call) text(arg string, text *C.char) string {
	if text == nil {
		panic(misuse("argument %s: the pointer is NULL; a text is needed", arg))
	}
	return C.GoString(text)
}

// letter returns the flag c in upper case. It panics unless c is one of letters, in upper or lower
// case.
func (k *call) letter(arg string, c C.char, letters string) byte {
	b := byte(c)
	if 'a' <= b && b <= 'z' {
		b -= 'a' - 'A'
	}
	if strings.IndexByte(letters, b) < 0 || b == ' ' {
		panic(misuse("argument %s: %q; one of the letters %s is needed", arg, rune(byte(c)), letters))
	}
	return b
}

func (k *call) trans(arg string, c C.char) halfulp.Transpose {
	return halfulp.Transpose(k.letter(arg, c, "NTC"))
}
func (k *call) uplo(arg string, c C.char) halfulp.Uplo { return halfulp.Uplo(k.letter(arg, c, "UL")) }
func (k *call) diag(arg string, c C.char) halfulp.Diag { return halfulp.Diag(k.letter(arg, c, "NU")) }
func (k *call) side(arg string, c C.char) halfulp.Side { return halfulp.Side(k.letter(arg, c, "LR")) }

// norm returns the norm for a letter: 1 or O for the 1-norm, 2 for the 2-norm, I for the maximum
// norm.
func (k *call) norm(arg string, c C.char) byte {
	b := k.letter(arg, c, "1O2I")
	if b == 'O' {
		return '1'
	}
	return b
}

// anyNorm returns the norm for the letters of LAPACK's lange, or 2: O becomes 1, and E becomes F.
func (k *call) anyNorm(arg string, c C.char) byte {
	b := k.letter(arg, c, "1O2IFEM")
	switch b {
	case 'O':
		return '1'
	case 'E':
		return 'F'
	}
	return b
}

// needed panics if the pointer to a result is NULL.
func (k *call) needed(arg string, p unsafe.Pointer) {
	if p == nil {
		panic(misuse("argument %s: the pointer is NULL; the result needs a place", arg))
	}
}

func (k *call) putMatrix(p *C.uint64_t, m *halfulp.Matrix) {
	*p = C.uint64_t(newHandle(&object{m, newMemory(m)}))
}

func (k *call) putView(p *C.uint64_t, v view) {
	*p = C.uint64_t(newHandle(&object{v.Matrix, v.memory}))
}

func (k *call) putScalar(p *C.uint64_t, s halfulp.Scalar) {
	*p = C.uint64_t(newHandle(&object{value: s}))
}

func (k *call) putRational(p *C.uint64_t, m *rational.Matrix) {
	*p = C.uint64_t(newHandle(&object{value: m}))
}

func (k *call) putRecord(p *C.uint64_t, r *record) {
	*p = C.uint64_t(newHandle(&object{r, r.memory}))
}

func (k *call) putOptions(p *C.uint64_t, o *options) {
	*p = C.uint64_t(newHandle(&object{value: o}))
}

// putCount stores a number that the caller may not want.
func (k *call) putCount(p *C.int64_t, n int) {
	if p != nil {
		*p = C.int64_t(n)
	}
}

func (k *call) putInt(p *C.int64_t, n int)     { *p = C.int64_t(n) }
func (k *call) putReal(p *C.double, x float64) { *p = C.double(x) }
func (k *call) putText(p **C.char, s string)   { *p = C.CString(s) }
func (k *call) putBool(p *C.int, b bool) {
	*p = 0
	if b {
		*p = 1
	}
}

// putBytes stores a copy of b in C memory, followed by a zero byte, and its length without this
// byte.
func (k *call) putBytes(p **C.char, n *C.int64_t, b []byte) {
	*n = C.int64_t(len(b))
	*p = C.CString(string(b))
}

func (k *call) neededOptions(arg string, handle C.uint64_t) *options {
	o, _ := value[*options](k, arg, handle)
	return o
}

// discard frees a matrix that is not returned to the caller, unless it is nil.
func discard(m *halfulp.Matrix) {
	if m != nil {
		m.Free()
	}
}
