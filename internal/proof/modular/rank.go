package modular

import (
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// RowBits returns the bits that row i adds to Hadamard's bound.
func (z Integers) RowBits(i int) float64 {
	return float64(max(z.Bits[i], 1)) + float64(math.Log2(float64(max(1, len(z.Cols))))/2)
}

// LeadingMinors returns bounds, in bits, of the minors of the first i rows, for i from 0 to k. The
// bounds are not corrected for rounding.
func (z Integers) LeadingMinors(k int) []float64 {
	sums := make([]float64, k+1)
	for i := range k {
		sums[i+1] = sums[i] + z.RowBits(i)
	}
	return sums
}

// LargestMinor returns a bound, in bits, of all minors of the integers of order up to k: Hadamard's
// bound.
func (z Integers) LargestMinor(k int) int {
	rows := call.All(len(z.Bits))
	slices.SortFunc(rows, func(i, j int) int { return z.Bits[j] - z.Bits[i] })
	sum := 0.0
	for _, i := range rows[:min(k, len(rows))] {
		sum += z.RowBits(i)
	}
	return int(float64(sum*(1+0x1p-40))) + 2
}

// Integers are powers of two that scale a matrix to integers: entry (i, j) times 2^-(rows[i] +
// cols[j]) is an integer. For given cols, rows[i] is the largest such exponent.
type Integers struct {
	Rows, Cols []int64
	Bits       []int // bounds of the bits of the integers of each row, 0 for a row of zeros
	// Dense says that most integers have about as many bits as the longest ones.
	Dense bool
}

// ToIntegers returns powers of two that scale a to integers.
func ToIntegers(a num.Mat) Integers {
	z := Integers{Rows: make([]int64, a.Rows), Cols: make([]int64, a.Cols), Bits: make([]int, a.Rows)}
	const none = math.MaxInt64
	low := func(i, j int) int64 {
		if c, _, low := a.Arr.Span(a.At(i, j)); c == num.Finite {
			return low
		}
		return none
	}
	for i := range z.Rows {
		least := int64(none)
		for j := range z.Cols {
			least = min(least, low(i, j))
		}
		if least != none {
			z.Rows[i] = least
		}
	}
	for j := range z.Cols {
		least := int64(none)
		for i := range z.Rows {
			if l := low(i, j); l != none {
				least = min(least, l-z.Rows[i])
			}
		}
		if least != none {
			z.Cols[j] = least
		}
	}
	for i := range z.Rows {
		for j := range z.Cols {
			if c, top, _ := a.Arr.Span(a.At(i, j)); c == num.Finite {
				z.Bits[i] = max(z.Bits[i], int(top-z.Rows[i]-z.Cols[j]))
			}
		}
	}
	return z
}

// MinorBits returns a bound, in bits, of all minors of the integers, also if some of their columns
// are replaced by columns of as many bits: Hadamard's bound by rows, each counted as at least 1.
func (z Integers) MinorBits() int {
	sum := 0.0
	half := float64(math.Log2(float64(max(1, len(z.Cols)))) / 2)
	for _, b := range z.Bits {
		if b > 0 {
			sum += float64(b) + half
		}
	}
	return int(sum*(1+0x1p-40)) + 2
}

// DeterminantBits is MinorBits for the determinant of a square matrix: the smaller of Hadamard's
// bounds by the norms of the rows and by the norms of the columns.
func (z Integers) DeterminantBits(a num.Mat) int {
	n := a.Rows
	most := z.MostBits()
	if most == 0 {
		return z.MinorBits()
	}
	rows, cols := make([]float64, n), make([]float64, n) // sums of squares, scaled by 4^-most
	for j := range n {
		for i := range n {
			x, e := a.Arr.Leading(a.At(i, j)) // relative error 2^-48
			y := scale.Ldexp(x, e-z.Rows[i]-z.Cols[j]-int64(most))
			y = float64(y * y)
			rows[i] += y
			cols[j] += y
		}
	}
	sum := func(squares []float64) (bits float64) {
		for _, y := range squares {
			// Sums have relative errors of at most n 2^-47, and absolute errors below 2^-900. Each
			// norm is at least 1, or the determinant is 0. The first term, 2^-20, exceeds these
			// errors by far.
			bits += 0x1p-20 + max(0, float64(most)+float64(math.Log2(y+0x1p-900)/2))
		}
		return bits
	}
	bits := min(sum(rows), sum(cols))
	return int(min(bits*(1+0x1p-40), math.MaxInt32/2)) + 2
}

// Chosen returns a copy of the submatrix of the given rows and columns.
func Chosen(a num.Mat, rows, cols []int) num.Mat {
	z := num.NewMat(a.Format(), len(rows), len(cols))
	from, to := a, z
	for j, c := range cols {
		for i, r := range rows {
			to.Arr.CopyFrom(to.At(i, j), from.Arr, from.At(r, c))
		}
	}
	return z
}

// ProvedRegular returns nil if a square matrix is proved to be regular, and an error that wraps
// ErrSingular if it is proved to be singular.
func ProvedRegular(s *call.Run, a num.Mat) error {
	r, _, err := Rank(s, a)
	if err != nil {
		return err
	}
	if n := a.Rows; r < n {
		return &call.SingularError{N: n, Rank: r}
	}
	return nil
}

// Rank returns the rank of a matrix, and a prime modulo which the matrix has this rank.
//
// The rank modulo a prime is at most the rank. If the matrix has a regular minor of a larger order,
// the determinant of the minor, an integer, is a multiple of all primes for which the rank is
// smaller. Once the product of these primes exceeds Hadamard's bound there is no such minor. If
// that takes many primes, Rank instead proves the rank modulo powers of one prime: see [Ranks].
func Rank(s *call.Run, a num.Mat) (int, *Field, error) {
	m := a
	full := min(m.Rows, m.Cols)
	z := ToIntegers(m)
	best, known, prime := -1, 0, New(Primes()())
	for next, bits := Primes(), z.MinorBits(); known < bits && full > 0; {
		f := New(next())
		rows, err := f.Matrix(s.Ctx, s.Threads, m)
		if err != nil {
			return 0, nil, err
		}
		before := slices.Clone(rows)
		pivots, _, err := f.Eliminate(s.Ctx, s.Threads, rows, m.Cols, false)
		if err != nil {
			return 0, nil, err
		}
		s.Stats.Primes++
		s.Did(call.PrimeStep(m))
		known += 60
		if len(pivots) > best {
			best, prime = len(pivots), f
			if best == full {
				break
			}
			bits = z.LargestMinor(best + 1)
			if z.lifts(m, best, (bits-known)/60) {
				is, err := Ranks(s, a, z, f, Positions(before, rows[:best]), pivots)
				if is || err != nil {
					return best, prime, err
				}
			}
		}
		s.Plan(float64((bits-known)/60) * call.PrimeStep(m))
	}
	return max(best, 0), prime, nil
}

// Positions returns the index in all of each of rows. Slices are compared by their storage.
func Positions(all, rows [][]uint64) []int {
	z := make([]int, len(rows))
	for k := range rows {
		z[k] = slices.IndexFunc(all, func(row []uint64) bool { return &row[0] == &rows[k][0] })
	}
	return z
}

// lifts reports whether lifting proves a rank r faster than the given number of primes. It returns
// false for integers of more than MostLifted bits, which occur if exponents are far apart.
func (z Integers) lifts(m num.Mat, r, primes int) bool {
	if z.MostBits() > MostLifted {
		return false
	}
	k := min(m.Rows, m.Cols) - r // columns; for square matrices as many rows
	if m.Rows == m.Cols {
		k *= 2
	}
	// may fuse: estimates
	once := float64(2*call.WordCost)*call.Cube(r) + float64(r*r*call.PrimeCost)
	digit := float64(k) * z.DigitCost(max(m.Rows, m.Cols), r)
	return once+float64(primes)*digit < float64(primes)*call.PrimeStep(m) // may fuse: an estimate
}

// MostLifted bounds the bits of the integers that lifting multiplies.
const MostLifted = 1 << 13

// Ranks reports whether the rank of A is r, where r rows and columns have a minor that is regular
// modulo f's prime p. z describes the integers G of A.
//
// Order these rows and columns first, and let y be the solution of G[:r,:r] y = G[:r,j] in the
// p-adic integers. Then
//
//	G[i,j] - G[i,:r] y
//
// is the quotient of a minor of order r + 1 and a minor that p does not divide. If it is 0 modulo a
// power of p beyond Hadamard's bound, it is 0; if all of them are 0, the rank is r. If y is an
// integer, its digits between -p/2 and p/2 end, and the remainder of G[:,j] becomes 0. For square
// A, Ranks lifts combinations of columns and combinations of rows, because either may be simple.
func Ranks(s *call.Run, a num.Mat, z Integers, f *Field, rows, cols []int) (bool, error) {
	bits := z.LargestMinor(len(cols) + 1)
	if a.Rows < a.Cols {
		a, z, rows, cols = a.T(), z.transposed(a), cols, rows
	}
	l, err := dependences(s, a, z, f, rows, cols, nil)
	if err != nil || l == nil {
		return false, err
	}
	sides := []*Lifting{l}
	if a.Rows == a.Cols {
		inverse := make([][]uint64, len(l.Inverse))
		for i := range inverse {
			inverse[i] = make([]uint64, len(inverse))
			for j := range inverse {
				inverse[i][j] = l.Inverse[j][i]
			}
		}
		if l, err = dependences(s, a.T(), z.transposed(a), f, cols, rows, inverse); err != nil {
			return false, err
		}
		sides = append(sides, l)
	}
	for have := 0; have < bits; have += 60 {
		for _, l := range sides {
			if l.Done() {
				return true, nil
			}
			_, fits, err := l.Digits()
			if err != nil || !fits {
				return false, err
			}
			s.Stats.Digits += len(l.R)
		}
	}
	return true, nil
}

// dependences returns the lifting that represents the other columns of A as combinations of the
// columns cols, determined in the rows rows. inverse is the inverse modulo p of this r x r
// submatrix, or nil if unknown. dependences returns nil if the submatrix is singular modulo p.
func dependences(s *call.Run, a num.Mat, z Integers, f *Field, rows, cols []int, inverse [][]uint64) (l *Lifting, err error) {
	rows, others := append(slices.Clone(rows), without(rows, a.Rows)...), without(cols, a.Cols)
	of := Integers{Rows: make([]int64, len(rows)), Cols: make([]int64, len(cols)), Bits: make([]int, len(rows))}
	for i, k := range rows {
		of.Rows[i], of.Bits[i] = z.Rows[k], z.Bits[k]
	}
	for j, k := range cols {
		of.Cols[j] = z.Cols[k]
	}
	first := Chosen(a, rows, cols)
	if inverse != nil {
		l, err = LiftingBy(s, first, of, f, inverse)
	} else {
		l, err = NewLifting(s, first, of, f)
	}
	if l == nil || err != nil {
		return nil, err
	}
	for _, j := range others {
		r := make([]*big.Int, len(rows))
		for i, k := range rows {
			v := a.Big(k, j)
			r[i], _ = v.SetMantExp(v, int(-z.Rows[k]-z.Cols[j])).Int(nil)
		}
		l.Add(r)
	}
	return l, nil
}

// without returns the numbers below n that are not in list.
func without(list []int, n int) []int {
	in := make([]bool, n)
	for _, i := range list {
		in[i] = true
	}
	return slices.DeleteFunc(call.All(n), func(i int) bool { return in[i] })
}

// transposed returns z for the transpose of a.
func (z Integers) transposed(a num.Mat) Integers {
	t := Integers{Rows: z.Cols, Cols: z.Rows, Bits: make([]int, a.Cols)}
	for j := range t.Bits {
		for i := range z.Rows {
			if c, top, _ := a.Arr.Span(a.At(i, j)); c == num.Finite {
				t.Bits[j] = max(t.Bits[j], int(top-z.Rows[i]-z.Cols[j]))
			}
		}
	}
	return t
}
