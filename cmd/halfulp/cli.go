package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/matfile"
)

// inputFlags select how files are read.
type inputFlags struct {
	In *exactFlag `group:"input" placeholder:"FORMAT" help:"Format to which numbers of text files are rounded when they are read, or exact: decimals and fractions such as 7/15 are the rational numbers that they are (docs/guide/rational.md). Default: the format that the file names, as files written by halfulp do; otherwise the format of the result, or mp:P with enough bits for numbers that have more digits."`

	Columns      columns   `group:"input" placeholder:"LIST" help:"Columns of a table to read: numbers from 1, ranges and names from its header, such as 2,4-6,price; put a name with a comma in double quotes. FILE:LIST selects columns for one operand."`
	Header       bool      `group:"input" help:"The first row of a table holds names. Default: it does if none of its fields is a number."`
	Skip         uint      `group:"input" placeholder:"N" help:"Number of lines to skip before a table."`
	Delimiter    character `group:"input" placeholder:"CHAR" help:"Separator of the fields of a table: a character, or tab, comma, semicolon or space (default: the one in the first row)."`
	DecimalComma bool      `group:"input" help:"Numbers of a table have a decimal comma: 1,5 is 1.5."`
	Comment      character `group:"input" placeholder:"CHAR" help:"Character that begins a comment in a table (default #)."`
}

// dialect returns the dialect of tables.
func (f *inputFlags) dialect() matfile.Dialect {
	return matfile.Dialect{
		Delimiter: rune(f.Delimiter), Comment: rune(f.Comment), Skip: f.Skip, Header: f.Header, Columns: f.Columns, DecimalComma: f.DecimalComma,
	}
}

// tableFlag returns a given flag that is about tables, or nothing.
func (f *inputFlags) tableFlag() string {
	for _, x := range []struct {
		name  string
		given bool
	}{
		{"--columns", len(f.Columns) > 0}, {"--header", f.Header}, {"--skip", f.Skip != 0},
		{"--delimiter", f.Delimiter != 0}, {"--comment", f.Comment != 0}, {"--decimal-comma", f.DecimalComma},
	} {
		if x.given {
			return x.name
		}
	}
	return ""
}

// columns are the selected columns of a table.
type columns []string

func (c *columns) UnmarshalText(text []byte) error {
	list, err := matfile.SplitColumns(string(text))
	*c = append(*c, list...)
	return err
}

// character is a character that separates or begins parts of a text, 0 for none.
type character rune

func (c *character) UnmarshalText(text []byte) error {
	if r, ok := map[string]rune{"tab": '\t', `\t`: '\t', "comma": ',', "semicolon": ';', "space": matfile.Blank, "blank": matfile.Blank}[string(text)]; ok {
		*c = character(r)
		return nil
	}
	r, n := utf8.DecodeRune(text)
	if n != len(text) || r == utf8.RuneError || r == '"' || r == '\r' || r == '\n' {
		return fmt.Errorf("%q is not one character (nor tab, comma, semicolon or space)", text)
	}
	*c = character(r)
	return nil
}

// exact reports whether --in requests exact numbers.
func (f *inputFlags) exact() bool { return f.In != nil && f.In.exact }

// in returns the format of --in; given is false without one, and for exact numbers.
func (f *inputFlags) in() (format halfulp.Format, given bool) {
	if f.In == nil || f.In.exact {
		return halfulp.Format{}, false
	}
	return f.In.Format, true
}

// resultFlags set the format of the result and where it goes.
type resultFlags struct {
	Format exactFlag `group:"result" default:"f64" placeholder:"FORMAT" help:"Format of the result: f32, f64, dd, td, qd (1 to 4 doubles) or mp:P (P bits), or exact: fractions in lowest terms, where results are rational. Default ${default}."`
	printFlags
}

// printFlags set how a result is printed and where it goes.
type printFlags struct {
	Out    *string    `group:"result" short:"o" placeholder:"FILE" help:"Write to FILE, which appears only when complete. Its extension selects the kind: .mtx, .csv, .tsv, .txt, .npy, .npz, or .arb, .gp, .py and .wl for lists of FLINT, PARI/GP, mpmath and Mathematica, each also with .gz. Default: standard output."`
	To     string     `group:"result" placeholder:"KIND" help:"Kind of file to write, whatever the name of the file, also to standard output: mtx, csv, tsv, txt, npy, npz, flint, pari, mpmath, mathematica."`
	Digits digitsFlag `group:"result" default:"shortest" placeholder:"N" help:"Decimal digits to print: a number, shortest (the fewest digits that read back to the same number) or hex (exact, base 16). Default ${default}."`
	JSON   bool       `group:"result" name:"json" help:"Write result and statistics as one JSON object, numbers as strings."`
	Quiet  bool       `group:"run" short:"q" help:"No progress bar, notes or warnings on standard error. Two warnings remain: entries that --check-hardware did not compare, and entries without a proof."`

	// Several reports whether the result is several matrices, which go to a .npz file or a table.
	Several bool `kong:"-"`
	// Exact reports whether the result has exact numbers.
	Exact bool `kong:"-"`
}

// runFlags set how a result is computed; they change none of its bits.
type runFlags struct {
	Device  string   `group:"run" default:"auto" placeholder:"NAME" help:"Device: auto, cpu, cuda:N, or several GPUs for a product of matrices: cuda:0,2, cuda:0-3, cuda:all. Processes under mpiexec share the named GPUs of their machine. Default ${default}."`
	Grid    gridFlag `group:"run" placeholder:"PxQ" help:"Rows and columns of the grid of processes that mpiexec starts. Without this flag gemm, gemv, syrk, sum, asum, dot and nrm2 run on the most nearly square grid. With it the matrices of gemm, and of solve, inv, det, chol, lu and qr, are distributed over the grid: each process reads a part of a file, holds a part of a matrix and writes a part of a file."`
	Threads threads  `group:"run" default:"0" placeholder:"N" help:"Number of threads; 0 means one for each processor. Default ${default}."`
	memoryFlag
	Method string    `group:"run" default:"auto" placeholder:"NAME" help:"Algorithm: auto, residue (products modulo small moduli), direct (multi-limb arithmetic), or another one that the text above names. Default ${default}."`
	Check  bool      `group:"run" name:"check-hardware" help:"Check the hardware: compute every entry of a matrix product modulo one additional modulus and compare. A difference is an error that names the entry."`
	Stats  statsFlag `group:"run" help:"Print on standard error how the result was computed, and the time of each stage; --stats=json prints one JSON object."`
}

// memoryFlag sets how much memory to use.
type memoryFlag struct {
	Memory memorySize `group:"run" placeholder:"SIZE" help:"Memory for a file and for the work on it, such as 500M or 8G. Default: half of the machine's memory, or of the system's limit for the process. Products that need more run in blocks; systems and factors that need more run by a method that needs less."`
}

// commonFlags are the flags of commands that read, compute and write.
type commonFlags struct {
	inputFlags
	resultFlags
	runFlags
}

// job begins a run, as newJob does.
func (f *commonFlags) job(env *cli.Environment, command string, makesMatrix bool, validate func(*halfulp.Options) error, operands ...string) (*job, error) {
	if err := f.checkExact(command); err != nil {
		return nil, err
	}
	j, err := newJob(env, command, &f.inputFlags, f.Format.Format, &f.printFlags, &f.runFlags, makesMatrix, validate, operands...)
	if err == nil {
		j.exactResult = f.Format.exact
	}
	return j, err
}

// rationally reports whether operands or results are to be exact numbers.
func (f *commonFlags) rationally() bool { return f.inputFlags.exact() || f.Format.exact }

// threads is a number of threads.
type threads int

func (t *threads) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 {
		return fmt.Errorf("%q is no number of threads: 0, the default, means one for each processor", text)
	}
	*t = threads(n)
	return nil
}

// memorySize is a number of bytes; 0 is the default of a routine.
type memorySize int64

func (m *memorySize) UnmarshalText(text []byte) error {
	s := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(string(text)), "B"), "I")
	shift := 0
	if s != "" {
		if k := strings.IndexByte("KMGT", s[len(s)-1]); k >= 0 {
			s, shift = s[:len(s)-1], 10*(k+1)
		}
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= math.Ldexp(1, -shift)) || x >= math.Ldexp(1, 62-shift) {
		return fmt.Errorf("%q is no size of memory (want 500M or 8G, say)", text)
	}
	*m = memorySize(math.Ldexp(x, shift))
	return nil
}

// limit returns the memory to use.
func (m memorySize) limit() int64 {
	if m == 0 {
		return halfulp.DefaultMemoryLimit()
	}
	return int64(m)
}

// statsFlag sets whether and how statistics are printed.
type statsFlag string

// The values of statsFlag.
const (
	noStats   statsFlag = ""
	textStats statsFlag = "text"
	jsonStats statsFlag = "json"
)

// IsBool reports that the flag needs no value.
func (statsFlag) IsBool() bool { return true }

// Decode reads a value after an equals sign.
func (f *statsFlag) Decode(ctx *kong.DecodeContext) error {
	*f = textStats
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	switch v := statsFlag(ctx.Scan.Pop().String()); v {
	case textStats, jsonStats:
		*f = v
	default:
		return fmt.Errorf("%q: want text or json", string(v))
	}
	return nil
}

// compareFlags request the same work in plain float64.
type compareFlags struct {
	Compare bool `group:"run" help:"Print on standard error the result of a plain float64 loop on the same numbers."`
}

// cpuDevice is the name of the device of every machine.
const cpuDevice = "cpu"

// formatFlag is a format named on the command line.
type formatFlag struct{ halfulp.Format }

func (f *formatFlag) UnmarshalText(text []byte) (err error) {
	if f.Format, err = halfulp.ParseFormat(string(text)); err != nil {
		err = fmt.Errorf("%w%s", err, meantFormat(string(text)))
	}
	return err
}

// exactFlag is a format named on the command line, or exact.
type exactFlag struct {
	formatFlag
	exact bool
}

func (f *exactFlag) UnmarshalText(text []byte) error {
	name := strings.ToLower(string(text))
	if name == "exact" {
		*f = exactFlag{formatFlag{halfulp.Float64}, true}
		return nil
	}
	err := f.formatFlag.UnmarshalText(text)
	if err != nil && slices.Contains(exactOtherwise, name) {
		err = fmt.Errorf("%w: did you mean exact?", err)
	}
	return err
}

// digitsFlag is the number of decimal digits to print, or one of the two below.
type digitsFlag int

const (
	digitsShortest digitsFlag = 0
	digitsHex      digitsFlag = digitsFlag(halfulp.Hex)

	maxDigits = 1 << 24
)

func (d *digitsFlag) UnmarshalText(text []byte) error {
	switch s := strings.ToLower(string(text)); s {
	case "shortest":
		*d = digitsShortest
	case "hex":
		*d = digitsHex
	default:
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > maxDigits {
			return fmt.Errorf("%q is not a number of digits (want 1 to %d, shortest or hex)", text, maxDigits)
		}
		*d = digitsFlag(n)
	}
	return nil
}

// productFlags are the factors of a product. An absent beta differs from a beta of 1.
type productFlags struct {
	Alpha *numberText `group:"input" placeholder:"NUMBER" help:"Factor of the product (default 1). A decimal that is a binary number, such as -0.375, enters exactly; another, such as 0.1, is rounded to --in or else to as many bits as the result has, or more if its digits need them."`
	Beta  *numberText `group:"input" placeholder:"NUMBER" help:"Factor of the last operand (default 1 where it is given)."`
}

// numberText is a number as written, which may begin with a minus sign.
type numberText string

// Decode reads the next argument, unless it is a long flag.
func (n *numberText) Decode(ctx *kong.DecodeContext) error {
	t := ctx.Scan.Pop()
	if t.IsEOL() || strings.HasPrefix(t.String(), "--") {
		return errors.New("a number is missing")
	}
	*n = numberText(t.String())
	return nil
}

// takesExact reports whether a command has exact operands.
func takesExact(command string) bool {
	return !slices.Contains([]string{"map", "solve-gj", "cg"}, command)
}

// irrational are the commands without exact results, each with the reason.
var irrational = map[string]string{
	"nrm2": "a root", "stats": "a root (the standard deviation)", "expm": "no rational matrix",
	"polyfit": "roots (the standard errors)", "norm2": "a root", "chol": "roots", "qr": "roots", "eigh": "roots of a polynomial",
	"geigh": "roots of a polynomial", "svd": "roots of a polynomial", "polar": "roots of a polynomial", "symfunc": "no rational matrix",
	"roots": "roots of a polynomial", "verify": "a count", "cg": "an approximation",
}

// checkExact returns an error for flags that do not fit exact numbers.
func (f *commonFlags) checkExact(command string) error {
	if !f.inputFlags.exact() && !f.Format.exact {
		return nil
	}
	flag := "--in exact"
	if f.Format.exact {
		flag = "--format exact"
		f.printFlags.Exact = true
		if why := irrational[command]; why != "" {
			return cli.Misuse("--format exact: the result of %s is %s: --in exact --format mp:P computes it from exact numbers and rounds once", command, why)
		}
		if f.Digits != digitsShortest {
			return errExactDigits
		}
	}
	if team != nil {
		return cli.Misuse("%s: processes under mpiexec do not share exact numbers: run %s without mpiexec", flag, command)
	}
	if !slices.Contains([]string{"auto", "residue", "direct"}, f.Method) {
		return cli.Misuse("%s: method %s has an arithmetic of its own: exact numbers need auto, residue or direct", flag, f.Method)
	}
	return nil
}

// errExactDigits is the error for --digits beside exact results.
var errExactDigits = cli.Misuse("--digits: exact results are fractions; --format mp:P writes digits")
