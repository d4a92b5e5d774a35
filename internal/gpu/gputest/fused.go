package gputest

import (
	"math/big"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// The kernels of kernels/rows/fused.cuh in Go.

// fusedAddends calls f for the addends of row i; later ones are made of other terms than the first.
func fusedAddends(l *fake.Launch, r *abi.FusedReduction, products bool, i int, f func(d addend, later bool)) {
	others := 1
	if products {
		others = refTerms(r.X)
	}
	for t := range refTerms(r.A) {
		for u := range others {
			addendsOf(l, r.A.Term(t), r.X.Term(u), products, r.Magnitudes != 0, i, func(d addend) { f(d, t+u > 0) })
		}
	}
}

// refTerms returns of how many terms the numbers are the sum.
func refTerms(x abi.Vectors) int { return max(1, num.Format{Kind: num.Kind(x.A.Kind)}.Terms()) }

// fusedSpan returns the reference of row i, a multiple of the bits of a digit, and what else is
// known of its addends.
func fusedSpan(l *fake.Launch, r *abi.FusedReduction, products bool, i int) (top, bottom int64, flags uint32) {
	top, bottom = -1<<61, -1<<61
	fusedAddends(l, r, products, i, func(d addend, later bool) {
		switch {
		case d.class > num.Finite:
			flags |= abi.SeenSpecial
		case d.class == num.Finite:
			flags |= abi.SeenFinite
			top, bottom = max(top, -abi.RowDigit*floorDiv(-d.top, abi.RowDigit)), max(bottom, -d.top)
		case later:
		case d.neg:
			flags |= abi.SeenNegativeZero
		default:
			flags |= abi.SeenPositiveZero
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

func refFused(l *fake.Launch, r abi.FusedReduction, products bool) {
	n, k := int(r.A.N), int(r.Digits)
	tops, bottoms, flags := make([]int64, n), make([]int64, n), make([]uint32, n)
	if r.Tells == 0 {
		tops, bottoms, flags = fake.Slice[int64](l, r.S.Top, n), fake.Slice[int64](l, r.S.Bottom, n), fake.Slice[uint32](l, r.S.Flags, n)
	}
	var columns []int64
	switch {
	case r.Tells != 0:
		columns = make([]int64, k+1)
	case r.Columns != 0:
		columns = fake.Slice[int64](l, r.Columns, (k+1)*n)
	}
	left := 0
	for i := range n {
		tops[i], bottoms[i], flags[i] = fusedSpan(l, &r, products, i)
		total := new(big.Int)
		fusedAddends(l, &r, products, i, func(d addend, _ bool) {
			if d.class == num.Finite {
				d.addTo(total, products, k, tops[i])
			}
		})
		if columns == nil {
			if !refRoundRow(l, r.To, i, total, tops[i], bottoms[i], flags[i]) {
				fake.Slice[uint64](l, r.To.List, n)[left] = uint64(i)
				left++
			}
			continue
		}
		for c := k; c > 0; c-- {
			columns[c*n+i] = new(big.Int).And(total, big.NewInt(1<<abi.RowDigit-1)).Int64()
			total.Rsh(total, abi.RowDigit)
		}
		columns[i] = total.Int64()
	}
	if r.Answer != 0 {
		answerWord(l, r.Answer, abi.LeftWord, r.Ticket, uint32(left))
	}
	if r.Tells != 0 {
		answerRow(l, r.Answer, r.Ticket, append(columns, tops[0], bottoms[0], int64(flags[0])))
	}
}

// answerWord writes word i of an answer.
func answerWord(l *fake.Launch, mailbox cuda.Pointer, i int, ticket, value uint32) {
	atomic.StoreUint64(&fake.Slice[uint64](l, mailbox, i+1)[i], uint64(value)<<32|uint64(ticket))
}

// answerRow writes the columns and spans of a row.
func answerRow(l *fake.Launch, mailbox cuda.Pointer, ticket uint32, row []int64) {
	for c, v := range row {
		answerWord(l, mailbox, abi.ColumnWord(c), ticket, uint32(v))
		answerWord(l, mailbox, abi.ColumnWord(c)+1, ticket, uint32(uint64(v)>>32))
	}
}

// refRoundRow rounds row i and reports whether it did.
func refRoundRow(l *fake.Launch, r abi.FusedRounding, i int, total *big.Int, top, bottom int64, flags uint32) bool {
	to := int(r.C.Off) + i*int(r.C.RS)
	c := arrayOf(l, r.C.A, int(r.C.Prec), to+1)
	if flags&abi.SeenSpecial != 0 {
		return false
	}
	if flags&abi.SeenFinite == 0 {
		only := uint32(abi.SeenNegativeZero)
		if r.Neg != 0 {
			only = abi.SeenPositiveZero
		}
		c.Set(to, num.Real{Neg: flags&(abi.SeenPositiveZero|abi.SeenNegativeZero) == only})
		return true
	}
	err := r.Error
	if top+bottom <= r.Exact {
		err = 0
	}
	mag := direct.FromInt(nil, total)
	return !(num.IsZero(mag) && r.Expansions != 0) &&
		storeReference(c, to, (total.Sign() < 0) != (r.Neg != 0), mag, top+r.Unit, err, 0)
}
