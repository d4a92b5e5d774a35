package reproduce

import (
	"fmt"
	"math"
	"strconv"

	"github.com/halfulp/halfulp/ozaki"
)

// ozakiColumns returns the columns of the tables for the methods of a split. The columns of the
// paper's methods belong to the paper's split, the others to the split of this program.
func ozakiColumns(split ozaki.Split, method func(k int) string) []string {
	columns := []string{"", "", "", "", "", "", "", doubleFloatMethod, exactGemm}
	if split == ozaki.Literal {
		columns[0], columns[6], columns[7], columns[8] = float32Method, float64Method, "", ""
	}
	for k := 2; k <= maxOzakiSlices; k++ {
		columns[k-1] = method(k)
	}
	return columns
}

// ozakiHeader is the header of tables with these columns.
func ozakiHeader(first ...string) []string {
	header := append(first, float32Method)
	for k := 2; k <= maxOzakiSlices; k++ {
		header = append(header, slicesMethod(k))
	}
	return append(header, float64Method, doubleFloatMethod, exactGemm)
}

// ozakiTexts makes the tables of text: errors for sizes and spreads, times for all sizes.
func (r *Report) ozakiTexts(sizes, all []int, phis []float64) {
	means := textTable{title: "Table 2: mean over the seeds of the largest relative error of an entry", header: ozakiHeader("phi", "n", "")}
	ratios := textTable{title: "Table 3: time relative to float32, and error of float32 relative to it", header: ozakiHeader("phi", "n", "")}
	for _, phi := range phis {
		for _, n := range sizes {
			add := func(t *textTable, table, quantity, name string, paper bool, columns []string) {
				cells := []string{strconv.FormatFloat(phi, 'g', -1, 64), strconv.Itoa(n), name}
				some := false
				for _, method := range columns {
					k := r.value(table, method, quantity, phi, n)
					x := k.Here
					if paper {
						x = k.Paper
					}
					some = some || x != nil
					cells = append(cells, short(x))
				}
				if some {
					t.rows = append(t.rows, cells)
				}
			}
			add(&means, tableOzakiMean, meanError, "paper", true, ozakiColumns(ozaki.Literal, literalMethod))
			for _, quantity := range []string{ratio, improvement} {
				what := map[string]string{ratio: "time", improvement: "error"}[quantity]
				add(&ratios, tableOzakiRatio, quantity, what+", paper", true, ozakiColumns(ozaki.Literal, literalMethod))
				for _, s := range ozakiSplits {
					add(&ratios, tableOzakiRatio, quantity, what+", "+s.name, false, ozakiColumns(s.split, s.method))
				}
			}
			for _, s := range ozakiSplits {
				add(&means, tableOzakiMean, meanError, "here, "+s.name, false, ozakiColumns(s.split, s.method))
			}
			for _, s := range ozakiSplits {
				add(&means, tableOzakiErrors, worstBound, "bound, "+s.name, false, ozakiColumns(s.split, s.method))
			}
		}
	}
	means.rows = append(means.rows, r.ozakiQuotients()...)
	r.text = []textTable{r.ozakiTimes(all), r.ozakiSpeedTable(all), means, ratios, r.ozakiDigitTable(phis), r.ozakiShares(all)}
}

// ozakiQuotients returns the rows of table 2 that compare the paper's means with the expected ones.
func (r *Report) ozakiQuotients() (rows [][]string) {
	span := []string{"", "", "99 % of such quotients"}
	for _, s := range ozakiSplits {
		row := []string{"", "", "paper / expected, " + s.name}
		some := false
		for i, method := range ozakiColumns(s.split, s.method) {
			cell := ""
			if p, ok := r.ozakiAgainst(method, min(i, 6)); ok && i < 7 {
				cell, some = short(&p.quotient), true
				if s.split == ozaki.Literal {
					span = append(span, short(&p.low)+" to "+short(&p.high))
				}
			}
			row = append(row, cell)
		}
		if some {
			rows = append(rows, row)
		}
	}
	if rows == nil {
		return nil
	}
	return append(rows, append(span, "", ""))
}

// ozakiTimes is figure 7 as a table.
func (r *Report) ozakiTimes(sizes []int) textTable {
	t := textTable{title: fmt.Sprintf("Figure 7: ms for a product of n x n matrices, the fastest of 1 to %d runs", maxRuns), header: ozakiHeader("n", "")}
	for _, n := range sizes {
		for _, s := range ozakiSplits {
			row := []string{strconv.Itoa(n), s.name}
			for _, method := range ozakiColumns(s.split, s.method) {
				cell := ""
				if ms := r.ozakiMs(method, n); !math.IsNaN(ms) {
					cell = short(&ms)
				}
				row = append(row, cell)
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// ozakiSpeedTable is the part of section 5.2.1 on float64.
func (r *Report) ozakiSpeedTable(sizes []int) textTable {
	t := textTable{title: "Section 5.2.1: how many times as fast as float64, and the largest n at which float64 is faster", header: []string{"n", ""}}
	for k := 2; k <= maxOzakiSlices; k++ {
		t.header = append(t.header, slicesMethod(k))
	}
	add := func(n int, first, quantity, name string, paper bool, method func(k int) string) {
		row, some := []string{first, name}, false
		for k := 2; k <= maxOzakiSlices; k++ {
			cell := ""
			for _, one := range r.find(tableOzakiSpeeds) {
				if one.Method == method(k) && one.Quantity == quantity && one.N == n {
					x := one.Here
					if paper {
						x = one.Paper
					}
					cell = short(x)
					if quantity == slowerUpTo && x != nil {
						cell = strconv.Itoa(int(*x))
					}
				}
			}
			some = some || cell != ""
			row = append(row, cell)
		}
		if some {
			t.rows = append(t.rows, row)
		}
	}
	for _, n := range append(append([]int{}, sizes...), 0) {
		first, quantity := strconv.Itoa(n), speedUp
		if n == 0 {
			first, quantity = "float64 faster up to", slowerUpTo
		}
		add(n, first, quantity, "paper", true, literalMethod)
		for _, s := range ozakiSplits {
			add(n, first, quantity, s.name, false, s.method)
		}
	}
	return t
}

// ozakiDigitTable is the part of section 5.2.3 on digits.
func (r *Report) ozakiDigitTable(phis []float64) textTable {
	t := textTable{title: "Section 5.2.3: decimal digits gained over float32, for all n, or those that the paper has", header: []string{"phi", ""}}
	for k := 2; k <= maxOzakiSlices; k++ {
		t.header = append(t.header, slicesMethod(k))
	}
	for _, phi := range phis {
		first := strconv.FormatFloat(phi, 'g', -1, 64)
		if phi == paperDigitsPhi {
			row := []string{first, "paper"}
			for _, d := range paperDigits {
				row = append(row, fmt.Sprintf("%g to %g", d[0], d[1]))
			}
			t.rows = append(t.rows, row)
		}
		for _, s := range ozakiSplits {
			row := []string{first, s.name}
			for k := 2; k <= maxOzakiSlices; k++ {
				row = append(row, r.ozakiGain(s.method(k), phi))
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// ozakiGain returns the digits that a method gains, from and to.
func (r *Report) ozakiGain(method string, phi float64) string {
	least, most := r.value(tableOzakiDigits, method, leastDigits, phi, 0).Here, r.value(tableOzakiDigits, method, mostDigits, phi, 0).Here
	if least == nil || most == nil {
		return ""
	}
	if text := fmt.Sprintf("%.1f", *least); text == fmt.Sprintf("%.1f", *most) {
		return text
	}
	return fmt.Sprintf("%.1f to %.1f", *least, *most)
}

// ozakiShares is figures 26 to 30 as a table.
func (r *Report) ozakiShares(sizes []int) textTable {
	t := textTable{title: "Figures 26 to 30: shares of splitting / products / sums, %", header: []string{"n", ""}}
	for k := 2; k <= maxOzakiSlices; k++ {
		t.header = append(t.header, slicesMethod(k))
	}
	for _, n := range sizes {
		for _, split := range ozakiSplits {
			row := []string{strconv.Itoa(n), split.name}
			for k := 2; k <= maxOzakiSlices; k++ {
				cell := ""
				for _, s := range r.find(tableOzakiShares) {
					if s.N == n && s.Method == split.method(k) {
						if cell != "" {
							cell += " / "
						}
						cell += short(s.Here)
					}
				}
				row = append(row, cell)
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// ozakiPlots makes figure 7, table 2, errors by seed (8 to 16) and against time (17 to 25), and
// shares (26 to 30).
func (r *Report) ozakiPlots(methods []ozakiMethod, sizes, all []int, phis []float64) {
	// of returns the methods of a split: its products, and the methods to which both splits are
	// compared.
	of := func(method func(k int) string) (list []ozakiMethod) {
		for _, m := range methods {
			if m.slices < 2 || m.name == method(m.slices) {
				list = append(list, m)
			}
		}
		return list
	}
	times := figure{name: r.Name, title: "Figure 7: products of n x n matrices, on " + r.place(), xLabel: "n", yLabel: "ms"}
	for _, s := range ozakiSplits {
		p := panel{title: s.name + " slices"}
		for _, m := range of(s.method) {
			l := line{name: m.name, style: m.style}
			if m.slices > 1 {
				l.name = slicesMethod(m.slices)
			}
			for _, n := range all {
				l.points = append(l.points, [2]float64{float64(n), r.ozakiMs(m.name, n)})
			}
			p.lines = append(p.lines, l)
		}
		times.panels = append(times.panels, p)
	}
	r.plots = []figure{times}
	for _, n := range sizes {
		if f := r.ozakiMeanPlot(n, phis); f.panels != nil {
			r.plots = append(r.plots, f)
		}
		for _, s := range ozakiSplits {
			name := fmt.Sprintf("%s-%d-%s", r.Name, n, s.name)
			seeds := figure{name: name + "-seeds", kind: dots, xLinear: true, xLabel: "seed", yLabel: worstError,
				title: fmt.Sprintf("Figures 8 to 16: largest relative error, n = %d, %s slices", n, s.name)}
			against := figure{name: name + "-time", kind: dots, xDecades: true, xLabel: "ms", yLabel: worstError,
				title: fmt.Sprintf("Figures 17 to 25: largest relative error and time, n = %d, %s slices, on %s", n, s.name, r.place())}
			for _, phi := range phis {
				p, q := panel{title: phiCase(phi)}, panel{title: phiCase(phi)}
				for _, m := range of(s.method) {
					l := line{name: m.name, style: m.style}
					if m.slices > 1 {
						l.name = slicesMethod(m.slices)
					}
					at := l
					for _, k := range r.find(tableOzakiErrors) {
						if k.N == n && k.Case == phiCase(phi) && k.Method == m.name && k.Quantity == worstError {
							l.points = append(l.points, [2]float64{float64(k.Seed), *k.Here})
							at.points = append(at.points, [2]float64{r.ozakiMs(m.name, n), *k.Here})
						}
					}
					p.lines, q.lines = append(p.lines, l), append(q.lines, at)
				}
				seeds.panels, against.panels = append(seeds.panels, p), append(against.panels, q)
			}
			r.plots = append(r.plots, seeds, against)
		}
	}
	for _, s := range ozakiSplits {
		r.plots = append(r.plots, r.ozakiSharePlot(s.name, s.method))
	}
}

// ozakiMeanPlot is table 2 for a size that the paper has, in a panel for each of its spreads.
func (r *Report) ozakiMeanPlot(n int, phis []float64) figure {
	f := figure{name: fmt.Sprintf("%s-%d-means", r.Name, n), xLinear: true, xLabel: "slices", yLabel: "mean of the largest errors",
		title: fmt.Sprintf("Table 2: mean over the seeds of the largest relative error, n = %d", n)}
	for _, phi := range phis {
		paper, ok := paperErrors[phi][n]
		if !ok {
			continue
		}
		lines := []line{{name: "paper", style: 0}, {name: "literal slices", style: 1}, {name: "scaled slices", style: 2}}
		for k := 1; k <= maxOzakiSlices; k++ {
			lines[0].points = append(lines[0].points, [2]float64{float64(k), paper[k-1]})
			for i, s := range ozakiSplits {
				method := s.method(k)
				if k == 1 {
					method = float32Method
				}
				if x := r.value(tableOzakiMean, method, meanError, phi, n).Here; x != nil {
					lines[1+i].points = append(lines[1+i].points, [2]float64{float64(k), *x})
				}
			}
		}
		f.panels = append(f.panels, panel{title: phiCase(phi), lines: lines})
	}
	return f
}

// ozakiSharePlot is figures 26 to 30 for a split, a panel for each number of slices.
func (r *Report) ozakiSharePlot(name string, method func(k int) string) figure {
	shares := figure{name: r.Name + "-shares-" + name, title: "Figures 26 to 30: shares of the stages, " + name + " slices, on " + r.place(), kind: stacked, xLabel: "n", yLabel: "% of the time"}
	for k := 2; k <= maxOzakiSlices; k++ {
		p := panel{title: slicesMethod(k)}
		for _, s := range r.find(tableOzakiShares) {
			if s.Method != method(k) {
				continue
			}
			at := -1
			for i, l := range p.lines {
				if l.name == s.Case {
					at = i
				}
			}
			if at < 0 {
				at = len(p.lines)
				p.lines = append(p.lines, line{name: s.Case, style: at})
			}
			p.lines[at].points = append(p.lines[at].points, [2]float64{float64(s.N), *s.Here})
		}
		shares.panels = append(shares.panels, p)
	}
	return shares
}
