// Ways measures every way that package linsolve has for systems of the host, over formats, orders,
// condition numbers, and one or as many right-hand sides as unknowns. It compares the results of
// all ways bit by bit.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/record"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/linsolve"
)

// A cell is a problem and the times of the ways that solve it.
type cell struct {
	Bits    int                `json:"bits"` // of the result; 53 is float64
	N       int                `json:"n"`
	Cond    string             `json:"condition"` // about
	Columns int                `json:"columns"`   // of B; n stands for the inverse
	Threads int                `json:"threads"`
	Chosen  float64            `json:"chosen_ms"` // what linsolve takes without a way asked for
	Ways    map[string]float64 `json:"ways_ms"`   // least of some runs; too slow ones are left out
	Slow    []string           `json:"too_slow,omitempty"`
}

type results struct {
	Command string          `json:"command"`
	Date    time.Time       `json:"date"`
	Commit  string          `json:"commit"`
	Dirty   bool            `json:"dirty"`
	Go      string          `json:"go"`
	Machine machine.Machine `json:"machine"`
	Level   string          `json:"level"`
	Cells   []cell          `json:"cells"`
}

func main() {
	formats := flag.String("bits", "53,106,212,424,1696", "bits of results")
	orders := flag.String("n", "10,32,100,300", "orders")
	conditions := flag.String("cond", "1e2,1e12,1e30,1e100", "condition numbers")
	threads := flag.Int("threads", runtime.NumCPU(), "threads")
	seconds := flag.Float64("seconds", 3, "seconds after which a run is ended")
	path := flag.String("json", "", "file for the figures")
	flag.Parse()
	r := results{
		Command: "go run ./cmd/ways " + strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Truncate(time.Second),
		Go: runtime.Version(), Machine: machine.Describe(), Level: isa.Level().String(),
	}
	r.Commit, r.Dirty = record.Commit()
	err := r.measure(os.Stdout, strings.Split(*formats, ","), strings.Split(*orders, ","), strings.Split(*conditions, ","), *threads, *seconds)
	if err = errors.Join(err, record.Write(*path, r)); err != nil {
		fmt.Fprintln(os.Stderr, "ways:", err)
		os.Exit(1)
	}
}

// measure measures all cells and prints a line for each.
func (r *results) measure(w io.Writer, formats, orders, conditions []string, threads int, seconds float64) error {
	for _, order := range orders {
		n, err := strconv.Atoi(order)
		if err != nil {
			return err
		}
		for _, condition := range conditions {
			cond, err := strconv.ParseFloat(condition, 64)
			if err != nil {
				return err
			}
			a := matrix(n, cond)
			for _, format := range formats {
				bits, err := strconv.Atoi(format)
				if err != nil {
					return err
				}
				for _, columns := range []int{1, n} {
					c := cell{Bits: bits, N: n, Cond: condition, Columns: columns, Threads: threads}
					if err := c.measure(a, time.Duration(seconds*float64(time.Second))); err != nil {
						return err
					}
					r.Cells = append(r.Cells, c)
					c.show(w)
				}
			}
		}
	}
	return nil
}

// matrix returns X D Y for random X and Y and a diagonal D that falls from 1 to 1/cond, in float64
// where that keeps the condition number.
func matrix(n int, cond float64) *halfulp.Matrix {
	log := math.Log2(cond)
	f := halfulp.Float64
	if log > 45 {
		f = halfulp.MP(uint(64 + log))
	}
	x, y := gallery.Random(halfulp.Float64, n, n, 0, 1), gallery.Random(halfulp.Float64, n, n, 0, 2)
	d := halfulp.NewMatrix(halfulp.MP(24), n, n)
	for i := range n {
		d.SetBig(i, i, new(big.Float).SetMantExp(big.NewFloat(1), -int(log*float64(i)/float64(max(n-1, 1)))))
	}
	xd, z := halfulp.NewMatrix(halfulp.MP(64), n, n), halfulp.NewMatrix(f, n, n)
	one := halfulp.Float(1)
	if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, one, x, d, halfulp.Float(0), nil, xd, nil); err != nil {
		panic(err)
	}
	if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, one, xd, y, halfulp.Float(0), nil, z, nil); err != nil {
		panic(err)
	}
	return z
}

// measure times the ways of a cell: the least of up to five runs, two if they take longer than a
// sixth of the time allowed, or one.
func (c *cell) measure(a *halfulp.Matrix, most time.Duration) error {
	f := halfulp.Float64
	if c.Bits != 53 {
		f = halfulp.MP(uint(c.Bits))
	}
	b := gallery.Random(halfulp.Float64, c.N, 1, 0, 3)
	solve := func(opt *halfulp.Options) (*halfulp.Matrix, error) { return linsolve.Solve(a, b, f, opt) }
	if c.Columns == c.N {
		solve = func(opt *halfulp.Options) (*halfulp.Matrix, error) { return linsolve.Inverse(a, f, opt) }
	}
	run := func(ctx context.Context) (x *halfulp.Matrix, least time.Duration, err error) {
		for i, all := 0, time.Duration(0); i < 5 && (i == 0 || all < most/6 || i == 1 && all < most/2); i++ {
			limited, cancel := context.WithTimeout(ctx, most)
			begin := time.Now()
			x, err = solve(&halfulp.Options{Device: "cpu", Threads: c.Threads, Context: limited})
			took := time.Since(begin)
			cancel()
			if err != nil {
				return nil, 0, err
			}
			if all += took; i == 0 || took < least {
				least = took
			}
		}
		return x, least, nil
	}
	milliseconds := func(d time.Duration) float64 { return math.Round(float64(d)/1e3) / 1e3 }
	want, took, err := run(context.Background())
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	c.Chosen, c.Ways = milliseconds(took), map[string]float64{}
	for _, way := range call.SystemWays {
		x, took, err := run(call.Forcing(context.Background(), way))
		switch {
		case errors.Is(err, call.ErrWay):
			continue
		case errors.Is(err, context.DeadlineExceeded):
			c.Slow = append(c.Slow, way)
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", way, err)
		}
		if want == nil {
			want = x
		} else if !x.Same(want) {
			return fmt.Errorf("%d bits, n = %d, condition %s, %d columns: %s has other bits", c.Bits, c.N, c.Cond, c.Columns, way)
		}
		c.Ways[way] = milliseconds(took)
	}
	return nil
}

// show prints a cell, the fastest way first.
func (c *cell) show(w io.Writer) {
	var names []string
	for name := range c.Ways {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int {
		if c.Ways[x] < c.Ways[y] {
			return -1
		}
		return 1
	})
	fmt.Fprintf(w, "%5d bits, n = %4d, condition %5s, %4d columns: chosen %.3f ms;", c.Bits, c.N, c.Cond, c.Columns, c.Chosen)
	for _, name := range names {
		fmt.Fprintf(w, " %s %.3f", name, c.Ways[name])
	}
	for _, name := range c.Slow {
		fmt.Fprintf(w, " %s -", name)
	}
	fmt.Fprintln(w)
}
