// Files measures what ways through files cost: a product of matrices from file to file, as text and
// as binary, against the product alone, and the sum of a file of doubles against reading it. The
// product alone is one of a process that has computed it before; its first one, for which the
// system clears memory, and copies of the files' bytes say what is left of the way through files.
// Runs of the programs alternate, in processor time and elapsed time, of which the former counts on
// a machine that others use, and the part of it that is not the system's where memory is short.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/record"
	"github.com/halfulp/halfulp/gallery"
)

// A figure is the medians of the times of one command, in seconds.
type figure struct {
	Workload  string  `json:"workload"`
	Program   string  `json:"program"`
	Processor float64 `json:"processor_s"`
	User      float64 `json:"user_s"` // of it, outside the system
	Elapsed   float64 `json:"elapsed_s"`
	// Ratios to the product alone, or to cat.
	ProcessorRatio float64 `json:"processor_ratio"`
	UserRatio      float64 `json:"user_ratio"`
	ElapsedRatio   float64 `json:"elapsed_ratio"`
}

type results struct {
	Command string          `json:"command"`
	Date    time.Time       `json:"date"`
	Commit  string          `json:"commit"`
	Dirty   bool            `json:"dirty"`
	Go      string          `json:"go"`
	Machine machine.Machine `json:"machine"`
	N       int             `json:"n"`
	Format  string          `json:"format"`
	Doubles int             `json:"doubles"`
	Threads int             `json:"threads"`
	Repeats int             `json:"repeats"`
	Figures []figure        `json:"figures"`
}

func main() {
	n := flag.Int("n", 1000, "order of the matrices")
	format := flag.String("format", "mp:424", "their format")
	doubles := flag.Int("doubles", 10_000_000, "numbers to add")
	repeats := flag.Int("repeat", 7, "runs of each command")
	threads := flag.Int("threads", runtime.GOMAXPROCS(0), "threads")
	other := flag.String("other", "", "NAME=PATH of another program halfulp to compare with")
	first := flag.Bool("first", false, "print the times of a first product, and nothing else")
	path := flag.String("json", "", "file for the figures")
	flag.Parse()
	r := results{N: *n, Format: *format, Doubles: *doubles, Threads: *threads, Repeats: *repeats}
	run := func() error { return r.run(*other, *path) }
	if *first {
		run = r.first
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "files:", err)
		os.Exit(1)
	}
}

// command is one to measure, by its arguments or as a function.
type command struct {
	workload, program string
	args              []string
	call              func() error
	printed           bool // it prints its times
}

// times holds the times of one run, in seconds.
type times struct{ processor, user, elapsed float64 }

func (r *results) run(other, path string) error {
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self := filepath.Join(dir, "halfulp")
	if out, err := exec.Command("go", "build", "-C", "..", "-o", self, "./cmd/halfulp").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	for _, args := range r.preparations() {
		c := exec.Command(self, args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w: %s", args, err, out)
		}
	}
	commands, err := r.commands(self, other)
	if err != nil {
		return err
	}
	took := make([][]times, len(commands))
	for range r.Repeats {
		for i, c := range commands {
			t, err := c.time(dir)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", c.workload, c.program, err)
			}
			took[i] = append(took[i], t)
		}
	}
	base := 0 // what the figures after it are compared with
	for i, c := range commands {
		t := medians(took[i])
		f := figure{Workload: c.workload, Program: c.program, Processor: t.processor, User: t.user, Elapsed: t.elapsed}
		if c.call != nil || c.workload == "sum, .npy" && c.program == "cat" {
			base = i
		}
		one := medians(took[base])
		f.ProcessorRatio, f.UserRatio, f.ElapsedRatio = t.processor/one.processor, t.user/max(one.user, 1e-3), t.elapsed/one.elapsed
		fmt.Printf("%-16s %-10s %8.4f s processor %6.2f  %8.4f s user %6.2f  %8.4f s elapsed %6.2f\n",
			f.Workload, f.Program, f.Processor, f.ProcessorRatio, f.User, f.UserRatio, f.Elapsed, f.ElapsedRatio)
		r.Figures = append(r.Figures, f)
	}
	return r.write(path)
}

// preparations are the commands that make the files.
func (r *results) preparations() [][]string {
	size := fmt.Sprint(r.N)
	var all [][]string
	for seed, name := range []string{"A", "B"} {
		all = append(all,
			[]string{"gen", "random", size, size, "--format", r.Format, "--seed", fmt.Sprint(seed + 1), "--out", name + ".mtx"},
			[]string{"convert", name + ".mtx", "--out", name + ".npz"})
	}
	return append(all, []string{"gen", "random", fmt.Sprint(r.Doubles), "1", "--out", "x.npy"})
}

func (r *results) commands(self, other string) ([]command, error) {
	f, err := halfulp.ParseFormat(r.Format)
	if err != nil {
		return nil, err
	}
	programs := [][2]string{{"halfulp", self}}
	if name, path, ok := strings.Cut(other, "="); ok {
		programs = append(programs, [2]string{name, path})
	}
	here, err := os.Executable()
	if err != nil {
		return nil, err
	}
	first := []string{here, "-first", "-n", fmt.Sprint(r.N), "-format", r.Format, "-threads", fmt.Sprint(r.Threads)}
	all := []command{
		{workload: "product", program: "alone", call: r.product(f)},
		{workload: "product", program: "first", args: first, printed: true},
	}
	threads := []string{"--device", "cpu", "--threads", fmt.Sprint(r.Threads), "--quiet"}
	for _, kind := range []string{"mtx", "npz"} {
		for _, p := range programs {
			all = append(all, command{workload: "product, ." + kind, program: p[0], args: append([]string{p[1], "gemm", "A." + kind, "B." + kind, "--format", r.Format, "--out", "C." + kind}, threads...)})
		}
		copies := fmt.Sprintf("cat A.%[1]s B.%[1]s; cp C.%[1]s D.%[1]s; rm D.%[1]s", kind)
		all = append(all, command{workload: "product, ." + kind, program: "cat, cp", args: []string{"sh", "-c", copies}})
	}
	all = append(all, command{workload: "sum, .npy", program: "cat", args: []string{"cat", "x.npy"}})
	for _, p := range programs {
		all = append(all, command{workload: "sum, .npy", program: p[0], args: append([]string{p[1], "sum", "x.npy"}, threads...)})
	}
	numpy := []string{"python3", "-c", "import numpy; numpy.load('x.npy').sum()"}
	if exec.Command(numpy[0], numpy[1], "import numpy").Run() == nil {
		all = append(all, command{workload: "sum, .npy", program: "numpy", args: numpy})
	}
	return all, nil
}

// product returns a function that computes the product.
func (r *results) product(f halfulp.Format) func() error {
	a, b := gallery.Random(f, r.N, r.N, 0, 1), gallery.Random(f, r.N, r.N, 0, 2)
	opt := &halfulp.Options{Device: "cpu", Threads: r.Threads}
	return func() error {
		return halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), nil, halfulp.NewMatrix(f, r.N, r.N), opt)
	}
}

// first prints the times of the product in a new process.
func (r *results) first() error {
	f, err := halfulp.ParseFormat(r.Format)
	if err != nil {
		return err
	}
	t, err := timed(r.product(f))
	fmt.Println(t.processor, t.user, t.elapsed)
	return err
}

// time runs the command once.
func (c command) time(dir string) (t times, err error) {
	if c.call != nil {
		return timed(c.call)
	}
	start := time.Now()
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir = dir
	if c.printed {
		out, err := cmd.Output()
		if err == nil {
			_, err = fmt.Sscan(string(out), &t.processor, &t.user, &t.elapsed)
		}
		return t, err
	}
	if err := cmd.Run(); err != nil {
		return times{}, err
	}
	user := cmd.ProcessState.UserTime()
	return times{(user + cmd.ProcessState.SystemTime()).Seconds(), user.Seconds(), time.Since(start).Seconds()}, nil
}

// timed returns the times that a function takes in this process.
func timed(call func() error) (times, error) {
	var before, after syscall.Rusage
	start := time.Now()
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		return times{}, err
	}
	if err := call(); err != nil {
		return times{}, err
	}
	elapsed := time.Since(start)
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	user := time.Duration(after.Utime.Nano() - before.Utime.Nano())
	system := time.Duration(after.Stime.Nano() - before.Stime.Nano())
	return times{(user + system).Seconds(), user.Seconds(), elapsed.Seconds()}, err
}

// medians returns the median of each time.
func medians(x []times) times {
	of := func(get func(times) float64) float64 {
		s := make([]float64, len(x))
		for i, t := range x {
			s[i] = get(t)
		}
		slices.Sort(s)
		return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
	}
	return times{
		of(func(t times) float64 { return t.processor }),
		of(func(t times) float64 { return t.user }),
		of(func(t times) float64 { return t.elapsed }),
	}
}

// write writes the record.
func (r *results) write(path string) error {
	if path == "" {
		return nil
	}
	r.Command = "go run ./cmd/files " + strings.Join(os.Args[1:], " ")
	r.Date, r.Go, r.Machine = time.Now().UTC().Truncate(time.Second), runtime.Version(), machine.Describe()
	r.Commit, r.Dirty = record.Commit()
	text, err := record.Text(r)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o666)
}
