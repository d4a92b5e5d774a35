package factors

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

const (
	// leastRootBits is the least number of bits of the first elimination; see eliminationBits.
	// mostRootBits bounds the bits of the last one.
	leastRootBits = 192
	mostRootBits  = 1 << 13
	// RootLeaf is the order up to which pivots are eliminated one by one.
	RootLeaf = 32
)

// pivotError reports that an elimination in some bits met a pivot that is not positive.
type pivotError struct{ at int }

func (e *pivotError) Error() string { return fmt.Sprintf("pivot %d is not positive", e.at) }

// byBlocks is Enclosure for matrices too ill-conditioned for float64. The seed S comes from an
// elimination by products in as few bits as suffice. Its error is not bounded; E shows it.
func (t *CholeskyNewton) byBlocks(bits int) (e *ziv.Enclosure, err error) {
	s, n := t.S, t.N
	bad := &pivotError{-1}
	f := t.F.Slice(0, n, 0, n)
	least, err := eliminationBits(s, f)
	if err != nil {
		return nil, err
	}
	want, known := bits, false
	err = ziv.Decide(s, ziv.Loop{What: "an elimination", First: least, Most: mostRootBits}, func(some int) (more int, err error) {
		if some > least && !known { // F may be singular
			if r, _, err := modular.Rank(s, f); r < n || err != nil {
				return ziv.Done, err
			}
			known = true
		}
		s.Work.Guessed = true // whether these bits suffice
		t.planRoot(some, bits)
		var at *pivotError
		near, _ := seed.Narrow(f, uint(some))
		x, err := root(s, near, some)
		s.Work.Guessed = false
		switch {
		case errors.As(err, &at):
			if at.at == bad.at { // more bits have not made it positive
				return ziv.Done, nil
			}
			bad = at
			return some / 2, nil
		case errors.Is(err, call.ErrRange):
			return ziv.Done, nil
		case err != nil:
			return 0, err
		}
		rows, err := s.RowSums(x)
		if err != nil {
			return 0, err
		}
		t.Begin(x, int(slices.Max(rows))+4)
		bits = want + smallest(x)
		if e, err = Improved(s, t, bits); e != nil || err != nil || t.Gain >= LeastGain {
			return ziv.Done, err
		}
		return some / 2, nil
	})
	return e, err
}

// stepped improves S until ‖E‖ is about 2^-bits. ok is false if the seed is not good enough.
func (t *CholeskyNewton) stepped(bits int) (ok bool, err error) {
	for next, taken := 0, 0; next < bits && t.Gain < bits; taken++ {
		if taken > mostSteps {
			return false, nil
		}
		var width, places int
		next, width, places = t.next(bits)
		if next+t.Amp+4 > bound.MaxBits {
			return false, nil
		}
		v, e, h, err := t.errorMatrix(width, places)
		if err != nil || t.Gain < LeastGain {
			return false, err
		}
		if err := t.step(v, e, h, next); err != nil {
			return false, err
		}
	}
	return true, nil
}

// root returns S with S F S^T ≈ I for a symmetric F, in numbers of some bits. S is lower triangular
// with a positive diagonal. If float64 numbers do not give S, F is split into
//
//	F = [A B^T; B C],  S = [S1 0; -S2 V S1 S2],  V = B S1^T,
//
// with S1 the root of A and S2 the root of C - V V^T, recursively, so that most of the work is
// products. The error is a *pivotError if a pivot is not positive.
func root(s *call.Run, f num.Mat, bits int) (num.Mat, error) {
	n := f.Rows
	if err := s.Ctx.Err(); err != nil {
		return num.Mat{}, err
	}
	for i := range n {
		if f.Big(i, i).Sign() <= 0 {
			return num.Mat{}, &pivotError{i}
		}
	}
	if n <= RootLeaf {
		return smallRoot(s, f, bits)
	}
	format := num.Precision(uint(bits))
	d, err := NewCholeskyNewton(s, f, n, bound.MaxBits)
	if err != nil {
		return num.Mat{}, err
	}
	if d != nil && d.X.Arr != nil {
		ok, err := d.stepped(bits)
		if err != nil {
			return num.Mat{}, err
		}
		if ok {
			x := d.X.Convert(format)
			if !seed.Rescale(x, scale.Scaling{Rows: make([]int64, n), Cols: d.by.Cols}) {
				return num.Mat{}, call.ErrRange
			}
			return x, nil
		}
	}
	k := n / 2
	s1, err := root(s, f.Slice(0, k, 0, k), bits)
	if err != nil {
		return num.Mat{}, err
	}
	v := num.NewMat(format, n-k, k)
	if err := s.GemmOfTriangles(0, 1, f.Slice(k, n, 0, k), s1.T(), 0, num.Mat{}, v, [2]byte{0, 'U'}, seed.About(bits)); err != nil {
		return num.Mat{}, err
	}
	rest := num.NewMat(format, n-k, n-k)
	if err := s.GemmTriangle('L', -1, v, v.T(), 1, f.Slice(k, n, k, n), rest, seed.About(bits)); err != nil {
		return num.Mat{}, err
	}
	if err := Mirror(s, rest); err != nil {
		return num.Mat{}, err
	}
	s2, err := root(s, rest, bits)
	if err != nil {
		if at := (*pivotError)(nil); errors.As(err, &at) {
			at.at += k
		}
		return num.Mat{}, err
	}
	x := num.NewMat(format, n, n)
	if err := place.Copy(x.Slice(0, k, 0, k), s1); err != nil {
		return num.Mat{}, err
	}
	if err := place.Copy(x.Slice(k, n, k, n), s2); err != nil {
		return num.Mat{}, err
	}
	w := num.NewMat(format, n-k, k)
	if err := s.GemmOfTriangles(0, 1, v, s1, 0, num.Mat{}, w, [2]byte{0, 'L'}, seed.About(bits)); err != nil {
		return num.Mat{}, err
	}
	return x, s.GemmOfTriangles(0, -1, s2, w, 0, num.Mat{}, x.Slice(k, n, 0, k), [2]byte{'L', 0}, seed.About(bits))
}

// smallRoot is root by elimination of one pivot at a time.
func smallRoot(s *call.Run, f num.Mat, bits int) (num.Mat, error) {
	n := f.Rows
	g, err := seed.Eliminate(s, f, n, bits, false)
	if err != nil {
		return num.Mat{}, err
	}
	if g.Zero >= 0 {
		return num.Mat{}, &pivotError{g.Zero}
	}
	x := num.NewMat(num.Precision(uint(bits)), n, n)
	if err := seed.InvertLower(s, g.LU, x, true); err != nil {
		return num.Mat{}, err
	}
	for i := range n {
		pivot := g.LU.Big(i, i)
		if pivot.Sign() <= 0 {
			return num.Mat{}, &pivotError{i}
		}
		pivot.Sqrt(pivot)
		for j := range i + 1 {
			x.SetBig(i, j, new(big.Float).SetPrec(uint(bits)).Quo(x.Big(i, j), pivot))
		}
	}
	return x, nil
}
