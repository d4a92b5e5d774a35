package main

import (
	"fmt"
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/linsolve"
	"github.com/halfulp/halfulp/rational"
)

type verifyCmd struct {
	What string `arg:"" name:"WHAT" enum:"solve,gemm,eigh,svd" help:"solve: X should solve A X = B; gemm: X should be A B; eigh: B should be the eigenvalues of A, and X the eigenvectors; svd: B should be the singular values of A, or B, X and VT should be U, s and Vt of A = U diag(s) Vt."`
	A    string `arg:"" name:"A" help:"Matrix; - is standard input."`
	B    string `arg:"" name:"B" help:"Matrix or vector; for eigh and svd the values, or a .npz file with all results."`
	X    string `arg:"" name:"X" optional:"" help:"Result of some program for A and B; for eigh the eigenvectors, which may be left out."`
	VT   string `arg:"" name:"VT" optional:"" help:"For svd the right singular vectors, as rows, after U and s."`
	triangleFlag
	commonFlags
}

func (verifyCmd) Help() string {
	return `Compares X, from any program, with the exact solution of A X = B, or with the exact product A B. It counts the entries that are correctly rounded to --format, faithful (less than an ulp away) and wrong, and prints the largest error in ulps. The exit status is 1 if an entry is wrong. With --json the row and column of the largest error count from 0.

Numbers of X are rounded to --format. Numbers of A and B enter as they are read, see --in; with --in exact their decimals and fractions are the data, for eigh and svd those of A. For solve, A is n x n, B and X are n x k; for gemm, A is m x n, B is n x k, X is m x k. A vector may be a row or a column.

For eigh, A is symmetric (or --uplo selects a triangle), B has its n eigenvalues and X its eigenvectors as columns, from numpy.linalg.eigh for example. Eigenvectors are compared up to their signs, and vectors of clusters, which are not unique, are not compared. The result also has the median error of the entries that are not correctly rounded.

For svd, either A and the singular values s are given, or A, U, s and Vt, from numpy.linalg.svd for example. Pairs of singular vectors are compared up to their common sign. Vectors of clusters are not compared, nor those that complete U or Vt. Fewer singular values than A has are compared with the largest ones.

For eigh and svd, B may be a .npz file with all results: w and V, or U, s and Vt (numpy's names S and Vh, eigenvalues and eigenvectors are known, too).

Examples:

  halfulp verify solve A.npy b.npy x.npy
  halfulp verify gemm A.mtx B.mtx C.mtx --format f32
  halfulp verify solve A.csv b.csv x.csv --in exact --format dd --json
  halfulp eigh A.npy --out F.npz && halfulp verify eigh A.npy F.npz:w F.npz:V
  halfulp svd A.npy --out F.npz && halfulp verify svd A.npy F.npz
  halfulp svd A.npy --s s.npy --u U.npy --vt Vt.npy && halfulp verify svd A.npy U.npy s.npy Vt.npy`
}

// verifyResult is the JSON of verify.
type verifyResult struct {
	Command string `json:"command"`
	Format  string `json:"format"`
	linsolve.Accuracy
	Largest string    `json:"largest_error_ulps"`
	Stats   *runStats `json:"stats"`
}

func (c *verifyCmd) Run(env *cli.Environment) error {
	if err := c.needed(); err != nil {
		return err
	}
	j, err := c.solverJob(env, "verify", false, c.A, c.B, c.X, c.VT)
	if err != nil {
		return err
	}
	switch c.What {
	case "eigh":
		return c.eigh(j)
	case "svd":
		return c.svd(j)
	}
	if j.in.exact() {
		v, err := c.exactly(j)
		if err != nil {
			return err
		}
		return c.write(j, v)
	}
	a, b, err := j.twoMatrices(c.A, c.B)
	if err != nil {
		return err
	}
	x, err := j.matrix(c.X)
	if err != nil {
		return err
	}
	compare := linsolve.VerifyProduct
	if c.What == "solve" {
		compare = linsolve.VerifySolution
		if err := checkSquare(c.A, a); err != nil {
			return err
		}
		b, err = finiteSystem(c.A, a, c.B, b)
	} else {
		b, err = rightFactor(c, a, b)
		if err == nil {
			if err = checkFinite(c.A, a); err == nil {
				err = checkFinite(c.B, b)
			}
		}
	}
	if err != nil {
		return err
	}
	if x, err = shaped(c.X, x.Convert(j.format), a.Rows(), b.Cols()); err != nil {
		return err
	}
	v, err := solved(j, c.A, func(opt *halfulp.Options) (linsolve.Accuracy, error) {
		return compare(a, b, x, opt)
	})
	if err != nil {
		return err
	}
	return c.write(j, v)
}

// write prints the accuracy of X.
func (c *verifyCmd) write(j *job, v linsolve.Accuracy) (err error) {
	j.report(j.solver)
	largest := shortMeasure(v.Largest, 3)
	if v.Largest == math.MaxFloat64 {
		largest = "more than " + largest
	}
	unit := "ulps"
	switch {
	case largest == "1" && v.Largest < 1: // faithful, as counted
		largest = "0.999"
	case largest == "1":
		unit = "ulp"
	}
	if c.JSON {
		err = j.writeText(jsonText(verifyResult{"verify", c.Format.String(), v, largest, j.resultStats(j.solver)}))
	} else {
		s := fmt.Sprintf("entries\t%d\ncorrectly rounded to %v\t%d\nfaithful\t%d\nwrong\t%d\n", v.Entries, c.Format.Format, v.Correct, v.Faithful, v.Wrong)
		if v.Correct < v.Entries {
			s += fmt.Sprintf("largest error\t%s %s, in row %d, column %d\n", largest, unit, v.Row+1, v.Col+1)
		}
		err = j.writeTable(s)
	}
	if err != nil {
		return err
	}
	if v.Wrong > 0 {
		is := "are"
		if v.Wrong == 1 {
			is = "is"
		}
		return fmt.Errorf("%s: %d of %s %s wrong", shown(c.X), v.Wrong, textio.Count(v.Entries, "entry"), is)
	}
	return nil
}

// rightFactor returns B as a matrix with as many rows as A has columns. A row with as many entries
// becomes a column.
func rightFactor[M turned[M]](c *verifyCmd, a, b M) (M, error) {
	if b.Rows() != a.Cols() && b.Rows() == 1 && b.Cols() == a.Cols() {
		b = b.T()
	}
	if b.Rows() != a.Cols() {
		var none M
		return none, cli.Misuse("%s has %s, %s has %s: they must agree", shown(c.A), textio.Count(a.Cols(), "column"), shown(c.B), textio.Count(b.Rows(), "row"))
	}
	return b, nil
}

// exactly compares X with the exact solution or product of exact numbers.
func (c *verifyCmd) exactly(j *job) (v linsolve.Accuracy, err error) {
	a, err := j.exact(c.A)
	if err != nil {
		return v, err
	}
	b, err := j.exact(c.B)
	if err != nil {
		return v, err
	}
	if c.What == "solve" {
		if err = checkSquare(c.A, a); err == nil {
			b, err = rightSides(c.A, a, c.B, b)
		}
	} else {
		b, err = rightFactor(c, a, b)
	}
	if err != nil {
		return v, err
	}
	x, err := j.inFormat(c.X)
	if err != nil {
		return v, err
	}
	if x, err = shaped(c.X, x.Convert(j.format), a.Rows(), b.Cols()); err != nil {
		return v, err
	}
	if c.What == "solve" {
		da, db, err := j.overRows(c.A, a, c.B, b)
		if err != nil {
			return v, err
		}
		return solved(j, c.A, func(opt *halfulp.Options) (linsolve.Accuracy, error) { return linsolve.VerifySolution(da, db, x, opt) })
	}
	if err := j.checkProduct(a, b); err != nil {
		return v, err
	}
	return computed(j, c.A, func(opt *halfulp.Options) (linsolve.Accuracy, error) {
		z, err := rational.Mul(a, b, opt)
		if err != nil {
			return v, err
		}
		return accuracyOf(x, z)
	})
}

// accuracyOf compares the entries of X with exact ones.
func accuracyOf(x *halfulp.Matrix, z *rational.Matrix) (v linsolve.Accuracy, err error) {
	f := x.NumberFormat()
	nearest, err := z.Round(f)
	if err != nil {
		return v, err
	}
	for i := range x.Rows() {
		for k := range x.Cols() {
			v.Entries++
			have := x.At(i, k)
			if !have.IsNaN() && have.Cmp(nearest.At(i, k)) == 0 {
				v.Correct++
				continue
			}
			off, faithful := math.Inf(1), false
			if !have.IsNaN() && !have.IsInf(0) {
				exact := z.At(i, k)
				unit, _ := ulp(new(big.Float).SetMode(big.ToZero).SetPrec(referenceBits).SetRat(exact), f).Rat(nil)
				value, _ := have.Big().Rat(new(big.Rat))
				d := value.Sub(value, exact)
				d.Quo(d.Abs(d), unit)
				faithful = d.Cmp(big.NewRat(1, 1)) < 0
				off, _ = d.Float64()
				off = min(off, math.MaxFloat64)
			}
			if faithful {
				v.Faithful++
			} else {
				v.Wrong++
			}
			if off > float64(v.Largest) {
				v.Largest, v.Row, v.Col = halfulp.Measure(off), i, k
			}
		}
	}
	return v, nil
}
