package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/halfulp/halfulp/internal/exact"
)

type tuneCmd struct {
	JSON  bool `name:"json" help:"Write one JSON object."`
	Quiet bool `short:"q" help:"No progress bar."`
}

func (tuneCmd) Help() string {
	return `Measures on one thread of this machine, within about a second, what the choice of methods rests on, and prints it beside the values built in:

  - for each kernel, the time of one multiply-add of residues;
  - for some precisions, the time of one multiply-add into an exact accumulator, and the order from which on a square product by residues is the faster one.

Other values could make a method run that is slower here, but change no bit of a result. Measure on a quiet machine.`
}

func (c *tuneCmd) Run(env *environment) error {
	var bar *progressBar
	if !c.Quiet {
		bar = newProgress(env.stderr, "tune")
	}
	t, err := exact.Tune(env.ctx, bar.callback())
	bar.finish()
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(env.stdout, t)
	}
	w := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "kernel\tns here\tns built in\t")
	for _, k := range t.Kernels {
		fmt.Fprintf(w, "%s\t%.4f\t%.4f\t\n", k.Name, k.Measured, k.BuiltIn)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(env.stdout)
	fmt.Fprintln(w, "bits\tns here\tns built in\tresidues from order\t")
	for _, e := range t.Exact {
		from := "none found"
		if e.Crossover > 0 {
			from = fmt.Sprint(e.Crossover)
		}
		fmt.Fprintf(w, "%d\t%.1f\t%.1f\t%s\t\n", e.Bits, e.Measured, e.BuiltIn, from)
	}
	return w.Flush()
}
