// Syrk measures Q = Pᵀ P of a tall matrix of long numbers beside two peers, a run of one after a
// run of the others: SDPB's way (bigint_syrk: residues modulo primes as doubles, cblas_dsyrk for
// each, Chinese remainders by FLINT) and Arb's product of matrices. Results of the peers are
// compared with the correctly rounded one.
package main

/*
#cgo CFLAGS: -O2 -I/usr/include/x86_64-linux-gnu/openblas-pthread -I/usr/include/aarch64-linux-gnu/openblas-pthread
#cgo LDFLAGS: -lflint-arb -lflint -lopenblas -lmpfr -lgmp
#include <cblas.h>
#include <mpfr.h>
#include "residues.h"

static const char *syrk_flint_version(void) { return flint_version; }
*/
import "C"

import (
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/problem"
	"github.com/halfulp/halfulp/bench/internal/record"
)

// chunk is how many rows of P are held as residues at a time, as SDPB splits P.
const chunk = 2048

type results struct {
	Command  string          `json:"command"`
	Date     time.Time       `json:"date"`
	Commit   string          `json:"commit"`
	Dirty    bool            `json:"dirty"`
	Go       string          `json:"go"`
	Machine  machine.Machine `json:"machine"`
	OpenBLAS string          `json:"openblas"`
	Arb      string          `json:"arb"`
	Note     string          `json:"note"`
	Figures  []figure        `json:"figures"`
}

// figure is one size, data and number of threads.
type figure struct {
	Rows    int              `json:"rows"`
	Cols    int              `json:"cols"`
	Bits    uint             `json:"bits"`
	Spread  int              `json:"spread"`
	Threads int              `json:"threads"`
	Primes  int              `json:"primes"` // of SDPB's way
	Moduli  int              `json:"moduli"` // of halfulp
	Repeats int              `json:"repeats"`
	Times   map[string]times `json:"times"`
	// SDPB's way in parts, seconds of its last run: exponents, residues, dsyrk, Chinese remainders
	Parts map[string]float64 `json:"parts_seconds"`
	Wrong map[string]errors  `json:"errors"`
}

// times are seconds of a run, and its multiple of halfulp's, medians each; processor time is of all
// threads.
type times struct {
	Wall           float64 `json:"wall_seconds"`
	Processor      float64 `json:"processor_seconds"`
	WallRatio      float64 `json:"wall_ratio"`
	ProcessorRatio float64 `json:"processor_ratio"`
}

// errors compares entries of the lower triangle with the correctly rounded ones.
type errors struct {
	Entries int `json:"entries"`
	Rounded int `json:"correctly_rounded"`
	// log2 of the largest |error| / |entry| and |error| / √(q_ii q_jj), 0 for no error
	Relative float64 `json:"log2_relative"`
	Scaled   float64 `json:"log2_relative_to_diagonal"`
}

func main() {
	sizes := flag.String("size", "1953x94,3907x188", "rows x columns of P, divided by 100 and 50 from those of a program of SDPB's users")
	spreads := flag.String("spread", "0,200", "binary exponents of the entries of P lie within ± these; 0: uniform in (-1, 1)")
	threads := flag.String("threads", "1,2", "threads of all")
	bits := flag.Uint("bits", 1000, "bits of all numbers")
	repeats := flag.Int("repeat", 5, "runs of each")
	path := flag.String("json", "", "file for the figures")
	flag.Parse()
	if err := run(*sizes, *spreads, *threads, *bits, *repeats, *path); err != nil {
		fmt.Fprintln(os.Stderr, "syrk:", err)
		os.Exit(1)
	}
}

func run(sizes, spreads, threads string, bits uint, repeats int, path string) error {
	runtime.LockOSThread() // FLINT keeps state a thread
	r := results{
		Command: "go run ./cmd/syrk " + strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Truncate(time.Second),
		Go: runtime.Version(), Machine: machine.Describe(), OpenBLAS: machine.OpenBLAS(C.GoString(C.openblas_get_config())),
		Arb:  fmt.Sprintf("%s, FLINT %s", C.GoString(C.syrk_arb_version()), C.GoString(C.syrk_flint_version())),
		Note: "medians of runs in turn: sdpb, halfulp, arb, halfulp; a ratio is of a run to the run of halfulp after it",
	}
	r.Commit, r.Dirty = record.Commit()
	for _, size := range strings.Split(sizes, ",") {
		var rows, cols int
		if _, err := fmt.Sscanf(size, "%dx%d", &rows, &cols); err != nil || rows < 1 || cols < 1 {
			return fmt.Errorf("size %q", size)
		}
		for _, spread := range strings.Split(spreads, ",") {
			s, err := strconv.Atoi(spread)
			if err != nil || s < 0 {
				return fmt.Errorf("spread %q", spread)
			}
			c := newComparison(rows, cols, bits, s)
			for _, text := range strings.Split(threads, ",") {
				t, err := strconv.Atoi(text)
				if err != nil || t < 1 {
					return fmt.Errorf("threads %q", text)
				}
				f, err := c.measure(t, repeats)
				if err != nil {
					return err
				}
				r.Figures = append(r.Figures, f)
				fmt.Printf("%d x %d, spread %d, %d threads: %+v\n  %+v\n  %+v\n", rows, cols, s, t, f.Times, f.Parts, f.Wrong)
			}
			c.free()
		}
	}
	return record.Write(path, r)
}

// comparison is one P, in the representation of each.
type comparison struct {
	problem problem.Problem
	rows    int
	cols    int
	p, q    *halfulp.Matrix
	stats   halfulp.Stats
	peers   *C.syrk_problem
	parts   map[string]float64
}

func newComparison(rows, cols int, bits uint, spread int) *comparison {
	f := halfulp.MP(bits)
	c := &comparison{
		problem: problem.Problem{Kind: problem.Dot, N: rows * cols, Bits: bits, Spread: spread, Seed: 1},
		rows:    rows, cols: cols, p: halfulp.NewMatrix(f, rows, cols), q: halfulp.NewMatrix(f, cols, cols),
		peers: C.syrk_new(C.long(rows), C.long(cols), C.long(bits), chunk),
	}
	var x problem.Number
	for i := range rows {
		for j := range cols {
			c.problem.Entry(problem.A, 0, i*cols+j, &x)
			c.p.SetBig(i, j, x.Big(bits))
			negative := C.int(0)
			if x.Negative {
				negative = 1
			}
			C.syrk_set(c.peers, C.long(i), C.long(j), (*C.mp_limb_t)(unsafe.Pointer(&x.Words[0])), C.long(len(x.Words)), C.long(x.Exponent), negative)
		}
	}
	C.syrk_transpose(c.peers)
	return c
}

func (c *comparison) free() { C.syrk_free(c.peers) }

func (c *comparison) halfulp(threads int) error {
	return halfulp.Syrk(halfulp.Lower, halfulp.Trans, halfulp.Float(1), c.p, halfulp.Float(0), c.q, &halfulp.Options{Threads: threads, Stats: &c.stats})
}

// sdpb shares rows of P, primes and rows of Q among the threads; OpenBLAS runs on one thread in
// each, as in SDPB, whose processes share primes.
func (c *comparison) sdpb(threads int) error {
	C.openblas_set_num_threads(1)
	c.parts = map[string]float64{}
	part := func(name string, do func()) {
		start := time.Now()
		do()
		c.parts[name] += time.Since(start).Seconds()
	}
	part("exponents", func() { C.syrk_exponents(c.peers) })
	for first := 0; first < c.rows; first += chunk {
		n := min(chunk, c.rows-first)
		part("residues", func() {
			peer.Split(n, threads, func(low, high int) {
				C.syrk_residues(c.peers, C.long(first), C.long(first+low), C.long(first+high))
			})
		})
		begin := C.int(0)
		if first == 0 {
			begin = 1
		}
		part("dsyrk", func() {
			peer.Split(int(c.peers.primes), threads, func(low, high int) {
				C.syrk_dsyrk(c.peers, C.long(n), begin, C.long(low), C.long(high))
			})
		})
	}
	part("chinese remainders", func() {
		peer.Split(threads, threads, func(t, _ int) { C.syrk_restore(c.peers, C.long(t), C.long(threads)) })
	})
	return nil
}

func (c *comparison) arb(threads int) error {
	C.flint_set_num_threads(C.int(threads))
	C.syrk_arb(c.peers)
	return nil
}

// measure runs all in turn.
func (c *comparison) measure(threads, repeats int) (figure, error) {
	f := figure{
		Rows: c.rows, Cols: c.cols, Bits: c.problem.Bits, Spread: c.problem.Spread, Threads: threads, Repeats: repeats,
		Times: map[string]times{}, Wrong: map[string]errors{}, Primes: int(c.peers.primes),
	}
	runs := map[string][][2]float64{}
	ratios := map[string][][2]float64{}
	timed := func(name string, do func(int) error) ([2]float64, error) {
		runtime.GC()
		wall, processor := time.Now(), processorTime()
		err := do(threads)
		z := [2]float64{time.Since(wall).Seconds(), processorTime() - processor}
		runs[name] = append(runs[name], z)
		return z, err
	}
	for range repeats {
		for _, one := range []struct {
			name string
			do   func(int) error
		}{{"sdpb", c.sdpb}, {"arb", c.arb}} {
			theirs, err := timed(one.name, one.do)
			if err != nil {
				return f, err
			}
			ours, err := timed("halfulp", c.halfulp)
			if err != nil {
				return f, err
			}
			ratios[one.name] = append(ratios[one.name], [2]float64{theirs[0] / ours[0], theirs[1] / ours[1]})
		}
	}
	ratios["halfulp"] = [][2]float64{{1, 1}}
	for name, list := range runs {
		f.Times[name] = times{median(list, 0), median(list, 1), median(ratios[name], 0), median(ratios[name], 1)}
	}
	f.Parts, f.Moduli = c.parts, c.stats.Moduli
	if err := c.check(); err != nil {
		return f, err
	}
	f.Wrong["sdpb"], f.Wrong["arb"] = c.compare(0), c.compare(1)
	return f, nil
}

// check compares some entries of halfulp's with sums of math/big.
func (c *comparison) check() error {
	wide := 2*c.problem.Bits + uint(4*c.problem.Spread) + 256
	sum, term := new(big.Float), new(big.Float).SetPrec(wide)
	for k := range min(4, c.cols) {
		i := c.cols - 1 - k
		j := i * k / 4
		sum.SetPrec(wide).SetInt64(0)
		for h := range c.rows {
			sum.Add(sum, term.Mul(c.p.Big(h, i), c.p.Big(h, j)))
		}
		if sum.SetPrec(c.problem.Bits).Cmp(c.q.Big(i, j)) != 0 {
			return fmt.Errorf("entry %d, %d of Q is not the correctly rounded sum", i, j)
		}
	}
	return nil
}

// compare compares a peer's Q with the correctly rounded one.
func (c *comparison) compare(arb int) (e errors) {
	relative, scaled := 0.0, 0.0
	wide := c.problem.Bits + 64
	d := new(big.Float).SetPrec(wide)
	quotient := func(d, by *big.Float) float64 {
		// in units of 2^-bits, which float64 holds
		z := new(big.Float).SetPrec(64).Quo(d, by)
		x, _ := z.SetMantExp(z, int(c.problem.Bits)).Float64()
		return math.Abs(x)
	}
	for i := range c.cols {
		for j := range i + 1 {
			text := C.syrk_text(c.peers, C.int(arb), C.long(i), C.long(j))
			got := peer.ParseHex(C.GoString(text))
			C.mpfr_free_str(text)
			want := c.q.Big(i, j)
			e.Entries++
			if d.Sub(got, want).Sign() == 0 {
				e.Rounded++
				continue
			}
			relative = max(relative, quotient(d, want))
			diagonal := new(big.Float).Mul(c.q.Big(i, i), c.q.Big(j, j))
			scaled = max(scaled, quotient(d, diagonal.Sqrt(diagonal)))
		}
	}
	if relative > 0 {
		e.Relative, e.Scaled = math.Log2(relative)-float64(c.problem.Bits), math.Log2(scaled)-float64(c.problem.Bits)
	}
	return e
}

func median(list [][2]float64, k int) float64 {
	var x []float64
	for _, z := range list {
		x = append(x, z[k])
	}
	slices.Sort(x)
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

// processorTime is of all threads, in seconds.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
