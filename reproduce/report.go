// Package reproduce runs the experiments of the papers that packages rns, ozaki and expansion
// implement, and compares the papers' figures with measurements: as text, CSV, JSON and plots.
package reproduce

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Machine is the machine of an experiment.
type Machine struct {
	CPU     string   `json:"cpu"`
	Threads int      `json:"threads"`
	Level   string   `json:"level"` // of instruction sets
	GPUs    []string `json:"gpus"`
	System  string   `json:"system"`
	Go      string   `json:"go"`
	Version string   `json:"version"`
	Program string   `json:"program,omitempty"` // distinguishes programs of one version
}

// Record is one figure: of the paper, measured here, or both. A figure that was not measured, or
// that the paper does not give, is nil.
type Record struct {
	Table     string   `json:"table"`
	Case      string   `json:"case,omitempty"` // set of data
	N         int      `json:"n,omitempty"`    // order of matrices
	Seed      int      `json:"seed,omitempty"` // of random numbers
	Method    string   `json:"method"`
	Device    string   `json:"device,omitempty"`   // where it was measured here
	Residues  string   `json:"residues,omitempty"` // SIMD or scalar loops over residues
	Bits      int      `json:"bits,omitempty"`     // precision
	Moduli    int      `json:"moduli,omitempty"`
	Quantity  string   `json:"quantity"` // time, relative error, ...
	Unit      string   `json:"unit,omitempty"`
	Here      *float64 `json:"here"`
	Paper     *float64 `json:"paper"`
	HereText  string   `json:"here_text,omitempty"` // a computed sum, or an error beyond float64
	PaperText string   `json:"paper_text,omitempty"`
	Runs      int      `json:"runs,omitempty"` // Here is the fastest of them
	// Blocks and BlockSize set the order of additions on a GPU; BlockSize is also the block size of
	// a kernel.
	Blocks    int `json:"blocks,omitempty"`
	BlockSize int `json:"block_size,omitempty"`
}

// Report is the outcome of an experiment.
type Report struct {
	Name    string  `json:"name"`
	Source  string  `json:"source"`
	Command string  `json:"command"`
	Machine Machine `json:"machine"`
	Time    string  `json:"time"`
	// Seconds is the duration of the experiment, Estimate its estimate before it began.
	Seconds  float64  `json:"seconds"`
	Estimate float64  `json:"estimate"`
	N        int      `json:"n,omitempty"`
	GPU      string   `json:"gpu,omitempty"` // whose rows stand beside the CPU's
	Records  []Record `json:"records"`
	Notes    []string `json:"notes"`
	// Claim is the paper's claim, in a sentence; Findings report on each part of it.
	Claim    string    `json:"claim,omitempty"`
	Findings []Finding `json:"findings,omitempty"`

	text  []textTable
	plots []figure
}

// Finding compares a table, figure, algorithm or statement of the paper with the measurements.
type Finding struct {
	What    string  `json:"what"`            // table 5, figure 6, algorithm 1, section 4.2, ...
	Paper   string  `json:"paper"`           // its figure, with the unit and the machine
	Here    string  `json:"here"`            // ours by the paper's method, "" if not measured
	Exact   string  `json:"exact,omitempty"` // ours by the exact engine
	Outcome Outcome `json:"outcome"`
	Verdict string  `json:"verdict"` // a sentence or two: whether it holds here, and if not why
}

// Outcome is a verdict in a word.
type Outcome string

// The outcomes of a finding.
const (
	Confirmed   Outcome = "confirmed"
	Differs     Outcome = "differs"
	NotMeasured Outcome = "not measured"
)

// textTable is a table as text; a cell is empty where there is no figure.
type textTable struct {
	title  string
	header []string
	rows   [][]string
}

func (r *Report) add(records ...Record) { r.Records = append(r.Records, records...) }

// find returns the records of a table.
func (r *Report) find(table string) []Record {
	var found []Record
	for _, k := range r.Records {
		if k.Table == table {
			found = append(found, k)
		}
	}
	return found
}

// gpus names the GPU that was used, or the GPUs of the machine.
func (r *Report) gpus() string {
	switch {
	case r.GPU != "":
		return r.GPU
	case len(r.Machine.GPUs) > 0:
		return strings.Join(r.Machine.GPUs, ", ") + " (not used)"
	}
	return "no GPU"
}

// WriteText writes the report for readers.
func (r *Report) WriteText(w io.Writer) error {
	m := r.Machine
	fmt.Fprintf(w, "%s\n\n", r.Source)
	if s := r.sizes(); s != "" {
		fmt.Fprintf(w, "sizes are %s\n", s)
	}
	fmt.Fprintf(w, "measured on %s, %d threads, instructions up to %s, %s; %s, %s, halfulp %s; %s\n",
		m.CPU, m.Threads, m.Level, r.gpus(), m.System, m.Go, m.Version, r.Time)
	for _, t := range r.text {
		fmt.Fprintf(w, "\n%s\n", t.title)
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, row := range append([][]string{t.header}, t.rows...) {
			cells := make([]string, len(row))
			for i, c := range row {
				if cells[i] = c; c == "" {
					cells[i] = "-"
				}
			}
			fmt.Fprintln(tw, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	for i, n := range r.Notes {
		fmt.Fprintln(w, wrap(fmt.Sprintf("%d. ", i+1), n))
	}
	return nil
}

// textWidth is the width of notes.
const textWidth = 100

// wrap breaks text into lines, the first after a mark.
func wrap(mark, text string) string {
	var b strings.Builder
	line := mark
	indent := strings.Repeat(" ", len(mark))
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			line += word
		case len([]rune(line))+1+len([]rune(word)) > textWidth:
			fmt.Fprintln(&b, line)
			line = indent + word
		default:
			line += " " + word
		}
	}
	return b.String() + line
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	return writeJSON(w, r)
}

// csvHeader are the names of a record's fields.
var csvHeader = []string{"table", "case", "method", "device", "residues", "bits", "moduli", "quantity", "unit",
	"here", "paper", "here_text", "paper_text", "runs", "blocks", "block_size", "n", "seed"}

func (k *Record) fields() []string {
	return []string{k.Table, k.Case, k.Method, k.Device, k.Residues, count(k.Bits), count(k.Moduli), k.Quantity, k.Unit,
		full(k.Here), full(k.Paper), k.HereText, k.PaperText, count(k.Runs), count(k.Blocks), count(k.BlockSize), count(k.N), count(k.Seed)}
}

// WriteCSV writes the records, one a line after the names of their fields.
func (r *Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write(csvHeader)
	for _, k := range r.Records {
		_ = c.Write(k.fields())
	}
	c.Flush()
	return c.Error() // also an error of Write
}

// count returns n as text, or nothing for 0.
func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// full returns the number in all its digits, or nothing.
func full(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

// short returns a time or a share in three digits, or nothing.
func short(x *float64) string { return significant(x, 3) }

// asError returns a relative error in three digits, or nothing.
func asError(x *float64) string { return significant(x, 3) }

// significant returns the number rounded to so many significant digits, or nothing: as a decimal
// fraction between 0.001 and 10000, with a power of ten elsewhere.
func significant(x *float64, digits int) string {
	if x == nil {
		return ""
	}
	if *x == 0 || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return strconv.FormatFloat(*x, 'g', -1, 64)
	}
	s := strconv.FormatFloat(*x, 'e', digits-1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(exponent)
	if e < -3 || e > 3 {
		return mantissa + "e" + strconv.Itoa(e)
	}
	rounded, _ := strconv.ParseFloat(s, 64)
	return strconv.FormatFloat(rounded, 'f', max(digits-1-e, 0), 64)
}

// errorText returns a relative error, maybe beyond float64, in two digits.
func errorText(x *big.Float) string {
	if x.Sign() == 0 {
		return "0"
	}
	mantissa, exponent, _ := strings.Cut(x.Text('e', 1), "e")
	e, _ := strconv.Atoi(exponent)
	return mantissa + "e" + strconv.Itoa(e)
}

// time returns a time for a table, with the blocks where each precision has its own.
func (k *Record) time() string {
	s := short(k.Here)
	switch {
	case !strings.HasSuffix(k.Method, tuned):
	case k.Blocks > 0:
		s += fmt.Sprintf(" (%d x %d)", k.Blocks, k.BlockSize)
	default:
		s += fmt.Sprintf(" (%d)", k.BlockSize)
	}
	return s
}

func known(x float64) *float64 { return &x }

// File is a file of a report, named by the end of its name.
type File struct {
	Name  string
	Write func(w io.Writer) error
}

// JSONFile returns the file with all of the report, from which ReadJSON restores it.
func (r *Report) JSONFile() File { return File{r.Name + ".json", r.WriteJSON} }

// Files returns the files of the report: its records as CSV, the whole as JSON, and each
// plot as PNG and SVG.
func (r *Report) Files() []File {
	files := []File{
		{r.Name + ".csv", r.WriteCSV},
		r.JSONFile(),
	}
	for _, f := range r.plots {
		for _, kind := range []string{"png", "svg"} {
			files = append(files, File{f.name + "." + kind, func(w io.Writer) error { return f.write(w, kind) }})
		}
	}
	return files
}
