package num

// Mat is a view of an array as a matrix: entry (i, j) is number
// Off + i RS + j CS of Arr.
type Mat struct {
	Arr         *Array
	Off, RS, CS int
	Rows, Cols  int
}

// At returns the position of entry (i, j) in the array.
func (m Mat) At(i, j int) int { return m.Off + i*m.RS + j*m.CS }

// T returns the transposed view.
func (m Mat) T() Mat {
	m.RS, m.CS, m.Rows, m.Cols = m.CS, m.RS, m.Cols, m.Rows
	return m
}

// Row returns row i as a vector view.
func (m Mat) Row(i int) Vec { return Vec{Arr: m.Arr, Off: m.At(i, 0), Inc: m.CS, N: m.Cols} }

// Col returns column j as a vector view.
func (m Mat) Col(j int) Vec { return Vec{Arr: m.Arr, Off: m.At(0, j), Inc: m.RS, N: m.Rows} }

// Copy returns a compact copy of m.
func (m Mat) Copy() Mat {
	z := Mat{Arr: New(m.Arr.Format, m.Rows*m.Cols), RS: 1, CS: m.Rows, Rows: m.Rows, Cols: m.Cols}
	for j := range m.Cols {
		for i := range m.Rows {
			z.Arr.CopyFrom(z.At(i, j), m.Arr, m.At(i, j))
		}
	}
	return z
}

// CopyFrom copies the entries of b to m. Both have the same shape and format and share no entries.
func (m Mat) CopyFrom(b Mat) {
	for j := range m.Cols {
		if m.RS == 1 && b.RS == 1 && m.Rows > 0 { // takes at most a 15th of the time
			m.Arr.CopyRun(m.At(0, j), b.Arr, b.At(0, j), m.Rows)
			continue
		}
		for i := range m.Rows {
			m.Arr.CopyFrom(m.At(i, j), b.Arr, b.At(i, j))
		}
	}
}

// Vec is a view of an array as a vector: entry i is number Off + i Inc of Arr.
type Vec struct {
	Arr         *Array
	Off, Inc, N int
}

// At returns the position of entry i in the array.
func (v Vec) At(i int) int { return v.Off + i*v.Inc }

// Mat returns the vector as an N x 1 matrix.
func (v Vec) Mat() Mat { return Mat{Arr: v.Arr, Off: v.Off, RS: v.Inc, CS: 0, Rows: v.N, Cols: 1} }

// Slice returns the view of the entries lo <= i < hi.
func (v Vec) Slice(lo, hi int) Vec {
	v.Off, v.N = v.At(lo), hi-lo
	return v
}
