package gputest

import (
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
)

// mergeReference gives the kernels of kernels/seed/merge.cu, in Go, to a driver.
func mergeReference(t testing.TB, drv *fake.Driver) {
	t.Helper()
	drv.Kernel("mergeRoots", refMergeRoots)
	drv.Kernel("mergeRebuild", refMergeRebuild)
	drv.Kernel("mergeVectors", refMergeVectors)
	drv.Kernel("mergeRow", refMergeRow)
	drv.Kernel("mergeRotate", refMergeRotate)
	drv.Kernel("mergeGather", refMergeGather)
	drv.Kernel("mergeReturn", refMergeReturn)
	drv.Kernel("mergeMultiply", refMergeMultiply)
}

// mergeData has what kernels read and write.
type mergeData struct {
	abi.SpectralMerge
	d, z, roots, tau       []float64
	origin, place, columns []int32
	q, above, below, rest  []float64
	delta                  []float64
}

func mergeOf(l *fake.Launch, g abi.SpectralMerge) mergeData {
	n, k := int(g.Kept), int(g.Order)
	lower := k - int(g.Upper)
	list := func(p cuda.Pointer, count int) []float64 {
		if p == 0 { // before columns are chosen
			return nil
		}
		return fake.Slice[float64](l, p, count)
	}
	ints := func(p cuda.Pointer, count int) []int32 { return fake.Slice[int32](l, p, count) }
	return mergeData{
		SpectralMerge: g, d: list(g.D, n), z: list(g.Z, n), roots: list(g.Roots, n), tau: list(g.Tau, n),
		origin: ints(g.Origin, n), place: ints(g.Place, n), columns: ints(g.Columns, k), q: list(g.Q, (k-1)*int(g.LD)+k),
		above: list(g.Above, int(g.Mixed*g.Upper)), below: list(g.Below, int(g.Kept-g.Top)*lower), rest: list(g.Rest, int(g.Order-g.Kept)*k), delta: list(g.Delta, n*n),
	}
}

// column returns column j of Q.
func (m *mergeData) column(j int) []float64 { return m.q[j*int(m.LD):][:m.Order] }

// refMergeRoots halves brackets.
func refMergeRoots(l *fake.Launch, g abi.SpectralMerge) {
	m := mergeOf(l, g)
	sum := 0.0
	for _, z := range m.z {
		sum += float64(z * z)
	}
	for i := range m.d {
		o := i
		at := func(tau float64) float64 {
			w := 1.0
			for j, z := range m.z {
				w += float64(z*z) / (m.d[j] - m.d[o] - tau)
			}
			return w
		}
		low, high := 0.0, sum*(1+0x1p-40)
		if i < len(m.d)-1 {
			gap := m.d[i+1] - m.d[i]
			if high = gap; at(float64(gap/2)) < 0 {
				o, low, high = i+1, -gap, 0
			}
		}
		for {
			tau := low + float64((high-low)/2)
			if !(low < tau && tau < high) {
				m.tau[i] = tau
				break
			}
			if at(tau) < 0 {
				low = tau
			} else {
				high = tau
			}
		}
		m.origin[i], m.roots[i] = int32(o), m.d[o]+m.tau[i]
	}
}

// gap returns D_j minus root i.
func (m *mergeData) gap(j, i int) float64 { return m.d[j] - m.d[m.origin[i]] - m.tau[i] }

func refMergeRebuild(l *fake.Launch, g abi.SpectralMerge) {
	m := mergeOf(l, g)
	for j := range m.z {
		x := m.gap(j, j)
		for i := range m.d {
			if i != j {
				x *= m.gap(j, i) / (m.d[j] - m.d[i])
			}
		}
		m.z[j] = math.Copysign(math.Sqrt(math.Abs(x)), m.z[j])
	}
}

func refMergeVectors(l *fake.Launch, g abi.SpectralMerge) {
	m := mergeOf(l, g)
	n := len(m.d)
	for i := range n {
		squares := 0.0
		for j, z := range m.z {
			v := z / m.gap(j, i)
			m.delta[int(m.place[j])+i*n] = v
			squares += float64(v * v)
		}
		for j := range n {
			m.delta[j+i*n] /= math.Sqrt(squares)
		}
	}
}

func refMergeRow(l *fake.Launch, g abi.SpectralMerge, to cuda.Pointer) {
	m := mergeOf(l, g)
	row := fake.Slice[float64](l, to, int(g.Order))
	for j := range row {
		at := g.Upper
		if j < int(at) {
			at--
		}
		row[j] = m.column(j)[at]
	}
}

func refMergeRotate(l *fake.Launch, g abi.SpectralMerge, list cuda.Pointer, count int32) {
	m := mergeOf(l, g)
	for _, r := range fake.Slice[abi.SpectralRotation](l, list, int(count)) {
		x, y := m.column(int(uint32(r[0]))), m.column(int(r[0]>>32))
		c, s := math.Float64frombits(r[1]), math.Float64frombits(r[2])
		for i, a := range x {
			b := y[i]
			x[i], y[i] = float64(c*a)+float64(s*b), float64(c*b)-float64(s*a)
		}
	}
}

func refMergeGather(l *fake.Launch, g abi.SpectralMerge) {
	m := mergeOf(l, g)
	k, upper, kept := int(g.Order), int(g.Upper), int(g.Kept)
	for c, j := range m.columns {
		x := m.column(int(j))
		if c < int(g.Mixed) {
			copy(m.above[c*upper:], x[:upper])
		}
		if int(g.Top) <= c && c < kept {
			copy(m.below[(c-int(g.Top))*(k-upper):], x[upper:])
		}
		if c >= kept {
			copy(m.rest[(c-kept)*k:], x)
		}
	}
}

func refMergeReturn(l *fake.Launch, g abi.SpectralMerge) {
	m := mergeOf(l, g)
	k := int(g.Order)
	for c := int(g.Kept); c < k; c++ {
		copy(m.column(c), m.rest[(c-int(g.Kept))*k:])
	}
}

func refMergeMultiply(l *fake.Launch, g abi.SpectralMerge) {
	m := mergeOf(l, g)
	upper, kept := int(g.Upper), int(g.Kept)
	for j := range kept {
		to := m.column(j)
		clear(to)
		for c, v := range m.delta[j*kept:][:kept] {
			if c < int(g.Mixed) {
				for i, x := range m.above[c*upper:][:upper] {
					to[i] += float64(x * v)
				}
			}
			if c >= int(g.Top) {
				lower := len(to) - upper
				for i, x := range m.below[(c-int(g.Top))*lower:][:lower] {
					to[upper+i] += float64(x * v)
				}
			}
		}
	}
}
