package blocks

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// ApproximateInverse returns an approximate inverse of A by an elimination by blocks in numbers of
// the given bits. If these bits do not suffice, it returns a guess of how many more will.
func ApproximateInverse(s *call.Run, a num.Mat, f *seed.Factors, bits int) (p *seed.Approximate, more int, err error) {
	near, _ := seed.Narrow(a, uint(bits))
	m := call.Scaled(near, f.Scaling, math.MaxInt32)
	if m.Arr == nil {
		return nil, 0, call.ErrRange
	}
	first, more, err := eliminateBlocks(s, m, bits, f, max(f.N/4, 32))
	if err != nil {
		return nil, more, err
	}
	x, err := first.inverted(bits)
	if err != nil {
		return nil, bits / 2, err
	}
	if !seed.Rescale(x, scale.Scaling{Rows: f.Cols, Cols: f.Rows}) {
		return nil, 0, call.ErrRange
	}
	p = &seed.Approximate{R: x, Weights: f.Cols, Scale: f.Rows, Rounds: 1 + s.Stats.Rounds}
	e, err := seed.Distance(s, p, a)
	if err == nil && e.Arr != nil {
		return nil, max(p.Rho.MantExp(nil), 0) + 16, seed.ErrProof
	}
	return p, 0, err
}

// inverted returns S^-1 to about the given bits. With the inverse W of the remaining block,
//
//	(P S)^-1 = [V + X W S21 V, -X W; -W S21 V, W],
//
// where V is B^-1 in as many bits.
func (t *block) inverted(bits int) (num.Mat, error) {
	s, n := t.s, len(t.by.Rows)
	format := num.Precision(uint(bits))
	if t.last != nil {
		v := newton.New(s, t.all, t.last, math.MaxInt32)
		if v == nil {
			return num.Mat{}, seed.ErrNoise
		}
		if err := v.Refine(bits); err != nil {
			return num.Mat{}, err
		}
		x := v.X.Convert(format)
		by := scale.Scaling{Rows: make([]int64, n), Cols: make([]int64, n)} // scalings of X and S
		for i := range n {
			by.Rows[i], by.Cols[i] = v.By.Cols[i]+t.by.Cols[i], v.By.Rows[i]+t.by.Rows[i]
		}
		if !seed.Rescale(x, by) {
			return num.Mat{}, call.ErrRange
		}
		return x, nil
	}
	if err := t.newton.Refine(bits); err != nil {
		return num.Mat{}, err
	}
	w, err := t.Rest.inverted(bits)
	if err != nil {
		return num.Mat{}, err
	}
	r := t.inverse.Rows
	v := t.newton.X.Convert(format)
	if !seed.Rescale(v, scale.Scaling{Rows: t.newton.By.Cols, Cols: t.newton.By.Rows}) {
		return num.Mat{}, call.ErrRange
	}
	y, z := num.NewMat(format, n-r, r), num.NewMat(format, n, n)
	if err := s.GemmWithin(1, t.left, v, 0, num.Mat{}, y, seed.About(bits)); err != nil {
		return num.Mat{}, err
	}
	right, below := z.Slice(0, r, r, n), z.Slice(r, n, 0, r)
	if err := s.GemmWithin(-1, t.right, w, 0, num.Mat{}, right, seed.About(bits)); err != nil {
		return num.Mat{}, err
	}
	if err := s.GemmWithin(-1, w, y, 0, num.Mat{}, below, seed.About(bits)); err != nil {
		return num.Mat{}, err
	}
	more := num.NewMat(format, r, r)
	if err := s.GemmWithin(-1, t.right, below, 0, num.Mat{}, more, seed.About(bits)); err != nil {
		return num.Mat{}, err
	}
	if err := s.Sum(v, more, z.Slice(0, r, 0, r)); err != nil {
		return num.Mat{}, err
	}
	if err := place.Copy(z.Slice(r, n, r, n), w); err != nil {
		return num.Mat{}, err
	}
	back := make([]int, n) // column order[i] of S^-1 is column i of z
	for i, k := range t.order {
		back[k] = i
	}
	x := permuted(z.T(), back).T()
	if !seed.Rescale(x, scale.Scaling{Rows: t.by.Cols, Cols: t.by.Rows}) {
		return num.Mat{}, call.ErrRange
	}
	return x, nil
}
