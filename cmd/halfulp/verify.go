package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/linsolve"
)

type verifyCmd struct {
	What string `arg:"" name:"WHAT" enum:"solve,gemm" help:"solve: X is to solve A X = B; gemm: X is to be A B."`
	A    string `arg:"" name:"A" help:"Matrix; - is standard input."`
	B    string `arg:"" name:"B" help:"Matrix or vector."`
	X    string `arg:"" name:"X" help:"What some program made of them."`
	inputFlags
	resultFlags
	runFlags
}

func (verifyCmd) Help() string {
	return `Compares X, from whatever program, with the exact solution of A X = B, or with the exact product A B: how many entries are correctly rounded to --format, how many faithful (less than an ulp away), how many wrong, and the largest error in ulps. The exit status is 1 if an entry is wrong.

Numbers of X are rounded to --format when they are read, those of A and B to --in, by default to --format as well.

Examples:

  halfulp verify solve A.npy b.npy x.npy
  halfulp verify gemm A.mtx B.mtx C.mtx --format f32
  halfulp verify solve A.csv b.csv x.csv --in mp:200 --format dd --json`
}

// verifyResult is its JSON.
type verifyResult struct {
	Command string `json:"command"`
	Format  string `json:"format"`
	linsolve.Accuracy
	Largest string    `json:"largest_error_ulps"`
	Stats   *runStats `json:"stats"`
}

func (c *verifyCmd) Run(env *cli.Environment) error {
	valid := func(opt *halfulp.Options) error { return opt.Validate() }
	j, err := newJob(env, "verify", &c.inputFlags, c.Format.Format, &c.printFlags, &c.runFlags, false, valid, c.A, c.B, c.X)
	if err != nil {
		return err
	}
	a, b, err := j.twoMatrices(c.A, c.B)
	if err != nil {
		return err
	}
	x, err := j.matrix(c.X)
	if err != nil {
		return err
	}
	x = x.Convert(c.Format.Format)
	compare, rows := linsolve.VerifyProduct, a.Cols()
	if c.What == "solve" {
		compare, rows = linsolve.VerifySolution, a.Rows()
		if err := checkSquare(c.A, a); err != nil {
			return err
		}
	}
	if b.Rows() != rows && b.Rows() == 1 && b.Cols() == rows { // a vector
		b = b.T()
	}
	if b.Rows() != rows {
		return cli.Misuse("%s is %d x %d, %s %d x %d: they do not fit", shown(c.A), a.Rows(), a.Cols(), shown(c.B), b.Rows(), b.Cols())
	}
	if b.Cols() == 1 && x.Rows() == 1 && x.Cols() == a.Rows() {
		x = x.T()
	}
	if x.Rows() != a.Rows() || x.Cols() != b.Cols() {
		return cli.Misuse("%s is %d x %d, want %d x %d", shown(c.X), x.Rows(), x.Cols(), a.Rows(), b.Cols())
	}
	v, stats, err := compare(a, b, x, j.options())
	j.finish()
	if err != nil {
		return named(c.A, err)
	}
	j.solver = &stats
	if err := j.report(&stats.Stats); err != nil {
		return err
	}
	largest := fmt.Sprintf("%.3g", v.Largest)
	text := jsonText(verifyResult{"verify", c.Format.String(), v, largest, j.runStats(&stats.Stats)})
	if !c.JSON {
		var s strings.Builder
		t := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "entries\t%d\ncorrectly rounded to %v\t%d\nfaithful\t%d\nwrong\t%d\n", v.Entries, c.Format.Format, v.Correct, v.Faithful, v.Wrong)
		if v.Correct < v.Entries {
			fmt.Fprintf(t, "largest error\t%s ulps, in row %d, column %d\n", largest, v.Row+1, v.Col+1)
		}
		if err := t.Flush(); err != nil {
			return err
		}
		text = s.String()
	}
	if err := j.writeText(text); err != nil {
		return err
	}
	if v.Wrong > 0 {
		return fmt.Errorf("%s: %d of %d entries are wrong", shown(c.X), v.Wrong, v.Entries)
	}
	return nil
}
