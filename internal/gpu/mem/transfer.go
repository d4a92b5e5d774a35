package mem

import (
	"context"
	"runtime"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// UploadView returns a copy of a view on the device, without the numbers between its entries.
func UploadView(s *cuda.Stream, m num.Mat) (Matrix, error) {
	view := Matrix{Off: m.Off, RS: m.RS, CS: m.CS, Rows: m.Rows, Cols: m.Cols}
	h := m.Arr
	if n := m.Rows * m.Cols; n != h.Len() {
		if lo, hi := view.span(); hi-lo == n { // all numbers from lo on
			h = h.Slice(lo, hi)
			view.Off -= lo
		} else {
			h = Pack(m)
			view.Off, view.RS, view.CS = 0, 1, m.Rows
		}
	}
	var err error
	view.Arr, err = Upload(s, h)
	return view, err
}

// UploadVector returns a copy of a vector on the device, without the numbers between its entries.
func UploadVector(s *cuda.Stream, v num.Vec) (Vector, error) {
	m, err := UploadView(s, v.Mat())
	return Vector{Arr: m.Arr, Off: m.Off, Inc: m.RS, N: v.N}, err
}

// DownloadView copies a packed matrix of the device to a host view, or only its triangle 'U' or
// 'L'.
func DownloadView(s *cuda.Stream, to num.Mat, from Matrix, triangle byte) error {
	lo, hi := Matrix{Off: to.Off, RS: to.RS, CS: to.CS, Rows: to.Rows, Cols: to.Cols}.span()
	at, end := from.span()
	if n := to.Rows * to.Cols; triangle == 0 && to.RS == from.RS && to.CS == from.CS && hi-lo == n && end-at == n {
		return from.Arr.getFrom(s, at, to.Arr.Slice(lo, hi))
	}
	h, err := from.Arr.Host(s)
	if err != nil {
		return err
	}
	eachColumn(to.Cols, func(j int) {
		for i := range to.Rows {
			if triangle == 'U' && i > j || triangle == 'L' && i < j {
				continue
			}
			to.Arr.CopyFrom(to.At(i, j), h, from.Off+i*from.RS+j*from.CS)
		}
	})
	return nil
}

// Pack returns the entries of a view, column by column, in a new array.
func Pack(m num.Mat) *num.Array {
	h := num.New(m.Arr.Format, m.Rows*m.Cols)
	eachColumn(m.Cols, func(j int) {
		for i := range m.Rows {
			h.CopyFrom(j*m.Rows+i, m.Arr, m.At(i, j))
		}
	})
	return h
}

// Packed returns the entries of m column by column: m's own array if they are all of it in this
// order.
func Packed(m num.Mat) *num.Array {
	if m.Off == 0 && m.RS == 1 && (m.CS == m.Rows || m.Cols == 1) && m.Rows*m.Cols == m.Arr.Len() {
		return m.Arr
	}
	return Pack(m)
}

// eachColumn calls f for the columns 0 <= j < n, on several goroutines.
func eachColumn(n int, f func(j int)) {
	// never cancelled
	_ = par.For(context.Background(), runtime.GOMAXPROCS(0), n, func(_, j int) { f(j) })
}
