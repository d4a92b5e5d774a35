package delimited

import (
	"bytes"
	"errors"
	"strings"

	"github.com/halfulp/halfulp/internal/textio"
)

var errField = errors.New("an empty field")

// part is a part of a text: whole lines, or some fields or a comment of a long line.
type part struct {
	textio.Piece
	within  bool // its first line began in an earlier part
	open    bool // its last line goes on in the next part
	commas  bool // if within or open: commas separate the fields of the first line
	comment bool // if within: the first line is a comment, from its # on
}

// partSize bounds the bytes of a part, unless one field is longer. It is small enough to keep all
// threads busy, and large enough to make the cost per part negligible.
const partSize = 1 << 18

// cutter cuts a text into parts.
type cutter struct {
	size int // size of a part, partSize except in tests
	line int // number of the line under way
	// as in part, for the line under way
	within, commas, comment bool
}

// cut returns the parts at the beginning of text, and the number of bytes that they take. It
// returns no parts if the first part needs more text. last means that text reaches to the end. The
// parts share the memory of text.
func (c *cutter) cut(text []byte, last bool) (parts []part, used int) {
	for used < len(text) {
		rest := text[used:]
		window := rest[:min(len(rest), c.size)]
		p := part{Piece: textio.Piece{Line: c.line}, within: c.within, commas: c.commas, comment: c.comment}
		end, skip := bytes.LastIndexByte(window, '\n')+1, 0
		switch {
		case len(window) == len(rest) && last:
			end = len(rest)
		case end > 0:
		case len(window) == len(rest):
			return parts, used
		default:
			var ok bool
			if end, skip, ok = c.long(&p, rest, last); !ok {
				return parts, used
			}
		}
		p.Text = rest[:end]
		p.Lines = bytes.Count(p.Text, []byte{'\n'})
		c.line += p.Lines
		if !p.open {
			c.within, c.commas, c.comment = false, false, false
		}
		parts = append(parts, p)
		used += end + skip
	}
	if last && c.within && c.commas && !c.comment { // the last field is empty
		parts = append(parts, part{Piece: textio.Piece{Line: c.line}, within: true, commas: true})
		c.within = false
	}
	return parts, used
}

// long cuts a part off a line that does not end within the size of a part. The part ends after a
// field and the line goes on after it, perhaps after skip bytes that belong to no part. ok is false
// if more text is needed.
func (c *cutter) long(p *part, rest []byte, last bool) (end, skip int, ok bool) {
	window := rest[:c.size]
	if !c.within {
		line, _, whole := bytes.Cut(rest, []byte{'\n'})
		line, _, comment := bytes.Cut(line, []byte{'#'})
		c.commas = bytes.IndexByte(line, ',') >= 0
		p.commas = c.commas
		const enough = 8 // parts of a line without a comma that decide that it has none
		if !whole && !comment && !c.commas && !last && len(rest) < enough*c.size {
			return 0, 0, false
		}
	}
	hash := bytes.IndexByte(window, '#')
	if hash == 0 && !(c.within && c.commas && !c.comment) { // not after a comma: comments are whole
		if end = bytes.IndexByte(rest, '\n') + 1; end == 0 {
			end = len(rest)
			return end, 0, last
		}
		return end, 0, true
	}
	separates := func(r rune) bool { return c.commas && r == ',' || !c.commas && r < 0x80 && textio.IsSpace(byte(r)) }
	end = hash
	if end < 0 {
		end = bytes.LastIndexFunc(window, separates)
	}
	if end < 0 || end == 0 && !c.commas {
		end = bytes.IndexFunc(rest[1:], func(r rune) bool { return separates(r) || r == '#' || r == '\n' }) + 1
		if end == 0 && !last {
			return 0, 0, false
		}
		if end == 0 || rest[end] == '\n' {
			if end++; end == 1 {
				end = len(rest)
			}
			return end, 0, true
		}
	}
	p.open, c.within, c.comment = true, true, rest[end] == '#'
	if rest[end] == ',' {
		skip = 1
	}
	return end, skip, true
}

// scan calls word for every number of the part and comment, if not nil, for every comment. After
// the numbers of each line it calls line with the position of the line, and with whether the line
// ends in the part.
func (p *part) scan(word func(w []byte, pos int) error, line func(start int, ended bool) error, comment func(string)) error {
	for start, more := 0, true; more; {
		end := len(p.Text)
		if k := bytes.IndexByte(p.Text[start:], '\n'); k >= 0 {
			end = start + k + 1
		}
		text, special := p.Text[start:end], start == 0 && (p.within || p.open)
		hash := bytes.IndexByte(text, '#')
		if hash >= 0 {
			if comment != nil {
				comment(strings.TrimSpace(string(text[hash+1:])))
			}
			text = text[:hash]
		}
		commas := special && p.commas || !special && bytes.IndexByte(text, ',') >= 0
		if !special || !p.comment {
			if err := eachWord(text, start, commas, word); err != nil {
				return err
			}
		}
		ended := !p.open || end > 0 && p.Text[end-1] == '\n'
		if err := line(start, ended); err != nil {
			return err
		}
		start, more = end, end < len(p.Text)
	}
	return nil
}

// eachWord calls word for every number of a line, or of some fields of it, that begins at position
// pos. Commas separate the numbers if commas is true, otherwise white space.
func eachWord(line []byte, pos int, commas bool, word func(w []byte, pos int) error) error {
	if !commas {
		for i := 0; i < len(line); {
			if textio.IsSpace(line[i]) {
				i++
				continue
			}
			start := i
			for i < len(line) && !textio.IsSpace(line[i]) {
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
			return &textio.At{Pos: pos + max(0, min(start, len(line)-1)), Err: errField}
		}
		if err := word(w, pos+start); err != nil {
			return err
		}
		start = end + 1
	}
	return nil
}
