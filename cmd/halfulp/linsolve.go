package main

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/linsolve"
	"github.com/halfulp/halfulp/matfile"
)

type solveCmd struct {
	A string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	B string `arg:"" name:"B" help:"Right-hand sides: a matrix with as many rows, or a vector."`

	Enclose bool   `group:"result" help:"Print proved bounds instead of X: for each column of X one column of lower and one of upper bounds."`
	Steps   *int   `group:"run" placeholder:"N" help:"With --enclose: steps of refinement, each of 8 to 45 bits (default 3)."`
	RadiusA string `group:"input" name:"radius-a" placeholder:"FILE" help:"With --enclose: bounds for all matrices whose entries differ from A by at most the entries of FILE."`
	RadiusB string `group:"input" name:"radius-b" placeholder:"FILE" help:"With --enclose: the same for the entries of B."`

	All       bool   `group:"result" help:"With exact numbers: print a solution X and a basis N of the null space, whose columns are primitive integer vectors. All solutions are a column of X plus combinations of the columns of N."`
	X         string `group:"result" name:"x" placeholder:"FILE" help:"With --all: write X to FILE."`
	NullSpace string `group:"result" name:"null" placeholder:"FILE" help:"With --all: write N to FILE."`

	commonFlags
	compareFlags
}

func (solveCmd) Help() string {
	return `Prints the solution X of A X = B. Every entry is the exact one, rounded once, whatever the condition of A. A singular matrix is an error, which states the rank; singularity is proved.

A is n x n, B and X are n x k; a row of n numbers is a vector, too. --stats shows how X was computed: the number of float64 factorizations for the approximate inverse R, the bound on ‖I - R A‖ that proves the result, a bound on the condition number, and the steps of refinement.

The system consists of the numbers as they are read: 0.1 has no exact binary value. --in exact takes decimals and fractions such as 7/15 as the numbers that they are, and --format exact prints X in fractions. With either, A may have more rows than columns, the error about a singular matrix has a vector x with A x = 0, and --all prints all solutions of a singular system: a solution X, and a basis N of the null space. --compare shows X beside the solution by Gaussian elimination with partial pivoting in float64 arithmetic.

--enclose prints proved lower and upper bounds on X instead, rounded outwards to --format and to --digits N. --steps sets how far they are refined. With --radius-a or --radius-b they contain the solutions of all systems within these distances. It is an error if one of these matrices is singular, or cannot be proved regular.

Examples:

  halfulp solve A.mtx b.mtx
  halfulp solve A.csv B.csv --in exact --format dd --out X.mtx
  halfulp solve A.csv b.csv --in exact --format exact --all
  halfulp gen hilbert 30 --format mp:200 --out H.mtx && halfulp gen random 30 | halfulp solve H.mtx - --stats
  halfulp gen hilbert 12 --out H.mtx && halfulp gen random 12 | halfulp solve H.mtx - --compare
  halfulp solve A.csv b.csv --enclose --radius-a dA.csv --radius-b db.csv`
}

func (c *solveCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	if c.All {
		return cli.Misuse("--all: the solutions of a singular system need exact numbers: --in exact, or --format exact")
	}
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
	return `Prints the inverse of the n x n matrix A. Every entry is the exact one, rounded once, whatever the condition of A. A singular matrix is an error, which states the rank; singularity is proved.

Examples:

  halfulp inv A.mtx
  halfulp inv A.csv --in exact --format exact --to pari
  halfulp gen hilbert 20 --format mp:100 | halfulp inv - --format dd --stats`
}

func (c *invCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
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
	Log bool   `group:"result" help:"Print the sign and the natural logarithm of the magnitude, which never leaves the range of the format."`
	commonFlags
}

func (detCmd) Help() string {
	return `Prints the determinant of A, rounded once. It is 0 if A is singular, which is proved. In formats other than mp:P a determinant may leave the range: it becomes 0 or an infinity, with a warning. --format mp:53 holds any determinant. --log prints sign and natural logarithm on two lines (0 and -inf for a singular matrix).

Examples:

  halfulp det A.mtx
  halfulp det A.mtx --log
  printf '.1,.2,.3\n.4,.5,.6\n.7,.8,.9\n' | halfulp det - --in exact
  halfulp gen hilbert 20 --format mp:100 | halfulp det - --format mp:100`
}

func (c *detCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
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
	return j.writeLogDet(sign, z)
}

// writeLogDet writes the sign and the logarithm of a determinant.
func (j *job) writeLogDet(sign int, z halfulp.Scalar) error {
	j.report(j.solver)
	if j.print.JSON {
		return j.writeText(jsonText(logDetResult{j.command, j.format.String(), sign, j.text(z), j.resultStats(j.solver)}))
	}
	return j.writeTable(fmt.Sprintf("sign\t%d\nlog\t%s\n", sign, j.text(z)))
}

type rankCmd struct {
	A string `arg:"" name:"A" help:"Matrix; - is standard input."`
	toleranceFlag
	commonFlags
}

func (rankCmd) Help() string {
	return `Prints the rank of A, proved by arithmetic modulo primes. A consists of the numbers exactly as they are read, and a matrix whose entries were rounded mostly has full rank. With --rcond C the rank is the number of singular values above C times the largest one, as in numpy.linalg.matrix_rank with rtol; both numbers are rounded once to the bits of the format in which A is read. --format only affects how decimals are read, see --in.

Examples:

  halfulp rank A.mtx
  halfulp rank A.mtx --rcond 1e-12
  printf '1,2\n2,4\n' | halfulp rank -`
}

func (c *rankCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	j, a, err := c.matrixJob(env, "rank", false, c.A, nil)
	if err != nil {
		return err
	}
	var of eigen.Options
	if of.RCond, err = c.tolerance(j); err != nil {
		return err
	}
	r, err := solved(j, c.A, func(opt *halfulp.Options) (int, error) {
		if of.RCond == nil {
			return linsolve.Rank(a, opt)
		}
		of.Options = *opt
		return eigen.Rank(a, &of)
	})
	if err != nil {
		return err
	}
	return j.writeScalar(halfulp.Float(float64(r)), *j.solver)
}

type condCmd struct {
	A    string `arg:"" name:"A" help:"Square matrix, for the 2-norm any matrix; - is standard input."`
	Norm string `group:"input" default:"1" enum:"1,2,inf" placeholder:"NORM" help:"1: the largest sum of magnitudes in a column; inf: in a row; 2: the largest singular value. Default ${default}."`
	commonFlags
}

func (condCmd) Help() string {
	return `Prints the condition number ‖A‖ ‖A^-1‖ in the norm of --norm, rounded once. In the 2-norm it is the largest singular value divided by the smallest one, and A need not be square. Relative errors of A and b may grow by this factor in the solution of A x = b. The result is inf for a singular matrix, which is proved. In formats other than mp:P a condition number beyond the range becomes inf, with a warning; --format mp:53 holds it.

Examples:

  halfulp cond A.mtx
  halfulp gen hilbert 30 --format mp:200 | halfulp cond - --norm inf
  halfulp cond A.csv --norm 2`
}

func (c *condCmd) Run(env *cli.Environment) error {
	if c.Norm == "2" {
		return c.norm2(env)
	}
	if c.rationally() {
		return c.exactly(env)
	}
	j, a, err := c.matrixJob(env, "cond", false, c.A, checkSquare)
	if err != nil {
		return err
	}
	return c.write(j, a)
}

// norm2 prints the condition number in the 2-norm, which is a ratio: a common denominator does not
// change it.
func (c *condCmd) norm2(env *cli.Environment) error {
	if c.Format.exact {
		return cli.Misuse("--format exact: the condition number in the 2-norm is a root: --in exact --format mp:P computes it from exact numbers and rounds once")
	}
	j, err := c.solverJob(env, "cond", false, c.A)
	if err != nil {
		return err
	}
	a, err := j.scaledMatrix(c.A, nil)
	if err != nil {
		return err
	}
	return j.condition2(c.A, a.Matrix)
}

// write prints the condition number in the 1-norm or the maximum norm.
func (c *condCmd) write(j *job, a *halfulp.Matrix) error {
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
	toleranceFlag
	commonFlags
}

func (nullSpaceCmd) Help() string {
	return `Prints a basis of the null space of A, the set of all x with A x = 0. For an m x n matrix of rank r it is the n x (n - r) matrix that has an identity matrix in n - r of its rows, mostly the last ones. Every entry is rounded once. For a matrix of full column rank it has no columns; Matrix Market and .npy files can hold such a matrix.

With --format exact the vectors are primitive integer vectors: their numbers have no common factor, and the first one that is not 0 is positive.

The rank is exact: A consists of the numbers exactly as they are read, and a matrix whose entries were rounded mostly has full rank; --in exact takes decimals as they are. With --rcond C, above 0, the result is an orthonormal basis of the span of the right singular vectors whose singular values are at most C times the largest one, as scipy.linalg.null_space does; both numbers are rounded once to the bits of the format of the result. The basis depends on the span alone, not on the method or machine. A warning states how many entries seem to be 0, or halfway between two numbers, without a proof.

Examples:

  halfulp nullspace A.csv --format dd
  halfulp nullspace A.mtx --rcond 1e-12 --out Z.npy
  printf '.1,.2,.3\n.4,.5,.6\n.7,.8,.9\n' | halfulp nullspace - --in exact --format exact`
}

func (c *nullSpaceCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	j, a, err := c.matrixJob(env, "nullspace", true, c.A, nil)
	if err != nil {
		return err
	}
	var of eigen.Options
	if of.RCond, err = c.tolerance(j); err != nil {
		return err
	}
	z, err := solved(j, c.A, func(opt *halfulp.Options) (*halfulp.Matrix, error) {
		if of.RCond == nil {
			return linsolve.NullSpace(a, j.format, opt)
		}
		of.Options = *opt
		return eigen.NullSpace(a, j.format, &of)
	})
	if err != nil {
		return err
	}
	j.warnOpen("entries")
	return c.empty(j.writeMatrix(z, j.solver))
}

// empty adds to an error about a basis without vectors what it means.
func (c *nullSpaceCmd) empty(err error) error {
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
	return `Prints the power A^E of a square matrix, every entry rounded once. A^0 is the identity matrix. For a negative power, compute the inverse first (halfulp inv).

Examples:

  halfulp pow A.mtx 10
  printf '1,1\n1,0\n' | halfulp pow - 1000 --format mp:700`
}

func (c *powCmd) Run(env *cli.Environment) error {
	if c.E < 0 {
		return cli.Misuse("the exponent %d is negative: take a power of the inverse, halfulp inv", c.E)
	}
	if c.rationally() {
		return c.exactly(env)
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
	return `Prints the exponential of a square matrix, I + A + A²/2 + A³/6 + ..., every entry rounded once. (halfulp map exp computes the exponential of every entry.) A matrix whose norm exceeds 2^28 is an error.

A warning names the entries that seem to be 0, or halfway between two numbers of the format, without a proof. Cancellation between the exponentials of eigenvalues can cause this.

Examples:

  halfulp expm A.mtx --format dd
  printf '0,1\n-1,0\n' | halfulp expm - --format mp:200 --stats`
}

func (c *expmCmd) Run(env *cli.Environment) error {
	j, err := c.solverJob(env, "expm", true, c.A)
	if err != nil {
		return err
	}
	a, err := j.scaledMatrix(c.A, checkSquare)
	if err != nil {
		return err
	}
	x, err := j.exponential(c.A, a)
	if err != nil {
		return err
	}
	j.warnOpen("entries")
	if x, err = j.back(x); err != nil {
		return err
	}
	return j.writeMatrix(x, j.solver)
}

type rootsCmd struct {
	P string `arg:"" name:"p" help:"Vector of coefficients in ascending powers: c0, c1, ..., cN; - is standard input."`
	commonFlags
}

func (rootsCmd) Help() string {
	return `Prints all real roots of the polynomial c0 + c1 x + ... + cN x^N in ascending order, each the exact one rounded once. A root of multiplicity k is printed k times; roots that are not real are left out. The coefficients are in ascending powers, as in numpy.polynomial; numpy.roots takes them in descending powers.

Decimals of text files enter exactly, 0.1 as one tenth, unless the file or --in names a format.

Examples:

  printf '%s\n' -2 0 1 | halfulp roots -             # x² - 2
  printf '%s\n' 0.01 -0.2 1 | halfulp roots -        # (x - 0.1)²
  halfulp roots p.txt --format mp:200 --out x.txt`
}

func (c *rootsCmd) Run(env *cli.Environment) error {
	j, err := c.job(env, "roots", true, validDirect, c.P)
	if err != nil {
		return err
	}
	// The polynomial times a number has the same roots.
	m, _, err := j.decimals(c.P, false)
	if err != nil {
		return err
	}
	if err := checkFinite(c.P, m); err != nil {
		return err
	}
	p, err := asVector(c.P, m)
	if err != nil {
		return err
	}
	return j.writeSolved(c.P, func(opt *halfulp.Options) (*halfulp.Matrix, error) {
		x, err := eigen.RealRoots(p, j.format, opt)
		if err != nil {
			return nil, err
		}
		return x.Matrix(), nil
	})
}

type quadratureCmd struct {
	Rule string `arg:"" name:"RULE" enum:"legendre,hermite,laguerre,chebyshev1,chebyshev2,genlaguerre,jacobi,gegenbauer" help:"legendre, hermite, laguerre, chebyshev1, chebyshev2, genlaguerre, jacobi or gegenbauer."`
	N    int    `arg:"" name:"N" help:"Number of points."`

	Alpha *numberText `group:"input" placeholder:"A" help:"Exponent of genlaguerre, jacobi and gegenbauer."`
	Beta  *numberText `group:"input" placeholder:"B" help:"Second exponent of jacobi."`

	resultFlags
	Threads threads `group:"run" default:"0" placeholder:"N" help:"Number of threads; 0 means one for each processor. Default ${default}."`
	memoryFlag
	Stats statsFlag `group:"run" help:"Print on standard error how the result was computed, and the time of each stage; --stats=json prints one JSON object."`
}

func (quadratureCmd) Help() string {
	return `Prints the nodes and weights of a Gaussian quadrature rule with N points, one row x w for each node, nodes ascending. (The default kind of file, Matrix Market, lists all nodes before all weights; --to csv writes rows.) Every number is the exact one, rounded once. The sum of w g(x) is the integral of g times the weight function, for every polynomial g of degree up to 2 N - 1:

  legendre     1                  from -1 to 1
  hermite      exp(-x²)           from -∞ to ∞
  laguerre     exp(-x)            from 0 to ∞
  chebyshev1   1/√(1 - x²)        from -1 to 1
  chebyshev2   √(1 - x²)          from -1 to 1
  genlaguerre  x^A exp(-x)        from 0 to ∞, A > -1
  jacobi       (1-x)^A (1+x)^B    from -1 to 1, A, B > -1
  gegenbauer   (1 - x²)^(A - 1/2) from -1 to 1, A > -1/2

--alpha A and --beta B are exact if they are binary numbers, such as 0.5; others, such as 0.1, are rounded once to the format of the result.

Examples:

  halfulp quadrature legendre 5
  halfulp quadrature jacobi 10 --alpha 0.5 --beta -0.25
  halfulp quadrature hermite 20 --format mp:200 --digits 50 --out rule.csv`
}

// quadratureRule computes the nodes and weights of a rule.
type quadratureRule = func(int, halfulp.Format, *halfulp.Options) (x, w *halfulp.Vector, err error)

// quadratureRules are the rules without exponents.
var quadratureRules = map[string]quadratureRule{
	"legendre": eigen.GaussLegendre, "hermite": eigen.GaussHermite, "laguerre": eigen.GaussLaguerre,
	"chebyshev1": eigen.GaussChebyshev1, "chebyshev2": eigen.GaussChebyshev2,
}

// rule returns the rule with its exponents, which are required if the rule has them.
func (c *quadratureCmd) rule(j *job) (quadratureRule, error) {
	wanted := map[string]int{"genlaguerre": 1, "gegenbauer": 1, "jacobi": 2}[c.Rule]
	exponents := make([]halfulp.Scalar, 2)
	for i, text := range []*numberText{c.Alpha, c.Beta} {
		flag := []string{"--alpha", "--beta"}[i]
		switch {
		case text == nil && i < wanted:
			return nil, cli.Misuse("%s needs %s", c.Rule, flag)
		case text == nil:
			continue
		case i >= wanted:
			return nil, cli.Misuse("%s: %s has no such exponent", flag, c.Rule)
		}
		x, loss, err := parseFactor(string(*text), j.format)
		if err != nil {
			return nil, cli.Misuse("%s: %w", flag, err)
		}
		j.warnInput(flag, lossOf(loss), x.NumberFormat())
		exponents[i] = x
	}
	alpha, beta := exponents[0], exponents[1]
	switch c.Rule {
	case "genlaguerre":
		return func(n int, f halfulp.Format, opt *halfulp.Options) (x, w *halfulp.Vector, err error) {
			return eigen.GaussGenLaguerre(n, alpha, f, opt)
		}, nil
	case "gegenbauer":
		return func(n int, f halfulp.Format, opt *halfulp.Options) (x, w *halfulp.Vector, err error) {
			return eigen.GaussGegenbauer(n, alpha, f, opt)
		}, nil
	case "jacobi":
		return func(n int, f halfulp.Format, opt *halfulp.Options) (x, w *halfulp.Vector, err error) {
			return eigen.GaussJacobi(n, alpha, beta, f, opt)
		}, nil
	}
	return quadratureRules[c.Rule], nil
}

func (c *quadratureCmd) Run(env *cli.Environment) error {
	if c.N < 0 {
		return cli.Misuse("%d points: a rule has no negative number of points", c.N)
	}
	if c.Format.exact {
		return cli.Misuse("--format exact: nodes and weights are no rational numbers")
	}
	how := &runFlags{Device: cpuDevice, Method: string(halfulp.AutoMethod), Threads: c.Threads, memoryFlag: c.memoryFlag, Stats: c.Stats}
	j, err := newJob(env, "quadrature", &inputFlags{}, c.Format.Format, &c.printFlags, how, true, validDirect)
	if err != nil {
		return err
	}
	if err := c.Memory.checkSize(j.format, c.N, 2); err != nil {
		return err
	}
	rule, err := c.rule(j)
	if err != nil {
		return err
	}
	j.solver = &halfulp.Stats{}
	x, w, err := rule(c.N, j.format, j.options().WithStats(j.solver))
	j.finish()
	if err != nil {
		if errors.Is(err, eigen.ErrWeightExponent) || errors.Is(err, linsolve.ErrRange) {
			return cli.Misuse("%w", named(c.Rule, err))
		}
		return named(c.Rule, err)
	}
	if n := j.solver.Undecided; n > 0 { // even with --quiet: not proved
		fmt.Fprintf(j.env.Stderr, "halfulp: warning: weights that seem to be halfway between two numbers, without a proof: %d\n", n)
	}
	z := halfulp.NewMatrix(j.format, c.N, 2)
	for i := range c.N {
		z.Set(i, 0, x.At(i))
		z.Set(i, 1, w.At(i))
	}
	return j.writeMatrix(z, j.solver)
}
