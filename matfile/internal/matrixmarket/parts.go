package matrixmarket

import (
	"bytes"
	"fmt"

	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
)

// Parts is an array file that several processes read in parts.
type Parts struct {
	*reader
	begin int64
}

// OpenParts reads the lines before the entries from text, the beginning of a file of size bytes.
// The error is textio.ErrWhole for files that are no arrays, or are malformed.
func OpenParts(text []byte, size int64, name string, opt *Options) (*Parts, error) {
	o := opt.filled()
	o.Progress = nil
	h, err := parseHeader(name, textio.EndLines(text, 1))
	switch {
	case err != nil || h.coordinate:
		return nil, textio.ErrWhole
	case len(h.body) == 0: // the line of the sizes may be incomplete
		return nil, textio.ErrWhole
	case float64(h.rows)*float64(h.cols) > float64(4*size) || h.rows > maxSide || h.cols > maxSide:
		return nil, textio.ErrWhole // too few entries, or none
	}
	return &Parts{&reader{Options: o, header: h, name: name}, int64(len(text) - len(h.body))}, nil
}

// Rows returns the number of rows.
func (p *Parts) Rows() int { return int(p.rows) }

// Cols returns the number of columns.
func (p *Parts) Cols() int { return int(p.cols) }

// Begin returns the byte at which the entries begin, with a line.
func (p *Parts) Begin() int64 { return p.begin }

// Line returns the number of that line.
func (p *Parts) Line() int { return p.bodyLine }

// Skew reports whether entries above the diagonal are the negatives of the entries below it.
func (p *Parts) Skew() bool { return p.symmetry == skew }

// Entries returns the number of entries that the file must have.
func (p *Parts) Entries() int { return int(p.entriesOfArray()) }

// Scanned reports whether the format can be chosen only when the text of all numbers is known.
func (p *Parts) Scanned() bool { return p.integer || !p.In.Exact() && p.header.format == nil }

// Below returns 0 if a column has all its rows in the file, 1 if the rows from the diagonal on, 2
// if the rows below the diagonal.
func (p *Parts) Below() int {
	return map[symmetry]int{general: 0, symmetric: 1, skew: 2}[p.symmetry]
}

// A Text is whole lines of an array file.
type Text struct {
	Pieces  []textio.Piece
	Counts  []int64 // of the entries of each piece
	Entries int
	Lines   int // line feeds
	Last    int // the number of the last line that is not blank, from 1; 0 if there is none
}

// Shift adds n, the number of lines before the text, to the numbers of its lines.
func (t *Text) Shift(n int) {
	for i := range t.Pieces {
		t.Pieces[i].Line += n
	}
}

// Count splits a text into pieces and counts its entries.
func (p *Parts) Count(text []byte) *Text {
	text = textio.EndLines(text, p.Threads)
	t := &Text{Pieces: textio.Cut(text, 0, p.Threads)}
	t.Counts = make([]int64, len(t.Pieces))
	// The only error is the context's, which later calls report.
	_ = textio.Each(p.Context, p.name, p.Threads, t.Pieces, func(q *textio.Piece) error {
		for start, end := next(q.Text, 0); start < end; start, end = next(q.Text, end) {
			t.Counts[q.Index]++
		}
		return nil
	})
	_, total := sums(t.Counts)
	t.Entries = int(total)
	t.Lines = bytes.Count(text, []byte{'\n'})
	if used := bytes.TrimRight(text, " \t\r\n"); len(used) > 0 {
		t.Last = 1 + bytes.Count(used, []byte{'\n'})
	}
	return t
}

// Scan extends e by the numbers of a text.
func (p *Parts) Scan(t *Text, e *decimal.Extent) error {
	extents := make([]decimal.Extent, len(t.Pieces))
	err := textio.Each(p.Context, p.name, p.Threads, t.Pieces, func(q *textio.Piece) error {
		for start, end := next(q.Text, 0); start < end; start, end = next(q.Text, end) {
			if err := p.extend(&extents[q.Index], q.Text[start:end]); err != nil {
				return &textio.At{Pos: start, Err: err}
			}
		}
		return nil
	})
	for _, x := range extents {
		e.Merge(x)
	}
	return err
}

// Choose returns the format for the numbers that e describes.
func (p *Parts) Choose(e decimal.Extent) (num.Format, error) {
	f, err := p.choose(e)
	if err != nil {
		return num.Format{}, err
	}
	return mustFormat(f), nil
}

// Read stores the numbers of a text in z, and their negatives in negatives if that is not nil.
func (p *Parts) Read(t *Text, z, negatives *num.Array) (textio.Stats, error) {
	firsts, _ := sums(t.Counts)
	losses := make([]textio.Losses, len(t.Pieces))
	err := textio.Each(p.Context, p.name, p.Threads, t.Pieces, func(q *textio.Piece) error {
		c := decimal.Borrow(z.Format)
		defer c.Return()
		var buf [64]byte
		k := int(firsts[q.Index])
		for start, end := next(q.Text, 0); start < end; start, end = next(q.Text, end) {
			loss, err := c.Set(z, k, q.Text[start:end])
			if err == nil && negatives != nil {
				_, err = c.Set(negatives, k, negated(buf[:0], q.Text[start:end]))
			}
			if err != nil {
				return &textio.At{Pos: start, Err: err}
			}
			losses[q.Index].Add(loss, start)
			k++
		}
		return nil
	})
	return textio.StatsOf(t.Pieces, losses), err
}

// Measure returns Digits and Bits of [halfulp.InputStats].
func (p *Parts) Measure() (digits, bits int) { return p.about.Digits, p.about.Bits }

// Truncated returns the error for too few entries.
func (p *Parts) Truncated(line, have int) error {
	return &textio.Error{Name: p.name, Line: max(line, p.sizeLine), Err: errTruncated(int64(have), p.entriesOfArray())}
}

// TooMany returns the error for too many entries, at entry k of a text.
func (p *Parts) TooMany(t *Text, k int) error {
	all := reader{header: p.header, name: p.name, pieces: t.Pieces}
	firsts, _ := sums(t.Counts)
	return all.tooMany(firsts, int64(k), 0)
}

func errTruncated(have, want int64) error {
	return fmt.Errorf("the file ends after %d of %s", have, textio.Count(want, "entry"))
}
