package rational

import (
	"errors"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// ErrNotSymmetric is wrapped by errors about matrices that are not symmetric.
var ErrNotSymmetric = errors.New("matrix is not symmetric")

// LUFactors is the factorisation P A = L U of an m x n matrix.
type LUFactors struct {
	P    []int   // row i of P A is row P[i] of A, from 0
	L, U *Matrix // m x k and k x n, k = min(m, n): unit lower and upper triangular
}

// LU returns the factors P A = L U of an m x n matrix A of any rank. The pivot of column j is its
// first entry on or below the diagonal that is not 0, and its row changes places with row j. If
// there is no pivot, column j of L is a column of the unit matrix, u_jj is 0, and no row moves.
//
// The error wraps [halfulp.ErrMemory] if the factors may take more than Options.MemoryLimit. Rows
// of L have common denominators, products of up to n minors: dense factors of order n take about
// n^4 times the bits of A.
//
// The minors of which the entries are quotients are computed modulo primes. Hadamard's inequality
// bounds them. A prime may divide a pivot, and then chooses a later row. So the primes with the
// earliest choices are right if their product exceeds the bounds of the minors: minors that are 0
// modulo all these primes are 0.
func LU(a *Matrix, opt *halfulp.Options) (*LUFactors, error) {
	of(a)
	s, err := begin("LU", opt)
	if err != nil {
		return nil, err
	}
	t, err := s.table(a.n, false)
	if err := s.end("LU", err); err != nil {
		return nil, err
	}
	// A is G with rows divided by the denominators e: L is E^-1 L' E and U is E^-1 U' for the
	// factors L' and U' of G.
	k := min(a.n.rows, a.n.cols)
	e := make([]*big.Int, a.n.rows)
	for i, p := range t.rows {
		e[i] = a.den[p]
	}
	z := &LUFactors{P: t.rows, L: New(a.n.rows, k), U: New(k, a.n.cols)}
	for i := range a.n.rows {
		row := make([]*big.Rat, k)
		for j := range row {
			row[j] = new(big.Rat)
			if x := t.lower(i, j); x.Sign() != 0 {
				den := new(big.Int).Mul(t.a.at(j, j), e[i])
				row[j].SetFrac(x.Mul(x, e[j]), den)
			}
			if i == j {
				row[j].SetInt64(1)
			}
		}
		z.L.setRow(i, row)
	}
	for i := range k {
		z.U.den[i] = new(big.Int).Mul(t.before(i), e[i])
		for j := i; j < a.n.cols; j++ {
			z.U.n.set(i, j, t.a.at(i, j))
		}
		z.U.positive(i)
	}
	return z, nil
}

// LDLTFactors is the factorisation P A P^T = L D L^T of a symmetric matrix of order n.
type LDLTFactors struct {
	P      []int   // row and column i of P A P^T are row and column P[i] of A, from 0
	Blocks []int   // the orders of the diagonal blocks of D, each 1 or 2
	L, D   *Matrix // n x n: unit lower triangular, and block diagonal
}

// LDLT returns the factors P A P^T = L D L^T of a symmetric matrix A, regular or not. Let the first
// k rows and columns be eliminated, and S be what remains of A. The next block of D is
//
//   - s_11 if that is not 0;
//   - else the first s_ii that is not 0, whose row and column change places with the first ones;
//   - else, if all s_ii are 0, the 2 x 2 block of 0 and s_i1 for the first s_i1 that is not 0; its
//     row and column change places with the second ones;
//   - else 0, and the column of L is a column of the unit matrix.
//
// So P is the unit matrix and D is diagonal if no leading minor of A is 0, for instance if A is
// definite. A matrix is positive semidefinite if and only if all blocks are of order 1 and no entry
// of D is negative.
//
// The error wraps [ErrNotSymmetric], or [halfulp.ErrMemory] as for [LU]. The method is the same as
// for LU.
func LDLT(a *Matrix, opt *halfulp.Options) (*LDLTFactors, error) {
	if of(a).n.rows != a.n.cols {
		panic(errShape)
	}
	s, err := begin("LDLT", opt)
	if err != nil {
		return nil, err
	}
	g, den := a.common()
	n := g.rows
	for i := range n {
		for j := range i {
			if g.at(i, j).Cmp(g.at(j, i)) != 0 {
				return nil, s.end("LDLT", ErrNotSymmetric)
			}
		}
	}
	t, err := s.table(g, true)
	if err := s.end("LDLT", err); err != nil {
		return nil, err
	}
	z := &LDLTFactors{P: t.cols, L: New(n, n), D: New(n, n)}
	// The rows of blocks of order 2 have changed places.
	at := make([]int, n)
	for k := 0; k < n; k++ {
		at[k] = k
		if t.double[k] {
			at[k], at[k+1] = k+1, k
			z.Blocks = append(z.Blocks, 2)
			k++
		} else {
			z.Blocks = append(z.Blocks, 1)
		}
	}
	for i := range n {
		row := make([]*big.Rat, n)
		for j := range row {
			row[j] = new(big.Rat)
			switch x := t.lower(at[i], at[j]); {
			case i == j:
				row[j].SetInt64(1)
			case x.Sign() != 0:
				row[j].SetFrac(x, t.a.at(at[j], at[j]))
			}
		}
		z.L.setRow(i, row)
		// D / den: block entries of U.
		z.D.den[i] = new(big.Int).Mul(t.before(at[i]), den)
		z.D.n.set(i, at[i], t.a.at(at[i], at[i]))
		z.D.positive(i)
	}
	return z, nil
}

// positive makes the denominator of row i positive and removes common factors.
func (m *Matrix) positive(i int) {
	if m.den[i].Sign() < 0 {
		m.den[i] = new(big.Int).Neg(m.den[i])
		for j, x := range m.n.row(i) {
			if x != nil {
				m.n.set(i, j, new(big.Int).Neg(x))
			}
		}
	}
	m.reduce(i)
}

// A table has the minors of an elimination of G, with row i of G in place k for rows[k] = i, and
// its columns likewise. With c the last pivot before step k, 1 at first, row k from column k on is
// c U, and column k from row k on is L times the pivot a_kk, or 0 if step k has no pivot.
type table struct {
	a          ints
	rows, cols []int
	double     []bool // the pivots k and k + 1 are a block of order 2, whose rows changed places
}

// lower returns a copy of the multiple of entry (i, j) of L by pivot j, for i > j; else 0.
func (t *table) lower(i, j int) *big.Int {
	if i <= j {
		return new(big.Int)
	}
	return new(big.Int).Set(t.a.at(i, j))
}

// before returns the last pivot before step k.
func (t *table) before(k int) *big.Int {
	for k--; k >= 0; k-- {
		if x := t.a.at(k, k); x.Sign() != 0 {
			return x
		}
	}
	return one
}

// table returns the table of G, for a symmetric elimination by the rule of LDLT or for the rule of
// LU.
func (s *run) table(g ints, symmetric bool) (*table, error) {
	k := min(g.rows, g.cols)
	if err := s.tableRoom(g, k); err != nil {
		return nil, err
	}
	if k <= smallOrder {
		e := &exactSteps{s: s, g: g, last: one}
		e.g.a = append([]*big.Int(nil), g.a...)
		p := newPivoting(g)
		if err := p.eliminate(e, symmetric); err != nil {
			return nil, err
		}
		return &table{e.g, p.rows, p.cols, p.double}, nil
	}
	bits := largestMinor(g.bothNorms())
	var best *pivoting
	var fields []*modular.Field
	var tables [][][]uint64
	for i := 0; len(fields)*primeBits <= bits; i++ {
		s.Plan(float64((bits-len(fields)*primeBits)/primeBits+1) * cube(k))
		f := modular.Numbered(i)
		rows, err := s.modulo(f, g)
		if err != nil {
			return nil, err
		}
		m := &modularSteps{s: s, f: f, rows: rows, last: f.One}
		p := newPivoting(g)
		if err := p.eliminate(m, symmetric); err != nil {
			return nil, err
		}
		s.Stats.Primes++
		s.Did(cube(k))
		if best != nil {
			switch slices.Compare(p.choices, best.choices) {
			case 1:
				continue
			case -1:
				fields, tables = nil, nil
			}
		}
		best, fields, tables = p, append(fields, f), append(tables, rows)
	}
	crt := newRemainders(fields)
	z := newInts(g.rows, g.cols)
	err := par.For(s.Ctx, s.Threads, g.rows, func(_, i int) {
		for j := range g.cols {
			z.set(i, j, crt.integer(func(k int) uint64 { return tables[k][i][j] }))
		}
	})
	return &table{z, best.rows, best.cols, best.double}, err
}

// largestMinor returns a bound of the bits of all minors, for the norms of rows and columns, which
// it may sort: the smaller one of Hadamard's bounds by the longest rows and by the longest columns.
func largestMinor(rows, cols []float64) int {
	k := min(len(rows), len(cols))
	longest := func(norms []float64) float64 {
		if k < len(norms) {
			norms = descending(norms)[:k]
		}
		return total(norms)
	}
	return int(min(longest(rows), longest(cols))) + 1
}

// longest returns upper bounds of log2 of the norms of the rows, the largest one first.
func (n ints) longest() []float64 { return descending(n.norms()) }

// descending sorts x, the largest number first, and returns it.
func descending(x []float64) []float64 {
	slices.Sort(x)
	slices.Reverse(x)
	return x
}

// tableRoom returns an error if the factors of G may exceed the memory allowed.
func (s *run) tableRoom(g ints, k int) error {
	norms := g.longest()
	minor, pivots, all := 0.0, 0.0, 0.0 // bits
	for i := range g.rows {
		if minor += norms[i]; i < k {
			pivots += minor // the common denominator of the next row of L
		}
		// may fuse: an estimate
		all += pivots*float64(min(i+1, k)) + minor*float64(g.cols)
	}
	return s.room(float64(g.rows*(k+g.cols)), all/max(1, float64(g.rows*(k+g.cols))))
}

// steps is a matrix that is eliminated.
type steps interface {
	isZero(i, j int) bool
	swapRows(i, k int)
	swapCols(j, k int)
	// step eliminates with pivot (k, k). Without pivot the column is 0 from row k on.
	step(k int, pivot bool) error
}

// pivoting chooses pivots.
type pivoting struct {
	m, n       int
	rows, cols []int
	double     []bool
	// choices are the numbers of the candidates chosen. All candidates before them are 0, so other
	// arithmetic in which more numbers are 0 chooses the same or later ones.
	choices []int
}

func newPivoting(g ints) *pivoting {
	return &pivoting{m: g.rows, n: g.cols, rows: span(0, g.rows), cols: span(0, g.cols), double: make([]bool, min(g.rows, g.cols))}
}

func (p *pivoting) eliminate(t steps, symmetric bool) error {
	for k := 0; k < min(p.m, p.n); k++ {
		var pivot bool
		if symmetric {
			pivot = p.symmetric(t, k)
		} else {
			pivot = p.first(t, k)
		}
		if err := t.step(k, pivot); err != nil {
			return err
		}
		if p.double[k] {
			k++
			if err := t.step(k, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pivoting) exchange(t steps, i, k int, cols bool) {
	if i == k {
		return
	}
	t.swapRows(i, k)
	p.rows[i], p.rows[k] = p.rows[k], p.rows[i]
	if cols {
		t.swapCols(i, k)
		p.cols[i], p.cols[k] = p.cols[k], p.cols[i]
	}
}

// first brings the first entry of column k that is not 0 to the diagonal.
func (p *pivoting) first(t steps, k int) bool {
	i := k
	for i < p.m && t.isZero(i, k) {
		i++
	}
	p.choices = append(p.choices, i)
	if i == p.m {
		return false
	}
	p.exchange(t, i, k, false)
	return true
}

// symmetric brings the next pivot of a symmetric matrix to the diagonal, or the two pivots of a
// block of order 2 with their rows exchanged.
func (p *pivoting) symmetric(t steps, k int) bool {
	for i := k; i < p.n; i++ {
		if !t.isZero(i, i) {
			p.choices = append(p.choices, i)
			p.exchange(t, i, k, true)
			return true
		}
	}
	for i := k + 1; i < p.n; i++ {
		if !t.isZero(i, k) {
			p.choices = append(p.choices, p.n+i)
			p.exchange(t, i, k+1, true)
			p.exchange(t, k, k+1, false)
			p.double[k] = true
			return true
		}
	}
	p.choices = append(p.choices, 2*p.n)
	return false
}

// exactSteps eliminates without fractions: see eliminate.
type exactSteps struct {
	s    *run
	g    ints
	last *big.Int
}

func (e *exactSteps) isZero(i, j int) bool { return e.g.at(i, j).Sign() == 0 }

func (e *exactSteps) swapRows(i, k int) {
	x, y := e.g.row(i), e.g.row(k)
	for j := range x {
		x[j], y[j] = y[j], x[j]
	}
}

func (e *exactSteps) swapCols(j, k int) {
	for i := range e.g.rows {
		row := e.g.row(i)
		row[j], row[k] = row[k], row[j]
	}
}

func (e *exactSteps) step(k int, pivot bool) error {
	if !pivot {
		return e.s.Ctx.Err()
	}
	by, t := e.g.at(k, k), new(big.Int)
	err := par.For(e.s.Ctx, 1, e.g.rows-k-1, func(_, i int) {
		row := e.g.row(k + 1 + i)
		for j := k + 1; j < e.g.cols; j++ {
			x := new(big.Int).Mul(e.g.at(k+1+i, j), by)
			x.Sub(x, t.Mul(e.g.at(k+1+i, k), e.g.at(k, j)))
			row[j] = x.Quo(x, e.last)
		}
	})
	e.last = by
	return err
}

// modularSteps eliminates modulo a prime and stores the minors of table.
type modularSteps struct {
	s    *run
	f    *modular.Field
	rows [][]uint64
	last uint64 // the last pivot as a minor
}

func (m *modularSteps) isZero(i, j int) bool { return m.rows[i][j] == 0 }
func (m *modularSteps) swapRows(i, k int)    { m.rows[i], m.rows[k] = m.rows[k], m.rows[i] }

func (m *modularSteps) swapCols(j, k int) {
	for _, row := range m.rows {
		row[j], row[k] = row[k], row[j]
	}
}

func (m *modularSteps) step(k int, pivot bool) error {
	f, top := m.f, m.rows[k][k:]
	before := m.last
	if pivot {
		m.last = f.Mul(before, top[0])
		inverse := f.Invert(top[0])
		few := max(1, 2048/len(top)) // rows a task
		below := m.rows[k+1:]
		err := par.For(m.s.Ctx, m.s.Threads, (len(below)+few-1)/few, func(_, part int) {
			for _, row := range below[part*few : min(len(below), (part+1)*few)] {
				if x := row[k]; x != 0 {
					f.AddMultiple(row[k+1:], f.Sub(0, f.Mul(x, inverse)), top[1:])
					row[k] = f.Mul(x, before)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	for j, x := range top {
		top[j] = f.Mul(x, before)
	}
	return m.s.Ctx.Err()
}
