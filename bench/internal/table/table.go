// Package table renders a record: one table a workload, one row a method, one column a precision.
package table

import (
	"fmt"
	"strconv"

	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/record"
)

// Table is the comparison on one workload.
type Table struct {
	Title string
	Head  []string   // "method", then the precisions
	Rows  [][]string // the methods, then the ratios
	Notes []string   // what the cells leave out
}

// Of returns the tables of a record, in the order of its figures.
func Of(r *record.Record) []Table {
	var tables []Table
	for _, workload := range distinct(r.Figures, func(f record.Figure) string { return f.Workload }) {
		tables = append(tables, of(workload, r.Figures))
	}
	return tables
}

func of(workload string, all []record.Figure) Table {
	var figures []record.Figure
	for _, f := range all {
		if f.Workload == workload {
			figures = append(figures, f)
		}
	}
	precisions := distinct(figures, func(f record.Figure) uint { return f.Bits })
	methods := distinct(figures, func(f record.Figure) string { return f.Method })
	reference := first(figures, func(f record.Figure) bool { return f.Role == string(peer.Reference) })

	t := Table{Title: title(figures[0]), Head: []string{"method"}}
	for _, bits := range precisions {
		t.Head = append(t.Head, fmt.Sprintf("%d bits", bits))
	}
	if reference != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("T is %s on the same size, %s.", reference.Method, threads(reference.Threads)))
	}

	partial := false
	for _, method := range methods {
		row := []string{""}
		for _, bits := range precisions {
			f := find(figures, method, bits)
			switch {
			case f == nil:
				row = append(row, "")
			case f.Skipped != "":
				row = append(row, "skipped")
				t.Notes = append(t.Notes, fmt.Sprintf("%s, %d bits, skipped: %s.", method, bits, f.Skipped))
			default:
				row = append(row, cell(*f, unit(figures, bits)))
				partial = partial || f.Partial()
			}
			if f != nil {
				row[0] = fmt.Sprintf("%s, %s", method, threads(f.Threads))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if partial {
		t.Notes = append(t.Notes, "*: measured on the first columns of the result only, which cost the same each or nearly so.")
	}
	t.addRatios(all, figures, precisions)
	return t
}

// addRatios appends the rows that compare halfulp with its peers and with itself.
func (t *Table) addRatios(all, figures []record.Figure, precisions []uint) {
	gain := []string{"best peer / halfulp"}
	spread := []string{"halfulp / halfulp on uniform data"}
	anyGain, anySpread := false, false
	for _, bits := range precisions {
		subject := best(figures, bits, peer.Subject)
		rival := best(figures, bits, peer.Peer)
		if subject == nil || rival == nil {
			gain = append(gain, "")
		} else {
			gain = append(gain, number(rival.Median/subject.Median))
			anyGain = true
		}
		if uniform := uniform(all, subject); subject == nil || uniform == nil {
			spread = append(spread, "")
		} else {
			spread = append(spread, number(subject.Median/uniform.Median))
			anySpread = true
		}
	}
	if anyGain {
		t.Rows = append(t.Rows, gain)
	}
	if anySpread {
		t.Rows = append(t.Rows, spread)
	}
}

func title(f record.Figure) string {
	s := fmt.Sprintf("%s: %s, n = %d", f.Workload, f.Kind, f.N)
	if f.Spread > 0 {
		s += fmt.Sprintf(", exponents spread over 2^±%d", f.Spread)
	}
	if f.Unit == "" {
		return s
	}
	return s + "; " + f.Unit
}

// cell shows a time and its ratio to the reference's.
func cell(f record.Figure, reference *record.Figure) string {
	s := number(f.Median)
	if f.Partial() {
		s += "*"
	}
	if reference != nil && f.Role != string(peer.Reference) {
		s += " (" + number(f.Median/reference.Median) + " T)"
	}
	return s
}

// number shows three significant digits.
func number(x float64) string {
	digits := 2
	for limit := 9.995; digits > 0 && x >= limit; limit *= 10 {
		digits--
	}
	if x < 0.1 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

func threads(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}
