package npy

import (
	"archive/zip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
)

// Several processes read or write a file in parts. A part is a range of entries first entry, in the
// order of the file. The checksums of a .npz file are combined from shares of the parts. Compressed
// files are only read as a whole. So are arrays of integers of 8 bytes and of long doubles, as
// their format depends on all the numbers.

// part is the range of entries of an array that another array holds.
type part struct {
	of    *array
	first int // in the order of the file
}

// entry returns the row and the column, in the whole array, of entry (i, j).
func (a *array) entry(i, j int) [2]int {
	if a.part == nil {
		return [2]int{i, j}
	}
	k, of := a.part.first+i, a.part.of
	if of.fortran {
		return [2]int{k % of.rows, k / of.rows}
	}
	return [2]int{k / of.cols, k % of.cols}
}

// stored is an array in a file.
type stored struct {
	*array
	name    string
	at      int64 // offset of its numbers
	length  int64 // bytes of its numbers
	head    []byte
	checked bool // it has a checksum of head and numbers
	sum     uint32
}

// A Source is a matrix in a NumPy file that is read in parts.
type Source struct {
	Rows, Cols int
	ByRows     bool       // entries are stored row by row, else column by column
	Flat       bool       // the array has one dimension
	Format     num.Format // the format that the numbers keep

	file   io.ReaderAt
	arrays []stored
	mp     *arraysOfMP // the same arrays; nil for one array of numbers
	shares []uint32    // shares of the parts read so far in the checksums of the arrays
}

// headSize bounds the bytes of a header; a file with a longer one is read as a whole.
const headSize = 1 << 16

// storedArray reads the header of the .npy file that lies in r at offset at and has size bytes.
func storedArray(r io.ReaderAt, at, size int64) (*header, stored, error) {
	text := make([]byte, min(size, headSize))
	if n, err := r.ReadAt(text, at); n < len(text) {
		return nil, stored{}, notRead(err)
	}
	h, err := parseHeader(text)
	if err != nil {
		if size > headSize {
			err = textio.ErrWhole
		}
		return nil, stored{}, err
	}
	head := text[:len(text)-len(h.data)]
	h.data, h.length = nil, size-int64(len(head))
	return h, stored{at: at + int64(len(head)), length: h.length, head: head}, nil
}

// notRead returns the error for a read that got too few bytes.
func notRead(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return errFault
	}
	return err
}

// OpenParts opens a .npy file of size bytes. in selects the format of the numbers.
func OpenParts(r io.ReaderAt, size int64, in halfulp.InputFormat) (*Source, error) {
	h, x, err := storedArray(r, 0, size)
	if err != nil {
		return nil, err
	}
	if x.array, err = h.array(); err != nil {
		return nil, err
	}
	return newSource(r, in, x)
}

// newSource returns the source of an array of numbers.
func newSource(r io.ReaderAt, in halfulp.InputFormat, x stored) (s *Source, err error) {
	if x.size > 8 || x.size == 8 && x.kind != 'f' && !in.Exact() {
		return nil, textio.ErrWhole
	}
	f := num.Float64
	if x.kind == 'f' || x.size < 8 {
		if f, err = x.own(in); err != nil {
			return nil, err
		}
	}
	return x.source(r, f, []stored{x}), nil
}

// source returns the source of arrays in the shape of a.
func (a *array) source(r io.ReaderAt, f num.Format, all []stored) *Source {
	return &Source{
		Rows: a.rows, Cols: a.cols, ByRows: !a.fortran && a.rows > 1 && a.cols > 1, Flat: a.flat, Format: f,
		file: r, arrays: all, shares: make([]uint32, len(all)),
	}
}

// OpenZipParts opens a .npz file of size bytes, and chooses a matrix as [ParseZip] does.
func OpenZipParts(r io.ReaderAt, size int64, in halfulp.InputFormat, asked string) (*Source, error) {
	x, err := openArchive(r, size)
	if err != nil {
		return nil, err
	}
	prefix, single, err := x.choose(asked)
	if err != nil {
		return nil, err
	}
	var all []stored
	open := func(name string) (h *header, err error) {
		f, err := x.find(name)
		if err != nil {
			return nil, err
		}
		h, s, err := storedMember(r, size, f)
		if err != nil {
			return nil, fmt.Errorf("array %.40q: %w", name, err)
		}
		s.name = name
		all = append(all, s)
		return h, nil
	}
	if single != "" {
		h, err := open(single)
		if err != nil {
			return nil, err
		}
		if all[0].array, err = h.array(); err != nil {
			return nil, err
		}
		return newSource(r, in, all[0])
	}
	f, err := x.format(r, size, prefix+"format")
	if err != nil {
		return nil, err
	}
	if f.Kind != num.MP {
		what := valuesOf(f)
		h, err := open(prefix + what)
		if err != nil {
			return nil, err
		}
		if all[0].array, err = h.values(f, what); err != nil {
			return nil, err
		}
		return newSource(r, in, all[0])
	}
	mp, err := openMP(f, func(name string) (*header, error) { return open(prefix + name) })
	if err != nil {
		return nil, err
	}
	for k, a := range []*array{mp.limbs, mp.exponents, mp.signs, mp.classes} {
		if all[k].array = a; a.fortran != mp.limbs.fortran {
			return nil, textio.ErrWhole
		}
	}
	s := mp.limbs.source(r, f, all)
	s.mp = mp
	return s, nil
}

// storedMember is storedArray for a member of a .npz file.
func storedMember(r io.ReaderAt, size int64, f *zip.File) (*header, stored, error) {
	if f.Method != zip.Store {
		return nil, stored{}, textio.ErrWhole
	}
	at, err := f.DataOffset()
	if err != nil {
		return nil, stored{}, err
	}
	if n := f.UncompressedSize64; n > uint64(size) || uint64(at) > uint64(size)-n {
		return nil, stored{}, zip.ErrFormat
	}
	h, s, err := storedArray(r, at, int64(f.UncompressedSize64))
	s.checked, s.sum = true, f.CRC32
	return h, s, err
}

// format reads the array that names the format.
func (x *archive) format(r io.ReaderAt, size int64, name string) (f num.Format, err error) {
	m, err := x.find(name)
	if err != nil {
		return f, err
	}
	if m.Method != zip.Store || m.UncompressedSize64 > headSize {
		return f, textio.ErrWhole
	}
	_, s, err := storedMember(r, size, m)
	if err != nil {
		return f, fmt.Errorf("array %.40q: %w", name, err)
	}
	text := make([]byte, len(s.head)+int(s.length))
	if n, err := r.ReadAt(text, s.at-int64(len(s.head))); n < len(text) {
		return f, notRead(err)
	}
	if crc32.ChecksumIEEE(text) != s.sum {
		return f, fmt.Errorf("array %.40q: %w", name, zip.ErrChecksum)
	}
	h, err := parseHeader(text)
	if err != nil {
		return f, err
	}
	if name, ok := parseText(h); ok && sparseFormats[name] != nil {
		return f, textio.ErrWhole
	}
	return h.format()
}

// pieces calls f for each range of bytes that holds numbers of entries lo ≤ k < hi: n bytes, at
// offset at in the array's numbers.
func (s *stored) pieces(lo, hi int, f func(at, n int64)) {
	size, all := int64(s.size), int64(s.rows)*int64(s.cols)
	planes := int64(s.terms)
	if !s.fortran { // the terms of a number are contiguous
		size, planes = size*planes, 1
	}
	for t := range planes {
		f((t*all+int64(lo))*size, int64(hi-lo)*size)
	}
}

// read returns entries lo ≤ k < hi as a column, and the share of their bytes in the array's
// checksum.
func (s *stored) read(r io.ReaderAt, lo, hi int) (*array, uint32, error) {
	a := *s.array
	a.rows, a.cols, a.part, a.at = hi-lo, 1, &part{s.array, lo}, 0
	var share uint32
	var failed error
	a.data = make([]byte, 0, (hi-lo)*s.terms*s.size)
	s.pieces(lo, hi, func(at, n int64) {
		b := a.data[len(a.data):][:n]
		if got, err := r.ReadAt(b, s.at+at); got < len(b) && failed == nil {
			failed = notRead(err)
		}
		a.data = a.data[:len(a.data)+len(b)]
		if s.checked {
			share ^= shifted(crc32.ChecksumIEEE(b), s.length-at-n)
		}
	})
	return &a, share, failed
}

// Read stores entries lo ≤ k < hi in z, beginning with number 0 of z.
func (s *Source) Read(lo, hi int, z *num.Array, opt Options) error {
	parts := make([]*array, len(s.arrays))
	for k := range s.arrays {
		a, share, err := s.arrays[k].read(s.file, lo, hi)
		if err != nil {
			return err
		}
		parts[k] = a
		s.shares[k] ^= share
	}
	if s.mp == nil {
		return parts[0].fill(&opt, z, s.Format)
	}
	return (&arraysOfMP{s.mp.f, parts[0], parts[1], parts[2], parts[3]}).fill(&opt, z)
}

// Shares returns the shares of the entries read so far in the checksums of the arrays.
func (s *Source) Shares() []uint32 { return s.shares }

// Check compares the checksums of the arrays with the checksums in the file. shares is the
// exclusive or of the shares of all parts.
func (s *Source) Check(shares []uint32) error {
	for k, a := range s.arrays {
		if a.checked && shares[k]^shifted(crc32.ChecksumIEEE(a.head), a.length) != a.sum {
			return fmt.Errorf("array %.40q: %w", a.name, zip.ErrChecksum)
		}
	}
	return nil
}

// A Sink is a NumPy file that is written in parts. Its bytes are the same as those that [File], or
// [WriteZip] of [Arrays], produce.
type Sink struct {
	all    []Array
	zipped bool
	at     []int64 // offsets of the arrays
	shares []uint32
}

// NewSink returns the file of a matrix, .npz if zipped is true. The numbers may live on any device.
func NewSink(m *halfulp.Matrix, zipped, flat bool) (*Sink, error) {
	all, err := arraysOf(m, zipped, flat)
	if err != nil {
		return nil, err
	}
	s := &Sink{all: all, zipped: zipped}
	s.shares = make([]uint32, len(s.all))
	_, s.at, err = s.frame(s.shares)
	return s, err
}

// arraysOf returns the arrays of a .npz file, or the one array of a .npy file.
func arraysOf(m *halfulp.Matrix, zipped, flat bool) ([]Array, error) {
	if zipped {
		return Arrays(m, flat)
	}
	a, err := File(m, flat)
	return []Array{a}, err
}

// Write writes the entries in column. In the order of the file, which is column by column, they
// begin with entry lo.
func (s *Sink) Write(w io.WriterAt, lo int, column *num.Array) error {
	n := column.Len()
	if n == 0 {
		return nil
	}
	m := halfulp.MatrixOf(num.Mat{Arr: column, RS: 1, CS: n, Rows: n, Cols: 1})
	parts, err := arraysOf(m, s.zipped, false)
	if err != nil {
		return err
	}
	var b []byte
	for k, a := range parts {
		if s.isText(k) {
			continue
		}
		plane := s.all[k].Bytes / int64(a.Parts) // bytes of one value, term or limb of all entries
		for t := range a.Parts {
			b = a.Append(b[:0], t)
			at := int64(t)*plane + int64(lo)*int64(len(b)/n)
			if _, err := w.WriteAt(b, s.at[k]+int64(len(s.all[k].Head))+at); err != nil {
				return err
			}
			s.shares[k] ^= shifted(crc32.ChecksumIEEE(b), s.all[k].Bytes-at-int64(len(b)))
		}
	}
	return nil
}

// isText reports whether array k is the name of the format.
func (s *Sink) isText(k int) bool { return s.zipped && k == 0 }

// Shares returns the shares of the entries written so far in the checksums of the arrays.
func (s *Sink) Shares() []uint32 { return s.shares }

// Finish writes all bytes except the entries. shares is the exclusive or of the shares of all
// parts.
func (s *Sink) Finish(w io.WriterAt, shares []uint32) error {
	sums := make([]uint32, len(shares))
	for k, a := range s.all {
		sums[k] = shares[k] ^ shifted(crc32.ChecksumIEEE(a.Head), a.Bytes)
		if s.isText(k) {
			sums[k] ^= crc32.ChecksumIEEE(a.Append(nil, 0))
		}
	}
	f, _, err := s.frame(sums)
	if err != nil {
		return err
	}
	for _, p := range f.pieces {
		if _, err := w.WriteAt(p.text, p.at); err != nil {
			return err
		}
	}
	return nil
}

// frame is all bytes of a file except the entries.
type frame struct {
	at     int64 // length of the file so far
	pieces []framePiece
	skips  bool // the bytes written now are entries
}

type framePiece struct {
	at   int64
	text []byte
}

// Write appends b to the file.
func (f *frame) Write(b []byte) (int, error) {
	if !f.skips {
		if n := len(f.pieces); n > 0 && f.pieces[n-1].at+int64(len(f.pieces[n-1].text)) == f.at {
			f.pieces[n-1].text = append(f.pieces[n-1].text, b...)
		} else {
			f.pieces = append(f.pieces, framePiece{f.at, append([]byte{}, b...)})
		}
	}
	f.at += int64(len(b))
	return len(b), nil
}

// frame returns all bytes of the file except the entries, and the offsets of the arrays. The
// offsets do not depend on sums.
func (s *Sink) frame(sums []uint32) (*frame, []int64, error) {
	f := new(frame)
	if !s.zipped {
		_, err := f.Write(s.all[0].Head)
		return f, []int64{0}, err
	}
	z := zip.NewWriter(f)
	at := make([]int64, len(s.all))
	for k, a := range s.all {
		const descriptor, version20, version45 = 1 << 3, 20, 45
		size := uint64(len(a.Head)) + uint64(a.Bytes)
		h := &zip.FileHeader{
			Name: a.Name + ".npy", Method: zip.Store, Flags: descriptor, CreatorVersion: version20, ReaderVersion: version20,
			CRC32: sums[k], CompressedSize64: size, UncompressedSize64: size,
		}
		w, err := z.CreateRaw(h)
		if err != nil {
			return nil, nil, err
		}
		if size >= 1<<32-1 { // as package zip sets it when it knows the size
			h.ReaderVersion = version45
		}
		if err := z.Flush(); err != nil {
			return nil, nil, err
		}
		at[k] = f.at
		if _, err := w.Write(a.Head); err != nil {
			return nil, nil, err
		}
		if s.isText(k) {
			_, err = w.Write(a.Append(nil, 0))
		} else {
			err = f.skip(z, w, a.Bytes)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return f, at, z.Close()
}

// nothing stands in for bytes that are not written.
var nothing [1 << 20]byte

// skip advances by n bytes of a member.
func (f *frame) skip(z *zip.Writer, w io.Writer, n int64) error {
	if err := z.Flush(); err != nil {
		return err
	}
	f.skips = true
	for n > 0 {
		part := nothing[:min(n, int64(len(nothing)))]
		if _, err := w.Write(part); err != nil {
			return err
		}
		n -= int64(len(part))
	}
	err := z.Flush()
	f.skips = false
	return err
}
