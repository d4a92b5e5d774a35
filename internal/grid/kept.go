package grid

import (
	"sync"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/hugepage"
	"github.com/halfulp/halfulp/internal/num"
)

// Messages and factors of products are kept for the next ones: memory that is met for the first
// time takes several times as long as moving matrices there (1.8 of 25 GB/s where it was measured).
var (
	messages bufpool.Shelf[[]byte]
	factors  sync.Map // from formats to shelves
)

// enough is the size up to which memory is taken where n bytes or numbers are wanted: small
// messages would keep large memory in use for good.
func enough(n int) int { return 8*n + 1<<16 }

// message returns a buffer, with any bytes, for messages of such lengths.
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

// keep keeps a message that nothing refers to any more.
func keep(message []byte) {
	if cap(message) > 0 {
		messages.Put(message, cap(message), bufpool.Bytes(message))
	}
}

// factorsOf are the arrays of a format that are kept.
func factorsOf(f num.Format) *bufpool.Shelf[*num.Array] {
	s, _ := factors.LoadOrStore(f, new(bufpool.Shelf[*num.Array]))
	return s.(*bufpool.Shelf[*num.Array])
}

// factor returns n numbers of any values, or more.
func factor(f num.Format, n int) *num.Array {
	if a, ok := factorsOf(f).Take(n, enough(n)); ok {
		return a
	}
	return num.New(f, n)
}

// keepFactor keeps an array that factor returned, and that nothing refers to any more.
func keepFactor(a *num.Array) {
	factorsOf(a.Format).Put(a, a.Len(), int64(a.Len())*num.SizeOf(a.Format))
}
