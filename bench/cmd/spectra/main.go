// Spectra measures eigenvalues, eigenvectors and singular values beside numpy, mpmath, python-flint
// and PyTorch, in turn in one run, for random symmetric matrices.
package main

import (
	"bufio"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/record"
	"github.com/halfulp/halfulp/eigen"
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
	Runs     map[string]int     `json:"runs"`
	Missing  map[string]string  `json:"missing,omitempty"` // why a method has no time
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

// peersOf are the methods of other programs for a workload. Those of more bits take long and are
// measured up to order most; 0: any order.
var peersOf = map[string][]struct {
	name string
	most int
}{
	"eigenvalues": {{"numpy_eigvalsh", 0}, {"mpmath_eigsy_values", 50}, {"flint_eig_values", 100}},
	"eigenvectors": {{"numpy_eigh", 0}, {"torch_eigh", 0}, {"mpmath_eigsy", 50}, {"flint_eig", 100},
		{"flint_eig_approximate", 100}},
	"singular values":  {{"numpy_svdvals", 0}},
	"singular vectors": {{"numpy_svd", 0}, {"mpmath_svd_r", 50}},
}

var workloads = []string{"eigenvalues", "eigenvectors", "singular values", "singular vectors"}

func main() {
	orders := flag.String("n", "50,100,200", "orders")
	formats := flag.String("bits", "53,106,424", "bits of results")
	threads := flag.Int("threads", runtime.NumCPU(), "threads")
	repeats := flag.Int("repeats", 5, "runs of each method")
	seconds := flag.Float64("seconds", 20, "a method is not repeated once its runs of a problem have taken so long")
	interpreter := flag.String("python", "python3", "Python with numpy, mpmath, python-flint or torch; empty: no other programs")
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
	err := r.measure(os.Stdout, strings.Split(*orders, ","), strings.Split(*formats, ","), *threads, *repeats, *seconds, *interpreter)
	if err = errors.Join(err, record.Write(*path, r)); err != nil {
		fmt.Fprintln(os.Stderr, "spectra:", err)
		os.Exit(1)
	}
}

// measure measures all cells and prints a line for each.
func (r *results) measure(w io.Writer, orders, formats []string, threads, repeats int, seconds float64, interpreter string) error {
	var p *python
	if interpreter != "" {
		var err error
		if p, err = startPython(interpreter, threads); err != nil {
			return err
		}
		defer p.stop()
		r.Peers = p.version
	}
	folder, err := os.MkdirTemp("", "spectra-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, order := range orders {
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
			if _, err := p.ask("load " + name); err != nil {
				return err
			}
		}
		for _, format := range formats {
			bits, err := strconv.Atoi(format)
			if err != nil {
				return err
			}
			for _, workload := range workloads {
				c := cell{workload, n, bits, threads, map[string]float64{}, map[string]float64{}, map[string]int{}, map[string]string{}}
				if err := c.measure(a, p, repeats, seconds); err != nil {
					return err
				}
				r.Cells = append(r.Cells, c)
				c.show(w)
			}
		}
	}
	return nil
}

// symmetric returns a symmetric matrix of random entries between -1 and 1.
func symmetric(n int) *halfulp.Matrix {
	a := halfulp.Random(halfulp.Float64, n, n, 0, 1)
	for i := range n {
		for j := range i {
			a.Set(i, j, a.At(j, i))
		}
	}
	return a
}

// measure times halfulp and the other programs in turn.
func (c *cell) measure(a *halfulp.Matrix, p *python, repeats int, seconds float64) error {
	times := map[string][]float64{}
	total := map[string]float64{}
	record := func(name string, took float64) {
		times[name] = append(times[name], took)
		total[name] += took
	}
	for range repeats {
		if total["halfulp"] > seconds {
			break
		}
		begin := time.Now()
		if err := c.run(a); err != nil {
			return err
		}
		record("halfulp", time.Since(begin).Seconds())
		for _, m := range peersOf[c.Workload] {
			if p == nil || c.Missing[m.name] != "" || total[m.name] > seconds {
				continue
			}
			if m.most > 0 && c.N > m.most {
				c.Missing[m.name] = "takes too long"
				continue
			}
			took, err := p.time(m.name, c.Bits)
			if err != nil {
				c.Missing[m.name] = err.Error()
				continue
			}
			record(m.name, took)
		}
	}
	for name, t := range times {
		slices.Sort(t)
		c.Median[name], c.Least[name], c.Runs[name] = milliseconds(t[len(t)/2]), milliseconds(t[0]), len(t)
	}
	return nil
}

func milliseconds(s float64) float64 { return math.Round(s*1e6) / 1e3 }

// run computes the workload.
func (c *cell) run(a *halfulp.Matrix) error {
	f := halfulp.Float64
	if c.Bits != 53 {
		f = halfulp.MP(uint(c.Bits))
	}
	opt := halfulp.Options{Threads: c.Threads}
	var err error
	switch c.Workload {
	case "eigenvalues", "eigenvectors":
		_, err = eigen.Sym(a, f, &eigen.SymOptions{Options: opt, ValuesOnly: c.Workload == "eigenvalues"})
	default:
		_, err = eigen.SVD(a, f, &eigen.SVDOptions{Options: opt, ValuesOnly: c.Workload == "singular values"})
	}
	return err
}

// show prints a cell.
func (c *cell) show(w io.Writer) {
	fmt.Fprintf(w, "%-16s n = %4d, %4d bits: halfulp %.3f ms", c.Workload, c.N, c.Bits, c.Median["halfulp"])
	for _, m := range peersOf[c.Workload] {
		if t, ok := c.Median[m.name]; ok {
			fmt.Fprintf(w, "; %s %.3f", m.name, t)
		}
	}
	fmt.Fprintln(w)
}

//go:embed peers.py
var script string

// python is a sub-process that runs the other programs.
type python struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	version string
}

func startPython(interpreter string, threads int) (*python, error) {
	p := &python{cmd: exec.Command(interpreter, "-c", script)}
	count := strconv.Itoa(threads)
	p.cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS="+count, "OMP_NUM_THREADS="+count, "MKL_NUM_THREADS="+count)
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if p.version, err = p.ask("version"); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func (p *python) stop() {
	p.in.Close()
	_ = p.cmd.Wait() // it says nothing at its end that matters
}

// ask returns the answer to a command; one that begins with "no" is an error.
func (p *python) ask(command string) (string, error) {
	if _, err := fmt.Fprintln(p.in, command); err != nil {
		return "", err
	}
	if !p.out.Scan() {
		return "", errors.New("no answer")
	}
	text := p.out.Text()
	if why, ok := strings.CutPrefix(text, "no "); ok {
		return "", errors.New(why)
	}
	return text, nil
}

// time returns the seconds of a run.
func (p *python) time(method string, bits int) (float64, error) {
	text, err := p.ask(fmt.Sprintf("time %s %d", method, bits))
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}
