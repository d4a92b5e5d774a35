package matrixmarket

import (
	"fmt"
	"io"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
)

// Sparse holds the entries of a sparse matrix, ordered by rows and within a row by columns, each
// position at most once. Values.At(k) is the entry in row Row[k] and column Col[k], counted from 0.
// All other entries are 0.
type Sparse struct {
	Rows, Cols int
	Row, Col   []int32
	Values     *halfulp.Vector
}

// ReadSparse is [Read] without the memory of a dense matrix. It returns the entries that a
// coordinate file names, including zeros; of an array file, the entries other than 0. For symmetric
// and skew-symmetric matrices it returns both triangles. The format of the values, repeated entries
// and Options are as for Read.
func ReadSparse(r io.Reader, name string, opt *Options) (*Sparse, error) {
	text, err := readAll(r, name, opt)
	if err != nil {
		return nil, err
	}
	return ParseSparse(text, name, opt)
}

// ParseSparse is ReadSparse for a text in memory.
func ParseSparse(text []byte, name string, opt *Options) (*Sparse, error) {
	rd, err := newReader(text, name, opt)
	if err != nil {
		return nil, err
	}
	rd.sparse = rd.coordinate
	if rd.sparse && (rd.rows > maxSide || rd.cols > maxSide) {
		return nil, rd.sizeError(fmt.Errorf("a %d x %d matrix is too large", rd.rows, rd.cols))
	}
	m, err := rd.read()
	if err != nil {
		return nil, err
	}
	if !rd.sparse {
		return SparseOf(m), nil
	}
	a := &Sparse{Rows: int(rd.rows), Cols: int(rd.cols), Values: m.Col(0)}
	for _, p := range rd.places {
		a.Row, a.Col = append(a.Row, int32(p/rd.cols)), append(a.Col, int32(p%rd.cols))
	}
	return a, nil
}

// SparseOf returns the entries of m other than 0.
func SparseOf(m *halfulp.Matrix) *Sparse {
	rows, cols := m.Dims()
	a := &Sparse{Rows: rows, Cols: cols}
	for i := range rows {
		for j := range cols {
			if s := m.At(i, j); s.IsNaN() || s.Big().Sign() != 0 {
				a.Row, a.Col = append(a.Row, int32(i)), append(a.Col, int32(j))
			}
		}
	}
	a.Values = halfulp.NewVector(m.NumberFormat(), len(a.Row))
	for k := range a.Row {
		a.Values.Set(k, m.At(int(a.Row[k]), int(a.Col[k])))
	}
	return a
}

// stored bounds the number of entries of a sparse matrix.
func (rd *reader) stored() int64 {
	if rd.symmetry != general {
		return 2 * rd.entries
	}
	return rd.entries
}

// listed returns the format of the list of entries, or an error if the list exceeds the memory
// limit.
func (rd *reader) listed(e decimal.Extent) (halfulp.Format, error) {
	f, err := rd.choose(e)
	if err != nil {
		return f, err
	}
	stored := rd.stored()
	const index = 8 // bytes of a place
	if need := float64(stored) * float64(num.SizeOf(mustFormat(f))+index); need > float64(rd.MemoryLimit) {
		return f, rd.tooLarge("a sparse matrix of "+textio.Count(stored, "entry"), f, need)
	}
	return f, nil
}

// againSparse sets rd.places to the positions of the entries, and returns the places that occur
// more than once, like againDense.
func (rd *reader) againSparse(entries [][]entry) (again map[int64][]place) {
	rd.places = make([]int64, 0, rd.stored())
	for _, piece := range entries {
		for _, x := range piece {
			rd.places = append(rd.places, x.place/rd.rows+x.place%rd.rows*rd.cols)
		}
	}
	slices.Sort(rd.places)
	for k := 1; k < len(rd.places); k++ {
		if p := rd.places[k]; p == rd.places[k-1] {
			if again == nil {
				again = map[int64][]place{}
			}
			again[p/rd.cols+p%rd.cols*rd.rows] = []place{}
		}
	}
	rd.places = slices.Compact(rd.places)
	if rd.symmetry != general {
		for _, p := range rd.places {
			if i, j := p/rd.cols, p%rd.cols; i != j {
				rd.places = append(rd.places, i+j*rd.cols)
			}
		}
		slices.Sort(rd.places)
	}
	return again
}
