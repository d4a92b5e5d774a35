package main

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
)

// convertFlags are the flags of commands that write the numbers of a file.
type convertFlags struct {
	Format *formatFlag `group:"result" placeholder:"FORMAT" help:"Format of the result: f32, f64, dd, td, qd or mp:P (default: one that holds the file's numbers)."`
	inputFlags
	printFlags
	memoryFlag
}

type convertCmd struct {
	X string `arg:"" name:"FILE" help:"File of numbers; - is standard input."`
	convertFlags
}

func (convertCmd) Help() string {
	return `Reads a matrix or vector and writes it in another format, manner or kind of file. Numbers are rounded at most once: without --format they keep all their digits.

Examples:

  halfulp convert A.csv --out A.mtx
  halfulp convert A.mtx --digits hex
  halfulp convert A.mtx --format f32 --out A.npy
  halfulp convert A.npy --format mp:424 --out A.npz
  halfulp convert A.mtx --to mathematica

Tables are read as spreadsheets export them, here and by every command: fields in quotes, apart by commas, semicolons, tabs or blanks; a first row without numbers is a header, one of words and numbers is none, and a note tells which. Where the header has one name less than the rows have fields, or its first name is empty, the first field of each row is the row's name. --columns, --header, --skip, --delimiter, --comment and --decimal-comma say what cannot be seen:

  printf '"Zeit";"Höhe; m"\n"1,5";3\n' | halfulp convert - --decimal-comma --columns 'Höhe; m'
  printf 'Report\n1990|1991\n1|2\n' | halfulp convert - --skip 1 --header --delimiter '|' --to csv

Lists of other programs are written, not read: for FLINT lines that arb_load_str reads, row by row after a line with the numbers of rows and columns, exactly; a matrix of PARI/GP; the repr of a matrix of mpmath, which has the precision in a comment; lists of Mathematica, numbers of more than 53 bits with their precision.

A .npy file holds f32 and f64, and dd, td and qd with the terms of a number along a third dimension. A .npz file holds every format without loss, in arrays that numpy.load reads: format, and values, terms, or limbs, exponents, signs (1 and -1) and classes (0 zero, 1 finite, 2 infinity, 3 NaN), which docs/guide/files.md explains. Where an operand of a command is an array of one dimension, a result of one column is one, too.`
}

func (c *convertCmd) Run(env *cli.Environment) error {
	return c.rewrite(env, "convert", c.X, func(m *halfulp.Matrix) *halfulp.Matrix { return m })
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
	return c.rewrite(env, "transpose", c.A, (*halfulp.Matrix).T)
}

// rewrite writes the result of change for the matrix of a file.
func (c *convertFlags) rewrite(env *cli.Environment, command, file string, change func(*halfulp.Matrix) *halfulp.Matrix) error {
	j := &job{env: env, command: command, in: &c.inputFlags, format: halfulp.Float64, print: &c.printFlags, how: &runFlags{memoryFlag: c.memoryFlag}}
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
	return j.writeMatrix(change(m), nil)
}
