package exact

import "sync"

// Large buffers are kept between products: fresh memory costs as much time, in page
// faults, as the products of small problems. The garbage collector takes those
// that lie unused.
var buffers sync.Pool

func getBuffer(n int) []int16 {
	if b, ok := buffers.Get().(*[]int16); ok {
		if cap(*b) >= n {
			return (*b)[:n]
		}
	}
	return make([]int16, n)
}

func putBuffer(b []int16) {
	if cap(b) > 0 {
		buffers.Put(&b)
	}
}
