package exact

import (
	"sync"
	"unsafe"

	"github.com/halfulp/halfulp/internal/pages"
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

// looks is how many buffers getBuffer looks at: those of results are smaller than those of
// operands.
const looks = 4

func getBuffer[T int8 | int16](n int) []T {
	pool := buffersOf[T]()
	var small [looks]*[]T
	defer func() {
		for _, b := range small {
			if b != nil {
				pool.Put(b)
			}
		}
	}()
	for i := range small {
		b, ok := pool.Get().(*[]T)
		if !ok {
			break
		}
		if cap(*b) >= n {
			return (*b)[:n]
		}
		small[i] = b
	}
	b := make([]T, n)
	if unsafe.Sizeof(T(0)) == 1 {
		// Tiles are as fast as memory; other kernels do not gain what clearing them may cost.
		pages.Large(b)
	}
	return b
}

func putBuffer[T int8 | int16](b []T) {
	if cap(b) > 0 {
		buffersOf[T]().Put(&b)
	}
}

// A scratch is what a worker of a product writes to in steps. Products keep those of the ones
// before for the same reason.
type scratch struct {
	y               []int16
	words, top      []int64
	mag, z, neg, ok []uint64
	sums            []uint64
	open            []bool
	terms           []float64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// grow returns n elements of *s, with any values, for which there is room then.
func grow[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n)
	}
	return (*s)[:n]
}
