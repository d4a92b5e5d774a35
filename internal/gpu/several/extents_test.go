package several

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testseed"
)

// exactExtents returns what a GPU finds of one row: the norm rounded up.
func exactExtents(row []*big.Float) place.Extents {
	x := place.Extents{Top: []int64{zeros}, Low: []int64{1 << 61}, Norm: []float64{0}}
	low := int64(math.MaxInt64)
	for _, v := range row {
		if v.Sign() != 0 {
			x.Top[0] = max(x.Top[0], int64(v.MantExp(nil)))
			low = min(low, int64(v.MantExp(nil))-int64(v.MinPrec()))
		}
	}
	if x.Top[0] == zeros {
		return x
	}
	x.Low[0], x.Width = low, x.Top[0]-low
	norm, accuracy := new(big.Float).SetMantExp(magnitudes(row), int(-x.Top[0])).Float64()
	if x.Norm[0] = norm; accuracy == big.Below {
		x.Norm[0] = math.Nextafter(norm, math.Inf(1))
	}
	return x
}

// magnitudes returns the sum of the magnitudes of a row, exactly.
func magnitudes(row []*big.Float) *big.Float {
	sum := new(big.Float).SetPrec(8000)
	for _, v := range row {
		sum.Add(sum, new(big.Float).Abs(v))
	}
	return sum
}

// TestJoin checks that what is joined of pieces of a row bounds the row.
func TestJoin(t *testing.T) {
	r := testseed.Rand(t, 3, 4)
	for trial := range 3000 {
		var row []*big.Float
		x := newExtents(1)
		for d := range 1 + r.IntN(4) {
			part := make([]*big.Float, 1+r.IntN(3))
			scale := r.IntN(4) * r.IntN(1500) // far apart, or not
			for k := range part {
				part[k] = new(big.Float).SetMantExp(big.NewFloat(r.Float64()-0.5), r.IntN(20)-scale)
				if r.IntN(4) == 0 {
					part[k] = new(big.Float)
				}
			}
			row = append(row, part...)
			y := exactExtents(part)
			y.Width += int64(r.IntN(50)) // of another row
			join(x, y, piece{d: d, i1: 1})
		}
		want := exactExtents(row)
		if x.Top[0] != want.Top[0] {
			t.Fatalf("trial %d: top %d, want %d", trial, x.Top[0], want.Top[0])
		}
		if want.Top[0] == zeros {
			continue
		}
		bound := new(big.Float).SetMantExp(big.NewFloat(x.Norm[0]), int(x.Top[0]))
		if magnitudes(row).Cmp(bound) > 0 || x.Norm[0] > want.Norm[0]*(1+0x1p-48) {
			t.Fatalf("trial %d: norm %g, want %g", trial, x.Norm[0], want.Norm[0])
		}
		if x.Width != want.Width {
			t.Fatalf("trial %d: width %d, want %d", trial, x.Width, want.Width)
		}
	}
}
