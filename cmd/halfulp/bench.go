package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/textio"
)

type benchCmd struct {
	Operations []string `arg:"" name:"OPERATION" optional:"" help:"Operations from the list above (default: sum, dot, gemv, gemm, solve, inv)."`

	Size      []int         `short:"n" group:"input" placeholder:"N" help:"Orders of matrices and lengths of vectors (default: 300 for matrices and 1000000 for vectors)."`
	Format    []formatFlag  `group:"input" default:"f64,mp:106,mp:424" placeholder:"FORMAT" help:"Formats of operands and results. Default ${default}."`
	Device    []string      `group:"run" sep:"none" default:"cpu" placeholder:"NAME" help:"Device: cpu, auto, cuda:N, or several GPUs, as cuda:N,M or cuda:N-M. Operands live on the GPUs named. May be repeated. Default ${default}."`
	Transfers bool          `group:"run" help:"Keep operands on the host, so that times on GPUs include transfers."`
	Threads   threads       `group:"run" default:"0" placeholder:"N" help:"Number of threads; 0 means one for each processor. Default ${default}."`
	Memory    memorySize    `group:"run" placeholder:"SIZE" help:"Memory for the work on operands, such as 500M or 8G. Default: half of the machine's memory, or of the system's limit for the process. Products that need more run in blocks."`
	Method    string        `group:"run" default:"auto" placeholder:"NAME" help:"Algorithm: auto, residue or direct. Default ${default}."`
	Check     bool          `group:"run" name:"check-hardware" help:"Check the hardware: compute every entry of a matrix product modulo one additional modulus and compare. A difference is an error that names the entry."`
	Time      time.Duration `group:"run" default:"1s" placeholder:"TIME" help:"Time to spend on each case, with at least 3 runs. Default ${default}."`
	Runs      int           `group:"run" placeholder:"N" help:"Number of runs of each case, instead of --time."`
	Limit     time.Duration `group:"run" placeholder:"TIME" help:"Give up a case if a single run takes longer."`

	Save    string `group:"result" placeholder:"FILE" help:"Save the measurements in FILE, as JSON, after every case."`
	Against string `group:"result" placeholder:"FILE" help:"Compare with an earlier run that --save wrote to FILE."`
	Plot    string `group:"result" placeholder:"FILE.svg" help:"Plot times over sizes, or over precisions if there is one size."`
	JSON    bool   `group:"result" name:"json" help:"Write one JSON object in place of the table: machine, times of all runs in nanoseconds, stages."`
	Quiet   bool   `group:"run" short:"q" help:"No progress bar on standard error."`
}

// Words returns the operations.
func (benchCmd) Words() (names []string) {
	for _, o := range benchOperations {
		names = append(names, o.name)
	}
	return names
}

func (benchCmd) Help() string {
	var b strings.Builder
	b.WriteString(`Measures how long operations take on this machine. Operands are random numbers, uniform in (-1, 1), the same in every run; symmetric matrices are A A' + n I. The operations, with n the size:

`)
	for _, o := range benchOperations {
		fmt.Fprintf(&b, "  %-8s  %s\n", o.name, o.text)
	}
	b.WriteString(`
A first run warms up and is not counted, unless it takes longer than --time. Each line has the median of all runs, the shortest and the longest, and the rate in 10^9 multiply-adds a second (as LAPACK counts them). The last column is the median divided by the median time of a product of two n x n matrices of the same format on the same device, which is measured with it.

--against FILE adds the ratio of the medians, below 1 if this run is faster, and the p-value of the Mann-Whitney U test, the probability that chance alone makes runs differ so much. A p-value above 0.05 is marked ~.

Examples:

  halfulp bench gemm --size 100 --runs 3
  halfulp bench sum dot --size 1000,100000 --format f64 --time 50ms --plot sums.svg
  halfulp bench solve inv det --size 50 --format mp:106 --runs 3 --save before.json
  halfulp bench solve --size 50 --format mp:106 --runs 3 --against before.json --limit 1m
  halfulp bench eigvalsh eigh svd --size 20 --format f64 --runs 3
  halfulp bench gemm lu --size 1000 --device cpu --device cuda:0`)
	return b.String()
}

// benchCase is the measurement of one operation.
type benchCase struct {
	Operation string `json:"operation"`
	N         int    `json:"n"`
	Format    string `json:"format"`
	Device    string `json:"device"`
	Resident  bool   `json:"resident"` // operands live on the device
	Method    string `json:"method"`
	Threads   int    `json:"threads"`

	Times    []time.Duration `json:"ns"`        // of all runs, in their order
	Median   time.Duration   `json:"median_ns"` // 0 where no run finished
	Rate     halfulp.Measure `json:"rate"`      // multiply-adds a second
	Products halfulp.Measure `json:"products,omitempty"`
	Stats    *runStats       `json:"stats,omitempty"` // of the median run
	Error    string          `json:"error,omitempty"` // why there are no runs

	// Before is the median of an earlier run.
	Before time.Duration    `json:"before_median_ns,omitempty"`
	Ratio  halfulp.Measure  `json:"ratio,omitempty"`
	P      *halfulp.Measure `json:"p,omitempty"`
}

// benchReport is a run of halfulp bench.
type benchReport struct {
	Version string       `json:"version"`
	Go      string       `json:"go"`
	System  string       `json:"system"`
	CPU     string       `json:"cpu"`
	Threads int          `json:"threads"` // of the machine
	Level   string       `json:"level"`
	Devices []deviceInfo `json:"devices"`
	Date    time.Time    `json:"date"`
	Cases   []benchCase  `json:"cases"`
}

// benchDefaults are the operations of a run that names none.
var benchDefaults = []string{"sum", "dot", "gemv", benchProduct, "solve", "inv"}

const (
	benchOrder  = 300     // of matrices, by default
	benchLength = 1000000 // of vectors
	benchLeast  = 3       // runs of a case
	benchMost   = 1000
)

func (c *benchCmd) Run(env *cli.Environment) error {
	operations, err := c.check(env)
	if err != nil {
		return err
	}
	var before *benchReport
	if c.Against != "" {
		if before, err = readBench(env, c.Against); err != nil {
			return err
		}
	}
	r := benchReport{
		Version: cli.Version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, CPU: isa.Model(),
		Threads: runtime.GOMAXPROCS(0), Level: isa.Level().String(), Date: time.Now().UTC().Truncate(time.Second),
		Devices: append([]deviceInfo{{Name: cpuDevice, Available: true, Text: "available"}}, gpus()...),
	}
	table := benchTable{w: env.Stdout, against: before != nil, threads: int(c.Threads)}
	if !c.JSON {
		table.head(r)
	}
	err = c.measure(env, operations, func(one benchCase) error {
		if before != nil {
			one.compare(before)
		}
		r.Cases = append(r.Cases, one)
		if c.Save != "" { // so that an interrupt in a later case keeps the results
			if err := writeBench(env, c.Save, r); err != nil {
				return err
			}
		}
		if c.JSON {
			return nil
		}
		return table.row(one)
	})
	if err != nil {
		return err
	}
	if c.JSON {
		if err := writeBench(env, files.Stdio, r); err != nil {
			return err
		}
	}
	if c.Plot != "" {
		if err := files.Write(c.Plot, env.Stdout, func(w io.Writer) error { return plotBench(w, r) }); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(r.Cases, func(one benchCase) bool { return one.Error == "" }) {
		return errors.New("no operation could be measured")
	}
	return nil
}

func writeBench(env *cli.Environment, name string, r benchReport) error {
	return files.Write(name, env.Stdout, func(w io.Writer) error { return writeJSON(w, r) })
}

// check returns the operations to measure, or an error in the command line.
func (c *benchCmd) check(env *cli.Environment) ([]benchOperation, error) {
	names := c.Operations
	if len(names) == 0 {
		names = benchDefaults
	}
	var list []benchOperation
	for _, name := range names {
		o, ok := findBenchOperation(name)
		if !ok {
			return nil, cli.Misuse("there is no operation %q; the operations are %s%s", name, strings.Join(benchNames(), ", "), textio.DidYouMean(name, benchNames()))
		}
		list = append(list, o)
	}
	for _, n := range c.Size {
		if n < 1 {
			return nil, cli.Misuse("--size: %d is not 1 or more", n)
		}
	}
	switch {
	case c.Runs < 0:
		return nil, cli.Misuse("--runs: %d is negative", c.Runs)
	case c.Time < 0 || c.Limit < 0:
		return nil, cli.Misuse("--time and --limit: times are not negative")
	case c.Plot != "" && ending(c.Plot, ".svg") == "":
		return nil, cli.Misuse("--plot: %s: a name that ends in .svg is wanted", c.Plot)
	}
	for _, d := range c.Device {
		if err := (&halfulp.Options{Context: env.Ctx, Device: halfulp.Device(d), Method: halfulp.Method(c.Method), Check: c.Check}).Validate(); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{c.Save, c.Plot} {
		if name == "" {
			continue
		}
		if err := files.CheckWritable(name); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// sizes returns the sizes for an operation.
func (c *benchCmd) sizes(o benchOperation) []int {
	switch {
	case len(c.Size) > 0:
		return c.Size
	case o.vectors():
		return []int{benchLength}
	default:
		return []int{benchOrder}
	}
}

// measure measures all cases, and calls found for each. Cases of one size, format and device follow
// one another, because they share operands.
func (c *benchCmd) measure(env *cli.Environment, operations []benchOperation, found func(benchCase) error) error {
	for _, vectors := range []bool{true, false} {
		var some []benchOperation
		for _, o := range operations {
			if o.vectors() == vectors {
				some = append(some, o)
			}
		}
		if len(some) == 0 {
			continue
		}
		for _, device := range c.Device {
			for _, n := range c.sizes(some[0]) {
				for _, f := range c.Format {
					g := benchGroup{
						benchData: benchData{n: n, format: f.Format, on: c.place(device), made: map[operand]*halfulp.Matrix{}},
						cmd:       c, env: env, device: device,
					}
					err := g.measure(some, found)
					g.free()
					if err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// place returns where the operands live for a device.
func (c *benchCmd) place(device string) halfulp.Device {
	if c.Transfers || !strings.HasPrefix(device, "cuda:") {
		return halfulp.CPU
	}
	return halfulp.Device(device)
}

// benchGroup is the cases with the same operands.
type benchGroup struct {
	benchData
	cmd    *benchCmd
	env    *cli.Environment
	device string
}

// measure measures the cases, the product first, because the times of the others are given as
// multiples of its time.
func (g *benchGroup) measure(operations []benchOperation, found func(benchCase) error) error {
	var product benchCase
	if !operations[0].vectors() {
		o, _ := findBenchOperation(benchProduct)
		var err error
		if product, err = g.one(o); err != nil {
			return err
		}
	}
	for _, o := range operations {
		z := product
		if o.name != benchProduct {
			var err error
			if z, err = g.one(o); err != nil {
				return err
			}
		}
		if product.Median > 0 && z.Median > 0 {
			z.Products = halfulp.Measure(z.Median) / halfulp.Measure(product.Median)
		}
		if err := found(z); err != nil {
			return err
		}
	}
	return nil
}

// one measures one operation. An error of the operation is stored in the case; err is an error of
// the context, or misuse.
func (g *benchGroup) one(o benchOperation) (z benchCase, err error) {
	z = benchCase{
		Operation: o.name, N: g.n, Format: g.format.String(), Device: g.device, Resident: g.on != halfulp.CPU,
		Method: g.cmd.Method, Threads: int(g.cmd.Threads),
	}
	var bar *cli.Progress
	if !g.cmd.Quiet {
		bar = cli.NewProgress(g.env.Stderr, fmt.Sprintf("%s n=%d %v %s", o.name, g.n, g.format, g.device))
		bar.Wait()
	}
	defer bar.Finish()
	runs, err := g.runs(o)
	if e := g.env.Ctx.Err(); e != nil {
		return z, e
	}
	if err != nil {
		z.Error = err.Error()
		return z, nil
	}
	for _, r := range runs {
		z.Times = append(z.Times, r.took)
	}
	slices.SortStableFunc(runs, func(a, b timedRun) int { return int(a.took - b.took) })
	middle := runs[(len(runs)-1)/2]
	z.Median = (middle.took + runs[len(runs)/2].took) / 2
	z.Rate = halfulp.Measure(o.work(float64(g.n)) / z.Median.Seconds())
	z.Stats = &runStats{Stats: &middle.stats}
	return z, nil
}

// timedRun is a run and its time.
type timedRun struct {
	stats halfulp.Stats
	took  time.Duration
}

// runs runs an operation several times.
func (g *benchGroup) runs(o benchOperation) (all []timedRun, err error) {
	rows, cols := min(g.n, math.MaxInt/4), 3 // of all operands
	if !o.vectors() {
		cols *= rows
	}
	if err := g.cmd.Memory.checkSize(g.format, rows, cols); err != nil {
		return nil, err
	}
	if err := g.make(o.needs); err != nil {
		return nil, err
	}
	most, budget := g.cmd.Runs, g.cmd.Time
	began := time.Now()
	for warm := false; ; {
		r, err := g.run(o)
		if err != nil {
			return nil, err
		}
		if !warm && r.took <= budget {
			warm, began = true, time.Now()
			continue
		}
		warm = true
		all = append(all, r)
		switch {
		case most > 0 && len(all) < most:
		case most == 0 && len(all) < benchLeast:
		case most == 0 && len(all) < benchMost && time.Since(began) < budget:
		default:
			return all, nil
		}
	}
}

// run runs an operation once.
func (g *benchGroup) run(o benchOperation) (timedRun, error) {
	ctx, cancel := g.env.Ctx, context.CancelFunc(func() {})
	if g.cmd.Limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, g.cmd.Limit)
	}
	defer cancel()
	opt := &halfulp.Options{
		Context: ctx, Device: halfulp.Device(g.device), Threads: int(g.cmd.Threads), Method: halfulp.Method(g.cmd.Method),
		MemoryLimit: int64(g.cmd.Memory), Check: g.cmd.Check,
	}
	var r timedRun
	opt.Stats = &r.stats
	start := time.Now()
	err := o.run(&g.benchData, opt)
	r.took = time.Since(start)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("longer than %v", g.cmd.Limit)
	}
	return r, err
}
