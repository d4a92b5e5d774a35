package matrixmarket

import (
	"bytes"
	"errors"
	"fmt"
	"sort"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/textio"
)

// entry is a line of a coordinate file: its place i + j rows, and the bounds of its number in the
// text of its piece.
type entry struct {
	place      int64
	start, end int
}

// one is the text of every entry of a pattern.
var one = []byte("1")

func (rd *reader) token(p *textio.Piece, e entry) []byte {
	if rd.pattern {
		return one
	}
	return p.Text[e.start:e.end]
}

// coordinates reads the entries of a coordinate file.
func (rd *reader) coordinates() (*halfulp.Matrix, error) {
	entries := make([][]entry, len(rd.pieces))
	extents := make([]decimal.Extent, len(rd.pieces))
	// Places are computed as i + j rows, which must not overflow.
	if rd.rows > 0 && rd.cols > (1<<62)/rd.rows {
		return nil, rd.allocate(decimal.Extent{})
	}
	err := rd.each(func(p *textio.Piece) error {
		var all []entry
		for start := 0; start < len(p.Text); {
			end := len(p.Text)
			if k := bytes.IndexByte(p.Text[start:], '\n'); k >= 0 {
				end = start + k + 1
			}
			e, ok, err := rd.line(p.Text, start, end, &extents[p.Index])
			if err != nil {
				return &textio.At{Pos: start, Err: err}
			}
			if ok {
				all = append(all, e)
			}
			start = end
		}
		entries[p.Index] = all
		return nil
	})
	if err != nil {
		return nil, err
	}
	var extent decimal.Extent
	total := int64(0)
	for k, e := range entries {
		extent.Merge(extents[k])
		total += int64(len(e))
		if total > rd.entries {
			return nil, rd.tooManyLines(k, int64(len(e))-(total-rd.entries))
		}
	}
	if total < rd.entries {
		return nil, rd.truncated(total, rd.entries)
	}
	// The memory is checked before the search for places that occur more than once.
	again, check := rd.againDense, rd.dense
	if rd.sparse {
		again, check = rd.againSparse, rd.listed
	}
	if _, err := check(extent); err != nil {
		return nil, err
	}
	repeated := repeated(again(entries), entries)
	rd.addSums(&extent, repeated)
	f, err := check(extent)
	if err != nil {
		return nil, err
	}
	if rd.sparse {
		rd.make(f, len(rd.places), 1)
	} else {
		rd.make(f, int(rd.rows), int(rd.cols))
	}
	err = rd.each(func(p *textio.Piece) error {
		losses := &rd.losses[p.Index]
		c := decimal.Borrow(rd.to.Arr.Format)
		defer c.Return()
		for _, e := range entries[p.Index] {
			if repeated != nil && repeated[e.place] != nil {
				continue
			}
			loss, err := rd.setPlace(c, e.place, rd.token(p, e))
			if err != nil {
				return &textio.At{Pos: e.start, Err: err}
			}
			losses.Add(loss, e.start)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rd.m, rd.addRepeated(repeated)
}

func (rd *reader) setPlace(c *decimal.Codec, place int64, tok []byte) (decimal.Loss, error) {
	return rd.set(c, int(place%rd.rows), int(place/rd.rows), tok)
}

// line reads the line text[start:end]. ok is false for blank lines and comments.
func (rd *reader) line(text []byte, start, end int, extent *decimal.Extent) (e entry, ok bool, err error) {
	var words [4][2]int
	n := 0
	for pos := start; ; n++ {
		s, t := next(text[:end], pos)
		if s == t {
			break
		}
		if n < len(words) {
			words[n] = [2]int{s, t}
		}
		pos = t
	}
	if n == 0 {
		return e, false, nil
	}
	want := 3
	if rd.pattern {
		want = 2
	}
	if n != want {
		if rd.pattern {
			return e, false, fmt.Errorf("%d words, not 2: row, column", n)
		}
		return e, false, fmt.Errorf("%d words, not 3: row, column, number", n)
	}
	i, err := index(text[words[0][0]:words[0][1]], "row", rd.rows)
	if err != nil {
		return e, false, err
	}
	j, err := index(text[words[1][0]:words[1][1]], "column", rd.cols)
	if err != nil {
		return e, false, err
	}
	if rd.symmetry != general && i < j {
		return e, false, errAbove
	}
	if rd.symmetry == skew && i == j {
		return e, false, errors.New("an entry on the diagonal of a skew-symmetric matrix")
	}
	e.place = i + j*rd.rows
	if !rd.pattern {
		e.start, e.end = words[2][0], words[2][1]
		err = rd.extend(extent, text[e.start:e.end])
	}
	return e, true, err
}

// index reads an index from 1 to n and returns it minus 1.
func index(word []byte, what string, n int64) (int64, error) {
	x := int64(0)
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%s index %q is no whole number", what, clip(string(word)))
		}
		if x = x*10 + int64(c-'0'); x > 1<<58 {
			break
		}
	}
	if x < 1 || x > n {
		return 0, fmt.Errorf("%s index %s out of range 1 to %d", what, clip(string(word)), n)
	}
	return x - 1, nil
}

// tooManyLines returns the error for the entry after the first n of piece k.
func (rd *reader) tooManyLines(k int, n int64) error {
	p := rd.pieces[k]
	line := p.Line
	for rest := p.Text; ; line++ {
		var l []byte
		l, rest = cutLine(rest)
		if s, t := next(l, 0); s < t {
			if n == 0 {
				break
			}
			n--
		}
	}
	return &textio.Error{Name: rd.name, Line: line, Err: fmt.Errorf("more entries than the %d of the size line", rd.entries)}
}

// againDense returns a map whose keys are the places that occur more than once, or nil if no place
// does.
func (rd *reader) againDense(entries [][]entry) map[int64][]place {
	seen := make([]uint64, (rd.rows*rd.cols+63)/64)
	var again map[int64][]place
	for _, piece := range entries {
		for _, e := range piece {
			w, b := e.place>>6, uint64(1)<<uint(e.place&63)
			if seen[w]&b != 0 {
				if again == nil {
					again = map[int64][]place{}
				}
				again[e.place] = []place{}
			}
			seen[w] |= b
		}
	}
	return again
}

// repeated sets the value of each place in again to all entries of this place, in the order of the
// file.
func repeated(again map[int64][]place, entries [][]entry) map[int64][]place {
	if again == nil {
		return nil
	}
	for k, piece := range entries {
		for _, e := range piece {
			if l, ok := again[e.place]; ok {
				again[e.place] = append(l, place{k, e})
			}
		}
	}
	return again
}

// addSums extends e by the sums of integers and hexadecimal numbers at repeated places: these sums
// are kept exactly, like single numbers. Sums of other decimals are rounded to the format that
// holds the single numbers.
func (rd *reader) addSums(e *decimal.Extent, repeated map[int64][]place) {
	for _, list := range repeated {
		var terms decimal.Extent
		toks := rd.tokens(list)
		for _, tok := range toks {
			_ = terms.Add(tok, false) // no error: they were read before
		}
		if terms.Digits > 0 {
			continue
		}
		const limit = 1 << 20
		if sum, err := decimal.Sum(toks); err == nil { // addRepeated returns the error
			n, _ := decimal.ExactBits(sum, limit)
			e.Bits = max(e.Bits, n)
		}
	}
}

// tokens returns the texts of the numbers of entries.
func (rd *reader) tokens(list []place) [][]byte {
	toks := make([][]byte, len(list))
	for i, q := range list {
		toks[i] = rd.token(&rd.pieces[q.piece], q.entry)
	}
	return toks
}

// place identifies an entry by its piece.
type place struct {
	piece int
	entry entry
}

// addRepeated stores the exact sums of entries that name the same place.
func (rd *reader) addRepeated(repeated map[int64][]place) error {
	keys := make([]int64, 0, len(repeated))
	for k := range repeated {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(a, b int) bool { return keys[a] < keys[b] })
	c := decimal.Borrow(rd.to.Arr.Format)
	defer c.Return()
	for _, k := range keys {
		if err := rd.Context.Err(); err != nil {
			return err
		}
		toks := rd.tokens(repeated[k])
		last := repeated[k][len(repeated[k])-1]
		var loss decimal.Loss
		sum, err := decimal.Sum(toks)
		if err == nil {
			loss, err = rd.setPlace(c, k, sum)
		}
		if err != nil {
			p := rd.pieces[last.piece]
			line := p.Line + bytes.Count(p.Text[:last.entry.start], []byte{'\n'})
			return &textio.Error{Name: rd.name, Line: line, Err: fmt.Errorf("entry (%d, %d) is given %d times: %w",
				k%rd.rows+1, k/rd.rows+1, len(toks), err)}
		}
		rd.losses[last.piece].Add(loss, last.entry.start)
	}
	return nil
}
