package tiles

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/halfulp/halfulp/internal/amx"
	"github.com/halfulp/halfulp/internal/hugepage"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// A Unit multiplies digits on tiles, here for products of a matrix with a vector: the digits are
// bytes, B = 2^8, and a tile multiplies 16 rows by 64 digits with a Toeplitz matrix of the digits
// of x, which all rows share. Sums of products are kept in D columns as in package direct. Column c
// has the weight B^-(c+2), and is not carried: an int32 holds many products of digits.
//
// An entry A 2^e, 1/2 <= A < 1, enters as the first D digits of t = +-A 2^-(d+1), d = P - e - f,
// and x_j = X 2^f as the first D digits of -X/2, so that both are below 1/2. The sign of t is
// opposite to the sign of the product. A negative t is in two's complement, so all digits but the
// highest are 0 <= t_s < B. The digits of x are -B/2 <= x_s < B/2.
//
// In units of 2^(P+2) the error of a product is less than
//
//	B^-D/2 + B^-D/2 (digits cut off either factor, times the other factor, at most 1/2)
//	+ D/2 B^-D      (columns cut off: column D+k holds D-1-k products, each less than B^2/2, D <= B)
//
// hence, in units of the last column, B^-(D+1), less than (D/2 + 1) B.
//
// Tiles multiply signed bytes, so they get t_s - B/2 for all digits but the highest. This lowers
// column c by B/2 times the sum of the x_s with s < c, which is the same for all rows. Products of
// digits are at most B^2/4.
//
// Digits lie in blocks of 16, the highest block first. A block is a number in little-endian order,
// so digits are copied from words without any permutation. A row of a tile has one block from each
// of four columns, called a quad.
type Unit struct {
	run    func(j *tileJob)
	spread func(dst []int8, pitch int, digits []byte, blocks int)
	// Other methods are faster below rows rows, or up to few products, because the digits of x are
	// used less often.
	rows, few int
	samples   int // rows that Near samples
	dot       func(j *tileDotJob)
	// Other methods are faster for dot products of fewer numbers.
	FewProducts int
}

// tilesOf returns the unit of the machine, nil if there is none. Tests replace it.
var tilesOf = machineTiles

const (
	Rows      = amx.Rows
	TileBytes = amx.Bytes
	Quad      = 4
	// blockDigits is the number of digits in a block.
	blockDigits = 16
	// tileProduct bounds a product of digits.
	tileProduct = 128 * 128
	// halfDigits is half a digit in every byte of a word.
	halfDigits = 0x8080808080808080
	// leastTileBits is the precision, in bits, up to which package lanes is as fast.
	leastTileBits = 128
	// mostTileTerms keeps sums of columns far from the ends of int64.
	mostTileTerms = 1 << 30
)

// tileBlocks are the numbers of blocks that are taken. With 3 to 6 vertical digits take less where
// the core's other hardware thread is busy, which slows down tiles: 424 bits, of 4 blocks, took 1.2
// times as long there, and three quarters of the time on a core of its own.
var tileBlocks = [...]int{2, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

const fewTileBlocks, manyTileBlocks = 2, 7

// A tileRoom is memory that is kept for the next product. Page faults of new memory took a tenth of
// the time of a product of 1000 x 1000 numbers.
type tileRoom []uint64

// vectorRooms holds rooms for digits of vectors, sumRooms for sums of workers, dotRooms for dot
// products.
var vectorRooms, sumRooms, dotRooms sync.Pool

// newRoom returns n words with unspecified contents, aligned to 64 bytes.
func newRoom(p *sync.Pool, n int) tileRoom {
	if r, ok := p.Get().(*tileRoom); ok && cap(*r) >= n {
		return (*r)[:n]
	}
	r := superacc.Aligned(n)
	hugepage.Large(r)
	return r
}

// A Plan describes how sums of products are computed on tiles.
type Plan struct {
	Unit   *Unit
	Blocks int // of digits
}

// PlanRows returns a plan for sums of n products that are rounded to p bits, with ten guard bits.
// It is not ok if tiles do not support format a or are slower for this size.
func PlanRows(a num.Format, p, rows, n int) (t Plan, ok bool) {
	u := tilesOf()
	if u == nil || a.Kind != num.MP || n > mostTileTerms || rows < u.rows || rows*n <= u.few {
		return t, false
	}
	fits := func(b int) bool {
		return 8*blockDigits*b >= p+bits.Len(uint(n))/2+10+bits.Len(uint(2*blockDigits*b+4))
	}
	if p <= leastTileBits || !fits(fewTileBlocks) && fits(manyTileBlocks-1) {
		return t, false
	}
	for _, b := range tileBlocks {
		if fits(b) {
			return Plan{u, b}, true
		}
	}
	return t, false
}

// Digits returns the number of digits of a number.
func (t Plan) Digits() int { return blockDigits * t.Blocks }

// ProductBound bounds the error of a product, in units of the last column.
func (t Plan) ProductBound() uint64 { return uint64(t.Digits()/2+1) << 8 }

// quadBytes returns the size of the digits of a quad, four columns of 16 numbers, in bytes.
func (t Plan) quadBytes() int {
	if t.Blocks == 2 {
		return 2 * TileBytes
	}
	return (t.Blocks + 3) / 4 * 4 * TileBytes
}

// Cost estimates the time of a product of two numbers, in ns.
func (t Plan) Cost() float64 {
	b := float64(t.Blocks)
	return 0.6 + 1.05*b + 0.11*b*b // may fuse: an estimate
}

// unitQuads is how many quads a unit has: their digits and those of x are to stay in the
// first-level cache. The assembly relies on it that units of 7 or more blocks have one quad.
func (t Plan) unitQuads() int { return max(1, 8/t.Blocks) }

// SumQuads returns the number of quads whose products an int32 can hold.
func (t Plan) SumQuads() int { return (1<<31 - 1) / (tileProduct * t.Digits()) / Quad }

// tileJob describes the products that a unit adds up; the assembly depends on its layout. A unit is
// 16 rows of quads quads. Fields with unit in their names are steps from a unit to the next. Steps
// in arrays that are not of bytes count elements, unless the comment says bytes.
type tileJob struct {
	a       unsafe.Pointer // room for the digits of a unit
	b       unsafe.Pointer // digits of x
	bUnit   int            // bytes
	c       unsafe.Pointer // int32 sums
	cUnit   int            // bytes
	sig     unsafe.Pointer
	top     int // bytes from the first word of a number to the end of the last
	rowSig  int // bytes
	colSig  int
	unitSig int
	exp     unsafe.Pointer // int32
	cls     unsafe.Pointer // uint8
	step    int            // of exp and cls: from a column, or a row, to the next
	unitExp int
	ref     unsafe.Pointer // int64, of a row
	unitRef int
	scale   unsafe.Pointer // int64, of a column
	sign    unsafe.Pointer // uint8, class and sign of x
	unitX   int
	quads   int
	units   int
	stage   unsafe.Pointer // room for shifts and signs
	masks   unsafe.Pointer // words of a number that exist, see wordMasks
	columns int            // 1 if the numbers of a column are adjacent, 0 if those in a row are
	ready   int            // 1 if the digits of the first unit are stored
	// Memory of the next unit to prefetch: runs of soonBytes bytes, soonPitch apart.
	soonPitch int
	soonBytes int
	after     uintptr // what is wanted after the last one
	blocks    int
	pitch     int // of the digits of a quad
	first     int // of amx.FirstBand
	lines     int // to fetch for a product of tiles
	// Not for the assembly.
	limbs int // of a number
}

// skip removes the first k units from the job.
func (j *tileJob) skip(k int) {
	j.b, j.c = unsafe.Add(j.b, k*j.bUnit), unsafe.Add(j.c, k*j.cUnit)
	j.sig = unsafe.Add(j.sig, k*j.unitSig)
	j.exp, j.cls = unsafe.Add(j.exp, 4*k*j.unitExp), unsafe.Add(j.cls, k*j.unitExp)
	j.ref = unsafe.Add(j.ref, 8*k*j.unitRef)
	j.scale, j.sign = unsafe.Add(j.scale, 8*k*j.unitX), unsafe.Add(j.sign, k*j.unitX)
	j.units -= k
}

// convert stores the digits of a unit, of all its numbers or only of the numbers that the assembly
// skips: numbers that are not finite or are shifted by a word or more.
func (j *tileJob) convert(all bool) {
	row, col := j.step, 1
	if j.columns != 0 {
		row, col = 1, j.step
	}
	for c := range Quad * j.quads {
		scale, x := *(*int64)(unsafe.Add(j.scale, 8*c)), *(*num.Cls)(unsafe.Add(j.sign, c))
		if x.Class() == num.Zero {
			continue // times no digits
		}
		for r := range Rows {
			i := r*row + c*col
			cls := *(*num.Cls)(unsafe.Add(j.cls, i))
			d := *(*int64)(unsafe.Add(j.ref, 8*r)) - int64(*(*int32)(unsafe.Add(j.exp, 4*i))) - scale
			if cls.Class() == num.Finite && uint64(d) < 63 && !all {
				continue
			}
			j.put(r, c, cls, d, (cls^x)&1 != 0)
		}
	}
}

// put stores the digits of the number in row r and column c of the unit, shifted by d + 1 bits.
func (j *tileJob) put(r, c int, cls num.Cls, d int64, neg bool) {
	n := 2 * j.blocks
	sig := unsafe.Slice((*uint64)(unsafe.Add(j.sig, r*j.rowSig+c*j.colSig)), j.limbs)
	flip := uint64(0)
	if !neg {
		flip = 1<<64 - 1
	}
	if cls.Class() != num.Finite || uint64(d) >= uint64(64*n) {
		sig, flip = nil, 0
	}
	at := unsafe.Add(j.a, c/Quad*j.pitch+amx.RowBytes*r+blockDigits*(c%Quad))
	for k := range n {
		w := num.WordAt(sig, d+1+int64(64*(len(sig)-n+k))) ^ flip
		h := uint64(halfDigits)
		if k == n-1 {
			h >>= 8
		}
		w ^= h
		*(*uint64)(unsafe.Add(at, TileBytes*(j.blocks-1-k/2)+8*(k%2))) = w
	}
}

// tileRowsGeneric adds up the products of a job, number by number.
func tileRowsGeneric(j *tileJob) {
	for ; j.units > 0; j.skip(1) {
		j.convert(true)
		n := j.blocks
		sums := unsafe.Slice((*int32)(j.c), n*TileBytes/4)
		for q := range j.quads {
			a := unsafe.Slice((*int8)(unsafe.Add(j.a, q*j.pitch)), n*TileBytes)
			b := unsafe.Slice((*int8)(unsafe.Add(j.b, q*n*TileBytes)), n*TileBytes)
			for v := range n {
				for u := range v + 1 {
					addTile(sums[v*TileBytes/4:], a[u*TileBytes:], b[(v-u)*TileBytes:])
				}
			}
		}
		if j.units == 1 {
			break
		}
	}
}

// addTile computes what the instruction TDPBSSD does: C += A B, for tiles of signed bytes.
func addTile(c []int32, a, b []int8) {
	for r := range Rows {
		row := c[blockDigits*r:][:blockDigits]
		for k := 0; k < amx.RowBytes; k += 4 {
			x, y := (*[4]int8)(a[amx.RowBytes*r+k:]), b[k/4*amx.RowBytes:][:amx.RowBytes]
			x0, x1, x2, x3 := int32(x[0]), int32(x[1]), int32(x[2]), int32(x[3])
			for i := range row {
				z := (*[4]int8)(y[4*i:])
				row[i] += x0*int32(z[0]) + x1*int32(z[1]) + x2*int32(z[2]) + x3*int32(z[3])
			}
		}
	}
}

// wordMasks returns masks for groups of 8 of n words (of 4 words if n <= 4), from the highest on,
// of which the highest limbs words exist. A group has 4 bytes: the mask of words that exist, the
// mask of words whose next higher word exists, and a kind. It is 0 if both masks are full, 1 if
// only the first is full, else 2.
func wordMasks(n, limbs int) []uint8 {
	var m []uint8
	size := 8
	if n <= 4 {
		size = 4
	}
	for z := 0; z < n; z += size {
		below, above, kind := uint8(0), uint8(0), uint8(2)
		for i := range size {
			k := limbs - size - z + i
			if k >= 0 {
				below |= 1 << i
			}
			if k+1 >= 0 && k+1 < limbs {
				above |= 1 << i
			}
		}
		if below == 0xff {
			kind = 1
			if above == 0xff {
				kind = 0
			}
		}
		m = append(m, below, above, kind, 0)
	}
	return m
}

// Vector is a vector in digits for tiles. Its entries come in quads. The last quad has the last
// four entries; entries that it shares with the quad before are zero in it.
type Vector struct {
	digits []int8
	room   tileRoom  // of the digits
	scale  []int64   // of the columns of quads
	signs  []num.Cls // Zero for entries that belong to the quad before
	bias   []int64   // amount by which each column is too low, because tiles get t_s - B/2
}

// quadAt returns the first column of a quad.
func quadAt(q, n int) int { return min(Quad*q, n-Quad) }

// Vector returns x in digits, and its exponents, superacc.NoScale for zeros. ok is false if x has
// an infinity or NaN.
func (t Plan) Vector(x num.Vec) (v *Vector, scale []int64, ok bool) {
	quads := (x.N + Quad - 1) / Quad
	size := t.Blocks * TileBytes
	v = &Vector{scale: make([]int64, Quad*quads), signs: make([]num.Cls, Quad*quads), bias: make([]int64, t.Digits())}
	v.room = newRoom(&vectorRooms, quads*size/8)
	v.digits = unsafe.Slice((*int8)(unsafe.Pointer(&v.room[0])), quads*size)
	scale = make([]int64, x.N)
	buf := make([]uint64, num.MaxValueWords)
	n := 2 * t.Blocks
	words := make([]uint64, n)
	// Zeros before the digits, and room behind them for vectors.
	digits := make([]byte, blockDigits-1+t.Digits()+64)
	mine := digits[blockDigits-1:][:t.Digits()]
	for slot := range v.signs {
		q := slot / Quad
		j := quadAt(q, x.N) + slot%Quad
		r := num.Real{}
		if j >= Quad*q { // else the quad before has it
			r = x.Arr.Value(x.At(j), buf)
			scale[j] = superacc.NoScale
		}
		v.signs[slot] = num.MakeCls(r.Neg, r.Class)
		switch r.Class {
		case num.Zero:
			clear(mine)
		case num.Finite:
			top := int64(num.BitLen(r.Mag))
			scale[j] = r.Exp + top
			v.scale[slot] = scale[j]
			for k := range words {
				words[k] = num.WordAt(r.Mag, top+1-int64(64*(n-k)))
			}
			num.Negate(words)
			// Half a digit more makes all digits but the highest balanced.
			carry := uint64(0)
			for k, w := range words {
				h := uint64(halfDigits)
				if k == n-1 {
					h >>= 8
				}
				w, carry = bits.Add64(w, h, carry)
				binary.BigEndian.PutUint64(mine[8*(n-1-k):], w^h)
			}
			for c, d := range mine {
				v.bias[c] += int64(int8(d))
			}
		default:
			return nil, nil, false
		}
		t.Unit.spread(v.digits[q*size+amx.RowBytes*Quad*(slot%Quad):], TileBytes, digits, t.Blocks)
	}
	sum := int64(0)
	for c, d := range v.bias {
		v.bias[c] = sum << 7
		sum += d
	}
	return v, scale, true
}

// spreadDigits stores a number in its four rows of the tiles: in block k, byte 4 n + i of row r is
// digit 16 k + 4 r + i + n.
func spreadDigits(dst []int8, pitch int, digits []byte, blocks int) {
	for k := range blocks {
		for r := range Quad {
			row, from := dst[k*pitch+amx.RowBytes*r:][:amx.RowBytes], digits[blockDigits*k+4*r:]
			for i := range row {
				row[i] = int8(from[i/4+i%4])
			}
		}
	}
}

// Free returns the memory to the pool.
func (v *Vector) Free() { vectorRooms.Put(&v.room) }

// Sums computes sums of products of rows of a matrix with a vector, and holds their memory.
type Sums struct {
	plan   Plan
	m      num.Mat
	byRows bool
	ref    []int64 // reference exponents of the rows of a call

	x     *Vector // of the last call of add
	rows  int
	whole []int64 // the part of wide for these rows, nil if sums hold all products

	room  tileRoom // of what follows
	unit  []uint64 // digits
	stage []uint64 // shifts and signs
	sums  []uint64 // tiles of int32
	wide  []uint64 // int64 columns of rows, if there are too many products for int32
	one   []int64
	masks []uint8
}

// NewSums returns Sums for blocks of block rows of m with reference exponents ref. byRows means
// that the numbers of a row are adjacent.
func NewSums(t Plan, m num.Mat, byRows bool, block int, ref []int64) *Sums {
	sizes := [...]int{
		t.unitQuads() * t.quadBytes() / 8,
		t.unitQuads() * Quad * Rows * 2,
		(block + Rows - 1) / Rows * t.Blocks * TileBytes / 8,
		0,
	}
	if (m.Cols+Quad-1)/Quad > t.SumQuads() {
		sizes[3] = block * t.Digits()
	}
	all := 0
	for _, n := range sizes {
		all += n
	}
	s := &Sums{plan: t, m: m, byRows: byRows, ref: ref, room: newRoom(&sumRooms, all), one: make([]int64, t.Digits())}
	s.masks = wordMasks(2*t.Blocks, min(m.Arr.Limbs(), 2*t.Blocks))
	at := 0
	for i, to := range []*[]uint64{&s.unit, &s.stage, &s.sums, &s.wide} {
		*to = s.room[at : at+sizes[i]]
		at += sizes[i]
	}
	return s
}

// Free returns the memory to the pool.
func (s *Sums) Free() { sumRooms.Put(&s.room) }

// addRow adds the sums of row r to the sums of columns at to.
func (s *Sums) addRow(to []int64, r, rows, blocks int) {
	n := blocks * TileBytes / 4
	b := r / Rows
	sums := unsafe.Slice((*int32)(unsafe.Pointer(&s.sums[0])), 2*len(s.sums))[b*n:][:n]
	at := blockDigits * (r - rowsAt(b, rows))
	for v := range blocks {
		to, from := (*[blockDigits]int64)(to[blockDigits*v:]), (*[blockDigits]int32)(sums[v*TileBytes/4+at:])
		for i, x := range from {
			to[i] += int64(x)
		}
	}
}

// BlockRows returns a number of rows per block, near rows, such that every block of all rows has at
// least 16 rows.
func BlockRows(rows, all int) int {
	rows = (rows + Rows - 1) / Rows * Rows
	for all%rows != 0 && all%rows < Rows {
		rows += Rows
	}
	return rows
}

// rowsAt returns the first row of block b of 16 rows. The last block has the last 16 rows.
func rowsAt(b, rows int) int { return min(Rows*b, rows-Rows) }

// valueOfBytes returns the number that columns represent, in units of the last column. It uses the
// memory of mag.
func valueOfBytes(mag []uint64, columns []int64) (m []uint64, neg bool) {
	carry, k := int64(0), 0
	for c := len(columns); c > 0; c -= 8 {
		word := uint64(0)
		d := (*[8]int64)(columns[c-8:])
		for i := len(d) - 1; i >= 0; i-- {
			carry += d[i]
			word = word>>8 | uint64(carry)<<56
			carry >>= 8
		}
		mag[k] = word
		k++
	}
	p := superacc.Packer{Mag: mag, Pos: 64 * k}
	clear(mag[k:])
	return p.Finish(carry)
}

// MagWords returns the number of words that valueOfBytes needs.
func (t Plan) MagWords() int { return t.Digits()/8 + 3 }

// cacheQuads is the number of quads of a vector that stay in the second-level cache, in half a MB.
// With a quarter of it a product of 1000 x 1000 numbers of 212 bits in rows took a fifth longer.
// With twice as much or more, 1696 bits took 0.9 times as long on one machine and 1.1 times on
// another.
func (t Plan) cacheQuads() int { return max(t.unitQuads(), 512/t.Blocks) }

// Add computes the sums of products of x with the rows lo <= i < hi, at least 16 of them.
func (s *Sums) Add(x *Vector, lo, hi int) {
	t := s.plan
	s.x, s.rows, s.whole = x, hi-lo, nil
	quads := (s.m.Cols + Quad - 1) / Quad
	if len(s.wide) > 0 {
		s.whole = unsafe.Slice((*int64)(unsafe.Pointer(&s.wide[0])), s.rows*t.Digits())
		clear(s.whole)
	}
	for q := 0; q < quads; q += t.SumQuads() {
		clear(s.sums[:(s.rows+Rows-1)/Rows*t.Blocks*TileBytes/8])
		s.addTiles(lo, hi, q, min(quads, q+t.SumQuads()))
		for r := range len(s.whole) / t.Digits() {
			s.addRow(s.whole[r*t.Digits():], r, s.rows, t.Blocks)
		}
	}
}

// Value returns the sum of row lo + r of the last Add, in units of the last column. It uses the
// memory of mag.
func (s *Sums) Value(mag []uint64, r int) (m []uint64, neg bool) {
	t := s.plan
	copy(s.one, s.x.bias)
	if s.whole == nil {
		s.addRow(s.one, r, s.rows, t.Blocks)
	} else {
		for c, v := range s.whole[r*t.Digits():][:t.Digits()] {
			s.one[c] += v
		}
	}
	return valueOfBytes(mag, s.one)
}

// addTiles adds the products of rows lo <= i < hi and quads first <= q < end to the sums.
func (s *Sums) addTiles(lo, hi, first, end int) {
	t := s.plan
	whole := end // end of the quads that do not overlap
	if end*Quad > s.m.Cols {
		whole--
	}
	rows := hi - lo
	n := t.unitQuads()
	if !s.byRows {
		for q := first; q < end; {
			k := max(1, min(n, whole-q))
			next := tileStart{0, min(q+k, end-1)}
			if rows%Rows != 0 {
				last := tileStart{rows / Rows, q}
				s.addUnits(lo, rows, tileStart{0, q}, rows/Rows, k, 1, last)
				s.addUnits(lo, rows, last, 1, k, 1, next)
			} else {
				s.addUnits(lo, rows, tileStart{0, q}, rows/Rows, k, 1, next)
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
		for b := 0; b*Rows < rows; b++ {
			next := tileStart{b + 1, q}
			if next.block*Rows >= rows {
				next = tileStart{0, min(q+k, end-1)}
			}
			s.addUnits(lo, rows, tileStart{b, q}, 1, k/units, units, next)
		}
		q += k
	}
}

// A tileStart is the block of 16 rows and the quad at which a unit begins.
type tileStart struct{ block, quad int }

// addUnits adds the products of units from at on: blocks units one below the other or units units
// side by side, each of quads quads. blocks or units is 1. The next call begins at next.
func (s *Sums) addUnits(lo, rows int, at tileStart, blocks, quads, units int, next tileStart) {
	t, a, x := s.plan, s.m.Arr, s.x
	first := func(at tileStart) int { return s.m.At(lo+rowsAt(at.block, rows), quadAt(at.quad, s.m.Cols)) }
	l, size := a.Limbs(), t.Blocks*TileBytes
	i, q := first(at), at.quad
	j := &tileJob{
		a:   unsafe.Pointer(&s.unit[0]),
		b:   unsafe.Pointer(&x.digits[q*size]),
		c:   unsafe.Add(unsafe.Pointer(&s.sums[0]), at.block*size),
		sig: unsafe.Pointer(&a.Sig[i*l]), top: 8 * l, rowSig: 8 * l * s.m.RS, colSig: 8 * l * s.m.CS,
		exp: unsafe.Pointer(&a.Exp[i]), cls: unsafe.Pointer(&a.Cls[i]),
		ref: unsafe.Pointer(&s.ref[rowsAt(at.block, rows)]), scale: unsafe.Pointer(&x.scale[Quad*q]), sign: unsafe.Pointer(&x.signs[Quad*q]),
		quads: quads,
		stage: unsafe.Pointer(&s.stage[0]), masks: unsafe.Pointer(&s.masks[0]),
		after:  uintptr(unsafe.Pointer(&a.Sig[first(next)*l])),
		blocks: t.Blocks, pitch: t.quadBytes(), first: amx.FirstBand(t.Blocks),
		lines: 32 / (t.Blocks + 1), // 16 of a block for half as many products as blocks and one
		limbs: l,
	}
	if s.byRows {
		j.step, j.units = s.m.RS, units
		j.bUnit, j.unitX, j.unitExp = quads*size, Quad*quads, Quad*quads
		j.soonPitch, j.soonBytes = j.rowSig, Quad*quads*j.colSig
	} else {
		j.step, j.units, j.columns = s.m.CS, blocks, 1
		j.cUnit, j.unitRef, j.unitExp = size, Rows, Rows
		j.soonPitch, j.soonBytes = j.colSig, Rows*j.rowSig
	}
	j.unitSig = j.soonBytes
	t.Unit.run(j)
}

// Near samples rows and columns of m. It reports whether every sampled entry is finite and no
// product with x is far below the largest of its row. Tiles are slow on such products; other
// methods are not.
func (t Plan) Near(m num.Mat, scale []int64) bool {
	const cols, span = 64, 50
	n := t.Unit.samples
	for r := range n {
		i := r * (m.Rows - 1) / n
		low, high := int64(math.MaxInt64), int64(math.MinInt64)
		for c := range cols {
			j := c * len(scale) / cols
			at := m.At(i, j)
			switch {
			case scale[j] == superacc.NoScale:
				continue
			case m.Arr.Cls[at].Class() != num.Finite:
				return false
			}
			e := int64(m.Arr.Exp[at]) + scale[j]
			low, high = min(low, e), max(high, e)
		}
		if low <= high && high-low > span {
			return false
		}
	}
	return true
}
