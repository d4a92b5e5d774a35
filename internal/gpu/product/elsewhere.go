package product

import (
	"errors"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// Elsewhere locates the parts of the factors and of the result of a product. Some may be in the
// memory of other devices that this device can access: residues are computed from the parts in
// place, and results are stored in place. It is for products that use known bounds of the factors
// instead of a scan. Other products fail with place.ErrApart before they change anything.
type Elsewhere struct {
	Factors [2][]Block // all of A, and of B; empty for a factor in one place
	Homes   []Home     // all of C
}

// A Block is a part of A, from row Vector and column Number on, or a part of the transpose of B.
// Vector and Number are multiples of tiles of products.
type Block struct {
	Vector, Number int
	M              mem.Matrix

	pulled *mem.Pulled // the copy of a block from another device; M is then the copy
}

// A Home is the columns of C from First on.
type Home struct {
	First int
	M     mem.Matrix
}

// changed must be called before results are stored.
func (e *Elsewhere) changed() {
	if e != nil {
		for _, h := range e.Homes {
			h.M.Changed()
		}
	}
}

// apart returns the blocks of a factor, nil if it is in one place.
func (m *multiplication) apart(side int) []Block {
	if m.cfg.Elsewhere == nil {
		return nil
	}
	return m.cfg.Elsewhere.Factors[side]
}

// pull starts to copy blocks from the memory of other devices, while kernels convert the other
// blocks. If there is no room for a copy, kernels read the block in place.
func (m *multiplication) pull() error {
	if m.cfg.Elsewhere == nil {
		return nil
	}
	aside, err := m.e.sideStream(m.s)
	if err != nil {
		return err
	}
	of := new(Elsewhere)
	of.Homes = m.cfg.Elsewhere.Homes
	for side, blocks := range m.cfg.Elsewhere.Factors {
		for _, b := range blocks {
			if b.M.Pulls(m.e.dev) {
				p, err := b.M.Pull(m.s, aside)
				switch {
				case errors.Is(err, cuda.ErrMemory): // read in place
				case err != nil:
					return err
				default:
					m.pulled = append(m.pulled, p)
					b.M, b.pulled = p.Matrix, p
				}
			}
			of.Factors[side] = append(of.Factors[side], b)
		}
	}
	m.cfg.Elsewhere = of
	return nil
}

// convertElsewhere is convert for factors in blocks: first the blocks in place, then the copied
// ones.
func (m *multiplication) convertElsewhere(c chunk, steps int, list []converted) error {
	for _, pulled := range []bool{false, true} {
		for _, f := range list {
			for _, b := range m.apart(f.o.side) {
				if (b.pulled != nil) != pulled {
					continue
				}
				if pulled {
					if err := b.pulled.Await(); err != nil {
						return err
					}
				}
				if err := m.convertBlock(c, steps, f, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// convertBlock is convert for the part of a factor in a block.
func (m *multiplication) convertBlock(c chunk, steps int, f converted, b Block) error {
	// Vectors in the block, of the part of the factor that is converted.
	from, until := max(b.Vector-f.o.first, 0), min(b.Vector+b.M.Rows-f.o.first, f.o.n)
	if from >= until {
		return nil
	}
	o := *f.o
	o.n = until - from
	o.first += from
	o.vectors = abi.RowsOf(b.M)
	o.vectors.Off += int64(o.first-b.Vector)*o.vectors.RS - int64(b.Number)*o.vectors.CS
	o.vectors.N = int32(o.n)
	o.scanned.Exp += cuda.Pointer(8 * from)
	f.o, f.first, f.until = &o, from, from+roundUp(o.n, m.tall(o.side))
	return m.convert(c, steps, b.Number, b.Number+b.M.Cols, f)
}

// homes calls store for each home of columns from <= j < until of C. to is the target as if C were
// one matrix in that home.
func (m *multiplication) homes(from, until int, store func(from, until int, to abi.Target) error) error {
	if m.cfg.Elsewhere == nil {
		return store(from, until, abi.TargetOf(*m.c))
	}
	for _, h := range m.cfg.Elsewhere.Homes {
		first, end := max(h.First, from), min(h.First+h.M.Cols, until)
		if first >= end {
			continue
		}
		to := abi.TargetOf(h.M)
		to.Off -= int64(h.First) * to.CS
		if err := store(first, end, to); err != nil {
			return err
		}
	}
	return nil
}
