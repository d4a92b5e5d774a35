package conformance

import (
	"fmt"
	"math"
	"math/big"
	"reflect"

	"github.com/halfulp/halfulp"
)

// grid is a matrix of the library together with the exact values of its entries.
type grid struct {
	format     halfulp.Format
	rows, cols int
	v          []real // entry (i, j) is v[i + j rows]
	m          *halfulp.Matrix
}

func newGrid(f halfulp.Format, rows, cols int) *grid {
	return &grid{format: f, rows: rows, cols: cols, v: make([]real, rows*cols)}
}

// matrix returns the library's matrix.
func (g *grid) matrix() *halfulp.Matrix {
	if g.m == nil {
		g.m = halfulp.NewMatrix(g.format, g.rows, g.cols)
		for j := range g.cols {
			for i := range g.rows {
				put(g.m, i, j, g.v[i+j*g.rows])
			}
		}
	}
	return g.m
}

// put stores x, which m's format holds, in entry (i, j).
func put(m *halfulp.Matrix, i, j int, x real) {
	switch {
	case x.class == notANumber:
		m.Set(i, j, halfulp.NaN(m.NumberFormat()))
	default:
		m.SetBig(i, j, bigOf(x))
	}
}

// bigOf returns a number other than NaN.
func bigOf(x real) *big.Float {
	z := new(big.Float)
	switch x.class {
	case infinite:
		return z.SetInf(x.neg)
	case zero:
		if x.neg {
			z.Neg(z)
		}
		return z
	}
	tz := x.n.TrailingZeroBits()
	n := new(big.Int).Rsh(x.n, tz)
	z.SetPrec(uint(max(n.BitLen(), 2))).SetInt(n)
	return z.SetMantExp(z, int(x.e)+int(tz))
}

// scalarOf returns x, which f holds.
func scalarOf(f halfulp.Format, x real) halfulp.Scalar {
	if x.class == notANumber {
		return halfulp.NaN(f)
	}
	return halfulp.NewScalar(f, bigOf(x))
}

// realOf returns the exact value of s.
func realOf(s halfulp.Scalar) real {
	if s.IsNaN() {
		return nan
	}
	b := s.Big()
	switch {
	case b.IsInf():
		return inf(b.Signbit())
	case b.Sign() == 0:
		return real{neg: b.Signbit()}
	}
	m := new(big.Float)
	e := b.MantExp(m)
	p := int(m.MinPrec())
	n, _ := m.SetMantExp(m, p).Int(nil)
	return fin(n, int64(e)-int64(p))
}

// storedTerms reads the terms of an expansion as they lie in memory; the public methods do not show
// them.
func storedTerms(s halfulp.Scalar, n int) []float64 {
	planes := reflect.ValueOf(s).FieldByName("n").FieldByName("a").Elem().FieldByName("F64")
	t := make([]float64, n)
	for k := range t {
		t[k] = planes.Index(k).Index(0).Float()
	}
	return t
}

// stored checks that s holds the bits of z.
func (z rounded) stored(s halfulp.Scalar) error {
	if got := realOf(s); !got.same(z.real) {
		return fmt.Errorf("stored %v, want %v", got, z.real)
	}
	if z.terms != nil {
		got := storedTerms(s, len(z.terms))
		for k, w := range z.terms {
			if math.Float64bits(got[k]) != math.Float64bits(w) && (w == w || k > 0) {
				return fmt.Errorf("terms %x, want %x", got, z.terms)
			}
		}
	}
	return nil
}

// view is a matrix within a grid: entry (i, j) is the entry of the grid at row r0 + i ri + j rj and
// column c0 + i ci + j cj.
type view struct {
	g              *grid
	rows, cols     int
	r0, ri, rj     int
	c0, ci, cj     int
	transpose      bool // columns of the view are rows of the grid
	vector, column bool // a single row or column with any step
	step           int
	what           string
}

func (v *view) pos(i, j int) int {
	return v.r0 + i*v.ri + j*v.rj + (v.c0+i*v.ci+j*v.cj)*v.g.rows
}

func (v *view) at(i, j int) real { return v.g.v[v.pos(i, j)] }

func (v *view) set(i, j int, x real) { v.g.v[v.pos(i, j)] = x }

// slice returns the matrix view of rows x cols entries of g, from (r0, c0) on.
func slice(g *grid, r0, c0, rows, cols int) *view {
	return &view{g: g, rows: rows, cols: cols, r0: r0, ri: 1, c0: c0, cj: 1, what: fmt.Sprintf("[%d:%d,%d:%d] of %dx%d", r0, r0+rows, c0, c0+cols, g.rows, g.cols)}
}

// t returns the transpose of a matrix view.
func (v *view) t() *view {
	w := *v
	w.rows, w.cols = v.cols, v.rows
	w.ri, w.rj, w.ci, w.cj = v.rj, v.ri, v.cj, v.ci
	w.transpose = !v.transpose
	w.what += "ᵀ"
	return &w
}

// line returns n entries in column (or row) at of g from first on, step apart.
func line(g *grid, column bool, at, first, step, n int) *view {
	v := &view{g: g, rows: n, cols: 1, vector: true, column: column, step: step}
	if column {
		v.r0, v.ri, v.c0 = first, step, at
		v.what = fmt.Sprintf("column %d from %d step %d of %dx%d", at, first, step, g.rows, g.cols)
	} else {
		v.c0, v.ci, v.r0 = first, step, at
		v.what = fmt.Sprintf("row %d from %d step %d of %dx%d", at, first, step, g.rows, g.cols)
	}
	return v
}

// on returns the view of m, a copy of the grid's matrix.
func (v *view) on(m *halfulp.Matrix) *halfulp.Matrix {
	if v.vector {
		w := v.lineOn(m).Matrix()
		if v.transpose {
			return w.T()
		}
		return w
	}
	if v.transpose {
		return m.Slice(v.r0, v.r0+v.cols, v.c0, v.c0+v.rows).T()
	}
	return m.Slice(v.r0, v.r0+v.rows, v.c0, v.c0+v.cols)
}

// lineOn returns the vector view of m.
func (v *view) lineOn(m *halfulp.Matrix) *halfulp.Vector {
	n := max(v.rows, v.cols)
	if v.rows == 0 || v.cols == 0 {
		n = 0
	}
	at, first := v.c0, v.r0
	x := func() *halfulp.Vector { return m.Col(at) }
	if !v.column {
		at, first = v.r0, v.c0
		x = func() *halfulp.Vector { return m.Row(at) }
	}
	if n == 0 {
		return x().Slice(0, 0).Stride(v.step)
	}
	last := first + (n-1)*v.step
	return x().Slice(min(first, last), max(first, last)+1).Stride(v.step)
}

func (v *view) String() string { return fmt.Sprintf("%v %dx%d %s", v.g.format, v.rows, v.cols, v.what) }
