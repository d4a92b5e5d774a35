package scale

import (
	"context"
	"math"
	"slices"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// Scaling is a scaling by powers of two, F = D1 A D2 with D1 = diag(2^Rows[i]) and D2 =
// diag(2^Cols[j]), usually chosen so that the entries of F lie near 1.
type Scaling struct {
	Rows, Cols []int64
}

// Unscaled returns the scaling that leaves a matrix as it is.
func Unscaled(rows, cols int) Scaling { return Scaling{make([]int64, rows), make([]int64, cols)} }

// Tops are the exponents of a matrix, by columns: the magnitude of entry (i, j) is below 2^top and
// at least 2^(top-1), with top = Top[i + j rows]. Top of a zero is None.
type Tops struct {
	rows, cols int
	Top        []int64
}

// None is the exponent of 0.
const None = math.MinInt64

// TopsOf returns the exponents of a matrix of finite numbers.
func TopsOf(a num.Mat) Tops { return TopsOn(1, a) }

// TopsOn is TopsOf on several threads.
func TopsOn(threads int, a num.Mat) Tops {
	return topsIn(threads, make([]int64, a.Rows*a.Cols), a)
}

// topsIn is TopsOn with memory for the exponents.
func topsIn(threads int, room []int64, a num.Mat) Tops {
	t := Tops{a.Rows, a.Cols, room}
	_ = par.Each(context.Background(), threads, a.Cols, func(j int) {
		column := t.Top[j*a.Rows : (j+1)*a.Rows]
		at := a.At(0, j)
		switch a.Arr.Kind {
		case num.F64:
			data := a.Arr.F64[0]
			for i := range column {
				// The usual case, inlined.
				e := int64(math.Float64bits(data[at+i*a.RS]) >> 52 & 0x7ff)
				if column[i] = e - 1022; e == 0 {
					column[i] = Exponent(a.Arr, at+i*a.RS)
				}
			}
			return
		case num.MP:
			exp, cls := a.Arr.Exp, a.Arr.Cls
			for i := range column {
				k := at + i*a.RS
				if column[i] = int64(exp[k]); cls[k].Class() != num.Finite {
					column[i] = None
				}
			}
			return
		}
		for i := range column {
			c, top, _ := a.Arr.Span(at + i*a.RS)
			if column[i] = top; c != num.Finite {
				column[i] = None
			}
		}
	})
	return t
}

// Exponent returns the exponent of number i of an array of MP or F64; None for 0.
func Exponent(a *num.Array, i int) int64 {
	if a.Kind == num.MP {
		if a.Cls[i].Class() != num.Finite {
			return None
		}
		return int64(a.Exp[i])
	}
	x := a.F64[0][i]
	if e := int64(math.Float64bits(x) >> 52 & 0x7ff); e > 0 {
		return e - 1022
	}
	if x == 0 {
		return None
	}
	_, e := math.Frexp(x)
	return int64(e)
}

// exponents keeps the memory of Tops between calls.
var exponents bufpool.Shelf[[]int64]

// Of returns a scaling of a square matrix for decompositions in float64.
func Of(a num.Mat) Scaling { return OfOn(1, a) }

// OfOn is Of on several threads.
func OfOn(threads int, a num.Mat) Scaling {
	if a.Arr.Kind == num.F64 {
		if s, ok := rangesOf(threads, a).equilibrate(); ok {
			return s
		}
	}
	room := bufpool.Slice(&exponents, a.Rows*a.Cols)
	defer bufpool.Return(&exponents, room)
	t := topsIn(1, room[:a.Rows*a.Cols], a)
	s := t.Equilibrate(Unscaled(a.Rows, a.Cols))
	if s.spreads(t) {
		if z, ok := t.match(); ok {
			return z
		}
	}
	return s
}

// Equilibrate returns a scaling for which the largest magnitude of each row and column of F lies
// near 1. It starts with the scaling start. In each of two rounds it divides rows and columns by
// the square roots of their largest entries; at last it divides rows by their largest entries. Rows
// and columns of zeros are not scaled further.
func Equilibrate(a num.Mat, start Scaling) Scaling { return TopsOf(a).Equilibrate(start) }

// Equilibrate is the function Equilibrate for the matrix with the exponents t.
func (t Tops) Equilibrate(start Scaling) Scaling {
	s := Scaling{slices.Clone(start.Rows), slices.Clone(start.Cols)}
	rows, cols := make([]int64, t.rows), make([]int64, t.cols)
	changed := true // s has changed since rows and cols were computed
	for round := range 3 {
		if changed {
			t.largest(s, rows, cols)
			changed = false
		}
		part := int64(2)
		if round == 2 {
			part = 1
			clear(cols)
		}
		for i, e := range rows {
			if e != None && e/part != 0 {
				s.Rows[i] -= e / part
				changed = true
			}
		}
		for j, e := range cols {
			if e != None && e/part != 0 {
				s.Cols[j] -= e / part
				changed = true
			}
		}
	}
	return s
}

// largest stores the largest exponents of the rows and columns of F; None for a row or column of
// zeros.
func (t Tops) largest(s Scaling, rows, cols []int64) {
	for i := range rows {
		rows[i] = None
	}
	for j, col := range s.Cols {
		most := int64(None)
		for i, top := range t.Top[j*t.rows : (j+1)*t.rows] {
			if top != None {
				e := top + s.Rows[i] + col
				rows[i], most = max(rows[i], e), max(most, e)
			}
		}
		cols[j] = most
	}
}

// spreads reports whether F has nonzero entries below 2^-SeedBits, which may be lost beside 1 in
// float64 arithmetic.
func (s Scaling) spreads(t Tops) bool {
	for j, col := range s.Cols {
		for i, top := range t.Top[j*t.rows : (j+1)*t.rows] {
			if top != None && top+s.Rows[i]+col < -SeedBits {
				return true
			}
		}
	}
	return false
}

// match returns a scaling of a square matrix for which no entry of F exceeds 1 and n entries, one
// in each row and column, are at least 1/2 (Duff and Koster, On algorithms for permuting large
// entries to the diagonal of a sparse matrix, 2001). It is not ok if the matrix has no n nonzero
// entries in different rows and columns. The cost is at most n³ additions.
//
// The scaling is the dual solution of an assignment problem, found by shortest augmenting paths
// (Kuhn 1955).
func (t Tops) match() (z Scaling, ok bool) {
	const dear = 1 << 50 // more than n times any exponent
	n := t.rows
	// Entry n stands for no row and no column.
	rows, cols := make([]int64, n+1), make([]int64, n+1)
	rowOf := make([]int, n+1) // the row matched with each column
	for j := range rowOf {
		rowOf[j] = n
	}
	cost := make([]int64, n*n)
	for i := range n {
		for j := range n {
			cost[i*n+j] = dear
			if top := t.Top[i+j*n]; top != None {
				cost[i*n+j] = -top
			}
		}
	}
	before, least, used := make([]int, n), make([]int64, n), make([]bool, n+1)
	for i := range n {
		for j := range n {
			least[j] = math.MaxInt64
		}
		clear(used)
		rowOf[n] = i
		at := n
		for rowOf[at] < n {
			used[at] = true
			row := rowOf[at]
			delta, next := int64(math.MaxInt64), n
			for j := range n {
				if used[j] {
					continue
				}
				if c := cost[row*n+j] - rows[row] - cols[j]; c < least[j] {
					least[j], before[j] = c, at
				}
				if least[j] < delta {
					delta, next = least[j], j
				}
			}
			for j := range n + 1 {
				if used[j] {
					rows[rowOf[j]] += delta
					cols[j] -= delta
				} else if j < n {
					least[j] -= delta
				}
			}
			at = next
		}
		for at != n {
			rowOf[at] = rowOf[before[at]]
			at = before[at]
		}
	}
	for j, i := range rowOf[:n] {
		if cost[i*n+j] == dear {
			return z, false
		}
	}
	return Scaling{rows[:n], cols[:n]}, true
}

// Float64s stores F, rounded to about 50 bits, in f, column by column, and returns f. Entries below
// 2^-1000 become 0. [Rounding] bounds the errors.
func (s Scaling) Float64s(a num.Mat, f []float64) []float64 { return s.Float64sOn(1, a, f) }

// Float64sOn is Float64s on several threads.
func (s Scaling) Float64sOn(threads int, a num.Mat, f []float64) []float64 {
	var rows []float64
	if a.Arr.Kind == num.F64 {
		rows = make([]float64, a.Rows)
		for i, e := range s.Rows {
			rows[i] = NearPower(e)
		}
	}
	_ = par.Each(context.Background(), threads, a.Cols, func(j int) {
		column, at := f[j*a.Rows:(j+1)*a.Rows], a.At(0, j)
		if rows != nil {
			by := NearPower(s.Cols[j])
			for i, row := range rows[:len(column)] {
				k := at + i*a.RS
				// This is exact in the usual range. Other numbers, zeros and NaN are converted like
				// other formats.
				y := a.Arr.F64[0][k] * (row * by)
				if square := float64(y * y); !(square >= 0x1p-400 && square <= 0x1p400) {
					x, e := a.Arr.Leading(k)
					y = Ldexp(x, e+s.Rows[i]+s.Cols[j])
				}
				column[i] = y
			}
			return
		}
		if a.Arr.Kind == num.MP { // Leading and Ldexp, inlined for usual exponents
			sig, exp, cls, l := a.Arr.Sig, a.Arr.Exp, a.Arr.Cls, a.Arr.Limbs()
			k, col := at, s.Cols[j]
			for i, row := range s.Rows[:len(column)] {
				e := int64(exp[k]) + row + col
				if c := cls[k]; c.Class() == num.Finite && uint64(e+900) <= 1800 {
					column[i] = signed(float64(int64(sig[k*l+l-1]>>11))*Power(e-53), c)
				} else {
					x, e := a.Arr.Leading(k)
					column[i] = Ldexp(x, e+row+col)
				}
				k += a.RS
			}
			return
		}
		for i := range column {
			x, e := a.Arr.Leading(at + i*a.RS)
			column[i] = Ldexp(x, e+s.Rows[i]+s.Cols[j])
		}
	})
	return f
}

// MoreFloat64s stores in f the parts of numbers of F in MP that [Scaling.Float64s] cuts off, which
// are themselves cut off after 53 bits, and returns f. The remainder of each number is below 2^-106
// times the power of two above the number, or below 2^-900.
func (s Scaling) MoreFloat64s(a num.Mat, f []float64) []float64 {
	l := a.Arr.Limbs()
	sig, exp, cls := a.Arr.Sig, a.Arr.Exp, a.Arr.Cls
	for j := range a.Cols {
		to, k, col := f[j*a.Rows:(j+1)*a.Rows], a.At(0, j), s.Cols[j]
		for i, row := range s.Rows[:len(to)] {
			e := int64(exp[k]) + row + col
			x := 0.0
			if c := cls[k]; c.Class() == num.Finite && uint64(e+850) < 1700 {
				w := sig[k*l+l-1] & (1<<11 - 1) << 42
				if l > 1 {
					w |= sig[k*l+l-2] >> 22
				}
				x = signed(float64(int64(w))*Power(e-106), c)
			}
			to[i] = x
			k += a.RS
		}
	}
	return f
}

// signed returns x ≥ 0 with the sign of a class, without a branch.
func signed(x float64, c num.Cls) float64 {
	return math.Float64frombits(math.Float64bits(x) | c.Sign()<<63)
}

// Power returns 2^e for |e| ≤ 1000.
func Power(e int64) float64 { return math.Float64frombits(uint64(e+1023) << 52) }

// NearPower returns 2^e for |e| ≤ 400, else NaN, which makes products NaN. The product of two such
// powers and a number near the inverse of their product is exact in float64.
func NearPower(e int64) float64 {
	if e < -400 || e > 400 {
		return math.NaN()
	}
	return Power(e)
}

// Ldexp returns x 2^e for about 1/2 ≤ |x| < 2; 0 if e is below -1000, and an infinity if e is above
// 1000.
func Ldexp(x float64, e int64) float64 {
	switch {
	case x == 0 || e < -1000:
		return 0
	case e > 1000:
		return math.Copysign(math.Inf(1), x)
	}
	return x * Power(e)
}

// Rounding returns a bound of the relative errors of the entries that [Scaling.Float64s] stores.
func Rounding(a num.Mat) float64 {
	switch a.Arr.Kind {
	case num.F32, num.F64:
		return 0
	case num.MP:
		return 0x1.01p-52 // cut off after 53 bits
	}
	return 0x1p-48
}

// Least returns the exponent of the smallest nonzero entry of F, at most 0.
func (t Tops) Least(s Scaling) int64 {
	least := int64(0)
	for j, col := range s.Cols {
		for i, top := range t.Top[j*t.rows : (j+1)*t.rows] {
			if top != None {
				least = min(least, top+s.Rows[i]+col)
			}
		}
	}
	return least
}

// SeedBits is the number of bits of a float64 seed.
const SeedBits = 53
