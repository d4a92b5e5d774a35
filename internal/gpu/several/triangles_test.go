package several_test

import (
	"testing"

	. "github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/several"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testlength"
)

// triangleOf returns a random matrix with zeros beyond a triangle, or 0 for none.
func triangleOf(m, n int, triangle byte, seed uint64) *Matrix {
	x := gallery.Random(MP(30), m, n, 3, seed)
	for j := range n {
		for i := range m {
			if triangle == 'L' && i < j || triangle == 'U' && i > j {
				x.SetFloat64(i, j, 0)
			}
		}
	}
	return x
}

// TestTriangles multiplies triangles for triangles of the result: GPUs leave out what is known to
// be zero, and nothing else.
func TestTriangles(t *testing.T) {
	defer several.Balance(8)()
	const n = 150 // two tiles: GPUs that leave one out which has entries are wrong
	on(t, 3, func(_ []*cuda.Device, _ *fake.Driver) {
		k := 0
		for i, factors := range [][2]byte{{'L', 0}, {0, 'U'}, {'L', 'L'}, {'L', 'U'}, {'U', 'L'}, {'U', 'U'}, {'U', 0}, {0, 'L'}} {
			for j, triangle := range []byte{0, 'L', 'U'} {
				if k++; (i+j)%testlength.Of(6, 3, 1) != 0 {
					continue
				}
				device := []Device{"cuda:0,1", "cuda:0-2"}[k%2]
				a, b := triangleOf(n, n, factors[0], 1), triangleOf(n, n, factors[1], 2)
				c := gallery.Random(MP(30), n, n, 3, 3)
				want := c.Clone()
				multiply := func(a, b, c *Matrix) {
					must(gemmTriangle(-1, a, b, 1, c, c, triangle, factors, nil, &Options{}))
				}
				multiply(a, b, want)
				da, db, dc := must(a.On(device)), must(b.On(device)), must(c.On(device))
				if k/2%2 == 1 { // by rows
					dc.Free()
					dc = must(c.T().Clone().On(device)).T()
				}
				multiply(da, db, dc)
				if !must(dc.Host()).Same(want) {
					t.Errorf("%s: triangles %c and %c, %c, %d: other bits than on the CPU", device, max(factors[0], '-'), max(factors[1], '-'), max(triangle, '-'), k)
				}
				for _, m := range []*Matrix{da, db, dc} {
					m.Free()
				}
			}
		}
	})
}

// TestMoves has entries move between GPUs where these would wait for longer without.
func TestMoves(t *testing.T) {
	double, mp := num.Format{Kind: num.F64, Prec: 53}, num.Format{Kind: num.MP, Prec: 118}
	for _, c := range []struct {
		n        int
		f        num.Format
		triangle byte
		factors  [2]byte
		want     bool
	}{
		{8192, double, 0, [2]byte{}, false},         // fair
		{8192, double, 0, [2]byte{0, 'U'}, true},    // 0.5 n to 0.71 n for 1/8 of n³
		{8192, double, 'L', [2]byte{'L', 0}, false}, // 0.35 n to 0.5 n, there and back, for 1/16
		{8192, mp, 'L', [2]byte{'L', 0}, false},
		{32768, mp, 'L', [2]byte{'L', 0}, true},
		{1024, double, 0, [2]byte{0, 'U'}, false},
		{65536, double, 'L', [2]byte{'L', 'L'}, true},
	} {
		if got := several.Moves(c.n, c.f, c.triangle, c.factors); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestTriangleOperations has GPUs compare and copy what lies across the diagonal, where all reach
// each other's memory and where not.
func TestTriangleOperations(t *testing.T) {
	const n = 71
	for _, apart := range []bool{false, true} {
		on(t, 3, func(_ []*cuda.Device, drv *fake.Driver) {
			drv.NoPeers = apart
			for k, device := range []Device{"cuda:0,1", "cuda:0-2"} {
				a := gallery.Random(MP(uint(70*k+40)), n, n, 3, 5)
				for j := range n {
					for i := range j {
						a.Set(i, j, a.At(j, i))
					}
				}
				places := [][2]int{{1, 0}, {n - 1, 0}, {n - 1, n - 2}, {n/2 + 1, n/2 - 1}, {n - 2, 1}, {3 * n / 4, n / 4}, {n/4 + 2, n / 4}}
				for count := range len(places) + 1 {
					if count > 0 {
						at := places[count-1]
						if count%2 == 0 {
							at[0], at[1] = at[1], at[0]
						}
						a.Set(at[0], at[1], a.At(5, 5))
					}
					da := must(a.On(device))
					m := da.View()
					p := partOf[place.Factors](m.Arr)
					if got := must(p.Triangle(place.Config{}, place.CountAsymmetric, m, nil)); got != count {
						t.Errorf("%s: %d numbers differ, want %d", device, got, count)
					}
					want := a.Clone()
					for j := range n {
						for i := range j {
							want.Set(i, j, a.At(j, i))
						}
					}
					must(p.Triangle(place.Config{}, place.MirrorLower, m, nil))
					if !must(da.Host()).Same(want) {
						t.Errorf("%s, %d: other bits than the mirrored ones", device, count)
					}
					da.Free()
				}
			}
		})
	}
}

// TestHalfLessSquares compares diagonals in parts with the diagonals of one GPU.
func TestHalfLessSquares(t *testing.T) {
	const n = 71
	diagonal := func(m *Matrix) num.Mat {
		v := m.View()
		v.RS, v.Cols = v.RS+v.CS, 1
		return v
	}
	on(t, 3, func(_ []*cuda.Device, _ *fake.Driver) {
		for _, bits := range []uint{90, 1000} { // numbers that GPUs support, and longer ones
			a, b := gallery.Random(MP(bits), n, n, 3, 6), gallery.Random(MP(53), n, n, 3, 7)
			var list []*Matrix
			for _, device := range []Device{"cuda:0", "cuda:0,1", "cuda:0-2"} {
				da, db := must(a.On(device)), must(b.On(device))
				tally := must(NewMatrix(Float64, 1, 1).On(device))
				done := must(partOf[place.Squares](da.View().Arr).HalfLessSquares(place.Config{Run: par.Run{Ctx: t.Context()}}, diagonal(da), diagonal(db), tally.View().Arr))
				if done != (bits == 90) {
					t.Errorf("%s, %d bits: %v", device, bits, done)
				}
				list = append(list, must(da.Host()))
				if !list[len(list)-1].Same(list[0]) || list[0].Same(a) == done {
					t.Errorf("%s, %d bits: other numbers", device, bits)
				}
				for _, m := range []*Matrix{da, db, tally} {
					m.Free()
				}
			}
		}
	})
}
