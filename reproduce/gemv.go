package reproduce

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/rns"
)

// GemvN is the order of the matrix of the paper.
const GemvN = 1000

// The tables of a GEMV report.
const (
	tableGemv      = "table 5"
	tableStages    = "table 3"
	tableMetrics   = "table 4"
	tableBounds    = "formulas 18 and 19"
	tableAlgorithm = "algorithm 1"
	tableLayout    = "table 2"
	tableFigure1   = "figure 1"
	tableFigure2   = "figure 2"
	tableRoundoff  = "formula 6"
	tableMinBS     = "formula 8"
	tablePeak      = "formula 20"
)

const launchesOf = "launches"

const (
	share      = "share of the time"
	boundOf    = "bound of the relative error"
	ofBound    = "relative error / its bound"
	transposed = ", transposed"

	algorithm1 = "algorithm 1"        // as published, B in memory
	fused      = "algorithm 1, fused" // ours
	basic      = "basic implementation"
	exactGemv  = "halfulp.Gemv"

	quarter = "p/4-bit inputs"
	whole   = "p-bit inputs"
)

// stageBits is the precision of tables 3 and 4.
const stageBits = 424

// paperGPU is the device of the paper's tables.
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

// The kernels of the paper.
const (
	digitsKernel = "mp_mat2vec_right_scal_digits"
	rowSumKernel = "mp_matrix_row_sum"
)

// paperStages is table 3 of 001, in % at stageBits bits; steps are the steps of rns.Gemv as
// published, by index.
var paperStages = []struct {
	kernel  string
	percent float64
	steps   []int
}{
	{"mp_vec2scal_mul_esi", 0.2, []int{0, 3}},
	{"mp_vec2scal_mul_digits", 0.1, []int{1, 4}},
	{"mp_mat2vec_right_scal_esi", 5.6, []int{6}},
	{digitsKernel, 20.8, []int{7}},
	{"mp_vector_round", 1.7, []int{2, 5, 8}},
	{rowSumKernel, 71.5, []int{9}},
}

// launches is the paper's number of launches.
const launches = 10

// paperKernels is table 4 of 001, at stageBits bits.
var paperKernels = []struct {
	name                             string
	occupancy, divergence, bandwidth float64 // %, %, GB/s
}{
	{digitsKernel, 95.5, 0, 163.3},
	{rowSumKernel, 26.8, 66.8, 49.9},
}

// gemvMethod is a matrix-vector product of package rns.
type gemvMethod struct {
	name    string
	trans   bool
	product func(halfulp.Transpose, *rns.Number, *rns.Matrix, *rns.Vector, *rns.Number, *rns.Vector, *rns.Options) error
	how     rns.Options // blocks and variant
}

// gemvs returns the products, each with its transpose: as published, and ours with the default
// blocks.
func gemvs() []gemvMethod {
	published := rns.Options{Variant: rns.Published}
	return []gemvMethod{
		{algorithm1, false, rns.Gemv, published},
		{algorithm1 + transposed, true, rns.Gemv, published},
		{fused, false, rns.Gemv, rns.Options{}},
		{fused + transposed, true, rns.Gemv, rns.Options{}},
		{basic, false, rns.GemvBasic, published},
		{basic + transposed, true, rns.GemvBasic, published},
	}
}

// Gemv runs the experiments of 001. y = α A x + β y of order o.N is computed by algorithm 1 as
// published, by our form of it and by the basic implementation, with numbers uniform in [-1, 1]
// (table 5). The report also has the shares of the kernels of algorithm 1 and their use of a GPU
// (tables 3 and 4), and the error with its bounds (18) and (19). Inputs have significands of a
// quarter of the precision, as in the authors' own test, which cause few roundings, and of the
// whole precision.
func Gemv(o Options) (*Report, error) {
	if o.N == 0 {
		o.N = GemvN
	}
	bits := rns.GemvPrecisions
	most, err := rns.GemvBase(bits[len(bits)-1])
	if err != nil {
		return nil, err
	}
	// The matrix in binary and in RNS, and B.
	if err := o.fits(float64(o.N) * float64(o.N) * (2*numberBytes(most) + 2*float64(bits[len(bits)-1]/8))); err != nil {
		return nil, err
	}
	e, err := o.start(gemvPlan(o.N))
	if err != nil {
		return nil, err
	}
	r := &Report{
		Name:    gemvName,
		Source:  "K. Isupov, V. Knyazkov, Multiple-precision matrix-vector multiplication on graphics processing units, 2020",
		Command: o.Command, Machine: o.Machine, Time: time.Now().UTC().Format(time.RFC3339), N: o.N, GPU: e.gpuTitle(),
	}
	for _, k := range paperGemv {
		for i, p := range bits {
			r.add(Record{Table: tableGemv, Method: k.method, Device: paperGPU, Bits: p, Quantity: timeOfRun, Unit: "ms", Paper: known(k.ms[i])})
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
		}
	}
	r.Notes = gemvNotes(r.GPU)
	r.Claim = gemvClaim
	r.gemvFindings()
	e.finish(r)
	return r, r.layOut()
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
	factors := gallery.Random(f, 2, 1, 0, 4)
	d := &gemvData{
		inputs: inputs, bits: p, alpha: factors.At(0, 0), beta: factors.At(1, 0),
		a: gallery.Random(f, e.N, e.N, 0, 1), x: gallery.Random(f, e.N, 1, 0, 2).Col(0), y: gallery.Random(f, e.N, 1, 0, 3).Col(0),
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

// errorRecord returns a record of an error or bound. It has a text as well, since float64 has no
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

// operands of a product, on the host or on a GPU.
type operands struct {
	a       *rns.Matrix
	x, y    *rns.Vector
	startY  *rns.Vector // y before, there
	atGPU   bool
	release []func()
}

func (o *operands) free() {
	for _, f := range o.release {
		f()
	}
}

// on returns the operands of d on the GPU.
func (d *gemvData) on(dev halfulp.Device) (*operands, error) {
	o := &operands{atGPU: true}
	var err error
	if o.a, err = d.ar.On(dev); err != nil {
		return nil, err
	}
	o.release = append(o.release, o.a.Free)
	for _, v := range []struct {
		to   **rns.Vector
		from *rns.Vector
	}{{&o.x, d.xr}, {&o.y, d.yr}, {&o.startY, d.yr}} {
		if *v.to, err = v.from.On(dev); err != nil {
			o.free()
			return nil, err
		}
		o.release = append(o.release, (*v.to).Free)
	}
	return o, nil
}

// run is a product that was measured.
type gemvRun struct {
	ms     float64 // the fastest
	runs   int
	stages []halfulp.Stage // of the fastest
	z      *rns.Vector
}

// gemvTimes measures all products of the data.
func (e *experiment) gemvTimes(r *Report, d *gemvData) error {
	exact, err := e.exactGemv(r, d)
	if err != nil {
		return err
	}
	host := &operands{a: d.ar, x: d.xr, y: d.yr.Clone(), startY: d.yr}
	results, bounds := map[string]*rns.Vector{}, map[string][2]*big.Float{}
	for _, m := range gemvs() {
		if err := e.next(); err != nil {
			return err
		}
		runs, err := e.gemvRuns(d, host, m)
		if err != nil {
			return err
		}
		k := runs[0]
		r.addGemv(d, m, cpuDevice, k)
		results[m.name] = k.z
		published := strings.Replace(m.name, fused, algorithm1, 1)
		switch {
		case published == m.name:
			if bounds[m.name], err = d.errors(e.Context, m, k.z, exact[m.trans]); err != nil {
				return err
			}
		case k.z.Same(results[published]):
			bounds[m.name] = bounds[published]
		default:
			return fmt.Errorf("%s, %s, %d bits: other bits than as published", m.name, d.inputs, d.bits)
		}
		r.addErrors(d, m, bounds[m.name])
		if m.name == algorithm1 && d.stagesBelong() {
			r.addStages(d, cpuDevice, k)
			r.addMetric(d, cpuDevice, digitsKernel, 1, 100*digitDivergence(e.N, d.b.Len(), paperDigitBlock))
			r.addMetric(d, cpuDevice, rowSumKernel, 1, 100*d.sumDivergence(rns.DefaultBlockSize))
		}
	}
	if err := r.addChecks(d); err != nil {
		return err
	}
	if e.gpu == nil {
		return nil
	}
	return e.gpuGemvTimes(r, d, results)
}

// stagesBelong reports whether tables 3 and 4 have such data.
func (d *gemvData) stagesBelong() bool { return d.inputs == quarter && d.bits == stageBits }

// gemvRuns measures products of the same operands in turn. The time is from the call to its end as
// the host measures it. For products as published it is the sum of the steps, without copies to the
// paper's layout.
func (e *experiment) gemvRuns(d *gemvData, o *operands, list ...gemvMethod) ([]gemvRun, error) {
	best := make([]gemvRun, len(list))
	var sum time.Duration
	for runs := 1; runs <= maxRuns; runs++ {
		for i, m := range list {
			if err := e.Context.Err(); err != nil {
				return nil, err
			}
			if err := o.y.CopyFrom(o.startY); err != nil {
				return nil, err
			}
			how := e.rnsOptions()
			how.BlockSize, how.Variant = m.how.BlockSize, m.how.Variant
			var st halfulp.Stats
			how.Stats = &st
			start := time.Now()
			err := m.product(transpose(m.trans), d.al, o.a, o.x, d.be, o.y, how)
			t := time.Since(start)
			if err != nil {
				return nil, fmt.Errorf("%s, %s, %d bits: %w", m.name, d.inputs, d.bits, err)
			}
			sum += t
			if n := len(st.Stages) - 1; n > 0 { // the last stage is the copies
				t = 0
				for _, s := range st.Stages[:n] {
					t += s.Time
				}
			}
			if ms := float64(t) / float64(time.Millisecond); runs == 1 || ms < best[i].ms {
				best[i].ms, best[i].stages = ms, st.Stages
			}
			best[i].runs = runs
			if best[i].z != nil {
				continue
			}
			if best[i].z, err = o.y.Host(); err != nil {
				return nil, err
			}
		}
		if share := sum / time.Duration(len(list)); share >= long || share >= enough && runs >= minRuns {
			break
		}
	}
	return best, nil
}

// addGemv records the time of a product.
func (r *Report) addGemv(d *gemvData, m gemvMethod, device string, run gemvRun) {
	k := d.record(tableGemv, m.name, timeOfRun, run.ms)
	k.Device, k.Moduli, k.Unit, k.Runs, k.BlockSize = device, d.b.Len(), "ms", run.runs, m.how.BlockSize
	if device == cpuDevice {
		k.Residues = d.residues
	}
	r.add(k)
}

// errors returns the relative error of a result and its bound.
func (d *gemvData) errors(ctx context.Context, m gemvMethod, z *rns.Vector, exact []*big.Float) (list [2]*big.Float, err error) {
	got := make([]*big.Float, z.Len())
	for i := range got {
		if got[i], err = z.At(i).Big(); err != nil {
			return list, err
		}
	}
	bound, err := rns.GemvBound(ctx, transpose(m.trans), d.al, d.ar, d.xr, d.be, d.yr, z)
	return [2]*big.Float{normError(got, exact), bound.Relative.Big()}, err
}

// addErrors records the error of a result and its bound.
func (r *Report) addErrors(d *gemvData, m gemvMethod, list [2]*big.Float) {
	share, _ := new(big.Float).Quo(list[0], list[1]).Float64()
	for _, q := range []Record{
		d.errorRecord(m.name, relativeError, list[0]),
		d.errorRecord(m.name, boundOf, list[1]),
		d.record(tableBounds, m.name, ofBound, share),
	} {
		q.Moduli = d.b.Len()
		r.add(q)
	}
}

// addStages records the steps of a run of algorithm 1 as published, by the kernels of table 3.
func (r *Report) addStages(d *gemvData, device string, run gemvRun) {
	total := 0.0
	for _, s := range run.stages[:launches] {
		total += float64(s.Time)
	}
	for _, s := range paperStages {
		t := 0.0
		for _, i := range s.steps {
			t += float64(run.stages[i].Time)
		}
		part := d.record(tableStages, s.kernel, share, 100*t/max(total, 1))
		part.Unit, part.Paper = "%", known(s.percent)
		ms := d.record(tableStages, s.kernel, timeOfRun, t/float64(time.Millisecond))
		ms.Unit = "ms"
		for _, k := range []Record{part, ms} {
			k.Device, k.Moduli, k.Runs = device, d.b.Len(), run.runs
			if device == cpuDevice {
				k.Residues = d.residues
			}
			r.add(k)
		}
	}
	k := d.record(tableAlgorithm, algorithm1, launchesOf, float64(len(run.stages)-1))
	k.Device = device
	r.add(k)
}

// transpose is Trans if trans is set.
func transpose(trans bool) halfulp.Transpose {
	if trans {
		return halfulp.Trans
	}
	return halfulp.NoTrans
}

// exactGemv measures the exact engine, and returns results with more bits than any other result, by
// transposition.
func (e *experiment) exactGemv(r *Report, d *gemvData) (map[bool][]*big.Float, error) {
	opt := &halfulp.Options{Device: cpuDevice, Threads: e.Threads, Context: e.Context}
	exact := map[bool][]*big.Float{}
	for _, trans := range []bool{false, true} {
		name := exactGemv
		if trans {
			name += transposed
		}
		if err := e.next(); err != nil {
			return nil, err
		}
		product := func(z *halfulp.Vector) error {
			return halfulp.GemvTo(transpose(trans), d.alpha, d.a, d.x, d.beta, d.y, z, opt)
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
		if e.gpu == nil {
			continue
		}
		if err := e.next(); err != nil {
			return nil, err
		}
		if err := e.exactGPU(r, d, name, trans, got); err != nil {
			return nil, err
		}
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
