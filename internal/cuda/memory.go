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

// A Pointer is an address in a device's memory.
type Pointer = cudadrv.Pointer

// A Memory is a piece of a device's memory. It belongs to the stream that allocated it. Operations
// on it in another stream must be ordered by events, and must be done before it is freed.
type Memory struct {
	dev    *Device
	block  *block
	size   int64
	stream *Stream
	freed  atomic.Bool
	others bool // memory of another library, not of the pool
}

// Borrow returns size bytes of another library's memory at p, in the same context, as a Memory.
// Free does not free them. They must remain allocated until all operations on them are done.
func (s *Stream) Borrow(p Pointer, size int64) *Memory {
	return &Memory{dev: s.dev, block: &block{p: p, size: uint64(size)}, size: size, stream: s, others: true}
}

// Borrowed reports whether m was made by Borrow.
func (m *Memory) Borrowed() bool { return m.others }

// Pointer returns the address of the first byte.
func (m *Memory) Pointer() Pointer { return m.block.p }

// At returns the address of the byte at offset. It panics if the offset is negative or beyond the
// end.
func (m *Memory) At(offset int64) Pointer {
	if offset < 0 || offset > m.size {
		panic("cuda: offset outside of the memory")
	}
	return m.block.p + Pointer(offset)
}

// Size returns the number of bytes requested.
func (m *Memory) Size() int64 { return m.size }

// On reports whether m is memory of d's GPU.
func (m *Memory) On(d *Device) bool { return m.dev.pool == d.pool }

// Free returns m to the pool at once; it may be called from any goroutine. Operations of its stream
// that were started before may still use m. Free of freed or borrowed memory, or of nil, frees
// nothing.
func (m *Memory) Free() {
	if m == nil || !m.freed.CompareAndSwap(false, true) {
		return
	}
	if !m.others {
		m.dev.pool.put(m.block, m.stream)
	}
}

// Alloc returns size bytes of memory with unspecified contents, at an address divisible by 256. If
// the device has too little memory, the pool first returns unused blocks to the driver. If that
// does not suffice, the error wraps ErrMemory. Alloc panics if size is negative.
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

// MemInfo returns the bytes of device memory that are free, without the unused blocks of the pool,
// and the bytes in total.
func (s *Stream) MemInfo() (free, total uint64, err error) {
	if err := s.dev.check(); err != nil {
		return 0, 0, err
	}
	free, total, err = s.dev.drv.MemGetInfo()
	return free, total, s.dev.failed(err)
}

// Trim returns all unused blocks of the pool to the driver.
func (s *Stream) Trim() error {
	if err := s.dev.check(); err != nil {
		return err
	}
	_, err := s.dev.pool.trim(s.dev.drv, math.MaxInt64)
	return s.dev.failed(err)
}

// block is a piece of memory allocated by the driver.
type block struct {
	p    Pointer
	size uint64
	last *Stream // stream whose operations may still use it; nil for none
	put  int64   // order in which it was returned to the pool
	more int64   // bytes beyond the class requested, while it is in use
}

// pool keeps freed blocks for reuse, by size. Before a block moves from one stream to another, the
// second stream waits for an event of the first.
type pool struct {
	mu                  sync.Mutex
	free                map[uint64][]*block
	inUse, held, blocks int64 // bytes, bytes, count
	puts                int64 // number of blocks returned so far
	spare               int64 // bytes of the blocks in use beyond the classes requested
}

// largeBlock is the size in bytes from which on a block may serve a request of as little as half of
// its size: matrices and residues have another size in every step of Newton's method. A Cholesky
// factor of order 8192 and 424 bits takes 347 ms on an H100, and took 542 ms when 80 GB were
// returned to the driver and allocated again. The value is a guess. Tests change it.
var largeBlock uint64 = 64 << 20

// spareShare limits the bytes that all blocks in use may have beyond the requests to 1/16 of the
// device's memory: layouts take 0.85 of the memory, of which size classes waste 1/16 on average.
// The value is a guess.
const spareShare = 16

func newPool() *pool { return &pool{free: map[uint64][]*block{}} }

// classSize returns size rounded up to a multiple of 512 and of 1/8 of the largest power of two not
// above size: at most 1/8 is wasted.
func classSize(size uint64) uint64 {
	step := uint64(512)
	if n := bits.Len64(size); n > 12 {
		step = 1 << (n - 4)
	}
	return max(step, (size+step-1)&^(step-1))
}

// get returns a block of at least size bytes, size being a class, for operations of s.
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

// fitting returns the size of the free blocks to use for size bytes. For large blocks it is at most
// twice size, and the excess must stay within spareShare of the memory.
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

// take removes a block from the pool, if possible one that s used last.
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
	for i, b := range slices.Backward(list) {
		if b.last == s || b.last == nil {
			at = i
			break
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

// put returns to the pool a block that operations of s may still use.
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

// forget records that no operation of s is in progress any more.
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

// trim returns blocks of the pool to the driver, least recently used first, until they add up to
// the given bytes or none is left. Freeing waits for the device. trim reports whether blocks are
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

// follow makes later operations of s wait for the operations of t so far.
func (s *Stream) follow(t *Stream) error {
	e, err := s.NewEvent()
	if err != nil {
		return err
	}
	defer e.Close()
	// t may belong to another thread, and run meanwhile
	if err := s.dev.failed(s.dev.drv.EventRecord(e.h, t.h)); err != nil {
		return err
	}
	return s.Wait(e)
}

// counts are the numbers of live objects of a device, and the bytes of staging memory.
type counts struct{ streams, events, modules, staging atomic.Int64 }

// Counters are the resources that a device holds.
type Counters struct {
	InUse   int64 // bytes of allocated memory, rounded up to the pool's sizes
	Held    int64 // bytes that the pool holds unused
	Blocks  int64 // pieces of memory allocated by the driver
	Streams int64
	Events  int64
	Modules int64
	Staging int64 // bytes of page-locked host memory
}

// Counters returns the resources that the device holds now.
func (d *Device) Counters() Counters {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	return Counters{
		InUse: d.pool.inUse, Held: d.pool.held, Blocks: d.pool.blocks,
		Streams: d.counts.streams.Load(), Events: d.counts.events.Load(),
		Modules: d.counts.modules.Load(), Staging: d.counts.staging.Load(),
	}
}
