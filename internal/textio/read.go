// Package textio reads text in pieces of whole lines on several threads, and writes text that is
// made in blocks in the same way. It also formats counts, sizes and suggestions for messages.
package textio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/hugepage"
	"github.com/halfulp/halfulp/internal/par"
)

// Error is an error at a line of a file.
type Error struct {
	Name string
	Line int // from 1; 0 for the file as a whole
	Err  error
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Name + ": " + e.Err.Error()
	}
	return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err)
}

// Unwrap returns the error without its place.
func (e *Error) Unwrap() error { return e.Err }

// ErrWhole is the error for files that cannot be read in parts, by several processes.
var ErrWhole = errors.New("the file is not read in parts")

// At is an error at a byte of a piece, which Each turns into an Error.
type At struct {
	Pos int
	Err error
}

func (e *At) Error() string { return e.Err.Error() }

// ReadAll reads r to its end, and uses at most limit bytes of memory. It allocates memory for the
// bytes that arrived, or for the length of a regular file.
func ReadAll(ctx context.Context, r io.Reader, limit int64) ([]byte, error) {
	const first, step = 1 << 16, 1 << 20
	limit = min(limit, math.MaxInt-1)
	b := make([]byte, 0, min(first+sizeHint(r), max(limit, 1)+1))
	hugepage.Large(b[:cap(b)])
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(b) == cap(b) {
			if grown := int64(cap(b)) + int64(cap(b))/4; int64(cap(b))+grown > limit {
				return nil, tooLong(limit)
			}
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):min(cap(b), len(b)+step)])
		b = b[:len(b)+n]
		if int64(len(b)) > limit {
			return nil, tooLong(limit)
		}
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// ReadFile reads a file of size bytes on several threads. It is not ok if the size has changed, or
// if reading fails.
func ReadFile(ctx context.Context, r io.ReaderAt, size int64, threads int) (text []byte, ok bool) {
	const part = 1 << 20
	text = make([]byte, size)
	hugepage.Large(text)
	var failed atomic.Bool
	err := par.For(ctx, threads, int((size+part-1)/part), func(_, i int) {
		b := text[i*part : min((i+1)*part, len(text))]
		if n, _ := r.ReadAt(b, int64(i)*part); n < len(b) {
			failed.Store(true)
		}
	})
	if n, _ := r.ReadAt(make([]byte, 1), size); n > 0 {
		return nil, false
	}
	return text, err == nil && !failed.Load()
}

func tooLong(limit int64) error {
	return fmt.Errorf("too long to read within the memory limit of %s", Bytes(float64(limit)))
}

// sizeHint returns the size of a regular file, else 0.
func sizeHint(r io.Reader) int64 {
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if i, err := f.Stat(); err == nil && i.Mode().IsRegular() {
			return i.Size()
		}
	}
	if l, ok := r.(interface{ Len() int }); ok {
		return int64(l.Len())
	}
	return 0
}

// Bytes returns a number of bytes in words.
func Bytes(n float64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	i := 0
	for n >= 1024 && i+1 < len(units) {
		n /= 1024
		i++
	}
	if i == 0 && n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%.4g %s", n, units[i])
}

// IsSpace reports whether c separates numbers: a blank, a tab, the end of a line, or one of the
// other two characters of C's isspace. Other control characters do not: a NUL indicates UTF-16, of
// which half would be read.
func IsSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// EndLines returns text in which a line feed ends every line, possibly after a carriage return. In
// files whose lines end with a carriage return alone, it replaces these in a copy.
func EndLines(text []byte, threads int) []byte {
	const part = 1 << 20
	var some atomic.Bool
	_ = par.For(context.Background(), threads, (len(text)+part-1)/part, func(_, i int) {
		if !some.Load() && bytes.IndexByte(text[i*part:min((i+1)*part, len(text))], '\r') >= 0 {
			some.Store(true)
		}
	})
	if !some.Load() {
		return text
	}
	copied := false
	for i := 0; ; i++ {
		k := bytes.IndexByte(text[i:], '\r')
		if k < 0 {
			return text
		}
		if i += k; i+1 < len(text) && text[i+1] == '\n' {
			continue
		}
		if !copied {
			text, copied = bytes.Clone(text), true
		}
		text[i] = '\n'
	}
}

// Piece is a part of a text from the beginning of a line to the end of a line.
type Piece struct {
	Index int
	Text  []byte
	Line  int // number of its first line
	Lines int // number of line feeds in it
}

// pieceSize is small enough to keep all threads busy, and large enough for the cost of a piece not
// to matter.
const pieceSize = 1 << 18

// Cut cuts text, whose first line has the number line, into pieces.
func Cut(text []byte, line, threads int) []Piece {
	var all []Piece
	for len(text) > 0 {
		n := len(text)
		if n > pieceSize {
			n = pieceSize
			if k := bytes.IndexByte(text[n:], '\n'); k >= 0 {
				n += k + 1
			} else {
				n = len(text)
			}
		}
		all = append(all, Piece{Index: len(all), Text: text[:n]})
		text = text[n:]
	}
	_ = par.For(context.Background(), threads, len(all), func(_, i int) {
		all[i].Lines = bytes.Count(all[i].Text, []byte{'\n'})
	})
	for i := range all {
		all[i].Line = line
		line += all[i].Lines
	}
	return all
}

// Each calls f for every piece on up to threads goroutines. If calls fail with an *At, it returns
// the Error of the first line among them.
func Each(ctx context.Context, name string, threads int, pieces []Piece, f func(p *Piece) error) error {
	errs := make([]error, len(pieces))
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	// Pieces start in order, so those before a failed one have all started and
	// run to their ends.
	runErr := par.For(inner, threads, len(pieces), func(_, i int) {
		if errs[i] = f(&pieces[i]); errs[i] != nil {
			cancel()
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, err := range errs {
		if at := (*At)(nil); errors.As(err, &at) {
			p := &pieces[i]
			return &Error{name, p.line(at.Pos), at.Err}
		}
		if err != nil {
			return err
		}
	}
	return runErr
}
