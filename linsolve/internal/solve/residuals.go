package solve

import (
	"sync"

	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/residual"
)

// rooms are the memory of residuals in integers.
var rooms = sync.Pool{New: func() any { return new(residual.Room) }}

// hasResiduals reports whether residuals in integers may decide entries.
func hasResiduals(p *problem) bool {
	return residual.Applies(p.a, p.b, p.z) && !p.s.Set.Check && p.fits(float64(residual.Bytes(p.a.Rows, p.b.Cols, p.z.Format().Bits())))
}

// shortResiduals reports whether residuals in integers are likely to be faster than all other ways.
// They prove no condition number for the statistics.
func shortResiduals(p *problem) bool {
	return p.s.Brief && residual.Faster(p.a, p.b, p.z.Format())
}

// triesResiduals reports whether byResiduals comes first.
func triesResiduals(p *problem) bool {
	if call.Forced(p.s.Ctx, call.SystemWays...) {
		return call.Forced(p.s.Ctx, call.ByResiduals) && hasResiduals(p)
	}
	return shortResiduals(p) && hasResiduals(p)
}

// byResiduals decides entries by residuals in integers. If it leaves entries open, it makes factors
// for the other ways.
func byResiduals(p *problem) error {
	room := rooms.Get().(*residual.Room)
	defer rooms.Put(room)
	room.Solve(p.a, p.b, p.z)
	for _, e := range p.todo {
		if e == nil {
			continue
		}
		open := e.Open[:0]
		for _, i := range e.Open {
			if !room.Done(i, e.J) {
				open = append(open, i)
			}
		}
		e.Open = open
	}
	if p.Open() && !triesMinors(p) {
		return p.factor()
	}
	return nil
}
