package delimited

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/textio"
)

// Rats are the exact numbers of a table.
type Rats struct {
	Values [][]*big.Rat    // by rows
	Format *halfulp.Format // that the file names for its numbers, nil for none
}

// ParseRats reads a table like [Parse], but every number is the rational number that it denotes.
// Numbers may be fractions.
func ParseRats(text []byte, name string, o Options) (*Rats, error) {
	t, err := o.prepare(text, name)
	if err != nil {
		return nil, err
	}
	numbers := textio.Rationals{Context: o.Context, Limit: o.MemoryLimit, Progress: o.Progress, Length: len(t.plain)}
	fail := func(pos int, err error) error {
		if ctx := o.Context.Err(); ctx != nil {
			return ctx
		}
		return &textio.Error{Name: name, Line: 1 + bytes.Count(t.plain[:pos], []byte{'\n'}), Err: err}
	}
	z := &Rats{}
	var row []*big.Rat
	named := 0 // variables of Octave
	all := part{Piece: textio.Piece{Text: t.plain, Line: 1}}
	at := 0 // byte of the number or line under way
	err = all.scan(func(word []byte, pos int) error {
		at = pos
		x, err := numbers.Parse(word, pos+len(word))
		if err != nil {
			return fmt.Errorf("column %d: %w", len(row)+1, err)
		}
		row = append(row, x)
		return nil
	}, func(start int, _ bool) error {
		if len(row) == 0 {
			return nil
		}
		at = start
		if len(z.Values) > 0 && len(row) != len(z.Values[0]) {
			return ragged(textio.Count(len(row), "number"), len(z.Values[0]))
		}
		z.Values = append(z.Values, row)
		row = make([]*big.Rat, 0, len(row))
		return nil
	}, func(c string) {
		if strings.HasPrefix(c, "name: ") {
			named++
		}
		if s, ok := strings.CutPrefix(c, formatComment); ok && z.Format == nil {
			if f, err := halfulp.ParseFormat(strings.TrimSpace(s)); err == nil {
				z.Format = &f
			}
		}
	})
	if err != nil {
		var place *textio.At
		if errors.As(err, &place) {
			at, err = place.Pos, place.Err
		}
		return nil, fail(at, err)
	}
	if t.octave && named > 1 {
		return nil, &textio.Error{Name: name, Err: errVariables}
	}
	if len(z.Values) == 0 {
		return nil, &textio.Error{Name: name, Err: errors.New("the file has no numbers")}
	}
	if o.Stats != nil {
		*o.Stats = halfulp.InputStats{Unended: t.unended, Digits: numbers.Extent.Longest()}
	}
	return z, nil
}

// WriteRats writes numbers, one row a line. Numbers that are no integers are fractions.
func WriteRats(w io.Writer, rows, cols int, values [][]*big.Rat, separator byte) error {
	if rows == 0 || cols == 0 {
		return fmt.Errorf("a %d x %d matrix: %w (.mtx holds it)", rows, cols, ErrEmpty)
	}
	b := bufio.NewWriter(w)
	for _, row := range values {
		for j, x := range row {
			if j > 0 {
				_ = b.WriteByte(separator) // Flush returns errors
			}
			_, _ = b.WriteString(x.RatString())
		}
		_ = b.WriteByte('\n')
	}
	return b.Flush()
}
