package seed

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSpectra compares bounds, couplings, corrections and signs with the same sums in 300 bits.
func TestSpectra(t *testing.T) {
	t.Run("reference", func(t *testing.T) { testSpectra(t, reference(t), 24) })
	t.Run("emulated", func(t *testing.T) {
		t.Setenv(gputest.Emulate, "seed/spectra")
		testSpectra(t, reference(t), 24)
	})
	t.Run("device", func(t *testing.T) { testSpectra(t, gputest.Machine(t), 300) })
}

// randomMP returns a matrix in MP on the host with entries of about 2^e, some of them 0.
func randomMP(r *rand.Rand, bits, n, e int) num.Mat {
	m := num.NewMat(gputest.MP(bits), n, n)
	for j := range n {
		for i := range n {
			x := new(big.Float).SetPrec(uint(bits)).SetFloat64(r.Float64() - 0.5)
			x.Add(x, new(big.Float).SetMantExp(big.NewFloat(r.Float64()), 2-bits))
			if r.IntN(20) > 0 {
				m.SetBig(i, j, x.SetMantExp(x, e-r.IntN(3)))
			}
		}
	}
	return m
}

// bigOf returns x as a number of 300 bits.
func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }

func testSpectra(t *testing.T, dev *cuda.Device, large int) {
	r := testseed.Rand(t, 35, 40)
	for trial := range 8 {
		n, bits := 2+r.IntN(large), 24+r.IntN(67)
		places := []int{64, 128, 150, 200}[trial%4]
		sm, rm := randomMP(r, places, n, -60), randomMP(r, places, n, -62)
		d := make([]*big.Float, n)
		q := place.Quotients{Alpha: 0x1p-50}
		list := func(f func(i int) float64) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = f(i)
			}
			return x
		}
		small := func(e int) func(int) float64 {
			return func(int) float64 { return math.Ldexp(1+r.Float64(), e) }
		}
		for i := range d {
			d[i] = bigOf(float64(i) - float64(n)/3 + r.Float64()/2)
			d[i].Add(d[i], bigOf(math.Ldexp(r.Float64(), -54))).Add(d[i], bigOf(math.Ldexp(r.Float64(), -110)))
		}
		if trial%3 == 1 { // two near each other
			d[1].Add(d[0], bigOf(0x1p-30))
		}
		rest := make([]*big.Float, n)
		for i := range d {
			rest[i] = new(big.Float).Copy(d[i])
		}
		next := func(i int) float64 {
			x, _ := rest[i].Float64()
			rest[i].Sub(rest[i], bigOf(x))
			return x
		}
		q.Hi, q.Lo, q.Last = list(next), list(next), list(next)
		q.Size = list(func(i int) float64 { return math.Abs(q.Hi[i]) * (1 + 0x1p-40) })
		q.Lost, q.RowS, q.RowR = list(small(-140)), list(small(-58)), list(small(-60))
		longS, lostS := list(small(0)), list(small(-150))
		radius, tilt := list(small(-100)), list(small(-50))
		const cut = 0x1p-70
		var squares []float64
		var lists [6][]float64
		var far [3][]float64
		image := list(small(-3))
		e, x := num.NewMat(gputest.MP(bits), n, n), num.NewMat(num.Float64, n, n)
		errors := make([]int64, n)
		for j := range errors {
			errors[j] = -90
		}
		xs := randomMP(r, 53, n, 0)
		var signs []int32
		if err := dev.Do(t.Context(), func(s *cuda.Stream) (err error) {
			on := func(m num.Mat) mem.Matrix {
				z, err := mem.UploadView(s, m)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(z.Arr.Free)
				return z
			}
			z, found, ok, err := NewResiduals(s, on(sm), on(rm), longS, lostS)
			if err != nil || !ok {
				t.Fatalf("trial %d: bounds: %v, %v", trial, ok, err)
			}
			defer z.Free()
			squares = found
			if lists, ok, err = z.Couplings(s, q); err != nil || !ok {
				t.Fatalf("trial %d: couplings: %v, %v", trial, ok, err)
			}
			if far, ok, err = z.Distances(s, radius, tilt, image, cut); err != nil || !ok {
				t.Fatalf("trial %d: distances: %v, %v", trial, ok, err)
			}
			to := on(e)
			if ok, err = z.Correction(s, to); err != nil || !ok {
				t.Fatalf("trial %d: correction: %v, %v", trial, ok, err)
			}
			if e, err = to.Get(s); err != nil {
				return err
			}
			if signs, err = Signs(s, on(xs), on(randomMP(r, 30, n, -50)), errors); err != nil {
				return err
			}
			// The columns of X in reverse order, with their signs.
			order := make([]int32, n)
			for p := range order {
				order[p] = int32(n - 1 - p)
			}
			to = on(x)
			if err := Columns(s, on(xs.Convert(num.Float64)), order, signs, to); err != nil {
				return err
			}
			x, err = to.Get(s)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		near := func(what string, i int, got float64, want *big.Float) {
			t.Helper()
			if w, _ := want.Float64(); !(math.Abs(got-w) <= 0x1p-38*math.Abs(w)) {
				t.Fatalf("trial %d, order %d: %s %d is %g, not %g", trial, n, what, i, got, w)
			}
		}
		at := func(m num.Mat, i, j int) *big.Float { return bigOf(0).Abs(m.Big(min(i, j), max(i, j))) }
		boundS := func(i, j int) *big.Float {
			return bigOf(0).Add(at(sm, i, j), bigOf(0).Mul(bigOf(longS[min(i, j)]), bigOf(lostS[max(i, j)])))
		}
		times := func(x, y *big.Float) *big.Float { return bigOf(0).Mul(x, y) }
		plus := func(x ...*big.Float) *big.Float {
			z := bigOf(0)
			for _, v := range x {
				z.Add(z, v)
			}
			return z
		}
		for j := range n {
			a, b := bigOf(0), bigOf(0)
			most, nearest := at(rm, j, j), bigOf(math.Inf(1))
			in := bigOf(1.5 * q.Lost[j])
			gap := func(k int) *big.Float { return bigOf(0).Abs(bigOf(0).Sub(d[j], d[k])) }
			for k := range n {
				if k == j {
					continue
				}
				s, w := boundS(k, j), at(rm, k, j)
				a.Add(a, times(s, s))
				b.Add(b, times(w, w))
				if z := bigOf(0).Sub(gap(k), in); z.Cmp(nearest) < 0 {
					nearest = z
				}
				if k > j {
					continue
				}
				for _, v := range []*big.Float{w, bigOf(0).Quo(plus(s, times(bigOf(max(q.Size[j], q.Size[k])), w)), gap(k))} {
					if v.Cmp(most) > 0 {
						most = v
					}
				}
			}
			near("square of S", j, squares[j], a)
			near("square of R", j, squares[j+n], b)
			near("diagonal of R", j, squares[j+2*n], at(rm, j, j))
			near("largest quotient", j, lists[0][j], most)
			near("nearest gap", j, lists[1][j], nearest)
			m := plus(bigOf(q.Size[j]), in, bigOf(0).Quo(nearest, bigOf(128)))
			large := plus(bigOf(q.Size[j]), bigOf(radius[j]))
			var want [4]*big.Float
			for c := range want {
				want[c] = bigOf(0)
			}
			distances, pull := bigOf(0), bigOf(0)
			for k := range n {
				if k == j {
					continue
				}
				g := times(bigOf(0).Sub(gap(k), in), bigOf((1-0x1p-6)*(1-q.Alpha)))
				v := plus(boundS(k, j), times(m, at(rm, k, j)))
				row := bigOf(0).Quo(plus(bigOf(q.RowS[k]), times(m, bigOf(q.RowR[k]))), g)
				x := bigOf(0).Quo(v, g)
				for c, z := range []*big.Float{times(x, v), times(x, x), times(row, v), times(row, row)} {
					want[c].Add(want[c], z)
				}
				v = plus(boundS(k, j), times(large, at(rm, k, j)))
				v = times(v, plus(bigOf(cut), times(bigOf(2), at(rm, k, k)), bigOf(0).Quo(bigOf(2*(radius[j]+q.Lost[k])), gap(k))))
				v = plus(v, times(plus(bigOf(q.RowS[k]), times(large, bigOf(q.RowR[k]))), bigOf(tilt[j])), times(bigOf(radius[j]), at(rm, k, j)))
				v = plus(v, times(bigOf(longS[min(j, k)]), bigOf(lostS[max(j, k)])))
				v.Quo(v, gap(k))
				distances.Add(distances, times(v, v))
				pull.Add(pull, times(v, bigOf(image[k])))
			}
			for c, z := range want {
				near("coupling", 10*j+c, lists[2+c][j], z)
			}
			near("distance", j, far[0][j], distances)
			near("pull", j, far[2][j], pull)
			if w, _ := distances.Float64(); far[1][j]*far[1][j] > 1.01*w || far[1][j] == 0 && w > 0 {
				t.Fatalf("trial %d: the largest distance of column %d is %g, the squares are %g", trial, j, far[1][j], w)
			}
			for k := range j + 1 {
				r, half := rm.Big(k, j), bigOf(0.5)
				scale, of, other := at(rm, k, j), times(r, half), times(r, half)
				small, large := j, k
				if k < j {
					if q.Size[k] < q.Size[j] {
						small, large = k, j
					}
					difference := bigOf(0).Sub(d[small], d[large])
					of = bigOf(0).Quo(plus(sm.Big(k, j), times(d[small], r)), difference)
					other = bigOf(0).Sub(r, of)
					scale = plus(at(sm, k, j), times(bigOf(q.Size[large]), scale))
					scale = plus(at(rm, k, j), scale.Quo(scale, difference.Abs(difference)))
				}
				for _, c := range []struct {
					i, j int
					want *big.Float
				}{{large, small, of}, {small, large, other}} {
					lost := bigOf(0).Sub(e.Big(c.i, c.j), c.want)
					limit := plus(new(big.Float).SetMantExp(bigOf(0).Abs(c.want), -bits), new(big.Float).SetMantExp(scale, -95))
					if lost.Abs(lost).Cmp(limit) > 0 {
						t.Fatalf("trial %d: entry (%d, %d) of the correction of %d bits is %v, not %v", trial, c.i, c.j, bits, e.Big(c.i, c.j), c.want)
					}
				}
			}
			checkSign(t, xs, j, signs[j])
			for i := range n {
				want := xs.Float64(i, n-1-j)
				if signs[j] < 0 {
					want = -want
				}
				if got := x.Float64(i, j); got != want {
					t.Fatalf("trial %d: entry (%d, %d) is %g, not %g", trial, i, j, got, want)
				}
			}
		}
	}
}

// checkSign checks the sign of column j, whose entries are in error by less than 2^-45.
func checkSign(t *testing.T, x num.Mat, j int, sign int32) {
	t.Helper()
	most := 0.0
	for i := range x.Rows {
		most = max(most, math.Abs(x.Float64(i, j)))
	}
	for i := range x.Rows {
		v := x.Float64(i, j)
		far := math.Abs(v) - float64(most*(math.Pi/4))
		if math.Abs(far) < 0x1p-35 {
			return // undecided, or not
		}
		if far > 0 {
			if want := int32(math.Copysign(1, v)); sign != want {
				t.Fatalf("the sign of column %d is %d, not %d", j, sign, want)
			}
			return
		}
	}
	if sign != 0 {
		t.Fatalf("a column of zeros has the sign %d", sign)
	}
}
