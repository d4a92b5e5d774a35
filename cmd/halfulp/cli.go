package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/matfile"
)

const description = `Correctly rounded linear algebra at any precision.

Every result is the exact value of the whole expression, rounded once to the requested format, whatever the cancellation: the error is at most half a unit in the last place, and the bits do not depend on threads or machine. The exceptions are methods of published papers, named rns-..., ozaki..., double-float and expansion, and the commands map, solve-gj and cg: they have error bounds of their own, and run only when requested by name.

A file is in Matrix Market format, in NumPy's .npy or .npz format, a table as spreadsheets export it (halfulp help convert), or numbers separated by blanks. A name that ends in .gz means a compressed file; "-" means standard input (at most 64 KiB under MPICH's mpiexec). A vector may be an n x 1 or a 1 x n matrix; only gemm tells the two apart.

Exit status: 0 success; 1 a file cannot be read or written, the computation failed, or no digit of a solution can be trusted; 2 a mistake on the command line, or shapes that do not fit; 129, 130 and 143 after a hang-up, an interrupt or a termination, which leave no partial output file. An error is one line on standard error. With --json it is an object with the members error and status.`

// grammar is the grammar of the command line.
type grammar struct {
	Sum    sumCmd    `cmd:"" group:"compute" help:"Sum of all entries, or of each column or row."`
	Asum   asumCmd   `cmd:"" group:"compute" help:"Sum of the absolute values of all entries, or of each column or row."`
	Dot    dotCmd    `cmd:"" group:"compute" help:"Dot product of two vectors."`
	Nrm2   nrm2Cmd   `cmd:"" group:"compute" name:"nrm2" help:"Euclidean norm: the root of the sum of the squares of all entries."`
	Cumsum cumsumCmd `cmd:"" group:"compute" help:"Prefix sums of a vector, or of the columns or rows of a matrix."`
	Trace  traceCmd  `cmd:"" group:"compute" help:"Sum of the diagonal."`
	Stats  statsCmd  `cmd:"" group:"compute" help:"Count, mean, standard deviation and lag-1 autocorrelation."`
	Axpy   axpyCmd   `cmd:"" group:"compute" help:"Vector or matrix times a number plus another: alpha X + Y."`
	Add    addCmd    `cmd:"" group:"compute" help:"Sum of two matrices, entry by entry: alpha X + beta Y."`
	Gemv   gemvCmd   `cmd:"" group:"compute" help:"Matrix times vector: alpha A x + beta y."`
	Spmv   spmvCmd   `cmd:"" group:"compute" help:"Sparse matrix times vector: A x."`
	Gemm   gemmCmd   `cmd:"" group:"compute" help:"Matrix times matrix: alpha A B + beta C."`
	Symm   symmCmd   `cmd:"" group:"compute" help:"Symmetric matrix times matrix: alpha A B + beta C."`
	Syrk   syrkCmd   `cmd:"" group:"compute" help:"Symmetric product: alpha A A' + beta C."`
	Syr2k  syr2kCmd  `cmd:"" group:"compute" name:"syr2k" help:"Symmetric update: alpha (A B' + B A') + beta C."`
	Trmm   trmmCmd   `cmd:"" group:"compute" help:"Triangular matrix times matrix: alpha A B."`
	Pow    powCmd    `cmd:"" group:"compute" help:"Power of a matrix."`
	Expm   expmCmd   `cmd:"" group:"compute" help:"Exponential of a matrix."`

	Solve   solveCmd      `cmd:"" group:"solve" help:"Solution X of a system A X = B, whatever the condition of A."`
	Trsm    trsmCmd       `cmd:"" group:"solve" help:"Solution X of a triangular system: A X = alpha B."`
	Lstsq   lstsqCmd      `cmd:"" group:"solve" help:"Least squares, with standard errors, residuals, R² and F."`
	Polyfit polyfitCmd    `cmd:"" group:"solve" help:"Polynomial fitted to points by least squares."`
	Pinv    pinvCmd       `cmd:"" group:"solve" name:"pinv" help:"Pseudo-inverse of a matrix of any shape and rank."`
	Inv     invCmd        `cmd:"" group:"solve" help:"Inverse of a matrix."`
	Det     detCmd        `cmd:"" group:"solve" help:"Determinant."`
	Rank    rankCmd       `cmd:"" group:"solve" help:"Rank, proved."`
	Cond    condCmd       `cmd:"" group:"solve" help:"Condition number, in the 1-norm, maximum norm or 2-norm."`
	Norm2   norm2Cmd      `cmd:"" group:"solve" name:"norm2" help:"2-norm of a matrix: its largest singular value."`
	Null    nullSpaceCmd  `cmd:"" group:"solve" name:"nullspace" help:"Basis of the null space."`
	Chol    cholCmd       `cmd:"" group:"solve" name:"chol" help:"Cholesky factor of a symmetric positive definite matrix."`
	LU      luCmd         `cmd:"" group:"solve" name:"lu" help:"Factors P A = L U, by partial pivoting."`
	QR      qrCmd         `cmd:"" group:"solve" name:"qr" help:"Factors A = Q R, Q with orthonormal columns."`
	LDLT    ldltCmd       `cmd:"" group:"solve" name:"ldlt" help:"Factors P A P' = L D L' of a symmetric matrix."`
	Eigh    eighCmd       `cmd:"" group:"solve" name:"eigh" help:"Eigenvalues and eigenvectors of a symmetric matrix."`
	Roots   rootsCmd      `cmd:"" group:"solve" help:"Real roots of a polynomial."`
	Gauss   quadratureCmd `cmd:"" group:"solve" name:"quadrature" help:"Nodes and weights of a Gaussian quadrature rule."`
	Verify  verifyCmd     `cmd:"" group:"solve" help:"Count the correctly rounded entries of a solution, product or spectrum from any program."`

	Gen       genCmd       `cmd:"" group:"data" help:"Generate a matrix: hilbert, vandermonde, random, wampler, identity."`
	Transpose transposeCmd `cmd:"" group:"data" help:"Transpose of a matrix."`
	Convert   convertCmd   `cmd:"" group:"data" help:"Convert a matrix to another format or kind of file."`

	Info       infoCmd           `cmd:"" group:"machine" help:"Show the version, the processor, kernels, devices, formats and methods."`
	Bench      benchCmd          `cmd:"" group:"machine" help:"Measure how long operations take here, at sizes and precisions, and compare with an earlier run."`
	Tune       tuneCmd           `cmd:"" group:"machine" help:"Measure this machine's kernels and where the methods cross."`
	Version    versionCmd        `cmd:"" group:"machine" help:"Print the version, or the licences of the program (--licenses)."`
	Completion cli.CompletionCmd `cmd:"" group:"machine" help:"Print a script that completes command lines in bash, zsh or fish."`
	Man        cli.ManCmd        `cmd:"" group:"machine" help:"Print a manual page."`
	HelpOn     cli.HelpCmd       `cmd:"" group:"machine" name:"help" help:"Explain a command."`

	Map       mapCmd       `cmd:"" group:"papers" help:"A function of every entry in double-double to quad-double arithmetic: exp, sin, mul, ..."`
	SolveGJ   solveGJCmd   `cmd:"" group:"papers" name:"solve-gj" help:"Solve A X = B by Gauss-Jordan elimination in double-double to quad-double arithmetic."`
	CG        cgCmd        `cmd:"" group:"papers" name:"cg" help:"Solve A x = b, A sparse, symmetric and positive definite, by conjugate gradients in RNS arithmetic."`
	Reproduce reproduceCmd `cmd:"" group:"papers" passthrough:"" help:"Run the papers' experiments, one or all of them, and print their figures beside the ones measured here (the program halfulp-reproduce)."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version and exit."`
}

var flagGroups = []kong.Group{
	{Key: "input", Title: "Input:"},
	{Key: "result", Title: "Result:"},
	{Key: "run", Title: "Run:"},
	{Key: "compute", Title: "Compute:"},
	{Key: "solve", Title: "Solve, factor, fit:"},
	{Key: "data", Title: "Data:"},
	{Key: "machine", Title: "Machine and program:"},
	{Key: "papers", Title: "Methods of papers, with error bounds of their own:"},
}

// inputFlags select how files are read.
type inputFlags struct {
	In *formatFlag `group:"input" placeholder:"FORMAT" help:"Format to which numbers of text files are rounded when they are read. Default: the format that the file names, as files written by halfulp do; otherwise the format of the result, or mp:P with enough bits for numbers that have more digits."`

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

// in returns the format of --in.
func (f *inputFlags) in() (format halfulp.Format, given bool) {
	if f.In == nil {
		return halfulp.Format{}, false
	}
	return f.In.Format, true
}

// resultFlags set the format of the result and where it goes.
type resultFlags struct {
	Format formatFlag `group:"result" default:"f64" placeholder:"FORMAT" help:"Format of the result: f32, f64, dd, td, qd (1 to 4 doubles) or mp:P (P bits). Default ${default}."`
	printFlags
}

// printFlags set how a result is printed and where it goes.
type printFlags struct {
	Out    *string    `group:"result" short:"o" placeholder:"FILE" help:"Write to FILE, which appears only when complete. Its extension selects the kind: .mtx, .csv, .tsv, .txt, .npy, .npz, or .arb, .gp, .py and .wl for lists of FLINT, PARI/GP, mpmath and Mathematica, each also with .gz. Default: standard output."`
	To     string     `group:"result" placeholder:"KIND" help:"Kind of file to write, whatever the name of the file, also to standard output: mtx, csv, tsv, txt, npy, npz, flint, pari, mpmath, mathematica."`
	Digits digitsFlag `group:"result" default:"shortest" placeholder:"N" help:"Decimal digits to print: a number, shortest (the fewest digits that read back to the same number) or hex (exact, base 16). Default ${default}."`
	JSON   bool       `group:"result" name:"json" help:"Write result and statistics as one JSON object, numbers as strings."`
	Quiet  bool       `group:"run" short:"q" help:"No progress bar, notes or warnings on standard error. Two warnings remain: entries that --check-hardware did not compare, and entries that expm, eigh or --rcond left without a proof."`

	// Several reports whether the result is several matrices, which go to a .npz file or a table.
	Several bool `kong:"-"`
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
	return newJob(env, command, &f.inputFlags, f.Format.Format, &f.printFlags, &f.runFlags, makesMatrix, validate, operands...)
}

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
