// Package sample has every construct that gocuda knows.
package sample

import (
	"math"
	"math/bits"
)

type pair [2]float64

const third = 1.0 / 3

var table = [3]pair{{1, 2}, {third, -0x1p-1074}, {1e300, 5}}

func (p pair) scaled(x float64) pair { return pair{p[0] * x, p[1] * x} }

func (p *pair) swap() { p[0], p[1] = p[1], p[0] }

// split returns the halves of x.
func split(x float64) (hi, lo float64) {
	b := math.Float64bits(x)
	hi = math.Float64frombits(b &^ (1<<27 - 1))
	lo = x - hi
	return
}

func size(p pair) float64 {
	sum := 0.0
	for i := range p {
		sum += math.Abs(p[i])
	}
	for _, x := range p {
		if x < 0 {
			continue
		}
		sum -= float64(x * third)
	}
	return sum
}

// All calls everything.
func All(x, y float64) float64 {
	p := pair{x, y}
	p.swap()
	hi, lo := split(p[0])
	q := &p
	q[1] = hi + lo/3
	var z float64
	switch n := int(math.Float64bits(y) & 3); n {
	case 0:
		z = math.FMA(x, y, hi)
	case 1, 2:
		for i := 0; i < n+1; i++ {
			z += table[i][n-1]
		}
	default:
		z = math.Copysign(math.Sqrt(math.Abs(x)), y)
	}
	high, low := bits.Mul64(math.Float64bits(x), math.Float64bits(y))
	if e := bits.Len64(high^low) >> 1; e > 20 && !math.IsNaN(x) {
		z *= float64(e)
	} else if math.IsInf(x, 0) || e == 3 {
		return -z
	}
	return size(p.scaled(z))
}
