package residue

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halfulp/halfulp/internal/calibration"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// kernelCost is what the work of a kernel costs, in ns on one thread. The figures
// steer choices between correctly rounded ways and cannot change a result;
// halfulp tune measures them.
type kernelCost struct {
	product float64 // a multiply-add of residues
}

var kernelCosts = map[string]kernelCost{
	"avx512vnni": {0.0070},
	"avx512":     {0.0120},
	"avx2":       {0.0142},
	// Not measured, but derived: 53 instructions of NEON do what 32.7 of AVX2 do, 192 multiply-adds
	// (_asm of modgemm), and an instruction takes as long.
	"neon":    {0.0142 * 53 / 32.7},
	"generic": {0.75},
}

// What products of bytes cost on tiles, in ns on one thread: a multiply-add, an entry of the result
// each time that one is reduced; a byte of a number of an operand modulo a plain modulus, and that
// for every pair of its digits, up to about as many as vectors take; and so the three bytes modulo
// a Karatsuba modulus; a word of a result for each residue. BenchmarkResidues measures all but the
// first two and the last, BenchmarkProduct that: 190 ms of 46 words and 291 moduli, n = 1000.
const (
	byteProductCost = 0.0007
	byteEntryCost   = 1.0
	byteResidueCost = 0.08
	bytePairCost    = 0.022
	planesCost      = 0.3
	planesPairCost  = 0.008
	byteWordCost    = 0.014

	bytePairsMost = 8
)

// ByteCost returns what a multiply-add of bytes costs on tiles, in ns on one thread, in a product
// of n x n matrices.
func ByteCost(n int) float64 {
	size := padded(n, modgemm.PanelVectors)
	sum := byteEntryCost + padded(n, modgemm.StepNumbers)*byteProductCost // may fuse: an estimate
	return size * size * sum / (float64(n) * float64(n) * float64(n))
}

// KernelCost returns what a multiply-add of residues costs in a kernel, in ns on one thread.
func KernelCost(k *modgemm.Kernel) float64 { return kernelCosts[k.Name].product }

// Parts are figures for the parts of a product by residues: the products of small integers,
// operands before them and results after them.
type Parts struct {
	Products float64 `json:"products"`
	Operands float64 `json:"operands"`
	Results  float64 `json:"results"`
}

// Costs are what kernels cost on this machine, as multiples of the figures built in.
type Costs struct {
	CPU     string `json:"cpu"`    // the processor's name
	Kernels string `json:"kernel"` // as Stats calls them
	Parts
}

// costsFile is remembered; costsVersion changes with kernels and figures built in that make what
// was found worthless.
const (
	costsFile    = "costs.json"
	costsVersion = 1
)

// remember is what Remember found, or the file has.
var remember struct {
	once  sync.Once
	found atomic.Pointer[[]Costs]
}

// known returns what is remembered of all machines.
func known() []Costs {
	remember.once.Do(func() {
		found := calibration.Read[[]Costs](costsFile, costsVersion)
		remember.found.CompareAndSwap(nil, &found)
	})
	return *remember.found.Load()
}

// factorsOf returns the costs of kernels on this machine: those remembered, or 1.
func factorsOf(k kernels) Parts {
	name := k.name()
	for _, c := range known() {
		if c.Kernels == name && c.CPU == isa.Model() && c.plausible() {
			return c.Parts
		}
	}
	return Parts{1, 1, 1}
}

// plausible reports whether such costs may have been measured: a file may hold anything, and
// estimates are to be positive and finite.
func (p Parts) plausible() bool {
	const most = 1000
	return min(p.Products, p.Operands, p.Results) > 1./most && max(p.Products, p.Operands, p.Results) < most
}

// Remember lets plans rest on costs from now on, of this process and those after it. Those of other
// machines are kept, which may share the file and have come since this process read it.
func Remember(costs []Costs) error {
	list := slices.Clone(costs)
	for _, c := range append(calibration.Read[[]Costs](costsFile, costsVersion), known()...) {
		same := func(d Costs) bool { return d.CPU == c.CPU && d.Kernels == c.Kernels }
		if !slices.ContainsFunc(list, same) {
			list = append(list, c)
		}
	}
	remember.found.Store(&list)
	return calibration.Write(costsFile, costsVersion, list)
}

// The products that MeasureCosts runs, each so many times; the first warms up.
const (
	measureOrder = 384
	measureRuns  = 4
)

// MeasureCosts measures the kernels of the level in force, on one thread: means of some precisions
// of the medians of products of matrices that random returns.
func MeasureCosts(ctx context.Context, random func(f num.Format, n int) num.Mat) ([]Costs, error) {
	var list []Costs
	for _, k := range inForce(false) {
		var logs Parts
		precisions := []uint32{53, 106, 424}
		for _, prec := range precisions {
			f := num.Format{Kind: num.MP, Prec: prec}
			if prec == 53 {
				f = num.Float64
			}
			a, b := random(f, measureOrder), random(f, measureOrder)
			c := num.Mat{Arr: num.New(f, measureOrder*measureOrder), RS: 1, CS: measureOrder, Rows: measureOrder, Cols: measureOrder}
			var runs [3][]float64
			var estimate Parts
			for range measureRuns {
				q, err := planAmong([]kernels{k}, Config{Run: par.Run{Ctx: ctx, Threads: 1, Memory: math.MaxInt64}}, one, a, b, num.Real{}, c, c, nil, nil)
				if err != nil {
					return nil, err
				}
				estimate = builtIn(k, &q.p.problem, &q.p.plan.Plan)
				stats, err := q.Run()
				if err != nil {
					return nil, err
				}
				for i, stages := range [3][]string{{"products"}, {"plan", "residues"}, {"rounding"}} {
					var sum time.Duration
					for _, s := range stats.Stages {
						if slices.Contains(stages, s.Name) {
							sum += s.Time
						}
					}
					runs[i] = append(runs[i], float64(sum.Nanoseconds()))
				}
			}
			ratio := func(i int, estimate float64) float64 {
				slices.Sort(runs[i][1:])
				return math.Log(runs[i][1+(measureRuns-1)/2]/estimate) / float64(len(precisions))
			}
			logs.Products += ratio(0, estimate.Products)
			logs.Operands += ratio(1, estimate.Operands)
			logs.Results += ratio(2, estimate.Results)
		}
		list = append(list, Costs{isa.Model(), k.name(), Parts{math.Exp(logs.Products), math.Exp(logs.Operands), math.Exp(logs.Results)}})
	}
	return list, nil
}
