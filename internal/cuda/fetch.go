package cuda

import (
	"math/bits"
	"sync/atomic"
)

// A Fetch is a copy from the device to the host that runs while the host goes on. [Arrive] or Drop
// ends it.
type Fetch struct {
	s *Stream
	b *fetched // nil once it has ended
	n int
}

// fetched is a buffer for fetches, which the device keeps for reuse.
type fetched struct {
	staging
	taken atomic.Bool
}

// Fetch starts to copy n >= 1 bytes from the device, after the operations of s so far.
func (s *Stream) Fetch(src Pointer, n int) (*Fetch, error) {
	d := s.dev
	if err := d.check(); err != nil {
		return nil, err
	}
	b, err := d.fetchBuffer(n)
	if err != nil {
		return nil, d.failed(err)
	}
	b.taken.Store(true)
	f := &Fetch{s, b, n}
	if err = d.drv.MemcpyDtoHAsync(b.p, src, uint64(n), s.h); err == nil {
		err = b.copying(s)
	}
	if err != nil {
		f.Drop()
		return nil, d.failed(err)
	}
	return f, nil
}

// fetchBuffer returns a buffer of at least n bytes that no fetch uses: the smallest that is large
// enough, else the largest one, enlarged.
func (d *Device) fetchBuffer(n int) (*fetched, error) {
	var b *fetched
	for _, x := range d.fetches {
		if !x.taken.Load() && (b == nil || b.size < n && x.size > b.size || n <= x.size && x.size < b.size) {
			b = x
		}
	}
	if b == nil {
		b = new(fetched)
		d.fetches = append(d.fetches, b)
	}
	if err := d.wait(&b.staging); err != nil {
		return nil, err
	}
	if b.size >= n {
		return b, nil
	}
	size := littleSize(n)
	if n > size {
		size = 1 << bits.Len(uint(n-1))
	}
	return b, d.allocateStage(&b.staging, size)
}

// Arrive waits for the copy f, stores it in dst, which must have as many bytes, and ends f.
func Arrive[T Number](f *Fetch, dst []T) error {
	defer f.Drop()
	d := f.s.dev
	if err := d.check(); err != nil {
		return err
	}
	if err := d.wait(&f.b.staging); err != nil {
		return d.failed(err)
	}
	copy(bytesOf(dst), f.b.bytes(f.n))
	return nil
}

// Drop ends f at once, unless it has ended. It may be called from any goroutine. Drop of nil does
// nothing.
func (f *Fetch) Drop() {
	if f != nil && f.b != nil {
		f.b.taken.Store(false)
		f.b = nil
	}
}

// A Piece is a part of the copies of DownloadAll: a range of device memory and its destination in
// host memory.
type Piece struct {
	to   []byte
	from Pointer
}

// To returns the piece that fills dst.
func To[T Number](dst []T, src Pointer) Piece { return Piece{bytesOf(dst), src} }

// DownloadAll is [Download] for several pieces. Pieces of at most littleStaging bytes are fetched
// while the others are downloaded, so that DownloadAll waits once for them.
func DownloadAll(s *Stream, pieces ...Piece) error {
	fetches := make([]*Fetch, len(pieces))
	defer func() {
		for _, f := range fetches {
			f.Drop()
		}
	}()
	for i, p := range pieces {
		var err error
		if size := len(p.to); i < len(pieces)-1 && 0 < size && size <= littleStaging {
			fetches[i], err = s.Fetch(p.from, size)
		} else {
			err = s.download(p.to, p.from)
		}
		if err != nil {
			return err
		}
	}
	for i, f := range fetches {
		if f == nil {
			continue
		}
		if err := Arrive(f, pieces[i].to); err != nil {
			return err
		}
	}
	return nil
}
