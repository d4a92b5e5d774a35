package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/textio"
)

// Answers to commands, flags and formats that the program does not know. Package textio finds the
// nearest name.

// calledOtherwise are names of commands in other programs.
var calledOtherwise = map[string]string{
	"plus": "add", "sub": "add", "scal": "add", "mul": "gemm", "matmul": "gemm", "mm": "gemm", "multiply": "gemm", "product": "gemm", "prod": "gemm",
	"mv": "gemv", "matvec": "gemv", "norm": "nrm2", "mean": "stats", "std": "stats", "inverse": "inv", "pseudoinverse": "pinv", "spectralnorm": "norm2", "determinant": "det", "slogdet": "det", "cholesky": "chol",
	"potrf": "chol", "getrf": "lu", "geqrf": "qr", "sytrf": "ldlt", "gesv": "solve", "linsolve": "solve", "gels": "lstsq", "leastsquares": "lstsq", "fit": "polyfit",
	"eigvalsh": "eigh", "eigsh": "eigh", "eigenvalues": "eigh", "eigenvectors": "eigh", "syev": "eigh", "syevd": "eigh", "syevr": "eigh", "sygv": "geigh", "sygvd": "geigh", "geig": "geigh", "geigvalsh": "geigh",
	"svdvals": "svd", "svds": "svd", "gesvd": "svd", "gesdd": "svd", "singularvalues": "svd",
	"echelon": "rref", "rowreduce": "rref", "gaussjordan": "rref", "characteristic": "charpoly", "poly": "charpoly", "minimal": "minpoly", "tr": "trace", "prefixsum": "cumsum", "scan": "cumsum", "kernel": "nullspace", "null": "nullspace", "exp": "expm", "polyroots": "roots", "roots_legendre": "quadrature", "leggauss": "quadrature", "hermgauss": "quadrature", "laggauss": "quadrature", "roots_jacobi": "quadrature", "roots_genlaguerre": "quadrature", "roots_gegenbauer": "quadrature", "gauss": "quadrature", "power": "pow", "condition": "cond", "hilbert": "gen", "random": "gen", "eye": "gen", "benchmark": "bench",
}

// A missing is an operation of linear algebra that the program does not have yet. The page
// docs/guide/limits.md lists them.
type missing struct {
	what    string   // in the plural
	names   []string // of commands and functions in other programs
	instead string   // what may help, or nothing
}

var notYet = []missing{
	{"eigenvalues of matrices that are not symmetric", []string{"eig", "eigvals", "eigs", "geev"}, "eigh and geigh have those of symmetric matrices"},
	{"Schur and Hessenberg forms", []string{"schur", "hessenberg", "hess", "qz", "gees"}, ""},
	{"functions of matrices that are not symmetric, other than powers and the exponential", []string{"logm", "sqrtm", "funm", "signm", "sinm", "cosm"}, "symfunc has functions of symmetric matrices; map applies a function to every entry"},
	{"Kronecker products", []string{"kron", "kronecker"}, ""},
	{"Fourier transforms", []string{"fft", "ifft", "dft", "rfft"}, ""},
	{"factors and direct solutions of sparse matrices", []string{"splu", "spsolve", "spilu"}, "solve makes a sparse matrix dense, cg does not"},
	{"complex numbers", []string{"complex", "zgemm", "zgesv"}, ""},
}

// limitsHelp lists the operations that the program does not have yet.
func limitsHelp() string {
	var b strings.Builder
	b.WriteString("Operations that halfulp does not have yet, with their names in other programs:\n\n")
	for _, m := range notYet {
		fmt.Fprintf(&b, "  %s: %s\n", m.what, strings.Join(m.names, ", "))
		if m.instead != "" {
			fmt.Fprintf(&b, "    %s\n", m.instead)
		}
	}
	b.WriteString("\nThe page docs/guide/limits.md lists the limits of the existing operations.")
	return b.String()
}

// unknownCommand names a replacement for a command that does not exist.
func unknownCommand(app *kong.Application, name string) (instead, see string) {
	lower := strings.ToLower(name)
	for _, m := range notYet {
		if slices.Contains(m.names, lower) {
			instead = m.what + " are not there yet"
			if m.instead != "" {
				instead += "; " + m.instead
			}
			return instead, "halfulp help limits"
		}
	}
	if other := calledOtherwise[lower]; other != "" {
		return "it is called " + other + " here", ""
	}
	names := map[string][]string{}
	var all []string
	for _, c := range app.Children {
		names[c.Group.Key] = append(names[c.Group.Key], c.Name)
		all = append(all, c.Name)
	}
	if like := textio.DidYouMean(name, all); like != "" {
		return strings.TrimPrefix(like, ": "), ""
	}
	return "the commands of linear algebra are " + strings.Join(append(names["compute"], names["solve"]...), ", "), ""
}

// flagsOtherwise are names of flags in other programs.
var flagsOtherwise = map[string][]string{
	"dtype": {"--format"}, "type": {"--format"}, "output": {"--out"}, "outfile": {"--out"}, "jobs": {"--threads"}, "cores": {"--threads"}, "nthreads": {"--threads"},
	"gpu": {"--device cuda:0"}, "sep": {"--delimiter"}, "separator": {"--delimiter"}, "usecols": {"--columns"}, "cols": {"--columns"}, "skiprows": {"--skip"},
	"verbose": {"--stats"}, "silent": {"--quiet"}, "algorithm": {"--method"}, "mem": {"--memory"}, "lower": {"--uplo lower"}, "upper": {"--uplo upper"},
	"transpose": {"--trans", "--transa", "--transb"}, "const": {"--intercept"}, "constant": {"--intercept"}, "deg": {"--degree"},
}

// unknownFlag returns the flags that correspond to a flag of another program.
func unknownFlag(name, value string) []string {
	switch name {
	case "precision", "prec", "bits", "mpfr":
		if !wholeNumber.MatchString(value) {
			value = "P"
		}
		return []string{"--format mp:" + value}
	}
	return flagsOtherwise[strings.ToLower(name)]
}

var wholeNumber = regexp.MustCompile(`^[0-9]+$`)

// formatsOtherwise are names of formats in other programs. The MP formats among them have the
// precision of the named format, and a wider range.
var formatsOtherwise = map[string]string{
	"double": "f64", "float": "f32", "single": "f32", "real": "f64", "float64": "f64", "float32": "f32", "binary64": "f64", "binary32": "f32", "fp64": "f64", "fp32": "f32",
	"quad": "mp:113", "f128": "mp:113", "float128": "mp:113", "binary128": "mp:113", "fp128": "mp:113", "f80": "mp:64", "longdouble": "mp:64", "extended": "mp:64",
	"half": "mp:11", "f16": "mp:11", "float16": "mp:11", "fp16": "mp:11", "bf16": "mp:8", "bfloat16": "mp:8", "f256": "mp:237", "octuple": "mp:237",
	"doubledouble": "dd", "tripledouble": "td", "quaddouble": "qd",
}

// exactOtherwise are names of exact numbers in other programs.
var exactOtherwise = []string{"rational", "rationals", "rat", "ratio", "fraction", "fractions", "fmpq", "fmpz", "qq", "q", "zz", "integer", "integers", "exactly", "exct", "eaxct", "extact", "symbolic"}

// bitsOnly matches a precision without the prefix of the MP formats, or with another separator.
var bitsOnly = regexp.MustCompile(`^(?:mp|mpf|mpfr|prec|bits|p)?[-_=: .]?([0-9]+)(?:[-_ ]?bits?)?$`)

// meantFormat returns ": did you mean ...?" for a format that does not exist, or nothing.
func meantFormat(text string) string {
	name := strings.ToLower(text)
	plain := strings.NewReplacer("-", "", "_", "", " ", "").Replace(name)
	if f := formatsOtherwise[plain]; f != "" {
		if strings.HasPrefix(f, "mp:") {
			return ": did you mean " + f + ", which has the same precision?"
		}
		return ": did you mean " + f + "?"
	}
	if found := bitsOnly.FindStringSubmatch(name); found != nil {
		if f, err := halfulp.ParseFormat("mp:" + found[1]); err == nil && name != f.String() {
			return ": did you mean " + f.String() + "?"
		}
		return ""
	}
	return textio.DidYouMean(text, []string{"f32", "f64", "dd", "td", "qd"})
}
