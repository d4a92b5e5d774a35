package fake

import (
	"bytes"
	"slices"
	"strings"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// alignment is the alignment of device addresses in bytes.
const alignment = 256

// fresh is the pattern that fills new device memory: no useful number. The pattern has no shorter
// period, which quotients of small integers could have as well.
const fresh = "\xA5\x3C\x91\xF2"

// unwritten reports whether four bytes of b, at a multiple of four, are still as MemAlloc left
// them. A kernel writes just these bytes by chance once in 2^32 times.
func unwritten(b []byte) bool {
	for ; len(b) >= 4; b = b[4:] {
		if string(b[:4]) == fresh {
			return true
		}
	}
	return false
}

// MemAlloc allocates device memory, filled with the pattern fresh.
func (d *Driver) MemAlloc(n uint64) (cudadrv.Pointer, error) {
	defer d.mu.Unlock()
	if err := d.inContext("MemAlloc"); err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, d.fail("MemAlloc", cudadrv.InvalidValue)
	}
	if n > d.total() || d.used > d.total()-n {
		return 0, d.fail("MemAlloc", cudadrv.OutOfMemory)
	}
	// Two patterns that are not allocated surround the memory.
	p, b := d.top, bytes.Repeat([]byte(fresh), int(n+3*alignment+3)/4)
	d.top += cudadrv.Pointer((n+alignment-1)/alignment+1) * alignment // no two pieces touch
	b = b[2*alignment-uintptr(unsafe.Pointer(unsafe.SliceData(b)))%alignment:][:n:n]
	if d.emulated != nil {
		p = cudadrv.Pointer(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	}
	d.memory[p] = b
	at, _ := slices.BinarySearch(d.starts, p)
	d.starts = slices.Insert(d.starts, at, p)
	d.used += n
	return p, nil
}

// sound reports whether nothing was written next to what is allocated.
func (d *Driver) sound() bool {
	around := strings.Repeat(fresh, alignment/4+1)
	for _, b := range d.memory {
		p := unsafe.Pointer(unsafe.SliceData(b))
		before := unsafe.String((*byte)(unsafe.Add(p, -alignment)), alignment)
		behind := unsafe.String((*byte)(unsafe.Add(p, len(b))), alignment)
		if before != around[:alignment] || behind != around[len(b)%4:][:alignment] {
			return false
		}
	}
	return true
}

// MemFree runs the pending operations of all streams and frees device memory.
func (d *Driver) MemFree(p cudadrv.Pointer) error {
	defer d.mu.Unlock()
	if err := d.inContext("MemFree"); err != nil {
		return err
	}
	if err := d.drainAll("MemFree"); err != nil {
		return err
	}
	b, ok := d.memory[p]
	if !ok {
		return d.fail("MemFree", cudadrv.InvalidValue)
	}
	d.used -= uint64(len(b))
	delete(d.memory, p)
	at, _ := slices.BinarySearch(d.starts, p)
	d.starts = slices.Delete(d.starts, at, at+1)
	return nil
}

// MemGetInfo returns the free and the total bytes of device memory.
func (d *Driver) MemGetInfo() (free, total uint64, err error) {
	defer d.mu.Unlock()
	err = d.inContext("MemGetInfo")
	return d.total() - d.used, d.total(), err
}

// bytes returns the n bytes at p, of device memory or of page-locked host memory, or nil if some of
// them are not allocated.
func (d *Driver) bytes(p cudadrv.Pointer, n uint64) []byte {
	at, exact := slices.BinarySearch(d.starts, p)
	if !exact {
		at--
	}
	if at >= 0 {
		start := d.starts[at]
		b := d.memory[start]
		if p <= start+cudadrv.Pointer(len(b)) && n <= uint64(len(b))-uint64(p-start) {
			return b[p-start:][:n:n]
		}
	}
	for start, b := range d.host {
		if at := cudadrv.Pointer(uintptr(start)); at <= p && p <= at+cudadrv.Pointer(len(b)) && n <= uint64(len(b))-uint64(p-at) {
			return b[p-at:][:n:n]
		}
	}
	return nil
}

// MemAllocHost allocates host memory.
func (d *Driver) MemAllocHost(n uint64) (unsafe.Pointer, error) {
	defer d.mu.Unlock()
	if err := d.inContext("MemAllocHost"); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	p := unsafe.Pointer(unsafe.SliceData(b))
	d.host[p] = b
	return p, nil
}

// MemFreeHost frees host memory.
func (d *Driver) MemFreeHost(p unsafe.Pointer) error {
	defer d.mu.Unlock()
	if err := d.inContext("MemFreeHost"); err != nil {
		return err
	}
	if _, ok := d.host[p]; !ok {
		return d.fail("MemFreeHost", cudadrv.InvalidValue)
	}
	delete(d.host, p)
	return nil
}

// hostBytes returns the n bytes of page-locked memory at p, or nil.
func (d *Driver) hostBytes(p unsafe.Pointer, n uint64) []byte {
	for start, b := range d.host {
		offset := uintptr(p) - uintptr(start)
		if uintptr(p) >= uintptr(start) && uint64(offset)+n <= uint64(len(b)) {
			return b[offset:][:n:n]
		}
	}
	return nil
}

// MemcpyHtoDAsync copies page-locked memory to the device, when the stream is waited for.
func (d *Driver) MemcpyHtoDAsync(dst cudadrv.Pointer, src unsafe.Pointer, n uint64, s cudadrv.Stream) error {
	defer d.mu.Unlock()
	if err := d.inContext("MemcpyHtoDAsync"); err != nil {
		return err
	}
	return d.later("MemcpyHtoDAsync", s, func() bool {
		to, from := d.bytes(dst, n), d.hostBytes(src, n)
		copy(to, from)
		return to != nil && from != nil
	})
}

// MemcpyDtoHAsync copies to page-locked memory, when the stream is waited for.
func (d *Driver) MemcpyDtoHAsync(dst unsafe.Pointer, src cudadrv.Pointer, n uint64, s cudadrv.Stream) error {
	defer d.mu.Unlock()
	if err := d.inContext("MemcpyDtoHAsync"); err != nil {
		return err
	}
	return d.later("MemcpyDtoHAsync", s, func() bool {
		to, from := d.hostBytes(dst, n), d.bytes(src, n)
		copy(to, from)
		d.fetched += n
		return to != nil && from != nil && !(d.Initcheck && unwritten(from))
	})
}

// MemcpyDtoDAsync copies within the device, when the stream is waited for.
func (d *Driver) MemcpyDtoDAsync(dst, src cudadrv.Pointer, n uint64, s cudadrv.Stream) error {
	defer d.mu.Unlock()
	if err := d.inContext("MemcpyDtoDAsync"); err != nil {
		return err
	}
	return d.later("MemcpyDtoDAsync", s, func() bool {
		to, from := d.bytes(dst, n), d.bytes(src, n)
		copy(to, from)
		return to != nil && from != nil
	})
}

// MemcpyPeerAsync copies from one device's memory to another's, when the stream is waited for. It
// fails unless both contexts are contexts of devices.
func (d *Driver) MemcpyPeerAsync(dst cudadrv.Pointer, dstContext cudadrv.Context, src cudadrv.Pointer, srcContext cudadrv.Context, n uint64, s cudadrv.Stream) error {
	defer d.mu.Unlock()
	if err := d.inContext("MemcpyPeerAsync"); err != nil {
		return err
	}
	for _, c := range []cudadrv.Context{dstContext, srcContext} {
		if c < 1 || int(c) > d.devices() {
			return d.fail("MemcpyPeerAsync", cudadrv.InvalidContext)
		}
	}
	return d.later("MemcpyPeerAsync", s, func() bool {
		to, from := d.bytes(dst, n), d.bytes(src, n)
		copy(to, from)
		return to != nil && from != nil
	})
}

// Memcpy2DAsync copies rows, when the stream is waited for.
func (d *Driver) Memcpy2DAsync(c cudadrv.Memcpy2D, s cudadrv.Stream) error {
	defer d.mu.Unlock()
	if err := d.inContext("Memcpy2DAsync"); err != nil {
		return err
	}
	if c.Width > c.FromPitch || c.Width > c.ToPitch {
		return d.fail("Memcpy2DAsync", cudadrv.InvalidValue)
	}
	return d.later("Memcpy2DAsync", s, func() bool {
		for i := range c.Rows {
			to, from := d.bytes(c.To+cudadrv.Pointer(i*c.ToPitch), c.Width), d.bytes(c.From+cudadrv.Pointer(i*c.FromPitch), c.Width)
			if to == nil || from == nil {
				return false
			}
			copy(to, from)
		}
		return true
	})
}

// MemsetD8Async fills device memory, when the stream is waited for.
func (d *Driver) MemsetD8Async(p cudadrv.Pointer, value byte, n uint64, s cudadrv.Stream) error {
	defer d.mu.Unlock()
	if err := d.inContext("MemsetD8Async"); err != nil {
		return err
	}
	return d.later("MemsetD8Async", s, func() bool {
		to := d.bytes(p, n)
		for i := range to {
			to[i] = value
		}
		return to != nil
	})
}
