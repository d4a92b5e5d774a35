package lsq

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/halfulp/halfulp/internal/counted"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// ErrWeights is wrapped by errors about weights that are negative, infinite or NaN.
var ErrWeights = errors.New("weights are finite and not negative")

// RankError reports that the matrix of a least-squares problem is proved to have neither
// independent columns nor, with fewer rows than columns, independent rows. It wraps
// call.ErrSingular.
type RankError struct {
	Rows, Cols int // of the matrix, rows of weight 0 left out
	Rank       int // its rank
}

func (e *RankError) Error() string {
	return fmt.Sprintf("the rank of the %d x %d matrix is %d (proved): there is no unique least squares solution", e.Rows, e.Cols, e.Rank)
}

func (e *RankError) Unwrap() error { return call.ErrSingular }

// LeastSquares returns the solution in format f, where A lives. w are the weights of the rows;
// without w all weights are 1.
func LeastSquares(s *call.Run, a, b, w num.Mat, f num.Format) (num.Mat, error) {
	defer func() { s.Stats.Method = leastSquaresMethod }()
	if !a.OnHost() && a.Rows >= a.Cols && a.Cols*b.Cols > 0 && w.Arr == nil {
		if z, err := leastSquaresThere(s, a, b, f); z.Arr != nil || err != nil {
			return z, err
		}
	}
	m, err := NewModel(s, a, b, w)
	if err != nil {
		return num.Mat{}, err
	}
	z, err := m.solution(f, m.a.Rows < a.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	return solve.Finish(s, z, a)
}

// Model is a least-squares problem. Rows of weight 0 have been removed from A and B.
type Model struct {
	s      *call.Run
	a, b   num.Mat
	w      num.Mat // m x 1, nil without weights
	wa, wb num.Mat // diag(w) A and diag(w) B, exactly
}

// NewModel checks the operands of a routine and copies them to the host. Without w all weights are
// 1.
func NewModel(s *call.Run, a, b, w num.Mat) (*Model, error) {
	operands := []num.Mat{a, b}
	if w.Arr != nil {
		operands = append(operands, w)
	}
	on, err := solve.OnHost(operands...)
	if err != nil {
		return nil, err
	}
	s.Stats.Method = leastSquaresMethod
	m := &Model{s: s, a: on[0], b: on[1]}
	for i, n := range []string{"A", "B"} {
		if err := call.Finite(n, on[i]); err != nil {
			return nil, err
		}
	}
	if w.Arr != nil {
		if err := m.weigh(on[2]); err != nil {
			return nil, err
		}
	} else {
		m.wa, m.wb = m.a, m.b
	}
	for _, x := range []num.Mat{m.a, m.b, m.wa, m.wb} {
		if bound.Far(x, 1<<28) {
			return nil, fmt.Errorf("exponents beyond 2^28: %w", call.ErrRange)
		}
	}
	return m, nil
}

// weigh removes the rows of weight 0 and multiplies the others by their weights, exactly.
func (m *Model) weigh(w num.Mat) error {
	var rows []int
	v := w
	for i := range w.Rows {
		switch r := v.Arr.Class(v.At(i, 0)); {
		case r == num.Zero:
		case r != num.Finite || w.Big(i, 0).Sign() < 0:
			weight := weightText(w, i)
			return counted.New(ErrWeights, func(first int) string {
				return fmt.Sprintf("weight %d is %s: %v", i+first, weight, ErrWeights)
			})
		default:
			rows = append(rows, i)
		}
	}
	m.a, m.b, m.w = Choose(m.a, rows), Choose(m.b, rows), Choose(w, rows)
	var err error
	if m.wa, err = timesRows(m.a, m.w); err != nil {
		return err
	}
	m.wb, err = timesRows(m.b, m.w)
	return err
}

// weightText returns weight i as text for an error.
func weightText(w num.Mat, i int) string {
	if v := w.Entry(i, 0); !v.IsNaN() {
		return v.Big().Text('g', 10)
	}
	return "NaN"
}

// Choose returns the given rows of a matrix: m itself if these are all rows, else a copy.
func Choose(m num.Mat, rows []int) num.Mat {
	if len(rows) == m.Rows {
		return m
	}
	z := num.NewMat(m.Format(), len(rows), m.Cols)
	for k, i := range rows {
		for j := range m.Cols {
			z.SetEntry(k, j, m.Entry(i, j))
		}
	}
	return z
}

// timesRows returns diag(w) M, exactly.
func timesRows(m, w num.Mat) (num.Mat, error) {
	f, err := ziv.FormatFor(bound.Longest(m) + bound.Longest(w))
	if err != nil {
		return num.Mat{}, err
	}
	z := num.NewMat(f, m.Rows, m.Cols)
	for i := range m.Rows {
		d := w.Big(i, 0)
		for j := range m.Cols {
			z.SetBig(i, j, interval.ExactMul(m.Big(i, j), d))
		}
	}
	return z, nil
}

// productBits returns a number of bits that holds every entry of XᵀY exactly.
func productBits(x, y num.Mat) int64 {
	return ziv.ColumnBits(x) + ziv.ColumnBits(y) + int64(bits.Len(uint(x.Rows))) + 1
}

// exactProduct returns XᵀY, exactly.
func exactProduct(s *call.Run, x, y num.Mat) (num.Mat, error) {
	f, err := ziv.FormatFor(productBits(x, y))
	if err != nil {
		return num.Mat{}, err
	}
	bytes := call.MatrixBytes(f, x.Cols, y.Cols)
	if err := s.Budget.Check(float64(bytes)); err != nil {
		return num.Mat{}, err
	}
	s.Budget.Take(bytes) // until the routine ends
	z := num.NewMat(f, x.Cols, y.Cols)
	return z, s.Gemm(1, x.T(), y, 0, num.Mat{}, z)
}

// Equations is a regular system M Y = D. X is the rows First, First + 1, ... of Y.
type Equations struct {
	m, d  num.Mat
	First int
	// With sign times the unit vector of row First + j as right-hand side, the rows First,
	// First + 1, ... of the solution are column j of (AᵀWA)^-1. The residual sum of squares of
	// column j is g_jᵀ y_j, plus the weighted square of b_j if total is set.
	sign  float64
	g     num.Mat
	total bool
}

// Equations returns the system for independent columns that takes less memory: the normal equations
// or the augmented system.
func (m *Model) Equations() (*Equations, error) {
	rows, n := m.a.Dims()
	width := productBits(m.a, m.wa)
	augmented := max(bound.Longest(m.a), bound.Longest(m.wa)) + 64
	if width <= num.MaxPrec && int64(n)*int64(n)*width <= int64(rows+n)*int64(rows+n)*augmented {
		return m.normal()
	}
	return m.Augmented()
}

// normal returns the normal equations AᵀWA x = AᵀW b.
func (m *Model) normal() (*Equations, error) {
	if rows, n := m.a.Dims(); m.s.Work.Report != nil {
		of := func(x num.Mat) num.Format { return x.Arr.Format }
		square := call.ProductCost(n, rows, n, of(m.a), of(m.wa), call.MP(int(productBits(m.a, m.wa))))
		m.s.Plan(square + call.ProductCost(n, rows, m.b.Cols, of(m.a), of(m.wb), call.MP(int(productBits(m.a, m.wb)))) + call.FactorCost(n) + call.SeedCost(n))
	}
	// Check first that the memory of the solution fits as well.
	if f, err := ziv.FormatFor(productBits(m.a, m.wa)); err == nil {
		square := num.Mat{Arr: num.NewMat(f, 0, 0).Arr, Rows: m.a.Cols, Cols: m.a.Cols}
		bytes := float64(call.MatrixBytes(f, square.Rows, square.Cols)) + solve.FewBytes(square, num.Float64, m.b.Cols)
		if err := m.s.Budget.Check(bytes); err != nil {
			return nil, err
		}
	}
	square, err := exactProduct(m.s, m.a, m.wa)
	if err != nil {
		return nil, err
	}
	d, err := exactProduct(m.s, m.a, m.wb)
	if err != nil {
		return nil, err
	}
	return &Equations{m: square, d: d, sign: 1, g: negatedMatrix(d), total: true}, nil
}

// Augmented returns the system of residuals and estimates,
//
//	(I   A) (b - A x)   (b)
//	(AᵀW 0) (   x   ) = (0).
func (m *Model) Augmented() (*Equations, error) {
	rows, n := m.a.Dims()
	f, err := ziv.FormatFor(max(bound.Longest(m.a), bound.Longest(m.wa)))
	if err != nil {
		return nil, err
	}
	k := m.b.Cols
	e := &Equations{
		m: num.NewMat(f, rows+n, rows+n), d: num.NewMat(widerOf(m.b), rows+n, k),
		First: rows, sign: -1, g: num.NewMat(widerOf(m.wb), rows+n, k),
	}
	one := num.Float(1)
	for i := range rows {
		e.m.SetEntry(i, i, one)
		for j := range n {
			e.m.SetBig(i, rows+j, m.a.Big(i, j))
			e.m.SetBig(rows+j, i, m.wa.Big(i, j))
		}
		for j := range k {
			e.d.SetBig(i, j, m.b.Big(i, j))
			e.g.SetBig(i, j, m.wb.Big(i, j))
		}
	}
	return e, nil
}

// widerOf returns a format that holds the entries of a matrix.
func widerOf(m num.Mat) num.Format {
	return num.Precision(uint(max(bound.Longest(m), 64)))
}

func negatedMatrix(m num.Mat) num.Mat {
	z := m.Copy()
	for j := range z.Cols {
		for i := range z.Rows {
			v := z.Big(i, j)
			z.SetBig(i, j, v.Neg(v))
		}
	}
	return z
}

// ranked turns an error about a singular system into an error about A.
func (m *Model) ranked(err error) error { return ranked(err, m.a.Rows, m.a.Cols) }

// tall returns a *RankError if there are fewer rows than columns.
func (m *Model) tall() error {
	rows, n := m.a.Dims()
	if rows >= n {
		return nil
	}
	r, _, err := modular.Rank(m.s, m.a)
	if err != nil {
		return err
	}
	return &RankError{Rows: rows, Cols: n, Rank: r}
}

// solution returns X in format f; minimal requests the solution of minimal norm.
func (m *Model) solution(f num.Format, minimal bool) (num.Mat, error) {
	if minimal {
		return m.minimal(f)
	}
	if err := m.tall(); err != nil {
		return num.Mat{}, err
	}
	e, err := m.Equations()
	if err != nil {
		return num.Mat{}, err
	}
	m.s.Stage("equations")
	y, err := solve.Solve(m.s, e.m, e.d, f)
	if err != nil {
		return num.Mat{}, m.ranked(err)
	}
	return y.Slice(e.First, e.First+m.a.Cols, 0, y.Cols).Copy(), nil
}

// minimal returns the solution of minimal norm, some rows x_c of x = Aᵀy at a time, from
//
//	(AAᵀ        0) (y  )   (b)
//	(-(columns)ᵀ I) (x_c) = (0)
func (m *Model) minimal(f num.Format) (num.Mat, error) {
	s, rows, n, k := m.s, m.a.Rows, m.a.Cols, m.b.Cols
	across := m.a.T()
	width := productBits(across, across)
	part := max(rows, 64)
	augmented := bound.Longest(m.a) + 64
	spread := width > num.MaxPrec || int64(rows)*int64(rows)*width > int64(rows+n)*int64(rows+n)*augmented
	var square num.Mat
	if spread {
		part, width = n, augmented
	} else {
		var err error
		if square, err = exactProduct(s, across, across); err != nil {
			return num.Mat{}, err
		}
		width = max(width, augmented)
	}
	wideF, err := ziv.FormatFor(width)
	if err != nil {
		return num.Mat{}, err
	}
	s.Stage("equations")
	z := num.NewMat(f, n, k)
	whole := s.Work
	for first := 0; first < n; first += part {
		count := min(part, n-first)
		e, d := num.NewMat(wideF, rows+count, rows+count), num.NewMat(widerOf(m.b), rows+count, k)
		for i := range rows {
			for j := range count {
				v := m.a.Big(i, first+j)
				if spread { // A x = b below x - Aᵀ y = 0
					e.SetBig(i, rows+j, v)
				}
				e.SetBig(rows+j, i, v.Neg(v))
			}
			for j := range k {
				d.SetBig(i, j, m.b.Big(i, j))
			}
			if !spread {
				for j := range rows {
					e.SetBig(i, j, square.Big(i, j))
				}
			}
		}
		for j := range count {
			e.SetEntry(rows+j, rows+j, num.Float(1))
		}
		s.Part(whole, float64(first)/float64(n), float64(first+count)/float64(n))
		y, err := solve.Solve(s, e, d, f)
		if err != nil {
			return num.Mat{}, m.ranked(err)
		}
		if err := place.Copy(z.Slice(first, first+count, 0, k), y.Slice(rows, rows+count, 0, k)); err != nil {
			return num.Mat{}, err
		}
	}
	s.Work = whole
	return z, nil
}
