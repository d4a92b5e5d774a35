package main

import (
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/rational"
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

// generator makes a matrix: in a format, or exactly.
type generator struct {
	name       string
	rows, cols int
	// wide reports whether to count the matrix's infinities.
	wide    bool
	rounded func(halfulp.Format) (*halfulp.Matrix, error)
	exact   func() (*rational.Matrix, error)
	// exactBits is a bound on the bits of an exact entry.
	exactBits float64
}

// write writes the matrix, unless its shape is invalid or too large.
func (f *genFlags) write(env *cli.Environment, g generator) error {
	j := &job{env: env, command: "gen " + g.name, format: f.Format.Format, print: &f.printFlags, how: &runFlags{memoryFlag: f.memoryFlag}, exactResult: f.Format.exact}
	if g.rows < 0 || g.cols < 0 {
		return cli.Misuse("%d x %d: a matrix has no negative dimensions", g.rows, g.cols)
	}
	if f.Format.exact {
		return f.writeExact(j, g)
	}
	if err := f.printFlags.check(true, f.Format.Format); err != nil {
		return err
	}
	if err := f.Memory.checkSize(f.Format.Format, g.rows, g.cols); err != nil {
		return err
	}
	j.warnDigits(f.Format.Format)
	z, err := g.rounded(f.Format.Format)
	if err != nil {
		return err
	}
	if g.wide && !f.Quiet {
		warn(env.Stderr, &halfulp.Stats{Overflow: infinities(z)}, z.NumberFormat())
	}
	return j.writeMatrix(z, nil)
}

func (f *genFlags) writeExact(j *job, g generator) error {
	f.printFlags.Exact = true
	if f.Digits != digitsShortest {
		return errExactDigits
	}
	if err := f.printFlags.check(true); err != nil {
		return err
	}
	if err := f.Memory.checkFractions(g.rows, g.cols, g.exactBits); err != nil {
		return err
	}
	z, err := g.exact()
	if err != nil {
		return err
	}
	return j.writeRational(z)
}

// checkFractions returns an error if a matrix of fractions of up to so many bits takes more memory
// than allowed.
func (m memorySize) checkFractions(rows, cols int, bits float64) error {
	const beside = 1024 // bits that a fraction occupies beside its digits
	return m.checkBits(float64(rows)*float64(cols)*(bits+beside), fmt.Sprintf("%d x %d fractions take", rows, cols))
}

// fractionsOf returns the rows x cols matrix with the entries x(i, k), i and k counted from 0.
func fractionsOf(rows, cols int, x func(i, k int) *big.Rat) *rational.Matrix {
	m := rational.New(rows, cols)
	for i := range rows {
		for k := range cols {
			m.Set(i, k, x(i, k))
		}
	}
	return m
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
	return `Prints the N x N matrix with entries 1/(i+j-1), i, j = 1 ... N, each correctly rounded; with --format exact, the fractions themselves.

Examples:

  halfulp gen hilbert 12 --format mp:200 --out hilbert.mtx
  halfulp gen hilbert 12 --format exact --out hilbert.mtx`
}

func (c *genHilbertCmd) Run(env *cli.Environment) error {
	return c.write(env, generator{
		name: "hilbert", rows: c.N, cols: c.N,
		rounded: func(f halfulp.Format) (*halfulp.Matrix, error) { return gallery.Hilbert(f, c.N), nil },
		exact: func() (*rational.Matrix, error) {
			return fractionsOf(c.N, c.N, func(i, k int) *big.Rat { return big.NewRat(1, int64(i+k+1)) }), nil
		},
	})
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
	j := &job{env: env, command: "gen vandermonde", in: &c.inputFlags, format: c.Format.Format, print: &c.printFlags, how: &runFlags{memoryFlag: c.memoryFlag}, exactResult: c.Format.exact}
	if c.Nodes == "" && c.N <= 0 {
		return cli.Misuse("the number of nodes must be 1 or more, or --nodes be given")
	}
	if c.Nodes != "" && c.N != 0 {
		return cli.Misuse("give either the number of nodes or --nodes, not both")
	}
	if err := c.Memory.checkSize(halfulp.Float64, c.N, 1); err != nil {
		return err
	}
	if j.rationally() {
		return c.exactly(env, j)
	}
	nodes := halfulp.NewVector(halfulp.Float64, c.N)
	for i := range c.N {
		nodes.SetFloat64(i, float64(i+1))
	}
	if c.Nodes != "" {
		var err error
		if nodes, err = j.vector(c.Nodes); err != nil {
			return err
		}
	}
	cols := nodes.Len()
	if c.Cols != nil {
		cols = *c.Cols
	}
	return c.write(env, generator{
		name: "vandermonde", rows: nodes.Len(), cols: cols, wide: true,
		rounded: func(f halfulp.Format) (*halfulp.Matrix, error) { return gallery.Vandermonde(f, nodes, cols), nil },
	})
}

// exactly writes the powers of exact nodes: exactly, or each rounded once.
func (c *genVandermondeCmd) exactly(env *cli.Environment, j *job) error {
	nodes := fractionsOf(c.N, 1, func(i, _ int) *big.Rat { return big.NewRat(int64(i+1), 1) })
	if c.Nodes != "" {
		var err error
		if nodes, err = j.exactVector(c.Nodes); err != nil {
			return err
		}
	}
	cols, longest := nodes.Rows(), 0
	for i := range nodes.Rows() {
		longest = max(longest, nodes.At(i, 0).Num().BitLen()+nodes.At(i, 0).Denom().BitLen())
	}
	if c.Cols != nil {
		cols = *c.Cols
	}
	bits := float64(longest) * float64(cols)
	powers := func() (*rational.Matrix, error) {
		if err := c.Memory.checkFractions(nodes.Rows(), cols, bits); err != nil {
			return nil, err
		}
		m := rational.New(nodes.Rows(), cols)
		for i := range nodes.Rows() {
			power := big.NewRat(1, 1)
			for k := range cols {
				m.Set(i, k, power)
				power = new(big.Rat).Mul(power, nodes.At(i, 0))
			}
		}
		return m, nil
	}
	return c.write(env, generator{
		name: "vandermonde", rows: nodes.Rows(), cols: cols, wide: true,
		rounded: func(f halfulp.Format) (*halfulp.Matrix, error) {
			m, err := powers()
			if err != nil {
				return nil, err
			}
			return m.Round(f)
		},
		exact: powers, exactBits: bits,
	})
}

type genRandomCmd struct {
	Rows   int    `arg:"" name:"ROWS" help:"Rows."`
	Cols   int    `arg:"" name:"COLS" default:"1" help:"Columns (default 1)."`
	Bits   uint   `placeholder:"N" help:"Significant bits of the entries (default: all bits of the format; 53 with --format exact)."`
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
	spread := 30
	if c.Format.exact {
		spread = 20 // a fraction has all digits of a number with this exponent
	}
	switch {
	case c.Spread < 0 || c.Spread > 1<<spread:
		return cli.Misuse("--spread: %d is not between 0 and 2^%d", c.Spread, spread)
	case c.Format.exact && c.Bits != 0 && (c.Bits < halfulp.MinPrec || c.Bits > halfulp.MaxPrec):
		return cli.Misuse("--bits: %d is not between %d and %d", c.Bits, halfulp.MinPrec, halfulp.MaxPrec)
	case !c.Format.exact && c.Bits != 0 && (c.Bits < halfulp.MinPrec || c.Bits > bits):
		return cli.Misuse("--bits: %d is not between %d and the %d that format %v holds", c.Bits, halfulp.MinPrec, bits, c.Format)
	}
	// Numbers of MP(bits) are exact beyond the exponents of float64 too.
	of := c.Bits
	if of == 0 {
		of = bits
	}
	return c.write(env, generator{
		name: "random", rows: c.Rows, cols: c.Cols, wide: c.Spread > 100,
		rounded: func(f halfulp.Format) (*halfulp.Matrix, error) {
			if c.Bits == 0 {
				return gallery.Random(f, c.Rows, c.Cols, c.Spread, c.Seed), nil
			}
			return gallery.Random(halfulp.MP(c.Bits), c.Rows, c.Cols, c.Spread, c.Seed).Convert(f), nil
		},
		exact: func() (*rational.Matrix, error) {
			return rational.FromMatrix(gallery.Random(halfulp.MP(of), c.Rows, c.Cols, c.Spread, c.Seed))
		},
		exactBits: float64(of) + 64 + float64(c.Spread),
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
	wampler := func(f halfulp.Format) *halfulp.Matrix {
		x, y := gallery.Wampler(f, c.K)
		if c.RHS {
			return y.Matrix()
		}
		return x
	}
	cols := 6
	if c.RHS {
		cols = 1
	}
	return c.write(env, generator{
		name: "wampler", rows: 21, cols: cols,
		rounded: func(f halfulp.Format) (*halfulp.Matrix, error) { return wampler(f), nil },
		exact: func() (*rational.Matrix, error) {
			// Every number is an integer over 10^5: the integer nearest to 10^5 times the number
			// rounded to 200 bits.
			m, err := rational.FromMatrix(wampler(halfulp.MP(200)))
			if err != nil {
				return nil, err
			}
			return fractionsOf(21, cols, func(i, k int) *big.Rat {
				n, ok := new(big.Int).SetString(new(big.Rat).Mul(m.At(i, k), big.NewRat(100000, 1)).FloatString(0), 10)
				if !ok {
					panic("halfulp: FloatString(0) is an integer")
				}
				return new(big.Rat).SetFrac(n, big.NewInt(100000))
			}), nil
		},
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
	return c.write(env, generator{
		name: "identity", rows: c.N, cols: c.N,
		rounded: func(f halfulp.Format) (*halfulp.Matrix, error) { return halfulp.Identity(f, c.N), nil },
		exact:   func() (*rational.Matrix, error) { return rational.Identity(c.N), nil },
	})
}
