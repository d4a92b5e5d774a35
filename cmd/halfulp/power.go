package main

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/par"
)

// maxExactPower bounds the exponents whose powers map rounds correctly: an exact power has up to so
// many times as many bits as the number.
const maxExactPower = 64

// powersMethod is the method of integerPowers.
const powersMethod = "powers"

// smallInteger returns the common value of all entries of m, if they are equal and it is an integer
// of magnitude up to maxExactPower.
func smallInteger(m *halfulp.Matrix) (n int, ok bool) {
	if m.Rows() == 0 || m.Cols() == 0 {
		return 0, false
	}
	x := m.Float64(0, 0)
	if !(math.Abs(x) <= maxExactPower) || x != math.Trunc(x) || m.At(0, 0).Cmp(halfulp.Float(x)) != 0 {
		return 0, false
	}
	return int(x), true
}

// integerPowers sets every entry of z to the power n of the entry of x, rounded once, with the
// special values of the function pow.
func (j *job) integerPowers(x *halfulp.Matrix, n int, z *halfulp.Matrix) (halfulp.Stats, error) {
	start, opt := time.Now(), j.options()
	if opt.Threads == 0 {
		opt.Threads = runtime.GOMAXPROCS(0)
	}
	rows, cols := x.Dims()
	var overflow atomic.Int64
	err := par.For(opt.Context, opt.Threads, rows, func(_, i int) {
		for k := range cols {
			from := x.At(i, k)
			to := integerPower(z.NumberFormat(), from, n)
			if to.IsInf(0) && from.Sign() != 0 && !from.IsInf(0) {
				overflow.Add(1)
			}
			z.Set(i, k, to)
		}
	})
	return halfulp.Stats{
		Device: cpuDevice, Method: powersMethod, Threads: opt.Threads, Overflow: overflow.Load(), Stages: []halfulp.Stage{{Name: "powers", Time: time.Since(start)}},
	}, err
}

// integerPower returns RN(xⁿ).
func integerPower(f halfulp.Format, x halfulp.Scalar, n int) halfulp.Scalar {
	k := max(n, -n)
	switch {
	case k == 0:
		return halfulp.Float(1)
	case x.IsNaN():
		return x
	}
	wide := halfulp.MP(max(x.Big().MinPrec()*uint(k), halfulp.MinPrec)) // holds all powers up to k
	p := halfulp.Float(1)
	for square := x; k > 0; k >>= 1 {
		if k&1 != 0 {
			p = wide.Mul(p, square)
		}
		if k > 1 {
			square = wide.Mul(square, square)
		}
	}
	if n < 0 {
		return f.Quo(halfulp.Float(1), p)
	}
	return p.Convert(f)
}
