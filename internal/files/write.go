package files

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/lines"
	"github.com/halfulp/halfulp/internal/listing"
	"github.com/halfulp/halfulp/internal/npy"
	"github.com/halfulp/halfulp/internal/table"
	"github.com/halfulp/halfulp/matrixmarket"
)

// WriteOptions change how a matrix is written; the zero value stands for the
// defaults.
type WriteOptions struct {
	Digits   int                // as in halfulp.Scalar.Text: 0 shortest, n significant, halfulp.Hex
	Threads  int                // 0: GOMAXPROCS
	Context  context.Context    // cancels
	Progress func(done float64) // as in matrixmarket.Options
	Flat     bool               // NumPy's files have one dimension for a matrix of one column
	As       string             // a name that chooses the file format in place of the file's
	// Last, if not nil, is called once, when everything is written and before a file gets its name.
	// After an error of it no file does.
	Last func() error
}

// WriteMatrix writes m to the file called name, or to stdout for "-". The name chooses the file
// format: .npy, .npz, .csv, .tsv, or .txt and .dat for tables, .arb, .gp, .py and .wl for lists of
// other programs, .mtx, .mm or no extension for Matrix Market; .gz after it packs the file, and
// another extension is an error. The file appears under its name when it is complete, in place of
// an older one, or not at all.
func WriteMatrix(name string, stdout io.Writer, m *halfulp.Matrix, opt WriteOptions) error {
	return WriteMatrices([]NamedMatrix{{name, m}}, stdout, opt)
}

// NamedMatrix is a matrix and the file that it goes to.
type NamedMatrix struct {
	Name   string
	Matrix *halfulp.Matrix
}

// WriteMatrices writes matrices like WriteMatrix. No file appears before the last one is complete.
func WriteMatrices(all []NamedMatrix, stdout io.Writer, opt WriteOptions) error {
	if len(all) == 0 {
		return nil
	}
	name, m := all[0].Name, all[0].Matrix
	opt = opt.Filled()
	as := name
	if opt.As != "" {
		as = opt.As
	}
	if err := CheckMatrixName(as, m.Format()); err != nil {
		return err
	}
	var others error // errors of the others name their own files
	last := opt.Last
	if len(all) > 1 {
		last = nil // the last matrix has it
	}
	err := WriteThen(name, stdout, last, func(w io.Writer) error {
		if err := writeMatrix(w, as, m, opt); err != nil || len(all) == 1 {
			return err
		}
		if f, ok := w.(interface{ Flush() error }); ok {
			if err := f.Flush(); err != nil {
				return err
			}
		}
		others = WriteMatrices(all[1:], stdout, opt)
		return others
	})
	if others != nil {
		return others
	}
	return err
}

// IsArchive reports whether the extension of a name stands for a file that holds several matrices.
func IsArchive(name string) bool { return KindByName(name) == NumPyZip }

// A Member is an array of a .npz file: a matrix, or integers.
type Member struct {
	Name     string
	Matrix   *halfulp.Matrix // nil for integers
	Integers []int
}

// WriteArchive writes several arrays to the .npz file called name, as WriteMatrix writes one.
func WriteArchive(name string, stdout io.Writer, members []Member, opt WriteOptions) error {
	opt = opt.Filled()
	var all []npy.Array
	for _, m := range members {
		if m.Matrix == nil {
			all = append(all, npy.Integers(m.Name, m.Integers))
			continue
		}
		a, err := npy.Member(m.Name, m.Matrix)
		if err != nil {
			return err
		}
		all = append(all, a...)
	}
	return WriteThen(name, stdout, opt.Last, func(w io.Writer) error {
		return npy.WriteZip(w, all, func(w io.Writer, a npy.Array) error { return writeParts(w, a, opt) })
	})
}

// Filled returns the options with defaults.
func (opt WriteOptions) Filled() WriteOptions {
	if opt.Threads <= 0 {
		opt.Threads = runtime.GOMAXPROCS(0)
	}
	if opt.Context == nil {
		opt.Context = context.Background()
	}
	return opt
}

// writeMatrix writes m as the name of the file asks for.
func writeMatrix(w io.Writer, name string, m *halfulp.Matrix, opt WriteOptions) error {
	switch KindByName(name) {
	case NumPy:
		a, err := npy.File(m, opt.Flat)
		if err != nil {
			return err
		}
		if _, err := w.Write(a.Head); err != nil {
			return err
		}
		return writeParts(w, a, opt)
	case NumPyZip:
		all, err := npy.Arrays(m, opt.Flat)
		if err != nil {
			return err
		}
		return npy.WriteZip(w, all, func(w io.Writer, a npy.Array) error { return writeParts(w, a, opt) })
	case list:
		return listOf(name).Write(w, m, listing.Options{Digits: opt.Digits, Threads: opt.Threads, Context: opt.Context, Progress: opt.Progress})
	case tableText:
		separator := byte(' ')
		switch extension(name) {
		case ".csv":
			separator = ','
		case ".tsv":
			separator = '\t'
		}
		return table.Write(w, m, table.Options{
			Digits: opt.Digits, Separator: separator, Threads: opt.Threads, Context: opt.Context, Progress: opt.Progress,
		})
	}
	return matrixmarket.Write(w, m, &matrixmarket.Options{
		Digits: opt.Digits, Threads: opt.Threads, Context: opt.Context, Progress: opt.Progress,
	})
}

// writeParts writes the data of an array.
func writeParts(w io.Writer, a npy.Array, opt WriteOptions) error {
	return lines.Write(opt.Context, w, opt.Threads, a.Parts, a.Append, opt.Progress)
}

// IsKind reports whether the extension of a name stands for a kind of file.
func IsKind(name string) bool { return KindByName(name) != unknown }

// CheckMatrixName reports an error if the extension of a name stands for no kind of file, or for
// one that cannot hold numbers of one of the formats.
func CheckMatrixName(name string, formats ...halfulp.Format) error {
	switch KindByName(name) {
	case unknown:
		return fmt.Errorf("%s: the extension %s does not say what kind of file to write: it may be .mtx, .npz, .npy, .csv, .tsv, .txt, .dat, or .arb, .gp, .py or .wl for lists of FLINT, PARI/GP, mpmath or Mathematica, and .gz after it",
			name, extension(name))
	case NumPy:
		for _, f := range formats {
			if !npy.Holds(f) {
				return fmt.Errorf("%s: a .npy file does not hold numbers of format %v: write .npz, or a text", name, f)
			}
		}
	}
	return nil
}

// Write calls write with a writer to the file called name, or to stdout for "-",
// and packs what is written if the name ends in .gz. The file appears under its
// name when write has returned without error, in place of an older one, or not at
// all.
func Write(name string, stdout io.Writer, write func(w io.Writer) error) error {
	return WriteThen(name, stdout, nil, write)
}

// WriteThen is Write that calls a function, unless it is nil, when everything is written and before
// the file appears: not at all after an error of it.
func WriteThen(name string, stdout io.Writer, last func() error, write func(w io.Writer) error) error {
	if last == nil {
		last = func() error { return nil }
	}
	if name == Stdio {
		const shown = "standard output"
		w := bufio.NewWriterSize(stdout, 1<<16)
		if err := write(w); err != nil {
			return placed(shown, err)
		}
		if err := w.Flush(); err != nil {
			return withName(shown, err)
		}
		return last()
	}
	f, err := NewDraft(name)
	if err != nil {
		return withName(name, err)
	}
	defer f.Discard()
	w := bufio.NewWriterSize(f, 1<<16)
	if isPacked(name) {
		// Random digits gain nothing from the slower levels.
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return withName(name, err)
		}
		if err := write(z); err != nil {
			return placed(name, err)
		}
		if err := z.Close(); err != nil {
			return withName(name, err)
		}
	} else if err := write(w); err != nil {
		return placed(name, err)
	}
	if err := w.Flush(); err != nil {
		return withName(name, err)
	}
	if err := last(); err != nil {
		return err
	}
	return Named(name, f.Commit())
}

// Named puts the name of a file before an error that may be nil, in place of the operating system's
// "open name".
func Named(name string, err error) error {
	if err == nil {
		return nil
	}
	return withName(name, err)
}

// placed is withName for an error of the operating system, which names the
// temporary file; other errors stay.
func placed(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return withName(name, err)
	}
	return err
}

// CheckWritable reports whether a file called name can be written, before long work begins.
func CheckWritable(name string) error {
	if name == Stdio {
		return nil
	}
	if i, err := os.Stat(name); err == nil && i.Mode()&fs.ModeNamedPipe != 0 {
		return nil // opening it would wait for a reader
	}
	f, err := NewDraft(name)
	if err != nil {
		return withName(name, err)
	}
	f.Discard()
	return nil
}

// A Draft is a file under way: a temporary one that takes its name at the end, or
// the thing itself where that is no regular file, such as a device or a pipe.
type Draft struct {
	*os.File
	Temporary string // its name meanwhile, empty for what is no regular file
	target    string
}

// temporaries are the files under way, for RemoveTemporaries.
var temporaries struct {
	sync.Mutex
	names map[string]bool
	gone  bool
}

// RemoveTemporaries removes the files that are being written and lets none begin
// any more: call it before the program ends by a signal.
func RemoveTemporaries() {
	temporaries.Lock()
	defer temporaries.Unlock()
	temporaries.gone = true
	for n := range temporaries.names {
		os.Remove(n)
	}
	clear(temporaries.names)
}

var errGone = errors.New("the program is ending")

// NewDraft begins the file called name. The operating system's errors name what it was asked for:
// see [Named].
func NewDraft(name string) (*Draft, error) {
	if name == "" {
		return nil, errors.New("the name of the file to write is empty")
	}
	target, err := followLinks(name)
	if err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o666)
	old, err := os.Stat(target)
	switch {
	case err == nil && old.IsDir():
		return nil, errors.New("is a directory")
	case err == nil && !old.Mode().IsRegular():
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		return &Draft{File: f}, err
	case err == nil:
		// Replacing it would work without leave to write it: ask for leave.
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		f.Close()
		mode = old.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	f, err := createTemporary(target, mode)
	if err == nil && old != nil {
		err = f.Chmod(mode) // whatever the umask
		if err != nil {
			f.Discard()
		}
	}
	return f, err
}

// followLinks returns the name of the file that name stands for if it is a symbolic
// link, whether that file is there or not.
func followLinks(name string) (string, error) {
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		if t, err := filepath.EvalSymlinks(name); err == nil {
			return t, nil
		}
		return name, nil // a device or pipe in /proc, say, or an error to come
	}
	const most = 255 // as filepath.EvalSymlinks has it
	for range most {
		i, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return name, nil
		case err != nil:
			return "", err
		case i.Mode()&fs.ModeSymlink == 0:
			return name, nil
		}
		link, err := os.Readlink(name)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(link) {
			dir, _ := filepath.Split(name)
			link = dir + link // not cleaned: dir/.. need not be what holds dir
		}
		name = link
	}
	return "", errors.New("too many symbolic links")
}

// createTemporary makes a new file beside target. Its name does not hold the target's, which may be
// as long as a name can be.
func createTemporary(target string, mode fs.FileMode) (*Draft, error) {
	temporaries.Lock()
	defer temporaries.Unlock()
	if temporaries.gone {
		return nil, errGone
	}
	dir, _ := filepath.Split(target)
	for k := 0; ; k++ {
		n := dir + ".halfulp-" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(k) + ".tmp"
		f, err := os.OpenFile(n, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) && k < 10000 {
			continue
		}
		if err != nil {
			return nil, err
		}
		if temporaries.names == nil {
			temporaries.names = map[string]bool{}
		}
		temporaries.names[n] = true
		return &Draft{f, n, target}, nil
	}
}

// Commit gives the file its name.
func (f *Draft) Commit() error {
	if err := f.Close(); err != nil || f.Temporary == "" {
		return err
	}
	temporaries.Lock()
	defer temporaries.Unlock()
	if temporaries.gone {
		return errGone
	}
	if err := os.Rename(f.Temporary, f.target); err != nil {
		return err
	}
	delete(temporaries.names, f.Temporary)
	return nil
}

// Discard removes the file unless it is committed.
func (f *Draft) Discard() {
	temporaries.Lock()
	defer temporaries.Unlock()
	f.Close()
	if temporaries.names[f.Temporary] {
		os.Remove(f.Temporary)
		delete(temporaries.names, f.Temporary)
	}
}
