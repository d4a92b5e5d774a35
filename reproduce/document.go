package reproduce

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Document is the report of all experiments.
type Document struct {
	Command string    `json:"command"`
	Time    string    `json:"time"`
	Reports []*Report `json:"reports"`
}

// documentName is the prefix of the names of its files.
const documentName = "report"

// NewDocument returns the report of the experiments, which are in the order of Names.
func NewDocument(command string, at time.Time, reports ...*Report) *Document {
	return &Document{command, at.UTC().Format(time.RFC3339), reports}
}

// Files returns the files of the document. Markdown requires the reports' plots beside it.
func (d *Document) Files() []File {
	return []File{
		{documentName + ".csv", d.WriteCSV},
		{documentName + ".json", d.WriteJSON},
		{documentName + ".md", d.WriteMarkdown},
		{documentName + ".html", d.WriteHTML},
	}
}

// WriteJSON writes all of the reports for programs.
func (d *Document) WriteJSON(w io.Writer) error { return writeJSON(w, d) }

// recordJSON is a record as an Encoder writes it: strings have no line breaks, and records no
// braces but in strings.
var recordJSON = regexp.MustCompile(`\{\n +"table": (?:[^\n]*\n)*? +\}`)

// breaks are line breaks with the blanks that follow.
var breaks = regexp.MustCompile(`\n *`)

// writeJSON writes x with a record a line.
func writeJSON(w io.Writer, x any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(x); err != nil {
		return err
	}
	_, err := w.Write(recordJSON.ReplaceAllFunc(b.Bytes(), func(record []byte) []byte {
		return breaks.ReplaceAll(record, []byte(" "))
	}))
	return err
}

// WriteCSV writes the records of all reports. Each record is as in Report.WriteCSV, after its
// report's name.
func (d *Document) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write(append([]string{"report"}, csvHeader...))
	for _, r := range d.Reports {
		for _, k := range r.Records {
			_ = c.Write(append([]string{r.Name}, k.fields()...))
		}
	}
	c.Flush()
	return c.Error() // also an error of Write
}

// page is a report as HTML and Markdown show it.
type page struct {
	Name, Title string
	Sources     []string
	Claim       string
	Sizes       string // where they are not the paper's
	Run         []pair // the machine, the command, ...
	Findings    []finding
	Counts      []outcomeCount
	Tables      []pageTable
	Figures     []pageFigure
	Notes       []string
}

type pair struct{ Name, Value string }

type finding struct {
	Finding
	Mark, Class string
}

type outcomeCount struct {
	Outcome     Outcome
	Mark, Class string
	N           int
}

type pageTable struct {
	Title  string
	Header []cell
	Rows   [][]cell
}

// cell is a cell of a table; figures are aligned right.
type cell struct {
	Text   string
	Figure bool
}

type pageFigure struct {
	Name, Title, About string
	plot               figure
}

// outcomes are the marks of verdicts, which can be told apart without colours.
var outcomes = []struct {
	outcome     Outcome
	mark, class string
}{
	{Confirmed, "✓", "confirmed"}, {Differs, "≠", "differs"}, {NotMeasured, "○", "missing"},
}

// aFigure is a number as in tables: with a unit or a remark in parentheses, or several numbers.
var aFigure = regexp.MustCompile(`^[-+<>≤≥]?[0-9][0-9.]*(e[-+]?[0-9]+)?( ?%| ?x)?( \([^()]*\))?( / [-+]?[0-9.]+(e[-+]?[0-9]+)?)*$`)

// page returns the report as a page for readers.
func (r *Report) page() page {
	about := papers[r.Name]
	p := page{Name: r.Name, Title: about.title, Sources: about.sources, Claim: r.Claim, Sizes: r.sizes(), Notes: r.Notes}
	if p.Claim == "" {
		p.Claim = about.about
	}
	p.Run = []pair{
		{"Machine", fmt.Sprintf("%s, %d threads, instructions up to %s, %s", r.Machine.CPU, r.Machine.Threads, r.Machine.Level, r.gpus())},
		{"System", fmt.Sprintf("%s, %s", r.Machine.System, r.Machine.Go)},
		{"Version", "halfulp " + r.Machine.Version + with(", program ", r.Machine.Program)},
		{"Command", r.Command},
		{"Finished", fmt.Sprintf("%s, after %s (estimated before: %s)", r.Time, inWords(r.Seconds), inWords(r.Estimate))},
	}
	for _, o := range outcomes {
		n := 0
		for _, f := range r.Findings {
			if f.Outcome == o.outcome {
				n++
			}
		}
		p.Counts = append(p.Counts, outcomeCount{o.outcome, o.mark, o.class, n})
	}
	for _, f := range r.Findings {
		shown := finding{f, "?", "missing"}
		for _, o := range outcomes {
			if o.outcome == f.Outcome {
				shown.Mark, shown.Class = o.mark, o.class
			}
		}
		p.Findings = append(p.Findings, shown)
	}
	for _, t := range r.text {
		p.Tables = append(p.Tables, t.page())
	}
	for _, f := range r.plots {
		var titles []string
		for _, q := range f.panels {
			if q.title != "" {
				titles = append(titles, q.title)
			}
		}
		about := fmt.Sprintf("Plot of %s by %s", f.yLabel, f.label())
		if len(titles) > 1 {
			about += fmt.Sprintf(", in %d panels: %s", len(titles), strings.Join(titles, "; "))
		}
		p.Figures = append(p.Figures, pageFigure{f.name, f.title, about, f})
	}
	return p
}

// with returns text after a word, or nothing.
func with(word, text string) string {
	if text == "" {
		return ""
	}
	return word + text
}

// inWords returns a time in minutes and seconds.
func inWords(seconds float64) string {
	if seconds < 10 {
		return fmt.Sprintf("%.1f s", seconds)
	}
	s := int(seconds + 0.5)
	if s < 100 {
		return fmt.Sprintf("%d s", s)
	}
	return fmt.Sprintf("%d min %d s", s/60, s%60)
}

// page returns the table with the same number of cells in all rows, and marks figures.
func (t *textTable) page() pageTable {
	columns := len(t.header)
	for _, row := range t.rows {
		columns = max(columns, len(row))
	}
	p := pageTable{Title: t.title}
	at := func(row []string, j int) string {
		if j < len(row) {
			return row[j]
		}
		return ""
	}
	figures := make([]int, columns) // less the words
	for _, row := range t.rows {
		cells := make([]cell, columns)
		for j := range cells {
			text := at(row, j)
			cells[j] = cell{text, aFigure.MatchString(text)}
			switch {
			case cells[j].Figure:
				figures[j]++
			case text != "":
				figures[j]--
			}
		}
		p.Rows = append(p.Rows, cells)
	}
	for j := range columns {
		p.Header = append(p.Header, cell{at(t.header, j), figures[j] > 0})
	}
	for _, row := range p.Rows {
		for j := range row {
			if row[j].Text == "" {
				row[j] = cell{"–", figures[j] > 0}
			}
		}
	}
	return p
}

// pages returns the pages of all reports.
func (d *Document) pages() []page {
	var list []page
	for _, r := range d.Reports {
		list = append(list, r.page())
	}
	return list
}

// view is the data of the templates of HTML and Markdown.
type view struct {
	*Document
	Pages   []page
	Smaller bool // sizes than a paper's
	Took    string
}

func (d *Document) view() view {
	v := view{Document: d, Pages: d.pages()}
	seconds := 0.0
	for i, r := range d.Reports {
		v.Smaller = v.Smaller || strings.HasPrefix(v.Pages[i].Sizes, "smaller")
		seconds += r.Seconds
	}
	v.Took = inWords(seconds)
	return v
}

//go:embed report.html
var htmlText string

var htmlTemplate = template.Must(template.New("html").Funcs(template.FuncMap{"svg": pageFigure.svg}).Parse(htmlText))

// WriteHTML writes the document as one file of HTML, well-formed as XML, with all pictures in it.
func (d *Document) WriteHTML(w io.Writer) error { return htmlTemplate.Execute(w, d.view()) }

// rootSVG is the beginning of an SVG file, up to the end of its first tag.
var rootSVG = regexp.MustCompile(`(?s)^.*?<svg [^>]*viewBox="([0-9.]+ [0-9.]+ ([0-9.]+) [0-9.]+)"[^>]*>`)

// The least and the largest width of a plot, in pixels of CSS for a unit of its viewBox. In this
// range its letters are about 9 high.
const (
	leastScale   = 1.2
	largestScale = 1.8
)

// svg returns the plot as an element of HTML. Its width makes the letters readable; its title and a
// description are for readers who do not see it.
func (f pageFigure) svg() (template.HTML, error) {
	var b bytes.Buffer
	if err := f.plot.write(&b, "svg"); err != nil {
		return "", err
	}
	root := rootSVG.FindSubmatchIndex(b.Bytes())
	if root == nil {
		return "", fmt.Errorf("%s: the plot has no viewBox", f.Name)
	}
	width, err := strconv.ParseFloat(string(b.Bytes()[root[4]:root[5]]), 64)
	if err != nil {
		return "", err
	}
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="%s" style="min-width:%.0fpx;max-width:%.0fpx" role="img" aria-labelledby="%s-title %s-desc"><title id="%s-title">%s</title><desc id="%s-desc">%s</desc>`,
		b.Bytes()[root[2]:root[3]], leastScale*width, largestScale*width, f.Name, f.Name, f.Name, template.HTMLEscapeString(f.Title), f.Name, template.HTMLEscapeString(f.About))
	return template.HTML(head) + template.HTML(b.Bytes()[root[1]:]), nil //nolint:gosec // our own SVG
}

// WriteSummary writes each paper's verdicts for readers of a terminal.
func (d *Document) WriteSummary(w io.Writer) error {
	var b bytes.Buffer
	for i, p := range d.pages() {
		fmt.Fprintf(&b, "%s: %s\n", p.Name, p.Title)
		fmt.Fprintln(&b, wrap("  ", p.Claim))
		if p.Sizes != "" {
			fmt.Fprintln(&b, wrap("  ", "Sizes are "+p.Sizes))
		}
		fmt.Fprintf(&b, "  verdicts: %s; took %s\n", p.verdicts(), inWords(d.Reports[i].Seconds))
		for _, f := range p.Findings {
			fmt.Fprintln(&b, wrap("  "+f.Mark+" ", f.What+": "+f.Verdict))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteMarkdown writes the document as Markdown; the plots are files beside it.
func (d *Document) WriteMarkdown(w io.Writer) error {
	v := d.view()
	m := &markdown{}
	m.line("# The papers beside halfulp")
	m.line("")
	m.line("Written by `%s` at %s, after %s of measurements.", d.Command, d.Time, v.Took)
	if v.Smaller {
		m.line("")
		m.line("**Sizes are smaller than the papers':** what each paper has stands beside its name.")
	}
	m.line("")
	m.row("paper", "claim", "sizes", "verdicts")
	m.line("| --- | --- | --- | --- |")
	for _, p := range v.Pages {
		m.row(fmt.Sprintf("[%s](#%s)", p.Title, p.Name), p.Claim, orElse(p.Sizes, "the paper's"), p.verdicts())
	}
	for _, p := range v.Pages {
		m.page(p)
	}
	_, err := w.Write(m.Bytes())
	return err
}

// WriteVerdicts writes the findings alone as Markdown. from says where a report's figures are.
func (d *Document) WriteVerdicts(w io.Writer, from func(name string) string) error {
	m := &markdown{}
	m.line("# The papers' claims, one by one")
	m.line("")
	m.line("Written by `go generate ./scripts/docs`.")
	m.line("")
	m.line("Each table has a row for each claim, table, figure and algorithm of a paper: what the paper states, what halfulp measured with the")
	m.line("paper's own method, what the correctly rounded routine gives, and a verdict. ✓ means confirmed, ≠ differs, ○ not measured.")
	for _, p := range d.pages() {
		m.line("\n## %s\n", p.Title)
		for _, s := range p.Sources {
			m.line("- %s", inMarkdown.Replace(s))
		}
		m.line("- Figures: %s", from(p.Name))
		for _, r := range p.Run {
			if r.Name == "Machine" || r.Name == "Command" || r.Name == "Finished" {
				m.line("- %s: %s", r.Name, inMarkdown.Replace(r.Value))
			}
		}
		m.line("\n%s", inMarkdown.Replace(p.Claim))
		if p.Sizes != "" {
			m.line("\n**%s%s.**", strings.ToUpper(p.Sizes[:1]), inMarkdown.Replace(p.Sizes[1:]))
		}
		m.line("\nVerdicts: %s.\n", p.verdicts())
		m.findings(p.Findings)
	}
	_, err := w.Write(m.Bytes())
	return err
}

// findings writes a table of findings.
func (m *markdown) findings(list []finding) {
	m.row("what", "the paper", "here, by the paper's method", "here, exactly", "outcome", "verdict")
	m.line("|%s", strings.Repeat(" --- |", 6))
	for _, f := range list {
		m.row(f.What, f.Paper, orElse(f.Here, "–"), orElse(f.Exact, "–"), f.Mark+" "+string(f.Outcome), f.Verdict)
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// verdicts returns the counts in words.
func (p *page) verdicts() string {
	if len(p.Findings) == 0 {
		return "none"
	}
	var list []string
	for _, c := range p.Counts {
		if c.N > 0 {
			list = append(list, fmt.Sprintf("%s %d %s", c.Mark, c.N, c.Outcome))
		}
	}
	return strings.Join(list, ", ")
}

// markdown is a text that is being written.
type markdown struct{ bytes.Buffer }

func (m *markdown) line(format string, args ...any) {
	fmt.Fprintf(m, format, args...)
	m.WriteByte('\n')
}

// inMarkdown escapes text so that it is not read as marks.
var inMarkdown = strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`", "\n", " ")

// row writes a row of a table.
func (m *markdown) row(cells ...string) {
	for i, c := range cells {
		if !strings.HasPrefix(c, "[") {
			cells[i] = inMarkdown.Replace(c)
		}
	}
	m.line("| %s |", strings.Join(cells, " | "))
}

func (m *markdown) page(p page) {
	m.line("\n<a id=\"%s\"></a>\n\n## %s\n", p.Name, p.Title)
	for _, s := range p.Sources {
		m.line("- %s", inMarkdown.Replace(s))
	}
	m.line("\n%s", inMarkdown.Replace(p.Claim))
	if p.Sizes != "" {
		m.line("\n**%s%s.**", strings.ToUpper(p.Sizes[:1]), inMarkdown.Replace(p.Sizes[1:]))
	}
	m.line("")
	for _, r := range p.Run {
		m.line("- %s: %s", r.Name, inMarkdown.Replace(r.Value))
	}
	if len(p.Findings) > 0 {
		m.line("\n### Findings\n")
		m.findings(p.Findings)
	}
	if len(p.Tables) > 0 {
		m.line("\n### Tables")
	}
	for _, t := range p.Tables {
		m.line("\n%s\n", inMarkdown.Replace(t.Title))
		m.row(texts(t.Header)...)
		rule := "|"
		for _, c := range t.Header {
			if c.Figure {
				rule += " ---: |"
			} else {
				rule += " --- |"
			}
		}
		m.line("%s", rule)
		for _, row := range t.Rows {
			m.row(texts(row)...)
		}
	}
	if len(p.Figures) > 0 {
		m.line("\n### Figures")
	}
	for _, f := range p.Figures {
		m.line("\n![%s](%s.svg)\n\n%s", inMarkdown.Replace(f.About), f.Name, inMarkdown.Replace(f.Title))
	}
	if len(p.Notes) > 0 {
		m.line("\n### Notes\n")
	}
	for i, n := range p.Notes {
		m.line("%d. %s", i+1, inMarkdown.Replace(n))
	}
}

func texts(cells []cell) []string {
	list := make([]string, len(cells))
	for i, c := range cells {
		list[i] = c.Text
	}
	return list
}
