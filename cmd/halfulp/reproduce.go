package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/reproduce"
)

type reproduceCmd struct {
	Sum  reproduceSumCmd  `cmd:"" name:"mpres-sum" help:"Accuracy and times of RNS sums: MPRES, 2018, tables 1 and 2, figures 6 and 7."`
	Gemv reproduceGemvCmd `cmd:"" name:"mpres-gemv" help:"RNS matrix-vector products: MPRES-BLAS, 2020, tables 3 and 5, error bounds."`

	QD reproduceQDCmd `cmd:"" name:"qd" help:"Double-double and quad-double operations, products and systems: Sivkova and others, tables 3.6-1, 5.1, 5.2.5, 6.2.2, 6.3.2."`

	Ozaki reproduceOzakiCmd `cmd:"" name:"ozaki" help:"Matrix products by a few float32 slices: Nanai and Fujimoto, 2021, tables 2 and 3, figures 7 to 30."`
}

// reproduceFlags are the flags of every experiment.
type reproduceFlags struct {
	Out     string `short:"o" placeholder:"DIR" help:"Also write the figures as CSV and JSON and the plots as PNG and SVG into the folder DIR, each file whole or not at all."`
	Device  string `default:"cpu" placeholder:"NAME" help:"cuda:N: rows of that GPU, beside the CPU's (ozaki: in their place). Default ${default}."`
	JSON    bool   `name:"json" help:"Print the report as one JSON object."`
	Threads int    `default:"0" placeholder:"N" help:"Threads; 0 takes one for each processor. Default ${default}."`
	Quiet   bool   `short:"q" help:"Nothing on standard error."`
}

// maxReproduceN bounds --n.
const maxReproduceN = 1 << 30

// runSize runs an experiment of one size, by default the paper's.
func (f *reproduceFlags) runSize(env *environment, name string, n *int, paper int, takes func(n int) time.Duration,
	experiment func(reproduce.Options) (*reproduce.Report, error)) error {
	size, flags := paper, ""
	if n != nil && *n != paper {
		size = *n
		flags = fmt.Sprintf(" --n %d", size)
	}
	if err := checkReproduceN(size); err != nil {
		return err
	}
	return f.run(env, name, flags, fmt.Sprintf("n = %d", size), takes(size), func(o reproduce.Options) (*reproduce.Report, error) {
		o.N = size
		return experiment(o)
	})
}

func checkReproduceN(n int) error {
	if n < 1 || n > maxReproduceN {
		return misuse("--n: %d is not between 1 and 2^30", n)
	}
	return nil
}

// run runs an experiment, which has flags of its own, and writes its report. takes is 0 if it all
// runs on the GPU.
func (f *reproduceFlags) run(env *environment, name, flags, size string, takes time.Duration,
	experiment func(reproduce.Options) (*reproduce.Report, error)) error {
	if f.Threads < 0 {
		return misuse("--threads: %d is negative", f.Threads)
	}
	if err := reproduce.CheckDevice(f.Device); err != nil {
		return err
	}
	if err := f.checkFolder(); err != nil {
		return err
	}
	command := "halfulp reproduce " + name + flags
	if f.Threads > 0 {
		command += fmt.Sprintf(" --threads %d", f.Threads)
	}
	if f.Device != cpuDevice {
		command += " --device " + f.Device
	}
	var bar *progressBar
	if !f.Quiet {
		about := fmt.Sprintf("takes about %v on two processors", takes.Round(time.Second))
		switch {
		case takes == 0:
			about = "on " + f.Device
		case f.Device != cpuDevice:
			about += ", and more for " + f.Device
		}
		fmt.Fprintf(env.stderr, "halfulp: %s, %s: %s\n", name, size, about)
		bar = newProgress(env.stderr, name)
	}
	m := machine()
	threads := m.Threads
	if f.Threads > 0 {
		threads = f.Threads
	}
	where := reproduce.Machine{CPU: m.CPU, Threads: threads, Level: m.Level, System: m.System, Go: m.Go, Version: m.Version, GPUs: []string{}}
	for _, d := range m.Devices {
		if d.Model != "" {
			where.GPUs = append(where.GPUs, d.Model)
		}
	}
	r, err := experiment(reproduce.Options{
		Threads: f.Threads, Context: env.ctx, MemoryLimit: halfulp.DefaultMemoryLimit(), Machine: where, Command: command, Device: f.Device,
		Progress: bar.callback(),
	})
	bar.finish()
	if err != nil {
		return err
	}
	if err := f.writeFolder(r); err != nil {
		return err
	}
	write := r.WriteText
	if f.JSON {
		write = r.WriteJSON
	}
	return files.Write(files.Stdio, env.stdout, write)
}

// checkFolder returns an error if --out is no folder that files can be written into, nor
// can become one.
func (f *reproduceFlags) checkFolder() error {
	switch f.Out {
	case "":
		return nil
	case files.Stdio:
		return misuse("--out: standard output is no folder; without --out the report goes there")
	}
	i, err := os.Stat(f.Out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Where a file could be made, so can the folder.
		return files.CheckWritable(strings.TrimRight(f.Out, string(filepath.Separator)))
	case err != nil:
		return err
	case !i.IsDir():
		return fmt.Errorf("%s: is not a folder", f.Out)
	}
	return files.CheckWritable(filepath.Join(f.Out, "report"))
}

// writeFolder writes the files of the report.
func (f *reproduceFlags) writeFolder(r *reproduce.Report) error {
	if f.Out == "" {
		return nil
	}
	if err := os.Mkdir(f.Out, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, file := range r.Files() {
		if err := files.Write(filepath.Join(f.Out, file.Name), nil, file.Write); err != nil {
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
	return `Runs the experiments of K. Nanai and N. Fujimoto, Evaluation of double-precision matrix multiplication based on the Ozaki scheme with a small constant number of split matrices in single-precision for gaming GPUs, 2021, and prints the paper's figures beside those measured here, for matrices of numbers (ru - 0.5) exp(phi rn), ru uniform and rn normal: the largest relative error of an entry, its mean over the seeds (table 2), for each seed (figures 8 to 16) and against the time (17 to 25, table 3), the times (figure 7) and the shares of splitting, products and sums (26 to 30). Double-float products, the correctly rounded product of this program and a float64 product of plain loops have rows of their own. References are exact products rounded to two doubles.

With --device cuda:N everything runs on that GPU in place of the CPU, float32 and float64 by cuBLAS if it is installed, as in the paper.

Examples:

  halfulp reproduce ozaki
  halfulp reproduce ozaki --n 1024,2048 --seeds 10 --out ozaki
  halfulp reproduce ozaki --n 1024,2048,4096 --seeds 10 --device cuda:0
  halfulp reproduce ozaki --n 256 --phi 1 --json`
}

func (c *reproduceOzakiCmd) Run(env *environment) error {
	sizes, phi := c.N, c.Phi
	if len(sizes) == 0 {
		sizes = reproduce.OzakiSizes
	}
	if len(phi) == 0 {
		phi = reproduce.OzakiPhi
	}
	for _, n := range sizes {
		if err := checkReproduceN(n); err != nil {
			return err
		}
	}
	for _, x := range phi {
		if !(x >= 0 && x <= 100) {
			return misuse("--phi: %g is not between 0 and 100", x)
		}
	}
	if c.Seeds < 1 || c.Seeds > 1000 {
		return misuse("--seeds: %d is not between 1 and 1000", c.Seeds)
	}
	flags := ""
	if len(c.N) > 0 {
		flags += " --n " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(c.N)), ","), "[]")
	}
	if c.Seeds != 3 {
		flags += fmt.Sprintf(" --seeds %d", c.Seeds)
	}
	if len(c.Phi) > 0 {
		flags += " --phi " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(c.Phi)), ","), "[]")
	}
	size := fmt.Sprintf("n = %v, %d seeds, phi = %v", sizes, c.Seeds, phi)
	takes := reproduce.OzakiTime(sizes, c.Seeds*len(phi))
	if c.Device != cpuDevice {
		takes = 0
	}
	return c.run(env, "ozaki", flags, size, takes, func(o reproduce.Options) (*reproduce.Report, error) {
		return reproduce.Ozaki(o, sizes, c.Seeds, phi)
	})
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

func (c *reproduceQDCmd) Run(env *environment) error {
	n, flags, size := 0, "", fmt.Sprintf("n = %d", reproduce.QDCPUN)
	takes := reproduce.QDTime(reproduce.QDCPUN)
	if c.N != nil {
		n = *c.N
		if err := checkReproduceN(n); err != nil {
			return err
		}
		flags, size, takes = fmt.Sprintf(" --n %d", n), fmt.Sprintf("n = %d", n), reproduce.QDTime(n)
	}
	return c.run(env, "qd", flags, size, takes, func(o reproduce.Options) (*reproduce.Report, error) {
		o.N = n
		return reproduce.QD(o)
	})
}

type reproduceSumCmd struct {
	N *int `name:"n" placeholder:"N" help:"Number of doubles that the sums are timed with (default 1000000, the paper's)."`
	reproduceFlags
}

func (reproduceSumCmd) Help() string {
	return `Runs the experiments of K. Isupov, V. Knyazkov and A. Kuvaev, Multiple-precision summation on CPUs and GPUs with the library MPRES, 2018, and prints the paper's figures beside those measured here: the accuracy of recursive, pairwise and hybrid summation on three sets at 30 to 240 bits (tables 1 and 2), and the times for uniform doubles at 30 to 480 bits on the CPU, with SIMD and scalar loops over residues (figures 6 and 7). The correctly rounded sum of this program has rows of its own. Notes say where accuracy differs, and why.

With --device cuda:N there are rows for that GPU: Reduce1 and Reduce2 by one thread (S) and by one group of threads (P), of the first 20000 numbers at most, Reduce2 parallel over all numbers and moduli, and Reduce3 with 64 blocks of 32 threads and with the blocks that are fastest there, which the file of halfulp tune --rns remembers; also what the kernels take. Every sum is compared with the CPU's in the same order; other bits are an error.

Set 2 has a million numbers, whatever --n.

Examples:

  halfulp reproduce mpres-sum
  halfulp reproduce mpres-sum --n 100000 --out sum
  halfulp reproduce mpres-sum --device cuda:0`
}

func (c *reproduceSumCmd) Run(env *environment) error {
	return c.runSize(env, "mpres-sum", c.N, reproduce.SumN, reproduce.SumTime, reproduce.Sum)
}

type reproduceGemvCmd struct {
	N *int `name:"n" placeholder:"N" help:"Order of the matrix (default 1000, the paper's)."`
	reproduceFlags
}

func (reproduceGemvCmd) Help() string {
	return `Runs the experiments of K. Isupov and V. Knyazkov, Multiple-precision matrix-vector multiplication on graphics processing units, 2020, and prints the paper's figures beside those measured here: the times of algorithm 1, of its transpose and of the basic implementation at 106 to 1696 bits (table 5), with inputs of a quarter of the bits, which round seldom, and of all bits; the shares of the stages of algorithm 1 (table 3); the error beside its bound (19). The correctly rounded product of this program has rows of its own.

With --device cuda:N there are rows for that GPU, of operands in its memory, with the default blocks and with those that are fastest there, which the file of halfulp tune --rns remembers; also what the kernels take. Every result is compared with the CPU's; other bits are an error.

Examples:

  halfulp reproduce mpres-gemv --out gemv
  halfulp reproduce mpres-gemv --n 200 --json
  halfulp reproduce mpres-gemv --device cuda:0`
}

func (c *reproduceGemvCmd) Run(env *environment) error {
	return c.runSize(env, "mpres-gemv", c.N, reproduce.GemvN, reproduce.GemvTime, reproduce.Gemv)
}
