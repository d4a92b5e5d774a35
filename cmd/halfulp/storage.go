package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile"
	"github.com/halfulp/halfulp/matfile/gridfiles"
	"github.com/halfulp/halfulp/matrixmarket"
)

// matrix reads an operand, once where several operands are one file: nothing may change it.
func (j *job) matrix(name string) (*halfulp.Matrix, error) {
	if m := j.operands[name]; m != nil {
		return m, nil
	}
	m, _, err := j.read(name, halfulp.AtLeast(j.format))
	if err != nil {
		return nil, err
	}
	if j.rounds && m.NumberFormat() != j.format {
		var stats halfulp.InputStats
		m, stats = convert(m, j.format)
		j.warnInput(name, stats, j.format)
	}
	if name != files.Stdio {
		if j.operands == nil {
			j.operands = map[string]*halfulp.Matrix{}
		}
		j.operands[name] = m
	}
	return m, nil
}

// read reads a matrix, by default as in says, and warns of what the range of its format took.
func (j *job) read(name string, in halfulp.InputFormat) (*halfulp.Matrix, halfulp.InputStats, error) {
	from := matfile.ReadMatrix
	if j.grid != nil {
		from = func(name string, stdin io.Reader, opt matfile.ReadOptions) (*halfulp.Matrix, error) {
			return gridfiles.Read(j.grid, name, stdin, opt)
		}
	}
	m, stats, err := read(j, name, in, from)
	if err != nil {
		return nil, stats, err
	}
	j.warnInput(name, stats, m.NumberFormat())
	return m, stats, nil
}

// sparse reads the entries of a matrix.
func (j *job) sparse(name string) (*matrixmarket.Sparse, error) {
	a, stats, err := read(j, name, halfulp.AtLeast(j.format), matfile.ReadSparse)
	if err != nil {
		return nil, err
	}
	j.warnInput(name, stats, a.Values.NumberFormat())
	return a, nil
}

// read calls a function that reads a file as the flags say, by default as in says, and tells what
// the range of the format took.
func read[T any](j *job, name string, in halfulp.InputFormat, from func(string, io.Reader, matfile.ReadOptions) (T, error)) (T, halfulp.InputStats, error) {
	start := time.Now()
	var stats halfulp.InputStats
	opt := matfile.ReadOptions{
		In:       in,
		Stats:    &stats,
		Threads:  int(j.how.Threads),
		Context:  j.env.Ctx,
		Progress: j.startProgress("reading " + name),
		Flat:     &j.flat,
		Dialect:  j.in.dialect(),
		Note:     new(string),
		NoTable:  new(bool),

		MemoryLimit: int64(j.how.Memory),
	}
	if j.rounds {
		opt.In = halfulp.OwnOr(j.format)
	}
	if f, ok := j.in.in(); ok {
		opt.In = halfulp.Exactly(f)
	}
	z, err := from(name, j.env.Stdin, opt)
	j.finish()
	if j.grid == nil {
		err = team.same(opt, name, z, err)
	}
	j.reading += time.Since(start)
	j.table = j.table || !*opt.NoTable
	if *opt.Note != "" && err == nil && !j.print.Quiet {
		fmt.Fprintf(j.env.Stderr, "halfulp: note: %s: %s\n", shown(name), *opt.Note)
	}
	return z, stats, err
}

// convert returns m in format f, and what the range of f took.
func convert(m *halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, halfulp.InputStats) {
	var stats halfulp.InputStats
	z := m.Convert(f)
	from, to := m.View(), z.View()
	for j := range m.Cols() {
		for i := range m.Rows() {
			if from.Arr.Class(from.At(i, j)) != num.Finite {
				continue
			}
			switch to.Arr.Class(to.At(i, j)) {
			case num.Inf:
				stats.ToInf.Count++
			case num.Zero:
				stats.ToZero.Count++
			}
		}
	}
	return z, stats
}

// warnInput says which numbers of an operand were lost when they were rounded to the
// format.
func (j *job) warnInput(name string, stats halfulp.InputStats, f halfulp.Format) {
	if j.print.Quiet {
		return
	}
	j.warnUnended(name, stats.Unended)
	if j.command != "convert" && stats.Bits > f.Bits() {
		fmt.Fprintf(j.env.Stderr, "halfulp: warning: %s: integers or hexadecimal numbers of up to %d bits are rounded to %v, as all operands are\n",
			shown(name), stats.Bits, f)
	}
	for _, c := range []struct {
		halfulp.Losses
		what, became string
	}{
		{stats.ToInf, "beyond", "infinite"},
		{stats.ToZero, "below", "0"},
	} {
		if c.Count == 0 {
			continue
		}
		place, more := shown(name), ""
		if c.Line > 0 {
			place = fmt.Sprintf("%s:%d", place, c.Line)
		}
		if c.Count > 1 {
			more = fmt.Sprintf(", the first of %d that did", c.Count)
		}
		fmt.Fprintf(j.env.Stderr, "halfulp: warning: %s: a number %s the range of %v became %s%s\n", place, c.what, f, c.became, more)
	}
}

// warnUnended says, once for each file, that its last line has no end, 0 if it has one. A single
// line on standard input is taken for one that was written so.
func (j *job) warnUnended(name string, line int) {
	file, _ := matfile.Split(name)
	if line == 0 || name == files.Stdio && line == 1 || slices.Contains(j.unended, file) {
		return
	}
	j.unended = append(j.unended, file)
	fmt.Fprintf(j.env.Stderr, "halfulp: warning: %s:%d: no line feed ends the last line: if the file was cut off, its last number may be, too\n", shown(file), line)
}

// writeFile writes z to the output file or standard output.
func (j *job) writeFile(z *halfulp.Matrix) error {
	opt := matfile.WriteOptions{Digits: int(j.print.Digits), Threads: int(j.how.Threads), Context: j.env.Ctx, Flat: j.flat, As: j.print.as()}
	// A bar among numbers on a terminal helps nobody.
	if j.print.target() != files.Stdio && team.first() {
		opt.Progress = j.startProgress("writing " + j.print.target())
		defer j.finish()
	}
	if j.grid != nil && z.Place() == halfulp.Device(j.how.Device) {
		return j.written(func(last func() error) error {
			opt.Last = last
			return gridfiles.Write(j.grid, j.print.target(), j.env.Stdout, z, opt)
		})
	}
	return j.writing(func(last func() error) error {
		opt.Last = last
		return matfile.WriteMatrix(j.print.target(), j.env.Stdout, z, opt)
	})
}

// writing calls a function that writes the result, in the first process. The function calls last
// when all is written and no file has its name yet.
func (j *job) writing(write func(last func() error) error) error {
	return j.written(func(last func() error) error {
		if !team.first() {
			return last()
		}
		asked := false
		err := write(func() error {
			asked = true
			return last()
		})
		if !asked { // the others wait
			err = team.decide(j.env.Ctx, err)
		}
		return err
	})
}

// written calls a function that writes the result, in all processes, and shows the statistics then.
// The function calls last in all of them, as in writing. No result comes from files to which a flag
// of tables does not apply.
func (j *job) written(write func(last func() error) error) error {
	if j.in != nil && !j.table {
		if flag := j.in.tableFlag(); flag != "" {
			return cli.Misuse("%s is for tables of numbers: no operand is one", flag)
		}
	}
	start := time.Now()
	if err := write(func() error { return team.decide(j.env.Ctx, nil) }); err != nil || !team.first() {
		return err
	}
	return j.showStats(time.Since(start))
}

// writeText writes text there.
func (j *job) writeText(text string) error {
	return j.writing(func(last func() error) error { return j.textThen(text, last) })
}

// textThen writes text there and calls last before the file gets its name.
func (j *job) textThen(text string, last func() error) error {
	return files.WriteThen(j.print.target(), j.env.Stdout, last, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// writeTable writes rows of cells, which tabs separate: as a table of the kind that is asked for,
// or in columns for people.
func (j *job) writeTable(text string) error {
	switch ending(j.print.kind(), tableEndings...) {
	case ".tsv":
		return j.writeText(text)
	case ".csv":
		var b strings.Builder
		for line := range strings.Lines(text) {
			cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			for i, c := range cells {
				if strings.Contains(c, ",") {
					cells[i] = `"` + c + `"`
				}
			}
			b.WriteString(strings.Join(cells, ",") + "\n")
		}
		return j.writeText(b.String())
	}
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(t, text); err != nil {
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return j.writeText(b.String())
}

// target is the name of the output file, that of standard output by default.
func (f *printFlags) target() string {
	if f.Out == nil {
		return files.Stdio
	}
	return *f.Out
}

// as is a name that says what kind of file to write, empty where the file's own does.
func (f *printFlags) as() string {
	if f.To == "" {
		return ""
	}
	return "--to ." + strings.TrimPrefix(f.To, ".")
}

// kind is the name that says what kind of file to write.
func (f *printFlags) kind() string {
	if f.To != "" {
		return f.as()
	}
	return f.target()
}

// isArchive says whether several matrices go to one .npz file.
func (f *printFlags) isArchive() bool { return f.Several && !f.JSON && matfile.IsArchive(f.kind()) }

var errNoName = cli.Misuse("--out: the name is empty")

// check returns an error if the output file cannot be written, or cannot hold what
// is to be written: a matrix of one of the formats, as far as they are known, or
// text.
func (f *printFlags) check(isMatrix bool, formats ...halfulp.Format) error {
	if f.target() == "" {
		return errNoName
	}
	if isMatrix && !f.JSON {
		if strings.EqualFold(filepath.Ext("."+f.To), ".gz") {
			return cli.Misuse("--to %s: only a name that ends in .gz packs a file: --out FILE.gz", f.To)
		}
		name := f.as()
		if name != "" && !matfile.IsKind(name) {
			return cli.Misuse("--to %s: the kinds are mtx, npz, npy, csv, tsv, txt, flint, pari, mpmath and mathematica", f.To)
		}
		if name == "" {
			name = "--out: " + f.target()
		}
		if err := matfile.CheckMatrixName(name, formats...); err != nil {
			return cli.Misuse("%w", err)
		}
		return files.CheckWritable(f.target())
	}
	if f.isArchive() {
		return files.CheckWritable(f.target())
	}
	what := "text"
	if f.JSON {
		what = "JSON"
	}
	if f.To != "" && (f.JSON || ending(f.as(), tableEndings...) == "" && ending(f.as(), ".txt") == "") {
		return cli.Misuse("--to %s: this result is %s", f.To, what)
	}
	no := []string{".npy", ".npz", ".mtx", ".arb", ".gp", ".py", ".wl"}
	if f.JSON {
		no = append(no, tableEndings...)
	} else {
		no = append(no, ".json")
	}
	if kind := ending(f.target(), no...); kind != "" && f.To == "" {
		return cli.Misuse("--out: %s: this result is %s, which a %s file does not hold", f.target(), what, kind)
	}
	return files.CheckWritable(f.target())
}

// tableEndings are those of files that hold text in rows of cells.
var tableEndings = []string{".csv", ".tsv"}

// ending returns which one of some endings a name has, without .gz, or nothing.
func ending(name string, endings ...string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	for _, e := range endings {
		if strings.HasSuffix(name, e) {
			return e
		}
	}
	return ""
}

// checkSize returns an error if a rows x cols matrix of format f takes more memory than allowed.
func (m memorySize) checkSize(f halfulp.Format, rows, cols int) error {
	number := float64(math.Ceil(float64(f.Bits())/64) * 8)
	switch {
	case f == halfulp.Float32:
		number = 4
	case f.IsMP():
		number += 8 // exponent, sign and class
	}
	need, limit := float64(rows)*float64(cols)*number, float64(m.limit())
	if need > limit {
		return fmt.Errorf("%d x %d numbers of format %v take %s, the memory limit is %s", rows, cols, f, textio.Bytes(need), textio.Bytes(limit))
	}
	return nil
}

// checkSize does so for the result, or for the largest part of it that a process has.
func (j *job) checkSize(rows, cols int) error {
	if j.grid == nil {
		return j.how.Memory.checkSize(j.format, rows, cols)
	}
	if err := j.how.Memory.checkSize(j.format, j.grid.Largest(rows, cols), 1); err != nil {
		return fmt.Errorf("the part of a process: %w", err)
	}
	return nil
}
