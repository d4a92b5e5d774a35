package direct

import "github.com/halfulp/halfulp/internal/num"

// rowsTiles computes rows lo <= i < hi, of which there are 16 at least, and returns how many took
// the exact sum.
func (w *gemvWorker) rowsTiles(lo, hi int) (exact int64) {
	t := w.sums.tiles
	if w.tiles == nil {
		w.tiles = newTileSums(t, w.m, w.byRows, w.block, w.ref)
	}
	w.tiles.add(w.xTiles, lo, hi)
	bound := uint64(w.m.Cols) * t.productBound()
	for r := range hi - lo {
		m, neg := w.tiles.value(w.mag, r)
		x := num.Real{Class: num.Finite, Neg: neg, Exp: w.ref[r] + 2 - int64(8*(t.digits()+1)), Mag: m}
		if w.special[r] || len(m) == 0 || !w.roundSum(lo+r, x, bound) {
			w.exactRow(lo + r)
			exact++
		}
	}
	return exact
}
