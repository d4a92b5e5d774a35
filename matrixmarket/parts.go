package matrixmarket

import (
	"bytes"
	"fmt"

	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/market"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
)

func init() {
	market.Open = openParts
	market.Head = head
	market.Append = appendEntries
}

// parts reads an array file in parts: see package market.
type parts struct {
	*reader
	begin int64
}

func openParts(text []byte, size int64, name string, opt any) (market.Array, error) {
	o := opt.(*Options).filled()
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
	return &parts{&reader{Options: o, header: h, name: name}, int64(len(text) - len(h.body))}, nil
}

func (p *parts) Rows() int     { return int(p.rows) }
func (p *parts) Cols() int     { return int(p.cols) }
func (p *parts) Begin() int64  { return p.begin }
func (p *parts) Line() int     { return p.bodyLine }
func (p *parts) Skew() bool    { return p.symmetry == skew }
func (p *parts) Entries() int  { return int(p.entriesOfArray()) }
func (p *parts) Scanned() bool { return p.integer || !p.In.Exact() && p.header.format == nil }

// Below returns 0 if a column has all its rows in the file, 1 if the rows from the diagonal on, 2
// if the rows below the diagonal.
func (p *parts) Below() int {
	return map[symmetry]int{general: 0, symmetric: 1, skew: 2}[p.symmetry]
}

// Count splits a text into pieces and counts its entries.
func (p *parts) Count(text []byte) *market.Text {
	text = textio.EndLines(text, p.Threads)
	t := &market.Text{Pieces: textio.Cut(text, 0, p.Threads)}
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
func (p *parts) Scan(t *market.Text, e *decimal.Extent) error {
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
func (p *parts) Choose(e decimal.Extent) (num.Format, error) {
	f, err := p.choose(e)
	if err != nil {
		return num.Format{}, err
	}
	return mustFormat(f), nil
}

// Read stores the numbers of a text in z, and their negatives in negatives if that is not nil.
func (p *parts) Read(t *market.Text, z, negatives *num.Array) (textio.Stats, error) {
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
func (p *parts) Measure() (digits, bits int) { return p.about.Digits, p.about.Bits }

// Truncated returns the error for too few entries.
func (p *parts) Truncated(line, have int) error {
	return &textio.Error{Name: p.name, Line: max(line, p.sizeLine), Err: errTruncated(int64(have), p.entriesOfArray())}
}

// TooMany returns the error for too many entries, at entry k of a text.
func (p *parts) TooMany(t *market.Text, k int) error {
	all := reader{header: p.header, name: p.name, pieces: t.Pieces}
	firsts, _ := sums(t.Counts)
	return all.tooMany(firsts, int64(k), 0)
}

func errTruncated(have, want int64) error {
	return fmt.Errorf("the file ends after %d of %s", have, textio.Count(want, "entry"))
}
