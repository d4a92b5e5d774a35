package reproduce

import (
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/bigfun"
)

// notNormal is a quantity of table accuracy.
const notNormal = "share of results not in normal form"

// qdCancelling is the sum of numbers whose leading words cancel.
const qdCancelling = "+, cancelling"

// qdArguments is the number of arguments among which the largest error of an operation is taken.
const qdArguments = 200

// qdPrecision is the precision of exact results, in bits.
const qdPrecision = 400

// qdExactly returns the result of an operation without errors, rounded to qdPrecision.
func qdExactly(name string, x, y *big.Float) *big.Float {
	z := new(big.Float).SetPrec(qdPrecision)
	switch name {
	case "+", qdCancelling:
		return z.Add(x, y)
	case "-":
		return z.Sub(x, y)
	case "*":
		return z.Mul(x, y)
	case "/":
		return z.Quo(x, y)
	case "sqrt":
		return z.Sqrt(x)
	case "exp":
		return bigfun.Exp(x, qdPrecision)
	case "log":
		return bigfun.Log(x, qdPrecision)
	}
	sin, _ := bigfun.SinCos(x, qdPrecision)
	return sin
}

// sumOf returns the exact value of number i.
func sumOf(x *halfulp.Vector, i int) *big.Float {
	z := new(big.Float).SetPrec(2 * qdPrecision)
	a := x.View().Arr
	for t := range a.Terms() {
		z.Add(z, new(big.Float).SetFloat64(a.F64[t][i]))
	}
	return z
}

// qdAccuracy measures errors of the published algorithms, of ours and of exact sums, for arguments
// from 1 to 2, and for sums that cancel to their last words.
func (e *experiment) qdAccuracy(r *Report) error {
	if err := e.next(); err != nil {
		return err
	}
	cancelling := qdOperations[0]
	cancelling.name = qdCancelling
	for _, f := range qdKinds {
		if f.format == halfulp.Float64 || f.format == halfulp.TD {
			continue
		}
		for _, op := range append([]qdOperation{cancelling}, qdOperations...) {
			if !f.has(op) || f.method == qdExact && op.name == "-" {
				continue
			}
			x, y, z := qdVector(f.format, qdArguments, 5), qdVector(f.format, qdArguments, 6), halfulp.NewVector(f.format, qdArguments)
			if op.name == qdCancelling {
				qdCancel(x, y)
			}
			o := &halfulp.Options{Method: f.method, Context: e.Context}
			run := func() error { return op.run(x, y, z, o) }
			if f.method == qdExact { // z + x
				o.Method, z = "", y.Clone()
				run = func() error { return op.exact(x, z, o) }
			}
			if err := run(); err != nil {
				return err
			}
			worst := 0.0
			for i := range qdArguments {
				want := qdExactly(op.name, sumOf(x, i), sumOf(y, i))
				if want.Sign() == 0 {
					continue
				}
				d := new(big.Float).SetPrec(qdPrecision).Sub(sumOf(z, i), want)
				q, _ := d.Quo(d, want).Float64()
				worst = max(worst, math.Abs(q))
			}
			r.add(Record{Table: tableQDAccuracy, Case: f.name, Method: op.name, N: qdArguments, Quantity: relativeError, Here: &worst})
		}
	}
	overlapping := 0.0
	x, y := qdVector(halfulp.QD, 10*qdArguments, 7), qdVector(halfulp.QD, 10*qdArguments, 8)
	qdCancel(x, y)
	for i := range x.Len() {
		a, b := x.View().Arr.F64, y.View().Arr.F64
		z := expansion.PublishedQD{a[0][i], a[1][i], a[2][i], a[3][i]}.Add(expansion.PublishedQD{b[0][i], b[1][i], b[2][i], b[3][i]})
		for t := range 3 {
			if z[t]+z[t+1] != z[t] {
				overlapping++
				break
			}
		}
	}
	r.add(Record{Table: tableQDAccuracy, Case: qdQD + qdPublished, Method: qdCancelling, N: x.Len(), Quantity: notNormal, Here: known(overlapping / float64(x.Len()))})
	return nil
}

// qdCancel sets words of y that cancel the words of x: for a DD the first word, up to a few units
// in its last place, for a QD the first two. The other words of x are small, so that the sum needs
// more words than remain in the operands.
func qdCancel(x, y *halfulp.Vector) {
	r := rand.New(rand.NewPCG(9, 4))
	a, b := x.View().Arr.F64, y.View().Arr.F64
	last := x.View().Arr.Terms()/2 - 1
	for i := range x.Len() {
		for t := range last {
			b[t][i] = -a[t][i]
		}
		b[last][i] = -a[last][i] * (1 + math.Ldexp(1, -52+r.IntN(4)))
		for t := last + 1; t < y.View().Arr.Terms(); t++ {
			a[t][i] *= math.Ldexp(1, -30*(t-last))
			b[t][i] = (float64(r.Float64()) - 0.5) * 0x1p-53 * math.Abs(b[t-1][i])
		}
	}
}
