package cuda

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// Number is an element of a slice that is copied to and from a device as it is.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// stagingBytes is the size of a staging buffer.
const stagingBytes = 4 << 20

// staging is a page-locked buffer that a copy passes through.
type staging struct {
	p    unsafe.Pointer
	done cudadrv.Event // recorded behind the last copy from or to it
	used bool
}

func (b *staging) bytes(n int) []byte { return unsafe.Slice((*byte)(b.p), n) }

// stages returns the device's pair of staging buffers, which are allocated once.
func (d *Device) stages() ([]staging, error) {
	if d.staged == nil {
		var pair []staging
		for range 2 {
			p, err := d.drv.MemAllocHost(stagingBytes)
			if err != nil {
				return nil, err
			}
			d.counts.staging.Add(stagingBytes)
			e, err := d.drv.EventCreate()
			if err != nil {
				return nil, err
			}
			pair = append(pair, staging{p: p, done: e})
		}
		d.staged = pair
	}
	return d.staged, nil
}

// wait waits until b may be overwritten or read.
func (d *Device) wait(b *staging) error {
	if !b.used {
		return nil
	}
	b.used = false
	return d.drv.EventSynchronize(b.done)
}

// Upload copies src to the device. When it returns src has been read, but the copy may
// be going on; later operations of s come after it.
func Upload[T Number](s *Stream, dst Pointer, src []T) error {
	return s.upload(dst, bytesOf(src))
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
	if err := d.check(); err != nil {
		return err
	}
	pair, err := d.stages()
	if err != nil {
		return d.failed(err)
	}
	for i := 0; len(src) > 0; i++ {
		if err := d.check(); err != nil {
			return err
		}
		b := &pair[i%2]
		if err := d.wait(b); err != nil {
			return d.failed(err)
		}
		n := copy(b.bytes(stagingBytes), src)
		if err := d.drv.MemcpyHtoDAsync(dst, b.p, uint64(n), s.h); err != nil {
			return d.failed(err)
		}
		if err := d.drv.EventRecord(b.done, s.h); err != nil {
			return d.failed(err)
		}
		b.used = true
		dst, src = dst+Pointer(n), src[n:]
	}
	return nil
}

func (s *Stream) download(dst []byte, src Pointer) error {
	d := s.dev
	if err := d.check(); err != nil {
		return err
	}
	pair, err := d.stages()
	if err != nil {
		return d.failed(err)
	}
	// start begins the copy of the next piece into buffer i.
	started := 0
	start := func(i int) error {
		n := min(len(dst)-started, stagingBytes)
		if n == 0 {
			return nil
		}
		b := &pair[i%2]
		if err := d.wait(b); err != nil {
			return err
		}
		if err := d.drv.MemcpyDtoHAsync(b.p, src+Pointer(started), uint64(n), s.h); err != nil {
			return err
		}
		b.used = true
		started += n
		return d.drv.EventRecord(b.done, s.h)
	}
	if err := start(0); err != nil {
		return d.failed(err)
	}
	for i, done := 0, 0; done < len(dst); i++ {
		if err := d.check(); err != nil {
			return err
		}
		here := started - done
		if err := start(i + 1); err != nil {
			return d.failed(err)
		}
		b := &pair[i%2]
		if err := d.wait(b); err != nil {
			return d.failed(err)
		}
		done += copy(dst[done:], b.bytes(here))
	}
	return nil
}
