package product

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
)

// A chunk is a range of moduli: plain moduli, Karatsuba moduli, or the last plain and the first
// Karatsuba moduli. Its ends lie between tiles of constants.
type chunk struct{ plain0, plain1, kar0, kar1 int }

func (c chunk) planes() int { return c.plain1 - c.plain0 + 3*(c.kar1-c.kar0) }

// chunks divides the moduli into chunks of at most the given planes, or of single tiles.
func (b *base) chunks(planes int) []chunk {
	kar := b.karatsuba()
	var out []chunk
	var c chunk
	for c.plain1 < b.plain || c.kar1 < kar {
		next := c
		if c.plain1 < b.plain {
			next.plain1 = min(c.plain1+tileRows, b.plain)
		} else {
			next.kar1 = min(c.kar1+tileRows, kar)
		}
		if next.planes() > planes && c.planes() > 0 {
			out = append(out, c)
			c = chunk{c.plain1, c.plain1, c.kar1, c.kar1}
			continue
		}
		c = next
	}
	return append(out, c)
}

// A layout is the part of a product that is on the device at a time.
type layout struct {
	rows, cols int // of a block of C
	planes     int // planes of residues of a chunk
}

// residueBytes returns the bytes of a plane of residues of n vectors of k numbers.
func residueBytes(n, k int) int64 {
	return int64(n/abi.Tile) * int64(roundUp(k, abi.Tile)/abi.Tile) * abi.TileBytes
}

// bytes returns the memory of a block with its residues.
func (m *multiplication) bytes(l layout) int64 {
	r, c := roundUp(l.rows, m.rowTile()), roundUp(l.cols, abi.Tile)
	b := m.base
	y := int64(r) * int64(c) * int64(b.plain+2*b.karatsuba())
	return y + m.rawBytes(l.rows, l.cols) + int64(l.planes)*(m.left.roomBytes(r)+m.right.roomBytes(c))
}

// roomBytes returns the bytes of a plane of residues of n vectors, 0 if the residues are kept.
func (o *operand) roomBytes(n int) int64 {
	if o.residues != nil {
		return 0
	}
	return residueBytes(n, o.k)
}

// maxVectors is the most vectors that kernels/exact/residues.cu converts at a time, a multiple of
// tiles: 65535 blocks of 2 vectors.
const maxVectors = 2 * 65535 / 256 * 256

// layout chooses blocks that fit in memory.
func (m *multiplication) layout() (layout, error) {
	budget := m.cfg.Limit - m.left.keptBytes() - m.right.keptBytes()
	if m.cfg.Limit <= 0 {
		budget = int64(float64(m.e.dev.Info().Memory)*0.85) - m.e.dev.Counters().InUse
	}
	budget -= 16 * m.capacity()
	// Memory for arriving panels is reserved unless no block is small enough: then they arrive one
	// by one.
	coming := int64(0)
	if m.cfg.Limit <= 0 && m.cfg.coming != nil {
		coming = m.cfg.coming()
	}
	l := layout{min(m.a.Rows, maxVectors), min(m.b.Rows, maxVectors), m.base.key.products()}
	least := 3 * tileRows
	for m.bytes(l) > budget-coming {
		switch {
		case l.planes > 2*least:
			l.planes = l.planes / 2
		case l.rows >= l.cols && l.rows > m.rowTile():
			l.rows = roundUp((l.rows+1)/2, m.rowTile())
		case l.cols > abi.Tile:
			l.cols = roundUp((l.cols+1)/2, abi.Tile)
		case l.rows > m.rowTile():
			l.rows = roundUp((l.rows+1)/2, m.rowTile())
		case m.bytes(l) <= budget:
			return l, nil
		default:
			return l, fmt.Errorf("%v: %w: a product needs %d bytes at least", m.e.dev, cuda.ErrMemory, m.bytes(l))
		}
	}
	return l, nil
}

// A region is the rows i0 <= i < i1 and columns j0 <= j < j1 of C.
type region struct{ i0, i1, j0, j1 int }

// blocks lists the blocks of C.
func (m *multiplication) blocks(l layout) (list []region) {
	for j0 := 0; j0 < m.b.Rows; j0 += l.cols {
		for i0 := 0; i0 < m.a.Rows; i0 += l.rows {
			b := region{i0, min(i0+l.rows, m.a.Rows), j0, min(j0+l.cols, m.b.Rows)}
			if m.cfg.Triangle == 'U' && b.i0 >= b.j1 || m.cfg.Triangle == 'L' && b.j0 >= b.i1 {
				continue
			}
			list = append(list, b)
		}
	}
	return list
}

// A room is the memory of a block of C in progress: the residues of the factors modulo the moduli
// of a chunk, the residues of the product modulo all moduli, as bytes and as half words, and the
// integers that kernels/exact/settle.cu rounds.
type room struct {
	left, right, y, wide, raw *cuda.Memory
	before                    int   // entries of y and wide to skip
	ld                        int   // entries between columns
	n                         int64 // entries between moduli
}

// room allocates the room for blocks of layout l.
func (m *multiplication) room(l layout, chunks []chunk) (r room, err error) {
	planes := 0
	for _, c := range chunks {
		planes = max(planes, c.planes())
	}
	rows, cols := roundUp(l.rows, m.rowTile()), roundUp(l.cols, abi.Tile)
	r.ld, r.n = rows, int64(rows)*int64(cols)
	type piece struct {
		of   **cuda.Memory
		size int64
	}
	list := []piece{
		{&r.left, int64(planes) * m.left.roomBytes(rows)},
		{&r.right, int64(planes) * m.right.roomBytes(cols)},
		{&r.y, r.n * int64(m.base.plain)},
		{&r.wide, 2 * r.n * int64(m.base.karatsuba())},
	}
	if m.settles {
		list = append(list, piece{&r.raw, m.rawBytes(l.rows, l.cols)})
	}
	for _, p := range list {
		if *p.of, err = m.alloc(p.size); err != nil {
			return r, err
		}
	}
	return r, nil
}

// roundUp returns the smallest multiple of to that is at least x.
func roundUp(x, to int) int { return (x + to - 1) / to * to }

// rowTile returns the number of rows of the left operand in a tile of products.
func (m *multiplication) rowTile() int {
	if m.e.wide {
		return 2 * abi.Tile
	}
	return abi.Tile
}

// tall returns the number of vectors of a factor in a tile of products.
func (m *multiplication) tall(side int) int {
	if side == leftSide {
		return m.rowTile()
	}
	return abi.Tile
}

// planes are the residues of vectors modulo the moduli of a chunk.
type planes struct {
	at     cuda.Pointer
	stride int64
}

// planes returns the residues of the vectors of o: kept residues, or residues in a room for the
// given vectors.
func (o *operand) planes(b *base, c chunk, room *cuda.Memory, vectors int) planes {
	if o.residues == nil {
		return planes{room.Pointer(), residueBytes(vectors, o.k)}
	}
	stride := residueBytes(o.residues.vectors, o.k)
	first := int64(c.plain0)
	if c.plain0 == c.plain1 {
		first = int64(b.plain + 3*c.kar0)
	}
	return planes{o.residues.memory.At(first*stride + residueBytes(o.first, o.k)), stride}
}
