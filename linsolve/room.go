package linsolve

import (
	"math"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
)

// arrayRoom are arrays of MP that are kept in the same way, by their words.
var arrayRoom bufpool.Shelf[*num.Array]

// matrixHere returns a rows x cols matrix of zeros on the host, which is given back by s.drop or
// s.release where those that the solver makes do not outlive it.
func (s *solver) matrixHere(f halfulp.Format, rows, cols int) *halfulp.Matrix {
	if !s.reuse {
		return halfulp.NewMatrix(f, rows, cols)
	}
	m := takeMatrix(f, rows, cols)
	s.here = append(s.here, m)
	return m
}

// takeMatrix returns a rows x cols matrix of zeros on the host, which putMatrix may give back.
func takeMatrix(f halfulp.Format, rows, cols int) *halfulp.Matrix {
	if !f.IsMP() || rows == 0 || cols > math.MaxInt>>32/rows {
		return halfulp.NewMatrix(f, rows, cols)
	}
	n := rows * cols
	of := raw.Matrix(halfulp.NewMatrix(f, 0, 0)).Arr.Format
	words := n * of.Limbs()
	a, ok := arrayRoom.Take(words, bufpool.Most(words))
	if ok && cap(a.Exp) >= n {
		a.Format, a.Sig, a.Exp, a.Cls = of, a.Sig[:words], a.Exp[:n], a.Cls[:n]
		clear(a.Sig)
		clear(a.Exp)
		clear(a.Cls)
	} else {
		a = num.New(of, n)
	}
	return raw.NewMatrix(num.Mat{Arr: a, RS: 1, CS: rows, Rows: rows, Cols: cols}).(*halfulp.Matrix)
}

// putMatrix puts back what a matrix of takeMatrix is made of.
func putMatrix(m *halfulp.Matrix) {
	a := raw.Matrix(m).Arr
	if a.Kind != num.MP {
		return
	}
	kept := *a // a matrix that is given back has no numbers
	*a = num.Array{Format: a.Format}
	kept.Sig = kept.Sig[:cap(kept.Sig)]
	arrayRoom.Put(&kept, len(kept.Sig), bufpool.Bytes(kept.Sig)+bufpool.Bytes(kept.Exp)+bufpool.Bytes(kept.Cls))
}

// release gives back what was taken.
func (s *solver) release() {
	s.Release()
	for _, m := range s.away {
		m.Free()
	}
	for _, m := range s.here {
		putMatrix(m)
	}
	s.reuse = false
	s.away, s.here, s.tally, s.lifting, s.one = nil, nil, nil, nil, nil
}
