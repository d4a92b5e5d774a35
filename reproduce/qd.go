package reproduce

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/par"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Orders of the linear system: the paper's, and one that a CPU solves in seconds.
const (
	QDN    = 2400
	QDCPUN = 600
)

var qdFormats = []struct {
	name   string
	format halfulp.Format
}{{qdFloat64, halfulp.Float64}, {qdDD, halfulp.DD}, {qdTD, halfulp.TD}, {qdQD, halfulp.QD}}

// qdKind is an arithmetic whose operations are measured entry by entry: doubles, package expansion,
// the published algorithms, or the exact engine, which has sums alone. name is the Case of its
// records.
type qdKind struct {
	name   string
	format halfulp.Format
	method halfulp.Method // of package expansion; qdExact for halfulp.Axpy
}

// Suffixes of the names of formats for an arithmetic other than ours.
const (
	qdPublished = ", published"
	qdRounded   = ", exact"
)

var qdKinds = []qdKind{
	{qdFloat64, halfulp.Float64, ""},
	{qdDD, halfulp.DD, expansion.Method}, {qdDD + qdPublished, halfulp.DD, expansion.Published}, {qdDD + qdRounded, halfulp.DD, qdExact},
	{qdTD, halfulp.TD, expansion.Method},
	{qdQD, halfulp.QD, expansion.Method}, {qdQD + qdPublished, halfulp.QD, expansion.Published}, {qdQD + qdRounded, halfulp.QD, qdExact},
}

// has reports whether the arithmetic has the operation.
func (f *qdKind) has(op qdOperation) bool { return f.method != qdExact || op.exact != nil }

// qdOperation is an operation of one or two operands: in package expansion, on doubles, and the
// name of its kernel; and z ± x by the exact engine, if the operation is a sum.
type qdOperation struct {
	name, kernel string
	operands     int
	run          func(x, y, z *halfulp.Vector, o *halfulp.Options) error
	double       func(z, x, y []float64)
	exact        func(x, z *halfulp.Vector, o *halfulp.Options) error
}

// qdAxpy is z + sign x by the exact engine.
func qdAxpy(sign float64) func(x, z *halfulp.Vector, o *halfulp.Options) error {
	return func(x, z *halfulp.Vector, o *halfulp.Options) error {
		return halfulp.Axpy(halfulp.Float(sign), x, z, o)
	}
}

var qdOperations = []qdOperation{
	{"+", "Add", 2, expansion.Add[*halfulp.Vector], func(z, x, y []float64) {
		for i := range z {
			z[i] = x[i] + y[i]
		}
	}, qdAxpy(1)},
	{"-", "Sub", 2, expansion.Sub[*halfulp.Vector], func(z, x, y []float64) {
		for i := range z {
			z[i] = x[i] - y[i]
		}
	}, qdAxpy(-1)},
	{"*", "Mul", 2, expansion.Mul[*halfulp.Vector], func(z, x, y []float64) {
		for i := range z {
			z[i] = x[i] * y[i]
		}
	}, nil},
	{"/", "Div", 2, expansion.Div[*halfulp.Vector], func(z, x, y []float64) {
		for i := range z {
			z[i] = x[i] / y[i]
		}
	}, nil},
	{"sqrt", "Sqrt", 1, func(x, _, z *halfulp.Vector, o *halfulp.Options) error {
		return expansion.Sqrt(x, z, o)
	}, func(z, x, _ []float64) {
		for i := range z {
			z[i] = math.Sqrt(x[i])
		}
	}, nil},
	qdFunction(expansion.Exp, math.Exp), qdFunction(expansion.Log, math.Log), qdFunction(expansion.Sin, math.Sin),
}

func qdFunction(f expansion.Function, double func(float64) float64) qdOperation {
	return qdOperation{
		f.String(), f.String(), 1,
		func(x, _, z *halfulp.Vector, o *halfulp.Options) error {
			return expansion.Map(f, x, z, o)
		},
		func(z, x, _ []float64) {
			for i := range z {
				z[i] = double(x[i])
			}
		},
		nil,
	}
}

// isFunction reports whether the paper has the operation in section 5.2.
func (op *qdOperation) isFunction() bool { return op.operands == 1 }

// QD runs the experiments of 004: operations and functions on vectors of double-double and
// quad-double numbers, products of 2n/3 x 4n/3 by 4n/3 x 2n/3 matrices, and systems of n equations
// with 2n/3 right-hand sides. n is o.N; 0 stands for QDCPUN on the CPU and for the paper's QDN on a
// GPU.
func QD(o Options) (*Report, error) {
	cpuN, gpuN := o.N, o.N
	if o.N == 0 {
		cpuN, gpuN = QDCPUN, QDN
	}
	largest := Options{N: cpuN, MemoryLimit: o.MemoryLimit}
	if o.onAGPU() {
		largest.N = gpuN
	}
	n := float64(largest.N)
	if err := largest.fits(32 * (float64(6*n*n) + float64(3*float64(qdLong)))); err != nil {
		return nil, err
	}
	e, err := o.start(qdPlan(cpuN, gpuN))
	if err != nil {
		return nil, err
	}
	r := &Report{
		Name: qdName, N: o.N, GPU: e.gpuTitle(),
		Source:  "T. Sivkova, L. Dovgilovich, O. Voskoboynikova, I. Sofronov, CUDA algorithms of some linear algebra operations for the extended precision arithmetic library QD",
		Command: o.Command, Machine: o.Machine, Time: time.Now().UTC().Format(time.RFC3339),
	}
	r.qdPaper()
	if err := e.qdAccuracy(r); err != nil {
		return nil, err
	}
	for _, f := range qdKinds {
		if err := e.qdOperations(r, f); err != nil {
			return nil, err
		}
	}
	for _, f := range qdFormats {
		if err := e.qdMatrices(r, f.name, f.format, cpuN); err != nil {
			return nil, err
		}
	}
	if e.gpu != nil {
		if err := e.qdGPU(r, gpuN); err != nil {
			return nil, err
		}
	}
	r.qdCounts()
	r.qdRatios()
	r.Claim, r.Findings = qdClaim, r.qdFindings()
	r.Notes = qdNotes(r.GPU)
	e.finish(r)
	return r, r.layOut()
}

// Lengths of vectors. The vectors of each thread in cache have a quarter of the length in the
// paper's test on four threads. The length of vectors in memory is a variable for tests.
const qdShort = 1 << 12

var qdLong = 1 << 21

// qdVector returns n random numbers in [1, 2).
func qdVector(f halfulp.Format, n, seed int) *halfulp.Vector {
	r := rand.New(rand.NewPCG(uint64(seed), 4))
	x := halfulp.NewVector(f, n)
	a := x.View().Arr
	for i := range n {
		a.F64[0][i] = 1 + float64(r.Float64())
		for t := 1; t < a.Terms(); t++ {
			a.F64[t][i] = (float64(r.Float64()) - 0.5) * 0x1p-53 * math.Abs(a.F64[t-1][i])
		}
	}
	return x
}

// qdRun is the operation on n numbers. Doubles are cut into pieces for several threads.
func (e *experiment) qdRun(f qdKind, op qdOperation, n, threads int) func() error {
	x, y, z := qdVector(f.format, n, 1), qdVector(f.format, n, 2), halfulp.NewVector(f.format, n)
	o := &halfulp.Options{Threads: threads, Context: e.Context}
	switch {
	case f.method == qdExact:
		return func() error {
			err := op.exact(x, y, o)
			return err
		}
	case f.format != halfulp.Float64:
		o.Method = f.method
		return func() error {
			err := op.run(x, y, z, o)
			return err
		}
	}
	a, b, c := x.View().Arr.F64[0], y.View().Arr.F64[0], z.View().Arr.F64[0]
	return func() error {
		return par.For(e.Context, threads, (n-1)/qdShort+1, func(_, k int) {
			i, j := k*qdShort, min((k+1)*qdShort, n)
			op.double(c[i:j], a[i:j], b[i:j])
		})
	}
}

// A measurement of an operation takes so long, a variable for tests, and one of its runs in cache.
var qdEnough = 60 * time.Millisecond

// Brief makes QD measure for a millisecond, on short vectors, until restore is called: for tests of
// the processing of reports.
func Brief() (restore func()) {
	n, d := qdLong, qdEnough
	qdLong, qdEnough = 5000, time.Millisecond
	return func() { qdLong, qdEnough = n, d }
}

const qdOneRun = 5 * time.Millisecond

// qdInCache measures the operation repeatedly on as many numbers as fit in each thread's cache.
func (e *experiment) qdInCache(f qdKind, op qdOperation, threads int) (rate float64, runs int, err error) {
	each := make([]func() error, threads)
	for i := range each {
		each[i] = e.qdRun(f, op, qdShort, 1)
		if err := each[i](); err != nil {
			return 0, 0, err
		}
	}
	start := time.Now()
	if err := each[0](); err != nil {
		return 0, 0, err
	}
	repeat := int(qdOneRun/max(time.Since(start), time.Microsecond)) + 1
	errs := make([]error, threads)
	ms, runs, err := e.measureFor(qdEnough, nil, func() error {
		err := par.For(e.Context, threads, threads, func(_, i int) {
			for range repeat {
				if errs[i] = each[i](); errs[i] != nil {
					return
				}
			}
		})
		for _, failed := range errs {
			if err == nil {
				err = failed
			}
		}
		return err
	})
	return float64(qdShort) * float64(threads) * float64(repeat) / ms, runs, err
}

// qdRate is the record of a rate measured here.
func qdRate(table, format string, op qdOperation, device string, n int, rate float64, runs int) Record {
	return Record{Table: table, Case: format, Method: op.name, Device: device, N: n, Quantity: operations, Unit: "1/ms", Here: &rate, Runs: runs}
}

// operations is the quantity of rates.
const operations = "operations"

// qdOperations measures the operations on the CPU: by one thread (3.6), and by all threads in cache
// and in memory.
func (e *experiment) qdOperations(r *Report, f qdKind) error {
	for _, op := range qdOperations {
		if !f.has(op) {
			continue
		}
		if !op.isFunction() {
			if err := e.next(); err != nil {
				return err
			}
			rate, runs, err := e.qdInCache(f, op, 1)
			if err != nil {
				return err
			}
			r.add(qdRate(tableQDScalars, f.name, op, cpuDevice, qdShort, rate, runs))
		}
		if op.name == "-" {
			continue
		}
		inCache, inMemory := tableQDCompute, []string{tableQDFixed, tableQDSpread}
		if op.isFunction() {
			inCache, inMemory = tableQDCached, []string{tableQDFunctions}
		}
		if err := e.next(); err != nil {
			return err
		}
		rate, runs, err := e.qdInCache(f, op, e.Threads)
		if err != nil {
			return err
		}
		r.add(qdRate(inCache, f.name, op, cpuDevice, qdShort*e.Threads, rate, runs))
		if err := e.next(); err != nil {
			return err
		}
		ms, runs, err := e.measureFor(qdEnough, nil, e.qdRun(f, op, qdLong, e.Threads))
		if err != nil {
			return err
		}
		for _, t := range inMemory {
			r.add(qdRate(t, f.name, op, cpuDevice, qdLong, float64(qdLong)/ms, runs))
		}
	}
	return nil
}

// qdMatrix returns random entries in [-1, 1).
func qdMatrix(f halfulp.Format, rows, cols, seed int) *halfulp.Matrix {
	m := halfulp.NewMatrix(f, rows, cols)
	a, x := m.View().Arr, qdVector(f, rows*cols, seed).View().Arr
	for i := range rows * cols {
		a.F64[0][i] = 2*x.F64[0][i] - 3
		for t := 1; t < a.Terms(); t++ {
			a.F64[t][i] = x.F64[t][i] * math.Abs(a.F64[0][i])
		}
	}
	return m
}

// qdShapes returns the orders of the matrices: a is m x k, b is k x m, and n equations have m
// right-hand sides.
func qdShapes(n int) (m, k int) { return max(2*n/3, 1), max(4*n/3, 1) }

// The ways to multiply and to solve.
const (
	qdLibrary = "gonum"
	qdCuBLAS  = "cuBLAS"
	qdNative  = "native"
	qdExact   = "exact"
)

// qdCase is a way to multiply, or to solve.
type qdCase struct {
	name    string
	prepare func()
	run     func() error
}

// qdTimes measures products or systems of order n.
func (e *experiment) qdTimes(r *Report, table, format, device string, n int, cases []qdCase) error {
	for _, c := range cases {
		ms, runs, err := e.measureFor(qdEnough, c.prepare, c.run)
		if err != nil {
			return err
		}
		seconds, rate := ms/1000, qdCount(table, n)/ms
		k := Record{Table: table, Case: format, Method: c.name, Device: device, N: n, Quantity: timeOfRun, Unit: "s", Here: &seconds, Runs: runs}
		r.add(k)
		k.Quantity, k.Unit, k.Here = operations, "1/ms", &rate
		r.add(k)
	}
	return nil
}

// qdCount returns the paper's number of operations, for order n.
func qdCount(table string, n int) float64 {
	k := float64(n) / QDN
	if table == tableQDGemm {
		return qdGemmOperations * k * k * k
	}
	return qdSolveOperations * k * k * k
}

// qdSolvers returns the ways to solve systems; solve solves with a pivoting and updates.
func qdSolvers(solve func(expansion.Pivoting, expansion.Updates) error) []qdCase {
	var list []qdCase
	for _, u := range []expansion.Updates{expansion.NativeUpdates, expansion.ExactUpdates} {
		for _, p := range []expansion.Pivoting{expansion.PartialPivoting, expansion.ZeroPivoting} {
			list = append(list, qdCase{name: qdSolver(p, u), run: func() error { return solve(p, u) }})
		}
	}
	return list
}

func qdSolver(p expansion.Pivoting, u expansion.Updates) string {
	name := qdNative
	if u == expansion.ExactUpdates {
		name = qdExact
	}
	if p == expansion.ZeroPivoting {
		return name + ", zero pivots alone"
	}
	return name + ", partial pivoting"
}

// qdMatrices measures products and systems on the CPU.
func (e *experiment) qdMatrices(r *Report, format string, f halfulp.Format, n int) error {
	if err := e.next(); err != nil {
		return err
	}
	m, k := qdShapes(n)
	o := &halfulp.Options{Device: cpuDevice, Threads: e.Threads, Context: e.Context, MemoryLimit: e.MemoryLimit}
	one, zero := halfulp.Float(1), halfulp.Float(0)
	a, b, c := qdMatrix(f, m, k, 1), qdMatrix(f, k, m, 2), halfulp.NewMatrix(f, m, m)
	exact := qdCase{name: qdExact, run: func() error {
		return halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c, o)
	}}
	cases := []qdCase{{name: qdNative, run: func() error {
		return expansion.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c, o)
	}}, exact}
	if f == halfulp.Float64 {
		cases = []qdCase{{name: qdLibrary, run: func() error {
			blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, byRows(b), byRows(a), 0, byRows(c))
			return e.Context.Err()
		}}, exact}
	}
	if err := e.qdTimes(r, tableQDGemm, format, cpuDevice, n, cases); err != nil {
		return err
	}
	if err := e.next(); err != nil {
		return err
	}
	s, rhs, x := qdMatrix(f, n, n, 3), qdMatrix(f, n, m, 4), halfulp.NewMatrix(f, n, m)
	cases = qdSolvers(func(p expansion.Pivoting, u expansion.Updates) error {
		return expansion.Solve(s, rhs, x, &expansion.SolveOptions{Pivoting: p, Updates: u, Options: *o})
	})
	if f == halfulp.Float64 {
		cases = []qdCase{luSolver(n, m)}
	}
	return e.qdTimes(r, tableQDSolve, format, cpuDevice, n, cases)
}

// byRows returns the transpose of a matrix of doubles, in gonum's layout.
func byRows(m *halfulp.Matrix) blas64.General {
	x, ld, _ := m.RawFloat64()
	return blas64.General{Rows: m.Cols(), Cols: m.Rows(), Stride: ld, Data: x}
}

// luSolver solves n equations with m right-hand sides in doubles by gonum's LU factors.
func luSolver(n, m int) qdCase {
	// Matrices by rows are transposes; their numbers are just as random.
	s, rhs := byRows(qdMatrix(halfulp.Float64, n, n, 3)), byRows(qdMatrix(halfulp.Float64, m, n, 4))
	a, b := byRows(halfulp.NewMatrix(halfulp.Float64, n, n)), byRows(halfulp.NewMatrix(halfulp.Float64, m, n))
	pivots := make([]int, n)
	return qdCase{
		qdLibrary,
		func() { copy(a.Data, s.Data); copy(b.Data, rhs.Data) },
		func() error {
			lapack64.Getrf(a, pivots)
			lapack64.Getrs(blas.NoTrans, a, b, pivots)
			return nil
		},
	}
}
