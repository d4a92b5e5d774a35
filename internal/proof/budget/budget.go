package budget

import (
	"fmt"

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
}

// New returns a budget of limit bytes, which is Options.MemoryLimit. For 0 the bound is what the
// system allows the process.
func New(limit int64) Budget {
	if limit <= 0 {
		limit = memlimit.Available().Bytes
	}
	return Budget{limit: max(limit, Least)}
}

// Take counts so many bytes, and fewer where they are negative. It does not look at the bound: see
// Check.
func (b *Budget) Take(bytes int64) {
	b.used += bytes
	b.most = max(b.most, b.used)
}

// Most returns the most bytes that were counted at a time.
func (b *Budget) Most() int64 { return b.most }

// Check returns an error, which wraps memlimit.ErrExceeded, if so many bytes more exceed the bound.
// It names the bytes that the routine takes together.
func (b *Budget) Check(bytes float64) error {
	if need := float64(b.used) + bytes; b.limit > 0 && need > float64(b.limit) {
		return fmt.Errorf("%w: it takes %.0f bytes beside operands and results, %d are allowed", memlimit.ErrExceeded, need, b.limit)
	}
	return nil
}
