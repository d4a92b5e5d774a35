package rns

import (
	"fmt"
	"runtime"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
)

// Options say how a routine runs. Blocks, BlockSize and RowThreads set an order of additions;
// nothing else changes a bit of a result. Nil stands for the zero Options.
type Options struct {
	// Options has Device, Threads, Context, Progress and MemoryLimit of package halfulp. In package
	// rns, Device "auto" is the CPU, a list of several GPUs stands for its first GPU, and Method
	// must be empty or "auto". MemoryLimit bounds the memory of a routine beside its operands; 0 is
	// no limit.
	halfulp.Options
	// Blocks and BlockSize set the order of additions in sums: see Reduce3. BlockSize alone sets
	// the order in Gemv and GeNorm, where a block sums a row or column. 0 stands for DefaultBlocks
	// and DefaultBlockSize; more than MaxBlocks and MaxBlockSize is an error.
	Blocks, BlockSize int
	// RowThreads is the number of threads, 1 or a power of two up to MaxRowThreads, in whose order
	// SpMV adds a row of a sparse matrix. 0 stands for 1.
	RowThreads int
	// Variant says how Reduce1, Reduce2, Gemv and GemvBasic are carried out.
	Variant Variant
	// Bound, if not nil, receives the bounds on the error of Gemv, GemvBasic, Symv and SpMV. To
	// compute them, operands on a device are copied to the host.
	Bound *Bound
}

// The default order of additions, and the largest numbers that Options may name.
const (
	DefaultBlocks    = 64
	DefaultBlockSize = 32
	MaxBlocks        = 65536
	MaxBlockSize     = 1024
	MaxRowThreads    = 32
)

// Variant says how a routine is carried out. It never changes a result. A routine treats a variant
// that does not name it as AutoVariant.
type Variant int

// The variants; AutoVariant is the fastest. On a device, Reduce1 and Reduce2 add by one thread (1S
// and 2S of 003), by as many threads as there are moduli, up to 32 (1P and 2P), or parallel over
// numbers and moduli at once. Additions of Reduce1 depend on each other, so that it takes
// OverModuli in place of the last.
//
// Published is [Gemv] and [GemvBasic] as the paper has them (001, section 4): algorithm 1 in its
// ten steps, also on the CPU, in ten launches on a GPU, and GemvBasic with one thread for each
// operation there.
const (
	AutoVariant Variant = iota
	OneThread
	OverModuli
	OverAll
	Published
)

// Validate returns an error unless a routine can run with these options, like Validate of
// halfulp.Options. Nil is valid.
func (o *Options) Validate() error {
	p, err := o.with()
	if err != nil {
		return err
	}
	return p.Options.Validate()
}

// with returns o with its zeros replaced by defaults.
func (o *Options) with() (Options, error) {
	var p Options
	if o != nil {
		p = *o
	}
	switch {
	case p.Blocks < 0 || p.Blocks > MaxBlocks:
		return p, fmt.Errorf("%w: %d blocks, want up to %d", halfulp.ErrOptions, p.Blocks, MaxBlocks)
	case p.BlockSize < 0 || p.BlockSize > MaxBlockSize:
		return p, fmt.Errorf("%w: blocks of %d threads, want up to %d", halfulp.ErrOptions, p.BlockSize, MaxBlockSize)
	case p.RowThreads < 0 || p.RowThreads > MaxRowThreads || p.RowThreads&(p.RowThreads-1) != 0:
		return p, fmt.Errorf("%w: %d threads a row, want a power of two up to %d", halfulp.ErrOptions, p.RowThreads, MaxRowThreads)
	case p.Variant < AutoVariant || p.Variant > Published:
		return p, fmt.Errorf("%w: variant %d", halfulp.ErrOptions, p.Variant)
	case p.Check:
		return p, fmt.Errorf("option Check: %w: package rns has no redundant modulus", halfulp.ErrMethod)
	case p.Method != "" && p.Method != place.Auto:
		return p, fmt.Errorf("method %q: %w: package rns has a routine for each method (want auto)", p.Method, halfulp.ErrMethod)
	}
	if _, err := place.ParseName(string(p.Device)); err != nil {
		return p, err
	}
	threads := runtime.GOMAXPROCS(0)
	if p.Threads > 0 {
		threads = min(p.Threads, 4*threads+16)
	}
	p.Threads = threads
	if p.Blocks == 0 {
		p.Blocks = DefaultBlocks
	}
	if p.BlockSize == 0 {
		p.BlockSize = DefaultBlockSize
	}
	p.RowThreads = max(p.RowThreads, 1)
	return p, nil
}
