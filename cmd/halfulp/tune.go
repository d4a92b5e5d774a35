package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cli"
	dispatch "github.com/halfulp/halfulp/internal/product"
)

type tuneCmd struct {
	JSON  bool `name:"json" help:"Write one JSON object."`
	Quiet bool `short:"q" help:"No progress bar."`

	RNS    bool   `name:"rns" help:"Find and save the fastest blocks of threads for sums and matrix-vector products of package rns on a GPU instead."`
	Device string `placeholder:"NAME" help:"With --rns: the GPU (default: cuda:0)."`
}

func (tuneCmd) Help() string {
	return `Measures the costs from which methods are chosen, and prints them beside the built-in values. It takes some seconds on one thread. It measures

  - for each kernel, the time of one multiply-add of residues, or, with AMX, of bytes;
  - for the kernels in use, the times of the parts of whole products, in multiples of their estimates: the products of small integers, the conversion of operands to these, and the reconstruction of rounded results;
  - for some precisions, the time of one multiply-add into an exact accumulator, and the order from which on residues are faster for a square product;
  - if there is a GPU, the order from which on a square product is faster on it than on all threads of the CPU, transfers included, and the order from which on --device auto uses it once it is open.

The multiples are saved for this model of processor, in the file halfulp/costs.json of the user's cache directory. From then on the program and the Go package use them to estimate the time of products. They change which method runs, but no bit of a result. Measure on a quiet machine.

With --rns it finds instead the fastest blocks of threads on a GPU for the sum of 10^6 numbers and for the product of a matrix of order 1000 and a vector, at 106 to 1696 bits. It saves them in the file halfulp/rns.json of the user's cache directory, where the Go functions rns.TuneSum and rns.TuneGemv and halfulp reproduce read them. To use them with the methods rns-hybrid and rns-gemv, pass them as --blocks and --block-size. They set the order of additions, so the bits differ from the default's, but are the same on CPUs and GPUs.`
}

func (c *tuneCmd) Run(env *cli.Environment) error {
	if !c.RNS && c.Device != "" {
		return cli.Misuse("--device goes with --rns: without --rns all devices are measured")
	}
	if c.RNS {
		if c.Device == "" {
			c.Device = "cuda:0"
		}
		list, err := tuneRNS(env, c.Device)
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(env.Stdout, list)
		}
		return writeRNSTuning(env.Stdout, list)
	}
	var bar *cli.Progress
	if !c.Quiet {
		bar = cli.NewProgress(env.Stderr, "tune")
	}
	t, err := dispatch.Tune(env.Ctx, bar.Callback())
	bar.Finish()
	if err != nil {
		return err
	}
	if err := t.Remember(); err != nil {
		return fmt.Errorf("the measurements cannot be saved: %w", err)
	}
	var g []gpuTuning
	if gpus, _ := halfulp.GPUs(); len(gpus) > 0 {
		if g, err = tuneGPU(env.Ctx); err != nil {
			return err
		}
	}
	if c.JSON {
		return writeJSON(env.Stdout, struct {
			dispatch.Tuning
			GPU []gpuTuning `json:"gpu,omitempty"`
		}{t, g})
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "kernel\tns here\tns built in\t")
	for _, k := range t.Kernels {
		fmt.Fprintf(w, "%s\t%.4f\t%.4f\t\n", k.Name, k.Measured, k.BuiltIn)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout)
	fmt.Fprintln(w, "kernel\tproducts\toperands\tresults\t")
	for _, c := range t.Costs {
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t\n", c.Kernels, c.Products, c.Operands, c.Results)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout)
	fmt.Fprintln(w, "bits\tns here\tns built in\tresidues from order\t")
	for _, e := range t.Exact {
		fmt.Fprintf(w, "%d\t%.1f\t%.1f\t%s\t\n", e.Bits, e.Measured, e.BuiltIn, foundOrder(e.Crossover))
	}
	if err := w.Flush(); err != nil || g == nil {
		return err
	}
	fmt.Fprintln(env.Stdout)
	fmt.Fprintln(w, "bits\tGPU from order\tauto from order\t")
	for _, e := range g {
		fmt.Fprintf(w, "%d\t%s\t%s\t\n", e.Bits, foundOrder(e.Crossover), foundOrder(e.Auto))
	}
	return w.Flush()
}

func foundOrder(order int) string {
	if order == 0 {
		return "none found"
	}
	return fmt.Sprint(order)
}

// gpuTuning has the order from which on a square product of Bits-bit numbers is faster on the GPU,
// and the order from which on device auto uses the GPU for it (0: none was found).
type gpuTuning struct {
	Bits      int `json:"bits"`
	Crossover int `json:"crossover_n"`
	Auto      int `json:"auto_n"`
}

func tuneGPU(ctx context.Context) ([]gpuTuning, error) {
	var list []gpuTuning
	for _, p := range []uint{53, 106, 212, 424, 848, 1696} {
		f := halfulp.MP(p)
		if p == 53 {
			f = halfulp.Float64
		}
		g := gpuTuning{Bits: int(p)}
		for _, n := range []int{50, 75, 100, 150, 200, 300, 400, 600, 800, 1200} {
			a, c := gallery.Random(f, n, n, 1, 1), halfulp.NewMatrix(f, n, n)
			gemm := func(device halfulp.Device) (halfulp.Stats, time.Duration, error) {
				var st halfulp.Stats
				d := make([]time.Duration, 4) // the first warms up
				for i := range d {
					start := time.Now()
					err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, a, halfulp.Float(0), c,
						&halfulp.Options{Context: ctx, Device: device, Stats: &st})
					if err != nil {
						return st, 0, err
					}
					d[i] = time.Since(start)
				}
				slices.Sort(d[1:])
				return st, d[2], nil
			}
			_, onGPU, err := gemm("cuda:0")
			if err != nil {
				return nil, err
			}
			_, onCPU, err := gemm(cpuDevice)
			if err != nil {
				return nil, err
			}
			st, _, err := gemm("auto")
			if err != nil {
				return nil, err
			}
			if g.Crossover == 0 && onGPU < onCPU {
				g.Crossover = n
			}
			if g.Auto == 0 && strings.HasPrefix(st.Device, "cuda:") {
				g.Auto = n
			}
			if g.Crossover > 0 && g.Auto > 0 {
				break
			}
		}
		list = append(list, g)
	}
	return list, nil
}
