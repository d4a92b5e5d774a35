// Processes measures what processes gain that share a product under MPI: the product alone, for
// operands of the host and for those that live on the grid, and the program from file to file, each
// in turn with one process. It needs an mpiexec, and builds the program.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/record"
	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/distributed"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/mpi"
)

// A times holds median times of one way to compute a product, in seconds: by the clock, and of the
// processors, which is the better measure if other programs run. Process is the largest processor
// time of a process.
type times struct {
	Wall    float64 `json:"wall"`
	Process float64 `json:"cpu_of_a_process,omitempty"`
	All     float64 `json:"cpu_of_all"`
}

// A figure is a product by one process and by several.
type figure struct {
	Format    string `json:"format"`
	N         int    `json:"n"`
	What      string `json:"what"` // host, resident, files
	Processes int    `json:"processes"`
	Threads   int    `json:"threads_of_a_process"`
	Repeats   int    `json:"repeats"`
	Alone     string `json:"device_of_one"`
	// where each of several multiplied
	Devices []string `json:"devices,omitempty"`
	One     times    `json:"one"`
	// Threaded is one process with all threads of the several.
	Threaded *times `json:"one_with_all_threads,omitempty"`
	Shared   times  `json:"shared"`
	// Gain is the ratio of the clock's times. Work is the ratio of the processor time of one
	// process alone to the largest processor time of several: the gain on an otherwise idle
	// machine.
	Gain float64 `json:"gain"`
	// Beside is the ratio of the clock's times of Threaded and Shared.
	Beside float64 `json:"gain_beside_threads,omitempty"`
	Work   float64 `json:"gain_in_processor_time,omitempty"`
}

type results struct {
	Command string          `json:"command"`
	Date    time.Time       `json:"date"`
	Commit  string          `json:"commit"`
	Dirty   bool            `json:"dirty"`
	Go      string          `json:"go"`
	MPI     string          `json:"mpi"`
	Load    string          `json:"load"` // of the machine, when it began and when it ended
	Machine machine.Machine `json:"machine"`
	Figures []figure        `json:"figures"`
}

type options struct {
	n, ranks, threads, repeats int
	formats, mpiexec, json     string
	one, use                   string // devices
	inside                     string // of a process under MPI: the file for its figures
}

func main() {
	var o options
	flag.IntVar(&o.n, "n", 2000, "size")
	flag.IntVar(&o.ranks, "processes", 2, "processes")
	flag.IntVar(&o.threads, "threads", 1, "threads of each")
	flag.IntVar(&o.repeats, "repeats", 5, "repetitions")
	flag.StringVar(&o.formats, "formats", "f64,mp:106,mp:424", "formats")
	flag.StringVar(&o.mpiexec, "mpiexec", "mpiexec", "the mpiexec")
	flag.StringVar(&o.one, "one", "cpu", "device of the process that is alone")
	flag.StringVar(&o.use, "use", "cpu", "device of each of several, or the GPUs that they share")
	flag.StringVar(&o.json, "json", "", "file for the figures")
	flag.StringVar(&o.inside, "inside", "", "set in the processes that this one starts")
	flag.Parse()
	run := measure
	if o.inside != "" {
		run = inside
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "processes:", err)
		os.Exit(1)
	}
}

// measure starts all that is measured.
func measure(o options) error {
	r := results{
		Command: "go run ./cmd/processes " + strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Truncate(time.Second),
		Go: runtime.Version(), Machine: machine.Describe(), Load: load(),
	}
	r.Commit, r.Dirty = record.Commit()
	dir, err := os.MkdirTemp("", "processes")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "figures.json")
	//nolint:gosec // the command line says what to run
	c := exec.Command(o.mpiexec, append([]string{"-n", strconv.Itoa(o.ranks), self, "-inside", path}, os.Args[1:]...)...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	program := filepath.Join(dir, "halfulp")
	if out, err := exec.Command("go", "build", "-C", "..", "-o", program, "./cmd/halfulp").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	for format := range strings.SplitSeq(o.formats, ",") {
		f, err := files(o, dir, program, format)
		if err != nil {
			return err
		}
		r.Figures = append(r.Figures, f)
	}
	r.Load += ", " + load()
	if o.json == "" {
		return nil
	}
	if text, err = record.Text(r); err != nil {
		return err
	}
	return os.WriteFile(o.json, text, 0o644)
}

// load is what the system says of how many programs want to run.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	words := strings.Fields(string(text))
	if len(words) == 0 {
		return "unknown"
	}
	return words[0]
}

// files measures the program from file to file. Processor times are sums over all processes.
func files(o options, dir, program, format string) (figure, error) {
	f := figure{Format: format, N: o.n, What: "files", Alone: o.one, Processes: o.ranks, Threads: o.threads, Repeats: o.repeats}
	call := func(name string, args ...string) (times, error) {
		begin := time.Now()
		c := exec.Command(name, args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			return times{}, fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
		}
		u := c.ProcessState.SysUsage().(*syscall.Rusage)
		return times{Wall: time.Since(begin).Seconds(), All: seconds(u)}, nil
	}
	for i, name := range []string{"A.npz", "B.npz"} {
		if _, err := call(program, "gen", "random", strconv.Itoa(o.n), strconv.Itoa(o.n), "--seed", strconv.Itoa(i+1), "--format", format, "-q", "--out", name); err != nil {
			return f, err
		}
	}
	gemm := []string{"gemm", "A.npz", "B.npz", "--format", format, "--threads", strconv.Itoa(o.threads), "-q", "--device"}
	var one, shared []times
	for range o.repeats {
		t, err := call(program, append(gemm, o.one, "--out", "C.npz")...)
		if err != nil {
			return f, err
		}
		one = append(one, t)
		if t, err = call(o.mpiexec, append(append([]string{"-n", strconv.Itoa(o.ranks), program}, gemm...), o.use, "--out", "D.npz")...); err != nil {
			return f, err
		}
		shared = append(shared, t)
		c, _ := os.ReadFile(filepath.Join(dir, "C.npz"))
		if d, _ := os.ReadFile(filepath.Join(dir, "D.npz")); string(c) != string(d) {
			return f, fmt.Errorf("%s: files differ", format)
		}
	}
	f.One, f.Shared = medians(one), medians(shared)
	f.finish()
	return f, nil
}

// finish computes the gains and prints all.
func (f *figure) finish() {
	f.Gain = f.One.Wall / f.Shared.Wall
	if f.Shared.Process > 0 {
		f.Work = f.One.Process / f.Shared.Process
	}
	if f.Threaded != nil {
		f.Beside = f.Threaded.Wall / f.Shared.Wall
		fmt.Printf("%-8s n = %d %-9s one process of %d threads %.3f s (cpu %.3f): %.2f times the time of %d processes\n",
			f.Format, f.N, f.What, f.Processes*f.Threads, f.Threaded.Wall, f.Threaded.All, f.Beside, f.Processes)
	}
	fmt.Printf("%-8s n = %d %-9s one %.3f s (cpu %.3f), %d processes %.3f s (cpu %.3f, all %.3f): gain %.2f, in cpu time %.2f  %v\n",
		f.Format, f.N, f.What, f.One.Wall, f.One.All, f.Processes, f.Shared.Wall, f.Shared.Process, f.Shared.All, f.Gain, f.Work, f.Devices)
}

// medians returns the median of each time.
func medians(list []times) times {
	of := func(get func(times) float64) float64 {
		var x []float64
		for _, t := range list {
			x = append(x, get(t))
		}
		slices.Sort(x)
		return (x[len(x)/2] + x[(len(x)-1)/2]) / 2
	}
	return times{
		of(func(t times) float64 { return t.Wall }),
		of(func(t times) float64 { return t.Process }),
		of(func(t times) float64 { return t.All }),
	}
}

// seconds is the processor time that was used.
func seconds(u *syscall.Rusage) float64 { return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9 }

// inside measures products in one of the processes under MPI, and writes the figures if that is the
// first.
func inside(o options) error {
	comm, err := distributed.Init()
	if err != nil {
		return err
	}
	if err := distributed.Use(halfulp.Device(o.use)); err != nil {
		return err
	}
	r := struct {
		MPI     string   `json:"mpi"`
		Figures []figure `json:"figures"`
	}{MPI: comm.Version()}
	for format := range strings.SplitSeq(o.formats, ",") {
		f, err := halfulp.ParseFormat(format)
		if err != nil {
			return err
		}
		figures, err := products(o, comm, f)
		if err != nil {
			return err
		}
		r.Figures = append(r.Figures, figures...)
	}
	if comm.Rank() == 0 {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.inside, text, 0o600); err != nil {
			return err
		}
	}
	mpi.Exit(0)
	return nil
}

// products measures the product of two matrices of a format.
func products(o options, comm *mpi.Comm, format halfulp.Format) ([]figure, error) {
	ctx := context.Background()
	one, zero := halfulp.Float(1), halfulp.Float(0)
	a, b := gallery.Random(format, o.n, o.n, 1, 1), gallery.Random(format, o.n, o.n, 1, 2)
	c, d := halfulp.NewMatrix(format, o.n, o.n), halfulp.NewMatrix(format, o.n, o.n)
	grid := distributed.Device(0, 0)
	var there [3]*halfulp.Matrix
	for i, m := range []*halfulp.Matrix{a, b, d} {
		var err error
		if there[i], err = m.On(grid); err != nil {
			return nil, err
		}
	}
	used := func() float64 {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return seconds(&u)
	}
	clock := func(f func() error) (times, error) {
		if err := comm.Barrier(ctx); err != nil {
			return times{}, err
		}
		begin, before := time.Now(), used()
		if err := f(); err != nil {
			return times{}, err
		}
		cpu := used() - before
		t := times{time.Since(begin).Seconds(), cpu, cpu}
		micro := []int64{int64(cpu * 1e6)}
		if err := comm.Allreduce(ctx, mpi.Max, micro); err != nil {
			return t, err
		}
		t.Process, micro[0] = float64(micro[0])/1e6, int64(cpu*1e6)
		err := comm.Allreduce(ctx, mpi.Sum, micro)
		t.All = float64(micro[0]) / 1e6
		return t, err
	}
	alone := func(threads int) func() error {
		return func() error {
			if comm.Rank() != 0 {
				return nil
			}
			return halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c, &halfulp.Options{Device: halfulp.Device(o.one), Threads: threads})
		}
	}
	ways := []struct {
		name  string
		share func() (halfulp.Stats, error)
		get   func() (*halfulp.Matrix, error)
	}{
		{"host", func() (halfulp.Stats, error) {
			var st halfulp.Stats
			err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, d, &halfulp.Options{Device: grid, Threads: o.threads, Stats: &st})
			return st, err
		}, func() (*halfulp.Matrix, error) { return d, nil }},
		{"resident", func() (halfulp.Stats, error) {
			var st halfulp.Stats
			err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, there[0], there[1], zero, there[2], &halfulp.Options{Threads: o.threads, Stats: &st})
			return st, err
		}, func() (*halfulp.Matrix, error) { return there[2].Host() }},
	}
	var threaded []times
	all := make([][]times, 1+len(ways))
	figures := make([]figure, len(ways))
	for range o.repeats {
		t, err := clock(alone(o.threads))
		if err != nil {
			return nil, err
		}
		all[0] = append(all[0], t)
		if t, err = clock(alone(o.threads * comm.Size())); err != nil {
			return nil, err
		}
		threaded = append(threaded, t)
		for i, w := range ways {
			t, err := clock(func() error {
				st, err := w.share()
				figures[i].Devices = st.Processes
				return err
			})
			if err != nil {
				return nil, err
			}
			all[1+i] = append(all[1+i], t)
			z, err := w.get()
			if err != nil || comm.Rank() == 0 && !z.Same(c) {
				return nil, fmt.Errorf("%v, %s: other bits, or none (%w)", format, w.name, err)
			}
		}
	}
	for i := range figures {
		f := &figures[i]
		f.Format, f.N, f.What, f.Alone, f.Processes, f.Threads, f.Repeats = format.String(), o.n, ways[i].name, o.one, comm.Size(), o.threads, o.repeats
		f.One, f.Shared = medians(all[0]), medians(all[1+i])
		t := medians(threaded)
		f.Threaded = &t
		if comm.Rank() == 0 {
			f.finish()
		}
	}
	return figures, nil
}
