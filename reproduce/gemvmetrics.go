package reproduce

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/rns"
)

// may fuse throughout: counts of bytes and lanes, none of them a result.

// The figures of table 4 about a kernel.
const (
	divergence = "divergence"
	bandwidth  = "bandwidth"
)

var metrics = [...]struct{ name, unit string }{{occupancy, "%"}, {divergence, "%"}, {bandwidth, "GB/s"}}

// warp is the number of lanes that take the same path at a time, paperDigitBlock the number of
// threads that compute digits in a block of the paper's GPU, by formula 8.
const (
	warp            = 32
	paperDigitBlock = 64
)

// addMetric records a figure of table 4.
func (r *Report) addMetric(d *gemvData, device, kernel string, i int, here float64) {
	k := d.record(tableMetrics, kernel, metrics[i].name, here)
	for _, p := range paperKernels {
		if p.name == kernel {
			k.Paper = known([]float64{p.occupancy, p.divergence, p.bandwidth}[i])
		}
	}
	k.Device, k.Unit, k.Moduli = device, metrics[i].unit, d.b.Len()
	r.add(k)
}

// addMetrics records table 4 for a run of algorithm 1 as published on the GPU.
func (e *experiment) addMetrics(r *Report, d *gemvData, run gemvRun) error {
	kernels, err := d.b.Kernels(halfulp.Device(e.Device))
	if err != nil {
		return err
	}
	if info := e.gpu.dev.Info(); info.Blocks > 0 {
		k := d.record(tableMinBS, "MaxThreads / MaxBlocks", minBlock, float64(info.Threads/info.Blocks))
		k.Device, k.Unit, k.Paper = e.gpu.title, "threads", known(paperMinBS)
		r.add(k)
	}
	// Bytes a number: residues; and with evaluation, sign and exponent. One kernel writes B and the
	// other reads it; their reads of d and y hardly count.
	n, size := float64(e.N), float64(4*d.b.Len())
	bytes := [2]float64{n*n*2*size + n*size, n*n*(size+40) + 2*n*(size+40)}
	for i, name := range []string{"digits", "row sums"} {
		for _, k := range kernels {
			if k.Name != name {
				continue
			}
			kernel := paperKernels[i].name
			r.addMetric(d, e.gpu.title, kernel, 0, 100*k.Occupancy)
			if i == 0 {
				r.addMetric(d, e.gpu.title, kernel, 1, 100*digitDivergence(e.N, d.b.Len(), k.Threads))
			} else {
				r.addMetric(d, e.gpu.title, kernel, 1, 100*d.sumDivergence(rns.DefaultBlockSize))
			}
			seconds := run.stages[paperStages[3+2*i].steps[0]].Time.Seconds()
			r.addMetric(d, e.gpu.title, kernel, 2, bytes[i]/1e9/max(seconds, 1e-9))
		}
	}
	return nil
}

// digitDivergence returns the share of idle lanes in warps of the kernel for the digits, for
// columns of so many numbers. Blocks work on as many numbers at a time as they have threads for n
// moduli, one lane for each residue. Lanes of a warp diverge only where a column ends within a
// warp.
func digitDivergence(rows, n, block int) float64 {
	active, slots := 0, 0
	for first := 0; first < rows; first += block / n {
		busy := min(block/n, rows-first) * n
		active += busy
		slots += (busy + warp - 1) / warp * warp
	}
	return 1 - float64(active)/float64(slots)
}

// divergedRows is the number of rows of B that sumDivergence follows.
const divergedRows = 32

// sumDivergence returns the share of idle lanes in the warps of blocks of so many threads, up to
// one warp, that sum rows of B one thread an addition. It follows the additions as a warp executes
// them: on each path that one of its lanes takes, lanes on another path or on none wait.
func (d *gemvData) sumDivergence(block int) float64 {
	rows, cols := d.ar.Dims()
	factors := make([]*rns.Number, cols)
	for j := range factors {
		factors[j] = d.b.NewNumber().Mul(d.al, d.xr.At(j))
	}
	w := warpSteps{}
	for i := range min(rows, divergedRows) {
		sums := make([]*rns.Number, block)
		for t := range sums {
			sums[t] = d.b.NewNumber()
		}
		for first := 0; first < cols; first += block {
			for t := range min(block, cols-first) {
				product := d.b.NewNumber().Mul(d.ar.At(i, first+t), factors[first+t])
				w.add(sums[t], product)
			}
			w.step()
		}
		for h := block / 2; h > 0; h /= 2 {
			for t := range h {
				w.add(sums[t], sums[t+h])
			}
			w.step()
		}
		w.add(sums[0], d.b.NewNumber().Mul(d.be, d.yr.At(i)))
		w.step()
	}
	return w.idle()
}

// The parts of an addition that some lanes of a warp execute and others do not, in the order of
// kernels/rns/algorithm1.cuh. Each consists of passes over the residues.
const (
	copied   = iota // the other addend is 0, or too small
	added           // or subtracted
	aligned         // times a power of two
	compared        // evaluations overlap: the residues give the sign
	negated
	evaluated
	rounded
	parts
)

// warpSteps counts the passes of the lanes of a warp.
type warpSteps struct {
	longest [parts]float64 // of the current step
	active  float64        // passes of lanes
	slots   float64        // lanes times passes of the warp
}

func (w *warpSteps) part(k int, passes float64) {
	w.longest[k] = max(w.longest[k], passes)
	w.active += passes
}

// step ends an addition of the warp.
func (w *warpSteps) step() {
	for k, n := range w.longest {
		w.slots += warp * n
		w.longest[k] = 0
	}
}

// idle is the share of lanes that waited.
func (w *warpSteps) idle() float64 {
	if w.slots == 0 {
		return 0
	}
	return 1 - w.active/w.slots
}

// alignLimit bounds evaluations that are scaled up, 15/16 (package rns, Bounds).
var alignLimit = rns.XFloat{F: 15.0 / 8, I: -1}

// wordBits is the approximate number of bits of the words that rounding processes one after the
// other.
const wordBits = 29

// add sets z = z + v as a lane does.
func (w *warpSteps) add(z, v *rns.Number) {
	switch {
	case v.IsZero():
		return
	case z.IsZero():
		w.part(copied, 1)
		z.Set(v)
		return
	}
	large, small := z, v
	if z.Exponent() < v.Exponent() {
		large, small = v, z
	}
	shift, exp := large.Exponent()-small.Exponent(), small.Exponent()
	ev, other := large.Evaluation(), small.Evaluation()
	if up := ev.Up.Scale(shift); shift > 0 && alignLimit.Cmp(up) < 0 {
		if large == v {
			w.part(copied, 1)
		}
		z.Add(z, v)
		return
	}
	w.part(added, 1)
	if shift > 0 {
		w.part(aligned, 1)
	}
	sign, minus := z.Sign(), z.Sign() != v.Sign()
	overlap := minus && ev.Up.Scale(shift).Cmp(other.Lo) >= 0 && other.Up.Cmp(ev.Lo.Scale(shift)) >= 0
	z.Add(z, v)
	if z.IsZero() {
		return
	}
	if overlap {
		w.part(compared, 1)
		w.part(evaluated, 1)
	}
	if minus && z.Sign() != sign {
		w.part(negated, 1)
	}
	if k := z.Exponent() - exp; k > 0 {
		// The fraction, the numerators, and two passes for every word.
		w.part(rounded, float64(2+2*((k+wordBits-1)/wordBits)))
	}
}
