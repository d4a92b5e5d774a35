package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
)

const description = `Correctly rounded linear algebra at any precision.

Every result is the number of the wanted format that lies nearest to the exact value of the whole expression, whatever the cancellation: the error is at most half a unit in the last place, and the bits do not depend on threads or machine. Only the methods of published papers, which are named rns-..., ozaki..., double-float and expansion, and the commands map, solve-gj and cg have error bounds of their own; no such method runs unless it is asked for.

Files hold Matrix Market, NumPy's .npy and .npz, CSV or numbers between blanks, compressed where the name ends in .gz; "-" is standard input. An n x 1 or 1 x n matrix serves as a vector.

Exit status: 0 success; 1 a file cannot be read or written, the computation failed, or no digit of a solution can be trusted; 2 a mistake on the command line, or shapes that do not fit; 129, 130 and 143 after a hang-up, an interrupt or a termination, which leave no partial output file.`

// grammar is that of the command line.
type grammar struct {
	Info    infoCmd      `cmd:"" help:"Show the version, the processor, kernels, devices, formats and methods."`
	Gen     genCmd       `cmd:"" help:"Generate a matrix: hilbert, vandermonde, random, wampler, identity."`
	Sum     sumCmd       `cmd:"" help:"Sum of all entries."`
	Asum    asumCmd      `cmd:"" help:"Sum of the absolute values of all entries."`
	Dot     dotCmd       `cmd:"" help:"Dot product of two vectors."`
	Nrm2    nrm2Cmd      `cmd:"" name:"nrm2" help:"Euclidean norm: the root of the sum of the squares of all entries."`
	Stats   statsCmd     `cmd:"" help:"Count, mean, standard deviation and lag-1 autocorrelation."`
	Gemv    gemvCmd      `cmd:"" help:"Matrix times vector: alpha A x + beta y."`
	Spmv    spmvCmd      `cmd:"" help:"Sparse matrix times vector: A x."`
	Gemm    gemmCmd      `cmd:"" help:"Matrix times matrix: alpha A B + beta C."`
	Symm    symmCmd      `cmd:"" help:"Symmetric matrix times matrix: alpha A B + beta C."`
	Syr2k   syr2kCmd     `cmd:"" name:"syr2k" help:"Symmetric update: alpha (A B' + B A') + beta C."`
	Trmm    trmmCmd      `cmd:"" help:"Triangular matrix times matrix: alpha A B."`
	Trsm    trsmCmd      `cmd:"" help:"Solution X of a triangular system: A X = alpha B."`
	Solve   solveCmd     `cmd:"" help:"Solution X of a system A X = B, whatever the condition of A."`
	Lstsq   lstsqCmd     `cmd:"" help:"Least squares, with standard errors, residuals, R² and F."`
	Polyfit polyfitCmd   `cmd:"" help:"Polynomial fitted to points by least squares."`
	Inv     invCmd       `cmd:"" help:"Inverse of a matrix."`
	Det     detCmd       `cmd:"" help:"Determinant."`
	Rank    rankCmd      `cmd:"" help:"Rank, proved."`
	Cond    condCmd      `cmd:"" help:"Condition number, in the 1-norm or maximum norm."`
	Null    nullSpaceCmd `cmd:"" name:"nullspace" help:"Basis of the null space."`
	Pow     powCmd       `cmd:"" help:"Power of a matrix."`
	Expm    expmCmd      `cmd:"" help:"Exponential of a matrix."`
	Chol    cholCmd      `cmd:"" name:"chol" help:"Cholesky factor of a symmetric positive definite matrix."`
	LU      luCmd        `cmd:"" name:"lu" help:"Factors P A = L U, by partial pivoting."`
	QR      qrCmd        `cmd:"" name:"qr" help:"Factors A = Q R, Q with orthonormal columns."`
	LDLT    ldltCmd      `cmd:"" name:"ldlt" help:"Factors P A P' = L D L' of a symmetric matrix."`
	Verify  verifyCmd    `cmd:"" help:"Say how many entries of a solution or product from any program are right."`
	SolveGJ solveGJCmd   `cmd:"" name:"solve-gj" help:"Solve A X = B by Gauss-Jordan elimination in double-double to quad-double arithmetic."`
	CG      cgCmd        `cmd:"" name:"cg" help:"Solve A x = b, A sparse, symmetric and positive definite, by conjugate gradients in RNS arithmetic."`
	Map     mapCmd       `cmd:"" help:"A function of every entry in double-double to quad-double arithmetic: exp, sin, mul, ..."`
	Convert convertCmd   `cmd:"" help:"Convert a matrix to another format or kind of file."`
	Tune    tuneCmd      `cmd:"" help:"Measure this machine's kernels and where the methods cross."`

	Reproduce reproduceCmd `cmd:"" passthrough:"" help:"Run the papers' experiments, one or all of them, and print their figures beside those measured here (the program halfulp-reproduce)."`

	Version kong.VersionFlag `help:"Print the version and exit."`
}

var flagGroups = []kong.Group{
	{Key: "input", Title: "Input:"},
	{Key: "result", Title: "Result:"},
	{Key: "run", Title: "Run:"},
}

// inputFlags say how files are read.
type inputFlags struct {
	In *formatFlag `group:"input" placeholder:"FORMAT" help:"Format that numbers of text files are rounded to when they are read (default: that which the file names, as those that halfulp writes do; else that of the result or, where a file's numbers have more digits than it holds, the mp:P that holds them)."`
}

// in is the format asked for.
func (f *inputFlags) in() (format halfulp.Format, given bool) {
	if f.In == nil {
		return halfulp.Format{}, false
	}
	return f.In.Format, true
}

// resultFlags say what the result looks like and where it goes.
type resultFlags struct {
	Format formatFlag `group:"result" default:"f64" placeholder:"FORMAT" help:"Format of the result: f32, f64, dd, td, qd (1 to 4 doubles) or mp:P (P bits). Default ${default}."`
	printFlags
}

// printFlags say how a result is printed and where it goes.
type printFlags struct {
	Out    *string    `group:"result" short:"o" placeholder:"FILE" help:"Write to FILE, whole or not at all; its name says what kind: .mtx, .csv, .tsv, .txt, .npy, .npz, each also with .gz (default: standard output)."`
	To     string     `group:"result" placeholder:"KIND" help:"Kind of file to write, whatever its name, and to standard output: mtx, csv, tsv, txt, npy, npz."`
	Digits digitsFlag `group:"result" default:"shortest" placeholder:"N" help:"Decimal digits to print: a number, shortest (the fewest that read back to the same number) or hex (exact, base 16). Default ${default}."`
	JSON   bool       `group:"result" name:"json" help:"Write result and statistics as one JSON object, numbers as strings."`
	Quiet  bool       `group:"run" short:"q" help:"No progress bar and no warnings on standard error."`
}

// runFlags say how a result is computed, which changes none of its bits.
type runFlags struct {
	Device  string `group:"run" default:"auto" placeholder:"NAME" help:"Device: auto, cpu, cuda:N, or several GPUs for a product of matrices: cuda:0,2, cuda:0-3, cuda:all. Default ${default}."`
	Threads int    `group:"run" default:"0" placeholder:"N" help:"Threads; 0 takes one for each processor. Default ${default}."`
	Method  string `group:"run" default:"auto" placeholder:"NAME" help:"Algorithm: auto, residue (products modulo small moduli), direct (multi-limb arithmetic) or, where the text above names them, others. Default ${default}."`
	Stats   bool   `group:"run" help:"Print on standard error how the result was computed, and the time of each stage."`
}

// commonFlags are those of commands that read, compute and write.
type commonFlags struct {
	inputFlags
	resultFlags
	runFlags
}

// job begins a run, as newJob does.
func (f *commonFlags) job(env *cli.Environment, command string, makesMatrix bool, validate func(*halfulp.Options) error, operands ...string) (*job, error) {
	return newJob(env, command, &f.inputFlags, f.Format.Format, &f.printFlags, &f.runFlags, makesMatrix, validate, operands...)
}

// compareFlags ask for the same work in plain float64.
type compareFlags struct {
	Compare bool `group:"run" help:"Print on standard error what a plain float64 loop makes of the same numbers."`
}

// cpuDevice is the name of the device that every machine has.
const cpuDevice = "cpu"

// formatFlag is a format named on the command line.
type formatFlag struct{ halfulp.Format }

func (f *formatFlag) UnmarshalText(text []byte) (err error) {
	f.Format, err = halfulp.ParseFormat(string(text))
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
