package delimited

import (
	"bytes"
	"errors"
	"io"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/textio"
)

// blockSize is the number of bytes of text that ReadAt holds in memory, unless one field is longer.
const blockSize = 1 << 22

// errNoStream means that a text needs a dialect, or has lines that end with carriage returns alone.
var errNoStream = errors.New("the text cannot be read in blocks")

// ReadAt is [Parse] for a file of size bytes, which is read twice and not held in memory. ok is
// false for a text that needs a Dialect, or that has lines that end with carriage returns alone.
func ReadAt(file io.ReaderAt, size int64, name string, o Options) (m *halfulp.Matrix, ok bool, err error) {
	return readBlocks(file, size, name, o, blockSize, partSize)
}

func readBlocks(file io.ReaderAt, length int64, name string, o Options, block, size int) (m *halfulp.Matrix, ok bool, err error) {
	if !o.Dialect.none() {
		return nil, false, nil
	}
	s := &stream{name: name, file: file, part: size, size: length, limit: o.MemoryLimit, buffer: make([]byte, block), dialect: o.Dialect}
	unended := 0
	r := &reading{Options: o, name: name, blocks: func(f func(parts []part, done float64) error) (err error) {
		unended, err = s.read(f)
		return err
	}}
	s.octave = &r.octave
	m, err = r.read(&unended)
	if errors.Is(err, errNoStream) {
		return nil, false, nil
	}
	return m, true, err
}

type stream struct {
	name    string
	file    io.ReaderAt
	size    int64
	part    int // as in cutter
	limit   int64
	buffer  []byte
	dialect Dialect
	octave  *bool // set to whether the text is Octave's
}

var errTooLong = errors.New("a field or comment is too long to read within the memory limit")

// read calls f for the parts of the text in order. It returns the number of the last line if no
// line feed ends it, otherwise 0.
func (s *stream) read(f func(parts []part, done float64) error) (unended int, err error) {
	c := cutter{size: s.part, line: 1}
	have, at := 0, int64(0) // bytes in the buffer, and offset in the file after them
	for {
		b := s.buffer[:min(int64(len(s.buffer)), int64(have)+s.size-at)]
		if n, err := s.file.ReadAt(b[have:], at); n < len(b)-have {
			if err == nil || errors.Is(err, io.EOF) {
				return 0, errChanged
			}
			return 0, &textio.Error{Name: s.name, Err: err}
		}
		begins := at == 0
		at += int64(len(b) - have)
		last := at == s.size
		if !plainBytes(b[max(have-1, 0):], last) {
			return 0, errNoStream
		}
		if begins {
			b = bytes.TrimPrefix(b, []byte("\ufeff"))
			if *s.octave, err = octave(b); err != nil {
				return 0, &textio.Error{Name: s.name, Err: err}
			}
			if !s.dialect.plain(b) {
				return 0, errNoStream
			}
		}
		parts, used := c.cut(b, last)
		if len(parts) > 0 {
			if err := f(parts, float64(at)/float64(max(s.size, 1))); err != nil {
				return 0, err
			}
		}
		if last {
			if len(b) > 0 && b[len(b)-1] != '\n' && b[len(b)-1] != '\r' {
				unended = c.line
			}
			return unended, nil
		}
		have = copy(s.buffer, b[used:])
		if have == len(s.buffer) {
			if int64(have) > s.limit/2 {
				return 0, &textio.Error{Name: s.name, Line: c.line, Err: errTooLong}
			}
			s.buffer = append(s.buffer, make([]byte, have)...)
		}
	}
}

// plainBytes reports whether a text needs no dialect and has line ends that ReadAt reads: it has no
// quotes and semicolons, and carriage returns only before line feeds. A carriage return at the end
// of text is accepted unless last is true.
func plainBytes(text []byte, last bool) bool {
	if bytes.IndexByte(text, '"') >= 0 || bytes.IndexByte(text, ';') >= 0 {
		return false
	}
	for {
		k := bytes.IndexByte(text, '\r')
		if k < 0 || k+1 == len(text) && !last {
			return true
		}
		if k+1 == len(text) || text[k+1] != '\n' {
			return false
		}
		text = text[k+2:]
	}
}
