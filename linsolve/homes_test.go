package linsolve

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/testseed"
)

// A home is a run that copies matrices of the host to the place where it computes.
type home struct {
	t  *testing.T
	s  *call.Run
	at place.Place // nil for the host
}

// take returns a copy of a matrix.
func (h home) take(m num.Mat) num.Mat {
	h.t.Helper()
	z, err := place.On(h.at, m)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(z.Free)
	return z
}

// TestHomes runs the same operations with matrices on the host and on devices: results must have
// the same bits, and bounds must hold and be close.
func TestHomes(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	f := halfulp.MP(150)
	gputest.OnDevices(t, 9, 40, func(t *testing.T, n int) {
		a, b := gallery.Random(f, n, n, 20, r.Uint64()), gallery.Random(f, n, n, 20, r.Uint64())
		for j := range n {
			a.SetFloat64(n/2, j, 0)
		}
		lower := halfulp.NewMatrix(f, n, n)
		for j := range n {
			for i := j; i < n; i++ {
				lower.Set(i, j, a.At(i, j))
			}
		}
		by := scale.Unscaled(n, n)
		for i := range n {
			by.Rows[i], by.Cols[i] = int64(r.IntN(40)-20), int64(r.IntN(40)-20)
		}
		on := put(t, a)
		all := []home{{t, prooftest.Run(t, 2), nil}, {t, tracedOn(t, on), place.Of(on.View().Arr)}}
		check := func(name string, make func(h home) (num.Mat, error)) {
			t.Helper()
			var first num.Mat
			for _, h := range all {
				z, err := make(h)
				if err == nil {
					z, err = place.OnHost(z)
				}
				if err != nil {
					t.Fatalf("%s on %s: %v", name, h.s.At, err)
				}
				if first.Arr == nil {
					first = z
				}
				if !halfulp.MatrixOf(z).Same(halfulp.MatrixOf(first)) {
					t.Errorf("%s on %s: not the host's bits", name, h.s.At)
				}
			}
		}
		check("Identity", func(h home) (num.Mat, error) { return h.s.Identity(n) })
		check("Scaled", func(h home) (num.Mat, error) { return h.s.Scaled(h.take(a.View()), by, 1000) })
		check("Sum", func(h home) (num.Mat, error) {
			z, unit := h.take(halfulp.NewMatrix(halfulp.MP(170), n, n).View()), int64(-100)
			return z, h.s.SumTo(h.take(a.View()), h.take(b.View()), z, &unit, 0)
		})
		check("CopyNumbers", func(h home) (num.Mat, error) {
			z := h.take(b.View())
			return z, h.s.CopyNumbers(z.Slice(0, n-1, 1, n), h.take(a.View()).Slice(1, n, 0, n-1))
		})
		for _, op := range []place.TriangleOperation{place.HalveDiagonal, place.MirrorLower} {
			check("Triangle", func(h home) (num.Mat, error) {
				z := h.take(lower.View())
				_, err := h.s.Triangle(op, z, nil)
				return z, err
			})
		}
		for _, upper := range []bool{false, true} {
			check("PartTriangles", func(h home) (num.Mat, error) {
				x, y := h.take(halfulp.NewMatrix(f, n, n).View()), h.take(halfulp.NewMatrix(f, n, n).View())
				err := h.s.PartTriangles(h.take(a.View()), x, y)
				if upper {
					x = y
				}
				return x, err
			})
		}
		abs := func(m *halfulp.Matrix) lintest.Matrix {
			z := lintest.Of(m)
			for _, row := range z {
				for j, x := range row {
					row[j] = new(big.Rat).Abs(x)
				}
			}
			return z
		}
		bounds := func(name string, h home, got float64, want *big.Rat, err error) {
			t.Helper()
			exact, _ := want.Float64()
			if err != nil || !(got >= exact && got <= exact*(1+0x1p-20)) {
				t.Errorf("%s on %s: %g for %g, %v", name, h.s.At, got, exact, err)
			}
		}
		product, symmetric := abs(a).Times(abs(b), n), abs(lower)
		for i := range n {
			for j := range i {
				symmetric[j][i] = symmetric[i][j]
			}
		}
		var tops []int64
		for _, h := range all {
			x, y := h.take(a.View()), h.take(b.View())
			most, err := h.s.RowNorm(x)
			if err != nil {
				t.Fatal(err)
			}
			v, _ := most.Float64()
			bounds("RowNorm", h, v, abs(a).Norm(), nil)
			rows, cols, err := h.s.Spread(x, y)
			bounds("Spread, rows", h, rows, product.Norm(), err)
			bounds("Spread, columns", h, cols, product.T(n).Norm(), err)
			rows, err = h.s.RowSpread(x, y)
			bounds("RowSpread", h, rows, product.Norm(), err)
			triangle := h.take(lower.View())
			if most, err = h.s.SymmetricNorm(triangle); err != nil {
				t.Fatal(err)
			}
			v, _ = most.Float64() // at a place the sum of two norms
			if exact, _ := symmetric.Norm().Float64(); !(v >= exact && v <= 2.001*exact) {
				t.Errorf("SymmetricNorm on %s: %g for %g", h.s.At, v, exact)
			}
			list, err := h.s.ColumnTops(x.T(), call.None32)
			if err != nil {
				t.Fatal(err)
			}
			if tops == nil {
				tops = list
			}
			if !slices.Equal(list, tops) || list[n/2] != call.None32 {
				t.Errorf("ColumnTops on %s: %v, not %v", h.s.At, list, tops)
			}
			sums, err := h.s.RowSums(x)
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range abs(a) {
				exact, _ := lintest.Matrix{row}.Norm().Float64()
				if got := math.Ldexp(1, int(max(sums[i], -1000))); !(got >= exact && got <= max(4*exact, 0x1p-800)) {
					t.Errorf("RowSums on %s: row %d: %g for %g", h.s.At, i, got, exact)
				}
			}
			count, err := h.s.Triangle(place.CountNotPositive, triangle, nil)
			negative := 0
			for i := range n {
				if lower.At(i, i).Big().Sign() <= 0 {
					negative++
				}
			}
			if err != nil || count != negative {
				t.Errorf("CountNotPositive on %s: %d, not %d, %v", h.s.At, count, negative, err)
			}
			if call.Offers[place.Newton](h.s) != (h.s.At != call.Host) {
				t.Errorf("%s: parts", h.s.At)
			}
		}
	})
}
