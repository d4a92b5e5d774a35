package residue

import (
	"context"
	"testing"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/par"
)

// A looked context counts how often it is asked whether it is cancelled, and is cancelled after so
// many looks.
type looked struct {
	context.Context
	looks, left int
}

func (c *looked) Err() error {
	if c.looks++; c.looks > c.left {
		return context.Canceled
	}
	return nil
}

// TestInParts checks that the parts of the sums of a region follow one another without gaps, that
// the context is looked at before each part, that no part has more products than is allowed, and
// that a cancelled context ends the parts.
func TestInParts(t *testing.T) { eachUnit(t, testInParts) }

func testInParts(t *testing.T) {
	k := kernels{kernel: modgemm.Best()}
	for _, c := range []struct{ m, n, k int }{{1, 1, 1}, {256, 512, 1500}, {256, 512, 100000}, {7, 5, 40}, {24, 16, 30000000}, {256, 512, 0}} {
		ra := &residues{kernels: k, side: left, panel: k.panel(left), kPairs: paddedPairs(k.kernel, c.k)}
		rb := &residues{kernels: k, side: right, panel: k.panel(right), kPairs: ra.kPairs}
		r := region{mp: k.panels(left, c.m), np: k.panels(right, c.n), span: span{0, ra.kPairs}}
		if c.k == 0 {
			r.span = span{}
		}
		ctx := &looked{Context: t.Context(), left: 1 << 30}
		p := &product{cfg: Config{Run: par.Run{Ctx: ctx}}}
		numbers, align := ra.unit()
		end, parts := 0, 0
		whole := p.inParts(r, ra, rb, func(part region, add bool) {
			if parts++; ctx.looks != parts {
				t.Errorf("%+v: %d looks before part %d", c, ctx.looks, parts)
			}
			if part.from != end || add != (parts > 1) || part.from%align != 0 {
				t.Errorf("%+v: part %d is %+v after %d, add %v", c, parts, part, end, add)
			}
			end = part.to
			length := (part.to - part.from) * numbers
			if products := part.mp * ra.panel * part.np * rb.panel * length; products > partProducts && length > partLength {
				t.Errorf("%+v: part of %d products, %d numbers long", c, products, length)
			}
		})
		if !whole || end != r.to || parts == 0 {
			t.Errorf("%+v: %d parts up to %d of %d", c, parts, end, r.to)
		}
		ended := 0
		p.cfg.Ctx = &looked{Context: t.Context(), left: parts / 2}
		whole = p.inParts(r, ra, rb, func(region, bool) { ended++ })
		if whole || ended != parts/2 {
			t.Errorf("%+v: %d parts before the cancellation, want %d", c, ended, parts/2)
		}
	}
}
