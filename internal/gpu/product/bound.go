package product

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
)

// oldsRoom is by how many bits a base may be larger for the sake of old entries that are added to
// the residues, where rounding them with the results would be all that has to be settled: at
// n = 4096 kernel settle takes 566 µs of an H100, olds 36 and a plane of residues 109.
const oldsRoom = 16

// noExp is above the exponents that the scan has for vectors of zeros.
const noExp = -1 << 60

// bound sees whether the bound of the result applies, as in package exact: the base then holds the
// result alone, with the old entries added to the residues (kernels/exact/olds.cu).
func (m *multiplication) bound() error {
	b := m.cfg.Bound
	if b == nil || (m.left.totals.Flags|m.right.totals.Flags)&special != 0 {
		return nil
	}
	alpha, beta := abi.CoefficientOf(m.expr.alpha), abi.CoefficientOf(m.expr.beta)
	if !alpha.Plain || m.expr.adds() && (!beta.Plain || m.expr.old.Arr.Terms() > 1) {
		return nil
	}
	// Bounds and errors, relative to 2^(exponents of the vectors).
	size, least := -alpha.Exp, -alpha.Exp-b.Within
	for _, f := range []struct {
		o      *operand
		bounds []int64
	}{{m.left, b.Rows}, {m.right, b.Cols}} {
		exps := f.o.tops
		if exps == nil {
			exps = make([]int64, f.o.n)
			if err := cuda.Download(m.s, exps, f.o.scanned.Exp); err != nil {
				return err
			}
		}
		most, few := int64(math.MinInt64), int64(math.MaxInt64)
		for v, e := range exps {
			if e < noExp {
				return nil
			}
			most, few = max(most, f.bounds[v]-e), min(few, f.bounds[v]-e)
		}
		size, least = size+most, least+few
	}
	if b.Within != 0 {
		m.problem.Tolerant, m.problem.Tolerance = true, float64(least)
	}
	room := 0.0
	if m.silent && m.expr.adds() {
		room = oldsRoom
	}
	if float64(size) >= min(m.problem.Left.Norm, m.problem.Right.Norm)+room {
		return nil
	}
	m.within = true
	m.problem.Bounded, m.problem.Bound = true, float64(size)
	if m.expr.adds() && m.problem.Tolerant { // the old entries have not been looked at
		m.problem.Hold(math.MaxInt64)
	}
	// The result cancels, which the scan's samples do not show. Most of its entries are below the
	// bound by about the terms of a row, or more.
	for i := range m.problem.Samples {
		m.problem.Samples[i].Size = math.Floor(float64(size) - math.Log2(float64(m.a.Cols)) - float64(i%8))
	}
	return nil
}

// olds adds the old entries of a block of C to the residues.
func (m *multiplication) olds(l, r *operand, b region, room room) error {
	alpha, beta := abi.CoefficientOf(m.expr.alpha), abi.CoefficientOf(m.expr.beta)
	moduli, err := m.e.constant(m.s, constantsKey{m.base.key, "olds", 0, 0}, m.base.powers)
	if err != nil {
		return err
	}
	o := m.expr.old
	a := abi.Adding{
		Old: abi.NumbersOf(o.Arr), Off: int64(o.Off), RS: int64(o.RS), CS: int64(o.CS),
		Failed: m.failed(), ExpL: l.scanned.Exp, ExpR: r.scanned.Exp,
		Y: room.y.Pointer(), Wide: room.wide.Pointer(), Stride: room.n, LD: int64(room.ld), Moduli: moduli.Pointer(),
		Exp: beta.Exp - alpha.Exp + int64(m.plan.WidthL+m.plan.WidthR), Neg: abi.Flag(beta.Neg != alpha.Neg),
		Plain: int32(m.base.plain), Karatsuba: int32(m.base.karatsuba()),
		M: int32(l.n), N: int32(r.n), I0: int32(b.i0), J0: int32(b.j0), Triangle: int32(m.cfg.Triangle),
	}
	const threads, most = 256, 1<<16 - 1
	grid := cuda.Dim{X: (l.n + threads - 1) / threads, Y: min(r.n, most)}
	if err := m.launch("olds", "olds", grid, cuda.Dim{X: threads}, 0, a); err != nil {
		return err
	}
	return m.mark("products")
}

// powers returns the constants of olds for all moduli m: m, floor(2^32/m), (M/m)^-1 mod m or 1 for
// the redundant modulus, and powers of 2^16 modulo m.
func (b *base) powers() []uint32 {
	var out []uint32
	for t, m := range b.planes {
		list := make([]uint32, abi.OldConstants)
		list[0], list[1], list[2] = uint32(m), uint32(1<<32/int64(m)), 1
		if t < len(b.inv) {
			list[2] = uint32(b.inv[t])
		}
		p := int64(1)
		for i := range list[3:] {
			list[3+i] = uint32(p)
			p = p << 16 % int64(m)
		}
		out = append(out, list...)
	}
	return out
}
