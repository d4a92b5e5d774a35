package reproduce

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/rns"
)

// GemvN is the order of the matrix of the paper.
const GemvN = 1000

// The tables of a GEMV report.
const (
	tableGemv   = "table 5"
	tableStages = "table 3"
	tableBounds = "formulas 18 and 19"
)

const (
	share      = "share of the time"
	boundOf    = "bound of the relative error"
	transposed = ", transposed"

	algorithm1 = "algorithm 1"
	basic      = "basic implementation"
	exactGemv  = "halfulp.Gemv"

	quarter = "p/4-bit inputs"
	whole   = "p-bit inputs"
)

// stageBits is the precision of table 3.
const stageBits = 424

// paperGPU is what table 5 of the paper was measured on.
const paperGPU = "GTX 1080, paper"

// paperGemv is table 5 of 001: ms at 106, 212, 424, 848 and 1696 bits.
var paperGemv = []struct {
	method string
	ms     [5]float64
}{
	{algorithm1, [5]float64{3.1, 5.6, 8.5, 12.9, 24.6}},
	{algorithm1 + transposed, [5]float64{2.9, 4.6, 7.1, 11.2, 19.4}},
	{basic, [5]float64{12.1, 22.8, 42.4, 75.5, 150.6}},
	{"CUMP", [5]float64{20.1, 20.8, 26.8, 56.8, 154.0}},
	{"CAMPARY", [5]float64{0.7, 6.0, 26.3, 124.4, 2499.9}},
	{"GARPREC", [5]float64{26.5, 37.4, 70.2, 206.0, 689.1}},
}

// paperKernels is table 4 of 001, at stageBits bits.
var paperKernels = []struct {
	name      string
	occupancy float64
}{
	{"mp_mat2vec_right_scal_digits", 95.5},
	{"mp_matrix_row_sum", 26.8},
}

// gemvMethod is a matrix-vector product of package rns on a device.
type gemvMethod struct {
	name  string
	trans bool
	// load brings the operands to the device.
	load func(e *experiment, d *gemvData, trans bool) (*gemvRun, error)
}

// gemvRun is a product whose operands are where it runs.
type gemvRun struct {
	reset  func() // y is again what it was
	run    func() error
	result func() (*rns.Vector, error)
	free   func()
}

var cpuGemvs = []gemvMethod{
	{algorithm1, false, gemvOnCPU(rns.Gemv)},
	{algorithm1 + transposed, true, gemvOnCPU(rns.Gemv)},
	{basic, false, gemvOnCPU(rns.GemvBasic)},
	{basic + transposed, true, gemvOnCPU(rns.GemvBasic)},
}

// gemvOnCPU makes load of a function.
func gemvOnCPU(f func(rns.Transpose, *rns.Number, *rns.Matrix, *rns.Vector, *rns.Number, *rns.Vector, *rns.Options)) func(*experiment, *gemvData, bool) (*gemvRun, error) {
	return func(e *experiment, d *gemvData, trans bool) (*gemvRun, error) {
		var z *rns.Vector
		return &gemvRun{
			reset: func() { z = d.yr.Clone() },
			run: func() error {
				f(rns.Transpose(trans), d.al, d.ar, d.xr, d.be, z, &rns.Options{Threads: e.Threads})
				return nil
			},
			result: func() (*rns.Vector, error) { return z, nil },
			free:   func() {},
		}, nil
	}
}

// GemvTime is about how long Gemv takes for order n on two processors.
func GemvTime(n int) time.Duration {
	k := float64(n) / GemvN
	return time.Second + time.Duration(k*k*95*float64(time.Second))
}

// Gemv runs the experiments of 001: y = α A x + β y of order o.N by algorithm 1 and by the
// basic implementation, numbers uniform in [-1, 1] (table 5), the shares of the stages of
// algorithm 1 (table 3), and the error beside its bounds (18) and (19). Inputs have
// significands of a quarter of the precision, as those of the authors' own test, which
// cause few roundings, and of the whole precision.
func Gemv(o Options) (*Report, error) {
	if o.N == 0 {
		o.N = GemvN
	}
	bits := rns.GemvPrecisions
	most, err := rns.GemvBase(bits[len(bits)-1])
	if err != nil {
		return nil, err
	}
	// The matrix twice, and once more for the exact engine.
	if err := o.fits(float64(o.N) * float64(o.N) * (numberBytes(most) + 2*float64(bits[len(bits)-1]/8))); err != nil {
		return nil, err
	}
	e, err := o.start(len(bits)*2*(1+len(cpuGemvs)+2)+1, len(bits)*2*len(gpuGemvs(rns.Options{})))
	if err != nil {
		return nil, err
	}
	r := &Report{
		Name:    "mpres-gemv",
		Source:  "K. Isupov, V. Knyazkov, Multiple-precision matrix-vector multiplication on graphics processing units, 2020",
		Command: o.Command, Machine: o.Machine, Time: time.Now().UTC().Format(time.RFC3339), N: o.N, GPU: e.gpuTitle(),
	}
	for _, k := range paperGemv {
		for i, p := range bits {
			r.add(Record{Table: tableGemv, Method: k.method, Device: paperGPU, Bits: p, Quantity: timeOfRun, Unit: "ms", Paper: known(k.ms[i])})
		}
	}
	if e.gpu != nil {
		for _, k := range paperKernels {
			r.add(Record{
				Table: tableKernels, Method: k.name + ", occupancy, " + paperGPU, Device: paperGPU, Bits: stageBits,
				Quantity: occupancy, Unit: "%", Paper: known(k.occupancy),
			})
		}
	}
	for _, inputs := range []string{quarter, whole} {
		for _, p := range bits {
			d, err := e.gemvData(inputs, p)
			if err != nil {
				return nil, err
			}
			if err := e.gemvTimes(r, d); err != nil {
				return nil, err
			}
			if inputs == quarter && p == stageBits {
				if err := e.stages(r, d); err != nil {
					return nil, err
				}
			}
		}
	}
	r.gemvTexts()
	r.gemvPlots()
	r.Notes = gemvNotes(r.GPU)
	return r, nil
}

// gemvData are the operands of a product, in binary and in RNS.
type gemvData struct {
	inputs string
	bits   int

	alpha, beta halfulp.Scalar
	a           *halfulp.Matrix
	x, y        *halfulp.Vector

	b        *rns.Base
	al, be   *rns.Number
	ar       *rns.Matrix
	xr, yr   *rns.Vector
	residues string
}

func (e *experiment) gemvData(inputs string, p int) (*gemvData, error) {
	if err := e.next(); err != nil {
		return nil, err
	}
	loop := loops()[0]
	b, err := loop.base(rns.GemvBase, p)
	if err != nil {
		return nil, err
	}
	q := p
	if inputs == quarter {
		q = p / 4
	}
	f := halfulp.MP(uint(q))
	factors := halfulp.Random(f, 2, 1, 0, 4)
	d := &gemvData{
		inputs: inputs, bits: p, alpha: factors.At(0, 0), beta: factors.At(1, 0),
		a: halfulp.Random(f, e.N, e.N, 0, 1), x: halfulp.Random(f, e.N, 1, 0, 2).Col(0), y: halfulp.Random(f, e.N, 1, 0, 3).Col(0),
		b: b, residues: loop.name,
	}
	d.al, d.be = b.NewNumber().SetScalar(d.alpha), b.NewNumber().SetScalar(d.beta)
	d.ar, d.xr, d.yr = b.MatrixOf(d.a), b.VectorOf(d.x), b.VectorOf(d.y)
	return d, e.Context.Err()
}

// record returns a record of the product.
func (d *gemvData) record(table, method, quantity string, here float64) Record {
	return Record{Table: table, Case: d.inputs, Method: method, Device: cpuDevice, Bits: d.bits, Quantity: quantity, Here: &here}
}

// errorRecord returns a record of an error or bound. It is text as well, as float64 has no
// 1e-500; the number is then left out.
func (d *gemvData) errorRecord(method, quantity string, x *big.Float) Record {
	f, _ := x.Float64()
	k := d.record(tableBounds, method, quantity, f)
	k.HereText = errorText(x)
	if f == 0 && x.Sign() != 0 {
		k.Here = nil
	}
	return k
}

func (e *experiment) gemvTimes(r *Report, d *gemvData) error {
	exact, err := e.exactGemv(r, d)
	if err != nil {
		return err
	}
	results := map[string]*rns.Vector{}
	for _, m := range cpuGemvs {
		if err := e.next(); err != nil {
			return err
		}
		z, ms, runs, err := e.gemvTime(m, d)
		if err != nil {
			return err
		}
		results[m.name] = z
		k := d.record(tableGemv, m.name, timeOfRun, ms)
		k.Residues, k.Moduli, k.Unit, k.Runs = d.residues, d.b.Len(), "ms", runs
		r.add(k)

		got := make([]*big.Float, z.Len())
		for i := range got {
			if got[i], err = z.At(i).Big(); err != nil {
				return err
			}
		}
		bound := rns.GemvBound(rns.Transpose(m.trans), d.al, d.ar, d.xr, d.be, d.yr, z)
		for _, q := range []Record{
			d.errorRecord(m.name, relativeError, normError(got, exact[m.trans])),
			d.errorRecord(m.name, boundOf, bound.Relative.Big()),
		} {
			q.Moduli = d.b.Len()
			r.add(q)
		}
	}
	if e.gpu == nil {
		return nil
	}
	return e.gpuGemvTimes(r, d, results)
}

// gemvTime measures a product of operands that are on its device, and returns the result.
func (e *experiment) gemvTime(m gemvMethod, d *gemvData) (z *rns.Vector, ms float64, runs int, err error) {
	product, err := m.load(e, d, m.trans)
	if err != nil {
		return nil, 0, 0, err
	}
	defer product.free()
	if ms, runs, err = e.measure(product.reset, product.run); err != nil {
		return nil, 0, 0, err
	}
	z, err = product.result()
	return z, ms, runs, err
}

// exactGemv measures the exact engine, and returns results in more bits than any other
// has, by transposition.
func (e *experiment) exactGemv(r *Report, d *gemvData) (map[bool][]*big.Float, error) {
	opt := &halfulp.Options{Device: cpuDevice, Threads: e.Threads, Context: e.Context}
	exact := map[bool][]*big.Float{}
	for _, trans := range []bool{false, true} {
		name, t := exactGemv, halfulp.NoTrans
		if trans {
			name, t = exactGemv+transposed, halfulp.Trans
		}
		if err := e.next(); err != nil {
			return nil, err
		}
		product := func(z *halfulp.Vector) error {
			_, err := halfulp.GemvTo(t, d.alpha, d.a, d.x, d.beta, d.y, z, opt)
			return err
		}
		const guard = 64
		long := halfulp.NewVector(halfulp.MP(uint(d.bits+guard)), e.N)
		if err := product(long); err != nil {
			return nil, err
		}
		z := halfulp.NewVector(halfulp.MP(uint(d.bits)), e.N)
		ms, runs, err := e.measure(nil, func() error { return product(z) })
		if err != nil {
			return nil, err
		}
		k := d.record(tableGemv, name, timeOfRun, ms)
		k.Unit, k.Runs = "ms", runs
		got := make([]*big.Float, e.N)
		exact[trans] = make([]*big.Float, e.N)
		for i := range got {
			got[i], exact[trans][i] = z.Big(i), long.Big(i)
		}
		r.add(k, d.errorRecord(name, relativeError, normError(got, exact[trans])))
	}
	return exact, nil
}

// normError returns ‖got - exact‖ / ‖exact‖ in the 1-norm, 0 for an exact result.
func normError(got, exact []*big.Float) *big.Float {
	sum := func() *big.Float { return new(big.Float).SetPrec(exactBits) }
	diff, norm := sum(), sum()
	for i, x := range exact {
		d := sum().Sub(got[i], x)
		diff.Add(diff, d.Abs(d))
		norm.Add(norm, sum().Abs(x))
	}
	if diff.Sign() == 0 {
		return diff
	}
	return diff.Quo(diff, norm)
}

// stages runs the stages of algorithm 1 one by one, which gives the bits of rns.Gemv.
func (e *experiment) stages(r *Report, d *gemvData) error {
	if err := e.next(); err != nil {
		return err
	}
	want := d.yr.Clone()
	o := &rns.Options{Threads: e.Threads}
	rns.Gemv(rns.NoTrans, d.al, d.ar, d.xr, d.be, want, o)

	scaled, factors := d.yr, d.xr
	product := d.ar
	z := d.yr
	var times [3]float64
	for i, s := range []struct {
		prepare func()
		run     func() error
	}{
		{
			func() { factors, scaled = d.xr.Clone(), d.yr.Clone() },
			func() error {
				rns.Scal(d.al, factors, o)
				rns.Scal(d.be, scaled, o)
				return nil
			},
		},
		{
			func() { product = cloneMatrix(d.ar) },
			func() error {
				rns.GeDiagScale(rns.Right, factors, product, o)
				return nil
			},
		},
		{
			func() { z = scaled.Clone() },
			func() error {
				return par.For(e.Context, e.Threads, e.N, func(_, i int) {
					sum := rns.Reduce3(product.Row(i), &rns.Options{Threads: 1, Blocks: 1})
					z.Set(i, sum.Add(sum, z.At(i)))
				})
			},
		},
	} {
		ms, _, err := e.measure(s.prepare, s.run)
		if err != nil {
			return err
		}
		times[i] = ms
	}
	if !z.Same(want) {
		return fmt.Errorf("the stages of algorithm 1 give other bits than rns.Gemv")
	}
	total := times[0] + times[1] + times[2]
	for i, s := range []struct {
		name  string
		paper float64
	}{
		{"d = α x, β y (vec2scal_mul_esi, _digits)", 0.2 + 0.1},
		{"B = A diag(d) (mat2vec_right_scal_esi, _digits, vector_round)", 5.6 + 20.8 + 1.7},
		{"row sums + β y (matrix_row_sum)", 71.5},
	} {
		k := d.record(tableStages, s.name, share, 100*times[i]/total)
		k.Moduli, k.Residues, k.Unit, k.Paper = d.b.Len(), d.residues, "%", known(s.paper)
		r.add(k)
	}
	return nil
}

func cloneMatrix(m *rns.Matrix) *rns.Matrix {
	rows, cols := m.Dims()
	from, _, _ := m.Array() // without gaps, as MatrixOf makes it
	z := m.Base().NewMatrix(rows, cols)
	to, _, _ := z.Array()
	copy(to.Digits, from.Digits)
	copy(to.Sign, from.Sign)
	copy(to.Exp, from.Exp)
	copy(to.Eval, from.Eval)
	return z
}

func (r *Report) gemvTexts() {
	bits := rns.GemvPrecisions
	times := textTable{
		title:  fmt.Sprintf("Table 5: ms for y = α A x + β y, M = N = %d, numbers uniform in [-1, 1]; here the fastest of 1 to %d runs (paper: M = N = 1000)", r.N, maxRuns),
		header: []string{"method", "inputs", "device", "residues"},
	}
	for _, p := range bits {
		times.header = append(times.header, fmt.Sprintf("%d bits", p))
	}
	at := map[[4]string]int{}
	for _, k := range r.find(tableGemv) {
		key := [4]string{k.Method, k.Case, k.Device, k.Residues}
		i, ok := at[key]
		if !ok {
			i = len(times.rows)
			at[key] = i
			times.rows = append(times.rows, append(key[:], make([]string, len(bits))...))
		}
		for j, p := range bits {
			if p != k.Bits {
				continue
			}
			if times.rows[i][len(key)+j] = k.time(); k.Here == nil {
				times.rows[i][len(key)+j] = short(k.Paper)
			}
		}
	}
	stages := textTable{
		title:  fmt.Sprintf("Table 3: shares of the stages of algorithm 1 at %d bits, %s, %%", stageBits, quarter),
		header: []string{"stage (kernels of the paper)", "cpu, here", paperGPU},
	}
	for _, k := range r.find(tableStages) {
		stages.rows = append(stages.rows, []string{k.Method, short(k.Here), short(k.Paper)})
	}
	bounds := textTable{
		title:  "Formula (19): ‖y* - ŷ‖ / ‖y*‖ in the 1-norm, measured / bound (none for the correctly rounded product)",
		header: []string{"method", "inputs"},
	}
	for _, p := range bits {
		bounds.header = append(bounds.header, fmt.Sprintf("%d bits", p))
	}
	records := r.find(tableBounds)
	seen := map[[2]string]bool{}
	for _, k := range records {
		key := [2]string{k.Method, k.Case}
		if seen[key] {
			continue
		}
		seen[key] = true
		row := key[:]
		for _, p := range bits {
			var cell []string
			for _, l := range records {
				if l.Method == k.Method && l.Case == k.Case && l.Bits == p {
					cell = append(cell, l.HereText)
				}
			}
			row = append(row, strings.Join(cell, " / "))
		}
		bounds.rows = append(bounds.rows, row)
	}
	r.text = append([]textTable{times, stages, bounds}, r.kernelText(bits)...)
}

func (r *Report) gemvPlots() {
	f := figure{
		name: r.Name, yLabel: "ms",
		title: fmt.Sprintf("y = α A x + β y: here, on the CPU%s, M = N = %d; in the paper, on a GTX 1080, M = N = 1000", andGPU(r.GPU), r.N),
	}
	records := r.find(tableGemv)
	for _, inputs := range []string{quarter, whole} {
		p := panel{title: "here: " + inputs}
		cpu := func(name, method string, style int) {
			p.lines = append(p.lines, curve(name, style, records, false, func(k Record) bool {
				return k.Method == method && k.Case == inputs && k.Device == cpuDevice
			}))
		}
		for i, method := range []string{algorithm1, algorithm1 + transposed, basic, exactGemv, exactGemv + transposed} {
			cpu(method+", here", method, i)
		}
		cpu(basic+transposed+", here", basic+transposed, len(colours)-1)
		for i, m := range paperGemv {
			style := i
			if i > 2 {
				style += 2
			}
			name := m.method + ", paper"
			p.lines = append(p.lines, curve(name, style, records, true, func(k Record) bool { return k.Method == m.method }))
		}
		f.panels = append(f.panels, p)
	}
	for _, inputs := range []string{quarter, whole} {
		if r.GPU == "" {
			break
		}
		p := panel{title: "here, on the GPU: " + inputs}
		for i, m := range gpuGemvs(rns.Options{}) {
			style := i
			if i == 4 { // that of the exact engine
				style = len(colours) - 1
			}
			p.lines = append(p.lines, curve(m.name+", here", style, records, false, func(k Record) bool {
				return k.Method == m.name && k.Case == inputs && k.Device == r.GPU
			}))
		}
		f.panels = append(f.panels, p)
	}
	r.plots = []figure{f}
}

// gemvNotes are the notes of a report with the rows of a GPU, "" for none.
func gemvNotes(gpu string) []string {
	notes := []string{
		"Inputs of p/4 bits are what the authors' own test feeds, \"such that too many roundings were not required\": products and sums then fit the base, but for a few at 106 bits. Inputs of p bits have full significands, and nearly every operation rounds.",
		"Times are of the product alone: neither the making of the data nor their conversion to RNS counts.",
		"CUMP, CAMPARY and GARPREC stand as the paper has them: its GPU programs are not run here.",
		"halfulp.Gemv is the exact engine: every entry is the exact value rounded once, so its error is below 2^-p whatever the cancellation.",
		"Table 3: the paper has three kernels for B, of 5.6, 20.8 and 1.7 %; on the CPU a product with its evaluation and rounding is one step. Here the stages ran one by one, B in memory as in the paper, and gave bit for bit the y of rns.Gemv, which keeps B in no memory.",
		"The bound is (19) with ‖ŷ‖ - (18) in place of ‖y*‖, which a user does not know. It assumes the worst in all N + 2 roundings of an addend, with u = 4/√M; to nearest and in blocks, errors are far smaller.",
	}
	if gpu == "" {
		return append(notes, "The paper's figures are of a GPU, those here of a CPU: no GPU figure is measured.")
	}
	return append(notes, "Kernels: dot makes the products and adds them, a thread of the papers' blocks being some lanes of a warp; tree adds up the sums of threads; map is α x and β y. The paper's two rows are its table 4, of kernels that are not here: B is never stored. Occupancy here is what registers and shared memory leave room for.",
		"Tuned: with the blocks with which this GPU is fastest, another order of additions; rns.TuneGemv found them, here or before, and remembers them.",
		"Rows of "+gpu+": operands are in its memory; a time is from the call to the end of its kernels, as the host sees it, with four launches in place of the ten of algorithm 1 (B is never stored). Each result had the bits of the CPU's of the same name, so the errors and bounds above are the GPU's, too.")
}
