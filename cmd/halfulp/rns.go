package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/rns"
)

// baseFlags select the base of the methods of package rns.
type baseFlags struct {
	Moduli    *int `group:"run" placeholder:"N" help:"With --method rns-...: number of moduli (default: the fewest that suffice, of at most 30 bits each)."`
	Precision *int `group:"run" placeholder:"P" help:"With --method rns-...: bits of the arithmetic (default: the bits of the format)."`
}

// rnsFlags select the base and the order of additions of the methods of package rns.
type rnsFlags struct {
	baseFlags
	Blocks    *int `group:"run" placeholder:"N" help:"With --method rns-hybrid: number of blocks, which determines the order of additions (default 64)."`
	BlockSize *int `group:"run" placeholder:"N" help:"With --method rns-hybrid or rns-gemv: threads of a block, which determine the order of additions (default 32)."`
}

// rnsMethod is an algorithm of package rns and the commands that support it.
type rnsMethod struct {
	name, text string
	commands   []string
}

var rnsMethods = []rnsMethod{
	{"rns-recursive", "additions one after the other (MPRES, Reduce1)", []string{"sum", "asum", "dot", "nrm2"}},
	{"rns-pairwise", "pairwise additions (MPRES, Reduce2)", []string{"sum", "asum", "dot", "nrm2"}},
	{"rns-hybrid", "blocks of sums, 64 of 32 by default (MPRES, Reduce3)", []string{"sum", "asum", "dot", "nrm2"}},
	{"rns-gemv", "algorithm 1 of MPRES-BLAS", []string{"gemv"}},
	{"rns-basic", "the loops of the reference BLAS, the basic implementation", []string{"gemv"}},
	{"rns-elementwise", "add, sub, mul, div, sqrt and fma, each rounded once", []string{"map"}},
	{"rns-csr", "compressed rows, a thread a row (MPRES-BLAS, spmv_csr)", sparseCommands},
	{"rns-csrv", "compressed rows, 8 threads a row by default (spmv_csrv)", sparseCommands},
	{"rns-jad", "jagged diagonals, a thread a row (spmv_jad)", sparseCommands},
	{"rns-jadv", "jagged diagonals, 8 threads a row by default (spmv_jadv)", sparseCommands},
	{"rns-ell", "rows of one length, padded (spmv_ell)", sparseCommands},
	{"rns-dia", "diagonals, padded (spmv_dia)", sparseCommands},
}

// rnsList is a table of the methods of a command.
func rnsList(command string) string {
	var b strings.Builder
	for _, m := range rnsMethods {
		if slices.Contains(m.commands, command) {
			fmt.Fprintf(&b, "  %-15s %s\n", m.name, m.text)
		}
	}
	return b.String()
}

// rnsHelp is the part about these methods in the help of a command.
func rnsHelp(command string) string {
	order := "--blocks and --block-size change the order on both, and halfulp tune --rns finds the fastest values for a GPU."
	if slices.Contains(sparseCommands, command) {
		order = "--row-threads changes the order of rns-csrv and rns-jadv on both."
	}
	return `

Further methods come from the papers on MPRES and MPRES-BLAS. They compute in residue number system floating point. Their results are not correctly rounded, so auto never selects them:

` + rnsList(command) + `
--precision P sets the bits of the arithmetic (default: the bits of --format), --moduli N the number of moduli, as in --format mp:120 --moduli 16. Numbers with more bits are rounded first. Zero has no sign, and infinities become NaN. --stats shows the moduli and a bound on the error.

They run on the CPU, or with --device cuda:N on that GPU, with the same bits. The order of additions is part of a method: ` + order
}

// isRNS reports whether the method is one of package rns, as its name says.
func isRNS(method string) bool { return strings.HasPrefix(method, "rns-") }

// flags returns the flags by name.
func (f *baseFlags) flags() []rnsFlag {
	return []rnsFlag{
		{"--moduli", f.Moduli, rns.MaxModuli, nil},
		{"--precision", f.Precision, rns.MaxModuli * 32, nil},
	}
}

// flags returns the flags by name.
func (f *rnsFlags) flags() []rnsFlag {
	return append(f.baseFlags.flags(),
		rnsFlag{"--blocks", f.Blocks, rns.MaxBlocks, []string{"rns-hybrid"}},
		rnsFlag{"--block-size", f.BlockSize, rns.MaxBlockSize, []string{"rns-hybrid", "rns-gemv"}})
}

// rnsFlag is a flag for a number from 1 on.
type rnsFlag struct {
	name    string
	value   *int // nil: not given
	most    int
	methods []string // that support it; nil: all of package rns
}

// check returns an error unless the flag is valid with a method.
func (f *rnsFlag) check(method string) error {
	switch {
	case f.value == nil:
		return nil
	case !isRNS(method):
		hint := ""
		if f.name == "--precision" {
			hint = fmt.Sprintf(": --format mp:%v rounds the result to so many bits", *f.value)
		}
		return cli.Misuse("%s goes with the methods rns-..., not with %s%s", f.name, method, hint)
	case f.methods != nil && !slices.Contains(f.methods, method):
		return cli.Misuse("%s goes with %s, not with %s", f.name, strings.Join(f.methods, " and "), method)
	case *f.value < 1 || *f.value > f.most:
		return cli.Misuse("%s: %d is not between 1 and %d", f.name, *f.value, f.most)
	}
	return nil
}

// given returns the value of a flag, or otherwise if it is not given.
func given(flag *int, otherwise int) int {
	if flag == nil {
		return otherwise
	}
	return *flag
}

// checkRNS returns the choice that the flags make, nil for a method that is not of package rns.
func checkRNS(how *runFlags, f *rnsFlags, format halfulp.Format) (*rnsChoice, error) {
	for _, flag := range f.flags() {
		if err := flag.check(how.Method); err != nil {
			return nil, err
		}
	}
	if !isRNS(how.Method) {
		return nil, nil
	}
	c := &rnsChoice{blocks: given(f.Blocks, rns.DefaultBlocks), blockSize: given(f.BlockSize, rns.DefaultBlockSize)}
	return c, c.find(how, &f.baseFlags, format)
}

// find determines the base and the device.
func (c *rnsChoice) find(how *runFlags, f *baseFlags, format halfulp.Format) (err error) {
	if c.base, err = f.base(how.Method, format); err != nil {
		return err
	}
	c.device = halfulp.Device(how.Device)
	return c.tryDevice(how.Method)
}

// base returns the base that the flags select.
func (f *baseFlags) base(method string, format halfulp.Format) (base *rns.Base, err error) {
	from, p, n := "--format "+format.String(), format.Bits(), given(f.Moduli, 0)
	if f.Precision != nil {
		from, p = fmt.Sprint("--precision ", *f.Precision), *f.Precision
	}
	switch {
	case p > rns.MaxModuli*32:
		err = rns.ErrNoBase // before large numbers are made
	case n > 0:
		base, err = rns.NewBasePrecision(p, n)
	default:
		base, err = rns.BaseFor(p, rnsWidth)
	}
	if err == nil {
		return base, nil
	}
	what := fmt.Sprintf("by %d moduli of at most %d bits", rns.MaxModuli, rnsWidth)
	if n > 0 {
		from, what = fmt.Sprintf("%s, --moduli %d", from, n), "by "+moduli(n)+" below 2^31"
	}
	return nil, cli.Misuse("%s: method %s has no base for %d bits %s", from, method, p, what)
}

// moduli returns "1 modulus" or "2 moduli".
func moduli(n int) string {
	if n == 1 {
		return "1 modulus"
	}
	return fmt.Sprintf("%d moduli", n)
}

// rnsChoice is the base, device and order of additions for a method of package rns.
type rnsChoice struct {
	base              *rns.Base
	device            halfulp.Device
	blocks, blockSize int
	rowThreads        int // of sparse matrices
}

// tryDevice returns an error unless the device exists and supports the base. It runs an empty sum
// to find out.
func (c *rnsChoice) tryDevice(method string) error {
	var st halfulp.Stats
	_, err := rns.Reduce1(c.base.NewVector(0), &rns.Options{Options: halfulp.Options{Device: c.device, Stats: &st}})
	if err != nil {
		err = errors.Unwrap(err) // without the name of the routine
	}
	if errors.Is(err, rns.ErrModuli) {
		err = cli.Misuse("method %s on %s: %w", method, c.device, err)
	}
	c.device = halfulp.Device(st.Device)
	return err
}

// rnsWidth is the width of moduli up to which the SIMD loops run.
const rnsWidth = 30

// rnsApplies returns an error if a command does not have a method rns-....
func rnsApplies(command, method string) error {
	var all, here []string
	for _, m := range rnsMethods {
		all = append(all, m.name)
		if slices.Contains(m.commands, command) {
			here = append(here, m.name)
		}
	}
	switch {
	case !slices.Contains(all, method):
		return cli.Misuse("method %q: no such method (want auto, residue, direct or one of %s)", method, strings.Join(all, ", "))
	case len(here) == 0:
		return cli.Misuse("method %s does not apply to %s, nor does another rns-...", method, command)
	case !slices.Contains(here, method):
		return cli.Misuse("method %s does not apply to %s: want one of %s", method, command, strings.Join(here, ", "))
	}
	return nil
}

// rnsStats are the statistics of a method of package rns.
type rnsStats struct {
	Precision    int      `json:"precision"`     // bits of the arithmetic
	Moduli       []uint32 `json:"moduli"`        // the base
	Range        int      `json:"range_bits"`    // of the product of the moduli
	UnitRoundoff string   `json:"unit_roundoff"` // 4/√M
	Blocks       int      `json:"blocks,omitempty"`
	BlockSize    int      `json:"block_size,omitempty"`
	RowThreads   int      `json:"row_threads,omitempty"`
	Rounded      int64    `json:"rounded_inputs"` // numbers with too many bits for the base
	NaN          int64    `json:"nan"`            // results
	// Bounds on the error, of vectors in the 1-norm. map has no absolute bound.
	AbsoluteBound string `json:"absolute_bound,omitempty"`
	RelativeBound string `json:"relative_bound,omitempty"` // for map, of every entry

	Sparse *sparseStats `json:"sparse,omitempty"`
	CG     *cgStats     `json:"cg,omitempty"`

	formula string
}

// rnsRun is a run of a method of package rns.
type rnsRun struct {
	*rnsChoice
	job     *job
	stats   halfulp.Stats
	own     rnsStats
	start   time.Time
	threads int
}

// rnsRun begins a run.
func (j *job) rnsRun(c *rnsChoice) *rnsRun {
	threads := int(j.how.Threads)
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	r := &rnsRun{rnsChoice: c, job: j, start: time.Now(), threads: threads}
	r.stats = halfulp.Stats{Device: string(c.device), Method: halfulp.Method(j.how.Method), Threads: threads, Moduli: c.base.Len()}
	r.own = rnsStats{Precision: c.base.Precision(), Moduli: c.base.Moduli(), Range: c.base.Range().BitLen(), UnitRoundoff: boundText(c.base.UnitRoundoff())}
	switch j.how.Method {
	case "rns-hybrid":
		r.own.Blocks, r.own.BlockSize = c.blocks, c.blockSize
	case "rns-gemv":
		r.own.BlockSize = c.blockSize
	}
	j.rns = &r.own
	return r
}

// options returns the options of the routines that run.
func (r *rnsRun) options() *rns.Options {
	return &rns.Options{
		Options: halfulp.Options{Device: r.device, Threads: r.threads, Context: r.job.env.Ctx},
		Blocks:  r.blocks, BlockSize: r.blockSize, RowThreads: r.rowThreads,
	}
}

// watched returns options with a progress bar that job.finish removes.
func (r *rnsRun) watched() *rns.Options {
	o := r.options()
	o.Progress = r.job.startProgress(r.job.command)
	return o
}

// stage ends a stage of the run.
func (r *rnsRun) stage(name string) {
	now := time.Now()
	r.stats.Stages = append(r.stats.Stages, halfulp.Stage{Name: name, Time: now.Sub(r.start)})
	r.start = now
}

// vector converts x to the base.
func (r *rnsRun) vector(x *halfulp.Vector) (*rns.Vector, error) {
	number := float64(4*r.base.Len() + 40)
	if need, limit := number*float64(x.Len()), float64(r.job.how.Memory.limit()); need > limit {
		return nil, fmt.Errorf("%d numbers with %d moduli take %.3g GiB, the memory limit is %.3g GiB", x.Len(), r.base.Len(), need/(1<<30), limit/(1<<30))
	}
	z := r.base.VectorOf(x)
	if !r.holds(x.NumberFormat()) {
		for i := range x.Len() {
			r.count(x.At(i), func() *rns.Number { return z.At(i) })
		}
	}
	return z, nil
}

// number converts x to the base.
func (r *rnsRun) number(x halfulp.Scalar) *rns.Number {
	z := r.base.NewNumber().SetScalar(x)
	r.count(x, func() *rns.Number { return z })
	return z
}

// holds reports whether the base can hold every number of a format; it may report false for a base
// that can.
func (r *rnsRun) holds(f halfulp.Format) bool {
	return (f == halfulp.Float32 || f == halfulp.Float64) && f.Bits() <= r.base.Precision()
}

// farExponent is an exponent beyond which the base may have no numbers.
const farExponent = 1 << 29

// count counts a number that is rounded to the base.
func (r *rnsRun) count(x halfulp.Scalar, converted func() *rns.Number) {
	if x.IsNaN() || x.IsInf(0) {
		return
	}
	b := x.Big()
	if e := b.MantExp(nil); e > farExponent || e < -farExponent {
		if z, err := converted().Big(); err == nil && z.Sign() == 0 {
			r.stats.Underflow++
		}
	}
	if int(b.MinPrec()) <= r.base.Precision() {
		return
	}
	if z, err := converted().Big(); err == nil && z.Cmp(b) != 0 {
		r.own.Rounded++
	}
}

// scalar rounds a result to the format.
func (r *rnsRun) scalar(z *rns.Number, f halfulp.Format) halfulp.Scalar {
	s := z.Scalar(f)
	switch exact, err := z.Big(); {
	case err != nil:
		r.own.NaN++
	case s.IsInf(0):
		r.stats.Overflow++
	case !f.IsMP() && exact.Sign() != 0 && exact.MantExp(nil)-1 < smallest(f) && s.Big().Cmp(exact) != 0:
		r.stats.Underflow++
	}
	return s
}

// smallest is the exponent of the smallest normal number of a format of fixed width.
func smallest(f halfulp.Format) int {
	if f == halfulp.Float32 {
		return -126
	}
	return -1022
}

func (r *rnsRun) bound(b rns.Bound, formula string) {
	r.own.AbsoluteBound, r.own.RelativeBound, r.own.formula = boundText(b.Absolute), boundText(b.Relative), formula
}

// boundText returns x in two digits, rounded up.
func boundText(x rns.XFloat) string {
	b := x.Big()
	switch {
	case b.IsInf():
		return "none"
	case b.Sign() == 0:
		return "0"
	}
	return decimal.Above(b, 2)
}

// rnsSum runs a sum, of absolute values if asum is set.
func (j *job) rnsSum(c *rnsChoice, x *halfulp.Vector, asum bool) (halfulp.Scalar, halfulp.Stats, error) {
	r := j.rnsRun(c)
	v, err := r.vector(x)
	if err != nil {
		return halfulp.Scalar{}, r.stats, err
	}
	r.stage("conversion")
	if asum {
		a, _, _ := v.Array()
		clear(a.Sign)
	}
	z, err := r.sum(v)
	if err != nil {
		return halfulp.Scalar{}, r.stats, err
	}
	r.stage("sum")
	bound, err := rns.SumBound(j.env.Ctx, v, z)
	if err != nil {
		return halfulp.Scalar{}, r.stats, err
	}
	r.bound(bound, "(n - 1) u / (1 - (n - 1) u) sum |x_i|")
	return r.scalar(z, j.format), r.stats, j.env.Ctx.Err()
}

// sum adds in the order of the method.
func (r *rnsRun) sum(x *rns.Vector) (*rns.Number, error) {
	reduce := rns.Reduce3
	switch r.stats.Method {
	case "rns-recursive":
		reduce = rns.Reduce1
	case "rns-pairwise":
		reduce = rns.Reduce2
	}
	z, err := reduce(x, r.watched())
	r.job.finish()
	return z, err
}

// rnsDot runs a dot product.
func (j *job) rnsDot(c *rnsChoice, x, y *halfulp.Vector) (halfulp.Scalar, halfulp.Stats, error) {
	r := j.rnsRun(c)
	u, err := r.vector(x)
	if err != nil {
		return halfulp.Scalar{}, r.stats, err
	}
	v, err := r.vector(y)
	if err != nil {
		return halfulp.Scalar{}, r.stats, err
	}
	r.stage("conversion")
	z, err := r.dot(u, v)
	if err != nil {
		return halfulp.Scalar{}, r.stats, err
	}
	r.stage("dot product")
	bound, err := rns.DotBound(j.env.Ctx, u, v, z)
	if err != nil {
		return halfulp.Scalar{}, r.stats, err
	}
	r.bound(bound, "n u / (1 - n u) sum |x_i y_i|")
	return r.scalar(z, j.format), r.stats, j.env.Ctx.Err()
}

// dot adds the rounded products in the order of the method.
func (r *rnsRun) dot(x, y *rns.Vector) (*rns.Number, error) {
	products := r.base.NewVector(x.Len())
	if err := rns.Mul(x, y, products, r.options()); err != nil {
		return nil, err
	}
	return r.sum(products)
}

// rnsNrm2 computes a norm, with rns-hybrid by rns.Nrm2.
func (j *job) rnsNrm2(c *rnsChoice, x *halfulp.Vector) (halfulp.Scalar, halfulp.Stats, error) {
	r := j.rnsRun(c)
	v, err := r.vector(x)
	if err != nil {
		return halfulp.Scalar{}, r.stats, err
	}
	r.stage("conversion")
	z, err := r.dot(v, v)
	if err != nil {
		return halfulp.Scalar{}, r.stats, err
	}
	z.Sqrt(z)
	r.stage("norm")
	bound, err := rns.Nrm2Bound(j.env.Ctx, v, z)
	if err != nil {
		return halfulp.Scalar{}, r.stats, err
	}
	r.bound(bound, "(n + 1) u / (1 - (n + 1) u) ||x||")
	return r.scalar(z, j.format), r.stats, j.env.Ctx.Err()
}

// rnsMapped are the operations of map that package rns supports.
var rnsMapped = map[string]func(x [3]*rns.Vector, z *rns.Vector, o *rns.Options) error{
	"add": func(x [3]*rns.Vector, z *rns.Vector, o *rns.Options) error {
		return rns.Add(x[0], x[1], z, o)
	},
	"sub": func(x [3]*rns.Vector, z *rns.Vector, o *rns.Options) error {
		return rns.Sub(x[0], x[1], z, o)
	},
	"mul": func(x [3]*rns.Vector, z *rns.Vector, o *rns.Options) error {
		return rns.Mul(x[0], x[1], z, o)
	},
	"div": func(x [3]*rns.Vector, z *rns.Vector, o *rns.Options) error {
		return rns.Div(x[0], x[1], z, o)
	},
	"sqrt": func(x [3]*rns.Vector, z *rns.Vector, o *rns.Options) error {
		return rns.Sqrt(x[0], z, o)
	},
	"fma": func(x [3]*rns.Vector, z *rns.Vector, o *rns.Options) error {
		return rns.FMA(x[0], x[1], x[2], z, o)
	},
}

// rnsMap runs an operation on every entry of matrices of one shape into z.
func (j *job) rnsMap(c *rnsChoice, name string, x []*halfulp.Matrix, z *halfulp.Matrix) (halfulp.Stats, error) {
	r := j.rnsRun(c)
	var v [3]*rns.Vector
	for i, m := range x {
		var err error
		if v[i], err = r.vector(m.Vec()); err != nil {
			return r.stats, err
		}
	}
	r.stage("conversion")
	result := r.base.NewVector(v[0].Len())
	err := rnsMapped[name](v, result, r.watched())
	j.finish()
	if err != nil {
		return r.stats, err
	}
	r.stage("compute")
	r.own.RelativeBound = r.own.UnitRoundoff
	if name == "fma" {
		r.own.RelativeBound, r.own.formula = "none", "u |x y + z| + u^2 (|x y| + |z|)"
	}
	to := z.Vec()
	for i := range to.Len() {
		to.Set(i, r.scalar(result.At(i), j.format))
	}
	return r.stats, j.env.Ctx.Err()
}

// rnsGemv runs a matrix-vector product into z; y is nil where beta is 0.
func (j *job) rnsGemv(c *rnsChoice, trans bool, alpha halfulp.Scalar, a *halfulp.Matrix, x *halfulp.Vector,
	beta halfulp.Scalar, y *halfulp.Vector, z *halfulp.Vector) (halfulp.Stats, error) {
	r := j.rnsRun(c)
	rows, cols := a.Dims()
	entries, err := r.vector(a.Vec())
	if err != nil {
		return r.stats, err
	}
	stored, _, _ := entries.Array()
	m := stored.Matrix(0, rows, cols, max(rows, 1))
	v, err := r.vector(x)
	if err != nil {
		return r.stats, err
	}
	old := r.base.NewVector(z.Len())
	if y != nil {
		if old, err = r.vector(y); err != nil {
			return r.stats, err
		}
	}
	al, be := r.number(alpha), r.number(beta)
	r.stage("conversion")
	result, err := r.gemv(transpose(trans), al, m, v, be, old)
	if err != nil {
		return r.stats, err
	}
	r.stage("product")
	bound, err := rns.GemvBound(j.env.Ctx, transpose(trans), al, m, v, be, old, result)
	if err != nil {
		return r.stats, err
	}
	r.bound(bound, "(n + 2) u / (1 - (n + 2) u) || |alpha A| |x| + |beta y| ||, in the 1-norm")
	r.stage("bound")
	for i := range z.Len() {
		z.Set(i, r.scalar(result.At(i), j.format))
	}
	return r.stats, j.env.Ctx.Err()
}

// gemv returns the product by the method; y is not changed.
func (r *rnsRun) gemv(trans halfulp.Transpose, alpha *rns.Number, a *rns.Matrix, x *rns.Vector, beta *rns.Number, y *rns.Vector) (*rns.Vector, error) {
	product := rns.Gemv
	if r.stats.Method == "rns-basic" {
		product = rns.GemvBasic
	}
	z := y.Clone()
	err := product(trans, alpha, a, x, beta, z, r.watched())
	r.job.finish()
	return z, err
}

// rns prints the statistics of a method of package rns.
func (t rows) rns(s *rnsStats) {
	low, high := slices.Min(s.Moduli), slices.Max(s.Moduli)
	t.row("base", fmt.Sprintf("%s from %d to %d, M of %d bits", moduli(len(s.Moduli)), low, high, s.Range))
	t.row("precision", fmt.Sprintf("%d bits, unit roundoff u < %s", s.Precision, s.UnitRoundoff))
	switch {
	case s.Blocks > 0:
		t.row("order of additions", textio.Count(s.Blocks, "block")+" of "+textio.Count(s.BlockSize, "thread"))
	case s.BlockSize > 0:
		t.row("order of additions", "blocks of "+textio.Count(s.BlockSize, "thread"))
	}
	if s.Sparse != nil {
		s.Sparse.write(t.row, s.RowThreads)
	}
	t.row("inputs rounded to the base", s.Rounded)
	if s.CG != nil {
		s.CG.write(t.row)
		return
	}
	switch {
	case s.AbsoluteBound != "":
		t.row("error bound of the arithmetic", fmt.Sprintf("%s (%s)", s.AbsoluteBound, s.formula))
	case s.formula != "":
		t.row("error bound of the arithmetic", s.formula)
	}
	t.row("relative error bound of it", s.RelativeBound)
}
