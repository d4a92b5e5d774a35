package direct

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/tiles"
)

// rowsTiles computes rows lo <= i < hi and returns the number of rows that took the exact sum.
// There are at least 16 rows.
func (w *gemvWorker) rowsTiles(lo, hi int) (exact int64) {
	t := w.sums.tiles
	if w.tiles == nil {
		w.tiles = tiles.NewSums(t, w.m, w.byRows, w.block, w.ref)
	}
	w.tiles.Add(w.xTiles, lo, hi)
	bound := uint64(w.m.Cols) * t.ProductBound()
	for r := range hi - lo {
		if w.stopped() {
			return exact
		}
		m, neg := w.tiles.Value(w.mag, r)
		x := num.Real{Class: num.Finite, Neg: neg, Exp: w.ref[r] + 2 - int64(8*(t.Digits()+1)), Mag: m}
		if w.special[r] || len(m) == 0 || !w.roundSum(lo+r, x, bound) {
			w.exactRow(lo + r)
			exact++
		}
	}
	return exact
}
