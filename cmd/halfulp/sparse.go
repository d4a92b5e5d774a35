package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile"
	"github.com/halfulp/halfulp/rns"
)

// sparseCommands are the commands with methods of package rns for sparse matrices.
var sparseCommands = []string{"spmv", "cg"}

// sparseFlags select the base and the order of additions of the methods for sparse matrices.
type sparseFlags struct {
	baseFlags
	RowThreads *int `group:"run" placeholder:"N" help:"With --method rns-csrv or rns-jadv: threads of a row, which determine the order of additions; a power of two up to 32 (default 8)."`
}

// defaultRowThreads is the default number of threads of rns-csrv and rns-jadv.
const defaultRowThreads = 8

// check returns the choice that the flags make, nil for a method that is not of package rns.
func (f *sparseFlags) check(how *runFlags, format halfulp.Format) (*rnsChoice, error) {
	vector := []string{"rns-csrv", "rns-jadv"}
	for _, flag := range append(f.flags(), rnsFlag{"--row-threads", f.RowThreads, rns.MaxRowThreads, vector}) {
		if err := flag.check(how.Method); err != nil {
			return nil, err
		}
	}
	if !isRNS(how.Method) {
		return nil, nil
	}
	c := &rnsChoice{blocks: rns.DefaultBlocks, blockSize: rns.DefaultBlockSize, rowThreads: 1}
	if slices.Contains(vector, how.Method) {
		c.rowThreads = given(f.RowThreads, defaultRowThreads)
	}
	if t := c.rowThreads; t&(t-1) != 0 {
		return nil, cli.Misuse("--row-threads: %d is not a power of two", t)
	}
	return c, c.find(how, &f.baseFlags, format)
}

// sparseFormat is the format in which a method stores matrices.
func sparseFormat(method string) rns.SparseFormat {
	name := strings.TrimPrefix(method, "rns-")
	for f := rns.CSR; f <= rns.DIA; f++ {
		if strings.TrimSuffix(name, "v") == f.String() {
			return f
		}
	}
	panic("no format of " + method)
}

// rowPointers returns the index of the first entry of each row, and the number of entries.
func rowPointers(a *matfile.Sparse) []int {
	pointers := make([]int, a.Rows+1)
	for _, i := range a.Row {
		pointers[i+1]++
	}
	for i := range a.Rows {
		pointers[i+1] += pointers[i]
	}
	return pointers
}

// plainSpMV is A x by a float64 loop.
func plainSpMV(a *matfile.Sparse, x *halfulp.Vector) [][]float64 {
	z := make([][]float64, a.Rows)
	for i := range z {
		z[i] = []float64{0}
	}
	for k, i := range a.Row {
		z[i][0] += float64(a.Values.Float64(k) * x.Float64(int(a.Col[k])))
	}
	return z
}

// exactSpMV sets z to A x, or A x - y if y is not nil, each entry rounded once.
func (j *job) exactSpMV(a *matfile.Sparse, x, y, z *halfulp.Vector, progress func(float64)) (halfulp.Stats, error) {
	start := time.Now()
	threads := int(j.how.Threads)
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	stats := halfulp.Stats{Device: cpuDevice, Method: "direct", Threads: threads}
	pointers := rowPointers(a)
	const rows = 64 // of a part
	parts := (a.Rows + rows - 1) / rows
	var mu sync.Mutex
	done := 0
	var failed error
	err := par.For(j.env.Ctx, threads, parts, func(_, part int) {
		var sum halfulp.Stats
		var err error
		for i := part * rows; i < min((part+1)*rows, a.Rows) && err == nil; i++ {
			var s halfulp.Scalar
			var st halfulp.Stats
			s, st, err = j.exactRow(a, pointers[i], pointers[i+1], i, x, y, z.NumberFormat())
			z.Set(i, s)
			sum.Exact, sum.Overflow, sum.Underflow = sum.Exact+st.Exact, sum.Overflow+st.Overflow, sum.Underflow+st.Underflow
		}
		mu.Lock()
		defer mu.Unlock()
		stats.Exact, stats.Overflow, stats.Underflow = stats.Exact+sum.Exact, stats.Overflow+sum.Overflow, stats.Underflow+sum.Underflow
		if failed == nil {
			failed = err
		}
		if done++; progress != nil {
			progress(float64(done) / float64(parts))
		}
	})
	if err == nil {
		err = failed
	}
	stats.Stages = []halfulp.Stage{{Name: "product", Time: time.Since(start)}}
	return stats, err
}

// exactRow returns entry i of A x, or A x - y; row i has the entries lo ≤ k < hi.
func (j *job) exactRow(a *matfile.Sparse, lo, hi, i int, x, y *halfulp.Vector, f halfulp.Format) (halfulp.Scalar, halfulp.Stats, error) {
	u := a.Values.Slice(lo, hi)
	v := halfulp.NewVector(x.NumberFormat(), hi-lo)
	for k := range hi - lo {
		v.Set(k, x.At(int(a.Col[lo+k])))
	}
	if y != nil { // one more entry: -1 times y_i
		u, v = longer(u, u.NumberFormat()), longer(v, wider(x.NumberFormat(), y.NumberFormat()))
		u.SetFloat64(hi-lo, -1)
		v.Set(hi-lo, y.At(i))
	}
	var st halfulp.Stats
	v0, err := halfulp.Dot(u, v, f, &halfulp.Options{Context: j.env.Ctx, Device: halfulp.CPU, Threads: 1, Method: "direct", Stats: &st})
	return v0, st, err
}

// longer returns x in a format and with one more entry.
func longer(x *halfulp.Vector, f halfulp.Format) *halfulp.Vector {
	z := halfulp.NewVector(f, x.Len()+1)
	for k := range x.Len() {
		z.Set(k, x.At(k))
	}
	return z
}

// wider returns the format of two equal formats, or an MP that holds the numbers of both. Only
// numbers of DD, TD and QD with long gaps between their words are rounded, to 64 bits more than the
// format has.
func wider(f, g halfulp.Format) halfulp.Format {
	if f == g {
		return f
	}
	return halfulp.MP(uint(max(f.Bits(), g.Bits()) + 64))
}

// sparseStats describe how a method of package rns stored a matrix.
type sparseStats struct {
	Format  string `json:"format"`
	Rows    int    `json:"rows"`
	Cols    int    `json:"cols"`
	Entries int    `json:"entries"`
	Float64 bool   `json:"float64"` // whether the entries are stored as float64 numbers
}

func (s *sparseStats) write(row func(name string, value any), threads int) {
	numbers := "numbers of the base"
	if s.Float64 {
		numbers = "float64 numbers"
	}
	row("matrix", fmt.Sprintf("%d x %d, %s, %s, in %s", s.Rows, s.Cols, textio.Count(s.Entries, "entry"), numbers, strings.ToUpper(s.Format)))
	if threads > 1 {
		row("order of additions", fmt.Sprintf("%d threads a row", threads))
	}
}

// sparse converts A to the base and the format of the method.
func (r *rnsRun) sparse(a *matfile.Sparse) (*rns.Sparse, error) {
	var m *rns.Sparse
	var err error
	if doubles := float64s(a.Values); doubles != nil {
		if !r.holds(halfulp.Float64) {
			for _, d := range doubles {
				r.count(halfulp.Float(d), func() *rns.Number { return r.base.NewNumber().SetFloat64(d) })
			}
		}
		m, err = r.base.CSRFloat64(a.Rows, a.Cols, rowPointers(a), a.Col, doubles)
	} else {
		var values *rns.Vector
		if values, err = r.vector(a.Values); err == nil {
			m, err = rns.NewCSR(a.Rows, a.Cols, rowPointers(a), a.Col, values)
		}
	}
	if err != nil {
		return nil, err
	}
	if f := sparseFormat(r.job.how.Method); f != rns.CSR {
		if m, err = m.To(f); err != nil {
			return nil, err
		}
	}
	r.own.Sparse = &sparseStats{m.Format().String(), a.Rows, a.Cols, m.Entries(), m.Float64()}
	r.own.RowThreads = r.rowThreads
	return m, nil
}

// float64s returns the numbers as float64 numbers if all are, else nil.
func float64s(x *halfulp.Vector) []float64 {
	list := make([]float64, x.Len())
	for k := range list {
		if list[k] = x.Float64(k); math.IsNaN(list[k]) {
			continue
		}
		if f, _ := x.Big(k).Float64(); x.NumberFormat() != halfulp.Float64 && (math.IsInf(f, 0) || x.Big(k).Cmp(halfulp.Float(f).Big()) != 0) {
			return nil
		}
	}
	return list
}

// rnsSpMV runs a product into z.
func (j *job) rnsSpMV(c *rnsChoice, a *matfile.Sparse, x, z *halfulp.Vector) (halfulp.Stats, error) {
	r := j.rnsRun(c)
	m, err := r.sparse(a)
	if err != nil {
		return r.stats, err
	}
	v, err := r.vector(x)
	if err != nil {
		return r.stats, err
	}
	r.stage("conversion")
	y := r.base.NewVector(a.Rows)
	err = rns.SpMV(m, v, y, r.watched())
	j.finish()
	if err != nil {
		return r.stats, err
	}
	r.stage("product")
	bound, err := rns.SpMVBound(j.env.Ctx, m, v, y)
	if err != nil {
		return r.stats, err
	}
	r.bound(bound, "n u / (1 - n u) |A| |x|, n entries a row, in the 1-norm")
	r.stage("bound")
	for i := range z.Len() {
		z.Set(i, r.scalar(y.At(i), j.format))
	}
	return r.stats, j.env.Ctx.Err()
}

type cgCmd struct {
	A              string      `arg:"" name:"A" help:"Symmetric positive definite matrix; a Matrix Market coordinate file or a sparse .npz of SciPy stays sparse; - is standard input."`
	B              string      `arg:"" name:"b" help:"Right-hand side: a vector."`
	X              string      `arg:"" name:"x0" optional:"" help:"Vector to start from (default 0)."`
	Preconditioner string      `group:"run" default:"none" enum:"none,jacobi" placeholder:"NAME" help:"none, or jacobi: the inverse of the diagonal. Default ${default}."`
	Tolerance      *numberText `group:"run" placeholder:"NUMBER" help:"Stop when the residual is at most NUMBER times the first one (default 2^-k, k being half the bits of the arithmetic)."`
	MaxIterations  *int        `group:"run" placeholder:"N" help:"Largest number of iterations (default 10 times the order of A)."`
	Blocks         *int        `group:"run" placeholder:"N" help:"Number of blocks, which determines the order of additions in dot products (default 64)."`
	BlockSize      *int        `group:"run" placeholder:"N" help:"Threads of a block, which determine the order of additions in dot products (default 32)."`
	commonFlags
	sparseFlags
}

func (cgCmd) Help() string {
	return `Prints an approximate solution x of A x = b by the conjugate gradient method of MPRES-BLAS in residue number system floating point. --precision sets its bits: more help where float64 fails because A is ill conditioned. x is not correctly rounded. The iteration converges when the recursively updated residual is at most --tolerance times the first one. Otherwise, or if A is found not to be symmetric and positive definite, the exit status is 1. Diagonal entries and 2 x 2 principal minors that are not positive are found before the iterations.

--stats shows a proved upper bound on the Euclidean norm of b - A x, and the largest entry of the exact residual of the printed x. Neither bounds the error of x: relative to x it may be larger by a factor of up to the condition number of A.

The method selects how A is stored (default: rns-csr):

` + rnsList("cg") + `
--precision P sets the bits of the arithmetic (default: the bits of --format), --moduli N the number of moduli. CPU and GPU (--device cuda:N) print the same bits. --blocks, --block-size and --row-threads set the order of additions, which changes the bits on both.

Examples:

  halfulp cg A.mtx b.mtx --precision 106
  halfulp cg A.mtx b.mtx --precision 212 --preconditioner jacobi --tolerance 1e-40 --stats
  halfulp cg A.mtx.gz b.mtx x0.mtx --method rns-jadv --format mp:212 --device cuda:0 --out x.mtx`
}

func (c *cgCmd) Run(env *cli.Environment) error {
	if c.Method == "auto" {
		c.Method = "rns-csr"
	}
	var choice *rnsChoice
	valid := func(*halfulp.Options) (err error) {
		for _, flag := range []rnsFlag{
			{"--blocks", c.Blocks, rns.MaxBlocks, nil},
			{"--block-size", c.BlockSize, rns.MaxBlockSize, nil},
			{"--max-iterations", c.MaxIterations, math.MaxInt32, nil},
		} {
			if err := flag.check(c.Method); err != nil {
				return err
			}
		}
		if choice, err = c.check(&c.runFlags, c.Format.Format); err == nil && choice == nil {
			err = cli.Misuse("method %q: cg has methods rns-... only", c.Method)
		}
		return err
	}
	j, err := c.job(env, "cg", true, valid, c.A, c.B, c.X)
	if err != nil {
		return err
	}
	choice.blocks, choice.blockSize = given(c.Blocks, rns.DefaultBlocks), given(c.BlockSize, rns.DefaultBlockSize)
	a, err := j.sparse(c.A)
	if err != nil {
		return err
	}
	if a.Rows != a.Cols {
		return cli.Misuse("%s is %d x %d: it must be square", shown(c.A), a.Rows, a.Cols)
	}
	if i, k := asymmetric(a); i >= 0 {
		return fmt.Errorf("%s is not symmetric: entries (%d, %d) and (%d, %d) differ", shown(c.A), i+1, k+1, k+1, i+1)
	}
	vectors := []*halfulp.Vector{nil, halfulp.NewVector(halfulp.Float64, a.Rows)}
	for n, name := range []string{c.B, c.X} {
		if name == "" {
			continue
		}
		if vectors[n], err = j.vector(name); err != nil {
			return err
		}
		if vectors[n].Len() != a.Rows {
			return cli.Misuse("%s has %s, %s has %s: they must agree", shown(c.A), textio.Count(a.Rows, "row"), shown(name), textio.Count(vectors[n].Len(), "entry"))
		}
	}
	o := &rns.CGOptions{MaxIterations: given(c.MaxIterations, 0)}
	if c.Preconditioner == "jacobi" {
		o.Preconditioner = rns.Jacobi
	}
	if c.Tolerance != nil {
		s, _, err := parseFactor(string(*c.Tolerance), halfulp.MP(uint(choice.base.Precision())))
		if err != nil {
			return cli.Misuse("--tolerance: %w", err)
		}
		if o.Tolerance = choice.base.NewNumber().SetScalar(s); o.Tolerance.IsNaN() || o.Tolerance.Sign() < 0 {
			return cli.Misuse("--tolerance: %s is no number from 0 on", *c.Tolerance)
		}
	}
	if why := notDefinite(a); why != "" {
		return fmt.Errorf("%s is not positive definite, as conjugate gradients need: %s (solve takes any regular matrix, as a dense one)", shown(c.A), why)
	}
	x, stats, err := j.rnsCG(choice, a, vectors[0], vectors[1], o)
	j.finish()
	switch {
	case errors.Is(err, rns.ErrBreakdown):
		// without the names of routine and package
		return fmt.Errorf("%s: %s", shown(c.A), strings.TrimPrefix(errors.Unwrap(err).Error(), "rns: "))
	case err != nil:
		return err
	}
	if c.Stats != noStats {
		if err := j.exactResidual(a, vectors[0], x); err != nil {
			return err
		}
	}
	if s := j.rns.CG; !s.Converged {
		j.report(&stats)
		if err := j.showStats(0); err != nil {
			return err
		}
		return fmt.Errorf("%s: no convergence: after %s the residual is %s times the first one, --tolerance is %s; more --precision or --max-iterations, or --preconditioner jacobi, may help",
			shown(c.A), textio.Count(s.Iterations, "iteration"), s.Reduction, s.Tolerance)
	}
	return j.writeMatrix(x.Matrix(), &stats)
}

// asymmetric returns a place whose entry differs from the entry of the transpose, -1 if there is
// none.
func asymmetric(a *matfile.Sparse) (i, j int) {
	pointers := rowPointers(a)
	for k := range a.Row {
		i, j := int(a.Row[k]), int(a.Col[k])
		if i == j {
			continue
		}
		lo := pointers[j]
		at, found := slices.BinarySearch(a.Col[lo:pointers[j+1]], int32(i))
		s := a.Values.At(k)
		switch {
		case s.IsNaN():
		case !found:
			if s.Big().Sign() != 0 {
				return i, j
			}
		default:
			if t := a.Values.At(lo + at); t.IsNaN() || s.Big().Cmp(t.Big()) != 0 {
				return i, j
			}
		}
	}
	return -1, -1
}

// notDefinite names a principal minor of order 1 or 2 that proves that a symmetric matrix is not
// positive definite. It returns nothing if all such minors with an entry are positive; larger
// minors may still not be. Infinite entries and NaN are left to the iterations.
func notDefinite(a *matfile.Sparse) string {
	diagonal := make([]int, a.Rows) // places of entries
	for i := range diagonal {
		diagonal[i] = -1
	}
	for k, i := range a.Row {
		if a.Col[k] == i {
			diagonal[i] = k
		}
	}
	special := func(x halfulp.Scalar) bool { return x.IsNaN() || x.IsInf(0) }
	for i, k := range diagonal {
		if k < 0 {
			return fmt.Sprintf("entry (%d, %[1]d) of the diagonal is 0", i+1)
		}
		if x := a.Values.At(k); !special(x) && x.Big().Sign() <= 0 {
			return fmt.Sprintf("entry (%d, %[1]d) of the diagonal is %v", i+1, x)
		}
	}
	for k, row := range a.Row {
		i, j := int(row), int(a.Col[k])
		if i >= j {
			continue
		}
		x, y, z := a.Values.At(diagonal[i]), a.Values.At(diagonal[j]), a.Values.At(k)
		if special(x) || special(y) || special(z) {
			continue
		}
		// Float64 changes a number to at most twice its value, unless it becomes 0.
		if p, q := float64(x.Float64()*y.Float64()), float64(z.Float64()*z.Float64()); q < p/4 && p < math.Inf(1) && p > 1e-290 {
			continue
		}
		if exactProduct(x, y).Cmp(exactProduct(z, z)) <= 0 {
			return fmt.Sprintf("the minor of rows and columns %d and %d is not positive", i+1, j+1)
		}
	}
	return ""
}

// exactProduct returns the exact product of two finite numbers.
func exactProduct(x, y halfulp.Scalar) *big.Float {
	a, b := x.Big(), y.Big()
	return new(big.Float).SetPrec(a.Prec()+b.Prec()).Mul(a, b)
}

// cgStats describe how conjugate gradients ended.
type cgStats struct {
	Preconditioner string   `json:"preconditioner"`
	Tolerance      string   `json:"tolerance"`
	Iterations     int      `json:"iterations"`
	Converged      bool     `json:"converged"`
	Reduction      string   `json:"residual_reduction"`  // of ‖r‖, as iterations update it
	Residuals      []string `json:"residuals"`           // ‖r_k‖ for k = 0, 1, …
	TrueResidual   string   `json:"true_residual_bound"` // an upper bound of ‖b - A x‖
}

func (s *cgStats) write(row func(name string, value any)) {
	row("preconditioner", s.Preconditioner)
	row("iterations", s.Iterations)
	row("updated residual, of the first", fmt.Sprintf("%s (tolerance %s)", s.Reduction, s.Tolerance))
	row("norm of b - A x, at most", s.TrueResidual)
}

// rnsCG runs conjugate gradients from x0.
func (j *job) rnsCG(c *rnsChoice, a *matfile.Sparse, b, x0 *halfulp.Vector, o *rns.CGOptions) (*halfulp.Vector, halfulp.Stats, error) {
	r := j.rnsRun(c)
	m, err := r.sparse(a)
	if err != nil {
		return nil, r.stats, err
	}
	r.own.Blocks, r.own.BlockSize = c.blocks, c.blockSize
	v, err := r.vector(b)
	if err != nil {
		return nil, r.stats, err
	}
	x, err := r.vector(x0)
	if err != nil {
		return nil, r.stats, err
	}
	r.stage("conversion")
	o.Options = *r.watched()
	result, err := rns.CG(m, v, x, o)
	j.finish()
	if err != nil {
		return nil, r.stats, err
	}
	r.stage("iterations")
	const digits = 3
	s := &cgStats{
		Preconditioner: "none", Iterations: result.Iterations, Converged: result.Converged, Reduction: "0",
		TrueResidual: boundText(result.TrueResidual.Up), Tolerance: "2^-" + fmt.Sprint(r.base.Precision()/2),
	}
	if o.Preconditioner == rns.Jacobi {
		s.Preconditioner = "jacobi"
	}
	if o.Tolerance != nil {
		s.Tolerance = o.Tolerance.Text(digits)
	}
	for _, z := range result.Residuals {
		s.Residuals = append(s.Residuals, z.Text(digits))
	}
	if first := result.Residuals[0]; !first.IsZero() {
		s.Reduction = r.base.NewNumber().Quo(result.Residuals[result.Iterations], first).Text(digits)
	}
	r.own.CG = s
	z := halfulp.NewVector(j.format, x.Len())
	for i := range z.Len() {
		z.Set(i, r.scalar(x.At(i), j.format))
	}
	return z, r.stats, j.env.Ctx.Err()
}

// exactResidual finds the largest entries of b - A x, each rounded once, and of b.
func (j *job) exactResidual(a *matfile.Sparse, b, x *halfulp.Vector) error {
	r := halfulp.NewVector(residualFormat, a.Rows)
	if _, err := j.exactSpMV(a, x, b, r, nil); err != nil {
		return err
	}
	return j.residuals("b - A x", r.Matrix(), "b", b.Matrix())
}
