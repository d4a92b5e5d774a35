package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/textio"
	"golang.org/x/perf/benchmath"
)

// benchTable writes cases as lines of a table.
type benchTable struct {
	w       io.Writer
	against bool
	threads int // as requested, 0 for all
}

const benchColumns = "%-9s %8s %-8s %-8s %10s %10s %10s %5s %9s %9s"

func (t benchTable) head(r benchReport) {
	threads := textio.Count(r.Threads, "thread")
	if t.threads > 0 && t.threads < r.Threads {
		threads = fmt.Sprintf("%d of %s", t.threads, threads)
	}
	fmt.Fprintf(t.w, "# halfulp %s, %s, %s, %s, %s, %s\n",
		strings.TrimPrefix(r.Version, "halfulp "), r.Go, r.System, r.CPU, threads, r.Level)
	line := fmt.Sprintf(benchColumns, "operation", "n", "format", "device", "median", "min", "max", "runs", "10^9/s", "products")
	if t.against {
		line += fmt.Sprintf(" %10s %8s %8s", "before", "ratio", "p")
	}
	fmt.Fprintln(t.w, line)
}

func (t benchTable) row(c benchCase) error {
	n := fmt.Sprint(c.N)
	if c.Error != "" {
		_, err := fmt.Fprintf(t.w, "%-9s %8s %-8s %-8s %s\n", c.Operation, n, c.Format, c.Device, c.Error)
		return err
	}
	products := "-"
	if c.Products > 0 {
		products = fmt.Sprintf("%.3g", c.Products)
	}
	line := fmt.Sprintf(benchColumns, c.Operation, n, c.Format, c.Device, rounded(c.Median), rounded(slices.Min(c.Times)), rounded(slices.Max(c.Times)),
		fmt.Sprint(len(c.Times)), fmt.Sprintf("%.3g", c.Rate/1e9), products)
	if t.against {
		before, ratio, p := "-", "-", "-"
		if c.Before > 0 {
			before, ratio, p = rounded(c.Before).String(), fmt.Sprintf("%.2f", c.Ratio), "~"
			if *c.P <= 0.05 {
				p = fmt.Sprintf("%.3f", *c.P)
			}
		}
		line += fmt.Sprintf(" %10s %8s %8s", before, ratio, p)
	}
	_, err := fmt.Fprintln(t.w, line)
	return err
}

// readBench reads a file that halfulp bench --json wrote.
func readBench(env *cli.Environment, name string) (*benchReport, error) {
	text, err := files.Read(name, env.Stdin)
	if err != nil {
		return nil, err
	}
	r := new(benchReport)
	if err := json.Unmarshal(text, r); err != nil || len(r.Cases) == 0 {
		return nil, fmt.Errorf("%s: not a run that halfulp bench --save kept", name)
	}
	return r, nil
}

// compare adds the result of the same case in an earlier run, if there is one.
func (c *benchCase) compare(before *benchReport) {
	k := slices.IndexFunc(before.Cases, func(b benchCase) bool {
		return b.Operation == c.Operation && b.N == c.N && b.Format == c.Format && b.Device == c.Device &&
			b.Resident == c.Resident && b.Method == c.Method && b.Threads == c.Threads
	})
	if k < 0 || c.Median == 0 || before.Cases[k].Median == 0 {
		return
	}
	b := before.Cases[k]
	c.Before, c.Ratio = b.Median, halfulp.Measure(c.Median)/halfulp.Measure(b.Median)
	p := halfulp.Measure(benchmath.AssumeNothing.Compare(sample(b.Times), sample(c.Times)).P)
	c.P = &p
}

func sample(times []time.Duration) *benchmath.Sample {
	values := make([]float64, len(times))
	for i, t := range times {
		values[i] = t.Seconds()
	}
	return benchmath.NewSample(values, &benchmath.DefaultThresholds)
}
