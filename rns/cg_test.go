package rns

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// spd is a symmetric positive definite matrix of float64 numbers by rows.
type spd [][]float64

// graded is D H D for the Hilbert matrix H, scaled to whole numbers, and powers of two that fall
// steeply: exactly symmetric, positive definite, and far too ill conditioned for float64.
func graded(n, step int) spd {
	scale := big.NewInt(1) // lcm(1, …, 2n - 1)
	for k := int64(2); k < int64(2*n); k++ {
		g := new(big.Int).GCD(nil, nil, scale, big.NewInt(k))
		scale.Div(scale.Mul(scale, big.NewInt(k)), g)
	}
	a := make(spd, n)
	for i := range a {
		a[i] = make([]float64, n)
		for j := range a[i] {
			h, exact := new(big.Float).SetInt(new(big.Int).Div(scale, big.NewInt(int64(i+j+1)))).Float64()
			if exact != big.Exact {
				panic("an entry that is no float64 number")
			}
			a[i][j] = math.Ldexp(h, -step*(i+j))
		}
	}
	return a
}

// poisson is the second difference in one dimension.
func poisson(n int) spd {
	a := make(spd, n)
	for i := range a {
		a[i] = make([]float64, n)
		for j := max(i-1, 0); j < min(i+2, n); j++ {
			a[i][j] = -1
		}
		a[i][i] = 2
	}
	return a
}

// sparse returns the entries other than 0.
func (a spd) sparse(t testing.TB, b *Base) *Sparse {
	t.Helper()
	var rows, cols []int32
	var values []float64
	for i := range a {
		for j, x := range a[i] {
			if x != 0 {
				rows, cols, values = append(rows, int32(i)), append(cols, int32(j)), append(values, x)
			}
		}
	}
	m, err := b.SparseOf(len(a), len(a), rows, cols, halfulp.NewVectorFloat64(len(values), 1, values))
	must(t, err)
	return m
}

// times returns A x exactly.
func (a spd) times(x []*big.Float) []*big.Float {
	y := make([]*big.Float, len(a))
	for i := range a {
		y[i] = new(big.Float).SetPrec(4000)
		for j, v := range a[i] {
			y[i].Add(y[i], new(big.Float).SetPrec(4000).Mul(big.NewFloat(v), x[j]))
		}
	}
	return y
}

// ones returns A times a vector of ones.
func (a spd) ones(b *Base) *Vector {
	x := make([]*big.Float, len(a))
	for i := range x {
		x[i] = big.NewFloat(1)
	}
	z := b.NewVector(len(a))
	for i, v := range a.times(x) {
		z.Set(i, b.NewNumber().SetBig(v))
	}
	return z
}

// bigs returns the exact numbers of x.
func bigs(t testing.TB, x *Vector) []*big.Float {
	t.Helper()
	z := make([]*big.Float, x.n)
	for i := range z {
		var err error
		z[i], err = x.At(i).Big()
		must(t, err)
	}
	return z
}

// doubleCG is the method in float64 for the right-hand side of ones. It returns the smallest error
// of an iteration, the error being the largest of its entries.
func (a spd) doubleCG(iterations int) (best float64) {
	n := len(a)
	product := func(x []float64) []float64 {
		y := make([]float64, n)
		for i := range y {
			for j := range x {
				y[i] += float64(a[i][j] * x[j])
			}
		}
		return y
	}
	dot := func(x, y []float64) (s float64) {
		for i := range x {
			s += float64(x[i] * y[i])
		}
		return s
	}
	x, one := make([]float64, n), make([]float64, n)
	for i := range one {
		one[i] = 1
	}
	r := product(one)
	p := slices.Clone(r)
	rho := dot(r, r)
	best = math.Inf(1)
	for range iterations {
		q := product(p)
		alpha := rho / dot(p, q)
		largest := 0.0
		for i := range x {
			x[i] += float64(alpha * p[i])
			r[i] -= float64(alpha * q[i])
			largest = max(largest, math.Abs(x[i]-1))
		}
		if math.IsNaN(largest) {
			break
		}
		best = min(best, largest)
		next := dot(r, r)
		for i := range p {
			p[i] = r[i] + float64(next/rho*p[i])
		}
		rho = next
	}
	return best
}

// TestCGGraded solves a system that float64 cannot, exactly enough for 30 digits of the solution.
func TestCGGraded(t *testing.T) {
	a := graded(10, 2)
	if e := a.doubleCG(2000); e < 1e-3 || math.IsInf(e, 0) {
		t.Fatalf("float64 comes within %v: the system is too easy", e)
	}
	b, err := GemvBase(212)
	must(t, err)
	for _, c := range []Preconditioner{NoPreconditioner, Jacobi} {
		for _, f := range []SparseFormat{CSR, DIA} {
			m, err := a.sparse(t, b).To(f)
			must(t, err)
			x := b.NewVector(len(a))
			o := &CGOptions{Preconditioner: c, Tolerance: power2(b, -159)}
			o.Blocks, o.BlockSize = 2, 4
			var st halfulp.Stats
			o.Stats = &st
			result, err := CG(m, a.ones(b), x, o)
			must(t, err)
			if !result.Converged || st.Device != "cpu" || len(result.Residuals) != result.Iterations+1 {
				t.Fatalf("preconditioner %v, %v: %d iterations, converged %v", c, f, result.Iterations, result.Converged)
			}
			for i, z := range bigs(t, x) {
				if d, _ := new(big.Float).Sub(z, big.NewFloat(1)).Float64(); math.Abs(d) > 1e-30 {
					t.Errorf("preconditioner %v, %v: x_%d - 1 = %v after %d iterations", c, f, i, d, result.Iterations)
				}
			}
			wantTrueResidual(t, a, a.ones(b), x, result)
		}
	}
}

func power2(b *Base, k int) *Number { return b.NewNumber().MulPow2(b.NewNumber().SetInt64(1), k) }

// wantTrueResidual compares the enclosure with the exact residual.
func wantTrueResidual(t *testing.T, a spd, b, x *Vector, c CGResult) {
	t.Helper()
	sum := new(big.Float).SetPrec(4000)
	for i, y := range a.times(bigs(t, x)) {
		d := new(big.Float).SetPrec(4000).Sub(bigs(t, b)[i], y)
		sum.Add(sum, d.Mul(d, d))
	}
	if norm := sum.Sqrt(sum); !c.TrueResidual.Contains(norm) {
		t.Errorf("‖b - A x‖ = %v is not in [%v, %v]", norm.Text('g', 20), c.TrueResidual.Lo, c.TrueResidual.Up)
	}
}

// TestCGTrueResidual: enclosures of residuals contain them, also of iterations that were ended
// early, and are narrow where the residual is above rounding errors.
func TestCGTrueResidual(t *testing.T) {
	for _, b := range []*Base{smallBase(t), must1(GemvBase(212))} {
		a := poisson(20)
		for k := 1; k <= 20; k += 3 {
			x := b.NewVector(20)
			result, err := CG(a.sparse(t, b), a.ones(b), x, &CGOptions{MaxIterations: k})
			must(t, err)
			wantTrueResidual(t, a, a.ones(b), x, result)
			lo, up := result.TrueResidual.Lo.Big(), result.TrueResidual.Up.Big()
			if k < 10 && (b.prec > 100 || k == 1) && (result.Converged || up.Cmp(lo.Mul(lo, big.NewFloat(1.2))) > 0) {
				t.Errorf("%d bits, %d iterations: ‖r‖ = %v, in [%v, %v]", b.prec, k, result.Residuals[k], result.TrueResidual.Lo, result.TrueResidual.Up)
			}
		}
	}
}

func must1(b *Base, err error) *Base {
	if err != nil {
		panic(err)
	}
	return b
}

// TestCGOrder compares CG with its definition, number by number.
func TestCGOrder(t *testing.T) {
	b := smallBase(t)
	a := poisson(9)
	for i := range a {
		a[i][i] += float64(i)
	}
	for _, c := range []Preconditioner{NoPreconditioner, Jacobi} {
		f := a.ones(b)
		x := b.NewVector(9)
		x.Set(2, b.NewNumber().SetFloat64(0.3))
		want := x.Clone()
		m := a.sparse(t, b)
		o := &CGOptions{Preconditioner: c, Tolerance: power2(b, -8), Options: Options{Blocks: 2, BlockSize: 2, RowThreads: 2}}
		result, err := CG(m, f, x, o)
		must(t, err)
		norms := cgByDefinition(a, f, want, o)
		if len(norms) != len(result.Residuals) || !result.Converged || result.Iterations < 3 {
			t.Fatalf("%d residuals, want %d", len(result.Residuals), len(norms))
		}
		for k, z := range norms {
			wantSame(t, fmt.Sprint("residual ", k), result.Residuals[k], z)
		}
		if !x.Same(want) {
			t.Errorf("preconditioner %v: another x", c)
		}
	}
}

// cgByDefinition is CG exactly as documented.
func cgByDefinition(a spd, f, x *Vector, o *CGOptions) (norms []*Number) {
	b := f.arr.b
	n := len(a)
	product := func(x *Vector) *Vector {
		y := b.NewVector(n)
		for i := range n {
			var row []*Number
			for j := range n {
				if a[i][j] != 0 {
					row = append(row, mul(b.NewNumber().SetFloat64(a[i][j]), x.At(j)))
				}
			}
			y.Set(i, threadSums(b, row, o.RowThreads))
		}
		return y
	}
	dot := func(x, y *Vector) *Number {
		z, err := Dot(x, y, &Options{Blocks: o.Blocks, BlockSize: o.BlockSize})
		if err != nil {
			panic(err)
		}
		return z
	}
	sub := func(x, y *Number) *Number { return b.NewNumber().Sub(x, y) }
	quo := func(x, y *Number) *Number { return b.NewNumber().Quo(x, y) }
	each := func(f func(i int) *Number) *Vector {
		z := b.NewVector(n)
		for i := range n {
			z.Set(i, f(i))
		}
		return z
	}
	q := product(x)
	r := each(func(i int) *Number { return sub(f.At(i), q.At(i)) })
	norms = append(norms, b.NewNumber().Sqrt(dot(r, r)))
	limit := mul(o.Tolerance, norms[0])
	var p *Vector
	var before *Number
	for {
		if c, _ := norms[len(norms)-1].Cmp(limit); c <= 0 {
			return norms
		}
		z := r
		if o.Preconditioner == Jacobi {
			z = each(func(i int) *Number {
				return mul(quo(b.NewNumber().SetInt64(1), b.NewNumber().SetFloat64(a[i][i])), r.At(i))
			})
		}
		rho := dot(r, z)
		if p == nil {
			p = z
		} else {
			beta := quo(rho, before)
			old := p
			p = each(func(i int) *Number { return add(mul(beta, old.At(i)), z.At(i)) })
		}
		before = rho
		q := product(p)
		alpha := quo(rho, dot(p, q))
		for i := range n {
			x.Set(i, add(mul(alpha, p.At(i)), x.At(i)))
		}
		old := r
		r = each(func(i int) *Number { return sub(old.At(i), mul(alpha, q.At(i))) })
		norms = append(norms, b.NewNumber().Sqrt(dot(r, r)))
	}
}

// TestCGErrors: systems that CG cannot solve, and invalid options.
func TestCGErrors(t *testing.T) {
	b := smallBase(t)
	one := b.NewNumber().SetInt64(1)
	f := b.NewVector(2)
	f.Set(0, one)
	f.Set(1, one)
	for _, c := range []struct {
		name string
		a    spd
		o    *CGOptions
		want error
		text string
	}{
		{"indefinite", spd{{1, 0}, {0, -1}}, nil, ErrBreakdown, "not positive definite"},
		{"negative diagonal", spd{{1, 0}, {0, -1}}, &CGOptions{Preconditioner: Jacobi}, ErrBreakdown, "entry (1, 1) of the diagonal is -1"},
		{"no diagonal", spd{{0, 1}, {1, 1}}, &CGOptions{Preconditioner: Jacobi}, ErrBreakdown, "entry (0, 0) of the diagonal is 0"},
		{"no number", spd{{math.Inf(1), 0}, {0, 1}}, nil, ErrBreakdown, "‖r‖ is no number after 0 iterations"},
		{"tolerance", poisson(2), &CGOptions{Tolerance: b.NewNumber().SetInt64(-1)}, halfulp.ErrOptions, "tolerance -1"},
		{"iterations", poisson(2), &CGOptions{MaxIterations: -1}, halfulp.ErrOptions, "-1 iterations"},
		{"preconditioner", poisson(2), &CGOptions{Preconditioner: 2}, halfulp.ErrOptions, "preconditioner 2"},
		{"options", poisson(2), &CGOptions{Options: Options{RowThreads: 3}}, halfulp.ErrOptions, "3 threads a row"},
	} {
		_, err := CG(c.a.sparse(t, b), f, b.NewVector(2), c.o)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || !strings.HasPrefix(err.Error(), "rns.CG: ") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	a := poisson(2).sparse(t, b)
	for name, call := range map[string]func(){
		errShape: func() { _, _ = CG(a, b.NewVector(3), b.NewVector(2), nil) },
		errBase: func() {
			_, _ = CG(a, f, b.NewVector(2), &CGOptions{Tolerance: must1(GemvBase(106)).NewNumber()})
		},
	} {
		if got := panicOf(call); got != name {
			t.Errorf("%v, want %s", got, name)
		}
	}
	oblong, err := b.CSRFloat64(1, 2, []int{0, 0}, nil, nil)
	must(t, err)
	if got := panicOf(func() { _, _ = CG(oblong, b.NewVector(1), b.NewVector(2), nil) }); got != errShape {
		t.Errorf("1 x 2 matrix: %v", got)
	}
	// Nothing to do.
	x := b.NewVector(2)
	result, err := CG(a, b.NewVector(2), x, nil)
	must(t, err)
	if !result.Converged || result.Iterations != 0 || !result.TrueResidual.Up.isZero() {
		t.Errorf("b = 0: %+v", result)
	}
	result, err = CG(must1S(b.CSRFloat64(0, 0, []int{0}, nil, nil)), b.NewVector(0), b.NewVector(0), nil)
	if err != nil || !result.Converged {
		t.Errorf("0 x 0: %+v, %v", result, err)
	}
	// Too many iterations are no error.
	result, err = CG(poisson(9).sparse(t, b), poisson(9).ones(b), b.NewVector(9), &CGOptions{MaxIterations: 1})
	if err != nil || result.Converged || result.Iterations != 1 {
		t.Errorf("one iteration: %+v, %v", result, err)
	}
}

func must1S(a *Sparse, err error) *Sparse {
	if err != nil {
		panic(err)
	}
	return a
}

// TestCGProgress: the context ends CG between iterations, and progress never falls back.
func TestCGProgress(t *testing.T) {
	b := smallBase(t)
	a := poisson(30)
	m, f := a.sparse(t, b), a.ones(b)
	var shares []float64
	o := &CGOptions{}
	o.Progress = func(done float64) { shares = append(shares, done) }
	_, err := CG(m, f, b.NewVector(30), o)
	must(t, err)
	if !slices.IsSorted(shares) || len(shares) < 5 || shares[0] < 0 || shares[len(shares)-1] != 1 {
		t.Errorf("progress %v", shares)
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	o.Context, o.Progress = ctx, func(float64) { calls++; cancel() }
	if _, err := CG(m, f, b.NewVector(30), o); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	o = &CGOptions{}
	o.MemoryLimit = 100
	if _, err := CG(m, f, b.NewVector(30), o); !errors.Is(err, halfulp.ErrMemory) {
		t.Errorf("limit: %v", err)
	}
}

// TestCGReference compares CG on a fake device with the CPU, for operands that live there and for
// operands of the host, in all formats.
func TestCGReference(t *testing.T) {
	b := smallBase(t)
	compareCG(t, b, fakeGPU(t, b))
}

// TestCGDevice compares CG on a GPU with the CPU.
func TestCGDevice(t *testing.T) {
	machine(t)
	dev, err := cuda.Open(0)
	must(t, err)
	for _, p := range []int{106, 424} {
		compareCG(t, must1(GemvBase(p)), dev)
	}
}

func compareCG(t *testing.T, b *Base, dev *cuda.Device) {
	t.Helper()
	a := poisson(25)
	for i := range a {
		a[i][i] += float64(i * i)
	}
	start := b.NewVector(25)
	start.Set(3, b.NewNumber().SetFloat64(-7.25))
	doubles := a.sparse(t, b)
	ptr := make([]int, len(doubles.pointers))
	for i, p := range doubles.pointers {
		ptr[i] = int(p)
	}
	numbers, err := NewCSR(25, 25, ptr, doubles.columns, b.VectorFloat64(doubles.doubles))
	must(t, err)
	for k := range 2 * len(sparseFormats) {
		csr, format := doubles, sparseFormats[k/2]
		if k%2 == 1 {
			csr = numbers
		}
		m, err := csr.To(format)
		must(t, err)
		f := a.ones(b)
		used := int64(-1)
		for _, c := range []Preconditioner{NoPreconditioner, Jacobi} {
			for _, threads := range []int{1, 2} {
				what := fmt.Sprintf("%v, float64 %v, preconditioner %d, %d threads a row", format, m.Float64(), c, threads)
				o := &CGOptions{Preconditioner: c}
				o.RowThreads, o.Blocks, o.BlockSize = threads, 3, 4
				x := start.Clone()
				want, err := CG(m, f, x, o)
				must(t, err)
				if want.Iterations < 2 {
					t.Errorf("%s: %d iterations", what, want.Iterations)
				}
				o.Device = "cuda:0"
				y := start.Clone()
				var st halfulp.Stats
				o.Stats = &st
				got, err := CG(m, f, y, o)
				must(t, err)
				if !y.Same(x) || st.Device != "cuda:0" {
					t.Errorf("%s: another x on %s", what, st.Device)
				}
				wantResult(t, what, got, want)
				dm, err := m.On("cuda:0")
				must(t, err)
				df, err := f.On("cuda:0")
				must(t, err)
				dx, err := start.On("cuda:0")
				must(t, err)
				o.Device = ""
				o.Stats = &st
				got, err = CG(dm, df, dx, o)
				must(t, err)
				y, err = dx.Host()
				must(t, err)
				if !y.Same(x) || st.Device != "cuda:0" {
					t.Errorf("%s: another x that lives on %s", what, st.Device)
				}
				wantResult(t, what, got, want)
				dm.Free()
				df.Free()
				dx.Free()
				if n := dev.Counters().InUse; used >= 0 && n != used {
					t.Errorf("%s: %d bytes in use, %d before", what, n, used)
				} else {
					used = n
				}
			}
		}
	}
}

func wantResult(t *testing.T, what string, got, want CGResult) {
	t.Helper()
	if got.Iterations != want.Iterations || got.Converged != want.Converged || got.TrueResidual != want.TrueResidual {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
	for k, z := range want.Residuals {
		wantSame(t, fmt.Sprint(what, ", residual ", k), got.Residuals[k], z)
	}
}

// TestXFloatSqrt compares roots with math/big.
func TestXFloatSqrt(t *testing.T) {
	r := newRand(t, 81)
	xs := []XFloat{{1, 0}, {math.Nextafter(2, 0), 1}, {math.Nextafter(2, 0), 0}, {1, 1}, {1.5, -3}, {1.125, 7}}
	for range 2000 {
		xs = append(xs, XFloat{1 + r.Float64(), int32(r.IntN(200) - 100)})
	}
	for _, x := range xs {
		root := new(big.Float).SetPrec(300).Sqrt(x.Big().SetPrec(300))
		for _, up := range []bool{false, true} {
			if got, want := x.sqrt(up), roundBig(root, up); got != want {
				t.Errorf("√%v is %v, want %v", x, got, want)
			}
		}
	}
}

// TestCGDeviceFails lets allocations, copies and launches on a device fail one after the other: CG
// returns an error, and leaves nothing behind but the tables of the base.
func TestCGDeviceFails(t *testing.T) {
	b := smallBase(t)
	a := poisson(4)
	m, err := a.sparse(t, b).To(JAD)
	must(t, err)
	o := &CGOptions{Preconditioner: Jacobi}
	o.Device, o.RowThreads, o.Blocks, o.BlockSize = "cuda:0", 2, 1, 2
	run := func() error {
		_, err := CG(m, a.ones(b), b.NewVector(4), o)
		return err
	}
	drv := fakeDriver(t, b)
	dev, err := cuda.OpenDriver(drv, 0)
	must(t, err)
	t.Cleanup(mem.Substitute(dev))
	must(t, run())
	tables := dev.Counters().InUse
	fails := func(call string, code cudadrv.Code, least int) {
		t.Helper()
		failed := 0
		for ; ; failed++ {
			if code == cudadrv.OutOfMemory { // freed memory stays with the device for the next one
				drv = fakeDriver(t, b)
				drv.Fail(call, failed, code) // the call is tried twice
				dev, err = cuda.OpenDriver(drv, 0)
				must(t, err)
				defer mem.Substitute(dev)()
			}
			drv.Fail(call, failed, code)
			err := run()
			if n := dev.Counters().InUse; n != tables && (err == nil || n != 0) {
				t.Fatalf("%s %d fails: %d bytes in use, tables take %d", call, failed, n, tables)
			}
			if err == nil {
				break
			}
			if cudadrv.CodeOf(err) != code && !errors.Is(err, halfulp.ErrMemory) {
				t.Fatalf("%s %d fails: %v", call, failed, err)
			}
		}
		if failed < least {
			t.Errorf("%s failed %d times", call, failed)
		}
	}
	fails("MemcpyHtoDAsync", cudadrv.InvalidValue, 15)
	fails("MemcpyDtoHAsync", cudadrv.InvalidValue, 10)
	fails("LaunchKernel", cudadrv.InvalidValue, 15)
	fails("MemAlloc", cudadrv.OutOfMemory, 2)
}
