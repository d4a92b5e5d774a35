package call

import (
	"context"
	"math"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
)

// cutBelow clears the bits of x below bit low and returns x, or nil if no bits remain. The last
// word of x is not 0.
func cutBelow(x []uint64, low int64) []uint64 {
	if low <= 0 {
		return x
	}
	k := low >> 6
	if k >= int64(len(x)) {
		return nil
	}
	clear(x[:k])
	if x[k] &^= 1<<uint(low&63) - 1; x[k] == 0 && k == int64(len(x)-1) {
		return nil
	}
	return x
}

// WordsFor returns how many 64-bit words hold the given bits and 32 spare bits.
func WordsFor(bits int) int { return (bits + 32 + 63) / 64 }

// SumHere is SumTo on the host, for a z that is 0.
func (s *Run) SumHere(x, y, z num.Mat, unit *int64) error {
	mx, my, mz := x, y, z
	count := WordsFor(z.Format().Bits())
	adders := make([]*bound.Adder, s.Threads)
	return par.For(s.Ctx, s.Threads, mz.Cols, func(w, j int) {
		if adders[w] == nil {
			adders[w] = bound.NewAdder(count)
		}
		for i := range mz.Rows {
			neg, mag, exp := adders[w].Add(&mx, &my, i, j)
			if unit != nil {
				mag = cutBelow(mag, *unit-exp)
			}
			switch {
			case len(mag) == 0:
			case max(exp, -exp) < math.MaxInt32/2: // half of the time
				bound.StoreLeading(mz.Arr, mz.At(i, j), neg, mag, exp)
			default:
				mz.Arr.Set(mz.At(i, j), num.Real{Class: num.Finite, Neg: neg, Mag: mag, Exp: exp})
			}
		}
	})
}

// Upload returns a copy, at the run's place, of a matrix of the host.
func (s *Run) Upload(m num.Mat) (num.Mat, error) {
	z, err := s.Room(m.Format(), m.Rows, m.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	return z, place.Copy(z, m)
}

// Config returns the configuration of computations at the run's place.
func (s *Run) Config() place.Config {
	return place.Config{Run: s.Call.Reporting(nil)}
}

// IdentityHere is Identity on the host. The matrix is valid until the run's Release; the end of a
// Temporary does not release it.
func (s *Run) IdentityHere(n int) num.Mat {
	for _, m := range s.units {
		if m.Rows == n {
			return m
		}
	}
	x := s.floats(n * n)
	clear(x)
	for i := range n {
		x[i+i*n] = 1
	}
	m := num.Float64s(n, n, x)
	s.units = append(s.units, m)
	return m
}

// Temporary returns a function that releases the slices that Floats and Words return from now on.
// It also discards Lifting if that was set in the meantime, since it may use these slices.
func (s *Run) Temporary() (end func()) {
	lifting, give := s.Lifting, s.Call.Temporary()
	return func() {
		if s.Lifting != lifting {
			s.Lifting = nil
		}
		give()
	}
}

// arrayRoom keeps arrays of MP between calls, sorted by their number of words.
var arrayRoom bufpool.Shelf[*num.Array]

// MatrixHere returns a rows x cols matrix of zeros on the host. If Reuse is set, Drop or Release
// releases it for later matrices.
func (s *Run) MatrixHere(f num.Format, rows, cols int) num.Mat {
	s.Budget.Reclaim(MatrixBytes(f, rows, cols))
	if !s.Reuse {
		return num.NewMat(f, rows, cols)
	}
	m := takeMatrix(f, rows, cols, s.Threads)
	s.Budget.Take(MatrixBytes(f, rows, cols))
	s.here = append(s.here, m)
	return m
}

// putHere releases a matrix of MatrixHere.
func (s *Run) putHere(m num.Mat) {
	s.Budget.Take(-MatrixBytes(m.Format(), m.Rows, m.Cols))
	PutMatrix(m)
}

// MatrixBytes returns the bytes of a rows x cols matrix.
func MatrixBytes(f num.Format, rows, cols int) int64 {
	return num.SizeOf(num.NewMat(f, 0, 0).Arr.Format) * int64(rows) * int64(cols)
}

// TakeMatrix returns a rows x cols matrix of zeros on the host, which PutMatrix may release.
func TakeMatrix(f num.Format, rows, cols int) num.Mat { return takeMatrix(f, rows, cols, 1) }

// takeMatrix is TakeMatrix on several threads.
func takeMatrix(f num.Format, rows, cols, threads int) num.Mat {
	if !f.IsMP() || rows == 0 || cols > math.MaxInt>>32/rows {
		return num.NewMat(f, rows, cols)
	}
	n := rows * cols
	of := num.NewMat(f, 0, 0).Arr.Format
	words := n * of.Limbs()
	a, ok := arrayRoom.Take(words, bufpool.Most(words))
	if ok && cap(a.Exp) >= n {
		a.Format, a.Sig, a.Exp, a.Cls = of, a.Sig[:words], a.Exp[:n], a.Cls[:n]
		// A part takes some tens of µs. The context is never done.
		const part = 1 << 16
		_ = par.For(context.Background(), threads, (n+part-1)/part, func(_, k int) {
			first, to := k*part, min(n, (k+1)*part)
			clear(a.Sig[first*of.Limbs() : to*of.Limbs()])
			clear(a.Exp[first:to])
			clear(a.Cls[first:to])
		})
	} else {
		a = num.New(of, n)
	}
	return num.Mat{Arr: a, RS: 1, CS: rows, Rows: rows, Cols: cols}
}

// PutMatrix releases the storage of a matrix of TakeMatrix for later matrices.
func PutMatrix(m num.Mat) {
	a := m.Arr
	if a.Kind != num.MP {
		return
	}
	kept := *a // a released matrix has no numbers
	*a = num.Array{Format: a.Format}
	kept.Sig = kept.Sig[:cap(kept.Sig)]
	arrayRoom.Put(&kept, len(kept.Sig), bufpool.Bytes(kept.Sig)+bufpool.Bytes(kept.Exp)+bufpool.Bytes(kept.Cls))
}

// Release releases all memory of the run. A routine calls it at its end. Routines that it calls
// release only their own memory, by Temporary, since the caller may still use the rest.
func (s *Run) Release() {
	s.Call.Release()
	for _, m := range s.Away {
		m.Free()
	}
	for _, m := range s.here {
		s.putHere(m)
	}
	for _, m := range s.units {
		s.returnFloats(m.Arr.F64[0])
	}
	s.Reuse = false
	s.Away, s.here, s.Tally, s.Lifting, s.units = nil, nil, nil, nil, nil
}

// Copy returns a copy of a matrix on the host, made on all threads.
func Copy(s *Run, m num.Mat) num.Mat {
	const some = 16 // columns a call
	z := num.NewMat(m.Arr.Format, m.Rows, m.Cols)
	_ = par.For(context.Background(), s.Threads, (m.Cols+some-1)/some, func(_, part int) {
		from, to := part*some, min((part+1)*some, m.Cols)
		z.Slice(0, m.Rows, from, to).CopyFrom(m.Slice(0, m.Rows, from, to))
	})
	return z
}
