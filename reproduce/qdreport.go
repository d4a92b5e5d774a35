package reproduce

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp/expansion"
)

// qdRates are the tables of operations a ms.
var qdRates = []struct{ table, title string }{
	{tableQDScalars, "one thread, numbers in cache"},
	{tableQDFixed, "on vectors in memory, on GPUs by 128 blocks of 128 threads"},
	{tableQDSpread, "on vectors in memory, on GPUs by a thread for each number"},
	{tableQDCompute, "many times on the same numbers"},
	{tableQDFunctions, "on vectors in memory, on GPUs by a thread for each number"},
	{tableQDCached, "many times on the same numbers"},
}

// qdPaper adds the paper's figures.
func (r *Report) qdPaper() {
	for _, t := range qdRates {
		for _, f := range qdFormats {
			for _, op := range qdOperations {
				for i, x := range paperRates[t.table][f.name][op.name] {
					r.add(Record{Table: t.table, Case: f.name, Method: op.name, Device: paperDevices[i], Quantity: operations, Unit: "1/ms", Paper: &x})
				}
			}
		}
	}
	for _, f := range []string{qdDD, qdQD} {
		for _, op := range qdOperations {
			p, ok := paperCounts[f][op.name]
			if !ok {
				continue
			}
			slower := paperSlower[f][op.name]
			k := Record{Table: tableQDCounts, Case: f, Method: op.name, Device: paperDevices[0], Quantity: counted, Paper: &p[0]}
			r.add(k)
			k.Quantity, k.Paper = coefficient, &p[1]
			r.add(k)
			r.add(Record{Table: tableQDSlower, Case: f, Method: op.name, Device: paperDevices[0], Quantity: timesSlower, Paper: &slower})
		}
	}
	for _, t := range qdRatioTables {
		for _, f := range qdFormats {
			for _, op := range slices.Sorted(maps.Keys(paperQDRatios[t.table][f.name])) {
				for i, x := range paperQDRatios[t.table][f.name][op] {
					r.add(Record{Table: t.table, Case: f.name, Method: op, Device: paperDevices[1+i], Quantity: gpuOverCPU, Paper: &x})
				}
			}
		}
	}
	for _, t := range []struct{ table, method string }{{tableQDGemm, ""}, {tableQDSquare, qdSquareBlocks}, {tableQDLinear, qdLinearBlocks}} {
		for _, f := range qdFormats {
			p, ok := paperMatrices[t.table][f.name]
			if !ok {
				continue
			}
			for i, device := range paperDevices {
				k := Record{Table: t.table, Case: f.name, Method: t.method, Device: device, N: QDN, Quantity: timeOfRun, Unit: "s", Paper: &p[0][i]}
				r.add(k)
				k.Quantity, k.Unit, k.Paper = operations, "1/ms", &p[1][i]
				r.add(k)
			}
		}
	}
}

// The paper's shapes of blocks of threads.
const (
	qdSquareBlocks = "blocks of 8 x 8 threads"
	qdLinearBlocks = "blocks of 128 threads"
)

// qdFigure returns the figure of a record that matches, nil if there is none.
func qdFigure(list []Record, match func(k *Record) bool) *float64 {
	for _, k := range list {
		if match(&k) {
			if k.Here != nil {
				return k.Here
			}
			return k.Paper
		}
	}
	return nil
}

// qdColumn is a column of a table of rates: a device and a number of entries, 0 for any.
type qdColumn struct {
	title, device string
	n             int
}

func (r *Report) qdColumns(table string) []qdColumn {
	var list []qdColumn
	seen := map[string]bool{}
	for _, k := range r.find(table) {
		c := qdColumn{k.Device, k.Device, k.N}
		if k.Here != nil && k.Device != cpuDevice {
			c.title = fmt.Sprintf("%s, %d", strings.SplitN(k.Device, ",", 2)[0], k.N)
		}
		if !seen[c.title] {
			seen[c.title] = true
			list = append(list, c)
		}
	}
	return list
}

// of returns the figure of the column.
func (c qdColumn) of(list []Record, format, operation string) *float64 {
	return qdFigure(list, func(k *Record) bool {
		return k.Case == format && k.Method == operation && k.Device == c.device && k.N == c.n
	})
}

func (r *Report) qdTexts(cpuN, gpuN int) {
	for _, t := range qdRates {
		r.text = append(r.text, r.qdRateText(t.table, fmt.Sprintf("T%s: operations a ms, %s", t.table[1:], t.title)))
		if t.table == tableQDScalars {
			r.text = append(r.text, r.qdCountText(), r.qdRateText(tableQDSlower, "Table 3.6-3: how many times slower than those of doubles operations are"))
		}
		for _, q := range qdRatioTables {
			if q.from == t.table {
				r.text = append(r.text, r.qdRateText(q.table, fmt.Sprintf("T%s: operations on the GPU over those on the CPU, of %s", q.table[1:], t.table)))
			}
		}
	}
	scaled := ""
	if cpuN != QDN || r.GPU != "" && gpuN != QDN {
		scaled = "; n = 2400 is the paper's, others are scaled"
	}
	r.text = append(r.text,
		r.qdMatrixText("Table 6.2.2-1: products of 2n/3 x 4n/3 by 4n/3 x 2n/3 matrices"+scaled, tableQDGemm),
		r.qdRatioText("Table 6.2.2-2: operations of products on the GPU over those on the CPU", "table 6.2.2-2"),
		r.qdMatrixText("Tables 6.3.2-1 and 6.3.2-3: systems of n equations with 2n/3 right-hand sides"+scaled, tableQDSquare, tableQDLinear, tableQDSolve),
		r.qdRatioText("Tables 6.3.2-2 and 6.3.2-4: operations of systems on the GPU over those on the CPU", "table 6.3.2-2", "table 6.3.2-4", "tables 6.3.2-2 and 6.3.2-4"),
		r.qdAccuracyText())
}

// qdRateText is a table with a row for each arithmetic and operation, and a column for each device.
func (r *Report) qdRateText(table, title string) textTable {
	list, columns := r.find(table), r.qdColumns(table)
	t := textTable{title: title, header: []string{"numbers", "operation"}}
	for _, c := range columns {
		t.header = append(t.header, c.title)
	}
	for _, f := range qdKinds {
		for _, op := range qdOperations {
			row := []string{f.name, op.name}
			for _, c := range columns {
				row = append(row, short(c.of(list, f.name, op.name)))
			}
			if slices.ContainsFunc(row[2:], func(s string) bool { return s != "" }) {
				t.rows = append(t.rows, row)
			}
		}
	}
	return t
}

// qdCountText is table 3.6-2.
func (r *Report) qdCountText() textTable {
	list := r.find(tableQDCounts)
	t := textTable{
		title:  "Table 3.6-2: operations on doubles, counted in the source, and their share of the time at the speed of sums of doubles",
		header: []string{"numbers", "operation", "paper", "here, with Split", "short form, with Split", "here, with FMA", "coefficient, paper", "coefficient, here"},
	}
	for _, f := range qdKinds {
		for _, op := range qdOperations {
			figure := func(quantity string, paper bool) string {
				return short(qdFigure(list, func(k *Record) bool {
					return k.Case == f.name && k.Method == op.name && k.Quantity == quantity && (k.Paper != nil) == paper
				}))
			}
			row := []string{f.name, op.name, figure(counted, true), figure(countSplit, false), figure(countShort, false), figure(counted, false), figure(coefficient, true), figure(coefficient, false)}
			if slices.ContainsFunc(row[2:], func(s string) bool { return s != "" }) {
				t.rows = append(t.rows, row)
			}
		}
	}
	return t
}

// waysOf returns the first record of each device and method.
func waysOf(list []Record) []Record {
	var ways []Record
	for _, k := range list {
		if !slices.ContainsFunc(ways, func(w Record) bool { return w.Device == k.Device && w.Method == k.Method }) {
			ways = append(ways, k)
		}
	}
	return ways
}

// qdRatioText is a table of ratios of products or systems: a row for each way and device.
func (r *Report) qdRatioText(title string, tables ...string) textTable {
	t := textTable{title: title, header: []string{"device", "way"}}
	for _, f := range qdFormats {
		t.header = append(t.header, f.name)
	}
	for _, table := range tables {
		list := r.find(table)
		for _, way := range waysOf(list) {
			row := []string{way.Device, way.Method}
			for _, f := range qdFormats {
				row = append(row, short(qdFigure(list, func(k *Record) bool { return k.Device == way.Device && k.Method == way.Method && k.Case == f.name })))
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// qdAccuracyText has the largest errors.
func (r *Report) qdAccuracyText() textTable {
	list := r.find(tableQDAccuracy)
	t := textTable{title: fmt.Sprintf("Largest relative errors of %d random arguments from 1 to 2, and of sums that cancel", qdArguments), header: []string{"operation"}}
	var kinds, names []string
	for _, k := range list {
		if k.Quantity != relativeError {
			continue
		}
		if !slices.Contains(kinds, k.Case) {
			kinds = append(kinds, k.Case)
		}
		if !slices.Contains(names, k.Method) {
			names = append(names, k.Method)
		}
	}
	t.header = append(t.header, kinds...)
	for _, name := range names {
		row := []string{name}
		for _, kind := range kinds {
			row = append(row, asError(qdHere(list, kind, name, "", relativeError)))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// qdMatrixText is a table of products or systems: a row for each way and device.
func (r *Report) qdMatrixText(title string, tables ...string) textTable {
	t := textTable{title: title, header: []string{"device", "way", "n"}}
	for _, f := range qdFormats {
		t.header = append(t.header, f.name+", s")
	}
	for _, f := range qdFormats {
		t.header = append(t.header, f.name+", 1/ms")
	}
	for _, table := range tables {
		list := r.find(table)
		for _, way := range waysOf(list) {
			row := []string{way.Device, way.Method, strconv.Itoa(way.N)}
			for _, quantity := range []string{timeOfRun, operations} {
				for _, f := range qdFormats {
					row = append(row, short(qdFigure(list, func(k *Record) bool {
						return k.Device == way.Device && k.Method == way.Method && k.Case == f.name && k.Quantity == quantity
					})))
				}
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// qdPlots draws operations a ms by operation, and products and systems by format. The paper's
// figures, which have other sizes, are in panels of their own.
func (r *Report) qdPlots() {
	for _, p := range []struct {
		name, title string
		tables      [2]string
	}{
		{r.Name, "Many times on the same numbers", [2]string{tableQDCompute, tableQDCached}},
		{r.Name + "-memory", "On vectors in memory", [2]string{tableQDSpread, tableQDFunctions}},
	} {
		list := append(r.find(p.tables[0]), r.find(p.tables[1])...)
		fig := figure{name: p.name, title: p.title, kind: bars, xLabel: "operation", yLabel: "operations a ms"}
		for _, op := range qdOperations {
			if op.name != "-" {
				fig.xNames = append(fig.xNames, op.name)
			}
		}
		var papers []panel
		for _, f := range qdFormats {
			here, paper := panel{title: f.name + ", here"}, panel{title: f.name + ", paper"}
			columns := r.qdColumns(p.tables[0])
			for i, c := range columns {
				bar := func(name, kind string, style int) line {
					l := line{name: name, style: style}
					for j, name := range fig.xNames {
						if x := c.of(list, kind, name); x != nil {
							l.points = append(l.points, [2]float64{float64(j + 1), *x})
						}
					}
					return l
				}
				if strings.HasSuffix(c.device, paperSuffix) {
					paper.lines = append(paper.lines, bar(c.title, f.name, i))
				} else {
					here.lines = append(here.lines, bar(c.title, f.name, i), bar(c.title+qdPublished, f.name+qdPublished, i+len(columns)))
				}
			}
			fig.panels, papers = append(fig.panels, here), append(papers, paper)
		}
		fig.panels = append(fig.panels, papers...)
		r.plots = append(r.plots, fig)
	}
	fig := figure{name: r.Name + "-matrices", title: "Products and systems", kind: bars, xLabel: "format", yLabel: "operations a ms"}
	for _, f := range qdFormats {
		fig.xNames = append(fig.xNames, f.name)
	}
	for _, p := range []struct {
		title, table string
		paper        string
		ways         []string
	}{
		{"products", tableQDGemm, tableQDGemm, []string{qdNative, qdExact}},
		{"systems", tableQDSolve, tableQDLinear, []string{
			qdSolver(expansion.PartialPivoting, expansion.NativeUpdates), qdSolver(expansion.PartialPivoting, expansion.ExactUpdates),
		}},
	} {
		here, paper := panel{title: p.title + ", here"}, panel{title: p.title + fmt.Sprintf(", paper, n = %d", QDN)}
		bar := func(in *panel, name string, style int, table string, match func(k *Record) bool) {
			l := line{name: name, style: style}
			for i, f := range qdFormats {
				x := qdFigure(r.find(table), func(k *Record) bool { return k.Quantity == operations && k.Case == f.name && match(k) })
				if x != nil {
					l.points = append(l.points, [2]float64{float64(i + 1), *x})
				}
			}
			in.lines = append(in.lines, l)
		}
		for i, device := range paperDevices {
			bar(&paper, device, i, p.paper, func(k *Record) bool { return k.Device == device })
		}
		style := len(paperDevices)
		for _, device := range []string{cpuDevice, r.GPU} {
			for i, way := range p.ways {
				if device != "" {
					bar(&here, strings.SplitN(device, ",", 2)[0]+", "+[]string{qdNative, qdExact}[i], style, p.table, func(k *Record) bool {
						// For doubles, the native method is the library's.
						return k.Device == device && (k.Method == way || i == 0 && k.Case == qdFloat64 && k.Method != qdExact)
					})
				}
				style++
			}
		}
		fig.panels = append(fig.panels, here, paper)
	}
	r.plots = append(r.plots, fig)
}

// qdNotes are the notes of a report with a GPU, or with "" for the CPU alone.
func qdNotes(gpu string) []string {
	notes := []string{
		"dd, td and qd are numbers of 2, 3 and 4 doubles. Ours treat infinities, NaN, zeros and overflow like doubles and have no branches, so that one SIMD instruction does the same for several numbers. Those called published are by the paper's algorithms (expansion.Published), one number at a time, compiled by Go or for the GPU; Two-Prod is a fused multiply-add. Those called exact are sums rounded once (halfulp.Axpy), which are computed in place. The paper has no td, and no - outside of table 3.6-1.",
		"Operations on doubles are counted in the source of package expansion, in branches those of the longer one.",
		"double is plain loops of Go with the functions of package math, products by gonum and systems by gonum's LU factors; Go has no SIMD instructions for them, but package expansion has, so doubles and double-doubles in cache may be closer than the count of operations says.",
		"The paper's CPU runs one thread in tables 3.6-1, 6.2.2-1 and 6.3.2, four in the others. In cache, each thread here has 4096 numbers, a quarter of the paper's for four threads; in memory, vectors are longer than usual caches.",
		"native: sums of products in the arithmetic of the format, one accumulator an entry. exact: every entry rounded once (halfulp.Gemm), in systems the updates of blocks of 256 columns. Systems are solved by Gauss-Jordan elimination with partial pivoting, or with the paper's rule, which exchanges rows only where the diagonal has a zero.",
		"Operations a ms of products and systems are the paper's count, 1.64e10 and 1.54e10 at n = 2400, scaled by n^3, divided by the time.",
	}
	if gpu == "" {
		return append(notes, "With --device cuda:N there are rows of a GPU, with both launch schemes and the sizes of the paper.")
	}
	return append(notes,
		"double on the GPU is one operation or CUDA's function; with numbers that are computed again and again a comparison comes with each. Results of dd, td and qd on the GPU have the bits of those on the CPU, which is checked. Operands are in its memory; times are from the call to the end of the work as the host sees it.",
		"Numbers of columns are lengths of vectors. The paper's compute-bound test has 16384 numbers, each computed 10000 times: one block of 128 threads for each of 128 multiprocessors, which hides no latency on a GPU of today; the other column has 2^20 numbers, each computed 200 times. In a vector of 16384 numbers both launch schemes are the same.",
		"blocks of 8 x 8 and of 128 threads are the paper's schemes, one thread an entry, by the rule of zero pivots, with the arithmetic of package expansion. Our own solver has panels of 32 columns and tiles, so both tables stand beside the same figures of it.",
	)
}
