package blocks

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// LongDeterminant is det.Long by an elimination by blocks in the given bits. The determinant is nil
// if the determinant of a block cannot be computed. If the bits do not suffice, it returns a guess
// of how many more will.
//
// det G is the product of the determinants of all B and of the last S, up to sign and powers of
// two.
func LongDeterminant(s *call.Run, a num.Mat, f *seed.Factors, bits, places int) (d *seed.Determinant, more int, err error) {
	PlanBlocks(s, f.N, bits)
	z, more, err := Eliminate(s, a, f, bits, max(f.N/4, 32))
	if err != nil {
		return nil, more, err
	}
	log := bound.Upper().Mul(z.defect, bound.Upper().SetInt64(int64(2*f.N))) // 1/(1 - rho) ≤ 2
	if more = seed.MissingBits(log, places); more > 0 {
		return nil, more, nil
	}
	s.Work.Guessed = false
	d, err = blockProduct(s, z, log, places)
	s.Stats.Precision = bits
	return d, 0, err
}

// blockProduct returns the determinant of G with the log of det F / det G; nil if the determinant
// of a block cannot be computed.
func blockProduct(s *call.Run, z *Elimination, log *big.Float, places int) (*seed.Determinant, error) {
	d := &seed.Determinant{Mid: new(big.Float).SetPrec(uint(places + 64)).SetInt64(1), Log: log}
	for i := range z.by.Rows {
		d.Shift -= z.by.Rows[i] + z.by.Cols[i]
	}
	for t := z.First; t != nil; t = t.Rest {
		for i := range t.by.Rows {
			d.Shift -= t.by.Rows[i] + t.by.Cols[i]
		}
		if t.order != nil && seed.Odd(t.order) {
			d.Mid.Neg(d.Mid)
		}
		v, err := t.determinant(places)
		if err != nil || v == nil {
			return nil, err
		}
		d.Log.Add(d.Log, v.Log)
		d.Log.Add(d.Log, bound.Exp2(1-int(d.Mid.Prec()))) // the product is rounded
		d.Mid.Mul(d.Mid, v.Mid)
		d.Shift += v.Shift
	}
	return d, nil
}

// determinant returns the determinant of B, or of the last S; nil if an elimination meets zeros.
// Where float64 factors do not suffice, pivots are eliminated one by one, and V bounds their error.
func (t *block) determinant(places int) (*seed.Determinant, error) {
	s, b, v := t.s, t.pivots, t.newton
	if t.last != nil {
		b, v = t.all, newton.New(s, t.all, t.last, math.MaxInt32)
	}
	f, err := seed.NewFactors(s, b, scale.Unscaled(b.Rows, b.Rows))
	if err != nil {
		return nil, err
	}
	d, err := Determinant(s, b, f, places, Leaf(places), 1)
	if d != nil || err != nil || v == nil {
		return d, err
	}
	if err := v.Refine(16); err != nil {
		return nil, err
	}
	loss, err := seed.Loss(s, f)
	if err != nil || loss > seed.LossyBits {
		return nil, err
	}
	// V and B are not scaled.
	order, odd := f.Order()
	p := &seed.Approximate{Abs: bound.RawBounds(v.X), Rho: v.Rho}
	d, err = eliminated(s, leafBlock{permuted(b, order), p, places + loss + 2*bits.Len(uint(f.N)) + 8})
	if d != nil && odd {
		d.Mid.Neg(d.Mid)
	}
	return d, err
}
