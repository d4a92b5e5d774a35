// Package bigfloat measures loops over Go's math/big.Float.
package bigfloat

import (
	"math/big"
	"runtime"

	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/problem"
)

// Library is math/big.
type Library struct{}

// Name returns "math/big".
func (Library) Name() string { return "math/big" }

// Version returns the Go release.
func (Library) Version() string { return runtime.Version() }

// Load stores A by rows and B by columns, so that the inner loops run through memory in order.
func (Library) Load(p problem.Problem, threads int) (*peer.Loaded, error) {
	m, k, n := p.Shape()
	var x problem.Number
	a := make([]big.Float, m*k)
	for i := range m {
		for h := range k {
			p.Entry(problem.A, i, h, &x)
			a[i*k+h] = *x.Big(p.Bits)
		}
	}
	c := make([]big.Float, m*n)
	at := func(i, j int) *big.Float { return &c[i+j*m] }

	const name = "math/big.Float loop"
	if p.Kind == problem.Sum {
		return &peer.Loaded{Methods: []peer.Method{
			{Name: name, Role: peer.Peer, Threads: 1, At: at, Run: func(int) error {
				sum := c[0].SetPrec(p.Bits).SetInt64(0)
				for h := range a {
					sum.Add(sum, &a[h])
				}
				return nil
			}},
		}}, nil
	}

	b := make([]big.Float, k*n)
	for j := range n {
		for h := range k {
			p.Entry(problem.B, h, j, &x)
			b[j*k+h] = *x.Big(p.Bits)
		}
	}
	if m*n == 1 {
		threads = 1
	}
	return &peer.Loaded{Methods: []peer.Method{
		{Name: name, Role: peer.Peer, MinColumns: threads, Linear: true, Threads: threads, At: at, Run: func(columns int) error {
			peer.Split(m*columns, threads, func(low, high int) {
				term := new(big.Float).SetPrec(p.Bits)
				for e := low; e < high; e++ {
					row, column := a[e%m*k:][:k], b[e/m*k:][:k]
					sum := c[e].SetPrec(p.Bits).SetInt64(0)
					for h := range row {
						sum.Add(sum, term.Mul(&row[h], &column[h]))
					}
				}
			})
			return nil
		}},
	}}, nil
}
