package main

import (
	_ "embed"
	"fmt"
	"io"
	"math/big"

	"github.com/halfulp/halfulp/bench/internal/peer"
)

//go:embed flint.py
var script string

// load hands the problem over.
func (x *problem) load(p *peer.Python) error {
	return p.Load(func(w io.Writer) {
		fmt.Fprintln(w, x.n)
		for _, rows := range [][][]*big.Int{x.wide, x.right} {
			for _, row := range rows {
				for _, v := range row {
					fmt.Fprintln(w, v.Text(16))
				}
			}
		}
	})
}

// pythonTime returns the times of a run of some computations, each.
func pythonTime(p *peer.Python, name string, times int) (t seconds, err error) {
	text, err := p.Ask(fmt.Sprint("time ", name, " ", times))
	if err == nil {
		_, err = fmt.Sscan(text, &t.processor, &t.wall)
	}
	return t, err
}
