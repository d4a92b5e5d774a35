package rns

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
)

// Options say how a routine runs. Blocks, BlockSize and RowThreads are an order of additions;
// nothing else changes a bit of a result. Nil stands for the zero Options.
type Options struct {
	// Options are those of package halfulp: Device, Threads, Context, Progress and MemoryLimit.
	// Here Device "auto" is the CPU, several GPUs are the first of them, and there is no Method to
	// choose. MemoryLimit bounds what a routine takes beside its operands; 0 is no limit.
	halfulp.Options
	// Blocks and BlockSize give the order of additions in sums: see Reduce3, and BlockSize alone
	// that in Gemv and GeNorm, where a block sums a row or column. 0 stands for DefaultBlocks and
	// DefaultBlockSize; more than MaxBlocks and MaxBlockSize is an error.
	Blocks, BlockSize int
	// RowThreads is the number of threads, 1 or a power of two up to MaxRowThreads, in whose order
	// SpMV adds a row of a sparse matrix. 0 stands for 1.
	RowThreads int
	// Variant says how Reduce1, Reduce2, Gemv and GemvBasic are carried out.
	Variant Variant
	// Bound, if not nil, receives the bounds on the error of Gemv, GemvBasic, Symv and SpMV.
	// Operands on a device travel to the host for it.
	Bound *Bound
}

// The order of additions where Options name none, and the largest numbers that they may.
const (
	DefaultBlocks    = 64
	DefaultBlockSize = 32
	MaxBlocks        = 65536
	MaxBlockSize     = 1024
	MaxRowThreads    = 32
)

// Variant says how a routine is carried out. It never changes a result; what a routine does not
// name below is AutoVariant to it.
type Variant int

// The variants, beside the fastest. On a device Reduce1 and Reduce2 add by one thread (1S and 2S of
// 003), by as many threads as there are moduli, up to 32 (1P and 2P), and parallel over numbers and
// moduli at once, which Reduce1, whose additions leave no choice, takes for OverModuli.
//
// Published is [Gemv] and [GemvBasic] as the paper has them (001, section 4): algorithm 1 in its
// ten steps, on the CPU as well, in ten launches on a GPU; and each operation by one thread there.
const (
	AutoVariant Variant = iota
	OneThread
	OverModuli
	OverAll
	Published
)

// ErrOptions is wrapped by errors about Options that name no order of additions or variant that
// there is.
var ErrOptions = errors.New("rns: invalid options")

// Validate returns an error unless a routine can run with these options, like that of
// halfulp.Options. Nil is valid.
func (o *Options) Validate() error {
	p, err := o.with()
	if err != nil {
		return err
	}
	return p.Options.Validate()
}

// with returns o with zeros replaced.
func (o *Options) with() (Options, error) {
	var p Options
	if o != nil {
		p = *o
	}
	switch {
	case p.Blocks < 0 || p.Blocks > MaxBlocks:
		return p, fmt.Errorf("%w: %d blocks, want up to %d", ErrOptions, p.Blocks, MaxBlocks)
	case p.BlockSize < 0 || p.BlockSize > MaxBlockSize:
		return p, fmt.Errorf("%w: blocks of %d threads, want up to %d", ErrOptions, p.BlockSize, MaxBlockSize)
	case p.RowThreads < 0 || p.RowThreads > MaxRowThreads || p.RowThreads&(p.RowThreads-1) != 0:
		return p, fmt.Errorf("%w: %d threads a row, want a power of two up to %d", ErrOptions, p.RowThreads, MaxRowThreads)
	case p.Variant < AutoVariant || p.Variant > Published:
		return p, fmt.Errorf("%w: variant %d", ErrOptions, p.Variant)
	case p.Check:
		return p, fmt.Errorf("option Check: %w: package rns has no redundant modulus", halfulp.ErrMethod)
	case p.Method != "" && p.Method != place.Auto:
		return p, fmt.Errorf("method %q: %w: package rns has a routine for each", p.Method, halfulp.ErrMethod)
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
