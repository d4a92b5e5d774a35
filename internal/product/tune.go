package product

import (
	"context"
	"math/rand/v2"
	"sort"
	"time"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Tuning is the result of Tune: the constants of internal/residue/cost.go with their values on this
// machine, and the orders at which one method becomes faster than the other.
type Tuning struct {
	Kernels []KernelTuning  `json:"kernels"`
	Costs   []residue.Costs `json:"costs"` // of whole products, as multiples of the built-in costs
	Exact   []EntryTuning   `json:"exact"`
}

// KernelTuning is the cost of a multiply-add of residues, or of bytes on tiles, in ns on one
// thread.
type KernelTuning struct {
	Name     string  `json:"name"`
	Measured float64 `json:"measured_ns"`
	BuiltIn  float64 `json:"built_in_ns"`
}

// entryProducts is the number of products of the entries that Tune measures.
const entryProducts = 100

// EntryTuning is the cost, in ns on one thread, of a multiply-add of Bits-bit numbers into an exact
// accumulator, and the least n for which an n x n product modulo small moduli is faster than the
// direct method (0 if none was found).
type EntryTuning struct {
	Bits      int     `json:"bits"`
	Measured  float64 `json:"measured_ns"`
	BuiltIn   float64 `json:"built_in_ns"`
	Crossover int     `json:"crossover_n"`
}

// Remember makes plans of products use the measured costs, in this process and in later ones.
func (t Tuning) Remember() error { return residue.Remember(t.Costs) }

// Tune measures the constants that choose between methods. progress, if not nil, is called with the
// fraction done.
func Tune(ctx context.Context, progress func(float64)) (Tuning, error) {
	var t Tuning
	kernels, bytes := modgemm.Kernels(), modgemm.BestBytes()
	precisions := []int{53, 106, 212, 424, 848, 1696}
	steps, done := len(kernels)+len(precisions)+1, 0
	step := func() error {
		done++
		if progress != nil {
			progress(float64(done) / float64(steps))
		}
		return ctx.Err()
	}
	if bytes != nil {
		t.Kernels = append(t.Kernels, KernelTuning{bytes.Name, byteSpeed(bytes), residue.ByteCost(tuneOrder)})
	}
	for _, k := range kernels {
		t.Kernels = append(t.Kernels, KernelTuning{k.Name, kernelSpeed(k), residue.KernelCost(k)})
		if err := step(); err != nil {
			return t, err
		}
	}
	var err error
	if t.Costs, err = residue.MeasureCosts(ctx, tuneMat); err != nil {
		return t, err
	}
	if err := step(); err != nil {
		return t, err
	}
	for _, p := range precisions {
		f := num.Format{Kind: num.MP, Prec: uint32(p)}
		if p == 53 {
			f = num.Float64
		}
		e := EntryTuning{Bits: p, Measured: entrySpeed(f), BuiltIn: direct.EntryCost(entryProducts, f, f) / entryProducts}
		for _, n := range []int{2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64} {
			if methodTime(ctx, f, n, Residue) < methodTime(ctx, f, n, Direct) {
				e.Crossover = n
				break
			}
		}
		t.Exact = append(t.Exact, e)
		if err := step(); err != nil {
			return t, err
		}
	}
	return t, nil
}

// medianTime returns the median time of five calls of f.
func medianTime(f func()) time.Duration {
	f()
	d := make([]time.Duration, 5)
	for i := range d {
		start := time.Now()
		f()
		d[i] = time.Since(start)
	}
	sort.Slice(d, func(i, j int) bool { return d[i] < d[j] })
	return d[len(d)/2]
}

// tuneOrder is the order of the products that measure kernels.
const tuneOrder = 480

func byteSpeed(k *modgemm.ByteKernel) float64 {
	const n = tuneOrder
	panels, steps := modgemm.BytePanels(n), modgemm.ByteSteps(n)
	operand := func() []int8 {
		size := panels * modgemm.PanelBytes(steps)
		return modgemm.AlignedBytes(make([]int8, size+63), size)
	}
	a, b := operand(), operand()
	ldc := panels * modgemm.PanelVectors
	c := make([]int16, ldc*ldc)
	m := modgemm.NewByteModulus(modgemm.ByteModuli().Moduli[0])
	d := medianTime(func() { modgemm.MulBytes(k, c, ldc, a, 0, b, 0, panels, panels, steps, 0, steps, &m, false) })
	return float64(d.Nanoseconds()) / (n * n * n)
}

func kernelSpeed(k *modgemm.Kernel) float64 {
	n := tuneOrder
	if k.Name == "generic" {
		n = 96
	}
	rng := rand.New(rand.NewPCG(1, 1))
	src := make([]int16, n*n)
	for i := range src {
		src[i] = int16(rng.IntN(8191) - 4095)
	}
	a, b := make([]int16, modgemm.LeftLen(k, n, n)), make([]int16, modgemm.RightLen(k, n, n))
	modgemm.PackLeft(k, a, src, n, n, n)
	modgemm.PackRight(k, b, src, n, n, n)
	mp, np := modgemm.LeftPanels(k, n), modgemm.RightPanels(k, n)
	c := make([]int16, mp*k.MR*np*k.NR)
	m := modgemm.NewModulus(8191)
	d := medianTime(func() { modgemm.Mul(k, c, np*k.NR, a, b, mp, np, n/2, 0, n/2, m) })
	return float64(d.Nanoseconds()) / float64(n*n*n)
}

// tuneMat returns n x n random numbers with full significands.
func tuneMat(f num.Format, n int) num.Mat {
	rng := rand.New(rand.NewPCG(2, uint64(n)))
	m := num.Mat{Arr: num.New(f, n*n), RS: 1, CS: n, Rows: n, Cols: n}
	mag := make([]uint64, (f.Bits()+63)/64)
	for i := range n * n {
		for k := range mag {
			mag[k] = rng.Uint64()
		}
		m.Arr.Set(i, num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: mag, Exp: int64(-64 * len(mag))})
	}
	return m
}

var one = num.Real{Class: num.Finite, Mag: []uint64{1}}

func entrySpeed(f num.Format) float64 {
	const n = entryProducts
	m := tuneMat(f, n)
	var acc superacc.Acc
	d := medianTime(func() {
		for i := range n {
			acc.Entry(f, one, m.Row(i), m.Col(i), num.Real{}, num.Real{})
		}
	})
	return float64(d.Nanoseconds()) / (n * n)
}

func methodTime(ctx context.Context, f num.Format, n int, method string) time.Duration {
	a, b := tuneMat(f, n), tuneMat(f, n).T()
	c := num.Mat{Arr: num.New(f, n*n), RS: 1, CS: n, Rows: n, Cols: n}
	cfg := Config{Run: par.Run{Ctx: ctx, Threads: 1, Memory: 1 << 30}, Method: method}
	return medianTime(func() { _, _ = Run(cfg, Problem{Alpha: one, A: a, B: b, Old: c, C: c}) })
}
