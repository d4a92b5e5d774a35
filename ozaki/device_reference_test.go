package ozaki

import (
	"context"
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/cublas"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/ozgpu"
	"github.com/halfulp/halfulp/internal/sgemm"
)

// The kernels of internal/kernels/ozaki/ozaki.cu in Go, by the arithmetic of this package. They
// stand for the kernels on a fake device.

// The kernels' structures, with C's layout.
type (
	refVectors struct {
		X              cuda.Pointer
		VS, HS         int64
		N, Len, Single int32
		_              int32
	}
	refSplitting struct {
		X                                  refVectors
		Bits, Out, Nonzero, Squares, Lossy cuda.Pointer
		LD, Stride                         int64
		Width, First, Count, Slices        int32
		Q, R                               [8]int8
	}
	refLiterally struct {
		X                                  refVectors
		First, Later, Out, Nonzero, Square cuda.Pointer
		LD, Stride                         int64
		Beta, T, Slices, Q, R              int32
		_                                  int32
	}
	refProducts struct {
		X, Y, Z                           cuda.Pointer
		XLD, YLD, ZLD                     int64
		XStride, YStride, ZStride         int64
		Rows, Cols, K, RowTiles, ColTiles int32
		_                                 int32
		Left, Right                       [128]uint8
	}
	refSumming struct {
		P, T, Sum, C, Left, Right, SpecialLeft, SpecialRight cuda.Pointer
		Bounds, Bound                                        cuda.Pointer
		LD, Stride, RS, CS, BoundRS, BoundCS                 int64
		M, Beta                                              float64
		E, Shift, W, Last                                    int32
		Rows, Cols, Count, MoreT, EndT, MoreSum              int32
		Down                                                 [128]uint8
	}
	refBounding struct {
		X, Y, Bounds             cuda.Pointer
		XLD, YLD, LD             int64
		Tau                      float64
		Rows, Cols, Slices, More int32
	}
	refSpecials struct {
		A, B                     refVectors
		Left, Right, C, Bound    cuda.Pointer
		RS, CS, BoundRS, BoundCS int64
		Alpha, Beta              float64
	}
)

// newReference returns a fake device with the kernels.
func newReference(t *testing.T) *cuda.Device { return newSmallReference(t, 0) }

// newSmallReference is newReference with so many bytes of memory.
func newSmallReference(t *testing.T, memory uint64) *cuda.Device {
	t.Helper()
	drv := &fake.Driver{TotalMemory: memory, Initcheck: true}
	for name, f := range map[string]any{
		"ozakiMaxima": refMaxima, "ozakiMaximaAlong": refMaxima,
		"ozakiSplit": refSplit, "ozakiSplitAlong": refSplit,
		"ozakiLiteral": refLiteral, "ozakiLiteralAlong": refLiteral,
		"ozakiPairs": refPairs, "ozakiPairsAlong": refPairs,
		"ozakiNorms": refNorms, "ozakiBound": refBound, "ozakiSum": refSum, "ozakiSpecial": refSpecial,
		"ozakiSgemm": refSgemm, "ozakiDouble": refDouble,
	} {
		drv.Kernel(name, f)
	}
	dev, err := cuda.OpenDriver(drv, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ozgpu.WithoutCuBLAS(cublas.ErrNone))
	return dev
}

// entries are the numbers of vectors.
type entries func(v, h int) float64

func (x refVectors) entries(l *fake.Launch) entries {
	if x.N == 0 || x.Len == 0 {
		return nil
	}
	lo, hi := int64(0), int64(0)
	for _, d := range []int64{int64(x.N-1) * x.VS, int64(x.Len-1) * x.HS} {
		lo, hi = lo+min(d, 0), hi+max(d, 0)
	}
	if x.Single != 0 {
		all := fake.Slice[float32](l, x.X+cuda.Pointer(4*lo), int(hi-lo+1))
		return func(v, h int) float64 { return float64(all[int64(v)*x.VS+int64(h)*x.HS-lo]) }
	}
	all := fake.Slice[float64](l, x.X+cuda.Pointer(8*lo), int(hi-lo+1))
	return func(v, h int) float64 { return all[int64(v)*x.VS+int64(h)*x.HS-lo] }
}

// plane is a matrix of rows x cols numbers, columns ld apart; nil at 0.
func plane[T any](l *fake.Launch, p cuda.Pointer, rows, cols, ld int64) []T {
	if p == 0 || rows == 0 || cols == 0 {
		return nil
	}
	return fake.Slice[T](l, p, int((cols-1)*ld+rows))
}

// output is a float64 matrix, written to at (i, j).
func output(l *fake.Launch, p cuda.Pointer, rows, cols, rs, cs int64) func(i, j int64) *float64 {
	if p == 0 || rows == 0 || cols == 0 {
		return nil
	}
	lo, hi := min((rows-1)*rs, 0)+min((cols-1)*cs, 0), max((rows-1)*rs, 0)+max((cols-1)*cs, 0)
	all := fake.Slice[float64](l, p+cuda.Pointer(8*lo), int(hi-lo+1))
	return func(i, j int64) *float64 { return &all[i*rs+j*cs-lo] }
}

func refMaxima(l *fake.Launch, x refVectors, bits, special, some cuda.Pointer) {
	at, m, flags := x.entries(l), fake.Slice[float64](l, bits, int(x.N)), fake.Slice[int32](l, special, int(x.N))
	for v := range int(x.N) {
		for h := range int(x.Len) {
			if e := math.Abs(at(v, h)); !finite(e) {
				flags[v], fake.Slice[int32](l, some, 1)[0] = 1, 1
			} else {
				m[v] = max(m[v], e)
			}
		}
	}
}

func refSplit(l *fake.Launch, p refSplitting) {
	at, maxima, nonzero := p.X.entries(l), fake.Slice[float64](l, p.Bits, int(p.X.N)), make([]uint64, 2)
	if p.Nonzero != 0 {
		nonzero = fake.Slice[uint64](l, p.Nonzero, 2)
	}
	places := map[int8][]float32{}
	for _, place := range append(p.Q[:p.Count:p.Count], p.R[:p.Count]...) {
		if place >= 0 {
			places[place] = fake.Slice[float32](l, p.Out+cuda.Pointer(4*int64(place)*p.Stride), int(p.Stride))
		}
	}
	var lossy []int32
	var squares []float64
	if p.Squares != 0 {
		lossy = fake.Slice[int32](l, p.Lossy, int(p.X.N))
		squares = fake.Slice[float64](l, p.Squares, (int(p.X.Len)+chunk-1)/chunk*2*int(p.Slices)*int(p.LD))
	}
	for v := range int(p.LD) {
		shift := 0
		if v < int(p.X.N) {
			shift = int(p.Width) - exponent(maxima[v])
		}
		half := shift / 2
		parts, sums := make([][lanes]float64, p.Count), make([]float64, p.Count)
		for h := range int(p.X.Len) {
			x := 0.0
			if v < int(p.X.N) {
				x = at(v, h)
			}
			if !finite(x) {
				x = 0
			}
			r := scale(scale(x, half), shift-half)
			if squares != nil && x != 0 && math.Abs(r) < 0x1p-1022 {
				lossy[v] = 1
			}
			for t := range int(p.First + p.Count) {
				q := math.RoundToEven(r)
				if i := t - int(p.First); i >= 0 {
					to := int64(h)*p.LD + int64(v)
					if p.Q[i] >= 0 {
						places[p.Q[i]][to] = float32(q)
					}
					if p.R[i] >= 0 {
						places[p.R[i]][to] = float32(r)
					}
					if q != 0 {
						nonzero[0] |= 1 << t
					}
					sums[i] += q * q
					if r != 0 {
						nonzero[1] |= 1 << t
						size := max(math.Abs(float64(float32(r))), smallest)
						parts[i][h%lanes] += float64(size * size)
					}
				}
				r = (r - q) * float64(int(2)<<p.Width)
			}
			if squares == nil || v >= int(p.X.N) || h%chunk != chunk-1 && h != int(p.X.Len)-1 {
				continue
			}
			for i := range parts {
				row := h/chunk*2*int(p.Slices) + int(p.First) + i
				squares[row*int(p.LD)+v], squares[(row+int(p.Slices))*int(p.LD)+v] = sums[i], fold(&parts[i])
				sums[i], parts[i] = 0, [lanes]float64{}
			}
		}
	}
}

func refLiteral(l *fake.Launch, p refLiterally) {
	at, n, nonzero := p.X.entries(l), int(p.X.N), make([]uint64, 2)
	if p.Nonzero != 0 {
		nonzero = fake.Slice[uint64](l, p.Nonzero, 2)
	}
	first, later := fake.Slice[float64](l, p.First, n), []float64(nil)
	if p.Slices > 1 {
		later = fake.Slice[float64](l, p.Later, n*int(p.Slices-1))
	}
	places := map[int32][]float32{}
	for _, place := range []int32{p.Q, p.R} {
		if place >= 0 {
			places[place] = fake.Slice[float32](l, p.Out+cuda.Pointer(4*int64(place)*p.Stride), int(p.Stride))
		}
	}
	var squares []float64
	if p.Square != 0 {
		squares = fake.Slice[float64](l, p.Square, (int(p.X.Len)+chunk-1)/chunk*2*int(p.Slices)*int(p.LD))
	}
	for v := range int(p.LD) {
		r := make([]float64, p.X.Len)
		for h := range r {
			if v < n && finite(at(v, h)) {
				r[h] = at(v, h)
			}
		}
		for t := range int(p.T) + 1 {
			shift, next, last := float32(0), 0.0, t == int(p.T)
			if v < n && t == 0 {
				shift = sigma(first[v], int(p.Beta))
			} else if v < n {
				shift = sigma(later[(t-1)*n+v], int(p.Beta))
			}
			var part [lanes]float64
			sum := 0.0
			for h, x := range r {
				y := float32(x)
				q := float32(y+shift) - shift
				r[h] = x - float64(q)
				if next = max(next, math.Abs(r[h])); !last {
					continue
				}
				to := int64(h)*p.LD + int64(v)
				if p.Q >= 0 {
					places[p.Q][to] = q
				}
				if p.R >= 0 {
					places[p.R][to] = y
				}
				if q != 0 {
					nonzero[0] |= 1 << t
				}
				sum += float64(q) * float64(q)
				if x != 0 {
					nonzero[1] |= 1 << t
					size := max(math.Abs(float64(y)), smallest)
					part[h%lanes] += float64(size * size)
				}
				if squares != nil && v < n && (h%chunk == chunk-1 || h == len(r)-1) {
					row := h/chunk*2*int(p.Slices) + t
					squares[row*int(p.LD)+v], squares[(row+int(p.Slices))*int(p.LD)+v] = sum, fold(&part)
					sum, part = 0, [lanes]float64{}
				}
			}
			if last && t+1 < int(p.Slices) && v < n {
				later[t*n+v] = max(later[t*n+v], next)
			}
		}
	}
}

func refNorms(l *fake.Launch, squares, lossy, norms cuda.Pointer, ld int64, n, length, slices, chunks int32) {
	from, to := fake.Slice[float64](l, squares, int(chunks*2*slices)*int(ld)), fake.Slice[float64](l, norms, int(2*slices)*int(ld))
	flags := fake.Slice[int32](l, lossy, int(n))
	for row := range int(2 * slices) {
		for v := range int(n) {
			sum := 0.0
			for c := range int(chunks) {
				sum += from[(c*2*int(slices)+row)*int(ld)+v]
			}
			factor := upward
			if row >= int(slices) {
				factor = 1 + float64(length+8)*0x1p-53
				if flags[v] != 0 && sum == 0 {
					sum = smallest * smallest
				}
			}
			to[row*int(ld)+v] = math.Sqrt(sum) * factor
		}
	}
}

func refBound(l *fake.Launch, p refBounding) {
	rows := func(from cuda.Pointer, ld int64, n int32) (x [][]float64) {
		for s := range int64(p.Slices + 1) {
			x = append(x, fake.Slice[float64](l, from+cuda.Pointer(8*s*ld), int(n)))
		}
		return x
	}
	x, y := rows(p.X, p.XLD, p.Rows), rows(p.Y, p.YLD, p.Cols)
	e := errorBound{x: x[:p.Slices], y: y[:p.Slices], tau: p.Tau, sumX: x[p.Slices], sumY: y[p.Slices]}
	to := plane[float64](l, p.Bounds, int64(p.Rows), int64(p.Cols), p.LD)
	for j := range int(p.Cols) {
		for i := range int(p.Rows) {
			at := i + j*int(p.LD)
			if p.More == 0 {
				to[at] = 0
			}
			to[at] += e.at(i, j)
		}
	}
}

func refSgemm(l *fake.Launch, p refProducts) {
	const tile = 64
	tiles := func(n int32) int { return (int(n) + tile - 1) / tile }
	if int(p.RowTiles) != tiles(p.Rows) || int(p.ColTiles) != tiles(p.Cols) || int(l.Grid.X) != tiles(p.Rows)*tiles(p.Cols) || l.Grid.Y != 1 ||
		int(l.Block.X) != tile || int(l.Shared) != 3*2*tile*16*4 || p.XLD%4 != 0 || p.YLD%4 != 0 || p.ZLD%4 != 0 {
		panic("wrong grid")
	}
	rows, cols, k := int64(p.Rows), int64(p.Cols), int64(p.K)
	for s := range int64(l.Grid.Z) {
		x := plane[float32](l, p.X+cuda.Pointer(4*int64(p.Left[s])*p.XStride), rows, k, p.XLD)
		y := plane[float32](l, p.Y+cuda.Pointer(4*int64(p.Right[s])*p.YStride), cols, k, p.YLD)
		z := plane[float32](l, p.Z+cuda.Pointer(4*s*p.ZStride), rows, cols, p.ZLD)
		for j := range cols {
			for i := range rows {
				sum := float32(0)
				for h := range k {
					sum = fma32(x[i+h*p.XLD], y[j+h*p.YLD], sum)
				}
				z[i+j*p.ZLD] = sum
			}
		}
	}
}

// fma32 returns x y + z rounded once: the product is exact in float64, its sum with z rounded
// to odd.
func fma32(x, y, z float32) float32 {
	p := float64(x) * float64(y)
	s := p + float64(z)
	t := s - p
	e := (p - (s - t)) + (float64(z) - t)
	if b := math.Float64bits(s); e != 0 && b&1 == 0 {
		if (e > 0) == (s > 0) {
			s = math.Float64frombits(b + 1)
		} else {
			s = math.Float64frombits(b - 1)
		}
	}
	return float32(s)
}

func refSum(l *fake.Launch, p refSumming) {
	rows, cols := int64(p.Rows), int64(p.Cols)
	products := make([][]float32, p.Count)
	for g := range products {
		products[g] = plane[float32](l, p.P+cuda.Pointer(4*int64(g)*p.Stride), rows, cols, p.LD)
	}
	t, sum, bounds := plane[float64](l, p.T, rows, cols, p.LD), plane[float64](l, p.Sum, rows, cols, p.LD), plane[float64](l, p.Bounds, rows, cols, p.LD)
	c, bound := output(l, p.C, rows, cols, p.RS, p.CS), output(l, p.Bound, rows, cols, p.BoundRS, p.BoundCS)
	left, right := fake.Slice[float64](l, p.Left, int(rows)), fake.Slice[float64](l, p.Right, int(cols))
	specialLeft, specialRight := fake.Slice[int32](l, p.SpecialLeft, int(rows)), fake.Slice[int32](l, p.SpecialRight, int(cols))
	down := func(n int) float64 { return math.Ldexp(1, -n*int(p.W)) }
	for j := range cols {
		for i := range rows {
			place, s := i+j*p.LD, 0.0
			if p.MoreT != 0 {
				s = t[place]
			}
			for g, x := range products {
				s = float64(s*down(int(p.Down[g]))) + float64(x[place])
			}
			if p.EndT == 0 {
				t[place] = s
				continue
			}
			s *= down(int(p.Last))
			if p.MoreSum != 0 {
				s += sum[place]
			}
			if c == nil {
				sum[place] = s
				continue
			}
			if specialLeft[i] != 0 || specialRight[j] != 0 {
				continue
			}
			to, old := c(i, j), 0.0
			if p.Beta != 0 {
				old = *to
			}
			x := exponent(left[i]) + exponent(right[j]) - int(p.Shift)
			*to = combine(s, x, p.M, int(p.E), p.Beta, old)
			if bound != nil {
				e := 0.0
				if bounds != nil {
					e = bounds[place]
				}
				*bound(i, j) = ofResult(e, s, p.M, x+int(p.E), p.Beta, old, *to)
			}
		}
	}
}

func refSpecial(l *fake.Launch, p refSpecials, columns int32) {
	rows, cols := int64(p.A.N), int64(p.B.N)
	x, y := p.A.entries(l), p.B.entries(l)
	c, bound := output(l, p.C, rows, cols, p.RS, p.CS), output(l, p.Bound, rows, cols, p.BoundRS, p.BoundCS)
	left, right := fake.Slice[int32](l, p.Left, int(rows)), fake.Slice[int32](l, p.Right, int(cols))
	for j := range int(cols) {
		for i := range int(rows) {
			if columns == 0 && left[i] == 0 || columns != 0 && (right[j] == 0 || left[i] != 0) {
				continue
			}
			sum := 0.0
			for h := range int(p.A.Len) {
				if a, b := x(i, h), y(j, h); !finite(a) || !finite(b) {
					sum += float64(a * b)
				}
			}
			to, old, addend := c(int64(i), int64(j)), 0.0, 0.0
			if p.Beta != 0 {
				old = *to
			}
			if !finite(p.Beta) || !finite(old) {
				addend = float64(p.Beta * old)
			}
			*to = float64(p.Alpha*sum) + addend
			if bound != nil {
				*bound(int64(i), int64(j)) = 0
			}
		}
	}
}

func refPairs(l *fake.Launch, x refVectors, bits, high, low cuda.Pointer, ld int64) {
	at, maxima := x.entries(l), fake.Slice[float64](l, bits, int(x.N))
	hi, lo := fake.Slice[float32](l, high, int(ld)*int(x.Len)), fake.Slice[float32](l, low, int(ld)*int(x.Len))
	for v := range int(ld) {
		for h := range int(x.Len) {
			y := 0.0
			if v < int(x.N) && finite(at(v, h)) {
				shift := -exponent(maxima[v])
				y = scale(scale(at(v, h), shift/2), shift-shift/2)
			}
			top := float32(y)
			hi[int64(h)*ld+int64(v)], lo[int64(h)*ld+int64(v)] = top, float32(y-float64(top))
		}
	}
}

// refPairProduct is the argument of ozakiDouble.
type refPairProduct struct {
	XHigh, XLow, YHigh, YLow, T       cuda.Pointer
	XLD, YLD, TLD                     int64
	Rows, Cols, K, RowTiles, ColTiles int32
	_                                 int32
}

func refDouble(l *fake.Launch, p refPairProduct) {
	tiles := func(n int32) int32 { return (n + 63) / 64 }
	if p.RowTiles != tiles(p.Rows) || p.ColTiles != tiles(p.Cols) || int32(l.Grid.X) != p.RowTiles*p.ColTiles || l.Block.X != 256 || p.XLD%4 != 0 || p.YLD%4 != 0 {
		panic("wrong grid")
	}
	k := sgemm.BestPairs()
	rows, cols, length := int64(p.Rows), int64(p.Cols), int64(p.K)
	panels := func(from cuda.Pointer, n, ld int64, width int) *sgemm.Panels {
		x, z := plane[float32](l, from, n, length, ld), sgemm.NewPanels(width, int(n), int(length), nil)
		for v := range int(n) {
			for h := range int(length) {
				z.Data[(v/width*int(length)+h)*width+v%width] = x[int64(v)+int64(h)*ld]
			}
		}
		return z
	}
	hi, lo := make([]float32, rows*cols), make([]float32, rows*cols)
	x := sgemm.Pairs{Hi: panels(p.XHigh, rows, p.XLD, k.MR), Lo: panels(p.XLow, rows, p.XLD, k.MR)}
	y := sgemm.Pairs{Hi: panels(p.YHigh, cols, p.YLD, k.NR), Lo: panels(p.YLow, cols, p.YLD, k.NR)}
	if err := k.Mul(context.Background(), 1, hi, lo, int(rows), x, y); err != nil {
		panic(err)
	}
	t := plane[float64](l, p.T, rows, cols, p.TLD)
	for j := range cols {
		for i := range rows {
			t[i+j*p.TLD] = float64(hi[i+j*rows]) + float64(lo[i+j*rows])
		}
	}
}
