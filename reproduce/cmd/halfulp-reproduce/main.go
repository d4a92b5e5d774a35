// Halfulp-reproduce runs the experiments of published papers and prints their figures beside those
// measured here. It is "halfulp reproduce", in a program of its own for the sake of its plots.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/halfulp/halfulp"
	_ "github.com/halfulp/halfulp/cuda" // GPUs as devices
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/reproduce"
)

const description = `Runs the experiments of published papers and prints their figures beside those measured here: one paper, or all in one report.`

// grammar is the grammar of the command line.
type grammar struct {
	All reproduceAllCmd `cmd:"" name:"all" help:"All experiments, and one report of them as HTML, Markdown, CSV and JSON."`

	Report reproduceReportCmd `cmd:"" name:"report" help:"That report from the experiments' files, without running them."`

	Sum  reproduceSumCmd  `cmd:"" name:"mpres-sum" help:"Accuracy and times of RNS sums: MPRES, 2018, tables 1 and 2, figures 6 and 7."`
	Gemv reproduceGemvCmd `cmd:"" name:"mpres-gemv" help:"RNS matrix-vector products: MPRES-BLAS, 2020, tables 3 to 5, error bounds."`

	QD reproduceQDCmd `cmd:"" name:"qd" help:"Double-double and quad-double operations, products and systems: Sivkova and others, tables 3.6-1, 5.1, 5.2.5, 6.2.2, 6.3.2."`

	Ozaki reproduceOzakiCmd `cmd:"" name:"ozaki" help:"Matrix products by a few float32 slices: Nanai and Fujimoto, 2021, tables 2 and 3, figures 7 to 30."`

	Version kong.VersionFlag `help:"Print the version and exit."`
}

func main() {
	p := cli.Program{Name: "halfulp reproduce", Description: description, Grammar: func() any { return new(grammar) }}
	os.Exit(p.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// cpuDevice is the name of the device that every machine has.
const cpuDevice = "cpu"

// reproduceFlags are the flags of every experiment.
type reproduceFlags struct {
	Out     *string `short:"o" placeholder:"DIR" help:"Also write the figures as CSV and JSON and the plots as PNG and SVG into the folder DIR, each file whole or not at all."`
	Device  string  `default:"cpu" placeholder:"NAME" help:"cuda:N: rows of that GPU, beside the CPU's (ozaki: in their place). Default ${default}."`
	JSON    bool    `name:"json" help:"Print the report as one JSON object."`
	Threads int     `default:"0" placeholder:"N" help:"Threads; 0 takes one for each processor. Default ${default}."`
	Quiet   bool    `short:"q" help:"Nothing on standard error."`
}

// maxReproduceN bounds --n.
const maxReproduceN = 1 << 30

// checkReproduceN checks the value of a flag.
func checkReproduceN(flag string, n int) error {
	if n < 1 || n > maxReproduceN {
		return cli.Misuse("%s: %d is not between 1 and 2^30", flag, n)
	}
	return nil
}

// check checks the flags and makes sure that files can be written.
func (f *reproduceFlags) check() error {
	if f.Threads < 0 {
		return cli.Misuse("--threads: %d is negative", f.Threads)
	}
	if err := reproduce.CheckDevice(f.Device); err != nil {
		return err
	}
	return f.checkFolder()
}

// flags are those given, but for --out and those that only concern output.
func (f *reproduceFlags) flags() string {
	flags := ""
	if f.Threads > 0 {
		flags += fmt.Sprintf(" --threads %d", f.Threads)
	}
	if f.Device != cpuDevice {
		flags += " --device " + f.Device
	}
	return flags
}

// options holds the options of an experiment.
func (f *reproduceFlags) options(env *cli.Environment, x *reproduce.Experiment, machine reproduce.Machine) reproduce.Options {
	return reproduce.Options{
		Threads: f.Threads, Context: env.Ctx, MemoryLimit: halfulp.DefaultMemoryLimit(), Machine: machine, Device: f.Device,
		Command: "halfulp reproduce " + x.Name + x.Flags() + f.flags(),
	}
}

// machine is this one.
func (f *reproduceFlags) machine() reproduce.Machine {
	threads := runtime.GOMAXPROCS(0)
	if f.Threads > 0 {
		threads = f.Threads
	}
	m := reproduce.Machine{CPU: isa.Model(), Threads: threads, Level: isa.Level().String(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Go: runtime.Version(), Version: cli.Version(), Program: program(), GPUs: []string{}}
	if gpus, err := halfulp.GPUs(); err == nil {
		for _, g := range gpus {
			m.GPUs = append(m.GPUs, g.Model)
		}
	}
	return m
}

// program tells programs apart whose versions are the same: it is the beginning of the hash of the
// running one, or "".
func program() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// run runs an experiment and writes its report.
func (f *reproduceFlags) run(env *cli.Environment, x reproduce.Experiment) error {
	if err := f.check(); err != nil {
		return err
	}
	o := f.options(env, &x, f.machine())
	c := f.newClock(env, x.Name)
	defer c.stop()
	o.Watch = func(m *reproduce.Meter) {
		c.say("%s, %s: takes about %v here", x.Name, x.Size(f.Device != cpuDevice), inTime(m.Estimate()))
		c.watch(m)
	}
	r, err := x.Run(o)
	c.stop()
	if err != nil {
		return err
	}
	if err := f.writeFolder(r.Files()); err != nil {
		return err
	}
	write := r.WriteText
	if f.JSON {
		write = r.WriteJSON
	}
	return files.Write(files.Stdio, env.Stdout, write)
}

// runSize runs an experiment of one size, by default its own.
func (f *reproduceFlags) runSize(env *cli.Environment, name string, n *int) error {
	x := reproduce.Default(name)
	if n != nil {
		if err := checkReproduceN("--n", *n); err != nil {
			return err
		}
		x.N = *n
	}
	return f.run(env, x)
}

// checkFolder returns an error if --out is no folder that files can be written into, nor
// can become one.
func (f *reproduceFlags) checkFolder() error {
	if f.Out == nil {
		return nil
	}
	name := *f.Out
	switch name {
	case "":
		return cli.Misuse("--out: the name is empty")
	case files.Stdio:
		return cli.Misuse("--out: standard output is no folder; without --out the report goes there")
	}
	i, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Where a file could be made, so can the folder.
		return files.CheckWritable(strings.TrimRight(name, string(filepath.Separator)))
	case err != nil:
		return err
	case !i.IsDir():
		return fmt.Errorf("%s: is not a folder", name)
	}
	return files.CheckWritable(filepath.Join(name, "report"))
}

// writeFolder writes files into --out, if that is given.
func (f *reproduceFlags) writeFolder(list []reproduce.File) error {
	if f.Out == nil {
		return nil
	}
	name := *f.Out
	if err := os.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, file := range list {
		if err := files.Write(filepath.Join(name, file.Name), nil, file.Write); err != nil {
			return err
		}
	}
	return nil
}

type reproduceOzakiCmd struct {
	N     []int     `name:"n" placeholder:"N,..." help:"Orders of the matrices (default 128,256,512,1024; the paper's: 128,256,512,1024,2048,4096)."`
	Seeds int       `default:"3" placeholder:"N" help:"Seeds of random matrices; the paper has 10. Default ${default}."`
	Phi   []float64 `placeholder:"PHI,..." help:"Spreads of the numbers (default 0.1,1,2, the paper's)."`
	reproduceFlags
}

func (reproduceOzakiCmd) Help() string {
	return `Runs the experiments of K. Nanai and N. Fujimoto, Evaluation of double-precision matrix multiplication based on the Ozaki scheme with a small constant number of split matrices in single-precision for gaming GPUs, 2021, and prints the paper's figures beside those measured here, for matrices of numbers (ru - 0.5) exp(phi rn), ru uniform and rn normal: the largest relative error of an entry, its mean over the seeds (table 2), for each seed (figures 8 to 16) and against the time (17 to 25, table 3), the times (figure 7), how many times as fast as float64 that is, and the shares of splitting, products and sums (26 to 30): by the paper's slices to the letter (literal) and by this program's (scaled). Double-float products, the correctly rounded product of this program and a float64 product of plain loops have rows of their own. References are exact products rounded to two doubles.

With --device cuda:N everything runs on that GPU in place of the CPU, float32 and float64 by cuBLAS if it is installed, as in the paper.

Examples:

  halfulp reproduce ozaki
  halfulp reproduce ozaki --n 1024,2048 --seeds 10 --out ozaki
  halfulp reproduce ozaki --n 1024,2048,4096 --seeds 10 --device cuda:0
  halfulp reproduce ozaki --n 256 --phi 1 --json`
}

func (c *reproduceOzakiCmd) Run(env *cli.Environment) error {
	x := reproduce.Default("ozaki")
	x.Seeds = c.Seeds
	if len(c.N) > 0 {
		x.Sizes = c.N
	}
	if len(c.Phi) > 0 {
		x.Phi = c.Phi
	}
	if err := checkOzaki("--", x); err != nil {
		return err
	}
	return c.run(env, x)
}

// checkOzaki checks the sizes of ozaki, whose flags begin so.
func checkOzaki(flag string, x reproduce.Experiment) error {
	for _, n := range x.Sizes {
		if err := checkReproduceN(flag+"n", n); err != nil {
			return err
		}
	}
	for _, phi := range x.Phi {
		if !(phi >= 0 && phi <= 100) {
			return cli.Misuse("%sphi: %g is not between 0 and 100", flag, phi)
		}
	}
	if x.Seeds < 1 || x.Seeds > 1000 {
		return cli.Misuse("%sseeds: %d is not between 1 and 1000", flag, x.Seeds)
	}
	return nil
}

type reproduceQDCmd struct {
	N *int `name:"n" placeholder:"N" help:"Order of the linear system; products have 2N/3 x 4N/3 and 4N/3 x 2N/3 matrices (default 600 on the CPU, on a GPU 2400, the paper's)."`
	reproduceFlags
}

func (reproduceQDCmd) Help() string {
	return `Runs the experiments of T. Sivkova, L. Dovgilovich, O. Voskoboynikova and I. Sofronov, CUDA algorithms of some linear algebra operations for the extended precision arithmetic library QD, and prints the paper's figures beside those measured here, for doubles and for numbers of two, three and four of them: operations by one thread (table 3.6-1), + * / (5.1-1, 5.1-3, 5.1-5) and sqrt exp log sin (5.2.5-1, 5.2.5-3) on vectors in memory and many times on the same numbers; products of matrices (6.2.2-1) and systems with many right-hand sides by Gauss-Jordan elimination (6.3.2-1, 6.3.2-3), in the arithmetic of the format and by exact products.

With --device cuda:N there are rows for that GPU, by both launch schemes of the paper: 128 blocks of 128 threads, and a thread for each number. Products and systems have the paper's size there; on the CPU they are smaller, unless --n says so. Operations a millisecond are comparable.

Examples:

  halfulp reproduce qd
  halfulp reproduce qd --n 2400 --out qd
  halfulp reproduce qd --device cuda:0 --json`
}

func (c *reproduceQDCmd) Run(env *cli.Environment) error { return c.runSize(env, "qd", c.N) }

type reproduceSumCmd struct {
	N *int `name:"n" placeholder:"N" help:"Number of doubles that the sums are timed with (default 1000000, the paper's)."`
	reproduceFlags
}

func (reproduceSumCmd) Help() string {
	return `Runs the experiments of K. Isupov, V. Knyazkov and A. Kuvaev, Multiple-precision summation on CPUs and GPUs with the library MPRES, 2018, and prints the paper's figures beside those measured here: the accuracy of recursive, pairwise and hybrid summation on three sets at 30 to 240 bits (tables 1 and 2), and the times for uniform doubles at 30 to 480 bits on the CPU, with SIMD and scalar loops over residues (figures 6 and 7). The correctly rounded sum of this program has rows of its own. Notes say where accuracy differs, and why.

With --device cuda:N there are rows for that GPU: Reduce1 and Reduce2 by one thread (S) and by one group of threads (P), of all numbers unless that takes more than 20 s, then scaled from fewer, as their rows say; Reduce2 parallel over all numbers and moduli, and Reduce3 with 32 to 512 blocks of 32 threads, the paper's 256 among them, and with the blocks that are fastest there, which the file of halfulp tune --rns remembers; also what the kernels take. Every sum is compared with the CPU's in the same order; other bits are an error.

Set 2 has a million numbers, whatever --n.

Examples:

  halfulp reproduce mpres-sum
  halfulp reproduce mpres-sum --n 100000 --out sum
  halfulp reproduce mpres-sum --device cuda:0`
}

func (c *reproduceSumCmd) Run(env *cli.Environment) error {
	return c.runSize(env, "mpres-sum", c.N)
}

type reproduceGemvCmd struct {
	N *int `name:"n" placeholder:"N" help:"Order of the matrix (default 1000, the paper's)."`
	reproduceFlags
}

func (reproduceGemvCmd) Help() string {
	return `Runs the experiments of K. Isupov and V. Knyazkov, Multiple-precision matrix-vector multiplication on graphics processing units, 2020, and prints the paper's figures beside those measured here: the times of algorithm 1 as published, of ours, which fuses its steps and has the same bits, of their transposes and of the basic implementation at 106 to 1696 bits (table 5), with inputs of a quarter of the bits, which round seldom, and of all bits; the shares of the kernels of algorithm 1 (table 3), and what two of them make of the machine (table 4); the error beside its bound (19). The correctly rounded product of this program has rows of its own.

With --device cuda:N there are rows for that GPU, of operands in its memory, ours with the default blocks and with those that are fastest there, which the file of halfulp tune --rns remembers; also what the kernels take. Every result is compared with the CPU's; other bits are an error.

Examples:

  halfulp reproduce mpres-gemv --out gemv
  halfulp reproduce mpres-gemv --n 200 --json
  halfulp reproduce mpres-gemv --device cuda:0`
}

func (c *reproduceGemvCmd) Run(env *cli.Environment) error {
	return c.runSize(env, "mpres-gemv", c.N)
}
