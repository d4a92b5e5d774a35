package exact

import (
	"sync"
	"unsafe"
)

// Large buffers are kept between products: fresh memory costs as much time, in page
// faults, as the products of small problems. The garbage collector takes those
// that lie unused.
var buffers struct{ words, bytes sync.Pool }

// buffersOf returns the pool of buffers of T.
func buffersOf[T int8 | int16]() *sync.Pool {
	if unsafe.Sizeof(T(0)) == 1 {
		return &buffers.bytes
	}
	return &buffers.words
}

func getBuffer[T int8 | int16](n int) []T {
	if b, ok := buffersOf[T]().Get().(*[]T); ok {
		if cap(*b) >= n {
			return (*b)[:n]
		}
	}
	return make([]T, n)
}

func putBuffer[T int8 | int16](b []T) {
	if cap(b) > 0 {
		buffersOf[T]().Put(&b)
	}
}
