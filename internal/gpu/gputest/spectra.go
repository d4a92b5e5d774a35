package gputest

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// spectraReference gives the kernels of kernels/seed/spectra.cu, in Go, to a driver.
func spectraReference(drv *fake.Driver) {
	drv.Kernel("spectraBounds", refSpectraBounds)
	drv.Kernel("spectraSums", refSpectraSums)
	drv.Kernel("spectraCouplings", refSpectraCouplings)
	drv.Kernel("spectraDistances", refSpectraDistances)
	drv.Kernel("spectraCorrection", refSpectraCorrection)
	drv.Kernel("spectraSigns", refSpectraSigns)
	drv.Kernel("spectraColumns", refSpectraColumns)
	drv.Kernel("spectraSeed", refSpectraSeed)
	drv.Kernel("spectraFloats", refSpectraFloats)
	drv.Kernel("spectraLoad", refSpectraLoad)
}

const plainLeast = 0x1p-250

// spectra has the lists of an abi.Spectra.
type spectra struct {
	n                                    int
	fs, fr                               []float64
	longS, lostS                         []float64
	hi, lo, last, size, lost, rowS, rowR []float64
	radius, tilt, to                     []float64
	failed                               []uint32
}

func spectraOf(l *fake.Launch, g *abi.Spectra) spectra {
	n := int(g.N)
	list := func(p cuda.Pointer) []float64 { return fake.Slice[float64](l, p, n) }
	return spectra{
		n: n, fs: fake.Slice[float64](l, g.FS, n*n), fr: fake.Slice[float64](l, g.FR, n*n), longS: list(g.LongS), lostS: list(g.LostS),
		hi: list(g.Hi), lo: list(g.Lo), last: list(g.Last), size: list(g.Size), lost: list(g.Lost), rowS: list(g.RowS), rowR: list(g.RowR),
		radius: list(g.Radius), tilt: list(g.Tilt), to: fake.Slice[float64](l, g.To, 6*n), failed: fake.Slice[uint32](l, g.Failed, 1),
	}
}

func (z *spectra) must(ok bool) {
	if !ok {
		z.failed[0] = 1
	}
}

func refSpectraBounds(l *fake.Launch, g abi.Spectra) {
	z, s, r := spectraOf(l, &g), matOf(l, g.S), matOf(l, g.R)
	// bounded returns the magnitude, its 53 leading bits rounded up.
	bounded := func(m num.Mat, i, j int) float64 {
		x := m.Arr.Value(m.At(i, j), make([]uint64, num.ValueWords(m.Arr.Format)))
		if x.Class != num.Finite {
			return 0
		}
		e := topOf(x)
		z.must(-250 < e && e < 250)
		return math.Ldexp(float64(num.WordAt(x.Mag, e-64-x.Exp)>>11+1), int(e)-53)
	}
	for j := range z.n {
		for i := range j + 1 {
			v, w := bounded(s, i, j), bounded(r, i, j)
			v = (v + float64(z.longS[i]*z.lostS[j])) * (1 + 0x1p-50)
			z.must(!(v != 0 && v < plainLeast || w != 0 && w < plainLeast))
			z.fs[i+j*z.n], z.fs[j+i*z.n] = v, v
			z.fr[i+j*z.n], z.fr[j+i*z.n] = w, w
		}
	}
}

func refSpectraSums(l *fake.Launch, g abi.Spectra) {
	z := spectraOf(l, &g)
	for j := range z.n {
		a, b := 0.0, 0.0
		for i := range z.n {
			if v, w := z.fs[i+j*z.n], z.fr[i+j*z.n]; i != j {
				a += float64(v * v)
				b += float64(w * w)
			}
		}
		z.to[j], z.to[j+z.n], z.to[j+2*z.n] = a, b, z.fr[j+j*z.n]
	}
}

func (z *spectra) apart(i, j int) float64 {
	d := math.Abs((z.hi[i] - z.hi[j]) + (z.lo[i] - z.lo[j]))
	return float64(d*(1-0x1p-49)) - float64(max(z.size[i], z.size[j])*0x1p-93)
}

func refSpectraCouplings(l *fake.Launch, g abi.Spectra) {
	z := spectraOf(l, &g)
	n := z.n
	for i := range n {
		fs, fr := z.fs[i*n:(i+1)*n], z.fr[i*n:(i+1)*n]
		in := float64(z.lost[i] * (1.5 * (1 + 0x1p-50)))
		largest, nearest := fr[i], 0x1p1000
		for k := range n {
			if k == i {
				continue
			}
			a := z.apart(k, i)
			v := fs[k] + float64(max(z.size[i], z.size[k])*fr[k])
			z.must(a > plainLeast && float64(v*((1<<12)*(1+0x1p-40))) < a)
			if k < i {
				largest = max(largest, fr[k], v/a)
			}
			nearest = min(nearest, float64(a*(1-0x1p-48))-in)
		}
		z.must(nearest >= plainLeast)
		m := (z.size[i] + in + float64(nearest/128)) * (1 + 0x1p-48)
		var sums [4]float64
		for k := range n {
			if k == i {
				continue
			}
			gap := float64(z.apart(k, i)*(1-0x1p-48)) - in
			gap = float64(gap*((1-0x1p-6-0x1p-45)*(1-g.Alpha))) - float64(z.lost[k]*1.25)
			z.must(gap >= plainLeast)
			inverse := 1 / gap
			v := fs[k] + float64(m*fr[k])
			row, x := (z.rowS[k]+float64(m*z.rowR[k]))*inverse, v*inverse
			sums[0] += float64(x * v)
			sums[1] += float64(x * x)
			sums[2] += float64(row * v)
			sums[3] += float64(row * row)
		}
		z.to[i], z.to[i+n] = largest, nearest
		for c, x := range sums {
			z.to[i+(2+c)*n] = x
		}
	}
}

func refSpectraDistances(l *fake.Launch, g abi.Spectra) {
	z := spectraOf(l, &g)
	n := z.n
	for j := range n {
		fs, fr := z.fs[j*n:(j+1)*n], z.fr[j*n:(j+1)*n]
		r, tilt := z.radius[j], z.tilt[j]
		large := (z.size[j] + r) * (1 + 0x1p-50)
		sum, largest, pull := 0.0, 0.0, 0.0
		for k := range n {
			if k == j {
				continue
			}
			gap := float64(z.apart(j, k)*(1-0x1p-47)) - float64(2*r) - float64(2*z.lost[k])
			gap = float64(gap*(1-0x1p-47)) * (1 - g.Alpha)
			z.must(gap >= plainLeast)
			inverse := 1 / gap
			x, row := fs[k]+float64(large*fr[k]), z.rowS[k]+float64(large*z.rowR[k])
			relative := g.Cut + float64(2*z.fr[k+k*n]) + float64(float64(2*(r+z.lost[k]))*inverse)
			v := float64(row*tilt) + float64(r*fr[k]) + float64(x*relative)
			v += float64(z.longS[min(j, k)] * z.lostS[max(j, k)])
			v *= inverse
			largest = max(largest, v)
			sum += float64(v * v)
			if g.Image != 0 {
				pull += float64(fake.Slice[float64](l, g.Image, n)[k] * v)
			}
		}
		z.to[j], z.to[j+n], z.to[j+2*n] = sum, largest, pull
	}
}

// refSpectraCorrection computes the entries in 400 bits, rounded.
func refSpectraCorrection(l *fake.Launch, g abi.Spectra, e abi.Target) {
	z, s, r := spectraOf(l, &g), matOf(l, g.S), matOf(l, g.R)
	to := resultsOf(l, e, g.S)
	wide := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	d := make([]*big.Float, z.n)
	for i := range d {
		d[i] = wide(z.hi[i])
		d[i].Add(d[i], wide(z.lo[i])).Add(d[i], wide(z.last[i]))
	}
	for j := range z.n {
		to.SetBig(j, j, new(big.Float).SetMantExp(r.Big(j, j), -1))
		for k := range j {
			small, large := j, k
			if z.size[k] < z.size[j] {
				small, large = k, j
			}
			gap := wide(0).Sub(d[small], d[large])
			v, _ := gap.Float64()
			if v = math.Abs(v); v < float64(0x1p-40*z.size[large]) || v < plainLeast {
				z.must(false)
				continue
			}
			q := wide(0).Mul(d[small], r.Big(k, j))
			q.Add(q, s.Big(k, j)).Quo(q, gap)
			to.SetBig(large, small, q)
			to.SetBig(small, large, wide(0).Sub(r.Big(k, j), q))
		}
	}
}

func refSpectraSigns(l *fake.Launch, g abi.SpectraSign) {
	x, d := matOf(l, g.X), matOf(l, g.D)
	errors, signs := fake.Slice[int64](l, g.Errors, x.Cols), fake.Slice[int32](l, g.To, x.Cols)
	for j := range x.Cols {
		top := int64(math.MinInt64)
		for _, m := range []num.Mat{x, d} {
			for i := range m.Rows {
				if v, e := m.Arr.Leading(m.At(i, j)); v != 0 {
					top = max(top, e+1)
				}
			}
		}
		signs[j] = 0
		if top == math.MinInt64 || errors[j] > top-20 {
			continue
		}
		a, most := make([]float64, x.Rows), 0.0
		for i := range a {
			for _, m := range []num.Mat{x, d} {
				v, e := m.Arr.Leading(m.At(i, j))
				a[i] += math.Ldexp(v, int(max(e-top, -1000)))
			}
			most = max(most, math.Abs(a[i]))
		}
		quarter := float64(most * (math.Pi / 4))
		margin := 0x1p-40 + math.Ldexp(1, int(max(errors[j]+2-top, -1000)))
		for _, v := range a {
			if m := math.Abs(v); !(m < quarter-margin) {
				if m > quarter+margin {
					signs[j] = int32(math.Copysign(1, v))
				}
				break
			}
		}
	}
}

func refSpectraColumns(l *fake.Launch, g abi.SpectraOrder) {
	x := matOf(l, g.X)
	view := g.X
	view.K = int32(l.Grid.Y)
	z := resultsOf(l, g.Z, view)
	order, signs := fake.Slice[int32](l, g.Order, z.Cols), fake.Slice[int32](l, g.Signs, z.Cols)
	for p := range z.Cols {
		for i := range z.Rows {
			v := x.Arr.Value(x.At(i, int(order[p])), make([]uint64, num.ValueWords(x.Arr.Format)))
			v.Neg = v.Neg != (signs[p] < 0)
			z.Arr.Set(z.At(i, p), v)
		}
	}
}

func refSpectraSeed(l *fake.Launch, from cuda.Pointer, ld int64, order cuda.Pointer, x abi.Target, failed cuda.Pointer, n int32) {
	a := fake.Slice[float64](l, from, int(ld*ld))
	z := resultsOf(l, x, abi.Vectors{N: n, K: n})
	for p, j := range fake.Slice[int32](l, order, int(n)) {
		for i := range z.Rows {
			v := a[i+int(j)*int(ld)]
			if math.IsNaN(v - v) {
				fake.Slice[uint32](l, failed, 1)[0], v = 1, 0
			}
			if math.Abs(v) < 0x1p-1022 {
				v = 0
			}
			z.SetFloat64(i, p, v)
		}
	}
}

func refSpectraFloats(l *fake.Launch, x abi.Vectors, to cuda.Pointer, ld int64) {
	a, z := matOf(l, x), fake.Slice[float64](l, to, int(ld*ld))
	clear(z)
	for j := range a.Cols {
		for i := range a.Rows {
			if v, e := a.Arr.Leading(a.At(i, j)); e >= -1000 {
				z[i+j*int(ld)] = math.Ldexp(v, int(e))
			}
		}
	}
}

func refSpectraLoad(l *fake.Launch, to cuda.Pointer, ld int64, from cuda.Pointer, rows int32, base cuda.Pointer, order int32) {
	n, k := int(ld), int(rows)
	z, q := fake.Slice[float64](l, to, n*n), fake.Slice[float64](l, from, k*int(order))
	clear(z)
	for j, first := range fake.Slice[int32](l, base, int(order)) {
		copy(z[int(first)+j*n:int(order)+j*n], q[j*k:(j+1)*k])
	}
}
