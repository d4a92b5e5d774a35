package matrixmarket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/internal/textio"
)

const (
	arrayBanner = "%%MatrixMarket matrix array real general\n"
	coordBanner = "%%MatrixMarket matrix coordinate real general\n"
)

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"column major", arrayBanner + "2 2\n1\n2\n3\n4\n", "1 3\n2 4\n"},
		{"any layout", "%%matrixmarket  MATRIX Array Real\tGENERAL \r\n% x\r\n\r\n 2 2 \r\n1 2\r\n%c\r\n\r\n3\r\n  4", "1 3\n2 4\n"},
		{"byte order mark", "\ufeff" + arrayBanner + "1 1\n5\n", "5\n"},
		{"numbers", arrayBanner + "1 6\n1.5D+2 -0x1.8p1 +.5 inf -0 nan\n", "150 -3 0.5 inf -0 nan\n"},
		{"integer", "%%MatrixMarket matrix array integer general\n1 2\n-7\n+12\n", "-7 12\n"},
		{"unsigned integer", "%%MatrixMarket matrix array unsigned-integer general\n1 3\n7\n+12\n18446744073709551615\n", "7 12 18446744073709551615\n"},
		{"unsigned integer coordinate", "%%MatrixMarket matrix coordinate unsigned-integer symmetric\n2 2 2\n1 1 4\n2 1 5\n", "4 5\n5 0\n"},
		{"real Hermitian", "%%MatrixMarket matrix array real hermitian\n2 2\n1 -2 3\n", "1 -2\n-2 3\n"},
		{"integer Hermitian", "%%MatrixMarket matrix coordinate integer Hermitian\n2 2 2\n1 1 3\n2 1 5\n", "3 5\n5 0\n"},
		{"carriage returns", strings.ReplaceAll(arrayBanner+"% halfulp format f64\n2 2\n1\n% c\n2\n3 4\n", "\n", "\r"), "1 3\n2 4\n"},
		{"carriage returns in coordinates", strings.ReplaceAll(coordBanner+"2 2 2\n1 1 1\n2 2 5\n", "\n", "\r"), "1 0\n0 5\n"},
		{"all of C's white space", arrayBanner + "1\v2\n1\f\v\t2\n", "1 2\n"},
		{"symmetric", "%%MatrixMarket matrix array real symmetric\n3 3\n1 2 3 4 5 6\n", "1 2 3\n2 4 5\n3 5 6\n"},
		{"skew", "%%MatrixMarket matrix array real skew-symmetric\n3 3\n2 -3 +5\n", "0 -2  3\n2  0 -5\n-3 5 0\n"},
		{"skew zeros", "%%MatrixMarket matrix array real skew-symmetric\n2 2\n0\n", "0 0\n0 0\n"},
		{"skew 1 x 1", "%%MatrixMarket matrix array real skew-symmetric\n1 1\n", "0\n"},
		{"coordinate", coordBanner + "%\n2 3 2\n\n2 3 1e2\n% c\n1 1 -4 \n", "-4 0 0\n0 0 100\n"},
		{"pattern", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", "1 1\n1 0\n"},
		{"pattern twice", "%%MatrixMarket matrix coordinate pattern general\n1 1 3\n1 1\n1 1\n1 1\n", "3\n"},
		{"coordinate symmetric", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 3\n2 1 5\n", "3 5\n5 0\n"},
		{"coordinate skew", "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 5\n", "0 -5\n5 0\n"},
		{"repeated", coordBanner + "1 2 5\n1 1 1e30\n1 2 7\n1 1 1\n1 1 -1e30\n1 1 0.5\n", "1.5 7\n"},
		{"repeated minus zero", coordBanner + "1 1 2\n1 1 -0\n1 1 -0\n", "-0\n"},
		{"repeated symmetric", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 5\n2 1 0x1p-1\n", "0 5.5\n5.5 0\n"},
		{"repeated skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 5\n2 1 -6\n", "0 1\n-1 0\n"},
		{"no rows", arrayBanner + "0 3\n", ""},
		{"no entries", coordBanner + "1 2 0\n", "0 0\n"},
	} {
		for _, threads := range []int{1, 3} {
			m, err := Read(strings.NewReader(c.in), "a.mtx", &Options{Threads: threads})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if got := strings.Join(strings.Fields(m.Text(0)), " "); got != strings.Join(strings.Fields(c.want), " ") {
				t.Errorf("%s: got\n%v", c.name, m)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "a.mtx: the file is empty"},
		{" \n\n", "a.mtx: the file is empty"},
		{"1 2\n", "a.mtx:1: no Matrix Market file"},
		{"%%MatrixMarket matrix array real\n", "a.mtx:1: the first line must read"},
		{"%%MatrixMarket vector array real general\n", `a.mtx:1: object "vector"`},
		{"%%MatrixMarket matrix list real general\n", "a.mtx:1: unknown format"},
		{"%%MatrixMarket matrix array complex general\n", "a.mtx:1: the matrix is complex"},
		{"%%MatrixMarket matrix array complex hermitian\n", "a.mtx:1: the matrix is complex"},
		{"%%MatrixMarket matrix array unsigned-integer general\n2 1\n1\n-2\n", "a.mtx:4: -2 is negative, in a file of unsigned integers"},
		{"%%MatrixMarket matrix coordinate unsigned-integer general\n2 1 1\n1 1 -2\n", "a.mtx:3: -2 is negative, in a file of unsigned integers"},
		{"%%MatrixMarket matrix array unsigned-integer general\n2 1\n1\n2.5\n", `a.mtx:4: "2.5" is not an integer`},
		{arrayBanner + "2 1\n1\n2\x00\n", `a.mtx:4: "2\x00" is not a number: it has a byte 0x00`},
		{arrayBanner + "2 1\n1\x002\n", `a.mtx:3: "1\x002" is not a number: it has a byte 0x00`},
		{coordBanner + "2 2 1\n1\x001 3\n", "a.mtx:3: 2 words, not 3"},
		{coordBanner + "2 2 1\n1 \x001 3\n", `a.mtx:3: column index "\x001" is no whole number`},
		{arrayBanner + "1 \x001\n1\n", `a.mtx:2: the number of columns, "\x001", is no size`},
		{strings.ReplaceAll(arrayBanner+"2 1\n1\nx2\n", "\n", "\r"), `a.mtx:4: "x2" is not a number`},
		{"%%MatrixMarket matrix array quaternion general\n", "a.mtx:1: unknown field"},
		{"%%MatrixMarket matrix array real lower\n", "a.mtx:1: unknown symmetry"},
		{"%%MatrixMarket matrix array pattern general\n", "a.mtx:1: a pattern must"},
		{"%%MatrixMarket matrix coordinate pattern skew-symmetric\n", "a.mtx:1: a pattern cannot"},
		{arrayBanner, "a.mtx:2: the file ends before the sizes"},
		{arrayBanner + "% only comments\n", "a.mtx:3: the file ends before the sizes"},
		{arrayBanner + "\n2\n", "a.mtx:3: the size line has 1 number, not 2"},
		{coordBanner + "2 2\n", "a.mtx:2: the size line has 2 numbers, not 3"},
		{arrayBanner + "2 -2\n", "a.mtx:2: the number of columns"},
		{arrayBanner + "2 x\n", "a.mtx:2: the number of columns"},
		{arrayBanner + "99999999999999999999 1\n", "a.mtx:2: the number of rows, 99999999999999999999, is too large"},
		{"%%MatrixMarket matrix array real symmetric\n2 3\n", "a.mtx:2: a symmetric"},
		{arrayBanner + "2 2\n1\n2\n3\n", "a.mtx:5: the file ends after 3 of 4 entries"},
		{arrayBanner + "2 2\n", "a.mtx:2: the file ends after 0 of 4 entries"},
		{arrayBanner + "2 1\n1\n2\n\n3\n", "a.mtx:6: more than the 2 entries"},
		{"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n2\n3\n", "a.mtx:6: the file has 4 entries, more than the 3 of the lower triangle of a 2 x 2 matrix that is symmetric: all of the matrix stands there, so the first line has to say general"},
		{"%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n2\n3\n\n5\n", "a.mtx:6: the file has 5 entries, more than the 3 of the lower triangle of a 3 x 3 matrix that is skew-symmetric, without its diagonal"},
		{arrayBanner + "2 1\n1\nx2\n", `a.mtx:4: "x2" is not a number`},
		{arrayBanner + "2 1\n1\n2,5\n", `a.mtx:4: "2,5" is not a number`},
		{"%%MatrixMarket matrix array integer general\n2 1\n1\n2.0\n", `a.mtx:4: "2.0" is not an integer`},
		{arrayBanner + "1000000000 1000000000\n1\n", "a.mtx:2: a dense 1000000000 x 1000000000 matrix of format f64 needs 6.939 EiB, more than the memory limit"},
		{coordBanner + "1000000000 1000000000 1\n1 1 1\n", "a.mtx:2: a dense 1000000000 x 1000000000 matrix of format f64 needs 6.939 EiB, more than the memory limit"},
		{arrayBanner + "9000000000000000000 9000000000000000000\n1\n", "a.mtx:2: a dense"},
		{coordBanner + "9000000000000000000 9000000000000000000 1\n1 1 1\n", "a.mtx:2: a dense"},
		{coordBanner + "9000000000000000000 0 0\n", "too large"},
		{arrayBanner + "0 9000000000000000000\n", "too large"},
		{coordBanner + "2 2 1\n3 1 1\n", "a.mtx:3: row index 3 out of range 1 to 2"},
		{coordBanner + "2 2 1\n1 0 1\n", "a.mtx:3: column index 0 out of range 1 to 2"},
		{coordBanner + "2 2 1\n1 99999999999999999999999 1\n", "a.mtx:3: column index 99999999999999999999999 out of range"},
		{coordBanner + "2 2 1\n1 -1 1\n", `a.mtx:3: column index "-1" is no whole number`},
		{coordBanner + "2 2 1\n1 1\n", "a.mtx:3: 2 words, not 3"},
		{coordBanner + "2 2 1\n1 1 2 3\n", "a.mtx:3: 4 words, not 3"},
		{coordBanner + "2 2 2\n1 1 2\n\n", "a.mtx:3: the file ends after 1 of 2 entries"},
		{coordBanner + "2 2 1\n1 1 2\n%\n2 2 2\n", "a.mtx:5: more entries than the 1"},
		{coordBanner + "2 2 9223372036854775807\n1 1 2\n", "a.mtx:3: the file ends after 1 of"},
		{"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n", "a.mtx:3: 3 words, not 2"},
		{"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "a.mtx:3: an entry above"},
		{"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n", "a.mtx:3: an entry on the diagonal"},
		{coordBanner + "1 1 2\n1 1 1e999999\n1 1 1\n", "a.mtx:4: entry (1, 1) is given 2 times: exponents too far apart"},
		{"%%MatrixMarket matrix array real general\n% halfulp format mp:1\n1 1\n1\n", "a.mtx:2: format"},
		{arrayBanner + "1 1\n0." + strings.Repeat("3", 400000) + "\n", "a.mtx: its numbers need"},
	} {
		_, err := Read(strings.NewReader(c.in), "a.mtx", nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80q: %v, want %s", c.in, err, c.want)
		}
	}
}

func TestFormats(t *testing.T) {
	long := "0.1234567890123456789012345678901234567890"
	for _, c := range []struct {
		in   string
		opt  halfulp.InputFormat
		want string
	}{
		{"1\n0.5", halfulp.InputFormat{}, "f64"},
		{"1\n" + long, halfulp.InputFormat{}, "mp:195"},
		{"1\n" + long, halfulp.AtLeast(halfulp.QD), "qd"},
		{"1\n" + long, halfulp.AtLeast(halfulp.DD), "mp:195"},
		{"1\n" + long, halfulp.Exactly(halfulp.Float32), "f32"},
		{"1\n" + long, halfulp.OwnOr(halfulp.DD), "dd"},
		{"1\n1e999", halfulp.AtLeast(halfulp.Float64), "mp:117"},
		{"1\n3e-324", halfulp.InputFormat{}, "mp:117"},
		{"1\n5e-324", halfulp.InputFormat{}, "f64"},
		{"1\n9007199254740993", halfulp.InputFormat{}, "mp:54"},
		{"0.5\n-9007199254740993.0", halfulp.InputFormat{}, "mp:118"},
		{"1\n9007199254740994", halfulp.InputFormat{}, "f64"},
		{"1\n9007199254740993", halfulp.AtLeast(halfulp.DD), "dd"},
		{"1\n16777217", halfulp.AtLeast(halfulp.Float32), "mp:25"},
		{"1\n9007199254740993", halfulp.Exactly(halfulp.Float64), "f64"},
		{"1\n0x20000000000001", halfulp.InputFormat{}, "mp:54"},
		{"1\n5.6-304", halfulp.InputFormat{}, "f64"},
	} {
		m, err := Read(strings.NewReader(arrayBanner+"2 1\n"+c.in+"\n"), "a", &Options{In: c.opt})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.NumberFormat().String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
	m, err := Read(strings.NewReader(arrayBanner+"% halfulp format td\n1 1\n"+long+"\n"), "a", &Options{In: halfulp.AtLeast(halfulp.Float32)})
	if err != nil || m.NumberFormat() != halfulp.TD {
		t.Errorf("%v, %v", m.NumberFormat(), err)
	}
	m, err = Read(strings.NewReader(arrayBanner+"% halfulp format td\n1 1\n"+long+"\n"), "a", &Options{In: halfulp.Exactly(halfulp.Float32)})
	if err != nil || m.NumberFormat() != halfulp.Float32 {
		t.Errorf("%v, %v", m.NumberFormat(), err)
	}
	m, err = Read(strings.NewReader(arrayBanner+"% halfulp format td\n1 1\n"+long+"\n"), "a", &Options{In: halfulp.OwnOr(halfulp.QD)})
	if err != nil || m.NumberFormat() != halfulp.TD {
		t.Errorf("%v, %v", m.NumberFormat(), err)
	}
}

// TestIntegers checks that integers, and sums of integers for one place, are kept exactly.
func TestIntegers(t *testing.T) {
	const odd = "9007199254740993"
	for in, want := range map[string]string{
		"array integer general\n1 2\n" + odd + "\n-" + odd + "\n":                       odd + " -" + odd,
		"array unsigned-integer general\n1 2\n" + odd + "\n18446744073709551615\n":      odd + " 18446744073709551615",
		"array integer symmetric\n2 2\n1\n" + odd + "\n2\n":                             "1 " + odd + " " + odd + " 2",
		"array integer skew-symmetric\n2 2\n" + odd + "\n":                              "0 -" + odd + " " + odd + " 0",
		"coordinate integer general\n1 2 1\n1 2 " + odd + "\n":                          "0 " + odd,
		"coordinate real symmetric\n2 2 2\n2 1 " + odd + "\n1 1 0.5\n":                  "0.5 " + odd + " " + odd + " 0",
		"coordinate integer general\n1 2 3\n1 2 9007199254740992\n1 1 5\n1 2 1\n":       "5 " + odd,
		"coordinate real general\n1 1 2\n1 1 0x1p53\n1 1 0x1p-1\n":                      "9007199254740992.5",
		"coordinate real skew-symmetric\n2 2 3\n2 1 9007199254740992\n2 1 1\n2 1 -2\n":  "0 -9007199254740991 9007199254740991 0",
		"coordinate real skew-symmetric\n2 2 2\n2 1 9007199254740992\n2 1 1\n":          "0 -" + odd + " " + odd + " 0",
		"coordinate real general\n1 1 2\n1 1 9007199254740992\n1 1 1e0\n":               odd,
		"coordinate real general\n1 1 2\n1 1 9007199254740992\n1 1 1.5\n":               "9007199254740994",
		"coordinate pattern general\n1 1 3\n1 1\n1 1\n1 1\n":                            "3",
		"coordinate real general\n1 1 2\n1 1 1" + strings.Repeat("0", 23) + "\n1 1 2\n": "100000000000000000000002",
	} {
		m, err := Parse([]byte("%%MatrixMarket matrix "+in), "a", nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i := range m.Rows() {
			for j := range m.Cols() {
				b := m.Big(i, j)
				got += " " + b.Text('f', -1)
			}
		}
		if got[1:] != want {
			t.Errorf("%q: %s, want %s", in, got[1:], want)
		}
		if a, err := ParseSparse([]byte("%%MatrixMarket matrix "+in), "a", nil); err != nil {
			t.Error(err)
		} else {
			wantEntries(t, in, a, m)
		}
	}
	var stats halfulp.InputStats
	o := &Options{In: halfulp.OwnOr(halfulp.Float64), Stats: &stats}
	if _, err := Parse([]byte(arrayBanner+"2 1\n"+odd+"\n0.5"), "a", o); err != nil || stats != (halfulp.InputStats{Bits: 54, Unended: 4}) {
		t.Errorf("%+v, %v", stats, err)
	}
}

// TestStats counts losses by the range of the format, once for each number of the file.
func TestStats(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     halfulp.InputStats
	}{
		{"none", arrayBanner + "2 1\n1e308\ninf\n", halfulp.InputStats{}},
		{"array", arrayBanner + "3 1\n1\n% c\n-1e309 1e-400\n", halfulp.InputStats{ToInf: halfulp.Losses{Count: 1, Line: 5}, ToZero: halfulp.Losses{Count: 1, Line: 5}}},
		{"symmetric", "%%MatrixMarket matrix array real symmetric\n2 2\n1 1e999\n1\n", halfulp.InputStats{ToInf: halfulp.Losses{Count: 1, Line: 3}}},
		{"skew", "%%MatrixMarket matrix array real skew-symmetric\n2 2\n1e999\n", halfulp.InputStats{ToInf: halfulp.Losses{Count: 1, Line: 3}}},
		{"coordinate", coordBanner + "3 3 3\n1 1 1\n\n2 2 1e-999\n3 3 -2e-999\n", halfulp.InputStats{ToZero: halfulp.Losses{Count: 2, Line: 5}}},
		// 2e308 by two numbers of the format; a sum that is 0 lost nothing.
		{"repeated", coordBanner + "2 1 4\n1 1 1e308\n1 1 1e308\n2 1 1\n2 1 -1\n", halfulp.InputStats{ToInf: halfulp.Losses{Count: 1, Line: 4}}},
		{"repeated beyond", coordBanner + "2 1 3\n1 1 1e310\n2 1 1e400\n1 1 -1e310\n", halfulp.InputStats{ToInf: halfulp.Losses{Count: 1, Line: 4}}},
	} {
		for _, threads := range []int{1, 3} {
			stats := halfulp.InputStats{ToZero: halfulp.Losses{Count: 5, Line: 5}}
			o := &Options{Threads: threads, In: halfulp.Exactly(halfulp.Float64), Stats: &stats}
			if _, err := Read(strings.NewReader(c.in), "a", o); err != nil || stats != c.want {
				t.Errorf("%s: %+v, %v, want %+v", c.name, stats, err, c.want)
			}
		}
	}
}

// TestDigits checks the length of decimals that chose the format.
func TestDigits(t *testing.T) {
	for _, c := range []struct {
		text string
		in   halfulp.InputFormat
		want int
	}{
		{arrayBanner + "2 1\n1.20300\n0x1.2345678p5\n", halfulp.AtLeast(halfulp.Float64), 4},
		{arrayBanner + "1 1\n0." + strings.Repeat("12", 40) + "\n", halfulp.AtLeast(halfulp.Float64), 80},
		{coordBanner + "2 2 1\n2 2 -0.00123e4\n", halfulp.AtLeast(halfulp.DD), 3},
		{arrayBanner + "1 1\n1.203\n", halfulp.Exactly(halfulp.DD), 0},
		{arrayBanner + "1 1\n1.203\n", halfulp.OwnOr(halfulp.DD), 0},
		{arrayBanner + "% halfulp format dd\n1 1\n1.203\n", halfulp.AtLeast(halfulp.Float64), 0},
	} {
		var stats halfulp.InputStats
		if _, err := Read(strings.NewReader(c.text), "a", &Options{In: c.in, Stats: &stats}); err != nil || stats.Digits != c.want {
			t.Errorf("%q: %d digits, %v, want %d", c.text, stats.Digits, err, c.want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.TD, halfulp.QD, halfulp.MP(2), halfulp.MP(53), halfulp.MP(424), halfulp.MP(2000)} {
		for _, digits := range []int{0, halfulp.Hex} {
			m := gallery.Random(f, 23, 17, 60, 3).T()
			var b bytes.Buffer
			if err := Write(&b, m, &Options{Digits: digits}); err != nil {
				t.Fatal(err)
			}
			// A shorter input format must not matter: the file names its own.
			got, err := Read(&b, "a", &Options{In: halfulp.AtLeast(halfulp.Float32)})
			if err != nil {
				t.Fatal(err)
			}
			if !got.Same(m) {
				t.Errorf("%v with digits %d does not come back", f, digits)
			}
		}
	}
}

// TestPieces reads files of many pieces with every number of threads, with an error near the end
// and with repeated entries in different pieces.
func TestPieces(t *testing.T) {
	const n = 250
	r := testseed.Rand(t, 5, 0)
	var b strings.Builder
	fmt.Fprintf(&b, "%s%d %d %d\n", coordBanner, n, n, 3*n*n/2)
	want := make([]*big.Rat, n*n)
	for i := range want {
		want[i] = new(big.Rat)
	}
	add := func(k int) {
		s := fmt.Sprintf("%d.%dE%d", r.IntN(2000)-1000, r.IntN(1000), r.IntN(40)-20)
		x, _ := new(big.Rat).SetString(s)
		want[k].Add(want[k], x)
		fmt.Fprintf(&b, "%d %d %s\n", k%n+1, k/n+1, s)
	}
	for _, k := range r.Perm(n * n) {
		add(k)
	}
	for range n * n / 2 {
		add(r.IntN(n * n))
	}
	text := b.String()
	for _, threads := range []int{1, 2, 5} {
		m, err := Read(strings.NewReader(text), "a", &Options{Threads: threads, In: halfulp.Exactly(halfulp.Float64)})
		if err != nil {
			t.Fatal(err)
		}
		for k, w := range want {
			if x, _ := w.Float64(); m.Float64(k%n, k/n) != x {
				t.Fatalf("entry (%d, %d) = %v, want %v", k%n+1, k/n+1, m.Float64(k%n, k/n), x)
			}
		}
		_, err = Read(strings.NewReader(strings.Replace(text, "E-7\n", "E-7.\n", 1)+"1 1 x\n"), "a", &Options{Threads: threads})
		line := 3 + strings.Count(text[:strings.Index(text, "E-7\n")], "\n") - 2
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("a:%d: ", line)) {
			t.Errorf("%v, want an error at line %d", err, line)
		}
	}
}

func TestSymmetricPieces(t *testing.T) {
	const n = 500
	for _, sym := range []string{"symmetric", "skew-symmetric"} {
		var b strings.Builder
		fmt.Fprintf(&b, "%%%%MatrixMarket matrix array real %s\n%d %d\n", sym, n, n)
		for j := range n {
			first := j
			if sym != "symmetric" {
				first++
			}
			for i := first; i < n; i++ {
				fmt.Fprintf(&b, "%d\n", i*1000+j+1)
			}
		}
		m, err := Read(strings.NewReader(b.String()), "a", &Options{Threads: 3})
		if err != nil {
			t.Fatal(err)
		}
		for j := range n {
			for i := range n {
				want := float64(max(i, j)*1000 + min(i, j) + 1)
				if sym != "symmetric" {
					if i < j {
						want = -want
					} else if i == j {
						want = 0
					}
				}
				if got := m.Float64(i, j); got != want {
					t.Fatalf("%s (%d, %d): %v, want %v", sym, i, j, got, want)
				}
			}
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var b bytes.Buffer
	if err := Write(&b, gallery.Random(halfulp.Float64, 300, 300, 0, 1), nil); err != nil {
		t.Fatal(err)
	}
	var share float64
	_, err := Read(&b, "a", &Options{Context: ctx, Progress: func(s float64) { share = s; cancel() }})
	if !errors.Is(err, context.Canceled) || share <= 0 {
		t.Errorf("%v after %v", err, share)
	}
	if err := Write(&b, halfulp.Identity(halfulp.DD, 3), &Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(arrayBanner + "2 2\n1\n2\n3\n4\n"))
	f.Add([]byte(arrayBanner + "% halfulp format qd\n2 1\n0.1\n-0x1p-3\n"))
	f.Add([]byte(coordBanner + "3 3 3\n1 1 1e5\n2 2 -.5D0\n1 1 2\n"))
	f.Add([]byte("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n"))
	f.Add([]byte("%%MatrixMarket matrix array integer skew-symmetric\r\n3 3\r\n1 2 3"))
	f.Add([]byte("%%MatrixMarket matrix array unsigned-integer hermitian\r2 2\r1\r2 3\r"))
	f.Add([]byte(coordBanner + "1000000000 1000000000 1\n1 1 1\n"))
	f.Add([]byte(coordBanner + "2 2 3\n1 1 9007199254740992\n1 1 1\n2 2 1.5-300"))
	f.Add([]byte("%%MatrixMarket matrix array integer symmetric\n2 2\n9007199254740993\n1\n1\n2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse(text, "a", &Options{Threads: 1, MemoryLimit: 1 << 20})
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, m, &Options{Threads: 1}); err != nil {
			t.Fatal(err)
		}
		back, err := Read(&b, "a", nil)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		// A NaN comes back with the one pattern that its format has.
		if !back.Convert(m.NumberFormat()).Same(m.Convert(m.NumberFormat())) {
			t.Fatalf("%q is read as\n%v and comes back as\n%v", text, m, back)
		}
		rd, err := newReader(text, "a", nil)
		if err != nil || !rd.coordinate {
			return // zeros of an array are no entries, whatever their sign
		}
		// it may take more memory
		if a, err := ParseSparse(text, "a", &Options{Threads: 1, MemoryLimit: 1 << 20}); err == nil {
			wantEntries(t, fmt.Sprintf("%q", text), a, m)
		}
	})
}

// million is a file of 10^6 random entries of 424 bits.
var million []byte

func benchFile(b *testing.B) []byte {
	if million == nil {
		var w bytes.Buffer
		if err := Write(&w, gallery.Random(halfulp.MP(424), 1000, 1000, 0, 1), nil); err != nil {
			b.Fatal(err)
		}
		million = w.Bytes()
	}
	return million
}

// BenchmarkRead reads 10^6 entries of 424 bits on two threads.
func BenchmarkRead(b *testing.B) {
	text := benchFile(b)
	for b.Loop() {
		if _, err := Read(bytes.NewReader(text), "a", &Options{Threads: 2}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite writes 10^6 entries of 424 bits on two threads.
func BenchmarkWrite(b *testing.B) {
	m := gallery.Random(halfulp.MP(424), 1000, 1000, 0, 1)
	for b.Loop() {
		if err := Write(&bytes.Buffer{}, m, &Options{Threads: 2}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWordEnd compares wordEnd with a search byte by byte, for all byte values.
func TestWordEnd(t *testing.T) {
	random := testseed.Rand(t, 3, 5)
	for range 20000 {
		text := make([]byte, random.IntN(40))
		for i := range text {
			if text[i] = '7'; random.IntN(8) == 0 {
				text[i] = byte(random.IntN(256))
			}
		}
		want := 0
		for want < len(text) && !textio.IsSpace(text[want]) {
			want++
		}
		if got := wordEnd(text, 0); got != want {
			t.Fatalf("%q: the word ends at %d, not at %d", text, got, want)
		}
	}
}

// TestKnownFormat reads numbers, one of them malformed, whose format is known beforehand.
func TestKnownFormat(t *testing.T) {
	const head = "%%MatrixMarket matrix array real general\n% halfulp format mp:100\n2 1\n"
	for text, want := range map[string]string{head + "1\n2x\n": "a.mtx:5: ", head + "1e\n2\n": "a.mtx:4: "} {
		if _, err := Read(strings.NewReader(text), "a.mtx", nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Read(strings.NewReader(head+"1\n2\n3x\n"), "a.mtx", nil); err == nil {
		t.Error("a third entry is read")
	}
}
