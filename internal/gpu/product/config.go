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

// Config says how a product may run.
type Config struct {
	par.Run // Threads are the host's
	// Limit is how many bytes may be taken on the device beside operands; 0: most of what is there.
	Limit int64
	place.Pattern
	// Tally is where Bound.Tally lives, if not nil.
	Tally *mem.Array
	// Panels are on their way to A, if not nil, which is part of a matrix by columns that lives on
	// the device, all of it where panels are looked at. Its columns begin at a multiple of tiles. B
	// and C are of any kind.
	Panels *Panels
	// Elsewhere is where parts of the operands are, if not nil: A, B and C, or some of them, then
	// tell no more than shapes and formats. It excludes Check.
	Elsewhere *Elsewhere
	// Timing measures the stages. The host then waits for the device at the end.
	Timing bool
	More   []*cuda.Device // that share the work on matrices of the host
	Copies [2]*Copies     // of the factors, if they are matrices of the host that are prepared

	// coming is how many bytes of panels may come to the device while the product runs, if not nil.
	coming func() int64
	// spoil changes the residues of factors, or of the product, once they are there. It is for
	// tests.
	spoil func(m *multiplication, r room, ofProduct bool) error
}

func (cfg Config) defaults() Config {
	cfg.Run = cfg.Filled()
	return cfg
}

// finish is how entries are finished on the host.
func (cfg Config) finish() residue.Config {
	return residue.Config{Run: cfg.Run, Triangle: cfg.Triangle}
}

// applies reports whether the product has a part for the device.
func (cfg Config) applies(alpha, beta num.Real, m, n, k int) bool {
	return alpha.Class == num.Finite && (beta.Class == num.Finite || beta.Class == num.Zero) &&
		m > 0 && n > 0 && k > 0 && k <= maxInner && counted(m, n)
}

// counted reports whether kernels can count m x n results, in 32 bits.
func counted(m, n int) bool {
	return max(m, n) <= math.MaxInt32 && int64(m)*int64(n) <= math.MaxUint32
}

// errRange says that residues do not apply: the precision is beyond the pool of moduli, or
// numbers spread too widely. It comes when no kernel that reads operands is under way any more:
// nobody waits for such kernels before operands are given back.
var errRange = errors.New("beyond the range of the residue method on the GPU")
