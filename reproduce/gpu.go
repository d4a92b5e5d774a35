package reproduce

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/rns"
)

// gpuDevice is the GPU whose rows are shown with the CPU's.
type gpuDevice struct {
	dev   *cuda.Device
	title string // in records
}

// openGPU returns the GPU that o.Device names, nil for the CPU alone. Errors wrap
// halfulp.ErrDevice if there is no such GPU.
func (o *Options) openGPU() (*gpuDevice, error) {
	if !o.onAGPU() {
		return nil, nil
	}
	p, err := place.One(o.Device)
	if err != nil {
		return nil, err
	}
	dev := backend.Device(p)
	return &gpuDevice{dev, o.Device + ", " + dev.Info().Name}, nil
}

// onAGPU reports whether a GPU is requested.
func (o *Options) onAGPU() bool { return o.Device != "" && o.Device != cpuDevice }

// CheckDevice returns an error that wraps halfulp.ErrDevice unless name is valid for
// Options.Device.
func CheckDevice(name string) error {
	_, err := (&Options{Device: name}).openGPU()
	return err
}

// gpuTitle returns the name of the GPU in records, "" if there is none.
func (e *experiment) gpuTitle() string {
	if e.gpu == nil {
		return ""
	}
	return e.gpu.title
}

// wait returns when the GPU has done all it was given.
func (e *experiment) wait() error {
	return e.gpu.dev.Do(e.Context, func(s *cuda.Stream) error { return s.Synchronize() })
}

// errBits is the error for a result of a GPU that differs from the CPU's.
var errBits = errors.New("the GPU's result has other bits than the CPU's")

// fewNumbers is the number of addends of a first run on a GPU, for sums whose additions wait for
// each other. It shows how long all take. A sum that would take longer than longestChain is not
// run, but scaled.
const fewNumbers = 20000

var longestChain = 20 * time.Second

// gpuSum is a summation on a GPU.
type gpuSum struct {
	title string
	style int // of its curve
	most  int // numbers that it is run with first; 0: all
	sum   sumRoutine
	how   rns.Options // the blocks of Reduce3, the variant of others
}

// sumBlocks are the numbers of blocks for Reduce3; the paper's text names 256.
var sumBlocks = []int{32, rns.DefaultBlocks, 128, paperBlocks, 512}

const paperBlocks = 256

// blocksTitle is the name in figures 6 and 7 of Reduce3 with so many blocks.
func blocksTitle(blocks int) string { return fmt.Sprintf("Reduce3 (%d blocks)", blocks) }

// gpuSums returns the summations of 003 on GPUs, and the summation parallel over numbers and
// moduli. Reduce3 is included with several numbers of blocks and with the fastest blocks.
func gpuSums(fastest rns.Options) []gpuSum {
	list := []gpuSum{
		{reduce1S, 0, fewNumbers, rns.Reduce1, rns.Options{Variant: rns.OneThread}},
		{reduce1P, 1, fewNumbers, rns.Reduce1, rns.Options{Variant: rns.OverModuli}},
		{reduce2S, 2, fewNumbers, rns.Reduce2, rns.Options{Variant: rns.OneThread}},
		{reduce2P, 3, fewNumbers, rns.Reduce2, rns.Options{Variant: rns.OverModuli}},
		{"Reduce2 pairwise, over all", 4, 0, rns.Reduce2, rns.Options{Variant: rns.OverAll}},
	}
	for i, n := range sumBlocks {
		list = append(list, gpuSum{blocksTitle(n), 5 + i, 0, rns.Reduce3, rns.Options{Blocks: n, BlockSize: rns.DefaultBlockSize}})
	}
	return append(list, gpuSum{
		"Reduce3 hybrid" + tuned, 10, 0, rns.Reduce3, rns.Options{Blocks: fastest.Blocks, BlockSize: fastest.BlockSize},
	})
}

// The summations of the paper on GPUs whose additions wait for each other: by one thread, and by
// as many threads as there are moduli.
const (
	reduce1S = "Reduce1S recursive"
	reduce1P = "Reduce1P recursive"
	reduce2S = "Reduce2S pairwise"
	reduce2P = "Reduce2P pairwise"
)

// tuned is the suffix of the names of methods with the fastest blocks on a GPU.
const tuned = ", tuned"

// gpuSumTimes measures the sums of doubles on the GPU, with the doubles in its memory.
func (e *experiment) gpuSumTimes(r *Report, p int, x *halfulp.Vector) error {
	b, err := loops()[0].base(rns.SummationBase, p)
	if err != nil {
		return err
	}
	fastest, err := rns.TuneSum(b, x.Len(), e.onGPU())
	if err != nil {
		return err
	}
	all := b.VectorOf(x)
	for _, m := range gpuSums(fastest) {
		if err := e.next(); err != nil {
			return err
		}
		k := Record{
			Table: tableTimes, Method: m.title, Device: e.gpu.title, Bits: p, Moduli: b.Len(),
			Quantity: timeOfRun, Unit: "ms", Blocks: m.how.Blocks, BlockSize: m.how.BlockSize,
		}
		list, err := chainTimes(k, x.Len(), m.most, func(n int, enough time.Duration) (ms float64, runs int, err error) {
			return e.gpuSumTime(m, b, all.Slice(0, n), enough)
		})
		if err != nil {
			return fmt.Errorf("%s, %d bits: %w", m.title, p, err)
		}
		r.add(list...)
	}
	if p == rns.SummationPrecisions[len(rns.SummationPrecisions)-1] {
		if err := e.lengths(r, b, p, all); err != nil {
			return err
		}
	}
	return e.kernels(r, b, p, "sum", "tree", "pairs", "recursive, one thread", "recursive, a group", "pairwise, one thread", "pairwise, a group")
}

// chainTimes completes the record of a sum of n numbers. measure measures a number of addends until
// a time is enough. If one run with most numbers (0: all) shows that all would take too long, the
// time of all is extrapolated linearly from the times of most and of half as many. The record says
// so, and two more records have the measurements.
func chainTimes(k Record, n, most int, measure func(n int, enough time.Duration) (ms float64, runs int, err error)) ([]Record, error) {
	timed := func(n int, enough time.Duration) (Record, error) {
		one := k
		ms, runs, err := measure(n, enough)
		one.Here, one.Runs = &ms, runs
		return one, err
	}
	scaled := false
	if most > 0 && n > most {
		try, err := timed(most, 0)
		if err != nil {
			return nil, err
		}
		scaled = *try.Here*float64(n)/float64(most) > float64(longestChain)/float64(time.Millisecond)
	}
	if !scaled {
		all, err := timed(n, enough)
		return []Record{all}, err
	}
	few, err := timed(most, enough)
	if err != nil {
		return nil, err
	}
	half, err := timed(most/2, enough)
	if err != nil {
		return nil, err
	}
	slope := (*few.Here - *half.Here) / float64(most-most/2)
	k.Here = known(*few.Here + float64(slope*float64(n-most)))
	k.Case = fmt.Sprintf("scaled from %d and %d numbers", most/2, most)
	half.Case, few.Case = fmt.Sprintf("%d numbers", most/2), fmt.Sprintf("%d numbers", most)
	return []Record{k, half, few}, nil
}

// lengths measures Reduce3 with the paper's blocks for tenths and hundredths of the numbers.
func (e *experiment) lengths(r *Report, b *rns.Base, p int, all *rns.Vector) error {
	m := gpuSum{sum: rns.Reduce3, how: rns.Options{Blocks: paperBlocks, BlockSize: rns.DefaultBlockSize}}
	for _, n := range []int{all.Len() / 100, all.Len() / 10, all.Len()} {
		if n == 0 {
			continue
		}
		ms, runs, err := e.gpuSumTime(m, b, all.Slice(0, n), enough)
		if err != nil {
			return err
		}
		r.add(Record{
			Table: tableLengths, Method: blocksTitle(paperBlocks), Device: e.gpu.title, N: n, Bits: p, Moduli: b.Len(),
			Quantity: timeOfRun, Unit: "ms", Here: &ms, Runs: runs, Blocks: paperBlocks, BlockSize: rns.DefaultBlockSize,
		})
	}
	return nil
}

// gpuSumTime measures a sum and compares it with the CPU's.
func (e *experiment) gpuSumTime(m gpuSum, b *rns.Base, x *rns.Vector, enough time.Duration) (ms float64, runs int, err error) {
	d, err := x.On(halfulp.Device(e.Device))
	if err != nil {
		return 0, 0, err
	}
	defer d.Free()
	o := m.how
	o.Threads, o.Context = e.Threads, e.Context
	got, want := b.NewVector(1), b.NewVector(1)
	ms, runs, err = e.measureFor(enough, nil, func() error {
		z, err := m.sum(d, &o)
		if err == nil {
			got.Set(0, z)
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	z, err := m.sum(x, &o)
	if err != nil {
		return 0, 0, err
	}
	if want.Set(0, z); !got.Same(want) {
		return 0, 0, errBits
	}
	return ms, runs, nil
}

// onGPU returns options of package rns for the GPU.
func (e *experiment) onGPU() *rns.Options {
	return &rns.Options{Options: halfulp.Options{Device: halfulp.Device(e.Device), Context: e.Context}}
}

// gpuGemvTimes measures the products on the GPU with operands in its memory, and compares them with
// the CPU's results, which cpu has by name. Our product with the fastest blocks has a row of its
// own, measured in turn with the default.
func (e *experiment) gpuGemvTimes(r *Report, d *gemvData, cpu map[string]*rns.Vector) error {
	fastest, err := rns.TuneGemv(d.b, e.N, e.onGPU())
	if err != nil {
		return err
	}
	o, err := d.on(halfulp.Device(e.Device))
	if err != nil {
		return err
	}
	defer o.free()
	for _, m := range gemvs() {
		if err := e.next(); err != nil {
			return err
		}
		list := []gemvMethod{m}
		if strings.HasPrefix(m.name, fused) {
			list[0].how.BlockSize = rns.DefaultBlockSize
			if m.name, m.how.BlockSize = m.name+tuned, fastest.BlockSize; fastest.BlockSize != rns.DefaultBlockSize {
				list = append(list, m)
			}
		}
		runs, err := e.gemvRuns(d, o, list...)
		if err != nil {
			return err
		}
		for i, k := range runs {
			want := cpu[list[i].name]
			if want == nil {
				want = d.yr.Clone()
				how := e.rnsOptions()
				how.BlockSize = m.how.BlockSize
				if err := m.product(transpose(m.trans), d.al, d.ar, d.xr, d.be, want, how); err != nil {
					return err
				}
			}
			if !k.z.Same(want) {
				return fmt.Errorf("%s, %s, %d bits: %w", list[i].name, d.inputs, d.bits, errBits)
			}
			r.addGemv(d, list[i], e.gpu.title, k)
		}
		switch {
		case strings.HasSuffix(m.name, tuned) && len(list) == 1: // the default is the fastest
			r.addGemv(d, m, e.gpu.title, runs[0])
		case m.name == algorithm1 && d.stagesBelong():
			r.addStages(d, e.gpu.title, runs[0])
			if err := e.addMetrics(r, d, runs[0]); err != nil {
				return err
			}
		}
	}
	if d.inputs == quarter {
		return nil // the kernels are the same
	}
	return e.kernels(r, d.b, d.bits, "dot", "tree", "map", "signs, exponents, evaluations", "digits", "rounding", "row sums", "basic")
}

// exactGPU measures the exact engine with operands in the GPU's memory; want is the CPU's result.
func (e *experiment) exactGPU(r *Report, d *gemvData, name string, trans bool, want []*big.Float) error {
	dev := halfulp.Device(e.Device)
	a, err := d.a.On(dev)
	if err != nil {
		return err
	}
	defer a.Free()
	x, err := d.x.On(dev)
	if err != nil {
		return err
	}
	defer x.Free()
	y, err := d.y.On(dev)
	if err != nil {
		return err
	}
	defer y.Free()
	z, err := halfulp.NewVectorOn(dev, halfulp.MP(uint(d.bits)), e.N)
	if err != nil {
		return err
	}
	defer z.Free()
	opt := &halfulp.Options{Context: e.Context}
	product := func() error {
		return halfulp.GemvTo(transpose(trans), d.alpha, a, x, d.beta, y, z, opt)
	}
	if err := product(); err != nil { // the first one loads kernels
		return err
	}
	ms, runs, err := e.measure(nil, product)
	if err != nil {
		return err
	}
	got, err := z.Host()
	if err != nil {
		return err
	}
	for i, x := range want {
		if got.Big(i).Cmp(x) != 0 {
			return fmt.Errorf("%s, %s, %d bits: %w", name, d.inputs, d.bits, errBits)
		}
	}
	k := d.record(tableGemv, name, timeOfRun, ms)
	k.Device, k.Unit, k.Runs = e.gpu.title, "ms", runs
	r.add(k)
	return nil
}
