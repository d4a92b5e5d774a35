package main

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/textio"
)

type spmvCmd struct {
	A string `arg:"" name:"A" help:"Matrix; a Matrix Market coordinate file or a sparse .npz of SciPy stays sparse; - is standard input."`
	X string `arg:"" name:"x" help:"Vector."`
	commonFlags
	sparseFlags
	compareFlags
}

func (spmvCmd) Help() string {
	return `Prints A x for a sparse matrix A, each entry rounded once. Each row is one dot product, computed on the CPU.

Examples:

  halfulp spmv A.mtx x.mtx
  halfulp spmv A.mtx.gz x.mtx --format qd --out y.mtx
  halfulp spmv A.mtx x.mtx --method rns-csr --precision 212 --stats
  halfulp spmv A.mtx x.mtx --method rns-jadv --row-threads 4 --format mp:106 --device cuda:0` + rnsHelp("spmv") + `

rns-dia cannot store explicit zeros. rns-ell and rns-dia pad every row, to the length of the longest row or to the number of diagonals, and may need much memory. A matrix of float64 numbers is stored as float64.`
}

func (c *spmvCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return (&gemvCmd{A: c.A, X: c.X, commonFlags: c.commonFlags, compareFlags: c.compareFlags}).exactly(env)
	}
	var choice *rnsChoice
	valid := func(opt *halfulp.Options) (err error) {
		if choice, err = c.check(&c.runFlags, c.Format.Format); err != nil || choice != nil {
			return err
		}
		if opt.Device != "auto" && opt.Device != halfulp.CPU {
			return cli.Misuse("--device %s: exact products of sparse matrices run on the CPU only, methods rns-... also on GPUs", opt.Device)
		}
		return validDirect(opt)
	}
	j, err := c.job(env, "spmv", true, valid, c.A, c.X)
	if err != nil {
		return err
	}
	a, err := j.sparse(c.A)
	if err != nil {
		return err
	}
	x, err := j.vector(c.X)
	if err != nil {
		return err
	}
	if x.Len() != a.Cols {
		return cli.Misuse("%s has %s, %s has %s: they must agree", shown(c.A), textio.Count(a.Cols, "column"), shown(c.X), textio.Count(x.Len(), "entry"))
	}
	if err := j.how.Memory.checkSize(j.format, a.Rows, 1); err != nil {
		return fmt.Errorf("the product: %w", err)
	}
	z := halfulp.NewVector(j.format, a.Rows)
	var stats halfulp.Stats
	if choice != nil {
		stats, err = j.rnsSpMV(choice, a, x, z)
	} else {
		stats, err = j.exactSpMV(a, x, nil, z, j.startProgress(j.command))
	}
	j.finish()
	if err != nil {
		return err
	}
	if c.Compare {
		if err := writeComparison(env.Stderr, z.Matrix(), plainSpMV(a, x), j.text); err != nil {
			return err
		}
	}
	return j.writeMatrix(z.Matrix(), &stats)
}
