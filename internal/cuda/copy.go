package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// A Number is an element type of slices that are copied to and from a device unchanged.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// stagingBytes is the size of a device's staging buffers. maxCopiers is the most goroutines that
// fill or empty them at a time; onTheBus is the number of further buffers, for transfers on the
// bus. The host of two H100 has 32 virtual processors, each of which copies 6.6 GB/s. There 16
// goroutines and 20 buffers of 2 MiB keep the bus at 41 GB/s to the device and 43 GB/s back. With
// two GPUs at a time they reach 34 and 37 GB/s each; 32 buffers would be too many for the cache: 30
// and 32 GB/s. 12 goroutines and 16 buffers reach 38 and 38, 8 and 12 reach 38 and 34, and buffers
// of 1 MiB 36 and 36 GB/s. Page-locked memory alone is copied at 54 GB/s, but locking and unlocking
// 512 MiB takes 35 ms, by one thread or more. Tests change stagingBytes.
var stagingBytes = MaxUnit

const (
	maxCopiers = 16
	onTheBus   = 4
)

// shareBytes is the least that a goroutine copies. It is also the size of a staging buffer until a
// copy needs more, so that programs with small operands, and tests with many devices, need no
// page-locked megabytes.
const shareBytes = 256 << 10

// Copies of at most littleStaging bytes have buffers of their own, littleStages of them, so that
// many small lists can be in transfer to the device while the host goes on: package linsolve queues
// some ten products, with two lists each, before it waits.
const (
	littleStaging = 64 << 10
	littleStages  = 32
)

// A staging is a page-locked buffer that copies pass through. A device has one for each goroutine
// that copies, onTheBus for transfers, and littleStages small ones. They are allocated at their
// first use and used in turn.
type staging struct {
	p    unsafe.Pointer
	size int
	done cudadrv.Event  // recorded after the last copy
	busy bool           // a copy uses the buffer and has not been waited for
	s    *Stream        // the stream of that copy
	host sync.WaitGroup // for a goroutine that copies to the buffer or from it
}

func (b *staging) bytes(n int) []byte { return unsafe.Slice((*byte)(b.p), n) }

// nextStage returns the next staging buffer in turn, once it is no longer in use. It has at least
// min(n, [Device.stage]) bytes.
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
	b.host.Wait()
	if err := d.wait(b); err != nil {
		return nil, err
	}
	if n = min(n, d.stage); b.size < n || b.size == 0 {
		size := d.stage
		if n <= shareBytes {
			size = min(size, shareBytes)
		}
		if err := d.allocateStage(b, size); err != nil {
			return nil, err
		}
	}
	d.turn = (d.turn + 1) % len(d.staged)
	return b, nil
}

// copiers returns the number of goroutines that copy to staging buffers, or from them, at a time.
func (d *Device) copiers() int { return len(d.staged) - onTheBus }

// stagesOf returns the staging buffers of a device.
func stagesOf() []staging { return make([]staging, min(maxCopiers, runtime.GOMAXPROCS(0))+onTheBus) }

// share returns how many of n bytes pass through a buffer at a time, so that all goroutines have a
// share.
func (d *Device) share(n int) int { return max((n/d.copiers()+63)&^63, shareBytes) }

// littleSize returns the size in bytes of a small buffer for n bytes.
func littleSize(n int) int {
	if n <= littleStaging/16 {
		return littleStaging / 16
	}
	return littleStaging
}

// allocateStage gives b, which is not in use, size bytes of memory.
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

// wait waits until the copy that uses b is done.
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

// copying records that a copy in s uses b.
func (b *staging) copying(s *Stream) error {
	err := s.dev.drv.EventRecord(b.done, s.h)
	if err != nil { // only the end of the stream tells when b is free
		return errors.Join(err, s.dev.drv.StreamSynchronize(s.h))
	}
	b.busy, b.s = true, s
	return nil
}

// Upload copies src to the device. When it returns, src has been read, but the copy may still be in
// progress; later operations of s run after it.
func Upload[T Number](s *Stream, dst Pointer, src []T) error {
	return s.upload(dst, bytesOf(src))
}

// NewCopy allocates memory and copies src to it as [Upload] does.
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

// Download copies len(dst) elements from the device, after the operations of s so far, and waits
// for them.
func Download[T Number](s *Stream, dst []T, src Pointer) error {
	return s.download(bytesOf(dst), src)
}

func bytesOf[T Number](x []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(one)))
}

// A passing is a copy in progress through a buffer: n bytes for the device at dst, or for the host,
// from at on.
type passing struct {
	b   *staging
	n   int
	dst Pointer
	at  int
}

// MaxUnit is the largest unit of UploadBy and DownloadBy in bytes.
const MaxUnit = 2 << 20

func (s *Stream) upload(dst Pointer, src []byte) error {
	return s.UploadBy(dst, len(src), 1, func(to []byte, at int) { copy(to, src[at:]) })
}

func (s *Stream) download(dst []byte, src Pointer) error {
	return s.DownloadBy(src, len(dst), 1, func(from []byte, at int) { copy(dst[at:], from) })
}

// UploadBy copies size bytes to the device: fill(to, at) stores the bytes from position at on in
// to. Several goroutines call it at a time, for ranges that begin and end at multiples of unit.
// unit must divide size and be at most [MaxUnit]. The rest is as for [Upload].
func (s *Stream) UploadBy(dst Pointer, size, unit int, fill func(to []byte, at int)) error {
	d := s.dev
	share := max(d.share(size)/unit*unit, unit)
	var list []passing // being copied to their buffers by goroutines
	defer func() {
		for _, x := range list {
			x.b.host.Wait()
		}
	}()
	for at := 0; at < size || len(list) > 0; {
		if err := d.check(); err != nil {
			return err
		}
		if at < size && len(list) < d.copiers() {
			b, err := d.nextStage(min(size-at, share))
			if err != nil {
				return d.failed(err)
			}
			n, from := min(size-at, b.size/unit*unit, share), at
			if n == size-at && len(list) == 0 { // nothing else to do meanwhile
				fill(b.bytes(n), from)
			} else {
				b.host.Go(func() { fill(b.bytes(n), from) })
			}
			list = append(list, passing{b: b, n: n, dst: dst})
			dst += Pointer(n)
			at += n
			continue
		}
		x := list[0]
		x.b.host.Wait()
		list = list[1:]
		if err := d.drv.MemcpyHtoDAsync(x.dst, x.b.p, uint64(x.n), s.h); err != nil {
			return d.failed(err)
		}
		if err := x.b.copying(s); err != nil {
			return d.failed(err)
		}
	}
	return d.check()
}

// DownloadBy copies size bytes from the device, after the operations of s so far, and waits for
// them: take(from, at) receives the bytes from at on, like fill of [Stream.UploadBy].
func (s *Stream) DownloadBy(src Pointer, size, unit int, take func(from []byte, at int)) error {
	d := s.dev
	if size == 0 {
		return d.check()
	}
	share := max(d.share(size)/unit*unit, unit)
	var coming, list []passing // from the device; from buffers to dst, by goroutines
	defer func() {
		for _, x := range list {
			x.b.host.Wait()
		}
	}()
	for at := 0; at < size || len(coming) > 0; {
		if err := d.check(); err != nil {
			return err
		}
		if at < size && len(coming) < onTheBus {
			b, err := d.nextStage(min(size-at, share))
			if err != nil {
				return d.failed(err)
			}
			n := min(size-at, b.size/unit*unit, share)
			if err := d.drv.MemcpyDtoHAsync(b.p, src, uint64(n), s.h); err != nil {
				return d.failed(err)
			}
			if err := b.copying(s); err != nil {
				return d.failed(err)
			}
			coming = append(coming, passing{b: b, n: n, at: at})
			src += Pointer(n)
			at += n
			continue
		}
		x := coming[0]
		coming = coming[1:]
		if err := d.wait(x.b); err != nil {
			return d.failed(err)
		}
		if at == size && len(coming) == 0 { // nothing else to do meanwhile
			take(x.b.bytes(x.n), x.at)
			break
		}
		if len(list) == d.copiers() {
			list[0].b.host.Wait()
			list = list[1:]
		}
		x.b.host.Go(func() { take(x.b.bytes(x.n), x.at) })
		list = append(list, x)
	}
	d.arrived(s)
	return d.check()
}

// arrived records that all operations of s so far are done.
func (d *Device) arrived(s *Stream) {
	for i := range d.little {
		if b := &d.little[i]; b.s == s {
			b.busy = false
		}
	}
	if !d.little[0].busy {
		d.turns = 0
	}
	for _, b := range d.fetches {
		if b.s == s {
			b.busy = false
		}
	}
}
