// Bindings measures what calls from C and Python cost beyond the same calls from Go: small calls, a
// product of order 1000, the import of the Python package, and the memory of many calls. The three
// programs measure in turn, so that a slow minute of the machine falls on all of them.
package main

import (
	"bufio"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

//go:embed programs
var programs embed.FS

// A figure is the time of one call in nanoseconds: of processor time, and by the clock.
type figure struct {
	Call    string `json:"call"`
	From    string `json:"from"`
	Timings int    `json:"timings"`
	Calls   int    `json:"calls"` // in each timing
	CPU     times  `json:"processor_time"`
	Wall    times  `json:"clock"`
}

// times are of one call, and beyond the same call from Go.
type times struct {
	Median     float64 `json:"median_ns"`
	Min        float64 `json:"min_ns"`
	OverGo     float64 `json:"median_over_go_ns,omitempty"`
	MinOverGo  float64 `json:"min_over_go_ns,omitempty"`
	RatioToGo  float64 `json:"median_ratio_to_go,omitempty"`
	MinRatioGo float64 `json:"min_ratio_to_go,omitempty"`
}

func newTimes(samples []float64, of *times) times {
	t := times{Median: median(samples), Min: slices.Min(samples)}
	if of != nil {
		t.OverGo, t.MinOverGo = t.Median-of.Median, t.Min-of.Min
		t.RatioToGo, t.MinRatioGo = t.Median/of.Median, t.Min/of.Min
	}
	return t
}

// growth is what many calls leave in a process.
type growth struct {
	Call    string `json:"call"`
	From    string `json:"from"`
	Calls   int    `json:"calls"`
	Handles int    `json:"handles_left"`
	Bytes   int64  `json:"bytes_grown"` // resident memory, second half of the calls
}

// imports are times of fresh processes in milliseconds: the median and the least.
type imports struct {
	Repeats int       `json:"repeats"`
	CPU     importing `json:"processor_time"`
	Wall    importing `json:"clock"`
}

type importing struct {
	Numpy   [2]float64 `json:"numpy_ms"`
	Halfulp [2]float64 `json:"halfulp_beyond_numpy_ms"`
	First   [2]float64 `json:"first_call_ms"` // loads the C library
}

type results struct {
	Command string          `json:"command"`
	Date    time.Time       `json:"date"`
	Commit  string          `json:"commit"`
	Dirty   bool            `json:"dirty"`
	Go      string          `json:"go"`
	Python  string          `json:"python"`
	Machine machine.Machine `json:"machine"`
	Load    string          `json:"load"` // averages when it began: others use the machine
	Import  *imports        `json:"import,omitempty"`
	Threads int             `json:"threads"`
	Figures []figure        `json:"figures,omitempty"`
	Growth  []growth        `json:"growth,omitempty"`
}

type options struct {
	python, dist, json, cases              string
	rounds, large, import_, calls, threads int
}

func main() {
	var o options
	flag.StringVar(&o.python, "python", "python3", "interpreter that has NumPy")
	flag.StringVar(&o.dist, "dist", "../dist", "folder of the libraries, where make lib leaves them")
	flag.IntVar(&o.threads, "threads", 1, "threads (GOMAXPROCS) of all three programs")
	flag.IntVar(&o.rounds, "rounds", 300, "timings of each small call, of about 0.6 ms after half as many calls; 0 leaves timings and imports out")
	flag.IntVar(&o.large, "large", 20, "timings of the product of order 1000")
	flag.IntVar(&o.import_, "import", 20, "imports")
	flag.IntVar(&o.calls, "growth", 0, "calls of each kind after which memory is compared")
	flag.StringVar(&o.cases, "cases", "", "which kinds of -growth, separated by commas, in place of all: names of bindings/python/tests/growth.py")
	flag.StringVar(&o.json, "json", "", "file for the figures")
	flag.Parse()
	if err := run(&o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bindings:", err)
		os.Exit(1)
	}
}

func run(o *options, out io.Writer) error {
	r := results{
		Command: command(o), Date: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), Machine: machine.Describe(), Threads: o.threads,
	}
	r.Commit, r.Dirty = record.Commit()
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		r.Load = strings.TrimSpace(string(load))
	}
	dir, err := os.MkdirTemp("", "bindings-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := environment(o); err != nil {
		return err
	}
	version, err := exec.Command(o.python, "-c", "import sys, numpy; print('Python', sys.version.split()[0], 'numpy', numpy.__version__)").Output()
	if err != nil {
		return fmt.Errorf("%s: %w", o.python, err)
	}
	r.Python = strings.TrimSpace(string(version))
	peers, err := start(o, dir)
	if err != nil {
		return err
	}
	defer func() {
		for _, p := range peers {
			p.stop()
		}
	}()
	if o.rounds > 0 {
		if r.Figures, err = small(o, peers, out); err != nil {
			return err
		}
		if r.Import, err = importTimes(o, dir, out); err != nil {
			return err
		}
	}
	if o.calls > 0 {
		if r.Growth, err = growing(o, peers, out); err != nil {
			return err
		}
	}
	return record.Write(o.json, r)
}

// command returns the command line without the places of files.
func command(o *options) string {
	line := "go run ./cmd/bindings " + strings.Join(os.Args[1:], " ")
	for _, place := range [][2]string{{o.json, "FILE"}, {o.python, "PYTHON"}} {
		if strings.Contains(place[0], "/") {
			line = strings.ReplaceAll(line, place[0], place[1])
		}
	}
	return strings.TrimSpace(line)
}

// environment lets Python find the package of this tree and the library.
func environment(o *options) error {
	dist, err := filepath.Abs(o.dist)
	if err != nil {
		return err
	}
	source, err := filepath.Abs("../bindings/python/src")
	if err != nil {
		return err
	}
	library := filepath.Join(dist, "lib", "libhalfulp.so")
	if _, err := os.Stat(library); err != nil {
		return fmt.Errorf("%w: make lib builds it", err)
	}
	o.dist = dist
	runtime.GOMAXPROCS(o.threads)
	return errors.Join(os.Setenv("PYTHONPATH", source), os.Setenv("HALFULP_LIBRARY", library), os.Setenv("GOMAXPROCS", strconv.Itoa(o.threads)))
}

// peer is a program that times calls: of C or of Python.
type peer struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
}

// start compiles the program of C and starts both.
func start(o *options, dir string) ([]*peer, error) {
	for _, name := range []string{"calls.c", "calls.py"} {
		text, err := programs.ReadFile("programs/" + name)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return nil, err
		}
	}
	program := filepath.Join(dir, "calls")
	compile := exec.Command("gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-I"+o.dist+"/include", program+".c", "-o", program, "-L"+o.dist+"/lib", "-lhalfulp", "-Wl,-rpath,"+o.dist+"/lib")
	if text, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gcc: %w\n%s", err, text)
	}
	var peers []*peer
	for _, p := range []*peer{{name: "C", cmd: exec.Command(program)}, {name: "Python", cmd: exec.Command(o.python, program+".py")}} {
		in, err := p.cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		p.in, p.out, p.cmd.Stderr = in, bufio.NewScanner(out), os.Stderr
		if err := p.cmd.Start(); err != nil {
			return nil, err
		}
		peers = append(peers, p)
	}
	return peers, nil
}

func (p *peer) stop() {
	p.in.Close()
	_ = p.cmd.Wait() // it says nothing at its end that matters
}

// ask returns the numbers that answer a command.
func (p *peer) ask(command string) ([]int64, error) {
	if _, err := fmt.Fprintln(p.in, command); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	if !p.out.Scan() {
		return nil, fmt.Errorf("%s: %s: no answer", p.name, command)
	}
	var z []int64
	for _, word := range strings.Fields(p.out.Text()) {
		x, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %s", p.name, command, p.out.Text())
		}
		z = append(z, x)
	}
	return z, nil
}

// timer returns the nanoseconds of a number of calls: processor time, and by the clock.
type timer func(calls int) ([2]float64, error)

func (p *peer) timer(name string) timer {
	return func(calls int) ([2]float64, error) {
		z, err := p.ask(fmt.Sprintf("time %d %s", calls, name))
		if err != nil {
			return [2]float64{}, err
		}
		return [2]float64{float64(z[0]), float64(z[1])}, nil
	}
}

// goTimer times a call of Go.
func goTimer(call func() error) timer {
	return func(calls int) (z [2]float64, err error) {
		for range calls / 2 { // caches are filled
			if err := call(); err != nil {
				return z, err
			}
		}
		cpu, from := processorTime(), time.Now()
		for range calls {
			if err := call(); err != nil {
				return z, err
			}
		}
		return [2]float64{float64(processorTime() - cpu), float64(time.Since(from))}, nil
	}
}

// processorTime returns the processor time of this process in nanoseconds.
func processorTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it fails for wrong arguments alone
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// problem is a call as the programs name it, with Go's.
type problem struct {
	name   string
	c, py  []string // what follows the name, for operands that are arrays of C or of numpy
	inside func() error
}

// problems returns the calls that are compared.
func problems() []problem {
	of := func(f halfulp.Format, rows, cols int) *halfulp.Matrix {
		return gallery.Random(f, rows, cols, 0, uint64(1+cols))
	}
	dot := func(f halfulp.Format) func() error {
		x := of(f, 4, 1).Col(0)
		return func() error {
			_, err := halfulp.Dot(x, x, f, nil)
			return err
		}
	}
	gemv := func(f halfulp.Format) func() error {
		a, x, y := of(f, 8, 8), of(f, 8, 1).Col(0), halfulp.NewVector(f, 8)
		return func() error {
			return halfulp.Gemv(halfulp.NoTrans, halfulp.Float(1), a, x, halfulp.Float(0), y, nil)
		}
	}
	gemm := func(f halfulp.Format, n int) func() error {
		a, c := of(f, n, n), halfulp.NewMatrix(f, n, n)
		return func() error {
			return halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, a, halfulp.Float(0), c, nil)
		}
	}
	solve := func(f halfulp.Format) func() error {
		a, b := of(f, 8, 8), of(f, 8, 1)
		return func() error {
			_, err := linsolve.Solve(a, b, f, nil)
			return err
		}
	}
	wide := halfulp.MP(424)
	both, own, arrays := []string{", arrays", ""}, []string{""}, []string{", arrays"}
	return []problem{
		{"dot 4", both, both, dot(halfulp.Float64)},
		{"gemv 8", both, both, gemv(halfulp.Float64)},
		{"gemm 8", both, both, gemm(halfulp.Float64, 8)},
		{"solve 8", own, both, solve(halfulp.Float64)},
		{"dot 4, mp:424", own, own, dot(wide)},
		{"gemm 8, mp:424", own, own, gemm(wide, 8)},
		{"solve 8, mp:424", own, own, solve(wide)},
		{"gemm 1000", own, arrays, gemm(halfulp.Float64, 1000)},
	}
}

// small times each call from Go, C and Python in turn.
func small(o *options, peers []*peer, out io.Writer) (z []figure, err error) {
	fmt.Fprintln(out, "nanoseconds of processor time, then by the clock: median, least; both beyond Go's; ratio of the least")
	for _, p := range problems() {
		figures := []figure{{Call: p.name, From: "Go"}}
		timers := []timer{goTimer(p.inside)}
		for i, suffixes := range [][]string{p.c, p.py} {
			for _, suffix := range suffixes {
				from := peers[i].name + map[string]string{"C": ", handles", "Python": ", halfulp's arrays"}[peers[i].name]
				if suffix != "" {
					from = peers[i].name + map[string]string{"C": ", arrays", "Python": ", numpy's arrays"}[peers[i].name]
				}
				figures = append(figures, figure{Call: p.name, From: from})
				timers = append(timers, peers[i].timer(p.name+suffix))
			}
		}
		rounds := o.rounds
		if strings.HasSuffix(p.name, "1000") {
			rounds = o.large
		}
		cpu, wall := make([][]float64, len(timers)), make([][]float64, len(timers))
		for round := range rounds + 2 { // the first two find the numbers of calls
			for i, t := range timers {
				f := &figures[i]
				calls := max(f.Calls, 1)
				total, err := t(calls)
				if err != nil {
					return nil, err
				}
				if round < 2 {
					f.Calls = min(max(int(float64(calls)*6e5/max(total[1], 1)), 1), 1000*calls)
					continue
				}
				cpu[i] = append(cpu[i], total[0]/float64(calls))
				wall[i] = append(wall[i], total[1]/float64(calls))
			}
		}
		for i := range figures {
			f := &figures[i]
			var c, w *times
			if i > 0 {
				c, w = &figures[0].CPU, &figures[0].Wall
			}
			f.Timings, f.CPU, f.Wall = len(cpu[i]), newTimes(cpu[i], c), newTimes(wall[i], w)
			fmt.Fprintf(out, "%-16s %-26s", f.Call, f.From)
			for _, t := range []times{f.CPU, f.Wall} {
				fmt.Fprintf(out, " %11.0f %11.0f %9.0f %9.0f %6.3f", t.Median, t.Min, t.OverGo, t.MinOverGo, t.MinRatioGo)
			}
			fmt.Fprintln(out)
		}
		z = append(z, figures...)
	}
	return z, nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

// importTimes times imports in fresh processes of Python.
func importTimes(o *options, dir string, out io.Writer) (*imports, error) {
	const script = `
from time import perf_counter, process_time
def now(): return process_time(), perf_counter()
times = [now()]
import numpy
times.append(now())
import halfulp
times.append(now())
halfulp.dot(numpy.ones(3), numpy.ones(3))
times.append(now())
for a, b in zip(times, times[1:]): print(b[0] - a[0], b[1] - a[1])`
	// Modules are compiled once, like the modules of an installed package.
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PYTHONDONTWRITEBYTECODE=") {
			env = append(env, v)
		}
	}
	env = append(env, "PYTHONPYCACHEPREFIX="+filepath.Join(dir, "compiled"))
	var samples [6][]float64
	for round := range o.import_ + 1 { // the first one compiles
		c := exec.Command(o.python, "-c", script)
		c.Env = env
		text, err := c.Output()
		if err != nil {
			return nil, err
		}
		for i, word := range strings.Fields(string(text)) {
			x, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				samples[i] = append(samples[i], 1e3*x)
			}
		}
	}
	of := func(i int) [2]float64 { return [2]float64{median(samples[i]), slices.Min(samples[i])} }
	z := &imports{o.import_, importing{of(0), of(2), of(4)}, importing{of(1), of(3), of(5)}}
	fmt.Fprintf(out, "import in ms, median and least: processor time %.1f, by the clock %.1f\n", z.CPU, z.Wall)
	return z, nil
}

// growing makes many calls from C, and from Python by its test of growth.
func growing(o *options, peers []*peer, out io.Writer) (z []growth, err error) {
	c := peers[0]
	for _, p := range problems() {
		kind, _, _ := strings.Cut(p.name, " ")
		if kind == "gemv" || kind == "gemm" {
			kind = "matmul"
		}
		if strings.HasSuffix(p.name, "1000") || o.cases != "" && !slices.Contains(strings.Split(o.cases, ","), kind) {
			continue
		}
		for _, suffix := range p.c {
			g := growth{Call: p.name + suffix, From: "C", Calls: o.calls}
			state := func(calls int) []int64 {
				if _, fails := c.timer(g.Call)(calls); err == nil {
					err = fails
				}
				m, fails := c.ask("memory")
				if err == nil {
					err = fails
				}
				return append(m, 0, 0)
			}
			before, half := state(1), state(o.calls/2)
			after := state(o.calls - o.calls/2)
			if err != nil {
				return nil, err
			}
			g.Handles, g.Bytes = int(after[1]-before[1]), after[0]-half[0]
			fmt.Fprintf(out, "%-26s %d handles %.1f MB\n", g.Call, g.Handles, float64(g.Bytes)/(1<<20))
			z = append(z, g)
		}
	}
	script := exec.Command(o.python, "../bindings/python/tests/growth.py", strconv.Itoa(o.calls))
	if o.cases != "" {
		script.Args = append(script.Args, strings.Split(o.cases, ",")...)
	}
	script.Stderr = os.Stderr
	text, err := script.Output()
	if _, werr := out.Write(text); err == nil {
		err = werr
	}
	if err != nil {
		return nil, fmt.Errorf("growth.py: %w", err)
	}
	line := regexp.MustCompile(`(?m)^(.+?) +(-?\d+) handles +(-?[0-9.]+) MB`)
	for _, m := range line.FindAllStringSubmatch(string(text), -1) {
		handles, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, err
		}
		megabytes, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return nil, err
		}
		z = append(z, growth{Call: m[1], From: "Python", Calls: o.calls, Handles: handles, Bytes: int64(megabytes * (1 << 20))})
	}
	return z, nil
}
