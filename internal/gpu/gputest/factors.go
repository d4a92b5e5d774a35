package gputest

import (
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// FactorsReference returns a fake device with the kernels of kernels/newton/triangles.cu and
// splitting.cu, and of kernels/seed/root.cu, in Go.
func FactorsReference(t testing.TB, drv *fake.Driver) *cuda.Device {
	t.Helper()
	drv.Kernel("diagonal", refDiagonal)
	drv.Kernel("acrossTiles", refAcrossTiles)
	drv.Kernel("magnitudesTimes", refMagnitudesTimes)
	drv.Kernel("parted", refParted)
	drv.Kernel("notSmall", refNotSmall)
	drv.Kernel("rootExponents", refRootExponents)
	drv.Kernel("rootMatrix", refRootMatrix)
	drv.Kernel("rootBlock", refRootBlock)
	drv.Kernel("rootPanel", refRootPanel)
	drv.Kernel("rootRows", refRootRows)
	drv.Kernel("rootStep", refRootStep)
	drv.Kernel("rootUpdate", refRootUpdate)
	drv.Kernel("rootInverse", refRootInverse)
	return opened(t, drv)
}

func refDiagonal(l *fake.Launch, k abi.Diagonal) {
	a := matOf(l, k.A)
	for i := range a.Rows {
		at := a.At(i, i)
		if a.Arr.Kind == num.F64 {
			if x := a.Arr.F64[0][at]; !(x > 0) || math.IsInf(x, 1) {
				fake.Slice[uint32](l, k.Count, 1)[0]++
			}
			continue
		}
		switch c := a.Arr.Cls[at]; {
		case k.Operation == abi.DiagonalHalve && c.Class() == num.Finite:
			a.Arr.Exp[at]--
		case k.Operation == abi.DiagonalPositive && (c.Class() != num.Finite || c.Neg()):
			fake.Slice[uint32](l, k.Count, 1)[0]++
		}
	}
}

func refAcrossTiles(l *fake.Launch, k abi.Across) {
	a, b := matOf(l, k.A), matOf(l, k.B)
	for j := range a.Cols {
		for i := range a.Rows {
			at, across := a.At(i, j), b.At(i, j)
			switch {
			case k.Triangle == 'L' && i <= j || k.Triangle == 'U' && i >= j:
			case k.Count == 0:
				a.Arr.CopyFrom(at, b.Arr, across)
			case !a.Arr.SameBits(at, b.Arr, across):
				fake.Slice[uint32](l, k.Count, 1)[0]++
			}
		}
	}
}

func refMagnitudesTimes(l *fake.Launch, k abi.Bounding) {
	a := matOf(l, k.A)
	z := fake.Slice[float64](l, k.Z, a.Rows)
	for i := range a.Rows {
		sum := 0.0
		for j := range a.Cols {
			at := a.At(i, j)
			if a.Arr.Class(at) == num.Zero {
				continue
			}
			m := math.Inf(1)
			if e := int(a.Arr.Exp[at]); e <= 1000 {
				m = math.Ldexp(float64(num.WordAt(a.Arr.Sig, int64(64*((at+1)*a.Arr.Limbs()-1)))>>12+1), e-52) + 0x1p-1000
			}
			if k.X != 0 {
				m *= fake.Slice[float64](l, k.X, a.Cols)[j]
			}
			sum += m
		}
		z[i] = float64(sum*(1+float64(float64(a.Cols+4)*0x1p-52))) + 0x1p-900
	}
}

// rootColumn returns column j of F. A GPU may have only some of the columns.
func rootColumn(l *fake.Launch, g abi.Root, j int) []float64 {
	return fake.Slice[float64](l, g.F+cuda.Pointer(8*j*int(g.N)), int(g.N))
}

func refRootExponents(l *fake.Launch, g abi.Root, begin, end int32) {
	a := matOf(l, g.A)
	exps := fake.Slice[int64](l, g.Exps, a.Rows)
	for i := int(begin); i < int(end); i++ {
		x, e := a.Arr.Leading(a.At(i, i-int(begin)))
		if !(x > 0) {
			fake.Slice[uint32](l, g.Status, 1)[0] |= abi.SeedSingular
		}
		exps[i] = -(e >> 1)
	}
}

func refRootMatrix(l *fake.Launch, g abi.Root, begin int32) {
	const far = 1000
	a, exps := matOf(l, g.A), fake.Slice[int64](l, g.Exps, int(g.A.N))
	for j := int(begin); j < int(begin)+int(l.Grid.Y); j++ {
		f := rootColumn(l, g, j)
		for i := range f {
			f[i] = 0
			if i == j {
				f[i] = 1
			}
			if i < j || i >= a.Rows {
				continue
			}
			x, e := a.Arr.Leading(a.At(i, j-int(begin)))
			e += exps[i] + exps[j]
			if c, _, _ := a.Arr.Span(a.At(i, j-int(begin))); c > num.Finite || x != 0 && e > far {
				fake.Slice[uint32](l, g.Status, 1)[0] |= abi.SeedNotFinite
				x = 0
			}
			if f[i] = 0; x != 0 && e >= -far {
				f[i] = math.Ldexp(x, int(e))
			}
		}
	}
}

func refRootBlock(l *fake.Launch, g abi.Root) {
	invertRootBlock(l, g, int(g.First), stepInverse(l, g, int(g.First)))
}

// invertRootBlock stores the inverse of the Cholesky factor of a step's block.
func invertRootBlock(l *fake.Launch, g abi.Root, first int, inverse []float64) {
	const k = abi.SeedBlock
	var m [k][k]float64 // by rows, the lower triangle
	for i := range k {
		for j := range i + 1 {
			m[i][j] = rootColumn(l, g, first+j)[first+i]
		}
	}
	for s := range k {
		d := m[s][s]
		if !(d > 0x1p-80) {
			fake.Slice[uint32](l, g.Status, 1)[0] |= abi.SeedSingular
			d = 1
		}
		for i := s + 1; i < k; i++ {
			factor := m[i][s] / d
			for j := range i + 1 {
				switch {
				case j < s:
					m[i][j] -= float64(factor * m[s][j])
				case j == s:
					m[i][j] = -factor
				}
			}
		}
		for i := s + 1; i < k; i++ {
			for j := s + 1; j <= i; j++ {
				m[i][j] -= float64(m[i][s] * m[j][s] * d) // both are -m/d by now
			}
		}
		for j := range s {
			m[s][j] /= math.Sqrt(d)
		}
		m[s][s] = 1 / math.Sqrt(d)
	}
	for j := range k {
		for i := range k {
			inverse[j*k+i] = m[i][j]
		}
	}
}

// stepInverse returns L^-1 of a step, and stepP its P.
func stepInverse(l *fake.Launch, g abi.Root, first int) []float64 {
	const k = abi.SeedBlock
	return fake.Slice[float64](l, g.Inverse+cuda.Pointer(8*k*(first-int(g.Panel))), k*k)
}

func stepP(l *fake.Launch, g abi.Root, first int) []float64 {
	return fake.Slice[float64](l, g.P+cuda.Pointer(8*int(g.N)*(first-int(g.Panel))), abi.SeedBlock*int(g.N))
}

// stepRows makes P of a step in column j from rows of F, and stores it in S as well.
func stepRows(l *fake.Launch, g abi.Root, first, j int, old [abi.SeedBlock]float64) {
	const k = abi.SeedBlock
	n := int(g.N)
	inverse, p := stepInverse(l, g, first), stepP(l, g, first)
	for h := range k {
		sum := 0.0
		for m := range h + 1 {
			sum += float64(inverse[m*k+h] * old[m])
		}
		p[h*n+j] = sum
		if j < first+k {
			rootColumn(l, g, j)[first+h] = sum
		}
	}
}

func refRootPanel(l *fake.Launch, g abi.Root, begin int32) {
	const k = abi.SeedBlock
	first := int(g.First)
	for j := int(begin); j < int(g.N); j++ {
		var old [k]float64
		for h := range k {
			switch {
			case j < first:
				old[h] = rootColumn(l, g, j)[first+h]
			case j >= first+k:
				old[h] = rootColumn(l, g, first+h)[j]
			case j == first+h:
				old[h] = 1
			}
		}
		stepRows(l, g, first, j, old)
	}
}

func refRootRows(l *fake.Launch, g abi.Root, begin, width int32) {
	const k = abi.SeedBlock
	n, panel := int(g.N), int(g.Panel)
	for j := int(begin); j < int(begin)+16*int(l.Grid.X); j++ {
		for first := panel; first < panel+int(width); first += k {
			var old [k]float64
			for h := range k {
				old[h] = rootColumn(l, g, j)[first+h]
				for s := panel; s < first; s += k {
					p := stepP(l, g, s)
					for m := range k {
						old[h] -= float64(p[m*n+first+h] * p[m*n+j])
					}
				}
			}
			stepRows(l, g, first, j, old)
		}
	}
}

func refRootUpdate(l *fake.Launch, g abi.Root, from, depth int32, t abi.RootTiles) {
	n := int(g.N)
	p := fake.Slice[float64](l, g.P+cuda.Pointer(8*n*int(from-g.Panel)), int(depth)*n)
	update := func(j, i0 int) {
		f := rootColumn(l, g, j)
		for i := max(j, i0); i < n; i++ {
			sum := f[i]
			if int(from) <= j && j < int(from+depth) {
				sum = 0
			}
			for h := range int(depth) {
				sum -= float64(p[h*n+i] * p[h*n+j])
			}
			f[i] = sum
		}
	}
	for j := int(t.Begin); j < int(t.End); j++ {
		update(j, int(t.Row))
	}
	for j := int(t.Triangle); j < int(t.Until); j++ {
		update(j, j)
	}
}

func refRootStep(l *fake.Launch, g abi.Root, from, depth int32, t abi.RootTiles, inverse cuda.Pointer) {
	refRootUpdate(l, g, from, depth, t)
	if inverse != 0 {
		invertRootBlock(l, g, int(from+depth), fake.Slice[float64](l, inverse, abi.SeedBlock*abi.SeedBlock))
	}
}

func refRootInverse(l *fake.Launch, g abi.Root, begin int32, to cuda.Pointer, rs, cs int64) {
	for k := range int(l.Grid.Y) {
		j := int(begin) + k
		f := rootColumn(l, g, j)
		for i := range int(g.A.N) {
			x := 0.0
			if i >= j {
				x = f[i]
			}
			if x-x != 0 || i == j && !(x > 0) {
				fake.Slice[uint32](l, g.Status, 1)[0] |= abi.SeedNotFinite
			}
			fake.Slice[float64](l, to+cuda.Pointer(8*(int64(i)*rs+int64(k)*cs)), 1)[0] = x
		}
	}
}
