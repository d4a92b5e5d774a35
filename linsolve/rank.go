package linsolve

import (
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// integers are powers of two with which a matrix is one of integers: entry (i, j) times
// 2^-(rows[i] + cols[j]) is an integer, and no smaller power does for row i.
type integers struct {
	rows, cols []int64
	bits       []int // bound of the bits of the integers of each row, 0 for a row of zeros
}

// toIntegers returns such powers.
func toIntegers(a num.Mat) integers {
	z := integers{make([]int64, a.Rows), make([]int64, a.Cols), make([]int, a.Rows)}
	const none = math.MaxInt64
	low := func(i, j int) int64 {
		if c, _, low := a.Arr.Span(a.At(i, j)); c == num.Finite {
			return low
		}
		return none
	}
	for i := range z.rows {
		least := int64(none)
		for j := range z.cols {
			least = min(least, low(i, j))
		}
		if least != none {
			z.rows[i] = least
		}
	}
	for j := range z.cols {
		least := int64(none)
		for i := range z.rows {
			if l := low(i, j); l != none {
				least = min(least, l-z.rows[i])
			}
		}
		if least != none {
			z.cols[j] = least
		}
	}
	for i := range z.rows {
		for j := range z.cols {
			if c, top, _ := a.Arr.Span(a.At(i, j)); c == num.Finite {
				z.bits[i] = max(z.bits[i], int(top-z.rows[i]-z.cols[j]))
			}
		}
	}
	return z
}

// minorBits returns a number of bits that the magnitude of no minor of the integers exceeds, with
// more columns of as many bits beside them: Hadamard's bound of rows, each at least 1.
func (z integers) minorBits() int {
	sum := 0.0
	half := float64(math.Log2(float64(max(1, len(z.cols)))) / 2)
	for _, b := range z.bits {
		if b > 0 {
			sum += float64(b) + half
		}
	}
	return int(sum*(1+0x1p-40)) + 2
}

// Rank returns the rank of a matrix, which is proved.
//
// The time is that of an elimination modulo a prime. Where the rank is less than both dimensions,
// by little, it is that of an inverse modulo a prime and, for each 60 bits of Hadamard's bound of a
// determinant, of some products of the matrix with a vector: a few in all where a row or column is
// a simple combination of others. Where it is less by much each 60 bits take an elimination. The
// error wraps ErrNotFinite for infinities and NaN.
func Rank(a *halfulp.Matrix, opt *halfulp.Options) (int, Stats, error) {
	s, on, err := begin("Rank", opt, a.View())
	if err != nil {
		return 0, Stats{}, err
	}
	if err := call.Finite("A", on[0]); err != nil {
		return 0, result(s), wrapped("Rank", err)
	}
	defer s.Release()
	r, _, err := rank(s, on[0])
	if err != nil {
		return 0, result(s), wrapped("Rank", err)
	}
	s.Stage("elimination")
	s.Finished()
	return r, result(s), nil
}

// NullSpace returns a basis of the null space of an m x n matrix A of rank r in format f: an
// n x (n - r) matrix Z with A Z = 0 but for the roundings of Z, each entry correctly rounded. It is
// the one that has a unit matrix in those rows that belong to columns of A without pivots in an
// elimination modulo a prime, mostly the last ones. The time and errors are those of Rank and
// Solve.
func NullSpace(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, Stats, error) {
	s, on, err := begin("NullSpace", opt, a.View())
	if err != nil {
		return nil, Stats{}, err
	}
	if err := call.Finite("A", on[0]); err != nil {
		return nil, result(s), wrapped("NullSpace", err)
	}
	z, err := nullSpace(s, on[0], f.View())
	if err != nil {
		return nil, result(s), wrapped("NullSpace", err)
	}
	s.Finished()
	return halfulp.MatrixOf(z), result(s), nil
}

func nullSpace(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
	n := a.Cols
	r, prime, err := rank(s, a)
	if err != nil {
		return num.Mat{}, err
	}
	z := num.NewMat(f, n, n-r)
	if r == n {
		return z, nil
	}
	pivots := func(a num.Mat) ([]int, error) {
		rows, err := prime.Matrix(s.Ctx, s.Threads, a)
		if err != nil {
			return nil, err
		}
		p, _, err := prime.Eliminate(s.Ctx, s.Threads, rows, a.Cols, false)
		return p, err
	}
	// These r columns have rank r modulo the prime, and so have r of their rows.
	cols, err := pivots(a)
	if err != nil {
		return num.Mat{}, err
	}
	var free []int
	for j := range n {
		if !slices.Contains(cols, j) {
			free = append(free, j)
		}
	}
	all := make([]int, a.Rows)
	for i := range all {
		all[i] = i
	}
	rows, err := pivots(chosen(a, all, cols).T())
	if err != nil {
		return num.Mat{}, err
	}
	x := num.NewMat(f, r, n-r)
	if r > 0 {
		right := chosen(a, rows, free)
		minus := num.NewMat(right.Format(), r, n-r)
		if err := s.Gemm(-1, num.Identity(num.Float64, r), right, 0, num.Mat{}, minus); err != nil {
			return num.Mat{}, err
		}
		if x, err = solve(s, chosen(a, rows, cols), minus, f); err != nil {
			return num.Mat{}, err
		}
	}
	for j, k := range free {
		z.SetEntry(k, j, num.Float(1))
		for i, c := range cols {
			z.SetEntry(c, j, x.Entry(i, j))
		}
	}
	return z, nil
}

// chosen returns a copy of some rows and columns.
func chosen(a num.Mat, rows, cols []int) num.Mat {
	z := num.NewMat(a.Format(), len(rows), len(cols))
	from, to := a, z
	for j, c := range cols {
		for i, r := range rows {
			to.Arr.CopyFrom(to.At(i, j), from.Arr, from.At(r, c))
		}
	}
	return z
}

// regular returns nil if a square matrix is proved to be regular, an error that wraps ErrSingular
// if it is proved to be singular.
func provedRegular(s *call.Run, a num.Mat) error {
	r, _, err := rank(s, a)
	if err != nil {
		return err
	}
	if n := a.Rows; r < n {
		return &call.SingularError{N: n, Rank: r}
	}
	return nil
}

// rank returns the rank of a matrix, and a prime modulo which it is the same. The rank modulo a
// prime is not larger, and if there is a regular minor of a larger size, its determinant, an
// integer, is a multiple of all primes for which the rank is smaller: once their product exceeds
// Hadamard's bound, there is none. Where that takes many primes the rank modulo powers of one is
// found in their place.
func rank(s *call.Run, a num.Mat) (int, *modular.Field, error) {
	m := a
	full := min(m.Rows, m.Cols)
	z := toIntegers(m)
	best, known, prime := -1, 0, modular.New(modular.Primes()())
	for next, bits := modular.Primes(), z.minorBits(); known < bits && full > 0; {
		f := modular.New(next())
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
			bits = z.largestMinor(best + 1)
			if z.lifts(m, best, (bits-known)/60) {
				is, err := ranks(s, a, z, f, positions(before, rows[:best]), pivots)
				if is || err != nil {
					return best, prime, err
				}
			}
		}
		s.Plan(float64((bits-known)/60) * call.PrimeStep(m))
	}
	return max(best, 0), prime, nil
}

// positions returns where rows lie among all, none of which are copies.
func positions(all, rows [][]uint64) []int {
	z := make([]int, len(rows))
	for k := range rows {
		z[k] = slices.IndexFunc(all, func(row []uint64) bool { return &row[0] == &rows[k][0] })
	}
	return z
}

// lifts reports whether a rank r is found faster by lifting than by that many primes. Integers of
// far more bits than numbers have are none to lift with: exponents are far apart.
func (z integers) lifts(m num.Mat, r, primes int) bool {
	if z.mostBits() > mostLifted {
		return false
	}
	k := min(m.Rows, m.Cols) - r // columns; as many rows of square matrices
	if m.Rows == m.Cols {
		k *= 2
	}
	// may fuse: estimates
	once := float64(2*call.WordCost)*call.Cube(r) + float64(r*r*call.PrimeCost)
	digit := float64(k) * z.digitCost(max(m.Rows, m.Cols), r)
	return once+float64(primes)*digit < float64(primes)*call.PrimeStep(m) // may fuse: an estimate
}

// mostLifted bounds the bits of the integers that lifting multiplies.
const mostLifted = 1 << 13

// ranks reports whether the rank of A, of the integers G that are z, is that of r rows and columns
// whose minor is regular modulo f's prime p. With these first, and y the solution of G[:r,:r] y =
// G[:r,j] in the p-adic integers,
//
//	G[i,j] - G[i,:r] y
//
// is a minor of order r + 1 over one that p does not divide. If it is 0 modulo a power of p beyond
// Hadamard's bound it is 0, and if all of them are the rank is r. If y is an integer, digits
// between -p/2 and p/2 end, and nothing is left of G[:,j]. Both columns and rows are looked at, as
// combinations of either may be simple.
func ranks(s *call.Run, a num.Mat, z integers, f *modular.Field, rows, cols []int) (bool, error) {
	bits := z.largestMinor(len(cols) + 1)
	if a.Rows < a.Cols {
		a, z, rows, cols = a.T(), z.transposed(a), cols, rows
	}
	l, err := dependences(s, a, z, f, rows, cols, nil)
	if err != nil || l == nil {
		return false, err
	}
	sides := []*lifting{l}
	if a.Rows == a.Cols {
		inverse := make([][]uint64, len(l.inverse))
		for i := range inverse {
			inverse[i] = make([]uint64, len(inverse))
			for j := range inverse {
				inverse[i][j] = l.inverse[j][i]
			}
		}
		if l, err = dependences(s, a.T(), z.transposed(a), f, cols, rows, inverse); err != nil {
			return false, err
		}
		sides = append(sides, l)
	}
	for have := 0; have < bits; have += 60 {
		for _, l := range sides {
			if l.done() {
				return true, nil
			}
			_, fits, err := l.digits()
			if err != nil || !fits {
				return false, err
			}
			s.Stats.Digits += len(l.r)
		}
	}
	return true, nil
}

// dependences returns the lifting of the other columns of A by those of some rows and columns,
// whose inverse modulo p may be known; nil if they are singular modulo p.
func dependences(s *call.Run, a num.Mat, z integers, f *modular.Field, rows, cols []int, inverse [][]uint64) (l *lifting, err error) {
	rows, others := append(slices.Clone(rows), without(rows, a.Rows)...), without(cols, a.Cols)
	of := integers{make([]int64, len(rows)), make([]int64, len(cols)), make([]int, len(rows))}
	for i, k := range rows {
		of.rows[i], of.bits[i] = z.rows[k], z.bits[k]
	}
	for j, k := range cols {
		of.cols[j] = z.cols[k]
	}
	first := chosen(a, rows, cols)
	if inverse != nil {
		l, err = liftingBy(s, first, of, f, inverse)
	} else {
		l, err = newLifting(s, first, of, f)
	}
	if l == nil || err != nil {
		return nil, err
	}
	for _, j := range others {
		r := make([]*big.Int, len(rows))
		for i, k := range rows {
			v := a.Big(k, j)
			r[i], _ = v.SetMantExp(v, int(-z.rows[k]-z.cols[j])).Int(nil)
		}
		l.add(r)
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
func (z integers) transposed(a num.Mat) integers {
	t := integers{z.cols, z.rows, make([]int, a.Cols)}
	for j := range t.bits {
		for i := range z.rows {
			if c, top, _ := a.Arr.Span(a.At(i, j)); c == num.Finite {
				t.bits[j] = max(t.bits[j], int(top-z.rows[i]-z.cols[j]))
			}
		}
	}
	return t
}
