package several

import (
	"context"
	"errors"
	"slices"

	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
)

// A piece is the part of a view that GPU d stores, in rows i0 <= i < i1 and columns j0 <= j < j1:
// all rows or all columns of the view. m is the piece as a view on GPU d.
type piece struct {
	d, i0, i1, j0, j1 int
	m                 num.Mat
}

// of returns the same rows and columns of another matrix of the same shape. A matrix without
// numbers stays without numbers.
func (q piece) of(m num.Mat) num.Mat { return block(m, q.i0, q.i1, q.j0, q.j1) }

// on returns a function that reports whether a GPU stores some of the pieces.
func on(list []piece) func(d int) bool {
	return func(d int) bool { return slices.ContainsFunc(list, func(q piece) bool { return q.d == d }) }
}

// block returns the rows i0 <= i < i1 and columns j0 <= j < j1 of m.
func block(m num.Mat, i0, i1, j0, j1 int) num.Mat {
	m.Off = m.At(i0, j0)
	m.Rows, m.Cols = i1-i0, j1-j0
	return m
}

// span returns the smallest range lo <= i < hi of numbers of the array that contains the entries of
// m.
func span(m num.Mat) (lo, hi int) {
	if m.Rows == 0 || m.Cols == 0 {
		return 0, 0
	}
	down, across := (m.Rows-1)*m.RS, (m.Cols-1)*m.CS
	lo = m.Off + min(down, 0) + min(across, 0)
	return lo, m.Off + max(down, 0) + max(across, 0) + 1
}

// byRows reports whether rows of m, rather than columns, are likely to be contiguous.
func byRows(m num.Mat) bool { return m.Rows > 1 && (m.Cols == 1 || abs(m.RS) > abs(m.CS)) }

func abs(i int) int { return max(i, -i) }

// pieces returns the pieces of a view, in the order of its columns or rows. It is not ok if a
// column, or row, has entries on several GPUs.
func (p *Place) pieces(m num.Mat) (list []piece, ok bool) {
	if m.Rows == 0 || m.Cols == 0 {
		return nil, true
	}
	if byRows(m) {
		list, ok = p.columns(m.T())
		for k, q := range list {
			list[k] = piece{q.d, q.j0, q.j1, q.i0, q.i1, q.m.T()}
		}
		return list, ok
	}
	return p.columns(m)
}

func (p *Place) columns(m num.Mat) (list []piece, ok bool) {
	s := storageOf(m.Arr)
	down := (m.Rows - 1) * m.RS
	for j := 0; j < m.Cols; {
		lo := m.At(0, j) + min(down, 0)
		d := s.owner(lo)
		hi := lo + abs(down)
		if hi >= s.start[d+1] {
			return nil, false
		}
		next := m.Cols // the first column that GPU d does not store completely
		switch {
		case m.CS > 0:
			next = min(next, j+1+(s.start[d+1]-1-hi)/m.CS)
		case m.CS < 0:
			next = min(next, j+1+(lo-s.start[d])/-m.CS)
		}
		list = append(list, piece{d: d, i1: m.Rows, j0: j, j1: next})
		j = next
	}
	for k, q := range list {
		part := q.of(m)
		part.Arr = s.parts[q.d]
		part.Off -= s.start[q.d]
		list[k].m = part
	}
	return list, true
}

// Overlap compares positions in the array only.
func (p *Place) Overlap(a, b num.Mat) bool {
	if a.Arr.Away != b.Arr.Away {
		return false
	}
	positions := func(m num.Mat) mem.Matrix {
		return mem.Matrix{Off: m.Off, RS: m.RS, CS: m.CS, Rows: m.Rows, Cols: m.Cols}
	}
	return positions(a).Overlaps(positions(b))
}

// cancelled reports whether an error results from the cancellation of a context.
func cancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
