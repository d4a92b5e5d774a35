package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/grid"
	dispatcher "github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/rational"
)

// job is one run of a command that reads operands, computes and writes a result.
type job struct {
	env      *cli.Environment
	command  string
	in       *inputFlags
	format   halfulp.Format // of the result
	rounds   bool           // operands are rounded to the format, decimals once
	print    *printFlags
	how      *runFlags
	progress *cli.Progress
	began    time.Time
	reported time.Time // when the last result was available
	reading  time.Duration
	// operands are the matrices that were read, by name.
	operands map[string]*halfulp.Matrix
	unended  []string     // files with a warning that their last line has no end
	headers  []string     // notes on the first rows of files
	noted    bool         // whether noteDigits wrote its note
	ran      []namedStats // to be printed after the result
	table    bool         // whether an operand is a table
	// About the file that was read last: whether it is sparse and was converted to a dense matrix,
	// and the names of the columns, if it is a table with names.
	densified bool
	names     []string
	flat      bool           // a NumPy operand has one dimension; so has a one-column result
	rns       *rnsStats      // of a method of package rns
	ozaki     *ozakiStats    // of a method of package ozaki
	solver    *halfulp.Stats // of a routine of package linsolve
	residual  *residualStats
	grid      *grid.Grid // where operands and results live; nil for the host

	digits      int                         // of the last text's longest decimal, see InputStats
	exactResult bool                        // the result has exact numbers
	rationals   map[string]*rational.Matrix // the exact operands that were read, by name
}

// newJob checks what is possible before any file is read: that at most one operand is standard
// input, that the output can be written, as a matrix of the format if it is one, and, by validate,
// that device and method exist.
func newJob(env *cli.Environment, command string, in *inputFlags, format halfulp.Format, print *printFlags, how *runFlags,
	makesMatrix bool, validate func(*halfulp.Options) error, operands ...string) (*job, error) {
	if in.exact() && !takesExact(command) {
		return nil, cli.Misuse("--in exact: %s computes with numbers of a format", command)
	}
	stdin := 0
	for _, name := range operands {
		if name == files.Stdio {
			stdin++
		}
	}
	if stdin > 1 {
		return nil, cli.Misuse("%d operands are -: standard input can be read only once", stdin)
	}
	j := &job{began: time.Now(), env: env, command: command, in: in, format: format, print: print, how: how}
	if err := print.check(makesMatrix, format); err != nil {
		return nil, err
	}
	j.warnDigits(format)
	if isRNS(how.Method) {
		if err := rnsApplies(command, how.Method); err != nil {
			return nil, err
		}
	}
	if how.Check {
		switch command {
		case "map", "spmv", "cg", "solve-gj":
			return nil, errUnchecked
		}
		if how.Method != "auto" && how.Method != "residue" {
			return nil, errUnchecked
		}
	}
	device, err := team.device(command, how)
	if err != nil {
		return nil, nearestName(command, how, err)
	}
	how.Device = string(device)
	if j.grid, err = team.resident(command, how); err != nil {
		return nil, nearestName(command, how, err)
	}
	if err := validate(&halfulp.Options{Context: env.Ctx, Device: halfulp.Device(how.Device), Method: halfulp.Method(how.Method), Check: how.Check}); err != nil {
		return nil, nearestName(command, how, err)
	}
	return j, nil
}

// nearestName adds the nearest name to an error about a device or a method that does not exist.
func nearestName(command string, how *runFlags, err error) error {
	meant := ""
	switch {
	case errors.Is(err, halfulp.ErrDevice) && !strings.HasPrefix(how.Device, "cuda:"):
		if meant = textio.DidYouMean(how.Device, []string{"auto", cpuDevice}); slices.Contains([]string{"gpu", "cuda", "nvidia"}, strings.ToLower(how.Device)) {
			meant = ": did you mean cuda:0?"
		}
	case errors.Is(err, halfulp.ErrMethod):
		if names := methodsOf(command); !slices.Contains(names, how.Method) {
			meant = textio.DidYouMean(how.Method, names)
		}
	}
	if meant == "" {
		return err
	}
	return fmt.Errorf("%w%s", err, meant)
}

// methodsOf returns the methods of a command, without numbers after a colon.
func methodsOf(command string) []string {
	names := []string{"auto", "residue", "direct"}
	for _, m := range rnsMethods {
		if slices.Contains(m.commands, command) {
			names = append(names, m.name)
		}
	}
	switch command {
	case "gemm":
		names = append(names, ozakiAuto, ozakiLiteral+":K", doubleFloat, string(expansion.Method), string(expansion.SquareBlocks))
	case "dot", "gemv":
		names = append(names, string(expansion.Method))
	case "map":
		names = append(names, string(expansion.Method), string(expansion.Published))
	case "solve-gj":
		names = append(names, string(expansion.SquareBlocks), string(expansion.LinearBlocks))
	}
	return names
}

// warnDigits warns if --digits requests more digits than the numbers of a format hold, and names a
// format that holds them.
func (j *job) warnDigits(f halfulp.Format) {
	n, bitsOfDigit := int(j.print.Digits), math.Log2(10)
	if holds := float64(f.Bits()) / bitsOfDigit; n <= int(math.Ceil(holds))+1 || j.print.Quiet {
		return
	}
	advice := ""
	if p := int(math.Ceil(float64(n)*bitsOfDigit)) + 1; p <= halfulp.MaxPrec {
		advice = fmt.Sprintf(": --format mp:%d has %d digits", p, n)
	}
	fmt.Fprintf(j.env.Stderr, "halfulp: warning: --digits %d: a number of format %v holds about %.0f; further digits belong to its binary value%s\n",
		n, f, math.Floor(float64(f.Bits())/bitsOfDigit), advice)
}

// validDirect returns an error unless a routine whose only method is direct can run.
func validDirect(opt *halfulp.Options) error {
	if opt.Method == "residue" {
		return fmt.Errorf("method %q: %w: this command has the method direct only", opt.Method, halfulp.ErrMethod)
	}
	if opt.Check {
		return errUnchecked
	}
	return opt.Validate()
}

// errUnchecked is the error for --check-hardware.
var errUnchecked = fmt.Errorf("--check-hardware: %w: it compares products of matrices by residues, and this has none", halfulp.ErrMethod)

// validMethod returns a check of methods: of package rns, which it stores in choice, of package
// expansion if native, and otherwise of the method direct.
func validMethod(choice **rnsChoice, f *commonFlags, residue *rnsFlags, native bool) func(*halfulp.Options) error {
	return func(opt *halfulp.Options) (err error) {
		if *choice, err = checkRNS(&f.runFlags, residue, f.Format.Format); err != nil || *choice != nil {
			return err
		}
		if native {
			return validExpansion(f.Format.Format, opt)
		}
		return validDirect(opt)
	}
}

// validProduct returns an error unless products of matrices can run.
func validProduct(opt *halfulp.Options) error {
	if opt.Method == "direct" && strings.HasPrefix(string(opt.Device), "cuda:") {
		return dispatcher.ErrDirect
	}
	return opt.Validate()
}

// options returns the options of the routine that runs next, with a progress bar that finish
// removes.
func (j *job) options() *halfulp.Options {
	return &halfulp.Options{
		Device:   halfulp.Device(j.how.Device),
		Threads:  int(j.how.Threads),
		Method:   halfulp.Method(j.how.Method),
		Context:  j.env.Ctx,
		Progress: j.startProgress(j.command),

		MemoryLimit: int64(j.how.Memory),
		Check:       j.how.Check,
	}
}

// startProgress shows a progress bar and returns its callback.
func (j *job) startProgress(name string) func(done float64) {
	if !j.print.Quiet {
		j.progress = cli.NewProgress(j.env.Stderr, name)
		j.progress.Wait()
	}
	return j.progress.Callback()
}

func (j *job) finish() {
	j.progress.Finish()
	j.progress = nil
}

// vector reads an n x 1 or 1 x n matrix.
func (j *job) vector(name string) (*halfulp.Vector, error) {
	m, err := j.matrix(name)
	if err != nil {
		return nil, err
	}
	return asVector(name, m)
}

// asVector returns the matrix of a file as a vector.
func asVector(name string, m *halfulp.Matrix) (*halfulp.Vector, error) {
	switch rows, cols := m.Dims(); {
	case cols == 1:
		return m.Col(0), nil
	case rows == 1:
		return m.Row(0), nil
	case rows == 0 || cols == 0:
		return halfulp.NewVector(m.NumberFormat(), 0), nil
	default:
		return nil, cli.Misuse("%s is %d x %d, a vector is wanted", shown(name), rows, cols)
	}
}

// shown returns the name of an operand's file in messages.
func shown(name string) string {
	if name == files.Stdio {
		return "standard input"
	}
	return name
}

// factors returns alpha and beta. last names the operand that beta multiplies,
// file its file or nothing.
func (j *job) factors(f *productFlags, last, file string) (alpha, beta halfulp.Scalar, err error) {
	alpha, beta = halfulp.Float(1), halfulp.Float(0)
	if file != "" {
		beta = halfulp.Float(1)
	} else if f.Beta != nil {
		return alpha, beta, cli.Misuse("--beta: there is no %s for it to multiply", last)
	}
	for _, x := range []struct {
		name string
		text *numberText
		dst  *halfulp.Scalar
	}{{"--alpha", f.Alpha, &alpha}, {"--beta", f.Beta, &beta}} {
		if x.text == nil {
			continue
		}
		var loss decimal.Loss
		if *x.dst, loss, err = parseFactor(string(*x.text), j.factorFormat(string(*x.text))); err != nil {
			return alpha, beta, cli.Misuse("%s: %w", x.name, err)
		}
		j.warnInput(x.name, lossOf(loss), x.dst.NumberFormat())
	}
	return alpha, beta, nil
}

// lossOf returns the loss of one number.
func lossOf(loss decimal.Loss) (stats halfulp.InputStats) {
	switch loss {
	case decimal.ToInf:
		stats.ToInf.Count = 1
	case decimal.ToZero:
		stats.ToZero.Count = 1
	}
	return stats
}

// factorFormat returns the format of a factor that no binary number equals. If operands are rounded
// to the format of the result, it is that format. Else it is the format of --in, or by default an
// MP format with as many bits as the result, or more where the digits need more.
func (j *job) factorFormat(text string) halfulp.Format {
	if j.rounds {
		return j.format
	}
	if f, ok := j.in.in(); ok {
		return f
	}
	return halfulp.MP(uint(decimal.Prec([]byte(text), j.format.Bits())))
}

// text prints s with the requested digits.
func (j *job) text(s halfulp.Scalar) string { return s.Text(int(j.print.Digits)) }

// scalarResult and matrixResult are results for programs. Numbers are strings, because JSON readers
// round numbers to float64.
type scalarResult struct {
	Command string    `json:"command"`
	Format  string    `json:"format"`
	Value   string    `json:"value"`
	Stats   *runStats `json:"stats,omitempty"`
}

type matrixResult struct {
	Command string     `json:"command"`
	Format  string     `json:"format"`
	Rows    int        `json:"rows"`
	Cols    int        `json:"cols"`
	Values  [][]string `json:"values"` // by rows
	Stats   *runStats  `json:"stats,omitempty"`
}

// runStats are the library's statistics, and the statistics of a method of packages rns and ozaki.
type runStats struct {
	*halfulp.Stats
	Read     time.Duration  `json:"read_ns,omitempty"` // of files
	RNS      *rnsStats      `json:"rns,omitempty"`
	Ozaki    *ozakiStats    `json:"ozaki,omitempty"`
	Residual *residualStats `json:"residual,omitempty"`
	// In a result, Write is the time from the end of the computation until the result is encoded,
	// which includes the conversion of its numbers to text. Total is the time from the beginning of
	// the run.
	Write *clock `json:"write_ns,omitempty"`
	Total *clock `json:"total_ns,omitempty"`
}

// clock is encoded as the time since then, in nanoseconds.
type clock struct{ time.Time }

// MarshalJSON returns the time since then.
func (c *clock) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, int64(time.Since(c.Time)), 10), nil
}

// resultStats are the statistics in a result.
func (j *job) resultStats(s *halfulp.Stats) *runStats {
	r := j.runStats(s)
	if r != nil {
		r.Write, r.Total = &clock{j.reported}, &clock{j.began}
	}
	return r
}

// runStats returns the statistics of a run, nil if nothing was computed.
func (j *job) runStats(s *halfulp.Stats) *runStats {
	if s == nil {
		return nil
	}
	return &runStats{Stats: s, Read: j.reading, RNS: j.rns, Ozaki: j.ozaki, Residual: j.residual}
}

// writeScalar writes z on a line of its own.
func (j *job) writeScalar(z halfulp.Scalar, stats halfulp.Stats) error {
	j.report(&stats)
	if j.print.JSON {
		return j.writeText(jsonText(scalarResult{j.command, j.format.String(), j.text(z), j.resultStats(&stats)}))
	}
	return j.writeText(j.text(z) + "\n")
}

// writeMatrix writes z as a Matrix Market array, or in the format of the output file's name; stats
// is nil if nothing was computed.
func (j *job) writeMatrix(z *halfulp.Matrix, stats *halfulp.Stats) error {
	j.report(stats)
	if !j.print.JSON {
		return j.writeFile(z)
	}
	if j.grid != nil {
		var err error
		if z, err = z.Host(); err != nil {
			return err
		}
	}
	return j.writeText(jsonText(matrixResult{
		Command: j.command, Format: j.format.String(), Rows: z.Rows(), Cols: z.Cols(), Values: j.texts(z), Stats: j.resultStats(stats),
	}))
}

// texts returns the entries of a matrix by rows.
func (j *job) texts(z *halfulp.Matrix) [][]string {
	rows := make([][]string, z.Rows())
	for i := range rows {
		rows[i] = make([]string, z.Cols())
		for k := range rows[i] {
			rows[i][k] = j.text(z.At(i, k))
		}
	}
	return rows
}

// namedScalar is one of several results.
type namedScalar struct {
	name  string
	value halfulp.Scalar
	stats halfulp.Stats
}

// writeScalars writes a count and results, one a line after its name.
func (j *job) writeScalars(n int, results []namedScalar) error {
	object := map[string]any{"command": j.command, "format": j.format.String(), "count": n}
	stats := map[string]*halfulp.Stats{}
	var b strings.Builder
	fmt.Fprintf(&b, "count\t%d\n", n)
	for _, r := range results {
		j.report(&r.stats)
		j.ran[len(j.ran)-1].name = r.name
		stats[r.name] = &r.stats
		object[r.name] = j.text(r.value)
		fmt.Fprintf(&b, "%s\t%s\n", r.name, j.text(r.value))
	}
	if !j.print.JSON {
		return j.writeTable(b.String())
	}
	object["stats"], object["read_ns"] = stats, j.reading
	object["write_ns"], object["total_ns"] = &clock{j.reported}, &clock{j.began}
	return j.writeText(jsonText(object))
}

func jsonText(v any) string {
	var b strings.Builder
	if err := writeJSON(&b, v); err != nil {
		panic(err) // strings and numbers always encode
	}
	return b.String()
}

// namedStats are the statistics of a routine, and its name if there are several.
type namedStats struct {
	name string
	*halfulp.Stats
}

// report writes warnings to standard error, and statistics once the result is written.
func (j *job) report(stats *halfulp.Stats) {
	if stats == nil {
		return
	}
	j.ran = append(j.ran, namedStats{"", stats})
	j.reported = time.Now()
	j.warnUnchecked(stats.Check)
	if j.print.Quiet {
		return
	}
	warn(j.env.Stderr, stats, j.format)
	if j.rns != nil && j.rns.NaN > 0 {
		fmt.Fprintf(j.env.Stderr, "halfulp: warning: %s NaN: RNS arithmetic makes NaN of infinities, of exponents beyond 2^30, of quotients by 0 and of roots of negative numbers\n", are(j.rns.NaN))
	}
}

// warnUnchecked warns about entries that --check-hardware did not compare, even with --quiet.
func (j *job) warnUnchecked(c *halfulp.Check) {
	const warning = "halfulp: warning: --check-hardware: "
	switch {
	case !j.how.Check:
	case c == nil || c.Compared == 0:
		fmt.Fprintln(j.env.Stderr, warning+"nothing of this ran as products of matrices by residues, so nothing was compared")
	case c.Unchecked > 0:
		fmt.Fprintf(j.env.Stderr, warning+"%d of %s of products come from multi-limb arithmetic, which nothing compares\n",
			c.Unchecked, textio.Count(c.Compared+c.Unchecked, "entry"))
	}
}

// statsResult is the output of --stats=json.
type statsResult struct {
	Command string               `json:"command"`
	Stats   *runStats            `json:"stats,omitempty"`
	Several map[string]*runStats `json:"statistics,omitempty"` // of a command with several results
	Write   time.Duration        `json:"write_ns"`
	Total   time.Duration        `json:"total_ns"`
}

// showStats prints the statistics that --stats requests; writing is the time of writing.
func (j *job) showStats(writing time.Duration) error {
	total := time.Since(j.began)
	switch {
	case j.how.Stats == noStats || len(j.ran) == 0:
		return nil
	case j.how.Stats == jsonStats:
		r := statsResult{Command: j.command, Write: writing, Total: total}
		if len(j.ran) == 1 {
			r.Stats = j.runStats(j.ran[0].Stats)
			return writeJSON(j.env.Stderr, r)
		}
		r.Several = map[string]*runStats{}
		for _, s := range j.ran {
			r.Several[s.name] = j.runStats(s.Stats)
		}
		return writeJSON(j.env.Stderr, r)
	}
	for _, s := range j.ran {
		if s.name != "" {
			fmt.Fprintf(j.env.Stderr, "%s:\n", s.name)
		}
		t := newRows(j.env.Stderr)
		t.stats(s.Stats)
		switch {
		case j.rns != nil:
			t.rns(j.rns)
		case j.ozaki != nil:
			t.ozaki(j.ozaki)
		case j.solver != nil:
			t.solver(&j.solver.Proof)
		}
		if s.name == "" {
			t.times(j.reading, writing, total)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	if len(j.ran) > 1 {
		t := newRows(j.env.Stderr)
		t.times(j.reading, writing, total)
		return t.Flush()
	}
	return nil
}

// compareScalar prints the plain float64 value beside z.
func (j *job) compareScalar(z halfulp.Scalar, plain float64) error {
	m := halfulp.NewMatrix(z.NumberFormat(), 1, 1)
	m.Set(0, 0, z)
	return writeComparison(j.env.Stderr, m, [][]float64{{plain}}, j.text)
}

func transpose(t bool) halfulp.Transpose {
	if t {
		return halfulp.Trans
	}
	return halfulp.NoTrans
}
