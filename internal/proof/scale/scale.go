package scale

import (
	"math"
	"slices"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/num"
)

// Scaling are powers of two that bring a matrix near 1: F = D1 A D2 with D1 = diag(2^Rows[i]) and
// D2 = diag(2^Cols[j]).
type Scaling struct {
	Rows, Cols []int64
}

// Unscaled returns the scaling that leaves a matrix as it is.
func Unscaled(rows, cols int) Scaling { return Scaling{make([]int64, rows), make([]int64, cols)} }

// Tops are exponents of a matrix by columns: that of entry (i, j) is Top[i + j rows], with the
// magnitude below 2^top, and none for zeros.
type Tops struct {
	rows, cols int
	Top        []int64
}

// None is the exponent of 0.
const None = math.MinInt64

// TopsOf returns the exponents of a matrix of finite numbers.
func TopsOf(a num.Mat) Tops { return topsIn(make([]int64, a.Rows*a.Cols), a) }

// topsIn is TopsOf with room.
func topsIn(room []int64, a num.Mat) Tops {
	t := Tops{a.Rows, a.Cols, room}
	for j := range a.Cols {
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
			continue
		case num.MP:
			exp, cls := a.Arr.Exp, a.Arr.Cls
			for i := range column {
				k := at + i*a.RS
				if column[i] = int64(exp[k]); cls[k].Class() != num.Finite {
					column[i] = None
				}
			}
			continue
		}
		for i := range column {
			c, top, _ := a.Arr.Span(at + i*a.RS)
			if column[i] = top; c != num.Finite {
				column[i] = None
			}
		}
	}
	return t
}

// Exponent returns the exponent of number i of an array of MP or F64.
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

// exponents are those of tops, kept between calls.
var exponents bufpool.Shelf[[]int64]

// Of returns a scaling of a square matrix for decompositions in float64.
func Of(a num.Mat) Scaling {
	if a.Arr.Kind == num.F64 {
		if s, ok := rangesOf(a).equilibrate(); ok {
			return s
		}
	}
	room := bufpool.Slice(&exponents, a.Rows*a.Cols)
	defer bufpool.Return(&exponents, room)
	t := topsIn(room[:a.Rows*a.Cols], a)
	s := t.Equilibrate(Unscaled(a.Rows, a.Cols))
	if s.spreads(t) {
		if z, ok := t.match(); ok {
			return z
		}
	}
	return s
}

// Equilibrate returns a scaling for which the largest magnitude of each row and column of F lies
// near 1, by a few rounds of dividing both by the square roots of their largest entries, and rows
// by theirs at last, on top of a scaling to begin with. Rows and columns of zeros stay as they are.
func Equilibrate(a num.Mat, start Scaling) Scaling { return TopsOf(a).Equilibrate(start) }

// Equilibrate is the function of that name for the matrix of which t are the exponents.
func (t Tops) Equilibrate(start Scaling) Scaling {
	s := Scaling{slices.Clone(start.Rows), slices.Clone(start.Cols)}
	rows, cols := make([]int64, t.rows), make([]int64, t.cols)
	changed := true // s, since rows and cols were found
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

// largest stores the largest exponents of the rows and columns of F, none for zeros.
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

// spreads reports whether F has entries so small beside 1 that float64 arithmetic may not see them.
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
// entries to the diagonal of a sparse matrix, 2001); not ok if there are no n such entries but
// zeros. The time is that of n³ additions at most.
//
// It is the dual solution of an assignment problem, by shortest augmenting paths (Kuhn 1955).
func (t Tops) match() (z Scaling, ok bool) {
	const dear = 1 << 50 // more than n times any exponent
	n := t.rows
	// Entry n stands for no row and no column.
	rows, cols := make([]int64, n+1), make([]int64, n+1)
	rowOf := make([]int, n+1) // of the match of each column
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

// Float64s stores F rounded to some 50 bits in f, column by column, and returns f. Entries below
// 2^-1000 are 0.
func (s Scaling) Float64s(a num.Mat, f []float64) []float64 {
	var rows []float64
	if a.Arr.Kind == num.F64 {
		rows = make([]float64, a.Rows)
		for i, e := range s.Rows {
			rows[i] = NearPower(e)
		}
	}
	for j := range a.Cols {
		column, at := f[j*a.Rows:(j+1)*a.Rows], a.At(0, j)
		if rows != nil {
			by := NearPower(s.Cols[j])
			for i, row := range rows[:len(column)] {
				k := at + i*a.RS
				// Exact in the usual range; other numbers, zeros and NaN go the way of all formats.
				y := a.Arr.F64[0][k] * (row * by)
				if size := math.Abs(y); !(size >= 0x1p-200 && size <= 0x1p200) {
					x, e := a.Arr.Leading(k)
					y = Ldexp(x, e+s.Rows[i]+s.Cols[j])
				}
				column[i] = y
			}
			continue
		}
		if a.Arr.Kind == num.MP { // Leading and ldexp for the usual exponents, in line
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
			continue
		}
		for i := range column {
			x, e := a.Arr.Leading(at + i*a.RS)
			column[i] = Ldexp(x, e+s.Rows[i]+s.Cols[j])
		}
	}
	return f
}

// MoreFloat64s stores in f what [Scaling.Float64s] cuts off numbers of F in MP, itself cut off
// after 53 bits: what is left of each is below 2^-106 of the power of two above it, or below
// 2^-900.
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

// NearPower returns 2^e for |e| ≤ 400: the product of two such and of a number about their inverse
// is exact in float64. It is NaN for others, and so are products with it.
func NearPower(e int64) float64 {
	if e < -400 || e > 400 {
		return math.NaN()
	}
	return Power(e)
}

// Ldexp returns x 2^e for 1/2 ≤ |x| < 2 or so, 0 where e is below -1000 and an infinity where it is
// above 1000.
func Ldexp(x float64, e int64) float64 {
	switch {
	case x == 0 || e < -1000:
		return 0
	case e > 1000:
		return math.Copysign(math.Inf(1), x)
	}
	return x * Power(e)
}

// Rounding returns a bound of the relative errors of entries that [Scaling.Float64s] makes.
func Rounding(a num.Mat) float64 {
	switch a.Arr.Kind {
	case num.F32, num.F64:
		return 0
	case num.MP:
		return 0x1.01p-52 // cut off after 53 bits
	}
	return 0x1p-48
}

// Least returns the exponent of the smallest entry of F that is not 0.
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

// SeedBits are the bits of a seed.
const SeedBits = 53
