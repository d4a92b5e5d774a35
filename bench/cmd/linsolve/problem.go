package main

import (
	"math"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/linsolve"
)

// A problem is a matrix A and a right-hand side b.
type problem struct {
	n       int
	bits    uint
	kappa   float64
	weights float64
	format  halfulp.Format
	a, b    *halfulp.Matrix
	square  *halfulp.Matrix // AᵀA, nil for ill-conditioned A
	mirror  *halfulp.Matrix // the lower triangle of A and its transpose
	threads int
}

func log2(x float64) float64 { return math.Log2(x) }

// newProblem returns a random matrix or, for kappa > 0, a product of two of them with a diagonal
// matrix between them that falls from 1 to 1/kappa; for weights > 0 PᵀP of a random 2n x n matrix P
// whose rows fall by that many bits.
func newProblem(n int, bits uint, kappa, weights float64, threads int) (*problem, error) {
	f := halfulp.Float64
	if bits != 53 {
		f = halfulp.MP(bits)
	}
	p := &problem{n: n, bits: bits, kappa: kappa, weights: weights, format: f, threads: threads}
	p.a, p.b = gallery.Random(f, n, n, 0, 1), gallery.Random(f, n, 1, 0, 2)
	if weights > 0 {
		tall := gallery.Random(f, 2*n, n, 0, 1)
		for i := range 2 * n {
			w := halfulp.Float(math.Exp2(-weights * float64(i) / float64(2*n-1))).Big()
			for j := range n {
				x := tall.Big(i, j)
				tall.SetBig(i, j, x.Mul(x, w))
			}
		}
		err := halfulp.GemmTo(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), tall, tall, halfulp.Float(0), nil, p.a, p.options())
		p.mirror, p.square = p.a, p.a
		return p, err
	}
	p.mirror = p.a.Clone()
	for j := range n {
		for i := range j {
			p.mirror.Set(i, j, p.a.At(j, i))
		}
	}
	if kappa == 0 {
		p.square = halfulp.NewMatrix(f, n, n)
		err := halfulp.GemmTo(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), p.a, p.a, halfulp.Float(0), nil, p.square, p.options())
		return p, err
	}
	left := halfulp.NewMatrix(halfulp.MP(bits+53), n, n)
	for j := range n {
		d := math.Exp(-math.Log(kappa) * float64(j) / float64(max(n-1, 1)))
		for i := range n {
			x := p.a.Big(i, j)
			left.SetBig(i, j, x.SetPrec(bits+53).Mul(x, halfulp.Float(d).Big()))
		}
	}
	err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), left, gallery.Random(f, n, n, 0, 3), halfulp.Float(0), nil, p.a, p.options())
	return p, err
}

func (p *problem) options() *halfulp.Options { return &halfulp.Options{Threads: p.threads} }

const (
	productName = "halfulp product"
	solveName   = "halfulp Solve"
)

// halfulp returns the library's own methods.
func (p *problem) halfulp() []method {
	c := halfulp.NewMatrix(p.format, p.n, p.n)
	b := gallery.Random(p.format, p.n, p.n, 0, 4)
	methods := []method{
		{name: productName, run: func() (any, error) {
			err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), p.a, b, halfulp.Float(0), nil, c, p.options())
			return nil, err
		}},
		{name: solveName, run: func() (any, error) {
			var st halfulp.Stats
			_, err := linsolve.Solve(p.a, p.b, p.format, p.options().WithStats(&st))
			return st.Proof, err
		}},
		{name: "halfulp Inverse", slow: true, run: func() (any, error) {
			var st halfulp.Stats
			_, err := linsolve.Inverse(p.a, p.format, p.options().WithStats(&st))
			return st.Proof, err
		}},
		{name: "halfulp Det", slow: true, run: func() (any, error) {
			var st halfulp.Stats
			_, err := linsolve.Det(p.a, p.format, p.options().WithStats(&st))
			return st.Proof, err
		}},
		{name: "halfulp LU", slow: true, run: func() (any, error) {
			var st halfulp.Stats
			_, err := linsolve.LU(p.a, p.format, p.options().WithStats(&st))
			return st.Proof, err
		}},
		{name: "halfulp LDLT", slow: true, run: func() (any, error) {
			var st halfulp.Stats
			_, err := linsolve.LDLT(p.mirror, p.format, p.options().WithStats(&st))
			return st.Proof, err
		}},
		{name: "halfulp QR", slow: true, run: func() (any, error) {
			var st halfulp.Stats
			_, err := linsolve.QR(p.a, p.format, p.options().WithStats(&st))
			return st.Proof, err
		}},
		{name: "halfulp Cholesky", slow: true, run: func() (any, error) {
			var st halfulp.Stats
			_, err := linsolve.Cholesky(p.square, p.format, p.options().WithStats(&st))
			return st.Proof, err
		}},
	}
	if p.square == nil {
		return methods[:len(methods)-1]
	}
	return methods
}
