package exact

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/plan"
)

// A layout is a plan with the kernels and the base that run it.
type layout struct {
	plan.Plan
	kernels
	base *base
}

// kernels are those of a product: kernel converts and reconstructs, and multiplies unless bytes
// does.
type kernels struct {
	kernel *modgemm.Kernel
	bytes  *modgemm.ByteKernel
}

// choose returns the plans of the kernels of the level in force, the fastest first, without bases.
func choose(p *plan.Problem) []layout {
	var list []layout
	add := func(k kernels) {
		if q, ok := machine(k).Choose(p); ok {
			list = append(list, layout{Plan: q, kernels: k})
		}
	}
	best, bytes := modgemm.Best(), modgemm.BestBytes()
	if bytes != nil {
		add(kernels{best, bytes})
	}
	add(kernels{kernel: best})
	if !modgemm.BytesForced() {
		slices.SortStableFunc(list, func(x, y layout) int { return cmp.Compare(x.Cost, y.Cost) })
	}
	return list
}

// name returns what stats call them.
func (k kernels) name() string { return modgemm.KernelNames(k.kernel, k.bytes) }

// pool returns the moduli that they take.
func (k kernels) pool() *pool {
	if k.bytes != nil {
		return bytePool()
	}
	return residuePool()
}

// panel returns the vectors of a panel of the operand of a side.
func (k kernels) panel(s side) int {
	switch {
	case k.bytes != nil:
		return modgemm.PanelVectors
	case s == left:
		return k.kernel.MR
	}
	return k.kernel.NR
}

// panels returns the panels that hold n vectors.
func (k kernels) panels(s side, n int) int { return (n + k.panel(s) - 1) / k.panel(s) }

// machine returns the processor as plans see it, with one thread that runs kernels.
func machine(k kernels) *plan.Machine {
	pool := k.pool()
	return &plan.Machine{
		Bits: pool.bits[:min(len(pool.moduli), maxModuli)+1],
		Work: func(p *plan.Problem, q *plan.Plan) float64 { return work(k, p, q) },
		Exact: func(p *plan.Problem, share float64) float64 {
			return share * float64(p.M) * float64(p.N) * direct.EntryCost(p.K, p.A, p.B)
		},
		Slack: func(n int) float64 { return float64(11 + bits.Len(uint(n))) },
	}
}

// What a number of an operand takes besides its residues, by what reading it takes, and what
// rounding a result takes, in ns on one thread. go run ./cmd/thin in bench measures products that
// consist of little else; BenchmarkOperands and BenchmarkResidues measure the former.
const (
	floatCost       = 5  // binary64
	mpCost          = 15 // MP, besides its words
	wordCost        = 2.5
	alignOtherCost  = 46
	expansionCost   = 200
	residueCost     = 0.35 // a residue of a number
	finishCost      = 0.5  // a residue of a result
	roundFloatCost  = 8
	roundOtherCost  = 12
	roundDoubleCost = 10 // a term of an expansion
	startCost       = 40000
)

// work is the cost of a product by residues on one thread but for the exact pass.
func work(kerns kernels, p *plan.Problem, q *plan.Plan) float64 {
	c := kernelCosts[kerns.kernel.Name]
	count := float64(q.Moduli)
	m, n := padded(p.M, kerns.panel(left)), padded(p.N, kerns.panel(right))
	cost, plain := float64(startCost), 0.0
	if kerns.bytes != nil {
		plain = math.Min(count, float64(kerns.pool().bytes.Plain))
		products := float64(kerns.pool().products(q.Moduli))
		k := padded(p.K, modgemm.StepNumbers)
		sum := byteEntryCost + k*byteProductCost // may fuse: an estimate
		cost += m * n * products * sum           // may fuse: an estimate
	} else {
		cost += m * n * padded(p.K, 2) * count * c.product // may fuse: an estimate
	}
	operand := func(kept bool, vectors int, f num.Format, width int) {
		pairs := float64(digitPairs(width))
		// may fuse: an estimate
		number := plain*(byteResidueCost+bytePairCost*pairs) + (count-plain)*(residueCost+2*c.product*pairs)
		if plain > 0 {
			number += (count - plain) * byteSplitCost // may fuse: an estimate
		}
		switch {
		case kept:
			return
		case f.Terms() > 1:
			number += expansionCost
		case f.Kind == num.F64:
			number += floatCost
		case f.Kind == num.MP:
			number += mpCost + wordCost*float64((f.Prec+63)/64) // may fuse: an estimate
		default:
			number += alignOtherCost
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
