package reproduce

import (
	"fmt"
	"slices"

	"github.com/halfulp/halfulp/rns"
)

// gemvTexts makes the tables for readers.
func (r *Report) gemvTexts() {
	bits := rns.GemvPrecisions
	times := textTable{
		title:  fmt.Sprintf("Table 5: ms for y = α A x + β y, M = N = %d, numbers uniform in [-1, 1]; here the fastest of 1 to %d runs (paper: M = N = 1000)", r.N, maxRuns),
		header: []string{"method", "inputs", "device", "residues"},
	}
	for _, p := range bits {
		times.header = append(times.header, fmt.Sprintf("%d bits", p))
	}
	at := map[[4]string]int{}
	for _, k := range r.find(tableGemv) {
		key := [4]string{k.Method, k.Case, k.Device, k.Residues}
		i, ok := at[key]
		if !ok {
			i = len(times.rows)
			at[key] = i
			times.rows = append(times.rows, append(key[:], make([]string, len(bits))...))
		}
		for j, p := range bits {
			if p != k.Bits {
				continue
			}
			if times.rows[i][len(key)+j] = k.time(); k.Here == nil {
				times.rows[i][len(key)+j] = short(k.Paper)
			}
		}
	}
	r.text = append([]textTable{times, r.stagesText()}, r.metricsText()...)
	r.text = append(append(r.text, r.boundsText()), r.kernelText(bits)...)
}

// stagesText is table 3.
func (r *Report) stagesText() textTable {
	t := textTable{
		title:  fmt.Sprintf("Table 3: the kernels of algorithm 1 as published at %d bits, %s: ms, and %% of their sum", stageBits, quarter),
		header: []string{"kernel of the paper"},
	}
	devices := r.devicesOf(tableStages)
	for _, d := range devices {
		t.header = append(t.header, d+", ms", "%")
	}
	t.header = append(t.header, paperGPU+", %")
	for _, s := range paperStages {
		row := []string{s.kernel}
		for _, d := range devices {
			for _, quantity := range []string{timeOfRun, share} {
				row = append(row, short(r.gemvValue(tableStages, s.kernel, d, quantity)))
			}
		}
		t.rows = append(t.rows, append(row, short(&s.percent)))
	}
	return t
}

// devicesOf lists the devices on which the figures of a table were measured here.
func (r *Report) devicesOf(table string) []string {
	var list []string
	for _, k := range r.find(table) {
		if !slices.Contains(list, k.Device) {
			list = append(list, k.Device)
		}
	}
	return list
}

// gemvValue returns a figure of a table with only one figure of the kind, nil if there is none.
func (r *Report) gemvValue(table, method, device, quantity string) *float64 {
	for _, k := range r.find(table) {
		if k.Method == method && k.Device == device && k.Quantity == quantity {
			return k.Here
		}
	}
	return nil
}

// metricsText is table 4.
func (r *Report) metricsText() []textTable {
	t := textTable{
		title:  fmt.Sprintf("Table 4: what the two most expensive kernels make of the machine at %d bits, %s: here, and on the %s", stageBits, quarter, paperGPU),
		header: []string{"kernel", "device", "occupancy, %", "paper", "divergence, %", "paper", "bandwidth, GB/s", "paper"},
	}
	for _, k := range paperKernels {
		for _, d := range r.devicesOf(tableMetrics) {
			row := []string{k.name, d}
			for i, paper := range []float64{k.occupancy, k.divergence, k.bandwidth} {
				row = append(row, short(r.gemvValue(tableMetrics, k.name, d, metrics[i].name)), short(&paper))
			}
			t.rows = append(t.rows, row)
		}
	}
	return []textTable{t}
}

// boundsText is formula 19.
func (r *Report) boundsText() textTable {
	bits := rns.GemvPrecisions
	t := textTable{
		title:  "Formula (19): ‖y* - ŷ‖ / ‖y*‖ in the 1-norm, measured / bound (none for the correctly rounded product)",
		header: []string{"method", "inputs"},
	}
	for _, p := range bits {
		t.header = append(t.header, fmt.Sprintf("%d bits", p))
	}
	at := map[[2]string]int{}
	for _, k := range r.find(tableBounds) {
		key := [2]string{k.Method, k.Case}
		i, ok := at[key]
		if !ok {
			i = len(t.rows)
			at[key] = i
			t.rows = append(t.rows, append(key[:], make([]string, len(bits))...))
		}
		if k.HereText == "" {
			continue
		}
		cell := &t.rows[i][len(key)+slices.Index(bits, k.Bits)]
		if *cell != "" {
			*cell += " / "
		}
		*cell += k.HereText
	}
	return t
}

// gemvStyles are the methods of the curves, each with its style; the peers have the other styles.
var gemvStyles = []string{
	algorithm1, algorithm1 + transposed, basic, exactGemv, exactGemv + transposed, fused, "CUMP", "CAMPARY", "GARPREC", fused + transposed, fused + tuned,
}

// gemvPlots makes a panel for the inputs on each device, and one for the paper's figures.
func (r *Report) gemvPlots() {
	f := figure{name: r.Name, yLabel: "ms", title: "y = α A x + β y"}
	records := r.find(tableGemv)
	lines := func(inputs, device string, paper bool) []line {
		var list []line
		for style, method := range gemvStyles {
			list = append(list, curve(method, style, records, paper, func(k Record) bool {
				return k.Method == method && k.Case == inputs && k.Device == device
			}))
		}
		return list
	}
	for _, device := range []string{cpuDevice, r.GPU} {
		if device == "" {
			continue
		}
		for _, inputs := range []string{quarter, whole} {
			title := fmt.Sprintf("%s, M = N = %d, %s", deviceTitle(device), r.N, inputs)
			f.panels = append(f.panels, panel{title, lines(inputs, device, false)})
		}
	}
	f.panels = append(f.panels, panel{paperGPU + fmt.Sprintf(", M = N = %d", GemvN), lines("", paperGPU, true)})
	r.plots = []figure{f, r.stagesPlot()}
}

// deviceTitle is the name of a device in titles.
func deviceTitle(device string) string {
	if device == cpuDevice {
		return "CPU"
	}
	return device
}

// stagesPlot draws table 3.
func (r *Report) stagesPlot() figure {
	f := figure{
		name: r.Name + "-stages", kind: stacked, xNames: []string{""}, xLabel: "algorithm 1", yLabel: "% of the time",
		title: fmt.Sprintf("Kernels of algorithm 1, %d bits, %s", stageBits, quarter),
	}
	for _, d := range r.devicesOf(tableStages) {
		p := panel{title: fmt.Sprintf("%s, M = N = %d", deviceTitle(d), r.N)}
		for i, s := range paperStages {
			if y := r.gemvValue(tableStages, s.kernel, d, share); y != nil {
				p.lines = append(p.lines, line{s.kernel, i, [][2]float64{{1, *y}}})
			}
		}
		f.panels = append(f.panels, p)
	}
	p := panel{title: paperGPU + fmt.Sprintf(", M = N = %d", GemvN)}
	for i, s := range paperStages {
		p.lines = append(p.lines, line{s.kernel, i, [][2]float64{{1, s.percent}}})
	}
	f.panels = append(f.panels, p)
	return f
}

// gemvNotes are the notes of a report with the rows of a GPU, "" for none.
func gemvNotes(gpu string) []string {
	notes := []string{
		"Inputs of p/4 bits are what the authors' own test feeds, \"such that too many roundings were not required\": products and sums then fit the base, but for a few at 106 bits. Inputs of p bits have full significands, and nearly every operation rounds.",
		"Times are of the product alone: neither the making of the data nor their conversion to RNS counts.",
		"Algorithm 1 is the paper's, step by step, B in memory (rns.Gemv, variant Published): on a GPU its ten launches, on arrays laid out as its mp_array_t; its time is the sum of the steps, as the GPU's events take them. Fused is ours, the default: products are added as they are made, so that B is never stored, with the same bits.",
		"The basic implementation on a GPU has one thread an operation, on arrays of mp_float_t.",
		"CUMP, CAMPARY and GARPREC stand as the paper has them: its GPU programs are not run here.",
		"halfulp.Gemv is the exact engine: every entry is the exact value rounded once, so its error is below 2^-p whatever the cancellation.",
		"Divergence is counted, not read from hardware counters: the additions of the first rows are followed step by step as warps take them, and it is the share of lanes that wait while others of their warp go another way or have nothing to do, in passes over residues. The paper does not say what its profiler's figure counts.",
		"The bound is (19) with ‖ŷ‖ - (18) in place of ‖y*‖, which a user does not know. It assumes the worst in all N + 2 roundings of an addend, with u = 4/√M; to nearest and in blocks, errors are far smaller.",
	}
	if gpu == "" {
		return append(notes, "The paper's figures are of a GPU, those here of a CPU: no GPU figure is measured.")
	}
	return append(notes,
		"Occupancy is what registers and shared memory leave room for, as the driver computes it; bandwidth is counted bytes, read and written once each, over the time of the kernel. Neither is read from hardware counters.",
		"Kernels of ours: dot makes the products and adds them, a thread of the paper's blocks being some lanes of a warp; tree adds up the sums of threads; map is α x and β y.",
		"Tuned: with the blocks with which this GPU is fastest, another order of additions; rns.TuneGemv found them, here or before, and remembers them. Where the default is as fast, it stays.",
		"Rows of "+gpu+": operands are in its memory; a time is from the call to the end of its kernels, as the host sees it, but for algorithm 1 and the basic implementation, above. Each result had the bits of the CPU's of the same name, so the errors and bounds above are the GPU's, too.")
}
