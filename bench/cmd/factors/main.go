// Factors measures products, systems and factors of one order in float64 on several numbers of
// threads, in one process, beside numpy and scipy in another. It needs no C compiler, so a program
// of an earlier commit can be measured beside it: -before names that program.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/record"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/linsolve"
)

// A figure has the median times of a routine, in milliseconds.
type figure struct {
	Call    string  `json:"call"`
	Threads int     `json:"threads"`
	Before  float64 `json:"before_ms,omitempty"`
	Now     float64 `json:"ms"`
	CPU     float64 `json:"processor_ms"`
	Numpy   float64 `json:"numpy_ms,omitempty"`
}

type results struct {
	Command string          `json:"command"`
	Date    time.Time       `json:"date"`
	Commit  string          `json:"commit"`
	Dirty   bool            `json:"dirty"`
	Before  string          `json:"before,omitempty"`
	Go      string          `json:"go"`
	Machine machine.Machine `json:"machine"`
	N       int             `json:"n"`
	Figures []figure        `json:"figures"`
}

type routine struct {
	name string
	run  func(opt *halfulp.Options) error
}

// routines returns the routines, for matrices with random entries and a product AᵀA.
func routines(n int) []routine {
	f := halfulp.Float64
	a, b := gallery.Random(f, n, n, 0, 1), gallery.Random(f, n, 1, 0, 2)
	c, square := halfulp.NewMatrix(f, n, n), halfulp.NewMatrix(f, n, n)
	gemm := func(to *halfulp.Matrix, opt *halfulp.Options) error {
		return halfulp.Gemm(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), a, a, halfulp.Float(0), to, opt)
	}
	if err := gemm(square, nil); err != nil {
		panic(err)
	}
	return []routine{
		{"Gemm", func(opt *halfulp.Options) error { return gemm(c, opt) }},
		{"Solve", func(opt *halfulp.Options) error { _, err := linsolve.Solve(a, b, f, opt); return err }},
		{"Inverse", func(opt *halfulp.Options) error { _, err := linsolve.Inverse(a, f, opt); return err }},
		{"Det", func(opt *halfulp.Options) error { _, err := linsolve.Det(a, f, opt); return err }},
		{"Cholesky", func(opt *halfulp.Options) error { _, err := linsolve.Cholesky(square, f, opt); return err }},
		{"LDLT", func(opt *halfulp.Options) error { _, err := linsolve.LDLT(square, f, opt); return err }},
		{"LU", func(opt *halfulp.Options) error { _, err := linsolve.LU(a, f, opt); return err }},
		{"QR", func(opt *halfulp.Options) error { _, err := linsolve.QR(a, f, opt); return err }},
	}
}

// peers is the program of the peers: it prints a name and a median of 9 times in ms on each line.
const peers = `
import sys, time, numpy
n = int(sys.argv[1])
g = numpy.random.default_rng(1)
a, b, c = g.standard_normal((n, n)), g.standard_normal(n), g.standard_normal((n, n))
s = a.T @ a # half of the work: a symmetric product
calls = {'Gemm': lambda: a.T @ c, 'Solve': lambda: numpy.linalg.solve(a, b), 'Inverse': lambda: numpy.linalg.inv(a),
	'Det': lambda: numpy.linalg.slogdet(a), 'Cholesky': lambda: numpy.linalg.cholesky(s), 'QR': lambda: numpy.linalg.qr(a)}
try:
	from scipy.linalg import lapack
	calls.update(LU=lambda: lapack.dgetrf(a), LDLT=lambda: lapack.dsytrf(s))
except ImportError:
	pass
for name, call in calls.items():
	call()
	times = []
	for _ in range(9):
		start = time.perf_counter()
		call()
		times.append(time.perf_counter() - start)
	print(name, 1e3 * sorted(times)[4])
`

// numpy returns the times of the peers on the given number of threads.
func numpy(interpreter string, n, threads int) (map[string]float64, error) {
	cmd := exec.Command(interpreter, "-c", peers, strconv.Itoa(n))
	cmd.Env = append(os.Environ(), fmt.Sprintf("OPENBLAS_NUM_THREADS=%d", threads))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	times := map[string]float64{}
	for line := range strings.Lines(string(out)) {
		var name string
		var ms float64
		if _, err := fmt.Sscan(line, &name, &ms); err != nil {
			return nil, err
		}
		times[name] = ms
	}
	return times, err
}

func processor() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// measure returns the medians of some calls, in milliseconds.
func measure(r routine, threads, repeat int) (figure, error) {
	opt := &halfulp.Options{Threads: threads, Device: "cpu"}
	if err := r.run(opt); err != nil {
		return figure{}, fmt.Errorf("%s: %w", r.name, err)
	}
	var walls, cpus []float64
	for range repeat {
		start, cpu := time.Now(), processor()
		if err := r.run(opt); err != nil {
			return figure{}, err
		}
		walls, cpus = append(walls, time.Since(start).Seconds()*1e3), append(cpus, (processor()-cpu).Seconds()*1e3)
	}
	slices.Sort(walls)
	slices.Sort(cpus)
	return figure{Call: r.name, Threads: threads, Now: walls[repeat/2], CPU: cpus[repeat/2]}, nil
}

func main() {
	n := flag.Int("n", 1000, "order")
	threads := flag.String("threads", "1,4,16", "numbers of threads, which are also GOMAXPROCS")
	repeat := flag.Int("repeat", 5, "timings of a routine")
	before := flag.String("before", "", "the same program of an earlier commit, measured before each number of threads")
	named := flag.String("commits", "", "the earlier commit and this one, separated by a comma")
	python := flag.String("python", "", "interpreter that has numpy")
	path := flag.String("json", "", "file for the figures")
	flag.Parse()
	if err := run(*n, *repeat, *threads, *before, *named, *python, *path); err != nil {
		fmt.Fprintln(os.Stderr, "factors:", err)
		os.Exit(1)
	}
}

func run(n, repeat int, threads, before, commits, python, path string) error {
	z := results{
		Command: "go run ./cmd/factors " + strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Truncate(time.Second),
		Go: runtime.Version(), Machine: machine.Describe(), N: n,
	}
	z.Commit, z.Dirty = record.Commit()
	if old, now, ok := strings.Cut(commits, ","); ok {
		z.Before, z.Commit, z.Dirty = old, now, false
	}
	list := routines(n)
	for word := range strings.SplitSeq(threads, ",") {
		t, err := strconv.Atoi(word)
		if err != nil {
			return err
		}
		was, other := map[string]float64{}, map[string]float64{}
		if before != "" {
			out, err := exec.Command(before, "-n", strconv.Itoa(n), "-threads", word, "-repeat", strconv.Itoa(repeat), "-json", "-").Output()
			var old results
			if err == nil {
				err = json.Unmarshal(out, &old)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", before, err)
			}
			for _, f := range old.Figures {
				was[f.Call] = f.Now
			}
		}
		if python != "" {
			if other, err = numpy(python, n, t); err != nil {
				return err
			}
		}
		runtime.GOMAXPROCS(t)
		for _, r := range list {
			f, err := measure(r, t, repeat)
			if err != nil {
				return err
			}
			f.Before, f.Numpy = was[r.name], other[r.name]
			z.Figures = append(z.Figures, f)
			if path != "-" {
				fmt.Printf("%-9s %2d threads %8.1f ms, before %8.1f, numpy %7.1f, processor %8.1f\n", f.Call, f.Threads, f.Now, f.Before, f.Numpy, f.CPU)
			}
		}
	}
	switch path {
	case "":
		return nil
	case "-":
		return json.NewEncoder(os.Stdout).Encode(z)
	}
	return record.Write(path, z)
}
