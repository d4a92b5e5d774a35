// Package cublas calls NVIDIA's cuBLAS, which it loads at run time: nothing is linked, and on a
// machine without cuBLAS an error is returned. It multiplies float32 matrices in float32 and
// float64 matrices in float64, never in TF32 or by emulation.
package cublas

import (
	"errors"
	"fmt"
	"unsafe"
)

// ErrNone is wrapped by errors about machines without a cuBLAS that works.
var ErrNone = errors.New("no cuBLAS")

// Pointer is an address in the memory of a device.
type Pointer = uint64

// Matrix is a matrix of numbers at P, column by column, whose columns are LD numbers apart.
type Matrix struct {
	P  Pointer
	LD int
}

// Transpose says whether a product reads a matrix or its transpose (cublasOperation_t).
type Transpose uintptr

// The operations on an operand.
const (
	NoTrans Transpose = 0
	Trans   Transpose = 1
)

// Handle is a cuBLAS context (cublasHandle_t) that works on one stream of one device. Its methods
// must be called on a thread whose current context is the context of the stream. They queue their
// work, like a launch of a kernel, and return before it is done.
type Handle struct {
	lib     *library
	h       uintptr
	version int
}

// library is a cuBLAS.
type library struct {
	name                                            string
	create, destroy, getVersion, setStream, setMode uintptr
	sgemm, sgemmBatched, dgemm                      uintptr
}

// lookup finds the functions of a library.
func (l *library) lookup(symbol func(name string) (uintptr, error)) error {
	for _, f := range []struct {
		to   *uintptr
		name string
	}{
		{&l.create, "cublasCreate_v2"},
		{&l.destroy, "cublasDestroy_v2"},
		{&l.getVersion, "cublasGetVersion_v2"},
		{&l.setStream, "cublasSetStream_v2"},
		{&l.setMode, "cublasSetMathMode"},
		{&l.sgemm, "cublasSgemm_v2"},
		{&l.sgemmBatched, "cublasSgemmBatched"},
		{&l.dgemm, "cublasDgemm_v2"},
	} {
		addr, err := symbol(f.name)
		if err != nil || addr == 0 {
			return fmt.Errorf("%s has no %s", l.name, f.name)
		}
		*f.to = addr
	}
	return nil
}

// pedantic is CUBLAS_PEDANTIC_MATH: neither tensor cores of less precision nor emulation,
// whatever the environment says.
const pedantic = 2

// Create returns a context on the stream (a CUstream) of the current context. Libraries are
// tried in turn, the newest first, since one may be too new for the driver. Its error wraps
// ErrNone if none works.
func Create(stream uintptr) (*Handle, error) { return create(stream, load) }

// create is Create for the libraries that next gives, until it returns nil.
func create(stream uintptr, libraries func(yield func(*library, error) bool)) (*Handle, error) {
	failures := []error{ErrNone}
	for lib, err := range libraries {
		if err == nil {
			var h *Handle
			if h, err = lib.start(stream); err == nil {
				return h, nil
			}
		}
		failures = append(failures, err)
	}
	if len(failures) == 1 {
		return nil, fmt.Errorf("%w: %s not found", ErrNone, wanted)
	}
	return nil, errors.Join(failures...)
}

// start creates a context.
func (l *library) start(stream uintptr) (*Handle, error) {
	h := &Handle{lib: l}
	if err := l.do("cublasCreate", l.create, uintptr(addr(&h.h))); err != nil {
		return nil, err
	}
	var version int32
	for _, err := range []error{
		l.do("cublasGetVersion", l.getVersion, h.h, uintptr(addr(&version))),
		l.do("cublasSetStream", l.setStream, h.h, stream),
		l.do("cublasSetMathMode", l.setMode, h.h, pedantic),
	} {
		if err != nil {
			return nil, errors.Join(err, h.Close())
		}
	}
	h.version = int(version)
	return h, nil
}

// Close ends the context, after its work.
func (h *Handle) Close() error { return h.lib.do("cublasDestroy", h.lib.destroy, h.h) }

// String is the library's name and version.
func (h *Handle) String() string {
	return fmt.Sprintf("cuBLAS %d.%d.%d (%s)", h.version/10000, h.version/100%100, h.version%100, h.lib.name)
}

// Sgemm sets C = op(A) op(B) for matrices of float32, C m x n, op(A) m x k.
func (h *Handle) Sgemm(transA, transB Transpose, m, n, k int, a, b, c Matrix) error {
	alpha, beta := float32(1), float32(0)
	return h.lib.do("cublasSgemm", h.lib.sgemm, h.h, uintptr(transA), uintptr(transB), uintptr(m), uintptr(n), uintptr(k),
		uintptr(addr(&alpha)), uintptr(a.P), uintptr(a.LD), uintptr(b.P), uintptr(b.LD),
		uintptr(addr(&beta)), uintptr(c.P), uintptr(c.LD))
}

// SgemmBatched is Sgemm for count products of one shape. a, b and c are in the device's memory
// and hold the addresses of the matrices.
func (h *Handle) SgemmBatched(transA, transB Transpose, m, n, k int, a, b, c Matrix, count int) error {
	alpha, beta := float32(1), float32(0)
	return h.lib.do("cublasSgemmBatched", h.lib.sgemmBatched, h.h, uintptr(transA), uintptr(transB), uintptr(m), uintptr(n), uintptr(k),
		uintptr(addr(&alpha)), uintptr(a.P), uintptr(a.LD), uintptr(b.P), uintptr(b.LD),
		uintptr(addr(&beta)), uintptr(c.P), uintptr(c.LD), uintptr(count))
}

// Dgemm sets C = α op(A) op(B) + β C for matrices of float64.
func (h *Handle) Dgemm(transA, transB Transpose, m, n, k int, alpha float64, a, b Matrix, beta float64, c Matrix) error {
	return h.lib.do("cublasDgemm", h.lib.dgemm, h.h, uintptr(transA), uintptr(transB), uintptr(m), uintptr(n), uintptr(k),
		uintptr(addr(&alpha)), uintptr(a.P), uintptr(a.LD), uintptr(b.P), uintptr(b.LD),
		uintptr(addr(&beta)), uintptr(c.P), uintptr(c.LD))
}

// Error is the failure of a call.
type Error struct {
	Call   string
	Status int // cublasStatus_t
}

// statuses are the values of cublasStatus_t.
var statuses = map[int]string{
	1:  "not initialised: the library does not fit the driver, or the device has no memory left",
	3:  "out of memory",
	7:  "invalid value",
	8:  "not for this architecture",
	11: "memory cannot be reached",
	13: "execution failed",
	14: "internal error",
	15: "not supported",
	16: "licence error",
}

func (e *Error) Error() string {
	text, ok := statuses[e.Status]
	if !ok {
		text = "error"
	}
	return fmt.Sprintf("%s: %s (status %d)", e.Call, text, e.Status)
}

// addr is where x lies, for do's argument list.
func addr[T any](x *T) unsafe.Pointer { return unsafe.Pointer(x) }
