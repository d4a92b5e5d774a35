package main

import (
	"errors"
	"fmt"
	"math"
	"text/tabwriter"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
)

type solveGJCmd struct {
	A        string     `arg:"" name:"A" help:"Square matrix; - is standard input."`
	B        string     `arg:"" name:"B" help:"Right-hand sides: a matrix with as many rows, or a vector."`
	Format   formatFlag `group:"result" default:"dd" placeholder:"FORMAT" help:"Format of the result and of the arithmetic: dd, td, qd (2, 3 or 4 doubles). Default ${default}."`
	Pivoting string     `group:"run" default:"partial" enum:"partial,zero" placeholder:"RULE" help:"partial: rows are exchanged for the largest pivot; zero: only where a pivot is zero, the paper's rule. Default ${default}."`
	Updates  string     `group:"run" default:"native" enum:"native,exact" placeholder:"HOW" help:"native: in the arithmetic of the format; exact: blocks of columns by correctly rounded products. Default ${default}."`
	Block    int        `group:"run" placeholder:"N" help:"With --updates exact: columns of a block, a multiple of 32 (default 256)."`
	inputFlags
	printFlags
	runFlags
}

func (solveGJCmd) Help() string {
	return `Prints the solution X of A X = B by Gauss-Jordan elimination in double-double, triple-double or quad-double arithmetic (package expansion). X is not correctly rounded: it solves a system whose matrix differs from A by a few roundings of its growing entries. --stats shows the largest entries of the exact residual B - A X. The bits do not depend on threads or device.

Operands are rounded to --format.

Examples:

  halfulp solve-gj A.mtx b.mtx
  halfulp solve-gj A.mtx B.mtx --format qd --updates exact --stats --out X.mtx`
}

func (c *solveGJCmd) Run(env *environment) error {
	o := &expansion.SolveOptions{Block: c.Block}
	if c.Pivoting == "zero" {
		o.Pivoting = expansion.ZeroPivoting
	}
	if c.Updates == "exact" {
		o.Updates = expansion.ExactUpdates
	}
	switch {
	case c.Block != 0 && o.Updates != expansion.ExactUpdates:
		return misuse("--block goes with --updates exact")
	case c.Block < 0 || c.Block%32 != 0:
		return misuse("--block: %d is not a positive multiple of 32", c.Block)
	}
	try := func(opt *halfulp.Options) error {
		if err := tryExpansion(c.Format.Format, &halfulp.Options{Method: opt.Method}); err != nil {
			return err
		}
		none := halfulp.NewMatrix(c.Format.Format, 0, 0)
		_, err := expansion.Solve(none, none, &expansion.SolveOptions{Options: opt})
		return err
	}
	j, err := newJob(env, "solve-gj", &c.inputFlags, c.Format.Format, &c.printFlags, &c.runFlags, true, try, c.A, c.B)
	if err != nil {
		return err
	}
	j.rounds = true
	a, err := j.matrix(c.A)
	if err != nil {
		return err
	}
	b, err := j.matrix(c.B)
	if err != nil {
		return err
	}
	if a.Rows() != a.Cols() {
		return misuse("%s is %d x %d: it must be square", shown(c.A), a.Rows(), a.Cols())
	}
	if b.Rows() != a.Rows() && b.Rows() == 1 && b.Cols() == a.Rows() { // a vector
		b = b.T()
	}
	if b.Rows() != a.Rows() {
		return misuse("%s is %d x %d, %s %d x %d: they must have as many rows", shown(c.A), a.Rows(), a.Cols(), shown(c.B), b.Rows(), b.Cols())
	}
	start := time.Now()
	o.Options = j.options()
	x, err := expansion.Solve(a, b, o)
	j.finish()
	if err != nil {
		if errors.Is(err, expansion.ErrSingular) {
			return fmt.Errorf("%s: %w", shown(c.A), errors.Unwrap(err)) // without the name of the routine
		}
		return err
	}
	if n := countNaN(x); n > 0 && !c.Quiet {
		fmt.Fprintf(env.stderr, "halfulp: warning: %s NaN: a pivot was NaN, or so small that the entries overflowed\n", are(n))
	}
	if c.Stats {
		if err := j.solveStats(a, b, x, time.Since(start)); err != nil {
			return err
		}
	}
	return j.writeMatrix(x, nil)
}

// solveStats prints the largest entries of the residual and of the right-hand sides.
func (j *job) solveStats(a, b, x *halfulp.Matrix, took time.Duration) error {
	r := halfulp.NewMatrix(halfulp.Float64, b.Rows(), b.Cols())
	opt := &halfulp.Options{Threads: j.how.Threads, Context: j.env.ctx}
	if _, err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(-1), a, x, halfulp.Float(1), b, r, opt); err != nil {
		return err
	}
	t := tabwriter.NewWriter(j.env.stderr, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "method\t%s\n", expansion.Method)
	fmt.Fprintf(t, "largest entry of B - A X\t%.3g\n", largest(r))
	fmt.Fprintf(t, "largest entry of B\t%.3g\n", largest(b))
	fmt.Fprintf(t, "time: read\t%v\n", rounded(j.reading))
	fmt.Fprintf(t, "time: solve\t%v\n", rounded(took))
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

// largest returns the largest magnitude of an entry, NaN if there is one.
func largest(m *halfulp.Matrix) float64 {
	x := 0.0
	for i := range m.Rows() {
		for k := range m.Cols() {
			x = math.Max(x, math.Abs(m.Float64(i, k)))
		}
	}
	return x
}
