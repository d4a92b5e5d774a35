package budget

import (
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/memlimit"
)

// Least is the working memory in bytes that a routine may always use. The Go runtime itself uses
// about as much.
const Least = 4 << 20

// A Budget counts the bytes of a routine's large slices and bounds them. Operands and results are
// not counted. The zero value has no bound.
type Budget struct {
	limit      int64 // 0: no limit
	used, most int64
	reserved   int64 // bytes that are not counted slice by slice: see Reserve
	// the smallest total that was refused since a request was last granted; 0: none
	least float64
	// If the caller has set the limit, keeps is set, base is the size of the heap when the routine
	// began, and last is its resident size after the last collection by Reclaim, or 0.
	keeps      bool
	base, last int64
}

// New returns a budget of limit bytes, the value of Options.MemoryLimit, and at least Least. For 0
// the bound is the memory that the system allows the process.
func New(limit int64) Budget {
	if limit <= 0 {
		return Budget{limit: max(memlimit.Available().Bytes, Least)}
	}
	return Budget{limit: max(limit, Least), keeps: true, base: sizesFor(limit).heap}
}

// sizes are the sizes of the heap in bytes.
type sizes struct {
	heap     int64 // of all objects, including garbage
	resident int64 // that the system provides: objects, and free memory not returned to the system
	read     time.Time
}

// recent are the last sizes that sizesFor has read.
var recent atomic.Pointer[sizes]

// The runtime reads its sizes on one thread at a time, which takes as long as a small system of a
// batch. So limits of at least coarseLimit are compared with sizes that are up to coarseAge old.
const (
	coarseLimit = 1 << 30
	coarseAge   = time.Millisecond
)

// sizesFor returns the sizes of the heap for a limit of this many bytes.
func sizesFor(limit int64) sizes {
	if s := recent.Load(); limit >= coarseLimit && s != nil && time.Since(s.read) < coarseAge {
		return *s
	}
	s := sizesNow()
	recent.Store(&s)
	return s
}

// sizesNow reads the sizes of the heap from the Go runtime.
func sizesNow() sizes {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	var x [3]int64
	for i, s := range samples {
		x[i] = int64(min(s.Value.Uint64(), math.MaxInt64/8))
	}
	return sizes{x[0], x[0] + x[1] + x[2], time.Now()}
}

// Reclaim frees memory before an allocation of the given bytes, if the heap would grow beyond a
// limit that the caller has set. It drops the buffers that are kept for later, collects garbage,
// and returns free memory to the system; without this the collector would let garbage grow to the
// size of all memory in use. It does nothing if the heap has hardly grown since the last time.
func (b *Budget) Reclaim(bytes int64) {
	if !b.keeps {
		return
	}
	late := b.limit / 32
	if r := sizesFor(b.limit).resident; r+bytes <= b.base+b.limit-late || r <= b.last+late {
		return
	}
	bufpool.Drop()
	debug.FreeOSMemory()
	s := sizesNow()
	recent.Store(&s)
	b.last = s.resident
}

// Take adds bytes, which may be negative, to the count. It does not check the bound: see Check.
func (b *Budget) Take(bytes int64) {
	b.used += bytes
	b.most = max(b.most, b.used+b.reserved)
}

// Reserve checks the given bytes against the bound and counts them until the next call, which
// replaces them. It is for ways whose slices are left to the garbage collector and not counted one
// by one.
func (b *Budget) Reserve(bytes float64) error {
	b.reserved = 0
	if err := b.Check(bytes); err != nil {
		return err
	}
	b.reserved = int64(bytes)
	b.Take(0)
	return nil
}

// Left returns how many further bytes the bound allows, at least [Least], and whether there is a
// bound.
func (b *Budget) Left() (bytes int64, ok bool) {
	return max(b.limit-b.used-b.reserved, Least), b.limit > 0
}

// Room returns how many further bytes may be used by routines that adapt to any amount of memory.
// It is what Left returns. If the caller has set the limit, it is also at most the amount by which
// the heap is below the limit, since the heap includes memory that is not counted; but at least
// half of Left, and at least [Least].
func (b *Budget) Room() int64 {
	left, _ := b.Left()
	if b.keeps {
		left = min(left, max(b.base+b.limit-sizesFor(b.limit).heap, left/2, Least))
	}
	return left
}

// ForProducts returns the bytes to count for products of matrices that run in blocks: get, the
// bytes that the products may use, or [Least] if that is more, or the less that products of small
// matrices take. matrix is the bytes of a matrix.
func ForProducts(get, matrix float64) float64 {
	const residues = 16 // bytes of residues of factors and result, a byte of a matrix
	return max(get, min(Least, float64(residues*matrix)))
}

// Most returns the largest number of bytes that were counted at one time.
func (b *Budget) Most() int64 { return b.most }

// Check returns an error that wraps memlimit.ErrExceeded if the given further bytes exceed the
// bound. The error names the total bytes of the routine, for the way that needs the least among the
// ways that were refused since a request was last granted.
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
