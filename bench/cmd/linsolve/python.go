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
func (p *problem) load(python *peer.Python) error {
	return python.Load(func(w io.Writer) {
		fmt.Fprintln(w, p.n, p.bits)
		put := func(m *halfulp.Matrix, i, j int) {
			x := m.Big(i, j)
			low := x.MantExp(nil) - int(x.MinPrec())
			z, _ := x.SetMantExp(x, -low).Int(nil)
			fmt.Fprintln(w, z.Text(16), low)
		}
		for i := range p.n {
			for j := range p.n {
				put(p.a, i, j)
			}
		}
		for i := range p.n {
			put(p.b, i, 0)
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
