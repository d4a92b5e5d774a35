package main

import (
	"fmt"
	"regexp"
	"time"

	"github.com/halfulp/halfulp/bench/internal/measure"
	"github.com/halfulp/halfulp/bench/internal/problem"
)

type options struct {
	Only          string  `help:"Regular expression: run the workloads whose name matches." placeholder:"REGEXP"`
	Libraries     string  `help:"Regular expression: measure the libraries whose name matches." placeholder:"REGEXP"`
	Bits          []uint  `help:"Precisions in bits." default:"53,106,212,424,848,1696"`
	Repeat        int     `help:"Timings of each peer; the median counts." default:"3"`
	MaxSeconds    float64 `help:"A run that takes longer computes fewer columns of the result or is skipped." default:"20"`
	ColumnSeconds float64 `help:"Plain loops, whose columns cost the same each, compute as many columns as take this long." default:"1"`
	Threads       int     `help:"Threads in matrix products, for whatever can use them." default:"2"`
	VectorThreads int     `help:"Threads in GEMV, dot products and sums." default:"1"`
	Seed          uint64  `help:"Seed of the data." default:"1"`
	JSON          string  `name:"json" help:"Write the record to this file." placeholder:"FILE" type:"path"`
	List          bool    `help:"List the workloads and libraries, and run nothing."`
}

// Validate checks what kong does not.
func (o *options) Validate() error {
	for _, bits := range o.Bits {
		if bits < 2 || bits > 1<<15 {
			return fmt.Errorf("--bits %d: not between 2 and %d", bits, 1<<15)
		}
	}
	if o.Repeat < 1 || o.Threads < 1 || o.VectorThreads < 1 {
		return fmt.Errorf("--repeat, --threads and --vector-threads must be positive")
	}
	if o.MaxSeconds <= 0 || o.ColumnSeconds <= 0 {
		return fmt.Errorf("--max-seconds and --column-seconds must be positive")
	}
	for _, expression := range []string{o.Only, o.Libraries} {
		if _, err := regexp.Compile(expression); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) limits() measure.Limits {
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	return measure.Limits{
		Repeat:   o.Repeat,
		Longest:  seconds(o.MaxSeconds),
		Columns:  seconds(o.ColumnSeconds),
		Shortest: 100 * time.Millisecond,
		// An idle OpenBLAS thread spins for 2^26 cycles by default, 30 ms at 2.2 GHz.
		Settle: 50 * time.Millisecond,
	}
}

func (o *options) threads(kind problem.Kind) int {
	if kind == problem.Gemm {
		return o.Threads
	}
	return o.VectorThreads
}
