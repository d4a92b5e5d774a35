package product

import (
	"errors"
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
)

// Config holds the options of a product.
type Config struct {
	par.Run // Threads is the number of host threads
	// Limit is the most bytes of device memory to use besides the operands; 0: most of the free
	// memory.
	Limit int64
	place.Pattern
	// Tally is the device array of Bound.Tally, if not nil.
	Tally *mem.Array
	// Panels, if not nil, are being copied to A. A is then part of a matrix that is stored by
	// columns on the device; if panels are scanned, it is the whole matrix. Its first column is a
	// multiple of tiles. B and C are of any kind.
	Panels *Panels
	// Elsewhere, if not nil, holds the parts of the operands. For the operands that it holds, A, B
	// and C provide only shapes and formats. It excludes Check.
	Elsewhere *Elsewhere
	// Timing measures the stages. The host then waits for the device at the end.
	Timing bool
	More   []*cuda.Device // that share the work on host matrices
	Copies [2]*Copies     // of the factors, if they are prepared host matrices

	// coming, if not nil, returns the bytes of panels that may arrive on the device during the
	// product.
	coming func() int64
	// spoil changes the residues of the factors, or of the product, after their computation. It is
	// for tests.
	spoil func(m *multiplication, r room, ofProduct bool) error
}

func (cfg Config) defaults() Config {
	cfg.Run = cfg.Filled()
	return cfg
}

// finish returns the options for finishing entries on the host.
func (cfg Config) finish() residue.Config {
	return residue.Config{Run: cfg.Run, Triangle: cfg.Triangle}
}

// applies reports whether the device can compute the product.
func (cfg Config) applies(alpha, beta num.Real, m, n, k int) bool {
	return alpha.Class == num.Finite && (beta.Class == num.Finite || beta.Class == num.Zero) &&
		m > 0 && n > 0 && k > 0 && k <= maxInner && counted(m, n)
}

// counted reports whether the kernels can count m x n results in 32 bits.
func counted(m, n int) bool {
	return max(m, n) <= math.MaxInt32 && int64(m)*int64(n) <= math.MaxUint32
}

// errRange means that residues do not apply: the precision is beyond the pool of moduli, or the
// numbers spread too widely. It is returned when no kernel that reads operands is running any more,
// because nothing waits for such kernels before operands are freed.
var errRange = errors.New("beyond the range of the residue method on the GPU")
