package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/linsolve"
)

type eighCmd struct {
	A string `arg:"" name:"A" help:"Symmetric matrix; - is standard input."`
	eigenFlags
	triangleFlag
	commonFlags
}

// eigenFlags select eigenvalues, and where they and their vectors go.
type eigenFlags struct {
	ValuesOnly bool        `group:"result" help:"Print only the eigenvalues, one a line, which takes less time."`
	Index      *indexRange `group:"result" placeholder:"I-J" help:"Only the eigenvalues I to J, counted from 1 in ascending order; I alone is one of them."`
	Range      *numberText `group:"result" placeholder:"A,B" help:"Only the eigenvalues above A and up to B. Either may be left out or infinite."`
	W          string      `group:"result" placeholder:"FILE" help:"Write the eigenvalues to FILE."`
	V          string      `group:"result" placeholder:"FILE" help:"Write the eigenvectors to FILE."`
	Plot       string      `group:"result" placeholder:"FILE" help:"Draw the eigenvalues over their indices to FILE.svg. The axis is logarithmic, and zeros are left out, if the others have one sign and spread over two powers of ten."`
}

func (eighCmd) Help() string {
	return `Prints the eigenvalues w of the symmetric n x n matrix A in ascending order, and the eigenvectors V: A V = V diag(w), each column of V with norm 1. Every eigenvalue is the exact one, rounded once, whatever the condition of A. Entries of eigenvectors are rounded once, too. In each vector the first entry whose magnitude exceeds π/4 of the largest is positive.

w is printed as one eigenvalue a line after its index, which counts from 1, and V as a table whose columns are the eigenvectors. --json writes one object, in which indices count from 0. --out FILE.npz writes both to one file: numpy.load(FILE)["w"] has the shape (k,) and ["V"] the shape (n, k), as numpy.linalg.eigh returns them. The options --w and --v write one file each; then nothing is printed, unless --out or --json is given. With --values-only the result is a column of numbers, for any kind of file.

A note on standard error names clusters: eigenvalues that are equal, or too close to be separated with four times the bits of the format. Their eigenvalues are correctly rounded like all others, and their vectors are an orthonormal basis of a subspace. A warning states how many entries of eigenvectors seem to be 0, or halfway between two numbers of the format, without a proof.

A matrix that is not symmetric is an error, which names the first entry that differs. With --uplo only one triangle is read, as by numpy.linalg.eigh. The command geigh solves A x = λ B x.

Examples:

  halfulp eigh A.mtx
  halfulp eigh A.csv --values-only --format mp:200
  halfulp eigh A.npy --uplo lower --out F.npz        # numpy: A @ F["V"] is F["V"] * F["w"]
  halfulp eigh A.mtx --index 2-3 --v V.mtx
  halfulp eigh A.mtx --range 1,inf --w w.txt --v V.npy
  halfulp eigh A.mtx --values-only --plot spectrum.svg`
}

// indexRange are the positions of the first and of the last wanted eigenvalue, counted from 0.
type indexRange [2]int

// UnmarshalText reads I-J or I, which count from 1.
func (x *indexRange) UnmarshalText(text []byte) error {
	from, to, both := strings.Cut(string(text), "-")
	if !both {
		to = from
	}
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || first < 1 || last < first {
		return fmt.Errorf("%q is no range of indices: want I-J with 1 ≤ I ≤ J", text)
	}
	*x = indexRange{first - 1, last - 1}
	return nil
}

// triangleFlag names the triangle of a symmetric matrix that is read, if only one is.
type triangleFlag struct {
	Uplo triangle `group:"input" placeholder:"TRIANGLE" help:"Read only this triangle of a symmetric matrix, lower or upper, and ignore the other one. Default: both, which must agree."`
}

// triangle is a triangle of a matrix, 0 for both.
type triangle halfulp.Uplo

// UnmarshalText reads lower or upper, or the letters of LAPACK.
func (t *triangle) UnmarshalText(text []byte) error {
	switch strings.ToLower(string(text)) {
	case "lower", "l":
		*t = triangle(halfulp.Lower)
	case "upper", "u":
		*t = triangle(halfulp.Upper)
	default:
		return fmt.Errorf("%q is no triangle: want lower or upper%s", text, textio.DidYouMean(string(text), []string{"lower", "upper"}))
	}
	return nil
}

// symmetricMatrix reads a square matrix of finite numbers, or one triangle of it if that is
// requested.
func (j *job) symmetricMatrix(file string, t triangle) (*halfulp.Matrix, error) {
	if t == 0 {
		return j.finiteMatrix(file, checkSquare)
	}
	j.grid = nil // one triangle is copied to the other one entry by entry, on the host
	a, err := j.matrix(file)
	if err != nil {
		return nil, err
	}
	if err := checkSquare(file, a); err != nil {
		return nil, err
	}
	a = a.Clone() // it may be another operand
	mirror(a, halfulp.Uplo(t))
	return a, checkFinite(file, a)
}

func (c *eighCmd) Run(env *cli.Environment) error {
	j, opt, err := c.begin(env, &c.commonFlags, "eigh", c.A)
	if err != nil {
		return err
	}
	a, err := j.symmetricScaled(c.A, c.Uplo)
	if err != nil {
		return err
	}
	if err := c.choose(opt, c.A, a); err != nil {
		return err
	}
	z, err := j.sym(c.A, a, j.format, *opt)
	if err != nil {
		return err
	}
	return c.write(j, z, a.Rows())
}

// begin begins a command that computes eigenvalues.
func (f *eigenFlags) begin(env *cli.Environment, common *commonFlags, name string, operands ...string) (*job, *eigen.SymOptions, error) {
	if f.ValuesOnly && f.V != "" {
		return nil, nil, cli.Misuse("--v: --values-only computes no eigenvectors")
	}
	if f.Index != nil && f.Range != nil {
		return nil, nil, cli.Misuse("--index and --range cannot be combined")
	}
	if err := checkPicture(f.Plot); err != nil {
		return nil, nil, err
	}
	j, err := common.factorsJob(env, name, f.ValuesOnly, "", []string{f.W, f.V}, operands...)
	if err != nil {
		return nil, nil, err
	}
	opt := &eigen.SymOptions{ValuesOnly: f.ValuesOnly}
	if f.Range != nil {
		opt.Above, opt.UpTo, err = j.interval(string(*f.Range))
	}
	return j, opt, err
}

// checkPicture returns an error if no picture can be written to a file, whose name may be empty.
func checkPicture(file string) error {
	switch {
	case file == "":
		return nil
	case ending(file, ".svg") == "":
		return cli.Misuse("--plot: %s: a name that ends in .svg is wanted", file)
	}
	return files.CheckWritable(file)
}

// choose sets the positions of the eigenvalues of the matrix A of a file.
func (f *eigenFlags) choose(opt *eigen.SymOptions, file string, a sized) error {
	if f.Index == nil {
		return nil
	}
	if f.Index[1] >= a.Rows() {
		return cli.Misuse("--index: there is no eigenvalue %d: %s is %d x %d", f.Index[1]+1, shown(file), a.Rows(), a.Cols())
	}
	opt.Index = (*[2]int)(f.Index)
	return nil
}

type geighCmd struct {
	A string `arg:"" name:"A" help:"Symmetric matrix; - is standard input."`
	B string `arg:"" name:"B" help:"Symmetric positive definite matrix of the same order."`
	eigenFlags
	triangleFlag
	commonFlags
}

func (geighCmd) Help() string {
	return `Prints the eigenvalues w of the generalised problem A x = λ B x in ascending order, and the eigenvectors V: A V = B V diag(w) and V' B V = I. A and B are symmetric n x n matrices, and B is positive definite. Every eigenvalue is the exact one, rounded once, whatever the condition of A and B. Entries of eigenvectors are rounded once, too. In each vector the first entry whose magnitude exceeds π/4 of the largest is positive.

Output, clusters and warnings are as for eigh (halfulp help eigh). w and V are the results of scipy.linalg.eigh(A, B).

A matrix B that is not positive definite is an error, which names a leading minor that is proved not to be positive. A matrix that is not symmetric is an error, which names the first entry that differs. With --uplo only one triangle of A and of B is read.

Examples:

  halfulp geigh A.mtx B.mtx
  halfulp geigh A.csv B.csv --values-only --format mp:200
  halfulp geigh A.npy B.npy --out F.npz              # numpy: A @ F["V"] is B @ F["V"] * F["w"]
  halfulp geigh A.mtx B.mtx --index 1 --v V.mtx
  halfulp geigh A.mtx B.mtx --range 0,2 --values-only --plot spectrum.svg`
}

func (c *geighCmd) Run(env *cli.Environment) error {
	j, opt, err := c.begin(env, &c.commonFlags, "geigh", c.A, c.B)
	if err != nil {
		return err
	}
	a, b, err := c.operands(j)
	if err != nil {
		return err
	}
	if a.Rows() != b.Rows() {
		return cli.Misuse("%s is %d x %d, %s %d x %d: they must have the same order", shown(c.A), a.Rows(), a.Cols(), shown(c.B), b.Rows(), b.Cols())
	}
	if err := c.choose(opt, c.A, a); err != nil {
		return err
	}
	z, err := j.general(c.A, a, b, j.format, *opt)
	if err != nil {
		return c.ofFile(err)
	}
	return c.write(j, z, a.Rows())
}

// operands reads A and B, with a common denominator.
func (c *geighCmd) operands(j *job) (a, b scaled, err error) {
	if !j.in.exact() {
		if a, err = j.symmetricScaled(c.A, c.Uplo); err == nil {
			b, err = j.symmetricScaled(c.B, c.Uplo)
		}
		return a, b, err
	}
	exactA, err := j.exactSymmetric(c.A, c.Uplo)
	if err != nil {
		return a, b, err
	}
	exactB, err := j.exactSymmetric(c.B, c.Uplo)
	if err != nil {
		return a, b, err
	}
	both, odd, err := j.overOdd([]string{c.A, c.B}, exactA, exactB)
	if err != nil {
		return a, b, err
	}
	return scaled{both[0], odd}, scaled{both[1], odd}, nil
}

// ofFile returns an error with the name of the file that it is about.
func (c *geighCmd) ofFile(err error) error {
	var indefinite *linsolve.NotPositiveDefiniteError
	switch {
	case errors.As(err, &indefinite):
		return fmt.Errorf("%s: %w", shown(c.B), indefinite)
	case errors.Is(err, linsolve.ErrNotSymmetric) && strings.Contains(err.Error(), "entries B["):
		return namedError{strings.Replace(err.Error(), shown(c.A), shown(c.B), 1), err}
	}
	return err
}

// interval reads the bounds A,B of --range; nil is no bound.
func (j *job) interval(text string) (above, upTo *halfulp.Scalar, err error) {
	from, to, ok := strings.Cut(text, ",")
	if !ok {
		return nil, nil, cli.Misuse("--range: %q is not A,B", text)
	}
	var ends [2]*halfulp.Scalar
	for i, s := range []string{from, to} {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		x, loss, err := parseFactor(s, j.factorFormat(s))
		if err != nil {
			return nil, nil, cli.Misuse("--range: %w", err)
		}
		if x.IsNaN() {
			return nil, nil, cli.Misuse("--range: %s is no bound", s)
		}
		j.warnInput("--range", lossOf(loss), x.NumberFormat())
		if !x.IsInf(2*i - 1) {
			ends[i] = &x
		}
	}
	above, upTo = ends[0], ends[1]
	if above != nil && (above.IsInf(1) || upTo != nil && above.Cmp(*upTo) >= 0) || upTo != nil && upTo.IsInf(-1) {
		return nil, nil, cli.Misuse("--range: there is no number above %s and up to %s", strings.TrimSpace(from), strings.TrimSpace(to))
	}
	return above, upTo, nil
}

// eighResult is the JSON of eigh. Positions count from 0.
type eighResult struct {
	Command  string      `json:"command"`
	Format   string      `json:"format"`
	First    int         `json:"first"` // position of the first eigenvalue among all
	W        []string    `json:"w"`
	V        *factorText `json:"V,omitempty"`
	Clusters [][2]int    `json:"clusters,omitempty"` // first and last position in w
	Stats    *runStats   `json:"stats"`
}

// write writes the eigenvalues and eigenvectors of a matrix of order n.
func (f *eigenFlags) write(j *job, z *eigen.SymResult, n int) error {
	j.warnOpen("entries of eigenvectors")
	if k := z.Values.Len(); f.Range != nil && !j.print.Quiet {
		if k == 0 {
			fmt.Fprintf(j.env.Stderr, "halfulp: note: --range contains none of the %s\n", textio.Count(n, "eigenvalue"))
		} else {
			fmt.Fprintf(j.env.Stderr, "halfulp: note: --range contains the eigenvalues %s of %d\n", positions(z.First, z.First+k-1), n)
		}
	}
	j.noteClusters("eigenvalues", z.First, z.Clusters)
	s := spectrum{name: "w", file: f.W, of: "eigenvalue", first: z.First, values: z.Values}
	if z.Vectors != nil {
		s.vectors = []namedFactor{{name: "V", file: f.V, matrix: z.Vectors}}
	}
	return j.writeSpectrum(&s, f.Plot, func(w []string) any {
		r := eighResult{Command: j.command, Format: j.format.String(), First: z.First, W: w, Clusters: z.Clusters, Stats: j.resultStats(j.solver)}
		if z.Vectors != nil {
			r.V = j.factorText(z.Vectors)
		}
		return r
	})
}
