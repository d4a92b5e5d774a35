package gridfiles

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile"
	"github.com/halfulp/halfulp/matfile/internal/npy"
	"github.com/halfulp/halfulp/mpi"
)

// Read reads the matrix in the file called name, like matfile.Read, onto g. All processes
// must call it. The memory limit applies to each process's part of the matrix, and in the first
// process also to files that it reads alone.
func Read(g *grid.Grid, name string, opt *matfile.Options) (*halfulp.Matrix, error) {
	return newReading(g, name, opt, roundSize).read()
}

// reading is the state of Read.
type reading struct {
	team
	g      *grid.Grid
	opt    matfile.Options
	given  string // the name, with the name of a matrix in a .npz file
	name   string
	member string
	file   *os.File
	watch  *files.Watch
	size   int64
	head   []byte
	// of a text: whether a line feed ends it, and if not the number of its last line
	ended   bool
	unended int
	copies  bool // the processes need not have one file, but copies of it
}

// headSize is the number of leading bytes that determine the kind of a file.
const headSize = 1 << 16

func newReading(g *grid.Grid, name string, opt *matfile.Options, round int) *reading {
	o := filled(opt)
	return &reading{team: team{g.Transport(), o.Context, round}, g: g, opt: o, given: name, name: name}
}

func (r *reading) read() (*halfulp.Matrix, error) {
	whole, err := r.open()
	if r.file != nil {
		defer r.file.Close()
	}
	if err != nil {
		return nil, err
	}
	if !whole {
		m, err := r.parts()
		if err == nil {
			err = r.agree(r.watch.Check())
		}
		if err == nil || !errors.Is(err, textio.ErrWhole) {
			return m, err
		}
	}
	return r.alone()
}

// open opens the file in all processes, and checks that it is the same in all. whole means that the
// file cannot be read in parts.
func (r *reading) open() (whole bool, err error) {
	if r.given == files.Stdio {
		return true, nil
	}
	name, member := matfile.SplitName(r.given)
	i, err := os.Stat(name)
	if err = r.agreeWhere(files.Named(name, err)); err != nil {
		return false, err
	}
	if whole, err = r.any(!i.Mode().IsRegular()); whole || err != nil {
		return whole, err
	}
	if r.file, err = os.Open(name); err == nil {
		if r.watch, err = files.NewWatch(r.ctx, r.file, name); err == nil {
			i, err = r.file.Stat()
		}
	}
	if err = r.agreeWhere(files.Named(name, err)); err != nil {
		return false, err
	}
	if member == "" {
		member = r.opt.Part
	}
	r.member, r.size = member, i.Size()
	r.head = make([]byte, min(r.size, headSize))
	sample, err := r.sample()
	if err = r.agreeWhere(files.Named(name, err)); err != nil {
		return false, err
	}
	if err := r.same(name, r.size, r.head, sample, member); err != nil {
		return false, err
	}
	list, err := r.others(identity(i), i.ModTime().UnixNano())
	r.name, r.copies = name, len(list) > 0
	return false, err
}

// samples is the number of distances between the samples of a file that are compared, sampleSize
// their size in bytes. The samples are at equal distances, as a changed matrix usually changes the
// file everywhere.
const samples, sampleSize = 64, 512

// sample reads the head of the file, and returns a hash of samples of the whole file.
func (r *reading) sample() (uint64, error) {
	if n, err := r.file.ReadAt(r.head, 0); n < len(r.head) {
		return 0, shorter(err)
	}
	h := fnv.New64a()
	for k := range samples + 1 {
		b := make([]byte, min(r.size, sampleSize))
		if n, err := r.file.ReadAt(b, int64(float64(r.size-int64(len(b)))*float64(k)/samples)); n < len(b) {
			return 0, shorter(err)
		}
		_, _ = h.Write(b)
		// The last sample is the end of the file.
		r.ended = len(b) == 0 || b[len(b)-1] == '\n' || b[len(b)-1] == '\r'
	}
	return h.Sum64(), nil
}

// shorter returns the error for a read that got too few bytes.
func shorter(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return errors.New("the file became shorter while it was read")
	}
	return err
}

// parts reads a file in parts, one part per process. It returns textio.ErrWhole for a file that
// cannot be read so.
func (r *reading) parts() (*halfulp.Matrix, error) {
	if isPacked(r.name) {
		return nil, textio.ErrWhole
	}
	k := matfile.Detect(r.name, r.head)
	switch {
	case r.opt.Kind != "" && r.opt.Kind != k:
	case r.member != "" && k != matfile.NPZ: // columns of a table
	case k == matfile.NPY || k == matfile.NPZ:
		if err := r.compare(); err != nil {
			return nil, err
		}
		return r.numpy(k)
	case k == matfile.MatrixMarket:
		if err := r.compare(); err != nil {
			return nil, err
		}
		return r.market()
	}
	return nil, textio.ErrWhole
}

// isPacked reports whether a file is packed by gzip according to its name.
func isPacked(name string) bool { return strings.EqualFold(filepath.Ext(name), ".gz") }

// failed returns err with the name of the file, except errors of the context and textio.ErrWhole.
func (r *reading) failed(err error) error {
	if err == nil || r.ctx.Err() != nil || errors.Is(err, textio.ErrWhole) {
		return err
	}
	return &textio.Error{Name: r.name, Err: err}
}

// agreeWhole is agree, except that textio.ErrWhole in any process takes precedence.
func (r *reading) agreeWhole(err error) error {
	if whole, e := r.any(errors.Is(err, textio.ErrWhole)); e != nil || whole {
		return errors.Join(e, textio.ErrWhole)
	}
	return r.agree(r.failed(err))
}

// numpy reads a .npy or .npz file.
func (r *reading) numpy(k matfile.Kind) (*halfulp.Matrix, error) {
	var src *npy.Source
	var err error
	if k == matfile.NPY {
		src, err = npy.OpenParts(r.file, r.size, r.opt.In)
	} else {
		src, err = npy.OpenZipParts(r.file, r.size, r.opt.In, r.member)
	}
	if err := r.agreeWhole(err); err != nil {
		return nil, err
	}
	f := src.Format
	if r.opt.In.Exact() {
		if f, err = num.ParseFormat(r.opt.In.Format().String()); err != nil {
			return nil, err
		}
	}
	if err := r.same(r.name, f, src.Rows, src.Cols, src.ByRows); err != nil {
		return nil, err
	}
	e, m, err := r.newMatrix(f, src.Rows, src.Cols)
	if err != nil {
		return nil, err
	}
	if r.opt.Info != nil {
		*r.opt.Info = matfile.Info{Kind: k, Flat: src.Flat}
	}
	o := grid.Order{Rows: src.Rows, Cols: src.Cols, ByRows: src.ByRows}
	var losses halfulp.InputStats
	err = r.ranges(o, f, func(all []grid.Range, mine *num.Array) error {
		me := all[r.Rank()]
		var stats halfulp.InputStats
		err := src.Read(me.Lo, me.Hi, mine, npy.Options{Threads: r.opt.Threads, Context: r.ctx, Stats: &stats})
		if err := r.agree(r.failed(err)); err != nil {
			return err
		}
		losses.ToInf.Count += stats.ToInf.Count
		losses.ToZero.Count += stats.ToZero.Count
		r.progress(float64(all[len(all)-1].Hi) / float64(o.Len()))
		return e.Put(r.ctx, o, all, mine)
	})
	if err != nil {
		return nil, err
	}
	sums, err := r.together(src.Shares())
	if err != nil {
		return nil, err
	}
	if err := r.agree(r.failed(src.Check(sums))); err != nil {
		return nil, err
	}
	return m, r.lost(losses)
}

// compare checks that all processes have the same content, if their files may be copies: each
// process then reads its whole file. Parts of different files would make a matrix that is in
// neither.
func (r *reading) compare() error {
	if !r.copies {
		return nil
	}
	sum, err := r.checksum()
	if err := r.agree(r.failed(err)); err != nil {
		return err
	}
	return r.same(r.name, sum)
}

// checksum returns a hash of the whole file.
func (r *reading) checksum() (uint64, error) {
	buffers := make([][]byte, r.opt.Threads)
	return checksum(r.ctx, r.opt.Threads, r.size, func(worker int, at, n int64) ([]byte, error) {
		if buffers[worker] == nil {
			buffers[worker] = make([]byte, min(checkedPiece, r.size))
		}
		b := buffers[worker][:n]
		if n, err := r.file.ReadAt(b, at); n < len(b) {
			return nil, shorter(err)
		}
		return b, nil
	})
}

// newMatrix returns a matrix on the grid, or an error if the part of a process exceeds its memory
// limit.
func (r *reading) newMatrix(f num.Format, rows, cols int) (e grid.Entries, m *halfulp.Matrix, err error) {
	need := float64(r.g.Share(rows, cols)) * float64(num.SizeOf(f))
	if limit := float64(r.opt.MemoryLimit); need > limit {
		err = r.failed(fmt.Errorf("this process's part of a %d x %d matrix of format %v needs %s, more than the memory limit of %s",
			rows, cols, f, textio.Bytes(need), textio.Bytes(limit)))
	}
	if err := r.agree(err); err != nil {
		return e, nil, err
	}
	e, v, err := r.g.NewEntries(r.ctx, f, rows, cols)
	if err := r.agree(err); err != nil {
		return e, nil, err
	}
	return e, halfulp.MatrixOf(v), nil
}

// progress reports the fraction of the file that has been read.
func (r *reading) progress(done float64) {
	if r.opt.Progress != nil {
		r.opt.Progress(done)
	}
}

// lost adds up the losses of all processes in opt.Info.Stats. The lines are the lines of the first
// number lost, or 0 if there is none.
func (r *reading) lost(stats halfulp.InputStats) error {
	if r.opt.Info == nil {
		return nil
	}
	counts := []int64{stats.ToInf.Count, stats.ToZero.Count}
	if err := r.Allreduce(r.ctx, mpi.Sum, counts); err != nil {
		return err
	}
	lines := []int64{firstLine(stats.ToInf), firstLine(stats.ToZero)}
	if err := r.Allreduce(r.ctx, mpi.Min, lines); err != nil {
		return err
	}
	r.opt.Info.Stats = halfulp.InputStats{
		ToInf: halfulp.Losses{Count: counts[0], Line: int(lines[0] % noLine)}, ToZero: halfulp.Losses{Count: counts[1], Line: int(lines[1] % noLine)},
		Digits: stats.Digits, Bits: stats.Bits, Unended: stats.Unended,
	}
	return nil
}

// noLine stands for no line; it is larger than all line numbers.
const noLine = 1 << 62

func firstLine(l halfulp.Losses) int64 {
	if l.Line == 0 {
		return noLine
	}
	return int64(l.Line)
}

// alone reads the file in the first process, which sends all others their parts.
func (r *reading) alone() (*halfulp.Matrix, error) {
	var m *halfulp.Matrix
	var err error
	own := r.opt
	var info matfile.Info
	if own.Info = &info; r.first() {
		m, err = matfile.Read(r.given, &own)
	}
	if err := r.agree(err); err != nil {
		return nil, err
	}
	// What the other processes have to know.
	about, format, kind := make([]int64, 10), make([]byte, 32), make([]byte, 32)
	if r.first() {
		stats := info.Stats
		copy(format, m.NumberFormat().String())
		copy(kind, info.Kind)
		copy(about, []int64{int64(m.Rows()), int64(m.Cols()), one(info.Flat), stats.ToInf.Count, int64(stats.ToInf.Line),
			stats.ToZero.Count, int64(stats.ToZero.Line), int64(stats.Digits), int64(stats.Bits), int64(stats.Unended)})
	}
	if err := r.Allreduce(r.ctx, mpi.Sum, about); err != nil {
		return nil, err
	}
	for _, text := range [][]byte{format, kind} {
		if err := r.Bcast(r.ctx, text, 0); err != nil {
			return nil, err
		}
	}
	f, err := num.ParseFormat(string(bytes.TrimRight(format, "\x00")))
	if err != nil {
		return nil, err
	}
	rows, cols := int(about[0]), int(about[1])
	e, z, err := r.newMatrix(f, rows, cols)
	if err != nil {
		return nil, err
	}
	if r.opt.Info != nil {
		info.Kind, info.Flat = matfile.Kind(bytes.TrimRight(kind, "\x00")), about[2] > 0
		info.Stats = halfulp.InputStats{
			ToInf: halfulp.Losses{Count: about[3], Line: int(about[4])}, ToZero: halfulp.Losses{Count: about[5], Line: int(about[6])},
			Digits: int(about[7]), Bits: int(about[8]), Unended: int(about[9]),
		}
		*r.opt.Info = info // names, notes and Sparse in the first process only
	}
	o := grid.Order{Rows: rows, Cols: cols}
	return z, r.owned(o, f, func(all []grid.Range) error {
		mine := num.New(f, 0)
		if r.first() {
			mine = m.View().Arr.Slice(all[0].Lo, all[0].Hi)
		}
		return e.Put(r.ctx, o, all, mine)
	})
}

func one(x bool) int64 {
	if x {
		return 1
	}
	return 0
}
