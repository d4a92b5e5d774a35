package direct

import (
	"math"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

func (w *gemvWorker) newTileSums() *tileSums {
	t := w.sums.tiles
	sizes := [...]int{
		t.unitQuads() * t.quadBytes() / 8,
		t.unitQuads() * quad * tileRows * 2,
		(w.block + tileRows - 1) / tileRows * t.blocks * tileBytes / 8,
		0,
	}
	if (w.m.Cols+quad-1)/quad > t.sumQuads() {
		sizes[3] = w.block * t.digits()
	}
	all := 0
	for _, n := range sizes {
		all += n
	}
	s := &tileSums{room: newRoom(&sumRooms, all), one: make([]int64, t.digits())}
	s.masks = wordMasks(2*t.blocks, min(w.m.Arr.Limbs(), 2*t.blocks))
	at := 0
	for i, to := range []*[]uint64{&s.unit, &s.stage, &s.sums, &s.wide} {
		*to = s.room[at : at+sizes[i]]
		at += sizes[i]
	}
	return s
}

// rowsTiles computes rows lo <= i < hi, of which there are 16 at least, and returns how many took
// the exact sum.
func (w *gemvWorker) rowsTiles(lo, hi int) (exact int64) {
	if w.tiles == nil {
		w.tiles = w.newTileSums()
	}
	s, t := w.tiles, w.sums.tiles
	quads := (w.m.Cols + quad - 1) / quad
	rows := hi - lo
	var wide []int64
	if len(s.wide) > 0 {
		wide = unsafe.Slice((*int64)(unsafe.Pointer(&s.wide[0])), rows*t.digits())
		clear(wide)
	}
	for q := 0; q < quads; q += t.sumQuads() {
		clear(s.sums[:(rows+tileRows-1)/tileRows*t.blocks*tileBytes/8])
		w.addTiles(lo, hi, q, min(quads, q+t.sumQuads()))
		for r := range len(wide) / t.digits() {
			s.addRow(wide[r*t.digits():], r, rows, t.blocks)
		}
	}
	bound := uint64(w.m.Cols) * t.productBound()
	for r := range rows {
		copy(s.one, w.xTiles.bias)
		if wide == nil {
			s.addRow(s.one, r, rows, t.blocks)
		} else {
			for c, v := range wide[r*t.digits():][:t.digits()] {
				s.one[c] += v
			}
		}
		m, neg := valueOfBytes(w.mag, s.one)
		x := num.Real{Class: num.Finite, Neg: neg, Exp: w.ref[r] + 2 - int64(8*(t.digits()+1)), Mag: m}
		if w.special[r] || len(m) == 0 || !w.roundSum(lo+r, x, bound) {
			w.exactRow(lo + r)
			exact++
		}
	}
	return exact
}

// addTiles adds the products of rows lo <= i < hi and of some quads to the sums.
func (w *gemvWorker) addTiles(lo, hi, first, end int) {
	t := w.sums.tiles
	whole := end // quads that follow each other
	if end*quad > w.m.Cols {
		whole--
	}
	rows := hi - lo
	n := t.unitQuads()
	if !w.byRows {
		for q := first; q < end; {
			k := max(1, min(n, whole-q))
			next := tileStart{0, min(q+k, end-1)}
			if rows%tileRows != 0 {
				last := tileStart{rows / tileRows, q}
				w.addUnits(lo, rows, tileStart{0, q}, rows/tileRows, k, 1, last)
				w.addUnits(lo, rows, last, 1, k, 1, next)
			} else {
				w.addUnits(lo, rows, tileStart{0, q}, rows/tileRows, k, 1, next)
			}
			q += k
		}
		return
	}
	for q := first; q < end; {
		k, units := min(n, whole-q), 1
		switch {
		case k <= 0: // the last columns
			k = 1
		case k == n:
			units = min(t.cacheQuads(), whole-q) / n
			k = n * units
		}
		for b := 0; b*tileRows < rows; b++ {
			next := tileStart{b + 1, q}
			if next.block*tileRows >= rows {
				next = tileStart{0, min(q+k, end-1)}
			}
			w.addUnits(lo, rows, tileStart{b, q}, 1, k/units, units, next)
		}
		q += k
	}
}

// A tileStart is where units begin: at a block of 16 rows and a quad.
type tileStart struct{ block, quad int }

// addUnits adds the products of units, of so many blocks of rows and so many times quads: either is
// 1. The next ones begin at next.
func (w *gemvWorker) addUnits(lo, rows int, at tileStart, blocks, quads, units int, next tileStart) {
	s, t, a, x := w.tiles, w.sums.tiles, w.m.Arr, w.xTiles
	first := func(at tileStart) int { return w.m.At(lo+rowsAt(at.block, rows), quadAt(at.quad, w.m.Cols)) }
	l, size := a.Limbs(), t.blocks*tileBytes
	i, q := first(at), at.quad
	j := &tileJob{
		a:   unsafe.Pointer(&s.unit[0]),
		b:   unsafe.Pointer(&x.digits[q*size]),
		c:   unsafe.Add(unsafe.Pointer(&s.sums[0]), at.block*size),
		sig: unsafe.Pointer(&a.Sig[i*l]), top: 8 * l, rowSig: 8 * l * w.m.RS, colSig: 8 * l * w.m.CS,
		exp: unsafe.Pointer(&a.Exp[i]), cls: unsafe.Pointer(&a.Cls[i]),
		ref: unsafe.Pointer(&w.ref[rowsAt(at.block, rows)]), scale: unsafe.Pointer(&x.scale[quad*q]), sign: unsafe.Pointer(&x.signs[quad*q]),
		quads: quads,
		stage: unsafe.Pointer(&s.stage[0]), masks: unsafe.Pointer(&s.masks[0]),
		after:  uintptr(unsafe.Pointer(&a.Sig[first(next)*l])),
		blocks: t.blocks, pitch: t.quadBytes(), limbs: l,
	}
	if w.byRows {
		j.step, j.units = w.m.RS, units
		j.bUnit, j.unitX, j.unitExp = quads*size, quad*quads, quad*quads
		j.soonPitch, j.soonBytes = j.rowSig, quad*quads*j.colSig
	} else {
		j.step, j.units, j.columns = w.m.CS, blocks, 1
		j.cUnit, j.unitRef, j.unitExp = size, tileRows, tileRows
		j.soonPitch, j.soonBytes = j.colSig, tileRows*j.rowSig
	}
	j.unitSig = j.soonBytes
	t.unit.run(j)
}

// near reports whether no product with x of some rows and columns is far below the largest one of
// its row, or 0: units come to a stop at each of these, and others do not mind them.
func (g *gemv) near(scale []int64) bool {
	const cols, span = 64, 50
	n := g.sums.tiles.unit.samples
	for r := range n {
		i := r * (g.m.Rows - 1) / n
		low, high := int64(math.MaxInt64), int64(math.MinInt64)
		for c := range cols {
			j := c * len(scale) / cols
			at := g.m.At(i, j)
			switch {
			case scale[j] == noScale:
				continue
			case g.m.Arr.Cls[at].Class() != num.Finite:
				return false
			}
			e := int64(g.m.Arr.Exp[at]) + scale[j]
			low, high = min(low, e), max(high, e)
		}
		if low <= high && high-low > span {
			return false
		}
	}
	return true
}
