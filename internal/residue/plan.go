package residue

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

// kernels are the kernels of a product: kernel converts and reconstructs, and also multiplies if
// bytes is nil.
type kernels struct {
	kernel  *modgemm.Kernel
	bytes   *modgemm.ByteKernel
	checked bool // with a redundant modulus
}

// inForce returns the kernels of the level in force, with or without a redundant modulus.
func inForce(checked bool) []kernels {
	best := modgemm.Best()
	if bytes := modgemm.BestBytes(); bytes != nil {
		return []kernels{{best, bytes, checked}, {kernel: best, checked: checked}}
	}
	return []kernels{{kernel: best, checked: checked}}
}

// choose returns the plans of kernels, the fastest first, without bases.
func choose(p *plan.Problem, among []kernels) []layout {
	var list []layout
	for _, k := range among {
		if q, ok := machine(k).Choose(p); ok {
			list = append(list, layout{Plan: q, kernels: k})
		}
	}
	if !modgemm.BytesForced() {
		slices.SortStableFunc(list, func(x, y layout) int { return cmp.Compare(x.Cost, y.Cost) })
	}
	return list
}

// name returns the name of the kernels for Stats.
func (k kernels) name() string { return modgemm.KernelNames(k.kernel, k.bytes) }

// pool returns the pool of moduli of the kernels.
func (k kernels) pool() *pool {
	switch {
	case k.bytes != nil && k.checked:
		return checkedBytePool()
	case k.bytes != nil:
		return bytePool()
	case k.checked:
		return checkedPool()
	}
	return residuePool()
}

// panel returns the number of vectors of a panel of the operand on side s.
func (k kernels) panel(s side) int {
	switch {
	case k.bytes != nil:
		return modgemm.PanelVectors
	case s == left:
		return k.kernel.MR
	}
	return k.kernel.NR
}

// panels returns the number of panels that hold n vectors.
func (k kernels) panels(s side, n int) int { return (n + k.panel(s) - 1) / k.panel(s) }

// machine returns the model of the processor for plans, with one thread that runs the kernels.
func machine(k kernels) *plan.Machine {
	pool := k.pool()
	residueBits := 13 // half of a modulus is below 2^(residueBits - 1)
	if k.bytes != nil {
		residueBits = 15
	}
	return &plan.Machine{
		Bits: pool.bits[:min(len(pool.moduli), maxModuli)+1],
		Work: func(p *plan.Problem, q *plan.Plan) float64 { return work(k, p, q) },
		Exact: func(p *plan.Problem, share float64) float64 {
			return share * float64(p.M) * float64(p.N) * direct.EntryCost(p.K, p.A, p.B)
		},
		Slack: func(n int) float64 { return float64(residueBits - 2 + bits.Len(uint(n))) },
	}
}

// Costs of reading and aligning a number of an operand, besides its residues, and of rounding a
// result, in ns on one thread. go run ./cmd/thin in bench measures products that consist of little
// else; BenchmarkOperands and BenchmarkResidues measure the operands' costs.
const (
	floatCost       = 5  // binary64
	mpCost          = 15 // MP, besides its words
	wordCost        = 2.5
	alignOtherCost  = 46
	expansionCost   = 200
	residueCost     = 0.35 // of a residue of a number
	finishCost      = 0.5  // of a residue of a result
	roundFloatCost  = 8
	roundOtherCost  = 12
	roundDoubleCost = 10 // of a term of an expansion
	startCost       = 40000
)

// work returns the cost of a product by residues on one thread, without the exact pass.
func work(kerns kernels, p *plan.Problem, q *plan.Plan) float64 {
	w, f := builtIn(kerns, p, q), factorsOf(kerns)
	// may fuse: an estimate
	return startCost + w.Products*f.Products + w.Operands*f.Operands + w.Results*f.Results
}

// builtIn returns the parts of work by the built-in figures.
func builtIn(kerns kernels, p *plan.Problem, q *plan.Plan) (w Parts) {
	c := kernelCosts[kerns.kernel.Name]
	count, extra := float64(q.Moduli), 0.0
	if kerns.checked {
		extra = 1
	}
	m, n := padded(p.M, kerns.panel(left)), padded(p.N, kerns.panel(right))
	plain, planes := 0.0, 0.0
	if kerns.bytes != nil {
		plain = math.Min(count, float64(kerns.pool().bytes.Plain))
		planes = count - plain
		products := float64(kerns.pool().products(q.Moduli))
		if kerns.checked {
			products += modgemm.KaratsubaProducts
		}
		// may fuse: an estimate
		sum := byteEntryCost + padded(p.K, modgemm.StepNumbers)*byteProductCost
		w.Products = m * n * products * sum
	} else {
		w.Products = m * n * padded(p.K, 2) * (count + extra) * c.product
	}
	count += extra
	operand := func(kept bool, vectors int, f num.Format, width int) {
		pairs := float64(digitPairs(width))
		// may fuse: an estimate
		number := plain * (byteResidueCost + bytePairCost*math.Min(pairs, bytePairsMost))
		// may fuse: an estimate
		number += planes * (planesCost + planesPairCost*pairs)
		// may fuse: an estimate
		number += (count - plain - planes) * (residueCost + 2*c.product*pairs)
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
		w.Operands += float64(vectors) * float64(p.K) * number // may fuse: an estimate
	}
	operand(p.Kept[0], p.M, p.A, q.WidthL)
	operand(p.Kept[1], p.N, p.B, q.WidthR)
	words, word := float64(q.WidthL+q.WidthR)/2/wordBits+1, 3*c.product
	if kerns.bytes != nil {
		word = byteWordCost
	}
	result := count*(finishCost+words*word) + roundOtherCost // may fuse: an estimate
	switch {
	case p.C.Kind == num.F64:
		result += roundFloatCost - roundOtherCost
	case p.C.Terms() > 1:
		result += roundDoubleCost * float64(p.C.Terms()) // may fuse: an estimate
	}
	w.Results = float64(p.M) * float64(p.N) * result
	return w
}

// padded returns n rounded up to a multiple of to.
func padded(n, to int) float64 { return float64((n + to - 1) / to * to) }
