package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/textio"
)

type eighCmd struct {
	A          string      `arg:"" name:"A" help:"Symmetric matrix; - is standard input."`
	ValuesOnly bool        `group:"result" help:"Print only the eigenvalues, one a line, which takes less time."`
	Index      *indexRange `group:"result" placeholder:"I-J" help:"Only the eigenvalues I to J, counted from 1 in ascending order; I alone is one of them."`
	Range      *numberText `group:"result" placeholder:"A,B" help:"Only the eigenvalues above A and up to B. Either may be left out or infinite."`
	W          string      `group:"result" placeholder:"FILE" help:"Write the eigenvalues to FILE."`
	V          string      `group:"result" placeholder:"FILE" help:"Write the eigenvectors to FILE."`
	Plot       string      `group:"result" placeholder:"FILE" help:"Draw the eigenvalues over their indices to FILE.svg; on a logarithmic axis if they have one sign and spread over two powers of ten."`
	triangleFlag
	commonFlags
}

func (eighCmd) Help() string {
	return `Prints the eigenvalues w of the symmetric n x n matrix A in ascending order, and the eigenvectors V: A V = V diag(w), each column of V with norm 1. Every eigenvalue is the exact one, rounded once, whatever the condition of A. Entries of eigenvectors are rounded once, too. In each vector the first entry whose magnitude exceeds π/4 of the largest is positive.

w is printed as one eigenvalue a line after its index, which counts from 1, and V as a table whose columns are the eigenvectors. --json writes one object, in which indices count from 0. --out FILE.npz writes both to one file: numpy.load(FILE)["w"] has the shape (k,) and ["V"] the shape (n, k), as numpy.linalg.eigh returns them. The options --w and --v write one file each; then nothing is printed, unless --out or --json is given. With --values-only the result is a column of numbers, for any kind of file.

A note on standard error names clusters: eigenvalues that are equal, or too close to be separated with four times the bits of the format. Their eigenvalues are correctly rounded like all others, and their vectors are an orthonormal basis of a subspace. A warning states how many entries of eigenvectors seem to be 0, or halfway between two numbers of the format, without a proof.

A matrix that is not symmetric is an error, which names the first entry that differs. With --uplo only one triangle is read, as by numpy.linalg.eigh.

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
	Uplo triangle `group:"input" placeholder:"TRIANGLE" help:"Read only this triangle of A, lower or upper, and ignore the other one. Default: both, which must agree."`
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
	if c.ValuesOnly && c.V != "" {
		return cli.Misuse("--v: --values-only computes no eigenvectors")
	}
	if c.Index != nil && c.Range != nil {
		return cli.Misuse("--index and --range cannot be combined")
	}
	if c.Plot != "" {
		if ending(c.Plot, ".svg") == "" {
			return cli.Misuse("--plot: %s: a name that ends in .svg is wanted", c.Plot)
		}
		if err := files.CheckWritable(c.Plot); err != nil {
			return err
		}
	}
	j, err := c.factorsJob(env, "eigh", c.A, c.ValuesOnly, c.W, c.V)
	if err != nil {
		return err
	}
	opt := eigen.SymOptions{ValuesOnly: c.ValuesOnly}
	if c.Range != nil {
		if opt.Above, opt.UpTo, err = j.interval(string(*c.Range)); err != nil {
			return err
		}
	}
	a, err := j.symmetricMatrix(c.A, c.Uplo)
	if err != nil {
		return err
	}
	if c.Index != nil {
		if c.Index[1] >= a.Rows() {
			return cli.Misuse("--index: there is no eigenvalue %d: %s is %d x %d", c.Index[1]+1, shown(c.A), a.Rows(), a.Cols())
		}
		opt.Index = (*[2]int)(c.Index)
	}
	z, err := solved(j, c.A, func(how *halfulp.Options) (*eigen.SymResult, error) {
		opt.Options = *how
		return eigen.Sym(a, j.format, &opt)
	})
	if err != nil {
		return err
	}
	if err := c.write(j, z, a.Rows()); err != nil || c.Plot == "" || !team.first() {
		return err
	}
	if z.Values.Len() == 0 {
		return errors.New("--plot: there is no eigenvalue to draw")
	}
	values := make([]halfulp.Scalar, z.Values.Len())
	for i := range values {
		values[i] = z.Values.At(i)
	}
	return files.Write(c.Plot, env.Stdout, func(w io.Writer) error { return plotSpectrum(w, z.First+1, values) })
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

// write writes the decomposition of a matrix of order n.
func (c *eighCmd) write(j *job, z *eigen.SymResult, n int) error {
	j.noteSpectrum(z, n, c.Range != nil)
	w := z.Values.Matrix()
	results := []namedFactor{{name: "w", file: c.W, matrix: w, flat: true}}
	if z.Vectors != nil {
		results = append(results, namedFactor{name: "V", file: c.V, matrix: z.Vectors})
	}
	j.report(j.solver)
	if c.ValuesOnly && c.W == "" && !j.print.JSON && !j.print.isArchive() {
		j.flat = true
		return j.writeFile(w)
	}
	return j.writeResults(results, func() string {
		values := make([]string, w.Rows())
		for i := range values {
			values[i] = j.text(w.At(i, 0))
		}
		if j.print.JSON {
			r := eighResult{Command: j.command, Format: j.format.String(), First: z.First, W: values, Clusters: z.Clusters, Stats: j.resultStats(j.solver)}
			if z.Vectors != nil {
				r.V = &factorText{n, w.Rows(), j.texts(z.Vectors)}
			}
			return jsonText(r)
		}
		var b strings.Builder
		b.WriteString("w\n")
		for i, v := range values {
			fmt.Fprintf(&b, "%d%s%s\n", z.First+i+1, j.separator(), v)
		}
		if z.Vectors != nil {
			b.WriteString("V\n")
			for _, row := range j.texts(z.Vectors) {
				b.WriteString(strings.Join(row, j.separator()) + "\n")
			}
		}
		return b.String()
	})
}

// mostClusters is how many clusters a note lists.
const mostClusters = 8

// noteSpectrum notes which eigenvalues a range contains and which are not separated, and warns of
// entries that are not proved.
func (j *job) noteSpectrum(z *eigen.SymResult, n int, ranged bool) {
	j.warnUndecided()
	if j.print.Quiet {
		return
	}
	switch k := z.Values.Len(); {
	case ranged && k == 0:
		fmt.Fprintf(j.env.Stderr, "halfulp: note: --range contains none of the %s\n", textio.Count(n, "eigenvalue"))
	case ranged:
		fmt.Fprintf(j.env.Stderr, "halfulp: note: --range contains the eigenvalues %s of %d\n", positions(z.First, z.First+k-1), n)
	}
	var list []string
	for _, c := range z.Clusters {
		if len(list) == mostClusters {
			list = append(list, fmt.Sprintf("and %d more clusters", len(z.Clusters)-mostClusters))
			break
		}
		list = append(list, positions(z.First+c[0], z.First+c[1]))
	}
	if len(list) > 0 {
		fmt.Fprintf(j.env.Stderr, "halfulp: note: eigenvalues that are equal, or not separated with %d bits: %s; their vectors are a basis of a subspace\n",
			4*j.format.Bits()+64, strings.Join(list, ", "))
	}
}

// warnUndecided warns, even with --quiet, of entries of eigenvectors that are not proved.
func (j *job) warnUndecided() {
	if k := j.solver.Undecided; k > 0 {
		fmt.Fprintf(j.env.Stderr, "halfulp: warning: entries of eigenvectors that seem to be 0 or halfway between two numbers, without a proof: %d\n", k)
	}
}

// positions returns "3-5" for the positions 2 to 4.
func positions(first, last int) string {
	if first == last {
		return strconv.Itoa(first + 1)
	}
	return fmt.Sprintf("%d-%d", first+1, last+1)
}
