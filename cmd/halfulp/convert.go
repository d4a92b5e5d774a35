package main

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
)

// convertFlags are the flags of commands that write the numbers of a file.
type convertFlags struct {
	Format *exactFlag `group:"result" placeholder:"FORMAT" help:"Format of the result: f32, f64, dd, td, qd or mp:P, or exact (default: one that holds the file's numbers; exact with --in exact)."`
	inputFlags
	printFlags
	memoryFlag
}

type convertCmd struct {
	X string `arg:"" name:"FILE" help:"File of numbers; - is standard input."`
	convertFlags
}

func (convertCmd) Help() string {
	return `Reads a matrix or vector and writes it in another format, notation or kind of file. Numbers are rounded at most once; without --format they keep all their digits.

Examples:

  halfulp convert A.csv --out A.mtx
  halfulp convert A.mtx --digits hex
  halfulp convert A.mtx --format f32 --out A.npy
  halfulp convert A.npy --format mp:424 --out A.npz
  halfulp convert A.mtx --to mathematica
  halfulp convert A.csv --in exact --to flint

Every command reads tables as spreadsheets export them. Fields may be quoted and are separated by commas, semicolons, tabs or blanks. A first row without any number is a header; a first row with words and numbers is not, and a note says how it was read. If the header has one name fewer than the rows have fields, or its first name is empty, the first field of each row is the row's name. --columns, --header, --skip, --delimiter, --comment and --decimal-comma describe other tables:

  printf '"Zeit";"Höhe; m"\n"1,5";3\n' | halfulp convert - --decimal-comma --columns 'Höhe; m'
  printf 'Report\n1990|1991\n1|2\n' | halfulp convert - --skip 1 --header --delimiter '|' --to csv

With --in exact numbers are the rational numbers that they are, and the result is fractions in lowest terms, p/q, and integers: in a Matrix Market file (fractions in the field rational, an extension that --in exact reads), in tables, or as fmpq_mat([...]) of python-flint, [a, b; c, d] of PARI/GP or {{a, b}, {c, d}} of Mathematica. --format exact does the same for numbers of a format; --in exact --format F rounds once.

Lists for other programs are written, not read. For FLINT they are lines for arb_load_str, exact, row by row, after a line with the numbers of rows and columns. For PARI/GP the file is a matrix. For mpmath it is the repr of a matrix, with the precision in a comment. For Mathematica it is nested lists, in which numbers of more than 53 bits have their precision.

A .npy file holds numbers of f32 and f64, and of dd, td and qd with the terms of a number along a third dimension. A .npz file holds every format without loss. numpy.load reads its arrays: format, and either values, or terms, or limbs, exponents, signs (1 and -1) and classes (0 zero, 1 finite, 2 infinity, 3 NaN); docs/guide/files.md explains them. If an operand of a command is an array of one dimension, a result of one column is written as such an array.`
}

func (c *convertCmd) Run(env *cli.Environment) error {
	return c.rewrite(env, "convert", c.X, false)
}

type transposeCmd struct {
	A string `arg:"" name:"A" help:"Matrix; - is standard input."`
	convertFlags
}

func (transposeCmd) Help() string {
	return `Writes the transpose of a matrix. Numbers keep all their digits unless --format rounds them, as convert does.

Examples:

  halfulp transpose A.csv --out T.csv
  halfulp transpose A.mtx --format f32 --out T.npy`
}

func (c *transposeCmd) Run(env *cli.Environment) error {
	return c.rewrite(env, "transpose", c.A, true)
}

// rewrite writes the matrix of a file, or its transpose.
func (c *convertFlags) rewrite(env *cli.Environment, command, file string, turn bool) error {
	j := &job{env: env, command: command, in: &c.inputFlags, format: halfulp.Float64, print: &c.printFlags, how: &runFlags{memoryFlag: c.memoryFlag}}
	if c.inputFlags.exact() || c.Format != nil && c.Format.exact {
		return c.rewriteExact(j, file, turn)
	}
	var known []halfulp.Format
	if c.Format != nil {
		j.format, j.rounds = c.Format.Format, true
		known = append(known, j.format)
	}
	if err := c.printFlags.check(true, known...); err != nil {
		return err
	}
	m, err := j.matrix(file)
	if err != nil {
		return err
	}
	j.format = m.NumberFormat()
	j.warnDigits(j.format)
	if turn {
		m = m.T()
	}
	return j.writeMatrix(m, nil)
}

// rewriteExact is rewrite for exact numbers, which --format rounds once.
func (c *convertFlags) rewriteExact(j *job, file string, turn bool) error {
	j.exactResult = c.Format == nil || c.Format.exact
	c.Exact = j.exactResult
	if j.exactResult {
		if c.Digits != digitsShortest {
			return errExactDigits
		}
	} else {
		j.format = c.Format.Format
		j.warnDigits(j.format)
	}
	if err := c.printFlags.check(true, j.format); err != nil {
		return err
	}
	m, err := j.exact(file)
	if err != nil {
		return err
	}
	if turn {
		m = m.T()
	}
	return j.writeRational(m)
}
