package matrixmarket

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
)

// Read reads a matrix from r. Errors about its text contain name, as the name of the file, and the
// line. The text is held in memory during the call.
func Read(r io.Reader, name string, opt *Options) (*halfulp.Matrix, error) {
	text, err := readAll(r, name, opt)
	if err != nil {
		return nil, err
	}
	return Parse(text, name, opt)
}

// readAll reads the whole text. Its errors contain the name of the file, except errors of the
// context.
func readAll(r io.Reader, name string, opt *Options) ([]byte, error) {
	o := opt.filled()
	text, err := textio.ReadAll(o.Context, r, o.MemoryLimit)
	if err != nil && o.Context.Err() == nil {
		err = &textio.Error{Name: name, Err: err}
	}
	return text, err
}

// Parse is Read for a text in memory.
func Parse(text []byte, name string, opt *Options) (*halfulp.Matrix, error) {
	rd, err := newReader(text, name, opt)
	if err != nil {
		return nil, err
	}
	return rd.read()
}

// newReader reads the header and cuts the rest of the text into pieces.
func newReader(text []byte, name string, opt *Options) (*reader, error) {
	o := opt.filled()
	text = textio.EndLines(text, o.Threads)
	h, err := parseHeader(name, text)
	if err != nil {
		return nil, err
	}
	rd := &reader{
		passes: 2, Options: o, header: h, name: name, pieces: textio.Cut(h.body, h.bodyLine, o.Threads),
		about: halfulp.InputStats{Unended: textio.Unended(h.body, h.bodyLine)},
	}
	rd.losses = make([]textio.Losses, len(rd.pieces))
	return rd, nil
}

// read reads the entries.
func (rd *reader) read() (*halfulp.Matrix, error) {
	read := rd.array
	if rd.coordinate {
		read = rd.coordinates
	}
	m, err := read()
	if err == nil && rd.Stats != nil {
		*rd.Stats = rd.stats(rd.pieces, rd.losses)
	}
	return m, err
}

type reader struct {
	Options
	*header
	name   string
	pieces []textio.Piece
	losses []textio.Losses    // of each piece
	about  halfulp.InputStats // everything except losses
	m      *halfulp.Matrix
	to     num.Mat // the storage of m
	sparse bool    // m is a column of the entries at places
	places []int64 // column + row cols, ascending

	passes int // over the text

	mu    sync.Mutex
	steps int // pieces done, in all passes
}

// stats returns the losses of the pieces together with rd.about.
func (rd *reader) stats(pieces []textio.Piece, losses []textio.Losses) halfulp.InputStats {
	s := rd.about
	lost := textio.StatsOf(pieces, losses)
	s.ToInf, s.ToZero = halfulp.Losses(lost.ToInf), halfulp.Losses(lost.ToZero)
	return s
}

// each calls f for every piece, in one pass over the text.
func (rd *reader) each(f func(p *textio.Piece) error) error {
	return textio.Each(rd.Context, rd.name, rd.Threads, rd.pieces, func(p *textio.Piece) error {
		err := f(p)
		if rd.Progress != nil {
			rd.mu.Lock()
			rd.steps++
			rd.Progress(float64(rd.steps) / float64(rd.passes*len(rd.pieces)))
			rd.mu.Unlock()
		}
		return err
	})
}

// maxSide bounds the numbers of rows and columns.
const maxSide = 1<<31 - 1

// allocate decides the format of a dense matrix and makes the matrix, unless it exceeds the memory
// limit.
func (rd *reader) allocate(e decimal.Extent) error {
	f, err := rd.dense(e)
	if err == nil {
		rd.make(f, int(rd.rows), int(rd.cols))
	}
	return err
}

// dense returns the format of a dense matrix, or an error if the matrix exceeds the memory limit.
func (rd *reader) dense(e decimal.Extent) (halfulp.Format, error) {
	f, err := rd.choose(e)
	if err != nil {
		return f, err
	}
	need := float64(rd.rows) * float64(rd.cols) * float64(num.SizeOf(mustFormat(f)))
	if need > float64(rd.MemoryLimit) {
		return f, rd.tooLarge(fmt.Sprintf("a dense %d x %d matrix", rd.rows, rd.cols), f, need)
	}
	if rd.rows > maxSide || rd.cols > maxSide { // empty, but sizes are computed from it
		return f, rd.sizeError(fmt.Errorf("a %d x %d matrix is too large", rd.rows, rd.cols))
	}
	return f, nil
}

// make makes the matrix rd.m.
func (rd *reader) make(f halfulp.Format, rows, cols int) {
	rd.m = halfulp.NewMatrix(f, rows, cols)
	rd.to = rd.m.View()
}

// sizeError returns an error about the line of the sizes.
func (rd *reader) sizeError(err error) error {
	return &textio.Error{Name: rd.name, Line: rd.sizeLine, Err: err}
}

// tooLarge returns the error for an object that needs more memory than the limit.
func (rd *reader) tooLarge(what string, f halfulp.Format, need float64) error {
	return rd.sizeError(fmt.Errorf("%s of format %v needs %s, more than the memory limit of %s",
		what, f, textio.Bytes(need), textio.Bytes(float64(rd.MemoryLimit))))
}

// choose returns the format for the numbers that e describes.
func (rd *reader) choose(e decimal.Extent) (halfulp.Format, error) {
	f := rd.In.Format()
	switch {
	case rd.In.Exact():
	case rd.format != nil:
		f = *rd.format
	case !rd.In.Rounds():
		g, ok := e.Choose(mustFormat(f))
		if !ok {
			return f, &textio.Error{Name: rd.name, Err: fmt.Errorf(
				"its numbers need %d bits, more than the %d that MP has at most: name the format to round them to", e.Prec(), halfulp.MaxPrec)}
		}
		f, _ = halfulp.ParseFormat(g.String())
		rd.about.Digits = e.Longest()
	default:
		rd.about.Bits = e.Bits
	}
	return f, nil
}

func mustFormat(f halfulp.Format) num.Format {
	g, err := num.ParseFormat(f.String())
	if err != nil {
		panic(err)
	}
	return g
}

// next returns the bounds of the next word of text from position i on; start = end if there is
// none. A word that begins with % comments out the rest of its line.
func next(text []byte, i int) (start, end int) {
	for ; i < len(text); i++ {
		c := text[i]
		if textio.IsSpace(c) {
			continue
		}
		if c == '%' {
			k := bytes.IndexByte(text[i:], '\n')
			if k < 0 {
				return len(text), len(text)
			}
			i += k
			continue
		}
		start = i
		return start, wordEnd(text, i)
	}
	return i, i
}

// wordEnd returns the end of the word that contains byte i of text. It examines eight bytes at a
// time: if all are above a blank, none of them ends the word. Borrows of a subtraction show bytes
// that are not.
func wordEnd(text []byte, i int) int {
	const ones = 0x0101010101010101
	for ; i+8 <= len(text); i += 8 {
		if x := binary.LittleEndian.Uint64(text[i:]); (x-(' '+1)*ones)&^x&(0x80*ones) != 0 {
			break
		}
	}
	for i < len(text) && !textio.IsSpace(text[i]) {
		i++
	}
	return i
}

// array reads the entries of an array file, column by column. The file holds the lower triangle of
// a symmetric matrix, and of a skew-symmetric matrix the lower triangle without the diagonal.
func (rd *reader) array() (*halfulp.Matrix, error) {
	// If the format does not depend on the words, the first pass only counts them.
	known := !rd.integer && (rd.In.Exact() || rd.format != nil)
	if known {
		if ok, err := rd.lineByLine(); ok || err != nil {
			return rd.m, err
		}
	}
	counts := make([]int64, len(rd.pieces))
	extents := make([]decimal.Extent, len(rd.pieces))
	err := rd.each(func(p *textio.Piece) error {
		var e decimal.Extent
		n := int64(0)
		for start, end := next(p.Text, 0); start < end; start, end = next(p.Text, end) {
			n++
			if known {
				continue
			}
			if err := rd.extend(&e, p.Text[start:end]); err != nil {
				return &textio.At{Pos: start, Err: err}
			}
		}
		counts[p.Index], extents[p.Index] = n, e
		return nil
	})
	if err != nil {
		return nil, err
	}
	var extent decimal.Extent
	for _, e := range extents {
		extent.Merge(e)
	}
	if err := rd.allocate(extent); err != nil {
		return nil, err
	}
	firsts, total := sums(counts)
	if want := rd.entriesOfArray(); total < want {
		return nil, rd.truncated(total, want)
	} else if total > want {
		return nil, rd.tooMany(firsts, want, total)
	}
	return rd.m, rd.fill(firsts, counts)
}

// lineByLine reads the entries in one pass if every line has one entry, as is usual: the number of
// a line then determines the place. ok is false for other files and for malformed ones.
func (rd *reader) lineByLine() (ok bool, err error) {
	counts := make([]int64, len(rd.pieces))
	for i, p := range rd.pieces {
		if counts[i] = int64(p.Lines); p.Text[len(p.Text)-1] != '\n' {
			counts[i]++
		}
	}
	firsts, total := sums(counts)
	// No overflow: a matrix as large as the text is not refused for its size.
	if float64(rd.rows)*float64(rd.cols) > float64(4*total) || total != rd.entriesOfArray() {
		return false, nil
	}
	if err := rd.allocate(decimal.Extent{}); err != nil {
		return false, err
	}
	rd.passes = 1
	err = rd.fill(firsts, counts)
	if err == nil || rd.Context.Err() != nil {
		return err == nil, err
	}
	rd.m, rd.steps, rd.passes = nil, 0, 2
	clear(rd.losses)
	return false, nil
}

// sums returns, for each count, the sum of the counts before it, and the total.
func sums(counts []int64) (before []int64, total int64) {
	before = make([]int64, len(counts))
	for i, c := range counts {
		before[i] = total
		total += c
	}
	return before, total
}

// entriesOfArray returns the number of entries of an array file. The matrix fits memory, so the
// products do not overflow.
func (rd *reader) entriesOfArray() int64 {
	n := rd.rows
	switch rd.symmetry {
	case symmetric:
		return n * (n + 1) / 2
	case skew:
		return n * (n - 1) / 2
	}
	return n * rd.cols
}

// errUneven means that a piece has another number of entries than expected.
var errUneven = errors.New("another number of entries")

// fill stores the entries of all pieces: piece i holds counts[i] entries, beginning with entry
// firsts[i].
func (rd *reader) fill(firsts, counts []int64) error {
	return rd.each(func(p *textio.Piece) error {
		return rd.fillText(p.Text, firsts[p.Index], counts[p.Index], &rd.losses[p.Index])
	})
}

// fillText stores the n entries of a text, beginning with entry first.
func (rd *reader) fillText(text []byte, first, n int64, losses *textio.Losses) error {
	i, j := rd.position(first)
	c := decimal.Borrow(rd.to.Arr.Format)
	defer c.Return()
	for start, end := next(text, 0); start < end; start, end = next(text, end) {
		if n--; n < 0 {
			break
		}
		loss, err := rd.set(c, i, j, text[start:end])
		if err != nil {
			return &textio.At{Pos: start, Err: err}
		}
		losses.Add(loss, start)
		if i++; i == int(rd.rows) {
			j++
			i = rd.firstRow(j)
		}
	}
	if n != 0 {
		return errUneven
	}
	return nil
}

// extend adds tok to e if it is a number of the file's field. Otherwise it returns an error.
func (rd *reader) extend(e *decimal.Extent, tok []byte) error {
	if err := e.Add(tok, rd.integer); err != nil {
		return err
	}
	if rd.unsigned && tok[0] == '-' && !decimal.IsZero(tok) {
		return fmt.Errorf("%s is negative, in a file of unsigned integers", clip(string(tok)))
	}
	return nil
}

// truncated returns the error for a file with too few entries.
func (rd *reader) truncated(have, want int64) error {
	line := rd.sizeLine
	if len(rd.pieces) > 0 {
		p := rd.pieces[len(rd.pieces)-1]
		line = p.Line + bytes.Count(bytes.TrimRight(p.Text, " \t\r\n"), []byte{'\n'})
	}
	return &textio.Error{Name: rd.name, Line: line, Err: errTruncated(have, want)}
}

// tooMany returns the error for the first entry too many; total is the number of entries in the
// file.
func (rd *reader) tooMany(firsts []int64, entry, total int64) error {
	k := len(firsts) - 1
	for k > 0 && firsts[k] > entry {
		k--
	}
	p := rd.pieces[k]
	start, end := next(p.Text, 0)
	for range entry - firsts[k] {
		start, end = next(p.Text, end)
	}
	line := p.Line + bytes.Count(p.Text[:start], []byte{'\n'})
	err := fmt.Errorf("more than the %s of a %d x %d matrix", textio.Count(rd.entriesOfArray(), "entry"), rd.rows, rd.cols)
	if rd.symmetry != general {
		kind := map[symmetry]string{symmetric: "symmetric", skew: "skew-symmetric, without its diagonal"}[rd.symmetry]
		err = fmt.Errorf("the file has %s, more than the %d of the lower triangle of a %d x %d matrix that is %s",
			textio.Count(total, "entry"), rd.entriesOfArray(), rd.rows, rd.cols, kind)
		if total == rd.rows*rd.cols {
			err = fmt.Errorf("%w: all of the matrix stands there, so the first line has to say general", err)
		}
	}
	return &textio.Error{Name: rd.name, Line: line, Err: err}
}

// firstRow returns the first row of column j in an array file.
func (rd *reader) firstRow(j int) int {
	switch rd.symmetry {
	case symmetric:
		return j
	case skew:
		return j + 1
	}
	return 0
}

// position returns the row and the column of entry k of an array file.
func (rd *reader) position(k int64) (i, j int) {
	if rd.symmetry == general {
		if rd.rows == 0 {
			return 0, 0
		}
		return int(k % rd.rows), int(k / rd.rows)
	}
	for {
		first := rd.firstRow(j)
		if n := rd.rows - int64(first); k < n || n <= 0 {
			return first + int(k), j
		} else {
			k -= n
		}
		j++
	}
}

// set stores tok in entry (i, j), and, for a symmetry, in entry (j, i).
func (rd *reader) set(c *decimal.Codec, i, j int, tok []byte) (decimal.Loss, error) {
	loss, err := rd.store(c, i, j, tok)
	if err != nil || rd.symmetry == general || i == j {
		return loss, err
	}
	var buf [64]byte
	if rd.symmetry == skew {
		tok = negated(buf[:0], tok)
	}
	_, err = rd.store(c, j, i, tok)
	return loss, err
}

// store stores tok in entry (i, j) only.
func (rd *reader) store(c *decimal.Codec, i, j int, tok []byte) (decimal.Loss, error) {
	if rd.sparse {
		i, _ = slices.BinarySearch(rd.places, int64(j)+int64(i)*rd.cols)
		j = 0
	}
	return c.Set(rd.to.Arr, rd.to.At(i, j), tok)
}

// negated returns -tok. The negative of zero is +0, as skew symmetry concerns values.
func negated(buf, tok []byte) []byte {
	if decimal.IsZero(tok) {
		return append(buf, '0')
	}
	switch tok[0] {
	case '-':
		return tok[1:]
	case '+':
		tok = tok[1:]
	}
	return append(append(buf, '-'), tok...)
}

var errAbove = errors.New("an entry above the diagonal in a file of a symmetric or skew-symmetric matrix, which holds the lower triangle: if all of the matrix stands there, the first line has to say general")
