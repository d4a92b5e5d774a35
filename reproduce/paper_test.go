package reproduce

import (
	"bufio"
	"embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Tests compare every figure that was copied from a paper with the paper's text. Files of
// testdata/papers have verbatim excerpts, and say where the records have their numbers:
//
//	# comment
//	| text of the paper without figures, for the reader
//	@table fields    of all records that follow
//	@row fields      of the records of the next texts
//	@columns a | b   the meaning of each number of the texts
//	> text of the paper with figures
//
// Fields are fields of records, name=value, with a semicolon between them. Fields of a column take
// precedence over fields of the row, and these over fields of the table. A column is
//
//	fields           a record's figure, or with as=text the text of a sum
//	fields & fields  the same one in several records
//	=128             that number
//	bits, moduli, n, phi: that field of the row
//	-                a number that is not a figure, as in the name of an algorithm
//
// Scans lose the marks of powers: "@powers negative" reads 2 -10"18 as 2e-18, "@powers positive"
// 1.64*1010 as 1.64e10. "@comma thousands" and "@comma decimal" give the meaning of a comma.

// printedFigure is a number of a paper's text.
type printedFigure struct {
	place  string // file and line
	fields map[string]string
	value  float64
}

// excerpts are those, by the number of the paper, in the test itself: it also runs on machines
// with GPUs, without the sources.
//
//go:embed testdata/papers/*.txt
var excerpts embed.FS

// readPaper reads the figures of an excerpt.
func readPaper(t *testing.T, name string) []printedFigure {
	t.Helper()
	f, err := excerpts.Open("testdata/papers/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []printedFigure
	var table, row map[string]string
	var columns []string
	n := numerals{}
	lines := bufio.NewScanner(f)
	for i := 1; lines.Scan(); i++ {
		place := fmt.Sprintf("%s.txt:%d", name, i)
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "", "#", "|":
		case "@table":
			table, row, columns = fieldsOf(t, place, rest), nil, nil
		case "@row":
			row = fieldsOf(t, place, rest)
		case "@columns":
			columns = strings.Split(rest, " | ")
		case "@powers":
			n.powers = rest
		case "@comma":
			n.comma = rest
		case ">":
			values := n.of(rest)
			if len(values) != len(columns) {
				t.Fatalf("%s: %d numbers, %v, for %d columns", place, len(values), values, len(columns))
			}
			all := maps.Clone(table)
			maps.Copy(all, row)
			for k, column := range columns {
				list = append(list, figuresOf(t, place, all, column, values[k])...)
			}
		default:
			t.Fatalf("%s: %q", place, word)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// figuresOf are the figures of a column with that number.
func figuresOf(t *testing.T, place string, row map[string]string, column string, value float64) []printedFigure {
	t.Helper()
	var want string
	switch column {
	case "-":
		return nil
	case "bits", "moduli", "n":
		want = row[column]
	case "phi":
		want = strings.TrimPrefix(row["case"], "phi = ")
	default:
		want, _ = strings.CutPrefix(column, "=")
		if want == column {
			want = ""
		}
	}
	if want != "" {
		if x, err := strconv.ParseFloat(want, 64); err != nil || x != value {
			t.Errorf("%s: %v in the column %q of the row %v", place, value, column, row)
		}
		return nil
	}
	var list []printedFigure
	for _, f := range strings.Split(column, " & ") {
		all := maps.Clone(row)
		maps.Copy(all, fieldsOf(t, place, f))
		list = append(list, printedFigure{place, all, value})
	}
	return list
}

var paperFields = []string{"table", "case", "n", "method", "device", "bits", "moduli", "quantity", "as"}

func fieldsOf(t *testing.T, place, text string) map[string]string {
	t.Helper()
	fields := map[string]string{}
	if text == "" {
		return fields
	}
	for _, f := range strings.Split(text, "; ") {
		name, value, ok := strings.Cut(f, "=")
		if !ok || !slices.Contains(paperFields, name) {
			t.Fatalf("%s: field %q", place, f)
		}
		fields[name] = value
	}
	return fields
}

// numerals reads the numbers of a text.
type numerals struct{ powers, comma string }

var (
	scannedPower = regexp.MustCompile(`(?:(\d+(?:\.\d+)?) ?[-*])?(?:10|io|KT|Ш)["°~-]?(\d*)`)
	crossed      = regexp.MustCompile(`(\d)x(\d)`)
	wordOrNumber = regexp.MustCompile(`\pL[\pL\pN_]*|\d[\d.,]*(?:e[-+]?\d+)?`)
	numberWords  = map[string]string{"ten": "10"}
)

// of are the numbers of a text, without those that are parts of words.
func (n *numerals) of(text string) []float64 {
	sign := map[string]string{"negative": "-", "positive": ""}
	if s, ok := sign[n.powers]; ok {
		text = scannedPower.ReplaceAllStringFunc(text, func(power string) string {
			p := scannedPower.FindStringSubmatch(power)
			if power == "10-10" {
				p = []string{"", "", "10"} // not 10 times 10^0
			}
			return " " + orOther(p[1], "1") + "e" + s + orOther(p[2], "0") + " "
		})
	}
	text = crossed.ReplaceAllString(text, "$1 x $2")
	var list []float64
	for _, s := range wordOrNumber.FindAllString(text, -1) {
		s = orOther(numberWords[s], strings.TrimRight(s, ".,"))
		switch n.comma {
		case "thousands":
			s = strings.ReplaceAll(s, ",", "")
		case "decimal":
			s = strings.ReplaceAll(s, ",", ".")
		}
		if x, err := strconv.ParseFloat(s, 64); err == nil {
			list = append(list, x)
		}
	}
	return list
}

// is reports whether the record has this figure.
func (f *printedFigure) is(k *Record, text bool) bool {
	if (f.fields["as"] == "text") != text {
		return false
	}
	have := map[string]string{
		"table": k.Table, "case": k.Case, "n": count(k.N), "method": k.Method, "device": k.Device, "bits": count(k.Bits),
		"moduli": count(k.Moduli), "quantity": k.Quantity, "as": f.fields["as"],
	}
	for name, want := range f.fields {
		if have[name] != want {
			return false
		}
	}
	return true
}

// checkRecord returns the errors in the paper's figures of a record, and marks the figures that it
// found.
func checkRecord(k *Record, printed []printedFigure, found []bool) error {
	check := func(value float64, text bool) error {
		known := false
		for i, f := range printed {
			if !f.is(k, text) {
				continue
			}
			found[i], known = true, true
			if f.value != value {
				return fmt.Errorf("%s: %v in the paper, %v in %+v", f.place, f.value, value, *k)
			}
		}
		if !known {
			return fmt.Errorf("no excerpt of the paper has %v: %+v", value, *k)
		}
		return nil
	}
	if k.Paper != nil {
		if err := check(*k.Paper, false); err != nil {
			return err
		}
	}
	if k.PaperText != "" {
		x, err := parse(k.PaperText)
		if err != nil {
			return err
		}
		return check(x, true)
	}
	return nil
}

// checkPaper checks that every figure of the paper in a report is in its excerpt.
func checkPaper(t *testing.T, r *Report) {
	t.Helper()
	paper := map[string]string{gemvName: "001", ozakiName: "002", sumName: "003", qdName: "004"}[r.Name]
	printed := readPaper(t, paper)
	for i := range r.Records {
		if err := checkRecord(&r.Records[i], printed, make([]bool, len(printed))); err != nil {
			t.Error(err)
		}
	}
}

// paperRecords are all records with figures of a paper.
func paperRecords(t *testing.T, paper string) []Record {
	t.Helper()
	r := &Report{}
	size := func(name string, x float64) { r.add(Record{Table: "sizes", Method: name, Paper: &x}) }
	e, err := (&Options{N: 8, Threads: 2}).start(plan{})
	if err != nil {
		t.Fatal(err)
	}
	switch paper {
	case "001":
		if r, err = Gemv(Options{N: 8, Threads: 2}); err != nil {
			t.Fatal(err)
		}
		for _, k := range paperKernels {
			for i, paper := range []float64{k.occupancy, k.divergence, k.bandwidth} {
				r.add(Record{Table: tableMetrics, Method: k.name, Bits: stageBits, Quantity: metrics[i].name, Paper: known(paper)})
			}
		}
		r.add(Record{Table: tableMinBS, Quantity: minBlock, Paper: known(paperMinBS)})
		size("launches", launches)
		size("GemvN", GemvN)
		size("stageBits", stageBits)
	case "002":
		methods := ozakiMethods()
		for phi, sizes := range paperErrors {
			for n := range sizes {
				for _, m := range methods {
					r.add(Record{Table: tableOzakiErrors, Case: phiCase(phi), N: n, Method: m.name, Quantity: worstError, Here: known(1)},
						Record{Table: tableOzakiTimes, N: n, Method: m.name, Here: known(1)})
				}
				r.ozakiMeans(methods, n, phi, 1)
			}
		}
		sizes := []int{1024, 2048, 4096}
		r.ozakiSpeeds(sizes)
		r.ozakiDigits(sizes, OzakiPhi)
	case "003":
		for _, set := range sumSets() {
			set.terms = set.terms[:2]
			if err := e.accuracy(r, set); err != nil {
				t.Fatal(err)
			}
		}
		r.sumPaper()
		r.speedups()
		size("SumN", SumN)
	case "004":
		r.qdPaper()
		size("QDN", QDN)
		size("qdGemmOperations", qdGemmOperations)
		size("qdSolveOperations", qdSolveOperations)
	}
	return r.Records
}

// TestPaper compares the papers' figures with the excerpts in both directions. It also changes each
// of them: no figure can be altered without a failure.
func TestPaper(t *testing.T) {
	for _, paper := range []string{"001", "002", "003", "004"} {
		printed, records := readPaper(t, paper), paperRecords(t, paper)
		found := make([]bool, len(printed))
		figures := 0
		for i := range records {
			k := &records[i]
			if err := checkRecord(k, printed, found); err != nil {
				t.Error(err)
				continue
			}
			ignore := make([]bool, len(printed))
			if k.Paper != nil {
				figures++
				other := *k
				for _, other.Paper = range []*float64{known(*k.Paper * (1 + 1e-6)), known(*k.Paper * 10), known(1 - *k.Paper), known(-1)} {
					if *other.Paper != *k.Paper && checkRecord(&other, printed, ignore) == nil {
						t.Errorf("%v in place of %v is not noticed in %+v", *other.Paper, *k.Paper, *k)
					}
				}
			}
			if k.PaperText != "" {
				figures++
				other := *k
				for _, other.PaperText = range []string{"7", "1.0000000002", "3.48733744e-6"} {
					if checkRecord(&other, printed, ignore) == nil {
						t.Errorf("%s in place of %s is not noticed in %+v", other.PaperText, k.PaperText, *k)
					}
				}
			}
		}
		for i, f := range printed {
			if !found[i] {
				t.Errorf("%s: no record has %v, %v", f.place, f.value, f.fields)
			}
		}
		if least := map[string]int{"001": 45, "002": 170, "003": 80, "004": 280}[paper]; figures < least {
			t.Errorf("%s: %d figures, there are at least %d", paper, figures, least)
		}
	}
}

// TestNumerals reads scanned numbers.
func TestNumerals(t *testing.T) {
	for _, c := range []struct {
		n    numerals
		text string
		want []float64
	}{
		{numerals{powers: "negative"}, `120 (16) Reduce 1 2 -10"18 5 -KT15 1.0000000001 6 -10-13 3.48733745 -Ш"6 0`, []float64{120, 16, 1, 2e-18, 5e-15, 1.0000000001, 6e-13, 3.48733745e-6, 0}},
		{numerals{powers: "negative"}, `2 -1018 0 100 io-10 10"10 3-10~7 10°`, []float64{2e-18, 0, 1, 1e-10, 1e-10, 3e-7, 1}},
		{numerals{powers: "positive"}, `A (2400x2400), 1.54*1010.`, []float64{2400, 2400, 1.54e10}},
		{numerals{comma: "thousands"}, "0.1 1,024 × 1,024 4.74 倍 2.81e+2 倍", []float64{0.1, 1024, 1024, 4.74, 281}},
		{numerals{comma: "decimal"}, "Double 2,19 18,5", []float64{2.19, 18.5}},
		{numerals{}, "/ 6.30e+004 mp_vec2scal Reduce1P 8160, 424-bit 1000.", []float64{63000, 8160, 424, 1000}},
	} {
		if got := c.n.of(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.text, got, c.want)
		}
	}
}
