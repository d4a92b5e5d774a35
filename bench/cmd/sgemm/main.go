// Sgemm measures the float32 products of internal/sgemm, packing included, side by side with
// OpenBLAS's SGEMM: square matrices, a call of one after a call of the other.
package main

/*
#cgo CFLAGS: -I/usr/include/x86_64-linux-gnu/openblas-pthread -I/usr/include/aarch64-linux-gnu/openblas-pthread
#cgo LDFLAGS: -lopenblas
#include <cblas.h>
*/
import "C"

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/record"
	"github.com/halfulp/halfulp/internal/sgemm"
)

// figure is the time of one size, in seconds.
type figure struct {
	N        int     `json:"n"`
	Threads  int     `json:"threads"`
	Repeats  int     `json:"repeats"`
	OpenBLAS spread  `json:"openblas_seconds"`
	Own      spread  `json:"own_seconds"`
	Ratio    float64 `json:"median_ratio"` // of a call to the call of OpenBLAS before it
	Fastest  float64 `json:"ratio_of_minima"`
}

// spread are the least and the median of some times.
type spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
}

func spreadOf(x []float64) spread {
	slices.Sort(x)
	return spread{x[0], x[len(x)/2]}
}

type results struct {
	Command  string          `json:"command"`
	Date     time.Time       `json:"date"`
	Commit   string          `json:"commit"`
	Dirty    bool            `json:"dirty"`
	Go       string          `json:"go"`
	Machine  machine.Machine `json:"machine"`
	OpenBLAS string          `json:"openblas"`
	Kernel   string          `json:"kernel"`
	Figures  []figure        `json:"figures"`
}

func main() {
	sizes := flag.String("n", "128,256,512,1024,2048", "sizes")
	threads := flag.String("threads", "1,"+strconv.Itoa(runtime.GOMAXPROCS(0)), "threads of both")
	repeats := flag.Int("repeat", 15, "calls of each")
	path := flag.String("json", "", "file for the figures")
	flag.Parse()
	if err := run(*sizes, *threads, *repeats, *path); err != nil {
		fmt.Fprintln(os.Stderr, "sgemm:", err)
		os.Exit(1)
	}
}

func run(sizes, threads string, repeats int, path string) error {
	r := results{
		Command: "go run ./cmd/sgemm " + strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Truncate(time.Second),
		Go: runtime.Version(), Machine: machine.Describe(), OpenBLAS: machine.OpenBLAS(C.GoString(C.openblas_get_config())), Kernel: sgemm.Best().Name,
	}
	r.Commit, r.Dirty = record.Commit()
	ns, err := numbers(sizes)
	if err != nil {
		return err
	}
	counts, err := numbers(threads)
	if err != nil {
		return err
	}
	for _, t := range counts {
		C.openblas_set_num_threads(C.int(t))
		for _, n := range ns {
			f, err := compare(n, t, repeats)
			if err != nil {
				return err
			}
			fmt.Printf("n = %5d, %d threads: OpenBLAS %9.3g s, own %9.3g s, ratio %.3f, of the fastest %.3f\n", n, t, f.OpenBLAS.Median, f.Own.Median, f.Ratio, f.Fastest)
			r.Figures = append(r.Figures, f)
		}
	}
	return record.Write(path, r)
}

// numbers reads positive numbers between commas.
func numbers(list string) ([]int, error) {
	var all []int
	for _, word := range strings.Split(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("number %q", word)
		}
		all = append(all, n)
	}
	return all, nil
}

// compare times both libraries on n x n matrices.
func compare(n, threads, repeats int) (figure, error) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	a, b := make([]float32, n*n), make([]float32, n*n)
	for i := range a {
		a[i], b[i] = rng.Float32()-0.5, rng.Float32()-0.5
	}
	theirs, ours := make([]float32, n*n), make([]float32, n*n)
	var packed [2][]float32
	var openblas, own, ratio []float64
	runs := max(1, int(2e8/float64(n)/float64(n)/float64(n))) // of a timing
	for i := range repeats + 1 {
		start := time.Now()
		for range runs {
			size := C.blasint(n)
			C.cblas_sgemm(C.CblasColMajor, C.CblasNoTrans, C.CblasNoTrans, size, size, size,
				1, pointer(a), size, pointer(b), size, 0, pointer(theirs), size)
		}
		middle := time.Now()
		for range runs {
			if err := multiply(n, threads, ours, a, b, &packed); err != nil {
				return figure{}, err
			}
		}
		end := time.Now()
		if i == 0 { // warms up
			continue
		}
		x, y := middle.Sub(start).Seconds()/float64(runs), end.Sub(middle).Seconds()/float64(runs)
		openblas, own, ratio = append(openblas, x), append(own, y), append(ratio, y/x)
	}
	for i, x := range ours {
		if d := x - theirs[i]; d*d > 1e-6 {
			return figure{}, fmt.Errorf("n = %d: entry %d is %g, OpenBLAS has %g", n, i, x, theirs[i])
		}
	}
	x, y := spreadOf(openblas), spreadOf(own)
	return figure{n, threads, repeats, x, y, spreadOf(ratio).Median, y.Min / x.Min}, nil
}

// multiply sets C = A B by the kernels of halfulp. It keeps the memory of packed factors, as
// OpenBLAS does.
func multiply(n, threads int, c, a, b []float32, packed *[2][]float32) error {
	ctx, k := context.Background(), sgemm.Best()
	x, err := sgemm.Pack(ctx, threads, k.MR, n, n, a, 1, n, packed[0])
	if err != nil {
		return err
	}
	y, err := sgemm.Pack(ctx, threads, k.NR, n, n, b, n, 1, packed[1])
	if err != nil {
		return err
	}
	packed[0], packed[1] = x.Data, y.Data
	return k.Mul(ctx, threads, c, n, x, y)
}

func pointer(x []float32) *C.float { return (*C.float)(unsafe.Pointer(&x[0])) }
