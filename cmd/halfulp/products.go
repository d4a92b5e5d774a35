package main

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/ozaki"
)

type gemvCmd struct {
	A     string `arg:"" name:"A" help:"Matrix; - is standard input."`
	X     string `arg:"" name:"x" help:"Vector."`
	Y     string `arg:"" name:"y" optional:"" help:"Vector to add beta times."`
	Trans bool   `group:"input" help:"Multiply by the transpose of A."`
	productFlags
	commonFlags
	rnsFlags
	compareFlags
}

func (gemvCmd) Help() string {
	return `Prints alpha A x + beta y, or with --trans alpha Aᵀ x + beta y, each entry rounded once.

Examples:

  halfulp gemv A.mtx x.mtx
  halfulp gemv A.mtx x.mtx y.mtx --alpha -1          # y - A x, the residual
  halfulp gemv A.mtx x.mtx --trans --format dd --out z.mtx
  halfulp gen hilbert 3 | halfulp gemv - x.mtx --stats
  halfulp gemv A.mtx x.mtx --method rns-gemv --format mp:424 --moduli 32 --stats
  halfulp gemv A.mtx x.mtx --method expansion --format dd` + rnsHelp("gemv") + expansionHelp
}

func (c *gemvCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	var choice *rnsChoice
	native := isExpansion(&c.runFlags)
	j, err := c.job(env, "gemv", true, validMethod(&choice, &c.commonFlags, &c.rnsFlags, native), c.A, c.X, c.Y)
	if err != nil {
		return err
	}
	j.rounds = native
	alpha, beta, err := j.factors(&c.productFlags, "y", c.Y)
	if err != nil {
		return err
	}
	a, err := j.matrix(c.A)
	if err != nil {
		return err
	}
	x, err := j.vector(c.X)
	if err != nil {
		return err
	}
	rows, cols := dims(a, c.Trans)
	if x.Len() != cols {
		return cli.Misuse("%s has %s%s, %s has %s: they must agree",
			shown(c.A), textio.Count(cols, "column"), transposed(c.Trans), shown(c.X), textio.Count(x.Len(), "entry"))
	}
	var y *halfulp.Vector
	var old *halfulp.Matrix
	if c.Y != "" {
		if y, err = j.vector(c.Y); err != nil {
			return err
		}
		if y.Len() != rows {
			return cli.Misuse("%s has %s%s, %s has %s: they must agree",
				shown(c.A), textio.Count(rows, "row"), transposed(c.Trans), shown(c.Y), textio.Count(y.Len(), "entry"))
		}
		old = y.Matrix()
	}
	return j.product(product{
		alpha: alpha, a: oriented(a, c.Trans), b: x.Matrix(), beta: beta, c: old, compare: c.Compare,
		run: func(z *halfulp.Matrix) (halfulp.Stats, error) {
			if native {
				return j.expansionProduct(c.Trans, false, alpha, a, x.Matrix(), beta, old, z)
			}
			if choice != nil {
				return j.rnsGemv(choice, c.Trans, alpha, a, x, beta, y, z.Col(0))
			}
			var st halfulp.Stats
			err := halfulp.GemvTo(transpose(c.Trans), alpha, a, x, beta, y, z.Col(0), j.options().WithStats(&st))
			return st, err
		},
	})
}

type gemmCmd struct {
	A      string `arg:"" name:"A" help:"Left matrix; - is standard input."`
	B      string `arg:"" name:"B" help:"Right matrix."`
	C      string `arg:"" name:"C" optional:"" help:"Matrix to add beta times."`
	Transa bool   `group:"input" help:"Multiply by the transpose of A."`
	Transb bool   `group:"input" help:"Multiply by the transpose of B."`
	productFlags
	commonFlags
	ozakiFlags
	compareFlags
}

func (gemmCmd) Help() string {
	return `Prints alpha A B + beta C, each entry rounded once. --transa and --transb replace A and B by their transposes.

Examples:

  halfulp gemm A.mtx B.mtx
  halfulp gemm A.mtx A.mtx --transa --format mp:424 --out C.mtx.gz
  halfulp gemm A.mtx B.mtx C.mtx --beta -1 --stats
  halfulp gemm A.mtx B.mtx --method ozaki:4 --stats
  halfulp gemm A.mtx B.mtx --method expansion --format qd` + ozakiHelp + expansionHelp + ` expansion-square is the same arithmetic with a paper's blocks of 8 x 8 threads on GPUs, and supports f64, too.`
}

func (c *gemmCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	var slices *ozaki.Options
	native := isExpansion(&c.runFlags) || hasBlocks(halfulp.Method(c.Method))
	valid := func(opt *halfulp.Options) (err error) {
		if slices, err = ozakiOptions(&c.runFlags, &c.ozakiFlags); err != nil {
			return err
		}
		if slices != nil {
			return slices.Validate()
		}
		if native {
			return validExpansion(c.Format.Format, opt)
		}
		return validProduct(opt)
	}
	j, err := c.job(env, "gemm", true, valid, c.A, c.B, c.C)
	if err != nil {
		return err
	}
	j.rounds = native
	if c.Compare {
		j.grid = nil // float64 products need entries on the host
	}
	alpha, beta, err := j.factors(&c.productFlags, "C", c.C)
	if err != nil {
		return err
	}
	a, err := j.matrix(c.A)
	if err != nil {
		return err
	}
	b, err := j.matrix(c.B)
	if err != nil {
		return err
	}
	rows, inner := dims(a, c.Transa)
	innerB, cols := dims(b, c.Transb)
	if inner != innerB {
		return cli.Misuse("%s has %s%s, %s has %s%s: they must agree",
			shown(c.A), textio.Count(inner, "column"), transposed(c.Transa), shown(c.B), textio.Count(innerB, "row"), transposed(c.Transb))
	}
	var old *halfulp.Matrix
	if c.C != "" {
		if old, err = j.matrix(c.C); err != nil {
			return err
		}
		if r, k := old.Dims(); r != rows || k != cols {
			return cli.Misuse("%s is %d x %d, the product %d x %d: they must agree", shown(c.C), r, k, rows, cols)
		}
	}
	return j.product(product{
		alpha: alpha, a: oriented(a, c.Transa), b: oriented(b, c.Transb), beta: beta, c: old, compare: c.Compare,
		run: func(z *halfulp.Matrix) (halfulp.Stats, error) {
			if native {
				return j.expansionProduct(c.Transa, c.Transb, alpha, a, b, beta, old, z)
			}
			if slices != nil {
				return j.ozakiProduct(*slices, c.Transa, c.Transb, alpha, a, b, beta, old, z)
			}
			var st halfulp.Stats
			err := halfulp.GemmTo(transpose(c.Transa), transpose(c.Transb), alpha, a, b, beta, old, z, j.options().WithStats(&st))
			return st, err
		},
	})
}

// product is alpha A B + beta C, the operands transposed as requested. c is nil without C; run is
// the routine that stores the product in z.
type product struct {
	alpha   halfulp.Scalar
	a, b    *halfulp.Matrix
	beta    halfulp.Scalar
	c       *halfulp.Matrix
	compare bool
	run     func(z *halfulp.Matrix) (halfulp.Stats, error)
}

func (j *job) product(p product) error {
	rows, cols := p.a.Rows(), p.b.Cols()
	if err := j.checkSize(rows, cols); err != nil {
		return fmt.Errorf("the product: %w", err)
	}
	z, err := j.newMatrix(rows, cols)
	if err != nil {
		return err
	}
	stats, err := p.run(z)
	j.finish()
	if err != nil {
		return err
	}
	if p.compare {
		plain := plainGemm(p.alpha.Float64(), p.a, p.b, p.beta.Float64(), p.c)
		if err := writeComparison(j.env.Stderr, z, plain, j.text); err != nil {
			return err
		}
	}
	return j.writeMatrix(z, &stats)
}

func transposed(t bool) string {
	if t {
		return " once transposed"
	}
	return ""
}

func oriented(a *halfulp.Matrix, t bool) *halfulp.Matrix {
	if t {
		return a.T()
	}
	return a
}

func dims(a *halfulp.Matrix, t bool) (rows, cols int) { return oriented(a, t).Dims() }
