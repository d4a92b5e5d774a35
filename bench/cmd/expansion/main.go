// Expansion measures the elementwise operations and products of package expansion, and the exact
// engine's products, side by side with loops of the QD library, on one thread: a timing of one
// after a timing of the other on the same numbers.
package main

/*
#cgo CXXFLAGS: -O3 -march=native
#cgo LDFLAGS: -lqd
#include "loops.h"
*/
import "C"

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/record"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/isa"
)

// figure is the time of one operation: medians and minima in nanoseconds a number, or a product of
// numbers in a sum.
type figure struct {
	Name      string  `json:"name"`
	Format    string  `json:"format"`
	N         int     `json:"n"`
	Repeats   int     `json:"repeats"`
	QD        float64 `json:"qd_median_ns"`
	QDMin     float64 `json:"qd_min_ns"`
	Own       float64 `json:"own_median_ns"`
	OwnMin    float64 `json:"own_min_ns"`
	Ratio     float64 `json:"median_ratio"`          // of QD's time to halfulp's after it
	RatioMin  float64 `json:"ratio_of_minima"`       //
	Deviation float64 `json:"largest_relative_diff"` // between the results
}

type results struct {
	Command string          `json:"command"`
	Date    time.Time       `json:"date"`
	Commit  string          `json:"commit"`
	Dirty   bool            `json:"dirty"`
	Go      string          `json:"go"`
	Machine machine.Machine `json:"machine"`
	Level   string          `json:"level"`
	Figures []figure        `json:"figures"`
}

// options of the command line.
type options struct {
	only    *regexp.Regexp
	repeats int
	seconds float64
	most    float64
	path    string
}

func main() {
	only := flag.String("only", "", "pattern of the names to measure, such as 'dd (add|mul)'")
	repeats := flag.Int("repeat", 25, "timings of each")
	seconds := flag.Float64("seconds", 0.002, "length of a timing at least")
	most := flag.Float64("most", 20, "seconds after which an operation has no more than three timings")
	path := flag.String("json", "", "file for the figures")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if err == nil {
		err = run(&options{pattern, *repeats, *seconds, *most, *path})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "expansion:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	r := results{
		Command: "go run ./cmd/expansion " + strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Truncate(time.Second),
		Go: runtime.Version(), Machine: machine.Describe(), Level: isa.Level().String(),
	}
	r.Commit, r.Dirty = record.Commit()
	for _, f := range []halfulp.Format{halfulp.DD, halfulp.QD} {
		for _, c := range cases(f) {
			if !o.only.MatchString(f.String() + " " + c.name) {
				continue
			}
			p, err := c.make(f, c.n)
			if err != nil {
				return fmt.Errorf("%s %s: %w", f, c.name, err)
			}
			g, err := compare(p, o)
			if err != nil {
				return fmt.Errorf("%s %s: %w", f, c.name, err)
			}
			g.Name, g.Format, g.N = c.name, f.String(), c.n
			fmt.Printf("%s %-22s n = %8d: QD %9.3f ns, halfulp %8.3f ns, ratio %7.2f, of minima %7.2f\n", g.Format, g.Name, g.N, g.QD, g.Own, g.Ratio, g.RatioMin)
			r.Figures = append(r.Figures, g)
		}
	}
	return record.Write(o.path, r)
}

// A problem is one that both sides have in hand. A call does that many operations.
type problem struct {
	qd, own                     func() error
	qdOperations, ownOperations float64
	differ                      func() float64 // the largest relative difference of the results
}

type benchmark struct {
	name string
	n    int
	make func(f halfulp.Format, n int) (*problem, error)
}

// cases lists what is measured: numbers in cache, numbers in memory, matrices.
func cases(f halfulp.Format) []benchmark {
	type routine = func(x, y, z *halfulp.Vector, o *halfulp.Options) error
	function := func(f expansion.Function) routine {
		return func(x, _, z *halfulp.Vector, o *halfulp.Options) error {
			return expansion.Map(f, x, z, o)
		}
	}
	const cached, inMemory = 2048, 1 << 21
	var list []benchmark
	for _, e := range []struct {
		name   string
		op     byte
		memory bool
		own    routine
	}{
		{"add", '+', true, expansion.Add[*halfulp.Vector]},
		{"mul", '*', true, expansion.Mul[*halfulp.Vector]},
		{"div", '/', true, expansion.Div[*halfulp.Vector]},
		{"sqrt", 's', true, func(x, _, z *halfulp.Vector, o *halfulp.Options) error {
			return expansion.Sqrt(x, z, o)
		}},
		{"exp", 'e', false, function(expansion.Exp)},
		{"log", 'l', false, function(expansion.Log)},
		{"sin", 'n', false, function(expansion.Sin)},
	} {
		build := func(f halfulp.Format, n int) (*problem, error) { return elementwise(f, n, e.op, e.own) }
		list = append(list, benchmark{e.name, cached, build})
		if e.memory {
			list = append(list, benchmark{e.name + " in memory", inMemory, build})
		}
	}
	native := func(a, b, c *halfulp.Matrix) error {
		return expansion.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), c, single)
	}
	exact := func(a, b, c *halfulp.Matrix) error {
		return halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), c, single)
	}
	for _, n := range []int{300, 1000} {
		list = append(list,
			benchmark{fmt.Sprintf("gemm %d native", n), n, func(f halfulp.Format, n int) (*problem, error) { return product(f, n, native) }},
			benchmark{fmt.Sprintf("gemm %d exact", n), n, func(f halfulp.Format, n int) (*problem, error) { return product(f, n, exact) }})
	}
	return list
}

var single = &halfulp.Options{Device: "cpu", Threads: 1}

func terms(f halfulp.Format) int {
	if f == halfulp.DD {
		return 2
	}
	return 4
}

// numbers are n random numbers of all bits between 1/2 and 2, the same 4096 again and again, as a
// vector and for QD.
func numbers(r *rand.Rand, f halfulp.Format, n int) (x *halfulp.Vector, qd []float64, err error) {
	w, distinct := terms(f), min(n, 4096)
	x = halfulp.NewVector(f, n)
	for i := range distinct {
		// Words half an ulp of the one before or less, as they are stored.
		var q [4]float64
		q[0] = 0.5 + 1.5*r.Float64()
		for t := 1; t < w; t++ {
			q[t] = math.Ldexp(r.Float64()-0.5, -53*t-2)
		}
		qd = append(qd, q[:w]...)
		x.Set(i, scalar(f, q))
	}
	for i := distinct; i < n; i += distinct {
		k := min(distinct, n-i)
		qd = append(qd, qd[:k*w]...)
		if err := x.Slice(i, i+k).CopyFrom(x.Slice(0, k)); err != nil {
			return nil, nil, err
		}
	}
	return x, qd, nil
}

func scalar(f halfulp.Format, x [4]float64) halfulp.Scalar {
	if f == halfulp.DD {
		return expansion.DD{x[0], x[1]}.Scalar()
	}
	return expansion.QD(x).Scalar()
}

func pointer(x []float64) *C.double { return (*C.double)(unsafe.Pointer(&x[0])) }

func elementwise(f halfulp.Format, n int, op byte, own func(x, y, z *halfulp.Vector, o *halfulp.Options) error) (*problem, error) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	w := terms(f)
	x, qx, err := numbers(r, f, n)
	if err != nil {
		return nil, err
	}
	y, qy, err := numbers(r, f, n)
	if err != nil {
		return nil, err
	}
	z, qz := halfulp.NewVector(f, n), make([]float64, n*w)
	return &problem{
		qd: func() error {
			if C.bench_expansion_elementwise(C.int(w), C.char(op), pointer(qx), pointer(qy), pointer(qz), C.long(n)) == 0 {
				return fmt.Errorf("no operation %q", op)
			}
			return nil
		},
		own: func() error {
			return own(x, y, z, single)
		},
		qdOperations:  float64(n),
		ownOperations: float64(n),
		differ: func() float64 {
			worst := 0.0
			for i := range min(n, 1000) {
				worst = max(worst, relative(qz[i*w:(i+1)*w], z.At(i)))
			}
			return worst
		},
	}, nil
}

// relative is the relative difference of a number of QD from s.
func relative(words []float64, s halfulp.Scalar) float64 {
	d := expansion.QDFromScalar(s)
	for _, x := range words {
		d = d.AddFloat(-x)
	}
	return math.Abs(d[0] / s.Float64())
}

// product compares products of n x n matrices; QD's computes as many columns as take about a
// second.
func product(f halfulp.Format, n int, own func(a, b, c *halfulp.Matrix) error) (*problem, error) {
	r := rand.New(rand.NewPCG(2, uint64(n)))
	w := terms(f)
	// QD has A by rows, halfulp by columns.
	x, qa, err := numbers(r, f, n*n)
	if err != nil {
		return nil, err
	}
	y, qb, err := numbers(r, f, n*n)
	if err != nil {
		return nil, err
	}
	a, b, c := halfulp.NewMatrix(f, n, n), halfulp.NewMatrix(f, n, n), halfulp.NewMatrix(f, n, n)
	for i := range n {
		if err := a.Row(i).CopyFrom(x.Slice(i*n, (i+1)*n)); err != nil {
			return nil, err
		}
		if err := b.Col(i).CopyFrom(y.Slice(i*n, (i+1)*n)); err != nil {
			return nil, err
		}
	}
	qc := make([]float64, n*n*w)
	columns := min(n, 6_000_000/(n*n)*4/w)
	return &problem{
		qd: func() error {
			C.bench_expansion_product(C.int(w), pointer(qa), pointer(qb), pointer(qc), C.long(n), 0, C.long(columns))
			return nil
		},
		own:           func() error { return own(a, b, c) },
		qdOperations:  float64(n) * float64(n) * float64(columns),
		ownOperations: float64(n) * float64(n) * float64(n),
		differ: func() float64 {
			worst := 0.0
			for j := range columns {
				for i := range n {
					worst = max(worst, relative(qc[(i+j*n)*w:(i+j*n+1)*w], c.At(i, j)))
				}
			}
			return worst
		},
	}, nil
}

// compare times both sides in turn.
func compare(p *problem, o *options) (figure, error) {
	timing := func(f func() error, runs int) (float64, error) {
		start := time.Now()
		for range runs {
			if err := f(); err != nil {
				return 0, err
			}
		}
		return float64(time.Since(start).Nanoseconds()) / float64(runs), nil
	}
	var runs [2]int
	sides := [2]func() error{p.qd, p.own}
	for i, f := range sides { // warms up, and says how long a call takes
		if _, err := timing(f, 1); err != nil {
			return figure{}, err
		}
		t, err := timing(f, 1)
		if err != nil {
			return figure{}, err
		}
		runs[i] = max(1, int(math.Ceil(o.seconds*1e9/t)))
	}
	var qd, own, ratio []float64
	begun := time.Now()
	for i := range o.repeats {
		if i >= 3 && time.Since(begun).Seconds() > o.most {
			break
		}
		x, err := timing(p.qd, runs[0])
		if err != nil {
			return figure{}, err
		}
		y, err := timing(p.own, runs[1])
		if err != nil {
			return figure{}, err
		}
		x, y = x/p.qdOperations, y/p.ownOperations
		qd, own, ratio = append(qd, x), append(own, y), append(ratio, x/y)
	}
	return figure{
		Repeats: len(qd), QD: median(qd), QDMin: slices.Min(qd), Own: median(own), OwnMin: slices.Min(own),
		Ratio: median(ratio), RatioMin: slices.Min(qd) / slices.Min(own), Deviation: p.differ(),
	}, nil
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}
