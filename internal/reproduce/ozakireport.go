package reproduce

import (
	"fmt"
	"strconv"
)

// ozakiTexts makes the tables of text.
func (r *Report) ozakiTexts(methods []ozakiMethod, sizes []int, phis []float64) {
	header := []string{"phi", "n", ""}
	for _, m := range methods {
		header = append(header, m.name)
	}
	means := textTable{title: "Table 2: mean over the seeds of the largest relative error of an entry", header: header}
	ratios := textTable{title: "Table 3: time relative to float32, and error of float32 relative to it", header: append(append([]string{}, header[:3]...), header[4:]...)}
	for _, phi := range phis {
		for _, n := range sizes {
			rows := []struct {
				t               *textTable
				table, quantity string
				name            string
				paper           bool
				format          func(*float64) string
			}{
				{&means, tableOzakiMean, meanError, "here", false, asError},
				{&means, tableOzakiMean, meanError, "paper", true, asError},
				{&means, tableOzakiMean, meanBound, "bound", false, asError},
				{&ratios, tableOzakiRatio, ratio, "time, here", false, short},
				{&ratios, tableOzakiRatio, ratio, "time, paper", true, short},
				{&ratios, tableOzakiRatio, "improvement of the error", "error, here", false, asError},
				{&ratios, tableOzakiRatio, "improvement of the error", "error, paper", true, asError},
			}
			for _, row := range rows {
				cells := []string{strconv.FormatFloat(phi, 'g', -1, 64), strconv.Itoa(n), row.name}
				some := false
				for _, name := range row.t.header[3:] {
					cell := ""
					for _, k := range r.find(row.table) {
						if k.N == n && k.Case == phiCase(phi) && k.Method == name && k.Quantity == row.quantity {
							x := k.Here
							if row.paper {
								x = k.Paper
							}
							cell = row.format(x)
						}
					}
					some = some || cell != ""
					cells = append(cells, cell)
				}
				if some {
					row.t.rows = append(row.t.rows, cells)
				}
			}
		}
	}
	if all, n := r.closeness(func(Record) bool { return true }); n > 0 {
		cells := []string{"", "", "here/paper"}
		for _, m := range methods {
			cell := ""
			if x, n := r.closeness(func(k Record) bool { return k.Method == m.name }); n > 0 {
				cell = short(&x)
			}
			cells = append(cells, cell)
		}
		means.rows = append(means.rows, cells)
		means.title += fmt.Sprintf("; here/paper is the geometric mean of the quotients, %s for all of them", short(&all))
	}
	r.text = []textTable{r.ozakiTimes(methods, sizes), means, ratios, r.ozakiShares(sizes)}
}

// ozakiTimes is figure 7 as a table.
func (r *Report) ozakiTimes(methods []ozakiMethod, sizes []int) textTable {
	t := textTable{title: fmt.Sprintf("Figure 7: ms for a product of n x n matrices, the fastest of 1 to %d runs", maxRuns), header: []string{"n"}}
	for _, m := range methods {
		t.header = append(t.header, m.name)
	}
	for _, n := range sizes {
		row := []string{strconv.Itoa(n)}
		for _, m := range methods {
			ms := r.ozakiMs(m.name, n)
			row = append(row, short(&ms))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// ozakiShares is figures 26 to 30 as a table.
func (r *Report) ozakiShares(sizes []int) textTable {
	t := textTable{title: "Figures 26 to 30: shares of splitting / products / sums, %", header: []string{"n"}}
	for k := 2; k <= maxOzakiSlices; k++ {
		t.header = append(t.header, slicesMethod(k))
	}
	for _, n := range sizes {
		row := []string{strconv.Itoa(n)}
		for k := 2; k <= maxOzakiSlices; k++ {
			cell := ""
			for _, s := range r.find(tableOzakiShares) {
				if s.N == n && s.Method == slicesMethod(k) {
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
	return t
}

// ozakiPlots makes figure 7, errors by seed (8 to 16) and against time (17 to 25), and shares
// (26 to 30).
func (r *Report) ozakiPlots(methods []ozakiMethod, sizes []int, phis []float64) {
	times := figure{name: r.Name, title: "Products of n x n matrices, on " + r.place(), xLabel: "n", yLabel: "ms", panels: []panel{{title: "here"}}}
	for _, m := range methods {
		l := line{name: m.name, style: m.style}
		for _, n := range sizes {
			l.points = append(l.points, [2]float64{float64(n), r.ozakiMs(m.name, n)})
		}
		times.panels[0].lines = append(times.panels[0].lines, l)
	}
	r.plots = []figure{times}
	for _, n := range sizes {
		seeds := figure{name: fmt.Sprintf("%s-errors-%d", r.Name, n), xLinear: true, xLabel: "seed", yLabel: worstError,
			title: fmt.Sprintf("Largest relative error, n = %d", n)}
		against := figure{name: fmt.Sprintf("%s-error-time-%d", r.Name, n), xDecades: true, xLabel: "ms", yLabel: worstError,
			title: fmt.Sprintf("Largest relative error and time, n = %d, on %s", n, r.place())}
		for _, phi := range phis {
			p, q := panel{title: phiCase(phi)}, panel{title: phiCase(phi)}
			for _, m := range methods {
				l, dots := line{name: m.name, style: m.style}, line{name: m.name, style: m.style, dots: true}
				for _, k := range r.find(tableOzakiErrors) {
					if k.N == n && k.Case == phiCase(phi) && k.Method == m.name && k.Quantity == worstError {
						l.points = append(l.points, [2]float64{float64(k.Seed), *k.Here})
						dots.points = append(dots.points, [2]float64{r.ozakiMs(m.name, n), *k.Here})
					}
				}
				p.lines, q.lines = append(p.lines, l), append(q.lines, dots)
			}
			seeds.panels, against.panels = append(seeds.panels, p), append(against.panels, q)
		}
		r.plots = append(r.plots, seeds, against)
	}
	shares := figure{name: r.Name + "-shares", title: "Shares of the stages, on " + r.place(), xLabel: "n", yLabel: "%", percent: true}
	for k := 2; k <= maxOzakiSlices; k++ {
		p := panel{title: slicesMethod(k)}
		for _, s := range r.find(tableOzakiShares) {
			if s.Method != slicesMethod(k) {
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
	r.plots = append(r.plots, shares)
}
