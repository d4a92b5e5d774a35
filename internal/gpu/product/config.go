package product

import (
	"context"
	"errors"
	"math"
	"runtime"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/residue"
)

// Config says how a product may run.
type Config struct {
	Ctx     context.Context
	Threads int // of the host
	// bytes that may be taken on the device beside operands; 0: most of what is there
	Memory int64
	// Triangle restricts the output to one triangle of C: 'U', 'L', or 0 for all of it.
	Triangle byte
	// Factors are triangles of A and of B, 'U', 'L', or 0 for all of them, beyond which there are
	// zeros. It counts for operands that live on the device, and makes wrong numbers if it is
	// wrong.
	Factors [2]byte
	// Before is how many rows of the triangle of Factors come before those of A, and columns before
	// those of B; the same number of both for a Triangle.
	Before [2]int
	// Bound is what is known of the result, if not nil: see residue.Bound. It counts for operands
	// that live on the device.
	Bound *residue.Bound
	// Check compares every entry modulo a redundant modulus: see residue.Config.
	Check bool
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
	// Progress is called now and then with the share of the work done, from one goroutine at a
	// time.
	Progress func(done float64)

	// coming is how many bytes of panels may come to the device while the product runs, if not nil.
	coming func() int64
	// spoil changes the residues of factors, or of the product, once they are there. It is for
	// tests.
	spoil func(m *multiplication, r room, ofProduct bool) error
}

func (cfg Config) defaults() Config {
	if cfg.Ctx == nil {
		cfg.Ctx = context.Background()
	}
	if cfg.Threads <= 0 {
		cfg.Threads = runtime.GOMAXPROCS(0)
	}
	return cfg
}

// finish is how entries are finished on the host.
func (cfg Config) finish() residue.Config {
	return residue.Config{Run: par.Run{Ctx: cfg.Ctx, Threads: cfg.Threads}, Triangle: cfg.Triangle}
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
