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

// kernelCost is the cost of the work of a kernel, in ns on one thread. The figures steer choices
// between correctly rounded methods and cannot change a result; halfulp tune measures them.
type kernelCost struct {
	product float64 // of a multiply-add of residues
}

var kernelCosts = map[string]kernelCost{
	"avx512vnni": {0.0070},
	"avx512":     {0.0120},
	"avx2":       {0.0142},
	// Not measured but derived: 53 NEON instructions do the work of 32.7 AVX2 instructions, 192
	// multiply-adds (_asm of modgemm), and an instruction takes as long.
	"neon":    {0.0142 * 53 / 32.7},
	"generic": {0.75},
}

// Costs of products of bytes on tiles, in ns on one thread: of a multiply-add; of an entry of the
// result, each time that it is reduced; of a byte of a number of an operand modulo a plain modulus,
// plus a cost for every pair of its digits, up to about as many pairs as vector instructions
// handle; of the three bytes modulo a Karatsuba modulus, likewise; of a word of a result for each
// residue. BenchmarkResidues measures all but the first two and the last, BenchmarkProduct the
// last: 190 ms for 46 words and 291 moduli, n = 1000.
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

// ByteCost returns the cost of a multiply-add of bytes on tiles, in ns on one thread, in a product
// of n x n matrices.
func ByteCost(n int) float64 {
	size := padded(n, modgemm.PanelVectors)
	sum := byteEntryCost + padded(n, modgemm.StepNumbers)*byteProductCost // may fuse: an estimate
	return size * size * sum / (float64(n) * float64(n) * float64(n))
}

// quickProduct bounds the cost of a multiply-add of residues, in ns on one thread, and quickOrder
// and quickTiles are the least orders, for Quick.
const (
	quickProduct = 0.015
	quickOrder   = 512
	quickTiles   = 256
)

// Quick reports whether a correctly rounded product of float64 matrices of order n takes less time
// than five products in float64 arithmetic.
func Quick(n int) bool {
	switch {
	case modgemm.BytesForced():
		return true
	case modgemm.BestBytes() != nil:
		return n >= quickTiles
	}
	return n >= quickOrder && kernelCosts[modgemm.Best().Name].product < quickProduct
}

// KernelCost returns the cost of a multiply-add of residues in a kernel, in ns on one thread.
func KernelCost(k *modgemm.Kernel) float64 { return kernelCosts[k.Name].product }

// Parts are figures for the parts of a product by residues: the products of small integers, the
// operands before them and the results after them.
type Parts struct {
	Products float64 `json:"products"`
	Operands float64 `json:"operands"`
	Results  float64 `json:"results"`
}

// Costs are the costs of kernels on this machine, as multiples of the built-in figures.
type Costs struct {
	CPU     string `json:"cpu"`    // name of the processor
	Kernels string `json:"kernel"` // as in Stats.Kernel
	Parts
}

// costsFile is the calibration file. costsVersion changes with kernels and built-in figures that
// invalidate earlier measurements.
const (
	costsFile    = "costs.json"
	costsVersion = 1
)

// remember holds the costs of Remember, or of the file.
var remember struct {
	once  sync.Once
	found atomic.Pointer[[]Costs]
}

// known returns the remembered costs of all machines.
func known() []Costs {
	remember.once.Do(func() {
		found := calibration.Read[[]Costs](costsFile, costsVersion)
		remember.found.CompareAndSwap(nil, &found)
	})
	return *remember.found.Load()
}

// factorsOf returns the cost factors of kernels on this machine: the remembered ones, or 1.
func factorsOf(k kernels) Parts {
	name := k.name()
	for _, c := range known() {
		if c.Kernels == name && c.CPU == isa.Model() && c.plausible() {
			return c.Parts
		}
	}
	return Parts{1, 1, 1}
}

// plausible reports whether such costs may have been measured: a file may contain anything, and
// estimates must be positive and finite.
func (p Parts) plausible() bool {
	const most = 1000
	return min(p.Products, p.Operands, p.Results) > 1./most && max(p.Products, p.Operands, p.Results) < most
}

// Remember makes plans use the given costs from now on, in this process and in later ones. Costs of
// other machines are kept: these may share the file and may have written to it since this process
// read it.
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

// The order of the products that MeasureCosts runs, and how often it runs each; the first run is a
// warm-up.
const (
	measureOrder = 384
	measureRuns  = 4
)

// MeasureCosts measures the kernels of the level in force, on one thread. The costs are means over
// some precisions of the medians over products of matrices that random returns.
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
