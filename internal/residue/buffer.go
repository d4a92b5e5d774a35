package residue

import (
	"context"
	"unsafe"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/hugepage"
	"github.com/halfulp/halfulp/internal/par"
)

// Large buffers are kept between products.
var (
	wordBuffers bufpool.Shelf[[]int16]
	byteBuffers bufpool.Shelf[[]int8]
)

// buffersOf returns the shelf of buffers of elements of type T.
func buffersOf[T int8 | int16]() *bufpool.Shelf[[]T] {
	if s, ok := any(&wordBuffers).(*bufpool.Shelf[[]T]); ok {
		return s
	}
	return any(&byteBuffers).(*bufpool.Shelf[[]T])
}

func getBuffer[T int8 | int16](n int) []T {
	if b, ok := buffersOf[T]().Take(n, bufpool.Most(n)); ok {
		return b[:n]
	}
	b := make([]T, n)
	hugepage.Large(b)
	return b
}

// touchBytes is the memory that one task of getPlanes touches. The system takes up to 20 ms to
// clear it.
const touchBytes = 16 << 20

// getPlanes is getBuffer for planes of residues. A task that computes residues stores numbers to
// every plane, and a page of 2 MiB takes the system about 1 ms at the first store to it. So a first
// task could take a second. getPlanes touches these pages first, on all threads, and looks at ctx
// after each touchBytes.
func getPlanes[T int8 | int16](ctx context.Context, threads, n int) ([]T, error) {
	b := getBuffer[T](n)
	size := int(unsafe.Sizeof(b[0]))
	page, part := hugepage.Size/size, touchBytes/size
	err := par.For(ctx, threads, (n+part-1)/part, func(_, task int) {
		for i := task * part; i < min(n, (task+1)*part); i += page {
			b[i] = 0
		}
	})
	return b, err
}

func putBuffer[T int8 | int16](b []T) {
	if cap(b) > 0 {
		buffersOf[T]().Put(b, cap(b), bufpool.Bytes(b))
	}
}

// A scratch is the memory that a worker of a product uses in each step. It is kept between products
// too.
type scratch struct {
	y               []int16
	words, top      []int64
	mag, z, neg, ok []uint64
	sums            []uint64
	open            []bool
	terms           []float64
}

var scratches bufpool.Shelf[*scratch]

// bytes returns the bytes that s holds.
func (s *scratch) bytes() int64 {
	n := bufpool.Bytes(s.y) + bufpool.Bytes(s.words) + bufpool.Bytes(s.top) + bufpool.Bytes(s.sums) + bufpool.Bytes(s.open) + bufpool.Bytes(s.terms)
	return n + bufpool.Bytes(s.mag) + bufpool.Bytes(s.z) + bufpool.Bytes(s.neg) + bufpool.Bytes(s.ok)
}

// grow returns n elements of *s with unspecified values, and makes room for them if necessary.
func grow[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n)
	}
	return (*s)[:n]
}
