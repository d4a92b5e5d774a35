package seed

import (
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// ErrBeyond reports intermediate numbers beyond the exponents of formats.
var ErrBeyond = fmt.Errorf("factors or an inverse beyond the exponents of formats: %w", call.ErrRange)

// Elimination is a Gaussian elimination in numbers of some bits. Nothing is known of its error.
type Elimination struct {
	LU    num.Mat // L below the diagonal, U on and above it
	Order []int   // row i of L U is row order[i] of the matrix
	Zero  int     // the first pivot that vanished, -1 if none did
}

// nearTie is the factor, 1 - 2^-64, within which magnitudes of pivots are accepted as equal.
var nearTie = new(big.Float).SetPrec(64).Sub(big.NewFloat(1), new(big.Float).SetMantExp(big.NewFloat(1), -64))

// Eliminate eliminates the first k columns of c, where k is at most the number of rows, in numbers
// of the given bits. With partial pivoting the pivot is the first of the entries that equal the
// largest one within nearTie.
func Eliminate(s *call.Run, c num.Mat, k, bits int, partial bool) (*Elimination, error) {
	if err := call.Workable(bits, c); err != nil {
		return nil, err
	}
	m, n := c.Dims()
	e := &Elimination{LU: c.Convert(num.Precision(uint(bits))), Order: make([]int, m), Zero: -1}
	for i := range e.Order {
		e.Order[i] = i
	}
	if err := eliminateColumns(s, e, 0, k, partial); err != nil || e.Zero >= 0 {
		return e, err
	}
	return e, updateColumns(s, e, 0, k, n)
}

// eliminateColumns eliminates columns j0 to j1, as long as it finds pivots, by recursion (Toledo,
// Locality of reference in LU decomposition with partial pivoting, 1997).
func eliminateColumns(s *call.Run, e *Elimination, j0, j1 int, partial bool) error {
	if j1-j0 <= call.Panel {
		if err := s.Ctx.Err(); err != nil {
			return err
		}
		return eliminatePanel(s, e, j0, j1, partial)
	}
	h := (j0 + j1) / 2
	if err := eliminateColumns(s, e, j0, h, partial); err != nil || e.Zero >= 0 {
		return err
	}
	if err := updateColumns(s, e, j0, h, j1); err != nil {
		return err
	}
	return eliminateColumns(s, e, h, j1, partial)
}

// updateColumns turns rows j0 to j1 of columns j1 to c into rows of U, and subtracts the
// eliminations of columns j0 to j1 from the rows below.
func updateColumns(s *call.Run, e *Elimination, j0, j1, c int) error {
	if j1 == c {
		return nil
	}
	if err := solveRows(s, e, j0, j1, j1, c); err != nil {
		return err
	}
	return subtractRows(s, e, j0, j1, e.LU.Rows, j1, c)
}

// subtractRows subtracts the eliminations by rows j0 to j1 of U from rows j1 to i of columns c0 to
// c1.
func subtractRows(s *call.Run, e *Elimination, j0, j1, i, c0, c1 int) error {
	if i == j1 {
		return nil
	}
	rest := e.LU.Slice(j1, i, c0, c1)
	return s.GemmWithin(-1, e.LU.Slice(j1, i, j0, j1), e.LU.Slice(j0, j1, c0, c1), 1, rest, rest, About(rest.Format().Bits()))
}

// eliminatePanel eliminates columns j0 to j1, as long as it finds pivots.
func eliminatePanel(s *call.Run, e *Elimination, j0, j1 int, partial bool) error {
	m, prec := e.LU.Rows, uint(e.LU.Format().Bits())
	// may fuse: an estimate
	defer s.Did(float64((m-j0)*(j1-j0)) * call.Panel * (call.PanelCost + call.SquareWords(int(prec))*call.WordCost))
	rows := make([][]*big.Float, m) // from row j0 on
	for i := j0; i < m; i++ {
		rows[i] = make([]*big.Float, j1)
		for j := j0; j < j1; j++ {
			rows[i][j] = e.LU.Big(i, j)
		}
	}
	for j := j0; j < j1; j++ {
		if partial {
			p := LargestPivot(m-j, func(i int) *big.Float { return rows[j+i][j] }) + j
			rows[j], rows[p] = rows[p], rows[j]
			e.exchange(j, p)
		}
		pivot := rows[j]
		if pivot[j].Sign() == 0 {
			e.Zero = j
			return nil
		}
		var beyond atomic.Bool
		err := par.Each(s.Ctx, s.Threads, m-j-1, func(i int) {
			row := rows[j+1+i]
			if row[j].Sign() == 0 {
				return
			}
			l := row[j].Quo(row[j], pivot[j])
			t := new(big.Float).SetPrec(prec)
			for c := j + 1; c < j1 && !l.IsInf(); c++ {
				Subtract(row[c], t.Mul(l, pivot[c]))
			}
			if slices.ContainsFunc(row[j:j1], (*big.Float).IsInf) {
				beyond.Store(true)
			}
		})
		if err == nil && beyond.Load() {
			err = ErrBeyond
		}
		if err != nil {
			return err
		}
	}
	for i := j0; i < m; i++ {
		for j := j0; j < j1; j++ {
			e.LU.SetBig(i, j, rows[i][j])
		}
	}
	return nil
}

// LargestPivot returns which of n numbers has the largest magnitude: the first one of those
// accepted as equal, see nearTie.
func LargestPivot(n int, x func(i int) *big.Float) int {
	most, abs := new(big.Float), func(i int) *big.Float { return new(big.Float).Abs(x(i)) }
	for i := range n {
		if v := abs(i); v.Cmp(most) > 0 {
			most = v
		}
	}
	most = new(big.Float).SetPrec(most.Prec()+64).Mul(most, nearTie)
	for i := range n {
		if abs(i).Cmp(most) >= 0 {
			return i
		}
	}
	return 0
}

// Subtract replaces x by about x - y. Sums of math/big hold all bits between two numbers on the
// way, which are too many where exponents are far apart.
func Subtract(x, y *big.Float) {
	const spare = 64
	if x.Sign() != 0 && y.Sign() != 0 && !y.IsInf() {
		switch above := x.MantExp(nil) - y.MantExp(nil); {
		case above > int(x.Prec())+spare:
			return
		case -above > int(x.Prec())+spare:
			x.Neg(y)
			return
		}
	}
	x.Sub(x, y)
}

// exchange exchanges two rows.
func (e *Elimination) exchange(i, p int) {
	if i == p {
		return
	}
	e.Order[i], e.Order[p] = e.Order[p], e.Order[i]
	for j := range e.LU.Cols {
		x, y := e.LU.Entry(i, j), e.LU.Entry(p, j)
		e.LU.SetEntry(i, j, y)
		e.LU.SetEntry(p, j, x)
	}
}

// solveRows turns rows j0 to j1 of columns c0 to c1 into rows of U, by forward substitution.
func solveRows(s *call.Run, e *Elimination, j0, j1, c0, c1 int) error {
	if j1-j0 > call.Panel {
		h := (j0 + j1) / 2
		if err := solveRows(s, e, j0, h, c0, c1); err != nil {
			return err
		}
		if err := subtractRows(s, e, j0, h, j1, c0, c1); err != nil {
			return err
		}
		return solveRows(s, e, h, j1, c0, c1)
	}
	prec := uint(e.LU.Format().Bits())
	l := make([][]*big.Float, j1)
	for i := j0; i < j1; i++ {
		l[i] = make([]*big.Float, i)
		for j := j0; j < i; j++ {
			l[i][j] = e.LU.Big(i, j)
		}
	}
	var beyond atomic.Bool
	err := par.Each(s.Ctx, s.Threads, c1-c0, func(c int) {
		c += c0
		t := new(big.Float).SetPrec(prec)
		x := make([]*big.Float, j1)
		for i := j0; i < j1; i++ {
			x[i] = e.LU.Big(i, c)
			for j := j0; j < i; j++ {
				if x[j].Sign() != 0 && l[i][j].Sign() != 0 {
					Subtract(x[i], t.Mul(l[i][j], x[j]))
				}
				if x[i].IsInf() {
					beyond.Store(true)
					return
				}
			}
			e.LU.SetBig(i, c, x[i])
		}
	})
	if err == nil && beyond.Load() {
		err = ErrBeyond
	}
	return err
}

// InvertLower stores about the inverse of the lower triangular matrix in l in x. l may hold
// anything above its diagonal; entries of x above the diagonal must be 0. With unit, the diagonal
// of the matrix is 1 whatever l holds there.
func InvertLower(s *call.Run, l, x num.Mat, unit bool) error {
	n := l.Rows
	if n <= call.Panel {
		if !invertSmall(l, x, unit) {
			return ErrBeyond
		}
		return s.Ctx.Err()
	}
	h := n / 2
	for _, r := range [][2]int{{0, h}, {h, n}} {
		if err := InvertLower(s, l.Slice(r[0], r[1], r[0], r[1]), x.Slice(r[0], r[1], r[0], r[1]), unit); err != nil {
			return err
		}
	}
	t, bits := num.NewMat(x.Format(), n-h, h), x.Format().Bits()
	if err := s.GemmWithin(1, l.Slice(h, n, 0, h), x.Slice(0, h, 0, h), 0, num.Mat{}, t, About(bits)); err != nil {
		return err
	}
	return s.GemmWithin(-1, x.Slice(h, n, h, n), t, 0, num.Mat{}, x.Slice(h, n, 0, h), About(bits))
}

// invertSmall is InvertLower for orders up to call.Panel; not ok if a number is infinite.
func invertSmall(l, x num.Mat, unit bool) (ok bool) {
	n, prec := l.Rows, uint(x.Format().Bits())
	rows := make([][]*big.Float, n)
	for i := range rows {
		rows[i] = make([]*big.Float, i+1)
		for j := range rows[i] {
			rows[i][j] = l.Big(i, j)
		}
		if unit {
			rows[i][i] = big.NewFloat(1)
		}
	}
	t := new(big.Float).SetPrec(prec)
	col := make([]*big.Float, n)
	for j := range n {
		for i := j; i < n; i++ {
			sum := new(big.Float).SetPrec(prec)
			if i == j {
				sum.SetInt64(1)
			}
			for k := j; k < i; k++ {
				if Subtract(sum, t.Mul(rows[i][k], col[k])); sum.IsInf() {
					return false
				}
			}
			if col[i] = sum.Quo(sum, rows[i][i]); col[i].IsInf() {
				return false
			}
			x.SetBig(i, j, col[i])
		}
	}
	return true
}

// TriangleInverses returns about the inverses of L and U, of order k: a unit lower triangular
// matrix and an upper triangular one.
func TriangleInverses(s *call.Run, lu num.Mat, k int) (li, ui num.Mat, err error) {
	lu = lu.Slice(0, k, 0, k)
	li, ui = num.NewMat(lu.Format(), k, k), num.NewMat(lu.Format(), k, k)
	if err := InvertLower(s, lu, li, true); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	if err := InvertLower(s, lu.T().Copy(), ui, false); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	return li, ui.T().Copy(), nil
}
