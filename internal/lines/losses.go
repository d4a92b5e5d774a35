package lines

import (
	"bytes"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/decimal"
)

// Losses counts the numbers of a piece that the range of their format took away.
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

// Add counts the number at a position of the piece, if it lost anything.
func (l *Losses) Add(loss decimal.Loss, pos int) {
	switch loss {
	case decimal.ToInf:
		l.toInf.add(pos)
	case decimal.ToZero:
		l.toZero.add(pos)
	}
}

// InputStats returns what the numbers of a text lost, losses[i] being those of
// pieces[i].
func InputStats(pieces []Piece, losses []Losses) halfulp.InputStats {
	var s halfulp.InputStats
	for i := range losses {
		join(&s.ToInf, losses[i].toInf, &pieces[i])
		join(&s.ToZero, losses[i].toZero, &pieces[i])
	}
	return s
}

// Unended returns the number of the last line of a text that begins with the given line, unless a
// line feed or carriage return ends it; then, and if there is no text, 0.
func Unended(text []byte, line int) int {
	if len(text) == 0 || text[len(text)-1] == '\n' || text[len(text)-1] == '\r' {
		return 0
	}
	return line + bytes.Count(text, []byte{'\n'})
}

// Add adds to sum what later lines of the same text lost.
func Add(sum *halfulp.InputStats, more halfulp.InputStats) {
	add := func(sum *halfulp.Losses, more halfulp.Losses) {
		if sum.Count == 0 {
			sum.Line = more.Line
		}
		sum.Count += more.Count
	}
	add(&sum.ToInf, more.ToInf)
	add(&sum.ToZero, more.ToZero)
}

func join(sum *halfulp.Losses, c counted, p *Piece) {
	if c.n > 0 && sum.Count == 0 {
		sum.Line = p.line(c.first)
	}
	sum.Count += c.n
}

// line returns the number of the line of a position.
func (p *Piece) line(pos int) int { return p.Line + bytes.Count(p.Text[:pos], []byte{'\n'}) }
