package seed

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestTridiagonal checks A H = H T, and that H is orthogonal.
func TestTridiagonal(t *testing.T) {
	t.Run("reference", func(t *testing.T) { testTridiagonal(t, reference(t), 161) })
	t.Run("device", func(t *testing.T) { testTridiagonal(t, gputest.Machine(t), 1000) })
}

func testTridiagonal(t *testing.T, dev *cuda.Device, large int) {
	r := testseed.Rand(t, 1, 35)
	dense := func(*rand.Rand, int, int) float64 { return r.Float64() - 0.5 }
	for _, c := range []struct {
		name string
		n    int
		at   func(r *rand.Rand, i, j int) float64
	}{
		{"order 1", 1, dense},
		{"order 2", 2, dense},
		{"order 3", 3, dense},
		{"a panel", 64, dense},
		{"a panel and a column", 65, dense},
		{"panels and a half", large, dense},
		{"zero", 70, func(*rand.Rand, int, int) float64 { return 0 }},
		{"diagonal", 70, func(r *rand.Rand, i, j int) float64 {
			if i == j {
				return r.Float64()
			}
			return 0
		}},
		{"tiny outside of a block", 130, func(r *rand.Rand, i, j int) float64 {
			if i < 60 && j >= 60 {
				return math.Ldexp(r.Float64(), -600)
			}
			return r.Float64() - 0.5
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.n
			a, h := make([]float64, n*n), make([]float64, n*n)
			for j := range n {
				h[j+j*n] = 1
				for i := range j + 1 {
					a[i+j*n] = c.at(r, i, j)
					a[j+i*n] = a[i+j*n]
				}
			}
			var d, e []float64
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
				z, diagonal, off, err := Tridiagonal(t.Context(), s, uploaded(t, s, a, n))
				if err != nil {
					return err
				}
				defer z.Free()
				d, e = diagonal, off
				if err := z.Load(s, h, n, make([]int32, n)); err != nil {
					return err
				}
				return applied(t, s, z, h)
			}); err != nil {
				t.Fatal(err)
			}
			tol := float64(n) * 0x1p-50
			for j := range n {
				for i := range n {
					residual, product := -float64(d[j]*h[i+j*n]), 0.0
					if j > 0 {
						residual -= float64(e[j-1] * h[i+(j-1)*n])
					}
					if j < n-1 {
						residual -= float64(e[j] * h[i+(j+1)*n])
					}
					if i == j {
						product = -1
					}
					for k := range n {
						residual += float64(a[i+k*n] * h[k+j*n])
						product += float64(h[k+i*n] * h[k+j*n])
					}
					if !(math.Abs(residual) <= tol*math.Sqrt(float64(n)) && math.Abs(product) <= tol) {
						t.Fatalf("entry (%d, %d) of A H - H T is %g, of H'H - I %g", i, j, residual, product)
					}
				}
			}
		})
	}
}

// uploaded returns an n x n matrix on the device until the end of the test.
func uploaded(t *testing.T, s *cuda.Stream, a []float64, n int) mem.Matrix {
	t.Helper()
	m, err := mem.UploadView(s, num.Mat{Arr: num.Float64s(n*n, 1, a).Arr, RS: 1, CS: n, Rows: n, Cols: n})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Arr.Free)
	return m
}

// applied sets z to H Q, by columns.
func applied(t *testing.T, s *cuda.Stream, r *Reduction, z []float64) error {
	t.Helper()
	n := int(r.g.Order)
	arr, err := mem.NewArray(s, gputest.MP(53), n*n)
	if err != nil {
		return err
	}
	defer arr.Free()
	order := make([]int32, n)
	for j := range order {
		order[j] = int32(n - 1 - j)
	}
	ok, err := r.Apply(t.Context(), s, order, mem.Matrix{Arr: arr, RS: 1, CS: n, Rows: n, Cols: n})
	if err != nil {
		return err
	}
	if !ok {
		t.Fatal("numbers are not finite")
	}
	h, err := arr.Host(s)
	if err != nil {
		return err
	}
	for j, c := range order {
		for i := range n {
			z[i+int(c)*n] = h.Float64(i + j*n)
		}
	}
	return nil
}

// TestMerge merges two random orthogonal matrices, and checks that the result has the eigenvectors
// of D + z z', with columns that are rotated, deflated, and zero in one part.
func TestMerge(t *testing.T) {
	t.Run("reference", func(t *testing.T) { testMerge(t, reference(t), 90) })
	t.Run("device", func(t *testing.T) { testMerge(t, gputest.Machine(t), 300) })
}

func testMerge(t *testing.T, dev *cuda.Device, large int) {
	r := testseed.Rand(t, 1, 36)
	for _, c := range []struct{ n, first, mid, to, deflated, mixed, rotations int }{
		{2, 0, 1, 2, 0, 0, 0},
		{5, 1, 3, 5, 0, 1, 1},
		{9, 0, 4, 9, 9, 0, 2},
		{9, 0, 4, 9, 8, 0, 0},
		{70, 3, 35, 70, 5, 7, 3},
		{large, 0, large / 3, large, 1, 0, 0},
		{large, large / 2, large - 5, large, 0, 3, 1},
		{65, 0, 64, 65, 1, 0, 0},
	} {
		n, k := c.n, c.to-c.first
		// Orthonormal columns of both parts, by rotations, at the places of the piece.
		q := make([]float64, n*n)
		for j := range n {
			q[j+j*n] = 1
		}
		turn := func(x, y int, angle float64) {
			cos, sin := math.Cos(angle), math.Sin(angle)
			for i := range n {
				a, b := q[i+x*n], q[i+y*n]
				q[i+x*n], q[i+y*n] = float64(cos*a)+float64(sin*b), float64(cos*b)-float64(sin*a)
			}
		}
		for _, part := range [][2]int{{c.first, c.mid}, {c.mid, c.to}} {
			for range 3 {
				for x := part[0]; x+1 < part[1]; x++ {
					turn(x, x+1+r.IntN(part[1]-x-1), r.Float64())
				}
			}
		}
		m := place.Merge{Piece: place.Piece{First: c.first, Mid: c.mid, To: c.to}}
		// Mixed columns are combinations of a column of the first part and one of the second.
		kind := make([]int, k)
		for j := range kind {
			if c.first+j >= c.mid {
				kind[j] = 2
			}
		}
		for i := range min(c.mixed, c.mid-c.first, c.to-c.mid) {
			turn(c.first+i, c.to-1-i, 0.5)
			kind[i], kind[k-1-i] = 1, 1
		}
		rotated := append([]float64(nil), q...)
		q, rotated = rotated, q
		for range c.rotations { // of one part, or of mixed columns
			x, y := r.IntN(k), r.IntN(k)
			if x == y || kind[x] != kind[y] {
				continue
			}
			angle := r.Float64()
			m.Rotations = append(m.Rotations, place.Rotation{X: x, Y: y, C: math.Cos(angle), S: math.Sin(angle)})
			q, rotated = rotated, q
			turn(c.first+x, c.first+y, angle)
			q, rotated = rotated, q
		}
		kept := r.Perm(k)[:k-c.deflated]
		position := map[int]int32{}
		for want := range 3 {
			for _, j := range kept {
				if kind[j] == want {
					position[j] = int32(len(m.Columns))
					m.Columns = append(m.Columns, int32(j))
				}
			}
			if want == 0 {
				m.Top = len(m.Columns)
			}
			if want == 1 {
				m.Mixed = len(m.Columns)
			}
		}
		for j := range k {
			if _, ok := position[j]; !ok {
				m.Columns = append(m.Columns, int32(j))
			}
		}
		at := 0.0
		for _, j := range kept {
			at += math.Ldexp(0.1+r.Float64(), -r.IntN(30))
			m.D, m.Z, m.Place = append(m.D, at), append(m.Z, math.Ldexp(r.Float64()-0.5, -r.IntN(20))), append(m.Place, position[j])
		}
		var ends, roots []float64
		z := make([]float64, n*n)
		if err := dev.Do(t.Context(), func(s *cuda.Stream) (err error) {
			// H is the unit matrix.
			red, _, _, err := Tridiagonal(t.Context(), s, uploaded(t, s, make([]float64, n*n), n))
			if err != nil {
				return err
			}
			defer red.Free()
			if err := red.Load(s, q, n, make([]int32, n)); err != nil {
				return err
			}
			if ends, err = red.Ends(s, m.Piece); err != nil {
				return err
			}
			var ok bool
			if roots, ok, err = red.Merge(s, m); err != nil || !ok {
				t.Fatalf("%+v: ok %v, %v", c, ok, err)
			}
			return applied(t, s, red, z)
		}); err != nil {
			t.Fatal(err)
		}
		for j, x := range ends {
			row := c.mid - 1
			if c.first+j >= c.mid {
				row++
			}
			if x != q[row+(c.first+j)*n] {
				t.Fatalf("%+v: end %d is %g", c, j, x)
			}
		}
		checkMerge(t, c, m, n, rotated, roots, z)
	}
}

// checkMerge compares Y, where Z = Q Y for the rotated Q, with eigenvectors of D + z z', and
// columns that are not kept with columns of Q.
func checkMerge(t *testing.T, c any, m place.Merge, n int, q, roots, z []float64) {
	t.Helper()
	k, kept := m.To-m.First, len(m.D)
	tol := float64(k+4) * 0x1p-50
	for j := range n {
		for i := range n {
			inside := m.First <= j && j < m.To
			want := q[i+j*n]
			if inside && j-m.First < kept {
				continue
			} else if inside {
				want = q[i+(m.First+int(m.Columns[j-m.First]))*n]
			}
			if math.Abs(z[i+j*n]-want) > tol {
				t.Fatalf("%+v: entry (%d, %d) is %g, not %g", c, i, j, z[i+j*n], want)
			}
		}
	}
	y := make([]float64, kept*kept) // in the order of the poles
	top := 0.0
	for j := range kept {
		top = max(top, math.Abs(roots[j]))
		for p := range kept {
			column := m.First + int(m.Columns[m.Place[p]])
			for i := range n {
				y[p+j*kept] += float64(q[i+column*n] * z[i+(m.First+j)*n])
			}
		}
	}
	for j := range kept {
		inner := 0.0
		for p := range kept {
			inner += float64(m.Z[p] * y[p+j*kept])
		}
		for p := range kept {
			residual := float64((m.D[p]-roots[j])*y[p+j*kept]) + float64(inner*m.Z[p])
			product := 0.0
			if p == j {
				product = -1
			}
			for h := range kept {
				product += float64(y[h+p*kept] * y[h+j*kept])
			}
			if !(math.Abs(residual) <= tol*max(1, top) && math.Abs(product) <= tol) {
				t.Fatalf("%+v: residual %g, product %g at (%d, %d)", c, residual, product, p, j)
			}
		}
	}
}
