package expansion

import (
	"context"
	"errors"
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/expgpu"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
)

// Routines for operands in the memory of a GPU, in one of the formats DD, TD and QD. They panic if
// operands are on several GPUs, freed, of several formats or of shapes that do not fit. Errors wrap
// halfulp.ErrMemory if the GPU has too little memory.

const (
	errDevices = "expansion: operands on several GPUs"
	errAlias   = "expansion: the output overlaps an operand"
)

// operands are on one GPU, in one format.
type operands struct {
	dev *cuda.Device
	m   []gpu.Matrix
}

func matrices(list ...*halfulp.DeviceMatrix) operands {
	var o operands
	for _, x := range list {
		dev, m := raw.DeviceMatrix(x)
		o.add(dev, m)
	}
	return o
}

func vectors(list ...*halfulp.DeviceVector) operands {
	var o operands
	for _, x := range list {
		dev, v := raw.DeviceVector(x)
		o.add(dev, v.Col())
	}
	return o
}

func (o *operands) add(dev *cuda.Device, m gpu.Matrix) {
	if o.dev == nil {
		o.dev = dev
	}
	if dev != o.dev {
		panic(errDevices)
	}
	o.m = append(o.m, m)
	if f := m.Arr.Format; f != o.m[0].Arr.Format || f.Kind != num.DD && f.Kind != num.TD && f.Kind != num.QD {
		panic(errFormat)
	}
}

// apart panics if m overlaps one of the others.
func apart(m gpu.Matrix, others ...gpu.Matrix) {
	for _, o := range others {
		if m.Overlaps(o) {
			panic(errAlias)
		}
	}
}

// do runs f on the GPU, for a routine of that name.
func (o operands) do(name string, f func(s *cuda.Stream) error) error {
	err := o.dev.Do(context.Background(), f)
	if errors.Is(err, cuda.ErrMemory) {
		err = fmt.Errorf("%w: %w", halfulp.ErrMemory, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// DeviceAdd sets z_i = x_i + y_i, bits and error bounds of Add. z may be x or y, but not overlap
// them otherwise.
func DeviceAdd(z, x, y *halfulp.DeviceVector) error { return vectors(z, x, y).each("Add") }

// DeviceSub sets z_i = x_i - y_i, like DeviceAdd.
func DeviceSub(z, x, y *halfulp.DeviceVector) error { return vectors(z, x, y).each("Sub") }

// DeviceMul sets z_i = x_i y_i, like DeviceAdd.
func DeviceMul(z, x, y *halfulp.DeviceVector) error { return vectors(z, x, y).each("Mul") }

// DeviceDiv sets z_i = x_i / y_i, like DeviceAdd.
func DeviceDiv(z, x, y *halfulp.DeviceVector) error { return vectors(z, x, y).each("Div") }

// DeviceSqrt sets z_i = √x_i, like DeviceAdd.
func DeviceSqrt(z, x *halfulp.DeviceVector) error { return vectors(z, x).each("Sqrt") }

// DeviceFMA sets z_i = x_i y_i + c_i, like DeviceAdd.
func DeviceFMA(z, x, y, c *halfulp.DeviceVector) error { return vectors(z, x, y, c).each("FMA") }

// operationNames are those of kernels.
var operationNames = [operations]string{opAdd: "Add", opSub: "Sub", opMul: "Mul", opDiv: "Div", opSqrt: "Sqrt", opFMA: "FMA"}

// DeviceMap sets z_i = f(x_i) for a function of one argument, like DeviceAdd.
func DeviceMap(f Function, z, x *halfulp.DeviceVector) error { return vectors(z, x).apply(f) }

// DeviceMap2 sets z_i = f(x_i, y_i) for a function of two arguments, like DeviceAdd.
func DeviceMap2(f Function, z, x, y *halfulp.DeviceVector) error { return vectors(z, x, y).apply(f) }

func (o operands) apply(f Function) error {
	if err := f.takes(len(o.m) - 1); err != nil {
		return err
	}
	return o.each(f.String())
}

// each computes the first operand from the others, entry by entry.
func (o operands) each(name string) error {
	for _, x := range o.m[1:] {
		if x.Rows != o.m[0].Rows || x.Cols != o.m[0].Cols {
			panic(errShape)
		}
		if x != o.m[0] {
			apart(o.m[0], x)
		}
	}
	return o.do("Device"+name, func(s *cuda.Stream) error { return expgpu.Each(s, name, o.m[0], o.m[1:]...) })
}

// factor is a number rounded to the format of the operands.
func (o operands) factor(x halfulp.Scalar) (f expgpu.Factor) {
	a := num.New(o.m[0].Arr.Format, 1)
	a.Set(0, raw.Scalar(x))
	for t := range a.Terms() {
		f[t] = a.F64[t][0]
	}
	return f
}

// DeviceGemm sets C = α op(A) op(B) + β C in the arithmetic of the format: each entry is a native sum of
// products in the order of the inner index, then α times that plus β times the old entry, each
// operation rounded; α and β are rounded to the format, and cost nothing if they are 1; β = 0 leaves
// the old C unread. With k the inner dimension and u = 2^-53 the error of an entry is at most
//
//	k c u^w Σ |α a_ih b_hj|  to first order, c = 16, 128, 1024 for w = 2, 3, 4 words,
//
// and the bounds of the product by α, the product by β and the addition. An entry with a sum that is
// not finite is what float64 products and sums of the leading words give. C must not overlap A or B.
func DeviceGemm(tA, tB halfulp.Transpose, alpha halfulp.Scalar, a, b *halfulp.DeviceMatrix, beta halfulp.Scalar, c *halfulp.DeviceMatrix) error {
	o := matrices(c, a, b)
	x, y, z := transposed(tA, o.m[1]), transposed(tB, o.m[2]), o.m[0]
	if z.Rows != x.Rows || z.Cols != y.Cols || x.Cols != y.Rows {
		panic(errShape)
	}
	apart(z, x, y)
	return o.do("DeviceGemm", func(s *cuda.Stream) error {
		return expgpu.Gemm(s, o.factor(alpha), x, y, o.factor(beta), z)
	})
}

func transposed(t halfulp.Transpose, m gpu.Matrix) gpu.Matrix {
	if transposes(t) {
		return m.T()
	}
	return m
}

// DeviceGemv sets y = α op(A) x + β y, like DeviceGemm but for the order of the sums: each is that of
// 32 partial sums, number q with the products of j = q modulo 32 in their order, which are added by
// halves, number q and q + 16, then q + 8 and so on.
func DeviceGemv(t halfulp.Transpose, alpha halfulp.Scalar, a *halfulp.DeviceMatrix, x *halfulp.DeviceVector, beta halfulp.Scalar, y *halfulp.DeviceVector) error {
	o := matrices(a)
	dev, vx := raw.DeviceVector(x)
	o.add(dev, vx.Col())
	dev, vy := raw.DeviceVector(y)
	o.add(dev, vy.Col())
	m := transposed(t, o.m[0])
	if vx.N != m.Cols || vy.N != m.Rows {
		panic(errShape)
	}
	apart(o.m[2], m, o.m[1])
	return o.do("DeviceGemv", func(s *cuda.Stream) error {
		return expgpu.Gemv(s, o.factor(alpha), m, vx, o.factor(beta), vy)
	})
}

// DeviceDot returns Σ x_i y_i in the format of x and y, the bits of Dot.
func DeviceDot(x, y *halfulp.DeviceVector) (halfulp.Scalar, error) {
	o := vectors(x, y)
	if x.Len() != y.Len() {
		panic(errShape)
	}
	_, vx := raw.DeviceVector(x)
	_, vy := raw.DeviceVector(y)
	z := halfulp.NewVector(x.Format(), 1)
	a := raw.Vector(z).Arr
	var finite bool
	err := o.do("DeviceDot", func(s *cuda.Stream) error {
		sums, err := expgpu.Dot(s, vx, vy)
		switch a.Kind {
		case num.DD:
			finite = addChunks[DD](a, sums)
		case num.TD:
			finite = addChunks[TD](a, sums)
		default:
			finite = addChunks[QD](a, sums)
		}
		return err
	})
	if err == nil && !finite {
		err = plainDot(a, x, y)
	}
	if err != nil {
		return halfulp.Scalar{}, err
	}
	return z.At(0), nil
}

// addChunks sets number 0 of z to the sum of sums, word by word in them. It reports whether that is
// finite.
func addChunks[E arithmetical[E]](z *num.Array, sums [][]float64) bool {
	var s E
	for c := range sums[0] {
		var x E
		for t := range len(x) {
			x[t] = sums[t][c]
		}
		s = s.Add(x)
	}
	s = s.Canonical()
	for t := range len(s) {
		z.F64[t][0] = s[t]
	}
	return s[0]-s[0] == 0
}

// plainDot is the sum of the products of leading words.
func plainDot(z *num.Array, x, y *halfulp.DeviceVector) error {
	hx, err := x.Vector()
	if err != nil {
		return err
	}
	hy, err := y.Vector()
	if err != nil {
		return err
	}
	p := plainSum(raw.Vector(hx).Mat().T(), raw.Vector(hy).Mat(), 0, 0)
	z.F64[0][0] = special(p, p)
	if ordinary(p) {
		z.F64[0][0] = p
	}
	for t := 1; t < z.Terms(); t++ {
		z.F64[t][0] = 0
	}
	return nil
}

// DeviceSolve sets X to the solution of A X = B, like Solve. X may be B, but not overlap it otherwise,
// and A stays as it is. With an error X is unspecified if the GPU failed, else unchanged. Of
// o.Options the Context and MemoryLimit are heeded.
func DeviceSolve(a, b, x *halfulp.DeviceMatrix, o *SolveOptions) error {
	p := o.with()
	ops := matrices(a, b, x)
	va, vb, vx := ops.m[0], ops.m[1], ops.m[2]
	checkSystem(va.Rows, va.Cols, vb.Rows, va.Arr.Format, vb.Arr.Format)
	if vx.Rows != vb.Rows || vx.Cols != vb.Cols {
		panic(errShape)
	}
	apart(vx, va)
	if vx != vb {
		apart(vx, vb)
	}
	e := expgpu.Elimination{ZeroRule: p.Pivoting == ZeroPivoting, Config: gpu.Config{Ctx: p.Options.Context, Memory: p.Options.MemoryLimit}}
	if p.Updates == ExactUpdates {
		e.Block = p.Block
	}
	err := ops.do("DeviceSolve", func(s *cuda.Stream) error { return expgpu.Solve(s, e, va, vb, vx) })
	var singular expgpu.Singular
	if errors.As(err, &singular) {
		return fmt.Errorf("DeviceSolve: %w", noPivot(singular.Column))
	}
	return err
}

// solveOn is Solve on a GPU.
func solveOn(a, b *halfulp.Matrix, p SolveOptions, device string) (*halfulp.Matrix, error) {
	x := halfulp.NewMatrix(b.Format(), b.Rows(), b.Cols())
	err := onDevice(device, x, false, []*halfulp.Matrix{a, b}, func(z *halfulp.DeviceMatrix, in []*halfulp.DeviceMatrix) error {
		return DeviceSolve(in[0], in[1], z, &p)
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// onDevice computes a matrix of the host on a GPU: operands are copied there, converted to the format
// of z, and z back. update says that the old z counts.
func onDevice(device string, z *halfulp.Matrix, update bool, in []*halfulp.Matrix, compute func(z *halfulp.DeviceMatrix, in []*halfulp.DeviceMatrix) error) error {
	var there []*halfulp.DeviceMatrix
	defer func() {
		for _, m := range there {
			m.Free()
		}
	}()
	for _, m := range in {
		if m.Format() != z.Format() {
			m = m.Convert(z.Format())
		}
		d, err := m.To(device)
		if err != nil {
			return err
		}
		there = append(there, d)
	}
	to, err := halfulp.NewDeviceMatrix(device, z.Format(), z.Rows(), z.Cols())
	if err != nil {
		return err
	}
	defer to.Free()
	if update {
		if err := to.Set(z); err != nil {
			return err
		}
	}
	if err := compute(to, there); err != nil {
		return err
	}
	got, err := to.Matrix()
	if err != nil {
		return err
	}
	copyMatrix(z, got)
	return nil
}

// hostMatrix is an array as a matrix.
func hostMatrix[A Array](x A) *halfulp.Matrix {
	switch x := any(x).(type) {
	case *halfulp.Vector:
		return x.Matrix()
	case *halfulp.Matrix:
		return x
	}
	panic("unreachable")
}

// sinCosOn is SinCos on a GPU.
func sinCosOn(device string, s, c, x *halfulp.Matrix) error {
	t := halfulp.NewMatrix(x.Format(), x.Rows(), x.Cols()) // s may overlap x
	copyMatrix(t, x)
	if err := eachOn(device, Sin.String(), s, []*halfulp.Matrix{t}); err != nil {
		return err
	}
	return eachOn(device, Cos.String(), c, []*halfulp.Matrix{t})
}

// gemmOn is Gemm on a GPU.
func gemmOn(device string, tA, tB halfulp.Transpose, alpha halfulp.Scalar, a, b *halfulp.Matrix, beta halfulp.Scalar, c *halfulp.Matrix) (halfulp.Stats, error) {
	x, y, z := opOf(tA, raw.Matrix(a)), opOf(tB, raw.Matrix(b)), raw.Matrix(c)
	if x.Rows != z.Rows || x.Cols != y.Rows || y.Cols != z.Cols {
		panic(errShape)
	}
	if _, err := formatsFit(z.Arr, []num.Mat{x, y}); err != nil {
		return halfulp.Stats{}, err
	}
	err := onDevice(device, c, true, []*halfulp.Matrix{a, b}, func(z *halfulp.DeviceMatrix, in []*halfulp.DeviceMatrix) error {
		return DeviceGemm(tA, tB, alpha, in[0], in[1], beta, z)
	})
	return halfulp.Stats{Device: device, Method: Method}, err
}

// dotOn is Dot on a GPU.
func dotOn(device string, x, y *halfulp.Vector, f halfulp.Format) (z halfulp.Scalar, st halfulp.Stats, err error) {
	none := halfulp.NewMatrix(f, 0, 0)
	err = onDevice(device, none, false, []*halfulp.Matrix{x.Matrix(), y.Matrix()}, func(_ *halfulp.DeviceMatrix, in []*halfulp.DeviceMatrix) (err error) {
		z, err = DeviceDot(in[0].Col(0), in[1].Col(0))
		return err
	})
	return z, halfulp.Stats{Device: device, Method: Method}, err
}

// eachOn computes z by the operation or function of that name on a GPU.
func eachOn[A Array](device, name string, z A, in []A) error {
	var list []*halfulp.Matrix
	for _, x := range in {
		list = append(list, hostMatrix(x))
	}
	return onDevice(device, hostMatrix(z), false, list, func(z *halfulp.DeviceMatrix, in []*halfulp.DeviceMatrix) error {
		return matrices(append([]*halfulp.DeviceMatrix{z}, in...)...).each(name)
	})
}
