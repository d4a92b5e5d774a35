package direct

import (
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Products of vectors with matrices of which only a part is stored or used: band, symmetric and
// triangular matrices.
//
// Blocks of rows are gathered as dense matrices, with zeros where there is no entry, and multiplied
// like any other matrix. If all numbers are finite, the extra zeros can only change the sign of a
// sum that is zero, and this sign is corrected afterwards. For vectors with infinities or NaN,
// exact sums of the existing entries are used instead.

// A Piece is a run of entries of a row: entry h lies in column First + h.
type Piece struct {
	num.Vec
	First int
}

// Structured is a matrix made of pieces of rows. Entries outside the pieces do not exist: they are
// never read and are not addends of any sum.
type Structured struct {
	Rows, Cols int
	view       num.Mat // entry (i, j) is stored at view.At(i, j), if it is stored
	below      int     // entries have i - j <= below
	above      int     // and j - i <= above
	unit       bool    // the diagonal is 1 and is not stored
	symmetric  bool    // an entry below the diagonal equals its mirror image above it
	packed     *packed // replaces view if not nil
}

// packed holds one triangle of a symmetric matrix column after column.
type packed struct {
	vec   num.Vec
	upper bool
}

// Band returns the matrix of m rows with kl diagonals below and ku above the main diagonal. It is
// stored in ab as the BLAS store bands: entry (i, j) is ab_(ku+i-j, j).
func Band(ab num.Mat, m, kl, ku int) Structured {
	return Structured{Rows: m, Cols: ab.Cols, view: bandView(ab, m, ku), below: kl, above: ku}
}

// bandView returns a view of ab with the row and column indices of the band's matrix.
func bandView(ab num.Mat, m, ku int) num.Mat {
	return num.Mat{Arr: ab.Arr, Off: ab.Off + ku*ab.RS, RS: ab.RS, CS: ab.CS - ab.RS, Rows: m, Cols: ab.Cols}
}

// Symmetric returns the symmetric matrix whose upper or lower triangle is in a.
func Symmetric(a num.Mat, upper bool) Structured { return symmetric(a, a.Cols, upper) }

// SymmetricBand returns the symmetric matrix with k diagonals above and below the main diagonal.
// The diagonals of one triangle are stored in ab as for Band.
func SymmetricBand(ab num.Mat, k int, upper bool) Structured {
	ku := 0
	if upper {
		ku = k
	}
	return symmetric(bandView(ab, ab.Cols, ku), k, upper)
}

func symmetric(view num.Mat, k int, upper bool) Structured {
	if !upper {
		view = view.T()
	}
	return Structured{Rows: view.Rows, Cols: view.Rows, view: view, below: k, above: k, symmetric: true}
}

// SymmetricPacked returns the symmetric matrix of order n with one triangle stored in ap, column
// after column.
func SymmetricPacked(ap num.Vec, n int, upper bool) Structured {
	return Structured{Rows: n, Cols: n, below: n, above: n, symmetric: true, packed: &packed{ap, upper}}
}

// Triangular returns the upper or lower triangle of a. If unit is set, the diagonal is all ones.
func Triangular(a num.Mat, upper, unit bool) Structured {
	s := Structured{Rows: a.Rows, Cols: a.Cols, view: a, unit: unit}
	if upper {
		s.above = a.Cols
	} else {
		s.below = a.Rows
	}
	return s
}

// T returns the transpose.
func (s Structured) T() Structured {
	if s.symmetric {
		return s
	}
	s.Rows, s.Cols, s.view = s.Cols, s.Rows, s.view.T()
	s.below, s.above = s.above, s.below
	return s
}

// IsLower reports whether a triangular matrix has no entries above the diagonal.
func (s Structured) IsLower() bool { return s.above == 0 }

// Triangle returns the triangle of a square matrix that has entries, 'U' or 'L', or 0 if the matrix
// is not triangular.
func (s Structured) Triangle() byte {
	switch {
	case s.symmetric:
	case s.above == 0:
		return 'L'
	case s.below == 0:
		return 'U'
	}
	return 0
}

// Block returns the entries in rows rows[0] <= i < rows[1] and columns cols[0] <= j < cols[1]. All
// of them must exist, and if the diagonal is a unit diagonal, none may lie on it.
func (s Structured) Block(rows, cols [2]int) num.Mat {
	m := s.view
	m.Off, m.Rows, m.Cols = m.At(rows[0], cols[0]), rows[1]-rows[0], cols[1]-cols[0]
	return m
}

// Diagonal returns entry (i, i) of a triangular matrix. Its magnitude lies in buf or in the array.
func (s Structured) Diagonal(i int, buf []uint64) num.Real {
	if s.unit {
		return One(false)
	}
	return s.view.Arr.Value(s.view.At(i, i), buf)
}

// One returns 1, or -1 if neg is set.
func One(neg bool) num.Real { return num.Real{Class: num.Finite, Neg: neg, Mag: one[:]} }

var one = [1]uint64{1}

// A Layout describes how a structured matrix is stored. The entries (i, j) are those with i - j <=
// Below and j - i <= Above. View holds them in the positions of a matrix. If Symmetric is set, only
// the entries on and above the diagonal are stored. If Packed is set, View is a single column that
// holds one triangle column after column, the upper triangle if Upper is set.
type Layout struct {
	View                           num.Mat
	Below, Above                   int
	Unit, Symmetric, Packed, Upper bool
}

// Layout returns how s is stored.
func (s Structured) Layout() Layout {
	l := Layout{View: s.view, Below: s.below, Above: s.above, Unit: s.unit, Symmetric: s.symmetric}
	if s.packed != nil {
		l.View, l.Packed, l.Upper = s.packed.vec.Mat(), true, s.packed.upper
	}
	return l
}

// Array returns the array that stores the entries.
func (s Structured) Array() *num.Array {
	if s.packed != nil {
		return s.packed.vec.Arr
	}
	return s.view.Arr
}

// On returns the matrix stored in the same way in the array a.
func (s Structured) On(a *num.Array) Structured {
	s.view.Arr = a
	if s.packed != nil {
		p := *s.packed
		p.vec.Arr, s.view.Arr = a, nil
		s.packed = &p
	}
	return s
}

// Entries returns the approximate number of entries, without the zeros outside the structure.
func (s Structured) Entries() int {
	n := s.Rows * min(s.Cols, s.below+s.above+1)
	if !s.Full() && s.below+s.above+1 >= s.Cols {
		n /= 2
	}
	return n
}

// Full reports whether every row has an entry in every column.
func (s Structured) Full() bool { return s.below >= s.Rows-1 && s.above >= s.Cols-1 && !s.unit }

// columns returns the range of columns where row i has entries.
func (s Structured) columns(i int) (lo, hi int) {
	lo = min(max(0, i-s.below), s.Cols)
	return lo, max(lo, min(s.Cols, i+s.above+1))
}

// Columns returns the range of columns where rows i0 <= i < i1 have entries.
func (s Structured) Columns(i0, i1 int) (lo, hi int) {
	lo, _ = s.columns(i0)
	_, hi = s.columns(i1 - 1)
	return lo, max(lo, hi)
}

// pieces appends the pieces of row i to p.
func (s Structured) pieces(i int, p []Piece) []Piece {
	lo, hi := s.columns(i)
	add := func(v num.Vec, from, to int) {
		if from < to {
			p = append(p, Piece{v.Slice(from, to), from})
		}
	}
	switch {
	case s.packed != nil:
		return s.packed.pieces(s.Rows, i, p)
	case s.symmetric:
		add(s.view.Col(i), lo, i)
		add(s.view.Row(i), i, hi)
	case s.unit && lo <= i && i < hi:
		add(s.view.Row(i), lo, i)
		p = append(p, Piece{oneVec, i})
		add(s.view.Row(i), i+1, hi)
	default:
		add(s.view.Row(i), lo, hi)
	}
	return p
}

// pieces appends the pieces of row i of the matrix of order n.
func (t *packed) pieces(n, i int, p []Piece) []Piece {
	run := func(at, first, count int) {
		p = append(p, Piece{num.Vec{Arr: t.vec.Arr, Off: t.vec.At(at), Inc: t.vec.Inc, N: count}, first})
	}
	if t.upper {
		run(i*(i+1)/2, 0, i+1)
		for j := i + 1; j < n; j++ {
			run(j*(j+1)/2+i, j, 1)
		}
		return p
	}
	for j := range i {
		run(j*(2*n-j-1)/2+i, j, 1)
	}
	run(i*(2*n-i-1)/2+i, i, n-i)
	return p
}

// oneVec is the vector (1).
var oneVec = func() num.Vec {
	a := num.New(num.Float64, 1)
	a.F64[0][0] = 1
	return num.Vec{Arr: a, Inc: 1, N: 1}
}()

// Gather returns rows i0 <= i < i1 as a dense matrix that begins with column first. It covers the
// columns in which these rows have entries, with zeros where there is no entry.
func (s Structured) Gather(w Work, i0, i1 int) (m num.Mat, first int, err error) {
	lo, hi := s.Columns(i0, i1)
	m = num.Mat{Arr: num.New(s.Array().Format, (i1-i0)*(hi-lo)), RS: 1, CS: i1 - i0, Rows: i1 - i0, Cols: hi - lo}
	const part = 16
	err = par.For(w.Ctx, w.Threads, (i1-i0+part-1)/part, func(_, t int) {
		var list []Piece
		for i := i0 + t*part; i < min(i0+(t+1)*part, i1); i++ {
			list = s.pieces(i, list[:0])
			for _, p := range list {
				same := p.Arr.Format == m.Arr.Format // except for the ones of a unit diagonal
				for h := range p.N {
					if to := m.At(i-i0, p.First+h-lo); same {
						m.Arr.CopyFrom(to, p.Arr, p.At(h))
					} else {
						m.Arr.Convert(to, p.Arr, p.At(h))
					}
				}
			}
		}
	})
	return m, lo, err
}

// Sizes of the blocks that are gathered.
const (
	gatherBytes = 8 << 20 // approximate size of one block
	leastRows   = 64
	narrow      = 32 // least number of entries in a row for which gathering pays
)

// blockRows returns the number of rows that Gemv gathers at a time.
func (s Structured) blockRows() int {
	width := min(s.Cols, s.below+s.above+1)
	rows := int(gatherBytes / (num.SizeOf(s.Array().Format) * int64(max(width, 1))))
	switch {
	case width < s.Cols: // in a band, about as many zeros as entries are gathered
		rows = min(rows, width)
	case !s.Full(): // in a triangle, about an eighth of the entries more
		rows = min(rows, (s.Rows+7)/8)
	}
	return max(rows, leastRows)
}

// Gemv stores sum_j alpha s_ij x_j + beta y_i, rounded, in number i of z. It returns the number of
// entries that took the exact sum. The argument dense is a function that computes such a product
// for a dense matrix.
func (s Structured) Gemv(w Work, alpha num.Real, x num.Vec, beta num.Real, y num.Vec, z *num.Array, count func(num.Flags),
	dense func(m num.Mat, x, y num.Vec, z *num.Array) (int64, error)) (int64, error) {
	if alpha.Class != num.Finite || min(s.Cols, s.below+s.above+1) < narrow || !s.Full() && !Finite(x) {
		return 0, w.rounded(s.Rows, count, func(a *superacc.Acc, i int) num.Flags {
			return z.Set(i, s.entry(a, z.Format, alpha, x, beta, y, i))
		})
	}
	var exact atomic.Int64
	block := s.blockRows()
	for i0 := 0; i0 < s.Rows; i0 += block {
		i1 := min(i0+block, s.Rows)
		m, first, err := s.Gather(w, i0, i1)
		if err != nil {
			return exact.Load(), err
		}
		rows := z.Slice(i0, i1)
		n, err := dense(m, x.Slice(first, first+m.Cols), y.Slice(i0, i1), rows)
		exact.Add(n)
		if err != nil {
			return exact.Load(), err
		}
		if !s.Full() {
			for i := range rows.Len() {
				s.MendZero(rows, i, i0+i, alpha, x, beta, valueAt(beta, y, i0+i))
			}
		}
		if w.Done != nil {
			w.Done(i1-i0, s.Rows)
		}
	}
	return exact.Load(), w.Ctx.Err()
}

// Finite reports whether all entries of x are finite.
func Finite(x num.Vec) bool {
	for i := range x.N {
		if c, _, _ := x.Arr.Span(x.At(i)); c > num.Finite {
			return false
		}
	}
	return true
}

// isZero reports whether number i of a, a rounded result, is 0.
func isZero(a *num.Array, i int) bool {
	switch a.Kind {
	case num.MP:
		return a.Cls[i].Class() == num.Zero
	case num.F32:
		return a.F32[i] == 0
	}
	return a.F64[0][i] == 0
}

// valueAt returns y_i, or 0 where beta leaves it unread.
func valueAt(beta num.Real, y num.Vec, i int) num.Real {
	if beta.Class == num.Zero {
		return num.Real{}
	}
	return y.Arr.Value(y.At(i), make([]uint64, num.ValueWords(y.Arr.Format)))
}

// entry returns sum_j alpha s_ij x_j + beta y_i for rounding to f. It is like Entry.
func (s Structured) entry(a *superacc.Acc, f num.Format, alpha num.Real, x num.Vec, beta num.Real, y num.Vec, i int) num.Real {
	a.Reset()
	addPieces(a, alpha, s.pieces(i, nil), x)
	if beta.Class != num.Zero {
		a.AddProduct(beta, valueAt(beta, y, i))
	}
	return a.Value(f)
}

// addPieces adds the products alpha p_h x_h of the pieces of a row to a.
func addPieces(a *superacc.Acc, alpha num.Real, list []Piece, x num.Vec) {
	a.AddScaledDots(alpha, len(list), func(k int) (u, v num.Vec) {
		p := list[k]
		return p.Vec, x.Slice(p.First, p.First+p.N)
	})
}

// MendZero corrects the sign of number at of z if that number is zero. The number is row i of the
// product computed with zeros for entries that do not exist. Its sign becomes the sign of the sum
// without these zeros: -0 if there are addends and all of them are -0. If any addend is not zero,
// the sign stays. There are no infinities or NaN in x. The argument old is the number that beta
// multiplies.
func (s Structured) MendZero(z *num.Array, at, i int, alpha num.Real, x num.Vec, beta, old num.Real) {
	if !isZero(z, at) {
		return
	}
	minus, addends := true, false
	var buf [2][num.MaxValueWords]uint64
	for _, p := range s.pieces(i, nil) {
		for h := range p.N {
			u, v := p.Arr.Value(p.At(h), buf[0][:]), x.Arr.Value(x.At(p.First+h), buf[1][:])
			if u.Class != num.Zero && v.Class != num.Zero {
				return
			}
			addends = true
			minus = minus && (u.Neg != v.Neg) != alpha.Neg
		}
	}
	if beta.Class != num.Zero {
		if old.Class != num.Zero {
			return
		}
		addends = true
		minus = minus && beta.Neg != old.Neg
	}
	z.Set(at, num.Real{Neg: minus && addends})
}
