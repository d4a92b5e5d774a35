package main

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
)

type convertCmd struct {
	X      string      `arg:"" name:"FILE" help:"File of numbers; - is standard input."`
	Format *formatFlag `group:"result" placeholder:"FORMAT" help:"Format of the result: f32, f64, dd, td, qd or mp:P (default: one that holds the file's numbers)."`
	inputFlags
	printFlags
}

func (convertCmd) Help() string {
	return `Reads a matrix or vector and writes it in another format, manner or kind of file. Numbers are rounded at most once: without --format they keep all their digits.

Examples:

  halfulp convert A.csv --out A.mtx
  halfulp convert A.mtx --digits hex
  halfulp convert A.mtx --format f32 --out A.npy
  halfulp convert A.npy --format mp:424 --out A.npz

A .npy file holds f32 and f64, and dd, td and qd with the terms of a number along a third dimension. A .npz file holds every format without loss, in arrays that numpy.load reads: format, and values, terms, or limbs, exponents, signs and classes. Where an operand of a command is an array of one dimension, a result of one column is one, too.`
}

func (c *convertCmd) Run(env *cli.Environment) error {
	j := &job{env: env, command: "convert", in: &c.inputFlags, format: halfulp.Float64, print: &c.printFlags, how: &runFlags{}}
	var known []halfulp.Format
	if c.Format != nil {
		j.format, j.rounds = c.Format.Format, true
		known = append(known, j.format)
	}
	if err := c.printFlags.check(true, known...); err != nil {
		return err
	}
	m, err := j.matrix(c.X)
	if err != nil {
		return err
	}
	j.format = m.Format()
	return j.writeMatrix(m, nil)
}
