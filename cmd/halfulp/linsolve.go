package main

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/linsolve"
	"github.com/halfulp/halfulp/matfile"
)

type solveCmd struct {
	A string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	B string `arg:"" name:"B" help:"Right-hand sides: a matrix with as many rows, or a vector."`

	Enclose bool   `group:"result" help:"Print proved bounds, two columns for each of X: lower, upper."`
	Steps   *int   `group:"run" placeholder:"N" help:"With --enclose: steps of refinement, each of 8 to 45 bits (default 3)."`
	RadiusA string `group:"input" name:"radius-a" placeholder:"FILE" help:"With --enclose: A is all matrices that differ from the one read by at most these entries."`
	RadiusB string `group:"input" name:"radius-b" placeholder:"FILE" help:"With --enclose: the same for B."`

	commonFlags
	compareFlags
}

func (solveCmd) Help() string {
	return `Prints the solution X of A X = B, every entry the exact one rounded once, whatever the condition of A. A singular matrix is proved to be singular, with its rank; that is an error.

A is n x n, B and X are n x k; a row of n numbers is a vector, too. --stats says how X came about: float64 decompositions that went into the approximate inverse R, the bound of ‖I - R A‖ that proves it, a bound of the condition number, steps of refinement.

The system solved is that of the numbers as they are read: no binary number is 0.1, which --in mp:300 reads to 90 digits. --compare shows beside X what Gaussian elimination with partial pivoting makes of the system in float64 arithmetic.

--enclose prints bounds between which X is proved to lie instead, rounded outwards to --format and to --digits N, after a number of steps. With --radius-a or --radius-b they hold the solutions of all systems within these distances. It is an error if some of these matrices are singular, or are not proved to be regular.

Examples:

  halfulp solve A.mtx b.mtx
  halfulp solve A.csv B.csv --in mp:400 --format dd --out X.mtx
  halfulp gen hilbert 30 --format mp:200 --out H.mtx && halfulp gen random 30 | halfulp solve H.mtx - --stats
  halfulp gen hilbert 12 --out H.mtx && halfulp gen random 12 | halfulp solve H.mtx - --compare
  halfulp solve A.csv b.csv --enclose --radius-a dA.csv --radius-b db.csv`
}

func (c *solveCmd) Run(env *cli.Environment) error {
	operands := []string{c.A, c.B}
	for _, file := range []string{c.RadiusA, c.RadiusB} {
		if file != "" {
			operands = append(operands, file)
		}
	}
	switch {
	case len(operands) > 2 && !c.Enclose:
		return cli.Misuse("--radius-a and --radius-b need --enclose")
	case c.Steps != nil && !c.Enclose:
		return cli.Misuse("--steps needs --enclose")
	case c.Compare && c.Enclose:
		return cli.Misuse("--compare: --enclose prints bounds, no solution to compare")
	case c.Steps != nil && *c.Steps < 0:
		return cli.Misuse("--steps: %d is negative", *c.Steps)
	}
	j, err := c.solverJob(env, "solve", true, operands...)
	if err != nil {
		return err
	}
	if c.Enclose || c.Compare {
		j.grid = nil // bounds and float64 solutions are computed on the host
	}
	a, b, err := j.twoMatrices(c.A, c.B)
	if err != nil {
		return err
	}
	if err := checkSquare(c.A, a); err != nil {
		return err
	}
	if b, err = finiteSystem(c.A, a, c.B, b); err != nil {
		return err
	}
	if c.Enclose {
		return c.enclose(j, a, b)
	}
	hostA, hostB := a, b
	if err := j.there(&a, &b); err != nil {
		return err
	}
	x, err := j.solution(c.A, func(opt *halfulp.Options) (*halfulp.Matrix, error) {
		return linsolve.Solve(a, b, j.format, opt)
	})
	if err != nil {
		return err
	}
	if c.Compare {
		if err := writeComparison(env.Stderr, x, plainSolve(hostA, hostB), j.text); err != nil {
			return err
		}
	}
	return j.writeMatrix(x, j.solver)
}

// defaultSteps is the default number of steps of --enclose.
const defaultSteps = 3

// boundsResult is the JSON of bounds.
type boundsResult struct {
	Command string     `json:"command"`
	Format  string     `json:"format"`
	Rows    int        `json:"rows"`
	Cols    int        `json:"cols"`
	Lower   [][]string `json:"lower"` // by rows
	Upper   [][]string `json:"upper"`
	Stats   *runStats  `json:"stats"`
}

// enclose prints bounds of the solution.
func (c *solveCmd) enclose(j *job, a, b *halfulp.Matrix) error {
	radius := func(file string, of *halfulp.Matrix) (*halfulp.Matrix, error) {
		if file == "" {
			return nil, nil
		}
		m, err := j.matrix(file)
		if err != nil {
			return nil, err
		}
		if m, err = shaped(file, m, of.Rows(), of.Cols()); err != nil {
			return nil, err
		}
		return m, checkFinite(file, m)
	}
	da, err := radius(c.RadiusA, a)
	if err != nil {
		return err
	}
	db, err := radius(c.RadiusB, b)
	if err != nil {
		return err
	}
	steps := defaultSteps
	if c.Steps != nil {
		steps = *c.Steps
	}
	var upper *halfulp.Matrix
	lower, err := solved(j, c.A, func(opt *halfulp.Options) (lower *halfulp.Matrix, err error) {
		lower, upper, err = linsolve.EncloseSet(a, da, b, db, steps, j.format, opt)
		return lower, err
	})
	if err != nil {
		return err
	}
	if n := int(j.print.Digits); n > 0 && (j.print.JSON || ending(j.print.kind(), ".npy", ".npz") == "") {
		if lower, err = outward(lower, n, false); err != nil {
			return err
		}
		if upper, err = outward(upper, n, true); err != nil {
			return err
		}
	}
	if !j.print.JSON {
		both := halfulp.NewMatrix(lower.NumberFormat(), b.Rows(), 2*b.Cols())
		for i := range b.Rows() {
			for k := range b.Cols() {
				both.Set(i, 2*k, lower.At(i, k))
				both.Set(i, 2*k+1, upper.At(i, k))
			}
		}
		return j.writeMatrix(both, j.solver)
	}
	j.report(j.solver)
	return j.writeText(jsonText(boundsResult{j.command, j.format.String(), b.Rows(), b.Cols(), j.texts(lower), j.texts(upper), j.resultStats(j.solver)}))
}

type invCmd struct {
	A string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	commonFlags
}

func (invCmd) Help() string {
	return `Prints the inverse of A, n x n, every entry the exact one rounded once, whatever the condition of A. A singular matrix is proved to be singular, with its rank; that is an error.

Examples:

  halfulp inv A.mtx
  halfulp gen hilbert 20 --format mp:100 | halfulp inv - --format dd --stats`
}

func (c *invCmd) Run(env *cli.Environment) error {
	j, a, err := c.matrixJob(env, "inv", true, c.A, checkSquare)
	if err != nil {
		return err
	}
	if err := j.there(&a); err != nil {
		return err
	}
	return j.writeSolved(c.A, func(opt *halfulp.Options) (*halfulp.Matrix, error) {
		return linsolve.Inverse(a, j.format, opt)
	})
}

type detCmd struct {
	A   string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	Log bool   `group:"result" help:"Print the sign and the logarithm of the magnitude, which is never out of range."`
	commonFlags
}

func (detCmd) Help() string {
	return `Prints the determinant of A, rounded once; 0 says that A is singular, which is proved then. In formats other than mp:P determinants leave the range, with a warning: those below the smallest number become 0, too, those beyond the largest infinite. --format mp:53 has them, and --log prints sign and natural logarithm on two lines, 0 and -inf for a singular matrix.

Examples:

  halfulp det A.mtx
  halfulp det A.mtx --log
  halfulp gen hilbert 20 --format mp:100 | halfulp det - --format mp:100`
}

func (c *detCmd) Run(env *cli.Environment) error {
	j, a, err := c.matrixJob(env, "det", false, c.A, checkSquare)
	if err != nil {
		return err
	}
	if err := j.there(&a); err != nil {
		return err
	}
	if c.Log {
		return j.logDet(c.A, a)
	}
	d, err := solved(j, c.A, func(opt *halfulp.Options) (halfulp.Scalar, error) {
		return linsolve.Det(a, j.format, opt)
	})
	if err != nil {
		return err
	}
	return j.writeScalar(d, *j.solver)
}

// logDetResult is the JSON of logDet.
type logDetResult struct {
	Command string    `json:"command"`
	Format  string    `json:"format"`
	Sign    int       `json:"sign"`
	Log     string    `json:"log"`
	Stats   *runStats `json:"stats"`
}

// logDet prints the sign and the logarithm of a determinant.
func (j *job) logDet(file string, a *halfulp.Matrix) error {
	var sign int
	z, err := solved(j, file, func(opt *halfulp.Options) (z halfulp.Scalar, err error) {
		z, sign, err = linsolve.LogDet(a, j.format, opt)
		return z, err
	})
	if err != nil {
		return err
	}
	j.report(j.solver)
	if j.print.JSON {
		return j.writeText(jsonText(logDetResult{j.command, j.format.String(), sign, j.text(z), j.resultStats(j.solver)}))
	}
	return j.writeTable(fmt.Sprintf("sign\t%d\nlog\t%s\n", sign, j.text(z)))
}

type rankCmd struct {
	A string `arg:"" name:"A" help:"Matrix; - is standard input."`
	commonFlags
}

func (rankCmd) Help() string {
	return `Prints the rank of A, the matrix of its numbers as they are read: it is proved, by arithmetic modulo primes. There is no tolerance: a matrix whose entries were rounded mostly has full rank. --format plays a part only in reading decimals, see --in.

Examples:

  halfulp rank A.mtx
  printf '1,2\n2,4\n' | halfulp rank -`
}

func (c *rankCmd) Run(env *cli.Environment) error {
	j, a, err := c.matrixJob(env, "rank", false, c.A, nil)
	if err != nil {
		return err
	}
	r, err := solved(j, c.A, func(opt *halfulp.Options) (int, error) {
		return linsolve.Rank(a, opt)
	})
	if err != nil {
		return err
	}
	return j.writeScalar(halfulp.Float(float64(r)), *j.solver)
}

type condCmd struct {
	A    string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	Norm string `group:"input" default:"1" enum:"1,inf" placeholder:"NORM" help:"1: the largest sum of magnitudes of a column; inf: of a row. Default ${default}."`
	commonFlags
}

func (condCmd) Help() string {
	return `Prints the condition number ‖A‖ ‖A^-1‖ in the norm of --norm, rounded once: by so much may relative errors of A and b grow in the solution of A x = b. A singular matrix, which is proved to be, has inf. In formats other than mp:P so has a condition number beyond the range, with a warning, which --format mp:53 holds.

Examples:

  halfulp cond A.mtx
  halfulp gen hilbert 30 --format mp:200 | halfulp cond - --norm inf`
}

func (c *condCmd) Run(env *cli.Environment) error {
	j, a, err := c.matrixJob(env, "cond", false, c.A, checkSquare)
	if err != nil {
		return err
	}
	norm := halfulp.OneNorm
	if c.Norm == "inf" {
		norm = halfulp.InfNorm
	}
	z, err := solved(j, c.A, func(opt *halfulp.Options) (halfulp.Scalar, error) {
		return linsolve.Cond(norm, a, j.format, opt)
	})
	if err != nil {
		return err
	}
	return j.writeScalar(z, *j.solver)
}

type nullSpaceCmd struct {
	A string `arg:"" name:"A" help:"Matrix; - is standard input."`
	commonFlags
}

func (nullSpaceCmd) Help() string {
	return `Prints a basis of the null space of A, all x with A x = 0: for A of m x n numbers and rank r the n x (n - r) matrix that holds a unit matrix in n - r of its rows, mostly the last ones, every entry rounded once. For a matrix of full column rank it has no columns, which Matrix Market and .npy files can say.

Examples:

  halfulp nullspace A.csv --format dd
  printf '1,2,3\n4,5,6\n' | halfulp nullspace -`
}

func (c *nullSpaceCmd) Run(env *cli.Environment) error {
	j, a, err := c.matrixJob(env, "nullspace", true, c.A, nil)
	if err != nil {
		return err
	}
	z, err := solved(j, c.A, func(opt *halfulp.Options) (*halfulp.Matrix, error) {
		return linsolve.NullSpace(a, j.format, opt)
	})
	if err != nil {
		return err
	}
	err = j.writeMatrix(z, j.solver)
	if errors.Is(err, matfile.ErrEmpty) {
		return fmt.Errorf("%s has full column rank: its null space has no basis to write: %w", shown(c.A), err)
	}
	return err
}

type powCmd struct {
	A string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	E int    `arg:"" name:"E" help:"Exponent, 0 or more."`
	commonFlags
}

func (powCmd) Help() string {
	return `Prints the power A^E of a square matrix, every entry rounded once; A^0 is the unit matrix. For a negative power take that of the inverse.

Examples:

  halfulp pow A.mtx 10
  printf '1,1\n1,0\n' | halfulp pow - 1000 --format mp:700`
}

func (c *powCmd) Run(env *cli.Environment) error {
	if c.E < 0 {
		return cli.Misuse("the exponent %d is negative: take a power of the inverse, halfulp inv", c.E)
	}
	j, a, err := c.matrixJob(env, "pow", true, c.A, checkSquare)
	if err != nil {
		return err
	}
	return j.writeSolved(c.A, func(opt *halfulp.Options) (*halfulp.Matrix, error) {
		return linsolve.Pow(a, c.E, j.format, opt)
	})
}

type expmCmd struct {
	A string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	commonFlags
}

func (expmCmd) Help() string {
	return `Prints the exponential of a square matrix, I + A + A²/2 + A³/6 + ..., every entry rounded once. (halfulp map exp takes that of every entry.) Matrices whose norm exceeds 2^28 are an error.

Entries that seem to be 0 or halfway between two numbers, though nothing proves it, are mentioned in a warning: cancellation of exponentials of eigenvalues can do that.

Examples:

  halfulp expm A.mtx --format dd
  printf '0,1\n-1,0\n' | halfulp expm - --format mp:200 --stats`
}

func (c *expmCmd) Run(env *cli.Environment) error {
	j, a, err := c.matrixJob(env, "expm", true, c.A, checkSquare)
	if err != nil {
		return err
	}
	return j.writeSolved(c.A, func(opt *halfulp.Options) (*halfulp.Matrix, error) {
		x, err := linsolve.Expm(a, j.format, opt)
		if n := opt.Stats.Undecided; err == nil && n > 0 { // even with --quiet: not proved
			j.finish()
			fmt.Fprintf(j.env.Stderr, "halfulp: warning: entries that seem to be 0 or halfway between two numbers, without a proof: %d\n", n)
		}
		return x, err
	})
}
