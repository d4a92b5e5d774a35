package grid

import (
	"sync"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/pages"
)

// Messages and factors of products are kept for the next ones: memory that is met for the first
// time takes several times as long as moving matrices there (1.8 of 25 GB/s where it was measured).
// The garbage collector takes what lies unused. Memory for much more than what is asked for is left
// to it, as small messages would keep it in use for good.
var (
	messages sync.Pool
	factors  sync.Map // from formats to pools
)

// message returns a buffer, with any bytes, for messages of such lengths.
func message(lengths []int) []byte {
	total := 0
	for _, n := range lengths {
		total += n
	}
	if b, ok := messages.Get().(*[]byte); ok && fits(cap(*b), total) {
		return (*b)[:total]
	}
	b := make([]byte, total)
	pages.Large(b)
	return b
}

// fits reports whether memory for so many bytes or numbers is taken where n are wanted.
func fits(many, n int) bool { return n <= many && many <= 8*n+1<<16 }

// keep keeps a message that nothing refers to any more.
func keep(message []byte) {
	if cap(message) > 0 {
		messages.Put(&message)
	}
}

// factorsOf is the pool of arrays of a format.
func factorsOf(f num.Format) *sync.Pool {
	p, _ := factors.LoadOrStore(f, new(sync.Pool))
	return p.(*sync.Pool)
}

// factor returns n numbers of any values, or more.
func factor(f num.Format, n int) *num.Array {
	if a, ok := factorsOf(f).Get().(*num.Array); ok && fits(a.Len(), n) {
		return a
	}
	return num.New(f, n)
}

// keepFactor keeps an array that factor returned, and that nothing refers to any more.
func keepFactor(a *num.Array) { factorsOf(a.Format).Put(a) }
