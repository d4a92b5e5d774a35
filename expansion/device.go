package expansion

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// Stages of runs.
const (
	stageTo      = "to the device"
	stageCompute = "compute"
	stageProduct = "product"
	stageSum     = "sum"
	stageSolve   = "elimination"
	stageFrom    = "from the device"
	stageScale   = "scaling"
	stageError   = "residual"
)

// A deviceRun is a run at its place. Operands of the host are copied there and back. Operands that
// live there are used directly; only those that overlap the result or have fewer words are copied.
type deviceRun struct {
	*run
	place.Expansions
	format num.Format // of all numbers there
	taken  int64      // bytes beside operands that live there
	free   []func()
}

// arrive returns r as a run at its place.
func (r *run) arrive(f num.Format) *deviceRun {
	return &deviceRun{run: r, Expansions: place.Provided[place.Expansions](), format: f}
}

// close releases the memory that the run has taken.
func (d *deviceRun) close() {
	for _, f := range d.free {
		f()
	}
}

func (d *deviceRun) config() place.Config {
	return place.Config{Run: d.Run, Method: string(d.stats.Method), Limit: d.limit}
}

// matrix returns a rows x cols matrix of +0 at the run's place.
func (d *deviceRun) matrix(rows, cols int) (num.Mat, error) {
	a, err := d.at.New(d.Ctx, d.format, rows, cols)
	if err != nil {
		return num.Mat{}, err
	}
	d.free = append(d.free, a.Away.Free)
	return num.Mat{Arr: a, RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}, nil
}

// take counts the memory for a copy, of so many numbers, of an operand that lives at the run's
// place.
func (d *deviceRun) take(numbers int) error {
	d.taken += int64(numbers) * num.SizeOf(d.format)
	return d.room(d.taken)
}

// operand returns m in the format of the run at its place.
func (d *deviceRun) operand(m num.Mat) (num.Mat, error) {
	if d.resident && m.Arr.Format == d.format {
		return m, nil
	}
	if d.resident {
		if err := d.take(m.Rows * m.Cols); err != nil {
			return m, err
		}
	}
	z, err := d.matrix(m.Rows, m.Cols)
	if err != nil {
		return z, err
	}
	switch {
	case !d.resident:
		err = d.at.Set(d.Ctx, z, widened(m, d.format))
	case m.Arr.Kind == num.F32: // no kernel of devices converts it
		var h num.Mat
		if h, err = d.at.Get(d.Ctx, m); err == nil {
			err = d.at.Set(d.Ctx, z, widened(h, d.format))
		}
	default:
		err = d.Widen(d.at, d.config(), m, z)
	}
	return z, err
}

// widened returns m, of the host, in a format that holds its entries exactly.
func widened(m num.Mat, f num.Format) num.Mat {
	if m.Arr.Format == f {
		return m
	}
	z := num.Mat{Arr: num.New(f, m.Rows*m.Cols), RS: 1, CS: m.Rows, Rows: m.Rows, Cols: m.Cols}
	for j := range m.Cols {
		for i := range m.Rows {
			z.Arr.Convert(z.At(i, j), m.Arr, m.At(i, j))
		}
	}
	return z
}

// operands copies several operands to the run's place.
func (d *deviceRun) operands(list ...num.Mat) ([]num.Mat, error) {
	var all []num.Mat
	for _, m := range list {
		x, err := d.operand(m)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// output returns the matrix in which the result z is computed; old reports whether its entries are
// read.
func (d *deviceRun) output(z num.Mat, old bool) (num.Mat, error) {
	switch {
	case d.resident:
		return z, nil
	case old:
		return d.operand(z)
	}
	return d.matrix(z.Rows, z.Cols)
}

// apart replaces operands that overlap the output z by copies.
func (d *deviceRun) apart(z num.Mat, operands ...*num.Mat) error {
	for _, m := range operands {
		if !d.at.Overlap(z, *m) {
			continue
		}
		if err := d.take(m.Arr.Len()); err != nil {
			return err
		}
		free, err := place.Apart(d.Ctx, d.at, z, m)
		if err != nil {
			return err
		}
		d.free = append(d.free, free)
	}
	return nil
}

// brought ends the stage of copying operands.
func (d *deviceRun) brought() {
	if !d.resident {
		d.stage(stageTo)
	}
}

// back copies the results in from to z if z lives on the host, and ends the stage before.
func (d *deviceRun) back(stage string, z, from num.Mat) error {
	if d.resident {
		return nil
	}
	d.stage(stage)
	h, err := d.at.Get(d.Ctx, from)
	if err != nil {
		return err
	}
	copyTo(z, h)
	return nil
}

// last returns the name of the last stage of a run; stage is the name of its work.
func (r *run) last(stage string) string {
	if r.at != nil && !r.resident {
		return stageFrom
	}
	return stage
}

// onDevice computes z by the operation or function of the given name.
func (r *elementwise) onDevice(name string) error {
	if r.paper {
		name = publishedPrefix + name
	}
	d := r.arrive(r.z.Arr.Format)
	defer d.close()
	in, err := d.operands(r.in[:r.operands]...)
	if err != nil {
		return err
	}
	z, err := d.output(r.z, false)
	if err != nil {
		return err
	}
	for i := range in {
		if in[i] == z {
			continue
		}
		if err := d.apart(z, &in[i]); err != nil {
			return err
		}
	}
	d.brought()
	if err := d.Each(d.at, d.config(), name, in, z); err != nil {
		return err
	}
	return d.back(stageCompute, r.z, z)
}

// sinCosOnDevice computes sines z and cosines c.
func (r *elementwise) sinCosOnDevice(c num.Mat) error {
	d := r.arrive(r.z.Arr.Format)
	defer d.close()
	x, err := d.operand(r.in[0])
	if err != nil {
		return err
	}
	sin, err := d.output(r.z, false)
	if err != nil {
		return err
	}
	cos, err := d.output(c, false)
	if err != nil {
		return err
	}
	if err := d.apart(sin, &x); err != nil { // sines are written first
		return err
	}
	if x != cos {
		if err := d.apart(cos, &x); err != nil {
			return err
		}
	}
	d.brought()
	cfg := d.config()
	if d.Progress != nil {
		cfg.Progress = func(done float64) { d.Progress(done / 2) }
	}
	if err := d.Each(d.at, cfg, Sin.String(), []num.Mat{x}, sin); err != nil {
		return err
	}
	if d.Progress != nil {
		cfg.Progress = func(done float64) { d.Progress((1 + done) / 2) }
	}
	if err := d.Each(d.at, cfg, Cos.String(), []num.Mat{x}, cos); err != nil {
		return err
	}
	if err := d.back(stageCompute, r.z, sin); err != nil || d.resident {
		return err
	}
	h, err := d.at.Get(d.Ctx, cos)
	if err != nil {
		return err
	}
	copyTo(c, h)
	return nil
}

// onDevice computes C = α A B + β C. For a vector that lives there it uses the kernel of
// matrix-vector products.
func (p *productRun) onDevice(vector bool) error {
	d := p.arrive(p.c.Arr.Format)
	defer d.close()
	in, err := d.operands(p.a, p.b)
	if err != nil {
		return err
	}
	c, err := d.output(p.c, p.beta != QD{})
	if err != nil {
		return err
	}
	if err := d.apart(c, &in[0], &in[1]); err != nil {
		return err
	}
	d.brought()
	a, b := in[0], in[1]
	if vector && d.resident {
		return d.Gemv(d.at, d.config(), p.alpha, a, b.Col(0), p.beta, c.Col(0))
	}
	if err := d.Gemm(d.at, d.config(), p.alpha, a, b, p.beta, c); err != nil {
		return err
	}
	return d.back(stageProduct, p.c, c)
}

// dotOnDevice stores the native sum of x_i y_i in z.
func dotOnDevice[E arithmetical[E]](r *run, z num.Vec, x, y num.Vec) error {
	d := r.arrive(z.Arr.Format)
	defer d.close()
	in, err := d.operands(x.Mat(), y.Mat())
	if err != nil {
		return err
	}
	d.brought()
	sums, err := d.Dot(d.at, d.config(), in[0].Col(0), in[1].Col(0))
	if err != nil {
		return err
	}
	var s E
	for c := range sums[0] {
		var t E
		for word := range len(t) {
			t[word] = sums[word][c]
		}
		s = s.Add(t)
	}
	hx, hy := x.Mat(), y.Mat()
	if d.resident && s[0]-s[0] != 0 { // leading words are wanted
		if hx, err = d.at.Get(d.Ctx, hx); err != nil {
			return err
		}
		if hy, err = d.at.Get(d.Ctx, hy); err != nil {
			return err
		}
	}
	setDot(r, z, s, hx, hy)
	return nil
}

// solveOnDevice is Solve at the run's place; products is the memory limit of exact products.
func (r *run) solveOnDevice(e place.Elimination, products int64, a, b, x num.Mat) error {
	d := r.arrive(x.Arr.Format)
	defer d.close()
	in, err := d.operands(a, b)
	if err != nil {
		return err
	}
	z, err := d.output(x, false)
	if err != nil {
		return err
	}
	d.brought()
	cfg := d.config()
	cfg.Limit = products
	if err := d.Expansions.Solve(d.at, cfg, e, in[0], in[1], z); err != nil {
		return err
	}
	return d.back(stageSolve, x, z)
}
