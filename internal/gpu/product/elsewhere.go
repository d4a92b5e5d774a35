package product

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// Elsewhere is where factors and the result of a product are, part by part, some of them in the
// memory of other devices, which kernels of this one reach: residues are made of what is there, and
// results are stored there. It is for products that take what is known of factors for what a scan
// would find: others fail with place.ErrApart before they change anything.
type Elsewhere struct {
	Factors [2][]Block // all of A, and of B; or nothing where it is in one place
	Homes   []Home     // all of C
}

// A Block is rows of A from one on and columns from another one on, or those of the transpose of B;
// both are multiples of tiles of products.
type Block struct {
	Vector, Number int
	M              mem.Matrix
}

// A Home is columns of C from one on.
type Home struct {
	First int
	M     mem.Matrix
}

// changed says that results are to be stored.
func (e *Elsewhere) changed() {
	if e != nil {
		for _, h := range e.Homes {
			h.M.Changed()
		}
	}
}

// blocks returns those of a factor.
func (e *Elsewhere) blocks(side int) []Block {
	if e == nil {
		return nil
	}
	return e.Factors[side]
}

// convertBlocks is convert for a factor whose blocks are where they are.
func (m *multiplication) convertBlocks(c chunk, steps int, f converted, blocks []Block) error {
	for _, b := range blocks {
		// Vectors of the part of the factor that is converted.
		from, until := max(b.Vector-f.o.first, 0), min(b.Vector+b.M.Rows-f.o.first, f.o.n)
		if from >= until {
			continue
		}
		o, part := *f.o, f
		o.n = until - from
		o.first += from
		o.vectors = abi.RowsOf(b.M)
		o.vectors.Off += int64(o.first-b.Vector)*o.vectors.RS - int64(b.Number)*o.vectors.CS
		o.vectors.N = int32(o.n)
		o.scanned.Exp += cuda.Pointer(8 * from)
		part.o, part.first, part.until = &o, from, from+roundUp(o.n, m.tall(o.side))
		if err := m.convert(c, steps, b.Number, b.Number+b.M.Cols, part); err != nil {
			return err
		}
	}
	return nil
}

// homes returns where columns from <= j < until of C are to be stored, entry (0, 0) of C being
// there, were it one matrix.
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
