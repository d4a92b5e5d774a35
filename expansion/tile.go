package expansion

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

// A tile is a piece of a product of matrices whose sums are computed together: rows are vectors
// times lanes. run does k steps s_ij = mac(s_ij, a_i, b_j) from packed operands:
//
//	sums: vector i, column j, word, lane
//	a:    step, vector i, word, lane
//	b:    step, column j, word
type tile struct {
	lanes, vectors, columns int
	run                     func(sums, a, b *float64, k int)
}

func (t *tile) rows() int { return t.lanes * t.vectors }

// at is the index of word 0 of the sum of row i and column j of a tile; the next word is t.lanes
// further.
func (t *tile) at(w, i, j int) int {
	return ((i/t.lanes)*t.columns+j)*w*t.lanes + i%t.lanes
}

// packRows copies rows i0 to i0+m-1 and columns h0 to h0+k-1 of a, in panels of as many rows as
// a tile has, the last one filled up with zeros.
func (t *tile) packRows(to []float64, a num.Mat, w, i0, m, h0, k int) {
	p := 0
	for i := 0; i < m; i += t.lanes * t.vectors {
		for h := range k {
			for v := range t.vectors {
				first := i + v*t.lanes
				n := max(0, min(t.lanes, m-first))
				for word := range w {
					lanes := to[p : p+t.lanes]
					p += t.lanes
					clear(lanes[n:])
					if n > 0 {
						copyWord(lanes[:n], a, word, i0+first, h0+h)
					}
				}
			}
		}
	}
}

// copyWord copies a word of entries (i, j), (i+1, j), ... of a, zeros if a has fewer words.
func copyWord(to []float64, a num.Mat, word, i, j int) {
	at := a.At(i, j)
	switch {
	case a.Arr.Kind == num.F32:
		if word > 0 {
			clear(to)
			return
		}
		for l := range to {
			to[l] = float64(a.Arr.F32[at+l*a.RS])
		}
	case word >= a.Arr.Terms():
		clear(to)
	case a.RS == 1:
		from := a.Arr.F64[word][at : at+len(to)]
		for l := range to { // a few: a call would take longer
			to[l] = from[l]
		}
	default:
		from := a.Arr.F64[word]
		for l := range to {
			to[l] = from[at+l*a.RS]
		}
	}
}

// packColumns copies rows h0 to h0+k-1 and columns j0 to j0+n-1 of b, in panels of as many
// columns as a tile has, the last one filled up with zeros.
func (t *tile) packColumns(to []float64, b num.Mat, w, h0, k, j0, n int) {
	column := make([]float64, k)
	for j := 0; j < n; j += t.columns {
		panel := to[j/t.columns*k*t.columns*w:][:k*t.columns*w]
		for c := range t.columns {
			for word := range w {
				if j+c >= n {
					clear(column)
				} else {
					copyWord(column, b, word, h0, j0+j+c)
				}
				for h, x := range column {
					panel[(h*t.columns+c)*w+word] = x
				}
			}
		}
	}
}

// macTile is a tile of one vector of four rows, in plain Go; other tiles give the same results.
func macTile[E DD | TD | QD](columns int, mac func(s, a, b E) E) func(sums, a, b *float64, k int) {
	return func(sums, a, b *float64, k int) {
		const lanes = 4
		var x, y E
		w := len(x)
		s, as, bs := floats(sums, columns*w*lanes), floats(a, k*w*lanes), floats(b, k*columns*w)
		for h := range k {
			for j := range columns {
				for t := range w {
					y[t] = bs[(h*columns+j)*w+t]
				}
				for i := range lanes {
					var z E
					for t := range w {
						x[t] = as[(h*w+t)*lanes+i]
						z[t] = s[(j*w+t)*lanes+i]
					}
					z = mac(z, x, y)
					for t := range w {
						s[(j*w+t)*lanes+i] = z[t]
					}
				}
			}
		}
	}
}

// floats is the slice of n numbers at p.
func floats(p *float64, n int) []float64 { return unsafe.Slice(p, n) }
