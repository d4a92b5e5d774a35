package main

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/bench/internal/peer"
)

//go:embed flint.py
var script string

// load hands the problem over.
func (of *problem) load(p *peer.Python) error {
	return p.Load(func(w io.Writer) {
		fmt.Fprintln(w, of.n, of.bits)
		put := func(m *halfulp.Matrix, i, j int) {
			x := m.Big(i, j)
			low := x.MantExp(nil) - int(x.MinPrec())
			z, _ := x.SetMantExp(x, -low).Int(nil)
			fmt.Fprintln(w, z.Text(16), low)
		}
		for i := range of.n {
			for j := range of.n {
				put(of.a, i, j)
			}
		}
		for i := range of.n {
			put(of.b, i, 0)
		}
	})
}

// pythonTime returns the processor time of a run.
func pythonTime(p *peer.Python, name string) (float64, error) {
	text, err := p.Ask("time " + name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

func pythonMethods() (z []method) {
	for _, m := range [][2]string{
		{"product", "product"}, {"solve", "solve"}, {"approximate solve", "approx"}, {"inverse", "inverse"}, {"determinant", "det"},
	} {
		z = append(z, method{name: "FLINT 3 " + m[0], slow: true, python: m[1]})
	}
	return z
}
