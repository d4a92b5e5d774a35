// Package matfile reads and writes matrices in files. The content of a file that is read determines
// its format; for a file that is written its name does. The package unpacks and packs gzip, accepts
// "-" for the standard streams, and writes a file completely or not at all.
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

// ReadOptions are options for reading a matrix; the zero value stands for the defaults.
type ReadOptions struct {
	In      halfulp.InputFormat // how numbers are stored
	Stats   *halfulp.InputStats // if not nil, set to the losses by the format's range
	Threads int                 // 0: GOMAXPROCS
	// bound of the text and of the matrix in bytes; 0: halfulp.DefaultMemoryLimit()
	MemoryLimit int64
	Context     context.Context    // cancels
	Progress    func(done float64) // as in matrixmarket.Options
	Dialect     Dialect            // of a table
	// if not nil, set to how a row with words, or an array of three dimensions, was interpreted
	Note      *string
	Names     *[]string // if not nil, set to the names of the columns read, if a table has a header
	NoTable   *bool     // if not nil, set to whether the file is no table
	Flat      *bool     // if not nil, set to true for an array of NumPy of one dimension
	Densified *bool     // if not nil, set to true if a sparse file is read as a dense matrix

	file io.ReaderAt // the file that the content is mapped from
	part string      // a matrix of a .npz file, columns of a table
}

// Dialect describes a table that is more than rows of numbers, for example one that a spreadsheet
// exports. For zero fields the reader detects what it can.
type Dialect struct {
	// between fields; 0: a semicolon, tab or comma, if the first row has one, otherwise white space
	Delimiter rune
	Comment   rune // begins a comment; 0: #
	Skip      uint // lines before the table
	// the first row holds names; this is also assumed if none of its fields is a number
	Header       bool
	Columns      []string // to read: numbers from 1, ranges such as 2-4, names; nil: all
	DecimalComma bool     // 1,5 is 1.5
}

// Blank is the delimiter that stands for white space of any length.
const Blank = delimited.Blank

// ErrEmpty is wrapped by the error for a table that would have no rows or no columns.
var ErrEmpty = delimited.ErrEmpty

// SplitColumns splits a list of columns, as for Dialect.Columns, at its commas. A name in quotes
// may contain commas; two quotes in it stand for one.
func SplitColumns(list string) ([]string, error) { return delimited.SplitColumns(list) }

// ReadMatrix reads the matrix in the file called name, or in stdin for "-". The content determines
// the kind of file: a Matrix Market file, a .npy or .npz file or a table of numbers, each possibly
// packed by gzip, with or without zeros after the packed data. FILE.npz:L is the matrix L of
// several in a .npz file, and FILE:LIST are columns of a table, unless there is a file of that
// name.
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

// An input is an open file, or standard input. It is opened only once, as a pipe delivers its bytes
// only once.
type input struct {
	name  string
	from  io.Reader
	file  *os.File // nil unless a regular file
	size  int64    // of a regular file
	watch *files.Watch
}

// reading opens the file and calls read. If the file changed meanwhile, the result of read is
// discarded and an error returned.
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

// begin examines the open file: it sets watch, file and size for a regular file.
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
	if in.name != files.Stdio { // a part of standard input may have been read
		in.file, in.size = f, in.watch.Size()
	}
	return nil
}

// readInBlocks reads a large text file, a Matrix Market file or a table, holding as little of it in
// memory as possible. ok is false for packed files and other kinds.
func (in *input) readInBlocks(opt ReadOptions) (m *halfulp.Matrix, ok bool, err error) {
	if in.file == nil || in.size < min(largeFile, opt.MemoryLimit/4) || opt.part != "" {
		return nil, false, nil
	}
	head := make([]byte, min(in.size, headSize))
	if n, _ := in.file.ReadAt(head, 0); n < len(head) { // other readers report the error
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

// headSize is the number of leading bytes that determine the kind of a file.
const headSize = 1 << 10

// Split separates the file's name from the part of the file to read: FILE.npz:L is the matrix L,
// and FILE.csv:2,price are columns of a table. If there is a file with the whole name, part is
// empty.
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

// mappedSize is the size in bytes from which a NumPy file is mapped into memory.
const mappedSize = 1 << 16

// mapNumPy maps a large NumPy file that is not packed into memory, and returns its kind. ok is
// false for other files and if mapping fails. The file must stay open until unmap is called. Only
// package npy may read the memory: a file that becomes shorter takes its pages away.
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

// OpenDoubles opens a large .npy file, of any shape, whose numbers are doubles in the byte order of
// this machine. ok is false for other files; it opens regular files only.
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

// find maps the file and locates the numbers.
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

// Len returns the number of numbers.
func (d *Doubles) Len() int { return d.n }

// Read reads len(z) numbers from number i on. It does not change the bits of NaN.
func (d *Doubles) Read(z []float64, i int) error {
	return files.Named(files.Shown(d.in.name), npy.ReadDoubles(d.in.file, z, d.at+8*int64(i)))
}

// Check returns an error if the file changed since it was opened.
func (d *Doubles) Check() error { return d.in.watch.Check() }

// Close closes the file.
func (d *Doubles) Close() {
	if d.unmap != nil {
		d.unmap()
	}
	_ = d.in.from.(*os.File).Close()
}

// ReadSparse is [ReadMatrix] without a dense matrix. It returns the entries that a coordinate file
// names or that a .npz file of a sparse SciPy matrix holds; of another file, the entries other than
// 0.
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

// Filled returns the options with defaults for the zero fields.
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

// parse reads the unpacked content text of a file of kind k.
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

// densify sets Densified if a Matrix Market file with this text is a coordinate file.
func (opt ReadOptions) densify(text []byte) {
	line, _, _ := bytes.Cut(text[:min(len(text), headSize)], []byte{'\n'})
	words := bytes.Fields(line)
	if opt.Densified != nil && len(words) > 2 && bytes.EqualFold(words[2], []byte("coordinate")) {
		*opt.Densified = true
	}
}

// foreign returns an error for a binary file of a known kind and for a text in UTF-16. The error
// names the kind and how to convert it. foreign returns nil for other content.
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

// isUTF16 reports whether a text begins with a byte order mark of UTF-16, or with two ASCII
// characters in UTF-16.
func isUTF16(text []byte) bool {
	if len(text) < 4 {
		return false
	}
	a, b, c, d := text[0], text[1], text[2], text[3]
	marked := a == 0xff && b == 0xfe || a == 0xfe && b == 0xff
	return marked || a != 0 && b == 0 && c != 0 && d == 0 || a == 0 && b != 0 && c == 0 && d != 0
}

// readAll returns the whole content, unpacked.
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

// largeFile is the size in bytes from which a file is read by several threads.
const largeFile = 1 << 22

// readAtOnce returns the content of a large regular file, read by several threads. ok is false for
// other files and if reading fails.
func (in *input) readAtOnce(opt ReadOptions) (text []byte, ok bool) {
	if in.file == nil || in.size < largeFile || in.size > opt.MemoryLimit {
		return nil, false
	}
	return textio.ReadFile(opt.Context, in.file, in.size, opt.Threads)
}

// gzipMagic begins every member of a file packed by gzip.
const gzipMagic = "\x1f\x8b"

// unpacker reads data packed by gzip, one member after the other. Like gzip it accepts zeros after
// the last member, for example the padding of a tape block. Unlike gzip, which only warns, it fails
// on other bytes after the last member, as data may be missing.
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

// next begins the next member. It returns io.EOF if there is no further member.
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
	list    // of another program; written only
	unknown // an extension without meaning; for writing
)

// KindOf returns the kind of a file by its content. If the content is no known kind, and the name
// promises one, it returns the kind of the name, so that the reader's error names it.
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

// KindByName returns the kind that the extension stands for; Matrix Market for a name without one.
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

// listExtensions maps extensions to the programs whose lists they stand for.
var listExtensions = map[string]string{".arb": "flint", ".gp": "pari", ".py": "mpmath", ".wl": "mathematica"}

// listOf returns the program whose lists a file holds by its extension: the program's name, or an
// entry of listExtensions. It returns nil for other extensions.
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
