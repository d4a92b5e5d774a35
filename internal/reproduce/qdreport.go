package reproduce

import (
	"fmt"
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

// qdFigure is the figure of a record that matches, nil if there is none.
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

// qdColumn is a column of a table of rates: a device, and how many numbers, 0 for any.
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

// of are the figures of the column.
func (c qdColumn) of(list []Record, format, operation string) *float64 {
	return qdFigure(list, func(k *Record) bool {
		return k.Case == format && k.Method == operation && k.Device == c.device && k.N == c.n
	})
}

func (r *Report) qdTexts(cpuN, gpuN int) {
	for _, t := range qdRates {
		list, columns := r.find(t.table), r.qdColumns(t.table)
		out := textTable{title: fmt.Sprintf("T%s: operations a ms, %s", t.table[1:], t.title), header: []string{"numbers", "operation"}}
		for _, c := range columns {
			out.header = append(out.header, c.title)
		}
		for _, f := range qdFormats {
			for _, op := range qdOperations {
				row := []string{f.name, op.name}
				for _, c := range columns {
					row = append(row, short(c.of(list, f.name, op.name)))
				}
				if slices.ContainsFunc(row[2:], func(s string) bool { return s != "" }) {
					out.rows = append(out.rows, row)
				}
			}
		}
		r.text = append(r.text, out)
	}
	scaled := ""
	if cpuN != QDN || r.GPU != "" && gpuN != QDN {
		scaled = "; n = 2400 is the paper's, others are scaled"
	}
	r.text = append(r.text,
		r.qdMatrixText("Table 6.2.2-1: products of 2n/3 x 4n/3 by 4n/3 x 2n/3 matrices"+scaled, tableQDGemm),
		r.qdMatrixText("Tables 6.3.2-1 and 6.3.2-3: systems of n equations with 2n/3 right-hand sides"+scaled, tableQDSquare, tableQDLinear, tableQDSolve))
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
		var seen [][2]string
		for _, k := range list {
			way := [2]string{k.Device, k.Method}
			if slices.Contains(seen, way) {
				continue
			}
			seen = append(seen, way)
			row := []string{k.Device, k.Method, strconv.Itoa(k.N)}
			for _, quantity := range []string{timeOfRun, operations} {
				for _, f := range qdFormats {
					row = append(row, short(qdFigure(list, func(k *Record) bool {
						return k.Device == way[0] && k.Method == way[1] && k.Case == f.name && k.Quantity == quantity
					})))
				}
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// qdPlots draws operations a ms by operation, and products and systems by format.
func (r *Report) qdPlots() {
	for _, p := range []struct {
		name, title string
		tables      [2]string
	}{
		{r.Name, "Many times on the same numbers", [2]string{tableQDCompute, tableQDCached}},
		{r.Name + "-memory", "On vectors in memory", [2]string{tableQDSpread, tableQDFunctions}},
	} {
		list := append(r.find(p.tables[0]), r.find(p.tables[1])...)
		fig := figure{name: p.name, title: p.title, xLinear: true, xLabel: "operation", yLabel: "operations a ms"}
		for _, op := range qdOperations {
			if op.name != "-" {
				fig.xNames = append(fig.xNames, op.name)
			}
		}
		for _, f := range qdFormats {
			in := panel{title: f.name}
			for i, c := range r.qdColumns(p.tables[0]) {
				l := line{name: c.title, style: i, paper: strings.HasSuffix(c.device, ", paper")}
				for j, name := range fig.xNames {
					if x := c.of(list, f.name, name); x != nil {
						l.points = append(l.points, [2]float64{float64(j + 1), *x})
					}
				}
				if len(l.points) > 0 {
					in.lines = append(in.lines, l)
				}
			}
			fig.panels = append(fig.panels, in)
		}
		r.plots = append(r.plots, fig)
	}
	fig := figure{name: r.Name + "-matrices", title: "Products and systems", xLinear: true, xLabel: "format", yLabel: "operations a ms"}
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
		in := panel{title: p.title}
		curve := func(name string, style int, table string, paper bool, match func(k *Record) bool) {
			l := line{name: name, style: style, paper: paper}
			for i, f := range qdFormats {
				x := qdFigure(r.find(table), func(k *Record) bool { return k.Quantity == operations && k.Case == f.name && match(k) })
				if x != nil {
					l.points = append(l.points, [2]float64{float64(i + 1), *x})
				}
			}
			if len(l.points) > 0 {
				in.lines = append(in.lines, l)
			}
		}
		for i, device := range paperDevices {
			curve(device, i, p.paper, true, func(k *Record) bool { return k.Device == device })
		}
		style := len(paperDevices)
		for _, device := range []string{cpuDevice, r.GPU} {
			for i, way := range p.ways {
				if device != "" {
					curve(strings.SplitN(device, ",", 2)[0]+", "+[]string{qdNative, qdExact}[i], style, p.table, false, func(k *Record) bool {
						return k.Device == device && k.Method == way
					})
				}
				style++
			}
		}
		fig.panels = append(fig.panels, in)
	}
	r.plots = append(r.plots, fig)
}

// qdNotes are the notes of a report with a GPU, or with "" for the CPU alone.
func qdNotes(gpu string) []string {
	notes := []string{
		"dd, td and qd are numbers of 2, 3 and 4 doubles. Those here treat infinities, NaN, zeros and overflow like doubles and have no branches, so that one SIMD instruction does the same for several numbers; the paper's are those of the library QD, one number at a time. The paper has no td, and no - outside of table 3.6-1.",
		"double is plain loops of Go with the functions of package math, products by gonum and systems by gonum's LU factors; Go has no SIMD instructions for them, but package expansion has, so doubles and double-doubles in cache may be closer than the count of operations says.",
		"The paper's CPU runs one thread in tables 3.6-1, 6.2.2-1 and 6.3.2, four in the others. In cache, each thread here has 4096 numbers, a quarter of the paper's for four threads; in memory, vectors are longer than usual caches.",
		"native: sums of products in the arithmetic of the format, one accumulator an entry. exact: every entry rounded once (halfulp.Gemm), in systems the updates of blocks of 256 columns. Systems are solved by Gauss-Jordan elimination with partial pivoting, or with the paper's rule, which exchanges rows only where the diagonal has a zero.",
		"Operations a ms of products and systems are the paper's count, 1.64e10 and 1.54e10 at n = 2400, scaled by n^3, divided by the time.",
	}
	if gpu == "" {
		return append(notes, "With --device cuda:N there are rows of a GPU, with both launch schemes and the sizes of the paper.")
	}
	return append(notes,
		"Results on the GPU have the bits of those on the CPU. Operands are in its memory; times are from the call to the end of the work as the host sees it.",
		"Numbers of columns are lengths of vectors. The paper's compute-bound test has 16384 numbers, each computed 10000 times: one block of 128 threads for each of 128 multiprocessors, which hides no latency on a GPU of today; the other column has 2^20 numbers, each computed 200 times. In a vector of 16384 numbers both launch schemes are the same.",
		"The paper's GPU solver has square or linear blocks of threads; ours has panels of 32 columns and tiles of its own, so both tables stand beside the same figures.",
	)
}
