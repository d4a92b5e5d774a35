package reproduce

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/ozaki"
	"github.com/halfulp/halfulp/rns"
)

// A plan has an experiment's steps in their order, each with an estimate of its time: its time on
// two threads of a Xeon with AVX-512 at 2.1 GHz, times the ratio of a probe's times on this machine
// and on that one. "go test -run '^$' -bench Estimates ." in folder reproduce prints the times of
// the steps beside their estimates. Estimates only move a progress bar: a factor of 2 does not
// matter.
type plan struct {
	probe probe
	steps func(*planner)
}

// probe is a small piece of an experiment's work, and its time on the machine of the estimates.
type probe struct {
	ms   float64
	make func(*Options) (func() error, error)
}

// planner adds steps to a plan.
type planner struct {
	list   []plannedStep
	factor float64 // by which this machine is slower than the machine of the estimates
	gpu    bool
}

// probing is how long probes run.
const probing = 250 * time.Millisecond

// measure returns by how much this machine is slower than the machine of the estimates. It takes
// the geometric mean of the fastest run and the median: other work on the machine, which may end
// soon, stops some runs for longer than they last.
func (p *probe) measure(o *Options) (float64, error) {
	if p.make == nil {
		return 1, nil
	}
	run, err := p.make(o)
	if err != nil {
		return 0, err
	}
	if err := run(); err != nil { // fills caches
		return 0, err
	}
	var times []time.Duration
	for sum := time.Duration(0); len(times) < 3 || sum < probing; {
		start := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		d := time.Since(start)
		times = append(times, d)
		sum += d
	}
	slices.Sort(times)
	ms := math.Sqrt(times[0].Seconds()*times[len(times)/2].Seconds()) * 1000
	return min(max(ms/p.ms, 0.02), 50), nil
}

// planned returns the steps of an experiment on this machine.
func (o Options) planned(p plan) ([]plannedStep, error) {
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	factor, err := p.probe.measure(&o)
	if err != nil {
		return nil, err
	}
	l := &planner{factor: factor, gpu: o.onAGPU()}
	if p.steps != nil {
		p.steps(l)
	}
	return l.list, nil
}

// step adds a step of so many ms on the machine of the estimates.
func (p *planner) step(kind string, ms float64) {
	p.add(kind, ms*p.factor)
}

// fixed adds a step that takes the same time on any machine.
func (p *planner) fixed(kind string, ms float64) { p.add(kind, ms) }

func (p *planner) fixedSteps(n int, kind string, ms float64) {
	for range n {
		p.fixed(kind, ms)
	}
}

func (p *planner) add(kind string, ms float64) {
	p.list = append(p.list, plannedStep{kind, time.Duration(ms * float64(time.Millisecond))})
}

// measured adds a step that measures runs of run ms, and does more ms of other work.
func (p *planner) measured(kind string, run, more float64) {
	p.measuredFor(kind, enough, run, more)
}

func (p *planner) measuredFor(kind string, enough time.Duration, run, more float64) {
	t := measuring(enough, time.Duration(run*p.factor*float64(time.Millisecond)))
	p.add(kind, float64(t.Seconds()*1000)+float64(more*p.factor))
}

// sumPlan is the plan of Sum.
func sumPlan(n int) plan {
	const numbers = 20000
	return plan{
		probe{1.6, func(o *Options) (func() error, error) {
			b, err := loops()[0].base(rns.SummationBase, 240)
			if err != nil {
				return nil, err
			}
			x := b.VectorOf(halfulp.NewVectorFloat64(numbers, 1, uniform(numbers)))
			e := &experiment{Options: *o}
			return func() error {
				_, err := rns.Reduce1(x, e.rnsOptions())
				return err
			}, nil
		}},
		func(p *planner) {
			for _, set := range []float64{0.004, 1, 0.0001} { // millions of terms
				p.step("set of numbers", 3*set)
				for _, ms := range []float64{850, 750, 420, 450} {
					p.step("set of numbers", ms*set)
				}
			}
			m := float64(n) / SumN
			p.measured("float64", 1*m, 20*m)
			for i := range rns.SummationPrecisions {
				for _, l := range loops() {
					if l.name != "scalar" && i == 0 {
						continue // it is the scalar one
					}
					// ms for a million numbers by precision: conversion, then the sums.
					for _, ms := range [][5]float64{
						{80, 60, 70, 130, 220}, {210, 250, 120, 140, 180}, {230, 170, 180, 190, 220}, {140, 90, 90, 90, 120},
					} {
						p.measured("sums", ms[i]*m, 0)
					}
				}
				if p.gpu {
					// ms for a million numbers on an H100: 1S, 1P, 2S and 2P.
					chains := [][5]float64{
						{1670, 1590, 2100, 3540, 6320}, {1350, 1290, 700, 700, 790}, {1680, 780, 2620, 4240, 8000}, {1350, 720, 730, 720, 760},
					}
					for k, sum := range gpuSums(rns.Options{}) {
						run := 1.0
						if sum.most > 0 {
							run = chains[k][i] * m
						}
						p.fixed("sums on the GPU", measuring(enough, time.Duration(run*float64(time.Millisecond))).Seconds()*1000)
						// The same on the CPU.
						p.list[len(p.list)-1].estimate += time.Duration(150 * m * p.factor * float64(time.Millisecond))
					}
				}
				p.measured("exact sums", []float64{0.6, 0.6, 7, 7, 8}[i]*m, 0)
			}
		},
	}
}

// gemvPlan is the plan of Gemv.
func gemvPlan(n int) plan {
	const order, bits = 100, 424
	return plan{
		probe{7.5, func(o *Options) (func() error, error) {
			b, err := loops()[0].base(rns.GemvBase, bits)
			if err != nil {
				return nil, err
			}
			f := halfulp.MP(bits)
			a, x := b.MatrixOf(gallery.Random(f, order, order, 0, 1)), b.VectorOf(gallery.Random(f, order, 1, 0, 2).Col(0))
			one, y := b.NewNumber().SetInt64(1), b.NewVector(order)
			e := &experiment{Options: *o}
			return func() error {
				return rns.Gemv(halfulp.NoTrans, one, a, x, one, y, e.rnsOptions())
			}, nil
		}},
		func(p *planner) {
			m := float64(n) * float64(n) / (GemvN * GemvN)
			for in, inputs := range []string{quarter, whole} {
				// ms for order 1000 by precision.
				data := [][5]float64{{800, 600, 850, 1300, 2000}, {900, 1000, 1250, 2500, 4200}}[in]
				exact := [][5]float64{{10, 10, 15, 43, 140}, {12, 15, 20, 80, 150}}[in]
				product := [][5]float64{{180, 170, 200, 240, 350}, {500, 620, 750, 1400, 2200}}[in]
				for i := range rns.GemvPrecisions {
					p.step("data", data[i]*m)
					for range 2 {
						p.measured("exact products", exact[i]*m, exact[i]*m)
						if p.gpu {
							p.fixed("exact products on the GPU", 20+float64([]float64{40, 60, 90, 150, 250}[i]*m))
						}
					}
					for _, k := range gemvs() {
						run := product[i]
						if k.name == algorithm1 || k.name == algorithm1+transposed {
							run *= []float64{2.2, 1.1}[in] // B is stored
						}
						p.measured("products, "+inputs, run*m, 60*m)
					}
					if p.gpu {
						for range gemvs() {
							p.fixed("products on the GPU", 60+float64([]float64{100, 150, 250, 500, 1000}[i]*m))
						}
					}
				}
			}
		},
	}
}

// ozakiPlan is the plan of Ozaki.
func ozakiPlan(sizes []int, seeds int, phis []float64) plan {
	const order = 256
	return plan{
		probe{5.5, func(o *Options) (func() error, error) {
			a, c := gallery.Random(halfulp.Float64, order, order, 0, 1), halfulp.NewMatrix(halfulp.Float64, order, order)
			e := &experiment{Options: *o}
			return func() error {
				return ozaki.Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, a, a, 0, c, e.ozakiOptions(ozaki.Scaled, 4, nil))
			}, nil
		}},
		func(p *planner) {
			for _, n := range timeSizes(sizes) {
				m := float64(n) / 1024
				m2, m3 := m*m, m*m*m
				errors := slices.Contains(sizes, n)
				// ms of products of order 1024, and of the examination of their errors.
				var runs []float64
				for _, k := range ozakiMethods() {
					run := 200.0
					if k.slices > 0 {
						run = 30 + float64(33*float64(k.slices))
					}
					runs = append(runs, float64(run*m3)+float64(10*m2))
				}
				more := 0.5 + float64(25*m2)
				for i := range sorted(phis) {
					for seed := 1; seed <= seeds; seed++ {
						timed := i == 0 && seed == 1
						if !errors && !timed {
							continue
						}
						p.ozakiStep("numbers", 0.3+float64(80*m2), 1+float64(20*m2))
						for _, run := range runs {
							switch {
							case !timed:
							case p.gpu:
								p.fixed("times", 5+float64(30*m2))
							default:
								p.measured("times", run, 0)
							}
						}
						if !errors {
							continue
						}
						p.ozakiStep("exact products", float64(60*m2)+float64(300*m3), 2+float64(20*m2))
						for _, run := range runs {
							p.ozakiStep(fmt.Sprintf("products, n = %d", n), run+more, 1+float64(20*m2))
						}
					}
				}
				if errors {
					p.ozakiStep("first slices", float64(100*m2)+float64(400*m3), 2+float64(60*m2))
				}
			}
		},
	}
}

// ozakiStep adds a step that takes so many ms on the CPU, and others on a GPU.
func (p *planner) ozakiStep(kind string, cpu, gpu float64) {
	if p.gpu {
		p.fixed(kind, gpu)
	} else {
		p.step(kind, cpu)
	}
}

// qdPlan is the plan of QD for systems of those orders on the CPU and the GPU.
func qdPlan(cpuN, gpuN int) plan {
	const order = 128
	return plan{
		probe{10, func(o *Options) (func() error, error) {
			a, b, c := qdMatrix(halfulp.QD, order, order, 1), qdMatrix(halfulp.QD, order, order, 2), halfulp.NewMatrix(halfulp.QD, order, order)
			one, zero := halfulp.Float(1), halfulp.Float(0)
			return func() error {
				return expansion.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c, &halfulp.Options{Device: cpuDevice, Threads: o.Threads})
			}, nil
		}},
		func(p *planner) {
			p.step("accuracy", 1200)
			m := float64(qdLong) / (1 << 21)
			for _, f := range qdKinds {
				// ms to make two vectors, and for an operation or a function on them.
				terms := float64(f.format.Bits() / 53)
				for _, op := range qdOperations {
					if !f.has(op) {
						continue
					}
					if !op.isFunction() {
						p.fixed("operations in cache", float64(qdEnough.Milliseconds()))
					}
					if op.name == "-" {
						continue
					}
					p.fixed("operations in cache", float64(qdEnough.Milliseconds()))
					run := 5 * terms * m
					if op.isFunction() {
						run = 6 * terms * terms * m
					}
					switch {
					case f.method == qdExact:
						run *= 150
					case f.method == expansion.Published && op.isFunction():
						run *= 25
					case f.method == expansion.Published:
						run *= 8
					}
					p.measuredFor("operations in memory", qdEnough, run, 45*terms*m)
				}
			}
			k := float64(cpuN) / QDCPUN
			k2, k3 := k*k, k*k*k
			for i := range qdFormats {
				terms := float64(i + 1)
				p.measuredFor("products", qdEnough, 20*terms*terms*k3, float64(20*terms*k2)+float64(10*terms*terms*k3))
				if i == 0 {
					p.measuredFor("systems", qdEnough, 60*k3, 20*k2)
				} else {
					// Four of them.
					p.step("systems", float64(3000*k2)+float64(500*terms*terms*k3))
				}
			}
			if !p.gpu {
				return
			}
			k = float64(gpuN) / QDN
			for _, f := range qdKinds {
				for _, op := range qdOperations {
					switch {
					case op.name == "-" || !f.has(op):
					case f.method == qdExact:
						p.fixed("operations on the GPU", 120)
					case op.isFunction():
						p.fixedSteps(3, "operations on the GPU", 120)
					default:
						p.fixedSteps(4, "operations on the GPU", 120)
					}
				}
			}
			for i, f := range qdFormats {
				if f.format != halfulp.Float64 {
					p.fixed("systems on the GPU", 600*k*k*k)
				}
				p.fixed("products on the GPU", 100+float64(500*float64(i+1)*k*k))
				p.fixedSteps(2, "block schemes on the GPU", 100+float64(600*float64(i+1)*k*k*k))
			}
		},
	}
}
