package pages

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// large is the size of large pages, on all systems but a few.
const large = 1 << 21

// Large asks the system for large pages in place of those of a new slice that no number has been
// stored in yet, where that is worth its while: pages that are met for the first time one by one
// take as long as reading a file into them. It does nothing where there are none.
func Large[T any](x []T) {
	size := uintptr(len(x)) * unsafe.Sizeof(*new(T))
	if size < 2*large {
		return
	}
	skip := -uintptr(unsafe.Pointer(&x[0])) % large
	if size -= skip; size >= large {
		inner := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&x[0]), skip)), size/large*large)
		_ = unix.Madvise(inner, unix.MADV_HUGEPAGE) // advice
	}
}
