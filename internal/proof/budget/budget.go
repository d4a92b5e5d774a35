package budget

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/memlimit"
)

// Least is the working memory in bytes that a routine may always take, about as much as the Go
// runtime has anyway.
const Least = 4 << 20

// A Budget counts the bytes of a routine's large slices and bounds them. Operands and results do
// not count. The zero value has no bound.
type Budget struct {
	limit      int64 // 0: none
	used, most int64
	reserved   int64 // for what is not counted: see Reserve
	// the least that was asked for and refused since something was granted, 0 for nothing
	least float64
	// of a limit that the caller has set: the bytes of the heap when the routine began, and those
	// from which on the next collection comes
	keeps       bool
	base, after int64
}

// New returns a budget of limit bytes, which is Options.MemoryLimit. For 0 the bound is what the
// system allows the process.
func New(limit int64) Budget {
	if limit <= 0 {
		return Budget{limit: max(memlimit.Available().Bytes, Least)}
	}
	b := Budget{limit: max(limit, Least), keeps: true, base: heap()}
	b.after = b.base + b.limit
	return b
}

// heap returns the bytes of all objects of the heap, those that are garbage among them.
func heap() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(min(sample[0].Value.Uint64(), math.MaxInt64))
}

// Reclaim frees memory before so many bytes are allocated that the heap would grow by more than a
// limit that the caller has set: it drops the buffers that are kept for later and collects garbage,
// which the collector would let grow to the size of all that is in use. For many bytes it also
// returns it to the system, since free memory in pieces is of no use for them. It does nothing
// where the heap has hardly grown since it did so last.
func (b *Budget) Reclaim(bytes int64) {
	if !b.keeps || heap()+bytes <= b.after {
		return
	}
	bufpool.Drop()
	if bytes >= many {
		debug.FreeOSMemory()
	} else {
		runtime.GC()
	}
	b.after = max(b.base+b.limit, heap()+bytes+b.limit/16)
}

// many are bytes before which free memory returns to the system.
const many = 1 << 20

// Take counts so many bytes, and fewer where they are negative. It does not look at the bound: see
// Check.
func (b *Budget) Take(bytes int64) {
	b.used += bytes
	b.most = max(b.most, b.used+b.reserved)
}

// Reserve checks so many bytes and counts them until the next call, which replaces them: of a way
// whose slices are left to the collector and not counted one by one.
func (b *Budget) Reserve(bytes float64) error {
	b.reserved = 0
	if err := b.Check(bytes); err != nil {
		return err
	}
	b.reserved = int64(bytes)
	b.Take(0)
	return nil
}

// Left returns how many bytes more the bound allows, [Least] or more, and whether there is one.
func (b *Budget) Left() (bytes int64, ok bool) {
	return max(b.limit-b.used-b.reserved, Least), b.limit > 0
}

// Room returns how many bytes more what works in any memory may take where there is a bound: what
// is left, but of a limit that the caller has set no more than the heap is below it, which also
// holds what is not counted, and at least half of what is left.
func (b *Budget) Room() int64 {
	left, _ := b.Left()
	if b.keeps {
		left = min(left, max(b.base+b.limit-heap(), left/2, Least))
	}
	return left
}

// ForProducts returns what to count for products of matrices of so many bytes that run in blocks:
// the bytes that they get, and at least [Least] unless small ones take less.
func ForProducts(get, matrix float64) float64 {
	const residues = 16 // of numbers and two factors, in bytes for a byte
	return max(get, min(Least, float64(residues*matrix)))
}

// Most returns the most bytes that were counted at a time.
func (b *Budget) Most() int64 { return b.most }

// Check returns an error, which wraps memlimit.ErrExceeded, if so many bytes more exceed the bound.
// It names the bytes that the routine takes together, by the way that takes the least of those that
// have been refused one after the other.
func (b *Budget) Check(bytes float64) error {
	need := float64(b.used+b.reserved) + bytes
	if b.limit <= 0 || need <= float64(b.limit) {
		b.least = 0
		return nil
	}
	if b.least == 0 || need < b.least {
		b.least = need
	}
	return fmt.Errorf("%w: it takes %.0f bytes beside operands and results, %d are allowed", memlimit.ErrExceeded, b.least, b.limit)
}
