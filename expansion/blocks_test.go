package expansion

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/testseed"
)

// The kernels of expansionblocks.cu in Go.

// refColumnStep is struct columnStep.
type refColumnStep struct {
	A                              refEntries
	Diagonal, Pivot, Info          cuda.Pointer
	N, Cols, K, Words, Zero, Final int32
}

func registerAllBlocks(t *testing.T, drv *fake.Driver) {
	drv.Kernel("expansionColumnPivot", func(l *fake.Launch, p refColumnStep) {
		info := fake.Slice[int32](l, p.Info, 1)
		if info[0] != 0 {
			return
		}
		a, k := p.A.open(l, int64(p.N), int64(p.Cols)), int64(p.K)
		best, q := uint64(0), k
		for i := k; i < int64(p.N); i++ {
			if key := magnitude(*a.word(0, i, k)); key > best {
				best, q = key, i
				if p.Zero != 0 {
					break
				}
			}
		}
		if best == 0 {
			info[0] = p.K + 1
			return
		}
		fake.Slice[int32](l, p.Pivot, 1)[0] = int32(q)
		d := fake.Slice[float64](l, p.Diagonal, int(p.Words))
		for t := range d {
			x, y := a.word(t, k, k), a.word(t, q, k)
			*x, *y = *y, *x
			d[t] = *x
		}
	})
	registerBlocks(t, drv, "Double", arithmetic1)
	registerBlocks(t, drv, "DD", arithmeticDD)
	registerBlocks(t, drv, "TD", arithmeticTD)
	registerBlocks(t, drv, "QD", arithmeticQD)
}

// arithmetic1 are the steps of sums of products of doubles.
var arithmetic1 = steps[float1]{
	func(s, a, b float1) float1 { return float1{math.FMA(a[0], b[0], s[0])} }, func(s float1) float1 { return s },
}

// blockNumber is a format that has all kernels of block schemes.
type blockNumber[E any] interface {
	summable[E]
	eliminable[E]
}

func registerBlocks[E blockNumber[E]](t *testing.T, drv *fake.Driver, name string, a steps[E]) {
	drv.Kernel("expansionSquareGemm"+name, func(l *fake.Launch, p refProduct) {
		if l.Grid.X*8 < uint32(p.M) || l.Grid.Y*8 < uint32(p.N) || l.Block.X != 64 {
			t.Errorf("%v blocks of %v threads for %d x %d", l.Grid, l.Block, p.M, p.N)
		}
		m, n, k := int64(p.M), int64(p.N), int64(p.K)
		x, y, c := p.A.open(l, m, k), p.B.open(l, k, n), p.C.open(l, m, n)
		for j := range n {
			for i := range m {
				refFinish(c, p, refPartial(a, x, y, i, j, 0, 1, k), i, j)
			}
		}
	})
	put := func(v refView, p refColumnStep, i, j int64, x E) {
		if p.Final != 0 {
			x = x.Canonical()
		}
		refStore(v, i, j, x)
	}
	drv.Kernel("expansionColumnDivide"+name, func(l *fake.Launch, p refColumnStep) {
		if fake.Slice[int32](l, p.Info, 1)[0] != 0 {
			return
		}
		if int64(l.Grid.X)*128 < int64(p.Cols-p.K-1) || l.Block.X != 128 {
			t.Errorf("%v blocks of %v threads for columns %d to %d", l.Grid, l.Block, p.K+1, p.Cols)
		}
		v, k, q := p.A.open(l, int64(p.N), int64(p.Cols)), int64(p.K), int64(fake.Slice[int32](l, p.Pivot, 1)[0])
		var d E
		for t, x := range fake.Slice[float64](l, p.Diagonal, int(p.Words)) {
			d[t] = x
		}
		for j := k + 1; j < int64(p.Cols); j++ {
			x := refLoad[E](v, q, j)
			refStore(v, q, j, refLoad[E](v, k, j))
			put(v, p, k, j, x.Div(d))
		}
	})
	for scheme, block := range map[string][2]int64{"Square": {8, 8}, "Linear": {1, 128}} {
		drv.Kernel("expansion"+scheme+"Clear"+name, func(l *fake.Launch, p refColumnStep) {
			if fake.Slice[int32](l, p.Info, 1)[0] != 0 {
				return
			}
			if int64(l.Grid.X)*block[1] < int64(p.Cols-p.K-1) || int64(l.Grid.Y)*block[0] < int64(p.N) || int64(l.Block.X) != block[0]*block[1] {
				t.Errorf("%v %s blocks of %v threads for columns %d to %d", l.Grid, scheme, l.Block, p.K+1, p.Cols)
			}
			v, k := p.A.open(l, int64(p.N), int64(p.Cols)), int64(p.K)
			for i := range int64(p.N) {
				if i == k {
					continue
				}
				f := refLoad[E](v, i, k).Neg()
				for j := k + 1; j < int64(p.Cols); j++ {
					put(v, p, i, j, f.FMA(refLoad[E](v, k, j), refLoad[E](v, i, j)))
				}
			}
		})
	}
}

var blockFormats = append([]halfulp.Format{halfulp.Float64}, deviceFormats...)

// TestBlockProducts compares products by square blocks on the CPU with Gemm, and products of
// doubles with a loop.
func TestBlockProducts(t *testing.T) {
	for i, s := range smallProducts {
		for _, f := range blockFormats {
			seed := testseed.Of(t)
			r := rand.New(rand.NewPCG(seed, 22))
			a, b := randomMatrix(r, f, s[0], s[2], anyNumber), randomMatrix(r, f, s[2], s[1], anyNumber)
			c := randomMatrix(r, f, s[0], s[1], anyNumber)
			beta := float64(i%3) - 1
			got, want := copied(c), copied(c)
			var st halfulp.Stats
			err := Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(0.75), a, b, halfulp.Float(beta), got, &halfulp.Options{Method: SquareBlocks, Threads: 2, Stats: &st})
			must(t, err)
			if st.Method != SquareBlocks {
				t.Errorf("method %s", st.Method)
			}
			if f != halfulp.Float64 {
				must(t, errOf(Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(0.75), a, b, halfulp.Float(beta), want, nil)))
			} else {
				for j := range s[1] {
					for i := range s[0] {
						sum, plain := 0.0, 0.0
						for h := range s[2] {
							sum = math.FMA(a.Float64(i, h), b.Float64(h, j), sum)
							plain += float64(a.Float64(i, h) * b.Float64(h, j))
						}
						if math.IsNaN(sum) || math.IsInf(sum, 0) {
							sum = plain
						}
						if sum = float64(0.75 * sum); beta != 0 {
							sum += float64(beta * c.Float64(i, j))
						}
						want.SetFloat64(i, j, sum)
					}
				}
			}
			sameMatrix(t, fmt.Sprintf("seed %d: %v %v", seed, f, s), got, want)
		}
	}
}

// TestBlockSystems compares systems of doubles on the CPU with plain loops, and checks residuals
// and threads of other systems.
func TestBlockSystems(t *testing.T) {
	for _, rule := range []Pivoting{PartialPivoting, ZeroPivoting} {
		for w, f := range blockFormats {
			w++
			seed := testseed.Vary(t, uint64(w))
			r := rand.New(rand.NewPCG(seed, 23))
			const n, m = 37, 3
			a, b := randomMatrix(r, f, n, n, ordinaryNumber), randomMatrix(r, f, n, m, ordinaryNumber)
			zeros(r, a)
			var x [2]*halfulp.Matrix
			for i, method := range []halfulp.Method{SquareBlocks, LinearBlocks} {
				x[i] = copied(b)
				o := SolveOptions{Pivoting: rule, Options: halfulp.Options{Method: method, Threads: 1 + i}, Estimate: i == 1}
				var st halfulp.Stats
				o.Stats = &st
				err := Solve(a, b, x[i], &o)
				must(t, err)
				if st.Method != method || (st.Condition != nil) != o.Estimate {
					t.Errorf("%s: %+v", method, st)
				}
				if c := st.Condition; c != nil && (c.Digits < 8*w-6 || c.Digits > 16*w) {
					t.Errorf("%v, rule %d: %+v", f, rule, *c)
				}
			}
			what := fmt.Sprintf("seed %d: %v, rule %d", seed, f, rule)
			sameMatrix(t, what, x[1], x[0])
			if e := residual(a, x[0], b, w); !(e <= 1e6) {
				t.Errorf("%s: residual %g u^%d", what, e, w)
			}
			if f == halfulp.Float64 {
				sameMatrix(t, what, x[0], plainGaussJordan(a, b, rule))
			}
		}
	}
}

// plainGaussJordan solves a system of doubles.
func plainGaussJordan(a, b *halfulp.Matrix, rule Pivoting) *halfulp.Matrix {
	n, m := b.Dims()
	w := make([][]float64, n)
	for i := range w {
		for j := range n {
			w[i] = append(w[i], a.Float64(i, j))
		}
		for j := range m {
			w[i] = append(w[i], b.Float64(i, j))
		}
	}
	for k := range n {
		q := k
		for i := k + 1; i < n; i++ {
			if rule == PartialPivoting && math.Abs(w[i][k]) > math.Abs(w[q][k]) || rule == ZeroPivoting && w[q][k] == 0 {
				q = i
			}
		}
		w[k], w[q] = w[q], w[k]
		for j := n + m - 1; j >= k; j-- {
			w[k][j] /= w[k][k]
		}
		for i := range n {
			if i == k {
				continue
			}
			l := w[i][k]
			for j := k; j < n+m; j++ {
				w[i][j] = math.FMA(-l, w[k][j], w[i][j])
			}
		}
	}
	x := halfulp.NewMatrix(halfulp.Float64, n, m)
	for i := range n {
		for j := range m {
			x.SetFloat64(i, j, w[i][n+j])
		}
	}
	return x
}

// TestBlockErrors has options and formats that block schemes do not support.
func TestBlockErrors(t *testing.T) {
	r := testseed.Rand(t, 1, 24)
	a, d := randomMatrix(r, halfulp.Float64, 3, 3, ordinaryNumber), randomMatrix(r, halfulp.DD, 3, 3, ordinaryNumber)
	one, zero := halfulp.Float(1), halfulp.Float(0)
	square, linear := halfulp.Options{Method: SquareBlocks}, halfulp.Options{Method: LinearBlocks}
	for what, c := range map[string]struct{ err, want error }{
		"linear blocks":   {errOf(Gemm(halfulp.NoTrans, halfulp.NoTrans, one, d, d, zero, d, &linear)), halfulp.ErrMethod},
		"Gemv":            {errOf(Gemv(halfulp.NoTrans, one, d, d.Col(0), zero, d.Col(1), &square)), halfulp.ErrMethod},
		"Add":             {errOf(Add(d, d, d, &square)), halfulp.ErrMethod},
		"exact updates":   {errOf(Solve(d, d, d, &SolveOptions{Options: square, Updates: ExactUpdates})), halfulp.ErrOptions},
		"blocks":          {errOf(Solve(d, d, d, &SolveOptions{Options: linear, Block: 32})), halfulp.ErrOptions},
		"doubles":         {errOf(Solve(a, a, a, nil)), halfulp.ErrFormat},
		"double products": {errOf(Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, a, zero, a, nil)), halfulp.ErrFormat},
		"shorter results": {errOf(Gemm(halfulp.NoTrans, halfulp.NoTrans, one, d, d, zero, a, &square)), halfulp.ErrFormat},
		"validation":      {Validate(&square), nil},
	} {
		if !errors.Is(c.err, c.want) || c.want == nil && c.err != nil {
			t.Errorf("%s: %v, want %v", what, c.err, c.want)
		}
	}
}

// checkBlocks compares block schemes on a device with the CPU.
func checkBlocks(t *testing.T, systems [][2]int, products [][3]int) {
	for _, f := range blockFormats {
		for i, s := range systems {
			for k, method := range []halfulp.Method{SquareBlocks, LinearBlocks} {
				o := SolveOptions{Pivoting: Pivoting((i + k) % 2), Options: halfulp.Options{Method: method}}
				checkSolve(t, f, s[0], s[1], o, nil)
				if s[0] > 1 {
					checkSolve(t, f, s[0], s[1], o, zeros)
					checkSolve(t, f, s[0], s[1], o, emptyRow)
					checkSolve(t, f, s[0], s[1], o, emptyColumn)
				}
			}
		}
		for i, s := range products {
			checkSquareGemm(t, f, s, i)
		}
	}
}

// checkSquareGemm compares products of operands that live on a device, and that come from the host,
// with the CPU's.
func checkSquareGemm(t *testing.T, f halfulp.Format, s [3]int, layout int) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 25))
	d := ordinaryNumber
	if layout%2 == 1 {
		d = anyNumber
	}
	a, b, c := randomMatrix(r, f, s[0], s[2], d), randomMatrix(r, f, s[2], s[1], d), randomMatrix(r, f, s[0], s[1], d)
	what := fmt.Sprintf("seed %d: %v %v, layout %d", seed, f, s, layout)
	alpha, beta := halfulp.Float(1-float64(layout%3)), halfulp.Float(float64(layout%4)-1)
	o := halfulp.Options{Method: SquareBlocks}
	want := copied(c)
	must(t, errOf(Gemm(halfulp.NoTrans, halfulp.NoTrans, alpha, a, b, beta, want, &o)))
	da, db, dc := laid(t, a, layout%4), laid(t, b, (layout+1)%4), laid(t, c, (layout+3)%4)
	must(t, errOf(Gemm(halfulp.NoTrans, halfulp.NoTrans, alpha, da, db, beta, dc, &o)))
	wantMatrix(t, what, dc, want)
	dc = laid(t, c.T(), layout%4).T()
	must(t, errOf(Gemm(halfulp.Trans, halfulp.Trans, alpha, da.T(), db.T(), beta, dc, &o)))
	wantMatrix(t, what+", transposed", dc, want)
	o.Device = device
	must(t, errOf(Gemm(halfulp.NoTrans, halfulp.NoTrans, alpha, a, b, beta, c, &o)))
	sameMatrix(t, what+", from the host", c, want)
}

// TestBlocksReference compares the results of routines with these kernels with the CPU's.
func TestBlocksReference(t *testing.T) {
	onReference(t)
	checkBlocks(t, smallSystems, smallProducts)
}

// TestDeviceBlocks compares a GPU with the CPU.
func TestDeviceBlocks(t *testing.T) {
	gputest.Machine(t)
	checkBlocks(t, append([][2]int{{150, 20}, {100, 130}}, smallSystems...), append([][3]int{{130, 200, 100}, {64, 64, 64}}, smallProducts...))
}

// TestSanitizeBlocks runs small problems by block schemes.
func TestSanitizeBlocks(t *testing.T) {
	gputest.Machine(t)
	checkBlocks(t, [][2]int{{5, 2}, {20, 130}}, [][3]int{{19, 10, 13}})
}
