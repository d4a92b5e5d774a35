package matrixmarket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"sync/atomic"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/textio"
)

const (
	// streamPart is the number of bytes that a goroutine reads at a time; they fit a cache.
	streamPart = 1 << 18
	// streamLine bounds the bytes of a line.
	streamLine = 1 << 13
	// streamHead bounds the bytes before the entries.
	streamHead = 1 << 16
)

// ReadAt is [Read] for a file of size bytes, read by several threads. The text is not held in
// memory, and does not count for opt.MemoryLimit, if the file is an array with one entry on every
// line whose format is known from a comment or from opt.In.
func ReadAt(r io.ReaderAt, size int64, name string, opt *Options) (*halfulp.Matrix, error) {
	o := opt.filled()
	m := o.stream(r, size, name)
	if err := o.Context.Err(); err != nil {
		return nil, err
	}
	if m != nil {
		return m, nil
	}
	if size > o.MemoryLimit {
		return Read(io.NewSectionReader(r, 0, math.MaxInt64), name, opt) // returns the error
	}
	text, ok := textio.ReadFile(o.Context, r, size, o.Threads)
	if !ok {
		return Read(io.NewSectionReader(r, 0, math.MaxInt64), name, opt)
	}
	return Parse(text, name, opt)
}

// errNoStream means that stream cannot read a file.
var errNoStream = errors.New("lines without a number of their own")

// stream reads the entries of an array file part by part, in two passes. The first pass counts line
// feeds, which determine the places of the entries. stream returns nil for files that ReadAt does
// not stream, for malformed files, and if a number is out of range, as the statistics need its
// line.
func (o *Options) stream(r io.ReaderAt, size int64, name string) *halfulp.Matrix {
	head := make([]byte, min(size, streamHead))
	if n, _ := r.ReadAt(head, 0); n < len(head) || bytes.IndexByte(head, '\r') >= 0 {
		return nil
	}
	h, err := parseHeader(name, head)
	if err != nil || h.coordinate || h.integer || !o.In.Exact() && h.format == nil {
		return nil
	}
	// The entries begin after the line feed at begin.
	begin := int64(len(head)-len(h.body)) - 1
	if head[begin] != '\n' {
		return nil
	}
	s := &stream{reader: &reader{Options: *o, header: h, name: name}, file: r, begin: begin, end: size}
	if float64(h.rows)*float64(h.cols) > float64(4*size) { // so that sizes do not overflow
		return nil
	}
	if m, err := s.read(); err == nil {
		if o.Stats != nil {
			*o.Stats = s.about
		}
		return m
	}
	return nil
}

type stream struct {
	*reader
	file       io.ReaderAt
	begin, end int64 // bounds of the entries, with the line feed before them
	buffers    [][]byte
}

// each calls f for all parts, with the bytes of the part and up to more bytes after it.
func (s *stream) each(parts, more int, f func(i int, text []byte) error) error {
	ctx, cancel := context.WithCancel(s.Context)
	defer cancel()
	var failed atomic.Bool
	err := par.For(ctx, s.Threads, parts, func(worker, i int) {
		if s.buffers[worker] == nil {
			s.buffers[worker] = make([]byte, streamPart+streamLine)
		}
		at := s.begin + int64(i)*streamPart
		text := s.buffers[worker][:min(int64(streamPart+more), s.end-at)]
		n, _ := s.file.ReadAt(text, at)
		if n < len(text) || f(i, text) != nil {
			failed.Store(true)
			cancel()
		}
		if s.Progress != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.steps++
			s.Progress(float64(s.steps) / float64(2*parts))
		}
	})
	if failed.Load() {
		return errNoStream
	}
	return err
}

// read reads the entries. Part i has the entries on the lines after the line feeds in part i.
func (s *stream) read() (*halfulp.Matrix, error) {
	s.buffers = make([][]byte, s.Threads)
	parts := int((s.end - s.begin + streamPart - 1) / streamPart)
	counts := make([]int64, parts)
	ended := false // only the last part sets it
	if err := s.each(parts, 0, func(i int, text []byte) error {
		if bytes.IndexByte(text, '\r') >= 0 {
			return errNoStream
		}
		if s.isLast(i) { // no line follows the last line feed of the file
			ended = text[len(text)-1] == '\n'
			text = text[:len(text)-1]
		}
		counts[i] = int64(bytes.Count(text, []byte{'\n'}))
		return nil
	}); err != nil {
		return nil, err
	}
	firsts, total := sums(counts)
	if total != s.entriesOfArray() {
		return nil, errNoStream
	}
	if !ended {
		s.about.Unended = s.bodyLine + int(total) - 1
	}
	if err := s.allocate(decimal.Extent{}); err != nil {
		return nil, err
	}
	err := s.each(parts, streamLine, func(i int, text []byte) error {
		if counts[i] == 0 {
			return nil
		}
		from, to := bytes.IndexByte(text, '\n')+1, len(text)
		if !s.isLast(i) { // up to the line feed of the last line that begins here
			if k := bytes.IndexByte(text[streamPart:], '\n'); k >= 0 {
				to = streamPart + k
			} else if len(text) == streamPart+streamLine {
				return errNoStream
			}
		}
		var losses textio.Losses
		if err := s.fillText(text[from:to], firsts[i], counts[i], &losses); err != nil {
			return err
		}
		if losses != (textio.Losses{}) {
			return errNoStream
		}
		return nil
	})
	return s.m, err
}

// isLast reports whether part i reaches to the end of the file.
func (s *stream) isLast(i int) bool { return s.begin+int64(i+1)*streamPart >= s.end }
