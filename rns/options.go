package rns

import (
	"context"
	"runtime"

	"github.com/halfulp/halfulp/internal/par"
)

// Options say how routines run. Nil stands for the zero Options.
type Options struct {
	// Threads is the largest number of goroutines; 0 means GOMAXPROCS. More than
	// 4 GOMAXPROCS + 16 are never used. It never changes a result.
	Threads int
	// Blocks and BlockSize give the order of additions in sums: see Reduce3, and
	// BlockSize alone that in Gemv and GeNorm, where a block sums a row or column. 0
	// stands for DefaultBlocks and DefaultBlockSize; more than MaxBlocks and MaxBlockSize panic.
	Blocks, BlockSize int
	// Bound, if not nil, receives the bounds on the error of Gemv.
	Bound *Bound
}

// The order of additions where Options name none, and the largest numbers that they may.
const (
	DefaultBlocks    = 64
	DefaultBlockSize = 32
	MaxBlocks        = 65536
	MaxBlockSize     = 1024
)

// with returns o with zeros replaced.
func (o *Options) with() Options {
	var p Options
	if o != nil {
		p = *o
	}
	if p.Threads < 0 {
		panic(errThreads)
	}
	if p.Blocks < 0 || p.Blocks > MaxBlocks {
		panic(errBlocks)
	}
	if p.BlockSize < 0 || p.BlockSize > MaxBlockSize {
		panic(errBlockSize)
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
	return p
}

// grain is the number of numbers below which a goroutine is not worth it.
const grain = 64

// each calls f for parts of [0, n) on several goroutines, each with its scratch memory.
func (o *Options) each(b *Base, n int, f func(lo, hi int, w *scratch)) {
	parts := (n + grain - 1) / grain
	// The context is never cancelled: there is no error.
	_ = par.For(context.Background(), o.Threads, parts, func(_, i int) {
		w := b.getScratch()
		f(i*grain, min((i+1)*grain, n), w)
		b.putScratch(w)
	})
}

// blocks calls f for every i of [0, n), each much work, like each; s is the block of
// threads that a goroutine stands for.
func (o *Options) blocks(b *Base, n int, f func(i int, s *block)) {
	blocks := make([]*block, max(o.Threads, 1))
	_ = par.For(context.Background(), o.Threads, n, func(worker, i int) {
		if blocks[worker] == nil {
			blocks[worker] = newBlock(b, o.BlockSize)
		}
		f(i, blocks[worker])
	})
}
