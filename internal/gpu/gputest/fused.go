package gputest

import (
	"math/big"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
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

// refTerms returns the number of terms of a number.
func refTerms(x abi.Vectors) int { return max(1, num.Format{Kind: num.Kind(x.A.Kind)}.Terms()) }

// fusedSpan returns the reference of row i, a multiple of the bits of a digit, the negated least
// exponent and the flags of its addends.
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
	refFusedSums(l, r, products, func(d addend, total *big.Int, top int64) { d.addTo(total, products, int(r.Digits), top) })
}

// refFusedSums computes the sums of kernels with one launch. add adds an addend to a sum in units
// of the last column, of a row with reference top.
func refFusedSums(l *fake.Launch, r abi.FusedReduction, products bool, add func(d addend, total *big.Int, top int64)) {
	n, k := int(r.A.N), int(r.Digits)
	sums := newReferenceSums(n, k)
	for i := range n {
		sums.top[i], sums.bottom[i], sums.flags[i] = fusedSpan(l, &r, products, i)
		total := new(big.Int)
		fusedAddends(l, &r, products, i, func(d addend, _ bool) {
			if d.class == num.Finite {
				add(d, total, sums.top[i])
			}
		})
		for c := k; c > 0; c-- {
			sums.columns[c*n+i] = new(big.Int).And(total, big.NewInt(1<<abi.RowDigit-1)).Int64()
			total.Rsh(total, abi.RowDigit)
		}
		sums.columns[i] = total.Int64()
	}
	if r.End.Does != abi.Tells {
		copy(fake.Slice[int64](l, r.S.Top, n), sums.top)
		copy(fake.Slice[int64](l, r.S.Bottom, n), sums.bottom)
		copy(fake.Slice[uint32](l, r.S.Flags, n), sums.flags)
	}
	if r.End.Does == abi.Keeps {
		copy(fake.Slice[int64](l, r.Columns, (k+1)*n), sums.columns)
	}
	sums.conclude(l, r.End)
}

// referenceSums are the columns and spans of n rows, as memory has them.
type referenceSums struct {
	n, k        int
	columns     []int64
	top, bottom []int64
	flags       []uint32
}

func newReferenceSums(n, k int) *referenceSums {
	return &referenceSums{n: n, k: k, columns: make([]int64, (k+1)*n), top: make([]int64, n), bottom: make([]int64, n), flags: make([]uint32, n)}
}

// sumsIn returns the sums that are in the device's memory.
func sumsIn(l *fake.Launch, columns cuda.Pointer, s abi.Spans, n, k int) *referenceSums {
	return &referenceSums{n: n, k: k, columns: fake.Slice[int64](l, columns, (k+1)*n),
		top: fake.Slice[int64](l, s.Top, n), bottom: fake.Slice[int64](l, s.Bottom, n), flags: fake.Slice[uint32](l, s.Flags, n)}
}

// conclude computes the function conclude of kernels/rows/conclude.cuh for all rows.
func (s *referenceSums) conclude(l *fake.Launch, e abi.RowEnding) {
	switch e.Does {
	case abi.Tells:
		answerWord(l, e.Answer, abi.LeftWord, e.Ticket, 0)
		for c, v := range append(s.columns[:s.k+1:s.k+1], s.top[0], s.bottom[0], int64(s.flags[0])) {
			answerWord(l, e.Answer, abi.ColumnWord(c), e.Ticket, uint32(v))
			answerWord(l, e.Answer, abi.ColumnWord(c)+1, e.Ticket, uint32(uint64(v)>>32))
		}
	case abi.Rounds:
		left := 0
		for i := range s.n {
			if !s.roundRow(l, e.To, i) {
				fake.Slice[uint64](l, e.To.List, s.n)[left] = uint64(i)
				left++
			}
		}
		answerWord(l, e.Answer, abi.LeftWord, e.Ticket, uint32(left))
	}
}

// answerWord writes word i of an answer.
func answerWord(l *fake.Launch, mailbox cuda.Pointer, i int, ticket, value uint32) {
	atomic.StoreUint64(&fake.Slice[uint64](l, mailbox, i+1)[i], uint64(value)<<32|uint64(ticket))
}

// roundRow rounds row i and reports whether it did.
func (s *referenceSums) roundRow(l *fake.Launch, r abi.RowRounding, i int) bool {
	to, flags := int(r.C.Off)+i*int(r.C.RS), s.flags[i]
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
	total := new(big.Int)
	for c := range s.k + 1 {
		total.Add(total.Lsh(total, abi.RowDigit), big.NewInt(s.columns[c*s.n+i]))
	}
	err := r.Error
	if s.top[i]+s.bottom[i] <= r.Exact {
		err = 0
	}
	mag := num.FromInt(nil, total)
	return !(num.IsZero(mag) && r.Expansions != 0) &&
		storeReference(c, to, (total.Sign() < 0) != (r.Neg != 0), mag, s.top[i]+r.Unit, err, 0)
}
