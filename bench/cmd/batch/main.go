// Batch measures many small matrix products and systems beside Arb: halfulp's routines one by one
// and for the whole batch, arb_mat_mul and arb_mat_approx_solve, each method in turn. With -ways it
// also forces the ways of package linsolve for small systems, whose thresholds it measures. With
// -device it also measures batches on a GPU: of matrices of the host, and of matrices stored there.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
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
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/linsolve"
)

// A figure has the wall times of a problem of a batch by every method, in microseconds.
type figure struct {
	N       int       `json:"n"`
	Bits    uint      `json:"bits"`
	Threads int       `json:"threads"`
	Times   []float64 `json:"times"` // medians, in the order of Methods; 0 if one does not apply
}

type results struct {
	Command   string           `json:"command"`
	Date      time.Time        `json:"date"`
	Commit    string           `json:"commit"`
	Dirty     bool             `json:"dirty"`
	Go        string           `json:"go"`
	Machine   machine.Machine  `json:"machine"`
	Unit      string           `json:"unit"`
	Libraries []record.Library `json:"libraries"`
	Methods   []string         `json:"methods"`
	Figures   []figure         `json:"figures"`
}

// A method computes all problems of one kind.
type method struct {
	kind, name string
	run        func(threads int) error
}

// A problem is a batch of products a[i] a[i+1] and of systems a[i] x = b[i].
type problem struct {
	n    int
	bits uint
	f    halfulp.Format
	a, b []*halfulp.Matrix
}

func newProblem(n int, bits uint, count, columns int) *problem {
	p := &problem{n: n, bits: bits, f: halfulp.Float64}
	if bits != 53 {
		p.f = halfulp.MP(bits)
	}
	for i := range uint64(count) {
		p.a = append(p.a, gallery.Random(p.f, n, n, 0, 2*i+1))
		p.b = append(p.b, gallery.Random(p.f, n, columns, 0, 2*i+2))
	}
	return p
}

// halfulp returns the library's own methods.
func (p *problem) halfulp() []method {
	c := make([]*halfulp.Matrix, len(p.a))
	next := make([]*halfulp.Matrix, len(p.a))
	for i := range c {
		c[i] = halfulp.NewMatrix(p.f, p.n, p.n)
		next[i] = p.a[(i+1)%len(p.a)]
	}
	return []method{
		{"products", "GemmBatch", func(threads int) error {
			return halfulp.GemmBatch(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), p.a, next, halfulp.Float(0), c, &halfulp.Options{Threads: threads})
		}},
		{"systems", "SolveBatch", func(threads int) error {
			_, err := linsolve.SolveBatch(p.a, p.b, p.f, &halfulp.Options{Threads: threads})
			return err
		}},
		{"products", "Gemm one by one", func(threads int) error {
			opt := &halfulp.Options{Threads: threads}
			for i := range c {
				if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), p.a[i], next[i], halfulp.Float(0), c[i], opt); err != nil {
					return err
				}
			}
			return nil
		}},
		{"systems", "Solve one by one", func(threads int) error {
			opt := &halfulp.Options{Threads: threads}
			for i := range p.a {
				if _, err := linsolve.Solve(p.a[i], p.b[i], p.f, opt); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

// onDevice returns the methods that compute on a device, and a function that frees the matrices
// there.
func (p *problem) onDevice(device halfulp.Device) (methods []method, free func(), err error) {
	var a, b, next, c, there []*halfulp.Matrix
	free = func() {
		for _, m := range there {
			m.Free()
		}
	}
	for i, m := range p.a {
		d, err := m.On(device)
		if err != nil {
			return nil, free, err
		}
		there = append(there, d)
		z, err := halfulp.NewMatrixOn(device, p.f, p.n, p.n)
		if err != nil {
			return nil, free, err
		}
		there = append(there, z)
		side, err := p.b[i].On(device)
		if err != nil {
			return nil, free, err
		}
		there = append(there, side)
		a, b, c = append(a, d), append(b, side), append(c, z)
	}
	host := make([]*halfulp.Matrix, len(p.a))
	factors := make([]*halfulp.Matrix, len(p.a))
	for i := range a {
		next = append(next, a[(i+1)%len(a)])
		host[i] = halfulp.NewMatrix(p.f, p.n, p.n)
		factors[i] = p.a[(i+1)%len(p.a)]
	}
	return []method{
		{"products", "GemmBatch on the device", func(threads int) error {
			return halfulp.GemmBatch(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), p.a, factors, halfulp.Float(0), host, &halfulp.Options{Threads: threads, Device: device})
		}},
		{"products", "GemmBatch, resident", func(threads int) error {
			return halfulp.GemmBatch(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, next, halfulp.Float(0), c, &halfulp.Options{Threads: threads})
		}},
		{"systems", "SolveBatch on the device", func(threads int) error {
			_, err := linsolve.SolveBatch(p.a, p.b, p.f, &halfulp.Options{Threads: threads, Device: device})
			return err
		}},
		{"systems", "SolveBatch, resident", func(threads int) error {
			x, err := linsolve.SolveBatch(a, b, p.f, &halfulp.Options{Threads: threads})
			for _, m := range x {
				m.Free()
			}
			return err
		}},
	}, free, nil
}

// smallWays are the ways of package linsolve that are the fastest for some small systems.
var smallWays = []string{call.ByResiduals, call.ByMinors, call.ByTriangles}

// byWays returns methods that solve the systems one by one in a forced way.
func (p *problem) byWays() (methods []method) {
	for _, way := range smallWays {
		methods = append(methods, method{"systems", "Solve by " + way, func(threads int) error {
			opt := &halfulp.Options{Threads: threads, Context: call.Forcing(context.Background(), way)}
			for i := range p.a {
				if _, err := linsolve.Solve(p.a[i], p.b[i], p.f, opt); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	return methods
}

func main() {
	orders := flag.String("n", "4,8,16,32,64", "orders")
	bits := flag.String("bits", "53,106,424", "bits of the significands")
	threads := flag.String("threads", "1,2", "threads")
	work := flag.Float64("count", 0, "problems of a batch; 0: 100000 / n², and at least 20")
	columns := flag.Int("columns", 1, "right-hand sides of a system")
	repeat := flag.Int("repeat", 5, "timings of a method")
	only := flag.String("only", "", "methods whose names contain one of these, separated by commas")
	ways := flag.Bool("ways", false, "also force ways for small systems")
	device := flag.String("device", "", "also this GPU, such as cuda:0")
	path := flag.String("json", "", "file for the figures")
	flag.Parse()
	if err := run(*orders, *bits, *threads, *only, int(*work), *columns, *repeat, *ways, halfulp.Device(*device), *path); err != nil {
		fmt.Fprintln(os.Stderr, "batch:", err)
		os.Exit(1)
	}
}

func run(orders, precisions, threads, only string, count, columns, repeat int, ways bool, device halfulp.Device, path string) error {
	r := results{
		Command: "go run ./cmd/batch " + strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Truncate(time.Second),
		Go: runtime.Version(), Machine: machine.Describe(), Unit: "microseconds a problem, wall time, median", Libraries: versions(),
	}
	r.Commit, r.Dirty = record.Commit()
	var lists [3][]int
	for i, text := range []string{orders, precisions, threads} {
		for _, word := range strings.Split(text, ",") {
			x, err := strconv.Atoi(word)
			if err != nil {
				return err
			}
			lists[i] = append(lists[i], x)
		}
	}
	for _, n := range lists[0] {
		for _, bits := range lists[1] {
			many := count
			if many == 0 {
				many = max(20, 100000/(n*n))
			}
			p := newProblem(n, uint(bits), many, columns)
			peers, free := p.arb()
			methods := append(p.halfulp(), peers...)
			if device != "" {
				there, freeThere, err := p.onDevice(device)
				if err != nil {
					freeThere()
					return err
				}
				freePeers := free
				free = func() {
					freeThere()
					freePeers()
				}
				methods = append(methods, there...)
			}
			if ways {
				methods = append(methods, p.byWays()...)
			}
			if only != "" {
				methods = slices.DeleteFunc(methods, func(m method) bool {
					return !slices.ContainsFunc(strings.Split(only, ","), func(s string) bool { return strings.Contains(m.name, s) })
				})
			}
			for _, t := range lists[2] {
				f, err := p.measure(methods, t, repeat)
				if err != nil {
					return fmt.Errorf("n = %d, %d bits: %w", n, bits, err)
				}
				r.Figures = append(r.Figures, f)
			}
			r.Methods = nil
			for _, m := range methods {
				r.Methods = append(r.Methods, m.name)
			}
			free()
		}
	}
	if path == "" {
		return nil
	}
	return record.Write(path, r)
}

// measure times all methods in turn.
func (p *problem) measure(methods []method, threads, repeat int) (figure, error) {
	f := figure{N: p.n, Bits: p.bits, Threads: threads}
	processor, wall := make([][]float64, len(methods)), make([][]float64, len(methods))
	for range repeat {
		for i, m := range methods {
			runtime.GC()
			start, before := time.Now(), cpu()
			if err := m.run(threads); errors.Is(err, call.ErrWay) {
				processor[i], wall[i] = append(processor[i], 0), append(wall[i], 0)
				continue
			} else if err != nil {
				return f, fmt.Errorf("%s: %w", m.name, err)
			}
			processor[i] = append(processor[i], float64(cpu()-before)/1e3/float64(len(p.a)))
			wall[i] = append(wall[i], float64(time.Since(start))/1e3/float64(len(p.a)))
		}
	}
	for i, m := range methods {
		f.Times = append(f.Times, median(wall[i]))
		fmt.Printf("n = %2d %4d bits %d threads  %-8s %-26s %9.2f us, processor time %9.2f\n", f.N, f.Bits, f.Threads, m.kind, m.name, median(wall[i]), median(processor[i]))
	}
	return f, nil
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// cpu returns the processor time of the process.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
