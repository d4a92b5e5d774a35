package main

import (
	"fmt"
	"io"

	"github.com/halfulp/halfulp/bench/internal/measure"
	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/problem"
	"github.com/halfulp/halfulp/bench/internal/record"
)

// compare measures the libraries on one problem, all of them loaded at the same time.
func compare(w problem.Workload, bits uint, measured []peer.Library, o *options) ([]record.Figure, error) {
	p := w.Problem(bits, o.Seed)
	var methods []peer.Method
	for _, library := range measured {
		loaded, err := library.Load(p, o.threads(p.Kind))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", library.Name(), err)
		}
		if loaded.Close != nil {
			defer loaded.Close()
		}
		methods = append(methods, loaded.Methods...)
	}
	figures, err := measure.SideBySide(p, methods, o.limits())
	for i := range figures {
		figures[i].Workload = w.Name
	}
	return figures, err
}

// report prints the figures of one problem as they come.
func report(w io.Writer, figures []record.Figure) {
	for _, f := range figures {
		fmt.Fprintf(w, "%-20s %5d bits  %-24s ", f.Workload, f.Bits, f.Method)
		if f.Skipped != "" {
			fmt.Fprintf(w, "skipped: %s\n", f.Skipped)
			continue
		}
		fmt.Fprintf(w, "%9.4g %s, from %.4g to %.4g, %d × %d runs, %d threads", f.Median, f.Unit, f.Min, f.Max, f.Repeats, f.Runs, f.Threads)
		if f.Partial() {
			fmt.Fprintf(w, ", %d of %d columns", f.Columns, f.ColumnsOf)
		}
		fmt.Fprintln(w)
	}
}
