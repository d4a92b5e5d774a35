package main

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cli"
)

type genCmd struct {
	Hilbert     genHilbertCmd     `cmd:"" help:"Hilbert matrix, 1/(i+j-1)."`
	Vandermonde genVandermondeCmd `cmd:"" help:"Vandermonde matrix, the powers of nodes."`
	Random      genRandomCmd      `cmd:"" help:"Random matrix."`
	Wampler     genWamplerCmd     `cmd:"" help:"NIST least-squares problems Wampler1 to Wampler5."`
	Identity    genIdentityCmd    `cmd:"" help:"Identity matrix."`
}

// genFlags are the flags of every generator.
type genFlags struct {
	resultFlags
	memoryFlag
}

// write writes the matrix that generate makes, unless its shape is invalid or too large. If wide is
// set, it counts the matrix's infinities.
func (f *genFlags) write(env *cli.Environment, name string, rows, cols int, wide bool, generate func(halfulp.Format) *halfulp.Matrix) error {
	j := &job{env: env, command: "gen " + name, format: f.Format.Format, print: &f.printFlags, how: &runFlags{memoryFlag: f.memoryFlag}}
	if f.Format.exact {
		return cli.Misuse("--format exact: gen writes numbers of a format")
	}
	if rows < 0 || cols < 0 {
		return cli.Misuse("%d x %d: a matrix has no negative dimensions", rows, cols)
	}
	if err := f.printFlags.check(true, f.Format.Format); err != nil {
		return err
	}
	if err := f.Memory.checkSize(f.Format.Format, rows, cols); err != nil {
		return err
	}
	j.warnDigits(f.Format.Format)
	z := generate(f.Format.Format)
	if wide && !f.Quiet {
		warn(env.Stderr, &halfulp.Stats{Overflow: infinities(z)}, z.NumberFormat())
	}
	return j.writeMatrix(z, nil)
}

// infinities counts the infinities of a matrix in a format with the range of float32 or float64. It
// does not count in MP formats: there, generated numbers leave the range only for inputs that are
// infinite or nearly so.
func infinities(m *halfulp.Matrix) (n int64) {
	if m.NumberFormat().IsMP() {
		return 0
	}
	for j := range m.Cols() {
		for i := range m.Rows() {
			if m.At(i, j).IsInf(0) {
				n++
			}
		}
	}
	return n
}

type genHilbertCmd struct {
	N int `arg:"" name:"N" help:"Order."`
	genFlags
}

func (genHilbertCmd) Help() string {
	return `Prints the N x N matrix with entries 1/(i+j-1), i, j = 1 ... N, each correctly rounded.

Example:

  halfulp gen hilbert 12 --format mp:200 --out hilbert.mtx`
}

func (c *genHilbertCmd) Run(env *cli.Environment) error {
	return c.write(env, "hilbert", c.N, c.N, false, func(f halfulp.Format) *halfulp.Matrix { return gallery.Hilbert(f, c.N) })
}

type genVandermondeCmd struct {
	N     int    `arg:"" name:"N" optional:"" help:"Number of nodes, which are 1, 2, ..., N."`
	Nodes string `placeholder:"FILE" help:"Read the vector of nodes from FILE instead; - is standard input."`
	Cols  *int   `placeholder:"N" help:"Number of columns (default: as many as nodes)."`
	inputFlags
	genFlags
}

func (genVandermondeCmd) Help() string {
	return `Prints the matrix of the powers x_i^(j-1) of the nodes x_i, one row for each node, each entry correctly rounded.

Examples:

  halfulp gen vandermonde 10
  halfulp gen vandermonde --nodes x.txt --cols 4 --format dd`
}

func (c *genVandermondeCmd) Run(env *cli.Environment) error {
	var nodes *halfulp.Vector
	switch {
	case c.Nodes != "" && c.N != 0:
		return cli.Misuse("give either the number of nodes or --nodes, not both")
	case c.Nodes != "":
		j := &job{env: env, command: "gen vandermonde", in: &c.inputFlags, format: c.Format.Format, print: &c.printFlags, how: &runFlags{memoryFlag: c.memoryFlag}}
		var err error
		if nodes, err = j.vector(c.Nodes); err != nil {
			return err
		}
	case c.N <= 0:
		return cli.Misuse("the number of nodes must be 1 or more, or --nodes be given")
	default:
		if err := c.Memory.checkSize(halfulp.Float64, c.N, 1); err != nil {
			return err
		}
		nodes = halfulp.NewVector(halfulp.Float64, c.N)
		for i := range c.N {
			nodes.SetFloat64(i, float64(i+1))
		}
	}
	cols := nodes.Len()
	if c.Cols != nil {
		cols = *c.Cols
	}
	return c.write(env, "vandermonde", nodes.Len(), cols, true, func(f halfulp.Format) *halfulp.Matrix {
		return gallery.Vandermonde(f, nodes, cols)
	})
}

type genRandomCmd struct {
	Rows   int    `arg:"" name:"ROWS" help:"Rows."`
	Cols   int    `arg:"" name:"COLS" default:"1" help:"Columns (default 1)."`
	Bits   uint   `placeholder:"N" help:"Significant bits of the entries (default: all bits of the format)."`
	Spread int    `placeholder:"N" help:"Multiply every entry by 2^u with a random integer u, -N <= u <= N."`
	Seed   uint64 `default:"1" placeholder:"N" help:"Seed: the same arguments give the same matrix. Default ${default}."`
	genFlags
}

func (genRandomCmd) Help() string {
	return `Prints a matrix of independent numbers, uniform in (-1, 1) before --spread scales them.

Examples:

  halfulp gen random 300 300 --format mp:424 --seed 7 --out A.mtx.gz
  halfulp gen random 100 --bits 24 --spread 300`
}

func (c *genRandomCmd) Run(env *cli.Environment) error {
	bits := uint(c.Format.Bits())
	switch {
	case c.Spread < 0 || c.Spread > 1<<30:
		return cli.Misuse("--spread: %d is not between 0 and 2^30", c.Spread)
	case c.Bits != 0 && (c.Bits < halfulp.MinPrec || c.Bits > bits):
		return cli.Misuse("--bits: %d is not between %d and the %d that format %v holds", c.Bits, halfulp.MinPrec, bits, c.Format)
	}
	return c.write(env, "random", c.Rows, c.Cols, c.Spread > 100, func(f halfulp.Format) *halfulp.Matrix {
		if c.Bits == 0 {
			return gallery.Random(f, c.Rows, c.Cols, c.Spread, c.Seed)
		}
		return gallery.Random(halfulp.MP(c.Bits), c.Rows, c.Cols, c.Spread, c.Seed).Convert(f)
	})
}

type genWamplerCmd struct {
	K   int  `arg:"" name:"K" help:"Number of the problem, 1 to 5."`
	RHS bool `name:"rhs" help:"Print the observations y instead of the matrix X."`
	genFlags
}

func (genWamplerCmd) Help() string {
	return `Prints the 21 x 6 design matrix X of the NIST reference problem Wampler1 ... Wampler5 (x_ij = (i-1)^(j-1)), or its observations y. The exact least-squares solution is 1, 1, 1, 1, 1, 1; for Wampler2 1, 0.1, ..., 0.00001.

Example:

  halfulp gen wampler 5 --rhs`
}

func (c *genWamplerCmd) Run(env *cli.Environment) error {
	if c.K < 1 || c.K > 5 {
		return cli.Misuse("there is no Wampler%d: the problems are 1 to 5", c.K)
	}
	return c.write(env, "wampler", 21, 6, false, func(f halfulp.Format) *halfulp.Matrix {
		x, y := gallery.Wampler(f, c.K)
		if c.RHS {
			return y.Matrix()
		}
		return x
	})
}

type genIdentityCmd struct {
	N int `arg:"" name:"N" help:"Order."`
	genFlags
}

func (genIdentityCmd) Help() string {
	return `Prints the N x N identity matrix.

Example:

  halfulp gen identity 3`
}

func (c *genIdentityCmd) Run(env *cli.Environment) error {
	return c.write(env, "identity", c.N, c.N, false, func(f halfulp.Format) *halfulp.Matrix { return halfulp.Identity(f, c.N) })
}
