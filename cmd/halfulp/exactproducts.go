package main

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/rational"
)

// Sums and products of exact numbers.

// errNoCompare is the error for --compare beside exact numbers.
var errNoCompare = cli.Misuse("--compare: plain float64 arithmetic takes numbers of a format, no exact ones")

// exactJob begins a command that computes with exact numbers by package rational.
func (f *commonFlags) exactJob(env *cli.Environment, command string, makesMatrix bool, operands ...string) (*job, error) {
	return f.job(env, command, makesMatrix, (*halfulp.Options).Validate, operands...)
}

// sumOf returns the sum of numbers. Halves are added first, so that few sums have long
// denominators.
func sumOf(all []*big.Rat) *big.Rat {
	switch n := len(all); n {
	case 0:
		return new(big.Rat)
	case 1:
		return all[0]
	default:
		return new(big.Rat).Add(sumOf(all[:n/2]), sumOf(all[n/2:]))
	}
}

// squaresOf returns the squares of numbers.
func squaresOf(all []*big.Rat) []*big.Rat {
	z := make([]*big.Rat, len(all))
	for i, x := range all {
		z[i] = new(big.Rat).Mul(x, x)
	}
	return z
}

// root returns the root of a rational number that is not negative, rounded once, and counts a
// result that leaves the range of the format.
func (j *job) root(x *big.Rat) halfulp.Scalar {
	m := halfulp.NewMatrix(j.format, 1, 1)
	if x.Sign() != 0 {
		v := m.View()
		v.Arr.Set(v.At(0, 0), superacc.Root(v.Arr.Format, real(x.Num()), x.Denom()))
	}
	z := m.At(0, 0)
	j.countRange(z, x.Sign() != 0)
	return z
}

// countRange counts a result that overflowed, or became 0 if its exact value is not 0.
func (j *job) countRange(z halfulp.Scalar, nonzero bool) {
	switch {
	case j.solver == nil:
	case z.IsInf(0):
		j.solver.Overflow++
	case nonzero && z.Sign() == 0:
		j.solver.Underflow++
	}
}

// alongAxis returns the numbers of each vector along an axis, columns along 0 and rows along 1, or
// all numbers as one vector, column by column.
func alongAxis(m *rational.Matrix, axis string) [][]*big.Rat {
	if axis == "1" {
		m = m.T()
	}
	columns := make([][]*big.Rat, m.Cols())
	for k := range columns {
		columns[k] = make([]*big.Rat, m.Rows())
		for i := range columns[k] {
			columns[k][i] = m.At(i, k)
		}
	}
	if axis != whole {
		return columns
	}
	var all []*big.Rat
	for _, c := range columns {
		all = append(all, c...)
	}
	return [][]*big.Rat{all}
}

// exactReduction is unary for exact numbers.
func (f *commonFlags) exactReduction(env *cli.Environment, name, file, axis string) error {
	j, err := f.exactJob(env, name, axis != whole, file)
	if err != nil {
		return err
	}
	m, err := j.exact(file)
	if err != nil {
		return err
	}
	sums, err := computed(j, file, func(*halfulp.Options) ([]*big.Rat, error) {
		var z []*big.Rat
		for _, all := range alongAxis(m, axis) {
			switch name {
			case "asum":
				for i, x := range all {
					all[i] = new(big.Rat).Abs(x)
				}
			case "nrm2":
				all = squaresOf(all)
			}
			if err := env.Ctx.Err(); err != nil {
				return nil, err
			}
			z = append(z, sumOf(all))
		}
		return z, nil
	})
	if err != nil {
		return err
	}
	if name == "nrm2" {
		z := halfulp.NewMatrix(j.format, len(sums), 1)
		for i, x := range sums {
			z.Set(i, 0, j.root(x))
		}
		switch axis {
		case whole:
			return j.writeScalar(z.At(0, 0), *j.solver)
		case "0":
			z = z.T()
		}
		return j.writeMatrix(z, j.solver)
	}
	if axis == whole {
		return j.writeNumber(sums[0])
	}
	z := column(sums)
	if axis == "0" {
		z = z.T()
	}
	return j.writeRational(z)
}

// column returns numbers as a matrix of one column.
func column(all []*big.Rat) *rational.Matrix {
	if len(all) == 0 {
		return rational.New(0, 1)
	}
	rows := make([][]*big.Rat, len(all))
	for i, x := range all {
		rows[i] = []*big.Rat{x}
	}
	return rational.FromRats(rows)
}

func (c *dotCmd) exactly(env *cli.Environment) error {
	if c.Compare {
		return errNoCompare
	}
	j, err := c.exactJob(env, "dot", false, c.X, c.Y)
	if err != nil {
		return err
	}
	x, err := j.exactVector(c.X)
	if err != nil {
		return err
	}
	y, err := j.exactVector(c.Y)
	if err != nil {
		return err
	}
	if x.Rows() != y.Rows() {
		return cli.Misuse("%s has %s, %s has %d: a dot product needs vectors of one length", shown(c.X), textio.Count(x.Rows(), "entry"), shown(c.Y), y.Rows())
	}
	z, err := computed(j, c.X, func(*halfulp.Options) (*big.Rat, error) {
		terms := make([]*big.Rat, x.Rows())
		for i := range terms {
			terms[i] = new(big.Rat).Mul(x.At(i, 0), y.At(i, 0))
		}
		return sumOf(terms), nil
	})
	if err != nil {
		return err
	}
	return j.writeNumber(z)
}

func (c *statsCmd) exactly(env *cli.Environment) error {
	j, err := c.exactJob(env, "stats", false, c.X)
	if err != nil {
		return err
	}
	m, err := j.exact(c.X)
	if err != nil {
		return err
	}
	names := []string{"mean", "sd", "r1"}
	columns := alongAxis(m, c.Axis)
	values := map[string][]halfulp.Scalar{}
	_, err = computed(j, c.X, func(*halfulp.Options) (halfulp.Stats, error) {
		for _, x := range columns {
			mean, sd, r1, err := j.statistics(x)
			if err != nil {
				return halfulp.Stats{}, err
			}
			for i, v := range []halfulp.Scalar{mean, sd, r1} {
				values[names[i]] = append(values[names[i]], v)
			}
		}
		return halfulp.Stats{}, env.Ctx.Err()
	})
	if err != nil {
		return err
	}
	stats := *j.solver
	if c.Axis == whole {
		var results []namedScalar
		for _, name := range names {
			results = append(results, namedScalar{name, values[name][0], stats})
		}
		return j.writeScalars(len(columns[0]), results)
	}
	var results []namedMatrix
	for _, name := range names {
		z := halfulp.NewMatrix(j.format, len(columns), 1)
		for i, v := range values[name] {
			z.Set(i, 0, v)
		}
		if c.Axis == "0" {
			z = z.T()
		}
		results = append(results, namedMatrix{name, z, stats})
	}
	count := m.Rows()
	if c.Axis == "1" {
		count = m.Cols()
	}
	return j.writeNamed(c.Axis, count, results)
}

// statistics returns the mean, the standard deviation and the autocorrelation of numbers, each
// rounded once, or NaN where they are 0/0.
func (j *job) statistics(x []*big.Rat) (mean, sd, r1 halfulp.Scalar, err error) {
	nan := halfulp.Float(math.NaN()).Convert(j.format)
	mean, sd, r1 = nan, nan, nan
	n := int64(len(x))
	if n == 0 {
		return mean, sd, r1, nil
	}
	m := sumOf(x)
	m = new(big.Rat).Quo(m, new(big.Rat).SetInt64(n))
	if mean, err = j.number(m); err != nil || n < 2 {
		return mean, sd, r1, err
	}
	off, products := make([]*big.Rat, n), make([]*big.Rat, n-1)
	for i := range off {
		off[i] = new(big.Rat).Sub(x[i], m)
		if i > 0 {
			products[i-1] = new(big.Rat).Mul(off[i-1], off[i])
		}
	}
	squares := sumOf(squaresOf(off))
	sd = j.root(new(big.Rat).Quo(squares, new(big.Rat).SetInt64(n-1)))
	if squares.Sign() != 0 {
		r1, err = j.number(new(big.Rat).Quo(sumOf(products), squares))
	}
	return mean, sd, r1, err
}

func (c *cumsumCmd) exactly(env *cli.Environment) error {
	j, err := c.exactJob(env, "cumsum", true, c.X)
	if err != nil {
		return err
	}
	m, err := j.exact(c.X)
	if err != nil {
		return err
	}
	axis, err := c.axis(m.Dims())
	if err != nil {
		return err
	}
	z, err := computed(j, c.X, func(*halfulp.Options) (*rational.Matrix, error) {
		columns := alongAxis(m, axis)
		for _, c := range columns {
			for i := 1; i < len(c); i++ {
				c[i] = new(big.Rat).Add(c[i-1], c[i])
			}
			if err := env.Ctx.Err(); err != nil {
				return nil, err
			}
		}
		if m.Rows() == 0 || m.Cols() == 0 {
			return m, nil
		}
		sums := rational.FromRats(columns) // its rows are the vectors
		if axis == "0" {
			sums = sums.T()
		}
		return sums, nil
	})
	if err != nil {
		return err
	}
	return j.writeRational(z)
}

func (c *traceCmd) exactly(env *cli.Environment) error {
	j, err := c.exactJob(env, "trace", false, c.A)
	if err != nil {
		return err
	}
	a, err := j.exactSquare(c.A)
	if err != nil {
		return err
	}
	z, err := computed(j, c.A, func(*halfulp.Options) (*big.Rat, error) {
		diagonal := make([]*big.Rat, a.Rows())
		for i := range diagonal {
			diagonal[i] = a.At(i, i)
		}
		return sumOf(diagonal), nil
	})
	if err != nil {
		return err
	}
	return j.writeNumber(z)
}

// exactSum is weightedSum for exact numbers.
func (f *commonFlags) exactSum(env *cli.Environment, command, nameX, nameY string, p *productFlags) error {
	j, err := f.exactJob(env, command, true, nameX, nameY)
	if err != nil {
		return err
	}
	alpha, beta, err := j.exactFactors(p, "Y", nameY)
	if err != nil {
		return err
	}
	x, err := j.exact(nameX)
	if err != nil {
		return err
	}
	y, err := j.exact(nameY)
	if err != nil {
		return err
	}
	if y, err = likeVector(nameX, x, nameY, y); err != nil {
		return err
	}
	z, err := computed(j, nameX, func(*halfulp.Options) (*rational.Matrix, error) {
		return rational.Add(rational.Scale(alpha, x), rational.Scale(beta, y)), nil
	})
	if err != nil {
		return err
	}
	return j.writeRational(z)
}

// exactProduct computes alpha A B + beta C, C nil for none, and writes it.
func (j *job) exactProduct(file string, alpha *big.Rat, a, b *rational.Matrix, beta *big.Rat, c *rational.Matrix) error {
	if err := j.checkProduct(a, b); err != nil {
		return err
	}
	z, err := computed(j, file, func(opt *halfulp.Options) (*rational.Matrix, error) {
		z, err := rational.Mul(a, b, opt)
		if err != nil {
			return nil, err
		}
		if z = rational.Scale(alpha, z); c != nil {
			z = rational.Add(z, rational.Scale(beta, c))
		}
		return z, nil
	})
	if err != nil {
		return err
	}
	return j.writeRational(z)
}

// checkProduct returns an error if a product takes more memory than allowed.
func (j *job) checkProduct(a, b *rational.Matrix) error {
	longest := func(m *rational.Matrix) float64 {
		most := 0.0
		for i := range m.Rows() {
			row := rowOf(m, i)
			d := commonDenominator(row).BitLen()
			for _, x := range row {
				most = max(most, float64(x.Num().BitLen()+2*d))
			}
		}
		return most
	}
	return j.how.Memory.checkBits((longest(a)+longest(b)+64)*float64(a.Rows())*float64(b.Cols()), "the product takes")
}

func (c *gemvCmd) exactly(env *cli.Environment) error {
	if c.Compare {
		return errNoCompare
	}
	j, err := c.exactJob(env, "gemv", true, c.A, c.X, c.Y)
	if err != nil {
		return err
	}
	alpha, beta, err := j.exactFactors(&c.productFlags, "y", c.Y)
	if err != nil {
		return err
	}
	a, err := j.exact(c.A)
	if err != nil {
		return err
	}
	x, err := j.exactVector(c.X)
	if err != nil {
		return err
	}
	if c.Trans {
		a = a.T()
	}
	if x.Rows() != a.Cols() {
		return cli.Misuse("%s has %s%s, %s has %s: they must agree",
			shown(c.A), textio.Count(a.Cols(), "column"), transposed(c.Trans), shown(c.X), textio.Count(x.Rows(), "entry"))
	}
	var y *rational.Matrix
	if c.Y != "" {
		if y, err = j.exactVector(c.Y); err != nil {
			return err
		}
		if y.Rows() != a.Rows() {
			return cli.Misuse("%s has %s%s, %s has %s: they must agree",
				shown(c.A), textio.Count(a.Rows(), "row"), transposed(c.Trans), shown(c.Y), textio.Count(y.Rows(), "entry"))
		}
	}
	return j.exactProduct(c.A, alpha, a, x, beta, y)
}

func (c *gemmCmd) exactly(env *cli.Environment) error {
	if c.Compare {
		return errNoCompare
	}
	j, err := c.exactJob(env, "gemm", true, c.A, c.B, c.C)
	if err != nil {
		return err
	}
	alpha, beta, err := j.exactFactors(&c.productFlags, "C", c.C)
	if err != nil {
		return err
	}
	a, err := j.exact(c.A)
	if err != nil {
		return err
	}
	b, err := j.exact(c.B)
	if err != nil {
		return err
	}
	if c.Transa {
		a = a.T()
	}
	if c.Transb {
		b = b.T()
	}
	if a.Cols() != b.Rows() {
		return cli.Misuse("%s has %s%s, %s has %s%s: they must agree",
			shown(c.A), textio.Count(a.Cols(), "column"), transposed(c.Transa), shown(c.B), textio.Count(b.Rows(), "row"), transposed(c.Transb))
	}
	old, err := j.exactOld(c.C, a.Rows(), b.Cols())
	if err != nil {
		return err
	}
	return j.exactProduct(c.A, alpha, a, b, beta, old)
}

// exactOld is oldResult for exact numbers.
func (j *job) exactOld(name string, rows, cols int) (*rational.Matrix, error) {
	if name == "" {
		return nil, nil
	}
	c, err := j.exact(name)
	if err != nil {
		return nil, err
	}
	if r, k := c.Dims(); r != rows || k != cols {
		return nil, cli.Misuse("%s is %d x %d, the result %d x %d: they must agree", shown(name), r, k, rows, cols)
	}
	return c, nil
}

// triangleOf returns a symmetric matrix with the triangle of m, or if mirrored is false the
// triangular matrix, with ones on the diagonal if unit is true.
func triangleOf(m *rational.Matrix, uplo halfulp.Uplo, mirrored, unit bool) *rational.Matrix {
	n := m.Rows()
	if n == 0 {
		return m
	}
	rows := make([][]*big.Rat, n)
	for i := range rows {
		rows[i] = make([]*big.Rat, n)
	}
	for i := range n {
		for k := range i + 1 {
			x := m.At(i, k)
			if uplo == halfulp.Upper {
				x = m.At(k, i)
			}
			if i == k && unit {
				x = big.NewRat(1, 1)
			}
			other := x
			if !mirrored && i != k {
				other = new(big.Rat)
			}
			if uplo == halfulp.Upper {
				rows[k][i], rows[i][k] = x, other
			} else {
				rows[i][k], rows[k][i] = x, other
			}
			if i == k {
				rows[i][i] = x
			}
		}
	}
	return rational.FromRats(rows)
}

// exactPair begins a product of two matrices of exact numbers.
func (f *commonFlags) exactPair(env *cli.Environment, command string, p *productFlags, nameA, nameB, nameC string) (j *job, alpha, beta *big.Rat, a, b *rational.Matrix, err error) {
	if j, err = f.exactJob(env, command, true, nameA, nameB, nameC); err != nil {
		return nil, nil, nil, nil, nil, err
	}
	if alpha, beta, err = j.exactFactors(p, "C", nameC); err != nil {
		return nil, nil, nil, nil, nil, err
	}
	if a, err = j.exact(nameA); err == nil {
		b, err = j.exact(nameB)
	}
	return j, alpha, beta, a, b, err
}

func (c *symmCmd) exactly(env *cli.Environment) error {
	j, alpha, beta, a, b, err := c.exactPair(env, "symm", &c.productFlags, c.A, c.B, c.C)
	if err != nil {
		return err
	}
	if b, err = fitting(c.sideFlag, c.A, a, c.B, b); err != nil {
		return err
	}
	old, err := j.exactOld(c.C, b.Rows(), b.Cols())
	if err != nil {
		return err
	}
	a = triangleOf(a, c.uplo(), true, false)
	if c.side() == halfulp.Right {
		a, b = b, a
	}
	return j.exactProduct(c.A, alpha, a, b, beta, old)
}

func (c *syrkCmd) exactly(env *cli.Environment) error {
	j, err := c.exactJob(env, "syrk", true, c.A, c.C)
	if err != nil {
		return err
	}
	alpha, beta, err := j.exactFactors(&c.productFlags, "C", c.C)
	if err != nil {
		return err
	}
	a, err := j.exact(c.A)
	if err != nil {
		return err
	}
	b := a.T()
	if c.Trans {
		a, b = b, a
	}
	old, err := j.exactOld(c.C, a.Rows(), a.Rows())
	if err != nil {
		return err
	}
	if old != nil {
		old = triangleOf(old, c.uplo(), true, false)
	}
	return j.exactProduct(c.A, alpha, a, b, beta, old)
}

func (c *syr2kCmd) exactly(env *cli.Environment) error {
	j, alpha, beta, a, b, err := c.exactPair(env, "syr2k", &c.productFlags, c.A, c.B, c.C)
	if err != nil {
		return err
	}
	if a.Rows() != b.Rows() || a.Cols() != b.Cols() {
		return cli.Misuse("%s is %d x %d, %s is %d x %d: they must agree", shown(c.A), a.Rows(), a.Cols(), shown(c.B), b.Rows(), b.Cols())
	}
	if c.Trans {
		a, b = a.T(), b.T()
	}
	old, err := j.exactOld(c.C, a.Rows(), a.Rows())
	if err != nil {
		return err
	}
	if err := j.checkProduct(a, b.T()); err != nil {
		return err
	}
	z, err := computed(j, c.A, func(opt *halfulp.Options) (*rational.Matrix, error) {
		z, err := rational.Mul(a, b.T(), opt)
		if err != nil {
			return nil, err
		}
		z = rational.Scale(alpha, rational.Add(z, z.T()))
		if old != nil {
			z = rational.Add(z, rational.Scale(beta, triangleOf(old, c.uplo(), true, false)))
		}
		return z, nil
	})
	if err != nil {
		return err
	}
	return j.writeRational(z)
}

// exactly is trmm or trsm for exact numbers. The solution of trsm is the exact one.
func (c *triangularCmd) exactly(env *cli.Environment, name string) error {
	j, alpha, _, a, b, err := c.exactPair(env, name, &productFlags{Alpha: c.Alpha}, c.A, c.B, "")
	if err != nil {
		return err
	}
	if b, err = fitting(c.sideFlag, c.A, a, c.B, b); err != nil {
		return err
	}
	a = triangleOf(a, c.uplo(), false, c.Unit)
	if c.Trans {
		a = a.T()
	}
	right := c.side() == halfulp.Right
	if name == "trmm" {
		if right {
			a, b = b, a
		}
		return j.exactProduct(c.A, alpha, a, b, nil, nil)
	}
	if right {
		a, b = a.T(), b.T()
	}
	if err := j.checkSolution(a, b); err != nil {
		return err
	}
	z, err := computed(j, c.A, func(opt *halfulp.Options) (*rational.Matrix, error) {
		return rational.Solve(a, rational.Scale(alpha, b), opt)
	})
	if err != nil {
		return err
	}
	if right {
		z = z.T()
	}
	return j.writeRational(z)
}
