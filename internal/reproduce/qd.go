package reproduce

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/raw"
)

// The tables of a report on double-double and quad-double arithmetic.
const (
	tableQDScalars = "table 3.6"
	tableQDCompute = "tables 5.1 and 5.2, compute-bound"
	tableQDMemory  = "tables 5.1 and 5.2, memory-bound"
	tableQDGemm    = "table 6.2"
	tableQDSolve   = "table 6.3"
)

// Orders of the linear system: the paper's, and one that a CPU solves in seconds.
const (
	QDN    = 2400
	QDCPUN = 600
)

// QDTime is about how long the experiments of order n take on two processors.
func QDTime(n int) time.Duration {
	k := float64(n) / QDCPUN
	return 5*time.Second + time.Duration(k*k*k*20*float64(time.Second))
}

// The columns of the paper, and those of the CPU.
const (
	paperCPU1   = "paper, CPU, 1 thread"
	paperCPU    = "paper, CPU, 4 threads"
	paperC2050  = "paper, C2050"
	paperLinear = "paper, C2050, blocks of 128"
	cpu1        = "CPU, 1 thread"
	cpuAll      = "CPU"
)

// The columns of launch schemes on a GPU, and of products and solvers.
const (
	fixedGrid  = "GPU, 128 x 128 threads"
	spreadGrid = "GPU, an operation a thread"
	withNative = "native"
	withExact  = "exact"
	withRule   = "native, zero pivots alone"
)

// qdPaper has the paper's figures: table, format, operation, column.
var qdPaper = map[[4]string]float64{
	{tableQDScalars, "double", "+", paperCPU1}: 1.27e6, {tableQDScalars, "double", "*", paperCPU1}: 7.75e5, {tableQDScalars, "double", "/", paperCPU1}: 6.30e4,
	{tableQDScalars, "dd", "+", paperCPU1}: 78500, {tableQDScalars, "dd", "*", paperCPU1}: 14100, {tableQDScalars, "dd", "/", paperCPU1}: 8160,
	{tableQDScalars, "qd", "+", paperCPU1}: 8760, {tableQDScalars, "qd", "*", paperCPU1}: 2230, {tableQDScalars, "qd", "/", paperCPU1}: 810,

	{tableQDCompute, "dd", "+", paperC2050}: 1.27e7, {tableQDCompute, "dd", "*", paperC2050}: 8.14e6, {tableQDCompute, "dd", "/", paperC2050}: 3.60e6,
	{tableQDCompute, "qd", "+", paperC2050}: 2.01e6, {tableQDCompute, "qd", "*", paperC2050}: 1.07e6, {tableQDCompute, "qd", "/", paperC2050}: 2.6e5,
	{tableQDCompute, "dd", "sqrt", paperC2050}: 3.15e6, {tableQDCompute, "dd", "exp", paperC2050}: 2.62e5, {tableQDCompute, "dd", "log", paperC2050}: 2.35e5, {tableQDCompute, "dd", "sin", paperC2050}: 1.36e5,
	{tableQDCompute, "qd", "sqrt", paperC2050}: 8.88e4, {tableQDCompute, "qd", "exp", paperC2050}: 2.14e4, {tableQDCompute, "qd", "log", paperC2050}: 6.25e3, {tableQDCompute, "qd", "sin", paperC2050}: 1.21e4,
	{tableQDCompute, "dd", "+", paperCPU}: 1.78e5, {tableQDCompute, "dd", "*", paperCPU}: 1.31e5, {tableQDCompute, "dd", "/", paperCPU}: 7.6e4,
	{tableQDCompute, "qd", "+", paperCPU}: 4.44e4, {tableQDCompute, "qd", "*", paperCPU}: 2.51e4, {tableQDCompute, "qd", "/", paperCPU}: 7.5e3,
	{tableQDCompute, "dd", "sqrt", paperCPU}: 4.3e4, {tableQDCompute, "dd", "exp", paperCPU}: 3.6e3, {tableQDCompute, "dd", "log", paperCPU}: 3.8e3, {tableQDCompute, "dd", "sin", paperCPU}: 5.4e3,
	{tableQDCompute, "qd", "sqrt", paperCPU}: 2.3e3, {tableQDCompute, "qd", "exp", paperCPU}: 590, {tableQDCompute, "qd", "log", paperCPU}: 199, {tableQDCompute, "qd", "sin", paperCPU}: 552,

	{tableQDGemm, "dd", "", paperC2050}: 1750, {tableQDGemm, "dd", "", paperCPU1}: 557.8e3,
	{tableQDGemm, "qd", "", paperC2050}: 14220, {tableQDGemm, "qd", "", paperCPU1}: 1785.5e3,
	{tableQDSolve, "dd", "", paperC2050}: 8690, {tableQDSolve, "dd", "", paperCPU1}: 378.3e3, {tableQDSolve, "dd", "", paperLinear}: 6980,
	{tableQDSolve, "qd", "", paperC2050}: 33440, {tableQDSolve, "qd", "", paperCPU1}: 3383.6e3, {tableQDSolve, "qd", "", paperLinear}: 40500,
}

var qdFormats = []struct {
	name  string
	f     halfulp.Format
	style int
}{{"dd", halfulp.DD, 0}, {"qd", halfulp.QD, 1}}

// qdOperation is an operation of one or two operands, on the CPU, and its kernel's name.
type qdOperation struct {
	name, kernel string
	operands     int
	run          func(z, x, y *halfulp.Vector, o *halfulp.Options) error
}

func qdFunction(f expansion.Function) qdOperation {
	return qdOperation{f.String(), f.String(), 1, func(z, x, _ *halfulp.Vector, o *halfulp.Options) error { return expansion.Map(f, z, x, o) }}
}

var qdOperations = []qdOperation{
	{"+", "Add", 2, func(z, x, y *halfulp.Vector, o *halfulp.Options) error { return expansion.Add(z, x, y, o) }},
	{"*", "Mul", 2, func(z, x, y *halfulp.Vector, o *halfulp.Options) error { return expansion.Mul(z, x, y, o) }},
	{"/", "Div", 2, func(z, x, y *halfulp.Vector, o *halfulp.Options) error { return expansion.Div(z, x, y, o) }},
	{"sqrt", "Sqrt", 1, func(z, x, _ *halfulp.Vector, o *halfulp.Options) error { return expansion.Sqrt(z, x, o) }},
	qdFunction(expansion.Exp), qdFunction(expansion.Log), qdFunction(expansion.Sin),
}

// qdTable is a table with a row for each format and operation.
type qdTable struct {
	name, title, quantity, unit string
	columns                     []string
	rows                        [][2]string
	cells                       map[[3]string]Record
}

func newQDTable(name, title, quantity, unit string, columns ...string) *qdTable {
	return &qdTable{name, title, quantity, unit, columns, nil, map[[3]string]Record{}}
}

// put enters a figure measured here, or the paper's if x is nil and there is one.
func (t *qdTable) put(format, operation, column, device string, x *float64, runs int) {
	r := Record{Table: t.name, Case: format, Method: operation, Device: device, Quantity: t.quantity + ", " + column, Unit: t.unit, Here: x, Runs: runs}
	if x == nil {
		p, ok := qdPaper[[4]string{t.name, format, operation, column}]
		if !ok {
			return
		}
		r.Paper = known(p)
	}
	row := [2]string{format, operation}
	if !slices.Contains(t.rows, row) {
		t.rows = append(t.rows, row)
	}
	t.cells[[3]string{format, operation, column}] = r
}

// text enters the records and the table in the report.
func (t *qdTable) text(r *Report) {
	if len(t.rows) == 0 {
		return
	}
	out := textTable{title: t.title, header: append([]string{"format", "operation"}, t.columns...)}
	for _, row := range t.rows {
		cells := row[:]
		for _, c := range t.columns {
			k, ok := t.cells[[3]string{row[0], row[1], c}]
			cell := ""
			if ok {
				r.add(k)
				if cell = short(k.Paper); k.Paper == nil {
					cell = short(k.Here)
				}
			}
			cells = append(cells, cell)
		}
		out.rows = append(out.rows, cells)
	}
	r.text = append(r.text, out)
}

// QD runs the experiments of 004: operations and functions on double-double and quad-double numbers,
// products of 2n/3 x 4n/3 by 4n/3 x 2n/3 matrices, and systems of n equations with 2n/3 right-hand sides.
func QD(o Options) (*Report, error) {
	n := float64(o.N)
	if err := o.fits(32 * (8*n*n + 4*float64(qdLong))); err != nil {
		return nil, err
	}
	e, err := o.start(len(qdFormats)*(2*len(qdOperations)+2), len(qdFormats)*(3*len(qdOperations)+2))
	if err != nil {
		return nil, err
	}
	r := &Report{
		Name: "qd", N: o.N, GPU: e.gpuTitle(),
		Source:  "T. Sivkova, L. Dovgilovich, O. Voskoboynikova, I. Sofronov, CUDA algorithms of some linear algebra operations for the extended precision arithmetic library QD",
		Command: o.Command, Machine: o.Machine, Time: time.Now().UTC().Format(time.RFC3339),
	}
	scalars := newQDTable(tableQDScalars, "Table 3.6: operations a ms, one thread, numbers in cache", "operations", "1/ms", paperCPU1, cpu1)
	compute := newQDTable(tableQDCompute, "Tables 5.1 and 5.2, compute-bound: operations a ms; on GPUs 16384 numbers, 10^4 times each", "operations", "1/ms", paperCPU, cpuAll, paperC2050, fixedGrid, spreadGrid)
	memory := newQDTable(tableQDMemory, fmt.Sprintf("Tables 5.1 and 5.2, memory-bound: operations a ms on vectors of %d numbers", qdLong), "operations", "1/ms", cpuAll, spreadGrid)
	size := fmt.Sprintf("%d x %d by %d x %d", 2*o.N/3, 4*o.N/3, 4*o.N/3, 2*o.N/3)
	gemm := newQDTable(tableQDGemm, "Table 6.2: ms for a product of matrices, "+size+"; the paper's is 1600 x 3200 by 3200 x 1600", "time", "ms", qdSolvers(r.GPU, false)...)
	solve := newQDTable(tableQDSolve, fmt.Sprintf("Table 6.3: ms for a system of %d equations with %d right-hand sides; the paper's has 2400 and 1600", o.N, 2*o.N/3), "time", "ms",
		qdSolvers(r.GPU, true)...)
	tables := []*qdTable{scalars, compute, memory, gemm, solve}
	qdPapers(tables)
	for _, f := range qdFormats {
		if err := e.qdOperations(scalars, compute, memory, f.name, f.f); err != nil {
			return nil, err
		}
		if err := e.qdMatrices(gemm, solve, f.name, f.f); err != nil {
			return nil, err
		}
	}
	for _, t := range tables {
		t.text(r)
	}
	r.qdPlots(compute)
	r.Notes = qdNotes
	return r, nil
}

// qdSolvers are the columns of products and of systems.
func qdSolvers(gpu string, systems bool) []string {
	list := []string{paperCPU1, paperC2050}
	if systems {
		list = append(list, paperLinear)
	}
	devices := []string{cpuAll}
	if gpu != "" {
		devices = append(devices, "GPU")
	}
	for _, d := range devices {
		list = append(list, d+", "+withNative, d+", "+withExact)
		if systems {
			list = append(list, d+", "+withRule)
		}
	}
	return list
}

// qdPapers enters the paper's figures, in the order of the operations.
func qdPapers(tables []*qdTable) {
	names := []string{""}
	for _, op := range qdOperations {
		names = append(names, op.name)
	}
	for _, t := range tables {
		for _, f := range []string{"double", "dd", "qd"} {
			for _, name := range names {
				for _, c := range t.columns {
					t.put(f, name, c, "", nil, 0)
				}
			}
		}
	}
}

// Lengths of vectors, in cache and that of the paper's compute-bound test, and its repetitions.
const (
	qdShort  = 1 << 12
	qdLength = 1 << 14
	qdRepeat = 10000
)

// qdLong is a variable for tests.
var qdLong = 1 << 21

// qdVector returns n random numbers in [1, 2).
func qdVector(f halfulp.Format, n, seed int) *halfulp.Vector {
	r := rand.New(rand.NewPCG(uint64(seed), 4))
	x := halfulp.NewVector(f, n)
	a := raw.Vector(x).Arr
	for i := range n {
		a.F64[0][i] = 1 + r.Float64()
		for t := 1; t < a.Terms(); t++ {
			a.F64[t][i] = math.Ldexp(r.Float64()-0.5, -53*t-1)
		}
	}
	return x
}

// qdRate measures an operation on n numbers on the CPU.
func (e *experiment) qdRate(t *qdTable, format, column string, f halfulp.Format, op qdOperation, n, threads int) error {
	x, y, z := qdVector(f, n, 1), qdVector(f, n, 2), halfulp.NewVector(f, n)
	o := &halfulp.Options{Threads: threads, Context: e.Context}
	ms, runs, err := e.measure(nil, func() error { return op.run(z, x, y, o) })
	if err == nil {
		t.put(format, op.name, column, cpuDevice, known(float64(n)/ms), runs)
	}
	return err
}

func (e *experiment) qdOperations(scalars, compute, memory *qdTable, format string, f halfulp.Format) error {
	for i, op := range qdOperations {
		if err := e.next(); err != nil {
			return err
		}
		if i < 3 {
			if err := e.qdRate(scalars, format, cpu1, f, op, qdShort, 1); err != nil {
				return err
			}
		}
		if err := e.qdRate(compute, format, cpuAll, f, op, qdShort*e.Threads, e.Threads); err != nil {
			return err
		}
		if err := e.next(); err != nil {
			return err
		}
		if err := e.qdRate(memory, format, cpuAll, f, op, qdLong, e.Threads); err != nil {
			return err
		}
		if e.gpu != nil {
			if err := e.qdGPUOperation(compute, memory, format, f, op); err != nil {
				return err
			}
		}
	}
	return nil
}

// qdMatrix returns random entries in [-1, 1].
func qdMatrix(f halfulp.Format, rows, cols, seed int) *halfulp.Matrix {
	m := halfulp.NewMatrix(f, rows, cols)
	a, x := raw.Matrix(m).Arr, raw.Vector(qdVector(f, rows*cols, seed)).Arr
	for i := range rows * cols {
		a.F64[0][i] = 2*x.F64[0][i] - 3
		s := math.Abs(a.F64[0][i])
		for t := 1; t < a.Terms(); t++ {
			a.F64[t][i] = x.F64[t][i] * s
		}
	}
	return m.Clone() // in the form of the format
}

// qdCase is a way to multiply, or to solve.
type qdCase struct {
	column string
	run    func() error
}

func (e *experiment) qdTimes(t *qdTable, format, device string, cases []qdCase) error {
	for _, c := range cases {
		ms, runs, err := e.measure(nil, c.run)
		if err != nil {
			return err
		}
		t.put(format, "", c.column, device, known(ms), runs)
	}
	return nil
}

func (e *experiment) qdMatrices(gemm, solve *qdTable, format string, f halfulp.Format) error {
	if err := e.next(); err != nil {
		return err
	}
	n := e.N
	m, k := 2*n/3, 4*n/3
	o := &halfulp.Options{Device: cpuDevice, Threads: e.Threads, Context: e.Context, MemoryLimit: e.MemoryLimit}
	one, zero := halfulp.Float(1), halfulp.Float(0)
	a, b, c := qdMatrix(f, m, k, 1), qdMatrix(f, k, m, 2), halfulp.NewMatrix(f, m, m)
	if err := e.qdTimes(gemm, format, cpuDevice, []qdCase{
		{cpuAll + ", " + withNative, func() error {
			_, err := expansion.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c, o)
			return err
		}},
		{cpuAll + ", " + withExact, func() error {
			_, err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c, o)
			return err
		}},
	}); err != nil {
		return err
	}
	if err := e.next(); err != nil {
		return err
	}
	s, rhs := qdMatrix(f, n, n, 3), qdMatrix(f, n, m, 4)
	solver := func(p expansion.Pivoting, u expansion.Updates) func() error {
		return func() error {
			_, err := expansion.Solve(s, rhs, &expansion.SolveOptions{Pivoting: p, Updates: u, Options: o})
			return err
		}
	}
	if err := e.qdTimes(solve, format, cpuDevice, []qdCase{
		{cpuAll + ", " + withNative, solver(expansion.PartialPivoting, expansion.NativeUpdates)},
		{cpuAll + ", " + withExact, solver(expansion.PartialPivoting, expansion.ExactUpdates)},
		{cpuAll + ", " + withRule, solver(expansion.ZeroPivoting, expansion.NativeUpdates)},
	}); err != nil || e.gpu == nil {
		return err
	}
	return e.qdGPUMatrices(gemm, solve, format, a, b, s, rhs)
}

// qdPlots draws the compute-bound operations.
func (r *Report) qdPlots(t *qdTable) {
	fig := figure{name: r.Name, title: "Compute-bound operations", xLinear: true, xLabel: "+ * / sqrt exp log sin", yLabel: "operations a ms"}
	for _, f := range qdFormats {
		p := panel{title: f.name}
		for i, c := range t.columns {
			l := line{name: c, style: i, paper: c == paperCPU || c == paperC2050}
			for j, op := range qdOperations {
				k, ok := t.cells[[3]string{f.name, op.name, c}]
				if x := k.Here; ok {
					if x == nil {
						x = k.Paper
					}
					l.points = append(l.points, [2]float64{float64(j + 1), *x})
				}
			}
			if len(l.points) > 0 {
				p.lines = append(p.lines, l)
			}
		}
		fig.panels = append(fig.panels, p)
	}
	r.plots = append(r.plots, fig)
}

var qdNotes = []string{
	"native: sums of products in the arithmetic of the format, one accumulator an entry; exact: every entry rounded once (halfulp.Gemm), in systems the updates of blocks of 256 columns.",
	"Systems are solved by Gauss-Jordan elimination with partial pivoting, or with the paper's rule, which exchanges rows only where the diagonal has a zero. The paper's GPU kernels have square blocks of threads, or linear ones of 128; ours have one shape.",
	"Results on a GPU have the bits of those on the CPU.",
}
