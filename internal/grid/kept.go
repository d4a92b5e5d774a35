package grid

import (
	"sync"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/hugepage"
	"github.com/halfulp/halfulp/internal/num"
)

// Messages and factors of products are kept for later ones: the first use of new memory takes
// several times as long as moving a matrix to it (measured: 1.8 instead of 25 GB/s).
var (
	messages bufpool.Shelf[[]byte]
	factors  sync.Map // maps formats to shelves
)

// enough returns the largest size of kept memory that is used for n bytes or numbers. Otherwise
// small messages would keep large memory in use indefinitely.
func enough(n int) int { return 8*n + 1<<16 }

// message returns a buffer with unspecified contents for messages of these lengths.
func message(lengths []int) []byte {
	total := 0
	for _, n := range lengths {
		total += n
	}
	if b, ok := messages.Take(total, enough(total)); ok {
		return b[:total]
	}
	b := make([]byte, total)
	hugepage.Large(b)
	return b
}

// keep keeps a message for later use. Nothing may refer to it any more.
func keep(message []byte) {
	if cap(message) > 0 {
		messages.Put(message, cap(message), bufpool.Bytes(message))
	}
}

// factorsOf returns the shelf of kept arrays of a format.
func factorsOf(f num.Format) *bufpool.Shelf[*num.Array] {
	s, _ := factors.LoadOrStore(f, new(bufpool.Shelf[*num.Array]))
	return s.(*bufpool.Shelf[*num.Array])
}

// factor returns an array of at least n numbers with unspecified values.
func factor(f num.Format, n int) *num.Array {
	if a, ok := factorsOf(f).Take(n, enough(n)); ok {
		return a
	}
	return num.New(f, n)
}

// keepFactor keeps an array that factor returned. Nothing may refer to it any more.
func keepFactor(a *num.Array) {
	factorsOf(a.Format).Put(a, a.Len(), int64(a.Len())*num.SizeOf(a.Format))
}
