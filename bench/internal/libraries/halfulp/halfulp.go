// Package halfulp measures halfulp itself.
package halfulp

import (
	"encoding/json"
	"math/big"

	"github.com/halfulp/halfulp"

	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/problem"
)

// Library is halfulp at the commit that the record names.
type Library struct{}

// Name returns "halfulp".
func (Library) Name() string { return "halfulp" }

// Version returns "this tree".
func (Library) Version() string { return "this tree" }

// Load stores the operands and the result in one format: Float64 at 53 bits, where the exponents
// fit it, else MP.
func (Library) Load(p problem.Problem, threads int) (*peer.Loaded, error) {
	format := halfulp.MP(p.Bits)
	if p.Bits == 53 && p.Spread == 0 {
		format = halfulp.Float64
	}
	options := &halfulp.Options{Threads: threads}
	one, zero := halfulp.Float(1), halfulp.Float(0)
	m, k, n := p.Shape()

	var stats halfulp.Stats
	method := peer.Method{
		Name:    "halfulp",
		Role:    peer.Subject,
		Rounded: true,
		Threads: threads,
		Detail: func() json.RawMessage {
			text, err := json.Marshal(stats)
			if err != nil {
				panic(err) // a struct of plain fields
			}
			return text
		},
	}
	switch p.Kind {
	case problem.Gemm:
		a, b := loadMatrix(p, problem.A, format, m, k), loadMatrix(p, problem.B, format, k, n)
		c := halfulp.NewMatrix(format, m, n)
		method.MinColumns = (n + 3) / 4
		method.At = c.Big
		method.Run = func(columns int) (err error) {
			right, result := b.Slice(0, k, 0, columns), c.Slice(0, m, 0, columns)
			err = halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, right, zero, result, options.WithStats(&stats))
			return err
		}
	case problem.Gemv:
		a, x := loadMatrix(p, problem.A, format, m, k), loadMatrix(p, problem.B, format, k, 1).Col(0)
		y := halfulp.NewVector(format, m)
		method.At = func(i, _ int) *big.Float { return y.Big(i) }
		method.Run = func(int) (err error) {
			err = halfulp.Gemv(halfulp.NoTrans, one, a, x, zero, y, options.WithStats(&stats))
			return err
		}
	case problem.Dot:
		x, y := loadMatrix(p, problem.A, format, 1, k).Row(0), loadMatrix(p, problem.B, format, k, 1).Col(0)
		var z halfulp.Scalar
		method.At = func(int, int) *big.Float { return z.Big() }
		method.Run = func(int) (err error) {
			z, err = halfulp.Dot(x, y, format, options.WithStats(&stats))
			return err
		}
	case problem.Sum:
		x := loadMatrix(p, problem.A, format, 1, k).Row(0)
		var z halfulp.Scalar
		method.At = func(int, int) *big.Float { return z.Big() }
		method.Run = func(int) (err error) {
			z, err = halfulp.Sum(x, format, options.WithStats(&stats))
			return err
		}
	}
	return &peer.Loaded{Methods: []peer.Method{method}}, nil
}

func loadMatrix(p problem.Problem, operand problem.Operand, format halfulp.Format, rows, columns int) *halfulp.Matrix {
	a := halfulp.NewMatrix(format, rows, columns)
	var x problem.Number
	for j := range columns {
		for i := range rows {
			p.Entry(operand, i, j, &x)
			a.SetBig(i, j, x.Big(p.Bits))
		}
	}
	return a
}
