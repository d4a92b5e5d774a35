package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/textio"
)

type solveGJCmd struct {
	A        string     `arg:"" name:"A" help:"Square matrix; - is standard input."`
	B        string     `arg:"" name:"B" help:"Right-hand sides: a matrix with as many rows, or a vector."`
	Format   formatFlag `group:"result" default:"dd" placeholder:"FORMAT" help:"Format of the result and of the arithmetic: dd, td, qd (2, 3 or 4 doubles). Default ${default}."`
	Pivoting string     `group:"run" default:"partial" enum:"partial,zero" placeholder:"RULE" help:"partial: rows are exchanged for the largest pivot; zero: rows are exchanged only where a pivot is zero, the paper's rule. Default ${default}."`
	Updates  string     `group:"run" default:"native" enum:"native,exact" placeholder:"HOW" help:"native: arithmetic of the format; exact: blocks of columns are updated by correctly rounded products. Default ${default}."`
	Block    int        `group:"run" placeholder:"N" help:"With --updates exact: columns of a block, a multiple of 32 (default 256)."`
	inputFlags
	printFlags
	runFlags
}

func (solveGJCmd) Help() string {
	return `Prints the solution X of A X = B by Gauss-Jordan elimination in double-double, triple-double or quad-double arithmetic (package expansion). X is not correctly rounded: it solves a system whose matrix differs from A by a few roundings of its growing entries. The bits do not depend on threads or device.

Systems with known solutions, solved beside the given one, give an estimate of how many digits of X can be trusted. Digits count from the leading digit of the largest entry in a column of X. If no digit can be trusted, X is not written and the exit status is 1. If fewer than half of the format's digits can be trusted, a warning says so. --stats shows the estimate, the condition number, and the largest entries of the exact residual B - A X.

The methods expansion-square and expansion-linear follow the paper: they eliminate column by column, on a GPU with one thread for each entry, in blocks of 8 x 8 or 128 threads. They support f64, too.

Operands are rounded to --format, of at most 212 bits (qd). The command solve supports all formats, and all its digits are right, whatever the condition of A.

Examples:

  halfulp solve-gj A.mtx b.mtx
  halfulp solve-gj A.mtx B.mtx --format qd --updates exact --stats --out X.mtx`
}

func (c *solveGJCmd) Run(env *cli.Environment) error {
	o := &expansion.SolveOptions{Block: c.Block, Estimate: true}
	if c.Pivoting == "zero" {
		o.Pivoting = expansion.ZeroPivoting
	}
	if c.Updates == "exact" {
		o.Updates = expansion.ExactUpdates
	}
	switch {
	case c.Block != 0 && o.Updates != expansion.ExactUpdates:
		return cli.Misuse("--block goes with --updates exact")
	case c.Block < 0 || c.Block%32 != 0:
		return cli.Misuse("--block: %d is not a positive multiple of 32", c.Block)
	}
	if err := solvable(c.Format.Format, c.Method); err != nil {
		return err
	}
	valid := func(opt *halfulp.Options) error { return expansion.Validate(opt) }
	j, err := newJob(env, "solve-gj", &c.inputFlags, c.Format.Format, &c.printFlags, &c.runFlags, true, valid, c.A, c.B)
	if err != nil {
		return err
	}
	j.rounds = true
	a, b, err := j.twoMatrices(c.A, c.B)
	if err != nil {
		return err
	}
	if err := checkSquare(c.A, a); err != nil {
		return err
	}
	if b, err = rightSides(c.A, a, c.B, b); err != nil {
		return err
	}
	o.Options = *j.options()
	x := halfulp.NewMatrix(b.NumberFormat(), b.Rows(), b.Cols())
	var stats halfulp.Stats
	o.Stats = &stats
	err = expansion.Solve(a, b, x, o)
	j.finish()
	if err != nil {
		if errors.Is(err, expansion.ErrNoPivot) {
			// without the name of the routine
			return fmt.Errorf("%s: %w", shown(c.A), errors.Unwrap(err))
		}
		return err
	}
	if c.Stats != noStats {
		if err := j.exactResiduals(a, b, x); err != nil {
			return err
		}
	}
	if k := stats.Condition; k != nil && k.Digits < 1 {
		j.report(&stats)
		if err := j.showStats(0); err != nil {
			return err
		}
		return fmt.Errorf("%s: no digit of X can be trusted: %s", shown(c.A), c.remedy(x, k))
	} else if k != nil && 2*k.Digits < decimalDigits(x.NumberFormat()) && !c.Quiet {
		fmt.Fprintf(env.Stderr, "halfulp: warning: %s has a condition number of about %.0e: about %s of X can be trusted (an estimate)\n",
			shown(c.A), k.Number, textio.Count(k.Digits, "digit"))
	}
	return j.writeMatrix(x, &stats)
}

// solvable returns an error for formats that solve-gj does not support; it names the supported
// ones.
func solvable(f halfulp.Format, method string) error {
	if f == halfulp.Float64 && hasBlocks(halfulp.Method(method)) {
		return nil
	}
	for _, have := range []halfulp.Format{halfulp.DD, halfulp.TD, halfulp.QD} {
		if f == have {
			return nil
		}
	}
	for _, have := range []halfulp.Format{halfulp.DD, halfulp.TD, halfulp.QD} {
		if f.Bits() <= have.Bits() {
			return cli.Misuse("--format: %v: solve-gj computes in dd, td or qd: take --format %v, of %d bits, or halfulp solve, which has all formats", f, have, have.Bits())
		}
	}
	return cli.Misuse("--format: %v: solve-gj computes in dd, td or qd, of up to %d bits; halfulp solve has all formats", f, halfulp.QD.Bits())
}

// decimalDigits is the number of decimal digits that a format holds.
func decimalDigits(f halfulp.Format) int { return int(float64(f.Bits()) * math.Log10(2)) }

// remedy explains why no digit of a solution can be trusted, and suggests a remedy.
func (c *solveGJCmd) remedy(x *halfulp.Matrix, k *halfulp.Condition) string {
	if n := countNaN(x); n > 0 {
		return are(n) + " NaN: an entry or a pivot was NaN, or a pivot so small that entries overflowed"
	}
	why := fmt.Sprintf("its condition number is about %.0e or more, for the %s of %v (an estimate)", k.Number, textio.Count(decimalDigits(x.NumberFormat()), "digit"), x.NumberFormat())
	var more string
	switch x.NumberFormat() {
	case halfulp.Float64:
		more = ", --format dd has 16 more, td 32, qd 48"
	case halfulp.DD:
		more = ", --format td has 16 more, qd 32"
	case halfulp.TD:
		more = ", --format qd has 16 more"
	}
	if c.Pivoting == "zero" {
		more += ", --pivoting partial exchanges rows against growing errors"
	}
	return why + "; halfulp solve gives every digit right" + more
}

// exactResiduals finds the largest entries of the residual and of the right-hand sides.
func (j *job) exactResiduals(a, b, x *halfulp.Matrix) error {
	r := halfulp.NewMatrix(residualFormat, b.Rows(), b.Cols())
	opt := &halfulp.Options{Threads: int(j.how.Threads), Context: j.env.Ctx}
	if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(-1), a, x, halfulp.Float(1), b, r, opt); err != nil {
		return err
	}
	return j.residuals("B - A X", r, "B", b)
}

// residualFormat is the format of residuals: only an exact solution has a residual of 0.
var residualFormat = halfulp.MP(53)

// residualStats are the largest entries of a residual and of the right-hand sides.
type residualStats struct {
	Largest string `json:"largest"`
	OfB     string `json:"largest_of_b"`
}

// residuals prints these entries, or keeps them for the object of --stats=json.
func (j *job) residuals(what string, r *halfulp.Matrix, sides string, b *halfulp.Matrix) error {
	s := &residualStats{largest(r), largest(b)}
	if j.how.Stats == jsonStats {
		j.residual = s
		return nil
	}
	t := newRows(j.env.Stderr)
	t.row("largest entry of "+what, s.Largest)
	t.row("largest entry of "+sides, s.OfB)
	return t.Flush()
}

func countNaN(m *halfulp.Matrix) (n int64) {
	for i := range m.Rows() {
		for k := range m.Cols() {
			if m.At(i, k).IsNaN() {
				n++
			}
		}
	}
	return n
}

// largest returns the largest magnitude of an entry with three digits, NaN if there is a NaN.
func largest(m *halfulp.Matrix) string {
	x := new(big.Float)
	for i := range m.Rows() {
		for k := range m.Cols() {
			if m.At(i, k).IsNaN() {
				return "NaN"
			}
			if v := m.Big(i, k); v.Abs(v).Cmp(x) > 0 {
				x = v
			}
		}
	}
	if x.IsInf() {
		return "+Inf"
	}
	return x.Text('g', 3)
}
