package table

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
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
		// Bytes that are no text separate nothing: half of UTF-16 and the like.
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

// TestDialects reads what spreadsheets and others write.
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
		{"names of rows", "x,y\n1,2,3\n", Dialect{Columns: []string{"y"}}, "a.csv:2: a row of 3 fields under a header of 2, so names do not tell columns", ""},
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
		} else if c.header != "" {
			wantNote = fmt.Sprintf("the first row is taken for a header: %q", c.header)
		}
		if got != c.want || note != wantNote {
			t.Errorf("%s: got\n%swith %q, want\n%swith %q", c.name, got, note, c.want, wantNote)
		}
	}
	// The format that a file names counts in all of them.
	m, err := Parse([]byte("# halfulp format dd\nx,y\n1,2\n"), "a", options(1))
	if err != nil || m.Format() != halfulp.DD {
		t.Errorf("%v, %v", m, err)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.QD, halfulp.MP(7), halfulp.MP(424)} {
		m := halfulp.Random(f, 31, 5, 40, 2)
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
		"# halfulp format silly\n1": "f64",
	} {
		m, err := Parse([]byte(in), "a", options(1))
		if err != nil || m.Format().String() != want {
			t.Errorf("%q: %v, %v, want %s", in, m, err, want)
		}
	}
}

// TestStats counts what the range of the format takes.
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
	for _, s := range []string{"1,2\n3,4\n", "1 2 # c\n", "# halfulp format qd\n0.1 -0x1p3\n", "1,,2", "inf nan\n", "1\r2\r\n", "1\x00 2\n", "1 2\n3\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o := options(1)
		o.MemoryLimit = 1 << 20
		m, err := Parse(text, "a", o)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, m, o); err != nil {
			t.Fatal(err)
		}
		o.In = halfulp.AtLeast(m.Format())
		back, err := Parse(b.Bytes(), "a", o)
		if err != nil || !back.Same(m.Clone()) {
			t.Fatalf("%q is read as\n%v and comes back as\n%v, %v", text, m, back, err)
		}
	})
}
