package main

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/linsolve"
	"github.com/halfulp/halfulp/matfile"
	"github.com/halfulp/halfulp/rational"
)

// Systems of exact numbers, and what elimination finds.

func (c *solveCmd) exactly(env *cli.Environment) error {
	switch {
	case c.Enclose:
		return cli.Misuse("--enclose: bounds are for numbers of a format; exact numbers have an exact solution")
	case c.Compare:
		return errNoCompare
	}
	if c.All {
		return c.allSolutions(env)
	}
	j, err := c.exactJob(env, "solve", true, c.A, c.B)
	if err != nil {
		return err
	}
	a, b, err := c.exactSystem(j)
	if err != nil {
		return err
	}
	if a.Rows() < a.Cols() {
		return cli.Misuse("%s is %d x %d: a system with fewer equations than unknowns has no single solution; --all prints all solutions", shown(c.A), a.Rows(), a.Cols())
	}
	if !j.exactResult && a.Rows() == a.Cols() {
		da, db, err := j.overRows(c.A, a, c.B, b)
		if err != nil {
			return err
		}
		if err := j.there(&da, &db); err != nil {
			return err
		}
		x, err := j.solution(c.A, func(opt *halfulp.Options) (*halfulp.Matrix, error) {
			return linsolve.Solve(da, db, j.format, opt)
		})
		if err != nil {
			return c.withNullVector(j, a, err)
		}
		return j.writeMatrix(x, j.solver)
	}
	if err := j.checkSolution(a, b); err != nil {
		return err
	}
	x, err := computed(j, c.A, func(opt *halfulp.Options) (*rational.Matrix, error) { return rational.Solve(a, b, opt) })
	if err != nil {
		return c.withNullVector(j, a, err)
	}
	return j.writeRational(x)
}

// exactSystem reads A and B, with as many rows.
func (c *solveCmd) exactSystem(j *job) (a, b *rational.Matrix, err error) {
	if a, err = j.exact(c.A); err != nil {
		return nil, nil, err
	}
	if b, err = j.exact(c.B); err != nil {
		return nil, nil, err
	}
	b, err = rightSides(c.A, a, c.B, b)
	return a, b, err
}

// mostShown bounds the characters of a null vector in a message.
const mostShown = 120

// withNullVector adds a vector x with A x = 0 to an error about a singular matrix.
func (c *solveCmd) withNullVector(j *job, a *rational.Matrix, err error) error {
	if !errors.Is(err, rational.ErrSingular) {
		return err
	}
	const largest = 40 // columns of matrices whose vectors may be short
	how := "halfulp nullspace prints a basis of the x with A x = 0, --all all solutions"
	if a.Cols() > largest {
		return fmt.Errorf("%w; %s", err, how)
	}
	z, failed := rational.NullSpace(a, j.options())
	j.finish()
	if failed != nil {
		return failed
	}
	x := make([]string, a.Cols())
	for i := range x {
		x[i] = z.At(i, 0).RatString()
	}
	if text := "[" + strings.Join(x, ", ") + "]"; len(text) <= mostShown {
		how = "A x = 0 for x = " + text + "; --all prints all solutions"
	}
	return fmt.Errorf("%w; %s", err, how)
}

// allSolutions prints a solution, and a basis of the null space.
func (c *solveCmd) allSolutions(env *cli.Environment) error {
	j, err := c.factorsJob(env, "solve", false, "", []string{c.X, c.NullSpace}, c.A, c.B)
	if err != nil {
		return err
	}
	a, b, err := c.exactSystem(j)
	if err != nil {
		return err
	}
	if err := j.checkSolution(a, b); err != nil {
		return err
	}
	if err := j.checkNullSpace(a); err != nil {
		return err
	}
	var basis *rational.Matrix
	x, err := computed(j, c.A, func(opt *halfulp.Options) (x *rational.Matrix, err error) {
		x, basis, err = rational.SolveAll(a, b, opt)
		return x, err
	})
	if err != nil {
		return err
	}
	return j.writeRationalFactors([]exactFactor{{name: "X", file: c.X, matrix: x}, {name: "N", file: c.NullSpace, matrix: basis}})
}

// checkNullSpace returns an error if a basis of the null space may take more memory than allowed.
func (j *job) checkNullSpace(a *rational.Matrix) error {
	n, r := a.Cols(), min(a.Rows(), a.Cols())
	if 2*r > n {
		r = (n + 1) / 2 // r (n - r) is largest
	}
	return j.how.Memory.checkBits(float64(n-r)*float64(r+1)*minorBits(r, a, nil), "a basis of the null space takes")
}

// exactFactor is one of several exact results, and its output file or nothing. indices is a
// permutation, in place of a matrix.
type exactFactor struct {
	name, file string
	matrix     *rational.Matrix
	indices    []int
}

// writeRationalFactors writes several results: exactly, or every entry rounded once.
func (j *job) writeRationalFactors(factors []exactFactor) error {
	if !j.exactResult {
		var rounded []namedFactor
		for _, f := range factors {
			if f.indices != nil {
				rounded = append(rounded, namedFactor{f.name, f.file, permutation(f.indices), f.indices, false})
				continue
			}
			m, err := j.round(f.matrix)
			if err != nil {
				return err
			}
			rounded = append(rounded, namedFactor{name: f.name, file: f.file, matrix: m})
		}
		return j.writeFactors(rounded)
	}
	j.report(j.solver)
	object := map[string]any{"command": j.command, "format": exactName, "stats": j.resultStats(j.solver)}
	var table strings.Builder
	var to []matfile.Named
	for _, f := range factors {
		m := f.matrix
		if f.indices != nil {
			m = exactPermutation(f.indices)
		}
		texts := fractions(m)
		fmt.Fprintf(&table, "%s\n", f.name)
		for _, row := range texts {
			fmt.Fprintf(&table, "%s\n", strings.Join(row, j.separator()))
		}
		object[f.name] = factorText{m.Rows(), m.Cols(), texts}
		if f.indices != nil {
			object[f.name] = texts[0]
		}
		if f.file != "" {
			to = append(to, matfile.Named{Name: f.file, Exact: toFile(m)})
		}
	}
	opt := matfile.Options{Context: j.env.Ctx, Stdout: j.env.Stdout}
	return j.writing(func(last func() error) error {
		if len(to) == 0 || j.print.JSON || j.print.Out != nil {
			text := table.String()
			if j.print.JSON {
				text = jsonText(object)
			}
			rest := last
			last = func() error { return j.textThen(text, rest) }
		}
		if len(to) == 0 {
			return last()
		}
		opt.Last = last
		return matfile.WriteAll(to, &opt)
	})
}

// exactPermutation returns a permutation as a row, counted from 1.
func exactPermutation(p []int) *rational.Matrix {
	row := make([]int64, len(p))
	for i, k := range p {
		row[i] = int64(k + 1)
	}
	return rational.FromInt64([][]int64{row})
}

// exactPart begins a command with one exact matrix, which fits, unless it is nil, checks.
func (f *commonFlags) exactPart(env *cli.Environment, command string, makesMatrix bool, file string,
	fits func(name string, a sized) error) (*job, *rational.Matrix, error) {
	j, err := f.exactJob(env, command, makesMatrix, file)
	if err != nil {
		return nil, nil, err
	}
	a, err := j.exact(file)
	if err == nil && fits != nil {
		err = fits(file, a)
	}
	return j, a, err
}

func (c *invCmd) exactly(env *cli.Environment) error {
	j, a, err := c.exactPart(env, "inv", true, c.A, checkSquare)
	if err != nil {
		return err
	}
	if j.exactResult {
		n := float64(a.Rows())
		if err := j.how.Memory.checkBits(n*(n+1)*minorBits(a.Rows(), a, nil), "the exact inverse takes"); err != nil {
			return err
		}
		x, err := computed(j, c.A, func(opt *halfulp.Options) (*rational.Matrix, error) { return rational.Inverse(a, opt) })
		if err != nil {
			return err
		}
		return j.writeRational(x)
	}
	da, d, err := j.overRows(c.A, a, c.A, nil)
	if err != nil {
		return err
	}
	if err := j.there(&da, &d); err != nil {
		return err
	}
	return j.writeSolved(c.A, func(opt *halfulp.Options) (*halfulp.Matrix, error) {
		return linsolve.Solve(da, d, j.format, opt)
	})
}

func (c *detCmd) exactly(env *cli.Environment) error {
	j, a, err := c.exactPart(env, "det", false, c.A, checkSquare)
	if err != nil {
		return err
	}
	if j.exactResult && c.Log {
		return cli.Misuse("--log: a logarithm is no rational number: --in exact --format mp:P rounds it once")
	}
	if err := j.how.Memory.checkBits(2*minorBits(a.Rows(), a, nil), "the exact determinant takes"); err != nil {
		return err
	}
	d, err := computed(j, c.A, func(opt *halfulp.Options) (*big.Rat, error) { return rational.Det(a, opt) })
	if err != nil {
		return err
	}
	if !c.Log {
		return j.writeNumber(d)
	}
	z, err := j.logOf(d)
	if err != nil {
		return err
	}
	return j.writeLogDet(d.Sign(), z)
}

func (c *rankCmd) exactly(env *cli.Environment) error {
	if c.RCond != nil {
		return errNoTolerance
	}
	j, a, err := c.exactPart(env, "rank", false, c.A, nil)
	if err != nil {
		return err
	}
	r, err := computed(j, c.A, func(opt *halfulp.Options) (int, error) { return rational.Rank(a, opt) })
	if err != nil {
		return err
	}
	return j.writeNumber(big.NewRat(int64(r), 1))
}

// errNoTolerance is the error for --rcond beside exact numbers.
var errNoTolerance = cli.Misuse("--rcond: a tolerance is for rounded numbers; exact numbers have an exact rank")

func (c *nullSpaceCmd) exactly(env *cli.Environment) error {
	if c.RCond != nil {
		return errNoTolerance
	}
	j, a, err := c.exactPart(env, "nullspace", true, c.A, nil)
	if err != nil {
		return err
	}
	if j.exactResult {
		if err := j.checkNullSpace(a); err != nil {
			return err
		}
		z, err := computed(j, c.A, func(opt *halfulp.Options) (*rational.Matrix, error) { return rational.NullSpace(a, opt) })
		if err != nil {
			return err
		}
		return c.empty(j.writeRational(z))
	}
	da, _, err := j.overRows(c.A, a, c.A, nil)
	if err != nil {
		return err
	}
	z, err := solved(j, c.A, func(opt *halfulp.Options) (*halfulp.Matrix, error) { return linsolve.NullSpace(da, j.format, opt) })
	if err != nil {
		return err
	}
	return c.empty(j.writeMatrix(z, j.solver))
}

func (c *powCmd) exactly(env *cli.Environment) error {
	j, a, err := c.exactPart(env, "pow", true, c.A, checkSquare)
	if err != nil {
		return err
	}
	if !j.exactResult {
		all, odd, err := j.overOdd([]string{c.A}, a)
		if err != nil {
			return err
		}
		if odd == nil {
			return j.writeSolved(c.A, func(opt *halfulp.Options) (*halfulp.Matrix, error) {
				return linsolve.Pow(all[0], c.E, j.format, opt)
			})
		}
	}
	z, err := computed(j, c.A, func(opt *halfulp.Options) (*rational.Matrix, error) { return rational.Pow(a, c.E, opt) })
	if err != nil {
		return err
	}
	return j.writeRational(z)
}

// exactly is for the 1-norm and the maximum norm.
func (c *condCmd) exactly(env *cli.Environment) error {
	j, a, err := c.exactPart(env, "cond", false, c.A, checkSquare)
	if err != nil {
		return err
	}
	if j.exactResult {
		n := float64(a.Rows())
		if err := j.how.Memory.checkBits(n*(n+1)*minorBits(a.Rows(), a, nil), "the exact inverse takes"); err != nil {
			return err
		}
		z, err := computed(j, c.A, func(opt *halfulp.Options) (*big.Rat, error) {
			x, err := rational.Inverse(a, opt)
			if err != nil {
				return nil, err
			}
			return new(big.Rat).Mul(c.normOf(a), c.normOf(x)), nil
		})
		if err != nil {
			return err
		}
		return j.writeNumber(z)
	}
	all, _, err := j.overOdd([]string{c.A}, a)
	if err != nil {
		return err
	}
	return c.write(j, all[0])
}

// normOf returns the largest sum of magnitudes in a column, or in a row for the maximum norm.
func (c *condCmd) normOf(a *rational.Matrix) *big.Rat {
	axis := "0"
	if c.Norm == "inf" {
		axis = "1"
	}
	norm := new(big.Rat)
	for _, all := range alongAxis(a, axis) {
		for i, x := range all {
			all[i] = new(big.Rat).Abs(x)
		}
		if s := sumOf(all); s.Cmp(norm) > 0 {
			norm = s
		}
	}
	return norm
}

func (c *luCmd) exactly(env *cli.Environment) error {
	j, err := c.factorsJob(env, "lu", false, c.P, []string{c.L, c.U}, c.A)
	if err != nil {
		return err
	}
	a, err := j.exact(c.A)
	if err != nil {
		return err
	}
	// A partial pivoting of numbers of a format, which scaling does not change.
	all, _, err := j.overOdd([]string{c.A}, a)
	if err != nil {
		return err
	}
	p := make([]int, a.Rows())
	for i := range p {
		p[i] = i
	}
	pivoted, err := solved(j, c.A, func(opt *halfulp.Options) (*linsolve.LUFactors, error) {
		return linsolve.LU(all[0], j.format, opt)
	})
	if err == nil {
		p = pivoted.P
	} else if !errors.Is(err, linsolve.ErrSingular) {
		return err
	}
	rows := make([][]*big.Rat, a.Rows())
	for i, k := range p {
		rows[i] = rowOf(a, k)
	}
	pa := a
	if len(rows) > 0 {
		pa = rational.FromRats(rows)
	}
	z, err := computed(j, c.A, func(opt *halfulp.Options) (*rational.LUFactors, error) { return rational.LU(pa, opt) })
	if err != nil {
		return err
	}
	order := make([]int, len(z.P))
	for i, k := range z.P {
		order[i] = p[k]
	}
	return j.writeRationalFactors([]exactFactor{{name: "P", file: c.P, indices: order}, {name: "L", file: c.L, matrix: z.L}, {name: "U", file: c.U, matrix: z.U}})
}

// exactSymmetric reads a symmetric matrix of exact numbers, or one triangle of it.
func (j *job) exactSymmetric(file string, t triangle) (*rational.Matrix, error) {
	a, err := j.exactSquare(file)
	if err != nil {
		return nil, err
	}
	if t != 0 {
		return triangleOf(a, halfulp.Uplo(t), true, false), nil
	}
	for i := range a.Rows() {
		for k := range i {
			if x, y := a.At(i, k), a.At(k, i); x.Cmp(y) != 0 {
				return nil, fmt.Errorf("%s: %w: entries (%d, %d) and (%d, %d) differ (--uplo lower reads one triangle only)", shown(file), linsolve.ErrNotSymmetric, i+1, k+1, k+1, i+1)
			}
		}
	}
	return a, nil
}

func (c *ldltCmd) exactly(env *cli.Environment) error {
	j, err := c.factorsJob(env, "ldlt", false, c.P, []string{c.L, c.D}, c.A)
	if err != nil {
		return err
	}
	a, err := j.exactSymmetric(c.A, c.Uplo)
	if err != nil {
		return err
	}
	z, err := computed(j, c.A, func(opt *halfulp.Options) (*rational.LDLTFactors, error) { return rational.LDLT(a, opt) })
	if err != nil {
		return err
	}
	return j.writeRationalFactors([]exactFactor{{name: "P", file: c.P, indices: z.P}, {name: "L", file: c.L, matrix: z.L}, {name: "D", file: c.D, matrix: z.D}})
}

// pseudoInverse returns A^+ W, for a diagonal matrix of weights that are not negative, nil for the
// unit matrix: A^+ W b is the solution of minimal norm of the weighted least-squares problem. With
// the r independent columns C of A that RREF finds, and its r rows F that are not 0, A is C F, and
// the result is F' (F F')^-1 (C' W C)^-1 C' W.
func pseudoInverse(a *rational.Matrix, weights []*big.Rat, opt *halfulp.Options) (*rational.Matrix, int, error) {
	if weights != nil {
		// A row of weight 0 has no equation: it must not count in the rank.
		rows := make([][]*big.Rat, a.Rows())
		for i := range rows {
			rows[i] = rowOf(a, i)
			if weights[i].Sign() == 0 {
				for k := range rows[i] {
					rows[i][k] = new(big.Rat)
				}
			}
		}
		if len(rows) > 0 {
			a = rational.FromRats(rows)
		}
	}
	f, pivots, err := rational.RREF(a, opt)
	if err != nil {
		return nil, 0, err
	}
	r := len(pivots)
	if r == 0 {
		return rational.New(a.Cols(), a.Rows()), 0, nil
	}
	top := make([][]*big.Rat, r)
	for i := range top {
		top[i] = rowOf(f, i)
	}
	f = rational.FromRats(top)
	columns, weighted := make([][]*big.Rat, a.Rows()), make([][]*big.Rat, a.Rows())
	for i := range columns {
		columns[i], weighted[i] = make([]*big.Rat, r), make([]*big.Rat, r)
		for q, k := range pivots {
			x := a.At(i, k)
			columns[i][q], weighted[i][q] = x, x
			if weights != nil {
				weighted[i][q] = new(big.Rat).Mul(weights[i], x)
			}
		}
	}
	c, wc := rational.FromRats(columns), rational.FromRats(weighted).T()
	gram, err := rational.Mul(wc, c, opt)
	if err != nil {
		return nil, r, err
	}
	x, err := rational.Solve(gram, wc, opt)
	if err != nil {
		return nil, r, err
	}
	if gram, err = rational.Mul(f, f.T(), opt); err != nil {
		return nil, r, err
	}
	if x, err = rational.Solve(gram, x, opt); err != nil {
		return nil, r, err
	}
	x, err = rational.Mul(f.T(), x, opt)
	return x, r, err
}

// checkPseudoInverse returns an error if a pseudo-inverse may take more memory than allowed.
func (j *job) checkPseudoInverse(a *rational.Matrix) error {
	r := min(a.Rows(), a.Cols())
	return j.how.Memory.checkBits(float64(a.Rows())*float64(a.Cols()+1)*4*minorBits(r, a, nil), "the exact pseudo-inverse takes")
}

func (c *pinvCmd) exactly(env *cli.Environment) error {
	if c.RCond != nil {
		return errNoTolerance
	}
	j, a, err := c.exactPart(env, "pinv", true, c.A, nil)
	if err != nil {
		return err
	}
	if err := j.checkPseudoInverse(a); err != nil {
		return err
	}
	x, err := computed(j, c.A, func(opt *halfulp.Options) (*rational.Matrix, error) {
		x, _, err := pseudoInverse(a, nil, opt)
		return x, err
	})
	if err != nil {
		return err
	}
	return j.writeRational(x)
}

// exactSolution is lstsq --solution for exact numbers.
func (c *lstsqCmd) exactSolution(j *job) error {
	if c.RCond != nil {
		return errNoTolerance
	}
	a, err := j.exact(c.A)
	if err != nil {
		return err
	}
	b, err := j.exact(c.B)
	if err != nil {
		return err
	}
	if b, err = rightSides(c.A, a, c.B, b); err != nil {
		return err
	}
	if c.Intercept {
		if a, err = c.withExactOnes(a); err != nil {
			return err
		}
	}
	var weights []*big.Rat
	if c.Weights != "" {
		w, err := j.exactVector(c.Weights)
		if err != nil {
			return err
		}
		if weights = entriesOf(w); len(weights) != a.Rows() {
			return cli.Misuse("%s has %d entries: as many weights as rows, %d, are needed", shown(c.Weights), len(weights), a.Rows())
		}
		for i, x := range weights {
			if x.Sign() < 0 {
				return fmt.Errorf("%s: weight %d is %s: %w", shown(c.Weights), i+1, x.RatString(), linsolve.ErrWeights)
			}
		}
	}
	if err := j.checkPseudoInverse(a); err != nil {
		return err
	}
	rank := 0
	x, err := computed(j, c.A, func(opt *halfulp.Options) (x *rational.Matrix, err error) {
		if x, rank, err = pseudoInverse(a, weights, opt); err != nil {
			return nil, err
		}
		return rational.Mul(x, b, opt)
	})
	if err != nil {
		return err
	}
	if rank < a.Cols() && !j.print.Quiet {
		fmt.Fprintf(j.env.Stderr, "halfulp: note: the rank of the %d x %d matrix is %d (proved): of all least-squares solutions this one has minimal norm\n", a.Rows(), a.Cols(), rank)
	}
	return j.writeRational(x)
}

// withExactOnes is withOnes for exact numbers.
func (c *lstsqCmd) withExactOnes(a *rational.Matrix) (*rational.Matrix, error) {
	rows := make([][]*big.Rat, a.Rows())
	for i := range rows {
		rows[i] = append([]*big.Rat{big.NewRat(1, 1)}, rowOf(a, i)...)
	}
	for k := range a.Cols() {
		constant := a.Rows() > 0 && a.At(0, k).Sign() != 0
		for i := 1; i < a.Rows() && constant; i++ {
			constant = a.At(i, k).Cmp(a.At(0, k)) == 0
		}
		if constant {
			return nil, cli.Misuse("--intercept: column %d of %s is constant, an intercept already", k+1, shown(c.A))
		}
	}
	if len(rows) == 0 {
		return rational.New(0, a.Cols()+1), nil
	}
	return rational.FromRats(rows), nil
}

type rrefCmd struct {
	A string `arg:"" name:"A" help:"Matrix; - is standard input."`
	commonFlags
}

func (rrefCmd) Help() string {
	return `Prints the reduced row echelon form of a matrix of any shape and rank, computed exactly. With --format exact it is printed in fractions, otherwise every entry is rounded once. --json has the columns of the pivots, too, counted from 0.

A consists of the numbers exactly as they are read: --in exact takes decimals and fractions as they are.

Examples:

  halfulp rref A.csv --in exact --format exact
  printf '1/2,1/3,1\n1/4,1/5,1\n' | halfulp rref - --in exact --format exact --to csv`
}

// rrefResult is the JSON of rref.
type rrefResult struct {
	matrixResult
	Pivots []int `json:"pivots"`
}

func (c *rrefCmd) Run(env *cli.Environment) error {
	j, a, err := c.exactPart(env, "rref", true, c.A, nil)
	if err != nil {
		return err
	}
	if err := j.checkNullSpace(a); err != nil {
		return err
	}
	var pivots []int
	z, err := computed(j, c.A, func(opt *halfulp.Options) (z *rational.Matrix, err error) {
		z, pivots, err = rational.RREF(a, opt)
		return z, err
	})
	if err != nil {
		return err
	}
	if !j.print.JSON {
		return j.writeRational(z)
	}
	r := rrefResult{matrixResult{Command: j.command, Format: exactName, Rows: z.Rows(), Cols: z.Cols()}, append([]int{}, pivots...)}
	if j.exactResult {
		r.Values = fractions(z)
	} else {
		m, err := j.round(z)
		if err != nil {
			return err
		}
		r.Format, r.Values = j.format.String(), j.texts(m)
	}
	j.report(j.solver)
	r.Stats = j.resultStats(j.solver)
	return j.writeText(jsonText(r))
}

// polynomialCmd is charpoly or minpoly.
type polynomialCmd struct {
	A string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	commonFlags
}

func (c *polynomialCmd) run(env *cli.Environment, name string, routine func(*rational.Matrix, *halfulp.Options) ([]*big.Rat, error)) error {
	j, a, err := c.exactPart(env, name, true, c.A, checkSquare)
	if err != nil {
		return err
	}
	n := float64(a.Rows())
	if err := j.how.Memory.checkBits((n+1)*(minorBits(a.Rows(), a, nil)+n), "the exact coefficients take"); err != nil {
		return err
	}
	p, err := computed(j, c.A, func(opt *halfulp.Options) ([]*big.Rat, error) { return routine(a, opt) })
	if err != nil {
		return err
	}
	return j.writeRational(column(p))
}

type charPolyCmd struct{ polynomialCmd }

func (charPolyCmd) Help() string {
	return `Prints the coefficients c0, c1, ..., cn of the characteristic polynomial det(x I - A) = c0 + c1 x + ... + cn x^n of a square matrix, in ascending powers; cn is 1. They are computed exactly; with --format exact they are fractions, otherwise each is rounded once. halfulp roots reads them, and prints the real eigenvalues of any square matrix.

A consists of the numbers exactly as they are read: --in exact takes decimals and fractions as they are.

Examples:

  halfulp charpoly A.csv --in exact --format exact
  halfulp charpoly A.csv --in exact --format exact | halfulp roots - --in exact`
}

func (c *charPolyCmd) Run(env *cli.Environment) error {
	return c.run(env, "charpoly", rational.CharPoly)
}

type minPolyCmd struct{ polynomialCmd }

func (minPolyCmd) Help() string {
	return `Prints the coefficients m0, m1, ..., md of the minimal polynomial of a square matrix A, in ascending powers: the polynomial of least degree with m(A) = 0 and md = 1. They are computed exactly; with --format exact they are fractions, otherwise each is rounded once.

A consists of the numbers exactly as they are read: --in exact takes decimals and fractions as they are.

Examples:

  halfulp minpoly A.csv --in exact --format exact
  halfulp gen identity 3 | halfulp minpoly - --format exact`
}

func (c *minPolyCmd) Run(env *cli.Environment) error {
	return c.run(env, "minpoly", rational.MinPoly)
}

// checkExactFactors returns an error if a file of a factor cannot hold exact numbers.
func (f *printFlags) checkExactFactors(to []string) error {
	if f.Exact && f.isArchive() {
		return cli.Misuse("%s: a .npz file holds no exact numbers: text, .csv, .tsv and --json do, and files for single results", f.kind())
	}
	for _, name := range to {
		if name == "" || name == files.Stdio || !f.Exact {
			continue
		}
		if err := matfile.CheckExactName(name); err != nil {
			return cli.Misuse("%w", err)
		}
	}
	return nil
}
