package expansion

import (
	"context"
	"errors"
	"testing"

	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testlength"
)

// The kernels of internal/kernels/expansion in Go, by the arithmetic of this package. They stand
// for the kernels on a fake device.

// refEntries is struct entries.
type refEntries struct {
	W      [4]cuda.Pointer
	RS, CS int64
}

// refView is entries whose memory has been looked up.
type refView struct {
	w      [4][]float64
	rs, cs int64
	off    int64
}

// open returns the memory of rows x cols entries.
func (e refEntries) open(l *fake.Launch, rows, cols int64) refView {
	v := refView{rs: e.RS, cs: e.CS}
	if rows <= 0 || cols <= 0 {
		return v
	}
	down, across := (rows-1)*e.RS, (cols-1)*e.CS
	lo, hi := min(down, 0)+min(across, 0), max(down, 0)+max(across, 0)
	v.off = -lo
	for t, p := range e.W {
		if p != 0 {
			v.w[t] = fake.Slice[float64](l, p+cuda.Pointer(8*lo), int(hi-lo+1))
		}
	}
	return v
}

// word returns word t of entry (i, j).
func (v refView) word(t int, i, j int64) *float64 { return &v.w[t][v.off+i*v.rs+j*v.cs] }

// worded is a number of one to four words.
type worded interface{ float1 | DD | TD | QD }

func refLoad[E worded](v refView, i, j int64) (x E) {
	for t := range len(x) {
		x[t] = *v.word(t, i, j)
	}
	return x
}

func refStore[E worded](v refView, i, j int64, x E) {
	for t := range len(x) {
		*v.word(t, i, j) = x[t]
	}
}

// refProduct, refPanel and refExchange are the kernels' structures.
type (
	refProduct struct {
		A, B, C               refEntries
		Alpha, Beta           [4]float64
		M, N, K               int32
		PlainAlpha, PlainBeta int32
		SkipRow, SkipRows     int32
		SkipCol, SkipCols     int32
		Vertical              int32
	}
	refPanel struct {
		A                          refEntries
		Candidates, Diagonal, Keys cuda.Pointer
		Slabs, Pivots, Info        cuda.Pointer
		N, K0, Width, Rows, Zero   int32
		Pad                        int32
	}
	refExchange struct {
		A, Rows           refEntries
		Pivots, Info      cuda.Pointer
		K0, Width, Cols   int32
		SkipCol, SkipCols int32
		Clear             int32
	}
)

// steps are the steps of native sums of products, in one format.
type steps[E any] struct {
	mac       func(s, a, b E) E
	normalise func(s E) E
}

var (
	arithmeticDD = steps[DD]{macDD, sumDD}
	arithmeticTD = steps[TD]{macTD, sumTD}
	arithmeticQD = steps[QD]{macQD, sumQD}
)

// finite is a normalised sum, or if it is not finite, the result of the leading words.
func finite[E worded](sum E, plain float64) E {
	if sum[0]-sum[0] == 0 {
		return sum
	}
	return float[E](plain)
}

// float is the number x.
func float[E worded](x float64) (z E) {
	z[0] = x
	return z
}

// newReference returns a fake device with the kernels.
func newReference(t *testing.T) (*cuda.Device, *fake.Driver) {
	testlength.SkipSlow(t, "kernels of fake GPUs are Go of the tests")
	t.Helper()
	drv := &fake.Driver{Initcheck: true}
	registerKernels(t, drv, "DD", arithmeticDD)
	registerKernels(t, drv, "TD", arithmeticTD)
	registerKernels(t, drv, "QD", arithmeticQD)
	registerPublished(drv)
	registerDoubles(drv)
	drv.Kernel("expansionCopy", func(l *fake.Launch, z, x refEntries, rows, cols int64, words int32) {
		to, from := z.open(l, rows, cols), x.open(l, rows, cols)
		for j := range cols {
			for i := range rows {
				for w := range int(words) {
					*to.word(w, i, j) = *from.word(w, i, j)
				}
			}
		}
	})
	drv.Kernel("expansionExchange", refExchangeRows)
	registerAllBlocks(t, drv)
	dev, err := cuda.OpenDriver(drv, 0)
	must(t, err)
	return dev, drv
}

// formatted is a format that has all kernels.
type formatted[E any] interface {
	arithmetical[E]
	Neg() E
}

func registerKernels[E formatted[E]](t *testing.T, drv *fake.Driver, name string, a steps[E]) {
	for op, f := range map[string]func(x, y, c E) E{
		"Add": func(x, y, _ E) E { return x.Add(y) }, "Sub": func(x, y, _ E) E { return x.Sub(y) },
		"Mul": func(x, y, _ E) E { return x.Mul(y) }, "Div": func(x, y, _ E) E { return x.Div(y) },
		"Sqrt": func(x, _, _ E) E { return x.Sqrt() }, "FMA": func(x, y, c E) E { return x.FMA(y, c) },
	} {
		drv.Kernel("expansion"+op+name, func(l *fake.Launch, z, x, y, c refEntries, rows, cols int64, repeat, _ int32) {
			if threads := int64(l.Grid.X) * int64(l.Block.X); threads < rows && l.Grid.X != 128 || repeat < 1 {
				t.Errorf("%d threads for %d entries, %d times", threads, rows, repeat)
			}
			vz, vx, vy, vc := z.open(l, rows, cols), x.open(l, rows, cols), y.open(l, rows, cols), c.open(l, rows, cols)
			for j := range cols {
				for i := range rows {
					var b, d E
					if y.W[0] != 0 {
						b = refLoad[E](vy, i, j)
					}
					if c.W[0] != 0 {
						d = refLoad[E](vc, i, j)
					}
					refStore(vz, i, j, f(refLoad[E](vx, i, j), b, d).Canonical())
				}
			}
		})
	}
	for _, f := range Functions() {
		drv.Kernel("expansion_"+f.String()+name, func(l *fake.Launch, z, x, y, _ refEntries, rows, cols int64, _, _ int32) {
			vz, vx, vy := z.open(l, rows, cols), x.open(l, rows, cols), y.open(l, rows, cols)
			for j := range cols {
				for i := range rows {
					u := refLoad[E](vx, i, j)
					v := u
					if f.Arity() == 2 {
						v = refLoad[E](vy, i, j)
					}
					refStore(vz, i, j, applyOne(f, u, v).Canonical())
				}
			}
		})
	}
	tile := map[string]uint32{"DD": 64, "TD": 32, "QD": 32}[name]
	drv.Kernel("expansionGemm"+name, func(l *fake.Launch, p refProduct) {
		if l.Grid.X*tile < uint32(p.M) || l.Grid.Y*tile < uint32(p.N) {
			t.Errorf("%v tiles of %d for %d x %d", l.Grid, tile, p.M, p.N)
		}
		all := int64(p.N + p.SkipCols)
		x, y, c := p.A.open(l, int64(p.M), int64(p.K)), p.B.open(l, int64(p.K), all), p.C.open(l, int64(p.M), all)
		for j := range int64(p.N) {
			col := j
			if col >= int64(p.SkipCol) {
				col += int64(p.SkipCols)
			}
			for i := range int64(p.M) {
				refFinish(c, p, refPartial(a, x, y, i, col, 0, 1, int64(p.K)), i, col)
			}
		}
	})
	drv.Kernel("expansionGemv"+name, func(l *fake.Launch, p refProduct) {
		x, y, c := p.A.open(l, int64(p.M), int64(p.K)), p.B.open(l, int64(p.K), 1), p.C.open(l, int64(p.M), 1)
		for i := range int64(p.M) {
			var sums [32]E
			for q := range sums {
				sums[q] = refPartial(a, x, y, i, 0, int64(q), int64(len(sums)), int64(p.K))
			}
			refFinish(c, p, halves(sums[:]), i, 0)
		}
	})
	drv.Kernel("expansionDot"+name, func(l *fake.Launch, x, y, z refEntries, n int64) {
		x.RS, x.CS = 0, x.RS
		vx, vy, vz := x.open(l, 1, n), y.open(l, n, 1), z.open(l, int64(l.Grid.X), 1)
		if int64(l.Grid.X)*4096 < n || l.Block.X != 64 {
			t.Errorf("%v blocks for %d products", l.Grid, n)
		}
		for b := range int64(l.Grid.X) {
			var sums [64]E
			for q := range sums {
				for i := b*4096 + int64(q); i < min((b+1)*4096, n); i += 64 {
					sums[q] = a.mac(sums[q], refLoad[E](vx, 0, i), refLoad[E](vy, i, 0))
				}
				sums[q] = a.normalise(sums[q])
			}
			refStore(vz, b, 0, halves(sums[:]))
		}
	})
	drv.Kernel("expansionPanel"+name, func(l *fake.Launch, p refPanel) {
		if int(l.Grid.X)*int(p.Rows) < int(p.N) || int(l.Grid.X) > 4 {
			t.Errorf("%d blocks of %d rows for %d", l.Grid.X, p.Rows, p.N)
		}
		if p.Slabs == 0 && int(l.Shared) < 8*32*len(float[E](0))*int(p.Rows) {
			t.Errorf("%d bytes of shared memory for %d rows", l.Shared, p.Rows)
		}
		refEliminate[E](l, p)
	})
}

// refFinish stores entry (i, col), whose sum of products is s.
func refFinish[E summable[E]](c refView, p refProduct, s E, i, col int64) {
	if p.PlainAlpha == 0 {
		s = fit[E](p.Alpha).Mul(s)
	}
	if p.PlainBeta != 2 && (i < int64(p.SkipRow) || i >= int64(p.SkipRow+p.SkipRows)) {
		old := refLoad[E](c, i, col)
		if p.PlainBeta == 0 {
			old = fit[E](p.Beta).Mul(old)
		}
		s = s.Add(old)
	}
	refStore(c, i, col, s.Canonical())
}

// refPartial is the sum of the products h = from, from + step, ... < k.
func refPartial[E worded](a steps[E], x, y refView, i, j, from, step, k int64) E {
	var s E
	p := 0.0
	for h := from; h < k; h += step {
		u, v := refLoad[E](x, i, h), refLoad[E](y, h, j)
		s = a.mac(s, u, v)
		p += float64(u[0] * v[0])
	}
	return finite(a.normalise(s), p)
}

// fit is the first words of x.
func fit[E worded](x [4]float64) (z E) {
	for t := range len(z) {
		z[t] = x[t]
	}
	return z
}

// halves adds sums by halves.
func halves[E arithmetical[E]](sums []E) E {
	for half := len(sums) / 2; half > 0; half /= 2 {
		for q := range half {
			sums[q] = sums[q].Add(sums[q+half])
		}
	}
	return sums[0]
}

// refEliminate is expansionPanel: system.panel on a copy.
func refEliminate[E eliminable[E]](l *fake.Launch, p refPanel) {
	info := fake.Slice[int32](l, p.Info, 1)
	pivots := fake.Slice[int32](l, p.Pivots, int(p.N))
	if info[0] != 0 {
		return
	}
	var x E
	r := &run{Run: par.Run{Ctx: context.Background(), Threads: 1}}
	s := newSystem[E](r, deviceFormats[len(x)-2], int(p.N), int(p.K0+p.Width)-int(p.N), p.Zero != 0)
	v := p.A.open(l, int64(p.N), int64(p.Width))
	for i := range s.n {
		for j := range int(p.Width) {
			s.set(i, int(p.K0)+j, refLoad[E](v, int64(i), int64(j)))
		}
	}
	var singular noPivot
	if err := s.panel(int(p.K0), int(p.Width)); errors.As(err, &singular) {
		info[0] = int32(singular) + 1
		return
	}
	for k := p.K0; k < p.K0+p.Width; k++ {
		pivots[k] = int32(s.pivots[k])
	}
	for i := range s.n {
		for j := range int(p.Width) {
			refStore(v, int64(i), int64(j), s.at(i, int(p.K0)+j))
		}
	}
}

func refExchangeRows(l *fake.Launch, e refExchange) {
	if fake.Slice[int32](l, e.Info, 1)[0] != 0 {
		return
	}
	pivots := fake.Slice[int32](l, e.Pivots, int(e.K0+e.Width))
	n, cols := int64(len(pivots)), int64(e.Cols+e.SkipCols)
	for _, q := range pivots {
		n = max(n, int64(q)+1)
	}
	a, rows := e.A.open(l, n, cols), e.Rows.open(l, int64(e.Width), cols)
	for t := range int(l.Grid.Y) {
		for j := range int64(e.Cols) {
			if j >= int64(e.SkipCol) {
				j += int64(e.SkipCols)
			}
			for k := e.K0; k < e.K0+e.Width; k++ {
				x, y := a.word(t, int64(k), j), a.word(t, int64(pivots[k]), j)
				*x, *y = *y, *x
			}
			for i := range int64(e.Width) {
				x := a.word(t, int64(e.K0)+i, j)
				*rows.word(t, i, j) = *x
				if e.Clear != 0 {
					*x = 0
				}
			}
		}
	}
}

// onReference replaces the machine's GPUs by a fake device with the kernels.
func onReference(t *testing.T) *fake.Driver {
	dev, drv := newReference(t)
	restore := mem.Substitute(dev)
	t.Cleanup(func() {
		restore()
		if n := dev.Counters().InUse; n != 0 {
			t.Errorf("%d bytes are left in use", n)
		}
	})
	return drv
}
