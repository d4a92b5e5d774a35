// Spectra measures eigenvalues, eigenvectors and singular values beside numpy, mpmath, python-flint
// and PyTorch, in turn in one run, for random symmetric matrices. With -device products also run on
// a GPU. Products alone are the unit in which times of spectra are judged.
//
// A machine with a GPU and without Go runs a program that was built by CGO_ENABLED=0 go build
// ./cmd/spectra. In less than ten minutes:
//
//	./spectra -device cuda:0 -n 1000,4096 -workloads "product,eigenvalues,eigenvectors,singular vectors" \
//		-threads 16 -seconds 3 -longest 60 -total 480 -commit COMMIT -json h200-spectra.json
package main

import (
	"bufio"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
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
	_ "github.com/halfulp/halfulp/cuda" // devices
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/matfile"
)

// A cell is a problem with the times of the methods, in milliseconds.
type cell struct {
	Workload string             `json:"workload"`
	N        int                `json:"n"`
	Bits     int                `json:"bits"` // of the result; 53 is float64
	Threads  int                `json:"threads"`
	Median   map[string]float64 `json:"median_ms"`
	Least    map[string]float64 `json:"least_ms"`
	CPU      map[string]float64 `json:"cpu_ms"` // the median of the processor time of all threads
	Runs     map[string]int     `json:"runs"`
	Missing  map[string]string  `json:"missing,omitempty"` // why a method has no time
	// Stages are the parts of the last run of halfulp and halfulp_device.
	Stages map[string]map[string]float64 `json:"stages_ms,omitempty"`

	factor, product *halfulp.Matrix
}

type results struct {
	Command string          `json:"command"`
	Date    time.Time       `json:"date"`
	Commit  string          `json:"commit"`
	Dirty   bool            `json:"dirty"`
	Go      string          `json:"go"`
	Machine machine.Machine `json:"machine"`
	Level   string          `json:"level"`
	Peers   string          `json:"peers"`
	Cells   []cell          `json:"cells"`
}

// peersOf are the methods of other programs for a workload.
var peersOf = map[string][]string{
	"product":          {"numpy_matmul", "torch_matmul"},
	"eigenvalues":      {"numpy_eigvalsh", "torch_eigvalsh", "mpmath_eigsy_values", "flint_eig_values", "flint_eig_values_approximate"},
	"eigenvectors":     {"numpy_eigh", "torch_eigh", "mpmath_eigsy", "flint_eig", "flint_eig_approximate"},
	"singular values":  {"numpy_svdvals", "mpmath_svd_r_values"},
	"singular vectors": {"numpy_svd", "mpmath_svd_r"},
	// scipy.linalg.eigh finds that Hilbert's matrix is not positive definite.
	"generalised eigenvalues":  {"scipy_eigh_hilbert"},
	"generalised eigenvectors": {"scipy_eigh_hilbert"},
}

// conditions are the same for all cells of a run.
type conditions struct {
	device           string
	threads, repeats int
	seconds, longest float64
	without          []string // programs that are left out
	end              time.Time
	took             map[string]shortest // by workload, bits and method
}

// shortest is the least processor time of a method in seconds, for order n.
type shortest struct {
	n       int
	seconds float64
}

func main() {
	orders := flag.String("n", "50,100,200", "orders")
	formats := flag.String("bits", "53,106,424", "bits of results")
	threads := flag.Int("threads", runtime.NumCPU(), "threads")
	workloads := flag.String("workloads", "eigenvalues,eigenvectors,singular values,singular vectors", "workloads; product is another one, also of 212 bits")
	hilbert := flag.String("hilbert", "", "orders of A x = λ B x with Hilbert's matrix B of 400 bits")
	device := flag.String("device", "", "device of halfulp_device, such as cuda:0")
	longest := flag.Float64("longest", 60, "a method is left out if its time at the last order predicts a run of more seconds of processor time, and other programs are stopped after as many")
	total := flag.Float64("total", math.Inf(1), "seconds after which no method begins another run")
	repeats := flag.Int("repeats", 5, "runs of each method")
	seconds := flag.Float64("seconds", 20, "a method is not repeated once its runs of a problem have taken so much processor time")
	interpreter := flag.String("python", "python3", "Python with numpy, mpmath, python-flint or torch; empty: no other programs")
	without := flag.String("without", "", "programs that are left out, such as mpmath,flint")
	commit := flag.String("commit", "", "commit of the program, where there is no repository")
	path := flag.String("json", "", "file for the figures")
	flag.Parse()
	r := results{
		Command: "go run ./cmd/spectra " + strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Truncate(time.Second),
		Go: runtime.Version(), Machine: machine.Describe(), Level: isa.Level().String(),
	}
	if r.Commit = *commit; r.Commit == "" {
		r.Commit, r.Dirty = record.Commit()
	}
	at := conditions{
		device: *device, threads: *threads, repeats: *repeats, seconds: *seconds, longest: *longest, without: strings.Split(*without, ","),
		end: time.Now().Add(time.Duration(min(*total, 1e6) * float64(time.Second))), took: map[string]shortest{},
	}
	err := r.measure(os.Stdout, *path, strings.Split(*orders, ","), strings.Split(*formats, ","), strings.Split(*workloads, ","), strings.Split(*hilbert, ","), &at, *interpreter)
	if err != nil {
		fmt.Fprintln(os.Stderr, "spectra:", err)
		os.Exit(1)
	}
}

// measure measures all cells and prints a line for each. It writes the file again after each cell.
func (r *results) measure(w io.Writer, path string, orders, formats, workloads, hilbert []string, at *conditions, interpreter string) error {
	var p *python
	if interpreter != "" {
		var err error
		if p, err = startPython(interpreter, at.threads); err != nil {
			return err
		}
		defer p.stop()
		r.Peers = p.version
	}
	if at.device != "" { // the first run of a device loads its kernels
		c := cell{Workload: "eigenvectors", Bits: 106, Threads: at.threads}
		if _, err := c.run(symmetric(64), at.device); err != nil {
			return err
		}
	}
	folder, err := os.MkdirTemp("", "spectra-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for k, order := range slices.Concat(orders, hilbert) {
		if order == "" {
			continue
		}
		n, err := strconv.Atoi(order)
		if err != nil {
			return err
		}
		a := symmetric(n)
		if p != nil {
			name := filepath.Join(folder, "a.npy")
			if err := matfile.Write(name, a, nil); err != nil {
				return err
			}
			if err := p.load(name); err != nil {
				return err
			}
		}
		if k == len(orders) {
			workloads = []string{"generalised eigenvalues", "generalised eigenvectors"}
		}
		for _, workload := range workloads {
			all := formats
			if workload == "product" && !slices.Contains(formats, "212") {
				all = append(slices.Clone(formats), "212")
			}
			for _, format := range all {
				bits, err := strconv.Atoi(format)
				if err != nil {
					return err
				}
				c := cell{
					Workload: workload, N: n, Bits: bits, Threads: at.threads, Median: map[string]float64{}, Least: map[string]float64{},
					CPU: map[string]float64{}, Runs: map[string]int{}, Missing: map[string]string{}, Stages: map[string]map[string]float64{},
				}
				if err := c.measure(a, p, at); err != nil {
					return err
				}
				c.factor, c.product = nil, nil
				r.Cells = append(r.Cells, c)
				c.show(w)
				if err := record.Write(path, r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// symmetric returns a symmetric matrix of random entries between -1 and 1.
func symmetric(n int) *halfulp.Matrix {
	a := gallery.Random(halfulp.Float64, n, n, 0, 1)
	for i := range n {
		for j := range i {
			a.Set(i, j, a.At(j, i))
		}
	}
	return a
}

// measure times halfulp and the other programs in turn.
func (c *cell) measure(a *halfulp.Matrix, p *python, at *conditions) error {
	times, cpu := map[string][]float64{}, map[string][]float64{}
	total := map[string]float64{}
	var failed error
	method := func(name string, run func() (took, cpu float64, err error)) {
		key := fmt.Sprint(c.Workload, c.Bits, name)
		if c.Missing[name] != "" || total[name] > at.seconds {
			return
		}
		if total[name] == 0 {
			last := at.took[key]
			if t := last.seconds * math.Pow(float64(c.N)/float64(max(1, last.n)), 3); t > at.longest {
				c.Missing[name] = fmt.Sprintf("would take about %.0f s", t)
				return
			}
			if time.Now().After(at.end) {
				c.Missing[name] = "no time left"
				return
			}
		}
		took, spent, err := run()
		if err != nil {
			c.Missing[name] = err.Error()
			if name == "halfulp" {
				failed = err
			}
			return
		}
		times[name], cpu[name] = append(times[name], took), append(cpu[name], spent)
		total[name] += spent
	}
	for range at.repeats {
		method("halfulp", func() (float64, float64, error) { return c.timed("halfulp", a, "") })
		if at.device != "" {
			method("halfulp_device", func() (float64, float64, error) { return c.timed("halfulp_device", a, at.device) })
		}
		for _, name := range peersOf[c.Workload] {
			if program, _, _ := strings.Cut(name, "_"); p != nil && !slices.Contains(at.without, program) {
				method(name, func() (float64, float64, error) { return p.time(name, c.Bits, at.longest) })
			}
		}
	}
	for name, t := range times {
		slices.Sort(t)
		slices.Sort(cpu[name])
		c.CPU[name] = milliseconds(cpu[name][len(t)/2])
		c.Median[name], c.Least[name], c.Runs[name] = milliseconds(t[len(t)/2]), milliseconds(t[0]), len(t)
		at.took[fmt.Sprint(c.Workload, c.Bits, name)] = shortest{c.N, cpu[name][0]}
	}
	return failed
}

// timed runs the workload on the host, or with products on a device, and returns its seconds and
// its seconds of processor time.
func (c *cell) timed(name string, a *halfulp.Matrix, device string) (took, cpu float64, err error) {
	spent, begin := processorTime(), time.Now()
	stats, err := c.run(a, device)
	took, cpu = time.Since(begin).Seconds(), processorTime()-spent
	if err == nil && c.Workload != "product" {
		c.Stages[name] = map[string]float64{}
		for _, g := range stats.Stages {
			c.Stages[name][g.Name] += milliseconds(g.Time.Seconds())
		}
	}
	return took, cpu, err
}

// processorTime returns the seconds that all threads of this process have run.
func processorTime() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func milliseconds(s float64) float64 { return math.Round(s*1e6) / 1e3 }

// run computes the workload.
func (c *cell) run(a *halfulp.Matrix, device string) (stats halfulp.Stats, err error) {
	f := halfulp.Float64
	if c.Bits != 53 {
		f = halfulp.MP(uint(c.Bits))
	}
	opt := halfulp.Options{Threads: c.Threads, Device: halfulp.Device(device), Stats: &stats}
	if device == "" {
		opt.Device = halfulp.CPU
	}
	switch c.Workload {
	case "product":
		if c.factor == nil { // entries with all bits
			c.factor, c.product = gallery.Random(f, a.Rows(), a.Rows(), 0, 2), halfulp.NewMatrix(f, a.Rows(), a.Rows())
		}
		one, zero := halfulp.NewScalar(f, big.NewFloat(1)), halfulp.NewScalar(f, new(big.Float))
		err = halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, c.factor, c.factor, zero, c.product, &opt)
	case "eigenvalues", "eigenvectors":
		_, err = eigen.Sym(a, f, &eigen.SymOptions{Options: opt, ValuesOnly: c.Workload == "eigenvalues"})
	case "singular values", "singular vectors":
		_, err = eigen.SVD(a, f, &eigen.SVDOptions{Options: opt, ValuesOnly: c.Workload == "singular values"})
	case "generalised eigenvalues", "generalised eigenvectors":
		b := gallery.Hilbert(halfulp.MP(400), a.Rows())
		_, err = eigen.SymGeneral(a, b, f, &eigen.SymOptions{Options: opt, ValuesOnly: c.Workload == "generalised eigenvalues"})
	default:
		err = fmt.Errorf("no workload %q", c.Workload)
	}
	return stats, err
}

// show prints a cell.
func (c *cell) show(w io.Writer) {
	fmt.Fprintf(w, "%-16s n = %4d, %4d bits, ms, and of processor time:", c.Workload, c.N, c.Bits)
	for _, name := range slices.Sorted(maps.Keys(c.Median)) {
		fmt.Fprintf(w, " %s %.3f (%.3f);", name, c.Median[name], c.CPU[name])
	}
	fmt.Fprintln(w)
}

//go:embed peers.py
var script string

// python is a sub-process that runs the other programs.
type python struct {
	interpreter string
	threads     int
	loaded      string // the file of the matrix
	cmd         *exec.Cmd
	in          io.WriteCloser
	out         *bufio.Scanner
	version     string
}

// startPython starts a process, which ends with stop.
func startPython(interpreter string, threads int) (*python, error) {
	p := &python{interpreter: interpreter, threads: threads}
	return p, p.start()
}

func (p *python) start() error {
	p.cmd = exec.Command(p.interpreter, "-c", script)
	count := strconv.Itoa(p.threads)
	p.cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS="+count, "OMP_NUM_THREADS="+count, "MKL_NUM_THREADS="+count)
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.in, p.out = in, bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		return err
	}
	if p.version, err = p.ask("version"); err != nil {
		p.stop()
	}
	return err
}

func (p *python) stop() {
	p.in.Close()
	_ = p.cmd.Wait() // it says nothing at its end that matters
}

// load loads a matrix.
func (p *python) load(name string) error {
	p.loaded = name
	_, err := p.ask("load " + name)
	return err
}

// ask returns the answer to a command; one that begins with "no" is an error.
func (p *python) ask(command string) (string, error) {
	if _, err := fmt.Fprintln(p.in, command); err != nil {
		return "", err
	}
	if !p.out.Scan() {
		return "", errSilent
	}
	text := p.out.Text()
	if why, ok := strings.CutPrefix(text, "no "); ok {
		return "", errors.New(why)
	}
	return text, nil
}

// time returns the seconds of a run, and its seconds of processor time. A run that takes more than
// longest seconds of processor time ends, with an error, and so does its process.
func (p *python) time(method string, bits int, longest float64) (took, cpu float64, err error) {
	text, err := p.ask(fmt.Sprintf("time %s %d %g", method, bits, longest))
	switch {
	case errors.Is(err, errSilent):
		p.stop()
		if err := p.start(); err != nil {
			return 0, 0, err
		}
		if err := p.load(p.loaded); err != nil {
			return 0, 0, err
		}
		return 0, 0, fmt.Errorf("takes more than %g s", longest)
	case err == nil:
		_, err = fmt.Sscan(text, &took, &cpu)
	}
	return took, cpu, err
}

var errSilent = errors.New("no answer")
