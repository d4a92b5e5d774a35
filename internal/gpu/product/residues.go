package product

import (
	"fmt"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// groupOf returns the vectors, and the numbers of each, that a block of kernels/exact/residues.cu
// converts, and the bytes of dynamic shared memory for their digits.
func groupOf(steps int) (vectors, numbers, shared int) {
	vectors = 2
	switch {
	case steps == 0:
		return 16, abi.ShortStrip, 0
	case steps == 2:
		vectors = 8
	case steps <= 4:
		vectors = 4
	}
	return vectors, abi.Strip, 4 * vectors * abi.Strip * (8*steps + 1)
}

// residues converts the operands, except those whose residues are kept, to residues modulo the
// moduli of a chunk; rows and cols are their vectors with padding.
func (m *multiplication) residues(l, r *operand, c chunk, left, right *cuda.Memory, rows, cols int) error {
	steps := m.digitSteps(max(m.plan.WidthL, m.plan.WidthR), l, r)
	var list []converted
	if r.residues == nil {
		list = append(list, converted{o: r, width: m.plan.WidthR, to: right.Pointer(), vectors: cols, triangle: m.taken(rightSide)})
	}
	of := converted{o: l, width: m.plan.WidthL, to: left.Pointer(), vectors: rows, triangle: m.taken(leftSide)}
	p := m.cfg.Panels
	var apart []converted
	if m.apart(rightSide) != nil {
		apart, list = append(apart, list...), nil
	}
	switch {
	case m.apart(leftSide) != nil:
		apart = append(apart, of)
	case p == nil && l.residues == nil:
		list = append([]converted{of}, list...)
	}
	if err := m.convertElsewhere(c, steps, apart); err != nil {
		return err
	}
	if p != nil { // the right factor while panels arrive
		return m.convertPanels(c, steps, p, of, list...)
	}
	return m.convert(c, steps, 0, m.a.Cols, list...)
}

// convertPanels converts first the right factor, if there is one; then the part of the left factor
// in the own panel, where it is stored; and then the parts in the other panels, each once it has
// arrived.
func (m *multiplication) convertPanels(c chunk, steps int, p *Panels, left converted, right ...converted) error {
	if err := m.convert(c, steps, 0, m.a.Cols, right...); err != nil {
		return err
	}
	row, col := p.origin(m.a)
	own, o := left, *left.o
	o.vectors = p.vectors(row+o.first, o.n, col)
	own.o = &o
	for i := range p.arrived {
		next := (p.own + i) % len(p.arrived)
		from, until := max(int(p.args.Start[next])-col, 0), min(int(p.args.Start[next+1])-col, m.a.Cols)
		if from >= until {
			continue
		}
		f := own
		if i > 0 {
			f = left
			if err := m.s.Wait(p.arrived[next]); err != nil {
				return err
			}
		}
		if err := m.convert(c, steps, from, until, f); err != nil {
			return err
		}
	}
	return nil
}

// digitSteps returns the steps of digits for the integers of factors, 0 for kernel residues0.
func (m *multiplication) digitSteps(width int, factors ...*operand) int {
	short := width <= abi.ShortBits && m.base.karatsuba() == 0
	for _, o := range factors {
		kind := num.Kind(o.vectors.A.Kind)
		short = short && (kind == num.F32 || kind == num.F64 || kind == num.MP && o.vectors.A.Limbs == 1)
	}
	if short {
		return 0
	}
	return stepsFor(width)
}

// converted is a factor to be converted to residues: integers of width bits, in planes of the given
// vectors.
type converted struct {
	o       *operand
	width   int
	to      cuda.Pointer
	vectors int
	// range of the vectors that are converted, 0 and 0 for all
	first, until int
	// triangle of the vectors, in tiles, that products use; 0 for all
	triangle int32
}

// count returns the number of vectors that are converted.
func (f converted) count() int {
	if f.until == 0 {
		return f.vectors
	}
	return f.until - f.first
}

// taken returns the triangle of a factor's vectors that products use: all vectors if the other
// factor is a triangle as well. For a tile of results that is zero, products still use one tile of
// the other factor's zeros. Of A in the lower triangle of A U, for an upper triangular U, products
// use the lower triangle.
func (m *multiplication) taken(side int) int32 {
	switch f := m.cfg.Factors; {
	case side == leftSide && f == [2]byte{0, 'U'} && m.cfg.Triangle == 'L' && m.cfg.Before == [2]int{}:
		return abi.TriangleUntil
	case f[side] == 0 || f[1-side] != 0:
		return 0
	case (f[side] == 'L') == (side == leftSide):
		return abi.TriangleUntil
	}
	return abi.TriangleFrom
}

// convert converts the numbers h0 <= h < h1 of the vectors of up to two factors to residues modulo
// the moduli of a chunk. h0 is a multiple of tiles; h1 is another multiple or the end. steps is a
// result of digitSteps.
func (m *multiplication) convert(c chunk, steps, h0, h1 int, list ...converted) error {
	if len(list) == 0 {
		return nil
	}
	x, y := list[0], list[len(list)-1]
	vectors, numbers, shared := groupOf(min(steps, abi.MaxSteps))
	grid := cuda.Dim{X: roundUp(h1-h0, abi.Tile) / numbers, Y: max(x.count(), y.count()) / vectors, Z: len(list)}
	kernel := fmt.Sprintf("residues%d", min(steps, abi.MaxSteps))
	steps = max(steps, 1) // the constants for 16 digits are the first half of the constants for 32
	for first := 0; first < steps; first += abi.MaxSteps {
		var both abi.Sides
		for i, f := range []converted{x, y} {
			to, err := m.conversion(c, first, min(steps, abi.MaxSteps), f)
			if err != nil {
				return err
			}
			to.Planes += cuda.Pointer((f.first/abi.Tile*int(to.Blocks) + h0/abi.Tile) * abi.TileBytes)
			to.Before = int32(h0)
			x := f.o.vectors
			x.Off += int64(h0) * x.CS
			x.K = int32(h1 - h0)
			both.S[i] = abi.FactorArgs{X: x, Exps: f.o.scanned.Exp, C: to}
		}
		both.Told, m.report = m.report, abi.Telling{}
		if err := m.launch("residues", kernel, grid, cuda.Dim{X: 256}, shared, both); err != nil {
			return err
		}
		kernel = "residuesMore"
	}
	return nil
}

// conversion returns the argument of a pass over the given steps of digits.
func (m *multiplication) conversion(c chunk, first, steps int, f converted) (abi.Conversion, error) {
	left, side := f.o.side == leftSide, "right"
	if left {
		side = "left"
	}
	constants, err := m.e.constant(m.s, constantsKey{m.base.key, side, steps, first}, func() []uint32 { return m.base.constants(first, steps, left) })
	if err != nil {
		return abi.Conversion{}, err
	}
	moduli, err := m.e.constant(m.s, constantsKey{m.base.key, "moduli", 0, 0}, func() []uint32 { return wordsOfSlice(m.base.rowModuli()) })
	if err != nil {
		return abi.Conversion{}, err
	}
	tiles, row := c.plain0/tileRows, c.plain0
	if c.plain0 == c.plain1 {
		plain, _ := m.base.tiles()
		tiles, row = plain+2*(c.kar0/tileRows), tileRows*plain+c.kar0
	}
	return abi.Conversion{
		Constants: constants.At(int64(tiles) * int64(steps) * 512), Moduli: moduli.At(8 * int64(row)),
		Planes: f.to, Stride: residueBytes(f.vectors, m.a.Cols),
		Plain: int32(c.plain1 - c.plain0), Karatsuba: int32(c.kar1 - c.kar0),
		Blocks: int32(roundUp(m.a.Cols, abi.Tile) / abi.Tile), Vectors: int32(f.count()), Width: int32(f.width),
		Permute: abi.Flag(left), First: int32(first * abi.StepBytes / 4),
		Triangle: f.triangle, Base: int32(m.cfg.Before[f.o.side] + f.o.first), Tall: int32(m.tall(f.o.side)),
	}, nil
}

// wordsOfSlice returns the 32-bit words of structures.
func wordsOfSlice[T any](x []T) []uint32 {
	var one T
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(one)/4))
}
