package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/rns"
)

// rnsFlags choose the base of the methods of package rns.
type rnsFlags struct {
	Moduli    *int `group:"run" placeholder:"N" help:"With --method rns-...: number of moduli (default: as few of at most 30 bits as do)."`
	Precision *int `group:"run" placeholder:"P" help:"With --method rns-...: bits of the arithmetic (default: those of the format)."`
	Blocks    *int `group:"run" placeholder:"N" help:"With --method rns-hybrid: blocks of the order of additions (default 64)."`
	BlockSize *int `group:"run" placeholder:"N" help:"With --method rns-hybrid or rns-gemv: threads of a block in the order of additions (default 32)."`
}

// rnsMethod is an algorithm of package rns and the commands that have it.
type rnsMethod struct {
	name, text string
	commands   []string
}

var rnsMethods = []rnsMethod{
	{"rns-recursive", "additions one after the other (MPRES, Reduce1)", []string{"sum", "asum", "dot"}},
	{"rns-pairwise", "pairwise additions (MPRES, Reduce2)", []string{"sum", "asum", "dot"}},
	{"rns-hybrid", "blocks of sums, 64 of 32 by default (MPRES, Reduce3)", []string{"sum", "asum", "dot"}},
	{"rns-gemv", "algorithm 1 of MPRES-BLAS", []string{"gemv"}},
	{"rns-basic", "the loops of the reference BLAS, the basic implementation", []string{"gemv"}},
}

// rnsHelp is what the help of a command says of them.
func rnsHelp(command string) string {
	var b strings.Builder
	b.WriteString(`

Other methods are those of the papers on MPRES and MPRES-BLAS, in residue number system floating point. Their results are not correctly rounded, so auto never takes them:

`)
	for _, m := range rnsMethods {
		if slices.Contains(m.commands, command) {
			fmt.Fprintf(&b, "  %-14s %s\n", m.name, m.text)
		}
	}
	b.WriteString(`
--precision P gives the bits of the arithmetic, by default those of --format, --moduli N the number of moduli, as in --format mp:120 --moduli 16. Numbers that have more bits are rounded to the base first. There is one zero, and infinities become NaN. --stats shows the base and a bound on the error.

They run on the CPU, or with --device cuda:N on that GPU, and have the same bits there. An order of additions is part of a method: --blocks and --block-size change it on both, and halfulp tune --rns tells which of them a GPU is fastest with.`)
	return b.String()
}

// isRNS reports whether the method is one of package rns, as its name says.
func isRNS(method string) bool { return strings.HasPrefix(method, "rns-") }

// flags returns the flags by name.
func (f *rnsFlags) flags() []rnsFlag {
	return []rnsFlag{
		{"--moduli", f.Moduli, rns.MaxModuli, nil},
		{"--precision", f.Precision, rns.MaxModuli * 32, nil},
		{"--blocks", f.Blocks, rns.MaxBlocks, []string{"rns-hybrid"}},
		{"--block-size", f.BlockSize, rns.MaxBlockSize, []string{"rns-hybrid", "rns-gemv"}},
	}
}

// rnsFlag is a flag that takes a number from 1 on.
type rnsFlag struct {
	name    string
	value   *int // nil: not given
	most    int
	methods []string // that it goes with; nil: all of package rns
}

// check returns an error unless the flag is as it should be for a method.
func (f *rnsFlag) check(method string) error {
	switch {
	case f.value == nil:
		return nil
	case !isRNS(method):
		return misuse("%s goes with the methods rns-..., not with %s", f.name, method)
	case f.methods != nil && !slices.Contains(f.methods, method):
		return misuse("%s goes with %s, not with %s", f.name, strings.Join(f.methods, " and "), method)
	case *f.value < 1 || *f.value > f.most:
		return misuse("%s: %d is not between 1 and %d", f.name, *f.value, f.most)
	}
	return nil
}

// given is the value of a flag, or what stands for it.
func given(flag *int, otherwise int) int {
	if flag == nil {
		return otherwise
	}
	return *flag
}

// checkRNS returns what the flags ask for, nil where the method is another; the flags are
// nil for commands that have no such method.
func checkRNS(how *runFlags, f *rnsFlags, format halfulp.Format) (*rnsChoice, error) {
	if f == nil {
		return nil, nil
	}
	for _, flag := range f.flags() {
		if err := flag.check(how.Method); err != nil {
			return nil, err
		}
	}
	if !isRNS(how.Method) {
		return nil, nil
	}
	c := &rnsChoice{blocks: given(f.Blocks, rns.DefaultBlocks), blockSize: given(f.BlockSize, rns.DefaultBlockSize)}
	var err error
	if c.base, err = f.base(how.Method, format); err != nil {
		return nil, err
	}
	switch how.Device {
	case "", "auto", cpuDevice:
	default:
		c.gpu = how.Device
		return c, c.tryGPU(how.Method)
	}
	return c, nil
}

// base returns the base that the flags ask for.
func (f *rnsFlags) base(method string, format halfulp.Format) (base *rns.Base, err error) {
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
		from, what = fmt.Sprintf("%s, --moduli %d", from, n), fmt.Sprintf("by %d moduli below 2^31", n)
	}
	return nil, misuse("%s: method %s has no base for %d bits %s", from, method, p, what)
}

// rnsChoice is what a method of package rns runs with.
type rnsChoice struct {
	base              *rns.Base
	gpu               string // "" for the CPU
	blocks, blockSize int
}

// tryGPU returns an error unless the GPU is there and takes the base.
func (c *rnsChoice) tryGPU(method string) error {
	// The library knows which devices there are.
	if _, _, err := halfulp.Sum(halfulp.NewVector(halfulp.Float64, 0), halfulp.Float64, &halfulp.Options{Device: c.gpu}); err != nil {
		return errors.Unwrap(err) // without the name of the routine
	}
	a, err := c.base.NewArray(0).To(c.gpu)
	if errors.Is(err, rns.ErrModuli) {
		err = misuse("method %s on %s: %w", method, c.gpu, err)
	}
	if err != nil {
		return err
	}
	c.gpu = a.Device()
	a.Free()
	return nil
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
		return misuse("method %q: no such method (want auto, residue, direct or one of %s)", method, strings.Join(all, ", "))
	case len(here) == 0:
		return misuse("method %s does not apply to %s, nor does another rns-...", method, command)
	case !slices.Contains(here, method):
		return misuse("method %s does not apply to %s: want one of %s", method, command, strings.Join(here, ", "))
	}
	return nil
}

// rnsStats tells what a method of package rns ran with.
type rnsStats struct {
	Precision     int      `json:"precision"`     // bits of the arithmetic
	Moduli        []uint32 `json:"moduli"`        // the base
	Range         int      `json:"range_bits"`    // of the product of the moduli
	UnitRoundoff  string   `json:"unit_roundoff"` // 4/√M
	Blocks        int      `json:"blocks,omitempty"`
	BlockSize     int      `json:"block_size,omitempty"`
	Rounded       int64    `json:"rounded_inputs"` // numbers with too many bits for the base
	NaN           int64    `json:"nan"`            // results
	AbsoluteBound string   `json:"absolute_bound"` // on the error, of vectors in the 1-norm
	RelativeBound string   `json:"relative_bound"`

	formula string
}

// rnsRun is a run of a method of package rns.
type rnsRun struct {
	*rnsChoice
	stats   halfulp.Stats
	own     rnsStats
	start   time.Time
	threads int
}

// rnsRun begins a run.
func (j *job) rnsRun(c *rnsChoice) *rnsRun {
	threads := j.how.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	device := cpuDevice
	if c.gpu != "" {
		device = c.gpu
	}
	r := &rnsRun{rnsChoice: c, start: time.Now(), threads: threads}
	r.stats = halfulp.Stats{Device: device, Method: j.how.Method, Threads: threads, Moduli: c.base.Len()}
	r.own = rnsStats{Precision: c.base.Precision(), Moduli: c.base.Moduli(), Range: c.base.Range().BitLen(), UnitRoundoff: boundText(c.base.UnitRoundoff())}
	o := r.options()
	switch j.how.Method {
	case "rns-hybrid":
		r.own.Blocks, r.own.BlockSize = o.Blocks, o.BlockSize
	case "rns-gemv":
		r.own.BlockSize = o.BlockSize
	}
	j.rns = &r.own
	return r
}

func (r *rnsRun) options() *rns.Options {
	return &rns.Options{Threads: r.threads, Blocks: r.blocks, BlockSize: r.blockSize}
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
	if need, limit := number*float64(x.Len()), float64(halfulp.DefaultMemoryLimit()); need > limit {
		return nil, fmt.Errorf("%d numbers with %d moduli take %.3g GiB, the memory limit is %.3g GiB", x.Len(), r.base.Len(), need/(1<<30), limit/(1<<30))
	}
	z := r.base.VectorOf(x)
	if !r.holds(x.Format()) {
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

// holds reports whether the base has every number of a format.
func (r *rnsRun) holds(f halfulp.Format) bool {
	return (f == halfulp.Float32 || f == halfulp.Float64) && f.Bits() <= r.base.Precision()
}

// farExponent is an exponent beyond which the base may not have a number.
const farExponent = 1 << 29

// count takes notice of a number that is rounded to the base.
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

// boundText is x in two digits, rounded up.
func boundText(x rns.XFloat) string {
	b := x.Big()
	switch {
	case b.IsInf():
		return "none"
	case b.Sign() == 0:
		return "0"
	}
	m := new(big.Float)
	if e := b.MantExp(m); e > 1000 || e < -1000 { // the digits of b would take for ever
		f, _ := m.Float64()
		log := math.Log10(f) + float64(e)*math.Log10(2) // to 1e-6
		whole := math.Floor(log)
		d := math.Ceil(10*math.Pow(10, log-whole)*(1+1e-5)) / 10
		if d >= 10 {
			whole, d = whole+1, d/10
		}
		return fmt.Sprintf("%.1fe%+03.0f", d, whole)
	}
	s := b.Text('e', 1) // d.de±dd, to nearest
	if v, _, err := big.ParseFloat(s, 10, 128, big.ToZero); err == nil && v.Cmp(b) >= 0 {
		return s
	}
	up := new(big.Float).SetPrec(128).SetMode(big.AwayFromZero)
	unit, _, _ := big.ParseFloat("0.1"+s[strings.IndexByte(s, 'e'):], 10, 128, big.AwayFromZero)
	v, _, _ := big.ParseFloat(s, 10, 128, big.ToNearestEven)
	return up.Add(v, unit).Text('e', 1)
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
	r.bound(rns.SumBound(v, z), "(n - 1) u / (1 - (n - 1) u) sum |x_i|")
	return r.scalar(z, j.format), r.stats, j.env.ctx.Err()
}

// sum adds up in the order of the method.
func (r *rnsRun) sum(x *rns.Vector) (*rns.Number, error) {
	if r.gpu != "" {
		d, free, err := r.copyVector(x)
		if err != nil {
			return nil, err
		}
		defer free()
		return r.sumOnGPU(d)
	}
	switch r.stats.Method {
	case "rns-recursive":
		return rns.Reduce1(x), nil
	case "rns-pairwise":
		return rns.Reduce2(x), nil
	}
	return rns.Reduce3(x, r.options()), nil
}

// sumOnGPU is sum for numbers in the memory of the GPU, by the fastest variants.
func (r *rnsRun) sumOnGPU(x *rns.DeviceVector) (*rns.Number, error) {
	switch r.stats.Method {
	case "rns-recursive":
		return rns.DeviceReduce1(x, rns.OverModuli)
	case "rns-pairwise":
		return rns.DeviceReduce2(x, rns.OverAll)
	}
	return rns.DeviceReduce3(x, r.options())
}

// copyVector returns a copy of x in the memory of the GPU.
func (r *rnsRun) copyVector(x *rns.Vector) (d *rns.DeviceVector, free func(), err error) {
	if d, err = x.To(r.gpu); err != nil {
		return nil, nil, err
	}
	a, _, _ := d.Array()
	return d, a.Free, nil
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
	r.bound(rns.DotBound(u, v, z), "n u / (1 - n u) sum |x_i y_i|")
	return r.scalar(z, j.format), r.stats, j.env.ctx.Err()
}

// dot adds the rounded products up in the order of the method.
func (r *rnsRun) dot(x, y *rns.Vector) (*rns.Number, error) {
	n := max(x.Len(), 1)
	if r.gpu == "" {
		products := x.Clone()
		a, _, _ := products.Array()
		rns.GeDiagScale(rns.Left, y, a.Matrix(0, x.Len(), 1, n), r.options())
		return r.sum(products)
	}
	products, freeX, err := r.copyVector(x)
	if err != nil {
		return nil, err
	}
	defer freeX()
	factors, freeY, err := r.copyVector(y)
	if err != nil {
		return nil, err
	}
	defer freeY()
	a, _, _ := products.Array()
	if err := rns.DeviceGeDiagScale(rns.Left, factors, a.Matrix(0, x.Len(), 1, n)); err != nil {
		return nil, err
	}
	return r.sumOnGPU(products)
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
	result, err := r.gemv(rns.Transpose(trans), al, m, v, be, old)
	if err != nil {
		return r.stats, err
	}
	r.stage("product")
	r.bound(rns.GemvBound(rns.Transpose(trans), al, m, v, be, old, result), "(n + 2) u / (1 - (n + 2) u) || |alpha A| |x| + |beta y| ||, in the 1-norm")
	r.stage("bound")
	for i := range z.Len() {
		z.Set(i, r.scalar(result.At(i), j.format))
	}
	return r.stats, j.env.ctx.Err()
}

// gemv returns the product by the method; y stays as it is.
func (r *rnsRun) gemv(trans rns.Transpose, alpha *rns.Number, a *rns.Matrix, x *rns.Vector, beta *rns.Number, y *rns.Vector) (*rns.Vector, error) {
	isBasic := r.stats.Method == "rns-basic"
	if r.gpu == "" {
		z := y.Clone()
		if isBasic {
			rns.GemvBasic(trans, alpha, a, x, beta, z, r.options())
		} else {
			rns.Gemv(trans, alpha, a, x, beta, z, r.options())
		}
		return z, nil
	}
	m, err := a.To(r.gpu)
	if err != nil {
		return nil, err
	}
	stored, _, _ := m.Array()
	defer stored.Free()
	v, freeX, err := r.copyVector(x)
	if err != nil {
		return nil, err
	}
	defer freeX()
	z, freeY, err := r.copyVector(y)
	if err != nil {
		return nil, err
	}
	defer freeY()
	if isBasic {
		err = rns.DeviceGemvBasic(trans, alpha, m, v, beta, z)
	} else {
		err = rns.DeviceGemv(trans, alpha, m, v, beta, z, r.options())
	}
	if err != nil {
		return nil, err
	}
	return z.Vector()
}

// writeRNSStats prints what a method of package rns ran with.
func writeRNSStats(w io.Writer, s *rnsStats) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { fmt.Fprintf(t, "%s\t%v\n", name, value) }
	low, high := slices.Min(s.Moduli), slices.Max(s.Moduli)
	row("base", fmt.Sprintf("%d moduli from %d to %d, M of %d bits", len(s.Moduli), low, high, s.Range))
	row("precision", fmt.Sprintf("%d bits, unit roundoff u < %s", s.Precision, s.UnitRoundoff))
	switch {
	case s.Blocks > 0:
		row("order of additions", fmt.Sprintf("%d blocks of %d threads", s.Blocks, s.BlockSize))
	case s.BlockSize > 0:
		row("order of additions", fmt.Sprintf("blocks of %d threads", s.BlockSize))
	}
	row("inputs rounded to the base", s.Rounded)
	row("error bound of the arithmetic", fmt.Sprintf("%s (%s)", s.AbsoluteBound, s.formula))
	row("relative error bound of it", s.RelativeBound)
	return t.Flush()
}
