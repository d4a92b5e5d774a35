// Package delimited reads and writes matrices as plain text, one row a line. Numbers are separated
// by commas or by white space. # begins a comment. A line ends with a line feed, a carriage return
// or both. A Dialect describes other tables, for example tables that spreadsheets export.
package delimited

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
)

// Options are options for reading and writing; all fields except In, Stats, Dialect, Note, Names,
// Digits, Separator and Progress must be set.
type Options struct {
	In          halfulp.InputFormat // how numbers are stored (Parse)
	Stats       *halfulp.InputStats // if not nil, set to the losses by the format's range (Parse)
	Dialect     Dialect             // of the file (Parse)
	Note        *string             // if not nil, set to how words in row 1 are read (Parse)
	Names       *[]string           // if not nil, set to the names in a header (Parse)
	Digits      int                 // how numbers are written (Write), as in Matrix.AppendText
	Separator   byte                // between the numbers of a row (Write)
	Threads     int
	MemoryLimit int64
	Context     context.Context
	Progress    func(done float64)
}

// formatComment begins the comment that names the format of the numbers.
const formatComment = "halfulp format "

// Parse reads a table. The numbers of a row are separated by commas if the row has one, otherwise
// by white space. All rows must have the same length.
func Parse(text []byte, name string, o Options) (*halfulp.Matrix, error) {
	return parse(text, name, o, partSize)
}

func parse(text []byte, name string, o Options, size int) (*halfulp.Matrix, error) {
	t, err := o.prepare(text, name)
	if err != nil {
		return nil, err
	}
	c := cutter{size: size, line: 1}
	parts, _ := c.cut(t.plain, true)
	r := &reading{Options: o, name: name, held: t.held, octave: t.octave, blocks: func(f func([]part, float64) error) error {
		return f(parts, 1)
	}}
	return r.read(&t.unended)
}

// prepared is a text as rows of numbers.
type prepared struct {
	plain   []byte
	held    int  // bytes of text in memory
	octave  bool // the text is Octave's
	unended int  // number of the last line if no line feed ends it, otherwise 0
}

// prepare turns a text of the dialect into rows of numbers, and sets Note and Names.
func (o *Options) prepare(text []byte, name string) (prepared, error) {
	t := prepared{unended: textio.Unended(text, 1)}
	text = textio.EndLines(bytes.TrimPrefix(text, []byte("\ufeff")), o.Threads)
	var err error
	t.octave, err = octave(text)
	if o.Dialect.Skip > 0 {
		t.octave = false
	} else if err != nil {
		return t, &textio.Error{Name: name, Err: err}
	}
	t.plain, t.held = text, len(text)
	if o.Dialect.plain(text) {
		return t, nil
	}
	if need := rewriting(text); need > float64(o.MemoryLimit) {
		return t, &textio.Error{Name: name, Err: tooLarge("the table with its delimiters needs", need, o.MemoryLimit)}
	}
	plain, l, err := o.Dialect.rewrite(text, name)
	if err != nil {
		return t, err
	}
	t.plain = plain
	t.held += len(plain)
	if o.Note != nil && l != nil && l.note != "" {
		*o.Note = l.note
	}
	if o.Names != nil && l != nil {
		*o.Names = l.names
	}
	return t, nil
}

// reading is the state of both passes over a text. blocks calls f for all parts, in order.
type reading struct {
	Options
	name   string
	held   int // bytes of text in memory
	blocks func(f func(parts []part, done float64) error) error
	octave bool // the text is Octave's
	passes int

	names  int     // comments that name variables of Octave
	found  []found // results of the first pass, one for each part
	width  int     // numbers of a row
	rows   int64
	extent decimal.Extent
	format *halfulp.Format // named by a comment, or nil
}

// found is the result of the first pass over a part.
type found struct {
	head   int  // numbers of the row that began before the part
	ended  bool // this row ends in the part
	rows   int64
	width  int // numbers of every row that begins and ends in the part
	first  int // position of the first of them
	tail   int // numbers of the row that goes on after the part
	names  int
	extent decimal.Extent
	format *halfulp.Format
}

// numbers returns the number of numbers in the part.
func (f *found) numbers() int64 { return int64(f.head) + f.rows*int64(f.width) + int64(f.tail) }

// read reads the text. *unended is set while it is read: the number of the last line if no line
// feed ends it, otherwise 0.
func (r *reading) read(unended *int) (*halfulp.Matrix, error) {
	under := 0 // numbers of the row under way
	row := func(n int, rows int64, line int) error {
		if n == 0 {
			return nil
		}
		if r.width == 0 {
			r.width = n
		}
		if n != r.width {
			return &textio.Error{Name: r.name, Line: line, Err: ragged(textio.Count(n, "number"), r.width)}
		}
		r.rows += rows
		return nil
	}
	line := 0
	err := r.each(func(p *part, f *found) error { return f.measure(p) }, func(parts []part) error {
		for i := range parts {
			p := &parts[i]
			f := &r.found[len(r.found)-len(parts)+i]
			line = p.Line
			r.extent.Merge(f.extent)
			if r.names += f.names; r.octave && r.names > 1 {
				return &textio.Error{Name: r.name, Err: errVariables}
			}
			if r.format == nil {
				r.format = f.format
			}
			if p.within {
				if under += f.head; !f.ended {
					continue
				}
				if err := row(under, 1, p.Line); err != nil {
					return err
				}
			}
			if err := row(f.width, f.rows, p.Line+bytes.Count(p.Text[:f.first], []byte{'\n'})); err != nil {
				return err
			}
			under = f.tail
		}
		return nil
	})
	if err == nil {
		err = row(under, 1, line)
	}
	if err != nil {
		return nil, err
	}
	if r.rows == 0 {
		return nil, &textio.Error{Name: r.name, Err: errors.New("the file has no numbers")}
	}
	m, err := r.allocate()
	if err != nil {
		return nil, err
	}
	stats, err := r.fill(m.View())
	if err != nil {
		return nil, err
	}
	if r.Stats != nil {
		stats.Unended = *unended
		switch {
		case r.format != nil || r.In.Exact():
		case r.In.Rounds():
			stats.Bits = r.extent.Bits
		default:
			stats.Digits = r.extent.Longest()
		}
		*r.Stats = stats
	}
	return m, nil
}

// each is a pass over the text. For each block it calls do for the parts of the block, on several
// threads, and then then. The first pass allocates r.found; the second one returns errChanged if it
// meets another text.
func (r *reading) each(do func(p *part, f *found) error, then func(parts []part) error) error {
	r.passes++
	index := 0
	err := r.blocks(func(parts []part, done float64) error {
		if r.passes == 1 {
			r.found = append(r.found, make([]found, len(parts))...)
		}
		if index+len(parts) > len(r.found) {
			return errChanged
		}
		own := r.found[index : index+len(parts)]
		index += len(parts)
		pieces := make([]textio.Piece, len(parts))
		for i := range parts {
			parts[i].Index = i
			pieces[i] = parts[i].Piece
		}
		err := textio.Each(r.Context, r.name, r.Threads, pieces, func(p *textio.Piece) error { return do(&parts[p.Index], &own[p.Index]) })
		if err == nil {
			err = then(parts)
		}
		if r.Progress != nil {
			r.Progress((float64(r.passes-1) + done) / 2)
		}
		return err
	})
	if err == nil && index < len(r.found) {
		err = errChanged
	}
	if errors.Is(err, errChanged) {
		err = &textio.Error{Name: r.name, Err: errChanged}
	}
	return err
}

var errChanged = errors.New("the file changed while it was read")

// allocate decides the format and makes the matrix, unless it exceeds the memory limit.
func (r *reading) allocate() (*halfulp.Matrix, error) {
	f, err := choose(r.extent, r.format, r.In)
	if err != nil {
		return nil, &textio.Error{Name: r.name, Err: err}
	}
	g, err := num.ParseFormat(f.String())
	if err != nil {
		return nil, err
	}
	with := ""
	if r.held > 0 {
		with = " with its text"
	}
	if need := float64(float64(r.rows)*float64(r.width)*float64(num.SizeOf(g))) + float64(r.held); need > float64(r.MemoryLimit) {
		return nil, &textio.Error{Name: r.name, Err: tooLarge(fmt.Sprintf("a %d x %d matrix of format %v%s needs", r.rows, r.width, f, with), need, r.MemoryLimit)}
	}
	return halfulp.NewMatrix(f, int(r.rows), r.width), nil
}

func tooLarge(what string, need float64, limit int64) error {
	return fmt.Errorf("%s %s, more than the memory limit of %s", what, textio.Bytes(need), textio.Bytes(float64(limit)))
}

// fill is the second pass, which stores the numbers in z.
func (r *reading) fill(z num.Mat) (halfulp.InputStats, error) {
	firsts := make([]int64, len(r.found)+1) // numbers before each part
	for i := range r.found {
		firsts[i+1] = firsts[i] + r.found[i].numbers()
	}
	block := 0 // number of parts before the block
	var losses []textio.Losses
	var lost textio.Stats
	var mu sync.Mutex
	err := r.each(func(p *part, f *found) error {
		k := firsts[block+p.Index]
		left := f.numbers()
		i, j := int(k/int64(r.width)), int(k%int64(r.width))
		c := decimal.Borrow(z.Arr.Format)
		defer c.Return()
		var own textio.Losses
		err := p.scan(func(word []byte, pos int) error {
			if left--; left < 0 {
				return errChanged
			}
			loss, err := c.Set(z.Arr, z.At(i, j), word)
			if err != nil {
				return &textio.At{Pos: pos, Err: err}
			}
			own.Add(loss, pos)
			if j++; j == r.width {
				i, j = i+1, 0
			}
			return nil
		}, func(int, bool) error { return nil }, nil)
		if err == nil && left > 0 {
			err = errChanged
		}
		if own != (textio.Losses{}) {
			mu.Lock()
			defer mu.Unlock()
			for len(losses) <= p.Index {
				losses = append(losses, textio.Losses{})
			}
			losses[p.Index] = own
		}
		return err
	}, func(parts []part) error {
		block += len(parts)
		pieces := make([]textio.Piece, len(losses))
		for i := range pieces {
			pieces[i] = parts[i].Piece
		}
		lost.Add(textio.StatsOf(pieces, losses))
		losses = losses[:0]
		return nil
	})
	return halfulp.InputStats{ToInf: halfulp.Losses(lost.ToInf), ToZero: halfulp.Losses(lost.ToZero)}, err
}

func ragged(have string, want int) error {
	return fmt.Errorf("a row of %s after rows of %d", have, want)
}

// choose returns the format of the matrix, for numbers that e describes.
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

// measure is the first pass over a part.
func (f *found) measure(p *part) error {
	*f = found{}
	n := 0 // numbers of the line
	return p.scan(func(w []byte, pos int) error {
		n++
		if err := f.extent.Add(w, false); err != nil {
			return &textio.At{Pos: pos, Err: err}
		}
		return nil
	}, func(start int, ended bool) error {
		count := n
		n = 0
		switch {
		case start == 0 && p.within:
			f.head, f.ended = count, ended
		case !ended:
			f.tail = count
		case count == 0:
		case f.rows == 0:
			f.rows, f.width, f.first = 1, count, start
		case count != f.width:
			return &textio.At{Pos: start, Err: ragged(textio.Count(count, "number"), f.width)}
		default:
			f.rows++
		}
		return nil
	}, func(c string) {
		if strings.HasPrefix(c, "name: ") {
			f.names++
		}
		if s, ok := strings.CutPrefix(c, formatComment); ok && f.format == nil {
			if g, err := halfulp.ParseFormat(strings.TrimSpace(s)); err == nil {
				f.format = &g
			}
		}
	})
}

// ErrEmpty is wrapped by the error of Write for a matrix without rows or columns.
var ErrEmpty = errors.New("a table has no place for a matrix without numbers")

// Write writes m, one row a line. A comment names the format for Parse, unless it is Float64, which
// Parse assumes.
func Write(w io.Writer, m *halfulp.Matrix, o Options) error {
	rows, cols := m.Dims()
	if rows == 0 || cols == 0 {
		return fmt.Errorf("a %d x %d matrix: %w (.mtx and .npy hold it)", rows, cols, ErrEmpty)
	}
	if m.NumberFormat() != halfulp.Float64 {
		if _, err := fmt.Fprintf(w, "# %s%v\n", formatComment, m.NumberFormat()); err != nil {
			return err
		}
	}
	z := m.View()
	// Blocks of about 64 KiB of text.
	size := max(1, 1<<18/max(64, m.NumberFormat().Bits()*cols))
	return textio.Write(o.Context, w, o.Threads, (rows+size-1)/size, func(dst []byte, block int) []byte {
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
