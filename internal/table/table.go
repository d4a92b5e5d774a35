// Package table reads and writes matrices as plain text: a row a line, numbers
// separated by commas or by white space. # begins a comment. A line ends with a line
// feed, a carriage return or both. A Dialect is what spreadsheets make of that.
package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/lines"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
)

// Options change how a table is read or written; all but In, Stats, Dialect,
// Note, Digits, Separator and Progress must be set.
type Options struct {
	In          halfulp.InputFormat // how numbers are stored (Parse)
	Stats       *halfulp.InputStats // if not nil, set to what the range of the format took (Parse)
	Dialect     Dialect             // of the file (Parse)
	Note        *string             // if not nil, set to what words in the first row mean (Parse)
	Digits      int                 // how numbers are written (Write), as in Matrix.AppendText
	Separator   byte                // between the numbers of a row (Write)
	Threads     int
	MemoryLimit int64
	Context     context.Context
	Progress    func(done float64)
}

// formatComment begins the comment that names the format of the numbers.
const formatComment = "halfulp format "

// piece is what the first pass over a piece of text finds.
type piece struct {
	rows   int64
	width  int // numbers of every row
	first  int // position of the first row
	extent decimal.Extent
	format *halfulp.Format // as a comment names it
}

// Parse reads a table. The numbers of a row are separated by commas if the row
// has one, else by white space; every row has the same length.
func Parse(text []byte, name string, o Options) (*halfulp.Matrix, error) {
	text = lines.EndLines(bytes.TrimPrefix(text, []byte("\ufeff")), o.Threads)
	if !o.Dialect.plain(text) {
		plain, note, err := o.Dialect.rewrite(text, name)
		if err != nil {
			return nil, err
		}
		text = plain
		if o.Note != nil && note != "" {
			*o.Note = note
		}
	}
	pieces := lines.Cut(text, 1, o.Threads)
	found := make([]piece, len(pieces))
	err := lines.Each(o.Context, name, o.Threads, pieces, func(p *lines.Piece) error {
		return found[p.Index].measure(p.Text)
	})
	if err != nil {
		return nil, err
	}
	var extent decimal.Extent
	var format *halfulp.Format
	rows, width := int64(0), 0
	firsts := make([]int64, len(pieces))
	for i, f := range found {
		if format == nil {
			format = f.format
		}
		firsts[i] = rows
		if f.rows == 0 {
			continue
		}
		if rows > 0 && f.width != width {
			line := pieces[i].Line + bytes.Count(pieces[i].Text[:f.first], []byte{'\n'})
			return nil, &lines.Error{Name: name, Line: line, Err: ragged(lines.Count(f.width, "number"), width)}
		}
		width = f.width
		rows += f.rows
		extent.Merge(f.extent)
	}
	if rows == 0 {
		return nil, &lines.Error{Name: name, Err: errors.New("the file has no numbers")}
	}
	f, err := choose(extent, format, o.In)
	if err != nil {
		return nil, &lines.Error{Name: name, Err: err}
	}
	g, err := num.ParseFormat(f.String())
	if err != nil {
		return nil, err
	}
	if need := float64(rows) * float64(width) * float64(num.SizeOf(g)); need > float64(o.MemoryLimit) {
		return nil, &lines.Error{Name: name, Err: fmt.Errorf("a %d x %d matrix of format %v needs %s, more than the memory limit of %s",
			rows, width, f, lines.Bytes(need), lines.Bytes(float64(o.MemoryLimit)))}
	}
	m := halfulp.NewMatrix(f, int(rows), width)
	z := raw.Matrix(m)
	losses := make([]lines.Losses, len(pieces))
	err = lines.Each(o.Context, name, o.Threads, pieces, func(p *lines.Piece) error {
		i, j := int(firsts[p.Index]), 0
		c := decimal.Borrow(g)
		defer c.Return()
		return eachRow(p.Text, func(int) error { return nil }, func(word []byte, pos int) error {
			loss, err := c.Set(z.Arr, z.At(i, j), word)
			if err != nil {
				return &lines.At{Pos: pos, Err: err}
			}
			losses[p.Index].Add(loss, pos)
			if j++; j == width {
				i, j = i+1, 0
			}
			return nil
		}, nil)
	})
	if err != nil {
		return nil, err
	}
	if o.Stats != nil {
		*o.Stats = lines.InputStats(pieces, losses)
		if format == nil && !o.In.Exact() && !o.In.Rounds() {
			o.Stats.Digits = extent.Digits
		}
	}
	return m, nil
}

func ragged(have string, want int) error {
	return fmt.Errorf("a row of %s after rows of %d", have, want)
}

// choose returns the format to store numbers in.
func choose(e decimal.Extent, named *halfulp.Format, in halfulp.InputFormat) (halfulp.Format, error) {
	f := in.Format()
	if in.Exact() {
		return f, nil
	}
	if named != nil {
		return *named, nil
	}
	if in.Rounds() {
		return f, nil
	}
	g, err := num.ParseFormat(f.String())
	if err != nil {
		return f, err
	}
	g, ok := e.Choose(g)
	if !ok {
		return f, fmt.Errorf("its numbers need %d bits, more than the %d that MP has at most: name the format to round them to", e.Prec(), halfulp.MaxPrec)
	}
	return halfulp.ParseFormat(g.String())
}

// measure is the first pass over text.
func (f *piece) measure(text []byte) error {
	width, start := 0, 0 // of the row under way
	endRow := func(pos int) error {
		if width > 0 {
			if f.rows == 0 {
				f.width, f.first = width, start
			} else if width != f.width {
				return &lines.At{Pos: start, Err: ragged(lines.Count(width, "number"), f.width)}
			}
			f.rows++
		}
		width, start = 0, pos
		return nil
	}
	word := func(w []byte, pos int) error {
		width++
		if err := f.extent.Add(w, false); err != nil {
			return &lines.At{Pos: pos, Err: err}
		}
		return nil
	}
	comment := func(c string) {
		if s, ok := strings.CutPrefix(c, formatComment); ok && f.format == nil {
			if g, err := halfulp.ParseFormat(strings.TrimSpace(s)); err == nil {
				f.format = &g
			}
		}
	}
	if err := eachRow(text, endRow, word, comment); err != nil {
		return err
	}
	return endRow(len(text))
}

var errField = errors.New("an empty field")

// eachRow calls row with the position of every line, word for every number of it
// and comment, if not nil, for every comment.
func eachRow(text []byte, row func(pos int) error, word func(w []byte, pos int) error, comment func(string)) error {
	for start := 0; start < len(text); {
		end := len(text)
		if k := bytes.IndexByte(text[start:], '\n'); k >= 0 {
			end = start + k + 1
		}
		line := text[start:end]
		if k := bytes.IndexByte(line, '#'); k >= 0 {
			if comment != nil {
				comment(strings.TrimSpace(string(line[k+1:])))
			}
			line = line[:k]
		}
		if err := row(start); err != nil {
			return err
		}
		if err := eachWord(line, start, word); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// eachWord calls word for every number of a line that begins at position pos.
func eachWord(line []byte, pos int, word func(w []byte, pos int) error) error {
	if bytes.IndexByte(line, ',') < 0 {
		for i := 0; i < len(line); {
			if lines.IsSpace(line[i]) {
				i++
				continue
			}
			start := i
			for i < len(line) && !lines.IsSpace(line[i]) {
				i++
			}
			if err := word(line[start:i], pos+start); err != nil {
				return err
			}
		}
		return nil
	}
	for start := 0; start <= len(line); {
		end := len(line)
		if k := bytes.IndexByte(line[start:], ','); k >= 0 {
			end = start + k
		}
		w := bytes.Trim(line[start:end], " \t\n\v\f\r")
		if len(w) == 0 {
			return &lines.At{Pos: pos + min(start, len(line)-1), Err: errField}
		}
		if err := word(w, pos+start); err != nil {
			return err
		}
		start = end + 1
	}
	return nil
}

// ErrEmpty is wrapped by the error of Write for a matrix without rows or columns.
var ErrEmpty = errors.New("a table has no place for a matrix without numbers")

// Write writes m, a row a line. A comment names the format, so that Parse finds
// it again, unless that is Float64, which Parse assumes.
func Write(w io.Writer, m *halfulp.Matrix, o Options) error {
	rows, cols := m.Dims()
	if rows == 0 || cols == 0 {
		return fmt.Errorf("a %d x %d matrix: %w (.mtx and .npy hold it)", rows, cols, ErrEmpty)
	}
	if m.Format() != halfulp.Float64 {
		if _, err := fmt.Fprintf(w, "# %s%v\n", formatComment, m.Format()); err != nil {
			return err
		}
	}
	z := raw.Matrix(m)
	// Blocks of about 64 KiB of text.
	size := max(1, 1<<18/max(64, m.Format().Bits()*cols))
	return lines.Write(o.Context, w, o.Threads, (rows+size-1)/size, func(dst []byte, block int) []byte {
		c := decimal.Borrow(z.Arr.Format)
		defer c.Return()
		for i := block * size; i < min(rows, (block+1)*size); i++ {
			for j := range cols {
				if j > 0 {
					dst = append(dst, o.Separator)
				}
				dst = c.Append(dst, z.Arr, z.At(i, j), decimal.Style(o.Digits))
			}
			dst = append(dst, '\n')
		}
		return dst
	}, o.Progress)
}
