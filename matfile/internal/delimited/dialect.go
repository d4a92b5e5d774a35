package delimited

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/textio"
)

// Dialect is the Dialect of package matfile, which documents the fields.
type Dialect struct {
	Delimiter, Comment rune
	Skip               uint
	Header             bool
	Columns            []string
	DecimalComma       bool
}

// Blank is the delimiter that stands for white space of any length.
const Blank = ' '

// none reports whether all fields of a dialect have their zero values.
func (d *Dialect) none() bool {
	return d.Delimiter == 0 && d.Comment == 0 && d.Skip == 0 && !d.Header && len(d.Columns) == 0 && !d.DecimalComma
}

// plain reports whether a text needs no dialect: it consists of rows of numbers separated by commas
// or white space.
func (d *Dialect) plain(text []byte) bool {
	return d.none() && bytes.IndexByte(text, '"') < 0 && bytes.IndexByte(text, ';') < 0 && !namesFirst(text)
}

// namesFirst reports whether the first row of a text without quotes consists of names.
func namesFirst(text []byte) bool {
	for line := range bytes.Lines(text) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		some := false
		for f := range bytes.FieldsFuncSeq(line, func(c rune) bool { return c == ',' || c < utf8.RuneSelf && textio.IsSpace(byte(c)) }) {
			if some = isName(string(f)); !some {
				break
			}
		}
		return some
	}
	return false
}

// namesOnly reports whether fields are names: each field begins with a letter or is empty, at least
// one begins with a letter, and none is a number.
func namesOnly(fields []string) bool {
	other := func(f string) bool { return strings.TrimSpace(f) != "" && !isName(f) }
	return slices.ContainsFunc(fields, isName) && !slices.ContainsFunc(fields, other)
}

// isName reports whether a field begins with a letter and is no number.
func isName(f string) bool {
	f = strings.TrimSpace(f)
	first, _ := utf8.DecodeRuneInString(f)
	var e decimal.Extent
	return f != "" && first >= 'A' && e.Add([]byte(f), false) != nil
}

// rows calls row for each row of the text, with the number of its line, counted from 1.
func (d *Dialect) rows(text []byte, row func(line int, fields []string) error) error {
	if d.Delimiter == Blank {
		line := 0
		for l := range bytes.Lines(text) {
			line++
			if k := bytes.IndexRune(l, d.Comment); k >= 0 {
				l = l[:k]
			}
			fields, err := splitBlanks(string(l))
			if err != nil {
				return &rowError{line, err}
			}
			if len(fields) == 0 {
				continue
			}
			if err := row(line, fields); err != nil {
				return err
			}
		}
		return nil
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.Comment, r.FieldsPerRecord, r.ReuseRecord, r.TrimLeadingSpace = d.Delimiter, d.Comment, -1, true, true
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			return &rowError{bad.Line, bad.Err}
		}
		if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		if strings.TrimSpace(strings.Join(fields, "")) == "" && len(fields) == 1 {
			continue
		}
		if k := strings.IndexRune(fields[len(fields)-1], d.Comment); k >= 0 { // behind the numbers
			fields[len(fields)-1] = fields[len(fields)-1][:k]
		}
		if err := row(line, fields); err != nil {
			return err
		}
	}
}

// splitBlanks returns the fields of a line, which are separated by white space. A field in quotes
// may contain white space.
func splitBlanks(s string) (fields []string, err error) {
	blank := func(c rune) bool { return c < utf8.RuneSelf && textio.IsSpace(byte(c)) }
	for {
		if s = strings.TrimLeftFunc(s, blank); s == "" {
			return fields, nil
		}
		var field string
		if s[0] == '"' {
			var closed bool
			if field, s, closed = strings.Cut(s[1:], `"`); !closed || s != "" && !blank(rune(s[0])) {
				return nil, csv.ErrQuote
			}
		} else if end := strings.IndexFunc(s, blank); end >= 0 {
			field, s = s[:end], s[end:]
		} else {
			field, s = s, ""
		}
		fields = append(fields, field)
	}
}

// rowError is an error in a line.
type rowError struct {
	line int
	error
}

// detect returns the delimiter of the first row of a text.
func (d *Dialect) detect(text []byte) rune {
	for line := range bytes.Lines(text) {
		quoted := false
		found := map[rune]bool{}
		content := false
		for _, c := range string(line) {
			if c == d.Comment && !quoted {
				break
			}
			if c == '"' {
				quoted = !quoted
			}
			if !quoted && (c == ';' || c == ',' || c == '\t') {
				found[c] = true
			}
			content = content || c > ' '
		}
		if !content {
			continue
		}
		for _, c := range []rune{';', '\t', ','} {
			if found[c] && (c != ',' || !d.DecimalComma) {
				return c
			}
		}
		return Blank
	}
	return Blank
}

// rewrite turns a text into rows of numbers separated by commas, which keep their line numbers. It
// also returns the interpretation of the fields.
func (d Dialect) rewrite(text []byte, name string) (plain []byte, l *layout, err error) {
	fail := func(line int, err error) ([]byte, *layout, error) {
		return nil, nil, &textio.Error{Name: name, Line: line, Err: err}
	}
	if d.Comment == 0 {
		d.Comment = '#'
	}
	skipped := 0
	for ; uint(skipped) < d.Skip && len(text) > 0; skipped++ {
		_, text, _ = bytes.Cut(text, []byte{'\n'})
	}
	if d.Delimiter == 0 {
		d.Delimiter = d.detect(text)
	}
	plain = bytes.Repeat([]byte{'\n'}, skipped)
	at := 1 // number of the line written next
	var header []string
	headerLine := 0
	err = d.rows(text, func(line int, fields []string) error {
		if l == nil {
			if headerLine == 0 && (d.Header || namesOnly(fields)) {
				header, headerLine = slices.Clone(fields), line
				return nil
			}
			var err error
			if l, err = d.layout(header, fields); err != nil {
				if headerLine > 0 {
					line = headerLine
				}
				return &rowError{line, err}
			}
		}
		if err := l.check(fields); err != nil {
			return &rowError{line, err}
		}
		for ; at < line; at++ {
			plain = append(plain, '\n')
		}
		for i, c := range l.columns {
			if c >= len(fields) {
				return &rowError{line, fmt.Errorf("there is no column %d in a row of %s", c+1, textio.Count(len(fields), "field"))}
			}
			f, err := d.number(fields[c])
			if err != nil {
				return &rowError{line, err}
			}
			if i > 0 {
				plain = append(plain, ',')
			}
			plain = append(plain, f...)
		}
		return nil
	})
	var bad *rowError
	if errors.As(err, &bad) {
		return fail(skipped+bad.line, bad.error)
	}
	if err != nil {
		return nil, nil, err
	}
	plain = append(plain, '\n')
	// The comment that names a format may be anywhere in the text.
	if k := bytes.Index(text, []byte("# "+formatComment)); k >= 0 && d.Comment == '#' {
		line, _, _ := bytes.Cut(text[k:], []byte{'\n'})
		plain = append(append(plain, line...), '\n')
	}
	return plain, l, nil
}

// rewriting returns about the number of bytes that rewrite needs: for the text, its copy, and the
// fields of the longest line.
func rewriting(text []byte) float64 {
	const long, field = 1 << 16, 48 // bytes of a slice, positions and a string for each field
	most := 0.0
	for line := range bytes.Lines(text) {
		if len(line) < long {
			continue
		}
		n := 1
		for _, c := range []byte(",;\t |") {
			n += bytes.Count(line, []byte{c})
		}
		most = max(most, float64(2*len(line)+field*n))
	}
	return float64(2*len(text)) + most
}

// layout is the choice of the fields of a row that are read.
type layout struct {
	columns []int
	width   int      // fields of every row; 0: any number
	named   bool     // columns are chosen by names
	header  int      // names in the header
	rows    bool     // the first field of a row is its name, and the header has no name for it
	names   []string // names of the columns that are read; nil without a header
	// the interpretation of a first row with words, unless the options determine it
	note string
}

// layout interprets the fields of the first row under a header; header is nil if there is none. If
// the header has one name less than the row has fields, as R writes it, or if its first name is
// empty, the first field of a row is the row's name.
func (d *Dialect) layout(header, fields []string) (*layout, error) {
	l := &layout{header: len(header)}
	row := func(fields []string) string { return strings.Join(fields, string(d.Delimiter)) }
	blank := func(f string) bool { return strings.TrimSpace(f) == "" }
	if header == nil {
		header = fields
		if slices.ContainsFunc(fields, isName) {
			l.note = fmt.Sprintf("the first row is taken for numbers: %q: --header, if they are names", shortened(row(fields)))
		}
	} else {
		l.rows = len(fields) == l.header+1 && !blank(fields[l.header])
		if !d.Header {
			l.note = fmt.Sprintf("the first row is taken for a header: %q", shortened(row(header)))
		}
	}
	first := 0 // the field that the first name of the header belongs to
	if l.rows {
		first = 1
	}
	var err error
	if l.columns, l.named, err = d.columns(header, l.header > 0, first); err != nil {
		return nil, err
	}
	unnamed := l.rows || l.header > 1 && blank(header[0]) && !slices.ContainsFunc(header[1:], blank)
	if len(d.Columns) == 0 {
		l.width = len(fields)
		from := 0
		if unnamed {
			from = 1
		}
		for k := from; k < l.width; k++ {
			l.columns = append(l.columns, k)
		}
	}
	if l.header > 0 {
		for _, c := range l.columns {
			name := ""
			if k := c - first; k >= 0 && k < l.header {
				name = strings.Join(strings.Fields(header[k]), " ")
			}
			l.names = append(l.names, name)
		}
	}
	if unnamed && (l.named && l.rows || len(d.Columns) == 0) {
		if l.note != "" {
			l.note += "; "
		}
		l.note += fmt.Sprintf("the first field of each row, for which the header has no name, is taken for the row's name: --columns 1-%d reads it, too", len(fields))
	}
	return l, nil
}

// shortened returns s for a message, with an ellipsis in place of the text after its first 60
// characters.
func shortened(s string) string {
	const most = 60
	n := 0
	for k := range s {
		if n++; n > most {
			return strings.TrimSpace(s[:k]) + "…"
		}
	}
	return s
}

// check returns an error for a row whose number of fields does not fit the layout.
func (l *layout) check(fields []string) error {
	if l.width > 0 && len(fields) != l.width {
		return ragged(textio.Count(len(fields), "field"), l.width)
	}
	if l.rows && strings.TrimSpace(fields[len(fields)-1]) == "" { // the row ends with a delimiter
		return errField
	}
	want := l.header
	if l.rows {
		want++
	}
	if l.named && len(fields) != want {
		return fmt.Errorf("a row of %s under a header of %d, so names do not tell columns: choose them by number", textio.Count(len(fields), "field"), l.header)
	}
	return nil
}

// number returns a field as the text of a number in a plain table, or an error if the field
// contains a character that would end a number there.
func (d *Dialect) number(field string) (string, error) {
	field = strings.TrimSpace(field)
	f := field
	if d.DecimalComma {
		f = strings.Replace(f, ",", ".", 1)
	}
	switch {
	case f == "":
		return "", errField
	case !d.DecimalComma && strings.Contains(f, ","):
		return "", fmt.Errorf("%.40q is not a number: --decimal-comma takes its comma for a decimal point", field)
	case d.DecimalComma && thousands(field):
		return "", fmt.Errorf("%.40q has a point, as thousands may: with --decimal-comma write it without or with a comma", field)
	case strings.Count(f, ".") > 1 || strings.ContainsFunc(f, func(c rune) bool { return c == ',' || c == '#' || c < utf8.RuneSelf && textio.IsSpace(byte(c)) }):
		return "", fmt.Errorf("%.40q is not a number", field)
	}
	return f, nil
}

// thousands reports whether the point of a number may separate thousands, if the decimal sign is a
// comma: 1.234 then more often means one thousand than one.
func thousands(f string) bool {
	f = strings.TrimLeft(f, "+-")
	point := len(f) - 4
	if point < 1 || point > 3 || f[0] == '0' || f[point] != '.' {
		return false
	}
	for i := range len(f) {
		if i != point && (f[i] < '0' || f[i] > '9') {
			return false
		}
	}
	return true
}

// ErrNoColumn is the error for a column without a number or a name.
var ErrNoColumn = errors.New("the name of a column is empty")

// SplitColumns splits a list of columns at its commas. A name in quotes may contain commas; two
// quotes in it stand for one.
func SplitColumns(list string) (all []string, err error) {
	for more := true; more; {
		var c string
		if strings.HasPrefix(list, `"`) {
			end := closing(list)
			if end < 0 || end+1 < len(list) && list[end+1] != ',' {
				return nil, fmt.Errorf("%.40s: a quote must end a name that begins with one; two quotes within it stand for one", list)
			}
			c = strings.ReplaceAll(list[1:end], `""`, `"`)
			_, list, more = strings.Cut(list[end+1:], ",")
		} else {
			c, list, more = strings.Cut(list, ",")
		}
		if c == "" {
			return nil, ErrNoColumn
		}
		all = append(all, c)
	}
	return all, nil
}

// closing returns the position of the quote that closes the quote at the beginning of s, -1 if
// there is none.
func closing(s string) int {
	for k := 1; k < len(s); k++ {
		switch {
		case s[k] != '"':
		case k+1 < len(s) && s[k+1] == '"':
			k++
		default:
			return k
		}
	}
	return -1
}

// columnName returns a name as it is written in a list of columns.
func columnName(name string) string {
	name = strings.TrimSpace(name)
	if !strings.Contains(name, ",") && !strings.HasPrefix(name, `"`) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// columns returns the fields to read, nil for all, and whether a column was found by its name. If
// names is true, first is the header, and its first name belongs to field from.
func (d *Dialect) columns(first []string, names bool, from int) (all []int, byName bool, err error) {
	for _, c := range d.Columns {
		if c == "" {
			return nil, false, ErrNoColumn
		}
		if names {
			called := func(f string) bool { return strings.TrimSpace(f) == c }
			if k := slices.IndexFunc(first, called); k >= 0 {
				if slices.ContainsFunc(first[k+1:], called) {
					return nil, false, fmt.Errorf("two columns are called %q: choose one by its number", c)
				}
				all, byName = append(all, from+k), true
				continue
			}
		}
		low, high, ranged := strings.Cut(c, "-")
		if !ranged {
			high = low
		}
		begin, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || begin < 1 || to < begin || to > math.MaxInt32 {
			what := "there is no header"
			meant := ""
			if names {
				known := make([]string, len(first))
				for k, name := range first {
					known[k] = columnName(name)
				}
				what = "the header has " + shortened(strings.Join(known, ", "))
				meant = textio.DidYouMean(c, known)
			}
			return nil, false, fmt.Errorf("there is no column %q: %s%s", c, what, meant)
		}
		if to > from+len(first) {
			return nil, false, fmt.Errorf("there is no column %d in a row of %s", to, textio.Count(from+len(first), "field"))
		}
		for k := begin; k <= to; k++ {
			all = append(all, k-1)
		}
	}
	return all, byName, nil
}
