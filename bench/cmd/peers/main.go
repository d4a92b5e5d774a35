// Peers measures halfulp side by side with other libraries on the same data, prints the tables and
// records the figures.
package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"time"

	"github.com/alecthomas/kong"

	"github.com/halfulp/halfulp/bench/internal/libraries"
	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/problem"
	"github.com/halfulp/halfulp/bench/internal/record"
	"github.com/halfulp/halfulp/bench/internal/table"
)

// FLINT keeps its caches a thread: everything runs on the first one.
func init() { runtime.LockOSThread() }

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	var o options
	parser := kong.Must(&o, kong.Name("peers"), kong.Writers(stdout, stderr),
		kong.Description("Measures halfulp side by side with other libraries."))
	if _, err := parser.Parse(args); err != nil {
		fmt.Fprintf(stderr, "peers: %v\n", err)
		return 2
	}
	workloads, measured := selected(&o)
	if o.List {
		list(stdout, workloads, measured)
		return 0
	}
	if len(workloads) == 0 || len(measured) == 0 {
		fmt.Fprintln(stderr, "peers: no workload or no library matches; --list shows them")
		return 2
	}

	r := newRecord(args, measured)
	for _, w := range workloads {
		for _, bits := range o.Bits {
			figures, err := compare(w, bits, measured, &o)
			if err != nil {
				fmt.Fprintf(stderr, "peers: %s, %d bits: %v\n", w.Name, bits, err)
				return 1
			}
			report(stderr, figures)
			r.Figures = append(r.Figures, figures...)
		}
	}
	err := table.WriteText(stdout, r)
	if err == nil && o.JSON != "" {
		err = record.Write(o.JSON, r)
	}
	if err != nil {
		fmt.Fprintf(stderr, "peers: %v\n", err)
		return 1
	}
	return 0
}

// selected returns the workloads and libraries that the options ask for, whose expressions are
// known to compile.
func selected(o *options) (workloads []problem.Workload, measured []peer.Library) {
	only, named := regexp.MustCompile(o.Only), regexp.MustCompile(o.Libraries)
	for _, w := range problem.Workloads() {
		if only.MatchString(w.Name) {
			workloads = append(workloads, w)
		}
	}
	for _, library := range libraries.All() {
		if named.MatchString(library.Name()) {
			measured = append(measured, library)
		}
	}
	return workloads, measured
}

func list(w io.Writer, workloads []problem.Workload, measured []peer.Library) {
	for _, workload := range workloads {
		fmt.Fprintln(w, workload.Name)
	}
	fmt.Fprintln(w)
	for _, library := range measured {
		fmt.Fprintf(w, "%s %s\n", library.Name(), library.Version())
	}
}

func newRecord(args []string, measured []peer.Library) *record.Record {
	r := &record.Record{
		Command: commandLine(args),
		Date:    time.Now().UTC().Truncate(time.Second),
		Machine: machine.Describe(),
		Go:      runtime.Version(),
	}
	r.Commit, r.Dirty = record.Commit()
	for _, library := range measured {
		r.Libraries = append(r.Libraries, record.Library{Name: library.Name(), Version: library.Version()})
	}
	return r
}
