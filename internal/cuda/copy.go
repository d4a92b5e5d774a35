package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// Number is an element of a slice that is copied to and from a device as it is.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// stagingBytes is the size of a device's staging buffers. BenchmarkUpload on an H100
// machine with 16 processors, 512 MiB, in GB/s: buffers of 1 MiB 8, of 4 MiB 13, of
// 16 MiB 23; from page-locked memory 55. A variable for tests.
var stagingBytes = 16 << 20

// smallStaging is the size of a staging buffer until a copy needs more: programs of small
// operands, and tests with many devices, need no page-locked megabytes.
const smallStaging = 256 << 10

// Copies of littleStaging bytes or less have buffers of their own, more of them, so that many small
// lists can be on their way to the device while the host goes on: package linsolve queues some ten
// products, with two lists each, before it waits.
const (
	littleStaging = 64 << 10
	littleStages  = 32
)

// staging is a page-locked buffer that copies pass through. A device has two, and littleStages
// small ones, which are allocated when they are first needed and take turns.
type staging struct {
	p    unsafe.Pointer
	size int
	done cudadrv.Event // recorded behind the last copy
	busy bool          // with a copy that nothing has waited for
	s    *Stream       // of that copy
}

func (b *staging) bytes(n int) []byte { return unsafe.Slice((*byte)(b.p), n) }

// nextStage returns the staging buffer whose turn it is, when it is no longer in use, of n
// bytes at least, or of [Device.stage] if that is less.
func (d *Device) nextStage(n int) (*staging, error) {
	if n <= min(littleStaging, d.stage) {
		b := &d.little[d.turns]
		if err := d.wait(b); err != nil {
			return nil, err
		}
		if b.size < n || b.size == 0 {
			if err := d.allocateStage(b, littleSize(n)); err != nil {
				return nil, err
			}
		}
		d.turns = (d.turns + 1) % len(d.little)
		return b, nil
	}
	b := &d.staged[d.turn]
	if err := d.wait(b); err != nil {
		return nil, err
	}
	if n = min(n, d.stage); b.size < n || b.size == 0 {
		size := d.stage
		if n <= smallStaging {
			size = min(size, smallStaging)
		}
		if err := d.allocateStage(b, size); err != nil {
			return nil, err
		}
	}
	d.turn = (d.turn + 1) % len(d.staged)
	return b, nil
}

// littleSize is the size of a small buffer for n bytes.
func littleSize(n int) int {
	if n <= littleStaging/16 {
		return littleStaging / 16
	}
	return littleStaging
}

// allocateStage gives b, which is not in use, memory of so many bytes.
func (d *Device) allocateStage(b *staging, size int) error {
	if b.size > 0 {
		if err := d.drv.MemFreeHost(b.p); err != nil {
			return err
		}
		d.counts.staging.Add(int64(-b.size))
		b.p, b.size = nil, 0
	} else {
		e, err := d.drv.EventCreate()
		if err != nil {
			return err
		}
		b.done = e
	}
	p, err := d.drv.MemAllocHost(uint64(size))
	if err != nil {
		err = fmt.Errorf("page-locked host memory: %w", err)
		return errors.Join(err, d.drv.EventDestroy(b.done))
	}
	d.counts.staging.Add(int64(size))
	b.p, b.size = p, size
	return nil
}

// wait waits until b's copy is done.
func (d *Device) wait(b *staging) error {
	if !b.busy {
		return nil
	}
	if err := d.drv.EventSynchronize(b.done); err != nil {
		return err
	}
	b.busy = false
	return nil
}

// copying notes that a copy of s uses b.
func (b *staging) copying(s *Stream) error {
	b.busy, b.s = true, s
	return s.dev.drv.EventRecord(b.done, s.h)
}

// Upload copies src to the device. When it returns src has been read, but the copy may
// be going on; later operations of s come after it.
func Upload[T Number](s *Stream, dst Pointer, src []T) error {
	return s.upload(dst, bytesOf(src))
}

// NewCopy returns new memory with a copy of src, made like [Upload].
func NewCopy[T Number](s *Stream, src []T) (*Memory, error) {
	bytes := bytesOf(src)
	m, err := s.Alloc(int64(len(bytes)))
	if err != nil {
		return nil, err
	}
	if err := s.upload(m.Pointer(), bytes); err != nil {
		m.Free()
		return nil, err
	}
	return m, nil
}

// Download copies len(dst) elements from the device, behind the operations of s so far,
// and waits for them.
func Download[T Number](s *Stream, dst []T, src Pointer) error {
	return s.download(bytesOf(dst), src)
}

func bytesOf[T Number](x []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(one)))
}

func (s *Stream) upload(dst Pointer, src []byte) error {
	d := s.dev
	for len(src) > 0 {
		if err := d.check(); err != nil {
			return err
		}
		b, err := d.nextStage(len(src))
		if err != nil {
			return d.failed(err)
		}
		n := min(len(src), b.size)
		copyBytes(b.bytes(n), src[:n])
		if err := d.drv.MemcpyHtoDAsync(dst, b.p, uint64(n), s.h); err != nil {
			return d.failed(err)
		}
		if err := b.copying(s); err != nil {
			return d.failed(err)
		}
		dst, src = dst+Pointer(n), src[n:]
	}
	return d.check()
}

func (s *Stream) download(dst []byte, src Pointer) error {
	d := s.dev
	// A piece of dst is copied out of its buffer while the next one comes in.
	var arriving *staging
	var piece []byte
	for len(dst) > 0 {
		if err := d.check(); err != nil {
			return err
		}
		b, err := d.nextStage(len(dst))
		if err != nil {
			return d.failed(err)
		}
		n := min(len(dst), b.size)
		if err := d.drv.MemcpyDtoHAsync(b.p, src, uint64(n), s.h); err != nil {
			return d.failed(err)
		}
		if err := b.copying(s); err != nil {
			return d.failed(err)
		}
		if err := d.collect(piece, arriving); err != nil {
			return d.failed(err)
		}
		arriving, piece = b, dst[:n]
		dst, src = dst[n:], src+Pointer(n)
	}
	if err := d.collect(piece, arriving); err != nil {
		return d.failed(err)
	}
	if arriving != nil {
		d.arrived(s)
	}
	return d.check()
}

// arrived notes that all operations of s so far are done.
func (d *Device) arrived(s *Stream) {
	for i := range d.little {
		if b := &d.little[i]; b.s == s {
			b.busy = false
		}
	}
	if !d.little[0].busy {
		d.turns = 0
	}
}

// collect waits for b and copies it to dst.
func (d *Device) collect(dst []byte, b *staging) error {
	if len(dst) == 0 {
		return nil
	}
	if err := d.wait(b); err != nil {
		return err
	}
	copyBytes(dst, b.bytes(len(dst)))
	return nil
}

// A goroutine copies shareBytes at least; one alone, at 10 GB/s, is slower than the bus.
const (
	shareBytes = 256 << 10
	maxCopiers = 8
)

// copyBytes is copy(dst, src) for slices of one length, on several goroutines if that
// pays.
func copyBytes(dst, src []byte) {
	copiers := min(len(src)/shareBytes, maxCopiers, runtime.GOMAXPROCS(0))
	if copiers <= 1 {
		copy(dst, src)
		return
	}
	share := (len(src)/copiers + 63) &^ 63
	var wg sync.WaitGroup
	for start := share; start < len(src); start += share {
		end := min(start+share, len(src))
		wg.Go(func() { copy(dst[start:end], src[start:end]) })
	}
	copy(dst[:share], src[:share])
	wg.Wait()
}
