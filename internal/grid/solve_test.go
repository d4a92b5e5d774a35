package grid

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/grid/gridtest"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testseed"
)

// onGrids runs a test in goroutines on grids of several shapes and with small blocks.
func onGrids(t *testing.T, f func(t *testing.T, g *Grid)) {
	for _, shape := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {3, 1}, {2, 2}, {2, 3}} {
		gridtest.Run(t, shape[0]*shape[1], func(to gridtest.Process) error {
			g, err := New(to, shape[0], shape[1], 3, new(Local))
			if err == nil {
				f(t, g)
			}
			return err
		})
	}
}

var onOne = place.Config{Run: par.Run{Ctx: context.Background(), Threads: 1, Memory: 1 << 28}}

// randomMatrix returns a matrix of the host with random numbers, some of them 0.
func randomMatrix(f num.Format, rows, cols int, seed uint64) num.Mat {
	r := rand.New(rand.NewPCG(seed, 1))
	m := num.Mat{Arr: num.New(f, rows*cols), RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}
	mag := make([]uint64, 2)
	for i := range rows * cols {
		mag[0], mag[1] = r.Uint64(), r.Uint64()
		if r.IntN(5) > 0 {
			m.Arr.Set(i, num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Mag: mag, Exp: int64(r.IntN(20) - 138)})
		}
	}
	return m
}

// there returns a copy of a matrix on the grid.
func there(t *testing.T, g *Grid, m num.Mat) num.Mat {
	a, err := g.New(context.Background(), m.Arr.Format, m.Rows, m.Cols)
	if err != nil {
		t.Error(err)
	}
	z := num.Mat{Arr: a, RS: 1, CS: max(m.Rows, 1), Rows: m.Rows, Cols: m.Cols}
	if err := g.Set(context.Background(), z, m); err != nil {
		t.Error(err)
	}
	return z
}

// sameAs compares a matrix of the grid with numbers of the host.
func sameAs(t *testing.T, what string, g *Grid, m num.Mat, want func(i, j int) (num.Mat, int, int)) {
	z, err := g.Get(context.Background(), m)
	if err != nil {
		t.Error(err)
		return
	}
	for j := range m.Cols {
		for i := range m.Rows {
			if w, a, b := want(i, j); !z.Arr.SameBits(z.At(i, j), w.Arr, w.At(a, b)) {
				t.Errorf("%s on %s: entry (%d, %d) differs", what, g, i, j)
				return
			}
		}
	}
}

var mp100 = num.Format{Kind: num.MP, Prec: 100}

// TestTriangle applies operations to triangles of views and of whole matrices.
func TestTriangle(t *testing.T) {
	onGrids(t, func(t *testing.T, g *Grid) {
		for _, n := range []int{1, 2, 7, 13} {
			whole := randomMatrix(mp100, n+2, n+3, uint64(n))
			view := func(m num.Mat) num.Mat { m.Off, m.Rows, m.Cols = m.At(2, 1), n, n; return m }
			h, a := view(whole), there(t, g, whole)
			v := view(a)
			asymmetric, low := 0, 0
			for i := range n {
				if r := h.Arr.Cls[h.At(i, i)]; r.Class() != num.Finite || r.Neg() {
					low++
				}
				for j := range i {
					if !h.Arr.SameBits(h.At(i, j), h.Arr, h.At(j, i)) {
						asymmetric++
					}
				}
			}
			for _, c := range []struct {
				op   place.TriangleOperation
				want int
			}{{place.CountNotPositive, low}, {place.CountAsymmetric, asymmetric}} {
				if got, err := g.Triangle(onOne, c.op, v, nil); err != nil || got != c.want {
					t.Errorf("operation %d on %s: %d, want %d, %v", c.op, g, got, c.want, err)
				}
			}
			if _, err := g.Triangle(onOne, place.MirrorLower, v, nil); err != nil {
				t.Error(err)
			}
			sameAs(t, "mirrored", g, v, func(i, j int) (num.Mat, int, int) { return h, max(i, j), min(i, j) })
			sameAs(t, "row above", g, num.Mat{Arr: a.Arr, Off: 0, RS: a.RS, CS: a.CS, Rows: 2, Cols: n + 3}, func(i, j int) (num.Mat, int, int) { return whole, i, j })
			if got, err := g.Triangle(onOne, place.CountAsymmetric, v.T(), nil); err != nil || got != 0 {
				t.Errorf("on %s: %d numbers are not mirrored, %v", g, got, err)
			}
			if _, err := g.Triangle(onOne, place.HalveDiagonal, v, nil); err != nil {
				t.Error(err)
			}
			halved := randomMatrix(mp100, n+2, n+3, uint64(n))
			for i := range n {
				if at := view(halved).At(i, i); halved.Arr.Class(at) == num.Finite {
					halved.Arr.Exp[at]--
				}
			}
			sameAs(t, "halved", g, v, func(i, j int) (num.Mat, int, int) { return view(halved), max(i, j), min(i, j) })
			floats := num.Mat{Arr: num.New(num.Float64, n*n), RS: 1, CS: n, Rows: n, Cols: n}
			for i := range n {
				floats.Arr.F64[0][floats.At(i, i)] = []float64{1, -1, 0, 0x1p-1074, math.Inf(1), math.NaN()}[i%6]
			}
			if got, err := g.Triangle(onOne, place.CountNotPositive, there(t, g, floats), nil); err != nil || got != n-(n+5)/6-(n+2)/6 {
				t.Errorf("Float64 on %s: %d of %d are not positive, %v", g, got, n, err)
			}
		}
	})
}

// TestRows gathers rows, splits triangles and counts entries that are not small.
func TestRows(t *testing.T) {
	onGrids(t, func(t *testing.T, g *Grid) {
		for _, s := range [][2]int{{1, 1}, {5, 2}, {13, 7}, {7, 13}} {
			rows, cols := s[0], s[1]
			h := randomMatrix(mp100, rows, cols, 3)
			x := there(t, g, h)
			order := make([]int32, rows)
			for i, p := range testseed.Rand(t, 1, 2).Perm(rows) {
				order[i] = int32(p)
			}
			z := there(t, g, randomMatrix(mp100, rows, cols, 4))
			if err := g.Gather(onOne, x, order, z); err != nil {
				t.Error(err)
			}
			sameAs(t, "gathered", g, z, func(i, j int) (num.Mat, int, int) { return h, int(order[i]), j })
			if err := g.Gather(onOne, x, order[:rows/2+1], num.Mat{Arr: z.Arr, RS: z.RS, CS: z.CS, Rows: rows/2 + 1, Cols: cols}); err != nil {
				t.Error(err)
			}

			low, up := randomMatrix(mp100, rows, cols, 5), randomMatrix(mp100, rows, cols, 6)
			lower, upper := there(t, g, low), there(t, g, up)
			if err := g.Part(onOne, x, lower, upper); err != nil {
				t.Error(err)
			}
			pick := func(below bool, otherwise num.Mat) func(i, j int) (num.Mat, int, int) {
				return func(i, j int) (num.Mat, int, int) {
					if (i > j) == below {
						return h, i, j
					}
					return otherwise, i, j
				}
			}
			sameAs(t, "lower part", g, lower, pick(true, low))
			sameAs(t, "upper part", g, upper, pick(false, up))

			numbers := num.Mat{Arr: num.New(num.Float64, rows*cols), RS: 1, CS: rows, Rows: rows, Cols: cols}
			want := [2]int{}
			bounds := [2]float64{1 - 0x1p-52, 2.785}
			for k, v := range []float64{1, -1, 1 - 0x1p-53, 0.75, 0, -3, 1 - 0x1p-51} {
				for i := range rows {
					for j := range cols {
						if (i+3*j)%7 == k {
							numbers.Arr.F64[0][numbers.At(i, j)] = v
							for b, bound := range bounds {
								if i > j && math.Abs(v) > bound {
									want[b]++
								}
							}
						}
					}
				}
			}
			for b, bound := range bounds {
				if got, err := g.NotSmall(onOne, there(t, g, numbers), bound, nil); err != nil || got != want[b] {
					t.Errorf("above %v on %s: %d, want %d, %v", bound, g, got, want[b], err)
				}
			}
		}
	})
}

// TestSpread compares bounds with exact norms: bounds are at least the norms and not much larger.
func TestSpread(t *testing.T) {
	value := func(m num.Mat, i, j int) *big.Rat {
		var buf [num.MaxValueWords]uint64
		r := m.Arr.Value(m.At(i, j), buf[:])
		x := new(big.Int)
		for k := range slices.Backward(r.Mag) {
			x.Or(x.Lsh(x, 64), new(big.Int).SetUint64(r.Mag[k]))
		}
		z := new(big.Rat).SetInt(x)
		two := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(r.Exp, -r.Exp))))
		if r.Exp < 0 {
			return z.Quo(z, two)
		}
		return z.Mul(z, two)
	}
	onGrids(t, func(t *testing.T, g *Grid) {
		for _, s := range [][3]int{{1, 1, 1}, {5, 2, 9}, {8, 13, 7}} {
			a, b := randomMatrix(mp100, s[0], s[1], 1), randomMatrix(mp100, s[1], s[2], 2)
			rows, cols, err := g.Spread(onOne, there(t, g, a), there(t, g, b), true)
			if err != nil {
				t.Error(err)
			}
			sums, across := make([]*big.Rat, s[0]), make([]*big.Rat, s[2])
			for i := range sums {
				sums[i] = new(big.Rat)
			}
			for j := range across {
				across[j] = new(big.Rat)
			}
			for i := range s[0] {
				for k := range s[1] {
					for j := range s[2] {
						p := new(big.Rat).Mul(value(a, i, k), value(b, k, j))
						sums[i].Add(sums[i], p)
						across[j].Add(across[j], p)
					}
				}
			}
			for _, c := range []struct {
				name  string
				got   float64
				exact []*big.Rat
			}{{"rows", rows, sums}, {"columns", cols, across}} {
				most := slices.MaxFunc(c.exact, (*big.Rat).Cmp)
				bound := new(big.Rat).SetFloat64(c.got)
				if near := new(big.Rat).Mul(most, new(big.Rat).SetFloat64(1+0x1p-30)); bound.Cmp(most) < 0 || bound.Cmp(near) > 0 {
					t.Errorf("%s on %s, %v: %g", c.name, g, s, c.got)
				}
			}
		}
		far := randomMatrix(mp100, 4, 4, 1)
		for i := range far.Arr.Exp {
			far.Arr.Exp[i] += 900
		}
		if rows, cols, err := g.Spread(onOne, there(t, g, far), there(t, g, far), true); err != nil || !math.IsInf(rows, 1) || !math.IsInf(cols, 1) {
			t.Errorf("on %s: %g %g %v beyond 2^1000", g, rows, cols, err)
		}
	})
}

// TestSolve solves triangular systems. Each process computes its share of the columns.
func TestSolve(t *testing.T) {
	onGrids(t, func(t *testing.T, g *Grid) {
		const n, k = 11, 9
		a, b := randomMatrix(mp100, n, n, 1), randomMatrix(mp100, n, k, 2)
		for i := range n {
			a.Arr.Set(a.At(i, i), num.Real{Class: num.Finite, Mag: []uint64{uint64(2*i + 3)}, Exp: -1})
		}
		huge := num.Real{Class: num.Finite, Mag: []uint64{1}, Exp: math.MaxInt32 - 1}
		b.Arr.Set(b.At(0, k-1), huge)
		x := there(t, g, num.Mat{Arr: num.New(mp100, n*k), RS: 1, CS: n, Rows: n, Cols: k})
		flags := 0
		s := direct.Triangular(there(t, g, a), false, false)
		st, done, err := g.Solve(onOne, s, direct.One(false), there(t, g, b), x, func(num.Flags) { flags++ })
		if err != nil || !done {
			t.Errorf("on %s: %v %v", g, done, err)
			return
		}
		if st.Overflow == 0 || int(st.Overflow+st.Underflow) != flags {
			t.Errorf("on %s: %d flags, %+v", g, flags, st)
		}
		rank := g.to.Rank()
		made := len(between(k, rank, g.size())) * n
		if g.rows == 1 && g.cols > 1 { // and sends the columns of A that it has
			made += share(n, g.block, g.cols, g.col) * n
		}
		if gave, want := g.to.(leaving).Transport.(gridtest.Process).Given()[rank], made*int(num.SizeOf(mp100)); gave != want {
			t.Errorf("process %d of %s gave %d bytes, not %d", rank, g, gave, want)
		}
		var acc superacc.Acc
		want := num.Mat{Arr: num.New(mp100, n*k), RS: 1, CS: n, Rows: n, Cols: k}
		var buf [2][num.MaxValueWords]uint64
		for j := range k {
			for i := range n {
				acc.Reset()
				acc.Add(b.Arr.Value(b.At(i, j), buf[0][:]))
				for h := range i {
					p := a.Arr.Value(a.At(i, h), buf[0][:])
					p.Neg = !p.Neg
					acc.AddProduct(p, want.Arr.Value(want.At(h, j), buf[1][:]))
				}
				acc.SetQuotient(want.Arr, want.At(i, j), a.Arr.Value(a.At(i, i), buf[0][:]))
			}
		}
		sameAs(t, "solution", g, x, func(i, j int) (num.Mat, int, int) { return want, i, j })
	})
}

// TestSeeds inverts a matrix that float64 arithmetic cannot invert, and one that it can.
func TestSeeds(t *testing.T) {
	onGrids(t, func(t *testing.T, g *Grid) {
		const n = 10
		zero := there(t, g, num.Mat{Arr: num.New(mp100, n*n), RS: 1, CS: n, Rows: n, Cols: n})
		room := func() num.Mat {
			return there(t, g, num.Mat{Arr: num.New(num.Float64, n*n), RS: 1, CS: n, Rows: n, Cols: n})
		}
		x, y := room(), room()
		if _, begun, err := g.InverseRoot(onOne, zero, x); begun != nil || err != nil {
			t.Errorf("root of zeros on %s: %v %v", g, begun, err)
		}
		if _, _, begun, err := g.Triangles(onOne, zero, x, y, 0); begun != nil || err != nil {
			t.Errorf("triangles of zeros on %s: %v %v", g, begun, err)
		}
		// Diagonal matrices have exact seeds.
		d := num.Mat{Arr: num.New(mp100, n*n), RS: 1, CS: n, Rows: n, Cols: n}
		for i := range n {
			d.Arr.Set(d.At(i, (i+3)%n), num.Real{Class: num.Finite, Neg: i == 2, Mag: []uint64{1}, Exp: int64(10 * i)})
		}
		rows, cols, begun, err := g.Triangles(onOne, there(t, g, d), x, y, 0)
		if err != nil || begun == nil {
			t.Errorf("triangles on %s: %v %v", g, begun, err)
			return
		}
		order, ok, err := begun.Settle(onOne)
		if err != nil || !ok {
			t.Errorf("triangles on %s: %v %v", g, ok, err)
			return
		}
		for j, row := range order {
			if (int(row)+3)%n != j || rows[row]+cols[j]+int64(10*row)+1 != 0 && rows[row]+cols[j]+int64(10*row) != 0 {
				t.Errorf("on %s: row %d of the order is %d, scaled by %d and %d", g, j, row, rows[row], cols[j])
			}
		}
		one := num.Mat{Arr: num.New(num.Float64, 2), RS: 1, CS: 1, Rows: 1, Cols: 2}
		one.Arr.F64[0][1] = 1
		sameAs(t, "lower triangle", g, x, func(i, j int) (num.Mat, int, int) {
			if i == j {
				return one, 0, 1
			}
			return one, 0, 0
		})
	})
}
