package main

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
)

type axpyCmd struct {
	X     string      `arg:"" name:"X" help:"Vector or matrix; - is standard input."`
	Y     string      `arg:"" name:"Y" help:"Another of the same shape."`
	Alpha *numberText `group:"input" placeholder:"NUMBER" help:"Factor of X (default 1), read as by gemm."`
	commonFlags
}

func (axpyCmd) Help() string {
	return `Prints alpha X + Y, every entry rounded once.

Examples:

  halfulp axpy x.mtx y.mtx --alpha -0.5
  halfulp axpy A.mtx B.mtx --alpha 1e-30 --format mp:200`
}

func (c *axpyCmd) Run(env *cli.Environment) error {
	return c.weightedSum(env, "axpy", c.X, c.Y, &productFlags{Alpha: c.Alpha})
}

type addCmd struct {
	X string `arg:"" name:"X" help:"Matrix or vector; - is standard input."`
	Y string `arg:"" name:"Y" help:"Another of the same shape."`
	productFlags
	commonFlags
}

func (addCmd) Help() string {
	return `Prints alpha X + beta Y, every entry rounded once: sums, differences and means of two matrices or vectors.

Examples:

  halfulp add A.mtx B.mtx
  halfulp add A.mtx B.mtx --beta -1                 # A - B
  halfulp add x.mtx y.mtx --alpha 0.5 --beta 0.5 --format dd`
}

func (c *addCmd) Run(env *cli.Environment) error {
	return c.weightedSum(env, "add", c.X, c.Y, &c.productFlags)
}

// weightedSum prints alpha X + beta Y. It is the product of X, as a column, and the number 1, with
// Y as the old result, so that there is one rounding.
func (f *commonFlags) weightedSum(env *cli.Environment, command, nameX, nameY string, p *productFlags) error {
	if f.rationally() {
		return f.exactSum(env, command, nameX, nameY, p)
	}
	j, err := f.job(env, command, true, validProduct, nameX, nameY)
	if err != nil {
		return err
	}
	alpha, beta, err := j.factors(p, "Y", nameY)
	if err != nil {
		return err
	}
	x, y, err := j.twoMatrices(nameX, nameY)
	if err != nil {
		return err
	}
	if y, err = hostLikeVector(nameX, x, nameY, y); err != nil {
		return err
	}
	return j.newResult(x.Rows(), x.Cols(), func(z *halfulp.Matrix, opt *halfulp.Options) error {
		column := func(m *halfulp.Matrix) *halfulp.Matrix { return m.Vec().Matrix() }
		return halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, alpha, column(x), halfulp.Identity(halfulp.Float64, 1), beta, column(y), column(z), opt)
	})
}

// likeVector returns y, in the shape of x if both are vectors of one length, or an error if their
// shapes differ.
func likeVector[M turned[M]](nameX string, x M, nameY string, y M) (M, error) {
	if min(x.Rows(), x.Cols()) == 1 && x.Rows() == y.Cols() && x.Cols() == y.Rows() {
		y = y.T()
	}
	if x.Rows() != y.Rows() || x.Cols() != y.Cols() {
		var none M
		return none, cli.Misuse("%s is %d x %d, %s %d x %d: they must agree", shown(nameX), x.Rows(), x.Cols(), shown(nameY), y.Rows(), y.Cols())
	}
	return y, nil
}

// hostLikeVector is likeVector for matrices whose entries are to lie in order.
func hostLikeVector(nameX string, x *halfulp.Matrix, nameY string, y *halfulp.Matrix) (*halfulp.Matrix, error) {
	z, err := likeVector(nameX, x, nameY, y)
	if err == nil && z != y {
		z = z.Clone()
	}
	return z, err
}

type syrkCmd struct {
	A     string `arg:"" name:"A" help:"Matrix; - is standard input."`
	C     string `arg:"" name:"C" optional:"" help:"Symmetric matrix to add beta times."`
	Trans bool   `group:"input" help:"Multiply the transpose of A by A."`
	uploFlag
	productFlags
	commonFlags
}

func (syrkCmd) Help() string {
	return `Prints the symmetric matrix alpha A Aᵀ + beta C, or with --trans alpha Aᵀ A + beta C, each entry rounded once. Only one triangle of C is read (--uplo); both triangles of the result are printed.

Examples:

  halfulp syrk A.mtx
  halfulp syrk A.mtx C.mtx --trans --alpha 0.5 --uplo upper --format dd`
}

func (c *syrkCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	j, err := c.job(env, "syrk", true, validProduct, c.A, c.C)
	if err != nil {
		return err
	}
	alpha, beta, err := j.factors(&c.productFlags, "C", c.C)
	if err != nil {
		return err
	}
	a, err := j.matrix(c.A)
	if err != nil {
		return err
	}
	n, _ := dims(a, c.Trans)
	old, err := j.oldResult(c.C, n, n)
	if err != nil {
		return err
	}
	return j.newResult(n, n, func(z *halfulp.Matrix, opt *halfulp.Options) error {
		if old == nil {
			err := halfulp.Syrk(c.uplo(), transpose(c.Trans), alpha, a, halfulp.Float(0), z, opt)
			mirror(z, c.uplo())
			return err
		}
		// C may have another format than the result, which Syrk does not support.
		old = old.Clone() // it may be A
		mirror(old, c.uplo())
		return halfulp.GemmTo(transpose(c.Trans), transpose(!c.Trans), alpha, a, a, beta, old, z, opt)
	})
}

// mirror copies a triangle of a matrix to the other one.
func mirror(m *halfulp.Matrix, uplo halfulp.Uplo) {
	for i := range m.Rows() {
		for k := range i {
			if uplo == halfulp.Upper {
				m.Set(i, k, m.At(k, i))
			} else {
				m.Set(k, i, m.At(i, k))
			}
		}
	}
}
