package rns

import (
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/rnsgpu"
)

// none is an operand that a kernel does without.
var none rnsgpu.View

// withScalars runs f on the device with copies of scalars there.
func (d *DeviceArray) withScalars(f func(s *cuda.Stream, c *rnsgpu.Base, v []rnsgpu.View) error, xs ...*Number) error {
	_ = d.b.scalars(xs...)
	return d.do(func(s *cuda.Stream, c *rnsgpu.Base) error {
		v, free, err := d.b.deviceScalars(s, c, xs...)
		if err != nil {
			return err
		}
		defer free()
		return f(s, c, v)
	})
}

// DeviceScal sets x_i = fl(α x_i).
func DeviceScal(alpha *Number, x *DeviceVector) error {
	return x.arr.withScalars(func(s *cuda.Stream, c *rnsgpu.Base, v []rnsgpu.View) error {
		return c.Map(s, x.n, 1, x.view(), v[0], none, none, x.view(), false)
	}, alpha)
}

// DeviceAxpy sets y_i = fl(fl(α x_i) + y_i).
func DeviceAxpy(alpha *Number, x, y *DeviceVector) error {
	x.like(y)
	return x.arr.withScalars(func(s *cuda.Stream, c *rnsgpu.Base, v []rnsgpu.View) error {
		return c.Map(s, x.n, 1, x.view(), v[0], y.view(), none, y.view(), false)
	}, alpha)
}

// DeviceWaxpby sets w_i = fl(fl(α x_i) + fl(β y_i)).
func DeviceWaxpby(alpha *Number, x *DeviceVector, beta *Number, y, w *DeviceVector) error {
	x.like(y, w)
	return x.arr.withScalars(func(s *cuda.Stream, c *rnsgpu.Base, v []rnsgpu.View) error {
		return c.Map(s, x.n, 1, x.view(), v[0], y.view(), v[1], w.view(), false)
	}, alpha, beta)
}

// DeviceRot sets x_i = fl(fl(c x_i) + fl(s y_i)) and y_i = fl(fl(c y_i) - fl(s x_i)).
func DeviceRot(x, y *DeviceVector, c, s *Number) error {
	x.like(y)
	return x.arr.withScalars(func(st *cuda.Stream, b *rnsgpu.Base, v []rnsgpu.View) error {
		a, err := b.NewArray(st, x.n)
		if err != nil {
			return err
		}
		defer a.Free()
		t := rnsgpu.View{Array: a, RS: 1}
		if err := b.Map(st, x.n, 1, x.view(), v[0], y.view(), v[1], t, false); err != nil {
			return err
		}
		if err := b.Map(st, x.n, 1, y.view(), v[0], x.view(), v[1], y.view(), true); err != nil {
			return err
		}
		return b.Map(st, x.n, 1, t, none, none, none, x.view(), false)
	}, c, s)
}

// deviceGemvShapes panics unless A, or its transpose, times x fits y.
func deviceGemvShapes(trans Transpose, a *DeviceMatrix, x, y *DeviceVector) {
	_, rows, cols := a.op(trans)
	a.arr.with(x.arr, y.arr)
	if x.n != cols || y.n != rows {
		panic(errShape)
	}
}

// DeviceGemv sets y = α A x + β y, or y = α Aᵀ x + β y, as Gemv does. Products of step 3
// are added as they are made: B is never stored. o.Bound is left alone.
func DeviceGemv(trans Transpose, alpha *Number, a *DeviceMatrix, x *DeviceVector, beta *Number, y *DeviceVector, o *Options) error {
	deviceGemvShapes(trans, a, x, y)
	p := o.with()
	return a.arr.withScalars(func(s *cuda.Stream, c *rnsgpu.Base, v []rnsgpu.View) error {
		return gemvOn(s, c, v, trans, alpha, a, x, beta, y, p.BlockSize)
	}, alpha, beta)
}

// gemvOn launches the kernels of DeviceGemv; v holds alpha and beta.
func gemvOn(s *cuda.Stream, c *rnsgpu.Base, v []rnsgpu.View, trans Transpose, alpha *Number, a *DeviceMatrix, x *DeviceVector, beta *Number, y *DeviceVector, size int) error {
	if err := deviceScaleBy(s, c, beta, v[1], y); err != nil || alpha.IsZero() {
		return err
	}
	return scaledVector(s, c, v[0], x, func(d rnsgpu.View) error {
		m, rows, cols := a.op(trans)
		return c.RowSums(s, m, d, rows, cols, size, false, true, y.view())
	})
}

// deviceScaleBy sets y = β y, 0 for β = 0.
func deviceScaleBy(s *cuda.Stream, c *rnsgpu.Base, beta *Number, scalar rnsgpu.View, y *DeviceVector) error {
	if beta.IsZero() {
		return c.Map(s, y.n, 1, none, none, none, none, y.view(), false)
	}
	return c.Map(s, y.n, 1, y.view(), scalar, none, none, y.view(), false)
}

// scaledVector calls f with α x.
func scaledVector(s *cuda.Stream, c *rnsgpu.Base, alpha rnsgpu.View, x *DeviceVector, f func(d rnsgpu.View) error) error {
	a, err := c.NewArray(s, x.n)
	if err != nil {
		return err
	}
	defer a.Free()
	d := rnsgpu.View{Array: a, RS: 1}
	if err := c.Map(s, x.n, 1, x.view(), alpha, none, none, d, false); err != nil {
		return err
	}
	return f(d)
}

// DeviceGemvBasic sets y = α A x + β y, or y = α Aᵀ x + β y, as GemvBasic does: one group of
// threads an entry of y.
func DeviceGemvBasic(trans Transpose, alpha *Number, a *DeviceMatrix, x *DeviceVector, beta *Number, y *DeviceVector) error {
	deviceGemvShapes(trans, a, x, y)
	return a.arr.withScalars(func(s *cuda.Stream, c *rnsgpu.Base, v []rnsgpu.View) error {
		return gemvBasicOn(s, c, v, trans, alpha, a, x, beta, y)
	}, alpha, beta)
}

// gemvBasicOn launches the kernels of DeviceGemvBasic; v holds alpha and beta.
func gemvBasicOn(s *cuda.Stream, c *rnsgpu.Base, v []rnsgpu.View, trans Transpose, alpha *Number, a *DeviceMatrix, x *DeviceVector, beta *Number, y *DeviceVector) error {
	if err := deviceScaleBy(s, c, beta, v[1], y); err != nil || alpha.IsZero() {
		return err
	}
	m, rows, cols := a.op(trans)
	if !trans {
		return scaledVector(s, c, v[0], x, func(d rnsgpu.View) error {
			return c.Products(s, m, d, rows, 1, cols, true, y.view())
		})
	}
	sum, err := c.NewArray(s, rows)
	if err != nil {
		return err
	}
	defer sum.Free()
	t := rnsgpu.View{Array: sum, RS: 1}
	if err := c.Products(s, m, x.view(), rows, 1, cols, false, t); err != nil {
		return err
	}
	return c.Map(s, rows, 1, y.view(), none, t, v[0], y.view(), false)
}

// DeviceGer sets a_ij = fl(a_ij + fl(fl(α x_i) y_j)). A must not overlap x and y.
func DeviceGer(alpha *Number, x, y *DeviceVector, a *DeviceMatrix) error {
	a.arr.with(x.arr, y.arr)
	if x.n != a.rows || y.n != a.cols {
		panic(errShape)
	}
	return a.arr.withScalars(func(s *cuda.Stream, c *rnsgpu.Base, v []rnsgpu.View) error {
		return scaledVector(s, c, v[0], x, func(d rnsgpu.View) error {
			return c.Map(s, a.rows, a.cols, a.view(), none, d, y.view().T(), a.view(), false)
		})
	}, alpha)
}

// DeviceGeAdd sets c_ij = fl(fl(α a_ij) + fl(β b_ij)).
func DeviceGeAdd(alpha *Number, a *DeviceMatrix, beta *Number, b, c *DeviceMatrix) error {
	a.arr.with(b.arr, c.arr)
	if a.rows != b.rows || a.cols != b.cols || a.rows != c.rows || a.cols != c.cols {
		panic(errShape)
	}
	return a.arr.withScalars(func(s *cuda.Stream, base *rnsgpu.Base, v []rnsgpu.View) error {
		return base.Map(s, a.rows, a.cols, a.view(), v[0], b.view(), v[1], c.view(), false)
	}, alpha, beta)
}

// DeviceGeAcc sets b_ij = fl(fl(α a_ij) + fl(β b_ij)).
func DeviceGeAcc(alpha *Number, a *DeviceMatrix, beta *Number, b *DeviceMatrix) error {
	return DeviceGeAdd(alpha, a, beta, b, b)
}

// DeviceGeDiagScale sets A = diag(d) A, a_ij = fl(d_i a_ij), or A = A diag(d),
// a_ij = fl(a_ij d_j).
func DeviceGeDiagScale(side Side, d *DeviceVector, a *DeviceMatrix) error {
	v := a.diagonal(side, d)
	return a.arr.do(func(s *cuda.Stream, c *rnsgpu.Base) error {
		return c.Map(s, a.rows, a.cols, a.view(), v, none, none, a.view(), false)
	})
}

// diagonal returns d as it multiplies from a side. It panics if d does not fit.
func (m *DeviceMatrix) diagonal(side Side, d *DeviceVector) rnsgpu.View {
	v, n := d.view(), m.rows
	switch side {
	case Left:
	case Right:
		v, n = v.T(), m.cols
	default:
		panic(errSide)
	}
	m.arr.with(d.arr)
	if d.n != n {
		panic(errShape)
	}
	return v
}

// DeviceGeLRScale sets A = diag(l) A diag(r), a_ij = fl(fl(l_i a_ij) r_j).
func DeviceGeLRScale(l *DeviceVector, a *DeviceMatrix, r *DeviceVector) error {
	a.diagonal(Right, r) // before A changes
	if err := DeviceGeDiagScale(Left, l, a); err != nil {
		return err
	}
	return DeviceGeDiagScale(Right, r, a)
}

// DeviceGeNorm returns the largest of the sums of |a_ij| over columns (OneNorm) or rows
// (InfNorm), as GeNorm does: the sums are made on the GPU and compared on the host.
func DeviceGeNorm(kind Norm, a *DeviceMatrix, o *Options) (*Number, error) {
	trans := Trans
	switch kind {
	case OneNorm:
	case InfNorm:
		trans = NoTrans
	default:
		panic(errNorm)
	}
	p := o.with()
	m, rows, cols := a.op(trans)
	sums, err := a.arr.sums(rows, func(s *cuda.Stream, c *rnsgpu.Base, z *rnsgpu.Array) error {
		return c.RowSums(s, m, none, rows, cols, p.BlockSize, true, false, rnsgpu.View{Array: z, RS: 1})
	})
	if err != nil {
		return nil, err
	}
	return largest(sums.Vector(0, rows, 1)), nil
}

// DeviceGemm sets c_ij = fl(fl(α s) + fl(β c_ij)), s the recursive sum of fl(a_ik b_kj) over
// k = 1, 2, …, as Gemm does.
func DeviceGemm(transA, transB Transpose, alpha *Number, a, b *DeviceMatrix, beta *Number, c *DeviceMatrix) error {
	x, rows, inner := a.op(transA)
	y, k, cols := b.op(transB)
	c.arr.with(a.arr, b.arr)
	if k != inner || c.rows != rows || c.cols != cols {
		panic(errShape)
	}
	return c.arr.withScalars(func(s *cuda.Stream, base *rnsgpu.Base, v []rnsgpu.View) error {
		old, factor := c.view(), v[1]
		if beta.IsZero() {
			old, factor = none, none
		}
		if alpha.IsZero() {
			return base.Map(s, rows, cols, none, none, old, factor, c.view(), false)
		}
		t, err := base.NewArray(s, rows*cols)
		if err != nil {
			return err
		}
		defer t.Free()
		if err := base.Products(s, x, y, rows, cols, inner, false, rnsgpu.View{Array: t, RS: 1}); err != nil {
			return err
		}
		return base.Map(s, rows, cols, rnsgpu.View{Array: t, RS: 1, CS: rows}, v[0], old, factor, c.view(), false)
	}, alpha, beta)
}

// DeviceCSR is a sparse matrix by compressed rows in the memory of a GPU.
type DeviceCSR struct {
	rows, cols        int
	pointers, indices *cuda.Memory
	values            *DeviceVector
}

// To returns a copy of a in the memory of the GPU "cuda:N". Free gives the memory back.
func (a *CSR) To(device string) (*DeviceCSR, error) {
	n, err := parseDevice(device)
	if err != nil {
		return nil, err
	}
	dev, err := openDevice(n)
	if err != nil {
		return nil, err
	}
	return a.toDevice(dev)
}

func (a *CSR) toDevice(dev *cuda.Device) (*DeviceCSR, error) {
	values, err := a.values.Clone().arr.toDevice(dev)
	if err != nil {
		return nil, err
	}
	z := &DeviceCSR{rows: a.rows, cols: a.cols, values: values.Vector(0, a.values.n, 1)}
	err = values.do(func(s *cuda.Stream, _ *rnsgpu.Base) (err error) {
		pointers := make([]int64, len(a.rowPtr))
		for i, p := range a.rowPtr {
			pointers[i] = int64(p)
		}
		if z.pointers, err = rnsgpu.Upload(s, pointers); err != nil {
			return err
		}
		z.indices, err = rnsgpu.Upload(s, a.colIndex)
		return err
	})
	if err != nil {
		z.Free()
		return nil, err
	}
	return z, nil
}

// Dims returns the numbers of rows and columns.
func (a *DeviceCSR) Dims() (rows, cols int) { return a.rows, a.cols }

// Free gives the memory back.
func (a *DeviceCSR) Free() {
	a.values.arr.Free()
	a.pointers.Free()
	a.indices.Free()
}

// DeviceSpMV sets y_i = Σ fl(a_ij x_j), the entries of a row in their order summed
// recursively, as SpMV does. y must not overlap A and x.
func DeviceSpMV(a *DeviceCSR, x, y *DeviceVector) error {
	d := a.values.arr
	d.with(x.arr, y.arr)
	if x.n != a.cols || y.n != a.rows {
		panic(errShape)
	}
	return d.do(func(s *cuda.Stream, c *rnsgpu.Base) error {
		return c.SparseProducts(s, a.pointers, a.indices, a.values.view(), x.view(), a.rows, y.view())
	})
}
