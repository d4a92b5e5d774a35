// Package files reads and writes matrices by the names of files: it chooses the
// file format, unpacks and packs gzip, takes "-" for the standard streams and
// leaves no half-written file behind.
package files

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/lines"
	"github.com/halfulp/halfulp/internal/npy"
	"github.com/halfulp/halfulp/internal/table"
	"github.com/halfulp/halfulp/matrixmarket"
)

// Stdio is the name of standard input and standard output.
const Stdio = "-"

// ReadOptions change how a matrix is read; the zero value stands for the
// defaults.
type ReadOptions struct {
	In          halfulp.InputFormat // how numbers are stored
	Threads     int                 // 0: GOMAXPROCS
	MemoryLimit int64               // bytes of the text and of the matrix; 0: halfulp.DefaultMemoryLimit()
	Context     context.Context     // cancels
	Progress    func(done float64)  // as in matrixmarket.Options
}

// ReadMatrix reads the matrix in the file called name, or in stdin for "-". The
// content says what it is: a Matrix Market file, a .npy file or a table of
// numbers, any of them packed by gzip.
func ReadMatrix(name string, stdin io.Reader, opt ReadOptions) (*halfulp.Matrix, error) {
	if opt.Threads <= 0 {
		opt.Threads = runtime.GOMAXPROCS(0)
	}
	if opt.MemoryLimit <= 0 {
		opt.MemoryLimit = halfulp.DefaultMemoryLimit()
	}
	if opt.Context == nil {
		opt.Context = context.Background()
	}
	shown := name
	if name == Stdio {
		shown = "standard input"
	}
	text, err := readAll(name, shown, stdin, opt)
	if err != nil {
		return nil, err
	}
	switch kindOf(name, text) {
	case matrixMarket:
		return matrixmarket.Parse(text, shown, &matrixmarket.Options{
			In: opt.In, Threads: opt.Threads, MemoryLimit: opt.MemoryLimit, Context: opt.Context, Progress: opt.Progress,
		})
	case numpy:
		return npy.Parse(text, shown, opt.In, opt.MemoryLimit)
	}
	return table.Parse(text, shown, table.Options{
		In: opt.In, Threads: opt.Threads, MemoryLimit: opt.MemoryLimit, Context: opt.Context, Progress: opt.Progress,
	})
}

// readAll returns the unpacked content of a file.
func readAll(name, shown string, stdin io.Reader, opt ReadOptions) ([]byte, error) {
	r := stdin
	if name != Stdio {
		f, err := os.Open(name)
		if err != nil {
			return nil, withName(shown, err)
		}
		defer f.Close()
		if i, err := f.Stat(); err == nil && i.IsDir() {
			return nil, withName(shown, errors.New("is a directory"))
		}
		r = f
	}
	text, err := lines.ReadAll(opt.Context, r, opt.MemoryLimit)
	if err != nil {
		if opt.Context.Err() != nil {
			return nil, err
		}
		return nil, withName(shown, err)
	}
	if !bytes.HasPrefix(text, []byte("\x1f\x8b")) {
		if strings.EqualFold(filepath.Ext(name), ".gz") {
			return nil, withName(shown, errors.New("not packed by gzip, in spite of its name"))
		}
		return text, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err == nil {
		text, err = lines.ReadAll(opt.Context, z, opt.MemoryLimit)
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, withName(shown, errors.New("the packed data ends early"))
	case err != nil && opt.Context.Err() != nil:
		return nil, err
	case err != nil:
		return nil, withName(shown, err)
	}
	return text, nil
}

// withName puts the name of the file before an error, in place of the operating
// system's "open name".
func withName(shown string, err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	}
	return fmt.Errorf("%s: %w", shown, err)
}

type kind int

const (
	tableText kind = iota
	matrixMarket
	numpy
)

// kindOf tells what a file holds by its content, and by its name where that
// promises something else, for the reader's message.
func kindOf(name string, text []byte) kind {
	head := bytes.TrimPrefix(text, []byte("\ufeff"))
	if n := len(matrixmarket.Banner); len(head) >= n && strings.EqualFold(string(head[:n]), matrixmarket.Banner) {
		return matrixMarket
	}
	if bytes.HasPrefix(text, []byte(npy.Magic)) {
		return numpy
	}
	return kindByName(name, tableText)
}

// kindByName tells the file format by the extension, other for none known.
func kindByName(name string, other kind) kind {
	name = strings.ToLower(name)
	switch filepath.Ext(strings.TrimSuffix(name, ".gz")) {
	case ".mtx", ".mm":
		return matrixMarket
	case ".npy":
		return numpy
	case ".csv", ".tsv", ".txt", ".dat":
		return tableText
	}
	return other
}
