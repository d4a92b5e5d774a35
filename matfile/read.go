// Package matfile reads and writes matrices by the names of files: it chooses the
// file format, unpacks and packs gzip, takes "-" for the standard streams and
// leaves no half-written file behind.
package matfile

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile/internal/casformat"
	"github.com/halfulp/halfulp/matfile/internal/delimited"
	"github.com/halfulp/halfulp/matfile/internal/npy"
	"github.com/halfulp/halfulp/matrixmarket"
)

// ReadOptions change how a matrix is read; the zero value stands for the
// defaults.
type ReadOptions struct {
	In      halfulp.InputFormat // how numbers are stored
	Stats   *halfulp.InputStats // if not nil, set to what the range of the format took
	Threads int                 // 0: GOMAXPROCS
	// bytes of the text and of the matrix; 0: halfulp.DefaultMemoryLimit()
	MemoryLimit int64
	Context     context.Context    // cancels
	Progress    func(done float64) // as in matrixmarket.Options
	Dialect     Dialect            // of a table
	// if not nil, set to what a row with words, or an array of three dimensions, was taken for
	Note      *string
	Names     *[]string // if not nil, set to the names of the columns read, if a table has a header
	NoTable   *bool     // if not nil, set to whether it is another kind of file
	Flat      *bool     // if not nil, set to true for an array of NumPy of one dimension
	Densified *bool     // if not nil, set to true for a sparse file of which a dense matrix is made

	file io.ReaderAt // what the content is mapped from
	part string      // a matrix of a .npz file, columns of a table
}

// Dialect says how a table is written that is more than rows of numbers, such as one that a
// spreadsheet exports. With the zero value the reader finds out what it can see.
type Dialect struct {
	// between fields; 0: a semicolon, tab or comma, if the first row has one, or white space
	Delimiter rune
	Comment   rune // begins a comment; 0: #
	Skip      uint // lines before the table
	// the first row holds names, as it is taken to do where none of its fields is a number
	Header       bool
	Columns      []string // to read: numbers from 1, ranges such as 2-4, names; nil: all
	DecimalComma bool     // 1,5 is 1.5
}

// Blank is the delimiter white space, as much of it as there is.
const Blank = delimited.Blank

// ErrEmpty is wrapped by the error for a table that would have no rows or no columns.
var ErrEmpty = delimited.ErrEmpty

// SplitColumns splits a list of the columns of a Dialect at its commas. A name in quotes may have
// commas; two quotes in it stand for one.
func SplitColumns(list string) ([]string, error) { return delimited.SplitColumns(list) }

// ReadMatrix reads the matrix in the file called name, or in stdin for "-". The
// content says what it is: a Matrix Market file, a .npy or .npz file or a table of
// numbers, any of them packed by gzip, with zeros after it or none. FILE.npz:L is the matrix L of
// several in a .npz file, FILE:LIST are columns of a table, unless there is a file of that name.
func ReadMatrix(name string, stdin io.Reader, opt ReadOptions) (*halfulp.Matrix, error) {
	opt = opt.Filled()
	name, opt.part = Split(name)
	return reading(name, stdin, opt, func(in *input) (*halfulp.Matrix, error) {
		if k, text, unmap, ok := in.mapNumPy(opt.MemoryLimit); ok {
			defer unmap()
			opt.file = in.file
			return parse(k, name, text, opt)
		}
		if m, ok, err := in.readInBlocks(opt); ok {
			return m, err
		}
		text, err := in.readAll(opt)
		if err != nil {
			return nil, err
		}
		return parse(KindOf(name, text), name, text, opt)
	})
}

// An input is a file, or standard input, that is open to be read. It is opened once: a pipe gives
// its bytes one time.
type input struct {
	name  string
	from  io.Reader
	file  *os.File // nil for what is no regular file
	size  int64    // of a regular file
	watch *files.Watch
}

// reading calls a function that reads a file. What it returns is lost if the file changed
// meanwhile.
func reading[T any](name string, stdin io.Reader, opt ReadOptions, read func(in *input) (T, error)) (z T, err error) {
	in := &input{name: name, from: stdin}
	if name != files.Stdio {
		f, err := os.Open(name)
		if err != nil {
			return z, files.Named(files.Shown(name), err)
		}
		defer f.Close()
		in.from = f
	}
	if err := in.begin(opt.Context); err != nil {
		if opt.Context.Err() == nil {
			err = files.Named(files.Shown(name), err)
		}
		return z, err
	}
	z, err = read(in)
	if opt.Context.Err() != nil {
		return z, err
	}
	if changed := in.watch.Check(); changed != nil {
		var none T
		return none, changed
	}
	return z, err
}

// begin looks at what is open.
func (in *input) begin(ctx context.Context) error {
	f, ok := in.from.(*os.File)
	if !ok {
		return nil
	}
	i, err := f.Stat()
	switch {
	case err != nil:
		return err
	case i.IsDir():
		return errors.New("is a directory")
	case !i.Mode().IsRegular():
		return nil
	}
	if in.watch, err = files.NewWatch(ctx, f, in.name); err != nil {
		return err
	}
	if in.name != files.Stdio { // of which a part may have been read
		in.file, in.size = f, in.watch.Size()
	}
	return nil
}

// readInBlocks reads a large file of text that is not packed, a Matrix Market file or a table, of
// which it holds as little in memory as it can; not ok for others.
func (in *input) readInBlocks(opt ReadOptions) (m *halfulp.Matrix, ok bool, err error) {
	if in.file == nil || in.size < min(largeFile, opt.MemoryLimit/4) || opt.part != "" {
		return nil, false, nil
	}
	head := make([]byte, min(in.size, headSize))
	if n, _ := in.file.ReadAt(head, 0); n < len(head) { // which others tell
		return nil, false, nil
	}
	rows := false
	switch k := KindOf(in.name, head); {
	case KindOf("", head) == MatrixMarket:
		opt.densify(head)
		m, err = matrixmarket.ReadAt(in.file, in.size, files.Shown(in.name), opt.matrixMarket())
	case k == tableText && foreign(head) == nil && !files.IsPacked(in.name) && !bytes.HasPrefix(head, []byte(gzipMagic)):
		rows = true
		if m, ok, err = delimited.ReadAt(in.file, in.size, files.Shown(in.name), opt.table()); !ok {
			return nil, false, nil
		}
	default:
		return nil, false, nil
	}
	if opt.NoTable != nil {
		*opt.NoTable = !rows
	}
	return m, true, err
}

// headSize is how many bytes of a file say what it is.
const headSize = 1 << 10

// Split splits what to read of a file from the file's name: FILE.npz:L is the matrix L, and
// FILE.csv:2,price are columns of a table. A file whose name has a colon is one.
func Split(name string) (file, part string) {
	if _, err := os.Stat(name); err == nil {
		return name, ""
	}
	for k, c := range name {
		if c != ':' {
			continue
		}
		if i, err := os.Stat(name[:k]); err == nil && !i.IsDir() && k+1 < len(name) {
			return name[:k], name[k+1:]
		}
	}
	return name, ""
}

// mappedSize is how large a file of NumPy is that is worth mapping into memory.
const mappedSize = 1 << 16

// mapNumPy maps a large file of NumPy that is not packed into memory, and tells which kind it is;
// not ok for other files, and where that fails. The file must stay open until the memory is given
// back. Package npy alone may read the memory, which a file that becomes shorter takes away.
func (in *input) mapNumPy(limit int64) (k Kind, text []byte, unmap func(), ok bool) {
	if k := KindByName(in.name); k != NumPy && k != NumPyZip || files.IsPacked(in.name) || in.file == nil || in.size < mappedSize || in.size > limit {
		return unknown, nil, nil, false
	}
	head := make([]byte, len(npy.Magic))
	if _, err := in.file.ReadAt(head, 0); err != nil {
		return unknown, nil, nil, false
	}
	if k = KindOf("", head); k != NumPy && k != NumPyZip { // packed, in spite of its name
		return unknown, nil, nil, false
	}
	text, unmap, ok = mapped(in.file, in.size)
	return k, text, unmap, ok
}

// Doubles is a .npy file of doubles that is read in parts.
type Doubles struct {
	in    *input
	unmap func()
	at    int64
	n     int
}

// OpenDoubles opens a large .npy file whose numbers are doubles as in the memory of this machine,
// whatever its shape; not ok for others, of which it opens regular ones only.
func OpenDoubles(ctx context.Context, name string) (*Doubles, bool) {
	if i, err := os.Stat(name); err != nil || !i.Mode().IsRegular() || KindByName(name) != NumPy {
		return nil, false
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	d := &Doubles{in: &input{name: name, from: f}}
	if !d.find(ctx) {
		d.Close()
		return nil, false
	}
	return d, true
}

// find finds the numbers.
func (d *Doubles) find(ctx context.Context) (ok bool) {
	if err := d.in.begin(ctx); err != nil {
		return false
	}
	_, text, unmap, ok := d.in.mapNumPy(math.MaxInt64)
	if !ok {
		return false
	}
	d.unmap = unmap
	d.at, d.n, ok = npy.Doubles(text)
	return ok
}

// Len returns how many numbers there are.
func (d *Doubles) Len() int { return d.n }

// Read reads numbers from number i on, each NaN as it is.
func (d *Doubles) Read(z []float64, i int) error {
	return files.Named(files.Shown(d.in.name), npy.ReadDoubles(d.in.file, z, d.at+8*int64(i)))
}

// Check returns an error if the file changed while it was read.
func (d *Doubles) Check() error { return d.in.watch.Check() }

// Close ends reading.
func (d *Doubles) Close() {
	if d.unmap != nil {
		d.unmap()
	}
	_ = d.in.from.(*os.File).Close()
}

// ReadSparse is ReadMatrix for the entries that a coordinate file names, or a .npz file of a sparse
// matrix of SciPy, without a dense matrix, and those other than 0 of another file.
func ReadSparse(name string, stdin io.Reader, opt ReadOptions) (*matrixmarket.Sparse, error) {
	opt = opt.Filled()
	name, opt.part = Split(name)
	return reading(name, stdin, opt, func(in *input) (*matrixmarket.Sparse, error) {
		text, err := in.readAll(opt)
		if err != nil {
			return nil, err
		}
		k := KindOf(name, text)
		if opt.NoTable != nil {
			*opt.NoTable = k != tableText
		}
		switch {
		case k == MatrixMarket && opt.part == "":
			return matrixmarket.ParseSparse(text, files.Shown(name), opt.matrixMarket())
		case k == NumPyZip:
			return npy.ParseSparse(text, files.Shown(name), opt.numpy())
		}
		m, err := parse(k, name, text, opt)
		if err != nil {
			return nil, err
		}
		return matrixmarket.SparseOf(m), nil
	})
}

// Read returns the unpacked content of the file called name, or of stdin for "-".
func Read(name string, stdin io.Reader, opt ReadOptions) ([]byte, error) {
	opt = opt.Filled()
	return reading(name, stdin, opt, func(in *input) ([]byte, error) { return in.readAll(opt) })
}

// Filled returns the options with defaults.
func (opt ReadOptions) Filled() ReadOptions {
	if opt.Threads <= 0 {
		opt.Threads = runtime.GOMAXPROCS(0)
	}
	if opt.MemoryLimit <= 0 {
		opt.MemoryLimit = halfulp.DefaultMemoryLimit()
	}
	if opt.Context == nil {
		opt.Context = context.Background()
	}
	return opt
}

func (opt ReadOptions) matrixMarket() *matrixmarket.Options {
	return &matrixmarket.Options{
		In: opt.In, Stats: opt.Stats, Threads: opt.Threads, MemoryLimit: opt.MemoryLimit, Context: opt.Context, Progress: opt.Progress,
	}
}

func (opt ReadOptions) numpy() npy.Options {
	return npy.Options{In: opt.In, Stats: opt.Stats, Threads: opt.Threads, MemoryLimit: opt.MemoryLimit, Context: opt.Context, Flat: opt.Flat, Densified: opt.Densified, Note: opt.Note, File: opt.file, Member: opt.part}
}

func (opt ReadOptions) table() delimited.Options {
	return delimited.Options{
		In: opt.In, Stats: opt.Stats, Dialect: delimited.Dialect(opt.Dialect), Note: opt.Note, Names: opt.Names,
		Threads: opt.Threads, MemoryLimit: opt.MemoryLimit, Context: opt.Context, Progress: opt.Progress,
	}
}

// parse reads the unpacked content of a file of some kind.
func parse(k Kind, name string, text []byte, opt ReadOptions) (*halfulp.Matrix, error) {
	if opt.NoTable != nil {
		*opt.NoTable = k != tableText
	}
	if opt.part != "" && (k == MatrixMarket || k == NumPy) {
		return nil, fmt.Errorf("%s: this is no table of which columns %q could be read, nor a .npz file of several matrices", files.Shown(name), opt.part)
	}
	switch k {
	case MatrixMarket:
		opt.densify(text)
		return matrixmarket.Parse(text, files.Shown(name), opt.matrixMarket())
	case NumPy:
		return npy.Parse(text, files.Shown(name), opt.numpy())
	case NumPyZip:
		return npy.ParseZip(text, files.Shown(name), opt.numpy())
	case list:
		return nil, fmt.Errorf("%s: lists for %s are written, not read: rows of numbers are (.csv, .txt)", files.Shown(name), listOf(name).Name)
	}
	if err := foreign(text); err != nil {
		return nil, files.Named(files.Shown(name), err)
	}
	if opt.part != "" {
		var err error
		if opt.Dialect.Columns, err = SplitColumns(opt.part); err != nil {
			return nil, files.Named(files.Shown(name), err)
		}
	}
	return delimited.Parse(text, files.Shown(name), opt.table())
}

// densify sets Densified if a Matrix Market file is a coordinate file.
func (opt ReadOptions) densify(text []byte) {
	line, _, _ := bytes.Cut(text[:min(len(text), headSize)], []byte{'\n'})
	words := bytes.Fields(line)
	if opt.Densified != nil && len(words) > 2 && bytes.EqualFold(words[2], []byte("coordinate")) {
		*opt.Densified = true
	}
}

// foreign returns an error that names a kind of file that is no text, or a text of UTF-16, and the
// way out; nil for other texts.
func foreign(text []byte) error {
	for _, x := range []struct{ magic, what string }{
		{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "this is a workbook of Excel (.xls, or .xlsx with a password) or another document of Microsoft Office: save the sheet as CSV"},
		{"MATLAB 5.0 MAT-file", "this is a MAT-file of MATLAB or Octave: save the matrix by dlmwrite('A.csv', A, 'precision', 17)"},
		{"MATLAB 7.3 MAT-file", "this is a MAT-file of MATLAB or Octave: save the matrix by dlmwrite('A.csv', A, 'precision', 17)"},
		{"\x89HDF\r\n\x1a\n", "this is an HDF5 file: save the matrix by numpy.save, or as CSV"},
		{"PAR1\x15", "this is a Parquet file: save the table as CSV, or by numpy.save"},
	} {
		if bytes.HasPrefix(text, []byte(x.magic)) {
			return errors.New(x.what)
		}
	}
	if isUTF16(text) {
		return errUTF16
	}
	return nil
}

var errUTF16 = errors.New("the text is UTF-16, of two bytes a character: save it as UTF-8, or convert it: iconv -f UTF-16 -t UTF-8")

// isUTF16 reports whether a text begins with a byte order mark of UTF-16, or with two characters of
// ASCII in it.
func isUTF16(text []byte) bool {
	if len(text) < 4 {
		return false
	}
	a, b, c, d := text[0], text[1], text[2], text[3]
	marked := a == 0xff && b == 0xfe || a == 0xfe && b == 0xff
	return marked || a != 0 && b == 0 && c != 0 && d == 0 || a == 0 && b != 0 && c == 0 && d != 0
}

// readAll returns the unpacked content.
func (in *input) readAll(opt ReadOptions) ([]byte, error) {
	shown := files.Shown(in.name)
	text, ok := in.readAtOnce(opt)
	if !ok {
		var err error
		if text, err = textio.ReadAll(opt.Context, in.from, opt.MemoryLimit); err != nil {
			if opt.Context.Err() != nil {
				return nil, err
			}
			return nil, files.Named(shown, err)
		}
	}
	if !bytes.HasPrefix(text, []byte(gzipMagic)) {
		if files.IsPacked(in.name) {
			return nil, files.Named(shown, errors.New("not packed by gzip, in spite of its name"))
		}
		return text, nil
	}
	text, err := textio.ReadAll(opt.Context, newUnpacker(text), opt.MemoryLimit)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, files.Named(shown, errors.New("the packed data ends early"))
	case err != nil && opt.Context.Err() != nil:
		return nil, err
	case err != nil:
		return nil, files.Named(shown, err)
	}
	return text, nil
}

// largeFile is how large a file is that is worth reading on several threads.
const largeFile = 1 << 22

// readAtOnce returns the content of a large regular file; not ok for others, and where that fails.
func (in *input) readAtOnce(opt ReadOptions) (text []byte, ok bool) {
	if in.file == nil || in.size < largeFile || in.size > opt.MemoryLimit {
		return nil, false
	}
	return textio.ReadFile(opt.Context, in.file, in.size, opt.Threads)
}

// gzipMagic begins every member of a file packed by gzip.
const gzipMagic = "\x1f\x8b"

// unpacker reads what gzip packed, one member after the other. Like gzip it takes zeros
// after the last one for padding, of a tape's block, say; unlike gzip, which warns of
// them, it fails where other bytes follow: nobody knows what is missing.
type unpacker struct {
	text   []byte
	packed *bytes.Reader // of text
	member *gzip.Reader  // nil before the first
}

func newUnpacker(text []byte) *unpacker {
	return &unpacker{text: text, packed: bytes.NewReader(text)}
}

func (u *unpacker) Read(b []byte) (n int, err error) {
	if u.member == nil {
		if u.member, err = gzip.NewReader(u.packed); err != nil {
			return 0, err
		}
		u.member.Multistream(false)
	}
	for {
		if n, err = u.member.Read(b); n > 0 || !errors.Is(err, io.EOF) {
			if errors.Is(err, io.EOF) {
				err = nil // of the member
			}
			return n, err
		}
		if err := u.next(); err != nil {
			return 0, err
		}
	}
}

// next begins the next member. It returns io.EOF if there is none.
func (u *unpacker) next() error {
	rest := u.text[len(u.text)-u.packed.Len():]
	switch {
	case len(bytes.TrimLeft(rest, "\x00")) == 0:
		return io.EOF
	case !bytes.HasPrefix(rest, []byte(gzipMagic)):
		return errors.New("the packed data is followed by bytes that gzip did not pack")
	}
	if err := u.member.Reset(u.packed); err != nil {
		return err
	}
	u.member.Multistream(false)
	return nil
}

// A Kind is a kind of file.
type Kind int

const (
	tableText Kind = iota
	MatrixMarket
	NumPy
	NumPyZip
	list    // of another program, which is written only
	unknown // to write: an extension that stands for nothing
)

// KindOf tells what a file holds by its content, and by its name where that
// promises something else, for the reader's message.
func KindOf(name string, text []byte) Kind {
	head := bytes.TrimPrefix(text, []byte("\ufeff"))
	if n := len(matrixmarket.Banner); len(head) >= n && strings.EqualFold(string(head[:n]), matrixmarket.Banner) {
		return MatrixMarket
	}
	if bytes.HasPrefix(text, []byte(npy.Magic)) {
		return NumPy
	}
	if bytes.HasPrefix(text, []byte(npy.ZipMagic)) {
		return NumPyZip
	}
	if k := KindByName(name); k != unknown && Extension(name) != "" {
		return k
	}
	return tableText
}

// KindByName tells the file format by the extension, Matrix Market for a name without one.
func KindByName(name string) Kind {
	switch Extension(name) {
	case "", ".mtx", ".mm":
		return MatrixMarket
	case ".npy":
		return NumPy
	case ".npz":
		return NumPyZip
	case ".csv", ".tsv", ".txt", ".dat":
		return tableText
	}
	if listOf(name) != nil {
		return list
	}
	return unknown
}

// listExtensions are those of the lists of other programs.
var listExtensions = map[string]string{".arb": "flint", ".gp": "pari", ".py": "mpmath", ".wl": "mathematica"}

// listOf returns which program's lists a file has by its extension, the program's name or another;
// nil for another kind.
func listOf(name string) *casformat.Kind {
	e := Extension(name)
	for _, k := range casformat.Kinds {
		if e == "."+k.Name || listExtensions[e] == k.Name {
			return k
		}
	}
	return nil
}

// Extension returns the extension of a name, in lower case and without .gz.
func Extension(name string) string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(filepath.Base(name)), ".gz"))
}
