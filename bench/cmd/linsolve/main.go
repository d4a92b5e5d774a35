// Linsolve measures package linsolve beside Arb (of the machine and, through python-flint, of FLINT
// 3), LAPACK in OpenBLAS, and a product of two matrices of the same order and precision: systems
// with one right-hand side, inverses, determinants and factors, each method in turn, in processor
// time.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/record"
)

// FLINT keeps its caches a thread: everything runs on the first one.
func init() { runtime.LockOSThread() }

// A figure is the time of one method on one problem in seconds of processor time, or why there is
// none.
type figure struct {
	N       int     `json:"n"`
	Bits    uint    `json:"bits"`
	Kappa   float64 `json:"kappa,omitempty"`   // 0: random entries
	Weights float64 `json:"weights,omitempty"` // log2 of the weights of P, 0: no normal matrix
	Method  string  `json:"method"`
	Median  float64 `json:"median,omitempty"`
	Min     float64 `json:"min,omitempty"`
	Max     float64 `json:"max,omitempty"`
	Repeats int     `json:"repeats,omitempty"`
	Skipped string  `json:"skipped,omitempty"`
	Detail  any     `json:"detail,omitempty"` // what the method tells about its last run
}

type results struct {
	Command   string           `json:"command"`
	Date      time.Time        `json:"date"`
	Commit    string           `json:"commit"`
	Dirty     bool             `json:"dirty"`
	Go        string           `json:"go"`
	Machine   machine.Machine  `json:"machine"`
	Load      string           `json:"load"` // averages when it began: others use the machine
	Threads   int              `json:"threads"`
	Unit      string           `json:"unit"`
	Libraries []record.Library `json:"libraries"`
	Figures   []figure         `json:"figures"`
}

type options struct {
	n, bits, kappa  string
	weights         float64
	threads, repeat int
	seconds, most   float64
	only, python    string
	json            string
}

func main() {
	var o options
	flag.StringVar(&o.n, "n", "100,300", "orders")
	flag.StringVar(&o.bits, "bits", "53,106,424,1696", "bits of the significands")
	flag.StringVar(&o.kappa, "kappa", "0,1e6,1e30,1e100", "condition numbers, 0 for random entries; those above 2^bits are left out")
	flag.Float64Var(&o.weights, "weights", 0, "in place of kappa: normal matrices PᵀP, weights of whose 2n rows fall from 1 to 2^-WEIGHTS")
	flag.IntVar(&o.threads, "threads", 1, "threads of halfulp; peers run on one")
	flag.IntVar(&o.repeat, "repeat", 9, "timings of a method")
	flag.Float64Var(&o.seconds, "seconds", 10, "time for the timings of a method, after the first")
	flag.Float64Var(&o.most, "most", 100, "seconds: a method that is expected to take longer is left out")
	flag.StringVar(&o.only, "only", "", "methods whose names contain one of these, separated by commas")
	flag.StringVar(&o.python, "python", "python3", "interpreter that has python-flint")
	flag.StringVar(&o.json, "json", "", "file for the figures")
	flag.Parse()
	if err := run(&o, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "linsolve:", err)
		os.Exit(1)
	}
}

func run(o *options, out io.Writer) error {
	orders, err := numbers(o.n)
	if err != nil {
		return err
	}
	precisions, err := numbers(o.bits)
	if err != nil {
		return err
	}
	kappas, err := numbers(o.kappa)
	if err != nil {
		return err
	}
	r := results{
		Command: command(o), Date: time.Now().UTC().Truncate(time.Second),
		Go: runtime.Version(), Machine: machine.Describe(), Threads: o.threads, Unit: "seconds of processor time", Libraries: versions(),
	}
	r.Commit, r.Dirty = record.Commit()
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		r.Load = strings.TrimSpace(string(load))
	}
	py, err := peer.StartPython(o.python, script)
	if err != nil {
		fmt.Fprintln(out, "without python-flint:", err)
	} else {
		defer py.Stop()
		r.Libraries = append(r.Libraries, record.Library{Name: "python-flint", Version: py.Version})
	}
	if o.weights > 0 {
		kappas = []float64{0}
	}
	expected := map[string]float64{} // time over n³ of a peer at a precision
	for _, n := range orders {
		for _, bits := range precisions {
			for _, kappa := range kappas {
				if kappa > 0 && log2(kappa) > bits {
					continue
				}
				p, err := newProblem(int(n), uint(bits), kappa, o.weights, o.threads)
				if err != nil {
					return err
				}
				figures, err := p.measure(o, py, expected)
				if err != nil {
					return fmt.Errorf("n = %d, %d bits, kappa %g: %w", p.n, p.bits, kappa, err)
				}
				show(out, figures)
				r.Figures = append(r.Figures, figures...)
			}
		}
	}
	return record.Write(o.json, r)
}

// command returns the command line without the place of the record.
func command(o *options) string {
	line := "go run ./cmd/linsolve " + strings.Join(os.Args[1:], " ")
	if o.json == "" {
		return line
	}
	return strings.ReplaceAll(line, o.json, "FILE")
}

func numbers(list string) (z []float64, err error) {
	for _, text := range strings.Split(list, ",") {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		z = append(z, x)
	}
	return z, nil
}

// A method computes something of a problem once.
type method struct {
	name string
	slow bool // left out where it is expected to take too long
	run  func() (detail any, err error)
	// python has it instead, if not empty: what the sub-process is to run
	python string
}

// measure times all methods in turn.
func (p *problem) measure(o *options, py *peer.Python, expected map[string]float64) ([]figure, error) {
	peers, free := p.peers()
	defer free()
	methods := slices.Concat(p.halfulp(), peers)
	if py != nil {
		methods = append(methods, pythonMethods()...)
	}
	if o.only != "" {
		methods = slices.DeleteFunc(methods, func(m method) bool {
			return !slices.ContainsFunc(strings.Split(o.only, ","), func(s string) bool { return strings.Contains(m.name, s) })
		})
	}
	if slices.ContainsFunc(methods, func(m method) bool { return m.python != "" }) {
		if err := p.load(py); err != nil {
			return nil, err
		}
	}
	cube := float64(p.n) * float64(p.n) * float64(p.n)
	figures := make([]figure, len(methods))
	times := make([][]float64, len(methods))
	spent := make([]float64, len(methods))
	for i, m := range methods {
		figures[i] = figure{N: p.n, Bits: p.bits, Kappa: p.kappa, Weights: p.weights, Method: m.name}
		// Times grow with n³ or more, except for Solve and a product.
		if t := expected[fmt.Sprint(m.name, p.bits)] * cube; m.slow && t > o.most {
			figures[i].Skipped = fmt.Sprintf("expected to take %.3g s or more", t)
		}
	}
	for round := range o.repeat {
		for i, m := range methods {
			f := &figures[i]
			if f.Skipped != "" || round > 0 && spent[i] > o.seconds {
				continue
			}
			runtime.GC()
			start := processorTime()
			var detail any
			var err error
			if m.python != "" {
				var t float64
				t, err = pythonTime(py, m.python)
				start, detail = processorTime()-t, nil
			} else {
				detail, err = m.run()
			}
			t := processorTime() - start
			if err != nil {
				f.Skipped = err.Error()
				continue
			}
			if round == 0 && m.slow {
				expected[fmt.Sprint(m.name, p.bits)] = t / cube
			}
			if round > 0 {
				spent[i] += t
			}
			times[i] = append(times[i], t)
			f.Detail = detail
		}
	}
	for i, t := range times {
		if len(t) == 0 {
			continue
		}
		slices.Sort(t)
		f := &figures[i]
		f.Median, f.Min, f.Max, f.Repeats = t[len(t)/2], t[0], t[len(t)-1], len(t)
	}
	return figures, nil
}

// show prints the figures of a problem, with ratios to one product and to Solve.
func show(w io.Writer, figures []figure) {
	if len(figures) == 0 {
		return
	}
	f := figures[0]
	of := func(name string) float64 {
		for _, f := range figures {
			if f.Method == name {
				return f.Median
			}
		}
		return 0
	}
	product, solve := of(productName), of(solveName)
	kappa := "random"
	if f.Kappa > 0 {
		kappa = fmt.Sprintf("kappa %.0e", f.Kappa)
	}
	if f.Weights > 0 {
		kappa = fmt.Sprintf("normal, weights to 2^-%g", f.Weights)
	}
	fmt.Fprintf(w, "\nn = %d, %d bits, %s\n%-34s %11s %11s %4s %9s %9s\n", f.N, f.Bits, kappa, "", "median ms", "least ms", "runs", "/product", "/Solve")
	for _, f := range figures {
		if f.Skipped != "" {
			fmt.Fprintf(w, "%-34s %s\n", f.Method, f.Skipped)
			continue
		}
		fmt.Fprintf(w, "%-34s %11.4g %11.4g %4d %9.3g %9.3g\n", f.Method, 1e3*f.Median, 1e3*f.Min, f.Repeats, f.Median/product, f.Median/solve)
	}
}

// processorTime returns what the process has used, in seconds: other processes do not count.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + 1e-6*float64(u.Utime.Usec+u.Stime.Usec)
}
