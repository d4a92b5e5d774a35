package lsq

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// product is a product of some of these factors: r, the residual sum of squares; u, an entry of the
// inverse of the matrix of the normal equations; and x, a component of the solution.
type product struct {
	r    bool
	u    [2]int // row and column, -1 without u
	x    int    // -1 without x
	k, c *big.Float
}

// identities reports which of the products p satisfy p k = c. All products belong to one column of
// the solution.
//
// Let D be the determinant of the system. D u and D x are minors of it, and D r is a minor of the
// bordered system. So an identity, multiplied by D or D², is an identity of integers times powers
// of two. One prime modulo which it does not hold refutes it. It is proved if it holds modulo
// primes whose product exceeds the largest possible difference of the two sides.
func identities(s *call.Run, e *Equations, column int, total *big.Float, products []product) (holds []bool, err error) {
	n := e.m.Rows
	bordered, err := e.bordered(column, total)
	if err != nil {
		return nil, err
	}
	z := modular.ToIntegers(bordered)
	minor := int64(z.MinorBits())
	scale := int64(0)
	for i := range n {
		scale += z.Rows[i] + z.Cols[i]
	}
	holds = make([]bool, len(products))
	need := make([]int64, len(products))
	left := 0
	for i, p := range products {
		holds[i] = true
		left++
		// Both sides as integers times powers of two.
		low := [2]int64{interval.Lowest(p.k), interval.Lowest(p.c)}
		top := [2]int64{int64(p.k.MantExp(nil)), int64(p.c.MantExp(nil))}
		add := func(side int, power int64) {
			low[side] += power
			top[side] += power + minor
		}
		factors := 0
		if p.r {
			add(0, scale+z.Rows[n]+z.Cols[n])
			factors++
		}
		if p.u[0] >= 0 {
			add(0, scale-z.Rows[e.First+p.u[1]]-z.Cols[e.First+p.u[0]])
			factors++
		}
		if p.x >= 0 {
			add(0, scale-z.Cols[e.First+p.x]+z.Cols[n])
			factors++
		}
		for range factors {
			add(1, scale)
		}
		need[i] = max(top[0], top[1]) - min(low[0], low[1]) + 2
	}
	known, step := int64(0), call.PrimeStep(e.m)
	for next := modular.Primes(); left > 0; {
		f := modular.New(next())
		s.Stats.Primes++
		v, err := identitiesModulo(s, f, e, column, total, products)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue // the system is singular modulo p
		}
		known += 60
		most := int64(1)
		for i, p := range products {
			if need[i] < 0 || !holds[i] {
				continue
			}
			if f.Mul(v[i], f.Rational(p.k)) != f.Rational(p.c) {
				holds[i] = false
				left--
			} else if known >= need[i] {
				need[i] = -1
				left--
			}
			most = max(most, need[i])
		}
		s.Did(step)
		s.Plan(float64((most-known)/60) * step)
	}
	return holds, nil
}

// identitiesModulo returns the values of the products modulo a prime, nil if the system is singular
// modulo this prime.
func identitiesModulo(s *call.Run, f *modular.Field, e *Equations, column int, total *big.Float, products []product) ([]uint64, error) {
	rows, err := f.Matrix(s.Ctx, s.Threads, e.m)
	if err != nil {
		return nil, err
	}
	n := len(rows)
	units := map[int]int{} // the needed columns of the inverse
	for _, p := range products {
		if _, ok := units[p.u[1]]; p.u[0] >= 0 && !ok {
			units[p.u[1]] = n + 1 + len(units)
		}
	}
	d, g := e.d, e.g
	value := func(m num.Mat, i int) uint64 {
		var buf [num.MaxValueWords]uint64
		return f.Real(m.Arr.Value(m.At(i, column), buf[:]))
	}
	sign := f.One
	if e.sign < 0 {
		sign = f.Sub(0, f.One)
	}
	for i := range rows {
		rows[i] = append(append(rows[i], value(d, i)), make([]uint64, len(units))...)
	}
	for j, at := range units {
		rows[e.First+j][at] = sign
	}
	pivots, _, err := f.Eliminate(s.Ctx, s.Threads, rows, n, true)
	if err != nil || len(pivots) < n {
		return nil, err
	}
	r := f.Rational(total)
	for i := range rows {
		r = f.Add(r, f.Mul(value(g, i), rows[i][n]))
	}
	z := make([]uint64, len(products))
	for i, p := range products {
		z[i] = f.One
		if p.r {
			z[i] = f.Mul(z[i], r)
		}
		if p.u[0] >= 0 {
			z[i] = f.Mul(z[i], rows[e.First+p.u[0]][units[p.u[1]]])
		}
		if p.x >= 0 {
			z[i] = f.Mul(z[i], rows[e.First+p.x][n])
		}
	}
	return z, nil
}

// bordered returns the bordered system, whose minors are the determinants above,
//
//	(M   d)
//	(-gᵀ t), t the total.
func (e *Equations) bordered(column int, total *big.Float) (num.Mat, error) {
	n := e.m.Rows
	f, err := ziv.FormatFor(max(bound.Longest(e.m), bound.Longest(e.g), bound.Longest(e.d), int64(total.MinPrec())))
	if err != nil {
		return num.Mat{}, err
	}
	z := num.NewMat(f, n+1, n+1)
	for j := range n {
		for i := range n {
			z.SetBig(i, j, e.m.Big(i, j))
		}
		v := e.g.Big(j, column)
		z.SetBig(n, j, v.Neg(v))
		z.SetBig(j, n, e.d.Big(j, column))
	}
	z.SetBig(n, n, total)
	return z, nil
}
