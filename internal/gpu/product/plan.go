package product

import (
	"math"

	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/plan"
)

// Costs of the work, in ns on an H100. The figures steer choices between correctly rounded methods
// and cannot change a result. go test -bench Gemm measures the stages that they represent.
const (
	productCost  = 1.3e-6 // of a multiply-add of bytes
	residueCost  = 8e-4   // of a number's residue in one plane
	finishCost   = 1e-4   // of a word for each modulus, in an entry
	exactCost    = 1.5e-4
	exactPerTerm = 200
	exactLeast   = 300 // entries that take as long as one
)

// machine returns the model of a GPU for plans of products, with or without a redundant modulus.
func machine(checked bool) *plan.Machine {
	p, _ := baseKey{checked: checked}.pool()
	work := func(p *plan.Problem, q *plan.Plan) float64 { return work(p, q, checked) }
	return &plan.Machine{Bits: p.Bits, Work: work, Exact: exactPassCost, Slack: slack, Fits: digitsFit}
}

// problemOf returns the problem of the product of an m x k and a k x n matrix, of formats a and b,
// with results of format c.
func problemOf(m, n, k int, a, b, c num.Format) plan.Problem {
	p := plan.Problem{M: m, N: n, K: k, A: a, B: b, C: c}
	p.Left.Terms, p.Right.Terms = max(1, a.Terms()), max(1, b.Terms())
	return p
}

// know sets the results of the scan in p.
func know(p *plan.Problem, l, r abi.Totals, samples []abi.Sample) {
	p.Left.Norm, p.Left.Width = math.Log2(l.Norm), int(min(l.Width, math.MaxInt32))
	p.Right.Norm, p.Right.Width = math.Log2(r.Norm), int(min(r.Width, math.MaxInt32))
	p.Samples = make([]plan.Sample, len(samples))
	for i, s := range samples {
		p.Samples[i] = plan.Sample{Size: s.Size, NormL: math.Log2(s.NormL), NormR: math.Log2(s.NormR)}
		if s.Size <= abi.NoSize {
			p.Samples[i].Size = math.Inf(-1)
		}
	}
}

// stepsFor returns the number of steps of digits that hold integers |a| <= 2^width.
func stepsFor(width int) int { return (width + 2 + 8*abi.StepBytes - 1) / (8 * abi.StepBytes) }

// passes returns the number of passes of kernels/exact/residues.cu.
func passes(q *plan.Plan) int {
	return (stepsFor(max(q.WidthL, q.WidthR)) + abi.MaxSteps - 1) / abi.MaxSteps
}

// digitsFit reports whether the kernel supports the digits of the factors.
func digitsFit(p *plan.Problem, q *plan.Plan) bool {
	return passes(q) == 1 || max(p.Left.Terms, p.Right.Terms) == 1
}

// work returns the cost of a product without the exact pass.
func work(p *plan.Problem, q *plan.Plan, checked bool) float64 {
	m, n, k := float64(p.M), float64(p.N), float64(p.K)
	planes := float64(baseKey{q.Moduli, checked}.products())
	words := float64(q.WidthL+q.WidthR)/2/32 + 2 // may fuse: an estimate
	// may fuse: an estimate
	return planes*(m*n*k*productCost+(m+n)*k*residueCost*float64(passes(q))) + float64(q.Moduli)*words*m*n*finishCost
}

// exactPassCost returns the cost of the exact pass for a share of the entries. A few entries take
// as long as many.
func exactPassCost(p *plan.Problem, share float64) float64 {
	a, b := float64(words32(p.A)), float64(words32(p.B))
	entry := exactCost * float64(p.K) * (exactPerTerm + 4*a*b + 30*(a+b)) // may fuse: an estimate
	entries := share * float64(p.M) * float64(p.N)
	return entry * (entries + exactLeast*-math.Expm1(-entries)) // may fuse: an estimate
}

// slack returns log2 of the error of reconstruction, in units of the dropped words.
func slack(moduli int) float64 {
	return max(math.Log2(float64(moduli-min(moduli, pool().Plain))), 0) + 18
}

// cutWords returns the number of words that reconstruction drops.
func cutWords(q *plan.Plan) int { return q.Cut / 32 }
