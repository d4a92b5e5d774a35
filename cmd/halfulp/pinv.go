package main

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/linsolve"
)

// toleranceFlag selects the singular values that are treated as 0.
type toleranceFlag struct {
	RCond *numberText `group:"input" name:"rcond" placeholder:"C" help:"Treat singular values of at most C times the largest one as 0, as numpy does, for example 1e-15. Default: only those that are exactly 0."`
}

// tolerance returns the tolerance, nil without the flag.
func (t *toleranceFlag) tolerance(j *job) (*halfulp.Scalar, error) {
	if t.RCond == nil {
		return nil, nil
	}
	text := string(*t.RCond)
	c, loss, err := parseFactor(text, j.factorFormat(text))
	if err != nil {
		return nil, cli.Misuse("--rcond: %w", err)
	}
	if c.IsNaN() || c.IsInf(0) || c.Signbit() {
		return nil, cli.Misuse("--rcond: %s is no tolerance: want a finite number from 0 up", text)
	}
	j.warnInput("--rcond", lossOf(loss), c.NumberFormat())
	return &c, nil
}

// warnOpen warns, even with --quiet, of numbers that are not proved.
func (j *job) warnOpen(what string) {
	if k := j.solver.Undecided; k > 0 {
		fmt.Fprintf(j.env.Stderr, "halfulp: warning: %s that seem to be 0 or halfway between two numbers, without a proof: %d\n", what, k)
	}
}

type pinvCmd struct {
	A string `arg:"" name:"A" help:"Matrix; - is standard input."`
	toleranceFlag
	commonFlags
}

func (pinvCmd) Help() string {
	return `Prints the pseudo-inverse (Moore and Penrose) of the m x n matrix A, of any rank: the n x m matrix X with A X A = A and X A X = X for which A X and X A are symmetric. Every entry is the exact one, rounded once, whatever the condition of A.

The rank is exact: A consists of the numbers exactly as they are read. A matrix whose entries were rounded mostly has full rank, and then singular values near 1e-16, where exact ones would be 0, become entries near 1e16. --rcond 1e-15 treats them as 0, as numpy.linalg.pinv does by default: the singular values σ with σ ≤ C σ_max. The numbers that are compared are rounded once to the bits of the format of the result. A warning states how many entries then seem to be 0, or halfway between two numbers, without a proof.

Examples:

  halfulp pinv A.csv
  halfulp pinv A.csv --rcond 1e-15
  printf '1,2\n2,4\n' | halfulp pinv - --format dd`
}

func (c *pinvCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	j, a, err := c.matrixJob(env, "pinv", true, c.A, nil)
	if err != nil {
		return err
	}
	var opt eigen.Options
	if opt.RCond, err = c.tolerance(j); err != nil {
		return err
	}
	if err := j.there(&a); err != nil {
		return err
	}
	x, err := j.solution(c.A, func(run *halfulp.Options) (*halfulp.Matrix, error) {
		opt.Options = *run
		return eigen.Pinv(a, j.format, &opt)
	})
	if err != nil {
		return err
	}
	j.warnOpen("entries")
	return j.writeMatrix(x, j.solver)
}

type norm2Cmd struct {
	A string `arg:"" name:"A" help:"Matrix; - is standard input."`
	commonFlags
}

func (norm2Cmd) Help() string {
	return `Prints the 2-norm of the matrix A, its largest singular value, rounded once. (halfulp nrm2 prints the root of the sum of the squares of all entries, the Frobenius norm.)

Examples:

  halfulp norm2 A.mtx
  halfulp gen hilbert 30 --format mp:200 | halfulp norm2 - --format mp:100`
}

func (c *norm2Cmd) Run(env *cli.Environment) error {
	j, err := c.solverJob(env, "norm2", false, c.A)
	if err != nil {
		return err
	}
	a, err := j.scaledMatrix(c.A, nil)
	if err != nil {
		return err
	}
	if a.odd != nil {
		z, err := j.svd(c.A, a, j.format, eigen.SVDOptions{ValuesOnly: true, Largest: 1})
		if err != nil {
			return err
		}
		return j.writeScalar(z.S.At(0), *j.solver)
	}
	z, err := solved(j, c.A, func(opt *halfulp.Options) (halfulp.Scalar, error) {
		return eigen.Norm2(a.Matrix, j.format, opt)
	})
	if err != nil {
		return err
	}
	return j.writeScalar(z, *j.solver)
}

// condition2 prints the condition number of a matrix in the 2-norm.
func (j *job) condition2(file string, a *halfulp.Matrix) error {
	z, err := solved(j, file, func(opt *halfulp.Options) (halfulp.Scalar, error) {
		return eigen.Cond2(a, j.format, opt)
	})
	if err != nil {
		return err
	}
	j.warnOpen("condition numbers")
	return j.writeScalar(z, *j.solver)
}

// minimal is the solution of minimal norm, for A of any rank. A note states a rank that is too low
// for a unique solution.
func (j *job) minimal(file string, a, b *halfulp.Matrix, opt *eigen.LeastSquaresOptions) error {
	x, err := j.solution(file, func(run *halfulp.Options) (*halfulp.Matrix, error) {
		opt.Options.Options = *run
		if opt.RCond != nil {
			return eigen.LeastSquares(a, b, j.format, opt)
		}
		x, err := linsolve.LeastSquares(a, b, j.format, &linsolve.LeastSquaresOptions{Options: *run, Weights: opt.Weights})
		var low *linsolve.RankError
		if !errors.As(err, &low) {
			return x, err
		}
		if x, err = eigen.LeastSquares(a, b, j.format, opt); err == nil && !j.print.Quiet {
			j.finish()
			fmt.Fprintf(j.env.Stderr, "halfulp: note: the rank of the %d x %d matrix is %d (proved): of all least-squares solutions this one has minimal norm\n", low.Rows, low.Cols, low.Rank)
		}
		return x, err
	})
	if err != nil {
		return err
	}
	j.warnOpen("entries")
	return j.writeMatrix(x, j.solver)
}
