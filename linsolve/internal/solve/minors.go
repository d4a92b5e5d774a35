package solve

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/minors"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Limits of elimination without fractions. Up to shortOrder unknowns in integers of at most
// shortWords words it comes before float64 triangles: it also decides ties and zeros, which
// byResiduals leaves open. "ways" of bench/records/xeon-amx-batch.json.gz has the times of the
// three.
const (
	minorsWords            = 80
	shortOrder, shortWords = 6, 32
)

// hasMinors reports whether integers of some length represent the system exactly. They are kept for
// byMinors.
func hasMinors(p *problem) bool {
	if p.minors != nil {
		return true
	}
	k := p.z.Arr.Kind
	if p.a.Rows > minors.MaxOrder || p.b.Cols > minors.MaxOrder || k != num.F32 && k != num.F64 && k != num.MP || p.s.Set.Check {
		return false
	}
	most := shortWords
	if call.Forced(p.s.Ctx, call.ByMinors) {
		most = minorsWords
	}
	if m := new(minors.System); m.Set(p.a, p.b, most) {
		p.minors = m
	}
	return p.minors != nil
}

// shortMinors reports whether elimination without fractions is likely to be faster than all other
// ways. It proves no condition number for the statistics.
func shortMinors(p *problem) bool {
	return p.s.Brief && p.a.Rows <= shortOrder && p.b.Cols <= shortOrder
}

// triesMinors reports whether byMinors comes first.
func triesMinors(p *problem) bool {
	if call.Forced(p.s.Ctx, call.SystemWays...) {
		return call.Forced(p.s.Ctx, call.ByMinors) && hasMinors(p)
	}
	return shortMinors(p) && hasMinors(p)
}

// byMinors solves by integers if A is regular; otherwise it leaves the problem open, with factors
// for the other ways.
func byMinors(p *problem) error {
	m := p.minors
	if !m.Solve() {
		p.minors = nil // its integers are no longer the ones of A and B
		return p.factor()
	}
	for _, e := range p.todo {
		if e != nil {
			p.round(e, m)
		}
	}
	return nil
}

// round stores the open entries of a column.
func (p *problem) round(e *ziv.Entries, m *minors.System) {
	bits := p.z.Format().Bits() + 2 // one more than a number halfway between two of the format has
	for _, i := range e.Open {
		v := m.Quotient(i, e.J, bits)
		at := e.Z.At(i, e.J)
		if flags := e.Z.Arr.Set(at, v); flags&num.Underflow != 0 {
			p.s.Lost.Note(call.Entry{Z: e.Z, I: i, J: e.J})
		}
	}
	p.s.Stats.Exact += int64(len(e.Open))
	e.Open = nil
}
