package main

import (
	"errors"
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
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile"
	"github.com/halfulp/halfulp/matfile/gridfiles"
)

// matrix reads an operand. A file that is several operands is read once, so the matrix must not be
// changed.
func (j *job) matrix(name string) (*halfulp.Matrix, error) {
	if j.in.exact() {
		return nil, cli.Misuse("--in exact: %s computes with numbers of a format here", j.command)
	}
	return j.inFormat(name)
}

// inFormat is matrix for an operand whose numbers have a format even if others are exact.
func (j *job) inFormat(name string) (*halfulp.Matrix, error) {
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

// read reads a matrix, in the format in by default, and warns of losses by the range of its format.
func (j *job) read(name string, in halfulp.InputFormat) (*halfulp.Matrix, halfulp.InputStats, error) {
	from := matfile.Read
	if j.grid != nil {
		from = func(name string, opt *matfile.Options) (*halfulp.Matrix, error) {
			return gridfiles.Read(j.grid, name, opt)
		}
	}
	m, stats, err := read(j, name, in, from)
	if err != nil {
		return nil, stats, j.withExact(err)
	}
	j.digits = stats.Digits
	if rows, cols := m.Dims(); j.densified && rows > 1 && cols > 1 && !j.print.Quiet {
		fmt.Fprintf(j.env.Stderr, "halfulp: note: %s: the sparse matrix becomes a dense one of %d x %d numbers, which takes %s; spmv and cg keep it sparse\n",
			shown(name), rows, cols, textio.Bytes(bytesOf(m.NumberFormat(), rows, cols)))
	}
	j.warnInput(name, stats, m.NumberFormat())
	j.noteDigits(name, stats)
	return m, stats, nil
}

// withExact adds to an error about a fraction that --in exact reads it.
func (j *job) withExact(err error) error {
	if takesExact(j.command) && j.in != nil && (errors.Is(err, matfile.ErrRational) || errors.Is(err, decimal.ErrFraction)) {
		return fmt.Errorf("%w: --in exact reads it", err)
	}
	return err
}

// noteDigits notes, once for all files, that decimals of a text have more digits than the result's
// format holds, so that results differ from the results for the same numbers in binary files.
func (j *job) noteDigits(name string, stats halfulp.InputStats) {
	f, err := num.ParseFormat(j.format.String())
	if err != nil || stats.Digits <= decimal.HeldDigits(f) || j.noted || j.print.Quiet || j.command == "convert" || j.command == "transpose" {
		return
	}
	j.noted = true
	in := j.format
	if in.Bits() < halfulp.Float64.Bits() {
		in = halfulp.Float64
	}
	file, _ := matfile.SplitName(name)
	fmt.Fprintf(j.env.Stderr, "halfulp: note: %s: decimals of up to %d digits, more than %v holds, are read in full; --in %v rounds them first, as a binary file does\n",
		shown(file), stats.Digits, j.format, in)
}

// noteHeader notes, once for each file, how a first row with words was read.
func (j *job) noteHeader(name, note string) {
	file, _ := matfile.SplitName(name)
	text := fmt.Sprintf("halfulp: note: %s: %s\n", shown(file), note)
	if note == "" || j.print.Quiet || slices.Contains(j.headers, text) {
		return
	}
	j.headers = append(j.headers, text)
	fmt.Fprint(j.env.Stderr, text)
}

// sparse reads the entries of a matrix.
func (j *job) sparse(name string) (*matfile.Sparse, error) {
	a, stats, err := read(j, name, halfulp.AtLeast(j.format), matfile.ReadSparse)
	if err != nil {
		return nil, err
	}
	j.warnInput(name, stats, a.Values.NumberFormat())
	j.noteDigits(name, stats)
	return a, nil
}

// read calls a function that reads a file as the flags request, in the format in by default. It
// returns the losses by the range of the format.
func read[T any](j *job, name string, in halfulp.InputFormat, from func(string, *matfile.Options) (T, error)) (T, halfulp.InputStats, error) {
	start := time.Now()
	var info matfile.Info
	opt := &matfile.Options{
		In:          in,
		Threads:     int(j.how.Threads),
		MemoryLimit: int64(j.how.Memory),
		Context:     j.env.Ctx,
		Progress:    j.startProgress("reading " + name),
		Dialect:     j.in.dialect(),
		Info:        &info,
		Stdin:       j.env.Stdin,
	}
	if j.rounds {
		opt.In = halfulp.OwnOr(j.format)
	}
	if f, ok := j.in.in(); ok {
		opt.In = halfulp.Exactly(f)
	}
	z, err := from(name, opt)
	j.finish()
	if j.grid == nil {
		err = team.same(opt, name, z, err)
	}
	j.reading += time.Since(start)
	j.densified, j.names = info.Sparse, info.Names
	j.flat = j.flat || info.Flat
	j.table = j.table || info.Kind == matfile.Text
	if err == nil {
		j.noteHeader(name, info.Note)
	}
	return z, info.Stats, err
}

// convert returns m in format f, and the losses by the range of f.
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

// warnInput warns about numbers of an operand that were lost when they were rounded to the format.
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

// warnUnended warns, once for each file, that its last line, with the number line, has no end; 0
// means that it has one. A single line on standard input is assumed to be meant so.
func (j *job) warnUnended(name string, line int) {
	file, _ := matfile.SplitName(name)
	if line == 0 || name == files.Stdio && line == 1 || slices.Contains(j.unended, file) {
		return
	}
	j.unended = append(j.unended, file)
	fmt.Fprintf(j.env.Stderr, "halfulp: warning: %s:%d: no line feed ends the last line: if the file was cut off, its last number may be, too\n", shown(file), line)
}

// writeFile writes z to the output file or standard output.
func (j *job) writeFile(z *halfulp.Matrix) error {
	opt := &matfile.Options{Digits: int(j.print.Digits), Threads: int(j.how.Threads), Context: j.env.Ctx, Flat: j.flat, Stdout: j.env.Stdout}
	if j.print.To != "" {
		opt.Kind = matfile.KindOf(j.print.as())
	}
	// No progress bar among numbers on a terminal.
	if j.print.target() != files.Stdio && team.first() {
		opt.Progress = j.startProgress("writing " + j.print.target())
		defer j.finish()
	}
	if j.grid != nil && z.Device() == halfulp.Device(j.how.Device) {
		return j.written(func(last func() error) error {
			opt.Last = last
			return gridfiles.Write(j.grid, j.print.target(), z, opt)
		})
	}
	return j.writing(func(last func() error) error {
		opt.Last = last
		return matfile.Write(j.print.target(), z, opt)
	})
}

// writing calls a function that writes the result in the first process. The function calls last
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

// written calls a function that writes the result in all processes, and then shows the statistics.
// The function calls last in all of them, as in writing. written fails if a flag for tables was
// given and no operand is a table.
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

// writeText writes text to the output file or standard output.
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

// writeTable writes rows of cells, separated by tabs: as a table of the requested kind, or in
// columns for readers.
func (j *job) writeTable(text string) error {
	switch ending(j.print.kind(), tableEndings...) {
	case ".tsv":
		return j.writeText(text)
	case ".csv":
		var b strings.Builder
		for line := range strings.Lines(text) {
			cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			for i, c := range cells {
				if strings.ContainsAny(c, `,"`) {
					cells[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
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

// target is the name of the output file, by default of standard output.
func (f *printFlags) target() string {
	if f.Out == nil {
		return files.Stdio
	}
	return *f.Out
}

// as is a name that selects the kind of file, empty if the file's own name does.
func (f *printFlags) as() string {
	if f.To == "" {
		return ""
	}
	return "--to ." + strings.TrimPrefix(f.To, ".")
}

// kind is the name that selects the kind of file.
func (f *printFlags) kind() string {
	if f.To != "" {
		return f.as()
	}
	return f.target()
}

// isArchive reports whether several matrices go to one .npz file.
func (f *printFlags) isArchive() bool {
	return f.Several && !f.JSON && matfile.KindOf(f.kind()) == matfile.NPZ
}

var errNoName = cli.Misuse("--out: the name is empty")

// check returns an error if the output file cannot be written, or cannot hold the result: a matrix
// of one of the formats, as far as they are known, or text.
func (f *printFlags) check(isMatrix bool, formats ...halfulp.Format) error {
	if f.target() == "" {
		return errNoName
	}
	if isMatrix && !f.JSON && f.Exact {
		return f.checkExact()
	}
	if isMatrix && !f.JSON {
		if strings.EqualFold(filepath.Ext("."+f.To), ".gz") {
			return cli.Misuse("--to %s: only a name that ends in .gz packs a file: --out FILE.gz", f.To)
		}
		name := f.as()
		if name != "" && matfile.KindOf(name) == "" {
			return cli.Misuse("--to %s: the kinds are mtx, npz, npy, csv, tsv, txt, flint, pari, mpmath and mathematica%s", f.To, textio.DidYouMean(f.To, matrixKinds))
		}
		if name == "" {
			name = "--out: " + f.target()
		}
		if err := matfile.CheckName(name, formats...); err != nil {
			return cli.Misuse("%w", err)
		}
		return files.CheckWritable(f.target())
	}
	if f.isArchive() {
		return files.CheckWritable(f.target())
	}
	what, held := "text", append([]string{"", ".txt", ".dat"}, tableEndings...)
	if f.JSON {
		what, held = "JSON", []string{"", ".json", ".txt"}
	} else if f.Several {
		held = append(held, ".npz")
	}
	if f.To != "" && (f.JSON || ending(f.as(), tableEndings...) == "" && ending(f.as(), ".txt") == "") {
		meant := ""
		if !f.JSON && matfile.KindOf(f.as()) == "" {
			meant = textio.DidYouMean(f.To, []string{"csv", "tsv", "txt"})
		}
		return cli.Misuse("--to %s: this result is %s%s", f.To, what, meant)
	}
	switch kind := extension(f.target()); {
	case f.To != "" || slices.Contains(held, kind):
	case kind == ".json" || matfile.KindOf(f.target()) != "":
		return cli.Misuse("--out: %s: this result is %s, which a %s file does not hold", f.target(), what, kind)
	default:
		return cli.Misuse("--out: %s: the extension %s does not say what kind of file to write: this result is %s, for %s, and .gz after it",
			f.target(), kind, what, strings.Join(held[1:], ", "))
	}
	return files.CheckWritable(f.target())
}

// matrixKinds are the values of --to.
var matrixKinds = []string{"mtx", "npz", "npy", "csv", "tsv", "txt", "flint", "pari", "mpmath", "mathematica"}

// tableEndings are the endings of files that hold text in rows of cells.
var tableEndings = []string{".csv", ".tsv"}

// ending returns which of some endings a name has, ignoring .gz, or nothing.
func ending(name string, endings ...string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	for _, e := range endings {
		if strings.HasSuffix(name, e) {
			return e
		}
	}
	return ""
}

// extension returns the extension of a name, in lower case and without .gz.
func extension(name string) string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(filepath.Base(name)), ".gz"))
}

// bytesOf returns the memory of a rows x cols matrix of format f, in bytes.
func bytesOf(f halfulp.Format, rows, cols int) float64 {
	number := float64(math.Ceil(float64(f.Bits())/64) * 8)
	switch {
	case f == halfulp.Float32:
		number = 4
	case f.IsMP():
		number += 8 // exponent, sign and class
	}
	return float64(rows) * float64(cols) * number
}

// checkSize returns an error if a rows x cols matrix of format f takes more memory than allowed.
func (m memorySize) checkSize(f halfulp.Format, rows, cols int) error {
	need, limit := bytesOf(f, rows, cols), float64(m.limit())
	if need > limit {
		return fmt.Errorf("%d x %d numbers of format %v take %s, the memory limit is %s", rows, cols, f, textio.Bytes(need), textio.Bytes(limit))
	}
	return nil
}

// checkSize checks the result in the same way, or the largest part of it in a process.
func (j *job) checkSize(rows, cols int) error {
	if j.grid == nil {
		return j.how.Memory.checkSize(j.format, rows, cols)
	}
	if err := j.how.Memory.checkSize(j.format, j.grid.Largest(rows, cols), 1); err != nil {
		return fmt.Errorf("the part of a process: %w", err)
	}
	return nil
}

// checkExact returns an error if a file of the requested name and kind cannot hold exact numbers,
// or cannot be written.
func (f *printFlags) checkExact() error {
	name := f.as()
	if name != "" && matfile.KindOf(name) == "" {
		return cli.Misuse("--to %s: the kinds are mtx, csv, tsv, txt, flint, pari and mathematica%s", f.To, textio.DidYouMean(f.To, matrixKinds))
	}
	if strings.EqualFold(extension("."+f.To), ".gz") {
		return cli.Misuse("--to %s: only a name that ends in .gz packs a file: --out FILE.gz", f.To)
	}
	if name == "" {
		name = "--out: " + f.target()
	}
	if err := matfile.CheckExactName(name); err != nil {
		return cli.Misuse("%w", err)
	}
	return files.CheckWritable(f.target())
}
