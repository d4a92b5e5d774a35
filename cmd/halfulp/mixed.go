package main

import (
	"time"

	"github.com/halfulp/halfulp"
)

// fits returns m in format f where every entry has a place there, exactly.
func fits(m *halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, bool) {
	z := m.Convert(f)
	return z, z.Convert(m.Format()).Same(m.Clone())
}

// mixedGemm stores z = alpha A B + beta C, with A rows x k and B k x cols already
// transposed as asked for, where C does not fit the format of z: rounding it
// first would be a second rounding. Every entry is one dot product,
// (alpha a_i1, ..., alpha a_ik, beta) (b_1j, ..., b_kj, c_ij).
func mixedGemm(alpha halfulp.Scalar, a, b *halfulp.Matrix, beta halfulp.Scalar, c, z *halfulp.Matrix, opt *halfulp.Options) (halfulp.Stats, error) {
	rows, k := a.Dims()
	cols := b.Cols()
	if isZero(alpha) {
		k = 0 // A and B are unread
	}
	// The formats of the two sides hold every number, and alpha's products, exactly.
	left := halfulp.MP(max(exactPrec(a.Format())+exactPrec(alpha.Format()), exactPrec(beta.Format())))
	right := halfulp.MP(max(exactPrec(b.Format()), exactPrec(c.Format())))

	scaled := make([]*halfulp.Vector, rows)
	for i := range rows {
		scaled[i] = halfulp.NewVector(left, k+1)
		for h := range k {
			scaled[i].Set(h, a.At(i, h))
		}
		if _, err := halfulp.Scal(alpha, scaled[i].Slice(0, k), opt); err != nil {
			return halfulp.Stats{}, err
		}
		scaled[i].Set(k, beta)
	}
	start := time.Now()
	whole := *opt
	whole.Progress = nil
	var total halfulp.Stats
	column := halfulp.NewVector(right, k+1)
	for j := range cols {
		for h := range k {
			column.Set(h, b.At(h, j))
		}
		for i := range rows {
			column.Set(k, c.At(i, j))
			s, stats, err := halfulp.Dot(scaled[i], column, z.Format(), &whole)
			if err != nil {
				return halfulp.Stats{}, err
			}
			z.Set(i, j, s)
			stats.Exact += total.Exact
			stats.Overflow += total.Overflow
			stats.Underflow += total.Underflow
			total = stats
		}
		if opt.Progress != nil {
			opt.Progress(float64(j+1) / float64(cols))
		}
	}
	total.Stages = []halfulp.Stage{{Name: "dot products", Time: time.Since(start)}}
	return total, nil
}

// exactPrec returns a precision at which MP holds every number of format f.
func exactPrec(f halfulp.Format) uint {
	switch f {
	case halfulp.DD, halfulp.TD, halfulp.QD:
		return 2100 // from the largest double, 2^1024, down to the smallest, 2^-1074
	}
	return uint(f.Bits())
}

func isZero(s halfulp.Scalar) bool { return !s.IsNaN() && s.Big().Sign() == 0 }
