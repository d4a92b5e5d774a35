package main

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/textio"
)

// uploFlag names the triangle of a matrix that is read.
type uploFlag struct {
	Uplo string `group:"input" enum:"lower,upper" default:"lower" placeholder:"TRIANGLE" help:"Triangle that is read: lower or upper. The other one is ignored. Default ${default}."`
}

func (f uploFlag) uplo() halfulp.Uplo {
	if f.Uplo == "upper" {
		return halfulp.Upper
	}
	return halfulp.Lower
}

// sideFlag names the side of a product on which the symmetric or triangular matrix stands.
type sideFlag struct {
	Side string `group:"input" enum:"left,right" default:"left" placeholder:"SIDE" help:"Side on which A stands: left or right. Default ${default}."`
}

func (f sideFlag) side() halfulp.Side {
	if f.Side == "right" {
		return halfulp.Right
	}
	return halfulp.Left
}

// fitting returns B with its shape in A B, or in B A for the side right, for a square matrix A: a
// vector may be a row or a column.
func fitting[M turned[M]](f sideFlag, nameA string, a M, nameB string, b M) (M, error) {
	var none M
	if err := checkSquare(nameA, a); err != nil {
		return none, err
	}
	fits := func(b M) (n int, what string) {
		if f.side() == halfulp.Right {
			return b.Cols(), "column"
		}
		return b.Rows(), "row"
	}
	n, what := fits(b)
	if turned, _ := fits(b.T()); n == 1 && turned == a.Rows() {
		return b.T(), nil
	}
	if n != a.Rows() {
		return none, cli.Misuse("%s is of order %d, %s has %s: they must agree", shown(nameA), a.Rows(), shown(nameB), textio.Count(n, what))
	}
	return b, nil
}

// oldResult reads the matrix that beta multiplies, of the given shape. It returns nil without a
// name.
func (j *job) oldResult(name string, rows, cols int) (*halfulp.Matrix, error) {
	if name == "" {
		return nil, nil
	}
	c, err := j.matrix(name)
	if err != nil {
		return nil, err
	}
	if r, k := c.Dims(); r != rows || k != cols {
		return nil, cli.Misuse("%s is %d x %d, the result %d x %d: they must agree", shown(name), r, k, rows, cols)
	}
	return c, nil
}

// newResult allocates a result, computes and writes it.
func (j *job) newResult(rows, cols int, compute func(z *halfulp.Matrix, opt *halfulp.Options) error) error {
	if err := j.how.Memory.checkSize(j.format, rows, cols); err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	z := halfulp.NewMatrix(j.format, rows, cols)
	var stats halfulp.Stats
	err := compute(z, j.options().WithStats(&stats))
	j.finish()
	if err != nil {
		return err
	}
	return j.writeMatrix(z, &stats)
}

type symmCmd struct {
	A string `arg:"" name:"A" help:"Symmetric matrix; - is standard input."`
	B string `arg:"" name:"B" help:"Matrix."`
	C string `arg:"" name:"C" optional:"" help:"Matrix to add beta times."`
	uploFlag
	sideFlag
	productFlags
	commonFlags
}

func (symmCmd) Help() string {
	return `Prints alpha A B + beta C, or with --side right alpha B A + beta C, for a symmetric matrix A, each entry rounded once.

Examples:

  halfulp symm A.mtx B.mtx
  halfulp symm A.mtx B.mtx C.mtx --side right --uplo upper --alpha -1 --format dd`
}

func (c *symmCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	j, o, err := c.productJob(env, "symm", &c.productFlags, c.A, c.B, c.C)
	if err != nil {
		return err
	}
	if o.b, err = fitting(c.sideFlag, c.A, o.a, c.B, o.b); err != nil {
		return err
	}
	old, err := j.oldResult(c.C, o.b.Rows(), o.b.Cols())
	if err != nil {
		return err
	}
	return j.newResult(o.b.Rows(), o.b.Cols(), func(z *halfulp.Matrix, opt *halfulp.Options) error {
		return halfulp.SymmTo(c.side(), c.uplo(), o.alpha, o.a, o.b, o.beta, old, z, opt)
	})
}

// productOperands are the operands of a product of two matrices.
type productOperands struct {
	alpha, beta halfulp.Scalar
	a, b        *halfulp.Matrix
}

// productJob begins a product of A and B, to which beta C may be added, and reads the factors.
func (f *commonFlags) productJob(env *cli.Environment, command string, p *productFlags, nameA, nameB, nameC string) (j *job, o productOperands, err error) {
	if j, err = f.job(env, command, true, validProduct, nameA, nameB, nameC); err != nil {
		return nil, o, err
	}
	if o.alpha, o.beta, err = j.factors(p, "C", nameC); err != nil {
		return nil, o, err
	}
	o.a, o.b, err = j.twoMatrices(nameA, nameB)
	return j, o, err
}

type syr2kCmd struct {
	A     string `arg:"" name:"A" help:"Matrix; - is standard input."`
	B     string `arg:"" name:"B" help:"Matrix of the same shape."`
	C     string `arg:"" name:"C" optional:"" help:"Symmetric matrix to add beta times."`
	Trans bool   `group:"input" help:"Multiply the transposes of A and B."`
	uploFlag
	productFlags
	commonFlags
}

func (syr2kCmd) Help() string {
	return `Prints the symmetric matrix alpha (A Bᵀ + B Aᵀ) + beta C, or with --trans alpha (Aᵀ B + Bᵀ A) + beta C, each entry rounded once. Only one triangle of C is read (--uplo); both triangles of the result are printed.

Examples:

  halfulp syr2k A.mtx B.mtx
  halfulp syr2k A.mtx B.mtx C.mtx --trans --alpha 0.5 --uplo upper`
}

func (c *syr2kCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	j, o, err := c.productJob(env, "syr2k", &c.productFlags, c.A, c.B, c.C)
	if err != nil {
		return err
	}
	n, k := dims(o.a, c.Trans)
	if rows, cols := dims(o.b, c.Trans); rows != n || cols != k {
		return cli.Misuse("%s is %d x %d, %s is %d x %d: they must agree", shown(c.A), o.a.Rows(), o.a.Cols(), shown(c.B), o.b.Rows(), o.b.Cols())
	}
	old, err := j.oldResult(c.C, n, n)
	if err != nil {
		return err
	}
	return j.newResult(n, n, func(z *halfulp.Matrix, opt *halfulp.Options) error {
		err := halfulp.Syr2kTo(c.uplo(), transpose(c.Trans), o.alpha, o.a, o.b, o.beta, old, z, opt)
		mirror(z, c.uplo())
		return err
	})
}

// triangularFlags are the flags for a triangular matrix on a side of another.
type triangularFlags struct {
	uploFlag
	sideFlag
	Trans bool        `group:"input" help:"Take the transpose of A."`
	Unit  bool        `group:"input" help:"The diagonal of A is all ones, whatever is stored there."`
	Alpha *numberText `group:"input" placeholder:"NUMBER" help:"Factor of B (default 1), read as by gemm."`
}

func (f triangularFlags) diag() halfulp.Diag {
	if f.Unit {
		return halfulp.Unit
	}
	return halfulp.NonUnit
}

// triangularRoutine is TrmmTo or TrsmTo.
type triangularRoutine func(side halfulp.Side, uplo halfulp.Uplo, t halfulp.Transpose, diag halfulp.Diag,
	alpha halfulp.Scalar, a, b, z *halfulp.Matrix, opt *halfulp.Options) error

// triangularCmd is trmm or trsm.
type triangularCmd struct {
	A string `arg:"" name:"A" help:"Triangular matrix; - is standard input."`
	B string `arg:"" name:"B" help:"Matrix or vector."`
	triangularFlags
	commonFlags
}

func (c *triangularCmd) run(env *cli.Environment, name string, routine triangularRoutine) error {
	if c.rationally() {
		return c.exactly(env, name)
	}
	j, o, err := c.productJob(env, name, &productFlags{Alpha: c.Alpha}, c.A, c.B, "")
	if err != nil {
		return err
	}
	if o.b, err = fitting(c.sideFlag, c.A, o.a, c.B, o.b); err != nil {
		return err
	}
	return j.newResult(o.b.Rows(), o.b.Cols(), func(z *halfulp.Matrix, opt *halfulp.Options) error {
		return routine(c.side(), c.uplo(), transpose(c.Trans), c.diag(), o.alpha, o.a, o.b, z, opt)
	})
}

type trmmCmd struct{ triangularCmd }

func (trmmCmd) Help() string {
	return `Prints alpha A B, or with --side right alpha B A, for a triangular matrix A, each entry rounded once. With --trans A is replaced by its transpose.

Examples:

  halfulp trmm L.mtx B.mtx
  halfulp trmm U.mtx x.mtx --uplo upper --unit --format dd`
}

func (c *trmmCmd) Run(env *cli.Environment) error { return c.run(env, "trmm", halfulp.TrmmTo) }

type trsmCmd struct{ triangularCmd }

func (trsmCmd) Help() string {
	return `Prints the solution X of A X = alpha B, or with --side right of X A = alpha B, for a triangular matrix A. With --trans A is replaced by its transpose. X is computed by substitution: every entry is the exact quotient for the rounded entries before it, rounded once. Hence X solves exactly a system whose diagonal differs from A's by at most half a unit in the last place. A zero on the diagonal makes infinities or NaN. With exact numbers (--in exact or --format exact) X is the exact solution, rounded once or not at all.

Examples:

  halfulp trsm L.mtx b.mtx
  halfulp trsm U.mtx B.mtx --uplo upper --format mp:200 --out X.mtx`
}

func (c *trsmCmd) Run(env *cli.Environment) error { return c.run(env, "trsm", halfulp.TrsmTo) }
