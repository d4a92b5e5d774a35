package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/textio"
)

type mapCmd struct {
	Func   string     `arg:"" name:"FUNC" help:"Function to compute: see the list above."`
	X      string     `arg:"" name:"X" help:"Matrix; - is standard input."`
	Y      string     `arg:"" name:"Y" optional:"" help:"Second operand: a matrix of the same shape, or a number."`
	Z      string     `arg:"" name:"Z" optional:"" help:"Third operand: a matrix of the same shape, or a number."`
	Format formatFlag `group:"result" default:"dd" placeholder:"FORMAT" help:"Format of the result and of the arithmetic: dd, td, qd (2, 3 or 4 doubles); any with --method rns-elementwise. Default ${default}."`
	inputFlags
	printFlags
	runFlags
	rnsFlags
}

// Words returns the functions.
func (mapCmd) Words() (names []string) {
	for _, f := range mappedFunctions() {
		names = append(names, f.name)
	}
	return names
}

// mapped is a function of map.
type mapped struct {
	name     string
	operands int
	run      func(x []*halfulp.Matrix, z *halfulp.Matrix, opt *halfulp.Options) error
	bound    func(words int) float64 // of relative errors in 2^-53words; nil: none
}

// arithmetic returns the bound of an operation as a function of the number of words.
func arithmetic(name string) func(words int) float64 {
	return func(words int) float64 { return expansion.Bound(name, words) }
}

func mappedFunctions() []mapped {
	type (
		matrix  = *halfulp.Matrix
		options = *halfulp.Options
	)
	unary := func(f func(x, z matrix, opt options) error) func([]matrix, matrix, options) error {
		return func(x []matrix, z matrix, opt options) error { return f(x[0], z, opt) }
	}
	binary := func(f func(x, y, z matrix, opt options) error) func([]matrix, matrix, options) error {
		return func(x []matrix, z matrix, opt options) error { return f(x[0], x[1], z, opt) }
	}
	list := []mapped{
		{"add", 2, binary(expansion.Add[matrix]), arithmetic("add")},
		{"sub", 2, binary(expansion.Sub[matrix]), arithmetic("sub")},
		{"mul", 2, binary(expansion.Mul[matrix]), arithmetic("mul")},
		{"div", 2, binary(expansion.Div[matrix]), arithmetic("div")},
		{"fma", 3, func(x []matrix, z matrix, opt options) error {
			return expansion.FMA(x[0], x[1], x[2], z, opt)
		}, nil},
		{"sqrt", 1, unary(expansion.Sqrt[matrix]), arithmetic("sqrt")},
	}
	for _, f := range expansion.Functions() {
		run := unary(func(x, z matrix, opt options) error {
			return expansion.Map(f, x, z, opt)
		})
		if f.Arity() == 2 {
			run = binary(func(x, y, z matrix, opt options) error {
				return expansion.Map2(f, x, y, z, opt)
			})
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
	return fmt.Sprintf(`Prints a function of every entry of X, or of the corresponding entries of X, Y and Z, in double-double, triple-double or quad-double arithmetic: sums of 2, 3 or 4 doubles (package expansion). Results are not correctly rounded. Each function has a bound on its relative error, which --stats shows, except fma, where X Y and Z may cancel. The bits do not depend on threads, instruction set or device.

  of X            %s
  of X and Y      %s
  of X, Y and Z   %s: X Y + Z

Operands are rounded to --format. Y and Z may be numbers, which stand for every entry; write ./2 for a file named 2. If Y is an integer from -%d to %[4]d, pow runs on the CPU and rounds correctly: 3 to the power 2 is 9. Other powers, and all powers with --method expansion, are exponentials of logarithms, whose error is within their bound even if the exact result is a number of the format. With --method expansion-published and --format dd or qd, the functions add, sub, mul, div, sqrt, exp, log, sin and cos use the algorithms published by T. Sivkova and others, whose sums may cancel.

Examples:

  halfulp map exp x.mtx
  halfulp map pow x.mtx 2
  halfulp map pow x.mtx -- -1                        # negative numbers go to the end
  halfulp map log x.mtx --format qd --digits 64
  halfulp map atan2 y.mtx x.mtx --format td --out angles.mtx
  halfulp map div x.mtx y.mtx --method rns-elementwise --format mp:424 --stats%[5]s`,
		strings.Join(names[1], ", "), strings.Join(names[2], ", "), strings.Join(names[3], ", "), maxExactPower, rnsHelp("map"))
}

func (c *mapCmd) Run(env *cli.Environment) error {
	list := mappedFunctions()
	at := slices.IndexFunc(list, func(f mapped) bool { return f.name == c.Func })
	if at < 0 {
		var names []string
		for _, f := range list {
			names = append(names, f.name)
		}
		return cli.Misuse("%q is no function that map knows%s (see halfulp map --help)", c.Func, textio.DidYouMean(c.Func, names))
	}
	f := list[at]
	var operands []string
	for _, name := range []string{c.X, c.Y, c.Z} {
		if name != "" {
			operands = append(operands, name)
		}
	}
	if len(operands) != f.operands {
		return cli.Misuse("%s is a function of %d operand%s, not of %d", f.name, f.operands, map[bool]string{true: "s"}[f.operands > 1], len(operands))
	}
	var choice *rnsChoice
	valid := func(opt *halfulp.Options) (err error) {
		if choice, err = checkRNS(&c.runFlags, &c.rnsFlags, c.Format.Format); err != nil || choice == nil {
			if err == nil {
				err = validExpansion(c.Format.Format, opt)
			}
			return err
		}
		if rnsMapped[f.name] == nil {
			return cli.Misuse("method %s has no %s: want one of %s", c.Method, f.name, strings.Join(slices.Sorted(maps.Keys(rnsMapped)), ", "))
		}
		return nil
	}
	j, err := newJob(env, "map", &c.inputFlags, c.Format.Format, &c.printFlags, &c.runFlags, true, valid, operands...)
	if err != nil {
		return err
	}
	j.rounds = choice == nil
	var x []*halfulp.Matrix
	number := false // whether the last operand is a number
	for i, name := range operands {
		if i > 0 {
			m, ok, err := j.constant(name, x[0])
			if err != nil {
				return err
			}
			if number = ok; ok {
				x = append(x, m)
				continue
			}
		}
		m, err := j.matrix(name)
		if err == nil && i > 0 {
			m, err = hostLikeVector(operands[0], x[0], name, m)
		}
		if err != nil {
			return err
		}
		x = append(x, m)
	}
	z := halfulp.NewMatrix(c.Format.Format, x[0].Rows(), x[0].Cols())
	if choice != nil {
		stats, err := j.rnsMap(choice, f.name, x, z)
		if err != nil {
			return err
		}
		return j.writeMatrix(z, &stats)
	}
	bound := f.bound
	var stats halfulp.Stats
	run := func() error { return f.run(x, z, j.options().WithStats(&stats)) }
	if n, ok := smallInteger(x[len(x)-1]); ok && number && f.name == "pow" && c.Method == "auto" {
		run, bound = func() (err error) { stats, err = j.integerPowers(x[0], n, z); return err }, nil
	}
	err = run()
	j.finish()
	if err != nil {
		return err
	}
	if c.Stats == textStats && bound != nil && c.Method != string(expansion.Published) {
		words := c.Format.Bits() / 53
		fmt.Fprintf(env.Stderr, "relative error     at most %g x 2^%d\n", bound(words), -53*words)
	}
	return j.writeMatrix(z, &stats)
}

// constant returns a matrix of the shape of x whose entries all equal the number operand, rounded
// like numbers of files. It is not ok if operand is the name of a file.
func (j *job) constant(operand string, x *halfulp.Matrix) (m *halfulp.Matrix, ok bool, err error) {
	z, loss, err := parseFactor(operand, j.factorFormat(operand))
	if errors.Is(err, decimal.ErrSyntax) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, cli.Misuse("%s: %w", operand, err)
	}
	j.warnInput(operand, lossOf(loss), z.NumberFormat())
	m = halfulp.NewMatrix(z.NumberFormat(), x.Rows(), x.Cols())
	for k := range m.Cols() {
		for i := range m.Rows() {
			m.Set(i, k, z)
		}
	}
	if j.rounds {
		m = m.Convert(j.format)
	}
	return m, true, nil
}
