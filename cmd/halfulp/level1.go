package main

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/stats"
)

type sumCmd struct {
	X string `arg:"" name:"FILE" help:"File of numbers; - is standard input."`
	axisFlags
	commonFlags
	rnsFlags
	compareFlags
}

func (sumCmd) Help() string {
	return `Prints the sum of all entries of a vector or matrix, rounded once. With --axis it prints the sum of each column or row.

Examples:

  halfulp sum x.mtx
  halfulp sum A.csv --axis 0
  printf '1e100\n1\n-1e100\n' | halfulp sum -
  printf '1/3\n1/6\n.5\n' | halfulp sum - --in exact --format exact
  halfulp sum x.csv --format mp:200 --digits 60
  halfulp sum x.csv --method rns-pairwise --format mp:120 --moduli 16 --stats` + rnsHelp("sum")
}

func (c *sumCmd) Run(env *cli.Environment) error {
	plain := plainSum
	if !c.Compare {
		plain = nil
	}
	return unary(env, "sum", c.X, c.Axis, &c.commonFlags, &c.rnsFlags, halfulp.Sum, plain)
}

type asumCmd struct {
	X string `arg:"" name:"FILE" help:"File of numbers; - is standard input."`
	axisFlags
	commonFlags
	rnsFlags
}

func (asumCmd) Help() string {
	return `Prints the sum of the absolute values of all entries of a vector or matrix, rounded once. With --axis it prints the sum for each column or row.

Example:

  halfulp asum x.mtx` + rnsHelp("asum")
}

func (c *asumCmd) Run(env *cli.Environment) error {
	return unary(env, "asum", c.X, c.Axis, &c.commonFlags, &c.rnsFlags, halfulp.Asum, nil)
}

type nrm2Cmd struct {
	X string `arg:"" name:"FILE" help:"File of numbers; - is standard input."`
	axisFlags
	commonFlags
	rnsFlags
}

func (nrm2Cmd) Help() string {
	return `Prints the root of the exact sum of the squares of all entries, rounded once: the Euclidean norm of a vector, the Frobenius norm of a matrix. With --axis it prints the Euclidean norms of the columns or rows.

Example:

  halfulp nrm2 x.mtx --format dd` + rnsHelp("nrm2")
}

func (c *nrm2Cmd) Run(env *cli.Environment) error {
	return unary(env, "nrm2", c.X, c.Axis, &c.commonFlags, &c.rnsFlags, halfulp.Nrm2, nil)
}

// unary runs a routine that reduces a vector, or each vector along an axis, to one number.
func unary(env *cli.Environment, name, file, axis string, f *commonFlags, residue *rnsFlags, routine reduction,
	plain func(*halfulp.Matrix) float64) error {
	if f.rationally() {
		if plain != nil {
			return errNoCompare
		}
		return f.exactReduction(env, name, file, axis)
	}
	var choice *rnsChoice
	j, err := f.job(env, name, axis != whole, validMethod(&choice, f, residue, false), file)
	if err != nil {
		return err
	}
	if axis != whole {
		if choice != nil {
			return cli.Misuse("--axis %s: method %s makes one number of all entries", axis, f.Method)
		}
		m, err := j.matrix(file)
		if err != nil {
			return err
		}
		return j.writeReduced(m, axis, routine, plain)
	}
	if kind, is := map[string]direct.Reduction{"sum": direct.Sum, "asum": direct.Asum}[name]; is && choice == nil && plain == nil {
		z, stats, ok, err := j.streamed(file, kind)
		j.finish()
		if err != nil {
			return err
		}
		if ok {
			return j.writeScalar(z, stats)
		}
	}
	m, err := j.matrix(file)
	if err != nil {
		return err
	}
	var z halfulp.Scalar
	var stats halfulp.Stats
	switch {
	case choice == nil:
		z, err = routine(m.Vec(), f.Format.Format, j.options().WithStats(&stats))
		j.finish()
	case name == "nrm2":
		z, stats, err = j.rnsNrm2(choice, m.Vec())
	default:
		z, stats, err = j.rnsSum(choice, m.Vec(), name == "asum")
	}
	if err != nil {
		return err
	}
	if plain != nil {
		if err := j.compareScalar(z, plain(m)); err != nil {
			return err
		}
	}
	return j.writeScalar(z, stats)
}

type dotCmd struct {
	X string `arg:"" name:"x" help:"Vector; - is standard input."`
	Y string `arg:"" name:"y" help:"Vector of the same length."`
	commonFlags
	rnsFlags
	compareFlags
}

func (dotCmd) Help() string {
	return `Prints the sum of x_i y_i, rounded once.

Examples:

  halfulp dot x.mtx y.mtx
  halfulp dot x.mtx y.mtx --in mp:400 --format qd --stats
  halfulp dot x.mtx y.mtx --method rns-hybrid --format mp:240 --moduli 32 --stats
  halfulp dot x.mtx y.mtx --method expansion --format qd` + rnsHelp("dot") + expansionHelp
}

func (c *dotCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	var choice *rnsChoice
	native := isExpansion(&c.runFlags)
	j, err := c.job(env, "dot", false, validMethod(&choice, &c.commonFlags, &c.rnsFlags, native), c.X, c.Y)
	if err != nil {
		return err
	}
	j.rounds = native
	x, err := j.vector(c.X)
	if err != nil {
		return err
	}
	y, err := j.vector(c.Y)
	if err != nil {
		return err
	}
	if x.Len() != y.Len() {
		return cli.Misuse("%s has %s, %s has %d: a dot product needs vectors of one length", shown(c.X), textio.Count(x.Len(), "entry"), shown(c.Y), y.Len())
	}
	var z halfulp.Scalar
	var stats halfulp.Stats
	switch {
	case native:
		z, err = expansion.Dot(x, y, c.Format.Format, j.options().WithStats(&stats))
	case choice != nil:
		z, stats, err = j.rnsDot(choice, x, y)
	default:
		z, err = halfulp.Dot(x, y, c.Format.Format, j.options().WithStats(&stats))
	}
	j.finish()
	if err != nil {
		return err
	}
	if c.Compare {
		if err := j.compareScalar(z, plainGemm(1, x.Matrix().T(), y.Matrix(), 0, nil)[0][0]); err != nil {
			return err
		}
	}
	return j.writeScalar(z, stats)
}

type statsCmd struct {
	X string `arg:"" name:"FILE" help:"File of numbers; - is standard input."`
	axisFlags
	commonFlags
}

func (statsCmd) Help() string {
	return `Prints these statistics of the entries x_1 ... x_n, each rounded once:

  count  n
  mean   m = (x_1 + ... + x_n) / n
  sd     the root of the sum of (x_i - m)^2 over n - 1
  r1     the sum of (x_i - m)(x_i+1 - m) over the sum of (x_i - m)^2

where m is the exact mean; the entries of a matrix are taken column by column. With --axis it prints a line for each column or row, after a line of names. A decimal such as 1.1 has no exact binary value. With --in exact the printed values are the statistics of the decimals.

Examples:

  halfulp stats x.txt --in exact
  halfulp stats A.csv --axis 0`
}

func (c *statsCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	j, err := c.job(env, "stats", false, validDirect, c.X)
	if err != nil {
		return err
	}
	m, err := j.matrix(c.X)
	if err != nil {
		return err
	}
	routines := []struct {
		name    string
		routine reduction
	}{{"mean", stats.Mean}, {"sd", stats.StdDev}, {"r1", stats.Autocorr1}}
	if c.Axis != whole {
		var results []namedMatrix
		for _, r := range routines {
			z, stats, err := j.reduce(m, c.Axis, r.routine)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			results = append(results, namedMatrix{r.name, z, stats})
		}
		count := m.Rows()
		if c.Axis == "1" {
			count = m.Cols()
		}
		return j.writeNamed(c.Axis, count, results)
	}
	x := m.Vec()
	var values []namedScalar
	for _, r := range routines {
		var stats halfulp.Stats
		z, err := r.routine(x, c.Format.Format, j.options().WithStats(&stats))
		j.finish()
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		values = append(values, namedScalar{r.name, z, stats})
	}
	return j.writeScalars(x.Len(), values)
}
