package product

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
)

// oldsRoom is the number of bits by which a base may be larger so that old entries are added to the
// residues, if otherwise settle would only have to round them with the results: at n = 4096 kernel
// settle takes 566 µs of an H100, olds 36 µs and a plane of residues 109 µs. For at most fewEntries
// the room is fewOldsRoom: a plane of residues takes little time there, beside the launches of a
// scan and of settle, and the host's wait.
const (
	oldsRoom    = 16
	fewOldsRoom = 40
	fewEntries  = 1 << 21
)

// noExp is above the exponents that the scan reports for zero vectors.
const noExp = -1 << 60

// bound determines whether the bound of the result applies, as in package residue. The base then
// holds only the result, and the old entries are added to the residues (kernels/exact/olds.cu).
func (m *multiplication) bound() error {
	b := m.cfg.Bound
	if b == nil || (m.left.totals.Flags|m.right.totals.Flags)&special != 0 {
		return nil
	}
	alpha, beta := abi.CoefficientOf(m.expr.alpha), abi.CoefficientOf(m.expr.beta)
	if !alpha.Plain || m.expr.adds() && (!beta.Plain || m.expr.old.Arr.Terms() > 1) {
		return nil
	}
	var exps [2][]int64
	var unknown []cuda.Piece
	for i, o := range []*operand{m.left, m.right} {
		if exps[i] = o.tops; exps[i] == nil {
			exps[i] = make([]int64, o.n)
			unknown = append(unknown, cuda.To(exps[i], o.scanned.Exp))
		}
	}
	if err := cuda.DownloadAll(m.s, unknown...); err != nil {
		return err
	}
	// Bounds and errors, relative to 2^(sum of the exponents of the two vectors).
	size, least := -alpha.Exp, -alpha.Exp-b.Within
	for i, bounds := range [][]int64{b.Rows, b.Cols} {
		most, few := int64(math.MinInt64), int64(math.MaxInt64)
		for v, e := range exps[i] {
			if e < noExp {
				return nil
			}
			d := bounds[v] - e
			most, few = max(most, d), min(few, d)
		}
		size, least = size+most, least+few
	}
	if b.Within != 0 {
		m.problem.Tolerant, m.problem.Tolerance = true, float64(least)
	}
	room := 0.0
	if m.silent && m.expr.adds() {
		if room = oldsRoom; m.a.Rows*m.b.Rows <= fewEntries {
			room = fewOldsRoom
		}
	}
	if float64(size) >= min(m.problem.Left.Norm, m.problem.Right.Norm)+room {
		return nil
	}
	m.within = true
	m.problem.Bounded, m.problem.Bound = true, float64(size)
	if m.expr.adds() && m.problem.Tolerant { // the old entries have not been scanned
		m.problem.Hold(math.MaxInt64)
	}
	// The result cancels, which the samples of the scan do not show. Most of its entries are below
	// the bound by at least a factor of about the number of terms of a row.
	for i := range m.problem.Samples {
		m.problem.Samples[i].Size = math.Floor(float64(size) - math.Log2(float64(m.a.Cols)) - float64(i%8))
	}
	return nil
}

// addBetaC adds the old entries of a block of C, beta C, to the residues.
func (m *multiplication) addBetaC(l, r *operand, b region, room room) error {
	alpha, beta := abi.CoefficientOf(m.expr.alpha), abi.CoefficientOf(m.expr.beta)
	moduli, err := m.e.constant(m.s, constantsKey{m.base.key, "olds", 0, 0}, m.base.oldModuli)
	if err != nil {
		return err
	}
	// |beta Old| is at most the sum of the bounds of the result and of the product.
	bits := float64(m.plan.WidthL+m.plan.WidthR) + max(m.problem.Bound, min(m.problem.Left.Norm, m.problem.Right.Norm)) + 2
	words := roundUp(max(int(bits)+1, 1), 256) / 32 // so that there are few different tables
	table, err := m.e.constant(m.s, constantsKey{m.base.key, "powers", words, 0}, func() []uint32 { return m.base.powers(words) })
	if err != nil {
		return err
	}
	o := m.expr.old
	a := abi.Adding{
		Old: abi.NumbersOf(o.Arr), Off: int64(o.Off), RS: int64(o.RS), CS: int64(o.CS),
		Failed: m.failed(), ExpL: l.scanned.Exp, ExpR: r.scanned.Exp,
		Y: room.y.Pointer(), Wide: room.wide.Pointer(), Stride: room.n, LD: int64(room.ld), Moduli: moduli.Pointer(), Table: table.Pointer(),
		Exp: beta.Exp - alpha.Exp + int64(m.plan.WidthL+m.plan.WidthR), Neg: abi.Flag(beta.Neg != alpha.Neg),
		Plain: int32(m.base.plain), Karatsuba: int32(m.base.karatsuba()),
		M: int32(l.n), N: int32(r.n), I0: int32(b.i0), J0: int32(b.j0), Triangle: int32(m.cfg.Triangle), Words: int32(words),
	}
	const threads, most = 256, 1<<16 - 1
	grid := cuda.Dim{X: (l.n + threads - 1) / threads, Y: min(r.n, most)}
	if err := m.launch("olds", "olds", grid, cuda.Dim{X: threads}, 0, a); err != nil {
		return err
	}
	return m.mark("products")
}

// oldModuli returns the constants of olds for all moduli m: m, floor(2^32/m), and (M/m)^-1 mod m,
// or 1 for the redundant modulus.
func (b *base) oldModuli() []uint32 {
	var out []uint32
	for t, m := range b.planes {
		out = append(out, uint32(m), uint32(1<<32/int64(m)), uint32(b.oldFactor(t)))
	}
	return out
}

// oldFactor returns (M/m)^-1 mod m for modulus t, or 1 for the redundant modulus.
func (b *base) oldFactor(t int) int64 {
	if t < len(b.inv) {
		return b.inv[t]
	}
	return 1
}

// powers returns the table of olds for integers of the given words: groups of rows, each of which
// has one word of four digits for each word of the integers.
func (b *base) powers(words int) []uint32 {
	groups := (b.plain+abi.OldRows-1)/abi.OldRows + (2*b.karatsuba()+abi.OldRows-1)/abi.OldRows
	out := make([]uint32, groups*words*abi.OldRows)
	for t, m := range b.planes {
		row := t
		if t >= b.plain {
			row = roundUp(b.plain, abi.OldRows) + 2*(t-b.plain)
		}
		p := b.oldFactor(t)
		for digit := range 4 * words {
			at := (row/abi.OldRows*words+digit/4)*abi.OldRows + row%abi.OldRows
			out[at] |= uint32(p&0xff) << (8 * (digit % 4))
			if t >= b.plain {
				out[at+1] |= uint32(p>>8) << (8 * (digit % 4))
			}
			p = p << 8 % int64(m)
		}
	}
	return out
}
