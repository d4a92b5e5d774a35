package delimited

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
)

func options(threads int) Options {
	return Options{Threads: threads, MemoryLimit: 1 << 26, Context: context.Background(), Separator: ','}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"one", "5", "5\n"},
		{"commas", "1,2.5\n-3 , 4e1\r\n", "1 2.5\n-3 40\n"},
		{"white space", " 1\t2 \n\n3 4", "1 2\n3 4\n"},
		{"mixed", "1 2\n3,4\n", "1 2\n3 4\n"},
		{"comments", "# x, y\n1 2 # end\n\n  # more\n3 4#\n", "1 2\n3 4\n"},
		{"carriage returns", "1 2\r# c\r3 4\r", "1 2\n3 4\n"},
		{"mixed ends of lines", "1,2\r3,4\n5,6\r\n7,8", "1 2\n3 4\n5 6\n7 8\n"},
		{"all of C's white space", "1\v2\f\n\t3 \v, 4\f\n", "1 2\n3 4\n"},
		{"byte order mark", "\ufeff1,2\n", "1 2\n"},
		{"numbers", "0x1.8p1,1D2,inf,-nan,+.5\n", "3 100 inf nan 0.5\n"},
	} {
		m, err := Parse([]byte(c.in), "a.csv", options(2))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := strings.Join(strings.Fields(m.String()), " "); got != strings.Join(strings.Fields(c.want), " ") || m.Rows() != strings.Count(c.want, "\n") {
			t.Errorf("%s: got\n%v", c.name, m)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "a.csv: the file has no numbers"},
		{"# nothing\n\n", "a.csv: the file has no numbers"},
		{"1.5`30. 2.5*^-5\n", "a.csv:1: \"1.5`30.\" is not a number: Mathematica's precision, ` and what follows it, "},
		{"1,2.5*^-5\n", `a.csv:1: "2.5*^-5" is not a number: an exponent follows e, not *^`},
		{"{{1, 2}, {3, 4}}\n", `a.csv:1: "{{1" is not a number: a list is written as rows of numbers, without brackets`},
		{"1//3\n", `a.csv:1: "1//3" is not a number: a fraction is written as a decimal`},
		{"1 −2\n", `a.csv:1: "−2" is not a number: its minus sign is not that of ASCII, -`},
		{"x,1\n1,2\n", `a.csv:1: "x" is not a number`},
		{"x,y\n1,2\nz,3\n", `a.csv:3: "z" is not a number`},
		{"x,y\n", "a.csv: the file has no numbers"},
		{"1,2\n3\n", "a.csv:2: a row of 1 number after rows of 2"},
		{"1 2\n\n3 4 5\n", "a.csv:3: a row of 3 numbers after rows of 2"},
		{"1,2\n3,,4\n", "a.csv:2: an empty field"},
		{"1,2\n3,4,\n", "a.csv:2: an empty field"},
		{",", "a.csv:1: an empty field"},
		{"1;2,5\n", `a.csv:1: "2,5" is not a number: --decimal-comma `},
		{"1;2\n3;;\n", "a.csv:2: a row of 3 fields after rows of 2"},
		{"1;2\n3;\n", "a.csv:2: an empty field"},
		{"\"1\",\"2 3\"\n", `a.csv:1: "2 3" is not a number`},
		{"\"1\",\"2\n", "a.csv:1: extraneous"},
		{"1 2+3i\n", "a.csv:1:"},
		// Bytes that are no text, such as half of UTF-16, separate nothing.
		{"1\x00\n\x002\x00\n\x00", `a.csv:1: "1\x00" is not a number: it has a byte 0x00`},
		{"\x001\x00\n", `a.csv:1: "\x001\x00" is not a number: it has a byte 0x00`},
		{"1,2\n3\x00,4\n", `a.csv:2: "3\x00" is not a number: it has a byte 0x00`},
		{"1 2\n3\x1f4\n", `a.csv:2: "3\x1f4" is not a number: it has a byte 0x1f`},
		{"1 2\r3 4\r5 \b6\r", `a.csv:3: "\b6" is not a number: it has a byte 0x08`},
		{"1\n\x1a", `a.csv:2: "\x1a" is not a number: it has a byte 0x1a`},
		{"1,\u00a02\n", `a.csv:1: "\u00a02" is not a number`},
		{strings.Repeat("1 2\n", 200000) + "1\n" + strings.Repeat("1 2\n", 100), "a.csv:200001: a row of 1"},
		{strings.Repeat("1 2\n", 200000) + strings.Repeat("1\n", 200000), "a.csv:200001: a row of 1"},
		{strings.Repeat("1 2\n", 200000) + "y 2\n" + strings.Repeat("x 2\n", 100000), `a.csv:200001: "y" is`},
	} {
		for _, threads := range []int{1, 4} {
			if _, err := Parse([]byte(c.in), "a.csv", options(threads)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%.40q: %v, want %s", c.in, err, c.want)
			}
		}
	}
	o := options(1)
	o.In = halfulp.Exactly(halfulp.MP(1 << 20))
	if _, err := Parse([]byte(strings.Repeat("1 ", 1000)), "a", o); err == nil || !strings.Contains(err.Error(), "needs") {
		t.Errorf("no limit: %v", err)
	}
}

// TestDialects reads tables as spreadsheets and other programs write them.
func TestDialects(t *testing.T) {
	for _, c := range []struct {
		name, in string
		d        Dialect
		want     string // rows, or the beginning of an error
		header   string // that is found, or behind "no: " a row of words and numbers that is none
	}{
		{"header", "x,y\n1,2\n3,4\n", Dialect{}, "1 2\n3 4\n", "x,y"},
		{"header with blanks", "time height\n1 2\n", Dialect{}, "1 2\n", "time height"},
		{"header after comments", "# c\n\nx,y\n1,2\n", Dialect{}, "1 2\n", "x,y"},
		{"spreadsheet", "\ufeff\"Größe; m\";\"Preis\"\r\n\"1,5\";2\r\n-3;4e1\r\n", Dialect{DecimalComma: true}, "1.5 2\n-3 40\n", "Größe; m;Preis"},
		{"header of numbers", "1990,1991\n1,2\n", Dialect{Header: true}, "1 2\n", ""},
		{"nan is no name", "nan,inf\n1,2\n", Dialect{}, "nan inf\n1 2\n", ""},
		{"columns", "a,b,c,d\n1,x,3,4\n5,y,7,8\n", Dialect{Columns: []string{"c-d", "1", "d", "3-4"}}, "a.csv:1: there is no column \"c-d\": the header has a, b, c, d", ""},
		{"columns by name and range", "a,b,c-d,d\n1,x,3,4\n5,y,7,8\n", Dialect{Columns: []string{"c-d", "1", "d", "3-4"}}, "3 1 4 3 4\n7 5 8 7 8\n", "a,b,c-d,d"},
		{"column without a header", "1,x,3\n4,y,6\n", Dialect{Columns: []string{"3", "1"}}, "3 1\n6 4\n", "no: 1,x,3"},
		{"years in a header", "land,1990,1991\na,2,3\n", Dialect{Columns: []string{"2-3"}}, "1990 1991\n2 3\n", "no: land,1990,1991"},
		{"years in a header, asked for", "land,1990,1991\na,2,3\n", Dialect{Columns: []string{"1991"}, Header: true}, "3\n", ""},
		{"too many columns", "1,2\n", Dialect{Columns: []string{"3"}}, "a.csv:1: there is no column 3 in a row of 2", ""},
		{"a short row", "1,2,3\n4,5\n", Dialect{Columns: []string{"3"}}, "a.csv:2: there is no column 3 in a row of 2", ""},
		{"names of rows", "x,y\nr 1,2,3\n7,5,6\n", Dialect{}, "2 3\n5 6\n", "rows 3: x,y"},
		{"names of rows as R writes them", "\"x\" \"y\"\n\"1\" 2 3\n\"2\" 5 6\n", Dialect{}, "2 3\n5 6\n", "rows 3: x y"},
		{"names of rows under a header that is asked for", "1990;1991\na;2;3\n", Dialect{Header: true}, "2 3\n", "rows 3: "},
		{"names of rows and columns", "x,y\n1,2,3\n", Dialect{Columns: []string{"y"}}, "3\n", "rows 3: x,y"},
		{"names of rows, one of which is missing", "x,y\n1,2,3\n4,5\n", Dialect{}, "a.csv:3: a row of 2 fields after rows of 3", ""},
		{"names of rows, one of which is missing, and columns", "x,y\n1,2,3\n4,5\n", Dialect{Columns: []string{"x"}}, "a.csv:3: a row of 2 fields under a header of 2, so names do not tell", ""},
		{"a name for the names of rows", "\"\",x,y\n1,2,3\n2,5,6\n", Dialect{}, "2 3\n5 6\n", "rows 3: ,x,y"},
		{"a name for the names of rows, and columns", ",x,y\n1,2,3\n", Dialect{Columns: []string{"y"}}, "3\n", ",x,y"},
		{"names of rows, asked for", ",x,y\n1,2,3\n", Dialect{Columns: []string{"1-3"}}, "1 2 3\n", ",x,y"},
		{"two empty names", ",x,\n1,2,3\n", Dialect{}, "1 2 3\n", ",x,"},
		{"a delimiter that ends rows", "x,y\n1,2,\n", Dialect{Columns: []string{"x"}}, "a.csv:2: a row of 3 fields under a header of 2, so names do not tell", ""},
		{"a delimiter that ends a row", "x,y\n1,2,3\n4,5,\n", Dialect{Columns: []string{"x"}}, "a.csv:3: an empty field", ""},
		{"a word more", "Data: y x\n1 2\n", Dialect{Columns: []string{"y"}}, "a.csv:2: a row of 2 fields under a header of 3, so names do not tell columns", ""},
		{"names of rows, numbers", "x,y\n1,2,3\n", Dialect{Columns: []string{"2"}}, "2\n", "x,y"},
		{"a name twice", "x,y,x\n1,2,3\n", Dialect{Columns: []string{"y", "x"}}, "a.csv:1: two columns are called \"x\": choose one by its number", ""},
		{"a name twice, another", "x,y,x\n1,2,3\n", Dialect{Columns: []string{"y"}}, "2\n", "x,y,x"},
		{"no such name", "x,y\n1,2\n", Dialect{Columns: []string{"z"}}, "a.csv:1: there is no column \"z\": the header has x, y", ""},
		{"blanks and columns", "x  y z\n1 2   3\n 4 5 6 \n", Dialect{Columns: []string{"z", "x"}}, "3 1\n6 4\n", "x y z"},
		{"tabs", "1\t2,5\n3\t4\n", Dialect{DecimalComma: true}, "1 2.5\n3 4\n", ""},
		{"decimal commas between blanks", "1,5 2,25\n", Dialect{DecimalComma: true}, "1.5 2.25\n", ""},
		{"delimiter", "1|2\n3|4\n", Dialect{Delimiter: '|'}, "1 2\n3 4\n", ""},
		{"comments", "% c\n1,2 % e\n3,4\n", Dialect{Comment: '%'}, "1 2\n3 4\n", ""},
		{"lines before", "Report; of 2026\n\nx;y\n1;2\nz;3\n", Dialect{Skip: 2}, `a.csv:5: "z" is not a number`, ""},
		{"quotes in a header", "\"a \"\"b\"\"\",c\n1,2\n", Dialect{Columns: []string{`a "b"`}}, "1\n", `a "b",c`},
		{"ragged", "1;2\n3\n", Dialect{}, "a.csv:2: a row of 1 field after rows of 2", ""},
		{"a thousands separator", "1,234,5;6\n", Dialect{DecimalComma: true}, `a.csv:1: "1,234,5" is not a number`, ""},
		{"a blank in a number", "\"1 234,5\"\n", Dialect{DecimalComma: true}, `a.csv:1: "1 234,5" is not a number`, ""},
		{"a line break in a number", "\"1\n2\";3\n", Dialect{Delimiter: ';', DecimalComma: true}, `a.csv:1: "1\n2" is not a number`, ""},
		{"a comment in a number", "\"1#2\",3\n", Dialect{}, `a.csv:1: "1#2" is not a number`, ""},
		{"a comment's end of others", "1#2,3\n", Dialect{Comment: '%'}, `a.csv:1: "1#2" is not a number`, ""},
		{"quotes between blanks", "\"a b\" \"c\"\n\"1\" 2\n", Dialect{Columns: []string{"a b"}}, "1\n", "a b c"},
		{"an open quote between blanks", "x y\n\"1 2\n", Dialect{}, "a.csv:2: ", ""},
		{"many digits", "x;y\n0.1234567890123456789;2\n", Dialect{}, "0.1234567890123456789 2\n", "x;y"},
	} {
		o := options(2)
		var note string
		o.Dialect, o.Note = c.d, &note
		m, err := Parse([]byte(c.in), "a.csv", o)
		if err != nil || strings.HasPrefix(c.want, "a.csv") {
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.name, err, c.want)
			}
			continue
		}
		got := ""
		for i := range m.Rows() {
			for j := range m.Cols() {
				got += m.At(i, j).String() + map[bool]string{true: "\n", false: " "}[j == m.Cols()-1]
			}
		}
		wantNote := ""
		if numbers, ok := strings.CutPrefix(c.header, "no: "); ok {
			wantNote = fmt.Sprintf("the first row is taken for numbers: %q: --header, if they are names", numbers)
		} else if names, ok := strings.CutPrefix(c.header, "rows 3: "); ok {
			wantNote = "the first field of each row, for which the header has no name, is taken for the row's name: --columns 1-3 reads it, too"
			if names != "" {
				wantNote = fmt.Sprintf("the first row is taken for a header: %q; %s", names, wantNote)
			}
		} else if c.header != "" {
			wantNote = fmt.Sprintf("the first row is taken for a header: %q", c.header)
		}
		if got != c.want || note != wantNote {
			t.Errorf("%s: got\n%swith %q, want\n%swith %q", c.name, got, note, c.want, wantNote)
		}
	}
	// The format that a file names is used in all dialects.
	m, err := Parse([]byte("# halfulp format dd\nx,y\n1,2\n"), "a", options(1))
	if err != nil || m.NumberFormat() != halfulp.DD {
		t.Errorf("%v, %v", m, err)
	}
}

// TestOctave checks the errors for Octave's text whose lines are not rows of a matrix.
func TestOctave(t *testing.T) {
	const head = "# Created by Octave 9.2.0, Mon Jan 01 00:00:00 2024 UTC <a@b>\n"
	for in, want := range map[string]string{
		"# name: a\n# type: matrix\n# rows: 2\n# columns: 2\n 1 2\n 3 4\n\n\n":                                        "2 x 2",
		"# name: a\n# type: global matrix\n# rows: 1\n# columns: 2\n 1 2\n\n\n":                                       "1 x 2",
		"# name: a\n# type: int32 scalar\n7\n":                                                                        "1 x 1",
		"# name: a\n# type: sparse matrix\n# nnz: 2\n# rows: 2\n# columns: 2\n1 1 4\n2 2 5\n":                         "a sparse matrix lists row",
		"# name: a\n# type: sparse bool matrix\n# nnz: 1\n# rows: 2\n# columns: 2\n1 1 1\n":                           "a sparse bool matrix lists row",
		"# name: a\n# type: diagonal matrix\n# rows: 2\n# columns: 2\n4\n5\n":                                         "a diagonal matrix is no list",
		"# name: a\n# type: int32 matrix\n# ndims: 2\n 1 2\n 4\n 5\n":                                                 "an int32 matrix is no list",
		"# name: a\n# type: matrix\n# ndims: 3\n 1 1 2\n 4\n 5\n":                                                     "a matrix is no list",
		"# name: a\n# type: permutation matrix\n# size: 2\n# orient: c\n2\n1\n":                                       "a permutation matrix is no list",
		"# name: a\n# type: range\n# base, limit, increment\n1 9 2\n":                                                 "a range is no list",
		"# name: a\n# type: scalar\n1\n\n\n# name: b\n# type: scalar\n2\n":                                            "the file has several variables",
		"# type: sparse, as measured\n1 2 3\n":                                                                        "1 x 3",
		"# name: a\n# type: complex matrix\n# rows: 1\n# columns: 1\n (1,2)\n":                                        "a complex matrix is no list",
		"# name: b\n# type: matrix\n# rows: 40000\n# columns: 1\n" + strings.Repeat(" 1.25\n", 90000) + "# name: c\n": "the file has several variables",
	} {
		m, err := Parse([]byte(head+in), "a.txt", options(2))
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("a.txt: text that Octave saved: %d x %d", m.Rows(), m.Cols())
		}
		if !strings.HasPrefix(got, "a.txt: text that Octave saved: "+want) {
			t.Errorf("%.60q: %s, want %s", in, got, want)
		}
		_, ok, streamed := ReadAt(strings.NewReader(head+in), int64(len(head+in)), "a.txt", options(2))
		if !ok || fmt.Sprint(streamed) != fmt.Sprint(err) {
			t.Errorf("%.60q: %v in blocks, want %v", in, streamed, err)
		}
	}
	if m, err := Parse([]byte(head+"# name: a\n# type: sparse matrix\n1 1 4\n"), "a.txt", Options{Threads: 1, MemoryLimit: 1 << 20, Context: context.Background(), Dialect: Dialect{Skip: 3}}); err != nil || m.Cols() != 3 {
		t.Errorf("lines that are skipped: %v", err)
	}
}

// TestParts reads texts whole and in parts of a few bytes, in memory and in blocks from a file.
func TestParts(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	pieces := []string{"1", "-22.5", "3e4", " ", "  ", ",", ", ", "\n", "\n", "\r\n", "# c, 1", "#", "# halfulp format dd\n", "x", "123456789012345678", "\t", "1e999"}
	texts := []string{"1,2,", "1,2,\n", "1,2,#c\n", "1,2 # c, d\n3,4#", "1 2 3 4 5 6 7 8 # halfulp format dd\n", "    1,2\n", "1 2 3 4 5 6 7 8 9,10\n", "\ufeff1 2\n3 4", "1,2,3,4,5\n6,7,8,9\n"}
	for range 1500 {
		var b strings.Builder
		row := []string{"1 2 3 4", "5,6,7,8", "12345 2 1 9.5 # c"}[r.IntN(3)]
		for range r.IntN(12) {
			if r.IntN(3) > 0 {
				b.WriteString(row + "\n")
			} else {
				b.WriteString(pieces[r.IntN(len(pieces))])
			}
		}
		texts = append(texts, b.String())
	}
	show := func(m *halfulp.Matrix, stats halfulp.InputStats, err error) string {
		if err != nil {
			return "an error" // which one comes first depends on the parts
		}
		return fmt.Sprintf("%d x %d %v %+v\n%v", m.Rows(), m.Cols(), m.NumberFormat(), stats, m)
	}
	good := 0
	for _, text := range texts {
		var stats halfulp.InputStats
		o := options(1)
		o.Stats = &stats
		m, err := Parse([]byte(text), "a", o)
		want := show(m, stats, err)
		if err == nil {
			good++
		}
		for _, size := range []int{1, 4, 9} {
			stats = halfulp.InputStats{}
			m, err := parse([]byte(text), "a", o, size)
			if got := show(m, stats, err); got != want {
				t.Fatalf("%q in parts of %d bytes: %s, want %s", text, size, got, want)
			}
			stats = halfulp.InputStats{}
			m, ok, err := readBlocks(strings.NewReader(text), int64(len(text)), "a", o, 64, size)
			if !ok {
				continue
			}
			if got := show(m, stats, err); got != want {
				t.Fatalf("%q in blocks and parts of %d bytes: %s, want %s", text, size, got, want)
			}
		}
	}
	if good < 200 {
		t.Errorf("%d texts are tables", good)
	}
}

// changing is a file of other numbers each time it is read from its beginning.
type changing struct{ texts []string }

func (c *changing) ReadAt(b []byte, at int64) (int, error) {
	if at == 0 && len(c.texts) > 1 {
		c.texts = c.texts[1:]
	}
	return strings.NewReader(c.texts[0]).ReadAt(b, at)
}

// TestMemory checks that a text of one line keeps to the memory limit, and that in blocks only the
// matrix counts.
func TestMemory(t *testing.T) {
	const n = 200000
	text := strings.Repeat("7 ", n) + "\n"
	o := options(2)
	o.MemoryLimit = 8*n + 100
	m, ok, err := ReadAt(strings.NewReader(text), int64(len(text)), "a", o)
	if err != nil || !ok || m.Cols() != n || m.Float64(0, n-1) != 7 {
		t.Errorf("%v, %v", ok, err)
	}
	for text, want := range map[string]string{
		text:                               "a: a 1 x 200000 matrix of format f64 with its text needs 1.907 MiB, more than the memory limit of 1.526 MiB",
		strings.Repeat("7;", n) + "7\n":    "a: the table with its delimiters needs ",
		"x\n" + strings.Repeat("7\n", 3*n): "a: the table with its delimiters needs 2.289 MiB",
		strings.Repeat("7\n", 3*n):         "a: a 600000 x 1 matrix of format f64 with its text needs ",
	} {
		if _, err := Parse([]byte(text), "a", o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.9q: %v, want %s", text, err, want)
		}
	}
	o.MemoryLimit = 8*n - 1
	if _, _, err := ReadAt(strings.NewReader(text), int64(len(text)), "a", o); err == nil || !strings.HasPrefix(err.Error(), "a: a 1 x 200000 matrix of format f64 needs 1.526 MiB") {
		t.Error(err)
	}
	for _, later := range []string{"1 2 3\n", "1    \n"} {
		c := &changing{[]string{"", "1 2\n\n\n", later}}
		if _, _, err := ReadAt(c, 6, "a", options(1)); err == nil || err.Error() != "a: the file changed while it was read" {
			t.Errorf("%q: %v", later, err)
		}
	}
}

// TestUnended checks the number of a last line that no line feed ends.
func TestUnended(t *testing.T) {
	for text, want := range map[string]int{"1 2\n": 0, "1 2": 1, "1 2\n3 4": 2, "a;b\n3;4": 2, "1\r2\r": 0, "1\n2 # c": 2, "1\n\n": 0, "1\r\n2\r\n": 0, "1\r\n2": 2} {
		var stats halfulp.InputStats
		o := options(1)
		o.Stats = &stats
		if _, err := Parse([]byte(text), "a", o); err != nil || stats.Unended != want {
			t.Errorf("%q: line %d, %v, want %d", text, stats.Unended, err, want)
		}
		stats = halfulp.InputStats{}
		if _, ok, err := ReadAt(strings.NewReader(text), int64(len(text)), "a", o); ok && (err != nil || stats.Unended != want) {
			t.Errorf("%q in blocks: line %d, %v, want %d", text, stats.Unended, err, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.QD, halfulp.MP(7), halfulp.MP(424)} {
		m := gallery.Random(f, 31, 5, 40, 2)
		var b bytes.Buffer
		if err := Write(&b, m, options(2)); err != nil {
			t.Fatal(err)
		}
		got, err := Parse(b.Bytes(), "a", options(2))
		if err != nil || !got.Same(m) {
			t.Errorf("%v does not come back: %v", f, err)
		}
	}
	if Write(&bytes.Buffer{}, halfulp.NewMatrix(halfulp.DD, 0, 3), options(1)) == nil {
		t.Error("an empty table is written")
	}
}

func TestFormat(t *testing.T) {
	for in, want := range map[string]string{
		"1,2": "f64", "0.1234567890123456789": "mp:129", "# halfulp format dd\n1": "dd", "1\n# halfulp format mp:99\n2": "mp:99",
		"# halfulp format silly\n1": "f64", "9007199254740993 2": "mp:54", "a;b\n-9007199254740993;0.5": "mp:118", "9007199254740994": "f64",
		"# halfulp format f64\n9007199254740993": "f64", "0x20000000000001": "mp:54", "9007199254740993.0,1": "mp:54",
	} {
		m, err := Parse([]byte(in), "a", options(1))
		if err != nil || m.NumberFormat().String() != want {
			t.Errorf("%q: %v, %v, want %s", in, m, err, want)
		}
	}
}

// TestStats counts losses by the range of the format.
func TestStats(t *testing.T) {
	text := "1 1e400\n# c\n-1e-400 0\n" + strings.Repeat("1e-999,inf\n", 30000) + "1 -1e999\n"
	for _, threads := range []int{1, 3} {
		stats := halfulp.InputStats{ToInf: halfulp.Losses{Count: 9, Line: 9}}
		o := options(threads)
		o.Stats, o.In = &stats, halfulp.Exactly(halfulp.Float64)
		if _, err := Parse([]byte(text), "a", o); err != nil {
			t.Fatal(err)
		}
		if want := (halfulp.InputStats{ToInf: halfulp.Losses{Count: 2, Line: 1}, ToZero: halfulp.Losses{Count: 30001, Line: 3}}); stats != want {
			t.Errorf("%+v, want %+v", stats, want)
		}
		o.In = halfulp.InputFormat{}
		if _, err := Parse([]byte(text), "a", o); err != nil || stats != (halfulp.InputStats{Digits: 1}) {
			t.Errorf("%+v, %v", stats, err)
		}
		if _, err := Parse([]byte("0\n1e99999999999999999999\n"), "a", o); err != nil || stats.ToInf != (halfulp.Losses{Count: 1, Line: 2}) {
			t.Errorf("%+v, %v", stats, err)
		}
	}
}

// TestLarge reads a table of many pieces.
func TestLarge(t *testing.T) {
	var b strings.Builder
	const rows, cols = 20000, 11
	for i := range rows {
		for j := range cols {
			fmt.Fprintf(&b, "%d ", i*cols+j)
		}
		b.WriteByte('\n')
	}
	m, err := Parse([]byte(b.String()), "a", options(3))
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		for j := range cols {
			if m.Float64(i, j) != float64(i*cols+j) {
				t.Fatalf("(%d, %d): %v", i, j, m.Float64(i, j))
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1,2\n3,4\n", "1 2 # c\n", "# halfulp format qd\n0.1 -0x1p3\n", "1,,2", "inf nan\n", "1\r2\r\n", "1\x00 2\n", "1 2\n3\n", "1 9007199254740993\n1.5-304 2.5D+02\n", "a b\n1 2 3\n",
		",a\n1,2\n", "# name: a\n# type: sparse matrix\n1 1 1\n", "1152921504606846976 1e18"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o := options(1)
		o.MemoryLimit = 1 << 20
		m, err := Parse(text, "a", o)
		if again, ok, e := readBlocks(bytes.NewReader(text), int64(len(text)), "a", o, 64, 8); ok && e == nil && (err != nil || !again.Same(m)) {
			t.Fatalf("%q is read in blocks as\n%v, in memory as\n%v, %v", text, again, m, err)
		}
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, m, o); err != nil {
			t.Fatal(err)
		}
		o.In = halfulp.AtLeast(m.NumberFormat())
		back, err := Parse(b.Bytes(), "a", o)
		if err != nil || !back.Same(m.Clone()) {
			t.Fatalf("%q is read as\n%v and comes back as\n%v, %v", text, m, back, err)
		}
	})
}

func TestSplitColumns(t *testing.T) {
	for list, want := range map[string][]string{
		"2,4-6,price":    {"2", "4-6", "price"},
		`"a, b",c`:       {"a, b", "c"},
		`c,"a ""b"", c"`: {"c", `a "b", c`},
		`"""x"""`:        {`"x"`},
		`5",6"`:          {`5"`, `6"`},
		`"`:              nil, `"a`: nil, `"a""`: nil, `"a"b`: nil, `""`: nil, "": nil, "a,": nil, ",a": nil, `"a",`: nil,
	} {
		got, err := SplitColumns(list)
		if (err == nil) != (want != nil) || err == nil && !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", list, got, err, want)
		}
		if err != nil {
			continue
		}
		var names []string
		for _, name := range got {
			names = append(names, columnName(name))
		}
		if again, err := SplitColumns(strings.Join(names, ",")); err != nil || !slices.Equal(again, got) {
			t.Errorf("%s: %q becomes %q, %v", list, names, again, err)
		}
	}
}
