package product

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
)

// products multiplies the planes of a chunk for a block of C; rows and cols are its vectors with
// padding. Residues in tiles without wanted entries stay unspecified.
func (m *multiplication) products(b region, c chunk, left, right planes, room room, rows, cols int) error {
	k := m.a.Cols
	key := constantsKey{m.base.key, "reductions", 0, 0}
	reductions, err := m.e.constant(m.s, key, func() []uint32 { return wordsOfSlice(m.base.reductions()) })
	if err != nil {
		return err
	}
	first := c.plain0
	if c.plain0 == c.plain1 {
		first = m.base.plain + c.kar0
	}
	p := abi.ProductArgs{
		Left: left.at, Right: right.at, LeftStride: left.stride, RightStride: right.stride,
		Moduli: reductions.At(int64(first) * int64(unsafe.Sizeof(abi.Reduction{}))),
		Out:    room.y.At(int64(c.plain0) * room.n), Wide: room.wide.At(2 * int64(c.kar0) * room.n), Stride: room.n, LD: int64(room.ld),
		Plain: int32(c.plain1 - c.plain0), Karatsuba: int32(c.kar1 - c.kar0),
		Blocks: int32(roundUp(k, abi.Tile) / abi.Tile), Rows: int32(rows / m.rowTile()), Cols: int32(cols / abi.Tile),
		I0: int32(m.cfg.Before[leftSide] + b.i0), J0: int32(m.cfg.Before[rightSide] + b.j0),
		Triangle: int32(m.cfg.Triangle), LeftTriangle: int32(m.cfg.Factors[leftSide]), RightTriangle: int32(m.cfg.Factors[rightSide]),
	}
	m.stats.Products += int64(c.planes())
	items := int(p.Rows) * int(p.Cols) * int(p.Plain+p.Karatsuba)
	if m.e.wide {
		if p.Taken, err = m.e.counter(m.s); err != nil {
			return err
		}
		grid := min(items, m.e.dev.Info().Multiprocessors)
		return m.launch("product_sm90a", "products", cuda.Dim{X: grid}, cuda.Dim{X: 384}, 4*3*abi.TileBytes+1024, p)
	}
	return m.launch("product", "products", cuda.Dim{X: items}, cuda.Dim{X: 256}, 3*2*abi.TileBytes, p)
}
