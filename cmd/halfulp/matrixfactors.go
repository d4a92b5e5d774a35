package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/linsolve"
	"github.com/halfulp/halfulp/matfile"
)

type cholCmd struct {
	A string `arg:"" name:"A" help:"Symmetric positive definite matrix; - is standard input."`
	triangleFlag
	commonFlags
}

func (cholCmd) Help() string {
	return `Prints the Cholesky factor L of A = L L', lower triangular with a positive diagonal. Every entry is the exact one, rounded once, whatever the condition of A. A matrix that is not positive definite is an error, which names a leading minor that is proved not to be positive.

Examples:

  halfulp chol A.mtx
  halfulp gen hilbert 30 --format mp:200 | halfulp chol - --format dd --out L.mtx`
}

func (c *cholCmd) Run(env *cli.Environment) error {
	j, err := c.solverJob(env, "chol", true, c.A)
	if err != nil {
		return err
	}
	a, err := j.symmetricScaled(c.A, c.Uplo)
	if err != nil {
		return err
	}
	if a.odd == nil {
		if err := j.there(&a.Matrix); err != nil {
			return err
		}
	}
	l, err := j.cholesky(c.A, a)
	if err != nil {
		return err
	}
	l, err = j.back(l)
	if err != nil {
		return err
	}
	return j.writeMatrix(l, j.solver)
}

const factorsHelp = ` All factors are printed as one table, in which P counts rows and columns from 1, or with --json as one object.

--out FILE.npz writes all factors to one file. numpy.load(FILE)["L"] is L, and P is an array of integers that count from 0, like NumPy's indices. A factor in format mp:P is stored as several arrays, L_limbs and so on. Other commands read a factor as FILE.npz:L.

The options --l, --u and so on write one factor to a file each; the extension selects the kind of file. No file appears before all are complete. Then nothing is printed, unless --out or --json is given.`

type luCmd struct {
	A string `arg:"" name:"A" help:"Matrix; - is standard input."`
	L string `group:"result" placeholder:"FILE" help:"Write L to FILE."`
	U string `group:"result" placeholder:"FILE" help:"Write U to FILE."`
	P string `group:"result" placeholder:"FILE" help:"Write P to FILE: for each row of P A its index in A."`
	commonFlags
}

func (luCmd) Help() string {
	return `Prints the factors of P A = L U by elimination with partial pivoting. For an m x n matrix A and k the smaller of m and n, L is m x k and unit lower triangular, U is k x n and upper triangular, and P is a permutation of rows. Every entry is the exact one, rounded once, whatever the condition of A. It is an error if the first k columns of A are linearly dependent, which is proved. With exact numbers (--in exact or --format exact) it is none: then every pivot is the first number that is not 0.` + factorsHelp + `

Examples:

  halfulp lu A.mtx
  halfulp lu A.csv --in exact --format exact
  halfulp lu A.csv --format dd --l L.mtx --u U.mtx --p P.txt
  halfulp lu A.npy --out F.npz                       # numpy: A[F["P"]] is L U
  halfulp gemm F.npz:L F.npz:U`
}

func (c *luCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	j, err := c.factorsJob(env, "lu", false, c.P, []string{c.L, c.U}, c.A)
	if err != nil {
		return err
	}
	a, err := j.finiteMatrix(c.A, nil)
	if err != nil {
		return err
	}
	if err := j.there(&a); err != nil {
		return err
	}
	z, err := solved(j, c.A, func(opt *halfulp.Options) (*linsolve.LUFactors, error) {
		return linsolve.LU(a, j.format, opt)
	})
	if err != nil {
		return err
	}
	return j.writeFactors([]namedFactor{{"P", c.P, permutation(z.P), z.P, false}, {"L", c.L, z.L, nil, false}, {"U", c.U, z.U, nil, false}})
}

type qrCmd struct {
	A       string `arg:"" name:"A" help:"Matrix with at least as many rows as columns; - is standard input."`
	Pivoted bool   `group:"input" help:"Column pivoting: the column with the longest remaining part comes next."`
	Q       string `group:"result" placeholder:"FILE" help:"Write Q to FILE."`
	R       string `group:"result" placeholder:"FILE" help:"Write R to FILE."`
	P       string `group:"result" placeholder:"FILE" help:"Write P to FILE: for each column of A P its index in A."`
	commonFlags
}

func (qrCmd) Help() string {
	return `Prints the factors of A = Q R, or of A P = Q R with --pivoted. For an m x n matrix A with m ≥ n, Q is m x n with orthonormal columns, R is n x n and upper triangular with a positive diagonal, and P is a permutation of columns. Every entry is the exact one, rounded once, whatever the condition of A. It is an error if the columns of A are linearly dependent, which is proved.` + factorsHelp + `

Examples:

  halfulp qr A.mtx
  halfulp qr A.csv --pivoted --format mp:100 --q Q.mtx --r R.mtx --p P.txt
  halfulp qr A.npy --pivoted --out F.npz             # numpy: A[:, F["P"]] is Q R`
}

func (c *qrCmd) Run(env *cli.Environment) error {
	j, err := c.factorsJob(env, "qr", false, c.P, []string{c.Q, c.R}, c.A)
	if err != nil {
		return err
	}
	a, err := j.scaledMatrix(c.A, checkTall)
	if err != nil {
		return err
	}
	if a.odd == nil {
		if err := j.there(&a.Matrix); err != nil {
			return err
		}
	}
	z, err := j.qr(c.A, a, c.Pivoted)
	if err != nil {
		return err
	}
	return j.writeFactors([]namedFactor{{"P", c.P, permutation(z.P), z.P, false}, {"Q", c.Q, z.Q, nil, false}, {"R", c.R, z.R, nil, false}})
}

type ldltCmd struct {
	A string `arg:"" name:"A" help:"Symmetric matrix; - is standard input."`
	L string `group:"result" placeholder:"FILE" help:"Write L to FILE."`
	D string `group:"result" placeholder:"FILE" help:"Write D to FILE."`
	P string `group:"result" placeholder:"FILE" help:"Write P to FILE: for each row and column of P A P' its index in A."`
	triangleFlag
	commonFlags
}

func (ldltCmd) Help() string {
	return `Prints the factors of P A P' = L D L' for a symmetric matrix, definite or not, by Bunch and Kaufman's elimination with rook pivoting. L is unit lower triangular, D is block diagonal with blocks of order 1 and 2, and P is a permutation. Every entry is the exact one, rounded once, whatever the condition of A. A singular matrix is an error, which states the rank; singularity is proved. With exact numbers (--in exact or --format exact) A may be singular, and pivots are chosen to be not 0, without regard to their size: D is diagonal and P the identity if no leading minor is 0.` + factorsHelp + `

Examples:

  halfulp ldlt A.mtx
  halfulp ldlt A.csv --format dd --l L.mtx --d D.mtx --p P.txt
  halfulp ldlt A.npy --out F.npz                     # numpy: A[F["P"]][:, F["P"]] is L D L.T`
}

func (c *ldltCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	j, err := c.factorsJob(env, "ldlt", false, c.P, []string{c.L, c.D}, c.A)
	if err != nil {
		return err
	}
	a, err := j.symmetricMatrix(c.A, c.Uplo)
	if err != nil {
		return err
	}
	if err := j.there(&a); err != nil {
		return err
	}
	z, err := solved(j, c.A, func(opt *halfulp.Options) (*linsolve.LDLTFactors, error) {
		return linsolve.LDLT(a, j.format, opt)
	})
	if err != nil {
		return err
	}
	return j.writeFactors([]namedFactor{{"P", c.P, permutation(z.P), z.P, false}, {"L", c.L, z.L, nil, false}, {"D", c.D, z.D, nil, false}})
}

// factorsJob begins a command with several results and checks the output files of the permutation
// and of the other results, which may be empty. makesMatrix says that the result is a single matrix
// unless it goes to a file of its own.
func (f *commonFlags) factorsJob(env *cli.Environment, name string, makesMatrix bool, permutation string, others []string, operands ...string) (*job, error) {
	f.Several = true
	f.Exact = f.Format.exact
	to := slices.Concat(others, []string{permutation})
	if err := f.checkExactFactors(to); err != nil {
		return nil, err
	}
	for i, file := range to {
		if file == "" {
			continue
		}
		if file == files.Stdio {
			return nil, cli.Misuse("a factor is to go to -: name a file, or none for a table of all")
		}
		format := f.Format.Format
		if i == len(others) {
			format = halfulp.Float64
		}
		if err := matfile.CheckName(file, format); err != nil {
			return nil, cli.Misuse("%w", err)
		}
		if err := files.CheckWritable(file); err != nil {
			return nil, err
		}
		for _, other := range append(to[:i:i], f.target()) {
			if file == other {
				return nil, cli.Misuse("two results are to go to %s", file)
			}
		}
	}
	return f.solverJob(env, name, makesMatrix, operands...)
}

func checkTall(name string, a sized) error {
	if a.Rows() < a.Cols() {
		return cli.Misuse("%s is %d x %d, a matrix with at least as many rows as columns is wanted", shown(name), a.Rows(), a.Cols())
	}
	return nil
}

// namedFactor is one of several matrices, and its output file or nothing.
type namedFactor struct {
	name, file string
	matrix     *halfulp.Matrix
	indices    []int // the indices in matrix, counted from 0
	flat       bool  // in a .npz file, a column is an array of one dimension
}

// permutation returns a permutation as a row, counted from 1.
func permutation(p []int) *halfulp.Matrix {
	m := halfulp.NewMatrix(halfulp.Float64, 1, len(p))
	for j, i := range p {
		m.SetFloat64(0, j, float64(i+1))
	}
	return m
}

// factorText is a matrix for programs.
type factorText struct {
	Rows   int        `json:"rows"`
	Cols   int        `json:"cols"`
	Values [][]string `json:"values"` // by rows
}

// writeFactors writes factors as writeResults does.
func (j *job) writeFactors(factors []namedFactor) error {
	j.report(j.solver)
	return j.writeResults(factors, func() string {
		object := map[string]any{"command": j.command, "format": j.format.String(), "stats": j.resultStats(j.solver)}
		var table strings.Builder
		for _, f := range factors {
			m, cols := f.matrix, f.matrix.Cols()
			t := factorText{m.Rows(), cols, make([][]string, m.Rows())}
			fmt.Fprintf(&table, "%s\n", f.name)
			for i := range t.Values {
				t.Values[i] = make([]string, cols)
				for k := range cols {
					t.Values[i][k] = m.At(i, k).Text(int(j.print.Digits))
					if f.name == "P" {
						t.Values[i][k] = m.At(i, k).String()
					}
				}
				fmt.Fprintf(&table, "%s\n", strings.Join(t.Values[i], j.separator()))
			}
			if f.name == "P" {
				object["P"] = t.Values[0]
				continue
			}
			object[f.name] = t
		}
		if j.print.JSON {
			return jsonText(object)
		}
		return table.String()
	})
}

// separator stands between the cells of a table of results.
func (j *job) separator() string {
	return map[string]string{".csv": ",", ".tsv": "\t", "": " "}[ending(j.print.kind(), tableEndings...)]
}

// writeResults writes several results to their files. If requested, or if there are no files, it
// writes all of them to one archive, or as the text that the function text returns. Then all
// matrices are on the host.
func (j *job) writeResults(results []namedFactor, text func() string) error {
	var to []matfile.Named
	for i := range results {
		f := &results[i]
		m, err := f.matrix.Host()
		if err != nil {
			return err
		}
		f.matrix = m
		if f.file != "" {
			to = append(to, matfile.Named{Name: f.file, Matrix: m})
		}
	}
	opt := matfile.Options{Digits: int(j.print.Digits), Threads: int(j.how.Threads), Context: j.env.Ctx, Stdout: j.env.Stdout}
	// ownFiles writes the files of single results; they receive their names after rest.
	ownFiles := func(rest func() error) error {
		if len(to) == 0 {
			return rest()
		}
		opt := opt
		opt.Last = rest
		return matfile.WriteAll(to, &opt)
	}
	if len(to) > 0 && !j.print.JSON && j.print.Out == nil {
		return j.writing(ownFiles)
	}
	return j.writing(func(last func() error) error {
		if !j.print.isArchive() {
			return ownFiles(func() error { return j.textThen(text(), last) })
		}
		opt := opt
		opt.Last = last
		return ownFiles(func() error { return matfile.WriteArchive(j.print.target(), numpyNames(results), &opt) })
	})
}

// numpyNames returns results as the arrays of an archive.
func numpyNames(results []namedFactor) (all []matfile.Named) {
	for _, f := range results {
		m := matfile.Named{Name: f.name, Matrix: f.matrix, Flat: f.flat}
		if f.indices != nil {
			m = matfile.Named{Name: f.name, Integers: f.indices}
		}
		all = append(all, m)
	}
	return all
}
