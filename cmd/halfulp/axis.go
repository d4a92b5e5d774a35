package main

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/par"
)

// axisFlags select the vectors of a matrix that a command reduces to one number each, as in NumPy.
type axisFlags struct {
	Axis string `group:"input" enum:"all,0,1" default:"all" placeholder:"N" help:"0: over the rows, one number for each column; 1: over the columns, one for each row; all: one number of all entries. Default ${default}."`
}

// whole is the axis for all entries.
const whole = "all"

// reduction is a routine that reduces a vector to one number.
type reduction func(*halfulp.Vector, halfulp.Format, *halfulp.Options) (halfulp.Scalar, error)

// vectorsOf returns the number of vectors of a matrix along an axis, and a function that returns
// one: columns along axis 0, rows along axis 1.
func vectorsOf(m *halfulp.Matrix, axis string) (int, func(i int) *halfulp.Vector) {
	if axis == "0" {
		return m.Cols(), m.Col
	}
	return m.Rows(), m.Row
}

// eachVector calls run for n vectors. On the CPU of one process the vectors run in parallel if
// there are enough; otherwise each has all threads. It returns the sum of the statistics.
func (j *job) eachVector(n int, run func(i int, opt *halfulp.Options) error) (halfulp.Stats, error) {
	opt, start := *j.options(), time.Now()
	defer j.finish()
	progress := opt.Progress
	opt.Progress = nil
	threads := opt.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	workers := 1
	onCPU := opt.Device == "auto" || opt.Device == cpuDevice
	if onCPU && team == nil {
		opt.Device = cpuDevice // single vectors are not worth a copy to a GPU
		if n >= 2*threads {
			workers, opt.Threads = threads, 1
		}
	}
	total := halfulp.Stats{Device: cpuDevice, Method: "direct", Threads: threads}
	var mu sync.Mutex
	var failed error
	at, done := n, 0
	err := par.For(opt.Context, workers, n, func(_, i int) {
		mu.Lock()
		skip := failed != nil
		mu.Unlock()
		if skip {
			return
		}
		var s halfulp.Stats
		err := run(i, opt.WithStats(&s))
		mu.Lock()
		defer mu.Unlock()
		if done++; progress != nil {
			progress(float64(done) / float64(n))
		}
		if err != nil {
			if i < at {
				at, failed = i, err
			}
			return
		}
		total.Device, total.Processes = s.Device, s.Processes
		total.Exact += s.Exact
		total.Overflow += s.Overflow
		total.Underflow += s.Underflow
	})
	if failed != nil {
		err = failed
	}
	total.Stages = []halfulp.Stage{{Name: "vectors", Time: time.Since(start)}}
	return total, err
}

// reduce reduces each vector of a matrix along an axis to one number. The result is a row with a
// number for each column for axis 0, a column with a number for each row for axis 1.
func (j *job) reduce(m *halfulp.Matrix, axis string, routine reduction) (*halfulp.Matrix, halfulp.Stats, error) {
	n, vector := vectorsOf(m, axis)
	values := make([]halfulp.Scalar, n)
	stats, err := j.eachVector(n, func(i int, opt *halfulp.Options) (err error) {
		values[i], err = routine(vector(i), j.format, opt)
		return err
	})
	if err != nil {
		return nil, stats, err
	}
	z := halfulp.NewMatrix(j.format, n, 1)
	for i, v := range values {
		z.Set(i, 0, v)
	}
	if axis == "0" {
		z = z.T()
	}
	return z, stats, nil
}

// writeReduced reduces a matrix along an axis and writes the result, and beside it the result of
// plain for each vector unless plain is nil.
func (j *job) writeReduced(m *halfulp.Matrix, axis string, routine reduction, plain func(*halfulp.Matrix) float64) error {
	z, stats, err := j.reduce(m, axis, routine)
	if err != nil {
		return err
	}
	if plain != nil {
		n, vector := vectorsOf(m, axis)
		floats := make([][]float64, z.Rows())
		for i := range n {
			at := i
			if axis == "0" {
				at = 0
			}
			floats[at] = append(floats[at], plain(vector(i).Matrix()))
		}
		if err := writeComparison(j.env.Stderr, z, floats, j.text); err != nil {
			return err
		}
	}
	return j.writeMatrix(z, &stats)
}

// namedMatrix is one of several results, a number for each vector.
type namedMatrix struct {
	name   string
	values *halfulp.Matrix
	stats  halfulp.Stats
}

// writeNamed writes a count, and results for each of the vectors along an axis. Each takes a line,
// after a line of names.
func (j *job) writeNamed(axis string, count int, results []namedMatrix) error {
	vectors, n := "column", 0
	if axis == "1" {
		vectors = "row"
	}
	object := map[string]any{"command": j.command, "format": j.format.String(), "axis": axis, "count": count}
	stats := map[string]*halfulp.Stats{}
	head := vectors + "\tcount"
	texts := make([][]string, len(results))
	for i, r := range results {
		j.report(&r.stats)
		j.ran[len(j.ran)-1].name = r.name
		stats[r.name] = &r.stats
		head += "\t" + r.name
		x := r.values
		if axis == "0" {
			x = x.T()
		}
		n = x.Rows()
		texts[i] = make([]string, n)
		for k := range n {
			texts[i][k] = j.text(x.At(k, 0))
		}
		object[r.name] = texts[i]
	}
	if !j.print.JSON {
		var b strings.Builder
		b.WriteString(head + "\n")
		for k := range n {
			fmt.Fprintf(&b, "%d\t%d", k+1, count)
			for i := range texts {
				b.WriteString("\t" + texts[i][k])
			}
			b.WriteString("\n")
		}
		return j.writeTable(b.String())
	}
	object["stats"], object["read_ns"] = stats, j.reading
	object["write_ns"], object["total_ns"] = &clock{j.reported}, &clock{j.began}
	return j.writeText(jsonText(object))
}

type cumsumCmd struct {
	X    string `arg:"" name:"FILE" help:"File of numbers; - is standard input."`
	Axis string `group:"input" enum:"vector,0,1" default:"vector" placeholder:"N" help:"0: down each column of a matrix; 1: along each row; vector: of a vector. Default ${default}."`
	commonFlags
}

func (cumsumCmd) Help() string {
	return `Prints the prefix sums x_1, x_1 + x_2, ..., x_1 + ... + x_n of a vector, or of every column or row of a matrix, each the exact sum rounded once: no error is carried along.

Examples:

  halfulp cumsum x.csv
  printf '1e17\n1\n1\n-1e17\n' | halfulp cumsum -
  halfulp cumsum A.csv --axis 0 --out sums.csv`
}

func (c *cumsumCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	j, err := c.job(env, "cumsum", true, validDirect, c.X)
	if err != nil {
		return err
	}
	m, err := j.matrix(c.X)
	if err != nil {
		return err
	}
	rows, cols := m.Dims()
	axis, err := c.axis(rows, cols)
	if err != nil {
		return err
	}
	z := halfulp.NewMatrix(j.format, rows, cols)
	n, from := vectorsOf(m, axis)
	_, to := vectorsOf(z, axis)
	stats, err := j.eachVector(n, func(i int, opt *halfulp.Options) error {
		return halfulp.CumSum(from(i), to(i), opt)
	})
	if err != nil {
		return err
	}
	return j.writeMatrix(z, &stats)
}

// axis returns the axis along which a matrix is added, 0 or 1.
func (c *cumsumCmd) axis(rows, cols int) (string, error) {
	switch {
	case c.Axis != "vector":
		return c.Axis, nil
	case rows > 1 && cols > 1:
		return "", cli.Misuse("%s is %d x %d: --axis 0 adds down its columns, --axis 1 along its rows", shown(c.X), rows, cols)
	case rows == 1:
		return "1", nil
	}
	return "0", nil
}

type traceCmd struct {
	A string `arg:"" name:"A" help:"Square matrix; - is standard input."`
	commonFlags
}

func (traceCmd) Help() string {
	return `Prints the sum of the diagonal of a square matrix, rounded once.

Example:

  halfulp trace A.mtx --format dd`
}

func (c *traceCmd) Run(env *cli.Environment) error {
	if c.rationally() {
		return c.exactly(env)
	}
	j, err := c.job(env, "trace", false, validDirect, c.A)
	if err != nil {
		return err
	}
	a, err := j.matrix(c.A)
	if err != nil {
		return err
	}
	if err := checkSquare(c.A, a); err != nil {
		return err
	}
	var stats halfulp.Stats
	z, err := halfulp.Trace(a, j.format, j.options().WithStats(&stats))
	j.finish()
	if err != nil {
		return err
	}
	return j.writeScalar(z, stats)
}
