package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
)

type mapCmd struct {
	Func   string     `arg:"" name:"FUNC" help:"What to compute: see the list above."`
	X      string     `arg:"" name:"X" help:"Matrix; - is standard input."`
	Y      string     `arg:"" name:"Y" optional:"" help:"Second operand of the same shape."`
	Z      string     `arg:"" name:"Z" optional:"" help:"Third operand of the same shape."`
	Format formatFlag `group:"result" default:"dd" placeholder:"FORMAT" help:"Format of the result and of the arithmetic: dd, td, qd (2, 3 or 4 doubles). Default ${default}."`
	inputFlags
	printFlags
	runFlags
}

// mapped is a function that map knows.
type mapped struct {
	name     string
	operands int
	run      func(z *halfulp.Matrix, x []*halfulp.Matrix, opt *halfulp.Options) error
	bound    func(words int) float64 // of the relative error in units of 2^-53words; nil: there is none
}

// arithmetic returns the bound of an operation.
func arithmetic(name string) func(words int) float64 {
	return func(words int) float64 { return expansion.Bound(name, words) }
}

func mappedFunctions() []mapped {
	list := []mapped{
		{"add", 2, func(z *halfulp.Matrix, x []*halfulp.Matrix, opt *halfulp.Options) error {
			return expansion.Add(z, x[0], x[1], opt)
		}, arithmetic("add")},
		{"sub", 2, func(z *halfulp.Matrix, x []*halfulp.Matrix, opt *halfulp.Options) error {
			return expansion.Sub(z, x[0], x[1], opt)
		}, arithmetic("sub")},
		{"mul", 2, func(z *halfulp.Matrix, x []*halfulp.Matrix, opt *halfulp.Options) error {
			return expansion.Mul(z, x[0], x[1], opt)
		}, arithmetic("mul")},
		{"div", 2, func(z *halfulp.Matrix, x []*halfulp.Matrix, opt *halfulp.Options) error {
			return expansion.Div(z, x[0], x[1], opt)
		}, arithmetic("div")},
		{"fma", 3, func(z *halfulp.Matrix, x []*halfulp.Matrix, opt *halfulp.Options) error {
			return expansion.FMA(z, x[0], x[1], x[2], opt)
		}, nil},
		{"sqrt", 1, func(z *halfulp.Matrix, x []*halfulp.Matrix, opt *halfulp.Options) error {
			return expansion.Sqrt(z, x[0], opt)
		}, arithmetic("sqrt")},
	}
	for _, f := range expansion.Functions() {
		run := func(z *halfulp.Matrix, x []*halfulp.Matrix, opt *halfulp.Options) error {
			return expansion.Map(f, z, x[0], opt)
		}
		if f.Arity() == 2 {
			run = func(z *halfulp.Matrix, x []*halfulp.Matrix, opt *halfulp.Options) error {
				return expansion.Map2(f, z, x[0], x[1], opt)
			}
		}
		list = append(list, mapped{f.String(), f.Arity(), run, f.Bound})
	}
	return list
}

func (mapCmd) Help() string {
	names := map[int][]string{}
	for _, f := range mappedFunctions() {
		names[f.operands] = append(names[f.operands], f.name)
	}
	return fmt.Sprintf(`Prints a function of every entry of X, or of those of X, Y and Z, in double-double, triple-double or quad-double arithmetic: sums of 2, 3 or 4 doubles (package expansion). Results are not correctly rounded: each function but fma, where X Y and Z may cancel, has a bound on its relative error, which --stats shows. The bits do not depend on threads, instruction set or device.

  of X            %s
  of X and Y      %s
  of X, Y and Z   %s: X Y + Z

Operands are rounded to --format.

Examples:

  halfulp map exp x.mtx
  halfulp map log x.mtx --format qd --digits 64
  halfulp map atan2 y.mtx x.mtx --format td --out angles.mtx`,
		strings.Join(names[1], ", "), strings.Join(names[2], ", "), strings.Join(names[3], ", "))
}

func (c *mapCmd) Run(env *environment) error {
	list := mappedFunctions()
	at := slices.IndexFunc(list, func(f mapped) bool { return f.name == c.Func })
	if at < 0 {
		return misuse("%q is no function that map knows: see halfulp map --help", c.Func)
	}
	f := list[at]
	var operands []string
	for _, name := range []string{c.X, c.Y, c.Z} {
		if name != "" {
			operands = append(operands, name)
		}
	}
	if len(operands) != f.operands {
		return misuse("%s is a function of %d operand%s, not of %d", f.name, f.operands, map[bool]string{true: "s"}[f.operands > 1], len(operands))
	}
	try := func(opt *halfulp.Options) error {
		if err := checkExpansion(c.Format.Format); err != nil {
			return err
		}
		none := halfulp.NewMatrix(c.Format.Format, 0, 0)
		return f.run(none, []*halfulp.Matrix{none, none, none}, opt)
	}
	j, err := newJob(env, "map", &c.inputFlags, c.Format.Format, &c.printFlags, &c.runFlags, true, try, operands...)
	if err != nil {
		return err
	}
	j.rounds = true
	var x []*halfulp.Matrix
	for i, name := range operands {
		m, err := j.matrix(name)
		if err != nil {
			return err
		}
		if i > 0 && (m.Rows() != x[0].Rows() || m.Cols() != x[0].Cols()) {
			return misuse("%s is %d x %d, %s %d x %d: they must agree", shown(operands[0]), x[0].Rows(), x[0].Cols(), shown(name), m.Rows(), m.Cols())
		}
		x = append(x, m)
	}
	z := halfulp.NewMatrix(c.Format.Format, x[0].Rows(), x[0].Cols())
	start := time.Now()
	err = f.run(z, x, j.options())
	j.finish()
	if err != nil {
		return err
	}
	if c.Stats {
		words := c.Format.Bits() / 53
		fmt.Fprintf(env.stderr, "method             %s\n", expansion.Method)
		if f.bound != nil {
			fmt.Fprintf(env.stderr, "relative error     at most %g x 2^%d\n", f.bound(words), -53*words)
		}
		fmt.Fprintf(env.stderr, "time: compute      %v\n", rounded(time.Since(start)))
	}
	return j.writeMatrix(z, nil)
}
