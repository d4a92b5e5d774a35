package textio

import (
	"bytes"

	"github.com/halfulp/halfulp/internal/decimal"
)

// Losses counts the numbers of a piece that were lost by the range of their format.
type Losses struct {
	toInf, toZero counted
}

type counted struct {
	n     int64
	first int // position in the piece
}

func (c *counted) add(pos int) {
	if c.n == 0 || pos < c.first {
		c.first = pos
	}
	c.n++
}

// Add counts the number at a position of the piece, if it was lost.
func (l *Losses) Add(loss decimal.Loss, pos int) {
	switch loss {
	case decimal.ToInf:
		l.toInf.add(pos)
	case decimal.ToZero:
		l.toZero.add(pos)
	}
}

// Stats counts the numbers of a text that were lost by the range of their format: the numbers that
// became infinite, and the numbers that became 0.
type Stats struct{ ToInf, ToZero Lost }

// Lost counts numbers of a text.
type Lost struct {
	Count int64
	Line  int // of the first of them, from 1; 0 if there is none
}

// StatsOf adds up the losses of a text, losses[i] in pieces[i].
func StatsOf(pieces []Piece, losses []Losses) Stats {
	var s Stats
	for i := range losses {
		join(&s.ToInf, losses[i].toInf, &pieces[i])
		join(&s.ToZero, losses[i].toZero, &pieces[i])
	}
	return s
}

// Unended returns the number of the last line of a text, whose first line has the number line, if
// neither a line feed nor a carriage return ends it. Else, and if there is no text, it returns 0.
func Unended(text []byte, line int) int {
	if len(text) == 0 || text[len(text)-1] == '\n' || text[len(text)-1] == '\r' {
		return 0
	}
	return line + bytes.Count(text, []byte{'\n'})
}

// Add adds the losses of later lines of the same text.
func (s *Stats) Add(later Stats) {
	s.ToInf.add(later.ToInf)
	s.ToZero.add(later.ToZero)
}

func (l *Lost) add(later Lost) {
	if l.Count == 0 {
		l.Line = later.Line
	}
	l.Count += later.Count
}

func join(sum *Lost, c counted, p *Piece) {
	if c.n > 0 && sum.Count == 0 {
		sum.Line = p.line(c.first)
	}
	sum.Count += c.n
}

// line returns the number of the line of a position.
func (p *Piece) line(pos int) int { return p.Line + bytes.Count(p.Text[:pos], []byte{'\n'}) }
