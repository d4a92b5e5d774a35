package conformance

import "github.com/halfulp/halfulp"

type (
	matrix = halfulp.Matrix
	vector = halfulp.Vector
	result = halfulp.Scalar
	format = halfulp.Format
	stats  = halfulp.Stats
)

// calls are the routines of a backend.
type calls struct {
	sum, asum, nrm2, mean, stdDev, autocorr1 func(x *vector, f format, opt *halfulp.Options) (result, stats, error)
	dot                                      func(x, y *vector, f format, opt *halfulp.Options) (result, stats, error)
	iamax                                    func(x *vector, opt *halfulp.Options) (int, stats, error)
	axpy                                     func(alpha result, x, y *vector, opt *halfulp.Options) (stats, error)
	scal                                     func(alpha result, x *vector, opt *halfulp.Options) (stats, error)
	ger                                      func(alpha result, x, y *vector, a *matrix, opt *halfulp.Options) (stats, error)
	gemv                                     func(t halfulp.Transpose, alpha result, a *matrix, x *vector, beta result, y *vector, opt *halfulp.Options) (stats, error)
	gemm                                     func(tA, tB halfulp.Transpose, alpha result, a, b *matrix, beta result, c *matrix, opt *halfulp.Options) (stats, error)
	syrk                                     func(uplo halfulp.Uplo, t halfulp.Transpose, alpha result, a *matrix, beta result, c *matrix, opt *halfulp.Options) (stats, error)
}

// onHost are the routines for operands of the host.
var onHost = calls{
	halfulp.Sum, halfulp.Asum, halfulp.Nrm2, halfulp.Mean, halfulp.StdDev, halfulp.Autocorr1, halfulp.Dot, halfulp.Iamax,
	halfulp.Axpy, halfulp.Scal, halfulp.Ger, halfulp.Gemv, halfulp.Gemm, halfulp.Syrk,
}

// Resident returns the backend of the routines for operands in the memory of NVIDIA GPU number n:
// these are copied there for each call, and results back.
func Resident(n int) Backend {
	b := CUDA(n)
	device := b.Name
	b.Name += ", resident"
	b.Modes = []Mode{{Name: b.Name}}
	b.calls = resident(device)
	return b
}

// A place holds the copies of a call's operands on a device.
type place struct {
	device string
	err    error
	free   []interface{ Free() }
}

func (p *place) matrix(m *matrix) *halfulp.DeviceMatrix {
	// The views of operands on the host are many; on the device every other one is transposed.
	flip := len(p.free)%2 == 1
	if flip {
		m = m.T()
	}
	d, err := m.To(p.device)
	if err != nil {
		p.err = err
		return nil
	}
	p.free = append(p.free, d)
	if flip {
		return d.T()
	}
	return d
}

func (p *place) vector(x *vector) *halfulp.DeviceVector {
	m := p.matrix(x.Matrix())
	if p.err != nil {
		return nil
	}
	return m.Vec()
}

// run calls f with the copies made, frees them, and returns what f returns.
func (p *place) run(f func() (stats, error)) (stats, error) {
	defer func() {
		for _, d := range p.free {
			d.Free()
		}
	}()
	if p.err != nil {
		return stats{}, p.err
	}
	return f()
}

// back copies a result to the host.
func back(m *matrix, d *halfulp.DeviceMatrix) error {
	z, err := d.Matrix()
	if err != nil {
		return err
	}
	for j := range m.Cols() {
		for i := range m.Rows() {
			m.Set(i, j, z.At(i, j))
		}
	}
	return nil
}

func resident(device string) calls {
	reduction := func(f func(x *halfulp.DeviceVector, f format, opt *halfulp.Options) (result, stats, error)) func(*vector, format, *halfulp.Options) (result, stats, error) {
		return func(x *vector, to format, opt *halfulp.Options) (z result, st stats, err error) {
			p := &place{device: device}
			dx := p.vector(x)
			st, err = p.run(func() (stats, error) {
				z, st, err = f(dx, to, opt)
				return st, err
			})
			return z, st, err
		}
	}
	// update runs f on copies of operands, and copies the last one back.
	update := func(out *matrix, f func(p *place) (*halfulp.DeviceMatrix, func() (stats, error))) (stats, error) {
		p := &place{device: device}
		d, call := f(p)
		return p.run(func() (stats, error) {
			st, err := call()
			if err == nil {
				err = back(out, d)
			}
			return st, err
		})
	}
	return calls{
		sum: reduction(halfulp.DeviceSum), asum: reduction(halfulp.DeviceAsum), nrm2: reduction(halfulp.DeviceNrm2),
		mean: reduction(halfulp.DeviceMean), stdDev: reduction(halfulp.DeviceStdDev), autocorr1: reduction(halfulp.DeviceAutocorr1),
		dot: func(x, y *vector, f format, opt *halfulp.Options) (z result, st stats, err error) {
			p := &place{device: device}
			dx, dy := p.vector(x), p.vector(y)
			st, err = p.run(func() (stats, error) {
				z, st, err = halfulp.DeviceDot(dx, dy, f, opt)
				return st, err
			})
			return z, st, err
		},
		iamax: func(x *vector, opt *halfulp.Options) (i int, st stats, err error) {
			p := &place{device: device}
			dx := p.vector(x)
			st, err = p.run(func() (stats, error) {
				i, st, err = halfulp.DeviceIamax(dx, opt)
				return st, err
			})
			return i, st, err
		},
		axpy: func(alpha result, x, y *vector, opt *halfulp.Options) (stats, error) {
			return update(y.Matrix(), func(p *place) (*halfulp.DeviceMatrix, func() (stats, error)) {
				dx, dy := p.vector(x), p.matrix(y.Matrix())
				return dy, func() (stats, error) { return halfulp.DeviceAxpy(alpha, dx, dy.Vec(), opt) }
			})
		},
		scal: func(alpha result, x *vector, opt *halfulp.Options) (stats, error) {
			return update(x.Matrix(), func(p *place) (*halfulp.DeviceMatrix, func() (stats, error)) {
				dx := p.matrix(x.Matrix())
				return dx, func() (stats, error) { return halfulp.DeviceScal(alpha, dx.Vec(), opt) }
			})
		},
		ger: func(alpha result, x, y *vector, a *matrix, opt *halfulp.Options) (stats, error) {
			return update(a, func(p *place) (*halfulp.DeviceMatrix, func() (stats, error)) {
				dx, dy, da := p.vector(x), p.vector(y), p.matrix(a)
				return da, func() (stats, error) { return halfulp.DeviceGer(alpha, dx, dy, da, opt) }
			})
		},
		gemv: func(t halfulp.Transpose, alpha result, a *matrix, x *vector, beta result, y *vector, opt *halfulp.Options) (stats, error) {
			return update(y.Matrix(), func(p *place) (*halfulp.DeviceMatrix, func() (stats, error)) {
				da, dx, dy := p.matrix(a), p.vector(x), p.matrix(y.Matrix())
				return dy, func() (stats, error) { return halfulp.DeviceGemv(t, alpha, da, dx, beta, dy.Vec(), opt) }
			})
		},
		gemm: func(tA, tB halfulp.Transpose, alpha result, a, b *matrix, beta result, c *matrix, opt *halfulp.Options) (stats, error) {
			return update(c, func(p *place) (*halfulp.DeviceMatrix, func() (stats, error)) {
				da, db, dc := p.matrix(a), p.matrix(b), p.matrix(c)
				return dc, func() (stats, error) { return halfulp.DeviceGemm(tA, tB, alpha, da, db, beta, dc, opt) }
			})
		},
		syrk: func(uplo halfulp.Uplo, t halfulp.Transpose, alpha result, a *matrix, beta result, c *matrix, opt *halfulp.Options) (stats, error) {
			return update(c, func(p *place) (*halfulp.DeviceMatrix, func() (stats, error)) {
				da, dc := p.matrix(a), p.matrix(c)
				return dc, func() (stats, error) {
					da.Prepare()
					return halfulp.DeviceSyrk(uplo, t, alpha, da, beta, dc, opt)
				}
			})
		},
	}
}
