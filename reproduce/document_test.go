package reproduce

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// testReports are small reports of all experiments, the first with findings.
func testReports(t *testing.T) []*Report {
	t.Helper()
	runs, err := tinyRuns()
	if err != nil {
		t.Fatal(err)
	}
	var list []*Report
	for _, run := range runs {
		r := *run.report
		list = append(list, &r)
	}
	for _, r := range list[1:] {
		r.Claim, r.Findings = "", nil
	}
	list[0].Claim = `Sums & "products" are <fast> | as claimed.`
	list[0].Findings = []Finding{
		{What: "table 1", Paper: "1 ms", Here: "2 ms", Exact: "<b>0.5 ms</b>", Outcome: Confirmed, Verdict: "It holds | here."},
		{What: "table 2", Paper: "3 ms", Here: "9 ms", Outcome: Differs, Verdict: "It does not."},
		{What: "figure 3", Paper: "7", Outcome: NotMeasured, Verdict: "Nothing *was* measured."},
	}
	return list
}

// element is an element of HTML with the text in it.
type element struct {
	name  string
	attr  map[string]string
	text  string
	above []string // names of the elements that it is in
}

// parseStrictly reads HTML as XML, and returns its elements in the order of their ends.
func parseStrictly(t *testing.T, text []byte) []*element {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict = true
	var open, all []*element
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			e := &element{name: x.Name.Local, attr: map[string]string{}}
			for _, a := range x.Attr {
				name := a.Name.Local
				if a.Name.Space != "" {
					name = a.Name.Space + ":" + name
				}
				e.attr[name] = a.Value
			}
			for _, o := range open {
				e.above = append(e.above, o.name)
			}
			open = append(open, e)
		case xml.EndElement:
			all = append(all, open[len(open)-1])
			open = open[:len(open)-1]
		case xml.CharData:
			for _, o := range open {
				o.text += string(x)
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("%d elements are open at the end", len(open))
	}
	return all
}

func TestHTML(t *testing.T) {
	reports := testReports(t)
	d := NewDocument("halfulp reproduce all --out x", time.Unix(1e9, 0), reports...)
	var b bytes.Buffer
	if err := d.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	if !strings.HasPrefix(html, "<!DOCTYPE html>\n") {
		t.Error("no doctype")
	}
	all := parseStrictly(t, b.Bytes())
	byID := map[string]*element{}
	var captions []string
	rows := map[string]bool{}
	images, headings := 0, map[string]int{}
	for _, e := range all {
		if id := e.attr["id"]; id != "" {
			if byID[id] != nil {
				t.Errorf("two elements have the id %q", id)
			}
			byID[id] = e
		}
		switch e.name {
		case "caption":
			captions = append(captions, strings.TrimSpace(e.text))
		case "h1", "h2", "h3":
			headings[e.name]++
		case "svg":
			images++
			if e.attr["role"] != "img" || e.attr["viewBox"] == "" || e.attr["width"] != "" {
				t.Errorf("a picture with %v", e.attr)
			}
		case "script", "link", "img", "iframe", "object", "image", "use", "foreignObject":
			t.Errorf("a <%s>", e.name)
		case "html":
			if e.attr["lang"] != "en" {
				t.Error("no language")
			}
		}
	}
	// Rows of tables, cells joined.
	for i := 0; i < len(all); i++ {
		if all[i].name == "tr" {
			var cells []string
			for j := i - 1; j >= 0 && (all[j].name == "td" || all[j].name == "th" || len(all[j].above) > len(all[i].above)+1); j-- {
				if len(all[j].above) == len(all[i].above)+1 {
					cells = append(cells, strings.TrimSpace(all[j].text))
				}
			}
			slices.Reverse(cells)
			rows[strings.Join(cells, "\t")] = true
		}
	}
	for _, e := range all {
		for name, value := range e.attr {
			target := strings.TrimPrefix(value, "#")
			switch name {
			case "href":
				if target == value || byID[target] == nil {
					t.Errorf("a link to %q", value)
				}
			case "aria-labelledby":
				for _, id := range strings.Fields(value) {
					if byID[id] == nil || strings.TrimSpace(byID[id].text) == "" {
						t.Errorf("%s: nothing is called %q", e.name, id)
					}
				}
			case "src", "xlink:href", "srcset", "data", "action", "background":
				t.Errorf("%s has %s=%q", e.name, name, value)
			}
		}
	}
	if m := regexp.MustCompile(`(?i)(https?:)?//[a-z]|url\(|@import`).FindAllString(regexp.MustCompile(`xmlns="[^"]*"`).ReplaceAllString(html, ""), -1); m != nil {
		t.Errorf("external references: %q", m)
	}
	if strings.Contains(html, "ZgotmplZ") {
		t.Error("a value was refused by the template")
	}
	if headings["h1"] != 1 || headings["h2"] != len(reports) {
		t.Errorf("headings %v", headings)
	}
	figures := 0
	for _, r := range reports {
		if byID[r.Name] == nil || byID[r.Name].name != "section" {
			t.Errorf("no page of %s", r.Name)
		}
		figures += len(r.plots)
		for _, p := range r.plots {
			if e := byID["figure-"+p.name]; e == nil || e.name != "figure" || !strings.Contains(e.text, p.title) {
				t.Errorf("no figure %q with title %q", p.name, p.title)
			}
		}
		for _, table := range r.text {
			if !slices.Contains(captions, table.title) {
				t.Errorf("no table %q", table.title)
			}
			for _, row := range table.rows {
				cells := make([]string, max(len(table.header), longest(table.rows)))
				for j := range cells {
					if cells[j] = "–"; j < len(row) && row[j] != "" {
						cells[j] = row[j]
					}
				}
				if !rows[strings.Join(cells, "\t")] {
					t.Errorf("%s: no row %q", table.title, cells)
				}
			}
		}
		for _, n := range r.Notes {
			if !strings.Contains(byID[r.Name].text, n) {
				t.Errorf("%s: no note %q", r.Name, n)
			}
		}
		if !strings.Contains(byID[r.Name].text, "smaller than the paper's") || !strings.Contains(byID[r.Name].text, r.Command) {
			t.Errorf("%s does not say its sizes or command", r.Name)
		}
	}
	if images != figures || figures == 0 {
		t.Errorf("%d pictures, want %d", images, figures)
	}
	for _, f := range reports[0].Findings {
		if !strings.Contains(byID[reports[0].Name].text, f.Verdict) {
			t.Errorf("no verdict %q", f.Verdict)
		}
	}
	for _, want := range []string{"✓ confirmed", "≠ differs", "○ not measured", "1 confirmed", "&lt;b&gt;0.5 ms", `content="width=device-width, initial-scale=1"`, "prefers-color-scheme", "@media print"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q", want)
		}
	}
}

func longest(rows [][]string) int {
	n := 0
	for _, r := range rows {
		n = max(n, len(r))
	}
	return n
}

func TestMarkdown(t *testing.T) {
	reports := testReports(t)
	d := NewDocument("halfulp reproduce all --out x", time.Unix(1e9, 0), reports...)
	var b strings.Builder
	if err := d.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	bars := func(line string) int { return strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") }
	lines := strings.Split(text, "\n")
	for i := 1; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "|") && strings.HasPrefix(lines[i-1], "|") && bars(lines[i]) != bars(lines[i-1]) {
			t.Errorf("%d and %d cells:\n%s\n%s", bars(lines[i-1])-1, bars(lines[i])-1, lines[i-1], lines[i])
		}
	}
	for _, want := range []string{"**Sizes are smaller than the papers':**", `are \<fast> \| as claimed`, `It holds \| here.`, "✓ confirmed", "○ not measured", "✓ 1 confirmed, ≠ 1 differs, ○ 1 not measured"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, r := range reports {
		for _, p := range r.plots {
			if !strings.Contains(text, "]("+p.name+".svg)") {
				t.Errorf("no picture %s", p.name)
			}
		}
		for _, table := range r.text {
			if !strings.Contains(text, "\n"+inMarkdown.Replace(table.title)+"\n") {
				t.Errorf("no table %q", table.title)
			}
		}
	}
}

// TestReadJSON: a report that is read from its JSON has all files as before.
func TestReadJSON(t *testing.T) {
	reports := testReports(t)
	d := NewDocument("c", time.Unix(1e9, 0), reports...)
	var back []*Report
	for _, r := range reports {
		var b bytes.Buffer
		if err := r.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		again, err := ReadJSON(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again.text, r.text) || !reflect.DeepEqual(again.plots, r.plots) {
			t.Errorf("%s: other tables or plots", r.Name)
		}
		back = append(back, again)
	}
	files := d.Files()
	for i, f := range NewDocument("c", time.Unix(1e9, 0), back...).Files() {
		var want, got bytes.Buffer
		if err := errors.Join(files[i].Write(&want), f.Write(&got)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want.Bytes(), got.Bytes()) {
			t.Errorf("%s is another one", f.Name)
		}
		switch f.Name {
		case "report.csv":
			rows, err := csv.NewReader(&got).ReadAll()
			n := 1
			for _, r := range reports {
				n += len(r.Records)
			}
			if err != nil || len(rows) != n {
				t.Errorf("%d rows, want %d, %v", len(rows), n, err)
			}
		case "report.json":
			var all Document
			if err := json.Unmarshal(got.Bytes(), &all); err != nil || len(all.Reports) != len(reports) {
				t.Errorf("%d reports, %v", len(all.Reports), err)
			}
		}
	}
	for _, bad := range []string{"", "{", "[]", `{"name": "ozaki"}`, `{"name": "magic", "records": [{"table": "t"}]}`, `{"magic": 1}`, `{"name": "qd", "records": [{"table": "t"}]} {}`} {
		if _, err := ReadJSON(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read as a report", bad)
		}
	}
}

func TestFigures(t *testing.T) {
	for s, want := range map[string]bool{
		"1": true, "-1.5e-10": true, "12 (64 x 32)": true, "1.2 / 3 / 4e5": true, "120 (16)": true, "0 / 1.2e-28": true, "45 %": true, "8.4 x": true,
		"": false, "2 slices": false, "set 1": false, "cpu": false, "-": false, "(paper: 1)": false, "GTX 480": false,
	} {
		if aFigure.MatchString(s) != want {
			t.Errorf("%q is a figure: %v", s, !want)
		}
	}
}

func TestSizes(t *testing.T) {
	n := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		r    Report
		want string
	}{
		{Report{Name: sumName, N: SumN}, ""},
		{Report{Name: sumName, N: 10}, "smaller than the paper's: 10 addends are timed (paper: 1000000)"},
		{Report{Name: gemvName, N: 2000}, "larger than the paper's: M = N = 2000 (paper: 1000)"},
		{Report{Name: qdName, Records: []Record{{Table: tableQDGemm, Device: cpuDevice, N: 600, Here: n(1)}, {Table: tableQDGemm, Device: "cuda:0, X", N: QDN, Here: n(1)}}},
			"smaller than the paper's: n = 600 on the CPU (paper: 2400)"},
		{Report{Name: qdName, Records: []Record{{Table: tableQDGemm, Device: cpuDevice, N: QDN, Here: n(1)}}}, ""},
	} {
		if got := c.r.sizes(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestRecordLines writes records whose texts look like JSON, one a line, and reads them again.
func TestRecordLines(t *testing.T) {
	r := &Report{Name: "mpres-sum", Records: []Record{
		{Table: "a\n  }", Case: "{\n \"table\": x }", Method: `\" }`, Quantity: "}", Here: known(1)},
		{Table: "b", PaperText: "{", HereText: "\n"},
	}}
	var b bytes.Buffer
	if err := writeJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n    { \"table\": "); n != len(r.Records) {
		t.Errorf("%d records on lines of their own, want %d:\n%s", n, len(r.Records), b.String())
	}
	var back Report
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back.Records, r.Records) {
		t.Errorf("%+v, want %+v", back.Records, r.Records)
	}
}

func TestVerdicts(t *testing.T) {
	reports := testReports(t)
	var b strings.Builder
	d := NewDocument("", time.Time{}, reports...)
	if err := d.WriteVerdicts(&b, func(name string) string { return "[" + name + "](" + name + ".gz)" }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n- Figures: [" + reports[0].Name + "](" + reports[0].Name + ".gz)\n", "✓ 1 confirmed, ≠ 1 differs, ○ 1 not measured", `| It holds \| here. |`, "- Command: " + reports[0].Command} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), reports[0].text[0].title) {
		t.Error("it has the tables of measurements")
	}
}

// TestUnused: styles of one colour differ, and so do styles without a chosen colour.
func TestUnused(t *testing.T) {
	used := map[int]bool{}
	for _, c := range []struct{ colour, want int }{{2, 1}, {2, 1 + colours}, {0, 0}, {0, 2}, {1, colours}, {colours, colours - 1}} {
		k := unused(used, c.colour)
		if k != c.want || c.colour > 0 && styleOf(k).colour != styles[c.colour-1].colour {
			t.Errorf("colour %d: style %d, want %d", c.colour, k, c.want)
		}
		used[k] = true
	}
}
