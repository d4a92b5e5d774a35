package gpu

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
)

// The kernels of kernels/fused.cuh in Go.

// addends calls f for the addends of row i; later ones are made of other terms than the first.
func (r *fusedReduction) addends(l *fake.Launch, products bool, i int, f func(d addend, later bool)) {
	others := 1
	if products {
		others = r.x.terms()
	}
	for t := range r.a.terms() {
		for u := range others {
			addendsOf(l, r.a.term(t), r.x.term(u), products, r.magnitudes != 0, i, func(d addend) { f(d, t+u > 0) })
		}
	}
}

// terms returns of how many terms the numbers are the sum.
func (x vectors) terms() int { return termsOf(num.Format{Kind: num.Kind(x.a.kind)}) }

// span returns the reference of row i, a multiple of the bits of a digit, and what else is known
// of its addends.
func (r *fusedReduction) span(l *fake.Launch, products bool, i int) (top, bottom int64, flags uint32) {
	top, bottom = -1<<61, -1<<61
	r.addends(l, products, i, func(d addend, later bool) {
		switch {
		case d.class > num.Finite:
			flags |= seenSpecial
		case d.class == num.Finite:
			flags |= seenFinite
			top, bottom = max(top, -rowDigit*floorDiv(-d.top, rowDigit)), max(bottom, -d.top)
		case later:
		case d.neg:
			flags |= seenNegativeZero
		default:
			flags |= seenPositiveZero
		}
	})
	return top, bottom, flags
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func refFused(l *fake.Launch, r fusedReduction, products bool) {
	n, k := int(r.a.n), int(r.digits)
	tops, bottoms := fake.Slice[int64](l, r.s.top, n), fake.Slice[int64](l, r.s.bottom, n)
	flags := fake.Slice[uint32](l, r.s.flags, n)
	var columns []int64
	if r.columns != 0 {
		columns = fake.Slice[int64](l, r.columns, (k+1)*n)
	}
	var answer []uint32
	if r.answer != 0 {
		answer = fake.Slice[uint32](l, r.answer, 2)
		answer[leftAt/4] = 0
	}
	for i := range n {
		tops[i], bottoms[i], flags[i] = r.span(l, products, i)
		total := new(big.Int)
		r.addends(l, products, i, func(d addend, _ bool) {
			if d.class == num.Finite {
				d.addTo(total, products, k, tops[i])
			}
		})
		if columns == nil {
			rest := leftovers{r.answer + leftAt, r.to.list, int64(n)}
			refRoundRow(l, r.to, rest, i, total, tops[i], bottoms[i], flags[i])
			continue
		}
		for c := k; c > 0; c-- {
			columns[c*n+i] = new(big.Int).And(total, big.NewInt(1<<rowDigit-1)).Int64()
			total.Rsh(total, rowDigit)
		}
		columns[i] = total.Int64()
	}
	if answer != nil {
		answer[0] = r.ticket
	}
}

func refRoundRow(l *fake.Launch, r fusedRounding, rest leftovers, i int, total *big.Int, top, bottom int64, flags uint32) {
	to := int(r.c.off) + i*int(r.c.rs)
	c := r.c.a.array(l, int(r.c.prec), to+1)
	if flags&seenSpecial != 0 {
		rest.leave(l, i, 0)
		return
	}
	if flags&seenFinite == 0 {
		only := uint32(seenNegativeZero)
		if r.neg != 0 {
			only = seenPositiveZero
		}
		c.Set(to, num.Real{Neg: flags&(seenPositiveZero|seenNegativeZero) == only})
		return
	}
	err := r.error
	if top+bottom <= r.exact {
		err = 0
	}
	mag := direct.FromInt(nil, total)
	if num.IsZero(mag) && r.expansions != 0 ||
		!storeReference(c, to, (total.Sign() < 0) != (r.neg != 0), mag, top+r.unit, err, 0) {
		rest.leave(l, i, 0)
	}
}
