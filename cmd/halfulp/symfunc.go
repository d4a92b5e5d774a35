package main

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/cli"
)

type symFuncCmd struct {
	Func string `arg:"" name:"FUNC" enum:"sqrt,invsqrt,exp,log,abs,sign,psd" help:"sqrt, invsqrt, exp, log, abs, sign or psd: see the list above."`
	A    string `arg:"" name:"A" help:"Symmetric matrix; - is standard input."`
	triangleFlag
	commonFlags
}

func (symFuncCmd) Help() string {
	return `Prints f(A) = V diag(f(w)) V' for a symmetric matrix A with eigenvalues w and orthonormal eigenvectors V, every entry rounded once, whatever the condition of A:

  sqrt     square root, X X = A     for w ≥ 0
  invsqrt  inverse of sqrt(A)       for w > 0
  exp      exponential              for |w| ≤ 2^30
  log      natural logarithm        for w > 0
  abs      |w|: square root of A A
  sign     -1, 0 or 1
  psd      max(w, 0): the nearest positive semidefinite matrix in the Frobenius norm

An eigenvalue outside of the domain of the function is an error, which names it. Eigenvalues that are 0 are proved to be 0. (halfulp map sqrt computes the root of every entry; halfulp expm takes any square matrix.)

A warning states how many entries seem to be 0, or halfway between two numbers of the format, without a proof. A matrix that is not symmetric is an error, which names the first entry that differs. With --uplo only one triangle is read.

Examples:

  halfulp symfunc sqrt A.mtx
  halfulp symfunc log A.csv --format mp:200 --out L.mtx
  halfulp symfunc psd A.npy --uplo lower --out P.npy`
}

// symFunctions are the functions of symmetric matrices.
var symFunctions = map[string]eigen.Function{
	"sqrt": eigen.Sqrt, "invsqrt": eigen.InvSqrt, "exp": eigen.Exp, "log": eigen.Log, "abs": eigen.Abs, "sign": eigen.Sign, "psd": eigen.Positive,
}

func (c *symFuncCmd) Run(env *cli.Environment) error {
	j, err := c.solverJob(env, "symfunc", true, c.A)
	if err != nil {
		return err
	}
	a, err := j.symmetricScaled(c.A, c.Uplo)
	if err != nil {
		return err
	}
	x, err := j.symFunc(c.A, c.Func, a)
	if err != nil {
		return err
	}
	j.warnOpen("entries")
	return j.writeMatrix(x, j.solver)
}

type polarCmd struct {
	A string `arg:"" name:"A" help:"Matrix; - is standard input."`
	U string `group:"result" placeholder:"FILE" help:"Write U to FILE."`
	H string `group:"result" placeholder:"FILE" help:"Write H to FILE."`
	commonFlags
}

func (polarCmd) Help() string {
	return `Prints the polar decomposition A = U H of an m x n matrix: H is n x n, symmetric and positive semidefinite, the square root of A' A, and U is m x n. If the columns of A are linearly independent, the columns of U are orthonormal, and U is the matrix with orthonormal columns that is nearest to A. Otherwise U x = 0 for every x with A x = 0. Every entry is rounded once, whatever the condition of A. U and H are the results of scipy.linalg.polar.

A warning states how many entries seem to be 0, or halfway between two numbers of the format, without a proof.` + factorsHelp + `

Examples:

  halfulp polar A.mtx
  halfulp polar A.csv --format dd --u U.mtx --h H.mtx
  halfulp polar A.npy --out F.npz                    # numpy: F["U"] @ F["H"]`
}

// polarFactors are the factors of a polar decomposition.
type polarFactors struct{ u, h *halfulp.Matrix }

func (c *polarCmd) Run(env *cli.Environment) error {
	j, err := c.factorsJob(env, "polar", false, "", []string{c.U, c.H}, c.A)
	if err != nil {
		return err
	}
	a, err := j.scaledMatrix(c.A, nil)
	if err != nil {
		return err
	}
	z, err := j.polar(c.A, a)
	if err != nil {
		return err
	}
	j.warnOpen("entries")
	return j.writeFactors([]namedFactor{{name: "U", file: c.U, matrix: z.u}, {name: "H", file: c.H, matrix: z.h}})
}
