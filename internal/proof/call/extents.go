package call

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/residue"
)

// Extents returns bounds of the rows of matrices in MP at the run's place. It waits for all earlier
// operations there. The error wraps ErrRange if a matrix has an infinity or NaN, or if the tally
// has counted an entry.
func (s *Run) Extents(list ...num.Mat) ([]place.Extents, error) {
	newton, err := part[place.Newton](s)
	if err != nil {
		return nil, err
	}
	x, left, err := newton.Extents(s.Config(), s.Tally, list...)
	if err != nil {
		return nil, err
	}
	for _, y := range x {
		if y.Special || left > 0 {
			return nil, fmt.Errorf("results that are no numbers, or beyond the exponents of formats: %w", ErrRange)
		}
	}
	return x, nil
}

// extentThere is the extent of a matrix at a place.
type extentThere struct{ of place.Extents }

func (x extentThere) Norm() *big.Float { return x.sums(nil) }

func (x extentThere) Size() (norm, top int) {
	norm, top = -bound.MaxBits, -bound.MaxBits // of zeros
	if most := x.Norm(); most.Sign() > 0 {
		norm = most.MantExp(nil)
	}
	for _, t := range x.of.Top {
		top = max(top, int(max(t, -bound.MaxBits)))
	}
	return norm, top
}

func (x extentThere) Tops(low int64) []int64 {
	z := slices.Clone(x.of.Top)
	for i, top := range z {
		if top <= NoNumber {
			z[i] = low
		}
	}
	return z
}

func (x extentThere) Sums() []int64 {
	exps := make([]int64, len(x.of.Top))
	x.sums(exps)
	return exps
}

// sums returns a bound of the largest sum of magnitudes of a row, and stores exponents of bounds of
// all sums in exps, unless it is nil.
func (x extentThere) sums(exps []int64) *big.Float {
	top, largest := int64(NoNumber), 0.0
	for i, exp := range x.of.Top {
		if exp > NoNumber {
			norm := x.of.Norm[i]
			e := int64(math.Float64bits(norm)>>52) - 1022 // of math.Frexp, for a normal number
			if e == -1022 {
				_, k := math.Frexp(norm)
				e = int64(k)
			}
			if exp += e; exp >= top {
				if frac := math.Ldexp(norm, -int(e)); exp > top || frac > largest {
					top, largest = exp, frac
				}
			}
		}
		if exps != nil {
			exps[i] = exp
		}
	}
	return bound.ScaledUp(bound.Upper().SetFloat64(largest), max(top, math.MinInt32))
}

func (x extentThere) Vectors() *residue.Vectors { return VectorsOf(x.of) }

// VectorsOf returns bounds for products from the bounds x of the rows of a matrix, which share the
// exponents. It returns nil if there is a row of zeros, which has no exponent.
func VectorsOf(x place.Extents) *residue.Vectors {
	if len(x.Top) == 0 || slices.Min(x.Top) <= NoNumber {
		return nil
	}
	return &residue.Vectors{Top: x.Top, Norm: slices.Max(x.Norm), Width: x.Width}
}
