// Thin measures products of matrices of which one is thin, or whose exponents spread widely, by
// every way of internal/product and by its choice, in turn, in processor time, and prints how much
// longer the choice takes than the best way. One of the ways is k calls of Gemv.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/record"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/product"
)

// A figure is the medians of the times of one product, in seconds of processor time.
type figure struct {
	Format  string `json:"format"`
	M       int    `json:"m"`
	K       int    `json:"k"`
	N       int    `json:"n"`
	Spread  int    `json:"spread"` // exponents lie in [-spread, spread]
	Repeats int    `json:"repeats"`
	// Ways has no entry for a way that took more than three times the best at first.
	Ways  map[string]float64 `json:"ways"`
	Auto  float64            `json:"auto"`
	Best  string             `json:"best"`
	Ratio float64            `json:"ratio"` // of auto to the best way
}

type results struct {
	Command string          `json:"command"`
	Date    time.Time       `json:"date"`
	Commit  string          `json:"commit"`
	Dirty   bool            `json:"dirty"`
	Go      string          `json:"go"`
	Machine machine.Machine `json:"machine"`
	Figures []figure        `json:"figures"`
}

func main() {
	n := flag.Int("n", 1000, "size")
	formats := flag.String("formats", "f32,f64,dd,td,qd,mp:53,mp:106,mp:424,mp:1696", "formats")
	threads := flag.Int("threads", 1, "threads")
	seconds := flag.Float64("seconds", 1, "time for the repetitions of a product")
	path := flag.String("json", "", "file for the figures")
	flag.Parse()
	if err := run(*n, *formats, *threads, *seconds, *path); err != nil {
		fmt.Fprintln(os.Stderr, "thin:", err)
		os.Exit(1)
	}
}

// hopeless is how much longer than the best a way takes that is measured once.
const hopeless = 3

// gemvs is the name of k calls of Gemv beside the ways.
const gemvs = "gemvs"

func run(n int, formats string, threads int, seconds float64, path string) error {
	r := results{
		Command: "go run ./cmd/thin " + strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Truncate(time.Second),
		Go: runtime.Version(), Machine: machine.Describe(),
	}
	r.Commit, r.Dirty = record.Commit()
	ways := slices.DeleteFunc(product.Ways(), func(way string) bool { return strings.HasPrefix(way, "device") })
	ways = append(ways, gemvs)
	fmt.Printf("%-8s %18s %6s %10s", "format", "m x k x n", "spread", "auto ms")
	for _, way := range ways {
		fmt.Printf(" %10s", way)
	}
	fmt.Printf(" %8s %6s\n", "best", "ratio")
	for _, name := range strings.Split(formats, ",") {
		f, err := num.ParseFormat(name)
		if err != nil {
			return err
		}
		for _, c := range cases(n, f) {
			x, err := measure(c, ways, threads, seconds)
			if err != nil {
				return fmt.Errorf("%v %v: %w", f, c.shape, err)
			}
			fmt.Printf("%-8s %18s %6d %10.4g", f, fmt.Sprintf("%d x %d x %d", x.M, x.K, x.N), x.Spread, 1e3*x.Auto)
			for _, way := range ways {
				if t, ok := x.Ways[way]; ok {
					fmt.Printf(" %10.4g", 1e3*t)
				} else {
					fmt.Printf(" %10s", "-")
				}
			}
			fmt.Printf(" %8s %6.2f\n", x.Best, x.Ratio)
			r.Figures = append(r.Figures, x)
		}
	}
	return record.Write(path, r)
}

// A problem is a product of random numbers.
type problem struct {
	format num.Format
	shape  [3]int // m, k, n
	spread int
}

func cases(n int, f num.Format) (list []problem) {
	for _, s := range [][3]int{{n, n, 1}, {n, n, 4}, {n, n, 16}, {1, n, n}, {16, n, n}, {n, 1, n}, {10, 10, 10}, {40, 40, 40}} {
		list = append(list, problem{f, s, 0})
	}
	for _, spread := range []int{200, 500, 1000} {
		switch {
		case f.Kind == num.F32, f.Kind != num.MP && spread > 500: // out of range
		default:
			list = append(list, problem{f, [3]int{n, n, 4}, spread}, problem{f, [3]int{n / 10, n / 10, n / 10}, spread})
		}
	}
	return list
}

func (p problem) random(seed uint64, rows, cols int) num.Mat {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := num.Mat{Arr: num.New(p.format, rows*cols), RS: 1, CS: rows, Rows: rows, Cols: cols}
	mag := make([]uint64, (p.format.Bits()+63)/64)
	for i := range rows * cols {
		for k := range mag {
			mag[k] = rng.Uint64()
		}
		e := rng.IntN(2*p.spread+1) - p.spread - 64*len(mag)
		m.Arr.Set(i, num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: mag, Exp: int64(e)})
	}
	return m
}

// measure times the ways and the choice of one product in turn.
func measure(p problem, ways []string, threads int, seconds float64) (figure, error) {
	m, k, n := p.shape[0], p.shape[1], p.shape[2]
	a, b := p.random(1, m, k), p.random(2, k, n)
	c := num.Mat{Arr: num.New(p.format, m*n), RS: 1, CS: m, Rows: m, Cols: n}
	one := num.Real{Class: num.Finite, Mag: []uint64{1}}
	call := func(ctx context.Context, way string) error {
		if way == gemvs {
			return callGemv(ctx, threads, one, a, b, c)
		}
		defer product.Force(way)()
		cfg := product.Config{Run: par.Run{Ctx: ctx, Threads: threads, Memory: 4 << 30}, Method: product.Auto}
		_, err := product.Run(cfg, product.Problem{Alpha: one, A: a, B: b, Old: c, C: c})
		return err
	}
	times := map[string][]float64{}
	best := math.Inf(1)
	run := func(way string) error {
		ctx := context.Background()
		if way != "" && len(times[way]) == 0 && !math.IsInf(best, 0) {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Duration(hopeless*best*1e9)+100*time.Millisecond)
			defer cancel()
		}
		// A call that takes microseconds is repeated.
		calls, start := 0, processorTime()
		t := 0.0
		for ; calls == 0 || t < 2e-3; t = processorTime() - start {
			if err := call(ctx, way); err != nil {
				return err
			}
			calls++
		}
		t /= float64(calls)
		if way != "" {
			best = min(best, t)
		}
		times[way] = append(times[way], t)
		return nil
	}
	all := append(slices.Clone(ways), "")
	if err := call(context.Background(), ""); err != nil { // warms up
		return figure{}, err
	}
	start := time.Now()
	rounds := 0
	for ; rounds < 3 || rounds < 25 && time.Since(start).Seconds() < seconds; rounds++ {
		runtime.GC()
		var failed error
		all = slices.DeleteFunc(all, func(way string) bool {
			err := run(way)
			if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, product.ErrMethod) {
				failed = err
			}
			return err != nil
		})
		if failed != nil {
			return figure{}, failed
		}
		if rounds == 0 {
			all = slices.DeleteFunc(all, func(way string) bool { return way != "" && times[way][0] > hopeless*best })
		}
		all = append(all[1:], all[0]) // another goes first
	}
	x := figure{Format: p.format.String(), M: m, K: k, N: n, Spread: p.spread, Repeats: rounds, Ways: map[string]float64{}}
	least := math.Inf(1)
	for _, way := range all {
		t := median(times[way])
		if way == "" {
			x.Auto = t
			continue
		}
		x.Ways[way] = t
		if t < least {
			least, x.Best = t, way
		}
	}
	x.Ratio = x.Auto / least
	return x, nil
}

// callGemv multiplies by calls of Gemv, on the side that takes fewer of them.
func callGemv(ctx context.Context, threads int, one num.Real, a, b, c num.Mat) error {
	if c.Cols > c.Rows {
		a, b, c = b.T(), a.T(), c.T()
	}
	work := direct.Work{Run: par.Run{Ctx: ctx, Threads: threads}}
	z := num.New(c.Arr.Format, c.Rows)
	for j := range c.Cols {
		if _, err := direct.Gemv(work, one, a, b.Col(j), num.Real{}, num.Vec{}, z, func(num.Flags) {}); err != nil {
			return err
		}
		for i := range c.Rows {
			c.Arr.CopyFrom(c.At(i, j), z, i)
		}
	}
	return nil
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// processorTime returns what the process has used, in seconds: other processes do not count.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + 1e-6*float64(u.Utime.Usec+u.Stime.Usec)
}
