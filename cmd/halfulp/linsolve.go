package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/linsolve"
)

type solveCmd struct {
	A string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	B string `arg:"" name:"B" help:"Right-hand sides: a matrix with as many rows, or a vector."`

	Enclose bool   `group:"result" help:"Print proved bounds, two columns for each of X: lower, upper."`
	Steps   int    `group:"run" default:"3" placeholder:"N" help:"With --enclose: steps of refinement, each of about 50 bits less log2 of the condition number. Default ${default}."`
	RadiusA string `group:"input" name:"radius-a" placeholder:"FILE" help:"With --enclose: A is all matrices that differ from the one read by at most these entries."`
	RadiusB string `group:"input" name:"radius-b" placeholder:"FILE" help:"With --enclose: the same for B."`

	inputFlags
	resultFlags
	runFlags
}

func (solveCmd) Help() string {
	return `Prints the solution X of A X = B, every entry the exact one rounded once, whatever the condition of A. A singular matrix is proved to be singular, with its rank; that is an error.

--stats says how: float64 decompositions that went into the approximate inverse R, the bound of ‖I - R A‖ that proves it, a bound of the condition number, steps of refinement.

Numbers of text files are rounded to --format when they are read, unless --in says otherwise: the system solved is the one with these numbers.

--enclose prints bounds between which X is proved to lie instead, rounded outwards to --format (but to nearest by --digits N), after a number of steps. With --radius-a or --radius-b they hold the solutions of all systems within these distances. It is an error if some of these matrices are singular, or are not proved to be regular.

Examples:

  halfulp solve A.mtx b.mtx
  halfulp solve A.csv B.csv --in mp:400 --format dd --out X.mtx
  halfulp gen hilbert 30 --format mp:200 --out H.mtx && halfulp solve H.mtx b.mtx --stats
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
	case c.Steps < 0:
		return cli.Misuse("--steps: %d is negative", c.Steps)
	}
	j, err := c.job(env, "solve", &c.inputFlags, &c.runFlags, true, operands...)
	if err != nil {
		return err
	}
	a, b, err := j.twoMatrices(c.A, c.B)
	if err != nil {
		return err
	}
	if err := checkSquare(c.A, a); err != nil {
		return err
	}
	if b.Rows() != a.Rows() && b.Rows() == 1 && b.Cols() == a.Rows() { // a vector
		b = b.T()
	}
	if b.Rows() != a.Rows() {
		return cli.Misuse("%s is %d x %d, %s %d x %d: they must have as many rows", shown(c.A), a.Rows(), a.Cols(), shown(c.B), b.Rows(), b.Cols())
	}
	if c.Enclose {
		return c.enclose(j, a, b)
	}
	return j.linsolve(c.A, b.Rows(), b.Cols(), func(x *halfulp.Matrix) (linsolve.Stats, error) {
		return linsolve.Solve(a, b, x, j.options())
	})
}

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
		if of.Cols() == 1 && m.Rows() == 1 { // a vector
			m = m.T()
		}
		if m.Rows() != of.Rows() || m.Cols() != of.Cols() {
			return nil, cli.Misuse("%s is %d x %d, want %d x %d", shown(file), m.Rows(), m.Cols(), of.Rows(), of.Cols())
		}
		return m, nil
	}
	da, err := radius(c.RadiusA, a)
	if err != nil {
		return err
	}
	db, err := radius(c.RadiusB, b)
	if err != nil {
		return err
	}
	lower, upper := halfulp.NewMatrix(j.format, b.Rows(), b.Cols()), halfulp.NewMatrix(j.format, b.Rows(), b.Cols())
	stats, err := linsolve.EncloseSet(a, da, b, db, lower, upper, c.Steps, j.options())
	j.finish()
	if err != nil {
		return named(c.A, err)
	}
	j.solver = &stats
	if !j.print.JSON {
		both := halfulp.NewMatrix(j.format, b.Rows(), 2*b.Cols())
		for i := range b.Rows() {
			for k := range b.Cols() {
				both.Set(i, 2*k, lower.At(i, k))
				both.Set(i, 2*k+1, upper.At(i, k))
			}
		}
		return j.writeMatrix(both, &stats.Stats)
	}
	if err := j.report(&stats.Stats); err != nil {
		return err
	}
	return j.writeText(jsonText(boundsResult{j.command, j.format.String(), b.Rows(), b.Cols(), j.texts(lower), j.texts(upper), j.runStats(&stats.Stats)}))
}

type invCmd struct {
	A string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	inputFlags
	resultFlags
	runFlags
}

func (invCmd) Help() string {
	return `Prints the inverse of A, every entry the exact one rounded once, whatever the condition of A. A singular matrix is proved to be singular, with its rank; that is an error.

Examples:

  halfulp inv A.mtx
  halfulp gen hilbert 20 --format mp:100 | halfulp inv - --format dd --stats`
}

func (c *invCmd) Run(env *cli.Environment) error {
	j, a, err := c.squareJob(env, "inv", &c.inputFlags, &c.runFlags, true, c.A)
	if err != nil {
		return err
	}
	return j.linsolve(c.A, a.Rows(), a.Cols(), func(x *halfulp.Matrix) (linsolve.Stats, error) {
		return linsolve.Inverse(a, x, j.options())
	})
}

type detCmd struct {
	A   string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	Log bool   `group:"result" help:"Print the sign and the logarithm of the magnitude, which is never out of range."`
	inputFlags
	resultFlags
	runFlags
}

func (detCmd) Help() string {
	return `Prints the determinant of A, rounded once; 0 says that A is singular, which is proved then. (In formats other than mp:P a determinant below the smallest number is rounded to 0, too, with a warning; --format mp:53 has it.)

Examples:

  halfulp det A.mtx
  halfulp det A.mtx --log
  halfulp gen hilbert 20 --format mp:100 | halfulp det - --format mp:100`
}

func (c *detCmd) Run(env *cli.Environment) error {
	j, a, err := c.squareJob(env, "det", &c.inputFlags, &c.runFlags, false, c.A)
	if err != nil {
		return err
	}
	if c.Log {
		return j.logDet(c.A, a)
	}
	d, stats, err := linsolve.Det(a, c.Format.Format, j.options())
	j.finish()
	if err != nil {
		return named(c.A, err)
	}
	j.solver = &stats
	return j.writeScalar(d, stats.Stats)
}

// logDetResult is its JSON.
type logDetResult struct {
	Command string    `json:"command"`
	Format  string    `json:"format"`
	Sign    int       `json:"sign"`
	Log     string    `json:"log"`
	Stats   *runStats `json:"stats"`
}

// logDet prints the sign and the logarithm of a determinant.
func (j *job) logDet(file string, a *halfulp.Matrix) error {
	z, sign, stats, err := linsolve.LogDet(a, j.format, j.options())
	j.finish()
	if err != nil {
		return named(file, err)
	}
	j.solver = &stats
	if err := j.report(&stats.Stats); err != nil {
		return err
	}
	if j.print.JSON {
		return j.writeText(jsonText(logDetResult{j.command, j.format.String(), sign, j.text(z), j.runStats(&stats.Stats)}))
	}
	return j.writeText(fmt.Sprintf("sign  %d\nlog   %s\n", sign, j.text(z)))
}

type rankCmd struct {
	A string `arg:"" name:"A" help:"Matrix; - is standard input."`
	inputFlags
	resultFlags
	runFlags
}

func (rankCmd) Help() string {
	return `Prints the rank of A, the matrix of its numbers as they are read: it is proved, by arithmetic modulo primes. There is no tolerance; a matrix whose entries were rounded mostly has full rank.

Examples:

  halfulp rank A.mtx
  halfulp rank A.csv --in mp:200`
}

func (c *rankCmd) Run(env *cli.Environment) error {
	j, err := c.job(env, "rank", &c.inputFlags, &c.runFlags, false, c.A)
	if err != nil {
		return err
	}
	a, err := j.matrix(c.A)
	if err != nil {
		return err
	}
	r, stats, err := linsolve.Rank(a, j.options())
	j.finish()
	if err != nil {
		return named(c.A, err)
	}
	j.solver = &stats
	return j.writeScalar(halfulp.Float(float64(r)), stats.Stats)
}

type condCmd struct {
	A    string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	Norm string `group:"input" default:"1" enum:"1,inf" placeholder:"NORM" help:"1: the largest sum of magnitudes of a column; inf: of a row. Default ${default}."`
	inputFlags
	resultFlags
	runFlags
}

func (condCmd) Help() string {
	return `Prints the condition number ‖A‖ ‖A^-1‖, rounded once. A singular matrix, which is proved to be, has inf.

Examples:

  halfulp cond A.mtx
  halfulp gen hilbert 30 --format mp:200 | halfulp cond - --in mp:200 --norm inf`
}

func (c *condCmd) Run(env *cli.Environment) error {
	j, a, err := c.squareJob(env, "cond", &c.inputFlags, &c.runFlags, false, c.A)
	if err != nil {
		return err
	}
	norm := linsolve.OneNorm
	if c.Norm == "inf" {
		norm = linsolve.InfNorm
	}
	z, stats, err := linsolve.Cond(norm, a, c.Format.Format, j.options())
	j.finish()
	if err != nil {
		return named(c.A, err)
	}
	j.solver = &stats
	return j.writeScalar(z, stats.Stats)
}

type nullSpaceCmd struct {
	A string `arg:"" name:"A" help:"Matrix; - is standard input."`
	inputFlags
	resultFlags
	runFlags
}

func (nullSpaceCmd) Help() string {
	return `Prints a basis of the null space of A, a vector a column, every entry rounded once. A matrix of full column rank has no columns to print.

Example:

  halfulp nullspace A.csv --format dd`
}

func (c *nullSpaceCmd) Run(env *cli.Environment) error {
	j, err := c.job(env, "nullspace", &c.inputFlags, &c.runFlags, true, c.A)
	if err != nil {
		return err
	}
	a, err := j.matrix(c.A)
	if err != nil {
		return err
	}
	z, stats, err := linsolve.NullSpace(a, c.Format.Format, j.options())
	j.finish()
	if err != nil {
		return named(c.A, err)
	}
	j.solver = &stats
	return j.writeMatrix(z, &stats.Stats)
}

type powCmd struct {
	A string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	E int    `arg:"" name:"E" help:"Exponent, 0 or more."`
	inputFlags
	resultFlags
	runFlags
}

func (powCmd) Help() string {
	return `Prints the power A^E of a matrix, every entry rounded once.

Example:

  printf '1 1
1 0
' | halfulp pow - 1000 --format mp:700`
}

func (c *powCmd) Run(env *cli.Environment) error {
	if c.E < 0 {
		return cli.Misuse("the exponent %d is negative: take a power of the inverse, halfulp inv", c.E)
	}
	j, a, err := c.squareJob(env, "pow", &c.inputFlags, &c.runFlags, true, c.A)
	if err != nil {
		return err
	}
	return j.linsolve(c.A, a.Rows(), a.Cols(), func(x *halfulp.Matrix) (linsolve.Stats, error) {
		return linsolve.Pow(a, c.E, x, j.options())
	})
}

type expmCmd struct {
	A string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	inputFlags
	resultFlags
	runFlags
}

func (expmCmd) Help() string {
	return `Prints the exponential of a matrix, I + A + A²/2 + A³/6 + ..., every entry rounded once. (halfulp map exp takes that of every entry.)

Entries that seem to be 0 or halfway between two numbers, though nothing proves it, are mentioned in a warning: cancellation of exponentials of eigenvalues can do that.

Examples:

  halfulp expm A.mtx --format dd
  printf '0 1
-1 0
' | halfulp expm - --format mp:200 --stats`
}

func (c *expmCmd) Run(env *cli.Environment) error {
	j, a, err := c.squareJob(env, "expm", &c.inputFlags, &c.runFlags, true, c.A)
	if err != nil {
		return err
	}
	return j.linsolve(c.A, a.Rows(), a.Cols(), func(x *halfulp.Matrix) (linsolve.Stats, error) {
		stats, err := linsolve.Expm(a, x, j.options())
		if n := stats.Undecided; err == nil && n > 0 && !c.Quiet {
			j.finish()
			fmt.Fprintf(j.env.Stderr, "halfulp: warning: entries that seem to be 0 or halfway between two numbers, without a proof: %d\n", n)
		}
		return stats, err
	})
}

// job begins a command of package linsolve.
func (f *resultFlags) job(env *cli.Environment, name string, in *inputFlags, how *runFlags, makesMatrix bool, operands ...string) (*job, error) {
	return newJob(env, name, in, f.Format.Format, &f.printFlags, how, makesMatrix, func(opt *halfulp.Options) error { return opt.Validate() }, operands...)
}

// squareJob begins one with a square matrix, which it reads.
func (f *resultFlags) squareJob(env *cli.Environment, name string, in *inputFlags, how *runFlags, makesMatrix bool, file string) (*job, *halfulp.Matrix, error) {
	j, err := f.job(env, name, in, how, makesMatrix, file)
	if err != nil {
		return nil, nil, err
	}
	a, err := j.matrix(file)
	if err != nil {
		return nil, nil, err
	}
	return j, a, checkSquare(file, a)
}

// linsolve computes a matrix and writes it.
func (j *job) linsolve(file string, rows, cols int, compute func(x *halfulp.Matrix) (linsolve.Stats, error)) error {
	x := halfulp.NewMatrix(j.format, rows, cols)
	stats, err := compute(x)
	j.finish()
	if err != nil {
		return named(file, err)
	}
	j.solver = &stats
	return j.writeMatrix(x, &stats.Stats)
}

// named is an error of package linsolve, with the file that it is about in place of the routine.
func named(file string, err error) error {
	var singular *linsolve.SingularError
	if errors.As(err, &singular) {
		return fmt.Errorf("%s: %w", shown(file), singular)
	}
	var rank *linsolve.RankError
	if errors.As(err, &rank) {
		return fmt.Errorf("%s: %w", shown(file), rank)
	}
	var not *linsolve.NotPositiveDefiniteError
	if errors.As(err, &not) {
		return fmt.Errorf("%s: %w", shown(file), not)
	}
	return err
}

// writeSolverStats prints what package linsolve did.
func writeSolverStats(w io.Writer, s *linsolve.Proof) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { fmt.Fprintf(t, "%s\t%v\n", name, value) }
	some := func(name string, value int) {
		if value != 0 {
			row(name, value)
		}
	}
	if s.Cond != "" {
		row("condition number of the scaled matrix", "at most "+s.Cond)
	}
	some("float64 decompositions", s.Rounds)
	if s.Rho > 0 {
		row("bound of |I - R A|", fmt.Sprintf("%.2g", s.Rho))
	}
	some("steps of refinement", s.Steps)
	some("bits worked with", s.Precision)
	some("decompositions modulo primes", s.Primes)
	some("columns that solve exactly", s.Solved)
	some("zeros and ties proved", s.Ties)
	some("p-adic digits", s.Digits)
	some("entries not decided", s.Undecided)
	return t.Flush()
}
