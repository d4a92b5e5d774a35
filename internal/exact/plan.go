package exact

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/plan"
)

// A layout is a plan with the kernel and the base that run it.
type layout struct {
	plan.Plan
	kernel *modgemm.Kernel
	base   *base
}

// machine returns the processor as plans see it, with one thread that runs kern.
func machine(kern *modgemm.Kernel) *plan.Machine {
	c := kernelCosts[kern.Name]
	return &plan.Machine{
		Bits: pool().bits[:min(len(pool().moduli), maxModuli)+1],
		Work: func(p *plan.Problem, q *plan.Plan) float64 { return work(kern, c, p, q) },
		Exact: func(p *plan.Problem, share float64) float64 {
			return share * float64(p.M) * float64(p.N) * direct.EntryCost(p.K, p.A, p.B)
		},
		Slack: func(n int) float64 { return float64(11 + bits.Len(uint(n))) },
	}
}

// What a number of an operand takes besides its residues, by what reading it takes, and what
// rounding a result takes, in ns on one thread. go run ./cmd/thin in bench measures products that
// consist of little else.
const (
	alignCost       = 14 // binary64 and MP
	alignOtherCost  = 46
	expansionCost   = 200
	residueCost     = 2.1 // a residue of a number
	finishCost      = 3   // a residue of a result
	roundFloatCost  = 10
	roundOtherCost  = 50
	roundDoubleCost = 120 // a term of an expansion
	startCost       = 80000
)

// work is the cost of a product by residues on one thread but for the exact pass.
func work(kern *modgemm.Kernel, c kernelCost, p *plan.Problem, q *plan.Plan) float64 {
	count := float64(q.Moduli)
	m, n, k := padded(p.M, kern.MR), padded(p.N, kern.NR), padded(p.K, 2)
	cost := startCost + m*n*k*count*c.product // may fuse: an estimate
	operand := func(kept bool, vectors int, f num.Format, width int) {
		// may fuse: an estimate
		number := alignCost + count*(residueCost+2*c.product*float64(digitPairs(width)))
		switch {
		case kept:
			return
		case f.Terms() > 1:
			number += expansionCost - alignCost
		case f.Kind == num.F32:
			number += alignOtherCost - alignCost
		}
		cost += float64(vectors) * float64(p.K) * number // may fuse: an estimate
	}
	operand(p.Kept[0], p.M, p.A, q.WidthL)
	operand(p.Kept[1], p.N, p.B, q.WidthR)
	words := float64(q.WidthL+q.WidthR)/2/wordBits + 1
	result := count*(finishCost+3*words*c.product) + roundOtherCost // may fuse: an estimate
	switch {
	case p.C.Kind == num.F64:
		result += roundFloatCost - roundOtherCost
	case p.C.Terms() > 1:
		result += roundDoubleCost * float64(p.C.Terms()) // may fuse: an estimate
	}
	return cost + float64(p.M)*float64(p.N)*result // may fuse: an estimate
}

// padded returns n rounded up to a multiple of to.
func padded(n, to int) float64 { return float64((n + to - 1) / to * to) }
