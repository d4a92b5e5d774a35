package cuda

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// Pointer is an address in a device's memory.
type Pointer = cudadrv.Pointer

// Memory is a piece of a device's memory. It belongs to the stream that allocated it:
// operations on it in another stream are ordered by events, and are done before it is
// freed.
type Memory struct {
	dev    *Device
	block  *block
	size   int64
	stream *Stream
	freed  atomic.Bool
	others bool // another library's, not the pool's
}

// Borrow returns memory of another library in the same context, from an address on, as memory that
// Free does nothing with. It has to stay until all operations on it are done.
func (s *Stream) Borrow(p Pointer, size int64) *Memory {
	return &Memory{dev: s.dev, block: &block{p: p, size: uint64(size)}, size: size, stream: s, others: true}
}

// Borrowed reports whether m is memory of another library: see Borrow.
func (m *Memory) Borrowed() bool { return m.others }

// Pointer is the address of the first byte.
func (m *Memory) Pointer() Pointer { return m.block.p }

// At is the address of byte offset.
func (m *Memory) At(offset int64) Pointer {
	if offset < 0 || offset > m.size {
		panic("cuda: offset outside of the memory")
	}
	return m.block.p + Pointer(offset)
}

// Size is the number of bytes asked for.
func (m *Memory) Size() int64 { return m.size }

// On reports whether it is memory of a device's GPU.
func (m *Memory) On(d *Device) bool { return m.dev.pool == d.pool }

// Free gives m back to the pool, from any goroutine and at once: operations of its
// stream that were started before may still use it. Free of freed memory, or of nil,
// does nothing.
func (m *Memory) Free() {
	if m == nil || !m.freed.CompareAndSwap(false, true) {
		return
	}
	if !m.others {
		m.dev.pool.put(m.block, m.stream)
	}
}

// Alloc returns size bytes of memory with unspecified contents, at an address divisible
// by 256. If the device has too little, the memory that the pool holds goes back to the
// driver first. The error then wraps ErrMemory.
func (s *Stream) Alloc(size int64) (*Memory, error) {
	if size < 0 {
		panic("cuda: negative size")
	}
	if err := s.dev.check(); err != nil {
		return nil, err
	}
	b, err := s.dev.pool.get(s, classSize(uint64(size)))
	if err != nil {
		return nil, s.dev.memoryError(size, err)
	}
	return &Memory{dev: s.dev, block: b, size: size, stream: s}, nil
}

func (d *Device) memoryError(size int64, err error) error {
	if cudadrv.CodeOf(err) != cudadrv.OutOfMemory {
		return d.failed(err)
	}
	free, total, e := d.drv.MemGetInfo()
	if e != nil {
		return d.failed(e)
	}
	return fmt.Errorf("%v: %w: asked for %s, %s free of %s", d, ErrMemory,
		formatBytes(uint64(size)), formatBytes(free), formatBytes(total))
}

// Zero sets n bytes at p to 0.
func (s *Stream) Zero(p Pointer, n int64) error { return s.Fill(p, 0, n) }

// Fill sets n bytes at p to value.
func (s *Stream) Fill(p Pointer, value byte, n int64) error {
	if err := s.dev.check(); err != nil || n == 0 {
		return err
	}
	return s.dev.failed(s.dev.drv.MemsetD8Async(p, value, uint64(n), s.h))
}

// Copy copies n bytes within the device's memory.
func (s *Stream) Copy(dst, src Pointer, n int64) error {
	if err := s.dev.check(); err != nil || n == 0 {
		return err
	}
	return s.dev.failed(s.dev.drv.MemcpyDtoDAsync(dst, src, uint64(n), s.h))
}

// MemInfo is how much memory the device has left, beside what the pool holds unused, and
// how much it has in all.
func (s *Stream) MemInfo() (free, total uint64, err error) {
	if err := s.dev.check(); err != nil {
		return 0, 0, err
	}
	free, total, err = s.dev.drv.MemGetInfo()
	return free, total, s.dev.failed(err)
}

// Trim gives the memory that the pool holds unused back to the driver.
func (s *Stream) Trim() error {
	if err := s.dev.check(); err != nil {
		return err
	}
	_, err := s.dev.pool.trim(s.dev.drv, math.MaxInt64)
	return s.dev.failed(err)
}

// block is a piece of memory as the driver gave it.
type block struct {
	p    Pointer
	size uint64
	last *Stream // whose operations may still use it; nil if none do
	put  int64   // which of the pool's it was when it came back
	more int64   // bytes beyond the class that was asked for, while it is in use
}

// pool keeps freed blocks for reuse, by size. A block goes from one stream to another
// with an event between them.
type pool struct {
	mu                  sync.Mutex
	free                map[uint64][]*block
	inUse, held, blocks int64 // bytes, bytes, count
	puts                int64 // blocks that came back so far
	spare               int64 // bytes of blocks in use beyond the classes that were asked for
}

// largeBlock is the size from which blocks may hold as little as half of their size: matrices and
// residues have another size in every step of Newton's method. A Cholesky factor of order 8192 and
// 424 bits took 542 ms on an H100 that gave 80 GB back to the driver and asked for them again, and
// takes 347. A guess; a variable for tests.
var largeBlock uint64 = 64 << 20

// spareShare is the share of the memory, 1/16, that all blocks in use may have together beyond what
// was asked for: layouts take 0.85 of the memory, of which classes waste 1/16 on the average. A
// guess.
const spareShare = 16

func newPool() *pool { return &pool{free: map[uint64][]*block{}} }

// classSize is size rounded up to a multiple of 1/8 of the power of two below it, and
// of 512: at most 1/8 is wasted.
func classSize(size uint64) uint64 {
	step := uint64(512)
	if n := bits.Len64(size); n > 12 {
		step = 1 << (n - 4)
	}
	return max(step, (size+step-1)&^(step-1))
}

// get returns a block of size bytes, a class, or of more, for operations of s.
func (p *pool) get(s *Stream, size uint64) (*block, error) {
	if b := p.take(s, size); b != nil {
		if b.last != nil && b.last != s {
			if err := s.follow(b.last); err != nil {
				p.put(b, b.last)
				return nil, err
			}
		}
		return b, nil
	}
	drv := s.dev.drv
	address, err := drv.MemAlloc(size)
	for again := cudadrv.CodeOf(err) == cudadrv.OutOfMemory; again; {
		if again, err = p.trim(drv, int64(size)); err != nil {
			return nil, err
		}
		address, err = drv.MemAlloc(size)
		again = again && cudadrv.CodeOf(err) == cudadrv.OutOfMemory
	}
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inUse += int64(size)
	p.blocks++
	return &block{p: address, size: size}, nil
}

// fitting returns the size of free blocks for size bytes: up to twice as many, where blocks are
// large, as far as that much of the memory is to spare.
func (p *pool) fitting(size, memory uint64) uint64 {
	if len(p.free[size]) > 0 || size < largeBlock {
		return size
	}
	best, most := size, size+min(size, uint64(max(0, int64(memory/spareShare)-p.spare)))
	for other, list := range p.free {
		if len(list) > 0 && other > size && other <= most && (best == size || other < best) {
			best = other
		}
	}
	return best
}

// take removes a block from the pool, one last used by s if there is one.
func (p *pool) take(s *Stream, size uint64) *block {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := size
	size = p.fitting(size, s.dev.info.Memory)
	list := p.free[size]
	if len(list) == 0 {
		return nil
	}
	at := len(list) - 1
	for i, b := range list {
		if b.last == s || b.last == nil {
			at = i
		}
	}
	b := list[at]
	list[at] = list[len(list)-1]
	p.free[size] = list[:len(list)-1]
	b.more = int64(size - asked)
	p.spare += b.more
	p.inUse += int64(size)
	p.held -= int64(size)
	return b
}

// put adds a block to the pool that operations of s may still use.
func (p *pool) put(b *block, s *Stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b.last = s
	p.spare -= b.more
	p.puts++
	b.put = p.puts
	p.free[b.size] = append(p.free[b.size], b)
	p.inUse -= int64(b.size)
	p.held += int64(b.size)
}

// forget notes that no operation of s is going on any more.
func (p *pool) forget(s *Stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, list := range p.free {
		for _, b := range list {
			if b.last == s {
				b.last = nil
			}
		}
	}
}

// trim frees blocks of the pool, of so many bytes together at least if there are as many, which
// waits for the device: what has not been used for longest goes first. It reports whether any are
// left.
func (p *pool) trim(drv cudadrv.Driver, bytes int64) (left bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*block
	for _, list := range p.free {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b *block) int { return cmp.Compare(a.put, b.put) })
	for _, b := range all {
		if bytes <= 0 {
			return true, nil
		}
		if err := drv.MemFree(b.p); err != nil {
			return true, err
		}
		bytes -= int64(b.size)
		p.free[b.size] = slices.DeleteFunc(p.free[b.size], func(c *block) bool { return c == b })
		p.held -= int64(b.size)
		p.blocks--
	}
	return false, nil
}

// follow lets later operations of s wait for those of t so far.
func (s *Stream) follow(t *Stream) error {
	e, err := s.NewEvent()
	if err != nil {
		return err
	}
	defer e.Close()
	// t may be of another thread, beside this one
	if err := s.dev.failed(s.dev.drv.EventRecord(e.h, t.h)); err != nil {
		return err
	}
	return s.Wait(e)
}

// counts are live objects of a device.
type counts struct{ streams, events, modules, staging atomic.Int64 }

// Counters tell what a device holds.
type Counters struct {
	InUse   int64 // bytes of allocated memory, rounded up to the pool's sizes
	Held    int64 // bytes that the pool holds unused
	Blocks  int64 // pieces of memory that the driver gave
	Streams int64
	Events  int64
	Modules int64
	Staging int64 // bytes of page-locked host memory
}

// Counters tells what the device holds now.
func (d *Device) Counters() Counters {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	return Counters{
		InUse: d.pool.inUse, Held: d.pool.held, Blocks: d.pool.blocks,
		Streams: d.counts.streams.Load(), Events: d.counts.events.Load(),
		Modules: d.counts.modules.Load(), Staging: d.counts.staging.Load(),
	}
}
