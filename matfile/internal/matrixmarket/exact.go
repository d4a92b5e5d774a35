package matrixmarket

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/textio"
)

// Rats are the exact numbers of a file.
type Rats struct {
	Rows, Cols int
	Values     [][]*big.Rat    // by rows
	Format     *halfulp.Format // that the file names for its numbers, nil for none
}

// ParseRats reads a text like [Parse], but every number is the rational number that it denotes.
// Numbers may be fractions. Entries of a coordinate file that name the same place are added.
func ParseRats(text []byte, name string, opt *Options) (*Rats, error) {
	o := opt.filled()
	text = textio.EndLines(text, o.Threads)
	h, err := anyHeader(name, text)
	if err != nil {
		return nil, err
	}
	rd := &reader{Options: o, header: h, name: name}
	// A row without entries takes memory as well.
	need := float64(h.rows) * (24 + 8*float64(h.cols)) // may fuse: an estimate
	if need > float64(o.MemoryLimit) || h.rows > maxSide || h.cols > maxSide {
		return nil, rd.sizeError(fmt.Errorf("a dense %d x %d matrix of exact numbers needs at least %s, the memory limit is %s",
			h.rows, h.cols, textio.Bytes(need), textio.Bytes(float64(o.MemoryLimit))))
	}
	x := &exactReader{reader: rd, z: &Rats{Rows: int(h.rows), Cols: int(h.cols), Format: h.format, Values: make([][]*big.Rat, h.rows)}}
	for i := range x.z.Values {
		x.z.Values[i] = make([]*big.Rat, h.cols)
	}
	x.numbers = textio.Rationals{Context: o.Context, Limit: o.MemoryLimit, Progress: o.Progress, Length: len(h.body)}
	if h.coordinate {
		err = x.coordinates()
	} else {
		err = x.array()
	}
	if err != nil {
		return nil, err
	}
	if opt != nil && opt.Stats != nil {
		*opt.Stats = halfulp.InputStats{Unended: textio.Unended(h.body, h.bodyLine), Digits: x.numbers.Extent.Longest()}
	}
	zero := new(big.Rat)
	for _, row := range x.z.Values {
		for k := range row {
			if row[k] == nil {
				row[k] = zero
			}
		}
	}
	return x.z, nil
}

type exactReader struct {
	*reader
	z       *Rats
	numbers textio.Rationals
}

// set adds the number tok, which ends at byte end of the body, to entry (i, j).
func (x *exactReader) set(i, j int, tok []byte, end int) error {
	v, err := x.numbers.Parse(tok, end)
	switch {
	case err != nil:
	case x.integer && !v.IsInt():
		err = fmt.Errorf("%s is no integer, in a file of integers", clip(string(tok)))
	case x.unsigned && v.Sign() < 0:
		err = fmt.Errorf("%s is negative, in a file of unsigned integers", clip(string(tok)))
	}
	if err != nil {
		return fmt.Errorf("row %d, column %d: %w", i+1, j+1, err)
	}
	x.add(i, j, v)
	if x.symmetry == general || i == j {
		return nil
	}
	if x.symmetry == skew {
		v = new(big.Rat).Neg(v)
	}
	x.add(j, i, v)
	return nil
}

func (x *exactReader) add(i, j int, v *big.Rat) {
	if old := x.z.Values[i][j]; old != nil {
		v = new(big.Rat).Add(old, v)
	}
	x.z.Values[i][j] = v
}

// fail returns an error at byte pos of the body.
func (x *exactReader) fail(pos int, err error) error {
	if ctx := x.Context.Err(); ctx != nil {
		return ctx
	}
	return &textio.Error{Name: x.name, Line: x.bodyLine + bytes.Count(x.body[:pos], []byte{'\n'}), Err: err}
}

// array reads the entries of an array file.
func (x *exactReader) array() error {
	i, j := x.position(0)
	have, want := int64(0), x.entriesOfArray()
	for start, end := next(x.body, 0); start < end; start, end = next(x.body, end) {
		if have++; have > want {
			return x.fail(start, fmt.Errorf("more than the %s of a %d x %d matrix", textio.Count(want, "entry"), x.rows, x.cols))
		}
		if err := x.set(i, j, x.body[start:end], end); err != nil {
			return x.fail(start, err)
		}
		if i++; i == int(x.rows) {
			j++
			i = x.firstRow(j)
		}
	}
	if have < want {
		return x.fail(len(bytes.TrimRight(x.body, " \t\r\n")), errTruncated(have, want))
	}
	return nil
}

// coordinates reads the entries of a coordinate file.
func (x *exactReader) coordinates() error {
	have := int64(0)
	for start := 0; start < len(x.body); {
		end := len(x.body)
		if k := bytes.IndexByte(x.body[start:], '\n'); k >= 0 {
			end = start + k + 1
		}
		found, err := x.entry(start, end)
		if found {
			have++
		}
		if err == nil && have > x.entries {
			err = fmt.Errorf("more entries than the %d of the size line", x.entries)
		}
		if err != nil {
			return x.fail(start, err)
		}
		start = end
	}
	if have < x.entries {
		return x.fail(len(bytes.TrimRight(x.body, " \t\r\n")), errTruncated(have, x.entries))
	}
	return nil
}

// entry reads the line from byte start to byte end of the body. found is false for blank lines and
// comments.
func (x *exactReader) entry(start, end int) (found bool, err error) {
	var words [][]byte
	for s, t := next(x.body[:end], start); s < t; s, t = next(x.body[:end], t) {
		words = append(words, x.body[s:t])
	}
	switch want := 3; {
	case len(words) == 0:
		return false, nil
	case x.pattern && len(words) == 2:
		words = append(words, one)
	case x.pattern:
		return true, fmt.Errorf("%d words, not 2: row, column", len(words))
	case len(words) != want:
		return true, fmt.Errorf("%d words, not 3: row, column, number", len(words))
	}
	i, err := index(words[0], "row", x.rows)
	if err != nil {
		return true, err
	}
	j, err := index(words[1], "column", x.cols)
	if err != nil {
		return true, err
	}
	switch {
	case x.symmetry != general && i < j:
		return true, errAbove
	case x.symmetry == skew && i == j:
		return true, errors.New("an entry on the diagonal of a skew-symmetric matrix")
	}
	return true, x.set(int(i), int(j), words[2], end)
}

// WriteRats writes numbers as an array of the field integer or, if one is a fraction, of the field
// rational, which is an extension: other programs refuse it. [ParseRats] reads both.
func WriteRats(w io.Writer, rows, cols int, values [][]*big.Rat) error {
	field := "integer"
	for _, row := range values {
		for _, x := range row {
			if !x.IsInt() {
				field = rationalField
			}
		}
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s matrix array %s general\n%d %d\n", Banner, field, rows, cols)
	for j := range cols {
		for i := range rows {
			_, _ = b.WriteString(values[i][j].RatString()) // Flush returns errors
			_ = b.WriteByte('\n')
		}
	}
	return b.Flush()
}
