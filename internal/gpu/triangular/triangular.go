// Package triangular solves triangular systems of equations in the memory of NVIDIA GPUs; every
// quotient is rounded once. Matrix products update the rows not yet solved, block by block, and
// kernels/rows/triangular.cu divides.
package triangular

import (
	"errors"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/product"
	"github.com/halfulp/halfulp/internal/gpu/rows"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
)

const (
	guardBits   = 32 // additional bits of the right-hand sides over X
	raiseRows   = 256
	raiseBlocks = 1<<16 - 1
)

// A substitution is a solution of T X = alpha B in progress: R = alpha B - T X for the rows of X
// solved so far. Every number of R has been rounded a few times, to guardBits more bits than X has.
type substitution struct {
	s     *cuda.Stream
	cfg   product.Config
	t     mem.Matrix
	lower bool
	unit  bool
	r, x  mem.Matrix
	top   *cuda.Memory // i64: for each number of R the largest exponent it has had
	odd   *cuda.Memory // u32: numbers left to the host; from byte 8 on, u64: overflows, underflows
	stats residue.Stats
	lost  bool // numbers have left the range of MP, or a product is left to the host
}

// Solve computes the solution X of T X = alpha B like Trsm of the root package; T is the triangle
// that view stores with layout l. It reports whether it succeeded. It does not succeed where the
// rounding of a quotient is undecided, for infinities, NaN and zeros on the diagonal, for T in DD,
// TD or QD, and where a product is left to the host. X must not share storage with the other
// operands; it is unspecified if Solve does not succeed.
func Solve(s *cuda.Stream, cfg product.Config, l direct.Layout, view mem.Matrix, alpha num.Real, b, x mem.Matrix, count func(num.Flags)) (stats residue.Stats, done bool, err error) {
	n, k := x.Rows, x.Cols
	p := &substitution{s: s, cfg: cfg, t: view, lower: l.Above == 0, unit: l.Unit, x: x}
	p.cfg.Progress = nil
	if alpha.Class != num.Finite || view.Arr.Terms() > 1 || p.shared() > s.Device().Info().SharedPerBlock || n == 0 || k == 0 {
		return p.stats, false, nil
	}
	x.Changed()
	a, err := mem.NewArray(s, num.Format{Kind: num.MP, Prec: uint32(x.Arr.Bits() + guardBits)}, n*k)
	if err != nil {
		return p.stats, false, err
	}
	defer a.Free()
	p.r = mem.Matrix{Arr: a, RS: 1, CS: n, Rows: n, Cols: k}
	if p.top, err = s.Alloc(8 * int64(n) * int64(k)); err != nil {
		return p.stats, false, err
	}
	defer p.top.Free()
	if p.odd, err = s.Alloc(24); err != nil {
		return p.stats, false, err
	}
	defer p.odd.Free()
	if err := s.Zero(p.odd.Pointer(), 24); err != nil {
		return p.stats, false, err
	}
	if err := p.begin(alpha, b); err != nil || p.lost {
		return p.stats, false, err
	}
	if err := p.rows(0, n); err != nil || p.lost {
		return p.stats, false, err
	}
	var counts [3]uint64
	if err := cuda.Download(s, counts[:], p.odd.Pointer()); err != nil || counts[0] != 0 {
		return p.stats, false, err
	}
	for i, flag := range []num.Flags{num.Overflow, num.Underflow} {
		for range counts[1+i] {
			count(flag)
		}
	}
	return p.stats, true, nil
}

// words returns the numbers of 32-bit words of a window and of a quotient. A window has 48 to 79
// bits more than X. The error of R, which is 2^(27 + bits) times smaller than the upper end of the
// window, is then an integer of 13 to 44 bits in it.
func (p *substitution) words() (window, quotient int) {
	bits := p.x.Arr.Bits()
	return (bits + 48 + 31) / 32, (bits + 36 + 31) / 32
}

// shared returns the bytes of shared memory of a block.
func (p *substitution) shared() int {
	w, q := p.words()
	return 4 * ((abi.QuotientLanes+2)*w + 4*(q+1))
}

// begin sets R = alpha B.
func (p *substitution) begin(alpha num.Real, b mem.Matrix) error {
	m := p.r
	plain := num.BitLen(alpha.Mag) == 1 && alpha.Exp == 0 && !alpha.Neg
	if plain && rows.Widens(b.Arr.Format, m.Arr.Format) {
		if err := rows.Widen(p.s, b, m); err != nil {
			return err
		}
		return p.raise(0, m.Rows, true)
	}
	// R is the product of a matrix of one column, which has all numbers of B, and alpha.
	n := m.Rows * m.Cols
	packed, err := mem.NewArray(p.s, b.Arr.Format, n)
	if err != nil {
		return err
	}
	defer packed.Free()
	if err := rows.Copy(p.s, b, mem.Matrix{Arr: packed, RS: 1, CS: m.Rows, Rows: m.Rows, Cols: m.Cols}); err != nil {
		return err
	}
	h := num.New(num.Format{Kind: num.MP, Prec: uint32(max(2, num.BitLen(alpha.Mag)))}, 1)
	h.Set(0, alpha)
	factor, err := mem.Upload(p.s, h)
	if err != nil {
		return err
	}
	defer factor.Free()
	column := mem.Matrix{Arr: packed, RS: 1, CS: n, Rows: n, Cols: 1}
	to := mem.Vector{Arr: m.Arr, Inc: 1, N: n}
	_, err = rows.GemvOnDevice(p.s, p.cfg.Run, direct.One(false), column, mem.Vector{Arr: factor, Inc: 1, N: 1},
		num.Real{}, to, to, func(num.Flags) { p.lost = true })
	if err != nil {
		return err
	}
	return p.raise(0, m.Rows, true)
}

// part returns the rows rows[0] <= i < rows[1] of a matrix.
func part(m mem.Matrix, rows [2]int) mem.Matrix {
	m.Off, m.Rows = m.Off+rows[0]*m.RS, rows[1]-rows[0]
	return m
}

// raise records the exponents of the rows lo <= i < hi of R.
func (p *substitution) raise(lo, hi int, first bool) error {
	r := part(p.r, [2]int{lo, hi})
	k := abi.Raising{R: abi.RowsOf(r), Top: p.top.At(8 * int64(lo)), Rows: int64(p.r.Rows), First: abi.Flag(first)}
	f, err := launch.KernelsOf(p.s).Function(p.s, "rows/triangular", "raiseTops")
	if err != nil {
		return err
	}
	return f.Launch(p.s, cuda.Dim{X: (r.Rows + raiseRows - 1) / raiseRows, Y: min(r.Cols, raiseBlocks)}, cuda.Dim{X: raiseRows}, 0, k)
}

// rows solves the rows lo <= i < hi, which the rows solved before have already updated.
func (p *substitution) rows(lo, hi int) error {
	if hi-lo <= abi.QuotientLanes {
		return p.block(lo, hi)
	}
	mid := lo + (hi-lo+1)/2
	first, then := [2]int{lo, mid}, [2]int{mid, hi}
	if !p.lower {
		first, then = then, first
	}
	if err := p.rows(first[0], first[1]); err != nil {
		return err
	}
	if err := p.update(then, first); err != nil || p.lost {
		return err
	}
	return p.rows(then[0], then[1])
}

// update subtracts from the rows to of R the product of T and the solved rows from.
func (p *substitution) update(to, from [2]int) error {
	t := part(part(p.t, to).T(), from).T()
	r := part(p.r, to)
	if p.x.Cols == 1 {
		y := mem.Vector{Arr: r.Arr, Off: r.Off, Inc: r.RS, N: r.Rows}
		x := part(p.x, from)
		_, err := rows.GemvOnDevice(p.s, p.cfg.Run, direct.One(true), t, mem.Vector{Arr: x.Arr, Off: x.Off, Inc: x.RS, N: x.Rows},
			direct.One(false), y, y, func(num.Flags) { p.lost = true })
		if err != nil || p.lost {
			return err
		}
		return p.raise(to[0], to[1], false)
	}
	st, err := product.GemmOnDevice(p.s, p.cfg, direct.One(true), t, part(p.x, from), direct.One(false), r, r)
	if errors.Is(err, place.ErrUnsupported) { // the host solves the whole system
		p.lost = true
		return nil
	}
	if err != nil {
		return err
	}
	if st.Overflow+st.Underflow > 0 {
		p.lost = true
		return nil
	}
	p.stats.Add(st)
	return p.raise(to[0], to[1], false)
}

// block solves the rows lo <= i < hi, at most QuotientLanes of them.
func (p *substitution) block(lo, hi int) error {
	w, q := p.words()
	k := abi.Quotients{T: abi.RowsOf(p.t), R: abi.RowsOf(p.r), X: abi.TargetOf(p.x), Top: p.top.Pointer(), Odd: p.odd.Pointer(), Counts: p.odd.At(8),
		Prec: int64(p.r.Arr.Prec), Lo: int32(lo), Hi: int32(hi), Lower: abi.Flag(p.lower), Unit: abi.Flag(p.unit), Words: int32(w), QuotientWords: int32(q)}
	f, err := launch.KernelsOf(p.s).Function(p.s, "rows/triangular", "quotientsOfRows")
	if err != nil {
		return err
	}
	return f.Launch(p.s, cuda.Dim{X: p.x.Cols}, cuda.Dim{X: abi.QuotientLanes}, p.shared(), k)
}
