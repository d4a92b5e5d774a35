package matfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile/internal/delimited"
	"github.com/halfulp/halfulp/matfile/internal/matrixmarket"
	"github.com/halfulp/halfulp/matfile/internal/npy"
)

// Read returns the matrix in the file called name, or in standard input for "-". FILE.npz:L names
// the matrix L of several in a .npz file, and FILE.csv:LIST columns of a table, unless there is a
// file with the whole name.
//
// An error names the file and, for a text, the line. A file or a matrix that exceeds
// opt.MemoryLimit is an error, and so is a file that changes while it is read.
func Read(name string, opt *Options) (*halfulp.Matrix, error) {
	o := opt.filled()
	return reading(o.name(name), o, func(in *input) (*halfulp.Matrix, error) { return in.matrix(o) })
}

// ReadFrom returns the matrix that r contains, which may be packed by gzip. The content determines
// its kind, unless opt.Kind names the kind. ReadFrom reads r to its end before it reads the
// numbers. Errors are as for [Read], with the name "input".
func ReadFrom(r io.Reader, opt *Options) (*halfulp.Matrix, error) {
	o := opt.filled()
	in := &input{name: "input", from: r}
	return in.matrix(o)
}

// ReadSparse is [Read] without a dense matrix. It returns the entries that a Matrix Market
// coordinate file or a sparse matrix of SciPy lists, including zeros. For all other files it reads
// the dense matrix and returns its entries other than 0.
func ReadSparse(name string, opt *Options) (*Sparse, error) {
	o := opt.filled()
	return reading(o.name(name), o, func(in *input) (*Sparse, error) { return in.sparse(o) })
}

// ReadSparseFrom is [ReadFrom] without a dense matrix, as [ReadSparse] is for [Read].
func ReadSparseFrom(r io.Reader, opt *Options) (*Sparse, error) {
	o := opt.filled()
	in := &input{name: "input", from: r}
	return in.sparse(o)
}

// Sparse holds the entries of a sparse matrix, ordered by rows and within a row by columns, each
// position at most once. Values.At(k) is the entry in row Row[k] and column Col[k], counted from 0.
// All other entries are 0. Entries of a file that name the same position are added, and their sum
// is rounded once.
type Sparse struct {
	Rows, Cols int
	Row, Col   []int32
	Values     *halfulp.Vector
}

// name returns the name of the file to open, and sets opt.Part if name has a part.
func (opt *options) name(name string) string {
	file, part := SplitName(name)
	if part != "" {
		opt.Part = part
	}
	return file
}

// matrix reads a matrix.
func (in *input) matrix(opt options) (*halfulp.Matrix, error) {
	if k, text, unmap, ok := in.mapNumPy(opt); ok {
		defer unmap()
		opt.file = in.file
		return parse(k, in.name, text, opt)
	}
	if m, ok, err := in.readInBlocks(opt); ok {
		return m, err
	}
	text, err := in.readAll(opt)
	if err != nil {
		return nil, err
	}
	return parse(opt.detect(in.name, text), in.name, text, opt)
}

// sparse reads the entries of a matrix.
func (in *input) sparse(opt options) (*Sparse, error) {
	text, err := in.readAll(opt)
	if err != nil {
		return nil, err
	}
	var a *matrixmarket.Sparse
	switch k := opt.detect(in.name, text); {
	case k == MatrixMarket && opt.Part == "":
		opt.found(k)
		a, err = matrixmarket.ParseSparse(text, files.Shown(in.name), opt.matrixMarket())
	case k == NPZ:
		opt.found(k)
		a, err = npy.ParseSparse(text, files.Shown(in.name), opt.numpy())
	default:
		var m *halfulp.Matrix
		if m, err = parse(k, in.name, text, opt); err == nil {
			a = matrixmarket.SparseOf(m)
		}
	}
	return (*Sparse)(a), err
}

// parse reads the unpacked content text of a file of kind k.
func parse(k Kind, name string, text []byte, opt options) (*halfulp.Matrix, error) {
	opt.found(k)
	if opt.Part != "" && (k == MatrixMarket || k == NPY) {
		return nil, fmt.Errorf("%s: this is no table of which columns %q could be read, nor a .npz file of several matrices", files.Shown(name), opt.Part)
	}
	switch k {
	case MatrixMarket:
		opt.densify(text)
		return matrixmarket.Parse(text, files.Shown(name), opt.matrixMarket())
	case NPY:
		return npy.Parse(text, files.Shown(name), opt.numpy())
	case NPZ:
		return npy.ParseZip(text, files.Shown(name), opt.numpy())
	}
	if list := k.list(); list != nil {
		return nil, fmt.Errorf("%s: lists for %s are written, not read: rows of numbers are (.csv, .txt)", files.Shown(name), list.Name)
	}
	if !k.isTable() {
		return nil, fmt.Errorf("%s: there is no kind of file %q", files.Shown(name), string(k))
	}
	if err := foreign(text); err != nil {
		return nil, files.Named(files.Shown(name), err)
	}
	o, err := opt.table()
	if err != nil {
		return nil, files.Named(files.Shown(name), err)
	}
	return delimited.Parse(text, files.Shown(name), o)
}

// densify sets Info.Sparse if a Matrix Market file with this text is a coordinate file.
func (opt options) densify(text []byte) {
	line, _, _ := bytes.Cut(text[:min(len(text), headSize)], []byte{'\n'})
	words := bytes.Fields(line)
	if opt.Info != nil && len(words) > 2 && bytes.EqualFold(words[2], []byte("coordinate")) {
		opt.Info.Sparse = true
	}
}

// SplitName separates the name of a file from the part of the file to read: FILE.npz:L is the
// matrix L, and FILE.csv:2,price are columns of a table. If there is a file with the whole name,
// part is empty.
func SplitName(name string) (file, part string) {
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
func reading[T any](name string, opt options, read func(in *input) (T, error)) (z T, err error) {
	in := &input{name: name, from: opt.Stdin}
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
func (in *input) readInBlocks(opt options) (m *halfulp.Matrix, ok bool, err error) {
	if in.file == nil || in.size < min(largeFile, opt.MemoryLimit/4) || opt.Part != "" {
		return nil, false, nil
	}
	head := make([]byte, min(in.size, headSize))
	if n, _ := in.file.ReadAt(head, 0); n < len(head) { // other readers report the error
		return nil, false, nil
	}
	k := opt.detect(in.name, head)
	switch {
	case k == MatrixMarket && Detect("", head) == k:
		opt.densify(head)
		m, err = matrixmarket.ReadAt(in.file, in.size, files.Shown(in.name), opt.matrixMarket())
	case k.isTable() && foreign(head) == nil && !files.IsPacked(in.name) && !bytes.HasPrefix(head, []byte(gzipMagic)):
		var o delimited.Options
		if o, err = opt.table(); err != nil {
			return nil, true, err
		}
		if m, ok, err = delimited.ReadAt(in.file, in.size, files.Shown(in.name), o); !ok {
			return nil, false, nil
		}
	default:
		return nil, false, nil
	}
	opt.found(k)
	return m, true, err
}

// headSize is the number of leading bytes that determine the kind of a file.
const headSize = 1 << 10

// mappedSize is the size in bytes from which a NumPy file is mapped into memory.
const mappedSize = 1 << 16

// mapNumPy maps a large NumPy file that is not packed into memory, and returns its kind. ok is
// false for other files and if mapping fails. The file must stay open until unmap is called. Only
// package npy may read the memory: a file that becomes shorter takes its pages away.
func (in *input) mapNumPy(opt options) (k Kind, text []byte, unmap func(), ok bool) {
	if k := KindOf(in.name); k != NPY && k != NPZ || files.IsPacked(in.name) || in.file == nil || in.size < mappedSize || in.size > opt.MemoryLimit {
		return "", nil, nil, false
	}
	head := make([]byte, len(npy.Magic))
	if _, err := in.file.ReadAt(head, 0); err != nil {
		return "", nil, nil, false
	}
	k = Detect("", head)
	if k != NPY && k != NPZ || opt.Kind != "" && opt.Kind != k { // packed, in spite of its name
		return "", nil, nil, false
	}
	text, unmap, ok = mapped(in.file, in.size)
	return k, text, unmap, ok
}

// readAll returns the whole content, unpacked.
func (in *input) readAll(opt options) ([]byte, error) {
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
func (in *input) readAtOnce(opt options) (text []byte, ok bool) {
	if in.file == nil || in.size < largeFile || in.size > opt.MemoryLimit {
		return nil, false
	}
	return textio.ReadFile(opt.Context, in.file, in.size, opt.Threads)
}
